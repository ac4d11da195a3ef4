// How many bytes merging may take at most: all growth happens before the first change.

import { right } from "../../env/memory";
import { Memory, Own, Right, view16 } from "../../env/view";
import { Choice, Kind } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Room } from "../../arena/change/room";
import { Block } from "../../arena/layout/blocks";
import { Entry } from "../../arena/layout/entry";
import { ARENA_MAX, Header } from "../../arena/layout/header";
import { Node } from "../../arena/layout/node";
import { PageGroups } from "../../arena/packed/groups";
import { Group, Page } from "../../arena/packed/layout";
import { PageMembers } from "../../arena/packed/members";
import { membersInLeaf } from "../../arena/packed/steps";
import { Directory, Place } from "../../arena/read/directory";
import { Places, Scratch } from "../../combine/shape/scratch";
import { wordsWith } from "../convert";
import { APPENDED_LEAST, entriesCovered, isFew, isUpTo, placeBehind } from "./operand";

/** Bounds for the room that merging takes. */
abstract class MergeCost {
  @inline static readonly REPLACED: u64 = 8;
  /**
   * Inserting a member allocates at most four times as much as replacedBytes() says:
   * runs may become an array or a bitset, and that a sparse bitset.
   */
  @inline static readonly BLOCKS_A_MEMBER: usize = 4;
  /** The fewest insertions between two splits of a page, whose highs may have any width. */
  @inline static readonly FEWEST_BETWEEN: u64 = 14;
  /** Bytes of the block of a full inner node, or more. */
  @inline static readonly INNER_BLOCK: u64 = 2560;
  /**
   * Bytes of the blocks through which an inner node grows, or which splitting it and the nodes above takes.
   */
  @inline static readonly NODE_ROOM: u64 = 4 * MergeCost.INNER_BLOCK;
}
/**
 * Bytes that splitting a page takes: a page and its alignment padding, and a slot of the node above as that
 * grows.
 */
// @ts-ignore: decorator
@inline const SPLIT_BYTES: u64 = 2 * Page.BYTES + 256;

/**
 * The most bytes that inserting `lone` members takes in `pages` pages, below `nodes` nodes.
 * A full page may be split in two parts of any size, and the larger one in halves. Either half may be split
 * again once an eighth of the members that a page holds have been added to it.
 */
function roomInPages(lone: u64, pages: u64, nodes: u64): u64 {
  if (!lone) return 0;
  const splits = min(lone, 2 * pages + lone / MergeCost.FEWEST_BETWEEN + 1);
  return splits * SPLIT_BYTES + nodes * MergeCost.NODE_ROOM
    + <u64>Node.root<Own>().level<Own>() * MergeCost.INNER_BLOCK;
}

/**
 * The most bytes that merging allocates and works in; ARENA_MAX if building anew is quicker.
 * `last` is the last key of memory 0.
 */
export function roomToMerge(last: u64): u64 {
  let bytes: u64 = 0, replaced: u64 = 0, inserted: u64 = 0, folds = false;
  let place = Directory.seek<Right>(0), rest = Directory.entriesExactly<Right>(), leaf: u64 = 0, gap: u64 = 0;
  let lone: u64 = 0, pages: u64 = 0, page: Node = changetype<Node>(0), nodes: u64 = 0,
    node: Node = changetype<Node>(0);
  for (let own = Directory.seek<Own>(0); isUpTo(place, last); place = Place.next<Right>(place), rest--) {
    const from = Place.entry(place), key = from.key<Right>();
    const above = Header.isPaged() ? Directory.nodeAbove(key) : changetype<Node>(0),
      below = Header.isPaged() ? Directory.leafBelow(above, key) : changetype<Node>(0);
    if (Header.isPaged() && below.page.isPacked<Own>()) {
      const absent = absentIn(below, from);
      if (!absent) continue;
      lone += absent;
      pages += u64(below != page);
      nodes += u64(above != node);
      page = below;
      node = above;
      continue;
    }
    own = Directory.seekFrom<Own>(own, key);
    const entry = Place.entry(own);
    if (from.kind<Right>() == Kind.FULL) {
      inserted += 1 + entriesCovered(from, u64.MAX_VALUE);    // one before each of those, and one behind
      bytes += Room.toInsert(key, 1) + Room.toInsert(from.lastKey<Right>(), 1);
    } else if (entry.key<Own>() > key) {
      inserted++;
      bytes += copiedBytes(from);
      // Each leaf counts for the first gap that is filled there, and for the second:
      // what is inserted before a leaf's first entry goes into the leaf before.
      if (leaf != own >> 32) {
        bytes += Room.toInsert(key, 1);
        leaf = own >> 32;
        gap = own;
      } else if (gap && gap != own) {
        bytes += Room.toInsert(key, 1);
        gap = 0;
      }
    } else if (entry.kind<Own>() != Kind.FULL) {
      const block = replacedBytes(entry, from);
      replaced += block;
      if (replaced > Header.bump() / MergeCost.REPLACED) return ARENA_MAX;
      if (!isFew(from)) folds = true;
      else bytes += block * (MergeCost.BLOCKS_A_MEMBER * from.count<Right>() - 1);
    }
  }
  if (rest >= APPENDED_LEAST) {
    bytes += roomToAppend(place, rest);
  } else {
    const packs = rest && Header.isPaged() && changetype<Page>(Directory.leafFor<Own>(last)).isPacked<Own>();
    if (packs) { pages++; nodes++; } else inserted += rest;
    for (; place; place = Place.next<Right>(place)) {
      const from = Place.entry(place);
      if (packs) lone += from.count<Right>(); else bytes += copiedBytes(from);
    }
  }
  return bytes + replaced + (folds || replaced ? <u64>Places.bytes(Scratch.RIGHT) : 0)
    + roomInPages(lone, pages, nodes) + (inserted ? Room.forEntries(inserted) : 0);
}

/**
 * The most bytes that appending the operand's last `count` entries, from `place` on, as whole leaves takes.
 */
function roomToAppend(place: u64, count: u32): u64 {
  let copied: u64 = 0;
  while (place) {
    const from = Place.entry(place);
    if (from.isGroup()) {
      copied += copiedFromLeaf(place);
      place = placeBehind(place, membersInLeaf(place));
    } else {
      copied += copiedBytes(from);
      place = Place.next<Right>(place);
    }
  }
  return copied + Room.forLeaves(count) + roomForPages(<u64>count * Entry.BYTES + copied);
}

/**
 * The most bytes that pages take instead of `bytes` bytes of ordinary entries: each holds more than its own.
 */
function roomForPages(bytes: u64): u64 { return bytes / Page.BYTES * SPLIT_BYTES; }

/** How many of the one or two members of the operand's entry the page does not have. */
function absentIn(page: Node, from: Entry): u32 {
  const base = from.key<Right>() << 16, count = from.count<Right>();
  const members = from.payload<Right>();
  let absent: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    absent += u32(PageMembers.index(page.page,
      base | right.load16(members + Container.arrayBytes(i), 0)) == PageMembers.NONE);
  }
  return absent;
}

/** copiedBytes(), or more, of the operand's groups from `place` to the end of the leaf. */
function copiedFromLeaf(place: u64): u64 {
  const leaf = changetype<Node>(Group.leaf<Right>(changetype<Group>(Place.entry(place)))),
    first = Group.index(leaf.page, changetype<Group>(Place.entry(place)));
  const members = membersInLeaf(place);
  // A group of three takes 8 bytes, one of more takes at most 8 for each further member.
  return 8 * <u64>(members - PageGroups.between<Right>(leaf.page, first, first + members));
}

/** The most bytes of the block that a copy of the operand's entry takes. */
// @ts-ignore: decorator
@inline function copiedBytes(from: Entry): usize {
  const unheld = from.isGroup() && !isFew(from);               // it has no block, but its copy gets one
  const bytes = unheld ? Container.arrayBytes(from.count<Right>()) : from.payloadBytes<Right>();
  return bytes ? allocatedBytes(bytes) : 0;
}

/**
 * The most bytes that allocating a block for `bytes` bytes takes, with the padding before it, or before a
 * block twice as large.
 */
// @ts-ignore: decorator
@inline function allocatedBytes(bytes: usize): usize {
  const size = Block.bytes(bytes);
  return size >= Block.MAX / 2 ? size + Block.LINE : size;
}

/**
 * The most bytes of the block that the container of `entry` gets when `from` is
 * merged into it. Neither is FULL.
 */
function replacedBytes(entry: Entry, from: Entry): usize {
  const kind = entry.kind<Own>(), count = entry.count<Own>(), more = from.count<Right>();
  if (kind == Kind.BITSET) return 0;          // changed in place
  if (isFew(from) && fitsBlock(entry, from)) return 0;
  const runs = runsMost<Own>(entry) + runsMost<Right>(from);
  return allocatedBytes(
    min(min(Choice.plainMost(count + more), Container.runsBytes(runs)), BITSET_BYTES));
}

/**
 * Whether the one or two members of `from` fit the block of an array or a sparse bitset, or the entry, and
 * leave the container's kind as it is.
 */
function fitsBlock(entry: Entry, from: Entry): bool {
  const kind = entry.kind<Own>(), count = entry.count<Own>(), more = from.count<Right>();
  if (kind >= Kind.SINGLE) return count + more <= 2;
  if (kind == Kind.SPARSE) {                    // a member takes a value and a mask at most
    const bytes = entry.payloadBytes<Own>();
    return Block.bytes(bytes) == Block.bytes(bytes + 2 * <usize>more);
  }
  if (kind != Kind.ARRAY || count + more >= Choice.SPARSE_FROM) return false;
  const words = wordsWith(entry, Container.LOW_MAX, 0);  // at least those that there are
  if (Choice.prefersShort(count + 1, words) || Choice.prefersShort(count + more, words)) return false;
  return Block.bytes(Container.arrayBytes(count)) == Block.bytes(Container.arrayBytes(count + more));
}

/** As many runs as the entry has, or more. */
// @ts-ignore: decorator
@inline function runsMost<M extends Memory>(entry: Entry): u32 {
  return entry.kind<M>() == Kind.RUNS ? view16<M>(entry.payload<M>(), 0) : entry.count<M>();
}
