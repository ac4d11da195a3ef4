// Common factors, so that terms that share a key read it once. The tree is in normal form. With K for the
// keys that all of some terms are in, or not in, and X, Y for the rest of each:
//
//   ANY, ODD   (K & X) | (K - Y) = K & (X | ~Y), and the same for ^ and for ~K
//   ALL        (K | X) & (K | Y) = K | (X & Y). The first items of a LESS are such items, and the others
//              those of an ANY.
//   ATLEAST, EXACTLY, and sums
//              If all items are K & X or K - X: where K is, that many of the X; elsewhere, no item. If all
//              items are K | X: where K is, all of the items; elsewhere, that many of the X. If all items are
//              K ^ r, where the r do not depend on keys: where K is, that many of the ~r; elsewhere, that many
//              of the r.
//
// Each term joins the group of the key that most terms around it share, and all keys that the group shares
// are taken out at once. Terms stay as they are if their group would be too small (gainOf()). A table behind
// the records has an entry for each key that a term is in, at 2 * key, and for each that it is not in, at
// 2 * key + 1. So the pass takes time in proportion to the number of operands:
//
//   +0  u32 gains of the terms that have the key     +4  u32 the rest of the key's group: X | ~Y
//
// Entry 0 has the gains of all terms that have been counted.

import { Arena } from "../arena/layout/header";
import { Rule } from "../combine/term/term";
import { copyTree, isConstant } from "./normalrecord";
import { normalize } from "./normal";
import { Syntax, Tree, TreeRecord } from "./tree";

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
  const table = changetype<KeyTable>(Tree.recordsEnd()),
    end = changetype<usize>(table) + 2 * (<usize>Tree.keys() + Tree.comparisons() + 1) * COUNTED_BYTES;
  Arena.reserve(end);
  Tree.setRecordsEnd(end);
  if (factorBelow(table, Tree.root())) return true;
  Tree.setRecordsEnd(changetype<usize>(table));
  return false;
}

/** Takes factors out of the record's items, and then of the record. Returns whether there were any. */
function factorBelow(table: KeyTable, record: TreeRecord): bool {
  if (record.syntax() != Syntax.TERM) return false;
  let found = false;
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (factorBelow(table, child)) found = true;
  }
  switch (record.rule()) {
    case Rule.ALL:
    case Rule.ANY:
    case Rule.ODD: return group(table, record) || found;
    case Rule.LESS: return groupParts(table, record) || found;
    case Rule.NOT: return found;
    default: return factorCount(table, record) || found;
  }
}

// --- Keys of terms -----------------------------------------------------------------------------------------

/** How often each key occurs, and in which group it is put. */
@final @unmanaged
class KeyTable {
  @inline at(entry: u32): usize { return changetype<usize>(this) + <usize>entry * COUNTED_BYTES; }
  @inline count(entry: u32): u32 { return load<u32>(this.at(entry), Cell.COUNT); }
  @inline group(entry: u32): usize { return load<u32>(this.at(entry), Cell.GROUP); }
  @inline setGroup(entry: u32, rest: usize): void {
    store<u32>(this.at(entry), <u32>rest, Cell.GROUP);
  }

  /** Whether all terms that have been counted have the key. */
  @inline isShared(entry: u32): bool {
    return this.count(entry) == this.count(0);
  }
}
// @ts-ignore: decorator
@inline function setCounted(table: KeyTable, entry: u32, count: u32): void {
  store<u32>(table.at(entry), count, Cell.COUNT);
}

/** Whether a factor of the record is one that a term of `rule`, ALL or ANY or ODD, can have. */
// @ts-ignore: decorator
@inline function suits(record: TreeRecord, rule: Rule): bool {
  return record.isTerm(rule) || (rule == Rule.ALL && record.isTerm(Rule.LESS));
}

/** The items of a term that come first, and which a LESS is in. */
// @ts-ignore: decorator
@inline function firstItems(term: TreeRecord): u32 {
  return term.rule() == Rule.LESS ? <u32>term.low() : u32.MAX_VALUE;
}

/**
 * How much a group gains from the term, against GAIN_LEAST. In K & x and K & y, a small K saves most of
 * reading x and y, but not in K & (x | y). So it takes several terms, unless each reads no more than K before
 * its rest.
 */
function gainOf(term: TreeRecord): u32 {
  if (!suits(term, Rule.ALL)) return CERTAIN;
  let firsts = firstItems(term), read: u32 = 0;
  for (let item = term.firstChild(); item && firsts && read < 2; item = item.nextSibling()) {
    firsts -= item.standsFor();
    read += item.syntax() == Syntax.KEYS ? item.standsFor() : u32(!isConstant(item));
  }
  return read < 2 ? CERTAIN : 1;
}

/** Sets the count of each of the term's keys to 0, or adds `by` to it. */
function countKeys(table: KeyTable, term: TreeRecord, by: u32): void {
  let firsts = firstItems(term);
  for (let item = term.firstChild(); item; item = item.nextSibling()) {
    const without = u32(!firsts);
    firsts -= min(firsts, item.standsFor());
    if (item.syntax() != Syntax.KEYS) continue;
    for (let key = <u32>item.low(); key <= <u32>item.high(); key++) {
      const entry = 2 * key + without;
      setCounted(table, entry, by ? table.count(entry) + by : 0);
    }
  }
}

/**
 * Counts the gains of those children of the record that are terms of `rule`, for each of their keys. Returns
 * the gains of all.
 */
function countChildren(table: KeyTable, record: TreeRecord, rule: Rule): u32 {
  let gains: u32 = 0;
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (suits(child, rule)) countKeys(table, child, 0);
  }
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (!suits(child, rule)) continue;
    const gain = gainOf(child);
    countKeys(table, child, gain);
    gains += gain;
  }
  setCounted(table, 0, gains);
  return gains;
}

/** The entry of the term's key with the greatest count, if that is `least` or more; otherwise 0. */
function mostCounted(table: KeyTable, term: TreeRecord, least: u32): u32 {
  let most = least - 1, found: u32 = 0, firsts = firstItems(term);
  for (let item = term.firstChild(); item; item = item.nextSibling()) {
    const without = u32(!firsts);
    firsts -= min(firsts, item.standsFor());
    if (item.syntax() != Syntax.KEYS) continue;
    for (let key = <u32>item.low(); key <= <u32>item.high(); key++) {
      const entry = 2 * key + without;
      if (table.count(entry) <= most) continue;
      most = table.count(entry);
      found = entry;
    }
  }
  return found;
}

/** Moves the keys that all terms in `rest` share to `factors`. */
function takeOut(table: KeyTable, factors: TreeRecord, rest: TreeRecord, rule: Rule): void {
  countChildren(table, rest, rule);
  for (let term = rest.firstChild(); term; term = term.nextSibling()) {
    takeOutOf(table, factors, term);
    factors = changetype<TreeRecord>(0);
  }
}

/**
 * Takes the shared keys from the term, and adds them to `factors` unless that is 0. An ALL or LESS that is
 * left without items is everything, and an ANY nothing.
 */
function takeOutOf(table: KeyTable, factors: TreeRecord, term: TreeRecord): void {
  let firsts = firstItems(term), kept: u32 = 0;
  for (let item = term.takeChildren(); item;) {
    const next = item.nextSibling(), without = !firsts;
    firsts -= min(firsts, item.standsFor());
    let stays: u32 = 1;
    if (item.syntax() == Syntax.KEYS) stays = takeKeys(table, factors, term, item, without);
    else term.addChild(item);
    if (!without) kept += stays;
    item = next;
  }
  // in none of the others, if there is nothing that a LESS is in
  if (term.isTerm(Rule.LESS)) term.setRule(kept ? Rule.LESS : Rule.NOT, kept);
}

/**
 * Adds the shared ones of the keys to `factors`, unless that is 0, and the others to the term. Returns how
 * many others there are.
 */
function takeKeys(table: KeyTable, factors: TreeRecord, term: TreeRecord, keys: TreeRecord,
  without: bool): u32 {
  const end = <u32>keys.high() + 1, side = u32(without);
  let stay: u32 = 0;
  for (let first = <u32>keys.low(); first < end;) {
    const shared = table.isShared(2 * first + side);
    let next = first + 1;
    while (next < end && table.isShared(2 * next + side) == shared) next++;
    const run = TreeRecord.makeKeys(first, next - 1);
    if (!shared) {
      term.addChild(run);
      stay += next - first;
    } else if (factors) factors.addChild(without ? complementOf(run) : run);
    first = next;
  }
  return stay;
}

// --- Groups ------------------------------------------------------------------------------------------------

/** Makes groups of the items of an ALL, ANY or ODD. Returns whether there are any. */
function group(table: KeyTable, record: TreeRecord): bool {
  const rule = record.rule(), inner = rule == Rule.ALL ? Rule.ANY : Rule.ALL;
  if (countChildren(table, record, inner) < GAIN_LEAST || !chooseKeys(table, record, inner)) return false;
  const mark = Tree.recordsEnd();
  for (let child = record.takeChildren(); child;) {
    const next = child.nextSibling(), entry = suits(child, inner) ? child.normal() : 0;
    if (!entry || table.count(entry) < GAIN_LEAST) record.addChild(child);
    else {
      if (!table.group(entry)) {
        const factored = TreeRecord.makeTerm(inner), rest = TreeRecord.makeTerm(rule);
        record.addChild(factored);
        factored.addChild(rest);
        table.setGroup(entry, changetype<usize>(rest));
      }
      changetype<TreeRecord>(table.group(entry)).addChild(child);
    }
    child = next;
  }
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (changetype<usize>(child) >= mark) takeOut(table, child, child.firstChild(), inner);
    // the groups are new records
  }
  if (!record.firstChild().nextSibling()) become(record, record.firstChild());
  return Tree.recordsEnd() > mark;
}

/**
 * Chooses a key for each term of `rule` among the children: its entry, or 0 for none. Counts the gains of the
 * terms for each key that is chosen. Returns whether any is.
 */
function chooseKeys(table: KeyTable, record: TreeRecord, rule: Rule): bool {
  let any = false;
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (suits(child, rule)) child.setNormal(mostCounted(table, child, GAIN_LEAST));
  }
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (!suits(child, rule)) continue;
    setCounted(table, child.normal(), 0);
    table.setGroup(child.normal(), 0);
  }
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (!suits(child, rule) || !child.normal()) continue;
    setCounted(table, child.normal(), table.count(child.normal()) + gainOf(child));
    any = true;
  }
  return any;
}

/** Makes the record the same as its only child, a term that no longer has a place in the tree. */
function become(record: TreeRecord, child: TreeRecord): void {
  record.setRule(child.rule(), child.low());
  record.takeChildren();
  record.moveChildren(child);
}

/** Makes groups of the first items of a LESS, and of the others. */
function groupParts(table: KeyTable, record: TreeRecord): bool {
  const all = TreeRecord.makeTerm(Rule.ALL), any = TreeRecord.makeTerm(Rule.ANY);
  let firsts = <u32>record.low();
  for (let child = record.takeChildren(); child;) {
    const next = child.nextSibling(), count = child.standsFor();
    (firsts ? all : any).addChild(child);
    firsts -= min(firsts, count);
    child = next;
  }
  const inFirsts = group(table, all), inOthers = group(table, any);
  putPart(record, all, Rule.ALL);
  record.setRule(Rule.LESS, record.childItems());
  putPart(record, any, Rule.ANY);
  return inFirsts || inOthers;
}

/** Adds the items of a part of a LESS, or the part itself if it has become a term of another rule. */
function putPart(record: TreeRecord, part: TreeRecord, rule: Rule): void {
  if (part.isTerm(rule)) record.moveChildren(part); else record.addChild(part);
}

// --- Counting ----------------------------------------------------------------------------------------------

/** Takes out the keys that all items of an ATLEAST, EXACTLY or sum share. Returns whether there are any. */
function factorCount(table: KeyTable, record: TreeRecord): bool {
  const first = record.firstChild(), rule = suits(first, Rule.ALL) ? Rule.ALL : first.rule();
  if (rule != Rule.ALL && rule != Rule.ANY && rule != Rule.ODD) return false;
  let weight: i64 = 0;
  for (let child = first; child; child = child.nextSibling()) {
    if (!suits(child, rule) || (rule == Rule.ODD && !flipsRanges(child))) return false;
    weight += <i64>child.weight();
  }
  const gains = countChildren(table, record, rule);
  if (gains < GAIN_LEAST || !mostCounted(table, first, gains)) return false;
  const counting = record.rule(), least = <i64>record.low();
  const factors = TreeRecord.makeTerm(rule == Rule.ANY ? Rule.ANY : Rule.ALL),
    rest = TreeRecord.makeTerm(counting);
  rest.setRule(counting, least);
  rest.moveChildren(record);
  takeOut(table, factors, rest, rule);
  record.takeChildren();
  if (rule == Rule.ODD) makeFlipped(record, factors, rest, weight);
  else if (rule == Rule.ALL) makeWithin(record, factors, rest);
  else makeOutside(record, factors, rest, weight);
  return true;
}

/** Whether items of this total weight are enough for an offset. */
// @ts-ignore: decorator
@inline function reaches(counting: TreeRecord, weight: i64): bool {
  return isExact(counting) ? weight == <i64>counting.low() : weight >= <i64>counting.low();
}

// @ts-ignore: decorator
@inline function isExact(counting: TreeRecord): bool {
  return counting.rule() == Rule.EXACTLY || counting.rule() == Rule.SUM_EXACTLY;
}

/** Whether the term is one key ^ what does not depend on keys. */
function flipsRanges(odd: TreeRecord): bool {
  const key = odd.firstChild(), other = key.nextSibling();
  return key.syntax() == Syntax.KEYS && key.standsFor() == 1 && changetype<usize>(other) != 0
    && isConstant(other)
    && !other.nextSibling();
}

/** Makes the record count the rest where all factors are; elsewhere it is empty. */
function makeWithin(record: TreeRecord, factors: TreeRecord, rest: TreeRecord): void {
  const elsewhere = reaches(rest, 0);
  record.setRule(elsewhere ? Rule.ANY : Rule.ALL, 0);
  record.addChild(elsewhere ? complementOf(factors) : factors);
  record.addChild(rest);
}

/** Makes the record count the rest where no factor is, and all items elsewhere: they weigh `weight`. */
function makeOutside(record: TreeRecord, factors: TreeRecord, rest: TreeRecord, weight: i64): void {
  const everywhere = reaches(rest, weight);
  record.setRule(everywhere ? Rule.ANY : Rule.LESS, everywhere ? 0 : 1);
  record.addChild(rest);
  record.addChild(factors);
}

/** Makes the record count the rest where the only factor is not, and the complements of the rest elsewhere. */
function makeFlipped(record: TreeRecord, factors: TreeRecord, rest: TreeRecord, weight: i64): void {
  const inside = TreeRecord.makeTerm(Rule.ALL), outside = TreeRecord.makeTerm(Rule.LESS),
    flipped = copyTree(rest, 0);
  const key = <u32>factors.firstChild().low(), most = weight - <i64>rest.low();
  flipped.setRule(rest.rule(), isExact(rest) ? most : most + 1);
  inside.addChild(factors);
  inside.addChild(isExact(rest) ? flipped : complementOf(flipped));
  outside.setRule(Rule.LESS, 1);
  outside.addChild(rest);
  outside.addChild(TreeRecord.makeKeys(key, key));
  record.setRule(Rule.ANY, 0);
  record.addChild(inside);
  record.addChild(outside);
}

function complementOf(record: TreeRecord): TreeRecord {
  const term = TreeRecord.makeTerm(Rule.NOT);
  term.addChild(record);
  return term;
}
