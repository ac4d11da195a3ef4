// Eight u16 members at a time: one vector is eight lanes.

import { vector } from "../env/memory";

import { MEMBER_BYTES } from "./limits";

/** Members in a vector. */
// @ts-ignore: decorator
@inline export const LANES: u32 = 8;
// @ts-ignore: decorator
@inline export const LANES_BYTES: usize = 16;
/** A mask with a bit for each lane. */
// @ts-ignore: decorator
@inline export const ALL_LANES: u32 = 0xff;

/** The lanes one place later; the first comes from the end of `before`. */
// @ts-ignore: decorator
@inline export function delayOne(before: v128, lanes: v128): v128 {
  return v128.shuffle<u16>(before, lanes, 7, 8, 9, 10, 11, 12, 13, 14);
}
/** The lanes two places later. */
// @ts-ignore: decorator
@inline export function delayTwo(before: v128, lanes: v128): v128 {
  return v128.shuffle<u16>(before, lanes, 6, 7, 8, 9, 10, 11, 12, 13);
}

/** Writes the lanes whose bits are set in `mask` one after the other at `out`, a whole vector all told; returns the address behind them. */
// @ts-ignore: decorator
@inline export function putLanes(lanes: v128, mask: u32, out: usize): usize {
  v128.store(out, vector.compact(lanes, mask));
  return out + (<usize>popcnt<u32>(mask) << 1);
}

/** Like putLanes(), but writes nothing behind the lanes. */
export function putFewLanes(lanes: v128, mask: u32, out: usize): usize {
  while (mask) {
    if (mask & 1) {
      store<u16>(out, i16x8.extract_lane_u(lanes, 0));
      out += MEMBER_BYTES;
    }
    lanes = v128.shuffle<u16>(lanes, lanes, 1, 2, 3, 4, 5, 6, 7, 0);
    mask >>= 1;
  }
  return out;
}

// Lanes of two vectors by turns.
// @ts-ignore: decorator
@inline export function pairLow(x: v128, y: v128): v128 { return v128.shuffle<u16>(x, y, 0, 8, 1, 9, 2, 10, 3, 11); }
// @ts-ignore: decorator
@inline export function pairHigh(x: v128, y: v128): v128 { return v128.shuffle<u16>(x, y, 4, 12, 5, 13, 6, 14, 7, 15); }

/** The lanes in falling order. */
// @ts-ignore: decorator
@inline export function reverse(lanes: v128): v128 { return v128.shuffle<u16>(lanes, lanes, 7, 6, 5, 4, 3, 2, 1, 0); }

/** Sorts lanes that rise and then fall, or fall and then rise. */
// @ts-ignore: decorator
@inline export function sortBitonic(lanes: v128): v128 {
  let other = v128.shuffle<u64>(lanes, lanes, 1, 0);
  lanes = v128.shuffle<u64>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 3);
  other = v128.shuffle<u32>(lanes, lanes, 1, 0, 3, 2);
  lanes = v128.shuffle<u32>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 5, 2, 7);
  other = v128.shuffle<u16>(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6);
  return v128.shuffle<u16>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 9, 2, 11, 4, 13, 6, 15);
}
