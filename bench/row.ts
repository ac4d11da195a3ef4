// One row of the results.

import type { Contender } from "./contender.ts";

export type Unit = "ns" | "µs" | "ms" | "bytes" | "commands/s";

export interface Row {
  /** The name of the data set. */
  readonly data: string;
  readonly what: string;
  readonly unit: Unit;
  /** Values by contender. Contenders that lack the command have none. */
  readonly values: Readonly<Record<string, number>>;
}

/** A figure of each contender, by its name, from what was found for each. */
export const figures = <T>(found: ReadonlyMap<Pick<Contender, "name">, T>, figure: (value: T) => number): Row["values"] =>
  Object.fromEntries([...found].map(([{ name }, value]) => [name, figure(value)]));

/** How many times better ours is than the other: faster or smaller if above 1. */
export function advantage({ unit, values }: Row, other: string, ours: string): number | undefined {
  const theirs = values[other], own = values[ours];
  if (theirs === undefined || own === undefined) return undefined;
  return unit === "commands/s" ? own / theirs : theirs / own;
}
