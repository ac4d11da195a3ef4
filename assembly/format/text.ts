// Formats that have something for each offset from 0 to the greatest member:
//
//   bits        a native Redis bitmap: offset o is bit 7 - (o & 7) of byte o >> 3
//   characters  '0' or '1' per offset
//
// Both are written and read in words of 64 offsets: 8 bytes of bits, or 64 characters.

import { SELF, left, output, right } from "../env/memory";
import { Own } from "../env/view";
import { entryCount, entryKey, entryKind, entryLastKey, entryPayload } from "../arena/entry";
import { advance, placeEntry, seek } from "../arena/directory";
import { begin, finish } from "../arena/builder";
import { isEmpty, maximum } from "../read/query";
import { nativeOrder } from "../read/word";
import { emit } from "../combine/emit";
import { shape } from "../combine/shape";
import { makeScratch, Scratch, scratch } from "../combine/scratch";
import { Kind } from "../container/kind";
import { BITSET_BYTES, MEMBER_BYTES, UNIVERSE, arrayBytes, BUCKETS } from "../container/limits";
import { bitsetCardinality } from "../container/bitset";
import { runEnd, runStart, runsCount } from "../container/run";
import { shortBase, shortEnd, shortLow } from "../container/short";
import { wordOf } from "../read/container";

/** Words of a container. */
// @ts-ignore: decorator
@inline const WORDS: u32 = 1024;
/** '0'; adding 1 makes it '1'. */
// @ts-ignore: decorator
@inline const CHARACTER: u32 = 0x30;
/** '0' in each of eight bytes. */
// @ts-ignore: decorator
@inline const ZEROS: u64 = 0x3030303030303030;
/** 1 in each of eight bytes. */
// @ts-ignore: decorator
@inline const LOWEST_BITS: u64 = 0x0101010101010101;

// --- Writing -----------------------------------------------------------------------------------------------

/** Bytes of the native bitmap; 0 if there are no members. */
export function bitsBytes(): u64 { return isEmpty() ? 0 : (maximum() >> 3) + 1; }

/** Characters up to the greatest member; one, '0', if there are no members. 2^64 becomes 2^64 - 1. */
export function charactersBytes(): u64 {
  if (isEmpty()) return 1;
  const greatest = maximum();
  return greatest == u64.MAX_VALUE ? greatest : greatest + 1;
}

export function writeBits(): void { writeWords(false, bitsBytes()); }
export function writeCharacters(): void { writeWords(true, charactersBytes()); }

/** Writes the first `bytes` bytes. `rest` is the number of bytes still to write. */
function writeWords(characters: bool, bytes: u64): void {
  let word: u64 = 0, rest = bytes;
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    const entry = placeEntry(place), kind = entryKind<Own>(entry), first = entryKey<Own>(entry) * WORDS;
    rest = writeSame(false, first - word, characters, rest);
    word = (entryLastKey<Own>(entry) + 1) * WORDS;
    if (kind == Kind.FULL) rest = writeSame(true, word - first, characters, rest);
    else if (kind == Kind.BITSET) rest = writeBitset(entryPayload<Own>(entry), 0, UNIVERSE, characters, rest);
    else if (kind == Kind.RUNS) {
      rest = characters ? writeRunsCharacters(entry, rest) : writeRunsBits(entry, rest);
    } else if (kind == Kind.SHORT) rest = writeShort(entry, characters, rest);
    else {
      const at = bytes - rest;
      rest = writeSame(false, WORDS, characters, rest);
      if (characters) markMembers(entry, at, true); else markMembers(entry, at, false);
    }
  }
  if (rest) writeSame(false, 1, characters, rest);            // no members: a single '0'
}

/**
 * Writes `words` words that have all offsets as members, or none, but no more than `rest` bytes.
 * Like the functions below that take `rest`, it returns the bytes that are left to write.
 */
function writeSame(members: bool, words: u64, characters: bool, rest: u64): u64 {
  const bytes = min(rest, words << (characters ? 6 : 3));
  output.fill(characters ? CHARACTER + u32(members) : members ? 0xff : 0, bytes);
  return rest - bytes;
}

/**
 * Marks the members of an array or of buckets in the output,
 * which has zeros for the whole container from byte `at` on.
 */
// @ts-ignore: decorator
@inline function markMembers(entry: usize, at: u64, characters: bool): void {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  if (entryKind<Own>(entry) != Kind.BUCKETS) {
    const end = payload + arrayBytes(count);
    for (let member = payload; member < end; member += MEMBER_BYTES) mark(at, load<u16>(member), characters);
    return;
  }
  let next = payload;
  for (let high: u32 = 0, bucket = payload + count; high < UNIVERSE; high += BUCKETS, bucket++) {
    for (const end = next + load<u8>(bucket); next < end; next++) mark(at, high + load<u8>(next), characters);
  }
}

/** Marks the member `low` of the container whose zeros begin at byte `at`. */
// @ts-ignore: decorator
@inline function mark(at: u64, low: u32, characters: bool): void {
  if (characters) output.mark(at + low, 1); else output.mark(at + (low >> 3), 0x80 >> (low & 7));
}

/** Writes the values from `low` to before `end`, both multiples of 64, of the bitset at `at`. */
function writeBitset(at: usize, low: u32, end: u32, characters: bool, rest: u64): u64 {
  return characters
    ? writeBitsetCharacters(at, low >> 3, end >> 3, rest)
    : writeBitsetBits(at, low >> 3, end >> 3, rest);
}

function writeShort(entry: usize, characters: bool, rest: u64): u64 {
  const at = entryPayload<Own>(entry), low = shortLow<Own>(at), end = shortEnd<Own>(at);
  rest = writeSame(false, low >> 6, characters, rest);
  rest = writeBitset(shortBase<Own>(at), low, end, characters, rest);
  return writeSame(false, (UNIVERSE - end) >> 6, characters, rest);
}

function writeBitsetBits(payload: usize, from: usize, end: usize, rest: u64): u64 {
  for (let i = from; i < end && rest; i += 8) rest = put(nativeOrder(load<u64>(payload + i)), rest);
  return rest;
}

/** Writes sixteen characters at a time: each gets the byte that has its bit, and a mask of that bit. */
function writeBitsetCharacters(payload: usize, from: usize, end: usize, rest: u64): u64 {
  const masks = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  for (let i = from; i < end && rest; i += 2) {
    const both = i16x8.splat(load<i16>(payload + i));
    const own = v128.shuffle<u8>(both, both, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const bytes = min<u64>(rest, 16);
    const minusOne = i8x16.eq(v128.and(own, masks), masks);   // in the lanes of members
    output.put128(i8x16.sub(i8x16.splat(<i8>CHARACTER), minusOne), <u32>bytes);
    rest -= bytes;
  }
  return rest;
}

function writeRunsBits(entry: usize, rest: u64): u64 {
  for (let i: u32 = 0; i < WORDS && rest; i++) rest = put(nativeOrder(wordOf(entry, i)), rest);
  return rest;
}

function writeRunsCharacters(entry: usize, rest: u64): u64 {
  const payload = entryPayload<Own>(entry), bytes = min<u64>(rest, UNIVERSE);
  let next: u32 = 0;
  for (let i: u32 = 0, runs = runsCount(payload); i < runs; i++) {
    const start = runStart(payload, i), end = runEnd(payload, i) + 1;
    output.fill(CHARACTER, start - next);
    output.fill(CHARACTER + 1, end - start);
    next = end;
  }
  output.fill(CHARACTER, bytes - next);
  return rest - bytes;
}

/** Writes a word of bits, or the `rest` bytes of it that are left. */
// @ts-ignore: decorator
@inline function put(bytes: u64, rest: u64): u64 {
  if (rest < 8) { output.put(bytes, <u32>rest); return 0; }
  output.put(bytes, 8);                       // a constant length makes this a single store
  return rest - 8;
}

/** Gathers the lowest bits of eight bytes: bit i is that of byte i. */
// @ts-ignore: decorator
@inline function gather(bytes: u64): u64 { return ((bytes & LOWEST_BITS) * 0x0102040810204080) >> 56; }

// --- Reading -----------------------------------------------------------------------------------------------
// Operand 0 is the text. Every text is valid: any character other than '1' counts as '0'.

export function readBits(): void { readWords(false, 3); }
export function readCharacters(): void { readWords(true, 6); }

/** Builds the bitmap of the text in memory 0, a fresh arena. A word takes 1 << wordShift bytes. */
function readWords(characters: bool, wordShift: u32): void {
  right.select(0);
  const size = right.size(), wordBytes = 1 << wordShift, words = (<u64>size + wordBytes - 1) >> wordShift;
  begin(words / WORDS + 1, 0);
  for (let key: u64 = 0; key * WORDS < words; key++) {
    makeScratch(Scratch.TEMP);
    const to = scratch(Scratch.FIRST), first = key * WORDS, count = <u32>min<u64>(words - first, WORDS);
    if (count < WORDS) memory.fill(to, 0, BITSET_BYTES);
    for (let i: u32 = 0; i < count; i++) {
      const at = <u32>((first + i) << wordShift);
      store<u64>(to + (<usize>i << 3), characters ? charactersAt(at, size) : nativeOrder(bytesAt(at, size)));
    }
    left.select(SELF);
    const members = bitsetCardinality(to);
    if (members) emit(key, shape(Kind.BITSET, members, to));
  }
  finish();
}

/** The eight bytes at `at` of the text; 0 beyond its end. */
function bytesAt(at: u32, size: u32): u64 {
  if (<u64>at + 8 <= size) return right.load64(at, 0);
  let bytes: u64 = 0;
  for (let i: u32 = 0; at + i < size; i++) bytes |= <u64>right.load8(at + i, 0) << (i << 3);
  return bytes;
}

/** The 64 characters at `at` as bits. */
function charactersAt(at: u32, size: u32): u64 {
  let bits: u64 = 0;
  for (let i: u32 = 0; i < 8 && at + (i << 3) < size; i++) {
    bits |= gather(isOne(bytesAt(at + (i << 3), size))) << (i << 3);
  }
  return bits;
}

/** 1 in each byte that is '1', else 0. */
// @ts-ignore: decorator
@inline function isOne(bytes: u64): u64 {
  const other = bytes ^ (ZEROS | LOWEST_BITS);                // 0 where the character is '1'
  return (~(((other & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | other) >> 7) & LOWEST_BITS;
}
