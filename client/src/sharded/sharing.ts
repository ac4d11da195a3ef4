// How many of the first members each shard has, found by counting.

import type { Bounds } from "./layout.js";

const total = (counts: readonly bigint[]): bigint => counts.reduce((sum, count) => sum + count, 0n);

/**
 * How many of the first `limit` members in the bounds each shard has. `count` counts those of each shard up to an offset. If shards have
 * consecutive offsets, one count is enough; otherwise the last of the first members is searched, each step halving the bounds.
 */
export async function firstParts(
  limit: bigint, { low, high }: Bounds, isInOrder: boolean, count: (high: bigint) => Promise<bigint[]>,
): Promise<bigint[]> {
  const all = await count(high);
  if (total(all) <= limit) return all;
  if (isInOrder || limit === 0n) {
    let left = limit;
    return all.map((one) => {
      const part = one < left ? one : left;
      left -= part;
      return part;
    });
  }
  // Up to `most` there are too many members, and before `after` there are not.
  let best = all.map(() => 0n), after = low, most = high;
  while (after < most) {
    const middle = (after + most) / 2n, found = await count(middle), size = total(found);
    if (size > limit) {
      most = middle;
      continue;
    }
    best = found;
    if (size === limit) break;
    after = middle + 1n;
  }
  return best;
}
