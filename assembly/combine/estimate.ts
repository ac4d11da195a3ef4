// How large a combination may become: estimated bytes for the host, and the most entries for the builder.

import { arena, right } from "../env/memory";
import { Own, Right } from "../env/view";
import { BITSET_BYTES } from "../container/limits";
import { Directory } from "../arena/read/directory";
import { Operation } from "./term/operation";

/** The most that a container takes, with its entry and its share of the directory. */
// @ts-ignore: decorator
@inline const CONTAINER_BYTES: u64 = BITSET_BYTES + 24;

/**
 * An estimate of the result's bytes from the sources' sizes, so that the arena rarely has to grow while the
 * result is built. The result may be larger.
 */
export function expectedBytes(op: Operation, sources: u32): u64 {
  let sum: u64 = 0, least = u64.MAX_VALUE, first: u64 = 0, entries: u64 = 0;
  for (let c: u32 = 0; c < sources; c++) {
    right.select(c);
    const size = <u64>right.size();
    sum += size;
    least = min(least, size);
    if (!c) first = size;
    entries = max<u64>(entries, Directory.entriesHeld<Right>());
  }
  if (op == Operation.AND) return least;
  if (op == Operation.DIFF || op == Operation.ANDOR) return first;
  // The complement of an array takes up to twice the array. Large sources mostly share their keys: then as
  // many bitsets are the most.
  return min(op == Operation.NOT ? 2 * first : sum, entries * CONTAINER_BYTES);
}

/** expectedBytes() of the union of memory 0 and operand 0; at least 1. */
export function unionBytes(): u64 {
  right.select(0);
  const entries = max(max<u64>(Directory.entriesHeld<Own>(), Directory.entriesHeld<Right>()), 1);
  return min(<u64>arena.size() + <u64>right.size(), entries * CONTAINER_BYTES);
}

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
