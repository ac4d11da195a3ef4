// Cutting containers: members from .. to out of an array, and a run in two.

import { Own } from "../env/view";
import { Arrays, arrayLowerBound } from "../container/array";
import { Choice, Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Runs } from "../container/run";
import { adjust } from "../arena/change/insert";
import { removeEntry } from "../arena/change/remove";
import { Allocator } from "../arena/layout/blocks";
import { Entry } from "../arena/layout/entry";
import { convertToSuitable, releaseContainer } from "./convert";

/** Removes the members from `from` to `to` from an array, and its entry if none is left. Needs no memory. */
export function cutArray(entry: Entry, key: u64, from: u32, to: u32): void {
  const payload = entry.payload<Own>(), count = entry.count<Own>();
  const first = arrayLowerBound(payload, count, from), end = arrayLowerBound(payload, count, to + 1);
  if (first == end) return;
  memory.copy(payload + Container.arrayBytes(first), payload + Container.arrayBytes(end),
    Container.arrayBytes(count - end));
  shortenArray(entry, key, count - (end - first));
}

/**
 * Makes an array, of which the first `left` members stay, one of these, and updates the sums. Needs no
 * memory.
 */
export function shortenArray(entry: Entry, key: u64, left: u32): void {
  const payload = entry.payload<Own>(), count = entry.count<Own>();
  adjust(key, <i64>left - <i64>count);
  if (left > 2) {
    Allocator.resize(payload, Container.arrayBytes(count), Container.arrayBytes(left));
    entry.setCount(left);
    return;
  }
  const first = Arrays.member(payload, 0), second = Arrays.member(payload, 1);
  releaseContainer(entry);
  if (!left) removeEntry(key);
  else if (left == 1) entry.setSingle(first);
  else entry.setPair(first, second);
}

/**
 * Cuts the run that holds both `low` - 1 and `low`, if there is one, between them.
 * Runs that become too many turn into another kind.
 */
export function cutRunBefore(entry: Entry, low: u32): void {
  const payload = entry.payload<Own>(), found = Runs.find(payload, low), run = <u32>found;
  if (found < 0 || low > Runs.end(payload, run) || low == Runs.start(payload, run)) return;
  if (!mayHaveOneRunMore(payload, entry.count<Own>(), low)) {
    convertToSuitable(entry);
    return;
  }
  const start = Runs.start(payload, run), end = Runs.end(payload, run), at = addRun(entry, run + 1);
  Runs.set(at, run, start, low - 1);
  Runs.set(at, run + 1, low, end);
}

/**
 * Whether a container of `count` members, with `low` or without it,
 * should stay runs when it gets one run more.
 */
export function mayHaveOneRunMore(payload: usize, count: u32, low: u32): bool {
  const words = Choice.wordsBetween(min(low, Runs.start(payload, 0)), max(low, Runs.last<Own>(payload)));
  return Choice.prefersRuns(Runs.count(payload) + 1, count, words);
}

/** Makes room for one run more, before run `index`; returns where the payload is then. */
export function addRun(entry: Entry, index: u32): usize {
  const old = entry.payload<Own>();
  const runs = Runs.count(old);
  const payload = Allocator.resize(old, Container.runsBytes(runs), Container.runsBytes(runs + 1));
  Runs.insert(payload, index);
  entry.setBlock(Kind.RUNS, entry.count<Own>(), payload);
  return payload;
}

export function removeRun(entry: Entry, index: u32): void {
  const payload = entry.payload<Own>(), runs = Runs.count(payload);
  Runs.remove(payload, index);
  Allocator.resize(payload, Container.runsBytes(runs), Container.runsBytes(runs - 1));
}
