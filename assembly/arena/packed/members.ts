// Single members of a packed leaf: where an offset is, or how many members come before it.

import { Own, view16 } from "../../env/view";
import { groupEnd, startBefore } from "./groups";
import { Page } from "./layout";
import { farMembersUpTo, membersBeforeKey } from "./search";

/** How many members of the leaf come before `offset`. */
export function membersBelow<M>(leaf: Page, offset: u64): u32 {
  const key = offset >> 16, low = <u32>offset & 0xffff, from = membersBeforeKey<M>(leaf, key);
  if (from == leaf.count<M>() || leaf.keyAt<M>(from) != key) return from;
  return lowsBelow<M>(leaf, from, groupEnd<M>(leaf, from), low);
}

/** The index, in from .. to, of the first of the leaf's lows from .. to - 1 that is at least `low`. */
// @ts-ignore: decorator
@inline export function lowsBelow<M>(leaf: Page, from: u32, to: u32, low: u32): u32 {
  const lows = leaf.lowAt(leaf.form<M>(), 0);
  while (from < to) {
    const middle = (from + to) >> 1;
    if (view16<M>(lows + Page.LOW_BYTES * <usize>middle, 0) < low) from = middle + 1; else to = middle;
  }
  return from;
}

/** memberIndex()'s answer where there is no such member. */
// @ts-ignore: decorator
@inline export const NO_MEMBER: u32 = u32.MAX_VALUE;

/** The index of the offset among the leaf's members, or NO_MEMBER. */
export function memberIndex(leaf: Page, offset: u64): u32 {
  const key = offset >> 16, upTo = farMembersUpTo(leaf, key);
  return upTo ? indexBelow(leaf, upTo, key, <u32>offset & 0xffff) : NO_MEMBER;
}

/** memberIndex() where the leaf has `upTo` members, at least one, with keys up to `key`. */
// @ts-ignore: decorator
@inline function indexBelow(leaf: Page, upTo: u32, key: u64, low: u32): u32 {
  const header = leaf.header<Own>(), width = Page.widthIn(header), mine = key - leaf.baseIn<Own>(header);
  const lows = leaf.lowsIn(header);
  let at = leaf.highsIn(header) + <usize>(upTo * width), index = upTo;
  // The member is mostly one of the greatest of its group.
  for (const end = max<i32>(<i32>upTo - <i32>Page.SMALL, 0); index > <u32>end; index--) {
    at -= width;
    if (Page.high<Own>(at, width) != mine) return NO_MEMBER;
    const member: u32 = load<u16>(lows + Page.LOW_BYTES * <usize>(index - 1));
    if (member <= low) return member == low ? index - 1 : NO_MEMBER;
  }
  if (!index) return NO_MEMBER;
  const found = lowsBelow<Own>(leaf, startBefore<Own>(leaf, upTo), upTo, low);
  return load<u16>(lows + Page.LOW_BYTES * <usize>found) == low ? found : NO_MEMBER;
}
