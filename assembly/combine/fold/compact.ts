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
import { BucketMerge, unionBuckets, xorBuckets } from "../../container/bucketmerge";
import { And, AndNot, Count, Or, SetOperation, Sink, Store, Xor } from "../../container/kernel";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import {
  ShortBitset, changeShort, combineShorts, differenceArrayShort, intersectArrayShort,
} from "../../container/short";

/** Folds of short bitsets and buckets without expanding them. */
export abstract class CompactFold {
  // --- Short bitsets -----------------------------------------------------------------------------------------

  /** Two short bitsets become one if there are no more words between them than this. */
  @inline private static readonly BETWEEN: u32 = 16;
  /**
   * Arrays this many times shorter than the buckets they meet are not merged with them: it is quicker to look
   * their members up.
   */
  @inline private static readonly MERGE_RATIO: u32 = 24;

  @inline static isShort(s: u64): bool { return Shape.kind(s) == Kind.SHORT; }

  @inline static isBuckets(s: u64): bool { return Shape.kind(s) == Kind.BUCKETS; }

  /** Whether both are short bitsets, or one of them is and the other one is an array. */
  @inline static areShortAndArray(l: u64, r: u64): bool {
    return (CompactFold.isShort(l) && (CompactFold.isShort(r) || Shape.kind(r) == Kind.ARRAY))
      || (CompactFold.isShort(r) && Shape.kind(l) == Kind.ARRAY);
  }

  /** Members of the intersection. For CompactFold.areShortAndArray(). */
  static countShort(sides: Sides, l: u64, r: u64): u32 {
    if (CompactFold.isShort(r)) return CompactFold.countWithShort(l, r);
    show(swapped(sides));
    return CompactFold.countWithShort(r, l);
  }

  /** countShort() where the right side is a short bitset. */
  @inline private static countWithShort(l: u64, r: u64): u32 {
    const a = Shape.at(l), b = Shape.at(r);
    return CompactFold.isShort(l) ? CompactFold.intersectShorts<Count>(a, b, 0)
      : intersectArrayShort<Count>(a, Shape.count(l), b, 0);
  }

  /** fold() where one side at least is a short bitset, or UNSUITED. */
  static foldShort(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
    if (!CompactFold.areShortAndArray(l, r)) return Shape.UNSUITED;
    if (op == Fold.ANDNOT) return CompactFold.differenceShort(l, r, out);
    // AND looks an array up in the words; OR and XOR change the words by an array
    if (op == Fold.AND ? !CompactFold.isShort(r) : !CompactFold.isShort(l)) {
      show(swapped(sides));
      return CompactFold.combineShort(op, r, l, out);
    }
    return CompactFold.combineShort(op, l, r, out);
  }

  /** AND where the right side is a short bitset, OR or XOR where the left side is one. */
  private static combineShort(op: Fold, l: u64, r: u64, out: usize): u64 {
    if (op == Fold.AND) return CompactFold.intersectWithShort(l, r, out);
    return op == Fold.OR ? CompactFold.uniteShort<Or>(l, r, out) : CompactFold.uniteShort<Xor>(l, r, out);
  }

  /** The intersection, where the right side is a short bitset. */
  @inline private static intersectWithShort(l: u64, r: u64, out: usize): u64 {
    const a = Shape.at(l), b = Shape.at(r);
    return CompactFold.isShort(l)
      ? Shape.short(CompactFold.intersectShorts<Store>(a, b, out), out)
      : Shape.array(intersectArrayShort<Store>(a, Shape.count(l), b, out), out);
  }

  /** Intersects left `a` with right `b`, both short bitsets. */
  @inline private static intersectShorts<S extends Sink>(a: usize, b: usize, out: usize): u32 {
    const aFirst = ShortBitset.firstWord<Left>(a), bFirst = ShortBitset.firstWord<Right>(b),
      first = max(aFirst, bFirst);
    const end = min(aFirst + ShortBitset.wordCount<Left>(a), bFirst + ShortBitset.wordCount<Right>(b));
    return first < end ? combineShorts<And, S>(a, b, first, end - first, out) : 0;
  }

  /** The left side less the right. */
  private static differenceShort(l: u64, r: u64, out: usize): u64 {
    const a = Shape.at(l), b = Shape.at(r), count = Shape.count(l);
    if (!CompactFold.isShort(l)) return Shape.array(differenceArrayShort(a, count, b, out), out);
    const first = ShortBitset.firstWord<Left>(a), words = ShortBitset.wordCount<Left>(a);
    if (CompactFold.isShort(r)) {
      return Shape.short(combineShorts<AndNot, Store>(a, b, first, words, out), out);
    }
    return Shape.short(count
      + changeShort<AndNot>(a, b, Shape.count(r), ShortBitset.header(first, words), out), out);
  }

  /** The union (Or) or symmetric difference (Xor), where the left side is a short bitset. */
  private static uniteShort<O extends SetOperation>(l: u64, r: u64, out: usize): u64 {
    const a = Shape.at(l), b = Shape.at(r), more = Shape.count(r);
    const aFirst = ShortBitset.firstWord<Left>(a), aWords = ShortBitset.wordCount<Left>(a);
    const both = CompactFold.isShort(r),
      rFirst = both ? ShortBitset.firstWord<Right>(b) : right.load16(b, 0) >> 6;
    const rEnd = both
      ? rFirst + ShortBitset.wordCount<Right>(b)
      : (right.load16(b + Container.arrayBytes(more) - Container.MEMBER_BYTES, 0) >> 6) + 1;
    const first = min(aFirst, rFirst), words = max(aFirst + aWords, rEnd) - first;
    const near = both && words <= aWords + rEnd - rFirst + CompactFold.BETWEEN;
    if (words > Container.SHORT_MAX || !(near || Choice.prefersShort(Shape.count(l) + more, words))) {
      return Shape.UNSUITED;
    }
    if (both) return Shape.short(combineShorts<O, Store>(a, b, first, words, out), out);
    return Shape.short(Shape.count(l) + changeShort<O>(a, b, more, ShortBitset.header(first, words), out),
      out);
  }

  // --- Buckets -----------------------------------------------------------------------------------------------

  /** fold() where one side at least is buckets and none a short bitset, or UNSUITED. */
  static foldBuckets(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
    if (op == Fold.OR || op == Fold.XOR) {
      return CompactFold.mayMerge(l, r) ? CompactFold.mergeBuckets(op, sides, l, r, out) : Shape.UNSUITED;
    }
    if (!CompactFold.isBuckets(l) || !CompactFold.isBuckets(r)) return Shape.UNSUITED;
    const a = Shape.at(l), aCount = Shape.count(l), b = Shape.at(r), bCount = Shape.count(r);
    if (op == Fold.AND) return Shape.array(intersectBuckets(a, aCount, b, bCount, out), out);
    return Shape.array(differenceBuckets(a, aCount, b, bCount, out), out);
  }

  /** Whether the union of two containers, one of which is buckets, is best merged bucket by bucket. */
  @inline private static mayMerge(l: u64, r: u64): bool {
    const lCount = Shape.count(l), rCount = Shape.count(r);
    return lCount + rCount <= Container.ARRAY_MAX && lCount * CompactFold.MERGE_RATIO >= rCount
      && rCount * CompactFold.MERGE_RATIO >= lCount
      && (CompactFold.isBuckets(l) || Shape.kind(l) == Kind.ARRAY)
      && (CompactFold.isBuckets(r) || Shape.kind(r) == Kind.ARRAY);
  }

  /** The union or symmetric difference of buckets with buckets or an array, as buckets. */
  private static mergeBuckets(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
    // CompactFold.mayMerge() has seen to it that the result fits `out`
    assert(<usize>Container.ARRAY_MAX + BucketMerge.MERGE_BYTES <= Places.FOLD_BYTES);
    const lk = leftOperand(sides), rk = rightOperand(sides);
    const a = bucketsOf(lk, l, Scratch.LEFT), b = bucketsOf(rk, r, Scratch.RIGHT);
    if (!a || !b) return Shape.UNSUITED;
    show(sidesOf(CompactFold.isBuckets(l) ? lk : SELF, CompactFold.isBuckets(r) ? rk : SELF));
    const members = op == Fold.OR
      ? unionBuckets(a, Shape.count(l), b, Shape.count(r), out)
      : xorBuckets(a, Shape.count(l), b, Shape.count(r), out);
    return members == BucketMerge.NO_BUCKETS ? Shape.UNSUITED : Shape.buckets(members, out);
  }
}
