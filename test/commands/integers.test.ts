// RI.*: what commands reply for missing keys, what they refuse, and what they do besides. test/model/integers.test.ts compares meanings.

import { describe, expect, it } from "vitest";
import { integers } from "../../host/table/integers.ts";
import { NO_KEY, NOT_AN_INTEGER, SYNTAX, useServer, WRONGTYPE } from "../support/suite.ts";
import { range } from "../support/family.ts";
import { seeded } from "../support/random.ts";
import type { Argument, Command } from "../support/resp.ts";

const server = useServer();
const run = (...command: Argument[]) => server.run(...(command as [string, ...Argument[]]));
const refusal = (...command: Argument[]) => server.connection.refusal(...(command as [string, ...Argument[]]));

/** Calls of every command on key "k", without WITHIN, and the reply if the key is missing. */
const calls: Readonly<Record<string, readonly [call: Argument[], missing: unknown]>> = {
  SET: [["k", "NX", "CH", 1, 2], 1], INCRBY: [["k", 1, -5], -5], GET: [["k", 1], null], MGET: [["k", 1, 2], [null, null]], DEL: [["k", 1], 0],
  DELRANGE: [["k", "-inf", "+inf"], 0], CARD: [["k"], 0], COUNT: [["k", 0, 10], 0], SUM: [["k"], [0, 0]],
  STATS: [["k"], ["count", 0, "sum", 0, "min", null, "max", null, "mean", null]], RANK: [["k", 1], null], RANGE: [["k", 0, -1, "WITHVALUES"], []],
  QUANTILE: [["k", 0.5, 1], [null, null]], HISTOGRAM: [["k", "EDGES", 1, 5], [0, 0]], MERGE: [["d", 1, "k"], 0], SCAN: [["k", 0], ["0", []]],
  OPTIMIZE: [["k"], NO_KEY], STAT: [["k", "JSON"], null],
};
const names = integers.map(({ name }) => name);
const within = integers.filter(({ keys }) => keys.some(({ keyword }) => keyword)).map(({ name }) => name);
/** A map as RESP2 has it. */
const flat = (reply: unknown): unknown => (reply instanceof Map ? [...(reply as Map<unknown, unknown>)].flat() : reply);

describe.each([2, 3] as const)("in RESP%i, a missing key", (protocol) => {
  it.each(names)("of RI.%s counts as one without ids", async (name) => {
    const [call, missing] = calls[name]!, connection = server.speaking(protocol);
    for (const form of within.includes(name) ? [call, [...call, "WITHIN", "#1", 1, "none"]] : [call]) {
      if (name === "OPTIMIZE") expect(await connection.refusal(`RI.${name}`, ...form)).toBe(missing);
      else expect(flat(await connection.run(`RI.${name}`, ...form)), form.join(" ")).toEqual(missing);
    }
    expect(await run("EXISTS", "k", "d")).toBe(name === "SET" || name === "INCRBY" ? 1 : 0);
  });
});

it.each(names)("RI.%s refuses a key of another type, as a source of its ids too, and changes nothing", async (name) => {
  await run("R.SETBIT", "bitmap", 1, 1);
  await run("SET", "string", "x");
  await run("RI.SET", "k", 1, 2);
  for (const other of ["bitmap", "string"]) {
    expect(await refusal(`RI.${name}`, ...calls[name]![0].map((word) => (word === "k" ? other : word)))).toBe(WRONGTYPE);
  }
  if (within.includes(name)) expect(await refusal(`RI.${name}`, ...calls[name]![0], "WITHIN", "#1", 1, "string")).toBe(WRONGTYPE);
  expect([await run("RI.GET", "k", 1), await run("GET", "string"), await run("R.BITCOUNT", "bitmap"), await run("EXISTS", "d")]).toEqual([2, "x", 1, 0]);
});

it("SET XX creates nothing", async () => {
  expect(await run("RI.SET", "k", "XX", 1, 2)).toBe(0);
  expect(await run("EXISTS", "k")).toBe(0);
});

describe("RI.* refuses", () => {
  const BOUND = "ERR min or max is not an integer", ID = "ERR invalid id: must be an unsigned 64 bit integer";
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
    [["RI.COUNT", "k", 1, 2, 3], SYNTAX], [["RI.SUM", "k", "x"], SYNTAX], [["RI.RANK", "k", 1, "x"], SYNTAX], [["RI.RANK", "k", -1], ID],
    [["RI.GET", "k", "18446744073709551616"], ID], [["RI.DEL", "k", 1, "x"], ID], [["RI.MGET", "k", "x"], ID], [["RI.DELRANGE", "k", "+inf", "x"], BOUND],
    [["RI.SUM", "k", "WITHIN", "#1", 0, "k"], "ERR numkeys should be greater than 0"], [["RI.SUM", "k", "WITHIN", "#1", 1, "k", "more"], SYNTAX],
    [["RI.RANGE", "k", 0, 1, "REV", "x"], SYNTAX], [["RI.RANGE", "k", 0, 1, "BYVALUE", "LIMIT", 0], SYNTAX],
    [["RI.QUANTILE", "k", "nan"], "ERR Roaring: a quantile is a number from 0 to 1"], [["RI.HISTOGRAM", "k", "EDGES", 0], SYNTAX],
    [["RI.HISTOGRAM", "k", "TOP", 0], "ERR TOP should be greater than 0"], [["RI.HISTOGRAM", "k", "EDGES", 1, 5, "TOP", 1], SYNTAX],
    [["RI.MERGE", "d", 0, "k"], "ERR numkeys should be greater than 0"], [["RI.MERGE", "d", 1, "k", "AGGREGATE", "x"], SYNTAX], [["RI.MERGE", "d", 1, "k", "x"], SYNTAX],
    [["RI.STAT", "k", "JSON", "x"], "ERR wrong number of arguments for 'RI.STAT' command"], [["RI.OPTIMIZE", "k", "x"], "ERR wrong number of arguments for 'RI.OPTIMIZE' command"],
    [["RI.SCAN", "k", "x"], "ERR invalid cursor: must be an unsigned 64 bit integer"], [["RI.SCAN", "k", 0, "COUNT", 0], SYNTAX],
  ])("%j", async (command, error) => {
    await run("RI.SET", "k", 1, 1);
    expect(await refusal(...command)).toBe(error);
    expect(await run("RI.RANGE", "k", 0, -1, "WITHVALUES")).toEqual([1, 1]);
  });

  it("nothing that it wrote, but other commands do", async () => {
    await run("RI.SET", "k", 1, 1);
    const refused = [["R.SETBIT", "k", 1, 1], ["R64.GETBIT", "k", 1], ["R.EXPORT", "k"], ["R64.BITOP", "OR", "d", "k"], ["R.STAT", "k"], ["GET", "k"]];
    for (const command of refused) expect(await refusal(...command)).toBe(WRONGTYPE);
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

  it("refuses a sum beyond 64 bits and stores none", async () => {
    await run("RI.SET", "k", 1, "9223372036854775807", 2, "-9223372036854775808");
    for (const command of [["RI.INCRBY", "k", 1, 1], ["RI.INCRBY", "k", 2, -1], ["RI.MERGE", "d", 2, "k", "k"], ["RI.MERGE", "k", 2, "k", "k"]]) {
      expect(await refusal(...command)).toBe("ERR increment or decrement would overflow");
    }
    expect(await run("RI.MGET", "k", 1, 2)).toEqual([2n ** 63n - 1n, -(2n ** 63n)]);
    expect(await run("EXISTS", "d")).toBe(0);
    expect(await run("RI.MERGE", "d", 2, "k", "k", "AGGREGATE", "MIN")).toBe(2);
  });

  it("describes a key and its leaves", async () => {
    await run("RI.SET", "k", ...range(0, 1000).flatMap((id) => [id, id * 3 - 5]), "18446744073709551615", -7);
    const described = JSON.parse((await run("RI.STAT", "k", "JSON")) as string) as Record<string, string | Record<string, string>>;
    const { pairs, slices, ...rest } = described as { pairs: Record<string, string>; slices: Record<string, string> };
    expect(rest).toEqual({ type: "integers", cardinality: "1001", min_id: "0", max_id: "18446744073709551615", min_value: "-7", max_value: "2992" });
    expect(Number(pairs.ids) + Number(slices.ids)).toBe(1001);
    expect(Number(pairs.allocated_bytes) + Number(slices.allocated_bytes)).toBeLessThan((await run("MEMORY", "USAGE", "k")) as number);
  });

  it("OPTIMIZE makes no key larger, however few ids it has", seeded(async (random) => {
    for (const count of [1, 20, 62, 63, 64, 65, 80, 97, 150, 300, 1000]) {
      for (const [spread, bits] of [[1, 17], [7, 8], [100, 40], [1_000_000, 4]] as const) {
        await run("DEL", "k");
        const entries = range(0, count).flatMap(() => [random.below(count * spread), random.below(2 ** bits)]);
        await server.connection.pipeline(range(0, count).map((i) => ["RI.SET", "k", ...entries.slice(2 * i, 2 * i + 2)]));
        const before = Number(await run("MEMORY", "USAGE", "k"));
        await run("RI.OPTIMIZE", "k");
        expect(Number(await run("MEMORY", "USAGE", "k")), `${count} ids, ${spread} apart`).toBeLessThanOrEqual(before);
      }
    }
  }));

  it.skipIf(process.env.ROAR_SEGMENT)("takes little more than what pairs take, in whatever order ids arrive, and gives memory back", seeded(async (random) => {
    const PAIR = 2 + 3, ids = range(0, 100_000).map((place) => place * 97 + random.below(97));
    const entries = random.shuffled(ids).map((id) => [id, 100_000 + random.below(31_072)]);
    const usage = async (): Promise<number> => Number(await run("MEMORY", "USAGE", "k"));
    await server.connection.pipeline(entries.map(([id, value]): Command => ["RI.SET", "k", id!, value!]));
    expect(await usage()).toBeLessThan(2 * PAIR * entries.length);
    await run("RI.OPTIMIZE", "k");
    expect(await usage()).toBeLessThan(1.1 * PAIR * entries.length);
    for (let from = 0; from < 90_000; from += 1000) await run("RI.DEL", "k", ...entries.slice(from, from + 1000).map(([id]) => id!));
    expect(await usage()).toBeLessThan(2.5 * PAIR * 10_000);
    await run("RI.OPTIMIZE", "k");
    expect(await usage()).toBeLessThan(1.5 * PAIR * 10_000);
    expect(await run("RI.CARD", "k")).toBe(10_000);
  }));

  it("keeps a reply within the limits, and says so before it makes it", async () => {
    await run("RI.SET", "k", ...range(0, 1000).flatMap((id) => [id, id]));
    await run("CONFIG", "SET", "redis-roar.reply-limit", 100);
    const limit = "ERR Roaring: reply too large: maximum 100 elements (redis-roar.reply-limit)";
    for (const command of [["RI.RANGE", "k", 0, -1], ["RI.RANGE", "k", 0, 50, "WITHVALUES"], ["RI.HISTOGRAM", "k"], ["RI.MGET", "k", ...range(0, 101)]]) {
      expect(await refusal(...command)).toBe(limit);
    }
    expect(await run("RI.RANGE", "k", 0, 99)).toHaveLength(100);
    expect(await run("RI.HISTOGRAM", "k", "TOP", 50)).toHaveLength(50);
    expect((await run("RI.SCAN", "k", 0, "COUNT", 1000) as [string, unknown[]])[1]).toHaveLength(100);
    await run("CONFIG", "SET", "redis-roar.reply-limit", 100_000_000);
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

describe("pages in the middle of the order", () => {
  it.each([["one value", 1], ["three", 3], ["many", 9000]])("list only their ids, where ids have %s", async (_, values) => {
    const ids = range(0, 30_000).map((id) => id * 3), of = (id: number): number => (id * 7919) % values;
    for (let i = 0; i < ids.length; i += 10_000) await run("RI.SET", "k", ...ids.slice(i, i + 10_000).flatMap((id) => [id, of(id)]));
    const ordered = [...ids].sort((a, b) => of(a) - of(b) || a - b);
    const pages = [[4096, 4096], [5000, 5010], [9_999, 10_000], [10_000, 10_000], [8000, 22_000], [1, 25_000], [20_000, 25_903]] as const;
    for (const [start, stop] of pages) {
      const page = ordered.slice(start, stop + 1);
      expect(await run("RI.RANGE", "k", start, stop), `${start}, ${stop}`).toEqual(page);
      expect(await run("RI.RANGE", "k", -1 - stop, -1 - start, "REV", "WITHVALUES"), `${start}, ${stop}`)
        .toEqual(page.flatMap((id) => [id, of(id)]).reverse().flatMap((_id, i, list) => (i % 2 ? [] : [list[i + 1], list[i]])));
    }
    const counts = range(0, values).map((value) => [value, ids.filter((id) => of(id) === value).length] as const)
      .filter(([, count]) => count > 0);
    expect(await run("RI.HISTOGRAM", "k")).toEqual(counts);
    expect(await run("RI.HISTOGRAM", "k", "TOP", 7)).toEqual([...counts].sort(([a, x], [b, y]) => y - x || a - b).slice(0, 7));
  });
});
