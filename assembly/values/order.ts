// Values in order: the list of a pass sorted, the value of a rank, and pages of ids in the order of (value,
// id).

import { reply } from "../env/memory";
import { Pass, Task } from "./scan";

/** Finds values by their ranks. */
export abstract class Order {
  /**
   * The value of 0-based rank `rank` among those from `least` on, which has one: by counting. It lies between
   * `low` and `high`. Each turn counts up to a little less and a little more than the value would be if those
   * that are left were spread evenly; after a turn that did not leave half of them, up to the middle.
   */
  static valueOf(rank: u64, low: i64, high: i64, least: i64): i64 {
    let from = low, to = high, before = countBelow(least, low), upTo = Pass.countBetween(least, high);
    for (let halves = false; from < to;) {
      const span = <u64>(to - from), margin = halves ? 0 : span / MARGIN;
      const even = Order.share(span, rank - before, upTo - before);
      const guess = halves ? span >> 1 : min(even, span - 1);
      const last = from + <i64>min(guess + margin, span - 1);
      for (let middle = from + <i64>(guess - min(guess, margin)); ; middle = last) {
        const count = Pass.countBetween(least, middle);
        if (count > rank) { to = middle; upTo = count; break; }
        from = middle + 1;
        before = count;
        if (middle == last) break;
      }
      const rest = <u64>(to - from);
      halves = rest > span >> 1;
    }
    return from;
  }

  /** `part` of `all`, which is more, of the span. */
  private static share(span: u64, part: u64, all: u64): u64 {
    const share = <u64>((<f64>part + 0.5) / <f64>all * <f64>0x100000000);
    return (span >> 32) * share + (((span & 0xffffffff) * share) >> 32);
  }
}

/** What part of the values that are left a turn of valueOf() goes to either side. */
// @ts-ignore: decorator
@inline const MARGIN: u64 = 64;

/** Pairs up to which those with the least or greatest values are found in one pass. */
// @ts-ignore: decorator
@inline const KEPT_MAX: u64 = 4096;

/** What rangeOfValues() does: bits. */
export const enum RangeOption { DESCENDING = 1, VALUES = 2 }

/**
 * Replies ids in the order of (value, id) of those whose values lie between the bounds: from rank `start` to
 * `stop`, negative from the end, as ZRANGE; if DESCENDING, in the reverse order. With VALUES, each id is
 * followed by its value. Returns how many numbers these are, and replies none if they are more than `limit`.
 * The pass has begun, and has its bounds.
 */
export function rangeOfValues(options: u32, start: i64, stop: i64, limit: u64): u64 {
  const descending = (options & RangeOption.DESCENDING) != 0;
  Pass.run(Task.STATISTICS);
  const all = <i64>Pass.count(), least = Pass.least(), greatest = Pass.greatest();
  if (start < 0) start = max(start + all, 0);
  if (stop < 0) stop += all;
  if (stop >= all) stop = all - 1;
  if (start > stop) return 0;
  const wanted = (<u64>(stop - start) + 1) * (options & RangeOption.VALUES ? 2 : 1);
  if (wanted > limit) return wanted;
  const first = <u64>(descending ? all - 1 - stop : start), last = <u64>(descending ? all - 1 - start : stop);
  const before = listRanks(first, last, all, least, greatest);
  const from = <u32>(first - before), to = <u32>(last - before);
  for (let i = from; i <= to; i++) {
    const at = Pass.pairAt(descending ? to - (i - from) : i);
    reply.member(load<u64>(at, 8));
    if (options & RangeOption.VALUES) reply.member(load<u64>(at));
  }
  return wanted;
}

/**
 * Lists pairs in order, among them those of ranks `first` to `last`. Returns the rank of the first one listed.
 */
function listRanks(first: u64, last: u64, all: u64, least: i64, greatest: i64): u64 {
  let before: u64 = 0;
  if (last < KEPT_MAX) Pass.keep(<u32>last + 1, false);
  else if (all - first <= KEPT_MAX) {
    Pass.keep(<u32>(all - first), true);
    before = first;
  } else if (last - first + 1 < all) {
    listMiddle(first, last, least, greatest);
    return first;
  }
  Pass.setBounds(least, greatest);
  Pass.run(Task.LIST);
  if (Pass.keeps()) Pass.trim(); else Pass.sort();
  return before;
}

/**
 * Lists the pairs of ranks `first` to `last`, and no others: many ids may have the value of the first one, or
 * that of the last one.
 */
function listMiddle(first: u64, last: u64, least: i64, greatest: i64): void {
  const low = Order.valueOf(first, least, greatest, least), high = Order.valueOf(last, low, greatest, least);
  const skips = first - countBelow(least, low), takes = last + 1 - countBelow(least, high);
  if (low == high) listMore(low, low, skips, last - first + 1);
  else {
    listMore(low, low, skips, u64.MAX_VALUE);
    if (high - 1 > low) listMore(low + 1, high - 1, 0, u64.MAX_VALUE);
    listMore(high, high, 0, takes);
  }
  Pass.keepListed(0);
  Pass.sort();
}

/** How many ids have a value from `low` to below `end`. */
function countBelow(low: i64, end: i64): u64 { return end > low ? Pass.countBetween(low, end - 1) : 0; }

/** Adds to the list the ids with values between two bounds: after the first `skips`, so many as `takes`. */
function listMore(low: i64, high: i64, skips: u64, takes: u64): void {
  Pass.setBounds(low, high);
  Pass.listPart(skips, takes);
  Pass.run(Task.LIST);
  Pass.keepListed(Pass.listed());
}
