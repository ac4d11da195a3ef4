// Cases that hardly any random sequence meets: containers at the limits of their kinds, and one bitmap merged into another, kind by kind.
// `make coverage` tells which there are. Members are compared with a Set, and the bitmap is validated after each step.

import { describe, expect, it } from "vitest";
import { families, member, range } from "../support/family.ts";
import { bytesOf } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectEqual, useServer } from "../support/suite.ts";

const CONTAINER = 65_536;

/** Contents of a container, by what they become when they are added as a list or, if they are one range, as a range. */
const contents: Readonly<Record<string, readonly number[]>> = {
  nothing: [],
  "one member": [700],
  "two members": [256, 65_535],
  "an array": range(0, 300, 200),
  "an array of more than 255 members with a common high byte": [...range(0, 256), ...range(1000, 1500, 40)],
  "an array of 4,096 members": [...range(0, 256), ...range(256, 3840, 17)],
  buckets: range(3, 2000, 30),
  "buckets, one with 255 members": [...range(0, 255), ...range(1000, 1500, 40)],
  "buckets that end with a run": [...range(3, 1500, 30), ...range(65_400, 136)],
  "buckets with a run over two high bytes": [...range(3, 1300, 30), ...range(40_003, 300)],
  "a short bitset": range(5000, 1000, 2),
  "a bitset": range(0, 21_000, 3),
  "other bits of a bitset": range(1, 21_000, 3),
  "a run": range(100, 30_000),
  "all members but one": range(1, CONTAINER - 1),
  "all members": range(0, CONTAINER),
};

/** 2,500 containers of two members each, from this key on, so that there is more than a merge in place adds. */
const FAR = 100;
const many = range(FAR, 2500).flatMap((key) => [key * CONTAINER, key * CONTAINER + 9]);

describe.each(byName(families))("%s", (_family, family) => {
  const server = useServer({ moduleArguments: withDebug });
  const roar = roarOn(server, family);

  /** The first containers have these members, and the rest is `many`. */
  const expectMembers = async (members: Iterable<number>, what: string): Promise<void> => {
    const expected = [...members].sort((a, b) => a - b);
    expect(await server.run("R.DEBUG", "VALIDATE", "k"), what).toBe("OK");
    expectEqual(await roar.run("RANGE", "k", 0, FAR * CONTAINER - 1), expected, what);
    expect(await roar.run("BITCOUNT", "k"), what).toBe(expected.length + many.length);
  };
  /** Adds members, by a range if they are one. */
  const add = (key: string, members: readonly number[]): Promise<unknown> =>
    members.length > 20_000 && members.at(-1)! - members[0]! === members.length - 1
      ? roar.run("SETRANGE", key, members[0]!, members.at(-1)! + 1)
      : roar.connection.pipeline(members.length > 0 ? roar.appends(key, members) : []);

  it("containers of every kind are merged with containers of every kind, as BITOP OR unites them", async () => {
    const shifted = (key: number, lows: readonly number[]): number[] => lows.map((low) => key * CONTAINER + low);
    const payloads = new Map<string, Buffer>();
    for (const [name, lows] of Object.entries(contents)) {
      await roar.load(name, []);
      for (const key of [2, 3]) await add(name, shifted(key, lows));
      payloads.set(name, bytesOf(await roar.run("EXPORT", name)));
    }
    for (const [own, lows] of Object.entries(contents)) {
      await roar.load("base", many);
      for (const key of [2, 4]) await add("base", shifted(key, lows));
      for (const [name, more] of Object.entries(contents)) {
        const count = many.length + new Set([...lows, ...more]).size + more.length + lows.length;
        const replies = await roar.connection.pipeline([
          ["COPY", "base", "k", "REPLACE"], [roar.name("IMPORT"), "k", payloads.get(name)!], ["R.DEBUG", "VALIDATE", "k"],
          [roar.name("BITOP"), "OR", "expected", "base", name], [roar.name("BITOPCARD"), "XOR", "k", "expected"],
        ]);
        expect(replies, `${own}, ${name}`).toEqual([1, count, "OK", count, 0]);
      }
    }
  });

  it.each(Object.keys(contents))("a stretch of full containers is merged with %s", async (own) => {
    await roar.load("k", many);
    for (const key of [2, 4]) await add("k", contents[own]!.map((low) => key * CONTAINER + low));
    await roar.load("other", []);
    await roar.run("SETRANGE", "other", CONTAINER, 4 * CONTAINER);
    await roar.run("IMPORT", "k", bytesOf(await roar.run("EXPORT", "other")));
    await expectMembers([...range(CONTAINER, 3 * CONTAINER), ...contents[own]!.map((low) => 4 * CONTAINER + low)], own);
  });

  it.each(Object.keys(contents))("absent members are removed from %s, single members come and go", async (own) => {
    const model = new Set(contents[own]), clear = range(0, CONTAINER).filter((low) => !model.has(low));
    await roar.load("k", [...many]);
    await add("k", contents[own]!);
    for (const lows of [clear.slice(0, 40), clear.slice(-40), clear.filter((_, i) => i % 999 === 0)].filter(({ length }) => length > 0)) {
      expect(await roar.run("CLEARBITS", "k", ...lows, "COUNT")).toBe(0);
      await expectMembers(model, "nothing removed");
    }
    for (const low of [...clear.slice(0, 3), ...clear.slice(-3), 255, 256, 65_535]) {
      expect(await roar.run("SETBIT", "k", low, 1)).toBe(Number(model.has(low)));
      model.add(low);
      await expectMembers(model, `${low} set`);
    }
    for (const low of [...model].slice(0, 12)) {
      expect(await roar.run("SETBIT", "k", low, 0)).toBe(1);
      model.delete(low);
      await expectMembers(model, `${low} cleared`);
    }
  });

  it.each(Object.keys(contents))("the next set and the next clear bit are found in %s", async (own) => {
    const model = new Set(contents[own]), far = 5 * CONTAINER + 1;
    await roar.load("k", [far]);
    await add("k", contents[own]!);
    const next = (from: number, bit: 0 | 1): number => {
      for (let at = from; at < CONTAINER; at++) if (model.has(at) === (bit === 1)) return at;
      return bit === 1 ? far : CONTAINER;
    };
    const froms = [0, 1, 253, 255, 256, 700, 701, 1000, 5001, 30_099, 30_100, 40_003, 40_191, 62_998, 65_399, 65_400, 65_534, 65_535];
    for (const from of froms) {
      for (const bit of [0, 1] as const) {
        expect(await roar.run("BITPOS", "k", bit, from, -1, "BIT"), `bit ${bit} from ${from}`).toBe(next(from, bit));
      }
    }
  });

  it.each(Object.keys(contents))("%s is flipped, and flipped back", async (own) => {
    const lows = contents[own]!, members = new Set(lows);
    await roar.load("k", many);
    await add("k", lows);
    await roar.run("FLIPRANGE", "k", 0, CONTAINER);
    await expectMembers(range(0, CONTAINER).filter((low) => !members.has(low)), "flipped");
    await roar.run("FLIPRANGE", "k", 0, CONTAINER);
    await expectMembers(lows, "flipped twice");
  });

  it("containers of every kind are combined with containers of every kind", async () => {
    const names = Object.keys(contents);
    for (const name of names) {
      await roar.load(name, []);
      await add(name, contents[name]!);
    }
    for (const a of names) {
      const members = new Set(contents[a]);
      for (const b of names) {
        const common = contents[b]!.filter((low) => members.has(low)), all = members.size + contents[b]!.length - common.length;
        const [and, or, xor, less, valid, counted] = await roar.connection.pipeline([
          [roar.name("BITOP"), "AND", "and", a, b], [roar.name("BITOP"), "OR", "or", a, b], [roar.name("BITOP"), "XOR", "xor", a, b],
          [roar.name("BITOP"), "DIFF", "less", a, b], ["R.DEBUG", "VALIDATE", "or"], [roar.name("BITOPCARD"), "AND", a, b],
        ]);
        const expected = [common.length, all, all - common.length, members.size - common.length, "OK", common.length];
        expect([and, or, xor, less, valid, counted], `${a}, ${b}`).toEqual(expected);
        if (common.length < 5000) expectEqual(await roar.members("and"), common, `${a}, ${b}`);
        expect(await roar.run("QUERY", "(#1 & #2 | #3) ^ #4", 4, a, b, "xor", "or"), `${a}, ${b}`).toBe(0);
      }
    }
  });

  it("containers of every kind are combined with two bitsets, and counted as they are stored", async () => {
    const names = Object.keys(contents), bitsets = ["a bitset", "other bits of a bitset"];
    const times = new Uint8Array(CONTAINER);
    for (const name of names) {
      await roar.load(name, []);
      await add(name, contents[name]!);
    }
    for (const a of names) {
      for (const b of names) {
        const sources = [a, b, ...bitsets];
        times.fill(0);
        for (const source of sources) for (const low of contents[source]!) times[low]!++;
        const count = (wanted: (held: number) => boolean): number => times.reduce((sum, held) => sum + Number(wanted(held)), 0);
        const expected = [
          count((held) => held === 4), count((held) => held > 0), count((held) => held % 2 === 1), count((held) => held === 1),
        ];
        const operations = ["AND", "OR", "XOR", "ONE"];
        const replies = await roar.connection.pipeline([
          ...operations.map((operation) => [roar.name("BITOP"), operation, `${operation}:k`, ...sources]),
          ...operations.map((operation) => [roar.name("BITOPCARD"), operation, ...sources]),
          ...operations.map((operation) => ["R.DEBUG", "VALIDATE", `${operation}:k`]),
        ]);
        expect(replies, `${a}, ${b}`).toEqual([...expected, ...expected, "OK", "OK", "OK", "OK"]);
      }
    }
  });

  it.runIf(family.bits === 64)("pages of near and of far offsets get more: neither fits the other's page", async () => {
    const members = range(0, 24).flatMap((period) => {
      const near = BigInt(period) << 58n, far = near + (1n << 56n);
      return [...range(0, 508).map((i) => near + (BigInt(2 * i) << 16n)), ...range(0, 254).map((i) => far + (BigInt(i) << 49n))];
    });
    await roar.load("k", members.map(member));
    await roar.run("OPTIMIZE", "k");
    const set = new Set(members);
    for (let period = 0n; period < 24n; period++) {
      const between = period % 2n ? (period << 58n) + (501n << 16n) : (period << 58n) + (1n << 56n) + (100n << 49n) + (1n << 48n);
      for (const offset of [between, between + (2n << 16n), (period << 58n) + (3n << 16n)]) {
        expect(await roar.run("SETBIT", "k", offset, 1)).toBe(0);
        set.add(offset);
        expect(await server.run("R.DEBUG", "VALIDATE", "k"), `${offset}`).toBe("OK");
      }
    }
    expectEqual(await roar.members("k"), [...set].sort((a, b) => (a < b ? -1 : 1)).map(member));
  });

  it("a tiny short bitset of one or two members becomes an array when a member far away comes", async () => {
    for (const left of [1, 2]) {
      await server.run("DEL", "k");
      await roar.run("SETBITS", "k", ...range(0, 40));
      for (const low of range(left, 40 - left)) await roar.run("SETBIT", "k", low, 0);
      await roar.run("SETBIT", "k", 60_000, 1);
      expect(await server.run("R.DEBUG", "VALIDATE", "k")).toBe("OK");
      expect(await roar.members("k")).toEqual([...range(0, left), 60_000]);
    }
  });

  it("containers are cut out of the middle of a stretch of full ones", async () => {
    await roar.load("k", many);
    await roar.run("SETRANGE", "k", 0, 9 * CONTAINER);
    await roar.run("CLEARRANGE", "k", 3 * CONTAINER, 5 * CONTAINER);
    await expectMembers([...range(0, 3 * CONTAINER), ...range(5 * CONTAINER, 4 * CONTAINER)], "cut");
  });
});
