// Queries by order: MIN, MAX, RANK, SELECT, RANGE, RANGES, COUNTS, SCAN.

import { expect, it } from "vitest";
import { badOffsets, itFindsNothing, itReads, refusals } from "../support/contract.ts";
import { asReply, fromReply, type Member, member, offsetCount } from "../support/family.ts";
import { replies } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { describeCommand, expectEqual, NOT_AN_INTEGER, type Suite, SYNTAX } from "../support/suite.ts";
import type { Reply } from "../support/resp.ts";

/** The first and last offset, and offsets at, before and after some members. */
const around = (members: readonly Member[], last: bigint): bigint[] => {
  const some = [0, 1, members.length >> 1, members.length - 1].flatMap((i) => (members[i] === undefined ? [] : [BigInt(members[i])]));
  return [...new Set([0n, last, ...some.flatMap((m) => [m - 1n, m, m + 1n])])].filter((m) => m >= 0n && m <= last);
};

for (const [command, at] of [["MIN", 0], ["MAX", -1]] as const) {
  const body = (suite: Suite) => {
    const { run, roar, family } = suite;

    itFindsNothing(suite, -1, ["k"]);

    it(command === "MIN" ? "returns the least member" : "returns the greatest member", async () => {
      for (const members of Object.values(samples(family))) {
        await roar.load("k", members);
        expect(await run("k")).toEqual(members.length ? asReply(members.at(at)!) : -1);
      }
      await roar.run("SETFULL", "full");
      expect(await run("full")).toEqual(at === 0 ? 0 : asReply(member(family.last)));
    });

    itReads(suite, { arity: 2, flags: ["fast"], call: ["k"] });
  };
  if (command === "MIN") describeCommand("MIN", body);
  else describeCommand("MAX", body);
}

describeCommand("RANK", (suite) => {
  const { run, roar, family } = suite;

  itFindsNothing(suite, 0, ["k", 7], ["k", family.last]);

  it("counts the members up to and including the offset", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      for (const offset of around(members, family.last)) {
        expect(await run("k", offset), `${offset}`).toBe(members.filter((m) => m <= offset).length);
      }
    }
    await roar.run("SETFULL", "full");
    expect(await run("full", family.last)).toEqual(offsetCount(family));
    expect(await run("full", family.last - 1n)).toEqual(asReply(member(family.last)));
  });

  itReads(suite, {
    arity: 3,
    flags: ["fast"],
    call: ["k", 2],
    bad: badOffsets(family, "offset", (bad) => [["k", bad]]),
  });
});

describeCommand("SELECT", (suite) => {
  const { run, roar, family } = suite;

  it("is nil for a missing key and for ranks past either end", async () => {
    expect(await run("none", 0)).toBeNull();
    await roar.load("k", [5, 6]);
    expect([await run("k", 2), await run("k", -3), await run("k", "18446744073709551615")]).toEqual([null, null, null]);
    await roar.load("empty", []);
    expect([await run("empty", 0), await run("empty", -1)]).toEqual([null, null]);
  });

  it("returns the member at a rank, counted from the end if the rank is negative", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      const size = members.length, ranks = [0, 1, 2, size >> 1, size - 2, size - 1, -1, -2, -size];
      for (const rank of ranks.filter((r) => members.at(r) !== undefined)) {
        expect(await run("k", rank), `${rank}`).toEqual(asReply(members.at(rank)!));
      }
    }
    await roar.run("SETFULL", "full");
    expect(await run("full", family.last)).toEqual(asReply(member(family.last)));
    expect(await run("full", -1)).toEqual(asReply(member(family.last)));
  });

  itReads(suite, {
    arity: 3,
    flags: ["fast"],
    call: ["k", 1],
    bad: refusals(["", "x", "1.0", " 1", "--1", "+1", "01", "-0", "18446744073709551616"], NOT_AN_INTEGER, (bad) => [["k", bad]]),
  });
});

describeCommand("RANGE", (suite) => {
  const { run, roar, family, refusal } = suite;

  itFindsNothing(suite, [], ["k", 0, family.last]);

  it("returns the members from min to max, with LIMIT only the first of them", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      const ends = around(members, family.last);
      for (const min of ends) {
        for (const max of ends) {
          const expected = replies(members.filter((m) => m >= min && m <= max));
          expectEqual(await run("k", min, max), expected, `${min} ${max}`);
          expect(await run("k", min, max, "limit", 2)).toEqual(expected.slice(0, 2));
          expectEqual(await run("k", min, max, "rev"), expected.toReversed(), `${min} ${max} REV`);
          expect(await run("k", min, max, "limit", 3, "REV")).toEqual(expected.slice(-3).reverse());
        }
      }
    }
    expect(await run("k", 0, family.last, "LIMIT", 0)).toEqual([]);
    expect(await run("k", 0, family.last, "REV", "LIMIT", 0)).toEqual([]);
  });

  it("returns the last of many members with REV, also those of a full bitmap", async () => {
    await roar.run("SETFULL", "k");
    const { last } = family;
    const down = (from: bigint, count: number): Reply[] => replies(Array.from({ length: count }, (_, i) => member(from - BigInt(i))));
    expectEqual(await run("k", 0, last, "REV", "LIMIT", 10_000), down(last, 10_000));
    expectEqual(await run("k", 5, last - 1n, "REV", "LIMIT", 3), down(last - 1n, 3));
    expectEqual(await run("k", 0, 70_000, "REV"), down(70_000n, 70_001));
    expect(await refusal("k", 0, last, "REV")).toMatch(/reply too large/);
  });

  it("refuses a reply of more than 100,000,000 members", async () => {
    await roar.run("SETFULL", "k");
    expect(await refusal("k", 0, 100_000_000)).toMatch(/reply too large/);
    expect(await refusal("k", 0, family.last)).toMatch(/reply too large/);
    expect(await run("k", 0, family.last, "LIMIT", 2)).toEqual([0, 1]);
    expect(await run("k", family.last - 1n, family.last)).toEqual(replies([family.last - 1n, family.last].map(member)));
  });

  itReads(suite, {
    arity: -4,
    call: ["k", 2, 9, "LIMIT", 3],
    bad: [
      ...badOffsets(family, "min", (bad) => [["k", bad, 1]]),
      ...badOffsets(family, "max", (bad) => [["k", 1, bad]]),
      ...[["LIMIT"], ["LIMITS", 1], ["x"], ["LIMIT", 1, 2], [1], ["REV", "REV"], ["REV", 1], ["LIMIT", 1, "LIMIT", 1], ["FROM", 1]]
        .map((more) => [["k", 1, 2, ...more], SYNTAX] as const),
      ...refusals(["x", "-1", "", "1.5", "18446744073709551616"], NOT_AN_INTEGER, (bad) => [["k", 1, 2, "LIMIT", bad], ["k", 1, 2, "REV", "LIMIT", bad]]),
    ],
  });
});

/** The runs of ascending members, as pairs in a reply. */
function runsOf(members: readonly Member[]): Reply[] {
  const runs: [Member, Member][] = [];
  for (const one of members) {
    const run = runs.at(-1);
    if (run && BigInt(run[1]) + 1n === BigInt(one)) run[1] = one;
    else runs.push([one, one]);
  }
  return runs.map(replies);
}

describeCommand("RANGES", (suite) => {
  const { run, roar, family, refusal, server } = suite;

  itFindsNothing(suite, [], ["k", 0, family.last]);

  it("returns the runs of members from min to max, with LIMIT only the first of them", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      const ends = around(members, family.last);
      for (const min of ends) {
        for (const max of ends) {
          const expected = runsOf(members.filter((m) => m >= min && m <= max));
          expect(await run("k", min, max), `${min} ${max}`).toEqual(expected);
          expect(await run("k", min, max, "limit", 2)).toEqual(expected.slice(0, 2));
        }
      }
    }
    expect(await run("k", 0, family.last, "LIMIT", 0)).toEqual([]);
  });

  it("returns runs over containers as one pair, and so all offsets of the family", async () => {
    const { last } = family, pair = (first: bigint, end: bigint): Reply[] => replies([first, end].map(member));
    await roar.run("SETFULL", "k");
    expect(await run("k", 0, last)).toEqual([pair(0n, last)]);
    expect(await run("k", 7, last - 1n)).toEqual([pair(7n, last - 1n)]);
    await roar.run("CLEARBITS", "k", 100_000, last - 65_536n);
    expect(await run("k", 0, last)).toEqual([pair(0n, 99_999n), pair(100_001n, last - 65_537n), pair(last - 65_535n, last)]);
    await roar.run("SETINTARRAY", "k", 65_535, 65_536, 131_071, 131_072, 131_073);
    expect(await run("k", 0, last)).toEqual([[65_535, 65_536], [131_071, 131_073]]);
  });

  it("refuses a reply above the limits before any of it is built, and counts a pair as two elements", async () => {
    await roar.load("k", Array.from({ length: 1000 }, (_, i) => 3 * i));
    await server.run("CONFIG", "SET", "redis-roar.reply-limit", 100);
    try {
      expect(await run("k", 0, 149)).toHaveLength(50);
      expect(await refusal("k", 0, 150)).toBe("ERR Roaring: reply too large: maximum 100 elements (redis-roar.reply-limit)");
      expect(await run("k", 0, family.last, "LIMIT", 50)).toHaveLength(50);
      expect(await refusal("k", 0, family.last)).toMatch(/reply too large/);
    } finally {
      await server.run("CONFIG", "SET", "redis-roar.reply-limit", 100_000_000);
    }
  });

  itReads(suite, {
    arity: -4,
    call: ["k", 2, 9, "LIMIT", 3],
    bad: [
      ...badOffsets(family, "min", (bad) => [["k", bad, 1]]),
      ...badOffsets(family, "max", (bad) => [["k", 1, bad]]),
      ...[["LIMIT"], ["REV"], ["x"], ["LIMIT", 1, 2]].map((more) => [["k", 1, 2, ...more], SYNTAX] as const),
      ...refusals(["x", "-1", "1.5"], NOT_AN_INTEGER, (bad) => [["k", 1, 2, "LIMIT", bad]]),
    ],
  });
});

describeCommand("COUNTS", (suite) => {
  const { run, roar, family, refusal } = suite;

  itFindsNothing(suite, [0, 0], ["k", 2, 0, family.last, 7, 7]);

  it("counts the members in each range, in the order of the ranges", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      const ends = around(members, family.last), ranges = ends.flatMap((min) => ends.map((max) => [min, max] as const));
      const expected = ranges.map(([min, max]) => members.filter((m) => m >= min && m <= max).length);
      expect(await run("k", ranges.length, ...ranges.flat())).toEqual(expected);
    }
  });

  it("counts all offsets of a full bitmap", async () => {
    await roar.run("SETFULL", "k");
    const { last } = family;
    expect(await run("k", 4, 0, last, 1, last, 9, 3, last, last)).toEqual([offsetCount(family), asReply(member(last)), 0, 1]);
  });

  it("refuses a number that is not that of the ranges", async () => {
    const odd = "ERR syntax error: numranges is not the number of ranges";
    for (const args of [[2, 0, 9], [1, 0], [1, 0, 9, 5], [1, 0, 9, 5, 6], [4_294_967_295, 0, 1]]) expect(await refusal("k", ...args)).toBe(odd);
    for (const bad of ["0", "-1", "x", "", "01", "4294967296"]) expect(await refusal("k", bad, 0, 9)).toBe("ERR numranges should be greater than 0");
  });

  itReads(suite, {
    arity: -4,
    call: ["k", 2, 2, 9, 5, 7],
    bad: [
      ...badOffsets(family, "min", (bad) => [["k", 1, bad, 1], ["k", 2, 0, 1, bad, 1]]),
      ...badOffsets(family, "max", (bad) => [["k", 1, 1, bad]]),
    ],
  });
});

describeCommand("SCAN", (suite) => {
  const { run, roar, family } = suite;

  const scan = async (...options: (string | number)[]): Promise<Member[]> => {
    const seen: Member[] = [];
    let cursor = "0";
    do {
      const [next, members] = (await run("k", cursor, ...options)) as [string, Reply[]];
      seen.push(...members.map(fromReply));
      cursor = next;
    } while (cursor !== "0");
    return seen;
  };

  itFindsNothing(suite, ["0", []], ["k", 0], ["k", 5]);

  it("returns every member in steps of ten, or of COUNT", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      expectEqual(await scan("COUNT", 997), members);
      if (members.length < 5000) expectEqual(await scan(), members);
    }
    await roar.load("k", [1, 2, 3]);
    expect(await run("k", 0, "count", 2)).toEqual(["3", [1, 2]]);
    expect(await run("k", 0, "COUNT", 3)).toEqual(["0", [1, 2, 3]]);
    expect(await run("k", 2, "COUNT", "18446744073709551615")).toEqual(["0", [2, 3]]);
    await roar.run("SETFULL", "full");
    const near = family.last - 1n;
    expect(await run("full", near, "COUNT", 1)).toEqual([family.last.toString(), [asReply(member(near))]]);
    expect(await run("full", family.last)).toEqual(["0", [asReply(member(family.last))]]);
    expect(await run("full", 0)).toEqual(["10", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it("returns every member that is present throughout, whatever is written between calls", async () => {
    await roar.load("k", [10, 20, 30, 40]);
    expect(await run("k", 0, "COUNT", 2)).toEqual(["30", [10, 20]]);
    await roar.run("CLEARBITS", "k", 30);
    await roar.run("SETBITS", "k", 5, 35);
    expect(await run("k", 30, "COUNT", 2)).toEqual(["0", [35, 40]]);
  });

  itReads(suite, {
    arity: -3,
    call: ["k", 0, "COUNT", 3],
    bad: [
      ...badOffsets(family, "cursor", (bad) => [["k", bad]]),
      ...[["COUNT"], ["COUNTS", 1], ["COUNT", 1, 2], ["COUNT", 0], [1]].map((more) => [["k", 0, ...more], SYNTAX] as const),
      ...refusals(["x", "-1", "", "1.5"], NOT_AN_INTEGER, (bad) => [["k", 0, "COUNT", bad]]),
    ],
  });
});
