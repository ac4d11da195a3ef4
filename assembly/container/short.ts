// Short bitset: the 64-bit words of a bitset from the first one to the last one that has members,
// and perhaps a few around them.
//
//   +0  u32 bits 0-9: first word    bits 10-20: number of words    bits 29-31: not part of the header
//   +4  words, as in a bitset
//
// Some functions compute with the address that a whole bitset would have whose words these are: its
// base. Only addresses of words that the payload has are accessed, and the arithmetic wraps, so the
// base may lie outside the memory.
//
// Below, left `a` is the payload at `a` of the operand that `left` shows,
// right `b` the one at `b` of the operand that `right` shows.

import { left, right } from "../env/memory";
import { Left, Memory, Own, Right, view32, view64 } from "../env/view";
import { And, AndNot, Kernel, Or, SetOperation, Sink, Store } from "./kernel";
import { BITSET_BYTES, Container } from "./limits";
import { Bitset } from "./bitset";
import { Choice } from "./kind";

/** The parts of the header, as above. */
const enum HeaderBits { FIRST_MASK = 0x3ff, COUNT_SHIFT = 10, COUNT_MASK = 0x7ff }
/** Kernels for short bitsets. */
export abstract class ShortBitset {
  /** The bits of the header. */
  @inline static readonly HEADER: u32 = (HeaderBits.COUNT_MASK << HeaderBits.COUNT_SHIFT)
    | HeaderBits.FIRST_MASK;

  // --- The payload at `at`, in memory M or memory 0 ----------------------------------------------------------

  @inline static firstWord<M extends Memory>(at: usize): u32 {
    return view32<M>(at, 0) & HeaderBits.FIRST_MASK;
  }

  @inline static wordCount<M extends Memory>(at: usize): u32 {
    return (view32<M>(at, 0) >> HeaderBits.COUNT_SHIFT) & HeaderBits.COUNT_MASK;
  }

  /** Writes the header and leaves the bits that are not part of it as they are. */
  @inline private static setWords(at: usize, first: u32, words: u32): void {
    store<u32>(at, (load<u32>(at) & ~ShortBitset.HEADER) | ShortBitset.header(first, words));
  }

  /** A header without the bits that are not part of it. */
  @inline static header(first: u32, words: u32): u32 {
    return first | (words << HeaderBits.COUNT_SHIFT);
  }

  @inline static wordsAt(at: usize): usize { return at + Container.SHORT_HEADER_BYTES; }

  @inline static base<M extends Memory>(at: usize): usize {
    return ShortBitset.wordsAt(at) - (<usize>ShortBitset.firstWord<M>(at) << 3);
  }

  /** The first value of the words. */
  @inline static low<M extends Memory>(at: usize): u32 { return ShortBitset.firstWord<M>(at) << 6; }
  /** The first value behind the words. */
  @inline static end<M extends Memory>(at: usize): u32 {
    return (ShortBitset.firstWord<M>(at) + ShortBitset.wordCount<M>(at)) << 6;
  }

  /** The header of the words from that of `low` to that of `high`. */
  @inline static headerOver(low: u32, high: u32): u32 {
    return ShortBitset.header(low >> 6, Choice.wordsBetween(low, high));
  }

  /** Writes a payload with this header and without members. */
  static clear(at: usize, header: u32): void {
    store<u32>(at, header);
    memory.fill(ShortBitset.wordsAt(at), 0, <usize>ShortBitset.wordsOf(header) << 3);
  }

  /** Whether the words include that of `value`. */
  @inline private static reaches(at: usize, value: u32): bool {
    return (value >> 6) - ShortBitset.firstWord<Own>(at) < ShortBitset.wordCount<Own>(at);
  }

  @inline static has(at: usize, value: u32): bool {
    return ShortBitset.reaches(at, value) && Bitset.has(ShortBitset.base<Own>(at), value);
  }

  /** Word `index` of the container. */
  static word(at: usize, index: u32): u64 {
    const word = index - ShortBitset.firstWord<Own>(at);
    return word < ShortBitset.wordCount<Own>(at) ? load<u64>(ShortBitset.wordsAt(at) + (<usize>word << 3))
      : 0;
  }

  /** Members that are at most `value`. */
  static rank(at: usize, value: u32): u32 {
    const low = ShortBitset.low<Own>(at);
    return value < low ? 0
      : Bitset.rangeCardinality(ShortBitset.base<Own>(at), low, min(value, ShortBitset.end<Own>(at) - 1));
  }

  /** The member of 0-based rank `rank`, which is less than the cardinality. */
  static select(at: usize, rank: u32): u32 {
    return ShortBitset.low<Own>(at) + Bitset.select(ShortBitset.wordsAt(at), rank);
  }

  /** The greatest member. There must be one. */
  static last<M extends Memory>(at: usize): u32 {
    let word = ShortBitset.wordCount<M>(at) - 1;
    while (word && !view64<M>(ShortBitset.wordsAt(at) + (<usize>word << 3), 0)) word--;
    return ((ShortBitset.firstWord<M>(at) + word) << 6) + 63
      - <u32>clz(view64<M>(ShortBitset.wordsAt(at) + (<usize>word << 3), 0));
  }

  /** The least member from `from` on, or UNIVERSE. */
  static nextSet(at: usize, from: u32): u32 {
    const first = ShortBitset.firstWord<Own>(at), end = first + ShortBitset.wordCount<Own>(at);
    let word = max(from >> 6, first),
      mask = from >> 6 >= first ? u64.MAX_VALUE << (from & 63) : u64.MAX_VALUE;
    for (; word < end; word++, mask = u64.MAX_VALUE) {
      const bits = ShortBitset.word(at, word) & mask;
      if (bits) return (word << 6) + <u32>ctz(bits);
    }
    return Container.UNIVERSE;
  }

  /** The least value from `from` on that is absent, or UNIVERSE. */
  static nextClear(at: usize, from: u32): u32 {
    for (
      let word = from >> 6, mask = u64.MAX_VALUE << (from & 63);
      word < Container.UNIVERSE >> 6; word++, mask = u64.MAX_VALUE
    ) {
      const bits = ~ShortBitset.word(at, word) & mask;
      if (bits) return (word << 6) + <u32>ctz(bits);
    }
    return Container.UNIVERSE;
  }

  /** Adds `value`, whose word there is. */
  @inline static set(at: usize, value: u32): void { Bitset.set(ShortBitset.base<Own>(at), value); }

  /**
   * Makes the words first .. first + words - 1, which include those that are there and for which there is room.
   */
  static widen(at: usize, first: u32, words: u32): void {
    const before = <usize>(ShortBitset.firstWord<Own>(at) - first) << 3;
    const held = <usize>ShortBitset.wordCount<Own>(at) << 3;
    const to = ShortBitset.wordsAt(at);
    if (before) {
      memory.copy(to + before, to, held);
      memory.fill(to, 0, before);
    }
    memory.fill(to + before + held, 0, (<usize>words << 3) - before - held);
    ShortBitset.setWords(at, first, words);
  }

  /**
   * Drops words without members at both ends. There must be a member.
   * Returns the number of words that are left.
   */
  static trim(at: usize): u32 {
    const words = ShortBitset.wordCount<Own>(at), to = ShortBitset.wordsAt(at);
    let from: u32 = 0, end = words;
    while (!load<u64>(to + (<usize>from << 3))) from++;
    while (!load<u64>(to + (<usize>end << 3) - 8)) end--;
    if (end - from == words) return words;
    if (from) memory.copy(to, to + (<usize>from << 3), <usize>(end - from) << 3);
    ShortBitset.setWords(at, ShortBitset.firstWord<Own>(at) + from, end - from);
    return end - from;
  }

  /** Words that ShortBitset.trim() would leave. There must be a member. */
  static trimmedWords(at: usize): u32 {
    let from = ShortBitset.wordsAt(at), end = from + (<usize>ShortBitset.wordCount<Own>(at) << 3);
    while (!load<u64>(from)) from += 8;
    while (!load<u64>(end - 8)) end -= 8;
    return <u32>((end - from) >> 3);
  }

  /**
   * Whether giving back the words at the ends is worth it: only if they are a quarter of the words or more,
   * so that a bitset does not keep shrinking and growing.
   */
  @inline static isWorthTrimming(words: u32, kept: u32): bool { return kept * 4 <= words * 3; }

  /** Whether the words lie within a container and have `count` members. */
  static isSound(at: usize, count: u32): bool {
    const words = ShortBitset.wordCount<Own>(at);
    let members: u64 = 0;
    for (let word: u32 = 0; word < words; word++) {
      members += popcnt(load<u64>(ShortBitset.wordsAt(at) + (<usize>word << 3)));
    }
    return members == count;
  }

  // --- Conversions, from the payload that `left` shows at `a` to memory 0; the two must not overlap ----------

  /** Sets the members of the array in words that are at the base `to` and are clear. */
  @inline static setMembers(a: usize, count: u32, to: usize): void {
    for (const end = a + Container.arrayBytes(count); a < end;
      a += Container.MEMBER_BYTES) Bitset.set(to, left.load16(a, 0));
  }

  /** The union of the four words at `at`. */
  @inline static fourWords<M extends Memory>(at: usize): u64 {
    return view64<M>(at, 24) | view64<M>(at, 16) | view64<M>(at, 8) | view64<M>(at, 0);
  }

  /** The number of words in a header. */
  @inline static wordsOf(header: u32): u32 {
    return (header >> HeaderBits.COUNT_SHIFT) & HeaderBits.COUNT_MASK;
  }

  /** Keeps the members that are in `b` (And) or not in `b` (AndNot). */
  @inline static filter<O extends SetOperation, S extends Sink>(
    a: usize, aCount: u32, b: usize, out: usize,
  ): u32 {
    const header = right.load32(b, 0), first = header & HeaderBits.FIRST_MASK;
    const words = ShortBitset.wordsOf(header), bits = ShortBitset.wordsAt(b);
    const end = a + Container.arrayBytes(aCount), start = out;
    for (; a < end; a += Container.MEMBER_BYTES) {
      const value = left.load16(a, 0), word = (value >> 6) - first, reaches = word < words;
      const at = bits + select<usize>(<usize>word << 3, 0, reaches);
      const has = <u32>(right.load64(at, 0) >> (value & 63)) & u32(reaches);
      if (Kernel.stores<S>()) store<u16>(out, value);
      out += <usize>(has ^ Kernel.lacks<O>()) << 1;
    }
    return Container.memberCount(start, out);
  }
}

/**
 * Writes the members as a short bitset with this header, whose words include all of them. `out` needs
 * Container.shortBytes() of these words.
 */
export function arrayToShort(a: usize, count: u32, header: u32, out: usize): void {
  ShortBitset.clear(out, header);
  ShortBitset.setMembers(a, count, ShortBitset.base<Own>(out));
}

/** arrayToShort() for runs. */
export function runsToShort(a: usize, header: u32, out: usize): void {
  ShortBitset.clear(out, header);
  const to = ShortBitset.base<Own>(out), end = a + Container.runsBytes(left.load16(a, 0));
  for (a += Container.RUNS_HEADER_BYTES; a < end; a += Container.RUN_BYTES) {
    const start = left.load16(a, 0);
    Bitset.setBits(to, start, start + left.load16(a, 2));
  }
}

/**
 * The words of the bitset at `a` of memory M that a short bitset would have, as a header.
 * There must be a member.
 */
export function spanOfBitset<M extends Memory>(a: usize): u32 {
  let from: usize = 0, end: usize = BITSET_BYTES;
  while (!ShortBitset.fourWords<M>(a + from)) from += 32;
  while (!ShortBitset.fourWords<M>(a + end - 32)) end -= 32;
  while (!view64<M>(a + from, 0)) from += 8;
  while (!view64<M>(a + end - 8, 0)) end -= 8;
  return ShortBitset.header(<u32>(from >> 3), <u32>((end - from) >> 3));
}

/** Makes the bitset at `at` a short bitset with this header, which spanOfBitset() has returned, in place. */
export function bitsetBecomesShort(at: usize, header: u32): void {
  memory.copy(ShortBitset.wordsAt(at), at + (<usize>(header & HeaderBits.FIRST_MASK) << 3),
    <usize>ShortBitset.wordsOf(header) << 3);
  store<u32>(at, header);
}

/**
 * Address of part `part` (PART_BYTES, from that byte of the bitset on) of right `a`,
 * if the words include all of it; otherwise 0.
 */
export function shortPart(a: usize, part: usize): usize {
  const header = right.load32(a, 0);
  const from = <usize>(header & HeaderBits.FIRST_MASK) << 3;
  const end = from + (<usize>ShortBitset.wordsOf(header) << 3);
  return from <= part && part + Bitset.PART_BYTES <= end ? ShortBitset.wordsAt(a) + (part - from) : 0;
}

/** Copies part `part` of right `a` to `out`, or returns false if it has no words there. */
export function copyShortPart(a: usize, part: usize, out: usize): bool {
  const header = right.load32(a, 0);
  const from = <usize>(header & HeaderBits.FIRST_MASK) << 3;
  const end = from + (<usize>ShortBitset.wordsOf(header) << 3);
  const low = max(from, part), high = min(end, part + Bitset.PART_BYTES);
  if (low >= high) return false;
  memory.fill(out, 0, Bitset.PART_BYTES);
  right.copy(out + (low - part), ShortBitset.wordsAt(a) + (low - from), high - low);
  return true;
}

/** Writes the words of the bitset that `header` names. */
export function bitsetToShort(a: usize, header: u32, out: usize): void {
  store<u32>(out, header);
  left.copy(ShortBitset.wordsAt(out), a + (<usize>(header & HeaderBits.FIRST_MASK) << 3),
    <usize>ShortBitset.wordsOf(header) << 3);
}

/** `out` needs room for the members; returns their number. */
export function shortToArray(a: usize, out: usize): u32 {
  const start = out;
  let value = ShortBitset.low<Left>(a);
  for (let word = ShortBitset.wordsAt(a), end = a + Container.shortBytes(ShortBitset.wordCount<Left>(a));
    word < end; word += 8, value += 64) {
    for (let bits = left.load64(word, 0); bits; bits &= bits - 1) {
      store<u16>(out, value + <u32>ctz(bits));
      out += Container.MEMBER_BYTES;
    }
  }
  return Container.memberCount(start, out);
}

/** `out` needs BITSET_BYTES. */
export function shortToBitset(a: usize, out: usize): void {
  Bitset.clearAll(out);
  left.copy(out + (<usize>ShortBitset.firstWord<Left>(a) << 3), ShortBitset.wordsAt(a),
    <usize>ShortBitset.wordCount<Left>(a) << 3);
}

// --- Kernels -----------------------------------------------------------------------------------------------

/**
 * Combines left `a` with right `b` into a short bitset at `out`, which overlaps neither, and returns the
 * cardinality; with S = Count only counts. The result has the words first .. first + words - 1: those that
 * both have for And, all that either has for Or and Xor, and those of `a` for AndNot.
 */
export function combineShorts<O extends SetOperation, S extends Sink>(
  a: usize, b: usize, first: u32, words: u32, out: usize,
): u32 {
  const aFirst = ShortBitset.firstWord<Left>(a), aWords = ShortBitset.wordCount<Left>(a);
  const bFirst = ShortBitset.firstWord<Right>(b), bWords = ShortBitset.wordCount<Right>(b);
  let members: u64 = 0;
  if (Kernel.stores<S>()) store<u32>(out, ShortBitset.header(first, words));
  if (
    first >= aFirst && first + words <= aFirst + aWords
    && first >= bFirst && first + words <= bFirst + bWords
  ) {
    const x = ShortBitset.wordsAt(a) + (<usize>(first - aFirst) << 3),
      y = ShortBitset.wordsAt(b) + (<usize>(first - bFirst) << 3);
    for (let i: usize = 0, end = <usize>words << 3; i < end; i += 8) {
      const word = Kernel.combineWords<O>(left.load64(x + i, 0), right.load64(y + i, 0));
      if (Kernel.stores<S>()) store<u64>(ShortBitset.wordsAt(out) + i, word);
      members += popcnt(word);
    }
    return <u32>members;
  }
  for (let i: u32 = 0; i < words; i++) {
    const l = first + i - aFirst, r = first + i - bFirst;
    const x = l < aWords ? left.load64(ShortBitset.wordsAt(a) + (<usize>l << 3), 0) : 0;
    const y = r < bWords ? right.load64(ShortBitset.wordsAt(b) + (<usize>r << 3), 0) : 0;
    const word = Kernel.combineWords<O>(x, y);
    if (Kernel.stores<S>()) store<u64>(ShortBitset.wordsAt(out) + (<usize>i << 3), word);
    members += popcnt(word);
  }
  return <u32>members;
}

/**
 * Intersects left array `a` with right short bitset `b`, to an array;
 * returns the cardinality. `out` may be `a`.
 */
export function intersectArrayShort<S extends Sink>(a: usize, aCount: u32, b: usize, out: usize): u32 {
  return ShortBitset.filter<And, S>(a, aCount, b, out);
}

/**
 * Writes the members of left array `a` that are not in right short bitset `b`, to an array;
 * returns the cardinality. `out` may be `a`.
 */
export function differenceArrayShort(a: usize, aCount: u32, b: usize, out: usize): u32 {
  return ShortBitset.filter<AndNot, Store>(a, aCount, b, out);
}

/**
 * Copies left short bitset `a` to `out` with this header, whose words include its own, and changes the members
 * of right array `b` there: adds them (Or), flips them (Xor), or removes them (AndNot), which may lie outside
 * the words. Returns the change of the cardinality. `out` overlaps neither.
 */
export function changeShort<O extends SetOperation>(
  a: usize, b: usize, bCount: u32, header: u32, out: usize,
): i32 {
  const first = header & HeaderBits.FIRST_MASK, words = ShortBitset.wordsOf(header);
  const held = ShortBitset.wordCount<Left>(a), before = ShortBitset.firstWord<Left>(a) - first;
  ShortBitset.clear(out, header);
  left.copy(ShortBitset.wordsAt(out) + (<usize>before << 3), ShortBitset.wordsAt(a), <usize>held << 3);
  let change: i32 = 0;
  for (const end = b + Container.arrayBytes(bCount); b < end; b += Container.MEMBER_BYTES) {
    const value = right.load16(b, 0), word = (value >> 6) - first;
    if (Kernel.is<O, AndNot>() && word >= words) continue;
    const at = ShortBitset.wordsAt(out) + (<usize>word << 3), bits = load<u64>(at),
      was = <i32>(bits >> (value & 63)) & 1;
    store<u64>(at, Kernel.combineWords<O>(bits, (<u64>1) << (value & 63)));
    if (Kernel.is<O, Or>()) change += 1 - was;
    else if (Kernel.is<O, AndNot>()) change -= was;
    else change += 1 - 2 * was;
  }
  return change;
}

/**
 * Adds right short bitset `b` to the bitset at `to` in memory 0 (Or) or flips its members
 * there (Xor), without counting.
 */
export function combineShortInto<O extends SetOperation>(to: usize, b: usize): void {
  const header = right.load32(b, 0);
  to += <usize>(header & HeaderBits.FIRST_MASK) << 3;
  for (let word = ShortBitset.wordsAt(b), end = b + Container.shortBytes(ShortBitset.wordsOf(header));
    word < end; word += 8, to += 8) {
    store<u64>(to, Kernel.combineWords<O>(load<u64>(to), right.load64(word, 0)));
  }
}
