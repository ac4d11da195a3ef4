// The data that a builder (builder.ts) keeps while it works, at the arena's end, out of the allocator's
// reach:
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

import { Own } from "../../env/view";
import { arrayBytes } from "../../container/limits";
import { Block, allocateFresh } from "../layout/blocks";
import { Entry } from "../layout/entry";
import { growTo, heldAt, holdBack, holdBackMore, makeRoom, resetToFull } from "../layout/header";
import { Node, Slot } from "../layout/node";
import { ITEMS_MAX } from "../packed/layout";

// Where the fields are, as above. NEED_BLOCKS: whether an array that waits would need a block.

// @ts-ignore: decorator
@inline export const IN_LEAF: u32 = 0;
// @ts-ignore: decorator
@inline export const SLOTS: u32 = 4;
// @ts-ignore: decorator
@inline export const LEAF_MEMBERS: u32 = 8;
// @ts-ignore: decorator
@inline export const MEMBERS: u32 = 16;
// @ts-ignore: decorator
@inline export const ENTRIES: u32 = 24;
// @ts-ignore: decorator
@inline const LEAF_ROOM: u32 = 28;
// @ts-ignore: decorator
@inline export const ORDINARY: u32 = 32;
// @ts-ignore: decorator
@inline const LOWS_ROOM: u32 = 36;
// @ts-ignore: decorator
@inline export const NEED_BLOCKS: u32 = 40;
// @ts-ignore: decorator
@inline export const ROOM_FOR_ROOT: u32 = 44;
// @ts-ignore: decorator
@inline const SLOTS_ROOM: u32 = 48;
// @ts-ignore: decorator
@inline const LEAF: usize = 56;

/** Where the low of waiting member `index` stands. */
// @ts-ignore: decorator
@inline export function waitingLow(builder: usize, index: u32): usize {
  return builder + LEAF + arrayBytes(index);
}

// @ts-ignore: decorator
@inline export function bufferedEntry(builder: usize, index: u32): Entry {
  return changetype<Entry>(builder + LEAF + load<u32>(builder, LOWS_ROOM) + <usize>index * Entry.BYTES);
}

// @ts-ignore: decorator
@inline export function slotsAt(builder: usize): usize {
  return changetype<usize>(bufferedEntry(builder, load<u32>(builder, LEAF_ROOM)));
}

// @ts-ignore: decorator
@inline export function isOrdinary(builder: usize): bool { return load<u32>(builder, ORDINARY) != 0; }
/** The most members of a small array. */
// @ts-ignore: decorator
@inline export const SMALL_MAX: u32 = 32;

/** The most entries in the leaf buffer. */
// @ts-ignore: decorator
@inline function leafRoom(entries: u64): u32 { return <u32>min<u64>(entries, ITEMS_MAX + 1); }
/** Bytes of the buffer of lows. */
// @ts-ignore: decorator
@inline function lowsRoom(entries: u64): u32 {
  return <u32>(arrayBytes(<u32>min<u64>(entries * SMALL_MAX, ITEMS_MAX + SMALL_MAX)) + 7) & ~7;
}

/** Capacity of the slots at first. */
// @ts-ignore: decorator
@inline function slotsRoom(entries: u64): u64 { return min(entries, entries / Node.LEAF_MAX + 16); }

/** Bytes that the builder needs at first for its own data in an arena of at most `entries` entries. */
export function builderBytes(entries: u64): u64 {
  return <u64>LEAF + lowsRoom(entries) + <u64>leafRoom(entries) * Entry.BYTES
    + slotsRoom(entries) * Slot.BYTES;
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

/** A new entry at the end of the leaf buffer. */
// @ts-ignore: decorator
@inline export function newEntry(builder: usize, key: u64, members: u64): Entry {
  const index = load<u32>(builder, IN_LEAF);
  if (index >= load<u32>(builder, LEAF_ROOM)) unreachable();  // more entries than were announced
  store<u32>(builder, index + 1, IN_LEAF);
  store<u32>(builder, load<u32>(builder, ENTRIES) + 1, ENTRIES);
  countAppended(builder, members);
  const entry = bufferedEntry(builder, index);
  entry.setKey(key);
  return entry;
}

/** Writes an ordinary leaf with copies of `count` entries. */
// @ts-ignore: decorator
@inline export function layEntries(leaf: Node, entries: usize, held: u32): void {
  leaf.write(0, held);
  memory.copy(changetype<usize>(leaf) + Node.HEADER, entries, <usize>held * Entry.BYTES);
}

/** Adds a slot for a leaf. */
// @ts-ignore: decorator
@inline export function addLeaf(leaf: Node, key: u64, members: u64): void {
  if (load<u32>(heldAt(), SLOTS) == load<u32>(heldAt(), SLOTS_ROOM)) growSlots();
  const builder = heldAt(), slots = load<u32>(builder, SLOTS);
  changetype<Slot>(slotsAt(builder) + <usize>slots * Slot.BYTES).write(key, changetype<usize>(leaf), members);
  store<u32>(builder, slots + 1, SLOTS);
}

/** Makes room for twice as many slots. The data before them, and so the builder, moves down. */
function growSlots(): void {
  const room = load<u32>(heldAt(), SLOTS_ROOM), more = <usize>room * Slot.BYTES;
  makeRoom(more);
  const from = heldAt(), to = from - more;
  memory.copy(to, from, slotsAt(from) + more - from);
  holdBackMore(more);
  store<u32>(to, 2 * room, SLOTS_ROOM);
}

// @ts-ignore: decorator
@inline export function countAppended(builder: usize, members: u64): void {
  store<u64>(builder, load<u64>(builder, LEAF_MEMBERS) + members, LEAF_MEMBERS);
  store<u64>(builder, load<u64>(builder, MEMBERS) + members, MEMBERS);
}

/** Writes the leaf buffer as a leaf, with its slot. */
export function writeLeaf(roomy: bool): void {
  const entries = load<u32>(heldAt(), IN_LEAF);
  const leaf = changetype<Node>(allocateFresh(Block.bytes(roomy ? Node.ROOMY_BYTES : Node.bytes(0, entries))));
  let builder = heldAt();
  layEntries(leaf, changetype<usize>(bufferedEntry(builder, 0)), entries);
  leaf.setRoomy(roomy);
  addLeaf(leaf, bufferedEntry(builder, 0).plainKey<Own>(), load<u64>(builder, LEAF_MEMBERS));
  builder = heldAt();                         // the slots may have grown
  store<u32>(builder, 0, IN_LEAF);
  store<u32>(builder, 0, ORDINARY);
  store<u64>(builder, 0, LEAF_MEMBERS);
}
