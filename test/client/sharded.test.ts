// Sharded bitmaps on three masters: where shards are, what fails and how it is reported, what is outside of the model's random operations.

import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { InvalidPayloadError, type Bitmaps, type Family, type Member, type Offset, InvalidArgumentError, q, R, R64, RoarError, type ShardedBitmap, ShardsFailedError, WrongTypeError } from "../../client/src/index.ts";
import { containersOf, payloadOf } from "../../client/src/payload.ts";
import { type Adapter, ofClusters, useClient, wrappers } from "../support/adapters.ts";
import { range, sorted } from "../support/family.ts";
import { seeded } from "../support/random.ts";
import { byName, useCluster } from "../support/suite.ts";

const WIDTH = 65_536;
const cluster = useCluster(3);

const keys = async (): Promise<string[]> => ((await cluster.onAll("KEYS", "*")).flat() as string[]).sort();
const failure = (answer: Promise<unknown>): Promise<unknown> => answer.then(() => "no error", (error: unknown) => error);

beforeEach(() => cluster.onAll("FLUSHALL", "SYNC"));

const libraries = ofClusters(wrappers);

describe.each(byName<Adapter>(libraries))("%s", (_, adapter) => {
  const client = useClient(() => adapter.openCluster!(cluster.ports));

  it("has the shards of all bitmaps with one number in one slot, and the shards of one bitmap on all nodes", async () => {
    const options = { width: WIDTH, shards: 8 }, { r } = client;
    for (const name of ["a", "b"]) expect(await r.sharded(name, options).setBits(range(0, 8).map((i) => i * WIDTH + i))).toBe(8);
    expect(await keys()).toEqual(["a", "b"].flatMap((name) => range(0, 8).map((i) => `${name}:{${i}}`)));
    for (const i of range(0, 8)) expect(await cluster.slotOf(`a:{${i}}`)).toBe(await cluster.slotOf(`b:{${i}}`));
    for (const { connection } of cluster.primaries) expect(await connection.run("DBSIZE")).toBeGreaterThan(0);
    expect(await r.getIntArray("a:{3}"), "offsets in a shard are those of the bitmap").toEqual([3 * WIDTH + 3]);
  });

  it("names the shards that fail, and reports the others' work", async () => {
    const bitmap = client.r.sharded("a", { width: WIDTH, shards: 6 });
    await bitmap.setBits(range(0, 6, WIDTH));
    for (const shard of [1, 4]) {
      const home = await cluster.homeOf(bitmap.keyOf(shard));
      await home.connection.run("SET", bitmap.keyOf(shard), "text");
    }
    const error = await failure(bitmap.setBits(range(1, 6, WIDTH))) as ShardsFailedError;
    expect(error).toBeInstanceOf(ShardsFailedError);
    expect(error.message).toMatch(/^failed: shard 1 \(a:\{1\}\), 4 \(a:\{4\}\): WRONGTYPE /);
    expect(error.failed.map(({ shard, key }) => [shard, key])).toEqual([[1, "a:{1}"], [4, "a:{4}"]]);
    expect(error.failed.every(({ error: one }) => one instanceof WrongTypeError)).toBe(true);
    expect([...error.done]).toEqual([[0, 1], [2, 1], [3, 1], [5, 1]]);
    expect(await client.r.bitCount("a:{5}"), "it is done").toBe(2);
    expect(await failure(bitmap.getBit(WIDTH))).toMatchObject({ name: "ShardsFailedError", failed: [{ shard: 1 }] });
    expect(await failure(bitmap.count())).toMatchObject({ failed: [{ shard: 1 }, { shard: 4 }] });
  });
});

describe("a sharded bitmap", () => {
  const client = useClient(() => wrappers[3]!.openCluster!(cluster.ports));
  let a: ShardedBitmap<number>, b: ShardedBitmap<number>, c: ShardedBitmap<number>;
  beforeAll(() => {
    [a, b, c] = ["a", "b", "c"].map((name) => client.r.sharded(name, { width: WIDTH, shards: 5 })) as [typeof a, typeof a, typeof a];
  });

  it("is cut by width, by number of shards, or by both", () => {
    const { r, r64 } = client;
    const cut = ({ width, shards }: { width: bigint | undefined; shards: number }): [bigint | undefined, number] => [width, shards];
    expect(cut(r.sharded("x", { width: 2 ** 24 }))).toEqual([2n ** 24n, 256]);
    expect(cut(r.sharded("x", { shards: 3 }))).toEqual([1_431_699_456n, 3]);
    expect(cut(r64.sharded("x", { shards: 3 }))[1]).toBe(3);
    expect(cut(r64.sharded("x", { width: 2n ** 60n }))).toEqual([2n ** 60n, 16]);
    expect(r.sharded("x", { shards: 3 }).shardOf(2 ** 32 - 1)).toBe(2);
    expect(r64.sharded("x", { shards: 3 }).shardOf(2n ** 64n - 1n)).toBe(2);
    expect(r.sharded("x", { width: 2 ** 31, shards: 100 }).shards).toBe(2);
    const refused = [{}, { width: 1000 }, { width: 0 }, { shards: 0 }, { shards: 1.5 }, { width: WIDTH }, { width: WIDTH, shards: 16_385 }];
    for (const bad of refused) {
      expect(() => r.sharded("x", bad), JSON.stringify(bad)).toThrow(InvalidArgumentError);
    }
    expect(() => r64.sharded("x", { width: 2 ** 40 })).toThrow(/16384/);
    expect(() => r.sharded("x{y}", { shards: 2 })).toThrow(InvalidArgumentError);
  });

  it("grows without moving a shard", async () => {
    await a.setBits([1, WIDTH, 5 * WIDTH - 1]);
    const before = await keys();
    await expect(a.setBit(5 * WIDTH, 1)).rejects.toBeInstanceOf(InvalidArgumentError);
    const larger = client.r.sharded("a", { width: WIDTH, shards: 50 });
    expect(await larger.count()).toBe(3);
    await larger.setBits([5 * WIDTH, 50 * WIDTH - 1]);
    expect(await keys()).toEqual([...before, "a:{49}", "a:{5}"].sort());
    expect([await larger.count(), await larger.max()]).toEqual([5, 50 * WIDTH - 1]);
    expect(await failure(a.bitOp("OR", [larger]))).toBeInstanceOf(InvalidArgumentError);
    await b.setBits([1, WIDTH]);
    expect(await larger.bitOp("DIFF", [larger, b]), "a source with fewer shards").toBe(3);
  });

  it("inverts up to its largest member or to `last`, over all shards", async () => {
    await a.setBits([0, WIDTH + 5]);
    expect(await b.bitOp("NOT", [a])).toBe(WIDTH + 4);
    expect([await b.min(), await b.max(), await b.getBit(WIDTH + 5)]).toEqual([1, WIDTH + 4, 0]);
    expect(await b.bitOp("NOT", [a], { last: 3 * WIDTH })).toBe(3 * WIDTH - 1);
    expect(await b.max()).toBe(3 * WIDTH);
    expect(await b.bitOp("NOT", [a], { last: 3 })).toBe(WIDTH + 4);
    expect(await a.bitOp("NOT", [a])).toBe(WIDTH + 4);
    expect(await b.bitOp("NOT", [c])).toBe(0);
    expect(await b.bitOp("NOT", [c], { last: 9 })).toBe(10);
    expect(await a.queryCard("~#1")).toBe(5 * WIDTH - WIDTH - 4);
    await expect(a.bitOp("NOT", [b, c])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(a.bitOp("OR", [b], { last: 3 })).rejects.toBeInstanceOf(InvalidArgumentError);
  });

  it("ranks bitmaps over all shards, also one that comes first in none of them", async () => {
    const { r } = client, options = { width: WIDTH, shards: 5 }, facets = range(0, 6).map((i) => r.sharded(`facet ${i}`, options));
    for (const [i, facet] of facets.slice(0, 5).entries()) await facet.setBits(range(i * WIDTH, 10));
    await facets[5]!.setBits(range(0, 5).flatMap((shard) => range(shard * WIDTH, 4)));
    await a.setBits(range(0, 5).flatMap((shard) => range(shard * WIDTH, 100)));
    expect(await a.facet("#1", [], facets)).toEqual([10, 10, 10, 10, 10, 20]);
    expect((await a.facetTop("#1", [], facets, 2)).map(([facet, count]) => [facets.indexOf(facet), count])).toEqual([[5, 20], [0, 10]]);
    expect(await a.facetTop("#1", [], facets, 9, { min: "11" })).toEqual([[facets[5], 20]]);
    expect(await a.facetTop("#1", [], facets, 1, { by: "JACCARD" })).toEqual([[facets[5], 20 / 500]]);
    expect(await a.facetTop("#1", [], facets, 9, { by: "JACCARD", min: "0.04" })).toEqual([[facets[5], 20 / 500]]);
    expect(await a.facetTop("#1", [], facets, 9, { by: "JACCARD", min: "0.040000000000000001" })).toEqual([]);
    expect(await a.facetTop("#1", [], [c, facets[3]!, a], 5, { by: "OVERLAP" })).toEqual([[facets[3], 1], [a, 1]]);
    expect(await a.facetTop("#1", [], facets, 0)).toEqual([]);
    expect(await c.facetTop("#1", [], facets, 3, { by: "JACCARD" })).toEqual([]);
    expect(await a.crossCard([c], [facets[0]!, facets[5]!])).toEqual([[10, 20], [0, 0]]);
    expect(await a.crossCard([], [facets[0]!, facets[5]!], { within: q`${facets[0]!} - [${0}..${1}]` })).toEqual([[8, 2]]);
    for (const min of ["", "x", "2", "1.5", "-1", "0."]) {
      await expect(a.facetTop("#1", [], facets, 1, { by: "JACCARD", min })).rejects.toBeInstanceOf(InvalidArgumentError);
    }
    for (const min of ["", "x", "1.5", "-1"]) await expect(a.facetTop("#1", [], facets, 1, { min })).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(a.facet("#1", [], [r.sharded("x", { width: 2 * WIDTH, shards: 2 })])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(a.facet("#1", [], [])).rejects.toThrow();
  });

  it("refuses bitmaps of other widths, and offsets beyond its shards", async () => {
    const other = client.r.sharded("x", { width: 2 * WIDTH, shards: 2 });
    await expect(a.bitOp("OR", [other])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(a.queryCard("#1 & #2", [other])).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(a.jaccard(other)).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(() => a.shardOf(5 * WIDTH)).toThrow(InvalidArgumentError);
    expect(await a.range(5 * WIDTH, 2 ** 32 - 1)).toEqual([]);
    expect(await a.queryMembers("#1", [], { from: 5 * WIDTH })).toEqual([]);
  });

  it("reports a wrong expression once, and where it is wrong", async () => {
    const plain = await failure(client.r.queryCard("#1 & & ~#1", ["k"])) as RoarError;
    for (const answer of [a.queryCard("#1 & & ~#1"), a.queryMembers("#1 & & ~#1"), a.queryStore("#1 & & ~#1", [b])]) {
      const error = await failure(answer);
      expect(error).toBeInstanceOf(RoarError);
      expect(error).not.toBeInstanceOf(ShardsFailedError);
      expect((error as RoarError).message).toBe(plain.message);
    }
  });

  it("reads members and expressions page by page", async () => {
    const members = range(7, 40, 8000);
    await a.setBits(members);
    await b.setBits(members.filter((_, i) => i % 3 === 0));
    const collect = async (pages: AsyncIterable<number[] | number>): Promise<number[]> => {
      const all: (number[] | number)[] = [];
      for await (const page of pages) all.push(page);
      return all.flat();
    };
    expect(await collect(a.scanPages({ count: 3 }))).toEqual(members);
    expect(await collect(a.scanIterator({ from: 100_000 }))).toEqual(members.filter((member) => member >= 100_000));
    expect(await collect(a.queryPages("#1 - #2", [b], { count: 2 }))).toEqual(members.filter((_, i) => i % 3 !== 0));
  });

  it("reads members and expressions from the last one on, and runs over shards as one", async () => {
    await a.setBits([3, 5 * WIDTH - 1]);
    await a.setBits(range(WIDTH - 2, 4));
    await b.setBits([WIDTH, 3 * WIDTH]);
    const members = [3, WIDTH - 2, WIDTH - 1, WIDTH, WIDTH + 1, 5 * WIDTH - 1], last = 2 ** 32 - 1;
    expect(await a.range(0, last, { rev: true })).toEqual(members.toReversed());
    expect(await a.range(0, 5 * WIDTH - 2, { rev: true, limit: 3 })).toEqual([WIDTH + 1, WIDTH, WIDTH - 1]);
    expect(await a.queryMembers("#1 - #2", [b], { rev: true, from: WIDTH + 1, limit: 3 })).toEqual([WIDTH + 1, WIDTH - 1, WIDTH - 2]);
    expect(await a.queryMembers("#1", [], { rev: true, from: last, limit: 1 })).toEqual([5 * WIDTH - 1]);
    const runs = [[3, 3], [WIDTH - 2, WIDTH + 1], [5 * WIDTH - 1, 5 * WIDTH - 1]];
    expect(await a.ranges(0, last)).toEqual(runs);
    for (const limit of [0, 1, 2, 3, 4]) expect(await a.ranges(0, last, { limit })).toEqual(runs.slice(0, limit));
    expect(await a.ranges(WIDTH - 1, WIDTH)).toEqual([[WIDTH - 1, WIDTH]]);
    expect(await a.rangeCounts([[0, last], [WIDTH - 1, WIDTH], [9, 3]])).toEqual([6, 2, 0]);
    await expect(a.rangeCounts([])).rejects.toBeInstanceOf(InvalidArgumentError);
  });

  it.each(["range", "hash"] as const)("takes members at random, by %s, each as likely as any other", async (by) => {
    const sharding = by === "hash" ? { by, shards: 5 } : { width: WIDTH, shards: 5 }, bitmap = client.r.sharded(`pop ${by}`, sharding);
    const members = [...range(0, 30), ...range(WIDTH, 5), 4 * WIDTH], drawn = new Map(members.map((one) => [one, 0]));
    const ROUNDS = 400, COUNT = 9;
    for (let round = 0; round < ROUNDS; round++) {
      await bitmap.setBits(members);
      const taken = await bitmap.randPops(COUNT);
      expect(taken).toEqual(sorted(new Set(taken)));
      expect([taken.length, await bitmap.count()]).toEqual([COUNT, members.length - COUNT]);
      expect(await bitmap.getBits(taken)).toEqual(taken.map(() => 0));
      for (const one of taken) drawn.set(one, drawn.get(one)! + 1);
    }
    const share = COUNT / members.length, expected = ROUNDS * share;
    const square = [...drawn.values()].reduce((sum, one) => sum + (one - expected) ** 2, 0) / (expected * (1 - share));
    expect(square, "with 35 degrees of freedom, one of ten million random runs has more").toBeLessThan(100);
    await bitmap.setBits(members);
    expect(await bitmap.randPops(0)).toEqual([]);
    expect(await bitmap.randPops(1000)).toEqual(members);
    expect([await bitmap.randPop(), await bitmap.randPops(3)]).toEqual([null, []]);
    await bitmap.setBit(7, 1);
    expect([await bitmap.randPop(), await bitmap.count()]).toEqual([7, 0]);
    await expect(bitmap.randPops(-1)).rejects.toBeInstanceOf(InvalidArgumentError);
  });

  it("says which members were taken when a shard fails", async () => {
    await a.setBits([1, WIDTH + 1, 2 * WIDTH]);
    const home = await cluster.homeOf(a.keyOf(1));
    const counts = client.r.sharded("a", { width: WIDTH, shards: 5 });
    Object.defineProperty(counts, "counts", { value: async () => [1, 1, 1, 0, 0] });
    await home.connection.run("SET", a.keyOf(1), "text");
    const error = await failure(counts.randPops(3)) as ShardsFailedError;
    expect([error.failed.map(({ shard }) => shard), [...error.done]]).toEqual([[1], [[0, [1]], [2, [2 * WIDTH]]]]);
  });

  it.each(["range", "hash"] as const)("stores the first members of an expression, by %s", async (by) => {
    const sharding = by === "hash" ? { by, shards: 5 } : { width: WIDTH, shards: 5 };
    const [from, to] = ["from", "to"].map((name) => client.r.sharded(`${name} ${by}`, sharding)) as [typeof a, typeof a];
    const members = range(0, 300, 1009), { r } = client, all = (): Promise<number[]> => to.range(0, 2 ** 32 - 1);
    await from.setBits(members);
    await to.setBits([5, WIDTH, 3 * WIDTH + 7]);
    for (const [low, limit] of [[0, 299], [0, 300], [0, 301], [WIDTH, 65], [1010, 1], [0, 0], [302_000, 5], [301_691, 5]] as const) {
      const part = members.filter((one) => one >= low).slice(0, limit);
      expect(await to.queryStore("#1", [from], { from: low, limit }), `${limit} from ${low}`).toBe(part.length);
      expect(await all()).toEqual(part);
    }
    expect(await to.queryStore("#1 & [0..100000]", [from], { from: 70_000 })).toBe(30);
    expect(await to.queryStore("~#1", [from], { from: 1, limit: 2000 })).toBe(2000);
    expect(await all()).toEqual(range(1, 2001).filter((one) => one !== 1009).slice(0, 2000));
    expect(await to.queryStore("#1", [to], { from: 2 ** 32 - 1 })).toBe(0);
    await to.setBit(9, 1);
    const offset = { offset: 5 } as object;
    await expect(to.queryStore("#1", [from], offset)).rejects.toThrow("invalid offset: members would move to shards on other nodes");
    for (const bad of [{ from: -1 }, { from: 2 ** 32 }, { limit: -1 }, { limit: 0.5 }]) {
      await expect(to.queryStore("#1", [from], bad)).rejects.toBeInstanceOf(InvalidArgumentError);
    }
    const plain = await failure(r.queryCard("#1 & & ~#1", ["k"])) as RoarError;
    for (const options of [{ from: 3 }, { limit: 3 }]) expect(await failure(to.queryStore("#1 & & ~#1", [from], options))).toMatchObject({ message: plain.message });
    expect(await all()).toEqual([9]);
  });

  it("exports one payload, and imports one", async () => {
    const members = [...range(0, 5000, 3), ...range(70_000, 60_000), ...range(300_000, 100, 7)];
    await client.r.setIntArray("plain", members);
    await client.r.optimize("plain");
    const payload = (await client.r.export("plain"))!;
    expect(await a.import(payload)).toBe(65_100);
    const exported = await a.export();
    expect(await client.r.import("again", exported)).toBe(65_100);
    expect(await client.r.getIntArray("again")).toEqual(members);
    expect(await a.import(payload, { replace: true })).toBe(65_100);
    expect(await c.export()).toEqual(payloadOf(R, []));
    for (const bad of [Buffer.alloc(0), Buffer.from("nonsense"), payload.subarray(0, -1), Buffer.concat([payload, Buffer.alloc(1)])]) {
      await expect(a.import(bad)).rejects.toBeInstanceOf(InvalidPayloadError);
    }
    await client.r.setBit("far", 5 * WIDTH, 1);
    await expect(a.import((await client.r.export("far"))!)).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(await a.count()).toBe(65_100);
  });

  it("copies an ordinary bitmap, and leaves nothing of what it was", async () => {
    await a.setBits([1, 2 * WIDTH, 4 * WIDTH]);
    await client.r.setIntArray("plain", [5, WIDTH + 5, 3 * WIDTH]);
    expect(await a.copyFrom("plain")).toBe(3);
    expect(await a.range(0, 2 ** 32 - 1)).toEqual([5, WIDTH + 5, 3 * WIDTH]);
    expect(await client.r.getIntArray("plain")).toEqual([5, WIDTH + 5, 3 * WIDTH]);
    await client.r.setBit("plain", 5 * WIDTH, 1);
    await expect(a.copyFrom("plain")).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(await a.count()).toBe(3);
    expect(await a.copyFrom("none")).toBe(0);
    expect(await keys()).toEqual(["plain"]);
  });

  it("expires and is deleted as a whole", async () => {
    expect(await a.expire(100)).toBe(0);
    await a.setBits([1, 2 * WIDTH, 4 * WIDTH]);
    expect(await a.expire(100)).toBe(3);
    for (const shard of [0, 2, 4]) {
      const home = await cluster.homeOf(a.keyOf(shard));
      expect(await home.connection.run("TTL", a.keyOf(shard))).toBeGreaterThan(90);
    }
    expect(await a.delete()).toBe(3);
    expect(await keys()).toEqual([]);
    expect([await a.count(), await a.min(), await a.max(), await a.select(0), await a.jaccard(b)]).toEqual([0, null, null, null, null]);
  });

  it("sends no command to a node that does not have the shard", async () => {
    await cluster.onAll("CONFIG", "RESETSTAT");
    await a.setBits(range(0, 5, WIDTH));
    await b.bitOp("OR", [a]);
    await a.queryMembers("#1 & #2", [b], { limit: 4 });
    expect(((await cluster.onAll("INFO", "errorstats")) as string[]).join()).not.toMatch(/MOVED|CROSSSLOT/);
  });
});

it("payloads are taken apart and put together to the same bytes", seeded(async (rng) => {
  const client = await wrappers[3]!.openCluster!(cluster.ports);
  const container = (): number[] => rng.pick([
    () => range(rng.below(60_000), 1 + rng.below(5000)), () => range(0, 3000 + rng.below(3000), 7),
    () => range(rng.below(100), 8000, 8), () => [rng.below(65_536)],
  ])();
  for (let round = 0; round < 60; round++) {
    const at = range(0, rng.below(7)).map(() => rng.below(1000));
    const members = at.flatMap((high) => container().map((low) => high * 65_536 + low));
    const wide = members.map((member) => BigInt(member) + (BigInt(rng.below(3)) << 32n));
    const check = async <M extends Member>(family: Family<M>, bitmaps: Bitmaps<M>, key: string, list: Offset<M>[]): Promise<void> => {
      await bitmaps.setBitArray(key, "");
      if (list.length > 0) await bitmaps.setBits(key, list);
      if (rng.chance(0.5)) await bitmaps.optimize(key);
      const payload = (await bitmaps.export(key))!, containers = containersOf(family, Buffer.from(payload));
      expect(containers.reduce((sum, { cardinality }) => sum + cardinality, 0)).toBe(new Set(list).size);
      expect(Buffer.compare(payloadOf(family, containers), payload)).toBe(0);
    };
    await check(R, client.r, "r", members);
    await check(R64, client.r64, "r64", wide);
  }
  await client.close();
}));
