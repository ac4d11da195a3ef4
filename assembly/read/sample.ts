// Members by their ranks, added to the reply: for samples.

import { argument, reply, work } from "../env/memory";
import { Own } from "../env/view";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory } from "../arena/read/directory";
import { Kind } from "../container/kind";

import { selectIn } from "./container";

/** Units of work of searching the directory for a rank. */
// @ts-ignore: decorator
@inline const SEARCH_WORK: u32 = 4;

/**
 * Adds the members of these 0-based ranks, the call's `count` arguments, to the reply in the order of the
 * arguments. All must be below the cardinality. Ranks in the container of the rank before are found without
 * searching the directory.
 */
export function selectAll(count: u32): void {
  // the entry has the ranks first .. first + held - 1
  let entry: Entry = changetype<Entry>(0), key: u64 = 0, first: u64 = 0, held: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const rank = argument.value(i);
    work.spend(1);
    if (rank - first >= held) {
      work.spend(SEARCH_WORK);
      entry = Directory.ofRank(rank);
      key = entry.key<Own>();
      first = Directory.membersBefore(key);
      held = entry.cardinality<Own>();
    }
    const within = rank - first;
    if (entry.kind<Own>() == Kind.FULL) reply.member((key << 16) + within);
    else reply.member(Offset.of(key, selectIn(entry, <u32>within)));
  }
}
