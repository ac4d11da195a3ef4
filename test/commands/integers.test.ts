// RI.*: what commands reply for missing keys, what they refuse, and what they do besides. test/model/integers.test.ts compares meanings.

import { describe, expect, it } from "vitest";
import { integers } from "../../host/table/integers.ts";
import { NO_KEY, NOT_AN_INTEGER, SYNTAX, useServer, WRONGTYPE } from "../support/suite.ts";
import type { Argument } from "../support/resp.ts";

const server = useServer();
const run = (...command: Argument[]) => server.run(...(command as [string, ...Argument[]]));
const refusal = (...command: Argument[]) => server.connection.refusal(...(command as [string, ...Argument[]]));

describe("RI.* on a missing key", () => {
  it.each([
    [["RI.GET", "none", 1], null], [["RI.MGET", "none", 1, 2], [null, null]], [["RI.DEL", "none", 1], 0],
    [["RI.DELRANGE", "none", "-inf", "+inf"], 0], [["RI.CARD", "none"], 0], [["RI.COUNT", "none", 0, 10], 0],
    [["RI.SUM", "none"], [0, 0]], [["RI.RANK", "none", 1], null], [["RI.RANGE", "none", 0, -1], []],
    [["RI.QUANTILE", "none", 0.5], [null]], [["RI.HISTOGRAM", "none"], []], [["RI.HISTOGRAM", "none", "EDGES", 1, 5], [0, 0]],
    [["RI.SCAN", "none", 0], ["0", []]],
  ])("%j replies %j", async (command, reply) => {
    expect(await run(...command)).toEqual(reply);
    expect(await run("EXISTS", "none")).toBe(0);
  });

  it("OPTIMIZE is an error", async () => expect(await refusal("RI.OPTIMIZE", "none")).toBe(NO_KEY));

  it("SET XX creates nothing, and a refused INCRBY neither", async () => {
    expect(await run("RI.SET", "k", "XX", 1, 2)).toBe(0);
    expect(await run("EXISTS", "k")).toBe(0);
  });
});

describe("RI.* refuses", () => {
  const BOUND = "ERR min or max is not an integer";
  it.each([
    [["RI.SET", "k"], "ERR wrong number of arguments for 'RI.SET' command"], [["RI.SET", "k", 1, 2, 3], SYNTAX],
    [["RI.SET", "k", "x", 2], "ERR invalid id: must be an unsigned 64 bit integer"], [["RI.SET", "k", 1, "x"], NOT_AN_INTEGER],
    [["RI.SET", "k", 1, "9223372036854775808"], NOT_AN_INTEGER],
    [["RI.SET", "k", "NX", "XX", 1, 2], "ERR XX and NX options at the same time are not compatible"],
    [["RI.SET", "k", "GT", "LT", 1, 2], "ERR GT, LT, and/or NX options at the same time are not compatible"],
    [["RI.SET", "k", "NX", "GT", 1, 2], "ERR GT, LT, and/or NX options at the same time are not compatible"],
    [["RI.INCRBY", "k", 1, 1.5], NOT_AN_INTEGER], [["RI.COUNT", "k", "x", 1], BOUND], [["RI.COUNT", "k", 1, "(x"], BOUND],
    [["RI.COUNT", "k", 1, 2, "WITHIN"], SYNTAX], [["RI.COUNT", "k", 1, 2, "WITHIN", "#1", 2, "a"], "ERR Number of keys can't be greater than number of args"],
    [["RI.COUNT", "k", 1, 2, "WITHIN", "#2", 1, "a"], "ERR Roaring: query: there is no key of that number at character 2"],
    [["RI.RANGE", "k", 0, 1, "LIMIT", 0, 1], "ERR syntax error, LIMIT is only supported in combination with BYVALUE"],
    [["RI.RANGE", "k", 0, "x"], NOT_AN_INTEGER], [["RI.QUANTILE", "k", 1.5], "ERR Roaring: a quantile is a number from 0 to 1"],
    [["RI.HISTOGRAM", "k", "EDGES", 2, 5, 5], "ERR Roaring: edges must ascend"], [["RI.HISTOGRAM", "k", "EDGES", 2, 5], SYNTAX],
    [["RI.SCAN", "k", "x"], "ERR invalid cursor: must be an unsigned 64 bit integer"], [["RI.SCAN", "k", 0, "COUNT", 0], SYNTAX],
  ])("%j", async (command, error) => {
    await run("RI.SET", "k", 1, 1);
    expect(await refusal(...command)).toBe(error);
    expect(await run("RI.RANGE", "k", 0, -1, "WITHVALUES")).toEqual([1, 1]);
  });

  it("keys of other types, and the others refuse its keys", async () => {
    await run("RI.SET", "k", 1, 1);
    await run("R.SETBIT", "b", 1, 1);
    await run("SET", "s", "x");
    for (const key of ["b", "s"]) {
      for (const [command, ...rest] of [["RI.SET", key, 1, 1], ["RI.GET", key, 1], ["RI.CARD", key], ["RI.SUM", key]]) {
        expect(await refusal(command!, ...rest)).toBe(WRONGTYPE);
      }
    }
    for (const command of [["R.SETBIT", "k", 1, 1], ["R64.GETBIT", "k", 1], ["R.EXPORT", "k"], ["R64.BITOP", "OR", "d", "k"], ["GET", "k"]]) {
      expect(await refusal(...command)).toBe(WRONGTYPE);
    }
  });
});

describe("RI.*", () => {
  it("adds up beyond 64 bits, and has a mean", async () => {
    await run("RI.SET", "k", 1, "9223372036854775807", 2, "9223372036854775807");
    expect(await run("RI.SUM", "k")).toEqual([2, "18446744073709551614"]);
    await run("RI.SET", "k", 1, "-9223372036854775808", 2, "-9223372036854775808", 3, -1);
    expect(await run("RI.SUM", "k")).toEqual([3, "-18446744073709551617"]);
    expect(await server.speaking(2).run("RI.STATS", "k")).toHaveLength(10);
    expect(await server.speaking(3).run("RI.STATS", "k")).toBeInstanceOf(Map);
  });

  it("deletes a key without ids, keeps the TTL otherwise, and raises events", async () => {
    await run("RI.SET", "k", 1, 1, 2, 2);
    await run("EXPIRE", "k", 1000);
    await run("RI.DEL", "k", 1);
    expect(await run("TTL", "k")).toBeGreaterThan(0);
    await run("RI.DELRANGE", "k", "-inf", "+inf");
    expect(await run("EXISTS", "k")).toBe(0);
  });

  it("reports the keys of WITHIN", async () => {
    expect(await run("COMMAND", "GETKEYS", "RI.SUM", "k", "WITHIN", "#1 & #2", 2, "a", "b")).toEqual(["k", "a", "b"]);
    expect(await run("COMMAND", "GETKEYS", "RI.RANGE", "k", 0, 1, "REV")).toEqual(["k"]);
  });

  it.each(integers.flatMap(({ name, example }) => example.map((_, i) => [name, i] as const).slice(-1)))("replies as documented: %s", async (name) => {
    const { example } = integers.find((row) => row.name === name)!;
    for (const [command, printed] of example) {
      const reply = await run(...(command.split(" ") as [string]));
      const flat = [reply].flat(9).filter((item) => item !== null);
      for (const item of flat) expect(printed, command).toContain(String(item));
    }
  });
});

describe("comparisons in expressions", () => {
  it("are the ids for which they hold, in all commands with expressions", async () => {
    const age = new Map<number, number>(), level = new Map<number, number>(), vip = new Set<number>();
    for (let id = 0; id < 3000; id += 1 + id % 3) {
      age.set(id * 50, (id * 7919) % 90);
      if (id % 2) level.set(id * 50, (id * 31) % 90 - 10);
      if (id % 5 === 0) vip.add(id * 50);
    }
    await run("RI.SET", "age", ...[...age].flat());
    await run("RI.SET", "level", ...[...level].flat());
    await run("R.SETBITS", "vip", ...vip);
    await run("R64.SETBITS", "vip64", ...vip);
    const where = (has: (id: number) => boolean): number[] => [...age.keys()].filter(has).sort((a, b) => a - b);
    const of = (id: number): number => age.get(id)!;
    const cases: [string, string[], (id: number) => boolean][] = [
      ["#1 >= 18", ["age"], (id) => of(id) >= 18], ["#1 < 18", ["age"], (id) => of(id) < 18], ["#1>80", ["age"], (id) => of(id) > 80],
      ["#1 <= 0", ["age"], (id) => of(id) <= 0], ["#1 = 33", ["age"], (id) => of(id) === 33], ["#1 != 33", ["age"], (id) => of(id) !== 33],
      ["18 <= #1 < 30", ["age"], (id) => of(id) >= 18 && of(id) < 30], ["30 > #1", ["age"], (id) => of(id) < 30], ["#1", ["age"], () => true],
      ["#1 & #2 >= 18 & #2 < 65", ["vip", "age"], (id) => vip.has(id) && of(id) >= 18 && of(id) < 65],
      ["#2 - #1", ["vip", "age"], (id) => !vip.has(id)], ["#1 < #2", ["level", "age"], (id) => level.has(id) && level.get(id)! < of(id)],
      ["#1 >= #2", ["level", "age"], (id) => level.has(id) && level.get(id)! >= of(id)],
      ["#1 >= -5 & ~(#2 > 40)", ["level", "age"], (id) => level.has(id) && level.get(id)! >= -5 && of(id) <= 40],
      ["#1 < -100 | #1 > 88", ["age"], (id) => of(id) > 88], ["atleast(2, #1, #2 > 10, #2 > 20)", ["vip", "age"],
        (id) => Number(vip.has(id)) + Number(of(id) > 10) + Number(of(id) > 20) >= 2], ["#1 > 9223372036854775807", ["age"], () => false],
    ];
    for (const [expression, keys, has] of cases) {
      const members = where(has), call = [expression, keys.length, ...keys] as const;
      const wide = [expression, keys.length, ...keys.map((key) => (key === "vip" ? "vip64" : key))] as const;
      expect(await run("R.QUERY", ...call), expression).toBe(members.length);
      expect(await run("R64.QUERY", ...wide, "MEMBERS"), expression).toEqual(members);
      expect(await run("R.QUERY", ...call, "MEMBERS", "REV", "LIMIT", 5), expression).toEqual(members.slice(-5).reverse());
      expect(await run("R.QUERYSTORE", "d", ...call), expression).toBe(members.length);
      expect(await run("R.GETINTARRAY", "d"), expression).toEqual(members);
      expect(await run("R.FACET", ...call, 1, "vip"), expression).toEqual([members.filter((id) => vip.has(id)).length]);
      expect(await run("R.CROSSCARD", 1, "vip", 1, "vip", "WITHIN", ...call), expression).toEqual([[members.filter((id) => vip.has(id)).length]]);
      expect(await run("RI.COUNT", "level", "-inf", "+inf", "WITHIN", ...call), expression).toBe(members.filter((id) => level.has(id)).length);
    }
  });

  it("are refused where there are no values, and where they are incomplete", async () => {
    await run("R.SETBIT", "b", 1, 1);
    await run("RI.SET", "age", 1, 5);
    expect(await refusal("R.QUERY", "#1 & #2 > 5", 2, "age", "b")).toBe("ERR Roaring: query: #2 has no values at character 6");
    expect(await refusal("R.QUERY", "#1 < #2", 2, "age", "b")).toBe("ERR Roaring: query: #2 has no values at character 1");
    expect(await run("R.QUERY", "#1 > 5", 1, "none")).toBe(0);
    expect(await refusal("R.QUERY", "#1 >", 1, "age")).toBe("ERR Roaring: query: expected a number or a key to compare with at character 5");
    expect(await refusal("R.QUERY", "5 & #1", 1, "age")).toBe("ERR Roaring: query: expected an expression at character 1");
    expect(await refusal("R.QUERY", "5 < ~#1", 1, "age")).toBe("ERR Roaring: query: expected a comparison with a key at character 5");
    expect(await refusal("R.QUERY", "#1 > 9223372036854775808", 1, "age")).toBe("ERR Roaring: query: the number is too large at character 6");
  });
});
