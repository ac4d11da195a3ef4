// A bitmap of ids of a key that has values: container by container, each first as a bitset in scratch room.

import { left, segments, Side } from "../env/memory";
import { Left } from "../env/view";
import { begin } from "../arena/builder/state";
import { Places, Scratch } from "../combine/shape/scratch";
import { BITSET_BYTES, Container } from "../container/limits";
import { Values } from "./layout";
import { Spot } from "./spot";

/** Most containers of the values that `left` shows. */
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

/** Begins a bitmap of ids of operand 0. */
export function beginIds(): void {
  left.select(0);
  Spot.from<Left>(0);
  begin(mostContainers(), 0);
}

/** An empty bitset in scratch room, FIRST, with room up to SPARE. */
export function clearedBitset(): usize {
  Places.make(Scratch.SPARE);
  const at = Places.at(Scratch.FIRST);
  memory.fill(at, 0, BITSET_BYTES);
  return at;
}

// @ts-ignore: decorator
@inline export function addBit(at: usize, id: u32): void {
  const byte = at + ((id & Container.LOW_MAX) >> 3);
  store<u8>(byte, load<u8>(byte) | <u8>(<u32>1 << (id & 7)));
}
