// Vectors of eight u16 members, one in each lane.

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

/** The lanes moved up by one place; the last lane of `before` moves in. */
// @ts-ignore: decorator
@inline export function delayOne(before: v128, lanes: v128): v128 {
  return v128.shuffle<u16>(before, lanes, 7, 8, 9, 10, 11, 12, 13, 14);
}
/** The lanes moved up by two places; the last two lanes of `before` move in. */
// @ts-ignore: decorator
@inline export function delayTwo(before: v128, lanes: v128): v128 {
  return v128.shuffle<u16>(before, lanes, 6, 7, 8, 9, 10, 11, 12, 13);
}

/**
 * Writes the lanes whose bits are set in `mask` to `out`, without gaps, and returns the address behind them.
 * Always stores 16 bytes.
 */
// @ts-ignore: decorator
@inline export function putLanes(lanes: v128, mask: u32, out: usize): usize {
  v128.store(out, vector.compact(lanes, mask));
  return out + (<usize>popcnt<u32>(mask) << 1);
}

/** Like putLanes(), but stores nothing behind the selected lanes. */
export function putLanesOnly(lanes: v128, mask: u32, out: usize): usize {
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

// Interleave the low lanes, or the high lanes, of two vectors.
// @ts-ignore: decorator
@inline export function interleaveLow(x: v128, y: v128): v128 {
  return v128.shuffle<u16>(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
}

// @ts-ignore: decorator
@inline export function interleaveHigh(x: v128, y: v128): v128 {
  return v128.shuffle<u16>(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
}

/** The lanes in reverse order. */
// @ts-ignore: decorator
@inline export function reverse(lanes: v128): v128 {
  return v128.shuffle<u16>(lanes, lanes, 7, 6, 5, 4, 3, 2, 1, 0);
}

/**
 * Sorts a bitonic sequence: lanes that ascend and then descend, or the reverse.
 * Compares lanes at distance 4, 2 and 1.
 */
// @ts-ignore: decorator
@inline export function sortBitonic(lanes: v128): v128 {
  let other = v128.shuffle<u64>(lanes, lanes, 1, 0);
  lanes = v128.shuffle<u64>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 3);
  other = v128.shuffle<u32>(lanes, lanes, 1, 0, 3, 2);
  lanes = v128.shuffle<u32>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 5, 2, 7);
  other = v128.shuffle<u16>(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6);
  return v128.shuffle<u16>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 9, 2, 11, 4, 13, 6, 15);
}

// @ts-ignore: decorator
@inline function turnOne(x: v128): v128 { return v128.shuffle<u16>(x, x, 1, 2, 3, 4, 5, 6, 7, 0); }
// @ts-ignore: decorator
@inline function turnTwo(x: v128): v128 { return v128.shuffle<u16>(x, x, 2, 3, 4, 5, 6, 7, 0, 1); }
// @ts-ignore: decorator
@inline function turnFour(x: v128): v128 { return v128.shuffle<u16>(x, x, 4, 5, 6, 7, 0, 1, 2, 3); }

/** A bit for each lane of `x` that equals any lane of `y`. Unlike vector.lanesIn(), takes lanes of 0. */
// @ts-ignore: decorator
@inline export function equalLanes(x: v128, y: v128): u32 {
  return i16x8.bitmask(v128.or(equalToFour(x, y), equalToFour(x, turnFour(y))));
}
/** The lanes of `x` that equal the lane of `y` in their place, or one of the three behind it. */
// @ts-ignore: decorator
@inline function equalToFour(x: v128, y: v128): v128 {
  const next = turnOne(y), some = v128.or(i16x8.eq(x, y), i16x8.eq(x, next));
  return v128.or(some, v128.or(i16x8.eq(x, turnTwo(y)), i16x8.eq(x, turnTwo(next))));
}

/** A bit for each place where the lanes of `x` and `more` equal those of `y` and `yMore` at any one place. */
// @ts-ignore: decorator
@inline export function equalPairs(x: v128, more: v128, y: v128, yMore: v128): u32 {
  const near = pairsInFour(x, more, y, yMore);
  return i16x8.bitmask(v128.or(near, pairsInFour(x, more, turnFour(y), turnFour(yMore))));
}
// @ts-ignore: decorator
@inline function pairsInFour(x: v128, more: v128, y: v128, yMore: v128): v128 {
  const next = turnOne(y), nextMore = turnOne(yMore);
  const some = v128.or(pairs(x, more, y, yMore), pairs(x, more, next, nextMore));
  const others = pairs(x, more, turnTwo(y), turnTwo(yMore));
  return v128.or(some, v128.or(others, pairs(x, more, turnTwo(next), turnTwo(nextMore))));
}
// @ts-ignore: decorator
@inline function pairs(x: v128, more: v128, y: v128, yMore: v128): v128 {
  return v128.and(i16x8.eq(x, y), i16x8.eq(more, yMore));
}
