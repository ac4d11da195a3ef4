// Ranges as Redis's BITCOUNT and BITPOS take them: indexes count the bytes or bits of a string that ends with
// the byte of the greatest member, and negative indexes count from its end.

import { reply } from "../env/memory";
import { countRange, isEmpty, maximum, minimum, nextClear, nextSet, get } from "./query";

export const enum Unit { BYTE = 0, BIT = 1 }

/** Ranges of bytes and bits whose indexes may count from the end. */
abstract class Indexes {
  /** Index of the string's last unit, a byte or a bit. */
  @inline static lastUnit(unit: u32): u64 {
    const greatest = maximum();
    return unit == Unit.BYTE ? greatest >> 3 : greatest | 7;
  }

  /**
   * The unit that index `at` names, when `last` is the last one.
   * An index before the string's beginning names unit 0.
   */
  @inline static unitAt(at: i64, last: u64): u64 {
    if (at >= 0) return <u64>at;
    const back = ~at;                           // -1 is the last unit
    return u64(back) > last ? 0 : last - <u64>back;
  }

  @inline static firstBit(at: u64, unit: u32): u64 { return unit == Unit.BYTE ? at << 3 : at; }
  @inline static lastBit(at: u64, unit: u32): u64 { return unit == Unit.BYTE ? (at << 3) | 7 : at; }
}

/**
 * Members in the closed range of units [start, end], as
 * https://redis.io/docs/latest/commands/bitcount counts them, modulo 2^64. Where that is 0, adds to
 * the reply whether the range has members: 0 for none, 1 for 2^64 of them.
 */
export function countIndexed(start: i64, end: i64, unit: u32): u64 {
  let any: u32 = 0;                           // 1 if there are members though their number is 0
  if (!isEmpty() && !(start < 0 && end < 0 && start > end)) {
    const last = Indexes.lastUnit(unit), from = Indexes.unitAt(start, last),
      to = min(Indexes.unitAt(end, last), last);
    if (from <= to) {
      const low = Indexes.firstBit(from, unit), members = countRange(low, Indexes.lastBit(to, unit));
      if (members) return members;
      any = get(low);
    }
  }
  reply.member(any);
  return 0;
}

/**
 * Adds to the reply the first offset whose bit is `bit` in the closed range of units [start, end], as
 * https://redis.io/docs/latest/commands/bitpos finds it, and returns 1; returns 0 if there is none.
 * `given` says how many of the two indexes the caller gave. The search for a clear bit goes on past
 * the string's end unless an end was given. An empty bitmap answers as a missing key does, except
 * that any range in it is empty.
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
  const last = Indexes.lastUnit(unit);
  const from = Indexes.unitAt(start, last), to = min(Indexes.unitAt(end, last), last);
  if (from > to) return 0;
  const low = Indexes.firstBit(from, unit), high = Indexes.lastBit(to, unit);
  let found: u64;
  if (bit) {
    if (low > maximum()) return 0;
    found = nextSet(low);
    if (found > high) return 0;
  } else {
    found = nextClear(low);
    if (found < low || get(found)) return 0;  // no bit is clear up to 2^64 - 1
    if (found > high && given == 2) return 0;
  }
  reply.member(found);
  return 1;
}
