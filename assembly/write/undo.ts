// Lists of offsets of which all or none change when memory runs out half-way.
//
// Adding a list is undone. Undoing must not need memory itself, so what an addition would give back,
// and undoing would need again, stays until the whole list is added:
//
//   - a container that is complete stays a bitset or runs of 65,536 members,
//     which a FULL entry would replace;
//   - runs that touch stay two runs, because joining them may shrink their block;
//   - undoing goes backwards, so that no run is split, and leaves bitsets of all kinds what they
//     are, however few members are left. Sets that small are valid. The next removal of a member
//     converts them.
//
// Removing a list is not undone at all: what may need memory comes first, in makeRemovable(), and changes no
// members. It cuts containers out of FULL entries, and runs where the offsets to remove begin and end.
// Removing them then only shortens runs, and leaves bitsets of all kinds what they are. At last
// tidy() converts those that are left with few members. It may run out of memory; then they stay.
//
// settle() gives containers their final form when all of a list is added, or makeRemovable() has
// failed, and tidy() when all of it is removed. Whether a list needs that is noted with
// argument.defer(). The arena does not record this.

import { argument } from "../env/memory";
import { Own } from "../env/view";
import { Header } from "../arena/layout/header";
import { Allocator } from "../arena/layout/blocks";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { releaseContainer } from "./convert";
import { convertDepleted, isDepleted, trim } from "./shrink";
import { cutRunBefore } from "./cut";
import { isolate, removeKeepingKind } from "./point";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Runs } from "../container/run";

/**
 * Gives the containers of the call's arguments first .. first + count - 1 their final form after addAll() has
 * added them, or after makeRemovable() has failed for them. Needs no memory.
 */
export function settle(first: u32, count: u32): void {
  let known = Offset.KEY_MAX + 1;
  // the container just settled; at first not a valid key
  for (let i = first, end = first + count; i < end; i++) {
    const key = Offset.key(argument.value(i));
    if (key == known) continue;
    known = key;
    settleContainer(key);
  }
}

/** Does settle() for one container, if it is there. */
export function settleContainer(key: u64): void {
  const entry = Directory.find(key), kind = entry ? entry.kind<Own>() : Kind.ARRAY;
  if (kind != Kind.BITSET && kind != Kind.RUNS) return;
  if (entry.count<Own>() == Container.UNIVERSE) {
    releaseContainer(entry);
    entry.setFull(1);
  } else if (kind == Kind.RUNS) {
    const payload = entry.payload<Own>(), runs = Runs.count(payload);
    Allocator.resize(payload, Container.runsBytes(runs), Container.runsBytes(Runs.join(payload)));
  }
}

/**
 * Removes the call's arguments first .. first + count - 1, which addAll() has handed back, in one call or
 * several, and no settle() since. Offsets that are no members are skipped, because addAll() may hand back
 * some that it could not add. Needs no memory.
 */
export function takeBack(first: u32, count: u32): void {
  for (let i = first + count; i > first; i--) {
    const offset = argument.value(i - 1), key = Offset.key(offset), entry = Directory.find(key);
    if (entry && entry.kind<Own>() != Kind.FULL) removeKeepingKind(entry, key, Offset.low(offset));
  }
}

/**
 * Makes it possible for removeAll() to remove the call's arguments first .. first + count - 1 without memory.
 * Changes no members. If memory runs out, the caller calls settle() for the same arguments.
 */
export function makeRemovable(first: u32, count: u32): void {
  if (Header.isTiny<Own>() || (Header.entries<Own>() < count / MEMBERS_AN_ENTRY && !needsCuts())) return;
  for (let i = first, end = first + count; i < end;) {
    const from = argument.value(i), key = Offset.key(from), last = from | Container.LOW_MAX,
      entry = Directory.find(key);
    if (!entry || !isCut(entry)) {
      while (++i < end && argument.value(i) >= from && argument.value(i) <= last);
      continue;
    }
    let to = from;                            // from .. to are neighbors in one container
    while (++i < end && to < last && argument.value(i) == to + 1) to++;
    makeStretchRemovable(entry, key, Offset.low(from), Offset.low(to));
  }
}

/** With this many offsets for each entry or more, looking at all entries first costs little. */
// @ts-ignore: decorator
@inline const MEMBERS_AN_ENTRY: u32 = 8;

/** Whether any container is one that isCut(). */
function needsCuts(): bool {
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    if (isCut(Place.entry(place))) return true;
  }
  return false;
}

/** Whether removing members from the container, or from one of the entry's, begins with cutting it. */
// @ts-ignore: decorator
@inline function isCut(entry: Entry): bool {
  return entry.kind<Own>() == Kind.FULL || entry.kind<Own>() == Kind.RUNS;
}

/**
 * Does makeRemovable() for the stretch from `low` to `last` of container `key`, which `entry` covers.
 * Returns the container's entry.
 */
export function makeStretchRemovable(entry: Entry, key: u64, low: u32, last: u32): Entry {
  if (!isCut(entry)) return entry;
  if (entry.kind<Own>() == Kind.FULL) entry = isolate(entry, key);
  cutRunBefore(entry, low);
  if (last != Container.LOW_MAX && entry.kind<Own>() == Kind.RUNS) cutRunBefore(entry, last + 1);
  return entry;
}

/**
 * Gives the containers of the call's arguments first .. first + count - 1 their final form after removeAll()
 * has removed them. If memory runs out, those that are left keep their form, which is valid.
 */
export function tidy(first: u32, count: u32): void {
  let known = Offset.KEY_MAX + 1;                    // the container just dealt with
  for (let i = first, end = first + count; i < end; i++) {
    const key = Offset.key(argument.value(i));
    if (key == known) continue;
    known = key;
    const entry = Directory.find(key);
    if (!entry) continue;
    if (isDepleted(entry)) convertDepleted(entry); else trim(entry);
  }
}
