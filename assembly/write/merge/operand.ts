// The entries of the operand that is merged: how many there are, and copies of them.

import { right } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Allocator } from "../../arena/layout/blocks";
import { Entry } from "../../arena/layout/entry";
import { Node } from "../../arena/layout/node";
import { Group } from "../../arena/packed/layout";
import { Directory, Place } from "../../arena/read/directory";

/** Fewer entries beyond the end are inserted one by one: leaves should not be small. */
// @ts-ignore: decorator
@inline export const APPENDED_LEAST: u32 = Node.LEAF_MAX / 2;

/** Whether there is an entry of the operand at `place` that begins at or before `last`. */
// @ts-ignore: decorator
@inline export function isUpTo(place: u64, last: u64): bool {
  return place != 0 && Place.entry(place).key<Right>() <= last;
}

/**
 * Entries of memory 0 that the operand's entry `from` covers, at least in part. Stops counting above `most`.
 */
export function entriesCovered(from: Entry, most: u64): u64 {
  let entries: u64 = 0;
  const last = from.lastKey<Right>();
  for (
    let place = Directory.seek<Own>(from.key<Right>());
    place && entries <= most; place = Place.next<Own>(place), entries++
  ) {
    if (Place.entry(place).key<Own>() > last) break;
  }
  return entries;
}

/** Whether the operand's entry has one or two members, which are inserted one by one. */
// @ts-ignore: decorator
@inline export function isFew(from: Entry): bool {
  return Choice.isArray(from.kind<Right>()) && from.count<Right>() <= 2;
}

/** Makes the entry `to` a copy of the operand's entry `from`. */
export function copyEntry(to: Entry, from: Entry): void {
  if (from.isGroup()) { copyGroup(to, from); return; }
  right.copy(changetype<usize>(to), changetype<usize>(from), Entry.BYTES);
  const bytes = from.payloadBytes<Right>();
  if (!bytes) return;
  const at = Allocator.allocate(bytes);
  right.copy(at, from.payload<Right>(), bytes);
  to.setPosition(at);
}

/** copyEntry() for a group of a packed leaf. */
function copyGroup(to: Entry, from: Entry): void {
  const count = from.count<Right>(), members = from.payload<Right>(), bytes = Container.arrayBytes(count);
  to.setKey(from.key<Right>());
  if (count == 1) { to.setSingle(right.load16(members, 0)); return; }
  if (count == 2) { to.setPair(right.load16(members, 0), right.load16(members, 2)); return; }
  const at = Allocator.allocate(bytes);
  right.copy(at, members, bytes);
  to.setBlock(Kind.ARRAY, count, at);
}

/** The place behind the operand's next `members` members, those of whole groups of a leaf. */
// @ts-ignore: decorator
@inline export function placeBehind(place: u64, members: u32): u64 {
  const leaf = changetype<Node>(Group.leaf<Right>(changetype<Group>(Place.entry(place))));
  return Directory.placeAfter<Right>(leaf,
    Group.index(leaf.page, changetype<Group>(Place.entry(place))) + members - 1);
}
