// Comparisons of the values of keys, in the text of an expression. Each becomes an operand of its own, behind
// those of the keys: the ids for which it holds, which the host has computed before the expression is
// evaluated.

import { Rule } from "../combine/term/term";
import { Mistake } from "./mistake";
import { Character, Comparison, QueryText } from "./text";
import { Tree, TreeRecord } from "./tree";

/** The number of a key; 0 after a mistake. */
export function readKey(): u32 {
  QueryText.peek();
  const at = Tree.textAt(),
    key = <u32>QueryText.readNumber(Tree.keys(), Mistake.NO_KEY_NUMBER, Mistake.NO_SUCH_KEY);
  if (!key) Tree.note(Mistake.NO_SUCH_KEY, at);
  return key > Tree.keys() ? 0 : key;
}

/** The comparison of the key, which has just been read, if an operator follows; else 0. */
export function compareKey(key: u32, at: u32): TreeRecord {
  const how = QueryText.readComparison();
  if (how == Comparison.NONE) return changetype<TreeRecord>(0);
  if (QueryText.accept(Character.HASH)) return compareKeys(key, how, readKey(), at);
  return compareWith(key, how, QueryText.readInteger(Mistake.NO_COMPARED, Mistake.NUMBER_TOO_LARGE), at);
}

/** A comparison that begins with a number. */
export function parseInteger(): TreeRecord {
  const at = Tree.textAt(), number = QueryText.readInteger(Mistake.NO_NUMBER, Mistake.NUMBER_TOO_LARGE);
  const how = QueryText.readComparison();
  if (how == Comparison.NONE) Tree.note(Mistake.NO_EXPRESSION, at);
  const keyAt = Tree.textAt();
  QueryText.expect(Character.HASH, Mistake.NO_COMPARISON);
  const key = readKey(), first = compareWith(key, turned(how), number, at);
  const compared = Tree.lastComparisonIn(first), second = compareKey(key, keyAt);
  if (!second || joinLast(compared)) return first;
  const both = TreeRecord.makeTerm(Rule.ALL);
  both.addChild(first);
  both.addChild(second);
  return both;
}

// @ts-ignore: decorator
@inline function hasBounds(comparison: TreeRecord): bool {
  return comparison.how() == Comparison.EQUAL && !comparison.otherKey();
}

/**
 * Narrows `before` by the last comparison and removes that, if both have bounds for values of the same key;
 * else returns false. `before` is the comparison before the last one, or another one, or 0.
 */
export function joinLast(before: TreeRecord): bool {
  const last = Tree.lastComparison();
  if (!before || before.nextSibling() != last || before.standsFor() != last.standsFor()) return false;
  if (!hasBounds(before) || !hasBounds(last)) return false;
  before.narrow(last);
  Tree.removeComparison(before);
  return true;
}

/** The same comparison with its sides exchanged. */
function turned(how: Comparison): Comparison {
  switch (how) {
    case Comparison.LESS: return Comparison.GREATER;
    case Comparison.AT_MOST: return Comparison.AT_LEAST;
    case Comparison.GREATER: return Comparison.LESS;
    case Comparison.AT_LEAST: return Comparison.AT_MOST;
    default: return how;
  }
}

/** The operand of a comparison, as that of a key. */
function operandOf(comparison: TreeRecord, key: u32): TreeRecord {
  if (!key) return TreeRecord.makeRange(0, 0);                 // after a mistake
  Tree.nameKeys(key, key);
  Tree.addOperands(1);
  const operand = Tree.addComparison(comparison);
  return TreeRecord.makeKeys(operand, operand);
}

/** The comparison of a key with a number. Values that are to lie between two bounds have them as EQUAL. */
function compareWith(key: u32, how: Comparison, number: i64, at: u32): TreeRecord {
  let low = i64.MIN_VALUE, high = i64.MAX_VALUE, none = false;
  switch (how) {
    case Comparison.LESS: none = number == low; high = number - 1; break;
    case Comparison.AT_MOST: high = number; break;
    case Comparison.GREATER: none = number == high; low = number + 1; break;
    case Comparison.AT_LEAST: low = number; break;
    default: low = high = number;
  }
  if (none) { low = i64.MAX_VALUE; high = i64.MIN_VALUE; }
  const kind = how == Comparison.DIFFERS ? Comparison.DIFFERS : Comparison.EQUAL;
  return operandOf(TreeRecord.makeComparison(key, low, high, kind, at), key);
}

function compareKeys(key: u32, how: Comparison, other: u32, at: u32): TreeRecord {
  const comparison = TreeRecord.makeComparison(key, 0, 0, how, at);
  comparison.setOtherKey(other);
  if (other) Tree.nameKeys(other, other);
  return operandOf(comparison, other ? key : 0);
}
