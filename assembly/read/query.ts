// Queries on one bitmap, memory 0: membership, cardinality, rank and select, and the neighbors of an offset.

import { Memory, Own } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { PageMembers } from "../arena/packed/members";
import { Choice, Kind } from "../container/kind";

import { NONE, containerHas, lastIn, nextClearIn, nextSetIn, rankIn, selectIn } from "./container";

/** 1 if the offset is a member. */
export function get(offset: u64): u32 {
  const leaf = Directory.leafFor<Own>(Offset.key(offset));
  if (leaf.page.isPacked<Own>()) return u32(PageMembers.index(leaf.page, offset) != PageMembers.NONE);
  const entry = Directory.findIn(leaf, Offset.key(offset));
  return entry ? u32(containerHas(entry, Offset.low(offset))) : 0;
}

/** 1 if the bitmap is empty. */
export function isEmpty(): u32 { return u32(!Directory.entriesHeld<Own>()); }

/** Number of members modulo 2^64: 0 for the empty bitmap and for that of all offsets. */
export function cardinality(): u64 { return Directory.cardinality<Own>(); }

/** Members that are at most `offset`; modulo 2^64. */
export function rankOf(offset: u64): u64 {
  const key = Offset.key(offset);
  const entry = Directory.find(key);
  return Directory.membersBefore(key) + (entry ? rankIn(entry, Offset.low(offset)) : 0);
}

/** Members in the closed range [low, high]; 0 if low > high. */
export function countRange(low: u64, high: u64): u64 {
  if (low > high) return 0;
  return rankOf(high) - (low ? rankOf(low - 1) : 0);
}

/** The least member of a bitmap that is not empty. */
export function minimum(): u64 {
  const entry = Directory.first();
  return Offset.of(entry.key<Own>(),
    Choice.isArray(entry.kind<Own>()) ? load<u16>(entry.payload<Own>()) : nextSetIn(entry, 0));
}

/** The greatest member of a bitmap that is not empty. */
export function maximum(): u64 { return maximumOf<Own>(); }

/** The greatest member of memory M's bitmap, which is not empty. */
export function maximumOf<M extends Memory>(): u64 {
  const entry = Directory.last<M>();
  return Offset.of(entry.lastKey<M>(), lastIn<M>(entry));
}

/** The least member that is at least `from`. There must be one. */
export function nextSet(from: u64): u64 {
  const key = Offset.key(from);
  let place = Directory.seek<Own>(key);
  let entry = Place.entry(place);
  if (entry.key<Own>() <= key) {
    const low = nextSetIn(entry, Offset.low(from));
    if (low != NONE) return Offset.of(key, low);
    place = Place.next<Own>(place);
    entry = Place.entry(place);
  }
  return Offset.of(entry.key<Own>(), nextSetIn(entry, 0));
}

/**
 * The least offset from `from` on that is not a member.
 * If all up to 2^64 - 1 are members, it returns 0, which may be a member.
 */
export function nextClear(from: u64): u64 {
  while (true) {
    const key = Offset.key(from);
    const entry = Directory.find(key);
    if (!entry) return from;
    if (entry.kind<Own>() != Kind.FULL) {
      const low = nextClearIn(entry, Offset.low(from));
      if (low != NONE) return Offset.of(key, low);
    }
    const last = entry.lastKey<Own>();
    if (last == Offset.KEY_MAX) return 0;
    from = (last + 1) << 16;
  }
}

/** The member of 0-based rank `at`, which must be below the cardinality. */
export function select(at: u64): u64 {
  const entry = Directory.ofRank(at), key = entry.key<Own>(), within = at - Directory.membersBefore(key);
  if (entry.kind<Own>() == Kind.FULL) return (key << 16) + within;
  return Offset.of(key, selectIn(entry, <u32>within));
}
