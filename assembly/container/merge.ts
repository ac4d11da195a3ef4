// The union and the symmetric difference of two payloads of buckets (buckets.ts), to buckets. Two buckets mostly have a vector of members
// between them, or two: one rises, the other is turned round behind it, and what rises and then falls takes four steps to be sorted. How
// many members a bucket has decides nothing but masks, because it cannot be foreseen.

import { left, right } from "../env/memory";
import { BUCKETS, BUCKET_MAX } from "./buckets";
import { Or, Xor } from "./kernel";

/** Low bytes in a vector. */
// @ts-ignore: decorator
@inline const LOWS: u32 = 16;
/** Of so many members in all, few pairs of buckets have more than a vector of them. */
// @ts-ignore: decorator
@inline const NARROW: u32 = 2400;
/** Bytes that may be written behind the low bytes: two vectors, and the counts before it is known where they stand. */
// @ts-ignore: decorator
@inline export const MERGE_BYTES: usize = 2 * LOWS + BUCKETS;
/** What is returned when buckets cannot hold the result. */
// @ts-ignore: decorator
@inline export const NO_BUCKETS: u32 = u32.MAX_VALUE;

/**
 * Unites the buckets that `left` shows at `a` with those that `right` shows at `b`; returns the cardinality, or NO_BUCKETS. `out` needs
 * aCount + bCount + MERGE_BYTES and overlaps neither.
 */
export function unionBuckets(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return merge<Or>(a, aCount, b, bCount, out);
}

/** The members of exactly one, likewise. */
export function xorBuckets(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return merge<Xor>(a, aCount, b, bCount, out);
}

// @ts-ignore: decorator
@inline function merge<O>(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  const aCounts = a + aCount, bCounts = b + bCount, start = out, counts = out + aCount + bCount + 2 * LOWS, wide = aCount + bCount > NARROW;
  for (let high: u32 = 0; high < BUCKETS; high++) {
    const held = left.load8(aCounts + high, 0), others = right.load8(bCounts + high, 0), sum = held + others, from = out;
    if (max(held, others) > LOWS) {
      out = mergeLong<O>(a, held, b, others, out);
      if (u32(out - from) > BUCKET_MAX) return NO_BUCKETS;
    } else {
      const x = v128.or(left.load128(a, 0), lanesFrom(held)), y = turned(v128.or(right.load128(b, 0), lanesFrom(others)));
      let same: u32;
      if (wide || sum > LOWS) {
        const lows = sortLows(i8x16.min_u(x, y)), highs = sortLows(i8x16.max_u(x, y));
        v128.store(out, lows);
        v128.store(out, highs, 16);
        same = repeats(lows, lows) | repeats(lows, highs) << 16;
      } else {
        const lows = sortLows(v128.and(x, y));
        v128.store(out, lows);
        same = repeats(lows, lows);
      }
      same &= <u32>(((<u64>1) << sum) - 1) & ~1;
      out = same ? withoutRepeats<O>(same, sum, out) : out + sum;
    }
    store<u8>(counts + high, <u8>(out - from));
    a += held;
    b += others;
  }
  memory.copy(out, counts, BUCKETS);
  return <u32>(out - start);
}

/** All ones in the lanes from `count` on. */
// @ts-ignore: decorator
@inline function lanesFrom(count: u32): v128 {
  return i8x16.ge_u(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>count));
}

/** The lanes in the opposite order. */
// @ts-ignore: decorator
@inline function turned(lows: v128): v128 { return v128.shuffle<u8>(lows, lows, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }

/** Sorts lanes that rise and then fall, or fall and then rise. */
// @ts-ignore: decorator
@inline function sortLows(lows: v128): v128 {
  let other = v128.shuffle<u64>(lows, lows, 1, 0);
  lows = v128.shuffle<u64>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 3);
  other = v128.shuffle<u32>(lows, lows, 1, 0, 3, 2);
  lows = v128.shuffle<u32>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 5, 2, 7);
  other = v128.shuffle<u16>(lows, lows, 1, 0, 3, 2, 5, 4, 7, 6);
  lows = v128.shuffle<u16>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 9, 2, 11, 4, 13, 6, 15);
  other = v128.shuffle<u8>(lows, lows, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  return v128.shuffle<u8>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31);
}

/** A bit for each lane that equals the one before it; before the first is the last of `before`. */
// @ts-ignore: decorator
@inline function repeats(before: v128, lows: v128): u32 {
  const earlier = v128.shuffle<u8>(before, lows, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  return <u32>i8x16.bitmask(i8x16.eq(lows, earlier));
}

/** Takes out of the `sum` members at `out` those that `same` marks as repeated, or with Xor both; returns the end. */
function withoutRepeats<O>(same: u32, sum: u32, out: usize): usize {
  const gone = sizeof<O>() == sizeof<Xor>() ? same | same >> 1 : same;
  let from = out;
  for (let i: u32 = 0; i < sum; i++) {
    store<u8>(out, load<u8>(from++));
    out += <usize>(~(gone >> i) & 1);
  }
  return out;
}

/** Merges two buckets of any length; returns the end. */
function mergeLong<O>(a: usize, held: u32, b: usize, others: u32, out: usize): usize {
  const aEnd = a + held, bEnd = b + others;
  while (a < aEnd && b < bEnd) {
    const x = left.load8(a, 0), y = right.load8(b, 0);
    store<u8>(out, min(x, y));
    if (sizeof<O>() == sizeof<Or>()) out++; else out += usize(x != y);
    a += usize(x <= y);
    b += usize(y <= x);
  }
  for (; a < aEnd; a++) store<u8>(out++, left.load8(a, 0));
  for (; b < bEnd; b++) store<u8>(out++, right.load8(b, 0));
  return out;
}
