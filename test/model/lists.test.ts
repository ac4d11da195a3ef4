// Random lists and counts of members, compared with plain Sets: RANGE in both orders, RANGES, COUNTS, and QUERY MEMBERS in both orders,
// over containers of every kind.
//
//   SEED          repeats a run
//   COMPARISONS   how many replies are compared for each family (default 8,000; 2,000 on all but the best CPU level)

import { describe, expect, it } from "vitest";
import { type Family, families, type Member, member, range, sorted } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import type { Argument, Reply } from "../support/resp.ts";
import { replies, type Roar, roarOn } from "../support/roar.ts";
import { byName, useServer } from "../support/suite.ts";

const COMPARISONS = Number(process.env.COMPARISONS ?? (process.env.ROAR_BRIEF ? 2000 : 8000));
const SOURCES = 3, AT_ONCE = 250;

/** Members of a container from its low 16 bits on, for each kind that a container can have. */
const kinds: readonly ((rng: Random) => number[])[] = [
  (rng) => [rng.below(65_536)],
  (rng) => [rng.below(30_000), 30_000 + rng.below(35_536)],
  (rng) => range(0, 3 + rng.below(200)).map(() => rng.below(65_536)),
  (rng) => range(0, 3000).map(() => rng.below(65_536)),
  (rng) => range(0, 9000).map(() => rng.below(65_536)),
  (rng) => { const from = rng.below(60_000); return range(0, 400).map(() => from + rng.below(2000)); },
  (rng) => range(0, 250).flatMap(() => { const byte = 8 * rng.below(8192); return range(0, 5).map(() => byte + rng.below(8)); }),
  (rng) => range(0, 1 + rng.below(20)).flatMap(() => range(rng.below(64_000), 1 + rng.below(1500))),
  () => range(0, 65_536),
];

/** Keys of containers: side by side, scattered, or at the ends of the family's range. */
const places = ({ last }: Family): readonly (readonly bigint[])[] => [
  range(0, 5).map(BigInt), [3n, 4n, 900n, 901n, 60_000n], [0n, 1n, (last >> 16n) - 1n, last >> 16n],
  range(0, 120).map((i) => BigInt(7 * i)),
];

interface Expression {
  readonly text: string;
  readonly has: (a: boolean, b: boolean, c: boolean, offset: bigint) => boolean;
}

/** Expressions that have no members that none of the three keys has. */
const expressions: readonly Expression[] = [
  { text: "#1 & #2 | #3", has: (a, b, c) => (a && b) || c },
  { text: "#1 | #2 | #3", has: (a, b, c) => a || b || c },
  { text: "#1 - #2 - #3", has: (a, b, c) => a && !b && !c },
  { text: "#1 ^ #2 ^ #3", has: (a, b, c) => (Number(a) + Number(b) + Number(c)) % 2 === 1 },
  { text: "atleast(2, #1..#3)", has: (a, b, c) => Number(a) + Number(b) + Number(c) >= 2 },
  { text: "exactly(3, #1, #1, #2, #3)", has: (a, b, c) => 2 * Number(a) + Number(b) + Number(c) === 3 },
  { text: "~(~#1 & ~#2) - [0..99999] & ~~#3", has: (a, b, c, offset) => (a || b) && offset > 99_999n && c },
  { text: "all(#1, ~#2, ~#3)", has: (a, b, c) => a && !b && !c },
];

/** Ascending members, and where offsets are among them. */
class Members {
  readonly all: readonly Member[];

  constructor(members: Iterable<Member>) {
    this.all = sorted(new Set(members));
  }

  /** How many are below the offset. */
  below(offset: bigint): number {
    let from = 0, to = this.all.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.all[middle]! < offset) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Up to `limit` members from `min` to `max`. */
  between(min: bigint, max: bigint, limit: number, down: boolean): Member[] {
    const from = this.below(min), to = Math.max(from, this.below(max + 1n));
    return down ? this.all.slice(Math.max(from, to - limit), to).reverse() : this.all.slice(from, Math.min(to, from + limit));
  }

  runs(min: bigint, max: bigint, limit: number): Member[][] {
    const runs: Member[][] = [];
    for (let at = this.below(min); at < this.all.length && this.all[at]! <= max; at++) {
      const one = this.all[at]!, run = runs.at(-1);
      if (run && BigInt(run[1]!) + 1n === BigInt(one)) run[1] = one;
      else if (runs.length === limit) break;
      else runs.push([one, one]);
    }
    return runs;
  }
}

class Trial {
  readonly #rng: Random;
  readonly #roar: Roar;
  readonly #family: Family;
  #sources: Members[] = [];

  constructor(rng: Random, roar: Roar, family: Family) {
    this.#rng = rng;
    this.#roar = roar;
    this.#family = family;
  }

  /** Makes new bitmaps, of which some share containers. */
  async load(): Promise<void> {
    const rng = this.#rng, containers = rng.pick(places(this.#family)), many = containers.length > 10;
    this.#sources = [];
    for (let i = 0; i < SOURCES; i++) {
      const of = many ? kinds.slice(0, 3) : kinds, chosen = containers.filter(() => rng.chance(0.7));
      const members = chosen.flatMap((key) => rng.pick(of)(rng).map((low) => member(key * 65_536n + BigInt(low))));
      const source = new Members(members.filter((one) => BigInt(one) <= this.#family.last));
      await this.#roar.connection.run("DEL", `k${i}`);
      if (rng.chance(0.5)) await this.#roar.load(`k${i}`, source.all);
      else {
        for (let at = 0; at < source.all.length; at += 5000) await this.#roar.run("SETBITS", `k${i}`, ...source.all.slice(at, at + 5000));
      }
      if (rng.chance(0.5) && source.all.length > 0) await this.#roar.run("OPTIMIZE", `k${i}`, ...(rng.chance(0.5) ? ["MEM"] : []));
      this.#sources.push(source);
    }
  }

  /** An offset near a member, or an end of the range. */
  #offset({ all }: Members): bigint {
    const rng = this.#rng, { last } = this.#family;
    if (all.length === 0 || rng.chance(0.1)) return rng.pick([0n, last]);
    const near = BigInt(rng.pick(all)) + BigInt(rng.below(rng.pick([3, 9, 70_000]))) - 1n;
    return near < 0n ? 0n : near > last ? last : near;
  }

  #limit(): [limit: number, words: Argument[]] {
    const limit = this.#rng.below(this.#rng.pick([3, 20, 300, 9000]));
    return [limit, ["LIMIT", limit]];
  }

  /** A call, and its reply. */
  #one(): [call: Argument[], expected: Reply] {
    const rng = this.#rng, i = rng.below(SOURCES), key = `k${i}`, source = this.#sources[i]!;
    const inOrder = (a: bigint, b: bigint): number => (a < b || rng.chance(0.05) ? -1 : 1);
    const [min, max] = [this.#offset(source), this.#offset(source)].sort(inOrder) as [bigint, bigint];
    const [limit, words] = this.#limit(), down = rng.chance(0.7);
    switch (rng.below(3)) {
      case 0: return [["RANGE", key, min, max, ...(down ? ["REV"] : []), ...words], replies(source.between(min, max, limit, down))];
      case 1: return [["RANGES", key, min, max, ...words], source.runs(min, max, limit).map(replies)];
      default: {
        const count = (low: bigint, high: bigint): number => Math.max(0, source.below(high + 1n) - source.below(low));
        const ranges = [[min, max], [max, max], [min, this.#family.last]] as const;
        return [["COUNTS", key, ranges.length, ...ranges.flat()], ranges.map(([low, high]) => count(low, high))];
      }
    }
  }

  /** Calls of QUERY with one expression, and their replies. */
  #queries(count: number): [call: Argument[], expected: Reply][] {
    const rng = this.#rng, { text, has } = rng.pick(expressions), sets = this.#sources.map(({ all }) => new Set(all));
    const members = new Members(sets.flatMap((set) => [...set]).filter((one) => {
      const [a, b, c] = sets.map((set) => set.has(one)) as [boolean, boolean, boolean];
      return has(a, b, c, BigInt(one));
    }));
    return range(0, count).map(() => {
      const from = this.#offset(rng.pick([...this.#sources, members])), [limit, words] = this.#limit(), down = rng.chance(0.8);
      const call = ["QUERY", text, SOURCES, "k0", "k1", "k2", "MEMBERS", ...(down ? ["REV"] : []), "FROM", from, ...words];
      return [call, replies(members.between(down ? 0n : from, down ? from : this.#family.last, limit, down))];
    });
  }

  /** Compares `count` replies. */
  async compare(count: number): Promise<void> {
    const calls = [...range(0, count >> 1).map(() => this.#one()), ...this.#queries(count - (count >> 1))];
    const found = await this.#roar.connection.pipeline(calls.map(([[command, ...args]]) => [this.#roar.name(String(command)), ...args]));
    for (const [i, [call, expected]] of calls.entries()) expect(found[i], call.join(" ")).toEqual(expected);
  }
}

describe.each(byName<Family & { name: string }>(families))("%s", (_, family) => {
  const server = useServer();

  it(`RANGE, RANGES, COUNTS and QUERY MEMBERS reply what Sets have, ${COMPARISONS} times`, seeded(async (rng) => {
    const trial = new Trial(rng, roarOn(server, family), family);
    for (let compared = 0; compared < COMPARISONS; compared += AT_ONCE) {
      await trial.load();
      await trial.compare(AT_ONCE);
    }
    expect(await server.info("redis-roar_traps")).toBe("0");
  }), 60_000 + 20 * COMPARISONS);
});
