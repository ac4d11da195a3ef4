// Reading members page by page.

import { integer, type Member, type Offset } from "./family.js";

/** Which members to read, and how many at a time. */
export interface PageOptions<M extends Member> {
  /** The first offset; 0 if it is not given. */
  from?: Offset<M> | undefined;
  /** Members in a page, 1 or more; 1000 if it is not given. */
  count?: number | undefined;
}

/** Members in a page unless the caller says otherwise. */
const PAGE = 1000;

/** Members in a page. Throws {@link InvalidArgumentError} for a bad count. */
export const pageSize = (count = PAGE): number => Number(integer("count", count, 1n, 2n ** 32n));

/** The members of pages, one by one. */
export async function* oneByOne<M>(pages: AsyncIterable<M[]>): AsyncGenerator<M, void, undefined> {
  for await (const page of pages) yield* page;
}
