// Many offsets at a time, as they come. Mostly they are ascending and share containers with their neighbours: what a call brings is taken in
// stretches, ascending offsets of one container, which go into an array or out of it in one pass. The rest goes one by one.

import { argument } from "../env/memory";
import { Own } from "../env/view";
import { allocate, blockBytes, isTiny, prepare, resize } from "../arena/arena";
import {
  KEY_MAX, Kind, entryCount, entryKind, entryPayload, isArray, keyOf, lowOf, setBlock, setCount, setPair, setSingle,
} from "../arena/entry";
import { findEntry } from "../arena/directory";
import { roomToInsert, insertEntry, adjust, removeEntry } from "../arena/change";
import { containerHas } from "../read/query";
import { arrayIntoBitset, arrayIntoBuckets, bucketsIntoArray, bucketsIntoBitset, countUp, releaseContainer } from "./edit";
import { insert, removeAt } from "./point";
import { ARRAY_MAX, MEMBER_BYTES, arrayBytes, isArraySized, memberCount } from "../container/limits";
import { arrayLowerBound, gallop, member } from "../container/array";
import { BUCKET_MAX, BUCKETS_FROM, BUCKETS_LEAST, bucketFrom, bucketHas, bucketHeld, bucketsBytes } from "../container/buckets";
import { bitsetClear, bitsetHas, bitsetSet } from "../container/bitset";

/** No container's key. */
// @ts-ignore: decorator
@inline const NO_KEY: u64 = KEY_MAX + 1;
/** Shorter stretches go one by one. */
// @ts-ignore: decorator
@inline const STRETCH_LEAST: u32 = 4;
/** From this many members between two new ones on they are found by search and moved at once. */
// @ts-ignore: decorator
@inline const FAR_APART: u32 = 16;

/** Hands 1 back for each of the call's arguments `first` .. `first + count - 1` that is a member, and 0 for the others. */
export function getAll(first: u32, count: u32): void {
  const end = first + count;
  for (let i = first, to = first; i < end; i = to) {
    const key = keyOf(argument.value(i)), entry = findEntry(key);
    while (to < end && keyOf(argument.value(to)) == key) to++;
    if (!entry) for (; i < to; i++) argument.handBack(0);
    else if (isArray(entryKind<Own>(entry))) getFromArray(entry, i, to);
    else if (entryKind<Own>(entry) == Kind.BUCKETS) getFromBuckets(entry, i, to);
    else for (; i < to; i++) argument.handBack(u64(containerHas(entry, lowOf(argument.value(i)))));
  }
}

/** The same for arguments `from` to before `to`, all of one container. An ascending list goes on in it where it was. */
function getFromArray(entry: usize, from: u32, to: u32): void {
  const start = entryPayload<Own>(entry), count = entryCount<Own>(entry), end = start + arrayBytes(count);
  for (let i = from, at = start, before: u32 = 0; i < to; i++) {
    const low = lowOf(argument.value(i));
    at = low < before ? start + arrayBytes(arrayLowerBound(start, count, low)) : gallop<Own>(at, end, low);
    before = low;
    argument.handBack(u64(at < end && load<u16>(at) == low));
  }
}

function getFromBuckets(entry: usize, from: u32, to: u32): void {
  const start = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  let high: u32 = 0, lows = start;
  for (let i = from; i < to; i++) {
    const low = lowOf(argument.value(i));
    lows = bucketFrom(start, count, high, lows, low >> 8);
    high = low >> 8;
    argument.handBack(u64(bucketHas(start, count, lows, low)));
  }
}

/** Where the stretch that begins at argument `from` ends, of the arguments before `end`. */
function stretchEnd(from: u32, end: u32): u32 {
  let before = argument.value(from), i = from + 1;
  const last = before | 0xffff;
  end = min(end, from + ARRAY_MAX);
  for (; i < end; i++) {
    const offset = argument.value(i);
    if (offset <= before || offset > last) break;
    before = offset;
  }
  return i;
}

/** Adds the call's arguments `first` .. `first + count - 1` and hands back those that were no members before; returns how many. */
export function addAll(first: u32, count: u32): u64 {
  const end = first + count;
  let added: u32 = 0;
  for (let i = first; i < end;) {
    const key = keyOf(argument.value(i)), to = isTiny<Own>() ? i + 1 : stretchEnd(i, end);
    if (to - i >= STRETCH_LEAST) {
      const entry = findEntry(key);
      if (!entry || entryKind<Own>(entry) != Kind.RUNS) {
        added += addStretch(entry, key, i, to, added);
        i = to;
      }
    }
    for (; i < to; i++) {
      const offset = argument.value(i);
      if (!insert(offset)) continue;
      argument.handBack(offset);
      added++;
    }
  }
  return added;
}

/**
 * Adds the stretch of arguments `from` to before `to` to the container `key` of a full arena, for which `entry` stands, 0 if none does,
 * and returns how many it had not; `kept` were handed back before. Those that are handed back are read from there again.
 */
function addStretch(entry: usize, key: u64, from: u32, to: u32, kept: u32): u32 {
  const kind = entry ? entryKind<Own>(entry) : Kind.ARRAY;
  if (kind == Kind.FULL) return 0;
  if (kind == Kind.BITSET) return addToBitset(entry, key, from, to);
  if (kind == Kind.BUCKETS) return addToBuckets(entry, key, from, to, kept);
  // What is handed back here but not added, should there be no room for it, is no member then: undoing it does nothing.
  const more = handBackAbsent(entry, from, to);
  if (!more) return 0;
  const count = entry ? entryCount<Own>(entry) : 0, all = count + more;
  if (!entry) {
    prepare(roomToInsert(key, 1) + blockBytes(arrayBytes(all)));
    entry = insertEntry(key);
    setBlock(entry, Kind.ARRAY, all, allocate(arrayBytes(all)));
    mergeIntoArray(entryPayload<Own>(entry), 0, kept, more);
  } else {
    addNew(entry, kept, more);
  }
  adjust(key, more);
  if (all >= BUCKETS_FROM && blockBytes(arrayBytes(count + 1)) != blockBytes(arrayBytes(all)) && entryKind<Own>(entry) == Kind.ARRAY) {
    arrayIntoBuckets(entry);
  }
  return more;
}

/** Adds the values that were handed back, `more` of them from number `kept` on, to the entry's array, which has none of them. */
function addNew(entry: usize, kept: u32, more: u32): void {
  const old = entryPayload<Own>(entry), count = entryCount<Own>(entry), all = count + more;
  if (!isArraySized(all)) {
    arrayIntoBitset(entry);
    setNew(entry, kept, more);
    return;
  }
  let at: usize;
  if (entryKind<Own>(entry) == Kind.ARRAY) {
    at = resize(old, arrayBytes(count), arrayBytes(all));
  } else {
    at = allocate(arrayBytes(all));
    store<u32>(at, load<u32>(old));           // one member or two
  }
  setBlock(entry, Kind.ARRAY, all, at);
  mergeIntoArray(at, count, kept, more);
}

/** Adds them to the entry's bitset. */
function setNew(entry: usize, kept: u32, more: u32): void {
  const bits = entryPayload<Own>(entry);
  for (let i = kept; i < kept + more; i++) bitsetSet(bits, lowOf(argument.value(i)));
  setCount(entry, entryCount<Own>(entry) + more);
}

/** addStretch() of buckets. */
function addToBuckets(entry: usize, key: u64, from: u32, to: u32, kept: u32): u32 {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  let more: u32 = 0, high: u32 = 0, lows = payload;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = lowOf(offset);
    lows = bucketFrom(payload, count, high, lows, low >> 8);
    high = low >> 8;
    if (bucketHas(payload, count, lows, low)) continue;
    argument.handBack(offset);
    more++;
  }
  if (!more) return 0;
  if (!isArraySized(count + more)) {
    bucketsIntoBitset(entry);
    setNew(entry, kept, more);
  } else if (bucketsHaveRoomForNew(payload, count, kept, more)) {
    const at = resize(payload, bucketsBytes(count), bucketsBytes(count + more));
    setBlock(entry, Kind.BUCKETS, count + more, at);
    mergeIntoBuckets(at, count, kept, more);
  } else {
    bucketsIntoArray(entry);
    addNew(entry, kept, more);
  }
  adjust(key, more);
  return more;
}

/** Whether none of the buckets becomes one of more members than it can tell. */
function bucketsHaveRoomForNew(at: usize, count: u32, kept: u32, more: u32): bool {
  for (let i: u32 = 0, high: u32 = 256, held: u32 = 0; i < more; i++) {
    const low = lowOf(argument.value(kept + i));
    held = low >> 8 == high ? held + 1 : bucketHeld(at, count, low >> 8) + 1;
    if (held > BUCKET_MAX) return false;
    high = low >> 8;
  }
  return true;
}

/** Hands back those of a stretch that the entry's array, if there is one, has not, and says how many. */
function handBackAbsent(entry: usize, from: u32, to: u32): u32 {
  let at: usize = 0, end: usize = 0, strangers: u32 = 0;
  if (entry) {
    at = entryPayload<Own>(entry);
    end = at + arrayBytes(entryCount<Own>(entry));
  }
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = lowOf(offset);
    at = gallop<Own>(at, end, low);
    if (at < end && load<u16>(at) == low) { at += MEMBER_BYTES; continue; }
    argument.handBack(offset);
    strangers++;
  }
  return strangers;
}

/**
 * Merges the values that were handed back, `more` of them from number `kept` on, into the array of `count` members at `at`, which has
 * none of them and has room: the last ones first, so that each member moves once.
 */
function mergeIntoArray(at: usize, count: u32, kept: u32, more: u32): void {
  const apart = count > more * FAR_APART;
  let end = at + arrayBytes(count);           // of the members that have not moved
  for (let i = more; i; i--) {
    const low = lowOf(argument.value(kept + i - 1));
    let from = end;
    if (apart) {
      from = at + arrayBytes(arrayLowerBound(at, memberCount(at, end), low));
      memory.copy(from + arrayBytes(i), from, end - from);
    }
    while (from > at && u32(load<u16>(from - MEMBER_BYTES)) > low) {
      from -= MEMBER_BYTES;
      store<u16>(from + arrayBytes(i), load<u16>(from));
    }
    store<u16>(from + arrayBytes(i - 1), low);
    end = from;
  }
}

/** The same for buckets of `count` members. */
function mergeIntoBuckets(at: usize, count: u32, kept: u32, more: u32): void {
  const counts = at + count + more;
  memory.copy(counts, at + count, bucketsBytes(0));
  let end = at + count, high: u32 = 256, first = end, last = end;     // bucket `high` lies at [first, last)
  for (let i = more; i; i--) {
    const low = lowOf(argument.value(kept + i - 1));
    while (high > low >> 8) {
      last = first;
      first -= load<u8>(counts + --high);
    }
    let from = min(end, last);
    while (from > first && u32(load<u8>(from - 1)) > (low & 0xff)) from--;
    memory.copy(from + i, from, end - from);
    store<u8>(from + i - 1, low);
    store<u8>(counts + high, load<u8>(counts + high) + 1);
    end = from;
  }
}

function addToBitset(entry: usize, key: u64, from: u32, to: u32): u32 {
  const bits = entryPayload<Own>(entry);
  let added: u32 = 0;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = lowOf(offset);
    if (bitsetHas(bits, low)) continue;
    bitsetSet(bits, low);
    argument.handBack(offset);
    added++;
  }
  if (!added) return 0;
  countUp(entry, added);
  adjust(key, added);
  return added;
}

/** Removes the call's arguments `first` .. `first + count - 1` and hands back those that were members before; returns how many. */
export function removeAll(first: u32, count: u32): u64 {
  const end = first + count;
  let known = NO_KEY, entry: usize = 0, removed: u64 = 0;
  for (let i = first; i < end;) {
    const key = keyOf(argument.value(i)), to = stretchEnd(i, end);
    if (key != known) { entry = findEntry(key); known = key; }
    if (entry && to - i >= STRETCH_LEAST) {
      const kind = entryKind<Own>(entry), count = entryCount<Own>(entry), most = to - i;
      if (isArray(kind)) {
        removed += takeFromArray(entry, key, i, to);
        if (most >= count) known = NO_KEY;    // the entry may be gone
        i = to;
      } else if (kind == Kind.BUCKETS && count >= BUCKETS_LEAST + most) {
        removed += takeFromBuckets(entry, key, i, to);
        i = to;
      } else if (kind == Kind.BITSET && most < count && !isArraySized(count - most)) {
        removed += clearInBitset(entry, key, i, to);
        i = to;
      }
    }
    for (; entry && i < to; i++) {
      if (known == NO_KEY) { entry = findEntry(key); known = key; }
      if (!entry) break;
      const offset = argument.value(i), stays = entryKind<Own>(entry) != Kind.FULL && entryCount<Own>(entry) > 1;
      if (removeAt(entry, key, lowOf(offset))) {
        argument.handBack(offset);
        removed++;
      }
      if (!stays) known = NO_KEY;
    }
    i = to;
  }
  return removed;
}

/** Removes a stretch from the array of the container `key`, and the container if nothing is left; returns how many it had. */
function takeFromArray(entry: usize, key: u64, from: u32, to: u32): u32 {
  const start = entryPayload<Own>(entry), count = entryCount<Own>(entry), end = start + arrayBytes(count);
  let out = start, rest = start;              // members before `rest` are gone or have moved to before `out`
  for (let i = from, at = start; i < to; i++) {
    const offset = argument.value(i), low = lowOf(offset);
    at = gallop<Own>(at, end, low);
    if (at == end) break;
    if (load<u16>(at) != low) continue;
    argument.handBack(offset);
    if (out != rest) memory.copy(out, rest, at - rest);
    out += at - rest;
    rest = at += MEMBER_BYTES;
  }
  if (rest == start) return 0;
  memory.copy(out, rest, end - rest);
  const removed = memberCount(out, rest), left = count - removed;
  adjust(key, -<i64>removed);
  if (left > 2) {
    if (!isTiny<Own>()) resize(start, arrayBytes(count), arrayBytes(left));
    setCount(entry, left);
    return removed;
  }
  const first = member(start, 0), second = member(start, 1);
  releaseContainer(entry);
  if (!left) removeEntry(key);
  else if (left == 1) setSingle(entry, first);
  else setPair(entry, first, second);
  return removed;
}

/** Removes a stretch from buckets that stay that; returns how many they had. */
function takeFromBuckets(entry: usize, key: u64, from: u32, to: u32): u32 {
  const start = entryPayload<Own>(entry), count = entryCount<Own>(entry), counts = start + count;
  let out = start, rest = start, high: u32 = 0, at = start, end = start + load<u8>(counts);    // bucket `high` goes on at [at, end)
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = lowOf(offset);
    for (; high < low >> 8; end += load<u8>(counts + ++high)) at = end;
    while (at < end && u32(load<u8>(at)) < (low & 0xff)) at++;
    if (at == end || load<u8>(at) != (low & 0xff)) continue;
    argument.handBack(offset);
    memory.copy(out, rest, at - rest);
    out += at - rest;
    rest = ++at;
    store<u8>(counts + high, load<u8>(counts + high) - 1);
  }
  const removed = <u32>(rest - out);
  if (!removed) return 0;
  memory.copy(out, rest, counts + bucketsBytes(0) - rest);
  resize(start, bucketsBytes(count), bucketsBytes(count - removed));
  setCount(entry, count - removed);
  adjust(key, -<i64>removed);
  return removed;
}

/** Removes a stretch from a bitset that stays one; returns how many it had. */
function clearInBitset(entry: usize, key: u64, from: u32, to: u32): u32 {
  const bits = entryPayload<Own>(entry);
  let removed: u32 = 0;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = lowOf(offset);
    if (!bitsetHas(bits, low)) continue;
    bitsetClear(bits, low);
    argument.handBack(offset);
    removed++;
  }
  setCount(entry, entryCount<Own>(entry) - removed);
  adjust(key, -<i64>removed);
  return removed;
}
