// CRoaring's own serialization of a 32-bit bitmap (roaring_bitmap_serialize).
// The first byte tells what follows:
//
//   01  u32 number of members, then each member as u32, ascending
//   02  a portable 32-bit stream (portable.ts)
//
// Writers choose the shorter one, and 01 if both have the same length.
// Readers accept either for any bitmap, and members in any order and with repetitions.

import { output, right } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { entryCount, entryKey, entryKind, entryLastKey, entryPayload } from "../arena/entry";
import { advance, cardinalityHeld, placeEntry, seek } from "../arena/directory";
import { insert } from "../write/point";
import { Kind } from "../container/kind";
import { UNIVERSE, BUCKETS } from "../container/limits";
import { runEnd, runStart, runsCount } from "../container/run";
import { portableBytes, readPortable, writePortable } from "./portable";
import { wordOf } from "../read/container";

// @ts-ignore: decorator
@inline const ARRAY: u32 = 1;
// @ts-ignore: decorator
@inline const CONTAINER: u32 = 2;
/** Bytes before the first member of an ARRAY. */
// @ts-ignore: decorator
@inline const ARRAY_HEADER_BYTES: u32 = 5;

// --- Writing -----------------------------------------------------------------------------------------------

/** Bytes of the payload of memory 0. */
export function nativeBytes(): u64 {
  return 1 + (asArray() ? 4 + 4 * cardinalityHeld<Own>() : portableBytes());
}

function asArray(): bool { return portableBytes() >= 4 * cardinalityHeld<Own>() + 4; }

/** Writes the bitmap in memory 0 to the output. */
export function writeNative(): void {
  if (!asArray()) {
    output.put(CONTAINER, 1);
    writePortable();
    return;
  }
  output.put(ARRAY, 1);
  output.put(cardinalityHeld<Own>(), 4);
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) writeMembers(placeEntry(place));
}

/**
 * Writes the members of a container of any kind. Even bitsets and full containers occur: as a list of members
 * they are longer than in a stream, but a thousand containers of one member can make up for that.
 */
function writeMembers(entry: usize): void {
  const base = entryKey<Own>(entry) << 16, kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  if (kind == Kind.RUNS) {
    for (let i: u32 = 0, runs = runsCount(payload); i < runs; i++) {
      for (let low = runStart(payload, i), last = runEnd(payload, i); low <= last; low++) {
        output.put(base | low, 4);
      }
    }
  } else if (kind == Kind.BITSET || kind == Kind.SHORT) {
    for (let word: u32 = 0; word < UNIVERSE >> 6; word++) {
      const from = base + (<u64>word << 6);
      for (let bits = wordOf(entry, word); bits; bits &= bits - 1) output.put(from + ctz(bits), 4);
    }
  } else if (kind == Kind.FULL) {
    for (let member = base, end = (entryLastKey<Own>(entry) + 1) << 16; member < end; member++) {
      output.put(member, 4);
    }
  } else if (kind == Kind.BUCKETS) {
    let next = payload, from = base;
    for (
      let bucket = payload + entryCount<Own>(entry), end = bucket + BUCKETS;
      bucket < end; bucket++, from += BUCKETS
    ) {
      for (const last = next + load<u8>(bucket); next < last; next++) output.put(from + load<u8>(next), 4);
    }
  } else {
    for (let i: u32 = 0, count = entryCount<Own>(entry); i < count; i++) {
      output.put(base | load<u16>(payload + (<usize>i << 1)), 4);
    }
  }
}

// --- Reading -----------------------------------------------------------------------------------------------

/** Builds the bitmap of operand 0 in memory 0, a fresh arena. */
export function readNative(): Fault {
  right.select(0);
  const size = <u64>right.size();
  if (!size) return Fault.CUT_SHORT;
  const form = right.load8(0, 0);
  if (form == ARRAY) return readMembers(size);
  return form == CONTAINER ? readPortable(1) : Fault.UNKNOWN_COOKIE;
}

function readMembers(size: u64): Fault {
  if (size < ARRAY_HEADER_BYTES) return Fault.CUT_SHORT;
  const count = right.load32(1, 0), end = ARRAY_HEADER_BYTES + 4 * <u64>count;
  if (end > size) return Fault.CUT_SHORT;
  if (end < size) return Fault.TRAILING_BYTES;
  for (let at: usize = ARRAY_HEADER_BYTES; at < <usize>end; at += 4) insert(right.load32(at, 0));
  return Fault.NONE;
}
