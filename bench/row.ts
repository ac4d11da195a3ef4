// One line of the results.

export type Unit = "µs" | "ms" | "bytes" | "commands/s";

export interface Row {
  /** The data it was measured on. */
  readonly data: string;
  readonly what: string;
  readonly unit: Unit;
  /** By contender; one that lacks the command has none. */
  readonly values: Readonly<Record<string, number>>;
}

/** How many times better ours is than the other: above 1 ours is faster or smaller. */
export function advantage({ unit, values }: Row, other: string, ours: string): number | undefined {
  const theirs = values[other], own = values[ours];
  if (theirs === undefined || own === undefined) return undefined;
  return unit === "commands/s" ? own / theirs : theirs / own;
}
