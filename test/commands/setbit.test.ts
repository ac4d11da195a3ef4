import { expect, it } from "vitest";
import { badOffsets, itWrites, refusals } from "../support/contract.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { bitError, describeCommand, offsetError } from "../support/suite.ts";

describeCommand("SETBIT", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key, an empty one if the value is 0", async () => {
    expect(await run("k", 5, 1)).toBe(0);
    expect(await roar.members("k")).toEqual([5]);
    expect(await run("empty", 5, 0)).toBe(0);
    expect(await server.run("EXISTS", "empty")).toBe(1);
    expect(await roar.members("empty")).toEqual([]);
    expect(await server.run("TYPE", "empty")).toBe(family.type);
  });

  it("returns the previous bit", async () => {
    expect([await run("k", 5, 1), await run("k", 5, 1), await run("k", 5, 0), await run("k", 5, 0)]).toEqual([0, 1, 1, 0]);
    expect(await server.run("EXISTS", "k")).toBe(1);
  });

  it("accepts the first and the last offset, and those at the boundaries of containers", async () => {
    const edges = [0n, 65535n, 65536n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 2n, 2n ** 32n - 1n];
    const wide = [2n ** 32n, 2n ** 48n - 1n, 2n ** 48n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, family.last];
    const offsets = [...new Set([...edges, ...wide].filter((offset) => offset <= family.last))];
    for (const offset of offsets) expect(await run("k", offset, 1)).toBe(0);
    expect((await roar.members("k")).map(BigInt)).toEqual(offsets);
    for (const offset of offsets) expect(await run("k", offset, 0)).toBe(1);
    expect(await roar.members("k")).toEqual([]);
  });

  it.skipIf(family.bits === 32)("accepts a leading + and leading zeros", async () => {
    for (const offset of ["+7", "007", "+0000000000000000000000007"]) await run("k", offset, 1);
    expect(await roar.members("k")).toEqual([7]);
  });

  it("keeps the TTL", async () => {
    await run("k", 1, 1);
    await server.run("EXPIRE", "k", 1000);
    await run("k", 2, 1);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it("raises events and propagates only when something changes", async () => {
    const change = (offset: number, value: number) => oneChange("setbit", name, "k", String(offset), String(value));
    expect(await effects(() => run("k", 7, 0))).toEqual(change(7, 0)); // the key was created
    expect(await effects(() => run("k", 7, 0))).toEqual(noEffects);
    expect(await effects(() => run("k", 7, 1))).toEqual(change(7, 1));
    expect(await effects(() => run("k", 7, 1))).toEqual(noEffects);
    expect(await effects(() => run("k", 7, 0))).toEqual(change(7, 0));
  });

  itWrites(suite, {
    arity: 4,
    flags: ["fast"],
    call: ["k", 2, 1],
    bad: [
      ...badOffsets(family, "offset", (bad) => [["k", bad, 1]]),
      ...refusals(["2", "-1", "x", "", "01", "+1", "1 "], bitError("value"), (bad) => [["k", 1, bad]]),
      [["k", "x", "x"], offsetError(family, "offset")],
    ],
  });
});
