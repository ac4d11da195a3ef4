// Folds where one side at least is of a compact kind, a sparse or a short bitset, by kernels for the two
// kinds. UNSUITED: there is no such kernel, or the result would be large for its members; fold.ts then
// expands the compact sides. `left` and `right` show the operands, and no side is empty or full.

import { SELF, left, right } from "../../env/memory";
import { Left, Right } from "../../env/view";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, Sides, leftOperand, show, swapped } from "./sides";
import { Bitset } from "../../container/bitset";
import { And, AndNot, Count, Or, SetOperation, Sink, Store, Xor } from "../../container/kernel";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import {
  ShortBitset, changeShort, combineShorts, differenceArrayShort, intersectArrayShort,
} from "../../container/short";
import { Meeting } from "../../container/meeting";
import { Sparse } from "../../container/sparse";

/** Folds of sparse and short bitsets without expanding both sides. */
export abstract class CompactFold {
  // --- Short bitsets -----------------------------------------------------------------------------------------

  /** Two short bitsets become one if there are no more words between them than this. */
  @inline private static readonly BETWEEN: u32 = 16;
  /** Once two sparse bitsets turn out to share more members than this, they are expanded after all. */
  @inline private static readonly MET_MAX: u32 = 128;
  /** The most members that are expected in common: where members lie close together, bytes have many. */
  @inline private static readonly EXPECTED_MAX: u32 = 96;
  /** The most members of an array that are looked up in a sparse bitset: expanding it takes as long. */
  @inline private static readonly LOOKED_UP_MAX: u32 = 6;

  @inline static isShort(s: u64): bool { return Shape.kind(s) == Kind.SHORT; }

  @inline static isSparse(s: u64): bool { return Shape.kind(s) == Kind.SPARSE; }

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

  // --- Sparse bitsets ----------------------------------------------------------------------------------------

  /** Whether the container becomes a bitset when it is expanded. */
  @inline static expandsToBitset(s: u64): bool {
    return CompactFold.isSparse(s) || (CompactFold.isShort(s) && !Container.isArraySized(Shape.count(s)));
  }

  /** Whether the members of `l` are best looked up in `r` one by one. */
  @inline static looksUp(l: u64, r: u64): bool {
    return CompactFold.isSparse(r) && Shape.kind(l) == Kind.ARRAY
      && Shape.count(l) <= CompactFold.LOOKED_UP_MAX;
  }

  /**
   * Whether two sparse bitsets probably have few bytes in common, so that looking at these takes less than
   * expanding one. What is left and right shows them.
   */
  static meetRarely(l: u64, r: u64): bool {
    return CompactFold.isSparse(l) && CompactFold.isSparse(r) && Meeting.isRare(Shape.at(l), Shape.at(r))
      && Shape.count(l) * Shape.count(r) <= CompactFold.EXPECTED_MAX * Container.UNIVERSE;
  }

  /** Members of the intersection of two sparse bitsets, or for CompactFold.looksUp(). */
  static countSparse(l: u64, r: u64): u32 {
    const a = Shape.at(l), b = Shape.at(r);
    if (CompactFold.meetRarely(l, r)) {
      const members = Meeting.intersect<Count>(a, b, CompactFold.MET_MAX, 0);
      if (members != Meeting.MANY) return members;
    }
    if (CompactFold.isSparse(l)) return Sparse.common(a, b);
    return Sparse.filter<And, Count>(a, Shape.count(l), b, 0);
  }

  /** fold() where one side at least is a sparse bitset, or UNSUITED. */
  static foldSparse(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
    const a = Shape.at(l), b = Shape.at(r), count = Shape.count(l);
    if (CompactFold.looksUp(l, r)) {
      if (op == Fold.AND) return Shape.array(Sparse.filter<And, Store>(a, count, b, out), out);
      if (op == Fold.ANDNOT) return Shape.array(Sparse.filter<AndNot, Store>(a, count, b, out), out);
    }
    if (!CompactFold.isSparse(r)) return Shape.UNSUITED;
    if (op == Fold.AND && CompactFold.meetRarely(l, r)) {
      const members = Meeting.intersect<Store>(a, b, CompactFold.MET_MAX, out);
      if (members != Meeting.MANY) return Shape.array(members, out);
    }
    if (op == Fold.ANDNOT && CompactFold.meetRarely(l, r)) {
      const shared = Meeting.subtract(a, b, CompactFold.MET_MAX, out, Places.at(Scratch.TEMP));
      if (shared != Meeting.MANY) return shared < count ? Shape.sparse(count - shared, out) : Shape.NOTHING;
    }
    if (CompactFold.isSparse(l)) return Shape.bitset(combineTwoSparse(op, a, b, out), out);
    if (leftOperand(sides) != SELF || Shape.kind(l) != Kind.BITSET) return Shape.UNSUITED;
    out = a;
    combineSparse(op, b, out);
    left.select(SELF);
    return Shape.bitset(Bitset.cardinality(out), out);
  }
}

/** Combines left `a` with right `b`, both sparse bitsets, into a bitset at `out`; returns the cardinality. */
function combineTwoSparse(op: Fold, a: usize, b: usize, out: usize): u32 {
  if (op == Fold.AND) return Sparse.combine<And>(a, b, out);
  if (op == Fold.OR) return Sparse.combine<Or>(a, b, out);
  return op == Fold.XOR ? Sparse.combine<Xor>(a, b, out) : Sparse.combine<AndNot>(a, b, out);
}

/** Combines the bitset at `out` in memory 0 with the sparse bitset that `right` shows at `at`. */
export function combineSparse(op: Fold, at: usize, out: usize): void {
  if (op == Fold.AND) Sparse.combineInto<And, Right>(at, out);
  else if (op == Fold.OR) Sparse.combineInto<Or, Right>(at, out);
  else if (op == Fold.XOR) Sparse.combineInto<Xor, Right>(at, out);
  else Sparse.combineInto<AndNot, Right>(at, out);
}
