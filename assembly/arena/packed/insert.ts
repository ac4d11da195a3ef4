// Inserting an offset in a packed leaf where nothing but the leaf changes.

import { Own } from "../../env/view";
import { Choice } from "../../container/kind";
import { PageWriter } from "./begin";
import { openMember } from "./change";
import { PageGroups } from "./groups";
import { Page } from "./layout";
import { PageMembers } from "./members";
import { PageSearch } from "./search";

/**
 * The effect of PageInsert.insert(): nothing, because the offset was there; added to a group; added as a group
 * of its own; or nothing, because more than the leaf would have to change.
 */
export const enum Inserted { PRESENT, ADDED, ADDED_GROUP, NOT_HERE }

/** Inserts members into packed leaves that have room. */
export abstract class PageInsert {
  /**
   * Inserts the offset if nothing but the leaf changes: the leaf has room, its base and width fit, and the
   * container stays a group. The leaf may take `bytes` bytes and have `most` members.
   */
  @inline static insert(leaf: Page, offset: u64, bytes: usize, most: u32): Inserted {
    const key = offset >> 16, low = <u32>offset & 0xffff, upTo = PageSearch.farMembersUpTo(leaf, key);
    const header = leaf.header<Own>(), width = Page.widthIn(header), count = Page.countIn(header);
    const form = header >> 8 & 0xff;
    const mine = key - leaf.baseIn<Own>(header);
    if (!upTo || PageWriter.widthFor(mine) > width) return Inserted.NOT_HERE;
    const isNew = Page.high<Own>(leaf.highsIn(header) + <usize>((upTo - 1) * width), width) != mine;
    let index = upTo;
    if (!isNew) {
      index = PageInsert.indexIn(leaf, header, upTo, mine, low);
      if (index == PageMembers.NONE) return Inserted.PRESENT;
      if (!PageInsert.staysHere(leaf, header, upTo, mine, low)) return Inserted.NOT_HERE;
    }
    if (count >= most || Page.formBytes(form, count + 1) > bytes) return Inserted.NOT_HERE;
    openMember(leaf, form, index);
    leaf.setCount(count + 1);
    store<u16>(leaf.lowAt(form, index), <u16>low);
    PageWriter.writeHigh(leaf.highsAt(form, count + 1) + <usize>(index * width), width, mine);
    return isNew ? Inserted.ADDED_GROUP : Inserted.ADDED;
  }

  /**
   * Where the member `low` belongs in the group that ends before member `upTo`; PageMembers.NONE if it is
   * there.
   */
  @inline private static indexIn(leaf: Page, header: u32, upTo: u32, mine: u64, low: u32): u32 {
    const width = Page.widthIn(header), lows = leaf.lowsIn(header);
    let at = leaf.highsIn(header) + <usize>((upTo - 1) * width), index = upTo;
    for (let step: u32 = 0; step < Page.SMALL; step++) {
      const member: u32 = load<u16>(lows + Page.LOW_BYTES * <usize>(index - 1));
      if (member <= low) return member == low ? PageMembers.NONE : index;
      index--;
      at -= width;
      if (!index || Page.high<Own>(at, width) != mine) return index;
    }
    index = PageMembers.lowsBelow<Own>(leaf, PageGroups.startBefore<Own>(leaf, upTo), upTo, low);
    return load<u16>(lows + Page.LOW_BYTES * <usize>index) == low ? PageMembers.NONE : index;
  }

  /**
   * Whether the group that ends before member `upTo` stays one with the member `low`. False for the only
   * container of a tiny arena if it may become a short bitset.
   */
  @inline private static staysHere(leaf: Page, header: u32, upTo: u32, mine: u64, low: u32): bool {
    const width = Page.widthIn(header), highs = leaf.highsIn(header), count = Page.countIn(header);
    if (upTo < Choice.MEMBERS_A_WORD) return true;
    if (!leaf) {
      return count & (Choice.MEMBERS_A_WORD - 1) || upTo < count || Page.high<Own>(highs, width) != mine;
    }
    return Page.high<Own>(highs + <usize>((upTo - Choice.MEMBERS_A_WORD) * width), width) != mine
      || PageInsert.staysGroup(leaf, PageGroups.startBefore<Own>(leaf, upTo), upTo, low);
  }

  /**
   * Whether the group of members from .. to - 1 of a page stays one with the member `low`:
   * it is small, and a short bitset would not take less.
   */
  @inline static staysGroup(leaf: Page, from: u32, to: u32, low: u32): bool {
    const count = to - from;
    if (count >= PageGroups.MAX) return false;
    if (count < Choice.MEMBERS_A_WORD || count & (Choice.MEMBERS_A_WORD - 1)) return true;
    const least: u32 = load<u16>(leaf.lowsFrom<Own>(from)), most: u32 = load<u16>(leaf.lowsFrom<Own>(to - 1));
    return !Choice.prefersShort(count + 1, Choice.wordsBetween(min(least, low), max(most, low)));
  }
}
