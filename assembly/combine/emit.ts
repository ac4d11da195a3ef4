// The last step of building a container. A shape, in scratch room or in an operand, is normalized to the form that its cardinality asks
// for, and becomes an entry of the result and, where it needs one, a block at the bump mark.

import { SELF, left, right } from "../env/memory";
import { Right, Own } from "../env/view";
import { BLOCK_MAX, alignedBump, allocateFresh, blockBytes, bumpMark } from "../arena/arena";
import { Kind, lowOf, payloadBytes, plainCount, plainKind, plainPayload, setBlock, setPair, setSingle } from "../arena/entry";
import { isItem, itemOffset } from "../arena/packed";
import { append, appendFull } from "../arena/builder";
import { shapeBytes, shapeCount, shapeAt, shapeKind, fullShape, shape } from "./shape";
import { FOLD_BYTES } from "./scratch";
import { arrayBytes, isArraySized, runsBytes, UNIVERSE } from "../container/limits";
import { BUCKETS_FROM, arrayToBuckets, plainBytes } from "../container/buckets";
import { runsToArray, runsToBitset } from "../container/convert";
import { bitsetToBuckets, extractMembers, EXTRACT_BYTES } from "../container/extract";
import { LANES_BYTES } from "../container/lanes";

/**
 * The shape `s`, in memory 0, in the form that its cardinality asks for: FULL, or runs if nothing is smaller, otherwise an array, buckets
 * or a bitset. What `s` is converted to lies FOLD_BYTES or twice FOLD_BYTES above it. Leaves `left` at SELF.
 */
export function normalized(s: u64): u64 {
  const count = shapeCount(s), at = shapeAt(s), kind = shapeKind(s);
  if (!count || kind == Kind.BUCKETS) return s;
  if (kind == Kind.ARRAY) return normalizedArray(s);
  if (count == UNIVERSE) return fullShape();
  if (kind == Kind.RUNS && runsBytes(load<u16>(at)) <= plainBytes(count)) return s;
  left.select(SELF);
  const above = at + FOLD_BYTES;
  if (isArraySized(count)) return kind == Kind.BITSET ? extracted(at, count, above) : shrunk(s, above);
  if (kind == Kind.BITSET) return s;
  runsToBitset(at, above);
  return shape(Kind.BITSET, count, above);
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

/** The array as buckets if it is large enough for that and they can hold it. */
function normalizedArray(s: u64): u64 {
  const count = shapeCount(s), above = shapeAt(s) + FOLD_BYTES;
  if (count < BUCKETS_FROM) return s;
  left.select(SELF);
  return arrayToBuckets(shapeAt(s), count, above, above) ? shape(Kind.BUCKETS, count, above) : s;
}

/**
 * Appends the shape `s` as container `key`, normalized. `s` lies in scratch room in memory 0, with twice FOLD_BYTES of room behind it. An
 * empty shape appends nothing. Leaves `left` anywhere.
 */
export function emit(key: u64, s: u64): void {
  const form = normalized(s), count = shapeCount(form), at = shapeAt(form), kind = shapeKind(form);
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
