// Integers for ids: what each method sends, and what it answers through every client library, compared with a Map.

import { describe, expect, it } from "vitest";
import { integers } from "../../host/table/integers.ts";
import {
  InexactReplyError, Integers, InvalidArgumentError, type Member, q, RI, RI64, WrongTypeError, integerCallsOf,
} from "../../client/src/index.ts";
import { type Call, prefixed } from "../../client/src/call.ts";
import { type Adapter, asModules, collect, type Opened, repliesFor, speakers, useClient, wrappers } from "../support/adapters.ts";
import { type Random, seeded } from "../support/random.ts";
import { byName, useServer } from "../support/suite.ts";

const server = useServer();
const within = { expression: "#1 - #2", keys: ["a", "b"] }, WITHIN = ["WITHIN", "#1 - #2", "2", "a", "b"];

/** The words of calls, without the command; keys are "k", "a" and "b". */
const SENT: readonly [method: string, args: unknown[], sent: string][] = [
  ["set", ["k", [[1, 2], [3, -4]]], "SET k 1 2 3 -4"], ["set", ["k", new Map([[1, 2]]), { condition: "NX", ch: true }], "SET k NX CH 1 2"],
  ["set", ["k", [[1, 2]], { condition: "XX", comparison: "GT" }], "SET k XX GT 1 2"], ["incrBy", ["k", 1, -2], "INCRBY k 1 -2"],
  ["get", ["k", 1], "GET k 1"], ["mGet", ["k", [1, 2]], "MGET k 1 2"], ["del", ["k", new Set([1, 2])], "DEL k 1 2"],
  ["delRange", ["k", "-inf", "(5"], "DELRANGE k -inf (5"], ["delRange", ["k", -3, "+inf", { within }], `DELRANGE k -3 +inf ${WITHIN.join(" ")}`],
  ["card", ["k"], "CARD k"], ["count", ["k", "(-5", 7], "COUNT k (-5 7"], ["count", ["k", 1, 2, { within }], `COUNT k 1 2 ${WITHIN.join(" ")}`],
  ["sum", ["k"], "SUM k"], ["sum", ["k", { within }], `SUM k ${WITHIN.join(" ")}`], ["stats", ["k", { within }], `STATS k ${WITHIN.join(" ")}`],
  ["rank", ["k", 1], "RANK k 1"], ["rank", ["k", 1, { rev: true, within }], `RANK k 1 REV ${WITHIN.join(" ")}`],
  ["range", ["k", 0, -1], "RANGE k 0 -1"], ["rangeWithValues", ["k", 0, 9, { rev: true, within }], `RANGE k 0 9 REV WITHVALUES ${WITHIN.join(" ")}`],
  ["rangeByValue", ["k", "(1", "+inf", { limit: [0, -1] }], "RANGE k (1 +inf BYVALUE LIMIT 0 -1"],
  ["rangeByValueWithValues", ["k", 9, 1, { rev: true, limit: [5, 2], within }], `RANGE k 9 1 BYVALUE REV LIMIT 5 2 WITHVALUES ${WITHIN.join(" ")}`],
  ["quantiles", ["k", [0, 0.5, 1], { within }], `QUANTILE k 0 0.5 1 ${WITHIN.join(" ")}`], ["histogram", ["k"], "HISTOGRAM k"],
  ["histogram", ["k", { top: 5, within }], `HISTOGRAM k TOP 5 ${WITHIN.join(" ")}`],
  ["histogramBetween", ["k", [-1, 30], { within }], `HISTOGRAM k EDGES 2 -1 30 ${WITHIN.join(" ")}`],
  ["merge", ["k", ["a", "b"]], "MERGE k 2 a b"], ["merge", ["k", ["a"], { aggregate: "MAX" }], "MERGE k 1 a AGGREGATE MAX"],
  ["scan", ["k", 7, { count: 5 }], "SCAN k 7 COUNT 5"], ["optimize", ["k"], "OPTIMIZE k"], ["stat", ["k"], "STAT k"], ["statJson", ["k"], "STAT k JSON"],
];

describe("every method", () => {
  it.each([["ri", integerCallsOf(RI)], ["ri64", integerCallsOf(RI64)]])("of %s sends the words of its command, and knows the keys", (_, calls) => {
    const named = new Set<string>();
    for (const [method, args, sent] of SENT) {
      const call = (calls as unknown as Record<string, (...args: unknown[]) => Call<unknown>>)[method]!(...args);
      named.add(method);
      expect(call.words.join(" ")).toBe(`RI.${sent}`);
      expect(call.keys).toEqual(sent.split(" ").filter((word) => /^[kab]$/.test(word)));
      expect(prefixed(call, "p:").words.join(" ")).toBe(`RI.${sent.replace(/(?<= )[kab](?= |$)/g, "p:$&")}`);
      expect(call.readonly).toBe(integers.find(({ name }) => name === sent.split(" ")[0])!.flags.includes("readonly"));
    }
    expect([...named].sort()).toEqual(integers.flatMap((row) => row.methods.map(({ name }) => name)).sort());
  });

  it("refuses arguments out of range", () => {
    const calls = integerCallsOf(RI), wide = integerCallsOf(RI64), big = 2n ** 63n;
    const bad: (() => unknown)[] = [
      () => calls.get("k", -1), () => calls.get("k", 2 ** 53), () => calls.set("k", [[1, 1.5]]), () => calls.set("k", []), () => calls.set("k", new Map()),
      () => calls.incrBy("k", 1, 2 ** 53), () => calls.incrBy("k", 1, Number.NaN), () => wide.set("k", [[1, big]]), () => wide.set("k", [[2n ** 64n, 1]]),
      () => wide.incrBy("k", 1, -big - 1n), () => calls.count("k", "inf" as "+inf", 1), () => calls.count("k", "(x" as "(1", 1), () => calls.quantiles("k", [1.1]),
      () => calls.quantiles("k", []), () => calls.histogramBetween("k", []), () => calls.mGet("k", []), () => calls.merge("k", []),
      () => calls.rangeByValue("k", 0, 1, { limit: [-1, 1] }), () => calls.scan("k", 0, { count: 0 }),
    ];
    for (const one of bad) expect(one, String(one)).toThrow(InvalidArgumentError);
    expect(wide.set("k", [[2n ** 64n - 1n, -big]]).args).toEqual(["k", "18446744073709551615", "-9223372036854775808"]);
  });

  it("says which calls must not be repeated", () => {
    const calls = integerCallsOf(RI);
    expect([calls.set("k", [[1, 2]]), calls.incrBy("k", 1, 2), calls.merge("k", ["a"]), calls.merge("k", ["a", "k"])].map(({ repeatable }) => repeatable))
      .toEqual([true, false, true, false]);
  });
});

const compare = (a: Member, b: Member): number => (a < b ? -1 : Number(a > b));

interface Tried<M extends Member> {
  ints: Integers<M>;
  /** Of the bitmap "members". */
  members: readonly M[];
  key: string;
  draw: () => [id: M, value: M];
  of: (value: bigint) => M;
}

/** Random writes and questions, and what a Map answers. */
async function expectModel<M extends Member>({ ints, members, key, draw, of }: Tried<M>, rng: Random): Promise<void> {
  const model = new Map<M, M>(), zero = of(0n), add = (a: M, b: M): M => of(BigInt(a) + BigInt(b));
  const entries = Array.from({ length: 60 }, draw);
  for (const [id, value] of entries) model.set(id, value);
  expect(await ints.set(key, entries as never)).toBe(of(BigInt(model.size)));
  for (let i = 0; i < 5; i++) {
    const [id] = rng.pick(entries), value = add(model.get(id) ?? zero, of(1n));
    expect(await ints.incrBy(key, id as never, 1)).toBe(value);
    model.set(id, value);
  }
  const removed = entries.slice(0, 5).map(([id]) => id);
  expect(await ints.del(key, removed as never)).toBe(of(BigInt(removed.filter((id) => model.delete(id)).length)));
  for (const inside of [undefined, { expression: "#1", keys: ["members"] }]) {
    const ordered = [...model].filter(([id]) => !inside || members.includes(id)).sort(([a, x], [b, y]) => compare(x, y) || compare(a, b));
    const ids = ordered.map(([id]) => id), values = ordered.map(([, value]) => value), options = { within: inside };
    const sum = values.reduce((all, one) => all + BigInt(one), 0n);
    const count = of(BigInt(ids.length)), low = values.at(10) ?? zero, high = values.at(-10) ?? zero;
    const between = ordered.filter(([, value]) => value > low && value <= high), bounds = [`(${low}`, high] as never as [never, never];
    expect(await ints.sum(key, options)).toEqual({ count, sum });
    const stats = await ints.stats(key, options);
    expect(stats).toMatchObject({ count, sum, min: values[0] ?? null, max: values.at(-1) ?? null });
    const mean = Number(sum) / ids.length;
    if (ids.length > 0) expect(Math.abs(stats.mean! - mean)).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(mean)));
    expect(await ints.count(key, ...bounds, options)).toBe(of(BigInt(between.length)));
    expect(await ints.range(key, 0, -1 as never, options)).toEqual(ids);
    expect(await ints.rangeWithValues(key, 0, 9, { rev: true, ...options })).toEqual(ordered.toReversed().slice(0, 10));
    expect(await ints.rangeByValue(key, ...bounds, { limit: [1, 5], ...options })).toEqual(between.slice(1, 6).map(([id]) => id));
    expect(await ints.rangeByValueWithValues(key, ...bounds, options)).toEqual(between);
    const quantile = (one: number): M | null => values[Math.max(0, Math.ceil(one * values.length) - 1)] ?? null;
    expect(await ints.quantiles(key, [0, 0.5, 1], options)).toEqual([0, 0.5, 1].map(quantile));
    const counts = [...new Set(values)].map((value) => [value, of(BigInt(values.filter((one) => one === value).length))]);
    expect(await ints.histogram(key, options)).toEqual(counts);
    const edges = low <= high ? [low, add(high, of(1n))] : [low], cuts: (M | undefined)[] = [undefined, ...edges, undefined];
    expect(await ints.histogramBetween(key, edges as never, options)).toEqual(cuts.slice(1).map((end, n) =>
      of(BigInt(values.filter((value) => (cuts[n] === undefined || value >= cuts[n]) && (end === undefined || value < end)).length))));
    const [id] = rng.pick(ordered.length > 0 ? ordered : [[zero, zero]]);
    expect(await ints.rank(key, id as never, options)).toBe(ids.includes(id) ? of(BigInt(ids.indexOf(id))) : null);
  }
  const all = [...model].sort(([a], [b]) => compare(a, b));
  expect(await ints.mGet(key, [...all.map(([id]) => id), 12_345_678_901 as M] as never)).toEqual([...all.map(([, value]) => value), null]);
  expect(await ints.scan(key, all[3]![0] as never, { count: 7 })).toEqual({ entries: all.slice(3, 10), cursor: all[10]![0] });
  if (ints instanceof Integers) { // modules have only commands
    const pages = Array.from({ length: Math.ceil(all.length / 7) }, (_, n) => all.slice(7 * n, 7 * n + 7));
    expect(await collect(ints.scanPages(key, { count: 7 }))).toEqual(pages);
    expect(await collect(ints.scanIterator(key, { from: all[3]![0] as never }))).toEqual(all.slice(3));
  }
  const values = all.map(([, value]) => value).sort(compare);
  expect(await ints.statJson(key)).toMatchObject({
    type: "integers", cardinality: of(BigInt(all.length)), min_id: all[0]![0], max_id: all.at(-1)![0], min_value: values[0], max_value: values.at(-1),
  });
  const less = all.filter(([, value]) => value < values[20]!);
  expect(await ints.delRange(key, "-inf", `(${values[20]!}` as never)).toBe(of(BigInt(less.length)));
  expect(await ints.card(key)).toBe(of(BigInt(all.length - less.length)));
}

describe.each(byName<Adapter>([...wrappers, ...asModules]))("%s", (name, adapter) => {
  const client: Opened = useClient(async () => {
    await server.run(...repliesFor(adapter));
    return adapter.open(server);
  });
  const isModule = asModules.includes(adapter);

  it("answers numbers, and bigints, as a Map does", seeded(async (rng) => {
    for (let round = 0; round < 3; round++) {
      const members = Array.from({ length: 300 }, () => rng.below(500)), top = 2 ** (10 + rng.below(25));
      await client.r.setIntArray("members", members);
      await expectModel({ ints: client.ri, members, key: "k", of: Number, draw: () => [rng.below(rng.chance(0.9) ? 500 : 2 ** 40), rng.below(top) - Math.floor(top / 3)] }, rng);
      await server.run("DEL", "k");
      if (adapter.rounds) continue; // values beyond 2^53 are refused
      const draw = (): [bigint, bigint] => [rng.chance(0.5) ? BigInt(rng.below(500)) : rng.u64(), BigInt.asIntN(60, rng.u64())];
      await expectModel({ ints: client.ri64, members: members.map(BigInt), key: "wide", of: (value) => value, draw }, rng);
      await server.run("DEL", "wide");
    }
  }));

  it("answers null where there is none, and nothing of a missing key", async () => {
    for (const ints of [client.ri, client.ri64] as Integers<Member>[]) {
      expect([await ints.get("none", 1), await ints.rank("none", 1), await ints.stat("none"), await ints.statJson("none")]).toEqual([null, null, null, null]);
      expect([await ints.mGet("none", [1, 2]), await ints.quantiles("none", [0.5]), await ints.histogram("none"), await ints.range("none", 0, -1)]).toEqual([[null, null], [null], [], []]);
      expect((await ints.stats("none")).mean).toBeNull();
      expect((await ints.scan("none", 0)).cursor).toBeNull();
    }
  });

  it("refuses to round: values and ids beyond 2^53 are for ri64", async () => {
    const { ri, ri64 } = client, most = 2n ** 63n - 1n;
    await ri64.set("big", [[1, most], [2n ** 64n - 1n, -most - 1n], [3, most]]);
    await expect(ri.get("big", 1)).rejects.toBeInstanceOf(InexactReplyError);
    await expect(ri.scan("big", 0)).rejects.toBeInstanceOf(InexactReplyError);
    if (adapter.rounds) await expect(ri64.get("big", 1)).rejects.toBeInstanceOf(InexactReplyError);
    else {
      expect(await ri64.rangeWithValues("big", 0, -1)).toEqual([[2n ** 64n - 1n, -most - 1n], [1n, most], [3n, most]]);
      expect(await ri.sum("big")).toEqual({ count: 3, sum: most - 1n });
      await ri64.del("big", [2n ** 64n - 1n]);
      expect(await ri.sum("big"), "beyond 64 bits").toEqual({ count: 2, sum: 2n * most });
    }
  });

  it.skipIf(isModule)("compares values in queries of keys, with numbers and with each other", async () => {
    const { r, r64, ri, multi, pipeline } = client;
    await r.setIntArray("vip", [7, 8, 9, 10]);
    await r.setIntArray("lost", [9]);
    await ri.set("age", [[7, 31], [8, 17], [9, 24], [10, 18], [11, 20]]);
    await ri.set("limit", new Map([[7, 40], [8, 17], [10, -5]]));
    const [vip, age, limit] = ["vip", "age", "limit"], from = 18, below = 30n;
    const adults = q`${vip} & ${from} <= ${age} < ${below} - ${"lost"}`;
    expect([adults.expression, adults.keys]).toEqual(["#1 & 18 <= #2 < 30 - #3", ["vip", "age", "lost"]]);
    expect(await r.query(adults).members()).toEqual([10]);
    expect(await r.query(q`${limit} < ${age} | ${age} = ${20}`).members()).toEqual([10, 11]);
    expect(await r.query(q`${limit} != ${age}`).members()).toEqual([7, 10]);
    expect(await r.query(q`${limit} >= ${-5} - ${q`${limit} > ${-5}`}`).members()).toEqual([10]);
    expect(await collect(r64.query(q`${age} >= 20`).pages({ count: 2 }))).toEqual([[7n, 9n], [11n]]);
    expect(await r.query(q`${age} > ${19}`).facet(["vip", "lost"])).toEqual([2, 1]);
    expect(await ri.sum("age", { within: q`${vip} - ${"lost"}` })).toEqual({ count: 3, sum: 66n });
    expect(await ri.histogramBetween("age", [18, 30], { within: q`${vip} & ${age} > ${17}` })).toEqual([0, 2, 1]);
    expect(await multi().ri.incrBy("age", 8, 1).r.queryCard("#1 >= 18", ["age"]).ri64.sum("age").exec()).toEqual([18, 5, { count: 5n, sum: 111n }]);
    const [got, wrong] = await pipeline([ri.calls.get("age", 8), ri.calls.get("vip", 8)]);
    expect(got).toEqual({ status: "fulfilled", value: 18 });
    expect(wrong.status === "rejected" && wrong.reason, name).toBeInstanceOf(WrongTypeError);
    expect(await ri.with({ timeout: 10_000 }).card("age")).toBe(5);
  });
});

describe("RESP2 and RESP3", () => {
  it.each(speakers)("answer the same with %s", async (_, open) => {
    for (const protocol of [2, 3] as const) {
      const { ri, ri64, multi, close } = await open(server, protocol);
      await ri.set("k", [[7, 31], [8, 18]]);
      expect(await ri.stats("k")).toEqual({ count: 2, sum: 49n, min: 18, max: 31, mean: 24.5 });
      expect(await ri64.stats("k")).toEqual({ count: 2n, sum: 49n, min: 18n, max: 31n, mean: 24.5 });
      expect(await ri.stats("none")).toEqual({ count: 0, sum: 0n, min: null, max: null, mean: null });
      expect(await ri.rangeWithValues("k", 0, -1)).toEqual([[8, 18], [7, 31]]);
      expect(await ri.scan("k", 0, { count: 1 })).toEqual({ entries: [[7, 31]], cursor: 8 });
      expect(await multi().ri.stats("k").ri.histogram("k").exec()).toEqual([{ count: 2, sum: 49n, min: 18, max: 31, mean: 24.5 }, [[18, 1], [31, 1]]]);
      await close();
    }
  });
});
