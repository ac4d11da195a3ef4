// Active users: by day and month, retention, and the same on a cluster of three nodes.

import { Cluster as ClusterClient } from "ioredis";
import { roar } from "redis-roar-client/ioredis";
import { Cluster } from "../../test/support/cluster.ts";
import { asked, type Connected, example, inBatches, memoryOf, type Run } from "../support/example.ts";
import { activeOn, DAYS, isActive, type Site, site } from "./data.ts";

const COHORTS = 14, SHARDS = 12, CONTAINER = 65_536, IDS_IN_A_CALL = 5000;
const day = (n: number): string => `active:${n}`;
const all = Array.from({ length: DAYS }, (_, n) => day(n)), week = all.slice(-7);
const AT_LEAST = "atleast(3, #1..#7)";

/** What both the server and the cluster have to answer. */
interface Answers {
  daily: number[];
  monthly: number;
  threeOfSeven: number;
  firstOfThem: number[];
}

function expected({ active }: Site): Answers {
  const daily = new Array<number>(DAYS).fill(0), firstOfThem: number[] = [];
  let monthly = 0, threeOfSeven = 0;
  for (const [id, days] of active.entries()) {
    if (days === 0) continue;
    let recent = 0;
    for (let n = 0; n < DAYS; n++) {
      const came = (days >>> n) & 1;
      daily[n]! += came;
      if (n >= DAYS - 7) recent += came;
    }
    monthly++;
    if (recent >= 3 && ++threeOfSeven <= 100) firstOfThem.push(id);
  }
  return { daily, monthly, threeOfSeven, firstOfThem };
}

await example("actives", async (run) => {
  const server = await run.server(), client = run.connect(server), { r, redis } = client;
  const ids = run.scaled(100_000_000, 20_000), data = site(run.random, ids), right = expected(data);
  function* calls() {
    for (const [n, key] of all.entries()) for (const active of activeOn(data, n, IDS_IN_A_CALL)) yield r.calls.setBits(key, active);
  }
  await inBatches(client, calls(), 20);
  for (const key of all) await r.optimize(key);

  const [daily, dailyTime] = await asked(() => Promise.all(all.map((key) => r.bitCount(key))));
  const [monthly, monthlyTime] = await asked(() => r.bitOpCard("OR", all));
  const [threeOfSeven, threeTime] = await asked(() => r.atLeast(3, week));
  const firstOfThem = await r.queryMembers(AT_LEAST, week, { limit: 100 });
  run.check("active users on one server", { daily, monthly, threeOfSeven, firstOfThem }, right);

  await rolling(run, client, right.monthly);
  await retention(run, client, data);

  let memory = 0;
  for (const key of all) memory += await memoryOf(redis, key);
  const spread = await onCluster(run, client, ids, right);
  const visits = right.daily.reduce((sum, n) => sum + n, 0);
  run.table("One bitmap for each day", ["", "Figure"], [
    ["Ids", ids], ["Days", DAYS], ["Active on the last day", right.daily.at(-1)!], ["Active in the month", right.monthly],
    ["Active on at least 3 of the last 7 days", right.threeOfSeven], ["Bytes of the month", memory],
    ["Bits for each active user and day", memory * 8 / visits], ["Bytes of native bitmaps of the same length", DAYS * Math.ceil(ids / 8)],
  ]);
  run.table("Milliseconds, as the client sees them", ["", "One server", `Three nodes, ${SHARDS} shards`], [
    ["Active on each of 30 days", dailyTime, spread.dailyTime], ["Active in the month", monthlyTime, spread.monthlyTime],
    ["At least 3 of 7 days", threeTime, spread.threeTime],
  ]);
});

/** The union of the last days, renewed every day. BITOP removes the TTL of its destination, and the transaction sets it again. */
async function rolling(run: Run, { r, redis }: Connected, monthly: number): Promise<void> {
  const replies = await redis.multi().call("R.BITOP", "OR", "month", ...all).expire("month", 172_800).exec();
  run.check("the transaction", replies?.map(([error, reply]) => error ?? Number(reply)), [monthly, 1]);
  run.check("the month", await r.bitCount("month"), monthly);
  run.check("the month has a TTL", Number(await redis.ttl("month")) > 172_000, true);
}

/** How many of those who signed up on a day came again n days later. A range of ids is a cohort, so nothing else is stored. */
async function retention(run: Run, { r }: Connected, data: Site): Promise<void> {
  const cells: [later: number, joined: number, percent: number][] = [], size = data.cohorts[0]![1] - data.cohorts[0]![0] + 1;
  for (const [joined, [first, last]] of data.cohorts.slice(0, COHORTS).entries()) {
    for (let on = joined; on < COHORTS; on++) {
      const came = await r.queryCard(`#1 & [${first}..${last}]`, [day(on)]);
      let model = 0;
      for (let id = first; id <= last; id++) if (isActive(data, id, on)) model++;
      run.check(`of day ${joined}, active on day ${on}`, came, model);
      cells.push([on - joined, joined, Math.round((100 * came) / size)]);
    }
  }
  const labels = Array.from({ length: COHORTS }, (_, n) => n);
  run.chart({
    title: { text: "Percent of those who signed up on a day who are active n days later", left: "center" },
    grid: { left: 70, right: 30, bottom: 50 },
    xAxis: { type: "category", name: "days later", nameLocation: "middle", nameGap: 28, data: labels },
    yAxis: { type: "category", name: "signed up on day", data: labels, inverse: true, nameLocation: "middle", nameGap: 35 },
    visualMap: { show: false, min: 0, max: 70, inRange: { color: ["#f0f5fa", "#1f5f99"] } },
    series: [{ type: "heatmap", data: cells, label: { show: true, fontSize: 10 } }],
  }, { width: 800, height: 480 });
}

/** The same bitmaps, sharded over a cluster. Every shard of a question is answered on the node that has it. */
async function onCluster(run: Run, single: Connected, ids: number, right: Answers): Promise<Record<"dailyTime" | "monthlyTime" | "threeTime", number>> {
  const cluster = await Cluster.start(3);
  run.atEnd(() => cluster.stop());
  const nodes = cluster.primaries.map(({ server }) => ({ host: "127.0.0.1", port: server.port }));
  const redis = new ClusterClient(nodes, { redisOptions: { stringNumbers: true } });
  run.atEnd(() => redis.disconnect());
  const { r } = roar(redis), width = Math.ceil(ids / SHARDS / CONTAINER) * CONTAINER;
  const sharded = (name: string) => r.sharded(name, { width, shards: SHARDS });
  const days = all.map(sharded), [first, ...others] = days.slice(-7);
  for (const [n, bitmap] of days.entries()) {
    const payload = await single.r.export(day(n));
    run.check(`day ${n} after the import`, await bitmap.import(payload!), right.daily[n]);
  }
  const month = sharded("month");
  const [daily, dailyTime] = await asked(() => Promise.all(days.map((bitmap) => bitmap.count())));
  const [monthly, monthlyTime] = await asked(() => month.bitOp("OR", days));
  const [threeOfSeven, threeTime] = await asked(() => first!.queryCard(AT_LEAST, others));
  const firstOfThem = await first!.queryMembers(AT_LEAST, others, { limit: 100 });
  run.check("active users on the cluster", { daily, monthly, threeOfSeven, firstOfThem }, right);
  run.check("shards with a TTL", await month.expire(172_800) > 0, true);
  const keys = await Promise.all(cluster.primaries.map(({ server }) => server.run("DBSIZE")));
  run.check("every node has keys", keys.every((count) => Number(count) > 0), true);
  return { dailyTime, monthlyTime, threeTime };
}
