// The items of a term that is brought into normal form (normal.ts), gathered so that equal ones become one.
//
// Items are gathered in lists behind the records, 16 bytes each, which are garbage afterwards:
//
//   items   u64 number of a key, or hash of a term, highest bit set   u32 record     i32 weight, flags
//   edges   u64 offset from which on more or fewer ranges count         i32 how many   u32 0

import { Arena } from "../arena/layout/header";
import { Rule } from "../combine/term/term";
import { COMPLEMENT, Reference, equal, isConstant, keyAlone, recordOf } from "./normalrecord";
import { Syntax, Tree, TreeRecord } from "./tree";

/** Where the fields of an item are, as above. */
const enum Item { KEY = 0, RECORD = 8, WEIGHT = 12 }
/** Where the fields of an edge are, as above. */
export const enum Edge { OFFSET = 0, BY = 8 }
/** The lists in which the items of a term are gathered. */
@final @unmanaged
export class List {
  @inline static readonly ELEMENT_BYTES: usize = 16;

  @inline mode(): Mode { return <Mode>load<u32>(changetype<usize>(this), ListField.MODE); }
  @inline items(): u32 { return load<u32>(changetype<usize>(this), ListField.ITEMS); }
  @inline edges(): u32 { return load<u32>(changetype<usize>(this), ListField.EDGES); }
  @inline itemAt(i: u32): usize {
    return changetype<usize>(this) + LIST_HEADER + <usize>i * List.ELEMENT_BYTES;
  }

  @inline edgeAt(i: u32): usize {
    return <usize>load<u32>(changetype<usize>(this), ListField.EDGES_AT) + <usize>i * List.ELEMENT_BYTES;
  }

  @inline constant(): i64 { return load<i64>(changetype<usize>(this), ListField.CONSTANT); }
  @inline private addConstant(by: i64): void {
    store<i64>(changetype<usize>(this), this.constant() + by, ListField.CONSTANT);
  }

  @inline constants(): u32 { return load<u32>(changetype<usize>(this), ListField.CONSTANTS); }
  @inline private times(): i32 { return load<i32>(changetype<usize>(this), ListField.TIMES); }
  @inline private setTimes(times: i32): void { store<i32>(changetype<usize>(this), times, ListField.TIMES); }
  @inline keyOfItem(i: u32): u64 { return load<u64>(this.itemAt(i), Item.KEY); }
  @inline recordOfItem(i: u32): TreeRecord {
    return changetype<TreeRecord>(load<u32>(this.itemAt(i), Item.RECORD));
  }

  @inline weightOfItem(i: u32): i32 {
    return load<i32>(this.itemAt(i), Item.WEIGHT);
  }

  @inline setWeightOfItem(i: u32, weight: i32): void {
    store<i32>(this.itemAt(i), weight, Item.WEIGHT);
  }

  /** Makes lists for all children of the record. */
  static make(record: TreeRecord, mode: Mode): List {
    const list = changetype<List>(Tree.recordsEnd());
    const elements = <usize>elementsBelow(record);
    const edges = changetype<usize>(list) + LIST_HEADER + elements * List.ELEMENT_BYTES;
    const end = edges + 2 * elements * List.ELEMENT_BYTES;
    Arena.reserve(end);
    Tree.setRecordsEnd(end);
    memory.fill(changetype<usize>(list), 0, LIST_HEADER);
    store<u32>(changetype<usize>(list), <u32>edges, ListField.EDGES_AT);
    store<u32>(changetype<usize>(list), mode, ListField.MODE);
    list.setTimes(1);
    return list;
  }

  /** Gathers the record, or with `complement` its complement. */
  private gather(reference: Reference, complement: bool): void {
    const record = recordOf(reference), mode = this.mode();
    if (reference & COMPLEMENT) complement = !complement;
    if (isConstant(record)) { this.gatherConstant(record, complement); return; }
    const key = keyAlone(record);
    if (key) { this.put(<u64>key, changetype<TreeRecord>(0), complement); return; }
    if (mode == Mode.FLAGS && joins(record, complement)) { this.gatherJoined(record, complement); return; }
    if (mode == Mode.PARITY && record.isTerm(Rule.ODD) && record.childItems() <= JOINED_MAX) {
      this.addConstant(i64(complement));
      this.gatherJoined(record, false);
      return;
    }
    this.put(record.hash() | TERM_KEY, record, complement);
  }

  @inline private put(key: u64, record: TreeRecord, complement: bool): void {
    const mode = this.mode(), count = this.items(), item = this.itemAt(count);
    store<u64>(item, key, Item.KEY);
    store<u32>(item, <u32>changetype<usize>(record), Item.RECORD);
    store<u32>(changetype<usize>(this), count + 1, ListField.ITEMS);
    if (mode == Mode.FLAGS) { store<i32>(item, complement ? Flag.WITHOUT : Flag.WITH, Item.WEIGHT); return; }
    if (complement) this.addConstant(this.times());
    store<i32>(item, mode == Mode.WEIGHT ? (complement ? -this.times() : this.times()) : 1, Item.WEIGHT);
  }

  /** Gathers all keys of a record. */
  private gatherKeys(record: TreeRecord, complement: bool): void {
    for (let key = <u32>record.low(); key <= <u32>record.high(); key++) {
      this.put(operandOfKey(key), changetype<TreeRecord>(0), complement);
    }
  }

  /** Gathers the children of a record in normal form. */
  private gatherJoined(record: TreeRecord, complement: bool): void {
    let firsts = record.rule() == Rule.LESS ? <u32>record.low() : u32.MAX_VALUE;
    for (let child = record.firstChild(); child; child = child.nextSibling()) {
      const without = complement || !firsts;
      firsts -= min(firsts, child.standsFor());
      if (child.syntax() == Syntax.KEYS) this.gatherKeys(child, without);
      else if (isConstant(child)) this.gatherConstant(child, without);
      else this.put(child.hash() | TERM_KEY, child, without);
    }
  }

  /** Gathers ranges: a constant that counts in them, or with `complement` outside them. */
  private gatherConstant(record: TreeRecord, complement: bool): void {
    const by = complement ? -this.times() : this.times();
    if (complement) this.addConstant(this.times());
    store<u32>(changetype<usize>(this), this.constants() + 1, ListField.CONSTANTS);
    if (record.syntax() == Syntax.RANGE) { this.putEdges(record, by); return; }
    for (let range = record.firstChild(); range; range = range.nextSibling()) this.putEdges(range, by);
  }

  private putEdges(range: TreeRecord, by: i32): void {
    this.putEdge(range.low(), by);
    if (range.high() < Tree.greatest()) this.putEdge(range.high() + 1, -by);
  }

  private putEdge(offset: u64, by: i32): void {
    const edge = this.edgeAt(this.edges());
    store<u64>(edge, offset, Edge.OFFSET);
    store<u64>(edge, <u64><u32>by, Edge.BY);
    store<u32>(changetype<usize>(this), this.edges() + 1, ListField.EDGES);
  }

  isSame(i: u32, j: u32): bool {
    if (this.keyOfItem(i) != this.keyOfItem(j)) return false;
    const x = this.recordOfItem(i), y = this.recordOfItem(j);
    return (!x && !y) || (changetype<usize>(x) != 0 && changetype<usize>(y) != 0 && equal(x, y));
  }

  /**
   * Gathers the record's children; those of an ANY as complements, and those of a LESS from item `firsts` on.
   */
  gatherChildren(record: TreeRecord, complement: bool): void {
    let firsts = record.rule() == Rule.LESS ? <u32>record.low() : u32.MAX_VALUE;
    for (let child = record.firstChild(); child; child = child.nextSibling()) {
      const without = complement || !firsts;
      firsts -= min(firsts, child.standsFor());
      if (child.syntax() == Syntax.KEYS) {
        this.gatherKeys(child, without);
      } else {
        this.gather(child.normal(), without);
      }
    }
    joinEqual(this);
  }

  /** Gathers the children of a sum, each as often as it weighs. */
  gatherWeighed(record: TreeRecord): void {
    for (let child = record.firstChild(); child; child = child.nextSibling()) {
      this.setTimes(child.weight());
      if (child.syntax() == Syntax.KEYS) {
        this.gatherKeys(child, false);
      } else {
        this.gather(child.normal(), false);
      }
    }
    joinEqual(this);
  }
}

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
  /** once, or not at all if it occurs an even number of times */
  PARITY,
  /** as often as it occurs */
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

/** How many elements gathering the record's children takes at most, in each list. */
function elementsBelow(record: TreeRecord): u32 {
  let elements: u32 = 0;
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    const inner = child.syntax() == Syntax.KEYS ? child : recordOf(child.normal());
    if (inner.syntax() == Syntax.TERM && (isConstant(inner) || inner.childItems() <= JOINED_MAX)) {
      for (let below = inner.firstChild(); below; below = below.nextSibling()) {
        elements += below.standsFor() + rangesIn(below);
      }
    }
    elements += child.standsFor() + 1;
  }
  return elements;
}

/** Ranges of a record that is constant. */
function rangesIn(record: TreeRecord): u32 {
  if (record.syntax() != Syntax.TERM || !isConstant(record)) return 1;
  let ranges: u32 = 0;
  for (let range = record.firstChild(); range; range = range.nextSibling()) ranges++;
  return ranges;
}

/** The operand that key `key`, counted from 1, stands for: a number counted from 1, too. */
// @ts-ignore: decorator
@inline export function operandOfKey(key: u32): u32 {
  return Tree.operandTable() ? load<u32>(Tree.operandTable() + (<usize>(key - 1) << 2)) + 1 : key;
}

/**
 * Whether the items of the record can become items of the ALL or LESS that gathers it:
 * those of x - y are x, and the complement of y.
 */
function joins(record: TreeRecord, complement: bool): bool {
  const rule = record.rule();
  return (complement ? rule == Rule.ANY : rule == Rule.ALL || rule == Rule.LESS)
    && record.childItems() <= JOINED_MAX;
}

/** Sorts the lists, and makes one item of all that are the same. */
function joinEqual(list: List): void {
  const mode = list.mode(), items = list.items();
  sortElements(list.itemAt(0), items);
  sortElements(list.edgeAt(0), list.edges());
  let kept: u32 = 0;
  for (let i: u32 = 0; i < items;) {
    const first = i;
    let weight = list.weightOfItem(i);
    for (i++; i < items && list.isSame(first, i); i++) {
      const more = list.weightOfItem(i);
      weight = mode == Mode.FLAGS ? weight | more : mode == Mode.PARITY ? weight ^ more : weight + more;
    }
    if (!weight) continue;
    memory.copy(list.itemAt(kept), list.itemAt(first), List.ELEMENT_BYTES);
    list.setWeightOfItem(kept++, weight);
  }
  store<u32>(changetype<usize>(list), kept, ListField.ITEMS);
}

/** Sorts the `count` elements at `at` by their first u64, ascending. A heapsort, unless they are sorted. */
function sortElements(at: usize, count: u32): void {
  let sorted = true;
  for (let i: u32 = 1; i < count && sorted; i++) sorted = elementKey(at, i - 1) <= elementKey(at, i);
  if (sorted) return;
  for (let i = count >> 1; i--;) sink(at, i, count);
  for (let end = count - 1; end; end--) {
    const first = load<u64>(at), rest = load<u64>(at, 8), last = at + <usize>end * List.ELEMENT_BYTES;
    memory.copy(at, last, List.ELEMENT_BYTES);
    store<u64>(last, first);
    store<u64>(last, rest, 8);
    sink(at, 0, end);
  }
}

// @ts-ignore: decorator
@inline function elementKey(at: usize, i: u32): u64 { return load<u64>(at + <usize>i * List.ELEMENT_BYTES); }

/** Moves element `i` of a heap of `count` down to where it belongs. */
function sink(at: usize, i: u32, count: u32): void {
  const key = elementKey(at, i), rest = load<u64>(at + <usize>i * List.ELEMENT_BYTES, 8);
  while (true) {
    let below: u32 = 2 * i + 1;
    if (below >= count) break;
    if (below + 1 < count && elementKey(at, below + 1) > elementKey(at, below)) below++;
    if (elementKey(at, below) <= key) break;
    memory.copy(at + <usize>i * List.ELEMENT_BYTES, at + <usize>below * List.ELEMENT_BYTES,
      List.ELEMENT_BYTES);
    i = below;
  }
  store<u64>(at + <usize>i * List.ELEMENT_BYTES, key);
  store<u64>(at + <usize>i * List.ELEMENT_BYTES, rest, 8);
}
