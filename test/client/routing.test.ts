// In a cluster, every command goes to the node that has its keys. The servers count the redirections: there must be none.

import { beforeEach, describe, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { slotOf } from "../../client/src/slot.ts";
import { type Adapter, asModules, ofClusters, type Opened, wrappers } from "../support/adapters.ts";
import { callsOf, isKey } from "../support/calls.ts";
import { families, R, range } from "../support/family.ts";
import { methodCallOf } from "../support/methods.ts";
import { random, seed } from "../support/random.ts";
import { Server } from "../support/server.ts";
import { byName, useCluster } from "../support/suite.ts";

const cluster = useCluster(3);

beforeEach(async () => {
  await cluster.onAll("FLUSHALL", "SYNC");
  await cluster.onAll("CONFIG", "RESETSTAT");
});

/** How often all servers together have counted something in a section of INFO. */
async function counted(section: string, pattern: RegExp): Promise<number> {
  const texts = (await cluster.onAll("INFO", section)) as string[];
  return texts.reduce((sum, text) => sum + [...text.matchAll(pattern)].reduce((some, [, count]) => some + Number(count), 0), 0);
}
const moved = (): Promise<number> => counted("errorstats", /^errorstat_(?:MOVED|ASK|CROSSSLOT):count=(\d+)/gm);

/** Calls every command of both families on keys with this hash tag, as methods. Returns how many calls. */
async function callAll(client: Opened, tag: string): Promise<number> {
  let calls = 0;
  for (const family of families) {
    const source = `{${tag}}${family.name}:source`, bitmaps = (family === R ? client.r : client.r64) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    await bitmaps.setIntArray!(source, [1]);
    for (const row of commands) {
      for (const call of callsOf(row, family)) {
        const place = (word: string): string => `{${tag}}${family.name}:${row.name}:${calls}:${word}`;
        for (const word of call.filter(isKey)) {
          if (word.startsWith("s:")) await bitmaps.toBitmap!(place(word), source);
          else if (!word.endsWith(":none")) await bitmaps.setIntArray!(place(word), family === R ? [1, 7, 8] : [1n, 7n, 8n]);
        }
        const { method, args } = methodCallOf(row, family, call.map((word) => (isKey(word) ? place(word) : word)));
        await bitmaps[method.name]!(...args);
        calls++;
      }
    }
  }
  return calls;
}

const routed = ofClusters([...wrappers, ...asModules]);

describe.each(byName<Adapter>(routed))("%s", (_, adapter) => {
  it("sends every command to the right node", async () => {
    const client = await adapter.openCluster!(cluster.ports);
    try {
      for (const tag of ["a", "b", "c"]) expect(await callAll(client, tag)).toBeGreaterThan(80);
      expect(await moved()).toBe(0);
      const used = (await cluster.onAll("DBSIZE")) as number[];
      expect(Math.min(...used), "every node has some of the keys").toBeGreaterThan(0);
    } finally {
      await client.close();
    }
  });

  it.runIf(adapter.prefixes)("honors keyPrefix in a cluster", async () => {
    const client = await adapter.openCluster!(cluster.ports, "pre:");
    try {
      for (const tag of ["a", "b", "c"]) await callAll(client, tag);
      expect(await moved()).toBe(0);
      const keys = (await cluster.onAll("KEYS", "*")).flat() as string[];
      expect(keys.length).toBeGreaterThan(200);
      expect(keys.filter((key) => !key.startsWith("pre:"))).toEqual([]);
    } finally {
      await client.close();
    }
  });
});

describe.each(byName(ofClusters(wrappers)))("%s", (_, adapter) => {
  it("sends a pipeline in few writes to each node", async () => {
    const client = await adapter.openCluster!(cluster.ports);
    try {
      await client.pipeline(range(0, 60).map((i) => client.r.calls.max(`key ${i}`))); // connects to all nodes
      const reads = (): Promise<number> => counted("stats", /^total_reads_processed:(\d+)/gm);
      const before = await reads();
      const results = await client.pipeline(range(0, 600).map((i) => client.r.calls.setBit(`key ${i}`, i, 1)));
      expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
      expect(await reads() - before).toBeLessThan(60);
      expect(await moved()).toBe(0);
      expect(await counted("commandstats", /^cmdstat_R\.SETBIT:calls=(\d+)/gim)).toBe(600);
    } finally {
      await client.close();
    }
  });
});

describe.each(byName(wrappers.filter(({ prefixes }) => prefixes)))("%s on one server", (_, adapter) => {
  it("honors keyPrefix", async () => {
    const server = await Server.start(), client = await adapter.open(server, "pre:");
    try {
      await callAll(client, "a");
      const keys = (await server.run("KEYS", "*")) as string[];
      expect(keys.length).toBeGreaterThan(100);
      expect(keys.filter((key) => !key.startsWith("pre:"))).toEqual([]);
    } finally {
      await client.close();
      await server.stop();
    }
  });
});

it("slots are those of the server", async () => {
  const rng = random(seed), keys = ["", "{}", "{}x", "x{}y", "a{b}c", "a{b}{c}", "{{b}}", "}{a", "{", "foo{bar", "ü{ä}"];
  for (let i = 0; i < 100; i++) keys.push(Array.from({ length: rng.below(12) }, () => rng.pick([..."ab{}1:"])).join(""));
  for (const key of keys) {
    const slot = await cluster.primaries[0]!.connection.run("CLUSTER", "KEYSLOT", Buffer.from(key));
    expect([slotOf(key), slotOf(Buffer.from(key))], key).toEqual([slot, slot]);
  }
});
