// The tree of an expression, as the parser makes it:
// records in memory 0, before the result is begun in that memory. A record is
//
//   +0   u32 syntax          +4  u32 items that it stands for
//   +8   u32 first child     +12 u32 next sibling; 0 for none
//   +16  u64 first key, first offset, or the number that belongs to the rule
//   +24  u64 last key, last offset
//   +32  u32 rule of a TERM  +36 u32 last child
//   +40  u32 items and       +44 u32 bytes that it and everything below it take as terms
//                                (combine/opentree.ts)
//   +48  i32 weight in a sum +52 u32 its normal form, as a reference (normal.ts)
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

import { reserve } from "../arena/layout/header";
import { Rule } from "../combine/term/term";

export const enum Syntax {
  /** a key, or several that follow one another */
  KEYS,
  /** a range of offsets */
  RANGE,
  /** a rule with its items */
  TERM,
}

/** Where the fields of a record are, as above. */
export const enum Field {
  SYNTAX = 0, STANDS_FOR = 4, FIRST_CHILD = 8, SIBLING = 12, LOW = 16, HIGH = 24, RULE = 32, LAST_CHILD = 36,
  ITEMS_BELOW = 40, BYTES_BELOW = 44, WEIGHT = 48, NORMAL = 52, HASH = 56,
}

/** Where the fields of the parser's state are, as above. */
const enum State {
  RECORDS_END = 0, TEXT_AT = 4, MISTAKE = 8, MISTAKE_AT = 12, LEVELS = 16, NAMED_KEYS = 20, OPERANDS = 24,
  KEYS = 28, GREATEST = 32, ROOT = 40, OPERAND_TABLE = 44, NAMED = 48,
}

// @ts-ignore: decorator
@inline export const RECORD_BYTES: usize = 64;
/** Bytes of the bits for `keys` keys. */
// @ts-ignore: decorator
@inline function namedBytes(keys: u32): usize { return ((<usize>keys + 63) >> 6) << 3; }

// --- State -------------------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline export function recordsEnd(): usize { return load<u32>(State.RECORDS_END); }
// @ts-ignore: decorator
@inline export function textAt(): u32 { return load<u32>(State.TEXT_AT); }
// @ts-ignore: decorator
@inline export function setTextAt(at: u32): void { store<u32>(State.TEXT_AT, at); }
// @ts-ignore: decorator
@inline export function mistake(): u32 { return load<u32>(State.MISTAKE); }
// @ts-ignore: decorator
@inline export function mistakeAt(): u32 { return load<u32>(State.MISTAKE_AT); }
// @ts-ignore: decorator
@inline export function levels(): u32 { return load<u32>(State.LEVELS); }
// @ts-ignore: decorator
@inline export function setLevels(count: u32): void { store<u32>(State.LEVELS, count); }
// @ts-ignore: decorator
@inline export function namedKeys(): u32 { return load<u32>(State.NAMED_KEYS); }
// @ts-ignore: decorator
@inline export function operands(): u32 { return load<u32>(State.OPERANDS); }
// @ts-ignore: decorator
@inline export function addOperands(count: u32): void { store<u32>(State.OPERANDS, operands() + count); }

// @ts-ignore: decorator
@inline export function keyCount(): u32 { return load<u32>(State.KEYS); }
/** The greatest offset of the family. */
// @ts-ignore: decorator
@inline export function greatestOffset(): u64 { return load<u64>(State.GREATEST); }

/** Where the records begin. */
// @ts-ignore: decorator
@inline export function recordsStart(): usize { return namedBytes(keyCount()) + State.NAMED; }
// @ts-ignore: decorator
@inline export function setRecordsEnd(end: usize): void { store<u32>(State.RECORDS_END, <u32>end); }
// @ts-ignore: decorator
@inline export function operandTable(): usize { return load<u32>(State.OPERAND_TABLE); }
// @ts-ignore: decorator
@inline export function setOperandTable(table: usize): void { store<u32>(State.OPERAND_TABLE, <u32>table); }

// @ts-ignore: decorator
@inline export function rootRecord(): usize { return load<u32>(State.ROOT); }
// @ts-ignore: decorator
@inline export function setRootRecord(root: usize): void { store<u32>(State.ROOT, <u32>root); }

/** Makes memory 0 an empty tree, for an expression over `keys` keys of a family with this greatest offset. */
export function startTree(keys: u32, greatest: u64): void {
  const records = namedBytes(keys) + State.NAMED;
  reserve(records);
  memory.fill(0, 0, records);
  store<u32>(State.RECORDS_END, <u32>records);
  store<u32>(State.KEYS, keys);
  store<u64>(State.GREATEST, greatest);
}

/** Notes the first mistake, at character `at` of the text, counted from 0. */
export function note(what: u32, at: u32): void {
  if (mistake()) return;
  store<u32>(State.MISTAKE, what);
  store<u32>(State.MISTAKE_AT, at);
}

/** Notes that keys first .. last, counted from 1, are named. */
export function nameKeys(first: u32, last: u32): void {
  for (let key = first - 1; key < last; key++) {
    const at = (key >> 3) + State.NAMED, bit = (<u32>1) << (key & 7), byte = <u32>load<u8>(at);
    if (byte & bit) continue;
    store<u8>(at, byte | bit);
    store<u32>(State.NAMED_KEYS, namedKeys() + 1);
  }
}

/** The first key, counted from 1, that is not named. */
export function firstUnnamed(): u32 {
  let key: u32 = 0;
  while ((<u32>load<u8>((key >> 3) + State.NAMED) >> (key & 7)) & 1) key++;
  return key + 1;
}

// --- Records -----------------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline export function itemsBelow(record: usize): u32 { return load<u32>(record, Field.ITEMS_BELOW); }
// @ts-ignore: decorator
@inline export function bytesBelow(record: usize): u32 { return load<u32>(record, Field.BYTES_BELOW); }
// @ts-ignore: decorator
@inline export function setBelow(record: usize, items: u32, bytes: u32): void {
  store<u32>(record, items, Field.ITEMS_BELOW);
  store<u32>(record, bytes, Field.BYTES_BELOW);
}
// @ts-ignore: decorator
@inline export function syntaxOf(record: usize): Syntax { return <Syntax>load<u32>(record, Field.SYNTAX); }
/** Items that the record stands for: keys, or 1. */
// @ts-ignore: decorator
@inline export function standsFor(record: usize): u32 { return load<u32>(record, Field.STANDS_FOR); }
// @ts-ignore: decorator
@inline export function firstChild(record: usize): usize { return load<u32>(record, Field.FIRST_CHILD); }
// @ts-ignore: decorator
@inline export function nextSibling(record: usize): usize { return load<u32>(record, Field.SIBLING); }
// @ts-ignore: decorator
@inline export function lowValue(record: usize): u64 { return load<u64>(record, Field.LOW); }
// @ts-ignore: decorator
@inline export function highValue(record: usize): u64 { return load<u64>(record, Field.HIGH); }
// @ts-ignore: decorator
@inline export function ruleOf(record: usize): Rule { return <Rule>load<u32>(record, Field.RULE); }
// @ts-ignore: decorator
@inline export function setRule(record: usize, rule: Rule, least: u64): void {
  store<u32>(record, rule, Field.RULE);
  store<u64>(record, least, Field.LOW);
}

// @ts-ignore: decorator
@inline export function isTerm(record: usize, rule: Rule): bool {
  return syntaxOf(record) == Syntax.TERM && ruleOf(record) == rule;
}

function makeRecord(syntax: Syntax, count: u32, low: u64, high: u64): usize {
  const record = recordsEnd();
  reserve(record + RECORD_BYTES);
  memory.fill(record, 0, RECORD_BYTES);
  store<u32>(record, syntax, Field.SYNTAX);
  store<u32>(record, count, Field.STANDS_FOR);
  store<u64>(record, low, Field.LOW);
  store<u64>(record, high, Field.HIGH);
  store<i32>(record, 1, Field.WEIGHT);
  setRecordsEnd(record + RECORD_BYTES);
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
  const last = <usize>load<u32>(term, Field.LAST_CHILD);
  store<u32>(child, 0, Field.SIBLING);
  if (last) store<u32>(last, <u32>child, Field.SIBLING);
  else store<u32>(term, <u32>child, Field.FIRST_CHILD);
  store<u32>(term, <u32>child, Field.LAST_CHILD);
}

/** Takes all items from a term. Returns the first, from which links lead to the others. */
export function takeChildren(term: usize): usize {
  const first = firstChild(term);
  store<u32>(term, 0, Field.FIRST_CHILD);
  store<u32>(term, 0, Field.LAST_CHILD);
  return first;
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
 * Adds `child` to a term, or its items if it has the same rule.
 * For rules of which that makes no difference, such as ANY.
 */
export function join(term: usize, child: usize): void {
  if (isTerm(child, ruleOf(term))) moveChildren(term, child); else addChild(term, child);
}

// @ts-ignore: decorator
@inline export function weightOf(record: usize): i32 { return load<i32>(record, Field.WEIGHT); }
// @ts-ignore: decorator
@inline export function setWeightOf(record: usize, weight: i32): void {
  store<i32>(record, weight, Field.WEIGHT);
}
// @ts-ignore: decorator
@inline export function normalOf(record: usize): u32 { return load<u32>(record, Field.NORMAL); }
// @ts-ignore: decorator
@inline export function setNormal(record: usize, normal: u32): void {
  store<u32>(record, normal, Field.NORMAL);
}
// @ts-ignore: decorator
@inline export function hashOf(record: usize): u64 { return load<u64>(record, Field.HASH); }
// @ts-ignore: decorator
@inline export function setHash(record: usize, hash: u64): void { store<u64>(record, hash, Field.HASH); }

/** Items of a term: each key counts. */
export function childItems(term: usize): u32 {
  let items: u32 = 0;
  for (let child = firstChild(term); child; child = nextSibling(child)) items += standsFor(child);
  return items;
}
