// Which of several bitmaps come first, by how many members they share with one: over shards, numbers of members add up, but the first
// bitmaps of each shard need not be among the first of all.

import { InvalidArgumentError } from "../errors.js";
import { integer } from "../family.js";
import type { By } from "../query.js";

/** A score from 0 to 1, or with the denominator 1 a number of members. Integers, since sums over shards can have more than 53 bits. */
interface Score {
  readonly part: bigint;
  readonly whole: bigint;
}

/** How many members a bitmap has in common with the one, how many the one has, and how many the bitmap has. */
export interface Sizes {
  readonly shared: bigint;
  readonly one: bigint;
  readonly facet: bigint;
}

/** The score by this measure; undefined where there is none, as both bitmaps, or with OVERLAP one of them, are empty. */
function scoreOf(by: By, { shared, one, facet }: Sizes): Score | undefined {
  if (by === "CARD") return { part: shared, whole: 1n };
  const whole = by === "JACCARD" ? one + facet - shared : one < facet ? one : facet;
  return whole > 0n ? { part: shared, whole } : undefined;
}

/** Negative if a comes before b, that is, if it is greater. */
const order = (a: Score, b: Score): number => {
  const left = a.part * b.whole, right = b.part * a.whole;
  return left > right ? -1 : left < right ? 1 : 0;
};

/** The least score, as FACET's MIN takes it. */
export function leastOf(by: By, min: string | undefined): Score {
  if (min === undefined) return { part: 0n, whole: 1n };
  if (by === "CARD") return { part: integer("min", min, 0n, 2n ** 64n - 1n), whole: 1n };
  const [, units, decimals = ""] = /^([01])(?:\.(\d{1,18}))?$/.exec(min) ?? [], whole = 10n ** BigInt(decimals.length);
  const part = units === undefined ? -1n : BigInt(units) * whole + BigInt(decimals);
  if (part < 0n || part > whole) {
    throw new InvalidArgumentError("invalid min: must be a number from 0 to 1 with at most 18 decimal places");
  }
  return { part, whole };
}

/** The indexes of the `k` greatest of those above 0 that reach `least`, with their scores; equal ones in the order given. */
export function greatest(by: By, sizes: readonly Sizes[], k: number, least: Score): [index: number, score: Score][] {
  const scores = sizes.flatMap((one, i): [number, Score][] => {
    const score = scoreOf(by, one);
    return score && score.part > 0n && order(score, least) <= 0 ? [[i, score]] : [];
  });
  return scores.sort(([, a], [, b]) => order(a, b)).slice(0, k);
}
