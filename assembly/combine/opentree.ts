// From the tree of an expression to terms (combine/term/term.ts) and their cursors, which the walk works
// with.

import { right } from "../env/memory";
import { Right } from "../env/view";
import { entriesHeld } from "../arena/read/directory";
import { Cursor } from "./walk/cursor";
import { openTerm } from "./term/seek";
import {
  Rule, addStep, isSum, makeSum, makeTerm, setOffsets, setWeight, sumBytes, termBytes, setLeast,
} from "./term/term";
import {
  Syntax, bytesBelow, childItems, firstChild, highValue, itemsBelow, lowValue, nextSibling, ruleOf, setBelow,
  standsFor, syntaxOf, weightOf,
} from "../expression/tree";

/** Most entries of a result that a range or a complement adds to those of the operands. */
// @ts-ignore: decorator
@inline const ADDED_ENTRIES: u64 = 12;

/** Items of the term: ranges in a sum are steps of its constant instead. */
// @ts-ignore: decorator
@inline function itemsOf(record: usize): u32 {
  return isSumRecord(record) ? childItems(record) - rangesOf(record) : childItems(record);
}

// @ts-ignore: decorator
@inline function isSumRecord(record: usize): bool { return isSum(ruleOf(record)); }

// @ts-ignore: decorator
@inline function isRange(record: usize): bool { return syntaxOf(record) == Syntax.RANGE; }

function rangesOf(record: usize): u32 {
  let ranges: u32 = 0;
  for (let child = firstChild(record); child; child = nextSibling(child)) ranges += u32(isRange(child));
  return ranges;
}

/** The most steps that a sum takes: each range may end before the next one begins. */
// @ts-ignore: decorator
@inline function stepsOf(record: usize): u32 { return 1 + 2 * rangesOf(record); }

/** Bytes of the term itself. */
// @ts-ignore: decorator
@inline function ownBytes(record: usize, items: u32): u32 {
  return isSumRecord(record) ? sumBytes(items, stepsOf(record)) : termBytes(items);
}

/**
 * Counts the items and bytes that the record and everything below it takes.
 * Returns the most entries of its result.
 */
export function measure(record: usize): u64 {
  const items = syntaxOf(record) == Syntax.TERM ? itemsOf(record) : 0, hasSteps = isSumRecord(record);
  let allItems = items, bytes = ownBytes(record, items), entries = ADDED_ENTRIES;
  if (syntaxOf(record) == Syntax.KEYS) {
    entries = 0;
    for (let key = <u32>lowValue(record); key <= <u32>highValue(record); key++) {
      right.select(key - 1);
      entries += 2 * entriesHeld<Right>();    // a FULL entry may be cut at both ends of every other
    }
    bytes = 0;
  }
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    entries += measure(child);
    if (hasSteps && isRange(child)) continue;
    allItems += itemsBelow(child);
    bytes += bytesBelow(child);
  }
  setBelow(record, allItems, bytes);
  return entries;
}

/** Bytes of the cursors and terms of a tree that measure() has measured. */
export function treeBytes(root: usize): u32 { return cursorsBytes(root) + bytesBelow(root); }

/** Bytes of the cursors: item 0 is the root. */
// @ts-ignore: decorator
@inline function cursorsBytes(root: usize): u32 { return (1 + itemsBelow(root)) * <u32>Cursor.BYTES; }

/**
 * Makes the terms of the tree, of which item 0 is the root, and opens all cursors at container `key`.
 * `greatest` is the greatest offset.
 */
export function openTree(root: usize, key: u64, greatest: u64): void {
  openTerm(0, openRecord(root, 1, cursorsBytes(root), key, greatest), key);
}

/**
 * Makes the term of the record, which is not KEYS, and opens its items at container `key`; the caller opens
 * the term. Its items and those below them are numbered from `next` on, and its terms begin below what lies
 * `below` bytes from the arena's end on.
 */
function openRecord(record: usize, next: u32, below: u32, key: u64, greatest: u64): u32 {
  if (syntaxOf(record) == Syntax.RANGE) {
    const range = makeTerm(below, Rule.RANGE, 0, 0, 0);
    setOffsets(range, lowValue(record), highValue(record));
    return range;
  }
  const first = next, items = itemsOf(record), hasSteps = isSumRecord(record);
  let open = first;
  next += items;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (hasSteps && isRange(child)) continue;
    if (syntaxOf(child) == Syntax.KEYS) {
      const operand = <u32>lowValue(child) - 1, count = standsFor(child);
      for (let i: u32 = 0; i < count; i++) Cursor.open(open + i, operand + i, key);
    } else openTerm(open, openRecord(child, next, below, key, greatest), key);
    open += standsFor(child);
    next += itemsBelow(child);
    below += bytesBelow(child);
  }
  if (hasSteps) return sumOf(record, first, items, below, greatest);
  const term = makeTerm(below, ruleOf(record), first, items, <u32>lowValue(record));
  if (ruleOf(record) == Rule.NOT) setOffsets(term, 0, greatest);
  return term;
}

/** Makes the term of a sum, whose items are open. */
function sumOf(record: usize, first: u32, items: u32, below: u32, greatest: u64): u32 {
  const sum = makeSum(below, ruleOf(record), first, items, stepsOf(record));
  setLeast(sum, <i32>lowValue(record));
  addStep(sum, 0, 0);
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (!isRange(child)) continue;
    addStep(sum, lowValue(child), weightOf(child));
    if (highValue(child) < greatest) addStep(sum, highValue(child) + 1, 0);
  }
  let open = first;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (isRange(child)) continue;
    for (let end = open + standsFor(child); open < end; open++) setWeight(sum, open, weightOf(child));
  }
  setOffsets(sum, 0, greatest);
  return sum;
}
