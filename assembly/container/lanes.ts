// Eight u16 members at a time: one vector is eight lanes. There are no tables to look a shuffle up in (the core has no data segments),
// so compacting computes what others look up.

/** Members in a vector. */
// @ts-ignore: decorator
@inline export const LANES: u32 = 8;
// @ts-ignore: decorator
@inline export const LANES_BYTES: usize = 16;
/** A mask with a bit for each lane. */
// @ts-ignore: decorator
@inline export const ALL_LANES: u32 = 0xff;

/** A bit for each lane of `x` that equals any lane of `y`: the least difference to the eight rotations of `y` is zero. */
// @ts-ignore: decorator
@inline export function lanesIn(x: v128, y: v128): u32 {
  const d0 = v128.xor(x, y);
  const d1 = v128.xor(x, v128.shuffle<u16>(y, y, 1, 2, 3, 4, 5, 6, 7, 0));
  const d2 = v128.xor(x, v128.shuffle<u16>(y, y, 2, 3, 4, 5, 6, 7, 0, 1));
  const d3 = v128.xor(x, v128.shuffle<u16>(y, y, 3, 4, 5, 6, 7, 0, 1, 2));
  const d4 = v128.xor(x, v128.shuffle<u16>(y, y, 4, 5, 6, 7, 0, 1, 2, 3));
  const d5 = v128.xor(x, v128.shuffle<u16>(y, y, 5, 6, 7, 0, 1, 2, 3, 4));
  const d6 = v128.xor(x, v128.shuffle<u16>(y, y, 6, 7, 0, 1, 2, 3, 4, 5));
  const d7 = v128.xor(x, v128.shuffle<u16>(y, y, 7, 0, 1, 2, 3, 4, 5, 6));
  const low = i16x8.min_u(i16x8.min_u(d0, d1), i16x8.min_u(d2, d3)), high = i16x8.min_u(i16x8.min_u(d4, d5), i16x8.min_u(d6, d7));
  return <u32>i16x8.bitmask(i16x8.eq(i16x8.min_u(low, high), i64x2.splat(0)));
}

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

/**
 * Writes the lanes whose bits are set in `mask` one after the other at `out` and returns the address behind them. Writes to the place
 * behind them too, unless all bits are set.
 */
// @ts-ignore: decorator
@inline export function putLanes(lanes: v128, mask: u32, out: usize): usize {
  if (mask == ALL_LANES) {
    v128.store(out, lanes);
    return out + LANES_BYTES;
  }
  store<u16>(out, i16x8.extract_lane_u(lanes, 0)); out += <usize>(mask & 1) << 1;
  store<u16>(out, i16x8.extract_lane_u(lanes, 1)); out += <usize>(mask & 2);
  store<u16>(out, i16x8.extract_lane_u(lanes, 2)); out += <usize>(mask & 4) >> 1;
  store<u16>(out, i16x8.extract_lane_u(lanes, 3)); out += <usize>(mask & 8) >> 2;
  store<u16>(out, i16x8.extract_lane_u(lanes, 4)); out += <usize>(mask & 16) >> 3;
  store<u16>(out, i16x8.extract_lane_u(lanes, 5)); out += <usize>(mask & 32) >> 4;
  store<u16>(out, i16x8.extract_lane_u(lanes, 6)); out += <usize>(mask & 64) >> 5;
  store<u16>(out, i16x8.extract_lane_u(lanes, 7)); out += <usize>(mask & 128) >> 6;
  return out;
}

/**
 * Moves the lanes that are not dropped (all ones in `dropped`) to the front, in their order; what is behind them is undefined. Each
 * lane has a way to go, the number of dropped lanes before it, and goes it in steps of 1, 2 and 4 lanes. A dropped lane may go along
 * but is overtaken: the lane after it ends up in the same place and, its way being longer by one, arrives later.
 */
// @ts-ignore: decorator
@inline export function compactLanes(lanes: v128, dropped: v128): v128 {
  const none = i64x2.splat(0);
  let way = i16x8.neg(v128.shuffle<u16>(none, dropped, 7, 8, 9, 10, 11, 12, 13, 14));
  way = i16x8.add(way, v128.shuffle<u16>(none, way, 7, 8, 9, 10, 11, 12, 13, 14));
  way = i16x8.add(way, v128.shuffle<u16>(none, way, 6, 7, 8, 9, 10, 11, 12, 13));
  way = i16x8.add(way, v128.shuffle<u16>(none, way, 4, 5, 6, 7, 8, 9, 10, 11));

  let coming = v128.shuffle<u16>(way, none, 1, 2, 3, 4, 5, 6, 7, 8);
  let arrives = hasBit(coming, i16x8.splat(1));
  lanes = v128.bitselect(v128.shuffle<u16>(lanes, lanes, 1, 2, 3, 4, 5, 6, 7, 0), lanes, arrives);
  way = v128.bitselect(coming, way, arrives);

  coming = v128.shuffle<u16>(way, none, 2, 3, 4, 5, 6, 7, 8, 9);
  arrives = hasBit(coming, i16x8.splat(2));
  lanes = v128.bitselect(v128.shuffle<u16>(lanes, lanes, 2, 3, 4, 5, 6, 7, 0, 1), lanes, arrives);
  way = v128.bitselect(coming, way, arrives);

  coming = v128.shuffle<u16>(way, none, 4, 5, 6, 7, 8, 9, 10, 11);
  arrives = hasBit(coming, i16x8.splat(4));
  return v128.bitselect(v128.shuffle<u16>(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3), lanes, arrives);
}

// @ts-ignore: decorator
@inline function hasBit(lanes: v128, bit: v128): v128 { return i16x8.eq(v128.and(lanes, bit), bit); }

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
