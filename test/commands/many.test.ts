// One question asked of many bitmaps: MBITCOUNT.

import { expect, it } from "vitest";
import { itFindsNothing, itReads, keyAt } from "../support/contract.ts";
import { asReply, member, offsetCount, range } from "../support/family.ts";
import { samples } from "../support/samples.ts";
import { describeCommand, expectEqual, WRONGTYPE } from "../support/suite.ts";

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
