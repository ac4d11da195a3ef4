// Inserting entries in the directory: nodes grow and split, and the sums above them follow. remove.ts removes
// entries.
//
// Which leaves are roomy: a leaf below another node that is split, or that grows beyond NODE_SMALL, will
// probably go on growing, at the same pace as all the others. If each of them moved to a larger block
// whenever it is full, the freed blocks would fit nothing else. So such a leaf gets a block for LEAF_MAX
// entries at once. A leaf that is the root, a leaf that a builder wrote, and inner nodes keep blocks that
// fit. A split at or near the end of a leaf leaves the left part full, so that ascending input packs leaves.
//
// pages.ts inserts in packed leaves.
//
// An operation that makes room for all its insertions in advance (roomForEntries()) must insert
// before it removes. A node that shrinks may give up a block that it needs again when it grows, and
// the room does not include that block.

import { Own } from "../../env/view";
import {
  isTiny, setTotalCardinality, totalCardinality, ROOT, setEntryTotal, heldAt, bumpMark, entryTotal,
} from "../layout/header";
import { prepare, resize, allocate } from "../layout/blocks";
import {
  rootNode, nodeLevel, slotAt, addToSlot, slotChild, nodeCount, NODE_HEADER, nodeBytes, writeNode, entryAt,
  LEAF_MAX, nodeBlock, ROOMY_BYTES, ROOMY_SLOTS, isRoomy, setNodeCount, isFull, slotKey, slotLink,
  allocatedFor, setRoomy, itemBytes, writeSlot, slotCardinality, firstKey,
} from "../layout/node";
import { entryKey, setKey, entryCardinality } from "../layout/entry";
import { isPacked, packedCount } from "../packed/layout";
import { slotFor, entriesUpTo } from "../read/directory";
import { AMPLE_ROOM, becomesRoomy, roomToInsert } from "./room";

/**
 * A roomy leaf that falls to this many entries gets a block that fits.
 * Each half of a full leaf has more, so that a leaf does not change back and forth.
 */
// @ts-ignore: decorator
@inline export const ROOMY_LEAST: u32 = LEAF_MAX * 7 / 16;

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

/** Puts a new root above a full one. */
export function raiseRoot(): usize {
  const child = rootNode<Own>(), level = nodeLevel<Own>(child) + 1;
  const root = allocate(nodeBytes(level, 1));
  writeNode(root, level, 1);
  writeSlot(slotAt(root, 0), firstKey(child), child, totalCardinality<Own>());
  store<u32>(ROOT, <u32>root);
  return root;
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
