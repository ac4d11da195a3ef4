// Operations on two containers of different kinds (layouts: limits.ts). Left `a` is the payload at `a` of the
// operand that `left` shows, right `b` the one at `b` of the operand that `right` shows.

import { bits, left, right } from "../env/memory";
import { And, AndNot, Count, Kernel, Or, SetOperation, Sink, Store, StoreOnly, Xor } from "./kernel";
import { Container } from "./limits";
import { Bitset } from "./bitset";

/** What the kernels for unlike containers share. */
abstract class Mixed {
  /** Whether the bitset that `right` shows at `b` has `value`: 0 or 1. */
  @inline private static rightHas(b: usize, value: u32): u32 {
    return (right.load8(value >> 3, <u32>b) >> (value & 7)) & 1;
  }

  /** How many of four values are in `b` (And) or not in `b` (AndNot). */
  @inline private static countFour<O extends SetOperation>(b: usize, four: u64): u32 {
    const low = <u32>four, high = <u32>(four >> 32);
    const found = Mixed.rightHas(b, low & 0xffff) + Mixed.rightHas(b, low >> 16)
      + Mixed.rightHas(b, high & 0xffff) + Mixed.rightHas(b, high >> 16);
    return Kernel.lacks<O>() ? 4 - found : found;
  }

  /** Keeps the members that are in `b` (And) or not in `b` (AndNot). */
  @inline static filterByBitset<O extends SetOperation, S extends Sink>(
    a: usize, aCount: u32, b: usize, out: usize,
  ): u32 {
    const end = a + Container.arrayBytes(aCount), start = out;
    right.load8(Container.BYTES - 1, <u32>b);  // then the compiler drops the other bounds checks
    if (!Kernel.stores<S>()) {
      for (; a + 8 <= end; a += 8) {
        const four = left.load64(a, 0);
        out += <usize>Mixed.countFour<O>(b, four) << 1;
      }
    }
    for (; a < end; a += Container.MEMBER_BYTES) {
      const value = left.load16(a, 0);
      if (Kernel.stores<S>()) store<u16>(out, value);
      out += <usize>(Mixed.rightHas(b, value) ^ Kernel.lacks<O>()) << 1;
    }
    return Container.memberCount(start, out);
  }

  /** Keeps the members that are in a run (And) or in none (AndNot). */
  @inline static filterByRuns<O extends SetOperation>(a: usize, aCount: u32, b: usize, out: usize): u32 {
    const end = a + Container.arrayBytes(aCount), bEnd = b + Container.runsBytes(right.load16(b, 0)),
      start = out;
    b += Container.RUNS_HEADER_BYTES;
    let low = right.load16(b, 0), high = low + right.load16(b, 2);  // the run that ends at `value` or later
    for (; a < end; a += Container.MEMBER_BYTES) {
      const value = left.load16(a, 0);
      while (high < value) {
        b += Container.RUN_BYTES;
        if (b >= bEnd) { low = high = Container.UNIVERSE; break; }
        low = right.load16(b, 0);
        high = low + right.load16(b, 2);
      }
      store<u16>(out, value);
      out += usize(u32(low <= value) ^ Kernel.lacks<O>()) << 1;
    }
    return Container.memberCount(start, out);
  }

  /** Changes the bits of the array's members; returns how many were set, or 0 if S does not count. */
  @inline static changeBits<O extends SetOperation, S extends Sink>(to: usize, b: usize, bCount: u32): u32 {
    const end = b + Container.arrayBytes(bCount), fours = b + Container.arrayBytes(bCount & ~3);
    let present: u32 = 0;
    for (; b < fours; b += Container.arrayBytes(4)) {
      const were = Mixed.changeFour<O>(to, right.load64(b, 0));
      if (Kernel.counts<S>()) present += were;
    }
    for (; b < end; b += Container.MEMBER_BYTES) present += Mixed.changeBit<O, S>(to, right.load16(b, 0));
    return present;
  }

  @inline private static changeFour<O extends SetOperation>(to: usize, four: u64): u32 {
    if (Kernel.is<O, Or>()) return bits.set(to, four);
    return Kernel.is<O, Xor>() ? bits.flip(to, four) : bits.clear(to, four);
  }

  /** Changes one member's bit; returns what it was, or 0 if S does not count. */
  @inline private static changeBit<O extends SetOperation, S extends Sink>(to: usize, value: u32): u32 {
    const byte = to + (value >> 3), old = <u32>load<u8>(byte), bit = <u32>1 << (value & 7);
    if (Kernel.is<O, Or>()) store<u8>(byte, old | bit);
    if (Kernel.is<O, Xor>()) store<u8>(byte, old ^ bit);
    if (Kernel.is<O, AndNot>()) store<u8>(byte, old & ~bit);
    return Kernel.counts<S>() ? (old >> (value & 7)) & 1 : 0;
  }
}

/**
 * Intersects left array `a` with right bitset `b`, to an array; returns the cardinality. `out` may be `a`.
 */
export function intersectArrayBitset(a: usize, aCount: u32, b: usize, out: usize): u32 {
  return Mixed.filterByBitset<And, Store>(a, aCount, b, out);
}

export function intersectArrayBitsetCardinality(a: usize, aCount: u32, b: usize): u32 {
  return Mixed.filterByBitset<And, Count>(a, aCount, b, 0);
}

/**
 * Writes the members of left array `a` that are not in right bitset `b`, to an array;
 * returns the cardinality. `out` may be `a`.
 */
export function differenceArrayBitset(a: usize, aCount: u32, b: usize, out: usize): u32 {
  return Mixed.filterByBitset<AndNot, Store>(a, aCount, b, out);
}

/** Intersects left array `a` with right runs `b`, to an array; returns the cardinality. `out` may be `a`. */
export function intersectArrayRuns(a: usize, aCount: u32, b: usize, out: usize): u32 {
  return Mixed.filterByRuns<And>(a, aCount, b, out);
}

/**
 * Writes the members of left array `a` that are not in right runs `b`, to an array;
 * returns the cardinality. `out` may be `a`.
 */
export function differenceArrayRuns(a: usize, aCount: u32, b: usize, out: usize): u32 {
  return Mixed.filterByRuns<AndNot>(a, aCount, b, out);
}

/** Adds right array `b` to the bitset at `to` in memory 0; returns the change of the cardinality. */
export function unionArrayInto(to: usize, b: usize, bCount: u32): i32 {
  return bCount - Mixed.changeBits<Or, Store>(to, b, bCount);
}

/** Removes the members of right array `b`; returns the change of the cardinality, which is 0 or negative. */
export function differenceArrayInto(to: usize, b: usize, bCount: u32): i32 {
  return -Mixed.changeBits<AndNot, Store>(to, b, bCount);
}

/** Flips the members of right array `b`; returns the change of the cardinality. */
export function xorArrayInto(to: usize, b: usize, bCount: u32): i32 {
  return bCount - 2 * Mixed.changeBits<Xor, Store>(to, b, bCount);
}

// The same without counting.
export function unionArrayUncounted(to: usize, b: usize, bCount: u32): void {
  Mixed.changeBits<Or, StoreOnly>(to, b, bCount);
}

export function xorArrayUncounted(to: usize, b: usize, bCount: u32): void {
  Mixed.changeBits<Xor, StoreOnly>(to, b, bCount);
}

// Right runs `b` and the bitset at `to` in memory 0. The caller counts the members.

export function unionRunsInto(to: usize, b: usize): void {
  const end = b + Container.runsBytes(right.load16(b, 0));
  for (b += Container.RUNS_HEADER_BYTES; b < end; b += Container.RUN_BYTES) {
    const low = right.load16(b, 0);
    Bitset.setBits(to, low, low + right.load16(b, 2));
  }
}

export function differenceRunsInto(to: usize, b: usize): void {
  const end = b + Container.runsBytes(right.load16(b, 0));
  for (b += Container.RUNS_HEADER_BYTES; b < end; b += Container.RUN_BYTES) {
    const low = right.load16(b, 0);
    Bitset.clearBits(to, low, low + right.load16(b, 2));
  }
}

export function xorRunsInto(to: usize, b: usize): void {
  const end = b + Container.runsBytes(right.load16(b, 0));
  for (b += Container.RUNS_HEADER_BYTES; b < end; b += Container.RUN_BYTES) {
    const low = right.load16(b, 0);
    Bitset.flipBits(to, low, low + right.load16(b, 2));
  }
}

/** Clears everything that is not in a run. */
export function intersectRunsInto(to: usize, b: usize): void {
  const end = b + Container.runsBytes(right.load16(b, 0));
  let gap: u32 = 0;                           // begins behind the last run
  for (b += Container.RUNS_HEADER_BYTES; b < end; b += Container.RUN_BYTES) {
    const low = right.load16(b, 0);
    if (gap < low) Bitset.clearBits(to, gap, low - 1);
    gap = low + right.load16(b, 2) + 1;
  }
  if (gap < Container.UNIVERSE) Bitset.clearBits(to, gap, Container.UNIVERSE - 1);
}
