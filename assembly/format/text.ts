// Bitmaps spelled out offset by offset, from 0 to the greatest member:
//
//   bits        a native Redis bitmap: offset o is bit 7 - (o & 7) of byte o >> 3
//   characters  '0' or '1' an offset
//
// Both are written and read a word of 64 offsets at a time.

import { SELF, left, output, right } from "../memory";
import { Own } from "../view";
import { alignedBump, makeRoom } from "../arena";
import { Kind, entryCount, entryKey, entryKind, entryLastKey, entryPayload } from "../entry";
import { advance, placeEntry, seek } from "../directory";
import { begin, finish } from "../builder";
import { emit } from "../emit";
import { FOLD_BYTES, shape } from "../fold";
import { isEmpty, maximum } from "../query";
import { BITSET_BYTES } from "../container/limits";
import { arrayLowerBound } from "../container/array";
import { bitsetCardinality } from "../container/bitset";
import { runEnd, runStart, runsCount, runsFind } from "../container/run";

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
    const entry = placeEntry(place), last = entryLastKey<Own>(entry);
    for (let key = entryKey<Own>(entry); key <= last; key++) {
      for (; word < key * WORDS; word++) rest = writeWord(0, characters, rest);
      for (let i: u32 = 0; i < WORDS && rest; i++, word++) rest = writeWord(wordOf(entry, i), characters, rest);
    }
  }
  if (rest) writeWord(0, characters, rest);
}

/** Writes the word, or as much as `rest` bytes hold; returns what is left of `rest`. */
function writeWord(bits: u64, characters: bool, rest: u64): u64 {
  if (!characters) return put(nativeOrder(bits), rest);
  for (let i = 0; i < 8 && rest; i++, bits >>= 8) rest = put(ZEROS + spread(bits & 0xff), rest);
  return rest;
}

// @ts-ignore: decorator
@inline function put(bytes: u64, rest: u64): u64 {
  const count = min<u64>(rest, 8);
  output.put(bytes, <u32>count);
  return rest - count;
}

/** Each byte's bits in reverse order: an involution between ours and native's. */
// @ts-ignore: decorator
@inline function nativeOrder(bits: u64): u64 {
  bits = ((bits >> 1) & 0x5555555555555555) | ((bits & 0x5555555555555555) << 1);
  bits = ((bits >> 2) & 0x3333333333333333) | ((bits & 0x3333333333333333) << 2);
  return ((bits >> 4) & 0x0f0f0f0f0f0f0f0f) | ((bits & 0x0f0f0f0f0f0f0f0f) << 4);
}

/** Bit i of the byte to the lowest bit of byte i. */
// @ts-ignore: decorator
@inline function spread(bits: u64): u64 {
  return (((bits * LOWEST_BITS) & 0x8040201008040201) + 0x7f7f7f7f7f7f7f7f >> 7) & LOWEST_BITS;
}

/** The lowest bits of the eight bytes, byte i's as bit i. */
// @ts-ignore: decorator
@inline function gather(bytes: u64): u64 { return ((bytes & LOWEST_BITS) * 0x0102040810204080) >> 56; }

/** Offsets 64 * word .. 64 * word + 63 of the container as bits, the least the lowest. */
function wordOf(entry: usize, word: u32): u64 {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry), low = word << 6, high = low + 63;
  if (kind == Kind.BITSET) return load<u64>(payload + (<usize>word << 3));
  if (kind == Kind.FULL) return u64.MAX_VALUE;
  let bits: u64 = 0;
  if (kind == Kind.RUNS) {
    for (let i = <u32>max(runsFind(payload, low), 0), n = runsCount(payload); i < n && runStart(payload, i) <= high; i++) {
      const from = max(runStart(payload, i), low), to = min(runEnd(payload, i), high);
      if (from <= to) bits |= (u64.MAX_VALUE >> (63 - (to - from))) << (from - low);
    }
    return bits;
  }
  const count = entryCount<Own>(entry);
  for (let i = arrayLowerBound(payload, count, low); i < count; i++) {
    const member = <u32>load<u16>(payload + (<usize>i << 1));
    if (member > high) break;
    bits |= (<u64>1) << (member - low);
  }
  return bits;
}

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
    makeRoom(64 + 2 * FOLD_BYTES);
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
