// The result of a term at one key (combine/evaluate.ts): a container of one of its operands, or what was made
// in scratch room. Term.resultOperand() says which.

import { SELF, right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { Kernel, Sink } from "../../container/kernel";
import { Container } from "../../container/limits";
import { Cursor } from "../walk/cursor";
import { foldCardinality } from "../fold/fold";
import { complementShape } from "../fold/trivial";
import { Listed } from "./listed";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { sidesOf } from "../fold/sides";
import { Entry } from "../../arena/layout/entry";
import { Rule, Term } from "./term";

/** The result is the container of one operand alone, the list's first. */
// @ts-ignore: decorator
@inline export function takeListed(term: u32, list: usize): u64 {
  Term.setResult(term, Listed.operand(list, 0), Listed.entry(list, 0));
  return Listed.shape(list, 0);
}

/** The result is the container that item `i`, an operand, is at. */
// @ts-ignore: decorator
@inline export function takeItem(term: u32, i: u32): u64 {
  const s = Cursor.shapeOf(i);
  if (!Shape.isFull(s)) Term.setResult(term, Cursor.operandOf(i), Cursor.entryOf(i));
  return s;
}

/** Makes the container `s`, the result of item `i`, that of the term. */
// @ts-ignore: decorator
@inline export function takeResult(term: u32, i: u32, s: u64): u64 {
  Term.setResult(term, Term.resultOperand(Cursor.termOf(i)), Term.resultEntry(Cursor.termOf(i)));
  return s;
}

/** The result `s` of the term, which may lie in any place of the scratch room, as evaluate() returns it. */
// @ts-ignore: decorator
@inline export function settled<S extends Sink>(term: u32, s: u64): u64 {
  if (Shape.count(s) == Container.UNIVERSE) return Shape.full();
  if (!Shape.count(s)) return Shape.NOTHING;
  if (!Kernel.stores<S>() || Term.resultOperand(term) != SELF || Places.isResultPlace(Shape.at(s))) return s;
  right.select(SELF);
  return Shape.copy(s, Places.at(Scratch.FIRST));
}

/** The complement of `s`, the result of the term so far. */
export function complemented(term: u32, s: u64): u64 {
  const operand = Term.resultOperand(term);
  Term.setResult(term, SELF, changetype<Entry>(0));
  if (!Shape.count(s)) return Shape.full();
  if (Shape.isFull(s)) return Shape.NOTHING;
  return complementShape(operand, s, operand == SELF ? Places.beside(s) : Places.at(Scratch.FIRST));
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
  const l = Listed.shape(list, 0), r = Listed.shape(list, 1), sum = Shape.count(l) + Shape.count(r);
  const both = foldCardinality(sidesOf(Listed.operand(list, 0), Listed.operand(list, 1)), l, r);
  return countOnly(rule == Rule.ALL ? both : rule == Rule.ANY ? sum - both : sum - 2 * both);
}
