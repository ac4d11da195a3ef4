// Tests whether two bitmaps, operands 0 and 1, intersect, and whether one contains the other. Each test ends
// at the first container that decides it.

import { work } from "../../env/memory";
import { Offset } from "../../arena/layout/entry";
import { Cursor } from "../walk/cursor";
import { PairWalk } from "../walk/pair";
import { foldCardinality } from "../fold/fold";
import { LeafMerge, Sought } from "../walk/packedleaves";
import { Shape } from "../shape/shape";
import { Places, Scratch } from "../shape/scratch";
import { sidesOf } from "../fold/sides";

/** 1 if operands 0 and 1 have a member in common. Memory 0, which is fresh, is only worked in. */
export function intersects(): u32 {
  const shared = LeafMerge.tiny(Sought.SHARED);
  if (shared != LeafMerge.NOT_MERGED) return u32(shared != 0);
  PairWalk.open(0, 1, 0, 0);
  if (LeafMerge.leaves(Sought.SHARED, true, 1, Offset.KEY_MAX) != 0) return 1;
  while (Cursor.keyOf(0) != Cursor.NO_KEY) {
    const key = Cursor.keyOf(0);
    Cursor.seek(1, key);
    if (Cursor.keyOf(1) != key) { Cursor.seek(0, Cursor.keyOf(1)); continue; }
    if (intersectionCardinality()) return 1;
    Cursor.seek(0, key + 1);
  }
  return 0;
}

/** 1 if every member of operand 0 is one of operand 1. Memory 0, which is fresh, is only worked in. */
export function isSubset(): u32 {
  const missing = LeafMerge.tiny(Sought.MISSING);
  if (missing != LeafMerge.NOT_MERGED) return u32(missing == 0);
  PairWalk.open(0, 1, 0, 0);
  if (LeafMerge.leaves(Sought.MISSING, true, 1, Offset.KEY_MAX)) return 0;
  while (Cursor.keyOf(0) != Cursor.NO_KEY) {
    const key = Cursor.keyOf(0);
    Cursor.seek(1, key);
    if (Cursor.keyOf(1) != key) return 0;
    const end = min(Cursor.lastKeyOf(0), Cursor.lastKeyOf(1));      // beyond `key` only where both are full
    if (intersectionCardinality() != Shape.count(Cursor.shapeOf(0))) return 0;
    Cursor.seek(0, end + 1);
  }
  return 1;
}

/** Members of the intersection of the containers that the two cursors are at. */
function intersectionCardinality(): u32 {
  work.spend(1);
  Places.make(Scratch.TEMP);
  return foldCardinality(sidesOf(0, 1), Cursor.shapeOf(0), Cursor.shapeOf(1));
}
