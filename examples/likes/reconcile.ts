// The other way round: the database is the truth. Finds and repairs what a bitmap has missed.

import type { Connected } from "../support/example.ts";

export interface Differences {
  missing: bigint[];
  extra: bigint[];
}

/**
 * Makes the bitmap of a post what the database says, and answers how they differed. A like that comes in after the comparison stays,
 * because only the differences are changed. One that comes in between reading `truth` and the comparison is taken for a stray one.
 */
export async function reconcile({ redis, r64 }: Connected, key: string, truth: readonly bigint[]): Promise<Differences> {
  const fromDatabase = `${key}:db`, missing = `${key}:missing`, extra = `${key}:extra`;
  await r64.setIntArray(fromDatabase, truth);
  await r64.diff(missing, fromDatabase, key);
  await r64.diff(extra, key, fromDatabase);
  const differences = { missing: await r64.getIntArray(missing), extra: await r64.getIntArray(extra) };
  await r64.queryStore(key, "(#1 | #2) - #3", [key, missing, extra]);
  await redis.unlink(fromDatabase, missing, extra);
  return differences;
}
