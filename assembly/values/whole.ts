// An arena of values as a whole: for the exports that host calls whatever an arena holds.

import { arena } from "../env/memory";
import { Own } from "../env/view";
import { Leaves } from "./directory";
import { Values } from "./layout";
import { Pairs } from "./pairs";

/** Bytes in use. */
export function valuesUsed(): u32 {
  return <u32>(Values.isFull<Own>() ? Values.bump()
    : max(Values.PAIRS_AT + Pairs.bytes(Pairs.ofTiny<Own>()), 16));
}

/** A full arena of fewer pairs than this becomes a tiny one: they fit, whatever they are. */
// @ts-ignore: decorator
@inline const FEW: u64 = 64;
/** Free bytes that an arena may have besides a part of it. */
// @ts-ignore: decorator
@inline const FREED_MOST: usize = 1024;

/** 1 if the host should rewrite the arena: too much of it is free, or the tiny form would do. */
export function valuesWasteful(): u32 {
  return u32(Values.isFull<Own>()
    && (Values.freed() > (Values.bump() >> 3) + FREED_MOST
      || (Values.count<Own>() < FEW && !Leaves.anyIsLoose<Own>())));
}

/** Bytes that an arena may have more than it uses. */
// @ts-ignore: decorator
@inline const SPARE_BYTES: u64 = 512;

/** The bytes that memory 0 should be cut to, 0 if it should stay; as shrunkBytes() of arena/change/forms.ts. */
export function valuesShrunkBytes(): u32 {
  const bytes: u64 = valuesUsed(),
    most = Values.isFull<Own>() ? bytes + (bytes >> 2) + SPARE_BYTES : 2 * bytes - 1;
  return most < arena.size() ? <u32>bytes : 0;
}
