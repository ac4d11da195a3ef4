// The payload of a key with values, in RDB files and DUMP. It depends on ids and values only, not on the form
// that they have in memory:
//
//   +0   u8  version, 1    +1  u64 ids
//
// and then chunks of up to 512 ids, the last of which may have fewer, in ascending order:
//
//   +0   u16 ids           +2  u8 bytes of an id, 0 if the ids are consecutive
//   +3   u8  bits of a value, 0 to 64
//   +4   u64 first id      +12 i64 least value
//   +20  ids but the first one, each less the first, of that many bytes
//        values less the least one, bit after bit, from the low bit of the first byte on
//
// Writing, memory 0 has the values; reading, it is fresh, and operand 0 has the payload.

import { Side, left, output, segments } from "../env/memory";
import { Fault } from "../env/fault";
import { Left, Own } from "../env/view";
import { Bytes } from "./bytes";
import { Only, setValue } from "./point";
import { Spot } from "./spot";
import { Values } from "./layout";

abstract class Chunk {
  @inline static readonly IDS: u32 = 512;
  @inline static readonly HEAD: u32 = 20;
  @inline static readonly VERSION: u32 = 1;
  @inline static readonly START: u32 = 9;

  /** Bytes of an id, of so many whose last one is `more` than the first. */
  @inline static idBytes(ids: u32, more: u64): u32 { return more == ids - 1 ? 0 : Bytes.needed(more); }
  @inline static valuesBytes(ids: u32, bits: u32): u32 { return (ids * bits + 7) >> 3; }
}

/** Returns the bytes of the payload, and writes it if `writes`. */
export function payloadOfValues(writes: bool): u64 {
  let bytes: u64 = Chunk.START, spot = Spot.from<Own>(0);
  if (writes) {
    output.put(Chunk.VERSION, 1);
    output.put(segments.are(Side.OWN) ? segments.members(Side.OWN) : Values.count<Own>(), 8);
  }
  while (spot != Spot.NONE) {
    const first = Spot.id<Own>(spot);
    let ids: u32 = 0, last: u64 = 0, least = i64.MAX_VALUE, greatest = i64.MIN_VALUE;
    for (; spot != Spot.NONE && ids < Chunk.IDS; spot = Spot.next<Own>(spot), ids++) {
      const value = Spot.value<Own>(spot);
      last = Spot.id<Own>(spot);
      least = min(least, value);
      greatest = max(greatest, value);
    }
    const idBytes = Chunk.idBytes(ids, last - first), bits = Bytes.bits(<u64>(greatest - least));
    bytes += Chunk.HEAD + (ids - 1) * idBytes + Chunk.valuesBytes(ids, bits);
    if (!writes) continue;
    output.put(ids, 2);
    output.put(idBytes, 1);
    output.put(bits, 1);
    output.put(first, 8);
    output.put(<u64>least, 8);
    if (idBytes) writeIds(first, ids, idBytes);
    writeNumbers(first, ids, least, bits);
    spot = last < u64.MAX_VALUE ? Spot.from<Own>(last + 1) : Spot.NONE;
  }
  return bytes;
}

/** Writes the ids of a chunk but the first one, each less the first. */
function writeIds(first: u64, ids: u32, idBytes: u32): void {
  let spot = Spot.from<Own>(first);
  for (let i: u32 = 1; i < ids; i++) {
    spot = Spot.next<Own>(spot);
    output.put(Spot.id<Own>(spot) - first, idBytes);
  }
}

/** Writes the values of a chunk, each less the least, bit after bit. */
function writeNumbers(first: u64, ids: u32, least: i64, bits: u32): void {
  let word: u64 = 0, held: u32 = 0;
  for (let spot = Spot.from<Own>(first), i: u32 = 0; bits && i < ids; i++) {
    const number = <u64>(Spot.value<Own>(spot) - least);
    word |= number << held;
    if (held + bits >= 64) {
      output.put(word, 8);
      word = held ? number >> (64 - held) : 0;
    }
    held = (held + bits) & 63;
    if (i + 1 < ids) spot = Spot.next<Own>(spot);
  }
  if (held) output.put(word, (held + 7) >> 3);
}

/** Makes memory 0 the values of the payload, of `length` bytes. */
export function readValues(length: u64): Fault {
  left.select(0);
  Values.reset();
  if (length < Chunk.START) return Fault.CUT_SHORT;
  if (left.load8(0, 0) != Chunk.VERSION) return Fault.UNKNOWN_COOKIE;
  let all = left.load64(1, 0), at: u64 = Chunk.START;
  if (!all) return Fault.TOTAL_CARDINALITY;          // there is no key without ids
  for (let isFirst = true; all; isFirst = false) {
    if (at + Chunk.HEAD > length) return Fault.CUT_SHORT;
    const head = <usize>at, ids = left.load16(head, 0);
    const idBytes = left.load8(head, 2), bits = left.load8(head, 3);
    if (!ids || ids > Chunk.IDS || ids > all || (ids < Chunk.IDS && ids < all)) return Fault.TOTAL_CARDINALITY;
    if (idBytes > 8 || bits > 64) return Fault.WRONG_FORM;
    at += Chunk.HEAD + (ids - 1) * idBytes + Chunk.valuesBytes(ids, bits);
    if (at > length) return Fault.CUT_SHORT;
    if (!isFirst && left.load64(head, 4) <= lastRead()) return Fault.KEYS_NOT_ASCENDING;
    const fault = readChunk(head, <usize>at);
    if (fault) return fault;
    all -= ids;
  }
  return at == length ? Fault.NONE : Fault.TRAILING_BYTES;
}

/** The greatest id so far. */
// @ts-ignore: decorator
@inline function lastRead(): u64 { return Spot.lastId<Own>(); }

/** Adds the ids and values of the chunk from `head` to `end`, whose lengths are right. */
function readChunk(head: usize, end: usize): Fault {
  const ids = left.load16(head, 0), idBytes = left.load8(head, 2), bits = left.load8(head, 3);
  const first = left.load64(head, 4), least = <i64>left.load64(head, 12), most = <u64>(i64.MAX_VALUE - least);
  const values = head + Chunk.HEAD + <usize>(ids - 1) * idBytes;
  let more: u64 = 0;
  for (let i: u32 = 0; i < ids; i++) {
    if (i) {
      const next = idBytes ? Bytes.load<Left>(head + Chunk.HEAD + <usize>(i - 1) * idBytes, idBytes) : i;
      if (next <= more || first + next < first) return Fault.ARRAY_NOT_ASCENDING;
      more = next;
    }
    const number = bitsAt(values, i * bits, bits, end);
    if (number > most) return Fault.VALUE_TOO_GREAT;
    setValue(first + more, least + <i64>number, Only.NEW);
  }
  return Fault.NONE;
}

/** The number of `bits` bits that begins at a bit of the bytes from `at` to `end`. */
// @ts-ignore: decorator
@inline function bitsAt(at: usize, bit: u32, bits: u32, end: usize): u64 {
  if (!bits) return 0;
  const from = at + (bit >> 3), shift = <u64>(bit & 7);
  let number: u64 = 0, high: u64 = 0;
  if (from + 9 <= end) {
    number = left.load64(from, 0);
    high = left.load8(from, 8);
  } else {
    for (let i = min<usize>(end - from, 8); i > 0; i--) number = number << 8 | left.load8(from + i - 1, 0);
    if (end - from > 8) high = left.load8(from, 8);
  }
  number >>= shift;
  if (shift) number |= high << (64 - shift);
  return bits == 64 ? number : number & ((<u64>1 << bits) - 1);
}
