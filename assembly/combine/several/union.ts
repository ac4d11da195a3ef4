// The union or the symmetric difference (XOR) of the containers that a term's operands have at one key. There
// are four strategies, and strategyFor() chooses among them.

import { SELF, left, right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Bitset } from "../../container/bitset";
import { Kernel, Or, Sink, Store, Xor } from "../../container/kernel";
import { unionArrayUncounted, unionRunsInto, xorArrayUncounted, xorRunsInto } from "../../container/mixed";
import { Runs } from "../../container/run";
import { combineShortInto } from "../../container/short";
import { gatherBitsets } from "./bitsets";
import { combineSparse } from "../fold/compact";
import { fold } from "../fold/fold";
import { asBitset, expandedRight } from "../shape/expand";
import { Listed } from "../term/listed";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, sidesOf } from "../fold/sides";

const enum Strategy {
  /** One container after the other, in the order of the list. */
  IN_TURN,
  /** Arrays from the smallest on, so that each member is moved few times. */
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

/**
 * The union (OR) or symmetric difference (XOR) of the list's `count` containers, in memory 0. With S = Count
 * the result need not be stored where that saves work. With S = StoreOnly a bitset need not be counted: its
 * cardinality is then said to be the most that is not full.
 */
export function foldListed<S extends Sink>(op: Fold, list: usize, count: u32): u64 {
  switch (strategyFor<S>(op, list, count)) {
    case Strategy.SMALLEST_FIRST: return foldSmallestFirst(op, list, count);
    case Strategy.BY_BITSET: return foldByBitset<S>(op, list, count);
    case Strategy.BY_EDGES: return xorByEdges(list, count);
    default: return foldInTurn(op, list, count);
  }
}

/** The quickest strategy. For SMALLEST_FIRST the order is written to Scratch.LIST. */
function strategyFor<S extends Sink>(op: Fold, list: usize, count: u32): Strategy {
  if (count <= 2) return Strategy.IN_TURN;
  let pieces: u32 = 0, onlyRuns = true, onlyArrays = true;   // pieces: members, and runs
  for (let i: u32 = 0; i < count; i++) {
    const kind = Listed.kind(list, i);
    onlyRuns = onlyRuns && kind == Kind.RUNS;
    onlyArrays = onlyArrays && kind == Kind.ARRAY;
    pieces += kind == Kind.RUNS ? right.load16(Shape.at(Listed.show(list, i)), 0) : Listed.count(list, i);
  }
  if (op == Fold.XOR && onlyRuns && pieces <= Places.RUNS_MAX) return Strategy.BY_EDGES;
  if (pieces <= BY_BITSET_FROM) return Strategy.IN_TURN;
  if (!onlyArrays || pieces > Container.ARRAY_MAX || count > SORTED_MAX) return Strategy.BY_BITSET;
  return sortBySize(list, count) < bitsetCost<S>(pieces) ? Strategy.SMALLEST_FIRST : Strategy.BY_BITSET;
}

function foldInTurn(op: Fold, list: usize, count: u32): u64 {
  let acc = Listed.shape(list, 0), at = Listed.operand(list, 0);
  for (let i: u32 = 1; i < count; i++) {
    acc = fold(op, sidesOf(at, Listed.operand(list, i)), acc, Listed.shape(list, i));
    at = SELF;
  }
  return acc;
}

// --- Smallest first ----------------------------------------------------------------------------------------
// Scratch.LIST has a u64 for each container: its cardinality in the high half, its place in the list in the
// low.

// @ts-ignore: decorator
@inline function sortedAt(i: u32): usize { return Places.at(Scratch.LIST) + (<usize>i << 3); }

// Costs, measured in units of what merging two arrays takes for one member of the result, about a nanosecond.

/**
 * The cost of the union of containers with `members` members by way of a bitset, from which they are taken
 * out again unless they are only counted.
 */
// @ts-ignore: decorator
@inline function bitsetCost<S extends Sink>(members: u32): u32 {
  return Kernel.stores<S>() ? 1000 + members + (members >> 2) : 400 + members;
}

/** Sorts the list's elements by size; returns what folding them in that order costs. */
function sortBySize(list: usize, count: u32): u32 {
  let cost: u32 = 0;
  for (let next: u32 = 0; next < count; next++) {
    const one = <u64>Listed.count(list, next) << 32 | next;
    let i = next;
    for (; i && load<u64>(sortedAt(i - 1)) > one; i--) store<u64>(sortedAt(i), load<u64>(sortedAt(i - 1)));
    store<u64>(sortedAt(i), one);
  }
  let members = <u32>(load<u64>(sortedAt(0)) >> 32);
  for (let i: u32 = 1; i < count; i++) {
    members += <u32>(load<u64>(sortedAt(i)) >> 32);
    cost += members;
  }
  return cost;
}

/** Folds the `count` containers that sortBySize() has sorted. */
function foldSmallestFirst(op: Fold, list: usize, count: u32): u64 {
  const first = load<u32>(sortedAt(0));
  let acc = Listed.shape(list, first), at = Listed.operand(list, first);
  for (let i: u32 = 1; i < count; i++) {
    const index = load<u32>(sortedAt(i));
    acc = fold(op, sidesOf(at, Listed.operand(list, index)), acc, Listed.shape(list, index));
    at = SELF;
  }
  return acc;
}

// --- By edges ----------------------------------------------------------------------------------------------

/**
 * The symmetric difference of containers that are all runs. A bitset has a bit for each offset at which a run
 * begins and for each that follows a run's end; a bit is flipped as often as such an edge occurs. The
 * result's runs reach from each edge that is left to the next.
 */
function xorByEdges(list: usize, count: u32): u64 {
  // the edges reach into Scratch.SECOND
  const edges = Places.at(Scratch.FIRST), out = Places.at(Scratch.TEMP);
  Runs.clearEdges(edges);
  for (let i: u32 = 0; i < count; i++) Runs.flipEdges(edges, Shape.at(Listed.show(list, i)));
  left.select(SELF);
  Runs.edgesToRuns(edges, out);
  // results lie in FIRST or SECOND, so that TEMP is free for the next fold
  right.select(SELF);
  return Shape.copy(Shape.runs(Runs.cardinality(out), out), Places.at(Scratch.FIRST));
}

// --- By a bitset -------------------------------------------------------------------------------------------

/**
 * Combines the bitsets first, then changes the bits of the other containers' members one by one, and counts
 * once at the end.
 */
function foldByBitset<S extends Sink>(op: Fold, list: usize, count: u32): u64 {
  const bits = Places.at(Scratch.FIRST);
  let others: u32 = 0;
  for (let i: u32 = 0; i < count; i++) others += u32(Listed.kind(list, i) != Kind.BITSET);
  const acc = others ? gatherBitsets<Store>(op, list, count) : gatherBitsets<S>(op, list, count);
  if (!others) return acc;
  let begun = acc != Shape.NOTHING;
  for (let i: u32 = 0; i < count; i++) {
    if (Listed.kind(list, i) == Kind.BITSET) continue;
    const operand = Listed.operand(list, i), s = Listed.show(list, i);
    if (begun) changeBits(op, bits, operand, s);
    else asBitset(operand, s, bits);
    begun = true;
  }
  if (!Kernel.counts<S>()) return Shape.bitset(Container.UNIVERSE - 1, bits);
  left.select(SELF);
  return Shape.bitset(Bitset.cardinality(bits), bits);
}

/** Changes the bits of the members of `s`, a container of operand `operand`, which `right` shows. */
function changeBits(op: Fold, bits: usize, operand: u32, s: u64): void {
  const at = Shape.at(s);
  switch (Shape.kind(s)) {
    case Kind.ARRAY:
      if (op == Fold.OR) unionArrayUncounted(bits, at, Shape.count(s));
      else xorArrayUncounted(bits, at, Shape.count(s));
      return;
    case Kind.SHORT:
      if (op == Fold.OR) combineShortInto<Or>(bits, at); else combineShortInto<Xor>(bits, at);
      return;
    case Kind.SPARSE: combineSparse(op, at, bits); return;
    case Kind.RUNS:
      if (op == Fold.OR) unionRunsInto(bits, at); else xorRunsInto(bits, at);
      return;
    default: changeBits(op, bits, SELF, expandedRight(operand, s));
  }
}
