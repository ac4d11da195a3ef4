// The directory: which containers a bitmap has, in the order of their keys. It is a B+-tree whose
// leaves hold the entries. This file finds entries and walks over them; arena/layout/node.ts has the layout,
// arena/change/insert.ts inserts and removes.
//
// A tiny arena begins with a leaf, so these functions need not know the two forms of an arena.
//
// The address of an entry stays valid until an entry is inserted or removed.

import { view64, Own } from "../../env/view";
import { entryTotal, isTiny, totalCardinality } from "../layout/header";
import { ENTRY_BYTES, KEY_MAX, entryCardinality, entryKey, entryLastKey } from "../layout/entry";
import { farMembersUpTo, membersBeforeKey, membersUpTo } from "../packed/search";
import { groupEntry, isGroup, isPacked, keyAt, packedCount } from "../packed/layout";
import { groupFrom, groupStart, groupsIn, lastGroup, nextGroup, startBefore } from "../packed/groups";
import {
  NODE_HEADER, SLOT_BYTES, entryAt, entryIn, nodeCount, nodeLevel, rootNode, slotAt, slotCardinality,
  slotChild, slotKey,
} from "../layout/node";

/**
 * How many of `count` keys that stand `stride` bytes apart are at most `key`.
 * The search has no branches that could be mispredicted.
 */
// @ts-ignore: decorator
@inline function keysUpTo<M>(first: usize, count: u32, stride: usize, key: u64): u32 {
  if (!count) return 0;
  let base = first, rest = count;
  while (rest > 1) {
    const half = rest >> 1;
    const middle = base + <usize>half * stride;
    base = (view64<M>(middle, 0) & KEY_MAX) <= key ? middle : base;
    rest -= half;
  }
  return <u32>((base - first) / stride) + u32((view64<M>(base, 0) & KEY_MAX) <= key);
}

// @ts-ignore: decorator
@inline export function entriesUpTo<M>(leaf: usize, key: u64): u32 {
  if (isPacked<M>(leaf)) return membersUpTo<M>(leaf, key);
  return keysUpTo<M>(leaf + NODE_HEADER, nodeCount<M>(leaf), ENTRY_BYTES, key);
}

/** Keys of a group: a group whose last key is small enough is passed over at once. */
// @ts-ignore: decorator
@inline const SEARCHED_KEYS: u32 = 16;
/** Nodes with fewer keys are searched without groups. */
// @ts-ignore: decorator
@inline const SEARCHED_FROM: u32 = 64;

/**
 * keysUpTo() for a node that is probably not in the cache. It first counts whole groups, by the last key of
 * each, then the keys of the next group. That takes more loads than a binary search, but no load waits for
 * another one, so the cache lines arrive together.
 */
// @ts-ignore: decorator
@inline function farKeysUpTo(first: usize, count: u32, stride: usize, key: u64): u32 {
  if (count < SEARCHED_FROM) return keysUpTo<Own>(first, count, stride, key);
  let upTo: u32 = 0;
  for (let last = SEARCHED_KEYS - 1; last < count; last += SEARCHED_KEYS) {
    upTo += (load<u64>(first + <usize>last * stride) & KEY_MAX) <= key ? SEARCHED_KEYS : 0;
  }
  let at = first + <usize>upTo * stride;
  const end = first + <usize>min(upTo + SEARCHED_KEYS, count) * stride;
  for (; at < end; at += stride) upTo += u32((load<u64>(at) & KEY_MAX) <= key);
  return upTo;
}

/** How many entries of the leaf, which is not packed, begin at or before `key`. */
// @ts-ignore: decorator
@inline export function farEntriesUpTo(leaf: usize, key: u64): u32 {
  return farKeysUpTo(leaf + NODE_HEADER, nodeCount<Own>(leaf), ENTRY_BYTES, key);
}

/** How many slots of the node begin at or before `key`. */
// @ts-ignore: decorator
@inline export function farSlotsUpTo(node: usize, key: u64): u32 {
  return farKeysUpTo(node + NODE_HEADER, nodeCount<Own>(node), SLOT_BYTES, key);
}

/** Index of the slot that leads down to `key`: the last one whose key is not greater, or the first. */
// @ts-ignore: decorator
@inline export function slotFor<M>(node: usize, key: u64): u32 {
  const upTo = keysUpTo<M>(node + NODE_HEADER, nodeCount<M>(node), SLOT_BYTES, key);
  return upTo ? upTo - 1 : 0;
}

/** The leaf to which `key` belongs. */
// @ts-ignore: decorator
@inline export function leafFor<M>(key: u64): usize {
  let node = rootNode<M>();
  while (nodeLevel<M>(node)) node = slotChild<M>(slotAt(node, slotFor<M>(node, key)));
  return node;
}

/** The node above the leaf to which `key` belongs, 0 if there is none. */
export function nodeAbove(key: u64): usize {
  let above: usize = 0, node = rootNode<Own>();
  while (nodeLevel<Own>(node)) {
    above = node;
    node = slotChild<Own>(slotAt(node, slotFor<Own>(node, key)));
  }
  return above;
}

/** The leaf to which `key` belongs, where nodeAbove() of it is `above`. */
// @ts-ignore: decorator
@inline export function leafBelow(above: usize, key: u64): usize {
  return above ? slotChild<Own>(slotAt(above, slotFor<Own>(above, key))) : rootNode<Own>();
}

/**
 * The entry with this key of a leaf that is not packed, if it is at index key - firstKey; otherwise 0.
 * That guess is right when the leaf's keys are consecutive, as is usual.
 */
// @ts-ignore: decorator
@inline export function neighborFor(leaf: usize, key: u64): usize {
  const count = nodeCount<Own>(leaf);
  if (!count) return 0;
  const distance = key - entryKey<Own>(entryAt(leaf, 0));
  if (distance >= count) return 0;
  const entry = entryAt(leaf, <u32>distance);
  return entryKey<Own>(entry) == key ? entry : 0;
}

/** The entry that covers `key`, 0 if none does. A FULL entry covers a span of keys, all others one. */
export function findEntry(key: u64): usize {
  const leaf = leafFor<Own>(key);
  return isPacked<Own>(leaf) ? findGroup(leaf, key) : findIn(leaf, key);
}

/** findEntry() for the leaf, which is not packed, to which the key belongs. */
// @ts-ignore: decorator
@inline export function findIn(leaf: usize, key: u64): usize {
  const neighbor = neighborFor(leaf, key);
  if (neighbor) return neighbor;
  const upTo = farEntriesUpTo(leaf, key);
  if (!upTo) return 0;
  const entry = entryAt(leaf, upTo - 1);
  return key <= entryLastKey<Own>(entry) ? entry : 0;
}

/** findEntry() for the packed leaf to which the key belongs. */
export function findGroup(leaf: usize, key: u64): usize {
  const upTo = farMembersUpTo(leaf, key);
  return upTo && keyAt<Own>(leaf, upTo - 1) == key ? groupEntry(leaf, startBefore<Own>(leaf, upTo)) : 0;
}

// A place is a position in the order of entries, for walking: the low half is the entry's address,
// the high half is where the entries of its leaf end. Place 0 is the end of the directory.

/** The address of the next entry in the leaf; where the leaf ends if there is none. */
// @ts-ignore: decorator
@inline function entryAfter<M>(entry: usize): usize {
  return isGroup(entry) ? nextGroup<M>(entry) : entry + ENTRY_BYTES;
}

/** The last entry of the leaf that ends at `end` and holds `entry`. */
// @ts-ignore: decorator
@inline export function lastBefore<M>(entry: usize, end: usize): usize {
  return isGroup(entry) ? lastGroup<M>(entry, end) : end - ENTRY_BYTES;
}

// @ts-ignore: decorator
@inline export function placeEntry(place: u64): usize { return <usize>(<u32>place); }
// @ts-ignore: decorator
@inline function placeOf(entry: usize, end: usize): u64 { return ((<u64>end) << 32) | <u64>entry; }

/** The place of the first entry. */
export function firstPlace<M>(): u64 {
  let node = rootNode<M>(), level = nodeLevel<M>(node);
  while (level) {
    node = slotChild<M>(slotAt(node, 0));
    const below = nodeLevel<M>(node);
    if (below >= level) unreachable();        // only a damaged arena; the loop might never end
    level = below;
  }
  const count = nodeCount<M>(node);
  return count ? placeOf(entryIn<M>(node, 0), entryIn<M>(node, count)) : 0;
}

/** The place of the first entry that covers `key` or a greater key. */
export function seek<M>(key: u64): u64 {
  while (true) {
    let node = rootNode<M>(), level = nodeLevel<M>(node);
    let following = KEY_MAX + 1;              // the least key of the next subtree to the right
    while (level) {
      const index = slotFor<M>(node, key);
      if (index + 1 < nodeCount<M>(node)) following = slotKey<M>(slotAt(node, index + 1));
      node = slotChild<M>(slotAt(node, index));
      const below = nodeLevel<M>(node);
      if (below >= level) unreachable();      // only a damaged arena; the loop might never end
      level = below;
    }
    const count = nodeCount<M>(node);
    const upTo = entriesUpTo<M>(node, key);
    let index = upTo;
    if (upTo && key <= entryLastKey<M>(entryIn<M>(node, upTo - 1))) {
      index = isPacked<M>(node) ? startBefore<M>(node, upTo) : upTo - 1;
    }
    if (index < count) return placeOf(entryIn<M>(node, index), entryIn<M>(node, count));
    if (following > KEY_MAX) return 0;
    if (following <= key) unreachable();      // only a damaged arena
    key = following;
  }
}

/** Whether the place is the last one of its leaf. */
// @ts-ignore: decorator
@inline export function isLastOfLeaf<M>(place: u64): bool {
  return entryAfter<M>(placeEntry(place)) >= <usize>(place >> 32);
}

/** The place after `place` in its leaf, 0 if it is the last one there. */
// @ts-ignore: decorator
@inline export function nextInLeaf<M>(place: u64): u64 {
  const next = entryAfter<M>(placeEntry(place)), end = <usize>(place >> 32);
  return next < end ? placeOf(next, end) : 0;
}

/** The place after `place`. */
// @ts-ignore: decorator
@inline export function advance<M>(place: u64): u64 {
  const next = nextInLeaf<M>(place);
  return next ? next : advanceLeaf<M>(placeEntry(place));
}

/** The place of the first entry of the leaf after that of which `entry` is the last one. */
export function advanceLeaf<M>(entry: usize): u64 {
  const last = entryLastKey<M>(entry);
  return last >= KEY_MAX || isTiny<M>() ? 0 : seek<M>(last + 1);
}

/** The place of the first entry after member `index` of the packed leaf and its group. */
export function placeAfter<M>(leaf: usize, index: u32): u64 {
  const count = packedCount<M>(leaf), next = groupEntry(leaf, index + 1);
  if (index + 1 < count) return placeOf(next, groupEntry(leaf, count));
  return advanceLeaf<M>(groupEntry(leaf, index));
}

/**
 * The place, at or after `place`, of the first entry that covers `key` or a greater key.
 * Searches the rest of the leaf in doubling steps first, because the entry is usually near.
 */
export function seekFrom<M>(place: u64, key: u64): u64 {
  let entry = placeEntry(place);
  const end = <usize>(place >> 32);
  if (isGroup(entry)) {
    const group = groupFrom<M>(entry, key);
    return group ? placeOf(group, end) : isTiny<M>() ? 0 : seek<M>(key);
  }
  const last = entryLastKey<M>(end - ENTRY_BYTES);
  if (last < key) return last >= KEY_MAX || isTiny<M>() ? 0 : seek<M>(key);
  let step = ENTRY_BYTES;
  while (entryLastKey<M>(entry) < key) {      // invariant: everything before `entry` ends below key
    const far = entry + step;
    if (far < end && entryLastKey<M>(far) < key) {
      entry = far + ENTRY_BYTES;
      step <<= 1;
    } else {
      entry += ENTRY_BYTES;
      step = ENTRY_BYTES;
    }
  }
  return placeOf(entry, end);
}

/**
 * How many entries cover keys of [first, last]. Of leaves that are not packed it reads only the ends.
 * Stops once it has counted more than `most`.
 */
export function entriesBetween(first: u64, last: u64, most: u32): u32 {
  let entries: u32 = 0;
  for (let place = seek<Own>(first); place && entries <= most;) {
    const entry = placeEntry(place), end = <usize>(place >> 32);
    if (isGroup(entry)) {
      if (entryKey<Own>(entry) > last) return entries;
      entries++;
      place = advance<Own>(place);
      continue;
    }
    const inLeaf = <u32>((end - entry) / ENTRY_BYTES);
    if (entryKey<Own>(end - ENTRY_BYTES) > last) {
      return entries + keysUpTo<Own>(entry, inLeaf, ENTRY_BYTES, last);
    }
    entries += inLeaf;
    place = advanceLeaf<Own>(end - ENTRY_BYTES);
  }
  return entries;
}

/** The first entry of a bitmap that is not empty. */
export function firstEntry(): usize {
  let node = rootNode<Own>();
  while (nodeLevel<Own>(node)) node = slotChild<Own>(slotAt(node, 0));
  return entryIn<Own>(node, 0);
}

/** The last entry, 0 if there is none. */
export function lastEntry<M>(): usize {
  let node = rootNode<M>();
  while (nodeLevel<M>(node)) node = slotChild<M>(slotAt(node, nodeCount<M>(node) - 1));
  const count = nodeCount<M>(node);
  return count ? lastBefore<M>(entryIn<M>(node, 0), entryIn<M>(node, count)) : 0;
}

/** How many members come before container `key`. Skips leaves and whole subtrees by their sums. */
export function membersBefore(key: u64): u64 {
  let node = rootNode<Own>(), members: u64 = 0;
  while (nodeLevel<Own>(node)) {
    const index = slotFor<Own>(node, key);
    for (let i: u32 = 0; i < index; i++) members += slotCardinality<Own>(slotAt(node, i));
    node = slotChild<Own>(slotAt(node, index));
  }
  if (isPacked<Own>(node)) return members + membersBeforeKey<Own>(node, key);
  for (let i: u32 = 0, n = nodeCount<Own>(node); i < n; i++) {
    const entry = entryAt(node, i);
    if (entryLastKey<Own>(entry) < key) { members += entryCardinality<Own>(entry); continue; }
    const first = entryKey<Own>(entry);
    if (first < key) members += (key - first) << 16;          // inside a FULL entry
    break;
  }
  return members;
}

/** The entry that holds the member of 0-based rank `rank`, which must exist. */
export function entryOfRank(rank: u64): usize {
  let node = rootNode<Own>(), index: u32 = 0;
  while (nodeLevel<Own>(node)) {
    for (index = 0; slotCardinality<Own>(slotAt(node, index)) <= rank; index++) {
      rank -= slotCardinality<Own>(slotAt(node, index));
    }
    node = slotChild<Own>(slotAt(node, index));
  }
  if (isPacked<Own>(node)) return groupEntry(node, groupStart<Own>(node, <u32>rank));
  for (index = 0; entryCardinality<Own>(entryAt(node, index)) <= rank; index++) {
    rank -= entryCardinality<Own>(entryAt(node, index));
  }
  return entryAt(node, index);
}

/** How many entries the directory has at most. Of a tiny arena that is packed, how many members. */
// @ts-ignore: decorator
@inline export function entriesHeld<M>(): u32 { return isTiny<M>() ? nodeCount<M>(0) : entryTotal<M>(); }

/** How many entries the directory has. */
export function entriesExactly<M>(): u32 {
  return isTiny<M>() && isPacked<M>(0) ? groupsIn<M>(0, 0, nodeCount<M>(0)) : entriesHeld<M>();
}

/**
 * Members of the whole bitmap modulo 2^64: 0 for the bitmap of all 2^64 offsets, as for the empty one.
 */
export function cardinalityHeld<M>(): u64 {
  if (!isTiny<M>()) return totalCardinality<M>();
  return isPacked<M>(0) ? nodeCount<M>(0) : nodeCount<M>(0) ? entryCardinality<M>(NODE_HEADER) : 0;
}
