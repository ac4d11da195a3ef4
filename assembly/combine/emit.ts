// The last step of building a container. A shape, in scratch room or in an operand, is normalized to the form that its cardinality asks
// for, and becomes an entry of the result and, where it needs one, a block at the bump mark.

import { SELF, left, right } from "../env/memory";
import { Right, Own } from "../env/view";
import { BLOCK_MAX, alignedBump, allocateFresh, blockBytes, bumpMark } from "../arena/arena";
import {
  lowOf, payloadBytes, plainCount, plainKind, plainPayload, setBlock, setPair, setSingle,
} from "../arena/entry";
import { isItem, itemOffset } from "../arena/packed";
import { append, appendFull } from "../arena/builder";
import { shapeBytes, shapeCount, shapeAt, shapeKind, fullShape, shape } from "./shape";
import { FOLD_BYTES } from "./scratch";
import { Kind, BUCKETS_FROM, leastBytes, prefersShort, wordsBetween } from "../container/kind";
import { arrayBytes, isArraySized, runsBytes, UNIVERSE } from "../container/limits";
import { member } from "../container/array";
import { arrayToBuckets, bucketsLast, bucketsSelect, bucketsToArray } from "../container/buckets";
import { runsToArray, runsToBitset } from "../container/convert";
import { bitsetToBuckets, extractMembers, EXTRACT_BYTES } from "../container/extract";
import { LANES_BYTES } from "../container/lanes";
import { runStart, runsLast } from "../container/run";
import {
  arrayToShort, bitsetToShort, runsToShort, shortToArray, shortToBitset, spanOfBitset, trimShort, wordsOf,
} from "../container/short";

/**
 * The shape `s`, in memory 0, in the form that its members ask for: FULL, or runs if nothing is smaller, otherwise a short bitset, an
 * array, buckets or a bitset. What `s` is converted to lies FOLD_BYTES or twice FOLD_BYTES above it. May leave `left` at SELF.
 */
export function normalized(s: u64): u64 {
  const count = shapeCount(s), kind = shapeKind(s);
  if (!count) return s;
  if (kind == Kind.ARRAY) return normalizedArray(s);
  if (kind == Kind.BUCKETS) return normalizedBuckets(s);
  if (kind == Kind.SHORT) return normalizedShort(s);
  if (count == UNIVERSE) return fullShape();
  return kind == Kind.BITSET ? normalizedBitset(s) : normalizedRuns(s);
}

function normalizedBitset(s: u64): u64 {
  const count = shapeCount(s), at = shapeAt(s), above = at + FOLD_BYTES, span = spanOfBitset<Own>(at);
  left.select(SELF);
  if (prefersShort(count, wordsOf(span))) {
    bitsetToShort(at, span, above);
    return shape(Kind.SHORT, count, above);
  }
  return isArraySized(count) ? extracted(at, count, above) : s;
}

/** Runs, unless something else is smaller. */
function normalizedRuns(s: u64): u64 {
  const count = shapeCount(s), at = shapeAt(s), above = at + FOLD_BYTES, low = runStart(at, 0), high = runsLast<Own>(at);
  const words = wordsBetween(low, high);
  if (runsBytes(load<u16>(at)) <= leastBytes(count, words)) return s;
  left.select(SELF);
  if (prefersShort(count, words)) {
    runsToShort(at, low, high, above);
    return shape(Kind.SHORT, count, above);
  }
  if (isArraySized(count)) return shrunk(s, above);
  runsToBitset(at, above);
  return shape(Kind.BITSET, count, above);
}

/** The short bitset without words that it does not need, or what is smaller. */
function normalizedShort(s: u64): u64 {
  const count = shapeCount(s), at = shapeAt(s), above = at + FOLD_BYTES;
  if (prefersShort(count, trimShort(at))) return s;
  left.select(SELF);
  if (isArraySized(count)) {
    shortToArray(at, above);
    return normalizedArray(shape(Kind.ARRAY, count, above));
  }
  shortToBitset(at, above);
  return shape(Kind.BITSET, count, above);
}

function normalizedBuckets(s: u64): u64 {
  const count = shapeCount(s), at = shapeAt(s), above = at + FOLD_BYTES;
  if (!prefersShort(count, wordsBetween(bucketsSelect(at, count, 0), bucketsLast<Own>(at, count)))) return s;
  left.select(SELF);
  bucketsToArray(at, count, above);
  return normalizedArray(shape(Kind.ARRAY, count, above));
}

/** The members of the bitset at `at` as buckets or an array at `out`. */
// @ts-ignore: decorator
@inline function extracted(at: usize, count: u32, out: usize): u64 {
  assert(LANES_BYTES + EXTRACT_BYTES <= FOLD_BYTES);          // `work` fits the place behind `out`
  const work = out + FOLD_BYTES + LANES_BYTES;
  if (count >= BUCKETS_FROM && bitsetToBuckets(at, count, out, work)) return shape(Kind.BUCKETS, count, out);
  extractMembers(at, count, out, work);
  return shape(Kind.ARRAY, count, out);
}

/** The runs `s` as buckets or an array at `out`, unless runs are the smallest of the three. */
// @ts-ignore: decorator
@inline function shrunk(s: u64, out: usize): u64 {
  const count = shapeCount(s);
  runsToArray(shapeAt(s), out);
  const form = normalizedArray(shape(Kind.ARRAY, count, out));
  return shapeKind(form) == Kind.ARRAY && runsBytes(load<u16>(shapeAt(s))) <= arrayBytes(count) ? s : form;
}

/** The array as a short bitset if that is smaller, or as buckets if it is large enough for that and they can hold it. */
function normalizedArray(s: u64): u64 {
  const count = shapeCount(s), at = shapeAt(s), above = at + FOLD_BYTES, low = load<u16>(at), high = member(at, count - 1);
  if (prefersShort(count, wordsBetween(low, high))) {
    left.select(SELF);
    arrayToShort(at, count, low, high, above);
    return shape(Kind.SHORT, count, above);
  }
  if (count < BUCKETS_FROM) return s;
  left.select(SELF);
  return arrayToBuckets(shapeAt(s), count, above, above) ? shape(Kind.BUCKETS, count, above) : s;
}

/**
 * Appends the shape `s` as container `key`, normalized. `s` lies in scratch room in memory 0, with twice FOLD_BYTES of room behind it. An
 * empty shape appends nothing. Leaves `left` anywhere.
 */
export function emit(key: u64, s: u64): void { emitAs(key, normalized(s)); }

/** Appends the shape `form`, in memory 0, as it is. */
export function emitAs(key: u64, form: u64): void {
  const count = shapeCount(form), at = shapeAt(form), kind = shapeKind(form);
  if (!count) return;
  if (kind == Kind.FULL) appendFull(key, 1);
  else if (kind == Kind.ARRAY && count <= 2) emitInline(key, at, count);
  else emitBlock(key, kind, at, count, shapeBytes<Own>(form));
}

/** Appends one or two members. */
function emitInline(key: u64, at: usize, count: u32): void {
  const first = load<u16>(at), second = load<u16>(at, 2);
  const entry = append(key, count);
  if (count == 1) setSingle(entry, first); else setPair(entry, first, second);
}

/** Moves the payload down to where its block begins and appends the entry. */
function emitBlock(key: u64, kind: Kind, at: usize, count: u32, bytes: usize): void {
  const size = blockBytes(bytes), to = size == BLOCK_MAX ? alignedBump() : bumpMark();
  if (to != at) memory.copy(to, at, bytes);
  allocateFresh(size);                        // its block begins at `to`
  setBlock(append(key, count), kind, count, to);
}

/** Appends a copy of the entry, which `right` shows and which is not FULL, as container `key`. */
export function emitCopy(key: u64, entry: usize): void {
  if (isItem(entry)) {
    const low = lowOf(itemOffset<Right>(entry));
    setSingle(append(key, 1), low);
    return;
  }
  const kind = plainKind<Right>(entry), count = plainCount<Right>(entry), payload = plainPayload<Right>(entry);
  if (kind >= Kind.SINGLE) {
    const first = right.load16(payload, 0), second = right.load16(payload, 2);
    const made = append(key, count);
    if (count == 1) setSingle(made, first); else setPair(made, first, second);
    return;
  }
  const bytes = payloadBytes<Right>(entry), size = blockBytes(bytes);
  const at = allocateFresh(size);
  right.copy(at, payload, bytes);
  setBlock(append(key, count), kind, count, at);
}
