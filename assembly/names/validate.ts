// Checks the inside of a dictionary, all that the rest of its code relies on but the forms of its names.

import { arena, segments, Side } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { TABLES } from "./dictionary";
import { hashRecord } from "./hash";
import { Heap } from "./heap";
import { Record } from "./record";
import { Layout, Table } from "./table";

/** What is wrong with the places of records in the heap that is memory 0. */
function validateHeap(): Fault {
  const count = Heap.count<Own>(), used = Heap.used<Own>();
  const isRight = used >= Heap.RECORDS && used <= Heap.end<Own>() && Heap.end<Own>() <= <usize>arena.size();
  if (!isRight) return Fault.NAMES_MISPLACED;
  let at = Heap.RECORDS, live: u32 = 0, dead: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (at >= used || Heap.locate<Own>(i) != at) return Fault.NAMES_MISPLACED;
    const bytes = Record.bytes<Own>(at);
    if (Record.isDead<Own>(at)) dead += bytes - 1;
    else live++;
    at += bytes;
  }
  if (at != used || dead != Heap.dead<Own>()) return Fault.NAMES_MISPLACED;
  return live == Heap.live<Own>() ? Fault.NONE : Fault.TOTAL_ENTRIES;
}

/** Whether the tables have all names of the heap that is memory 0. */
function areInTables(k0: u64, k1: u64): bool {
  const count = Heap.count<Own>(), first = Heap.first<Own>(), shown = segments.at(Side.OWN);
  for (let i: u32 = 0, at = Heap.RECORDS; i < count; i++) {
    const bytes = Record.bytes<Own>(at);
    if (!Record.isDead<Own>(at)) {
      const hash = hashRecord<Own>(at, bytes, k0, k1);
      segments.seek(Side.OWN, TABLES + hash);
      if (!Table.isTable<Own>() || Table.find<Own>(hash, first + i) == Table.allSlots<Own>()) return false;
      segments.show(Side.OWN, shown);
    }
    at += bytes;
  }
  return true;
}

/** What is wrong with the order of entries in the table that is memory 0. */
function validateTable(): Fault {
  const layout = Layout.of<Own>(), all = Table.allSlots<Own>(), slots = Table.slots<Own>();
  if (Table.slotAt(all, layout) + Table.BEHIND > <usize>arena.size()) return Fault.TABLE_NOT_IN_ORDER;
  let entries: u32 = 0, before: u32 = 0, gap: u32 = 0;
  for (let slot: u32 = 0; slot < all; slot++) {
    const entry = Table.entry<Own>(slot, layout), tag = Layout.tagIn(entry, layout);
    if (Table.isEmpty(entry, layout)) {
      if (entry != Layout.mask(layout)) return Fault.TABLE_NOT_IN_ORDER;
      gap = slot + 1;
      continue;
    }
    const home = Table.home(tag, slots, layout);
    if (tag < before || home > slot || home < gap) return Fault.TABLE_NOT_IN_ORDER;
    before = tag;
    entries++;
  }
  return entries == Table.entries<Own>() ? Fault.NONE : Fault.TOTAL_ENTRIES;
}

/** What is wrong with the heaps of a dictionary that has tables; shows the first table. */
function validateHeaps(k0: u64, k1: u64): Fault {
  let next: u64 = 0;
  for (; Heap.isHeap<Own>(); segments.next(Side.OWN)) {
    if (Heap.first<Own>() < next) return Fault.IDS_NOT_ASCENDING;
    const fault = validateHeap();
    if (fault) return fault;
    if (!areInTables(k0, k1)) return Fault.TABLE_ENTRIES;
    next = Heap.next<Own>();
  }
  return Fault.NONE;
}

/** What is wrong with memory 0, a dictionary, where (k0, k1) is the key for hashes. */
export function validateNames(k0: u64, k1: u64): Fault {
  if (!segments.are(Side.OWN)) {
    if (Heap.isNew<Own>()) return Fault.NONE;
    return Heap.isHeap<Own>() ? validateHeap() : Fault.UNKNOWN_FORM;
  }
  const fault = validateHeaps(k0, k1);
  if (fault) return fault;
  let entries: u64 = 0, next: u64 = 0;
  do {
    if (!Table.isTable<Own>() || Table.prefix<Own>() != next) return Fault.TABLE_NOT_IN_ORDER;
    const wrong = validateTable();
    if (wrong) return wrong;
    entries += Table.entries<Own>();
    next += TABLES >> Layout.depth(Layout.of<Own>());
  } while (segments.next(Side.OWN));
  if (next != TABLES) return Fault.TABLE_NOT_IN_ORDER;
  return entries == segments.members(Side.OWN) ? Fault.NONE : Fault.TABLE_ENTRIES;
}
