// Real data: 200 sets of row numbers from the census of 1881, with 1 to 119,482 members.

import { beforeAll, describe, expect, it } from "vitest";
import { dataset } from "../support/data.ts";
import { families } from "../support/family.ts";
import { combine } from "../support/model.ts";
import { roarOn } from "../support/roar.ts";
import { byName, expectEqual } from "../support/suite.ts";
import { Server } from "../support/server.ts";

const sets = dataset("census1881");
const models = sets.map((members) => new Set(members));
const keyOf = (i: number): string => `census:${i}`;

describe.each(byName(families))("census1881 in %s", (_family, family) => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start();
    for (const [i, members] of sets.entries()) {
      const roar = roarOn(server, family);
      await roar.run("SETINTARRAY", keyOf(i), ...members.slice(0, 10_000));
      await server.connection.pipeline(roar.appends(keyOf(i), members.slice(10_000)));
    }
    return () => server.stop();
  });

  it("all 200 sets have the right cardinality and members", async () => {
    const roar = roarOn(server, family);
    expect(sets.length).toBe(200);
    for (const [i, members] of sets.entries()) {
      expect(await roar.run("BITCOUNT", keyOf(i))).toBe(members.length);
      expect(await roar.run("BITPOS", keyOf(i), 1)).toBe(members[0]);
      const stored = await roar.members(keyOf(i));
      expect(stored.at(-1)).toBe(members.at(-1));
      expectEqual(stored, members);
    }
  });

  it.each(["AND", "OR", "XOR"] as const)("%s of each of the 199 pairs of neighboring sets equals the model", async (operation) => {
    const roar = roarOn(server, family);
    for (let i = 1; i < sets.length; i++) {
      const expected = combine(operation, [models[i - 1]!, models[i]!]);
      expect(await roar.run("BITOP", operation, "result", keyOf(i - 1), keyOf(i))).toBe(expected.length);
      expectEqual(await roar.members("result"), expected);
    }
  });

  it("OR of all 200 sets equals the model", async () => {
    const roar = roarOn(server, family);
    const expected = [...new Set(sets.flat())].sort((a, b) => a - b);
    expect(await roar.run("BITOP", "OR", "result", ...sets.map((_, i) => keyOf(i)))).toBe(expected.length);
    expectEqual(await roar.members("result"), expected);
  });
});
