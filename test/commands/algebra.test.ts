// Operations on two or more bitmaps: BITOPCARD, DIFF, CONTAINS, JACCARD.

import { expect, it } from "vitest";
import { itReads, itWrites, keyAt, refusals } from "../support/contract.ts";
import { type Member, member, notOffsets, offsetCount, otherThan, range } from "../support/family.ts";
import { combine, leastSources, operations } from "../support/model.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { roarOn } from "../support/roar.ts";
import { loadSources, sourceModel as model, sourceNames as names } from "../support/sources.ts";
import { arityError, describeCommand, lastError, NO_KEY, NOT_AN_INTEGER, type Suite, SYNTAX, WRONGTYPE } from "../support/suite.ts";

/** Both keys must exist and hold bitmaps of the family. */
function itNeedsBoth(suite: Suite): void {
  const { roar, family, server, refusal } = suite;

  it("refuses a missing key and a key of another type", async () => {
    await roar.load("a", [1]);
    await server.run("SET", "string", "s");
    await roarOn(server, otherThan(family)).load("other", [1]);
    for (const [keys, text] of [
      [["none", "a"], NO_KEY], [["a", "none"], NO_KEY], [["none", "none"], NO_KEY],
      [["string", "a"], WRONGTYPE], [["a", "string"], WRONGTYPE], [["other", "a"], WRONGTYPE], [["a", "other"], WRONGTYPE],
    ] as const) {
      expect(await refusal(...keys)).toBe(text);
    }
  });
}

describeCommand("BITOPCARD", (suite) => {
  const { run, roar, family, server, refusal, protocol, name } = suite;

  it("treats missing keys as empty bitmaps", async () => {
    for (const operation of operations) expect(await run(operation, "none", "none2")).toBe(0);
    expect(await run("NOT", "none")).toBe(0);
    expect(await run("NOT", "none", 9)).toBe(10);
  });

  it.skipIf(protocol === 3).each(operations)("%s counts the members that BITOP would store", async (operation) => {
    await loadSources(suite);
    const pairs = names.flatMap((a) => names.map((b) => [a, b])), alone = leastSources(operation) === 1 ? names.map((a) => [a]) : [];
    const lists = [...pairs, names, [...names].reverse(), ...alone];
    for (const keys of lists) expect(await run(operation, ...keys), keys.join(" ")).toBe(combine(operation, keys.map(model)).length);
  });

  it("NOT counts up to the greatest member, or up to a given last offset", async () => {
    await loadSources(suite);
    for (const key of names) {
      for (const last of [[], [0], [70_000], [4_294_967_295]]) {
        expect(await run("NOT", key, ...last)).toEqual(await roar.run("BITOP", "NOT", "d", key, ...last));
      }
    }
  });

  it.each([
    [["NOT", "a", 100], ["a"]],
    [["Not", "a"], ["a"]],
    [["NOT", "a", 1, 2], ["a"]],
    [["ORR", "a", 100], ["a", "100"]],
    [["OR", "NOT", 100], ["NOT", "100"]],
    [["OR", "LIMIT", 5, "a", "b"], ["a", "b"]],
    [["OR", "a", "LIMIT", "b"], ["a", "LIMIT", "b"]],
    [["NOT", "limit", 5, "a", 100], ["a"]],
  ])("has its keys found by COMMAND GETKEYS, and the `last` of NOT is none of them: %j", async (call, keys) => {
    expect(await server.run("COMMAND", "GETKEYS", name, ...call)).toEqual(keys);
  });

  it("counts up to and including the last offset", async () => {
    await roar.run("SETFULL", "full");
    await roar.run("SETFULL", "full2");
    const all = offsetCount(family);
    for (const [operation, reply] of [["AND", all], ["OR", all], ["XOR", 0], ["ONE", 0], ["DIFF", 0], ["ANDOR", all]] as const) {
      expect(await run(operation, "full", "full2"), operation).toEqual(reply);
    }
    expect(await run("DIFF1", "none", "full")).toEqual(all);
    expect(await run("NOT", "none", family.last)).toEqual(all);
    expect(await run("NOT", "full")).toBe(0);
  });

  it.skipIf(protocol === 3)("counts up to a LIMIT; 0 is none", async () => {
    await loadSources(suite);
    for (const operation of operations) {
      for (const keys of [names.slice(0, 2), names.slice(1, 3), names]) {
        const all = combine(operation, keys.map(model)).length;
        for (const most of [1, 2, all - 1, all, all + 1, 5000].filter((n) => n > 0)) {
          expect(await run(operation, "LIMIT", most, ...keys), `${operation} ${keys.join(" ")}`).toBe(Math.min(all, most));
        }
        expect(await run(operation, "limit", 0, ...keys)).toBe(all);
        expect(await run(operation, "LIMIT", "18446744073709551615", ...keys)).toBe(all);
      }
    }
    expect(await run("NOT", "LIMIT", 5, "none", 99)).toBe(5);
    expect(await run("NOT", "LIMIT", 0, "none", 99)).toBe(100);
    expect(await run("NOT", "LIMIT", 500, "none", 99)).toBe(100);
    await server.run("DEL", "full");
    await roar.run("SETFULL", "full");
    expect(await run("OR", "LIMIT", 7, "full", "none")).toBe(7);
    expect(await run("AND", "LIMIT", "18446744073709551615", "full", "full")).toEqual(family.bits === 32 ? 2 ** 32 : "18446744073709551615");
  });

  it("takes LIMIT behind the operation for the option, and for a key in any other place", async () => {
    await roar.load("LIMIT", [1, 2]);
    await roar.load("k", [2, 3, 4]);
    expect(await run("OR", "k", "LIMIT")).toBe(4);
    expect(await run("OR", "LIMIT", 3, "LIMIT", "k")).toBe(3);
    expect(await run("OR", "LIMIT", 3, "LIMIT")).toBe(2);
    for (const args of [["OR", "LIMIT"], ["OR", "LIMIT", 3], ["NOT", "LIMIT", 3], ["DIFF", "LIMIT", 3, "k"], ["NOT", "LIMIT", 3, "k", 9, 9]]) {
      expect(await refusal(...args), args.join(" ")).toBe(arityError(name));
    }
    await server.run("SET", "k", "x");
    for (const bad of ["", "x", "-1", "1.5", "k", "18446744073709551616"]) {
      expect(await refusal("OR", "LIMIT", bad, "k")).toBe(NOT_AN_INTEGER);
      expect(await refusal("NOT", "LIMIT", bad, "k", "x")).toBe(NOT_AN_INTEGER);
    }
    expect(await refusal("OR", "LIMIT", 1, "k")).toBe(WRONGTYPE);
  });

  it("refuses a source of another type", async () => {
    await server.run("SET", "string", "s");
    for (const operation of operations) expect(await refusal(operation, "k", "string")).toBe(WRONGTYPE);
    expect(await refusal("NOT", "string")).toBe(WRONGTYPE);
  });

  itReads(suite, {
    arity: -3,
    flags: ["movablekeys"],
    keys: [keyAt(2, "RO", -1)],
    call: ["OR", "k", "none"],
    miscounted: [...["DIFF", "DIFF1", "ANDOR"].map((operation) => [operation, "k"]), ["NOT", "k", 1, 2]],
    bad: [
      ...refusals(["NAND", "", "ORR"], SYNTAX, (bad) => [[bad, "k"]]),
      ...refusals([...notOffsets(family), "k"], lastError(family), (bad) => [["NOT", "k", bad]]),
    ],
  });
});

describeCommand("DIFF", (suite) => {
  const { run, roar, family, server, effects, refusal, name } = suite;

  it("stores the members of the first source that are not in the second", async () => {
    await loadSources(suite);
    for (const a of names) {
      for (const b of names) {
        expect(await run("d", a, b)).toBe("OK");
        expect(await roar.members("d"), `${a} ${b}`).toEqual(combine("DIFF", [model(a), model(b)]));
      }
    }
  });

  it("can store into a source, and drops the destination's TTL", async () => {
    await roar.load("a", [1, 2, 3]);
    await roar.load("b", [2]);
    await server.run("EXPIRE", "a", 1000);
    expect(await run("a", "a", "b")).toBe("OK");
    expect(await roar.members("a")).toEqual([1, 3]);
    expect(await server.run("TTL", "a")).toBe(-1);
    expect(await run("b", "a", "b")).toBe("OK");
    expect(await roar.members("b")).toEqual([1, 3]);
  });

  it("raises a set event for its destination and propagates the call", async () => {
    await roar.load("a", [1, 2]);
    expect(await effects(() => run("k", "a", "a"))).toEqual(oneChange("set", name, "k", "a", "a"));
  });

  it("refuses a missing source and keys of another type, and changes nothing", async () => {
    await roar.load("a", [1, 2]);
    await roar.load("k", [9]);
    for (const keys of [["none", "a"], ["a", "none"]]) {
      expect(await refusal("k", ...keys)).toBe(NO_KEY);
      expect(await effects(() => refusal("k", ...keys))).toEqual(noEffects);
    }
    await server.run("SET", "string", "s");
    expect(await refusal("string", "a", "a")).toBe(WRONGTYPE);
    expect(await refusal("k", "string", "a")).toBe(WRONGTYPE);
    expect(await refusal("k", "a", "string")).toBe(WRONGTYPE);
    expect(await roar.members("k")).toEqual([9]);
    await roarOn(server, otherThan(family)).load("other", [1]);
    expect(await refusal("other", "a", "a")).toBe(WRONGTYPE);
  });

  itWrites(suite, { arity: 4, keys: [keyAt(1, "RW"), keyAt(2, "RO"), keyAt(3, "RO")], call: ["d", "k", "k"] });
});

describeCommand("CONTAINS", (suite) => {
  const { run, roar } = suite;

  it("tests whether two bitmaps intersect, or one contains or equals the other", async () => {
    await loadSources(suite);
    await roar.load("part", range(100, 5000));
    const keys = [...names, "part"], of = (key: string) => (key === "part" ? new Set<Member>(range(100, 5000)) : model(key));
    for (const a of keys) {
      for (const b of keys) {
        const first = of(a), second = of(b), shared = [...second].filter((m) => first.has(m)).length;
        const all = shared === second.size, larger = second.size < first.size;
        const answers = [await run(a, b), await run(a, b, "ALL"), await run(a, b, "ALL_STRICT"), await run(a, b, "EQ")];
        const expected = [shared > 0, all, all && larger, all && second.size === first.size];
        expect(answers, `${a} ${b}`).toEqual(expected.map(Number));
      }
    }
  });

  it("handles bitmaps that hold every offset", async () => {
    await roar.run("SETFULL", "a");
    await roar.run("SETFULL", "b");
    const replies = [await run("a", "b"), await run("a", "b", "ALL"), await run("a", "b", "ALL_STRICT"), await run("a", "b", "EQ")];
    expect(replies).toEqual([1, 1, 0, 1]);
    await roar.run("SETBIT", "b", 123_456_789, 0);
    expect([await run("a", "b", "ALL_STRICT"), await run("a", "b", "EQ"), await run("b", "a", "ALL")]).toEqual([1, 0, 0]);
  });

  itNeedsBoth(suite);
  itReads(suite, {
    arity: -3,
    keys: [keyAt(1, "RO"), keyAt(2, "RO")],
    call: ["k", "k", "ALL"],
    miscounted: [["k", "k", "ALL", "EQ"]],
    bad: [
      ...["SOME", "", "ALL_", "E", "all", "Eq"].map((bad) => [["k", "k", bad], `ERR invalid mode argument: ${bad}`] as const),
      [["k", "k", "x\r\n+OK"], "ERR invalid mode argument: x  +OK"],
    ],
  });
});

describeCommand("JACCARD", (suite) => {
  const { run, roar, family } = suite;

  it.each([
    [[], [], "-1"],
    [[1], [], "0"],
    [[], [1], "0"],
    [[1, 2], [3], "0"],
    [[1, 70_000], [1, 70_000], "1"],
    [[1, 2, 3], [2, 3, 4], "0.5"],
    [[1, 2, 3, 4], [1], "0.25"],
    [range(0, 10), [3], "0.10000000000000001"],
    [range(0, 8), [3], "0.125"],
    [range(0, 512), [3], "0.001953125"],
    [range(0, 1024), [3], "0.0009765625"],
    [[1, 2], [2, 3], "0.33333333333333331"],
    [range(0, 3), range(0, 7), "0.42857142857142855"],
    [range(0, 100_000), range(50_000, 100_000), "0.33333333333333331"],
  ])("divides the intersection by the union: case %#", async (a, b, expected) => {
    await roar.load("a", a);
    await roar.load("b", b);
    const reply = expected === "0.10000000000000001" ? "0.1" : expected; // the ratio is exact in one digit
    expect(await run("a", "b")).toBe(reply);
    expect(await run("b", "a")).toBe(reply);
  });

  it("handles bitmaps that hold every offset", async () => {
    await roar.run("SETFULL", "a");
    await roar.run("SETFULL", "b");
    expect(await run("a", "b")).toBe("1");
    await roar.load("c", [member(family.last)]);
    expect(await run("a", "c")).toBe(family.bits === 32 ? "2.3283064365386963e-10" : "5.4210108624275222e-20");
  });

  itNeedsBoth(suite);
  itReads(suite, { arity: 3, keys: [keyAt(1, "RO"), keyAt(2, "RO")], call: ["k", "k"] });
});
