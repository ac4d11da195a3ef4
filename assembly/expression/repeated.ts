// BITOP and BITOPCARD. Where a source is given more than once,
// the operation is evaluated as an expression, whose normal form has each source once.

import { combineCardinalityOnce, combineOnce } from "../combine/combine";
import { Operation } from "../combine/operation";
import { Rule } from "../combine/term";
import { normalize } from "./normal";
import { COMPARED, WORTHWHILE, anyEqual, hasRepeated } from "./operands";
import { queryTree, queryTreeCardinality } from "./query";
import { addChild, makeKeys, makeTree, setRootRecord, setRule, startTree } from "./tree";

/** Makes memory 0, which is fresh, the combination of operands 0 .. sources - 1. */
export function combine(op: Operation, sources: u32): void {
  if (isRepeated(op, sources)) queryTree(u64.MAX_VALUE); else combineOnce(op, sources);
}

/**
 * Members that combine() would store in containers `first` to `last`, modulo 2^64. For 2^64 itself, adds a
 * member to the reply. Counting ends once there are `most` or more, unless `most` is 0. Memory 0, which is
 * fresh, is only worked in.
 */
export function combineCardinality(op: Operation, sources: u32, most: u64, first: u64, last: u64): u64 {
  return isRepeated(op, sources)
    ? queryTreeCardinality(u64.MAX_VALUE, most, first, last)
    : combineCardinalityOnce(op, sources, most, first, last);
}

/**
 * Whether a source is given more than once; then memory 0 is the tree of the operation.
 * Of few sources, each is read as often as given.
 */
function isRepeated(op: Operation, sources: u32): bool {
  if (sources < WORTHWHILE) return false;
  if (sources <= COMPARED && !anyEqual(sources)) return false;
  startTree(sources, u64.MAX_VALUE);
  if (!hasRepeated(sources)) return false;
  setRootRecord(treeOf(op, sources));
  normalize();
  return true;
}

function treeOf(op: Operation, sources: u32): usize {
  switch (op) {
    case Operation.AND: return termOf(Rule.ALL, 0, makeKeys(1, sources), 0);
    case Operation.OR: return termOf(Rule.ANY, 0, makeKeys(1, sources), 0);
    case Operation.XOR: return termOf(Rule.ODD, 0, makeKeys(1, sources), 0);
    case Operation.ONE: return termOf(Rule.EXACTLY, 1, makeKeys(1, sources), 0);
    case Operation.DIFF: return termOf(Rule.LESS, 1, makeKeys(1, 1), makeKeys(2, sources));
    case Operation.DIFF1: return termOf(Rule.LESS, 1, restOf(sources), makeKeys(1, 1));
    default: return termOf(Rule.ALL, 0, makeKeys(1, 1), restOf(sources));     // ANDOR
  }
}

/** A term of one record, or two. */
function termOf(rule: Rule, least: u64, first: usize, second: usize): usize {
  const term = makeTree(rule);
  setRule(term, rule, least);
  addChild(term, first);
  if (second) addChild(term, second);
  return term;
}

/** The union of all sources but the first. */
function restOf(sources: u32): usize { return termOf(Rule.ANY, 0, makeKeys(2, sources), 0); }
