// How many members of a packed leaf have keys up to a given one.

import { Memory, Own } from "../../env/view";
import { Page } from "./layout";

/** Finds keys in packed leaves. */
export abstract class PageSearch {
  /** Fewer members are searched without stretches: they lie in a few cache lines. */
  @inline private static readonly STRETCHES_FROM: u32 = 48;

  /** How many of `count` highs, one or more, that begin at `first` are at most `most`. */
  @inline static searched<M extends Memory>(first: usize, count: u32, width: u32, most: u64): u32 {
    let base: u32 = 0, rest = count;
    while (rest > 1) {
      const half = rest >> 1;
      base = Page.high<M>(first + <usize>((base + half) * width), width) <= most ? base + half : base;
      rest -= half;
    }
    return base + u32(Page.high<M>(first + <usize>(base * width), width) <= most);
  }

  /** How many members of the leaf, which is not empty, have keys up to `key`. */
  static membersUpTo<M extends Memory>(leaf: Page, key: u64): u32 {
    const form = leaf.form<M>(), base = leaf.base<M>(form), count = leaf.count<M>();
    return key < base ? 0
      : PageSearch.searched<M>(leaf.highsAt(form, count), count, Page.widthOf(form), key - base);
  }

  /** How many members of the leaf have keys below `key`. */
  @inline static membersBeforeKey<M extends Memory>(leaf: Page, key: u64): u32 {
    return key ? PageSearch.membersUpTo<M>(leaf, key - 1) : 0;
  }

  /**
   * Highs of a stretch, which lie in a cache line or two. A stretch is passed over if its last high is small
   * enough.
   */
  @inline private static stretchOf(width: u32): u32 { return width > 2 ? 16 : 32; }

  /**
   * membersUpTo() for a leaf that is probably not in the cache: no load of another line waits for one before,
   * as in Directory.farEntriesUpTo().
   */
  static farMembersUpTo(leaf: Page, key: u64): u32 {
    const header = leaf.header<Own>(), base = leaf.baseIn<Own>(header), count = Page.countIn(header);
    const width = Page.widthIn(header), first = leaf.highsIn(header), most = key - base;
    if (key < base) return 0;
    if (!width || most >> (8 * width)) return count;
    if (count < PageSearch.STRETCHES_FROM) return PageSearch.searched<Own>(first, count, width, most);
    // Highs are compared as Page.high() loads them: the bits below a high are the bytes before it.
    const below = 64 - 8 * width, limit = (most << below) | (((<u64>1) << below) - 1);
    const stretch = PageSearch.stretchOf(width), bytes = <usize>(stretch * width);
    const end = first + <usize>(count * width) - 8;
    let upTo: u32 = 0;
    for (let at = first + bytes - 8; at <= end; at += bytes) upTo += load<u64>(at) <= limit ? stretch : 0;
    if (upTo == count) return count;
    return upTo + PageSearch.searched<Own>(first + <usize>(upTo * width), min(stretch, count - upTo), width,
      most);
  }
}
