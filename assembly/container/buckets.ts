// Buckets: the members of an array in little more than half the space. The members that share a high byte
// form a bucket, which stores their low bytes and their count. Payload, 256 bytes and one byte per member:
//
//   +0          u8 low byte of each member, in the order of the members
//   +members    u8 count of the bucket of high byte 0, of high byte 1, ... of high byte 255
//
// Counts are one byte, so a bucket of 256 members cannot be represented, and such a set stays an array. A
// vector may be loaded from any low byte on, because the counts follow. Most kernels accept only arrays; for
// them, bucketsToArray() unpacks the payload.

import { left, right, vector } from "../env/memory";
import { Memory, view8 } from "../env/view";
import { Bitset } from "./bitset";
import { Container } from "./limits";
import { And, AndNot, Count, Kernel, SetOperation, Sink, Store } from "./kernel";
import { Lanes } from "./lanes";

/** Kernels for buckets. */
export abstract class Buckets {
  /** Most members of a bucket. */
  @inline static readonly BUCKET_MAX: u32 = 255;
  /** Low bytes in a vector. */
  @inline static readonly LOWS: u32 = 16;
  /** Bytes that LOWS members take in an array. */
  @inline static readonly LOWS_ARRAY_BYTES: usize = 32;
  /** Bytes that the values of one bucket take in a bitset. */
  @inline static readonly BUCKET_BITSET_BYTES: usize = 32;
  /**
   * From more than this many buckets away, it is faster to count all members below a bucket than to walk there.
   */
  @inline private static readonly BUCKETS_FAR: u32 = 8;

  /** Fills [marks, end): each bucket's high byte at the position of its first member, 0 elsewhere. */
  @inline static mark(counts: usize, marks: usize, end: usize): void {
    memory.fill(marks, 0, end - marks);
    for (let high: u32 = 0; high < Container.BUCKETS && marks < end; high++) {
      store<u8>(marks, high);                   // the next bucket overwrites the mark of an empty one
      marks += left.load8(counts + high, 0);
    }
  }

  /** Lists the number of members up to the end of each bucket of the array; returns the end of the list. */
  @inline static listEnds(a: usize, count: u32, list: usize): usize {
    let i: u32 = 0, ends = i16x8(1, 2, 3, 4, 5, 6, 7, 8);
    for (; i + Lanes.LANES < count; i += Lanes.LANES, a += Lanes.LANES_BYTES) {
      const fromNext = v128.xor(left.load128(a, 0), left.load128(a, 2));
      const lastOfBucket = <u32>i16x8.bitmask(i16x8.gt_u(fromNext, i16x8.splat(0xff)));
      v128.store(list, vector.compact(ends, lastOfBucket));
      list += <usize>popcnt<u32>(lastOfBucket) << 1;
      ends = i16x8.add(ends, i16x8.splat(<i16>Lanes.LANES));
    }
    for (; i < count; a += Container.MEMBER_BYTES) {
      i++;
      if (i < count && left.load8(a, 1) == left.load8(a, 3)) continue;
      store<u16>(list, i);
      list += Container.MEMBER_BYTES;
    }
    return list;
  }

  /** Keeps the members of `a` that are in `b` (And) or not in `b` (AndNot). */
  @inline static filter<O extends SetOperation, S extends Sink>(
    a: usize, aCount: u32, b: usize, bCount: u32, out: usize,
  ): u32 {
    const aCounts = a + aCount, bCounts = b + bCount;
    const start = out, lastVector = out + Container.arrayBytes(aCount) - Lanes.LANES_BYTES;
    let members: u32 = 0;
    for (let high: u32 = 0; high < Container.BUCKETS; high++) {
      const aHeld = left.load8(aCounts + high, 0), bHeld = right.load8(bCounts + high, 0);
      for (let i: u32 = 0; i < aHeld; i += Lanes.LANES) {
        const lows = i64x2.splat(left.load64(a + i, 0));
        let found = i64x2.splat(0);
        for (let j: u32 = 0; j < bHeld; j += Lanes.LANES) {
          found = v128.or(found, Buckets.equalAny(lows, right.load64(b + j, 0), bHeld - j));
        }
        const twice = <u32>i8x16.bitmask(found);
        const inB = twice | twice >> 8;
        const ofBucket = Buckets.firstLanes(<i32>(aHeld - i));
        const kept = (Kernel.is<O, And>() ? inB : ~inB) & ofBucket & Lanes.ALL_LANES;
        members += <u32>popcnt<u32>(kept);
        if (!Kernel.stores<S>()) continue;
        const lanes = i16x8.add(i16x8.extend_low_i8x16_u(lows), i16x8.splat(<i16>(high << 8)));
        if (out <= lastVector) {
          v128.store(out, vector.compact(lanes, kept));
        } else {
          Lanes.putOnly(lanes, kept, out);
        }
        out = start + Container.arrayBytes(members);
      }
      a += aHeld;
      b += bHeld;
    }
    return members;
  }

  /**
   * Marks the bytes of `lows` that equal any of the first `count` bytes of `others`. `lows` holds the same
   * eight bytes twice: the first copy is compared with four rotations of `others`, the second with the other
   * four. A byte is found if either copy is marked.
   */
  @inline private static equalAny(lows: v128, others: u64, count: u32): v128 {
    const indices = i8x16.min_u(
      i8x16(0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 0, 1, 2, 3), i8x16.splat(<i8>(count - 1)),
    );
    const y0 = i8x16.swizzle(i64x2.splat(others), indices);
    const y1 = v128.shuffle<u8>(y0, y0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8);
    const y2 = v128.shuffle<u8>(y0, y0, 2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
    const y3 = v128.shuffle<u8>(y0, y0, 3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    return v128.or(
      v128.or(i8x16.eq(lows, y0), i8x16.eq(lows, y1)), v128.or(i8x16.eq(lows, y2), i8x16.eq(lows, y3)),
    );
  }

  // --- One payload, in memory 0 or M -------------------------------------------------------------------------

  /** Sum of the eight lanes. */
  @inline static sumOf(lanes: v128): u32 {
    const sums = i32x4.extadd_pairwise_i16x8_u(lanes);
    const pairs = i32x4.add(sums, v128.shuffle<u64>(sums, sums, 1, 0));
    return <u32>(i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1));
  }

  /** Counts the members below `value`, which may be UNIVERSE. */
  static lowerBound(at: usize, count: u32, value: u32): u32 {
    if (value >= Container.UNIVERSE) return count;
    const counts = at + count, high = value >> 8, low = i8x16.splat(<i8>value);
    let below = bucketMembersBelow(counts, high), rest = <i32>load<u8>(counts + high);
    for (let lows = at + below; rest > 0; rest -= Buckets.LOWS, lows += Buckets.LOWS) {
      below += <u32>popcnt<u32>(<u32>i8x16.bitmask(i8x16.lt_u(v128.load(lows), low))
        & Buckets.firstLanes(rest));
    }
    return below;
  }

  /** A mask of the first `lanes` lanes, at most 16. */
  @inline private static firstLanes(lanes: i32): u32 {
    return ((<u32>1) << min(lanes, <i32>Buckets.LOWS)) - 1;
  }

  /** Whether `value` is a member. */
  static has(at: usize, count: u32, value: u32): bool {
    return Buckets.held(at, count, value >> 8) != 0
      && Buckets.bucketHas(at, count, at + bucketMembersBelow(at + count, value >> 8), value);
  }

  /** Members of the bucket of `high`. */
  @inline static held(at: usize, count: u32, high: u32): u32 {
    return load<u8>(at + count + high);
  }

  /**
   * Where the bucket of `high` begins, given that the bucket of `near`,
   * which is not above it, begins at `lows`.
   */
  @inline static from(at: usize, count: u32, near: u32, lows: usize, high: u32): usize {
    if (high - near > Buckets.BUCKETS_FAR) return at + bucketMembersBelow(at + count, high);
    for (; near < high; near++) lows += Buckets.held(at, count, near);
    return lows;
  }

  /** Whether `value` is a member of its bucket, which begins at `lows`. */
  static bucketHas(at: usize, count: u32, lows: usize, value: u32): bool {
    const low = i8x16.splat(<i8>value);
    for (let rest = <i32>Buckets.held(at, count, value >> 8); rest > 0;
      rest -= Buckets.LOWS, lows += Buckets.LOWS) {
      if (<u32>i8x16.bitmask(i8x16.eq(v128.load(lows), low)) & Buckets.firstLanes(rest)) return true;
    }
    return false;
  }

  /** The number of members below `value`, and in the top bit whether `value` is a member. */
  static find(at: usize, count: u32, value: u32): u32 {
    const counts = at + count, high = value >> 8, low = i8x16.splat(<i8>value);
    let below = bucketMembersBelow(counts, high), rest = <i32>load<u8>(counts + high), found: u32 = 0;
    for (let lows = at + below; rest > 0; rest -= Buckets.LOWS, lows += Buckets.LOWS) {
      const held = v128.load(lows), mask = Buckets.firstLanes(rest);
      below += <u32>popcnt<u32>(<u32>i8x16.bitmask(i8x16.lt_u(held, low)) & mask);
      found |= <u32>i8x16.bitmask(i8x16.eq(held, low)) & mask;
    }
    return below | (u32(found != 0) << 31);
  }

  /** Whether the bucket of `value`, which is absent, has room for it. */
  static haveRoom(at: usize, count: u32, value: u32): bool {
    return u32(load<u8>(at + count + (value >> 8))) < Buckets.BUCKET_MAX;
  }

  /**
   * Inserts `value`, which has `index` of the `count` members below it.
   * The payload and the bucket must have room.
   */
  static insert(at: usize, count: u32, index: u32, value: u32): void {
    const gap = at + index, counter = at + count + 1 + (value >> 8);      // the counts move up by one
    memory.copy(gap + 1, gap, Container.bucketsBytes(count - index));
    store<u8>(gap, <u8>value);
    store<u8>(counter, load<u8>(counter) + 1);
  }

  /** Removes the member `value`, which has `index` of the `count` members below it. */
  static remove(at: usize, count: u32, index: u32, value: u32): void {
    const removed = at + index, counter = at + count - 1 + (value >> 8);  // the counts move down by one
    memory.copy(removed, removed + 1, Container.bucketsBytes(count - index - 1));
    store<u8>(counter, load<u8>(counter) - 1);
  }

  /** The member of 0-based rank `index`, which is less than `count`. */
  static select(at: usize, count: u32, index: u32): u32 {
    const counts = at + count;
    let rest = index, high: u32 = 0;
    while (true) {
      const sum = Buckets.sumOf(i16x8.extadd_pairwise_i8x16_u(v128.load(counts + high)));
      if (rest < sum) break;
      rest -= sum;
      high += Buckets.LOWS;
    }
    for (let held = <u32>load<u8>(counts + high); rest >= held; held = load<u8>(counts + high)) {
      rest -= held;
      high++;
    }
    return (high << 8) | load<u8>(at + index);
  }

  /** The greatest member. There must be one. */
  static last<M extends Memory>(at: usize, count: u32): u32 {
    let high = Container.BUCKETS - 1;
    while (!view8<M>(at + count + high, 0)) high--;
    return (high << 8) | view8<M>(at + count - 1, 0);
  }

  /** The least value from `value` on that is absent, or UNIVERSE. */
  static nextClear(at: usize, count: u32, value: u32): u32 {
    const counts = at + count;
    let next = at + Buckets.lowerBound(at, count, value);
    let end = at + bucketMembersBelow(counts, value >> 8) + load<u8>(counts + (value >> 8));
    for (; next < end && load<u8>(next) == (value & 0xff); next++) {
      if (++value & 0xff) continue;
      if (value == Container.UNIVERSE) break;
      end += load<u8>(counts + (value >> 8));   // the run of members goes on in the next bucket
    }
    return value;
  }

  /** The members low .. low + 63 as bits, with `low` as bit 0. `low` must be a multiple of 64. */
  static word(at: usize, count: u32, low: u32): u64 {
    const counts = at + count, high = low >> 8, first = low & 0xff;
    let bits: u64 = 0;
    let next = at + bucketMembersBelow(counts, high);
    for (const end = next + load<u8>(counts + high); next < end; next++) {
      const value = <u32>load<u8>(next) - first;
      if (value < 64) bits |= (<u64>1) << value;
    }
    return bits;
  }

  /** Whether the counts add up to `count` and each bucket's low bytes are strictly ascending. */
  static areSound(at: usize, count: u32): bool {
    const counts = at + count;
    let members: u32 = 0;
    for (let high: u32 = 0; high < Container.BUCKETS; high++) {
      const held = <u32>load<u8>(counts + high);
      if (members + held > count) return false;
      for (let i = members + 1; i < members + held; i++) {
        if (load<u8>(at + i) <= load<u8>(at + i - 1)) return false;
      }
      members += held;
    }
    return members == count;
  }
}

// --- Conversions of the payload that `left` shows at `a`, to memory 0; the two must not overlap ------------

/**
 * `out` needs arrayBytes(count). Its second half first gets a byte for each member: a mark, the high byte,
 * where a bucket begins, and 0 elsewhere. A member's high byte is the greatest mark up to it. Each mark is
 * read before a member overwrites it.
 */
export function bucketsToArray(a: usize, count: u32, out: usize): void {
  let marks = out + count;
  Buckets.mark(a + count, marks, out + Container.arrayBytes(count));
  const none = i64x2.splat(0);
  let before = none;                          // the last high byte, in all lanes
  for (const end = a + (count & ~(Buckets.LOWS - 1)); a < end;
    a += Buckets.LOWS, marks += Buckets.LOWS, out += Buckets.LOWS_ARRAY_BYTES) {
    let highs = v128.load(marks);
    // The running maximum: with the lanes 1, 2, 4 and 8 places before.
    highs = i8x16.max_u(
      highs, v128.shuffle<u8>(none, highs, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30),
    );
    highs = i8x16.max_u(highs, v128.shuffle<u16>(none, highs, 7, 8, 9, 10, 11, 12, 13, 14));
    highs = i8x16.max_u(highs, v128.shuffle<u32>(none, highs, 3, 4, 5, 6));
    highs = i8x16.max_u(highs, v128.shuffle<u64>(none, highs, 1, 2));
    highs = i8x16.max_u(highs, before);
    before = i8x16.swizzle(highs, i8x16.splat(15));
    const lows = left.load128(a, 0);
    v128.store(
      out, v128.shuffle<u8>(lows, highs, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), 16,
    );
    v128.store(out, v128.shuffle<u8>(lows, highs, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  }
  let high = <u32>i8x16.extract_lane_u(before, 0);
  for (let rest = count & (Buckets.LOWS - 1); rest; rest--) {
    high = max<u32>(high, load<u8>(marks++));
    store<u16>(out, (high << 8) | left.load8(a++, 0));
    out += Container.MEMBER_BYTES;
  }
}

/** Adds the members to the bitset at `to` in memory 0, without counting. */
export function unionBucketsInto(a: usize, count: u32, to: usize): void {
  const counts = a + count;
  for (let high: u32 = 0; high < Container.BUCKETS; high++, to += Buckets.BUCKET_BITSET_BYTES) {
    for (let end = a + left.load8(counts + high, 0); a < end; a++) Bitset.set(to, left.load8(a, 0));
  }
}

/**
 * Writes the array of `count` members as buckets to `out`, which needs bucketsBytes(count). Returns false if
 * a bucket would have 256 members. The first step lists at `list`, without branches, where buckets end. The
 * list takes two bytes per member or per bucket, whichever are fewer, and one vector behind them; `list` may
 * be `out` if there are at least BUCKETS_FROM members.
 */
export function arrayToBuckets(a: usize, count: u32, out: usize, list: usize): bool {
  const counts = out + count, listed = Buckets.listEnds(a, count, list);
  memory.fill(counts, 0, Container.BUCKETS);
  let first: u32 = 0;
  for (let at = list; at < listed; at += Container.MEMBER_BYTES) {
    const end = <u32>load<u16>(at), held = end - first, highOfLast = a + Container.arrayBytes(end) - 1;
    if (held > Buckets.BUCKET_MAX) return false;
    store<u8>(counts + left.load8(highOfLast, 0), held);
    first = end;
  }
  const lowByte = i16x8.splat(0xff), end = a + Container.arrayBytes(count);
  for (; a + 2 * Lanes.LANES_BYTES <= end; a += 2 * Lanes.LANES_BYTES) {
    v128.store(
      out,
      i8x16.narrow_i16x8_u(v128.and(left.load128(a, 0), lowByte), v128.and(left.load128(a, 16), lowByte)),
    );
    out += Buckets.LOWS;
  }
  for (; a < end; a += Container.MEMBER_BYTES) store<u8>(out++, left.load8(a, 0));
  return true;
}

// --- Two payloads, which `left` shows at `a` and `right` at `b` --------------------------------------------
// A bucket is only compared with the bucket of the same high byte,
// so each member meets few others, however the rest is distributed.

/**
 * Writes the intersection as an array; returns the cardinality.
 * `out` needs arrayBytes(aCount) and must not overlap either.
 */
export function intersectBuckets(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return Buckets.filter<And, Store>(a, aCount, b, bCount, out);
}

export function intersectBucketsCardinality(a: usize, aCount: u32, b: usize, bCount: u32): u32 {
  return Buckets.filter<And, Count>(a, aCount, b, bCount, 0);
}

/** Writes the members of `a` that are not in `b`, in the same way. */
export function differenceBuckets(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return Buckets.filter<AndNot, Store>(a, aCount, b, bCount, out);
}

/** Counts the members of the buckets below that of `high`. */
function bucketMembersBelow(counts: usize, high: u32): u32 {
  const edge = counts + (high & ~(Buckets.LOWS - 1));
  const rest = i8x16.lt_u(
    i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>(high & (Buckets.LOWS - 1))),
  );
  let sums = i16x8.extadd_pairwise_i8x16_u(v128.and(rest, v128.load(edge)));
  for (let at = counts; at < edge; at += Buckets.LOWS) {
    sums = i16x8.add(sums, i16x8.extadd_pairwise_i8x16_u(v128.load(at)));
  }
  return Buckets.sumOf(sums);
}
