// The ids for which the values of two keys compare in some way, as a bitmap. Memory 0 is fresh, and operands 0
// and 1 have the values. Where both keys have slices for the same 512 ids, these are compared at once.

import { left, right, work } from "../env/memory";
import { Left, Memory, Right } from "../env/view";
import { finish } from "../arena/builder/builder";
import { Offset } from "../arena/layout/entry";
import { emit } from "../combine/shape/emit";
import { Places, Scratch } from "../combine/shape/scratch";
import { Shape } from "../combine/shape/shape";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Comparison } from "../expression/text";
import { addBit, beginIds, clearedBitset } from "./idset";
import { Leaf, Values } from "./layout";
import { Slices } from "./slices";
import { Spot } from "./spot";

// @ts-ignore: decorator
@inline function holds(a: i64, how: u32, b: i64): bool {
  switch (how) {
    case Comparison.LESS: return a < b;
    case Comparison.AT_MOST: return a <= b;
    case Comparison.GREATER: return a > b;
    case Comparison.AT_LEAST: return a >= b;
    case Comparison.EQUAL: return a == b;
    default: return a != b;
  }
}

/** Whether the spots, of left and right, are in slices of the same ids. */
// @ts-ignore: decorator
@inline function areSlices(spot: u64, other: u64): bool {
  if (!Values.isFull<Left>() || !Values.isFull<Right>()) return false;
  const a = Values.leafAt<Left>(Spot.leaf(spot)), b = Values.leafAt<Right>(Spot.leaf(other));
  return a.isSliced<Left>() && b.isSliced<Right>() && a.first<Left>() == b.first<Right>();
}

/** Writes the values of a leaf, less `base`, to `to` in memory 0, in `width` slices. */
// @ts-ignore: decorator
@inline function layLeaf<M extends Memory>(leaf: Leaf, to: usize, base: i64, width: u32): void {
  Slices.copyPlus<M>(to, width, leaf.at<M>(), leaf.width<M>(), <u64>(leaf.base<M>() - base));
}

/** Sets the bits of those ids of two leaves whose values compare like this. Returns their number. */
function fillSlices(at: usize, a: Leaf, how: u32, b: Leaf): u32 {
  const mask = at + (<usize>(<u32>a.first<Left>() & Container.LOW_MAX) >> 3);
  const base = min(a.base<Left>(), b.base<Right>()), most = max(a.greatest<Left>(), b.greatest<Right>());
  const width = <u32>(64 - clz<u64>(<u64>(most - base)));
  const first = Places.at(Scratch.SECOND), second = Places.at(Scratch.SPARE);
  layLeaf<Left>(a, first, base, width);
  layLeaf<Right>(b, second, base, width);
  Slices.compare(first, second, width, mask, how);
  return Slices.count(mask);
}

/** Has two leaves be read from memory, if there are any. */
function readAhead(leaf: u32, beside: u32): void {
  if (leaf >= Values.leaves<Left>() || beside >= Values.leaves<Right>()) return;
  const a = Values.leafAt<Left>(leaf), b = Values.leafAt<Right>(beside);
  left.prefetch(a.at<Left>(), a.bytes<Left>());
  right.prefetch(b.at<Right>(), b.bytes<Right>());
}

/** Makes memory 0 the ids, up to `greatest`, whose values in operands 0 and 1 compare like this. */
export function idsOfBoth(how: u32, greatest: u64): void {
  beginIds();
  left.select(0);
  right.select(1);
  let spot = Spot.from<Left>(0), other = Spot.from<Right>(0), count: u32 = 0, key: u64 = 0;
  let at = clearedBitset();
  while (spot != Spot.NONE && other != Spot.NONE) {
    const id = Spot.id<Left>(spot), second = Spot.id<Right>(other);
    if (id > greatest) break;
    if (Offset.key(id) != key) {
      if (count) emit(key, Shape.of(Kind.BITSET, count, at));
      left.select(0);
      right.select(1);
      spot = Spot.from<Left>(id);
      other = Spot.from<Right>(second);
      key = Offset.key(id);
      count = 0;
      at = clearedBitset();
      work.spend(1);
    }
    if (areSlices(spot, other)) {
      const leaf = Spot.leaf(spot), beside = Spot.leaf(other);
      readAhead(leaf + Leaf.AHEAD, beside + Leaf.AHEAD);
      count += fillSlices(at, Values.leafAt<Left>(leaf), how, Values.leafAt<Right>(beside));
      spot = Spot.inLeaf<Left>(leaf + 1, 0);
      other = Spot.inLeaf<Right>(beside + 1, 0);
      continue;
    }
    if (id == second && holds(Spot.value<Left>(spot), how, Spot.value<Right>(other))) {
      addBit(at, <u32>id);
      count++;
    }
    if (id <= second) spot = Spot.next<Left>(spot);
    if (second <= id) other = Spot.next<Right>(other);
  }
  if (count) emit(key, Shape.of(Kind.BITSET, count, at));
  finish();
}
