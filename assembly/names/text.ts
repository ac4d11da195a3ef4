// Short names in five or six bits a character. Which characters an alphabet has, and their values in it:
//
//   FIVE    a-z . - _ : @ and space               words, domains, tags                    4 to 19 characters
//   LOWER   a-z 0-9, and all punctuation but [ ] \ ^ ` with space
//                                                 user:1234, mail addresses, paths        4 to 20 characters
//   MIXED   A-Z a-z 0-9 - _ in this order         as in Base64 for URLs: random tokens    5 to 22 characters

import { left, right } from "../env/memory";
import { Code } from "./code";

/** Alphabets, and sets of them. */
// @ts-ignore: decorator
@inline const FIVE: u32 = 1, LOWER: u32 = 2, MIXED: u32 = 4, ALL: u32 = 7;
/** The characters of FIVE behind the letters, the first one in the lowest byte. */
// @ts-ignore: decorator
@inline const FIVE_OTHERS: u64 = 0x20403a5f2d2e;

// @ts-ignore: decorator
@inline function isBetween(c: u32, low: u32, high: u32): bool { return c - low <= high - low; }

// --- Alphabets
// ------------------------------------------------------------------------------------------------

/** Where `c` is among the characters of FIVE behind the letters, which must have it. */
function placeInOthers(c: u32): u32 {
  let place: u32 = 0;
  for (let others = FIVE_OTHERS; <u32>others != 0; others >>= 8, place++) {
    if (<u32>(others & 0xff) == c) break;
  }
  return place;
}

/** The alphabets that have the character. */
function alphabetsOf(c: u32): u32 {
  if (isBetween(c, 0x61, 0x7a)) return ALL;
  if (isBetween(c, 0x30, 0x39)) return LOWER | MIXED;
  if (isBetween(c, 0x41, 0x5a)) return MIXED;
  if (c == 0x2d || c == 0x5f) return ALL;
  if (c == 0x20 || c == 0x2e || c == 0x3a || c == 0x40) return FIVE | LOWER;
  return isBetween(c, 0x20, 0x40) || isBetween(c, 0x7b, 0x7e) ? LOWER : 0;
}

function valueInLower(c: u32): u32 {
  if (isBetween(c, 0x61, 0x7a)) return c - 0x61;
  if (isBetween(c, 0x30, 0x39)) return c - 0x30 + 26;
  if (isBetween(c, 0x20, 0x2f)) return c - 0x20 + 36;
  if (isBetween(c, 0x3a, 0x40)) return c - 0x3a + 52;
  return c == 0x5f ? 59 : c - 0x7b + 60;
}

function valueInMixed(c: u32): u32 {
  if (isBetween(c, 0x61, 0x7a)) return c - 0x61 + 26;
  if (isBetween(c, 0x41, 0x5a)) return c - 0x41;
  return isBetween(c, 0x30, 0x39) ? c - 0x30 + 52 : c == 0x2d ? 62 : 63;
}

/** The value of a character that the alphabet has. */
function valueIn(alphabet: u32, c: u32): u32 {
  if (alphabet == LOWER) return valueInLower(c);
  if (alphabet == MIXED) return valueInMixed(c);
  return isBetween(c, 0x61, 0x7a) ? c - 0x61 : 26 + placeInOthers(c);
}

/** The character of a value of 0 to 63, or for FIVE to 31. */
function characterIn(alphabet: u32, value: u32): u32 {
  if (alphabet == MIXED) {
    if (value < 26) return 0x41 + value;
    return value < 52 ? 0x61 + value - 26 : value < 62 ? 0x30 + value - 52 : value == 62 ? 0x2d : 0x5f;
  }
  if (value < 26) return 0x61 + value;
  if (alphabet == FIVE) return <u32>(FIVE_OTHERS >> (<u64>(value - 26) << 3)) & 0xff;
  if (value < 36) return 0x30 + value - 26;
  if (value < 59) return value < 52 ? 0x20 + value - 36 : 0x3a + value - 52;
  return value == 59 ? 0x5f : 0x7b + value - 60;
}

// @ts-ignore: decorator
@inline function bitsOf(alphabet: u32): u32 { return alphabet == FIVE ? 5 : 6; }

// --- Records
// --------------------------------------------------------------------------------------------------

/** The least first byte of records of an alphabet, that of the shortest names; and their length. */
// @ts-ignore: decorator
@inline function codeOf(alphabet: u32): u32 {
  return alphabet == FIVE ? Code.FIVE : alphabet == LOWER ? Code.SIX : Code.MIXED;
}

// @ts-ignore: decorator
@inline function leastOf(alphabet: u32): u32 { return alphabet == MIXED ? 5 : 4; }
// @ts-ignore: decorator
@inline function alphabetOf(code: u32): u32 {
  return code < Code.SIX ? FIVE : code < Code.MIXED ? LOWER : MIXED;
}

/** The characters of the name of a record with this first byte. */
// @ts-ignore: decorator
@inline function lengthOf(code: u32): u32 {
  const alphabet = alphabetOf(code);
  return code - codeOf(alphabet) + leastOf(alphabet);
}

/** The bytes of a record with this first byte. */
export function textBytes(code: u32): usize {
  return 1 + <usize>((lengthOf(code) * bitsOf(alphabetOf(code)) + 7) >> 3);
}

/** The alphabet in which a name is kept; 0 if it is in none, or too short or too long. */
function alphabetFor(name: usize, length: u32): u32 {
  if (length < 4 || length > 22) return 0;
  let alphabets = ALL;
  for (let i: u32 = 0; i < length && alphabets; i++) alphabets &= alphabetsOf(right.load8(name + i, 0));
  if (alphabets & FIVE && length <= 19) return FIVE;
  if (alphabets & LOWER && length <= 20) return LOWER;
  return length > 4 ? alphabets & MIXED : 0;
}

/** Packs a name that `right` shows; returns 0 if no alphabet suits it. */
export function packText(to: usize, name: usize, length: u32): usize {
  const alphabet = alphabetFor(name, length), bits = <u64>bitsOf(alphabet);
  if (!alphabet) return 0;
  let word: u64 = 0, have: u64 = 0, at = to + 1;
  for (let i: u32 = 0; i < length; i++) {
    word |= <u64>valueIn(alphabet, right.load8(name + i, 0)) << have;
    have += bits;
    if (have >= 32) { store<u32>(at, <u32>word); at += 4; word >>= 32; have -= 32; }
  }
  store<u64>(at, word);
  store<u8>(to, codeOf(alphabet) + length - leastOf(alphabet));
  return at + <usize>((have + 7) >> 3) - to;
}

/** Writes the name of the record at `at` of `left`, and returns its length. */
export function unpackText(to: usize, at: usize): u32 {
  const code = left.load8(at, 0), length = lengthOf(code);
  const alphabet = alphabetOf(code), bits = <u64>bitsOf(alphabet);
  let word: u64 = 0, have: u64 = 0;
  for (let i: u32 = 0; i < length; i++) {
    if (have < bits) { word |= <u64>left.load8(++at, 0) << have; have += 8; }
    store<u8>(to + i, characterIn(alphabet, <u32>word & ((1 << <u32>bits) - 1)));
    word >>= bits;
    have -= bits;
  }
  return length;
}
