// The entries of the operand that is merged: how many there are, and copies of them.

import { right } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { Kind, isArray } from "../../container/kind";
import { arrayBytes } from "../../container/limits";
import { allocate } from "../../arena/layout/blocks";
import {
  ENTRY_BYTES, entryCount, entryKey, entryKind, entryLastKey, entryPayload, payloadBytes, setBlock, setKey,
  setPair, setPosition, setSingle,
} from "../../arena/layout/entry";
import { LEAF_MAX } from "../../arena/layout/node";
import { indexOf, isGroup, leafOf } from "../../arena/packed/layout";
import { advance, placeAfter, placeEntry, seek } from "../../arena/read/directory";

/** Fewer entries beyond the end are inserted one by one: leaves should not be small. */
// @ts-ignore: decorator
@inline export const APPENDED_LEAST: u32 = LEAF_MAX / 2;

/** Whether there is an entry of the operand at `place` that begins at or before `last`. */
// @ts-ignore: decorator
@inline export function isUpTo(place: u64, last: u64): bool {
  return place != 0 && entryKey<Right>(placeEntry(place)) <= last;
}

/**
 * Entries of memory 0 that the operand's entry `from` covers, at least in part. Stops counting above `most`.
 */
export function entriesCovered(from: usize, most: u64): u64 {
  let entries: u64 = 0;
  const last = entryLastKey<Right>(from);
  for (
    let place = seek<Own>(entryKey<Right>(from));
    place && entries <= most; place = advance<Own>(place), entries++
  ) {
    if (entryKey<Own>(placeEntry(place)) > last) break;
  }
  return entries;
}

/** Whether the operand's entry has one or two members, which are inserted one by one. */
// @ts-ignore: decorator
@inline export function isFew(from: usize): bool {
  return isArray(entryKind<Right>(from)) && entryCount<Right>(from) <= 2;
}

/** Makes the entry `to` a copy of the operand's entry `from`. */
export function copyEntry(to: usize, from: usize): void {
  if (isGroup(from)) { copyGroup(to, from); return; }
  right.copy(to, from, ENTRY_BYTES);
  const bytes = payloadBytes<Right>(from);
  if (!bytes) return;
  const at = allocate(bytes);
  right.copy(at, entryPayload<Right>(from), bytes);
  setPosition(to, at);
}

/** copyEntry() for a group of a packed leaf. */
function copyGroup(to: usize, from: usize): void {
  const count = entryCount<Right>(from), members = entryPayload<Right>(from), bytes = arrayBytes(count);
  setKey(to, entryKey<Right>(from));
  if (count == 1) { setSingle(to, right.load16(members, 0)); return; }
  if (count == 2) { setPair(to, right.load16(members, 0), right.load16(members, 2)); return; }
  const at = allocate(bytes);
  right.copy(at, members, bytes);
  setBlock(to, Kind.ARRAY, count, at);
}

/** The place behind the operand's next `members` members, those of whole groups of a leaf. */
// @ts-ignore: decorator
@inline export function placeBehind(place: u64, members: u32): u64 {
  const leaf = leafOf<Right>(placeEntry(place));
  return placeAfter<Right>(leaf, indexOf(leaf, placeEntry(place)) + members - 1);
}
