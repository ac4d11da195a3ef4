// Whole ranges of offsets, into a bitmap or out of it, container-wise: two containers at the range's ends are folded with a run, what lies
// between is one FULL entry, or nothing. The cost is that of the containers that were there, whatever the range's length.

import { SELF, left, right } from "./memory";
import { Own } from "./view";
import { alignedBump, allocate, isTiny, makeRoom, release } from "./arena";
import {
  Kind, SPAN_MAX, entryCardinality, entryCount, entryKey, entryKind, entryLastKey, entryPayload, keyOf, lowOf,
  payloadBytes, setBlock, setFull, setPair, setSingle,
} from "./entry";
import { adjust, findEntry, insertEntry, placeEntry, promote, removeEntry, seek } from "./directory";
import { releaseContainer } from "./edit";
import { formBytes, settled } from "./emit";
import { FOLD_BYTES, Fold, copyShape, entryShape, fold, fullShape, shape, shapeAt, shapeCount, shapeKind } from "./fold";
import { isolate } from "./point";
import { isEmpty } from "./query";

// @ts-ignore: decorator
@inline const LOW_MAX: u32 = 65535;
/** Room for a fold's two results, the run it folds in, and what the result is settled into. */
// @ts-ignore: decorator
@inline const WORK_BYTES: usize = 64 + 5 * FOLD_BYTES;

/** Makes all of the closed range [low, high] members. */
export function setRange(low: u64, high: u64): void { changeRange(Fold.OR, low, high); }

/** Makes none of the closed range [low, high] a member. */
export function clearRange(low: u64, high: u64): void {
  if (!isEmpty()) changeRange(Fold.ANDNOT, low, high);
}

/** Makes what is a member in the closed range [low, high] none, and the reverse. */
export function flipRange(low: u64, high: u64): void { changeRange(Fold.XOR, low, high); }

function changeRange(op: Fold, low: u64, high: u64): void {
  let first = keyOf(low), last = keyOf(high);
  const from = lowOf(low), to = lowOf(high);
  if (first == last) { changeContainer(op, first, from, to); return; }
  if (from) changeContainer(op, first++, from, LOW_MAX);
  if (to != LOW_MAX) changeContainer(op, last--, 0, to);
  if (first > last) return;
  if (op == Fold.XOR) { flipContainers(first, last); return; }
  removeContainers(first, last);
  if (op == Fold.OR) insertFull(first, last);
}

/** Folds the run [from, to] into container `key`. */
function changeContainer(op: Fold, key: u64, from: u32, to: u32): void {
  let entry = findEntry(key);
  if (!entry && op == Fold.ANDNOT) return;
  if (isTiny<Own>()) { promote(); entry = findEntry(key); }
  if (entry && entryKind<Own>(entry) == Kind.FULL) {
    if (op == Fold.OR) return;
    entry = isolate(entry, key);
  }
  const there = entry != 0;
  if (!there) entry = insertEntry(key);
  makeRoom(WORK_BYTES);
  const run = alignedBump() + 2 * FOLD_BYTES;
  store<u16>(run, 1);
  store<u32>(run, from | ((to - from) << 16), 2);
  const mask = shape(Kind.RUNS, to - from + 1, run);
  if (there) {
    foldInto(op, entry, key, mask);
  } else {
    put(entry, settled(mask));
    adjust(key, shapeCount(mask));
  }
}

/** Folds the shape `r` in memory 0 into the container `key` of `entry`, which is not FULL. Two slots of work at the bump mark are free. */
function foldInto(op: Fold, entry: usize, key: u64, r: u64): void {
  const work = alignedBump(), before = entryCount<Own>(entry);
  left.select(SELF);
  right.select(SELF);
  let l = entryShape<Own>(entry);
  if (shapeKind(l) == Kind.BITSET) l = copyShape(l, work);    // a fold changes a bitset where it is
  const folded = fold(op, SELF, l, SELF, r, shapeKind(l) == Kind.BITSET ? work + FOLD_BYTES : work, work + FOLD_BYTES);
  const count = shapeCount(folded);
  adjust(key, <i64>count - <i64>before);
  if (!count) {
    releaseContainer(entry);
    removeEntry(key);
    return;
  }
  const form = settled(folded), oldBytes = payloadBytes<Own>(entry), oldAt = entryPayload<Own>(entry);
  put(entry, form);
  if (oldBytes) release(oldAt, oldBytes);     // only now: a first free list would be laid over the work
}

/** Makes the entry the container of a settled shape that lies above the bump mark. Its sums are the caller's. */
function put(entry: usize, form: u64): void {
  const kind = shapeKind(form), count = shapeCount(form), at = shapeAt(form);
  if (kind == Kind.FULL) { setFull(entry, 1); return; }
  if (kind == Kind.ARRAY && count == 1) { setSingle(entry, load<u16>(at)); return; }
  if (kind == Kind.ARRAY && count == 2) { setPair(entry, load<u16>(at), load<u16>(at, 2)); return; }
  const bytes = formBytes(form), to = allocate(bytes);
  memory.copy(to, at, bytes);                 // the block may begin where the shape does, or below
  setBlock(entry, kind, count, to);
}

/** Removes all containers [first, last]. */
function removeContainers(first: u64, last: u64): void {
  while (true) {
    const entry = placeEntry(seek<Own>(first));
    if (!entry || entryKey<Own>(entry) > last) return;
    const key = entryKey<Own>(entry), end = entryLastKey<Own>(entry);
    if (entryKind<Own>(entry) == Kind.FULL && key < first) {
      setFull(entry, first - key);            // keeps what lies before the range
      adjust(key, -<i64>((end - first + 1) << 16));
    } else {
      adjust(key, -<i64>entryCardinality<Own>(entry));
      releaseContainer(entry);
      removeEntry(key);
    }
    if (end > last) { insertFull(last + 1, end); return; }
  }
}

/** Inserts full containers [first, last], where there are none. */
function insertFull(first: u64, last: u64): void {
  if (isTiny<Own>()) promote();
  while (first <= last) {
    const span = min(last - first + 1, SPAN_MAX);
    setFull(insertEntry(first), span);
    adjust(first, span << 16);
    first += span;
  }
}

/** Complements all containers [first, last]. */
function flipContainers(first: u64, last: u64): void {
  while (first <= last) {
    const entry = placeEntry(seek<Own>(first));
    const key = entry ? max(first, entryKey<Own>(entry)) : last + 1;
    if (key > first) {
      insertFull(first, min(key - 1, last));
      first = key;
      continue;
    }
    const end = min(entryLastKey<Own>(entry), last);
    if (entryKind<Own>(entry) == Kind.FULL) {
      removeContainers(key, end);
    } else {
      if (isTiny<Own>()) { promote(); continue; }
      makeRoom(WORK_BYTES);
      foldInto(Fold.XOR, entry, key, fullShape());
    }
    first = end + 1;
  }
}
