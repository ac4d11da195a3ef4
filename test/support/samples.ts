// Sample bitmaps: every kind of container, small and large directories, and the ends of the range of offsets.

import { ascending, type Family, type Member, member, range } from "./family.ts";

/** Ascending members of each sample, by name. */
export function samples(family: Family): Record<string, Member[]> {
  const high = (part: bigint, lows: readonly number[]): Member[] => lows.map((low) => member(part * 65536n + BigInt(low)));
  const top = family.last >> 16n;
  const all: Record<string, Member[]> = {
    empty: [],
    one: [7],
    last: [member(family.last)],
    sixteen: range(1000, 16, 11),
    array: range(65_536, 4096, 3),
    bitset: range(65_536, 5000, 3),
    run: range(100, 50_000),
    full: range(65_536, 65_536),
    mixed: [...range(0, 10, 5), ...range(65_536, 5000, 2), ...range(200_000, 60_000), ...high(top, [0, 9, 65_535])],
    "many containers": range(0, 3000, 65_536 + 17),
  };
  if (family.bits === 64) {
    all["far apart"] = [1n, 2n ** 32n, 2n ** 40n + 5n, 2n ** 48n, 2n ** 63n - 1n, 2n ** 63n].map(member);
    all["many buckets"] = range(0, 2000).map((i) => member(BigInt(i) * 0x1_0001_0001_0001n));
  }
  for (const members of Object.values(all)) members.sort(ascending);
  return all;
}
