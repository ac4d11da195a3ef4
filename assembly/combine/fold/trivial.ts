// Folds of two containers one of which is empty or full: the result is one of them, the complement of one,
// or trivial.

import { SELF, left, right } from "../../env/memory";
import { expandedLeft } from "../shape/expand";
import { Places } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, Sides, leftOperand, rightOperand } from "./sides";
import { complementBitset } from "../../container/bitset";
import { arrayGaps, arrayToBitset, runsToBitset } from "../../container/convert";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Runs } from "../../container/run";

// @ts-ignore: decorator
@inline export function isEmptyOrFull(s: u64): bool { return !Shape.count(s) || Shape.isFull(s); }

/** fold() where one side at least is empty or full. A copy or a complement is made at `out`. */
export function foldEmptyOrFull(op: Fold, sides: Sides, l: u64, r: u64, out: usize): u64 {
  if (op == Fold.ANDNOT) {
    if (!Shape.count(l) || Shape.isFull(r)) return Shape.NOTHING;
    return Shape.count(r) ? complementShape(rightOperand(sides), r, out) : kept(leftOperand(sides), l, out);
  }
  return isEmptyOrFull(r)
    ? foldIntoEmptyOrFull(op, leftOperand(sides), l, r, out)
    : foldIntoEmptyOrFull(op, rightOperand(sides), r, l, out);
}

/** AND, OR or XOR of the container `s` of operand `operand` with `special`, which is empty or full. */
function foldIntoEmptyOrFull(op: Fold, operand: u32, s: u64, special: u64, out: usize): u64 {
  if (op == Fold.AND) return Shape.isFull(special) ? kept(operand, s, out) : Shape.NOTHING;
  if (!Shape.isFull(special)) return kept(operand, s, out);
  if (op == Fold.OR || !Shape.count(s)) return Shape.full();
  return Shape.isFull(s) ? Shape.NOTHING : complementShape(operand, s, out);
}

/** The container `s` of operand `operand` in memory 0: where it is, or copied to `out`. */
function kept(operand: u32, s: u64, out: usize): u64 {
  if (operand == SELF) return s;
  right.select(operand);
  return Shape.copy(s, out);
}

/**
 * All 65,536 offsets but the members of `s`, a container of operand `operand` that is neither empty nor full.
 * `out` must not overlap it. Leaves `left` anywhere.
 */
export function complementShape(operand: u32, s: u64, out: usize): u64 {
  const at = Shape.at(s), members = Shape.count(s), count = Container.UNIVERSE - members;
  left.select(operand);
  switch (Shape.kind(s)) {
    case Kind.BITSET:
      complementBitset(at, out);
      return Shape.bitset(count, out);
    case Kind.RUNS:
      if (left.load16(at, 0) < Places.RUNS_MAX) {
        Runs.complement(at, out);
        return Shape.runs(count, out);
      }
      runsToBitset(at, out);
      break;
    case Kind.ARRAY:
      if (members < Places.RUNS_MAX) {
        arrayGaps(at, members, out);
        return Shape.runs(count, out);
      }
      arrayToBitset(at, members, out);
      break;
    default: return complementShape(SELF, expandedLeft(operand, s), out);
  }
  left.select(SELF);
  complementBitset(out, out);
  return Shape.bitset(count, out);
}
