// The intersection of the containers that a term's operands have at one key.

import { SELF } from "../../env/memory";
import { Kind } from "../../container/kind";
import { And, Count, Kernel, Sink, Store } from "../../container/kernel";
import { STREAMS, foldRound, intersectToArray } from "./bitsets";
import { foldSparse, takesSparse } from "./sparse";
import { expectedMembers } from "../fold/toarray";
import { normalized } from "../shape/normalize";
import { fold } from "../fold/fold";
import { Listed } from "../term/listed";
import { Shape } from "../shape/shape";
import { Fold, sidesOf } from "../fold/sides";
import { Term } from "../term/term";

/** Up to this many members are looked up in a bitset one by one, which is quicker than reading all of it. */
// @ts-ignore: decorator
@inline const FEW_LEFT: u32 = 24;

/**
 * The intersection of the list's `count` containers, folded from the smallest on, so that no result on the
 * way is larger than that. With S = Count the result need not be stored where that saves work.
 */
export function foldIntersection<S extends Sink>(list: usize, count: u32): u64 {
  Listed.moveToFront(list, smallestListed(list, count));
  let acc = Listed.shape(list, 0), at = Listed.operand(list, 0);
  for (let i: u32 = 1, end = i; i < count && Shape.count(acc); i = end) {
    if (Shape.kind(acc) == Kind.BITSET && Listed.kind(list, i) == Kind.BITSET) {
      end = roundEnd(Shape.count(acc), list, i, count);
      if (!Kernel.stores<S>() && end == count) {
        return foldRound<And, Count>(acc, at, Term.listedAt(list, i), end - i);
      }
      acc = intersectRound(acc, at, Term.listedAt(list, i), end - i);
      // an array is looked up in the rest
      if (end < count && Shape.count(acc) <= FEW_LEFT) acc = normalized(acc);
    } else if (Listed.kind(list, i) == Kind.SPARSE && takesSparse(acc) && !isFewBytes(acc, list, i)) {
      end = roundEnd(Shape.count(acc), list, i, count);
      acc = foldSparse(Fold.AND, acc, at, Term.listedAt(list, i), end - i);
      // an array of few members is looked up in the rest
      if (end < count && Shape.count(acc) <= FEW_LEFT) acc = normalized(acc);
    } else {
      end = i + 1;
      acc = fold(Fold.AND, sidesOf(at, Listed.operand(list, i)), acc, Listed.shape(list, i));
    }
    at = SELF;
  }
  return acc;
}

/** Intersects `acc`, a bitset of operand `at`, with the list's first `count` elements, which are bitsets. */
// @ts-ignore: decorator
@inline function intersectRound(acc: u64, at: u32, list: usize, count: u32): u64 {
  const members = intersectToArray(acc, at, list, count);
  return members == Shape.UNSUITED ? foldRound<And, Store>(acc, at, list, count) : members;
}

function smallestListed(list: usize, count: u32): u32 {
  let smallest: u32 = 0, least: u32 = u32.MAX_VALUE;
  for (let i: u32 = 0; i < count; i++) {
    const members = Listed.count(list, i);
    if (members < least) { least = members; smallest = i; }
  }
  return smallest;
}

/**
 * Where a round ends that begins at element `from`, a bitset or a sparse one: after STREAMS elements, before
 * one of another kind, or once only FEW_LEFT of the `members` so far are expected to be left.
 */
function roundEnd(members: u32, list: usize, from: u32, count: u32): u32 {
  const most = min(count, from + STREAMS), kind = Listed.kind(list, from);
  let expected = members, end = from;
  do expected = expectedMembers(expected, Listed.count(list, end++));
  while (end < most && expected > FEW_LEFT && Listed.kind(list, end) == kind);
  return end;
}

/** Whether `acc` and the list's element `i`, a sparse bitset, are best intersected alone. */
// @ts-ignore: decorator
@inline function isFewBytes(acc: u64, list: usize, i: u32): bool {
  return Shape.kind(acc) == Kind.SPARSE && max(Shape.count(acc), Listed.count(list, i)) <= PAIRED_MAX;
}

/** Sparse bitsets of so many members mostly share few bytes. */
// @ts-ignore: decorator
@inline const PAIRED_MAX: u32 = 1100;
