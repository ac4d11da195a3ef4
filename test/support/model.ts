// What a bitmap means, said with a Set: no containers, no cleverness.

import { ascending, type Member, member } from "./family.ts";

export type Model = ReadonlySet<Member>;

export const sorted = (model: Model): Member[] => [...model].sort(ascending);

export const least = (model: Model): Member => sorted(model)[0]!;

export function greatest(model: Model): bigint {
  let max: Member = -1;
  for (const m of model) if (m > max) max = m;
  return BigInt(max);
}

/** Length of the bitmap in bits: whole bytes up to the greatest member, 0 when there is none. */
export const length = (model: Model): bigint => ((greatest(model) + 8n) / 8n) * 8n;

/** The string that native would hold for it. */
export function nativeString(model: Model): Buffer {
  const bytes = Buffer.alloc(Number(length(model) / 8n));
  for (const m of model as ReadonlySet<number>) bytes[m >> 3]! |= 128 >> (m & 7);
  return bytes;
}

export type Unit = "BYTE" | "BIT";

/** The bits [low, high] that `start` and `end` mean, by native's rule; null when that is none. */
function indexed(model: Model, start: bigint, end: bigint, unit: Unit): [Member, Member] | null {
  const scale = unit === "BYTE" ? 8n : 1n;
  const total = length(model) / scale;
  if (start < 0n) start += total;
  if (end < 0n) end += total;
  if (start < 0n) start = 0n;
  if (end < 0n) end = 0n;
  if (end >= total) end = total - 1n;
  return start > end ? null : [member(start * scale), member(end * scale + scale - 1n)];
}

export interface Range {
  readonly start: bigint;
  readonly end?: bigint;
  readonly unit?: Unit;
}

export function bitCount(model: Model, range?: Range): number {
  if (!range) return model.size;
  const { start, end = -1n, unit = "BYTE" } = range;
  if (start < 0n && end < 0n && start > end) return 0;
  const bits = indexed(model, start, end, unit);
  let count = 0;
  if (bits) for (const m of model) if (m >= bits[0] && m <= bits[1]) count++;
  return count;
}

/** BITPOS on a key that is there; `last` is the greatest offset there can be. */
export function bitPosition(model: Model, bit: 0 | 1, last: bigint, range?: Range): Member {
  const { start = 0n, end, unit = "BYTE" } = range ?? {};
  const bits = indexed(model, start, end ?? -1n, unit);
  if (!bits) return bit === 0 && !range ? 0 : -1; // without a range an empty bitmap is all zeros
  const [low, high] = bits;
  if (bit === 1) {
    let first: Member = -1;
    for (const m of model) if (m >= low && m <= high && (first < 0 || m < first)) first = m;
    return first;
  }
  let position = BigInt(low);
  while (position <= high && model.has(member(position))) position++;
  if (position > high && end !== undefined) return -1;
  return position > last ? -1 : member(position);
}

export const operations = ["AND", "OR", "XOR", "DIFF", "DIFF1", "ANDOR", "ONE"] as const;
export type Operation = (typeof operations)[number];
/** How many sources an operation needs. */
export const leastSources = (operation: Operation): number => (["AND", "OR", "XOR"].includes(operation) ? 1 : 2);

/** Whether BITOP keeps a member that `count` of `sources` sources hold, the first among them or not. */
export function keeps(operation: Operation, sources: number, count: number, inFirst: boolean): boolean {
  switch (operation) {
    case "AND": return count === sources;
    case "OR": return count > 0;
    case "XOR": return count % 2 === 1;
    case "DIFF": return inFirst && count === 1;
    case "DIFF1": return !inFirst && count > 0;
    case "ANDOR": return inFirst && count > 1;
    case "ONE": return count === 1;
  }
}

/** BITOP, except NOT. */
export function combine(operation: Operation, sources: readonly Model[]): Set<Member> {
  const times = new Map<Member, number>();
  for (const source of sources) for (const m of source) times.set(m, (times.get(m) ?? 0) + 1);
  const result = new Set<Member>();
  for (const [m, count] of times) if (keeps(operation, sources.length, count, sources[0]!.has(m))) result.add(m);
  return result;
}

/** BITOP NOT: flips [0, max(last, greatest member)]; nothing when there is neither. */
export function complement(source: Model, last = -1n): Set<Member> {
  const max = greatest(source);
  const end = last > max ? last : max;
  const result = new Set<Member>();
  for (let position = 0n; position <= end; position++) if (!source.has(member(position))) result.add(member(position));
  return result;
}
