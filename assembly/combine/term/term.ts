// Terms: what a combination makes of its items. The items of a term are operands and results of other terms,
// so terms form a tree. Both the operations of BITOP and the expressions of QUERY are such trees. Terms are
// kept in the builder's scratch at the arena's end, below the cursors (combine/walk/cursor.ts). A term is
// named by the distance of its address from the arena's end, because addresses move when the arena grows:
//
//   +0   u32 rule                              +4  u32 first item; the items of a term are consecutive
//   +8   u32 items                             +12 u32 least: how many items, see Rule
//   +16  u32 items of a group, 0 for none      +20 u32 groups
//   +24  u32 items that have ended             +28 u32 name of the groups' least keys: their distance from
//                                                  the arena's end
//   +32  u32 operand that the result lies in   +36 u32 entry of that operand, if it lies in one
//   +40  u64 first offset of a RANGE           +48 u64 last offset of a RANGE, or of the universe of a NOT
//        of others: how much is listed (listed.ts)
//   +56  u32 name of the steps of a sum           +60 u32 steps
//   +64  u32 step that the walk is in             +68 u32 the most that all items weigh together
//   +72  list: LISTED_BYTES for each item (listed.ts); then a u64 for each group: the least key of its items
//        of a sum: a step for each offset from which on another constant counts, u64 offset and i32 constant;
//        the first has offset 0.
//        Then i32 weight for each item
//
// Groups are for terms of many items: a key at which few of them have a container costs about the square root
// of their number.

import { Entry } from "../../arena/layout/entry";
import { Node } from "../../arena/layout/node";
import { arena } from "../../env/memory";

export const enum Rule {
  /** in all items */
  ALL,
  /** in any item */
  ANY,
  /** in an odd number of items */
  ODD,
  /** in the first `least` items, and in no other */
  LESS,
  /** in the first item and in any other; the first is an operand */
  ANDOR,
  /** in any item but not in the first, which is an operand */
  DIFF1,
  /** in `least` items or more */
  ATLEAST,
  /** in exactly `least` items */
  EXACTLY,
  /** in the universe, and not in the only item */
  NOT,
  /** from a first to a last offset; there are no items */
  RANGE,
  /**
   * the weights of the items that have it, and a constant, are `least` or more together; weights may be
   * negative
   */
  SUM_ATLEAST,
  /** they are exactly `least` */
  SUM_EXACTLY,
}

// @ts-ignore: decorator
@inline export function isSum(rule: Rule): bool { return rule >= Rule.SUM_ATLEAST; }

// @ts-ignore: decorator
@inline const RULE: u32 = 0;
// @ts-ignore: decorator
@inline const FIRST: u32 = 4;
// @ts-ignore: decorator
@inline const ITEMS: u32 = 8;
// @ts-ignore: decorator
@inline const LEAST: u32 = 12;
// @ts-ignore: decorator
@inline const GROUP_ITEMS: u32 = 16;
// @ts-ignore: decorator
@inline const GROUPS: u32 = 20;
// @ts-ignore: decorator
@inline const ENDED: u32 = 24;
// @ts-ignore: decorator
@inline const LEAST_KEYS: u32 = 28;
// @ts-ignore: decorator
@inline const OPERAND: u32 = 32;
// @ts-ignore: decorator
@inline const ENTRY: u32 = 36;
// @ts-ignore: decorator
@inline const LOW: u32 = 40;
// @ts-ignore: decorator
@inline const FOUND: u32 = 40;
// @ts-ignore: decorator
@inline const HIGH: u32 = 48;
// @ts-ignore: decorator
@inline const STEPS_NAME: u32 = 56;
// @ts-ignore: decorator
@inline const STEPS: u32 = 60;
// @ts-ignore: decorator
@inline const STEP: u32 = 64;
// @ts-ignore: decorator
@inline const WEIGHT: u32 = 68;
// @ts-ignore: decorator
@inline const TERM_BYTES: u32 = 72;
// @ts-ignore: decorator
@inline const SUM_STEP_BYTES: u32 = 16;
/** Bytes of the list for each item. */
// @ts-ignore: decorator
@inline export const LISTED_BYTES: u32 = 16;
/** Terms of fewer items have no groups. */
// @ts-ignore: decorator
@inline const GROUPS_FROM: u32 = 32;

// @ts-ignore: decorator
@inline function termAt(term: u32): usize { return <usize>arena.size() - term; }
// @ts-ignore: decorator
@inline export function termRule(term: u32): Rule { return <Rule>load<u32>(termAt(term), RULE); }
// @ts-ignore: decorator
@inline export function firstItem(term: u32): u32 { return load<u32>(termAt(term), FIRST); }
// @ts-ignore: decorator
@inline export function itemCount(term: u32): u32 { return load<u32>(termAt(term), ITEMS); }
/** The number after that of the last item. */
// @ts-ignore: decorator
@inline export function itemsEnd(term: u32): u32 { return firstItem(term) + itemCount(term); }
/** How many of the first items stand apart from the others. */
// @ts-ignore: decorator
@inline function itemsApart(rule: Rule, least: u32): u32 {
  return rule == Rule.LESS ? least : u32(rule == Rule.ANDOR || rule == Rule.DIFF1);
}
/** The first of the items that can be grouped. */
// @ts-ignore: decorator
@inline export function firstGrouped(term: u32): u32 {
  return firstItem(term) + itemsApart(termRule(term), termLeast(term));
}
// @ts-ignore: decorator
@inline export function termLeast(term: u32): u32 { return load<u32>(termAt(term), LEAST); }
// @ts-ignore: decorator
@inline function groupItems(term: u32): u32 { return load<u32>(termAt(term), GROUP_ITEMS); }
// @ts-ignore: decorator
@inline export function groupCount(term: u32): u32 { return load<u32>(termAt(term), GROUPS); }
// @ts-ignore: decorator
@inline export function groupStart(term: u32, group: u32): u32 {
  return firstGrouped(term) + group * groupItems(term);
}
// @ts-ignore: decorator
@inline export function groupEnd(term: u32, start: u32): u32 {
  return min(start + groupItems(term), itemsEnd(term));
}
/** Address of the least key of group `group`. */
// @ts-ignore: decorator
@inline export function groupKeyAt(term: u32, group: u32): usize {
  return <usize>arena.size() - load<u32>(termAt(term), LEAST_KEYS) + (<usize>group << 3);
}
/** How many of the items have no more containers. Not kept up to date without groups. */
// @ts-ignore: decorator
@inline export function endedItems(term: u32): u32 { return load<u32>(termAt(term), ENDED); }
// @ts-ignore: decorator
@inline export function setEndedItems(term: u32, items: u32): void { store<u32>(termAt(term), items, ENDED); }
/** The operand that holds the result of evaluate(): SELF for memory 0. */
// @ts-ignore: decorator
@inline export function resultOperand(term: u32): u32 { return load<u32>(termAt(term), OPERAND); }
/** The entry whose container the result is, if an operand holds it. */
// @ts-ignore: decorator
@inline export function resultEntry(term: u32): Entry { return changetype<Entry>(load<u32>(termAt(term), ENTRY)); }
// @ts-ignore: decorator
@inline export function setResult(term: u32, operand: u32, entry: Entry): void {
  store<u32>(termAt(term), operand, OPERAND);
  store<u32>(termAt(term), <u32>changetype<usize>(entry), ENTRY);
}
/** How much seekRest() or seekAny() has listed, see listed.ts. Not of terms with groups, and not of RANGE. */
// @ts-ignore: decorator
@inline export function termFound(term: u32): u64 { return load<u64>(termAt(term), FOUND); }
// @ts-ignore: decorator
@inline export function setFound(term: u32, found: u64): void { store<u64>(termAt(term), found, FOUND); }
// @ts-ignore: decorator
@inline export function lowOffset(term: u32): u64 { return load<u64>(termAt(term), LOW); }
// @ts-ignore: decorator
@inline export function highOffset(term: u32): u64 { return load<u64>(termAt(term), HIGH); }
/** Sets the range of a RANGE, or the universe [0, high] of a NOT. */
export function setOffsets(term: u32, low: u64, high: u64): void {
  store<u64>(termAt(term), low, LOW);
  store<u64>(termAt(term), high, HIGH);
}
/** How much the items of a sum weigh together at most, whatever the signs. */
// @ts-ignore: decorator
@inline export function totalWeight(term: u32): u32 { return load<u32>(termAt(term), WEIGHT); }
// @ts-ignore: decorator
@inline function stepAt(term: u32, step: u32): usize {
  return <usize>arena.size() - load<u32>(termAt(term), STEPS_NAME) + <usize>step * SUM_STEP_BYTES;
}
// @ts-ignore: decorator
@inline export function stepOffset(term: u32, step: u32): u64 { return load<u64>(stepAt(term, step)); }
/** The constant from the step's offset on. */
// @ts-ignore: decorator
@inline export function stepConstant(term: u32, step: u32): i32 { return load<i32>(stepAt(term, step), 8); }
/** Address of the weight of item `i`, an i32. */
// @ts-ignore: decorator
@inline function weightAt(term: u32, i: u32): usize {
  return stepAt(term, stepCount(term)) + (<usize>(i - firstItem(term)) << 2);
}
// @ts-ignore: decorator
@inline export function itemWeight(term: u32, i: u32): i32 { return load<i32>(weightAt(term, i)); }
/** Gives item `to` the weight of item `from`. */
// @ts-ignore: decorator
@inline export function copyWeight(term: u32, to: u32, from: u32): void {
  store<i32>(weightAt(term, to), itemWeight(term, from));
}
// @ts-ignore: decorator
@inline export function stepCount(term: u32): u32 { return load<u32>(termAt(term), STEPS); }
/** The step that has the first offset of container `key`. The walk never goes back. */
export function stepTo(term: u32, key: u64): u32 {
  let step = load<u32>(termAt(term), STEP);
  while (step + 1 < stepCount(term) && stepOffset(term, step + 1) <= key << 16) step++;
  store<u32>(termAt(term), step, STEP);
  return step;
}
/** Whether `sum` suffices. */
// @ts-ignore: decorator
@inline export function sumReaches(term: u32, sum: i32): bool {
  const least = <i32>termLeast(term);
  return termRule(term) == Rule.SUM_EXACTLY ? sum == least : sum >= least;
}
/**
 * Adds a step to a sum, behind those it has. A step at the same offset is replaced, and one that changes
 * nothing is not added.
 */
export function addStep(term: u32, offset: u64, constant: i32): void {
  let steps = stepCount(term);
  if (steps && stepOffset(term, steps - 1) == offset) steps--;
  if (!steps || stepConstant(term, steps - 1) != constant) {
    store<u64>(stepAt(term, steps), offset);
    store<i32>(stepAt(term, steps), constant, 8);
    steps++;
  }
  store<u32>(termAt(term), steps, STEPS);
}
/** Gives item `i` a weight, after all steps have been added. */
export function setWeight(term: u32, i: u32, weight: i32): void {
  store<i32>(weightAt(term, i), weight);
  store<u32>(termAt(term), totalWeight(term) + <u32>abs<i32>(weight), WEIGHT);
}

/** Address of the list's element `index`, until the arena grows. */
// @ts-ignore: decorator
@inline export function listedAt(list: usize, index: u32): usize {
  return list + <usize>index * LISTED_BYTES;
}
/** Address of the term's list, until the arena grows. */
// @ts-ignore: decorator
@inline export function listAt(term: u32): usize { return termAt(term) + TERM_BYTES; }

// ALL has no groups: it looks at no item of a key that another item lacks.
// @ts-ignore: decorator
@inline function hasGroups(rule: Rule, items: u32): bool { return rule != Rule.ALL && items >= GROUPS_FROM; }

/** Items of a group: the square root of the number of items, rounded up. */
function sizeOfGroups(items: u32): u32 {
  const root = changetype<Node>(<u32>sqrt<f64>(items));
  return changetype<usize>(root) * changetype<usize>(root) < items ? changetype<usize>(root) + 1 : changetype<usize>(root);
}

/** The most bytes that a term of `items` items takes. A multiple of 8, as cursors are. */
export function termBytes(items: u32): u32 {
  return TERM_BYTES + items * LISTED_BYTES + (items >= GROUPS_FROM ? 8 * (sizeOfGroups(items) + 1) : 0);
}

/** The most bytes that a sum of `items` items takes with `steps` steps. A multiple of 8. */
export function sumBytes(items: u32, steps: u32): u32 {
  return termBytes(items) + steps * SUM_STEP_BYTES + ((items + 1) >> 1 << 3);
}

/** Makes a sum like makeTerm(). It has no steps and no weights yet, and its least sum is 0. */
export function makeSum(below: u32, rule: Rule, first: u32, items: u32, steps: u32): u32 {
  const term = makeTerm(below + sumBytes(items, steps) - termBytes(items), rule, first, items, 0);
  store<u32>(termAt(term), term - termBytes(items), STEPS_NAME);
  return term;
}

/**
 * Makes a term below what lies `below` bytes from the arena's end on, where termBytes(items) bytes are free;
 * returns its name.
 */
export function makeTerm(below: u32, rule: Rule, first: u32, items: u32, least: u32): u32 {
  const term = below + termBytes(items), at = termAt(term);
  memory.fill(at, 0, TERM_BYTES);
  store<u32>(at, rule, RULE);
  store<u32>(at, first, FIRST);
  store<u32>(at, least, LEAST);
  store<u32>(at, term - TERM_BYTES - items * LISTED_BYTES, LEAST_KEYS);
  setItems(term, items);
  return term;
}

/** Sets the least sum that counts. */
// @ts-ignore: decorator
@inline export function setLeast(sum: u32, least: i32): void { store<i32>(termAt(sum), least, LEAST); }

/** Sets how many items the term has, at most as many as before, and how they are grouped. */
export function setItems(term: u32, items: u32): void {
  const at = termAt(term), grouped = items - itemsApart(termRule(term), termLeast(term));
  const size = sizeOfGroups(grouped);
  const groups = hasGroups(termRule(term), grouped) ? (grouped + size - 1) / size : 0;
  store<u32>(at, items, ITEMS);
  store<u32>(at, groups ? size : 0, GROUP_ITEMS);
  store<u32>(at, groups, GROUPS);
}
