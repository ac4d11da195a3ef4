// Cursors: where a walk is in each operand's directory. They are kept in the builder's scratch at the arena's very end, the first one last:
//
//   +0   u64 key, NO_KEY once the operand has no more entries
//   +8   u64 last key that the entry covers
//   +16  u64 place of the entry in the operand (arena/directory.ts)
//
// A FULL entry may be walked in parts: then `key` is inside it.

import { arena, right } from "../env/memory";
import { Right } from "../env/view";
import { entryKey, entryLastKey } from "../arena/entry";
import { seek, seekFrom, advance, placeEntry } from "../arena/directory";

// @ts-ignore: decorator
@inline export const CURSOR_BYTES: usize = 24;
/** Greater than every key. */
// @ts-ignore: decorator
@inline export const NO_KEY: u64 = 0xffffffffffffffff;

// @ts-ignore: decorator
@inline function cursorAt(operand: u32): usize { return <usize>arena.size() - (<usize>operand + 1) * CURSOR_BYTES; }
// @ts-ignore: decorator
@inline export function cursorKey(operand: u32): u64 { return load<u64>(cursorAt(operand)); }
// @ts-ignore: decorator
@inline export function cursorLastKey(operand: u32): u64 { return load<u64>(cursorAt(operand), 8); }
/** The entry that the cursor is at: an address in its operand. */
// @ts-ignore: decorator
@inline export function cursorEntry(operand: u32): usize { return placeEntry(load<u64>(cursorAt(operand), 16)); }

/** Puts the operand's cursor at the operand's first entry. */
export function openCursor(operand: u32): void {
  right.select(operand);
  moveTo(cursorAt(operand), seek<Right>(0));
}

/** Puts the cursor past the last entry. */
export function closeCursor(operand: u32): void { store<u64>(cursorAt(operand), NO_KEY); }

// @ts-ignore: decorator
@inline function moveTo(cursor: usize, place: u64): void {
  if (!place) { store<u64>(cursor, NO_KEY); return; }
  const entry = placeEntry(place);
  store<u64>(cursor, entryKey<Right>(entry));
  store<u64>(cursor, entryLastKey<Right>(entry), 8);
  store<u64>(cursor, place, 16);
}

/** Moves the cursor to the operand's first key that is at least `key`, unless it is there or past it already. */
export function seekCursor(operand: u32, key: u64): void {
  const cursor = cursorAt(operand);
  if (load<u64>(cursor) >= key) return;
  if (key <= load<u64>(cursor, 8)) { store<u64>(cursor, key); return; }
  right.select(operand);
  moveTo(cursor, seekFrom<Right>(load<u64>(cursor, 16), key));
  if (load<u64>(cursor) < key) store<u64>(cursor, key);       // inside a FULL entry
}

/** Moves the cursor past `last`. */
export function passCursor(operand: u32, last: u64): void {
  const cursor = cursorAt(operand);
  if (load<u64>(cursor) > last) return;
  if (last < load<u64>(cursor, 8)) { store<u64>(cursor, last + 1); return; }
  right.select(operand);
  moveTo(cursor, advance<Right>(load<u64>(cursor, 16)));
}
