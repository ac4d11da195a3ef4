// The operations of BITOP as terms. NOT, whose result ends at an offset that may be given, is in complement.ts.

import { Fold } from "./fold";
import { Rule, makeTerm, termBytes } from "./term";
import { CURSOR_BYTES, openCursor } from "./cursor";
import { openTerm } from "./seek";

/**
 * See https://redis.io/docs/latest/commands/bitop. X is the first source. DIFF is X less the rest, DIFF1 the rest less X, ANDOR X and any
 * of the rest.
 */
export const enum Operation { AND = 0, OR = 1, XOR = 2, NOT = 3, DIFF = 4, DIFF1 = 5, ANDOR = 6, ONE = 7 }

/** Bytes of scratch for the terms and cursors of an operation on `sources` sources. */
export function operationBytes(sources: u32): u32 { return itemBytes(sources) + termBytes(sources) + termBytes(2); }

/** Bytes of the cursors: one for each source and two for terms. */
// @ts-ignore: decorator
@inline function itemBytes(sources: u32): u32 { return (sources + 2) * <u32>CURSOR_BYTES; }

/**
 * Opens operands 0 .. sources - 1 and makes the operation's term item 0. DIFF1 and ANDOR have two terms: the union of the rest, and what it
 * makes with the first source.
 */
export function openOperation(op: Operation, sources: u32): void {
  const below = itemBytes(sources);
  if (op != Operation.DIFF1 && op != Operation.ANDOR) {
    for (let source: u32 = 0; source < sources; source++) openCursor(1 + source, source, 0);
    openTerm(0, makeTerm(below, ruleOf(op), 1, sources, 1), 0);
    return;
  }
  // Item 0 has two items. They and the rest's follow one another: the operand stands before the union in ALL, behind it in LESS.
  const union: u32 = op == Operation.DIFF1 ? 1 : 2;
  for (let source: u32 = 1; source < sources; source++) openCursor(2 + source, source, 0);
  const rest = makeTerm(below, Rule.ANY, 3, sources - 1, 0);
  openTerm(union, rest, 0);
  openCursor(3 - union, 0, 0);
  openTerm(0, makeTerm(rest, op == Operation.DIFF1 ? Rule.LESS : Rule.ALL, 1, 2, 0), 0);
}

function ruleOf(op: Operation): Rule {
  switch (op) {
    case Operation.AND: return Rule.ALL;
    case Operation.OR: return Rule.ANY;
    case Operation.XOR: return Rule.ODD;
    case Operation.DIFF: return Rule.LESS;
    default: return Rule.EXACTLY;             // ONE
  }
}

/** The operation on two sources. For DIFF1 they change places. */
export function foldOf(op: Operation): Fold {
  switch (op) {
    case Operation.OR: return Fold.OR;
    case Operation.XOR:
    case Operation.ONE: return Fold.XOR;
    case Operation.DIFF:
    case Operation.DIFF1: return Fold.ANDNOT;
    default: return Fold.AND;                 // AND, ANDOR
  }
}
