// Changing a packed leaf within its room: members go in and out, and its form and base follow.

import { Own } from "../../env/view";
import {
  copyMembers, pageCapacity, tightBytes, tightFormOfSome, widthFor, writeHeader, writeHigh,
} from "./begin";
import {
  BASED, LOW_BYTES, PACKED, WIDTH, baseOf, formBytes, formOf, headerBytes, high, highsAt, keyAt, lowAt,
  offsetAt, packedCount, setPackedCount, widthOf,
} from "./layout";

/**
 * Gives the leaf, within its room, another form and base that can hold its keys. No step takes more bytes
 * than the larger of the two forms.
 */
function reform(leaf: usize, form: u32, base: u64): void {
  const old = formOf<Own>(leaf), count = packedCount<Own>(leaf), was = widthOf(old), width = widthOf(form);
  const more = baseOf<Own>(leaf, old) - base, lows = LOW_BYTES * <usize>count;
  let highs = highsAt(leaf, old, count);
  if (width <= was) {
    for (let i: u32 = 0; i < count; i++) {
      writeHigh(highs + <usize>(i * width), width, high<Own>(highs + <usize>(i * was), was) + more);
    }
  }
  const kept = <usize>(count * min(was, width));
  if (headerBytes(form) != headerBytes(old)) {
    const bytes = lows + (width <= was ? kept : <usize>(count * was));
    memory.copy(lowAt(leaf, form, 0), lowAt(leaf, old, 0), bytes);
    highs = highsAt(leaf, form, count);
  }
  if (width > was) {
    for (let i = count; i; i--) {
      writeHigh(
        highs + <usize>((i - 1) * width), width, high<Own>(highs + <usize>((i - 1) * was), was) + more,
      );
    }
  }
  writeHeader(leaf, form, count, base);
}

/** The leaf's form once it holds `key`, too, if its base stays or, for a key below it, gets less. */
function formWith(leaf: usize, key: u64): u32 {
  const form = formOf<Own>(leaf), base = baseOf<Own>(leaf, form), count = packedCount<Own>(leaf);
  const range = key >= base ? key - base : keyAt<Own>(leaf, count - 1) - key;   // members, if it is below
  return (form & ~WIDTH) | max(widthOf(form), widthFor(range));
}

/** The page's free slots once a member with `key` is in. */
export function pageRoom(page: usize, key: u64): u32 {
  const count = packedCount<Own>(page), most = pageCapacity(formWith(page, key));
  return max(most, count) - count;
}

/** Bytes of the leaf, which is not empty, with another member of `key`. */
export function bytesWith(leaf: usize, key: u64): usize {
  return formBytes(formWith(leaf, key), packedCount<Own>(leaf) + 1);
}

/** Bytes of a tiny arena's leaf, which is not empty, with another member of `key`, in its tightest form. */
export function tightBytesWith(key: u64): usize {
  const count = packedCount<Own>(0);
  return tightBytes(min(key, keyAt<Own>(0, 0)), max(key, keyAt<Own>(0, count - 1)), count + 1);
}

/**
 * Gives a tiny arena's leaf, within its room, the form in which it takes least with another member of `key`.
 */
export function tighten(key: u64): void {
  const count = packedCount<Own>(0), first = min(key, keyAt<Own>(0, 0));
  const form = tightFormOfSome(first, max(key, keyAt<Own>(0, count - 1)), count + 1);
  reform(0, form, form & BASED ? first : 0);
}

/** Inserts the offset as member `index` of the leaf, which is not empty and has bytesWith() of room. */
export function insertMember(leaf: usize, index: u32, offset: u64): void {
  const key = offset >> 16, form = formWith(leaf, key), base = baseOf<Own>(leaf, form);
  if (key < base) reform(leaf, form, baseBelow(leaf, key, form));
  else if (form != formOf<Own>(leaf)) reform(leaf, form, base);
  openMember(leaf, form, index);
  const count = packedCount<Own>(leaf) + 1, width = widthOf(form);
  setPackedCount(leaf, count);
  store<u16>(lowAt(leaf, form, index), <u16>offset);
  writeHigh(highsAt(leaf, form, count) + <usize>(index * width), width, key - baseOf<Own>(leaf, form));
}

/** Moves apart what stands before and behind a new member `index`, in both columns. */
// @ts-ignore: decorator
@inline export function openMember(leaf: usize, form: u32, index: u32): void {
  const count = packedCount<Own>(leaf), width = widthOf(form), low = lowAt(leaf, form, index);
  const highs = highsAt(leaf, form, count), split = highs + <usize>(index * width);
  memory.copy(split + LOW_BYTES + width, split, <usize>((count - index) * width));
  memory.copy(low + LOW_BYTES, low, split - low);             // the rest of the lows, and the highs before
}

/**
 * A base for a key below the present one.
 * It leaves room on both sides, so that descending input does not move it each time.
 */
function baseBelow(leaf: usize, key: u64, form: u32): u64 {
  const range = keyAt<Own>(leaf, packedCount<Own>(leaf) - 1) - key;
  const most = ((<u64>1) << (8 * widthOf(form))) - 1;
  return key - min(key, (most - range) >> 1);
}

/** Removes members from .. to - 1. */
export function removeMembers(leaf: usize, from: u32, to: u32): void {
  const form = formOf<Own>(leaf), count = packedCount<Own>(leaf), left = count - (to - from);
  if (left == 1 && !(form & BASED)) { leaveOne(leaf, offsetAt<Own>(leaf, from ? 0 : to)); return; }
  const width = widthOf(form), low = lowAt(leaf, form, from), gone = low + LOW_BYTES * <usize>(to - from);
  const highs = highsAt(leaf, form, count), split = highs + <usize>(from * width);
  memory.copy(low, gone, split - gone);       // the rest of the lows, and the highs before
  memory.copy(split - (gone - low), highs + <usize>(to * width), <usize>((count - to) * width));
  setPackedCount(leaf, left);
}

/** Makes the offset the only member of the leaf. */
export function leaveOne(leaf: usize, offset: u64): void {
  const key = offset >> 16, form = PACKED | (key ? BASED : 0);
  writeHeader(leaf, form, 1, key);
  store<u16>(lowAt(leaf, form, 0), <u16>offset);
}

/** Gives a page the form and base that hold `key`, too. */
// @ts-ignore: decorator
@inline function includeKey(page: usize, key: u64): void {
  const form = formWith(page, key), base = baseOf<Own>(page, form);
  if (key < base) reform(page, form, baseBelow(page, key, form));
  else if (form != formOf<Own>(page)) reform(page, form, base);
}

/** Gives a page narrower highs if its own keys allow that. */
export function tightenPage(page: usize): void {
  const form = formOf<Own>(page), first = keyAt<Own>(page, 0);
  const last = keyAt<Own>(page, packedCount<Own>(page) - 1);
  if (widthFor(last - first) < widthOf(form)) reform(page, PACKED | BASED | widthFor(last - first), first);
}

/**
 * Appends members 0 .. to - 1 of the page `upper`, which are all greater, to the page, which has room for
 * them.
 */
export function appendMembers(page: usize, upper: usize, to: u32): void {
  includeKey(page, keyAt<Own>(upper, to - 1));
  const form = formOf<Own>(page), held = packedCount<Own>(page), all = held + to;
  memory.copy(highsAt(page, form, all), highsAt(page, form, held), <usize>(held * widthOf(form)));
  setPackedCount(page, all);
  copyMembers(page, held, upper, 0, to);
}

/** Puts the members of the page `lower` from `from` on, which are all less, before those of the page. */
export function prependMembers(page: usize, lower: usize, from: u32): void {
  const to = packedCount<Own>(lower);
  includeKey(page, keyAt<Own>(lower, from));
  const form = formOf<Own>(page), held = packedCount<Own>(page), all = held + to - from;
  const width = widthOf(form), low = lowAt(page, form, 0), highs = highsAt(page, form, all);
  memory.copy(highs + <usize>((to - from) * width), highsAt(page, form, held), <usize>(held * width));
  memory.copy(low + LOW_BYTES * <usize>(to - from), low, LOW_BYTES * <usize>held);
  setPackedCount(page, all);
  copyMembers(page, 0, lower, from, to);
}

/**
 * Moves all members of the page `upper` behind those of the page `lower`, whose offsets are all less,
 * if together they fill three quarters of a page at most. Returns whether it did.
 */
export function joinPages(lower: usize, upper: usize): bool {
  const held = packedCount<Own>(lower), more = packedCount<Own>(upper);
  const room = pageRoom(lower, keyAt<Own>(upper, more - 1));
  if ((held + more) * 4 > (held + room) * 3) return false;
  appendMembers(lower, upper, more);
  return true;
}
