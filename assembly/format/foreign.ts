// Payloads that IMPORT takes, told apart by their form, and the names of some that it does not take.
//
// The forms of 64-bit bitmaps (wide.ts), of 32-bit ones (portable.ts), CRoaring's own (native.ts) and Java's
// (legacy.ts) begin differently, up to coincidences that no writer produces. In a 64-bit stream, the first
// word is a number of buckets, so its upper half is 0; in a 32-bit stream it is not. CRoaring's lists have the
// length that follows from their count. Where Java's form is possible, its whole structure is checked. A text
// consists of characters that no other form begins with.

import { right } from "../env/memory";
import { Fault } from "../env/fault";
import { isBase64, isLineBreak } from "./base64";
import { isLegacy, readLegacy } from "./legacy";
import { isNative, readNative } from "./native";
import { Stream, readPortable } from "./portable";
import { isParts, readPortableWide, readWide } from "./wide";

/** Builds the bitmap of a payload of `size` bytes of 32-bit offsets, whatever its form. */
export function readAny(size: u64): Fault {
  right.select(0);
  if (size > u32.MAX_VALUE) return Fault.TOO_LONG;
  return named(isNative() ? readNative() : readPortable(), false);
}

/** The same for 64-bit offsets. The operands show the payload in windows 1 << shift bytes apart (wide.ts). */
export function readAnyWide(size: u64, shift: u32): Fault {
  right.select(0);
  if (isParts(size)) return readWide(size, shift);
  if (size > u32.MAX_VALUE) return readPortableWide(size, shift);
  if (isNarrowStream()) return named(readPortable(), true);
  // An empty list of CRoaring's may just as well be a 64-bit stream of one bucket that is cut short.
  if (isNative() && size > 5) return named(readNative(), true);
  return isLegacy() ? readLegacy() : named(readPortableWide(size, shift), true);
}

/** Whether the payload begins as a 32-bit stream, and not as a 64-bit one. */
function isNarrowStream(): bool {
  const size = right.size();
  return size >= 8 && Stream.beginsAt(0) && (right.load32(4, 0) != 0 || (size == 8 && Stream.isEmptyAt(0)));
}

/** Whether it begins as a 64-bit stream that is not empty. */
function isWideStream(): bool {
  return right.size() >= 20 && !right.load32(4, 0) && Stream.beginsAt(12);
}

/** The fault of a payload, or what the payload looks like if that is known. */
function named(fault: Fault, wide: bool): Fault {
  if (fault == Fault.NONE) return fault;
  right.select(0);
  const size = right.size();
  if (!size) return fault;
  if (!wide && (isParts(size) || isWideStream() || isLegacy())) return Fault.HAS_WIDE_OFFSETS;
  const text = textFault(size);
  if (text != Fault.NONE) return text;
  const first = right.load8(0, 0);
  const four = size >= 4 ? right.load32(0, 0) : 0;
  if (four == 0x0500edac) return Fault.JAVA_OBJECT;
  if ((four & 0xffff) == 0x8b1f) return Fault.GZIP;
  if (first == DUMPED && size > DUMP_END && right.load16(size - DUMP_END, 0) < 256) return Fault.DUMPED;
  if (isClickHouse(size, first)) return Fault.CLICK_HOUSE;
  if (isDoris(size, first)) return Fault.DORIS;
  if (size >= 4 && (right.load32(size - 4, 0) & 0x7fff) == FROZEN) return Fault.FROZEN;
  if (fault == Fault.TRAILING_BYTES && right.load8(size - 1, 0) == 10) return Fault.LINE_FEED;
  return fault;
}

/** What DUMP returns for a value of a module: its first byte, and the bytes of a version and a checksum. */
// @ts-ignore: decorator
@inline const DUMPED: u32 = 7;
// @ts-ignore: decorator
@inline const DUMP_END: u32 = 10;
/** The low bits of the last word of CRoaring's frozen form. */
// @ts-ignore: decorator
@inline const FROZEN: u32 = 13766;

// --- Text --------------------------------------------------------------------------------------------------

/** What a text is; Fault.NONE if it is none of these. */
function textFault(size: u32): Fault {
  if (isQuoted(size)) return Fault.QUOTED;
  if (isHexadecimal(size)) return Fault.HEXADECIMAL;
  return isBase64() ? Fault.BASE64 : Fault.NONE;
}

/** Whether it looks like "\x3a0\x00", with the quotes, as redis-cli shows bytes. */
function isQuoted(size: u32): bool {
  return size >= 6 && right.load8(0, 0) == 0x22 && right.load16(1, 0) == 0x785c;
}

/**
 * Whether all characters are hexadecimal digits, and the first is one of 0 to 9. As Base64, that would be a
 * byte that no payload begins with, but a 64-bit stream of many buckets, whose text has other characters, too.
 */
function isHexadecimal(size: u32): bool {
  if (right.load8(0, 0) - 0x30 > 9) return false;
  for (let at: u32 = 0; at < size; at++) {
    const c = right.load8(at, 0);
    if (c - 0x30 > 9 && (c | 0x20) - 0x61 > 5 && !isLineBreak(c)) return false;
  }
  return true;
}

// --- Values of databases ---------------------------------------------------------------------------------

/** The LEB128 number at `at`: seven bits a byte, from the lowest on. In the top byte, its bytes. 0 if cut. */
function leb128(at: u32, size: u32): u64 {
  let value: u64 = 0;
  for (let i: u32 = 0; i < 5 && at + i < size; i++) {
    const byte = <u64>right.load8(at + i, 0);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value | <u64>(i + 1) << 56;
  }
  return 0;
}

/**
 * The state of ClickHouse's groupBitmap: a 0, the number of values, and the values, of 1 to 8 bytes each; or a
 * 1, the length of the rest in LEB128, and a stream.
 */
function isClickHouse(size: u32, first: u32): bool {
  if (size < 3 || first > 1) return false;
  if (first == 0) {
    const values = right.load8(1, 0), bytes = size - 2;
    return values > 0 && values <= 32 && bytes % values == 0 && bytes / values <= 8
      && popcnt(bytes / values) == 1;
  }
  const length = leb128(1, size), rest = 1 + <u32>(length >> 56);
  return length != 0 && size - rest == <u32>length && size - rest >= 8;
}

/** The first byte of a bitmap of Apache Doris or StarRocks. One with BITMAP32, 2, is CRoaring's own form. */
const enum Doris {
  EMPTY, SINGLE32, BITMAP32, SINGLE64, BITMAP64, FEW,
  SET = 10, BITMAP32_V2 = 12, BITMAP64_V2 = 13,
}

function isDoris(size: u32, first: u32): bool {
  switch (first) {
    case Doris.EMPTY: return size == 1;
    case Doris.SINGLE32: return size == 5 && right.load32(1, 0) != 0;
    case Doris.SINGLE64: return size == 9;
    case Doris.FEW: return size > 2 && size == 2 + 8 * right.load8(1, 0);
    case Doris.SET: return size >= 5 && size - 5 == 8 * right.load32(1, 0);
    case Doris.BITMAP32_V2: return size > 5 && (right.load8(1, 0) == 1 || right.load8(1, 0) == 2);
    case Doris.BITMAP64:
    case Doris.BITMAP64_V2: {
      const buckets = leb128(1, size), high = 1 + <u32>(buckets >> 56);
      return <u32>buckets != 0 && (first == Doris.BITMAP64_V2 || Stream.beginsAt(high + 4));
    }
    default: return false;
  }
}
