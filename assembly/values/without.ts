// A key of values without those between two bounds.

import { left, right, work } from "../env/memory";
import { Left, Right } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { BITSET_BYTES, Container } from "../container/limits";
import { Build } from "./build";
import { Aggregate } from "./column";
import { layFilter } from "./filter";
import { Values } from "./layout";
import { Slices } from "./slices";
import { Spot } from "./spot";

/** No key of a container. */
// @ts-ignore: decorator
@inline const NO_KEY: u64 = u64.MAX_VALUE;

/**
 * Makes memory 0, which is fresh, the values of operand 0 but those from `low` to `high`; if `filters`, of
 * these only the ids go that operand 1, a bitmap, has.
 */
export function valuesWithout(filters: u32, low: i64, high: i64): void {
  let closed = false, laid = NO_KEY;
  Build.begin();
  left.select(0);
  let spot = Spot.from<Left>(0);
  while (spot != Spot.NONE) {
    work.spend(1);
    const window = Spot.id<Left>(spot) & ~(<u64>Slices.IDS - 1), key = Offset.key(window);
    if (Build.isFull()) { Build.close(); closed = true; laid = NO_KEY; }
    if (filters && laid != key) {
      layMembers(key);
      laid = key;
      left.select(0);
      spot = Spot.from<Left>(window);
    }
    const column = Build.column(), mask = column.mask(), index = Spot.leaf(spot);
    if (Values.isFull<Left>() && Values.leafAt<Left>(index).isSliced<Left>()) {
      const leaf = Values.leafAt<Left>(index);
      Slices.presence<Left>(leaf.at<Left>(), mask);
      if (filters) maskBy(window, mask);
      Slices.keep<Left>(leaf, mask, low, high);
      if (Build.appendSlices<Left>(index, mask)) { spot = Spot.inLeaf<Left>(index + 1, 0); continue; }
    }
    column.clear();
    spot = column.take<Left>(spot, window, Aggregate.SUM);
    for (let place = column.next(0); place < Slices.IDS; place = column.next(place + 1)) {
      const value = column.value(place);
      if (value >= low && value <= high && (!filters || isLaid(window + place))) column.remove(place);
    }
    Build.append(window);
  }
  Build.finish(closed);
}

/** Makes memory 0, which is fresh, the values of operand 0 in the least space. */
export function packValues(): void { valuesWithout(0, i64.MAX_VALUE, i64.MIN_VALUE); }

/** Lays the members that operand 1 has in the container of this key. Leaves `left` anywhere. */
function layMembers(key: u64): void {
  right.select(1);
  const place = Directory.seek<Right>(key);
  if (place && Place.entry(place).key<Right>() <= key) {
    layFilter(Place.entry(place), Build.filter(), Build.copy());
  } else memory.fill(Build.filter(), 0, BITSET_BYTES);
}

// @ts-ignore: decorator
@inline function isLaid(id: u64): bool {
  const low = <u32>id & Container.LOW_MAX;
  return ((load<u8>(Build.filter() + (low >> 3)) >> (low & 7)) & 1) != 0;
}

/** Keeps in the mask those of the window that were laid. */
// @ts-ignore: decorator
@inline function maskBy(window: u64, mask: usize): void {
  const filter = Build.filter() + (<usize>(<u32>window & Container.LOW_MAX) >> 3);
  for (let i: usize = 0; i < Slices.BYTES; i += 16) {
    v128.store(mask + i, v128.and(v128.load(mask + i), v128.load(filter + i)));
  }
}
