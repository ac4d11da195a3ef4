// Compact kinds, such as buckets and short bitsets, for code that knows arrays and bitsets: expanded into
// scratch room. Also makes buckets of arrays that are folded with buckets.

import { SELF, left, right } from "../../env/memory";
import { Choice, Kind } from "../../container/kind";
import { arrayToBuckets } from "../../container/buckets";
import { Container } from "../../container/limits";
import { Places, Scratch } from "./scratch";
import { Shape } from "./shape";
import { toArray, toBitset } from "../../container/convert";

/**
 * The shape `l` of operand `operand`, expanded in memory 0 if it is compact, shown on the left. The next call
 * on the same side overwrites it.
 */
export function expandedLeft(operand: u32, l: u64): u64 {
  left.select(operand);
  return Choice.isCompact(Shape.kind(l)) ? expand(l, Scratch.LEFT) : l;
}

/**
 * expandedLeft() for the other side: the shape `r` of operand `operand`, shown on the right. May leave `left`
 * anywhere.
 */
export function expandedRight(operand: u32, r: u64): u64 {
  right.select(operand);
  if (!Choice.isCompact(Shape.kind(r))) return r;
  left.select(operand);
  right.select(SELF);
  return expand(r, Scratch.RIGHT);
}

/** Expands the compact container that `left` shows, and leaves `left` at SELF. */
function expand(s: u64, place: Scratch): u64 {
  Places.make(Scratch.RIGHT);
  const to = Places.at(place);
  const count = Shape.count(s), isArray = Container.isArraySized(count);
  if (isArray) toArray(Shape.kind(s), Shape.at(s), count, to);
  else toBitset(Shape.kind(s), Shape.at(s), count, to);
  left.select(SELF);
  return Shape.of(isArray ? Kind.ARRAY : Kind.BITSET, count, to);
}

/**
 * Where the array or buckets `s` of operand `operand` stand as buckets: in place, or made in scratch room. 0
 * if buckets cannot hold them. May leave `left` anywhere.
 */
export function bucketsOf(operand: u32, s: u64, place: Scratch): usize {
  if (Shape.kind(s) == Kind.BUCKETS) return Shape.at(s);
  Places.make(Scratch.RIGHT);
  left.select(operand);
  const to = Places.at(place), count = Shape.count(s);
  return arrayToBuckets(Shape.at(s), count, to, to + Container.bucketsBytes(count)) ? to : 0;
}

/** The container `s` of operand `operand`, which `right` shows and which is not FULL, as a bitset at `to`. */
export function asBitset(operand: u32, s: u64, to: usize): u64 {
  const count = Shape.count(s);
  left.select(operand);
  if (Shape.kind(s) == Kind.BUCKETS) s = expandedLeft(operand, s);             // quicker than bit by bit
  toBitset(Shape.kind(s), Shape.at(s), count, to);
  return Shape.of(Kind.BITSET, count, to);
}
