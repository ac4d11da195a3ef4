import { expect, it } from "vitest";
import { badOffsets, inList, itWrites, keyAt } from "../support/contract.ts";
import { member, sorted } from "../support/family.ts";
import { oneChange } from "../support/observer.ts";
import { describeCommand } from "../support/suite.ts";

describeCommand("SETINTARRAY", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key", async () => {
    expect(await run("k", 7)).toBe("OK");
    expect(await roar.members("k")).toEqual([7]);
    expect(await server.run("TYPE", "k")).toBe(family.type);
  });

  it("replaces the members of a key and drops its TTL", async () => {
    await roar.load("k", [1, 2, 3]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", 3, 4)).toBe("OK");
    expect(await roar.members("k")).toEqual([3, 4]);
    expect(await server.run("TTL", "k")).toBe(-1);
  });

  it("accepts values in any order and with duplicates", async () => {
    await run("k", 70000, 5, family.last, 5, 0, 70000, 6);
    expect(await roar.members("k")).toEqual([0, 5, 6, 70000, member(family.last)]);
  });

  it.each([4095, 4096, 4097, 65536, 200_000])("accepts %i values in one call", async (size) => {
    const values = Array.from({ length: size }, (_, i) => ((i * 7919) % size) * 2);
    expect(await roar.connection.call([name, "k", ...values])).toBe("OK");
    expect(await roar.members("k")).toEqual(sorted(new Set(values)));
  });

  it("raises a set event and propagates even if the members stay the same", async () => {
    const set = oneChange("set", name, "k", "2", "1");
    expect(await effects(() => run("k", 2, 1))).toEqual(set);
    expect(await effects(() => run("k", 2, 1))).toEqual(set);
  });

  itWrites(suite, {
    arity: -3,
    keys: [keyAt(1, "OW")],
    call: ["k", 2, 1],
    bad: badOffsets(family, "value", inList),
  });
});
