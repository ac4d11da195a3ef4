// Likes: written behind to a database, with crashes; in a cluster; many clients at once; and what they take beside native bitmaps and sets.

import { Cluster as ClusterClient } from "ioredis";
import { roar } from "redis-roar-client/ioredis";
import { draw } from "../../bench/chart.ts";
import { Cluster } from "../../test/support/cluster.ts";
import type { Server } from "../../test/support/server.ts";
import { type Connected, example, inBatches, inBytes, memoryOfEach, nativeBitmap, type Run, served, sum, timed } from "../support/example.ts";
import { LikesTable } from "./database.ts";
import { likers, likesAt, snowflakes } from "./data.ts";
import { reconcile } from "./reconcile.ts";
import { Likes, likesKey } from "./service.ts";
import { ways } from "./toggling.ts";

const CLIENTS = 20;
const ascending = (set: Iterable<bigint>): bigint[] => [...set].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** The likes that a service must have, by post. */
class Model {
  readonly of = new Map<number, Set<bigint>>();

  toggle(post: number, user: bigint): { liked: boolean; likes: number } {
    const set = this.of.get(post) ?? this.of.set(post, new Set()).get(post)!, liked = !set.delete(user);
    if (liked) set.add(user);
    return { liked, likes: set.size };
  }
}

interface Outcome {
  crashes: number;
  clicks: number;
  time: number;
  /** Likes that the database lacked in the end, or had too many. */
  wrong: number;
}

/** Toggles, with a job that writes to the database now and then and ends in the middle of it. Nothing may be lost or doubled. */
async function writeBehind(run: Run, service: Likes, users: readonly bigint[], posts: number, clicks: number): Promise<Outcome> {
  const table = await LikesTable.open(), model = new Model();
  run.atEnd(() => table.close());
  let crashes = 0, time = 0;
  const rounds = 10;
  for (let round = 0; round < rounds; round++) {
    const planned = Array.from({ length: Math.ceil(clicks / rounds) }, (): [post: number, user: bigint] =>
      [Math.floor(posts * run.random.unit() ** 2), run.random.pick(users)]);
    const right = planned.map(([post, user]) => model.toggle(post, user));
    const [answers, took] = await timed(() => Promise.all(planned.map(([post, user]) => service.toggle(post, user))));
    time += took;
    run.check("state and count after each toggle", answers, right);
    let left = run.random.below(12);
    try {
      await service.flush(table, () => {
        if (round < rounds - 1 && left-- === 0) throw new Error("the job goes down");
      });
    } catch (error) {
      if ((error as Error).message !== "the job goes down") throw error;
      crashes++;
    }
  }
  await service.flush(table);
  let wrong = 0;
  for (const [post, set] of model.of) {
    const stored = table.of(post);
    wrong += [...set].filter((user) => !stored.includes(user)).length + stored.filter((user) => !set.has(user)).length;
    run.check(`likes of post ${post} in the database`, stored, ascending(set));
  }
  run.check("a job with nothing to do", await service.flush(table), { added: 0, removed: 0 });
  const user = run.random.pick(users), page = [...model.of.keys()].slice(0, 50);
  run.check("hearts of a page", await service.liked(user, page), page.map((post) => model.of.get(post)!.has(user)));
  const counts = [...model.of].map(([post, set]): [number, number] => [post, set.size]);
  run.check("counts of a page", await service.counts([...page, posts + 1]), [...page.map((post) => model.of.get(post)!.size), 0]);
  run.check("the posts with most likes", await service.top(10), counts.sort(([a, m], [b, n]) => n - m || b - a).slice(0, 10));
  run.check("state", await service.state(page[0]!, user), { liked: model.of.get(page[0]!)!.has(user), likes: model.of.get(page[0]!)!.size });
  return { crashes, clicks: rounds * Math.ceil(clicks / rounds), time, wrong };
}

await example("likes", async (run) => {
  const server = await run.server(), client = run.connect(server), users = snowflakes(run.random, run.scaled(1_000_000, 1000));
  const one = await writeBehind(run, new Likes(client.redis, client), users.slice(0, 500), run.scaled(2000, 20), run.scaled(200_000, 500));
  await client.redis.flushall();

  // --- The same in a cluster: all keys of a bucket of posts are in one slot.

  const cluster = await Cluster.start(3);
  run.atEnd(() => cluster.stop());
  const nodes = cluster.primaries.map(({ server: { port } }) => ({ host: "127.0.0.1", port }));
  const redis = new ClusterClient(nodes, { redisOptions: { stringNumbers: true } });
  run.atEnd(() => redis.disconnect());
  const spread = await writeBehind(run, new Likes(redis, roar(redis)), users.slice(0, 200), 50, run.scaled(20_000, 300));
  run.check("every node has keys", (await Promise.all(cluster.primaries.map((node) => node.server.run("DBSIZE")))).every((keys) => Number(keys) > 0), true);

  const bars = await memory(run, client, users);
  await toggles(run, server, users);
  await repair(run, client, users);
  run.table("Written behind to SQLite, with a job that goes down", ["", "One server", "Three nodes"], [
    ["Toggles", one.clicks, spread.clicks], ["Times that the job went down", one.crashes, spread.crashes], ["Likes lost or left over", one.wrong, spread.wrong],
    ["Microseconds a toggle, with state and count, as clients see it", one.time * 1000 / one.clicks, spread.time * 1000 / spread.clicks],
  ]);
  run.svg = draw({
    title: "Bytes of the likes of all posts", subtitle: "MEMORY USAGE of all keys. Few posts have most of the likes.",
    groups: bars, format: inBytes, origin: 0, footnote: run.footnote,
  });
});

/** The likes of posts by Zipf's law, of users with ids 1, 2, 3 ... and with snowflake ids, in all that holds them. */
async function memory(run: Run, client: Connected, users: readonly bigint[]): Promise<{ title: string; bars: { label: string; value: number; color: "more" | "less" }[] }[]> {
  const { redis, r, r64 } = client, posts = run.scaled(10_000, 40), total = [0, 0, 0, 0, 0];
  const named = (kind: string, post: number): string => `${kind}:${post}`, kinds = ["r", "native", "set", "r64", "set64"];
  const all = Array.from({ length: posts }, (_, post) => likers(run.random, users.length, likesAt(post + 1, users.length)));
  function* calls() {
    for (const [post, who] of all.entries()) {
      yield r.calls.setBits(named("r", post), who);
      yield r64.calls.setBits(named("r64", post), who.map((n) => users[n]!));
    }
  }
  await inBatches<unknown>(client, calls(), 200);
  for (let at = 0; at < posts; at += 100) {
    const sent = redis.pipeline();
    for (let post = at; post < Math.min(posts, at + 100); post++) {
      sent.set(named("native", post), nativeBitmap(all[post]!));
      for (let from = 0; from < all[post]!.length; from += 5000) {
        const some = all[post]!.slice(from, from + 5000);
        sent.sadd(named("set", post), ...some).sadd(named("set64", post), ...some.map((n) => String(users[n]!)));
      }
    }
    await sent.exec();
  }
  await Promise.all(all.slice(0, 50).map(async (who, post) => {
    run.check(`likes of post ${post}`, [await r.bitCount(named("r", post)), Number(await redis.bitcount(named("native", post))), Number(await r64.bitCount(named("r64", post)))],
      [who.length, who.length, who.length]);
  }));
  for (const [n, kind] of kinds.entries()) total[n] = sum(await memoryOfEach(redis, all.map((_, post) => named(kind, post))));
  const times: number[] = [], hit = 0, user = users.length - 1;
  const asks = [
    () => r.getBit(named("r", hit), user), () => redis.getbit(named("native", hit), user), () => redis.sismember(named("set", hit), String(user)),
    () => r64.getBit(named("r64", hit), users[user]!), () => redis.sismember(named("set64", hit), String(users[user]!)),
  ];
  for (const ask of asks) times.push((await served<unknown>(redis, ask))[1]);
  const likes = sum(all.map(({ length }) => length)), count = likes.toLocaleString("en");
  run.table(`Likes of ${posts.toLocaleString("en")} posts, ${count} in all`, ["", "Bytes", "Bytes a like", "Microseconds in the server: does a user like it?"],
    ["`R.`, ids 1, 2, 3 ...", "native bitmap, the same ids", "SET, the same ids", "`R64.`, snowflake ids", "SET, snowflake ids"]
      .map((name, n) => [name, total[n]!, total[n]! / likes, times[n]!]));
  await redis.flushall();
  return [
    { title: `${count} likes of users with ids 1, 2, 3 ...`, bars: [{ label: "redis-roar, R.", value: total[0]!, color: "more" }, { label: "native bitmaps", value: total[1]!, color: "less" }, { label: "sets", value: total[2]!, color: "less" }] },
    { title: `${count} likes of users with snowflake ids`, bars: [{ label: "redis-roar, R64.", value: total[3]!, color: "more" }, { label: "sets", value: total[4]!, color: "less" }] },
  ];
}

/** Many clients toggle the likes of a few users at the same time. Each user's state must be that of an even or odd number of toggles. */
async function toggles(run: Run, server: Server, users: readonly bigint[]): Promise<void> {
  const clients = Array.from({ length: CLIENTS }, () => run.connect(server)), own = clients[0]!;
  const few = users.slice(0, 20), each = run.scaled(2000, 10), rows: (string | number)[][] = [];
  const plans = clients.map(() => Array.from({ length: each }, () => run.random.pick(few)));
  const odd = few.filter((user) => plans.flat().filter((toggled) => toggled === user).length % 2 === 1);
  for (const [name, way] of Object.entries(ways)) {
    const key = `toggled:${name}`;
    const [retries, time] = await timed(() => Promise.all(clients.map(async (client, i) => {
      let again = 0;
      for (const user of plans[i]!) again += await way(client, key, user);
      return again;
    })));
    const liked = await own.r64.getIntArray(key), wrong = few.filter((user) => liked.includes(user) !== odd.includes(user)).length;
    if (way !== ways["read, then write (wrong)"]) run.check(`users who like the post after ${name}`, liked, ascending(odd));
    rows.push([name, CLIENTS * each / (time / 1000), sum(retries), wrong]);
  }
  run.table(`${CLIENTS} clients toggle the likes of ${few.length} users, ${(CLIENTS * each).toLocaleString("en")} times in all`,
    ["Way", "Toggles a second", "Retries", "Users in a wrong state"], rows);
}

/** The other way: the database is the truth, and some writes never reached Redis. */
async function repair(run: Run, client: Connected, users: readonly bigint[]): Promise<void> {
  const { r64 } = client, table = await LikesTable.open(), rows: (string | number)[][] = [];
  run.atEnd(() => table.close());
  let compared = 0, missed = 0, unexpected = 0;
  for (let post = 0; post < 10; post++) {
    const truth = ascending(likers(run.random, users.length, likesAt(post + 1, users.length)).map((n) => users[n]!));
    const stray = ascending(snowflakes(run.random, 3).map((id) => id + 1n));
    const lost = truth.filter(() => run.random.chance(0.01)), strange = stray.filter((id) => !truth.includes(id));
    table.apply(post, truth, []);
    await r64.setBits(likesKey(post), [...truth, ...stray]);
    if (lost.length > 0) await r64.clearBits(likesKey(post), lost);
    const { missing, extra } = await reconcile(client, likesKey(post), table.of(post));
    run.check(`lost likes of post ${post}`, missing, lost);
    run.check(`stray likes of post ${post}`, extra, strange);
    run.check(`post ${post} after the repair`, await r64.getIntArray(likesKey(post)), truth);
    compared += truth.length;
    missed += missing.length;
    unexpected += extra.length;
  }
  rows.push([compared, missed, unexpected]);
  run.table("The database as the truth", ["Likes compared", "Lost likes found and repaired", "Stray likes found and removed"], rows);
}
