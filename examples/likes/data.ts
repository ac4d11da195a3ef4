// Users with snowflake ids, and what they do to posts.

import type { Random } from "../../test/support/random.ts";

/** The milliseconds of 2024-01-01 since 2010-11-04, as in the ids of some social networks. */
const YEAR_2024 = 415_231_200_000;

/** Ids of 63 bits: milliseconds above 22 bits of a worker and a counter. Nearly all are beyond 2^53. */
export function snowflakes(random: Random, count: number): bigint[] {
  const ids = new Set<bigint>();
  for (let time = YEAR_2024; ids.size < count; time += random.below(2000)) ids.add((BigInt(time) << 22n) | BigInt(random.below(2 ** 22)));
  return [...ids];
}

export interface Action {
  post: number;
  user: bigint;
  /** 1 to like, 0 to take the like back. */
  like: 0 | 1;
}

/** Every sixth action takes a like back, or tries to. Few posts get most of the likes. */
export function actions(random: Random, users: readonly bigint[], posts: number, count: number): Action[] {
  return Array.from({ length: count }, () => ({
    post: Math.floor(posts * random.unit() ** 4), user: random.pick(users), like: random.below(6) === 0 ? 0 : 1,
  }));
}
