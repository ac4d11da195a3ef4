// What rounds of measuring are reduced to.

/** The p-th part of the values lies at or below the result; 0 gives the least, 1 the greatest. */
export function quantile(values: readonly number[], p: number): number {
  if (values.length === 0) throw new Error("no values");
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)]!;
}

export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b), middle = ascending.length >> 1;
  return ascending.length % 2 ? ascending[middle]! : (ascending[middle - 1]! + ascending[middle]!) / 2;
}

export interface CommandStatistics {
  readonly calls: number;
  /** Calls that were answered with an error. */
  readonly failed: number;
  readonly microseconds: number;
}

/**
 * INFO commandstats by command in lower case. A call's time is the difference of two clocks that are cut to microseconds:
 * a single call of half a microsecond counts 0 or 1, the mean of many calls is right.
 */
export function parseCommandStatistics(info: string): Map<string, CommandStatistics> {
  const found = info.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+).*?(?:,failed_calls=(\d+))?\r?$/gm);
  return new Map([...found].map(([, name, calls, usec, failed = 0]) =>
    [name!.toLowerCase(), { calls: Number(calls), failed: Number(failed), microseconds: Number(usec) }]));
}
