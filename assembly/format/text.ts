// Bitmaps spelled out offset by offset, from 0 to the greatest member:
//
//   bits        a native Redis bitmap: offset o is bit 7 - (o & 7) of byte o >> 3
//   characters  '0' or '1' an offset
//
// Both are written and read a word of 64 offsets at a time.

import { SELF, left, output, right } from "../memory";
import { Own } from "../view";
import { alignedBump, makeRoom } from "../arena";
import { Kind, entryCount, entryKey, entryKind, entryLastKey, entryPayload, isArray } from "../entry";
import { advance, placeEntry, seek } from "../directory";
import { begin, finish } from "../builder";
import { EMIT_BYTES, emit } from "../emit";
import { shape } from "../fold";
import { isEmpty, maximum } from "../query";
import { nativeOrder, wordOf } from "../word";
import { BITSET_BYTES, MEMBER_BYTES, arrayBytes } from "../container/limits";
import { bitsetCardinality } from "../container/bitset";

// @ts-ignore: decorator
@inline const WORDS: u32 = 1024;
/** '0' in each of eight bytes. */
// @ts-ignore: decorator
@inline const ZEROS: u64 = 0x3030303030303030;
// @ts-ignore: decorator
@inline const LOWEST_BITS: u64 = 0x0101010101010101;

// --- Writing ------------------------------------------------------------------------------------------------------------------

/** Bytes of the native bitmap: none when there is no member. */
export function bitsBytes(): u64 { return isEmpty() ? 0 : (maximum() >> 3) + 1; }

/** Characters up to the greatest member: one, '0', when there is none. Saturates where 2^64 would be needed. */
export function charactersBytes(): u64 {
  if (isEmpty()) return 1;
  const greatest = maximum();
  return greatest == u64.MAX_VALUE ? greatest : greatest + 1;
}

export function writeBits(): void { writeWords(false, bitsBytes()); }
export function writeCharacters(): void { writeWords(true, charactersBytes()); }

/** Writes `bytes` bytes: words of 8 bytes, or of 64 characters, the last one cut. */
function writeWords(characters: bool, bytes: u64): void {
  let word: u64 = 0, rest = bytes;
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    const entry = placeEntry(place), kind = entryKind<Own>(entry), first = entryKey<Own>(entry) * WORDS;
    rest = writeSame(false, first - word, characters, rest);
    word = (entryLastKey<Own>(entry) + 1) * WORDS;
    if (kind == Kind.FULL) rest = writeSame(true, word - first, characters, rest);
    else rest = isArray(kind) ? writeArray(entry, characters, rest) : writeContainer(entry, characters, rest);
  }
  if (rest) writeSame(false, 1, characters, rest);            // there is no member: one '0'
}

/**
 * Writes that many words of members, or of none, or as much of them as `rest` bytes hold; returns what is left of `rest`, as all below.
 */
function writeSame(members: bool, words: u64, characters: bool, rest: u64): u64 {
  const bytes = min(rest, words << (characters ? 6 : 3));
  output.fill(characters ? 0x30 + u32(members) : members ? 0xff : 0, bytes);
  return rest - bytes;
}

/** Writes a bitset or runs. */
function writeContainer(entry: usize, characters: bool, rest: u64): u64 {
  const payload = entryPayload<Own>(entry);
  if (entryKind<Own>(entry) == Kind.BITSET) {
    for (let i: usize = 0; i < BITSET_BYTES && rest; i += 8) rest = writeWord(load<u64>(payload + i), characters, rest);
  } else {
    for (let i: u32 = 0; i < WORDS && rest; i++) rest = writeWord(wordOf(entry, i), characters, rest);
  }
  return rest;
}

/** Writes an array's words with members one by one, and what lies between them at once. */
function writeArray(entry: usize, characters: bool, rest: u64): u64 {
  let member = entryPayload<Own>(entry), word: u32 = 0;
  const end = member + arrayBytes(entryCount<Own>(entry));
  while (member < end) {
    const next = <u32>load<u16>(member) >> 6;
    rest = writeSame(false, next - word, characters, rest);
    let bits: u64 = 0;
    for (; member < end && <u32>load<u16>(member) >> 6 == next; member += MEMBER_BYTES) bits |= (<u64>1) << (load<u16>(member) & 63);
    rest = writeWord(bits, characters, rest);
    word = next + 1;
  }
  return writeSame(false, WORDS - word, characters, rest);
}

/** Writes the word, or as much as `rest` bytes hold; returns what is left of `rest`. */
function writeWord(bits: u64, characters: bool, rest: u64): u64 {
  if (!characters) return put(nativeOrder(bits), rest);
  for (let i = 0; i < 8 && rest; i++, bits >>= 8) rest = put(ZEROS + spread(bits & 0xff), rest);
  return rest;
}

// @ts-ignore: decorator
@inline function put(bytes: u64, rest: u64): u64 {
  if (rest < 8) { output.put(bytes, <u32>rest); return 0; }
  output.put(bytes, 8);                       // as a constant it is one store
  return rest - 8;
}

/** Bit i of the byte to the lowest bit of byte i. */
// @ts-ignore: decorator
@inline function spread(bits: u64): u64 {
  return (((bits * LOWEST_BITS) & 0x8040201008040201) + 0x7f7f7f7f7f7f7f7f >> 7) & LOWEST_BITS;
}

/** The lowest bits of the eight bytes, byte i's as bit i. */
// @ts-ignore: decorator
@inline function gather(bytes: u64): u64 { return ((bytes & LOWEST_BITS) * 0x0102040810204080) >> 56; }

// --- Reading ------------------------------------------------------------------------------------------------------------------
// Operand 0 is the text. Any is good: a character other than '1' is a 0.

export function readBits(): void { readWords(false, 3); }
export function readCharacters(): void { readWords(true, 6); }

/** Makes memory 0, which is fresh, the bitmap of the text, whose words are 1 << `wordShift` bytes. */
function readWords(characters: bool, wordShift: u32): void {
  right.select(0);
  const size = right.size(), wordBytes = 1 << wordShift, words = (<u64>size + wordBytes - 1) >> wordShift;
  begin(words / WORDS + 1, 0);
  for (let key: u64 = 0; key * WORDS < words; key++) {
    makeRoom(EMIT_BYTES);
    const to = alignedBump(), first = key * WORDS, count = <u32>min<u64>(words - first, WORDS);
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

/** The eight bytes at `at` of the text; beyond its `size` they are 0. */
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
