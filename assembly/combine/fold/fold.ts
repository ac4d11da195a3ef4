// Two containers into one, whatever their kinds: a table from pairs of kinds to functions. The walks over
// bitmaps (combine/walkterm.ts, combine/walk/pair.ts) know keys, the kernels (container/) know one pair of
// kinds each, and this file connects them. Pairs of arrays, bitsets and runs are folded in plain.ts, pairs
// with a sparse or a short bitset in compact.ts if there is a kernel for them, and pairs with an empty or full
// container in trivial.ts.
//
// `l`, the left container, and `r`, the right one, belong to the operands that `sides` names. Where the
// operation commutes, the sides are ordered here, so that the other files need to handle each pair of kinds in
// one order only.

import { SELF } from "../../env/memory";
import {
  differenceRunsArray, differenceRunsBitset, foldArrayBitset, foldArrayRuns, foldArrays, foldBitsetArray,
  foldBitsetRuns, foldBitsets, foldRuns, ownBitset,
} from "./plain";
import { CompactFold } from "./compact";
import { asBitset, expandedLeft, expandedRight } from "../shape/expand";
import { foldEmptyOrFull, isEmptyOrFull } from "./trivial";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, Sides, leftOperand, rightOperand, show, sidesOf, swapped } from "./sides";
import { intersectArraysCardinality } from "../../container/array";
import { intersectBitsetsCardinality } from "../../container/bitset";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { intersectArrayBitsetCardinality } from "../../container/mixed";

/** The kinds of a left and a right container. The pairs without a name are those with SPARSE or SHORT. */
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
@inline function pairOf(l: u64, r: u64): Pair { return (Shape.kind(l) << 3) | Shape.kind(r); }

/**
 * Folds the container `r` into `l`. The result is in memory 0: in Scratch.FIRST or SECOND, or where a side
 * was that is SELF, for a bitset on the left may be changed in place. One of the sides may lie in FIRST or
 * SECOND, but neither in TEMP, LEFT or RIGHT, which are used on the way. Leaves `left` and `right` anywhere.
 */
export function fold(op: Fold, sides: Sides, l: u64, r: u64): u64 {
  if (isEmptyOrFull(l) || isEmptyOrFull(r)) return foldEmptyOrFull(op, sides, l, r, resultPlace(sides, l, r));
  if (op != Fold.ANDNOT && isBehind(op, l, r)) return fold(op, swapped(sides), r, l);
  const out = resultPlace(sides, l, r);
  show(sides);
  switch (pairOf(l, r)) {
    case Pair.ARRAY_ARRAY: return foldArrays(op, l, r, out);
    case Pair.ARRAY_BITSET: return foldArrayBitset(op, l, r, out);
    case Pair.ARRAY_RUNS: return foldArrayRuns(op, l, r, out);
    case Pair.BITSET_ARRAY: return foldBitsetArray(op, l, r, ownBitset(sides, l, out));
    case Pair.BITSET_BITSET: return foldBitsets(op, l, r, leftOperand(sides) == SELF ? Shape.at(l) : out);
    case Pair.BITSET_RUNS: return foldBitsetRuns(op, ownBitset(sides, l, out), Shape.at(r));
    case Pair.RUNS_ARRAY: return differenceRunsArray(sides, l, r, out);
    case Pair.RUNS_BITSET: return differenceRunsBitset(l, r, out);
    case Pair.RUNS_RUNS: return foldRuns(op, l, r, out);
    default: return foldCompact(op, sides, l, r, out);
  }
}

/** Where the result goes if it is not made in place: FIRST or SECOND, in which no side lies. */
// @ts-ignore: decorator
@inline function resultPlace(sides: Sides, l: u64, r: u64): usize {
  if (leftOperand(sides) == SELF && Places.liesIn(Shape.at(l), Scratch.FIRST)) {
    return Places.at(Scratch.SECOND);
  }
  if (rightOperand(sides) == SELF && Places.liesIn(Shape.at(r), Scratch.FIRST)) {
    return Places.at(Scratch.SECOND);
  }
  return Places.at(Scratch.FIRST);
}

/**
 * Members of the intersection of `l` and `r`. The places are those of fold(), which are used only where runs
 * or compact kinds are involved; a side that is SELF may be changed.
 */
export function foldCardinality(sides: Sides, l: u64, r: u64): u32 {
  if (Shape.kind(l) == Kind.FULL) return Shape.count(r);
  if (Shape.kind(r) == Kind.FULL) return Shape.count(l);
  if (isBehind(Fold.AND, l, r)) return foldCardinality(swapped(sides), r, l);
  const a = Shape.at(l), aCount = Shape.count(l), b = Shape.at(r);
  show(sides);
  switch (pairOf(l, r)) {
    case Pair.ARRAY_ARRAY: return intersectArraysCardinality(a, aCount, b, Shape.count(r));
    case Pair.ARRAY_BITSET: return intersectArrayBitsetCardinality(a, aCount, b);
    case Pair.BITSET_BITSET: return intersectBitsetsCardinality(a, b);
    case Pair.ARRAY_RUNS:
    case Pair.BITSET_RUNS:
    case Pair.RUNS_RUNS: return Shape.count(fold(Fold.AND, sides, l, r));
    default: return countCompact(sides, l, r);
  }
}

// --- Compact kinds -----------------------------------------------------------------------------------------

/** fold() where one side at least is a sparse or a short bitset, and neither is empty or full. */
function foldCompact(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  const folded = CompactFold.isSparse(l) || CompactFold.isSparse(r)
    ? CompactFold.foldSparse(op, sides, l, r, out)
    : CompactFold.foldShort(op, sides, l, r, out);
  return folded == Shape.UNSUITED ? foldExpanded(op, sides, l, r, out) : folded;
}

/**
 * Folds what the containers expand to. A bitset on the left is changed in place, so it is made at `out`. Of
 * two short bitsets, one with too many members for an array therefore has to be on the left.
 */
function foldExpanded(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (op != Fold.ANDNOT && CompactFold.isShort(l) && CompactFold.isShort(r)
    && orderOf(op, l) > orderOf(op, r)) {
    return foldExpanded(op, swapped(sides), r, l, out);
  }
  const y = expandedRight(rightOperand(sides), r);
  const x = CompactFold.expandsToBitset(l) ? asBitset(leftOperand(sides), l, out)
    : expandedLeft(leftOperand(sides), l);
  return fold(op, sidesOfExpanded(sides, l, x, r, y), x, y);
}

/** The operands of `x` and `y`: `l` and `r` of the operands of `sides`, or in memory 0 if expanded. */
// @ts-ignore: decorator
@inline function sidesOfExpanded(sides: Sides, l: u64, x: u64, r: u64, y: u64): Sides {
  return sidesOf(x == l ? leftOperand(sides) : SELF, y == r ? rightOperand(sides) : SELF);
}

/** foldCardinality() where one side at least is a sparse or a short bitset. */
function countCompact(sides: Sides, l: u64, r: u64): u32 {
  if (CompactFold.areShortAndArray(l, r)) return CompactFold.countShort(sides, l, r);
  if (CompactFold.looksUp(l, r) || (CompactFold.isSparse(l) && CompactFold.isSparse(r))) {
    return CompactFold.countSparse(l, r);
  }
  const y = expandedRight(rightOperand(sides), r), x = expandedLeft(leftOperand(sides), l);
  return foldCardinality(sidesOfExpanded(sides, l, x, r, y), x, y);
}

// --- The order of the sides --------------------------------------------------------------------------------

/** Whether `l` comes behind `r` in the order that the kernels of a commutative operation expect. */
// @ts-ignore: decorator
@inline function isBehind(op: Fold, l: u64, r: u64): bool {
  return Shape.kind(l) != Shape.kind(r) && orderOf(op, l) > orderOf(op, r);
}

/**
 * Where a container comes in that order. AND looks the members of an array up on the other side; OR and XOR
 * change a bitset by what is on the other side. Compact kinds come where they would come as an array or a
 * bitset, so the order still holds when they have become one.
 */
function orderOf(op: Fold, s: u64): u32 {
  const kind = Shape.kind(s);
  if (kind == Kind.RUNS) return 3;
  if (kind == Kind.ARRAY || (kind == Kind.SHORT && Container.isArraySized(Shape.count(s)))) return 1;
  return op == Fold.AND ? 2 : 0;
}
