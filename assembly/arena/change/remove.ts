// Removing entries from the directory, and members from its packed leaves: nodes shrink and disappear, and
// the sums above them follow. None of this takes memory.
//
// Nodes other than pages are never merged; an empty one is removed. A page that has become small joins one
// beside it, or becomes an ordinary leaf within its block if it has fewer than PAGE_LEAST members.

import { Own } from "../../env/view";
import { Container } from "../../container/limits";
import { unpackWithin } from "./convertleaf";
import { ROOMY_LEAST, adjust } from "./insert";
import { Allocator } from "../layout/blocks";
import { Entry, Offset } from "../layout/entry";
import { Arena, Header } from "../layout/header";
import { Node, Slot, firstKey } from "../layout/node";
import { joinPages, removeMembers } from "../packed/change";
import { PageGroups } from "../packed/groups";
import { Page } from "../packed/layout";
import { PageMembers } from "../packed/members";
import { PageSearch } from "../packed/search";
import { Directory } from "../read/directory";

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
  if (Header.isTiny<Own>()) { Arena.resetToEmpty(); return; }              // its only container
  removeLast(Offset.of(key, 0), Offset.of(key, Container.LOW_MAX));
}

/**
 * Removes the offsets in [first, last], which are those of one container, from a page, where there are some.
 * Needs no memory.
 */
export function removeFromGroup(first: u64, last: u64): void {
  const key = Offset.key(first), leaf = Directory.leafFor<Own>(key), members = removedFrom(leaf, first, last);
  adjust(key, -<i64>members);
  if (members == PageSearch.membersUpTo<Own>(leaf.page, key)
    - PageSearch.membersBeforeKey<Own>(leaf.page, key)) removeLast(first, last);
  else {
    removeBelow(Header.ROOT, first, last);
    lowerRoot();
  }
}

/** Removes the offset, member `index` of the packed leaf. Needs no memory. */
export function removeMember(leaf: Node, index: u32, offset: u64): void {
  const count = leaf.page.count<Own>(), key = Offset.key(offset);
  if (Header.isTiny<Own>()) {
    if (count == 1) Arena.resetToEmpty(); else removeMembers(changetype<Page>(0), index, index + 1);
    return;
  }
  const below = index && leaf.page.keyAt<Own>(index - 1) == key;
  const alone = !below && (index + 1 == count || leaf.page.keyAt<Own>(index + 1) != key);
  // A page that becomes small, or begins with another key, changes the node above.
  if (count <= PAGE_FEW || (alone && !index)) { removeFromGroup(offset, offset); return; }
  if (alone) Header.setEntries(Header.entries<Own>() - 1);
  adjust(key, -1);
  removeMembers(leaf.page, index, index + 1);
}

/** Removes the offsets in [first, last], all of an entry, and the entry. */
function removeLast(first: u64, last: u64): void {
  const left = Header.entries<Own>() - 1;
  if (!left) { Arena.resetToEmpty(); return; }
  Header.setEntries(left);
  removeBelow(Header.ROOT, first, last);
  lowerRoot();
}

/** How many members of the packed leaf lie in [first, last]. */
// @ts-ignore: decorator
@inline function removedFrom(leaf: Node, first: u64, last: u64): u32 {
  return membersTo(leaf, last) - PageMembers.below<Own>(leaf.page, first);
}

/** How many members of the packed leaf are at most `last`. */
// @ts-ignore: decorator
@inline function membersTo(leaf: Node, last: u64): u32 {
  return last == u64.MAX_VALUE ? leaf.page.count<Own>() : PageMembers.below<Own>(leaf.page, last + 1);
}

/** Removes roots with a single child: each is a level too many. */
function lowerRoot(): void {
  let root = Node.root<Own>();
  while (root.level<Own>() && root.count<Own>() == 1) {
    const child = root.slotAt(0).child<Own>();
    Allocator.release(changetype<usize>(root), Node.bytes(root.level<Own>(), 1));
    store<u32>(Header.ROOT, <u32>changetype<usize>(child));
    root = child;
  }
}

/** Removes all entries of a full arena that begin in [first, last], with their blocks and their members. */
export function removeEntries(first: u64, last: u64): void {
  const members = removeWithin(Header.ROOT, first, last);
  if (!load<u32>(Header.ROOT)) { Arena.resetToEmpty(); return; }
  Header.setCardinality(Header.cardinality<Own>() - members);
  lowerRoot();
}

/**
 * Does removeEntries() below the node that `link` points to, and changes each node once.
 * Releases a node that becomes empty, and sets the link to 0. Returns the number of members removed.
 */
function removeWithin(link: usize, first: u64, last: u64): u64 {
  const node = Node.linked(link), leaf = !node.level<Own>();
  let from = leaf ? first ? Directory.entriesUpTo<Own>(node, first - 1) : 0
    : Directory.slotFor<Own>(node, first);
  let to = leaf ? Directory.entriesUpTo<Own>(node, last) : Directory.slotFor<Own>(node, last) + 1,
    members: u64 = 0;
  if (leaf && node.page.isPacked<Own>()) {
    members = to - from;
  } else {
    for (let i = from; i < to; i++) {
      members += leaf ? removeContents(node.entryAt(i)) : removeBelowSlot(node.slotAt(i), first, last);
    }
  }
  if (leaf) {
    const entries = node.page.isPacked<Own>() ? PageGroups.between<Own>(node.page, from, to) : to - from;
    Header.setEntries(Header.entries<Own>() - entries);
  } else {                                    // only the first and the last child may be left
    if (node.slotAt(from).child<Own>()) from++;
    if (to > from && node.slotAt(to - 1).child<Own>()) to--;
  }
  if (to - from == node.count<Own>()) {
    Allocator.release(changetype<usize>(node), node.allocatedFor());
    store<u32>(link, 0);
  } else if (to > from) closeGap(link, from, to - from);
  return members;
}

/** Releases the entry's block. Returns its members. */
// @ts-ignore: decorator
@inline function removeContents(entry: Entry): u64 {
  const bytes = entry.payloadBytes<Own>();
  if (bytes) Allocator.release(entry.payload<Own>(), bytes);
  return entry.cardinality<Own>();
}

/** Does removeWithin() for the slot's child, and updates the slot. */
function removeBelowSlot(slot: Slot, first: u64, last: u64): u64 {
  const members = removeWithin(slot.link(), first, last), child = slot.child<Own>();
  if (child) {
    store<u64>(changetype<usize>(slot), firstKey(child));
    slot.add(-<i64>members);
  }
  return members;
}

/**
 * Removes the entry of the offsets in [first, last], of one container; from a packed leaf those offsets only.
 */
function removeBelow(link: usize, first: u64, last: u64): void {
  const node = Node.linked(link), key = Offset.key(first);
  if (!node.level<Own>()) {
    if (node.page.isPacked<Own>()) {
      const from = PageMembers.below<Own>(node.page, first);
      closeGap(link, from, membersTo(node, last) - from);
      return;
    }
    const before = Directory.entriesUpTo<Own>(node, key);
    if (!before) unreachable();
    closeGap(link, before - 1, 1);
    return;
  }
  const index = Directory.slotFor<Own>(node, key);
  const slot = node.slotAt(index);
  removeBelow(slot.link(), first, last);
  const child = slot.child<Own>();
  if (child.count<Own>()) {
    store<u64>(changetype<usize>(slot), firstKey(child));
    if (isPage(child) && child.page.count<Own>() < PAGE_FEW) joinNeighbor(link, index);
  } else {
    Allocator.release(changetype<usize>(child), Node.bytes(child.level<Own>(), 0));
    // an empty page has become an ordinary leaf
    closeGap(link, index, 1);
  }
}

// @ts-ignore: decorator
@inline function isPage(node: Node): bool { return !node.level<Own>() && node.page.isPacked<Own>(); }

/**
 * Joins the page at slot `index` of the node that `link` points to with the page before or behind it,
 * if they are few items together.
 */
function joinNeighbor(link: usize, index: u32): void {
  const slots = Node.linked(link).count<Own>();
  if (index + 1 < slots && joinAt(link, index)) return;
  if (index) joinAt(link, index - 1);
}

/**
 * Joins the leaves at slots `index` and `index` + 1 of the node that `link` points to,
 * if they are pages of few items together.
 */
function joinAt(link: usize, index: u32): bool {
  const node = Node.linked(link);
  const slot = node.slotAt(index);
  const upper = node.slotAt(index + 1).child<Own>();
  if (!isPage(slot.child<Own>()) || !isPage(upper)
    || !joinPages(changetype<Page>(slot.child<Own>()), upper.page)) {
    return false;
  }
  slot.add(node.slotAt(index + 1).cardinality<Own>());
  Allocator.release(changetype<usize>(upper), Page.BYTES);
  closeGap(link, index + 1, 1);
  return true;
}

/** Removes `items` items from the node that `link` points to, from `index` on. */
// @ts-ignore: decorator
@inline function closeGap(link: usize, index: u32, items: u32): void {
  const node = Node.linked(link);
  if (!node.level<Own>() && node.page.isPacked<Own>()) {
    removeMembers(node.page, index, index + items);
    if (node.page.count<Own>() < PAGE_LEAST) unpackWithin(node);
    return;
  }
  const level = node.level<Own>(), count = node.count<Own>();
  const item = node.itemBytes(), left = count - items;
  const at = changetype<usize>(node) + Node.HEADER + <usize>index * item, from = node.allocatedFor();
  memory.copy(at, at + <usize>items * item, <usize>(left - index) * item);
  node.setCount(left);
  if (node.isRoomy() && left >= (level ? 2 : ROOMY_LEAST)) return;
  node.setRoomy(false);
  Allocator.resize(changetype<usize>(node), from, Node.bytes(level, left));
}
