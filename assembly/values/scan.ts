// Passes over the values of a key, which `left` shows: of all its ids, or of those that a bitmap has, which
// `right` shows (WITHIN: the members of an expression). Memory 0 has what a pass does and finds. Leaves are
// skipped, or taken as a whole, where their bounds decide.

import { Side, left, right, segments, work } from "../env/memory";
import { Left, Right } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Arena } from "../arena/layout/header";
import { Directory, Place } from "../arena/read/directory";
import { BITSET_BYTES, Container } from "../container/limits";
import { FILTER_COPY, hasNear, layFilter } from "./filter";
import { Leaf, Values } from "./layout";
import { PairList } from "./pairlist";
import { Pairs } from "./pairs";
import { Slices } from "./slices";
import { Spot } from "./spot";
import { Wide } from "./wide";

/** What a pass does with the values that lie between two bounds. */
export const enum Task {
  /** counts their ids */
  COUNT,
  /** adds them up, too */
  SUM,
  /** counts and adds them up, and finds the least and the greatest one */
  STATISTICS,
  /** lists values and ids, in the order of ids */
  LIST,
  /** counts those from each of a list of edges on */
  EDGES,
  /** counts the ids of each, with counters */
  VALUES,
}

/** What a pass does and finds, in one block of memory 0. */
export abstract class Pass {
  @inline private static readonly LOW: u32 = 0;
  @inline private static readonly HIGH: u32 = 8;
  @inline private static readonly COUNT: u32 = 16;
  @inline private static readonly SUM: u32 = 24;
  @inline private static readonly LEAST: u32 = 40;
  @inline private static readonly GREATEST: u32 = 48;
  @inline private static readonly TASK: u32 = 56;
  @inline private static readonly FILTERS: u32 = 60;
  @inline private static readonly MASK: u32 = 64;
  @inline private static readonly FIRST_ID: u32 = 128;
  @inline private static readonly LAST_ID: u32 = 136;
  @inline private static readonly LIST: u32 = 144;
  @inline private static readonly EDGES: u32 = 148;
  @inline private static readonly KEEPS: u32 = 152;
  @inline private static readonly KEEPS_GREATEST: u32 = 156;
  @inline private static readonly SKIPS: u32 = 160;
  @inline private static readonly TAKES: u32 = 168;
  @inline private static readonly KEPT: u32 = 176;
  @inline private static readonly COUNTERS: u32 = 180;
  @inline static readonly EDGES_MAX: u32 = 480;
  /** The edges, and a count for each. */
  @inline static readonly EDGE: u32 = 192;
  @inline private static readonly EDGE_BYTES: u32 = 16;
  @inline static readonly AT: usize = 0;
  /** Where eight numbers are turned, and 64 bytes for whom passes serve. */
  @inline private static readonly TURN: usize = <usize>(Pass.EDGE + (Pass.EDGES_MAX + 1) * Pass.EDGE_BYTES);
  @inline static readonly NOTES: usize = Pass.TURN + 64;
  /** Behind it, the ids that the bitmap has in one container, as a bitset. */
  @inline static readonly FILTER: usize = BITSET_BYTES;
  /** A container of the bitmap, copied. */
  @inline private static readonly COPY: usize = 2 * BITSET_BYTES;
  /** PairList pairs begin here: the value, and then the id. */
  @inline static readonly PAIRS: usize = Pass.COPY + FILTER_COPY;

  @inline static low(): i64 { return load<i64>(Pass.AT, Pass.LOW); }
  @inline static high(): i64 { return load<i64>(Pass.AT, Pass.HIGH); }
  @inline static setBounds(low: i64, high: i64): void {
    store<i64>(Pass.AT, low, Pass.LOW);
    store<i64>(Pass.AT, high, Pass.HIGH);
  }

  @inline static count(): u64 { return load<u64>(Pass.AT, Pass.COUNT); }
  @inline static addCount(ids: u64): void { store<u64>(Pass.AT, Pass.count() + ids, Pass.COUNT); }
  @inline static sumAt(): usize { return Pass.AT + Pass.SUM; }
  @inline static least(): i64 { return load<i64>(Pass.AT, Pass.LEAST); }
  @inline static greatest(): i64 { return load<i64>(Pass.AT, Pass.GREATEST); }
  @inline static setExtremes(least: i64, greatest: i64): void {
    store<i64>(Pass.AT, least, Pass.LEAST);
    store<i64>(Pass.AT, greatest, Pass.GREATEST);
  }

  @inline static task(): Task { return <Task>load<u32>(Pass.AT, Pass.TASK); }
  @inline static setTask(task: Task): void { store<u32>(Pass.AT, task, Pass.TASK); }
  @inline static filters(): bool { return load<u32>(Pass.AT, Pass.FILTERS) != 0; }
  @inline static setFilters(filters: bool): void { store<u32>(Pass.AT, u32(filters), Pass.FILTERS); }
  @inline static maskAt(): usize { return Pass.AT + Pass.MASK; }
  @inline static firstId(): u64 { return load<u64>(Pass.AT, Pass.FIRST_ID); }
  @inline static lastId(): u64 { return load<u64>(Pass.AT, Pass.LAST_ID); }
  @inline static setIds(first: u64, last: u64): void {
    store<u64>(Pass.AT, first, Pass.FIRST_ID);
    store<u64>(Pass.AT, last, Pass.LAST_ID);
  }

  @inline static listed(): u32 { return load<u32>(Pass.AT, Pass.LIST); }
  @inline static setListed(pairs: u32): void { store<u32>(Pass.AT, pairs, Pass.LIST); }
  @inline static edges(): u32 { return load<u32>(Pass.AT, Pass.EDGES); }
  @inline static setEdges(edges: u32): void { store<u32>(Pass.AT, edges, Pass.EDGES); }
  @inline private static edgeAt(i: u32): usize { return Pass.AT + Pass.EDGE + <usize>i * Pass.EDGE_BYTES; }
  @inline static edge(i: u32): i64 { return load<i64>(Pass.edgeAt(i)); }
  @inline static setEdge(i: u32, edge: i64): void {
    store<i64>(Pass.edgeAt(i), edge);
    store<u64>(Pass.edgeAt(i), 0, 8);
  }

  @inline static fromEdge(i: u32): u64 { return load<u64>(Pass.edgeAt(i), 8); }
  @inline static addFromEdge(i: u32, ids: u32): void {
    store<u64>(Pass.edgeAt(i), Pass.fromEdge(i) + ids, 8);
  }

  /** How many pairs with the least or greatest values a pass is to list, 0 for all. */
  @inline static keeps(): u32 { return load<u32>(Pass.AT, Pass.KEEPS); }
  @inline static keepsGreatest(): bool { return load<u32>(Pass.AT, Pass.KEEPS_GREATEST) != 0; }
  @inline static keep(pairs: u32, greatest: bool): void {
    store<u32>(Pass.AT, pairs, Pass.KEEPS);
    store<u32>(Pass.AT, u32(greatest), Pass.KEEPS_GREATEST);
  }

  /** Pairs in the list from which on those beyond the number to keep are dropped. */
  @inline private static trimmedFrom(): u32 {
    return Pass.keeps() ? 2 * Pass.keeps() + Slices.IDS : u32.MAX_VALUE;
  }

  @inline static pairAt(i: u32): usize { return Pass.PAIRS + <usize>i * PairList.PAIR_BYTES; }
  /** Adds a pair to the list. */
  static list(value: i64, id: u64): void {
    const pairs = Pass.listed(), at = Pass.pairAt(pairs);
    Arena.reserve(at + PairList.PAIR_BYTES);
    store<i64>(at, value);
    store<u64>(at, id, 8);
    Pass.setListed(pairs + 1);
  }

  /** Pairs at the beginning of the list that passes and sort() leave alone. */
  @inline static kept(): u32 { return load<u32>(Pass.AT, Pass.KEPT); }
  @inline static keepListed(pairs: u32): void { store<u32>(Pass.AT, pairs, Pass.KEPT); }

  /** Lets passes list none of the first `skips` ids, and `takes` behind them. */
  @inline static listPart(skips: u64, takes: u64): void {
    store<u64>(Pass.AT, skips, Pass.SKIPS);
    store<u64>(Pass.AT, takes, Pass.TAKES);
  }

  /** Whether the next id is one to list. */
  @inline private static takesNext(): bool {
    const skips = load<u64>(Pass.AT, Pass.SKIPS), takes = load<u64>(Pass.AT, Pass.TAKES);
    if (skips) { store<u64>(Pass.AT, skips - 1, Pass.SKIPS); return false; }
    if (takes) store<u64>(Pass.AT, takes - 1, Pass.TAKES);
    return takes != 0;
  }

  /** Where VALUES has a counter for each value between the bounds. */
  @inline static countAt(counters: usize): void { store<u32>(Pass.AT, <u32>counters, Pass.COUNTERS); }
  @inline private static addValue(value: i64, ids: u64): void {
    const at = <usize>load<u32>(Pass.AT, Pass.COUNTERS) + (<usize>(value - Pass.low()) << 3);
    store<u64>(at, load<u64>(at) + ids);
  }

  /** Sorts the list by its values, and pairs of the same value by their ids. */
  static sort(): void { PairList.sort(Pass.pairAt(Pass.kept()), Pass.listed() - Pass.kept()); }

  /**
   * Drops all but the pairs that a pass is to keep from its list, sorts these, and lets the pass look only for
   * values that could replace one. Ids that come later win against the same value if the greatest are kept.
   */
  static trim(): void {
    Pass.sort();
    const keeps = Pass.keeps(), pairs = Pass.listed();
    if (pairs < keeps) return;
    if (Pass.keepsGreatest()) {
      memory.copy(Pass.PAIRS, Pass.pairAt(pairs - keeps), <usize>keeps * PairList.PAIR_BYTES);
      Pass.setBounds(load<i64>(Pass.PAIRS), Pass.high());
    } else {
      const last = load<i64>(Pass.pairAt(keeps - 1));
      if (last > Pass.low()) Pass.setBounds(Pass.low(), last - 1);
      else Pass.setBounds(i64.MAX_VALUE, i64.MIN_VALUE);
    }
    Pass.setListed(keeps);
  }

  /**
   * Begins passes, which take all values of the ids of operand 0 from `first` to `last`, or if `filters`, of
   * those of operand 1, a bitmap.
   */
  static begin(filters: bool, first: u64 = 0, last: u64 = u64.MAX_VALUE): void {
    Arena.reserve(Pass.PAIRS);
    memory.fill(Pass.AT, 0, Pass.EDGE);
    Pass.setFilters(filters);
    Pass.setBounds(i64.MIN_VALUE, i64.MAX_VALUE);
    Pass.setIds(first, last);
    Pass.listPart(0, u64.MAX_VALUE);
  }

  /** Makes a pass. */
  static run(task: Task): void {
    Pass.setTask(task);
    store<u64>(Pass.AT, 0, Pass.COUNT);
    memory.fill(Pass.sumAt(), 0, 16);
    Pass.setListed(Pass.kept());
    Pass.setExtremes(i64.MAX_VALUE, i64.MIN_VALUE);
    left.select(0);
    if (Pass.low() > Pass.high() || Pass.firstId() > Pass.lastId()) return;
    if (Pass.filters()) Pass.overMembers(); else Pass.over(Pass.firstId(), Pass.lastId());
  }

  /** Makes a pass that counts the ids with a value from `low` to `high`. Returns how many there are. */
  static countBetween(low: i64, high: i64): u64 {
    Pass.setBounds(low, high);
    Pass.run(Task.COUNT);
    return Pass.count();
  }

  /** Passes over the ids that the bitmap has, container by container. */
  private static overMembers(): void {
    right.select(1);
    let from = Pass.firstId();
    let place = Directory.seek<Right>(Offset.key(from));
    while (place) {
      const entry = Place.entry(place), spot = Spot.from<Left>(max(entry.key<Right>() << 16, from));
      if (spot == Spot.NONE) return;
      const key = Offset.key(Spot.id<Left>(spot));
      if (key > Offset.key(Pass.lastId())) return;
      if (key > entry.lastKey<Right>()) { place = Directory.seekFrom<Right>(place, key); continue; }
      layFilter(entry, Pass.FILTER, Pass.COPY);
      left.select(0);
      Pass.over(max(key << 16, from), min((key << 16) | Container.LOW_MAX, Pass.lastId()));
      if (key == Offset.KEY_MAX) return;
      from = (key + 1) << 16;
      if (key == entry.lastKey<Right>()) place = Place.next<Right>(place);
    }
  }

  /** Passes over ids from `first` to `last`. With a filter, they are of one container. */
  private static over(first: u64, last: u64): void {
    const spot = Spot.from<Left>(first);
    if (spot == Spot.NONE) return;
    let index = Spot.leaf(spot);
    while (true) {
      work.spend(1);
      if (!Values.isFull<Left>()) Pass.overPairs(Pairs.ofTiny<Left>(), 0, first, last);
      else if (index == 0 && Pass.takesWhole(first, last)) Pass.takeTotals();
      else {
        for (const leaves = Values.leaves<Left>(); index < leaves; index++) {
          const leaf = Values.leafAt<Left>(index);
          if (leaf.first<Left>() > last) return;
          if (Pass.passesOver(leaf)) continue;
          if (index + Leaf.AHEAD < leaves) Pass.prefetch(Values.leafAt<Left>(index + Leaf.AHEAD));
          if (leaf.least<Left>() <= Pass.high() && leaf.greatest<Left>() >= Pass.low()) {
            Pass.overLeaf(leaf, first, last);
            if (Pass.listed() >= Pass.trimmedFrom()) Pass.trim();
          }
        }
      }
      if (!segments.next(Side.LEFT)) return;
      index = 0;
    }
  }

  /**
   * Lets the leaf be read from memory, if the pass will look at its values: it does not follow the one before.
   */
  @inline private static prefetch(leaf: Leaf): void {
    if (Pass.passesOver(leaf)) return;
    if (leaf.least<Left>() < Pass.low() || leaf.greatest<Left>() > Pass.high() || Pass.task() != Task.COUNT) {
      left.prefetch(leaf.at<Left>(), leaf.bytes<Left>());
    }
  }

  /** Whether the bitmap has none of the 512 ids of a leaf that is sliced. */
  @inline private static passesOver(leaf: Leaf): bool {
    return Pass.filters() && leaf.isSliced<Left>() && !hasNear(Pass.FILTER, leaf.first<Left>());
  }

  /** Whether the totals of a full arena are what the pass looks for. */
  @inline private static takesWhole(first: u64, last: u64): bool {
    return Pass.task() <= Task.STATISTICS && !Pass.filters()
      && Pass.low() == i64.MIN_VALUE && Pass.high() == i64.MAX_VALUE
      && first <= Values.leafAt<Left>(0).first<Left>() && last >= Spot.lastId<Left>();
  }

  private static takeTotals(): void {
    Pass.addCount(Values.count<Left>());
    Wide.addWide(Pass.sumAt(), Values.sumLow<Left>(), Values.sumHigh<Left>());
    if (Pass.task() != Task.STATISTICS) return;
    for (let i: u32 = 0, leaves = Values.leaves<Left>(); i < leaves; i++) {
      const leaf = Values.leafAt<Left>(i);
      if (leaf.isLoose<Left>()) Pass.widenBy(leaf);
      else Pass.setExtremes(min(Pass.least(), leaf.least<Left>()), max(Pass.greatest(), leaf.greatest<Left>()));
    }
  }

  /** Takes the extremes of a leaf whose bounds are not exact. */
  private static widenBy(leaf: Leaf): void {
    const count = Pass.count(), low = load<u64>(Pass.sumAt()), high = load<u64>(Pass.sumAt(), 8);
    Pass.overLeaf(leaf, 0, u64.MAX_VALUE);
    store<u64>(Pass.sumAt(), low);
    store<u64>(Pass.sumAt(), high, 8);
    Pass.addCount(count - Pass.count());
  }

  private static overLeaf(leaf: Leaf, first: u64, last: u64): void {
    work.spend(1);
    const start = leaf.first<Left>();
    if (!leaf.isSliced<Left>()) { Pass.overPairs(Pairs.ofLeaf<Left>(leaf), start, first, last); return; }
    const low = Pass.low(), high = Pass.high();
    const inside = leaf.least<Left>() >= low && leaf.greatest<Left>() <= high;
    const isWhole = first <= start && last - start >= Slices.IDS - 1;
    if (inside && isWhole && !Pass.filters() && Pass.task() == Task.COUNT) {
      Pass.addCount(leaf.count<Left>());
      return;
    }
    const mask = Pass.maskAt(), at = leaf.at<Left>(), base = leaf.base<Left>(), width = leaf.width<Left>();
    Slices.presence<Left>(at, mask);
    if (Pass.filters()) {
      const filter = Pass.FILTER + (<usize>(<u32>start & Container.LOW_MAX) >> 3);
      for (let i: usize = 0; i < 64; i += 16) {
        v128.store(mask + i, v128.and(v128.load(mask + i), v128.load(filter + i)));
      }
    }
    if (!isWhole) cutMask(mask, start, first, last);
    if (!inside) {
      if (Pass.task() == Task.COUNT && Pass.countOneSide(leaf, low, high)) return;
      Slices.keep<Left>(leaf, mask, low, high);
    }
    const count = Slices.count(mask);
    if (!count) return;
    Pass.addCount(count);
    switch (Pass.task()) {
      case Task.COUNT: return;
      case Task.SUM: Pass.addSum(at, base, width, count); return;
      case Task.STATISTICS: {
        Pass.addSum(at, base, width, count);
        if (leaf.least<Left>() < Pass.least() || leaf.greatest<Left>() > Pass.greatest()) {
          Pass.setExtremes(
            min(Pass.least(), base + <i64>Slices.extreme<Left>(at, width, mask, false)),
            max(Pass.greatest(), base + <i64>Slices.extreme<Left>(at, width, mask, true)));
        }
        return;
      }
      case Task.EDGES: Pass.countEdges(leaf); return;
      default: Pass.takeEach(leaf, count);
    }
  }

  /** Counts the values of the mask from `low` to `high`, if one of these bounds cuts none of the leaf off. */
  @inline private static countOneSide(leaf: Leaf, low: i64, high: i64): bool {
    const mask = Pass.maskAt(), at = leaf.at<Left>(), width = leaf.width<Left>(), base = leaf.base<Left>();
    if (high >= leaf.greatest<Left>()) {
      Pass.addCount(Slices.countFrom<Left>(at, width, mask, <u64>(low - base)));
    } else if (low <= leaf.least<Left>()) {
      Pass.addCount(Slices.count(mask) - Slices.countFrom<Left>(at, width, mask, <u64>(high + 1 - base)));
    } else return false;
    return true;
  }

  /** Adds up the values of the mask. */
  private static addSum(at: usize, base: i64, width: u32, count: u32): void {
    const mask = Pass.maskAt();
    let sum: u64 = 0, slice: u32 = 0;
    for (const end = min(width, 48); slice < end; slice++) {
      sum += <u64>Slices.countIn<Left>(Slices.sliceAt(at, slice), mask) << slice;
    }
    Wide.addTimes(Pass.sumAt(), 1, sum);
    for (; slice < width; slice++) {
      Wide.addTimes(Pass.sumAt(), Slices.countIn<Left>(Slices.sliceAt(at, slice), mask), <u64>1 << slice);
    }
    Wide.addSignedTimes(Pass.sumAt(), count, base);
  }

  /** Lists the values of the mask, which has `count` places, or counts each. */
  private static takeEach(leaf: Leaf, count: u32): void {
    const lists = Pass.task() == Task.LIST, skips = load<u64>(Pass.AT, Pass.SKIPS), width = leaf.width<Left>();
    if (lists && skips >= count) { store<u64>(Pass.AT, skips - count, Pass.SKIPS); return; }
    if (!lists && !width) { Pass.addValue(leaf.base<Left>(), count); return; }
    for (let byte: u32 = 0; byte < Slices.IDS >> 3; byte++) {
      const bits = <u32>load<u8>(Pass.maskAt() + byte);
      if (bits) Pass.takeEight(leaf, byte, bits, lists);
    }
  }

  /** Numbers up to which each is read alone. */
  @inline private static readonly FEW: u32 = 2;

  @inline private static takeEight(leaf: Leaf, byte: u32, bits: u32, lists: bool): void {
    const at = leaf.at<Left>(), width = leaf.width<Left>(), base = leaf.base<Left>();
    const alone = popcnt(bits) <= Pass.FEW;
    if (!alone) Slices.eight<Left>(at, width, byte, Pass.TURN);
    for (let rest = bits; rest; rest &= rest - 1) {
      const place = <u32>ctz(rest), all = byte << 3 | place;
      const value = base + <i64>(alone ? Slices.get<Left>(at, width, all)
        : load<u64>(Pass.TURN + (<usize>place << 3)));
      if (!lists) Pass.addValue(value, 1);
      else if (Pass.takesNext()) Pass.list(value, leaf.first<Left>() + all);
    }
  }

  /** Counts the values of the mask from each edge on. */
  private static countEdges(leaf: Leaf): void {
    const mask = Pass.maskAt(), base = leaf.base<Left>(), width = leaf.width<Left>(), all = Slices.count(mask);
    for (let i: u32 = 0, n = Pass.edges(); i < n; i++) {
      const edge = Pass.edge(i);
      if (edge > leaf.greatest<Left>()) return;
      if (edge <= leaf.least<Left>()) { Pass.addFromEdge(i, all); continue; }
      Pass.addFromEdge(i, Slices.countFrom<Left>(leaf.at<Left>(), width, mask, <u64>(edge - base)));
    }
  }

  /** Whether the bitmap has the id, of which only the low 16 bits matter. */
  @inline private static hasMember(id: u32): bool {
    return ((load<u8>(Pass.FILTER + ((id & Container.LOW_MAX) >> 3)) >> (id & 7)) & 1) != 0;
  }

  /** Passes over the pairs whose ids, `start` and more, are from `first` to `last`. */
  private static overPairs(p: u64, start: u64, first: u64, last: u64): void {
    const low = Pass.low(), high = Pass.high(), filters = Pass.filters(), task = Pass.task();
    for (let i = first > start ? Pairs.below<Left>(p, first - start) : 0, n = Pairs.count(p); i < n; i++) {
      const id = start + Pairs.id<Left>(p, i), value = Pairs.value<Left>(p, i);
      if (id > last) return;
      if (value < low || value > high) continue;
      if (filters && !Pass.hasMember(<u32>id)) continue;
      Pass.addCount(1);
      if (task == Task.COUNT) continue;
      if (task == Task.LIST) {
        if (Pass.takesNext()) Pass.list(value, id);
      } else if (task == Task.VALUES) Pass.addValue(value, 1);
      else if (task == Task.EDGES) {
        for (let e: u32 = 0, edges = Pass.edges(); e < edges && Pass.edge(e) <= value; e++) {
          Pass.addFromEdge(e, 1);
        }
      } else {
        Wide.add(Pass.sumAt(), value);
        Pass.setExtremes(min(Pass.least(), value), max(Pass.greatest(), value));
      }
    }
  }
}

/** Removes places from the mask whose ids, `start` and more, are not from `first` to `last`. */
function cutMask(mask: usize, start: u64, first: u64, last: u64): void {
  for (let place: u32 = 0; place < Slices.IDS; place++) {
    const id = start + place;
    if (id >= first && id <= last) continue;
    store<u8>(mask + (place >> 3), load<u8>(mask + (place >> 3)) & ~<u8>(<u32>1 << (place & 7)));
  }
}
