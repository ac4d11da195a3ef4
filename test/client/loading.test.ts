// Loading and unloading in pieces, over one server and a cluster, and bitmaps in the memory of the client.

import { RoaringBitmap32, SerializationFormat } from "roaring-wasm";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Bit, type CopyProgress, InvalidArgumentError,
  InvalidPayloadError, LoadError, type LoadProgress, LocalBitmap, type Offset, offsetsIn, R, R64, type ShardedBitmap,
} from "../../client/src/index.ts";
import { type Adapter, ofClusters, useClient, wrappers } from "../support/adapters.ts";
import { range, sorted } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { byName, useCluster, useServer } from "../support/suite.ts";

const server = useServer(), cluster = useCluster(3);

async function collect<T>(pieces: AsyncIterable<Iterable<T>>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) for (const one of piece) all.push(one);
  return all;
}

describe.each(byName<Adapter>(wrappers))("%s", (_, adapter) => {
  const client = useClient(() => adapter.open(server));

  it("loads offsets one by one, in arrays and from text, and unloads them", async () => {
    const { r, r64 } = client, members = range(3, 5000, 41), wide = members.map((member) => BigInt(member) << 30n);
    const seen: LoadProgress[] = [];
    async function* slowly(): AsyncGenerator<number> { yield* members; }
    const progress = await r.load("k", slowly(), { batch: 700, inFlight: 2, onProgress: (one) => seen.push(one) });
    expect(progress).toEqual({ done: 5000 });
    expect(seen.map(({ done }) => done)).toEqual(sorted(new Set(seen.map(({ done }) => done))));
    expect(seen.at(-1)).toEqual(progress);
    expect(await r.getIntArray("k")).toEqual(members);
    expect(await collect(r.unload("k", { count: 999 }))).toEqual(members);
    await r.load("k2", [members.slice(0, 10), new Uint32Array(members.slice(10)), members], { batch: 64 });
    expect(await r.jaccard("k", "k2")).toBe(1);
    for await (const payload of r.unloadPayloads("k", { count: 1500, from: members[100]! })) await r.import("k3", payload);
    expect(await r.getIntArray("k3")).toEqual(members.slice(100));

    expect(await r64.load("wide", offsetsIn(R64, [wide.join("\n").slice(0, 12_345), Buffer.from(wide.join("\n").slice(12_345))]))).toEqual({ done: 5000 });
    expect(await collect(r64.unload("wide"))).toEqual(wide);
    expect([await r.load("none", []), await collect(r.unload("none"))]).toEqual([{ done: 0 }, []]);
  });

  it("says where a load ended, and goes on from there", async () => {
    const { r } = client, members = range(0, 4000, 3), controller = new AbortController();
    const ended = r.load("k", members, { batch: 100, inFlight: 3, signal: controller.signal, onProgress: ({ done }) => { if (done >= 1000) controller.abort(); } });
    const error = await ended.catch((reason: unknown) => reason) as LoadError;
    expect(error).toBeInstanceOf(LoadError);
    expect(error.done).toBeGreaterThanOrEqual(1000);
    expect(error.done).toBeLessThan(4000);
    expect((await r.range("k", 0, members.at(-1)!)).slice(0, error.done)).toEqual(members.slice(0, error.done));
    expect(await r.load("k", members, { batch: 333, skip: error.done })).toEqual({ done: 4000 });
    expect(await r.load("k", members, { skip: 5000 })).toEqual({ done: 4000 });
    expect(await r.getIntArray("k")).toEqual(members);
  });

  it("ends with the error of a batch or of the source, and leaves nothing running", async () => {
    const { r } = client;
    await server.run("SET", "text", "x");
    await expect(r.load("text", range(0, 1000), { batch: 10 })).rejects.toMatchObject({ name: "LoadError", done: 0, cause: { name: "WrongTypeError" } });
    async function* broken(): AsyncGenerator<number> { yield* range(0, 25); throw new Error("the file ended"); }
    await expect(r.load("k", broken(), { batch: 10 })).rejects.toMatchObject({ name: "LoadError", done: 20, message: /the file ended/ });
    await expect(r.load("k", offsetsIn(R, ["1\n2\n-3\n"]), { batch: 1 })).rejects.toMatchObject({ name: "LoadError", done: 2, message: /line 3: "-3"/ });
    for (const bad of ["123", Buffer.from("123"), null, 5, {}, [-1], [2 ** 32], [1.5], [Buffer.from("1")], [undefined]]) {
      await expect(r.load("bad", bad as Iterable<number>), String(bad)).rejects.toBeInstanceOf(LoadError);
    }
    await expect(r.load("bad", [1], { batch: 0 })).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(await server.run("EXISTS", "bad")).toBe(0);
  });
});

describe.each(byName<Adapter>(ofClusters(wrappers)))("%s in a cluster", (_, adapter) => {
  const client = useClient(() => adapter.openCluster!(cluster.ports));
  beforeEach(() => cluster.onAll("FLUSHALL", "SYNC"));
  afterAll(() => cluster.onAll("FLUSHALL", "SYNC"));

  it("loads sharded bitmaps, and moves them from one way of sharding to another", async () => {
    const members = range(0, 30_000).map((i) => i * 29), byRange = client.r.sharded("a", { width: 65_536, shards: 16 });
    expect(await byRange.load([...members].reverse(), { batch: 5000 })).toEqual({ done: members.length });
    expect(await byRange.count()).toBe(members.length);
    const ways: ShardedBitmap<number>[] = [
      client.r.sharded("b", { by: "hash", shards: 5 }), client.r.sharded("c", { width: 131_072, shards: 8 }), client.r.sharded("d", { by: "hash", shards: 12 }),
    ];
    let source = byRange;
    for (const target of ways) {
      const seen: CopyProgress[] = [];
      expect(await target.copyFrom(source, { count: 7000, onProgress: (progress) => seen.push(progress) })).toBe(members.length);
      expect(seen.length).toBeGreaterThanOrEqual(members.length / 7000);
      expect(seen.at(-1)).toEqual({ done: members.length, total: members.length });
      expect(await collect(target.unload({ count: 4000 }))).toEqual(members);
      source = target;
    }
    await client.r.setIntArray("e", members);
    expect(await byRange.copyFrom("e")).toBe(members.length);
    const own = new Uint8Array(Buffer.from(byRange.keyOf(0))), aborted = { signal: AbortSignal.abort() };
    for (const itself of [byRange, byRange.keyOf(0), own]) {
      await expect(byRange.copyFrom(itself)).rejects.toBeInstanceOf(InvalidArgumentError);
    }
    await expect(byRange.copyFrom("e", aborted)).rejects.toMatchObject({ name: "LoadError", done: 0 });
    expect(await byRange.count()).toBe(members.length);
    await expect(byRange.bitOp("OR", [ways[0]!])).rejects.toThrow(/one is spread by hash, and this one is of the width 65536/);
  });

  it("spreads ascending offsets over all shards by hash, with a common step, too", async () => {
    for (const step of [1, 2, 16, 65_536]) {
      const bitmap = client.r.sharded(`s${step}`, { by: "hash", shards: 16 });
      await bitmap.setBits(range(0, 4000).map((i) => i * step));
      const counts = await Promise.all(range(0, 16).map((shard) => client.r.bitCount(bitmap.keyOf(shard))));
      expect(Math.min(...counts), String(step)).toBeGreaterThan(4000 / 16 / 2);
      expect(Math.max(...counts), String(step)).toBeLessThan(2 * 4000 / 16);
    }
  });
});

describe("a copy", () => {
  const client = useClient(() => wrappers.at(-2)!.openCluster!(cluster.ports));
  beforeEach(() => cluster.onAll("FLUSHALL", "SYNC"));

  it("is the same as a source that is written meanwhile, if changes are made in the source first and then in the copy", seeded(async (rng) => {
    const { r } = client, first = range(0, 6000).map((i) => i * 20), last = first.at(-1)!, key = "key";
    const sharded = [r.sharded("a", { width: 65_536, shards: 4 }), r.sharded("b", { by: "hash", shards: 5 }), r.sharded("c", { width: 131_072, shards: 2 })] as const;
    await r.setIntArray(key, first);
    for (const [source, target] of [[key, sharded[0]], [sharded[0], sharded[1]], [sharded[1], sharded[2]]] as const) {
      const set = (offset: number, bit: Bit): Promise<Bit> => (typeof source === "string" ? r.setBit(source, offset, bit) : source.setBit(offset, bit));
      let over = false, changes = 0;
      /** Each program has offsets of its own, of which half are members in the beginning. */
      const programs = range(0, 8).map(async (program) => {
        while (!over) {
          const offset = 10 * (8 * rng.below(last / 80) + program), bit = rng.chance(0.5) ? 1 : 0;
          await set(offset, bit);
          await target.setBit(offset, bit);
          changes++;
        }
      });
      const failed = Promise.all(programs); // which only ends if it fails, until the copies are over
      for (let copies = 0; copies < 3; copies++) {
        const before = changes;
        await Promise.race([target.copyFrom(source, { count: 500 }), failed]);
        expect(changes - before, "changes during the copy").toBeGreaterThan(50);
      }
      over = true;
      await failed;
      const expected = typeof source === "string" ? await r.range(source, 0, last) : await source.range(0, last);
      expect(await target.range(0, last)).toEqual(expected);
    }
  }));

  it("has what the source has throughout, whatever else is changed in it alone", async () => {
    const source = client.r.sharded("a", { width: 65_536, shards: 4 }), target = client.r.sharded("b", { by: "hash", shards: 5 });
    const kept = range(0, 3000, 50), others = kept.map((offset) => offset + 1);
    await source.setBits(kept);
    let over = false, round = 0;
    const writing = (async () => {
      for (; !over; round++) await (round % 2 ? source.clearBits(others) : source.setBits(others));
    })();
    await target.copyFrom(source, { count: 200 });
    over = true;
    await writing;
    expect(round).toBeGreaterThan(3);
    const members = new Set(await target.range(0, 200_000)), allowed = new Set([...kept, ...others]);
    expect(kept.filter((offset) => !members.has(offset))).toEqual([]);
    expect([...members].filter((offset) => !allowed.has(offset))).toEqual([]);
  });
});

/** Random members: sparse, dense, in runs. */
function someMembers(rng: Random): number[] {
  const made = new Set<number>();
  for (let i = rng.below(5); i >= 0; i--) {
    const first = rng.below(2 ** 20), [count, step] = rng.pick([[rng.below(6000), 1], [rng.below(300), 97], [5000, 3], [1, 1]] as const);
    for (const one of range(first, count, step)) made.add(one);
  }
  return sorted(made);
}

it("local bitmaps answer what Sets do, and their payloads are those of another library", seeded(async (rng) => {
  for (let round = 0; round < 30; round++) {
    const [a, b] = [someMembers(rng), someMembers(rng)], [setA, setB] = [new Set(a), new Set(b)];
    const [x, y] = [LocalBitmap.of(R, rng.shuffled(a)), LocalBitmap.read(R, LocalBitmap.of(R, b).toPayload())];
    expect([x.size, y.size]).toEqual([a.length, b.length]);
    expect([...x.toTypedArray()]).toEqual(a);
    expect([...x.and(y)]).toEqual(a.filter((one) => setB.has(one)));
    expect([...x.andNot(y)]).toEqual(a.filter((one) => !setB.has(one)));
    expect([...x.or(y)]).toEqual(sorted(new Set([...a, ...b])));
    expect([...x.xor(y)]).toEqual(sorted(new Set([...a.filter((one) => !setB.has(one)), ...b.filter((one) => !setA.has(one))])));
    const asked = [...range(0, 50).map(() => rng.below(2 ** 20)), ...a.slice(0, 20), 2 ** 32 - 1];
    for (const offset of asked) expect(x.has(offset)).toBe(setA.has(offset));
    const theirs = RoaringBitmap32.deserialize(SerializationFormat.portable, x.toPayload());
    expect([...theirs.toUint32Array()]).toEqual(a);
    theirs.runOptimize();
    expect([...LocalBitmap.read(R, theirs.serialize(SerializationFormat.portable))]).toEqual(a);
    theirs.dispose();
    const wide = a.map((one) => (BigInt(one) << 20n) + BigInt(rng.below(2))), w = LocalBitmap.of(R64, wide as Offset<bigint>[]);
    expect([...LocalBitmap.read(R64, w.toPayload()).toTypedArray()]).toEqual(wide);
    expect(w.has(wide[0] ?? 0n)).toBe(wide.length > 0);
  }
}));

it("local bitmaps refuse payloads that contradict themselves", seeded(async (rng) => {
  const payload = Buffer.from(LocalBitmap.of(R, [...range(0, 100, 3), ...range(70_000, 5000), ...range(200_000, 9000, 2)]).toPayload());
  expect([...LocalBitmap.read(R, LocalBitmap.of(R, []).toPayload())]).toEqual([]);
  for (let at = 0; at < payload.length; at += 1 + rng.below(40)) {
    expect(() => LocalBitmap.read(R, payload.subarray(0, at))).toThrow(InvalidPayloadError);
    const changed = Buffer.from(payload);
    changed[at]! ^= 1 << rng.below(8);
    try {
      const bitmap = LocalBitmap.read(R, changed), members = [...bitmap];
      expect(members).toEqual(sorted(new Set(members)));
      expect(bitmap.size).toBe(members.length);
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidPayloadError);
    }
  }
}));
