// A packed leaf: a leaf of the directory whose containers have one member each.
// It holds their offsets as differences from a base.
//
//   +0   u8  level: 0
//   +1   u8  PACKED + width
//   +2   u16 count
//   +4   u64 base: at most the least offset; its low 16 bits are 0
//   +12  items, `width` bytes each, 4 to 8: offset - base, strictly ascending. All differ above their low
//        16 bits
//
// The low 16 bits of an item are those of its offset, so the item's address is also that of the only member
// of a SINGLE's payload.
//
// Code that walks over entries sees items as entries of kind SINGLE. The address of such an entry is odd:
//
//   address of the leaf, a multiple of PAGE_BYTES  +  2 * index of the item  +  1
//
// In a full arena a packed leaf is a block of PAGE_BYTES bytes, called a page. A tiny arena may be a packed
// leaf of up to ITEMS_MAX items (arena.ts). pages.ts packs and unpacks leaves. Functions that write here
// neither allocate nor know of the nodes above.

import { Own, view8, view16, view64 } from "../env/view";

// @ts-ignore: decorator
@inline export const PAGE_BYTES: usize = 2048;
// @ts-ignore: decorator
@inline export const PACKED_HEADER: usize = 12;
/** The most items that addresses of entries can tell apart. */
// @ts-ignore: decorator
@inline export const ITEMS_MAX: u32 = <u32>PAGE_BYTES / 2 - 1;
/** The most items of a page: as many as two ordinary leaves hold. */
// @ts-ignore: decorator
@inline const PAGE_MAX: u32 = 508;
/** From one item's address as an entry to the next one's. */
// @ts-ignore: decorator
@inline export const PACKED_STEP: usize = 2;
// @ts-ignore: decorator
@inline const FORM: u32 = 1;
// @ts-ignore: decorator
@inline const COUNT: u32 = 2;
// @ts-ignore: decorator
@inline const BASE: u32 = 4;
// @ts-ignore: decorator
@inline const PACKED: u32 = 16;
/** Items are stored as two overlapping words of four bytes, so they are no shorter. */
// @ts-ignore: decorator
@inline const WIDTH_LEAST: u32 = 4;
/** Low 16 bits of a base. */
// @ts-ignore: decorator
@inline const LOW_BITS: u64 = 0xffff;

// @ts-ignore: decorator
@inline export function isPacked<M>(leaf: usize): bool { return view8<M>(leaf, FORM) >= PACKED; }
// @ts-ignore: decorator
@inline export function packedWidth<M>(leaf: usize): u32 { return view8<M>(leaf, FORM) & 15; }
// @ts-ignore: decorator
@inline function packedBase<M>(leaf: usize): u64 { return view64<M>(leaf, BASE); }
// @ts-ignore: decorator
@inline export function packedCount<M>(leaf: usize): u32 { return view16<M>(leaf, COUNT); }
// @ts-ignore: decorator
@inline function setPackedCount(leaf: usize, count: u32): void { store<u16>(leaf, <u16>count, COUNT); }

// @ts-ignore: decorator
@inline export function packedBytes(width: u32, count: u32): usize {
  return PACKED_HEADER + <usize>(width * count);
}

/** The most items of that width in a page. */
// @ts-ignore: decorator
@inline export function pageItems(width: u32): u32 {
  return min(PAGE_MAX, <u32>(PAGE_BYTES - PACKED_HEADER) / width);
}

/** Whether the address of an entry is that of an item. */
// @ts-ignore: decorator
@inline export function isItem(entry: usize): bool { return (entry & 1) != 0; }

// @ts-ignore: decorator
@inline export function itemEntry(leaf: usize, index: u32): usize {
  return leaf + PACKED_STEP * <usize>index + 1;
}

// @ts-ignore: decorator
@inline function leafOf(entry: usize): usize { return entry & ~(PAGE_BYTES - 1); }

// @ts-ignore: decorator
@inline function itemAt(leaf: usize, width: u32, index: u32): usize {
  return leaf + PACKED_HEADER + <usize>(index * width);
}

/**
 * Difference from the base. Reads eight bytes that end with the item:
 * never beyond the leaf, because the header is longer.
 */
// @ts-ignore: decorator
@inline function difference<M>(item: usize, width: u32): u64 {
  return view64<M>(item + width - 8, 0) >> (64 - 8 * width);
}

/** The offset that item `index` stands for. */
// @ts-ignore: decorator
@inline export function offsetAt<M>(leaf: usize, index: u32): u64 {
  const width = packedWidth<M>(leaf);
  return packedBase<M>(leaf) + difference<M>(itemAt(leaf, width, index), width);
}
/** The offset of the item whose address as an entry is `entry`. */
// @ts-ignore: decorator
@inline export function itemOffset<M>(entry: usize): u64 {
  return offsetAt<M>(leafOf(entry), <u32>(entry & (PAGE_BYTES - 1)) >> 1);
}

/** Address of the item, and so of the low 16 bits of its offset. */
// @ts-ignore: decorator
@inline export function itemPayload<M>(entry: usize): usize {
  const leaf = leafOf(entry);
  return itemAt(leaf, packedWidth<M>(leaf), <u32>(entry & (PAGE_BYTES - 1)) >> 1);
}

// --- Searching ---------------------------------------------------------------------------------------------

/** How many of `count` (at least 1) items that begin at `first` are at most `most`. */
// @ts-ignore: decorator
@inline function searched<M>(first: usize, count: u32, width: u32, most: u64): u32 {
  let base: u32 = 0, rest = count;
  while (rest > 1) {
    const half = rest >> 1;
    base = difference<M>(first + <usize>((base + half) * width), width) <= most ? base + half : base;
    rest -= half;
  }
  return base + u32(difference<M>(first + <usize>(base * width), width) <= most);
}

/** How many items of the leaf, which is not empty, are at most `offset`. */
export function itemsUpTo<M>(leaf: usize, offset: u64): u32 {
  const base = packedBase<M>(leaf);
  return offset < base
    ? 0
    : searched<M>(leaf + PACKED_HEADER, packedCount<M>(leaf), packedWidth<M>(leaf), offset - base);
}

/** Items of a group, whose last item tells whether to pass over it. */
// @ts-ignore: decorator
@inline const GROUP: u32 = 16;

/**
 * itemsUpTo() for a leaf that is probably not in the cache:
 * no load waits for another one, as in farEntriesUpTo() of directory.ts.
 */
export function farItemsUpTo(leaf: usize, offset: u64): u32 {
  const base = packedBase<Own>(leaf), count = packedCount<Own>(leaf);
  const width = packedWidth<Own>(leaf), first = leaf + PACKED_HEADER;
  if (offset < base) return 0;
  const most = offset - base, group = <usize>(GROUP * width), whole = count / GROUP;
  let at = first + group - width, upTo: u32 = 0;
  for (let i: u32 = 0; i < whole; i++, at += group) upTo += difference<Own>(at, width) <= most ? GROUP : 0;
  at = itemAt(leaf, width, upTo);
  for (const end = itemAt(leaf, width, min(upTo + GROUP, count)); at < end; at += width) {
    upTo += u32(difference<Own>(at, width) <= most);
  }
  return upTo;
}

// --- Writing -----------------------------------------------------------------------------------------------

/** Bytes of an item that can hold differences up to `most`. */
// @ts-ignore: decorator
@inline function widthFor(most: u64): u32 { return max(WIDTH_LEAST, <u32>(71 - clz(most)) >> 3); }
/** Bytes of an item in a leaf whose offsets lie in [first, last]. */
// @ts-ignore: decorator
@inline export function widthOf(first: u64, last: u64): u32 { return widthFor(last - (first & ~LOW_BITS)); }

// @ts-ignore: decorator
@inline function writeItem(item: usize, width: u32, value: u64): void {
  store<u32>(item, <u32>value);
  store<u32>(item + width - 4, <u32>(value >> (8 * width - 32)));
}

/** Writes the header of a packed leaf without items for offsets in [first, last]. */
export function beginPacked(leaf: usize, first: u64, last: u64): void {
  store<u8>(leaf, 0);
  store<u8>(leaf, <u8>(PACKED + widthOf(first, last)), FORM);
  setPackedCount(leaf, 0);
  store<u64>(leaf, first & ~LOW_BITS, BASE);
}

/**
 * Appends an offset to a packed leaf that has room for it.
 * It is greater than all others, and at most `last` of beginPacked().
 */
// @ts-ignore: decorator
@inline export function appendItem(leaf: usize, offset: u64): void {
  const count = packedCount<Own>(leaf), width = packedWidth<Own>(leaf);
  writeItem(itemAt(leaf, width, count), width, offset - packedBase<Own>(leaf));
  setPackedCount(leaf, count + 1);
}

/** Bytes of an item once the leaf, which is not empty, holds `offset`, too. */
export function widthWith(leaf: usize, offset: u64): u32 {
  const width = packedWidth<Own>(leaf), base = packedBase<Own>(leaf);
  if (offset >= base) return max(width, widthFor(offset - base));
  return max(width, widthOf(offset, offsetAt<Own>(leaf, packedCount<Own>(leaf) - 1)));
}

/**
 * Inserts the offset, for whose key there is no item, as item `index`.
 * The leaf is not empty and has room at widthWith().
 */
export function insertItem(leaf: usize, index: u32, offset: u64): void {
  const width = widthWith(leaf, offset), base = packedBase<Own>(leaf);
  if (width != packedWidth<Own>(leaf) || offset < base) {
    rebase(leaf, offset < base ? baseBelow(leaf, offset, width) : base, width);
  }
  const count = packedCount<Own>(leaf), item = itemAt(leaf, width, index);
  memory.copy(item + width, item, <usize>((count - index) * width));
  writeItem(item, width, offset - packedBase<Own>(leaf));
  setPackedCount(leaf, count + 1);
}

/**
 * A base for an offset below the present one.
 * It leaves room on both sides, so that descending input does not move it each time.
 */
function baseBelow(leaf: usize, offset: u64, width: u32): u64 {
  const base = offset & ~LOW_BITS, range = offsetAt<Own>(leaf, packedCount<Own>(leaf) - 1) - base;
  return base - min(base, (((u64.MAX_VALUE >> (64 - 8 * width)) - range) >> 1) & ~LOW_BITS);
}

/** Gives the leaf a base that is not greater, and a width that is not less. */
function rebase(leaf: usize, base: u64, width: u32): void {
  const old = packedWidth<Own>(leaf), more = packedBase<Own>(leaf) - base;
  for (let i = packedCount<Own>(leaf); i; i--) {
    writeItem(itemAt(leaf, width, i - 1), width, difference<Own>(itemAt(leaf, old, i - 1), old) + more);
  }
  store<u8>(leaf, <u8>(PACKED + width), FORM);
  store<u64>(leaf, base, BASE);
}

/** What insertInPage() did. */
export const enum Inserted { PRESENT, ADDED, NOT_HERE }

/**
 * Inserts the offset in a page, where that is all there is to do: it has room, base and width fit,
 * and the offset does not come first. Answers NOT_HERE if the key has another member.
 */
// @ts-ignore: decorator
@inline export function insertInPage(leaf: usize, offset: u64): Inserted {
  const index = farItemsUpTo(leaf, offset), base = packedBase<Own>(leaf);
  const width = packedWidth<Own>(leaf), count = packedCount<Own>(leaf);
  if (!index || widthFor(offset - base) > width) return Inserted.NOT_HERE;
  const item = itemAt(leaf, width, index), before = base + difference<Own>(item - width, width);
  if (before == offset) return Inserted.PRESENT;
  if (before >> 16 == offset >> 16 || count >= pageItems(width)) return Inserted.NOT_HERE;
  if (index < count && (base + difference<Own>(item, width)) >> 16 == offset >> 16) return Inserted.NOT_HERE;
  memory.copy(item + width, item, <usize>((count - index) * width));
  writeItem(item, width, offset - base);
  setPackedCount(leaf, count + 1);
  return Inserted.ADDED;
}

/**
 * Moves all items of the page `upper` behind those of the page `lower`, whose offsets are all less,
 * if together they fill three quarters of a page at most. Returns whether it did.
 */
export function joinPages(lower: usize, upper: usize): bool {
  const held = packedCount<Own>(lower);
  const more = packedCount<Own>(upper);
  const width = widthWith(lower, offsetAt<Own>(upper, more - 1));
  if ((held + more) * 4 > pageItems(width) * 3) return false;
  if (width != packedWidth<Own>(lower)) rebase(lower, packedBase<Own>(lower), width);
  for (let i: u32 = 0; i < more; i++) appendItem(lower, offsetAt<Own>(upper, i));
  return true;
}

/** Removes `items` items from `index` on. */
export function removeItems(leaf: usize, index: u32, items: u32): void {
  const count = packedCount<Own>(leaf) - items;
  const width = packedWidth<Own>(leaf);
  const at = itemAt(leaf, width, index);
  memory.copy(at, itemAt(leaf, width, index + items), <usize>((count - index) * width));
  setPackedCount(leaf, count);
}
