// A table of intersections: each row counted with each column, in one walk over all of them. At each key that
// a row and a column have, the containers of the rows are prepared once for all columns, and that of a column
// once for the rows: a container that many others meet is counted fastest as a bitset.
//
// Rows, columns and the bitmap that limits the table are items with cursors (combine/walk/cursor.ts), rows
// first. Items are in groups, and the columns begin a group. Below the cursors, at the arena's end:
//
//   a u64 for each group: the least key of its items, the first group last
//   the rows that have a container at the key, PREPARED_BYTES each: u64 shape, u32 operand, u32 row

import { SELF, argument, arena, work } from "../../env/memory";
import { Offset } from "../../arena/layout/entry";
import { begin } from "../../arena/builder/state";
import { Kind } from "../../container/kind";
import { Cursor } from "../walk/cursor";
import { fold, foldCardinality } from "../fold/fold";
import { asBitset } from "../shape/expand";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, sidesOf } from "../fold/sides";
import { Prepared } from "./prepared";

/** The items of a cross table, and where its data lie. */
abstract class CrossTable {
  @inline static readonly GROUP: u32 = 32;
  /** Rows that are prepared at once: as bitsets they fit a cache of 256 KiB. */
  @inline static readonly ROWS_AT_ONCE: u32 = 30;
  @inline static readonly PREPARED_BYTES: usize = 16;
  /** An array of more than LOOKED_UP_MAX members becomes a bitset if it meets this many containers or more. */
  @inline private static readonly MEETS_MANY: u32 = 4;

  /** The number of an item that begins a group, at or after `item`. */
  @inline private static nextGroup(item: u32): u32 {
    return (item + CrossTable.GROUP - 1) & ~(CrossTable.GROUP - 1);
  }

  /** The item of the first column. */
  @inline static firstColumn(rows: u32): u32 { return CrossTable.nextGroup(rows); }
  /** The number behind the item of the last column. */
  @inline static columnsEnd(rows: u32, columns: u32): u32 { return CrossTable.firstColumn(rows) + columns; }
  /** The item of the bitmap that limits the table. */
  @inline static limitItem(rows: u32, columns: u32): u32 {
    return CrossTable.nextGroup(CrossTable.columnsEnd(rows, columns));
  }

  /** Bytes at the arena's end that begin with the least keys. */
  @inline static keysBytes(limit: u32): usize {
    return <usize>(limit + 1) * Cursor.BYTES + (<usize>(limit / CrossTable.GROUP) << 3);
  }

  /** Address of the least key of group `group`. */
  @inline static groupKeyAt(limit: u32, group: u32): usize {
    return <usize>arena.size() - <usize>(limit + 1) * Cursor.BYTES - (<usize>(group + 1) << 3);
  }

  /** Address of the record of the `index`th prepared row. */
  @inline static preparedAt(limit: u32, index: u32): usize {
    return <usize>arena.size() - CrossTable.keysBytes(limit) - <usize>(index + 1) * CrossTable.PREPARED_BYTES;
  }

  /** The first item from `item` on, but before `end`, that has `key`; otherwise `end`. */
  @inline static itemWith(limit: u32, item: u32, end: u32, key: u64): u32 {
    while (item < end) {
      if (!(item & (CrossTable.GROUP - 1))
        && load<u64>(CrossTable.groupKeyAt(limit, item / CrossTable.GROUP)) > key) item += CrossTable.GROUP;
      else if (Cursor.keyOf(item) == key) return item;
      else item++;
    }
    return end;
  }

  // --- Counting ----------------------------------------------------------------------------------------------

  @inline static addTo(row: u32, column: u32, columns: u32, members: u64): void {
    const cell = row * columns + column;
    argument.put(cell, argument.value(cell) + members);
  }

  /**
   * Whether the container should be made a bitset before it meets `meeting` others. Runs always are, because
   * counting them with a bitset in memory 0 would change that.
   */
  @inline static becomesBitset(s: u64, meeting: u32): bool {
    const kind = Shape.kind(s);
    if (kind == Kind.RUNS) return true;
    return kind != Kind.BITSET && kind != Kind.FULL && meeting >= CrossTable.MEETS_MANY
      && Shape.count(s) > Prepared.LOOKED_UP_MAX;
  }
}

/**
 * Adds to the call's arguments, one for each row and column, the row's columns side by side, how many members
 * the row and the column share in containers `from` to `to`, modulo 2^64. Operands 0 .. rows - 1 are the rows
 * and the next ones the columns. With `limited`, only members of the last operand count. Memory 0, which is
 * fresh, is only worked in.
 */
export function cross(rows: u32, columns: u32, limited: u32, from: u64, to: u64): void {
  const first = CrossTable.firstColumn(rows), end = CrossTable.columnsEnd(rows, columns),
    limit = CrossTable.limitItem(rows, columns);
  begin(0, CrossTable.keysBytes(limit) + <usize>CrossTable.ROWS_AT_ONCE * CrossTable.PREPARED_BYTES);
  for (let item: u32 = 0; item < limit; item++) {
    if (item < rows) Cursor.open(item, item, from);
    else if (item >= first && item < end) Cursor.open(item, rows + item - first, from);
    else Cursor.close(item);
  }
  if (limited) Cursor.open(limit, rows + columns, from);
  for (let group: u32 = 0; group < limit / CrossTable.GROUP; group++) findGroupKey(limit, group);
  let key = meet(limit, first, limited != 0, from);
  while (key <= to) {
    const last = min(segmentEnd(limit, key, limited != 0), to);
    if (last == key) countKey(rows, columns, key, limited != 0);
    else countSpan(rows, columns, key, (last - key + 1) << 16);
    if (last == to) break;
    key = meet(limit, first, limited != 0, last + 1);
  }
}

// --- The walk ----------------------------------------------------------------------------------------------

function findGroupKey(limit: u32, group: u32): void {
  let key = Cursor.NO_KEY;
  for (let item = group * CrossTable.GROUP, end = item + CrossTable.GROUP; item < end; item++) {
    key = min(key, Cursor.keyOf(item));
  }
  store<u64>(CrossTable.groupKeyAt(limit, group), key);
}

/** Moves items `from` to `to` - 1, which are whole groups, to `key`; returns the least key of them. */
function moveGroups(limit: u32, from: u32, to: u32, key: u64): u64 {
  let least = Cursor.NO_KEY;
  work.spend((to - from) / CrossTable.GROUP);
  for (let group = from / CrossTable.GROUP; group < to / CrossTable.GROUP; group++) {
    if (load<u64>(CrossTable.groupKeyAt(limit, group)) < key) {
      for (let item = group * CrossTable.GROUP, end = item + CrossTable.GROUP; item < end;
        item++) Cursor.seek(item, key);
      findGroupKey(limit, group);
    }
    least = min(least, load<u64>(CrossTable.groupKeyAt(limit, group)));
  }
  return least;
}

/** The next key from `key` on that a row, a column and the limiting bitmap have; NO_KEY if there is none. */
function meet(limit: u32, first: u32, limited: bool, key: u64): u64 {
  while (true) {
    const row = moveGroups(limit, 0, first, key);
    let next = row == Cursor.NO_KEY ? Cursor.NO_KEY : moveGroups(limit, first, limit, row);
    if (limited && next != Cursor.NO_KEY) {
      Cursor.seek(limit, next);
      next = Cursor.keyOf(limit);
    }
    if (next == row || next == Cursor.NO_KEY) return next;
    key = next;
  }
}

/** The last key up to which nothing changes. Beyond `key` only if all that have it are full. */
function segmentEnd(limit: u32, key: u64, limited: bool): u64 {
  let last = limited ? Cursor.lastKeyOf(limit) : Offset.KEY_MAX;
  for (let group: u32 = 0; group < limit / CrossTable.GROUP && last > key; group++) {
    const least = load<u64>(CrossTable.groupKeyAt(limit, group));
    if (least > key) { last = min(last, least - 1); continue; }
    for (let item = group * CrossTable.GROUP, end = item + CrossTable.GROUP; item < end; item++) {
      last = min(last, Cursor.keyOf(item) > key ? Cursor.keyOf(item) - 1 : Cursor.lastKeyOf(item));
    }
  }
  return last;
}

/** Counts `members` for each row and each column that have `key`: all of them are full. */
function countSpan(rows: u32, columns: u32, key: u64, members: u64): void {
  const limit = CrossTable.limitItem(rows, columns), first = CrossTable.firstColumn(rows),
    end = first + columns;
  for (let row = CrossTable.itemWith(limit, 0, rows, key); row < rows;
    row = CrossTable.itemWith(limit, row + 1, rows, key)) {
    let item = CrossTable.itemWith(limit, first, end, key);
    for (; item < end; item = CrossTable.itemWith(limit, item + 1, end, key)) {
      work.spend(1);
      CrossTable.addTo(row, item - first, columns, members);
    }
  }
}

/** Counts what the rows and the columns share at `key`, for ROWS_AT_ONCE rows at a time. */
function countKey(rows: u32, columns: u32, key: u64, limited: bool): void {
  const limit = CrossTable.limitItem(rows, columns), first = CrossTable.firstColumn(rows),
    end = first + columns;
  let meeting: u32 = 0;
  for (let item = CrossTable.itemWith(limit, first, end, key); item < end;
    item = CrossTable.itemWith(limit, item + 1, end, key)) {
    meeting++;
  }
  Places.makeMany(<u32>Scratch.PLACES + min(rows, CrossTable.ROWS_AT_ONCE));
  for (let row = CrossTable.itemWith(limit, 0, rows, key); row < rows;) {
    let prepared: u32 = 0;
    for (; row < rows && prepared < CrossTable.ROWS_AT_ONCE;
      row = CrossTable.itemWith(limit, row + 1, rows, key)) {
      prepareRow(limit, prepared++, row, meeting);
    }
    let item = CrossTable.itemWith(limit, first, end, key);
    for (; item < end; item = CrossTable.itemWith(limit, item + 1, end, key)) {
      countColumn(rows, columns, item, limited, prepared);
    }
  }
}

/** Prepares the container of the row to meet `meeting` columns. */
function prepareRow(limit: u32, index: u32, row: u32, meeting: u32): void {
  let s = Cursor.shapeOf(row), operand = Cursor.operandOf(row);
  if (CrossTable.becomesBitset(s, meeting)) {
    s = asBitset(operand, s, Places.at(<Scratch>(<u32>Scratch.PLACES + index)));
    operand = SELF;
  }
  const at = CrossTable.preparedAt(limit, index);
  store<u32>(at, row, 12);
  store<u32>(at, operand, 8);
  store<u64>(at, s);
}

/** Counts what the container of a column shares with the `prepared` rows. */
function countColumn(rows: u32, columns: u32, item: u32, limited: bool, prepared: u32): void {
  const limit = CrossTable.limitItem(rows, columns), column = item - CrossTable.firstColumn(rows);
  let s = Cursor.shapeOf(item), operand = Cursor.operandOf(item);
  if (limited && !Shape.isFull(Cursor.shapeOf(limit))) {
    if (Shape.isFull(s)) { s = Cursor.shapeOf(limit); operand = Cursor.operandOf(limit); } else {
      s = fold(Fold.AND, sidesOf(operand, Cursor.operandOf(limit)), s, Cursor.shapeOf(limit));
      operand = SELF;
    }
    if (!Shape.count(s)) return;
  }
  if (CrossTable.becomesBitset(s, prepared)) {
    s = asBitset(operand, s, Places.at(Scratch.SPARE));
    operand = SELF;
  }
  for (let index: u32 = 0; index < prepared; index++) {
    const at = CrossTable.preparedAt(limit, index), row = load<u32>(at, 12), other = load<u32>(at, 8);
    work.spend(1);
    CrossTable.addTo(row, column, columns, foldCardinality(sidesOf(operand, other), s, load<u64>(at)));
  }
}
