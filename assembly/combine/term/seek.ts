// How the walk finds the next key at which a term can have members. Each term moves its items to the keys
// that matter to it, and passes over the others: ALL looks only at keys that its two smallest items have, LESS
// only at those that all of its first items have. At a key that a term stops at, each of its items is at that
// key or past it, except that ALL and LESS may leave the others, and DIFF1 the first, behind until it is
// evaluated.

import { right, work } from "../../env/memory";
import { Offset } from "../../arena/layout/entry";
import { Container } from "../../container/limits";
import { Kind } from "../../container/kind";
import { foldCardinality } from "../fold/fold";
import { sidesOf } from "../fold/sides";
import { Shape } from "../shape/shape";
import { Cursor } from "../walk/cursor";
import { Rule, Term } from "./term";
import { Listed } from "./listed";

/** Units of work for seeking a term without groups, and for evaluating it. */
// @ts-ignore: decorator
@inline const SEEK_WORK: u32 = 8;

/**
 * Makes the item the result of `term`, whose items are open, and moves it to the term's first key from `key`
 * on, unless that is NO_KEY: then a walk downwards follows, and none of the term's items are dropped.
 */
export function openTerm(item: u32, term: u32, key: u64): void {
  Cursor.setTerm(item, term);
  if (Term.rule(term) == Rule.ALL) leadWithSmallest(term);
  if (key == Cursor.NO_KEY) return;
  dropEnded(term);
  seekTerm(item, term, key);
}

/** Moves the item to its first key that is at least `key`, unless it is there or past it already. */
// @ts-ignore: decorator
@inline export function seekItem(item: u32, key: u64): void {
  if (Cursor.keyOf(item) < key && !Cursor.of(item).step(key)) moveItem(item, key);
}

/** Moves the item from before `key` to its first key that is at least `key`. */
export function moveItem(item: u32, key: u64): void {
  const term = Cursor.termOf(item);
  if (term) seekTerm(item, term, key); else Cursor.move(item, key);
}

/** Moves the item, which is the result of `term`, to the term's first key that is at least `key`. */
function seekTerm(item: u32, term: u32, key: u64): void {
  switch (Term.rule(term)) {
    case Rule.NOT: return seekComplement(item, term, key);
    case Rule.RANGE: return seekRange(item, term, key);
    case Rule.ALL: return seekAll(item, term, key);
    case Rule.LESS: return seekLess(item, term, key);
    case Rule.ANDOR: return seekInFirst(item, term, key);
    case Rule.DIFF1: return seekOutsideFirst(item, term, key);
    case Rule.SUM_ATLEAST:
    case Rule.SUM_EXACTLY: return seekSum(item, term, key);
    default: seekAny(item, term, key);
  }
}

// --- All items ---------------------------------------------------------------------------------------------

/**
 * Moves the items first .. end - 1 to the first key that is at least `key` and that all of them have, and
 * returns it. Passes over keys at which two neighbors obviously share nothing, so that many items that are
 * small do not all have to be moved there.
 */
// @ts-ignore: decorator
@inline function meet(first: u32, end: u32, key: u64): u64 {
  seekItem(first, key);
  let at = Cursor.keyOf(first), agreed: u32 = 1, i = first;
  while (agreed < end - first && at != Cursor.NO_KEY) {
    const before = i;
    i = i + 1 == end ? first : i + 1;
    seekItem(i, at);
    if (Cursor.keyOf(i) == at && (++agreed != 2 || !shareNothing(before, i, end - first - 2))) continue;
    if (agreed == 2) seekItem(i, at + 1);
    at = Cursor.keyOf(i);
    agreed = 1;
  }
  return at;
}

/** The most members of an array that are compared with another one in the time of moving an item. */
// @ts-ignore: decorator
@inline const COMPARED: u32 = 32;

/**
 * Whether both items are at arrays that have no member in common, and so small that finding this out takes
 * less than moving `others` more items.
 */
function shareNothing(x: u32, y: u32, others: u32): bool {
  if (!others || Cursor.termOf(x) || Cursor.termOf(y)) return false;
  const l = Cursor.shapeOf(x), r = Cursor.shapeOf(y);
  if (Shape.kind(l) != Kind.ARRAY || Shape.kind(r) != Kind.ARRAY) return false;
  return Shape.count(l) <= others * COMPARED && Shape.count(r) <= others * COMPARED
    && !foldCardinality(sidesOf(Cursor.operandOf(x), Cursor.operandOf(y)), l, r);
}

/** The last key up to which the items first .. end - 1 stay as they are at `key`, which all of them have. */
// @ts-ignore: decorator
@inline function lastOfAll(first: u32, end: u32, key: u64): u64 {
  let last = Cursor.lastKeyOf(first);
  for (let i = first + 1; i < end && last > key; i++) last = min(last, Cursor.lastKeyOf(i));
  return last;
}

/** How many items of ALL are sought first. Often they share so little that the others need not be sought. */
// @ts-ignore: decorator
@inline const LEADING: u32 = 2;

/** Makes the smallest operands the first items of the term, whose rule is ALL. */
function leadWithSmallest(term: u32): void {
  const first = Term.first(term), end = Term.end(term);
  if (end - first <= LEADING) return;
  for (let to = first; to < first + LEADING; to++) {
    let smallest = to, least = u32.MAX_VALUE;
    for (let i = to; i < end; i++) {
      if (Cursor.termOf(i)) continue;
      right.select(Cursor.operandOf(i));
      if (right.size() < least) { least = right.size(); smallest = i; }
    }
    swapCursors(to, smallest);
  }
}

function swapCursors(x: u32, y: u32): void {
  const a = changetype<usize>(Cursor.of(x)), b = changetype<usize>(Cursor.of(y));
  for (let at: usize = 0; at < Cursor.BYTES; at += 8) {
    const word = load<u64>(a + at);
    store<u64>(a + at, load<u64>(b + at));
    store<u64>(b + at, word);
  }
}

/** Moves the item to the next key that the term's first items have, or if more keys follow, all items. */
function seekAll(item: u32, term: u32, key: u64): void {
  const first = Term.first(term), end = Term.end(term), leading = min(end, first + LEADING);
  let at = meet(first, leading, key);
  // what is found is evaluated next, which takes about as long for each item
  work.spend(end - first);
  let last = at == Cursor.NO_KEY ? at : lastOfAll(first, leading, at);
  if (last != at && leading < end) {
    at = meet(first, end, at);
    last = at == Cursor.NO_KEY ? at : lastOfAll(first, end, at);
  }
  if (at == Cursor.NO_KEY) Cursor.close(item); else Cursor.set(item, at, last);
}

/**
 * Moves item `i` of the items from `first` on to `key`. If it has no such key, moves the first one to the key
 * that it has instead, and returns false.
 */
export function reachItem(i: u32, first: u32, key: u64): bool {
  seekItem(i, key);
  const at = Cursor.keyOf(i);
  if (at == key) return true;
  if (at == Cursor.NO_KEY) Cursor.close(first); else seekItem(first, at);
  return false;
}

/** Moves the item to the next key that all of the term's first items have. */
function seekLess(item: u32, term: u32, key: u64): void {
  const first = Term.first(term), end = Term.firstGrouped(term), at = meet(first, end, key);
  work.spend(Term.end(term) - first);
  if (at == Cursor.NO_KEY) return Cursor.close(item);
  const last = lastOfAll(first, end, at);
  if (last == at) return Cursor.set(item, at, at);             // seekRest() follows if there are members
  seekRest(term, at);
  Cursor.set(item, at, lastOfGrouped(term, at, last));
}

// --- Any items: in groups if they are many -----------------------------------------------------------------

/**
 * Moves the item to the next key that any of the items has that can be grouped, and lists the items at that
 * key.
 */
function seekAny(item: u32, term: u32, key: u64): void {
  work.spend(SEEK_WORK);
  if (Term.groups(term)) {
    const at = seekGroups(term, key);
    work.spend(Term.items(term));
    if (at == Cursor.NO_KEY) return Cursor.close(item);
    if (Term.groups(term)) return Cursor.set(item, at, lastOfGrouped(term, at, Offset.KEY_MAX));
  }                                           // otherwise it has lost its groups
  let least = Cursor.NO_KEY, last = Offset.KEY_MAX, found = Listed.NOTHING;
  const list = Term.list(term), back = Listed.end(term), end = Cursor.of(Term.end(term));
  for (let i = Term.firstGrouped(term), cursor = Cursor.of(i);
    changetype<usize>(cursor) > changetype<usize>(end);
    cursor = changetype<Cursor>(changetype<usize>(cursor) - Cursor.BYTES), i++) {
    if (cursor.key() < key && !cursor.step(key)) moveItem(i, key);
    const to = cursor.lastKey(), at = cursor.key();
    if (at > least) { last = min(last, at - 1); continue; }
    if (at == least) last = min(last, to);
    else {
      last = min(least - 1, to);
      least = at;
      found = Listed.NOTHING;
    }
    found = Listed.add(list, back, found, i, cursor);
  }
  Cursor.set(item, least, last);
  Term.setFound(term, found);
}

/**
 * Moves the items that can be grouped to `key` or past it, and lists those at `key`. Returns the least key
 * that any of them is at.
 */
export function seekRest(term: u32, key: u64): u64 {
  if (Term.groups(term)) {
    const at = seekGroups(term, key);
    if (Term.groups(term)) return at;
  }
  let least = Cursor.NO_KEY, found = Listed.NOTHING;
  const list = Term.list(term), back = Listed.end(term), end = Cursor.of(Term.end(term));
  for (let i = Term.firstGrouped(term), cursor = Cursor.of(i);
    changetype<usize>(cursor) > changetype<usize>(end);
    cursor = changetype<Cursor>(changetype<usize>(cursor) - Cursor.BYTES), i++) {
    if (cursor.key() < key && !cursor.step(key)) moveItem(i, key);
    const at = cursor.key();
    least = min(least, at);
    if (at == key) found = Listed.add(list, back, found, i, cursor);
  }
  Term.setFound(term, found);
  return least;
}

/** Moves the item to the next key that the first item has, and any of the others. */
function seekInFirst(item: u32, term: u32, key: u64): void {
  const first = Term.first(term);
  let at = key;
  work.spend(Term.items(term));
  do {
    key = at;
    seekItem(first, key);
    at = Cursor.keyOf(first);
    if (at == Cursor.NO_KEY) return Cursor.close(item);
    at = seekRest(term, at);
    if (at == Cursor.NO_KEY) return Cursor.close(item);
  } while (at > Cursor.keyOf(first));
  const last = Cursor.lastKeyOf(first);
  Cursor.set(item, at, last == at ? at : lastOfGrouped(term, at, last));
}

/**
 * Moves the item to the next key that any item but the first has. The first item follows if it matters before
 * it is evaluated.
 */
function seekOutsideFirst(item: u32, term: u32, key: u64): void {
  seekAny(item, term, key);
  const at = Cursor.keyOf(item), last = Cursor.lastKeyOf(item), first = Term.first(term);
  if (at == Cursor.NO_KEY || at == last) return;
  seekItem(first, at);
  Cursor.set(item, at, lastOfItems(first, first + 1, at, last));
}

/**
 * seekRest() for groups, but lists nothing. The term may have few enough items in the end to do without
 * groups.
 */
function seekGroups(term: u32, key: u64): u64 {
  let least = Cursor.NO_KEY;
  for (let group: u32 = 0, groups = Term.groups(term); group < groups; group++) {
    let at = load<u64>(Term.groupKeyAt(term, group));
    if (at < key) {
      at = seekGroup(term, group, key);
      store<u64>(Term.groupKeyAt(term, group), at);
    }
    least = min(least, at);
  }
  if (Term.ended(term) * 2 > Term.items(term)) dropEnded(term);
  return least;
}

/** Moves the group's items to `key` or past it; returns the least key that any is at. */
function seekGroup(term: u32, group: u32, key: u64): u64 {
  const start = Term.groupStart(term, group), end = Term.groupEnd(term, start);
  work.spend(end - start);
  let least = Cursor.NO_KEY, ended = Term.ended(term);
  for (let i = start; i < end; i++) {
    if (Cursor.keyOf(i) < key) {
      seekItem(i, key);
      ended += u32(Cursor.keyOf(i) == Cursor.NO_KEY);
    }
    least = min(least, Cursor.keyOf(i));
  }
  Term.setEnded(term, ended);
  return least;
}

/** The last key, at most `last`, up to which all grouped items stay as they are at `key`. */
function lastOfGrouped(term: u32, key: u64, last: u64): u64 {
  if (!Term.groups(term)) return lastOfItems(Term.firstGrouped(term), Term.end(term), key, last);
  for (let group: u32 = 0, groups = Term.groups(term); group < groups && last > key; group++) {
    const at = load<u64>(Term.groupKeyAt(term, group));
    if (at > key) { last = min(last, at - 1); continue; }
    const start = Term.groupStart(term, group);
    last = lastOfItems(start, Term.groupEnd(term, start), key, last);
  }
  return last;
}

// @ts-ignore: decorator
@inline function lastOfItems(from: u32, end: u32, key: u64, last: u64): u64 {
  for (let i = from; i < end && last > key; i++) {
    const at = Cursor.keyOf(i);
    last = min(last, at == key ? Cursor.lastKeyOf(i) : at - 1);
  }
  return last;
}

/**
 * Removes items without further containers from the term, where that changes nothing, and groups the others
 * anew.
 */
function dropEnded(term: u32): void {
  const rule = Term.rule(term), from = Term.firstGrouped(term), end = Term.end(term);
  Term.setEnded(term, 0);
  // an item without members decides ALL; NOT has only one
  if (rule == Rule.ALL || rule == Rule.NOT) return;
  let kept = from;
  for (let i = from; i < end; i++) {
    if (Cursor.keyOf(i) == Cursor.NO_KEY) continue;
    if (kept != i) {
      Cursor.copy(kept, i);
      if (Term.isSum(rule)) Term.copyWeight(term, kept, i);
    }
    kept++;
  }
  Term.setItems(term, kept - Term.first(term));
  for (let group: u32 = 0, groups = Term.groups(term); group < groups; group++) {
    let least = Cursor.NO_KEY;
    for (let i = Term.groupStart(term, group), to = Term.groupEnd(term, i); i < to; i++) {
      least = min(least, Cursor.keyOf(i));
    }
    store<u64>(Term.groupKeyAt(term, group), least);
  }
}

// --- Sums --------------------------------------------------------------------------------------------------

/**
 * Moves the item to the next key at which an item of the sum has a container, a step begins inside the
 * container, or the constant alone suffices. In the last case, the interval ends before the next such item or
 * step.
 */
function seekSum(item: u32, term: u32, key: u64): void {
  const limit = Offset.key(Term.highOffset(term));
  seekAny(item, term, key);
  const met = Cursor.keyOf(item), last = Cursor.lastKeyOf(item);
  while (key <= limit) {
    work.spend(1);
    const step = Term.stepTo(term, key);
    const next = step + 1 < Term.steps(term) ? Offset.key(Term.stepOffset(term, step + 1)) : Cursor.NO_KEY;
    if (next == key) return Cursor.set(item, key, key);
    if (met == key) return Cursor.set(item, key, min(last, next - 1));
    const end = min(min(met, next) - 1, limit);
    if (Term.reaches(term, Term.stepConstant(term, step))) return Cursor.set(item, key, end);
    key = end + 1;
  }
  Cursor.close(item);
}

// --- Complements and ranges --------------------------------------------------------------------------------

/** Moves the item to the next key of the universe that the term's only item is not known to fill. */
function seekComplement(item: u32, term: u32, key: u64): void {
  const inner = Term.first(term), limit = Offset.key(Term.highOffset(term));
  work.spend(1);
  seekItem(inner, key);
  // a span of full containers
  while (Cursor.keyOf(inner) == key && Cursor.lastKeyOf(inner) > key && !Cursor.termOf(inner)) {
    key = Cursor.lastKeyOf(inner) + 1;
    seekItem(inner, key);
  }
  if (key > limit) return Cursor.close(item);
  const at = Cursor.keyOf(inner);
  Cursor.set(item, key, min(limit, at == key ? Cursor.lastKeyOf(inner) : at - 1));
}

/**
 * Moves the item to the next key of the range. The first and the last container may be filled in part and
 * stand alone.
 */
function seekRange(item: u32, term: u32, key: u64): void {
  const low = Term.lowOffset(term), high = Term.highOffset(term), first = Offset.key(low),
    last = Offset.key(high);
  work.spend(1);
  const at = max(key, first);
  if (at > last) return Cursor.close(item);
  if (at == first && Offset.low(low)) return Cursor.set(item, at, at);
  Cursor.set(item, at, at == last || Offset.low(high) == Container.LOW_MAX ? last : last - 1);
}
