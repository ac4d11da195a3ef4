// Queries on one bitmap, memory 0: membership, cardinality, rank and select, and the neighbors of an offset.

import { Own } from "../env/view";
import {
  KEY_MAX, entryKey, entryKind, entryLastKey, entryPayload, keyOf, lowOf, offsetOf,
} from "../arena/layout/entry";
import {
  advance, cardinalityHeld, entriesHeld, entryOfRank, findEntry, findIn, leafFor, firstEntry, lastEntry,
  membersBefore, placeEntry, seek,
} from "../arena/read/directory";
import { NO_MEMBER, memberIndex } from "../arena/packed/members";
import { isPacked } from "../arena/packed/layout";
import { Kind, isArray } from "../container/kind";

import { NONE, containerHas, lastIn, nextClearIn, nextSetIn, rankIn, selectIn } from "./container";

/** 1 if the offset is a member. */
export function get(offset: u64): u32 {
  const leaf = leafFor<Own>(keyOf(offset));
  if (isPacked<Own>(leaf)) return u32(memberIndex(leaf, offset) != NO_MEMBER);
  const entry = findIn(leaf, keyOf(offset));
  return entry ? u32(containerHas(entry, lowOf(offset))) : 0;
}

/** 1 if the bitmap is empty. */
export function isEmpty(): u32 { return u32(!entriesHeld<Own>()); }

/** Number of members modulo 2^64: 0 for the empty bitmap and for that of all offsets. */
export function cardinality(): u64 { return cardinalityHeld<Own>(); }

/** Members that are at most `offset`; modulo 2^64. */
export function rankOf(offset: u64): u64 {
  const key = keyOf(offset);
  const entry = findEntry(key);
  return membersBefore(key) + (entry ? rankIn(entry, lowOf(offset)) : 0);
}

/** Members in the closed range [low, high]; 0 if low > high. */
export function countRange(low: u64, high: u64): u64 {
  if (low > high) return 0;
  return rankOf(high) - (low ? rankOf(low - 1) : 0);
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
  const entry = entryOfRank(at), key = entryKey<Own>(entry), within = at - membersBefore(key);
  if (entryKind<Own>(entry) == Kind.FULL) return (key << 16) + within;
  return offsetOf(key, selectIn(entry, <u32>within));
}
