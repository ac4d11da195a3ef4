// Two containers into one, whatever their kinds: the table between the n-ary walk (combine.ts), which knows keys, and the kernels
// (container/), which know one pair of kinds each.
//
// A container on its way is a shape, packed into a u64: kind, cardinality and the payload's address in whichever memory is read.

import { SELF, left, right } from "../env/memory";
import { alignedBump, makeRoom } from "../arena/arena";
import { Kind, isArray, entryKind, entryCount, entryPayload } from "../arena/entry";
import { ARRAY_MAX, BITSET_BYTES, arrayBytes, runsBytes } from "../container/limits";
import { intersectArrays, intersectArraysCardinality, unionArrays, differenceArrays, xorArrays } from "../container/array";
import {
  intersectBitsets, intersectBitsetsCardinality, unionBitsets, differenceBitsets, xorBitsets, complementBitset, bitsetCardinality,
} from "../container/bitset";
import { intersectRuns, unionRuns, differenceRuns, xorRuns, complementRuns, runsCardinality } from "../container/run";
import {
  intersectArrayBitset, intersectArrayBitsetCardinality, differenceArrayBitset, intersectArrayRuns, differenceArrayRuns, unionArrayInto,
  differenceArrayInto, xorArrayInto, unionRunsInto, differenceRunsInto, xorRunsInto, intersectRunsInto,
} from "../container/mixed";
import {
  BUCKETS_LEAST, arrayToBuckets, bucketsBytes, bucketsToArray, intersectBuckets, intersectBucketsCardinality, differenceBuckets,
} from "../container/buckets";
import { NO_BUCKETS, xorBuckets, unionBuckets } from "../container/merge";
import { arrayGaps, arrayToBitset, runsToBitset, arrayToRuns } from "../container/convert";

export const enum Fold { AND, OR, XOR, ANDNOT }

/** Bytes that a fold may write at `out`, and at `temp`. */
// @ts-ignore: decorator
@inline export const FOLD_BYTES: usize = BITSET_BYTES;
// @ts-ignore: decorator
@inline export const FULL_COUNT: u32 = 65536;
/** Most runs that fit FOLD_BYTES. */
// @ts-ignore: decorator
@inline export const RUNS_MAX: u32 = 2047;
/** Where buckets are unpacked above the bump mark: beyond all that callers of fold() work in. */
// @ts-ignore: decorator
@inline const UNPACKED_AT: usize = 5 * FOLD_BYTES;
/** A shape without members. */
// @ts-ignore: decorator
@inline export const NOTHING: u64 = 0;

// @ts-ignore: decorator
@inline export function shape(kind: Kind, count: u32, at: usize): u64 {
  return ((<u64>kind) << 56) | ((<u64>count) << 32) | <u64>at;
}
// @ts-ignore: decorator
@inline export function shapeKind(s: u64): Kind { return <Kind>(s >> 56); }
// @ts-ignore: decorator
@inline export function shapeCount(s: u64): u32 { return <u32>(s >> 32) & 0xffffff; }
// @ts-ignore: decorator
@inline export function shapeAt(s: u64): usize { return <usize>(<u32>s); }
// @ts-ignore: decorator
@inline export function fullShape(): u64 { return shape(Kind.FULL, FULL_COUNT, 0); }
// @ts-ignore: decorator
@inline function arrayShape(count: u32, at: usize): u64 { return count ? shape(Kind.ARRAY, count, at) : NOTHING; }
/** Buckets in memory 0, or what they are when they are few. */
export function bucketsShape(count: u32, at: usize): u64 {
  if (count >= BUCKETS_LEAST) return shape(Kind.BUCKETS, count, at);
  if (!count) return NOTHING;
  left.select(SELF);
  const array = at + bucketsBytes(BUCKETS_LEAST);
  bucketsToArray(at, count, array);
  return shape(Kind.ARRAY, count, array);
}
// @ts-ignore: decorator
@inline function bitsetShape(count: u32, at: usize): u64 { return count ? shape(Kind.BITSET, count, at) : NOTHING; }

/** The shape of one container of an operand's entry, as memory M shows it. */
// @ts-ignore: decorator
@inline export function entryShape<M>(entry: usize): u64 {
  const kind = entryKind<M>(entry);
  if (kind == Kind.FULL) return fullShape();
  return shape(isArray(kind) ? Kind.ARRAY : kind, entryCount<M>(entry), entryPayload<M>(entry));
}

/** Bytes of the payload of a shape that `right` shows. */
// @ts-ignore: decorator
@inline function shapeBytesRight(s: u64): usize {
  const kind = shapeKind(s);
  if (kind == Kind.ARRAY) return arrayBytes(shapeCount(s));
  if (kind == Kind.BITSET) return BITSET_BYTES;
  if (kind == Kind.RUNS) return runsBytes(right.load16(shapeAt(s), 0));
  if (kind == Kind.BUCKETS) return bucketsBytes(shapeCount(s));
  return 0;
}

/** Copies the shape that `right` shows to `out`. */
export function copyShape(s: u64, out: usize): u64 {
  const bytes = shapeBytesRight(s);
  if (bytes) right.copy(out, shapeAt(s), bytes);
  return (s & 0xffffffff00000000) | <u64>out;
}

/**
 * Folds the container `r`, which `right` shows of operand `rk`, into `l`, which `left` shows of operand `lk` (SELF for a result of an
 * earlier fold). The result is in memory 0: at `out`, at `temp`, or where `l` is. Neither `out` nor `temp` may overlap `l`, except
 * that a bitset `l` in memory 0 is changed in place. Both need FOLD_BYTES.
 */
export function fold(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  const lCount = shapeCount(l), rCount = shapeCount(r), lKind = shapeKind(l), rKind = shapeKind(r);
  if (!lCount || !rCount || lKind == Kind.FULL || rKind == Kind.FULL) return foldExtreme(op, lk, l, rk, r, out);
  const a = shapeAt(l), b = shapeAt(r);
  if (lKind == Kind.BUCKETS && rKind == Kind.BUCKETS) {
    if (op == Fold.AND) return arrayShape(intersectBuckets(a, lCount, b, rCount, out), out);
    if (op == Fold.ANDNOT) return arrayShape(differenceBuckets(a, lCount, b, rCount, out), out);
  }
  if (lKind == Kind.BUCKETS || rKind == Kind.BUCKETS) {
    if ((op == Fold.OR || op == Fold.XOR) && mayMerge(lKind, lCount, rKind, rCount)) {
      const merged = mergeBuckets(op, lk, l, rk, r, out);
      if (merged != UNMERGED) return merged;
    }
    return foldUnpacked(op, lk, l, rk, r, out, temp);
  }
  if (lKind == Kind.ARRAY && rKind == Kind.ARRAY) return foldArrays(op, a, lCount, b, rCount, out);
  if (lKind == Kind.BITSET && rKind == Kind.BITSET) {
    const to = lk == SELF ? a : out;
    if (op == Fold.AND) return bitsetShape(intersectBitsets(a, b, to), to);
    if (op == Fold.OR) return bitsetShape(unionBitsets(a, b, to), to);
    if (op == Fold.XOR) return bitsetShape(xorBitsets(a, b, to), to);
    return bitsetShape(differenceBitsets(a, b, to), to);
  }
  if (lKind == Kind.BITSET) return foldIntoBitset(op, lk, l, rk, r, out);
  if (rKind == Kind.BITSET) return foldBitsetInto(op, lk, l, rk, r, out);
  return foldRuns(op, lk, l, rk, r, out, temp);
}

/** An array must not be that many times shorter than the buckets it is merged with: its members are then better looked up. */
// @ts-ignore: decorator
@inline const MERGE_RATIO: u32 = 24;
/** What mergeBuckets() answers when buckets cannot hold an operand or the result. */
// @ts-ignore: decorator
@inline const UNMERGED: u64 = u64.MAX_VALUE;

/** Whether the union of two containers, of which one is buckets, is best merged bucket by bucket. */
// @ts-ignore: decorator
@inline function mayMerge(lKind: Kind, lCount: u32, rKind: Kind, rCount: u32): bool {
  return lCount + rCount <= ARRAY_MAX && lCount * MERGE_RATIO >= rCount && rCount * MERGE_RATIO >= lCount
    && (lKind == Kind.BUCKETS || lKind == Kind.ARRAY) && (rKind == Kind.BUCKETS || rKind == Kind.ARRAY);
}

/** The union or symmetric difference of buckets with buckets or an array, as buckets. */
function mergeBuckets(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const x = shapeCount(l), y = shapeCount(r), a = bucketsOf(lk, l, UNPACKED_AT), b = bucketsOf(rk, r, UNPACKED_AT + FOLD_BYTES);
  let members = NO_BUCKETS;
  if (a && b) {
    left.select(shapeKind(l) == Kind.BUCKETS ? lk : SELF);
    right.select(shapeKind(r) == Kind.BUCKETS ? rk : SELF);
    members = op == Fold.OR ? unionBuckets(a, x, b, y, out) : xorBuckets(a, x, b, y, out);
  }
  const merged = members == NO_BUCKETS ? UNMERGED : bucketsShape(members, out);
  left.select(lk);
  right.select(rk);
  return merged;
}

/** Where the shape of operand `k` is as buckets: there, or in memory 0 above the bump mark; 0 if it cannot be. */
function bucketsOf(k: u32, s: u64, above: usize): usize {
  if (shapeKind(s) == Kind.BUCKETS) return shapeAt(s);
  makeRoom(64 + UNPACKED_AT + 2 * FOLD_BYTES);
  left.select(k);
  const to = alignedBump() + above, count = shapeCount(s);
  return arrayToBuckets(shapeAt(s), count, to, to + bucketsBytes(count)) ? to : 0;
}

/** The same where one is buckets or both are, by way of arrays. */
function foldUnpacked(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  const y = unpackedRight(rk, r);
  const x = unpackedLeft(lk, l);
  const folded = fold(op, x == l ? lk : SELF, x, y == r ? rk : SELF, y, out, temp);
  left.select(lk);
  right.select(rk);
  return folded;
}

/**
 * The shape `l` of operand `lk`, its buckets as an array in memory 0, and shown on the left: the operand, or memory 0. The next call on
 * the same side overwrites it.
 */
export function unpackedLeft(lk: u32, l: u64): u64 {
  left.select(lk);
  if (shapeKind(l) != Kind.BUCKETS) return l;
  return unpack(l, UNPACKED_AT);
}

/** The shape `r` of operand `rk`, likewise, shown on the right. `left` is then anywhere. */
export function unpackedRight(rk: u32, r: u64): u64 {
  right.select(rk);
  if (shapeKind(r) != Kind.BUCKETS) return r;
  left.select(rk);
  right.select(SELF);
  return unpack(r, UNPACKED_AT + FOLD_BYTES);
}

/** The buckets that `left` shows as an array above the bump mark, there shown on the left. */
function unpack(s: u64, above: usize): u64 {
  makeRoom(64 + UNPACKED_AT + 2 * FOLD_BYTES);
  const to = alignedBump() + above;
  bucketsToArray(shapeAt(s), shapeCount(s), to);
  left.select(SELF);
  return shape(Kind.ARRAY, shapeCount(s), to);
}

/** Members of the intersection of `l` and `r`, as fold() takes them; the two places are worked in only where runs are met. */
export function foldCardinality(lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u32 {
  const lKind = shapeKind(l), rKind = shapeKind(r), a = shapeAt(l), b = shapeAt(r);
  if (lKind == Kind.FULL) return shapeCount(r);
  if (rKind == Kind.FULL) return shapeCount(l);
  if (lKind == Kind.BUCKETS && rKind == Kind.BUCKETS) return intersectBucketsCardinality(a, shapeCount(l), b, shapeCount(r));
  if (lKind == Kind.BUCKETS || rKind == Kind.BUCKETS) return cardinalityUnpacked(lk, l, rk, r, out, temp);
  if (lKind == Kind.RUNS || rKind == Kind.RUNS) return shapeCount(fold(Fold.AND, lk, l, rk, r, out, temp));
  if (lKind == Kind.BITSET && rKind == Kind.BITSET) return intersectBitsetsCardinality(a, b);
  if (lKind == Kind.ARRAY && rKind == Kind.ARRAY) return intersectArraysCardinality(a, shapeCount(l), b, shapeCount(r));
  if (lKind == Kind.ARRAY) return intersectArrayBitsetCardinality(a, shapeCount(l), b);
  swapViews(lk, rk);
  const count = intersectArrayBitsetCardinality(b, shapeCount(r), a);
  swapViews(rk, lk);
  return count;
}

function cardinalityUnpacked(lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u32 {
  const y = unpackedRight(rk, r);
  const x = unpackedLeft(lk, l);
  const count = foldCardinality(x == l ? lk : SELF, x, y == r ? rk : SELF, y, out, temp);
  left.select(lk);
  right.select(rk);
  return count;
}

function foldArrays(op: Fold, a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u64 {
  if (op == Fold.AND) return arrayShape(intersectArrays(a, aCount, b, bCount, out), out);
  if (op == Fold.ANDNOT) return arrayShape(differenceArrays(a, aCount, b, bCount, out), out);
  if (aCount + bCount <= ARRAY_MAX) {
    if (op == Fold.OR) return arrayShape(unionArrays(a, aCount, b, bCount, out), out);
    return arrayShape(xorArrays(a, aCount, b, bCount, out), out);
  }
  arrayToBitset(a, aCount, out);
  const change = op == Fold.OR ? unionArrayInto(out, b, bCount) : xorArrayInto(out, b, bCount);
  return bitsetShape(aCount + change, out);
}

/** A bitset on the left, an array or runs on the right. */
function foldIntoBitset(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r);
  if (shapeKind(r) == Kind.ARRAY) {
    if (op == Fold.AND) {
      swapViews(lk, rk);
      const count = intersectArrayBitset(b, shapeCount(r), a, out);
      swapViews(rk, lk);
      return arrayShape(count, out);
    }
    const to = ownBitset(lk, a, out);
    let change: i32;
    if (op == Fold.OR) change = unionArrayInto(to, b, shapeCount(r));
    else if (op == Fold.XOR) change = xorArrayInto(to, b, shapeCount(r));
    else change = differenceArrayInto(to, b, shapeCount(r));
    return bitsetShape(shapeCount(l) + change, to);
  }
  return foldRunsInto(op, ownBitset(lk, a, out), b, lk);
}

/** The bitset at `a` of operand `lk`, in memory 0: itself, or its copy at `out`. */
// @ts-ignore: decorator
@inline function ownBitset(lk: u32, a: usize, out: usize): usize {
  if (lk == SELF) return a;
  left.copy(out, a, BITSET_BYTES);
  return out;
}

/** Folds the runs at `b`, which `right` shows, into the bitset at `to` in memory 0. Leaves `left` at `lk`. */
function foldRunsInto(op: Fold, to: usize, b: usize, lk: u32): u64 {
  if (op == Fold.AND) intersectRunsInto(to, b);
  else if (op == Fold.OR) unionRunsInto(to, b);
  else if (op == Fold.XOR) xorRunsInto(to, b);
  else differenceRunsInto(to, b);
  left.select(SELF);
  const count = bitsetCardinality(to);
  left.select(lk);
  return bitsetShape(count, to);
}

/** An array or runs on the left, a bitset on the right. */
function foldBitsetInto(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r);
  if (shapeKind(l) == Kind.ARRAY) {
    if (op == Fold.AND) return arrayShape(intersectArrayBitset(a, shapeCount(l), b, out), out);
    if (op == Fold.ANDNOT) return arrayShape(differenceArrayBitset(a, shapeCount(l), b, out), out);
  }
  if (op != Fold.ANDNOT) {                    // the operation does not mind the order
    swapViews(lk, rk);
    const swapped = foldIntoBitset(op, rk, r, lk, l, out);
    swapViews(rk, lk);
    return swapped;
  }
  runsToBitset(a, out);
  left.select(SELF);
  const count = differenceBitsets(out, b, out);
  left.select(lk);
  return bitsetShape(count, out);
}

/** Runs on one side, runs or an array on the other. */
function foldRuns(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r), lIsArray = shapeKind(l) == Kind.ARRAY, rIsArray = shapeKind(r) == Kind.ARRAY;
  if (lIsArray && op == Fold.AND) return arrayShape(intersectArrayRuns(a, shapeCount(l), b, out), out);
  if (lIsArray && op == Fold.ANDNOT) return arrayShape(differenceArrayRuns(a, shapeCount(l), b, out), out);
  if (rIsArray && op == Fold.AND) {
    swapViews(lk, rk);
    const count = intersectArrayRuns(b, shapeCount(r), a, out);
    swapViews(rk, lk);
    return arrayShape(count, out);
  }
  const runs = (lIsArray ? shapeCount(l) : left.load16(a, 0)) + (rIsArray ? shapeCount(r) : right.load16(b, 0)) + 1;
  if (runs > RUNS_MAX) {                      // too many to stay runs
    if (lIsArray) arrayToBitset(a, shapeCount(l), out); else runsToBitset(a, out);
    if (!rIsArray) return foldRunsInto(op, out, b, lk);
    return foldIntoBitset(op, SELF, shape(Kind.BITSET, shapeCount(l), out), rk, r, out);
  }
  let x = a, y = b;
  if (lIsArray) { arrayToRuns(a, shapeCount(l), temp); x = temp; left.select(SELF); }
  if (rIsArray) {
    swapViews(lk, rk);
    arrayToRuns(b, shapeCount(r), temp);
    left.select(lk);
    right.select(SELF);
    y = temp;
  }
  if (op == Fold.AND) intersectRuns(x, y, out);
  else if (op == Fold.OR) unionRuns(x, y, out);
  else if (op == Fold.XOR) xorRuns(x, y, out);
  else differenceRuns(x, y, out);
  left.select(SELF);
  const count = runsCardinality(out);
  left.select(lk);
  right.select(rk);
  return count ? shape(Kind.RUNS, count, out) : NOTHING;
}

/** One side is empty or full. */
function foldExtreme(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const lCount = shapeCount(l), rCount = shapeCount(r);
  if (!lCount) return op == Fold.OR || op == Fold.XOR ? copyShape(r, out) : NOTHING;
  if (!rCount) return op == Fold.AND ? NOTHING : keepLeft(lk, l, rk, out);
  if (shapeKind(l) == Kind.FULL) {
    if (op == Fold.OR) return fullShape();
    if (op == Fold.AND) return copyShape(r, out);
    if (shapeKind(r) == Kind.FULL) return NOTHING;
    swapViews(lk, rk);
    const rest = complement(rk, r, out);
    swapViews(rk, lk);
    return rest;
  }
  if (op == Fold.OR) return fullShape();
  if (op == Fold.AND) return keepLeft(lk, l, rk, out);
  return op == Fold.XOR ? complement(lk, l, out) : NOTHING;
}

/** The left shape in memory 0. */
function keepLeft(lk: u32, l: u64, rk: u32, out: usize): u64 {
  if (lk == SELF) return l;
  right.select(lk);
  const kept = copyShape(l, out);
  right.select(rk);
  return kept;
}

/** All 65,536 but the shape that `left` shows of operand `lk`; it is neither empty nor full. `out` must not overlap it. */
export function complement(lk: u32, l: u64, out: usize): u64 {
  if (shapeKind(l) == Kind.BUCKETS) return complementUnpacked(lk, l, out);
  const count = FULL_COUNT - shapeCount(l), a = shapeAt(l), kind = shapeKind(l);
  if (kind == Kind.BITSET) { complementBitset(a, out); return bitsetShape(count, out); }
  if (kind == Kind.RUNS ? left.load16(a, 0) < RUNS_MAX : shapeCount(l) < RUNS_MAX) {
    if (kind == Kind.ARRAY) arrayGaps(a, shapeCount(l), out); else complementRuns(a, out);
    return shape(Kind.RUNS, count, out);
  }
  if (kind == Kind.ARRAY) arrayToBitset(a, shapeCount(l), out); else runsToBitset(a, out);
  left.select(SELF);
  complementBitset(out, out);
  left.select(lk);
  return bitsetShape(count, out);
}

function complementUnpacked(lk: u32, l: u64, out: usize): u64 {
  const s = complement(SELF, unpackedLeft(lk, l), out);
  left.select(lk);
  return s;
}

/** Shows on the left what was shown on the right, and the reverse. */
// @ts-ignore: decorator
@inline function swapViews(lk: u32, rk: u32): void {
  left.select(rk);
  right.select(lk);
}
