// Vectors of eight u16 members, one in each lane.

import { vector } from "../env/memory";
import { Container } from "./limits";

/** Operations on eight 16-bit lanes. */
export abstract class Lanes {
  /** Members in a vector. */
  @inline static readonly LANES: u32 = 8;
  @inline static readonly LANES_BYTES: usize = 16;
  /** A mask with a bit for each lane. */
  @inline static readonly ALL_LANES: u32 = 0xff;

  /** The lanes moved up by one place; the last lane of `before` moves in. */
  @inline static delayOne(before: v128, lanes: v128): v128 {
    return v128.shuffle<u16>(before, lanes, 7, 8, 9, 10, 11, 12, 13, 14);
  }

  /** The lanes moved up by two places; the last two lanes of `before` move in. */
  @inline static delayTwo(before: v128, lanes: v128): v128 {
    return v128.shuffle<u16>(before, lanes, 6, 7, 8, 9, 10, 11, 12, 13);
  }

  /**
   * Writes the lanes whose bits are set in `mask` to `out`, without gaps, and returns the address behind them.
   * Always stores 16 bytes.
   */
  @inline static put(lanes: v128, mask: u32, out: usize): usize {
    v128.store(out, vector.compact(lanes, mask));
    return out + (<usize>popcnt<u32>(mask) << 1);
  }

  /** Like Lanes.put(), but stores nothing behind the selected lanes. */
  static putOnly(lanes: v128, mask: u32, out: usize): usize {
    while (mask) {
      if (mask & 1) {
        store<u16>(out, i16x8.extract_lane_u(lanes, 0));
        out += Container.MEMBER_BYTES;
      }
      lanes = v128.shuffle<u16>(lanes, lanes, 1, 2, 3, 4, 5, 6, 7, 0);
      mask >>= 1;
    }
    return out;
  }

  // Interleave the low lanes, or the high lanes, of two vectors.
  @inline static interleaveLow(x: v128, y: v128): v128 {
    return v128.shuffle<u16>(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
  }

  @inline static interleaveHigh(x: v128, y: v128): v128 {
    return v128.shuffle<u16>(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
  }

  /** The lanes in reverse order. */
  @inline static reverse(lanes: v128): v128 {
    return v128.shuffle<u16>(lanes, lanes, 7, 6, 5, 4, 3, 2, 1, 0);
  }

  /**
   * Sorts a bitonic sequence: lanes that ascend and then descend, or the reverse.
   * Compares lanes at distance 4, 2 and 1.
   */
  @inline static sortBitonic(lanes: v128): v128 {
    let other = v128.shuffle<u64>(lanes, lanes, 1, 0);
    lanes = v128.shuffle<u64>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 3);
    other = v128.shuffle<u32>(lanes, lanes, 1, 0, 3, 2);
    lanes = v128.shuffle<u32>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 5, 2, 7);
    other = v128.shuffle<u16>(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6);
    return v128.shuffle<u16>(i16x8.min_u(lanes, other), i16x8.max_u(lanes, other), 0, 9, 2, 11, 4, 13, 6, 15);
  }

  @inline private static turnOne(x: v128): v128 { return v128.shuffle<u16>(x, x, 1, 2, 3, 4, 5, 6, 7, 0); }
  @inline private static turnTwo(x: v128): v128 { return v128.shuffle<u16>(x, x, 2, 3, 4, 5, 6, 7, 0, 1); }
  @inline private static turnFour(x: v128): v128 { return v128.shuffle<u16>(x, x, 4, 5, 6, 7, 0, 1, 2, 3); }

  /** A bit for each lane of `x` that equals any lane of `y`. Unlike vector.lanesIn(), takes lanes of 0. */
  @inline static equal(x: v128, y: v128): u32 {
    return i16x8.bitmask(v128.or(Lanes.equalToFour(x, y), Lanes.equalToFour(x, Lanes.turnFour(y))));
  }

  /** The lanes of `x` that equal the lane of `y` in their place, or one of the three behind it. */
  @inline private static equalToFour(x: v128, y: v128): v128 {
    const next = Lanes.turnOne(y), some = v128.or(i16x8.eq(x, y), i16x8.eq(x, next));
    return v128.or(some, v128.or(i16x8.eq(x, Lanes.turnTwo(y)), i16x8.eq(x, Lanes.turnTwo(next))));
  }

  /** A bit for each place where the lanes of `x` and `more` equal those of `y` and `yMore` at any one place. */
  @inline static equalPairs(x: v128, more: v128, y: v128, yMore: v128): u32 {
    const near = Lanes.pairsInFour(x, more, y, yMore);
    return i16x8.bitmask(v128.or(near, Lanes.pairsInFour(x, more, Lanes.turnFour(y), Lanes.turnFour(yMore))));
  }

  @inline private static pairsInFour(x: v128, more: v128, y: v128, yMore: v128): v128 {
    const next = Lanes.turnOne(y), nextMore = Lanes.turnOne(yMore);
    const some = v128.or(Lanes.pairs(x, more, y, yMore), Lanes.pairs(x, more, next, nextMore));
    const others = Lanes.pairs(x, more, Lanes.turnTwo(y), Lanes.turnTwo(yMore));
    return v128.or(some, v128.or(others, Lanes.pairs(x, more, Lanes.turnTwo(next), Lanes.turnTwo(nextMore))));
  }

  @inline private static pairs(x: v128, more: v128, y: v128, yMore: v128): v128 {
    return v128.and(i16x8.eq(x, y), i16x8.eq(more, yMore));
  }
}
