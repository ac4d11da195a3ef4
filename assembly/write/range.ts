// Setting, clearing and flipping whole ranges of offsets, container by container. The containers at the two ends of the range are folded
// with a run; what lies between becomes one FULL entry, or nothing. The cost depends on the containers that were there, not on the length
// of the range.

import { SELF, left, right } from "../env/memory";
import { Own } from "../env/view";
import { BLOCK_MAX, allocate, blockBytes, isTiny, prepare, release } from "../arena/arena";
import {
  KEY_MAX, Kind, SPAN_MAX, entryCardinality, entryCount, entryKey, entryKind, entryLastKey, entryPayload, keyOf, lowOf, payloadBytes,
  setBlock, setFull, setPair, setSingle,
} from "../arena/entry";
import { advance, findEntry, placeEntry, seek } from "../arena/directory";
import { roomForEntries, promote, insertEntry, adjust, removeEntry } from "../arena/change";
import { isEmpty } from "../read/query";
import { normalized } from "../combine/emit";
import { Fold, fold } from "../combine/fold";
import { scratchBytes, Scratch, makeScratch, scratch } from "../combine/scratch";
import { shape, entryShape, shapeKind, copyShape, shapeCount, shapeAt, fullShape, shapeBytes } from "../combine/shape";
import { releaseContainer } from "./edit";
import { isolate } from "./point";
import { runsBytes, UNIVERSE, LOW_MAX } from "../container/limits";
import { writeRun } from "../container/run";

/** The largest block, and what aligning it may skip. */
// @ts-ignore: decorator
@inline const END_BYTES: usize = 64 + BLOCK_MAX;
/** More entries than an arena has room for. */
// @ts-ignore: decorator
@inline const ENTRIES_MAX: u64 = 1 << 24;
/** More bytes than an arena has. */
// @ts-ignore: decorator
@inline const BYTES_MAX: u64 = 0xffff0000;

/** Adds all offsets of the closed range [low, high]. */
export function setRange(low: u64, high: u64): void { changeRange(Fold.OR, low, high); }

/** Removes all offsets of the closed range [low, high]. */
export function clearRange(low: u64, high: u64): void {
  if (!isEmpty()) changeRange(Fold.ANDNOT, low, high);
}

/** Removes the members of the closed range [low, high], and adds its other offsets. */
export function flipRange(low: u64, high: u64): void { changeRange(Fold.XOR, low, high); }

function changeRange(op: Fold, low: u64, high: u64): void {
  let first = keyOf(low), last = keyOf(high);
  if (op == Fold.ANDNOT && firstKeyFrom(first) > last) return;
  prepare(roomToChange(op, first, last));     // all growth happens here, before anything is changed
  const from = lowOf(low), to = lowOf(high);
  if (first == last) { changeContainer(op, first, from, to); return; }
  if (from) changeContainer(op, first++, from, LOW_MAX);
  if (to != LOW_MAX) changeContainer(op, last--, 0, to);
  if (first > last) return;
  if (op == Fold.XOR) { flipContainers(first, last); return; }
  removeContainers(first, last);
  if (op == Fold.OR) insertFull(first, last);
}

/** The key of the first entry that covers `key` or a greater key; KEY_MAX + 1 if there is none. */
function firstKeyFrom(key: u64): u64 {
  const place = seek<Own>(key);
  return place ? entryKey<Own>(placeEntry(place)) : KEY_MAX + 1;
}

/** The most bytes that changing containers [first, last] allocates and works in. */
function roomToChange(op: Fold, first: u64, last: u64): usize {
  // Each of the two containers at the ends may be cut out of a FULL entry, which then is three; what lies between is FULL entries.
  let entries: u64 = 5 + (last - first) / SPAN_MAX, bytes: u64 = 2 * blockBytes(runsBytes(1));
  if (op == Fold.XOR || findEntry(first) || findEntry(last)) bytes += scratchBytes(Scratch.RIGHT) + 2 * END_BYTES;
  if (op == Fold.XOR) {
    for (let place = seek<Own>(first); place; place = advance<Own>(place)) {
      const entry = placeEntry(place);
      if (entryKey<Own>(entry) > last) break;
      entries++;                              // a FULL one before this one
      bytes += flippedBytes(entry);
    }
  }
  return <usize>min<u64>(bytes + roomForEntries(<u32>min<u64>(entries, ENTRIES_MAX)), BYTES_MAX);
}

/** The most bytes that the block of the entry's container takes once the container is complemented: it then has one run more. */
function flippedBytes(entry: usize): usize {
  const kind = entryKind<Own>(entry);
  if (kind == Kind.FULL) return 0;
  const runs = kind == Kind.BITSET ? <u32>BLOCK_MAX : kind == Kind.RUNS ? <u32>load<u16>(entryPayload<Own>(entry)) : entryCount<Own>(entry);
  const bytes = runsBytes(runs + 1);
  return bytes < BLOCK_MAX ? blockBytes(bytes) : END_BYTES;
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
  if (!entry) {
    putRange(insertEntry(key), from, to);
    adjust(key, to - from + 1);
    return;
  }
  makeScratch(Scratch.RIGHT);
  const run = scratch(Scratch.TEMP);
  writeRun(run, from, to);
  foldInto(op, entry, key, shape(Kind.RUNS, to - from + 1, run));
}

/** Gives the entry the container of [from, to]. The caller adjusts the sums. */
function putRange(entry: usize, from: u32, to: u32): void {
  const count = to - from + 1;
  if (count == 1) { setSingle(entry, from); return; }
  if (count == 2) { setPair(entry, from, to); return; }
  if (count == UNIVERSE) { setFull(entry, 1); return; }
  const at = allocate(runsBytes(1));
  writeRun(at, from, to);
  setBlock(entry, Kind.RUNS, count, at);
}

/** Folds the shape `r`, in memory 0, into the container `key` of `entry`, which is not FULL. Uses scratch room but for Scratch.TEMP. */
function foldInto(op: Fold, entry: usize, key: u64, r: u64): void {
  const first = scratch(Scratch.FIRST), second = scratch(Scratch.SECOND), before = entryCount<Own>(entry);
  left.select(SELF);
  right.select(SELF);
  let l = entryShape<Own>(entry);
  if (shapeKind(l) == Kind.BITSET) l = copyShape(l, first);   // a fold changes a bitset in place
  const folded = fold(op, SELF, l, SELF, r, shapeKind(l) == Kind.BITSET ? second : first, second);
  const count = shapeCount(folded);
  adjust(key, <i64>count - <i64>before);
  if (!count) {
    releaseContainer(entry);
    removeEntry(key);
    return;
  }
  const form = normalized(folded), oldBytes = payloadBytes<Own>(entry), oldAt = entryPayload<Own>(entry);
  put(entry, form);
  if (oldBytes) release(oldAt, oldBytes);     // only now: the first free lists' block would be laid over the scratch room
}

/** Gives the entry the container `form`, a normalized shape in scratch room. The caller adjusts the sums. */
function put(entry: usize, form: u64): void {
  const kind = shapeKind(form), count = shapeCount(form), at = shapeAt(form);
  if (kind == Kind.FULL) { setFull(entry, 1); return; }
  if (kind == Kind.ARRAY && count == 1) { setSingle(entry, load<u16>(at)); return; }
  if (kind == Kind.ARRAY && count == 2) { setPair(entry, load<u16>(at), load<u16>(at, 2)); return; }
  const bytes = shapeBytes<Own>(form), to = allocate(bytes);
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
      makeScratch(Scratch.RIGHT);
      foldInto(Fold.XOR, entry, key, fullShape());
    }
    first = end + 1;
  }
}
