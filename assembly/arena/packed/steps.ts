// A walk through a packed leaf, group by group. The walk keeps what the next step needs in memory 0, and each
// step reads the highs of one group and the first one behind it:
//
//   +0   u64 base
//   +8   u64 high of the next group
//   +16  u32 address of that high
//   +20  u32 width

import { endOf } from "./groups";
import { LOW_BYTES, baseIn, headerOf, high, highsIn, indexOf, leafOf, lowsIn, widthIn } from "./layout";

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
@inline export function membersInLeaf(place: u64): u32 { return (<u32>(place >> 32) - <u32>place) >> 1; }
