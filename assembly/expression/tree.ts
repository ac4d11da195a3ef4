// The tree of an expression, as the parser makes it:
// records in memory 0, before the result is begun in that memory. A record is
//
//   +0   u32 syntax          +4  u32 items that it stands for
//   +8   u32 first child     +12 u32 next sibling; 0 for none
//   +16  u64 first key, first offset, or the number that belongs to the rule
//   +24  u64 last key, last offset
//   +32  u32 rule of a TERM  +36 u32 last child
//   +40  u32 items and       +44 u32 bytes that it and everything below it take as terms
//                                (combine/opentree.ts)
//   +48  i32 weight in a sum +52 u32 its normal form, as a reference (normal.ts)
//   +56  u64 hash: equal records have equal ones
//
// At the memory's start is the state of the parser, because the core has no variables:
//
//   +0   u32 where the next record goes     +4  u32 where the parser is in the text
//   +8   u32 mistake, and where it is       +16 u32 levels that the parser is in
//   +20  u32 keys that have been named      +24 u32 operands so far
//   +28  u32 keys                           +32 u64 greatest offset
//   +40  u32 root, once there is one        +44 u32 where a table of operands is (operands.ts), 0 for none
//   +48  u32 first comparison               +52 u32 comparisons
//   +56  u32 where the records begin         +60 u32 last comparison
//   +64  a bit for each key: whether it has been named; and then one whether as an operand, not only compared
//
// A comparison is a record of its own, outside of the tree: an operand behind those of the keys, whose members
// are the ids that it holds for. Their siblings are in the order of these operands.
//
//   +0   u32 COMPARISON      +4  u32 key
//   +8   u32 the other key, 0 for none      +12 u32 next comparison
//   +16  i64 least value     +24 i64 greatest value
//   +32  u32 how             +36 u32 where it is in the text
//
// Addresses in the records are those in memory 0,
// so the tree can be kept elsewhere and copied back to the memory's start.

import { Arena } from "../arena/layout/header";
import { Rule } from "../combine/term/term";

export const enum Syntax {
  /** a key, or several that follow one another */
  KEYS,
  /** a range of offsets */
  RANGE,
  /** a rule with its items */
  TERM,
  /** a comparison of the values of a key */
  COMPARISON,
}

/** Where the fields of a record are, as above. */
export const enum Field {
  SYNTAX = 0, STANDS_FOR = 4, FIRST_CHILD = 8, SIBLING = 12, LOW = 16, HIGH = 24, RULE = 32, LAST_CHILD = 36,
  ITEMS_BELOW = 40, BYTES_BELOW = 44, WEIGHT = 48, NORMAL = 52, HASH = 56,
}

/** Where the fields of the parser's state are, as above. */
const enum State {
  RECORDS_END = 0, TEXT_AT = 4, MISTAKE = 8, MISTAKE_AT = 12, LEVELS = 16, NAMED_KEYS = 20, OPERANDS = 24,
  KEYS = 28, GREATEST = 32, ROOT = 40, OPERAND_TABLE = 44, COMPARED = 48, COMPARISONS = 52,
  RECORDS_START = 56, LAST_COMPARED = 60, NAMED = 64,
}
/** The state of the parser, at the memory's start. */
export abstract class Tree {
  /** Bytes of the bits for `keys` keys. */
  @inline private static namedBytes(keys: u32): usize { return ((<usize>keys + 63) >> 6) << 3; }

  // --- State -------------------------------------------------------------------------------------------------

  @inline static recordsEnd(): usize { return load<u32>(State.RECORDS_END); }
  @inline static textAt(): u32 { return load<u32>(State.TEXT_AT); }
  @inline static setTextAt(at: u32): void { store<u32>(State.TEXT_AT, at); }
  @inline static mistake(): u32 { return load<u32>(State.MISTAKE); }
  @inline static mistakeAt(): u32 { return load<u32>(State.MISTAKE_AT); }
  @inline static levels(): u32 { return load<u32>(State.LEVELS); }
  @inline static setLevels(count: u32): void { store<u32>(State.LEVELS, count); }
  @inline static namedKeys(): u32 { return load<u32>(State.NAMED_KEYS); }
  @inline static operands(): u32 { return load<u32>(State.OPERANDS); }
  @inline static addOperands(count: u32): void { store<u32>(State.OPERANDS, Tree.operands() + count); }

  @inline static keys(): u32 { return load<u32>(State.KEYS); }
  /** The greatest offset of the family. */
  @inline static greatest(): u64 { return load<u64>(State.GREATEST); }

  /** Where the records begin. */
  @inline static recordsStart(): usize { return load<u32>(State.RECORDS_START); }
  @inline static setRecordsEnd(end: usize): void { store<u32>(State.RECORDS_END, <u32>end); }
  @inline static operandTable(): usize { return load<u32>(State.OPERAND_TABLE); }
  @inline static setOperandTable(table: usize): void { store<u32>(State.OPERAND_TABLE, <u32>table); }

  @inline static root(): TreeRecord { return changetype<TreeRecord>(load<u32>(State.ROOT)); }
  @inline static setRoot(root: TreeRecord): void { store<u32>(State.ROOT, <u32>changetype<usize>(root)); }

  /** Makes memory 0 an empty tree, for an expression over `keys` keys of a family with this greatest offset. */
  static start(keys: u32, greatest: u64): void {
    const records = <usize>2 * Tree.namedBytes(keys) + State.NAMED;
    Arena.reserve(records);
    memory.fill(0, 0, records);
    store<u32>(State.RECORDS_END, <u32>records);
    store<u32>(State.RECORDS_START, <u32>records);
    store<u32>(State.KEYS, keys);
    store<u64>(State.GREATEST, greatest);
  }

  /** Notes the first mistake, at character `at` of the text, counted from 0. */
  static note(what: u32, at: u32): void {
    if (Tree.mistake()) return;
    store<u32>(State.MISTAKE, what);
    store<u32>(State.MISTAKE_AT, at);
  }

  /** Notes that keys first .. last, counted from 1, are named. */
  static nameKeys(first: u32, last: u32): void {
    for (let key = first - 1; key < last; key++) {
      const at = (key >> 3) + State.NAMED, bit = (<u32>1) << (key & 7), byte = <u32>load<u8>(at);
      if (byte & bit) continue;
      store<u8>(at, byte | bit);
      store<u32>(State.NAMED_KEYS, Tree.namedKeys() + 1);
    }
  }

  /** Notes that keys first .. last are operands. */
  static useKeys(first: u32, last: u32): void {
    for (let key = first - 1; key < last; key++) {
      const at = Tree.namedBytes(Tree.keys()) + (key >> 3) + State.NAMED;
      store<u8>(at, <u32>load<u8>(at) | <u32>1 << (key & 7));
    }
  }

  /** Whether the key is an operand. */
  static isUsed(key: u32): bool {
    const at = Tree.namedBytes(Tree.keys()) + ((key - 1) >> 3) + State.NAMED;
    return ((<u32>load<u8>(at) >> ((key - 1) & 7)) & 1) != 0;
  }

  @inline static comparisons(): u32 { return load<u32>(State.COMPARISONS); }
  @inline static firstComparison(): TreeRecord { return changetype<TreeRecord>(load<u32>(State.COMPARED)); }

  /** Adds a comparison. Returns its operand as that of a key, counted from 1. */
  static addComparison(record: TreeRecord): u32 {
    const last = <usize>load<u32>(State.LAST_COMPARED), at = <u32>changetype<usize>(record);
    if (last) store<u32>(last, at, Field.SIBLING); else store<u32>(State.COMPARED, at);
    store<u32>(State.LAST_COMPARED, at);
    store<u32>(State.COMPARISONS, Tree.comparisons() + 1);
    return Tree.keys() + Tree.comparisons();
  }

  /** The comparison whose operand `record` is, if it was added last; else 0. */
  static lastComparisonIn(record: TreeRecord): TreeRecord {
    const isIt = Tree.comparisons() && record.syntax() == Syntax.KEYS
      && record.low() == <u64>Tree.keys() + Tree.comparisons();
    return isIt ? Tree.lastComparison() : changetype<TreeRecord>(0);
  }

  @inline static lastComparison(): TreeRecord {
    return changetype<TreeRecord>(load<u32>(State.LAST_COMPARED));
  }

  /** Removes the last comparison, which is the one after `before`. */
  static removeComparison(before: TreeRecord): void {
    store<u32>(changetype<usize>(before), 0, Field.SIBLING);
    store<u32>(State.LAST_COMPARED, <u32>changetype<usize>(before));
    store<u32>(State.COMPARISONS, Tree.comparisons() - 1);
  }

  /** Moves the comparisons before all records that are made from now on, which begin there. */
  static keepComparisons(): void {
    if (!Tree.comparisons()) return;
    const at = Tree.recordsEnd(), end = at + <usize>Tree.comparisons() * TreeRecord.BYTES;
    Arena.reserve(end);
    let to = at;
    for (let record = Tree.firstComparison(); record; record = record.nextSibling(), to += TreeRecord.BYTES) {
      memory.copy(to, changetype<usize>(record), TreeRecord.BYTES);
      const next = to + TreeRecord.BYTES;
      store<u32>(to, next < end ? <u32>next : 0, Field.SIBLING);
    }
    store<u32>(State.COMPARED, <u32>at);
    store<u32>(State.LAST_COMPARED, <u32>(end - TreeRecord.BYTES));
    store<u32>(State.RECORDS_START, <u32>end);
    Tree.setRecordsEnd(end);
  }

  /** The first key, counted from 1, that is not named. */
  static firstUnnamed(): u32 {
    let key: u32 = 0;
    while ((<u32>load<u8>((key >> 3) + State.NAMED) >> (key & 7)) & 1) key++;
    return key + 1;
  }
}

/** A record of the tree. */
@final @unmanaged
export class TreeRecord {
  @inline static readonly BYTES: usize = 64;

  // --- Records -----------------------------------------------------------------------------------------------

  @inline itemsBelow(): u32 { return load<u32>(changetype<usize>(this), Field.ITEMS_BELOW); }
  @inline bytesBelow(): u32 { return load<u32>(changetype<usize>(this), Field.BYTES_BELOW); }
  @inline setBelow(items: u32, bytes: u32): void {
    store<u32>(changetype<usize>(this), items, Field.ITEMS_BELOW);
    store<u32>(changetype<usize>(this), bytes, Field.BYTES_BELOW);
  }

  @inline syntax(): Syntax { return <Syntax>load<u32>(changetype<usize>(this), Field.SYNTAX); }
  /** Items that the record stands for: keys, or 1. */
  @inline standsFor(): u32 { return load<u32>(changetype<usize>(this), Field.STANDS_FOR); }
  @inline firstChild(): TreeRecord {
    return changetype<TreeRecord>(load<u32>(changetype<usize>(this), Field.FIRST_CHILD));
  }

  @inline nextSibling(): TreeRecord {
    return changetype<TreeRecord>(load<u32>(changetype<usize>(this), Field.SIBLING));
  }

  @inline low(): u64 { return load<u64>(changetype<usize>(this), Field.LOW); }
  @inline high(): u64 { return load<u64>(changetype<usize>(this), Field.HIGH); }
  @inline rule(): Rule { return <Rule>load<u32>(changetype<usize>(this), Field.RULE); }
  @inline setRule(rule: Rule, least: u64): void {
    store<u32>(changetype<usize>(this), rule, Field.RULE);
    store<u64>(changetype<usize>(this), least, Field.LOW);
  }

  @inline isTerm(rule: Rule): bool {
    return this.syntax() == Syntax.TERM && this.rule() == rule;
  }

  private static make(syntax: Syntax, count: u32, low: u64, high: u64): TreeRecord {
    const record = changetype<TreeRecord>(Tree.recordsEnd());
    Arena.reserve(changetype<usize>(record) + TreeRecord.BYTES);
    memory.fill(changetype<usize>(record), 0, TreeRecord.BYTES);
    store<u32>(changetype<usize>(record), syntax, Field.SYNTAX);
    store<u32>(changetype<usize>(record), count, Field.STANDS_FOR);
    store<u64>(changetype<usize>(record), low, Field.LOW);
    store<u64>(changetype<usize>(record), high, Field.HIGH);
    store<i32>(changetype<usize>(record), 1, Field.WEIGHT);
    Tree.setRecordsEnd(changetype<usize>(record) + TreeRecord.BYTES);
    return record;
  }

  /** Keys first .. last, counted from 1. */
  static makeKeys(first: u32, last: u32): TreeRecord {
    return TreeRecord.make(Syntax.KEYS, last - first + 1, first, last);
  }

  /** A comparison of key `key`, at character `at`; see the top of this file. */
  static makeComparison(key: u32, low: i64, high: i64, how: u32, at: u32): TreeRecord {
    const record = TreeRecord.make(Syntax.COMPARISON, key, <u64>low, <u64>high);
    store<u32>(changetype<usize>(record), how, Field.RULE);
    store<u32>(changetype<usize>(record), at, Field.LAST_CHILD);
    return record;
  }

  /** Of a comparison: the other key, how they are compared, and where in the text. */
  @inline otherKey(): u32 { return load<u32>(changetype<usize>(this), Field.FIRST_CHILD); }
  @inline setOtherKey(key: u32): void { store<u32>(changetype<usize>(this), key, Field.FIRST_CHILD); }
  @inline how(): u32 { return load<u32>(changetype<usize>(this), Field.RULE); }
  @inline place(): u32 { return load<u32>(changetype<usize>(this), Field.LAST_CHILD); }

  /** Narrows the bounds of a comparison by those of another one. */
  narrow(by: TreeRecord): void {
    store<i64>(changetype<usize>(this), max(<i64> this.low(), <i64>by.low()), Field.LOW);
    store<i64>(changetype<usize>(this), min(<i64> this.high(), <i64>by.high()), Field.HIGH);
  }

  static makeRange(first: u64, last: u64): TreeRecord {
    return TreeRecord.make(Syntax.RANGE, 1, first, last);
  }

  /** A term without items. */
  static makeTerm(rule: Rule): TreeRecord {
    const record = TreeRecord.make(Syntax.TERM, 1, 0, 0);
    record.setRule(rule, 0);
    return record;
  }

  /** Adds an item to a term, behind those that it has. */
  addChild(child: TreeRecord): void {
    const last = <usize>load<u32>(changetype<usize>(this), Field.LAST_CHILD);
    store<u32>(changetype<usize>(child), 0, Field.SIBLING);
    if (last) store<u32>(last, <u32>changetype<usize>(child), Field.SIBLING);
    else store<u32>(changetype<usize>(this), <u32>changetype<usize>(child), Field.FIRST_CHILD);
    store<u32>(changetype<usize>(this), <u32>changetype<usize>(child), Field.LAST_CHILD);
  }

  /** Takes all items from a term. Returns the first, from which links lead to the others. */
  takeChildren(): TreeRecord {
    const first = this.firstChild();
    store<u32>(changetype<usize>(this), 0, Field.FIRST_CHILD);
    store<u32>(changetype<usize>(this), 0, Field.LAST_CHILD);
    return first;
  }

  /** Moves all items of term `from` to the end of those of `term`. */
  moveChildren(from: TreeRecord): void {
    for (let child = from.firstChild(); child;) {
      const next = child.nextSibling();
      this.addChild(child);
      child = next;
    }
  }

  /**
   * Adds `child` to a term, or its items if it has the same rule.
   * For rules of which that makes no difference, such as ANY.
   */
  join(child: TreeRecord): void {
    if (child.isTerm(this.rule())) this.moveChildren(child); else this.addChild(child);
  }

  @inline weight(): i32 { return load<i32>(changetype<usize>(this), Field.WEIGHT); }
  @inline setWeight(weight: i32): void {
    store<i32>(changetype<usize>(this), weight, Field.WEIGHT);
  }

  @inline normal(): u32 { return load<u32>(changetype<usize>(this), Field.NORMAL); }
  @inline setNormal(normal: u32): void {
    store<u32>(changetype<usize>(this), normal, Field.NORMAL);
  }

  @inline hash(): u64 { return load<u64>(changetype<usize>(this), Field.HASH); }
  @inline setHash(hash: u64): void { store<u64>(changetype<usize>(this), hash, Field.HASH); }

  /** Items of a term: each key counts. */
  childItems(): u32 {
    let items: u32 = 0;
    for (let child = this.firstChild(); child; child = child.nextSibling()) items += child.standsFor();
    return items;
  }
}
