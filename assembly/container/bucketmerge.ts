// Union and symmetric difference of two bucket payloads (buckets.ts), as buckets. Two buckets of one high
// byte usually have one or two vectors of members in total. One bucket is ascending, the other is reversed
// behind it, and such a sequence is sorted in four steps. The sizes of buckets are unpredictable, so they
// determine masks and hardly any branches.

import { left, right } from "../env/memory";
import { Buckets } from "./buckets";
import { Kernel, Or, SetOperation, Xor } from "./kernel";
import { Container } from "./limits";

/** Merges the buckets of two containers. */
export abstract class BucketMerge {
  /** Up to this many members in both payloads, few pairs of buckets have more than one vector of them. */
  @inline private static readonly NARROW: u32 = 2400;
  /**
   * Room behind the low bytes: two vectors that may be written,
   * and the counts until their final position is known.
   */
  @inline static readonly MERGE_BYTES: usize = 2 * Buckets.LOWS + Container.BUCKETS;
  /** Returned if a bucket of the result would have 256 members. */
  @inline static readonly NO_BUCKETS: u32 = u32.MAX_VALUE;

  @inline static mergeBucket<O extends SetOperation>(a: usize, aCount: u32, b: usize, bCount: u32,
    out: usize): u32 {
    const aCounts = a + aCount, bCounts = b + bCount, start = out,
      counts = out + aCount + bCount + 2 * Buckets.LOWS;
    // If so, every pair of buckets takes two vectors, so that there is no branch to predict.
    const wide = aCount + bCount > BucketMerge.NARROW;
    for (let high: u32 = 0; high < Container.BUCKETS; high++) {
      const aHeld = left.load8(aCounts + high, 0), bHeld = right.load8(bCounts + high, 0);
      const sum = aHeld + bHeld, first = out;
      if (max(aHeld, bHeld) > Buckets.LOWS) {
        out = BucketMerge.mergeLong<O>(a, aHeld, b, bHeld, out);
        if (u32(out - first) > Buckets.BUCKET_MAX) return BucketMerge.NO_BUCKETS;
      } else {
        const x = v128.or(left.load128(a, 0), BucketMerge.lanesFrom(aHeld));
        const y = BucketMerge.reversedLanes(v128.or(right.load128(b, 0), BucketMerge.lanesFrom(bHeld)));
        let repeated: u32;
        if (wide || sum > Buckets.LOWS) {
          const lows = BucketMerge.sortLows(i8x16.min_u(x, y)),
            highs = BucketMerge.sortLows(i8x16.max_u(x, y));
          v128.store(out, lows);
          v128.store(out, highs, 16);
          repeated = BucketMerge.repeats(lows, lows) | BucketMerge.repeats(lows, highs) << 16;
        } else {
          const lows = BucketMerge.sortLows(v128.and(x, y));
          v128.store(out, lows);
          repeated = BucketMerge.repeats(lows, lows);
        }
        // There are `sum` members, of which the first repeats none.
        repeated &= <u32>(((<u64>1) << sum) - 1) & ~1;
        out = repeated ? BucketMerge.withoutRepeats<O>(repeated, sum, out) : out + sum;
      }
      store<u8>(counts + high, <u8>(out - first));
      a += aHeld;
      b += bHeld;
    }
    memory.copy(out, counts, Container.BUCKETS);
    return <u32>(out - start);
  }

  /** All ones in the lanes from `count` on. */
  @inline private static lanesFrom(count: u32): v128 {
    return i8x16.ge_u(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>count));
  }

  /** The lanes in reverse order. */
  @inline private static reversedLanes(lows: v128): v128 {
    return v128.shuffle<u8>(lows, lows, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  }

  /**
   * Sorts a bitonic sequence: lanes that ascend and then descend, or the reverse.
   * Compares lanes at distance 8, 4, 2 and 1.
   */
  @inline private static sortLows(lows: v128): v128 {
    let other = v128.shuffle<u64>(lows, lows, 1, 0);
    lows = v128.shuffle<u64>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 3);
    other = v128.shuffle<u32>(lows, lows, 1, 0, 3, 2);
    lows = v128.shuffle<u32>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 5, 2, 7);
    other = v128.shuffle<u16>(lows, lows, 1, 0, 3, 2, 5, 4, 7, 6);
    lows = v128.shuffle<u16>(i8x16.min_u(lows, other), i8x16.max_u(lows, other), 0, 9, 2, 11, 4, 13, 6, 15);
    other = v128.shuffle<u8>(lows, lows, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    return v128.shuffle<u8>(
      i8x16.min_u(lows, other), i8x16.max_u(lows, other),
      0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31,
    );
  }

  /**
   * A bit for each lane that equals the one before it. The lane before the first is the last one of `before`.
   */
  @inline private static repeats(before: v128, lows: v128): u32 {
    const earlier = v128.shuffle<u8>(
      before, lows,
      15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    );
    return <u32>i8x16.bitmask(i8x16.eq(lows, earlier));
  }

  /**
   * Removes from the `sum` members at `out` those marked as repeating the one before,
   * and with Xor that one too; returns the end.
   */
  private static withoutRepeats<O extends SetOperation>(repeated: u32, sum: u32, out: usize): usize {
    const removed = Kernel.is<O, Xor>() ? repeated | repeated >> 1 : repeated;
    let from = out;
    for (let i: u32 = 0; i < sum; i++) {
      store<u8>(out, load<u8>(from++));
      out += <usize>(~(removed >> i) & 1);
    }
    return out;
  }

  /** Merges two buckets of any length; returns the end. */
  private static mergeLong<O extends SetOperation>(a: usize, aHeld: u32, b: usize, bHeld: u32,
    out: usize): usize {
    const aEnd = a + aHeld, bEnd = b + bHeld;
    while (a < aEnd && b < bEnd) {
      const x = left.load8(a, 0), y = right.load8(b, 0);
      store<u8>(out, min(x, y));
      if (Kernel.is<O, Or>()) out++; else out += usize(x != y);
      a += usize(x <= y);
      b += usize(y <= x);
    }
    for (; a < aEnd; a++) store<u8>(out++, left.load8(a, 0));
    for (; b < bEnd; b++) store<u8>(out++, right.load8(b, 0));
    return out;
  }
}

/**
 * Writes the union of the buckets that `left` shows at `a` and those that `right` shows at `b`; returns the
 * cardinality, or NO_BUCKETS. `out` needs aCount + bCount + MERGE_BYTES and must not overlap either.
 */
export function unionBuckets(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return BucketMerge.mergeBucket<Or>(a, aCount, b, bCount, out);
}

/** Writes the symmetric difference, in the same way. */
export function xorBuckets(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return BucketMerge.mergeBucket<Xor>(a, aCount, b, bCount, out);
}
