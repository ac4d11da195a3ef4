// What a term's items have at the key that the walk is at, listed for the folds. From the front on: the containers of operands,
//
//   +0   u64 shape     +8  u32 operand     +12 u32 entry: its address in the operand
//
// and from the back on the items that are terms: u32 item. Full containers are not listed but counted.

import { SELF, left, right } from "../env/memory";
import { Right } from "../env/view";
import { Kind } from "../arena/entry";
import { BITSET_BYTES } from "../container/limits";
import { arrayToBitset, runsToBitset } from "../container/convert";
import { shortToBitset } from "../container/short";
import { cursorEntry, cursorKey, cursorOperand, cursorTerm } from "./cursor";
import { Fold, fold } from "./fold";
import { Scratch, scratch, scratchBeside } from "./scratch";
import { groupEnd, groupStart } from "./seek";
import { entryShape, shape, shapeAt, shapeCount, shapeKind } from "./shape";
import { LISTED_BYTES, firstGrouped, groupCount, groupKeyAt, itemCount, itemsEnd, listAt, listedAt } from "./term";
import { unpackedLeft } from "./unpack";

/** How much was found, in one number: containers in the list, full ones, and terms. */
type Found = u64;

// @ts-ignore: decorator
@inline const FULL_SHIFT: u64 = 20;
// @ts-ignore: decorator
@inline const TERMS_SHIFT: u64 = 40;
/** No term has more items. */
// @ts-ignore: decorator
@inline const FOUND_MAX: u64 = (1 << FULL_SHIFT) - 1;

/** Containers in the list. */
// @ts-ignore: decorator
@inline export function foundContainers(found: Found): u32 { return <u32>(found & FOUND_MAX); }
// @ts-ignore: decorator
@inline export function foundFull(found: Found): u32 { return <u32>((found >> FULL_SHIFT) & FOUND_MAX); }
// @ts-ignore: decorator
@inline export function foundTerms(found: Found): u32 { return <u32>(found >> TERMS_SHIFT); }

/** Lists what the term's grouped items have at `key`. */
export function listFound(term: u32, key: u64): Found {
  const list = listAt(term), groups = groupCount(term), back = listedAt(list, itemCount(term));
  let out = list, terms: u32 = 0, full: u32 = 0, group: u32 = 0;
  do {                                        // without groups, all items are one
    if (groups && load<u64>(groupKeyAt(term, group)) != key) continue;
    let i = groups ? groupStart(term, group) : firstGrouped(term);
    for (const end = groups ? groupEnd(term, i) : itemsEnd(term); i < end; i++) {
      if (cursorKey(i) != key) continue;
      if (cursorTerm(i)) { store<u32>(back - <usize>++terms * LISTED_BYTES, i); continue; }
      const operand = cursorOperand(i), entry = cursorEntry(i);
      right.select(operand);
      const s = entryShape<Right>(entry);
      if (shapeKind(s) == Kind.FULL) { full++; continue; }
      store<u64>(out, s);
      store<u32>(out, operand, 8);
      store<u32>(out, <u32>entry, 12);
      out += LISTED_BYTES;
    }
  } while (++group < groups);
  return ((<u64>(out - list) / LISTED_BYTES)) | (<u64>full << FULL_SHIFT) | (<u64>terms << TERMS_SHIFT);
}

/** The item that is the term's `index`th listed term. */
// @ts-ignore: decorator
@inline export function listedTerm(term: u32, index: u32): u32 { return load<u32>(listedAt(listAt(term), itemCount(term) - 1 - index)); }
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
  else if (kind == Kind.SHORT) shortToBitset(at, to);
  else if (kind == Kind.BUCKETS) arrayToBitset(shapeAt(unpackedLeft(operand, s)), count, to);
  else arrayToBitset(at, count, to);
  return shape(Kind.BITSET, count, to);
}
