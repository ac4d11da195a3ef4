// Bitset payload, 8192 bytes: member v is bit v & 7 of byte v >> 3.
// Little-endian words of any width number their bits the same way.
//
// The first half has the loops over whole bitsets. There, left `a` is the bitset at `a` of the operand that
// `left` shows, and right `b` the one at `b` of the operand that `right` shows. The second half has members,
// ranges and positions of one bitset in memory 0.

import { left, right } from "../env/memory";
import {
  And, Or, Xor, AndNot, Same, Not, Store, Count, stores, counts, isUnary, combineWords, changeWord,
} from "./kernel";
import { BITSET_BYTES, Container } from "./limits";

// @ts-ignore: decorator
@inline const BLOCK: usize = 64;
/**
 * Several bitsets are combined in parts of this size: first this part of all of them, then the next
 * part. With small parts, the CPU keeps prefetching from each bitset. If it read whole bitsets in turn,
 * it would have to start over with each.
 */
// @ts-ignore: decorator
@inline export const PART_BYTES: usize = 1024;

/**
 * Intersects left `a` with right `b`; returns the cardinality. `out` may be `a`.
 * The next three work the same way.
 */
export function intersectBitsets(a: usize, b: usize, out: usize): u32 {
  return combineBytes<And, Store>(a, b, out, BITSET_BYTES);
}

export function unionBitsets(a: usize, b: usize, out: usize): u32 {
  return combineBytes<Or, Store>(a, b, out, BITSET_BYTES);
}

export function differenceBitsets(a: usize, b: usize, out: usize): u32 {
  return combineBytes<AndNot, Store>(a, b, out, BITSET_BYTES);
}

/** Symmetric difference. */
export function xorBitsets(a: usize, b: usize, out: usize): u32 {
  return combineBytes<Xor, Store>(a, b, out, BITSET_BYTES);
}

/**
 * Combines the next PART_BYTES of left `a` and right `b`; returns the cardinality, or with S = StoreOnly 0.
 */
export function combineParts<O, S>(a: usize, b: usize, out: usize): u32 {
  return combineBytes<O, S>(a, b, out, PART_BYTES);
}

export function intersectBitsetsCardinality(a: usize, b: usize): u32 {
  return combineBytes<And, Count>(a, b, 0, BITSET_BYTES);
}

/** Writes all values that are not in left `a` to `out`, which may be `a`; returns the cardinality. */
export function complementBitset(a: usize, out: usize): u32 {
  return combineBytes<Not, Store>(a, 0, out, BITSET_BYTES);
}

/** Members of left `a`. */
export function bitsetCardinality(a: usize): u32 { return combineBytes<Same, Count>(a, 0, 0, BITSET_BYTES); }

/**
 * The loop behind all of the above: eight lanes of 64 bits, written out, each with its own count. In this
 * form the C compiler turns the lanes into vectors as wide as the CPU's, which wasm's 128-bit vectors would
 * prevent. For that, a block's highest address must be accessed first, so that one bounds check covers the
 * block, and all loads must come before the first store.
 */
// @ts-ignore: decorator
@inline function combineBytes<O, S>(a: usize, b: usize, out: usize, bytes: usize): u32 {
  const end = a + bytes;
  let c0: u64 = 0, c1: u64 = 0, c2: u64 = 0, c3: u64 = 0, c4: u64 = 0, c5: u64 = 0, c6: u64 = 0, c7: u64 = 0;
  while (a < end) {
    const w7 = wordAt<O>(a, b, 56);
    const w6 = wordAt<O>(a, b, 48);
    const w5 = wordAt<O>(a, b, 40);
    const w4 = wordAt<O>(a, b, 32);
    const w3 = wordAt<O>(a, b, 24);
    const w2 = wordAt<O>(a, b, 16);
    const w1 = wordAt<O>(a, b, 8);
    const w0 = wordAt<O>(a, b, 0);
    if (stores<S>()) {
      store<u64>(out, w7, 56);
      store<u64>(out, w6, 48);
      store<u64>(out, w5, 40);
      store<u64>(out, w4, 32);
      store<u64>(out, w3, 24);
      store<u64>(out, w2, 16);
      store<u64>(out, w1, 8);
      store<u64>(out, w0, 0);
      out += BLOCK;
    }
    if (counts<S>()) {
      c7 += popcnt<u64>(w7);
      c6 += popcnt<u64>(w6);
      c5 += popcnt<u64>(w5);
      c4 += popcnt<u64>(w4);
      c3 += popcnt<u64>(w3);
      c2 += popcnt<u64>(w2);
      c1 += popcnt<u64>(w1);
      c0 += popcnt<u64>(w0);
    }
    a += BLOCK;
    if (!isUnary<O>()) b += BLOCK;
  }
  return <u32>(c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7);
}

// @ts-ignore: decorator
@inline function wordAt<O>(a: usize, b: usize, offset: u32): u64 {
  return isUnary<O>()
    ? changeWord<O>(left.load64(a, offset))
    : combineWords<O>(left.load64(a, offset), right.load64(b, offset));
}

// ---- One bitset, at `at` in memory 0. Ranges are closed.

/** Address of the 64-bit word that holds `value`. */
// @ts-ignore: decorator
@inline function wordOf(at: usize, value: u32): usize { return at + ((<usize>value >> 6) << 3); }
/** Mask of the bits from `value` on, in its word. */
// @ts-ignore: decorator
@inline function maskFrom(value: u32): u64 { return ~(<u64>0) << (value & 63); }
/** Mask of the bits up to `value`, in its word. */
// @ts-ignore: decorator
@inline function maskTo(value: u32): u64 { return ~(<u64>0) >> (63 - (value & 63)); }

// @ts-ignore: decorator
@inline export function bitsetHas(at: usize, value: u32): bool {
  return <bool>((<u32>load<u8>(at + (value >> 3)) >> (value & 7)) & 1);
}
// @ts-ignore: decorator
@inline export function bitsetSet(at: usize, value: u32): void {
  const byte = at + (value >> 3);
  store<u8>(byte, <u32>load<u8>(byte) | (1 << (value & 7)));
}
// @ts-ignore: decorator
@inline export function bitsetClear(at: usize, value: u32): void {
  const byte = at + (value >> 3);
  store<u8>(byte, <u32>load<u8>(byte) & ~(1 << (value & 7)));
}

export function clearBitset(at: usize): void { memory.fill(at, 0, BITSET_BYTES); }

/** Adds low .. high. */
export function setBits(at: usize, low: u32, high: u32): void {
  const first = wordOf(at, low), last = wordOf(at, high);
  if (first == last) { store<u64>(first, load<u64>(first) | (maskFrom(low) & maskTo(high))); return; }
  store<u64>(first, load<u64>(first) | maskFrom(low));
  memory.fill(first + 8, 0xff, last - first - 8);
  store<u64>(last, load<u64>(last) | maskTo(high));
}

/** Removes low .. high. */
export function clearBits(at: usize, low: u32, high: u32): void {
  const first = wordOf(at, low), last = wordOf(at, high);
  if (first == last) { store<u64>(first, load<u64>(first) & ~(maskFrom(low) & maskTo(high))); return; }
  store<u64>(first, load<u64>(first) & ~maskFrom(low));
  memory.fill(first + 8, 0, last - first - 8);
  store<u64>(last, load<u64>(last) & ~maskTo(high));
}

/** Flips low .. high. */
export function flipBits(at: usize, low: u32, high: u32): void {
  const first = wordOf(at, low), last = wordOf(at, high);
  if (first == last) { store<u64>(first, load<u64>(first) ^ (maskFrom(low) & maskTo(high))); return; }
  store<u64>(first, load<u64>(first) ^ maskFrom(low));
  for (let word = first + 8; word < last; word += 8) store<u64>(word, ~load<u64>(word));
  store<u64>(last, load<u64>(last) ^ maskTo(high));
}

/** Counts the members in low .. high. */
export function bitsetRangeCardinality(at: usize, low: u32, high: u32): u32 {
  const first = wordOf(at, low), last = wordOf(at, high);
  if (first == last) return <u32>popcnt<u64>(load<u64>(first) & maskFrom(low) & maskTo(high));
  let members = popcnt<u64>(load<u64>(first) & maskFrom(low)) + popcnt<u64>(load<u64>(last) & maskTo(high));
  for (let word = first + 8; word < last; word += 8) members += popcnt<u64>(load<u64>(word));
  return <u32>members;
}

/** The least member from `from` on, or UNIVERSE. */
export function bitsetNextSet(at: usize, from: u32): u32 {
  if (from >= Container.UNIVERSE) return Container.UNIVERSE;
  const end = at + BITSET_BYTES;
  let word = wordOf(at, from), bits = load<u64>(word) & maskFrom(from);
  while (!bits) {
    word += 8;
    if (word == end) return Container.UNIVERSE;
    bits = load<u64>(word);
  }
  return (<u32>(word - at) << 3) + <u32>ctz<u64>(bits);
}

/** The least value from `from` on that is absent, or UNIVERSE. */
export function bitsetNextClear(at: usize, from: u32): u32 {
  if (from >= Container.UNIVERSE) return Container.UNIVERSE;
  const end = at + BITSET_BYTES;
  let word = wordOf(at, from), bits = ~load<u64>(word) & maskFrom(from);
  while (!bits) {
    word += 8;
    if (word == end) return Container.UNIVERSE;
    bits = ~load<u64>(word);
  }
  return (<u32>(word - at) << 3) + <u32>ctz<u64>(bits);
}

/** The member with `rank` members below it. The bitset must have more than `rank` members. */
export function bitsetSelect(at: usize, rank: u32): u32 {
  let word = at, bits = load<u64>(word), members = <u32>popcnt<u64>(bits);
  while (members <= rank) {
    rank -= members;
    word += 8;
    bits = load<u64>(word);
    members = <u32>popcnt<u64>(bits);
  }
  while (rank) { bits &= bits - 1; rank--; }
  return (<u32>(word - at) << 3) + <u32>ctz<u64>(bits);
}
