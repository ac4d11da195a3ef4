// The directory: which containers a bitmap has, in the order of their keys. It is a B+-tree whose
// leaves hold the entries. This file finds entries and walks over them; arena/layout/node.ts has the layout,
// arena/change/insert.ts inserts and removes.
//
// A tiny arena begins with a leaf, so these functions need not know the two forms of an arena.
//
// A large bitmap is a row of arenas, its segments. Functions that look for a key, a rank or an end first show
// the segment that has it, and walks go on to the next segment. The address of an entry stays valid until an
// entry is inserted or removed, or another segment is shown.

import { Side, segments } from "../../env/memory";
import { Memory, Own, sideOf, view64 } from "../../env/view";
import { Header } from "../layout/header";
import { Entry, Offset } from "../layout/entry";
import { PageSearch } from "../packed/search";
import { Group, Page } from "../packed/layout";
import { PageGroups } from "../packed/groups";
import { Node, Slot } from "../layout/node";

/** Finds entries of the directory, and walks over them. */
export abstract class Directory {
  /** Keys of a group: a group whose last key is small enough is passed over at once. */
  @inline private static readonly SEARCHED_KEYS: u32 = 16;
  /** Nodes with fewer keys are searched without groups. */
  @inline private static readonly SEARCHED_FROM: u32 = 64;

  /**
   * How many of `count` keys that stand `stride` bytes apart are at most `key`.
   * The search has no branches that could be mispredicted.
   */
  @inline private static keysUpTo<M extends Memory>(first: usize, count: u32, stride: usize, key: u64): u32 {
    if (!count) return 0;
    let base = first, rest = count;
    while (rest > 1) {
      const half = rest >> 1;
      const middle = base + <usize>half * stride;
      base = (view64<M>(middle, 0) & Offset.KEY_MAX) <= key ? middle : base;
      rest -= half;
    }
    return <u32>((base - first) / stride) + u32((view64<M>(base, 0) & Offset.KEY_MAX) <= key);
  }

  @inline static entriesUpTo<M extends Memory>(leaf: Node, key: u64): u32 {
    if (leaf.page.isPacked<M>()) return PageSearch.membersUpTo<M>(leaf.page, key);
    return Directory.keysUpTo<M>(changetype<usize>(leaf) + Node.HEADER, leaf.count<M>(), Entry.BYTES, key);
  }

  /**
   * keysUpTo() for a node that is probably not in the cache. It first counts whole groups, by the last key of
   * each, then the keys of the next group. That takes more loads than a binary search, but no load waits for
   * another one, so the cache lines arrive together.
   */
  @inline private static farKeysUpTo(first: usize, count: u32, stride: usize, key: u64): u32 {
    if (count < Directory.SEARCHED_FROM) return Directory.keysUpTo<Own>(first, count, stride, key);
    let upTo: u32 = 0;
    for (let last = Directory.SEARCHED_KEYS - 1; last < count; last += Directory.SEARCHED_KEYS) {
      upTo += (load<u64>(first + <usize>last * stride) & Offset.KEY_MAX) <= key ? Directory.SEARCHED_KEYS : 0;
    }
    let at = first + <usize>upTo * stride;
    const end = first + <usize>min(upTo + Directory.SEARCHED_KEYS, count) * stride;
    for (; at < end; at += stride) upTo += u32((load<u64>(at) & Offset.KEY_MAX) <= key);
    return upTo;
  }

  /** How many entries of the leaf, which is not packed, begin at or before `key`. */
  @inline static farEntriesUpTo(leaf: Node, key: u64): u32 {
    return Directory.farKeysUpTo(changetype<usize>(leaf) + Node.HEADER, leaf.count<Own>(), Entry.BYTES, key);
  }

  /** How many slots of the node begin at or before `key`. */
  @inline static farSlotsUpTo(node: Node, key: u64): u32 {
    return Directory.farKeysUpTo(changetype<usize>(node) + Node.HEADER, node.count<Own>(), Slot.BYTES, key);
  }

  /** Index of the slot that leads down to `key`: the last one whose key is not greater, or the first. */
  @inline static slotFor<M extends Memory>(node: Node, key: u64): u32 {
    const upTo = Directory.keysUpTo<M>(changetype<usize>(node) + Node.HEADER, node.count<M>(), Slot.BYTES,
      key);
    return upTo ? upTo - 1 : 0;
  }

  /**
   * Shows the segment to which `key` belongs, if the bitmap has segments. What lies beyond all keys belongs to
   * the last one.
   */
  @inline private static showFor<M extends Memory>(key: u64): void {
    if (segments.are(sideOf<M>())) segments.seek(sideOf<M>(), min(key, Offset.KEY_MAX) << 16);
  }

  /** The place of the first entry of the next segment, 0 if there is none. */
  @inline private static firstOfNext<M extends Memory>(): u64 {
    return segments.next(sideOf<M>()) ? Place.first<M>() : 0;
  }

  /** The leaf to which `key` belongs. */
  @inline static leafFor<M extends Memory>(key: u64): Node {
    Directory.showFor<M>(key);
    let node = Node.root<M>();
    while (node.level<M>()) node = node.slotAt(Directory.slotFor<M>(node, key)).child<M>();
    return node;
  }

  /** The node above the leaf to which `key` belongs, 0 if there is none. */
  static nodeAbove(key: u64): Node {
    let above: Node = changetype<Node>(0), node = Node.root<Own>();
    while (node.level<Own>()) {
      above = node;
      node = node.slotAt(Directory.slotFor<Own>(node, key)).child<Own>();
    }
    return above;
  }

  /** The leaf to which `key` belongs, where nodeAbove() of it is `above`. */
  @inline static leafBelow(above: Node, key: u64): Node {
    return above ? above.slotAt(Directory.slotFor<Own>(above, key)).child<Own>() : Node.root<Own>();
  }

  /**
   * The entry with this key of a leaf that is not packed, if it is at index key - firstKey; otherwise 0.
   * That guess is right when the leaf's keys are consecutive, as is usual.
   */
  @inline static neighborFor(leaf: Node, key: u64): Entry {
    const count = leaf.count<Own>();
    if (!count) return changetype<Entry>(0);
    const distance = key - leaf.entryAt(0).key<Own>();
    if (distance >= count) return changetype<Entry>(0);
    const entry = leaf.entryAt(<u32>distance);
    return entry.key<Own>() == key ? entry : changetype<Entry>(0);
  }

  /** The entry that covers `key`, 0 if none does. A FULL entry covers a span of keys, all others one. */
  static find(key: u64): Entry {
    const leaf = Directory.leafFor<Own>(key);
    return leaf.page.isPacked<Own>() ? Directory.findGroup(leaf, key) : Directory.findIn(leaf, key);
  }

  /** Directory.find() for the leaf, which is not packed, to which the key belongs. */
  @inline static findIn(leaf: Node, key: u64): Entry {
    const neighbor = Directory.neighborFor(leaf, key);
    if (neighbor) return neighbor;
    const upTo = Directory.farEntriesUpTo(leaf, key);
    if (!upTo) return changetype<Entry>(0);
    const entry = leaf.entryAt(upTo - 1);
    return key <= entry.lastKey<Own>() ? entry : changetype<Entry>(0);
  }

  /** Directory.find() for the packed leaf to which the key belongs. */
  static findGroup(leaf: Node, key: u64): Entry {
    const upTo = PageSearch.farMembersUpTo(leaf.page, key);
    return upTo && leaf.page.keyAt<Own>(upTo - 1) == key
      ? changetype<Entry>(Group.at(leaf.page, PageGroups.startBefore<Own>(leaf.page, upTo)))
      : changetype<Entry>(0);
  }

  // A place is a position in the order of entries, for walking: the low half is the entry's address,
  // the high half is where the entries of its leaf end. Place 0 is the end of the directory.

  /** The address of the next entry in the leaf; where the leaf ends if there is none. */
  @inline static entryAfter<M extends Memory>(entry: Entry): usize {
    return entry.isGroup() ? PageGroups.next<M>(entry.group) : changetype<usize>(entry) + Entry.BYTES;
  }

  /** The last entry of the leaf that ends at `end` and holds `entry`. */
  @inline static lastBefore<M extends Memory>(entry: Entry, end: Group): Entry {
    return entry.isGroup() ? changetype<Entry>(PageGroups.last<M>(entry.group, end))
      : changetype<Entry>(changetype<usize>(end) - Entry.BYTES);
  }

  /** The place of the first entry that covers `key` or a greater key. */
  static seek<M extends Memory>(key: u64): u64 {
    Directory.showFor<M>(key);
    while (true) {
      let node = Node.root<M>(), level = node.level<M>();
      let following = Offset.KEY_MAX + 1;              // the least key of the next subtree to the right
      while (level) {
        const index = Directory.slotFor<M>(node, key);
        if (index + 1 < node.count<M>()) following = node.slotAt(index + 1).key<M>();
        node = node.slotAt(index).child<M>();
        const below = node.level<M>();
        if (below >= level) unreachable();      // only a damaged arena; the loop might never end
        level = below;
      }
      const count = node.count<M>();
      const upTo = Directory.entriesUpTo<M>(node, key);
      let index = upTo;
      if (upTo && key <= node.entryIn<M>(upTo - 1).lastKey<M>()) {
        index = node.page.isPacked<M>() ? PageGroups.startBefore<M>(node.page, upTo) : upTo - 1;
      }
      if (index < count) return Place.of(node.entryIn<M>(index), changetype<usize>(node.entryIn<M>(count)));
      if (following > Offset.KEY_MAX) return Directory.firstOfNext<M>();
      if (following <= key) unreachable();      // only a damaged arena
      key = following;
    }
  }

  /** The place of the last entry that begins at or before `key`; 0 if there is none. */
  static seekBack<M extends Memory>(key: u64): u64 {
    Directory.showFor<M>(key);
    while (true) {
      let node = Node.root<M>(), level = node.level<M>();
      let preceding: u64 = Offset.KEY_MAX + 1;         // the greatest key of the next subtree to the left
      while (level) {
        const index = Directory.slotFor<M>(node, key);
        if (index) preceding = node.slotAt(index).key<M>() - 1;
        node = node.slotAt(index).child<M>();
        const below = node.level<M>();
        if (below >= level) unreachable();      // only a damaged arena; the loop might never end
        level = below;
      }
      const count = node.count<M>(), upTo = Directory.entriesUpTo<M>(node, key);
      if (upTo) {
        const index = node.page.isPacked<M>() ? PageGroups.startBefore<M>(node.page, upTo) : upTo - 1;
        return Place.of(node.entryIn<M>(index), changetype<usize>(node.entryIn<M>(count)));
      }
      if (preceding > Offset.KEY_MAX) {
        const segment = segments.at(sideOf<M>());
        if (!segment) return 0;
        segments.show(sideOf<M>(), segment - 1);
        continue;
      }
      if (preceding >= key) unreachable();      // only a damaged arena
      key = preceding;
    }
  }

  /** The place of the first entry of the leaf after that of which `entry` is the last one. */
  static advanceLeaf<M extends Memory>(entry: Entry): u64 {
    const last = entry.lastKey<M>();
    return last >= Offset.KEY_MAX ? 0
      : Header.isTiny<M>() ? Directory.firstOfNext<M>() : Directory.seek<M>(last + 1);
  }

  /** The place of the first entry after member `index` of the packed leaf and its group. */
  static placeAfter<M extends Memory>(leaf: Node, index: u32): u64 {
    const count = leaf.page.count<M>(), next = changetype<Entry>(Group.at(leaf.page, index + 1));
    if (index + 1 < count) return Place.of(next, Group.at(leaf.page, count));
    return Directory.advanceLeaf<M>(changetype<Entry>(Group.at(leaf.page, index)));
  }

  /** seek() for a key greater than all of the leaf at hand. */
  @inline private static seekBeyond<M extends Memory>(key: u64): u64 {
    return Header.isTiny<M>() && !segments.are(sideOf<M>()) ? 0 : Directory.seek<M>(key);
  }

  /**
   * The place, at or after `place`, of the first entry that covers `key` or a greater key.
   * Searches the rest of the leaf in doubling steps first, because the entry is usually near.
   */
  static seekFrom<M extends Memory>(place: u64, key: u64): u64 {
    let entry = Place.entry(place);
    const end = <usize>(place >> 32);
    if (entry.isGroup()) {
      const group = changetype<Entry>(PageGroups.from<M>(entry.group, key));
      return group ? Place.of(group, end) : Directory.seekBeyond<M>(key);
    }
    const last = changetype<Entry>(end - Entry.BYTES).lastKey<M>();
    if (last < key) return last >= Offset.KEY_MAX ? 0 : Directory.seekBeyond<M>(key);
    let step = Entry.BYTES;
    while (entry.lastKey<M>() < key) {      // invariant: everything before `entry` ends below key
      const far = changetype<Entry>(changetype<usize>(entry) + step);
      if (changetype<usize>(far) < end && far.lastKey<M>() < key) {
        entry = far.following;
        step <<= 1;
      } else {
        entry = entry.following;
        step = Entry.BYTES;
      }
    }
    return Place.of(entry, end);
  }

  /**
   * How many entries cover keys of [first, last]. Of leaves that are not packed it reads only the ends.
   * Stops once it has counted more than `most`.
   */
  static entriesBetween(first: u64, last: u64, most: u32): u32 {
    let entries: u32 = 0;
    for (let place = Directory.seek<Own>(first); place && entries <= most;) {
      const entry = Place.entry(place), end = <usize>(place >> 32);
      if (entry.isGroup()) {
        if (entry.key<Own>() > last) return entries;
        entries++;
        place = Place.next<Own>(place);
        continue;
      }
      const inLeaf = <u32>((end - changetype<usize>(entry)) / Entry.BYTES);
      if (changetype<Entry>(end - Entry.BYTES).key<Own>() > last) {
        return entries + Directory.keysUpTo<Own>(changetype<usize>(entry), inLeaf, Entry.BYTES, last);
      }
      entries += inLeaf;
      place = Directory.advanceLeaf<Own>(changetype<Entry>(end - Entry.BYTES));
    }
    return entries;
  }

  /** The first entry of a bitmap that is not empty. */
  static first(): Entry {
    Directory.showFor<Own>(0);
    let node = Node.root<Own>();
    while (node.level<Own>()) node = node.slotAt(0).child<Own>();
    return node.entryIn<Own>(0);
  }

  /** The last entry, 0 if there is none. */
  static last<M extends Memory>(): Entry {
    Directory.showFor<M>(Offset.KEY_MAX);
    let node = Node.root<M>();
    while (node.level<M>()) node = node.slotAt(node.count<M>() - 1).child<M>();
    const count = node.count<M>();
    return count ? Directory.lastBefore<M>(node.entryIn<M>(0), changetype<Group>(node.entryIn<M>(count)))
      : changetype<Entry>(0);
  }

  /** How many members come before container `key`. Skips leaves and whole subtrees by their sums. */
  static membersBefore(key: u64): u64 {
    Directory.showFor<Own>(key);
    let node = Node.root<Own>(), members = segments.are(Side.OWN) ? segments.before(Side.OWN) : 0;
    while (node.level<Own>()) {
      const index = Directory.slotFor<Own>(node, key);
      for (let i: u32 = 0; i < index; i++) members += node.slotAt(i).cardinality<Own>();
      node = node.slotAt(index).child<Own>();
    }
    if (node.page.isPacked<Own>()) return members + PageSearch.membersBeforeKey<Own>(node.page, key);
    for (let i: u32 = 0, n = node.count<Own>(); i < n; i++) {
      const entry = node.entryAt(i);
      if (entry.lastKey<Own>() < key) { members += entry.cardinality<Own>(); continue; }
      const first = entry.key<Own>();
      if (first < key) members += (key - first) << 16;          // inside a FULL entry
      break;
    }
    return members;
  }

  /** The entry that holds the member of 0-based rank `rank`, which must exist. */
  static ofRank(rank: u64): Entry {
    if (segments.are(Side.OWN)) {
      segments.seekRank(Side.OWN, rank);
      rank -= segments.before(Side.OWN);
    }
    let node = Node.root<Own>(), index: u32 = 0;
    while (node.level<Own>()) {
      for (index = 0; node.slotAt(index).cardinality<Own>() <= rank; index++) {
        rank -= node.slotAt(index).cardinality<Own>();
      }
      node = node.slotAt(index).child<Own>();
    }
    if (node.page.isPacked<Own>()) {
      return changetype<Entry>(Group.at(node.page, PageGroups.start<Own>(node.page, <u32>rank)));
    }
    for (index = 0; node.entryAt(index).cardinality<Own>() <= rank; index++) {
      rank -= node.entryAt(index).cardinality<Own>();
    }
    return node.entryAt(index);
  }

  /** More entries than a bitmap without segments is treated differently for. */
  @inline private static readonly MANY: u32 = 1 << 20;

  /**
   * How many entries the directory has at most. Of a tiny arena that is packed, how many members; of a bitmap
   * with segments, many.
   */
  @inline static entriesHeld<M extends Memory>(): u32 {
    if (segments.are(sideOf<M>())) return Directory.MANY;
    return Header.isTiny<M>() ? changetype<Node>(0).count<M>() : Header.entries<M>();
  }

  /** How many entries the directory has. */
  static entriesExactly<M extends Memory>(): u32 {
    return Header.isTiny<M>() && changetype<Page>(0).isPacked<M>() && !segments.are(sideOf<M>())
      ? PageGroups.between<M>(changetype<Page>(0), 0, changetype<Node>(0).count<M>())
      : Directory.entriesHeld<M>();
  }

  /**
   * Members of the whole bitmap modulo 2^64: 0 for the bitmap of all 2^64 offsets, as for the empty one.
   */
  static cardinality<M extends Memory>(): u64 {
    return segments.are(sideOf<M>()) ? segments.members(sideOf<M>()) : Directory.membersHere<M>();
  }

  /** Directory.cardinality() of the segment shown. */
  static membersHere<M extends Memory>(): u64 {
    if (!Header.isTiny<M>()) return Header.cardinality<M>();
    return changetype<Page>(0).isPacked<M>() ? changetype<Node>(0).count<M>()
      : changetype<Node>(0).count<M>() ? changetype<Entry>(Node.HEADER).cardinality<M>() : 0;
  }
}

/** A position in the order of entries, for walking: an entry, and where its leaf ends. */
export abstract class Place {
  @inline static entry(place: u64): Entry { return changetype<Entry>(<usize>(<u32>place)); }
  @inline static of(entry: Entry, end: usize): u64 {
    return ((<u64>end) << 32) | <u64>changetype<usize>(entry);
  }

  /** The place of the first entry, in the segment shown. */
  static first<M extends Memory>(): u64 {
    let node = Node.root<M>(), level = node.level<M>();
    while (level) {
      node = node.slotAt(0).child<M>();
      const below = node.level<M>();
      if (below >= level) unreachable();        // only a damaged arena; the loop might never end
      level = below;
    }
    const count = node.count<M>();
    return count ? Place.of(node.entryIn<M>(0), changetype<usize>(node.entryIn<M>(count))) : 0;
  }

  /** Whether the place is the last one of its leaf. */
  @inline static isLastOfLeaf<M extends Memory>(place: u64): bool {
    return Directory.entryAfter<M>(Place.entry(place)) >= <usize>(place >> 32);
  }

  /** The place after `place` in its leaf, 0 if it is the last one there. */
  @inline static nextInLeaf<M extends Memory>(place: u64): u64 {
    const next = changetype<Entry>(Directory.entryAfter<M>(Place.entry(place))), end = <usize>(place >> 32);
    return changetype<usize>(next) < end ? Place.of(next, end) : 0;
  }

  /** The place after `place`. */
  @inline static next<M extends Memory>(place: u64): u64 {
    const next = Place.nextInLeaf<M>(place);
    return next ? next : Directory.advanceLeaf<M>(Place.entry(place));
  }
}
