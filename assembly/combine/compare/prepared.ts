// One operand prepared to meet many others: operand 0. Its containers are made bitsets in memory 0, and a
// table says which keys it has. So a member of another operand costs a look into the table and one into a
// bitset, whatever containers there are, and counting a small operand costs no walk over operand 0.
//
// Below cursors 0 and 1, at the arena's end:
//
//   +0   u64 operand 0's first key
//   +8   u32 slots: keys from the first to the last one
//   +12  u32 containers of operand 0
//   and below that the slots, the one of the first key last, KEY_SLOT_BYTES each:
//     +0   u64 shape in operand 0, NOTHING if it has no container of this key
//     +8   u32 address of the bitset; that of one without members if it has no container
//
// Preparing pays where operand 0 has few containers, with few gaps between them.

import { SELF, Side, arena, right, segments, work } from "../../env/memory";
import { Right } from "../../env/view";
import { begin } from "../../arena/builder/state";
import { Group, Page } from "../../arena/packed/layout";
import { Kind } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Cursor } from "../walk/cursor";
import { foldCardinality } from "../fold/fold";
import { asBitset } from "../shape/expand";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Entry } from "../../arena/layout/entry";
import { Node } from "../../arena/layout/node";
import { sidesOf } from "../fold/sides";

/** Operand 0, prepared to be compared with many others. */
export abstract class Prepared {
  @inline private static readonly TABLE_HEADER: usize = 16;
  @inline private static readonly SLOTS: u32 = 8;
  @inline private static readonly CONTAINERS: u32 = 12;
  @inline private static readonly KEY_SLOT_BYTES: usize = 16;
  @inline private static readonly BITSET: u32 = 8;
  /** The most containers of operand 0: as bitsets they take a megabyte. */
  @inline private static readonly CONTAINERS_MAX: u32 = 128;
  /** Slots for each container of operand 0, at most: stepping over that many costs a seek. */
  @inline private static readonly SLOTS_EACH: u32 = 8;
  /**
   * The most members of a container that are looked up in the other operand's container: making a bitset of
   * the container, or reading one, would take longer.
   */
  @inline static readonly LOOKED_UP_MAX: u32 = 96;
  /** Members of a packed leaf that can be looked up in the time of a step to the next group. */
  @inline private static readonly LOOKUPS: u32 = 32;
  /** Lookups that count as a unit of work. */
  @inline private static readonly LOOKUPS_OF_WORK: u32 = 16;

  @inline private static header(): usize {
    return <usize>arena.size() - 2 * Cursor.BYTES - Prepared.TABLE_HEADER;
  }

  @inline private static firstSlotKey(): u64 { return load<u64>(Prepared.header()); }
  @inline private static slots(): u32 { return load<u32>(Prepared.header(), Prepared.SLOTS); }
  @inline private static keySlotAt(slot: u32): usize {
    return Prepared.header() - (<usize>slot + 1) * Prepared.KEY_SLOT_BYTES;
  }

  /** The place of the bitset of container `index`, behind that of the bitset without members. */
  @inline private static bitsetPlace(index: u32): usize {
    return Places.at(<Scratch>(<u32>Scratch.PLACES + 1 + index));
  }

  /**
   * Prepares containers `from` to `to` of operand 0, the only ones that then count, in memory 0, which is
   * fresh. Returns false if that does not pay; then memory 0 has to be begun anew.
   */
  static make(from: u64, to: u64): bool {
    begin(0, 2 * Cursor.BYTES + Prepared.TABLE_HEADER
    + <usize>(Prepared.SLOTS_EACH * Prepared.CONTAINERS_MAX) * Prepared.KEY_SLOT_BYTES);
    Cursor.open(0, 0, from);
    if (segments.are(Side.RIGHT)) return false;        // share() reads containers of operand 0 in any order
    const first = Cursor.keyOf(0);
    let containers: u32 = 0, end = first;
    while (Cursor.keyOf(0) <= to) {
      end = min(Cursor.lastKeyOf(0), to) + 1;
      if (end - Cursor.keyOf(0) > Prepared.CONTAINERS_MAX - containers) return false;
      containers += <u32>(end - Cursor.keyOf(0));
      Cursor.seek(0, end);
    }
    if (!containers || end - first > Prepared.SLOTS_EACH * containers) return false;
    Places.makeMany(<u32>Scratch.PLACES + 1 + containers);
    store<u64>(Prepared.header(), first);
    store<u32>(Prepared.header(), <u32>(end - first), Prepared.SLOTS);
    store<u32>(Prepared.header(), containers, Prepared.CONTAINERS);
    Prepared.fillSlots();
    return true;
  }

  private static fillSlots(): void {
    const none = Places.at(Scratch.PLACES);
    memory.fill(none, 0, BITSET_BYTES);
    Cursor.open(0, 0, Prepared.firstSlotKey());
    for (let slot: u32 = 0, index: u32 = 0, slots = Prepared.slots(); slot < slots; slot++) {
      const at = Prepared.keySlotAt(slot), key = Prepared.firstSlotKey() + slot;
      let s = Shape.NOTHING, bitset = none;
      if (Cursor.keyOf(0) == key) {
        s = Cursor.shapeOf(0);
        bitset = Prepared.bitsetPlace(index++);
        if (Shape.isFull(s)) memory.fill(bitset, 0xff, BITSET_BYTES);
        else asBitset(0, s, bitset);
        Cursor.seek(0, key + 1);
      }
      store<u32>(at, <u32>bitset, Prepared.BITSET);
      store<u64>(at, s);
    }
  }

  /** Members, modulo 2^64, that operand 0, which is prepared, shares with operand `other`. */
  static share(other: u32): u64 {
    const first = Prepared.firstSlotKey(), slots = Prepared.slots(),
      few = Prepared.LOOKUPS * load<u32>(Prepared.header(), Prepared.CONTAINERS);
    let members: u64 = 0;
    Cursor.open(1, other, first);
    while (Cursor.keyOf(1) != Cursor.NO_KEY && Cursor.keyOf(1) - first < slots) {
      const key = Cursor.keyOf(1), entry = Cursor.entryOf(1);
      let last = key;
      right.select(other);
      const rest = entry.isGroup() ? Prepared.membersFromEntry(entry) : 0;
      if (rest && rest <= few) {
        const leaf = changetype<Node>(Group.leaf<Right>(entry.group));
        last = leaf.page.keyAt<Right>(leaf.page.count<Right>() - 1);
        members += Prepared.countLeaf(leaf, Group.index(leaf.page, entry.group));
      } else {
        work.spend(1);
        members += Prepared.countContainer(other, Cursor.shapeOf(1), Prepared.keySlotAt(<u32>(key - first)));
      }
      Cursor.seek(1, last + 1);
    }
    return members;
  }

  /** Members of a packed leaf, which `right` shows, from the group of the entry on. */
  @inline private static membersFromEntry(entry: Entry): u32 {
    const leaf = changetype<Node>(Group.leaf<Right>(entry.group));
    return leaf.page.count<Right>() - Group.index(leaf.page, entry.group);
  }

  /** Members that operand 0 shares with a packed leaf, which `right` shows, from member `index` on. */
  private static countLeaf(leaf: Node, index: u32): u32 {
    const header = leaf.page.header<Right>(), width = Page.widthIn(header),
      count = leaf.page.count<Right>() - index;
    const from = leaf.page.baseIn<Right>(header) - Prepared.firstSlotKey(), slots = Prepared.slots(),
      table = Prepared.keySlotAt(0);
    let low = leaf.page.lowsIn(header) + Container.MEMBER_BYTES * <usize>index, members: u32 = 0;
    let at = leaf.page.highsIn(header) + <usize>(index * width);
    const end = low + Container.MEMBER_BYTES * <usize>count;
    work.spend(1 + count / Prepared.LOOKUPS_OF_WORK);
    for (; low < end; low += Container.MEMBER_BYTES, at += width) {
      const slot = Page.high<Right>(at, width) + from;
      if (slot >= slots) break;
      const value = right.load16(low, 0),
        bitset = load<u32>(table - <usize>slot * Prepared.KEY_SLOT_BYTES, Prepared.BITSET);
      members += (<u32>load<u8>(bitset + (value >> 3)) >> (value & 7)) & 1;
    }
    return members;
  }

  /** Members that the container `s` of operand `other` shares with that of the slot at `at`. */
  @inline private static countContainer(other: u32, s: u64, at: usize): u32 {
    const mine = load<u64>(at);
    if (!Shape.count(mine)) return 0;
    if (Shape.isFull(mine)) return Shape.count(s);
    if (Shape.isFull(s)) return Shape.count(mine);
    if (Shape.count(mine) <= Prepared.LOOKED_UP_MAX) return foldCardinality(sidesOf(other, 0), s, mine);
    let operand = other;
    if (Shape.kind(s) == Kind.RUNS) {            // counted with the bitset, it would change that
      s = asBitset(other, s, Places.at(Scratch.SPARE));
      operand = SELF;
    }
    const bitset = Shape.of(Kind.BITSET, Shape.count(mine), load<u32>(at, Prepared.BITSET));
    return foldCardinality(sidesOf(operand, SELF), s, bitset);
  }
}
