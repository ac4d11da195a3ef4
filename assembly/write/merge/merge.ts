// Adding all members of another bitmap, operand 0, in place: the cost depends on the containers of the
// operand. Building the union of both (combine/combine.ts) copies the containers that only memory 0 has as
// well, and is quicker when the operand has about as many.
//
// Operand containers up to memory 0's last key are merged one by one: one or two members are inserted, more
// are folded with the container that is there. Those beyond that key are appended, whole leaves at a time.
// All growth happens before the first change.

import { SELF, right } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { ARENA_MAX, Header } from "../../arena/layout/header";
import { Allocator } from "../../arena/layout/blocks";
import { Entry } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { adjust, insertEntry } from "../../arena/change/insert";
import { loosen } from "../../arena/change/pages";
import { PageGroups } from "../../arena/packed/groups";
import { normalized } from "../../combine/shape/normalize";
import { fold } from "../../combine/fold/fold";
import { Places, Scratch } from "../../combine/shape/scratch";
import { Shape } from "../../combine/shape/shape";
import { Fold, show, sidesOf } from "../../combine/fold/sides";
import { releaseContainer, replaceContainer, wordsWith } from "../convert";
import { countUp } from "../edit";
import { insertWithoutPacking } from "../point";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { appendEntries } from "./append";
import { APPENDED_LEAST, copyEntry, entriesCovered, isFew, isUpTo } from "./operand";
import { roomToMerge } from "./room";

// The estimate that decides, in nanoseconds. Merging takes MERGING, and MERGED for each entry of the operand
// below the end of memory 0, which is a search for a container that is probably not in the cache. Building
// anew takes BUILT for each entry of memory 0, and a nanosecond for each COPIED bytes. Folding two
// containers, and copying what lies beyond the end, costs as much either way.
//
// Containers that outgrow their blocks leave free blocks behind. Where the larger blocks may take more than
// 1 / REPLACED of memory 0, the union is built anew, too: memory 0 would have to grow by more than it does at
// a time, and be rewritten soon.

// @ts-ignore: decorator
@inline const MERGING: u64 = 10000;
// @ts-ignore: decorator
@inline const MERGED: u64 = 250;
// @ts-ignore: decorator
@inline const BUILT: u64 = 20;
// @ts-ignore: decorator
@inline const COPIED: u64 = 8;

/**
 * Adds the members of operand 0 to memory 0 and returns 1.
 * If it is quicker to build the union anew, or if memory 0 is tiny, changes nothing and returns 0.
 */
export function merge(): u32 {
  if (Header.isTiny<Own>()) return 0;
  right.select(0);
  const last = Directory.last<Own>().lastKey<Own>();
  const building = Directory.entriesHeld<Own>() * BUILT + Header.bump() / COPIED;
  if (MERGING + entriesToMerge(last, building / MERGED) * MERGED > building) return 0;
  if (Header.isPaged()) loosenForMerge(last);
  const room = roomToMerge(last);
  if (Header.bump() + room > ARENA_MAX) return 0;
  Allocator.prepare(<usize>room);                       // all growth happens here, before anything is changed

  let place = Directory.seek<Right>(0), rest = Directory.entriesExactly<Right>();
  for (; isUpTo(place, last); place = Place.next<Right>(place), rest--) mergeEntry(Place.entry(place));
  if (rest >= APPENDED_LEAST) appendEntries(place, rest);
  else for (; place; place = Place.next<Right>(place)) mergeEntry(Place.entry(place));
  return 1;
}

/**
 * Entries of the operand up to key `last`, and entries of memory 0 that its FULL entries cover.
 * Stops counting above `most`.
 */
function entriesToMerge(last: u64, most: u64): u64 {
  let entries: u64 = 0;
  for (let place = Directory.seek<Right>(0); entries <= most && isUpTo(place, last);
    place = Place.next<Right>(place)) {
    const from = Place.entry(place);
    entries++;
    if (from.kind<Right>() == Kind.FULL) entries += entriesCovered(from, most);
  }
  return entries;
}

/** Unpacks the leaves in which more happens than inserting a few members. */
function loosenForMerge(last: u64): void {
  let rest = Directory.entriesExactly<Right>(), place = Directory.seek<Right>(0);
  for (; isUpTo(place, last); place = Place.next<Right>(place), rest--) {
    const from = Place.entry(place), key = from.key<Right>();
    if (!isFew(from)) { loosen(key, from.lastKey<Right>()); continue; }
    const leaf = Directory.leafFor<Own>(key),
      group = leaf.page.isPacked<Own>() ? Directory.findGroup(leaf, key) : changetype<Entry>(0);
    if (group && !staysGroupWith(group, from.count<Right>())) loosen(key, key);
  }
  if (!rest || rest >= APPENDED_LEAST) return;
  for (; place; place = Place.next<Right>(place)) {              // the rest is inserted behind the last entry
    if (!isFew(Place.entry(place))) { loosen(last, last); return; }
  }
}

/** Whether a group in a page certainly stays one while it gets `more` members, 1 or 2, wherever these lie. */
function staysGroupWith(entry: Entry, more: u32): bool {
  const count = entry.count<Own>();
  return count + more <= PageGroups.MAX
    && !Choice.prefersShort(count + more, wordsWith(entry, Container.LOW_MAX, 0));
}

// --- Merging -----------------------------------------------------------------------------------------------

/** Adds the containers of the operand's entry `from`. */
function mergeEntry(from: Entry): void {
  const key = from.key<Right>(), kind = from.kind<Right>();
  if (kind == Kind.FULL) { fillFromOperand(key, from.lastKey<Right>()); return; }
  if (isFew(from)) { insertMembers(from, key << 16); return; }
  const entry = Directory.find(key);
  if (!entry) {
    copyEntry(insertEntry(key), from);
    adjust(key, from.count<Right>());
  } else if (entry.kind<Own>() != Kind.FULL) {
    foldOperandInto(entry, key, Shape.ofEntry<Right>(from));
  }
}

/** Inserts the members that the operand's entry itself holds. */
function insertMembers(from: Entry, base: u64): void {
  const first = from.payload<Right>(), end = first + Container.arrayBytes(from.count<Right>());
  for (let member = first; member < end; member += Container.MEMBER_BYTES) {
    insertWithoutPacking(base | right.load16(member, 0));
  }
}

/** Makes containers [first, last] full: those that are there one by one, those that are missing as spans. */
function fillFromOperand(first: u64, last: u64): void {
  for (let key = first; key <= last;) {
    const place = Directory.seek<Own>(key), entry = Place.entry(place);
    const next = place ? min(entry.key<Own>(), last + 1) : last + 1;
    if (next > key) {
      insertEntry(key).setFull(next - key);
      adjust(key, (next - key) << 16);
      key = next;
      continue;
    }
    key = entry.lastKey<Own>() + 1;
    if (entry.kind<Own>() == Kind.FULL) continue;
    adjust(next, Container.UNIVERSE - entry.count<Own>());
    releaseContainer(entry);
    entry.setFull(1);
  }
}

/** Folds the shape `r` of the operand into the container `key` of `entry`. */
function foldOperandInto(entry: Entry, key: u64, r: u64): void {
  Places.make(Scratch.RIGHT);
  const before = entry.count<Own>(), isBitset = entry.kind<Own>() == Kind.BITSET;
  const folded = fold(Fold.OR, sidesOf(SELF, 0), Shape.ofEntry<Own>(entry), r);
  show(sidesOf(SELF, 0));
  const more = Shape.count(folded) - before;
  if (!more) return;
  adjust(key, more);
  if (isBitset) countUp(entry, more, false); else replaceContainer(entry, normalized(folded));
}
