// Lists the containers that a term's items have at the walk's key, for the folds. From the front on: the
// containers of operands,
//
//   +0   u64 shape     +8  u32 operand     +12 u32 entry: its address in the operand
//
// and from the back on the items that are terms: u32 item. Full containers are not listed but counted.

import { right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { Cursor } from "../walk/cursor";
import { Shape } from "../shape/shape";
import { Entry } from "../../arena/layout/entry";
import {
  LISTED_BYTES, firstItem, groupCount, groupEnd, groupKeyAt, groupStart, itemCount, listAt, listedAt,
  termFound,
} from "./term";

/** How much was found, in one number: containers in the list, full ones, and terms. */
type Found = u64;

// @ts-ignore: decorator
@inline export const NOTHING_FOUND: Found = 0;

// @ts-ignore: decorator
@inline const FULL_SHIFT: u64 = 20;
// @ts-ignore: decorator
@inline const TERMS_SHIFT: u64 = 40;
/** No term has more items. */
// @ts-ignore: decorator
@inline const FOUND_MAX: u64 = (1 << FULL_SHIFT) - 1;

/** Containers in the list. */
// @ts-ignore: decorator
@inline export function foundContainers(found: Found): u32 { return <u32>(found & FOUND_MAX); }
// @ts-ignore: decorator
@inline export function foundFull(found: Found): u32 { return <u32>((found >> FULL_SHIFT) & FOUND_MAX); }
// @ts-ignore: decorator
@inline export function foundTerms(found: Found): u32 { return <u32>(found >> TERMS_SHIFT); }

/**
 * Adds item `i`, whose cursor is at `cursor`, to the list that begins at `list` and ends at `back`. Returns
 * how much is listed then.
 */
// @ts-ignore: decorator
@inline export function listItem(list: usize, back: usize, found: Found, i: u32, cursor: Cursor): Found {
  const s = cursor.shape();                  // the cursor's end first: one bounds check is enough
  if (cursor.term()) {
    store<u32>(back - (<usize>foundTerms(found) + 1) * LISTED_BYTES, i);
    return found + ((<u64>1) << TERMS_SHIFT);
  }
  if (Shape.kind(s) == Kind.FULL) return found + ((<u64>1) << FULL_SHIFT);
  const out = listedAt(list, foundContainers(found));
  store<u32>(out, <u32>changetype<usize>(cursor.entry()), 12);
  store<u32>(out, cursor.operand(), 8);
  store<u64>(out, s);
  return found + 1;
}

/** Address of the end of the term's list, until the arena grows. */
// @ts-ignore: decorator
@inline export function listEnd(term: u32): usize { return listedAt(listAt(term), itemCount(term)); }

/**
 * What the items have at `key` that can be grouped: listed by seekRest() or seekAny() unless they are in
 * groups.
 */
// @ts-ignore: decorator
@inline export function groupedFound(term: u32, key: u64): Found {
  return groupCount(term) ? listGroups(term, key) : termFound(term);
}

/** Lists what the items of the groups have at `key`. */
function listGroups(term: u32, key: u64): Found {
  let found = NOTHING_FOUND;
  for (let group: u32 = 0, groups = groupCount(term); group < groups; group++) {
    if (load<u64>(groupKeyAt(term, group)) != key) continue;
    const start = groupStart(term, group);
    found = listRange(term, start, groupEnd(term, start), key, found);
  }
  return found;
}

/** Lists what the term's first items, up to `end`, have at `key`. */
// @ts-ignore: decorator
@inline export function firstFound(term: u32, end: u32, key: u64): Found {
  return listRange(term, firstItem(term), end, key, NOTHING_FOUND);
}

// @ts-ignore: decorator
@inline function listRange(term: u32, from: u32, to: u32, key: u64, found: Found): Found {
  const list = listAt(term), back = listEnd(term), end = Cursor.of(to);
  for (let i = from, cursor = Cursor.of(i); changetype<usize>(cursor) > changetype<usize>(end); cursor = changetype<Cursor>(changetype<usize>(cursor) - Cursor.BYTES), i++) {
    if (cursor.key() == key) found = listItem(list, back, found, i, cursor);
  }
  return found;
}

/** The item that is the term's `index`th listed term. */
// @ts-ignore: decorator
@inline export function listedTerm(term: u32, index: u32): u32 {
  return load<u32>(listedAt(listAt(term), itemCount(term) - 1 - index));
}
// @ts-ignore: decorator
@inline export function listedShape(list: usize, index: u32): u64 { return load<u64>(listedAt(list, index)); }
// @ts-ignore: decorator
@inline export function listedKind(list: usize, index: u32): Kind {
  return Shape.kind(listedShape(list, index));
}
// @ts-ignore: decorator
@inline export function listedCount(list: usize, index: u32): u32 {
  return Shape.count(listedShape(list, index));
}
// @ts-ignore: decorator
@inline export function listedOperand(list: usize, index: u32): u32 {
  return load<u32>(listedAt(list, index), 8);
}
// @ts-ignore: decorator
@inline export function listedEntry(list: usize, index: u32): Entry {
  return changetype<Entry>(load<u32>(listedAt(list, index), 12));
}
/** Makes element `index` the first of the list, and the first one element `index`. */
// @ts-ignore: decorator
@inline export function moveToFront(list: usize, index: u32): void {
  const at = listedAt(list, index), first = v128.load(list);
  v128.store(list, v128.load(at));
  v128.store(at, first);
}

/** Shows the operand of the list's element `index` on the right; returns the shape. */
// @ts-ignore: decorator
@inline export function showListed(list: usize, index: u32): u64 {
  right.select(listedOperand(list, index));
  return listedShape(list, index);
}
