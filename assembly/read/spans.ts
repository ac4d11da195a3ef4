// Maximal runs of members, across containers: listed for the reply, or only counted.

import { reply, work } from "../env/memory";
import { Own } from "../env/view";
import { Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { Kind } from "../container/kind";
import { Count, Kernel, Sink, Store } from "../container/kernel";
import { Container } from "../container/limits";
import { NONE, nextClearIn, nextSetIn } from "./container";

/** Runs that count as one unit of work. */
// @ts-ignore: decorator
@inline const UNIT_RUNS: u64 = 16;

/**
 * Adds the first `limit` runs of members of [from, to] to the reply, each as its first and its last member.
 * Returns how many there were.
 */
export function runsBetween(from: u64, to: u64, limit: u64): u64 { return walkRuns<Store>(from, to, limit); }

/** How many runs runsBetween() would reply. */
export function countRuns(from: u64, to: u64, limit: u64): u64 { return walkRuns<Count>(from, to, limit); }

function walkRuns<S extends Sink>(from: u64, to: u64, limit: u64): u64 {
  let runs: u64 = 0, first: u64 = 0, last: u64 = 0;            // first .. last is the last run so far
  if (from > to || !limit) return 0;
  for (let place = Directory.seek<Own>(Offset.key(from)); place; place = Place.next<Own>(place)) {
    const entry = Place.entry(place), isFull = entry.kind<Own>() == Kind.FULL, before = runs;
    const end = Offset.of(entry.lastKey<Own>(), Container.LOW_MAX);
    for (let at = max(from, entry.key<Own>() << 16), high: u64 = at; ; at = high + 1) {
      if (!isFull) {
        const low = nextSetIn(entry, Offset.low(at));
        if (low == NONE) break;
        at = Offset.of(Offset.key(at), low);
      }
      if (at > to) break;
      high = isFull ? end : Offset.of(Offset.key(at), nextClearIn(entry, Offset.low(at)) - 1);
      if (!runs || at - 1 != last) {
        if (Kernel.stores<S>() && runs) replyRun(first, last);
        if (runs == limit) return runs;
        runs++;
        first = at;
      }
      last = high;
      if (high == end) break;
    }
    work.spend(1 + <u32>((runs - before) / UNIT_RUNS));
    if (end >= to) break;
  }
  if (Kernel.stores<S>() && runs) replyRun(first, min(last, to));
  return runs;
}

// @ts-ignore: decorator
@inline function replyRun(first: u64, last: u64): void {
  reply.member(first);
  reply.member(last);
}
