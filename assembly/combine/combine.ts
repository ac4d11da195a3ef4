// n bitmaps into one, container at a time: walk all directories in step, and for each key fold the containers there are into one, once.
// No bitmap is built on the way, every source is read once, and the result is written in order (builder.ts).
//
// Keys are handled in segments [key, end] over which no source changes: mostly one container, but where the sources that are there are
// all FULL the segment is as long as the shortest of them, and its result is FULL or nothing without looking at a container.

import { SELF, left, right } from "../env/memory";
import { Left, Right } from "../env/view";
import { alignedBump, makeRoom } from "../arena/arena";
import { KEY_MAX, Kind } from "../arena/entry";
import { entriesHeld } from "../arena/directory";
import { appendFull, begin, finish } from "../arena/builder";
import { CURSOR_BYTES, NO_KEY, cursorEntry, cursorKey, cursorLastKey, openCursor, passCursor, seekCursor } from "./cursor";
import { emit, emitCopy, normalized } from "./emit";
import {
  FOLD_BYTES, Fold, NOTHING, RUNS_MAX, copyShape, entryShape, fold, foldCardinality, fullShape, shape, shapeAt, shapeCount, shapeKind,
  unpackedLeft, unpackedRight,
} from "./fold";
import { ARRAY_MAX, BITSET_BYTES, memberCount } from "../container/limits";
import { And, Count, Or, Store, StoreOnly, Xor, stores } from "../container/kernel";
import {
  PART_BYTES, bitsetCardinality, combineParts, complementBitset, intersectBitsets, differenceBitsets, unionBitsets,
} from "../container/bitset";
import { xorArrayUncounted, xorRunsInto, unionArrayUncounted, unionRunsInto } from "../container/mixed";
import { arrayToBitset, runsToBitset } from "../container/convert";
import { SPARSE, extractPart, isDense } from "../container/extract";
import { BUCKETS_FROM } from "../container/buckets";
import { clearEdges, edgesToRuns, flipEdges, runsCardinality } from "../container/run";

/** The operations of https://redis.io/docs/latest/commands/bitop, NOT apart: complement.ts has that. X is the first source. */
export const enum Operation { AND = 0, OR = 1, XOR = 2, NOT = 3, DIFF = 4, DIFF1 = 5, ANDOR = 6, ONE = 7 }

/** Room for the containers on their way: three for a fold, two for what emit() converts into. */
// @ts-ignore: decorator
@inline const WORK_BYTES: usize = 64 + 5 * FOLD_BYTES;
/** From this many members and runs in three containers or more a union is quicker through a bitset than by merging. */
// @ts-ignore: decorator
@inline const UNION_BY_BITSET: u32 = 512;
/** So few members are quicker looked up in a bitset one by one than the bitset is read. */
// @ts-ignore: decorator
@inline const FEW: u32 = 24;
/** So many bitsets are read by turns: as many as a CPU can foresee. */
// @ts-ignore: decorator
@inline const STREAMS: u32 = 8;

/** The most that a container takes, its entry and its part of the directory included. */
// @ts-ignore: decorator
@inline const CONTAINER_BYTES: u64 = BITSET_BYTES + 24;

/**
 * Bytes that the combination may well take, so that its arena need not grow: no more than its sources, and if they have their containers
 * in common, which the large ones mostly do, no more than as many bitsets. It may be more.
 */
export function expectedBytes(op: Operation, sources: u32): u64 {
  let sum: u64 = 0, least = u64.MAX_VALUE, first: u64 = 0, entries: u64 = 0;
  for (let c: u32 = 0; c < sources; c++) {
    right.select(c);
    const size = <u64>right.size();
    sum += size;
    least = min(least, size);
    if (!c) first = size;
    entries = max<u64>(entries, entriesHeld<Right>());
  }
  if (op == Operation.AND) return least;
  if (op == Operation.DIFF || op == Operation.ANDOR) return first;
  return min(op == Operation.NOT ? 2 * first : sum, entries * CONTAINER_BYTES);   // an array's gaps take twice what it does
}

/** Makes memory 0, which is fresh, the combination of operands 0 .. sources - 1. */
export function combine(op: Operation, sources: u32): void {
  openAll(sources);
  walk<Store>(op, sources);
  finish();
}

/** Members that combine() would give; memory 0, which is fresh, is only worked in. Modulo 2^64. */
export function combineCardinality(op: Operation, sources: u32): u64 {
  openAll(sources);
  return walk<Count>(op, sources);
}

/** Begins the result and opens a cursor on every source. */
export function openAll(sources: u32): void {
  let entries: u64 = 0;
  for (let c: u32 = 0; c < sources; c++) {
    right.select(c);
    entries += entriesHeld<Right>();
  }
  begin(2 * entries + 1, <usize>sources * CURSOR_BYTES);      // a FULL entry may be cut at both ends of every other
  for (let c: u32 = 0; c < sources; c++) openCursor(c);
}

/** Goes through all segments; appends their results (S = Store) or leaves it at counting. */
function walk<S>(op: Operation, sources: u32): u64 {
  let members: u64 = 0;
  while (true) {
    const key = nextKey(op, sources);
    if (key == NO_KEY) return members;
    const end = segmentEnd(key, sources);
    if (end == key) {
      members += combineContainers<S>(op, key, sources);
    } else if (fullResult(op, key, sources)) {
      if (stores<S>()) appendFull(key, end - key + 1);
      members += (end - key + 1) << 16;
    }
    for (let c: u32 = 0; c < sources; c++) passCursor(c, end);
  }
}

/** The least key at which the operation can have members; all cursors are then at it or past it. */
function nextKey(op: Operation, sources: u32): u64 {
  if (op == Operation.AND) return keyOfAll(sources);
  if (op == Operation.OR || op == Operation.XOR || op == Operation.ONE) return leastKey(0, sources);
  if (op == Operation.DIFF1) {
    const key = leastKey(1, sources);
    seekCursor(0, key);
    return key;
  }
  while (true) {
    const key = cursorKey(0);
    for (let c: u32 = 1; c < sources; c++) seekCursor(c, key);
    if (op == Operation.DIFF || key == NO_KEY) return key;
    const other = leastKey(1, sources);       // ANDOR: one of the rest must be there too
    if (other == key || other == NO_KEY) return other;
    seekCursor(0, other);
  }
}

function leastKey(from: u32, sources: u32): u64 {
  let key = NO_KEY;
  for (let c = from; c < sources; c++) key = min(key, cursorKey(c));
  return key;
}

/** The first key that all sources have. */
function keyOfAll(sources: u32): u64 {
  let key = cursorKey(0), agreed: u32 = 1, c: u32 = 0;
  while (agreed < sources && key != NO_KEY) {
    c = c + 1 == sources ? 0 : c + 1;
    seekCursor(c, key);
    const at = cursorKey(c);
    if (at == key) { agreed++; continue; }
    key = at;
    agreed = 1;
  }
  return key;
}

/** The last key up to which the same sources are there with the same entries as at `key`. */
function segmentEnd(key: u64, sources: u32): u64 {
  let end = KEY_MAX;
  for (let c: u32 = 0; c < sources; c++) {
    const at = cursorKey(c);
    end = min(end, at == key ? cursorLastKey(c) : at - 1);
  }
  return end;
}

/** How many of the sources from `from` on have a container `key`. */
function presentAt(key: u64, from: u32, sources: u32): u32 {
  let present: u32 = 0;
  for (let c = from; c < sources; c++) present += u32(cursorKey(c) == key);
  return present;
}

/** Whether the operation on full containers, of all sources that are at `key`, is full; else it is empty. */
function fullResult(op: Operation, key: u64, sources: u32): bool {
  const first = cursorKey(0) == key, rest = presentAt(key, 1, sources), all = rest + u32(first);
  if (op == Operation.AND) return all == sources;
  if (op == Operation.OR) return all > 0;
  if (op == Operation.XOR) return (all & 1) == 1;
  if (op == Operation.ONE) return all == 1;
  if (op == Operation.DIFF) return first && !rest;
  if (op == Operation.DIFF1) return !first && rest > 0;
  return first && rest > 0;                   // ANDOR
}

/** The operation on the containers `key`; returns the result's members. */
function combineContainers<S>(op: Operation, key: u64, sources: u32): u64 {
  const first = cursorKey(0) == key, rest = presentAt(key, 1, sources), present = rest + u32(first);
  if (present == 1) return takeOnly<S>(key);                  // every operation that comes here keeps what is alone
  makeRoom(WORK_BYTES);
  if (!stores<S>() && sources == 2 && present == 2) return cardinalityOfTwo(op);
  let s: u64;
  if (op == Operation.AND) s = foldIntersection(key, sources);
  else if (op == Operation.DIFF) s = subtractRest(key, sources);
  else if (op == Operation.DIFF1 || op == Operation.ANDOR) s = withFirst(op, first, foldPresent(Fold.OR, key, 1, sources));
  else if (op == Operation.OR) s = foldPresent(Fold.OR, key, 0, sources);
  else if (op == Operation.XOR || present == 2) s = foldPresent(Fold.XOR, key, 0, sources);
  else s = exactlyOne(key, sources);
  if (stores<S>()) emit(key, s);
  return shapeCount(s);
}

/** The operation on the containers of two sources that both are there. */
function cardinalityOfTwo(op: Operation): u32 {
  const r = shapeOf(1), y = shapeCount(r);
  left.select(0);
  const l = entryShape<Left>(cursorEntry(0)), x = shapeCount(l);
  const both = foldCardinality(0, l, 1, r, work(0), work(1));
  if (op == Operation.OR) return x + y - both;
  if (op == Operation.XOR || op == Operation.ONE) return x + y - 2 * both;
  if (op == Operation.DIFF) return x - both;
  return op == Operation.DIFF1 ? y - both : both;
}

// @ts-ignore: decorator
@inline function work(slot: u32): usize { return alignedBump() + <usize>slot * FOLD_BYTES; }
/** A slot of the work room that the shape does not lie in: the first or the second. */
// @ts-ignore: decorator
@inline function workBeside(s: u64): usize { return work(u32(shapeAt(s) == work(0))); }

/** The shape of source `c`'s container; shows the source on the right. */
// @ts-ignore: decorator
@inline function shapeOf(c: u32): u64 {
  right.select(c);
  return entryShape<Right>(cursorEntry(c));
}

/** The one container that is at `key` is the result: copies it. */
function takeOnly<S>(key: u64): u64 {
  let c: u32 = 0;
  while (cursorKey(c) != key) c++;
  const s = shapeOf(c);
  if (stores<S>()) {
    if (shapeKind(s) == Kind.FULL) appendFull(key, 1);
    else emitCopy(key, cursorEntry(c));
  }
  return shapeCount(s);
}

/** Folds from the smallest on, so that nothing is larger than it must be. All sources are there. */
function foldIntersection(key: u64, sources: u32): u64 {
  let smallest: u32 = 0, least: u32 = u32.MAX_VALUE;
  for (let c: u32 = 0; c < sources; c++) {
    const count = shapeCount(shapeOf(c));
    if (count < least) { least = count; smallest = c; }
  }
  let acc = shapeOf(smallest), at = smallest, c: u32 = 0;
  while (c < sources && shapeCount(acc)) {
    if (c == smallest) { c++; continue; }
    const next = shapeOf(c);
    if (shapeKind(acc) == Kind.BITSET && shapeKind(next) == Kind.BITSET) {
      const end = fewFrom(shapeCount(acc), c, smallest, sources);
      const members = intersectToArray(acc, at, key, c, end, smallest);
      acc = members != TOO_MANY ? members : foldBitsets<And>(acc, at, key, c, end, smallest);
      if (end < sources && shapeCount(acc) <= FEW) acc = normalized(acc);
      c = end;
    } else {
      left.select(at);
      acc = fold(Fold.AND, at, acc, c, next, at == SELF ? workBeside(acc) : work(0), work(2));
      c++;
    }
    at = SELF;
  }
  return acc;
}

/** One past the source, `from` or a later one, with which few members are to be expected in an intersection that has had `count` so far. */
function fewFrom(count: u32, from: u32, but: u32, sources: u32): u32 {
  let expected = count, c = from;
  for (let streams: u32 = 0; c < sources && (!streams || (expected > FEW && streams < STREAMS)); c++) {
    if (c == but) continue;
    const next = shapeOf(c);
    if (shapeKind(next) != Kind.BITSET) break;
    expected = expectedOf(expected, next);
    streams++;
  }
  return c;
}

/** Members to be expected in the intersection of `count` members with a container that knows nothing of them. */
// @ts-ignore: decorator
@inline function expectedOf(count: u32, s: u64): u32 { return <u32>((<u64>count * shapeCount(s)) >> 16); }

/** What intersectToArray() answers when it gives up. */
// @ts-ignore: decorator
@inline const TOO_MANY: u64 = u64.MAX_VALUE;
/** From this many expected members on it is likely that an intersection is no array. */
// @ts-ignore: decorator
@inline const MANY: u32 = 3000;

/**
 * What foldBitsets<And>() would give as an array, if it is likely to become one: its members are taken out while it is made. Gives up, with
 * nothing changed that counts, when there are more of them anywhere than an array could hold if there were as many everywhere.
 */
function intersectToArray(acc: u64, at: u32, key: u64, from: u32, to: u32, but: u32): u64 {
  let expected = shapeCount(acc);
  for (let c = from; c < to; c++) if (c != but) expected = expectedOf(expected, shapeOf(c));
  if (expected < SPARSE || expected >= MANY || (at == SELF && shapeAt(acc) != work(0))) return TOO_MANY;
  const start = work(1), list = work(4), last = lastBitset(key, to, but);
  let out = start;
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
    const a = foldPart<And>(acc, at, key, from, last, but, work(0), part);
    out = extractPart<And>(a, shapeAt(shapeOf(last)) + part, <u32>part << 3, isDense(expected), out, list);
    if (memberCount(start, out) > <u32>((part + PART_BYTES) * ARRAY_MAX / BITSET_BYTES)) return TOO_MANY;
  }
  const members = memberCount(start, out);
  return members ? shape(Kind.ARRAY, members, start) : NOTHING;
}

/** The last source before `to`, `but` apart, that has a bitset at `key`. */
// @ts-ignore: decorator
@inline function lastBitset(key: u64, to: u32, but: u32): u32 {
  let last = to - 1;
  while (last == but || !isBitset(key, last)) last--;
  return last;
}

/**
 * Folds the bitsets `key` of sources from .. to - 1, of which there is one at least beside that of source `but`, into `acc`, a bitset of
 * operand `at`. The result is in memory 0.
 */
function foldBitsets<O>(acc: u64, at: u32, key: u64, from: u32, to: u32, but: u32): u64 {
  const out = at == SELF ? shapeAt(acc) : work(0), last = lastBitset(key, to, but);
  let members: u32 = 0;
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
    const a = foldPart<O>(acc, at, key, from, last, but, out, part);
    members += combineParts<O, Store>(a, shapeAt(shapeOf(last)) + part, out + part);
  }
  return members ? shape(Kind.BITSET, members, out) : NOTHING;
}

/** The same of the PART_BYTES at `part`, up to source `last`, which stays out: shows the result on the left and returns its address. */
// @ts-ignore: decorator
@inline function foldPart<O>(acc: u64, at: u32, key: u64, from: u32, last: u32, but: u32, out: usize, part: usize): usize {
  let a = shapeAt(acc) + part;
  left.select(at);
  for (let c = from; c < last; c++) {
    if (c == but || !isBitset(key, c)) continue;
    combineParts<O, StoreOnly>(a, shapeAt(shapeOf(c)) + part, out + part);
    left.select(SELF);
    a = out + part;
  }
  return a;
}

/** Whether source `c` has a bitset at `key`. */
// @ts-ignore: decorator
@inline function isBitset(key: u64, c: u32): bool { return cursorKey(c) == key && shapeKind(shapeOf(c)) == Kind.BITSET; }

/** The union or symmetric difference of all containers `key` from source `from` on, in memory 0. */
function foldPresent(op: Fold, key: u64, from: u32, sources: u32): u64 {
  let present: u32 = 0, pieces: u32 = 0, onlyRuns = true, onlyLists = true;
  for (let c = from; c < sources; c++) {
    if (cursorKey(c) != key) continue;
    const s = shapeOf(c), kind = shapeKind(s);
    present++;
    onlyRuns = onlyRuns && kind == Kind.RUNS;
    onlyLists = onlyLists && (kind == Kind.ARRAY || kind == Kind.BUCKETS);
    pieces += kind == Kind.RUNS ? right.load16(shapeAt(s), 0) : shapeCount(s);
  }
  if (present > 2 && op == Fold.XOR && onlyRuns && pieces <= RUNS_MAX) return xorByEdges(key, from, sources);
  if (present > 2 && pieces > UNION_BY_BITSET) {
    const mayMerge = onlyLists && pieces <= ARRAY_MAX && present <= MERGED;
    if (mayMerge && sortedCost(key, from, sources) < bitsetCost(pieces)) return foldSorted(op, present);
    return foldByBitset(op, key, from, sources);
  }
  let acc = NOTHING, at = SELF, begun = false;
  for (let c = from; c < sources; c++) {
    if (cursorKey(c) != key) continue;
    const next = shapeOf(c);
    if (!begun) {
      begun = true;
      acc = next;
      at = c;
      continue;
    }
    left.select(at);
    acc = fold(op, at, acc, c, next, at == SELF ? workBeside(acc) : work(0), work(2));
    at = SELF;
  }
  if (at != SELF) { right.select(at); acc = copyShape(acc, work(0)); }
  return acc;
}

// Arrays and buckets of unlike sizes are merged from the smallest on, so that each member is moved few times. Their counts and sources are
// listed in the last slot of the work room.

/** Most containers that are merged. */
// @ts-ignore: decorator
@inline const MERGED: u32 = 16;
// What things cost, in what merging two arrays takes for a member of the result, some nanosecond.
// @ts-ignore: decorator
@inline const MERGING_BUCKETS: u32 = 1400;
// @ts-ignore: decorator
@inline function bitsetCost(pieces: u32): u32 { return 1200 + 2 * pieces + (pieces >> 2); }

// @ts-ignore: decorator
@inline function listed(i: u32): usize { return work(4) + (<usize>i << 3); }

/** Lists the containers `key` from source `from` on by their size; returns what merging them in that order costs. */
function sortedCost(key: u64, from: u32, sources: u32): u32 {
  let present: u32 = 0, cost: u32 = 0;
  for (let c = from; c < sources; c++) {
    if (cursorKey(c) != key) continue;
    const one = <u64>shapeCount(shapeOf(c)) << 32 | c;
    let i = present++;
    for (; i && load<u64>(listed(i - 1)) > one; i--) store<u64>(listed(i), load<u64>(listed(i - 1)));
    store<u64>(listed(i), one);
  }
  let members = <u32>(load<u64>(listed(0)) >> 32);
  for (let i: u32 = 1; i < present; i++) {
    members += <u32>(load<u64>(listed(i)) >> 32);
    cost += members < BUCKETS_FROM ? members : MERGING_BUCKETS;
  }
  return cost;
}

/** The union or symmetric difference of the `present` containers that are listed, in memory 0. */
function foldSorted(op: Fold, present: u32): u64 {
  let at = load<u32>(listed(0)), acc = shapeOf(at);
  for (let i: u32 = 1; i < present; i++) {
    const c = load<u32>(listed(i)), next = shapeOf(c);
    left.select(at);
    acc = fold(op, at, acc, c, next, at == SELF ? workBeside(acc) : work(0), work(2));
    at = SELF;
  }
  return acc;
}

/**
 * What is in an odd number of the containers `key` from source `from` on, all runs: a bitset of where runs begin and end, each edge flipped
 * as often as it occurs, has the result's runs from one edge that is left to the next.
 */
function xorByEdges(key: u64, from: u32, sources: u32): u64 {
  const edges = work(0), out = work(2);       // the edges take a little more than one slot
  clearEdges(edges);
  for (let c = from; c < sources; c++) if (cursorKey(c) == key) flipEdges(edges, shapeAt(shapeOf(c)));
  left.select(SELF);
  const runs = edgesToRuns(edges, out);
  return runs ? shape(Kind.RUNS, runsCardinality(out), out) : NOTHING;
}

/** The same by way of a bitset in memory 0: first the bitsets, then what is changed in their union one by one and counted in the end. */
function foldByBitset(op: Fold, key: u64, from: u32, sources: u32): u64 {
  const bits = work(0), acc = gatherBitsets(op, key, from, sources);
  let begun = acc != NOTHING, counted = begun, flipped: u32 = 0;        // how many were full
  for (let c = from; c < sources; c++) {
    if (cursorKey(c) != key) continue;
    const s = unpackedRight(c, shapeOf(c)), kind = shapeKind(s), at = shapeAt(s);
    if (kind == Kind.BITSET) continue;
    if (kind == Kind.FULL) {
      if (op == Fold.OR) return s;
      flipped++;
      continue;
    }
    counted = false;
    if (!begun) {
      begun = true;
      bitsetOf(c, shapeOf(c), bits);
    } else if (kind == Kind.ARRAY) {
      if (op == Fold.OR) unionArrayUncounted(bits, at, shapeCount(s)); else xorArrayUncounted(bits, at, shapeCount(s));
    } else if (op == Fold.OR) unionRunsInto(bits, at);
    else xorRunsInto(bits, at);
  }
  if (!begun) return flipped & 1 ? fullShape() : NOTHING;
  left.select(SELF);
  if (flipped & 1) return shape(Kind.BITSET, complementBitset(bits, bits), bits);
  return counted ? acc : shape(Kind.BITSET, bitsetCardinality(bits), bits);
}

/** All bitsets that the sources have at `key` as one, in the first slot of the work room; NOTHING if there are none. */
function gatherBitsets(op: Fold, key: u64, from: u32, sources: u32): u64 {
  let acc = NOTHING, at = SELF, c = from;
  while (c < sources) {
    if (!isBitset(key, c)) { c++; continue; }
    if (acc == NOTHING) { acc = shapeOf(c); at = c++; continue; }
    let end = c, streams: u32 = 0;
    for (; end < sources && streams < STREAMS; end++) streams += u32(isBitset(key, end));
    acc = op == Fold.OR ? foldBitsets<Or>(acc, at, key, c, end, SELF) : foldBitsets<Xor>(acc, at, key, c, end, SELF);
    at = SELF;
    c = end;
  }
  return at == SELF ? acc : bitsetOf(at, shapeOf(at), work(0));
}

/** The container that `right` shows of source `c` as a bitset at `to`, unless it is full. */
function bitsetOf(c: u32, s: u64, to: usize): u64 {
  const kind = shapeKind(s);
  if (kind == Kind.FULL) return s;
  left.select(c);
  if (kind == Kind.ARRAY) arrayToBitset(shapeAt(s), shapeCount(s), to);
  else if (kind == Kind.RUNS) runsToBitset(shapeAt(s), to);
  else if (kind == Kind.BUCKETS) arrayToBitset(shapeAt(unpackedLeft(c, s)), shapeCount(s), to);
  else left.copy(to, shapeAt(s), BITSET_BYTES);
  return shape(Kind.BITSET, shapeCount(s), to);
}

/** The first source's container less those of the rest. */
function subtractRest(key: u64, sources: u32): u64 {
  let acc = shapeOf(0), at: u32 = 0;
  for (let c: u32 = 1; c < sources && shapeCount(acc); c++) {
    if (cursorKey(c) != key) continue;
    const next = shapeOf(c);
    left.select(at);
    acc = fold(Fold.ANDNOT, at, acc, c, next, at == SELF ? workBeside(acc) : work(0), work(2));
    at = SELF;
  }
  return acc;
}

/** The rest's union, in memory 0, with the first source's container taken out of it (DIFF1) or met with it (ANDOR). */
function withFirst(op: Operation, first: bool, rest: u64): u64 {
  if (!first) return rest;
  const next = shapeOf(0);
  left.select(SELF);
  return fold(op == Operation.DIFF1 ? Fold.ANDNOT : Fold.AND, SELF, rest, 0, next, workBeside(rest), work(2));
}

/** What is in exactly one of three containers or more: in one so far, less what was met again. */
function exactlyOne(key: u64, sources: u32): u64 {
  const once = work(0), again = work(1), next = work(2), both = work(3);
  memory.fill(once, 0, 2 * BITSET_BYTES);
  for (let c: u32 = 0; c < sources; c++) {
    if (cursorKey(c) != key) continue;
    const s = bitsetOf(c, shapeOf(c), next);
    if (shapeKind(s) == Kind.FULL) memory.fill(next, 0xff, BITSET_BYTES);
    left.select(SELF);
    right.select(SELF);
    intersectBitsets(once, next, both);
    unionBitsets(again, both, again);
    unionBitsets(once, next, once);
  }
  left.select(SELF);
  right.select(SELF);
  return shape(Kind.BITSET, differenceBitsets(once, again, once), once);
}
