// Appending the operand's entries that lie beyond memory 0's last key, as whole leaves: small arrays in pages
// where these take less, others in ordinary leaves.

import { right } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { Container } from "../../container/limits";
import { appendLeaf } from "../../arena/change/insert";
import { Allocator, Block } from "../../arena/layout/blocks";
import { Entry } from "../../arena/layout/entry";
import { Node } from "../../arena/layout/node";
import { PageWriter, copyPageKeys } from "../../arena/packed/begin";
import { PageGroups } from "../../arena/packed/groups";
import { Group, Page } from "../../arena/packed/layout";
import { membersInLeaf } from "../../arena/packed/steps";
import { Place } from "../../arena/read/directory";
import { copyEntry, placeBehind } from "./operand";
import { Builder } from "../../arena/builder/state";

/**
 * Appends copies of the operand's `count` last entries, the first of which is at `place`: small arrays in
 * pages where these take less, others in leaves as full as they can be.
 */
export function appendEntries(place: u64, count: u32): void {
  for (let held: u32 = 0; count; count -= held) {
    const members = Group.is(changetype<Group>(Place.entry(place))) ? fitPage(place) : 0;
    if (members) {
      held = appendPage(place, members);
      place = placeBehind(place, members);
    } else {
      held = min(count, Node.LEAF_MAX);
      place = appendOrdinary(place, held);
    }
  }
}

/**
 * How many members from `place` on, of small arrays that the operand has in one leaf, a page holds; 0 if
 * ordinary entries take less.
 */
function fitPage(place: u64): u32 {
  const leaf = changetype<Node>(Group.leaf<Right>(changetype<Group>(Place.entry(place)))),
    first = Group.index(leaf.page, changetype<Group>(Place.entry(place)));
  const end = PageGroups.largerFrom<Right>(leaf.page, first, first + membersInLeaf(place), Builder.SMALL_MAX);
  if (end == first) return 0;
  const members = PageGroups.membersForPage<Right>(leaf.page, first, end);
  return ordinaryBytesOf(leaf, first, first + members) > Page.BYTES ? members : 0;
}

/** Bytes of the operand's members from .. to - 1 of a packed leaf as ordinary entries with their blocks. */
function ordinaryBytesOf(leaf: Node, from: u32, to: u32): usize {
  const groups = PageGroups.between<Right>(leaf.page, from, to);
  let bytes = <usize>groups * Entry.BYTES;
  if (groups == to - from) return bytes;
  for (let next: u32 = 0; from < to; from = next) {
    next = PageGroups.end<Right>(leaf.page, from);
    if (next - from > 2) bytes += Block.bytes(Container.arrayBytes(next - from));
  }
  return bytes;
}

/** Appends a page of the operand's next `members` members, which lie in one leaf. Returns their groups. */
function appendPage(place: u64, members: u32): u32 {
  const leaf = changetype<Node>(Group.leaf<Right>(changetype<Group>(Place.entry(place)))),
    first = Group.index(leaf.page, changetype<Group>(Place.entry(place)));
  const behind = first + members, page = changetype<Node>(Allocator.allocatePage()),
    groups = PageGroups.between<Right>(leaf.page, first, behind);
  PageWriter.beginPage(page.page, leaf.page.keyAt<Right>(first), leaf.page.keyAt<Right>(behind - 1), members);
  right.copy(page.page.lowsFrom<Own>(0), leaf.page.lowsFrom<Right>(first), Container.arrayBytes(members));
  copyPageKeys<Right>(page.page, 0, leaf.page, first, behind);
  appendLeaf(page, groups);
  return groups;
}

/** Appends an ordinary leaf of `count` entries from `place` on. Returns the place behind them. */
function appendOrdinary(place: u64, count: u32): u64 {
  const leaf = changetype<Node>(Allocator.allocate(Node.bytes(0, count)));
  leaf.write(0, count);
  for (let i: u32 = 0; i < count; i++, place = Place.next<Right>(place)) {
    copyEntry(leaf.entryAt(i), Place.entry(place));
  }
  appendLeaf(leaf, count);
  return place;
}
