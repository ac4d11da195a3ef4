// Packed leaves (packed.ts) in the directory: which leaves are packed, and how packed leaves grow and split.
//
// Offsets far apart, such as identifiers, usually have a container to themselves.
// In a packed leaf each takes 4 to 8 bytes, not the 12 of an entry. Packed leaves are made in three places:
//
//   - A tiny arena of one member becomes a packed leaf when a second one comes that lies in another
//     container, and a full arena of pages when it has more than ITEMS_MAX members.
//   - An ordinary leaf, other than the root, that needs a block of more than NODE_SMALL bytes and has only
//     lone members becomes a page.
//   - The builder packs what it can (builder.ts).
//
// Lone members are inserted and removed within a packed leaf. Any other change needs an ordinary
// entry: loosen() first turns the leaf into ordinary ones. These are packed again only when they grow as said
// above.
//
// A page that is full shares its offsets with a neighbor. If that is nearly full as well, the two
// become three. So pages that are filled in random order are about four fifths full, those that are
// filled in ascending order entirely.

import { arena } from "../env/memory";
import { Own } from "../env/view";
import {
  PAGE_ROOM, ROOT, allocate, allocatePage, bumpMark, isPaged, isTiny, prepare, release, setEntryTotal,
  entryTotal, setTotalCardinality, totalCardinality,
} from "./arena";
import { keyOf, plainKind } from "./entry";
import {
  PACKED_HEADER, PAGE_BYTES, appendItem, beginPacked, insertItem, isPacked, itemsUpTo, offsetAt,
  packedCount, pageItems, widthOf, widthWith,
} from "./packed";
import { hasRoom, openGap, raiseRoot, splitChild } from "./change";
import { insertInTiny, isLone, promoteToLeaves, promoteToPages } from "./forms";
import { layLeaf, layPage, packEntries } from "./leaf";
import { leafFor, slotFor } from "./directory";
import {
  INNER_MAX, LEAF_MAX, NODE_SMALL, ROOMY_BYTES, addToSlot, allocatedFor, entryAt, isFull, nodeBlock,
  nodeBytes, nodeCount, nodeLevel, rootNode, slotAt, slotChild, slotKey, slotLink, writeSlot,
} from "./node";
import { Kind } from "../container/kind";

/** Smaller arenas get no pages one by one: what aligning a page may skip would be too much of them. */
// @ts-ignore: decorator
@inline const PAGED_FROM: usize = 16384;
/** A packed leaf outside the directory, of items of 8 bytes: as many as two pages hold. */
// @ts-ignore: decorator
@inline const IMAGE_BYTES: usize = PACKED_HEADER + 2 * 8 * 508 + 8;

// --- Unpacking ---------------------------------------------------------------------------------------------

/**
 * Makes ordinary leaves of all packed ones to which keys of [first, last] belong.
 * Changes no member, even if it runs out of memory.
 */
export function loosen(first: u64, last: u64): void {
  if (isTiny<Own>()) {
    if (isPacked<Own>(0)) promoteToLeaves();
    return;
  }
  if (!isPaged()) return;
  for (let key = first; key <= last;) {
    if (isPacked<Own>(leafFor<Own>(key))) loosenLeaf(key);
    key = leafAfter(key);
    if (!key) return;
  }
}

/** The least key that belongs to the leaf after that of `key`; 0 if there is none. */
function leafAfter(key: u64): u64 {
  let following: u64 = 0;
  for (let node = rootNode<Own>(); nodeLevel<Own>(node);) {
    const index = slotFor<Own>(node, key);
    if (index + 1 < nodeCount<Own>(node)) following = slotKey<Own>(slotAt(node, index + 1));
    node = slotChild<Own>(slotAt(node, index));
  }
  return following;
}

/** Makes one or two ordinary leaves of the page to which `key` belongs. */
function loosenLeaf(key: u64): void {
  const page = leafFor<Own>(key), count = packedCount<Own>(page);
  if (count <= LEAF_MAX) {
    prepare(nodeBlock(0, count));
    store<u32>(linkTo(key), <u32>layLeaf(page, 0, count, allocate(nodeBytes(0, count))));
  } else {
    const half = count >> 1, above = offsetAt<Own>(page, half);
    prepare(2 * ROOMY_BYTES + roomForSlot(key));
    const link = parentFor(key), index = slotFor<Own>(<usize>load<u32>(link), key);
    const lower = layLeaf(page, 0, half, allocate(nodeBytes(0, half)));
    const upper = layLeaf(page, half, count, allocate(nodeBytes(0, count - half)));
    const node = openGap(link, index + 1);
    writeSlot(slotAt(node, index), slotKey<Own>(slotAt(node, index)), lower, half);
    writeSlot(slotAt(node, index + 1), keyOf(above), upper, count - half);
  }
  release(page, PAGE_BYTES);
}

/** Address of the word that holds the address of the leaf to which `key` belongs. */
function linkTo(key: u64): usize {
  let link: usize = ROOT;
  for (let node = rootNode<Own>(); nodeLevel<Own>(node); node = <usize>load<u32>(link)) {
    link = slotLink(slotAt(node, slotFor<Own>(node, key)));
  }
  return link;
}

/**
 * Address of the word that holds the address of the node above the leaf to which `key` belongs. That node has
 * room for another slot: full nodes on the way are split, and a leaf that is the root gets a node above it.
 */
function parentFor(key: u64): usize {
  let link: usize = ROOT, node = rootNode<Own>();
  if (!nodeLevel<Own>(node) || isFull(node)) node = raiseRoot();
  while (nodeLevel<Own>(node) > 1) {
    let index = slotFor<Own>(node, key);
    if (isFull(slotChild<Own>(slotAt(node, index)))) {
      splitChild(link, index, key);           // the node may move
      node = <usize>load<u32>(link);
      index = slotFor<Own>(node, key);
    }
    link = slotLink(slotAt(node, index));
    node = <usize>load<u32>(link);
  }
  return link;
}

/** The most bytes that parentFor() and another slot above the leaf of `key` allocate. */
function roomForSlot(key: u64): usize {
  let node = rootNode<Own>(), level = nodeLevel<Own>(node);
  let above: u32 = 0, bytes = nodeBlock(level + 1, 1) + nodeBlock(level + 1, 2);
  for (; level; level = nodeLevel<Own>(node)) {
    const count = nodeCount<Own>(node);
    if (level == 1) bytes += nodeBlock(1, min(count + 1, INNER_MAX));
    if (isFull(node)) {
      bytes += nodeBlock(level, (count >> 1) + 2)
        + nodeBlock(level + 1, above + 1) + nodeBlock(level + 1, above + 2);
    }
    above = count;
    node = slotChild<Own>(slotAt(node, slotFor<Own>(node, key)));
  }
  return bytes;
}

// --- Inserting ---------------------------------------------------------------------------------------------

/**
 * Inserts an offset, for whose key there is no entry, where lone members are packed or,
 * with `mayPack`, should be. Returns false if an ordinary entry has to be inserted.
 */
export function insertLone(offset: u64, mayPack: bool): bool {
  if (isTiny<Own>()) {
    if (!isLone()) return false;
    if (insertInTiny(offset)) return true;
    promoteToPages();
  }
  const key = keyOf(offset), leaf = leafFor<Own>(key);
  if (!isPacked<Own>(leaf)) {
    if (!mayPack || !shouldPack(leaf)) return false;
    packLeaf(key);
  }
  while (!takes(leafFor<Own>(key), offset)) makeWay(offset);
  putItem(offset);
  return true;
}

/** Whether a leaf without room for another entry should be packed instead of getting a larger block. */
function shouldPack(leaf: usize): bool {
  const count = nodeCount<Own>(leaf);
  if (
    leaf == rootNode<Own>() || bumpMark() < PAGED_FROM
    || hasRoom(leaf) || nodeBytes(0, count + 1) <= NODE_SMALL
  ) {
    return false;
  }
  for (let i: u32 = 0; i < count; i++) if (plainKind<Own>(entryAt(leaf, i)) != Kind.SINGLE) return false;
  return true;
}

/** Packs the leaf to which `key` belongs: a page has room for as many items as an ordinary leaf. */
function packLeaf(key: u64): void {
  prepare(PAGE_ROOM);
  const page = allocatePage(), link = linkTo(key), leaf = <usize>load<u32>(link);
  packEntries(page, entryAt(leaf, 0), nodeCount<Own>(leaf));
  store<u32>(link, <u32>page);
  release(leaf, allocatedFor(leaf));
}

/** Whether the leaf is a page with room for the offset. */
function takes(leaf: usize, offset: u64): bool {
  return isPacked<Own>(leaf) && packedCount<Own>(leaf) < pageItems(widthWith(leaf, offset));
}

/** Inserts the offset in its page, which takes it. */
function putItem(offset: u64): void {
  const key = keyOf(offset);
  let node = rootNode<Own>();
  while (nodeLevel<Own>(node)) {
    const slot = slotAt(node, slotFor<Own>(node, key));
    if (key < slotKey<Own>(slot)) store<u64>(slot, key);
    addToSlot(slot, 1);
    node = slotChild<Own>(slot);
  }
  insertItem(node, packedCount<Own>(node) ? itemsUpTo<Own>(node, offset) : 0, offset);
  setEntryTotal(entryTotal<Own>() + 1);
  setTotalCardinality(totalCardinality<Own>() + 1);
}

/** Bytes that makeWay() for the offset allocates and works in at most. */
export function roomToMakeWay(key: u64): usize { return roomForSlot(key) + PAGE_ROOM + IMAGE_BYTES; }

/**
 * Makes room in the directory for an offset for which its page has none.
 * Usually that page has room afterwards.
 */
function makeWay(offset: u64): void {
  const key = keyOf(offset);
  prepare(roomToMakeWay(key));
  const link = parentFor(key), node = <usize>load<u32>(link);
  const index = slotFor<Own>(node, key), page = slotChild<Own>(slotAt(node, index));
  const upTo = itemsUpTo<Own>(page, offset);
  const before = pageBeside(node, index, -1);
  const after = pageBeside(node, index, 1);
  if (upTo == packedCount<Own>(page) && after && takes(after, offset)) {
    store<u64>(slotAt(node, index + 1), key);
    return;
  }
  if (!upTo || upTo == packedCount<Own>(page)) { addPage(link, index + u32(upTo != 0), offset); return; }
  const image = (<usize>arena.size() - IMAGE_BYTES) & ~7;     // above all that may be allocated
  beginPacked(image, 0, u64.MAX_VALUE);
  if (before && (!after || packedCount<Own>(before) < packedCount<Own>(after))) {
    gather(image, before);
    gather(image, page);
    if (spread(link, index - 1, 2, image)) return;
  } else if (after) {
    gather(image, page);
    gather(image, after);
    if (spread(link, index, 2, image)) return;
  }
  beginPacked(image, 0, u64.MAX_VALUE);
  gather(image, page);
  if (!spread(link, index, 1, image)) unreachable();
}

/** The packed leaf before (-1) or after (1) slot `index` of the node, 0 if there is none. */
function pageBeside(node: usize, index: u32, step: i32): usize {
  const beside = index + step;
  if (beside >= nodeCount<Own>(node)) return 0;
  const leaf = slotChild<Own>(slotAt(node, beside));
  return isPacked<Own>(leaf) ? leaf : 0;
}

/**
 * Adds a page without items, to which the offset belongs, as slot `index` of the node that `link` points to.
 */
function addPage(link: usize, index: u32, offset: u64): void {
  const page = allocatePage();
  beginPacked(page, offset, offset);
  writeSlot(slotAt(openGap(link, index), index), keyOf(offset), page, 0);
}

/** Appends the offsets of the page to the packed leaf `image`. */
function gather(image: usize, page: usize): void {
  for (let i: u32 = 0, n = packedCount<Own>(page); i < n; i++) appendItem(image, offsetAt<Own>(page, i));
}

/**
 * Spreads the offsets in `image` evenly over the `pages` (1 or 2) pages that held them, from slot
 * `index` on of the node that `link` points to, or over one page more, if there is to be room in each.
 * Returns false if there would be none.
 */
function spread(link: usize, index: u32, pages: u32, image: usize): bool {
  const parts = pages > 1 && leavesRoom(image, pages) ? pages : pages + 1;
  if (parts > pages) {
    if (!leavesRoom(image, parts)) return false;
    const page = allocatePage(), node = openGap(link, index + pages);
    writeSlot(slotAt(node, index + pages), 0, page, 0);
  }
  const node = <usize>load<u32>(link), count = packedCount<Own>(image);
  for (let part: u32 = 0; part < parts; part++) {
    const from = count * part / parts, to = count * (part + 1) / parts, slot = slotAt(node, index + part);
    writeSlot(
      slot, keyOf(offsetAt<Own>(image, from)), layPage(image, from, to, slotChild<Own>(slot)), to - from,
    );
  }
  return true;
}

/** Whether each of `parts` pages with the offsets in `image` would be at most 15 / 16 full. */
function leavesRoom(image: usize, parts: u32): bool {
  const count = packedCount<Own>(image);
  for (let part: u32 = 0; part < parts; part++) {
    const from = count * part / parts, to = count * (part + 1) / parts;
    if (to - from > pageItems(widthOf(offsetAt<Own>(image, from), offsetAt<Own>(image, to - 1))) / 16 * 15) {
      return false;
    }
  }
  return true;
}
