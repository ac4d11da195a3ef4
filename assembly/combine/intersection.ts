// The intersection of the containers that a term's operands have at one key.

import { SELF } from "../env/memory";
import { Kind } from "../container/kind";
import { And, Count, Store, stores } from "../container/kernel";
import { STREAMS, expectedMembers, foldBitsetsByTurns, intersectToArray } from "./bitsets";
import { normalized } from "./normalize";
import { Fold, fold } from "./fold";
import { listedCount, listedKind, listedOperand, listedShape } from "./list";
import { shapeCount, shapeKind, UNSUITED } from "./shape";
import { sidesOf } from "./sides";

/** This few members are quicker looked up one by one in a bitset than the bitset is read. */
// @ts-ignore: decorator
@inline const FEW: u32 = 24;

/**
 * The intersection of the list's `count` containers, folded from the smallest on, so that no result on the
 * way is larger than that. With S = Count the result need not be stored where that saves work.
 */
export function foldIntersection<S>(list: usize, count: u32): u64 {
  const smallest = smallestListed(list, count);
  let acc = listedShape(list, smallest), at = listedOperand(list, smallest), i: u32 = 0;
  while (i < count && shapeCount(acc)) {
    if (i == smallest) { i++; continue; }
    if (shapeKind(acc) == Kind.BITSET && listedKind(list, i) == Kind.BITSET) {
      const end = turnsEnd(shapeCount(acc), i, smallest, list, count);
      const ends = end == count || (end + 1 == count && end == smallest);
      const members = !stores<S>() && ends ? UNSUITED : intersectToArray(acc, at, list, i, end, smallest);
      if (members != UNSUITED) acc = members;
      else if (!stores<S>() && ends) return foldBitsetsByTurns<And, Count>(acc, at, list, i, end, smallest);
      else acc = foldBitsetsByTurns<And, Store>(acc, at, list, i, end, smallest);
      // an array is looked up in the rest
      if (end < count && shapeCount(acc) <= FEW) acc = normalized(acc);
      i = end;
    } else {
      acc = fold(Fold.AND, sidesOf(at, listedOperand(list, i)), acc, listedShape(list, i));
      i++;
    }
    at = SELF;
  }
  return acc;
}

function smallestListed(list: usize, count: u32): u32 {
  let smallest: u32 = 0, least: u32 = u32.MAX_VALUE;
  for (let i: u32 = 0; i < count; i++) {
    const members = listedCount(list, i);
    if (members < least) { least = members; smallest = i; }
  }
  return smallest;
}

/**
 * Where to end the bitsets that are read in turn from element `from` on: when there are STREAMS, when one is
 * no bitset, or when only FEW members are expected to be left of the `members` so far.
 */
function turnsEnd(members: u32, from: u32, skip: u32, list: usize, count: u32): u32 {
  let expected = members, i = from;
  for (let streams: u32 = 0; i < count && (!streams || (expected > FEW && streams < STREAMS)); i++) {
    if (i == skip) continue;
    if (listedKind(list, i) != Kind.BITSET) break;
    expected = expectedMembers(expected, listedCount(list, i));
    streams++;
  }
  return i;
}
