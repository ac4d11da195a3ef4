// The directory: which containers there are, in order of their keys. A B+-tree of blocks; the leaves hold the entries.
//
//   node   +0  u8  level: 0 for a leaf, one more than its children's otherwise
//          +1  u8  1 for a roomy leaf
//          +2  u16 count
//   leaf   +4  entries, 12 bytes each, up to LEAF_MAX (entry.ts)
//   inner  +4  slots, 20 bytes each, up to INNER_MAX:
//                +0  u64 key: the least below the child
//                +8  u32 child
//                +12 u64 cardinality of all below the child
//
// A tiny arena's first 16 bytes are a leaf of at most one entry, so reading knows no forms. A node's block fits its count, not
// its most, in a large one by steps: a leaf that is two thirds full takes two thirds. So it is with a leaf that is the root, with
// what a builder wrote, and with inner nodes. A leaf below another node that is split, or that grows beyond NODE_SMALL, is likely to
// go on growing, at the pace of all the others: it becomes roomy, its block one for LEAF_MAX entries. Would they all move to a larger
// block, those that they leave would be of no use to anyone. A split at the end of a leaf, or near it, leaves it full, so that
// ascending input packs. Nodes are never merged; one that falls empty goes.
//
// An entry's address stays right until an entry is inserted or removed.

import { view8, view16, view32, view64, Own } from "../env/view";
import {
  ROOT, TINY_PAYLOAD, isTiny, allocate, bumpMark, heldAt, prepare, release, resize, reserve, blockBytes, resetToEmpty, setBumpMark,
  HEADER_BYTES, totalCardinality, setTotalCardinality, entryTotal, setEntryTotal, FORM_FULL,
} from "./arena";
import { ENTRY_BYTES, KEY_MAX, Kind, entryKey, entryKind, entryCount, entryCardinality, entryLastKey, setKey, setPosition } from "./entry";
import { arrayBytes } from "../container/limits";

// @ts-ignore: decorator
@inline export const LEAF_MAX: u32 = 254;
// @ts-ignore: decorator
@inline export const INNER_MAX: u32 = 126;
// @ts-ignore: decorator
@inline const LEVEL: u32 = 0;
// @ts-ignore: decorator
@inline const ROOMY: u32 = 1;
// @ts-ignore: decorator
@inline const COUNT: u32 = 2;
// @ts-ignore: decorator
@inline export const NODE_HEADER: usize = 4;
// @ts-ignore: decorator
@inline export const SLOT_BYTES: usize = 20;
/** More levels than the 2^48 keys can fill. */
// @ts-ignore: decorator
@inline export const LEVELS_MAX: u32 = 16;

// @ts-ignore: decorator
@inline export function rootNode<M>(): usize { return isTiny<M>() ? 0 : <usize>view32<M>(0, ROOT); }
// @ts-ignore: decorator
@inline export function nodeLevel<M>(node: usize): u32 { return view8<M>(node, LEVEL); }
// @ts-ignore: decorator
@inline export function isRoomy(leaf: usize): bool { return load<u8>(leaf, ROOMY) != 0; }
// @ts-ignore: decorator
@inline export function setRoomy(leaf: usize, roomy: bool): void { store<u8>(leaf, u8(roomy), ROOMY); }
// @ts-ignore: decorator
@inline export function nodeCount<M>(node: usize): u32 { return view16<M>(node, COUNT); }
// @ts-ignore: decorator
@inline function setNodeCount(node: usize, count: u32): void { store<u16>(node, <u16>count, COUNT); }
/** Writes the header of a node that is not roomy. */
// @ts-ignore: decorator
@inline export function writeNode(node: usize, level: u32, count: u32): void { store<u32>(node, level | (count << 16)); }
// @ts-ignore: decorator
@inline export function entryAt(leaf: usize, index: u32): usize { return leaf + NODE_HEADER + <usize>index * ENTRY_BYTES; }
// @ts-ignore: decorator
@inline export function slotAt(node: usize, index: u32): usize { return node + NODE_HEADER + <usize>index * SLOT_BYTES; }
// @ts-ignore: decorator
@inline export function slotKey<M>(slot: usize): u64 { return view64<M>(slot, 0); }
// @ts-ignore: decorator
@inline export function slotChild<M>(slot: usize): usize { return <usize>view32<M>(slot, 8); }
// @ts-ignore: decorator
@inline export function slotCardinality<M>(slot: usize): u64 { return view64<M>(slot, 12); }
// @ts-ignore: decorator
@inline function slotLink(slot: usize): usize { return slot + 8; }
// @ts-ignore: decorator
@inline export function addToSlot(slot: usize, members: i64): void { store<u64>(slot, load<u64>(slot, 12) + members, 12); }

export function writeSlot(slot: usize, key: u64, child: usize, cardinality: u64): void {
  store<u64>(slot, key);
  store<u32>(slot, <u32>child, 8);
  store<u64>(slot, cardinality, 12);
}

/** Nodes beyond this grow by steps of NODE_STEP, so that one that fills up moves four times and not forty. */
// @ts-ignore: decorator
@inline const NODE_SMALL: usize = 1024;
// @ts-ignore: decorator
@inline const NODE_STEP: usize = 512;

/** Bytes to allocate for a node with `count` entries or slots that is not roomy. */
// @ts-ignore: decorator
@inline export function nodeBytes(level: u32, count: u32): usize {
  const bytes = NODE_HEADER + <usize>count * (level ? SLOT_BYTES : ENTRY_BYTES);
  return bytes <= NODE_SMALL ? bytes : (bytes + NODE_STEP - 1) & ~(NODE_STEP - 1);
}

/** Bytes to allocate for a roomy leaf, and for a full one. */
// @ts-ignore: decorator
@inline export const ROOMY_BYTES: usize = 3072;
/** A roomy leaf with as few entries gets the block that fits them. Halves of a full one have more, so that they do not go back and forth. */
// @ts-ignore: decorator
@inline const ROOMY_LEAST: u32 = LEAF_MAX * 7 / 16;

/** Bytes that the node was allocated for. */
// @ts-ignore: decorator
@inline export function allocatedFor(node: usize): usize {
  return isRoomy(node) ? ROOMY_BYTES : nodeBytes(nodeLevel<Own>(node), nodeCount<Own>(node));
}

// --- Finding ------------------------------------------------------------------------------------------------------------------

/** How many of the node's keys are at most `key`; the keys stand `stride` bytes apart. Free of branches that could mispredict. */
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
@inline function entriesUpTo<M>(leaf: usize, key: u64): u32 {
  return keysUpTo<M>(leaf + NODE_HEADER, nodeCount<M>(leaf), ENTRY_BYTES, key);
}

/** Keys that are passed over at once, ... */
// @ts-ignore: decorator
@inline const GROUP: u32 = 16;
/** ... in nodes of so many or more. */
// @ts-ignore: decorator
@inline const GROUPS_FROM: u32 = 64;

/**
 * The same as keysUpTo() for a node that is likely not in the cache. Counts the groups of keys that are, by their last, and then the keys
 * of the next one: more loads than halving takes, but none waits for another of its kind, so that their lines come together.
 */
// @ts-ignore: decorator
@inline function farKeysUpTo(first: usize, count: u32, stride: usize, key: u64): u32 {
  if (count < GROUPS_FROM) return keysUpTo<Own>(first, count, stride, key);
  let upTo: u32 = 0;
  for (let last = GROUP - 1; last < count; last += GROUP) upTo += (load<u64>(first + <usize>last * stride) & KEY_MAX) <= key ? GROUP : 0;
  let at = first + <usize>upTo * stride;
  const end = first + <usize>min(upTo + GROUP, count) * stride;
  for (; at < end; at += stride) upTo += u32((load<u64>(at) & KEY_MAX) <= key);
  return upTo;
}

/** How many entries of the leaf begin at or before `key`. */
// @ts-ignore: decorator
@inline export function farEntriesUpTo(leaf: usize, key: u64): u32 {
  return farKeysUpTo(leaf + NODE_HEADER, nodeCount<Own>(leaf), ENTRY_BYTES, key);
}

/** How many slots of the node begin at or before `key`. */
// @ts-ignore: decorator
@inline export function farSlotsUpTo(node: usize, key: u64): u32 {
  return farKeysUpTo(node + NODE_HEADER, nodeCount<Own>(node), SLOT_BYTES, key);
}

/** The slot to go down by for `key`: the last whose key is not greater, or the first. */
// @ts-ignore: decorator
@inline function slotFor<M>(node: usize, key: u64): u32 {
  const upTo = keysUpTo<M>(node + NODE_HEADER, nodeCount<M>(node), SLOT_BYTES, key);
  return upTo ? upTo - 1 : 0;
}

// @ts-ignore: decorator
@inline function leafFor<M>(key: u64): usize {
  let node = rootNode<M>();
  while (nodeLevel<M>(node)) node = slotChild<M>(slotAt(node, slotFor<M>(node, key)));
  return node;
}

/**
 * The leaf's entry whose key is `key` if it is where it is when no key before it is missing: keys mostly are neighbours. 0 if it is not
 * there.
 */
// @ts-ignore: decorator
@inline export function neighbourFor(leaf: usize, key: u64): usize {
  const count = nodeCount<Own>(leaf);
  if (!count) return 0;
  const distance = key - entryKey<Own>(entryAt(leaf, 0));
  if (distance >= count) return 0;
  const entry = entryAt(leaf, <u32>distance);
  return entryKey<Own>(entry) == key ? entry : 0;
}

/** The entry that stands for `key`, 0 if none does. */
export function findEntry(key: u64): usize {
  const leaf = leafFor<Own>(key), neighbour = neighbourFor(leaf, key);
  if (neighbour) return neighbour;
  const upTo = farEntriesUpTo(leaf, key);
  if (!upTo) return 0;
  const entry = entryAt(leaf, upTo - 1);
  return key <= entryLastKey<Own>(entry) ? entry : 0;
}

// A place in the order of entries, for walking: the entry's address in the low half, the end of its leaf's entries in the high.
// 0 is the end of the directory.

// @ts-ignore: decorator
@inline export function placeEntry(place: u64): usize { return <usize>(<u32>place); }
// @ts-ignore: decorator
@inline function placeOf(entry: usize, end: usize): u64 { return ((<u64>end) << 32) | <u64>entry; }

/** The place of the first entry that stands for `key` or a greater one. */
export function seek<M>(key: u64): u64 {
  while (true) {
    let node = rootNode<M>(), level = nodeLevel<M>(node);
    let following = KEY_MAX + 1;              // the least key of the subtree after the one that is gone down
    while (level) {
      const index = slotFor<M>(node, key);
      if (index + 1 < nodeCount<M>(node)) following = slotKey<M>(slotAt(node, index + 1));
      node = slotChild<M>(slotAt(node, index));
      const below = nodeLevel<M>(node);
      if (below >= level) unreachable();      // only a damaged arena has such a tree, and it could go round for ever
      level = below;
    }
    const count = nodeCount<M>(node);
    const upTo = entriesUpTo<M>(node, key);
    let index = upTo;
    if (upTo && key <= entryLastKey<M>(entryAt(node, upTo - 1))) index = upTo - 1;
    if (index < count) return placeOf(entryAt(node, index), entryAt(node, count));
    if (following > KEY_MAX) return 0;
    if (following <= key) unreachable();      // likewise
    key = following;
  }
}

/** Whether the leaf ends after `place`. */
// @ts-ignore: decorator
@inline export function isLastOfLeaf(place: u64): bool { return placeEntry(place) + ENTRY_BYTES >= <usize>(place >> 32); }

/** The place after `place`. */
// @ts-ignore: decorator
@inline export function advance<M>(place: u64): u64 {
  return isLastOfLeaf(place) ? advanceLeaf<M>(placeEntry(place)) : place + ENTRY_BYTES;
}

function advanceLeaf<M>(entry: usize): u64 {
  const last = entryLastKey<M>(entry);
  return last >= KEY_MAX || isTiny<M>() ? 0 : seek<M>(last + 1);
}

/**
 * The place at or after `place` of the first entry that stands for `key` or a greater one. Looks through what is left of the leaf
 * by doubling steps first: the next wanted entry is mostly near.
 */
export function seekFrom<M>(place: u64, key: u64): u64 {
  let entry = placeEntry(place);
  const end = <usize>(place >> 32);
  if (entryLastKey<M>(end - ENTRY_BYTES) < key) {
    const last = entryLastKey<M>(end - ENTRY_BYTES);
    return last >= KEY_MAX || isTiny<M>() ? 0 : seek<M>(key);
  }
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

/** The first entry of a bitmap that is not empty. */
export function firstEntry(): usize {
  let node = rootNode<Own>();
  while (nodeLevel<Own>(node)) node = slotChild<Own>(slotAt(node, 0));
  return entryAt(node, 0);
}

/** The last entry, 0 if there is none. */
export function lastEntry<M>(): usize {
  let node = rootNode<M>();
  while (nodeLevel<M>(node)) node = slotChild<M>(slotAt(node, nodeCount<M>(node) - 1));
  const count = nodeCount<M>(node);
  return count ? entryAt(node, count - 1) : 0;
}

/** Members below all of container `key`; skips leaves, and whole subtrees, by their sums. */
export function membersBefore(key: u64): u64 {
  let node = rootNode<Own>(), members: u64 = 0;
  while (nodeLevel<Own>(node)) {
    const index = slotFor<Own>(node, key);
    for (let i: u32 = 0; i < index; i++) members += slotCardinality<Own>(slotAt(node, i));
    node = slotChild<Own>(slotAt(node, index));
  }
  for (let i: u32 = 0, n = nodeCount<Own>(node); i < n; i++) {
    const entry = entryAt(node, i);
    if (entryLastKey<Own>(entry) < key) { members += entryCardinality<Own>(entry); continue; }
    const first = entryKey<Own>(entry);
    if (first < key) members += (key - first) << 16;          // within a FULL entry
    break;
  }
  return members;
}

/** The entry that holds the member of 0-based rank `rank`; there must be one. */
export function entryOfRank(rank: u64): usize {
  let node = rootNode<Own>(), index: u32 = 0;
  while (nodeLevel<Own>(node)) {
    for (index = 0; slotCardinality<Own>(slotAt(node, index)) <= rank; index++) rank -= slotCardinality<Own>(slotAt(node, index));
    node = slotChild<Own>(slotAt(node, index));
  }
  for (index = 0; entryCardinality<Own>(entryAt(node, index)) <= rank; index++) rank -= entryCardinality<Own>(entryAt(node, index));
  return entryAt(node, index);
}

/** Entries in the directory. */
// @ts-ignore: decorator
@inline export function entriesHeld<M>(): u32 { return isTiny<M>() ? nodeCount<M>(0) : entryTotal<M>(); }

/** Members of the whole bitmap; 0 for a bitmap of 2^64 as well. */
export function cardinalityHeld<M>(): u64 {
  if (!isTiny<M>()) return totalCardinality<M>();
  return nodeCount<M>(0) ? entryCardinality<M>(NODE_HEADER) : 0;
}

// --- Changing -----------------------------------------------------------------------------------------------------------------

/** Adds `members` to the sums above container `key`. To be called while its entry is there. */
export function adjust(key: u64, members: i64): void {
  if (isTiny<Own>()) return;                  // a tiny arena's total is its entry's
  setTotalCardinality(totalCardinality<Own>() + members);
  let node = rootNode<Own>();
  while (nodeLevel<Own>(node)) {
    const slot = slotAt(node, slotFor<Own>(node, key));
    addToSlot(slot, members);
    node = slotChild<Own>(slot);
  }
}

/** Turns a tiny arena into a full one of the same set. */
export function promote(): void {
  const held = nodeCount<Own>(0);
  const kind = held ? entryKind<Own>(NODE_HEADER) : Kind.SINGLE;
  const count = held ? entryCount<Own>(NODE_HEADER) : 0;
  const low = load<u64>(NODE_HEADER), high = load<u32>(NODE_HEADER, 8);
  const bytes = kind == Kind.ARRAY ? arrayBytes(count) : 0;
  const root = HEADER_BYTES, rootBytes = blockBytes(nodeBytes(0, held));
  const payload = root + rootBytes, top = payload + (bytes ? blockBytes(bytes) : 0);
  reserve(top);
  if (bytes) memory.copy(payload, TINY_PAYLOAD, bytes);
  memory.fill(0, 0, HEADER_BYTES);
  store<u8>(0, <u8>FORM_FULL);
  store<u32>(0, <u32>root, ROOT);
  setBumpMark(top);
  setEntryTotal(held);
  setTotalCardinality(count);
  writeNode(root, 0, held);
  if (held) {
    store<u64>(root, low, <usize>4);
    store<u32>(root, high, <usize>12);
    if (bytes) setPosition(entryAt(root, 0), payload);
  }
}

/** A level's part, at most, in what roomToInsert() asks for one entry: a sibling, and the node above it in two larger blocks. */
// @ts-ignore: decorator
@inline const ROOM_A_LEVEL: usize = 8192;
// @ts-ignore: decorator
@inline const AMPLE_ROOM: usize = <usize>LEVELS_MAX * ROOM_A_LEVEL;
/** Bytes an entry of all the blocks that a leaf moves through while it grows from none to LEAF_MAX, and of what its splits take. */
// @ts-ignore: decorator
@inline const ROOM_AN_ENTRY: usize = 160;

/** Bytes that inserting `entries` (1 or 2) entries at `key` into a full arena allocates at most. */
export function roomToInsert(key: u64, entries: u32): usize {
  let node = rootNode<Own>(), level = nodeLevel<Own>(node), count = nodeCount<Own>(node), above: u32 = 0, splits: usize = 0;
  while (true) {
    // A node that is full, or becomes it, is split in two, and the one above it, or a new root, takes up to `entries` slots more.
    if (count + entries > (level ? INNER_MAX : LEAF_MAX)) {
      splits += nodeBlock(level, level ? (count >> 1) + 2 : LEAF_MAX) + nodeBlock(level + 1, above + 1) + nodeBlock(level + 1, above + 2);
    }
    if (!level) break;
    above = count;
    node = slotChild<Own>(slotAt(node, slotFor<Own>(node, key)));
    level = nodeLevel<Own>(node);
    count = nodeCount<Own>(node);
  }
  if (splits) return (splits + ROOMY_BYTES) * entries;
  return isRoomy(node) ? 0 : roomToGrow(count, entries, node == rootNode<Own>());
}

/** The same for any number of entries anywhere. */
export function roomForEntries(entries: u32): usize {
  const root = rootNode<Own>(), level = nodeLevel<Own>(root), count = nodeCount<Own>(root);
  if (level || count + entries > LEAF_MAX) return <usize>entries * ROOM_AN_ENTRY + <usize>(level + 3) * ROOM_A_LEVEL;
  return roomToGrow(count, entries, true);
}

/** Bytes of the blocks that a leaf of `count` entries that is not roomy moves through until it has `entries` more. */
function roomToGrow(count: u32, entries: u32, isRoot: bool): usize {
  let bytes: usize = 0;
  for (let n = count + 1; n <= count + entries; n++) {
    if (nodeBlock(0, n) == nodeBlock(0, n - 1)) continue;
    if (becomesRoomy(nodeBytes(0, n), isRoot)) return bytes + ROOMY_BYTES;
    bytes += nodeBlock(0, n);
  }
  return bytes;
}

/** Whether a leaf that needs a larger block, for so many bytes, becomes roomy. */
// @ts-ignore: decorator
@inline function becomesRoomy(bytes: usize, isRoot: bool): bool { return bytes > NODE_SMALL && !isRoot; }

// @ts-ignore: decorator
@inline function nodeBlock(level: u32, count: u32): usize { return blockBytes(nodeBytes(level, count)); }

/**
 * Inserts an entry for `key`, which no entry may stand for yet, and returns its address. The caller gives it a container and then
 * calls adjust().
 */
export function insertEntry(key: u64): usize {
  if (isTiny<Own>()) {
    if (!nodeCount<Own>(0)) {
      setNodeCount(0, 1);
      setKey(NODE_HEADER, key);
      return NODE_HEADER;
    }
    promote();
  }
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
  const index = entriesUpTo<Own>(node, key);
  node = openGap(link, index);
  const entry = entryAt(node, index);
  setKey(entry, key);
  return entry;
}

/** Removes the entry that begins at `key`. Its block must be given back, and its members taken from the sums, already. */
export function removeEntry(key: u64): void {
  if (isTiny<Own>()) { resetToEmpty(); return; }
  const left = entryTotal<Own>() - 1;
  if (!left) { resetToEmpty(); return; }
  setEntryTotal(left);
  removeBelow(ROOT, key);
  let root = rootNode<Own>();
  while (nodeLevel<Own>(root) && nodeCount<Own>(root) == 1) { // a root with one child is one level too many
    const child = slotChild<Own>(slotAt(root, 0));
    release(root, nodeBytes(nodeLevel<Own>(root), 1));
    store<u32>(ROOT, <u32>child);
    root = child;
  }
}

function removeBelow(link: usize, key: u64): void {
  const node = <usize>load<u32>(link);
  if (!nodeLevel<Own>(node)) {
    const upTo = entriesUpTo<Own>(node, key);
    if (!upTo) unreachable();
    closeGap(link, upTo - 1);
    return;
  }
  const index = slotFor<Own>(node, key);
  const slot = slotAt(node, index);
  removeBelow(slotLink(slot), key);
  const child = slotChild<Own>(slot);
  if (nodeCount<Own>(child)) {
    store<u64>(slot, firstKey(child));
  } else {
    release(child, nodeBytes(nodeLevel<Own>(child), 0));
    closeGap(link, index);
  }
}

// @ts-ignore: decorator
@inline function isFull(node: usize): bool {
  return nodeCount<Own>(node) >= (nodeLevel<Own>(node) ? INNER_MAX : LEAF_MAX);
}

// @ts-ignore: decorator
@inline function itemBytes(node: usize): usize { return nodeLevel<Own>(node) ? SLOT_BYTES : ENTRY_BYTES; }

/** Makes room for one more item at `index` of the node that `link` holds; returns the node, which may have moved. */
function openGap(link: usize, index: u32): usize {
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

/** Whether the block has room for one more item. */
// @ts-ignore: decorator
@inline function hasRoom(node: usize): bool {
  const level = nodeLevel<Own>(node), count = nodeCount<Own>(node);
  return !isFull(node) && (isRoomy(node) || nodeBlock(level, count) == nodeBlock(level, count + 1));
}

/** Makes a gap at `index` of a node that has room. */
// @ts-ignore: decorator
@inline function shift(node: usize, index: u32): void {
  const count = nodeCount<Own>(node), item = itemBytes(node), at = node + NODE_HEADER + <usize>index * item;
  memory.copy(at + item, at, <usize>(count - index) * item);
  setNodeCount(node, count + 1);
}

/**
 * Inserts an entry for `key` at `index` of the leaf, as insertEntry() does, if no more than that is to be done: if the leaf's block has
 * room, and no slot gets another key, as it does before a leaf's first entry. Returns 0 if not.
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

function closeGap(link: usize, index: u32): void {
  const node = <usize>load<u32>(link);
  const level = nodeLevel<Own>(node), count = nodeCount<Own>(node), item = itemBytes(node);
  const at = node + NODE_HEADER + <usize>index * item, from = allocatedFor(node);
  memory.copy(at, at + item, <usize>(count - index - 1) * item);
  setNodeCount(node, count - 1);
  if (isRoomy(node) && count > ROOMY_LEAST) return;
  setRoomy(node, false);
  resize(node, from, nodeBytes(level, count - 1));
}

/** Puts a new root above the full one. */
function raiseRoot(): usize {
  const child = rootNode<Own>(), level = nodeLevel<Own>(child) + 1;
  const root = allocate(nodeBytes(level, 1));
  writeNode(root, level, 1);
  writeSlot(slotAt(root, 0), firstKey(child), child, totalCardinality<Own>());
  store<u32>(ROOT, <u32>root);
  return root;
}

/** The least key of the node's first item. */
// @ts-ignore: decorator
@inline function firstKey(node: usize): u64 { return load<u64>(node, NODE_HEADER) & KEY_MAX; }

/** How many slots the left part of a full node keeps: half of them, unless `key` comes after all there is. */
// @ts-ignore: decorator
@inline function slotsOnLeft(node: usize, key: u64): u32 {
  const count = nodeCount<Own>(node);
  return slotFor<Own>(node, key) == count - 1 ? count - 1 : count >> 1;
}

/** How many entries the left part of a full leaf keeps: half of them, unless `key` comes near its end. */
// @ts-ignore: decorator
@inline function entriesOnLeft(leaf: usize, key: u64): u32 {
  const upTo = entriesUpTo<Own>(leaf, key);
  return upTo > LEAF_MAX / 8 * 7 ? upTo : LEAF_MAX / 2;
}

/** Splits the full child at slot `index` of the node that `link` holds, so that `key` finds room. */
function splitChild(link: usize, index: u32, key: u64): void {
  let node = <usize>load<u32>(link);
  const child = slotChild<Own>(slotAt(node, index));
  const level = nodeLevel<Own>(child), count = nodeCount<Own>(child), item = itemBytes(child);
  const keep = level ? slotsOnLeft(child, key) : entriesOnLeft(child, key), moved = count - keep;
  const roomy = !level && moved > ROOMY_LEAST;
  const sibling = allocate(roomy ? ROOMY_BYTES : nodeBytes(level, moved));
  memory.copy(sibling + NODE_HEADER, child + NODE_HEADER + <usize>keep * item, <usize>moved * item);
  writeNode(sibling, level, moved);
  setRoomy(sibling, roomy);
  setNodeCount(child, keep);
  if (level) resize(child, nodeBytes(level, count), nodeBytes(level, keep));
  else setRoomy(child, true);

  const members = nodeCardinality(sibling);
  node = openGap(link, index + 1);
  writeSlot(slotAt(node, index + 1), moved ? firstKey(sibling) : key, sibling, members);
  addToSlot(slotAt(node, index), -<i64>members);
}

/** Members of everything below the node, from its own items. */
export function nodeCardinality(node: usize): u64 {
  let members: u64 = 0;
  const inner = nodeLevel<Own>(node) != 0;
  for (let i: u32 = 0, n = nodeCount<Own>(node); i < n; i++) {
    members += inner ? slotCardinality<Own>(slotAt(node, i)) : entryCardinality<Own>(entryAt(node, i));
  }
  return members;
}
