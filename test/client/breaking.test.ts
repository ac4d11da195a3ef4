// Connections that break while calls are on their way. What was acknowledged has happened once; what must not happen twice is not repeated.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createClient as create4, createCluster as createCluster4 } from "redis4";
import { createClient as create5, createClientPool as createPool5, createCluster as createCluster5 } from "redis5";
import { createClient as create6, createClientPool as createPool6, createCluster as createCluster6 } from "redis6";
import { describe, expect, it, vi } from "vitest";
import type { roar as nodeRedis } from "../../client/src/node-redis.ts";
import { type Adapter, type Opened, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { Proxy } from "../support/proxy.ts";
import { byName, useServer } from "../support/suite.ts";

const server = useServer({ listens: true });
const ROUNDS = 10, CALLS = 50;
/** How long a call may take whose answer may never come: a library that gives calls the answers of others leaves some without. */
const PATIENCE_MS = 6000;
/** Where the counter begins: all its values have four digits, so that all replies have the same length. */
const FIRST = 1000;

type Answer = PromiseSettledResult<bigint>;

interface Way {
  name: string;
  /** The length of the server's replies to one addition. */
  bytes: number;
  /** Adds 1 to a counter so many times, and says what became of every addition. */
  add: (client: Opened, times: number) => Promise<Answer[]>;
}

const ways: readonly Way[] = [
  { name: "single calls", bytes: "*1\r\n:1234\r\n".length, add: ({ r }, times) => Promise.allSettled(range(0, times).map(async () => (await r.bitField("k", [["INCRBY", "u32", 0, 1]]))[0]!)) },
  { name: "a pipeline", bytes: "*1\r\n:1234\r\n".length, add: async ({ r, pipeline }, times) =>
    (await pipeline(range(0, times).map(() => r.calls.bitField("k", [["INCRBY", "u32", 0, 1]]))))
      .map((one) => (one.status === "fulfilled" ? { status: one.status, value: one.value[0]! } : one)) },
  { name: "transactions", bytes: "+OK\r\n+QUEUED\r\n*1\r\n*1\r\n:1234\r\n".length, add: ({ multi }, times) =>
    Promise.allSettled(range(0, times).map(async () => (await multi().r.bitField("k", [["INCRBY", "u32", 0, 1]]).exec())[0][0]!)) },
];

interface Break {
  name: string;
  /** The libraries that then give calls the answers of others: see the section "Versions of node-redis" of the client's README. */
  confused: readonly string[];
  /** Breaks the connection while calls that `ask` makes are on their way, and answers those that are not over. */
  sever: (relay: Proxy, client: Opened, ask: () => Promise<void>[]) => Promise<Promise<unknown>[]>;
}

const breaks: readonly Break[] = [
  { name: "breaks within a reply", confused: ["node-redis 4"], sever: async (relay, _client, ask) => {
    const broken = relay.severAfter(20 * ":1001\r\n".length + ":10".length), asked = ask();
    await broken;
    relay.mend();
    await Promise.all(asked);
    return [];
  } },
  { name: "is reset while calls wait to be written", confused: ["node-redis 5"], sever: async (relay, { r }, ask) => {
    relay.deafen();
    const lost = r.getBits("none", range(0, 200_000)).catch(() => {}); // more than the relay has read when it closes
    await setTimeout(20); // A timer's calls are written after the library is told of the reset.
    relay.sever();
    relay.mend();
    return [lost, ...ask()];
  } },
];

describe.each(byName<Adapter>(wrappers))("%s", (_, adapter) => {
  it.each(byName(ways))("adds no acknowledged 1 twice in %s", async (_way, { bytes, add }) => {
    const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), socket = join(folder, "relay");
    const relay = await Proxy.to(server.port, socket), client = await adapter.open({ socket });
    const acknowledged: bigint[] = [];
    /** Half a reply, too: but not for node-redis 4, as below. */
    const half = adapter.rounds ? 0 : 6;
    let failed = 0;
    try {
      await server.run("R.BITFIELD", "k", "SET", "u32", 0, FIRST);
      for (let round = 0; round < ROUNDS; round++) {
        await client.r.bitCount("k"); // connected
        const broken = relay.severAfter(bytes * (1 + 4 * round) + half), adding = add(client, CALLS);
        await broken;
        relay.mend();
        for (const answer of await adding) {
          if (answer.status === "fulfilled") acknowledged.push(answer.value);
          else failed++;
        }
      }
    } finally {
      await client.close();
      relay.close();
      rmSync(folder, { recursive: true });
    }
    const [after] = (await server.run("R.BITFIELD_RO", "k", "GET", "u32", 0)) as [number];
    const value = after - FIRST;
    expect(failed, "connections broke").toBeGreaterThan(0);
    expect(new Set(acknowledged).size, "every answer is another value").toBe(acknowledged.length);
    expect(value - acknowledged.length, "what happened without an answer is among the failures").toBeLessThanOrEqual(failed);
    expect(value).toBeGreaterThanOrEqual(acknowledged.length);
  });

  it("repeats what is harmless, or says that it failed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), socket = join(folder, "relay");
    const relay = await Proxy.to(server.port, socket), client = await adapter.open({ socket });
    try {
      await client.r.bitCount("k");
      const broken = relay.severAfter(100), setting = Promise.allSettled(range(0, CALLS).map((offset) => client.r.setBit("k", offset, 1)));
      await broken;
      relay.mend();
      const set = (await setting).flatMap(({ status }, offset) => (status === "fulfilled" ? [offset] : []));
      const members = new Set(await client.r.getIntArray("k"));
      expect(set.filter((offset) => !members.has(offset))).toEqual([]);
    } finally {
      await client.close();
      relay.close();
      rmSync(folder, { recursive: true });
    }
  });

  it.each(byName(breaks))("gives calls their own answers when a connection %s, or is known not to", async (_how, { sever, confused }) => {
    const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), socket = join(folder, "relay"), counts = range(FIRST, CALLS);
    await server.connection.pipeline(counts.map((count) => ["R.SETRANGE", `of ${count}`, 0, count]));
    const isConfused = confused.includes(adapter.name);
    let right = 0, wrong = 0;
    for (let round = 0; round < (isConfused ? 1 : 3); round++) {
      const relay = await Proxy.to(server.port, socket), client = await adapter.open({ socket });
      const { r } = client.with({ timeout: PATIENCE_MS });
      const count = (answer: number, expected: number): void => void (answer === expected ? right++ : wrong++);
      const ask = (): Promise<void>[] => counts.map((one) => r.bitCount(`of ${one}`).then((answer) => count(answer, one), () => {}));
      await client.r.bitCount("k"); // connected
      const asked = await sever(relay, client, ask);
      await setImmediate();
      await Promise.all([...asked, ...ask()]);
      await client.close();
      relay.close();
    }
    rmSync(folder, { recursive: true });
    if (isConfused) expect(wrong).toBeGreaterThan(0);
    else expect([wrong, right]).toEqual([0, expect.toSatisfy((calls: number) => calls >= CALLS)]);
  });
});

const NODES = { rootNodes: [{}] };

it.each<[name: string, isWarnedOf: boolean, create: () => Parameters<typeof nodeRedis>[0]]>([
  ["a client of node-redis 4", true, create4], ["a cluster client of node-redis 4", true, () => createCluster4(NODES)],
  ["a client of node-redis 5", true, create5], ["a cluster client of node-redis 5", true, () => createCluster5(NODES)],
  ["a pool of node-redis 5", true, createPool5],
  ["a client of node-redis 6", false, create6], ["a cluster client of node-redis 6", false, () => createCluster6(NODES)],
  ["a pool of node-redis 6", false, createPool6], ["an object that sends commands", false, () => ({ sendCommand: () => Promise.resolve() })],
])("of %s the program is warned: %s, and once", async (_, isWarnedOf, create) => {
  vi.resetModules();
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { roar } = await import("../../client/src/node-redis.ts");
  for (let i = 0; i < 3; i++) roar(create());
  expect(warn.mock.calls).toEqual(isWarnedOf ? [[expect.stringMatching(/node-redis.*use version 6/), { code: "REDIS_ROAR_NODE_REDIS" }]] : []);
  warn.mockRestore();
});
