// Packed leaves (arena/packed/layout.ts) in the directory: which leaves are packed, and how packed leaves
// grow and split.
//
// Offsets far apart, such as identifiers, share a container with few others or none. In a packed leaf each
// takes 2 to 8 bytes. In an ordinary leaf each container takes an entry of 12 bytes, and a block if it has
// three members or more.
// Packed leaves are made in three places:
//
//   - A tiny arena is a packed leaf unless it is a short bitset. When it has ITEMS_MAX members it becomes a
//     full one, of pages or of ordinary leaves, whichever is smaller (forms.ts).
//   - An ordinary leaf, other than the root, that needs a block of more than NODE_SMALL bytes and has only
//     lone members becomes a page.
//   - The builder packs what it can (arena/builder/builder.ts).
//
// Members are inserted and removed within a packed leaf as long as its groups are small. Any other change
// needs an ordinary entry: loosen() first turns the leaf into ordinary ones. These are packed again only when
// they grow as said above.
//
// A page that is full passes members on towards the next page with room, if one of WINDOW pages on either
// side has some; otherwise it is split. So pages that are filled in random order are seldom less than five
// sixths full, those that are filled in ascending order entirely.

import { Own } from "../../env/view";
import {
  ROOT, bumpMark, isPaged, isTiny, setEntryTotal, entryTotal, setTotalCardinality, totalCardinality,
} from "../layout/header";
import { allocate, allocatePage, prepare, release, roomForPage } from "../layout/blocks";
import { ENTRY_BYTES, keyOf, lowOf, plainKey, plainKind, plainMembers } from "../layout/entry";
import { PAGE_BYTES, isPacked, keyAt, lowsFrom, packedCount } from "../packed/layout";
import {
  appendMembers, insertMember, pageRoom, prependMembers, removeMembers, tightenPage,
} from "../packed/change";
import { beginPage, pageMembers, putKeys } from "../packed/begin";
import { groupEnd, groupStart, groupsIn, groupsUpTo, pastGroups } from "../packed/groups";
import { membersBelow } from "../packed/members";
import { membersBeforeKey, membersUpTo } from "../packed/search";
import { staysGroup } from "../packed/insert";
import { hasRoom, openGap, raiseRoot, splitChild } from "./insert";
import { insertInTiny, promotePacked, promoteToLeaves } from "./forms";
import { blocksOf, layLeaf, layPage } from "./convertleaf";
import { leafFor, slotFor } from "../read/directory";
import {
  LEAF_MAX, NODE_SMALL, addToSlot, entryAt, isFull, nodeBlock, nodeBytes, nodeCount, nodeLevel, ordinaryBytes,
  rootNode, slotAt, slotChild, slotKey, slotLink, writeSlot,
} from "../layout/node";
import { Kind } from "../../container/kind";

/** Smaller arenas get no pages one by one: what aligning a page may skip would be too much of them. */
// @ts-ignore: decorator
@inline const PAGED_FROM: usize = 16384;

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

/** Makes ordinary leaves of the page to which `key` belongs. */
function loosenLeaf(key: u64): void {
  const page = leafFor<Own>(key), count = packedCount<Own>(page), entries = groupsIn<Own>(page, 0, count);
  const parts = (entries + LEAF_MAX - 1) / LEAF_MAX;
  const leaves = <usize>parts * nodeBlock(0, (entries + parts - 1) / parts);
  prepare(blocksOf(page, 0, count) + leaves + <usize>(parts - 1) * roomForSlot(key));
  let to = pastGroups(page, 0, entries / parts);
  store<u32>(linkTo(key), <u32>loosenPart(page, 0, to, entries / parts));
  for (let part: u32 = 1, from = to; part < parts; part++, from = to) {
    const held = entries * (part + 1) / parts - entries * part / parts, first = keyAt<Own>(page, from);
    to = pastGroups(page, from, held);
    const leaf = loosenPart(page, from, to, held);
    // Until now all members count as those of the leaf before.
    const link = parentFor(first), index = slotFor<Own>(<usize>load<u32>(link), first);
    const node = openGap(link, index + 1), slot = slotAt(node, index);
    writeSlot(slotAt(node, index + 1), first, leaf, count - from);
    addToSlot(slot, -<i64>(count - from));
  }
  release(page, PAGE_BYTES);
}

/** An ordinary leaf of the page's members from .. to - 1, which form `held` groups. */
function loosenPart(page: usize, from: u32, to: u32, held: u32): usize {
  return layLeaf(page, from, to, allocate(nodeBytes(0, held)));
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
  let node = rootNode<Own>(), level = nodeLevel<Own>(node), above: u32 = 0, bytes: usize = 0;
  if (!level) return nodeBlock(1, 1) + nodeBlock(1, 2);
  for (; level; level = nodeLevel<Own>(node)) {
    const count = nodeCount<Own>(node);
    if (isFull(node)) {
      bytes += nodeBlock(level, (count >> 1) + 2)
        + nodeBlock(level + 1, above + 1) + nodeBlock(level + 1, above + 2);
    } else if (level == 1 && !hasRoom(node)) bytes += nodeBlock(1, count + 1);
    above = count;
    node = slotChild<Own>(slotAt(node, slotFor<Own>(node, key)));
  }
  return bytes;
}

// --- Inserting ---------------------------------------------------------------------------------------------

/**
 * Inserts an absent offset where members are packed or, with `mayPack`, should be. Returns false if its
 * container has to be an ordinary entry. Without `mayPack`, the caller has made room.
 */
export function insertPacked(offset: u64, mayPack: bool): bool {
  if (isTiny<Own>()) {
    if (!isPacked<Own>(0) && nodeCount<Own>(0)) return false;
    if (insertInTiny(offset)) return true;
    promotePacked();
  }
  const key = keyOf(offset), leaf = leafFor<Own>(key);
  if (!isPacked<Own>(leaf)) {
    if (!mayPack || !shouldPack(leaf)) return false;
    packLeaf(key);
  } else if (!staysPacked(leaf, offset)) return false;
  while (!takes(leafFor<Own>(key), key)) {
    if (mayPack && isBetterLoose(leafFor<Own>(key))) return false;
    if (makesWay(key)) continue;
    if (mayPack) prepare(roomForPage(roomForSlot(key)));
    addRoom(key);
  }
  putMember(offset);
  return true;
}

/** Whether ordinary entries of what the full page holds take little more, or less: it is not split then. */
function isBetterLoose(page: usize): bool {
  const count = packedCount<Own>(page), most = count / LOOSE_GROUPS, entries = groupsUpTo(page, most);
  return entries <= most
    && blocksOf(page, 0, count) + nodeBytes(0, entries) <= PAGE_BYTES / 8 * 9;
}

/** Groups that are smaller on the average than this are better packed in any case. */
// @ts-ignore: decorator
@inline const LOOSE_GROUPS: u32 = 4;

/** Whether the page's group of the offset, if there is one, remains a group with it. */
function staysPacked(page: usize, offset: u64): bool {
  const key = keyOf(offset), to = membersUpTo<Own>(page, key);
  return !to || keyAt<Own>(page, to - 1) != key
    || staysGroup(page, membersBeforeKey<Own>(page, key), to, lowOf(offset));
}

/** Whether a leaf without room for another entry should be packed instead of getting a larger block. */
function shouldPack(leaf: usize): bool {
  const count = nodeCount<Own>(leaf);
  if (
    leaf == rootNode<Own>() || bumpMark() < PAGED_FROM
    || hasRoom(leaf) || nodeBytes(0, count + 1) <= NODE_SMALL
    || pageMembers(plainKey<Own>(entryAt(leaf, 0)), plainKey<Own>(entryAt(leaf, count - 1))) < count
  ) {
    return false;
  }
  for (let i: u32 = 0; i < count; i++) if (plainKind<Own>(entryAt(leaf, i)) != Kind.SINGLE) return false;
  return true;
}

/** Packs the leaf to which `key` belongs: a page has room for as many members as an ordinary leaf. */
function packLeaf(key: u64): void {
  prepare(roomForPage(0));
  const page = allocatePage(), link = linkTo(key), leaf = <usize>load<u32>(link);
  const count = nodeCount<Own>(leaf);
  const first = entryAt(leaf, 0), last = entryAt(leaf, count - 1);
  beginPage(page, plainKey<Own>(first), plainKey<Own>(last), count);
  for (let entry = first, i: u32 = 0; entry <= last; entry += ENTRY_BYTES, i++) {
    putKeys(page, i, i + 1, plainKey<Own>(entry));
    store<u16>(lowsFrom<Own>(page, i), load<u16>(plainMembers(entry)));
  }
  store<u32>(link, <u32>page);
  release(leaf, ordinaryBytes(leaf));
}

/** Whether the leaf is a page with room for a member of `key`. */
function takes(leaf: usize, key: u64): bool {
  return isPacked<Own>(leaf) && pageRoom(leaf, key) != 0;
}

/** Inserts the offset in its page, which takes it. */
function putMember(offset: u64): void {
  const key = keyOf(offset);
  let node = rootNode<Own>();
  while (nodeLevel<Own>(node)) {
    const slot = slotAt(node, slotFor<Own>(node, key));
    if (key < slotKey<Own>(slot)) store<u64>(slot, key);
    addToSlot(slot, 1);
    node = slotChild<Own>(slot);
  }
  const upTo = packedCount<Own>(node) ? membersUpTo<Own>(node, key) : 0;
  if (!upTo || keyAt<Own>(node, upTo - 1) != key) setEntryTotal(entryTotal<Own>() + 1);
  insertMember(node, upTo ? membersBelow<Own>(node, offset) : 0, offset);
  setTotalCardinality(totalCardinality<Own>() + 1);
}

/** Pages on either side of a full one that may take members of it. */
// @ts-ignore: decorator
@inline const WINDOW: u32 = 10;

/** Whether the key is greater than those of all members of the page, which is not empty. */
// @ts-ignore: decorator
@inline function isBehind(page: usize, key: u64): bool {
  return keyAt<Own>(page, packedCount<Own>(page) - 1) < key;
}

/** Whether the key is less than those of all members of the page. */
// @ts-ignore: decorator
@inline function isBefore(page: usize, key: u64): bool { return key < keyAt<Own>(page, 0); }

/**
 * Makes room for a member of `key`, for which its page has none, in this page or those beside it, without
 * memory. Returns false if there is none; otherwise the page may have room.
 */
function makesWay(key: u64): bool {
  const page = leafFor<Own>(key);
  if (isBefore(page, key)) return false;
  if (!isBehind(page, key)) {
    tightenPage(page);
    if (takes(page, key)) return true;
  }
  let node = rootNode<Own>();
  if (node == page) return false;
  while (nodeLevel<Own>(node) > 1) node = slotChild<Own>(slotAt(node, slotFor<Own>(node, key)));
  const index = slotFor<Own>(node, key);
  if (!isBehind(page, key)) return passOn(node, index);
  const after = pageAt(node, index + 1);
  if (!after || !takes(after, key)) return false;
  store<u64>(slotAt(node, index + 1), key);
  return true;
}

/** Adds a page in which there may be room for a member of `key`. The caller has made room for it. */
function addRoom(key: u64): void {
  const page = leafFor<Own>(key), link = parentFor(key), index = slotFor<Own>(<usize>load<u32>(link), key);
  if (isBehind(page, key)) addPage(link, index + 1, key);
  else if (isBefore(page, key)) addPage(link, index, key);
  else splitPage(link, index);
}

/** The page at slot `index` of the node, 0 if there is none. */
function pageAt(node: usize, index: u32): usize {
  if (index >= nodeCount<Own>(node)) return 0;
  const leaf = slotChild<Own>(slotAt(node, index));
  return isPacked<Own>(leaf) ? leaf : 0;
}

/**
 * Adds a page without members, to which `key` belongs, as slot `index` of the node that `link` points to.
 */
function addPage(link: usize, index: u32, key: u64): void {
  const page = allocatePage();
  beginPage(page, key, key, 0);
  writeSlot(slotAt(openGap(link, index), index), key, page, 0);
}

/**
 * Moves the upper half of the page at slot `index` of the node that `link` points to to a page of its own.
 */
function splitPage(link: usize, index: u32): void {
  const upper = allocatePage(), node = openGap(link, index + 1), slot = slotAt(node, index);
  const page = slotChild<Own>(slot), count = packedCount<Own>(page), half = groupStart<Own>(page, count / 2);
  const from = half ? half : groupEnd<Own>(page, 0);
  writeSlot(slotAt(node, index + 1), keyAt<Own>(page, from), layPage(page, from, count, upper), count - from);
  removeMembers(page, from, count);
  tightenPage(page);
  addToSlot(slot, -<i64>(count - from));
}

/**
 * Passes members of the full page at slot `index` on, from page to page, to the nearest one of WINDOW pages
 * on either side that has room for some. Returns false if there is none.
 */
function passOn(node: usize, index: u32): bool {
  let up = true, down = true;                 // whether there are only pages so far
  for (let distance: u32 = 1; distance <= WINDOW && (up || down); distance++) {
    up = up && pageAt(node, index + distance) != 0;
    if (up && passUp(node, index, distance)) return true;
    down = down && distance <= index && pageAt(node, index - distance) != 0;
    if (down && passDown(node, index, distance)) return true;
  }
  return false;
}

/** passOn() to the page `distance` slots above. */
function passUp(node: usize, index: u32, distance: u32): bool {
  let more = roomToShare(pageAt(node, index + distance), pageAt(node, index + distance - 1));
  for (let at = index + distance; more && at > index; at--) more = moveUp(node, at - 1, more);
  return more != 0;
}

/** passOn() to the page `distance` slots below. */
function passDown(node: usize, index: u32, distance: u32): bool {
  let more = roomToShare(pageAt(node, index - distance), pageAt(node, index - distance + 1));
  for (let at = index - distance; more && at < index; at++) more = moveDown(node, at, more);
  return more != 0;
}

/**
 * How many members the page takes from `other`, the page before or behind it: half of those for which it has
 * room.
 */
function roomToShare(page: usize, other: usize): u32 {
  tightenPage(page);
  const own = keyAt<Own>(page, 0), others = packedCount<Own>(other);
  const isUpper = keyAt<Own>(other, 0) > own;
  let room = pageRoom(page, own);
  if (!room) return 0;
  const near = min((room + 1) / 2, others), key = keyAt<Own>(other, isUpper ? near - 1 : others - near);
  // If those next to it need wider highs, there is room for what the widest leave.
  if (pageRoom(page, key) != room) room = pageRoom(page, keyAt<Own>(other, isUpper ? others - 1 : 0));
  return (room + 1) / 2;
}

/**
 * The fewest of a page's `count` members that are passed on, as many writes later the page is full again:
 * fewer where there are few pages, of which one more is a large part.
 */
// @ts-ignore: decorator
@inline function passedLeast(node: usize, count: u32): u32 {
  return ((min(nodeCount<Own>(node), 16) * count) >> 8) + 1;
}

/**
 * Moves up to `most` members of the page at slot `index` to the next one, as many as it has room for. Returns
 * how many.
 */
function moveUp(node: usize, index: u32, most: u32): u32 {
  const slot = slotAt(node, index), next = slotAt(node, index + 1), page = slotChild<Own>(slot);
  const upper = slotChild<Own>(next), count = packedCount<Own>(page), least = passedLeast(node, count);
  for (; most >= least; most >>= 1) {
    if (most >= count) continue;
    const at = count - most, start = groupStart<Own>(page, at);
    const from = start == at ? at : groupEnd<Own>(page, at);
    if (from == count || pageRoom(upper, keyAt<Own>(page, from)) < count - from) continue;
    prependMembers(upper, page, from);
    removeMembers(page, from, count);
    moved(slot, next, count - from);
    return count - from;
  }
  return 0;
}

/** Moves members of the page after that at slot `index` to this one, as moveUp() does. */
function moveDown(node: usize, index: u32, most: u32): u32 {
  const slot = slotAt(node, index), next = slotAt(node, index + 1), page = slotChild<Own>(slot);
  const upper = slotChild<Own>(next), count = packedCount<Own>(upper), least = passedLeast(node, count);
  for (; most >= least; most >>= 1) {
    if (most >= count) continue;
    const to = groupStart<Own>(upper, most);
    if (!to || pageRoom(page, keyAt<Own>(upper, to - 1)) < to) continue;
    appendMembers(page, upper, to);
    removeMembers(upper, 0, to);
    moved(slot, next, -<i64>to);
    return to;
  }
  return 0;
}

/** Updates the slots of two pages after `members` members have moved to the upper one. */
function moved(slot: usize, next: usize, members: i64): void {
  addToSlot(slot, -members);
  addToSlot(next, members);
  store<u64>(next, keyAt<Own>(slotChild<Own>(next), 0));
}
