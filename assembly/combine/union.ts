// The union or the symmetric difference (XOR) of the containers that some sources have at one key. There are four strategies, and
// strategyFor() chooses among them.

import { SELF, left, right } from "../env/memory";
import { Kind } from "../arena/entry";
import { ARRAY_MAX, BITSET_BYTES, UNIVERSE } from "../container/limits";
import { bitsetCardinality, complementBitset, differenceBitsets, intersectBitsets, unionBitsets } from "../container/bitset";
import { BUCKETS_FROM } from "../container/buckets";
import { unionArrayUncounted, unionRunsInto, xorArrayUncounted, xorRunsInto } from "../container/mixed";
import { clearEdges, edgesToRuns, flipEdges, runsCardinality } from "../container/run";
import { gatherBitsets } from "./bitsets";
import { Fold } from "./fold";
import { RUNS_MAX, Scratch, scratch } from "./scratch";
import { NOTHING, copyShape, fullShape, runsShape, shape, shapeAt, shapeCount, shapeKind } from "./shape";
import { foldNext, has, presentAt, shapeOf, toBitset } from "./source";
import { unpackedRight } from "./unpack";

const enum Strategy {
  /** One container after the other, in the order of the sources. */
  IN_TURN,
  /** Arrays and buckets from the smallest on, so that each member is moved few times. */
  SMALLEST_FIRST,
  /** Everything into one bitset, counted once at the end. */
  BY_BITSET,
  /** Runs, for XOR: a bitset of where runs begin and end. */
  BY_EDGES,
}

/** From this many members and runs in three containers or more, a bitset is quicker than folding in turn. */
// @ts-ignore: decorator
@inline const BY_BITSET_FROM: u32 = 512;
/** Most containers that are sorted by size. */
// @ts-ignore: decorator
@inline const SORTED_MAX: u32 = 16;

/** The union (OR) or symmetric difference (XOR) of all containers `key` from source `from` on, in memory 0. */
export function foldPresent(op: Fold, key: u64, from: u32, sources: u32): u64 {
  switch (strategyFor(op, key, from, sources)) {
    case Strategy.SMALLEST_FIRST: return foldSmallestFirst(op, presentAt(key, from, sources));
    case Strategy.BY_BITSET: return foldByBitset(op, key, from, sources);
    case Strategy.BY_EDGES: return xorByEdges(key, from, sources);
    default: return foldInTurn(op, key, from, sources);
  }
}

/** The quickest strategy for the containers `key`. For SMALLEST_FIRST they are listed by size in Scratch.LIST. */
function strategyFor(op: Fold, key: u64, from: u32, sources: u32): Strategy {
  let present: u32 = 0, pieces: u32 = 0, onlyRuns = true, onlyLists = true;   // pieces: members, and runs
  for (let c = from; c < sources; c++) {
    if (!has(c, key)) continue;
    const s = shapeOf(c), kind = shapeKind(s);
    present++;
    onlyRuns = onlyRuns && kind == Kind.RUNS;
    onlyLists = onlyLists && (kind == Kind.ARRAY || kind == Kind.BUCKETS);
    pieces += kind == Kind.RUNS ? right.load16(shapeAt(s), 0) : shapeCount(s);
  }
  if (present <= 2) return Strategy.IN_TURN;
  if (op == Fold.XOR && onlyRuns && pieces <= RUNS_MAX) return Strategy.BY_EDGES;
  if (pieces <= BY_BITSET_FROM) return Strategy.IN_TURN;
  if (!onlyLists || pieces > ARRAY_MAX || present > SORTED_MAX) return Strategy.BY_BITSET;
  return sortBySize(key, from, sources) < bitsetCost(pieces) ? Strategy.SMALLEST_FIRST : Strategy.BY_BITSET;
}

function foldInTurn(op: Fold, key: u64, from: u32, sources: u32): u64 {
  let acc = NOTHING, at = SELF, begun = false;
  for (let c = from; c < sources; c++) {
    if (!has(c, key)) continue;
    const next = shapeOf(c);
    if (!begun) {
      begun = true;
      acc = next;
      at = c;
      continue;
    }
    acc = foldNext(op, at, acc, c, next);
    at = SELF;
  }
  if (at == SELF) return acc;
  right.select(at);
  return copyShape(acc, scratch(Scratch.FIRST));
}

// --- Smallest first -----------------------------------------------------------------------------------------------------------
// Scratch.LIST has a u64 for each container that is there: its cardinality in the high half, its source in the low.

// @ts-ignore: decorator
@inline function listed(i: u32): usize { return scratch(Scratch.LIST) + (<usize>i << 3); }

// Costs, measured in units of what merging two arrays takes for one member of the result, about a nanosecond.

/** Merging two containers of buckets, whatever they hold. */
// @ts-ignore: decorator
@inline const MERGING_BUCKETS: u32 = 1400;
/** The union of containers with so many members, by way of a bitset. */
// @ts-ignore: decorator
@inline function bitsetCost(members: u32): u32 { return 1200 + 2 * members + (members >> 2); }

/** Lists the containers `key` from source `from` on by size; returns what folding them in that order costs. */
function sortBySize(key: u64, from: u32, sources: u32): u32 {
  let present: u32 = 0, cost: u32 = 0;
  for (let c = from; c < sources; c++) {
    if (!has(c, key)) continue;
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

/** Folds the `present` containers that sortBySize() listed. */
function foldSmallestFirst(op: Fold, present: u32): u64 {
  let at = load<u32>(listed(0)), acc = shapeOf(at);
  for (let i: u32 = 1; i < present; i++) {
    const c = load<u32>(listed(i));
    acc = foldNext(op, at, acc, c, shapeOf(c));
    at = SELF;
  }
  return acc;
}

// --- By edges -----------------------------------------------------------------------------------------------------------------

/**
 * The symmetric difference of containers that are all runs. A bitset has a bit for each offset at which a run begins and for each that
 * follows a run's end; a bit is flipped as often as such an edge occurs. The result's runs reach from each edge that is left to the next.
 */
function xorByEdges(key: u64, from: u32, sources: u32): u64 {
  const edges = scratch(Scratch.FIRST), out = scratch(Scratch.TEMP);          // the edges reach into Scratch.SECOND
  clearEdges(edges);
  for (let c = from; c < sources; c++) if (has(c, key)) flipEdges(edges, shapeAt(shapeOf(c)));
  left.select(SELF);
  edgesToRuns(edges, out);
  return runsShape(runsCardinality(out), out);
}

// --- By a bitset --------------------------------------------------------------------------------------------------------------

/** Combines the bitsets first, then changes the bits of the other containers' members one by one, and counts once at the end. */
function foldByBitset(op: Fold, key: u64, from: u32, sources: u32): u64 {
  const bits = scratch(Scratch.FIRST), acc = gatherBitsets(op, key, from, sources);
  let begun = acc != NOTHING, counted = begun, inverted = false;              // inverted: by an odd number of full containers
  for (let c = from; c < sources; c++) {
    if (!has(c, key)) continue;
    const s = unpackedRight(c, shapeOf(c)), kind = shapeKind(s), at = shapeAt(s);
    if (kind == Kind.BITSET) continue;
    if (kind == Kind.FULL) {
      if (op == Fold.OR) return s;
      inverted = !inverted;
      continue;
    }
    counted = false;
    if (!begun) {
      begun = true;
      toBitset(c, shapeOf(c), bits);
    } else if (kind == Kind.ARRAY) {
      if (op == Fold.OR) unionArrayUncounted(bits, at, shapeCount(s)); else xorArrayUncounted(bits, at, shapeCount(s));
    } else if (op == Fold.OR) unionRunsInto(bits, at);
    else xorRunsInto(bits, at);
  }
  if (!begun) return inverted ? fullShape() : NOTHING;
  left.select(SELF);
  if (inverted) return shape(Kind.BITSET, complementBitset(bits, bits), bits);
  return counted ? acc : shape(Kind.BITSET, bitsetCardinality(bits), bits);
}

// --- In exactly one ------------------------------------------------------------------------------------------------------------

/** What is in exactly one of three containers or more: what was met once or more often, without what was met again. */
export function exactlyOne(key: u64, sources: u32): u64 {
  const met = scratch(Scratch.FIRST), again = scratch(Scratch.SECOND), next = scratch(Scratch.TEMP), both = scratch(Scratch.SPARE);
  memory.fill(met, 0, 2 * BITSET_BYTES);      // and `again`
  for (let c: u32 = 0; c < sources; c++) {
    if (!has(c, key)) continue;
    const s = toBitset(c, shapeOf(c), next);
    if (shapeCount(s) == UNIVERSE) memory.fill(next, 0xff, BITSET_BYTES);
    left.select(SELF);
    right.select(SELF);
    intersectBitsets(met, next, both);
    unionBitsets(again, both, again);
    unionBitsets(met, next, met);
  }
  left.select(SELF);
  right.select(SELF);
  return shape(Kind.BITSET, differenceBitsets(met, again, met), met);
}
