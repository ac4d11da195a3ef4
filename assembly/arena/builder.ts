// Builds an arena from containers that arrive in the order of their keys: for the result of a combination, a
// payload that is read, or an arena that is rewritten. Payloads go to the bump mark one after the other, and
// the directory follows at the end. Nodes are as full as they can be unless the caller ends a leaf early.
// Nothing is freed on the way, so the arena has no holes.
//
// Lone members in a row become packed leaves. They wait in the leaf buffer until it is full or another
// container follows, because a bitmap of few lone members becomes a tiny arena.
//
// While it works, the builder keeps its own data at the arena's end, out of the allocator's reach:
//
//   +0   u32 entries in the leaf buffer     +4  u32 slots
//   +8   u64 members in the leaf buffer     +16 u64 members in all
//   +24  u32 entries in all                 +28 u32 capacity of the leaf buffer
//   +32  u32 1 if the leaf buffer has entries that are not SINGLE; entries count only once the next one is
//        appended
//   +40  leaf buffer: entries
//        slots: one for each leaf that has been written
//        scratch bytes of the caller

import { Own } from "../env/view";
import {
  ROOT, allocateFresh, blockBytes, holdBack, heldAt, letGo, resetToEmpty, resetToFull, growTo, setEntryTotal,
  setTotalCardinality, allocatePage, bumpMark, freedBytes, pageAfter,
} from "./arena";
import { ENTRY_BYTES, SPAN_MAX, plainKey, plainKind, plainOffset, plainSpan, setKey, setFull } from "./entry";
import { ITEMS_MAX, PAGE_BYTES, pageItems, widthOf } from "./packed";
import { packEntries } from "./leaf";
import { beginTiny } from "./forms";
import {
  LEAF_MAX, SLOT_BYTES, ROOMY_BYTES, nodeBytes, writeNode, setRoomy, NODE_HEADER, writeSlot, INNER_MAX,
  slotCardinality, slotAt, slotKey,
} from "./node";
import { Kind } from "../container/kind";

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
@inline const MIXED: u32 = 32;
// @ts-ignore: decorator
@inline const LEAF: usize = 40;

// @ts-ignore: decorator
@inline function bufferedEntry(builder: usize, index: u32): usize {
  return builder + LEAF + <usize>index * ENTRY_BYTES;
}

// @ts-ignore: decorator
@inline function slotsAt(builder: usize): usize {
  return bufferedEntry(builder, load<u32>(builder, LEAF_ROOM));
}

// @ts-ignore: decorator
@inline function lastKeyOf(entry: usize): u64 { return plainKey<Own>(entry) + plainSpan<Own>(entry) - 1; }

/** A leaf with this many entries or more may be ended before it is full. */
// @ts-ignore: decorator
@inline const LEAF_LEAST: u32 = LEAF_MAX / 2;
/** Lone members that wait in the leaf buffer at most. If there are no others, they fit a tiny arena. */
// @ts-ignore: decorator
@inline const LONE_MAX: u32 = ITEMS_MAX;
/**
 * When the leaf buffer is full, at most this many lone members stay in it: each page that is written is full.
 */
// @ts-ignore: decorator
@inline const LONE_LEFT: u32 = LONE_MAX / 2;

/** Bytes that the builder needs for its own data in an arena of at most `entries` entries. */
export function builderBytes(entries: u64): u64 {
  return <u64>LEAF + min<u64>(entries, LONE_MAX) * ENTRY_BYTES + (entries / LEAF_LEAST + 1) * SLOT_BYTES;
}

/** Begins an arena of at most `entries` entries, with `scratch` bytes for the caller at the arena's end. */
export function begin(entries: u64, scratch: usize): void {
  const leafRoom = <u32>min<u64>(entries, LONE_MAX), bytes = builderBytes(entries);
  if (bytes + scratch > 0xffffffff) growTo(bytes + scratch);  // more entries than an arena holds
  resetToFull();
  holdBack(<usize>bytes + scratch);
  const builder = heldAt();
  memory.fill(builder, 0, LEAF);
  store<u32>(builder, leafRoom, LEAF_ROOM);
}

/**
 * Appends an entry for `key`, which is greater than all before, and counts its `members`.
 * Returns the entry, which the caller completes with a set...() of entry.ts before anything is allocated.
 */
export function append(key: u64, members: u64): usize {
  let builder = heldAt(), index = load<u32>(builder, IN_LEAF);
  if (index && makeRoomInLeaf(builder, index)) {
    builder = heldAt();
    index = load<u32>(builder, IN_LEAF);
  }
  if (index >= load<u32>(builder, LEAF_ROOM)) unreachable();  // more entries than were announced
  store<u32>(builder, index + 1, IN_LEAF);
  store<u32>(builder, load<u32>(builder, ENTRIES) + 1, ENTRIES);
  count(builder, members);
  const entry = bufferedEntry(builder, index);
  setKey(entry, key);
  return entry;
}

/**
 * Makes room in the leaf buffer, which has `index` entries, for another one. True if leaves were written:
 * the builder may have moved.
 */
// @ts-ignore: decorator
@inline function makeRoomInLeaf(builder: usize, index: u32): bool {
  if (load<u32>(builder, MIXED)) {
    if (index < LEAF_MAX) return false;
    writeLeaf(false);
    return true;
  }
  if (plainKind<Own>(bufferedEntry(builder, index - 1)) != Kind.SINGLE) return noteMixed(builder, index);
  if (index < LONE_MAX) return false;
  drainLone(index, LONE_LEFT);
  return true;
}

/**
 * Notes that the last of the `index` buffered entries, and no other, is not SINGLE.
 * True if the others were written as leaves.
 */
function noteMixed(builder: usize, index: u32): bool {
  store<u32>(builder, 1, MIXED);
  if (index <= LEAF_LEAST) return false;
  drainLone(index - 1, LEAF_LEAST - 1);
  return true;
}

/**
 * Writes the first `lone` buffered entries, which are SINGLE,
 * as leaves, until at most `left` of them are left.
 */
function drainLone(lone: u32, left: u32): void {
  let written: u32 = 0;
  while (lone - written > left) {
    const first = bufferedEntry(heldAt(), written), rest = lone - written;
    let width: u32 = 4, items = min(rest, pageItems(width));
    while (widthOf(plainOffset(first), plainOffset(first + <usize>(items - 1) * ENTRY_BYTES)) > width) {
      items = min(rest, pageItems(++width));
    }
    const packs = pagePays();
    if (!packs) items = min(rest, LEAF_MAX);
    const leaf = packs ? allocatePage() : allocateFresh(blockBytes(nodeBytes(0, items)));
    const entries = bufferedEntry(heldAt(), written);
    if (packs) packEntries(leaf, entries, items); else layEntries(leaf, entries, items);
    addLeaf(leaf, plainKey<Own>(entries), items);
    written += items;
  }
  const builder = heldAt(), rest = load<u32>(builder, IN_LEAF) - written;
  memory.copy(bufferedEntry(builder, 0), bufferedEntry(builder, written), <usize>rest * ENTRY_BYTES);
  store<u32>(builder, rest, IN_LEAF);
  store<u64>(builder, load<u64>(builder, LEAF_MEMBERS) - written, LEAF_MEMBERS);
}

/** Whether aligning another page skips so little that the arena is not wasteful. */
function pagePays(): bool {
  const mark = bumpMark(), at = pageAfter(mark);
  return freedBytes() + (at - mark) <= (at + PAGE_BYTES) >> 2;
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
  const builder = heldAt(), slots = load<u32>(builder, SLOTS);
  writeSlot(slotsAt(builder) + <usize>slots * SLOT_BYTES, key, leaf, members);
  store<u32>(builder, slots + 1, SLOTS);
}

// @ts-ignore: decorator
@inline function count(builder: usize, members: u64): void {
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
      count(builder, joined << 16);
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
  let builder = heldAt(), inLeaf = load<u32>(builder, IN_LEAF);
  if (!inLeaf) return;
  if (makeRoomInLeaf(builder, inLeaf)) {
    builder = heldAt();
    inLeaf = load<u32>(builder, IN_LEAF);
  }
  if (inLeaf < LEAF_LEAST) return;
  if (load<u32>(builder, MIXED)) writeLeaf(true); else drainLone(inLeaf, LEAF_LEAST - 1);
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
  const builder = heldAt();
  layEntries(leaf, bufferedEntry(builder, 0), entries);
  setRoomy(leaf, roomy);
  addLeaf(leaf, plainKey<Own>(bufferedEntry(builder, 0)), load<u64>(builder, LEAF_MEMBERS));
  store<u32>(builder, 0, IN_LEAF);
  store<u32>(builder, 0, MIXED);
  store<u64>(builder, 0, LEAF_MEMBERS);
}

/** Writes the directory and completes the arena. */
export function finish(): void {
  const builder = heldAt();
  const entries = load<u32>(builder, ENTRIES), members = load<u64>(builder, MEMBERS);
  if (!entries) { resetToEmpty(); return; }
  if (entries == 1 && beginTiny(bufferedEntry(builder, 0))) return;
  if (load<u32>(builder, IN_LEAF) == entries && isAllLone(builder, entries)) {
    // Each item ends below the entry that it is made of.
    packEntries(0, bufferedEntry(builder, 0), entries);
    return;
  }
  finishLeaves();
  // One level of inner nodes at a time;
  // the slots of the nodes that are written replace those of their children.
  let slots = load<u32>(heldAt(), SLOTS);
  for (let level: u32 = 1; slots > 1; level++) {
    let written: u32 = 0;
    for (let from: u32 = 0; from < slots; from += INNER_MAX) {
      const held = min(INNER_MAX, slots - from);
      const node = allocateFresh(blockBytes(nodeBytes(level, held)));
      const first = slotsAt(heldAt()) + <usize>from * SLOT_BYTES;
      writeNode(node, level, held);
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
}

// @ts-ignore: decorator
@inline function isAllLone(builder: usize, inLeaf: u32): bool {
  return !load<u32>(builder, MIXED) && plainKind<Own>(bufferedEntry(builder, inLeaf - 1)) == Kind.SINGLE;
}

/** Writes what is left in the leaf buffer. */
function finishLeaves(): void {
  let inLeaf = load<u32>(heldAt(), IN_LEAF);
  if (inLeaf && !load<u32>(heldAt(), MIXED)) {
    if (isAllLone(heldAt(), inLeaf)) drainLone(inLeaf, LEAF_LEAST - 1); else noteMixed(heldAt(), inLeaf);
    inLeaf = load<u32>(heldAt(), IN_LEAF);
  }
  if (inLeaf) writeLeaf(false);
}
