// A bitmap of thousands of containers, whose directory is a tree. It grows, shrinks and is refilled, by single members and by ranges.
// Replies and members must always be as the oracle predicts.
//
//   SEED    repeats a run

import { describe, expect, it } from "vitest";
import type { World } from "./oracle/call.ts";
import { compare, compareAll, foretell, type Words } from "./oracle/foretell.ts";
import { families, range, sorted } from "../support/family.ts";
import { seeded } from "../support/random.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectEqual, expectValid, useServer } from "../support/suite.ts";

describe.each(byName(families))("%s: a directory of many leaves", (_family, family) => {
  const server = useServer({ moduleArguments: withDebug });

  it("BITCOUNT and BITPOS equal the oracle while containers are added and removed in any order", seeded(async (random) => {
    const roar = roarOn(server, family);
    const width = family.bits === 32 ? 16 : 47; // bit indexes end at 2^63 - 1
    const containers = [...new Set(Array.from({ length: 8000 }, () => random.u64() >> BigInt(64 - width)))];
    const world: World = new Map();
    const near = (): bigint => random.pick(containers) * 65536n + BigInt(random.pick([0, 7, 65_535]));
    const questions = (): Words[] => {
      const [a, b] = [near(), near()].sort((x, y) => (x < y ? -1 : 1)).map(String) as [string, string];
      return [[roar.name("BITCOUNT"), "k", a, b, "BIT"], [roar.name("BITPOS"), "k", "1", a, b, "BIT"]];
    };
    /** Sets or clears one member in each of these containers, with queries in between. */
    const change = async (some: readonly bigint[], value: 0 | 1): Promise<void> => {
      for (let from = 0; from < some.length; from += 500) {
        const offsets = some.slice(from, from + 500).map((container) => container * 65536n + 7n);
        const changes = offsets.map((offset) => [roar.name("SETBIT"), "k", String(offset), String(value)]);
        const batch = [...changes, ...range(0, 10).flatMap(questions)];
        const expected = batch.map((words) => foretell(world, words));
        const replies = await server.connection.pipeline(batch);
        batch.forEach((words, i) => expectEqual(replies[i], expected[i], words.join(" ")));
      }
      await compareAll(server.connection, world);
    };
    await change(containers, 1);
    await change(containers.filter(() => random.chance(0.7)), 0);
    await change([...containers].reverse(), 1);
    const ascending = sorted(containers);
    await change(ascending, 0);
    await change(ascending, 1);
    await change(ascending.filter((_, i) => i % 3 > 0).reverse(), 0);
  }));

  it("SETRANGE, CLEARRANGE and FLIPRANGE of few and of many containers equal the oracle", seeded(async (random) => {
    const world: World = new Map(), keys = 2500;
    const run = async (...words: string[]): Promise<void> => {
      const expected = foretell(world, words);
      compare(await server.connection.run(...words as [string, ...string[]]), expected);
    };
    for (let round = 0; round < 40; round++) {
      if (round % 8 === 0) {
        const containers = range(0, keys).filter(() => random.chance(0.6));
        await run(roarOn(server, family).name("SETINTARRAY"), "k", ...containers.map((key) => String(key * 65_536 + random.below(65_536))));
      }
      const offset = (): number => random.below(keys) * 65_536 + random.pick([0, 1, random.below(65_536), 65_535]);
      const from = offset(), to = random.chance(0.5) ? Math.max(from, offset()) : from + random.below(20 * 65_536);
      await run(roarOn(server, family).name(random.pick(["SETRANGE", "CLEARRANGE", "FLIPRANGE"])), "k", String(from), String(to));
      await compareAll(server.connection, world);
    }
  }));

  it("ranges that end at borders of leaves and subtrees equal BITOP with the range", seeded(async (random) => {
    const roar = roarOn(server, family), leaf = 254, subtree = 126 * leaf, entries = subtree + 3 * leaf + 5;
    const keyOf = (entry: number): number => entry + Math.floor(entry / 2);
    // Two members a container: lone ones would be packed.
    await roar.load("base", range(0, entries).flatMap((entry) => [0, 1].map((half) => keyOf(entry) * 65_536 + half * 32_768 + random.below(32_768))));
    await roar.run("OPTIMIZE", "base"); // now all leaves are full
    const borders = [0, 1, leaf - 1, leaf, 2 * leaf, subtree - leaf, subtree - 1, subtree, subtree + 1, subtree + leaf, entries - 1];
    for (let round = 0; round < 60; round++) {
      const [first, last] = [random.pick(borders), random.pick(borders)].sort((x, y) => x - y) as [number, number];
      const start = keyOf(first) * 65_536 + random.pick([0, random.below(65_536)]);
      const end = Math.max(start + 1, keyOf(last) * 65_536 + random.pick([0, random.below(65_536), 65_536, 131_072]));
      const [change, operation] = random.pick([["SETRANGE", "OR"], ["CLEARRANGE", "DIFF"], ["FLIPRANGE", "XOR"]] as const);
      const what = `${change} ${start} ${end}`;
      await server.run("DEL", "range");
      await roar.run("SETRANGE", "range", start, end);
      const members = await roar.run("BITOP", operation, "expected", "base", "range");
      await server.run("COPY", "base", "k", "REPLACE");
      await roar.run(change, "k", start, end);
      await expectValid(server, "k", what);
      expect(await roar.run("BITCOUNT", "k"), what).toBe(members);
      if (members !== 0) expect(await roar.run("CONTAINS", "k", "expected", "EQ"), what).toBe(1);
    }
  }));
});
