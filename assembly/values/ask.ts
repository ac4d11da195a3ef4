// What the host asks of values. Operand 0 has the values, and if `filters`, operand 1 is a bitmap of the ids
// that count. Numbers that a question has are the call's arguments.
//
// Answers to some questions add up over ranges of ids, so that several threads can count. The others are lists.

import { argument, left } from "../env/memory";
import { Left } from "../env/view";
import { countEdges, quantilesOfValues, rankOfValue, replyStatistics } from "./aggregate";
import { describeValues } from "./describe";
import { distinctValues } from "./distinct";
import { valuesFrom } from "./list";
import { rangeOfValues } from "./order";
import { Pass, Task } from "./scan";
import { Spot } from "./spot";

/** A question, and its numbers. */
export const enum Ask {
  /** of two bounds: how many ids have values between them; these questions up to EDGES add up */
  COUNT,
  /** the number of ids, and the sum of their values in four parts of 32 bits, the lowest first */
  SUM,
  /** of an id; and 1 for the reverse order: its rank; and not 0 if it has a value */
  RANK,
  /** of edges, which ascend: the ids below the first one, and from each edge up to below the next one */
  EDGES,
  /** replyStatistics() */
  STATISTICS,
  /** of two bounds, options, two ranks and a limit: rangeOfValues() */
  RANGE,
  /** of doubles: quantilesOfValues() */
  QUANTILES,
  /** of the values to list, 0 for all, and a limit: distinctValues() */
  DISTINCT,
  /** of an id and a number: valuesFrom() */
  LIST,
  /** describeValues() */
  FORM,
}

// @ts-ignore: decorator
@inline function signed(i: u32): i64 { return <i64>argument.value(i); }

/** Replies the answer. Returns how many numbers it has if it is a list with a limit. */
export function askValues(what: Ask, filters: u32, numbers: u32): u64 {
  if (what == Ask.LIST) { valuesFrom(argument.value(0), argument.value(1)); return 0; }
  Pass.begin(filters != 0);
  switch (what) {
    case Ask.STATISTICS: replyStatistics(); return 0;
    case Ask.RANGE:
      Pass.setBounds(signed(0), signed(1));
      return rangeOfValues(<u32>argument.value(2), signed(3), signed(4), argument.value(5));
    case Ask.QUANTILES: quantilesOfValues(numbers); return 0;
    case Ask.DISTINCT: return distinctValues(argument.value(0), argument.value(1));
    default: describeValues();
  }
  return 0;
}

/** Answers a question for the ids from `first` to `last`. The numbers of the answer become the arguments. */
export function countValues(what: Ask, filters: u32, numbers: u32, first: u64, last: u64): void {
  Pass.begin(filters != 0, first, last);
  switch (what) {
    case Ask.COUNT: argument.put(0, Pass.countBetween(signed(0), signed(1))); return;
    case Ask.SUM: putSum(); return;
    case Ask.RANK: putRank(argument.value(0), argument.value(1) != 0); return;
    default: putEdges(numbers);
  }
}

function putSum(): void {
  Pass.run(Task.SUM);
  argument.put(0, Pass.count());
  for (let i: u32 = 0; i < 4; i++) argument.put(i + 1, load<u32>(Pass.sumAt() + (<usize>i << 2)));
}

function putRank(id: u64, reverse: bool): void {
  left.select(0);
  const spot = Spot.from<Left>(id), found = spot != Spot.NONE && Spot.id<Left>(spot) == id;
  argument.put(0, found ? rankOfValue(id, Spot.value<Left>(spot), reverse) : 0);
  argument.put(1, u64(found));
}

function putEdges(edges: u32): void {
  let before = countEdges(edges);
  for (let i: u32 = 0; i < edges; i++) {
    const from = argument.value(i);
    argument.put(i, before - from);
    before = from;
  }
  argument.put(edges, before);
}
