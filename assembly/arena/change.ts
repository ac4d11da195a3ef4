// Changing the directory: entries go in and out, nodes grow, split and go, and the sums above them follow.
//
// Which leaves are roomy: a leaf below another node that is split, or that grows beyond NODE_SMALL, will
// probably go on growing, at the same pace as all the others. If each of them moved to a larger block
// whenever it is full, the blocks that they leave would be of no use to any other. So such a leaf gets a
// block for LEAF_MAX entries at once. A leaf that is the root, a leaf that a builder wrote, and inner nodes
// keep blocks that fit. A split at or near the end of a leaf leaves the left part full, so that ascending
// input packs leaves. Nodes other than pages are never merged; an empty one is removed.
//
// Packed leaves are left to pages.ts, except that this file removes entries from them. A page that
// has become small joins one beside it, or below PAGE_LEAST entries becomes an ordinary leaf within
// its block. Neither takes memory.
//
// An operation that makes room for all its insertions in advance (roomForEntries()) must insert
// before it removes. A node that shrinks may give up a block that it needs again when it grows, and
// the room does not include that block.

import { Own } from "../env/view";
import {
  isTiny, setTotalCardinality, totalCardinality, ROOT, setEntryTotal, heldAt, bumpMark, prepare, entryTotal,
  resetToEmpty, release, resize, allocate,
} from "./arena";
import {
  rootNode, nodeLevel, slotAt, addToSlot, slotChild, nodeCount, NODE_HEADER, nodeBytes, writeNode, entryAt,
  LEAF_MAX, nodeBlock, ROOMY_BYTES, ROOMY_SLOTS, isRoomy, setNodeCount, isFull, slotKey, slotLink,
  allocatedFor, setRoomy, itemBytes, writeSlot, slotCardinality,
} from "./node";
import {
  entryKey, entryPayload, payloadBytes, setKey, entryCardinality, KEY_MAX, keyOf, offsetOf,
} from "./entry";
import {
  PAGE_BYTES, groupsIn, isPacked, joinPages, keyAt, membersBefore, membersBelow, membersUpTo, packedCount,
  removeMembers,
} from "./packed";
import { slotFor, entriesUpTo, leafFor } from "./directory";
import { unpackWithin } from "./leaf";
import { LOW_MAX } from "../container/limits";
import { AMPLE_ROOM, becomesRoomy, roomToInsert } from "./room";

/**
 * A roomy leaf that falls to this many entries gets a block that fits.
 * Each half of a full leaf has more, so that a leaf does not change back and forth.
 */
// @ts-ignore: decorator
@inline const ROOMY_LEAST: u32 = LEAF_MAX * 7 / 16;

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

/** Adds `members` to the sums above container `key`. Call it while the entry exists. */
export function adjust(key: u64, members: i64): void {
  if (isTiny<Own>()) return;                  // a tiny arena's total is that of its entry
  setTotalCardinality(totalCardinality<Own>() + members);
  let node = rootNode<Own>();
  while (nodeLevel<Own>(node)) {
    const slot = slotAt(node, slotFor<Own>(node, key));
    addToSlot(slot, members);
    node = slotChild<Own>(slot);
  }
}

/**
 * Inserts an entry for `key` in a full arena and returns its address. No entry may cover the key
 * yet, and its leaf must not be packed: loosen() of pages.ts sees to that. The caller gives the
 * entry a container and then calls adjust().
 */
export function insertEntry(key: u64): usize {
  if (heldAt() - bumpMark() < AMPLE_ROOM) prepare(roomToInsert(key, 1));
  setEntryTotal(entryTotal<Own>() + 1);
  let link: usize = ROOT;
  let node = <usize>load<u32>(link);
  if (isFull(node)) node = raiseRoot();
  while (nodeLevel<Own>(node)) {
    let slot = slotAt(node, slotFor<Own>(node, key));
    if (key < slotKey<Own>(slot)) store<u64>(slot, key);
    if (isFull(slotChild<Own>(slot))) {
      splitChild(link, slotFor<Own>(node, key), key);         // the node may move
      node = <usize>load<u32>(link);
      slot = slotAt(node, slotFor<Own>(node, key));
    }
    link = slotLink(slot);
    node = slotChild<Own>(slot);
  }
  if (isPacked<Own>(node)) unreachable();
  const index = entriesUpTo<Own>(node, key);
  node = openGap(link, index);
  const entry = entryAt(node, index);
  setKey(entry, key);
  return entry;
}

/**
 * Appends a leaf of `entries` entries to the directory of a full arena.
 * They are complete, and their keys are greater than all others.
 */
export function appendLeaf(leaf: usize, entries: u32): void {
  const key = firstKey(leaf), members = nodeCardinality(leaf);
  let link: usize = ROOT, node = rootNode<Own>();
  if (!nodeLevel<Own>(node) || isFull(node)) node = raiseRoot();
  while (nodeLevel<Own>(node) > 1) {
    if (isFull(slotChild<Own>(lastSlot(node)))) {
      splitChild(link, nodeCount<Own>(node) - 1, key);        // the node may move
      node = <usize>load<u32>(link);
    }
    const slot = lastSlot(node);
    addToSlot(slot, members);
    link = slotLink(slot);
    node = slotChild<Own>(slot);
  }
  node = openGap(link, nodeCount<Own>(node));
  writeSlot(lastSlot(node), key, leaf, members);
  setEntryTotal(entryTotal<Own>() + entries);
  setTotalCardinality(totalCardinality<Own>() + members);
}

// @ts-ignore: decorator
@inline function lastSlot(node: usize): usize { return slotAt(node, nodeCount<Own>(node) - 1); }

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
  if (members == membersUpTo<Own>(leaf, key) - membersBefore<Own>(leaf, key)) removeLast(first, last);
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
 * Changes the key of an entry of a full arena; its order among the entries must not change.
 * The caller then gives it a container.
 */
export function changeKey(entry: usize, key: u64): void {
  const before = entryKey<Own>(entry);
  for (let node = rootNode<Own>(); nodeLevel<Own>(node);) {
    const slot = slotAt(node, slotFor<Own>(node, before));
    node = slotChild<Own>(slot);
    if (slotKey<Own>(slot) == before) store<u64>(slot, key);
  }
  setKey(entry, key);
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

/**
 * Makes room for one more item at `index` of the node that `link` points to.
 * Returns the node, which may have moved.
 */
export function openGap(link: usize, index: u32): usize {
  let node = <usize>load<u32>(link);
  if (!hasRoom(node)) {
    const level = nodeLevel<Own>(node), bytes = nodeBytes(level, nodeCount<Own>(node) + 1);
    const roomy = !level && becomesRoomy(bytes, link == ROOT);
    node = resize(node, allocatedFor(node), roomy ? ROOMY_BYTES : bytes);
    store<u32>(link, <u32>node);
    setRoomy(node, roomy);
  }
  shift(node, index);
  return node;
}

/** Whether the block of a node that is not packed has room for one more item. */
// @ts-ignore: decorator
@inline export function hasRoom(node: usize): bool {
  const level = nodeLevel<Own>(node), count = nodeCount<Own>(node);
  if (isRoomy(node)) return level ? count < ROOMY_SLOTS : count < LEAF_MAX;
  return !isFull(node) && nodeBlock(level, count) == nodeBlock(level, count + 1);
}

/** Shifts the items from `index` on up by one, in a node that has room. */
// @ts-ignore: decorator
@inline function shift(node: usize, index: u32): void {
  const count = nodeCount<Own>(node), item = itemBytes(node), at = node + NODE_HEADER + <usize>index * item;
  memory.copy(at + item, at, <usize>(count - index) * item);
  setNodeCount(node, count + 1);
}

/**
 * Inserts an entry for `key` at `index` of the leaf, as insertEntry() would, where that is all there is to
 * do: the leaf's block has room, and the slots above keep their keys because the entry is not the leaf's
 * first. Returns 0 where more would be needed.
 */
// @ts-ignore: decorator
@inline export function insertHere(leaf: usize, index: u32, key: u64): usize {
  if (!index || !hasRoom(leaf)) return 0;
  shift(leaf, index);
  setEntryTotal(entryTotal<Own>() + 1);
  const entry = entryAt(leaf, index);
  setKey(entry, key);
  return entry;
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

/** Puts a new root above a full one. */
export function raiseRoot(): usize {
  const child = rootNode<Own>(), level = nodeLevel<Own>(child) + 1;
  const root = allocate(nodeBytes(level, 1));
  writeNode(root, level, 1);
  writeSlot(slotAt(root, 0), firstKey(child), child, totalCardinality<Own>());
  store<u32>(ROOT, <u32>root);
  return root;
}

/** The least key of the node's first item. */
// @ts-ignore: decorator
@inline export function firstKey(node: usize): u64 {
  return !nodeLevel<Own>(node) && isPacked<Own>(node)
    ? keyAt<Own>(node, 0)
    : load<u64>(node, NODE_HEADER) & KEY_MAX;
}

/**
 * How many slots stay in the left part of a full node that is split:
 * half of them, or all but one if `key` comes after them all.
 */
// @ts-ignore: decorator
@inline function slotsOnLeft(node: usize, key: u64): u32 {
  const count = nodeCount<Own>(node);
  return slotFor<Own>(node, key) == count - 1 ? count - 1 : count >> 1;
}

/**
 * How many entries stay in the left part of a full leaf that is split:
 * half of them, or those up to `key` if it is near the end.
 */
// @ts-ignore: decorator
@inline function entriesOnLeft(leaf: usize, key: u64): u32 {
  const upTo = entriesUpTo<Own>(leaf, key);
  return upTo > LEAF_MAX / 8 * 7 ? upTo : LEAF_MAX / 2;
}

/**
 * Splits the full child, which is not packed,
 * at slot `index` of the node that `link` points to, so that there is room for `key`.
 */
export function splitChild(link: usize, index: u32, key: u64): void {
  let node = <usize>load<u32>(link);
  const child = slotChild<Own>(slotAt(node, index));
  const level = nodeLevel<Own>(child), count = nodeCount<Own>(child), item = itemBytes(child);
  const stay = level ? slotsOnLeft(child, key) : entriesOnLeft(child, key), moved = count - stay;
  const roomy = !level && moved > ROOMY_LEAST;
  const sibling = allocate(roomy ? ROOMY_BYTES : nodeBytes(level, moved));
  memory.copy(sibling + NODE_HEADER, child + NODE_HEADER + <usize>stay * item, <usize>moved * item);
  writeNode(sibling, level, moved);
  setRoomy(sibling, roomy);
  setNodeCount(child, stay);
  if (level) resize(child, nodeBytes(level, count), nodeBytes(level, stay));
  else setRoomy(child, true);

  const members = nodeCardinality(sibling);
  node = openGap(link, index + 1);
  writeSlot(slotAt(node, index + 1), moved ? firstKey(sibling) : key, sibling, members);
  addToSlot(slotAt(node, index), -<i64>members);
}

/** Members of everything below the node, added up from its own items. */
function nodeCardinality(node: usize): u64 {
  let members: u64 = 0;
  const inner = nodeLevel<Own>(node) != 0;
  if (!inner && isPacked<Own>(node)) return packedCount<Own>(node);
  for (let i: u32 = 0, n = nodeCount<Own>(node); i < n; i++) {
    members += inner ? slotCardinality<Own>(slotAt(node, i)) : entryCardinality<Own>(entryAt(node, i));
  }
  return members;
}
