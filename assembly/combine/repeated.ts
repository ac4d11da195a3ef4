// BITOP with a source that is given more than once, as the tree of an expression.

import { Operation } from "./term/operation";
import { Rule } from "./term/term";
import { normalize } from "../expression/normal";
import { COMPARED, COMPARED_FROM, anyEqual, hasRepeated } from "../expression/operands";
import { Tree, TreeRecord } from "../expression/tree";

/**
 * Whether a source is given more than once; then memory 0 is the tree of the operation.
 * Of few sources, each is read as often as given.
 */
export function isRepeated(op: Operation, sources: u32): bool {
  if (sources < COMPARED_FROM) return false;
  if (sources <= COMPARED && !anyEqual(sources)) return false;
  Tree.start(sources, u64.MAX_VALUE);
  if (!hasRepeated(sources)) return false;
  Tree.setRoot(changetype<TreeRecord>(treeOf(op, sources)));
  normalize();
  return true;
}

function treeOf(op: Operation, sources: u32): usize {
  switch (op) {
    case Operation.AND: return treeTerm(Rule.ALL, 0, TreeRecord.makeKeys(1, sources),
      changetype<TreeRecord>(0));
    case Operation.OR: return treeTerm(Rule.ANY, 0, TreeRecord.makeKeys(1, sources),
      changetype<TreeRecord>(0));
    case Operation.XOR: return treeTerm(Rule.ODD, 0, TreeRecord.makeKeys(1, sources),
      changetype<TreeRecord>(0));
    case Operation.ONE: return treeTerm(Rule.EXACTLY, 1, TreeRecord.makeKeys(1, sources),
      changetype<TreeRecord>(0));
    case Operation.DIFF: return treeTerm(Rule.LESS, 1, TreeRecord.makeKeys(1, 1),
      TreeRecord.makeKeys(2, sources));
    case Operation.DIFF1: return treeTerm(Rule.LESS, 1, changetype<TreeRecord>(restOf(sources)),
      TreeRecord.makeKeys(1, 1));
    default: return treeTerm(Rule.ALL, 0, TreeRecord.makeKeys(1, 1), changetype<TreeRecord>(restOf(sources)));
        // ANDOR
  }
}

/** A term of one record, or two. */
function treeTerm(rule: Rule, least: u64, first: TreeRecord, second: TreeRecord): usize {
  const term = TreeRecord.makeTerm(rule);
  term.setRule(rule, least);
  term.addChild(first);
  if (second) term.addChild(second);
  return changetype<usize>(term);
}

/** The union of all sources but the first. */
function restOf(sources: u32): usize {
  return treeTerm(Rule.ANY, 0, TreeRecord.makeKeys(2, sources), changetype<TreeRecord>(0));
}
