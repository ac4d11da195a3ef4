import { expect, it } from "vitest";
import { badOffsets, inList, itWrites } from "../support/contract.ts";
import { member, range, sorted } from "../support/family.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { describeCommand, expectEqual } from "../support/suite.ts";

describeCommand("APPENDINTARRAY", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key", async () => {
    expect(await run("k", 7, 6)).toBe("OK");
    expect(await roar.members("k")).toEqual([6, 7]);
    expect(await server.run("TYPE", "k")).toBe(family.type);
  });

  it("adds to the members of a key and keeps its TTL", async () => {
    await roar.load("k", [1, 2, 3]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", 3, 9, 0, 9)).toBe("OK");
    expect(await roar.members("k")).toEqual([0, 1, 2, 3, 9]);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it("adds members before, between and after existing containers", async () => {
    await roar.load("k", [200_000]);
    for (const value of [family.last, 0n, 100_000n, 2n ** 32n - 1n, 65535n, 65536n]) await run("k", value);
    const expected = new Set([0n, 65535n, 65536n, 100_000n, 200_000n, 2n ** 32n - 1n, family.last]);
    expect(await roar.members("k")).toEqual([...expected].map(member));
  });

  it.each([4095, 4096, 4097, 65536])("fills one container with up to %i members in any order", async (size) => {
    const ascending = range(65_536, size);
    const orders = [ascending, [...ascending].reverse(), ascending.map((_, i) => 65536 + ((i * 40503 + 30000) % size))];
    for (const order of orders) {
      await server.run("DEL", "k");
      await server.connection.pipeline(roar.appends("k", order, 100));
      const expected = sorted(new Set(order));
      expectEqual(await roar.members("k"), expected);
      expect(await roar.run("BITCOUNT", "k")).toBe(expected.length);
    }
  });

  it("raises events and propagates only when something changes", async () => {
    const change = (...values: string[]) => oneChange("setbit", name, "k", ...values);
    expect(await effects(() => run("k", 7, 8))).toEqual(change("7", "8"));
    expect(await effects(() => run("k", 8, 7, 8))).toEqual(noEffects);
    expect(await effects(() => run("k", 7, 9))).toEqual(change("7", "9"));
  });

  itWrites(suite, {
    arity: -3,
    call: ["k", 2, 1],
    bad: badOffsets(family, "value", inList),
  });
});
