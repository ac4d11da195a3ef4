// Folds of short bitsets with short bitsets and with arrays: which words the result has, and which kernel
// makes it. `left` and `right` show the operands, no side is empty or full, and one side at least is a short
// bitset. UNSUITED: there is no kernel for the two kinds, or the words would be many for few members.

import { right } from "../env/memory";
import { Left, Right } from "../env/view";
import { Fold } from "./fold";
import { arrayShape, shapeAt, shapeCount, shapeKind, shortShape, UNSUITED } from "./shape";
import { Sides, show, swapped } from "./sides";
import { Kind, prefersShort } from "../container/kind";
import { And, AndNot, Count, Or, Store, Xor } from "../container/kernel";
import { MEMBER_BYTES, arrayBytes, SHORT_MAX } from "../container/limits";
import {
  changeShort, combineShorts, differenceArrayShort, firstWord, intersectArrayShort, wordCount,
} from "../container/short";

/** Two short bitsets become one if there are no more words between them than this. */
// @ts-ignore: decorator
@inline const BETWEEN: u32 = 16;

// @ts-ignore: decorator
@inline export function isShort(s: u64): bool { return shapeKind(s) == Kind.SHORT; }

/** Whether both are short bitsets, or one of them is and the other one is an array. */
// @ts-ignore: decorator
@inline export function areShortAndArray(l: u64, r: u64): bool {
  return (isShort(l) && (isShort(r) || shapeKind(r) == Kind.ARRAY))
    || (isShort(r) && shapeKind(l) == Kind.ARRAY);
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
  const a = shapeAt(l), b = shapeAt(r);
  return isShort(l) ? intersect<Count>(a, b, 0) : intersectArrayShort<Count>(a, shapeCount(l), b, 0);
}

/** fold() where one side at least is a short bitset, or UNSUITED. */
export function foldShort(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (!areShortAndArray(l, r)) return UNSUITED;
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
  const a = shapeAt(l), b = shapeAt(r);
  return isShort(l)
    ? shortShape(intersect<Store>(a, b, out), out)
    : arrayShape(intersectArrayShort<Store>(a, shapeCount(l), b, out), out);
}

/** Intersects left `a` with right `b`, both short bitsets. */
// @ts-ignore: decorator
@inline function intersect<S>(a: usize, b: usize, out: usize): u32 {
  const aFirst = firstWord<Left>(a), bFirst = firstWord<Right>(b), first = max(aFirst, bFirst);
  const end = min(aFirst + wordCount<Left>(a), bFirst + wordCount<Right>(b));
  return first < end ? combineShorts<And, S>(a, b, first, end - first, out) : 0;
}

/** The left side less the right. */
function differenceShort(l: u64, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r), count = shapeCount(l);
  if (!isShort(l)) return arrayShape(differenceArrayShort(a, count, b, out), out);
  const first = firstWord<Left>(a), words = wordCount<Left>(a);
  if (isShort(r)) return shortShape(combineShorts<AndNot, Store>(a, b, first, words, out), out);
  return shortShape(count + changeShort<AndNot>(a, b, shapeCount(r), first, words, out), out);
}

/** The union (Or) or symmetric difference (Xor), where the left side is a short bitset. */
function uniteShort<O>(l: u64, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r), more = shapeCount(r);
  const aFirst = firstWord<Left>(a), aWords = wordCount<Left>(a);
  const both = isShort(r), rFirst = both ? firstWord<Right>(b) : right.load16(b, 0) >> 6;
  const rEnd = both
    ? rFirst + wordCount<Right>(b)
    : (right.load16(b + arrayBytes(more) - MEMBER_BYTES, 0) >> 6) + 1;
  const first = min(aFirst, rFirst), words = max(aFirst + aWords, rEnd) - first;
  const near = both && words <= aWords + rEnd - rFirst + BETWEEN;
  if (words > SHORT_MAX || !(near || prefersShort(shapeCount(l) + more, words))) return UNSUITED;
  if (both) return shortShape(combineShorts<O, Store>(a, b, first, words, out), out);
  return shortShape(shapeCount(l) + changeShort<O>(a, b, more, first, words, out), out);
}
