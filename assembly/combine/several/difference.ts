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
 * `acc` of operand `at` less the list's `count` containers, one at least. Neighbors of a kind are taken
 * together where that saves counting in between. The result is in memory 0.
 */
export function foldDifference(acc: u64, at: u32, list: usize, count: u32): u64 {
  for (let i: u32 = 0, taken: u32 = 1; i < count && Shape.count(acc); i += taken, at = SELF) {
    const next = Term.listedAt(list, i), kind = Listed.kind(list, i), alike = Listed.alike(next, count - i);
    if (kind == Kind.SPARSE && takesSparse(acc)) {
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
