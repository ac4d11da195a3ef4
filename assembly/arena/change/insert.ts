// Inserting entries in the directory: nodes grow and split, and the sums above them follow. remove.ts removes
// entries.
//
// Which leaves are roomy: a leaf below another node that is split, or that grows beyond Node.SMALL, will
// probably go on growing, at the same pace as all the others. If each of them moved to a larger block whenever
// it is full, the freed blocks would fit nothing else. So such a leaf gets a block for LEAF_MAX entries at
// once. A leaf that is the root, a leaf that a builder wrote, and inner nodes keep blocks that fit. A split at
// or near the end of a leaf leaves the left part full, so that ascending input packs leaves.
//
// pages.ts inserts in packed leaves.
//
// An operation that makes room for all its insertions in advance (Room.forEntries()) must insert
// before it removes. A node that shrinks may give up a block that it needs again when it grows, and
// the room does not include that block.

import { Own } from "../../env/view";
import { Arena, Header } from "../layout/header";
import { Allocator } from "../layout/blocks";
import { Node, Slot, firstKey } from "../layout/node";
import { Entry } from "../layout/entry";
import { Directory } from "../read/directory";
import { Room } from "./room";

/**
 * A roomy leaf that falls to this many entries gets a block that fits.
 * Each half of a full leaf has more, so that a leaf does not change back and forth.
 */
// @ts-ignore: decorator
@inline export const ROOMY_LEAST: u32 = Node.LEAF_MAX * 7 / 16;

/** Adds `members` to the sums above container `key`. Call it while the entry exists. */
export function adjust(key: u64, members: i64): void {
  if (Header.isTiny<Own>()) return;                  // a tiny arena's total is that of its entry
  Header.setCardinality(Header.cardinality<Own>() + members);
  let node = Node.root<Own>();
  while (node.level<Own>()) {
    const slot = node.slotAt(Directory.slotFor<Own>(node, key));
    slot.add(members);
    node = slot.child<Own>();
  }
}

/**
 * Inserts an entry for `key` in a full arena and returns its address. No entry may cover the key
 * yet, and its leaf must not be packed: loosen() of pages.ts sees to that. The caller gives the
 * entry a container and then calls adjust().
 */
export function insertEntry(key: u64): Entry {
  if (Arena.heldAt() - Header.bump() < Room.AMPLE) Allocator.prepare(Room.toInsert(key, 1));
  Header.setEntries(Header.entries<Own>() + 1);
  let link: usize = Header.ROOT;
  let node = Node.linked(link);
  if (node.isFull()) node = raiseRoot();
  while (node.level<Own>()) {
    let slot = node.slotAt(Directory.slotFor<Own>(node, key));
    if (key < slot.key<Own>()) store<u64>(changetype<usize>(slot), key);
    if (slot.child<Own>().isFull()) {
      splitChild(link, Directory.slotFor<Own>(node, key), key);         // the node may move
      node = Node.linked(link);
      slot = node.slotAt(Directory.slotFor<Own>(node, key));
    }
    link = slot.link();
    node = slot.child<Own>();
  }
  if (node.page.isPacked<Own>()) unreachable();
  const index = Directory.entriesUpTo<Own>(node, key);
  node = changetype<Node>(openGap(link, index));
  const entry = node.entryAt(index);
  entry.setKey(key);
  return entry;
}

/**
 * Appends a leaf of `entries` entries to the directory of a full arena.
 * They are complete, and their keys are greater than all others.
 */
export function appendLeaf(leaf: Node, entries: u32): void {
  const key = firstKey(leaf), members = nodeCardinality(leaf);
  let link: usize = Header.ROOT, node = Node.root<Own>();
  if (!node.level<Own>() || node.isFull()) node = raiseRoot();
  while (node.level<Own>() > 1) {
    if (lastSlot(node).child<Own>().isFull()) {
      splitChild(link, node.count<Own>() - 1, key);        // the node may move
      node = Node.linked(link);
    }
    const slot = lastSlot(node);
    slot.add(members);
    link = slot.link();
    node = slot.child<Own>();
  }
  node = changetype<Node>(openGap(link, node.count<Own>()));
  lastSlot(node).write(key, changetype<usize>(leaf), members);
  Header.setEntries(Header.entries<Own>() + entries);
  Header.setCardinality(Header.cardinality<Own>() + members);
}

// @ts-ignore: decorator
@inline function lastSlot(node: Node): Slot { return node.slotAt(node.count<Own>() - 1); }

/**
 * Changes the key of an entry of a full arena; its order among the entries must not change.
 * The caller then gives it a container.
 */
export function changeKey(entry: Entry, key: u64): void {
  const before = entry.key<Own>();
  for (let node = Node.root<Own>(); node.level<Own>();) {
    const slot = node.slotAt(Directory.slotFor<Own>(node, before));
    node = slot.child<Own>();
    if (slot.key<Own>() == before) store<u64>(changetype<usize>(slot), key);
  }
  entry.setKey(key);
}

/**
 * Makes room for one more item at `index` of the node that `link` points to.
 * Returns the node, which may have moved.
 */
export function openGap(link: usize, index: u32): usize {
  let node = Node.linked(link);
  if (!hasRoom(node)) {
    const level = node.level<Own>(), bytes = Node.bytes(level, node.count<Own>() + 1);
    const roomy = !level && Room.becomesRoomy(bytes, link == Header.ROOT);
    node = changetype<Node>(
      Allocator.resize(changetype<usize>(node), node.allocatedFor(), roomy ? Node.ROOMY_BYTES : bytes));
    store<u32>(link, <u32>changetype<usize>(node));
    node.setRoomy(roomy);
  }
  shift(node, index);
  return changetype<usize>(node);
}

/** Whether the block of a node that is not packed has room for one more item. */
// @ts-ignore: decorator
@inline export function hasRoom(node: Node): bool {
  const level = node.level<Own>(), count = node.count<Own>();
  if (node.isRoomy()) return level ? count < Node.ROOMY_SLOTS : count < Node.LEAF_MAX;
  return !node.isFull() && Node.block(level, count) == Node.block(level, count + 1);
}

/** Shifts the items from `index` on up by one, in a node that has room. */
// @ts-ignore: decorator
@inline function shift(node: Node, index: u32): void {
  const count = node.count<Own>(), item = node.itemBytes(),
    at = changetype<usize>(node) + Node.HEADER + <usize>index * item;
  memory.copy(at + item, at, <usize>(count - index) * item);
  node.setCount(count + 1);
}

/**
 * Inserts an entry for `key` at `index` of the leaf, as insertEntry() would, where that is all there is to
 * do: the leaf's block has room, and the slots above keep their keys because the entry is not the leaf's
 * first. Returns 0 where more would be needed.
 */
// @ts-ignore: decorator
@inline export function insertHere(leaf: Node, index: u32, key: u64): Entry {
  if (!index || !hasRoom(leaf)) return changetype<Entry>(0);
  shift(leaf, index);
  Header.setEntries(Header.entries<Own>() + 1);
  const entry = leaf.entryAt(index);
  entry.setKey(key);
  return entry;
}

/** Puts a new root above a full one. */
export function raiseRoot(): Node {
  const child = Node.root<Own>(), level = child.level<Own>() + 1;
  const root = changetype<Node>(Allocator.allocate(Node.bytes(level, 1)));
  root.write(level, 1);
  root.slotAt(0).write(firstKey(child), changetype<usize>(child), Header.cardinality<Own>());
  store<u32>(Header.ROOT, <u32>changetype<usize>(root));
  return root;
}

/**
 * How many slots stay in the left part of a full node that is split:
 * half of them, or all but one if `key` comes after them all.
 */
// @ts-ignore: decorator
@inline function slotsOnLeft(node: Node, key: u64): u32 {
  const count = node.count<Own>();
  return Directory.slotFor<Own>(node, key) == count - 1 ? count - 1 : count >> 1;
}

/**
 * How many entries stay in the left part of a full leaf that is split:
 * half of them, or those up to `key` if it is near the end.
 */
// @ts-ignore: decorator
@inline function entriesOnLeft(leaf: Node, key: u64): u32 {
  const upTo = Directory.entriesUpTo<Own>(leaf, key);
  return upTo > Node.LEAF_MAX / 8 * 7 ? upTo : Node.LEAF_MAX / 2;
}

/**
 * Splits the full child, which is not packed,
 * at slot `index` of the node that `link` points to, so that there is room for `key`.
 */
export function splitChild(link: usize, index: u32, key: u64): void {
  let node = Node.linked(link);
  const child = node.slotAt(index).child<Own>();
  const level = child.level<Own>(), count = child.count<Own>(), item = child.itemBytes();
  const stay = level ? slotsOnLeft(child, key) : entriesOnLeft(child, key), moved = count - stay;
  const roomy = !level && moved > ROOMY_LEAST;
  const sibling = changetype<Node>(Allocator.allocate(roomy ? Node.ROOMY_BYTES : Node.bytes(level, moved)));
  memory.copy(changetype<usize>(sibling) + Node.HEADER,
    changetype<usize>(child) + Node.HEADER + <usize>stay * item, <usize>moved * item);
  sibling.write(level, moved);
  sibling.setRoomy(roomy);
  child.setCount(stay);
  if (level) Allocator.resize(changetype<usize>(child), Node.bytes(level, count), Node.bytes(level, stay));
  else child.setRoomy(true);

  const members = nodeCardinality(sibling);
  node = changetype<Node>(openGap(link, index + 1));
  node.slotAt(index + 1).write(moved ? firstKey(sibling) : key, changetype<usize>(sibling), members);
  node.slotAt(index).add(-<i64>members);
}

/** Members of everything below the node, added up from its own items. */
function nodeCardinality(node: Node): u64 {
  let members: u64 = 0;
  const inner = node.level<Own>() != 0;
  if (!inner && node.page.isPacked<Own>()) return node.page.count<Own>();
  for (let i: u32 = 0, n = node.count<Own>(); i < n; i++) {
    members += inner ? node.slotAt(i).cardinality<Own>() : node.entryAt(i).cardinality<Own>();
  }
  return members;
}
