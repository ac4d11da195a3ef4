// The payload of a 64-bit bitmap: the portable 64-bit stream of the format spec. In this file,
// a bucket is the spec's 64-bit bucket: the 32-bit bitmap of all offsets that share their high 32 bits.
//
//   u64 buckets, then per bucket, ascending:
//   u32 high half of its offsets, a portable 32-bit stream (portable.ts)
//
// This stream has a payload for each container. A FULL entry of the directory can stand for 2^45 of them,
// which would take petabytes. So if SPELLED_OUT or more containers have no entry of their own, the payload is
// written in parts, where a span is a range of full containers. Its first word cannot be a number of buckets:
//
//   u64 PARTS, u64 parts, then per part, ascending, one of:
//     u64 high half, a portable 32-bit stream of that bucket or of a piece of it
//     u64 SPAN + number of containers, u64 key of the first one: a span

import { Side, output, right, segments } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { appendFull, finish, nextKey } from "../arena/builder/builder";
import { begin } from "../arena/builder/state";
import { Stream } from "./portable";
import { Kind } from "../container/kind";

/** Writes and reads payloads of 64-bit offsets, as a stream or in parts. */
abstract class WideStream {
  /**
   * From this many containers on that have no entry of their own, WHEN_LONG writes parts:
   * in a stream they take 14 MB.
   */
  @inline private static readonly SPELLED_OUT: u64 = 1 << 20;
  /**
   * Most containers without an entry of their own for which the stream's bytes are counted.
   * More take at least 4 GB.
   */
  @inline static readonly COUNTABLE: u64 = 1 << 29;
  /** First word of a payload in parts. */
  @inline static readonly PARTS: u64 = 0xffffffffffffffff;
  /** Marks a part that is a span. */
  @inline static readonly SPAN: u64 = (<u64>1) << 63;
  /**
   * Fewest containers of a span. In a stream, three full containers take 42 bytes,
   * as much as a span and the stream that it cuts in two.
   */
  @inline private static readonly SPAN_LEAST: u64 = 3;

  // --- Writing -----------------------------------------------------------------------------------------------

  /** Containers of memory 0 that have no entry of their own: all but one of each FULL entry. */
  static spannedContainers(): u64 {
    let containers: u64 = 0;
    for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
      containers += Place.entry(place).span<Own>() - 1;
    }
    return containers;
  }

  @inline private static isSpan(entry: Entry): bool {
    return entry.kind<Own>() == Kind.FULL && entry.span<Own>() >= WideStream.SPAN_LEAST;
  }

  /** The place of the first container after `key`, searched from `place` on. */
  @inline static placeBeyond(place: u64, key: u64): u64 {
    if (key >= Offset.KEY_MAX) return 0;
    return segments.are(Side.OWN) ? Directory.seek<Own>(key + 1) : Directory.seekFrom<Own>(place, key + 1);
  }

  /**
   * The last key of the part that begins with `key` at `place`: it ends with its bucket or before a span.
   * The part of a span is the span.
   */
  static partEnd(place: u64, key: u64, parts: bool): u64 {
    const bucketEnd = key | (Stream.KEYS - 1), home = segments.at(Side.OWN);
    let end = bucketEnd;
    for (; parts && place; place = Place.next<Own>(place)) {
      const entry = Place.entry(place);
      if (entry.key<Own>() > bucketEnd) break;
      if (!WideStream.isSpan(entry)) continue;
      end = entry.key<Own>() <= key ? entry.lastKey<Own>() : entry.key<Own>() - 1;
      break;
    }
    segments.show(Side.OWN, home);
    return end;
  }

  @inline static isSpanPart(place: u64, key: u64, end: u64): bool {
    return end - key >= WideStream.SPAN_LEAST - 1 && WideStream.isSpan(Place.entry(place));
  }

  @inline static inParts(when: Parts, spanned: u64): bool {
    return when == Parts.WHEN_LONG
      ? spanned >= WideStream.SPELLED_OUT
      : when == Parts.WHEN_ANY && spanned >= WideStream.SPAN_LEAST - 1;
  }

  static countParts(parts: bool): u64 {
    let count: u64 = 0;
    for (let place = Directory.seek<Own>(0), from: u64 = 0; place; count++) {
      const end = WideStream.partEnd(place, max(from, Place.entry(place).key<Own>()), parts);
      place = WideStream.placeBeyond(place, end);
      from = end + 1;
    }
    return count;
  }

  // --- Reading -----------------------------------------------------------------------------------------------
  // A payload may be longer than an operand can be, so it is shown in windows: operand k shows it from byte
  // k << shift on, up to its end or the greatest size of an operand. A bucket that begins before the next
  // window ends within that, so it is read from a single window.

  /** Shows the window in which byte `at` of the payload lies, and returns the byte's address there. */
  @inline static showWindow(at: u64, shift: u32): u64 {
    right.select(<u32>(at >> shift));
    return at & ((<u64>1 << shift) - 1);
  }

  static readParts(size: u64, shift: u32): Fault {
    if (size < 16) return Fault.CUT_SHORT;
    begin(size / 2 + 16, 0);                    // 16 bytes can be 8 entries: a span
    let at: u64 = 16;
    for (let i: u64 = 0, parts = right.load64(8, 0); i < parts; i++) {
      if (at + 16 > size) return Fault.CUT_SHORT;
      const from = WideStream.showWindow(at, shift), head = right.load64(<usize>from, 0);
      if (head & WideStream.SPAN) {
        const key = right.load64(<usize>from, 8), containers = head - WideStream.SPAN;
        if (key < nextKey()) return Fault.KEYS_NOT_ASCENDING;
        if (!containers || key > Offset.KEY_MAX || containers > Offset.KEY_MAX + 1 - key) {
          return Fault.KEY_TOO_GREAT;
        }
        appendFull(key, containers);
        at += 16;
        continue;
      }
      if (head > 0xffffffff) return Fault.KEY_TOO_GREAT;
      const end = Stream.read(<u32>(at >> shift), from + 8, head << 16, true);
      if (end >> 32) return <Fault>(end >> 32);
      at += end - from;
    }
    if (at != size) return Fault.TRAILING_BYTES;
    finish();
    return Fault.NONE;
  }
}

/**
 * When to write a payload in parts: never, so that any reader of the format accepts it; if it would be long;
 * or if there is any span.
 */
export const enum Parts { NEVER, WHEN_LONG, WHEN_ANY }

/** Bytes of the payload; 2^64 - 1 if it is not in parts and too long for any use. */
export function wideBytes(when: Parts): u64 {
  const spanned = WideStream.spannedContainers(), parts = WideStream.inParts(when, spanned);
  if (!parts && spanned > WideStream.COUNTABLE) return u64.MAX_VALUE;
  let bytes: u64 = parts ? 16 : 8;
  for (let place = Directory.seek<Own>(0), from: u64 = 0; place;) {
    const key = max(from, Place.entry(place).key<Own>()), end = WideStream.partEnd(place, key, parts);
    if (parts) bytes += 8 + (WideStream.isSpanPart(place, key, end) ? 8 : Stream.bytes(place, key, end));
    else bytes += 4 + Stream.bytes(place, key, end);
    place = WideStream.placeBeyond(place, end);
    from = end + 1;
  }
  return bytes;
}

/** Writes the payload. */
export function writeWide(when: Parts): void {
  const parts = WideStream.inParts(when, WideStream.spannedContainers());
  if (parts) output.put(WideStream.PARTS, 8);
  output.put(WideStream.countParts(parts), 8);
  for (let place = Directory.seek<Own>(0), from: u64 = 0; place;) {
    const key = max(from, Place.entry(place).key<Own>()), end = WideStream.partEnd(place, key, parts);
    if (parts && WideStream.isSpanPart(place, key, end)) {
      output.put(WideStream.SPAN + (end - key + 1), 8);
      output.put(key, 8);
    } else {
      output.put(key >> 16, parts ? 8 : 4);
      Stream.write(place, key, end);
    }
    place = WideStream.placeBeyond(place, end);
    from = end + 1;
  }
}

/** Whether the payload of `size` bytes, whose beginning `right` shows, is in parts. */
export function isParts(size: u64): bool { return size >= 8 && right.load64(0, 0) == WideStream.PARTS; }

/** Builds the bitmap of the payload of `size` bytes, a stream or parts, in memory 0, a fresh arena. */
export function readWide(size: u64, shift: u32): Fault {
  right.select(0);
  return isParts(size) ? WideStream.readParts(size, shift) : readPortableWide(size, shift);
}

/** Builds the bitmap of a stream in memory 0, a fresh arena. */
export function readPortableWide(size: u64, shift: u32): Fault {
  if (size < 8) return Fault.CUT_SHORT;
  right.select(0);
  const buckets = right.load64(0, 0);
  begin(size / 9 + 1, 0);                     // 27 bytes can be 3 entries: a bucket
  let at: u64 = 8, least: u64 = 0;
  for (let i: u64 = 0; i < buckets; i++) {
    if (at + 4 > size) return Fault.CUT_SHORT;
    const from = WideStream.showWindow(at, shift), high = <u64>right.load32(<usize>from, 0);
    if (high < least) return Fault.KEYS_NOT_ASCENDING;
    least = high + 1;
    const end = Stream.read(<u32>(at >> shift), from + 4, high << 16, true);
    if (end >> 32) return <Fault>(end >> 32);
    at += end - from;
  }
  if (at != size) return Fault.TRAILING_BYTES;
  finish();
  return Fault.NONE;
}
