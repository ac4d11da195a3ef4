// A master is killed while a sharded bitmap is written, and its replica takes over.

import { afterEach, beforeEach, expect, it } from "vitest";
import { type ShardedBitmap, ShardsFailedError } from "../../client/src/index.ts";
import { type Adapter, wrappers } from "../support/adapters.ts";
import { Cluster } from "../support/cluster.ts";
import { range } from "../support/family.ts";
import { byName } from "../support/suite.ts";
import { inStep, waitUntil } from "../support/waiting.ts";

const WIDTH = 65_536, SHARDS = 12, NODE_TIMEOUT_MS = 1000;
/** Batches that are written before the master is killed, and at least so many after its replica has taken over. */
const BATCHES = 150;

let cluster: Cluster;
beforeEach(async () => {
  cluster = await Cluster.start(3, NODE_TIMEOUT_MS);
});
afterEach(() => cluster.stop());

/** On which node each shard is, and which shards are on the first one. */
async function homesOf(bitmap: ShardedBitmap<number>): Promise<{ homes: number[]; ofVictim: number[] }> {
  const homes = await Promise.all(range(0, SHARDS).map(async (shard) => cluster.firstHome(await cluster.slotOf(bitmap.keyOf(shard)))));
  const ofVictim = range(0, SHARDS).filter((shard) => homes[shard] === 0);
  expect(ofVictim.length).toBeGreaterThan(0);
  return { homes, ofVictim };
}

/** These ask the other nodes who has the slots when they lose a node. node-redis 4 and 5 wait for the lost node to come back. */
const libraries = wrappers.filter(({ name }) => name === "node-redis 6" || name.startsWith("ioredis"));

it.each(byName<Adapter>(libraries))("%s loses no write that the replica has", async (_, adapter) => {
  const victim = cluster.primaries[0]!, replica = await cluster.addReplica(victim);
  await waitUntil(async () => (await replica.server.info("master_link_status")) === "up");
  await inStep(replica.server, victim.server);
  const client = await adapter.openCluster!([...cluster.ports, replica.server.port]);
  const bitmap = client.r.sharded("log", { width: WIDTH, shards: SHARDS });
  const { ofVictim } = await homesOf(bitmap), marker = `{${ofVictim[0]}}marker`;

  const acknowledged = new Set<number>(), replicated = new Set<number>(), failed = new Set<number>();
  let batch = 0;
  /** Sets the next offset of every shard, and notes what is acknowledged. */
  const write = async (): Promise<boolean> => {
    const offsets = range(0, SHARDS).map((shard) => shard * WIDTH + batch);
    batch++;
    try {
      await bitmap.setBits(offsets);
      for (const offset of offsets) acknowledged.add(offset);
      return true;
    } catch (error) {
      if (!(error instanceof ShardsFailedError)) throw error;
      for (const { shard } of error.failed) failed.add(shard);
      for (const shard of error.done.keys()) acknowledged.add(offsets[shard]!);
      return false;
    }
  };

  try {
    for (let i = 0; i < BATCHES; i++) {
      await write();
      if (i % 10 !== 0 || i === BATCHES - 1) continue;
      // WAIT counts what this connection wrote, and the replica gets everything before that, too.
      const so_far = [...acknowledged];
      await victim.connection.run("R.SETBIT", marker, i, 1);
      if (await victim.connection.run("WAIT", 1, 5000) === 1) for (const offset of so_far) replicated.add(offset);
    }
    expect(replicated.size).toBeGreaterThan(0);

    const beforeKill = acknowledged.size;
    const inFlight = write(), killed = batch;
    await victim.server.kill();
    await inFlight;
    let after = 0;
    while (after < BATCHES) after = await write() ? after + 1 : 0;
    expect(((await replica.server.run("ROLE")) as unknown[])[0]).toBe("master");
    expect([...failed].filter((shard) => !ofVictim.includes(shard)), "only shards of the lost node fail").toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(beforeKill);

    const members = new Set(await bitmap.range(0, SHARDS * WIDTH - 1));
    expect([...replicated].filter((offset) => !members.has(offset)), "replicated, and lost").toEqual([]);
    const lost = [...acknowledged].filter((offset) => !members.has(offset));
    expect(lost.filter((offset) => !ofVictim.includes(Math.floor(offset / WIDTH)) || offset % WIDTH > killed), "lost elsewhere or later").toEqual([]);
    // What was acknowledged after the last WAIT is what Redis may lose: at most the batches since then.
    expect(lost.length).toBeLessThanOrEqual(10 * ofVictim.length);
  } finally {
    await client.close();
  }
});

it.each(byName<Adapter>(libraries.filter(({ name }) => name.startsWith("ioredis"))))("%s names the shards of a node that is gone", async (_, adapter) => {
  await cluster.onAll("CONFIG", "SET", "cluster-require-full-coverage", "no");
  const client = await adapter.openCluster!(cluster.ports);
  const bitmap = client.r.sharded("log", { width: WIDTH, shards: SHARDS }), { homes, ofVictim } = await homesOf(bitmap);
  try {
    expect(await bitmap.setBits(range(0, SHARDS, WIDTH))).toBe(SHARDS);
    await cluster.primaries[0]!.server.kill();
    const error = await bitmap.count().catch((reason: unknown) => reason) as ShardsFailedError;
    expect(error).toBeInstanceOf(ShardsFailedError);
    expect(error.failed.map(({ shard, key }) => [shard, key])).toEqual(ofVictim.map((shard) => [shard, `log:{${shard}}`]));
    expect([...error.done]).toEqual(range(0, SHARDS).filter((shard) => homes[shard] !== 0).map((shard) => [shard, 1]));
  } finally {
    await client.close();
  }
});
