// Folds where one side at least is of a compact kind, buckets or a short bitset: by kernels for those where
// there are any, otherwise expanded to an array or a bitset.

import { SELF, left } from "../env/memory";
import { bucketsOf, expandedLeft, expandedRight } from "./expand";
import { Fold, fold, foldCardinality } from "./fold";
import { FOLD_BYTES, Scratch } from "./scratch";
import { UNSUITED, arrayShape, bitsetShape, bucketsShape, shapeAt, shapeCount, shapeKind } from "./shape";
import { areShortAndArray, countShort, foldShort, isShort } from "./short";
import { Sides, leftOperand, rightOperand, show, sidesOf } from "./sides";
import { differenceBuckets, intersectBuckets, intersectBucketsCardinality } from "../container/buckets";
import { Kind } from "../container/kind";
import { ARRAY_MAX, isArraySized } from "../container/limits";
import { MERGE_BYTES, NO_BUCKETS, unionBuckets, xorBuckets } from "../container/bucketmerge";
import { shortToBitset } from "../container/short";

// @ts-ignore: decorator
@inline function isBuckets(s: u64): bool { return shapeKind(s) == Kind.BUCKETS; }

/**
 * fold() where one side at least is buckets or a short bitset, and neither is empty or full. `left` and
 * `right` show the operands.
 */
export function foldCompact(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (isShort(l) && isBuckets(r)) {           // short bitsets have kernels for arrays, but not for buckets
    r = expandedRight(rightOperand(sides), r);
    sides = sidesOf(leftOperand(sides), SELF);
    show(sides);
  }
  const folded = isShort(l) || isShort(r)
    ? foldShort(op, sides, l, r, out)
    : foldBuckets(op, sides, l, r, out);
  return folded == UNSUITED ? foldExpanded(op, sides, l, r, out) : folded;
}

/** Folds what the containers expand to. A bitset on the left is changed in place, so it is made at `out`. */
function foldExpanded(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  const y = expandedRight(rightOperand(sides), r);
  const x = isShort(l) && !isArraySized(shapeCount(l))
    ? shortAsBitset(leftOperand(sides), l, out)
    : expandedLeft(leftOperand(sides), l);
  return fold(op, sidesOfExpanded(sides, l, x, r, y), x, y);
}

// @ts-ignore: decorator
@inline function shortAsBitset(operand: u32, s: u64, out: usize): u64 {
  left.select(operand);
  shortToBitset(shapeAt(s), out);
  return bitsetShape(shapeCount(s), out);
}

/** The operands of `x` and `y`: `l` and `r` of the operands of `sides`, or in memory 0 if expanded. */
// @ts-ignore: decorator
@inline function sidesOfExpanded(sides: Sides, l: u64, x: u64, r: u64, y: u64): Sides {
  return sidesOf(x == l ? leftOperand(sides) : SELF, y == r ? rightOperand(sides) : SELF);
}

/** foldCardinality() where one side at least is buckets or a short bitset. */
export function countCompact(sides: Sides, l: u64, r: u64): u32 {
  if (areShortAndArray(l, r)) return countShort(sides, l, r);
  if (isBuckets(l) && isBuckets(r)) {
    return intersectBucketsCardinality(shapeAt(l), shapeCount(l), shapeAt(r), shapeCount(r));
  }
  const y = expandedRight(rightOperand(sides), r), x = expandedLeft(leftOperand(sides), l);
  return foldCardinality(sidesOfExpanded(sides, l, x, r, y), x, y);
}

// --- Buckets -----------------------------------------------------------------------------------------------

/** fold() of two sides one of which is buckets and none a short bitset, if there is a kernel for both. */
function foldBuckets(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (op == Fold.OR || op == Fold.XOR) return mayMerge(l, r) ? mergeBuckets(op, sides, l, r, out) : UNSUITED;
  if (!isBuckets(l) || !isBuckets(r)) return UNSUITED;
  const a = shapeAt(l), aCount = shapeCount(l), b = shapeAt(r), bCount = shapeCount(r);
  if (op == Fold.AND) return arrayShape(intersectBuckets(a, aCount, b, bCount, out), out);
  return arrayShape(differenceBuckets(a, aCount, b, bCount, out), out);
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
  const lCount = shapeCount(l), rCount = shapeCount(r);
  return lCount + rCount <= ARRAY_MAX && lCount * MERGE_RATIO >= rCount && rCount * MERGE_RATIO >= lCount
    && (isBuckets(l) || shapeKind(l) == Kind.ARRAY) && (isBuckets(r) || shapeKind(r) == Kind.ARRAY);
}

/** The union or symmetric difference of buckets with buckets or an array, as buckets. */
function mergeBuckets(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  // mayMerge() has seen to it that the result fits `out`
  assert(<usize>ARRAY_MAX + MERGE_BYTES <= FOLD_BYTES);
  const lk = leftOperand(sides), rk = rightOperand(sides);
  const a = bucketsOf(lk, l, Scratch.LEFT), b = bucketsOf(rk, r, Scratch.RIGHT);
  if (!a || !b) return UNSUITED;
  show(sidesOf(isBuckets(l) ? lk : SELF, isBuckets(r) ? rk : SELF));
  const members = op == Fold.OR
    ? unionBuckets(a, shapeCount(l), b, shapeCount(r), out)
    : xorBuckets(a, shapeCount(l), b, shapeCount(r), out);
  return members == NO_BUCKETS ? UNSUITED : bucketsShape(members, out);
}
