// The intersection of all sources' containers at one key.

import { SELF } from "../env/memory";
import { Kind } from "../arena/entry";
import { And } from "../container/kernel";
import { STREAMS, TOO_MANY, expectedMembers, foldBitsetsByTurns, intersectToArray } from "./bitsets";
import { normalized } from "./emit";
import { Fold } from "./fold";
import { shapeCount, shapeKind } from "./shape";
import { foldNext, shapeOf } from "./source";

/** This few members are quicker looked up one by one in a bitset than the bitset is read. */
// @ts-ignore: decorator
@inline const FEW: u32 = 24;

/** The intersection, folded from the smallest container on, so that no result on the way is larger than that. All sources have the key. */
export function foldIntersection(key: u64, sources: u32): u64 {
  const smallest = smallestSource(sources);
  let acc = shapeOf(smallest), at = smallest, c: u32 = 0;
  while (c < sources && shapeCount(acc)) {
    if (c == smallest) { c++; continue; }
    const next = shapeOf(c);
    if (shapeKind(acc) == Kind.BITSET && shapeKind(next) == Kind.BITSET) {
      const end = turnsEnd(shapeCount(acc), c, smallest, sources);
      const members = intersectToArray(acc, at, key, c, end, smallest);
      acc = members != TOO_MANY ? members : foldBitsetsByTurns<And>(acc, at, key, c, end, smallest);
      if (end < sources && shapeCount(acc) <= FEW) acc = normalized(acc);     // an array is looked up in the rest
      c = end;
    } else {
      acc = foldNext(Fold.AND, at, acc, c, next);
      c++;
    }
    at = SELF;
  }
  return acc;
}

function smallestSource(sources: u32): u32 {
  let smallest: u32 = 0, least: u32 = u32.MAX_VALUE;
  for (let c: u32 = 0; c < sources; c++) {
    const count = shapeCount(shapeOf(c));
    if (count < least) { least = count; smallest = c; }
  }
  return smallest;
}

/**
 * Where to end the sources whose bitsets are read by turns from source `from` on: when there are STREAMS, when one is no bitset, or when
 * only FEW members are expected to be left of the `count` so far.
 */
function turnsEnd(count: u32, from: u32, skip: u32, sources: u32): u32 {
  let expected = count, c = from;
  for (let streams: u32 = 0; c < sources && (!streams || (expected > FEW && streams < STREAMS)); c++) {
    if (c == skip) continue;
    const next = shapeOf(c);
    if (shapeKind(next) != Kind.BITSET) break;
    expected = expectedMembers(expected, next);
    streams++;
  }
  return c;
}
