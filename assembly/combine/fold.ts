// Two containers into one, whatever their kinds: a table from pairs of kinds to kernels. The walk over
// bitmaps (combine.ts) knows keys, the kernels (container/) know one pair of kinds each, and this file is
// what lies between.
//
// `l`, the left container, belongs to operand `lk`, which `left` shows; `r` belongs to operand `rk`, which
// `right` shows. An operand number of SELF stands for memory 0, where results of earlier folds are. Every
// function leaves both sides showing what they showed.

import { SELF, left, right } from "../env/memory";
import { RUNS_MAX, Scratch, FOLD_BYTES } from "./scratch";
import {
  NOTHING, arrayShape, bitsetShape, bucketsShape, copyShape, fullShape, runsShape, shape, shapeAt,
  shapeCount, shapeKind, UNSUITED,
} from "./shape";
import { areShortAndArray, countShort, differenceShort, intersectShort, uniteShort } from "./short";
import { packed, unpackedLeft, unpackedRight } from "./unpack";
import { Kind } from "../container/kind";
import { Or, Xor } from "../container/kernel";
import { ARRAY_MAX, BITSET_BYTES, UNIVERSE, isArraySized } from "../container/limits";
import {
  intersectArrays, intersectArraysCardinality, unionArrays, differenceArrays, xorArrays,
} from "../container/array";
import {
  intersectBitsets, intersectBitsetsCardinality, unionBitsets, differenceBitsets, xorBitsets,
  complementBitset, bitsetCardinality,
} from "../container/bitset";
import {
  intersectRuns, unionRuns, differenceRuns, xorRuns, complementRuns, runsCardinality,
} from "../container/run";
import {
  intersectArrayBitset, intersectArrayBitsetCardinality, differenceArrayBitset, intersectArrayRuns,
  differenceArrayRuns, unionArrayInto, differenceArrayInto, xorArrayInto, unionRunsInto, differenceRunsInto,
  xorRunsInto, intersectRunsInto,
} from "../container/mixed";
import { intersectBuckets, intersectBucketsCardinality, differenceBuckets } from "../container/buckets";
import { NO_BUCKETS, xorBuckets, unionBuckets, MERGE_BYTES } from "../container/bucketmerge";
import { arrayGaps, arrayToBitset, runsToBitset, arrayToRuns } from "../container/convert";
import { shortToBitset } from "../container/short";

export const enum Fold { AND, OR, XOR, ANDNOT }

/**
 * The kinds of a left and a right container. Pairs with BUCKETS or SHORT are not named: they are what is
 * left.
 */
const enum Pair {
  ARRAY_ARRAY = (Kind.ARRAY << 3) | Kind.ARRAY,
  ARRAY_BITSET = (Kind.ARRAY << 3) | Kind.BITSET,
  ARRAY_RUNS = (Kind.ARRAY << 3) | Kind.RUNS,
  BITSET_ARRAY = (Kind.BITSET << 3) | Kind.ARRAY,
  BITSET_BITSET = (Kind.BITSET << 3) | Kind.BITSET,
  BITSET_RUNS = (Kind.BITSET << 3) | Kind.RUNS,
  RUNS_ARRAY = (Kind.RUNS << 3) | Kind.ARRAY,
  RUNS_BITSET = (Kind.RUNS << 3) | Kind.BITSET,
  RUNS_RUNS = (Kind.RUNS << 3) | Kind.RUNS,
}

// @ts-ignore: decorator
@inline function pairOf(l: u64, r: u64): u32 { return (shapeKind(l) << 3) | shapeKind(r); }
// @ts-ignore: decorator
@inline function isEmptyOrFull(s: u64): bool { return !shapeCount(s) || shapeKind(s) == Kind.FULL; }

/**
 * Folds the container `r` into `l`. The result is in memory 0: at `out`, at `temp`, or where `l` is. Neither
 * `out` nor `temp` may overlap `l`, except that a bitset `l` in memory 0 is changed in place. Both need
 * FOLD_BYTES.
 */
export function fold(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  if (isEmptyOrFull(l) || isEmptyOrFull(r)) return foldEmptyOrFull(op, lk, l, rk, r, out);
  switch (pairOf(l, r)) {
    case Pair.ARRAY_ARRAY: return foldArrays(op, l, r, out);
    case Pair.ARRAY_BITSET: return foldArrayBitset(op, lk, l, rk, r, out);
    case Pair.ARRAY_RUNS: return foldArrayRuns(op, lk, l, rk, r, out, temp);
    case Pair.BITSET_ARRAY: return foldBitsetArray(op, lk, l, rk, r, out);
    case Pair.BITSET_BITSET: return foldBitsets(op, lk, l, r, out);
    case Pair.BITSET_RUNS: return foldBitsetRuns(op, lk, l, r, out);
    case Pair.RUNS_ARRAY: return foldRunsArray(op, lk, l, rk, r, out, temp);
    case Pair.RUNS_BITSET: return foldRunsBitset(op, lk, l, rk, r, out);
    case Pair.RUNS_RUNS: return foldRuns(op, lk, l, rk, r, out);
    default: return foldPacked(op, lk, l, rk, r, out, temp);
  }
}

/**
 * Members of the intersection of `l` and `r`. `out` and `temp`, as in fold(), are used only where runs are
 * involved.
 */
export function foldCardinality(lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u32 {
  if (shapeKind(l) == Kind.FULL) return shapeCount(r);
  if (shapeKind(r) == Kind.FULL) return shapeCount(l);
  const a = shapeAt(l), b = shapeAt(r);
  switch (pairOf(l, r)) {
    case Pair.ARRAY_ARRAY: return intersectArraysCardinality(a, shapeCount(l), b, shapeCount(r));
    case Pair.ARRAY_BITSET: return intersectArrayBitsetCardinality(a, shapeCount(l), b);
    case Pair.BITSET_ARRAY: {
      swapSides(lk, rk);
      const count = intersectArrayBitsetCardinality(b, shapeCount(r), a);
      swapSides(rk, lk);
      return count;
    }
    case Pair.BITSET_BITSET: return intersectBitsetsCardinality(a, b);
    case Pair.ARRAY_RUNS:
    case Pair.BITSET_RUNS:
    case Pair.RUNS_ARRAY:
    case Pair.RUNS_BITSET:
    case Pair.RUNS_RUNS: return shapeCount(fold(Fold.AND, lk, l, rk, r, out, temp));
    default: return foldPackedCardinality(lk, l, rk, r, out, temp);
  }
}

/** Shows on the left what was shown on the right, operand `rk`, and the reverse. */
// @ts-ignore: decorator
@inline function swapSides(lk: u32, rk: u32): void {
  left.select(rk);
  right.select(lk);
}

// --- Empty and full ----------------------------------------------------------------------------------------

/** fold() where one side at least is empty or full. */
function foldEmptyOrFull(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  if (!shapeCount(l)) return op == Fold.OR || op == Fold.XOR ? copyShape(r, out) : NOTHING;
  if (!shapeCount(r)) return op == Fold.AND ? NOTHING : copyLeft(lk, l, rk, out);
  if (shapeKind(l) == Kind.FULL) {
    if (op == Fold.OR) return fullShape();
    if (op == Fold.AND) return copyShape(r, out);
    if (shapeKind(r) == Kind.FULL) return NOTHING;
    swapSides(lk, rk);
    const rest = complement(rk, r, out);
    swapSides(rk, lk);
    return rest;
  }
  if (op == Fold.OR) return fullShape();
  if (op == Fold.AND) return copyLeft(lk, l, rk, out);
  return op == Fold.XOR ? complement(lk, l, out) : NOTHING;
}

/** The left container in memory 0: where it is, or copied to `out`. */
function copyLeft(lk: u32, l: u64, rk: u32, out: usize): u64 {
  if (lk == SELF) return l;
  right.select(lk);
  const copy = copyShape(l, out);
  right.select(rk);
  return copy;
}

// --- Arrays ------------------------------------------------------------------------------------------------

function foldArrays(op: Fold, l: u64, r: u64, out: usize): u64 {
  const a = shapeAt(l), aCount = shapeCount(l), b = shapeAt(r), bCount = shapeCount(r);
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

function foldArrayBitset(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  if (op == Fold.AND) {
    return arrayShape(intersectArrayBitset(shapeAt(l), shapeCount(l), shapeAt(r), out), out);
  }
  if (op == Fold.ANDNOT) {
    return arrayShape(differenceArrayBitset(shapeAt(l), shapeCount(l), shapeAt(r), out), out);
  }
  swapSides(lk, rk);
  const swapped = foldBitsetArray(op, rk, r, lk, l, out);
  swapSides(rk, lk);
  return swapped;
}

function foldArrayRuns(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  const a = shapeAt(l), count = shapeCount(l), b = shapeAt(r);
  if (op == Fold.AND) return arrayShape(intersectArrayRuns(a, count, b, out), out);
  if (op == Fold.ANDNOT) return arrayShape(differenceArrayRuns(a, count, b, out), out);
  if (count + right.load16(b, 0) >= RUNS_MAX) {               // too many to stay runs
    arrayToBitset(a, count, out);
    return foldRunsInto(op, out, b, lk);
  }
  arrayToRuns(a, count, temp);
  left.select(SELF);
  const folded = mergeRuns(op, temp, b, out);
  left.select(lk);
  return folded;
}

// --- Bitsets -----------------------------------------------------------------------------------------------

function foldBitsets(op: Fold, lk: u32, l: u64, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r), to = lk == SELF ? a : out;
  if (op == Fold.AND) return bitsetShape(intersectBitsets(a, b, to), to);
  if (op == Fold.OR) return bitsetShape(unionBitsets(a, b, to), to);
  if (op == Fold.XOR) return bitsetShape(xorBitsets(a, b, to), to);
  return bitsetShape(differenceBitsets(a, b, to), to);
}

function foldBitsetArray(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const b = shapeAt(r), count = shapeCount(r);
  if (op == Fold.AND) {
    swapSides(lk, rk);
    const common = intersectArrayBitset(b, count, shapeAt(l), out);
    swapSides(rk, lk);
    return arrayShape(common, out);
  }
  const to = ownBitset(lk, shapeAt(l), out);
  let change: i32;
  if (op == Fold.OR) change = unionArrayInto(to, b, count);
  else if (op == Fold.XOR) change = xorArrayInto(to, b, count);
  else change = differenceArrayInto(to, b, count);
  return bitsetShape(shapeCount(l) + change, to);
}

function foldBitsetRuns(op: Fold, lk: u32, l: u64, r: u64, out: usize): u64 {
  return foldRunsInto(op, ownBitset(lk, shapeAt(l), out), shapeAt(r), lk);
}

/** The bitset at `a` of operand `lk` in memory 0: where it is, or copied to `out`. */
// @ts-ignore: decorator
@inline function ownBitset(lk: u32, a: usize, out: usize): usize {
  if (lk == SELF) return a;
  left.copy(out, a, BITSET_BYTES);
  return out;
}

/** Folds the runs at `b`, which `right` shows, into the bitset at `to` in memory 0. */
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

// --- Runs --------------------------------------------------------------------------------------------------

function foldRunsArray(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r), count = shapeCount(r);
  if (op == Fold.AND) {
    swapSides(lk, rk);
    const common = intersectArrayRuns(b, count, a, out);
    swapSides(rk, lk);
    return arrayShape(common, out);
  }
  if (left.load16(a, 0) + count >= RUNS_MAX) {                // too many to stay runs
    runsToBitset(a, out);
    return foldBitsetArray(op, SELF, shape(Kind.BITSET, shapeCount(l), out), rk, r, out);
  }
  swapSides(lk, rk);
  arrayToRuns(b, count, temp);
  left.select(lk);
  right.select(SELF);
  const folded = mergeRuns(op, a, temp, out);
  left.select(lk);
  right.select(rk);
  return folded;
}

function foldRunsBitset(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  if (op != Fold.ANDNOT) {                    // the order of the sides does not matter
    swapSides(lk, rk);
    const swapped = foldBitsetRuns(op, rk, r, l, out);
    swapSides(rk, lk);
    return swapped;
  }
  runsToBitset(shapeAt(l), out);
  left.select(SELF);
  const count = differenceBitsets(out, shapeAt(r), out);
  left.select(lk);
  return bitsetShape(count, out);
}

function foldRuns(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r);
  if (<u32>left.load16(a, 0) + right.load16(b, 0) >= RUNS_MAX) {              // too many to stay runs
    runsToBitset(a, out);
    return foldRunsInto(op, out, b, lk);
  }
  const folded = mergeRuns(op, a, b, out);
  left.select(lk);
  return folded;
}

/**
 * Folds the runs at `b`, which `right` shows, into those at `a`, which `left` shows. Leaves `left` at SELF.
 */
function mergeRuns(op: Fold, a: usize, b: usize, out: usize): u64 {
  if (op == Fold.AND) intersectRuns(a, b, out);
  else if (op == Fold.OR) unionRuns(a, b, out);
  else if (op == Fold.XOR) xorRuns(a, b, out);
  else differenceRuns(a, b, out);
  left.select(SELF);
  return runsShape(runsCardinality(out), out);
}

// --- Buckets and short bitsets -----------------------------------------------------------------------------

/**
 * fold() where one side at least is buckets or a short bitset: by kernels for those where there are any,
 * otherwise unpacked.
 */
function foldPacked(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r);
  if (shapeKind(l) == Kind.SHORT || shapeKind(r) == Kind.SHORT) {
    const folded = foldShort(op, lk, l, rk, r, out);
    if (folded != UNSUITED) return folded;
  } else if (op == Fold.OR || op == Fold.XOR) {
    if (mayMerge(l, r)) {
      const merged = mergeBuckets(op, lk, l, rk, r, out);
      if (merged != UNSUITED) return merged;
    }
  } else if (shapeKind(l) == Kind.BUCKETS && shapeKind(r) == Kind.BUCKETS) {
    if (op == Fold.AND) return arrayShape(intersectBuckets(a, shapeCount(l), b, shapeCount(r), out), out);
    return arrayShape(differenceBuckets(a, shapeCount(l), b, shapeCount(r), out), out);
  }
  // a bitset is changed in place
  if (becomesBitset(r) && !becomesBitset(l) && shapeKind(l) != Kind.BITSET && op != Fold.ANDNOT) {
    swapSides(lk, rk);
    const swapped = foldPacked(op, rk, r, lk, l, out, temp);
    swapSides(rk, lk);
    return swapped;
  }
  const y = unpackedRight(rk, r), yk = y == r ? rk : SELF;
  let folded = UNSUITED;
  left.select(lk);
  if (shapeKind(l) == Kind.SHORT && y != r) folded = foldShort(op, lk, l, yk, y, out);
  if (folded == UNSUITED && becomesBitset(l)) {
    left.select(lk);
    shortToBitset(a, out);
    left.select(SELF);
    folded = fold(op, SELF, bitsetShape(shapeCount(l), out), yk, y, temp, temp);
  } else if (folded == UNSUITED) {
    const x = unpackedLeft(lk, l);
    folded = fold(op, x == l ? lk : SELF, x, yk, y, out, temp);
  }
  left.select(lk);
  right.select(rk);
  return folded;
}

/**
 * Whether the container is a short bitset that becomes a bitset when it is unpacked. That is folded in place,
 * and so unpacked to `out`.
 */
// @ts-ignore: decorator
@inline function becomesBitset(s: u64): bool {
  return shapeKind(s) == Kind.SHORT && !isArraySized(shapeCount(s));
}

/** fold() where one side at least is a short bitset and there is a kernel for both; otherwise UNSUITED. */
function foldShort(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  if (op == Fold.AND) return intersectShort(lk, l, rk, r, out);
  if (op == Fold.ANDNOT) return differenceShort(l, r, out);
  return op == Fold.OR ? uniteShort<Or>(lk, l, rk, r, out) : uniteShort<Xor>(lk, l, rk, r, out);
}

/** foldCardinality() where one side at least is buckets or a short bitset. */
function foldPackedCardinality(lk: u32, l: u64, rk: u32, r: u64, out: usize, temp: usize): u32 {
  if (areShortAndArray(l, r)) return countShort(lk, l, rk, r);
  if (shapeKind(l) == Kind.BUCKETS && shapeKind(r) == Kind.BUCKETS) {
    return intersectBucketsCardinality(shapeAt(l), shapeCount(l), shapeAt(r), shapeCount(r));
  }
  const y = unpackedRight(rk, r);
  const x = unpackedLeft(lk, l);
  const count = foldCardinality(x == l ? lk : SELF, x, y == r ? rk : SELF, y, out, temp);
  left.select(lk);
  right.select(rk);
  return count;
}

/**
 * Arrays this many times shorter than the buckets they meet are not merged with them: it is quicker to look
 * their members up.
 */
// @ts-ignore: decorator
@inline const MERGE_RATIO: u32 = 24;

/** Whether the union of two containers, one of which is buckets, is best merged bucket by bucket. */
// @ts-ignore: decorator
@inline function mayMerge(l: u64, r: u64): bool {
  const lKind = shapeKind(l), lCount = shapeCount(l), rKind = shapeKind(r), rCount = shapeCount(r);
  return lCount + rCount <= ARRAY_MAX && lCount * MERGE_RATIO >= rCount && rCount * MERGE_RATIO >= lCount
    && (lKind == Kind.BUCKETS || lKind == Kind.ARRAY) && (rKind == Kind.BUCKETS || rKind == Kind.ARRAY);
}

/** The union or symmetric difference of buckets with buckets or an array, as buckets. */
function mergeBuckets(op: Fold, lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  // mayMerge() has seen to it that the result fits `out`
  assert(<usize>ARRAY_MAX + MERGE_BYTES <= FOLD_BYTES);
  const a = packed(lk, l, Scratch.LEFT), b = packed(rk, r, Scratch.RIGHT);
  let members = NO_BUCKETS;
  if (a && b) {
    left.select(shapeKind(l) == Kind.BUCKETS ? lk : SELF);
    right.select(shapeKind(r) == Kind.BUCKETS ? rk : SELF);
    members = op == Fold.OR
      ? unionBuckets(a, shapeCount(l), b, shapeCount(r), out)
      : xorBuckets(a, shapeCount(l), b, shapeCount(r), out);
  }
  const merged = members == NO_BUCKETS ? UNSUITED : bucketsShape(members, out);
  left.select(lk);
  right.select(rk);
  return merged;
}

// --- Complement --------------------------------------------------------------------------------------------

/** All 65,536 offsets but the members of `l`, which is neither empty nor full. `out` must not overlap it. */
export function complement(lk: u32, l: u64, out: usize): u64 {
  const a = shapeAt(l), members = shapeCount(l), count = UNIVERSE - members;
  switch (shapeKind(l)) {
    case Kind.BITSET:
      complementBitset(a, out);
      return bitsetShape(count, out);
    case Kind.RUNS:
      if (left.load16(a, 0) < RUNS_MAX) {
        complementRuns(a, out);
        return runsShape(count, out);
      }
      runsToBitset(a, out);
      break;
    case Kind.SHORT:
    case Kind.BUCKETS: {
      const rest = complement(SELF, unpackedLeft(lk, l), out);
      left.select(lk);
      return rest;
    }
    case Kind.ARRAY:
      if (members < RUNS_MAX) {
        arrayGaps(a, members, out);
        return runsShape(count, out);
      }
      arrayToBitset(a, members, out);
      break;
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: unreachable();
  }
  left.select(SELF);
  complementBitset(out, out);
  left.select(lk);
  return bitsetShape(count, out);
}
