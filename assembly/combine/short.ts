// Folds of short bitsets with short bitsets and with arrays: which words the result has, and which kernel
// makes it. The arguments are those of fold() (fold.ts), except that no side is empty or full and one side at
// least is a short bitset. UNSUITED: there is no kernel for the two kinds, or the words would be many for few
// members.

import { left, right } from "../env/memory";
import { Left, Right } from "../env/view";
import { arrayShape, shapeAt, shapeCount, shapeKind, shortShape, UNSUITED } from "./shape";
import { Kind, prefersShort } from "../container/kind";
import { And, AndNot, Count, Store } from "../container/kernel";
import { MEMBER_BYTES, arrayBytes, SHORT_MAX } from "../container/limits";
import {
  changeShort, combineShorts, differenceArrayShort, firstWord, intersectArrayShort, wordCount,
} from "../container/short";

/** Two short bitsets become one if there are no more words between them than this. */
// @ts-ignore: decorator
@inline const BETWEEN: u32 = 16;

// @ts-ignore: decorator
@inline function isShort(s: u64): bool { return shapeKind(s) == Kind.SHORT; }

/** Whether both are short bitsets, or one of them is and the other one is an array. */
// @ts-ignore: decorator
@inline export function areShortAndArray(l: u64, r: u64): bool {
  return (isShort(l) && (isShort(r) || shapeKind(r) == Kind.ARRAY))
    || (isShort(r) && shapeKind(l) == Kind.ARRAY);
}

/** Shows the operands on the other sides. */
// @ts-ignore: decorator
@inline function swapSides(lk: u32, rk: u32): void {
  left.select(rk);
  right.select(lk);
}

/** Members of the intersection. For areShortAndArray(). */
export function countShort(lk: u32, l: u64, rk: u32, r: u64): u32 {
  const a = shapeAt(l), b = shapeAt(r);
  if (isShort(l) && isShort(r)) return intersect<Count>(a, b, 0);
  if (isShort(r)) return intersectArrayShort<Count>(a, shapeCount(l), b, 0);
  swapSides(lk, rk);
  const members = intersectArrayShort<Count>(b, shapeCount(r), a, 0);
  swapSides(rk, lk);
  return members;
}

export function intersectShort(lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r);
  if (!areShortAndArray(l, r)) return UNSUITED;
  if (isShort(l) && isShort(r)) return shortShape(intersect<Store>(a, b, out), out);
  if (isShort(r)) return arrayShape(intersectArrayShort<Store>(a, shapeCount(l), b, out), out);
  swapSides(lk, rk);
  const members = intersectArrayShort<Store>(b, shapeCount(r), a, out);
  swapSides(rk, lk);
  return arrayShape(members, out);
}

/** Intersects left `a` with right `b`, both short bitsets. */
// @ts-ignore: decorator
@inline function intersect<S>(a: usize, b: usize, out: usize): u32 {
  const aFirst = firstWord<Left>(a), bFirst = firstWord<Right>(b), first = max(aFirst, bFirst);
  const end = min(aFirst + wordCount<Left>(a), bFirst + wordCount<Right>(b));
  return first < end ? combineShorts<And, S>(a, b, first, end - first, out) : 0;
}

/** The left side less the right. */
export function differenceShort(l: u64, r: u64, out: usize): u64 {
  const a = shapeAt(l), b = shapeAt(r), count = shapeCount(l);
  if (!areShortAndArray(l, r)) return UNSUITED;
  if (!isShort(l)) return arrayShape(differenceArrayShort(a, count, b, out), out);
  const first = firstWord<Left>(a), words = wordCount<Left>(a);
  if (isShort(r)) return shortShape(combineShorts<AndNot, Store>(a, b, first, words, out), out);
  return shortShape(count + changeShort<AndNot>(a, b, shapeCount(r), first, words, out), out);
}

/** The union (Or) or symmetric difference (Xor). */
export function uniteShort<O>(lk: u32, l: u64, rk: u32, r: u64, out: usize): u64 {
  if (!areShortAndArray(l, r)) return UNSUITED;
  if (isShort(l)) return uniteWithShort<O>(l, r, out);
  swapSides(lk, rk);
  const united = uniteWithShort<O>(r, l, out);
  swapSides(rk, lk);
  return united;
}

/** uniteShort() where the left side is a short bitset. */
function uniteWithShort<O>(l: u64, r: u64, out: usize): u64 {
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
