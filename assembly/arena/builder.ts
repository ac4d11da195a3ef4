// Builds an arena from containers that arrive in the order of their keys: for the result of a combination, a
// payload that is read, or an arena that is rewritten. Payloads go to the bump mark one after the other, and
// the directory follows at the end. Nodes are as full as they can be unless the caller ends a leaf early.
// Nothing is freed on the way, so the arena has no holes.
//
// Small arrays in a row become packed leaves where that takes less. They wait in the leaf buffer, without
// blocks, until there are ITEMS_MAX members or another container follows. A bitmap with fewer becomes tiny.
//
// While it works, the builder keeps its own data at the arena's end, out of the allocator's reach:
//
//   +0   u32 entries in the leaf buffer     +4  u32 slots
//   +8   u64 members in the leaf buffer     +16 u64 members in all
//   +24  u32 entries in all                 +28 u32 capacity of the leaf buffer
//   +32  u32 1 if the leaf buffer's entries are those of an ordinary leaf; 0 if all are small arrays that
//        wait, entries of kind ARRAY whose members stand in the buffer of lows
//   +36  u32 capacity of the buffer of lows
//   +40  u32 0 if no array that waits would need a block: each has one member or two
//   +44  u32 block for a roomy root, 0 if there is none
//   +48  u32 capacity of the slots          +52 u32 0
//   +56  buffer of lows: u16 each
//        leaf buffer: entries
//        slots: one for each leaf that has been written
//        scratch bytes of the caller
//
// There is room for the slots of leaves that are full. Where leaves have few entries each, it grows.

import { Own } from "../env/view";
import {
  HEADER_BYTES, ROOT, allocateFresh, allocatePage, blockBytes, bumpMark, freedBytes, growTo, heldAt, holdBack,
  holdBackMore, letGo, makeRoom, pageAfter, release, resetToEmpty, resetToFull, setEntryTotal,
  setTotalCardinality,
} from "./arena";
import {
  ENTRY_BYTES, SPAN_MAX, plainCount, plainKey, plainKind, plainBlock, plainSpan, setBlock, setKey, setFull,
  setPair, setSingle,
} from "./entry";
import {
  ITEMS_MAX, PAGE_BYTES, beginKeys, beginPage, beginTight, highBytes, leafBase, lowsFrom, pageMembers,
  putHighs, tightBytes,
} from "./packed";
import { beginTinyShort, freedWithPages, packFull } from "./forms";
import {
  INNER_MAX, LEAF_MAX, NODE_HEADER, ROOMY_BYTES, ROOMY_INNER, ROOMY_SLOTS, SLOT_BYTES, nodeBlock, nodeBytes,
  setRoomy, slotAt, slotCardinality, slotKey, writeNode, writeSlot,
} from "./node";
import { Kind } from "../container/kind";
import { arrayBytes } from "../container/limits";

// @ts-ignore: decorator
@inline const IN_LEAF: u32 = 0;
// @ts-ignore: decorator
@inline const SLOTS: u32 = 4;
// @ts-ignore: decorator
@inline const LEAF_MEMBERS: u32 = 8;
// @ts-ignore: decorator
@inline const MEMBERS: u32 = 16;
// @ts-ignore: decorator
@inline const ENTRIES: u32 = 24;
// @ts-ignore: decorator
@inline const LEAF_ROOM: u32 = 28;
// @ts-ignore: decorator
@inline const ORDINARY: u32 = 32;
// @ts-ignore: decorator
@inline const LOWS_ROOM: u32 = 36;
// @ts-ignore: decorator
@inline const BLOCKS: u32 = 40;
// @ts-ignore: decorator
@inline const ROOM_FOR_ROOT: u32 = 44;
// @ts-ignore: decorator
@inline const SLOTS_ROOM: u32 = 48;
// @ts-ignore: decorator
@inline const LEAF: usize = 56;

/** Where the low of waiting member `index` stands. */
// @ts-ignore: decorator
@inline function waitingLow(builder: usize, index: u32): usize { return builder + LEAF + arrayBytes(index); }

// @ts-ignore: decorator
@inline function bufferedEntry(builder: usize, index: u32): usize {
  return builder + LEAF + load<u32>(builder, LOWS_ROOM) + <usize>index * ENTRY_BYTES;
}

// @ts-ignore: decorator
@inline function slotsAt(builder: usize): usize {
  return bufferedEntry(builder, load<u32>(builder, LEAF_ROOM));
}

// @ts-ignore: decorator
@inline function isOrdinary(builder: usize): bool { return load<u32>(builder, ORDINARY) != 0; }

// @ts-ignore: decorator
@inline function lastKeyOf(entry: usize): u64 { return plainKey<Own>(entry) + plainSpan<Own>(entry) - 1; }

/** An ordinary leaf with this many entries or more may be ended before it is full. */
// @ts-ignore: decorator
@inline const LEAF_LEAST: u32 = LEAF_MAX / 2;
/** A packed leaf with more entries may be ended before it is full. */
// @ts-ignore: decorator
@inline const ENTRIES_LEAST: u32 = 6;
/** The most members of a small array. */
// @ts-ignore: decorator
@inline export const SMALL_MAX: u32 = 32;
/** When more than ITEMS_MAX members wait, leaves are written until no more than these are left. */
// @ts-ignore: decorator
@inline const WAITING_LEFT: u32 = ITEMS_MAX / 2;

/** The most entries in the leaf buffer. */
// @ts-ignore: decorator
@inline function leafRoom(entries: u64): u32 { return <u32>min<u64>(entries, ITEMS_MAX + 1); }
/** Bytes of the buffer of lows. */
// @ts-ignore: decorator
@inline function lowsRoom(entries: u64): u32 {
  return <u32>(arrayBytes(<u32>min<u64>(entries * SMALL_MAX, ITEMS_MAX + SMALL_MAX)) + 7) & ~7;
}

/** So many slots at first. */
// @ts-ignore: decorator
@inline function slotsRoom(entries: u64): u64 { return min(entries, entries / LEAF_MAX + 16); }

/** Bytes that the builder needs at first for its own data in an arena of at most `entries` entries. */
export function builderBytes(entries: u64): u64 {
  return <u64>LEAF + lowsRoom(entries) + <u64>leafRoom(entries) * ENTRY_BYTES
    + slotsRoom(entries) * SLOT_BYTES;
}

/** Begins an arena of at most `entries` entries, with `scratch` bytes for the caller at the arena's end. */
export function begin(entries: u64, scratch: usize): void {
  const bytes = builderBytes(entries);
  if (bytes + scratch > 0xffffffff) growTo(bytes + scratch);  // more entries than an arena holds
  resetToFull();
  holdBack(<usize>bytes + scratch);
  const builder = heldAt();
  memory.fill(builder, 0, LEAF);
  store<u32>(builder, leafRoom(entries), LEAF_ROOM);
  store<u32>(builder, lowsRoom(entries), LOWS_ROOM);
  store<u32>(builder, <u32>slotsRoom(entries), SLOTS_ROOM);
}

// --- Small arrays that wait --------------------------------------------------------------------------------

/**
 * Where the lows of the next small array are to be written; 0 if it must be appended as an ordinary entry.
 */
// @ts-ignore: decorator
@inline export function waitingRoom(): usize {
  const builder = heldAt();
  if (!isOrdinary(builder)) return waitingLow(builder, load<u32>(builder, LEAF_MEMBERS));
  return load<u32>(builder, IN_LEAF) == LEAF_MAX ? waitingLow(builder, 0) : 0;
}

/**
 * Appends a small array of `count` members, which stand at waitingRoom(), as container `key`, which is
 * greater than all before.
 */
export function appendSmall(key: u64, count: u32): void {
  if (isOrdinary(heldAt())) writeLeaf(false);  // a full one, behind which small arrays wait again
  const builder = heldAt();
  setBlock(newEntry(builder, key, count), Kind.ARRAY, count, 0);
  if (count > 2) store<u32>(builder, 1, BLOCKS);
  if (load<u64>(builder, LEAF_MEMBERS) > ITEMS_MAX) writeWaiting(WAITING_LEFT);
}

/** Writes arrays that wait as leaves until at most `left` members are left. */
function writeWaiting(left: u32): void {
  let builder = heldAt(), entry: u32 = 0, member: u32 = 0;
  const entries = load<u32>(builder, IN_LEAF), members = <u32>load<u64>(builder, LEAF_MEMBERS);
  const packs = packingPays(builder, entries, members);
  while (members - member > left) {
    const first = entry, from = member;
    if (packs && pagePays()) {
      const lone = entries == members ? loneInPage(builder, first, entries) : 0;
      entry += lone;
      member += lone;
      while (entry < entries && fitsPage(builder, first, entry, member - from)) {
        member += plainCount<Own>(bufferedEntry(builder, entry++));
      }
      writePage(first, entry, from, member);
    } else {
      for (const end = min(entries, first + LEAF_MAX); entry < end; entry++) {
        member += plainCount<Own>(bufferedEntry(builder, entry));
      }
      writeSmall(first, entry, from, member);
    }
    builder = heldAt();
  }
  const rest = entries - entry;
  memory.copy(bufferedEntry(builder, 0), bufferedEntry(builder, entry), <usize>rest * ENTRY_BYTES);
  memory.copy(waitingLow(builder, 0), waitingLow(builder, member), arrayBytes(members - member));
  store<u32>(builder, rest, IN_LEAF);
  store<u64>(builder, members - member, LEAF_MEMBERS);
}

/** Whether pages take less than ordinary leaves and their blocks for all arrays that wait. */
function packingPays(builder: usize, entries: u32, members: u32): bool {
  const most = pageMembers(
    plainKey<Own>(bufferedEntry(builder, 0)), plainKey<Own>(bufferedEntry(builder, entries - 1)),
  );
  return <u64>members * PAGE_BYTES < <u64>most * waitingBytes(builder, 0, entries);
}

/** Bytes of the arrays from .. to - 1 that wait as ordinary entries with their blocks. */
function waitingBytes(builder: usize, from: u32, to: u32): usize {
  return <usize>(to - from) * ENTRY_BYTES + blocksOfWaiting(builder, from, to);
}

function blocksOfWaiting(builder: usize, from: u32, to: u32): usize {
  let bytes: usize = 0;
  if (!load<u32>(builder, BLOCKS)) return 0;
  for (let i = from; i < to; i++) {
    const count = plainCount<Own>(bufferedEntry(builder, i));
    if (count > 2) bytes += blockBytes(arrayBytes(count));
  }
  return bytes;
}

/** How many arrays from `first` on a page certainly holds if each has one member. */
function loneInPage(builder: usize, first: u32, entries: u32): u32 {
  const key = plainKey<Own>(bufferedEntry(builder, first));
  let held = entries - first, fits: u32 = 0;
  while (fits < held) {
    if (fits) held = fits;
    fits = pageMembers(key, plainKey<Own>(bufferedEntry(builder, first + held - 1)));
  }
  return held;
}

/** Whether a page that begins with array `first` and has `members` members also holds array `entry`. */
// @ts-ignore: decorator
@inline function fitsPage(builder: usize, first: u32, entry: u32, members: u32): bool {
  const next = bufferedEntry(builder, entry), least = plainKey<Own>(bufferedEntry(builder, first));
  return members + plainCount<Own>(next) <= pageMembers(least, plainKey<Own>(next));
}

/** Writes a page of the arrays first .. last - 1 that wait, which have the members from .. to - 1. */
function writePage(first: u32, last: u32, from: u32, to: u32): void {
  if (bumpMark() == HEADER_BYTES) {           // what aligning the first page would skip
    allocateFresh(ROOMY_INNER);
    store<u32>(heldAt(), HEADER_BYTES, ROOM_FOR_ROOT);
  }
  const page = allocatePage(), builder = heldAt();
  const key = plainKey<Own>(bufferedEntry(builder, first));
  beginPage(page, key, plainKey<Own>(bufferedEntry(builder, last - 1)), to - from);
  memory.copy(lowsFrom<Own>(page, 0), waitingLow(builder, from), arrayBytes(to - from));
  putWaitingKeys(page, builder, first, last);
  addLeaf(page, key, to - from);
}

/** Writes the keys of the arrays first .. last - 1 that wait to a packed leaf. */
function putWaitingKeys(leaf: usize, builder: usize, first: u32, last: u32): void {
  let highs = beginKeys(leaf), entry = bufferedEntry(builder, first);
  const width = highBytes(leaf), base = leafBase(leaf);
  if (!width) return;
  for (const end = bufferedEntry(builder, last); entry < end; entry += ENTRY_BYTES) {
    highs = putHighs(highs, width, plainKey<Own>(entry) - base, plainCount<Own>(entry));
  }
}

/**
 * Writes an ordinary leaf of the arrays first .. last - 1 that wait, which have the members from .. to - 1.
 */
function writeSmall(first: u32, last: u32, from: u32, to: u32): void {
  settleWaiting(first, last, from);
  const leaf = allocateFresh(nodeBlock(0, last - first)), builder = heldAt();
  const entries = bufferedEntry(builder, first);
  layEntries(leaf, entries, last - first);
  addLeaf(leaf, plainKey<Own>(entries), to - from);
}

/** Gives the arrays first .. last - 1 that wait, whose members begin with `member`, entries as in a leaf. */
function settleWaiting(first: u32, last: u32, member: u32): void {
  makeRoom(blocksOfWaiting(heldAt(), first, last));
  const builder = heldAt();
  for (let i = first; i < last; i++) {
    const entry = bufferedEntry(builder, i), count = plainCount<Own>(entry);
    const lows = waitingLow(builder, member);
    if (count == 1) setSingle(entry, load<u16>(lows));
    else if (count == 2) setPair(entry, load<u16>(lows), load<u16>(lows, 2));
    else {
      const at = allocateFresh(blockBytes(arrayBytes(count)));
      memory.copy(at, lows, arrayBytes(count));
      setBlock(entry, Kind.ARRAY, count, at);
    }
    member += count;
  }
}

/** Makes the leaf buffer one of ordinary entries: arrays that wait are written, or get ordinary entries. */
function makeOrdinary(): void {
  let builder = heldAt(), entries = load<u32>(builder, IN_LEAF);
  if (entries >= LEAF_LEAST) {
    writeWaiting(LEAF_LEAST - 1);
    builder = heldAt();
    entries = load<u32>(builder, IN_LEAF);
  }
  if (entries) settleWaiting(0, entries, 0);
  store<u32>(heldAt(), 1, ORDINARY);
}

/** Whether aligning another page skips so little that the arena is not wasteful. */
function pagePays(): bool {
  const mark = bumpMark(), at = pageAfter(mark);
  return freedBytes() + (at - mark) <= freedWithPages(at + PAGE_BYTES);
}

// --- Ordinary entries --------------------------------------------------------------------------------------

/**
 * Appends an entry for `key`, which is greater than all before, and counts its `members`.
 * Returns the entry, which the caller completes with a set...() of entry.ts before anything is allocated.
 */
export function append(key: u64, members: u64): usize {
  if (!isOrdinary(heldAt())) makeOrdinary();
  else if (load<u32>(heldAt(), IN_LEAF) == LEAF_MAX) {
    writeLeaf(false);
    store<u32>(heldAt(), 1, ORDINARY);
  }
  return newEntry(heldAt(), key, members);
}

/** A new entry at the end of the leaf buffer. */
// @ts-ignore: decorator
@inline function newEntry(builder: usize, key: u64, members: u64): usize {
  const index = load<u32>(builder, IN_LEAF);
  if (index >= load<u32>(builder, LEAF_ROOM)) unreachable();  // more entries than were announced
  store<u32>(builder, index + 1, IN_LEAF);
  store<u32>(builder, load<u32>(builder, ENTRIES) + 1, ENTRIES);
  countIn(builder, members);
  const entry = bufferedEntry(builder, index);
  setKey(entry, key);
  return entry;
}

/** Writes an ordinary leaf with copies of `count` entries. */
// @ts-ignore: decorator
@inline function layEntries(leaf: usize, entries: usize, held: u32): void {
  writeNode(leaf, 0, held);
  memory.copy(leaf + NODE_HEADER, entries, <usize>held * ENTRY_BYTES);
}

/** Adds a slot for a leaf. */
// @ts-ignore: decorator
@inline function addLeaf(leaf: usize, key: u64, members: u64): void {
  if (load<u32>(heldAt(), SLOTS) == load<u32>(heldAt(), SLOTS_ROOM)) growSlots();
  const builder = heldAt(), slots = load<u32>(builder, SLOTS);
  writeSlot(slotsAt(builder) + <usize>slots * SLOT_BYTES, key, leaf, members);
  store<u32>(builder, slots + 1, SLOTS);
}

/** Makes room for twice as many slots. What stands before them, and so the builder, moves down. */
function growSlots(): void {
  const room = load<u32>(heldAt(), SLOTS_ROOM), more = <usize>room * SLOT_BYTES;
  makeRoom(more);
  const from = heldAt(), to = from - more;
  memory.copy(to, from, slotsAt(from) + more - from);
  holdBackMore(more);
  store<u32>(to, 2 * room, SLOTS_ROOM);
}

// @ts-ignore: decorator
@inline function countIn(builder: usize, members: u64): void {
  store<u64>(builder, load<u64>(builder, LEAF_MEMBERS) + members, LEAF_MEMBERS);
  store<u64>(builder, load<u64>(builder, MEMBERS) + members, MEMBERS);
}

/** Appends `span` full containers from `key` on. They join full containers that end right before them. */
export function appendFull(key: u64, span: u64): void {
  const builder = heldAt();
  const inLeaf = load<u32>(builder, IN_LEAF);
  if (inLeaf) {
    const last = bufferedEntry(builder, inLeaf - 1);
    if (plainKind<Own>(last) == Kind.FULL && lastKeyOf(last) + 1 == key) {
      const joined = min(span, SPAN_MAX - plainSpan<Own>(last));
      setFull(last, plainSpan<Own>(last) + joined);
      countIn(builder, joined << 16);
      key += joined;
      span -= joined;
    }
  }
  while (span) {
    const part = min(span, SPAN_MAX);
    setFull(append(key, part << 16), part);
    key += part;
    span -= part;
  }
}

/** Ends the leaf here, unless it is small, and makes it roomy: the next entry begins a new leaf. */
export function endLeaf(): void {
  const builder = heldAt(), members = load<u64>(builder, LEAF_MEMBERS);
  if (!isOrdinary(builder)) {
    if (members >= LEAF_LEAST && load<u32>(builder, IN_LEAF) > ENTRIES_LEAST) writeWaiting(LEAF_LEAST - 1);
  } else if (load<u32>(builder, IN_LEAF) >= LEAF_LEAST) {
    writeLeaf(true);
  }
}

/** The least key that may be appended next. Wrong right after endLeaf(). */
export function nextKey(): u64 {
  const builder = heldAt(), inLeaf = load<u32>(builder, IN_LEAF);
  return inLeaf ? lastKeyOf(bufferedEntry(builder, inLeaf - 1)) + 1 : 0;    // empty only before the first
}

/** Writes the leaf buffer as a leaf, with its slot. */
function writeLeaf(roomy: bool): void {
  const entries = load<u32>(heldAt(), IN_LEAF);
  const leaf = allocateFresh(blockBytes(roomy ? ROOMY_BYTES : nodeBytes(0, entries)));
  let builder = heldAt();
  layEntries(leaf, bufferedEntry(builder, 0), entries);
  setRoomy(leaf, roomy);
  addLeaf(leaf, plainKey<Own>(bufferedEntry(builder, 0)), load<u64>(builder, LEAF_MEMBERS));
  builder = heldAt();                         // the slots may have grown
  store<u32>(builder, 0, IN_LEAF);
  store<u32>(builder, 0, ORDINARY);
  store<u64>(builder, 0, LEAF_MEMBERS);
}

/** Writes the directory and completes the arena. */
export function finish(): void {
  const builder = heldAt();
  const entries = load<u32>(builder, ENTRIES), members = load<u64>(builder, MEMBERS);
  if (!entries) { resetToEmpty(); return; }
  if (!load<u32>(builder, SLOTS)) {
    if (isOrdinary(builder) ? finishShort(bufferedEntry(builder, 0), entries) : finishPacked(entries)) return;
  }
  if (load<u32>(heldAt(), IN_LEAF)) {
    if (!isOrdinary(heldAt())) makeOrdinary();
    if (load<u32>(heldAt(), IN_LEAF)) writeLeaf(false);
  }
  let slots = load<u32>(heldAt(), SLOTS);
  const root = <usize>load<u32>(heldAt(), ROOM_FOR_ROOT);
  if (root && (slots == 1 || slots > ROOMY_SLOTS)) release(root, ROOMY_INNER);
  // One level of inner nodes at a time;
  // the slots of the nodes that are written replace those of their children.
  for (let level: u32 = 1; slots > 1; level++) {
    let written: u32 = 0;
    for (let from: u32 = 0; from < slots; from += INNER_MAX) {
      const held = min(INNER_MAX, slots - from);
      const roomy = root != 0 && level == 1 && slots <= ROOMY_SLOTS;
      const node = roomy ? root : allocateFresh(blockBytes(nodeBytes(level, held)));
      const first = slotsAt(heldAt()) + <usize>from * SLOT_BYTES;
      writeNode(node, level, held);
      setRoomy(node, roomy);
      memory.copy(node + NODE_HEADER, first, <usize>held * SLOT_BYTES);
      let below: u64 = 0;
      for (let i: u32 = 0; i < held; i++) below += slotCardinality<Own>(slotAt(node, i));
      writeSlot(slotsAt(heldAt()) + <usize>written * SLOT_BYTES, slotKey<Own>(slotAt(node, 0)), node, below);
      written++;
    }
    slots = written;
  }
  store<u32>(0, load<u32>(slotsAt(heldAt()), 8), ROOT);
  setEntryTotal(entries);
  setTotalCardinality(members);
  letGo();
  if (members - 1 < ITEMS_MAX) packFull();    // 0 members are 2^64
}

/** Makes the arena a tiny one if its only container is a short bitset that fits one. */
function finishShort(entry: usize, entries: u32): bool {
  if (entries != 1 || plainKind<Own>(entry) != Kind.SHORT) return false;
  return beginTinyShort(plainKey<Own>(entry), plainCount<Own>(entry), plainBlock<Own>(entry));
}

/** Makes the arena a tiny one of the arrays that wait, which are all there is, if that takes least. */
function finishPacked(entries: u32): bool {
  let builder = heldAt();
  const members = <u32>load<u64>(builder, LEAF_MEMBERS), first = plainKey<Own>(bufferedEntry(builder, 0));
  const last = plainKey<Own>(bufferedEntry(builder, entries - 1)), bytes = tightBytes(first, last, members);
  const others = bumpMark() + <usize>entries * ENTRY_BYTES;   // without blocks
  if (others < bytes && others + blocksOfWaiting(builder, 0, entries) < bytes) return false;
  makeRoom(bytes);                            // moves the builder out of the way
  builder = heldAt();
  beginTight(0, first, last, members);
  memory.copy(lowsFrom<Own>(0, 0), waitingLow(builder, 0), arrayBytes(members));
  putWaitingKeys(0, builder, 0, entries);
  return true;
}
