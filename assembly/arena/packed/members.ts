// Single members of a packed leaf: where an offset is, or how many members come before it.

import { Memory, Own, view16 } from "../../env/view";
import { PageGroups } from "./groups";
import { Page } from "./layout";
import { PageSearch } from "./search";

/** Finds members in packed leaves. */
export abstract class PageMembers {
  /** PageMembers.index() of an offset that is not a member. */
  @inline static readonly NONE: u32 = u32.MAX_VALUE;

  /** How many members of the leaf come before `offset`. */
  static below<M extends Memory>(leaf: Page, offset: u64): u32 {
    const key = offset >> 16, low = <u32>offset & 0xffff, from = PageSearch.membersBeforeKey<M>(leaf, key);
    if (from == leaf.count<M>() || leaf.keyAt<M>(from) != key) return from;
    return PageMembers.lowsBelow<M>(leaf, from, PageGroups.end<M>(leaf, from), low);
  }

  /** The index, in from .. to, of the first of the leaf's lows from .. to - 1 that is at least `low`. */
  @inline static lowsBelow<M extends Memory>(leaf: Page, from: u32, to: u32, low: u32): u32 {
    const lows = leaf.lowAt(leaf.form<M>(), 0);
    while (from < to) {
      const middle = (from + to) >> 1;
      if (view16<M>(lows + Page.LOW_BYTES * <usize>middle, 0) < low) from = middle + 1; else to = middle;
    }
    return from;
  }

  /** The index of the offset among the leaf's members, or NONE. */
  static index(leaf: Page, offset: u64): u32 {
    const key = offset >> 16, upTo = PageSearch.farMembersUpTo(leaf, key);
    return upTo ? PageMembers.indexBelow(leaf, upTo, key, <u32>offset & 0xffff) : PageMembers.NONE;
  }

  /** PageMembers.index() where the leaf has `upTo` members, at least one, with keys up to `key`. */
  @inline private static indexBelow(leaf: Page, upTo: u32, key: u64, low: u32): u32 {
    const header = leaf.header<Own>(), width = Page.widthIn(header), mine = key - leaf.baseIn<Own>(header);
    const lows = leaf.lowsIn(header);
    let at = leaf.highsIn(header) + <usize>(upTo * width), index = upTo;
    // The member is usually one of the greatest of its group.
    for (const end = max<i32>(<i32>upTo - <i32>Page.SMALL, 0); index > <u32>end; index--) {
      at -= width;
      if (Page.high<Own>(at, width) != mine) return PageMembers.NONE;
      const member: u32 = load<u16>(lows + Page.LOW_BYTES * <usize>(index - 1));
      if (member <= low) return member == low ? index - 1 : PageMembers.NONE;
    }
    if (!index) return PageMembers.NONE;
    const found = PageMembers.lowsBelow<Own>(leaf, PageGroups.startBefore<Own>(leaf, upTo), upTo, low);
    return load<u16>(lows + Page.LOW_BYTES * <usize>found) == low ? found : PageMembers.NONE;
  }
}
