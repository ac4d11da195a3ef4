import { expect, it } from "vitest";
import { notOffsets } from "../support/family.ts";
import { noEffects } from "../support/observer.ts";
import { describeCommand, itDeclares, itMindsMemory, itRefuses, itRunsEverywhere, offsetError } from "../support/suite.ts";

describeCommand("GETBIT", (suite) => {
  const { run, roar, family, server, effects } = suite;

  it("is 0 for a missing key and does not create it", async () => {
    expect(await run("none", 7)).toBe(0);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("is 1 for members and 0 for the offsets beside them", async () => {
    const members = [0n, 3n, 65535n, 65537n, 2n ** 32n - 1n, family.last];
    await roar.load("k", members);
    for (const m of members) {
      expect(await run("k", m)).toBe(1);
      for (const near of [m - 1n, m + 1n]) {
        if (near >= 0n && near <= family.last && !members.includes(near)) expect(await run("k", near)).toBe(0);
      }
    }
  });

  it.each([1, 3, 2000, 4096, 4097, 60_000])("distinguishes members from gaps in a container of %i members", async (size) => {
    const step = Math.floor(65536 / size);
    const members = Array.from({ length: size }, (_, i) => 65536 + i * step);
    await roar.load("k", members);
    const probes = [0, 1, Math.floor(size / 2), size - 1].map((i) => members[i] ?? members[0]!);
    for (const m of probes) {
      expect(await run("k", m)).toBe(1);
      if (step > 1) expect(await run("k", m + 1)).toBe(0);
    }
    expect(await run("k", 65535)).toBe(0);
  });

  it("has no side effects", async () => {
    await roar.load("k", [1]);
    expect(await effects(() => run("k", 1))).toEqual(noEffects);
    expect(await effects(() => run("none", 1), "none")).toEqual(noEffects);
  });

  itRunsEverywhere(suite, ["k", 2]);
  itMindsMemory(suite, "read", ["k", 9]);
  itDeclares(suite, {
    arity: 3,
    flags: ["readonly", "fast"],
    keys: [{ first: 1, last: 1, access: "RO" }],
    call: ["k", 1],
    keysInCall: ["k"],
  });
  itRefuses(suite, {
    arity: [[], ["k"], ["k", 1, 1]],
    bad: notOffsets(family).map((bad) => [["k", bad], offsetError(family, "offset")] as const),
    good: ["k", 1],
  });
});
