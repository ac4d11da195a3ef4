// Two packed leaves at once. Most of their groups are of a few members. To go from group to group, with a
// cursor on each side, takes several times as long as to compare the members where they lie: two sorted
// lists, which are merged here.

import { left, right, work } from "../../env/memory";
import { Left, Right, view16, view64, view128 } from "../../env/view";
import { cardinalityHeld, placeEntry } from "../../arena/read/directory";
import {
  Group, baseIn, headerOf, high, highsIn, isTinyPacked, keyAt, lowsIn, packedCount, widthIn,
} from "../../arena/packed/layout";
import { membersInLeaf } from "../../arena/packed/steps";
import { ALL_LANES, LANES, equalLanes, equalPairs } from "../../container/lanes";
import { Node } from "../../arena/layout/node";
import { Cursor } from "./cursor";

/**
 * The members that a merge counts: members of both operands, or those of the first that the second does not
 * have.
 */
export const enum Sought { SHARED, MISSING }

/** If an operand has UNLIKE times as many members as the other one, its containers are sought instead. */
// @ts-ignore: decorator
@inline const UNLIKE: u64 = 8;

/** Groups of LARGE_GROUP members or more on average are combined faster as arrays. */
// @ts-ignore: decorator
@inline const LARGE_GROUP: u64 = 16;

/** Two tiny arenas are merged member by member if one of them has fewer members than this. */
// @ts-ignore: decorator
@inline const TINY_FEW: u32 = 2 * LANES;

/** Members that count as one unit of work. */
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
    if (more == NOT_MERGED) break;
    found += more;
  } while (found <= most - 1 && areAmongGroups());
  return found;
}

/** These leaves have not been merged. */
// @ts-ignore: decorator
@inline export const NOT_MERGED: u32 = 0xffffffff;

/**
 * How many members of what is sought there are in operands 0 and 1, if both are tiny arenas that are packed
 * leaves of several containers, and one has few members; otherwise NOT_MERGED. No cursors are opened for
 * that: it would take longer than to merge the members. So would to look whether the first ones decide.
 */
// @ts-ignore: decorator
@inline export function mergeTiny(sought: Sought): u32 {
  left.select(0);
  right.select(1);
  if (!isTinyPacked<Left>() || !isTinyPacked<Right>()) return NOT_MERGED;
  const xCount = packedCount<Left>(0), yCount = packedCount<Right>(0);
  if (min(xCount, yCount) >= TINY_FEW || max(xCount, yCount) >= <u32>UNLIKE * TINY_FEW) return NOT_MERGED;
  const merged = mergeMembers(sought, false, <u64>xCount << 48, <u64>yCount << 48);
  const xPassed = xPassedOf(merged);
  work.spend(1 + (xPassed + yPassedOf(merged)) / UNIT_MEMBERS);
  return foundOf(merged) + (sought == Sought.MISSING ? xCount - xPassed : 0);
}

// @ts-ignore: decorator
@inline function areAmongGroups(): bool { return Cursor.of(0).isAmongGroups() && Cursor.of(1).isAmongGroups(); }

/** Shows the operands. */
function areAlike(): bool {
  left.select(Cursor.operandOf(0));
  right.select(Cursor.operandOf(1));
  const x = cardinalityHeld<Left>(), y = cardinalityHeld<Right>();
  return x / UNLIKE < y && y / UNLIKE < x;
}

/**
 * Merges from the cursors' groups on until one of the leaves ends. What is left of the other one's group then
 * has a lesser key than any later member of the operand whose leaf has ended.
 */
// @ts-ignore: decorator
@inline function mergeTwo(sought: Sought, first: bool, end: u64): u32 {
  left.select(Cursor.operandOf(0));
  right.select(Cursor.operandOf(1));
  const x = columnOf<Left>(Cursor.of(0).place()), y = columnOf<Right>(Cursor.of(1).place());
  const xCount = countOf(x), yCount = countOf(y);
  const xLast = keyIn<Left>(x, xCount - 1), yLast = keyIn<Right>(y, yCount - 1);
  if (min(xLast, yLast) > end) return NOT_MERGED;
  if (xCount >= LARGE_GROUP * (xLast + 1 - Cursor.keyOf(0))) return NOT_MERGED;
  if (yCount >= LARGE_GROUP * (yLast + 1 - Cursor.keyOf(1))) return NOT_MERGED;
  const few = min(xCount, yCount) < LANES;
  const merged = few ? mergeMembers(sought, first, x, y) : mergeEights(sought, first, x, y);
  if (first && foundOf(merged)) return 1;
  const xPassed = xPassedOf(merged), yPassed = yPassedOf(merged);
  work.spend(1 + (xPassed + yPassed) / UNIT_MEMBERS);
  const xNext = xPassed == xCount ? xLast + 1 : keyIn<Left>(x, xPassed);
  const yNext = yPassed == yCount ? yLast + 1 : keyIn<Right>(y, yPassed);
  Cursor.seek(0, xNext);                        // which shows its operand
  Cursor.seek(1, yNext);
  return foundOf(merged);
}

// A column is what is merged of a leaf, from a group on to the leaf's end: the leaf's address, from bit 32 on
// the index of the first member in it, and from bit 48 on how many members there are. So that of a whole tiny
// arena is its number of members alone.

// @ts-ignore: decorator
@inline function columnOf<M>(place: u64): u64 {
  const leaf = changetype<Node>(Group.leaf<M>(changetype<Group>(placeEntry(place))));
  return <u64>changetype<usize>(leaf) | (<u64>Group.index(changetype<usize>(leaf), changetype<Group>(placeEntry(place))) << 32) | (<u64>membersInLeaf(place) << 48);
}
// @ts-ignore: decorator
@inline function columnLeaf(column: u64): usize { return <usize>column; }
// @ts-ignore: decorator
@inline function firstOf(column: u64): u32 { return <u32>(column >> 32) & 0xffff; }
// @ts-ignore: decorator
@inline function countOf(column: u64): u32 { return <u32>(column >> 48); }
/** The key of a member of the column. */
// @ts-ignore: decorator
@inline function keyIn<M>(column: u64, index: u32): u64 {
  return keyAt<M>(columnLeaf(column), firstOf(column) + index);
}
// @ts-ignore: decorator
@inline function lowsFrom(column: u64, header: u32): usize {
  return lowsIn(columnLeaf(column), header) + Group.STEP * <usize>firstOf(column);
}
// @ts-ignore: decorator
@inline function highsFrom(column: u64, header: u32): usize {
  return highsIn(columnLeaf(column), header) + <usize>(firstOf(column) * widthIn(header));
}
/** A member: its key is `base` plus the high at `highs`. */
// @ts-ignore: decorator
@inline function memberAt<M>(lows: usize, highs: usize, width: u32, base: u64): u64 {
  return ((base + high<M>(highs, width)) << 16) | view16<M>(lows, 0);
}

// The answer of both merges: how many there are of what is sought, and how many members of either leaf have
// been passed, 16 bits each.

// @ts-ignore: decorator
@inline function mergedOf(found: u32, xPassed: u32, yPassed: u32): u64 {
  return <u64>found | (<u64>xPassed << 16) | (<u64>yPassed << 32);
}
// @ts-ignore: decorator
@inline function foundOf(merged: u64): u32 { return <u32>merged & 0xffff; }
// @ts-ignore: decorator
@inline function xPassedOf(merged: u64): u32 { return <u32>merged >> 16; }
// @ts-ignore: decorator
@inline function yPassedOf(merged: u64): u32 { return <u32>(merged >> 32); }

/** Member by member. Which of two is less cannot be foretold, so nothing branches on it. */
// @ts-ignore: decorator
@inline function mergeMembers(sought: Sought, first: bool, x: u64, y: u64): u64 {
  const xHeader = headerOf<Left>(columnLeaf(x)), yHeader = headerOf<Right>(columnLeaf(y));
  const xWidth = widthIn(xHeader), xBase = baseIn<Left>(columnLeaf(x), xHeader);
  const yWidth = widthIn(yHeader), yBase = baseIn<Right>(columnLeaf(y), yHeader);
  const xFrom = lowsFrom(x, xHeader), xEnd = xFrom + Group.STEP * <usize>countOf(x);
  const yFrom = lowsFrom(y, yHeader), yEnd = yFrom + Group.STEP * <usize>countOf(y);
  // The highs as in high(), of at least one byte.
  const xShift: u64 = 64 - 8 * xWidth, yShift: u64 = 64 - 8 * yWidth;
  let xLow = xFrom, xHigh = highsFrom(x, xHeader) + xWidth - 8;
  let yLow = yFrom, yHigh = highsFrom(y, yHeader) + yWidth - 8;
  let found: u32 = 0;
  do {
    const xMember = ((xBase + (view64<Left>(xHigh, 0) >> xShift)) << 16) | view16<Left>(xLow, 0);
    const yMember = ((yBase + (view64<Right>(yHigh, 0) >> yShift)) << 16) | view16<Right>(yLow, 0);
    const xPassed = u32(xMember <= yMember), yPassed = u32(yMember <= xMember);
    found += xPassed & (sought == Sought.SHARED ? yPassed : yPassed ^ 1);
    if (first && found != 0) break;
    xLow += Group.STEP * <usize>xPassed;
    yLow += Group.STEP * <usize>yPassed;
    xHigh += <usize>(xPassed * xWidth);
    yHigh += <usize>(yPassed * yWidth);
  } while (xLow != xEnd && yLow != yEnd);
  return mergedOf(found, <u32>((xLow - xFrom) / Group.STEP), <u32>((yLow - yFrom) / Group.STEP));
}

/**
 * Eight members of each leaf at a time, of which each has at least eight. The lows are compared, each with
 * all eight of the other leaf. Few are equal unless the members are, so the keys are compared only then. Of
 * every two eights, those whose last member is the lesser one are passed. The last eight of a leaf may begin
 * within the eight before: then some lanes are not new.
 */
// @ts-ignore: decorator
@inline function mergeEights(sought: Sought, first: bool, x: u64, y: u64): u64 {
  const xHeader = headerOf<Left>(columnLeaf(x)), yHeader = headerOf<Right>(columnLeaf(y));
  const xWidth = widthIn(xHeader), xBase = baseIn<Left>(columnLeaf(x), xHeader);
  const yWidth = widthIn(yHeader), yBase = baseIn<Right>(columnLeaf(y), yHeader);
  const xFrom = lowsFrom(x, xHeader), xHighs = highsFrom(x, xHeader), xFinal = countOf(x) - LANES;
  const yFrom = lowsFrom(y, yHeader), yHighs = highsFrom(y, yHeader), yFinal = countOf(y) - LANES;
  const inLanes = max(xWidth, yWidth) <= LANE_WIDTH && fitLanes(x, y, min(xBase, yBase));
  let i: u32 = 0, j: u32 = 0, found: u32 = 0;
  let fresh = ALL_LANES, equal: u32 = 0;       // the lanes of x that are new; those that y has
  while (true) {
    const xLow = xFrom + Group.STEP * <usize>i, xHigh = xHighs + <usize>(i * xWidth);
    const yLow = yFrom + Group.STEP * <usize>j, yHigh = yHighs + <usize>(j * yWidth);
    const xLows = view128<Left>(xLow, 0), yLows = view128<Right>(yLow, 0);
    const xMost = lastMember(xLows, xBase + high<Left>(xHigh + <usize>(7 * xWidth), xWidth));
    const yMost = lastMember(yLows, yBase + high<Right>(yHigh + <usize>(7 * yWidth), yWidth));
    const alike = equalLanes(xLows, yLows);
    if (alike && inLanes) {
      const xKeys = keyLanes<Left>(xHigh, xWidth, xBase), yKeys = keyLanes<Right>(yHigh, yWidth, yBase);
      equal |= equalPairs(xLows, xKeys, yLows, yKeys);
    } else if (alike) equal |= equalKeys(alike, x, i, y, j);
    const xPassed = u32(xMost <= yMost), yPassed = u32(yMost <= xMost);
    if ((xPassed & u32(i == xFinal)) | (yPassed & u32(j == yFinal))) {
      const xMore = xPassed ? LANES : membersUpTo<Left>(xLow, xHigh, xWidth, xBase, yMost);
      const yMore = yPassed ? LANES : membersUpTo<Right>(yLow, yHigh, yWidth, yBase, xMost);
      found += foundIn(sought, fresh & ((1 << xMore) - 1), equal);
      return mergedOf(found, i + xMore, j + yMore);
    }
    found += foundIn(sought, fresh & (0 - xPassed), equal);
    if (first && found != 0) return mergedOf(found, i, j);
    const next = min(i + LANES, xFinal);
    fresh = xPassed ? (ALL_LANES << (i + LANES - next)) & ALL_LANES : fresh;
    equal &= xPassed - 1;
    i = xPassed ? next : i;
    j = yPassed ? min(j + LANES, yFinal) : j;
  }
}

/** The most bytes of highs that are compared in 16-bit lanes. */
// @ts-ignore: decorator
@inline const LANE_WIDTH: u32 = 2;

/** Whether different keys of the columns, which are `least` or more, differ modulo 2^16. */
// @ts-ignore: decorator
@inline function fitLanes(x: u64, y: u64, least: u64): bool {
  return max(keyIn<Left>(x, countOf(x) - 1), keyIn<Right>(y, countOf(y) - 1)) - least <= 0xffff;
}

/** The last one of eight members, whose key this is. */
// @ts-ignore: decorator
@inline function lastMember(lows: v128, key: u64): u64 { return (key << 16) | i16x8.extract_lane_u(lows, 7); }

/** Of the lanes that have been passed, how many are sought. */
// @ts-ignore: decorator
@inline function foundIn(sought: Sought, passed: u32, equal: u32): u32 {
  return popcnt<u32>(passed & (sought == Sought.SHARED ? equal : ~equal));
}

/** How many of eight members, of which the last one is greater than `last`, are at most `last`. */
// @ts-ignore: decorator
@inline function membersUpTo<M>(lows: usize, highs: usize, width: u32, base: u64, last: u64): u32 {
  let count: u32 = 0;
  for (let step = LANES >> 1; step; step >>= 1) {
    const at = count + step - 1;
    const member = memberAt<M>(lows + Group.STEP * <usize>at, highs + <usize>(at * width), width, base);
    count = member <= last ? count + step : count;
  }
  return count;
}

/** The keys, modulo 2^16, of eight members whose highs have 1 or 2 bytes. */
// @ts-ignore: decorator
@inline function keyLanes<M>(at: usize, width: u32, base: u64): v128 {
  const highs = width == 1 ? i16x8.extend_low_i8x16_u(i64x2.splat(view64<M>(at, 0))) : view128<M>(at, 0);
  return i16x8.add(highs, i16x8.splat(<i16>base));
}

/** Of eight members of x from member `i` on those in `alike` that are one of the eight of y from `j` on. */
function equalKeys(alike: u32, x: u64, i: u32, y: u64, j: u32): u32 {
  const yHeader = headerOf<Right>(columnLeaf(y)), xLows = lowsFrom(x, headerOf<Left>(columnLeaf(x)));
  const yLows = view128<Right>(lowsFrom(y, yHeader) + Group.STEP * <usize>j, 0);
  let equal: u32 = 0;
  for (; alike; alike &= alike - 1) {
    const lane = ctz<u32>(alike), low = view16<Left>(xLows + Group.STEP * <usize>(i + lane), 0);
    let others = <u32>i16x8.bitmask(i16x8.eq(yLows, i16x8.splat(<i16>low)));
    for (; others; others &= others - 1) {
      if (keyIn<Right>(y, j + ctz<u32>(others)) == keyIn<Left>(x, i + lane)) equal |= 1 << lane;
    }
  }
  return equal;
}
