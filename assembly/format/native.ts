// CRoaring's own serialization of a 32-bit bitmap (roaring_bitmap_serialize).
// The first byte names the layout of the rest:
//
//   01  u32 number of members, then each member as u32, ascending
//   02  a portable 32-bit stream (portable.ts)
//
// Writers choose the shorter one, and 01 if both have the same length.
// Readers accept either for any bitmap, and members in any order and with repetitions.

import { output, right } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { Entry } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { insert } from "../write/point";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Runs } from "../container/run";
import { Stream, portableBytes, readPortable, writePortable } from "./portable";
import { wordOf } from "../read/container";

/** The first byte. */
const enum First { MEMBERS = 1, STREAM = 2 }
/** Where the number of members is, and the first of them. */
const enum Members { COUNT = 1, LIST = 5 }

// --- Writing -----------------------------------------------------------------------------------------------

/** Bytes of the payload of memory 0. */
export function nativeBytes(): u64 {
  return 1 + (isShorterAsMembers() ? 4 + 4 * Directory.cardinality<Own>() : portableBytes());
}

function isShorterAsMembers(): bool { return portableBytes() >= 4 * Directory.cardinality<Own>() + 4; }

/** Writes the bitmap in memory 0 to the output. */
export function writeNative(): void {
  if (!isShorterAsMembers()) {
    output.put(First.STREAM, 1);
    writePortable();
    return;
  }
  output.put(First.MEMBERS, 1);
  output.put(Directory.cardinality<Own>(), 4);
  for (let place = Directory.seek<Own>(0); place;
    place = Place.next<Own>(place)) writeMembers(Place.entry(place));
}

/**
 * Writes the members of a container of any kind. Even bitsets and full containers occur: as a list of members
 * they are longer than in a stream, but a thousand containers of one member can make up for that.
 */
function writeMembers(entry: Entry): void {
  const base = entry.key<Own>() << 16, payload = entry.payload<Own>();
  switch (entry.kind<Own>()) {
    case Kind.FULL: writeSpan(base, ((entry.lastKey<Own>() + 1) << 16) - 1); return;
    case Kind.RUNS: writeRuns(base, payload); return;
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: writeArray(base, payload, entry.count<Own>()); return;
    default: writeWords(base, entry);
  }
}

/** Writes the offsets from `first` to `last`. */
function writeSpan(first: u64, last: u64): void {
  for (let member = first; member <= last; member++) output.put(member, 4);
}

function writeRuns(base: u64, payload: usize): void {
  for (let i: u32 = 0, runs = Runs.count(payload); i < runs; i++) {
    writeSpan(base | Runs.start(payload, i), base | Runs.end(payload, i));
  }
}

function writeWords(base: u64, entry: Entry): void {
  for (let word: u32 = 0; word < Container.UNIVERSE >> 6; word++) {
    const from = base + (<u64>word << 6);
    for (let bits = wordOf(entry, word); bits; bits &= bits - 1) output.put(from + ctz(bits), 4);
  }
}

function writeArray(base: u64, payload: usize, count: u32): void {
  const end = payload + Container.arrayBytes(count);
  for (let member = payload; member < end;
    member += Container.MEMBER_BYTES) output.put(base | load<u16>(member), 4);
}

// --- Reading -----------------------------------------------------------------------------------------------

/** Whether operand 0, which `right` shows, has this form: a stream, or a list of as many as it says. */
export function isNative(): bool {
  const size = <u64>right.size();
  if (size < <u64>Members.LIST) return false;
  const first = right.load8(0, 0);
  if (first == First.MEMBERS) return size == <u64>Members.LIST + 4 * <u64>right.load32(Members.COUNT, 0);
  // in a 64-bit stream, the bytes 4 to 7 are 0
  return first == First.STREAM && Stream.beginsAt(1) && (size == 9 || right.load32(4, 0) >> 8 != 0);
}

/** Builds the bitmap of operand 0 in memory 0, a fresh arena. */
export function readNative(): Fault {
  right.select(0);
  const size = <u64>right.size();
  if (!size) return Fault.CUT_SHORT;
  const first = right.load8(0, 0);
  if (first == First.MEMBERS) return readMembers(size);
  return first == First.STREAM ? readPortable(1) : Fault.UNKNOWN_COOKIE;
}

function readMembers(size: u64): Fault {
  if (size < <u64>Members.LIST) return Fault.CUT_SHORT;
  const count = right.load32(Members.COUNT, 0), end = <u64>Members.LIST + 4 * <u64>count;
  if (end > size) return Fault.CUT_SHORT;
  if (end < size) return Fault.TRAILING_BYTES;
  for (let at: usize = Members.LIST; at < <usize>end; at += 4) insert(right.load32(at, 0));
  return Fault.NONE;
}
