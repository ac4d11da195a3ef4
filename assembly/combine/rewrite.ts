// The same set in an arena without freed blocks, payloads in the order of their keys. Leaves keep their room: were they packed full,
// the next member in each would split it, and the arena soon be as wasteful as before.

import { SELF, left, reply, right } from "../env/memory";
import { Right } from "../env/view";
import { HEADER_BYTES, TINY_MAX, TINY_PAYLOAD, alignedBump, blockBytes, makeRoom } from "../arena/arena";
import { KEY_MAX, Kind, entryKey, entryKind, entrySpan, payloadBytes } from "../arena/entry";
import { advance, entriesHeld, isLastOfLeaf, placeEntry, seek } from "../arena/directory";
import { appendFull, begin, endLeaf, finish } from "../arena/builder";
import { nodeBytes } from "../arena/node";
import { EMIT_BYTES, emit, emitCopy } from "./emit";
import { FOLD_BYTES, copyShape, entryShape, shape, shapeAt, shapeCount, shapeKind } from "./fold";
import { BITSET_BYTES, arrayBytes, runsBytes } from "../container/limits";
import { BUCKETS_FROM, bucketsToArray, plainBytes } from "../container/buckets";
import { arrayToRuns, bitsetToRuns, runsToArray, countRunsOfArray, countRunsOfBitset } from "../container/convert";

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
  makeRoom(EMIT_BYTES + FOLD_BYTES);
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
  if (kind == Kind.BITSET) {
    if (runsBytes(countRunsOfBitset(at)) >= BITSET_BYTES) { emitCopy(key, entry); return; }
    bitsetToRuns(at, work);
    emit(key, shape(Kind.RUNS, count, work));
    return;
  }
  let from = at;
  if (kind == Kind.BUCKETS) {
    bucketsToArray(at, count, work);
    left.select(SELF);
    from = work;
  }
  const runs = countRunsOfArray(from, count);
  if (runsBytes(runs) < plainBytes(count) && !(alone && tinyIsSmaller(count, runs))) {
    arrayToRuns(from, count, work + FOLD_BYTES);
    emit(key, shape(Kind.RUNS, count, work + FOLD_BYTES));
  } else if (kind == Kind.ARRAY && count >= BUCKETS_FROM) {
    emit(key, copyShape(s, work));
  } else emitCopy(key, entry);
}

/** Whether a tiny arena of `count` members is no larger than a full one whose only container is that many runs. */
function tinyIsSmaller(count: u32, runs: u32): bool {
  return count <= TINY_MAX && TINY_PAYLOAD + arrayBytes(count) <= HEADER_BYTES + blockBytes(nodeBytes(0, 1)) + blockBytes(runsBytes(runs));
}

/** An entry's bytes in a payload beside its members. */
// @ts-ignore: decorator
@inline const HEAD_BYTES: u64 = 16;

/**
 * Makes memory 0, which is fresh, a copy of what the bitmap that is operand 0 has from container `key` on, up to about `bytes` bytes of a
 * payload that names spans, and at least one entry. Hands over the first key that is left and returns 1, or returns 0 if none is.
 */
export function slice(key: u64, bytes: u32): u32 {
  right.select(0);
  begin(entriesHeld<Right>(), 0);
  let taken: u64 = 0, rest: u64 = KEY_MAX + 1;
  for (let place = key > KEY_MAX ? 0 : seek<Right>(key); place; place = advance<Right>(place)) {
    const entry = placeEntry(place), first = entryKey<Right>(entry);
    if (taken >= bytes) { rest = first; break; }
    if (entryKind<Right>(entry) == Kind.FULL) appendFull(first, entrySpan<Right>(entry)); else emitCopy(first, entry);
    taken += HEAD_BYTES + payloadBytes<Right>(entry);
  }
  finish();
  reply.member(rest);
  return u32(rest <= KEY_MAX);
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
