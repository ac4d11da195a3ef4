// A container less those that a term's other operands have at its key.

import { SELF } from "../../env/memory";
import { AndNot, Store } from "../../container/kernel";
import { Kind } from "../../container/kind";
import { STREAMS, foldRound } from "./bitsets";
import { foldSparse, takesSparse } from "./sparse";
import { fold } from "../fold/fold";
import { Fold, sidesOf } from "../fold/sides";
import { Shape } from "../shape/shape";
import { Listed } from "../term/listed";
import { Term } from "../term/term";

/**
 * Whether `acc`, an array from which `count` sparse bitsets are to be taken, is best made a bitset. Otherwise
 * its members are looked up in each of them.
 */
// @ts-ignore: decorator
@inline function becomesBitset(acc: u64, count: u32): bool {
  return Shape.kind(acc) == Kind.ARRAY && count > CHANGED
    && (count - CHANGED) * Shape.count(acc) > CHANGED_FROM;
}

/** Making an array a bitset and back takes as long as looking its members up in so many bitsets. */
// @ts-ignore: decorator
@inline const CHANGED: u32 = 3;
/** Another part of that time, in members that are looked up. */
// @ts-ignore: decorator
@inline const CHANGED_FROM: u32 = 512;

/**
 * `acc` of operand `at` less the list's `count` containers, one at least. Neighbors of a kind are taken
 * together where that saves counting in between. The result is in memory 0.
 */
export function foldDifference(acc: u64, at: u32, list: usize, count: u32): u64 {
  for (let i: u32 = 0, taken: u32 = 1; i < count && Shape.count(acc); i += taken, at = SELF) {
    const next = Term.listedAt(list, i), kind = Listed.kind(list, i), alike = Listed.alike(next, count - i);
    if (kind == Kind.SPARSE && (takesSparse(acc) || becomesBitset(acc, alike))) {
      taken = alike;
      acc = foldSparse(Fold.ANDNOT, acc, at, next, taken);
    } else if (kind == Kind.BITSET && Shape.kind(acc) == Kind.BITSET) {
      taken = min(alike, STREAMS);
      acc = foldRound<AndNot, Store>(acc, at, next, taken);
    } else {
      taken = 1;
      acc = fold(Fold.ANDNOT, sidesOf(at, Listed.operand(list, i)), acc, Listed.shape(list, i));
    }
  }
  return acc;
}
