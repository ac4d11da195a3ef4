// Counts and sums of values, and their distribution. Operand 0 has the values, and if `filters`, operand 1 is a
// bitmap of the ids that count.

import { argument, reply } from "../env/memory";
import { Order } from "./order";
import { Pass, Task } from "./scan";

/** How many ids have a value from `low` to `high`. */
export function countValues(filters: u32, low: i64, high: i64): u64 {
  Pass.begin(filters != 0);
  Pass.setBounds(low, high);
  Pass.run(Task.COUNT);
  return Pass.count();
}

/**
 * Replies the number of ids, the two halves of the sum of their values, and if `whole`, the least and greatest
 * value.
 */
export function sumValues(filters: u32, whole: u32): void {
  Pass.begin(filters != 0);
  Pass.run(whole ? Task.STATISTICS : Task.SUM);
  reply.member(Pass.count());
  reply.member(load<u64>(Pass.sumAt()));
  reply.member(load<u64>(Pass.sumAt(), 8));
  reply.member(<u64>Pass.least());
  reply.member(<u64>Pass.greatest());
}

/** How many ids come before (value, id) in the order of (value, id), or if `reverse`, behind it. */
export function rankOfValue(filters: u32, id: u64, value: i64, reverse: u32): u64 {
  Pass.begin(filters != 0);
  let ids: u64 = 0;
  if (reverse ? value < i64.MAX_VALUE : value > i64.MIN_VALUE) {
    if (reverse) Pass.setBounds(value + 1, i64.MAX_VALUE); else Pass.setBounds(i64.MIN_VALUE, value - 1);
    Pass.run(Task.COUNT);
    ids = Pass.count();
  }
  if (reverse ? id == u64.MAX_VALUE : !id) return ids;
  Pass.setBounds(value, value);
  if (reverse) Pass.setIds(id + 1, u64.MAX_VALUE); else Pass.setIds(0, id - 1);
  Pass.run(Task.COUNT);
  return ids + Pass.count();
}

/**
 * Replies the quantile of each argument, a double from 0 to 1: the least value that at least this part of the
 * ids does not exceed. Replies nothing if there are no ids.
 */
export function quantilesOfValues(filters: u32, quantiles: u32): void {
  Pass.begin(filters != 0);
  Pass.run(Task.STATISTICS);
  const least = Pass.least(), greatest = Pass.greatest(), all = Pass.count();
  for (let i: u32 = 0; i < quantiles && all; i++) {
    const ids = <u64>ceil(reinterpret<f64>(argument.value(i)) * <f64>all);
    reply.member(<u64>Order.valueOf(min(max<u64>(ids, 1), all) - 1, least, greatest, least));
  }
}

/**
 * Hands back how many ids have a value of at least each edge, an argument; edges ascend. Returns how many ids
 * there are.
 */
export function countEdges(filters: u32, edges: u32): u64 {
  Pass.begin(filters != 0);
  let all: u64 = 0;
  for (let from: u32 = 0; from < edges || !from; from += Pass.EDGES_MAX) {
    const part = min(edges - from, Pass.EDGES_MAX);
    for (let i: u32 = 0; i < part; i++) Pass.setEdge(i, <i64>argument.value(from + i));
    Pass.setEdges(part);
    Pass.run(Task.EDGES);
    for (let i: u32 = 0; i < part; i++) argument.put(from + i, Pass.fromEdge(i));
    all = Pass.count();
  }
  return all;
}
