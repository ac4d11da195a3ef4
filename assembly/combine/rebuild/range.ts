// Sets, clears or flips a range of offsets in a copy of the bitmap. The containers before and after
// the range are copied, those in it are complemented or left out, all in one pass. The cost is that
// of the result: dropped containers are never read. write/range.ts decides when to do this rather
// than to change the bitmap in place.

import { SELF, right } from "../../env/memory";
import { Right } from "../../env/view";
import { Offset } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { appendFull, finish } from "../../arena/builder/builder";
import { begin } from "../../arena/builder/state";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Runs } from "../../container/run";
import { SPAN_ENTRIES, complementKeys } from "./complement";
import { Cursor } from "../walk/cursor";
import { emit } from "../shape/emit";
import { fold } from "../fold/fold";
import { copyKeys } from "./rewrite";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, sidesOf } from "../fold/sides";

/** A change to all offsets of a range. */
export const enum Change { SET, CLEAR, FLIP }

/** The fold of a container with the part of the range that lies in it. */
// @ts-ignore: decorator
@inline export function foldOfChange(change: Change): Fold {
  return change == Change.SET ? Fold.OR : change == Change.CLEAR ? Fold.ANDNOT : Fold.XOR;
}

/**
 * Makes memory 0, which is fresh, the bitmap of operand 0 with all offsets of the
 * closed range [low, high] changed.
 */
export function rebuildRange(change: Change, low: u64, high: u64): void {
  const from = Offset.low(low), to = Offset.low(high), last = Offset.key(high);
  let first = Offset.key(low);
  right.select(0);
  begin(2 * <u64>Directory.entriesHeld<Right>() + SPAN_ENTRIES + 3, Cursor.BYTES);
  if (first) copyKeys(0, first - 1);
  if (first == last) {
    appendFolded(change, first, from, to);
  } else {
    if (from) appendFolded(change, first++, from, Container.LOW_MAX);
    if (to == Container.LOW_MAX) {
      appendChanged(change, first, last);
    } else {
      appendChanged(change, first, last - 1);
      appendFolded(change, last, 0, to);
    }
  }
  if (last < Offset.KEY_MAX) copyKeys(last + 1, Offset.KEY_MAX);
  finish();
}

/** Appends container `key` of operand 0 with the offsets [from, to] changed. */
function appendFolded(change: Change, key: u64, from: u32, to: u32): void {
  right.select(0);
  const entry = Place.entry(Directory.seek<Right>(key));
  const l = entry && entry.key<Right>() <= key ? Shape.ofEntry<Right>(entry) : Shape.NOTHING;
  Places.make(Scratch.RIGHT);
  const run = Places.at(Scratch.SPARE);
  Runs.write(run, from, to);
  emit(key, fold(foldOfChange(change), sidesOf(0, SELF), l, Shape.of(Kind.RUNS, to - from + 1, run)));
  right.select(0);
}

/** Appends the containers [first, last] of operand 0, changed as a whole. There may be none. */
function appendChanged(change: Change, first: u64, last: u64): void {
  if (first > last || change == Change.CLEAR) return;
  if (change == Change.SET) { appendFull(first, last - first + 1); return; }
  Cursor.open(0, 0, first);
  complementKeys(first, last);
}
