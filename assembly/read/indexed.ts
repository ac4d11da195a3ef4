// Ranges in the words of Redis's BITCOUNT and BITPOS: indexes count bytes or bits of a string that ends with the byte of the greatest
// member; negative ones count from its end.

import { reply } from "../env/memory";
import { countRange, isEmpty, maximum, minimum, nextClear, nextSet, get } from "./query";

export const enum Unit { BYTE = 0, BIT = 1 }

/** The last unit of the string. */
// @ts-ignore: decorator
@inline function lastUnit(unit: u32): u64 {
  const greatest = maximum();
  return unit == Unit.BYTE ? greatest >> 3 : greatest | 7;
}

/** The unit that index `at` names, at least 0, when the last one is `last`. */
// @ts-ignore: decorator
@inline function unitAt(at: i64, last: u64): u64 {
  if (at >= 0) return <u64>at;
  const back = ~at;                           // -1 is the last unit
  return u64(back) > last ? 0 : last - <u64>back;
}

// @ts-ignore: decorator
@inline function firstBit(at: u64, unit: u32): u64 { return unit == Unit.BYTE ? at << 3 : at; }
// @ts-ignore: decorator
@inline function lastBit(at: u64, unit: u32): u64 { return unit == Unit.BYTE ? (at << 3) | 7 : at; }

/**
 * Members in the range of units [start, end], indexes as https://redis.io/docs/latest/commands/bitcount has them.
 */
export function countIndexed(start: i64, end: i64, unit: u32): u64 {
  if (isEmpty()) return 0;
  if (start < 0 && end < 0 && start > end) return 0;
  const last = lastUnit(unit);
  const from = unitAt(start, last), to = min(unitAt(end, last), last);
  return from > to ? 0 : countRange(firstBit(from, unit), lastBit(to, unit));
}

/**
 * Hands over the first offset whose bit is `bit` in the range of units [start, end], indexes as
 * https://redis.io/docs/latest/commands/bitpos has them, `given` of the two by the caller; returns 0 when there is none. A clear bit is
 * looked for past the string's end unless an end is given. An empty bitmap answers as a missing key does, but no range lies in it.
 */
export function position(bit: u32, start: i64, end: i64, unit: u32, given: u32): u32 {
  if (isEmpty()) {
    if (bit || given) return 0;
    reply.member(0);
    return 1;
  }
  if (bit && !given) {
    reply.member(minimum());
    return 1;
  }
  const last = lastUnit(unit);
  const from = unitAt(start, last), to = min(unitAt(end, last), last);
  if (from > to) return 0;
  const low = firstBit(from, unit), high = lastBit(to, unit);
  let found: u64;
  if (bit) {
    if (low > maximum()) return 0;
    found = nextSet(low);
    if (found > high) return 0;
  } else {
    found = nextClear(low);
    if (found < low || get(found)) return 0;  // nothing is clear up to 2^64 - 1
    if (found > high && given == 2) return 0;
  }
  reply.member(found);
  return 1;
}
