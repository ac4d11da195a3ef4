import { expect, it } from "vitest";
import { badOffsets, itFindsNothing, itReads } from "../support/contract.ts";
import { range } from "../support/family.ts";
import { describeCommand } from "../support/suite.ts";

describeCommand("GETBIT", (suite) => {
  const { run, roar, family } = suite;

  itFindsNothing(suite, 0, ["k", 7]);

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
    const members = range(65_536, size, step);
    await roar.load("k", members);
    const probes = [0, 1, Math.floor(size / 2), size - 1].map((i) => members[i] ?? members[0]!);
    for (const m of probes) {
      expect(await run("k", m)).toBe(1);
      if (step > 1) expect(await run("k", m + 1)).toBe(0);
    }
    expect(await run("k", 65535)).toBe(0);
  });

  itReads(suite, {
    arity: 3,
    flags: ["fast"],
    call: ["k", 2],
    bad: badOffsets(family, "offset", (bad) => [["k", bad]]),
  });
});
