// The result of a term at one key (combine/evaluate.ts): a container of one of its operands, or what was made
// in scratch room. resultOperand() says which.

import { SELF, right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { stores } from "../../container/kernel";
import { UNIVERSE } from "../../container/limits";
import { Cursor } from "../walk/cursor";
import { foldCardinality } from "../fold/fold";
import { complementShape } from "../fold/trivial";
import { listedEntry, listedOperand, listedShape } from "./listed";
import { Scratch, isResultPlace, scratch, scratchBeside } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { sidesOf } from "../fold/sides";
import { Entry } from "../../arena/layout/entry";
import { Rule, resultEntry, resultOperand, setResult } from "./term";

/** The result is the container of one operand alone, the list's first. */
// @ts-ignore: decorator
@inline export function takeListed(term: u32, list: usize): u64 {
  setResult(term, listedOperand(list, 0), listedEntry(list, 0));
  return listedShape(list, 0);
}

/** The result is the container that item `i`, an operand, is at. */
// @ts-ignore: decorator
@inline export function takeItem(term: u32, i: u32): u64 {
  const s = Cursor.shapeOf(i);
  if (!Shape.isFull(s)) setResult(term, Cursor.operandOf(i), Cursor.entryOf(i));
  return s;
}

/** Makes the container `s`, the result of item `i`, that of the term. */
// @ts-ignore: decorator
@inline export function takeResult(term: u32, i: u32, s: u64): u64 {
  setResult(term, resultOperand(Cursor.termOf(i)), resultEntry(Cursor.termOf(i)));
  return s;
}

/** The result `s` of the term, which may lie in any place of the scratch room, as evaluate() returns it. */
// @ts-ignore: decorator
@inline export function settled<S>(term: u32, s: u64): u64 {
  if (Shape.count(s) == UNIVERSE) return Shape.full();
  if (!Shape.count(s)) return Shape.NOTHING;
  if (!stores<S>() || resultOperand(term) != SELF || isResultPlace(Shape.at(s))) return s;
  right.select(SELF);
  return Shape.copy(s, scratch(Scratch.FIRST));
}

/** The complement of `s`, the result of the term so far. */
export function complemented(term: u32, s: u64): u64 {
  const operand = resultOperand(term);
  setResult(term, SELF, changetype<Entry>(0));
  if (!Shape.count(s)) return Shape.full();
  if (Shape.isFull(s)) return Shape.NOTHING;
  return complementShape(operand, s, operand == SELF ? scratchBeside(s) : scratch(Scratch.FIRST));
}

// --- Results that are only counted -------------------------------------------------------------------------

/** A result that is only counted. */
// @ts-ignore: decorator
@inline export function countOnly(members: u32): u64 { return Shape.of(Kind.ARRAY, members, 0); }

/**
 * The result of a union (ANY), symmetric difference (ODD) or intersection (ALL) of the list's two containers,
 * only counted.
 */
export function countOfTwo(rule: Rule, list: usize): u64 {
  const l = listedShape(list, 0), r = listedShape(list, 1), sum = Shape.count(l) + Shape.count(r);
  const both = foldCardinality(sidesOf(listedOperand(list, 0), listedOperand(list, 1)), l, r);
  return countOnly(rule == Rule.ALL ? both : rule == Rule.ANY ? sum - both : sum - 2 * both);
}
