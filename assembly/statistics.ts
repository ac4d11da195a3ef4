// What a bitmap is made of.

import { reply } from "./memory";
import { Own } from "./view";
import { ENTRY_BYTES, Kind, entryCardinality, entryKind, entrySpan, isArray, payloadBytes } from "./entry";
import { advance, placeEntry, seek } from "./directory";
import { BITSET_BYTES } from "./container/limits";

/**
 * Hands over nine numbers: containers, members and bytes of the arrays, then of the bitsets, then of the runs. A full container counts as
 * one of runs, members in a directory entry as an array of that entry.
 */
export function statistics(): void {
  let arrays: u64 = 0, inArrays: u64 = 0, ofArrays: u64 = 0, bitsets: u64 = 0, inBitsets: u64 = 0, runs: u64 = 0, inRuns: u64 = 0, ofRuns: u64 = 0;
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    const entry = placeEntry(place), kind = entryKind<Own>(entry), members = entryCardinality<Own>(entry);
    const held = payloadBytes<Own>(entry), bytes = held ? held : ENTRY_BYTES;
    if (isArray(kind)) { arrays++; inArrays += members; ofArrays += bytes; }
    else if (kind == Kind.BITSET) { bitsets++; inBitsets += members; }
    else { runs += entrySpan<Own>(entry); inRuns += members; ofRuns += bytes; }
  }
  reply.member(arrays); reply.member(inArrays); reply.member(ofArrays);
  reply.member(bitsets); reply.member(inBitsets); reply.member(bitsets * BITSET_BYTES);
  reply.member(runs); reply.member(inRuns); reply.member(ofRuns);
}
