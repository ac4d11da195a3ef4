// The ids for which the values of two keys compare in some way, as a bitmap. Memory 0 has begun it, and
// operands 0 and 1 have the values. Where both keys have slices for the same 512 ids, these are compared at
// once.

import { left, right, work } from "../env/memory";
import { Left, Memory, Right } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Place } from "../arena/read/directory";
import { emit } from "../combine/shape/emit";
import { Places, Scratch } from "../combine/shape/scratch";
import { Shape } from "../combine/shape/shape";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Comparison } from "../expression/text";
import { hasNear } from "./filter";
import { Near, addBit, clearedBitset } from "./idset";
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

/** Shows the values, and returns the spot of the first id from `id` on in operand 0. */
// @ts-ignore: decorator
@inline function spotIn0(id: u64): u64 {
  left.select(0);
  return Spot.from<Left>(id);
}

/** The same in operand 1. */
// @ts-ignore: decorator
@inline function spotIn1(id: u64): u64 {
  right.select(1);
  return Spot.from<Right>(id);
}

/** Adds the ids whose values in operands 0 and 1 compare like this; `near` as in idsCompared(). */
export function idsOfBoth(how: u32, near: bool): void {
  const last = Near.last();
  for (let from = Near.first(); from <= last;) {
    const spot = spotIn0(from), other = spotIn1(from);
    if (spot == Spot.NONE || other == Spot.NONE) return;
    let key = max(Offset.key(Spot.id<Left>(spot)), Offset.key(Spot.id<Right>(other))), place: u64 = 0;
    if (near) {
      place = Near.seek(key);
      if (!place) return;
      key = max(key, Place.entry(place).key<Right>());
    }
    if (key > Offset.key(last)) return;
    const at = clearedBitset(), bitset = near ? Near.lay(place) : 0, count = fill(at, key, how, bitset);
    if (count) emit(key, Shape.of(Kind.BITSET, count, at));
    if (key == Offset.KEY_MAX) return;
    from = (key + 1) << 16;
  }
}

/**
 * Sets the bits of the ids of a container whose values compare like this. Returns their number. Leaves out
 * those in slices that are not near the members of a bitset, if it is not 0.
 */
function fill(at: usize, key: u64, how: u32, bitset: usize): u32 {
  let spot = spotIn0(key << 16), other = spotIn1(key << 16), count: u32 = 0;
  work.spend(1);
  while (spot != Spot.NONE && other != Spot.NONE) {
    const id = Spot.id<Left>(spot), beside = Spot.id<Right>(other);
    if (Offset.key(max(id, beside)) != key) break;
    if (areSlices(spot, other)) {
      const leaf = Spot.leaf(spot), opposite = Spot.leaf(other);
      if (!bitset || hasNear(bitset, id & ~<u64>(Slices.IDS - 1))) {
        readAhead(leaf + Leaf.AHEAD, opposite + Leaf.AHEAD);
        count += fillSlices(at, Values.leafAt<Left>(leaf), how, Values.leafAt<Right>(opposite));
      }
      spot = Spot.inLeaf<Left>(leaf + 1, 0);
      other = Spot.inLeaf<Right>(opposite + 1, 0);
      continue;
    }
    if (id == beside && holds(Spot.value<Left>(spot), how, Spot.value<Right>(other))) {
      addBit(at, <u32>id);
      count++;
    }
    if (id <= beside) spot = Spot.next<Left>(spot);
    if (beside <= id) other = Spot.next<Right>(other);
  }
  return count;
}
