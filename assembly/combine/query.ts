// Expressions over bitmaps: parsed, then counted, stored and listed. Operands 0 .. keys - 1 are
// the bitmaps, and operand `keys` is the tree that parseQuery() has made. All of these functions
// work in memory 0, which is fresh.

import { SELF, reply, right, work } from "../env/memory";
import { Offset } from "../arena/layout/entry";
import { begin, builderBytes } from "../arena/builder/state";
import { finish } from "../arena/builder/builder";
import { Arena } from "../arena/layout/header";
import { Kind } from "../container/kind";
import { Count, Kernel, Sink, Store } from "../container/kernel";
import { Container } from "../container/limits";
import { mostEntries } from "./estimate";
import { walk } from "./walkterm";
import { Cursor } from "./walk/cursor";
import { evaluate, placesFor } from "./evaluate";
import { Places, Scratch } from "./shape/scratch";
import { Mark, arrive, beginRetreat, retreat } from "./term/retreat";
import { seekItem } from "./term/seek";
import { Shape } from "./shape/shape";
import { Rule, Term } from "./term/term";
import { simplify } from "../expression/factor";
import { Mistake } from "../expression/mistake";
import { parse } from "../expression/parser";
import { mayDiffer, normalize } from "../expression/normal";
import { hasRepeated } from "../expression/operands";
import { TreeTerms } from "./opentree";
import { Syntax, Tree, TreeRecord } from "../expression/tree";
import { replyContainer, replySpan } from "../read/container";
import { replyContainerDown, replySpanDown } from "../read/descending";

/** Units of work that listing a full container takes. */
// @ts-ignore: decorator
@inline const SPAN_WORK: u32 = 256;

/**
 * Makes memory 0 the tree of the text, operand 0: an expression over `keys` keys of a family whose
 * greatest offset is `greatest`. Returns the bytes of the tree in the high half. After a mistake, returns
 * the mistake in the low half and its place, counted from 1, in the high half. For UNNAMED_KEY, adds the
 * key's number to the reply.
 */
export function parseQuery(keys: u32, greatest: u64): u64 {
  right.select(0);
  parse(keys, greatest);
  if (Tree.mistake() == Mistake.UNNAMED_KEY) reply.member(Tree.firstUnnamed());
  if (!Tree.mistake()) {
    const repeats = Tree.operands() > Tree.namedKeys(), differs = repeats || mayDiffer();
    Tree.keepComparisons();
    if (repeats) simplify(); else if (differs) normalize();
  }
  return Tree.mistake() ? (<u64>Tree.mistakeAt() + 1) << 32 | Tree.mistake() : <u64>Tree.recordsEnd() << 32;
}

/** Makes memory 0, which is the tree of an expression, the bitmap of its members. */
export function queryTree(greatest: u64): void {
  openRoot<Store>(greatest, 0);
  walk<Store>(0, Offset.KEY_MAX);
  finish();
}

/** Members of the tree in memory 0, counted as by queryCardinality(), in containers `first` to `last`. */
export function queryTreeCardinality(greatest: u64, most: u64, first: u64, last: u64): u64 {
  openRoot<Count>(greatest, first << 16);
  return walk<Count>(most, last);
}

/**
 * Makes memory 0 the bitmap of the expression's members from `from` on: of all, or if `most` is not 0, of the
 * first `most` or somewhat more, up to the end of a container or of a span of full ones.
 */
export function query(keys: u32, greatest: u64, from: u64, most: u64): void {
  open<Store>(keys, greatest, from);
  walk<Store>(most, Offset.KEY_MAX);
  finish();
}

/**
 * Members of the expression from `from` on, up to the end of container `last`, modulo 2^64. For 2^64 itself,
 * adds a member to the reply. Counting ends once there are `most` or more, unless `most` is 0.
 */
export function queryCardinality(keys: u32, greatest: u64, from: u64, most: u64, last: u64): u64 {
  open<Count>(keys, greatest, from);
  return walk<Count>(most, last);
}

/**
 * Adds the first `limit` members that are at least `from` to the reply, ascending.
 * Returns how many there were.
 */
export function queryMembers(keys: u32, greatest: u64, from: u64, limit: u64): u64 {
  open<Count>(keys, greatest, from);
  const term = Cursor.termOf(0), places = placesFor(term);
  let key = Cursor.keyOf(0), rest = limit;
  while (key != Cursor.NO_KEY && rest) {
    Places.makeMany(places);
    const last = Cursor.lastKeyOf(0);
    const s = evaluate<Store>(term, key);
    if (Shape.kind(s) == Kind.FULL) {
      for (; key <= last && rest; key++) {
        work.spend(SPAN_WORK);
        rest -= replySpan(key << 16, 0, Container.LOW_MAX, rest);
      }
    } else if (Shape.count(s)) {
      const own = copied(term, s);
      rest -= replyContainer(Shape.kind(own), Shape.count(own), Shape.at(own), key << 16, rest);
    }
    if (last == Offset.KEY_MAX) break;
    seekItem(0, last + 1);
    key = Cursor.keyOf(0);
  }
  return limit - rest;
}

/**
 * Adds the last `limit` members that are at most `from` to the reply, descending.
 * Returns how many there were.
 */
export function queryMembersDown(keys: u32, greatest: u64, from: u64, limit: u64): u64 {
  copyTree(keys);
  const marks = openForRetreat(greatest), term = Cursor.termOf(0), places = placesFor(term);
  const end = Offset.key(from);
  let past = retreat(marks, 0, end), rest = limit;
  while (past && rest) {
    const key = past - 1, first = Mark.of(marks, 0).first();
    Places.makeMany(places);
    arrive(marks, 0, key);
    if (Cursor.keyOf(0) == key) {
      const high = key == end ? from : (key << 16) | Container.LOW_MAX, s = evaluate<Store>(term, key);
      if (Shape.kind(s) == Kind.FULL) rest -= replyFullDown(high, first, rest);
      else if (Shape.count(s)) {
        const own = copied(term, s);
        rest -= replyContainerDown(Shape.kind(own), Shape.count(own), Shape.at(own), high, rest);
      }
    }
    past = first ? retreat(marks, 0, first - 1) : 0;
  }
  return limit - rest;
}

/** Replies offsets from `high` down to the first of container `first`, or the last `limit` of them. */
function replyFullDown(high: u64, first: u64, limit: u64): u64 {
  let rest = limit;
  for (let past = Offset.key(high) + 1, last = high; past > first && rest; past--) {
    work.spend(SPAN_WORK);
    rest -= replySpanDown((past - 1) << 16, 0, Offset.low(last), rest);
    last = Container.LOW_MAX;
  }
  return limit - rest;
}

/** The container `s`, which evaluate() has returned for the term, in memory 0. */
// @ts-ignore: decorator
@inline function copied(term: u32, s: u64): u64 {
  const operand = Term.resultOperand(term);
  right.select(operand);
  return operand == SELF ? s : Shape.copy(s, Places.at(Scratch.FIRST));
}

/**
 * Makes the terms of the expression and opens them.
 * The result has no members below `from`. S as in walk().
 */
function open<S extends Sink>(keys: u32, greatest: u64, from: u64): void {
  copyTree(keys);
  openRoot<S>(greatest, from);
}

/** Makes memory 0 a tree of the expression, in which no operand that is repeated is combined twice. */
function copyTree(keys: u32): void {
  right.select(keys);
  Arena.reserve(right.size());
  right.copy(0, 0, right.size());
  if (hasRepeated(keys)) simplify();
}

/** The same for the tree in memory 0, whatever its operands are. */
function openRoot<S extends Sink>(greatest: u64, from: u64): void {
  let root = changetype<TreeRecord>(Tree.root());
  const inside = Offset.low(from) != 0;            // a container, where opening the terms there is not enough
  if (inside || root.syntax() == Syntax.KEYS) {              // item 0 is no operand
    const all = TreeRecord.makeTerm(Rule.ALL);
    if (inside) all.addChild(TreeRecord.makeRange(from, greatest));
    all.addChild(root);
    root = all;
  }
  const most = mostEntries(TreeTerms.measure(root));
  beginTerms(Kernel.stores<S>() ? most : 0, TreeTerms.bytes(root));
  TreeTerms.open(root, Offset.key(from), greatest);
}

/** The same for a walk downwards, which stores nothing. Returns the name of the marks. */
function openForRetreat(greatest: u64): u32 {
  let root = changetype<TreeRecord>(Tree.root());
  if (root.syntax() == Syntax.KEYS) {
    const all = TreeRecord.makeTerm(Rule.ALL);
    all.addChild(root);
    root = all;
  }
  TreeTerms.measure(root);
  const marks = TreeTerms.bytes(root) + (1 + root.itemsBelow()) * Mark.BYTES;
  beginTerms(0, marks);
  TreeTerms.open(root, Cursor.NO_KEY, greatest);
  beginRetreat(marks, 0);
  return marks;
}

/**
 * Begins a result of up to `entries` entries, with `bytes` bytes of terms. The tree is in low memory, which the
 * result will take: until the terms are made, what is held back must not reach it.
 */
function beginTerms(entries: u64, bytes: u32): void {
  Arena.reserve(Tree.recordsEnd() + <usize>builderBytes(entries) + bytes);
  begin(entries, bytes);
}
