// The operations of BITOP: at which keys each can have members, and what it makes of the containers there. NOT, which has only one source,
// is in complement.ts. X is the first source.

import { SELF, left } from "../env/memory";
import { Left } from "../env/view";
import { Kind } from "../arena/entry";
import { appendFull } from "../arena/builder";
import { stores } from "../container/kernel";
import { NO_KEY, cursorEntry, cursorKey, seekCursor } from "./cursor";
import { emit, emitCopy } from "./emit";
import { Fold, foldCardinality } from "./fold";
import { foldIntersection } from "./intersection";
import { Scratch, makeScratch, scratch } from "./scratch";
import { entryShape, shapeCount, shapeKind } from "./shape";
import { foldNext, has, presentAt, shapeOf } from "./source";
import { exactlyOne, foldPresent } from "./union";

/** See https://redis.io/docs/latest/commands/bitop. DIFF is X less the rest, DIFF1 the rest less X, ANDOR X and any of the rest. */
export const enum Operation { AND = 0, OR = 1, XOR = 2, NOT = 3, DIFF = 4, DIFF1 = 5, ANDOR = 6, ONE = 7 }

// --- Keys ---------------------------------------------------------------------------------------------------------------------

/** The least key at which the operation can have members. All cursors are then at that key or past it. */
export function nextKey(op: Operation, sources: u32): u64 {
  switch (op) {
    case Operation.AND: return keyOfAll(sources);
    case Operation.DIFF: return keyOfFirst(sources);
    case Operation.DIFF1: return keyOfRest(sources);
    case Operation.ANDOR: return keyOfFirstAndAny(sources);
    default: return leastKey(0, sources);
  }
}

/** The least key that any source from `from` on is at. */
function leastKey(from: u32, sources: u32): u64 {
  let key = NO_KEY;
  for (let c = from; c < sources; c++) key = min(key, cursorKey(c));
  return key;
}

/** The next key that all sources have. */
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

function keyOfFirst(sources: u32): u64 {
  const key = cursorKey(0);
  for (let c: u32 = 1; c < sources; c++) seekCursor(c, key);
  return key;
}

function keyOfRest(sources: u32): u64 {
  const key = leastKey(1, sources);
  seekCursor(0, key);
  return key;
}

/** The next key that the first source has and any of the rest has, too. */
function keyOfFirstAndAny(sources: u32): u64 {
  while (true) {
    const key = keyOfFirst(sources);
    if (key == NO_KEY) return key;
    const other = leastKey(1, sources);
    if (other == key || other == NO_KEY) return other;
    seekCursor(0, other);
  }
}

// --- Full containers ----------------------------------------------------------------------------------------------------------

/** Whether the operation makes a full container, or else nothing, where all sources that have the key are full. */
export function fullResult(op: Operation, key: u64, sources: u32): bool {
  const first = has(0, key), rest = presentAt(key, 1, sources), all = rest + u32(first);
  switch (op) {
    case Operation.AND: return all == sources;
    case Operation.OR: return all > 0;
    case Operation.XOR: return (all & 1) == 1;
    case Operation.ONE: return all == 1;
    case Operation.DIFF: return first && !rest;
    case Operation.DIFF1: return !first && rest > 0;
    default: return first && rest > 0;        // ANDOR
  }
}

// --- Containers ---------------------------------------------------------------------------------------------------------------

/** Combines the containers `key`, appends the result (S = Store) or only counts it (S = Count), and returns its members. */
export function combineContainers<S>(op: Operation, key: u64, sources: u32): u64 {
  const present = presentAt(key, 0, sources);
  if (present == 1) return takeOnly<S>(key);                  // nextKey() stops only where a lone container is the result
  makeScratch(Scratch.LIST);
  if (!stores<S>() && sources == 2 && present == 2) return cardinalityOfTwo(op);
  const s = combined(op, key, sources, present);
  if (stores<S>()) emit(key, s);
  return shapeCount(s);
}

/** The result of combining the `present` containers `key`, two or more. */
function combined(op: Operation, key: u64, sources: u32, present: u32): u64 {
  switch (op) {
    case Operation.AND: return foldIntersection(key, sources);
    case Operation.OR: return foldPresent(Fold.OR, key, 0, sources);
    case Operation.XOR: return foldPresent(Fold.XOR, key, 0, sources);
    case Operation.ONE: return present == 2 ? foldPresent(Fold.XOR, key, 0, sources) : exactlyOne(key, sources);
    case Operation.DIFF: return subtractRest(key, sources);
    case Operation.DIFF1: return foldFirst(Fold.ANDNOT, key, foldPresent(Fold.OR, key, 1, sources));
    default: return foldFirst(Fold.AND, key, foldPresent(Fold.OR, key, 1, sources));          // ANDOR
  }
}

/** Members of the operation on two sources that both have a container where their cursors are. */
function cardinalityOfTwo(op: Operation): u32 {
  const r = shapeOf(1), y = shapeCount(r);
  left.select(0);
  const l = entryShape<Left>(cursorEntry(0)), x = shapeCount(l);
  const both = foldCardinality(0, l, 1, r, scratch(Scratch.FIRST), scratch(Scratch.SECOND));
  switch (op) {
    case Operation.OR: return x + y - both;
    case Operation.XOR:
    case Operation.ONE: return x + y - 2 * both;
    case Operation.DIFF: return x - both;
    case Operation.DIFF1: return y - both;
    default: return both;                     // AND, ANDOR
  }
}

/** The result where one source alone has the key: a copy of its container. */
function takeOnly<S>(key: u64): u64 {
  let c: u32 = 0;
  while (!has(c, key)) c++;
  const s = shapeOf(c);
  if (stores<S>()) {
    if (shapeKind(s) == Kind.FULL) appendFull(key, 1);
    else emitCopy(key, cursorEntry(c));
  }
  return shapeCount(s);
}

/** The first source's container less those of the rest. */
function subtractRest(key: u64, sources: u32): u64 {
  let acc = shapeOf(0), at: u32 = 0;
  for (let c: u32 = 1; c < sources && shapeCount(acc); c++) {
    if (!has(c, key)) continue;
    acc = foldNext(Fold.ANDNOT, at, acc, c, shapeOf(c));
    at = SELF;
  }
  return acc;
}

/** Folds the first source's container, if it has one, into the union of the rest, which is in memory 0. */
function foldFirst(op: Fold, key: u64, rest: u64): u64 { return has(0, key) ? foldNext(op, SELF, rest, 0, shapeOf(0)) : rest; }
