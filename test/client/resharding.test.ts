// A healthy cluster is resharded while programs write: nothing fails, and nothing that was acknowledged is lost.

import { describe, expect, it } from "vitest";
import { type Adapter, ofClusters, wrappers } from "../support/adapters.ts";
import { range, sorted } from "../support/family.ts";
import { byName, useCluster } from "../support/suite.ts";

const cluster = useCluster(3);
const WIDTH = 65_536, SHARDS = 9;

/** Where each slot is that has been moved. */
const moved = new Map<number, number>();

/** Moves the slot of a shard to the next node. */
async function moveShard(shard: number): Promise<void> {
  const slot = await cluster.slotOf(`{${shard}}`), from = moved.get(slot) ?? cluster.firstHome(slot), to = (from + 1) % cluster.primaries.length;
  await cluster.moveSlot(slot, cluster.primaries[from]!, cluster.primaries[to]!);
  moved.set(slot, to);
}

describe.each(byName<Adapter>(ofClusters(wrappers)))("%s", (_, adapter) => {
  it("writes shards, pipelines and transactions while slots move", async () => {
    const client = await adapter.openCluster!(cluster.ports), { r, pipeline, multi } = client;
    const bitmap = r.sharded(adapter.name, { width: WIDTH, shards: SHARDS }), acknowledged = new Set<number>();
    let over = false, rounds = 0;
    const write = async (first: number, set: (offsets: number[]) => Promise<unknown>): Promise<void> => {
      for (let low = first; !over; low += 10, rounds++) {
        const offsets = range(0, SHARDS).map((shard) => shard * WIDTH + low);
        await set(offsets);
        for (const offset of offsets) acknowledged.add(offset);
      }
    };
    const call = (offset: number) => r.calls.setBit(bitmap.keyOf(bitmap.shardOf(offset)), offset, 1);
    const writing = Promise.all([
      write(0, (offsets) => bitmap.setBits(offsets)),
      write(1, async (offsets) => expect((await pipeline(offsets.map(call))).filter(({ status }) => status === "rejected")).toEqual([])),
      write(2, (offsets) => Promise.all(offsets.map((offset) => multi().r.setBit(bitmap.keyOf(bitmap.shardOf(offset)), offset, 1).exec()))),
    ]);
    try {
      await Promise.race([writing, (async () => {
        for (const shard of [0, 1, 2, 3, 4, 5]) {
          const before = rounds;
          await moveShard(shard);
          while (rounds < before + 5) await new Promise((resolve) => setTimeout(resolve, 1));
        }
      })()]);
    } finally {
      over = true;
    }
    await writing;
    expect(acknowledged.size).toBeGreaterThan(300);
    expect(await bitmap.range(0, SHARDS * WIDTH - 1)).toEqual(sorted(acknowledged));
    await client.close();
  });
});
