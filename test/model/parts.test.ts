// Random members that are taken, stored and brought from elsewhere, compared with plain Sets: RANDPOP, QUERYSTORE with OFFSET, FROM and
// LIMIT, FROMBITMAP and TOBITMAP with LSB, and IMPORT of every form of payload, over containers of every kind.
//
//   SEED          repeats a run
//   COMPARISONS   how many replies are compared for each family (default 8,000; 2,000 on all but the best CPU level)

import { describe, expect, it } from "vitest";
import { type Family, families, type Member, member, range, sorted } from "../support/family.ts";
import { type Container, croaringArray, croaringContainers, legacy64, portable32, portable64, runsOf } from "../support/format.ts";
import { type Random, seeded } from "../support/random.ts";
import { type Argument, bytesOf, type Reply, ReplyError } from "../support/resp.ts";
import { replies, type Roar, roarOn } from "../support/roar.ts";
import { byName, expectEqual, useServer } from "../support/suite.ts";

const COMPARISONS = Number(process.env.COMPARISONS ?? (process.env.ROAR_BRIEF ? 2000 : 8000));
const SOURCES = 3, CALLS = 60;
const OUTSIDE = new ReplyError("ERR Roaring: a member would be moved out of the range of offsets");

/** Low 16 bits of members, for each kind that a container can have. The last three have so many that they are rare. */
const kinds: readonly ((rng: Random) => number[])[] = [
  (rng) => [rng.below(65_536)],
  (rng) => [rng.below(30_000), 30_000 + rng.below(35_536)],
  (rng) => range(0, 3 + rng.below(40)).map(() => rng.below(65_536)),
  (rng) => { const from = rng.below(65_000); return range(0, 90).map(() => from + rng.below(250)); },
  (rng) => range(0, 1 + rng.below(3)).flatMap(() => range(rng.below(65_000), 1 + rng.below(60))),
  (rng) => range(0, 15).flatMap(() => { const byte = 8 * rng.below(8192); return range(0, 5).map(() => byte + rng.below(8)); }),
  (rng) => range(0, 6000).map(() => rng.below(65_536)),
  (rng) => range(rng.below(30_000), 20_000),
  () => range(0, 65_536),
];
const SMALL = 6, RARELY = 0.006;

const lowsOf = (rng: Random): number[] =>
  [...new Set(rng.pick(rng.chance(RARELY) ? kinds.slice(SMALL) : kinds.slice(0, SMALL))(rng))].sort((a, b) => a - b);

/** Keys of containers: side by side, scattered, or at an end of the family's range. */
const places = ({ last }: Family): readonly (readonly bigint[])[] => [
  range(0, 4).map(BigInt), [3n, 4n, 900n, 60_000n], [0n, 1n, (last >> 16n) - 1n, last >> 16n],
];

const membersOf = (key: bigint, lows: readonly number[]): Member[] => lows.map((low) => member(key * 65_536n + BigInt(low)));

interface Expression {
  readonly text: string;
  readonly has: (a: boolean, b: boolean, c: boolean) => boolean;
}

/** Expressions that have no members that none of the three keys has. */
const expressions: readonly Expression[] = [
  { text: "#1 | #1 & #2 & #3", has: (a) => a },
  { text: "#1 | #2 | #3", has: () => true },
  { text: "#1 & #2 | #3", has: (a, b, c) => (a && b) || c },
  { text: "#1 - #2 - #3", has: (a, b, c) => a && !b && !c },
  { text: "atleast(2, #1..#3)", has: (a, b, c) => Number(a) + Number(b) + Number(c) >= 2 },
];

/** A call, and what is expected of its reply. Those of a pipeline are checked in order. */
interface Step {
  readonly call: Argument[];
  readonly check: (reply: Reply) => void;
}

class Trial {
  readonly #rng: Random;
  readonly #roar: Roar;
  readonly #family: Family;
  compared = 0;

  constructor(rng: Random, roar: Roar, family: Family) {
    this.#rng = rng;
    this.#roar = roar;
    this.#family = family;
  }

  /** Sends calls at once, and compares each reply. */
  async #compare(steps: readonly Step[]): Promise<void> {
    const found = await this.#roar.connection.pipeline(steps.map(({ call: [command, ...args] }) =>
      [command === "GET" || command === "SET" ? command : this.#roar.name(String(command)), ...args]));
    for (const [i, { check }] of steps.entries()) check(found[i]!);
    this.compared += steps.length;
  }

  /** A call whose reply is known. */
  #step(call: Argument[], expected: Reply): Step {
    const shown = call.map((word) => (typeof word === "object" ? word.toString("hex") : word)).join(" ");
    return { call, check: (reply) => expectEqual(reply, expected, shown.slice(0, 2000)) };
  }

  #content = (key: string, members: readonly Member[]): Step => this.#step(["GETINTARRAY", key], replies(members));

  /** Replaces a key by random members. */
  async #load(key: string, containers: readonly bigint[]): Promise<Member[]> {
    const rng = this.#rng, all = containers.filter(() => rng.chance(0.8)).flatMap((at) => membersOf(at, lowsOf(rng)));
    const members = all.filter((one) => one <= this.#family.last);
    await this.#roar.load(key, members);
    if (members.length > 0 && rng.chance(0.5)) await this.#roar.run("OPTIMIZE", key, ...(rng.chance(0.5) ? ["MEM"] : []));
    return members;
  }

  // --- RANDPOP -----------------------------------------------------------------------------------------------------------------

  /** Takes members of one key, and adds some again, until all that is expected is compared. */
  async pops(): Promise<void> {
    const rng = this.#rng, left = new Set(await this.#load("k", rng.pick(places(this.#family))));
    const steps = range(0, CALLS >> 1).flatMap((): Step[] => {
      const count = rng.below(rng.pick([3, 8, 200])), again = sorted(left).slice(0, rng.below(9));
      const check = (some: readonly Reply[], most: number): void => {
        expect(some.length).toBe(Math.min(most, left.size));
        const taken = some.map((one) => member(BigInt(String(one))));
        expect(taken).toEqual(sorted(taken));
        for (const one of taken) expect(left.delete(one), `${one} was a member`).toBe(true);
      };
      const pop: Step = rng.chance(0.3)
        ? { call: ["RANDPOP", "k"], check: (reply) => check(reply === null ? [] : [reply], 1) }
        : { call: ["RANDPOP", "k", count], check: (reply) => check(reply as Reply[], count) };
      const counted: Step = { call: ["BITCOUNT", "k"], check: (reply) => expect(reply).toBe(left.size) };
      if (again.length === 0 || rng.chance(0.7)) return [pop, counted];
      const add: Step = {
        call: ["SETBITS", "k", ...again],
        check: (reply) => {
          expect(reply).toBe(again.filter((one) => !left.has(one)).length);
          for (const one of again) left.add(one);
        },
      };
      return [pop, add, counted];
    });
    await this.#compare(steps);
    if (left.size > 0) await this.#compare([this.#content("k", sorted(left))]);
  }

  // --- QUERYSTORE --------------------------------------------------------------------------------------------------------------

  async stores(): Promise<void> {
    const rng = this.#rng, containers = rng.pick(places(this.#family)), sources: Set<Member>[] = [];
    for (let i = 0; i < SOURCES; i++) sources.push(new Set(await this.#load(`k${i}`, containers)));
    const all = sorted(new Set(sources.flatMap((source) => [...source])));
    const results = expressions.map(({ has }) => all.filter((one) => {
      const [a, b, c] = sources.map((source) => source.has(one)) as [boolean, boolean, boolean];
      return has(a, b, c);
    }));
    let stored: readonly Member[] = await this.#load("d", containers);
    await this.#compare(range(0, CALLS >> 1).flatMap(() => {
      const i = rng.below(expressions.length), [words, found] = this.#part(results[i]!), { last } = this.#family;
      const call = ["QUERYSTORE", "d", expressions[i]!.text, SOURCES, "k0", "k1", "k2", ...words];
      const isWithin = found.every((one) => one >= 0n && one <= last);
      if (isWithin) stored = found.map(member);
      return [this.#step(call, isWithin ? stored.length : OUTSIDE), this.#content("d", stored)];
    }));
    await this.#compare(sources.map((source, i) => this.#content(`k${i}`, sorted(source))));
  }

  /** Which part of members to store, and where that moves them. */
  #part(members: readonly Member[]): [words: Argument[], found: bigint[]] {
    const rng = this.#rng, words: Argument[][] = [], { last } = this.#family, near = BigInt(rng.pick([...members, 0]));
    let found = members.map(BigInt);
    if (rng.chance(0.6)) {
      const start = near + BigInt(rng.below(5)) - 2n, from = start < 0n ? 0n : start > last ? last : start;
      found = found.filter((one) => one >= from);
      words.push(["FROM", from]);
    }
    if (rng.chance(0.6)) {
      const limit = rng.below(rng.pick([3, 50, 9000]));
      found = found.slice(0, limit);
      words.push(["LIMIT", limit]);
    }
    if (rng.chance(0.7)) {
      const containers = 65_536n * BigInt(rng.below(5) - 2), some = BigInt(rng.below(200_001) - 100_000);
      const fit = found.length === 0 ? 0n : rng.pick([-found[0]!, last - found.at(-1)!]); // moves them to an end of the range
      const distance = rng.pick([0n, containers, some, fit, fit + BigInt(rng.below(3)) - 1n]);
      found = found.map((one) => one + distance);
      words.push(["OFFSET", distance]);
    }
    return [rng.shuffled(words).flat(), found];
  }

  // --- FROMBITMAP, TOBITMAP ----------------------------------------------------------------------------------------------------

  async strings(): Promise<void> {
    const rng = this.#rng, steps: Step[] = [];
    let members: Member[] = [];
    for (let i = 0; i < CALLS; i += 5) {
      const bits = [...new Set(range(0, rng.below(60)).map(() => rng.below(rng.pick([9, 70, 3000]))))].sort((a, b) => a - b);
      const bytes = Buffer.alloc(bits.length > 0 ? (bits.at(-1)! >> 3) + 1 + rng.below(3) : rng.below(3));
      for (const bit of bits) bytes[bit >> 3]! |= 1 << (bit & 7);
      const offset = rng.pick([0, 1, 8, 65_536, rng.below(200_000)]), merge = rng.chance(0.4) && i > 0;
      members = sorted(new Set<Member>([...(merge ? members : []), ...bits.map((bit) => bit + offset)]));
      const words = rng.shuffled([["LSB"], ...(merge ? [["MERGE"]] : []), ...(offset > 0 ? [["OFFSET", offset]] : [])]).flat();
      const length = members.length > 0 ? (Number(members.at(-1)) >> 3) + 1 : 0, string = Buffer.alloc(length);
      for (const one of members) string[Number(one) >> 3]! |= 1 << (Number(one) & 7);
      steps.push(
        this.#step(["SET", "s", bytes], "OK"),
        this.#step(["FROMBITMAP", "k", "s", ...words], members.length),
        this.#content("k", members),
        this.#step(["TOBITMAP", "t", "k", "LSB"], length),
        {
          call: ["GET", "t"],
          check: (reply) => expect(length === 0 || bytesOf(reply).equals(string), members.join(" ").slice(0, 2000)).toBe(true),
        },
      );
    }
    await this.#compare(steps);
  }

  // --- IMPORT ------------------------------------------------------------------------------------------------------------------

  async imports(): Promise<void> {
    const rng = this.#rng, containers = rng.pick(places(this.#family));
    let members = await this.#load("k", containers);
    await this.#compare(range(0, CALLS >> 1).flatMap(() => {
      const [payload, added] = this.#payload(), replaces = rng.chance(0.5);
      members = replaces ? added : sorted(new Set([...members, ...added]));
      return [this.#step(["IMPORT", "k", this.#wrapped(payload), ...(replaces ? ["REPLACE"] : [])], members.length), this.#content("k", members)];
    }));
  }

  /** Containers below 2^32, with the kinds that writers give them. */
  #containers(): Container[] {
    const rng = this.#rng, keys = sorted(new Set(range(0, rng.below(5)).map(() => rng.below(rng.pick([6, 65_536])))));
    return keys.map((key) => {
      const values = lowsOf(rng).filter((low) => low < 65_536);
      const isRun = runsOf(values).length * 2 < values.length || rng.chance(0.1);
      return { key, kind: isRun ? "run" : values.length > 4096 ? "bitset" : "array", values };
    });
  }

  /** A payload in one of the forms that the family takes, and its members. */
  #payload(): [payload: Buffer, members: Member[]] {
    const rng = this.#rng, isWide = this.#family.bits === 64;
    if (isWide && rng.chance(0.6)) {
      const highs = sorted(new Set(range(0, rng.below(4)).map(() => rng.pick([0, 5, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]))));
      const buckets = highs.map((high) => ({ high, containers: this.#containers() })).filter(({ containers }) => containers.length > 0);
      const all = buckets.flatMap(({ high, containers }) =>
        containers.flatMap(({ key, values }) => membersOf(BigInt(high) * 65_536n + BigInt(key), values)));
      const signed = [...buckets.filter(({ high }) => high >= 2 ** 31), ...buckets.filter(({ high }) => high < 2 ** 31)];
      const order = rng.pick([buckets, signed]), isEmpty = buckets.length === 0;
      const first = !isEmpty && rng.chance(0.5) ? 1 : 0;             // an empty one with 1 is also how a 64-bit stream begins
      return [rng.chance(0.3) ? portable64(buckets) : legacy64(order, first), all];
    }
    const containers = this.#containers(), all = containers.flatMap(({ key, values }) => membersOf(BigInt(key), values));
    const list = (): Buffer => croaringArray(rng.shuffled(all).map(Number));
    const writes = [() => portable32(containers), () => croaringContainers(containers), ...(all.length > 0 || !isWide ? [list] : [])];
    return [rng.pick(writes)(), all];
  }

  /** The payload itself, or Base64 text of it. */
  #wrapped(payload: Buffer): Buffer | string {
    const text = payload.toString("base64");
    const forms = [text, text.replaceAll("=", ""), payload.toString("base64url"), text.replaceAll(/.{76}/g, "$&\n")];
    return this.#rng.chance(0.6) ? payload : this.#rng.pick(forms);
  }
}

describe.each(byName<Family & { name: string }>(families))("%s", (_, family) => {
  const server = useServer();

  it(`RANDPOP, QUERYSTORE, FROMBITMAP, TOBITMAP and IMPORT do what Sets do, ${COMPARISONS} times`, seeded(async (rng) => {
    const trial = new Trial(rng, roarOn(server, family), family);
    while (trial.compared < COMPARISONS) {
      await trial.pops();
      await trial.stores();
      await trial.strings();
      await trial.imports();
    }
    expect(await server.info("redis-roar_traps")).toBe("0");
  }), 60_000 + 20 * COMPARISONS);
});
