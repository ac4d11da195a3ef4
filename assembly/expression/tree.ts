// The tree of an expression, as the parser makes it:
// records in memory 0, before the result is begun in that memory. A record is
//
//   +0   u32 syntax          +4  u32 items that it stands for
//   +8   u32 first child     +12 u32 next sibling; 0 for none
//   +16  u64 first key, first offset, or how many items
//   +24  u64 last key, last offset
//   +32  u32 rule of a TERM  +36 u32 last child
//   +40  u32 items and       +44 u32 bytes that it and everything below it takes as terms (terms.ts)
//   +48  i32 weight in a sum +52 u32 what it is the same as (normal.ts)
//   +56  u64 hash: equal records have equal ones
//
// At the memory's start is the state of the parser, because the core has no variables:
//
//   +0   u32 where the next record goes     +4  u32 where the parser is in the text
//   +8   u32 mistake, and where it is       +16 u32 levels that the parser is in
//   +20  u32 keys that have been named      +24 u32 operands so far
//   +28  u32 keys                           +32 u64 greatest offset
//   +40  u32 root, once there is one        +44 u32 where a table of operands is (operands.ts), 0 for none
//   +48  a bit for each key: whether it has been named
//
// Addresses in the records are those in memory 0,
// so the tree can be kept elsewhere and copied back to the memory's start.

import { reserve } from "../arena/arena";
import { Rule } from "../combine/term";

export const enum Syntax {
  /** a key, or several that follow one another */
  KEYS,
  /** a range of offsets */
  RANGE,
  /** a rule with its items */
  TERM,
}

// @ts-ignore: decorator
@inline export const RECORD_BYTES: usize = 64;
// @ts-ignore: decorator
@inline const NAMED: usize = 48;
/** Bytes of the bits for `keys` keys. */
// @ts-ignore: decorator
@inline function namedBytes(keys: u32): usize { return ((<usize>keys + 63) >> 6) << 3; }

// --- State -------------------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline export function recordsEnd(): usize { return load<u32>(0); }
// @ts-ignore: decorator
@inline export function textAt(): u32 { return load<u32>(4); }
// @ts-ignore: decorator
@inline export function setTextAt(at: u32): void { store<u32>(4, at); }
// @ts-ignore: decorator
@inline export function mistake(): u32 { return load<u32>(8); }
// @ts-ignore: decorator
@inline export function mistakeAt(): u32 { return load<u32>(12); }
// @ts-ignore: decorator
@inline export function levels(): u32 { return load<u32>(16); }
// @ts-ignore: decorator
@inline export function setLevels(count: u32): void { store<u32>(16, count); }
// @ts-ignore: decorator
@inline export function namedKeys(): u32 { return load<u32>(20); }
// @ts-ignore: decorator
@inline export function operands(): u32 { return load<u32>(24); }
// @ts-ignore: decorator
@inline export function addOperands(count: u32): void { store<u32>(24, operands() + count); }

// @ts-ignore: decorator
@inline export function keyCount(): u32 { return load<u32>(28); }
/** The greatest offset of the family. */
// @ts-ignore: decorator
@inline export function greatestOffset(): u64 { return load<u64>(32); }

/** Where the records begin. */
// @ts-ignore: decorator
@inline export function recordsStart(): usize { return NAMED + namedBytes(keyCount()); }
// @ts-ignore: decorator
@inline export function setRecordsEnd(end: usize): void { store<u32>(0, <u32>end); }
// @ts-ignore: decorator
@inline export function operandTable(): usize { return load<u32>(44); }
// @ts-ignore: decorator
@inline export function setOperandTable(table: usize): void { store<u32>(44, <u32>table); }

// @ts-ignore: decorator
@inline export function rootRecord(): usize { return load<u32>(40); }
// @ts-ignore: decorator
@inline export function setRootRecord(root: usize): void { store<u32>(40, <u32>root); }

/** Makes memory 0 an empty tree, for an expression over `keys` keys of a family with this greatest offset. */
export function startTree(keys: u32, greatest: u64): void {
  const records = NAMED + namedBytes(keys);
  reserve(records);
  memory.fill(0, 0, records);
  store<u32>(0, <u32>records);
  store<u32>(28, keys);
  store<u64>(32, greatest);
}

/** Notes the first mistake, at character `at` of the text, counted from 0. */
export function note(what: u32, at: u32): void {
  if (mistake()) return;
  store<u32>(8, what);
  store<u32>(12, at);
}

/** Notes that keys first .. last, counted from 1, are named. */
export function nameKeys(first: u32, last: u32): void {
  for (let key = first - 1; key < last; key++) {
    const at = NAMED + (key >> 3), bit = (<u32>1) << (key & 7), byte = <u32>load<u8>(at);
    if (byte & bit) continue;
    store<u8>(at, byte | bit);
    store<u32>(20, namedKeys() + 1);
  }
}

/** The first key, counted from 1, that is not named. */
export function firstUnnamed(): u32 {
  let key: u32 = 0;
  while ((<u32>load<u8>(NAMED + (key >> 3)) >> (key & 7)) & 1) key++;
  return key + 1;
}

// --- Records -----------------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline export function itemsBelow(record: usize): u32 { return load<u32>(record, 40); }
// @ts-ignore: decorator
@inline export function bytesBelow(record: usize): u32 { return load<u32>(record, 44); }
// @ts-ignore: decorator
@inline export function setBelow(record: usize, items: u32, bytes: u32): void {
  store<u32>(record, items, 40);
  store<u32>(record, bytes, 44);
}
// @ts-ignore: decorator
@inline export function syntaxOf(record: usize): Syntax { return <Syntax>load<u32>(record); }
/** Items that the record stands for: keys, or 1. */
// @ts-ignore: decorator
@inline export function standsFor(record: usize): u32 { return load<u32>(record, 4); }
// @ts-ignore: decorator
@inline export function firstChild(record: usize): usize { return load<u32>(record, 8); }
// @ts-ignore: decorator
@inline export function nextSibling(record: usize): usize { return load<u32>(record, 12); }
// @ts-ignore: decorator
@inline export function lowValue(record: usize): u64 { return load<u64>(record, 16); }
// @ts-ignore: decorator
@inline export function highValue(record: usize): u64 { return load<u64>(record, 24); }
// @ts-ignore: decorator
@inline export function ruleOf(record: usize): Rule { return <Rule>load<u32>(record, 32); }
// @ts-ignore: decorator
@inline export function setRule(record: usize, rule: Rule, least: u64): void {
  store<u32>(record, rule, 32);
  store<u64>(record, least, 16);
}

// @ts-ignore: decorator
@inline export function isTerm(record: usize, rule: Rule): bool {
  return syntaxOf(record) == Syntax.TERM && ruleOf(record) == rule;
}

function makeRecord(syntax: Syntax, count: u32, low: u64, high: u64): usize {
  const record = recordsEnd();
  reserve(record + RECORD_BYTES);
  memory.fill(record, 0, RECORD_BYTES);
  store<u32>(record, syntax);
  store<u32>(record, count, 4);
  store<u64>(record, low, 16);
  store<u64>(record, high, 24);
  store<i32>(record, 1, 48);
  store<u32>(0, <u32>(record + RECORD_BYTES));
  return record;
}

/** Keys first .. last, counted from 1. */
export function makeKeys(first: u32, last: u32): usize {
  return makeRecord(Syntax.KEYS, last - first + 1, first, last);
}

export function makeRange(first: u64, last: u64): usize { return makeRecord(Syntax.RANGE, 1, first, last); }

/** A term without items. */
export function makeTree(rule: Rule): usize {
  const record = makeRecord(Syntax.TERM, 1, 0, 0);
  setRule(record, rule, 0);
  return record;
}

/** Adds an item to a term, behind those that it has. */
export function addChild(term: usize, child: usize): void {
  const last = <usize>load<u32>(term, 36);
  store<u32>(child, 0, 12);
  if (last) store<u32>(last, <u32>child, 12); else store<u32>(term, <u32>child, 8);
  store<u32>(term, <u32>child, 36);
}

/** Moves all items of term `from` to the end of those of `term`. */
export function moveChildren(term: usize, from: usize): void {
  for (let child = firstChild(from); child;) {
    const next = nextSibling(child);
    addChild(term, child);
    child = next;
  }
}

/**
 * Adds `child` to a term, or its items if it has the same rule and the rule is one for
 * which that makes no difference.
 */
export function join(term: usize, child: usize): void {
  if (isTerm(child, ruleOf(term))) moveChildren(term, child); else addChild(term, child);
}

// @ts-ignore: decorator
@inline export function weightOf(record: usize): i32 { return load<i32>(record, 48); }
// @ts-ignore: decorator
@inline export function setWeightOf(record: usize, weight: i32): void { store<i32>(record, weight, 48); }
// @ts-ignore: decorator
@inline export function normalOf(record: usize): u32 { return load<u32>(record, 52); }
// @ts-ignore: decorator
@inline export function setNormal(record: usize, normal: u32): void { store<u32>(record, normal, 52); }
// @ts-ignore: decorator
@inline export function hashOf(record: usize): u64 { return load<u64>(record, 56); }
// @ts-ignore: decorator
@inline export function setHash(record: usize, hash: u64): void { store<u64>(record, hash, 56); }

/** Items of a term: each key counts. */
export function childItems(term: usize): u32 {
  let items: u32 = 0;
  for (let child = firstChild(term); child; child = nextSibling(child)) items += standsFor(child);
  return items;
}
