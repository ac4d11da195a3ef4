// The sources of the tests of operations on several bitmaps.

import { type Member, range } from "./family.ts";
import type { Suite } from "./suite.ts";

/** Members by key, with every kind of container. Some containers' keys occur in several sources, some in only one. */
export const sources: Readonly<Record<string, readonly Member[]>> = {
  sparse: [1, 5, 70_000, 131_072, 400_000],
  array: range(3, 4096, 7),
  bitset: range(0, 6000, 2),
  other: range(1, 6000, 2),
  run: range(10, 20_000),
  full: range(65_536, 65_536),
  far: [2, 65_536 * 9, 4_294_967_295],
  empty: [],
};

export const sourceNames = Object.keys(sources);

const models = new Map(sourceNames.map((key) => [key, new Set(sources[key])]));
const nothing = new Set<Member>();

/** The members of a source as a Set. A key that is no source has none. */
export const sourceModel = (key: string): ReadonlySet<Member> => models.get(key) ?? nothing;

/** Stores all sources. */
export const loadSources = ({ roar }: Suite): Promise<unknown> =>
  Promise.all(sourceNames.map((key) => roar.load(key, sources[key]!)));
