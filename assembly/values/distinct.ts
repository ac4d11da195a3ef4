// The different values of a key, and how many ids have each. Values are taken in parts, ascending: of few ids,
// which are listed and sorted, or of few values, each of which has a counter. So memory is bounded, whatever
// ids and values are.

import { reply } from "../env/memory";
import { Arena } from "../arena/layout/header";
import { PairList } from "./pairlist";
import { Pass, Task } from "./scan";

abstract class Part {
  /** Ids that a part lists at most. */
  @inline static readonly IDS_MAX: u64 = 1 << 21;
  /** Values that a part counts. */
  @inline static readonly VALUES: u32 = 1 << 18;

  /** Whether counters can count a part with values from `from` to `to`. */
  @inline static counts(from: i64, to: i64): bool { return <u64>(to - from) < Part.VALUES; }
  /** Whether they do, because many of them will be in use. */
  @inline static isCounted(from: i64, to: i64, ids: u64): bool {
    return Part.counts(from, to) && <u64>(to - from) >> 2 <= ids;
  }

  /** The last value of the part that begins with `from`, of values up to `greatest`. */
  static end(from: i64, greatest: i64, ids: u64): i64 {
    if (ids <= Part.IDS_MAX) return greatest;
    let low = from, high = greatest;
    while (low < high) {
      if (Part.counts(from, high)) return Part.countedEnd(from, greatest);
      const middle = low + <i64>(<u64>(high - low) >> 1);
      const found = Pass.countBetween(from, middle);
      if (found > Part.IDS_MAX) high = middle;
      else if (found >= Part.IDS_MAX / 2) return middle;
      else low = middle + 1;
    }
    // More ids than a part lists have the value `low`, or it is the last one.
    return Part.counts(from, low) ? Part.countedEnd(from, greatest) : low - 1;
  }

  @inline private static countedEnd(from: i64, greatest: i64): i64 {
    return <u64>(greatest - from) < Part.VALUES ? greatest : from + <i64>(Part.VALUES - 1);
  }
}

/**
 * Values found so far: those replied, or those in the list that a pass does not touch, of which `top` are kept.
 */
@final @unmanaged
class Found {
  @inline private static readonly TOP: u32 = 8;
  @inline private static readonly LIMIT: u32 = 16;

  static at(at: usize, top: u64, limit: u64): Found {
    store<u64>(at, 0);
    store<u64>(at, top, Found.TOP);
    store<u64>(at, limit, Found.LIMIT);
    return changetype<Found>(at);
  }

  @inline count(): u64 { return load<u64>(changetype<usize>(this)); }
  @inline setCount(values: u64): void { store<u64>(changetype<usize>(this), values); }
  @inline top(): u64 { return load<u64>(changetype<usize>(this), Found.TOP); }
  @inline isTooMuch(): bool { return this.count() > load<u64>(changetype<usize>(this), Found.LIMIT); }

  /** Adds a value. With TOP, it is written to the list at `at`; returns where the next one belongs. */
  @inline add(at: usize, value: i64, ids: u64): usize {
    if (this.top()) {
      store<i64>(at, value);
      store<u64>(at, ids, 8);
      return at + PairList.PAIR_BYTES;
    }
    if (this.isTooMuch()) return at;
    reply.member(<u64>value);
    reply.member(ids);
    this.setCount(this.count() + 1);
    return at;
  }

  /** Ends a part whose values end at `end` in the list. */
  close(end: usize): void {
    if (!this.top()) return;
    const values = <u32>((end - Pass.PAIRS) / PairList.PAIR_BYTES);
    orderByIds(values);
    const kept = <u32>min<u64>(values, this.top());
    this.setCount(kept);
    Pass.keepListed(kept);
  }
}

/**
 * Replies each value, ascending, and how many ids have it; with `top` values, those that most ids have, most
 * first. Returns how many numbers these are, or more than `limit` if they are more. The pass has begun.
 */
export function distinctValues(top: u64, limit: u64): u64 {
  Pass.run(Task.STATISTICS);
  const greatest = Pass.greatest(), most = limit >> 1;
  let ids = Pass.count(), from = Pass.least();
  const found = Found.at(Pass.NOTES, top ? min(top, most + 1) : 0, most);
  while (ids && !(found.top() == 0 && found.isTooMuch())) {
    const to = Part.end(from, greatest, ids);
    Pass.setBounds(from, to);
    if (Part.isCounted(from, to, ids)) addCounted(found, from, to); else addListed(found);
    ids -= Pass.count();
    from = to + 1;
  }
  if (!found.isTooMuch()) {
    for (let i: u32 = 0; found.top() && i < found.count(); i++) {
      reply.member(load<u64>(Pass.pairAt(i)));
      reply.member(load<u64>(Pass.pairAt(i), 8));
    }
  }
  return 2 * found.count();
}

/** Adds the values between the bounds of the pass, which are few. */
function addCounted(found: Found, from: i64, to: i64): void {
  const values = <u32>(to - from) + 1, list = Pass.pairAt(Pass.kept()), counters = list + <usize>values * 16;
  Arena.reserve(counters + <usize>values * 8);
  memory.fill(counters, 0, <usize>values * 8);
  Pass.countAt(counters);
  Pass.run(Task.VALUES);
  let end = list;
  for (let i: u32 = 0; i < values; i++) {
    const ids = load<u64>(counters + (<usize>i << 3));
    if (ids) end = found.add(end, from + i, ids);
  }
  found.close(end);
}

/** Adds the values between the bounds of the pass, of few ids. */
function addListed(found: Found): void {
  Pass.run(Task.LIST);
  Pass.sort();
  let end = Pass.pairAt(Pass.kept());
  for (let i = Pass.kept(), next = i, all = Pass.listed(); i < all; i = next) {
    const value = load<i64>(Pass.pairAt(i));
    for (next = i + 1; next < all && load<i64>(Pass.pairAt(next)) == value;) next++;
    end = found.add(end, value, next - i);
  }
  found.close(end);
}

/**
 * Sorts a list of values and their ids: most ids first, and then the least value. Values of the same number of
 * ids ascend already.
 */
function orderByIds(values: u32): void {
  for (let turn = 0; turn < 2; turn++) {
    for (let i: u32 = 0; i < values; i++) {
      const at = Pass.pairAt(i), first = load<i64>(at), second = load<i64>(at, 8);
      store<i64>(at, turn ? second : -second);
      store<i64>(at, turn ? -first : first, 8);
    }
    if (!turn) PairList.sort(Pass.PAIRS, values);
  }
}
