// The container of a term at one key: its operands' containers folded into one, then the results of the terms
// among its items, one after the other. Each of those is made in scratch room of its own, unless nothing has
// been made before it. So the room depends on how deep terms are nested, and not on how many there are.
//
// An interval of more than one key (combine/term/seek.ts) is evaluated like a container: all items are then
// full or absent, and so is the result.

import { SELF, right } from "../env/memory";
import { Entry, Offset } from "../arena/layout/entry";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Count, Kernel, Sink, Store, StoreOnly } from "../container/kernel";
import { Runs } from "../container/run";
import { repeated, sumOfNoted } from "./count/terms";
import { Cursor } from "./walk/cursor";
import { fold, foldCardinality } from "./fold/fold";
import { expectedMembers } from "./fold/toarray";
import { foldDifference } from "./several/difference";
import { foldIntersection } from "./several/intersection";
import { Listed } from "./term/listed";
import {
  complemented, countOfTwo, countOnly, settled, takeItem, takeListed, takeResult,
} from "./term/result";
import { normalized } from "./shape/normalize";
import { Places, Scratch } from "./shape/scratch";
import { reachItem, seekRest } from "./term/seek";
import { Shape } from "./shape/shape";
import { Fold, sidesOf } from "./fold/sides";
import { Sum } from "./count/sum";
import { Rule, Term } from "./term/term";
import { Threshold, countListed, countOne, reached } from "./count/threshold";
import { foldListed } from "./several/union";

/**
 * The container `key` of the term, whose items are all at `key` or past it. Term.resultOperand() says where it
 * lies: in memory 0, there in Scratch.FIRST or SECOND, or in an operand, there as the container of
 * resultEntry(). A full one is FULL; NOTHING lies nowhere. With S = Count the result need not be stored where
 * that saves work.
 */
export function evaluate<S extends Sink>(term: u32, key: u64): u64 {
  return settled<S>(term, evaluated<S>(term, key));
}

// @ts-ignore: decorator
@inline function evaluated<S extends Sink>(term: u32, key: u64): u64 {
  Term.setResult(term, SELF, changetype<Entry>(0));
  switch (Term.rule(term)) {
    case Rule.ALL: return evaluateAll<S>(term, Term.end(term), key);
    case Rule.ANY: return evaluateUnion<S>(Fold.OR, term, key);
    case Rule.ODD: return evaluateUnion<S>(Fold.XOR, term, key);
    case Rule.LESS: return evaluateLess<S>(term, key);
    case Rule.ANDOR: return evaluateAndOr<S>(term, key);
    case Rule.DIFF1: return evaluateDiff1<S>(term, key);
    case Rule.NOT: return evaluateComplement(term, key);
    case Rule.RANGE: return evaluateRange(term, key);
    case Rule.SUM_ATLEAST:
    case Rule.SUM_EXACTLY: return evaluateSum<S>(term, key);
    default: return evaluateThreshold<S>(term, key, Term.rule(term) == Rule.EXACTLY);
  }
}

/**
 * Places that a term keeps while it evaluates another: FIRST and SECOND, where its result so far is, and
 * TEMP, so that it is free for folding the other's result, which lies behind it. Terms that count keep their
 * counters, too.
 */
// @ts-ignore: decorator
@inline const KEPT_PLACES: u32 = Scratch.TEMP + 1;

/** Places that a term keeps while it evaluates another. */
// @ts-ignore: decorator
@inline function keptPlaces(term: u32): u32 {
  const counters = Threshold.places(term);
  return counters ? Scratch.PLACES + counters : KEPT_PLACES;
}

/** The container `key` of item `i`, a term, made in scratch room behind the `kept` places of this term. */
function evaluateRaised(i: u32, key: u64, kept: u32): u64 {
  Places.raise(kept);
  const s = evaluate<Store>(Cursor.termOf(i), key);
  Places.lower(kept);
  return s;
}

/** The places of scratch room that evaluating the term takes. */
export function placesFor(term: u32): u32 {
  let places = Scratch.PLACES + Threshold.places(term);
  for (let i = Term.first(term), end = Term.end(term); i < end; i++) {
    if (Cursor.termOf(i)) places = max(places, keptPlaces(term) + placesFor(Cursor.termOf(i)));
  }
  return places;
}

/** Folds the container `s`, the result of item `i`, into `acc`, the result of the term so far. */
function foldResult(op: Fold, term: u32, acc: u64, i: u32, s: u64): u64 {
  const folded = fold(op, sidesOf(Term.resultOperand(term), Term.resultOperand(Cursor.termOf(i))), acc, s);
  Term.setResult(term, SELF, changetype<Entry>(0));
  if (!Shape.count(folded) || Shape.isFull(folded) || Places.isResultPlace(Shape.at(folded))) return folded;
  right.select(SELF);                         // folded in place, where the next item's result will be made
  return Shape.copy(folded, Places.at(Scratch.FIRST));
}

// --- All items ---------------------------------------------------------------------------------------------

/** The intersection of the items up to `end`, of which the first two are at `key`. */
function evaluateAll<S extends Sink>(term: u32, end: u32, key: u64): u64 {
  const first = Term.first(term);
  if (end - first > 2 && beginSmall(first)) return narrowed(term, end, key);
  for (let i = first + 2; i < end; i++) if (!reachItem(i, first, key)) return Shape.NOTHING;
  const list = Term.list(term), found = Listed.first(term, end, key);
  const listed = Listed.containers(found), terms = Listed.terms(found);
  let acc = Shape.full();
  if (listed == 1) acc = takeListed(term, list);
  else if (listed == 2 && !Kernel.stores<S>() && !terms) return countOfTwo(Rule.ALL, list);
  else if (listed) acc = terms ? foldIntersection<Store>(list, listed) : foldIntersection<S>(list, listed);
  for (let t: u32 = 0; t < terms && Shape.count(acc); t++) {
    const i = Listed.term(term, t);
    if (Shape.isFull(acc)) acc = takeResult(term, i, evaluate<Store>(Cursor.termOf(i), key));
    else acc = intersectResult(term, acc, i, key);
  }
  return acc;
}

/** The intersection of `acc`, the result of the term so far, which is not full, and item `i`, a term. */
function intersectResult(term: u32, acc: u64, i: u32, key: u64): u64 {
  const s = evaluateRaised(i, key, KEPT_PLACES);
  if (Shape.isFull(s)) return acc;
  return Shape.count(s) ? foldResult(Fold.AND, term, acc, i, s) : Shape.NOTHING;
}

/** Most members to expect in common for which beginSmall() holds without arrays. */
// @ts-ignore: decorator
@inline const SMALL: u32 = 32;

/** Whether item `first` and the one behind it are operands that probably have few members in common. */
// @ts-ignore: decorator
@inline function beginSmall(first: u32): bool {
  if (Cursor.termOf(first) || Cursor.termOf(first + 1)) return false;
  const l = Cursor.shapeOf(first), r = Cursor.shapeOf(first + 1);
  return Shape.kind(l) == Kind.ARRAY || Shape.kind(r) == Kind.ARRAY
    || expectedMembers(Shape.count(l), Shape.count(r)) <= SMALL;
}

/** evaluateAll() for beginSmall(): the other items are only sought while there are members. */
function narrowed(term: u32, end: u32, key: u64): u64 {
  const first = Term.first(term), sides = sidesOf(Cursor.operandOf(first), Cursor.operandOf(first + 1));
  let acc = fold(Fold.AND, sides, Cursor.shapeOf(first), Cursor.shapeOf(first + 1));
  // an array is looked up in the rest
  if (Shape.kind(acc) == Kind.BITSET && Shape.count(acc) <= SMALL) acc = normalized(acc);
  for (let i = first + 2; i < end && Shape.count(acc); i++) {
    if (!reachItem(i, first, key)) return Shape.NOTHING;
    const s = Cursor.shapeOf(i);
    if (Cursor.termOf(i)) acc = intersectResult(term, acc, i, key);
    else if (!Shape.isFull(s)) acc = fold(Fold.AND, sidesOf(SELF, Cursor.operandOf(i)), acc, s);
  }
  return acc;
}

// --- Unions and symmetric differences ----------------------------------------------------------------------

/** The union (OR) or symmetric difference (XOR) of the items at `key`. */
function evaluateUnion<S extends Sink>(op: Fold, term: u32, key: u64): u64 {
  const list = Term.list(term), found = Listed.grouped(term, key);
  const listed = Listed.containers(found), terms = Listed.terms(found);
  if (op == Fold.OR && Listed.full(found)) return Shape.full();
  const flips = (Listed.full(found) & 1) != 0, alone = !terms && !flips;
  let acc = Shape.NOTHING;
  if (listed == 1) acc = takeListed(term, list);
  else if (listed == 2 && !Kernel.stores<S>() && alone) return countOfTwo(op == Fold.OR ? Rule.ANY : Rule.ODD,
    list);
  else if (listed) acc = alone ? foldListed<S>(op, list, listed) : foldListed<Store>(op, list, listed);
  for (let t: u32 = 0; t < terms; t++) {
    const i = Listed.term(term, t);
    if (!Shape.count(acc)) { acc = takeResult(term, i, evaluate<Store>(Cursor.termOf(i), key)); continue; }
    const s = evaluateRaised(i, key, KEPT_PLACES);
    if (op == Fold.OR && Shape.isFull(s)) { Term.setResult(term, SELF, changetype<Entry>(0)); return s; }
    if (Shape.count(s)) acc = foldResult(op, term, acc, i, s);
  }
  return flips ? complemented(term, acc) : acc;
}

// --- Differences -------------------------------------------------------------------------------------------

/** The intersection of the first items, which are at `key`, less the others. */
function evaluateLess<S extends Sink>(term: u32, key: u64): u64 {
  const list = Term.list(term);
  let acc = Term.least(term) == 1
    ? evaluateFirst(term, key)
    : settled<Store>(term, evaluateAll<Store>(term, Term.firstGrouped(term), key));
  if (!Shape.count(acc)) return Shape.NOTHING;
  seekRest(term, key);
  const found = Listed.grouped(term, key), listed = Listed.containers(found), terms = Listed.terms(found);
  if (Listed.full(found)) return Shape.NOTHING;
  if (!Kernel.stores<S>() && listed == 1 && !terms && !Shape.isFull(acc)
    && Term.resultOperand(term) != SELF) {
    const sides = sidesOf(Term.resultOperand(term), Listed.operand(list, 0));
    return countOnly(Shape.count(acc) - foldCardinality(sides, acc, Listed.shape(list, 0)));
  }
  if (listed) {
    acc = foldDifference(acc, Term.resultOperand(term), list, listed);
    Term.setResult(term, SELF, changetype<Entry>(0));
  }
  for (let t: u32 = 0; t < terms && Shape.count(acc); t++) {
    const i = Listed.term(term, t), s = evaluateRaised(i, key, KEPT_PLACES);
    if (Shape.isFull(s)) return Shape.NOTHING;
    if (Shape.count(s)) acc = foldResult(Fold.ANDNOT, term, acc, i, s);
  }
  return acc;
}

/** The first item, which is at `key`, as the result of the term. */
// @ts-ignore: decorator
@inline function evaluateFirst(term: u32, key: u64): u64 {
  const first = Term.first(term);
  return Cursor.termOf(first)
    ? takeResult(term, first, evaluate<Store>(Cursor.termOf(first), key))
    : takeItem(term, first);
}

/** The first item and any of the others; they are operands. */
function evaluateAndOr<S extends Sink>(term: u32, key: u64): u64 {
  const list = Term.list(term), found = Listed.grouped(term, key), first = Term.first(term);
  if (Listed.full(found)) return takeItem(term, first);
  const listed = Listed.containers(found);
  const rest = Shape.isFull(Cursor.shapeOf(first)) ? restFound<Store>(term, list, listed)
    : restFound<StoreOnly>(term, list, listed);
  return withFirst<S>(Fold.AND, term, rest, first);
}

/** Any of the others but not the first item; they are operands. */
function evaluateDiff1<S extends Sink>(term: u32, key: u64): u64 {
  const list = Term.list(term), found = Listed.grouped(term, key), first = Term.first(term);
  Cursor.seek(first, key);
  const alone = Cursor.keyOf(first) != key;
  if (Listed.full(found)) return alone ? Shape.full() : complemented(term, takeItem(term, first));
  const rest = restFound<Store>(term, list, Listed.containers(found));
  return alone ? rest : withFirst<S>(Fold.ANDNOT, term, rest, first);
}

/** The union of the list's `listed` containers, as foldListed() makes it; the result lies where it says. */
// @ts-ignore: decorator
@inline function restFound<S extends Sink>(term: u32, list: usize, listed: u32): u64 {
  return listed == 1 ? takeListed(term, list) : foldListed<S>(Fold.OR, list, listed);
}

/**
 * Folds the container of item `first`, an operand, into `rest`, the result of the term so far: AND or ANDNOT.
 */
function withFirst<S extends Sink>(op: Fold, term: u32, rest: u64, first: u32): u64 {
  const next = Cursor.shapeOf(first), sides = sidesOf(Term.resultOperand(term), Cursor.operandOf(first));
  if (Shape.isFull(next)) return op == Fold.AND ? rest : Shape.NOTHING;
  if (!Kernel.stores<S>()) {
    const both = foldCardinality(sides, rest, next);
    return countOnly(op == Fold.AND ? both : Shape.count(rest) - both);
  }
  const s = fold(op, sides, rest, next);
  Term.setResult(term, SELF, changetype<Entry>(0));
  return s;
}

// --- Counting ----------------------------------------------------------------------------------------------

/** Values in at least (with `exactly`, in exactly) `least` items. */
function evaluateThreshold<S extends Sink>(term: u32, key: u64, exactly: bool): u64 {
  const list = Term.list(term), found = Listed.grouped(term, key);
  const listed = Listed.containers(found), full = Listed.full(found);
  const terms = Listed.terms(found);
  if (full + listed + terms < Term.least(term)) return Shape.NOTHING;
  if (full > Term.least(term) || (full == Term.least(term) && !exactly)) {
    return exactly ? Shape.NOTHING : Shape.full();
  }
  const least = Term.least(term) - full;
  if (!terms) return repeated<S>(term, list, listed, least, exactly);
  const planes = countListed(list, listed, least, exactly), kept = keptPlaces(term);
  for (let t: u32 = 0; t < terms; t++) {
    const i = Listed.term(term, t), s = evaluateRaised(i, key, kept),
      operand = Term.resultOperand(Cursor.termOf(i));
    right.select(operand);
    if (Shape.count(s)) countOne(planes, operand, s);
  }
  return reached<S>(planes, exactly);
}

/** The values that weigh enough. */
function evaluateSum<S extends Sink>(term: u32, key: u64): u64 {
  const step = Term.stepTo(term, key);
  Sum.start(Term.stepConstant(term, step));
  visitItems<Count>(term, key);
  if (!Sum.stepsInside(term, key, step)) {
    const s = sumOfNoted<S>(term, key);
    if (s != Shape.UNSUITED) return s;
    if (Sum.suitsBytes(<i32>Term.least(term))) {
      Sum.beginBytes();
      visitItems<StoreOnly>(term, key);
      return Sum.weighedInBytes(term);
    }
  }
  Sum.beginTally(term, key, step);
  visitItems<Store>(term, key);
  return Sum.weighed(term);
}

/**
 * Adds what the items of a sum have at the key: to a tally (S = Store) or to bytes (StoreOnly). With S =
 * Count, notes what there is.
 */
function visitItems<S extends Sink>(term: u32, key: u64): void {
  if (!Term.groups(term)) { visitRange<S>(term, Term.first(term), Term.end(term), key); return; }
  for (let group: u32 = 0, groups = Term.groups(term); group < groups; group++) {
    const start = Term.groupStart(term, group);
    if (load<u64>(Term.groupKeyAt(term, group)) == key) {
      visitRange<S>(term, start, Term.groupEnd(term, start), key);
    }
  }
}

function visitRange<S extends Sink>(term: u32, from: u32, to: u32, key: u64): void {
  for (let i = from; i < to; i++) {
    if (Cursor.keyOf(i) != key) continue;
    const inner = Cursor.termOf(i), weight = Term.weight(term, i);
    if (!Kernel.stores<S>()) { Sum.note(inner != 0, Cursor.shapeOf(i), weight); continue; }
    if (inner) {
      const s = evaluateRaised(i, key, keptPlaces(term)), operand = Term.resultOperand(inner);
      right.select(operand);
      if (Shape.count(s)) Sum.add(term, operand, s, weight);
      continue;
    }
    const operand = Cursor.operandOf(i), s = Cursor.shapeOf(i);
    if (Shape.isFull(s)) continue;                  // noted, and thereby counted everywhere
    if (!Kernel.counts<S>()) { Sum.addToBytes(operand, s, weight); continue; }
    right.select(operand);
    Sum.add(term, operand, s, weight);
  }
}

// --- Complements and ranges --------------------------------------------------------------------------------

/** The complement of the only item. */
function evaluateComplement(term: u32, key: u64): u64 {
  const i = Term.first(term);
  if (Cursor.keyOf(i) != key) return Shape.full();
  return complemented(
    term, Cursor.termOf(i) ? takeResult(term, i, evaluate<Store>(Cursor.termOf(i), key)) : takeItem(term, i),
  );
}

/** The range's part of the container. */
function evaluateRange(term: u32, key: u64): u64 {
  const first = key == Offset.key(Term.lowOffset(term)) ? Offset.low(Term.lowOffset(term)) : 0;
  const last = key == Offset.key(Term.highOffset(term)) ? Offset.low(Term.highOffset(term))
    : Container.LOW_MAX;
  const out = Places.at(Scratch.FIRST);
  Runs.write(out, first, last);
  return Shape.of(Kind.RUNS, last - first + 1, out);
}
