// Payloads: a dictionary in chunks, one for each of its heaps.
//
//   +0   u32 the first id    +4   u32 ids    +8   records, those of deleted names as a single byte
//
// Ids between two chunks, and before the first one, were deleted. All of a chunk is checked before it is used.

import { output, right, segments, Side, left, SELF } from "../env/memory";
import { Own, Right } from "../env/view";
import { Fault } from "../env/fault";
import { appendDead, appendRecord, beginAdding, beginAt } from "./change";
import { DESK_OTHER, DESK_TEXT, findInHeap, isSameRecord, TABLES } from "./dictionary";
import { hashRecord } from "./hash";
import { Heap } from "./heap";
import { packName } from "./pack";
import { Code } from "./code";
import { Record } from "./record";
import { NO_ID, Table } from "./table";
import { unpackName } from "./unpack";

/** Where a chunk has its number of ids, and its records. */
// @ts-ignore: decorator
@inline const IDS: u32 = 4, RECORDS: usize = 8;

// --- Writing -----------------------------------------------------------------------------------------------

/** The bytes of the chunk of segment `index` of memory 0, a dictionary; 0 if it has no chunk. */
export function namesBytes(index: u32): u64 {
  segments.show(Side.OWN, index);
  if (Heap.isNew<Own>()) return RECORDS;
  return Heap.isHeap<Own>() ? <u64>(RECORDS + Heap.used<Own>() - Heap.RECORDS - Heap.dead<Own>()) : 0;
}

/** Writes the chunk. */
export function writeNames(index: u32): void {
  segments.show(Side.OWN, index);
  if (Heap.isNew<Own>()) {
    output.put(0, 8);
    return;
  }
  const count = Heap.count<Own>(), end = Heap.used<Own>();
  output.put(<u64>Heap.first<Own>() | (<u64>count << 32), 8);
  let written = Heap.RECORDS;
  for (let at = written; at < end;) {
    const bytes = Record.bytes<Own>(at), isHole = bytes > 1 && Record.isDead<Own>(at);
    if (isHole) {
      output.write(written, at - written);
      output.put(0, 1);
      written = at + bytes;
    }
    at += bytes;
  }
  output.write(written, end - written);
}

/** The operand that is a chunk. */
// @ts-ignore: decorator
@inline const CHUNK: u32 = 1;

// --- Checking ----------------------------------------------------------------------------------------------

/**
 * The bytes of the record at `at` of a payload with `rest` bytes from there on; 0 if it is cut, or no record.
 */
function bytesWithin(at: usize, rest: usize): usize {
  if (!rest) return 0;
  const code = right.load8(at, 0);
  if (code == Code.HOLE || code == Code.WIDE_HOLE) return 0;
  if (code == Code.LONG && rest < 3) return 0;
  const bytes = Record.bytes<Right>(at);
  return bytes <= rest ? bytes : 0;
}

/** Whether the record of `bytes` bytes at `at` is the one that its name has. Memory 0 is the desk. */
function isCanonical(at: usize, bytes: usize): bool {
  const length = unpackName(at, DESK_TEXT);
  right.select(SELF);
  const packed = length ? packName(DESK_OTHER, DESK_TEXT, length) : 0;
  right.select(CHUNK);
  return packed == bytes && isSameRecord<Own, Right>(DESK_OTHER, at, bytes);
}

/** What is wrong with a chunk, whether or not it suits a dictionary. Memory 0 is the desk. */
function checkNames(): Fault {
  left.select(CHUNK);
  right.select(CHUNK);
  const end = <usize>right.size();
  if (end < RECORDS) return Fault.CUT_SHORT;
  const first = <u64>right.load32(0, 0), count = right.load32(0, IDS);
  if (first + count > NO_ID) return Fault.IDS_NOT_ASCENDING;
  let at = RECORDS;
  for (let i: u32 = 0; i < count; i++) {
    if (at >= end) return Fault.CUT_SHORT;
    const bytes = bytesWithin(at, end - at);
    if (!bytes || (right.load8(at, 0) != Code.DEAD && !isCanonical(at, bytes))) return Fault.NAME_UNSOUND;
    at += bytes;
  }
  return at == end ? Fault.NONE : Fault.TRAILING_BYTES;
}

// --- Reading -----------------------------------------------------------------------------------------------

/** Whether the dictionary has the record of `bytes` bytes at `at` of `right`. Memory 0 is any segment. */
function hasRecord(hash: u32, at: usize, bytes: usize): bool {
  if (!segments.are(Side.OWN)) return findInHeap<Own, Right>(at, bytes) != NO_ID;
  let nth: u32 = 0;
  while (true) {
    segments.change(TABLES + hash);
    const id = Table.idOf<Own>(hash, nth++);
    if (id == NO_ID) return false;
    segments.change(id);
    if (isSameRecord<Own, Right>(Heap.locate<Own>(id - Heap.first<Own>()), at, bytes)) return true;
  }
}

/**
 * Adds the names of operand 1, a chunk, to operand 0, a dictionary. Memory 0 is the desk. In case of a fault,
 * some have been added. Other functions like this one take a number of operands first.
 */
export function readNames(_count: u32, k0: u64, k1: u64): Fault {
  const fault = checkNames();
  if (fault) return fault;
  const first = right.load32(0, 0), count = right.load32(0, IDS);
  if (first < beginAdding()) return Fault.IDS_NOT_ASCENDING;
  beginAt(first, k0, k1);
  for (let i: u32 = 0, at = RECORDS; i < count; i++) {
    const bytes = Record.bytes<Right>(at);
    if (right.load8(at, 0) == Code.DEAD) appendDead(k0, k1);
    else {
      const hash = hashRecord<Right>(at, bytes, k0, k1);
      if (hasRecord(hash, at, bytes)) return Fault.NAME_TWICE;
      appendRecord(hash, at, bytes, k0, k1);
    }
    at += bytes;
  }
  return Fault.NONE;
}
