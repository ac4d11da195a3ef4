// Ids and values of several shards: their orders, means, and the search for the value with a rank.

import type { Member } from "../family.js";
import type { Order } from "./merging.js";

/** An id and its value. */
export type Entry<M extends Member> = [id: M, value: M];

const compare = (a: Member, b: Member): number => (a < b ? -1 : Number(a > b));

const orderBy = <T>(by: (a: T, b: T) => number): Order<T> => ({ isAfter: (a, b) => by(a, b) > 0, sorted: (items) => [...items].sort(by) });

/** Ascending ids. */
export const byId = <M extends Member>(): Order<Entry<M>> => orderBy(([a], [b]) => compare(a, b));

/** Ascending values, and ascending ids of the same value; with `rev` the reverse. */
export const byValue = <M extends Member>(rev = false): Order<Entry<M>> =>
  orderBy(([a, x], [b, y]) => (compare(x, y) || compare(a, b)) * (rev ? -1 : 1));

/** Binary digits of a quotient beyond those of the divisor: more than a number has. */
const DIGITS = 64;

/** The mean as near as a number can be, or null of nothing. */
export function meanOf(sum: bigint, count: bigint): number | null {
  if (count === 0n) return null;
  const digits = DIGITS + count.toString(2).length, whole = (sum < 0n ? -sum : sum) << BigInt(digits);
  const quotient = whole / count | BigInt(whole % count > 0n); // a last digit for what is left, so that it is rounded once
  return Number(sum < 0n ? -quotient : quotient) / 2 ** digits;
}

/** The search for the value with a rank, which lies from `low` to `high`. */
export interface Search {
  readonly rank: bigint;
  low: bigint;
  high: bigint;
}

/** How many values divide what is left of a search. */
const SPLITS = 16n;

/** Values that divide what is left of the searches, ascending; none if nothing is left. */
export function splitsOf(searches: readonly Search[]): bigint[] {
  const splits = new Set<bigint>();
  for (const { low, high } of searches) {
    for (let k = 1n; k <= SPLITS && low < high; k++) splits.add(low + ((high - low) * k + SPLITS - 1n) / SPLITS);
  }
  return [...splits].sort(compare);
}

/** Narrows the searches by the number of ids before each of these values. */
export function narrow(searches: readonly Search[], splits: readonly bigint[], before: readonly bigint[]): void {
  for (const search of searches) {
    for (const [i, split] of splits.entries()) {
      if (split <= search.low || split > search.high) continue;
      if (before[i]! > search.rank) search.high = split - 1n;
      else search.low = split;
    }
  }
}
