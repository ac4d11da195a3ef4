// A bitmap of thousands of containers, whose directory is a tree. It grows, shrinks and is refilled. BITCOUNT and BITPOS must always
// reply as the oracle predicts.
//
//   SEED    repeats a run

import { describe, it } from "vitest";
import type { World } from "./oracle/call.ts";
import { compareAll, foretell, type Words } from "./oracle/foretell.ts";
import { families, range } from "../support/family.ts";
import { seeded } from "../support/random.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectEqual, useServer } from "../support/suite.ts";

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
    const ascending = [...containers].sort((x, y) => (x < y ? -1 : 1));
    await change(ascending, 0);
    await change(ascending, 1);
    await change(ascending.filter((_, i) => i % 3 > 0).reverse(), 0);
  }));
});
