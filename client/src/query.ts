// The methods of a query.

import type { Count, Member, Offset } from "./family.js";
import type { PageOptions } from "./paging.js";

/** How bitmaps are ranked. See docs/commands.md#facet. */
export type By = "CARD" | "JACCARD" | "OVERLAP";

/** Selects the bitmaps to return. */
export interface TopOptions<B extends By> {
  /** The measure; CARD, the number of shared members, if it is not given. */
  readonly by?: B | undefined;
  /** The least number of members or, by JACCARD and OVERLAP, the least ratio, such as "0.25". */
  readonly min?: string | undefined;
}

/** A number of members or a ratio. */
export type Score<M extends Member, B extends By> = B extends "CARD" ? Count<M> : number;

/** Selects the members to return. */
export interface MembersOptions<M extends Member> {
  /** In descending order. */
  readonly rev?: boolean | undefined;
  /** The first offset; if it is not given 0, or with `rev` the last one. */
  readonly from?: Offset<M> | undefined;
  /** The maximum number of members; all if it is not given. */
  readonly limit?: number | undefined;
}

/**
 * A query over bitmaps. `D` is the type of its bitmaps, and of the destination of `store`: keys, or sharded bitmaps.
 * Nothing is sent before a method is called, and each call sends the query again.
 */
export interface Query<M extends Member, D> {
  /** The number of members. O(n) in the size of the bitmaps. */
  card(): Promise<Count<M>>;
  /** The members in ascending order, or with `rev` in descending order. O(n) in the size of what is read to find them. */
  members(options?: MembersOptions<M>): Promise<M[]>;
  /** The members in ascending order, page by page: `count` of them, 1000 if it is not given. */
  pages(options?: PageOptions<M>): AsyncGenerator<M[], void, undefined>;
  /** The members in ascending order, one by one. They are fetched page by page. */
  iterator(options?: PageOptions<M>): AsyncGenerator<M, void, undefined>;
  /** The members in the portable Roaring format. */
  export(): Promise<Uint8Array>;
  /** The number of members that each of the bitmaps shares with the query. O(n) in the size of all bitmaps. */
  facet(facets: readonly D[]): Promise<Count<M>[]>;
  /**
   * The bitmaps that share most with the query, at most `k` of them, the greatest first, each as it was given. O(n) in the size of what
   * is read: of keys, few are.
   */
  facetTop<B extends By = "CARD">(facets: readonly D[], k: number, options?: TopOptions<B>): Promise<[D, Score<M, B>][]>;
  /** Stores the members in the destination in place of its old value, and returns their number. */
  store(destination: D): Promise<Count<M>>;
}
