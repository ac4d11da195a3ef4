// Formats with a bit or a character for each offset from 0 to the greatest member:
//
//   bits        a native Redis bitmap: offset o is bit 7 - (o & 7) of byte o >> 3
//   low bits    the same, but offset o is bit o & 7, as in Java's BitSet
//   characters  '0' or '1' per offset
//
// All are written and read in words of 64 offsets: 8 bytes of bits, or 64 characters. Functions for several
// take the format as a type argument, and the compiler builds them once for each.

import { SELF, left, output, right } from "../env/memory";
import { Own } from "../env/view";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { begin } from "../arena/builder/state";
import { finish } from "../arena/builder/builder";
import { isEmpty, maximum } from "../read/query";
import { Words } from "../read/word";
import { emit } from "../combine/shape/emit";
import { Shape } from "../combine/shape/shape";
import { Places, Scratch } from "../combine/shape/scratch";
import { Kernel } from "../container/kernel";
import { Kind } from "../container/kind";
import { BITSET_BYTES, Container } from "../container/limits";
import { Bitset } from "../container/bitset";
import { Runs } from "../container/run";
import { ShortBitset } from "../container/short";
import { Sparse } from "../container/sparse";
import { wordOf } from "../read/container";

// The formats. The types differ in size, as those of container/kernel.ts do.
@unmanaged abstract class Notation { protected notation!: u8; }
@unmanaged abstract class Bits extends Notation { protected bits!: u8; }
@unmanaged abstract class Characters extends Notation { protected characters!: u16; }
@unmanaged abstract class LowBits extends Notation { protected lowBits!: u32; }

/** Writes and reads all formats. */
abstract class StringText {
  /** '0'; adding 1 makes it '1'. */
  @inline private static readonly CHARACTER: u32 = 0x30;
  /** '0' in each of eight bytes. */
  @inline private static readonly ZEROS: u64 = 0x3030303030303030;
  /** 1 in each of eight bytes. */
  @inline private static readonly LOWEST_BITS: u64 = 0x0101010101010101;

  /** Writes the first `bytes` bytes of the bitmap in format F. */
  static writeWords<F extends Notation>(bytes: u64): void {
    let word: u64 = 0, rest = bytes;
    for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
      const entry = Place.entry(place), first = entry.key<Own>() * Container.WORDS;
      rest = StringText.writeGap<F>(first - word, rest);
      word = (entry.lastKey<Own>() + 1) * Container.WORDS;
      rest = StringText.writeContainers<F>(entry, word - first, bytes, rest);
    }
    if (rest) StringText.writeGap<F>(1, rest);             // no members: a single '0'
  }

  // These write a part of the bitmap in format F, but no more than `rest` bytes,
  // and return the bytes that are then left to write.

  /** Writes `words` words without members. */
  private static writeGap<F extends Notation>(words: u64, rest: u64): u64 {
    return StringText.writeSame<F>(StringText.CHARACTER, 0, words, rest);
  }

  /** Writes `words` words of members only. */
  private static writeSpan<F extends Notation>(words: u64, rest: u64): u64 {
    return StringText.writeSame<F>(StringText.CHARACTER + 1, 0xff, words, rest);
  }

  /** Writes `words` words of one character each, or of bytes with the same bits. */
  private static writeSame<F extends Notation>(character: u32, bits: u32, words: u64, rest: u64): u64 {
    const shift: u64 = Kernel.is<F, Characters>() ? 6 : 3, bytes = min(rest, words << shift);
    output.fill(Kernel.is<F, Characters>() ? character : bits, bytes);
    return rest - bytes;
  }

  /** Writes the entry's container, or all `words` words of its containers if it is FULL. */
  private static writeContainers<F extends Notation>(entry: Entry, words: u64, bytes: u64, rest: u64): u64 {
    switch (entry.kind<Own>()) {
      case Kind.FULL: return StringText.writeSpan<F>(words, rest);
      case Kind.BITSET: return StringText.writeBitset<F>(entry.payload<Own>(), 0, Container.UNIVERSE, rest);
      case Kind.SHORT: return StringText.writeShort<F>(entry, rest);
      case Kind.RUNS:
        return Kernel.is<F, Characters>() ? StringText.writeRunsCharacters(entry, rest)
          : StringText.writeRunsBits<F>(entry, rest);
      case Kind.ARRAY:
      case Kind.SINGLE:
      case Kind.PAIR:
      case Kind.SPARSE: {
        const after = StringText.writeGap<F>(words, rest);
        StringText.markMembers<F>(entry, bytes - rest);
        return after;
      }
      default: return unreachable();
    }
  }

  /**
   * Marks the members of an array or of a sparse bitset in the output,
   * which has zeros for the whole container from byte `at` on.
   */
  @inline private static markMembers<F extends Notation>(entry: Entry, at: u64): void {
    const payload = entry.payload<Own>(), count = entry.count<Own>();
    if (entry.kind<Own>() != Kind.SPARSE) {
      const end = payload + Container.arrayBytes(count);
      for (let member = payload; member < end;
        member += Container.MEMBER_BYTES) StringText.mark<F>(at, load<u16>(member));
      return;
    }
    for (let step = Sparse.stepTo(payload, 0); step; step = Sparse.stepAfter(payload, step)) {
      const low = Sparse.wordOf(step) << 6;
      for (let bits = Sparse.bitsAt(payload, step); bits; bits &= bits - 1) {
        StringText.mark<F>(at, low + <u32>ctz(bits));
      }
    }
  }

  /** Marks the member `low` of the container whose zeros begin at byte `at`. */
  @inline private static mark<F extends Notation>(at: u64, low: u32): void {
    if (Kernel.is<F, Characters>()) output.mark(at + low, 1);
    else output.mark(at + (low >> 3), Kernel.is<F, LowBits>() ? 1 << (low & 7) : 0x80 >> (low & 7));
  }

  /** Writes the values from `low` to before `end`, both multiples of 64, of the bitset at `at`. */
  @inline private static writeBitset<F extends Notation>(at: usize, low: u32, end: u32, rest: u64): u64 {
    return Kernel.is<F, Characters>()
      ? StringText.writeBitsetCharacters(at, low >> 3, end >> 3, rest)
      : StringText.writeBitsetBits<F>(at, low >> 3, end >> 3, rest);
  }

  private static writeShort<F extends Notation>(entry: Entry, rest: u64): u64 {
    const at = entry.payload<Own>(), low = ShortBitset.low<Own>(at), end = ShortBitset.end<Own>(at);
    rest = StringText.writeGap<F>(low >> 6, rest);
    rest = StringText.writeBitset<F>(ShortBitset.base<Own>(at), low, end, rest);
    return StringText.writeGap<F>((Container.UNIVERSE - end) >> 6, rest);
  }

  private static writeBitsetBits<F extends Notation>(payload: usize, from: usize, end: usize, rest: u64): u64 {
    let i = from;
    for (; i + 16 <= end && rest; i += 16) {
      const bytes = min<u64>(rest, 16);
      output.put128(StringText.ordered128<F>(v128.load(payload + i)), <u32>bytes);
      rest -= bytes;
    }
    if (i < end && rest) rest = StringText.put(StringText.ordered<F>(load<u64>(payload + i)), rest);
    return rest;
  }

  /** Brings the bits of each byte from the order of a bitset into that of the format, or back. */
  @inline private static ordered<F extends Notation>(bytes: u64): u64 {
    return Kernel.is<F, LowBits>() ? bytes : Words.nativeOrder(bytes);
  }

  /** ordered() of 16 bytes: looks up both halves of each byte. */
  @inline private static ordered128<F extends Notation>(bytes: v128): v128 {
    if (Kernel.is<F, LowBits>()) return bytes;
    const low = i8x16(0, -128, 64, -64, 32, -96, 96, -32, 16, -112, 80, -48, 48, -80, 112, -16);
    const high = i8x16(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), half = i8x16.splat(15);
    return v128.or(
      i8x16.swizzle(low, v128.and(bytes, half)),
      i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), half)),
    );
  }

  /** Writes sixteen characters at a time: each gets the byte that has its bit, and a mask of that bit. */
  private static writeBitsetCharacters(payload: usize, from: usize, end: usize, rest: u64): u64 {
    const masks = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    for (let i = from; i < end && rest; i += 2) {
      const both = i16x8.splat(load<i16>(payload + i));
      const own = v128.shuffle<u8>(both, both, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
      const bytes = min<u64>(rest, 16);
      const minusOne = i8x16.eq(v128.and(own, masks), masks);   // in the lanes of members
      output.put128(i8x16.sub(i8x16.splat(<i8>StringText.CHARACTER), minusOne), <u32>bytes);
      rest -= bytes;
    }
    return rest;
  }

  private static writeRunsBits<F extends Notation>(entry: Entry, rest: u64): u64 {
    for (let i: u32 = 0; i < Container.WORDS && rest; i++) {
      rest = StringText.put(StringText.ordered<F>(wordOf(entry, i)), rest);
    }
    return rest;
  }

  private static writeRunsCharacters(entry: Entry, rest: u64): u64 {
    const payload = entry.payload<Own>(), bytes = min<u64>(rest, Container.UNIVERSE);
    let next: u32 = 0;
    for (let i: u32 = 0, runs = Runs.count(payload); i < runs; i++) {
      const start = Runs.start(payload, i), end = Runs.end(payload, i) + 1;
      output.fill(StringText.CHARACTER, start - next);
      output.fill(StringText.CHARACTER + 1, end - start);
      next = end;
    }
    output.fill(StringText.CHARACTER, bytes - next);
    return rest - bytes;
  }

  /** Writes a word of bits, or the `rest` bytes of it that are left. */
  @inline private static put(bytes: u64, rest: u64): u64 {
    if (rest < 8) { output.put(bytes, <u32>rest); return 0; }
    output.put(bytes, 8);                       // a constant length makes this a single store
    return rest - 8;
  }

  /** Gathers the lowest bits of eight bytes: bit i is that of byte i. */
  @inline private static gather(bytes: u64): u64 {
    return ((bytes & StringText.LOWEST_BITS) * 0x0102040810204080) >> 56;
  }

  /** Appends the bitset at `to`, which may have no members, as container `key`. */
  static emitBitset(key: u64, to: usize): void {
    left.select(SELF);
    const members = Bitset.cardinality(to);
    if (members) emit(key, Shape.of(Kind.BITSET, members, to));
  }

  /**
   * Writes bits `from` to from + 65535 of the `bits` bits of operand 0 to `to` as a bitset. `from` may be
   * negative; bits that operand 0 does not have are 0.
   */
  static readContainer<F extends Notation>(from: i64, bits: i64, to: usize): void {
    const end = min<i64>((bits - from + 63) >> 6, <i64>Container.WORDS);
    let word: i64 = from < 0 ? -from >> 6 : 0, at = from + (word << 6);
    if (word || end < <i64>Container.WORDS) memory.fill(to, 0, BITSET_BYTES);
    if (at < 0) {
      const bytes = StringText.ordered<F>(StringText.bytesAt(0, right.size()));
      store<u64>(to + (<usize>word << 3), bytes << -at);
      word++;
      at += 64;
    }
    const size = right.size(), shift = <i32>(at & 7);
    let byte = <u64>at >> 3;
    for (; word + 2 <= end && byte + 24 <= size; word += 2, byte += 16) {
      let two = StringText.ordered128<F>(right.load128(<u32>byte, 0));
      if (shift) {
        const next = StringText.ordered128<F>(right.load128(<u32>byte, 8));
        two = v128.or(i64x2.shr_u(two, shift), i64x2.shl(next, 64 - shift));
      }
      v128.store(to + (<usize>word << 3), two);
    }
    let bytes = StringText.ordered<F>(StringText.bytesAt(byte, size));
    for (; word < end; word++) {
      const next = StringText.ordered<F>(StringText.bytesAt(byte += 8, size));
      store<u64>(to + (<usize>word << 3),
        shift ? (bytes >> <u64>shift) | (next << <u64>(64 - shift)) : bytes);
      bytes = next;
    }
  }

  /** The eight bytes at `at` of the text; 0 beyond its end. */
  private static bytesAt(at: u64, size: u32): u64 {
    if (at + 8 <= size) return right.load64(<u32>at, 0);
    let bytes: u64 = 0;
    for (let i: u32 = 0; at + i < size; i++) bytes |= <u64>right.load8(<u32>at + i, 0) << (i << 3);
    return bytes;
  }

  /** The 64 characters at `at` as bits. */
  static charactersAt(at: u32, size: u32): u64 {
    let bits: u64 = 0;
    for (let i: u32 = 0; i < 8 && at + (i << 3) < size; i++) {
      bits |= StringText.gather(StringText.isOne(StringText.bytesAt(at + (i << 3), size))) << (i << 3);
    }
    return bits;
  }

  /** 1 in each byte that is '1', else 0. */
  @inline private static isOne(bytes: u64): u64 {
    const other = bytes ^ (StringText.ZEROS | StringText.LOWEST_BITS);
    // 0 where the character is '1'
    return (~(((other & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | other) >> 7) & StringText.LOWEST_BITS;
  }
}

// --- Writing -----------------------------------------------------------------------------------------------

/** Bytes of the native bitmap; 0 if there are no members. */
export function bitsBytes(): u64 { return isEmpty() ? 0 : (maximum() >> 3) + 1; }

/** Characters up to the greatest member; one, '0', if there are no members. 2^64 becomes 2^64 - 1. */
export function charactersBytes(): u64 {
  if (isEmpty()) return 1;
  const greatest = maximum();
  return greatest == u64.MAX_VALUE ? greatest : greatest + 1;
}

export function writeBits(): void { StringText.writeWords<Bits>(bitsBytes()); }
export function writeLowBits(): void { StringText.writeWords<LowBits>(bitsBytes()); }
export function writeCharacters(): void { StringText.writeWords<Characters>(charactersBytes()); }

// --- Reading -----------------------------------------------------------------------------------------------
// Operand 0 is the text. Every text is valid: any character other than '1' counts as '0'.

/** Builds the bitmap of the characters in memory 0, a fresh arena. */
export function readCharacters(): void {
  right.select(0);
  const size = right.size(), words = (<u64>size + 63) >> 6;
  begin(words / Container.WORDS + 1, 0);
  for (let key: u64 = 0; key * Container.WORDS < words; key++) {
    Places.make(Scratch.TEMP);
    const to = Places.at(Scratch.FIRST), first = key * Container.WORDS,
      count = <u32>min<u64>(words - first, Container.WORDS);
    if (count < Container.WORDS) memory.fill(to, 0, BITSET_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      store<u64>(to + (<usize>i << 3), StringText.charactersAt(<u32>((first + i) << 6), size));
    }
    StringText.emitBitset(key, to);
  }
  finish();
}

/**
 * Builds the bitmap of the bits, or with `low` of the low bits, in memory 0, a fresh arena. Bit 0 becomes
 * member `first`. Bits that would become offsets from 2^64 on, which may be in the last byte, must not be set.
 */
export function readBitsFrom(first: u64, low: u32): void {
  right.select(0);
  const bits = <u64>right.size() << 3, firstKey = Offset.key(first);
  const lastKey = !bits || first > u64.MAX_VALUE - (bits - 1) ? Offset.KEY_MAX : Offset.key(first + bits - 1);
  begin(bits ? lastKey - firstKey + 1 : 0, 0);
  for (let key = firstKey; bits && key <= lastKey; key++) {
    Places.make(Scratch.TEMP);
    const to = Places.at(Scratch.FIRST);
    const from = <i64>((key << 16) - first);
    if (low) StringText.readContainer<LowBits>(from, <i64>bits, to);
    else StringText.readContainer<Bits>(from, <i64>bits, to);
    StringText.emitBitset(key, to);
  }
  finish();
}
