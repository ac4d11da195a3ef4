// BITOP and BITOPCARD. Where a source is given more than once, the operation is evaluated as an expression
// (query.ts), whose normal form has each source once. Two sources have a walk of their own
// (combine/walk/pair.ts); otherwise the operation is a term (combine/term/operation.ts), and the walk over
// terms makes the result (walkterm.ts).

import { left, reply, right } from "../env/memory";
import { Left, Right } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Page } from "../arena/packed/layout";
import { Directory } from "../arena/read/directory";
import { begin } from "../arena/builder/state";
import { finish } from "../arena/builder/builder";
import { Count, Store } from "../container/kernel";
import { intersects } from "./compare/relate";
import { LeafMerge, Sought } from "./walk/packedleaves";
import { Operation, foldOf, openOperation, operationBytes } from "./term/operation";
import { PairWalk } from "./walk/pair";
import { Fold } from "./fold/sides";
import { entriesOf, mostEntries } from "./estimate";
import { queryTree, queryTreeCardinality } from "./query";
import { isRepeated } from "./repeated";
import { walk } from "./walkterm";

/**
 * Makes memory 0, which is fresh, the combination of operands 0 .. sources - 1. Reads each as often as it is
 * given.
 */
function combineOnce(op: Operation, sources: u32): void {
  if (op == Operation.AND && shareNothing(sources)) {
    begin(1, 0);
    finish();
    return;
  }
  if (sources == 2) {
    openTwo(op, mostEntries(2 * entriesOf(sources) + 1), 0);
    PairWalk.walk<Store>(foldOf(op), 0, Offset.KEY_MAX);
    finish();
    return;
  }
  // a FULL entry may be cut at both ends of every other
  begin(mostEntries(2 * entriesOf(sources) + 1), operationBytes(sources));
  openOperation(op, sources, 0);
  walk<Store>(0, Offset.KEY_MAX);
  finish();
}

/**
 * Members that combineOnce() would store in containers `first` to `last`, modulo 2^64. For 2^64 itself, adds
 * a member to the reply. Counting ends once there are `most` or more, unless `most` is 0. Memory 0, which is
 * fresh, is only worked in.
 */
function combineCardinalityOnce(op: Operation, sources: u32, most: u64, first: u64, last: u64): u64 {
  if (sources == 2) {
    const fold = foldOf(op), whole = !first && last == Offset.KEY_MAX && !most;
    const shared = whole ? LeafMerge.tiny(Sought.SHARED) : LeafMerge.NOT_MERGED;
    if (shared != LeafMerge.NOT_MERGED) return countByShared(op, shared);
    openTwo(op, 0, first);
    if (whole && fold != Fold.AND && haveCounts()) {
      return countByShared(op, PairWalk.walk<Count>(Fold.AND, 0, Offset.KEY_MAX));
    }
    return PairWalk.walk<Count>(fold, most, last);
  }
  if (op == Operation.AND && shareNothing(sources)) return 0;
  begin(0, operationBytes(sources));
  openOperation(op, sources, first);
  return walk<Count>(most, last);
}

/**
 * Whether the first two sources are packed leaves that share no member. They mostly do not if they have few
 * members, and if they do, this takes little time.
 */
function shareNothing(sources: u32): bool {
  if (sources < 2) return false;
  left.select(0);
  right.select(1);
  return Page.isTinyPacked<Left>() && Page.isTinyPacked<Right>() && !intersects();
}

/** Whether the cardinalities of both sources are known: 0 may be 2^64. */
function haveCounts(): bool {
  left.select(0);
  right.select(1);
  return Directory.cardinality<Left>() != 0 && Directory.cardinality<Right>() != 0;
}

/**
 * combineCardinalityOnce() of two sources, whose cardinalities are known, that have `shared` members in
 * common: containers that only one of them has need not be read.
 */
function countByShared(op: Operation, shared: u64): u64 {
  left.select(firstOf(op));
  right.select(1 - firstOf(op));
  const fold = foldOf(op), x = Directory.cardinality<Left>(), y = Directory.cardinality<Right>();
  if (fold == Fold.AND) return shared;
  if (fold == Fold.ANDNOT) return x - shared;
  const lone = x + y - 2 * shared, members = fold == Fold.OR ? lone + shared : lone;
  if (!members && x != shared) reply.member(0);
  return members;
}

/** The first source of the fold that foldOf() returns. */
// @ts-ignore: decorator
@inline function firstOf(op: Operation): u32 { return u32(op == Operation.DIFF1); }

/** Opens cursors on the two sources at container `key`, in the order of the fold that foldOf() returns. */
function openTwo(op: Operation, entries: u64, key: u64): void {
  PairWalk.open(firstOf(op), 1 - firstOf(op), entries, key);
}

/** Makes memory 0, which is fresh, the union of operands 0 and 1 in containers `first` to `last`. */
export function unite(first: u64, last: u64): void {
  openTwo(Operation.OR, mostEntries(entriesOf(2)), first);
  PairWalk.walk<Store>(Fold.OR, 0, last);
  finish();
}

/** Makes memory 0, which is fresh, the combination of operands 0 .. sources - 1. */
export function combine(op: Operation, sources: u32): void {
  if (isRepeated(op, sources)) queryTree(u64.MAX_VALUE); else combineOnce(op, sources);
}

/**
 * Members that combine() would store in containers `first` to `last`, modulo 2^64. For 2^64 itself, adds a
 * member to the reply. Counting ends once there are `most` or more, unless `most` is 0. Memory 0, which is
 * fresh, is only worked in.
 */
export function combineCardinality(op: Operation, sources: u32, most: u64, first: u64, last: u64): u64 {
  return isRepeated(op, sources)
    ? queryTreeCardinality(u64.MAX_VALUE, most, first, last)
    : combineCardinalityOnce(op, sources, most, first, last);
}
