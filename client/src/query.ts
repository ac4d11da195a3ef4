// What can be asked of a question.

import type { Count, Member, Offset } from "./family.js";
import type { PageOptions } from "./paging.js";

/** How bitmaps are ranked. See docs/commands.md#facet. */
export type By = "CARD" | "JACCARD" | "OVERLAP";

/** Which bitmaps to answer. */
export interface TopOptions<B extends By> {
  /** What counts: by CARD the members that are shared, which is what counts if it is not given. */
  readonly by?: B | undefined;
  /** The least number of members or, by JACCARD and OVERLAP, the least ratio, such as "0.25". */
  readonly min?: string | undefined;
}

/** A number of members or a ratio. */
export type Score<M extends Member, B extends By> = B extends "CARD" ? Count<M> : number;

/** Which members to answer. */
export interface MembersOptions<M extends Member> {
  /** The first offset; 0 if it is not given. */
  readonly from?: Offset<M> | undefined;
  /** The most members to answer; all if it is not given. */
  readonly limit?: number | undefined;
}

/**
 * A question about bitmaps. `D` is what it is about, and where its members can be stored: keys, or sharded bitmaps.
 * Nothing is sent before a method is called, and each call asks again.
 */
export interface Query<M extends Member, D> {
  /** The number of members. O(n) in the size of the bitmaps. */
  card(): Promise<Count<M>>;
  /** The members in ascending order. O(n) in the size of what is read to find them. */
  members(options?: MembersOptions<M>): Promise<M[]>;
  /** The members in ascending order, page by page: `count` of them, 1000 if it is not given. */
  pages(options?: PageOptions<M>): AsyncGenerator<M[], void, undefined>;
  /** The members in ascending order, one by one. They are fetched page by page. */
  iterator(options?: PageOptions<M>): AsyncGenerator<M, void, undefined>;
  /** The members in the portable Roaring format. */
  export(): Promise<Uint8Array>;
  /** How many members each of the bitmaps shares with the question. O(n) in the size of all bitmaps. */
  facet(facets: readonly D[]): Promise<Count<M>[]>;
  /**
   * The bitmaps that share most with the question, at most `k` of them, the greatest first, each as it was given. O(n) in the size of what
   * is read: of keys, few are.
   */
  facetTop<B extends By = "CARD">(facets: readonly D[], k: number, options?: TopOptions<B>): Promise<[D, Score<M, B>][]>;
  /** Stores the members in place of what the destination holds, and answers their number. */
  store(destination: D): Promise<Count<M>>;
}
