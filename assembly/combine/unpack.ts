// Buckets and short bitsets for code that knows arrays and bitsets: unpacked into scratch room, or arrays
// packed into buckets.

import { SELF, left, right } from "../env/memory";
import { Kind } from "../container/kind";
import { arrayToBuckets } from "../container/buckets";
import { isArraySized, bucketsBytes } from "../container/limits";
import { Scratch, makeScratch, scratch } from "./scratch";
import { shape, shapeAt, shapeCount, shapeKind } from "./shape";
import { toArray, toBitset } from "../container/convert";

/** Whether containers of that kind are unpacked. */
// @ts-ignore: decorator
@inline function isPacked(kind: Kind): bool { return kind == Kind.BUCKETS || kind == Kind.SHORT; }

/**
 * The shape `l` of operand `lk`, unpacked in memory 0, shown on the left. Buckets become an array. A short
 * bitset becomes an array, or a bitset if it has too many members for that. The next call on the same side
 * overwrites it.
 */
export function unpackedLeft(lk: u32, l: u64): u64 {
  left.select(lk);
  return isPacked(shapeKind(l)) ? unpack(l, Scratch.LEFT) : l;
}

/**
 * unpackedLeft() for the other side: the shape `r` of operand `rk`, shown on the right. May leave `left`
 * anywhere.
 */
export function unpackedRight(rk: u32, r: u64): u64 {
  right.select(rk);
  if (!isPacked(shapeKind(r))) return r;
  left.select(rk);
  right.select(SELF);
  return unpack(r, Scratch.RIGHT);
}

/** Unpacks the buckets or the short bitset that `left` shows, and leaves `left` at SELF. */
function unpack(s: u64, place: Scratch): u64 {
  makeScratch(Scratch.RIGHT);
  const to = scratch(place);
  const count = shapeCount(s), isArray = isArraySized(count);
  if (isArray) toArray(shapeKind(s), shapeAt(s), count, to);
  else toBitset(shapeKind(s), shapeAt(s), count, to);
  left.select(SELF);
  return shape(isArray ? Kind.ARRAY : Kind.BITSET, count, to);
}

/**
 * Where the array or buckets `s` of operand `k` stand as buckets: in place, or packed into scratch room. 0 if
 * buckets cannot hold them.
 */
export function packed(k: u32, s: u64, place: Scratch): usize {
  if (shapeKind(s) == Kind.BUCKETS) return shapeAt(s);
  makeScratch(Scratch.RIGHT);
  left.select(k);
  const to = scratch(place), count = shapeCount(s);
  return arrayToBuckets(shapeAt(s), count, to, to + bucketsBytes(count)) ? to : 0;
}
