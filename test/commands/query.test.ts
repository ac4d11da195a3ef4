// Queries by order: MIN, MAX, RANK, SELECT, RANGE, SCAN.

import { expect, it } from "vitest";
import { asReply, fromReply, type Member, member, notOffsets } from "../support/family.ts";
import { noEffects } from "../support/observer.ts";
import { replies } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import {
  describeCommand, expectEqual, itDeclares, itMindsMemory, itRefuses, itRunsEverywhere, NOT_AN_INTEGER, offsetError, type Suite, SYNTAX,
} from "../support/suite.ts";
import type { Reply } from "../support/resp.ts";

const KEY = [{ first: 1, last: 1, access: "RO" }] as const;

/** The first and last offset, and offsets at, before and after some members. */
const around = (members: readonly Member[], last: bigint): bigint[] => {
  const some = [0, 1, members.length >> 1, members.length - 1].flatMap((i) => (members[i] === undefined ? [] : [BigInt(members[i])]));
  return [...new Set([0n, last, ...some.flatMap((m) => [m - 1n, m, m + 1n])])].filter((m) => m >= 0n && m <= last);
};

function itOnlyReads({ run, roar, effects }: Suite, args: (string | number)[]): void {
  it("has no side effects", async () => {
    await roar.load("k", [1, 2, 3]);
    expect(await effects(() => run("k", ...args))).toEqual(noEffects);
    expect(await effects(() => run("none", ...args), "none")).toEqual(noEffects);
  });
}

for (const [command, at] of [["MIN", 0], ["MAX", -1]] as const) {
  const body = (suite: Suite) => {
    const { run, roar, family } = suite;

    it("is -1 for a missing key and for an empty one", async () => {
      expect(await run("none")).toBe(-1);
      await roar.load("empty", []);
      expect(await run("empty")).toBe(-1);
    });

    it(command === "MIN" ? "returns the least member" : "returns the greatest member", async () => {
      for (const members of Object.values(samples(family))) {
        await roar.load("k", members);
        expect(await run("k")).toEqual(members.length ? asReply(members.at(at)!) : -1);
      }
      await roar.run("SETFULL", "full");
      expect(await run("full")).toEqual(at === 0 ? 0 : asReply(member(family.last)));
    });

    itOnlyReads(suite, []);
    itRunsEverywhere(suite, ["k"]);
    itMindsMemory(suite, "read", ["k"]);
    itDeclares(suite, { arity: 2, flags: ["readonly", "fast"], keys: KEY, call: ["k"], keysInCall: ["k"] });
    itRefuses(suite, { arity: [[], ["k", 1]], bad: [], good: ["k"] });
  };
  if (command === "MIN") describeCommand("MIN", body);
  else describeCommand("MAX", body);
}

describeCommand("RANK", (suite) => {
  const { run, roar, family } = suite;

  it("is 0 for a missing key and for an empty one", async () => {
    expect(await run("none", 7)).toBe(0);
    await roar.load("empty", []);
    expect(await run("empty", family.last)).toBe(0);
  });

  it("counts the members up to and including the offset", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      for (const offset of around(members, family.last)) {
        expect(await run("k", offset), `${offset}`).toBe(members.filter((m) => m <= offset).length);
      }
    }
    await roar.run("SETFULL", "full");
    expect(await run("full", family.last)).toEqual(family.bits === 32 ? 2 ** 32 : "18446744073709551616");
    expect(await run("full", family.last - 1n)).toEqual(asReply(member(family.last)));
  });

  itOnlyReads(suite, [2]);
  itRunsEverywhere(suite, ["k", 2]);
  itMindsMemory(suite, "read", ["k", 2]);
  itDeclares(suite, { arity: 3, flags: ["readonly", "fast"], keys: KEY, call: ["k", 1], keysInCall: ["k"] });
  itRefuses(suite, {
    arity: [[], ["k"], ["k", 1, 2]],
    bad: notOffsets(family).map((bad) => [["k", bad], offsetError(family, "offset")] as const),
    good: ["k", 1],
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

  itOnlyReads(suite, [1]);
  itRunsEverywhere(suite, ["k", 1]);
  itMindsMemory(suite, "read", ["k", 0]);
  itDeclares(suite, { arity: 3, flags: ["readonly", "fast"], keys: KEY, call: ["k", 1], keysInCall: ["k"] });
  itRefuses(suite, {
    arity: [[], ["k"], ["k", 1, 2]],
    bad: ["", "x", "1.0", " 1", "--1", "+1", "01", "-0", "18446744073709551616"].map((bad) => [["k", bad], NOT_AN_INTEGER] as const),
    good: ["k", 1],
  });
});

describeCommand("RANGE", (suite) => {
  const { run, roar, family, refusal } = suite;

  it("is empty for a missing key and for an empty one", async () => {
    expect(await run("none", 0, family.last)).toEqual([]);
    await roar.load("empty", []);
    expect(await run("empty", 0, family.last)).toEqual([]);
  });

  it("returns the members from min to max, with LIMIT only the first of them", async () => {
    for (const members of Object.values(samples(family))) {
      await roar.load("k", members);
      const ends = around(members, family.last);
      for (const min of ends) {
        for (const max of ends) {
          const expected = replies(members.filter((m) => m >= min && m <= max));
          expectEqual(await run("k", min, max), expected, `${min} ${max}`);
          expect(await run("k", min, max, "limit", 2)).toEqual(expected.slice(0, 2));
        }
      }
    }
    expect(await run("k", 0, family.last, "LIMIT", 0)).toEqual([]);
  });

  it("refuses a reply of more than 100,000,000 members", async () => {
    await roar.run("SETFULL", "k");
    expect(await refusal("k", 0, 100_000_000)).toMatch(/reply too large/);
    expect(await refusal("k", 0, family.last)).toMatch(/reply too large/);
    expect(await run("k", 0, family.last, "LIMIT", 2)).toEqual([0, 1]);
    expect(await run("k", family.last - 1n, family.last)).toEqual(replies([family.last - 1n, family.last].map(member)));
  });

  itOnlyReads(suite, [0, 9]);
  itRunsEverywhere(suite, ["k", 2, 9]);
  itMindsMemory(suite, "read", ["k", 0, 9]);
  itDeclares(suite, { arity: -4, flags: ["readonly"], keys: KEY, call: ["k", 1, 2, "LIMIT", 3], keysInCall: ["k"] });
  itRefuses(suite, {
    arity: [[], ["k"], ["k", 1]],
    bad: [
      ...notOffsets(family).flatMap((bad) =>
        [[["k", bad, 1], offsetError(family, "min")], [["k", 1, bad], offsetError(family, "max")]] as const),
      ...[["LIMIT"], ["LIMITS", 1], ["x"], ["LIMIT", 1, 2], [1]].map((more) => [["k", 1, 2, ...more], SYNTAX] as const),
      ...["x", "-1", "", "1.5", "18446744073709551616"].map((bad) => [["k", 1, 2, "LIMIT", bad], NOT_AN_INTEGER] as const),
    ],
    good: ["k", 1, 2],
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

  it("ends at once for a missing key and for an empty one", async () => {
    expect(await run("none", 0)).toEqual(["0", []]);
    expect(await run("none", 5)).toEqual(["0", []]);
    await roar.load("empty", []);
    expect(await run("empty", 0)).toEqual(["0", []]);
  });

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

  itOnlyReads(suite, [0]);
  itRunsEverywhere(suite, ["k", 0]);
  itMindsMemory(suite, "read", ["k", 0]);
  itDeclares(suite, { arity: -3, flags: ["readonly"], keys: KEY, call: ["k", 0, "COUNT", 3], keysInCall: ["k"] });
  itRefuses(suite, {
    arity: [[], ["k"]],
    bad: [
      ...notOffsets(family).map((bad) => [["k", bad], offsetError(family, "cursor")] as const),
      ...[["COUNT"], ["COUNTS", 1], ["COUNT", 1, 2], ["COUNT", 0], [1]].map((more) => [["k", 0, ...more], SYNTAX] as const),
      ...["x", "-1", "", "1.5"].map((bad) => [["k", 0, "COUNT", bad], NOT_AN_INTEGER] as const),
    ],
    good: ["k", 0],
  });
});
