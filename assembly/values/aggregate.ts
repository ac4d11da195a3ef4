// Counts and sums of values, and their distribution. The pass has begun: it says which ids count.

import { argument, reply } from "../env/memory";
import { Order } from "./order";
import { Pass, Task } from "./scan";
import { Wide } from "./wide";

/** Replies the number of ids, the two halves of the sum of their values, and the least and greatest value. */
export function replyStatistics(): void {
  Pass.run(Task.STATISTICS);
  reply.member(Pass.count());
  reply.member(load<u64>(Pass.sumAt()));
  reply.member(load<u64>(Pass.sumAt(), Wide.HIGH));
  reply.member(<u64>Pass.least());
  reply.member(<u64>Pass.greatest());
}

/** How many ids come before (value, id) in the order of (value, id), or if `reverse`, behind it. */
export function rankOfValue(id: u64, value: i64, reverse: bool): u64 {
  let ids: u64 = 0;
  if (reverse && value < i64.MAX_VALUE) ids = Pass.countBetween(value + 1, i64.MAX_VALUE);
  if (!reverse && value > i64.MIN_VALUE) ids = Pass.countBetween(i64.MIN_VALUE, value - 1);
  if (reverse ? id == u64.MAX_VALUE : !id) return ids;
  if (reverse) Pass.setIds(max(Pass.firstId(), id + 1), Pass.lastId());
  else Pass.setIds(Pass.firstId(), min(Pass.lastId(), id - 1));
  return ids + Pass.countBetween(value, value);
}

/**
 * Replies the quantile of each argument, a double from 0 to 1: the least value that at least this part of the
 * ids does not exceed. Replies nothing if there are no ids.
 */
export function quantilesOfValues(quantiles: u32): void {
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
export function countEdges(edges: u32): u64 {
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
