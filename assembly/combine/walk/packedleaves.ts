// Two packed leaves at once. Most of their groups are of a few members. Going from group to group with a
// cursor on each side takes several times as long as merging the two sorted lists of members, as is done here.

import { left, right, work } from "../../env/memory";
import { Left, Memory, Right, view128, view16, view64 } from "../../env/view";
import { Directory, Place } from "../../arena/read/directory";
import { Group, Page } from "../../arena/packed/layout";
import { membersInLeaf } from "../../arena/packed/steps";
import { Lanes } from "../../container/lanes";
import { Node } from "../../arena/layout/node";
import { Cursor } from "./cursor";

/**
 * The members that a merge counts: members of both operands, or those of the first that the second does not
 * have.
 */
export const enum Sought { SHARED, MISSING }

/** The part of a leaf that is merged, packed in a u64. */
abstract class Column {
  /**
   * If an operand has this many times as many members as the other one, leaves are not merged: its containers
   * are sought.
   */
  @inline static readonly UNLIKE: u64 = 8;
  /** Members that count as one unit of work. */
  @inline static readonly UNIT_MEMBERS: u32 = 16;
  /** The most bytes of highs that are compared in 16-bit lanes. */
  @inline static readonly LANE_WIDTH: u32 = 2;

  // A column is the part of a leaf that is merged, from a group to the leaf's end: the leaf's address, from
  // bit 32 on the index of the first member in it, and from bit 48 on how many members there are. So the
  // column of a whole tiny arena is just its number of members.

  @inline static of<M extends Memory>(place: u64): u64 {
    const leaf = changetype<Node>(Group.leaf<M>(changetype<Group>(Place.entry(place))));
    return <u64>changetype<usize>(leaf)
      | (<u64>Group.index(leaf.page, changetype<Group>(Place.entry(place))) << 32)
      | (<u64>membersInLeaf(place) << 48);
  }

  @inline static leaf(column: u64): usize { return <usize>column; }
  @inline private static first(column: u64): u32 { return <u32>(column >> 32) & 0xffff; }
  @inline static count(column: u64): u32 { return <u32>(column >> 48); }
  /** The key of a member of the column. */
  @inline static key<M extends Memory>(column: u64, index: u32): u64 {
    return changetype<Page>(Column.leaf(column)).keyAt<M>(Column.first(column) + index);
  }

  @inline static lows(column: u64, header: u32): usize {
    return changetype<Page>(Column.leaf(column)).lowsIn(header) + Group.STEP * <usize>Column.first(column);
  }

  @inline static highs(column: u64, header: u32): usize {
    return changetype<Page>(Column.leaf(column)).highsIn(header)
      + <usize>(Column.first(column) * Page.widthIn(header));
  }

  /** A member: its key is `base` plus the high at `highs`. */
  @inline private static member<M extends Memory>(lows: usize, highs: usize, width: u32, base: u64): u64 {
    return ((base + Page.high<M>(highs, width)) << 16) | view16<M>(lows, 0);
  }

  // The result of both merges, 16 bits each: how many sought members there are, and how many members of each
  // leaf have been passed.

  @inline static mergedOf(found: u32, xPassed: u32, yPassed: u32): u64 {
    return <u64>found | (<u64>xPassed << 16) | (<u64>yPassed << 32);
  }

  @inline static found(merged: u64): u32 { return <u32>merged & 0xffff; }
  @inline static xPassed(merged: u64): u32 { return <u32>merged >> 16; }
  @inline static yPassed(merged: u64): u32 { return <u32>(merged >> 32); }

  /** The last one of eight members, whose key this is. */
  @inline static lastMember(lows: v128, key: u64): u64 { return (key << 16) | i16x8.extract_lane_u(lows, 7); }

  /** Of the lanes that have been passed, how many are sought. */
  @inline static foundIn(sought: Sought, passed: u32, equal: u32): u32 {
    return popcnt<u32>(passed & (sought == Sought.SHARED ? equal : ~equal));
  }

  /** How many of eight members, of which the last one is greater than `last`, are at most `last`. */
  @inline static membersUpTo<M extends Memory>(lows: usize, highs: usize, width: u32, base: u64,
    last: u64): u32 {
    let count: u32 = 0;
    for (let step = Lanes.LANES >> 1; step; step >>= 1) {
      const at = count + step - 1;
      const member = Column.member<M>(lows + Group.STEP * <usize>at, highs + <usize>(at * width), width,
        base);
      count = member <= last ? count + step : count;
    }
    return count;
  }

  /** The keys, modulo 2^16, of eight members whose highs have 1 or 2 bytes. */
  @inline static keyLanes<M extends Memory>(at: usize, width: u32, base: u64): v128 {
    const highs = width == 1 ? i16x8.extend_low_i8x16_u(i64x2.splat(view64<M>(at, 0))) : view128<M>(at, 0);
    return i16x8.add(highs, i16x8.splat(<i16>base));
  }
}

/** Merges two packed leaves member by member. */
export abstract class LeafMerge {
  /** Groups of LARGE_GROUP members or more on average are combined faster as arrays. */
  @inline private static readonly LARGE_GROUP: u64 = 16;
  /** Two tiny arenas are merged member by member if one of them has fewer members than this. */
  @inline private static readonly TINY_FEW: u32 = 2 * Lanes.LANES;
  /** These leaves have not been merged. */
  @inline static readonly NOT_MERGED: u32 = 0xffffffff;

  /**
   * Merges the packed leaves of cursors 0 and 1 as long as both are in one of small groups, and in it no
   * container after `end` matters. Moves the cursors to where a walk has to go on. Returns how many members
   * there are of what is sought; if `first` is true, 1 if there are any. No more leaves are merged once there
   * are `most` or more, unless `most` is 0.
   */
  @inline static leaves(sought: Sought, first: bool, most: u64, end: u64): u64 {
    let found: u64 = 0;
    if (!LeafMerge.areAmongGroups() || !LeafMerge.areAlike()) return 0;
    do {
      const more = LeafMerge.mergeTwo(sought, first, end);
      if (more == LeafMerge.NOT_MERGED) break;
      found += more;
    } while (found <= most - 1 && LeafMerge.areAmongGroups());
    return found;
  }

  /**
   * How many members of what is sought there are in operands 0 and 1, if both are tiny arenas that are packed
   * leaves of several containers, and one has few members; otherwise NOT_MERGED. No cursors are opened: that
   * would take longer than merging the members. So would checking whether the first members decide.
   */
  @inline static tiny(sought: Sought): u32 {
    left.select(0);
    right.select(1);
    if (!Page.isTinyPacked<Left>() || !Page.isTinyPacked<Right>()) return LeafMerge.NOT_MERGED;
    const xCount = changetype<Page>(0).count<Left>(), yCount = changetype<Page>(0).count<Right>();
    if (min(xCount, yCount) >= LeafMerge.TINY_FEW
      || max(xCount, yCount) >= <u32>Column.UNLIKE * LeafMerge.TINY_FEW) {
      return LeafMerge.NOT_MERGED;
    }
    const merged = LeafMerge.mergeMembers(sought, false, <u64>xCount << 48, <u64>yCount << 48);
    const xPassed = Column.xPassed(merged);
    work.spend(1 + (xPassed + Column.yPassed(merged)) / Column.UNIT_MEMBERS);
    return Column.found(merged) + (sought == Sought.MISSING ? xCount - xPassed : 0);
  }

  @inline private static areAmongGroups(): bool {
    return Cursor.of(0).isAmongGroups() && Cursor.of(1).isAmongGroups();
  }

  /** Shows the operands. */
  private static areAlike(): bool {
    left.select(Cursor.operandOf(0));
    right.select(Cursor.operandOf(1));
    const x = Directory.cardinality<Left>(), y = Directory.cardinality<Right>();
    return x / Column.UNLIKE < y && y / Column.UNLIKE < x;
  }

  /**
   * Merges from the cursors' groups on until one of the leaves ends. What is left of the other one's group then
   * has a lesser key than any later member of the operand whose leaf has ended.
   */
  @inline private static mergeTwo(sought: Sought, first: bool, end: u64): u32 {
    left.select(Cursor.operandOf(0));
    right.select(Cursor.operandOf(1));
    const x = Column.of<Left>(Cursor.of(0).place()), y = Column.of<Right>(Cursor.of(1).place());
    const xCount = Column.count(x), yCount = Column.count(y);
    const xLast = Column.key<Left>(x, xCount - 1), yLast = Column.key<Right>(y, yCount - 1);
    if (min(xLast, yLast) > end) return LeafMerge.NOT_MERGED;
    if (xCount >= LeafMerge.LARGE_GROUP * (xLast + 1 - Cursor.keyOf(0))) return LeafMerge.NOT_MERGED;
    if (yCount >= LeafMerge.LARGE_GROUP * (yLast + 1 - Cursor.keyOf(1))) return LeafMerge.NOT_MERGED;
    const few = min(xCount, yCount) < Lanes.LANES;
    const merged = few ? LeafMerge.mergeMembers(sought, first, x, y)
      : LeafMerge.mergeEights(sought, first, x, y);
    if (first && Column.found(merged)) return 1;
    const xPassed = Column.xPassed(merged), yPassed = Column.yPassed(merged);
    work.spend(1 + (xPassed + yPassed) / Column.UNIT_MEMBERS);
    const xNext = xPassed == xCount ? xLast + 1 : Column.key<Left>(x, xPassed);
    const yNext = yPassed == yCount ? yLast + 1 : Column.key<Right>(y, yPassed);
    Cursor.seek(0, xNext);                        // which shows its operand
    Cursor.seek(1, yNext);
    return Column.found(merged);
  }

  /** Member by member. Which of two members is less is unpredictable, so there is no branch on it. */
  @inline private static mergeMembers(sought: Sought, first: bool, x: u64, y: u64): u64 {
    const xHeader = changetype<Page>(Column.leaf(x)).header<Left>(),
      yHeader = changetype<Page>(Column.leaf(y)).header<Right>();
    const xWidth = Page.widthIn(xHeader), xBase = changetype<Page>(Column.leaf(x)).baseIn<Left>(xHeader);
    const yWidth = Page.widthIn(yHeader), yBase = changetype<Page>(Column.leaf(y)).baseIn<Right>(yHeader);
    const xFrom = Column.lows(x, xHeader), xEnd = xFrom + Group.STEP * <usize>Column.count(x);
    const yFrom = Column.lows(y, yHeader), yEnd = yFrom + Group.STEP * <usize>Column.count(y);
    // The highs as in high(), of at least one byte.
    const xShift: u64 = 64 - 8 * xWidth, yShift: u64 = 64 - 8 * yWidth;
    let xLow = xFrom, xHigh = Column.highs(x, xHeader) + xWidth - 8;
    let yLow = yFrom, yHigh = Column.highs(y, yHeader) + yWidth - 8;
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
    return Column.mergedOf(found, <u32>((xLow - xFrom) / Group.STEP), <u32>((yLow - yFrom) / Group.STEP));
  }

  /**
   * Eight members of each leaf at a time, of which each has at least eight. The lows are compared, each with
   * all eight of the other leaf. Few are equal unless the members are, so the keys are compared only then. Of
   * every two eights, those whose last member is the lesser one are passed. The last eight of a leaf may begin
   * within the eight before: then some lanes are not new.
   */
  @inline private static mergeEights(sought: Sought, first: bool, x: u64, y: u64): u64 {
    const xHeader = changetype<Page>(Column.leaf(x)).header<Left>(),
      yHeader = changetype<Page>(Column.leaf(y)).header<Right>();
    const xWidth = Page.widthIn(xHeader), xBase = changetype<Page>(Column.leaf(x)).baseIn<Left>(xHeader);
    const yWidth = Page.widthIn(yHeader), yBase = changetype<Page>(Column.leaf(y)).baseIn<Right>(yHeader);
    const xFrom = Column.lows(x, xHeader), xHighs = Column.highs(x, xHeader),
      xFinal = Column.count(x) - Lanes.LANES;
    const yFrom = Column.lows(y, yHeader), yHighs = Column.highs(y, yHeader),
      yFinal = Column.count(y) - Lanes.LANES;
    const inLanes = max(xWidth, yWidth) <= Column.LANE_WIDTH && LeafMerge.fitLanes(x, y, min(xBase, yBase));
    let i: u32 = 0, j: u32 = 0, found: u32 = 0;
    let fresh = Lanes.ALL_LANES, equal: u32 = 0;       // the lanes of x that are new; those that y has
    while (true) {
      const xLow = xFrom + Group.STEP * <usize>i, xHigh = xHighs + <usize>(i * xWidth);
      const yLow = yFrom + Group.STEP * <usize>j, yHigh = yHighs + <usize>(j * yWidth);
      const xLows = view128<Left>(xLow, 0), yLows = view128<Right>(yLow, 0);
      const xMost = Column.lastMember(xLows, xBase + Page.high<Left>(xHigh + <usize>(7 * xWidth), xWidth));
      const yMost = Column.lastMember(yLows, yBase + Page.high<Right>(yHigh + <usize>(7 * yWidth), yWidth));
      const alike = Lanes.equal(xLows, yLows);
      if (alike && inLanes) {
        const xKeys = Column.keyLanes<Left>(xHigh, xWidth, xBase),
          yKeys = Column.keyLanes<Right>(yHigh, yWidth, yBase);
        equal |= Lanes.equalPairs(xLows, xKeys, yLows, yKeys);
      } else if (alike) equal |= LeafMerge.equalKeys(alike, x, i, y, j);
      const xPassed = u32(xMost <= yMost), yPassed = u32(yMost <= xMost);
      if ((xPassed & u32(i == xFinal)) | (yPassed & u32(j == yFinal))) {
        const xMore = xPassed ? Lanes.LANES : Column.membersUpTo<Left>(xLow, xHigh, xWidth, xBase, yMost);
        const yMore = yPassed ? Lanes.LANES : Column.membersUpTo<Right>(yLow, yHigh, yWidth, yBase, xMost);
        found += Column.foundIn(sought, fresh & ((1 << xMore) - 1), equal);
        return Column.mergedOf(found, i + xMore, j + yMore);
      }
      found += Column.foundIn(sought, fresh & (0 - xPassed), equal);
      if (first && found != 0) return Column.mergedOf(found, i, j);
      const next = min(i + Lanes.LANES, xFinal);
      fresh = xPassed ? (Lanes.ALL_LANES << (i + Lanes.LANES - next)) & Lanes.ALL_LANES : fresh;
      equal &= xPassed - 1;
      i = xPassed ? next : i;
      j = yPassed ? min(j + Lanes.LANES, yFinal) : j;
    }
  }

  /** Whether different keys of the columns, which are `least` or more, differ modulo 2^16. */
  @inline private static fitLanes(x: u64, y: u64, least: u64): bool {
    return max(Column.key<Left>(x, Column.count(x) - 1), Column.key<Right>(y, Column.count(y) - 1))
      - least <= 0xffff;
  }

  /** Of eight members of x from member `i` on those in `alike` that are one of the eight of y from `j` on. */
  private static equalKeys(alike: u32, x: u64, i: u32, y: u64, j: u32): u32 {
    const yHeader = changetype<Page>(Column.leaf(y)).header<Right>(),
      xLows = Column.lows(x, changetype<Page>(Column.leaf(x)).header<Left>());
    const yLows = view128<Right>(Column.lows(y, yHeader) + Group.STEP * <usize>j, 0);
    let equal: u32 = 0;
    for (; alike; alike &= alike - 1) {
      const lane = ctz<u32>(alike), low = view16<Left>(xLows + Group.STEP * <usize>(i + lane), 0);
      let others = <u32>i16x8.bitmask(i16x8.eq(yLows, i16x8.splat(<i16>low)));
      for (; others; others &= others - 1) {
        if (Column.key<Right>(y, j + ctz<u32>(others)) == Column.key<Left>(x, i + lane)) equal |= 1 << lane;
      }
    }
    return equal;
  }
}
