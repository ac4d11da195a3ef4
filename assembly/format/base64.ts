// Base64 text: four characters for three bytes, in the usual alphabet or that for URLs, with or without padding
// and line breaks.

import { output, right } from "../env/memory";

/** Not a value of a character. */
// @ts-ignore: decorator
@inline const NO_VALUE: u32 = 64;

// @ts-ignore: decorator
@inline export function isLineBreak(c: u32): bool { return c == 10 || c == 13; }

// @ts-ignore: decorator
@inline function isBetween(c: u32, first: u32, last: u32): bool { return c - first <= last - first; }

/** The six bits of a character, or NO_VALUE. */
function valueOf(c: u32): u32 {
  if (isBetween(c, 0x41, 0x5a)) return c - 0x41;                      // A to Z
  if (isBetween(c, 0x61, 0x7a)) return c - 0x61 + 26;                 // a to z
  if (isBetween(c, 0x30, 0x39)) return c - 0x30 + 52;                 // 0 to 9
  if (c == 0x2b || c == 0x2d) return 62;                              // + and -
  return c == 0x2f || c == 0x5f ? 63 : NO_VALUE;                      // / and _
}

/** Whether operand 0, which `right` shows, is Base64 text of at least one byte. */
export function isBase64(): bool {
  let values: u64 = 0, padding: u32 = 0;
  for (let at: u32 = 0, size = right.size(); at < size; at++) {
    const c = right.load8(at, 0);
    if (isLineBreak(c)) continue;
    if (c == 0x3d) padding++;                                         // =
    else if (padding || valueOf(c) == NO_VALUE) return false;
    else values++;
  }
  const last = values & 3;
  return values > 1 && last != 1 && (!padding || padding == (last ? 4 - last : 0));
}

/** Writes the bytes of the Base64 text of operand 0 to the output, and returns how many there are. */
export function decodeBase64(): u32 {
  right.select(0);
  let bits: u32 = 0, held: u32 = 0, bytes: u32 = 0;
  for (let at: u32 = 0, size = right.size(); at < size; at++) {
    const value = valueOf(right.load8(at, 0));
    if (value == NO_VALUE) continue;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    output.put(bits >> held & 0xff, 1);
    bytes++;
  }
  return bytes;
}
