// Reading shards in order: the first members, and pages.

import type { Member } from "../family.js";
import { pageSize } from "../paging.js";
import type { Geometry } from "./geometry.js";

/** The first `limit` members, of shards in ascending order. It asks 1, 2, 4 and so on shards at a time; without a limit all at once. */
export async function firstOf<M>(
  shards: readonly number[], limit: number | undefined, ask: (shards: number[], limit: { limit?: number }) => Promise<M[][]>,
): Promise<M[]> {
  if (limit === undefined) return (await ask([...shards], {})).flat();
  const members: M[] = [];
  for (let at = 0, some = 1; at < shards.length && members.length < limit; at += some, some *= 2) {
    for (const part of await ask(shards.slice(at, at + some), { limit: limit - members.length })) {
      for (const member of part) members.push(member); // a call with so many arguments could overflow the stack
    }
  }
  return members.slice(0, limit);
}

/** Pages of members from `from` on, shard by shard. `ask` answers up to `limit` members of a shard from an offset on. */
export async function* pages<M extends Member>(
  geometry: Geometry, from: bigint, count: number | undefined, ask: (shard: number, from: bigint, limit: number) => Promise<M[]>,
): AsyncGenerator<M[], void, undefined> {
  const limit = pageSize(count);
  for (const shard of geometry.all(geometry.shardOf(from))) {
    const { low, high } = geometry.bounds(shard);
    let at = low > from ? low : from;
    while (at <= high) {
      const page = await ask(shard, at, limit);
      if (page.length > 0) yield page;
      if (page.length < limit) break;
      at = BigInt(page.at(-1)!) + 1n;
    }
  }
}
