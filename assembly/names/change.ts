// Changes of a dictionary. Memory 0 is one, and segments.change() shows its segments so that they may be
// changed.

import { right, segments, Side } from "../env/memory";
import { Own } from "../env/view";
import { DESK_TEXT, LAST_HEAP, TABLES } from "./dictionary";
import { hashRecord } from "./hash";
import { Heap, namesLimit } from "./heap";
import { Record } from "./record";
import { NO_ID, Layout, Table } from "./table";

/** The most names of a dictionary without tables, and their bytes. */
// @ts-ignore: decorator
@inline const FEW: u32 = 64, FEW_BYTES: usize = 2048;
/** A table is rebuilt when it has that many slots for each entry, and those of a small one. */
// @ts-ignore: decorator
@inline const SPARSE: u32 = 3, SPARSE_FROM: u32 = 128;
/** The bytes of a heap to begin with. */
// @ts-ignore: decorator
@inline const HEAP_BYTES: u32 = 4096;

/** Adds a table to a dictionary without one. It has so many spare slots that each entry finds one. */
function addTable(k0: u64, k1: u64): void {
  const count = Heap.count<Own>(), first = Heap.first<Own>();
  const layout = Layout.from(0, Table.tagBytesFor(0), Table.idBytesFor(first + count));
  segments.renew(0, TABLES, <u32>Table.bytesFor(Heap.live<Own>() + FEW, layout));
  segments.note(Heap.live<Own>());
  segments.change(TABLES);
  Table.create(0, layout, FEW + 1);
  segments.change(0);
  for (let i: u32 = 0, at = Heap.RECORDS; i < count; i++) {
    const bytes = Record.bytes<Own>(at);
    if (!Record.isDead<Own>(at)) {
      const hash = hashRecord<Own>(at, bytes, k0, k1);
      segments.change(TABLES);
      Table.insert(hash, first + i);
      segments.change(0);
    }
    at += bytes;
  }
}

/** Divides the table that is memory 0 in two. */
function divide(layout: u32): void {
  const depth = Layout.depth(layout) + 1, prefix = Table.prefix<Own>(), all = Table.allSlots<Own>();
  const upper = prefix | (<u32>1 << (32 - depth)), middle = Table.middle();
  const half = Layout.from(depth, Table.tagBytesFor(depth), <u32>Layout.idBits(layout) >> 3);
  const low = Table.countBetween(0, middle), high = Table.countBetween(middle, all);
  segments.renew(<u32>Table.bytesFor(low + 1, half), TABLES + upper, <u32>Table.bytesFor(high + 1, half));
  Table.create(prefix, half);
  Table.take(0, middle);
  segments.change(TABLES + upper);
  Table.create(upper, half);
  Table.take(middle, all);
}

/** Writes the table that is memory 0 anew. */
function rebuild(layout: u32, entries: u32): void {
  const prefix = Table.prefix<Own>(), all = Table.allSlots<Own>();
  segments.renew(<u32>Table.bytesFor(entries, layout), 0, 0);
  Table.create(prefix, layout);
  Table.take(0, all);
}

/** Shows the table of the hash, with room for an entry of `id`. */
function showTable(hash: u32, id: u32): void {
  segments.change(TABLES + hash);
  while (!Table.takes(id)) {
    const old = Layout.of<Own>(), depth = Layout.depth(old), entries = Table.entries<Own>() + 1;
    const idBytes = max(<u32>Layout.idBits(old) >> 3, Table.idBytesFor(id));
    const layout = Layout.from(depth, Table.tagBytesFor(depth), idBytes);
    const isLarge = Table.bytesFor(entries, layout) > <u64>namesLimit();
    if (isLarge && Table.isDivisible(layout)) divide(layout);
    else rebuild(layout, entries);
    segments.change(TABLES + hash);
  }
}

/** Adds a heap behind the last one, which is memory 0, and shows it. */
function addHeap(first: u32): void {
  segments.renew(0, first, min(HEAP_BYTES, <u32>namesLimit()));
  segments.change(first);
  Heap.create(first);
}

/** Shows the heap where a record of so many bytes belongs, with room for it. */
function showHeap(bytes: usize): void {
  segments.change(LAST_HEAP);
  if (!Heap.takes(bytes)) addHeap(<u32>Heap.next<Own>());
  Heap.makeRoom(bytes);
}

/** Writes the record of `bytes` bytes that is at `at` of `right` to the heap that is memory 0. */
function write(at: usize, bytes: usize): void { right.copy(Heap.push(bytes, false), at, bytes); }

/**
 * Adds the record of `bytes` bytes at `at` of `right`, which the dictionary does not have; returns its id, or
 * NO_ID if there are no ids left. All memory is taken before anything is changed.
 */
export function appendRecord(hash: u32, at: usize, bytes: usize, k0: u64, k1: u64): u32 {
  if (!segments.are(Side.OWN)) {
    if (Heap.isNew<Own>()) Heap.create(0);
    if (Heap.next<Own>() == NO_ID) return NO_ID;
    if (Heap.isSmallWith(bytes, FEW, FEW_BYTES)) {
      Heap.makeRoom(bytes);
      write(at, bytes);
      return <u32>Heap.next<Own>() - 1;
    }
    addTable(k0, k1);
  }
  showHeap(bytes);
  const id = <u32>Heap.next<Own>();
  if (id == NO_ID) return NO_ID;
  showTable(hash, id);
  Table.insert(hash, id);
  segments.change(LAST_HEAP);
  write(at, bytes);
  segments.note(Heap.live<Own>());
  return id;
}

/** Adds an id without a name. */
export function appendDead(): void {
  if (!segments.are(Side.OWN)) Heap.makeRoom(1);
  else showHeap(1);
  store<u8>(Heap.push(1, true), 0);
}

/** Gives `first` as the next id; false if that has been given. */
export function beginAt(first: u32, k0: u64, k1: u64): bool {
  if (segments.are(Side.OWN)) segments.change(LAST_HEAP);
  else if (Heap.isNew<Own>()) Heap.create(0);
  const next = Heap.next<Own>();
  if (first <= next) return first == next;
  if (!Heap.count<Own>()) {
    Heap.clear(first);
    return true;
  }
  if (!segments.are(Side.OWN)) addTable(k0, k1);
  segments.change(LAST_HEAP);
  addHeap(first);
  return true;
}

/**
 * Adds the name whose record is on the desk, operand 0; findName() has found that the dictionary does not have
 * it.
 */
export function addName(hash: u32, k0: u64, k1: u64): u32 {
  right.select(0);
  return appendRecord(hash, DESK_TEXT, right.load32(0, 0), k0, k1);
}

/** Removes the table's entry of this hash and id. */
function removeEntry(hash: u32, id: u32): void {
  segments.change(TABLES + hash);
  Table.remove(Table.find<Own>(hash, id));
}

/** Whether memory 0's heap has the id, with a name. */
function hasName(id: u32): bool {
  return Heap.has<Own>(id) && !Record.isDead<Own>(Heap.locate<Own>(id - Heap.first<Own>()));
}

/**
 * Removes the name of this id and hash, if it has not been removed; returns whether it has. Takes no memory.
 */
export function removeName(hash: u32, id: u32): bool {
  const isLarge = segments.are(Side.OWN);
  if (isLarge) segments.change(id);
  if (!hasName(id)) return false;
  Heap.remove(id - Heap.first<Own>());
  if (!isLarge) return true;
  segments.note(Heap.live<Own>());
  const end = Heap.next<Own>(), isEmpty = !Heap.live<Own>();
  removeEntry(hash, id);
  if (!isEmpty) return true;
  segments.change(LAST_HEAP);
  if (Heap.next<Own>() == end) return true;
  segments.change(id);
  segments.remove();
  return true;
}

/** Makes the table of the hash smaller if most of its slots are empty. */
export function trimTable(hash: u32): void {
  if (!segments.are(Side.OWN)) return;
  segments.change(TABLES + hash);
  const entries = Table.entries<Own>() + 1;
  if (entries * SPARSE + SPARSE_FROM < Table.allSlots<Own>()) rebuild(Layout.of<Own>(), entries);
}

/**
 * Removes the entries of the table for the records of memory 0's heap from number `index` on; returns how many.
 */
function removeEntriesFrom(index: u32, k0: u64, k1: u64): u32 {
  const count = Heap.count<Own>(), first = Heap.first<Own>();
  let names: u32 = 0;
  for (let i = index, at = Heap.locate<Own>(index); i < count; i++) {
    const bytes = Record.bytes<Own>(at);
    if (!Record.isDead<Own>(at)) {
      names++;
      removeEntry(hashRecord<Own>(at, bytes, k0, k1), first + i);
      segments.change(first);
    }
    at += bytes;
  }
  return names;
}

/**
 * Removes all ids from `next` on, as if they had not been given. Takes no memory if calls since then gave them.
 */
export function takeBackNames(next: u64, k0: u64, k1: u64): void {
  if (!segments.are(Side.OWN)) {
    if (Heap.isNew<Own>() || Heap.next<Own>() <= next) return;
    Heap.truncate(<u32>next - Heap.first<Own>(), <u32>(Heap.next<Own>() - next));
    return;
  }
  for (segments.change(LAST_HEAP); Heap.next<Own>() > next; segments.change(LAST_HEAP)) {
    const first = Heap.first<Own>(), index = next > first ? <u32>next - first : 0;
    const names = removeEntriesFrom(index, k0, k1);
    Heap.truncate(index, names);
    segments.note(Heap.live<Own>());
    if (!index && first > next) segments.remove();
  }
}

/** The id that the next name would get; memory 0 is a dictionary, which is only read. */
export function nextId(): u64 {
  segments.seek(Side.OWN, LAST_HEAP);
  return Heap.isNew<Own>() ? 0 : Heap.next<Own>();
}
