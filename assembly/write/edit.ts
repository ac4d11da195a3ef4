// Adding one member to a container, or removing one. The container changes its form when its cardinality asks for that: one or two members
// live in the entry, up to 4096 are an array or buckets, more are a bitset, and 65,536 are a FULL entry. Runs stay runs while nothing is
// smaller, and a bitset that loses members stays a bitset down to BITSET_LEAST.

import { Own } from "../env/view";
import { blockBytes, isTiny, allocate, prepare, release, resize, reserve, setUnsettled, TINY_PAYLOAD } from "../arena/arena";
import { Kind, entryKind, entryCount, entryPayload, payloadBytes, setBlock, setCount, setSingle, setPair, setFull } from "../arena/entry";
import { ARRAY_MAX, BITSET_BYTES, arrayBytes, runsBytes, isArraySized, staysBitset, UNIVERSE } from "../container/limits";
import { arrayLowerBound, member } from "../container/array";
import {
  BUCKETS_FROM, BUCKETS_LEAST, arrayToBuckets, bucketsBytes, bucketsFind, bucketsHaveRoom, bucketsInsert, bucketsRemove, bucketsToArray,
  unionBucketsInto, plainBytes,
} from "../container/buckets";
import { bitsetHas, bitsetSet, bitsetClear, clearBitset } from "../container/bitset";
import { runsFind, runEnd, runsCount, runStart, setRun, insertRunAt, removeRunAt } from "../container/run";
import { arrayToBitset, bitsetToArray, runsToBitset, runsToArray } from "../container/convert";

/**
 * Adds `low` to a container that is not FULL. True if it was absent; the caller then adjusts the sums above the entry. `revocable`:
 * takeBack() may have to undo it (undo.ts).
 */
export function insertInto(entry: usize, low: u32, revocable: bool): bool {
  const kind = entryKind<Own>(entry);
  if (kind == Kind.BITSET) return insertIntoBitset(entry, low, revocable);
  if (kind == Kind.RUNS) return insertIntoRuns(entry, low, revocable);
  if (kind == Kind.BUCKETS) return insertIntoBuckets(entry, low);
  return insertIntoArray(entry, low);
}

/**
 * Removes `low` from a container of two members or more that is not FULL. True if it was there; the caller then adjusts the sums. With
 * `asIs`, a bitset stays a bitset and buckets stay buckets, however few members are left: that takes no memory.
 */
export function takeFrom(entry: usize, low: u32, asIs: bool): bool {
  const kind = entryKind<Own>(entry);
  if (kind == Kind.BITSET) return takeFromBitset(entry, low, asIs);
  if (kind == Kind.RUNS) return takeFromRuns(entry, low);
  if (kind == Kind.BUCKETS) return takeFromBuckets(entry, low, asIs);
  return takeFromArray(entry, low);
}

/** Releases the container's block, if it has one. */
export function releaseContainer(entry: usize): void {
  const bytes = payloadBytes<Own>(entry);
  if (bytes && !isTiny<Own>()) release(entryPayload<Own>(entry), bytes);
}

// --- Arrays, in the entry or in a block ------------------------------------------------------------------------------------------

function insertIntoArray(entry: usize, low: u32): bool {
  const count = entryCount<Own>(entry);
  const payload = entryPayload<Own>(entry);
  const index = member(payload, count - 1) < low ? count : arrayLowerBound(payload, count, low);    // ascending input is common
  if (index < count && member(payload, index) == low) return false;
  if (count == 1) {
    const other = member(payload, 0);
    setPair(entry, min(low, other), max(low, other));
    return true;
  }
  if (count == ARRAY_MAX) {
    arrayIntoBitset(entry);
    return insertIntoBitset(entry, low, false);
  }
  // Tried only when a larger block is needed: seldom enough for the case that buckets cannot hold the members.
  if (count >= BUCKETS_FROM && blockBytes(arrayBytes(count)) != blockBytes(arrayBytes(count + 1)) && arrayIntoBuckets(entry)) {
    return insertIntoBuckets(entry, low);
  }
  addToArray(entry, index, low);
  return true;
}

/** Adds `low` as the member of rank `index` to an array that stays one. */
// @ts-ignore: decorator
@inline function addToArray(entry: usize, index: u32, low: u32): void {
  const count = entryCount<Own>(entry), at = arrayRoom(entry, count, entryPayload<Own>(entry)), gap = at + (<usize>index << 1);
  memory.copy(gap + 2, gap, <usize>(count - index) << 1);
  store<u16>(gap, <u16>low);
  setBlock(entry, Kind.ARRAY, count + 1, at);
}

/** Makes room for one member more in the array of `count` members at `payload`; returns where it is then. */
// @ts-ignore: decorator
@inline function arrayRoom(entry: usize, count: u32, payload: usize): usize {
  if (isTiny<Own>()) {
    reserve(TINY_PAYLOAD + arrayBytes(count + 1));
    if (count == 2) memory.copy(TINY_PAYLOAD, payload, 4);
    return TINY_PAYLOAD;
  }
  if (count > 2) return resize(payload, arrayBytes(count), arrayBytes(count + 1));
  const at = allocate(arrayBytes(3));
  store<u32>(at, load<u32>(payload));
  return at;
}

function takeFromArray(entry: usize, low: u32): bool {
  const count = entryCount<Own>(entry);
  const payload = entryPayload<Own>(entry);
  const index = arrayLowerBound(payload, count, low);
  if (index == count || member(payload, index) != low) return false;
  if (count == 2) { setSingle(entry, member(payload, 1 - index)); return true; }
  const gone = payload + (<usize>index << 1);
  memory.copy(gone, gone + 2, <usize>(count - index - 1) << 1);
  if (count == 3) {
    const first = member(payload, 0), second = member(payload, 1);
    releaseContainer(entry);
    setPair(entry, first, second);
    return true;
  }
  if (!isTiny<Own>()) resize(payload, arrayBytes(count), arrayBytes(count - 1));
  setCount(entry, count - 1);
  return true;
}

/** Turns a large array into buckets. False if buckets cannot hold it. */
export function arrayIntoBuckets(entry: usize): bool {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(bucketsBytes(count));
  if (!arrayToBuckets(payload, count, at, at)) { release(at, bucketsBytes(count)); return false; }
  release(payload, arrayBytes(count));
  setBlock(entry, Kind.BUCKETS, count, at);
  return true;
}

// --- Buckets ------------------------------------------------------------------------------------------------------------------

function insertIntoBuckets(entry: usize, low: u32): bool {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const index = bucketsFind(payload, count, low);
  if (index >> 31) return false;
  if (count == ARRAY_MAX) {
    bucketsIntoBitset(entry);
    return insertIntoBitset(entry, low, false);
  }
  if (!bucketsHaveRoom(payload, count, low)) {
    bucketsIntoArray(entry);
    addToArray(entry, arrayLowerBound(entryPayload<Own>(entry), count, low), low);
    return true;
  }
  const at = resize(payload, bucketsBytes(count), bucketsBytes(count + 1));
  bucketsInsert(at, count, index, low);
  setBlock(entry, Kind.BUCKETS, count + 1, at);
  return true;
}

function takeFromBuckets(entry: usize, low: u32, asIs: bool): bool {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const index = bucketsFind(payload, count, low);
  if (!(index >> 31)) return false;
  if (count <= BUCKETS_LEAST && !asIs) {
    bucketsIntoArray(entry);
    return takeFromArray(entry, low);
  }
  bucketsRemove(payload, count, index & 0xffff, low);
  resize(payload, bucketsBytes(count), bucketsBytes(count - 1));
  setCount(entry, count - 1);
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
function setArray(entry: usize, count: u32, at: usize): void {
  if (count > 2) { setBlock(entry, Kind.ARRAY, count, at); return; }
  const first = member(at, 0), second = member(at, 1);
  release(at, arrayBytes(count));
  if (count == 1) setSingle(entry, first); else setPair(entry, first, second);
}

export function bucketsIntoBitset(entry: usize): void {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(BITSET_BYTES);
  clearBitset(at);
  unionBucketsInto(payload, count, at);
  release(payload, bucketsBytes(count));
  setBlock(entry, Kind.BITSET, count, at);
}

// --- Bitsets ------------------------------------------------------------------------------------------------------------------

function insertIntoBitset(entry: usize, low: u32, revocable: bool): bool {
  const payload = entryPayload<Own>(entry);
  if (bitsetHas(payload, low)) return false;
  bitsetSet(payload, low);
  countUp(entry, 1, revocable);
  return true;
}

function takeFromBitset(entry: usize, low: u32, asIs: bool): bool {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry) - 1;
  if (!bitsetHas(payload, low)) return false;
  const stays = asIs || staysBitset(count);
  if (!stays) prepare(roomForPlain(count));
  bitsetClear(payload, low);
  setCount(entry, count);
  if (!stays) bitsetIntoPlain(entry);
  return true;
}

/** The most bytes that turning a bitset of `count` members into an array or buckets allocates. */
// @ts-ignore: decorator
@inline function roomForPlain(count: u32): usize { return blockBytes(arrayBytes(count)) + blockBytes(bucketsBytes(count)); }

/** Turns a bitset of few members into an array or buckets. */
function bitsetIntoPlain(entry: usize): void {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  prepare(roomForPlain(count));
  const at = allocate(arrayBytes(count));
  bitsetToArray(payload, at);
  release(payload, BITSET_BYTES);
  setArray(entry, count, at);
  if (count >= BUCKETS_LEAST) arrayIntoBuckets(entry);
}

/** Whether the container is a bitset or buckets for which another kind is better without `less` of its members. */
export function isDepleted(entry: usize, less: u32 = 0): bool {
  const kind = entryKind<Own>(entry), count = entryCount<Own>(entry) - less;
  return kind == Kind.BITSET ? !staysBitset(count) : kind == Kind.BUCKETS && count < BUCKETS_LEAST;
}

/** Turns a container that isDepleted() into a better kind. It has ARRAY_MAX members at most. */
export function convertDepleted(entry: usize): void {
  if (entryKind<Own>(entry) == Kind.BITSET) bitsetIntoPlain(entry); else bucketsIntoArray(entry);
}

/** Turns an array, in the entry or in a block, into a bitset. */
export function arrayIntoBitset(entry: usize): void {
  const count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
  const at = allocate(BITSET_BYTES);
  arrayToBitset(payload, count, at);
  releaseContainer(entry);
  setBlock(entry, Kind.BITSET, count, at);
}

/** Counts `more` new members of a bitset or of runs. The 65,536th makes the container FULL, though not yet if it is `revocable`. */
export function countUp(entry: usize, more: u32, revocable: bool): void {
  const count = entryCount<Own>(entry) + more;
  if (count < UNIVERSE) { setCount(entry, count); return; }
  if (revocable) { setCount(entry, count); setUnsettled(1); return; }
  releaseContainer(entry);
  setFull(entry, 1);
}

// --- Runs ---------------------------------------------------------------------------------------------------------------------

function insertIntoRuns(entry: usize, low: u32, revocable: bool): bool {
  const payload = entryPayload<Own>(entry), before = runsFind(payload, low), next = <u32>(before + 1);
  if (before >= 0 && low <= runEnd(payload, before)) return false;
  const joinsBefore = before >= 0 && runEnd(payload, before) + 1 == low;
  const joinsNext = next < runsCount(payload) && runStart(payload, next) == low + 1;
  if (joinsBefore && joinsNext && !revocable) {
    setRun(payload, before, runStart(payload, before), runEnd(payload, next));
    removeRun(entry, next);
  } else if (joinsBefore) {
    setRun(payload, before, runStart(payload, before), low);
    if (joinsNext) setUnsettled(1);
  } else if (joinsNext) {
    setRun(payload, next, low, runEnd(payload, next));
  } else if (mayHaveOneRunMore(payload, entryCount<Own>(entry) + 1)) {
    setRun(addRun(entry, next), next, low, low);
  } else {
    runsIntoPlain(entry);
    return insertInto(entry, low, revocable);
  }
  countUp(entry, 1, revocable);
  return true;
}

function takeFromRuns(entry: usize, low: u32): bool {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry), found = runsFind(payload, low), run = <u32>found;
  if (found < 0 || low > runEnd(payload, run)) return false;
  const start = runStart(payload, run), end = runEnd(payload, run);
  if (start == end) {
    removeRun(entry, run);
  } else if (low == start) {
    setRun(payload, run, start + 1, end);
  } else if (low == end) {
    setRun(payload, run, start, end - 1);
  } else if (mayHaveOneRunMore(payload, count - 1)) {
    const at = addRun(entry, run + 1);
    setRun(at, run, start, low - 1);
    setRun(at, run + 1, low + 1, end);
  } else {
    runsIntoPlain(entry);
    return takeFrom(entry, low, false);
  }
  setCount(entry, count - 1);
  return true;
}

/**
 * Cuts the run that holds both `low` - 1 and `low`, if there is one, between them, and the arena is then unsettled. Runs that become too
 * many turn into another kind.
 */
export function cutRunBefore(entry: usize, low: u32): void {
  const payload = entryPayload<Own>(entry), found = runsFind(payload, low), run = <u32>found;
  if (found < 0 || low > runEnd(payload, run) || low == runStart(payload, run)) return;
  if (!mayHaveOneRunMore(payload, entryCount<Own>(entry))) {
    runsIntoPlain(entry);
    return;
  }
  const start = runStart(payload, run), end = runEnd(payload, run), at = addRun(entry, run + 1);
  setRun(at, run, start, low - 1);
  setRun(at, run + 1, low, end);
  setUnsettled(1);
}

/** Whether a container of `count` members should stay runs when it gets one run more. */
// @ts-ignore: decorator
@inline function mayHaveOneRunMore(payload: usize, count: u32): bool { return runsBytes(runsCount(payload) + 1) <= plainBytes(count); }

/** Makes room for one run more, before run `index`; returns where the payload is then. */
function addRun(entry: usize, index: u32): usize {
  const old = entryPayload<Own>(entry), runs = runsCount(old), payload = resize(old, runsBytes(runs), runsBytes(runs + 1));
  insertRunAt(payload, index);
  setBlock(entry, Kind.RUNS, entryCount<Own>(entry), payload);
  return payload;
}

function removeRun(entry: usize, index: u32): void {
  const payload = entryPayload<Own>(entry), runs = runsCount(payload);
  removeRunAt(payload, index);
  resize(payload, runsBytes(runs), runsBytes(runs - 1));
}

/** Turns runs that have become too many into the array, buckets or bitset of the same members. */
function runsIntoPlain(entry: usize): void {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry), bytes = payloadBytes<Own>(entry);
  if (count <= 2) {
    const first = runStart(payload, 0), last = runEnd(payload, runsCount(payload) - 1);
    release(payload, bytes);
    if (count == 1) setSingle(entry, first); else setPair(entry, first, last);
    return;
  }
  const kind = isArraySized(count) ? Kind.ARRAY : Kind.BITSET;
  const at = allocate(kind == Kind.ARRAY ? arrayBytes(count) : BITSET_BYTES);
  if (kind == Kind.ARRAY) runsToArray(payload, at); else runsToBitset(payload, at);
  release(payload, bytes);
  setBlock(entry, kind, count, at);
  if (kind == Kind.ARRAY && count >= BUCKETS_FROM) arrayIntoBuckets(entry);
}
