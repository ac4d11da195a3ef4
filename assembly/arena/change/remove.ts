// Removing entries from the directory, and members from its packed leaves: nodes shrink and disappear, and
// the sums above them follow. None of this takes memory.
//
// Nodes other than pages are never merged; an empty one is removed. A page that has become small joins one
// beside it, or becomes an ordinary leaf within its block if it has fewer than PAGE_LEAST members.

import { Own } from "../../env/view";
import { LOW_MAX } from "../../container/limits";
import { unpackWithin } from "./convertleaf";
import { ROOMY_LEAST, adjust } from "./insert";
import { release, resize } from "../layout/blocks";
import { entryCardinality, entryPayload, keyOf, offsetOf, payloadBytes } from "../layout/entry";
import {
  ROOT, entryTotal, isTiny, resetToEmpty, setEntryTotal, setTotalCardinality, totalCardinality,
} from "../layout/header";
import {
  NODE_HEADER, addToSlot, allocatedFor, entryAt, firstKey, isRoomy, itemBytes, nodeBytes, nodeCount,
  nodeLevel, rootNode, setNodeCount, setRoomy, slotAt, slotCardinality, slotChild, slotLink,
} from "../layout/node";
import { joinPages, removeMembers } from "../packed/change";
import { groupsIn } from "../packed/groups";
import { PAGE_BYTES, isPacked, keyAt, packedCount } from "../packed/layout";
import { membersBelow } from "../packed/members";
import { membersBeforeKey, membersUpTo } from "../packed/search";
import { entriesUpTo, leafFor, slotFor } from "../read/directory";

/**
 * A page with fewer members becomes an ordinary leaf.
 * Leaves of so few members are not packed, so that a leaf does not change back and forth.
 */
// @ts-ignore: decorator
@inline const PAGE_LEAST: u32 = 32;
/**
 * A page that falls below this many items joins another one beside it, if both leave a quarter of one free.
 */
// @ts-ignore: decorator
@inline const PAGE_FEW: u32 = 64;

/**
 * Removes the entry that begins at `key` and is no group.
 * The caller has already released its block and taken its members from the sums.
 */
export function removeEntry(key: u64): void {
  if (isTiny<Own>()) { resetToEmpty(); return; }              // its only container
  removeLast(offsetOf(key, 0), offsetOf(key, LOW_MAX));
}

/**
 * Removes the offsets in [first, last], which are those of one container, from a page, where there are some.
 * Needs no memory.
 */
export function removeFromGroup(first: u64, last: u64): void {
  const key = keyOf(first), leaf = leafFor<Own>(key), members = removedFrom(leaf, first, last);
  adjust(key, -<i64>members);
  if (members == membersUpTo<Own>(leaf, key) - membersBeforeKey<Own>(leaf, key)) removeLast(first, last);
  else {
    removeBelow(ROOT, first, last);
    lowerRoot();
  }
}

/** Removes the offset, member `index` of the packed leaf. Needs no memory. */
export function removeMember(leaf: usize, index: u32, offset: u64): void {
  const count = packedCount<Own>(leaf), key = keyOf(offset);
  if (isTiny<Own>()) {
    if (count == 1) resetToEmpty(); else removeMembers(0, index, index + 1);
    return;
  }
  const below = index && keyAt<Own>(leaf, index - 1) == key;
  const alone = !below && (index + 1 == count || keyAt<Own>(leaf, index + 1) != key);
  // A page that becomes small, or begins with another key, changes the node above.
  if (count <= PAGE_FEW || (alone && !index)) { removeFromGroup(offset, offset); return; }
  if (alone) setEntryTotal(entryTotal<Own>() - 1);
  adjust(key, -1);
  removeMembers(leaf, index, index + 1);
}

/** Removes the offsets in [first, last], all of an entry, and the entry. */
function removeLast(first: u64, last: u64): void {
  const left = entryTotal<Own>() - 1;
  if (!left) { resetToEmpty(); return; }
  setEntryTotal(left);
  removeBelow(ROOT, first, last);
  lowerRoot();
}

/** How many members of the packed leaf lie in [first, last]. */
// @ts-ignore: decorator
@inline function removedFrom(leaf: usize, first: u64, last: u64): u32 {
  return membersTo(leaf, last) - membersBelow<Own>(leaf, first);
}

/** How many members of the packed leaf are at most `last`. */
// @ts-ignore: decorator
@inline function membersTo(leaf: usize, last: u64): u32 {
  return last == u64.MAX_VALUE ? packedCount<Own>(leaf) : membersBelow<Own>(leaf, last + 1);
}

/** Removes roots with a single child: each is a level too many. */
function lowerRoot(): void {
  let root = rootNode<Own>();
  while (nodeLevel<Own>(root) && nodeCount<Own>(root) == 1) {
    const child = slotChild<Own>(slotAt(root, 0));
    release(root, nodeBytes(nodeLevel<Own>(root), 1));
    store<u32>(ROOT, <u32>child);
    root = child;
  }
}

/** Removes all entries of a full arena that begin in [first, last], with their blocks and their members. */
export function removeEntries(first: u64, last: u64): void {
  const members = removeWithin(ROOT, first, last);
  if (!load<u32>(ROOT)) { resetToEmpty(); return; }
  setTotalCardinality(totalCardinality<Own>() - members);
  lowerRoot();
}

/**
 * Does removeEntries() below the node that `link` points to, and changes each node once.
 * Releases a node that becomes empty, and sets the link to 0. Returns the number of members removed.
 */
function removeWithin(link: usize, first: u64, last: u64): u64 {
  const node = <usize>load<u32>(link), leaf = !nodeLevel<Own>(node);
  let from = leaf ? first ? entriesUpTo<Own>(node, first - 1) : 0 : slotFor<Own>(node, first);
  let to = leaf ? entriesUpTo<Own>(node, last) : slotFor<Own>(node, last) + 1, members: u64 = 0;
  if (leaf && isPacked<Own>(node)) {
    members = to - from;
  } else {
    for (let i = from; i < to; i++) {
      members += leaf ? removeContents(entryAt(node, i)) : removeBelowSlot(slotAt(node, i), first, last);
    }
  }
  if (leaf) {
    const entries = isPacked<Own>(node) ? groupsIn<Own>(node, from, to) : to - from;
    setEntryTotal(entryTotal<Own>() - entries);
  } else {                                    // only the first and the last child may be left
    if (slotChild<Own>(slotAt(node, from))) from++;
    if (to > from && slotChild<Own>(slotAt(node, to - 1))) to--;
  }
  if (to - from == nodeCount<Own>(node)) {
    release(node, allocatedFor(node));
    store<u32>(link, 0);
  } else if (to > from) closeGap(link, from, to - from);
  return members;
}

/** Releases the entry's block. Returns its members. */
// @ts-ignore: decorator
@inline function removeContents(entry: usize): u64 {
  const bytes = payloadBytes<Own>(entry);
  if (bytes) release(entryPayload<Own>(entry), bytes);
  return entryCardinality<Own>(entry);
}

/** Does removeWithin() for the slot's child, and updates the slot. */
function removeBelowSlot(slot: usize, first: u64, last: u64): u64 {
  const members = removeWithin(slotLink(slot), first, last), child = slotChild<Own>(slot);
  if (child) {
    store<u64>(slot, firstKey(child));
    addToSlot(slot, -<i64>members);
  }
  return members;
}

/**
 * Removes the entry of the offsets in [first, last], of one container; from a packed leaf those offsets only.
 */
function removeBelow(link: usize, first: u64, last: u64): void {
  const node = <usize>load<u32>(link), key = keyOf(first);
  if (!nodeLevel<Own>(node)) {
    if (isPacked<Own>(node)) {
      const from = membersBelow<Own>(node, first);
      closeGap(link, from, membersTo(node, last) - from);
      return;
    }
    const before = entriesUpTo<Own>(node, key);
    if (!before) unreachable();
    closeGap(link, before - 1, 1);
    return;
  }
  const index = slotFor<Own>(node, key);
  const slot = slotAt(node, index);
  removeBelow(slotLink(slot), first, last);
  const child = slotChild<Own>(slot);
  if (nodeCount<Own>(child)) {
    store<u64>(slot, firstKey(child));
    if (isPage(child) && packedCount<Own>(child) < PAGE_FEW) joinNeighbor(link, index);
  } else {
    release(child, nodeBytes(nodeLevel<Own>(child), 0));      // an empty page has become an ordinary leaf
    closeGap(link, index, 1);
  }
}

// @ts-ignore: decorator
@inline function isPage(node: usize): bool { return !nodeLevel<Own>(node) && isPacked<Own>(node); }

/**
 * Joins the page at slot `index` of the node that `link` points to with the page before or behind it,
 * if they are few items together.
 */
function joinNeighbor(link: usize, index: u32): void {
  const slots = nodeCount<Own>(<usize>load<u32>(link));
  if (index + 1 < slots && joinAt(link, index)) return;
  if (index) joinAt(link, index - 1);
}

/**
 * Joins the leaves at slots `index` and `index` + 1 of the node that `link` points to,
 * if they are pages of few items together.
 */
function joinAt(link: usize, index: u32): bool {
  const node = <usize>load<u32>(link);
  const slot = slotAt(node, index);
  const upper = slotChild<Own>(slotAt(node, index + 1));
  if (!isPage(slotChild<Own>(slot)) || !isPage(upper) || !joinPages(slotChild<Own>(slot), upper)) {
    return false;
  }
  addToSlot(slot, slotCardinality<Own>(slotAt(node, index + 1)));
  release(upper, PAGE_BYTES);
  closeGap(link, index + 1, 1);
  return true;
}

/** Removes `items` items from the node that `link` points to, from `index` on. */
// @ts-ignore: decorator
@inline function closeGap(link: usize, index: u32, items: u32): void {
  const node = <usize>load<u32>(link);
  if (!nodeLevel<Own>(node) && isPacked<Own>(node)) {
    removeMembers(node, index, index + items);
    if (packedCount<Own>(node) < PAGE_LEAST) unpackWithin(node);
    return;
  }
  const level = nodeLevel<Own>(node), count = nodeCount<Own>(node);
  const item = itemBytes(node), left = count - items;
  const at = node + NODE_HEADER + <usize>index * item, from = allocatedFor(node);
  memory.copy(at, at + <usize>items * item, <usize>(left - index) * item);
  setNodeCount(node, left);
  if (isRoomy(node) && left >= (level ? 2 : ROOMY_LEAST)) return;
  setRoomy(node, false);
  resize(node, from, nodeBytes(level, left));
}
