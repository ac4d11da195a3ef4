// Cursors: where a walk is in each item of a combination. An item is an operand or the result of a term (term.ts). Cursors are kept in the
// builder's scratch at the arena's very end, the first one last:
//
//   +0   u64 key, NO_KEY once nothing is left: the least key that the walk has not passed and at which the item can have members
//   +8   u64 last key up to which the item stays as it is at `key`. Beyond `key` only if it is full at all of these keys, or at none
//   +16  u64 place of the entry in the operand (arena/directory.ts); of operands only
//   +24  u32 operand
//   +28  u32 term, 0 if the item is an operand
//
// A FULL entry may be walked in parts: then `key` is inside it.

import { arena, right } from "../env/memory";
import { Right } from "../env/view";
import { entryKey, keyOf, plainKey, plainSpan } from "../arena/entry";
import { isItem, itemOffset } from "../arena/packed";
import { advance, isLastOfLeaf, placeEntry, seek, seekFrom } from "../arena/directory";

// @ts-ignore: decorator
@inline export const CURSOR_BYTES: usize = 32;
/** Greater than every key. */
// @ts-ignore: decorator
@inline export const NO_KEY: u64 = 0xffffffffffffffff;

// @ts-ignore: decorator
@inline const LAST: u32 = 8;
// @ts-ignore: decorator
@inline const PLACE: u32 = 16;
// @ts-ignore: decorator
@inline const OPERAND: u32 = 24;
// @ts-ignore: decorator
@inline const TERM: u32 = 28;

// @ts-ignore: decorator
@inline function cursorAt(item: u32): usize { return <usize>arena.size() - (<usize>item + 1) * CURSOR_BYTES; }
// @ts-ignore: decorator
@inline export function cursorKey(item: u32): u64 { return load<u64>(cursorAt(item)); }
// @ts-ignore: decorator
@inline export function cursorLastKey(item: u32): u64 { return load<u64>(cursorAt(item), LAST); }
/** The entry that the cursor is at: an address in its operand. */
// @ts-ignore: decorator
@inline export function cursorEntry(item: u32): usize { return placeEntry(load<u64>(cursorAt(item), PLACE)); }
// @ts-ignore: decorator
@inline export function cursorOperand(item: u32): u32 { return load<u32>(cursorAt(item), OPERAND); }
// @ts-ignore: decorator
@inline export function cursorTerm(item: u32): u32 { return load<u32>(cursorAt(item), TERM); }

/** Puts the item's cursor at the first entry of the operand that covers `key` or a greater key. */
export function openCursor(item: u32, operand: u32, key: u64): void {
  const cursor = cursorAt(item);
  store<u32>(cursor, operand, OPERAND);
  store<u32>(cursor, 0, TERM);
  right.select(operand);
  moveTo(cursor, seek<Right>(key), key);
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
@inline export function copyCursor(to: u32, from: u32): void { memory.copy(cursorAt(to), cursorAt(from), CURSOR_BYTES); }

/** Puts the cursor at an entry, or inside it if it covers `key`. */
// @ts-ignore: decorator
@inline function moveTo(cursor: usize, place: u64, key: u64): void {
  if (!place) { store<u64>(cursor, NO_KEY); return; }
  const entry = placeEntry(place);
  if (isItem(entry)) {
    const at = keyOf(itemOffset<Right>(entry));
    store<u64>(cursor, at);
    store<u64>(cursor, at, LAST);
  } else {
    store<u64>(cursor, max(plainKey<Right>(entry), key));
    store<u64>(cursor, plainKey<Right>(entry) + plainSpan<Right>(entry) - 1, LAST);
  }
  store<u64>(cursor, place, PLACE);
}

/** Moves the cursor of an operand to the operand's first key that is at least `key`, unless it is there or past it already. */
// @ts-ignore: decorator
@inline export function seekCursor(item: u32, key: u64): void { if (cursorKey(item) < key) moveCursor(item, key); }

/** The same for a cursor that is before `key`. */
export function moveCursor(item: u32, key: u64): void {
  const cursor = cursorAt(item);
  if (key <= load<u64>(cursor, LAST)) { store<u64>(cursor, key); return; }
  const place = load<u64>(cursor, PLACE);
  right.select(load<u32>(cursor, OPERAND));
  if (!isLastOfLeaf(place)) {                 // mostly it is the next entry
    const next = advance<Right>(place);
    if (entryKey<Right>(placeEntry(next)) >= key) { moveTo(cursor, next, key); return; }
  }
  moveTo(cursor, seekFrom<Right>(place, key), key);
}
