// What a bitmap is made of.

import { reply } from "./memory";
import { Own } from "./view";
import { ENTRY_BYTES, Kind, entryCardinality, entryKind, entrySpan, isArray, payloadBytes } from "./entry";
import { advance, placeEntry, seek } from "./directory";

/**
 * Hands over nine numbers: containers, members and bytes of the arrays, then of the bitsets, then of the runs. A full container counts as
 * one of runs, members in a directory entry as an array of that entry.
 */
export function statistics(): void {
  replyKind(Kind.ARRAY);
  replyKind(Kind.BITSET);
  replyKind(Kind.RUNS);
}

function replyKind(wanted: Kind): void {
  let containers: u64 = 0, members: u64 = 0, bytes: u64 = 0;
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    const entry = placeEntry(place), kind = entryKind<Own>(entry);
    if ((isArray(kind) ? Kind.ARRAY : kind == Kind.FULL ? Kind.RUNS : kind) != wanted) continue;
    containers += entrySpan<Own>(entry);
    members += entryCardinality<Own>(entry);
    const held = payloadBytes<Own>(entry);
    bytes += held ? held : ENTRY_BYTES;
  }
  reply.member(containers);
  reply.member(members);
  reply.member(bytes);
}
