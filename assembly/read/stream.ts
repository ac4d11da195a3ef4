// Members in ascending order, added to the reply: for listing, paging and scanning.

import { reply } from "../env/memory";
import { Own } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { Group, Page } from "../arena/packed/layout";
import { membersInLeaf } from "../arena/packed/steps";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";

import { Node } from "../arena/layout/node";
import { replyContainer } from "./container";

/**
 * Adds the first `limit` members that are at least `from` to the reply, ascending.
 * Returns how many there were.
 */
export function membersFrom(from: u64, limit: u64): u64 {
  const firstKey = Offset.key(from);
  let rest = limit;
  for (let place = Directory.seek<Own>(firstKey); place && rest; place = Place.next<Own>(place)) {
    while (place && rest && Group.is(changetype<Group>(Place.entry(place)))) {
      rest -= replyPacked(place, from, rest);
      place = Directory.advanceLeaf<Own>(
        Directory.lastBefore<Own>(Place.entry(place), changetype<Group>(<usize>(place >> 32))));
    }
    if (!place || !rest) break;
    const entry = Place.entry(place), last = entry.lastKey<Own>();
    const kind = entry.kind<Own>(), count = entry.count<Own>(), payload = entry.payload<Own>();
    for (let key = max(entry.key<Own>(), firstKey); key <= last && rest; key++) {
      rest -= replyContainer(kind, count, payload, max(key << 16, from), rest);
    }
  }
  return limit - rest;
}

/** membersFrom() for the packed leaf in which `place` is, from there on. */
function replyPacked(place: u64, from: u64, limit: u64): u64 {
  const entry = Place.entry(place), leaf = changetype<Node>(Group.leaf<Own>(entry.group)),
    header = leaf.page.header<Own>();
  const width = Page.widthIn(header);
  const base = leaf.page.baseIn<Own>(header), first = Group.index(leaf.page, entry.group),
    lows = leaf.page.lowsIn(header);
  const end = first + membersInLeaf(place), firstKey = Offset.key(from);
  let at = leaf.page.highsIn(header) + <usize>(first * width), mine = Page.high<Own>(at, width), rest = limit;
  for (let index = first, to = first; index < end && rest; index = to) {
    let next = mine;
    for (to = index + 1; to < end; to++) {
      at += width;
      next = Page.high<Own>(at, width);
      if (next != mine) break;
    }
    const key = base + mine, payload = lows + Container.MEMBER_BYTES * <usize>index;
    const low = key == firstKey ? Offset.low(from) : 0;
    if (to - index > 1) rest -= replyContainer(Kind.ARRAY, to - index, payload, max(key << 16, from), rest);
    else if (load<u16>(payload) >= low) {
      reply.member(key << 16 | load<u16>(payload));
      rest--;
    }
    mine = next;
  }
  return limit - rest;
}
