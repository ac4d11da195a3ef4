// Records in normal form: how they are named, compared, hashed and copied.
//
// A reference is the address of a record in normal form, plus 1 if its complement is meant. Records in normal
// form have no NOT below them. Ranges in the items of a sum come behind the other items, ascend, and do not
// overlap. Without other items, and with weights of 1, a sum stands for several ranges.

import { Arena } from "../arena/layout/header";
import { Rule, Term } from "../combine/term/term";
import { Field, Syntax, Tree, TreeRecord } from "./tree";

/** A record in normal form, or with COMPLEMENT its complement. */
export type Reference = u32;

// @ts-ignore: decorator
@inline export const COMPLEMENT: u32 = 1;

// @ts-ignore: decorator
@inline export function recordOf(reference: Reference): TreeRecord {
  return changetype<TreeRecord>(<usize>(reference & ~COMPLEMENT));
}

/** Whether the record, which is in normal form, is ranges or nothing. */
export function isConstant(record: TreeRecord): bool {
  if (record.syntax() != Syntax.TERM) return record.syntax() == Syntax.RANGE;
  const child = record.firstChild();
  return !child || (Term.isSum(record.rule()) && child.syntax() == Syntax.RANGE);
}

export function nothing(): Reference {
  const record = TreeRecord.makeTerm(Rule.ANY);
  hashTerm(record);
  return <u32>changetype<usize>(record);
}

// @ts-ignore: decorator
@inline export function nothingOr(everything: bool): Reference {
  return everything ? nothing() | COMPLEMENT : nothing();
}

/** Whether two records in normal form are the same. */
export function equal(x: TreeRecord, y: TreeRecord): bool {
  if (x.syntax() != y.syntax() || x.hash() != y.hash() || x.weight() != y.weight()) return false;
  if (x.low() != y.low() || x.high() != y.high() || x.rule() != y.rule()) return false;
  let a = x.firstChild(), b = y.firstChild();
  while (a && b && equal(a, b)) {
    a = a.nextSibling();
    b = b.nextSibling();
  }
  return !a && !b;
}

/** The key of a term in normal form that is nothing else; otherwise 0. */
export function keyAlone(record: TreeRecord): u32 {
  const child = record.firstChild();
  return child && !child.nextSibling() && child.syntax() == Syntax.KEYS && child.standsFor() == 1
    ? <u32>child.low()
    : 0;
}

/** A number whose bits all depend on all bits of `x` (splitmix64). */
export function mix(x: u64): u64 {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/** Sets the hash of a term whose children are final. */
export function hashTerm(term: TreeRecord): void {
  let hash = mix(term.low() + (<u64>term.rule() << 48) + 1);
  for (let child = term.firstChild(); child; child = child.nextSibling()) {
    const own = child.syntax() == Syntax.KEYS
      ? mix(child.low() << 32 | child.high())
      : child.hash();
    hash = mix(hash + own + (<u64>child.weight() << 17));
  }
  term.setHash(hash);
}

/**
 * Moves the records of the tree at `root` down to `to`. Everything from there on is garbage.
 * Returns the root's new address.
 */
export function moveTree(root: TreeRecord, to: usize): TreeRecord {
  const from = Tree.recordsEnd();
  copyTree(root, from - to);
  const bytes = Tree.recordsEnd() - from;
  memory.copy(to, from, bytes);
  Tree.setRecordsEnd(to + bytes);
  return changetype<TreeRecord>(to);
}

/**
 * Copies the record and all below it behind the records, with the addresses that they will have `by` bytes
 * further down.
 * Returns where the copy will be.
 */
export function copyTree(record: TreeRecord, by: usize): TreeRecord {
  const copy = Tree.recordsEnd();
  Arena.reserve(copy + TreeRecord.BYTES);
  Tree.setRecordsEnd(copy + TreeRecord.BYTES);
  memory.copy(copy, changetype<usize>(record), TreeRecord.BYTES);
  let link = copy + Field.FIRST_CHILD, last: usize = 0;
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    last = changetype<usize>(copyTree(child, by));
    store<u32>(link, <u32>last);
    link = last + by + Field.SIBLING;
  }
  store<u32>(copy, <u32>last, Field.LAST_CHILD);
  return changetype<TreeRecord>(copy - by);
}
