// Compact kinds, sparse and short bitsets, for code that knows arrays and bitsets: expanded into scratch room.

import { SELF, left, right } from "../../env/memory";
import { Choice, Kind } from "../../container/kind";
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
  const count = Shape.count(s), isArray = Shape.kind(s) == Kind.SHORT && Container.isArraySized(count);
  if (isArray) toArray(Shape.kind(s), Shape.at(s), count, to);
  else toBitset(Shape.kind(s), Shape.at(s), count, to);
  left.select(SELF);
  return Shape.of(isArray ? Kind.ARRAY : Kind.BITSET, count, to);
}

/** The container `s` of operand `operand`, which `right` shows and which is not FULL, as a bitset at `to`. */
export function asBitset(operand: u32, s: u64, to: usize): u64 {
  const count = Shape.count(s);
  left.select(operand);
  toBitset(Shape.kind(s), Shape.at(s), count, to);
  return Shape.of(Kind.BITSET, count, to);
}
