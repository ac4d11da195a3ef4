// Tables: from the hashes of names to their ids. A table has all names whose hashes, of 32 bits, begin with the
// same bits, its prefix. The hash of a name is compared before the name itself, so few names are read in vain.
//
//   +0   u8  form = 5
//   +1   u8  bits of the prefix
//   +2   u8  bytes of a tag, 2 to 4: the lower bytes of a hash. The others are in the prefix
//   +3   u8  bytes of an id, 2 to 4
//   +4   u32 entries
//   +8   u32 slots in which entries belong
//   +12  u32 all slots
//   +16  u32 prefix: the least hash that belongs here
//   +20  u32 0
//   +24  slots: id and tag, little endian. An empty slot has all bits set
//        8 bytes of any content
//
// Entries are in the order of their tags. An entry belongs in the slot that its hash says, in proportion: it is
// there or, if others are in the way, further behind, with no empty slot in between.

import { arena } from "../env/memory";
import { Memory, Own, Left, view32, view64, view8 } from "../env/view";

/** No id has this number. */
// @ts-ignore: decorator
@inline export const NO_ID: u32 = 0xffffffff;
/**
 * A table is rebuilt when FULL tenths of its slots have entries, and then has entries in BUILT tenths of them.
 */
// @ts-ignore: decorator
@inline const FULL: u64 = 9, BUILT: u64 = 8, ALL: u64 = 10;
/** Slots behind those in which entries belong. */
// @ts-ignore: decorator
@inline const SPARE: u32 = 16;
/** Tables are not divided further: they would be small only if names had been chosen for that. */
// @ts-ignore: decorator
@inline const DEPTH_MOST: u32 = 24;

/** How the slots of a table are laid out. */
@final @unmanaged export class Layout {
  // The bits of an id in the lowest byte, those of an entry in the next one, those of the prefix in the third.
  @inline static of<M extends Memory>(): u32 {
    return Layout.from(view8<M>(0, 1), view8<M>(0, 2), view8<M>(0, 3));
  }

  @inline static from(depth: u32, tagBytes: u32, idBytes: u32): u32 {
    return (depth << 16) | ((tagBytes + idBytes) << 11) | (idBytes << 3);
  }

  @inline static idBits(layout: u32): u64 { return layout & 0xff; }
  @inline static entryBytes(layout: u32): usize { return (layout >> 11) & 15; }
  @inline static depth(layout: u32): u32 { return layout >> 16; }
  /** All bits of an entry. */
  @inline static mask(layout: u32): u64 {
    return u64.MAX_VALUE >> (64 - (<u64>Layout.entryBytes(layout) << 3));
  }

  @inline static idMask(layout: u32): u64 { return (<u64>1 << Layout.idBits(layout)) - 1; }
  @inline static tagMask(layout: u32): u32 { return Layout.tagIn(Layout.mask(layout), layout); }
  @inline static tagIn(entry: u64, layout: u32): u32 { return <u32>(entry >> Layout.idBits(layout)); }
}

/** A table in memory M, or in memory 0. */
export abstract class Table {
  @inline static readonly FORM: u32 = 5;
  @inline static readonly SLOTS: usize = 24;
  /** Bytes behind the slots, which are read with the last one. */
  @inline static readonly BEHIND: usize = 8;

  @inline static isTable<M extends Memory>(): bool { return view8<M>(0, 0) == Table.FORM; }
  @inline static entries<M extends Memory>(): u32 { return view32<M>(0, 4); }
  @inline static slots<M extends Memory>(): u32 { return view32<M>(0, 8); }
  @inline static allSlots<M extends Memory>(): u32 { return view32<M>(0, 12); }
  @inline static prefix<M extends Memory>(): u32 { return view32<M>(0, 16); }

  /** The slot in which an entry with this tag, or hash, belongs. */
  @inline static home(tag: u32, slots: u32, layout: u32): u32 {
    return <u32>((<u64>(tag << Layout.depth(layout)) * slots) >> 32);
  }

  @inline static slotAt(slot: u32, layout: u32): usize {
    return Table.SLOTS + <usize>slot * Layout.entryBytes(layout);
  }

  /** What a slot holds. */
  @inline static entry<M extends Memory>(slot: u32, layout: u32): u64 {
    return view64<M>(Table.slotAt(slot, layout), 0) & Layout.mask(layout);
  }

  @inline static isEmpty(entry: u64, layout: u32): bool {
    return (entry & Layout.idMask(layout)) == Layout.idMask(layout);
  }

  @inline private static put(slot: u32, entry: u64, layout: u32): void {
    const at = Table.slotAt(slot, layout), mask = Layout.mask(layout);
    store<u64>(at, (load<u64>(at) & ~mask) | entry);
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  /** The first slot where an entry with this hash is, or would be. */
  static seek<M extends Memory>(hash: u32): u32 {
    const layout = Layout.of<M>(), all = Table.allSlots<M>(), tag = hash & Layout.tagMask(layout);
    let slot = Table.home(hash, Table.slots<M>(), layout);
    for (; slot < all; slot++) {
      const entry = Table.entry<M>(slot, layout);
      if (Layout.tagIn(entry, layout) >= tag || Table.isEmpty(entry, layout)) break;
    }
    return slot;
  }

  /** The id of the `nth` entry with this hash, counted from 0; NO_ID if there is none. */
  static idOf<M extends Memory>(hash: u32, nth: u32): u32 {
    const layout = Layout.of<M>(), slot = Table.seek<M>(hash) + nth, all = Table.allSlots<M>();
    const entry = slot < all ? Table.entry<M>(slot, layout) : u64.MAX_VALUE;
    const isSame = Layout.tagIn(entry, layout) == (hash & Layout.tagMask(layout));
    return isSame && !Table.isEmpty(entry, layout) ? <u32>(entry & Layout.idMask(layout)) : NO_ID;
  }

  /** The slot of the entry with this hash and id; allSlots() if there is none. */
  static find<M extends Memory>(hash: u32, id: u32): u32 {
    const layout = Layout.of<M>(), all = Table.allSlots<M>(), tag = hash & Layout.tagMask(layout);
    for (let slot = Table.seek<M>(hash); slot < all; slot++) {
      const entry = Table.entry<M>(slot, layout);
      if (Layout.tagIn(entry, layout) != tag || Table.isEmpty(entry, layout)) break;
      if (<u32>(entry & Layout.idMask(layout)) == id) return slot;
    }
    return all;
  }

  // --- Changing --------------------------------------------------------------------------------------------

  /** Whether an entry with this id can be inserted. */
  static takes(id: u32): bool {
    const layout = Layout.of<Own>(), all = Table.allSlots<Own>();
    return <u64>id < Layout.idMask(layout) && (<u64>Table.entries<Own>() + 1) * ALL <= <u64>all * FULL
      && Table.isEmpty(Table.entry<Own>(all - 1, layout), layout);
  }

  /** Inserts an entry that takes() allows. */
  static insert(hash: u32, id: u32): void {
    const layout = Layout.of<Own>(), slot = Table.seek<Own>(hash);
    let empty = slot;
    while (!Table.isEmpty(Table.entry<Own>(empty, layout), layout)) empty++;
    const at = Table.slotAt(slot, layout);
    memory.copy(at + Layout.entryBytes(layout), at, <usize>(empty - slot) * Layout.entryBytes(layout));
    Table.put(slot, (<u64>(hash & Layout.tagMask(layout)) << Layout.idBits(layout)) | id, layout);
    store<u32>(0, Table.entries<Own>() + 1, 4);
  }

  /** Removes the entry in `slot`. */
  static remove(slot: u32): void {
    const layout = Layout.of<Own>(), all = Table.allSlots<Own>(), slots = Table.slots<Own>();
    let end = slot + 1;
    for (; end < all; end++) {
      const entry = Table.entry<Own>(end, layout);
      if (Table.isEmpty(entry, layout) || Table.home(Layout.tagIn(entry, layout), slots, layout) == end) break;
    }
    const at = Table.slotAt(slot, layout), bytes = Layout.entryBytes(layout);
    memory.copy(at, at + bytes, <usize>(end - 1 - slot) * bytes);
    Table.put(end - 1, Layout.mask(layout), layout);
    store<u32>(0, Table.entries<Own>() - 1, 4);
  }

  // --- Building --------------------------------------------------------------------------------------------

  /** The bytes of an id in a table that will have this id. */
  @inline static idBytesFor(id: u32): u32 { return id < 0xffff ? 2 : id < 0xffffff ? 3 : 4; }
  @inline static tagBytesFor(depth: u32): u32 { return depth < 8 ? 4 : depth < 16 ? 3 : 2; }
  /** The bytes of a new table with so many entries. */
  static bytesFor(entries: u32, layout: u32): u64 {
    return Table.SLOTS + (<u64>entries * ALL / BUILT + SPARE) * Layout.entryBytes(layout) + Table.BEHIND;
  }

  /**
   * Makes memory 0, of any content, a table without entries, and with so many slots behind those where they
   * belong.
   */
  static create(prefix: u32, layout: u32, spare: u32 = SPARE): void {
    const bytes = Layout.entryBytes(layout), room = <usize>arena.size() - Table.SLOTS - Table.BEHIND;
    const all = <u32>(room / bytes);
    const idBytes = <u32>Layout.idBits(layout) >> 3;
    store<u8>(0, Table.FORM);
    store<u8>(0, Layout.depth(layout), 1);
    store<u8>(0, <u32>bytes - idBytes, 2);
    store<u8>(0, idBytes, 3);
    store<u32>(0, all, 12);
    store<u32>(0, prefix, 16);
    store<u32>(0, 0, 20);
    Table.empty(all - spare);
  }

  /** Removes all entries; `slots` slots are then those in which entries belong. */
  private static empty(slots: u32): void {
    store<u32>(0, 0, 4);
    store<u32>(0, slots, 8);
    memory.fill(Table.SLOTS, 0xff, <usize>arena.size() - Table.SLOTS);
  }

  /**
   * Adds the entries of the table that `left` shows, from slot `from` to slot `to` - 1, to a table without
   * entries.
   */
  static take(from: u32, to: u32): void {
    while (!Table.takeInto(from, to)) {
      const slots = Table.slots<Own>();
      Table.empty(slots - (slots >> 4) - 1);
    }
  }

  /** Does take(); false if entries did not find a slot, because too many belong in the last ones. */
  private static takeInto(from: u32, to: u32): bool {
    const old = Layout.of<Left>(), layout = Layout.of<Own>();
    const slots = Table.slots<Own>(), all = Table.allSlots<Own>(), mask = Layout.mask(layout);
    let entries: u32 = 0, next: u32 = 0;
    for (let slot = from; slot < to; slot++) {
      const entry = Table.entry<Left>(slot, old);
      if (Table.isEmpty(entry, old)) continue;
      const tag = Layout.tagIn(entry, old) & Layout.tagMask(layout), id = entry & Layout.idMask(old);
      next = max(next, Table.home(tag, slots, layout));
      if (next >= all - 1) return false;
      // The bits above those of the entry belong to slots that are still empty.
      store<u64>(Table.slotAt(next++, layout), (<u64>tag << Layout.idBits(layout)) | id | ~mask);
      entries++;
    }
    store<u32>(0, entries, 4);
    return true;
  }

  /** Whether a table of this layout may be divided. */
  @inline static isDivisible(layout: u32): bool { return Layout.depth(layout) < DEPTH_MOST; }

  /**
   * The first slot of the upper half of memory 0's table: of the hashes that go on with a 1 behind the prefix.
   */
  static middle(): u32 {
    const layout = Layout.of<Own>(), all = Table.allSlots<Own>(), bit = <u32>1 << (31 - Layout.depth(layout));
    let low: u32 = 0;
    for (let slot: u32 = 0; slot < all; slot++) {
      const entry = Table.entry<Own>(slot, layout);
      if (!Table.isEmpty(entry, layout) && !(Layout.tagIn(entry, layout) & bit)) low = slot + 1;
    }
    return low;
  }

  /** Entries of memory 0's table from slot `from` to slot `to` - 1. */
  static countBetween(from: u32, to: u32): u32 {
    const layout = Layout.of<Own>();
    let entries: u32 = 0;
    for (let slot = from; slot < to; slot++) {
      entries += u32(!Table.isEmpty(Table.entry<Own>(slot, layout), layout));
    }
    return entries;
  }
}
