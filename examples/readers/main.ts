// Unique readers of an article, counted in four ways.

import { readFileSync } from "node:fs";
import { asked, example, memoryOf, timed } from "../support/example.ts";
import { hashOf, readers, views } from "./data.ts";

const AT_ONCE = 1000;

await example("readers", async (run) => {
  const server = await run.server(), { r, r64, redis } = run.connect(server);
  const people = readers(run.random, run.scaled(5_000_000, 2000)), seen = views(run.random, people, run.scaled(10_000_000, 5000));
  const unique = new Set(seen);
  await redis.function("LOAD", readFileSync(new URL("ids.lua", import.meta.url), "utf8"));
  const integersOf = async (ids: readonly string[]): Promise<number[]> =>
    (await redis.fcall("ids_of", 2, "{reader}:id", "{reader}:last", ...ids) as string[]).map(Number);

  /** The ways, each with how it adds views and how it counts. */
  const ways: [name: string, key: string, add: (ids: string[]) => Promise<unknown>, count: () => Promise<number>][] = [
    ["SET", "set", (ids) => redis.sadd("set", ...ids), () => redis.scard("set").then(Number)],
    ["HyperLogLog", "hll", (ids) => redis.pfadd("hll", ...ids), () => redis.pfcount("hll").then(Number)],
    ["`R.` of integers", "r", async (ids) => r.setBits("r", await integersOf(ids)), () => r.bitCount("r")],
    ["`R64.` of hashes", "r64", (ids) => r64.setBits("r64", ids.map(hashOf)), async () => Number(await r64.bitCount("r64"))],
  ];
  const rows: (string | number)[][] = [], perReader: number[] = [];
  for (const [name, key, add, count] of ways) {
    const [, adding] = await timed(async () => {
      for (let at = 0; at < seen.length; at += AT_ONCE) await add(seen.slice(at, at + AT_ONCE));
    });
    const [counted, counting] = await asked(count), bytes = await memoryOf(redis, key);
    if (key === "hll") run.check("HyperLogLog is less than 5 percent off", Math.abs(counted / unique.size - 1) < 0.05, true);
    else run.check(`unique readers by ${name}`, counted, unique.size);
    perReader.push(bytes / unique.size);
    rows.push([name, counted, `${((counted / unique.size - 1) * 100).toFixed(2)} %`, bytes, bytes / unique.size, adding, counting]);
  }
  run.table("Unique readers of one article",
    ["Way", "Counted", "Error", "Bytes", "Bytes per reader", "Milliseconds to add all views", "Milliseconds to count"], rows);

  // --- The integers are dense and stay the same, and only exact ways can say who has read the article.

  const numbers = new Map<string, number>();
  for (const id of seen) if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
  const sample = Array.from({ length: 50 }, () => run.random.pick(seen));
  run.check("integers of readers", await integersOf(sample), sample.map((id) => numbers.get(id)));
  run.check("the largest integer", await r.max("r"), unique.size);
  const some = Array.from({ length: 200 }, () => run.random.pick(people));
  run.check("who has read it, by hash", await r64.getBits("r64", some.map(hashOf)), some.map((id) => (unique.has(id) ? 1 : 0)));
  const known = some.filter((id) => unique.has(id));
  run.check("who has read it, by integer", await r.getBits("r", await integersOf(known)), known.map(() => 1));
  for (const id of sample.slice(0, 10)) run.check(`the hash of ${id}`, await r64.getBit("r64", hashOf(id)), 1);

  run.table("Data", ["", "Figure"], [
    ["Readers", people.length], ["Views", seen.length], ["Unique readers", unique.size],
    ["Bytes of the table of integers, shared by all articles", await memoryOf(redis, "{reader}:id")],
  ]);
  run.chart({
    title: { text: "Bytes for each unique reader of an article", left: "center" }, grid: { left: 130, right: 60, bottom: 40 },
    xAxis: { type: "value" }, yAxis: { type: "category", inverse: true, data: rows.map(([name]) => String(name).replaceAll("`", "")) },
    series: [{ type: "bar", data: perReader.map((bytes) => Math.round(bytes * 100) / 100), label: { show: true, position: "right" } }],
  }, { width: 800, height: 300 });
});
