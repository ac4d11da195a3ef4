// Bitmaps that are being converted: programs read and write either type while keys change theirs.

import { describe, expect, it } from "vitest";
import { type Bitmaps, InvalidArgumentError, MigratingBitmaps, R64, WrongTypeError } from "../../client/src/index.ts";
import { type Adapter, ofClusters, repliesFor, useClient, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { random, seed } from "../support/random.ts";
import { byName, useCluster, useServer } from "../support/suite.ts";

const server = useServer(), cluster = useCluster(3);
const FORMERS = ["native", "set"] as const, CREATES = ["former", "roaring"] as const;
const TYPES = { native: "string", set: "set" };

/** Makes a key a roaring bitmap, or what it was before, as `convert` does: with one RENAME. */
async function change(key: string, to: "roaring" | "native" | "set", r: Bitmaps<number>): Promise<void> {
  const type = await server.run("TYPE", key);
  if (to === "roaring" && type === "string") await server.run("R.FROMBITMAP", "temporary", key);
  else if (to === "roaring" && type === "set") await r.setIntArray("temporary", (await server.run("SMEMBERS", key) as string[]).map(Number));
  else if (to === "native" && type === "reroaring") await server.run("R.TOBITMAP", "temporary", key);
  else if (to === "set" && type === "reroaring") await server.run("SADD", "temporary", ...await server.run("R.GETINTARRAY", key) as number[]);
  else return;
  await server.run("RENAME", "temporary", key);
}

describe.each(byName<Adapter>(wrappers))("%s", (_, adapter) => {
  const client = useClient(async () => {
    await server.run(...repliesFor(adapter));
    return adapter.open(server);
  });

  it.each(FORMERS.flatMap((from) => CREATES.map((creates) => [from, creates] as const)))("answers for %s or roaring bitmaps alike, and creates %s ones", async (from, creates) => {
    const bitmaps = new MigratingBitmaps(client, { from, creates });
    expect([await bitmaps.has("k", 7), await bitmaps.count("k"), (await bitmaps.read("k")).size]).toEqual([false, 0, 0]);
    expect(await bitmaps.remove("none", [7])).toBe(0);
    expect([await bitmaps.add("k", [7, 9, 70_000]), await bitmaps.add("k", [9, 11]), await bitmaps.add("k", [])]).toEqual([3, 1, 0]);
    expect(await server.run("TYPE", "k")).toBe(creates === "roaring" ? "reroaring" : TYPES[from]);
    for (const to of ["roaring", from, "roaring"] as const) {
      await change("k", to, client.r);
      expect(await server.run("TYPE", "k")).toBe(to === "roaring" ? "reroaring" : TYPES[from]);
      expect([await bitmaps.has("k", 7), await bitmaps.has("k", 8), await bitmaps.count("k")]).toEqual([true, false, 4]);
      expect([...await bitmaps.read("k")]).toEqual([7, 9, 11, 70_000]);
      expect([await bitmaps.add("k", [1, 7]), await bitmaps.remove("k", [1, 2])]).toEqual([1, 1]);
    }
    await bitmaps.add("other", [9, 11, 12]);
    for (const to of ["roaring", from] as const) {
      for (const key of ["k", "other"]) {
        await change(key, to, client.r);
        const counts = await Promise.all((["AND", "OR", "XOR", "DIFF"] as const).map((operation) => bitmaps.countOf(operation, ["k", "other"])));
        expect(counts).toEqual([2, 5, 3, 2]);
      }
    }
    await server.run("HSET", "hash", "a", 1);
    for (const call of [() => bitmaps.has("hash", 1), () => bitmaps.add("hash", [1]), () => bitmaps.count("hash"), () => bitmaps.read("hash")]) {
      await expect(call()).rejects.toBeInstanceOf(WrongTypeError);
    }
    expect(await server.run("HGETALL", "hash")).toEqual(["a", "1"]);
    await expect(bitmaps.add("k", [1, -1])).rejects.toBeInstanceOf(InvalidArgumentError);
  });

  it("loses no change while keys change their types again and again", async () => {
    const from = FORMERS[random(seed).below(2)]!, bitmaps = new MigratingBitmaps(client, { from }), keys = range(0, 4).map((n) => `k:${n}`);
    const models = keys.map(() => new Set<number>([1])), rng = random(seed);
    for (const key of keys) await bitmaps.add(key, [1]);
    // The key that is written keeps its type meanwhile, because `change` does not WATCH it as `convert` does (test/cli/migration.test.ts).
    for (let n = 0; n < 300; n++) {
      const at = rng.below(keys.length), key = keys[at]!, model = models[at]!;
      const offsets = range(0, 1 + rng.below(3)).map(() => rng.below(500));
      const flip = rng.below(2) === 0 ? change(rng.pick(keys.filter((one) => one !== key)), rng.below(2) === 0 ? "roaring" : from, client.r) : undefined;
      if (rng.below(3) > 0) {
        const fresh = new Set(offsets.filter((offset) => !model.has(offset))).size;
        for (const offset of offsets) model.add(offset);
        expect(await bitmaps.add(key, offsets), `SEED=${seed}`).toBe(fresh);
      } else {
        const gone = new Set(offsets.filter((offset) => offset !== 1 && model.has(offset)));
        for (const offset of gone) model.delete(offset);
        expect(await bitmaps.remove(key, offsets.filter((offset) => offset !== 1)), `SEED=${seed}`).toBe(gone.size);
      }
      await flip;
    }
    for (const [at, key] of keys.entries()) expect([...await bitmaps.read(key)], `SEED=${seed}`).toEqual([...models[at]!].sort((a, b) => a - b));
  });

  it.skipIf(adapter.rounds)("has 64-bit members of sets", async () => {
    const bitmaps = new MigratingBitmaps(client, { from: "set", family: R64 }), last = 2n ** 64n - 1n;
    expect(await bitmaps.add("k", [last, "7", 8])).toBe(3n);
    expect([...await bitmaps.read("k")]).toEqual([7n, 8n, last]);
    await server.run("DEL", "k");
    await client.r64.setIntArray("k", [7n, last]);
    expect([await bitmaps.has("k", last), await bitmaps.count("k"), await bitmaps.remove("k", [last])]).toEqual([true, 2n, 1n]);
    expect([...await bitmaps.read("k")]).toEqual([7n]);
    expect(() => new MigratingBitmaps(client, { from: "native", family: R64 })).toThrow(InvalidArgumentError);
    expect(() => new MigratingBitmaps(client, { from: "list" as never })).toThrow(InvalidArgumentError);
  });
});

describe.each(byName<Adapter>(ofClusters(wrappers)))("%s in a cluster", (_, adapter) => {
  const client = useClient(() => adapter.openCluster!(cluster.ports));

  it("counts keys of several slots and types", async () => {
    await cluster.onAll("FLUSHALL", "SYNC");
    const bitmaps = new MigratingBitmaps(client, { from: "set" });
    await bitmaps.add("a", [1, 2, 3]);
    await client.r.setBits("b", [2, 3, 4]);
    expect(await bitmaps.countOf("AND", ["a", "b"])).toBe(2);
    expect(await bitmaps.add("b", [1])).toBe(1);
    expect(await bitmaps.countOf("AND", ["a", "b"])).toBe(3);
  });
});
