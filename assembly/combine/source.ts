// The sources of a combination at the key that the walk is at: each source's container there, if it has one.

import { SELF, left, right } from "../env/memory";
import { Right } from "../env/view";
import { Kind } from "../arena/entry";
import { BITSET_BYTES } from "../container/limits";
import { arrayToBitset, runsToBitset } from "../container/convert";
import { cursorEntry, cursorKey } from "./cursor";
import { Fold, fold } from "./fold";
import { Scratch, scratch, scratchBeside } from "./scratch";
import { entryShape, shape, shapeAt, shapeCount, shapeKind } from "./shape";
import { unpackedLeft } from "./unpack";

/** Whether source `c` has a container `key`. */
// @ts-ignore: decorator
@inline export function has(c: u32, key: u64): bool { return cursorKey(c) == key; }

/** How many of the sources from `from` on have a container `key`. */
export function presentAt(key: u64, from: u32, sources: u32): u32 {
  let present: u32 = 0;
  for (let c = from; c < sources; c++) present += u32(has(c, key));
  return present;
}

/** The shape of the container that source `c`'s cursor is at; shows the source on the right. */
// @ts-ignore: decorator
@inline export function shapeOf(c: u32): u64 {
  right.select(c);
  return entryShape<Right>(cursorEntry(c));
}

/** Whether source `c` has a bitset at `key`. */
// @ts-ignore: decorator
@inline export function hasBitset(c: u32, key: u64): bool { return has(c, key) && shapeKind(shapeOf(c)) == Kind.BITSET; }

/**
 * Folds the container `next` of source `c`, which `right` shows, into `acc`: a container of source `at`, or, when `at` is SELF, the result
 * of an earlier fold. The result is in memory 0.
 */
// @ts-ignore: decorator
@inline export function foldNext(op: Fold, at: u32, acc: u64, c: u32, next: u64): u64 {
  left.select(at);
  return fold(op, at, acc, c, next, at == SELF ? scratchBeside(acc) : scratch(Scratch.FIRST), scratch(Scratch.TEMP));
}

/** The container `s` of source `c`, which `right` shows, as a bitset at `to`. A FULL one is answered as it is. */
export function toBitset(c: u32, s: u64, to: usize): u64 {
  const kind = shapeKind(s), at = shapeAt(s), count = shapeCount(s);
  if (kind == Kind.FULL) return s;
  left.select(c);
  if (kind == Kind.BITSET) left.copy(to, at, BITSET_BYTES);
  else if (kind == Kind.RUNS) runsToBitset(at, to);
  else if (kind == Kind.BUCKETS) arrayToBitset(shapeAt(unpackedLeft(c, s)), count, to);
  else arrayToBitset(at, count, to);
  return shape(Kind.BITSET, count, to);
}
