// The same set in an arena without freed blocks, payloads in the order of their keys. Leaves keep their room: were they packed full,
// the next member in each would split it, and the arena soon be as wasteful as before.

import { SELF, left, right } from "./memory";
import { Right } from "./view";
import { HEADER_BYTES, TINY_MAX, TINY_PAYLOAD, alignedBump, blockBytes, makeRoom } from "./arena";
import { Kind, entryKey, entryKind, entrySpan } from "./entry";
import { advance, entriesHeld, isLastOfLeaf, nodeBytes, placeEntry, seek } from "./directory";
import { appendFull, begin, endLeaf, finish } from "./builder";
import { plainBytes } from "./edit";
import { emit, emitCopy } from "./emit";
import { FOLD_BYTES, copyShape, entryShape, shape, shapeAt, shapeCount, shapeKind } from "./fold";
import { arrayBytes, runsBytes } from "./container/limits";
import { arrayToRuns, bitsetToRuns, runsToArray, countRunsOfArray, countRunsOfBitset } from "./container/convert";

/**
 * Makes memory 0, which is fresh, the bitmap that is operand 0 in the least space: each container in its smallest form, full leaves.
 */
export function pack(): void {
  right.select(0);
  const entries = entriesHeld<Right>();
  begin(entries, 0);
  for (let place = seek<Right>(0); place; place = advance<Right>(place)) {
    const entry = placeEntry(place), key = entryKey<Right>(entry);
    if (entryKind<Right>(entry) == Kind.FULL) appendFull(key, entrySpan<Right>(entry));
    else packContainer(key, entry, entries == 1);
  }
  finish();
}

/** Appends the container in its smallest form: as runs if they are smaller than what it is. */
function packContainer(key: u64, entry: usize, alone: bool): void {
  const s = entryShape<Right>(entry), at = shapeAt(s), kind = shapeKind(s), count = shapeCount(s);
  makeRoom(64 + 2 * FOLD_BYTES);
  const work = alignedBump();
  if (kind == Kind.RUNS) {
    const copy = copyShape(s, work);
    if (alone && tinyIsSmaller(count, load<u16>(work))) {
      left.select(SELF);
      runsToArray(work, work + FOLD_BYTES);
      emit(key, shape(Kind.ARRAY, count, work + FOLD_BYTES));
    } else emit(key, copy);
    return;
  }
  left.select(0);
  const runs = kind == Kind.BITSET ? countRunsOfBitset(at) : countRunsOfArray(at, count);
  if (runsBytes(runs) >= plainBytes(count) || (alone && tinyIsSmaller(count, runs))) { emitCopy(key, entry); return; }
  if (kind == Kind.BITSET) bitsetToRuns(at, work); else arrayToRuns(at, count, work);
  emit(key, shape(Kind.RUNS, count, work));
}

/** Whether a tiny arena of `count` members is no larger than a full one whose only container is that many runs. */
function tinyIsSmaller(count: u32, runs: u32): bool {
  return count <= TINY_MAX && TINY_PAYLOAD + arrayBytes(count) <= HEADER_BYTES + blockBytes(nodeBytes(0, 1)) + blockBytes(runsBytes(runs));
}

/** Makes memory 0, which is fresh, a copy of the bitmap that is operand 0. */
export function rewrite(): void {
  right.select(0);
  begin(entriesHeld<Right>(), 0);
  for (let place = seek<Right>(0); place; place = advance<Right>(place)) {
    const entry = placeEntry(place), key = entryKey<Right>(entry);
    if (entryKind<Right>(entry) == Kind.FULL) appendFull(key, entrySpan<Right>(entry));
    else emitCopy(key, entry);
    if (isLastOfLeaf(place)) endLeaf();
  }
  finish();
}
