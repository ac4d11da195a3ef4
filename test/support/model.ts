// A model of bitmaps: plain Sets of members.

import { type Member, sorted } from "./family.ts";

type Model = ReadonlySet<Member>;

function greatest(model: Model): bigint {
  let max: Member = -1;
  for (const m of model) if (m > max) max = m;
  return BigInt(max);
}

/** Length of the bitmap in bits: whole bytes up to the greatest member, 0 if there are no members. */
const length = (model: Model): bigint => ((greatest(model) + 8n) / 8n) * 8n;

/** The native bitmap with these members. */
export function nativeString(model: Model): Buffer {
  const bytes = Buffer.alloc(Number(length(model) / 8n));
  for (const m of model as ReadonlySet<number>) bytes[m >> 3]! |= 128 >> (m & 7);
  return bytes;
}

export const operations = ["AND", "OR", "XOR", "DIFF", "DIFF1", "ANDOR", "ONE"] as const;
export type Operation = (typeof operations)[number];
/** The least number of sources of an operation. */
export const leastSources = (operation: Operation): number => (["DIFF", "DIFF1", "ANDOR"].includes(operation) ? 2 : 1);

/** Whether BITOP keeps a member that `count` of `sources` sources hold; `inFirst` says whether the first source is one of them. */
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

/** Members below this are counted in an array, which is made once. */
const COUNTED = 2 ** 17;
const low = new Uint16Array(COUNTED);

/** The members that BITOP, except NOT, stores, in ascending order. No source has a member twice. */
export function combine(operation: Operation, sources: readonly Iterable<Member>[]): Member[] {
  // Twice the number of sources that have the member, and 1 more if the first one has it.
  low.fill(0);
  const others = new Map<Member, number>();
  const kept = (sum: number): boolean => sum > 0 && keeps(operation, sources.length, sum >> 1, sum % 2 === 1);
  for (const [at, source] of sources.entries()) {
    const added = at === 0 ? 3 : 2;
    for (const m of source) {
      if (m < COUNTED) low[Number(m)]! += added;
      else others.set(m, (others.get(m) ?? 0) + added);
    }
  }
  const result: Member[] = [];
  for (let m = 0; m < COUNTED; m++) if (kept(low[m]!)) result.push(m);
  return [...result, ...sorted(others.keys()).filter((m) => kept(others.get(m)!))];
}
