// Adding all members of another bitmap, operand 0, in place: the cost depends on the containers of the
// operand. Building the union of both (combine/combine.ts) copies the containers that only memory 0 has as
// well, and is quicker when the operand has about as many.
//
// Operand containers up to memory 0's last key are merged one by one: one or two members are inserted, more
// are folded with the container that is there. Those beyond that key are appended, whole leaves at a time.
// All growth happens before the first change.

import { SELF, right } from "../env/memory";
import { Own, Right, view16 } from "../env/view";
import {
  BLOCK_MAX, allocate, allocatePage, blockBytes, bumpMark, isPaged, isTiny, prepare,
} from "../arena/arena";
import {
  ENTRY_BYTES, entryCount, entryKey, entryKind, entryLastKey, entryPayload, payloadBytes, setBlock,
  setFull, setKey, setPair, setPosition, setSingle,
} from "../arena/entry";
import {
  advance, entriesExactly, entriesHeld, findEntry, findGroup, lastEntry, leafBelow, leafFor, nodeAbove,
  placeAfter, placeEntry, seek, seekFrom,
} from "../arena/directory";
import { LEAF_MAX, entryAt, nodeBytes, nodeLevel, rootNode, writeNode } from "../arena/node";
import { adjust, appendLeaf, insertEntry } from "../arena/change";
import { roomForEntries, roomForLeaves, roomToInsert } from "../arena/room";
import { loosen } from "../arena/pages";
import {
  GROUP_MAX, NO_MEMBER, PAGE_BYTES, beginPage, copyKeys, groupEnd, groupsIn, indexOf, isGroup, isPacked,
  keyAt, largerFrom, leafOf, lowsFrom, memberIndex, membersForPage, membersFrom,
} from "../arena/packed";
import { normalized } from "../combine/shape/normalize";
import { fold } from "../combine/fold/fold";
import { Scratch, makeScratch, scratchBytes } from "../combine/shape/scratch";
import { entryShape, shapeCount } from "../combine/shape/shape";
import { Fold, show, sidesOf } from "../combine/fold/sides";
import { releaseContainer, replaceContainer, wordsWith } from "./convert";
import { countUp } from "./edit";
import { insertWithoutPacking } from "./point";
import { Kind, isArray, prefersShort } from "../container/kind";
import {
  BITSET_BYTES, LOW_MAX, MEMBER_BYTES, UNIVERSE, arrayBytes, isArraySized, runsBytes, bucketsBytes,
} from "../container/limits";
import { BUCKET_MAX, bucketHeld } from "../container/buckets";

// The estimate that decides, in nanoseconds. Merging takes MERGING, and MERGED for each entry of the operand
// below the end of memory 0, which is a search for a container that is probably not in the cache. Building
// anew takes BUILT for each entry of memory 0, and a nanosecond for each COPIED bytes. Folding two
// containers, and copying what lies beyond the end, costs as much either way.
//
// Containers that outgrow their blocks leave free blocks behind. Where the larger blocks may take more than
// 1 / REPLACED of memory 0, the union is built anew, too: memory 0 would have to grow by more than it does at
// a time, and be rewritten soon.

// @ts-ignore: decorator
@inline const MERGING: u64 = 10000;
// @ts-ignore: decorator
@inline const MERGED: u64 = 250;
// @ts-ignore: decorator
@inline const BUILT: u64 = 20;
// @ts-ignore: decorator
@inline const COPIED: u64 = 8;
// @ts-ignore: decorator
@inline const REPLACED: u64 = 8;

/** Fewer entries beyond the end are inserted one by one: leaves should not be small. */
// @ts-ignore: decorator
@inline const APPENDED_LEAST: u32 = LEAF_MAX / 2;
/** What aligning a bitset may skip. */
// @ts-ignore: decorator
@inline const ALIGNMENT: usize = 64;
/**
 * Inserting a member allocates at most four times as much as replacedBytes() says:
 * runs may become an array, and that buckets.
 */
// @ts-ignore: decorator
@inline const BLOCKS_A_MEMBER: usize = 4;
/** Fewer members than a page of the widest highs gets before it makes way a second time. */
// @ts-ignore: decorator
@inline const FEWEST_BETWEEN: u64 = 14;
/** Bytes of a page, with what aligning it may skip, and of its part of the node above as that grows. */
// @ts-ignore: decorator
@inline const A_WAY: u64 = 2 * PAGE_BYTES + 256;
/** Bytes of the block of a full inner node, or more. */
// @ts-ignore: decorator
@inline const INNER_BLOCK: u64 = 2560;
/**
 * Bytes of the blocks that an inner node grows through, or that it takes to split it, the one above and so
 * on.
 */
// @ts-ignore: decorator
@inline const NODE_ROOM: u64 = 4 * INNER_BLOCK;
/** More bytes than an arena has. */
// @ts-ignore: decorator
@inline const BYTES_MAX: u64 = 0xffff0000;

/**
 * Adds the members of operand 0 to memory 0 and returns 1.
 * If it is quicker to build the union anew, or if memory 0 is tiny, changes nothing and returns 0.
 */
export function merge(): u32 {
  if (isTiny<Own>()) return 0;
  right.select(0);
  const last = entryLastKey<Own>(lastEntry<Own>());
  const building = entriesHeld<Own>() * BUILT + bumpMark() / COPIED;
  if (MERGING + entriesToMerge(last, building / MERGED) * MERGED > building) return 0;
  if (isPaged()) loosenForMerge(last);
  const room = roomToMerge(last);
  if (bumpMark() + room > BYTES_MAX) return 0;
  prepare(<usize>room);                       // all growth happens here, before anything is changed

  let place = seek<Right>(0), rest = entriesExactly<Right>();
  for (; isUpTo(place, last); place = advance<Right>(place), rest--) mergeEntry(placeEntry(place));
  if (rest >= APPENDED_LEAST) appendEntries(place, rest);
  else for (; place; place = advance<Right>(place)) mergeEntry(placeEntry(place));
  return 1;
}

/** Whether there is an entry of the operand at `place` that begins at or before `last`. */
// @ts-ignore: decorator
@inline function isUpTo(place: u64, last: u64): bool {
  return place != 0 && entryKey<Right>(placeEntry(place)) <= last;
}

/**
 * Entries of the operand up to key `last`, and entries of memory 0 that its FULL entries cover.
 * Stops counting above `most`.
 */
function entriesToMerge(last: u64, most: u64): u64 {
  let entries: u64 = 0;
  for (let place = seek<Right>(0); entries <= most && isUpTo(place, last); place = advance<Right>(place)) {
    const from = placeEntry(place);
    entries++;
    if (entryKind<Right>(from) == Kind.FULL) entries += entriesCovered(from, most);
  }
  return entries;
}

/**
 * Entries of memory 0 that the operand's entry `from` covers, at least in part. Stops counting above `most`.
 */
function entriesCovered(from: usize, most: u64): u64 {
  let entries: u64 = 0;
  const last = entryLastKey<Right>(from);
  for (
    let place = seek<Own>(entryKey<Right>(from));
    place && entries <= most; place = advance<Own>(place), entries++
  ) {
    if (entryKey<Own>(placeEntry(place)) > last) break;
  }
  return entries;
}

/** Unpacks the leaves in which more is to happen than that a few members are inserted. */
function loosenForMerge(last: u64): void {
  let rest = entriesExactly<Right>(), place = seek<Right>(0);
  for (; isUpTo(place, last); place = advance<Right>(place), rest--) {
    const from = placeEntry(place), key = entryKey<Right>(from);
    if (!isFew(from)) { loosen(key, entryLastKey<Right>(from)); continue; }
    const leaf = leafFor<Own>(key), group = isPacked<Own>(leaf) ? findGroup(leaf, key) : 0;
    if (group && !staysGroupWith(group, entryCount<Right>(from))) loosen(key, key);
  }
  if (!rest || rest >= APPENDED_LEAST) return;
  for (; place; place = advance<Right>(place)) {              // the rest is inserted behind the last entry
    if (!isFew(placeEntry(place))) { loosen(last, last); return; }
  }
}

/** Whether the operand's entry has one or two members, which are inserted one by one. */
// @ts-ignore: decorator
@inline function isFew(from: usize): bool {
  return isArray(entryKind<Right>(from)) && entryCount<Right>(from) <= 2;
}

/** Whether a group in a page certainly stays one while it gets `more` members, 1 or 2, wherever these lie. */
function staysGroupWith(entry: usize, more: u32): bool {
  const count = entryCount<Own>(entry);
  return count + more <= GROUP_MAX && !prefersShort(count + more, wordsWith(entry, LOW_MAX, 0));
}

// --- Room --------------------------------------------------------------------------------------------------

/**
 * The most bytes that inserting `lone` members takes in `pages` pages, below `nodes` nodes.
 * A full page makes way: it may be split in two parts of any size, and the larger one in halves. Either half
 * does so again when it has got an eighth of what a page holds.
 */
function roomInPages(lone: u64, pages: u64, nodes: u64): u64 {
  if (!lone) return 0;
  const ways = min(lone, 2 * pages + lone / FEWEST_BETWEEN + 1);
  return ways * A_WAY + nodes * NODE_ROOM + <u64>nodeLevel<Own>(rootNode<Own>()) * INNER_BLOCK;
}

/**
 * The most bytes that merging allocates and works in; BYTES_MAX if building anew is quicker.
 * `last` is the last key of memory 0.
 */
function roomToMerge(last: u64): u64 {
  let inserted: u64 = 0, lone: u64 = 0, leaves: u64 = 0, copied: u64 = 0;
  let replaced: u64 = 0, between: u64 = 0, work: u64 = 0;
  let place = seek<Right>(0), rest = entriesExactly<Right>(), leaf: u64 = 0, gap: u64 = 0;
  let pages: u64 = 0, page: usize = 0, nodes: u64 = 0, node: usize = 0;
  for (let own = seek<Own>(0); isUpTo(place, last); place = advance<Right>(place), rest--) {
    const from = placeEntry(place), key = entryKey<Right>(from);
    const above = isPaged() ? nodeAbove(key) : 0, below = isPaged() ? leafBelow(above, key) : 0;
    if (isPaged() && isPacked<Own>(below)) {
      const absent = absentIn(below, from);
      if (!absent) continue;
      lone += absent;
      pages += u64(below != page);
      nodes += u64(above != node);
      page = below;
      node = above;
      continue;
    }
    own = seekFrom<Own>(own, key);
    const entry = placeEntry(own);
    if (entryKind<Right>(from) == Kind.FULL) {
      inserted += 1 + entriesCovered(from, u64.MAX_VALUE);    // one before each of those, and one behind
      leaves += roomToInsert(key, 1) + roomToInsert(entryLastKey<Right>(from), 1);
    } else if (entryKey<Own>(entry) > key) {
      inserted++;
      copied += copiedBytes(from);
      // Each leaf counts for the first gap that is filled there, and for the second:
      // what is inserted before a leaf's first entry goes into the leaf before.
      if (leaf != own >> 32) {
        leaves += roomToInsert(key, 1);
        leaf = own >> 32;
        gap = own;
      } else if (gap && gap != own) {
        leaves += roomToInsert(key, 1);
        gap = 0;
      }
    } else if (entryKind<Own>(entry) != Kind.FULL) {
      const bytes = replacedBytes(entry, from);
      replaced += bytes;
      if (replaced > bumpMark() / REPLACED) return BYTES_MAX;
      if (!isFew(from)) work = scratchBytes(Scratch.RIGHT);
      else between += bytes * (BLOCKS_A_MEMBER * entryCount<Right>(from) - 1);
    }
  }
  const packs = rest && rest < APPENDED_LEAST && isPaged() && isPacked<Own>(leafFor<Own>(last));
  if (packs) { pages++; nodes++; } else if (rest < APPENDED_LEAST) inserted += rest;
  const append = rest >= APPENDED_LEAST ? rest : 0, before = copied;
  while (place) {
    const from = placeEntry(place);
    if (append && isGroup(from)) {
      copied += copiedFromLeaf(place);
      place = placeBehind(place, membersFrom(place));
      continue;
    }
    if (packs) lone += entryCount<Right>(from); else copied += copiedBytes(from);
    place = advance<Right>(place);
  }
  if (append) copied += roomForLeaves(append) + roomForPages(<u64>append * ENTRY_BYTES + copied - before);
  return copied + replaced + between + work + leaves
    + roomInPages(lone, pages, nodes) + (inserted ? roomForEntries(inserted) : 0);
}

/**
 * The most bytes that pages take instead of `bytes` bytes of ordinary entries: each holds more than its own.
 */
function roomForPages(bytes: u64): u64 { return bytes / PAGE_BYTES * A_WAY; }

/** How many of the one or two members of the operand's entry the page does not have. */
function absentIn(page: usize, from: usize): u32 {
  const base = entryKey<Right>(from) << 16, count = entryCount<Right>(from);
  const members = entryPayload<Right>(from);
  let absent: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    absent += u32(memberIndex(page, base | right.load16(members + arrayBytes(i), 0)) == NO_MEMBER);
  }
  return absent;
}

/** copiedBytes(), or more, of the operand's groups from `place` to the end of the leaf. */
function copiedFromLeaf(place: u64): u64 {
  const leaf = leafOf<Right>(placeEntry(place)), first = indexOf(leaf, placeEntry(place));
  const members = membersFrom(place);
  // A group of three takes 8 bytes, one of more takes at most 8 for each further member.
  return 8 * <u64>(members - groupsIn<Right>(leaf, first, first + members));
}

/** The most bytes of the block that a copy of the operand's entry takes. */
// @ts-ignore: decorator
@inline function copiedBytes(from: usize): usize {
  const unheld = isGroup(from) && !isFew(from);               // it has no block, but its copy gets one
  const bytes = unheld ? arrayBytes(entryCount<Right>(from)) : payloadBytes<Right>(from);
  return bytes ? allocatedBytes(bytes) : 0;
}

/**
 * The most bytes that allocating a block for `bytes` bytes takes,
 * with what aligning it or a block twice as large may skip.
 */
// @ts-ignore: decorator
@inline function allocatedBytes(bytes: usize): usize {
  const size = blockBytes(bytes);
  return size >= BLOCK_MAX / 2 ? size + ALIGNMENT : size;
}

/**
 * The most bytes of the block that the container of `entry` gets when `from` is
 * merged into it. Neither is FULL.
 */
function replacedBytes(entry: usize, from: usize): usize {
  const kind = entryKind<Own>(entry), count = entryCount<Own>(entry), more = entryCount<Right>(from);
  if (kind == Kind.BITSET) return 0;          // changed in place
  if (isFew(from) && isArraySized(count + more) && fitsBlock(entry, from)) return 0;
  const runs = runsMost<Own>(entry) + runsMost<Right>(from);
  return allocatedBytes(min(min(arrayBytes(count + more), runsBytes(runs)), BITSET_BYTES));
}

/**
 * Whether the one or two members of `from` fit the block of an array or buckets,
 * or the entry, and leave the container's kind as it is.
 */
function fitsBlock(entry: usize, from: usize): bool {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  const count = entryCount<Own>(entry), more = entryCount<Right>(from);
  if (kind >= Kind.SINGLE) return count + more <= 2;
  if (kind != Kind.ARRAY && kind != Kind.BUCKETS) return false;
  const words = wordsWith(entry, LOW_MAX, 0);  // at least those that there are
  if (prefersShort(count + 1, words) || prefersShort(count + more, words)) return false;
  if (kind == Kind.ARRAY) return blockBytes(arrayBytes(count)) == blockBytes(arrayBytes(count + more));
  if (blockBytes(bucketsBytes(count)) != blockBytes(bucketsBytes(count + more))) return false;
  const members = entryPayload<Right>(from);
  const first = right.load16(members, 0);
  const last = right.load16(members + arrayBytes(more - 1), 0);
  return max(bucketHeld(payload, count, first >> 8), bucketHeld(payload, count, last >> 8)) + more
    <= BUCKET_MAX;
}

/** As many runs as the entry has, or more. */
// @ts-ignore: decorator
@inline function runsMost<M>(entry: usize): u32 {
  return entryKind<M>(entry) == Kind.RUNS ? view16<M>(entryPayload<M>(entry), 0) : entryCount<M>(entry);
}

// --- Merging -----------------------------------------------------------------------------------------------

/** Adds the containers of the operand's entry `from`. */
function mergeEntry(from: usize): void {
  const key = entryKey<Right>(from), kind = entryKind<Right>(from);
  if (kind == Kind.FULL) { fill(key, entryLastKey<Right>(from)); return; }
  if (isFew(from)) { insertMembers(from, key << 16); return; }
  const entry = findEntry(key);
  if (!entry) {
    copyEntry(insertEntry(key), from);
    adjust(key, entryCount<Right>(from));
  } else if (entryKind<Own>(entry) != Kind.FULL) {
    foldInto(entry, key, entryShape<Right>(from));
  }
}

/** Inserts the members that the operand's entry itself holds. */
function insertMembers(from: usize, base: u64): void {
  const first = entryPayload<Right>(from), end = first + arrayBytes(entryCount<Right>(from));
  for (let member = first; member < end; member += MEMBER_BYTES) {
    insertWithoutPacking(base | right.load16(member, 0));
  }
}

/** Makes the entry `to` a copy of the operand's entry `from`. */
function copyEntry(to: usize, from: usize): void {
  if (isGroup(from)) { copyGroup(to, from); return; }
  right.copy(to, from, ENTRY_BYTES);
  const bytes = payloadBytes<Right>(from);
  if (!bytes) return;
  const at = allocate(bytes);
  right.copy(at, entryPayload<Right>(from), bytes);
  setPosition(to, at);
}

/** copyEntry() for a group of a packed leaf. */
function copyGroup(to: usize, from: usize): void {
  const count = entryCount<Right>(from), members = entryPayload<Right>(from), bytes = arrayBytes(count);
  setKey(to, entryKey<Right>(from));
  if (count == 1) { setSingle(to, right.load16(members, 0)); return; }
  if (count == 2) { setPair(to, right.load16(members, 0), right.load16(members, 2)); return; }
  const at = allocate(bytes);
  right.copy(at, members, bytes);
  setBlock(to, Kind.ARRAY, count, at);
}

/** Makes containers [first, last] full: those that are there one by one, those that are missing as spans. */
function fill(first: u64, last: u64): void {
  for (let key = first; key <= last;) {
    const place = seek<Own>(key), entry = placeEntry(place);
    const next = place ? min(entryKey<Own>(entry), last + 1) : last + 1;
    if (next > key) {
      setFull(insertEntry(key), next - key);
      adjust(key, (next - key) << 16);
      key = next;
      continue;
    }
    key = entryLastKey<Own>(entry) + 1;
    if (entryKind<Own>(entry) == Kind.FULL) continue;
    adjust(next, UNIVERSE - entryCount<Own>(entry));
    releaseContainer(entry);
    setFull(entry, 1);
  }
}

/** Folds the shape `r` of the operand into the container `key` of `entry`. */
function foldInto(entry: usize, key: u64, r: u64): void {
  makeScratch(Scratch.RIGHT);
  const before = entryCount<Own>(entry), isBitset = entryKind<Own>(entry) == Kind.BITSET;
  const folded = fold(Fold.OR, sidesOf(SELF, 0), entryShape<Own>(entry), r);
  show(sidesOf(SELF, 0));
  const more = shapeCount(folded) - before;
  if (!more) return;
  adjust(key, more);
  if (isBitset) countUp(entry, more, false); else replaceContainer(entry, normalized(folded));
}

// --- Appending ---------------------------------------------------------------------------------------------

/** The most members of an array that is packed when it is appended. */
// @ts-ignore: decorator
@inline const SMALL_MAX: u32 = 32;

/**
 * Appends copies of the operand's `count` last entries, the first of which is at `place`: small arrays in
 * pages where these take less, others in leaves as full as they can be.
 */
function appendEntries(place: u64, count: u32): void {
  for (let held: u32 = 0; count; count -= held) {
    const members = isGroup(placeEntry(place)) ? fitPage(place) : 0;
    if (members) {
      held = appendPage(place, members);
      place = placeBehind(place, members);
    } else {
      held = min(count, LEAF_MAX);
      place = appendOrdinary(place, held);
    }
  }
}

/** The place behind the operand's next `members` members, those of whole groups of a leaf. */
// @ts-ignore: decorator
@inline function placeBehind(place: u64, members: u32): u64 {
  const leaf = leafOf<Right>(placeEntry(place));
  return placeAfter<Right>(leaf, indexOf(leaf, placeEntry(place)) + members - 1);
}

/**
 * How many members from `place` on, of small arrays that the operand has in one leaf, a page holds; 0 if
 * ordinary entries take less.
 */
function fitPage(place: u64): u32 {
  const leaf = leafOf<Right>(placeEntry(place)), first = indexOf(leaf, placeEntry(place));
  const end = largerFrom<Right>(leaf, first, first + membersFrom(place), SMALL_MAX);
  if (end == first) return 0;
  const members = membersForPage<Right>(leaf, first, end);
  return ordinaryBytesOf(leaf, first, first + members) > PAGE_BYTES ? members : 0;
}

/** Bytes of the operand's members from .. to - 1 of a packed leaf as ordinary entries with their blocks. */
function ordinaryBytesOf(leaf: usize, from: u32, to: u32): usize {
  const groups = groupsIn<Right>(leaf, from, to);
  let bytes = <usize>groups * ENTRY_BYTES;
  if (groups == to - from) return bytes;
  for (let next: u32 = 0; from < to; from = next) {
    next = groupEnd<Right>(leaf, from);
    if (next - from > 2) bytes += blockBytes(arrayBytes(next - from));
  }
  return bytes;
}

/** Appends a page of the operand's next `members` members, which lie in one leaf. Returns their groups. */
function appendPage(place: u64, members: u32): u32 {
  const leaf = leafOf<Right>(placeEntry(place)), first = indexOf(leaf, placeEntry(place));
  const behind = first + members, page = allocatePage(), groups = groupsIn<Right>(leaf, first, behind);
  beginPage(page, keyAt<Right>(leaf, first), keyAt<Right>(leaf, behind - 1), members);
  right.copy(lowsFrom<Own>(page, 0), lowsFrom<Right>(leaf, first), arrayBytes(members));
  copyKeys<Right>(page, 0, leaf, first, behind);
  appendLeaf(page, groups);
  return groups;
}

/** Appends an ordinary leaf of `count` entries from `place` on. Returns the place behind them. */
function appendOrdinary(place: u64, count: u32): u64 {
  const leaf = allocate(nodeBytes(0, count));
  writeNode(leaf, 0, count);
  for (let i: u32 = 0; i < count; i++, place = advance<Right>(place)) {
    copyEntry(entryAt(leaf, i), placeEntry(place));
  }
  appendLeaf(leaf, count);
  return place;
}
