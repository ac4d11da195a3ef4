// Records in normal form: how they are named, compared, hashed and copied.
//
// A reference is the address of a record in normal form, plus 1 if its complement is meant. Records in normal
// form have no NOT below them. Ranges in the items of a sum come behind the other items, ascend, and do not
// overlap. Without other items, and with weights of 1, a sum stands for several ranges.

import { reserve } from "../arena/layout/header";
import { Rule, isSum } from "../combine/term/term";
import {
  Field, RECORD_BYTES, Syntax, firstChild, hashOf, highValue, lowValue, makeTree, nextSibling, recordsEnd,
  ruleOf, setHash, setRecordsEnd, standsFor, syntaxOf, weightOf,
} from "./tree";

/** A record in normal form, or with COMPLEMENT its complement. */
export type Reference = u32;

// @ts-ignore: decorator
@inline export const COMPLEMENT: u32 = 1;

// @ts-ignore: decorator
@inline export function recordOf(reference: Reference): usize { return <usize>(reference & ~COMPLEMENT); }

/** Whether the record, which is in normal form, is ranges or nothing. */
export function isConstant(record: usize): bool {
  if (syntaxOf(record) != Syntax.TERM) return syntaxOf(record) == Syntax.RANGE;
  const child = firstChild(record);
  return !child || (isSum(ruleOf(record)) && syntaxOf(child) == Syntax.RANGE);
}

export function nothing(): Reference {
  const record = makeTree(Rule.ANY);
  hashTerm(record);
  return <u32>record;
}

// @ts-ignore: decorator
@inline export function nothingOr(everything: bool): Reference {
  return everything ? nothing() | COMPLEMENT : nothing();
}

/** Whether two records in normal form are the same. */
export function equal(x: usize, y: usize): bool {
  if (syntaxOf(x) != syntaxOf(y) || hashOf(x) != hashOf(y) || weightOf(x) != weightOf(y)) return false;
  if (lowValue(x) != lowValue(y) || highValue(x) != highValue(y) || ruleOf(x) != ruleOf(y)) return false;
  let a = firstChild(x), b = firstChild(y);
  while (a && b && equal(a, b)) {
    a = nextSibling(a);
    b = nextSibling(b);
  }
  return !a && !b;
}

/** The key of a term in normal form that is nothing else; otherwise 0. */
export function keyAlone(record: usize): u32 {
  const child = firstChild(record);
  return child && !nextSibling(child) && syntaxOf(child) == Syntax.KEYS && standsFor(child) == 1
    ? <u32>lowValue(child)
    : 0;
}

/** A number whose bits all depend on all bits of `x` (splitmix64). */
export function mix(x: u64): u64 {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/** Sets the hash of a term whose children are final. */
export function hashTerm(term: usize): void {
  let hash = mix(lowValue(term) + (<u64>ruleOf(term) << 48) + 1);
  for (let child = firstChild(term); child; child = nextSibling(child)) {
    const own = syntaxOf(child) == Syntax.KEYS
      ? mix(lowValue(child) << 32 | highValue(child))
      : hashOf(child);
    hash = mix(hash + own + (<u64>weightOf(child) << 17));
  }
  setHash(term, hash);
}

/**
 * Moves the records of the tree at `root` down to `to`. Everything from there on is garbage.
 * Returns the root's new address.
 */
export function moveTree(root: usize, to: usize): usize {
  const from = recordsEnd();
  copyTree(root, from - to);
  const bytes = recordsEnd() - from;
  memory.copy(to, from, bytes);
  setRecordsEnd(to + bytes);
  return to;
}

/**
 * Copies the record and all below it behind the records, with the addresses that they will have `by` bytes
 * further down.
 * Returns where the copy will be.
 */
export function copyTree(record: usize, by: usize): usize {
  const copy = recordsEnd();
  reserve(copy + RECORD_BYTES);
  setRecordsEnd(copy + RECORD_BYTES);
  memory.copy(copy, record, RECORD_BYTES);
  let link = copy + Field.FIRST_CHILD, last: usize = 0;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    last = copyTree(child, by);
    store<u32>(link, <u32>last);
    link = last + by + Field.SIBLING;
  }
  store<u32>(copy, <u32>last, Field.LAST_CHILD);
  return copy - by;
}
