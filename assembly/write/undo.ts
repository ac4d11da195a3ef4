// Undoing the addition of a list of offsets when memory runs out half-way. Undoing must not need memory itself, so what an addition would
// give back, and undoing would need again, stays until the whole list is added:
//
//   - a container that is complete stays a bitset or runs of 65,536 members, which a FULL entry would replace;
//   - runs that touch stay two runs, because joining them may shrink their block;
//   - undoing goes backwards, so that no run is split, and leaves a bitset a bitset and buckets buckets, however few members are left.
//     Sets that small are valid. The next removal of a member converts them.
//
// Meanwhile the arena is unsettled. settle() ends that when all of the list is added.

import { argument } from "../env/memory";
import { Own } from "../env/view";
import { resize, setUnsettled, unsettled } from "../arena/arena";
import { KEY_MAX, Kind, entryCount, entryKind, entryPayload, keyOf, lowOf, setFull } from "../arena/entry";
import { findEntry } from "../arena/directory";
import { releaseContainer } from "./convert";
import { removeAt } from "./point";
import { UNIVERSE, runsBytes } from "../container/limits";
import { joinRuns, runsCount } from "../container/run";

/** Gives the containers of the call's arguments first .. first + count - 1, which addAll() has added, their final form. Needs no memory. */
export function settle(first: u32, count: u32): void {
  if (!unsettled<Own>()) return;
  let known = KEY_MAX + 1;                    // not the key of any container
  for (let i = first, end = first + count; i < end; i++) {
    const key = keyOf(argument.value(i));
    if (key == known) continue;
    known = key;
    const entry = findEntry(key), kind = entryKind<Own>(entry);
    if (kind != Kind.BITSET && kind != Kind.RUNS) continue;
    if (entryCount<Own>(entry) == UNIVERSE) {
      releaseContainer(entry);
      setFull(entry, 1);
    } else if (kind == Kind.RUNS) {
      const payload = entryPayload<Own>(entry), runs = runsCount(payload);
      resize(payload, runsBytes(runs), runsBytes(joinRuns(payload)));
    }
  }
  setUnsettled(0);
}

/**
 * Removes the call's arguments first .. first + count - 1, which addAll() has handed back, in one call or several, and no settle() since.
 * Offsets that are no members are skipped, because addAll() may hand back some that it could not add. Needs no memory.
 */
export function takeBack(first: u32, count: u32): void {
  for (let i = first + count; i > first; i--) {
    const offset = argument.value(i - 1), key = keyOf(offset), entry = findEntry(key);
    if (entry && entryKind<Own>(entry) != Kind.FULL) removeAt(entry, key, lowOf(offset), true);
  }
  if (unsettled<Own>()) setUnsettled(0);
}
