// What can be asked of a question.

import type { Count, Member, Offset } from "./family.js";
import type { PageOptions } from "./paging.js";

/** Which members to answer. */
export interface MembersOptions<M extends Member> {
  /** The first offset; 0 if it is not given. */
  readonly from?: Offset<M> | undefined;
  /** The most members to answer; all if it is not given. */
  readonly limit?: number | undefined;
}

/**
 * A question about bitmaps. `D` is where its members can be stored: keys for a question about keys, sharded bitmaps for one about sharded
 * bitmaps. Nothing is sent before a method is called, and each call asks again.
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
  /** Stores the members in place of what the destination holds, and answers their number. */
  store(destination: D): Promise<Count<M>>;
}
