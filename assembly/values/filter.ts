// The members that a bitmap has in one container, as a bitset in memory 0.

import { SELF, left } from "../env/memory";
import { Right } from "../env/view";
import { Entry } from "../arena/layout/entry";
import { Shape } from "../combine/shape/shape";
import { toBitset } from "../container/convert";
import { Kind } from "../container/kind";
import { BITSET_BYTES, Container } from "../container/limits";
import { Slices } from "./slices";

/** Bytes of scratch room that layFilter() takes behind the bitset. */
// @ts-ignore: decorator
@inline export const FILTER_COPY: usize = 2 * BITSET_BYTES;

/**
 * Writes the container of an entry that `right` shows as a bitset to `to`. Copies it to `copy` on the way.
 * Leaves `left` anywhere.
 */
export function layFilter(entry: Entry, to: usize, copy: usize): void {
  const s = Shape.ofEntry<Right>(entry);
  if (Shape.kind(s) == Kind.FULL) { memory.fill(to, 0xff, BITSET_BYTES); return; }
  const own = Shape.copy(s, copy);
  left.select(SELF);
  toBitset(Shape.kind(own), Shape.at(own), Shape.count(own), to);
}

/** Whether a bitset that layFilter() has written has some of the 512 ids from `first` on. */
// @ts-ignore: decorator
@inline export function hasNear(bitset: usize, first: u64): bool {
  const at = bitset + (<usize>(<u32>first & Container.LOW_MAX) >> 3);
  let any = v128.load(at);
  for (let i: usize = 16; i < Slices.BYTES; i += 16) any = v128.or(any, v128.load(at + i));
  return v128.any_true(any);
}
