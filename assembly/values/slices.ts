// Bit slices of up to 512 values: the layout is in layout.ts. A mask is a set of the 512 places, 64 bytes like
// a slice. Functions take the address of a leaf's block and the number of its slices.

import { Memory, Own, view128, view64, view8 } from "../env/view";
import { Comparison } from "../expression/text";
import { Leaf } from "./layout";

export abstract class Slices {
  /** Ids of a leaf of slices. */
  @inline static readonly IDS: u32 = 512;
  /** Bytes of a slice, and of a mask. */
  @inline static readonly BYTES: usize = 64;

  @inline static blockBytes(width: u32): usize { return (1 + <usize>width) << 6; }
  @inline static sliceAt(at: usize, slice: u32): usize { return at + ((1 + <usize>slice) << 6); }
  @inline static has<M extends Memory>(at: usize, place: u32): bool {
    return ((view8<M>(at + (place >> 3), 0) >> (place & 7)) & 1) != 0;
  }

  /** The number at a place, without the base; 0 where none is. */
  @inline static get<M extends Memory>(at: usize, width: u32, place: u32): u64 {
    const bit = place & 7, end = at + (place >> 3) + (<usize>width << 6);
    let value: u64 = 0;
    for (let byte = end; byte > at + 63; byte -= 64) value = value << 1 | ((view8<M>(byte, 0) >> bit) & 1);
    return value;
  }

  /** Exchanges rows and columns of a square of eight times eight bits, by three exchanges of squares. */
  @inline private static turned(x: u64): u64 {
    let t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
    return x ^ t ^ (t << 28);
  }

  /** Writes the numbers at the eight places from 8 * byte on to `to` in memory 0, 8 bytes each. */
  static eight<M extends Memory>(at: usize, width: u32, byte: u32, to: usize): void {
    for (let i: usize = 0; i < 64; i += 8) store<u64>(to + i, 0);
    let from = at + 64 + byte;
    for (let shift: u64 = 0, rest = width; rest; shift += 8) {
      let x: u64 = 0;
      for (let row: u64 = 0; row < 64 && rest; row += 8, rest--, from += 64) x |= <u64>view8<M>(from, 0) << row;
      x = Slices.turned(x);
      for (let i: usize = 0; i < 64; i += 8, x >>= 8) {
        store<u64>(to + i, load<u64>(to + i) | (x & 0xff) << shift);
      }
    }
  }

  /** Stores the low bits of the eight numbers at `from`, each less `base`, at the places from 8 * byte on. */
  static setEight(at: usize, width: u32, byte: u32, from: usize, base: i64): void {
    let to = at + 64 + byte;
    for (let shift: u64 = 0, rest = width; rest; shift += 8) {
      let x: u64 = 0;
      for (let i: usize = 0; i < 64; i += 8) x |= (((load<u64>(from + i) - base) >> shift) & 0xff) << i;
      x = Slices.turned(x);
      for (let row = 0; row < 8 && rest; row++, rest--, to += 64, x >>= 8) store<u8>(to, <u8>x);
    }
  }

  /** Stores a number, which fits the slices, at a place. */
  @inline static set(at: usize, width: u32, place: u32, value: u64): void {
    const bit = place & 7, mask = <u8>(<u32>1 << bit);
    let byte = at + (place >> 3) + 64;
    for (let rest = width; rest; rest--) {
      store<u8>(byte, (load<u8>(byte) & ~mask) | <u8>((<u32>value & 1) << bit));
      value >>= 1;
      byte += 64;
    }
  }

  @inline static addPlace(at: usize, place: u32): void {
    const byte = at + (place >> 3);
    store<u8>(byte, load<u8>(byte) | <u8>(<u32>1 << (place & 7)));
  }

  @inline static removePlace(at: usize, width: u32, place: u32): void {
    Slices.set(at, width, place, 0);
    const byte = at + (place >> 3);
    store<u8>(byte, load<u8>(byte) & ~<u8>(<u32>1 << (place & 7)));
  }

  /**
   * Writes to `to` what the numbers at `at` plus `more`, modulo 2^newWidth, are in `newWidth` slices. The
   * blocks do not overlap.
   */
  static copyPlus<M extends Memory>(to: usize, newWidth: u32, at: usize, width: u32, more: u64): void {
    Slices.presence<M>(at, to);
    for (let part: usize = 0; part < 64; part += 16) {
      const there = v128.load(to + part);
      let carry = i64x2.splat(0), from = at + 64 + part, out = to + 64 + part, rest = more;
      for (let slice: u32 = 0; slice < newWidth; slice++, rest >>= 1, from += 64, out += 64) {
        const s = slice < width ? view128<M>(from, 0) : i64x2.splat(0);
        const d = (rest & 1) != 0 ? there : i64x2.splat(0), both = v128.xor(s, d);
        v128.store(out, v128.xor(both, carry));
        carry = v128.or(v128.and(s, d), v128.and(both, carry));
      }
    }
  }

  /** The least number, or the greatest one, of those in the mask at `mask` in memory 0, which are there. */
  static extreme<M extends Memory>(at: usize, width: u32, mask: usize, greatest: bool): u64 {
    const turn = greatest ? i64x2.splat(0) : i64x2.splat(-1);
    let a = v128.load(mask), b = v128.load(mask, 16), c = v128.load(mask, 32), d = v128.load(mask, 48);
    let value: u64 = 0, slice = at + (<usize>width << 6);
    for (; slice > at; slice -= 64) {
      const e = v128.and(a, v128.xor(view128<M>(slice, 0), turn)),
        f = v128.and(b, v128.xor(view128<M>(slice, 16), turn)),
        g = v128.and(c, v128.xor(view128<M>(slice, 32), turn)),
        h = v128.and(d, v128.xor(view128<M>(slice, 48), turn));
      const any = v128.any_true(v128.or(v128.or(e, f), v128.or(g, h)));
      value = value << 1 | u64(any == greatest);
      if (any) { a = e; b = f; c = g; d = h; }
    }
    return value;
  }

  /** Keeps in the mask at `mask` in memory 0 the places of the leaf whose value is from `low` to `high`. */
  static keep<M extends Memory>(leaf: Leaf, mask: usize, low: i64, high: i64): void {
    const base = leaf.base<M>(), width = leaf.width<M>();
    const most = width == 64 ? u64.MAX_VALUE : (<u64>1 << width) - 1;
    const from = low > base ? <u64>(low - base) : 0, to = min(<u64>(high - base), most);
    if (high < base || most < from) { memory.fill(mask, 0, Slices.BYTES); return; }
    Slices.between<M>(leaf.at<M>(), width, mask, from, to);
  }

  /** Keeps in the mask at `mask` in memory 0 the places whose number is at least `low` and at most `high`. */
  static between<M extends Memory>(at: usize, width: u32, mask: usize, low: u64, high: u64): void {
    for (let part: usize = 0; part < 64; part += 32) {
      Slices.halfBetween<M>(at + part, width, mask + part, low, high);
    }
  }

  /**
   * The same for 256 places. `same` are the places whose bits so far are those of the limit; a place that
   * differs from a limit is decided, and once none is undecided, the lower slices need not be read. Branches
   * are foreseeable, because few low slices are read, and the upper bits of limits seldom change.
   */
  @inline private static halfBetween<M extends Memory>(
    at: usize, width: u32, mask: usize, low: u64, high: u64,
  ): void {
    const all = v128.load(mask), all2 = v128.load(mask, 16);
    let sameLow = all, sameLow2 = all2, sameHigh = all, sameHigh2 = all2, out = i64x2.splat(0), out2 = out;
    let bit = <u64>1 << (width - 1);
    for (let slice = at + (<usize>width << 6); slice > at; slice -= 64, bit >>= 1) {
      const s = view128<M>(slice, 0), s2 = view128<M>(slice, 16);
      if (low & bit) {
        out = v128.or(out, v128.andnot(sameLow, s));
        out2 = v128.or(out2, v128.andnot(sameLow2, s2));
        sameLow = v128.and(sameLow, s);
        sameLow2 = v128.and(sameLow2, s2);
      } else {
        sameLow = v128.andnot(sameLow, s);
        sameLow2 = v128.andnot(sameLow2, s2);
      }
      if (high & bit) {
        sameHigh = v128.and(sameHigh, s);
        sameHigh2 = v128.and(sameHigh2, s2);
      } else {
        out = v128.or(out, v128.and(sameHigh, s));
        out2 = v128.or(out2, v128.and(sameHigh2, s2));
        sameHigh = v128.andnot(sameHigh, s);
        sameHigh2 = v128.andnot(sameHigh2, s2);
      }
      if (!v128.any_true(v128.or(v128.or(sameLow, sameLow2), v128.or(sameHigh, sameHigh2)))) break;
    }
    v128.store(mask, v128.andnot(all, out));
    v128.store(mask, v128.andnot(all2, out2), 16);
  }

  /** Stores at `to` the places of both `a` and `b` whose numbers, in `width` slices, compare like this. */
  static compare(a: usize, b: usize, width: u32, to: usize, how: u32): void {
    for (const end = a + 64, top = <usize>width << 6; a < end; a += 16, b += 16, to += 16) {
      const there = v128.and(v128.load(a), v128.load(b));
      let same = there, less = i64x2.splat(0);
      for (let slice = top; slice && v128.any_true(same); slice -= 64) {
        const x = v128.load(a + slice), y = v128.load(b + slice);
        less = v128.or(less, v128.and(same, v128.andnot(y, x)));
        same = v128.andnot(same, v128.xor(x, y));
      }
      v128.store(to, Slices.chosen(how, there, less, same));
    }
  }

  /** Of the places that are there, those where the first number is less, the same, greater ... */
  @inline private static chosen(how: u32, there: v128, less: v128, same: v128): v128 {
    switch (how) {
      case Comparison.LESS: return less;
      case Comparison.AT_MOST: return v128.or(less, same);
      case Comparison.GREATER: return v128.andnot(there, v128.or(less, same));
      case Comparison.AT_LEAST: return v128.andnot(there, less);
      case Comparison.EQUAL: return same;
      default: return v128.andnot(there, same);
    }
  }

  /** How many places of the mask at `mask` in memory 0 have a number of at least `low`. */
  static countFrom<M extends Memory>(at: usize, width: u32, mask: usize, low: u64): u32 {
    return Slices.halfCountFrom<M>(at, width, mask, low)
      + Slices.halfCountFrom<M>(at + 32, width, mask + 32, low);
  }

  @inline private static halfCountFrom<M extends Memory>(
    at: usize, width: u32, mask: usize, low: u64,
  ): u32 {
    let same = v128.load(mask), same2 = v128.load(mask, 16), more = i64x2.splat(0), more2 = more;
    let bit = <u64>1 << (width - 1);
    for (let slice = at + (<usize>width << 6); slice > at; slice -= 64, bit >>= 1) {
      const s = view128<M>(slice, 0), s2 = view128<M>(slice, 16);
      if (low & bit) {
        same = v128.and(same, s);
        same2 = v128.and(same2, s2);
      } else {
        more = v128.or(more, v128.and(same, s));
        more2 = v128.or(more2, v128.and(same2, s2));
        same = v128.andnot(same, s);
        same2 = v128.andnot(same2, s2);
      }
      if (!v128.any_true(v128.or(same, same2))) break;
    }
    more = v128.or(more, same);
    more2 = v128.or(more2, same2);
    return <u32>(popcnt(i64x2.extract_lane(more, 0)) + popcnt(i64x2.extract_lane(more, 1))
      + popcnt(i64x2.extract_lane(more2, 0)) + popcnt(i64x2.extract_lane(more2, 1)));
  }

  /** Places in the mask. */
  @inline static count(mask: usize): u32 {
    return <u32>(popcnt(load<u64>(mask)) + popcnt(load<u64>(mask, 8)) + popcnt(load<u64>(mask, 16))
      + popcnt(load<u64>(mask, 24)) + popcnt(load<u64>(mask, 32)) + popcnt(load<u64>(mask, 40))
      + popcnt(load<u64>(mask, 48)) + popcnt(load<u64>(mask, 56)));
  }

  /** How many places of the mask have a 1 in the slice at `slice`. */
  @inline static countIn<M extends Memory>(slice: usize, mask: usize): u32 {
    return <u32>(popcnt(view64<M>(slice, 0) & load<u64>(mask))
      + popcnt(view64<M>(slice, 8) & load<u64>(mask, 8)) + popcnt(view64<M>(slice, 16) & load<u64>(mask, 16))
      + popcnt(view64<M>(slice, 24) & load<u64>(mask, 24)) + popcnt(view64<M>(slice, 32) & load<u64>(mask, 32))
      + popcnt(view64<M>(slice, 40) & load<u64>(mask, 40)) + popcnt(view64<M>(slice, 48) & load<u64>(mask, 48))
      + popcnt(view64<M>(slice, 56) & load<u64>(mask, 56)));
  }

  /** Copies the presence to the mask at `mask` in memory 0. */
  @inline static presence<M extends Memory>(at: usize, mask: usize): void {
    v128.store(mask, view128<M>(at, 0));
    v128.store(mask, view128<M>(at, 16), 16);
    v128.store(mask, view128<M>(at, 32), 32);
    v128.store(mask, view128<M>(at, 48), 48);
  }

  /** The least number of all that are there in memory 0, or the greatest one. */
  @inline static ownExtreme(at: usize, width: u32, greatest: bool): u64 {
    return Slices.extreme<Own>(at, width, at, greatest);
  }
}
