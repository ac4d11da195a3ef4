// Members at random, and members that are taken, at random or from either end: RANDMEMBER, RANDPOP, POPMIN, POPMAX.

import { expect, it } from "vitest";
import { itFindsNothing, itMindsMemory, itRefuses, itRunsEverywhere, SUPERFLUOUS, aboveMaxmemory } from "../support/contract.ts";
import { ascending, asReply, type Family, type Member, member, offsetCount, range } from "../support/family.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import type { Reply } from "../support/resp.ts";
import { samples } from "../support/samples.ts";
import { describeCommand, expectEqual, NOT_AN_INTEGER, type Suite, SYNTAX } from "../support/suite.ts";

const NOT_COUNTS = ["", "x", "1.5", "+1", "01", "9223372036854775808", " 1"];
const TOO_MANY = "ERR Roaring: reply too large: maximum 100000000 elements (redis-roar.reply-limit)";

/**
 * Expects that each of the members was drawn about as often as the others. Chi-square less its mean, in standard deviations: a right
 * program exceeds 12 less often than once in 10^15 runs (bound of Laurent and Massart for chi-square with `members.length - 1` degrees).
 */
function expectUniform(members: readonly Member[], drawn: readonly Reply[], what: string): void {
  const counts = new Map(members.map((one) => [String(one), 0]));
  for (const one of drawn.map(String)) {
    const before = counts.get(one);
    if (before === undefined) expect.fail(`${what}: ${one} is no member`); // only then: expect() itself takes microseconds
    counts.set(one, before + 1);
  }
  const expected = drawn.length / members.length, free = members.length - 1, x = 35;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(chiSquare, what).toBeLessThan(free + 2 * Math.sqrt(free * x) + 2 * x);
}

/** Members of bitmaps of every kind of container. */
const kinds = ({ last }: Family): Record<string, Member[]> => ({
  tiny: [3, 5, 9], lone: range(0, 40, 70_000), short: range(300, 60), array: range(65_536, 64, 999), sparse: range(0, 2000, 23),
  bitset: range(0, 6000, 10), runs: [...range(0, 500), ...range(10_000, 500)], full: range(0, 65_536),
  mixed: [5, ...range(65_536, 65_536), ...range(200_000, 100, 3), member(last)],
});

describeCommand("RANDMEMBER", (suite) => {
  const { run, roar, family, server, protocol, effects, refusal } = suite;

  itFindsNothing(suite, null, ["k"]);
  itFindsNothing(suite, [], ["k", 5], ["k", -5], ["k", 0]);

  it("returns a member, several different ones, or several of which some may repeat", async () => {
    await roar.load("k", [7]);
    expect(await run("k")).toBe(7);
    for (const count of [1, 2, 100, "9223372036854775807"]) expect(await run("k", count)).toEqual([7]);
    expect(await run("k", -3)).toEqual([7, 7, 7]);
    expect(await run("k", 0)).toEqual([]);
    await roar.load("k", [7, 70_000, member(family.last)]);
    const all = [7, 70_000, asReply(member(family.last))];
    for (const count of [3, 4, 1000]) expect(await run("k", count)).toEqual(all);
    for (let i = 0; i < 20; i++) {
      expect(all).toContainEqual(await run("k"));
      const two = (await run("k", 2)) as Reply[];
      expect(all.filter((one) => two.includes(one))).toEqual(two);
      expect(two).toHaveLength(2);
    }
  });

  it.skipIf(protocol === 3)("returns different members of every sample, in ascending order, however many", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      const rank = new Map(members.map((one, i) => [String(asReply(one)), i]));
      const size = members.length;
      for (const count of [1, 2, 17, size >> 4, size >> 1, size - 1].filter((n) => n > 0 && n < size)) {
        const ranks = ((await run("k", count)) as Reply[]).map((one) => rank.get(String(one))!);
        expect(ranks.length, sample).toBe(count);
        expect(ranks.every((at, i) => at > (ranks[i - 1] ?? -1)), sample).toBe(true);
      }
      expectEqual(await run("k", members.length), members.map(asReply), sample);
      if (members.length > 0) expect(((await run("k", -10_000)) as Reply[]).every((one) => rank.has(String(one))), sample).toBe(true);
    }
  });

  it.skipIf(protocol === 3)("draws every member of every kind of container equally often", async () => {
    for (const [kind, members] of Object.entries(kinds(family))) {
      await roar.load("k", members);
      await roar.run("OPTIMIZE", "k");
      const draws = Math.max(20_000, 8 * members.length), few = Math.ceil(members.length / 20);
      expectUniform(members, (await run("k", -draws)) as Reply[], `${kind}, with repetitions`);
      const samplesOf = (count: number, times: number): Promise<Reply[]> =>
        roar.connection.pipeline(range(0, times).map(() => [roar.name("RANDMEMBER"), "k", count])).then((lists) => lists.flat());
      if (members.length > 3000) continue;
      expectUniform(members, await samplesOf(few, Math.ceil(draws / few)), `${kind}, few different ones`);
      expectUniform(members, await samplesOf(Math.max(1, members.length >> 1), 40), `${kind}, half of them`);
      expectUniform(members, await roar.connection.pipeline(range(0, 2000).map(() => [roar.name("RANDMEMBER"), "k"])), `${kind}, one by one`);
    }
  });

  it("reaches both halves of a full bitmap, which takes no time", async () => {
    await roar.run("SETFULL", "k");
    const drawn = ((await run("k", -1000)) as Reply[]).map((one) => BigInt(one as string)), half = (family.last + 1n) / 2n;
    expect(drawn.filter((one) => one < half).length).toBeGreaterThan(250);
    expect(drawn.filter((one) => one >= half).length).toBeGreaterThan(250);
    expect(await run("k", 100_000)).toHaveLength(100_000);
    expect(await roar.run("BITCOUNT", "k")).toEqual(offsetCount(family));
  });

  it("refuses a list that is too long", async () => {
    await roar.run("SETFULL", "k");
    for (const count of ["100000001", "-100000001", "9223372036854775807", "-9223372036854775808"]) expect(await refusal("k", count)).toBe(TOO_MANY);
    expect(await refusal("k", 100_000_000)).toMatch(/^ERR Roaring: reply too large: maximum \d+ bytes/);
    expect(await refusal("k", -100_000_000)).toMatch(/^ERR Roaring: reply too large: maximum \d+ bytes/);
    await roar.load("k", [1]);
    expect(await refusal("k", "-9223372036854775808")).toBe(TOO_MANY);
    expect(await run("k", "9223372036854775807")).toEqual([1]);
  });

  it("has no side effects", async () => {
    await roar.load("k", [1, 2, 3]);
    for (const args of [["k"], ["k", 2], ["k", -9], ["none"], ["none", 2]]) expect(await effects(() => run(...args), args[0] as string)).toEqual(noEffects);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  itRunsEverywhere(suite, ["k", 3]);
  itMindsMemory(suite, "read", ["k", -3]);
  itRefuses(suite, {
    arity: -2, call: ["k", 2],
    bad: [...NOT_COUNTS.map((bad) => [["k", bad], NOT_AN_INTEGER] as const), [["k", 1, 2], SYNTAX] as const],
  });
});

describeCommand("RANDPOP", (suite) => {
  const { run, roar, family, server, protocol, effects, refusal, name } = suite;
  /** The commands that remove these members on a replica, in as many offsets as one may have. */
  const clearing = (members: readonly Member[]): string[][] =>
    range(0, Math.ceil(members.length / 1024)).map((i) => [roar.name("CLEARBITS"), "k", ...members.slice(i * 1024, (i + 1) * 1024).map(String)]);

  itFindsNothing(suite, null, ["k"]);
  itFindsNothing(suite, [], ["k", 5], ["k", 0]);

  it("takes a member, or several, and deletes the key in the end", async () => {
    const all: Member[] = [0, 5, 6, 65_535, 65_536, member(family.last)];
    await roar.load("k", all);
    const first = await run("k"), two = (await run("k", 2)) as Reply[];
    expect(await run("k", 0)).toEqual([]);
    const left = (await roar.members("k")).map(asReply);
    expect([first, ...two, ...left].map(String).sort()).toEqual(all.map(String).sort());
    expect(two).toHaveLength(2);
    expect(await run("k", "18446744073709551615")).toEqual(left);
    expect(await server.run("EXISTS", "k")).toBe(0);
    for (const last of [["k"], ["k", 1], ["k", 7]]) {
      await roar.load("k", [9]);
      expect(await run(...last)).toEqual(last.length === 1 ? 9 : [9]);
      expect(await server.run("EXISTS", "k")).toBe(0);
    }
    await roar.load("k", [8, 9]);
    await server.run("EXPIRE", "k", 1000);
    await run("k");
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it.skipIf(protocol === 3)("takes any number of members from every sample, and leaves the others", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      const size = members.length, rank = new Map(members.map((one, i) => [String(asReply(one)), i]));
      for (const count of [1, 3, 100, size >> 4, size >> 1, size - 1, size, size + 5].filter((n) => n >= 0)) {
        await roar.load("k", members);
        const ranks = ((await run("k", count)) as Reply[]).map((one) => rank.get(String(one))!), taken = new Set(ranks);
        expect(ranks.length, sample).toBe(Math.min(count, size));
        expect(ranks.every((at, i) => at > (ranks[i - 1] ?? -1)), sample).toBe(true);
        if (count > 0 && count >= size) expect(await server.run("EXISTS", "k"), sample).toBe(size > 0 ? 0 : 1);
        else expectEqual(await roar.members("k"), members.filter((_, i) => !taken.has(i)), `${sample}, ${count}`);
      }
    }
  });

  it.skipIf(protocol === 3)("takes every member of every kind of container equally often", async () => {
    for (const [kind, members] of Object.entries(kinds(family)).filter(([, { length }]) => length <= 3000)) {
      await roar.load("whole", members);
      await roar.run("OPTIMIZE", "whole");
      const takenBy = (args: readonly number[], times: number): Promise<Reply[]> =>
        roar.connection.pipeline(range(0, times).flatMap(() => [["COPY", "whole", "k", "REPLACE"], [name, "k", ...args]]))
          .then((replies) => replies.filter((_, i) => i % 2 === 1).flat());
      const few = Math.max(1, Math.ceil(members.length / 20)), draws = Math.max(4000, 8 * members.length);
      expectUniform(members, await takenBy([], Math.max(2000, 4 * members.length)), `${kind}, one by one`);
      if (members.length > 3) expectUniform(members, await takenBy([few], Math.ceil(draws / few)), `${kind}, few`);
      expectUniform(members, await takenBy([members.length >> 1], 40), `${kind}, half of them`);
    }
  });

  it("propagates what it has removed, and raises one event", async () => {
    const all = range(0, 5000, 7);
    await roar.load("k", all);
    for (const args of [[], [1], [2], [2500]]) {
      const replies: Reply[] = [];
      const seen = await effects(async () => replies.push(await run("k", ...args))), taken = replies.flat() as Member[];
      expect(seen.propagated.flat().filter((word) => word !== "MULTI" && word !== "EXEC")).toEqual(clearing(taken).flat());
      expect({ ...seen, dirty: 0, propagated: [] }).toEqual({ dirty: 0, events: [["randpop", "k"]], propagated: [], touched: true });
    }
    for (const args of [[], [5]]) {
      await roar.load("k", [3]);
      expect(await effects(() => run("k", ...args)))
        .toEqual({ dirty: 1, events: [["randpop", "k"], ["del", "k"]], propagated: [["DEL", "k"]], touched: true });
    }
    expect(await effects(() => run("k", 0))).toEqual(noEffects);
    for (const args of [["none"], ["none", 7]]) expect(await effects(() => run(...args), "none")).toEqual(noEffects);
    await roar.load("k", []);
    for (const args of [["k"], ["k", 7]]) expect(await effects(() => run(...args))).toEqual(noEffects);
    expect(await server.run("EXISTS", "k")).toBe(1);
  });

  it("refuses a list that is too long, and takes nothing", async () => {
    await roar.run("SETFULL", "k");
    expect(await effects(() => refusal("k", 100_000_001))).toEqual(noEffects);
    expect(await refusal("k", "18446744073709551615")).toBe(TOO_MANY);
    expect(await refusal("k", 100_000_000)).toMatch(/^ERR Roaring: reply too large: maximum \d+ bytes/);
    for (const count of [100_001, 9_000_000]) {
      expect(await effects(async () => expect(await refusal("k", count)).toBe("ERR Roaring: too many members: maximum 100000 at a time, or all"))).toEqual(noEffects);
    }
    expect(await roar.run("BITCOUNT", "k")).toEqual(offsetCount(family));
    const taken = (await run("k", 1000)) as Reply[];
    expect([...taken].sort((a, b) => ascending(BigInt(a as string), BigInt(b as string)))).toEqual(taken);
    expect(await roar.run("BITCOUNT", "k")).toEqual(asReply(member(family.last + 1n - 1000n)));
    expect(await roar.run("GETBITS", "k", ...(taken as Member[]))).toEqual(taken.map(() => 0));
    await roar.run("SETRANGE", "some", 5, 100_007);
    expect((await run("some", 100_000) as Reply[]).length).toBe(100_000);
    expect((await run("some", 100_000) as Reply[]).length).toBe(2);
    await roar.run("SETRANGE", "all", 5, 100_007);
    expect((await run("all", 100_002) as Reply[]).length).toBe(100_002);
    expect(await server.run("EXISTS", "some", "all")).toBe(0);
  });

  it("works in MULTI and in EVAL", async () => {
    await roar.load("k", [1, 2, 3, 4, 5]);
    const replies = await roar.connection.pipeline([["MULTI"], [name, "k"], [name, "k", 2], ["EXEC"]]);
    const [first, two] = replies[3] as [number, number[]];
    const rest = await roar.connection.run("EVAL", "return redis.call(unpack(ARGV))", 1, "k", name, "k", 9) as number[];
    expect([first, ...two, ...rest].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  it("makes room when maxmemory is reached", async () => {
    await roar.load("k", range(0, 20_000, 37));
    const before = await server.usage("k");
    await aboveMaxmemory(server, () => run("k", SUPERFLUOUS.length + 5));
    expect(await server.usage("k")).toBeLessThan(before);
    await aboveMaxmemory(server, () => run("k", 20_000));
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  itRefuses(suite, {
    arity: -2, call: ["k", 2],
    bad: [
      ...[...NOT_COUNTS.filter((bad) => bad !== "9223372036854775808"), "-1", "18446744073709551616"].map((bad) => [["k", bad], NOT_AN_INTEGER] as const),
      [["k", 1, 2], SYNTAX] as const,
    ],
  });
});

/** `take`: the members that are taken from ascending ones, in the order of the reply, and those that are left. */
function itPops(
  suite: Suite, event: "popmin" | "popmax", take: (members: readonly Member[], count: number) => readonly [taken: Member[], left: Member[]],
): void {
  const { run, roar, family, server, protocol, effects, refusal, name } = suite;

  itFindsNothing(suite, null, ["k"]);
  itFindsNothing(suite, [], ["k", 5], ["k", 0]);

  it("takes a member, or several, and leaves an empty bitmap in the end", async () => {
    const all = [0, 5, 6, 65_535, 65_536, member(family.last)];
    await roar.load("k", all);
    expect(await run("k")).toEqual(asReply(take(all, 1)[0][0]!));
    const rest = take(all, 1)[1];
    expect(await run("k", 0)).toEqual([]);
    expect(await run("k", 2)).toEqual(take(rest, 2)[0].map(asReply));
    expect(await roar.members("k")).toEqual(take(rest, 2)[1]);
    expect(await run("k", "18446744073709551615")).toEqual(take(take(rest, 2)[1], 9)[0].map(asReply));
    expect(await roar.members("k")).toEqual([]);
    expect(await server.run("EXISTS", "k")).toBe(1);
    expect([await run("k"), await run("k", 1)]).toEqual([null, []]);
    await roar.load("k", [9]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", 1)).toEqual([9]);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it.skipIf(protocol === 3)("takes any number of members from every sample", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      for (const count of [1, 3, 100, members.length >> 1, members.length - 1, members.length, members.length + 5].filter((n) => n >= 0)) {
        await roar.load("k", members);
        const [taken, left] = take(members, count);
        expectEqual(await run("k", count), taken.map(asReply), `${sample}, ${count}`);
        expectEqual(await roar.members("k"), left, `${sample}, ${count}`);
      }
    }
  });

  it.skipIf(protocol === 3)("empties every sample step by step, and gives its memory back", async () => {
    const empty = "empty";
    await roar.load(empty, []);
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      const step = Math.max(1, members.length >> 9), full = await server.usage("k");
      let left: readonly Member[] = members;
      for (let size = full; left.length > 0;) {
        const [taken, rest] = take(left, step);
        const reply = step === 1 ? [await run("k")] : await run("k", step);
        expectEqual(reply, taken.map(asReply), sample);
        left = rest;
        size = await server.usage("k");
        expect(size, sample).toBeLessThanOrEqual(2 * full + 8192 + 1024);
      }
      expect(await server.usage("k"), sample).toBeLessThanOrEqual((await server.usage(empty)) + 16);
    }
  });

  it("is a pool of numbers with APPENDINTARRAY", async () => {
    await roar.run("SETRANGE", "k", 0, 200_000);
    for (let i = 0; i < 200; i++) {
      const taken = (await run("k")) as number;
      if (i % 3 === 0) await roar.run("APPENDINTARRAY", "k", taken);
    }
    expect(await roar.run("BITCOUNT", "k")).toBe(200_000 - 200 + 67);
    expect(await server.usage("k")).toBeLessThan(1000);
  });

  it("is propagated as it is, raises one event, and none if nothing is taken", async () => {
    await roar.load("k", [1, 2, 3, 4, 70_000]);
    expect(await effects(() => run("k"))).toEqual(oneChange(event, name, "k"));
    expect(await effects(() => run("k", 1))).toEqual(oneChange(event, name, "k", "1"));
    expect(await effects(() => run("k", 2))).toEqual(oneChange(event, name, "k", "2"));
    expect(await effects(() => run("k", 0))).toEqual(noEffects);
    expect(await effects(() => run("k", 100))).toEqual(oneChange(event, name, "k", "100"));
    for (const args of [["k"], ["k", 7]]) expect(await effects(() => run(...args))).toEqual(noEffects);
    for (const args of [["none"], ["none", 7]]) expect(await effects(() => run(...args), "none")).toEqual(noEffects);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("refuses a list that is too long, and takes nothing", async () => {
    await roar.run("SETFULL", "k");
    expect(await effects(() => refusal("k", 100_000_001))).toEqual(noEffects);
    expect(await refusal("k", "18446744073709551615")).toBe(TOO_MANY);
    expect(await roar.run("BITCOUNT", "k")).toEqual(offsetCount(family));
    const first = event === "popmin" ? 0n : family.last;
    expect(await run("k")).toEqual(asReply(member(first)));
    const next = range(1, 100_000).map((i) => asReply(member(event === "popmin" ? BigInt(i) : family.last - BigInt(i))));
    expectEqual(await run("k", 100_000), next);
    expect(await roar.run("BITCOUNT", "k")).toEqual(asReply(member(family.last - 100_000n)));
  });

  it("works in MULTI and in EVAL", async () => {
    await roar.load("k", [1, 2, 3, 4, 5]);
    const replies = await roar.connection.pipeline([["MULTI"], [name, "k"], [name, "k", 2], ["EXEC"]]);
    const [first, rest] = take([1, 2, 3, 4, 5], 1), [two, left] = take(rest, 2);
    expect(replies[3]).toEqual([first[0], two]);
    expect(await roar.connection.run("EVAL", "return redis.call(unpack(ARGV))", 1, "k", name, "k", 9)).toEqual(take(left, 9)[0]);
  });

  it("makes room when maxmemory is reached", async () => {
    await roar.load("k", range(0, 20_000, 37));
    const before = await server.usage("k");
    await aboveMaxmemory(server, () => run("k", SUPERFLUOUS.length + 5));
    expect(await server.usage("k")).toBeLessThan(before / 10);
  });

  itRefuses(suite, {
    arity: -2, call: ["k", 2],
    bad: [
      ...[...NOT_COUNTS.filter((bad) => bad !== "9223372036854775808"), "-1", "18446744073709551616"].map((bad) => [["k", bad], NOT_AN_INTEGER] as const),
      [["k", 1, 2], SYNTAX] as const,
    ],
  });
}

describeCommand("POPMIN", (suite) => {
  itPops(suite, "popmin", (members, count) => [members.slice(0, count), members.slice(count)]);

  it("takes a whole run and leaves the lone member behind it", async () => {
    const { run, roar } = suite;
    await roar.run("SETRANGE", "k", 0, 3);
    await roar.run("SETBIT", "k", 4, 1);
    await roar.run("OPTIMIZE", "k");
    expect(await run("k", 3)).toEqual([0, 1, 2]);
    expect(await roar.members("k")).toEqual([4]);
  });
});

describeCommand("POPMAX", (suite) => {
  itPops(suite, "popmax", (members, count) => {
    const left = Math.max(0, members.length - count);
    return [members.slice(left).reverse(), members.slice(0, left)];
  });
});
