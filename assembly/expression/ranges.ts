// The ranges of a term that is brought into normal form: from the edges that were gathered to the offsets at
// which a suitable number of ranges overlap.

import { Rule } from "../combine/term/term";
import { Edge, List } from "./gather";
import { hashTerm, mix } from "./normalrecord";
import { Tree, TreeRecord } from "./tree";

/** Conditions on the number of ranges at an offset. */
export const enum Wanted { EQUAL, OTHER, ODD, EVEN, LEAST, ANY }

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
export function sweep(list: List, constant: i64, wanted: Wanted, than: i64): TreeRecord {
  const sum = TreeRecord.makeTerm(Rule.SUM_ATLEAST), edges = list.edges(), weighs = wanted == Wanted.ANY;
  sum.setRule(Rule.SUM_ATLEAST, 1);
  // `open` is the weight of the range that began at `low`.
  let number = constant, low: u64 = 0, open: i64 = 0;
  for (let i: u32 = 0, offset: u64 = 0; ;) {
    for (; i < edges && load<u64>(list.edgeAt(i), Edge.OFFSET) == offset; i++) {
      number += <i64>load<i32>(list.edgeAt(i), Edge.BY);
    }
    const weight: i64 = suits(number, wanted, than) ? (weighs ? number : 1) : 0;
    if (weight != open) {
      if (open) addRange(sum, low, offset - 1, <i32>open);
      low = offset;
      open = weight;
    }
    if (i == edges) break;
    offset = load<u64>(list.edgeAt(i), Edge.OFFSET);
  }
  if (open) addRange(sum, low, Tree.greatest(), <i32>open);
  return sum;
}

function addRange(sum: TreeRecord, low: u64, high: u64, weight: i32): void {
  const range = TreeRecord.makeRange(low, high);
  range.setWeight(weight);
  range.setHash(mix(low + mix(high) + <u64>weight));
  sum.addChild(range);
}

/** Whether the sum of ranges is everything. */
export function isEverything(sum: TreeRecord): bool {
  const range = sum.firstChild();
  return changetype<usize>(range) != 0 && !range.nextSibling() && !range.low()
    && range.high() == Tree.greatest();
}

/** The sum of ranges as a record: one range, if it is only one. */
export function constantRecord(sum: TreeRecord): TreeRecord {
  const range = sum.firstChild();
  if (range && !range.nextSibling()) return range;
  if (!range) sum.setRule(Rule.ANY, 0);
  hashTerm(sum);
  return sum;
}
