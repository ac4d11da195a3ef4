// Random FACETs and CROSSCARDs of bitmaps that are written meanwhile, compared with plain Sets. Other tests have few facets at once; these
// have as many as the core prepares an operand for.
//
//   SEED          repeats a run
//   COMPARISONS   how many replies are compared for each family (default 400; 150 on all but the best CPU level)

import { describe, expect, it } from "vitest";
import { families, type Family, type Member, member, range, sorted } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { type Roar, roarOn } from "../support/roar.ts";
import { byName, useServer } from "../support/suite.ts";

const COMPARISONS = Number(process.env.COMPARISONS ?? (process.env.ROAR_BRIEF ? 150 : 400));
const BITMAPS = 70, MOST = 2500;
/** A client writes this many times between two questions, on average. */
const WRITES = 2;

type Model = ReadonlySet<Member>;

/** Expressions, of how many bitmaps they are, and whether a member of one of the bitmaps or of a facet is in them. */
const expressions: readonly [text: string, of: number, has: (...in_: boolean[]) => boolean][] = [
  ["#1", 1, (a) => a],
  ["#1", 1, (a) => a],
  ["#1 & #2", 2, (a, b) => a && b],
  ["#1 | #2", 2, (a, b) => a || b],
  ["#1 - #2", 2, (a, b) => a && !b],
  ["~#1", 1, (a) => !a],
  ["atleast(2, #1..#3)", 3, (...in_) => in_.filter(Boolean).length >= 2],
];

/** Keys of containers: side by side, or with gaps, or at the ends of the range. */
const containers = ({ last }: Family): readonly (readonly bigint[])[] => [
  range(0, 16).map(BigInt), range(3, 4).map(BigInt), range(0, 40).map((i) => BigInt(7 * i)), range(0, 300).map(BigInt),
  [0n, 1n, last >> 17n, (last >> 16n) - 1n, last >> 16n],
];

class Trial {
  readonly #random: Random;
  readonly #roar: Roar;
  readonly #family: Family;
  readonly #sets: Set<Member>[] = range(0, BITMAPS).map(() => new Set());

  constructor(rng: Random, roar: Roar, family: Family) {
    this.#random = rng;
    this.#roar = roar;
    this.#family = family;
  }

  #key(index: number): string {
    return `b${index}`;
  }

  #offset(): bigint {
    const rng = this.#random, key = rng.pick(rng.pick(containers(this.#family)));
    return (key << 16n) + BigInt(rng.chance(0.5) ? rng.below(65_536) : rng.below(300));
  }

  #some(): Member[] {
    const rng = this.#random, count = 1 + rng.below(rng.pick([2, 20, 200]));
    return [...new Set(range(0, count).map(() => member(this.#offset())))];
  }

  /** A random write, of a bitmap that does not grow too large for Sets. */
  async write(): Promise<void> {
    const rng = this.#random, i = rng.below(BITMAPS), key = this.#key(i), set = this.#sets[i]!;
    if (set.size > MOST || rng.chance(0.05)) {
      set.clear();
      await this.#roar.connection.run("DEL", key);
    } else if (rng.chance(0.5)) {
      const some = this.#some();
      for (const one of some) set.add(one);
      await this.#roar.run("SETBITS", key, ...some);
    } else if (rng.chance(0.5)) {
      const from = this.#offset(), room = this.#family.last - from, size = BigInt(1 + rng.below(rng.chance(0.2) ? MOST : 300));
      const count = Number(size < room ? size : room);
      for (let at = 0; at < count; at++) set.add(member(from + BigInt(at)));
      await this.#roar.run("SETRANGE", key, from, from + BigInt(count));
    } else if (rng.chance(0.7)) {
      const gone = sorted(set).filter(() => rng.chance(0.3)).slice(0, 500);
      for (const one of gone) set.delete(one);
      if (gone.length > 0) await this.#roar.run("CLEARBITS", key, ...gone);
    } else if (set.size > 0) {
      await this.#roar.run("OPTIMIZE", key, ...(rng.chance(0.5) ? ["MEM"] : []));
    }
  }

  #choose(count: number): number[] {
    return range(0, count).map(() => this.#random.below(BITMAPS));
  }

  /** A random expression, as arguments, and whether it has a member. */
  #expression(): [args: (string | number)[], has: (one: Member) => boolean, size: number | undefined] {
    const [text, of, has] = this.#random.pick(expressions), chosen = this.#choose(of), sets = chosen.map((i) => this.#sets[i]!);
    const inIt = (one: Member): boolean => has(...sets.map((set) => set.has(one)));
    const size = text === "~#1" ? undefined : [...new Set(sets.flatMap((set) => [...set]))].filter(inIt).length;
    return [[text, of, ...chosen.map((i) => this.#key(i))], inIt, size];
  }

  #count(model: Model, has: (one: Member) => boolean): number {
    let count = 0;
    for (const one of model) if (has(one)) count++;
    return count;
  }

  async facet(): Promise<void> {
    const rng = this.#random, [expression, has, size] = this.#expression();
    const facets = this.#choose(rng.chance(0.3) ? 1 + rng.below(5) : 32 + rng.below(40)), keys = facets.map((i) => this.#key(i));
    const call = [...expression, keys.length, ...keys], counts = facets.map((i) => this.#count(this.#sets[i]!, has));
    if (rng.chance(0.5)) {
      expect(await this.#roar.run("FACET", ...call), call.join(" ")).toEqual(counts);
      return;
    }
    const by = size === undefined ? "CARD" : rng.pick(["CARD", "JACCARD", "OVERLAP"]);
    const wholes = facets.map((i, at) => {
      const other = this.#sets[i]!.size;
      return by === "CARD" ? 1 : by === "JACCARD" ? size! + other - counts[at]! : Math.min(size!, other);
    });
    const top = rng.below(20), ranked = range(0, facets.length).filter((at) => counts[at]! > 0)
      .sort((x, y) => counts[y]! * wholes[x]! - counts[x]! * wholes[y]! || x - y).slice(0, top);
    const reply = (await this.#roar.run("FACET", ...call, "BY", by, "TOP", top)) as [string, string | number][];
    expect(reply.map(([key, score]) => [key, Number(score)]), `${call.join(" ")} BY ${by} TOP ${top}`)
      .toEqual(ranked.map((at) => [keys[at]!, counts[at]! / wholes[at]!]));
  }

  async cross(): Promise<void> {
    const rng = this.#random, rows = this.#choose(1 + rng.below(rng.chance(0.1) ? 40 : 6)), columns = this.#choose(1 + rng.below(12));
    const limited = rng.chance(0.5), [expression, has] = this.#expression();
    const call = [
      rows.length, ...rows.map((i) => this.#key(i)), columns.length, ...columns.map((i) => this.#key(i)),
      ...(limited ? ["WITHIN", ...expression] : []),
    ];
    const within = columns.map((i) => (limited ? new Set([...this.#sets[i]!].filter(has)) : this.#sets[i]!));
    const table = rows.map((i) => within.map((column) => {
      const row = this.#sets[i]!, [few, many] = row.size < column.size ? [row, column] : [column, row];
      return this.#count(few, (one) => many.has(one));
    }));
    expect(await this.#roar.run("CROSSCARD", ...call), call.join(" ")).toEqual(table);
  }

  /** Compares one reply, after a few writes. */
  async step(): Promise<void> {
    for (let writes = this.#random.below(2 * WRITES + 1); writes > 0; writes--) await this.write();
    if (this.#random.chance(0.7)) await this.facet();
    else await this.cross();
  }
}

describe.each(byName<Family & { name: string }>(families))("%s", (_, family) => {
  const server = useServer();

  it(`FACET and CROSSCARD answer what Sets do, ${COMPARISONS} times`, seeded(async (rng) => {
    const trial = new Trial(rng, roarOn(server, family), family);
    for (let i = 0; i < 3 * BITMAPS; i++) await trial.write();
    for (let i = 0; i < COMPARISONS; i++) await trial.step();
    expect(await server.info("redis-roar_traps")).toBe("0");
  }), 60_000 + 100 * COMPARISONS);
});
