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
//   +48  u32 capacity of the slots          +52 u32 the most bytes of a segment
//   +56  u64 the least key that may be appended, of a leaf buffer without entries
//   +64  u64 1 if segments have been closed
//   +72  buffer of lows: u16 each
//        leaf buffer: entries
//        slots: one for each leaf that has been written
//        scratch bytes of the caller
//
// There is room for the slots of leaves that are full. Where leaves have few entries each, it grows.

import { arena } from "../../env/memory";
import { Own } from "../../env/view";
import { Container } from "../../container/limits";
import { Allocator, Block } from "../layout/blocks";
import { Entry } from "../layout/entry";
import { Arena } from "../layout/header";
import { Node, Slot } from "../layout/node";
import { Page } from "../packed/layout";

// Where the fields are, as above. NEED_BLOCKS: whether an array that waits would need a block.

/** The builder's own data, at the arena's end. */
@final @unmanaged
export class Builder {
  @inline static readonly IN_LEAF: u32 = 0;
  @inline static readonly SLOTS: u32 = 4;
  @inline static readonly LEAF_MEMBERS: u32 = 8;
  @inline static readonly MEMBERS: u32 = 16;
  @inline static readonly ENTRIES: u32 = 24;
  @inline static readonly LEAF_ROOM: u32 = 28;
  @inline static readonly ORDINARY: u32 = 32;
  @inline static readonly LOWS_ROOM: u32 = 36;
  @inline static readonly NEED_BLOCKS: u32 = 40;
  @inline static readonly ROOM_FOR_ROOT: u32 = 44;
  @inline static readonly SLOTS_ROOM: u32 = 48;
  @inline static readonly SEGMENT: u32 = 52;
  @inline static readonly NEXT_KEY: u32 = 56;
  @inline static readonly CLOSED: u32 = 64;
  @inline static readonly LEAF: usize = 72;
  /** More entries than this do not get more room at first. */
  @inline private static readonly ENTRIES_MOST: u64 = 1 << 15;
  /** The most members of a small array. */
  @inline static readonly SMALL_MAX: u32 = 32;

  /** Where the low of waiting member `index` stands. */
  /** The builder of the arena that is being built. It moves when the arena grows. */
  @inline static current(): Builder { return changetype<Builder>(Arena.heldAt()); }
  @inline waitingLow(index: u32): usize {
    return changetype<usize>(this) + Builder.LEAF + Container.arrayBytes(index);
  }

  @inline bufferedEntry(index: u32): Entry {
    return changetype<Entry>(changetype<usize>(this) + Builder.LEAF
      + load<u32>(changetype<usize>(this), Builder.LOWS_ROOM) + <usize>index * Entry.BYTES);
  }

  @inline slotsAt(): usize {
    return changetype<usize>(this.bufferedEntry(load<u32>(changetype<usize>(this), Builder.LEAF_ROOM)));
  }

  @inline isOrdinary(): bool { return load<u32>(changetype<usize>(this), Builder.ORDINARY) != 0; }

  /** The most entries in the leaf buffer. */
  @inline static leafRoom(entries: u64): u32 { return <u32>min<u64>(entries, Page.ITEMS_MAX + 1); }
  /** Bytes of the buffer of lows. */
  @inline static lowsRoom(entries: u64): u32 {
    return <u32>(Container.arrayBytes(
      <u32>min<u64>(entries * Builder.SMALL_MAX, Page.ITEMS_MAX + Builder.SMALL_MAX)) + 7) & ~7;
  }

  /** Capacity of the slots at first. */
  @inline static slotsRoom(entries: u64): u64 {
    return min(entries, min(entries, Builder.ENTRIES_MOST) / Node.LEAF_MAX + 16);
  }

  /** A new entry at the end of the leaf buffer. */
  @inline newEntry(key: u64, members: u64): Entry {
    const index = load<u32>(changetype<usize>(this), Builder.IN_LEAF);
    if (index >= load<u32>(changetype<usize>(this), Builder.LEAF_ROOM)) unreachable();
    // more entries than were announced
    store<u32>(changetype<usize>(this), index + 1, Builder.IN_LEAF);
    store<u32>(changetype<usize>(this), load<u32>(changetype<usize>(this), Builder.ENTRIES) + 1,
      Builder.ENTRIES);
    Builder.countAppended(this, members);
    const entry = this.bufferedEntry(index);
    entry.setKey(key);
    return entry;
  }

  /** Writes an ordinary leaf with copies of `count` entries. */
  @inline static layEntries(leaf: Node, entries: usize, held: u32): void {
    leaf.write(0, held);
    memory.copy(changetype<usize>(leaf) + Node.HEADER, entries, <usize>held * Entry.BYTES);
  }

  /** Adds a slot for a leaf. */
  @inline static addLeaf(leaf: Node, key: u64, members: u64): void {
    if (load<u32>(Arena.heldAt(), Builder.SLOTS) == load<u32>(Arena.heldAt(), Builder.SLOTS_ROOM)) {
      growSlots();
    }
    const builder = Builder.current(),
      slots = load<u32>(changetype<usize>(builder), Builder.SLOTS);
    changetype<Slot>(builder.slotsAt() + <usize>slots * Slot.BYTES).write(key, changetype<usize>(leaf),
      members);
    store<u32>(changetype<usize>(builder), slots + 1, Builder.SLOTS);
  }

  /** Forgets what has been appended, now that a segment is closed; the next key is at least `next`. */
  clear(next: u64): void {
    memory.fill(changetype<usize>(this), 0, Builder.LEAF_ROOM);
    store<u32>(changetype<usize>(this), 0, Builder.ORDINARY);
    store<u32>(changetype<usize>(this), 0, Builder.NEED_BLOCKS);
    store<u32>(changetype<usize>(this), 0, Builder.ROOM_FOR_ROOT);
    store<u64>(changetype<usize>(this), next, Builder.NEXT_KEY);
    store<u64>(changetype<usize>(this), 1, Builder.CLOSED);
  }

  /** Counts the members of a page that is appended as a whole, with its last key. */
  @inline countPage(groups: u32, members: u64, last: u64): void {
    const at = changetype<usize>(this);
    store<u32>(at, load<u32>(at, Builder.ENTRIES) + groups, Builder.ENTRIES);
    store<u64>(at, load<u64>(at, Builder.MEMBERS) + members, Builder.MEMBERS);
    store<u64>(at, last + 1, Builder.NEXT_KEY);
  }

  @inline static countAppended(builder: Builder, members: u64): void {
    store<u64>(changetype<usize>(builder),
      load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS) + members, Builder.LEAF_MEMBERS);
    store<u64>(changetype<usize>(builder), load<u64>(changetype<usize>(builder), Builder.MEMBERS) + members,
      Builder.MEMBERS);
  }
}

/** Bytes that the builder needs at first for its own data in an arena of at most `entries` entries. */
export function builderBytes(entries: u64): u64 {
  return <u64>Builder.LEAF + Builder.lowsRoom(entries) + <u64>Builder.leafRoom(entries) * Entry.BYTES
    + Builder.slotsRoom(entries) * Slot.BYTES;
}

/** Begins an arena of at most `entries` entries, with `scratch` bytes for the caller at the arena's end. */
export function begin(entries: u64, scratch: usize): void {
  const bytes = builderBytes(entries);
  if (bytes + scratch > 0xffffffff) Arena.growTo(bytes + scratch);  // more entries than an arena holds
  Arena.resetToFull();
  Arena.holdBack(<usize>bytes + scratch);
  const builder = Builder.current();
  memory.fill(changetype<usize>(builder), 0, Builder.LEAF);
  store<u32>(changetype<usize>(builder), Builder.leafRoom(entries), Builder.LEAF_ROOM);
  store<u32>(changetype<usize>(builder), Builder.lowsRoom(entries), Builder.LOWS_ROOM);
  store<u32>(changetype<usize>(builder), <u32>Builder.slotsRoom(entries), Builder.SLOTS_ROOM);
  limitSegments(arena.most());
}

/** Lets segments end when they might get more than `most` bytes. */
export function limitSegments(most: u32): void { store<u32>(Arena.heldAt(), most, Builder.SEGMENT); }

/** Makes room for twice as many slots. The data before them, and so the builder, moves down. */
function growSlots(): void {
  const room = load<u32>(Arena.heldAt(), Builder.SLOTS_ROOM), more = <usize>room * Slot.BYTES;
  Arena.makeRoom(more);
  const from = Arena.heldAt(), to = from - more;
  memory.copy(to, from, changetype<Builder>(from).slotsAt() + more - from);
  Arena.holdBackMore(more);
  store<u32>(to, 2 * room, Builder.SLOTS_ROOM);
}

/** Writes the leaf buffer as a leaf, with its slot. */
export function writeLeaf(roomy: bool): void {
  const entries = load<u32>(Arena.heldAt(), Builder.IN_LEAF);
  const leaf = changetype<Node>(
    Allocator.allocateFresh(Block.bytes(roomy ? Node.ROOMY_BYTES : Node.bytes(0, entries))));
  let builder = Builder.current();
  Builder.layEntries(leaf, changetype<usize>(builder.bufferedEntry(0)), entries);
  leaf.setRoomy(roomy);
  Builder.addLeaf(leaf, builder.bufferedEntry(0).plainKey<Own>(),
    load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS));
  builder = Builder.current();                         // the slots may have grown
  store<u32>(changetype<usize>(builder), 0, Builder.IN_LEAF);
  store<u32>(changetype<usize>(builder), 0, Builder.ORDINARY);
  store<u64>(changetype<usize>(builder), 0, Builder.LEAF_MEMBERS);
}
