// Buckets for code that knows arrays: unpacked into scratch room, or the reverse.

import { SELF, left, right } from "../env/memory";
import { Kind } from "../arena/entry";
import { arrayToBuckets, bucketsBytes, bucketsToArray } from "../container/buckets";
import { Scratch, makeScratch, scratch } from "./scratch";
import { shape, shapeAt, shapeCount, shapeKind } from "./shape";

/**
 * The shape `l` of operand `lk`, with buckets unpacked to an array in memory 0, shown on the left. The next call on the same side
 * overwrites the array.
 */
export function unpackedLeft(lk: u32, l: u64): u64 {
  left.select(lk);
  return shapeKind(l) == Kind.BUCKETS ? unpack(l, Scratch.LEFT) : l;
}

/** unpackedLeft() for the other side: the shape `r` of operand `rk`, shown on the right. May leave `left` anywhere. */
export function unpackedRight(rk: u32, r: u64): u64 {
  right.select(rk);
  if (shapeKind(r) != Kind.BUCKETS) return r;
  left.select(rk);
  right.select(SELF);
  return unpack(r, Scratch.RIGHT);
}

/** Unpacks the buckets that `left` shows, and leaves `left` at SELF. */
function unpack(s: u64, place: Scratch): u64 {
  makeScratch(Scratch.RIGHT);
  const to = scratch(place);
  bucketsToArray(shapeAt(s), shapeCount(s), to);
  left.select(SELF);
  return shape(Kind.ARRAY, shapeCount(s), to);
}

/** Where the array or buckets `s` of operand `k` stand as buckets: in place, or packed into scratch room. 0 if buckets cannot hold them. */
export function packed(k: u32, s: u64, place: Scratch): usize {
  if (shapeKind(s) == Kind.BUCKETS) return shapeAt(s);
  makeScratch(Scratch.RIGHT);
  left.select(k);
  const to = scratch(place), count = shapeCount(s);
  return arrayToBuckets(shapeAt(s), count, to, to + bucketsBytes(count)) ? to : 0;
}
