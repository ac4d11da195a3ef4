// Values in order: the list of a pass sorted, the value of a rank, and pages of ids in the order of (value, id).

import { reply } from "../env/memory";
import { Arena } from "../arena/layout/header";
import { Bytes } from "./bytes";
import { Pass, Task } from "./scan";

/** Sorts the list of a pass. */
export abstract class Order {
  /** Values of a digit. */
  @inline private static readonly DIGITS: u32 = 256;

  /**
   * Sorts the list by its values; pairs of the same value keep their order, which is that of ids. One distribution
   * for each byte in which values differ.
   */
  static sort(): void {
    const pairs = Pass.listed(), bytes = <usize>pairs * Pass.PAIR_BYTES;
    if (pairs < 2) return;
    let least = i64.MAX_VALUE, greatest = i64.MIN_VALUE;
    for (let i: u32 = 0; i < pairs; i++) {
      const value = load<i64>(Pass.pairAt(i));
      least = min(least, value);
      greatest = max(greatest, value);
    }
    const counters = Pass.PAIRS + 2 * bytes;
    Arena.reserve(counters + 4 * Order.DIGITS);
    let from = Pass.PAIRS, to = Pass.PAIRS + bytes;
    for (let byte: u32 = 0, n = Bytes.needed(<u64>(greatest - least)); byte < n; byte++) {
      Order.distribute(from, to, bytes, counters, <u64>least, byte << 3);
      const last = from;
      from = to;
      to = last;
    }
    if (from != Pass.PAIRS) memory.copy(Pass.PAIRS, from, bytes);
  }

  /** Copies `bytes` bytes of pairs in the order of eight bits of value - least. */
  @inline private static distribute(
    from: usize, to: usize, bytes: usize, counters: usize, least: u64, shift: u32,
  ): void {
    memory.fill(counters, 0, 4 * Order.DIGITS);
    for (let at = from, end = from + bytes; at < end; at += Pass.PAIR_BYTES) {
      const counter = counters + (<usize>((load<u64>(at) - least) >> shift) & 0xff) * 4;
      store<u32>(counter, load<u32>(counter) + <u32>Pass.PAIR_BYTES);
    }
    let before = <u32>to;
    for (let counter = counters, end = counters + 4 * Order.DIGITS; counter < end; counter += 4) {
      const pairs = load<u32>(counter);
      store<u32>(counter, before);
      before += pairs;
    }
    for (let at = from, end = from + bytes; at < end; at += Pass.PAIR_BYTES) {
      const counter = counters + (<usize>((load<u64>(at) - least) >> shift) & 0xff) * 4;
      const there = <usize>load<u32>(counter);
      v128.store(there, v128.load(at));
      store<u32>(counter, <u32>(there + Pass.PAIR_BYTES));
    }
  }

  /**
   * Drops all but the pairs that a pass is to keep from its list, sorts these, and lets the pass look only for
   * values that could replace one. Ids that come later win against the same value if the greatest are kept.
   */
  static trim(): void {
    Order.sort();
    const keeps = Pass.keeps(), pairs = Pass.listed();
    if (pairs < keeps) return;
    if (Pass.keepsGreatest()) {
      memory.copy(Pass.PAIRS, Pass.pairAt(pairs - keeps), <usize>keeps * Pass.PAIR_BYTES);
      Pass.setBounds(load<i64>(Pass.PAIRS), Pass.high());
    } else {
      const last = load<i64>(Pass.pairAt(keeps - 1));
      if (last > Pass.low()) Pass.setBounds(Pass.low(), last - 1); else Pass.setBounds(i64.MAX_VALUE, i64.MIN_VALUE);
    }
    Pass.setListed(keeps);
  }

  /** The value of 0-based rank `rank` among those between two bounds, which has one: by counting. */
  static valueOf(rank: u64, low: i64, high: i64): i64 {
    let from = low, to = high;
    while (from < to) {
      const middle = from + <i64>((<u64>(to - from)) >> 1);
      Pass.setBounds(low, middle);
      Pass.run(Task.COUNT);
      if (Pass.count() > rank) to = middle; else from = middle + 1;
    }
    return from;
  }
}

/** Pairs up to which those with the least or greatest values are found in one pass. */
// @ts-ignore: decorator
@inline const KEPT_MAX: u64 = 4096;

/**
 * Replies ids in the order of (value, id) of those whose values lie from `low` to `high`: from rank `start` to
 * `stop`, negative from the end, as ZRANGE; with `descending`, in the reverse order. With `values`, each id is
 * followed by its value. Operand 0 has the values, and operand 1 is a bitmap of the ids if `filters`.
 */
export function rangeOfValues(
  filters: u32, low: i64, high: i64, start: i64, stop: i64, descending: u32, values: u32,
): void {
  Pass.begin(filters != 0);
  Pass.setBounds(low, high);
  Pass.run(Task.STATISTICS);
  const all = <i64>Pass.count(), least = Pass.least(), greatest = Pass.greatest();
  if (start < 0) start = max(start + all, 0);
  if (stop < 0) stop += all;
  if (stop >= all) stop = all - 1;
  if (start > stop) return;
  const first = <u64>(descending ? all - 1 - stop : start), last = <u64>(descending ? all - 1 - start : stop);
  const before = listRanks(first, last, all, least, greatest);
  const from = <u32>(first - before), to = <u32>(last - before);
  for (let i = from; i <= to; i++) {
    const at = Pass.pairAt(descending ? to - (i - from) : i);
    reply.member(load<u64>(at, 8));
    if (values) reply.member(load<u64>(at));
  }
}

/** Lists pairs in order, among them those of ranks `first` to `last`. Returns the rank of the first one listed. */
function listRanks(first: u64, last: u64, all: u64, least: i64, greatest: i64): u64 {
  let before: u64 = 0, low = least, high = greatest;
  if (last < KEPT_MAX) Pass.keep(<u32>last + 1, false);
  else if (all - first <= KEPT_MAX) {
    Pass.keep(<u32>(all - first), true);
    before = first;
  } else if (last - first + 1 < all) {
    low = Order.valueOf(first, least, greatest);
    high = Order.valueOf(last, least, greatest);
    if (low > least) {
      Pass.setBounds(least, low - 1);
      Pass.run(Task.COUNT);
      before = Pass.count();
    }
  }
  Pass.setBounds(low, high);
  Pass.run(Task.LIST);
  if (Pass.keeps()) Order.trim(); else Order.sort();
  return before;
}
