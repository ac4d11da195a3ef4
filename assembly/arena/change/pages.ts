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
//   - An ordinary leaf, other than the root, that needs a block of more than Node.SMALL bytes and has only
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
import { Header } from "../layout/header";
import { Allocator } from "../layout/blocks";
import { Offset } from "../layout/entry";
import { Page } from "../packed/layout";
import {
  appendMembers, insertMember, pageRoom, prependMembers, removeMembers, tightenPage,
} from "../packed/change";
import { PageWriter } from "../packed/begin";
import { PageGroups } from "../packed/groups";
import { PageMembers } from "../packed/members";
import { PageSearch } from "../packed/search";
import { PageInsert } from "../packed/insert";
import { hasRoom, openGap, raiseRoot, splitChild } from "./insert";
import { insertInTiny, promotePacked, promoteToLeaves } from "./forms";
import { blocksOf, layLeaf, layPage } from "./convertleaf";
import { Directory } from "../read/directory";
import { Node, Slot } from "../layout/node";
import { Kind } from "../../container/kind";

/**
 * In smaller arenas, single leaves do not become pages: the alignment padding would be too large a part of
 * them.
 */
// @ts-ignore: decorator
@inline const PAGED_FROM: usize = 16384;

// --- Unpacking ---------------------------------------------------------------------------------------------

/**
 * Makes ordinary leaves of all packed ones to which keys of [first, last] belong.
 * Changes no member, even if it runs out of memory.
 */
export function loosen(first: u64, last: u64): void {
  if (Header.isTiny<Own>()) {
    if (changetype<Page>(0).isPacked<Own>()) promoteToLeaves();
    return;
  }
  if (!Header.isPaged()) return;
  for (let key = first; key <= last;) {
    if (changetype<Page>(Directory.leafFor<Own>(key)).isPacked<Own>()) loosenLeaf(key);
    key = leafAfter(key);
    if (!key) return;
  }
}

/** The least key that belongs to the leaf after that of `key`; 0 if there is none. */
function leafAfter(key: u64): u64 {
  let following: u64 = 0;
  for (let node = Node.root<Own>(); node.level<Own>();) {
    const index = Directory.slotFor<Own>(node, key);
    if (index + 1 < node.count<Own>()) following = node.slotAt(index + 1).key<Own>();
    node = node.slotAt(index).child<Own>();
  }
  return following;
}

/** Makes ordinary leaves of the page to which `key` belongs. */
function loosenLeaf(key: u64): void {
  const page = Directory.leafFor<Own>(key), count = page.page.count<Own>(),
    entries = PageGroups.between<Own>(page.page, 0, count);
  const parts = (entries + Node.LEAF_MAX - 1) / Node.LEAF_MAX;
  const leaves = <usize>parts * Node.block(0, (entries + parts - 1) / parts);
  Allocator.prepare(blocksOf(page.page, 0, count) + leaves + <usize>(parts - 1) * roomForSlot(key));
  let to = PageGroups.past(page.page, 0, entries / parts);
  store<u32>(linkTo(key), <u32>loosenPart(page, 0, to, entries / parts));
  for (let part: u32 = 1, from = to; part < parts; part++, from = to) {
    const held = entries * (part + 1) / parts - entries * part / parts, first = page.page.keyAt<Own>(from);
    to = PageGroups.past(page.page, from, held);
    const leaf = changetype<Node>(loosenPart(page, from, to, held));
    // So far, the leaf before counts all of the members.
    const link = parentFor(first),
      index = Directory.slotFor<Own>(changetype<Node>(<usize>load<u32>(changetype<usize>(link))), first);
    const node = changetype<Node>(openGap(changetype<usize>(link), index + 1)), slot = node.slotAt(index);
    node.slotAt(index + 1).write(first, changetype<usize>(leaf), count - from);
    slot.add(-<i64>(count - from));
  }
  Allocator.release(changetype<usize>(page), Page.BYTES);
}

/** An ordinary leaf of the page's members from .. to - 1, which form `held` groups. */
function loosenPart(page: Node, from: u32, to: u32, held: u32): usize {
  return layLeaf(page.page, from, to, changetype<Node>(Allocator.allocate(Node.bytes(0, held))));
}

/** Address of the word that holds the address of the leaf to which `key` belongs. */
function linkTo(key: u64): usize {
  let link: usize = Header.ROOT;
  for (let node = Node.root<Own>(); node.level<Own>(); node = Node.linked(link)) {
    link = node.slotAt(Directory.slotFor<Own>(node, key)).link();
  }
  return link;
}

/**
 * Address of the word that holds the address of the node above the leaf to which `key` belongs. That node has
 * room for another slot: full nodes on the way are split, and a leaf that is the root gets a node above it.
 */
function parentFor(key: u64): Node {
  let link: usize = Header.ROOT, node = Node.root<Own>();
  if (!node.level<Own>() || node.isFull()) node = raiseRoot();
  while (node.level<Own>() > 1) {
    let index = Directory.slotFor<Own>(node, key);
    if (node.slotAt(index).child<Own>().isFull()) {
      splitChild(link, index, key);           // the node may move
      node = Node.linked(link);
      index = Directory.slotFor<Own>(node, key);
    }
    link = node.slotAt(index).link();
    node = Node.linked(link);
  }
  return changetype<Node>(link);
}

/** The most bytes that parentFor() and another slot above the leaf of `key` allocate. */
function roomForSlot(key: u64): usize {
  let node = Node.root<Own>(), level = node.level<Own>(), above: u32 = 0, bytes: usize = 0;
  if (!level) return Node.block(1, 1) + Node.block(1, 2);
  for (; level; level = node.level<Own>()) {
    const count = node.count<Own>();
    if (node.isFull()) {
      bytes += Node.block(level, (count >> 1) + 2)
        + Node.block(level + 1, above + 1) + Node.block(level + 1, above + 2);
    } else if (level == 1 && !hasRoom(node)) bytes += Node.block(1, count + 1);
    above = count;
    node = node.slotAt(Directory.slotFor<Own>(node, key)).child<Own>();
  }
  return bytes;
}

// --- Inserting ---------------------------------------------------------------------------------------------

/**
 * Inserts an absent offset where members are packed or, with `mayPack`, should be. Returns false if its
 * container has to be an ordinary entry. Without `mayPack`, the caller has made room.
 */
export function insertPacked(offset: u64, mayPack: bool): bool {
  if (Header.isTiny<Own>()) {
    if (!changetype<Page>(0).isPacked<Own>() && changetype<Node>(0).count<Own>()) return false;
    if (insertInTiny(offset)) return true;
    promotePacked();
  }
  const key = Offset.key(offset), leaf = Directory.leafFor<Own>(key);
  if (!leaf.page.isPacked<Own>()) {
    if (!mayPack || !shouldPack(leaf)) return false;
    packLeaf(key);
  } else if (!staysPacked(leaf, offset)) return false;
  while (!takes(Directory.leafFor<Own>(key), key)) {
    if (mayPack && isBetterLoose(Directory.leafFor<Own>(key))) return false;
    if (makesWay(key)) continue;
    if (mayPack) Allocator.prepare(Allocator.roomForPage(roomForSlot(key)));
    addRoom(key);
  }
  putMember(offset);
  return true;
}

/**
 * Whether the full page's containers would take little more space as ordinary entries, or less. Then it is not
 * split.
 */
function isBetterLoose(page: Node): bool {
  const count = page.page.count<Own>(), most = count / LOOSE_GROUPS,
    entries = PageGroups.upTo(page.page, most);
  return entries <= most
    && blocksOf(page.page, 0, count) + Node.bytes(0, entries) <= Page.BYTES / 8 * 9;
}

/** Groups that are smaller on the average than this are better packed in any case. */
// @ts-ignore: decorator
@inline const LOOSE_GROUPS: u32 = 4;

/** Whether the page's group of the offset, if there is one, remains a group with it. */
function staysPacked(page: Node, offset: u64): bool {
  const key = Offset.key(offset), to = PageSearch.membersUpTo<Own>(page.page, key);
  return !to || page.page.keyAt<Own>(to - 1) != key
    || PageInsert.staysGroup(page.page, PageSearch.membersBeforeKey<Own>(page.page, key), to,
      Offset.low(offset));
}

/** Whether a leaf without room for another entry should be packed instead of getting a larger block. */
function shouldPack(leaf: Node): bool {
  const count = leaf.count<Own>();
  if (
    leaf == Node.root<Own>() || Header.bump() < PAGED_FROM
    || hasRoom(leaf) || Node.bytes(0, count + 1) <= Node.SMALL
    || PageWriter.pageMembers(leaf.entryAt(0).plainKey<Own>(),
      leaf.entryAt(count - 1).plainKey<Own>()) < count
  ) {
    return false;
  }
  for (let i: u32 = 0; i < count; i++) if (leaf.entryAt(i).plainKind<Own>() != Kind.SINGLE) return false;
  return true;
}

/** Packs the leaf to which `key` belongs: a page has room for as many members as an ordinary leaf. */
function packLeaf(key: u64): void {
  Allocator.prepare(Allocator.roomForPage(0));
  const page = changetype<Node>(Allocator.allocatePage()), link = linkTo(key),
    leaf = Node.linked(link);
  const count = leaf.count<Own>();
  const first = leaf.entryAt(0), last = leaf.entryAt(count - 1);
  PageWriter.beginPage(page.page, first.plainKey<Own>(), last.plainKey<Own>(), count);
  for (let entry = first, i: u32 = 0; changetype<usize>(entry) <= changetype<usize>(last);
    entry = entry.following, i++) {
    PageWriter.putKeys(page.page, i, i + 1, entry.plainKey<Own>());
    store<u16>(page.page.lowsFrom<Own>(i), load<u16>(entry.plainMembers()));
  }
  store<u32>(link, <u32>changetype<usize>(page));
  Allocator.release(changetype<usize>(leaf), leaf.ordinaryBytes());
}

/** Whether the leaf is a page with room for a member of `key`. */
function takes(leaf: Node, key: u64): bool {
  return leaf.page.isPacked<Own>() && pageRoom(leaf.page, key) != 0;
}

/** Inserts the offset in its page, which takes it. */
function putMember(offset: u64): void {
  const key = Offset.key(offset);
  let node = Node.root<Own>();
  while (node.level<Own>()) {
    const slot = node.slotAt(Directory.slotFor<Own>(node, key));
    if (key < slot.key<Own>()) store<u64>(changetype<usize>(slot), key);
    slot.add(1);
    node = slot.child<Own>();
  }
  const upTo = node.page.count<Own>() ? PageSearch.membersUpTo<Own>(node.page, key) : 0;
  if (!upTo || node.page.keyAt<Own>(upTo - 1) != key) Header.setEntries(Header.entries<Own>() + 1);
  insertMember(node.page, upTo ? PageMembers.below<Own>(node.page, offset) : 0, offset);
  Header.setCardinality(Header.cardinality<Own>() + 1);
}

/** Pages on either side of a full one that may take members of it. */
// @ts-ignore: decorator
@inline const WINDOW: u32 = 10;

/** Whether the key is greater than those of all members of the page, which is not empty. */
// @ts-ignore: decorator
@inline function isBehind(page: Node, key: u64): bool {
  return page.page.keyAt<Own>(page.page.count<Own>() - 1) < key;
}

/** Whether the key is less than those of all members of the page. */
// @ts-ignore: decorator
@inline function isBefore(page: Node, key: u64): bool { return key < page.page.keyAt<Own>(0); }

/**
 * Makes room for a member of `key`, for which its page has none, in this page or those beside it, without
 * memory. Returns false if there is none; otherwise the page may have room.
 */
function makesWay(key: u64): bool {
  const page = Directory.leafFor<Own>(key);
  if (isBefore(page, key)) return false;
  if (!isBehind(page, key)) {
    tightenPage(page.page);
    if (takes(page, key)) return true;
  }
  let node = Node.root<Own>();
  if (node == page) return false;
  while (node.level<Own>() > 1) node = node.slotAt(Directory.slotFor<Own>(node, key)).child<Own>();
  const index = Directory.slotFor<Own>(node, key);
  if (!isBehind(page, key)) return passOn(node, index);
  const after = pageAt(node, index + 1);
  if (!after || !takes(after, key)) return false;
  store<u64>(changetype<usize>(node.slotAt(index + 1)), key);
  return true;
}

/** Adds a page in which there may be room for a member of `key`. The caller has made room for it. */
function addRoom(key: u64): void {
  const page = Directory.leafFor<Own>(key), link = parentFor(key),
    index = Directory.slotFor<Own>(changetype<Node>(<usize>load<u32>(changetype<usize>(link))), key);
  if (isBehind(page, key)) addPage(changetype<usize>(link), index + 1, key);
  else if (isBefore(page, key)) addPage(changetype<usize>(link), index, key);
  else splitPage(changetype<usize>(link), index);
}

/** The page at slot `index` of the node, 0 if there is none. */
function pageAt(node: Node, index: u32): Node {
  if (index >= node.count<Own>()) return changetype<Node>(0);
  const leaf = node.slotAt(index).child<Own>();
  return leaf.page.isPacked<Own>() ? leaf : changetype<Node>(0);
}

/**
 * Adds a page without members, to which `key` belongs, as slot `index` of the node that `link` points to.
 */
function addPage(link: usize, index: u32, key: u64): void {
  const page = changetype<Node>(Allocator.allocatePage());
  PageWriter.beginPage(page.page, key, key, 0);
  changetype<Node>(openGap(link, index)).slotAt(index).write(key, changetype<usize>(page), 0);
}

/**
 * Moves the upper half of the page at slot `index` of the node that `link` points to to a page of its own.
 */
function splitPage(link: usize, index: u32): void {
  const upper = changetype<Node>(Allocator.allocatePage()), node = changetype<Node>(openGap(link, index + 1)),
    slot = node.slotAt(index);
  const page = slot.child<Own>(), count = page.page.count<Own>(),
    half = PageGroups.start<Own>(page.page, count / 2);
  const from = half ? half : PageGroups.end<Own>(page.page, 0);
  node.slotAt(index + 1).write(page.page.keyAt<Own>(from), layPage(page.page, from, count, upper),
    count - from);
  removeMembers(page.page, from, count);
  tightenPage(page.page);
  slot.add(-<i64>(count - from));
}

/**
 * Passes members of the full page at slot `index` on, from page to page, to the nearest one of WINDOW pages
 * on either side that has room for some. Returns false if there is none.
 */
function passOn(node: Node, index: u32): bool {
  let up = true, down = true;                 // whether there are only pages so far
  for (let distance: u32 = 1; distance <= WINDOW && (up || down); distance++) {
    up = up && changetype<usize>(pageAt(node, index + distance)) != 0;
    if (up && passUp(node, index, distance)) return true;
    down = down && distance <= index && changetype<usize>(pageAt(node, index - distance)) != 0;
    if (down && passDown(node, index, distance)) return true;
  }
  return false;
}

/** passOn() to the page `distance` slots above. */
function passUp(node: Node, index: u32, distance: u32): bool {
  let more = roomToShare(pageAt(node, index + distance),
    changetype<Page>(pageAt(node, index + distance - 1)));
  for (let at = index + distance; more && at > index; at--) more = moveUp(node, at - 1, more);
  return more != 0;
}

/** passOn() to the page `distance` slots below. */
function passDown(node: Node, index: u32, distance: u32): bool {
  let more = roomToShare(pageAt(node, index - distance),
    changetype<Page>(pageAt(node, index - distance + 1)));
  for (let at = index - distance; more && at < index; at++) more = moveDown(node, at, more);
  return more != 0;
}

/**
 * How many members the page takes from `other`, the page before or behind it: half of those for which it has
 * room.
 */
function roomToShare(page: Node, other: Page): u32 {
  tightenPage(page.page);
  const own = page.page.keyAt<Own>(0), others = other.count<Own>();
  const isUpper = other.keyAt<Own>(0) > own;
  let room = pageRoom(page.page, own);
  if (!room) return 0;
  const near = min((room + 1) / 2, others), key = other.keyAt<Own>(isUpper ? near - 1 : others - near);
  // If the members next to it need wider highs, the room is that beside the widest highs.
  if (pageRoom(page.page, key) != room) {
    room = pageRoom(page.page, other.keyAt<Own>(isUpper ? others - 1 : 0));
  }
  return (room + 1) / 2;
}

/**
 * The fewest of a page's `count` members that are worth passing on: the page is full again after that many
 * writes. Fewer where there are few pages, because a new page is then relatively large.
 */
// @ts-ignore: decorator
@inline function passedLeast(node: Node, count: u32): u32 {
  return ((min(node.count<Own>(), 16) * count) >> 8) + 1;
}

/**
 * Moves up to `most` members of the page at slot `index` to the next one, as many as it has room for. Returns
 * how many.
 */
function moveUp(node: Node, index: u32, most: u32): u32 {
  const slot = node.slotAt(index), next = node.slotAt(index + 1), page = slot.child<Own>();
  const upper = next.child<Own>(), count = page.page.count<Own>(), least = passedLeast(node, count);
  for (; most >= least; most >>= 1) {
    if (most >= count) continue;
    const at = count - most, start = PageGroups.start<Own>(page.page, at);
    const from = start == at ? at : PageGroups.end<Own>(page.page, at);
    if (from == count || pageRoom(upper.page, page.page.keyAt<Own>(from)) < count - from) continue;
    prependMembers(upper.page, page.page, from);
    removeMembers(page.page, from, count);
    moved(slot, next, count - from);
    return count - from;
  }
  return 0;
}

/** Moves members of the page after that at slot `index` to this one, as moveUp() does. */
function moveDown(node: Node, index: u32, most: u32): u32 {
  const slot = node.slotAt(index), next = node.slotAt(index + 1), page = slot.child<Own>();
  const upper = next.child<Own>(), count = upper.page.count<Own>(), least = passedLeast(node, count);
  for (; most >= least; most >>= 1) {
    if (most >= count) continue;
    const to = PageGroups.start<Own>(upper.page, most);
    if (!to || pageRoom(page.page, upper.page.keyAt<Own>(to - 1)) < to) continue;
    appendMembers(page.page, upper.page, to);
    removeMembers(upper.page, 0, to);
    moved(slot, next, -<i64>to);
    return to;
  }
  return 0;
}

/** Updates the slots of two pages after `members` members have moved to the upper one. */
function moved(slot: Slot, next: Slot, members: i64): void {
  slot.add(-members);
  next.add(members);
  store<u64>(changetype<usize>(next), changetype<Page>(next.child<Own>()).keyAt<Own>(0));
}
