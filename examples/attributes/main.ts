// Attributes of a billion videos: one bitmap for each attribute, beside native bitmaps in shards of 10,000 videos and beside sets.

import { draw } from "../../bench/chart.ts";
import { example, inBytes, memoryOf, memoryOfEach, nativeBitmap, served, sum, timed } from "../support/example.ts";
import { attributes } from "./data.ts";
import { Attributes } from "./service.ts";

/** The shards of the usual advice: `m:<attribute>:<id / 10000>`. */
const WIDTH = 10_000;
const shardKey = (attribute: string, shard: number): string => `shards:${attribute}:${shard}`;
const setKey = (attribute: string): string => `set:${attribute}`, wholeKey = (attribute: string): string => `whole:${attribute}`;

await example("attributes", async (run) => {
  const server = await run.server(), client = run.connect(server), { r, redis } = client, service = new Attributes(redis, client);
  const ids = run.scaled(1_000_000_000, 2_000_000), all = attributes(run.random, ids, run.scaled(500_000, 2000));
  const names = all.map(({ name }) => name);
  const has = new Map(all.map(({ name, videos }) => [name, new Set(videos)]));

  // --- The same attributes in shards, in sets and in bitmaps. The bitmaps come from the shards.

  const shards = new Map<string, number[]>();
  for (const { name, videos } of all) {
    const parts = new Map<number, number[]>();
    for (const video of videos) {
      const shard = Math.floor(video / WIDTH), part = parts.get(shard);
      if (part) part.push(video % WIDTH); else parts.set(shard, [video % WIDTH]);
    }
    shards.set(name, [...parts.keys()]);
    for (const some of grouped([...parts], 1000)) {
      const sent = redis.pipeline();
      for (const [shard, members] of some) sent.set(shardKey(name, shard), nativeBitmap(members));
      await sent.exec();
    }
    await Promise.all(grouped(videos, 5000).map((some) => redis.sadd(setKey(name), ...some)));
  }
  const [, together] = await timed(async () => {
    for (const { name, videos } of all) {
      run.check(`videos of ${name}`, await service.bringTogether(name, `shards:${name}`, shards.get(name)!, WIDTH), videos.length);
    }
  });
  for (const { name, videos } of all) {
    run.check(`members of ${name}`, await r.queryMembers("#1", [Attributes.keyOf(name)]), videos);
    await r.optimize(Attributes.keyOf(name));
  }
  const oneMore = await service.bringTogether(names[0]!, `shards:${names[0]}`, shards.get(names[0]!)!.slice(0, 5), WIDTH);
  run.check("bringing shards together again changes nothing", oneMore, all[0]!.videos.length);

  // --- One video: has it this attribute, and which ones?

  for (let i = 0; i < 40; i++) {
    const { videos } = run.random.pick(all), video = i % 2 === 0 ? run.random.pick(videos) : 1 + run.random.below(ids);
    const right = names.filter((name) => has.get(name)!.has(video));
    run.check(`attributes of video ${video}`, await service.of(video, names), right);
    run.check("one of them", await service.has(names[i % names.length]!, video), right.includes(names[i % names.length]!));
  }
  const video = all[0]!.videos[0]!;
  const [, ofBitmaps] = await served(redis, () => service.of(video, names));
  const [, ofShards] = await served(redis, async () => {
    const asked = redis.pipeline();
    for (const name of names) asked.getbit(shardKey(name, Math.floor(video / WIDTH)), video % WIDTH);
    return asked.exec();
  });
  const [, ofSets] = await served(redis, async () => {
    const asked = redis.pipeline();
    for (const name of names) asked.sismember(setKey(name), video);
    return asked.exec();
  });

  // --- How many videos have two attributes? Shards are asked one by one, those that both attributes have.

  const [one, other] = [all[0]!, all[1]!], right = one.videos.filter((candidate) => has.get(other.name)!.has(candidate)).length;
  const [inBitmaps, bothBitmaps] = await served(redis, () => service.count("#1 & #2", [one.name, other.name]));
  const common = shards.get(one.name)!.filter((shard) => shards.get(other.name)!.includes(shard));
  const [inShards, bothShards] = await served(redis, async () => {
    let count = 0;
    for (const some of grouped(common, 1000)) {
      const asked = redis.pipeline();
      for (const shard of some) asked.bitop("AND", "result", shardKey(one.name, shard), shardKey(other.name, shard)).bitcount("result");
      for (const [n, [, reply]] of (await asked.exec())!.entries()) if (n % 2 === 1) count += Number(reply);
    }
    return count;
  });
  const [inSets, bothSets] = await served(redis, async () => Number(await redis.call("SINTERCARD", 2, setKey(one.name), setKey(other.name))));
  run.check("videos with both", [inBitmaps, inShards, inSets], [right, right, right]);
  const [some, third] = [all[2]!, all[4]!];
  const expected = new Set([...one.videos, ...some.videos].filter((candidate) => !has.get(third.name)!.has(candidate))).size;
  run.check("an expression", await service.count("(#1 | #2) - #3", [one.name, some.name, third.name]), expected);

  // --- An attribute in one native bitmap, without shards.

  const whole = [...all].sort((a, b) => a.videos.length - b.videos.length)[0]!, last = whole.videos.at(-1)!;
  if (last < 2 ** 31) await redis.setbit(wholeKey(whole.name), last, 1);
  const unsharded = await memoryOf(redis, wholeKey(whole.name));
  await redis.del(wholeKey(whole.name));

  // --- What it takes, attribute by attribute.

  const rows: { name: string; kind: string; videos: number; keys: number; bitmap: number; native: number; set: number }[] = [];
  for (const { name, kind, videos } of all) {
    const parts = shards.get(name)!;
    rows.push({
      name, kind, videos: videos.length, keys: parts.length, bitmap: await memoryOf(redis, Attributes.keyOf(name)),
      native: sum(await memoryOfEach(redis, parts.map((shard) => shardKey(name, shard)))), set: await memoryOf(redis, setKey(name)),
    });
  }
  const total = (figure: (row: (typeof rows)[number]) => number): number => sum(rows.map(figure));
  const totals = {
    keys: total((row) => row.keys), bitmap: total((row) => row.bitmap), native: total((row) => row.native), set: total((row) => row.set),
  };

  // --- Retiring an attribute, and one that ends by itself.

  const [, retiring] = await served(redis, () => service.retire("none"));
  await service.setUntil("sale", [7, 8, 9], new Date(Date.now() + 3_600_000));
  run.check("a dated attribute", await service.of(8, ["sale", "none"]), ["sale"]);
  run.check("a dated attribute ends", Number(await redis.pttl(Attributes.keyOf("sale"))) > 3_500_000, true);
  await service.setUntil("sale", [7], new Date(Date.now() - 1000));
  run.check("it has ended", await service.of(7, ["sale"]), []);
  const [, gone] = await timed(() => service.retire(one.name));
  run.check("a retired attribute", await service.has(one.name, one.videos[0]!), false);
  run.check("a change", [await service.set("fresh", 5), await service.set("fresh", 5), await service.set("fresh", 5, false)], [true, false, true]);

  run.table("Bytes of the attributes", ["", "Videos", "Bitmap", "Native shards", "Set", "Shards, keys"], [
    ...rows.slice(0, 6).map((row) => [`${row.name} (${row.kind})`, row.videos, row.bitmap, row.native, row.set, row.keys]),
    [`all ${names.length}`, sum(rows.map((row) => row.videos)), totals.bitmap, totals.native, totals.set, totals.keys],
  ]);
  run.table("Microseconds in the server", ["", "Bitmaps", "Native shards", "Sets"], [
    [`All ${names.length} attributes of a video`, ofBitmaps, ofShards, ofSets],
    [`How many have two attributes (${right.toLocaleString("en")})`, bothBitmaps, bothShards, bothSets],
  ]);
  run.table("Data", ["", "Figure"], [
    ["Ids up to", ids], ["Milliseconds to bring all shards together", together], ["Milliseconds to retire an attribute, as the client sees it", gone],
    ["The same in the server, of a missing key, microseconds", retiring],
    [`Bytes of the rarest attribute (${whole.videos.length.toLocaleString("en")} videos) in one native bitmap`, unsharded],
  ]);
  const group = (title: string, figures: readonly (readonly [string, number])[]) =>
    ({ title, bars: figures.map(([label, value], n) => ({ label, value, color: n === 0 ? "more" as const : "less" as const })) });
  run.svg = draw({
    title: `${names.length} attributes of videos with ids up to ${ids.toLocaleString("en")}`,
    subtitle: "Bytes of all keys (MEMORY USAGE). Shards are native bitmaps of 10,000 videos.",
    groups: [
      ...["common", "rare", "campaign", "recent"].map((kind) => {
        const own = rows.filter((row) => row.kind === kind);
        const of = (figure: (row: (typeof rows)[number]) => number): number => sum(own.map(figure));
        return group(`${kind}: ${of((row) => row.videos).toLocaleString("en")} videos`, [
          ["redis-roar", of((row) => row.bitmap)], ["native, in shards", of((row) => row.native)], ["sets", of((row) => row.set)],
        ]);
      }),
    ],
    format: inBytes, origin: 0, footnote: run.footnote,
  });
});

/** Items in groups of `size`. */
function grouped<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}
