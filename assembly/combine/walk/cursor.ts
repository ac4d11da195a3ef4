// Cursors: where a walk is in each item of a combination. An item is an operand or the result of a term
// (combine/term/term.ts). Cursors are kept in the builder's scratch at the arena's very end, the first one
// last:
//
//   +0   u64 key, NO_KEY once nothing is left: the least key that the walk has not passed and at which the
//        item can have members
//   +8   u64 last key up to which the item stays as it is at `key`. Beyond `key` only if it is full at all of
//        these keys, or at none
//   +16  u64 place of the entry in the operand (arena/read/directory.ts); of operands only
//   +24  u32 operand
//   +28  u32 term, 0 if the item is an operand
//   +32  u64 shape of the entry's container (combine/shape/shape.ts); of operands only
//   +40  what stepping to the next group of a packed leaf needs (arena/packed/layout.ts); of operands only
//
// A FULL entry may be walked in parts: then `key` is inside it.

import { arena, right, work } from "../../env/memory";
import { Right } from "../../env/view";
import { entryKey, entryLastKey } from "../../arena/layout/entry";
import { firstPlace, nextInLeaf, placeEntry, seek, seekFrom } from "../../arena/read/directory";
import { entryShape, shape, shapeAt, shapeCount, shapeKind } from "../shape/shape";
import { GROUP_STEP, isGroup } from "../../arena/packed/layout";
import { STEP_BYTES, beginSteps, isOfOneKey, membersInLeaf, stepKey, stepOn } from "../../arena/packed/steps";
import { Kind } from "../../container/kind";
import { arrayBytes } from "../../container/limits";

// @ts-ignore: decorator
@inline export const CURSOR_BYTES: usize = 40 + STEP_BYTES;
/** Greater than every key. */
// @ts-ignore: decorator
@inline export const NO_KEY: u64 = 0xffffffffffffffff;

/**
 * Units of work that moving a cursor to another entry counts, also for the steps to the next entry of the
 * same leaf that follow.
 */
// @ts-ignore: decorator
@inline const LEAF_WORK: u32 = 4;

// @ts-ignore: decorator
@inline const LAST: u32 = 8;
// @ts-ignore: decorator
@inline const PLACE: u32 = 16;
// @ts-ignore: decorator
@inline const OPERAND: u32 = 24;
// @ts-ignore: decorator
@inline const TERM: u32 = 28;
// @ts-ignore: decorator
@inline const SHAPE: u32 = 32;
// @ts-ignore: decorator
@inline const STEP: usize = 40;

// @ts-ignore: decorator
@inline export function cursorAt(item: u32): usize {
  return <usize>arena.size() - (<usize>item + 1) * CURSOR_BYTES;
}
// @ts-ignore: decorator
@inline export function cursorKey(item: u32): u64 { return load<u64>(cursorAt(item)); }
// @ts-ignore: decorator
@inline export function cursorLastKey(item: u32): u64 { return load<u64>(cursorAt(item), LAST); }
/** cursorKey() of the cursor at `cursor`. Cursors lie below one another, and move when the arena grows. */
// @ts-ignore: decorator
@inline export function keyAt(cursor: usize): u64 { return load<u64>(cursor); }
// @ts-ignore: decorator
@inline export function lastKeyAt(cursor: usize): u64 { return load<u64>(cursor, LAST); }
// @ts-ignore: decorator
@inline export function termOf(cursor: usize): u32 { return load<u32>(cursor, TERM); }
// @ts-ignore: decorator
@inline export function shapeOf(cursor: usize): u64 { return load<u64>(cursor, SHAPE); }
// @ts-ignore: decorator
@inline export function operandOf(cursor: usize): u32 { return load<u32>(cursor, OPERAND); }
// @ts-ignore: decorator
@inline export function placeOf(cursor: usize): u64 { return load<u64>(cursor, PLACE); }
// @ts-ignore: decorator
@inline export function entryOf(cursor: usize): usize { return placeEntry(load<u64>(cursor, PLACE)); }
/** The entry that the cursor is at: an address in its operand. */
// @ts-ignore: decorator
@inline export function cursorEntry(item: u32): usize { return placeEntry(load<u64>(cursorAt(item), PLACE)); }
// @ts-ignore: decorator
@inline export function cursorOperand(item: u32): u32 { return load<u32>(cursorAt(item), OPERAND); }
/** The shape of the container that the cursor is at. */
// @ts-ignore: decorator
@inline export function cursorShape(item: u32): u64 { return load<u64>(cursorAt(item), SHAPE); }
// @ts-ignore: decorator
@inline export function cursorTerm(item: u32): u32 { return load<u32>(cursorAt(item), TERM); }

/** Whether the cursor is in a packed leaf of several groups. */
// @ts-ignore: decorator
@inline export function isAmongGroups(cursor: usize): bool {
  return load<u64>(cursor) != NO_KEY && isGroup(entryOf(cursor)) && !isOfOneKey(cursor + STEP);
}

/** Puts the item's cursor at the first entry of the operand that covers `key` or a greater key. */
export function openCursor(item: u32, operand: u32, key: u64): void {
  const cursor = cursorAt(item);
  store<u32>(cursor, operand, OPERAND);
  store<u32>(cursor, 0, TERM);
  right.select(operand);
  moveTo(cursor, key ? seek<Right>(key) : firstPlace<Right>(), key);
}

/** Makes the item the result of a term. setCursor() then says where it is. */
// @ts-ignore: decorator
@inline export function setTerm(item: u32, term: u32): void { store<u32>(cursorAt(item), term, TERM); }

// @ts-ignore: decorator
@inline export function setCursor(item: u32, key: u64, last: u64): void {
  const cursor = cursorAt(item);
  store<u64>(cursor, key);
  store<u64>(cursor, last, LAST);
}

/** Puts the cursor past the last entry. */
export function closeCursor(item: u32): void { store<u64>(cursorAt(item), NO_KEY); }

/** Replaces the cursor of item `to` by that of item `from`. */
// @ts-ignore: decorator
@inline export function copyCursor(to: u32, from: u32): void {
  memory.copy(cursorAt(to), cursorAt(from), CURSOR_BYTES);
}

/** Puts the cursor at an entry, or inside it if it covers `key`. */
// @ts-ignore: decorator
@inline function moveTo(cursor: usize, place: u64, key: u64): void {
  if (!place) { store<u64>(cursor, NO_KEY); return; }
  if (isGroup(placeEntry(place))) { moveToGroup(cursor, place); return; }
  const entry = placeEntry(place), s = entryShape<Right>(entry), first = entryKey<Right>(entry);
  store<u64>(cursor, s, SHAPE);               // the cursor's end first: one bounds check is enough
  store<u64>(cursor, place, PLACE);
  store<u64>(cursor, shapeKind(s) == Kind.FULL ? entryLastKey<Right>(entry) : first, LAST);
  store<u64>(cursor, max(first, key));
}

/** Puts the cursor at a group of a packed leaf. */
// @ts-ignore: decorator
@inline function moveToGroup(cursor: usize, place: u64): void {
  const steps = cursor + STEP, lows = beginSteps<Right>(placeEntry(place), steps), key = stepKey(steps);
  setGroup(cursor, place, lows, stepOn<Right>(steps, membersInLeaf(place)), key);
}

/** Puts the cursor at the group `place` of `count` members, whose lows are at `lows`. */
// @ts-ignore: decorator
@inline function setGroup(cursor: usize, place: u64, lows: usize, count: u32, key: u64): void {
  store<u64>(cursor, shape(Kind.ARRAY, count, lows), SHAPE);
  store<u64>(cursor, place, PLACE);
  store<u64>(cursor, key, LAST);
  store<u64>(cursor, key);
}

/**
 * Moves the cursor of an operand to the operand's first key that is at least `key`, unless it is there or
 * past it already.
 */
// @ts-ignore: decorator
@inline export function seekCursor(item: u32, key: u64): void {
  if (cursorKey(item) < key && !stepped(cursorAt(item), key)) moveCursor(item, key);
}

/**
 * Moves the cursor from before `key` to the next entry, where that is all there is to do, as it mostly is:
 * the cursor is that of an operand, and the entry lies in the same leaf, is not FULL, and does not come
 * before `key`. Otherwise returns false.
 */
// @ts-ignore: decorator
@inline export function stepped(cursor: usize, key: u64): bool {
  if (load<u32>(cursor, TERM)) return false;
  const place = load<u64>(cursor, PLACE);
  if (load<u64>(cursor, LAST) >= key) return false;
  right.select(load<u32>(cursor, OPERAND));
  if (isGroup(placeEntry(place))) return steppedInPacked(cursor, place, key);
  const next = nextInLeaf<Right>(place), entry = placeEntry(next);
  if (!next) return false;
  const s = entryShape<Right>(entry), first = entryKey<Right>(entry);
  if (first < key || shapeKind(s) == Kind.FULL) return false;
  store<u64>(cursor, s, SHAPE);
  store<u64>(cursor, next, PLACE);
  store<u64>(cursor, first, LAST);
  store<u64>(cursor, first);
  return true;
}

/**
 * stepped() in a packed leaf: the next group begins where the cursor's one ends. If that comes before `key`,
 * the cursor has moved there all the same.
 */
// @ts-ignore: decorator
@inline function steppedInPacked(cursor: usize, place: u64, key: u64): bool {
  const s = load<u64>(cursor, SHAPE), next = place + <u64>shapeCount(s) * GROUP_STEP;
  const most = membersInLeaf(next);
  if (!most) return false;
  const steps = cursor + STEP, first = stepKey(steps);
  setGroup(cursor, next, shapeAt(s) + arrayBytes(shapeCount(s)), stepOn<Right>(steps, most), first);
  return first >= key;
}

/** Moves the cursor of an operand from before `key` to the operand's first key that is at least `key`. */
export function moveCursor(item: u32, key: u64): void {
  const cursor = cursorAt(item);
  if (key <= load<u64>(cursor, LAST)) { store<u64>(cursor, key); return; }
  work.spend(LEAF_WORK);
  right.select(load<u32>(cursor, OPERAND));
  moveTo(cursor, seekFrom<Right>(load<u64>(cursor, PLACE), key), key);
}
