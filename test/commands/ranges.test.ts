// Changes of ranges: SETRANGE, CLEARRANGE, FLIPRANGE, SETFULL.

import { expect, it } from "vitest";
import {
  badOffsets, itDeclares, itFrees, itMindsMemory, itRefuses, itWrites, keyAt, SUPERFLUOUS,
} from "../support/contract.ts";
import { asReply, type Family, type Member, member, notOffsets, offsetCount, range } from "../support/family.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { samples } from "../support/samples.ts";
import { describeCommand, endError, expectEqual, type Suite, WRONGTYPE } from "../support/suite.ts";

/** What an end must not be. Ends are exclusive, so the greatest end is one more than the last offset. */
const notEnds = ({ last, ...family }: Family): string[] => [
  ...notOffsets({ last, ...family }).filter((bad) => bad !== String(last + 1n)), String(last + 2n), `${last + 1n}0`, `${last + 1n} `,
  ...(family.bits === 32 ? [`+${last + 1n}`, `0${last + 1n}`] : []),
];

const badRanges = (family: Family) => [
  ...badOffsets(family, "start", (bad) => [["k", bad, 5]]),
  ...notEnds(family).map((bad) => [["k", 5, bad], endError(family, bad)] as const),
  [["k", 5, 4], `ERR invalid end: must ${family.bits === 32 ? "be >=" : ">="} start`] as const,
];

/** Ranges that end inside containers and at their boundaries, and ranges that span several containers. */
const ranges = [[0, 1], [5, 5], [7, 70], [0, 65_536], [65_535, 65_537], [65_536, 131_072], [100, 300_000], [131_000, 131_100]] as const;

function firstNotBelow(offset: number, members: readonly Member[]): number {
  const at = members.findIndex((m) => m >= offset);
  return at < 0 ? members.length : at;
}

/** Runs the command on every sample with every range; `inside` are the members that it must leave in the range. */
function itEquals(
  suite: Suite,
  reply: (before: number, after: number) => unknown,
  inside: (start: number, end: number, held: ReadonlySet<Member>) => Member[],
): void {
  const { run, roar, family, server, protocol } = suite;

  it.skipIf(protocol === 3)("changes every kind of container as the model does", async () => {
    for (const [name, members] of Object.entries(samples(family))) {
      await roar.load("sample", members);
      for (const [start, end] of ranges) {
        const from = firstNotBelow(start, members), to = firstNotBelow(end, members), what = `${name} ${start} ${end}`;
        const after = [...members.slice(0, from), ...inside(start, end, new Set(members.slice(from, to))), ...members.slice(to)];
        await server.run("COPY", "sample", "k", "REPLACE");
        expect(await run("k", start, end), what).toEqual(reply(members.length, after.length));
        expect(await roar.run("BITCOUNT", "k"), what).toBe(after.length);
        expectEqual(await roar.members("k"), after, what);
      }
    }
  });
}

describeCommand("SETRANGE", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key, even for an empty range", async () => {
    expect(await run("k", 3, 6)).toBe("OK");
    expect(await roar.members("k")).toEqual([3, 4, 5]);
    expect(await run("empty", 3, 3)).toBe("OK");
    expect(await server.run("EXISTS", "empty")).toBe(1);
    expect(await roar.members("empty")).toEqual([]);
  });

  itEquals(suite, () => "OK", (start, end) => range(start, end - start));

  it("accepts ranges up to the last offset", async () => {
    expect(await run("k", 10, family.last)).toBe("OK");
    expect(await roar.run("MAX", "k")).toEqual(asReply(member(family.last - 1n)));
    expect(await run("k", 10, family.last + 1n)).toBe("OK");
    expect(await roar.run("BITCOUNT", "k")).toEqual(asReply(member(family.last - 9n)));
    expect(await roar.run("MAX", "k")).toEqual(asReply(member(family.last)));
    expect(await run("k", 0, family.last + 1n)).toBe("OK");
    expect(await roar.run("BITCOUNT", "k")).toEqual(offsetCount(family));
    expect(await server.usage("k")).toBeLessThan(1000);
  });

  it.skipIf(family.bits === 32)("accepts the greatest end with a plus sign and leading zeros", async () => {
    for (const end of ["+18446744073709551616", "00018446744073709551616", "+0018446744073709551616"]) {
      await server.run("DEL", "k");
      expect(await run("k", family.last, end)).toBe("OK");
      expect(await roar.members("k")).toEqual([family.last]);
    }
  });

  it("raises events and propagates only when something changes", async () => {
    const change = (start: string, end: string) => oneChange("setbit", name, "k", start, end);
    expect(await effects(() => run("k", 5, 5))).toEqual(change("5", "5"));
    expect(await effects(() => run("k", 5, 5))).toEqual(noEffects);
    expect(await effects(() => run("k", 5, 9))).toEqual(change("5", "9"));
    expect(await effects(() => run("k", 6, 9))).toEqual(noEffects);
    expect(await effects(() => run("k", 6, 10))).toEqual(change("6", "10"));
  });

  itWrites(suite, { arity: 4, call: ["k", 1, 4], bad: badRanges(family) });
});

describeCommand("CLEARRANGE", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("is 0 for a missing key and does not create it", async () => {
    expect(await run("none", 0, 10)).toBe(0);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  itEquals(suite, (before, after) => before - after, () => []);

  it("clears ranges of a full bitmap", async () => {
    await roar.run("SETFULL", "k");
    expect(await run("k", 7, family.last)).toEqual(asReply(member(family.last - 7n)));
    expect(await roar.members("k")).toEqual([...range(0, 7), member(family.last)]);
    await roar.run("SETFULL", "all");
    expect(await run("all", 7, family.last + 1n)).toEqual(asReply(member(family.last - 6n)));
    expect(await roar.members("all")).toEqual(range(0, 7));
    await roar.run("SETFULL", "none");
    expect(await run("none", 0, family.last + 1n)).toEqual(offsetCount(family));
    expect(await roar.members("none")).toEqual([]);
  });

  it("raises events and propagates only when something changes", async () => {
    await roar.load("k", [5, 9]);
    expect(await effects(() => run("k", 6, 9))).toEqual(noEffects);
    expect(await effects(() => run("k", 5, 5))).toEqual(noEffects);
    expect(await effects(() => run("none", 0, 9), "none")).toEqual(noEffects);
    expect(await effects(() => run("k", 0, 9))).toEqual(oneChange("setbit", name, "k", "0", "9"));
  });

  itFrees(suite, ["k", SUPERFLUOUS[0]!, family.last], { arity: 4, call: ["k", 5, 9], bad: badRanges(family) });
});

describeCommand("FLIPRANGE", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key, even for an empty range", async () => {
    expect(await run("k", 3, 6)).toBe(3);
    expect(await roar.members("k")).toEqual([3, 4, 5]);
    expect(await run("empty", 3, 3)).toBe(0);
    expect(await server.run("EXISTS", "empty")).toBe(1);
  });

  itEquals(suite, (_, after) => after, (start, end, held) => range(start, end - start).filter((m) => !held.has(m)));

  it("flips the whole range and restores it when applied again", async () => {
    await roar.load("k", [5, 70_000]);
    const end = family.last + 1n;
    expect(await run("k", 0, end)).toEqual(asReply(member(family.last - 1n)));
    expect(await run("k", 0, end)).toBe(2);
    expect(await roar.members("k")).toEqual([5, 70_000]);
    await roar.run("SETFULL", "full");
    expect(await run("full", 3, 3)).toEqual(offsetCount(family));
    expect(await run("full", 0, end)).toBe(0);
    expect(await run("full", 0, end)).toEqual(offsetCount(family));
  });

  it("flips everything but lone members far apart", async () => {
    const powers = [0, ...range(16, 6, 8)].filter((power) => power < family.bits), all = family.last + 1n;
    const members = powers.map((power) => 2n ** BigInt(power));
    await roar.load("k", members.map(member));
    expect(await run("k", 0, all)).toEqual(asReply(member(all - BigInt(members.length))));
    for (const one of members) {
      expect(await roar.run("GETBITS", "k", one - 1n, one, one + 1n), String(one)).toEqual([1, 0, 1]);
    }
    expect(await run("k", 0, all)).toBe(members.length);
    expect(await roar.members("k")).toEqual(members.map(member));
  });

  it("raises events and propagates only when something changes", async () => {
    await roar.load("k", [5, 9]);
    const change = oneChange("setbit", name, "k", "0", "9");
    expect(await effects(() => run("k", 0, 9))).toEqual(change);
    expect(await effects(() => run("k", 5, 5))).toEqual(noEffects);
  });

  itWrites(suite, { arity: 4, call: ["k", 5, 5], bad: badRanges(family) });
});

describeCommand("SETFULL", (suite) => {
  const { run, roar, family, server, effects, refusal, name } = suite;
  const EXISTS = "Roaring: key already exist";

  it("creates a bitmap of every offset in less than 1 kB, which survives a reload", async () => {
    expect(await run("k")).toBe("OK");
    expect(await roar.run("BITCOUNT", "k")).toEqual(offsetCount(family));
    expect(await roar.run("GETBITS", "k", 0, 12_345_678, family.last)).toEqual([1, 1, 1]);
    expect(await server.usage("k")).toBeLessThan(1000);
    await server.run("DEBUG", "RELOAD");
    expect(await roar.run("BITCOUNT", "k")).toEqual(offsetCount(family));
    expect(await roar.run("BITPOS", "k", 0)).toBe(-1);
  });

  it("refuses an existing key, even an empty one", async () => {
    await roar.load("k", []);
    expect(await refusal("k")).toBe(EXISTS);
    expect(await effects(() => refusal("k"))).toEqual(noEffects);
    expect(await roar.members("k")).toEqual([]);
  });

  it("raises a set event and propagates the call", async () => {
    expect(await effects(() => run("k"))).toEqual(oneChange("set", name, "k"));
  });

  it("refuses a string key with WRONGTYPE", async () => {
    await server.run("SET", "k", "a string");
    expect(await refusal("k")).toBe(WRONGTYPE);
  });

  itMindsMemory(suite, "write", ["k"]);
  itDeclares(suite, { arity: 2, flags: ["write", "denyoom"], keys: [keyAt(1, "RW")], call: ["k"] });
  itRefuses(suite, { arity: 2, call: ["k"] });
});
