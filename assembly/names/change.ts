// Changes of a dictionary, which is operand 0. segments.change() makes a segment of it memory 0, so that it may
// be changed; a dictionary of few names is a single segment. Where memory 0 is the desk, segments.leave() has
// done that.

import { argument, reply, right, segments, Side } from "../env/memory";
import { Own } from "../env/view";
import { DESK_TEXT, findRecord, LAST_HEAP, layOut, TABLES } from "./dictionary";
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

/**
 * Shows the heap where a record of so many bytes belongs, with room for it; returns whether there are tables.
 * Memory 0 is any segment.
 */
function makeRoomFor(bytes: usize, k0: u64, k1: u64): bool {
  let isLarge = segments.are(Side.OWN);
  if (!isLarge) {
    if (Heap.isNew<Own>()) Heap.create(0);
    isLarge = !Heap.isSmallWith(bytes, FEW, FEW_BYTES);
    if (isLarge) addTable(k0, k1);
  }
  if (isLarge) showHeap(bytes);
  else Heap.makeRoom(bytes);
  return isLarge;
}

/**
 * Adds the record of `bytes` bytes at `at` of `right`, which the dictionary does not have; returns its id, or
 * NO_ID if there are no ids left. Memory 0 is any segment. All memory is taken before anything is changed.
 */
export function appendRecord(hash: u32, at: usize, bytes: usize, k0: u64, k1: u64): u32 {
  const isLarge = makeRoomFor(bytes, k0, k1), id = <u32>Heap.next<Own>();
  if (id == NO_ID) return NO_ID;
  if (isLarge) {
    showTable(hash, id);
    Table.insert(hash, id);
    segments.change(LAST_HEAP);
  }
  right.copy(Heap.push(bytes, false), at, bytes);
  segments.note(Heap.live<Own>());
  return id;
}

/** Adds an id without a name. */
export function appendDead(k0: u64, k1: u64): void {
  makeRoomFor(1, k0, k1);
  store<u8>(Heap.push(1, true), 0);
}

/** Gives `first`, which has not been given, as the next id. Memory 0 is the last heap. */
export function beginAt(first: u32, k0: u64, k1: u64): void {
  if (Heap.isNew<Own>()) Heap.create(first);
  else if (!Heap.count<Own>()) Heap.clear(first);
  else if (Heap.next<Own>() != first) {
    if (!segments.are(Side.OWN)) addTable(k0, k1);
    segments.change(LAST_HEAP);
    addHeap(first);
  }
}

/** Shows the last heap, to be changed, and replies the next id: the host may take the dictionary back to it. */
export function beginAdding(): u64 {
  segments.change(LAST_HEAP);
  const next = Heap.isNew<Own>() ? 0 : Heap.next<Own>();
  reply.member(next);
  return next;
}

/**
 * Adds names that operand 0, a dictionary, does not have. Operands 1 to count - 1 are names, and operand
 * `count` is the desk, which is memory 0. Replaces argument i - 1 by the id of operand i. Returns how many have
 * been added, or NO_ID if there were too few ids.
 */
export function addNames(count: u32, k0: u64, k1: u64): u32 {
  let added: u32 = 0;
  for (let i: u32 = 1; i < count; i++) {
    segments.leave();
    const bytes = layOut(i), hash = hashRecord<Own>(DESK_TEXT, bytes, k0, k1);
    let id = findRecord(hash, bytes);
    if (id == NO_ID) {
      if (added++) segments.change(LAST_HEAP);
      else beginAdding();
      right.select(count);
      id = appendRecord(hash, DESK_TEXT, bytes, k0, k1);
      if (id == NO_ID) return NO_ID;
    }
    argument.put(i - 1, id);
  }
  return added;
}

// --- Removing ----------------------------------------------------------------------------------------------

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
 * Removes the segment of this id, whose ids are up to `end` - 1 and have no names, unless it is the last heap.
 */
function removeHeap(id: u32, end: u64): void {
  segments.change(LAST_HEAP);
  if (Heap.next<Own>() == end) return;
  segments.change(id);
  segments.remove();
}

/**
 * Removes the name of this id and hash, if it has not been removed; returns whether it has. Takes no memory.
 */
function removeName(hash: u32, id: u32): bool {
  segments.change(id);
  if (!hasName(id)) return false;
  Heap.remove(id - Heap.first<Own>());
  segments.note(Heap.live<Own>());
  if (segments.are(Side.OWN)) {
    const end = Heap.next<Own>(), isEmpty = !Heap.live<Own>();
    removeEntry(hash, id);
    if (isEmpty) removeHeap(id, end);
  }
  return true;
}

/** Makes the table of the hash smaller if most of its slots are empty. */
function trimTable(hash: u32): void {
  segments.change(TABLES + hash);
  if (!segments.are(Side.OWN)) return;
  const entries = Table.entries<Own>() + 1;
  if (entries * SPARSE + SPARSE_FROM < Table.allSlots<Own>()) rebuild(Layout.of<Own>(), entries);
}

/** Finds the names to remove: argument i - 1 becomes the id of operand i, and in its upper half the hash. */
function findRemoved(count: u32, k0: u64, k1: u64): void {
  for (let i: u32 = 1; i <= count; i++) {
    const bytes = layOut(i), hash = hashRecord<Own>(DESK_TEXT, bytes, k0, k1);
    argument.put(i - 1, (<u64>hash << 32) | findRecord(hash, bytes));
  }
}

/** Takes the memory that removing needs, if others share what is changed. */
function prepareRemoval(count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const found = argument.value(i);
    if (<u32>found == NO_ID) continue;
    segments.change(<u32>found);
    segments.change(TABLES + (found >> 32));
  }
}

/**
 * Removes names from operand 0, a dictionary. Operands 1 to `count` are names, and memory 0 is the desk.
 * Replies how many there were, once all have been removed: if memory runs out before that, nothing has changed.
 */
export function removeNames(count: u32, k0: u64, k1: u64): u32 {
  findRemoved(count, k0, k1);
  prepareRemoval(count);
  let removed: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const found = argument.value(i);
    if (<u32>found != NO_ID) removed += u32(removeName(<u32>(found >> 32), <u32>found));
  }
  reply.member(removed);
  for (let i: u32 = 0; i < count; i++) {
    const found = argument.value(i);
    if (<u32>found != NO_ID) trimTable(<u32>(found >> 32));
  }
  return removed;
}

// --- Taking back -------------------------------------------------------------------------------------------

/**
 * Removes what tables have of the records of memory 0's heap from number `index` on; returns how many names
 * these are.
 */
function removeEntriesFrom(index: u32, k0: u64, k1: u64): u32 {
  const count = Heap.count<Own>(), first = Heap.first<Own>(), isLarge = segments.are(Side.OWN);
  let names: u32 = 0;
  for (let i = index, at = Heap.locate<Own>(index); i < count; i++) {
    const bytes = Record.bytes<Own>(at), isDead = Record.isDead<Own>(at);
    if (!isDead) names++;
    if (!isDead && isLarge) {
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
  segments.change(LAST_HEAP);
  if (Heap.isNew<Own>()) return;
  for (; Heap.next<Own>() > next; segments.change(LAST_HEAP)) {
    const first = Heap.first<Own>(), index = next > first ? <u32>next - first : 0;
    const names = removeEntriesFrom(index, k0, k1);
    if (first <= next) Heap.truncate(index, names);
    else {
      // A heap that was there before has only been told to begin with a greater id.
      segments.change(next);
      const wasThere = Heap.first<Own>() == first;
      segments.change(LAST_HEAP);
      if (!wasThere) { segments.remove(); continue; }
      Heap.clear(<u32>next);
    }
    segments.note(Heap.live<Own>());
  }
}
