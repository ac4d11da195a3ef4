// The normal form of a tree: no key, range or term is an item of the same term twice, and what does not
// depend on keys is one item. So a question costs what its sources cost, however often it names them. Rules,
// with x, y for records and r for ranges:
//
//   ALL, LESS, ANY   x & x = x; x | x = x; x & ~x is nothing. Complements join the other side:
//                    ~x & y = y - x; ~x | y = ~(x - y). Ranges are intersected or united.
//   ODD              x ^ x is nothing; ~x ^ y = ~(x ^ y). Ranges become those where an odd number of them
//                    overlap.
//   ATLEAST, EXACTLY items get weights: what is there k times weighs k, and a complement weighs -1 while a
//                    constant grows by 1. Ranges make steps of the constant. What can do without weights
//                    becomes ATLEAST, EXACTLY, ALL or ANY, because counting is quicker. The rest are sums
//                    (combine/term/term.ts).
//
// A reference is the address of a record in normal form, plus 1 if its complement is meant. Records in normal
// form have no NOT below them. Ranges in the items of a sum come behind the other items, ascend, and do not
// overlap. Without other items, and with weights of 1, a sum stands for several ranges.
//
// Items are gathered in lists behind the records, 16 bytes each, which are garbage afterwards:
//
//   items   u64 number of a key, or hash of a term, highest bit set   u32 record     i32 weight, flags
//   edges   u64 offset from which on more or fewer ranges count         i32 how many   u32 0

import { reserve } from "../arena/arena";
import { Rule, isSum } from "../combine/term/term";
import {
  Field, RECORD_BYTES, Syntax, addChild, childItems, firstChild, greatestOffset, hashOf, highValue, isTerm,
  lowValue, makeKeys, makeRange, makeTree, nextSibling, normalOf, operandTable, recordsEnd, recordsStart,
  rootRecord, ruleOf, setHash, setNormal, setOperandTable, setRecordsEnd, setRootRecord, setRule,
  setWeightOf, standsFor, syntaxOf, weightOf,
} from "./tree";

/** A record in normal form, or with COMPLEMENT its complement. */
type Reference = u32;

// @ts-ignore: decorator
@inline const COMPLEMENT: u32 = 1;

/** Where the fields of an item are, as above. */
const enum Item { KEY = 0, RECORD = 8, WEIGHT = 12 }
/** Where the fields of an edge are, as above. */
const enum Edge { OFFSET = 0, BY = 8 }
// @ts-ignore: decorator
@inline const ELEMENT_BYTES: usize = 16;

/**
 * Terms with more items do not become part of a term around them,
 * because they would be gathered again at every level.
 */
// @ts-ignore: decorator
@inline const JOINED_MAX: u32 = 1024;
// @ts-ignore: decorator
@inline const TERM_KEY: u64 = 1 << 63;
/** Items that weigh no more than this on average are counted as often as they weigh. */
// @ts-ignore: decorator
@inline const REPEATED_MOST: i64 = 2;

/** How an item counts that is gathered more than once. */
const enum Mode {
  /** once: it gets the flags of all, WITH or WITHOUT */
  FLAGS,
  /** once, or not at all if it is there an even number of times */
  PARITY,
  /** as often as it is there */
  WEIGHT,
}

/** The weights of items in Mode.FLAGS: to be in, and not to be in. */
const enum Flag { WITH = 1, WITHOUT = 2 }

/** Brings the tree in memory 0 into normal form. */
export function normalize(): void {
  const reference = normal(rootRecord()), record = recordOf(reference);
  let root = record;
  if (reference & COMPLEMENT) {
    root = makeTree(Rule.NOT);
    addChild(root, record);
  }
  setRootRecord(moveTree(root, recordsStart()));
  setOperandTable(0);                         // keys are named by their operands now
}

/** Whether the normal form of a tree that names each key once can differ: it has ranges or complements. */
export function mayDiffer(): bool {
  for (let record = recordsStart(); record < recordsEnd(); record += RECORD_BYTES) {
    if (syntaxOf(record) == Syntax.RANGE || isTerm(record, Rule.NOT)) return true;
  }
  return false;
}

// @ts-ignore: decorator
@inline function recordOf(reference: Reference): usize { return <usize>(reference & ~COMPLEMENT); }

// --- Records that do not depend on keys --------------------------------------------------------------------

/** Whether the record, which is in normal form, is ranges or nothing. */
export function isConstant(record: usize): bool {
  if (syntaxOf(record) != Syntax.TERM) return syntaxOf(record) == Syntax.RANGE;
  const child = firstChild(record);
  return !child || (isSum(ruleOf(record)) && syntaxOf(child) == Syntax.RANGE);
}

function nothing(): Reference {
  const record = makeTree(Rule.ANY);
  hashTerm(record);
  return <u32>record;
}

// @ts-ignore: decorator
@inline function nothingOr(everything: bool): Reference {
  return everything ? nothing() | COMPLEMENT : nothing();
}

// --- Gathering ---------------------------------------------------------------------------------------------

// What has been gathered: a header of HEADER_BYTES behind the records, then the items, then the edges.
//
//   +0  u32 items      +4  u32 edges     +8  u32 where the edges begin   +12 u32 mode
//   +16 i64 constant that counts at every offset     +24 u32 items that are constants
//   +28 i32 weight of the item that is being gathered

/** Where the fields of the header are, as above. */
const enum List { ITEMS = 0, EDGES = 4, EDGES_AT = 8, MODE = 12, CONSTANT = 16, CONSTANTS = 24, TIMES = 28 }

// @ts-ignore: decorator
@inline const HEADER_BYTES: usize = 32;
// @ts-ignore: decorator
@inline function modeOf(list: usize): Mode { return <Mode>load<u32>(list, List.MODE); }
// @ts-ignore: decorator
@inline function itemsOf(list: usize): u32 { return load<u32>(list, List.ITEMS); }
// @ts-ignore: decorator
@inline function edgesOf(list: usize): u32 { return load<u32>(list, List.EDGES); }
// @ts-ignore: decorator
@inline function itemAt(list: usize, i: u32): usize { return list + HEADER_BYTES + <usize>i * ELEMENT_BYTES; }

// @ts-ignore: decorator
@inline function edgeAt(list: usize, i: u32): usize {
  return <usize>load<u32>(list, List.EDGES_AT) + <usize>i * ELEMENT_BYTES;
}

// @ts-ignore: decorator
@inline function constantOf(list: usize): i64 { return load<i64>(list, List.CONSTANT); }
// @ts-ignore: decorator
@inline function addConstant(list: usize, by: i64): void {
  store<i64>(list, constantOf(list) + by, List.CONSTANT);
}
// @ts-ignore: decorator
@inline function constantsOf(list: usize): u32 { return load<u32>(list, List.CONSTANTS); }
// @ts-ignore: decorator
@inline function timesOf(list: usize): i32 { return load<i32>(list, List.TIMES); }
// @ts-ignore: decorator
@inline function setTimes(list: usize, times: i32): void { store<i32>(list, times, List.TIMES); }
// @ts-ignore: decorator
@inline function keyOfItem(list: usize, i: u32): u64 { return load<u64>(itemAt(list, i), Item.KEY); }
// @ts-ignore: decorator
@inline function recordOfItem(list: usize, i: u32): usize { return load<u32>(itemAt(list, i), Item.RECORD); }
// @ts-ignore: decorator
@inline function weightOfItem(list: usize, i: u32): i32 { return load<i32>(itemAt(list, i), Item.WEIGHT); }

// @ts-ignore: decorator
@inline function setWeightOfItem(list: usize, i: u32, weight: i32): void {
  store<i32>(itemAt(list, i), weight, Item.WEIGHT);
}

/** How many elements gathering the record's children takes at most, in each list. */
function elementsBelow(record: usize): u32 {
  let elements: u32 = 0;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    const inner = syntaxOf(child) == Syntax.KEYS ? child : recordOf(normalOf(child));
    if (syntaxOf(inner) == Syntax.TERM && (isConstant(inner) || childItems(inner) <= JOINED_MAX)) {
      for (let below = firstChild(inner); below; below = nextSibling(below)) {
        elements += standsFor(below) + rangesIn(below);
      }
    }
    elements += standsFor(child) + 1;
  }
  return elements;
}

/** Ranges of a record that is constant. */
function rangesIn(record: usize): u32 {
  if (syntaxOf(record) != Syntax.TERM || !isConstant(record)) return 1;
  let ranges: u32 = 0;
  for (let range = firstChild(record); range; range = nextSibling(range)) ranges++;
  return ranges;
}

/** Makes lists for all children of the record. */
function makeLists(record: usize, mode: Mode): usize {
  const list = recordsEnd();
  const elements = <usize>elementsBelow(record);
  const edges = list + HEADER_BYTES + elements * ELEMENT_BYTES;
  const end = edges + 2 * elements * ELEMENT_BYTES;
  reserve(end);
  setRecordsEnd(end);
  memory.fill(list, 0, HEADER_BYTES);
  store<u32>(list, <u32>edges, List.EDGES_AT);
  store<u32>(list, mode, List.MODE);
  setTimes(list, 1);
  return list;
}

/** Gathers the record, or with `complement` its complement. */
function gather(list: usize, reference: Reference, complement: bool): void {
  const record = recordOf(reference), mode = modeOf(list);
  if (reference & COMPLEMENT) complement = !complement;
  if (isConstant(record)) { gatherConstant(list, record, complement); return; }
  const key = keyAlone(record);
  if (key) { put(list, <u64>key, 0, complement); return; }
  if (mode == Mode.FLAGS && joins(record, complement)) { gatherJoined(list, record, complement); return; }
  if (mode == Mode.PARITY && isTerm(record, Rule.ODD) && childItems(record) <= JOINED_MAX) {
    addConstant(list, i64(complement));
    gatherJoined(list, record, false);
    return;
  }
  put(list, hashOf(record) | TERM_KEY, record, complement);
}

// @ts-ignore: decorator
@inline function put(list: usize, key: u64, record: usize, complement: bool): void {
  const mode = modeOf(list), count = itemsOf(list), item = itemAt(list, count);
  store<u64>(item, key, Item.KEY);
  store<u32>(item, <u32>record, Item.RECORD);
  store<u32>(list, count + 1, List.ITEMS);
  if (mode == Mode.FLAGS) { store<i32>(item, complement ? Flag.WITHOUT : Flag.WITH, Item.WEIGHT); return; }
  if (complement) addConstant(list, timesOf(list));
  store<i32>(item, mode == Mode.WEIGHT ? (complement ? -timesOf(list) : timesOf(list)) : 1, Item.WEIGHT);
}

/** The operand that key `key`, counted from 1, stands for: a number counted from 1, too. */
// @ts-ignore: decorator
@inline function operandOf(key: u32): u32 {
  return operandTable() ? load<u32>(operandTable() + (<usize>(key - 1) << 2)) + 1 : key;
}

/** Gathers all keys of a record. */
function gatherKeys(list: usize, record: usize, complement: bool): void {
  for (let key = <u32>lowValue(record); key <= <u32>highValue(record); key++) {
    put(list, operandOf(key), 0, complement);
  }
}

/**
 * Whether the items of the record can become items of the ALL or LESS that gathers it:
 * those of x - y are x, and the complement of y.
 */
function joins(record: usize, complement: bool): bool {
  const rule = ruleOf(record);
  return (complement ? rule == Rule.ANY : rule == Rule.ALL || rule == Rule.LESS)
    && childItems(record) <= JOINED_MAX;
}

/** Gathers the children of a record in normal form. */
function gatherJoined(list: usize, record: usize, complement: bool): void {
  let firsts = ruleOf(record) == Rule.LESS ? <u32>lowValue(record) : u32.MAX_VALUE;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    const without = complement || !firsts;
    firsts -= min(firsts, standsFor(child));
    if (syntaxOf(child) == Syntax.KEYS) gatherKeys(list, child, without);
    else if (isConstant(child)) gatherConstant(list, child, without);
    else put(list, hashOf(child) | TERM_KEY, child, without);
  }
}

/** Gathers ranges: a constant that counts in them, or with `complement` outside them. */
function gatherConstant(list: usize, record: usize, complement: bool): void {
  const by = complement ? -timesOf(list) : timesOf(list);
  if (complement) addConstant(list, timesOf(list));
  store<u32>(list, constantsOf(list) + 1, List.CONSTANTS);
  if (syntaxOf(record) == Syntax.RANGE) { putEdges(list, record, by); return; }
  for (let range = firstChild(record); range; range = nextSibling(range)) putEdges(list, range, by);
}

function putEdges(list: usize, range: usize, by: i32): void {
  putEdge(list, lowValue(range), by);
  if (highValue(range) < greatestOffset()) putEdge(list, highValue(range) + 1, -by);
}

function putEdge(list: usize, offset: u64, by: i32): void {
  const edge = edgeAt(list, edgesOf(list));
  store<u64>(edge, offset, Edge.OFFSET);
  store<u64>(edge, <u64><u32>by, Edge.BY);
  store<u32>(list, edgesOf(list) + 1, List.EDGES);
}

/** Sorts the lists, and makes one item of all that are the same. */
function settle(list: usize): void {
  const mode = modeOf(list), items = itemsOf(list);
  sortElements(itemAt(list, 0), items);
  sortElements(edgeAt(list, 0), edgesOf(list));
  let kept: u32 = 0;
  for (let i: u32 = 0; i < items;) {
    const first = i;
    let weight = weightOfItem(list, i);
    for (i++; i < items && isSame(list, first, i); i++) {
      const more = weightOfItem(list, i);
      weight = mode == Mode.FLAGS ? weight | more : mode == Mode.PARITY ? weight ^ more : weight + more;
    }
    if (!weight) continue;
    memory.copy(itemAt(list, kept), itemAt(list, first), ELEMENT_BYTES);
    setWeightOfItem(list, kept++, weight);
  }
  store<u32>(list, kept, List.ITEMS);
}

function isSame(list: usize, i: u32, j: u32): bool {
  if (keyOfItem(list, i) != keyOfItem(list, j)) return false;
  const x = recordOfItem(list, i), y = recordOfItem(list, j);
  return (!x && !y) || (x != 0 && y != 0 && equal(x, y));
}

/** Whether two records in normal form are the same. */
function equal(x: usize, y: usize): bool {
  if (syntaxOf(x) != syntaxOf(y) || hashOf(x) != hashOf(y) || weightOf(x) != weightOf(y)) return false;
  if (lowValue(x) != lowValue(y) || highValue(x) != highValue(y) || ruleOf(x) != ruleOf(y)) return false;
  let a = firstChild(x), b = firstChild(y);
  while (a && b && equal(a, b)) {
    a = nextSibling(a);
    b = nextSibling(b);
  }
  return !a && !b;
}

/** Sorts the `count` elements at `at` by their first u64, ascending. A heapsort, unless they are sorted. */
function sortElements(at: usize, count: u32): void {
  let sorted = true;
  for (let i: u32 = 1; i < count && sorted; i++) sorted = elementKey(at, i - 1) <= elementKey(at, i);
  if (sorted) return;
  for (let i = count >> 1; i--;) sink(at, i, count);
  for (let end = count - 1; end; end--) {
    const first = load<u64>(at), rest = load<u64>(at, 8), last = at + <usize>end * ELEMENT_BYTES;
    memory.copy(at, last, ELEMENT_BYTES);
    store<u64>(last, first);
    store<u64>(last, rest, 8);
    sink(at, 0, end);
  }
}

// @ts-ignore: decorator
@inline function elementKey(at: usize, i: u32): u64 { return load<u64>(at + <usize>i * ELEMENT_BYTES); }

/** Moves element `i` of a heap of `count` down to where it belongs. */
function sink(at: usize, i: u32, count: u32): void {
  const key = elementKey(at, i), rest = load<u64>(at + <usize>i * ELEMENT_BYTES, 8);
  while (true) {
    let below: u32 = 2 * i + 1;
    if (below >= count) break;
    if (below + 1 < count && elementKey(at, below + 1) > elementKey(at, below)) below++;
    if (elementKey(at, below) <= key) break;
    memory.copy(at + <usize>i * ELEMENT_BYTES, at + <usize>below * ELEMENT_BYTES, ELEMENT_BYTES);
    i = below;
  }
  store<u64>(at + <usize>i * ELEMENT_BYTES, key);
  store<u64>(at + <usize>i * ELEMENT_BYTES, rest, 8);
}

// --- Ranges ------------------------------------------------------------------------------------------------

/** What the number of ranges at an offset must be. */
const enum Wanted { EQUAL, OTHER, ODD, EVEN, LEAST, ANY }

// @ts-ignore: decorator
@inline function suits(number: i64, wanted: Wanted, than: i64): bool {
  switch (wanted) {
    case Wanted.EQUAL: return number == than;
    case Wanted.OTHER: return number != than;
    case Wanted.ODD: return (number & 1) != 0;
    case Wanted.EVEN: return (number & 1) == 0;
    case Wanted.LEAST: return number >= than;
    default: return number != 0;
  }
}

/**
 * The offsets at which the number of ranges suits, as ranges that are the children of a new sum.
 * With Wanted.ANY their weights are these numbers, and otherwise 1.
 */
function sweep(list: usize, constant: i64, wanted: Wanted, than: i64): usize {
  const sum = makeTree(Rule.SUM_ATLEAST), edges = edgesOf(list), weighs = wanted == Wanted.ANY;
  setRule(sum, Rule.SUM_ATLEAST, 1);
  // `open` is the weight of the range that began at `low`.
  let number = constant, low: u64 = 0, open: i64 = 0;
  for (let i: u32 = 0, offset: u64 = 0; ;) {
    for (; i < edges && load<u64>(edgeAt(list, i), Edge.OFFSET) == offset; i++) {
      number += <i64>load<i32>(edgeAt(list, i), Edge.BY);
    }
    const weight: i64 = suits(number, wanted, than) ? (weighs ? number : 1) : 0;
    if (weight != open) {
      if (open) addRange(sum, low, offset - 1, <i32>open);
      low = offset;
      open = weight;
    }
    if (i == edges) break;
    offset = load<u64>(edgeAt(list, i), Edge.OFFSET);
  }
  if (open) addRange(sum, low, greatestOffset(), <i32>open);
  return sum;
}

function addRange(sum: usize, low: u64, high: u64, weight: i32): void {
  const range = makeRange(low, high);
  setWeightOf(range, weight);
  setHash(range, mix(low + mix(high) + <u64>weight));
  addChild(sum, range);
}

/** Whether the sum of ranges is everything. */
function isEverything(sum: usize): bool {
  const range = firstChild(sum);
  return range != 0 && !nextSibling(range) && !lowValue(range) && highValue(range) == greatestOffset();
}

/** The sum of ranges as a record: one range, if it is only one. */
function constantRecord(sum: usize): usize {
  const range = firstChild(sum);
  if (range && !nextSibling(range)) return range;
  if (!range) setRule(sum, Rule.ANY, 0);
  hashTerm(sum);
  return sum;
}

// --- Terms -------------------------------------------------------------------------------------------------

function normal(record: usize): Reference {
  if (syntaxOf(record) == Syntax.RANGE) {
    setHash(record, mix(lowValue(record) + mix(highValue(record)) + 1));
    return <u32>record;
  }
  if (syntaxOf(record) == Syntax.KEYS) return onlyKey(record);
  // Only a tree that has been in normal form before has sums of ranges.
  if (isConstant(record) && isSum(ruleOf(record))) return <u32>record;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    if (syntaxOf(child) != Syntax.KEYS) setNormal(child, normal(child));
  }
  const mark = recordsEnd(), reference = normalTerm(record), made = recordOf(reference);
  return isConstant(made) && made > mark ? <u32>moveTree(made, mark) | (reference & COMPLEMENT) : reference;
}

/** The term, whose children are in normal form. */
function normalTerm(record: usize): Reference {
  switch (ruleOf(record)) {
    case Rule.ODD: return normalOdd(record);
    case Rule.ATLEAST: return normalCount(record, false);
    case Rule.EXACTLY: return normalCount(record, true);
    case Rule.SUM_ATLEAST: return normalCount(record, false);
    case Rule.SUM_EXACTLY: return normalCount(record, true);
    default: return normalAll(record);
  }
}

/** The only key of the expression, as a term. */
function onlyKey(record: usize): Reference {
  const all = makeTree(Rule.ALL), key = operandOf(<u32>lowValue(record));
  addChild(all, makeKeys(key, key));
  hashTerm(all);
  return <u32>all;
}

/** The key of a term in normal form that is nothing else; otherwise 0. */
function keyAlone(record: usize): u32 {
  const child = firstChild(record);
  return child && !nextSibling(child) && syntaxOf(child) == Syntax.KEYS && standsFor(child) == 1
    ? <u32>lowValue(child)
    : 0;
}

/**
 * Gathers the record's children; those of an ANY as complements, and those of a LESS from item `firsts` on.
 */
function gatherChildren(list: usize, record: usize, complement: bool): void {
  let firsts = ruleOf(record) == Rule.LESS ? <u32>lowValue(record) : u32.MAX_VALUE;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    const without = complement || !firsts;
    firsts -= min(firsts, standsFor(child));
    if (syntaxOf(child) == Syntax.KEYS) {
      gatherKeys(list, child, without);
    } else {
      gather(list, normalOf(child), without);
    }
  }
  settle(list);
}

/** ALL, LESS, ANY, and NOT. */
function normalAll(record: usize): Reference {
  const rule = ruleOf(record), list = makeLists(record, Mode.FLAGS);
  gatherChildren(list, record, rule == Rule.ANY || rule == Rule.NOT);
  return conjunction(list, rule == Rule.ANY);
}

/**
 * The gathered items with WITH, without those that have WITHOUT, in as many ranges as were gathered;
 * or with `complement` the others.
 */
function conjunction(list: usize, complement: bool): Reference {
  const items = itemsOf(list), least = <i64>constantsOf(list);
  let withs: u32 = 0, withouts: u32 = 0;
  for (let i: u32 = 0; i < items; i++) {
    if (weightOfItem(list, i) == (Flag.WITH | Flag.WITHOUT)) return nothingOr(complement);
    if (weightOfItem(list, i) == Flag.WITH) withs++; else withouts++;
  }
  const ranges = sweep(list, constantOf(list), Wanted.EQUAL, least);
  if (!firstChild(ranges)) return nothingOr(complement);
  const everywhere = isEverything(ranges);
  if (!withs) {
    if (!withouts) return <u32>constantRecord(ranges) | (complement ? COMPLEMENT : 0);
    if (everywhere || complement) {           // ~(x | y), or ~(r - x) = x | ~r
      const any = makeTree(Rule.ANY);
      addItems(any, list, Flag.WITHOUT, 1);
      if (!everywhere) addChild(any, constantRecord(sweep(list, constantOf(list), Wanted.OTHER, least)));
      return onlyItem(any) | (complement ? 0 : COMPLEMENT);
    }
  }
  const all = makeTree(withouts ? Rule.LESS : Rule.ALL);
  addItems(all, list, Flag.WITH, 1);
  if (!everywhere) addChild(all, constantRecord(ranges));
  if (withouts) {
    setRule(all, Rule.LESS, childItems(all));
    addItems(all, list, Flag.WITHOUT, 1);
  }
  return onlyItem(all) | (complement ? COMPLEMENT : 0);
}

function normalOdd(record: usize): Reference {
  const list = makeLists(record, Mode.PARITY);
  gatherChildren(list, record, false);
  const odd = makeTree(Rule.ODD);
  addItems(odd, list, 1, 1);
  if (!firstChild(odd)) return <u32>constantRecord(sweep(list, constantOf(list), Wanted.ODD, 0));
  const ranges = sweep(list, constantOf(list) & 1, Wanted.ODD, 0);
  if (isEverything(ranges)) return onlyItem(odd) | COMPLEMENT;
  if (firstChild(ranges)) addChild(odd, constantRecord(ranges));
  return onlyItem(odd);
}

/** Gathers the children of a sum, each as often as it weighs. */
function gatherWeighed(list: usize, record: usize): void {
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    setTimes(list, weightOf(child));
    if (syntaxOf(child) == Syntax.KEYS) {
      gatherKeys(list, child, false);
    } else {
      gather(list, normalOf(child), false);
    }
  }
  settle(list);
}

/** ATLEAST, EXACTLY, and sums. */
function normalCount(record: usize, exactly: bool): Reference {
  const list = makeLists(record, Mode.WEIGHT);
  if (isSum(ruleOf(record))) gatherWeighed(list, record); else gatherChildren(list, record, false);
  let least = <i64>lowValue(record) - constantOf(list);
  if (!itemsOf(list)) {
    return <u32>constantRecord(sweep(list, 0, exactly ? Wanted.EQUAL : Wanted.LEAST, least));
  }
  const ranges = sweep(list, 0, Wanted.ANY, 0);
  if (isEverything(ranges)) least -= <i64>weightOf(firstChild(ranges));
  else if (firstChild(ranges)) return sumOf(list, ranges, least, exactly);
  return countOf(list, ranges, least, exactly);
}

/** Where the weights of the items add up to at least, or exactly, `least`. There are no ranges. */
function countOf(list: usize, sum: usize, least: i64, exactly: bool): Reference {
  const items = itemsOf(list), unit = abs<i32>(weightOfItem(list, 0));
  let up: i64 = 0, down: i64 = 0, alike = true;
  for (let i: u32 = 0; i < items; i++) alike = alike && abs<i32>(weightOfItem(list, i)) == unit;
  if (alike) {
    const rest = least % <i64>unit;
    if (exactly && rest) return nothing();
    least = least / <i64>unit + i64(rest > 0);                // rounded up
    for (let i: u32 = 0; i < items; i++) setWeightOfItem(list, i, weightOfItem(list, i) > 0 ? 1 : -1);
  }
  for (let i: u32 = 0; i < items; i++) {
    const weight = <i64>weightOfItem(list, i);
    if (weight > 0) up += weight; else down += weight;
  }
  if (least > up || (exactly && least < down)) return nothing();
  if (!exactly && least <= down) return nothing() | COMPLEMENT;
  // Then all items of positive weight are needed, and none of negative weight.
  if (least == up) return whereAll(list, 1, false);
  if (exactly ? least == down : least == down + 1) return whereAll(list, -1, !exactly);
  if (!alike && !down && up <= REPEATED_MOST * <i64>items && onlyKeysRepeat(list)) {
    return countRepeated(list, least, exactly);
  }
  if (!alike || (up && down)) return sumOf(list, 0, least, exactly);
  const counted = makeTree(exactly ? Rule.EXACTLY : Rule.ATLEAST), downwards = down != 0;
  // "At most -least" is the complement of "1 - least or more".
  const number = !downwards ? least : exactly ? -least : 1 - least;
  setRule(counted, ruleOf(counted), <u64>number);
  addItems(counted, list, downwards ? -1 : 1, 1);
  hashTerm(counted);
  return <u32>counted | (downwards && !exactly ? COMPLEMENT : 0);
}

/** Whether all items that weigh more than 1 are keys. */
function onlyKeysRepeat(list: usize): bool {
  for (let i: u32 = 0; i < itemsOf(list); i++) {
    if (recordOfItem(list, i) && weightOfItem(list, i) > 1) return false;
  }
  return true;
}

/** Items with small weights are counted as often as they weigh, which is quicker than a sum. */
function countRepeated(list: usize, least: i64, exactly: bool): Reference {
  const counted = makeTree(exactly ? Rule.EXACTLY : Rule.ATLEAST);
  setRule(counted, ruleOf(counted), <u64>least);
  for (let weight: i32 = 1, more = true; more; weight++) {
    more = false;
    addItems(counted, list, weight, 1);
    for (let i: u32 = 0; i < itemsOf(list); i++) {
      if (weightOfItem(list, i) <= weight) continue;
      more = true;
      addChild(counted, makeKeys(<u32>keyOfItem(list, i), <u32>keyOfItem(list, i)));
    }
  }
  hashTerm(counted);
  return <u32>counted;
}

/** In all items whose weight has the sign `sign` and in no others; with `complement` everywhere else. */
function whereAll(list: usize, sign: i32, complement: bool): Reference {
  for (let i: u32 = 0; i < itemsOf(list); i++) {
    setWeightOfItem(list, i, weightOfItem(list, i) * sign > 0 ? Flag.WITH : Flag.WITHOUT);
  }
  store<u32>(list, 0, List.EDGES);            // no ranges
  store<i64>(list, 0, List.CONSTANT);
  store<u32>(list, 0, List.CONSTANTS);
  return conjunction(list, complement);
}

/** A sum of the items and of these ranges, 0 for none. */
function sumOf(list: usize, ranges: usize, least: i64, exactly: bool): Reference {
  const sum = makeTree(exactly ? Rule.SUM_EXACTLY : Rule.SUM_ATLEAST);
  setRule(sum, ruleOf(sum), <u64>least);
  addItems(sum, list, 0, 0);
  for (let range = ranges ? firstChild(ranges) : 0; range;) {
    const next = nextSibling(range);
    addChild(sum, range);
    range = next;
  }
  hashTerm(sum);
  return <u32>sum;
}

/**
 * Adds the items of this weight to a term, with weight `weighing`;
 * with `which` 0, all items, each with its own.
 */
function addItems(term: usize, list: usize, which: i32, weighing: i32): void {
  for (let i: u32 = 0; i < itemsOf(list);) {
    const weight = weightOfItem(list, i), record = recordOfItem(list, i), first = keyOfItem(list, i);
    if (which && weight != which) { i++; continue; }
    let child = record, last = first;
    for (
      i++;
      !record && i < itemsOf(list)
      && keyOfItem(list, i) == last + 1 && weightOfItem(list, i) == weight;
      i++
    ) {
      last++;
    }
    if (!record) child = makeKeys(<u32>first, <u32>last);
    setWeightOf(child, weighing ? weighing : weight);
    addChild(term, child);
  }
}

/** The term, or the only item that it has unless that is a key. */
function onlyItem(term: usize): Reference {
  const child = firstChild(term);
  if (childItems(term) == 1 && syntaxOf(child) != Syntax.KEYS) return <u32>child;
  if (childItems(term) == 1) setRule(term, Rule.ALL, 0);
  hashTerm(term);
  return <u32>term;
}

// --- Hashes ------------------------------------------------------------------------------------------------

/** A number whose bits all depend on all bits of `x` (splitmix64). */
function mix(x: u64): u64 {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/** Sets the hash of a term whose children are final. */
function hashTerm(term: usize): void {
  let hash = mix(lowValue(term) + (<u64>ruleOf(term) << 48) + 1);
  for (let child = firstChild(term); child; child = nextSibling(child)) {
    const own = syntaxOf(child) == Syntax.KEYS
      ? mix(lowValue(child) << 32 | highValue(child))
      : hashOf(child);
    hash = mix(hash + own + (<u64>weightOf(child) << 17));
  }
  setHash(term, hash);
}

// --- The final tree ----------------------------------------------------------------------------------------

/**
 * Moves the records of the tree at `root` down to `to`. Everything from there on is garbage.
 * Returns the root's new address.
 */
function moveTree(root: usize, to: usize): usize {
  const from = recordsEnd();
  copyTree(root, from - to);
  const bytes = recordsEnd() - from;
  memory.copy(to, from, bytes);
  setRecordsEnd(to + bytes);
  return to;
}

/**
 * Copies the record and all below it behind the records, with the addresses that they will have `by` bytes
 * further down.
 * Returns where the copy will be.
 */
export function copyTree(record: usize, by: usize): usize {
  const copy = recordsEnd();
  reserve(copy + RECORD_BYTES);
  setRecordsEnd(copy + RECORD_BYTES);
  memory.copy(copy, record, RECORD_BYTES);
  let link = copy + Field.FIRST_CHILD, last: usize = 0;
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    last = copyTree(child, by);
    store<u32>(link, <u32>last);
    link = last + by + Field.SIBLING;
  }
  store<u32>(copy, <u32>last, Field.LAST_CHILD);
  return copy - by;
}
