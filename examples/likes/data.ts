// Users with snowflake ids, and how many like a post.

import type { Random } from "../../test/support/random.ts";

/** The milliseconds of 2024-01-01 since 2010-11-04, as in the ids of some social networks. */
const YEAR_2024 = 415_231_200_000;

/** Ids of 63 bits: milliseconds above 22 bits of a worker and a counter. Nearly all are beyond 2^53. */
export function snowflakes(random: Random, count: number): bigint[] {
  const ids = new Set<bigint>();
  for (let time = YEAR_2024; ids.size < count; time += random.below(2000)) ids.add((BigInt(time) << 22n) | BigInt(random.below(2 ** 22)));
  return [...ids];
}

/** Zipf's law: how many of all users like the post at this rank, counted from 1. */
export const likesAt = (rank: number, users: number): number => Math.max(1, Math.round(users / 10 / rank ** 0.8));

/** Positions of those who like a post, among all users. */
export function likers(random: Random, users: number, count: number): number[] {
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(random.below(users));
  return [...chosen];
}
