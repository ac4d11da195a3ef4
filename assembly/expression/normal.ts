// The normal form of a tree: no key, range or term is an item of the same term twice, and all items that do
// not depend on keys become one. So the cost of a query follows from its sources, however often it names them.
// Rules, with x, y for records and r for ranges:
//
//   ALL, LESS, ANY   x & x = x; x | x = x; x & ~x is nothing. Complements join the other side:
//                    ~x & y = y - x; ~x | y = ~(x - y). Ranges are intersected or united.
//   ODD              x ^ x is nothing; ~x ^ y = ~(x ^ y). Ranges become those where an odd number of them
//                    overlap.
//   ATLEAST, EXACTLY items get weights: one that occurs k times weighs k, and a complement weighs -1 while a
//                    constant grows by 1. Ranges make steps of the constant. Sums without weights
//                    become ATLEAST, EXACTLY, ALL or ANY, because counting is quicker. The rest are sums
//                    (combine/term/term.ts).
//
// The items of a term are gathered (gather.ts), and ranges are counted (ranges.ts). normalrecord.ts has the
// records of the result.

import { Rule, Term } from "../combine/term/term";
import { Syntax, Tree, TreeRecord } from "./tree";
import { Flag, List, ListField, Mode, operandOfKey } from "./gather";
import {
  COMPLEMENT, Reference, hashTerm, isConstant, mix, moveTree, nothing, nothingOr, recordOf,
} from "./normalrecord";
import { Wanted, constantRecord, isEverything, sweep } from "./ranges";
/** Items that weigh no more than this on average are counted as often as they weigh. */
// @ts-ignore: decorator
@inline const REPEATED_MOST: i64 = 2;

/** Brings the tree in memory 0 into normal form. */
export function normalize(): void {
  const reference = normal(Tree.root()), record = recordOf(reference);
  let root = record;
  if (reference & COMPLEMENT) {
    root = TreeRecord.makeTerm(Rule.NOT);
    root.addChild(record);
  }
  Tree.setRoot(moveTree(root, Tree.recordsStart()));
  Tree.setOperandTable(0);                         // keys are named by their operands now
}

/** Whether a tree that names each key once can differ from its normal form: it has ranges or complements. */
export function mayDiffer(): bool {
  for (let record = changetype<TreeRecord>(Tree.recordsStart());
    changetype<usize>(record) < Tree.recordsEnd();
    record = changetype<TreeRecord>(changetype<usize>(record) + TreeRecord.BYTES)) {
    if (record.syntax() == Syntax.RANGE || record.isTerm(Rule.NOT)) return true;
  }
  return false;
}

// --- Terms -------------------------------------------------------------------------------------------------

function normal(record: TreeRecord): Reference {
  if (record.syntax() == Syntax.RANGE) {
    record.setHash(mix(record.low() + mix(record.high()) + 1));
    return <u32>changetype<usize>(record);
  }
  if (record.syntax() == Syntax.KEYS) return onlyKey(record);
  // Only a tree that has been in normal form before has sums of ranges.
  if (isConstant(record) && Term.isSum(record.rule())) return <u32>changetype<usize>(record);
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (child.syntax() != Syntax.KEYS) child.setNormal(normal(child));
  }
  const mark = Tree.recordsEnd(), reference = normalTerm(record), made = recordOf(reference);
  return isConstant(made) && changetype<usize>(made) > mark
    ? <u32>changetype<usize>(moveTree(made, mark)) | (reference & COMPLEMENT) : reference;
}

/** The term, whose children are in normal form. */
function normalTerm(record: TreeRecord): Reference {
  switch (record.rule()) {
    case Rule.ODD: return normalOdd(record);
    case Rule.ATLEAST: return normalCount(record, false);
    case Rule.EXACTLY: return normalCount(record, true);
    case Rule.SUM_ATLEAST: return normalCount(record, false);
    case Rule.SUM_EXACTLY: return normalCount(record, true);
    default: return normalAll(record);
  }
}

/** The only key of the expression, as a term. */
function onlyKey(record: TreeRecord): Reference {
  const all = TreeRecord.makeTerm(Rule.ALL), key = operandOfKey(<u32>record.low());
  all.addChild(TreeRecord.makeKeys(key, key));
  hashTerm(all);
  return <u32>changetype<usize>(all);
}

/** ALL, LESS, ANY, and NOT. */
function normalAll(record: TreeRecord): Reference {
  const rule = record.rule(), list = List.make(record, Mode.FLAGS);
  list.gatherChildren(record, rule == Rule.ANY || rule == Rule.NOT);
  return conjunction(list, rule == Rule.ANY);
}

/**
 * The gathered items with WITH, without those that have WITHOUT, in as many ranges as were gathered;
 * or with `complement` the others.
 */
function conjunction(list: List, complement: bool): Reference {
  const items = list.items(), least = <i64>list.constants();
  let withs: u32 = 0, withouts: u32 = 0;
  for (let i: u32 = 0; i < items; i++) {
    if (list.weightOfItem(i) == (Flag.WITH | Flag.WITHOUT)) return nothingOr(complement);
    if (list.weightOfItem(i) == Flag.WITH) withs++; else withouts++;
  }
  const ranges = sweep(list, list.constant(), Wanted.EQUAL, least);
  if (!ranges.firstChild()) return nothingOr(complement);
  const everywhere = isEverything(ranges);
  if (!withs) {
    if (!withouts) return <u32>changetype<usize>(constantRecord(ranges)) | (complement ? COMPLEMENT : 0);
    if (everywhere || complement) {           // ~(x | y), or ~(r - x) = x | ~r
      const any = TreeRecord.makeTerm(Rule.ANY);
      addItems(any, list, Flag.WITHOUT, 1);
      if (!everywhere) any.addChild(constantRecord(sweep(list, list.constant(), Wanted.OTHER, least)));
      return onlyItem(any) | (complement ? 0 : COMPLEMENT);
    }
  }
  const all = TreeRecord.makeTerm(withouts ? Rule.LESS : Rule.ALL);
  addItems(all, list, Flag.WITH, 1);
  if (!everywhere) all.addChild(constantRecord(ranges));
  if (withouts) {
    all.setRule(Rule.LESS, all.childItems());
    addItems(all, list, Flag.WITHOUT, 1);
  }
  return onlyItem(all) | (complement ? COMPLEMENT : 0);
}

function normalOdd(record: TreeRecord): Reference {
  const list = List.make(record, Mode.PARITY);
  list.gatherChildren(record, false);
  const odd = TreeRecord.makeTerm(Rule.ODD);
  addItems(odd, list, 1, 1);
  if (!odd.firstChild()) {
    return <u32>changetype<usize>(constantRecord(sweep(list, list.constant(), Wanted.ODD, 0)));
  }
  const ranges = sweep(list, list.constant() & 1, Wanted.ODD, 0);
  if (isEverything(ranges)) return onlyItem(odd) | COMPLEMENT;
  if (ranges.firstChild()) odd.addChild(constantRecord(ranges));
  return onlyItem(odd);
}

/** ATLEAST, EXACTLY, and sums. */
function normalCount(record: TreeRecord, exactly: bool): Reference {
  const list = List.make(record, Mode.WEIGHT);
  if (Term.isSum(record.rule())) list.gatherWeighed(record); else list.gatherChildren(record, false);
  let least = <i64>record.low() - list.constant();
  if (!list.items()) {
    return <u32>changetype<usize>(
      constantRecord(sweep(list, 0, exactly ? Wanted.EQUAL : Wanted.LEAST, least)));
  }
  const ranges = sweep(list, 0, Wanted.ANY, 0);
  if (isEverything(ranges)) least -= <i64>ranges.firstChild().weight();
  else if (ranges.firstChild()) return sumOf(list, ranges, least, exactly);
  return countOf(list, changetype<usize>(ranges), least, exactly);
}

/** Where the weights of the items add up to at least, or exactly, `least`. There are no ranges. */
function countOf(list: List, sum: usize, least: i64, exactly: bool): Reference {
  const items = list.items(), unit = abs<i32>(list.weightOfItem(0));
  let up: i64 = 0, down: i64 = 0, alike = true;
  for (let i: u32 = 0; i < items; i++) alike = alike && abs<i32>(list.weightOfItem(i)) == unit;
  if (alike) {
    const rest = least % <i64>unit;
    if (exactly && rest) return nothing();
    least = least / <i64>unit + i64(rest > 0);                // rounded up
    for (let i: u32 = 0; i < items; i++) list.setWeightOfItem(i, list.weightOfItem(i) > 0 ? 1 : -1);
  }
  for (let i: u32 = 0; i < items; i++) {
    const weight = <i64>list.weightOfItem(i);
    if (weight > 0) up += weight; else down += weight;
  }
  if (least > up || (exactly && least < down)) return nothing();
  if (!exactly && least <= down) return nothing() | COMPLEMENT;
  // Then all items of positive weight are needed, and none of negative weight.
  if (least == up) return whereAll(list, 1, false);
  if (exactly ? least == down : least == down + 1) return whereAll(list, -1, !exactly);
  if (!alike && !down && up <= REPEATED_MOST * <i64>items && onlyKeysRepeat(list)) {
    return countRepeated(list, least, exactly);
  }
  if (!alike || (up && down)) return sumOf(list, changetype<TreeRecord>(0), least, exactly);
  const counted = TreeRecord.makeTerm(exactly ? Rule.EXACTLY : Rule.ATLEAST), downwards = down != 0;
  // "At most -least" is the complement of "1 - least or more".
  const number = !downwards ? least : exactly ? -least : 1 - least;
  counted.setRule(counted.rule(), <u64>number);
  addItems(counted, list, downwards ? -1 : 1, 1);
  hashTerm(counted);
  return <u32>changetype<usize>(counted) | (downwards && !exactly ? COMPLEMENT : 0);
}

/** Whether all items that weigh more than 1 are keys. */
function onlyKeysRepeat(list: List): bool {
  for (let i: u32 = 0; i < list.items(); i++) {
    if (list.recordOfItem(i) && list.weightOfItem(i) > 1) return false;
  }
  return true;
}

/** Items with small weights are counted as often as they weigh, which is quicker than a sum. */
function countRepeated(list: List, least: i64, exactly: bool): Reference {
  const counted = TreeRecord.makeTerm(exactly ? Rule.EXACTLY : Rule.ATLEAST);
  counted.setRule(counted.rule(), <u64>least);
  for (let weight: i32 = 1, more = true; more; weight++) {
    more = false;
    addItems(counted, list, weight, 1);
    for (let i: u32 = 0; i < list.items(); i++) {
      if (list.weightOfItem(i) <= weight) continue;
      more = true;
      counted.addChild(TreeRecord.makeKeys(<u32>list.keyOfItem(i), <u32>list.keyOfItem(i)));
    }
  }
  hashTerm(counted);
  return <u32>changetype<usize>(counted);
}

/** In all items whose weight has the sign `sign` and in no others; with `complement` everywhere else. */
function whereAll(list: List, sign: i32, complement: bool): Reference {
  for (let i: u32 = 0; i < list.items(); i++) {
    list.setWeightOfItem(i, list.weightOfItem(i) * sign > 0 ? Flag.WITH : Flag.WITHOUT);
  }
  store<u32>(changetype<usize>(list), 0, ListField.EDGES);            // no ranges
  store<i64>(changetype<usize>(list), 0, ListField.CONSTANT);
  store<u32>(changetype<usize>(list), 0, ListField.CONSTANTS);
  return conjunction(list, complement);
}

/** A sum of the items and of these ranges, 0 for none. */
function sumOf(list: List, ranges: TreeRecord, least: i64, exactly: bool): Reference {
  const sum = TreeRecord.makeTerm(exactly ? Rule.SUM_EXACTLY : Rule.SUM_ATLEAST);
  sum.setRule(sum.rule(), <u64>least);
  addItems(sum, list, 0, 0);
  for (let range = ranges ? ranges.firstChild() : changetype<TreeRecord>(0); range;) {
    const next = range.nextSibling();
    sum.addChild(range);
    range = next;
  }
  hashTerm(sum);
  return <u32>changetype<usize>(sum);
}

/**
 * Adds the items of this weight to a term, with weight `weighing`;
 * with `which` 0, all items, each with its own.
 */
function addItems(term: TreeRecord, list: List, which: i32, weighing: i32): void {
  for (let i: u32 = 0; i < list.items();) {
    const weight = list.weightOfItem(i), record = list.recordOfItem(i), first = list.keyOfItem(i);
    if (which && weight != which) { i++; continue; }
    let child = record, last = first;
    for (
      i++;
      !record && i < list.items()
      && list.keyOfItem(i) == last + 1 && list.weightOfItem(i) == weight;
      i++
    ) {
      last++;
    }
    if (!record) child = TreeRecord.makeKeys(<u32>first, <u32>last);
    child.setWeight(weighing ? weighing : weight);
    term.addChild(child);
  }
}

/** The term, or the only item that it has unless that is a key. */
function onlyItem(term: TreeRecord): Reference {
  const child = term.firstChild();
  if (term.childItems() == 1 && child.syntax() != Syntax.KEYS) return <u32>changetype<usize>(child);
  if (term.childItems() == 1) term.setRule(Rule.ALL, 0);
  hashTerm(term);
  return <u32>changetype<usize>(term);
}
