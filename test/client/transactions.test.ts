// Transactions, signals and timeouts, questions, hooks, and what else is more than one command.

import { Cluster as IoredisCluster, Redis } from "ioredis";
import { createClientPool as createPool5 } from "redis5";
import { createClientPool as createPool6 } from "redis6";
import { tracingChannel } from "node:diagnostics_channel";
import { describe, expect, it } from "vitest";
import { AbortError, command, InvalidArgumentError, q, type RoarError, TimeoutError, type Trace, TransactionError, WatchError, WrongTypeError } from "../../client/src/index.ts";
import { roar as ioredis } from "../../client/src/ioredis.ts";
import { roar as nodeRedis } from "../../client/src/node-redis.ts";
import { type Adapter, ofClusters, repliesFor, useClient, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { byName, useCluster, useServer } from "../support/suite.ts";

const server = useServer(), cluster = useCluster(3);
const failure = async (answer: Promise<unknown>): Promise<unknown> => answer.then(() => "no error", (error: unknown) => error);

describe.each(byName<Adapter>(wrappers))("%s", (_, adapter) => {
  const client = useClient(async () => {
    await server.run(...repliesFor(adapter));
    return adapter.open(server);
  });

  it("executes transactions with typed answers, exact members and bytes", async () => {
    const { multi } = client, last = 2n ** 64n - 1n;
    const answers = await multi().r.setBits("k", [7, 9]).r.max("k").r64.setBit("wide", last, 1).r64.max("wide").r.export("k").r.getBits("none", [1, 2]).exec();
    expect(answers.slice(0, 4)).toEqual([2, 9, 0, last]);
    expect(answers[4]).toEqual(await client.r.export("k"));
    expect(answers[5]).toEqual([0, 0]);
    expect(await multi().exec()).toEqual([]);
    expect(() => multi().r.setBit("k", -1, 1)).toThrow(InvalidArgumentError);
  });

  it("takes any other command in transactions and pipelines, beside those of the module", async () => {
    const { multi, pipeline, r } = client, key = Buffer.from([0xff, 0x80]);
    const answers = await multi().r.setBits("k", [7, 9]).call<number>("EXPIRE", "k", 600).call("SADD", "s", "a", 5, 2n ** 64n).call("SMEMBERS", "s")
      .call("SET", "text", "17").call("GET", "text").call("INCRBY", "text", adapter.rounds ? 1 : 2n ** 53n).call("GET", "none").r.bitCount("k")
      .call(command("DEL", ["s", "text", "none"], { keys: [0, 1, 2] })).exec();
    expect([answers[0], answers[1], answers[2]]).toEqual([2, 1, 3]);
    expect(new Set(answers[3] as string[])).toEqual(new Set(["a", "5", String(2n ** 64n)]));
    expect(answers.slice(4, 6)).toEqual(["OK", "17"]);
    expect(answers[6]).toBe(adapter.rounds ? 18 : 2n ** 53n + 17n);
    if (adapter.rounds) expect(await failure(multi().call("INCRBY", "text", 2n ** 53n).exec())).toMatchObject({ message: expect.stringContaining("rounded") as string });
    expect(answers.slice(7)).toEqual([null, 2, 2]);
    expect(await server.run("TTL", "k")).toBeGreaterThan(590);
    const [set, get, ttl, count] = await pipeline([command("SET", [key, "x"]), command("GET", [key], { readonly: true }), command("TTL", ["k"]), r.calls.bitCount("k")]);
    expect([set, get, count].map((one) => (one as PromiseFulfilledResult<unknown>).value)).toEqual(["OK", "x", 2]);
    expect((ttl as PromiseFulfilledResult<unknown>).value).toBeGreaterThan(590);
    const error = await failure(multi().call("SADD", "k", "a").r.bitCount("k").exec()) as TransactionError;
    expect(error.results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    for (const bad of [() => command("", []), () => command("GET", [{} as never]), () => command("GET", [NaN]), () => command("GET", ["k"], { keys: [1] })]) {
      expect(bad).toThrow(InvalidArgumentError);
    }
    expect(() => multi().call("GET KEY")).toThrow(InvalidArgumentError);
  });

  it("says which calls of a transaction failed, and that none was executed if the server refused it", async () => {
    await server.run("SET", "text", "x");
    const error = await failure(client.multi().r.setBit("k", 1, 1).r.setBit("text", 1, 1).exec()) as TransactionError;
    expect(error).toBeInstanceOf(TransactionError);
    expect(error.results[0]).toEqual({ status: "fulfilled", value: 0 });
    expect((error.results[1] as PromiseRejectedResult).reason).toBeInstanceOf(WrongTypeError);
    await server.run("CONFIG", "SET", "maxmemory", 1);
    expect(await failure(client.multi().r.setBit("other", 1, 1).exec())).toMatchObject({ name: "OutOfMemoryError" });
    await server.run("CONFIG", "SET", "maxmemory", 0);
    expect(await client.r.bitCount("other")).toBe(0);
  });

  it("sends nothing for a signal that is aborted, and gives up what is on its way", async () => {
    const reason = new Error("enough"), aborted = client.with({ signal: AbortSignal.abort(reason) });
    for (const answer of [aborted.r.setBit("k", 1, 1), aborted.r.sharded("s", { shards: 2 }).setBits([1]), aborted.multi().r.setBit("k", 1, 1).exec(), aborted.pipeline([client.r.calls.setBit("k", 1, 1)])]) {
      const error = await failure(answer) as AbortError;
      expect(error).toBeInstanceOf(AbortError);
      expect([error.sent, error.cause]).toEqual([false, reason]);
    }
    expect(await client.r.bitCount("k")).toBe(0);

    await server.run("CLIENT", "PAUSE", 300, "ALL");
    const controller = new AbortController(), given = client.r.with({ signal: controller.signal }).setBit("k", 1, 1);
    setTimeout(() => controller.abort(), 30);
    expect(await failure(given)).toMatchObject({ name: "AbortError", sent: true, command: "R.SETBIT" });
    const late = [client.r.with({ timeout: 30 }).getBit("k", 1), client.r.sharded("s", { shards: 2 }).with({ timeout: 30 }).count()];
    for (const answer of late) expect(await failure(answer)).toBeInstanceOf(TimeoutError);
    await server.run("CLIENT", "UNPAUSE");
    expect(await client.with({ timeout: 60_000 }).r.bitCount("none")).toBe(0);
    for (const timeout of [0, -1, 1.5, 2 ** 31, Number.NaN]) expect(() => client.with({ timeout })).toThrow(InvalidArgumentError);
  });

  it("answers questions that number their bitmaps themselves", async () => {
    const { r } = client, [chess, go, banned] = ["tag:chess", Buffer.from("tag:go"), "banned"];
    await r.setBits(chess, [1, 2, 3, 4]);
    await r.setBits(go, [2, 3, 4, 5]);
    await r.setBits(banned, [4]);
    const both = q`${chess} & ${go}`, allowed = q`${both} - ${banned}`;
    expect([both.expression, both.sources]).toEqual(["#1 & #2", [chess, go]]);
    expect([q`${allowed} | ${chess} & [${2}..${9n}]`.expression, q`atleast(${2}, ${[chess, go, banned]})`.expression])
      .toEqual(["((#1 & #2) - #3) | #1 & [2..9]", "atleast(2, #1, #2, #3)"]);
    expect(await r.query(allowed).card()).toBe(2);
    expect(await r.query(allowed).members({ from: 3 })).toEqual([3]);
    expect(await r.query(q`atleast(${2}, ${[chess, go, banned]})`).members()).toEqual([2, 3, 4]);
    expect(await r.query(allowed).store("allowed")).toBe(2);
    expect(await r.import("copy", await r.query(allowed).export())).toBe(2);
    expect(await r.query(allowed).facet([chess, "banned", "none"])).toEqual([2, 0, 0]);
    expect(await r.query(both).facetTop(["banned", chess, "none", "tag:go"], 2)).toEqual([["tag:chess", 3], ["tag:go", 3]]);
    expect(await r.query(both).facetTop(["banned", chess], 5, { by: "JACCARD", min: "0.5" })).toEqual([["tag:chess", 0.75]]);
    expect(await r.query(both).facetTop(["banned", chess], 5, { by: "OVERLAP" })).toEqual([["banned", 1], ["tag:chess", 1]]);
    const within = { expression: both.expression, keys: both.sources };
    expect(await r.crossCard([chess, go], [chess, go], { within })).toEqual([[3, 3], [3, 3]]);
    const pages: number[][] = [], single: number[] = [];
    for await (const page of r.query(both).pages({ count: 2 })) pages.push(page);
    for await (const member of r.query(both).iterator()) single.push(member);
    expect([pages, single]).toEqual([[[2, 3], [4]], [2, 3, 4]]);
    const [x, y] = ["x", "y"].map((name) => r.sharded(name, { by: "hash", shards: 4 })) as [ReturnType<typeof r.sharded>, ReturnType<typeof r.sharded>];
    await x.setBits(range(0, 100));
    await y.setBits(range(50, 100));
    const common = r.query(q`${x} & ${y} & [${60}..${1000}]`);
    expect([await common.card(), await common.members({ limit: 2 }), await common.store(x), await x.min()]).toEqual([40, [60, 61], 40, 60]);
    expect(await r.query(q`${x} | ${y}`).facet([x, y])).toEqual([40, 100]);
    expect(await r.query(q`${x} & ${y}`).facetTop([x, y], 1, { by: "JACCARD" })).toEqual([[x, 1]]);
    for (const bad of [() => q`#1 & ${chess}`, () => q`any(${[]})`, () => q`${undefined as never}`, () => r.query(q`[0..5]`), () => r.query(q`${x} & ${chess as never}`)]) {
      expect(bad).toThrow(InvalidArgumentError);
    }
    expect(await failure(r.query(q`${x} & & ${y}`).card())).toMatchObject({ message: (await failure(r.queryCard("#1 & & #2", ["a", "b"])) as RoarError).message });
  });

  it("tells subscribers of every call what it was, what came of it and how long it took", async () => {
    const channel = tracingChannel<Trace, Trace>("redis-roar-client:call"), seen: string[] = [];
    const listeners = {
      start: ({ calls }: Trace) => void seen.push(`start ${calls.map(({ name }) => name).join()}`), end: () => {}, asyncStart: () => {},
      asyncEnd: ({ error }: Trace) => void seen.push(error ? `failed: ${(error as Error).name}` : "answered"), error: () => {},
    };
    channel.subscribe(listeners);
    await client.r.setBit("k", 1, 1);
    await server.run("SET", "text", "x");
    await failure(client.r.getBit("text", 1));
    await client.pipeline([client.r.calls.max("k"), client.r.calls.min("k")]);
    channel.unsubscribe(listeners);
    await client.r.setBit("k", 1, 1);
    expect(seen).toEqual(["start R.SETBIT", "answered", "start R.GETBIT", "failed: WrongTypeError", "start R.MAX,R.MIN", "answered"]);
  });
});

describe.each(byName<Adapter>(ofClusters(wrappers)))("%s in a cluster", (_, adapter) => {
  const client = useClient(() => adapter.openCluster!(cluster.ports));

  it("executes transactions on the node that has their keys, and refuses keys of several slots", async () => {
    for (const tag of ["a", "b", "c"]) {
      expect(await client.multi().r.setBits(`{${tag}}x`, [1]).r.bitOp("OR", `{${tag}}y`, [`{${tag}}x`]).r.clear(`{${tag}}x`).exec()).toEqual([1, 1, 1]);
    }
    await client.multi().call("DEL", "{d}s").call("DEL", "{d}x").exec();
    expect(await client.multi().call("SADD", "{d}s", "x").r.setBits("{d}x", [1]).call("EXPIRE", "{d}x", 60).exec()).toEqual([1, 1, 1]);
    await expect(client.multi().r.setBit("a", 1, 1).r.setBit("b", 1, 1).exec()).rejects.toThrow(/must be in one slot/);
    await expect(client.multi().r.setBit("a", 1, 1).call("EXPIRE", "b", 1).exec()).rejects.toThrow(/must be in one slot/);
    await expect(client.multi().call(command("DEL", ["a", "b"], { keys: [0, 1] })).exec()).rejects.toThrow(/must be in one slot/);
  });
});

describe.each([["node-redis 5", createPool5], ["node-redis 6", createPool6 as unknown as typeof createPool5]])("a pool of %s", (_, createPool) => {
  it("executes each transaction on one connection, and leaves none in a transaction", async () => {
    const pool = createPool({ socket: { path: server.socket, tls: false } }, { minimum: 3, maximum: 3 });
    await pool.connect();
    const { r, multi } = nodeRedis(pool);
    const answers = await Promise.all(range(0, 30).map((offset) => multi().r.setBit("k", offset, 1).r.getBit("k", offset).exec()));
    expect(answers).toEqual(range(0, 30).map(() => [0, 1]));
    expect(await Promise.all(range(0, 30).map((offset) => r.getBit("k", offset)))).toEqual(range(0, 30).map(() => 1));
    await server.run("SET", "text", "x");
    expect(await failure(multi().r.setBit("text", 1, 1).exec())).toBeInstanceOf(TransactionError);
    pool.destroy();
  });
});

describe("ioredis", () => {
  it("is told by null that a watched key was changed", async () => {
    const redis = new Redis({ path: server.socket }), { multi } = ioredis(redis);
    await redis.watch("k");
    await server.run("R.SETBIT", "k", 1, 1);
    expect(await failure(multi().r.setBit("k", 2, 1).exec())).toBeInstanceOf(WatchError);
    redis.disconnect();
  });

  it("collects the calls of a tick if enableAutoPipelining says so", async () => {
    const redis = new Redis({ path: server.socket, enableAutoPipelining: true }), { r } = ioredis(redis);
    await r.bitCount("k");
    const reads = async (): Promise<number> => Number(await server.info("total_reads_processed")), before = await reads();
    expect(await Promise.all(range(0, 200).map((offset) => r.setBit("k", offset % 100, 1)))).toEqual(range(0, 200).map((offset) => (offset < 100 ? 0 : 1)));
    expect(await reads() - before).toBeLessThan(20);
    redis.disconnect();
  });

  it("leaves the program's own reply transformer alone, and reads the slots of a cluster as numbers", async () => {
    const { Command } = await import("ioredis"), mine = (reply: unknown): unknown => reply;
    Command.setReplyTransformer("cluster", mine);
    const redis = new IoredisCluster(cluster.ports.map((port) => ({ host: "127.0.0.1", port })), { redisOptions: { stringNumbers: true } });
    ioredis(redis);
    await redis.ping();
    await ioredis(redis).r.setBit("a", 1, 1);
    expect((redis as unknown as { slots: unknown[] }).slots.filter(Boolean)).toHaveLength(16_384);
    expect((Command as unknown as { _transformer: { reply: Record<string, unknown> } })._transformer.reply.cluster).toBe(mine);
    redis.disconnect();
  });
});
