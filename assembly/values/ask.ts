// What the host asks of values. Operand 0 has the values, and if `filters`, operand 1 is a bitmap of the ids
// that count. Numbers that a question has are the call's arguments.

import { argument, left, reply } from "../env/memory";
import { Left } from "../env/view";
import { countEdges, countValues, quantilesOfValues, rankOfValue, sumValues } from "./aggregate";
import { describeValues } from "./describe";
import { distinctValues } from "./distinct";
import { valuesFrom } from "./list";
import { rangeOfValues } from "./order";
import { Pass } from "./scan";
import { Spot } from "./spot";

/** A question, and its numbers. */
export const enum Ask {
  /** how many ids have values between two bounds */
  COUNT,
  /** sumValues() */
  SUM,
  /** sumValues(), and the extremes */
  STATISTICS,
  /** of an id; and 1 for the reverse order: its rank, or nothing if it has no value */
  RANK,
  /** of two bounds, options, two ranks and a limit: rangeOfValues() */
  RANGE,
  /** of doubles: quantilesOfValues() */
  QUANTILES,
  /** of edges, which ascend: the ids below the first one, and from each edge up to below the next one */
  EDGES,
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
  switch (what) {
    case Ask.COUNT: reply.member(countValues(filters, signed(0), signed(1))); return 0;
    case Ask.SUM: sumValues(filters, 0); return 0;
    case Ask.STATISTICS: sumValues(filters, 1); return 0;
    case Ask.RANK: replyRank(filters, argument.value(0), argument.value(1) != 0); return 0;
    case Ask.RANGE: {
      Pass.begin(filters != 0);
      Pass.setBounds(signed(0), signed(1));
      return rangeOfValues(<u32>argument.value(2), signed(3), signed(4), argument.value(5));
    }
    case Ask.QUANTILES: quantilesOfValues(filters, numbers); return 0;
    case Ask.EDGES: replyEdges(filters, numbers); return 0;
    case Ask.DISTINCT: return distinctValues(filters, argument.value(0), argument.value(1));
    case Ask.LIST: valuesFrom(argument.value(0), argument.value(1)); return 0;
    default: describeValues();
  }
  return 0;
}

function replyRank(filters: u32, id: u64, reverse: bool): void {
  left.select(0);
  const spot = Spot.from<Left>(id);
  if (spot == Spot.NONE || Spot.id<Left>(spot) != id) return;
  reply.member(rankOfValue(filters, id, Spot.value<Left>(spot), u32(reverse)));
}

function replyEdges(filters: u32, edges: u32): void {
  let before = countEdges(filters, edges);
  for (let i: u32 = 0; i < edges; i++) {
    const from = argument.value(i);
    reply.member(before - from);
    before = from;
  }
  reply.member(before);
}
