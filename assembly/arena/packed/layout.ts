// A packed leaf: a leaf of the directory whose containers are small arrays, kept in two columns. Identifiers
// drawn from many millions have one member in a container, or two, or five: an entry of 12 bytes for each
// container would take several times as much as its members.
//
//   +0   u8  level: 0
//   +1   u8  PACKED + width, and BASED if there is a base
//   +2   u16 count: members
//   +4   u64 base, if there is one: a key, otherwise 0
//        lows: u16 each, the low 16 bits of the members
//        highs: `width` bytes each, 0 to 6: the member's key - base
//
// Members ascend, so those of one container, a group, lie side by side, and their lows are an array
// container's payload where they lie. Code that walks over entries sees each group as an entry of kind ARRAY.
// The address of such an entry is odd:
//
//   address of the leaf: Page.START and a multiple of Page.BYTES, or 0 in a tiny arena + 2 * index of the
//   group's first member + 1
//
// In a full arena a packed leaf is a block of Page.BYTES bytes, called a page, and has a base. A tiny arena
// may be a packed leaf of up to ITEMS_MAX members (arena/layout/header.ts). arena/change/pages.ts packs and
// unpacks leaves. Functions that write here neither allocate nor know of the nodes above.

import { segments } from "../../env/memory";
import { Memory, Own, sideOf, view16, view32, view64, view8 } from "../../env/view";
// @ts-ignore: decorator
@inline const HEADER_WITHOUT_BASE: usize = 4;
/** A group of a packed leaf, by its address as an entry. */
@final @unmanaged
export class Group {
  /** From one member's address as an entry to the next one's. */
  @inline static readonly STEP: usize = 2;

  /** Whether the address of an entry is that of a group. */
  @inline static is(entry: Group): bool { return (changetype<usize>(entry) & 1) != 0; }
  /** The address, as an entry, of the group whose first member is member `index`. */
  @inline static at(leaf: Page, index: u32): usize {
    return changetype<usize>(leaf) + Group.STEP * <usize>index + 1;
  }

  @inline static leaf<M extends Memory>(entry: Group): usize {
    return changetype<usize>(entry) < Page.TINY_END && !view8<M>(0, 0) ? 0
      : Page.upTo(changetype<usize>(entry));
  }

  @inline static index(leaf: Page, entry: Group): u32 {
    return <u32>(changetype<usize>(entry) - changetype<usize>(leaf)) >> 1;
  }

  /** The key of the group whose address as an entry is `entry`. */
  @inline key<M extends Memory>(): u64 {
    const leaf = changetype<Page>(Group.leaf<M>(this));
    return leaf.keyAt<M>(Group.index(leaf, this));
  }

  /** Address of the group's lows, an array. */
  @inline payload<M extends Memory>(): usize {
    const leaf = changetype<Page>(Group.leaf<M>(this));
    return leaf.lowsIn(leaf.header<M>()) + (changetype<usize>(this) - changetype<usize>(leaf) - 1);
  }
}

/** A packed leaf; in a full arena, a page. */
@final @unmanaged
export class Page {
  @inline static readonly BYTES: usize = 1024;
  /**
   * Where the first page begins: right behind the arena's header and a small root (Node.ROOMY_INNER). So pages
   * begin where cache lines do, like bitsets (Block.LINE), and arenas of few pages fit the size classes of
   * malloc.
   */
  @inline static readonly START: usize = 632;
  /** The most members of a packed leaf in a tiny arena. */
  @inline static readonly ITEMS_MAX: u32 = 1023;
  /** Groups of a tiny arena's packed leaf have lower addresses than this. */
  @inline static readonly TINY_END: usize = 2048;
  /** Bytes of a low. */
  @inline static readonly LOW_BYTES: usize = 2;
  @inline private static readonly FORM: u32 = 1;
  @inline private static readonly COUNT: u32 = 2;
  @inline static readonly BASE: u32 = 4;
  /** Bits of the form: the width, that the leaf is packed, that it has a base. */
  @inline static readonly WIDTH: u32 = 7;
  @inline private static readonly WIDTH_MAX: u32 = 6;
  @inline static readonly PACKED: u32 = 16;
  @inline static readonly BASED: u32 = 32;
  /** Members of a group that are compared one by one before the others are searched by halves. */
  @inline static readonly SMALL: u32 = 8;

  /** The greatest address of a page that is at most `at`. */
  @inline static upTo(at: usize): usize {
    return ((at - Page.START) & ~(Page.BYTES - 1)) + Page.START;
  }

  @inline isPacked<M extends Memory>(): bool {
    return view8<M>(changetype<usize>(this), Page.FORM) >= Page.PACKED;
  }

  /** Whether the arena is a tiny one that is a packed leaf of several containers. */
  @inline static isTinyPacked<M extends Memory>(): bool {
    const header = changetype<Page>(0).header<M>();
    return !segments.are(sideOf<M>()) && !(header & 0xff) && (header >> 8 & 0xff) >= Page.PACKED
      && Page.widthIn(header) != 0;
  }

  /** The form of a packed leaf: how wide its highs are, and whether it has a base. */
  @inline form<M extends Memory>(): u32 { return view8<M>(changetype<usize>(this), Page.FORM); }
  @inline static widthOf(form: u32): u32 { return form & Page.WIDTH; }
  @inline static headerBytes(form: u32): usize { return HEADER_WITHOUT_BASE + ((form & Page.BASED) >> 2); }
  @inline base<M extends Memory>(form: u32): u64 {
    return form & Page.BASED ? view64<M>(changetype<usize>(this), Page.BASE) : 0;
  }

  /** Members of the packed leaf. */
  @inline count<M extends Memory>(): u32 { return view16<M>(changetype<usize>(this), Page.COUNT); }
  @inline setCount(count: u32): void { store<u16>(changetype<usize>(this), <u16>count, Page.COUNT); }

  @inline static formBytes(form: u32, count: u32): usize {
    return Page.headerBytes(form) + <usize>(count * (<u32>Page.LOW_BYTES + Page.widthOf(form)));
  }

  /** Bytes that the packed leaf takes. */
  bytes<M extends Memory>(): usize {
    return Page.formBytes(this.form<M>(), this.count<M>());
  }

  /** Whether the form of a packed leaf is valid. */
  isSoundForm(): bool {
    const form = this.form<Own>(), width = Page.widthOf(form);
    return width <= Page.WIDTH_MAX && (form & ~(Page.BASED | Page.WIDTH)) == Page.PACKED
      && (this.count<Own>() > 1 || (form & Page.BASED) != 0 || !width);
  }

  // Reading begins with the header word, which has the form and the count: one load.

  @inline header<M extends Memory>(): u32 { return view32<M>(changetype<usize>(this), 0); }
  @inline static widthIn(header: u32): u32 { return (header >> 8) & Page.WIDTH; }
  @inline static countIn(header: u32): u32 { return header >> 16; }
  @inline lowsIn(header: u32): usize { return changetype<usize>(this) + Page.headerBytes(header >> 8); }
  @inline highsIn(header: u32): usize {
    return this.lowsIn(header) + Page.LOW_BYTES * <usize>Page.countIn(header);
  }

  @inline baseIn<M extends Memory>(header: u32): u64 { return this.base<M>(header >> 8); }
  /** The key of member `index`. */
  @inline private keyIn<M extends Memory>(header: u32, index: u32): u64 {
    const width = Page.widthIn(header);
    return this.baseIn<M>(header) + Page.high<M>(this.highsIn(header) + <usize>(index * width), width);
  }

  @inline lowAt(form: u32, index: u32): usize {
    return changetype<usize>(this) + Page.headerBytes(form) + Page.LOW_BYTES * <usize>index;
  }

  @inline highsAt(form: u32, count: u32): usize {
    return this.lowAt(form, count);
  }

  /**
   * The high at `at`, which has `width` bytes. Reads eight bytes that end with it, which lie within the leaf:
   * where a leaf has a single member, it has a base or no highs.
   */
  @inline static high<M extends Memory>(at: usize, width: u32): u64 {
    return width ? view64<M>(at + width - 8, 0) >> (64 - 8 * width) : 0;
  }

  /** The key of member `index`. */
  @inline keyAt<M extends Memory>(index: u32): u64 {
    return this.keyIn<M>(this.header<M>(), index);
  }

  /** Member `index`. */
  @inline offsetAt<M extends Memory>(index: u32): u64 {
    return (this.keyAt<M>(index) << 16) | view16<M>(this.lowAt(this.form<M>(), index), 0);
  }

  /** Address of the low of member `index`. */
  @inline lowsFrom<M extends Memory>(index: u32): usize {
    return this.lowAt(this.form<M>(), index);
  }
}
