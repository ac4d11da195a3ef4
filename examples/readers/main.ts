// Unique readers of the articles of a site, counted in five ways: what they take, what they cost, and what they cannot answer.

import { drawLines } from "../../bench/chart.ts";
import { quantile } from "../../bench/statistics.ts";
import { type Connected, example, inBytes, memoryOf, memoryOfEach, nativeBitmap, served, sum } from "../support/example.ts";
import { hashOf, registered, views, viewsAt } from "./data.ts";
import { Readers } from "./service.ts";

const AT_ONCE = 5000;
const chunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, i) => items.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
const key = (kind: string, article: number): string => `${kind}:${article}`;

/** One way to keep the readers of articles. The bitmaps of the service are another. */
interface Way {
  readonly name: string;
  readonly key: (article: number) => string;
  readonly exact: boolean;
  /** Adds readers with these ids, whose integers are known. */
  readonly add: (client: Connected, key: string, ids: readonly string[], integers: readonly number[]) => Promise<unknown>;
  readonly count: (client: Connected, key: string) => Promise<number>;
  readonly both: (client: Connected, one: string, other: string) => Promise<number>;
}

const R: Way = {
  name: "`R.` of integers", key: Readers.keys.article, exact: true,
  add: ({ r }, at, _, integers) => r.setBits(at, integers),
  count: ({ r }, at) => r.bitCount(at),
  both: ({ r }, ...keys) => r.bitOpCard("AND", keys.slice(0, 2)),
};

const WAYS: readonly Way[] = [
  R,
  {
    name: "`R64.` of hashes", key: (n) => key("hash", n), exact: true,
    add: ({ r64 }, at, ids) => r64.setBits(at, ids.map(hashOf)),
    count: async ({ r64 }, at) => Number(await r64.bitCount(at)),
    both: async ({ r64 }, ...keys) => Number(await r64.bitOpCard("AND", keys.slice(0, 2))),
  },
  {
    name: "SET of ids", key: (n) => key("set", n), exact: true,
    add: ({ redis }, at, ids) => redis.sadd(at, ...ids),
    count: async ({ redis }, at) => Number(await redis.scard(at)),
    both: async ({ redis }, one, other) => Number(await redis.call("SINTERCARD", 2, one, other)),
  },
  {
    name: "HyperLogLog", key: (n) => key("hll", n), exact: false,
    add: ({ redis }, at, ids) => redis.pfadd(at, ...ids),
    count: async ({ redis }, at) => Number(await redis.pfcount(at)),
    both: async ({ redis }, one, other) =>
      Number(await redis.pfcount(one)) + Number(await redis.pfcount(other)) - Number(await redis.pfcount(one, other)),
  },
  {
    name: "native bitmap of integers", key: (n) => key("native", n), exact: true,
    add: ({ redis }, at, _, integers) => redis.set(at, nativeBitmap(integers)),
    count: async ({ redis }, at) => Number(await redis.bitcount(at)),
    both: async ({ redis }, one, other) => {
      const replies = await redis.pipeline().bitop("AND", "both", one, other).bitcount("both").exec();
      return Number(replies![1]![1]);
    },
  },
];

await example("readers", async (run) => {
  const server = await run.server(), client = run.connect(server), { r, r64, redis } = client, service = new Readers(redis, client);
  const users = registered(run.random, run.scaled(1_000_000, 4000)), articles = run.scaled(2000, 60);

  // --- Registration gives out the integers: neither the order nor the number of an article's readers has to do with them.

  const integers: number[] = [];
  for (const some of chunks(users)) integers.push(...await service.integersOf(some));
  run.check("the integers of all users", integers, users.map((_, n) => n));

  // --- Articles, and the same readers in every way.

  const readers: Set<number>[] = [];
  let read = 0;
  for (let article = 0; article < articles; article++) {
    const seen = views(run.random, users.length, viewsAt(article + 1, Math.ceil(users.length / 4))), unique = new Set(seen);
    read += seen.length;
    const fresh = sum(await Promise.all(chunks(seen).map((some) => service.read(article, some.map((n) => users[n]!)))));
    run.check(`new readers of article ${article}`, fresh, unique.size);
    const ids = [...unique].map((n) => users[n]!), numbers = [...unique];
    await Promise.all(WAYS.slice(1).flatMap((way) =>
      (way.name.startsWith("native") ? [way.add(client, way.key(article), ids, numbers)] : chunks(ids).map((some) => way.add(client, way.key(article), some, [])))));
    readers.push(unique);
  }

  // --- Counts: exact ones are right, and HyperLogLog is off by an error that is known over many articles.

  const errors: number[] = [];
  const counts = await Promise.all(readers.map(async (_, article) => ({
    byService: await service.readersOf(article), byWay: await Promise.all(WAYS.map((way) => way.count(client, way.key(article)))),
  })));
  for (const [article, { size }] of readers.entries()) {
    const { byService, byWay } = counts[article]!;
    run.check(`readers of article ${article}`, byService, size);
    for (const [n, way] of WAYS.entries()) {
      const counted = byWay[n]!;
      if (way.exact) run.check(`readers of article ${article} by ${way.name}`, counted, size);
      else errors.push(Math.abs(counted / size - 1) * 100);
    }
  }
  run.check("the mean error of HyperLogLog is below 2 percent", sum(errors) / errors.length < 2, true);

  // --- Readers of both of two articles.

  const pairs = [[0, 1], [3, 9], [Math.floor(articles / 20), Math.floor(articles / 10)]] as const, right = pairs.map(([one, other]) =>
    [...readers[one]!].filter((reader) => readers[other]!.has(reader)).length);
  const both = new Map<Way, { answers: number[]; times: number[] }>();
  for (const way of WAYS) {
    const answers: number[] = [], times: number[] = [];
    for (const [one, other] of pairs) {
      const [answer, time] = await served(redis, () => way.both(client, way.key(one), way.key(other)));
      answers.push(answer);
      times.push(time);
    }
    if (way.exact) run.check(`readers of both by ${way.name}`, answers, right);
    both.set(way, { answers, times });
  }
  run.check("readers of both by the service", await Promise.all(pairs.map(([one, other]) => service.readersOfBoth(one, other))), right);

  // --- Who has read it? Only exact ways can say.

  for (let i = 0; i < 20; i++) {
    const article = run.random.below(articles), asked = Array.from({ length: 20 }, () => run.random.below(users.length));
    const known = asked.map((n) => readers[article]!.has(n)), ids = asked.map((n) => users[n]!);
    run.check("who has read it", await service.haveRead(article, ids), known);
    run.check("who has read it, by hash", await r64.getBits(key("hash", article), ids.map(hashOf)), known.map(Number));
  }
  run.check("the greatest integer", Math.max(...await Promise.all(readers.map((_, n) => r.max(R.key(n)).then((most) => most ?? 0)))) < users.length, true);

  // --- What it takes.

  const table = await memoryOf(redis, Readers.keys.table), unique = sum(readers.map(({ size }) => size));
  const bytes = new Map<Way, number[]>();
  for (const way of WAYS) bytes.set(way, await memoryOfEach(redis, readers.map((_, article) => way.key(article))));
  run.table("All articles", ["Way", "Exact", "Bytes of the articles", "Bytes a reader of an article", "Table of ids, bytes"], WAYS.map((way) => [
    way.name, way.exact ? "yes" : "no", sum(bytes.get(way)!), sum(bytes.get(way)!) / unique, / integers$/.test(way.name) ? table : "none",
  ]));
  const shown = [0, 9, 99, 999].filter((article) => article < articles);
  run.table("Bytes of one article, by its readers", ["Way", ...shown.map((article) => `${readers[article]!.size.toLocaleString("en")} readers`)],
    WAYS.map((way) => [way.name, ...shown.map((article) => bytes.get(way)![article]!)]));
  run.table("Readers of both of two articles", ["Way", ...right.map((count, n) => `article ${pairs[n]![0] + 1} and ${pairs[n]![1] + 1}: ${count.toLocaleString("en")}`), "Microseconds in the server, for each"],
    WAYS.map((way) => {
      const { answers, times } = both.get(way)!;
      return [way.name, ...answers, times.map((time) => Math.round(time * 10) / 10).join(", ")];
    }));
  run.table(`Error of HyperLogLog, in percent, over ${articles.toLocaleString("en")} articles`, ["Mean", "Median", "99th percentile", "Worst"],
    [[sum(errors) / errors.length, quantile(errors, 0.5), quantile(errors, 0.99), Math.max(...errors)]]);
  run.table("Data", ["", "Figure"], [["Users", users.length], ["Articles", articles], ["Views", read], ["Readers of all articles", unique]]);

  // --- A point is the mean over the articles of about as many readers.

  const lines = WAYS.map((way) => {
    const groups = new Map<number, { readers: number; bytes: number; articles: number }>();
    for (const [article, { size }] of readers.entries()) {
      const at = Math.round(Math.log10(size) * 5), group = groups.get(at) ?? { readers: 0, bytes: 0, articles: 0 };
      groups.set(at, { readers: group.readers + size, bytes: group.bytes + bytes.get(way)![article]!, articles: group.articles + 1 });
    }
    const points = [...groups].sort(([a], [b]) => a - b).map(([, group]): [number, number] =>
      [group.readers / group.articles, group.bytes / group.articles]);
    return { label: way.name.replaceAll("`", "").replace(" of integers", way === R ? " of integers" : ""), points };
  });
  run.svg = drawLines({
    title: "Bytes of an article by the number of its readers",
    subtitle: "MEMORY USAGE, mean over articles of about as many readers. Both scales are logarithmic.",
    panels: [{ title: `${articles.toLocaleString("en")} articles, ${users.length.toLocaleString("en")} users`, lines }],
    xTitle: "readers of the article", formatX: (value) => value.toLocaleString("en"), formatY: inBytes, footnote: run.footnote,
  });
});
