// The portable Roaring format, https://github.com/RoaringBitmap/RoaringFormatSpec: a bitmap of 32-bit offsets as a byte stream, little
// endian. All container keys below are the low 16 bits of ours; a 64-bit bitmap is a sequence of such streams (wide.ts).
//
//   u32  12346, then u32 containers                              when no container is of runs; else
//   u16  12347, then u16 containers - 1, then a bit a container marking runs, (containers + 7) / 8 bytes
//   then per container u16 key, u16 cardinality - 1
//   then per container u32 where its payload begins, counted from the cookie; left out for 12347 below 4 containers
//   then the payloads, in the very form in which an arena has them (container/): array up to 4096 members, bitset above, or runs

import { SELF, left, output, right } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { allocateFresh, blockBytes } from "../arena/arena";
import {
  Kind, entryCount, entryKey, entryKind, entryLastKey, entryPayload, isArray, payloadBytes, setBlock, setPair, setSingle,
} from "../arena/entry";
import { advance, placeEntry, seek } from "../arena/directory";
import { append, appendFull, begin, finish, nextKey } from "../arena/builder";
import { emit } from "../combine/emit";
import { shape } from "../combine/shape";
import { makeScratch, Scratch, scratch } from "../combine/scratch";
import { BITSET_BYTES, arrayBytes, isArraySized, runsBytes, UNIVERSE } from "../container/limits";
import { bitsetCardinality } from "../container/bitset";
import { BUCKETS_FROM, plainBytes } from "../container/buckets";
import { runsToArray, runsToBitset } from "../container/convert";
import { LANES, LANES_BYTES } from "../container/lanes";

// @ts-ignore: decorator
@inline const COOKIE_NO_RUNS: u32 = 12346;
// @ts-ignore: decorator
@inline const COOKIE_RUNS: u32 = 12347;
/** With runs and fewer containers than this there are no offsets. */
// @ts-ignore: decorator
@inline const OFFSETS_FROM: u32 = 4;
// @ts-ignore: decorator
@inline const KEYS: u32 = 65536;

// @ts-ignore: decorator
@inline function headerBytes(containers: u32, hasRuns: bool): u32 {
  if (!hasRuns) return 8 + 8 * containers;
  return 4 + ((containers + 7) >> 3) + (containers < OFFSETS_FROM ? 4 : 8) * containers;
}

// --- Writing ------------------------------------------------------------------------------------------------------------------
// One stream takes the containers [firstKey, lastKey] of memory 0, whose keys agree above their low 16 bits; `first` is their place.

// @ts-ignore: decorator
@inline function isRuns(kind: Kind): bool { return kind == Kind.RUNS || kind == Kind.FULL; }

/** Bytes of one container of the entry in the format: a full one is one run. */
// @ts-ignore: decorator
@inline function streamedBytes(entry: usize): u32 {
  const kind = entryKind<Own>(entry);
  if (kind == Kind.FULL) return <u32>runsBytes(1);
  return isArray(kind) || kind == Kind.BUCKETS ? <u32>arrayBytes(entryCount<Own>(entry)) : <u32>payloadBytes<Own>(entry);
}

// @ts-ignore: decorator
@inline function streamedCount(entry: usize): u32 {
  return entryKind<Own>(entry) == Kind.FULL ? UNIVERSE : entryCount<Own>(entry);
}

/** Containers of the entry with keys up to `lastKey`, from `firstKey` on. */
// @ts-ignore: decorator
@inline function containersOf(entry: usize, firstKey: u64, lastKey: u64): u32 {
  return <u32>(min(entryLastKey<Own>(entry), lastKey) - max(entryKey<Own>(entry), firstKey) + 1);
}

// @ts-ignore: decorator
@inline function within(place: u64, lastKey: u64): bool { return place != 0 && entryKey<Own>(placeEntry(place)) <= lastKey; }

/** Containers that a stream of [firstKey, lastKey] has; in the top bit, whether one of them is of runs. */
function survey(first: u64, firstKey: u64, lastKey: u64): u32 {
  let containers: u32 = 0, hasRuns: u32 = 0;
  for (let place = first; within(place, lastKey); place = advance<Own>(place)) {
    const entry = placeEntry(place);
    containers += containersOf(entry, firstKey, lastKey);
    hasRuns |= u32(isRuns(entryKind<Own>(entry)));
  }
  return containers | (hasRuns << 31);
}

/** Bytes that the stream of the containers [firstKey, lastKey] takes. */
export function streamBytes(first: u64, firstKey: u64, lastKey: u64): u64 {
  const found = survey(first, firstKey, lastKey);
  let bytes: u64 = headerBytes(found & 0x7fffffff, found >> 31 != 0);
  for (let place = first; within(place, lastKey); place = advance<Own>(place)) {
    const entry = placeEntry(place);
    bytes += <u64>streamedBytes(entry) * containersOf(entry, firstKey, lastKey);
  }
  return bytes;
}

/** Writes that stream. */
export function writeStream(first: u64, firstKey: u64, lastKey: u64): void {
  const found = survey(first, firstKey, lastKey), containers = found & 0x7fffffff, hasRuns = found >> 31 != 0;
  if (hasRuns) {
    output.put(COOKIE_RUNS | ((containers - 1) << 16), 4);
    writeRunMarks(first, firstKey, lastKey);
  } else {
    output.put(COOKIE_NO_RUNS, 4);
    output.put(containers, 4);
  }
  for (let place = first; within(place, lastKey); place = advance<Own>(place)) {
    const entry = placeEntry(place), last = streamedCount(entry) - 1;
    let key = max(entryKey<Own>(entry), firstKey);
    for (let n = containersOf(entry, firstKey, lastKey); n; n--, key++) output.put((<u32>key & 0xffff) | (last << 16), 4);
  }
  if (!hasRuns || containers >= OFFSETS_FROM) {
    let offset = headerBytes(containers, hasRuns);
    for (let place = first; within(place, lastKey); place = advance<Own>(place)) {
      const entry = placeEntry(place);
      for (let n = containersOf(entry, firstKey, lastKey); n; n--) {
        output.put(offset, 4);
        offset += streamedBytes(entry);
      }
    }
  }
  for (let place = first; within(place, lastKey); place = advance<Own>(place)) {
    const entry = placeEntry(place), kind = entryKind<Own>(entry);
    if (kind == Kind.BUCKETS) writeBuckets(entryPayload<Own>(entry), entryCount<Own>(entry));
    else if (kind != Kind.FULL) output.write(entryPayload<Own>(entry), streamedBytes(entry));
    else for (let n = containersOf(entry, firstKey, lastKey); n; n--) output.put(0xffff00000001, 6);    // one run: 0, and 65535 more
  }
}

/** Writes buckets as an array, up to eight members at a time. Low bytes may be loaded from their end: the counts follow. */
function writeBuckets(at: usize, count: u32): void {
  let next = at, highs = i16x8.splat(0);
  for (let bucket = at + count, end = at; end < at + count; bucket++, highs = i16x8.add(highs, i16x8.splat(256))) {
    for (end += load<u8>(bucket); next < end; next += LANES) {
      const lanes = v128.or(highs, i16x8.extend_low_i8x16_u(i64x2.splat(load<i64>(next))));
      output.put128(lanes, min<u32>(<u32>arrayBytes(<u32>(end - next)), <u32>LANES_BYTES));
    }
    next = end;
  }
}

function writeRunMarks(first: u64, firstKey: u64, lastKey: u64): void {
  let marks: u32 = 0, filled: u32 = 0;
  for (let place = first; within(place, lastKey); place = advance<Own>(place)) {
    const entry = placeEntry(place), mark = u32(isRuns(entryKind<Own>(entry)));
    for (let n = containersOf(entry, firstKey, lastKey); n; n--) {
      marks |= mark << filled;
      if (++filled == 8) { output.put(marks, 1); marks = 0; filled = 0; }
    }
  }
  if (filled) output.put(marks, 1);
}

/** Bytes of memory 0, whose members are all below 2^32, as one stream. */
export function portableBytes(): u64 { return streamBytes(seek<Own>(0), 0, KEYS - 1); }
export function writePortable(): void { writeStream(seek<Own>(0), 0, KEYS - 1); }

// --- Reading ------------------------------------------------------------------------------------------------------------------
// The operand that `right` shows is the payload; it may hold anything. Whatever is read is within its size, or a fault.

/** What readStream() answers: the fault in the high half, else where the stream ends in the low. */
// @ts-ignore: decorator
@inline function faulty(fault: Fault): u64 { return (<u64>fault) << 32; }

/** Appends to the builder the containers of the stream at `from` of operand `k`, which `right` shows, their keys raised by `base`. */
export function readStream(k: u32, from: u64, base: u64): u64 {
  const size = <u64>right.size();
  if (from + 8 > size) return faulty(Fault.CUT_SHORT);
  const cookie = right.load32(<usize>from, 0);
  let containers: u32, marks: u64 = 0, at = from + 8;
  if (cookie == COOKIE_NO_RUNS) {
    containers = right.load32(<usize>from, 4);
  } else if ((cookie & 0xffff) == COOKIE_RUNS) {
    containers = (cookie >> 16) + 1;
    marks = from + 4;
    at = marks + ((containers + 7) >> 3);
  } else return faulty(Fault.UNKNOWN_COOKIE);
  if (containers > KEYS) return faulty(Fault.TOO_MANY_CONTAINERS);
  const heads = at;
  at += <u64>containers << 2;
  const offsets = at, hasOffsets = !marks || containers >= OFFSETS_FROM;
  if (hasOffsets) at += <u64>containers << 2;
  if (at > size) return faulty(Fault.CUT_SHORT);

  for (let i: u32 = 0; i < containers; i++) {
    const head = right.load32(<usize>(heads + (<u64>i << 2)), 0), key = head & 0xffff, count = (head >> 16) + 1;
    if (base + key < nextKey()) return faulty(Fault.KEYS_NOT_ASCENDING);
    if (hasOffsets && right.load32(<usize>(offsets + (<u64>i << 2)), 0) != <u32>(at - from)) return faulty(Fault.WRONG_OFFSET);
    const ofRuns = marks != 0 && ((right.load8(<usize>(marks + (i >> 3)), 0) >> (i & 7)) & 1) != 0;
    const read = ofRuns ? readRuns(k, at, base + key, count) : isArraySized(count) ? readArray(at, base + key, count) : readBitset(k, at, base + key, count);
    if (read >> 32) return read;
    at = read;
  }
  return at;
}

/** Makes memory 0, which is fresh, the bitmap of the stream that is operand 0 from `from` on. */
export function readPortable(from: u64 = 0): Fault {
  right.select(0);
  begin(<u64>right.size() / 2 + 1, 0);        // a container takes six bytes at the least
  const read = readStream(0, from, 0);
  if (read >> 32) return <Fault>(read >> 32);
  if (read != <u64>right.size()) return Fault.TRAILING_BYTES;
  finish();
  return Fault.NONE;
}

/** Each of these appends the container at `at` and answers as readStream() does. */
function readArray(at: u64, key: u64, count: u32): u64 {
  const bytes = arrayBytes(count), end = at + bytes;
  if (end > <u64>right.size()) return faulty(Fault.CUT_SHORT);
  for (let i: u32 = 1, p = <usize>at; i < count; i++, p += 2) {
    if (right.load16(p, 0) >= right.load16(p, 2)) return faulty(Fault.ARRAY_NOT_ASCENDING);
  }
  if (count <= 2) { appendInline(key, right.load16(<usize>at, 0), right.load16(<usize>(end - 2), 0), count); return end; }
  if (count >= BUCKETS_FROM) {
    makeScratch(Scratch.TEMP);
    right.copy(scratch(Scratch.FIRST), <usize>at, bytes);
    emit(key, shape(Kind.ARRAY, count, scratch(Scratch.FIRST)));
    return end;
  }
  const to = allocateFresh(blockBytes(bytes));
  right.copy(to, <usize>at, bytes);
  setBlock(append(key, count), Kind.ARRAY, count, to);
  return end;
}

function readBitset(k: u32, at: u64, key: u64, count: u32): u64 {
  const end = at + BITSET_BYTES;
  if (end > <u64>right.size()) return faulty(Fault.CUT_SHORT);
  left.select(k);
  const held = bitsetCardinality(<usize>at);
  left.select(SELF);
  if (held != count) return faulty(Fault.BITSET_CARDINALITY);
  if (count == UNIVERSE) { appendFull(key, 1); return end; }
  const to = allocateFresh(BITSET_BYTES);
  right.copy(to, <usize>at, BITSET_BYTES);
  setBlock(append(key, count), Kind.BITSET, count, to);
  return end;
}

function readRuns(k: u32, at: u64, key: u64, count: u32): u64 {
  const size = <u64>right.size();
  if (at + 2 > size) return faulty(Fault.CUT_SHORT);
  const runs = right.load16(<usize>at, 0), bytes = runsBytes(runs), end = at + bytes;
  if (!runs) return faulty(Fault.NO_RUNS);
  if (end > size) return faulty(Fault.CUT_SHORT);
  let members: u32 = 0, next: u32 = 0;
  for (let i: u32 = 0, p = <usize>at + 2; i < runs; i++, p += 4) {
    const start = right.load16(p, 0), last = start + right.load16(p, 2);
    if (i && start <= next) return faulty(Fault.RUNS_NOT_ASCENDING);
    if (last > 65535) return faulty(Fault.RUN_TOO_LONG);
    members += last - start + 1;
    next = last + 1;
  }
  if (members != count) return faulty(Fault.RUNS_CARDINALITY);
  if (count == UNIVERSE) { appendFull(key, 1); return end; }
  if (count <= 2) {
    const start = right.load16(<usize>at, 2);
    appendInline(key, start, right.load16(<usize>(end - 4), 0) + right.load16(<usize>(end - 2), 0), count);
    return end;
  }
  if (bytes <= plainBytes(count)) {
    const to = allocateFresh(blockBytes(bytes));
    right.copy(to, <usize>at, bytes);
    setBlock(append(key, count), Kind.RUNS, count, to);
    return end;
  }
  // Another writer's runs may be more than an array or a bitset takes: then they become that.
  makeScratch(Scratch.TEMP);
  const to = scratch(Scratch.FIRST), kind = isArraySized(count) ? Kind.ARRAY : Kind.BITSET;
  left.select(k);
  if (kind == Kind.ARRAY) runsToArray(<usize>at, to); else runsToBitset(<usize>at, to);
  left.select(SELF);
  emit(key, shape(kind, count, to));
  return end;
}

function appendInline(key: u64, first: u32, last: u32, count: u32): void {
  const entry = append(key, count);
  if (count == 1) setSingle(entry, first); else setPair(entry, first, last);
}
