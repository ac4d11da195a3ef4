// Statistics of measurements.

import { sorted } from "../test/support/family.ts";

/** The p-quantile: a share p of the values is less than or equal to it. 0 gives the least value, 1 the greatest. */
export function quantile(values: readonly number[], p: number): number {
  if (values.length === 0) throw new Error("no values");
  const ascending = sorted(values);
  return ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)]!;
}

export function median(values: readonly number[]): number {
  const ascending = sorted(values), middle = ascending.length >> 1;
  return ascending.length % 2 ? ascending[middle]! : (ascending[middle - 1]! + ascending[middle]!) / 2;
}

/** Adds to a sum, which begins with 0. */
export function addTo<K>(sums: Map<K, number>, key: K, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

export interface CommandStatistics {
  readonly calls: number;
  /** Calls that replied with an error. */
  readonly failed: number;
  readonly microseconds: number;
}

/**
 * Parses INFO commandstats, by command name in lower case. The time of a call is the difference of two readings in whole microseconds:
 * a single call of half a microsecond counts as 0 or 1, but the mean of many calls is right.
 */
export function parseCommandStatistics(info: string): Map<string, CommandStatistics> {
  const found = info.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+).*?(?:,failed_calls=(\d+))?\r?$/gm);
  return new Map([...found].map(([, name, calls, usec, failed = 0]) =>
    [name!.toLowerCase(), { calls: Number(calls), failed: Number(failed), microseconds: Number(usec) }]));
}

/** Parses INFO latencystats with one percentile: its microseconds by command name in lower case. */
export function parseTails(info: string): Map<string, number> {
  return new Map([...info.matchAll(/^latency_percentiles_usec_([^:]+):p[\d.]+=([\d.]+)\r?$/gm)].map(([, name, usec]) => [name!.toLowerCase(), Number(usec)]));
}
