// BITOP NOT: everything up to a last offset that the source does not have. Between the source's containers lie full ones, of which any
// number is one entry, so the complement of a far member costs no more than that of a near one.

import { SELF, left, right } from "../env/memory";
import { Right } from "../env/view";
import { maximumOf } from "../read/query";
import { alignedBump, bumpMark, makeRoom, resetToEmpty } from "../arena/arena";
import { Kind, keyOf, lowOf } from "../arena/entry";
import { entriesHeld } from "../arena/directory";
import { appendFull, begin, finish } from "../arena/builder";
import { CURSOR_BYTES, cursorEntry, cursorKey, cursorLastKey, closeCursor, openCursor, passCursor } from "./cursor";
import { emit } from "./emit";
import {
  FOLD_BYTES, FULL_COUNT, Fold, complement as complementShape, entryShape, fold, fullShape, shape, shapeCount, shapeKind,
} from "./fold";

/** Room for a mask, a fold's two results, and what emit() converts into. */
// @ts-ignore: decorator
@inline const WORK_BYTES: usize = 64 + 5 * FOLD_BYTES;
/** Most entries of a range of full containers, whatever its length: 2^48 keys, 2^45 an entry. */
// @ts-ignore: decorator
@inline const SPAN_ENTRIES: u64 = 8;

/**
 * Makes memory 0, which is fresh, what operand 0 does not have of [0, max(last, its greatest member)]; without `lastGiven`, of
 * [0, its greatest member]. With `sources` 0 there is no operand: a missing key, the empty bitmap.
 */
export function complement(sources: u32, last: u64, lastGiven: u32): void {
  let entries: u32 = 0;
  if (sources) {
    right.select(0);
    entries = entriesHeld<Right>();
  }
  if (!entries && !lastGiven) { resetToEmpty(); return; }
  const greatest = entries ? maximumOf<Right>() : 0;
  begin(2 * <u64>entries + SPAN_ENTRIES + 1, CURSOR_BYTES);
  if (entries) openCursor(0); else closeCursor(0);
  complementUpTo(lastGiven ? max(last, greatest) : greatest);
  finish();
}

function complementUpTo(limit: u64): void {
  const limitKey = keyOf(limit);
  let from: u64 = 0;
  while (cursorKey(0) < limitKey) {
    const key = cursorKey(0), last = cursorLastKey(0);
    if (key > from) appendFull(from, key - from);
    right.select(0);
    const s = entryShape<Right>(cursorEntry(0));
    if (shapeCount(s) < FULL_COUNT) emitAllBut(key, s);
    from = min(last, limitKey - 1) + 1;
    passCursor(0, from - 1);
  }
  if (limitKey > from) appendFull(from, limitKey - from);
  if (cursorKey(0) == limitKey) {
    right.select(0);
    emitRest(limitKey, upTo(lowOf(limit)), entryShape<Right>(cursorEntry(0)));
  } else {
    makeRoom(WORK_BYTES);
    emit(limitKey, upTo(lowOf(limit)));
  }
}

/** The offsets 0 .. `low` of a container, as one run above the bump mark. */
function upTo(low: u32): u64 {
  if (low == FULL_COUNT - 1) return fullShape();
  makeRoom(WORK_BYTES);
  const at = alignedBump();
  store<u16>(at, 1);
  store<u32>(at, low << 16, 2);
  return shape(Kind.RUNS, low + 1, at);
}

/** Appends all but the shape `s` that `right` shows of operand 0. What it becomes is written where its block will be. */
function emitAllBut(key: u64, s: u64): void {
  makeRoom(WORK_BYTES);
  left.select(0);
  emit(key, complementShape(0, s, shapeKind(s) == Kind.BITSET ? alignedBump() : bumpMark()));
}

/** Appends `all`, a shape in memory 0, less the shape `s` that `right` shows of operand 0. */
function emitRest(key: u64, all: u64, s: u64): void {
  makeRoom(WORK_BYTES);
  left.select(SELF);
  const at = alignedBump();
  emit(key, fold(Fold.ANDNOT, SELF, all, 0, s, at + FOLD_BYTES, at + 2 * FOLD_BYTES));
}
