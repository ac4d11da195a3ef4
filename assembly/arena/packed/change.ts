// Changing a packed leaf within its room: members go in and out, and its form and base follow.

import { Own } from "../../env/view";
import { PageWriter, copyMembers } from "./begin";
import { Page } from "./layout";

/**
 * Gives the leaf, within its room, another form and base that can hold its keys. No step takes more bytes
 * than the larger of the two forms.
 */
function reform(leaf: Page, form: u32, base: u64): void {
  const old = leaf.form<Own>(), count = leaf.count<Own>(), was = Page.widthOf(old),
    width = Page.widthOf(form);
  const more = leaf.base<Own>(old) - base, lows = Page.LOW_BYTES * <usize>count;
  let highs = leaf.highsAt(old, count);
  if (width <= was) {
    for (let i: u32 = 0; i < count; i++) {
      PageWriter.writeHigh(highs + <usize>(i * width), width,
        Page.high<Own>(highs + <usize>(i * was), was) + more);
    }
  }
  const kept = <usize>(count * min(was, width));
  if (Page.headerBytes(form) != Page.headerBytes(old)) {
    const bytes = lows + (width <= was ? kept : <usize>(count * was));
    memory.copy(leaf.lowAt(form, 0), leaf.lowAt(old, 0), bytes);
    highs = leaf.highsAt(form, count);
  }
  if (width > was) {
    for (let i = count; i; i--) {
      PageWriter.writeHigh(highs + <usize>((i - 1) * width), width,
        Page.high<Own>(highs + <usize>((i - 1) * was), was) + more);
    }
  }
  PageWriter.writeHeader(leaf, form, count, base);
}

/** The leaf's form once it holds `key`, too. The base stays, or is lowered for a key below it. */
function formWith(leaf: Page, key: u64): u32 {
  const form = leaf.form<Own>(), base = leaf.base<Own>(form), count = leaf.count<Own>();
  const range = key >= base ? key - base : leaf.keyAt<Own>(count - 1) - key;   // members, if it is below
  return (form & ~Page.WIDTH) | max(Page.widthOf(form), PageWriter.widthFor(range));
}

/** The page's free slots once a member with `key` is in. */
export function pageRoom(page: Page, key: u64): u32 {
  const count = page.count<Own>(), most = PageWriter.pageCapacity(formWith(page, key));
  return max(most, count) - count;
}

/** Bytes of the leaf, which is not empty, with another member of `key`. */
export function bytesWith(leaf: Page, key: u64): usize {
  return Page.formBytes(formWith(leaf, key), leaf.count<Own>() + 1);
}

/** Bytes of a tiny arena's leaf, which is not empty, with another member of `key`, in its tightest form. */
export function tightBytesWith(key: u64): usize {
  const count = changetype<Page>(0).count<Own>();
  return PageWriter.tightBytes(min(key, changetype<Page>(0).keyAt<Own>(0)),
    max(key, changetype<Page>(0).keyAt<Own>(count - 1)), count + 1);
}

/**
 * Gives a tiny arena's leaf, within its room, the form in which it takes least with another member of `key`.
 */
export function tighten(key: u64): void {
  const count = changetype<Page>(0).count<Own>(), first = min(key, changetype<Page>(0).keyAt<Own>(0));
  const form = PageWriter.tightFormOfSome(first, max(key, changetype<Page>(0).keyAt<Own>(count - 1)),
    count + 1);
  reform(changetype<Page>(0), form, form & Page.BASED ? first : 0);
}

/** Inserts the offset as member `index` of the leaf, which is not empty and has bytesWith() of room. */
export function insertMember(leaf: Page, index: u32, offset: u64): void {
  const key = offset >> 16, form = formWith(leaf, key), base = leaf.base<Own>(form);
  if (key < base) reform(leaf, form, baseBelow(leaf, key, form));
  else if (form != leaf.form<Own>()) reform(leaf, form, base);
  openMember(leaf, form, index);
  const count = leaf.count<Own>() + 1, width = Page.widthOf(form);
  leaf.setCount(count);
  store<u16>(leaf.lowAt(form, index), <u16>offset);
  PageWriter.writeHigh(leaf.highsAt(form, count) + <usize>(index * width), width, key - leaf.base<Own>(form));
}

/** Moves apart what stands before and behind a new member `index`, in both columns. */
// @ts-ignore: decorator
@inline export function openMember(leaf: Page, form: u32, index: u32): void {
  const count = leaf.count<Own>(), width = Page.widthOf(form), low = leaf.lowAt(form, index);
  const highs = leaf.highsAt(form, count), split = highs + <usize>(index * width);
  memory.copy(split + Page.LOW_BYTES + width, split, <usize>((count - index) * width));
  memory.copy(low + Page.LOW_BYTES, low, split - low);
  // the rest of the lows, and the highs before
}

/**
 * A base for a key below the present one.
 * It leaves room on both sides, so that descending input does not move it each time.
 */
function baseBelow(leaf: Page, key: u64, form: u32): u64 {
  const range = leaf.keyAt<Own>(leaf.count<Own>() - 1) - key;
  const most = ((<u64>1) << (8 * Page.widthOf(form))) - 1;
  return key - min(key, (most - range) >> 1);
}

/** Removes members from .. to - 1. */
export function removeMembers(leaf: Page, from: u32, to: u32): void {
  const form = leaf.form<Own>(), count = leaf.count<Own>(), left = count - (to - from);
  if (left == 1 && !(form & Page.BASED)) { leaveOne(leaf, leaf.offsetAt<Own>(from ? 0 : to)); return; }
  const width = Page.widthOf(form), low = leaf.lowAt(form, from),
    gone = low + Page.LOW_BYTES * <usize>(to - from);
  const highs = leaf.highsAt(form, count), split = highs + <usize>(from * width);
  memory.copy(low, gone, split - gone);       // the rest of the lows, and the highs before
  memory.copy(split - (gone - low), highs + <usize>(to * width), <usize>((count - to) * width));
  leaf.setCount(left);
}

/** Makes the offset the only member of the leaf. */
export function leaveOne(leaf: Page, offset: u64): void {
  const key = offset >> 16, form = Page.PACKED | (key ? Page.BASED : 0);
  PageWriter.writeHeader(leaf, form, 1, key);
  store<u16>(leaf.lowAt(form, 0), <u16>offset);
}

/** Gives a page the form and base that hold `key`, too. */
// @ts-ignore: decorator
@inline function includeKey(page: Page, key: u64): void {
  const form = formWith(page, key), base = page.base<Own>(form);
  if (key < base) reform(page, form, baseBelow(page, key, form));
  else if (form != page.form<Own>()) reform(page, form, base);
}

/** Gives a page narrower highs if its own keys allow that. */
export function tightenPage(page: Page): void {
  const form = page.form<Own>(), first = page.keyAt<Own>(0);
  const last = page.keyAt<Own>(page.count<Own>() - 1);
  if (PageWriter.widthFor(last - first) < Page.widthOf(form)) {
    reform(page, Page.PACKED | Page.BASED | PageWriter.widthFor(last - first), first);
  }
}

/**
 * Appends members 0 .. to - 1 of the page `upper`, which are all greater, to the page. It has room for them.
 */
export function appendMembers(page: Page, upper: Page, to: u32): void {
  includeKey(page, upper.keyAt<Own>(to - 1));
  const form = page.form<Own>(), held = page.count<Own>(), all = held + to;
  memory.copy(page.highsAt(form, all), page.highsAt(form, held), <usize>(held * Page.widthOf(form)));
  page.setCount(all);
  copyMembers(page, held, upper, 0, to);
}

/**
 * Puts the members of the page `lower` from member `from` on, which are all less, before those of the page.
 */
export function prependMembers(page: Page, lower: Page, from: u32): void {
  const to = lower.count<Own>();
  includeKey(page, lower.keyAt<Own>(from));
  const form = page.form<Own>(), held = page.count<Own>(), all = held + to - from;
  const width = Page.widthOf(form), low = page.lowAt(form, 0), highs = page.highsAt(form, all);
  memory.copy(highs + <usize>((to - from) * width), page.highsAt(form, held), <usize>(held * width));
  memory.copy(low + Page.LOW_BYTES * <usize>(to - from), low, Page.LOW_BYTES * <usize>held);
  page.setCount(all);
  copyMembers(page, 0, lower, from, to);
}

/**
 * Moves all members of the page `upper` behind those of the page `lower`, whose offsets are all less,
 * if together they fill three quarters of a page at most. Returns whether it did.
 */
export function joinPages(lower: Page, upper: Page): bool {
  const held = lower.count<Own>(), more = upper.count<Own>();
  const room = pageRoom(lower, upper.keyAt<Own>(more - 1));
  if ((held + more) * 4 > (held + room) * 3) return false;
  appendMembers(lower, upper, more);
  return true;
}
