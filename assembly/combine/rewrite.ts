// Copies of a bitmap, container by container, in an arena without freed blocks whose payloads lie in the order of their keys.

import { SELF, left, reply, right } from "../env/memory";
import { Right } from "../env/view";
import { HEADER_BYTES, TINY_MAX, TINY_PAYLOAD, blockBytes, setUnsettled, unsettled } from "../arena/arena";
import { KEY_MAX, Kind, entryKey, entryKind, entryLastKey, entrySpan, payloadBytes } from "../arena/entry";
import { advance, entriesHeld, isLastOfLeaf, placeEntry, seek } from "../arena/directory";
import { appendFull, begin, endLeaf, finish } from "../arena/builder";
import { nodeBytes } from "../arena/node";
import { emit, emitCopy } from "./emit";
import { entryShape, shapeAt, shapeKind, shapeCount, copyShape, shape } from "./shape";
import { makeScratch, Scratch, scratch } from "./scratch";
import { BITSET_BYTES, arrayBytes, isArraySized, runsBytes } from "../container/limits";
import { BUCKETS_FROM, bucketsToArray, plainBytes } from "../container/buckets";
import { arrayToRuns, bitsetToArray, bitsetToRuns, runsToArray, countRunsOfArray, countRunsOfBitset } from "../container/convert";

/** Makes memory 0, which is fresh, the bitmap of operand 0 in the least space: each container in its smallest form, leaves full. */
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

/** Appends the container in its smallest form: as runs if those are smaller than its present form. `alone`: it is the only one. */
function packContainer(key: u64, entry: usize, alone: bool): void {
  const s = entryShape<Right>(entry), at = shapeAt(s), kind = shapeKind(s), count = shapeCount(s);
  makeScratch(Scratch.SPARE);
  const first = scratch(Scratch.FIRST), second = scratch(Scratch.SECOND);
  if (kind == Kind.RUNS) {
    const copy = copyShape(s, first);
    if (alone && tinyIsSmaller(count, load<u16>(first))) {
      left.select(SELF);
      runsToArray(first, second);
      emit(key, shape(Kind.ARRAY, count, second));
    } else emit(key, copy);
    return;
  }
  left.select(0);
  if (kind == Kind.BITSET && !isArraySized(count)) {
    if (runsBytes(countRunsOfBitset(at)) >= BITSET_BYTES) { emitCopy(key, entry); return; }
    bitsetToRuns(at, first);
    emit(key, shape(Kind.RUNS, count, first));
    return;
  }
  let from = at;
  if (kind != Kind.ARRAY) {
    if (kind == Kind.BUCKETS) bucketsToArray(at, count, first); else bitsetToArray(at, first);
    left.select(SELF);
    from = first;
  }
  const runs = countRunsOfArray(from, count);
  if (runsBytes(runs) < plainBytes(count) && !(alone && tinyIsSmaller(count, runs))) {
    arrayToRuns(from, count, second);
    emit(key, shape(Kind.RUNS, count, second));
  } else if (kind == Kind.BITSET) {
    emit(key, shape(Kind.ARRAY, count, first));
  } else if (kind == Kind.ARRAY && count >= BUCKETS_FROM) {
    emit(key, copyShape(s, first));
  } else emitCopy(key, entry);
}

/** Whether a tiny arena of `count` members is at most as large as a full one whose only container is `runs` runs. */
function tinyIsSmaller(count: u32, runs: u32): bool {
  return count <= TINY_MAX && TINY_PAYLOAD + arrayBytes(count) <= HEADER_BYTES + blockBytes(nodeBytes(0, 1)) + blockBytes(runsBytes(runs));
}

/** Bytes of a container in a payload, beside its members. */
// @ts-ignore: decorator
@inline const HEAD_BYTES: u64 = 16;

/**
 * Makes memory 0, which is fresh, a copy of part of operand 0: from container `key` on, as many entries as take about `bytes` bytes in a
 * payload that can name spans, and at least one. Adds the first key that is left to the reply and returns 1, or returns 0 if none is left.
 */
export function slice(key: u64, bytes: u32): u32 {
  right.select(0);
  begin(min<u64>(entriesHeld<Right>(), bytes / HEAD_BYTES + 1), 0);
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

/** Makes memory 0, which is fresh, a copy of the bitmap of operand 0, with leaves that keep room. */
export function rewrite(): void {
  right.select(0);
  begin(entriesHeld<Right>(), 0);
  copyKeys(0, KEY_MAX);
  finish();
  if (unsettled<Right>()) setUnsettled(1);    // between two parts of a list that is added
}

/**
 * Appends copies of the containers [first, last] of operand 0, which `right` shows. Their leaves end where the source's end and keep room:
 * if they were packed full, the next insertion into each would split it, and the arena would soon be as wasteful as before.
 */
export function copyKeys(first: u64, last: u64): void {
  for (let place = seek<Right>(first); place; place = advance<Right>(place)) {
    const entry = placeEntry(place), key = max(entryKey<Right>(entry), first);
    if (key > last) return;
    if (entryKind<Right>(entry) == Kind.FULL) appendFull(key, min(entryLastKey<Right>(entry), last) - key + 1);
    else emitCopy(key, entry);
    if (isLastOfLeaf(place)) endLeaf();
  }
}
