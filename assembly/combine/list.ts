// The containers that a term's operands have at the key that the walk is at, listed for the folds:
//
//   +0   u64 shape     +8  u32 operand     +12 u32 entry: its address in the operand

import { SELF, left, right } from "../env/memory";
import { Right } from "../env/view";
import { Kind } from "../arena/entry";
import { BITSET_BYTES } from "../container/limits";
import { arrayToBitset, runsToBitset } from "../container/convert";
import { cursorEntry, cursorKey, cursorOperand, cursorTerm } from "./cursor";
import { Fold, fold } from "./fold";
import { Scratch, scratch, scratchBeside } from "./scratch";
import { groupEnd, groupStart } from "./seek";
import { entryShape, shape, shapeAt, shapeCount, shapeKind } from "./shape";
import { firstGrouped, groupCount, groupKeyAt, itemsEnd, listAt, listedAt } from "./term";
import { unpackedLeft } from "./unpack";

/**
 * Lists the containers `key` of the term's grouped items that are operands and not full there. Returns their number in the low half, and in
 * the high half that of full ones.
 */
export function listOperands(term: u32, key: u64): u64 {
  const list = listAt(term);
  if (!groupCount(term)) return listItems(list, firstGrouped(term), itemsEnd(term), key, 0);
  let listed: u64 = 0;
  for (let group: u32 = 0, groups = groupCount(term); group < groups; group++) {
    if (load<u64>(groupKeyAt(term, group)) != key) continue;
    const start = groupStart(term, group);
    listed = listItems(list, start, groupEnd(term, start), key, listed);
  }
  return listed;
}

/** Adds the containers `key` of items from .. end - 1 to a list that has `listed` already, as listOperands() returns it. */
// @ts-ignore: decorator
@inline function listItems(list: usize, from: u32, end: u32, key: u64, listed: u64): u64 {
  for (let i = from; i < end; i++) {
    if (cursorKey(i) != key || cursorTerm(i)) continue;
    const operand = cursorOperand(i), entry = cursorEntry(i);
    right.select(operand);
    const s = entryShape<Right>(entry);
    if (shapeKind(s) == Kind.FULL) { listed += (<u64>1) << 32; continue; }
    const at = listedAt(list, <u32>listed);
    listed++;
    store<u64>(at, s);
    store<u32>(at, operand, 8);
    store<u32>(at, <u32>entry, 12);
  }
  return listed;
}

// @ts-ignore: decorator
@inline export function listedKind(list: usize, index: u32): Kind { return shapeKind(load<u64>(listedAt(list, index))); }
// @ts-ignore: decorator
@inline export function listedCount(list: usize, index: u32): u32 { return shapeCount(load<u64>(listedAt(list, index))); }
// @ts-ignore: decorator
@inline export function listedOperand(list: usize, index: u32): u32 { return load<u32>(listedAt(list, index), 8); }
// @ts-ignore: decorator
@inline export function listedEntry(list: usize, index: u32): usize { return load<u32>(listedAt(list, index), 12); }
/** The shape of the list's element `index`; shows its operand on the right. */
// @ts-ignore: decorator
@inline export function listedShape(list: usize, index: u32): u64 {
  right.select(listedOperand(list, index));
  return load<u64>(listedAt(list, index));
}

/**
 * Folds the container `next` of operand `operand`, which `right` shows, into `acc`: a container of operand `at`, or, when `at` is SELF, the
 * result of an earlier fold. The result is in memory 0.
 */
// @ts-ignore: decorator
@inline export function foldNext(op: Fold, at: u32, acc: u64, operand: u32, next: u64): u64 {
  left.select(at);
  return fold(op, at, acc, operand, next, at == SELF ? scratchBeside(acc) : scratch(Scratch.FIRST), scratch(Scratch.TEMP));
}

/** The container `s` of operand `operand`, which `right` shows and which is not FULL, as a bitset at `to`. */
export function toBitset(operand: u32, s: u64, to: usize): u64 {
  const kind = shapeKind(s), at = shapeAt(s), count = shapeCount(s);
  left.select(operand);
  if (kind == Kind.BITSET) left.copy(to, at, BITSET_BYTES);
  else if (kind == Kind.RUNS) runsToBitset(at, to);
  else if (kind == Kind.BUCKETS) arrayToBitset(shapeAt(unpackedLeft(operand, s)), count, to);
  else arrayToBitset(at, count, to);
  return shape(Kind.BITSET, count, to);
}
