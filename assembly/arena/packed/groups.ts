// The groups of a packed leaf: where they begin and end, and how many there are.

import { Own } from "../../env/view";
import { pageMembers } from "./begin";
import {
  BASED, Group, SMALL, baseIn, countIn, formOf, headerOf, high, highsAt, highsIn, keyAt, packedCount, widthIn,
  widthOf,
} from "./layout";
import { membersBeforeKey, searched } from "./search";

/** Whether the leaf is a valid page: it has a base, and no group has more than GROUP_MAX members. */
export function isSoundPage(page: usize): bool {
  if (!(formOf<Own>(page) & BASED)) return false;
  for (let i: u32 = 0, next: u32 = 0, count = packedCount<Own>(page); i < count; i = next) {
    next = groupEnd<Own>(page, i);
    if (next - i > GROUP_MAX) return false;
  }
  return true;
}
/** Members of the group. */
// @ts-ignore: decorator
@inline export function groupCount<M>(entry: Group): u32 {
  const leaf = Group.leaf<M>(entry), index = Group.index(leaf, entry);
  return groupEnd<M>(leaf, index) - index;
}
/** The entry after the group's; where the leaf ends if it is the last one. */
// @ts-ignore: decorator
@inline export function nextGroup<M>(entry: Group): usize {
  const leaf = Group.leaf<M>(entry);
  return Group.at(leaf, groupEnd<M>(leaf, Group.index(leaf, entry)));
}

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
@inline export function endOf<M>(first: usize, width: u32, mine: u64, index: u32, count: u32): u32 {
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
/** Members behind the first one that are compared one by one to find the end of a group. */
// @ts-ignore: decorator
@inline const END_STEPS: u32 = 2;

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
  return membersBeforeKey<M>(leaf, keyAt<M>(leaf, from));
}

/** The first member of the group of member `index`. */
export function groupStart<M>(leaf: usize, index: u32): u32 {
  return membersBeforeKey<M>(leaf, keyAt<M>(leaf, index));
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
@inline export function lastGroup<M>(entry: Group, end: Group): usize {
  const leaf = Group.leaf<M>(entry);
  return Group.at(leaf, startBefore<M>(leaf, Group.index(leaf, end)));
}

/** The first group of the leaf, from `entry` on, whose key is at least `key`; 0 if there is none. */
export function groupFrom<M>(entry: Group, key: u64): usize {
  const leaf = Group.leaf<M>(entry), header = headerOf<M>(leaf), count = countIn(header), width = widthIn(header);
  const base = baseIn<M>(leaf, header), highs = highsIn(leaf, header);
  if (key <= base) return changetype<usize>(entry);
  if (!width) return 0;
  const most = key - base - 1;                // of the members to pass over
  let index = Group.index(leaf, entry), step: u32 = 1;
  while (index + step <= count && high<M>(highs + <usize>((index + step - 1) * width), width) <= most) {
    index += step;
    step <<= 1;
  }
  if (index == count) return 0;
  index += searched<M>(highs + <usize>(index * width), min(step, count - index), width, most);
  return index < count ? Group.at(leaf, index) : 0;
}

/** The most members of a group in a page: from here on a container of its own costs little more. */
// @ts-ignore: decorator
@inline export const GROUP_MAX: u32 = 64;
