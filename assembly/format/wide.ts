// The payload of a 64-bit bitmap: the portable 64-bit stream,
//
//   u64 buckets, then per bucket, ascending: u32 high half of its offsets, and a portable 32-bit stream (portable.ts)
//
// A bucket stream spells every container out, so what one directory entry holds, a range of 2^60 members, would take petabytes. From
// SPELLED_OUT containers on that have no entry of their own, the payload is written in parts, with a first word that no number of buckets
// can be:
//
//   u64 PARTS, u64 parts, then per part, ascending:
//     u64 high half, and a portable 32-bit stream of that bucket or of a piece of it
//     u64 SPAN + containers, u64 key of the first: that many full containers

import { output, right } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { KEY_MAX, Kind, entryKey, entryKind, entryLastKey, entrySpan } from "../arena/entry";
import { advance, placeEntry, seek, seekFrom } from "../arena/directory";
import { appendFull, begin, finish, nextKey } from "../arena/builder";
import { readStream, streamBytes, writeStream } from "./portable";

/** So many containers of spans, the first of each not counted, are too many to spell out: 14 MB of a payload. */
// @ts-ignore: decorator
@inline const SPELLED_OUT: u64 = 1 << 20;
/** Most containers whose bytes are counted bucket by bucket; with more a payload takes 4 GB at the least. */
// @ts-ignore: decorator
@inline const COUNTABLE: u64 = 1 << 29;
// @ts-ignore: decorator
@inline const PARTS: u64 = 0xffffffffffffffff;
// @ts-ignore: decorator
@inline const SPAN: u64 = (<u64>1) << 63;
// @ts-ignore: decorator
@inline const BUCKET_KEYS: u64 = 65536;
/** So many full containers are a part of their own: spelled out they take 42 bytes, as a span and the stream that it cuts in two do. */
// @ts-ignore: decorator
@inline const SPAN_LEAST: u64 = 3;

// --- Writing ------------------------------------------------------------------------------------------------------------------

/** Containers of memory 0 that have no entry of their own: all of a span but one. */
function spannedContainers(): u64 {
  let containers: u64 = 0;
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    containers += entrySpan<Own>(placeEntry(place)) - 1;
  }
  return containers;
}

// @ts-ignore: decorator
@inline function isSpan(entry: usize): bool { return entryKind<Own>(entry) == Kind.FULL && entrySpan<Own>(entry) >= SPAN_LEAST; }

/** The place of the first container after `key`, looked for from `place` on. */
// @ts-ignore: decorator
@inline function placeAfter(place: u64, key: u64): u64 { return key < KEY_MAX ? seekFrom<Own>(place, key + 1) : 0; }

/** Where the part ends that begins at container `key`, at `place`: with its bucket or before a span; a span's part is the span. */
function partEnd(place: u64, key: u64, parts: bool): u64 {
  const bucketEnd = key | (BUCKET_KEYS - 1);
  if (!parts) return bucketEnd;
  for (; place; place = advance<Own>(place)) {
    const entry = placeEntry(place);
    if (entryKey<Own>(entry) > bucketEnd) break;
    if (!isSpan(entry)) continue;
    return entryKey<Own>(entry) <= key ? entryLastKey<Own>(entry) : entryKey<Own>(entry) - 1;
  }
  return bucketEnd;
}

// @ts-ignore: decorator
@inline function isSpanPart(place: u64, key: u64, end: u64): bool { return end - key >= SPAN_LEAST - 1 && isSpan(placeEntry(place)); }

/** Whether a payload is in parts: never, so that anyone reads it; when it would be long; or when there is a span to name. */
export const enum Parts { NEVER, WHEN_LONG, WHEN_ANY }

// @ts-ignore: decorator
@inline function inParts(when: Parts, spanned: u64): bool {
  return when == Parts.WHEN_LONG ? spanned >= SPELLED_OUT : when == Parts.WHEN_ANY && spanned >= SPAN_LEAST - 1;
}

/** Bytes of the payload. If it is not in parts, 2^64 - 1 stands for more than any use is made of. */
export function wideBytes(when: Parts): u64 {
  const spanned = spannedContainers(), parts = inParts(when, spanned);
  if (!parts && spanned > COUNTABLE) return u64.MAX_VALUE;
  let bytes: u64 = parts ? 16 : 8;
  for (let place = seek<Own>(0), from: u64 = 0; place;) {
    const key = max(from, entryKey<Own>(placeEntry(place))), end = partEnd(place, key, parts);
    if (parts) bytes += 8 + (isSpanPart(place, key, end) ? 8 : streamBytes(place, key, end));
    else bytes += 4 + streamBytes(place, key, end);
    place = placeAfter(place, end);
    from = end + 1;
  }
  return bytes;
}

/** Writes it. */
export function writeWide(when: Parts): void {
  const parts = inParts(when, spannedContainers());
  if (parts) output.put(PARTS, 8);
  output.put(countParts(parts), 8);
  for (let place = seek<Own>(0), from: u64 = 0; place;) {
    const key = max(from, entryKey<Own>(placeEntry(place))), end = partEnd(place, key, parts);
    if (parts && isSpanPart(place, key, end)) {
      output.put(SPAN + (end - key + 1), 8);
      output.put(key, 8);
    } else {
      output.put(key >> 16, parts ? 8 : 4);
      writeStream(place, key, end);
    }
    place = placeAfter(place, end);
    from = end + 1;
  }
}

function countParts(parts: bool): u64 {
  let count: u64 = 0;
  for (let place = seek<Own>(0), from: u64 = 0; place; count++) {
    const end = partEnd(place, max(from, entryKey<Own>(placeEntry(place))), parts);
    place = placeAfter(place, end);
    from = end + 1;
  }
  return count;
}

// --- Reading ------------------------------------------------------------------------------------------------------------------
// A payload may be longer than an operand can be, so it lies in windows: operand k shows it from byte k << shift on, to its end or as far
// as an operand reaches. That is farther than a bucket that begins before the next window, so each is read from one.

/** Makes memory 0, which is fresh, the bitmap of the payload of `size` bytes. */
export function readWide(mayPart: bool, size: u64, shift: u32): Fault {
  if (size < 8) return Fault.CUT_SHORT;
  right.select(0);
  const first = right.load64(0, 0), parts = first == PARTS && mayPart;
  begin(parts ? size / 2 + 16 : size / 9 + 1, 0);             // a span's eight entries take 16 bytes, three containers of a bucket 27
  const fault = parts ? readParts(size, shift) : readBuckets(first, size, shift);
  if (fault == Fault.NONE) finish();
  return fault;
}

/** Shows the window of the payload's byte `at` and returns where in it that is. */
// @ts-ignore: decorator
@inline function show(at: u64, shift: u32): u64 {
  right.select(<u32>(at >> shift));
  return at & ((<u64>1 << shift) - 1);
}

function readBuckets(buckets: u64, size: u64, shift: u32): Fault {
  let at: u64 = 8, least: u64 = 0;
  for (let i: u64 = 0; i < buckets; i++) {
    if (at + 4 > size) return Fault.CUT_SHORT;
    const from = show(at, shift), high = <u64>right.load32(<usize>from, 0);
    if (high < least) return Fault.KEYS_NOT_ASCENDING;
    least = high + 1;
    const read = readStream(<u32>(at >> shift), from + 4, high << 16);
    if (read >> 32) return <Fault>(read >> 32);
    at += read - from;
  }
  return at == size ? Fault.NONE : Fault.TRAILING_BYTES;
}

function readParts(size: u64, shift: u32): Fault {
  if (size < 16) return Fault.CUT_SHORT;
  let at: u64 = 16;
  for (let i: u64 = 0, parts = right.load64(8, 0); i < parts; i++) {
    if (at + 16 > size) return Fault.CUT_SHORT;
    const from = show(at, shift), head = right.load64(<usize>from, 0);
    if (head & SPAN) {
      const key = right.load64(<usize>from, 8), containers = head - SPAN;
      if (key < nextKey()) return Fault.KEYS_NOT_ASCENDING;
      if (!containers || key > KEY_MAX || containers > KEY_MAX + 1 - key) return Fault.KEY_TOO_GREAT;
      appendFull(key, containers);
      at += 16;
      continue;
    }
    if (head > 0xffffffff) return Fault.KEY_TOO_GREAT;
    const read = readStream(<u32>(at >> shift), from + 8, head << 16);
    if (read >> 32) return <Fault>(read >> 32);
    at += read - from;
  }
  return at == size ? Fault.NONE : Fault.TRAILING_BYTES;
}
