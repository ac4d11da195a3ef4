// Changes of a container's kind. The set stays the same. A conversion allocates before it changes anything.

import { Own } from "../env/view";
import { TINY_PAYLOAD, allocate, blockBytes, isTiny, prepare, release, reserve, resize } from "../arena/arena";
import {
  entryCount, entryKind, entryPayload, payloadBytes, setBlock, setPair, setSingle, setTinyShort,
} from "../arena/entry";
import { Kind, BUCKETS_FROM, prefersShort, wordsBetween } from "../container/kind";
import {
  BITSET_BYTES, MEMBER_BYTES, arrayBytes, isArraySized, bucketsBytes, shortBytes,
} from "../container/limits";
import { member } from "../container/array";
import { bitsetSet, clearBitset } from "../container/bitset";
import {
  arrayToBuckets, bucketsLast, bucketsSelect, bucketsToArray, unionBucketsInto,
} from "../container/buckets";
import { arrayToBitset, runsToArray, runsToBitset } from "../container/convert";
import { runEnd, runStart, runsCount, runsLast } from "../container/run";
import {
  bitsetBecomesShort, clearShort, runsToShort, shortBase, shortHeader, shortLow, shortToArray,
  shortToBitset, wordCount, wordsOf,
} from "../container/short";

/** Releases the container's block, if it has one. */
export function releaseContainer(entry: usize): void {
  const bytes = payloadBytes<Own>(entry);
  if (bytes && !isTiny<Own>()) release(entryPayload<Own>(entry), bytes);
}

// --- To an array or buckets ----------------------------------------------------------------------------------------------------

/** Turns a large array into buckets. False if buckets cannot hold it. */
export function arrayIntoBuckets(entry: usize): bool {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(bucketsBytes(count));
  if (!arrayToBuckets(payload, count, at, at)) { release(at, bucketsBytes(count)); return false; }
  release(payload, arrayBytes(count));
  setBlock(entry, Kind.BUCKETS, count, at);
  return true;
}

export function bucketsIntoArray(entry: usize): void {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(arrayBytes(count));
  bucketsToArray(payload, count, at);
  release(payload, bucketsBytes(count));
  setArray(entry, count, at);
}

/** Gives the entry the array of `count` members in the block at `at`, which is released if the entry itself can hold them. */
export function setArray(entry: usize, count: u32, at: usize): void {
  if (count > 2) { setBlock(entry, Kind.ARRAY, count, at); return; }
  setInEntry(entry, count, at);
  release(at, arrayBytes(count));
}

/** Puts the one or two members of the array at `at` into the entry. */
// @ts-ignore: decorator
@inline function setInEntry(entry: usize, count: u32, at: usize): void {
  if (count == 1) setSingle(entry, member(at, 0)); else setPair(entry, member(at, 0), member(at, 1));
}

/** Bytes that converting to an array or buckets of `count` members allocates at most. */
// @ts-ignore: decorator
@inline export function plainRoom(count: u32): usize {
  return blockBytes(arrayBytes(count)) + (count >= BUCKETS_FROM ? blockBytes(bucketsBytes(count)) : 0);
}

/** Turns a short bitset into what suits `count` members and is no short bitset: an array, buckets or a bitset. */
export function shortIntoPlain(entry: usize, count: u32): void {
  const held = entryCount<Own>(entry), payload = entryPayload<Own>(entry), words = wordCount<Own>(payload), bytes = shortBytes(words);
  if (isTiny<Own>()) {
    reserve(TINY_PAYLOAD + arrayBytes(held));
    const low = shortLow<Own>(payload);
    setBlock(entry, Kind.ARRAY, held, TINY_PAYLOAD);
    gather(TINY_PAYLOAD, TINY_PAYLOAD + (<usize>words << 3), low, TINY_PAYLOAD);
    if (held <= 2) setInEntry(entry, held, TINY_PAYLOAD);
    return;
  }
  if (!isArraySized(max(count, held))) {
    const at = allocate(BITSET_BYTES);
    shortToBitset(payload, at);
    release(payload, bytes);
    setBlock(entry, Kind.BITSET, held, at);
    return;
  }
  prepare(plainRoom(held));
  const at = allocate(arrayBytes(held));
  shortToArray(payload, at);
  release(payload, bytes);
  setArray(entry, held, at);
  if (held >= BUCKETS_FROM) arrayIntoBuckets(entry);
}

// --- To a bitset --------------------------------------------------------------------------------------------------------------

export function bucketsIntoBitset(entry: usize): void {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(BITSET_BYTES);
  clearBitset(at);
  unionBucketsInto(payload, count, at);
  release(payload, bucketsBytes(count));
  setBlock(entry, Kind.BITSET, count, at);
}

/** Turns an array, in the entry or in a block, into a bitset. */
export function arrayIntoBitset(entry: usize): void {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(BITSET_BYTES);
  arrayToBitset(payload, count, at);
  releaseContainer(entry);
  setBlock(entry, Kind.BITSET, count, at);
}

// --- To a short bitset --------------------------------------------------------------------------------------------------------

/** The least member of an array or buckets. */
// @ts-ignore: decorator
@inline function least(kind: Kind, payload: usize, count: u32): u32 {
  return kind == Kind.BUCKETS ? bucketsSelect(payload, count, 0) : member(payload, 0);
}

/** The greatest member of an array or buckets. */
// @ts-ignore: decorator
@inline function greatest(kind: Kind, payload: usize, count: u32): u32 {
  return kind == Kind.BUCKETS ? bucketsLast<Own>(payload, count) : member(payload, count - 1);
}

/** Words from the first to the last one that the entry's array or buckets has, or that has one of the values `low` and `high`. */
export function wordsWith(entry: usize, low: u32, high: u32): u32 {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  return wordsBetween(min(low, least(kind, payload, count)), max(high, greatest(kind, payload, count)));
}

/**
 * Makes the entry's array or buckets a short bitset that has the words of its members and of the values from `low` to `high`. In a tiny
 * arena the number of members must be a multiple of four.
 */
export function intoShort(entry: usize, low: u32, high: u32): void {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry), count = entryCount<Own>(entry), bytes = payloadBytes<Own>(entry);
  low = min(low, least(kind, payload, count));
  const words = wordsBetween(low, max(high, greatest(kind, payload, count)));
  if (isTiny<Own>()) {
    const end = TINY_PAYLOAD + (<usize>words << 3);
    reserve(end);
    spread(payload, payload + bytes, end, low >> 6);
    setTinyShort(entry, count, shortHeader(low >> 6, words));
    return;
  }
  const at = allocate(shortBytes(words));
  clearShort(at, low >> 6, words);
  const to = shortBase<Own>(at);
  if (kind == Kind.BUCKETS) unionBucketsInto(payload, count, to);
  else for (let i: u32 = 0; i < count; i++) bitsetSet(to, member(payload, i));
  if (bytes) release(payload, bytes);
  setBlock(entry, Kind.SHORT, count, at);
}

/**
 * Makes the array at [from, end) words, the first of which is word `first`, from TINY_PAYLOAD to before `wordsEnd`. The array begins there,
 * too, so each call reads four members before any word is written.
 */
function spread(from: usize, end: usize, wordsEnd: usize, first: u32): void {
  const to = TINY_PAYLOAD - (<usize>first << 3);
  let four = load<u64>(from);
  if (from + 8 < end) spread(from + 8, end, wordsEnd, first); else memory.fill(TINY_PAYLOAD, 0, wordsEnd - TINY_PAYLOAD);
  for (let i = 0; i < 4; i++, four >>= 16) bitsetSet(to, <u32>four & 0xffff);
}

/** Makes the words from `word` to before `end` an array at `out`, which may overlap them: each call reads a word before any is written. */
function gather(word: usize, end: usize, value: u32, out: usize): void {
  let bits = load<u64>(word);
  if (word + 8 < end) gather(word + 8, end, value + 64, out + arrayBytes(<u32>popcnt(bits)));
  for (; bits; bits &= bits - 1, out += MEMBER_BYTES) store<u16>(out, value + <u32>ctz(bits));
}

/** Makes a bitset a short bitset with this header, which spanOfBitset() has returned. Needs no memory. */
export function bitsetIntoShort(entry: usize, header: u32): void {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  bitsetBecomesShort(payload, header);
  resize(payload, BITSET_BYTES, shortBytes(wordsOf(header)));
  setBlock(entry, Kind.SHORT, count, payload);
}

// --- From runs --------------------------------------------------------------------------------------------------------------------

/** Turns runs that have become too many into what else is smallest. */
export function runsIntoPlain(entry: usize): void {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry), bytes = payloadBytes<Own>(entry);
  if (count <= 2) {
    const first = runStart(payload, 0), last = runEnd(payload, runsCount(payload) - 1);
    release(payload, bytes);
    if (count == 1) setSingle(entry, first); else setPair(entry, first, last);
    return;
  }
  const low = runStart(payload, 0), high = runsLast<Own>(payload), words = wordsBetween(low, high);
  if (prefersShort(count, words)) {
    const at = allocate(shortBytes(words));
    runsToShort(payload, low, high, at);
    release(payload, bytes);
    setBlock(entry, Kind.SHORT, count, at);
    return;
  }
  const kind = isArraySized(count) ? Kind.ARRAY : Kind.BITSET;
  const at = allocate(kind == Kind.ARRAY ? arrayBytes(count) : BITSET_BYTES);
  if (kind == Kind.ARRAY) runsToArray(payload, at); else runsToBitset(payload, at);
  release(payload, bytes);
  setBlock(entry, kind, count, at);
  if (kind == Kind.ARRAY && count >= BUCKETS_FROM) arrayIntoBuckets(entry);
}
