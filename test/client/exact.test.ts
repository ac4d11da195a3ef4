// What default clients get wrong: members above 2^53, bytes, and the kind of errors. And what the client adds: iterators, toggle, atLeast,
// pipelines.

import { Redis } from "ioredis";
import { Redis as Ioredis6 } from "ioredis6";
import { createClient as createClient5 } from "redis5";
import { createClient } from "redis6";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { InvalidPayloadError, type Bitmaps, InexactReplyError, type RoarClient, OutOfMemoryError, InvalidArgumentError, RoarError, WrongTypeError } from "../../client/src/index.ts";
import { roar as ioredis } from "../../client/src/ioredis.ts";
import { modules, roar as nodeRedis } from "../../client/src/node-redis.ts";
import { type Adapter, asModules, collect, type Opened, repliesFor, useClient, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { byName, useServer } from "../support/suite.ts";

const server = useServer({ config: ["maxmemory-policy noeviction"] });
const LAST = 2n ** 64n - 1n;
const EDGES = [0n, 2n ** 53n - 3n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, LAST];

/** The client of an adapter, for which the server replies members as it needs them. */
const open = (adapter: Adapter): Opened => useClient(async () => {
  await server.run(...repliesFor(adapter));
  return adapter.open(server);
});

describe.each(byName<Adapter>([...wrappers, ...asModules]))("%s", (_, adapter) => {
  const client = open(adapter);

  it("answers 64-bit members exactly", async () => {
    const { r64 } = client;
    for (const member of EDGES) {
      for (const given of [member, String(member), ...(Number.isSafeInteger(Number(member)) ? [Number(member)] : [])]) {
        expect(await r64.setBits("one", [given])).toBe(1n);
        expect(await r64.getBit("one", given)).toBe(1);
        expect(await r64.min("one")).toBe(member);
        expect(await r64.max("one")).toBe(member);
        expect(await r64.select("one", -1)).toBe(member);
        expect(await r64.bitPos("one", 1)).toBe(member);
        expect(await r64.range("one", member, member)).toEqual([member]);
        expect(await r64.clear("one")).toBe(1n);
      }
    }
    await r64.setIntArray("all", EDGES);
    expect(await r64.getIntArray("all")).toEqual(EDGES);
    expect(await r64.rangeIntArray("all", 0, 7)).toEqual(EDGES);
    expect(await r64.queryMembers("#1", ["all"], { from: 1, limit: 5 })).toEqual(EDGES.slice(1, 6));
    expect(await r64.scan("all", 1, { count: 2 })).toEqual({ members: EDGES.slice(1, 3), cursor: EDGES[3] });
    expect(await r64.scan("all", EDGES[3]!, { count: 5 })).toEqual({ members: EDGES.slice(3), cursor: null });
    expect(await r64.bitCount("all")).toBe(8n);
  });

  it("answers full bitmaps' cardinalities exactly", async () => {
    await client.r64.setFull("full");
    expect(await client.r64.bitCount("full")).toBe(2n ** 64n);
    expect(await client.r64.rank("full", LAST)).toBe(2n ** 64n);
    expect(await client.r64.select("full", LAST)).toBe(LAST);
    await client.r.setFull("small");
    expect(await client.r.bitCount("small")).toBe(2 ** 32);
  });

  it.skipIf(adapter.rounds)("answers large numbers of members exactly, whichever command counts", async () => {
    const { r64 } = client, first = { start: 0, end: -1, unit: "BIT" } as const;
    await r64.setFull("full");
    for (const count of [2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, LAST]) {
      const keys = ["part"], last = count - 1n;
      await r64.clear("part");
      await r64.setRange("part", 0, count);
      expect(await r64.bitCount("part")).toBe(count);
      expect(await r64.bitCount("part", first)).toBe(count);
      expect(await r64.rank("part", LAST)).toBe(count);
      expect([await r64.max("part"), await r64.select("part", -1), await r64.bitPos("part", 0)]).toEqual([last, last, count]);
      expect(await r64.statJson("part")).toMatchObject({ cardinality: count, max_value: last, min_value: 0n });
      expect(await r64.bitOpCard("AND", ["full", ...keys])).toBe(count);
      expect(await r64.bitOp("OR", "copy", keys)).toBe(count);
      expect(await r64.queryCard("#1", keys)).toBe(count);
      expect(await r64.queryStore("copy", "#1", keys)).toBe(count);
      expect(await r64.queryMembers("#1", keys, { from: last })).toEqual([last]);
      expect(await r64.clearRange("part", 0, count)).toBe(count);
      expect(await r64.flipRange("part", 0, count)).toBe(count);
      expect(await r64.clear("part")).toBe(count);
    }
  });

  it("exports and imports the same bytes", async () => {
    const members = [...range(0, 500, 7), ...range(65_536, 5000), ...range(1_000_000, 300, 65_537)];
    const { r, r64 } = client;
    await r.setIntArray("r", members);
    await r64.setIntArray("r64", [...members, ...EDGES]);
    for (const [bitmaps, key] of [[r, "r"], [r64, "r64"]] as const) {
      const bytes = (await bitmaps.export(key))!;
      expect(Buffer.isBuffer(bytes)).toBe(true);
      expect(BigInt(await bitmaps.import("copy", bytes))).toBe(BigInt(await bitmaps.bitCount(key)));
      expect(await bitmaps.export("copy")).toEqual(bytes);
      expect(await bitmaps.queryExport("#1", [key])).toEqual(bytes);
      expect(await bitmaps.import("copy", new Uint8Array(bytes), { replace: true })).toBe(await bitmaps.bitCount(key));
      await server.run("DEL", "copy");
    }
    expect(await r.export("none")).toBeNull();
  });

  it("answers null where there is no result, and never -1", async () => {
    for (const bitmaps of [client.r, client.r64] as Bitmaps<number | bigint>[]) {
      await server.run("FLUSHALL");
      expect(await bitmaps.min("none")).toBeNull();
      expect(await bitmaps.max("none")).toBeNull();
      expect(await bitmaps.select("none", 0)).toBeNull();
      expect(await bitmaps.bitPos("none", 1)).toBeNull();
      expect(await bitmaps.clear("none")).toBeNull();
      expect(await bitmaps.clearBits("none", [1])).toBeNull();
      expect(await bitmaps.clearBitsCount("none", [1])).toBeNull();
      expect(await bitmaps.stat("none")).toBeNull();
      expect(await bitmaps.statJson("none")).toBeNull();
      expect(await bitmaps.getIntArray("none")).toEqual([]);
      expect(await bitmaps.scan("none", 0)).toEqual({ members: [], cursor: null });
      await bitmaps.setIntArray("empty", [1]);
      await bitmaps.clear("empty");
      expect(await bitmaps.jaccard("empty", "empty")).toBeNull();
    }
  });

  it.skipIf(adapter.rounds)("answers fields exactly in both families", async () => {
    for (const bitmaps of [client.r, client.r64] as Bitmaps<number | bigint>[]) {
      const most = 2n ** 63n - 1n;
      const key = `fields ${bitmaps === client.r}`;
      expect(await bitmaps.bitField(key, [
        ["SET", "i64", 0, most - 2n], ["INCRBY", "i64", "#0", 1], ["INCRBY", "i64", 0, 5, "FAIL"], ["INCRBY", "i64", 0, 5, "SAT"],
        ["INCRBY", "u8", 64, 300], ["GET", "i64", 0],
      ])).toEqual([0n, most - 1n, null, most, 44n, most]);
      expect(await bitmaps.bitField(key, [["SET", "i64", 0, -most]])).toEqual([most]);
      expect(await bitmaps.bitFieldRo(key, [["GET", "i64", 0], ["GET", "u8", 64]])).toEqual([-most, 44n]);
    }
  });

  it("reads statistics", async () => {
    await client.r.setIntArray("k", [1, 2, 3]);
    expect(await client.r.stat("k")).toContain("cardinality: 3\n");
    expect(await client.r.statJson("k")).toMatchObject({ type: "bitmap", cardinality: 3, max_value: 3, array_container: { number_of_containers: 1 } });
  });
});

describe.each(byName(wrappers))("%s", (_, adapter) => {
  const client = open(adapter);

  it("has errors as classes", async () => {
    const { r, r64 } = client;
    await server.run("SET", "text", "x");
    await r64.setBit("wide", 1, 1);
    const failure = async (answer: Promise<unknown>): Promise<RoarError> => {
      const error: unknown = await answer.then(() => "no error", (reason: unknown) => reason);
      expect(error).toBeInstanceOf(RoarError);
      return error as RoarError;
    };
    for (const key of ["text", "wide"]) {
      const wrong = await failure(r.getBit(key, 1));
      expect(wrong).toBeInstanceOf(WrongTypeError);
      expect(wrong).toMatchObject({ name: "WrongTypeError", command: "R.GETBIT", message: /^WRONGTYPE / });
      expect(wrong.cause).toBeInstanceOf(Error);
    }
    const bad = await failure(r.import("k", Buffer.from("nonsense")));
    expect(bad).toBeInstanceOf(InvalidPayloadError);
    expect(await failure(r.rangeIntArray("k", 0, 200_000_000))).toBeInstanceOf(InvalidArgumentError);
    expect((await failure(r.optimize("none"))).constructor).toBe(RoarError);
    expect(await failure(r.queryCard("#1 &", ["k"]))).toMatchObject({ message: /^ERR Roaring: query: / });
    await server.run("CONFIG", "SET", "maxmemory", 1);
    expect(await failure(r.setBit("k", 1, 1))).toBeInstanceOf(OutOfMemoryError);
    await server.run("CONFIG", "SET", "maxmemory", 0);
    expect(await r.setBit("k", 1, 1)).toBe(0);
  });

  it("refuses arguments out of range before anything is sent", async () => {
    const calls = async (): Promise<string> => /cmdstat_R\d*\.\w+.*/i.exec((await server.run("INFO", "commandstats")) as string)?.[0] ?? "";
    await server.run("CONFIG", "RESETSTAT");
    const { r, r64 } = client;
    for (const bad of [-1, 2 ** 32, 1.5, Number.NaN, Infinity]) await expect(r.setBit("k", bad, 1)).rejects.toBeInstanceOf(InvalidArgumentError);
    for (const bad of [-1n, 2n ** 64n, 2 ** 53, "1.5", "x", ""]) await expect(r64.setBit("k", bad, 1)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(r.setRange("k", 0, 2 ** 32 + 1)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(r.setBit("k", 1, 2 as 1)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(r.setBits("k", [])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(r.bitField("k", [["GET", "u64", 0]])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(r.bitField("k", [["SET", "i8", 0, 2n ** 63n]])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(r.bitCount("k", { start: 0, unit: "BIT" })).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(await calls()).toBe("");
    expect(await r.setRange("k", 2 ** 32 - 1, 2 ** 32)).toBe("OK");
    expect(await calls()).toContain("calls=1");
    expect(await r.max("k")).toBe(2 ** 32 - 1);
  });

  it("reads members and expressions page by page", async () => {
    const { r, r64 } = client, members = range(5, 25, 3);
    await r.setIntArray("k", members);
    expect(await collect(r.scanPages("k", { count: 10 }))).toEqual([members.slice(0, 10), members.slice(10, 20), members.slice(20)]);
    expect(await collect(r.scanPages("k", { count: 5, from: 65 }))).toEqual([members.slice(20)]);
    expect(await collect(r.scanIterator("k"))).toEqual(members);
    await r.setIntArray("odd", members.filter((member) => member % 2 === 1));
    const even = members.filter((member) => member % 2 === 0);
    expect(await collect(r.queryPages("#1 - #2", ["k", "odd"], { count: 6 }))).toEqual([even.slice(0, 6), even.slice(6)]);
    expect(await collect(r.queryIterator("#1 - #2", ["k", "odd"], { count: 4, from: 30 }))).toEqual(even.filter((member) => member >= 30));
    expect(await collect(r.scanPages("none"))).toEqual([]);
    expect(await collect(r.queryPages("#1", ["none"]))).toEqual([]);
    await r64.setIntArray("wide", EDGES);
    expect(await collect(r64.scanIterator("wide", { count: 1 }))).toEqual(EDGES);
    expect(await collect(r64.queryPages("#1", ["wide"], { count: 1 }))).toEqual(EDGES.map((member) => [member]));
  });

  it("toggles bits, and loses none under many callers", async () => {
    const { r, r64 } = client;
    for (const [bitmaps, last] of [[r, 2 ** 32 - 1], [r64, LAST]] as const) {
      const key = `toggled ${last}`;
      for (const offset of [0, 7, last]) {
        expect(await (bitmaps as Bitmaps<bigint>).toggle(key, offset)).toBe(1);
        expect(await (bitmaps as Bitmaps<bigint>).toggle(key, offset)).toBe(0);
      }
      const bits = await Promise.all(range(0, 51).map(() => (bitmaps as Bitmaps<bigint>).toggle(key, 3)));
      expect(bits.filter((bit) => bit === 1)).toHaveLength(26);
      expect(Number(await bitmaps.bitCount(key))).toBe(1);
    }
  });

  it("counts and stores what at least k bitmaps have", async () => {
    const { r } = client;
    await r.setIntArray("a", [1, 2, 3]);
    await r.setIntArray("b", [2, 3, 4]);
    await r.setIntArray("c", [3, 4, 5]);
    expect(await r.atLeast(2, ["a", "b", "c", "none"])).toBe(3);
    expect(await r.atLeast(3, new Set(["a", "b", "c"]), { store: "all" })).toBe(1);
    expect(await r.getIntArray("all")).toEqual([3]);
  });

  it("sends pipelines, and says of each call what became of it", async () => {
    const { r, r64, pipeline } = client;
    await server.run("SET", "text", "x");
    const [set, wrong, max, bytes] = await pipeline([
      r.calls.setBits("k", [1, 9]), r.calls.min("text"), r64.calls.max("none"), r.calls.export("k"),
    ]);
    expect(set).toEqual({ status: "fulfilled", value: 2 });
    expect(wrong.status === "rejected" && wrong.reason).toBeInstanceOf(WrongTypeError);
    expect(max).toEqual({ status: "fulfilled", value: null });
    expect(bytes.status === "fulfilled" && Buffer.isBuffer(bytes.value)).toBe(true);
    expect(await pipeline([])).toEqual([]);
    const many = await pipeline(range(0, 500).map((i) => r.calls.setBit("many", i, 1)));
    expect(many.every(({ status }) => status === "fulfilled")).toBe(true);
    expect(await r.bitCount("many")).toBe(500);
  });

  it("leaves errors that are no replies to the client library", async () => {
    const other = await adapter.open(server);
    await other.r.setBit("k", 1, 1);
    await other.close();
    const error: unknown = await other.r.getBit("k", 1).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RoarError);
  });
});

describe("a client library that rounds or decodes", () => {
  beforeAll(() => server.run("CONFIG", "SET", "redis-roar.r64-replies", "compatible"));

  beforeEach(async () => {
    await server.run("R64.SETINTARRAY", "k", 2n ** 53n + 1n, 2n ** 63n + 1n);
    await server.run("R64.SETINTARRAY", "below", 2n ** 53n - 3n); // rounded by node-redis
  });

  it("ioredis without stringNumbers is refused large members, and answers the others", async () => {
    const redis = new Redis({ path: server.socket }), { r64, r } = ioredis(redis);
    await expect(r64.min("k")).rejects.toBeInstanceOf(InexactReplyError);
    await expect(r64.getIntArray("k")).rejects.toBeInstanceOf(InexactReplyError);
    expect(await r64.max("k")).toBe(2n ** 63n + 1n);
    expect(await r64.bitCount("k")).toBe(2n);
    await r.setBit("small", 2 ** 32 - 1, 1);
    expect(await r.max("small")).toBe(2 ** 32 - 1);
    redis.disconnect();
  });

  it("modules of node-redis without a type mapping are refused large members and bytes", async () => {
    const client = await createClient({ modules, socket: { path: server.socket, tls: false } }).connect();
    for (const key of ["k", "below"]) await expect(client.r64.min(key)).rejects.toBeInstanceOf(InexactReplyError);
    await expect(client.r64.export("k")).rejects.toBeInstanceOf(InexactReplyError);
    expect(await client.r64.getBit("k", 2n ** 53n + 1n)).toBe(1);
    client.destroy();
  });
});

describe("RESP2 and RESP3", () => {
  const socket = (): { path: string; tls: false } => ({ path: server.socket, tls: false });
  const libraries: [string, (RESP: 2 | 3) => Promise<{ roar: RoarClient; close: () => void }>][] = [
    ["node-redis 5", async (RESP) => {
      const client = await createClient5({ RESP, socket: socket() }).connect();
      return { roar: nodeRedis(client), close: () => client.destroy() };
    }],
    ["node-redis 6", async (RESP) => {
      const client = await createClient({ RESP, socket: socket() }).connect();
      return { roar: nodeRedis(client), close: () => client.destroy() };
    }],
    ["ioredis 6", async (protocol) => {
      const client = new Ioredis6({ path: server.socket, stringNumbers: true, protocol });
      return { roar: ioredis(client), close: () => client.disconnect() };
    }],
  ];

  it.each(libraries)("answer the same with %s", async (_, connect) => {
    const all: unknown[][] = [];
    await server.run("CONFIG", "SET", "redis-roar.r64-replies", "compatible");
    for (const protocol of [2, 3] as const) {
      const { roar: { r, r64, multi, pipeline }, close } = await connect(protocol);
      await r.setIntArray("a", [7, 9, 70_000]);
      await r.setIntArray("b", [9]);
      await r64.setIntArray("w", EDGES);
      const results = await pipeline([r.calls.jaccard("a", "b"), r64.calls.max("w"), r.calls.export("a"), r.calls.min("none"), r64.calls.setBit("a", 1, 1)]);
      all.push([
        results.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as RoarError).name)), await r.facetTop("#1", ["a"], ["a", "b"], 5),
        await r.facetJaccardTop("#1", ["a"], ["a", "b"], 5), await r.facetJaccard("#1", ["a"], ["none", "b"]), await r.crossCard(["a", "b"], ["a"]), await r64.scan("w", 1),
        await r.contains("a", "b"), await r.getBits("none", [1]), await r.statJson("a"), await r.clearBits("none", [1]), await r64.getIntArray("w"),
        await r64.bitField("f", [["SET", "i64", 0, -1n], ["GET", "u63", 1]]), await r.bitField("f2", [["INCRBY", "u1", 1, 5, "FAIL"]]),
        await multi().r64.max("w").r.export("b").r64.clear("f").exec(),
      ]);
      close();
    }
    expect(all[1]).toEqual(all[0]);
    expect(all[0]![0]).toEqual([1 / 3, LAST, expect.any(Uint8Array), null, "WrongTypeError"]);
  });
});
