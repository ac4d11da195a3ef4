// A bitmap of ids of a key that has values: container by container, each first as a bitset in scratch room.

import { argument, left, right, segments, Side } from "../env/memory";
import { Left, Right } from "../env/view";
import { begin } from "../arena/builder/state";
import { Directory, Place } from "../arena/read/directory";
import { Places, Scratch } from "../combine/shape/scratch";
import { BITSET_BYTES, Container } from "../container/limits";
import { layFilter } from "./filter";
import { Values } from "./layout";
import { Spot } from "./spot";

/** Containers up to which a result has room for each. */
// @ts-ignore: decorator
@inline const FEW_CONTAINERS: u64 = 1024;

/** Most containers of the values that `left` shows: each leaf is looked at. */
function mostContainers(): u64 {
  let most: u64 = 0;
  do {
    if (!Values.isFull<Left>()) { most += Values.pairs<Left>(); continue; }
    for (let i: u32 = 0, leaves = Values.leaves<Left>(); i < leaves; i++) {
      const leaf = Values.leafAt<Left>(i);
      most += leaf.isSliced<Left>() ? 1 : leaf.count<Left>();
    }
  } while (segments.next(Side.LEFT));
  return most;
}

/** Begins a bitmap of the ids of operand 0 that matter; `near` as in idsCompared(). */
export function beginIds(near: bool): void {
  const first = Near.first(), last = Near.last();
  let most = first > last ? 0 : (last >> 16) - (first >> 16) + 1;
  if (near) {
    right.select(2);
    const members = Directory.cardinality<Right>();
    if (members) most = min(most, members);                    // else it has all 2^64
  }
  left.select(0);
  Spot.from<Left>(0);
  begin(most > FEW_CONTAINERS ? min(most, mostContainers()) : most, 0);
}

/** An empty bitset in scratch room, FIRST, with room for all places. */
export function clearedBitset(): usize {
  Places.make(Scratch.RIGHT);
  const at = Places.at(Scratch.FIRST);
  memory.fill(at, 0, BITSET_BYTES);
  return at;
}

/** The ids that matter: between two arguments, and those that a bitmap has, operand 2, if there is one. */
export abstract class Near {
  @inline static first(): u64 { return argument.value(0); }
  @inline static last(): u64 { return argument.value(1); }

  /** The place, which `right` shows, of the bitmap's first container from `key` on; 0 if there is none. */
  static seek(key: u64): u64 {
    right.select(2);
    return Directory.seek<Right>(key);
  }

  /**
   * Writes its container at the place to scratch room as a bitset, and returns where. There is room for all
   * places. Leaves `left` anywhere.
   */
  static lay(place: u64): usize {
    const at = Places.at(Scratch.LIST);
    layFilter(Place.entry(place), at, Places.at(Scratch.LEFT));
    return at;
  }
}

// @ts-ignore: decorator
@inline export function addBit(at: usize, id: u32): void {
  const byte = at + ((id & Container.LOW_MAX) >> 3);
  store<u8>(byte, load<u8>(byte) | <u8>(<u32>1 << (id & 7)));
}
