// A packed leaf: a leaf of the directory whose containers are small arrays, kept in two columns. Identifiers
// drawn from many millions have one member in a container, or two, or five: an entry of 12 bytes for each
// would take several times as much as the members.
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
//   address of the leaf, PAGE_START and a multiple of PAGE_BYTES, or 0 in a tiny arena
//   +  2 * index of the group's first member  +  1
//
// In a full arena a packed leaf is a block of PAGE_BYTES bytes, called a page, and has a base. A tiny arena
// may be a packed leaf of up to ITEMS_MAX members (arena/layout/header.ts). arena/change/pages.ts packs and
// unpacks leaves. Functions that write here neither allocate nor know of the nodes above.

import { Own, view8, view16, view32, view64 } from "../../env/view";

// @ts-ignore: decorator
@inline export const PAGE_BYTES: usize = 1024;
/**
 * Where the first page begins: right behind the arena's header and a small root (ROOMY_INNER in
 * arena/layout/node.ts). So pages begin where cache lines do, as bitsets (arena/layout/header.ts), and arenas
 * of few pages fit blocks of malloc.
 */
// @ts-ignore: decorator
@inline export const PAGE_START: usize = 632;
/** The greatest address of a page that is at most `at`. */
// @ts-ignore: decorator
@inline export function pageUpTo(at: usize): usize {
  return ((at - PAGE_START) & ~(PAGE_BYTES - 1)) + PAGE_START;
}
// @ts-ignore: decorator
@inline const HEADER_WITHOUT_BASE: usize = 4;
/** The most members of a packed leaf in a tiny arena. */
// @ts-ignore: decorator
@inline export const ITEMS_MAX: u32 = 1023;
/** Entries of a tiny arena's packed leaf have lesser addresses. */
// @ts-ignore: decorator
@inline const TINY_END: usize = 2048;
/** A group of a packed leaf, by its address as an entry. */
@final @unmanaged
export class Group {
  /** From one member's address as an entry to the next one's. */
  @inline static readonly STEP: usize = 2;

  // --- Entries -----------------------------------------------------------------------------------------------

  /** Whether the address of an entry is that of a group. */
  @inline static is(entry: Group): bool { return (changetype<usize>(entry) & 1) != 0; }
  /** The address, as an entry, of the group whose first member is member `index`. */
  @inline static at(leaf: usize, index: u32): usize {
    return leaf + Group.STEP * <usize>index + 1;
  }
  @inline static leaf<M>(entry: Group): usize {
    return changetype<usize>(entry) < TINY_END && !view8<M>(0, 0) ? 0 : pageUpTo(changetype<usize>(entry));
  }
  @inline static index(leaf: usize, entry: Group): u32 { return <u32>(changetype<usize>(entry) - leaf) >> 1; }
  /** The key of the group whose address as an entry is `entry`. */
  @inline key<M>(): u64 {
    const leaf = Group.leaf<M>(this);
    return keyAt<M>(leaf, Group.index(leaf, this));
  }
  /** Address of the group's lows, an array. */
  @inline payload<M>(): usize {
    const leaf = Group.leaf<M>(this);
    return lowsIn(leaf, headerOf<M>(leaf)) + (changetype<usize>(this) - leaf - 1);
  }
}
/** Bytes of a low. */
// @ts-ignore: decorator
@inline export const LOW_BYTES: usize = 2;
// @ts-ignore: decorator
@inline const FORM: u32 = 1;
// @ts-ignore: decorator
@inline const COUNT: u32 = 2;
// @ts-ignore: decorator
@inline export const BASE: u32 = 4;
/** Bits of the form: the width, that the leaf is packed, that it has a base. */
// @ts-ignore: decorator
@inline export const WIDTH: u32 = 7;
// @ts-ignore: decorator
@inline const WIDTH_MAX: u32 = 6;
// @ts-ignore: decorator
@inline export const PACKED: u32 = 16;
// @ts-ignore: decorator
@inline export const BASED: u32 = 32;

// @ts-ignore: decorator
@inline export function isPacked<M>(leaf: usize): bool { return view8<M>(leaf, FORM) >= PACKED; }
/** Whether the arena is a tiny one that is a packed leaf of several containers. */
// @ts-ignore: decorator
@inline export function isTinyPacked<M>(): bool {
  const header = headerOf<M>(0);
  return !(header & 0xff) && (header >> 8 & 0xff) >= PACKED && widthIn(header) != 0;
}
/** The form of a packed leaf: how wide its highs are, and whether it has a base. */
// @ts-ignore: decorator
@inline export function formOf<M>(leaf: usize): u32 { return view8<M>(leaf, FORM); }
// @ts-ignore: decorator
@inline export function widthOf(form: u32): u32 { return form & WIDTH; }
// @ts-ignore: decorator
@inline export function headerBytes(form: u32): usize { return HEADER_WITHOUT_BASE + ((form & BASED) >> 2); }
// @ts-ignore: decorator
@inline export function baseOf<M>(leaf: usize, form: u32): u64 {
  return form & BASED ? view64<M>(leaf, BASE) : 0;
}
/** Members of the packed leaf. */
// @ts-ignore: decorator
@inline export function packedCount<M>(leaf: usize): u32 { return view16<M>(leaf, COUNT); }
// @ts-ignore: decorator
@inline export function setPackedCount(leaf: usize, count: u32): void { store<u16>(leaf, <u16>count, COUNT); }

// @ts-ignore: decorator
@inline export function formBytes(form: u32, count: u32): usize {
  return headerBytes(form) + <usize>(count * (<u32>LOW_BYTES + widthOf(form)));
}
/** Bytes that the packed leaf takes. */
export function packedBytes<M>(leaf: usize): usize {
  return formBytes(formOf<M>(leaf), packedCount<M>(leaf));
}

/** Whether the form of a packed leaf is valid. */
export function isSoundForm(leaf: usize): bool {
  const form = formOf<Own>(leaf), width = widthOf(form);
  return width <= WIDTH_MAX && (form & ~(BASED | WIDTH)) == PACKED
    && (packedCount<Own>(leaf) > 1 || (form & BASED) != 0 || !width);
}

// Reading begins with the header word, which has the form and the count: one load.

// @ts-ignore: decorator
@inline export function headerOf<M>(leaf: usize): u32 { return view32<M>(leaf, 0); }
// @ts-ignore: decorator
@inline export function widthIn(header: u32): u32 { return (header >> 8) & WIDTH; }
// @ts-ignore: decorator
@inline export function countIn(header: u32): u32 { return header >> 16; }
// @ts-ignore: decorator
@inline export function lowsIn(leaf: usize, header: u32): usize { return leaf + headerBytes(header >> 8); }
// @ts-ignore: decorator
@inline export function highsIn(leaf: usize, header: u32): usize {
  return lowsIn(leaf, header) + LOW_BYTES * <usize>countIn(header);
}
// @ts-ignore: decorator
@inline export function baseIn<M>(leaf: usize, header: u32): u64 { return baseOf<M>(leaf, header >> 8); }
/** The key of member `index`. */
// @ts-ignore: decorator
@inline function keyIn<M>(leaf: usize, header: u32, index: u32): u64 {
  const width = widthIn(header);
  return baseIn<M>(leaf, header) + high<M>(highsIn(leaf, header) + <usize>(index * width), width);
}

// @ts-ignore: decorator
@inline export function lowAt(leaf: usize, form: u32, index: u32): usize {
  return leaf + headerBytes(form) + LOW_BYTES * <usize>index;
}
// @ts-ignore: decorator
@inline export function highsAt(leaf: usize, form: u32, count: u32): usize {
  return lowAt(leaf, form, count);
}

/**
 * The high at `at`, which has `width` bytes. Reads eight bytes that end with it, which lie within the leaf:
 * where a leaf has a single member, it has a base or no highs.
 */
// @ts-ignore: decorator
@inline export function high<M>(at: usize, width: u32): u64 {
  return width ? view64<M>(at + width - 8, 0) >> (64 - 8 * width) : 0;
}

/** The key of member `index`. */
// @ts-ignore: decorator
@inline export function keyAt<M>(leaf: usize, index: u32): u64 {
  return keyIn<M>(leaf, headerOf<M>(leaf), index);
}
/** Member `index`. */
// @ts-ignore: decorator
@inline export function offsetAt<M>(leaf: usize, index: u32): u64 {
  return (keyAt<M>(leaf, index) << 16) | view16<M>(lowAt(leaf, formOf<M>(leaf), index), 0);
}
/** Members of a group that are compared one by one before it is searched by halves. */
// @ts-ignore: decorator
@inline export const SMALL: u32 = 8;
/** Address of the low of member `index`. */
// @ts-ignore: decorator
@inline export function lowsFrom<M>(leaf: usize, index: u32): usize {
  return lowAt(leaf, formOf<M>(leaf), index);
}
