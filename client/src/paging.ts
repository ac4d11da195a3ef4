// Reading members page by page.

import type { Member, Offset } from "./family.js";

/** Which members to read, and how many at a time. */
export interface PageOptions<M extends Member> {
  /** The first offset; 0 if it is not given. */
  from?: Offset<M>;
  /** Members in a page, 1 or more; 1000 if it is not given. */
  count?: number;
}

/** Members in a page unless the caller says otherwise. */
export const PAGE = 1000;
