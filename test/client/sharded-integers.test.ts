// Sharded integers on three masters, compared with a Map.

import { beforeEach, describe, expect, it } from "vitest";
import {
  InvalidArgumentError, type Integers, type Member, type Offset, q, type Question, type ShardedBitmap, type ShardedIntegers,
  ShardsFailedError, type ShardingOptions,
} from "../../client/src/index.ts";
import { meanOf } from "../../client/src/sharded/values.ts";
import { type Adapter, collect, ofClusters, repliesFor, useClient, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { byName, useCluster } from "../support/suite.ts";

const cluster = useCluster(3);
const WIDTH = 65_536;

beforeEach(() => cluster.onAll("FLUSHALL", "SYNC"));

const compare = (a: Member, b: Member): number => (a < b ? -1 : Number(a > b));
type Within<M extends Member> = Question<ShardedBitmap<M>>;

interface Tried<M extends Member> {
  ints: ShardedIntegers<M>;
  others: ShardedIntegers<M>;
  members: ShardedBitmap<M>;
  /** The integer as the family has it. */
  of: (value: bigint) => M;
  id: () => M;
  value: () => M;
}

/** Questions about the entries that count. */
async function expectAnswers<M extends Member>(
  { ints, of }: Tried<M>, entries: readonly [M, M][], within: Within<M> | undefined, rng: Random,
): Promise<void> {
  const ordered = [...entries].sort(([a, x], [b, y]) => compare(x, y) || compare(a, b)), options = { within };
  const ids = ordered.map(([id]) => id), values = ordered.map(([, value]) => value);
  const count = of(BigInt(ids.length)), sum = values.reduce((all, one) => all + BigInt(one), 0n);
  expect(await ints.sum(options)).toEqual({ count, sum });
  const mean = meanOf(sum, BigInt(ids.length));
  expect(await ints.stats(options)).toEqual({ count, sum, min: values[0] ?? null, max: values.at(-1) ?? null, mean });
  for (const rev of [false, true]) {
    const all = rev ? ordered.toReversed() : ordered, size = all.length;
    const drawn = [rng.below(size + 1), rng.below(size + 9)], fromEnd = [-1 - rng.below(size + 5), rng.below(size + 1) - size];
    for (const [start, stop] of [[0, 9], [0, -1], drawn, [-5, -1], fromEnd, [3, 2]] as [number, number][]) {
      const from = start < 0 ? Math.max(0, start + size) : start, to = stop < 0 ? stop + size : stop;
      expect(await ints.rangeWithValues(start as never, stop as never, { rev, within }), `${start} to ${stop}`).toEqual(all.slice(from, Math.max(from, to + 1)));
    }
    for (let i = 0; i < 3 && size > 0; i++) {
      const rank = rng.below(size);
      expect(await ints.rank(all[rank]![0] as never, { rev, within })).toBe(of(BigInt(rank)));
    }
  }
  const [low, high] = [rng, rng].map((one) => (values.length > 0 ? one.pick(values) : of(0n))).sort(compare) as [M, M];
  const between = ordered.filter(([, value]) => value > low && value <= high), bounds = [`(${low}`, high] as never as [never, never];
  const [skipped, most] = [rng.below(5), rng.below(20) - 1];
  expect(await ints.count(...bounds, options)).toBe(of(BigInt(between.length)));
  expect(await ints.rangeByValueWithValues(...bounds, options)).toEqual(between);
  expect(await ints.rangeByValue(bounds[1], bounds[0], { rev: true, limit: [skipped, most], within }))
    .toEqual(between.toReversed().slice(skipped, most < 0 ? undefined : skipped + most).map(([id]) => id));
  const fractions = [0, 0.5, rng.unit(), 1], at = (one: number): number => Math.max(0, Math.ceil(one * values.length) - 1);
  expect(await ints.quantiles(fractions, options)).toEqual(fractions.map((one) => values[at(one)] ?? null));
  const counts = new Map<M, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const histogram = [...counts].map(([value, ids_]) => [value, of(BigInt(ids_))] as [M, M]);
  expect(await ints.histogram(options)).toEqual(histogram);
  expect(await ints.histogram({ top: 5, within })).toEqual(histogram.sort(([a, m], [b, n]) => compare(n, m) || compare(a, b)).slice(0, 5));
  const edges = [...new Set([low, high])], cuts: (M | undefined)[] = [undefined, ...edges, undefined];
  expect(await ints.histogramBetween(edges as never, options)).toEqual(cuts.slice(1).map((end, n) =>
    of(BigInt(values.filter((value) => (cuts[n] === undefined || value >= cuts[n]) && (end === undefined || value < end)).length))));
}

/** Random writes and questions, and what a Map answers. */
async function expectModel<M extends Member>(tried: Tried<M>, rng: Random): Promise<void> {
  const { ints, others, members, of, id, value } = tried, model = new Map<M, M>(), inside = new Set<M>(range(0, 100).map(id));
  await members.setBits([...inside] as never);
  for (let round = 0; round < 3; round++) {
    const entries = range(0, 1 + rng.below(120)).map((): [M, M] => [id(), value()]), before = model.size;
    for (const [one, its] of entries) model.set(one, its);
    expect(await ints.set(entries as never)).toBe(of(BigInt(model.size - before)));
    const [one] = rng.pick(entries), more = of(BigInt(model.get(one)!) + 3n);
    expect([await ints.incrBy(one as never, 3), await ints.get(one as never)]).toEqual([more, more]);
    model.set(one, more);
    const asked = range(0, 20).map(() => (rng.chance(0.5) ? rng.pick(entries)[0] : id()));
    expect(await ints.mGet(asked as never)).toEqual(asked.map((some) => model.get(some) ?? null));
    expect(await ints.del(asked.slice(0, 3) as never)).toBe(of(BigInt(asked.slice(0, 3).filter((some) => model.delete(some)).length)));
    expect(await ints.card()).toBe(of(BigInt(model.size)));
    await expectAnswers(tried, [...model], undefined, rng);
    const half = of(BigInt(rng.below(2 ** 32)));
    const withins: [Within<M>, (id: M, value: M) => boolean][] = [
      [q`${members}`, (some) => inside.has(some)], [q`~${members} & [${0}..${half}]`, (some) => !inside.has(some) && some <= half],
      [q`${members} - ${ints} >= ${0}` as unknown as Within<M>, (some, its) => inside.has(some) && its < 0],
    ];
    for (const [within, has] of withins) await expectAnswers(tried, [...model].filter(([some, its]) => has(some, its)), within, rng);
    const missing = id();
    if (!model.has(missing)) expect([await ints.rank(missing as never), await ints.get(missing as never)]).toEqual([null, null]);
    const all = [...model].sort(([a], [b]) => compare(a, b)), from = id();
    expect((await collect(ints.scanPages({ count: 7 }))).flat()).toEqual(all);
    const rest = await collect(ints.scanIterator({ from: from as never, count: 1 + rng.below(50) }));
    expect(rest).toEqual(all.filter(([some]) => some >= from));
  }
  const weights = [...new Map(range(0, 50).map((): [M, M] => [rng.pick([...model.keys(), id(), id(), id()]), value()]))];
  await others.set(weights as never);
  const larger = new Map(model);
  for (const [one, its] of weights) larger.set(one, larger.has(one) && larger.get(one)! > its ? larger.get(one)! : its);
  expect(await others.merge([ints, others], { aggregate: "MAX" })).toBe(of(BigInt(larger.size)));
  expect(await collect(others.scanIterator())).toEqual([...larger].sort(([a], [b]) => compare(a, b)));
  const negative = [...model].filter(([some, its]) => its < 0 && !inside.has(some));
  expect(await ints.delRange("-inf", "(0", { within: q`~${members}` })).toBe(of(BigInt(negative.length)));
  expect(await ints.card()).toBe(of(BigInt(model.size - negative.length)));
}

const shardings: readonly [string, ShardingOptions, ShardingOptions][] = [
  ["by range", { width: 131_072n, shards: 5 }, { width: 2n ** 62n }], ["by hash", { by: "hash", shards: 7 }, { by: "hash", shards: 3 }],
];

describe.each(byName<Adapter>(ofClusters(wrappers)))("%s", (name, adapter) => {
  const client = useClient(async () => {
    await cluster.onAll(...repliesFor(adapter));
    return adapter.openCluster!(cluster.ports);
  });

  it.each(shardings)("sharded integers answer what a Map does, %s", (_, narrow, wide) => seeded(async (rng) => {
    type Sharded<M extends Member> = Pick<Tried<M>, "ints" | "others" | "members">;
    const sharded = <M extends Member>(ints: Integers<M>, members: ShardedBitmap<M>, options: ShardingOptions): Sharded<M> =>
      ({ ints: ints.sharded(`${members.name} ints`, options), others: ints.sharded(`${members.name} others`, options), members });
    const top = 2 ** (1 + rng.below(30)), { r, r64, ri, ri64 } = client, last = "by" in narrow ? 2 ** 32 : 5 * 131_072;
    await expectModel({
      ...sharded(ri, r.sharded(name, narrow), narrow), of: Number,
      id: () => (rng.chance(0.7) ? 130_900 + rng.below(300) : rng.below(last)), value: () => rng.below(top) - Math.floor(top / 3),
    }, rng);
    if (adapter.rounds) return; // values beyond 2^53 are refused
    await expectModel({
      ...sharded(ri64, r64.sharded(`${name} wide`, wide), wide), of: (value) => value,
      id: () => (rng.chance(0.7) ? BigInt(rng.below(300)) : rng.u64()), value: () => BigInt.asIntN(62, rng.u64()) >> BigInt(rng.below(62)),
    }, rng);
  })());
});

describe("sharded integers", () => {
  const client = useClient(() => wrappers[3]!.openCluster!(cluster.ports));
  const options = { width: WIDTH, shards: 5 };

  it("are in the shards of bitmaps that are cut in the same way", async () => {
    const { r, ri, ri64 } = client, ages = ri.sharded("age", options), vip = r.sharded("vip", options);
    await ages.set(new Map(range(0, 5).map((i) => [i * WIDTH + i, 10 * i])));
    await vip.setBits([WIDTH + 1, 2 * WIDTH + 2, 3 * WIDTH]);
    expect(await ri.get(ages.keyOf(2), 2 * WIDTH + 2)).toBe(20);
    expect(await r.query(q`${vip} & ${ages} >= ${20}`).members()).toEqual([2 * WIDTH + 2]);
    const young = r.query(q`${ages} < ${30} - ${vip}`), stored = r.sharded("young", options);
    expect([await young.card(), await young.members({ rev: true })]).toEqual([1, [0]]);
    expect([await young.store(stored), await stored.count()]).toEqual([1, 1]);
    expect(await vip.queryCard("#1 & #2", [ages])).toBe(2);
    expect(await vip.crossCard([], [vip], { within: q`${ages} > ${10}` })).toEqual([[1]]);
    expect(await ages.sum({ within: q`${ages} > ${10} - ${vip}` })).toEqual({ count: 2, sum: 70n });
    expect([await ages.expire(100), await ages.delete(), await ages.card()]).toEqual([5, 5, 0]);
    expect(await ri64.sharded("age", { by: "hash", shards: 2 }).stats()).toEqual({ count: 0n, sum: 0n, min: null, max: null, mean: null });
  });

  it("sum up beyond 64 bits, and have means as near as a number can be", async () => {
    const most = 2n ** 63n - 1n, ints = client.ri64.sharded("big", { by: "hash", shards: 3 });
    await ints.set(range(0, 9).map((i) => [i, most]));
    expect(await ints.stats()).toEqual({ count: 9n, sum: 9n * most, min: most, max: most, mean: Number(most) });
    expect([meanOf(1n, 3n), meanOf(-2n, 3n), meanOf(10n ** 30n, 10n ** 30n)]).toEqual([1 / 3, -2 / 3, 1]);
    expect([meanOf(2n ** 53n + 1n, 1n), meanOf(2n ** 54n + 3n, 2n)]).toEqual([2 ** 53, 2 ** 53 + 2]);
    expect([meanOf(0n, 5n), meanOf(0n, 0n)]).toEqual([0, null]);
  });

  it("find deep ranks by their values", async () => {
    const ints = client.ri.sharded("deep", { by: "hash", shards: 4 });
    const entries = range(0, 30_000).map((id): [number, number] => [id, Math.floor(id / 700)]);
    for (let at = 0; at < entries.length; at += 5000) await ints.set(entries.slice(at, at + 5000));
    expect(await ints.rangeWithValues(12_345, 12_360)).toEqual(entries.slice(12_345, 12_361));
    expect(await ints.rangeWithValues(20_000, 20_005, { rev: true })).toEqual(entries.toReversed().slice(20_000, 20_006));
    expect(await ints.range(29_999, 40_000)).toEqual([29_999]);
    expect([await ints.range(30_000, 40_000), await ints.range(-15_000, -14_999)]).toEqual([[], [15_000, 15_001]]);
    expect(await ints.rangeByValue(3, "+inf", { limit: [12_000, 3] })).toEqual([14_100, 14_101, 14_102]);
  });

  it("refuse what is cut otherwise, and ids beyond their shards", async () => {
    const { r, ri } = client, ages = ri.sharded("age", options), other = r.sharded("x", { by: "hash", shards: 5 });
    await expect(ages.sum({ within: q`${other}` })).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(ages.merge([ri.sharded("x", { width: 2 * WIDTH, shards: 2 })])).rejects.toBeInstanceOf(InvalidArgumentError);
    for (const answer of [
      ages.get(5 * WIDTH), ages.set([[-1, 1]]), ages.set([[1, 0.5]]), ages.set("12" as unknown as []), ages.quantiles([2]), ages.quantiles([]), ages.histogram({ top: 0 }),
      ages.rangeByValue(1, 2, { limit: [-1, 1] }), ages.range(0.5, 1), ages.histogramBetween([]), ages.mGet(Buffer.from("1") as unknown as Offset<number>[]),
    ]) await expect(answer).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(ages.scanPages({ count: 0 }).next()).rejects.toBeInstanceOf(InvalidArgumentError);
    const plain = await ri.sum("none", { within: { expression: "#1 & & #1", keys: ["none"] } }).catch((error: Error) => error.message);
    await expect(ages.sum({ within: q`${r.sharded("a", options)} & & ${ages}` })).rejects.toMatchObject({ message: plain });
  });

  it("name the shards that fail", async () => {
    const ages = client.ri.sharded("age", options), home = await cluster.homeOf(ages.keyOf(1));
    await home.connection.run("SET", ages.keyOf(1), "text");
    const error = await ages.card().catch((reason: unknown) => reason) as ShardsFailedError;
    expect(error).toBeInstanceOf(ShardsFailedError);
    expect([error.failed.map(({ shard }) => shard), [...error.done.keys()]]).toEqual([[1], [0, 2, 3, 4]]);
  });
});
