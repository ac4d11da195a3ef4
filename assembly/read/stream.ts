// Members in ascending order, added to the reply: for listing, paging and scanning.

import { Own } from "../env/view";
import { entryCount, entryKey, entryKind, entryLastKey, entryPayload, keyOf, lowOf } from "../arena/entry";
import { advance, placeEntry, seek } from "../arena/directory";

import { replyContainer } from "./container";

/**
 * Adds the first `limit` members that are at least `from` to the reply, ascending.
 * Returns how many there were.
 */
export function membersFrom(from: u64, limit: u64): u64 {
  const firstKey = keyOf(from);
  let rest = limit;
  for (let place = seek<Own>(firstKey); place && rest; place = advance<Own>(place)) {
    const entry = placeEntry(place), last = entryLastKey<Own>(entry);
    const kind = entryKind<Own>(entry), count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
    for (let key = max(entryKey<Own>(entry), firstKey); key <= last && rest; key++) {
      rest -= replyContainer(kind, count, payload, key << 16, key == firstKey ? lowOf(from) : 0, rest);
    }
  }
  return limit - rest;
}
