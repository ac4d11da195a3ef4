// BITOP with a source that is given more than once, as the tree of an expression.

import { Operation } from "./term/operation";
import { Rule } from "./term/term";
import { normalize } from "../expression/normal";
import { COMPARED, COMPARED_FROM, anyEqual, hasRepeated } from "../expression/operands";
import { addChild, makeKeys, makeTree, setRootRecord, setRule, startTree } from "../expression/tree";

/**
 * Whether a source is given more than once; then memory 0 is the tree of the operation.
 * Of few sources, each is read as often as given.
 */
export function isRepeated(op: Operation, sources: u32): bool {
  if (sources < COMPARED_FROM) return false;
  if (sources <= COMPARED && !anyEqual(sources)) return false;
  startTree(sources, u64.MAX_VALUE);
  if (!hasRepeated(sources)) return false;
  setRootRecord(treeOf(op, sources));
  normalize();
  return true;
}

function treeOf(op: Operation, sources: u32): usize {
  switch (op) {
    case Operation.AND: return treeTerm(Rule.ALL, 0, makeKeys(1, sources), 0);
    case Operation.OR: return treeTerm(Rule.ANY, 0, makeKeys(1, sources), 0);
    case Operation.XOR: return treeTerm(Rule.ODD, 0, makeKeys(1, sources), 0);
    case Operation.ONE: return treeTerm(Rule.EXACTLY, 1, makeKeys(1, sources), 0);
    case Operation.DIFF: return treeTerm(Rule.LESS, 1, makeKeys(1, 1), makeKeys(2, sources));
    case Operation.DIFF1: return treeTerm(Rule.LESS, 1, restOf(sources), makeKeys(1, 1));
    default: return treeTerm(Rule.ALL, 0, makeKeys(1, 1), restOf(sources));     // ANDOR
  }
}

/** A term of one record, or two. */
function treeTerm(rule: Rule, least: u64, first: usize, second: usize): usize {
  const term = makeTree(rule);
  setRule(term, rule, least);
  addChild(term, first);
  if (second) addChild(term, second);
  return term;
}

/** The union of all sources but the first. */
function restOf(sources: u32): usize { return treeTerm(Rule.ANY, 0, makeKeys(2, sources), 0); }
