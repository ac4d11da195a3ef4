// Extracts the members of a bitset as an array.
//
// In a bitset that becomes an array, most words are 0, and it is unpredictable which ones are not: a branch
// on that would cost more than the work on the word. So there is none. A bitset is read in lanes of 16 bits,
// eight at a time. The lanes that have members are appended to a list, and then the members of eight
// listed lanes are extracted at once.

import { left, right, vector } from "../env/memory";
import { Container } from "./limits";
import { Kernel, Same, SetOperation } from "./kernel";
import { Bitset } from "./bitset";
import { Lanes } from "./lanes";

/** Extracts the members of bitsets. */
export abstract class Extract {
  /**
   * The list has lanes with members and, this far behind each, the value of its lowest bit.
   * Up to a vector behind both may be written.
   */
  @inline private static readonly VALUES: usize = Bitset.PART_BYTES + Lanes.LANES_BYTES;
  /** Working space of extractMembers(). */
  @inline static readonly EXTRACT_BYTES: usize = 2 * Extract.VALUES;
  /** With at least this many members, one of eight lanes often has more than two. */
  @inline private static readonly DENSE: u32 = 1200;
  /** With fewer members than this, few words have any, and it matters most to skip the others fast. */
  @inline static readonly SPARSE: u32 = 160;

  /** An address in the middle of the list, at which extractListed() may stop and go on. */
  @inline static middleOf(list: usize, end: usize): usize {
    return list + (((end - list) >> 1) & ~(Lanes.LANES_BYTES - 1));
  }

  @inline static isDense(members: u32): bool { return members >= Extract.DENSE; }

  /** Writes the members; returns the end. */
  @inline static extract(a: usize, members: u32, out: usize, work: usize): usize {
    for (let value: u32 = 0; value < Container.UNIVERSE; value += <u32>Bitset.PART_BYTES << 3) {
      out = Extract.putMembers(work, Extract.listLanes<Same>(a, 0, value, work),
        Extract.isDense(members), out);
      a += Bitset.PART_BYTES;
    }
    return out;
  }

  /** Writes the members of the lanes in [list, end); returns the end. */
  @inline static putMembers(list: usize, end: usize, dense: bool, out: usize): usize {
    for (; list < end; list += Lanes.LANES_BYTES) {
      out = dense ? Extract.putFours(list, out) : Extract.putTwos(list, out);
    }
    return out;
  }

  /** Writes the members, skipping from one 32-bit word with members to the next. Reads 64 words at a time. */
  static extractFew(a: usize, out: usize): u32 {
    const start = out;
    for (let value: u32 = 0; value < Container.UNIVERSE; value += 2048) {
      const high = (<u64>Extract.emptyWords(a + 192) << 16) | Extract.emptyWords(a + 128);
      const low = (Extract.emptyWords(a + 64) << 16) | Extract.emptyWords(a);
      for (let words = ~((high << 32) | low); words; words &= words - 1) {
        const word = <u32>ctz<u64>(words), first = value + (word << 5);
        for (let rest = left.load32(a + (<usize>word << 2), 0); rest; rest &= rest - 1) {
          store<u16>(out, first + ctz<u32>(rest));
          out += Container.MEMBER_BYTES;
        }
      }
      a += 256;
    }
    return Container.memberCount(start, out);
  }

  /** A bit for each of the sixteen 32-bit words from `a` on that is 0. */
  @inline private static emptyWords(a: usize): u32 {
    const x3 = left.load128(a, 48), x2 = left.load128(a, 32);
    const x1 = left.load128(a, 16), x0 = left.load128(a, 0), none = i64x2.splat(0);
    const low = i16x8.narrow_i32x4_s(i32x4.eq(x0, none), i32x4.eq(x1, none));
    const high = i16x8.narrow_i32x4_s(i32x4.eq(x2, none), i32x4.eq(x3, none));
    return <u32>i8x16.bitmask(i8x16.narrow_i16x8_s(low, high));
  }

  /**
   * Lists the lanes with members of a part (see listPart) and a vector of 0 behind them;
   * returns the end of the list.
   */
  @inline static listLanes<O extends SetOperation>(a: usize, b: usize, value: u32, list: usize): usize {
    const end = a + Bitset.PART_BYTES;
    let values = i16x8.add(i16x8.splat(<i16>value), i16x8(0, 16, 32, 48, 64, 80, 96, 112));
    for (; a < end; a += 4 * Lanes.LANES_BYTES) {
      const x3 = Extract.vectorAt<O>(a, b, 48), x2 = Extract.vectorAt<O>(a, b, 32);
      const x1 = Extract.vectorAt<O>(a, b, 16), x0 = Extract.vectorAt<O>(a, b, 0);
      if (!Kernel.isUnary<O>()) b += 4 * Lanes.LANES_BYTES;
      const low = ~Extract.zeros(x0, x1), high = ~Extract.zeros(x2, x3);
      list = Extract.listVector(x0, values, low & 0xff, list);
      values = i16x8.add(values, i16x8.splat(128));
      list = Extract.listVector(x1, values, (low >> 8) & 0xff, list);
      values = i16x8.add(values, i16x8.splat(128));
      list = Extract.listVector(x2, values, high & 0xff, list);
      values = i16x8.add(values, i16x8.splat(128));
      list = Extract.listVector(x3, values, (high >> 8) & 0xff, list);
      values = i16x8.add(values, i16x8.splat(128));
    }
    v128.store(list, i64x2.splat(0));
    return list;
  }

  @inline private static vectorAt<O extends SetOperation>(a: usize, b: usize, offset: u32): v128 {
    const x = left.load128(a, offset);
    return Kernel.isUnary<O>() ? x : Kernel.combineVectors<O>(x, right.load128(b, offset));
  }

  /** A bit for each of the sixteen lanes that is 0. */
  @inline private static zeros(x: v128, y: v128): u32 {
    const none = i64x2.splat(0);
    return <u32>i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.eq(x, none), i16x8.eq(y, none)));
  }

  /** Appends the lanes in `mask` and the values of their lowest bits to the list; returns its end. */
  @inline private static listVector(lanes: v128, values: v128, mask: u32, list: usize): usize {
    v128.store(list, vector.compact(values, mask), Extract.VALUES);
    return Lanes.put(lanes, mask, list);
  }

  /** Writes the members of the eight lanes at `list`; returns the end. Fast if no lane has more than two. */
  @inline private static putTwos(list: usize, out: usize): usize {
    const values = v128.load(list, Extract.VALUES), x = v128.load(list);
    const y = Extract.withoutLowest(x), z = Extract.withoutLowest(y);
    if (v128.any_true(z)) return Extract.putFours(list, out);
    const first = i16x8.add(Extract.bitNumbers(v128.xor(x, y)), values);
    const second = i16x8.add(Extract.bitNumbers(v128.xor(y, z)), values);
    const mask = ~Extract.zeros(Lanes.interleaveLow(x, y), Lanes.interleaveHigh(x, y));
    out = Lanes.put(Lanes.interleaveLow(first, second), mask & 0xff, out);
    return Lanes.put(Lanes.interleaveHigh(first, second), (mask >> 8) & 0xff, out);
  }

  /** Extract.putTwos() for lanes of up to four members. */
  private static putFours(list: usize, out: usize): usize {
    const values = v128.load(list, Extract.VALUES), x = v128.load(list);
    const y = Extract.withoutLowest(x), z = Extract.withoutLowest(y), w = Extract.withoutLowest(z),
      rest = Extract.withoutLowest(w);
    if (v128.any_true(rest)) return Extract.putAll(list, out);
    const first = i16x8.add(Extract.bitNumbers(v128.xor(x, y)), values);
    const second = i16x8.add(Extract.bitNumbers(v128.xor(y, z)), values);
    const third = i16x8.add(Extract.bitNumbers(v128.xor(z, w)), values);
    const fourth = i16x8.add(Extract.bitNumbers(v128.xor(w, rest)), values);
    const xy = Lanes.interleaveLow(x, y);
    const zw = Lanes.interleaveLow(z, w);
    const low = ~Extract.zeros(Extract.interleavePairsLow(xy, zw), Extract.interleavePairsHigh(xy, zw));
    const xyHigh = Lanes.interleaveHigh(x, y), zwHigh = Lanes.interleaveHigh(z, w);
    const high = ~Extract.zeros(Extract.interleavePairsLow(xyHigh, zwHigh),
      Extract.interleavePairsHigh(xyHigh, zwHigh));
    const early = Lanes.interleaveLow(first, second), late = Lanes.interleaveLow(third, fourth);
    out = Lanes.put(Extract.interleavePairsLow(early, late), low & 0xff, out);
    out = Lanes.put(Extract.interleavePairsHigh(early, late), (low >> 8) & 0xff, out);
    const earlyHigh = Lanes.interleaveHigh(first, second), lateHigh = Lanes.interleaveHigh(third, fourth);
    out = Lanes.put(Extract.interleavePairsLow(earlyHigh, lateHigh), high & 0xff, out);
    return Lanes.put(Extract.interleavePairsHigh(earlyHigh, lateHigh), (high >> 8) & 0xff, out);
  }

  /** Extract.putTwos() for lanes of any number of members. */
  private static putAll(list: usize, out: usize): usize {
    for (const end = list + Lanes.LANES_BYTES; list < end; list += 2) {
      const value = <u32>load<u16>(list, Extract.VALUES);
      for (let rest = <u32>load<u16>(list); rest; rest &= rest - 1) {
        store<u16>(out, value + ctz<u32>(rest));
        out += Container.MEMBER_BYTES;
      }
    }
    return out;
  }

  /** Each lane without its lowest bit. */
  @inline private static withoutLowest(lanes: v128): v128 {
    return v128.and(lanes, i16x8.add(lanes, i16x8.splat(-1)));
  }

  /**
   * The number of the only bit of each lane. 0x09af is a de Bruijn sequence: multiplied by the bit,
   * it is shifted up by the bit's number, and its top four bits are then different for each number.
   */
  @inline private static bitNumbers(alone: v128): v128 {
    return i8x16.swizzle(
      i8x16(0, 1, 2, 5, 3, 9, 6, 11, 15, 4, 8, 10, 14, 7, 13, 12),
      i16x8.shr_u(i16x8.mul(alone, i16x8.splat(0x09af)), 12),
    );
  }

  // Interleave the low pairs of lanes, or the high ones, of two vectors.
  @inline private static interleavePairsLow(x: v128, y: v128): v128 {
    return v128.shuffle<u32>(x, y, 0, 4, 1, 5);
  }

  @inline private static interleavePairsHigh(x: v128, y: v128): v128 {
    return v128.shuffle<u32>(x, y, 2, 6, 3, 7);
  }
}

/**
 * Writes the members of the bitset that `left` shows at `a` as an array and returns their number. `members`
 * is that number too; it only selects the method. `out` needs room for eight members more and `work`
 * EXTRACT_BYTES. Neither may overlap the bitset.
 */
export function extractMembers(a: usize, members: u32, out: usize, work: usize): u32 {
  if (members < Extract.SPARSE) return Extract.extractFew(a, out);
  return Container.memberCount(out, Extract.extract(a, members, out, work));
}

/**
 * Combines the next PART_BYTES of left `a` and right `b`, whose bit 0 is `value`, and lists the lanes of the
 * result that have members at `list`, which needs EXTRACT_BYTES. Returns the end of the list.
 */
export function listPart<O extends SetOperation>(a: usize, b: usize, value: u32, list: usize): usize {
  return Extract.listLanes<O>(a, b, value, list);
}

/**
 * Writes the members of the listed lanes from `list` up to `end`; returns the end of what is
 * written. `dense` says whether the whole result is likely to have DENSE members. `out` needs room
 * for the members and eight more.
 */
export function extractListed(list: usize, end: usize, dense: bool, out: usize): usize {
  return Extract.putMembers(list, end, dense, out);
}
