// Inserting an offset in a packed leaf where nothing but the leaf changes.

import { Own } from "../../env/view";
import { prefersShort, wordsBetween, MEMBERS_A_WORD } from "../../container/kind";
import { widthFor, writeHigh } from "./begin";
import { openMember } from "./change";
import { GROUP_MAX, startBefore } from "./groups";
import {
  LOW_BYTES, SMALL, baseIn, countIn, formBytes, headerOf, high, highsAt, highsIn, lowAt, lowsFrom, lowsIn,
  setPackedCount, widthIn,
} from "./layout";
import { NO_MEMBER, lowsBelow } from "./members";
import { farMembersUpTo } from "./search";

/**
 * The effect of insertInLeaf(): none, because the offset was there; added to a group; added as a group of its
 * own; or none, because more than the leaf would change.
 */
export const enum Inserted { PRESENT, ADDED, ADDED_GROUP, NOT_HERE }

/**
 * Inserts the offset in a packed leaf, where that is all there is to do: it has room, base and width fit, and
 * the container stays a group. `bytes` is what the leaf may take, `most` how many members it may have.
 */
// @ts-ignore: decorator
@inline export function insertInLeaf(leaf: usize, offset: u64, bytes: usize, most: u32): Inserted {
  const key = offset >> 16, low = <u32>offset & 0xffff, upTo = farMembersUpTo(leaf, key);
  const header = headerOf<Own>(leaf), width = widthIn(header), count = countIn(header);
  const form = header >> 8 & 0xff;
  const mine = key - baseIn<Own>(leaf, header);
  if (!upTo || widthFor(mine) > width) return Inserted.NOT_HERE;
  const isNew = high<Own>(highsIn(leaf, header) + <usize>((upTo - 1) * width), width) != mine;
  let index = upTo;
  if (!isNew) {
    index = indexIn(leaf, header, upTo, mine, low);
    if (index == NO_MEMBER) return Inserted.PRESENT;
    if (!staysHere(leaf, header, upTo, mine, low)) return Inserted.NOT_HERE;
  }
  if (count >= most || formBytes(form, count + 1) > bytes) return Inserted.NOT_HERE;
  openMember(leaf, form, index);
  setPackedCount(leaf, count + 1);
  store<u16>(lowAt(leaf, form, index), <u16>low);
  writeHigh(highsAt(leaf, form, count + 1) + <usize>(index * width), width, mine);
  return isNew ? Inserted.ADDED_GROUP : Inserted.ADDED;
}

/** Where the member `low` belongs in the group that ends before member `upTo`; NO_MEMBER if it is there. */
// @ts-ignore: decorator
@inline function indexIn(leaf: usize, header: u32, upTo: u32, mine: u64, low: u32): u32 {
  const width = widthIn(header), lows = lowsIn(leaf, header);
  let at = highsIn(leaf, header) + <usize>((upTo - 1) * width), index = upTo;
  for (let step: u32 = 0; step < SMALL; step++) {
    const member: u32 = load<u16>(lows + LOW_BYTES * <usize>(index - 1));
    if (member <= low) return member == low ? NO_MEMBER : index;
    index--;
    at -= width;
    if (!index || high<Own>(at, width) != mine) return index;
  }
  index = lowsBelow<Own>(leaf, startBefore<Own>(leaf, upTo), upTo, low);
  return load<u16>(lows + LOW_BYTES * <usize>index) == low ? NO_MEMBER : index;
}

/**
 * Whether the group that ends before member `upTo` stays one with the member `low`. In a tiny arena a
 * container that is alone is not answered for where it may become a short bitset.
 */
// @ts-ignore: decorator
@inline function staysHere(leaf: usize, header: u32, upTo: u32, mine: u64, low: u32): bool {
  const width = widthIn(header), highs = highsIn(leaf, header), count = countIn(header);
  if (upTo < MEMBERS_A_WORD) return true;
  if (!leaf) return count & (MEMBERS_A_WORD - 1) || upTo < count || high<Own>(highs, width) != mine;
  return high<Own>(highs + <usize>((upTo - MEMBERS_A_WORD) * width), width) != mine
    || staysGroup(leaf, startBefore<Own>(leaf, upTo), upTo, low);
}

/**
 * Whether the group of members from .. to - 1 of a page stays one with the member `low`:
 * it is small, and a short bitset would not take less.
 */
// @ts-ignore: decorator
@inline export function staysGroup(leaf: usize, from: u32, to: u32, low: u32): bool {
  const count = to - from;
  if (count >= GROUP_MAX) return false;
  if (count < MEMBERS_A_WORD || count & (MEMBERS_A_WORD - 1)) return true;
  const least: u32 = load<u16>(lowsFrom<Own>(leaf, from)), most: u32 = load<u16>(lowsFrom<Own>(leaf, to - 1));
  return !prefersShort(count + 1, wordsBetween(min(least, low), max(most, low)));
}
