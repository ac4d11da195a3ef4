// Bitset payload, 8192 bytes: member v is bit v & 7 of byte v >> 3.
// Little-endian words of any width number their bits the same way.
//
// The first half has the loops over whole bitsets. There, left `a` is the bitset at `a` of the operand that
// `left` shows, and right `b` the one at `b` of the operand that `right` shows. The second half has members,
// ranges and positions of one bitset in memory 0.

import { left, right } from "../env/memory";
import { And, AndNot, Count, Kernel, Not, Or, Same, SetOperation, Sink, Store, Xor } from "./kernel";
import { BITSET_BYTES, Container } from "./limits";

/** Kernels for bitsets. */
export abstract class Bitset {
  @inline private static readonly BLOCK: usize = 64;
  /**
   * Several bitsets are combined in parts of this size: first this part of all of them, then the next
   * part. With small parts, the CPU keeps prefetching from each bitset. If it read whole bitsets in turn,
   * it would have to start over with each.
   */
  @inline static readonly PART_BYTES: usize = 1024;

  /**
   * Combines the next PART_BYTES of left `a` and right `b`; returns the cardinality, or with S = StoreOnly 0.
   */
  static combineParts<O extends SetOperation, S extends Sink>(a: usize, b: usize, out: usize): u32 {
    return Bitset.combineBytes<O, S>(a, b, out, Bitset.PART_BYTES);
  }

  /** Members of left `a`. */
  static cardinality(a: usize): u32 { return Bitset.combineBytes<Same, Count>(a, 0, 0, BITSET_BYTES); }

  /**
   * The loop behind all operations on whole bitsets: eight lanes of 64 bits, written out, each with its own
   * count. In this form the C compiler turns the lanes into vectors as wide as the CPU's, which wasm's 128-bit
   * vectors would prevent. For that, a block's highest address must be accessed first, so that one bounds
   * check covers the block, and all loads must come before the first store.
   */
  @inline static combineBytes<O extends SetOperation, S extends Sink>(
    a: usize, b: usize, out: usize, bytes: usize,
  ): u32 {
    const end = a + bytes;
    let c0: u64 = 0, c1: u64 = 0, c2: u64 = 0, c3: u64 = 0, c4: u64 = 0, c5: u64 = 0, c6: u64 = 0,
      c7: u64 = 0;
    while (a < end) {
      const w7 = Bitset.wordAt<O>(a, b, 56);
      const w6 = Bitset.wordAt<O>(a, b, 48);
      const w5 = Bitset.wordAt<O>(a, b, 40);
      const w4 = Bitset.wordAt<O>(a, b, 32);
      const w3 = Bitset.wordAt<O>(a, b, 24);
      const w2 = Bitset.wordAt<O>(a, b, 16);
      const w1 = Bitset.wordAt<O>(a, b, 8);
      const w0 = Bitset.wordAt<O>(a, b, 0);
      if (Kernel.stores<S>()) {
        store<u64>(out, w7, 56);
        store<u64>(out, w6, 48);
        store<u64>(out, w5, 40);
        store<u64>(out, w4, 32);
        store<u64>(out, w3, 24);
        store<u64>(out, w2, 16);
        store<u64>(out, w1, 8);
        store<u64>(out, w0, 0);
        out += Bitset.BLOCK;
      }
      if (Kernel.counts<S>()) {
        c7 += popcnt<u64>(w7);
        c6 += popcnt<u64>(w6);
        c5 += popcnt<u64>(w5);
        c4 += popcnt<u64>(w4);
        c3 += popcnt<u64>(w3);
        c2 += popcnt<u64>(w2);
        c1 += popcnt<u64>(w1);
        c0 += popcnt<u64>(w0);
      }
      a += Bitset.BLOCK;
      if (!Kernel.isUnary<O>()) b += Bitset.BLOCK;
    }
    return <u32>(c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7);
  }

  @inline private static wordAt<O extends SetOperation>(a: usize, b: usize, offset: u32): u64 {
    return Kernel.isUnary<O>()
      ? Kernel.changeWord<O>(left.load64(a, offset))
      : Kernel.combineWords<O>(left.load64(a, offset), right.load64(b, offset));
  }

  // ---- One bitset, at `at` in memory 0. Ranges are closed.

  /** Address of the 64-bit word that holds `value`. */
  @inline private static wordOf(at: usize, value: u32): usize { return at + ((<usize>value >> 6) << 3); }
  /** Mask of the bits from `value` on, in its word. */
  @inline private static maskFrom(value: u32): u64 { return ~(<u64>0) << (value & 63); }
  /** Mask of the bits up to `value`, in its word. */
  @inline private static maskTo(value: u32): u64 { return ~(<u64>0) >> (63 - (value & 63)); }

  @inline static has(at: usize, value: u32): bool {
    return <bool>((<u32>load<u8>(at + (value >> 3)) >> (value & 7)) & 1);
  }

  @inline static set(at: usize, value: u32): void {
    const byte = at + (value >> 3);
    store<u8>(byte, <u32>load<u8>(byte) | (1 << (value & 7)));
  }

  @inline static clear(at: usize, value: u32): void {
    const byte = at + (value >> 3);
    store<u8>(byte, <u32>load<u8>(byte) & ~(1 << (value & 7)));
  }

  static clearAll(at: usize): void { memory.fill(at, 0, BITSET_BYTES); }

  /** Adds low .. high. */
  static setBits(at: usize, low: u32, high: u32): void {
    const first = Bitset.wordOf(at, low), last = Bitset.wordOf(at, high);
    if (first == last) {
      store<u64>(first, load<u64>(first) | (Bitset.maskFrom(low) & Bitset.maskTo(high)));
      return;
    }
    store<u64>(first, load<u64>(first) | Bitset.maskFrom(low));
    memory.fill(first + 8, 0xff, last - first - 8);
    store<u64>(last, load<u64>(last) | Bitset.maskTo(high));
  }

  /** Removes low .. high. */
  static clearBits(at: usize, low: u32, high: u32): void {
    const first = Bitset.wordOf(at, low), last = Bitset.wordOf(at, high);
    if (first == last) {
      store<u64>(first, load<u64>(first) & ~(Bitset.maskFrom(low) & Bitset.maskTo(high)));
      return;
    }
    store<u64>(first, load<u64>(first) & ~Bitset.maskFrom(low));
    memory.fill(first + 8, 0, last - first - 8);
    store<u64>(last, load<u64>(last) & ~Bitset.maskTo(high));
  }

  /** Flips low .. high. */
  static flipBits(at: usize, low: u32, high: u32): void {
    const first = Bitset.wordOf(at, low), last = Bitset.wordOf(at, high);
    if (first == last) {
      store<u64>(first, load<u64>(first) ^ (Bitset.maskFrom(low) & Bitset.maskTo(high)));
      return;
    }
    store<u64>(first, load<u64>(first) ^ Bitset.maskFrom(low));
    for (let word = first + 8; word < last; word += 8) store<u64>(word, ~load<u64>(word));
    store<u64>(last, load<u64>(last) ^ Bitset.maskTo(high));
  }

  /** Counts the members in low .. high. */
  static rangeCardinality(at: usize, low: u32, high: u32): u32 {
    const first = Bitset.wordOf(at, low), last = Bitset.wordOf(at, high);
    if (first == last) return <u32>popcnt<u64>(load<u64>(first) & Bitset.maskFrom(low) & Bitset.maskTo(high));
    let members = popcnt<u64>(load<u64>(first) & Bitset.maskFrom(low))
      + popcnt<u64>(load<u64>(last) & Bitset.maskTo(high));
    for (let word = first + 8; word < last; word += 8) members += popcnt<u64>(load<u64>(word));
    return <u32>members;
  }

  /** The least member from `from` on, or UNIVERSE. */
  static nextSet(at: usize, from: u32): u32 {
    if (from >= Container.UNIVERSE) return Container.UNIVERSE;
    const end = at + BITSET_BYTES;
    let word = Bitset.wordOf(at, from), bits = load<u64>(word) & Bitset.maskFrom(from);
    while (!bits) {
      word += 8;
      if (word == end) return Container.UNIVERSE;
      bits = load<u64>(word);
    }
    return (<u32>(word - at) << 3) + <u32>ctz<u64>(bits);
  }

  /** The least value from `from` on that is absent, or UNIVERSE. */
  static nextClear(at: usize, from: u32): u32 {
    if (from >= Container.UNIVERSE) return Container.UNIVERSE;
    const end = at + BITSET_BYTES;
    let word = Bitset.wordOf(at, from), bits = ~load<u64>(word) & Bitset.maskFrom(from);
    while (!bits) {
      word += 8;
      if (word == end) return Container.UNIVERSE;
      bits = ~load<u64>(word);
    }
    return (<u32>(word - at) << 3) + <u32>ctz<u64>(bits);
  }

  /** The member with `rank` members below it. The bitset must have more than `rank` members. */
  static select(at: usize, rank: u32): u32 {
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
}

/**
 * Intersects left `a` with right `b`; returns the cardinality. `out` may be `a`.
 * The next three work the same way.
 */
export function intersectBitsets(a: usize, b: usize, out: usize): u32 {
  return Bitset.combineBytes<And, Store>(a, b, out, BITSET_BYTES);
}

export function unionBitsets(a: usize, b: usize, out: usize): u32 {
  return Bitset.combineBytes<Or, Store>(a, b, out, BITSET_BYTES);
}

export function differenceBitsets(a: usize, b: usize, out: usize): u32 {
  return Bitset.combineBytes<AndNot, Store>(a, b, out, BITSET_BYTES);
}

/** Symmetric difference. */
export function xorBitsets(a: usize, b: usize, out: usize): u32 {
  return Bitset.combineBytes<Xor, Store>(a, b, out, BITSET_BYTES);
}

export function intersectBitsetsCardinality(a: usize, b: usize): u32 {
  return Bitset.combineBytes<And, Count>(a, b, 0, BITSET_BYTES);
}

/** Writes all values that are not in left `a` to `out`, which may be `a`; returns the cardinality. */
export function complementBitset(a: usize, out: usize): u32 {
  return Bitset.combineBytes<Not, Store>(a, 0, out, BITSET_BYTES);
}
