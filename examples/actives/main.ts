// Active users: by day and month, retention, a hot key, questions on a replica, and the same on a cluster of three nodes.

import { Cluster as ClusterClient } from "ioredis";
import { roar } from "redis-roar-client/ioredis";
import { drawLines } from "../../bench/chart.ts";
import { Cluster } from "../../test/support/cluster.ts";
import { waitUntil } from "../../test/support/waiting.ts";
import { asked, type Connected, example, memoryOf, memoryOfEach, nativeBitmap, type Run, served, sum } from "../support/example.ts";
import { activeOn, DAYS, isActive, isCampaign, type Site, site } from "./data.ts";
import { Actives, Visits } from "./service.ts";

const SHARDS = 12, CONTAINER = 65_536, LAST = DAYS - 1, WEEK = LAST - 6, PARTS = ["web-1", "web-2", "web-3"];
const grouped = <T>(items: readonly T[], size = 5000): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));

/** What the server, its replica and the cluster have to answer. */
interface Answers {
  daily: number[];
  monthly: number;
  threeOfSeven: number;
}

function expected({ active }: Site): Answers {
  const daily = new Array<number>(DAYS).fill(0);
  let monthly = 0, threeOfSeven = 0;
  for (const days of active) {
    let recent = 0;
    for (let n = 0; n < DAYS; n++) {
      const came = (days >>> n) & 1;
      daily[n]! += came;
      if (n >= WEEK) recent += came;
    }
    if (days !== 0) monthly++;
    if (recent >= 3) threeOfSeven++;
  }
  return { daily, monthly, threeOfSeven };
}

await example("actives", async (run) => {
  const server = await run.server({ listens: true }), client = run.connect(server), { redis } = client;
  const service = new Actives(client);
  const ids = run.scaled(20_000_000, 20_000), data = site(run.random, ids), right = expected(data);
  const days = Array.from({ length: DAYS }, (_, day) => activeOn(data, day));

  // --- Writes. Today's bitmap is a hot key: the processes of the site collect, and write to bitmaps of their own.

  const writers = PARTS.map((part) => new Visits(client, part)), lastDay = days[LAST]!;
  for (const [n, user] of lastDay.entries()) {
    writers[n % 3]!.visit(user, LAST);
    if (n % 7 === 0) writers[n % 3]!.visit(user, LAST);
    if (n % 20_000 === 0) await Promise.all(writers.map((writer) => writer.send()));
  }
  await Promise.all(writers.map((writer) => writer.send()));
  run.check("the last day, collected", await service.collect(LAST, PARTS), right.daily[LAST]);
  run.check("the last day, closed", await service.collect(LAST, PARTS, true), right.daily[LAST]);
  for (const [day, users] of days.slice(0, LAST).entries()) {
    await Promise.all(grouped(users).map((some) => client.r.setBits(Actives.keys.day(day), some)));
    await client.r.optimize(Actives.keys.day(day));
  }
  const hot = await hotKey(lastDay.slice(0, 10_000), client);

  // --- Questions.

  const ask = async (of: Actives): Promise<Answers> => ({
    daily: await Promise.all(days.map((_, day) => of.daily(day))),
    monthly: await of.between(0, LAST),
    threeOfSeven: await of.often(3, WEEK, LAST),
  });
  run.check("active users", await ask(service), right);
  for (let day = 0; day < LAST; day++) {
    const both = days[day]!.filter((id) => isActive(data, id, day + 1)).length;
    run.check(`next-day retention of day ${day}`, await service.retention(day), both / days[day]!.length);
  }
  run.check("the month", await service.keep("month", 0, LAST, 172_800), right.monthly);
  run.check("the month has a TTL", Number(await redis.ttl(Actives.keys.kept("month"))) > 172_000, true);
  const curves = await retention(run, service, data);

  // --- The same on a replica: native BITOP stores its result, which a replica refuses.

  const replica = await run.server({ listens: true });
  await replica.run("REPLICAOF", "127.0.0.1", String(server.port));
  await waitUntil(async () => (await replica.info("master_link_status")) === "up" && Number(await redis.wait(1, 1000)) === 1);
  const reading = run.connect(replica);
  run.check("active users on the replica", await ask(new Actives(reading)), right);
  const refused = await reading.redis.bitop("AND", "result", "a", "b").then(() => "accepted", (error: Error) => error.message.split(" ")[0]);
  run.check("native BITOP on the replica", refused, "READONLY");

  // --- Native bitmaps and sets.

  for (const [day, users] of days.entries()) await redis.set(`native:${day}`, nativeBitmap(users));
  const loaded = [LAST - 1, LAST];
  for (const day of loaded) for (const some of grouped(days[day]!)) await redis.sadd(`set:${day}`, ...some);
  const natives = days.map((_, day) => `native:${day}`);
  const rows: (string | number)[][] = [];
  const compare = async (what: string, ways: readonly (null | (() => Promise<number>))[], correct: number): Promise<void> => {
    const cells: (string | number)[] = [what];
    for (const way of ways) {
      if (!way) { cells.push("-"); continue; }
      const [answer, time] = await served(redis, way);
      run.check(what, answer, correct);
      cells.push(time);
    }
    rows.push(cells);
  };
  const counted = async (operation: "AND" | "OR", keys: readonly string[]): Promise<number> => {
    const replies = await redis.pipeline().bitop(operation, "result", ...keys).bitcount("result").exec();
    return Number(replies![1]![1]);
  };
  const stayed = days[LAST - 1]!.filter((id) => isActive(data, id, LAST)).length, { r } = client;
  await compare("Active on a day", [() => service.daily(LAST), () => redis.bitcount(natives[LAST]!).then(Number), () => redis.scard(`set:${LAST}`).then(Number)], right.daily[LAST]!);
  await compare("Active on two days, for retention", [
    () => r.bitOpCard("AND", Actives.keys.days(LAST - 1, LAST)), () => counted("AND", natives.slice(-2)),
    async () => Number(await redis.call("SINTERCARD", 2, `set:${LAST - 1}`, `set:${LAST}`)),
  ], stayed);
  await compare("Active in the month", [() => service.between(0, LAST), () => counted("OR", natives), null], right.monthly);
  await compare("On at least 3 of 7 days", [() => service.often(3, WEEK, LAST), null, null], right.threeOfSeven);
  const visits = sum(right.daily), bytes = sum(await memoryOfEach(redis, Actives.keys.days(0, LAST)));
  const native = sum(await memoryOfEach(redis, natives));
  const setBytes = (await memoryOf(redis, `set:${LAST}`)) / right.daily[LAST]! * visits;
  const spread = await onCluster(run, client, ids, right);

  run.table("Microseconds in the server", ["", "Bitmaps", "Native bitmaps", "Sets"], rows);
  run.table(`Bytes of ${DAYS} days`, ["", "Bitmaps", "Native bitmaps", "Sets, by proportion to one day"], [
    ["All days", bytes, native, setBytes], ["Bits for each active user and day", ...[bytes, native, setBytes].map((size) => size * 8 / visits)],
  ]);
  run.table("A hot key: visits of one day", ["", "Commands", "Microseconds in the server"], hot);
  run.table("Milliseconds, as the client sees them", ["", "One server", `Three nodes, ${SHARDS} shards`], spread);
  run.table("Data", ["", "Figure"], [
    ["Ids", ids], ["Active on the last day", right.daily[LAST]!], ["Active in the month", right.monthly], ["Active on at least 3 of the last 7 days", right.threeOfSeven],
    ["Next-day retention, percent, of a weekday and of a campaign's day", `${curves.nextDay.map((share) => (share * 100).toFixed(1)).join(" and ")}`],
  ]);
  run.svg = drawLines({
    title: "Retention: who comes again n days after signing up", subtitle: "Percent of those who signed up on a day and are active n days later. Both scales are logarithmic.",
    panels: [{ title: `${(data.cohorts[0]![1] - data.cohorts[0]![0] + 1).toLocaleString("en")} users signed up on each day`, lines: curves.lines }],
    xTitle: "days after signing up", formatX: (value) => `${value}`, formatY: (value) => `${value} %`, footnote: run.footnote,
  });
});

/** The same visits one by one into one key, and collected. */
async function hotKey(users: readonly number[], { r, redis, pipeline }: Connected): Promise<(string | number)[][]> {
  const alone = await served(redis, async () => {
      await pipeline(users.slice(0, 1000).map((user) => r.calls.setBit("hot", user, 1)));
    }), together = await served(redis, () => r.setBits("hot:parts", users.slice(0, 1000)));
  await redis.del("hot", "hot:parts");
  return [["Each in a command of its own", users.length, alone[1] * users.length / 1000], ["A thousand at a time", users.length / 1000, together[1] * users.length / 1000]];
}

interface Curves {
  lines: { label: string; points: [number, number][] }[];
  /** The shares of a weekday and of a campaign's day. */
  nextDay: number[];
}

/** How many of those who signed up on a day came again n days later. */
async function retention(run: Run, service: Actives, data: Site): Promise<Curves> {
  const chosen = [0, 4, 7, 14].filter((day) => day < DAYS - 2), size = data.cohorts[0]![1] - data.cohorts[0]![0] + 1;
  const lines = await Promise.all(chosen.map(async (joined) => {
    const [first, last] = data.cohorts[joined]!;
    const points = await Promise.all(Array.from({ length: LAST - joined }, async (_, n): Promise<[number, number]> => {
      const came = await service.ofCohort([first, last], joined + 1 + n);
      let model = 0;
      for (let id = first; id <= last; id++) if (isActive(data, id, joined + 1 + n)) model++;
      run.check(`of day ${joined}, active ${n + 1} days later`, came, model);
      return [n + 1, 100 * came / size];
    }));
    return { label: `day ${joined}${isCampaign(joined) ? ", a campaign" : ""}`, points: points.filter(([, percent]) => percent > 0) };
  }));
  return { lines, nextDay: [lines[0]!, lines.find(({ label }) => label.endsWith("campaign"))!].map(({ points }) => points[0]![1] / 100) };
}

/** The same bitmaps, sharded over a cluster. Every shard of a question is answered on the node that has it. */
async function onCluster(run: Run, single: Connected, ids: number, right: Answers): Promise<(string | number)[][]> {
  const cluster = await Cluster.start(3);
  run.atEnd(() => cluster.stop());
  const nodes = cluster.primaries.map(({ server }) => ({ host: "127.0.0.1", port: server.port }));
  const redis = new ClusterClient(nodes, { redisOptions: { stringNumbers: true } });
  run.atEnd(() => redis.disconnect());
  const { r } = roar(redis), width = Math.ceil(ids / SHARDS / CONTAINER) * CONTAINER;
  const sharded = (name: string) => r.sharded(name, { width, shards: SHARDS });
  const all = Actives.keys.days(0, LAST), days = all.map((_, day) => sharded(`active:${day}`)), [first, ...others] = days.slice(-7);
  await Promise.all(days.map(async (bitmap, n) => {
    const payload = await single.r.export(all[n]!);
    run.check(`day ${n} after the import`, await bitmap.import(payload!), right.daily[n]);
  }));
  const expression = "atleast(3, #1..#7)", service = new Actives(single);
  const [daily, dailyTime] = await asked(() => Promise.all(days.map((bitmap) => bitmap.count())));
  const [threeOfSeven, threeTime] = await asked(() => first!.queryCard(expression, others));
  const [, dailyAlone] = await asked(() => Promise.all(all.map((_, day) => service.daily(day))));
  const [, threeAlone] = await asked(() => service.often(3, WEEK, LAST));
  const monthly = await sharded("month").bitOp("OR", days);
  run.check("active users on the cluster", { daily, monthly, threeOfSeven }, right);
  const keys = await Promise.all(cluster.primaries.map(({ server }) => server.run("DBSIZE")));
  run.check("every node has keys", keys.every((count) => Number(count) > 0), true);
  return [[`Active on each of ${DAYS} days`, dailyAlone, dailyTime], ["On at least 3 of 7 days", threeAlone, threeTime]];
}
