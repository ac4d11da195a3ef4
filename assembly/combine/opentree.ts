// From the tree of an expression to terms (combine/term/term.ts) and their cursors, which the walk works
// with.

import { right, segments } from "../env/memory";
import { Right } from "../env/view";
import { Directory } from "../arena/read/directory";
import { Cursor } from "./walk/cursor";
import { openTerm } from "./term/seek";
import { Rule, Term, setLeast } from "./term/term";
import { Syntax, TreeRecord } from "../expression/tree";

/** The terms and cursors that a tree becomes. */
export abstract class TreeTerms {
  /** Most entries of a result that a range or a complement adds to those of the operands. */
  @inline private static readonly ADDED_ENTRIES: u64 = 12;

  /** Items of the term: ranges in a sum are steps of its constant instead. */
  @inline private static itemsOf(record: TreeRecord): u32 {
    return TreeTerms.isSumRecord(record) ? record.childItems() - TreeTerms.rangesOf(record)
      : record.childItems();
  }

  @inline private static isSumRecord(record: TreeRecord): bool { return Term.isSum(record.rule()); }

  @inline static isRange(record: TreeRecord): bool { return record.syntax() == Syntax.RANGE; }

  private static rangesOf(record: TreeRecord): u32 {
    let ranges: u32 = 0;
    for (let child = record.firstChild(); child;
      child = child.nextSibling()) ranges += u32(TreeTerms.isRange(child));
    return ranges;
  }

  /** The most steps that a sum takes: each range may end before the next one begins. */
  @inline static stepsOf(record: TreeRecord): u32 { return 1 + 2 * TreeTerms.rangesOf(record); }

  /** Bytes of the term itself. */
  @inline private static ownBytes(record: TreeRecord, items: u32): u32 {
    return TreeTerms.isSumRecord(record) ? Term.sumBytes(items, TreeTerms.stepsOf(record))
      : Term.bytes(items);
  }

  /**
   * Counts the items and bytes that the record and everything below it takes.
   * Returns the most entries of its result.
   */
  static measure(record: TreeRecord): u64 {
    const items = record.syntax() == Syntax.TERM ? TreeTerms.itemsOf(record) : 0,
      hasSteps = TreeTerms.isSumRecord(record);
    let allItems = items, bytes = TreeTerms.ownBytes(record, items), entries = TreeTerms.ADDED_ENTRIES;
    if (record.syntax() == Syntax.KEYS) {
      entries = 0;
      for (let key = <u32>record.low(); key <= <u32>record.high(); key++) {
        right.select(key - 1);
        entries += 2 * Directory.entriesHeld<Right>();
        // a FULL entry may be cut at both ends of every other
      }
      bytes = 0;
    }
    for (let child = record.firstChild(); child; child = child.nextSibling()) {
      entries += TreeTerms.measure(child);
      if (hasSteps && TreeTerms.isRange(child)) continue;
      allItems += child.itemsBelow();
      bytes += child.bytesBelow();
    }
    record.setBelow(allItems, bytes);
    return entries;
  }

  /** Bytes of the cursors and terms of a tree that measure() has measured. */
  static bytes(root: TreeRecord): u32 { return TreeTerms.cursorsBytes(root) + root.bytesBelow(); }

  /** Bytes of the cursors: item 0 is the root. */
  @inline private static cursorsBytes(root: TreeRecord): u32 {
    return (1 + root.itemsBelow()) * <u32>Cursor.BYTES;
  }

  /**
   * Makes the terms of the tree, of which item 0 is the root, and opens all cursors at container `key`.
   * `greatest` is the greatest offset.
   */
  static open(root: TreeRecord, key: u64, greatest: u64): void {
    openTerm(0, TreeTerms.openRecord(root, 1, TreeTerms.cursorsBytes(root), key, greatest), key);
  }

  /**
   * Makes the term of the record, which is not KEYS, and opens its items at container `key`; the caller opens
   * the term. Its items and those below them are numbered from `next` on, and its terms begin below what lies
   * `below` bytes from the arena's end on.
   */
  private static openRecord(record: TreeRecord, next: u32, below: u32, key: u64, greatest: u64): u32 {
    if (record.syntax() == Syntax.RANGE) {
      const range = Term.make(below, Rule.RANGE, 0, 0, 0);
      Term.setOffsets(range, record.low(), record.high());
      return range;
    }
    const first = next, items = TreeTerms.itemsOf(record), hasSteps = TreeTerms.isSumRecord(record);
    let open = first;
    next += items;
    for (let child = record.firstChild(); child; child = child.nextSibling()) {
      if (hasSteps && TreeTerms.isRange(child)) continue;
      if (child.syntax() == Syntax.KEYS) {
        const operand = <u32>child.low() - 1, count = child.standsFor();
        for (let i: u32 = 0; i < count; i++) Cursor.open(open + i, segments.view(operand + i), key);
      } else openTerm(open, TreeTerms.openRecord(child, next, below, key, greatest), key);
      open += child.standsFor();
      next += child.itemsBelow();
      below += child.bytesBelow();
    }
    if (hasSteps) return sumOf(record, first, items, below, greatest);
    const term = Term.make(below, record.rule(), first, items, <u32>record.low());
    if (record.rule() == Rule.NOT) Term.setOffsets(term, 0, greatest);
    return term;
  }
}

/** Makes the term of a sum, whose items are open. */
function sumOf(record: TreeRecord, first: u32, items: u32, below: u32, greatest: u64): u32 {
  const sum = Term.makeSum(below, record.rule(), first, items, TreeTerms.stepsOf(record));
  setLeast(sum, <i32>record.low());
  Term.addStep(sum, 0, 0);
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (!TreeTerms.isRange(child)) continue;
    Term.addStep(sum, child.low(), child.weight());
    if (child.high() < greatest) Term.addStep(sum, child.high() + 1, 0);
  }
  let open = first;
  for (let child = record.firstChild(); child; child = child.nextSibling()) {
    if (TreeTerms.isRange(child)) continue;
    for (let end = open + child.standsFor(); open < end; open++) Term.setWeight(sum, open, child.weight());
  }
  Term.setOffsets(sum, 0, greatest);
  return sum;
}
