// Writing new packed leaves: the header, then the lows and the keys of the members.

import { Memory, Own } from "../../env/view";
import { Page } from "./layout";

/** Lays out packed leaves. */
export abstract class PageWriter {
  /** The most members of a page: the addresses of its entries are distinct up to there. */
  @inline private static readonly PAGE_MAX: u32 = <u32>Page.BYTES / 2 - 1;
  /** Nine bits for each width: (Page.BYTES - 12) / (Page.LOW_BYTES + width), rounded down. */
  @inline private static readonly CAPACITIES: u64 = 506 | (337 << 9) | (253 << 18) | (<u64>202 << 27)
    | (<u64>168 << 36) | (<u64>144 << 45) | (<u64>126 << 54);

  /** Bytes of a high that is at most `most`. */
  @inline static widthFor(most: u64): u32 { return <u32>(71 - clz(most)) >> 3; }

  /**
   * The form in which `count` members with keys from `first` to `last` take the least space in a tiny arena.
   */
  @inline private static tightForm(first: u64, last: u64, count: u32): u32 {
    if (count > 1) return PageWriter.tightFormOfSome(first, last, count);
    return last ? Page.PACKED | Page.BASED : Page.PACKED;
    // a single member has no highs: Page.high() says why
  }

  /** tightForm() for two members or more. */
  @inline static tightFormOfSome(first: u64, last: u64, count: u32): u32 {
    const based = Page.PACKED | Page.BASED | PageWriter.widthFor(last - first),
      plain = Page.PACKED | PageWriter.widthFor(last);
    return Page.formBytes(based, count) < Page.formBytes(plain, count) ? based : plain;
  }

  @inline static writeHigh(at: usize, width: u32, value: u64): void {
    if (width & 4) { store<u32>(at, <u32>value); at += 4; value >>= 32; }
    if (width & 2) { store<u16>(at, <u16>value); at += 2; value >>= 16; }
    if (width & 1) store<u8>(at, <u8>value);
  }

  @inline static writeHeader(leaf: Page, form: u32, count: u32, base: u64): void {
    store<u32>(changetype<usize>(leaf), (form << 8) | (count << 16));
    if (form & Page.BASED) store<u64>(changetype<usize>(leaf), base, Page.BASE);
  }

  /** Writes the header of a leaf in a tiny arena or a page for `count` members with keys from first to last. */
  @inline private static begin(leaf: Page, form: u32, first: u64, count: u32): void {
    PageWriter.writeHeader(leaf, form, count, form & Page.BASED ? first : 0);
  }

  /**
   * Begins a tiny arena's packed leaf of `count` members with keys from `first` to `last`, in its tightest
   * form.
   */
  static beginTight(leaf: Page, first: u64, last: u64, count: u32): void {
    PageWriter.begin(leaf, PageWriter.tightForm(first, last, count), first, count);
  }

  /** Bytes of that leaf. */
  static tightBytes(first: u64, last: u64, count: u32): usize {
    return Page.formBytes(PageWriter.tightForm(first, last, count), count);
  }

  /** Begins a page of `count` members with keys from `first` to `last`. */
  static beginPage(page: Page, first: u64, last: u64, count: u32): void {
    PageWriter.begin(page, Page.PACKED | Page.BASED | PageWriter.widthFor(last - first), first, count);
  }

  /** The most members of a page whose keys lie in [first, last]. */
  @inline static pageMembers(first: u64, last: u64): u32 {
    return PageWriter.pageCapacity(Page.PACKED | Page.BASED | PageWriter.widthFor(last - first));
  }

  @inline static pageCapacity(form: u32): u32 {
    return <u32>(PageWriter.CAPACITIES >> (9 * Page.widthOf(form))) & PageWriter.PAGE_MAX;
  }

  // Writing the keys of a new leaf one group after the other.

  /** Where the highs of the leaf begin. */
  static beginKeys(leaf: Page): usize { return leaf.highsIn(leaf.header<Own>()); }
  /** Bytes of a high of the leaf. */
  static highBytes(leaf: Page): u32 { return Page.widthOf(leaf.form<Own>()); }
  /** The leaf's base: its highs are keys less the base. */
  static leafBase(leaf: Page): u64 { return leaf.baseIn<Own>(leaf.header<Own>()); }
  /** Writes the highs of the next `count` members, all `value`, to `at`. Returns where the next ones begin. */
  @inline static putHighs(at: usize, width: u32, value: u64, count: u32): usize {
    do {
      PageWriter.writeHigh(at, width, value);
      at += width;
    } while (--count);
    return at;
  }

  /** Writes the keys of members from .. to - 1, all `key`. */
  static putKeys(leaf: Page, from: u32, to: u32, key: u64): void {
    const form = leaf.form<Own>(), width = Page.widthOf(form), value = key - leaf.base<Own>(form);
    const first = leaf.highsAt(form, leaf.count<Own>());
    if (width == 1 && to - from > Page.SMALL) { memory.fill(first + from, <u8>value, to - from); return; }
    let at = first + <usize>(from * width);
    for (let i = from; i < to; i++, at += width) PageWriter.writeHigh(at, width, value);
  }
}

/**
 * Copies members from .. to - 1 of the packed leaf `source` to the leaf, where they are members `at` and on.
 */
export function copyMembers(leaf: Page, at: u32, source: Page, from: u32, to: u32): void {
  memory.copy(leaf.lowsFrom<Own>(at), source.lowsFrom<Own>(from), Page.LOW_BYTES * <usize>(to - from));
  copyPageKeys<Own>(leaf, at, source, from, to);
}

/** Writes the keys of members from .. to - 1 of the packed leaf `source` as those of members `at` and on. */
export function copyPageKeys<M extends Memory>(leaf: Page, at: u32, source: Page, from: u32, to: u32): void {
  const form = leaf.form<Own>(), width = Page.widthOf(form), old = source.form<M>(), was = Page.widthOf(old);
  const more = source.base<M>(old) - leaf.base<Own>(form);
  let mine = leaf.highsAt(form, leaf.count<Own>()) + <usize>(at * width);
  let theirs = source.highsAt(old, source.count<M>()) + <usize>(from * was);
  for (; from < to; from++, mine += width, theirs += was) {
    PageWriter.writeHigh(mine, width, Page.high<M>(theirs, was) + more);
  }
}
