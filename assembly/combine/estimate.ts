// How many entries a combination may have, for the builder.

import { right } from "../env/memory";
import { Right } from "../env/view";
import { Directory } from "../arena/read/directory";

/** More entries than an arena has room for: it is smaller than 4 GiB. */
// @ts-ignore: decorator
@inline const ENTRIES_MAX: u64 = 0x100000000 / 4;

/** Entries that operands 0 .. sources - 1 have together. */
export function entriesOf(sources: u32): u64 {
  let entries: u64 = 0;
  for (let k: u32 = 0; k < sources; k++) {
    right.select(k);
    entries += Directory.entriesHeld<Right>();
  }
  return entries;
}

/** `entries`, or as many as an arena has room for. */
export function mostEntries(entries: u64): u64 { return min(entries, ENTRIES_MAX); }
