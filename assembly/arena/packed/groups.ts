// The groups of a packed leaf: where they begin and end, and how many there are.

import { Memory, Own } from "../../env/view";
import { PageWriter } from "./begin";
import { Group, Page } from "./layout";
import { PageSearch } from "./search";

/** Finds and counts the groups of packed leaves. */
export abstract class PageGroups {
  /** To find the end of a group, this many members behind the first one are compared one by one. */
  @inline private static readonly END_STEPS: u32 = 2;
  /** The most members of a group in a page: from here on a container of its own costs little more. */
  @inline static readonly MAX: u32 = 64;

  /** Whether the leaf is a valid page: it has a base, and no group has more than PageGroups.MAX members. */
  static isSoundPage(page: Page): bool {
    if (!(page.form<Own>() & Page.BASED)) return false;
    for (let i: u32 = 0, next: u32 = 0, count = page.count<Own>(); i < count; i = next) {
      next = PageGroups.end<Own>(page, i);
      if (next - i > PageGroups.MAX) return false;
    }
    return true;
  }

  /** Members of the group. */
  @inline static count<M extends Memory>(entry: Group): u32 {
    const leaf = changetype<Page>(Group.leaf<M>(entry)), index = Group.index(leaf, entry);
    return PageGroups.end<M>(leaf, index) - index;
  }

  /** The entry after the group's; where the leaf ends if it is the last one. */
  @inline static next<M extends Memory>(entry: Group): usize {
    const leaf = changetype<Page>(Group.leaf<M>(entry));
    return Group.at(leaf, PageGroups.end<M>(leaf, Group.index(leaf, entry)));
  }

  /** One past the last member of the group of member `index`. */
  static end<M extends Memory>(leaf: Page, index: u32): u32 {
    const header = leaf.header<M>(), width = Page.widthIn(header);
    if (!width) return Page.countIn(header);
    const first = leaf.highsIn(header) + <usize>(index * width);
    return PageGroups.endOf<M>(first, width, Page.high<M>(first, width), index, Page.countIn(header));
  }

  /**
   * One past the last member of the group of member `index`, whose high `mine` is at `first`, in a leaf of
   * `count` members.
   */
  @inline static endOf<M extends Memory>(first: usize, width: u32, mine: u64, index: u32, count: u32): u32 {
    let end = index + 1, at = first + width;
    for (let step: u32 = 0; step < PageGroups.END_STEPS; step++, end++, at += width) {
      if (end == count || Page.high<M>(at, width) != mine) return end;
    }
    return PageGroups.farEnd<M>(at, width, mine, end, count);
  }

  /** PageGroups.endOf() for a group that goes on beyond member `end`, whose high is at `at`. */
  private static farEnd<M extends Memory>(at: usize, width: u32, mine: u64, end: u32, count: u32): u32 {
    if (end == count || Page.high<M>(at + <usize>((count - end - 1) * width), width) == mine) return count;
    return end + PageSearch.searched<M>(at, count - end, width, mine);
  }

  /** The first member of the group of member `end` - 1. */
  static startBefore<M extends Memory>(leaf: Page, end: u32): u32 {
    const form = leaf.form<M>(), width = Page.widthOf(form);
    if (!width) return 0;
    let from = end - 1, at = leaf.highsAt(form, leaf.count<M>()) + <usize>(from * width);
    const mine = Page.high<M>(at, width);
    for (let step: u32 = 0; step < Page.SMALL; step++, from--) {
      at -= width;
      if (!from || Page.high<M>(at, width) != mine) return from;
    }
    return PageSearch.membersBeforeKey<M>(leaf, leaf.keyAt<M>(from));
  }

  /** The first member of the group of member `index`. */
  static start<M extends Memory>(leaf: Page, index: u32): u32 {
    return PageSearch.membersBeforeKey<M>(leaf, leaf.keyAt<M>(index));
  }

  /** How many groups the members from .. to - 1 form. */
  static between<M extends Memory>(leaf: Page, from: u32, to: u32): u32 {
    if (from == to) return 0;
    const header = leaf.header<M>(), width = Page.widthIn(header), highs = leaf.highsIn(header);
    let held: u32 = 1;
    if (!width) return held;
    let at = highs + <usize>(from * width), mine = Page.high<M>(at, width);
    for (const last = highs + <usize>((to - 1) * width); at < last;) {
      const before = mine;
      at += width;
      mine = Page.high<M>(at, width);
      held += u32(mine != before);
    }
    return held;
  }

  /** Of the members from .. to - 1, the first one of a group of more than `most`; `to` if there is none. */
  static largerFrom<M extends Memory>(leaf: Page, from: u32, to: u32, most: u32): u32 {
    const header = leaf.header<M>(), width = Page.widthIn(header), highs = leaf.highsIn(header);
    for (; from + most < to; from++) {
      const first = highs + <usize>(from * width);
      if (Page.high<M>(first, width) == Page.high<M>(first + <usize>(most * width), width)) return from;
    }
    return to;
  }

  /** How many of the members from .. to - 1 of a packed leaf, in whole groups, a page holds. */
  static membersForPage<M extends Memory>(leaf: Page, from: u32, to: u32): u32 {
    const first = leaf.keyAt<M>(from), all = to - from;
    let held = all, fits: u32 = 0;
    while (fits < held) {
      if (fits) held = fits;
      fits = PageWriter.pageMembers(first, leaf.keyAt<M>(from + held - 1));
    }
    return held == all ? all : PageGroups.start<M>(leaf, from + held) - from;
  }

  /** How many groups the leaf's members form. If there are more than `most`, any number above it. */
  static upTo(leaf: Page, most: u32): u32 {
    const count = leaf.count<Own>();
    let held: u32 = 0;
    for (let from: u32 = 0; from < count && held <= most; from = PageGroups.end<Own>(leaf, from)) held++;
    return held;
  }

  /** One past the last member of the `held`-th group from member `from` on. */
  static past(leaf: Page, from: u32, held: u32): u32 {
    for (; held; held--) from = PageGroups.end<Own>(leaf, from);
    return from;
  }

  /** The last group of the leaf that ends at `end` and holds `entry`. */
  @inline static last<M extends Memory>(entry: Group, end: Group): usize {
    const leaf = changetype<Page>(Group.leaf<M>(entry));
    return Group.at(leaf, PageGroups.startBefore<M>(leaf, Group.index(leaf, end)));
  }

  /** The first group of the leaf, from `entry` on, whose key is at least `key`; 0 if there is none. */
  static from<M extends Memory>(entry: Group, key: u64): usize {
    const leaf = changetype<Page>(Group.leaf<M>(entry)), header = leaf.header<M>(),
      count = Page.countIn(header), width = Page.widthIn(header);
    const base = leaf.baseIn<M>(header), highs = leaf.highsIn(header);
    if (key <= base) return changetype<usize>(entry);
    if (!width) return 0;
    const most = key - base - 1;                // of the members to pass over
    let index = Group.index(leaf, entry), step: u32 = 1;
    while (index + step <= count
      && Page.high<M>(highs + <usize>((index + step - 1) * width), width) <= most) {
      index += step;
      step <<= 1;
    }
    if (index == count) return 0;
    index += PageSearch.searched<M>(highs + <usize>(index * width), min(step, count - index), width, most);
    return index < count ? Group.at(leaf, index) : 0;
  }
}
