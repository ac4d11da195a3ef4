// Several bits at once: GETBITS, MGETBIT, SETBITS, CLEARBITS, CLEAR.

import { expect, it } from "vitest";
import {
  aboveMaxmemory, badOffsets, inList, itDeclares, itFindsNothing, itFrees, itReads, itRefuses, itWrites, keyAt, SUPERFLUOUS,
} from "../support/contract.ts";
import { member, offsetCount, range } from "../support/family.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { describeCommand, expectEqual, offsetError, WRONGTYPE } from "../support/suite.ts";
import { noKeyRights } from "../support/version.ts";

describeCommand("GETBITS", (suite) => {
  const { run, roar, family } = suite;

  it("is an empty array for a missing key, and all 0 for an empty one", async () => {
    expect(await run("none", 1, 2)).toEqual([]);
    await roar.load("empty", []);
    expect(await run("empty", 1, 2)).toEqual([0, 0]);
  });

  it("returns one bit per offset, in the given order and with repetitions", async () => {
    await roar.load("k", [0, 70_000, member(family.last)]);
    expect(await run("k", family.last, 1, 0, 70_000, 70_001, 0)).toEqual([1, 0, 1, 1, 0, 1]);
    const offsets = range(69_000, 5000);
    expectEqual(await run("k", ...offsets), offsets.map((offset) => (offset === 70_000 ? 1 : 0)));
  });

  itReads(suite, {
    arity: -3,
    call: ["k", 2, 5],
    bad: badOffsets(family, "offset", inList),
  });
});

describeCommand("MGETBIT", (suite) => {
  const { run, roar, family, server, refusal, name } = suite;

  itFindsNothing(suite, [0], [7, "k"]);
  itFindsNothing(suite, [0, 0, 0], [7, "k", "empty", "k"]);

  it("returns the bit of each key, in the given order and with repetitions", async () => {
    await roar.load("a", [0, 70_000]);
    await roar.load("b", [member(family.last)]);
    await roar.load("runs", range(60_000, 20_000));
    expect(await run(0, "a", "b", "none", "a", "runs")).toEqual([1, 0, 0, 1, 0]);
    expect(await run(70_000, "runs", "b", "a")).toEqual([1, 0, 1]);
    expect(await run(family.last, "a", "b")).toEqual([0, 1]);
  });

  it("answers for thousands of keys in one call", async () => {
    const keys = range(0, 5000).map((i) => `tag:${i}`), isTagged = (i: number): boolean => i % 3 === 0;
    await roar.connection.pipeline(keys.map((key, i) => [roar.name("SETINTARRAY"), key, i + 10_000, isTagged(i) ? 7 : 8]));
    expectEqual(await run(7, ...keys), keys.map((_, i) => Number(isTagged(i))));
  });

  it("refuses a key of another type in any place, without any bit in the reply", async () => {
    await roar.load("k", [7]);
    await server.run("RPUSH", "list", 1);
    for (const keys of [["list", "k", "k"], ["k", "list", "k"], ["k", "none", "list"]]) {
      const [reply, next] = await Promise.all([roar.connection.bytes(name, 7, ...keys), roar.connection.run("PING")]);
      expect(String(reply)).toBe(`-${WRONGTYPE}\r\n`);
      expect(next).toBe("PONG");
    }
    expect(await refusal("x", "list")).toBe(offsetError(family, "offset"));
  });

  it("needs the right to read each of the keys", async ({ skip }) => {
    if (noKeyRights) skip(noKeyRights);
    await roar.load("k", [7]);
    await server.run("ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "%R~tag:*", "+@all");
    expect(await server.run("ACL", "DRYRUN", "guest", name, 7, "tag:1", "tag:2")).toBe("OK");
    for (const keys of [["k"], ["k", "tag:1"], ["tag:1", "tag:2", "k"]]) {
      expect(await server.run("ACL", "DRYRUN", "guest", name, 7, ...keys)).toMatch(/no permissions? to access the .*key/);
    }
  });

  itReads(suite, {
    arity: -3,
    keys: [keyAt(2, "RO", -1)],
    call: [2, "k", "none", "k"],
    bad: badOffsets(family, "offset", (bad) => [[bad, "k"], [bad, "k", "k"]]),
  });
});

describeCommand("SETBITS", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key", async () => {
    expect(await run("k", 7, 6, 7)).toBe(2);
    expect(await roar.members("k")).toEqual([6, 7]);
  });

  it("returns how many bits were clear before, and keeps the TTL", async () => {
    await roar.load("k", [1, 2, 3]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", 3, 4, family.last)).toBe(2);
    expect(await run("k", 3, 4, family.last)).toBe(0);
    expect(await roar.members("k")).toEqual([1, 2, 3, 4, member(family.last)]);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
    expect(await run("k", ...range(100_000, 10_000))).toBe(10_000);
    expect(await roar.run("BITCOUNT", "k")).toBe(10_005);
  });

  it("raises events and propagates only when something changes", async () => {
    const change = oneChange("setbit", name, "k", "7", "8");
    expect(await effects(() => run("k", 7, 8))).toEqual(change);
    expect(await effects(() => run("k", 7, 8))).toEqual(noEffects);
  });

  itWrites(suite, {
    arity: -3,
    call: ["k", 2, 3],
    bad: badOffsets(family, "offset", inList),
  });
});

describeCommand("CLEARBITS", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("is nil for a missing key and does not create it", async () => {
    expect(await run("none", 1)).toBeNull();
    expect(await run("none", 1, "COUNT")).toBeNull();
    expect(await run("none", "COUNT")).toBeNull();
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("clears the bits, and with COUNT returns how many it cleared", async () => {
    await roar.load("k", [1, 2, 3, 70_000, member(family.last)]);
    expect(await run("k", 2, 9)).toBe("OK");
    expect(await run("k", 1, 1, 2, family.last, "COUNT")).toBe(2);
    expect(await run("k", 70_000, "count")).toBe(1);
    expect(await run("k", "COUNT")).toBe(0);
    expect(await run("k", 3, "Count")).toBe(1);
    expect(await roar.members("k")).toEqual([]);
    expect(await server.run("EXISTS", "k")).toBe(1);
  });

  it("raises events and propagates only when something changes", async () => {
    await roar.load("k", [1, 2, 3]);
    expect(await effects(() => run("k", 9))).toEqual(noEffects);
    expect(await effects(() => run("k", "COUNT"))).toEqual(noEffects);
    expect(await effects(() => run("k", 1, 9, "COUNT"))).toEqual(oneChange("setbit", name, "k", "1", "9", "COUNT"));
    expect(await effects(() => run("none", 1), "none")).toEqual(noEffects);
  });

  itFrees(suite, ["k", ...SUPERFLUOUS], {
    arity: -3,
    call: ["k", 9, "COUNT"],
    bad: [
      ...badOffsets(family, "offset", (bad) => [["k", bad], ["k", 1, bad, "COUNT"]]),
      [["k", "COUNT", 1], offsetError(family, "offset")],
      [["k", "COUNT", "COUNT"], offsetError(family, "offset")],
    ],
  });
});

describeCommand("CLEAR", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("is nil for a missing key and does not create it", async () => {
    expect(await run("none")).toBeNull();
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("removes all members, returns their number, and keeps the key and its TTL", async () => {
    await roar.load("k", range(5, 10_000, 7));
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k")).toBe(10_000);
    expect(await roar.members("k")).toEqual([]);
    expect(await server.run("TYPE", "k")).toBe(family.type);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
    expect(await server.usage("k")).toBeLessThan(200);
    expect(await run("k")).toBe(0);
    await roar.run("SETFULL", "full");
    expect(await run("full")).toEqual(offsetCount(family));
  });

  it("raises events and propagates only when something changes", async () => {
    await roar.load("k", [1]);
    expect(await effects(() => run("k"))).toEqual(oneChange("setbit", name, "k"));
    expect(await effects(() => run("k"))).toEqual(noEffects);
    expect(await effects(() => run("none"), "none")).toEqual(noEffects);
  });

  it("works when maxmemory is reached", async () => {
    await roar.load("k", [1, 2]);
    expect(await aboveMaxmemory(server, () => run("k"))).toBe(2);
  });

  itDeclares(suite, { arity: 2, flags: ["write"], keys: [keyAt(1, "RW")], call: ["k"] });
  itRefuses(suite, { arity: 2, call: ["k"] });
});
