// Terms: what a combination makes of its items. The items of a term are operands and results of other terms,
// so terms form a tree. Both the operations of BITOP and the expressions of QUERY are such trees. Terms are
// kept in the builder's scratch at the arena's end, below the cursors (combine/walk/cursor.ts). A term is
// named by the distance of its address from the arena's end, because addresses move when the arena grows:
//
//   +0   u32 rule                              +4  u32 first item; the items of a term are consecutive
//   +8   u32 items                             +12 u32 least: how many items, see Rule
//   +16  u32 items of a group, 0 for none      +20 u32 groups
//   +24  u32 items that have ended             +28 u32 name of the groups' least keys: their distance from
//                                                  the arena's end
//   +32  u32 operand that the result lies in   +36 u32 entry of that operand, if it lies in one
//   +40  u64 first offset of a RANGE           +48 u64 last offset of a RANGE, or of the universe of a NOT
//        of others: how much is listed (listed.ts)
//   +56  u32 name of the steps of a sum           +60 u32 steps
//   +64  u32 step that the walk is in             +68 u32 the most that all items weigh together
//   +72  list: LISTED_BYTES for each item (listed.ts); then a u64 for each group: the least key of its items
//        of a sum: a step for each offset from which on another constant counts, u64 offset and i32 constant;
//        the first has offset 0.
//        Then i32 weight for each item
//
// Groups are for terms of many items: at a key that few of them have, the cost is about the square root of
// their number.

import { Entry } from "../../arena/layout/entry";
import { arena } from "../../env/memory";

export const enum Rule {
  /** in all items */
  ALL,
  /** in any item */
  ANY,
  /** in an odd number of items */
  ODD,
  /** in the first `least` items, and in no other */
  LESS,
  /** in the first item and in any other; the first is an operand */
  ANDOR,
  /** in any item but not in the first, which is an operand */
  DIFF1,
  /** in `least` items or more */
  ATLEAST,
  /** in exactly `least` items */
  EXACTLY,
  /** in the universe, and not in the only item */
  NOT,
  /** from a first to a last offset; there are no items */
  RANGE,
  /** a constant plus the weights of the items that have it is at least `least`; weights may be negative */
  SUM_ATLEAST,
  /** that sum is exactly `least` */
  SUM_EXACTLY,
}

/** A term, by its name: how far from the arena's end it lies. */
export abstract class Term {
  @inline private static readonly RULE: u32 = 0;
  @inline private static readonly FIRST: u32 = 4;
  @inline private static readonly ITEMS: u32 = 8;
  @inline static readonly LEAST: u32 = 12;
  @inline private static readonly GROUP_ITEMS: u32 = 16;
  @inline private static readonly GROUPS: u32 = 20;
  @inline private static readonly ENDED: u32 = 24;
  @inline private static readonly LEAST_KEYS: u32 = 28;
  @inline private static readonly OPERAND: u32 = 32;
  @inline private static readonly ENTRY: u32 = 36;
  @inline private static readonly LOW: u32 = 40;
  @inline private static readonly FOUND: u32 = 40;
  @inline private static readonly HIGH: u32 = 48;
  @inline private static readonly STEPS_NAME: u32 = 56;
  @inline private static readonly STEPS: u32 = 60;
  @inline private static readonly STEP: u32 = 64;
  @inline private static readonly WEIGHT: u32 = 68;
  @inline private static readonly BYTES: u32 = 72;
  @inline private static readonly STEP_BYTES: u32 = 16;
  /** Bytes of the list for each item. */
  @inline static readonly LISTED_BYTES: u32 = 16;
  /** Terms of fewer items have no groups. */
  @inline private static readonly GROUPS_FROM: u32 = 32;

  @inline static isSum(rule: Rule): bool { return rule >= Rule.SUM_ATLEAST; }

  @inline static at(term: u32): usize { return <usize>arena.size() - term; }
  @inline static rule(term: u32): Rule { return <Rule>load<u32>(Term.at(term), Term.RULE); }
  @inline static first(term: u32): u32 { return load<u32>(Term.at(term), Term.FIRST); }
  @inline static items(term: u32): u32 { return load<u32>(Term.at(term), Term.ITEMS); }
  /** One past the number of the last item. */
  @inline static end(term: u32): u32 { return Term.first(term) + Term.items(term); }
  /** How many of the first items stand apart from the others. */
  @inline private static itemsApart(rule: Rule, least: u32): u32 {
    return rule == Rule.LESS ? least : u32(rule == Rule.ANDOR || rule == Rule.DIFF1);
  }

  /** The first of the items that can be grouped. */
  @inline static firstGrouped(term: u32): u32 {
    return Term.first(term) + Term.itemsApart(Term.rule(term), Term.least(term));
  }

  @inline static least(term: u32): u32 { return load<u32>(Term.at(term), Term.LEAST); }
  @inline private static groupItems(term: u32): u32 { return load<u32>(Term.at(term), Term.GROUP_ITEMS); }
  @inline static groups(term: u32): u32 { return load<u32>(Term.at(term), Term.GROUPS); }
  @inline static groupStart(term: u32, group: u32): u32 {
    return Term.firstGrouped(term) + group * Term.groupItems(term);
  }

  @inline static groupEnd(term: u32, start: u32): u32 {
    return min(start + Term.groupItems(term), Term.end(term));
  }

  /** Address of the least key of group `group`. */
  @inline static groupKeyAt(term: u32, group: u32): usize {
    return <usize>arena.size() - load<u32>(Term.at(term), Term.LEAST_KEYS) + (<usize>group << 3);
  }

  /** How many of the items have no more containers. Not kept up to date without groups. */
  @inline static ended(term: u32): u32 { return load<u32>(Term.at(term), Term.ENDED); }
  @inline static setEnded(term: u32, items: u32): void { store<u32>(Term.at(term), items, Term.ENDED); }
  /** The operand that holds the result of evaluate(): SELF for memory 0. */
  @inline static resultOperand(term: u32): u32 { return load<u32>(Term.at(term), Term.OPERAND); }
  /** The entry whose container the result is, if an operand holds it. */
  @inline static resultEntry(term: u32): Entry {
    return changetype<Entry>(load<u32>(Term.at(term), Term.ENTRY));
  }

  @inline static setResult(term: u32, operand: u32, entry: Entry): void {
    store<u32>(Term.at(term), operand, Term.OPERAND);
    store<u32>(Term.at(term), <u32>changetype<usize>(entry), Term.ENTRY);
  }

  /** How much seekRest() or seekAny() has listed, see listed.ts. Not of terms with groups, and not of RANGE. */
  @inline static found(term: u32): u64 { return load<u64>(Term.at(term), Term.FOUND); }
  @inline static setFound(term: u32, found: u64): void { store<u64>(Term.at(term), found, Term.FOUND); }
  @inline static lowOffset(term: u32): u64 { return load<u64>(Term.at(term), Term.LOW); }
  @inline static highOffset(term: u32): u64 { return load<u64>(Term.at(term), Term.HIGH); }
  /** Sets the range of a RANGE, or the universe [0, high] of a NOT. */
  static setOffsets(term: u32, low: u64, high: u64): void {
    store<u64>(Term.at(term), low, Term.LOW);
    store<u64>(Term.at(term), high, Term.HIGH);
  }

  /** How much the items of a sum weigh together at most, whatever the signs. */
  @inline static totalWeight(term: u32): u32 { return load<u32>(Term.at(term), Term.WEIGHT); }
  @inline private static stepAt(term: u32, step: u32): usize {
    return <usize>arena.size() - load<u32>(Term.at(term), Term.STEPS_NAME) + <usize>step * Term.STEP_BYTES;
  }

  @inline static stepOffset(term: u32, step: u32): u64 { return load<u64>(Term.stepAt(term, step)); }
  /** The constant from the step's offset on. */
  @inline static stepConstant(term: u32, step: u32): i32 { return load<i32>(Term.stepAt(term, step), 8); }
  /** Address of the weight of item `i`, an i32. */
  @inline private static weightAt(term: u32, i: u32): usize {
    return Term.stepAt(term, Term.steps(term)) + (<usize>(i - Term.first(term)) << 2);
  }

  @inline static weight(term: u32, i: u32): i32 { return load<i32>(Term.weightAt(term, i)); }
  /** Gives item `to` the weight of item `from`. */
  @inline static copyWeight(term: u32, to: u32, from: u32): void {
    store<i32>(Term.weightAt(term, to), Term.weight(term, from));
  }

  @inline static steps(term: u32): u32 { return load<u32>(Term.at(term), Term.STEPS); }
  /** The step that has the first offset of container `key`. The walk does not go back. */
  static stepTo(term: u32, key: u64): u32 {
    let step = load<u32>(Term.at(term), Term.STEP);
    while (step + 1 < Term.steps(term) && Term.stepOffset(term, step + 1) <= key << 16) step++;
    store<u32>(Term.at(term), step, Term.STEP);
    return step;
  }

  /** stepTo() for a walk that goes downwards. */
  static stepBackTo(term: u32, key: u64): u32 {
    let step = load<u32>(Term.at(term), Term.STEP);
    while (step && Term.stepOffset(term, step) > key << 16) step--;
    store<u32>(Term.at(term), step, Term.STEP);
    return Term.stepTo(term, key);
  }

  /** Whether `sum` suffices. */
  @inline static reaches(term: u32, sum: i32): bool {
    const least = <i32>Term.least(term);
    return Term.rule(term) == Rule.SUM_EXACTLY ? sum == least : sum >= least;
  }

  /**
   * Adds a step to a sum, behind those it has. A step at the same offset is replaced, and one that changes
   * nothing is not added.
   */
  static addStep(term: u32, offset: u64, constant: i32): void {
    let steps = Term.steps(term);
    if (steps && Term.stepOffset(term, steps - 1) == offset) steps--;
    if (!steps || Term.stepConstant(term, steps - 1) != constant) {
      store<u64>(Term.stepAt(term, steps), offset);
      store<i32>(Term.stepAt(term, steps), constant, 8);
      steps++;
    }
    store<u32>(Term.at(term), steps, Term.STEPS);
  }

  /** Gives item `i` a weight, after all steps have been added. */
  static setWeight(term: u32, i: u32, weight: i32): void {
    store<i32>(Term.weightAt(term, i), weight);
    store<u32>(Term.at(term), Term.totalWeight(term) + <u32>abs<i32>(weight), Term.WEIGHT);
  }

  /** Address of the list's element `index`, until the arena grows. */
  @inline static listedAt(list: usize, index: u32): usize {
    return list + <usize>index * Term.LISTED_BYTES;
  }

  /** Address of the term's list, until the arena grows. */
  @inline static list(term: u32): usize { return Term.at(term) + Term.BYTES; }

  // ALL has no groups: it looks at no item of a key that another item lacks.
  @inline private static hasGroups(rule: Rule, items: u32): bool {
    return rule != Rule.ALL && items >= Term.GROUPS_FROM;
  }

  /** Items of a group: the square root of the number of items, rounded up. */
  private static sizeOfGroups(items: u32): u32 {
    const root = <u32>sqrt<f64>(items);
    return root * root < items ? root + 1 : root;
  }

  /** The most bytes that a term of `items` items takes. A multiple of 8, as cursors are. */
  static bytes(items: u32): u32 {
    return Term.BYTES + items * Term.LISTED_BYTES
      + (items >= Term.GROUPS_FROM ? 8 * (Term.sizeOfGroups(items) + 1) : 0);
  }

  /** The most bytes that a sum of `items` items takes with `steps` steps. A multiple of 8. */
  static sumBytes(items: u32, steps: u32): u32 {
    return Term.bytes(items) + steps * Term.STEP_BYTES + ((items + 1) >> 1 << 3);
  }

  /** Term.make() for a sum. It has no steps and no weights yet, and its least sum is 0. */
  static makeSum(below: u32, rule: Rule, first: u32, items: u32, steps: u32): u32 {
    const term = Term.make(below + Term.sumBytes(items, steps) - Term.bytes(items), rule, first, items, 0);
    store<u32>(Term.at(term), term - Term.bytes(items), Term.STEPS_NAME);
    return term;
  }

  /**
   * Makes a term below what lies `below` bytes from the arena's end on, where Term.bytes(items) bytes are
   * free; returns its name.
   */
  static make(below: u32, rule: Rule, first: u32, items: u32, least: u32): u32 {
    const term = below + Term.bytes(items), at = Term.at(term);
    memory.fill(at, 0, Term.BYTES);
    store<u32>(at, rule, Term.RULE);
    store<u32>(at, first, Term.FIRST);
    store<u32>(at, least, Term.LEAST);
    store<u32>(at, term - Term.BYTES - items * Term.LISTED_BYTES, Term.LEAST_KEYS);
    Term.setItems(term, items);
    return term;
  }

  /** Sets how many items the term has, at most as many as before, and how they are grouped. */
  static setItems(term: u32, items: u32): void {
    const at = Term.at(term), grouped = items - Term.itemsApart(Term.rule(term), Term.least(term));
    const size = Term.sizeOfGroups(grouped);
    const groups = Term.hasGroups(Term.rule(term), grouped) ? (grouped + size - 1) / size : 0;
    store<u32>(at, items, Term.ITEMS);
    store<u32>(at, groups ? size : 0, Term.GROUP_ITEMS);
    store<u32>(at, groups, Term.GROUPS);
  }
}

/** Sets the least sum that counts. */
// @ts-ignore: decorator
@inline export function setLeast(sum: u32, least: i32): void { store<i32>(Term.at(sum), least, Term.LEAST); }
