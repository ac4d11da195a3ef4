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
// may be a packed leaf of up to ITEMS_MAX members (arena.ts). pages.ts packs and unpacks leaves. Functions
// that write here neither allocate nor know of the nodes above.

import { Own, view8, view16, view32, view64 } from "../env/view";
import { prefersShort, wordsBetween } from "../container/kind";

// @ts-ignore: decorator
@inline export const PAGE_BYTES: usize = 1024;
/**
 * Where the first page begins: right behind the arena's header and a small root (ROOMY_INNER in node.ts). So
 * pages begin where cache lines do, as bitsets (arena.ts), and arenas of few pages fit blocks of malloc.
 */
// @ts-ignore: decorator
@inline export const PAGE_START: usize = 632;
/** The greatest address of a page that is at most `at`. */
// @ts-ignore: decorator
@inline export function pageUpTo(at: usize): usize {
  return ((at - PAGE_START) & ~(PAGE_BYTES - 1)) + PAGE_START;
}
// @ts-ignore: decorator
@inline const SHORT_HEADER: usize = 4;
/** The most members of a packed leaf in a tiny arena. */
// @ts-ignore: decorator
@inline export const ITEMS_MAX: u32 = 1023;
/** Entries of a tiny arena's packed leaf have lesser addresses. */
// @ts-ignore: decorator
@inline const TINY_END: usize = 2048;
/** The most members that the addresses of a page's entries can tell apart. */
// @ts-ignore: decorator
@inline const PAGE_MAX: u32 = <u32>PAGE_BYTES / 2 - 1;
/** From one member's address as an entry to the next one's. */
// @ts-ignore: decorator
@inline export const GROUP_STEP: usize = 2;
/** Bytes of a low. */
// @ts-ignore: decorator
@inline const LOW_BYTES: usize = 2;
// @ts-ignore: decorator
@inline const FORM: u32 = 1;
// @ts-ignore: decorator
@inline const COUNT: u32 = 2;
// @ts-ignore: decorator
@inline const BASE: u32 = 4;
/** Bits of the form: the width, that the leaf is packed, that it has a base. */
// @ts-ignore: decorator
@inline const WIDTH: u32 = 7;
// @ts-ignore: decorator
@inline const WIDTH_MAX: u32 = 6;
// @ts-ignore: decorator
@inline const PACKED: u32 = 16;
// @ts-ignore: decorator
@inline const BASED: u32 = 32;

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
@inline function formOf<M>(leaf: usize): u32 { return view8<M>(leaf, FORM); }
// @ts-ignore: decorator
@inline function widthOf(form: u32): u32 { return form & WIDTH; }
// @ts-ignore: decorator
@inline function headerBytes(form: u32): usize { return SHORT_HEADER + ((form & BASED) >> 2); }
// @ts-ignore: decorator
@inline function baseOf<M>(leaf: usize, form: u32): u64 { return form & BASED ? view64<M>(leaf, BASE) : 0; }
/** Members of the packed leaf. */
// @ts-ignore: decorator
@inline export function packedCount<M>(leaf: usize): u32 { return view16<M>(leaf, COUNT); }
// @ts-ignore: decorator
@inline function setPackedCount(leaf: usize, count: u32): void { store<u16>(leaf, <u16>count, COUNT); }

// @ts-ignore: decorator
@inline function formBytes(form: u32, count: u32): usize {
  return headerBytes(form) + <usize>(count * (<u32>LOW_BYTES + widthOf(form)));
}
/** Bytes that the packed leaf takes. */
export function packedBytes<M>(leaf: usize): usize {
  return formBytes(formOf<M>(leaf), packedCount<M>(leaf));
}

/** Whether the form of a packed leaf is one that there is. */
export function isSoundForm(leaf: usize): bool {
  const form = formOf<Own>(leaf), width = widthOf(form);
  return width <= WIDTH_MAX && (form & ~(BASED | WIDTH)) == PACKED
    && (packedCount<Own>(leaf) > 1 || (form & BASED) != 0 || !width);
}
/** Whether it is one that a page has, and no group is larger than a page's. */
export function isSoundPage(page: usize): bool {
  if (!(formOf<Own>(page) & BASED)) return false;
  for (let i: u32 = 0, next: u32 = 0, count = packedCount<Own>(page); i < count; i = next) {
    next = groupEnd<Own>(page, i);
    if (next - i > GROUP_MAX) return false;
  }
  return true;
}

// --- Entries -----------------------------------------------------------------------------------------------

/** Whether the address of an entry is that of a group. */
// @ts-ignore: decorator
@inline export function isGroup(entry: usize): bool { return (entry & 1) != 0; }
/** The address, as an entry, of the group whose first member is member `index`. */
// @ts-ignore: decorator
@inline export function groupEntry(leaf: usize, index: u32): usize {
  return leaf + GROUP_STEP * <usize>index + 1;
}
// @ts-ignore: decorator
@inline export function leafOf<M>(entry: usize): usize {
  return entry < TINY_END && !view8<M>(0, 0) ? 0 : pageUpTo(entry);
}
// @ts-ignore: decorator
@inline export function indexOf(leaf: usize, entry: usize): u32 { return <u32>(entry - leaf) >> 1; }

// Reading begins with the header word, which has the form and the count: one load.

// @ts-ignore: decorator
@inline export function headerOf<M>(leaf: usize): u32 { return view32<M>(leaf, 0); }
// @ts-ignore: decorator
@inline export function widthIn(header: u32): u32 { return (header >> 8) & WIDTH; }
// @ts-ignore: decorator
@inline function countIn(header: u32): u32 { return header >> 16; }
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
@inline function lowAt(leaf: usize, form: u32, index: u32): usize {
  return leaf + headerBytes(form) + LOW_BYTES * <usize>index;
}
// @ts-ignore: decorator
@inline function highsAt(leaf: usize, form: u32, count: u32): usize { return lowAt(leaf, form, count); }

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
/** The key of the group whose address as an entry is `entry`. */
// @ts-ignore: decorator
@inline export function groupKey<M>(entry: usize): u64 {
  const leaf = leafOf<M>(entry);
  return keyAt<M>(leaf, indexOf(leaf, entry));
}
/** Address of the group's lows, an array. */
// @ts-ignore: decorator
@inline export function groupPayload<M>(entry: usize): usize {
  const leaf = leafOf<M>(entry);
  return lowsIn(leaf, headerOf<M>(leaf)) + (entry - leaf - 1);
}
/** Members of the group. */
// @ts-ignore: decorator
@inline export function groupCount<M>(entry: usize): u32 {
  const leaf = leafOf<M>(entry), index = indexOf(leaf, entry);
  return groupEnd<M>(leaf, index) - index;
}
/** The entry after the group's; where the leaf ends if it is the last one. */
// @ts-ignore: decorator
@inline export function nextGroup<M>(entry: usize): usize {
  const leaf = leafOf<M>(entry);
  return groupEntry(leaf, groupEnd<M>(leaf, indexOf(leaf, entry)));
}

// A walk goes through a leaf group by group. What it needs for the next step is kept in memory 0, and each
// step reads the highs of one group and the first one behind it:
//
//   +0   u64 base
//   +8   u64 high of the next group
//   +16  u32 address of that high
//   +20  u32 width

// @ts-ignore: decorator
@inline export const STEP_BYTES: usize = 24;
// @ts-ignore: decorator
@inline const NEXT: u32 = 8;
// @ts-ignore: decorator
@inline const NEXT_AT: u32 = 16;
// @ts-ignore: decorator
@inline const NEXT_WIDTH: u32 = 20;

/** Begins a walk at the group of the entry, which is the next one. Returns the address of its lows. */
// @ts-ignore: decorator
@inline export function beginSteps<M>(entry: usize, steps: usize): usize {
  const leaf = leafOf<M>(entry), header = headerOf<M>(leaf), width = widthIn(header);
  const index = indexOf(leaf, entry);
  const at = highsIn(leaf, header) + <usize>(index * width);
  store<u64>(steps, baseIn<M>(leaf, header));
  store<u64>(steps, high<M>(at, width), NEXT);
  store<u32>(steps, <u32>at, NEXT_AT);
  store<u32>(steps, width, NEXT_WIDTH);
  return lowsIn(leaf, header) + LOW_BYTES * <usize>index;
}

/** The key of the walk's next group. */
// @ts-ignore: decorator
@inline export function stepKey(steps: usize): u64 { return load<u64>(steps, NEXT) + load<u64>(steps); }

/** Whether all members of the walk's leaf have one key, so that it has no highs. */
// @ts-ignore: decorator
@inline export function isOfOneKey(steps: usize): bool { return !load<u32>(steps, NEXT_WIDTH); }

/** Steps to the next group, from which on the leaf has `most` members. Returns those of the group. */
// @ts-ignore: decorator
@inline export function stepOn<M>(steps: usize, most: u32): u32 {
  const width = load<u32>(steps, NEXT_WIDTH), mine = load<u64>(steps, NEXT);
  const at = <usize>load<u32>(steps, NEXT_AT) + width;
  if (most == 1) return 1;
  const next = high<M>(at, width);
  if (next == mine) return stepFar<M>(steps, at, most);
  store<u32>(steps, <u32>at, NEXT_AT);
  store<u64>(steps, next, NEXT);
  return 1;
}

/** stepOn() for a group of several members, the second one's high being at `at`. */
function stepFar<M>(steps: usize, at: usize, most: u32): u32 {
  const width = load<u32>(steps, NEXT_WIDTH), count = endOf<M>(at, width, load<u64>(steps, NEXT), 1, most);
  at += <usize>((count - 1) * width);
  store<u32>(steps, <u32>at, NEXT_AT);
  if (count < most) store<u64>(steps, high<M>(at, width), NEXT);
  return count;
}

/** Members of the leaf from `place` on, whose entry is that of a group. */
// @ts-ignore: decorator
@inline export function membersFrom(place: u64): u32 { return (<u32>(place >> 32) - <u32>place) >> 1; }

/** One past the last member of the group of member `index`. */
export function groupEnd<M>(leaf: usize, index: u32): u32 {
  const header = headerOf<M>(leaf), width = widthIn(header);
  if (!width) return countIn(header);
  const first = highsIn(leaf, header) + <usize>(index * width);
  return endOf<M>(first, width, high<M>(first, width), index, countIn(header));
}

/**
 * One past the last member of the group of member `index`, whose high `mine` is at `first`, in a leaf of
 * `count` members.
 */
// @ts-ignore: decorator
@inline function endOf<M>(first: usize, width: u32, mine: u64, index: u32, count: u32): u32 {
  let end = index + 1, at = first + width;
  for (let step: u32 = 0; step < END_STEPS; step++, end++, at += width) {
    if (end == count || high<M>(at, width) != mine) return end;
  }
  return farEnd<M>(at, width, mine, end, count);
}

/** endOf() for a group that goes on beyond member `end`, whose high is at `at`. */
function farEnd<M>(at: usize, width: u32, mine: u64, end: u32, count: u32): u32 {
  if (end == count || high<M>(at + <usize>((count - end - 1) * width), width) == mine) return count;
  return end + searched<M>(at, count - end, width, mine);
}
/** So many members behind the first one are looked at one by one for the end of a group. */
// @ts-ignore: decorator
@inline const END_STEPS: u32 = 2;
/** So many members of a group are looked at one by one. */
// @ts-ignore: decorator
@inline const SMALL: u32 = 8;

/** The first member of the group of which member `end` - 1 is the last one that counts. */
export function startBefore<M>(leaf: usize, end: u32): u32 {
  const form = formOf<M>(leaf), width = widthOf(form);
  if (!width) return 0;
  let from = end - 1, at = highsAt(leaf, form, packedCount<M>(leaf)) + <usize>(from * width);
  const mine = high<M>(at, width);
  for (let step: u32 = 0; step < SMALL; step++, from--) {
    at -= width;
    if (!from || high<M>(at, width) != mine) return from;
  }
  return membersBefore<M>(leaf, keyAt<M>(leaf, from));
}

/** The first member of the group of member `index`. */
export function groupStart<M>(leaf: usize, index: u32): u32 {
  return membersBefore<M>(leaf, keyAt<M>(leaf, index));
}

/** How many groups the members from .. to - 1 form. */
export function groupsIn<M>(leaf: usize, from: u32, to: u32): u32 {
  if (from == to) return 0;
  const header = headerOf<M>(leaf), width = widthIn(header), highs = highsIn(leaf, header);
  let held: u32 = 1;
  if (!width) return held;
  let at = highs + <usize>(from * width), mine = high<M>(at, width);
  for (const last = highs + <usize>((to - 1) * width); at < last;) {
    const before = mine;
    at += width;
    mine = high<M>(at, width);
    held += u32(mine != before);
  }
  return held;
}

/** Of the members from .. to - 1, the first one of a group of more than `most`; `to` if there is none. */
export function largerFrom<M>(leaf: usize, from: u32, to: u32, most: u32): u32 {
  const header = headerOf<M>(leaf), width = widthIn(header), highs = highsIn(leaf, header);
  for (; from + most < to; from++) {
    const first = highs + <usize>(from * width);
    if (high<M>(first, width) == high<M>(first + <usize>(most * width), width)) return from;
  }
  return to;
}

/** How many of the members from .. to - 1 of a packed leaf, in whole groups, a page holds. */
export function membersForPage<M>(leaf: usize, from: u32, to: u32): u32 {
  const first = keyAt<M>(leaf, from), all = to - from;
  let held = all, fits: u32 = 0;
  while (fits < held) {
    if (fits) held = fits;
    fits = pageMembers(first, keyAt<M>(leaf, from + held - 1));
  }
  return held == all ? all : groupStart<M>(leaf, from + held) - from;
}

/** How many groups the leaf's members form; or if there are more than `most`, some number above it. */
export function groupsUpTo(leaf: usize, most: u32): u32 {
  const count = packedCount<Own>(leaf);
  let held: u32 = 0;
  for (let from: u32 = 0; from < count && held <= most; from = groupEnd<Own>(leaf, from)) held++;
  return held;
}

/** One past the last member of the `held`-th group from member `from` on. */
export function pastGroups(leaf: usize, from: u32, held: u32): u32 {
  for (; held; held--) from = groupEnd<Own>(leaf, from);
  return from;
}

/** The last group of the leaf that ends at `end` and holds `entry`. */
// @ts-ignore: decorator
@inline export function lastGroup<M>(entry: usize, end: usize): usize {
  const leaf = leafOf<M>(entry);
  return groupEntry(leaf, startBefore<M>(leaf, indexOf(leaf, end)));
}

/** The first group of the leaf, from `entry` on, whose key is at least `key`; 0 if there is none. */
export function groupFrom<M>(entry: usize, key: u64): usize {
  const leaf = leafOf<M>(entry), header = headerOf<M>(leaf), count = countIn(header), width = widthIn(header);
  const base = baseIn<M>(leaf, header), highs = highsIn(leaf, header);
  if (key <= base) return entry;
  if (!width) return 0;
  const most = key - base - 1;                // of the members to pass over
  let index = indexOf(leaf, entry), step: u32 = 1;
  while (index + step <= count && high<M>(highs + <usize>((index + step - 1) * width), width) <= most) {
    index += step;
    step <<= 1;
  }
  if (index == count) return 0;
  index += searched<M>(highs + <usize>(index * width), min(step, count - index), width, most);
  return index < count ? groupEntry(leaf, index) : 0;
}

/** How many of `count` highs, one or more, that begin at `first` are at most `most`. */
// @ts-ignore: decorator
@inline function searched<M>(first: usize, count: u32, width: u32, most: u64): u32 {
  let base: u32 = 0, rest = count;
  while (rest > 1) {
    const half = rest >> 1;
    base = high<M>(first + <usize>((base + half) * width), width) <= most ? base + half : base;
    rest -= half;
  }
  return base + u32(high<M>(first + <usize>(base * width), width) <= most);
}

/** How many members of the leaf, which is not empty, have keys up to `key`. */
export function membersUpTo<M>(leaf: usize, key: u64): u32 {
  const form = formOf<M>(leaf), base = baseOf<M>(leaf, form), count = packedCount<M>(leaf);
  return key < base ? 0 : searched<M>(highsAt(leaf, form, count), count, widthOf(form), key - base);
}

/** How many members of the leaf have keys below `key`. */
// @ts-ignore: decorator
@inline export function membersBefore<M>(leaf: usize, key: u64): u32 {
  return key ? membersUpTo<M>(leaf, key - 1) : 0;
}

/** How many members of the leaf come before `offset`. */
export function membersBelow<M>(leaf: usize, offset: u64): u32 {
  const key = offset >> 16, low = <u32>offset & 0xffff, from = membersBefore<M>(leaf, key);
  if (from == packedCount<M>(leaf) || keyAt<M>(leaf, from) != key) return from;
  return lowsBelow<M>(leaf, from, groupEnd<M>(leaf, from), low);
}

/** The index, in from .. to, of the first of the leaf's lows from .. to - 1 that is at least `low`. */
// @ts-ignore: decorator
@inline function lowsBelow<M>(leaf: usize, from: u32, to: u32, low: u32): u32 {
  const lows = lowAt(leaf, formOf<M>(leaf), 0);
  while (from < to) {
    const middle = (from + to) >> 1;
    if (view16<M>(lows + LOW_BYTES * <usize>middle, 0) < low) from = middle + 1; else to = middle;
  }
  return from;
}

/** memberIndex()'s answer where there is no such member. */
// @ts-ignore: decorator
@inline export const NO_MEMBER: u32 = u32.MAX_VALUE;

/** The index of the offset among the leaf's members, or NO_MEMBER. */
export function memberIndex(leaf: usize, offset: u64): u32 {
  const key = offset >> 16, upTo = farMembersUpTo(leaf, key);
  return upTo ? indexBelow(leaf, upTo, key, <u32>offset & 0xffff) : NO_MEMBER;
}

/** memberIndex() where the leaf has `upTo` members, at least one, with keys up to `key`. */
// @ts-ignore: decorator
@inline function indexBelow(leaf: usize, upTo: u32, key: u64, low: u32): u32 {
  const header = headerOf<Own>(leaf), width = widthIn(header), mine = key - baseIn<Own>(leaf, header);
  const lows = lowsIn(leaf, header);
  let at = highsIn(leaf, header) + <usize>(upTo * width), index = upTo;
  // The member is mostly one of the greatest of its group.
  for (const end = max<i32>(<i32>upTo - <i32>SMALL, 0); index > <u32>end; index--) {
    at -= width;
    if (high<Own>(at, width) != mine) return NO_MEMBER;
    const member: u32 = load<u16>(lows + LOW_BYTES * <usize>(index - 1));
    if (member <= low) return member == low ? index - 1 : NO_MEMBER;
  }
  if (!index) return NO_MEMBER;
  const found = lowsBelow<Own>(leaf, startBefore<Own>(leaf, upTo), upTo, low);
  return load<u16>(lows + LOW_BYTES * <usize>found) == low ? found : NO_MEMBER;
}

/** Fewer members are searched without stretches: they lie in a few lines of the cache. */
// @ts-ignore: decorator
@inline const STRETCHES_FROM: u32 = 48;

/** Highs of a stretch, whose last one tells whether to pass over it. They lie in a cache line or two. */
// @ts-ignore: decorator
@inline function stretchOf(width: u32): u32 { return width > 2 ? 16 : 32; }

/**
 * membersUpTo() for a leaf that is probably not in the cache: no load of another line waits for one before,
 * as in farEntriesUpTo() of directory.ts.
 */
export function farMembersUpTo(leaf: usize, key: u64): u32 {
  const header = headerOf<Own>(leaf), base = baseIn<Own>(leaf, header), count = countIn(header);
  const width = widthIn(header), first = highsIn(leaf, header), most = key - base;
  if (key < base) return 0;
  if (!width || most >> (8 * width)) return count;
  if (count < STRETCHES_FROM) return searched<Own>(first, count, width, most);
  // Compared as high() loads them, with what lies before a high in the bits below it.
  const below = 64 - 8 * width, limit = (most << below) | (((<u64>1) << below) - 1);
  const stretch = stretchOf(width), bytes = <usize>(stretch * width);
  const end = first + <usize>(count * width) - 8;
  let upTo: u32 = 0;
  for (let at = first + bytes - 8; at <= end; at += bytes) upTo += load<u64>(at) <= limit ? stretch : 0;
  if (upTo == count) return count;
  return upTo + searched<Own>(first + <usize>(upTo * width), min(stretch, count - upTo), width, most);
}

// --- Writing -----------------------------------------------------------------------------------------------

/** Bytes of a high that is at most `most`. */
// @ts-ignore: decorator
@inline function widthFor(most: u64): u32 { return <u32>(71 - clz(most)) >> 3; }

/**
 * The form in which `count` members with keys from `first` to `last` take the least space in a tiny arena.
 */
// @ts-ignore: decorator
@inline function tightForm(first: u64, last: u64, count: u32): u32 {
  if (count > 1) return tightFormOfSome(first, last, count);
  return last ? PACKED | BASED : PACKED;      // a single member has no highs: high() says why
}
/** tightForm() for two members or more. */
// @ts-ignore: decorator
@inline function tightFormOfSome(first: u64, last: u64, count: u32): u32 {
  const based = PACKED | BASED | widthFor(last - first), plain = PACKED | widthFor(last);
  return formBytes(based, count) < formBytes(plain, count) ? based : plain;
}

// @ts-ignore: decorator
@inline function writeHigh(at: usize, width: u32, value: u64): void {
  if (width & 4) { store<u32>(at, <u32>value); at += 4; value >>= 32; }
  if (width & 2) { store<u16>(at, <u16>value); at += 2; value >>= 16; }
  if (width & 1) store<u8>(at, <u8>value);
}

// @ts-ignore: decorator
@inline function writeHeader(leaf: usize, form: u32, count: u32, base: u64): void {
  store<u32>(leaf, (form << 8) | (count << 16));
  if (form & BASED) store<u64>(leaf, base, BASE);
}

/** Writes the header of a leaf in a tiny arena or a page for `count` members with keys from first to last. */
// @ts-ignore: decorator
@inline function begin(leaf: usize, form: u32, first: u64, count: u32): void {
  writeHeader(leaf, form, count, form & BASED ? first : 0);
}
/**
 * Begins a tiny arena's packed leaf of `count` members with keys from `first` to `last`: as small as it gets.
 */
export function beginTight(leaf: usize, first: u64, last: u64, count: u32): void {
  begin(leaf, tightForm(first, last, count), first, count);
}
/** Bytes of that leaf. */
export function tightBytes(first: u64, last: u64, count: u32): usize {
  return formBytes(tightForm(first, last, count), count);
}
/** Begins a page of `count` members with keys from `first` to `last`. */
export function beginPage(page: usize, first: u64, last: u64, count: u32): void {
  begin(page, PACKED | BASED | widthFor(last - first), first, count);
}
/** The most members of a page whose keys lie in [first, last]. */
// @ts-ignore: decorator
@inline export function pageMembers(first: u64, last: u64): u32 {
  return pageCapacity(PACKED | BASED | widthFor(last - first));
}
/** Nine bits for each width: (PAGE_BYTES - 12) / (LOW_BYTES + width), rounded down. */
// @ts-ignore: decorator
@inline const CAPACITIES: u64 =
  506 | (337 << 9) | (253 << 18) | (<u64>202 << 27) | (<u64>168 << 36) | (<u64>144 << 45) | (<u64>126 << 54);
// @ts-ignore: decorator
@inline function pageCapacity(form: u32): u32 {
  return <u32>(CAPACITIES >> (9 * widthOf(form))) & PAGE_MAX;
}

// Writing the keys of a new leaf one group after the other.

/** Where the highs of the leaf begin. */
export function beginKeys(leaf: usize): usize { return highsIn(leaf, headerOf<Own>(leaf)); }
/** Bytes of a high of the leaf. */
export function highBytes(leaf: usize): u32 { return widthOf(formOf<Own>(leaf)); }
/** What highs of the leaf are differences from. */
export function leafBase(leaf: usize): u64 { return baseIn<Own>(leaf, headerOf<Own>(leaf)); }
/** Writes the highs of the next `count` members, all `value`, to `at`. Returns where the next ones begin. */
// @ts-ignore: decorator
@inline export function putHighs(at: usize, width: u32, value: u64, count: u32): usize {
  do {
    writeHigh(at, width, value);
    at += width;
  } while (--count);
  return at;
}

/** Writes the keys of members from .. to - 1, all `key`. */
export function putKeys(leaf: usize, from: u32, to: u32, key: u64): void {
  const form = formOf<Own>(leaf), width = widthOf(form), value = key - baseOf<Own>(leaf, form);
  const first = highsAt(leaf, form, packedCount<Own>(leaf));
  if (width == 1 && to - from > SMALL) { memory.fill(first + from, <u8>value, to - from); return; }
  let at = first + <usize>(from * width);
  for (let i = from; i < to; i++, at += width) writeHigh(at, width, value);
}
/** Address of the low of member `index`. */
// @ts-ignore: decorator
@inline export function lowsFrom<M>(leaf: usize, index: u32): usize {
  return lowAt(leaf, formOf<M>(leaf), index);
}

/**
 * Copies members from .. to - 1 of the packed leaf `source` to the leaf, where they are members `at` and on.
 */
export function copyMembers(leaf: usize, at: u32, source: usize, from: u32, to: u32): void {
  memory.copy(lowsFrom<Own>(leaf, at), lowsFrom<Own>(source, from), LOW_BYTES * <usize>(to - from));
  copyKeys<Own>(leaf, at, source, from, to);
}

/** Writes the keys of members from .. to - 1 of the packed leaf `source` as those of members `at` and on. */
export function copyKeys<M>(leaf: usize, at: u32, source: usize, from: u32, to: u32): void {
  const form = formOf<Own>(leaf), width = widthOf(form), old = formOf<M>(source), was = widthOf(old);
  const more = baseOf<M>(source, old) - baseOf<Own>(leaf, form);
  let mine = highsAt(leaf, form, packedCount<Own>(leaf)) + <usize>(at * width);
  let theirs = highsAt(source, old, packedCount<M>(source)) + <usize>(from * was);
  for (; from < to; from++, mine += width, theirs += was) {
    writeHigh(mine, width, high<M>(theirs, was) + more);
  }
}

/**
 * Gives the leaf, within its room, another form and base that can hold its keys. No step takes more bytes
 * than the larger of the two forms.
 */
function reform(leaf: usize, form: u32, base: u64): void {
  const old = formOf<Own>(leaf), count = packedCount<Own>(leaf), was = widthOf(old), width = widthOf(form);
  const more = baseOf<Own>(leaf, old) - base, lows = LOW_BYTES * <usize>count;
  let highs = highsAt(leaf, old, count);
  if (width <= was) {
    for (let i: u32 = 0; i < count; i++) {
      writeHigh(highs + <usize>(i * width), width, high<Own>(highs + <usize>(i * was), was) + more);
    }
  }
  const kept = <usize>(count * min(was, width));
  if (headerBytes(form) != headerBytes(old)) {
    const bytes = lows + (width <= was ? kept : <usize>(count * was));
    memory.copy(lowAt(leaf, form, 0), lowAt(leaf, old, 0), bytes);
    highs = highsAt(leaf, form, count);
  }
  if (width > was) {
    for (let i = count; i; i--) {
      writeHigh(
        highs + <usize>((i - 1) * width), width, high<Own>(highs + <usize>((i - 1) * was), was) + more,
      );
    }
  }
  writeHeader(leaf, form, count, base);
}

/** The leaf's form once it holds `key`, too, if its base stays or, for a key below it, gets less. */
function formWith(leaf: usize, key: u64): u32 {
  const form = formOf<Own>(leaf), base = baseOf<Own>(leaf, form), count = packedCount<Own>(leaf);
  const range = key >= base ? key - base : keyAt<Own>(leaf, count - 1) - key;   // members, if it is below
  return (form & ~WIDTH) | max(widthOf(form), widthFor(range));
}

/** For how many members more the page has room if one of them has `key`. */
export function pageRoom(page: usize, key: u64): u32 {
  const count = packedCount<Own>(page), most = pageCapacity(formWith(page, key));
  return max(most, count) - count;
}

/** Bytes of the leaf, which is not empty, with another member of `key`. */
export function bytesWith(leaf: usize, key: u64): usize {
  return formBytes(formWith(leaf, key), packedCount<Own>(leaf) + 1);
}

/** Bytes of a tiny arena's leaf, which is not empty, with another member of `key`, in its tightest form. */
export function tightBytesWith(key: u64): usize {
  const count = packedCount<Own>(0);
  return tightBytes(min(key, keyAt<Own>(0, 0)), max(key, keyAt<Own>(0, count - 1)), count + 1);
}

/**
 * Gives a tiny arena's leaf, within its room, the form in which it takes least with another member of `key`.
 */
export function tighten(key: u64): void {
  const count = packedCount<Own>(0), first = min(key, keyAt<Own>(0, 0));
  const form = tightFormOfSome(first, max(key, keyAt<Own>(0, count - 1)), count + 1);
  reform(0, form, form & BASED ? first : 0);
}

/** Inserts the offset as member `index` of the leaf, which is not empty and has bytesWith() of room. */
export function insertMember(leaf: usize, index: u32, offset: u64): void {
  const key = offset >> 16, form = formWith(leaf, key), base = baseOf<Own>(leaf, form);
  if (key < base) reform(leaf, form, baseBelow(leaf, key, form));
  else if (form != formOf<Own>(leaf)) reform(leaf, form, base);
  openMember(leaf, form, index);
  const count = packedCount<Own>(leaf) + 1, width = widthOf(form);
  setPackedCount(leaf, count);
  store<u16>(lowAt(leaf, form, index), <u16>offset);
  writeHigh(highsAt(leaf, form, count) + <usize>(index * width), width, key - baseOf<Own>(leaf, form));
}

/** Moves apart what stands before and behind a new member `index`, in both columns. */
// @ts-ignore: decorator
@inline function openMember(leaf: usize, form: u32, index: u32): void {
  const count = packedCount<Own>(leaf), width = widthOf(form), low = lowAt(leaf, form, index);
  const highs = highsAt(leaf, form, count), split = highs + <usize>(index * width);
  memory.copy(split + LOW_BYTES + width, split, <usize>((count - index) * width));
  memory.copy(low + LOW_BYTES, low, split - low);             // the rest of the lows, and the highs before
}

/**
 * A base for a key below the present one.
 * It leaves room on both sides, so that descending input does not move it each time.
 */
function baseBelow(leaf: usize, key: u64, form: u32): u64 {
  const range = keyAt<Own>(leaf, packedCount<Own>(leaf) - 1) - key;
  const most = ((<u64>1) << (8 * widthOf(form))) - 1;
  return key - min(key, (most - range) >> 1);
}

/** Removes members from .. to - 1. */
export function removeMembers(leaf: usize, from: u32, to: u32): void {
  const form = formOf<Own>(leaf), count = packedCount<Own>(leaf), left = count - (to - from);
  if (left == 1 && !(form & BASED)) { leaveOne(leaf, offsetAt<Own>(leaf, from ? 0 : to)); return; }
  const width = widthOf(form), low = lowAt(leaf, form, from), gone = low + LOW_BYTES * <usize>(to - from);
  const highs = highsAt(leaf, form, count), split = highs + <usize>(from * width);
  memory.copy(low, gone, split - gone);       // the rest of the lows, and the highs before
  memory.copy(split - (gone - low), highs + <usize>(to * width), <usize>((count - to) * width));
  setPackedCount(leaf, left);
}

/** Makes the offset the only member of the leaf. */
export function leaveOne(leaf: usize, offset: u64): void {
  const key = offset >> 16, form = PACKED | (key ? BASED : 0);
  writeHeader(leaf, form, 1, key);
  store<u16>(lowAt(leaf, form, 0), <u16>offset);
}

/** Gives a page the form and base that hold `key`, too. */
// @ts-ignore: decorator
@inline function includeKey(page: usize, key: u64): void {
  const form = formWith(page, key), base = baseOf<Own>(page, form);
  if (key < base) reform(page, form, baseBelow(page, key, form));
  else if (form != formOf<Own>(page)) reform(page, form, base);
}

/** Gives a page narrower highs if its own keys allow that. */
export function tightenPage(page: usize): void {
  const form = formOf<Own>(page), first = keyAt<Own>(page, 0);
  const last = keyAt<Own>(page, packedCount<Own>(page) - 1);
  if (widthFor(last - first) < widthOf(form)) reform(page, PACKED | BASED | widthFor(last - first), first);
}

/**
 * Appends members 0 .. to - 1 of the page `upper`, which are all greater, to the page, which has room for
 * them.
 */
export function appendMembers(page: usize, upper: usize, to: u32): void {
  includeKey(page, keyAt<Own>(upper, to - 1));
  const form = formOf<Own>(page), held = packedCount<Own>(page), all = held + to;
  memory.copy(highsAt(page, form, all), highsAt(page, form, held), <usize>(held * widthOf(form)));
  setPackedCount(page, all);
  copyMembers(page, held, upper, 0, to);
}

/** Puts the members of the page `lower` from `from` on, which are all less, before those of the page. */
export function prependMembers(page: usize, lower: usize, from: u32): void {
  const to = packedCount<Own>(lower);
  includeKey(page, keyAt<Own>(lower, from));
  const form = formOf<Own>(page), held = packedCount<Own>(page), all = held + to - from;
  const width = widthOf(form), low = lowAt(page, form, 0), highs = highsAt(page, form, all);
  memory.copy(highs + <usize>((to - from) * width), highsAt(page, form, held), <usize>(held * width));
  memory.copy(low + LOW_BYTES * <usize>(to - from), low, LOW_BYTES * <usize>held);
  setPackedCount(page, all);
  copyMembers(page, 0, lower, from, to);
}

/**
 * Moves all members of the page `upper` behind those of the page `lower`, whose offsets are all less,
 * if together they fill three quarters of a page at most. Returns whether it did.
 */
export function joinPages(lower: usize, upper: usize): bool {
  const held = packedCount<Own>(lower), more = packedCount<Own>(upper);
  const room = pageRoom(lower, keyAt<Own>(upper, more - 1));
  if ((held + more) * 4 > (held + room) * 3) return false;
  appendMembers(lower, upper, more);
  return true;
}

/** What insertHere() did: nothing, as the offset was there; added it to a group, or as a group of its own. */
export const enum Inserted { PRESENT, ADDED, ADDED_GROUP, NOT_HERE }

/**
 * Inserts the offset in a packed leaf, where that is all there is to do: it has room, base and width fit, and
 * the container stays a group. `bytes` is what the leaf may take, `most` how many members it may have.
 */
// @ts-ignore: decorator
@inline export function insertHere(leaf: usize, offset: u64, bytes: usize, most: u32): Inserted {
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
  if (upTo < ASKED_EVERY) return true;
  if (!leaf) return count & (ASKED_EVERY - 1) || upTo < count || high<Own>(highs, width) != mine;
  return high<Own>(highs + <usize>((upTo - ASKED_EVERY) * width), width) != mine
    || staysGroup(leaf, startBefore<Own>(leaf, upTo), upTo, low);
}

/** The most members of a group in a page: from here on a container of its own costs little more. */
// @ts-ignore: decorator
@inline export const GROUP_MAX: u32 = 64;
/** A group is asked whether a short bitset is smaller once in so many members, as an array is. */
// @ts-ignore: decorator
@inline const ASKED_EVERY: u32 = 4;

/**
 * Whether the group of members from .. to - 1 of a page stays one with the member `low`:
 * it is small, and a short bitset would not take less.
 */
// @ts-ignore: decorator
@inline export function staysGroup(leaf: usize, from: u32, to: u32, low: u32): bool {
  const count = to - from;
  if (count >= GROUP_MAX) return false;
  if (count < ASKED_EVERY || count & (ASKED_EVERY - 1)) return true;
  const least: u32 = load<u16>(lowsFrom<Own>(leaf, from)), most: u32 = load<u16>(lowsFrom<Own>(leaf, to - 1));
  return !prefersShort(count + 1, wordsBetween(min(least, low), max(most, low)));
}
