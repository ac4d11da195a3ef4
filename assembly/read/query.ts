// Queries on one bitmap, memory 0: membership, cardinality, rank and select, and the neighbors of an offset.

import { Own, view16, view64 } from "../env/view";
import {
  KEY_MAX, entryCount, entryKey, entryKind, entryLastKey, entryPayload, keyOf, lowOf, offsetOf,
} from "../arena/entry";
import {
  advance, cardinalityHeld, entriesHeld, entryOfRank, findEntry, firstEntry, lastEntry, membersBefore,
  placeEntry, seek,
} from "../arena/directory";
import { Kind, isArray } from "../container/kind";
import { BITSET_BYTES, LOW_MAX, UNIVERSE } from "../container/limits";
import { arrayLowerBound, member } from "../container/array";
import {
  bucketsLast, bucketsLowerBound, bucketsNextClear, bucketsSelect, bucketsHas,
} from "../container/buckets";
import {
  bitsetNextClear, bitsetNextSet, bitsetRangeCardinality, bitsetSelect, bitsetHas,
} from "../container/bitset";
import {
  runsNextClear, runsNextSet, runsRangeCardinality, runsSelect, runsHas, runsLast,
} from "../container/run";
import {
  shortHas, shortLast, shortNextClear, shortNextSet, shortRank, shortSelect,
} from "../container/short";

/** What a container's next...() answers when there is no such offset. */
// @ts-ignore: decorator
@inline const NONE: u32 = UNIVERSE;

/** Whether the entry's container has the member `low`. */
export function containerHas(entry: usize, low: u32): bool {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  if (kind == Kind.BITSET) return bitsetHas(payload, low);
  if (kind == Kind.SHORT) return shortHas(payload, low);
  if (kind == Kind.FULL) return true;
  if (kind == Kind.RUNS) return runsHas(payload, low);
  const count = entryCount<Own>(entry);
  if (kind == Kind.BUCKETS) return bucketsHas(payload, count, low);
  const index = arrayLowerBound(payload, count, low);
  return index < count && member(payload, index) == low;
}

/** 1 if the offset is a member. */
export function get(offset: u64): u32 {
  const entry = findEntry(keyOf(offset));
  return entry ? u32(containerHas(entry, lowOf(offset))) : 0;
}

/** 1 if the bitmap is empty. */
export function isEmpty(): u32 { return u32(!entriesHeld<Own>()); }

/** Number of members modulo 2^64: 0 for the empty bitmap and for that of all offsets. */
export function cardinality(): u64 { return cardinalityHeld<Own>(); }

/** Members of one container that are at most `low`. */
function rankInContainer(entry: usize, low: u32): u32 {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  if (kind == Kind.BITSET) return bitsetRangeCardinality(payload, 0, low);
  if (kind == Kind.RUNS) return runsRangeCardinality(payload, 0, low);
  if (kind == Kind.FULL) return low + 1;
  if (kind == Kind.SHORT) return shortRank(payload, low);
  if (kind == Kind.BUCKETS) return bucketsLowerBound(payload, entryCount<Own>(entry), low + 1);
  return arrayLowerBound(payload, entryCount<Own>(entry), low + 1);
}

/** Members that are at most `offset`; modulo 2^64. */
export function rank(offset: u64): u64 {
  const key = keyOf(offset);
  const entry = findEntry(key);
  return membersBefore(key) + (entry ? rankInContainer(entry, lowOf(offset)) : 0);
}

/** Members in the closed range [low, high]; 0 if low > high. */
export function countRange(low: u64, high: u64): u64 {
  if (low > high) return 0;
  return rank(high) - (low ? rank(low - 1) : 0);
}

/** The least member of a bitmap that is not empty. */
export function minimum(): u64 {
  const entry = firstEntry();
  return offsetOf(
    entryKey<Own>(entry),
    isArray(entryKind<Own>(entry)) ? load<u16>(entryPayload<Own>(entry)) : nextSetIn(entry, 0),
  );
}

/** The greatest member of a bitmap that is not empty. */
export function maximum(): u64 { return maximumOf<Own>(); }

/** The greatest member of memory M's bitmap, which is not empty. */
export function maximumOf<M>(): u64 {
  const entry = lastEntry<M>();
  return offsetOf(entryLastKey<M>(entry), lastIn<M>(entry));
}

function lastIn<M>(entry: usize): u32 {
  const kind = entryKind<M>(entry), payload = entryPayload<M>(entry);
  if (kind == Kind.FULL) return LOW_MAX;
  if (kind == Kind.BITSET) {
    let word: usize = BITSET_BYTES - 8;
    while (word && !view64<M>(payload + word, 0)) word -= 8;
    return <u32>((word << 3) + 63 - <usize>clz(view64<M>(payload + word, 0)));
  }
  if (kind == Kind.SHORT) return shortLast<M>(payload);
  if (kind == Kind.RUNS) return runsLast<M>(payload);
  if (kind == Kind.BUCKETS) return bucketsLast<M>(payload, entryCount<M>(entry));
  return view16<M>(payload + ((<usize>entryCount<M>(entry) - 1) << 1), 0);
}

/** The least member of the container from `low` on, or NONE. */
function nextSetIn(entry: usize, low: u32): u32 {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  if (kind == Kind.BITSET) return bitsetNextSet(payload, low);
  if (kind == Kind.RUNS) return runsNextSet(payload, low);
  if (kind == Kind.SHORT) return shortNextSet(payload, low);
  if (kind == Kind.FULL) return low;
  const count = entryCount<Own>(entry);
  if (kind == Kind.BUCKETS) {
    const index = bucketsLowerBound(payload, count, low);
    return index < count ? bucketsSelect(payload, count, index) : NONE;
  }
  const index = arrayLowerBound(payload, count, low);
  return index < count ? load<u16>(payload + (<usize>index << 1)) : NONE;
}

/** The least offset from `low` on that the container, which is not FULL, does not have, or NONE. */
function nextClearIn(entry: usize, low: u32): u32 {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  if (kind == Kind.BITSET) return bitsetNextClear(payload, low);
  if (kind == Kind.RUNS) return runsNextClear(payload, low);
  if (kind == Kind.SHORT) return shortNextClear(payload, low);
  const count = entryCount<Own>(entry);
  if (kind == Kind.BUCKETS) return bucketsNextClear(payload, count, low);
  let index = arrayLowerBound(payload, count, low);
  while (index < count && load<u16>(payload + (<usize>index << 1)) == low) { index++; low++; }
  return low;                                 // at most 65,535 + 1 = NONE
}

/** The least member that is at least `from`. There must be one. */
export function nextSet(from: u64): u64 {
  const key = keyOf(from);
  let place = seek<Own>(key);
  let entry = placeEntry(place);
  if (entryKey<Own>(entry) <= key) {
    const low = nextSetIn(entry, lowOf(from));
    if (low != NONE) return offsetOf(key, low);
    place = advance<Own>(place);
    entry = placeEntry(place);
  }
  return offsetOf(entryKey<Own>(entry), nextSetIn(entry, 0));
}

/**
 * The least offset from `from` on that is not a member.
 * If all up to 2^64 - 1 are members, it returns 0, which may be a member.
 */
export function nextClear(from: u64): u64 {
  while (true) {
    const key = keyOf(from);
    const entry = findEntry(key);
    if (!entry) return from;
    if (entryKind<Own>(entry) != Kind.FULL) {
      const low = nextClearIn(entry, lowOf(from));
      if (low != NONE) return offsetOf(key, low);
    }
    const last = entryLastKey<Own>(entry);
    if (last == KEY_MAX) return 0;
    from = (last + 1) << 16;
  }
}

/** The member of 0-based rank `at`, which must be below the cardinality. */
export function select(at: u64): u64 {
  const entry = entryOfRank(at), within = at - membersBefore(entryKey<Own>(entry));
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry), base = entryKey<Own>(entry) << 16;
  if (kind == Kind.FULL) return base + within;
  if (kind == Kind.BITSET) return base | bitsetSelect(payload, <u32>within);
  if (kind == Kind.RUNS) return base | runsSelect(payload, <u32>within);
  if (kind == Kind.SHORT) return base | shortSelect(payload, <u32>within);
  if (kind == Kind.BUCKETS) return base | bucketsSelect(payload, entryCount<Own>(entry), <u32>within);
  return base | load<u16>(payload + (<usize>within << 1));
}
