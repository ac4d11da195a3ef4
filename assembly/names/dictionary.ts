// A dictionary: names, and their ids. Ids count up from 0, and none is given twice.
//
// Few names are a single heap (heap.ts), in which a name is found by comparing it with all. A larger dictionary
// is a row of segments: heaps in the order of their ids, and behind them tables (table.ts) in the order of the
// hashes.
//
//   [ heap: 0 .. 7519 ] [ heap: 7520 .. 15039 ] [ ... ]   [ table: 000... ] [ table: 001... ] [ table: 01... ]
//
// A segment of which all names were deleted is removed, unless it is the last one: that one knows the next id.

import { argument, left, right, segments, Side } from "../env/memory";
import { Left, Memory, Own, view64, view8 } from "../env/view";
import { hashRecord } from "./hash";
import { Heap } from "./heap";
import { packName } from "./pack";
import { Record } from "./record";
import { NO_ID, Table } from "./table";
import { unpackName } from "./unpack";

/** The segment of id `i` has the key i, and that of hash h has the key TABLES + h. */
// @ts-ignore: decorator
@inline export const TABLES: u64 = <u64>1 << 32;
/** A key of the last heap. */
// @ts-ignore: decorator
@inline export const LAST_HEAP: u64 = TABLES - 1;

/**
 * The desk is a buffer of the host. Where it is memory 0, it has a record or a name at DESK_TEXT, and before
 * that its bytes as a u32. Behind that is room for another one. Eight bytes behind each have no meaning.
 * list.ts fills it with names.
 */
// @ts-ignore: decorator
@inline export const DESK_TEXT: usize = 8, DESK_OTHER: usize = 65568, DESK_BYTES: usize = 131136;

/** Whether `bytes` bytes at `a` of memory A are those at `b` of memory B. */
function areEqual<A extends Memory, B extends Memory>(a: usize, b: usize, bytes: usize): bool {
  for (; bytes >= 8; a += 8, b += 8, bytes -= 8) {
    if (view64<A>(a, 0) != view64<B>(b, 0)) return false;
  }
  for (; bytes; a++, b++, bytes--) {
    if (view8<A>(a, 0) != view8<B>(b, 0)) return false;
  }
  return true;
}

/** Whether the record at `a` of memory A is the one of `bytes` bytes at `b` of memory B. */
// @ts-ignore: decorator
@inline
export function isSameRecord<A extends Memory, B extends Memory>(a: usize, b: usize, bytes: usize): bool {
  return view8<A>(a, 0) == view8<B>(b, 0) && Record.bytes<A>(a) == bytes && areEqual<A, B>(a, b, bytes);
}

/** The id of the record of `bytes` bytes at `b` of memory B in a heap in memory A; NO_ID if it is not there. */
export function findInHeap<A extends Memory, B extends Memory>(b: usize, bytes: usize): u32 {
  const count: u32 = Heap.isNew<A>() ? 0 : Heap.count<A>();
  for (let i: u32 = 0, at = Heap.RECORDS; i < count; i++) {
    if (isSameRecord<A, B>(at, b, bytes)) return Heap.first<A>() + i;
    at += Record.bytes<A>(at);
  }
  return NO_ID;
}

/** The id of the record on the desk, whose hash is `hash`; `left` shows a dictionary of several segments. */
function findBehind(hash: u32, bytes: usize): u32 {
  let nth: u32 = 0;
  while (true) {
    segments.near(Side.LEFT, <u32>Table.SLOTS, TABLES + hash);
    const id = Table.idOf<Left>(hash, nth++);
    if (id == NO_ID) return NO_ID;
    segments.near(Side.LEFT, <u32>Heap.RECORDS, id);
    if (isSameRecord<Left, Own>(Heap.locate<Left>(id - Heap.first<Left>()), DESK_TEXT, bytes)) return id;
  }
}

/** Writes the record of operand `k`, a name, to the desk, which is memory 0. */
export function layOut(k: u32): usize {
  right.select(k);
  return packName(DESK_TEXT, 0, right.size());
}

/** The id of the record on the desk in operand 0, a dictionary; NO_ID if it is not there. */
export function findRecord(hash: u32, bytes: usize): u32 {
  left.select(0);
  return segments.are(Side.LEFT) ? findBehind(hash, bytes) : findInHeap<Left, Own>(DESK_TEXT, bytes);
}

/**
 * Replaces argument i - 1 by the id of operand i, for all `count` names, where (k0, k1) is the key for hashes.
 */
export function findNames(count: u32, k0: u64, k1: u64): void {
  for (let i: u32 = 1; i <= count; i++) {
    const bytes = layOut(i);
    argument.put(i - 1, findRecord(hashRecord<Own>(DESK_TEXT, bytes, k0, k1), bytes));
  }
}

/** Shows the first heap in `left` that may have names from `id` on; false if there is none. */
export function showHeap(id: u64): bool {
  segments.near(Side.LEFT, <u32>Heap.RECORDS, id);
  if (!Heap.isHeap<Left>()) return false;
  while (id >= Heap.next<Left>()) {
    if (!segments.next(Side.LEFT) || !Heap.isHeap<Left>()) return false;
  }
  return true;
}

/** The least id in the heap that `left` shows from `id` on that has a name; NO_ID if there is none. */
function nextInHeap(id: u64): u32 {
  const count = Heap.count<Left>(), first = Heap.first<Left>();
  const from: u32 = id < first ? 0 : <u32>id - first;
  for (let i = from, at = Heap.locate<Left>(from); i < count; i++) {
    if (!Record.isDead<Left>(at)) {
      store<u32>(0, unpackName(at, DESK_TEXT));
      return first + i;
    }
    at += Record.bytes<Left>(at);
  }
  return NO_ID;
}

/**
 * The least id from `id` on that has a name in operand 0; NO_ID if there is none. Memory 0 is the desk, which
 * gets the name.
 */
export function nameFrom(id: u64): u32 {
  left.select(0);
  for (; showHeap(id); id = Heap.next<Left>()) {
    const found = nextInHeap(id);
    if (found != NO_ID) return found;
  }
  return NO_ID;
}

/** The number of names of memory 0, a dictionary. */
export function countNames(): u64 {
  if (segments.are(Side.OWN)) return segments.members(Side.OWN);
  return Heap.isNew<Own>() ? 0 : Heap.live<Own>();
}
