// The containers and bytes of a bitmap by kind, for R.STAT.

import { reply } from "../env/memory";
import { Own } from "../env/view";
import { Directory, Place } from "../arena/read/directory";
import { Choice, Kind } from "../container/kind";
import { BITSET_BYTES, Container } from "../container/limits";

/**
 * Adds nine numbers to the reply: containers, members and bytes of the arrays, then of the bitsets,
 * then of the runs. Bytes are what the payloads take in the portable format, where bitsets of any kind
 * with few members and members in a directory entry are arrays, one with many members is a bitset, and a full
 * container is one run.
 */
export function statistics(): void {
  let arrays: u64 = 0, inArrays: u64 = 0;
  let bitsets: u64 = 0, inBitsets: u64 = 0;
  let runs: u64 = 0, inRuns: u64 = 0, ofRuns: u64 = 0;
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    const entry = Place.entry(place), kind = entry.kind<Own>();
    const members = entry.cardinality<Own>(), span = entry.span<Own>();
    if (entry.isStreamedAsArray()) {
      arrays++;
      inArrays += members;
    } else if (Choice.isInWords(kind) || kind == Kind.SPARSE) {
      bitsets++;
      inBitsets += members;
    } else {
      runs += span;
      inRuns += members;
      ofRuns += kind == Kind.FULL ? span * Container.runsBytes(1) : entry.payloadBytes<Own>();
    }
  }
  reply.member(arrays); reply.member(inArrays); reply.member(inArrays * Container.arrayBytes(1));
  reply.member(bitsets); reply.member(inBitsets); reply.member(bitsets * BITSET_BYTES);
  reply.member(runs); reply.member(inRuns); reply.member(ofRuns);
}
