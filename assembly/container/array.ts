// Array payload, 2 bytes per member, 1 to 4096 members:
//   +0 u16 least member   +2 u16 next ...   strictly ascending
//
// Two arrays are combined in one of three ways:
//   blocks   eight members of each at a time, see lanes.ts
//   lookup   searches a long array for each member of a short one; each search costs the logarithm of the
//            distance from the member found before
//   merge    one member at a time, branch-free, for arrays shorter than a block
//
// Below, left `a` is the array at `a` of the operand that `left` shows,
// and right `b` the one at `b` of the operand that `right` shows.

import { left, right, vector } from "../env/memory";
import { Left, Memory, Right, view16 } from "../env/view";
import { And, AndNot, Count, Kernel, Or, SetOperation, Sink, Store, Xor } from "./kernel";
import { Container } from "./limits";
import { Lanes } from "./lanes";

/** An array is searched, not read in full, if it is this many times as long as the other one. */
const enum Ratio {
  /** The alternative is to compare blocks. */
  LOOKUP = 24,
  /** The alternative is to merge blocks, which costs about three times as much. */
  SPLICE = 8,
  /** The alternative is to merge members one by one. */
  REST = 4,
}

/** What the kernels for arrays share. */
export abstract class Arrays {
  /** Offset of the last member of a block. */
  @inline private static readonly LAST_LANE: u32 = 14;
  /** Members that lie in one or two cache lines. */
  @inline static readonly NEAR: u32 = 48;

  /** The member of 0-based rank `index` of the array at `payload` in memory 0. */
  @inline static member(payload: usize, index: u32): u32 {
    return load<u16>(payload + (<usize>index << 1));
  }

  /** Returns `step` if the member that ends at `end` is below `value`, else 0. */
  @inline static stepOver(end: usize, step: usize, value: u32): usize {
    return select<usize>(step, 0, u32(load<u16>(end - Container.MEMBER_BYTES)) < value);
  }

  @inline static intersectInto<S extends Sink>(a: usize, aCount: u32, b: usize, bCount: u32,
    out: usize): u32 {
    if (aCount <= Lanes.LANES || aCount * Ratio.LOOKUP < bCount) {
      return Arrays.lookUpLeft<And, S>(a, aCount, b, bCount, out);
    }
    if (bCount <= Lanes.LANES || bCount * Ratio.LOOKUP < aCount) {
      return Arrays.lookUpRight<S>(a, aCount, b, bCount, out);
    }
    return Arrays.filterBlocks<And, S>(a, aCount, b, bCount, out);
  }

  @inline static combineArrays<O extends SetOperation>(a: usize, aCount: u32, b: usize, bCount: u32,
    out: usize): u32 {
    if (aCount < Lanes.LANES || bCount < Lanes.LANES || aCount * Ratio.SPLICE < bCount
      || bCount * Ratio.SPLICE < aCount) {
      return Container.memberCount(out,
        Arrays.combineRest<O>(a, a + Container.arrayBytes(aCount), b, b + Container.arrayBytes(bCount), out));
    }
    return Arrays.combineBlocks<O>(a, aCount, b, bCount, out);
  }

  // ---- Blocks. Both arrays have at least one block.

  /**
   * Keeps the members of `a` that are in `b` (And) or not in `b` (AndNot).
   * Both have more than LANES members; `out` has room for as many as there can be.
   *
   * Member 0 is handled before the others, because vector.lanesIn() takes no lane of 0; it can only be the
   * first member. The last block of an array ends with the last member, so it may begin with members of the
   * block before it. That is harmless in `b`; in `a` these members are masked off. Results never overtake the
   * block of `a` that is in a register, so `out` may be `a`.
   */
  @inline static filterBlocks<O extends SetOperation, S extends Sink>(
    a: usize, aCount: u32, b: usize, bCount: u32, out: usize,
  ): u32 {
    const aLast = a + Container.arrayBytes(aCount) - Lanes.LANES_BYTES,
      bLast = b + Container.arrayBytes(bCount) - Lanes.LANES_BYTES;
    const most = Kernel.is<O, And>() ? min(aCount, bCount) : aCount;
    const start = out, end = out + Container.arrayBytes(most);
    const aZero = !left.load16(a, 0);
    const bZero = !right.load16(b, 0);
    const keepsZero = aZero && bZero == (Kernel.is<O, And>());
    let members = u32(keepsZero);
    if (Kernel.stores<S>() && keepsZero) {
      store<u16>(out, 0);
      out += Container.MEMBER_BYTES;
    }
    a += usize(aZero) << 1;
    b += usize(bZero) << 1;
    for (; a < aLast; a += Lanes.LANES_BYTES) {
      // Extracting it from the vector would lengthen the chain of loads.
      const highest = left.load16(a, Arrays.LAST_LANE);
      let reached = right.load16(b, Arrays.LAST_LANE);
      const x = left.load128(a, 0);
      let found = vector.lanesIn(x, right.load128(b, 0));
      while (reached < highest && b != bLast) {
        b = min(b + Lanes.LANES_BYTES, bLast);
        reached = right.load16(b, Arrays.LAST_LANE);
        found |= vector.lanesIn(x, right.load128(b, 0));
      }
      const kept = Arrays.lanesToKeep<O>(found);
      if (!Kernel.stores<S>()) members += <u32>popcnt<u32>(kept);
      else if (Kernel.is<O, AndNot>()) out = Lanes.put(x, kept, out);   // `out` has room for all of `a`
      else if (kept) out = end - out >= Lanes.LANES_BYTES ? Lanes.put(x, kept, out)
        : Lanes.putOnly(x, kept, out);
    }
    const x = left.load128(aLast, 0),
      found = Arrays.findLanes(x, left.load16(aLast, Arrays.LAST_LANE), b, bLast);
    const kept = Arrays.lanesToKeep<O>(found) & (Lanes.ALL_LANES << Container.memberCount(aLast, a));
    if (!Kernel.stores<S>()) return members + <u32>popcnt<u32>(kept);
    return Container.memberCount(start,
      end - out >= Lanes.LANES_BYTES ? Lanes.put(x, kept, out) : Lanes.putOnly(x, kept, out));
  }

  @inline private static lanesToKeep<O extends SetOperation>(found: u32): u32 {
    return (Kernel.is<O, And>() ? found : ~found) & Lanes.ALL_LANES;
  }

  /**
   * Finds the lanes of `x` that are in the blocks of `b` from `b` to `bLast`.
   * `highest` is the greatest lane of `x`.
   */
  private static findLanes(x: v128, highest: u32, b: usize, bLast: usize): u32 {
    let found = vector.lanesIn(x, right.load128(b, 0));
    while (b != bLast && right.load16(b, Arrays.LAST_LANE) < highest) {
      b = min(b + Lanes.LANES_BYTES, bLast);
      found |= vector.lanesIn(x, right.load128(b, 0));
    }
    return found;
  }

  /**
   * Merges eight members per step: the eight least of the next eight of `a` and the next eight of `b`. They are
   * the lane-wise minimum of the block of `a` and the reversed block of `b`. The number of lanes taken from
   * `a`, ties included, gives how far to advance in each array, so the next addresses are known before the
   * members are sorted. A union writes a member that differs from the one before it. A symmetric difference
   * writes a member that differs from both neighbors, so its output lags by one member.
   */
  @inline private static combineBlocks<O extends SetOperation>(a: usize, aCount: u32, b: usize, bCount: u32,
    out: usize): u32 {
    const aEnd = a + Container.arrayBytes(aCount), bEnd = b + Container.arrayBytes(bCount), start = out;
    // A placeholder stands before the first member: it differs from that member, and `notMember` keeps it out
    // of the output.
    let members = i16x8.splat(<i16>(min(left.load16(a, 0), right.load16(b, 0)) ^ 1));
    let notMember = i64x2(0xffff, 0);
    do {
      const x = left.load128(a, 0), y = Lanes.reverse(right.load128(b, 0)), least = i16x8.min_u(x, y);
      const bytesOfA = <usize>popcnt<u32>(<u32>i8x16.bitmask(i16x8.eq(least, x)));
      a += bytesOfA;
      b += Lanes.LANES_BYTES - bytesOfA;
      const before = members;
      members = Lanes.sortBitonic(least);
      const delayed = Lanes.delayOne(before, members), repeated = i16x8.eq(members, delayed);
      let dropped = repeated;
      if (Kernel.is<O, Xor>()) {
        dropped = v128.or(v128.or(repeated, i16x8.eq(delayed, Lanes.delayTwo(before, members))), notMember);
        notMember = i64x2.splat(0);
      }
      out = Lanes.put(Kernel.is<O, Or>() ? members : delayed, ~<u32>i16x8.bitmask(dropped) & Lanes.ALL_LANES,
        out);
    } while (a + Lanes.LANES_BYTES <= aEnd && b + Lanes.LANES_BYTES <= bEnd);

    const last = <u32>i16x8.extract_lane_u(members, 7);
    let occursTwice = <u32>i16x8.extract_lane_u(members, 6) == last;
    if (a < aEnd && left.load16(a, 0) == last) { a += Container.MEMBER_BYTES; occursTwice = true; }
    if (b < bEnd && right.load16(b, 0) == last) { b += Container.MEMBER_BYTES; occursTwice = true; }
    if (Kernel.is<O, Xor>() && !occursTwice) {
      store<u16>(out, last);
      out += Container.MEMBER_BYTES;
    }
    return Container.memberCount(start, Arrays.combineRest<O>(a, aEnd, b, bEnd, out));
  }

  // ---- Lookup. Either array may be empty.

  /** Looks up the few members of `a` in `b` and keeps those that are there (And) or absent (AndNot). */
  static lookUpLeft<O extends SetOperation, S extends Sink>(
    a: usize, aCount: u32, b: usize, bCount: u32, out: usize,
  ): u32 {
    const aEnd = a + Container.arrayBytes(aCount), bEnd = b + Container.arrayBytes(bCount), start = out;
    for (; a < aEnd; a += Container.MEMBER_BYTES) {
      const x = left.load16(a, 0);
      b = Arrays.gallop<Right>(b, bEnd, x);
      if (b == bEnd) break;
      if (Kernel.stores<S>()) store<u16>(out, x);
      out += usize((right.load16(b, 0) == x) == (Kernel.is<O, And>())) << 1;
    }
    if (Kernel.is<O, AndNot>()) {
      left.copy(out, a, aEnd - a);
      out += aEnd - a;
    }
    return Container.memberCount(start, out);
  }

  /** Looks up the few members of `b` in `a` and keeps those that are there. */
  private static lookUpRight<S extends Sink>(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
    const aEnd = a + Container.arrayBytes(aCount), bEnd = b + Container.arrayBytes(bCount), start = out;
    for (; b < bEnd; b += Container.MEMBER_BYTES) {
      const y = right.load16(b, 0);
      a = Arrays.gallop<Left>(a, aEnd, y);
      if (a == aEnd) break;
      const x = left.load16(a, 0);
      if (Kernel.stores<S>()) store<u16>(out, x);        // not y: `out` may be `a`, and x may be read again
      out += usize(x == y) << 1;
    }
    return Container.memberCount(start, out);
  }

  /** Returns the address of the first member at or after `at` that is not below `value`, or `end`. */
  @inline static gallop<M extends Memory>(at: usize, end: usize, value: u32): usize {
    let step = Container.MEMBER_BYTES;
    while (at + step <= end && view16<M>(at + step - Container.MEMBER_BYTES, 0) < value) {
      at += step;
      step <<= 1;
    }
    let count = Container.memberCount(at, min(at + step, end));
    while (count) {
      const half = count >> 1, middle = at + Container.arrayBytes(half), below = view16<M>(middle, 0) < value;
      at = below ? middle + Container.MEMBER_BYTES : at;
      count = below ? count - half - 1 : half;
    }
    return at;
  }

  // ---- Merge, also for the rest of two arrays behind their last blocks.

  /** Copies from memory M. */
  @inline private static copy<M extends Memory>(out: usize, from: usize, bytes: usize): void {
    if (Kernel.is<M, Left>()) left.copy(out, from, bytes); else right.copy(out, from, bytes);
  }

  /**
   * Copies the members `many` of memory M and applies the members `few` of memory F to the copy: Or adds them,
   * AndNot removes them, and Xor adds those that are absent and removes the others. Copies each stretch of
   * `many` between two of `few` at once. Returns the end of the result.
   */
  static splice<O extends SetOperation, F extends Memory, M extends Memory>(
    few: usize, fewEnd: usize, many: usize, manyEnd: usize, out: usize): usize {
    for (; few < fewEnd; few += Container.MEMBER_BYTES) {
      const x = view16<F>(few, 0), at = Arrays.gallop<M>(many, manyEnd, x);
      if (at != many) {
        Arrays.copy<M>(out, many, at - many);
        out += at - many;
        many = at;
      }
      const present = many != manyEnd && view16<M>(many, 0) == x;
      many += usize(present) << 1;
      if (Kernel.is<O, AndNot>()) continue;
      store<u16>(out, x);
      out += Kernel.is<O, Or>() ? Container.MEMBER_BYTES : usize(!present) << 1;
    }
    Arrays.copy<M>(out, many, manyEnd - many);
    return out + (manyEnd - many);
  }

  /**
   * Writes the union (Or) or symmetric difference (Xor) of arrays of which one is short;
   * returns the end of the result.
   */
  private static combineRest<O extends SetOperation>(a: usize, aEnd: usize, b: usize, bEnd: usize,
    out: usize): usize {
    if ((aEnd - a) * Ratio.REST < bEnd - b) return Arrays.splice<O, Left, Right>(a, aEnd, b, bEnd, out);
    if ((bEnd - b) * Ratio.REST < aEnd - a) return Arrays.splice<O, Right, Left>(b, bEnd, a, aEnd, out);
    while (a < aEnd && b < bEnd) {
      const x = left.load16(a, 0), y = right.load16(b, 0);
      store<u16>(out, min(x, y));
      out += Kernel.is<O, Or>() ? Container.MEMBER_BYTES : usize(x != y) << 1;
      a += usize(x <= y) << 1;
      b += usize(y <= x) << 1;
    }
    left.copy(out, a, aEnd - a);
    out += aEnd - a;
    right.copy(out, b, bEnd - b);
    return out + (bEnd - b);
  }
}

/** Whether the `count` members of the array at `at` of memory M are strictly ascending. */
export function isAscending<M extends Memory>(at: usize, count: u32): bool {
  for (const last = at + Container.arrayBytes(count) - Container.MEMBER_BYTES; at < last;
    at += Container.MEMBER_BYTES) {
    if (view16<M>(at, 0) >= view16<M>(at, <u32>Container.MEMBER_BYTES)) return false;
  }
  return true;
}

/**
 * Counts the members below `value`, which is at most UNIVERSE, of the array at `at` in memory 0. A
 * search in a long array spends its time waiting for memory, so each step loads three members at once
 * and leaves a quarter of the array.
 */
export function arrayLowerBound(at: usize, count: u32, value: u32): u32 {
  if (value == Container.UNIVERSE) return count;          // does not fit a lane of a vector
  const end = at + Container.arrayBytes(count);
  let base = at;
  while (count > Arrays.NEAR) {
    const quarter = count >> 2, step = Container.arrayBytes(quarter), start = base;
    base += Arrays.stepOver(start + step, step, value);
    base += Arrays.stepOver(start + 2 * step, step, value);
    base += Arrays.stepOver(start + 3 * step, step, value);
    count -= 3 * quarter;
  }
  // How many members are compared at once at the end.
  const compared: u32 = end - at < Lanes.LANES_BYTES ? 1 : Lanes.LANES;
  while (count > compared) {
    const half = count >> 1, step = Container.arrayBytes(half);
    base += Arrays.stepOver(base + step, step, value);
    count -= half;
  }
  if (compared == 1) return Container.memberCount(at, base) + u32(count != 0 && u32(load<u16>(base)) < value);
  base = min(base, end - Lanes.LANES_BYTES);          // the members before `base` are below `value` too
  return Container.memberCount(at, base)
    + <u32>popcnt<u32>(<u32>i16x8.bitmask(i16x8.lt_u(v128.load(base), i16x8.splat(<i16>value))));
}

/**
 * Intersects left `a` with right `b`; returns the cardinality, as all of these do.
 * `out` needs room for min(aCount, bCount) members and may be `a`.
 */
export function intersectArrays(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return Arrays.intersectInto<Store>(a, aCount, b, bCount, out);
}

/** Counts the members of the intersection. */
export function intersectArraysCardinality(a: usize, aCount: u32, b: usize, bCount: u32): u32 {
  return Arrays.intersectInto<Count>(a, aCount, b, bCount, 0);
}

/**
 * Writes the members of left `a` that are not in right `b`.
 * `out` needs room for aCount members and may be `a`.
 */
export function differenceArrays(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  if (aCount <= Lanes.LANES || aCount * Ratio.LOOKUP < bCount) {
    return Arrays.lookUpLeft<AndNot, Store>(a, aCount, b, bCount, out);
  }
  if (bCount <= Lanes.LANES || bCount * Ratio.LOOKUP < aCount) {
    return Container.memberCount(out, Arrays.splice<AndNot, Right, Left>(
      b, b + Container.arrayBytes(bCount), a, a + Container.arrayBytes(aCount), out));
  }
  return Arrays.filterBlocks<AndNot, Store>(a, aCount, b, bCount, out);
}

/**
 * Writes the union of left `a` and right `b`.
 * `out` needs room for aCount + bCount members and overlaps neither.
 */
export function unionArrays(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return Arrays.combineArrays<Or>(a, aCount, b, bCount, out);
}

/**
 * Writes the symmetric difference of left `a` and right `b`.
 * `out` needs room for aCount + bCount members and overlaps neither.
 */
export function xorArrays(a: usize, aCount: u32, b: usize, bCount: u32, out: usize): u32 {
  return Arrays.combineArrays<Xor>(a, aCount, b, bCount, out);
}

/** The members low .. low + 63 of the array of memory 0 at `at` as bits; the least is the lowest bit. */
export function arrayWord(at: usize, count: u32, low: u32): u64 {
  let bits: u64 = 0;
  for (let i = arrayLowerBound(at, count, low); i < count && Arrays.member(at, i) <= low + 63; i++) {
    bits |= (<u64>1) << (Arrays.member(at, i) - low);
  }
  return bits;
}
