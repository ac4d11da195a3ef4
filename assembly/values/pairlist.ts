// Lists of pairs in memory 0: a value, and then an id.

import { arena, work } from "../env/memory";
import { Arena } from "../arena/layout/header";
import { Bytes } from "./bytes";

/** Sorts a list of pairs. */
export abstract class PairList {
  @inline static readonly PAIR_BYTES: usize = 16;
  /** Values of a digit. */
  @inline private static readonly DIGITS: u32 = 256;
  /** No memory has room for counters behind it. */
  @inline private static readonly END: u64 = 0xffff0000;
  /** Pairs whose distribution takes about as long as a leaf. */
  @inline private static readonly LEAF_SHIFT: u32 = 7;

  @inline static value(list: usize, i: u32): i64 { return load<i64>(list + <usize>i * PairList.PAIR_BYTES); }

  /**
   * Sorts the list by its values; pairs of the same value keep their order, which is that of ids. One
   * distribution for each byte in which values differ.
   */
  static sort(list: usize, pairs: u32): void {
    const bytes = <usize>pairs * PairList.PAIR_BYTES, counters = list + 2 * bytes;
    if (pairs < 2) return;
    let least = i64.MAX_VALUE, greatest = i64.MIN_VALUE;
    for (let i: u32 = 0; i < pairs; i++) {
      least = min(least, PairList.value(list, i));
      greatest = max(greatest, PairList.value(list, i));
    }
    if (<u64>list + 2 * <u64>pairs * PairList.PAIR_BYTES > PairList.END) arena.grow(u32.MAX_VALUE);
    Arena.reserve(counters + 4 * PairList.DIGITS);
    let from = list, to = list + bytes;
    for (let byte: u32 = 0, n = Bytes.needed(<u64>(greatest - least)); byte < n; byte++) {
      work.spend(pairs >> PairList.LEAF_SHIFT);
      memory.fill(counters, 0, 4 * PairList.DIGITS);
      PairList.distribute(from, to, counters, <u64>least, byte << 3);
      const last = from;
      from = to;
      to = last;
    }
    if (from != list) memory.copy(list, from, bytes);
  }

  /** Copies the pairs in the order of eight bits of value - least. The two lists lie next to each other. */
  @inline private static distribute(from: usize, to: usize, counters: usize, least: u64, shift: u32): void {
    const end = max(from, to) == from ? counters : to;
    for (let at = from; at < end; at += PairList.PAIR_BYTES) {
      const counter = counters + (<usize>((load<u64>(at) - least) >> shift) & 0xff) * 4;
      store<u32>(counter, load<u32>(counter) + <u32>PairList.PAIR_BYTES);
    }
    let before = <u32>to;
    for (let counter = counters, last = counters + 4 * PairList.DIGITS; counter < last; counter += 4) {
      const pairs = load<u32>(counter);
      store<u32>(counter, before);
      before += pairs;
    }
    for (let at = from; at < end; at += PairList.PAIR_BYTES) {
      const counter = counters + (<usize>((load<u64>(at) - least) >> shift) & 0xff) * 4;
      const there = <usize>load<u32>(counter);
      v128.store(there, v128.load(at));
      store<u32>(counter, <u32>(there + PairList.PAIR_BYTES));
    }
  }
}
