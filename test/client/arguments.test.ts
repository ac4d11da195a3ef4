// What a method refuses before anything is sent, and what it answers where a client library or the server would surprise.

import { Redis } from "ioredis";
import { createClient } from "redis6";
import { describe, expect, it } from "vitest";
import {
  type Bitmaps, callsOf, InexactReplyError, InvalidArgumentError, type Key, LocalBitmap, offsetsIn, q, R, R64, RoarError, WrongTypeError,
} from "../../client/src/index.ts";
import { roar as ioredis } from "../../client/src/ioredis.ts";
import { roar as nodeRedis } from "../../client/src/node-redis.ts";
import { type Adapter, asModules, useClient, wrappers } from "../support/adapters.ts";
import { expectEqual, byName, useServer } from "../support/suite.ts";
import { range } from "../support/family.ts";

const server = useServer({ listens: true });

/** The commands of the module that the server has executed. */
const executed = async (): Promise<string[]> =>
  [...((await server.run("INFO", "commandstats")) as string).matchAll(/^cmdstat_(R\d*\.\w+)/gim)].map(([, name]) => name!);

/** A value that the compiler would refuse. */
const wrong = <T>(value: unknown): T => value as T;

/** Calls that were harmful: text and bytes as lists, no keys, and pages of nothing. */
const refused: readonly [name: string, call: (r: Bitmaps<number>, r64: Bitmaps<bigint>) => Promise<unknown>][] = [
  ["text as a list of keys", (r) => r.bitOp("OR", "dest", wrong("tag:chess"))],
  ["text as a list of keys to count", (r) => r.bitOpCard("OR", wrong("tag:chess"))],
  ["text as a list of offsets", (_, r64) => r64.setBits("likes", wrong("18446744073709551615"))],
  ["text as a list of values", (_, r64) => r64.setIntArray("likes", wrong("123"))],
  ["a text object as a list", (_, r64) => r64.setBits("likes", wrong(Object("123")))],
  ["bytes as a list of offsets", (r) => r.setBits("likes", wrong(Buffer.from("123")))],
  ["bytes as a list of keys", (r) => r.mGetBit(1, wrong(new Uint8Array(3)))],
  ["text as the keys of a question", (r) => r.queryCard("#1", wrong("abc"))],
  ["text as the keys to store a question", (r) => r.queryStore("dest", "#1", wrong("abc"))],
  ["text as the keys of at least two", (r) => r.atLeast(2, wrong("abc"))],
  ["text as offsets of a sharded bitmap", (_, r64) => r64.sharded("s", { shards: 2 }).setBits(wrong("123"))],
  ["bytes as offsets of a sharded bitmap", (r) => r.sharded("s", { shards: 2 }).getBits(wrong(Buffer.from("123")))],
  ["no list", (r) => r.setBits("likes", wrong(undefined))],
  ["a number as a list", (r) => r.setBits("likes", wrong(5))],
  ["no key", (r) => r.setBit(wrong(undefined), 1, 1)],
  ["null as a key", (r) => r.getBit(wrong(null), 1)],
  ["a number as a key", (r) => r.bitCount(wrong(7))],
  ["no key in a list", (r) => r.bitOpCard("OR", ["a", wrong(undefined)])],
  ["no offset", (r) => r.setBit("k", wrong(undefined), 1)],
  ["an object as an offset", (_, r64) => r64.setBit("k", wrong({}), 1)],
  ["no text", (r) => r.queryCard(wrong(undefined), ["a"])],
  ["text as a payload", (r) => r.import("k", wrong("abc"))],
  ["pages of nothing", (r) => r.scan("k", 0, { count: 0 })],
  ["text as a list of operations", (r) => r.bitField("k", wrong("GET"))],
  ["no operations", (_, r64) => r64.bitFieldRo("k", wrong(null))],
  ["a sharded bitmap without shards", async (r) => r.sharded("s", wrong(undefined)).count()],
  ["a signal that is none", async (r) => r.with({ signal: wrong({}) }).setBit("k", 1, 1)],
  ["text as a time limit", async (r) => r.with({ timeout: wrong("5") }).setBit("k", 1, 1)],
];

describe.each(byName<Adapter>(wrappers))("%s", (_, adapter) => {
  const client = useClient(() => adapter.open(server));

  it.each(refused)("refuses %s", async (_what, call) => {
    await server.run("CONFIG", "RESETSTAT");
    const error = await call(client.r, client.r64).then(() => "no error", (reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect((error as Error).message).toMatch(/^invalid (?:\w+): /);
    expect(await executed()).toEqual([]);
  });

  it("refuses pages of nothing before it begins", async () => {
    for (const pages of [client.r.scanPages("k", { count: 0 }), client.r.queryPages("#1", ["k"], { count: 0 }), client.r.sharded("s", { shards: 2 }).scanPages({ count: 0 })]) {
      await expect(pages.next()).rejects.toBeInstanceOf(InvalidArgumentError);
    }
  });

  it("names the command in every error", async () => {
    await expect(client.r.setBit("k", -1, 1)).rejects.toMatchObject({ command: "R.SETBIT", name: "InvalidArgumentError" });
    await expect(client.r64.bitOp("OR", "d", [])).rejects.toMatchObject({ command: "R64.BITOP" });
    await expect(client.r.queryMembers("#1", wrong("abc"))).rejects.toMatchObject({ command: "R.QUERY" });
    expect(() => client.r.calls.bitField("k", [["GET", wrong("x9"), 0]])).toThrow(expect.objectContaining({ command: "R.BITFIELD" }));
  });

  it("takes typed arrays, Sets and generators as lists, and bytes as keys", async () => {
    const { r, r64 } = client, key = new Uint8Array([0xff, 0, 1]);
    expect(await r.setBits(key, new Uint32Array([7, 8, 2 ** 32 - 1]))).toBe(3);
    expect(await r.getBits(Buffer.from(key), new Set([7, 9]))).toEqual([1, 0]);
    expect(await r64.setBits("k", new BigUint64Array([2n ** 64n - 1n, 1n]))).toBe(2n);
    expect(await r64.bitOp("OR", key, (function* keys() { yield "k"; })())).toBe(2n);
  });

  it("answers a bit for each offset of a missing key", async () => {
    expect(await client.r.getBits("none", [1, 2, 3])).toEqual([0, 0, 0]);
    expect(await client.r.mGetBit(1, ["none", "nothing"])).toEqual([0, 0]);
    expect(await client.r.sharded("none", { shards: 2 }).getBits([1, 2 ** 31 + 5])).toEqual([0, 0]);
  });

  it("sets and reads lists that are longer than an argument list can be", async () => {
    const { r } = client, many = range(0, 200_000, 2), sharded = r.sharded("s", { width: 131_072, shards: 4 });
    expect(await r.setBits("many", many)).toBe(many.length);
    expectEqual(await r.queryMembers("#1", ["many"], { limit: many.length }), many);
    expect(await sharded.setBits(many)).toBe(many.length);
    expectEqual(await sharded.range(0, 400_000, { limit: many.length }), many);
    expectEqual(await sharded.queryMembers("#1", [], { limit: many.length }), many);
  });
});

describe("a program's own transaction", () => {
  it("is told that its replies come later", async () => {
    const redis = new Redis({ path: server.socket });
    await redis.multi({ pipeline: false });
    for (const answer of [ioredis(redis).r.setBit("k", 1, 1), ioredis(redis).r.getBitArray("k"), ioredis(redis).r.export("k")]) {
      await expect(answer).rejects.toThrow(/the connection is in a transaction.*use multi\(\)/);
    }
    redis.disconnect();

    const client = await createClient({ socket: { path: server.socket, tls: false } }).connect();
    await client.sendCommand(["MULTI"]);
    const error: unknown = await nodeRedis(client).r.setBit("k", 1, 1).catch((reason: unknown) => reason);
    expect([(error as Error).name, error instanceof RoarError]).toEqual(["RoarError", true]);
    client.destroy();
  });
});

describe("bitmaps and offsets in this process", () => {
  it("are refused where they are of another type, and null is what export answers for a missing key", async () => {
    expect([...LocalBitmap.read(R, null)]).toEqual([]);
    for (const bad of ["abc", 7, undefined]) expect(() => LocalBitmap.read(R64, wrong(bad))).toThrow(InvalidArgumentError);
    for (const bad of [[7, 8], Buffer.from("7"), [null]]) await expect(offsetsIn(R, wrong(bad)).next()).rejects.toBeInstanceOf(InvalidArgumentError);
  });
});

describe("a key prefix", () => {
  it.each(byName<Adapter>([...wrappers, ...asModules].filter(({ prefixes }) => prefixes)))("is not part of the keys that %s answers", async (_, adapter) => {
    const client = await adapter.open(server, "app:"), both = [["k", 2], ["app:app:x", 1]];
    for (const [key, offsets] of [["k", [7, 9]], ["app:app:x", [9]]] as const) await client.r.setIntArray(key, offsets);
    expect(await client.r.facetTop("#1", ["k"], ["app:app:x", "k"], 5)).toEqual(both);
    expect(await client.r.facetOverlapTop("#1", ["k"], ["app:app:x"], 5)).toEqual([["app:app:x", 1]]);
    if (wrappers.includes(adapter)) {
      expect(await client.r.query(q`${"k"}`).facetTop(["k", "app:app:x"], 5)).toEqual(both);
      const calls = [client.r.calls.facetTop("#1", ["k"], ["k", "app:app:x"], 2)];
      expect(await client.pipeline(calls)).toEqual([{ status: "fulfilled", value: both }]);
      expect(await client.multi().r.facetTop("#1", ["k"], ["app:app:x", "k"], 1).exec()).toEqual([[["k", 2]]]);
    }
    await client.close();
  });
});

describe("the keys that facetTop answers", () => {
  it.each(byName<Adapter>([...wrappers, ...asModules]))("are those that %s was given", async (_, adapter) => {
    const client = await adapter.open(server, adapter.prefixes && "app:é:");
    // As text, the first two would be the same.
    const facets: Key[] = [Buffer.from([0x80]), new Uint8Array([0xff]), "t\u00e9xt", Buffer.from("k"), "k"];
    const places = (answer: [key: Key, number: unknown][]): unknown[] => answer.map(([key, number]) => [facets.indexOf(key), number]);
    const counts = [5, 5, 5, 5, 5].map((count, i) => [i, count]);
    await client.r64.setIntArray("wide", [2n ** 63n]);
    await client.r64.setIntArray(facets[1]!, [0n, 2n ** 63n]);
    expect(places(await client.r64.facetTop("#1 | #2", ["wide", facets[1]!], facets, 9))).toEqual([[1, 2n]]);
    await server.run("FLUSHALL");
    for (const [i, facet] of facets.entries()) await client.r.setIntArray(facet, range(0, 9 - i));
    expect(places(await client.r.facetTop("#1", ["k"], facets, 9))).toEqual(counts);
    expect(places(await client.r.facetJaccardTop("#1", ["k"], new Set(facets), 3))).toEqual([[3, 1], [4, 1], [2, 5 / 7]]);
    expect(places(await client.r.facetOverlapTop("#1", ["k"], facets, 2, { min: "1" }))).toEqual([[0, 1], [1, 1]]);
    if (wrappers.includes(adapter)) {
      expect(places(await client.r.query(q`${"k"}`).facetTop(facets, 9))).toEqual(counts);
      const call = client.r.calls.facetTop("#1", ["k"], facets, 9);
      const [first] = await client.pipeline([call, client.r.calls.max("k")]);
      expect(places((first as { value: Awaited<ReturnType<typeof client.r.facetTop>> }).value)).toEqual(counts);
      expect(places((await client.multi().r.facetTop("#1", ["k"], facets, 9).exec())[0])).toEqual(counts);
      expect(() => call.decode([["\ufffd", 5]])).toThrow(InexactReplyError);
    }
    await client.close();
  });

  it("may be bytes beside numbers of members above 2^53", async () => {
    for (const adapter of wrappers.filter(({ rounds }) => !rounds)) {
      const client = await adapter.open(server), key = Buffer.from([0xff]);
      await server.run("FLUSHALL");
      await client.r64.setFull(key);
      await client.r64.clearBits(key, [7]);
      expect(await client.r64.facetTop("~#1", ["none"], [key], 1), adapter.name).toEqual([[key, 2n ** 64n - 1n]]);
      await client.close();
    }
  });
});

describe("a key prefix with a brace", () => {
  it.each(byName<Adapter>(wrappers.filter(({ prefixes }) => prefixes)))("is refused by sharded bitmaps of %s", async (_, adapter) => {
    const client = await adapter.open(server, "{app}:");
    expect(() => client.r.sharded("s", { shards: 4 })).toThrow(/keyPrefix: "\{app\}:" has a brace/);
    expect(await client.r.setBit("k", 1, 1)).toBe(0);
    await client.close();
  });
});

describe("errors", () => {
  it("are told by the reply's code, whatever minifiers call the classes of a client library", async () => {
    const redis = new Redis({ path: server.socket });
    class a extends Error {}
    const renamed = { isCluster: false, options: {}, pipeline: () => redis.pipeline(), sendCommand: () => Promise.reject(new a("WRONGTYPE Operation")) };
    await expect(ioredis(renamed).r.min("k")).rejects.toBeInstanceOf(WrongTypeError);
    const lost = { ...renamed, sendCommand: () => Promise.reject(new a("Connection is closed.")) };
    await expect(ioredis(lost).r.min("k")).rejects.toBeInstanceOf(a);
    redis.disconnect();
  });
});

it("calls say whether a second execution would change more", () => {
  const r = callsOf(R), r64 = callsOf(R64);
  const harmless = [
    r.setBit("k", 1, 1), r.getBit("k", 1), r.setBits("k", [1]), r.bitOp("XOR", "d", ["a", "b"]), r.queryStore("d", "#1 - #2", ["a", "b"]),
    r.bitField("k", [["SET", "u8", 0, 1]]), r64.import("k", new Uint8Array(8)), r.diff("d", "a", "b"), r.bitFieldRo("k", [["GET", "u8", 0]]),
  ];
  const harmful = [
    r.bitField("k", [["GET", "u8", 0], ["INCRBY", "u8", 0, 1]]), r.flipRange("k", 0, 5), r.bitOp("XOR", "d", ["a", "d"]),
    r64.queryStore(Buffer.from("d"), "~#1", ["d"]), r.diff("d", "a", "d"),
  ];
  expect(harmless.filter(({ repeatable }) => !repeatable)).toEqual([]);
  expect(harmful.filter(({ repeatable }) => repeatable)).toEqual([]);
});
