// Folds where one side at least is of a compact kind, a short bitset or buckets, by kernels for the two
// kinds. UNSUITED: there is no such kernel, or the result would be large for its members; fold.ts then
// expands the compact sides. `left` and `right` show the operands, and no side is empty or full.

import { SELF, right } from "../../env/memory";
import { Left, Right } from "../../env/view";
import { bucketsOf } from "../shape/expand";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, Sides, leftOperand, rightOperand, show, sidesOf, swapped } from "./sides";
import { differenceBuckets, intersectBuckets } from "../../container/buckets";
import { MERGE_BYTES, NO_BUCKETS, unionBuckets, xorBuckets } from "../../container/bucketmerge";
import { And, AndNot, Count, Or, Store, Xor } from "../../container/kernel";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import {
  ShortBitset, changeShort, combineShorts, differenceArrayShort, intersectArrayShort,
} from "../../container/short";

// @ts-ignore: decorator
@inline export function isShort(s: u64): bool { return Shape.kind(s) == Kind.SHORT; }

// @ts-ignore: decorator
@inline export function isBuckets(s: u64): bool { return Shape.kind(s) == Kind.BUCKETS; }

// --- Short bitsets -----------------------------------------------------------------------------------------

/** Two short bitsets become one if there are no more words between them than this. */
// @ts-ignore: decorator
@inline const BETWEEN: u32 = 16;

/** Whether both are short bitsets, or one of them is and the other one is an array. */
// @ts-ignore: decorator
@inline export function areShortAndArray(l: u64, r: u64): bool {
  return (isShort(l) && (isShort(r) || Shape.kind(r) == Kind.ARRAY))
    || (isShort(r) && Shape.kind(l) == Kind.ARRAY);
}

/** Members of the intersection. For areShortAndArray(). */
export function countShort(sides: Sides, l: u64, r: u64): u32 {
  if (isShort(r)) return countWithShort(l, r);
  show(swapped(sides));
  return countWithShort(r, l);
}

/** countShort() where the right side is a short bitset. */
// @ts-ignore: decorator
@inline function countWithShort(l: u64, r: u64): u32 {
  const a = Shape.at(l), b = Shape.at(r);
  return isShort(l) ? intersectShorts<Count>(a, b, 0) : intersectArrayShort<Count>(a, Shape.count(l), b, 0);
}

/** fold() where one side at least is a short bitset, or UNSUITED. */
export function foldShort(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (!areShortAndArray(l, r)) return Shape.UNSUITED;
  if (op == Fold.ANDNOT) return differenceShort(l, r, out);
  // AND looks an array up in the words; OR and XOR change the words by an array
  if (op == Fold.AND ? !isShort(r) : !isShort(l)) {
    show(swapped(sides));
    return combineShort(op, r, l, out);
  }
  return combineShort(op, l, r, out);
}

/** AND where the right side is a short bitset, OR or XOR where the left side is one. */
function combineShort(op: Fold, l: u64, r: u64, out: usize): u64 {
  if (op == Fold.AND) return intersectWithShort(l, r, out);
  return op == Fold.OR ? uniteShort<Or>(l, r, out) : uniteShort<Xor>(l, r, out);
}

/** The intersection, where the right side is a short bitset. */
// @ts-ignore: decorator
@inline function intersectWithShort(l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), b = Shape.at(r);
  return isShort(l)
    ? Shape.short(intersectShorts<Store>(a, b, out), out)
    : Shape.array(intersectArrayShort<Store>(a, Shape.count(l), b, out), out);
}

/** Intersects left `a` with right `b`, both short bitsets. */
// @ts-ignore: decorator
@inline function intersectShorts<S>(a: usize, b: usize, out: usize): u32 {
  const aFirst = ShortBitset.firstWord<Left>(a), bFirst = ShortBitset.firstWord<Right>(b), first = max(aFirst, bFirst);
  const end = min(aFirst + ShortBitset.wordCount<Left>(a), bFirst + ShortBitset.wordCount<Right>(b));
  return first < end ? combineShorts<And, S>(a, b, first, end - first, out) : 0;
}

/** The left side less the right. */
function differenceShort(l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), b = Shape.at(r), count = Shape.count(l);
  if (!isShort(l)) return Shape.array(differenceArrayShort(a, count, b, out), out);
  const first = ShortBitset.firstWord<Left>(a), words = ShortBitset.wordCount<Left>(a);
  if (isShort(r)) return Shape.short(combineShorts<AndNot, Store>(a, b, first, words, out), out);
  return Shape.short(count + changeShort<AndNot>(a, b, Shape.count(r), first, words, out), out);
}

/** The union (Or) or symmetric difference (Xor), where the left side is a short bitset. */
function uniteShort<O>(l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), b = Shape.at(r), more = Shape.count(r);
  const aFirst = ShortBitset.firstWord<Left>(a), aWords = ShortBitset.wordCount<Left>(a);
  const both = isShort(r), rFirst = both ? ShortBitset.firstWord<Right>(b) : right.load16(b, 0) >> 6;
  const rEnd = both
    ? rFirst + ShortBitset.wordCount<Right>(b)
    : (right.load16(b + Container.arrayBytes(more) - Container.MEMBER_BYTES, 0) >> 6) + 1;
  const first = min(aFirst, rFirst), words = max(aFirst + aWords, rEnd) - first;
  const near = both && words <= aWords + rEnd - rFirst + BETWEEN;
  if (words > Container.SHORT_MAX || !(near || Choice.prefersShort(Shape.count(l) + more, words))) return Shape.UNSUITED;
  if (both) return Shape.short(combineShorts<O, Store>(a, b, first, words, out), out);
  return Shape.short(Shape.count(l) + changeShort<O>(a, b, more, first, words, out), out);
}

// --- Buckets -----------------------------------------------------------------------------------------------

/** fold() where one side at least is buckets and none a short bitset, or UNSUITED. */
export function foldBuckets(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (op == Fold.OR || op == Fold.XOR) return mayMerge(l, r) ? mergeBuckets(op, sides, l, r, out) : Shape.UNSUITED;
  if (!isBuckets(l) || !isBuckets(r)) return Shape.UNSUITED;
  const a = Shape.at(l), aCount = Shape.count(l), b = Shape.at(r), bCount = Shape.count(r);
  if (op == Fold.AND) return Shape.array(intersectBuckets(a, aCount, b, bCount, out), out);
  return Shape.array(differenceBuckets(a, aCount, b, bCount, out), out);
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
  const lCount = Shape.count(l), rCount = Shape.count(r);
  return lCount + rCount <= Container.ARRAY_MAX && lCount * MERGE_RATIO >= rCount && rCount * MERGE_RATIO >= lCount
    && (isBuckets(l) || Shape.kind(l) == Kind.ARRAY) && (isBuckets(r) || Shape.kind(r) == Kind.ARRAY);
}

/** The union or symmetric difference of buckets with buckets or an array, as buckets. */
function mergeBuckets(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  // mayMerge() has seen to it that the result fits `out`
  assert(<usize>Container.ARRAY_MAX + MERGE_BYTES <= Places.FOLD_BYTES);
  const lk = leftOperand(sides), rk = rightOperand(sides);
  const a = bucketsOf(lk, l, Scratch.LEFT), b = bucketsOf(rk, r, Scratch.RIGHT);
  if (!a || !b) return Shape.UNSUITED;
  show(sidesOf(isBuckets(l) ? lk : SELF, isBuckets(r) ? rk : SELF));
  const members = op == Fold.OR
    ? unionBuckets(a, Shape.count(l), b, Shape.count(r), out)
    : xorBuckets(a, Shape.count(l), b, Shape.count(r), out);
  return members == NO_BUCKETS ? Shape.UNSUITED : Shape.buckets(members, out);
}
