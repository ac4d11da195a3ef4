// Lists of members: DELETEINTARRAY, RANGEINTARRAY.

import { expect, it } from "vitest";
import {
  aboveMaxmemory, badOffsets, inList, itFindsNothing, itFrees, itReads, OVER_MAXMEMORY, SUPERFLUOUS,
} from "../support/contract.ts";
import { member, range } from "../support/family.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { replies } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { describeCommand, expectEqual } from "../support/suite.ts";

describeCommand("DELETEINTARRAY", (suite) => {
  const { run, roar, family, server, effects, refusal, name } = suite;

  it("creates an empty bitmap for a missing key", async () => {
    expect(await run("k", 1)).toBe("OK");
    expect(await server.run("TYPE", "k")).toBe(family.type);
    expect(await roar.members("k")).toEqual([]);
  });

  it("removes the listed members and keeps the TTL", async () => {
    await roar.load("k", [...range(60_000, 10_000), member(family.last)]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", ...range(60_100, 9_900), 60_005, family.last, 100_000)).toBe("OK");
    expect(await roar.members("k")).toEqual(range(60_000, 100).filter((m) => m !== 60_005));
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it("raises events and propagates only when something changes", async () => {
    const change = (...values: string[]) => oneChange("setbit", name, "k", ...values);
    expect(await effects(() => run("k", 1))).toEqual(change("1")); // the key was created
    expect(await effects(() => run("k", 1))).toEqual(noEffects);
    await roar.load("k", [1, 2]);
    expect(await effects(() => run("k", 1, 9))).toEqual(change("1", "9"));
  });

  it("creates no key when maxmemory is reached, but does below it", async () => {
    expect(await aboveMaxmemory(server, () => refusal("none", 1))).toMatch(OVER_MAXMEMORY);
    expect(await server.run("EXISTS", "none")).toBe(0);
    expect(await effects(() => aboveMaxmemory(server, () => refusal("none", 1)), "none")).toEqual(noEffects);
    expect(await run("none", 1)).toBe("OK");
  });

  itFrees(suite, ["k", ...SUPERFLUOUS], {
    arity: -3,
    call: ["k", 9],
    bad: badOffsets(family, "value", inList),
  });
});

describeCommand("RANGEINTARRAY", (suite) => {
  const { run, roar, family } = suite;
  const TOO_LARGE = "Roaring: range too large: maximum 100000000 elements (redis-roar.reply-limit)";

  itFindsNothing(suite, [], ["k", 0, 10]);

  it("returns the members from rank start to rank end, both included", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      const all = members.length, middle = all >> 1;
      for (const [start, end] of [[0, 0], [0, all], [1, 3], [all - 1, all], [all, all + 5], [middle, middle + 5000], [4, 3]] as const) {
        if (start < 0) continue; // an empty bitmap has no last rank
        expectEqual(await run("k", start, end), replies(members.slice(start, end + 1)), `${start} to ${end}`);
      }
    }
  });

  it("takes time by the length of its reply, not by the ranks or the size of the bitmap", async () => {
    await roar.run("SETFULL", "k");
    const near = family.last - 3n;
    expect(await run("k", near, family.last)).toEqual(replies([near, near + 1n, near + 2n, near + 3n].map(member)));
    expect(await run("none", 0, 99_999_999)).toEqual([]);
    expect(await run("none", family.last - 99_999_999n, family.last)).toEqual([]);
  });

  itReads(suite, {
    arity: 4,
    call: ["k", 1, 2],
    bad: [
      ...badOffsets(family, "start", (bad) => [["k", bad, 1]]),
      ...badOffsets(family, "end", (bad) => [["k", 1, bad]]),
      [["k", 0, 100_000_000], TOO_LARGE],
      [["k", 0, String(family.last)], TOO_LARGE],
      [["k", 5, 100_000_005], TOO_LARGE],
    ],
  });
});
