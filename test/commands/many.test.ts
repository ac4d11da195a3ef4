// One question asked of many bitmaps: MBITCOUNT, FACET, CROSSCARD.

import { expect, it } from "vitest";
import { itFindsNothing, itMindsMemory, itReads, itRunsEverywhere, keyAt } from "../support/contract.ts";
import { asReply, type Member, member, offsetCount, otherThan, range } from "../support/family.ts";
import { noEffects } from "../support/observer.ts";
import type { Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { type Arguments, describeCommand, expectEqual, NOT_AN_INTEGER, type Suite, SYNTAX, WRONGTYPE } from "../support/suite.ts";

describeCommand("MBITCOUNT", (suite) => {
  const { run, roar, family, server, name } = suite;

  itFindsNothing(suite, [0], ["k"]);
  itFindsNothing(suite, [0, 0], ["k", "k"]);

  it("counts the members of each key, in the given order and with repetitions", async () => {
    const all = Object.entries(samples(family));
    for (const [sample, members] of all) await roar.load(sample, members);
    const counts = all.map(([, members]) => members.length);
    expect(await run(...all.map(([sample]) => sample))).toEqual(counts);
    expect(await run(...all.map(([sample]) => sample).reverse(), "none", "one")).toEqual([...counts.reverse(), 0, 1]);
    await roar.run("SETFULL", "k");
    expect(await run("one", "k")).toEqual([1, offsetCount(family)]);
    await roar.run("SETBIT", "k", 7, 0);
    expect(await run("k")).toEqual([asReply(member(family.last))]);
  });

  it("answers for thousands of keys in one call", async () => {
    const keys = range(0, 5000).map((i) => `likes:${i}`);
    await roar.connection.pipeline(keys.map((key, i) => [roar.name("SETRANGE"), key, i, 2 * i]));
    expectEqual(await run(...keys), range(0, 5000));
  });

  it("refuses a key of another type in any place, without any number in the reply", async () => {
    await roar.load("k", [7]);
    await server.run("RPUSH", "list", 1);
    for (const keys of [["list", "k", "k"], ["k", "list", "k"], ["k", "none", "list"]]) {
      const [reply, next] = await Promise.all([roar.connection.bytes(name, ...keys), roar.connection.run("PING")]);
      expect(reply.toString()).toBe(`-${WRONGTYPE}\r\n`);
      expect(next).toBe("PONG");
    }
  });

  itReads(suite, { arity: -2, call: ["k", "k"], keys: [keyAt(1, "RO", -1)], since: "1.0.0" });
});

/** Members of the sample with this name, or of none. */
const shared = (a: readonly Member[], b: readonly Member[]): number => {
  const other = new Set(b);
  return a.filter((one) => other.has(one)).length;
};

async function loadAll({ roar, family }: Suite): Promise<[names: string[], sets: Member[][]]> {
  const all = samples(family);
  for (const [sample, members] of Object.entries(all)) await roar.load(sample, members);
  return [[...Object.keys(all), "none"], [...Object.values(all), []]];
}

const TOO_FEW = "ERR Number of keys can't be greater than number of args", TOO_MANY = "ERR Roaring: too many keys: maximum 65534";
const NOT_COUNTS = ["0", "-1", "", "x", "1.0", "01", "4294967296"];

/** Tests that a key of another type is refused anywhere, without a part of a reply. `calls` have the key in each of their lists. */
function itRefusesOtherTypes({ roar, server, name, family }: Suite, calls: (key: string) => Arguments[]): void {
  it("refuses a key of another type in any place, without a part of the reply", async () => {
    await roar.load("k", [7]);
    await server.run("RPUSH", "list", 1);
    await roarOn(server, otherThan(family)).load("other", [1]);
    for (const wrong of ["list", "other"]) {
      for (const args of calls(wrong)) {
        const [reply, next] = await Promise.all([roar.connection.bytes(name, ...args), roar.connection.run("PING")]);
        expect(reply.toString(), args.join(" ")).toBe(`-${WRONGTYPE}\r\n`);
        expect(next).toBe("PONG");
      }
    }
  });
}

describeCommand("FACET", (suite) => {
  const { run, roar, family, server, protocol, refusal, effects, name } = suite;

  it("takes missing and empty keys for empty bitmaps", async () => {
    await roar.load("empty", []);
    await roar.load("k", [1, 2]);
    expect(await run("#1", 1, "none", 3, "k", "none", "empty")).toEqual([0, 0, 0]);
    expect(await run("#1", 1, "k", 3, "k", "none", "empty")).toEqual([2, 0, 0]);
    expect(await run("#1", 1, "k", 3, "k", "none", "empty", "BY", "JACCARD")).toEqual(["1", "0", "0"]);
    expect(await run("#1", 1, "empty", 2, "k", "none", "BY", "JACCARD")).toEqual(["0", "-1"]);
    expect(await run("#1", 1, "k", 3, "k", "none", "empty", "BY", "OVERLAP")).toEqual(["1", "-1", "-1"]);
    expect(await run("#1", 1, "none", 2, "k", "none", "TOP", 5)).toEqual([]);
    expect(await run("#1", 1, "none", 2, "k", "none", "MIN", 0)).toEqual([["k", 0], ["none", 0]]);
    expect(await run("#1", 1, "none", 2, "k", "none", "MIN", 0, "BY", "JACCARD")).toEqual([["k", "0"]]);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it.skipIf(protocol === 3)("counts what each sample shares with an expression over the others", async () => {
    const [names, sets] = await loadAll(suite);
    for (const [i, one] of names.entries()) {
      const counts = sets.map((set) => shared(sets[i]!, set)), sizes = sets.map((set) => set.length);
      expect(await run("#1", 1, one, names.length, ...names), one).toEqual(counts);
      expect(await run("any(#1, #1 & [5..6])", 1, one, names.length, ...names), one).toEqual(counts);
      expect(await run("~#1", 1, one, names.length, ...names), one).toEqual(sizes.map((size, j) => size - counts[j]!));
      for (const by of ["CARD", "JACCARD", "OVERLAP"]) {
        const whole = sizes.map((size, j) => (by === "CARD" ? 1 : by === "JACCARD" ? sizes[i]! + size - counts[j]! : Math.min(sizes[i]!, size)));
        const ranked = names.map((key, j) => [key, counts[j]! / whole[j]!] as const).filter(([, score]) => score > 0);
        ranked.sort(([, x], [, y]) => y - x);
        for (const top of [1, 2, 5, 50]) {
          const reply = (await run("#1", 1, one, names.length, ...names, "TOP", top, "BY", by)) as [string, Reply][];
          expect(reply.map(([key, score]) => [key, Number(score)]), `${one} top ${top} by ${by}`).toEqual(ranked.slice(0, top));
        }
        const min = by === "CARD" ? 16 : 0.25;
        const least = (await run("#1", 1, one, names.length, ...names, "BY", by, "MIN", min)) as [string, Reply][];
        expect(least.map(([key]) => key), `${one} min by ${by}`).toEqual(ranked.filter(([, score]) => score >= min).map(([key]) => key));
      }
    }
  });

  it("ranks equal numbers in the order given, also where the order of sizes is another", async () => {
    await roar.load("one", range(0, 100));
    const facets = range(0, 60).map((i) => `f${i}`);
    await roar.connection.pipeline(facets.map((key, i) => [roar.name("SETINTARRAY"), key, ...range(90, 10), ...range(1000, 7 * ((i * 37) % 60))]));
    expect(await run("#1", 1, "one", 60, ...facets, "TOP", 5)).toEqual(facets.slice(0, 5).map((key) => [key, 10]));
    expect(await run("#1", 1, "one", 60, ...facets, "TOP", 60)).toEqual(facets.map((key) => [key, 10]));
    expect(await run("#1", 1, "one", 3, "f3", "f2", "f3", "TOP", 2)).toEqual([["f3", 10], ["f2", 10]]);
    expect(await run("#1", 1, "one", 60, ...facets, "MIN", 11)).toEqual([]);
    expect(await run("#1", 1, "one", 60, ...facets, "TOP", 0)).toEqual([]);
    expect(await run("#1", 1, "one", 60, ...facets, "TOP", 3, "MIN", "0.1", "BY", "JACCARD")).toEqual(expect.arrayContaining([["f0", "0.1"]]));
  });

  it("compares bitmaps of all offsets", async () => {
    const all = offsetCount(family);
    await roar.run("SETFULL", "full");
    await roar.load("k", [1, 2]);
    expect(await run("#1", 1, "full", 3, "full", "k", "none")).toEqual([all, 2, 0]);
    expect(await run("~#1", 1, "none", 2, "full", "k", "TOP", 1)).toEqual([["full", all]]);
    expect(await run("#1", 1, "k", 2, "full", "k", "TOP", 2)).toEqual([["full", 2], ["k", 2]]);
    expect(await run("#1", 1, "full", 2, "full", "none", "BY", "JACCARD")).toEqual(["1", "0"]);
    expect(await run("#1", 1, "full", 2, "k", "full", "BY", "OVERLAP", "TOP", 2)).toEqual([["k", "1"], ["full", "1"]]);
    expect(await run("#1", 1, "full", 2, "k", "full", "BY", "JACCARD", "TOP", 1)).toEqual([["full", "1"]]);
    const many = Array<string>(5000).fill("full");
    expect(new Set((await run("#1", 1, "full", many.length, ...many)) as Reply[])).toEqual(new Set([all]));
  });

  it("refuses bad arguments before it looks at the keys", async () => {
    await server.run("RPUSH", "list", 1);
    for (const bad of NOT_COUNTS) {
      expect(await refusal("#1", bad, "list", 1, "list")).toBe("ERR numkeys should be greater than 0");
      expect(await refusal("#1", 1, "list", bad, "list")).toBe("ERR numfacets should be greater than 0");
    }
    expect(await refusal("#1", 9, "list", 1, "list")).toBe(TOO_FEW);
    expect(await refusal("#1", 1, "list", 2, "list")).toBe(TOO_FEW);
    expect(await refusal("#1 | #2 | #3", 3, "list", 1, "list")).toBe(`${SYNTAX}: numfacets is missing`);
    expect(await refusal("#1 &", 1, "list", 1, "list")).toBe("ERR Roaring: query: expected an expression at character 5");
    for (const words of [["x"], ["list", "TOP", 1], ["LIMIT", 1]]) {
      expect(await refusal("#1", 1, "list", 1, "list", ...words)).toBe(`${SYNTAX}: more keys than numfacets, or a word other than BY, TOP and MIN`);
    }
    for (const words of [["BY"], ["TOP"], ["MIN"], ["BY", "x"], ["TOP", 1, "TOP", 1], ["MIN", 1, "BY", "CARD", "MIN", 1]]) {
      expect(await refusal("#1", 1, "list", 1, "list", ...words)).toBe(SYNTAX);
    }
    for (const bad of ["", "x", "-1", "1.5", "18446744073709551616"]) {
      expect(await refusal("#1", 1, "list", 1, "list", "TOP", bad)).toBe(NOT_AN_INTEGER);
      expect(await refusal("#1", 1, "list", 1, "list", "MIN", bad)).toBe(NOT_AN_INTEGER);
    }
    for (const bad of ["", "x", "-0.1", "1.1", "2", "1.0000000000000000001", ".5", "0.", "0,5", "1e0", "+1"]) {
      expect(await refusal("#1", 1, "list", 1, "list", "MIN", bad, "BY", "JACCARD"), bad).toBe("ERR invalid min: must be a number from 0 to 1 with at most 18 decimal places");
    }
  });

  it("takes 65,534 keys in all", async () => {
    await roar.load("k", [1, 2]);
    const call = (facets: number): Arguments => ["#1", 1, "k", facets, ...Array<string>(facets).fill("k")];
    expect(await roar.connection.call([name, ...call(65_533), "TOP", 2])).toEqual([["k", 2], ["k", 2]]);
    await expect(roar.connection.call([name, ...call(65_534)])).rejects.toThrow(TOO_MANY);
  });

  it("has its keys found by COMMAND GETKEYS", async () => {
    const keysOf = (...args: Arguments): Promise<Reply> => roar.connection.run("COMMAND", "GETKEYS", name, ...args);
    expect(await keysOf("#1", 1, "a", 2, "b", "a", "TOP", 3)).toEqual(["a", "b", "a"]);
    expect(await keysOf("#1", 2, "TOP", "3", 1, "BY")).toEqual(["TOP", "3", "BY"]);
  });

  it("has no side effects", async () => {
    await roar.load("k", [1, 2, 3]);
    for (const words of [[], ["TOP", 2], ["BY", "JACCARD"]]) expect(await effects(() => run("#1", 1, "k", 2, "k", "none", ...words))).toEqual(noEffects);
  });

  itRefusesOtherTypes(suite, (key) => [["#1", 1, key, 1, "k"], ["#1 | #2", 2, "k", key, 1, "k"], ["#1", 1, "k", 2, "k", key, "TOP", 1], ["#1", 1, "k", 1, key]]);
  itRunsEverywhere(suite, ["#1", 1, "k", 2, "k", "none", "TOP", 5]);
  itMindsMemory(suite, "read", ["#1", 1, "k", 1, "k"]);
});

describeCommand("CROSSCARD", (suite) => {
  const { run, roar, family, server, protocol, refusal, effects, name } = suite;

  it("takes missing and empty keys for empty bitmaps", async () => {
    await roar.load("empty", []);
    await roar.load("k", [1, 2]);
    expect(await run(2, "k", "none", 3, "k", "empty", "none")).toEqual([[2, 0, 0], [0, 0, 0]]);
    expect(await run(1, "k", 1, "k", "WITHIN", "#1", 1, "none")).toEqual([[0]]);
    expect(await run(1, "k", 1, "k", "within", "~#1", 1, "none")).toEqual([[2]]);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it.skipIf(protocol === 3)("counts what the samples share, also within each of them", async () => {
    const [names, lists] = await loadAll(suite), size = names.length, sets = lists.map((list) => new Set(list));
    const table = (within?: Set<Member>): number[][] => {
      const columns = lists.map((list) => (within ? list.filter((one) => within.has(one)) : list));
      return sets.map((row) => columns.map((column) => column.filter((one) => row.has(one)).length));
    };
    expect(await run(size, ...names, size, ...names)).toEqual(table());
    for (const one of ["mixed", "run", "bitset", "many containers", "none"]) {
      const expected = table(sets[names.indexOf(one)]);
      expect(await run(size, ...names, size, ...names, "WITHIN", "#1", 1, one), one).toEqual(expected);
      for (const key of names.slice(0, -1)) await roar.run("OPTIMIZE", key);
      expect(await run(size, ...names, size, ...names, "WITHIN", "#1 & ~(#1 ^ #1)", 1, one), one).toEqual(expected);
    }
  });

  it("counts more rows and columns than are prepared at once, whose containers begin and end anywhere", async () => {
    const bitmap = (i: number): number[] => range((i % 7) * 40_000 + i, 300 + 37 * i, 1 + (i % 5));
    const rows = range(0, 64).map((i) => `r${i}`), columns = range(0, 35).map((i) => `c${i}`);
    await roar.connection.pipeline(rows.map((key, i) => [roar.name("SETINTARRAY"), key, ...bitmap(i)]));
    await roar.connection.pipeline(columns.map((key, i) => [roar.name("SETINTARRAY"), key, ...bitmap(3 * i + 1)]));
    const sets = columns.map((_, j) => new Set(bitmap(3 * j + 1)));
    const expected = rows.map((_, i) => sets.map((set) => bitmap(i).filter((one) => set.has(one)).length));
    expect(await run(64, ...rows, 35, ...columns)).toEqual(expected);
    expect(await run(35, ...columns, 64, ...rows)).toEqual(columns.map((_, j) => rows.map((__, i) => expected[i]![j]!)));
  });

  it("compares bitmaps of all offsets", async () => {
    const all = offsetCount(family);
    await roar.run("SETFULL", "full");
    await roar.load("k", [1, 70_000]);
    expect(await run(2, "full", "k", 3, "full", "none", "k")).toEqual([[all, 0, 2], [2, 0, 2]]);
    expect(await run(1, "full", 1, "full", "WITHIN", "~#1", 1, "none")).toEqual([[all]]);
    expect(await run(1, "full", 2, "full", "k", "WITHIN", "#1", 1, "k")).toEqual([[2, 2]]);
    expect(await run(1, "full", 2, "full", "k", "WITHIN", "~#1", 1, "k")).toEqual([[asReply(member(family.last - 1n)), 0]]);
  });

  it("refuses bad arguments before it looks at the keys", async () => {
    await server.run("RPUSH", "list", 1);
    for (const bad of NOT_COUNTS) {
      expect(await refusal(bad, "list", 1, "list")).toBe("ERR numrows should be greater than 0");
      expect(await refusal(1, "list", bad, "list")).toBe("ERR numcols should be greater than 0");
      expect(await refusal(1, "list", 1, "list", "WITHIN", "#1", bad, "list")).toBe("ERR numkeys should be greater than 0");
    }
    for (const args of [[9, "list", 1, "list"], [1, "list", 2, "list"], [1, "list", 1, "list", "WITHIN", "#1", 2, "list"]]) expect(await refusal(...args)).toBe(TOO_FEW);
    expect(await refusal(3, "list", 1, "list")).toBe(`${SYNTAX}: numcols is missing`);
    expect(await refusal(1, "list", 1, "list", "list")).toBe(`${SYNTAX}: more keys than numcols, or a word other than WITHIN`);
    for (const words of [["WITHIN"], ["WITHIN", "#1"]]) expect(await refusal(1, "list", 1, "list", ...words)).toBe(SYNTAX);
    expect(await refusal(1, "list", 1, "list", "WITHIN", "#1", 1, "list", "x")).toBe(`${SYNTAX}: more keys than numkeys`);
    expect(await refusal(1, "list", 1, "list", "WITHIN", "#2", 1, "list")).toMatch(/^ERR Roaring: query: /);
  });

  it("takes 65,534 keys in all, and refuses a table that is too large", async () => {
    await roar.load("k", [1, 2]);
    const keys = (count: number): string[] => Array<string>(count).fill("k");
    const call = (...args: Arguments): Promise<Reply> => roar.connection.call([name, ...args]);
    expect(await call(65_533, ...keys(65_533), 1, "k")).toEqual(keys(65_533).map(() => [2]));
    await expect(call(65_533, ...keys(65_533), 2, "k", "k")).rejects.toThrow(TOO_MANY);
    await expect(call(65_532, ...keys(65_532), 1, "k", "WITHIN", "#1 | #2", 2, "k", "k")).rejects.toThrow(TOO_MANY);
    await expect(call(30_000, ...keys(30_000), 30_000, ...keys(30_000))).rejects.toThrow(/^ERR Roaring: reply too large/);
  });

  it("has its keys found by COMMAND GETKEYS", async () => {
    const keysOf = (...args: Arguments): Promise<Reply> => roar.connection.run("COMMAND", "GETKEYS", name, ...args);
    expect(await keysOf(2, "a", "b", 1, "c")).toEqual(["a", "b", "c"]);
    expect(await keysOf(1, "1", 2, "WITHIN", "c", "WITHIN", "#1", 2, "d", "e")).toEqual(["1", "WITHIN", "c", "d", "e"]);
  });

  it("has no side effects", async () => {
    await roar.load("k", [1, 2, 3]);
    expect(await effects(() => run(1, "k", 2, "k", "none", "WITHIN", "#1", 1, "k"))).toEqual(noEffects);
  });

  itRefusesOtherTypes(suite, (key) => [[1, key, 1, "k"], [2, "k", key, 1, "k"], [1, "k", 2, "k", key], [1, "k", 1, "k", "WITHIN", "#1 | #2", 2, "k", key]]);
  itRunsEverywhere(suite, [1, "k", 2, "k", "none"]);
  itMindsMemory(suite, "read", [1, "k", 1, "k"]);
});
