// Sharded names on three masters, compared with a Map.

import { beforeEach, describe, expect, it } from "vitest";
import { InvalidArgumentError, type Name, type Names, q, type ShardedBitmap, ShardsFailedError } from "../../client/src/index.ts";
import { hashOfBytes } from "../../client/src/sharded/layout.ts";
import { type Adapter, collect, ofClusters, repliesFor, useClient, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { byName, useCluster } from "../support/suite.ts";

const cluster = useCluster(3);

beforeEach(() => cluster.onAll("FLUSHALL", "SYNC"));

const hasQuery = async (): Promise<boolean> =>
  ((await cluster.primaries[0]!.connection.run("COMMAND", "INFO", "RN.QUERY")) as unknown[])[0] !== null;

const keyOf = (name: Name): string => Buffer.from(name).toString("latin1");
const sorted = (names: Iterable<Name>): string[] => [...names].map(keyOf).sort();

/** Random commands, and what a Map and a Set answer. */
async function expectModel(rn: Names<Name>, bitmap: ShardedBitmap<number>, draw: () => Name, rng: Random): Promise<void> {
  const { shards } = bitmap, names = rn.sharded("names", { shards }), model = new Map<string, number>(), drawn: Name[] = [], members = new Set<string>();
  for (let step = 0; step < 40; step++) {
    const some = range(0, 1 + rng.below(9)).map(() => (drawn.length > 0 && rng.chance(0.5) ? rng.pick(drawn) : draw()));
    const distinct = [...new Map(some.map((name) => [keyOf(name), name])).values()];
    drawn.push(...some);
    switch (rng.below(4)) {
      case 0: {
        const ids = await names.add(some);
        for (const [i, name] of some.entries()) {
          expect(ids[i]).toBe(model.get(keyOf(name)) ?? ids[i]);
          model.set(keyOf(name), ids[i]!);
          expect(bitmap.shardOf(ids[i]!), "a name and its bits").toBe(names.shardOfName(name));
        }
        expect(new Set(model.values()).size, "ids are different").toBe(model.size);
        break;
      }
      case 1: {
        const fresh = distinct.filter((name) => !members.has(keyOf(name)));
        expect(await names.setBits(bitmap, some)).toBe(fresh.length);
        for (const name of fresh) members.add(keyOf(name));
        const ids = await names.ids(distinct);
        for (const [i, name] of distinct.entries()) model.set(keyOf(name), ids[i]!);
        break;
      }
      case 2: expect(await names.clearBits(bitmap, some)).toBe(distinct.filter((name) => members.delete(keyOf(name))).length); break;
      default: {
        const gone = distinct.filter((name) => !members.has(keyOf(name)));
        expect(await names.del(gone)).toBe(gone.filter((name) => model.delete(keyOf(name))).length);
      }
    }
    expect(await names.ids(some)).toEqual(some.map((name) => model.get(keyOf(name)) ?? null));
    expect(await names.getBits(bitmap, some)).toEqual(some.map((name) => Number(members.has(keyOf(name)))));
    expect([await names.card(), await bitmap.count()]).toEqual([model.size, members.size]);
  }
  const answered = await names.names([...model.values(), 4_294_967_295]);
  expect(answered.map((name) => name && keyOf(name))).toEqual([...model.keys(), null]);
  const scanned = (await collect(names.scanPages({ count: 7 }))).flat();
  expect(new Map(scanned.map(([id, name]) => [keyOf(name), id]))).toEqual(model);
  const ids = await bitmap.queryMembers("#1");
  expect(sorted((await names.names(ids)).map((name) => name!))).toEqual([...members].sort());
  if (await hasQuery()) {
    expect(sorted((await collect(names.members("#1", [bitmap], { count: 3 }))).flat())).toEqual([...members].sort());
    const first = ids.slice(0, 5), upTo = `#1 & [0..${first.at(-1) ?? 0}]`;
    expect(sorted((await collect(names.members(upTo, [bitmap]))).flat())).toEqual(sorted((await names.names(first)).map((name) => name!)));
  }
  expect([await names.delete() > 0, await names.card()]).toEqual([true, 0]);
  await bitmap.delete();
}

describe.each(byName<Adapter>(ofClusters(wrappers)))("%s", (_, adapter) => {
  const client = useClient(async () => {
    await cluster.onAll(...repliesFor(adapter));
    return adapter.openCluster!(cluster.ports);
  });

  it("sharded names answer what a Map and a Set do", seeded(async (rng) => {
    const { r, rn, rnBytes } = client, bitmap = r.sharded("bits", { by: "hash", shards: 1 + rng.below(9) });
    await expectModel(rn, bitmap, () => `user:${rng.below(200)}`, rng);
    await expectModel(rnBytes, bitmap, () => Buffer.from(range(0, 1 + rng.below(9)).map(() => rng.below(256))), rng);
  }));
});

describe("sharded names", () => {
  const client = useClient(() => wrappers[3]!.openCluster!(cluster.ports)), by = "hash";

  it("are where a hash of their bytes says", () => {
    const hashes = [["", 0], ["a", 0x3c25_69b2], ["hello", 0x248b_fa47], ["hello, world", 0x149b_bb7f], ["The quick brown fox jumps over the lazy dog", 0x2e4f_f723]] as const;
    for (const [text, hash] of hashes) expect(hashOfBytes(Buffer.from(text)), text).toBe(hash);
    const names = client.rn.sharded("names", { shards: 16 });
    expect([names.shardOfName("hello"), names.shardOfName(Buffer.from("hello")), names.keyOf(7)]).toEqual([7, 7, "names:{7}"]);
  });

  it("share shards with bitmaps, which count and combine their ids", async () => {
    const { r, rn } = client, users = rn.sharded("users", { shards: 8 }), people = range(0, 300).map((i) => `person ${i}`);
    const [chess, go] = ["chess", "go"].map((name) => r.sharded(name, { by, shards: 8 })) as [ShardedBitmap<number>, ShardedBitmap<number>];
    expect(await users.load(people, { batch: 70 })).toEqual({ done: 300 });
    expect([await users.setBits(chess, people.slice(0, 200)), await users.setBits(go, people.slice(100))]).toEqual([200, 200]);
    const both = await r.query(q`${chess} & ${go}`).members();
    expect(sorted((await users.names(both)).map((name) => name!))).toEqual(people.slice(100, 200).sort());
    expect(await users.getBits(chess, [people[7]!, "nobody"])).toEqual([1, 0]);
    expect([await users.expire(100), await users.with({ timeout: 10_000 }).card()]).toEqual([8, 300]);
  });

  it("refuse bitmaps of other shards, what is no name, and no shards", async () => {
    const { r, r64, rn } = client, users = rn.sharded("users", { shards: 8 }), wide = r64.sharded("x", { by, shards: 8 });
    const others = [r.sharded("x", { by, shards: 7 }), r.sharded("x", { shards: 8 }), wide as unknown as ShardedBitmap<number>];
    for (const other of others) {
      const answers = [users.setBits(other, ["a"]), users.getBits(other, ["a"]), users.clearBits(other, ["a"]), users.members("#1", [other]).next()];
      for (const answer of answers) await expect(answer).rejects.toBeInstanceOf(InvalidArgumentError);
    }
    for (const answer of [users.add([""]), users.ids("ada" as unknown as []), users.names([2 ** 32]), users.scanPages({ count: 0 }).next()]) {
      await expect(answer).rejects.toBeInstanceOf(InvalidArgumentError);
    }
    for (const bad of [{}, { shards: 0 }, { shards: 16_385 }]) expect(() => rn.sharded("users", bad as { shards: number })).toThrow(InvalidArgumentError);
    expect(() => rn.sharded("users{1}", { shards: 2 })).toThrow(InvalidArgumentError);
  });

  it("name the shards that fail", async () => {
    const users = client.rn.sharded("users", { shards: 4 }), home = await cluster.homeOf(users.keyOf(2));
    await home.connection.run("SET", users.keyOf(2), "text");
    const error = await users.add(range(0, 100).map(String)).catch((reason: unknown) => reason) as ShardsFailedError;
    expect(error).toBeInstanceOf(ShardsFailedError);
    expect(error.failed.map(({ shard }) => shard)).toEqual([2]);
    await expect(users.load(["a", "b", "c", "d", "e", "f", "g", "h", "i"])).rejects.toMatchObject({ name: "LoadError", done: 0 });
  });
});
