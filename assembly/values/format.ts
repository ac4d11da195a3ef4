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
// Memory 0 is fresh, and operand 0 has the values or the payload.

import { left, output, right } from "../env/memory";
import { Fault } from "../env/fault";
import { Left, Own, Right } from "../env/view";
import { Arena } from "../arena/layout/header";
import { Bytes } from "./bytes";
import { Only, setValue } from "./point";
import { Spot } from "./spot";
import { Values } from "./layout";

abstract class Chunk {
  @inline static readonly IDS: u32 = 512;
  @inline static readonly HEAD: u32 = 20;
  @inline static readonly VERSION: u32 = 1;
  @inline static readonly START: u32 = 9;

  /** Ids and values of a chunk in memory 0. */
  @inline static readonly ID_AT: usize = 0;
  @inline static readonly VALUE_AT: usize = 8 * <usize>Chunk.IDS;
  @inline static readonly BITS_AT: usize = 16 * <usize>Chunk.IDS;
  @inline static readonly BYTES: usize = 24 * <usize>Chunk.IDS + 8;

  @inline static id(i: u32): u64 { return load<u64>(Chunk.ID_AT + (<usize>i << 3)); }
  @inline static value(i: u32): i64 { return load<i64>(Chunk.VALUE_AT + (<usize>i << 3)); }

  /** Copies the ids and values of a chunk from `spot` on to memory 0. Returns their number. */
  static take(spot: u64): u32 {
    let ids: u32 = 0;
    for (; spot != Spot.NONE && ids < Chunk.IDS; ids++) {
      store<u64>(Chunk.ID_AT + (<usize>ids << 3), Spot.id<Right>(spot));
      store<i64>(Chunk.VALUE_AT + (<usize>ids << 3), Spot.value<Right>(spot));
      if (ids + 1 < Chunk.IDS) spot = Spot.next<Right>(spot);
    }
    return ids;
  }

  @inline static least(ids: u32): i64 {
    let least = i64.MAX_VALUE;
    for (let i: u32 = 0; i < ids; i++) least = min(least, Chunk.value(i));
    return least;
  }

  @inline static greatest(ids: u32): i64 {
    let greatest = i64.MIN_VALUE;
    for (let i: u32 = 0; i < ids; i++) greatest = max(greatest, Chunk.value(i));
    return greatest;
  }

  @inline static idBytes(ids: u32): u32 {
    const more = Chunk.id(ids - 1) - Chunk.id(0);
    return more == ids - 1 ? 0 : Bytes.needed(more);
  }

  @inline static bits(ids: u32): u32 { return Bytes.bits(<u64>(Chunk.greatest(ids) - Chunk.least(ids))); }
  @inline static valuesBytes(ids: u32, bits: u32): u32 { return (ids * bits + 7) >> 3; }
}

/** Bytes of the payload. */
export function valuesBytes(): u64 {
  Arena.reserve(Chunk.BYTES);
  right.select(0);
  let bytes: u64 = Chunk.START, from: u64 = 0;
  while (true) {
    const ids = Chunk.take(Spot.from<Right>(from));
    if (!ids) return bytes;
    bytes += Chunk.HEAD + (ids - 1) * Chunk.idBytes(ids) + Chunk.valuesBytes(ids, Chunk.bits(ids));
    if (ids < Chunk.IDS || Chunk.id(ids - 1) == u64.MAX_VALUE) return bytes;
    from = Chunk.id(ids - 1) + 1;
  }
}

/** Writes the payload of `all` ids. */
export function writeValues(all: u64): void {
  Arena.reserve(Chunk.BYTES);
  right.select(0);
  output.put(Chunk.VERSION, 1);
  output.put(all, 8);
  for (let from: u64 = 0; all;) {
    const ids = Chunk.take(Spot.from<Right>(from));
    writeChunk(ids);
    all -= ids;
    from = Chunk.id(ids - 1) + 1;
  }
}

function writeChunk(ids: u32): void {
  const idBytes = Chunk.idBytes(ids), bits = Chunk.bits(ids), least = Chunk.least(ids), first = Chunk.id(0);
  output.put(ids, 2);
  output.put(idBytes, 1);
  output.put(bits, 1);
  output.put(first, 8);
  output.put(<u64>least, 8);
  for (let i: u32 = 1; idBytes && i < ids; i++) output.put(Chunk.id(i) - first, idBytes);
  const bytes = Chunk.valuesBytes(ids, bits);
  memory.fill(Chunk.BITS_AT, 0, bytes + 8);
  for (let i: u32 = 0, bit: u32 = 0; i < ids; i++, bit += bits) {
    const number = <u64>(Chunk.value(i) - least), at = Chunk.BITS_AT + (bit >> 3), shift = bit & 7;
    store<u64>(at, load<u64>(at) | number << shift);
    if (shift + bits > 64) store<u8>(at, <u8>(number >> (64 - shift)), 8);
  }
  output.write(Chunk.BITS_AT, bytes);
}

/** Makes memory 0 the values of the payload, of `length` bytes. */
export function readValues(length: u64): Fault {
  left.select(0);
  Values.reset();
  if (length > u32.MAX_VALUE) return Fault.TOO_LONG;
  if (length < Chunk.START) return Fault.CUT_SHORT;
  if (left.load8(0, 0) != Chunk.VERSION) return Fault.UNKNOWN_COOKIE;
  let all = left.load64(1, 0), at: u64 = Chunk.START;
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
