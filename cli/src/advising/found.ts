// What advise has found: the keys of each group, and what those that were read would take.

import { type Verdict } from "../verdict.js";
import { type GroupNames } from "./names.js";

/** What a value is, and what its new form would take. */
export interface Measured {
  verdict: Verdict;
  /** Bytes without the key, if it can have another form: a bitmap, a key of integers, or a dictionary. */
  bytes?: number;
  /** Whether that is exact; true if missing. */
  isExact?: boolean;
  /** Whether members need 64 bits. */
  wide?: boolean;
  /** Names to which a hash gives ids. */
  names?: number;
}

/** Values of one kind that were read. */
export interface Found {
  keys: number;
  /** Bytes by MEMORY USAGE with the key, now and in the new form. */
  now: number;
  roaring: number;
  /** Keys whose new sizes are not exact. */
  inexact: number;
  /** Keys whose members need 64 bits. */
  wide: number;
  /** Names to which hashes give ids. */
  names: number;
  /** What keys take besides their values. */
  own: number;
  /** Keys that would become larger, and by how much together. */
  largerKeys: number;
  largerBytes: number;
  /** Sums for the error of a sample: squares and products of now and roaring. */
  nowNow: number;
  nowRoaring: number;
  roaringRoaring: number;
}

/** Keys of one pattern and type. */
export interface Group {
  pattern: string;
  type: string;
  keys: number;
  now: number;
  read: Map<Verdict, Found>;
  /** The names in its sets. */
  names: GroupNames;
}

/** Notes a value whose key takes so many bytes now, of which `own` are those of its name. */
export function noteFound(group: Group, measured: Measured, now: number, own: number): void {
  const { verdict, bytes, isExact = true, wide = false, names = 0 } = measured;
  const roaring = bytes === undefined ? now : bytes + own;
  addFound(group.read, verdict, {
    keys: 1, now, roaring, inexact: isExact ? 0 : 1, wide: wide ? 1 : 0, names, own,
    largerKeys: roaring > now ? 1 : 0, largerBytes: Math.max(0, roaring - now),
    nowNow: now ** 2, nowRoaring: now * roaring, roaringRoaring: roaring ** 2,
  });
}

function addFound(read: Map<Verdict, Found>, verdict: Verdict, more: Found): void {
  const found = read.get(verdict);
  if (!found) read.set(verdict, more);
  else for (const field of Object.keys(found) as (keyof Found)[]) found[field] += more[field];
}

/** Adds the keys of another group. */
export function joinGroups(group: Group, other: Group): void {
  group.keys += other.keys;
  group.now += other.now;
  for (const [verdict, found] of other.read) addFound(group.read, verdict, found);
  if (group.names.names === 0) group.names = other.names;
  else if (other.names.names > 0) group.names.join(other.names);
}

/**
 * How bytes in the new form depend on bytes now, by least squares, and the variance of what this leaves unexplained: infinite for fewer
 * than three values. Values of equal size say nothing of the dependence; each then counts as the mean of all.
 */
export function regressionOf({ keys, now, roaring, nowNow, nowRoaring, roaringRoaring }: Found): { slope: number; variance: number } {
  const spread = nowNow - now ** 2 / keys, common = nowRoaring - now * roaring / keys;
  const own = roaringRoaring - roaring ** 2 / keys;
  // Sums of squares of equal numbers differ by rounding only.
  const slope = spread > nowNow * 1e-9 ? common / spread : 0;
  return { slope, variance: keys < 3 ? Infinity : Math.max(0, own - slope * common) / (keys - 2) };
}
