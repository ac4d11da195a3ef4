// Counters in bit slices: for each of a container's 65,536 values, how many containers have it. Bit j of all
// counters is plane j, a bitset in memory 0; planes follow one another, and behind the last one is the plane
// `over`, which has a value once its counter has overflowed. Counters that begin at 2^planes - least overflow
// when they have counted `least`: `over` then has the values that are in at least that many containers.
//
// Adding 64 counters at once takes a few operations on words, so counting bitsets costs little more than
// their union. See "Compressed bitmap indexes: beyond unions and intersections", Kaser and Lemire,
// https://arxiv.org/abs/1402.4466, on threshold functions by such adders.

import { bytes, left, right } from "../env/memory";
import { BITSET_BYTES, Container } from "./limits";
import { Runs } from "./run";
import { Bitset } from "./bitset";
import { Kernel } from "./kernel";

/** Counters of a bitset's bits, in planes of bits. */
export abstract class Counters {
  /** Planes below `over` that are always there, because the adder works on two at once. */
  @inline static readonly PLANES_LEAST: u32 = 2;
  // More members of arrays are counted in bytes: one for each of the 65,536 values.
  // They are cleared and searched as fast as a few bitsets.

  @inline static readonly BYTE_COUNTERS_BYTES: usize = Container.UNIVERSE;
  /** Most arrays that bytes can count. */
  @inline static readonly BYTE_COUNTERS_MAX: u32 = 255;
  @inline static readonly EDGE_BYTES: usize = 4;

  @inline static planeAt(planes: usize, index: u32): usize { return planes + <usize>index * BITSET_BYTES; }

  /** Planes that counters need to overflow at `least`, without `over`. */
  static planesFor(least: u32): u32 {
    return max(Counters.PLANES_LEAST, least > 1 ? 32 - <u32>clz<u32>(least - 1) : 0);
  }

  /** The number at which counters that overflow at `least` begin. */
  @inline static startOf(count: u32, least: u32): u32 { return ((<u32>1) << count) - least; }
  /** The words of plane `index` where all counters are at `start`. */
  @inline private static startWord(start: u32, index: u32): u64 { return -<u64>((start >> index) & 1); }

  /** Sets the counters of the part at `at` in the first plane so that they overflow at `least`. */
  static start(at: usize, count: u32, least: u32): void {
    Counters.startPlanes(at, count, least, 0);
    memory.fill(Counters.planeAt(at, count), 0, Bitset.PART_BYTES);
  }

  /** Counters.start() for the planes from `from` on, except the one that counters overflow to. */
  @inline static startPlanes(at: usize, count: u32, least: u32, from: u32): void {
    const start = Counters.startOf(count, least);
    for (let i = from; i < count; i++) {
      memory.fill(Counters.planeAt(at, i), <u8>Counters.startWord(start, i), Bitset.PART_BYTES);
    }
  }

  /** addPair() to counters that still have to begin at `start`. The constants make it fast. */
  static addFirstPair(a: usize, b: usize, p: usize, out: usize, start: u32): void {
    if (start & 2) {
      if (start & 1) Counters.addPair<Ones, Ones, Pass>(a, b, p, out);
      else Counters.addPair<Zeros, Ones, Pass>(a, b, p, out);
    } else if (start & 1) Counters.addPair<Ones, Zeros, Pass>(a, b, p, out);
    else Counters.addPair<Zeros, Zeros, Pass>(a, b, p, out);
  }

  /**
   * Adds two parts to the first two planes; bits that overflow go to `out`.
   * As in bitset.ts, a block's highest address is accessed first and all loads come before the first store.
   */
  @inline static addPair<P extends Plane, Q extends Plane, J extends Overflow>(
    a: usize, b: usize, p: usize, out: usize): void {
    for (const end = a + Bitset.PART_BYTES; a < end;
      a += UNROLLED, b += UNROLLED, p += UNROLLED, out += UNROLLED) {
      const x7 = left.load64(a, 56), x6 = left.load64(a, 48);
      const x5 = left.load64(a, 40), x4 = left.load64(a, 32);
      const x3 = left.load64(a, 24), x2 = left.load64(a, 16);
      const x1 = left.load64(a, 8), x0 = left.load64(a, 0);
      const y7 = right.load64(b, 56), y6 = right.load64(b, 48);
      const y5 = right.load64(b, 40), y4 = right.load64(b, 32);
      const y3 = right.load64(b, 24), y2 = right.load64(b, 16);
      const y1 = right.load64(b, 8), y0 = right.load64(b, 0);
      const q7 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 56) : Counters.wordOf<Q>(),
        q6 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 48) : Counters.wordOf<Q>();
      const q5 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 40) : Counters.wordOf<Q>(),
        q4 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 32) : Counters.wordOf<Q>();
      const q3 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 24) : Counters.wordOf<Q>(),
        q2 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 16) : Counters.wordOf<Q>();
      const q1 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 8) : Counters.wordOf<Q>(),
        q0 = Counters.isBegun<Q>() ? load<u64>(p, BITSET_BYTES + 0) : Counters.wordOf<Q>();
      const p7 = Counters.isBegun<P>() ? load<u64>(p, 56) : Counters.wordOf<P>(),
        p6 = Counters.isBegun<P>() ? load<u64>(p, 48) : Counters.wordOf<P>();
      const p5 = Counters.isBegun<P>() ? load<u64>(p, 40) : Counters.wordOf<P>(),
        p4 = Counters.isBegun<P>() ? load<u64>(p, 32) : Counters.wordOf<P>();
      const p3 = Counters.isBegun<P>() ? load<u64>(p, 24) : Counters.wordOf<P>(),
        p2 = Counters.isBegun<P>() ? load<u64>(p, 16) : Counters.wordOf<P>();
      const p1 = Counters.isBegun<P>() ? load<u64>(p, 8) : Counters.wordOf<P>(),
        p0 = Counters.isBegun<P>() ? load<u64>(p, 0) : Counters.wordOf<P>();
      const o7 = Counters.joins<J>() ? load<u64>(out, 56) : 0,
        o6 = Counters.joins<J>() ? load<u64>(out, 48) : 0;
      const o5 = Counters.joins<J>() ? load<u64>(out, 40) : 0,
        o4 = Counters.joins<J>() ? load<u64>(out, 32) : 0;
      const o3 = Counters.joins<J>() ? load<u64>(out, 24) : 0,
        o2 = Counters.joins<J>() ? load<u64>(out, 16) : 0;
      const o1 = Counters.joins<J>() ? load<u64>(out, 8) : 0,
        o0 = Counters.joins<J>() ? load<u64>(out, 0) : 0;
      const c7 = (x7 & y7) | ((x7 ^ y7) & p7), c6 = (x6 & y6) | ((x6 ^ y6) & p6);
      const c5 = (x5 & y5) | ((x5 ^ y5) & p5), c4 = (x4 & y4) | ((x4 ^ y4) & p4);
      const c3 = (x3 & y3) | ((x3 ^ y3) & p3), c2 = (x2 & y2) | ((x2 ^ y2) & p2);
      const c1 = (x1 & y1) | ((x1 ^ y1) & p1), c0 = (x0 & y0) | ((x0 ^ y0) & p0);
      store<u64>(p, q7 ^ c7, BITSET_BYTES + 56);
      store<u64>(p, q6 ^ c6, BITSET_BYTES + 48);
      store<u64>(p, q5 ^ c5, BITSET_BYTES + 40);
      store<u64>(p, q4 ^ c4, BITSET_BYTES + 32);
      store<u64>(p, q3 ^ c3, BITSET_BYTES + 24);
      store<u64>(p, q2 ^ c2, BITSET_BYTES + 16);
      store<u64>(p, q1 ^ c1, BITSET_BYTES + 8);
      store<u64>(p, q0 ^ c0, BITSET_BYTES + 0);
      store<u64>(p, x7 ^ y7 ^ p7, 56); store<u64>(p, x6 ^ y6 ^ p6, 48);
      store<u64>(p, x5 ^ y5 ^ p5, 40); store<u64>(p, x4 ^ y4 ^ p4, 32);
      store<u64>(p, x3 ^ y3 ^ p3, 24); store<u64>(p, x2 ^ y2 ^ p2, 16);
      store<u64>(p, x1 ^ y1 ^ p1, 8); store<u64>(p, x0 ^ y0 ^ p0, 0);
      store<u64>(out, o7 | (q7 & c7), 56); store<u64>(out, o6 | (q6 & c6), 48);
      store<u64>(out, o5 | (q5 & c5), 40); store<u64>(out, o4 | (q4 & c4), 32);
      store<u64>(out, o3 | (q3 & c3), 24); store<u64>(out, o2 | (q2 & c2), 16);
      store<u64>(out, o1 | (q1 & c1), 8); store<u64>(out, o0 | (q0 & c0), 0);
    }
  }

  @inline private static isBegun<P extends Plane>(): bool { return Kernel.is<P, Begun>(); }
  @inline private static wordOf<P extends Plane>(): u64 {
    return Kernel.is<P, Ones>() ? 0xffffffffffffffff : 0;
  }

  @inline private static joins<J extends Overflow>(): bool { return Kernel.is<J, Join>(); }

  /** Adds the part at `carry` to a plane's part at `p`; bits that overflow go to `out`. */
  @inline static ripple<J extends Overflow>(carry: usize, p: usize, out: usize): void {
    for (const end = p + Bitset.PART_BYTES; p < end; p += UNROLLED, carry += UNROLLED, out += UNROLLED) {
      const c7 = load<u64>(carry, 56);
      const c6 = load<u64>(carry, 48);
      const c5 = load<u64>(carry, 40);
      const c4 = load<u64>(carry, 32);
      const c3 = load<u64>(carry, 24);
      const c2 = load<u64>(carry, 16);
      const c1 = load<u64>(carry, 8);
      const c0 = load<u64>(carry, 0);
      const p7 = load<u64>(p, 56);
      const p6 = load<u64>(p, 48);
      const p5 = load<u64>(p, 40);
      const p4 = load<u64>(p, 32);
      const p3 = load<u64>(p, 24);
      const p2 = load<u64>(p, 16);
      const p1 = load<u64>(p, 8);
      const p0 = load<u64>(p, 0);
      const o7 = Counters.joins<J>() ? load<u64>(out, 56) : 0;
      const o6 = Counters.joins<J>() ? load<u64>(out, 48) : 0;
      const o5 = Counters.joins<J>() ? load<u64>(out, 40) : 0;
      const o4 = Counters.joins<J>() ? load<u64>(out, 32) : 0;
      const o3 = Counters.joins<J>() ? load<u64>(out, 24) : 0;
      const o2 = Counters.joins<J>() ? load<u64>(out, 16) : 0;
      const o1 = Counters.joins<J>() ? load<u64>(out, 8) : 0;
      const o0 = Counters.joins<J>() ? load<u64>(out, 0) : 0;
      store<u64>(p, p7 ^ c7, 56);
      store<u64>(p, p6 ^ c6, 48);
      store<u64>(p, p5 ^ c5, 40);
      store<u64>(p, p4 ^ c4, 32);
      store<u64>(p, p3 ^ c3, 24);
      store<u64>(p, p2 ^ c2, 16);
      store<u64>(p, p1 ^ c1, 8);
      store<u64>(p, p0 ^ c0, 0);
      store<u64>(out, o7 | (p7 & c7), 56); store<u64>(out, o6 | (p6 & c6), 48);
      store<u64>(out, o5 | (p5 & c5), 40); store<u64>(out, o4 | (p4 & c4), 32);
      store<u64>(out, o3 | (p3 & c3), 24); store<u64>(out, o2 | (p2 & c2), 16);
      store<u64>(out, o1 | (p1 & c1), 8); store<u64>(out, o0 | (p0 & c0), 0);
    }
  }

  /** Adds `carry` to the byte at `at` of the planes from the third one on. */
  static carryOn(at: usize, count: u32, carry: u32): void {
    at += <usize>Counters.PLANES_LEAST * BITSET_BYTES;
    for (let i = Counters.PLANES_LEAST; i < count && carry; i++, at += BITSET_BYTES) {
      const p = <u32>load<u8>(at);
      store<u8>(at, p ^ carry);
      carry &= p;
    }
    if (carry) store<u8>(at, <u32>load<u8>(at) | carry);
  }

  /** Adds a value to the first level that lacks it. */
  @inline static countInLevel(levels: usize, count: u32, value: u32): void {
    const at = levels + (value >> 3), held = <u32>load<u8>(at), bit = (<u32>1) << (value & 7);
    if (held & bit) Counters.countAgain(at, count, bit); else store<u8>(at, held | bit);
  }

  /** Adds a value already in level 0 to the next level without it. */
  private static countAgain(at: usize, count: u32, bit: u32): void {
    while (--count) {
      at += BITSET_BYTES;
      const held = <u32>load<u8>(at);
      store<u8>(at, held | bit);
      if (!(held & bit)) return;
    }
  }

  // Few runs are counted by their edges:
  // u32 each, twice the value at which a run begins, or twice the value behind a run's end, plus 1.

  /** Writes the edges of the run low .. high to `at`; returns the address behind them. */
  @inline static putEdges(at: usize, low: u32, high: u32): usize {
    store<u32>(at, low << 1);
    store<u32>(at, ((high + 1) << 1) | 1, Counters.EDGE_BYTES);
    return at + 2 * Counters.EDGE_BYTES;
  }
}
/** Bytes of the four vectors that an iteration works on. */
// @ts-ignore: decorator
@inline const UNROLLED: usize = 64;

/**
 * Adds the parts of PART_BYTES at left `a` and right `b` of two bitsets to the counters, whose part is at `at`
 * in the first plane. At `carry` in memory 0 is room for a part.
 */
export function countParts(at: usize, count: u32, a: usize, b: usize, carry: usize): void {
  const over = Counters.planeAt(at, count);
  if (count == Counters.PLANES_LEAST) { Counters.addPair<Begun, Begun, Join>(a, b, at, over); return; }
  Counters.addPair<Begun, Begun, Pass>(a, b, at, carry);
  for (let i: u32 = Counters.PLANES_LEAST; i < count - 1; i++) {
    Counters.ripple<Pass>(carry, Counters.planeAt(at, i), carry);
  }
  Counters.ripple<Join>(carry, Counters.planeAt(at, count - 1), over);
}

/** Starts the counters, as Counters.start() does, and adds the first two parts, as countParts() does. */
export function countFirstParts(at: usize, count: u32, least: u32, a: usize, b: usize): void {
  const over = Counters.planeAt(at, count);    // holds the carry until it is the overflow
  Counters.startPlanes(at, count, least, Counters.PLANES_LEAST);
  Counters.addFirstPair(a, b, at, over, Counters.startOf(count, least));
  for (let i: u32 = Counters.PLANES_LEAST; i < count; i++) {
    Counters.ripple<Pass>(over, Counters.planeAt(at, i), over);
  }
}

/**
 * Where the bits that overflow go: they join those at `out`, or replace them.
 * The types differ in size, as in kernel.ts.
 */
@unmanaged abstract class Overflow { protected overflow!: u8; }
@unmanaged abstract class Join extends Overflow { protected join!: u8; }
@unmanaged abstract class Pass extends Overflow { protected pass!: u16; }

/** The content of a plane before: stored bits, or nothing yet, which stands for all zeros or all ones. */
@unmanaged abstract class Plane { protected plane!: u8; }
@unmanaged abstract class Begun extends Plane { protected begun!: u8; }
@unmanaged abstract class Zeros extends Plane { protected zeros!: u16; }
@unmanaged abstract class Ones extends Plane { protected ones!: u32; }

/**
 * Adds one to the counters of the members of right array `a`. There are no branches up to the third plane:
 * they would mispredict.
 */
export function countArray(planes: usize, count: u32, a: usize, members: u32): void {
  for (const end = a + Container.arrayBytes(members); a < end; a += Container.MEMBER_BYTES) {
    const value = right.load16(a, 0), at = planes + (value >> 3);
    const p = <u32>load<u8>(at), q = <u32>load<u8>(at, BITSET_BYTES), o = <u32>load<u8>(at, 2 * BITSET_BYTES);
    const bit = (<u32>1) << (value & 7), carry = bit & p & q;
    store<u8>(at, p ^ bit);
    store<u8>(at, q ^ (bit & p), BITSET_BYTES);
    if (count == Counters.PLANES_LEAST) {
      store<u8>(at, o | carry, 2 * BITSET_BYTES);
    } else if (carry) {
      Counters.carryOn(at, count, carry);
    }
  }
}

// Few containers of few members are counted in levels instead: level i is a bitset of the values
// that are in more than i containers. Where most values are in one container only, the other
// levels are rarely read.

/**
 * Adds the members of right array `a` to the `count` levels at `levels`,
 * which follow one another and are clear at first.
 */
export function countInLevels(levels: usize, count: u32, a: usize, members: u32): void {
  const end = a + Container.arrayBytes(members), fours = a + Container.arrayBytes(members & ~3);
  for (; a < fours; a += Container.arrayBytes(4)) {
    for (let four = right.load64(a, 0), i = 0; i < 4; i++, four >>= 16) {
      Counters.countInLevel(levels, count, <u32>four & 0xffff);
    }
  }
  for (; a < end; a += Container.MEMBER_BYTES) Counters.countInLevel(levels, count, right.load16(a, 0));
}

/** Adds 1 to the counters, at `counters`, of the members of right array `a`. */
export function countInBytes(counters: usize, a: usize, members: u32): void {
  const end = a + Container.arrayBytes(members), fours = a + Container.arrayBytes(members & ~3);
  for (; a < fours; a += Container.arrayBytes(4)) bytes.increment(counters, right.load64(a, 0));
  for (; a < end; a += Container.MEMBER_BYTES) {
    const at = counters + right.load16(a, 0);
    store<u8>(at, <u32>load<u8>(at) + 1);
  }
}

/**
 * Writes the values that were counted at least `least` (1 to 255) times,
 * or with `exactly` just that often, as a bitset to `out`. Returns their number.
 */
export function reachedInBytes(counters: usize, least: u32, exactly: bool, out: usize): u32 {
  let members: u64 = 0;
  for (const end = counters + Counters.BYTE_COUNTERS_BYTES; counters < end; counters += 64, out += 8) {
    let word = bytes.atLeast(counters, least);
    if (exactly && least < Counters.BYTE_COUNTERS_MAX) word &= ~bytes.atLeast(counters, least + 1);
    store<u64>(out, word);
    members += popcnt<u64>(word);
  }
  return <u32>members;
}

/**
 * Sorts the `members` values at `at` and keeps those that occur at least `least` times, or with `exactly`
 * just that often. Returns how many are kept. For few values: the time is that of an insertion sort.
 */
export function keepRepeated(at: usize, members: u32, least: u32, exactly: bool): u32 {
  const end = at + Container.arrayBytes(members);
  for (let next = at + Container.MEMBER_BYTES; next < end; next += Container.MEMBER_BYTES) {
    const value = load<u16>(next);
    let to = next;
    for (; to > at && load<u16>(to - Container.MEMBER_BYTES) > value; to -= Container.MEMBER_BYTES) {
      store<u16>(to, load<u16>(to - Container.MEMBER_BYTES));
    }
    store<u16>(to, value);
  }
  let kept = at;
  for (let from = at; from < end;) {
    const value = load<u16>(from);
    let times: u32 = 0;
    for (; from < end && load<u16>(from) == value; from += Container.MEMBER_BYTES) times++;
    if (exactly ? times != least : times < least) continue;
    store<u16>(kept, value);
    kept += Container.MEMBER_BYTES;
  }
  return Container.memberCount(at, kept);
}

/**
 * Sorts the edges at `at`, which end at `end`. Writes the values that lie in at least `least` of the runs, or
 * with `exactly` in just that many, to `out` as a runs payload, and returns the number of values. For few
 * edges: the time is that of an insertion sort.
 */
export function sweepEdges(at: usize, end: usize, least: u32, exactly: bool, out: usize): u32 {
  for (let next = at + Counters.EDGE_BYTES; next < end; next += Counters.EDGE_BYTES) {
    const edge = load<u32>(next);
    let to = next;
    for (; to > at && load<u32>(to - Counters.EDGE_BYTES) > edge; to -= Counters.EDGE_BYTES) {
      store<u32>(to, load<u32>(to - Counters.EDGE_BYTES));
    }
    store<u32>(to, edge);
  }
  let depth: u32 = 0, low: u32 = 0, members: u32 = 0, inside = false,
    next = out + Container.RUNS_HEADER_BYTES;
  while (at < end) {
    const value = load<u32>(at) >> 1;
    for (; at < end && load<u32>(at) >> 1 == value; at += Counters.EDGE_BYTES) {
      depth += load<u32>(at) & 1 ? -1 : 1;
    }
    const covered = exactly ? depth == least : depth >= least;
    if (covered && !inside) low = value;
    if (inside && !covered) {
      next = Runs.put(next, low, value - 1);
      members += value - low;
    }
    inside = covered;
  }
  store<u16>(out, <u16>((next - out - Container.RUNS_HEADER_BYTES) / Container.RUN_BYTES));
  return members;
}
