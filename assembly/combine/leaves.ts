// Two packed leaves at once. Most of their groups are of a few members. To go from group to group, with a
// cursor on each side, takes several times as long as to compare the members where they lie: two sorted
// lists, which are merged here. Which of two members is less cannot be foretold, so nothing branches on it.

import { left, right, work } from "../env/memory";
import { Left, Right, view16 } from "../env/view";
import { cardinalityHeld, placeEntry } from "../arena/directory";
import {
  GROUP_STEP, baseIn, headerOf, high, highsIn, indexOf, leafOf, lowsIn, membersFrom, widthIn,
} from "../arena/packed";
import { cursorAt, cursorKey, cursorOperand, isAmongGroups, placeOf, seekCursor } from "./cursor";

/** What a merge counts: members of both operands, or those of the first that the second does not have. */
export const enum Sought { SHARED, MISSING }

/** Where an operand has so many times as many members as the other one, its containers are sought. */
// @ts-ignore: decorator
@inline const UNLIKE: u64 = 8;

/** Groups that have so many members or more in the mean are quicker combined as the arrays that they are. */
// @ts-ignore: decorator
@inline const LARGE: u64 = 8;

/** A unit of work for so many members. */
// @ts-ignore: decorator
@inline const UNIT_MEMBERS: u32 = 16;

/**
 * Merges the packed leaves of cursors 0 and 1 as long as both are in one of small groups, and in it no
 * container after `end` matters. Moves the cursors to where a walk has to go on. Returns how many members
 * there are of what is sought; if `first` is true, 1 if there are any. No more leaves are merged once there
 * are `most` or more, unless `most` is 0.
 */
// @ts-ignore: decorator
@inline export function mergeLeaves(sought: Sought, first: bool, most: u64, end: u64): u64 {
  let found: u64 = 0;
  if (!areAmongGroups() || !areAlike()) return 0;
  do {
    const more = mergeTwo(sought, first, end);
    if (more == UNSUITED) break;
    found += more;
  } while (found <= most - 1 && areAmongGroups());
  return found;
}

/** mergeTwo() has not merged these leaves. */
// @ts-ignore: decorator
@inline const UNSUITED: u32 = 0xffffffff;

// @ts-ignore: decorator
@inline function areAmongGroups(): bool { return isAmongGroups(cursorAt(0)) && isAmongGroups(cursorAt(1)); }

/** Shows the operands. */
function areAlike(): bool {
  left.select(cursorOperand(0));
  right.select(cursorOperand(1));
  const x = cardinalityHeld<Left>(), y = cardinalityHeld<Right>();
  return x / UNLIKE < y && y / UNLIKE < x;
}

/**
 * Merges from the cursors' groups on until one of the leaves ends. What is left of the other one's group then
 * has a lesser key than any later member of the operand whose leaf has ended.
 */
// @ts-ignore: decorator
@inline function mergeTwo(sought: Sought, first: bool, end: u64): u32 {
  left.select(cursorOperand(0));
  right.select(cursorOperand(1));
  const xPlace = placeOf(cursorAt(0)), yPlace = placeOf(cursorAt(1));
  const xLeaf = leafOf<Left>(placeEntry(xPlace)), yLeaf = leafOf<Right>(placeEntry(yPlace));
  const xHeader = headerOf<Left>(xLeaf), yHeader = headerOf<Right>(yLeaf);
  const xWidth = widthIn(xHeader), yWidth = widthIn(yHeader);
  const xBase = baseIn<Left>(xLeaf, xHeader), yBase = baseIn<Right>(yLeaf, yHeader);
  const xIndex = indexOf(xLeaf, placeEntry(xPlace)), yIndex = indexOf(yLeaf, placeEntry(yPlace));
  let xHigh = highsIn(xLeaf, xHeader) + <usize>(xIndex * xWidth);
  let yHigh = highsIn(yLeaf, yHeader) + <usize>(yIndex * yWidth);
  const xLast = xBase + high<Left>(xHigh + <usize>((membersFrom(xPlace) - 1) * xWidth), xWidth);
  const yLast = yBase + high<Right>(yHigh + <usize>((membersFrom(yPlace) - 1) * yWidth), yWidth);
  if (min(xLast, yLast) > end) return UNSUITED;
  if (membersFrom(xPlace) >= LARGE * (xLast + 1 - cursorKey(0))) return UNSUITED;
  if (membersFrom(yPlace) >= LARGE * (yLast + 1 - cursorKey(1))) return UNSUITED;
  const xFrom = lowsIn(xLeaf, xHeader) + GROUP_STEP * <usize>xIndex;
  const yFrom = lowsIn(yLeaf, yHeader) + GROUP_STEP * <usize>yIndex;
  const xEnd = xFrom + GROUP_STEP * <usize>membersFrom(xPlace);
  const yEnd = yFrom + GROUP_STEP * <usize>membersFrom(yPlace);
  let xLow = xFrom, yLow = yFrom, found: u32 = 0;
  do {
    const x = ((xBase + high<Left>(xHigh, xWidth)) << 16) | view16<Left>(xLow, 0);
    const y = ((yBase + high<Right>(yHigh, yWidth)) << 16) | view16<Right>(yLow, 0);
    const xPassed = u32(x <= y), yPassed = u32(y <= x);
    found += xPassed & (sought == Sought.SHARED ? yPassed : yPassed ^ 1);
    if (first && found != 0) return 1;
    xLow += GROUP_STEP * <usize>xPassed;
    yLow += GROUP_STEP * <usize>yPassed;
    xHigh += <usize>(xPassed * xWidth);
    yHigh += <usize>(yPassed * yWidth);
  } while (xLow != xEnd && yLow != yEnd);
  const xKey = xLow == xEnd ? xLast + 1 : xBase + high<Left>(xHigh, xWidth);
  const yKey = yLow == yEnd ? yLast + 1 : yBase + high<Right>(yHigh, yWidth);
  work.spend(1 + (<u32>(xLow - xFrom) + <u32>(yLow - yFrom)) / (<u32>GROUP_STEP * UNIT_MEMBERS));
  seekCursor(0, xKey);
  seekCursor(1, yKey);
  return found;
}
