// How a walk goes through the keys of a tree of terms from the greatest one downwards. The walk forwards
// (combine/term/seek.ts) keeps a cursor in each item and never goes back, so this walk keeps a mark for each
// item instead: the greatest key, at most that of the walk, at which the item can have members. Once the root
// has such a key, the cursors are put there, and the terms are evaluated as in a walk forwards.
//
// Marks are kept in the builder's scratch at the arena's end, below the terms, and are named like these, by the
// distance of the first one from the arena's end:
//
//   +0   u64 past: the key plus 1, 0 if there is none. UNKNOWN if the mark has never been set
//   +8   u64 first key of the interval: the item stays as it is at all keys from here to the mark's. Before
//        that key only if it is full at all of these keys, or at none
//   +16  u64 place of the entry in the operand (arena/read/directory.ts); of operands only
//   +24  u64 of the first item of a group (combine/term/term.ts): the greatest of the group's keys, plus 1, or
//        more
//
// Moving a mark takes a search of the operand's directory. A mark that is below the walk's key stays, so a step
// searches only the operands that have the key. It looks at the marks of the others, or, in terms with groups,
// at those of the groups that have the key.

import { arena, right, work } from "../../env/memory";
import { Right } from "../../env/view";
import { Entry, Offset } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { Container } from "../../container/limits";
import { Cursor } from "../walk/cursor";
import { moveItem } from "./seek";
import { Rule, Term } from "./term";

/** How far a walk downwards has come in an item. */
@final @unmanaged
export class Mark {
  @inline static readonly BYTES: u32 = 32;
  @inline private static readonly UNKNOWN: u64 = u64.MAX_VALUE;
  @inline private static readonly FIRST: u32 = 8;
  @inline private static readonly PLACE: u32 = 16;
  @inline private static readonly MOST: u32 = 24;

  @inline static of(marks: u32, item: u32): Mark {
    return changetype<Mark>(<usize>arena.size() - marks + <usize>(item * Mark.BYTES));
  }

  @inline past(): u64 { return load<u64>(changetype<usize>(this)); }
  @inline first(): u64 { return load<u64>(changetype<usize>(this), Mark.FIRST); }
  @inline place(): u64 { return load<u64>(changetype<usize>(this), Mark.PLACE); }
  @inline set(past: u64, first: u64): void {
    store<u64>(changetype<usize>(this), past);
    store<u64>(changetype<usize>(this), first, Mark.FIRST);
  }

  @inline setPast(past: u64): void { store<u64>(changetype<usize>(this), past); }
  @inline setPlace(place: u64): void { store<u64>(changetype<usize>(this), place, Mark.PLACE); }
  @inline most(): u64 { return load<u64>(changetype<usize>(this), Mark.MOST); }
  @inline setMost(past: u64): void { store<u64>(changetype<usize>(this), past, Mark.MOST); }
  @inline forget(): void {
    this.set(Mark.UNKNOWN, Mark.UNKNOWN);
    this.setMost(Mark.UNKNOWN);
  }

  @inline end(): void { this.set(0, 0); }
}

/** Units of work for searching the directory of an operand. */
// @ts-ignore: decorator
@inline const SEARCH_WORK: u32 = 4;

/** Begins a walk downwards through the item and those below it, whose terms have been made. */
export function beginRetreat(marks: u32, item: u32): void {
  Mark.of(marks, item).forget();
  Cursor.close(item);
  const term = Cursor.termOf(item);
  if (!term) return;
  Term.setEnded(term, 0);
  for (let group: u32 = 0, groups = Term.groups(term); group < groups; group++) {
    store<u64>(Term.groupKeyAt(term, group), Cursor.NO_KEY);
  }
  for (let i = Term.first(term), end = Term.end(term); i < end; i++) beginRetreat(marks, i);
}

/**
 * Moves the item's mark down to the greatest key, at most `key`, at which the item can have members. Returns
 * that key plus 1; 0 if there is none.
 */
export function retreat(marks: u32, item: u32, key: u64): u64 {
  const mark = Mark.of(marks, item);
  if (mark.past() <= key + 1) return mark.past();
  if (mark.first() <= key) { mark.setPast(key + 1); return key + 1; }
  const term = Cursor.termOf(item);
  if (term) retreatTerm(marks, term, mark, key); else retreatOperand(item, mark, key);
  return mark.past();
}

function retreatOperand(item: u32, mark: Mark, key: u64): void {
  work.spend(SEARCH_WORK);
  right.select(Cursor.operandOf(item));
  const place = Directory.seekBack<Right>(key);
  if (!place) return mark.end();
  const entry: Entry = Place.entry(place);
  mark.setPlace(place);
  mark.set(min(entry.lastKey<Right>(), key) + 1, entry.key<Right>());
}

function retreatTerm(marks: u32, term: u32, mark: Mark, key: u64): void {
  const first = Term.first(term), grouped = Term.firstGrouped(term);
  work.spend(1 + grouped - first + (Term.groups(term) || Term.end(term) - grouped));
  switch (Term.rule(term)) {
    case Rule.NOT: return retreatComplement(marks, term, mark, key);
    case Rule.RANGE: return retreatRange(term, mark, key);
    case Rule.ALL: return settle(mark, meet(marks, first, Term.end(term), key), marks, term);
    case Rule.LESS: return settle(mark, meet(marks, first, grouped, key), marks, term);
    case Rule.ANDOR: return settle(mark, meetOthers(marks, term, key), marks, term);
    case Rule.SUM_ATLEAST:
    case Rule.SUM_EXACTLY: return retreatSum(marks, term, mark, key);
    case Rule.ATLEAST:
    case Rule.EXACTLY: return settle(mark, meetSeveral(marks, term, key), marks, term);
    default: settle(mark, greatestGrouped(marks, term, key), marks, term);
  }
}

/** Sets the mark to a key, plus 1, and to the first key from which on the items stay as they are there. */
// @ts-ignore: decorator
@inline function settle(mark: Mark, past: u64, marks: u32, term: u32): void {
  mark.set(past, past ? firstAlike(marks, term, past - 1, 0) : 0);
}

/** The first key, at least `first`, from which on the items of the term stay as they are at `key`. */
function firstAlike(marks: u32, term: u32, key: u64, first: u64): u64 {
  const grouped = Term.firstGrouped(term), end = Term.end(term);
  first = firstOf(marks, Term.first(term), Term.groups(term) ? grouped : end, key, first);
  for (let group: u32 = 0, groups = Term.groups(term); group < groups && first < key; group++) {
    const start = Term.groupStart(term, group), past = greatestOf(marks, term, start, key);
    first = past == key + 1 ? firstOf(marks, start, Term.groupEnd(term, start), key, first)
      : max(first, past);
  }
  return first;
}

/** firstAlike() for the items from .. end - 1. */
function firstOf(marks: u32, from: u32, end: u32, key: u64, first: u64): u64 {
  for (let i = from; i < end && first < key; i++) {
    const past = retreat(marks, i, key);
    first = max(first, past == key + 1 ? Mark.of(marks, i).first() : past);
  }
  return first;
}

/** The greatest key, at most `key`, that all of the items from .. end - 1 have, plus 1; 0 if there is none. */
function meet(marks: u32, from: u32, end: u32, key: u64): u64 {
  for (let i = from, agreed: u32 = 0; agreed < end - from; i = i + 1 == end ? from : i + 1) {
    const past = retreat(marks, i, key);
    if (!past) return 0;
    agreed = past == key + 1 ? agreed + 1 : 1;
    key = past - 1;
  }
  return key + 1;
}

/** The greatest key, at most `key`, that any of the items from .. end - 1 has, plus 1; 0 if there is none. */
function greatest(marks: u32, from: u32, end: u32, key: u64): u64 {
  let past: u64 = 0;
  for (let i = from; i < end; i++) past = max(past, retreat(marks, i, key));
  return past;
}

/** greatest() for the group that begins with item `start`. */
function greatestOf(marks: u32, term: u32, start: u32, key: u64): u64 {
  const leader = Mark.of(marks, start);
  if (leader.most() > key + 1) {
    const end = Term.groupEnd(term, start);
    work.spend(end - start);
    leader.setMost(greatest(marks, start, end, key));
  }
  return leader.most();
}

/** greatest() for the items of the term that can be grouped. */
function greatestGrouped(marks: u32, term: u32, key: u64): u64 {
  const groups = Term.groups(term);
  if (!groups) return greatest(marks, Term.firstGrouped(term), Term.end(term), key);
  let past: u64 = 0;
  for (let group: u32 = 0; group < groups; group++) {
    past = max(past, greatestOf(marks, term, Term.groupStart(term, group), key));
  }
  return past;
}

/** The greatest key, at most `key`, that the first item and any other has, plus 1; 0 if there is none. */
function meetOthers(marks: u32, term: u32, key: u64): u64 {
  const first = Term.first(term);
  while (true) {
    const past = retreat(marks, first, key);
    if (!past) return 0;
    const other = greatestGrouped(marks, term, past - 1);
    if (other == past || !other) return other;
    work.spend(Term.groups(term) || Term.items(term));
    key = other - 1;
  }
}

/** The most items that have to meet for keys of fewer items to be passed over, in a term without groups. */
// @ts-ignore: decorator
@inline const SEVERAL: u32 = 8;

/**
 * The greatest key, at most `key`, that as many items have as the term requires, plus 1; 0 if there is none. Of
 * terms with groups, and where it takes more than SEVERAL items, one that any item has.
 */
function meetSeveral(marks: u32, term: u32, key: u64): u64 {
  const from = Term.first(term), end = Term.end(term), least = max<u32>(Term.least(term), 1);
  let past = greatestGrouped(marks, term, key);
  if (least > SEVERAL || Term.groups(term)) return past;
  while (past) {
    let reached = itemsFrom(marks, from, end, past);
    if (reached >= least) return past;
    // at fewer than `least` items is a key from `past` - 1 on: go down to the greatest key for which this ends
    while (past && reached < least) {
      past = nextBelow(marks, from, end, past);
      reached = past ? itemsFrom(marks, from, end, past) : 0;
    }
    work.spend(end - from);
    if (past) past = greatest(marks, from, end, past - 1);
  }
  return 0;
}

/** How many of the items from .. end - 1 have marks at key past - 1 or above. */
function itemsFrom(marks: u32, from: u32, end: u32, past: u64): u32 {
  let items: u32 = 0;
  for (let i = from; i < end; i++) items += u32(Mark.of(marks, i).past() >= past);
  return items;
}

/** The greatest mark of the items from .. end - 1 that is below `past`; 0 if there is none. */
function nextBelow(marks: u32, from: u32, end: u32, past: u64): u64 {
  let below: u64 = 0;
  for (let i = from; i < end; i++) {
    const other = Mark.of(marks, i).past();
    if (other < past) below = max(below, other);
  }
  return below;
}

/** Spans of full containers of an operand are passed over at once. */
function retreatComplement(marks: u32, term: u32, mark: Mark, key: u64): void {
  const inner = Term.first(term);
  key = min(key, Offset.key(Term.highOffset(term)));
  let past = retreat(marks, inner, key);
  while (past == key + 1 && !Cursor.termOf(inner)) {
    const first = Mark.of(marks, inner).first();
    if (first == key) break;
    if (!first) return mark.end();
    work.spend(1);
    key = first - 1;
    past = retreat(marks, inner, key);
  }
  mark.set(key + 1, past == key + 1 ? Mark.of(marks, inner).first() : past);
}

/** The first and the last container may be filled in part and stand alone. */
function retreatRange(term: u32, mark: Mark, key: u64): void {
  const low = Term.lowOffset(term), high = Term.highOffset(term), first = Offset.key(low);
  key = min(key, Offset.key(high));
  if (key < first) return mark.end();
  const stands = key == Offset.key(high) && Offset.low(high) != Container.LOW_MAX;
  mark.set(key + 1, stands ? key : min(key, first + u64(Offset.low(low) != 0)));
}

/** As seekSum() in combine/term/seek.ts: items, steps inside a container, and constants that suffice. */
function retreatSum(marks: u32, term: u32, mark: Mark, key: u64): void {
  key = min(key, Offset.key(Term.highOffset(term)));
  const met = greatestGrouped(marks, term, key);
  while (true) {
    work.spend(1);
    const step = Term.stepBackTo(term, key), begins = Term.stepOffset(term, step);
    const next = step + 1 < Term.steps(term) ? Offset.key(Term.stepOffset(term, step + 1)) : Cursor.NO_KEY;
    if (next == key) return mark.set(key + 1, key);
    const first = begins ? Offset.key(begins - 1) + 1 : 0;
    if (met == key + 1) return mark.set(met, firstAlike(marks, term, key, first));
    const below = max(met, first);              // no item has the keys from here on, and no step begins in them
    if (Term.reaches(term, Term.stepConstant(term, step))) return mark.set(key + 1, below);
    if (!below) return mark.end();
    key = below - 1;
  }
}

/**
 * Puts the item's cursor, and those of the items below it, at container `key`, at most the walk's key; closes
 * those that have no such container.
 */
export function arrive(marks: u32, item: u32, key: u64): void {
  Cursor.close(item);
  if (retreat(marks, item, key) != key + 1) return;
  const term = Cursor.termOf(item);
  if (!term) return Cursor.put(item, Mark.of(marks, item).place(), key);
  const grouped = Term.groups(term) ? Term.firstGrouped(term) : Term.end(term);
  work.spend(1 + grouped - Term.first(term) + Term.groups(term));
  for (let i = Term.first(term); i < grouped; i++) arrive(marks, i, key);
  for (let group: u32 = 0, groups = Term.groups(term); group < groups; group++) {
    arriveInGroup(marks, term, group, key);
  }
  if (Term.isSum(Term.rule(term))) Term.stepBackTo(term, key);
  moveItem(item, key);
}

/** arrive() for the items of a group. Those of a group without the container are closed already, or are now. */
function arriveInGroup(marks: u32, term: u32, group: u32, key: u64): void {
  const at = Term.groupKeyAt(term, group), start = Term.groupStart(term, group);
  const has = greatestOf(marks, term, start, key) == key + 1;
  if (!has && load<u64>(at) == Cursor.NO_KEY) return;
  const end = Term.groupEnd(term, start);
  work.spend(end - start);
  for (let i = start; i < end; i++) arrive(marks, i, key);
  store<u64>(at, has ? key : Cursor.NO_KEY);
}
