// Several bitmaps into one, container by container. The walk goes through the directories of all sources in step. At each key it folds the
// containers that are there into one, which builder.ts appends: no bitmap is built on the way, and every source is read once.
//
// The walk goes by segments of keys [key, end] over which no source changes. Mostly a segment is one container. Where all sources that have
// the key are FULL, it is as long as the shortest of their spans, and the result is FULL or nothing without looking at a container.

import { right } from "../env/memory";
import { Right } from "../env/view";
import { KEY_MAX } from "../arena/entry";
import { entriesHeld } from "../arena/directory";
import { appendFull, begin, finish } from "../arena/builder";
import { BITSET_BYTES } from "../container/limits";
import { Count, Store, stores } from "../container/kernel";
import { CURSOR_BYTES, NO_KEY, cursorKey, cursorLastKey, openCursor, passCursor } from "./cursor";
import { Operation, combineContainers, fullResult, nextKey } from "./operation";

/** The most that a container takes, with its entry and its share of the directory. */
// @ts-ignore: decorator
@inline const CONTAINER_BYTES: u64 = BITSET_BYTES + 24;

/**
 * Bytes that the result may well take: an arena of that size need not grow while the result is built. An estimate from the sources' sizes;
 * the result may be larger.
 */
export function expectedBytes(op: Operation, sources: u32): u64 {
  let sum: u64 = 0, least = u64.MAX_VALUE, first: u64 = 0, entries: u64 = 0;
  for (let c: u32 = 0; c < sources; c++) {
    right.select(c);
    const size = <u64>right.size();
    sum += size;
    least = min(least, size);
    if (!c) first = size;
    entries = max<u64>(entries, entriesHeld<Right>());
  }
  if (op == Operation.AND) return least;
  if (op == Operation.DIFF || op == Operation.ANDOR) return first;
  // The complement of an array takes up to twice the array. Large sources mostly share their keys: then as many bitsets are the most.
  return min(op == Operation.NOT ? 2 * first : sum, entries * CONTAINER_BYTES);
}

/** Makes memory 0, which is fresh, the combination of operands 0 .. sources - 1. */
export function combine(op: Operation, sources: u32): void {
  openAll(sources);
  walk<Store>(op, sources);
  finish();
}

/** Members that combine() would store, modulo 2^64. Memory 0, which is fresh, is only worked in. */
export function combineCardinality(op: Operation, sources: u32): u64 {
  openAll(sources);
  return walk<Count>(op, sources);
}

/** Begins the result, and opens a cursor on every source. */
export function openAll(sources: u32): void {
  let entries: u64 = 0;
  for (let c: u32 = 0; c < sources; c++) {
    right.select(c);
    entries += entriesHeld<Right>();
  }
  begin(2 * entries + 1, <usize>sources * CURSOR_BYTES);      // a FULL entry may be cut at both ends of every other
  for (let c: u32 = 0; c < sources; c++) openCursor(c);
}

/** Walks all segments and appends their results (S = Store) or only counts them (S = Count). Returns the members, modulo 2^64. */
function walk<S>(op: Operation, sources: u32): u64 {
  let members: u64 = 0;
  while (true) {
    const key = nextKey(op, sources);
    if (key == NO_KEY) return members;
    const end = segmentEnd(key, sources);
    if (end == key) {
      members += combineContainers<S>(op, key, sources);
    } else if (fullResult(op, key, sources)) {
      if (stores<S>()) appendFull(key, end - key + 1);
      members += (end - key + 1) << 16;
    }
    for (let c: u32 = 0; c < sources; c++) passCursor(c, end);
  }
}

/** The last key up to which the same sources have the same entries as at `key`. */
function segmentEnd(key: u64, sources: u32): u64 {
  let end = KEY_MAX;
  for (let c: u32 = 0; c < sources; c++) {
    const at = cursorKey(c);
    end = min(end, at == key ? cursorLastKey(c) : at - 1);
  }
  return end;
}
