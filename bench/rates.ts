// What the JavaScript client adds to each call: `setBit` calls a second, beside those of each client library without it. Prints a table in
// Markdown. Each library runs in a program of its own; both ways take turns there, and the ratio is the median of all turns.
//
//   ONLY='ioredis 6'   only libraries whose name contains this
//   ROUNDS=60          turns of each way

import { Cluster as Ioredis5Cluster, Redis as Ioredis5 } from "ioredis";
import { Cluster as Ioredis6Cluster, Redis as Ioredis6 } from "ioredis6";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createClient as create4 } from "redis4";
import { createClient as create5 } from "redis5";
import { createClient as create6 } from "redis6";
import type * as Ioredis from "../client/src/ioredis.ts";
import type * as NodeRedis from "../client/src/node-redis.ts";
import { Cluster } from "../test/support/cluster.ts";
import { range } from "../test/support/family.ts";
import { projectRoot, Server } from "../test/support/server.ts";
import { inWords, thisMachine } from "./machine.ts";
import { median, quantile } from "./statistics.ts";

const ROUNDS = Number(process.env.ROUNDS || 60), ONLY = process.env.ONLY ?? "";
/** A turn lasts so long, and both ways get some before they are measured. */
const TURN_MS = 60, WARMING = 12;
/** Calls that are on their way at the same time, and how many keys and offsets they are spread over. */
const AT_ONCE = 100, KEYS = 16, OFFSETS = 100_000;
const [OURS, NATIVE] = ["k", "native:"].map((name) => range(0, KEYS).map((i) => name + String(i))) as [string[], string[]];

/** Sets a bit of the key with this number. */
type SetBit = (key: number, offset: number) => unknown;
/** The client library without this package, and with it. */
interface Ways { readonly alone: SetBit; readonly with: SetBit; close(): unknown }
interface Place { readonly socket: string; readonly ports: readonly number[] }
interface Library { readonly name: string; readonly cluster?: true; open(place: Place): Promise<Ways> }

// The built package, as users get it: the sources, compiled on the fly, would be measured with the compiler's own additions.
const built = (file: string): Promise<unknown> => import(join(projectRoot, `client/dist/${file}.js`));
const ofNodeRedis = await built("node-redis") as typeof NodeRedis;
const ofIoredis = await built("ioredis") as typeof Ioredis;

interface NodeRedisClient extends NodeRedis.NodeRedisClient {
  connect(): Promise<unknown>;
  disconnect(): unknown;
}

function nodeRedis(name: string, create: (path: string) => NodeRedisClient): Library {
  return {
    name,
    async open({ socket }) {
      const client = create(socket);
      await client.connect();
      const { r } = ofNodeRedis.roar(client);
      return {
        alone: (key, offset) => client.sendCommand(["R.SETBIT", OURS[key]!, String(offset), "1"]),
        with: (key, offset) => r.setBit(OURS[key]!, offset, 1),
        close: () => client.disconnect(),
      };
    },
  };
}

function ioredis(name: string, One: typeof Ioredis5, Many: typeof Ioredis5Cluster, enableAutoPipelining: boolean, cluster?: true): Library {
  return {
    name,
    ...(cluster && { cluster }),
    async open({ socket, ports }) {
      const client = cluster
        ? new Many(ports.map((port) => ({ host: "127.0.0.1", port })), { enableAutoPipelining })
        : new One({ path: socket, enableAutoPipelining });
      await client.ping();
      const { r } = ofIoredis.roar(client);
      return {
        // It sends commands that it does not know to any node of a cluster. There, native bitmaps are what it does by itself.
        alone: cluster
          ? (key, offset) => client.setbit(NATIVE[key]!, offset, 1)
          : (key, offset) => client.call("R.SETBIT", OURS[key]!, offset, 1),
        with: (key, offset) => r.setBit(OURS[key]!, offset, 1),
        close: () => client.disconnect(),
      };
    },
  };
}

const Six = Ioredis6 as unknown as typeof Ioredis5, SixCluster = Ioredis6Cluster as unknown as typeof Ioredis5Cluster;
const libraries: readonly Library[] = [
  nodeRedis("node-redis 4", (path) => create4({ socket: { path } })),
  nodeRedis("node-redis 5", (path) => create5({ socket: { path, tls: false } })),
  nodeRedis("node-redis 6", (path) => create6({ socket: { path, tls: false } })),
  ioredis("ioredis 5", Ioredis5, Ioredis5Cluster, false),
  ioredis("ioredis 6", Six, SixCluster, false),
  ioredis("ioredis 5, autopipelining", Ioredis5, Ioredis5Cluster, true),
  ioredis("ioredis 6, autopipelining", Six, SixCluster, true),
  ioredis("ioredis 5, autopipelining, cluster", Ioredis5, Ioredis5Cluster, true, true),
  ioredis("ioredis 6, autopipelining, cluster", Six, SixCluster, true, true),
];

/** How many calls a second, with so many on their way. */
async function rate(setBit: SetBit, atOnce: number): Promise<number> {
  const start = performance.now();
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - start < TURN_MS) {
      await setBit(calls % KEYS, (calls * 7) % OFFSETS);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return calls / (performance.now() - start) * 1000;
}

interface Result { readonly alone: number; readonly with: number; readonly ratio: number; readonly low: number; readonly high: number }

async function compare(ways: Ways, atOnce: number): Promise<Result> {
  const rates: { alone: number; with: number }[] = [];
  for (let round = -WARMING; round < ROUNDS; round++) {
    const turn = { alone: 0, with: 0 };
    for (const way of round % 2 === 0 ? ["alone", "with"] as const : ["with", "alone"] as const) turn[way] = await rate(ways[way], atOnce);
    if (round >= 0) rates.push(turn);
  }
  const ratios = rates.map((one) => one.with / one.alone);
  return {
    alone: median(rates.map(({ alone }) => alone)), with: median(rates.map((one) => one.with)),
    ratio: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75),
  };
}

const [, , job] = process.argv;
if (job) {
  const { name, ...place } = JSON.parse(job) as Place & { name: string };
  const ways = await libraries.find((one) => one.name === name)!.open(place);
  for (const atOnce of [1, AT_ONCE]) process.send!(await compare(ways, atOnce));
  ways.close();
  process.disconnect();
} else {
  const server = await Server.start(), cluster = await Cluster.start(3);
  console.log(`${inWords(thisMachine())}; \`setBit\` calls a second, medians of ${ROUNDS} turns of ${TURN_MS} ms each\n`);
  console.log(`| | alone, one at a time | with the package | ratio | alone, ${AT_ONCE} at once | with the package | ratio |`);
  console.log("|---|---|---|---|---|---|---|");
  try {
    for (const { name } of libraries.filter((one) => one.name.includes(ONLY))) {
      const child = fork(import.meta.filename, [JSON.stringify({ name, socket: server.socket, ports: cluster.ports })]);
      const results: Result[] = [];
      child.on("message", (result) => void results.push(result as Result));
      const [code] = await once(child, "exit") as [number];
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
      const rounded = (value: number): string => (Math.round(value / 100) * 100).toLocaleString("en");
      const columns = results.flatMap(({ alone, with: other, ratio, low, high }) =>
        [rounded(alone), rounded(other), `**${ratio.toFixed(2)}** (${low.toFixed(2)} to ${high.toFixed(2)})`]);
      console.log(`| ${[name, ...columns].join(" | ")} |`);
    }
  } finally {
    await server.stop();
    await cluster.stop();
  }
}
