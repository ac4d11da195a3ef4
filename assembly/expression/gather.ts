// The items of a term that is brought into normal form (normal.ts), gathered so that equal ones become one.
//
// Items are gathered in lists behind the records, 16 bytes each, which are garbage afterwards:
//
//   items   u64 number of a key, or hash of a term, highest bit set   u32 record     i32 weight, flags
//   edges   u64 offset from which on more or fewer ranges count         i32 how many   u32 0

import { reserve } from "../arena/layout/header";
import { Rule } from "../combine/term/term";
import { COMPLEMENT, Reference, equal, isConstant, keyAlone, recordOf } from "./normalrecord";
import {
  Syntax, childItems, firstChild, greatestOffset, hashOf, highValue, isTerm, lowValue, nextSibling, normalOf,
  operandTable, recordsEnd, ruleOf, setRecordsEnd, standsFor, syntaxOf, weightOf,
} from "./tree";

/** Where the fields of an item are, as above. */
const enum Item { KEY = 0, RECORD = 8, WEIGHT = 12 }
/** Where the fields of an edge are, as above. */
export const enum Edge { OFFSET = 0, BY = 8 }
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

/** How duplicate items combine. */
export const enum Mode {
  /** once: it gets the flags of all, WITH or WITHOUT */
  FLAGS,
  /** once, or not at all if it is there an even number of times */
  PARITY,
  /** as often as it is there */
  WEIGHT,
}

/** The weights of items in Mode.FLAGS: to be in, and not to be in. */
export const enum Flag { WITH = 1, WITHOUT = 2 }

// The gathered items: a header of LIST_HEADER bytes behind the records, then the items, then the edges.
//
//   +0  u32 items      +4  u32 edges     +8  u32 where the edges begin   +12 u32 mode
//   +16 i64 constant that counts at every offset     +24 u32 items that are constants
//   +28 i32 weight of the item that is being gathered

/** Where the fields of the header are, as above. */
export const enum ListField {
  ITEMS = 0, EDGES = 4, EDGES_AT = 8, MODE = 12, CONSTANT = 16, CONSTANTS = 24, TIMES = 28,
}

// @ts-ignore: decorator
@inline const LIST_HEADER: usize = 32;
// @ts-ignore: decorator
@inline function modeOf(list: usize): Mode { return <Mode>load<u32>(list, ListField.MODE); }
// @ts-ignore: decorator
@inline export function itemsOf(list: usize): u32 { return load<u32>(list, ListField.ITEMS); }
// @ts-ignore: decorator
@inline export function edgesOf(list: usize): u32 { return load<u32>(list, ListField.EDGES); }
// @ts-ignore: decorator
@inline function itemAt(list: usize, i: u32): usize { return list + LIST_HEADER + <usize>i * ELEMENT_BYTES; }

// @ts-ignore: decorator
@inline export function edgeAt(list: usize, i: u32): usize {
  return <usize>load<u32>(list, ListField.EDGES_AT) + <usize>i * ELEMENT_BYTES;
}

// @ts-ignore: decorator
@inline export function constantOf(list: usize): i64 { return load<i64>(list, ListField.CONSTANT); }
// @ts-ignore: decorator
@inline function addConstant(list: usize, by: i64): void {
  store<i64>(list, constantOf(list) + by, ListField.CONSTANT);
}
// @ts-ignore: decorator
@inline export function constantsOf(list: usize): u32 { return load<u32>(list, ListField.CONSTANTS); }
// @ts-ignore: decorator
@inline function timesOf(list: usize): i32 { return load<i32>(list, ListField.TIMES); }
// @ts-ignore: decorator
@inline function setTimes(list: usize, times: i32): void { store<i32>(list, times, ListField.TIMES); }
// @ts-ignore: decorator
@inline export function keyOfItem(list: usize, i: u32): u64 { return load<u64>(itemAt(list, i), Item.KEY); }
// @ts-ignore: decorator
@inline export function recordOfItem(list: usize, i: u32): usize {
  return load<u32>(itemAt(list, i), Item.RECORD);
}
// @ts-ignore: decorator
@inline export function weightOfItem(list: usize, i: u32): i32 {
  return load<i32>(itemAt(list, i), Item.WEIGHT);
}

// @ts-ignore: decorator
@inline export function setWeightOfItem(list: usize, i: u32, weight: i32): void {
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
export function makeLists(record: usize, mode: Mode): usize {
  const list = recordsEnd();
  const elements = <usize>elementsBelow(record);
  const edges = list + LIST_HEADER + elements * ELEMENT_BYTES;
  const end = edges + 2 * elements * ELEMENT_BYTES;
  reserve(end);
  setRecordsEnd(end);
  memory.fill(list, 0, LIST_HEADER);
  store<u32>(list, <u32>edges, ListField.EDGES_AT);
  store<u32>(list, mode, ListField.MODE);
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
  store<u32>(list, count + 1, ListField.ITEMS);
  if (mode == Mode.FLAGS) { store<i32>(item, complement ? Flag.WITHOUT : Flag.WITH, Item.WEIGHT); return; }
  if (complement) addConstant(list, timesOf(list));
  store<i32>(item, mode == Mode.WEIGHT ? (complement ? -timesOf(list) : timesOf(list)) : 1, Item.WEIGHT);
}

/** The operand that key `key`, counted from 1, stands for: a number counted from 1, too. */
// @ts-ignore: decorator
@inline export function operandOfKey(key: u32): u32 {
  return operandTable() ? load<u32>(operandTable() + (<usize>(key - 1) << 2)) + 1 : key;
}

/** Gathers all keys of a record. */
function gatherKeys(list: usize, record: usize, complement: bool): void {
  for (let key = <u32>lowValue(record); key <= <u32>highValue(record); key++) {
    put(list, operandOfKey(key), 0, complement);
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
  store<u32>(list, constantsOf(list) + 1, ListField.CONSTANTS);
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
  store<u32>(list, edgesOf(list) + 1, ListField.EDGES);
}

/** Sorts the lists, and makes one item of all that are the same. */
function joinEqual(list: usize): void {
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
  store<u32>(list, kept, ListField.ITEMS);
}

function isSame(list: usize, i: u32, j: u32): bool {
  if (keyOfItem(list, i) != keyOfItem(list, j)) return false;
  const x = recordOfItem(list, i), y = recordOfItem(list, j);
  return (!x && !y) || (x != 0 && y != 0 && equal(x, y));
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

/**
 * Gathers the record's children; those of an ANY as complements, and those of a LESS from item `firsts` on.
 */
export function gatherChildren(list: usize, record: usize, complement: bool): void {
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
  joinEqual(list);
}

/** Gathers the children of a sum, each as often as it weighs. */
export function gatherWeighed(list: usize, record: usize): void {
  for (let child = firstChild(record); child; child = nextSibling(child)) {
    setTimes(list, weightOf(child));
    if (syntaxOf(child) == Syntax.KEYS) {
      gatherKeys(list, child, false);
    } else {
      gather(list, normalOf(child), false);
    }
  }
  joinEqual(list);
}
