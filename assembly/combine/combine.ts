// Several bitmaps into one, container by container. The walk goes through the directories of all sources in
// step. At each key it folds the containers that are there into one, which builder.ts appends: no bitmap is
// built on the way, and every source is read once. What is to be made of the sources is a tree of terms
// (term.ts).
//
// The walk goes by segments of keys over which no source changes. Mostly a segment is one container. Where
// all sources that have the key are full, it is as long as the shortest of their spans, and the result is
// full or nothing without looking at a container.

import { SELF, arena, left, reply, right } from "../env/memory";
import { Left, Own, Right } from "../env/view";
import { KEY_MAX } from "../arena/entry";
import { cardinalityHeld, entriesHeld } from "../arena/directory";
import { appendFull, begin, finish } from "../arena/builder";
import { Kind } from "../container/kind";
import { BITSET_BYTES } from "../container/limits";
import { Count, Store, stores } from "../container/kernel";
import { cursorKey, cursorLastKey, cursorTerm } from "./cursor";
import { emit, emitCopy } from "./emit";
import { evaluate, placesFor } from "./evaluate";
import { Sought, UNSUITED, mergeTiny } from "./leaves";
import { Operation, foldOf, openOperation, operationBytes } from "./operation";
import { openPair, walkPair } from "./pair";
import { makePlaces } from "./scratch";
import { moveItem } from "./seek";
import { shapeCount, shapeKind } from "./shape";
import { Fold } from "./sides";
import { resultEntry, resultOperand } from "./term";

/** The most that a container takes, with its entry and its share of the directory. */
// @ts-ignore: decorator
@inline const CONTAINER_BYTES: u64 = BITSET_BYTES + 24;

/**
 * Bytes that the result may well take: an arena of that size need not grow while the result is built. An
 * estimate from the sources' sizes; the result may be larger.
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
  // The complement of an array takes up to twice the array. Large sources mostly share their keys: then as
  // many bitsets are the most.
  return min(op == Operation.NOT ? 2 * first : sum, entries * CONTAINER_BYTES);
}

/** expectedBytes() of the union of memory 0 and operand 0; at least 1. */
export function unionBytes(): u64 {
  right.select(0);
  const entries = max(max<u64>(entriesHeld<Own>(), entriesHeld<Right>()), 1);
  return min(<u64>arena.size() + <u64>right.size(), entries * CONTAINER_BYTES);
}

/** More entries than an arena has room for: it is smaller than 4 GiB. */
// @ts-ignore: decorator
@inline const ENTRIES_MAX: u64 = 0x100000000 / 4;

/** Entries that operands 0 .. sources - 1 have together. */
function entriesOf(sources: u32): u64 {
  let entries: u64 = 0;
  for (let k: u32 = 0; k < sources; k++) {
    right.select(k);
    entries += entriesHeld<Right>();
  }
  return entries;
}

/** `entries`, or as many as an arena has room for. */
export function mostEntries(entries: u64): u64 { return min(entries, ENTRIES_MAX); }

/**
 * Makes memory 0, which is fresh, the combination of operands 0 .. sources - 1. Reads each as often as it is
 * given.
 */
export function combineOnce(op: Operation, sources: u32): void {
  if (sources == 2) {
    openTwo(op, mostEntries(2 * entriesOf(sources) + 1), 0);
    walkPair<Store>(foldOf(op), 0, KEY_MAX);
    finish();
    return;
  }
  // a FULL entry may be cut at both ends of every other
  begin(mostEntries(2 * entriesOf(sources) + 1), operationBytes(sources));
  openOperation(op, sources, 0);
  walk<Store>(0, KEY_MAX);
  finish();
}

/**
 * Members that combineOnce() would store in containers `first` to `last`, modulo 2^64. For 2^64 itself, adds
 * a member to the reply. Counting ends once there are `most` or more, unless `most` is 0. Memory 0, which is
 * fresh, is only worked in.
 */
export function combineCardinalityOnce(op: Operation, sources: u32, most: u64, first: u64, last: u64): u64 {
  if (sources == 2) {
    const fold = foldOf(op), whole = !first && last == KEY_MAX && !most;
    const shared = whole ? mergeTiny(Sought.SHARED) : UNSUITED;
    if (shared != UNSUITED) return countByShared(op, shared);
    openTwo(op, 0, first);
    if (whole && fold != Fold.AND && haveCounts()) {
      return countByShared(op, walkPair<Count>(Fold.AND, 0, KEY_MAX));
    }
    return walkPair<Count>(fold, most, last);
  }
  begin(0, operationBytes(sources));
  openOperation(op, sources, first);
  return walk<Count>(most, last);
}

/** Whether the cardinalities of both sources are known: 0 may be 2^64. */
function haveCounts(): bool {
  left.select(0);
  right.select(1);
  return cardinalityHeld<Left>() != 0 && cardinalityHeld<Right>() != 0;
}

/**
 * combineCardinalityOnce() of two sources, whose cardinalities are known, that have `shared` members in
 * common: containers that only one of them has need not be looked at.
 */
function countByShared(op: Operation, shared: u64): u64 {
  left.select(firstOf(op));
  right.select(1 - firstOf(op));
  const fold = foldOf(op), x = cardinalityHeld<Left>(), y = cardinalityHeld<Right>();
  if (fold == Fold.AND) return shared;
  if (fold == Fold.ANDNOT) return x - shared;
  const lone = x + y - 2 * shared, members = fold == Fold.OR ? lone + shared : lone;
  if (!members && x != shared) reply.member(0);
  return members;
}

/** The source that foldOf() wants as the first of two. */
// @ts-ignore: decorator
@inline function firstOf(op: Operation): u32 { return u32(op == Operation.DIFF1); }

/** Opens cursors on the two sources at container `key`, in the order in which foldOf() wants them. */
function openTwo(op: Operation, entries: u64, key: u64): void {
  openPair(firstOf(op), 1 - firstOf(op), entries, key);
}

/**
 * Walks the segments of item 0, a term, up to container `end`, and appends their results (S = Store) or only
 * counts them. Returns the members, modulo 2^64; if they are 2^64, and S = Count, adds a member to the reply.
 * Counting stops once there are `most` or more, unless `most` is 0.
 */
export function walk<S>(most: u64, end: u64): u64 {
  const term = cursorTerm(0), places = placesFor(term);
  let members: u64 = 0, any = false, key = cursorKey(0);
  while (key <= end) {
    makePlaces(places);
    const last = min(cursorLastKey(0), end), s = evaluate<S>(term, key);
    if (shapeKind(s) == Kind.FULL) {
      if (stores<S>()) appendFull(key, last - key + 1);
      members += (last - key + 1) << 16;
      any = true;
    } else if (shapeCount(s)) {
      if (stores<S>()) appendResult(term, key, s);
      members += shapeCount(s);
    }
    if (last == end || (!stores<S>() && members > most - 1)) break;
    moveItem(0, last + 1);
    key = cursorKey(0);
  }
  if (!stores<S>() && !members && any) reply.member(0);
  return members;
}

/** Appends the container `s`, the result of evaluate(). */
// @ts-ignore: decorator
@inline function appendResult(term: u32, key: u64, s: u64): void {
  const operand = resultOperand(term);
  if (operand == SELF) { emit(key, s); return; }
  right.select(operand);
  emitCopy(key, resultEntry(term));
}
