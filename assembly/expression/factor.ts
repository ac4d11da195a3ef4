// Common factors, so that terms that share a key read it once. The tree is in normal form. With K for the
// keys that all of some terms are in, or not in, and X, Y for the rest of each:
//
//   ANY, ODD   (K & X) | (K - Y) = K & (X | ~Y), and the same for ^ and for ~K
//   ALL        (K | X) & (K | Y) = K | (X & Y). The first items of a LESS are such items, and the others
//              those of an ANY.
//   ATLEAST, EXACTLY, and sums
//              If all items are K & X or K - X: where K is, so many of the X, and elsewhere no item.
//              If all items are K | X: elsewhere so many of the X, and where K is, all of the items.
//              If all items are K ^ r, where the r do not depend on keys: where K is, so many of the ~r, and
//              elsewhere so many of the r.
//
// Each term joins the group of the key that most terms around it share, and all keys that the group shares
// are taken out at once. Terms stay as they are if their group would be too small (gainOf()). A table behind
// the records has an entry for each key that a term is in, at 2 * key, and for each that it is not in, at
// 2 * key + 1. So the pass takes time in proportion to the number of operands:
//
//   +0  u32 gains of the terms that have the key     +4  u32 the rest of the key's group: X | ~Y
//
// Entry 0 has the gains of all terms that have been counted.

import { reserve } from "../arena/layout/header";
import { Rule } from "../combine/term/term";
import { copyTree, isConstant } from "./normalrecord";
import { normalize } from "./normal";
import {
  Syntax, addChild, childItems, firstChild, highValue, isTerm, keyCount, lowValue, makeKeys, makeTree,
  moveChildren, nextSibling, normalOf, recordsEnd, rootRecord, ruleOf, setNormal, setRecordsEnd, setRule,
  standsFor, syntaxOf, takeChildren, weightOf,
} from "./tree";

/** Where the fields of a key's entry are, as above. */
const enum Cell { COUNT = 0, GROUP = 4 }
// @ts-ignore: decorator
@inline const COUNTED_BYTES: usize = 8;

/** The least gain of a group. */
// @ts-ignore: decorator
@inline const GAIN_LEAST: u32 = 8;
/** The gain of a term that cannot be quicker on its own. */
// @ts-ignore: decorator
@inline const CERTAIN: u32 = 4;
/** How often factors are looked for: what remains of a group may have factors, too. */
// @ts-ignore: decorator
@inline const ROUNDS: u32 = 3;

/** Brings the tree in memory 0 into normal form, with common factors taken out. */
export function simplify(): void {
  normalize();
  for (let round: u32 = 0; round < ROUNDS && factor(); round++) normalize();
}

/** Takes out common factors. Returns whether there were any: then the tree is no longer in normal form. */
function factor(): bool {
  const table = recordsEnd(), end = table + 2 * (<usize>keyCount() + 1) * COUNTED_BYTES;
  reserve(end);
  setRecordsEnd(end);
  if (factorBelow(table, rootRecord())) return true;
  setRecordsEnd(table);
  return false;
}

/** Takes factors out of the record's items, and then of the record. Returns whether there were any. */
function factorBelow(table: usize, record: usize): bool {
  if (syntaxOf(record) != Syntax.TERM) return false;
  let found = false;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (factorBelow(table, child)) found = true;
  }
  switch (ruleOf(record)) {
    case Rule.ALL:
    case Rule.ANY:
    case Rule.ODD: return group(table, record) || found;
    case Rule.LESS: return groupParts(table, record) || found;
    case Rule.NOT: return found;
    default: return factorCount(table, record) || found;
  }
}

// --- Keys of terms -----------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline function at(table: usize, entry: u32): usize { return table + <usize>entry * COUNTED_BYTES; }
// @ts-ignore: decorator
@inline function countOf(table: usize, entry: u32): u32 { return load<u32>(at(table, entry), Cell.COUNT); }
// @ts-ignore: decorator
@inline function setCounted(table: usize, entry: u32, count: u32): void {
  store<u32>(at(table, entry), count, Cell.COUNT);
}
// @ts-ignore: decorator
@inline function groupOf(table: usize, entry: u32): usize { return load<u32>(at(table, entry), Cell.GROUP); }
// @ts-ignore: decorator
@inline function setGroup(table: usize, entry: u32, rest: usize): void {
  store<u32>(at(table, entry), <u32>rest, Cell.GROUP);
}
/** Whether all terms that have been counted have the key. */
// @ts-ignore: decorator
@inline function isShared(table: usize, entry: u32): bool {
  return countOf(table, entry) == countOf(table, 0);
}

/** Whether a factor of the record is one that a term of `rule`, ALL or ANY or ODD, can have. */
// @ts-ignore: decorator
@inline function suits(record: usize, rule: Rule): bool {
  return isTerm(record, rule) || (rule == Rule.ALL && isTerm(record, Rule.LESS));
}

/** The items of a term that come first, and which a LESS is in. */
// @ts-ignore: decorator
@inline function firstItems(term: usize): u32 {
  return ruleOf(term) == Rule.LESS ? <u32>lowValue(term) : u32.MAX_VALUE;
}

/**
 * How much a group gains from the term, against GAIN_LEAST. In K & x and K & y, a small K saves most of
 * reading x and y, but not in K & (x | y). So it takes several terms, unless each reads no more than K before
 * its rest.
 */
function gainOf(term: usize): u32 {
  if (!suits(term, Rule.ALL)) return CERTAIN;
  let firsts = firstItems(term), read: u32 = 0;
  for (let item = firstChild(term); item && firsts && read < 2; item = nextSibling(item)) {
    firsts -= standsFor(item);
    read += syntaxOf(item) == Syntax.KEYS ? standsFor(item) : u32(!isConstant(item));
  }
  return read < 2 ? CERTAIN : 1;
}

/** Sets the count of each of the term's keys to 0, or adds `by` to it. */
function countKeys(table: usize, term: usize, by: u32): void {
  let firsts = firstItems(term);
  for (let item = firstChild(term); item; item = nextSibling(item)) {
    const without = u32(!firsts);
    firsts -= min(firsts, standsFor(item));
    if (syntaxOf(item) != Syntax.KEYS) continue;
    for (let key = <u32>lowValue(item); key <= <u32>highValue(item); key++) {
      const entry = 2 * key + without;
      setCounted(table, entry, by ? countOf(table, entry) + by : 0);
    }
  }
}

/**
 * Counts the gains of those children of the record that are terms of `rule`, for each of their keys. Returns
 * the gains of all.
 */
function countChildren(table: usize, record: usize, rule: Rule): u32 {
  let gains: u32 = 0;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (suits(child, rule)) countKeys(table, child, 0);
  }
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (!suits(child, rule)) continue;
    const gain = gainOf(child);
    countKeys(table, child, gain);
    gains += gain;
  }
  setCounted(table, 0, gains);
  return gains;
}

/** The entry of the term's key with the greatest count, if that is `least` or more; otherwise 0. */
function mostCounted(table: usize, term: usize, least: u32): u32 {
  let most = least - 1, found: u32 = 0, firsts = firstItems(term);
  for (let item = firstChild(term); item; item = nextSibling(item)) {
    const without = u32(!firsts);
    firsts -= min(firsts, standsFor(item));
    if (syntaxOf(item) != Syntax.KEYS) continue;
    for (let key = <u32>lowValue(item); key <= <u32>highValue(item); key++) {
      const entry = 2 * key + without;
      if (countOf(table, entry) <= most) continue;
      most = countOf(table, entry);
      found = entry;
    }
  }
  return found;
}

/** Moves the keys that all terms in `rest` share to `factors`. */
function takeOut(table: usize, factors: usize, rest: usize, rule: Rule): void {
  countChildren(table, rest, rule);
  for (let term = firstChild(rest); term; term = nextSibling(term)) {
    takeOutOf(table, factors, term);
    factors = 0;
  }
}

/**
 * Takes the shared keys from the term, and adds them to `factors` unless that is 0. An ALL or LESS that is
 * left without items is everything, and an ANY nothing.
 */
function takeOutOf(table: usize, factors: usize, term: usize): void {
  let firsts = firstItems(term), kept: u32 = 0;
  for (let item = takeChildren(term); item;) {
    const next = nextSibling(item), without = !firsts;
    firsts -= min(firsts, standsFor(item));
    let stays: u32 = 1;
    if (syntaxOf(item) == Syntax.KEYS) stays = takeKeys(table, factors, term, item, without);
    else addChild(term, item);
    if (!without) kept += stays;
    item = next;
  }
  // in none of the others, if there is nothing that a LESS is in
  if (isTerm(term, Rule.LESS)) setRule(term, kept ? Rule.LESS : Rule.NOT, kept);
}

/**
 * Adds the shared ones of the keys to `factors`, unless that is 0, and the others to the term. Returns how
 * many others there are.
 */
function takeKeys(table: usize, factors: usize, term: usize, keys: usize, without: bool): u32 {
  const end = <u32>highValue(keys) + 1, side = u32(without);
  let stay: u32 = 0;
  for (let first = <u32>lowValue(keys); first < end;) {
    const shared = isShared(table, 2 * first + side);
    let next = first + 1;
    while (next < end && isShared(table, 2 * next + side) == shared) next++;
    const run = makeKeys(first, next - 1);
    if (!shared) {
      addChild(term, run);
      stay += next - first;
    } else if (factors) addChild(factors, without ? complementOf(run) : run);
    first = next;
  }
  return stay;
}

// --- Groups ------------------------------------------------------------------------------------------------

/** Makes groups of the items of an ALL, ANY or ODD. Returns whether there are any. */
function group(table: usize, record: usize): bool {
  const rule = ruleOf(record), inner = rule == Rule.ALL ? Rule.ANY : Rule.ALL;
  if (countChildren(table, record, inner) < GAIN_LEAST || !chooseKeys(table, record, inner)) return false;
  const mark = recordsEnd();
  for (let child = takeChildren(record); child;) {
    const next = nextSibling(child), entry = suits(child, inner) ? normalOf(child) : 0;
    if (!entry || countOf(table, entry) < GAIN_LEAST) addChild(record, child);
    else {
      if (!groupOf(table, entry)) {
        const factored = makeTree(inner), rest = makeTree(rule);
        addChild(record, factored);
        addChild(factored, rest);
        setGroup(table, entry, rest);
      }
      addChild(groupOf(table, entry), child);
    }
    child = next;
  }
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (child >= mark) takeOut(table, child, firstChild(child), inner);   // the groups are new records
  }
  if (!nextSibling(firstChild(record))) become(record, firstChild(record));
  return recordsEnd() > mark;
}

/**
 * Chooses a key for each term of `rule` among the children: its entry, or 0 for none. Counts the gains of the
 * terms for each key that is chosen. Returns whether any is.
 */
function chooseKeys(table: usize, record: usize, rule: Rule): bool {
  let any = false;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (suits(child, rule)) setNormal(child, mostCounted(table, child, GAIN_LEAST));
  }
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (!suits(child, rule)) continue;
    setCounted(table, normalOf(child), 0);
    setGroup(table, normalOf(child), 0);
  }
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (!suits(child, rule) || !normalOf(child)) continue;
    setCounted(table, normalOf(child), countOf(table, normalOf(child)) + gainOf(child));
    any = true;
  }
  return any;
}

/** Makes the record the same as its only child, a term that no longer has a place in the tree. */
function become(record: usize, child: usize): void {
  setRule(record, ruleOf(child), lowValue(child));
  takeChildren(record);
  moveChildren(record, child);
}

/** Makes groups of the first items of a LESS, and of the others. */
function groupParts(table: usize, record: usize): bool {
  const all = makeTree(Rule.ALL), any = makeTree(Rule.ANY);
  let firsts = <u32>lowValue(record);
  for (let child = takeChildren(record); child;) {
    const next = nextSibling(child), count = standsFor(child);
    addChild(firsts ? all : any, child);
    firsts -= min(firsts, count);
    child = next;
  }
  const inFirsts = group(table, all), inOthers = group(table, any);
  putPart(record, all, Rule.ALL);
  setRule(record, Rule.LESS, childItems(record));
  putPart(record, any, Rule.ANY);
  return inFirsts || inOthers;
}

/** Adds the items of a part of a LESS, or the part itself if it has become a term of another rule. */
function putPart(record: usize, part: usize, rule: Rule): void {
  if (isTerm(part, rule)) moveChildren(record, part); else addChild(record, part);
}

// --- Counting ----------------------------------------------------------------------------------------------

/** Takes out the keys that all items of an ATLEAST, EXACTLY or sum share. Returns whether there are any. */
function factorCount(table: usize, record: usize): bool {
  const first = firstChild(record), rule = suits(first, Rule.ALL) ? Rule.ALL : ruleOf(first);
  if (rule != Rule.ALL && rule != Rule.ANY && rule != Rule.ODD) return false;
  let weight: i64 = 0;
  for (let child = first; child; child = nextSibling(child)) {
    if (!suits(child, rule) || (rule == Rule.ODD && !flipsRanges(child))) return false;
    weight += <i64>weightOf(child);
  }
  const gains = countChildren(table, record, rule);
  if (gains < GAIN_LEAST || !mostCounted(table, first, gains)) return false;
  const counting = ruleOf(record), least = <i64>lowValue(record);
  const factors = makeTree(rule == Rule.ANY ? Rule.ANY : Rule.ALL), rest = makeTree(counting);
  setRule(rest, counting, least);
  moveChildren(rest, record);
  takeOut(table, factors, rest, rule);
  takeChildren(record);
  if (rule == Rule.ODD) makeFlipped(record, factors, rest, weight);
  else if (rule == Rule.ALL) makeWithin(record, factors, rest);
  else makeOutside(record, factors, rest, weight);
  return true;
}

/** Whether items that weigh so much together decide for an offset. */
// @ts-ignore: decorator
@inline function reaches(counting: usize, weight: i64): bool {
  return isExact(counting) ? weight == <i64>lowValue(counting) : weight >= <i64>lowValue(counting);
}

// @ts-ignore: decorator
@inline function isExact(counting: usize): bool {
  return ruleOf(counting) == Rule.EXACTLY || ruleOf(counting) == Rule.SUM_EXACTLY;
}

/** Whether the term is one key ^ what does not depend on keys. */
function flipsRanges(odd: usize): bool {
  const key = firstChild(odd), other = nextSibling(key);
  return syntaxOf(key) == Syntax.KEYS && standsFor(key) == 1 && other != 0 && isConstant(other)
    && !nextSibling(other);
}

/** Makes the record what counts the rest where all factors are, and nothing elsewhere. */
function makeWithin(record: usize, factors: usize, rest: usize): void {
  const elsewhere = reaches(rest, 0);
  setRule(record, elsewhere ? Rule.ANY : Rule.ALL, 0);
  addChild(record, elsewhere ? complementOf(factors) : factors);
  addChild(record, rest);
}

/** Makes the record what counts the rest where no factor is, and elsewhere all items: they weigh `weight`. */
function makeOutside(record: usize, factors: usize, rest: usize, weight: i64): void {
  const everywhere = reaches(rest, weight);
  setRule(record, everywhere ? Rule.ANY : Rule.LESS, everywhere ? 0 : 1);
  addChild(record, rest);
  addChild(record, factors);
}

/** Makes the record what counts the rest where the only factor is not, and elsewhere its complements. */
function makeFlipped(record: usize, factors: usize, rest: usize, weight: i64): void {
  const inside = makeTree(Rule.ALL), outside = makeTree(Rule.LESS), flipped = copyTree(rest, 0);
  const key = <u32>lowValue(firstChild(factors)), most = weight - <i64>lowValue(rest);
  setRule(flipped, ruleOf(rest), isExact(rest) ? most : most + 1);
  addChild(inside, factors);
  addChild(inside, isExact(rest) ? flipped : complementOf(flipped));
  setRule(outside, Rule.LESS, 1);
  addChild(outside, rest);
  addChild(outside, makeKeys(key, key));
  setRule(record, Rule.ANY, 0);
  addChild(record, inside);
  addChild(record, outside);
}

function complementOf(record: usize): usize {
  const term = makeTree(Rule.NOT);
  addChild(term, record);
  return term;
}
