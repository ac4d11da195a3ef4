// Folds of arrays, bitsets and runs: one function for each pair of kinds, which chooses a kernel by the
// operation and how the result is held. `left` and `right` show the operands. AND, OR and XOR come with their
// sides in the order that fold.ts says, so some pairs of kinds are met by a few operations only.

import { SELF, left, right } from "../../env/memory";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, Sides, leftOperand, rightOperand, show, sidesOf } from "./sides";
import { BITSET_BYTES } from "../../container/limits";
import { differenceArrays, intersectArrays, unionArrays, xorArrays } from "../../container/array";
import { Bitset, differenceBitsets, intersectBitsets, unionBitsets,
  xorBitsets } from "../../container/bitset";
import { arrayToBitset, arrayToRuns, runsToBitset } from "../../container/convert";
import {
  differenceArrayBitset, differenceArrayInto, differenceArrayRuns, differenceRunsInto, intersectArrayBitset,
  intersectArrayRuns, intersectRunsInto, unionArrayInto, unionRunsInto, xorArrayInto, xorRunsInto,
} from "../../container/mixed";
import { Choice } from "../../container/kind";
import { Runs, differenceRuns, intersectRuns, unionRuns, xorRuns } from "../../container/run";

/** The address in memory 0 of the bitset `l`: where it is, or `out`, to which it is copied. */
// @ts-ignore: decorator
@inline export function ownBitset(sides: Sides, l: u64, out: usize): usize {
  if (leftOperand(sides) == SELF) return Shape.at(l);
  left.copy(out, Shape.at(l), BITSET_BYTES);
  return out;
}

// --- Arrays ------------------------------------------------------------------------------------------------

/** Arrays with more members together are united as a bitset: most of their members make a sparse bitset. */
// @ts-ignore: decorator
@inline const MERGED_MAX: u32 = Choice.SPARSE_FROM + 128;

export function foldArrays(op: Fold, l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), aCount = Shape.count(l), b = Shape.at(r), bCount = Shape.count(r);
  if (op == Fold.AND) return Shape.array(intersectArrays(a, aCount, b, bCount, out), out);
  if (op == Fold.ANDNOT) return Shape.array(differenceArrays(a, aCount, b, bCount, out), out);
  if (aCount + bCount <= MERGED_MAX) {
    if (op == Fold.OR) return Shape.array(unionArrays(a, aCount, b, bCount, out), out);
    return Shape.array(xorArrays(a, aCount, b, bCount, out), out);
  }
  arrayToBitset(a, aCount, out);
  const change = op == Fold.OR ? unionArrayInto(out, b, bCount) : xorArrayInto(out, b, bCount);
  return Shape.bitset(aCount + change, out);
}

/** AND or ANDNOT. */
export function foldArrayBitset(op: Fold, l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), count = Shape.count(l), b = Shape.at(r);
  return Shape.array(op == Fold.AND ? intersectArrayBitset(a, count, b, out)
    : differenceArrayBitset(a, count, b, out), out);
}

export function foldArrayRuns(op: Fold, l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), count = Shape.count(l), b = Shape.at(r);
  if (op == Fold.AND) return Shape.array(intersectArrayRuns(a, count, b, out), out);
  if (op == Fold.ANDNOT) return Shape.array(differenceArrayRuns(a, count, b, out), out);
  if (count + right.load16(b, 0) >= Places.RUNS_MAX) {               // too many to stay runs
    arrayToBitset(a, count, out);
    return foldBitsetRuns(op, out, b);
  }
  const runs = Places.at(Scratch.TEMP);
  arrayToRuns(a, count, runs);
  left.select(SELF);
  return mergeRuns(op, runs, b, out);
}

// --- Bitsets -----------------------------------------------------------------------------------------------

export function foldBitsets(op: Fold, l: u64, r: u64, to: usize): u64 {
  const a = Shape.at(l), b = Shape.at(r);
  if (op == Fold.AND) return Shape.bitset(intersectBitsets(a, b, to), to);
  if (op == Fold.OR) return Shape.bitset(unionBitsets(a, b, to), to);
  if (op == Fold.XOR) return Shape.bitset(xorBitsets(a, b, to), to);
  return Shape.bitset(differenceBitsets(a, b, to), to);
}

/** OR, XOR or ANDNOT of the bitset `l`, which is at `to` in memory 0 by now, and the array `r`. */
export function foldBitsetArray(op: Fold, l: u64, r: u64, to: usize): u64 {
  const b = Shape.at(r), count = Shape.count(r);
  let change: i32;
  if (op == Fold.OR) change = unionArrayInto(to, b, count);
  else if (op == Fold.XOR) change = xorArrayInto(to, b, count);
  else change = differenceArrayInto(to, b, count);
  return Shape.bitset(Shape.count(l) + change, to);
}

/** Folds the runs at `b`, which `right` shows, into the bitset at `to` in memory 0. */
export function foldBitsetRuns(op: Fold, to: usize, b: usize): u64 {
  if (op == Fold.AND) intersectRunsInto(to, b);
  else if (op == Fold.OR) unionRunsInto(to, b);
  else if (op == Fold.XOR) xorRunsInto(to, b);
  else differenceRunsInto(to, b);
  left.select(SELF);
  return Shape.bitset(Bitset.cardinality(to), to);
}

// --- Runs --------------------------------------------------------------------------------------------------

export function foldRuns(op: Fold, l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), b = Shape.at(r);
  if (<u32>left.load16(a, 0) + right.load16(b, 0) < Places.RUNS_MAX) return mergeRuns(op, a, b, out);
  runsToBitset(a, out);                       // too many to stay runs
  return foldBitsetRuns(op, out, b);
}

/** Folds the runs at `b`, which `right` shows, into those at `a`, which `left` shows. */
function mergeRuns(op: Fold, a: usize, b: usize, out: usize): u64 {
  if (op == Fold.AND) intersectRuns(a, b, out);
  else if (op == Fold.OR) unionRuns(a, b, out);
  else if (op == Fold.XOR) xorRuns(a, b, out);
  else differenceRuns(a, b, out);
  left.select(SELF);
  return Shape.runs(Runs.cardinality(out), out);
}

export function differenceRunsArray(sides: Sides, l: u64, r: u64, out: usize): u64 {
  const a = Shape.at(l), b = Shape.at(r), count = Shape.count(r);
  if (left.load16(a, 0) + count >= Places.RUNS_MAX) {                // too many to stay runs
    runsToBitset(a, out);
    return Shape.bitset(Shape.count(l) + differenceArrayInto(out, b, count), out);
  }
  const runs = Places.at(Scratch.TEMP);
  left.select(rightOperand(sides));           // arrayToRuns() reads the left side
  arrayToRuns(b, count, runs);
  show(sidesOf(leftOperand(sides), SELF));
  return mergeRuns(Fold.ANDNOT, a, runs, out);
}

export function differenceRunsBitset(l: u64, r: u64, out: usize): u64 {
  runsToBitset(Shape.at(l), out);
  left.select(SELF);
  return Shape.bitset(differenceBitsets(out, Shape.at(r), out), out);
}
