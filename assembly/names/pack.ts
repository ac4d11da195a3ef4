// From names to records. `right` shows the name, and the record is written to memory 0. `name` is where the
// name begins there.

import { right } from "../env/memory";
import { Digits, ZEROS } from "./digits";
import { Code } from "./code";
import { UUID_BYTES } from "./record";
import { packText } from "./text";

/** The most digits of a decimal number of 64 bits, and of a record of hexadecimal digits. */
// @ts-ignore: decorator
@inline const DECIMAL_MOST: u32 = 20, HEX_MOST: u32 = 64;
/** The characters of a UUID, and the character between its groups. */
// @ts-ignore: decorator
@inline const UUID_LENGTH: u32 = 36, DASH: u32 = 0x2d;
// @ts-ignore: decorator
@inline const ZERO: u32 = 0x30;

/** `count` characters (1 to 7) at `at`, and zeros behind them. */
function someCharacters(at: usize, count: u32): u64 {
  let text = ZEROS;
  for (let i: u32 = count; i-- > 0;) text = (text << 8) | <u64>right.load8(at + i, 0);
  return text;
}

/** Eight characters from number `at` on of `length` characters, of which those behind the end are zeros. */
// @ts-ignore: decorator
@inline function characters(name: usize, at: u32, length: u32): u64 {
  return at + 8 <= length ? right.load64(name + at, 0) : someCharacters(name + at, length - at);
}

/** Packs a decimal number; returns 0 if the name is none of 64 bits, or has zeros before it. */
function packDecimal(to: usize, name: usize, length: u32): usize {
  if (length < 2 || length > DECIMAL_MOST || right.load8(name, 0) == ZERO) return 0;
  let number: u64 = 0;
  for (let i: u32 = 0; i < length; i++) {
    const digit = <u64>right.load8(name + i, 0) - ZERO;
    if (digit > 9) return 0;
    if (i == DECIMAL_MOST - 1 && number > (u64.MAX_VALUE - digit) / 10) return 0;
    number = number * 10 + digit;
  }
  const bytes = (71 - <u32>clz<u64>(number)) >> 3;
  store<u8>(to, Code.DECIMAL + bytes - 1);
  store<u64>(to, number, 1);
  return 1 + bytes;
}

/** Four characters at `at + first`, and four at `at + second`; both are constants. */
// @ts-ignore: decorator
@inline function groupsAt(at: usize, first: u32, second: u32): u64 {
  return <u64>right.load32(at, first) | (<u64>right.load32(at, second) << 32);
}

// @ts-ignore: decorator
@inline function isDash(at: usize, offset: u32): bool { return right.load8(at, offset) == DASH; }

/** Packs a UUID; returns 0 if the name is none. */
function packUuid(to: usize, name: usize): usize {
  if (!(isDash(name, 8) && isDash(name, 13) && isDash(name, 18) && isDash(name, 23))) return 0;
  const a = right.load64(name, 0), b = groupsAt(name, 9, 14), c = groupsAt(name, 19, 24);
  const d = right.load64(name, 28);
  const upper = Digits.areUpper(a) || Digits.areUpper(b) || Digits.areUpper(c) || Digits.areUpper(d);
  const u = Digits.values(a), v = Digits.values(b), w = Digits.values(c), x = Digits.values(d);
  const isOne = Digits.areRight(a, u, upper) && Digits.areRight(b, v, upper) && Digits.areRight(c, w, upper)
    && Digits.areRight(d, x, upper);
  if (!isOne) return 0;
  store<u8>(to, Code.UUID + u32(upper));
  store<u32>(to, Digits.pack(u), 1);
  store<u32>(to, Digits.pack(v), 5);
  store<u32>(to, Digits.pack(w), 9);
  store<u32>(to, Digits.pack(x), 13);
  return 1 + UUID_BYTES;
}

/** Packs hexadecimal digits; returns 0 if the name has other characters, or letters of both cases. */
function packHex(to: usize, name: usize, length: u32): usize {
  if (length & 1 || length > HEX_MOST) return 0;
  let upper = false;
  for (let at: u32 = 0; at < length; at += 8) {
    if (Digits.areUpper(characters(name, at, length))) upper = true;
  }
  for (let at: u32 = 0; at < length; at += 8) {
    const text = characters(name, at, length), values = Digits.values(text);
    if (!Digits.areRight(text, values, upper)) return 0;
    store<u32>(to + 1 + (at >> 1), Digits.pack(values));
  }
  store<u8>(to, (upper ? Code.UPPER : Code.LOWER) + (length >> 1) - 1);
  return 1 + (length >> 1);
}

/** Copies the name as it is. */
function packAsItIs(to: usize, name: usize, length: u32): usize {
  if (length < Code.LOWER) {
    store<u8>(to, length);
    right.copy(to + 1, name, length);
    return 1 + length;
  }
  store<u8>(to, Code.LONG);
  store<u16>(to, length, 1);
  right.copy(to + 3, name, length);
  return 3 + length;
}

/**
 * Writes the record of a name of 1 to NAME_MOST bytes to `to`, and returns its bytes. It takes no more than the
 * name and 3 bytes; up to 8 bytes behind it have no meaning afterwards.
 */
export function packName(to: usize, name: usize, length: u32): usize {
  let bytes = packDecimal(to, name, length);
  if (!bytes && length == UUID_LENGTH) bytes = packUuid(to, name);
  if (!bytes) bytes = packHex(to, name, length);
  if (!bytes) bytes = packText(to, name, length);
  return bytes ? bytes : packAsItIs(to, name, length);
}
