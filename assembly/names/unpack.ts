// From records to names. `left` shows the record, and the name is written to memory 0.

import { left } from "../env/memory";
import { Left } from "../env/view";
import { Digits } from "./digits";
import { Code } from "./code";
import { Record } from "./record";
import { unpackText } from "./text";

/** Writes eight digits for the four bytes at `from`. */
// @ts-ignore: decorator
@inline function unpackDigits(to: usize, from: usize, upper: bool): void {
  store<u64>(to, Digits.text(Digits.unpack(left.load32(from, 0)), upper));
}

/** The last `bytes` bytes (1 to 3) of digits. */
function unpackRest(to: usize, from: usize, bytes: usize, upper: bool): void {
  let packed: u32 = 0;
  for (let i = bytes; i-- > 0;) packed = (packed << 8) | left.load8(from + i, 0);
  store<u64>(to, Digits.text(Digits.unpack(packed), upper));
}

function unpackHex(to: usize, from: usize, bytes: usize, upper: bool): u32 {
  let at: usize = 0;
  for (; at + 4 <= bytes; at += 4) unpackDigits(to + 2 * at, from + at, upper);
  if (at < bytes) unpackRest(to + 2 * at, from + at, bytes - at, upper);
  return <u32>bytes << 1;
}

function unpackDecimal(to: usize, from: usize, bytes: usize): u32 {
  let number: u64 = 0;
  for (let i = bytes; i-- > 0;) number = (number << 8) | left.load8(from + i, 0);
  let length: u32 = 1;
  for (let rest = number / 10; rest; rest /= 10) length++;
  for (let at = length; at-- > 0; number /= 10) store<u8>(to + at, 0x30 + number % 10);
  return length;
}

function unpackUuid(to: usize, from: usize, upper: bool): u32 {
  const b = Digits.text(Digits.unpack(left.load32(from, 4)), upper);
  const c = Digits.text(Digits.unpack(left.load32(from, 8)), upper);
  unpackDigits(to, from, upper);
  store<u8>(to, 0x2d, 8);
  store<u32>(to, <u32>b, 9);
  store<u8>(to, 0x2d, 13);
  store<u32>(to, <u32>(b >> 32), 14);
  store<u8>(to, 0x2d, 18);
  store<u32>(to, <u32>c, 19);
  store<u8>(to, 0x2d, 23);
  store<u32>(to, <u32>(c >> 32), 24);
  unpackDigits(to + 28, from + 12, upper);
  return 36;
}

/**
 * Writes the name of the record at `at` to `to`, and returns its length. Up to 8 bytes behind it have no
 * meaning afterwards.
 */
export function unpackName(at: usize, to: usize): u32 {
  const code = left.load8(at, 0);
  if (code >= Code.UUID && code < Code.FIVE) return unpackUuid(to, at + 1, code != Code.UUID);
  if (code >= Code.FIVE && code < Code.WIDE_HOLE) return unpackText(to, at);
  const skipped: usize = code == Code.LONG ? 3 : 1, bytes = Record.bytes<Left>(at) - skipped;
  if (code >= Code.DECIMAL && code < Code.UUID) return unpackDecimal(to, at + 1, bytes);
  if (code >= Code.LOWER && code < Code.DECIMAL) return unpackHex(to, at + 1, bytes, code >= Code.UPPER);
  left.copy(to, at + skipped, bytes);
  return <u32>bytes;
}
