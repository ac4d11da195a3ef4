// Counters in bit slices: for each of a container's 65,536 values, in how many containers it is. Bit j of all counters is plane j, a bitset in
// memory 0; planes follow one another, and behind the last one is the plane `over`, which has a value once its counter has overflowed.
// Counters that begin at 2^planes - least overflow when they have counted `least`: `over` then tells which values are in so many containers.
//
// Adding 64 counters at once takes a few operations on words, so counting bitsets costs little more than their union. See "Compressed bitmap
// indexes: beyond unions and intersections", Kaser and Lemire, https://arxiv.org/abs/1402.4466, on threshold functions by such adders.

import { left, right } from "../env/memory";
import { BITSET_BYTES, MEMBER_BYTES, arrayBytes, memberCount } from "./limits";
import { PART_BYTES } from "./bitset";

/** Planes below `over` that are always there, because the adder works on two at once. */
// @ts-ignore: decorator
@inline const PLANES_LEAST: u32 = 2;
// @ts-ignore: decorator
@inline const LANES_BYTES: usize = 32;

// @ts-ignore: decorator
@inline function planeAt(planes: usize, index: u32): usize { return planes + <usize>index * BITSET_BYTES; }

/** Planes that counters need to overflow at `least`, without `over`. */
export function planesFor(least: u32): u32 { return max(PLANES_LEAST, least > 1 ? 32 - <u32>clz<u32>(least - 1) : 0); }

/** Sets all counters so that they overflow at `least`. */
export function startCounters(planes: usize, count: u32, least: u32): void {
  const start = ((<u32>1) << count) - least;
  for (let i: u32 = 0; i < count; i++) memory.fill(planeAt(planes, i), (start >> i) & 1 ? 0xff : 0, BITSET_BYTES);
  memory.fill(planeAt(planes, count), 0, BITSET_BYTES);
}

/**
 * Adds one to the counters of the members of left bitset `a`, and one to those of right bitset `b`: to the part of PART_BYTES that begins at
 * byte `part` of a bitset. `a` and `b` are the addresses of that part. `carry` has room for a part, and need not if there are two planes.
 */
export function countParts(planes: usize, count: u32, a: usize, b: usize, part: usize, carry: usize): void {
  const first = planes + part, last = planeAt(planes, count) + part;
  if (count == PLANES_LEAST) { addPair<Join>(a, b, first, last); return; }
  addPair<Pass>(a, b, first, carry);
  for (let i: u32 = PLANES_LEAST; i < count; i++) ripple(planeAt(planes, i) + part, carry);
  for (let at: usize = 0; at < PART_BYTES; at += 8) store<u64>(last + at, load<u64>(last + at) | load<u64>(carry + at));
}

/** What addPair() does with what overflows: joins it to what is at `out`, or writes it there. The types differ in size, as in kernel.ts. */
type Join = u8;
type Pass = u16;

/**
 * Adds two parts to the first two planes; what overflows goes to `out`. As in bitset.ts, a block's highest address is accessed first and all
 * loads come before the first store.
 */
// @ts-ignore: decorator
@inline function addPair<J>(a: usize, b: usize, p: usize, out: usize): void {
  for (const end = a + PART_BYTES; a < end; a += LANES_BYTES, b += LANES_BYTES, p += LANES_BYTES, out += LANES_BYTES) {
    const x3 = left.load64(a, 24), y3 = right.load64(b, 24), p3 = load<u64>(p, 24), q3 = load<u64>(p, BITSET_BYTES + 24), o3 = overBefore<J>(out, 24);
    const x2 = left.load64(a, 16), y2 = right.load64(b, 16), p2 = load<u64>(p, 16), q2 = load<u64>(p, BITSET_BYTES + 16), o2 = overBefore<J>(out, 16);
    const x1 = left.load64(a, 8), y1 = right.load64(b, 8), p1 = load<u64>(p, 8), q1 = load<u64>(p, BITSET_BYTES + 8), o1 = overBefore<J>(out, 8);
    const x0 = left.load64(a, 0), y0 = right.load64(b, 0), p0 = load<u64>(p, 0), q0 = load<u64>(p, BITSET_BYTES + 0), o0 = overBefore<J>(out, 0);
    const c3 = (x3 & y3) | ((x3 ^ y3) & p3);
    const c2 = (x2 & y2) | ((x2 ^ y2) & p2);
    const c1 = (x1 & y1) | ((x1 ^ y1) & p1);
    const c0 = (x0 & y0) | ((x0 ^ y0) & p0);
    store<u64>(p, x3 ^ y3 ^ p3, 24);
    store<u64>(p, x2 ^ y2 ^ p2, 16);
    store<u64>(p, x1 ^ y1 ^ p1, 8);
    store<u64>(p, x0 ^ y0 ^ p0, 0);
    store<u64>(p, q3 ^ c3, BITSET_BYTES + 24);
    store<u64>(p, q2 ^ c2, BITSET_BYTES + 16);
    store<u64>(p, q1 ^ c1, BITSET_BYTES + 8);
    store<u64>(p, q0 ^ c0, BITSET_BYTES + 0);
    store<u64>(out, o3 | (q3 & c3), 24);
    store<u64>(out, o2 | (q2 & c2), 16);
    store<u64>(out, o1 | (q1 & c1), 8);
    store<u64>(out, o0 | (q0 & c0), 0);
  }
}

// @ts-ignore: decorator
@inline function overBefore<J>(out: usize, offset: u32): u64 { return sizeof<J>() == sizeof<Join>() ? load<u64>(out + offset) : 0; }

/** Adds the part at `carry` to a plane's part at `p`, and leaves at `carry` what overflows. */
function ripple(p: usize, carry: usize): void {
  for (const end = p + PART_BYTES; p < end; p += LANES_BYTES, carry += LANES_BYTES) {
    const p3 = load<u64>(p, 24), c3 = load<u64>(carry, 24);
    const p2 = load<u64>(p, 16), c2 = load<u64>(carry, 16);
    const p1 = load<u64>(p, 8), c1 = load<u64>(carry, 8);
    const p0 = load<u64>(p, 0), c0 = load<u64>(carry, 0);
    store<u64>(p, p3 ^ c3, 24);
    store<u64>(p, p2 ^ c2, 16);
    store<u64>(p, p1 ^ c1, 8);
    store<u64>(p, p0 ^ c0, 0);
    store<u64>(carry, p3 & c3, 24);
    store<u64>(carry, p2 & c2, 16);
    store<u64>(carry, p1 & c1, 8);
    store<u64>(carry, p0 & c0, 0);
  }
}

/** Adds one to the counters of the members of right array `a`. */
export function countArray(planes: usize, count: u32, a: usize, members: u32): void {
  for (const end = a + arrayBytes(members); a < end; a += MEMBER_BYTES) {
    const value = right.load16(a, 0), bit = (<u32>1) << (value & 7);
    let at = planes + (value >> 3);
    for (let i: u32 = 0; i < count; i++, at += BITSET_BYTES) {
      const old = <u32>load<u8>(at);
      store<u8>(at, old ^ bit);
      if (!(old & bit)) break;
      if (i + 1 == count) store<u8>(at, <u32>load<u8>(at, BITSET_BYTES) | bit, BITSET_BYTES);
    }
  }
}

/**
 * Sorts the `members` values at `at` and keeps those that occur `least` times, with `exactly` no more often. Returns how many are kept. For
 * few values: the time is that of an insertion sort.
 */
export function keepRepeated(at: usize, members: u32, least: u32, exactly: bool): u32 {
  const end = at + arrayBytes(members);
  for (let next = at + MEMBER_BYTES; next < end; next += MEMBER_BYTES) {
    const value = load<u16>(next);
    let to = next;
    for (; to > at && load<u16>(to - MEMBER_BYTES) > value; to -= MEMBER_BYTES) store<u16>(to, load<u16>(to - MEMBER_BYTES));
    store<u16>(to, value);
  }
  let kept = at;
  for (let from = at; from < end;) {
    const value = load<u16>(from);
    let times: u32 = 0;
    for (; from < end && load<u16>(from) == value; from += MEMBER_BYTES) times++;
    if (exactly ? times != least : times < least) continue;
    store<u16>(kept, value);
    kept += MEMBER_BYTES;
  }
  return memberCount(at, kept);
}
