// The normal form of a tree: no key, range or term is an item of the same term twice, and what does not
// depend on keys is one item. So the cost of a query follows from its sources, however often it names them.
// Rules, with x, y for records and r for ranges:
//
//   ALL, LESS, ANY   x & x = x; x | x = x; x & ~x is nothing. Complements join the other side:
//                    ~x & y = y - x; ~x | y = ~(x - y). Ranges are intersected or united.
//   ODD              x ^ x is nothing; ~x ^ y = ~(x ^ y). Ranges become those where an odd number of them
//                    overlap.
//   ATLEAST, EXACTLY items get weights: what is there k times weighs k, and a complement weighs -1 while a
//                    constant grows by 1. Ranges make steps of the constant. Sums without weights
//                    become ATLEAST, EXACTLY, ALL or ANY, because counting is quicker. The rest are sums
//                    (combine/term/term.ts).
//
// The items of a term are gathered (gather.ts), and ranges are counted (ranges.ts). normalrecord.ts has the
// records of the result.

import { Rule, isSum } from "../combine/term/term";
import {
  RECORD_BYTES, Syntax, addChild, childItems, firstChild, highValue, isTerm, lowValue, makeKeys, makeTree,
  nextSibling, recordsEnd, recordsStart, rootRecord, ruleOf, setHash, setNormal, setOperandTable,
  setRootRecord, setRule, setWeightOf, syntaxOf, weightOf,
} from "./tree";
import {
  Flag, ListField, Mode, constantOf, constantsOf, gatherChildren, gatherWeighed, itemsOf, keyOfItem, makeLists,
  operandOfKey, recordOfItem, setWeightOfItem, weightOfItem,
} from "./gather";
import {
  COMPLEMENT, Reference, hashTerm, isConstant, mix, moveTree, nothing, nothingOr, recordOf,
} from "./normalrecord";
import { Wanted, constantRecord, isEverything, sweep } from "./ranges";
/** Items that weigh no more than this on average are counted as often as they weigh. */
// @ts-ignore: decorator
@inline const REPEATED_MOST: i64 = 2;

/** Brings the tree in memory 0 into normal form. */
export function normalize(): void {
  const reference = normal(rootRecord()), record = recordOf(reference);
  let root = record;
  if (reference & COMPLEMENT) {
    root = makeTree(Rule.NOT);
    addChild(root, record);
  }
  setRootRecord(moveTree(root, recordsStart()));
  setOperandTable(0);                         // keys are named by their operands now
}

/** Whether the normal form of a tree that names each key once can differ: it has ranges or complements. */
export function mayDiffer(): bool {
  for (let record = recordsStart(); record < recordsEnd(); record += RECORD_BYTES) {
    if (syntaxOf(record) == Syntax.RANGE || isTerm(record, Rule.NOT)) return true;
  }
  return false;
}

// --- Terms -------------------------------------------------------------------------------------------------

function normal(record: usize): Reference {
  if (syntaxOf(record) == Syntax.RANGE) {
    setHash(record, mix(lowValue(record) + mix(highValue(record)) + 1));
    return <u32>record;
  }
  if (syntaxOf(record) == Syntax.KEYS) return onlyKey(record);
  // Only a tree that has been in normal form before has sums of ranges.
  if (isConstant(record) && isSum(ruleOf(record))) return <u32>record;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (syntaxOf(child) != Syntax.KEYS) setNormal(child, normal(child));
  }
  const mark = recordsEnd(), reference = normalTerm(record), made = recordOf(reference);
  return isConstant(made) && made > mark ? <u32>moveTree(made, mark) | (reference & COMPLEMENT) : reference;
}

/** The term, whose children are in normal form. */
function normalTerm(record: usize): Reference {
  switch (ruleOf(record)) {
    case Rule.ODD: return normalOdd(record);
    case Rule.ATLEAST: return normalCount(record, false);
    case Rule.EXACTLY: return normalCount(record, true);
    case Rule.SUM_ATLEAST: return normalCount(record, false);
    case Rule.SUM_EXACTLY: return normalCount(record, true);
    default: return normalAll(record);
  }
}

/** The only key of the expression, as a term. */
function onlyKey(record: usize): Reference {
  const all = makeTree(Rule.ALL), key = operandOfKey(<u32>lowValue(record));
  addChild(all, makeKeys(key, key));
  hashTerm(all);
  return <u32>all;
}

/** ALL, LESS, ANY, and NOT. */
function normalAll(record: usize): Reference {
  const rule = ruleOf(record), list = makeLists(record, Mode.FLAGS);
  gatherChildren(list, record, rule == Rule.ANY || rule == Rule.NOT);
  return conjunction(list, rule == Rule.ANY);
}

/**
 * The gathered items with WITH, without those that have WITHOUT, in as many ranges as were gathered;
 * or with `complement` the others.
 */
function conjunction(list: usize, complement: bool): Reference {
  const items = itemsOf(list), least = <i64>constantsOf(list);
  let withs: u32 = 0, withouts: u32 = 0;
  for (let i: u32 = 0; i < items; i++) {
    if (weightOfItem(list, i) == (Flag.WITH | Flag.WITHOUT)) return nothingOr(complement);
    if (weightOfItem(list, i) == Flag.WITH) withs++; else withouts++;
  }
  const ranges = sweep(list, constantOf(list), Wanted.EQUAL, least);
  if (!firstChild(ranges)) return nothingOr(complement);
  const everywhere = isEverything(ranges);
  if (!withs) {
    if (!withouts) return <u32>constantRecord(ranges) | (complement ? COMPLEMENT : 0);
    if (everywhere || complement) {           // ~(x | y), or ~(r - x) = x | ~r
      const any = makeTree(Rule.ANY);
      addItems(any, list, Flag.WITHOUT, 1);
      if (!everywhere) addChild(any, constantRecord(sweep(list, constantOf(list), Wanted.OTHER, least)));
      return onlyItem(any) | (complement ? 0 : COMPLEMENT);
    }
  }
  const all = makeTree(withouts ? Rule.LESS : Rule.ALL);
  addItems(all, list, Flag.WITH, 1);
  if (!everywhere) addChild(all, constantRecord(ranges));
  if (withouts) {
    setRule(all, Rule.LESS, childItems(all));
    addItems(all, list, Flag.WITHOUT, 1);
  }
  return onlyItem(all) | (complement ? COMPLEMENT : 0);
}

function normalOdd(record: usize): Reference {
  const list = makeLists(record, Mode.PARITY);
  gatherChildren(list, record, false);
  const odd = makeTree(Rule.ODD);
  addItems(odd, list, 1, 1);
  if (!firstChild(odd)) return <u32>constantRecord(sweep(list, constantOf(list), Wanted.ODD, 0));
  const ranges = sweep(list, constantOf(list) & 1, Wanted.ODD, 0);
  if (isEverything(ranges)) return onlyItem(odd) | COMPLEMENT;
  if (firstChild(ranges)) addChild(odd, constantRecord(ranges));
  return onlyItem(odd);
}

/** ATLEAST, EXACTLY, and sums. */
function normalCount(record: usize, exactly: bool): Reference {
  const list = makeLists(record, Mode.WEIGHT);
  if (isSum(ruleOf(record))) gatherWeighed(list, record); else gatherChildren(list, record, false);
  let least = <i64>lowValue(record) - constantOf(list);
  if (!itemsOf(list)) {
    return <u32>constantRecord(sweep(list, 0, exactly ? Wanted.EQUAL : Wanted.LEAST, least));
  }
  const ranges = sweep(list, 0, Wanted.ANY, 0);
  if (isEverything(ranges)) least -= <i64>weightOf(firstChild(ranges));
  else if (firstChild(ranges)) return sumOf(list, ranges, least, exactly);
  return countOf(list, ranges, least, exactly);
}

/** Where the weights of the items add up to at least, or exactly, `least`. There are no ranges. */
function countOf(list: usize, sum: usize, least: i64, exactly: bool): Reference {
  const items = itemsOf(list), unit = abs<i32>(weightOfItem(list, 0));
  let up: i64 = 0, down: i64 = 0, alike = true;
  for (let i: u32 = 0; i < items; i++) alike = alike && abs<i32>(weightOfItem(list, i)) == unit;
  if (alike) {
    const rest = least % <i64>unit;
    if (exactly && rest) return nothing();
    least = least / <i64>unit + i64(rest > 0);                // rounded up
    for (let i: u32 = 0; i < items; i++) setWeightOfItem(list, i, weightOfItem(list, i) > 0 ? 1 : -1);
  }
  for (let i: u32 = 0; i < items; i++) {
    const weight = <i64>weightOfItem(list, i);
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
  if (!alike || (up && down)) return sumOf(list, 0, least, exactly);
  const counted = makeTree(exactly ? Rule.EXACTLY : Rule.ATLEAST), downwards = down != 0;
  // "At most -least" is the complement of "1 - least or more".
  const number = !downwards ? least : exactly ? -least : 1 - least;
  setRule(counted, ruleOf(counted), <u64>number);
  addItems(counted, list, downwards ? -1 : 1, 1);
  hashTerm(counted);
  return <u32>counted | (downwards && !exactly ? COMPLEMENT : 0);
}

/** Whether all items that weigh more than 1 are keys. */
function onlyKeysRepeat(list: usize): bool {
  for (let i: u32 = 0; i < itemsOf(list); i++) {
    if (recordOfItem(list, i) && weightOfItem(list, i) > 1) return false;
  }
  return true;
}

/** Items with small weights are counted as often as they weigh, which is quicker than a sum. */
function countRepeated(list: usize, least: i64, exactly: bool): Reference {
  const counted = makeTree(exactly ? Rule.EXACTLY : Rule.ATLEAST);
  setRule(counted, ruleOf(counted), <u64>least);
  for (let weight: i32 = 1, more = true; more; weight++) {
    more = false;
    addItems(counted, list, weight, 1);
    for (let i: u32 = 0; i < itemsOf(list); i++) {
      if (weightOfItem(list, i) <= weight) continue;
      more = true;
      addChild(counted, makeKeys(<u32>keyOfItem(list, i), <u32>keyOfItem(list, i)));
    }
  }
  hashTerm(counted);
  return <u32>counted;
}

/** In all items whose weight has the sign `sign` and in no others; with `complement` everywhere else. */
function whereAll(list: usize, sign: i32, complement: bool): Reference {
  for (let i: u32 = 0; i < itemsOf(list); i++) {
    setWeightOfItem(list, i, weightOfItem(list, i) * sign > 0 ? Flag.WITH : Flag.WITHOUT);
  }
  store<u32>(list, 0, ListField.EDGES);            // no ranges
  store<i64>(list, 0, ListField.CONSTANT);
  store<u32>(list, 0, ListField.CONSTANTS);
  return conjunction(list, complement);
}

/** A sum of the items and of these ranges, 0 for none. */
function sumOf(list: usize, ranges: usize, least: i64, exactly: bool): Reference {
  const sum = makeTree(exactly ? Rule.SUM_EXACTLY : Rule.SUM_ATLEAST);
  setRule(sum, ruleOf(sum), <u64>least);
  addItems(sum, list, 0, 0);
  for (let range = ranges ? firstChild(ranges) : 0; range;) {
    const next = nextSibling(range);
    addChild(sum, range);
    range = next;
  }
  hashTerm(sum);
  return <u32>sum;
}

/**
 * Adds the items of this weight to a term, with weight `weighing`;
 * with `which` 0, all items, each with its own.
 */
function addItems(term: usize, list: usize, which: i32, weighing: i32): void {
  for (let i: u32 = 0; i < itemsOf(list);) {
    const weight = weightOfItem(list, i), record = recordOfItem(list, i), first = keyOfItem(list, i);
    if (which && weight != which) { i++; continue; }
    let child = record, last = first;
    for (
      i++;
      !record && i < itemsOf(list)
      && keyOfItem(list, i) == last + 1 && weightOfItem(list, i) == weight;
      i++
    ) {
      last++;
    }
    if (!record) child = makeKeys(<u32>first, <u32>last);
    setWeightOf(child, weighing ? weighing : weight);
    addChild(term, child);
  }
}

/** The term, or the only item that it has unless that is a key. */
function onlyItem(term: usize): Reference {
  const child = firstChild(term);
  if (childItems(term) == 1 && syntaxOf(child) != Syntax.KEYS) return <u32>child;
  if (childItems(term) == 1) setRule(term, Rule.ALL, 0);
  hashTerm(term);
  return <u32>term;
}
