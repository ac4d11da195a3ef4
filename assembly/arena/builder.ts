// Builds an arena from containers that arrive in the order of their keys: for the result of a combination, a payload that is read, or an
// arena that is rewritten. Payloads go to the bump mark one after the other, and the directory follows at the end. Nodes are as full as
// they can be unless the caller ends a leaf early. Nothing is freed on the way, so the arena has no holes.
//
// While it works, the builder keeps its own data at the arena's end, out of the allocator's reach:
//
//   +0   u32 entries in the leaf buffer     +4  u32 slots
//   +8   u64 members in the leaf buffer     +16 u64 members in all
//   +24  u32 entries in all                 +28 u32 capacity of the leaf buffer
//   +32  leaf buffer: entries
//        slots: one for each leaf that has been written
//        scratch bytes of the caller

import { Own } from "../env/view";
import {
  ROOT, FORM_TINY, TINY_MAX, TINY_PAYLOAD, TINY_WORDS, allocateFresh, blockBytes, holdBack, heldAt, letGo, resetToEmpty, resetToFull,
  growTo, setEntryTotal, setTotalCardinality,
} from "./arena";
import {
  ENTRY_BYTES, SPAN_MAX, Kind, entryKind, entryCount, entryKey, entrySpan, entryLastKey, entryPayload, isArray, setKey, setFull,
  setPosition, setTinyShort,
} from "./entry";
import {
  LEAF_MAX, SLOT_BYTES, ROOMY_BYTES, nodeBytes, writeNode, setRoomy, NODE_HEADER, writeSlot, INNER_MAX, slotCardinality, slotAt, slotKey,
} from "./node";
import { arrayBytes } from "../container/limits";
import { SHORT_HEADER_BYTES, wordsOf } from "../container/short";

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
@inline const LEAF: usize = 32;

// @ts-ignore: decorator
@inline function bufferedEntry(builder: usize, index: u32): usize { return builder + LEAF + <usize>index * ENTRY_BYTES; }
// @ts-ignore: decorator
@inline function slotsAt(builder: usize): usize { return bufferedEntry(builder, load<u32>(builder, LEAF_ROOM)); }

/** A leaf with this many entries or more may be ended before it is full. */
// @ts-ignore: decorator
@inline const LEAF_LEAST: u32 = LEAF_MAX / 2;

/** Bytes that the builder needs for its own data in an arena of at most `entries` entries. */
export function builderBytes(entries: u64): u64 {
  return <u64>LEAF + min<u64>(entries, LEAF_MAX) * ENTRY_BYTES + (entries / LEAF_LEAST + 1) * SLOT_BYTES;
}

/** Begins an arena of at most `entries` entries, with `scratch` bytes for the caller at the arena's end. */
export function begin(entries: u64, scratch: usize): void {
  const leafRoom = <u32>min<u64>(entries, LEAF_MAX), bytes = builderBytes(entries);
  if (bytes + scratch > 0xffffffff) growTo(bytes + scratch);  // more entries than an arena holds
  resetToFull();
  holdBack(<usize>bytes + scratch);
  const builder = heldAt();
  memory.fill(builder, 0, LEAF);
  store<u32>(builder, leafRoom, LEAF_ROOM);
}

/**
 * Appends an entry for `key`, which is greater than all before, and counts its `members`. Returns the entry, which the caller completes
 * with a set...() of entry.ts before anything is allocated.
 */
export function append(key: u64, members: u64): usize {
  let builder = heldAt();
  if (load<u32>(builder, IN_LEAF) == LEAF_MAX) {
    writeLeaf(false);
    builder = heldAt();
  }
  const index = load<u32>(builder, IN_LEAF);
  if (index >= load<u32>(builder, LEAF_ROOM)) unreachable();  // more entries than were announced
  store<u32>(builder, index + 1, IN_LEAF);
  store<u32>(builder, load<u32>(builder, ENTRIES) + 1, ENTRIES);
  count(builder, members);
  const entry = bufferedEntry(builder, index);
  setKey(entry, key);
  return entry;
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
    if (entryKind<Own>(last) == Kind.FULL && entryLastKey<Own>(last) + 1 == key) {
      const joined = min(span, SPAN_MAX - entrySpan<Own>(last));
      setFull(last, entrySpan<Own>(last) + joined);
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
  if (load<u32>(heldAt(), IN_LEAF) >= LEAF_LEAST) writeLeaf(true);
}

/** The least key that may be appended next. Wrong right after endLeaf(). */
export function nextKey(): u64 {
  const builder = heldAt(), inLeaf = load<u32>(builder, IN_LEAF);
  return inLeaf ? entryLastKey<Own>(bufferedEntry(builder, inLeaf - 1)) + 1 : 0;    // empty only before the first
}

/** Writes the leaf buffer as a leaf, with its slot. */
function writeLeaf(roomy: bool): void {
  const entries = load<u32>(heldAt(), IN_LEAF);
  const leaf = allocateFresh(blockBytes(roomy ? ROOMY_BYTES : nodeBytes(0, entries)));
  const builder = heldAt();
  writeNode(leaf, 0, entries);
  setRoomy(leaf, roomy);
  memory.copy(leaf + NODE_HEADER, bufferedEntry(builder, 0), <usize>entries * ENTRY_BYTES);
  const slots = load<u32>(builder, SLOTS);
  writeSlot(slotsAt(builder) + <usize>slots * SLOT_BYTES, entryKey<Own>(bufferedEntry(builder, 0)), leaf, load<u64>(builder, LEAF_MEMBERS));
  store<u32>(builder, slots + 1, SLOTS);
  store<u32>(builder, 0, IN_LEAF);
  store<u64>(builder, 0, LEAF_MEMBERS);
}

/** Writes the directory and completes the arena. */
export function finish(): void {
  const builder = heldAt();
  const entries = load<u32>(builder, ENTRIES), members = load<u64>(builder, MEMBERS);
  if (!entries) { resetToEmpty(); return; }
  if (entries == 1 && finishTiny(bufferedEntry(builder, 0))) return;
  if (load<u32>(builder, IN_LEAF)) writeLeaf(false);
  // One level of inner nodes at a time; the slots of the nodes that are written replace those of their children.
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

/** Makes the arena a tiny one if its only entry allows that. */
function finishTiny(entry: usize): bool {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry);
  if (kind == Kind.SHORT) {
    const header = load<u32>(payload), words = wordsOf(header), key = entryKey<Own>(entry), members = entryCount<Own>(entry);
    if (words > TINY_WORDS) return false;
    memory.copy(TINY_PAYLOAD, payload + SHORT_HEADER_BYTES, <usize>words << 3);
    store<u32>(0, FORM_TINY | (1 << 16));
    setKey(NODE_HEADER, key);
    setTinyShort(NODE_HEADER, members, header);
    return true;
  }
  if (!isArray(kind) || entryCount<Own>(entry) > TINY_MAX) return false;
  const low = load<u64>(entry), high = load<u32>(entry, 8);
  if (kind == Kind.ARRAY) memory.copy(TINY_PAYLOAD, payload, arrayBytes(entryCount<Own>(entry)));
  store<u32>(0, FORM_TINY | (1 << 16));
  store<u64>(0, low, 4);
  store<u32>(0, high, 12);
  if (kind == Kind.ARRAY) setPosition(NODE_HEADER, TINY_PAYLOAD);
  return true;
}
