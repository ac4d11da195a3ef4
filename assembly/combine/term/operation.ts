// The operations of BITOP as terms. NOT, whose result ends at an offset that may be given, is in
// combine/rebuild/complement.ts.

import { Fold } from "../fold/sides";
import { Rule, Term } from "./term";
import { Cursor } from "../walk/cursor";
import { openTerm } from "./seek";

/**
 * See https://redis.io/docs/latest/commands/bitop. X is the first source. DIFF is X less the rest, DIFF1 the
 * rest less X, ANDOR X and any of the rest.
 */
export const enum Operation { AND = 0, OR = 1, XOR = 2, NOT = 3, DIFF = 4, DIFF1 = 5, ANDOR = 6, ONE = 7 }

/** Bytes of scratch for the term and the cursors of an operation on `sources` sources. */
export function operationBytes(sources: u32): u32 { return itemBytes(sources) + Term.bytes(sources); }

/** Bytes of the cursors: one for each source and one for the term. */
// @ts-ignore: decorator
@inline function itemBytes(sources: u32): u32 { return (sources + 1) * <u32>Cursor.BYTES; }

/** Opens operands 0 .. sources - 1 at container `key` and makes the operation's term item 0. */
export function openOperation(op: Operation, sources: u32, key: u64): void {
  for (let source: u32 = 0; source < sources; source++) Cursor.open(1 + source, source, key);
  openTerm(0, Term.make(itemBytes(sources), ruleOfOperation(op), 1, sources, 1), key);
}

function ruleOfOperation(op: Operation): Rule {
  switch (op) {
    case Operation.AND: return Rule.ALL;
    case Operation.OR: return Rule.ANY;
    case Operation.XOR: return Rule.ODD;
    case Operation.DIFF: return Rule.LESS;
    case Operation.DIFF1: return Rule.DIFF1;
    case Operation.ANDOR: return Rule.ANDOR;
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
