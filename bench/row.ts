// One row of the results.

export type Unit = "ns" | "µs" | "ms" | "bytes" | "commands/s";

export interface Row {
  /** The name of the data set. */
  readonly data: string;
  readonly what: string;
  readonly unit: Unit;
  /** Values by contender. Contenders that lack the command have none. */
  readonly values: Readonly<Record<string, number>>;
}

/** How many times better ours is than the other: faster or smaller if above 1. */
export function advantage({ unit, values }: Row, other: string, ours: string): number | undefined {
  const theirs = values[other], own = values[ours];
  if (theirs === undefined || own === undefined) return undefined;
  return unit === "commands/s" ? own / theirs : theirs / own;
}
