// Sparse bitsets of several operands at once: each is folded into one bitset, which is counted at the end.

import { SELF, left, right } from "../../env/memory";
import { Bitset } from "../../container/bitset";
import { Kind } from "../../container/kind";
import { combineSparse } from "../fold/compact";
import { Fold } from "../fold/sides";
import { asBitset } from "../shape/expand";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Listed } from "../term/listed";

/** Whether sparse bitsets can be folded into `acc`: it is a bitset, or one that becomes one. */
// @ts-ignore: decorator
@inline export function takesSparse(acc: u64): bool {
  return Shape.kind(acc) == Kind.BITSET || Shape.kind(acc) == Kind.SPARSE;
}

/**
 * Folds the list's first `count` elements, which are sparse bitsets, into `acc` of operand `at`. The result is
 * a bitset in memory 0: where `acc` is if that is a bitset, otherwise in Scratch.FIRST or SECOND.
 */
export function foldSparse(op: Fold, acc: u64, at: u32, list: usize, count: u32): u64 {
  const isOwn = at == SELF && Shape.kind(acc) == Kind.BITSET;
  const out = isOwn ? Shape.at(acc) : at == SELF ? Places.beside(acc) : Places.at(Scratch.FIRST);
  if (!isOwn) { right.select(at); asBitset(at, acc, out); }
  for (let i: u32 = 0; i < count; i++) combineSparse(op, Shape.at(Listed.show(list, i)), out);
  left.select(SELF);
  return Shape.bitset(Bitset.cardinality(out), out);
}
