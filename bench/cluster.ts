// What sharding costs: operations on sharded bitmaps over one, two and three nodes on this machine, and the same on one key of one node.
// Prints a table in Markdown, in milliseconds as the client sees them, one call after the other.

import { Cluster as Client } from "ioredis";
import { performance } from "node:perf_hooks";
import { type Bitmaps, type ShardedBitmap } from "../client/src/index.ts";
import { roar } from "../client/src/ioredis.ts";
import { Cluster } from "../test/support/cluster.ts";
import { range } from "../test/support/family.ts";
import { random } from "../test/support/random.ts";
import { inWords, thisMachine } from "./machine.ts";
import { median } from "./statistics.ts";

const SHARDS = 12, WIDTH = 128 * 65_536, UNIVERSE = SHARDS * WIDTH;
const MEMBERS = 1_000_000, AT_ONCE = 10_000, SEED = 1;
/** Calls of each operation that are measured, after some that are not. */
const CALLS = 100, WARMING = 10;

/** What is measured, for a sharded bitmap and for an ordinary one. */
interface Operations {
  setBit: (offset: number) => Promise<unknown>;
  count: () => Promise<unknown>;
  rank: (offset: number) => Promise<unknown>;
  select: (rank: number) => Promise<unknown>;
  bitOp: () => Promise<unknown>;
  queryCard: () => Promise<unknown>;
  queryMembers: () => Promise<unknown>;
  export: () => Promise<unknown>;
}

const LABELS: Readonly<Record<keyof Operations, string>> = {
  setBit: "`setBit`", count: "`count`", rank: "`rank`", select: "`select`", bitOp: "`bitOp(\"AND\", ...)`", queryCard: "`queryCard(\"#1 - #2\")`",
  queryMembers: "`queryMembers`, first 1000", export: "`export`",
};
const QUERY = "#1 - #2";

const ofSharded = (a: ShardedBitmap<number>, b: ShardedBitmap<number>, result: ShardedBitmap<number>): Operations => ({
  setBit: (offset) => a.setBit(offset, 1), count: () => a.count(), rank: (offset) => a.rank(offset), select: (rank) => a.select(rank),
  bitOp: () => result.bitOp("AND", [a, b]), queryCard: () => a.queryCard(QUERY, [b]),
  queryMembers: () => a.queryMembers(QUERY, [b], { limit: 1000 }), export: () => a.export(),
});

const ofOneKey = (r: Bitmaps<number>, a: string, b: string, result: string): Operations => ({
  setBit: (offset) => r.setBit(a, offset, 1), count: () => r.bitCount(a), rank: (offset) => r.rank(a, offset),
  select: (rank) => r.select(a, rank),
  bitOp: () => r.bitOp("AND", result, [a, b]), queryCard: () => r.queryCard(QUERY, [a, b]),
  queryMembers: () => r.queryMembers(QUERY, [a, b], { limit: 1000 }), export: () => r.export(a),
});

/** The median of each operation, in milliseconds. */
async function measure(operations: Operations): Promise<Record<keyof Operations, number>> {
  const rng = random(SEED), medians: Partial<Record<keyof Operations, number>> = {};
  for (const [name, run] of Object.entries(operations) as [keyof Operations, (argument: number) => Promise<unknown>][]) {
    const times: number[] = [];
    for (let call = 0; call < WARMING + CALLS; call++) {
      const argument = rng.below(name === "select" ? MEMBERS / 2 : UNIVERSE), start = performance.now();
      await run(argument);
      if (call >= WARMING) times.push(performance.now() - start);
    }
    medians[name] = median(times);
  }
  return medians as Record<keyof Operations, number>;
}

/** The same members for each number of nodes: half of them random, half in runs of 1000. */
async function load(add: (offsets: number[]) => Promise<unknown>, seed: number): Promise<void> {
  const rng = random(seed);
  for (let done = 0; done < MEMBERS; done += 2 * AT_ONCE) {
    await add(Array.from({ length: AT_ONCE }, () => rng.below(UNIVERSE)));
    for (let run = 0; run < AT_ONCE / 1000; run++) {
      const first = rng.below(UNIVERSE - 1000);
      await add(range(first, 1000));
    }
  }
}

async function measureNodes(nodes: number): Promise<Record<keyof Operations, number>[]> {
  const cluster = await Cluster.start(nodes);
  const client = new Client(cluster.ports.map((port) => ({ host: "127.0.0.1", port })));
  try {
    const { r } = roar(client), [a, b, result] = ["a", "b", "result"].map((name) => r.sharded(name, { width: WIDTH, shards: SHARDS }));
    await load((offsets) => a!.setBits(offsets), 1);
    await load((offsets) => b!.setBits(offsets), 2);
    const sharded = ofSharded(a!, b!, result!);
    if (nodes > 1) return [await measure(sharded)];
    await load((offsets) => r.setBits("{one}a", offsets), 1);
    await load((offsets) => r.setBits("{one}b", offsets), 2);
    return [await measure(ofOneKey(r, "{one}a", "{one}b", "{one}result")), await measure(sharded)];
  } finally {
    client.disconnect();
    await cluster.stop();
  }
}

const columns: Record<keyof Operations, number>[] = [];
for (const nodes of [1, 2, 3]) columns.push(...await measureNodes(nodes));

console.log(`${inWords(thisMachine())}; ${SHARDS} shards; medians of ${CALLS} calls in milliseconds\n`);
console.log("| | one key | sharded, 1 node | 2 nodes | 3 nodes |\n|---|---|---|---|---|");
for (const name of Object.keys(LABELS) as (keyof Operations)[]) {
  console.log(`| ${[LABELS[name], ...columns.map((column) => column[name].toFixed(2))].join(" | ")} |`);
}
