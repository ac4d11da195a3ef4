// Random operations on sharded bitmaps while the cluster changes under them, compared with Sets: slots move, and replicas take over. With
// OPERATIONS, so many are compared for each client library and way of sharding, and masters are killed as well.

import { Cluster as Ioredis } from "ioredis";
import { createCluster } from "redis6";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { roar as ioredis } from "../../client/src/ioredis.ts";
import { roar as nodeRedis } from "../../client/src/node-redis.ts";
import { type Adapter, ofClusters, type Opened, repliesFor, wrappers } from "../support/adapters.ts";
import { Cluster, type Node } from "../support/cluster.ts";
import { range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { Trial, type Universe, universes } from "../support/trial.ts";
import { inStep, waitUntil } from "../support/waiting.ts";

const SHORT = process.env.OPERATIONS === undefined, OPERATIONS = SHORT ? 20 : Number(process.env.OPERATIONS), NODE_TIMEOUT_MS = 1000;
/** So many operations are compared while the cluster changes once. */
const AT_ONCE = 5;
const LONGEST_MS = 3_600_000;

let cluster: Cluster;
/** Starts three masters, each with a replica. */
async function start(): Promise<void> {
  cluster = await Cluster.start(3, NODE_TIMEOUT_MS);
  for (const primary of cluster.primaries) await cluster.addReplica(primary);
}
const stop = (): Promise<void> => cluster.stop();

/** Moves the slot of a random shard to another master. */
async function moveSlot(rng: Random, homes: Map<number, number>, shards: number): Promise<void> {
  const slot = await cluster.slotOf(`{${rng.below(shards)}}`), from = homes.get(slot) ?? cluster.firstHome(slot);
  const to = (from + 1 + rng.below(cluster.primaries.length - 1)) % cluster.primaries.length;
  await cluster.moveSlot(slot, cluster.primaries[from]!, cluster.primaries[to]!);
  homes.set(slot, to);
}

type Run = readonly [name: string, adapter: Adapter, universe: Universe];
const runsOf = (adapters: readonly Adapter[], some: readonly Universe[]): Run[] => adapters.flatMap((adapter) =>
  some.map((universe) => [`${adapter.name}, ${universe.family}, by ${"by" in universe.sharding ? "hash" : "range"}`, adapter, universe] as const));

async function opened(adapter: Adapter): Promise<Opened> {
  await cluster.onAll(...repliesFor(adapter));
  for (const i of range(0, cluster.primaries.length)) await cluster.replicaOf(i).connection.run(...repliesFor(adapter)); // they take over
  return adapter.openCluster!(cluster.ports);
}

async function expectAll(trial: Trial): Promise<void> {
  for (const i of range(0, trial.size)) {
    const [expected, actual] = await trial.contents(i);
    expect(actual, `bitmap ${i} in the end`).toEqual(expected);
  }
}

describe("while slots move and replicas take over", () => {
  beforeAll(start, LONGEST_MS);
  afterAll(stop);
  const homes = new Map<number, number>();

  // By hash, each operation is on all shards.
  const some = SHORT ? universes.filter(({ sharding, family }) => "by" in sharding && family === "r") : universes;

  it("a client that may read from replicas does so, and writes to masters", async () => {
    const hosts = cluster.ports.map((port) => ({ host: "127.0.0.1", port }));
    const rootNodes = cluster.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }));
    const replicas = range(0, 3).map((i) => cluster.replicaOf(i)), names = range(0, 30).map((i) => `replicas:${i}`);
    const callsOf = async (command: string, nodes: readonly Node[]): Promise<number> => {
      const texts = await Promise.all(nodes.map(async ({ server }) => (await server.run("INFO", "commandstats")) as string));
      return texts.reduce((sum, text) => sum + Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "mi").exec(text)?.[1] ?? 0), 0);
    };
    // Every node says of every range of slots who has it: from, to, and the nodes.
    const complete = async (): Promise<boolean> =>
      (await cluster.onAll("CLUSTER", "SLOTS")).flat().every((row) => (row as unknown[]).length === 4);
    await waitUntil(complete);
    const lazy = new Ioredis(hosts, { scaleReads: "slave" }), eager = await createCluster({ rootNodes, useReplicas: true }).connect();
    try {
      for (const { r } of [ioredis(lazy), nodeRedis(eager)]) {
        const before = await callsOf("r.getbit", replicas);
        await Promise.all(names.map((name) => r.setBit(name, 7, 1)));
        await waitUntil(async () => (await Promise.all(names.map((name) => r.getBit(name, 7)))).every((bit) => bit === 1));
        expect(await callsOf("r.getbit", replicas)).toBeGreaterThan(before);
      }
      expect(await callsOf("r.setbit", cluster.primaries)).toBeGreaterThanOrEqual(2 * names.length);
    } finally {
      lazy.disconnect();
      eager.destroy();
    }
  });

  it.each(runsOf(ofClusters(wrappers), some))("%s answers what Sets do", async (name, adapter, universe) => seeded(async (rng) => {
    const client = await opened(adapter), trial = new Trial(rng, client[universe.family], universe, name);
    let change: Promise<unknown> = Promise.resolve();
    try {
      for (let step = 0; step < OPERATIONS; step++) {
        if (step % AT_ONCE === 0) {
          await change;
          change = step % (4 * AT_ONCE) === 0 ? cluster.takeOver(rng.below(3)) : moveSlot(rng, homes, universe.shards);
          change.catch(() => {}); // it is awaited later
        }
        const [operation, actual, expected] = await trial.step();
        expect(actual, `operation ${step}: ${operation}`).toEqual(expected);
      }
      await change;
      await expectAll(trial);
    } finally {
      await change.catch(() => {});
      await client.close();
    }
  })(), LONGEST_MS);
});

/** These ask the other nodes who has the slots when they lose a node. node-redis 4 and 5 wait for the lost node to come back. */
const steady = wrappers.filter(({ name }) => name === "node-redis 6" || name.startsWith("ioredis"));

describe.skipIf(SHORT)("while masters are killed", () => {
  beforeEach(start, LONGEST_MS);
  afterEach(stop);

  it.each(runsOf(steady, universes))("%s answers what Sets do, or that it failed", async (name, adapter, universe) => seeded(async (rng) => {
    const client = await opened(adapter), trial = new Trial(rng, client[universe.family], universe, name);
    const restored = async (): Promise<void> => {
      for (let failures = 0; ; failures++) {
        try {
          return await trial.restore();
        } catch (error) {
          if (failures === 100) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    };
    let failed = 0, succeeded = 0, killing: Promise<unknown> = Promise.resolve();
    try {
      for (const victim of [0, 1, 2]) {
        for (let step = 0; step < OPERATIONS; step++) {
          if (step === OPERATIONS / 2) {
            await inStep(cluster.replicaOf(victim).server, cluster.primaries[victim]!.server);
            killing = cluster.kill(victim);
          }
          try {
            const [operation, actual, expected] = await trial.step();
            expect(actual, `operation ${step}: ${operation}`).toEqual(expected);
            succeeded++;
          } catch (error) {
            // What was on its way is done or not, and of what was acknowledged in that moment the replica may lack some.
            if ((error as Error).name === "AssertionError") throw error;
            failed++;
            await restored();
          }
          if (step === OPERATIONS / 2) await restored();
        }
        await killing;
        await expectAll(trial);
      }
      expect(succeeded).toBeGreaterThan(failed);
    } finally {
      await client.close();
    }
  })(), LONGEST_MS);
});
