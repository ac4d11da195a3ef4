// Likes: who likes a post, with snowflake ids in 64-bit bitmaps.

import type { Server } from "../../test/support/server.ts";
import { type Connected, example, inBatches, memoryOf, type Run, timed } from "../support/example.ts";
import { actions, snowflakes } from "./data.ts";
import { Likes, reconcile } from "./reconcile.ts";
import { ways } from "./toggling.ts";

const CLIENTS = 50;
const likes = (post: number): string => `likes:${post}`;
const ascending = (set: Iterable<bigint>): bigint[] => [...set].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

await example("likes", async (run) => {
  const server = await run.server(), client = run.connect(server), { r64 } = client;
  const users = snowflakes(run.random, run.scaled(1_000_000, 1000)), posts = run.scaled(10_000, 20);

  // --- Like and unlike. The answer of SETBIT is the bit before: whether the user's click changed anything.

  const model = new Map<number, Set<bigint>>(), before: (0 | 1)[] = [];
  const clicks = actions(run.random, users, posts, run.scaled(10_000_000, 5000));
  for (const { post, user, like } of clicks) {
    const set = model.get(post) ?? new Set();
    model.set(post, set);
    before.push(set.has(user) ? 1 : 0);
    if (like) set.add(user);
    else set.delete(user);
  }
  /** Made when they are sent: all of them at once would take gigabytes. */
  function* calls() {
    for (const { post, user, like } of clicks) yield r64.calls.setBit(likes(post), user, like);
  }
  const [answers, loading] = await timed(() => inBatches(client, calls()));
  run.check("the bits before each click", answers, before);
  for (const [post, set] of model) {
    run.check(`likes of post ${post}`, await r64.bitCount(likes(post)), BigInt(set.size));
    run.check(`users who like post ${post}`, await r64.getIntArray(likes(post)), ascending(set));
  }

  // --- Which of these posts does a user like? One call.

  const shown = Array.from({ length: posts }, (_, post) => post), reader = run.random.pick(users);
  const hearts = await r64.mGetBit(reader, shown.map(likes));
  run.check("hearts of a page of posts", hearts, shown.map((post) => (model.get(post)?.has(reader) ? 1 : 0)));

  await memory(run, client, model);
  await toggles(run, server, users);
  await repair(run, client, model);
  run.table("Like and unlike", ["", "Figure"], [
    ["Users", users.length], ["Posts", model.size], ["Clicks", clicks.length],
    ["Clicks a second, in pipelines of 1000", clicks.length / (loading / 1000)],
  ]);
});

/** Bytes for each like, in a bitmap and in a native SET of the same ids. */
async function memory(run: Run, { redis, r64 }: Connected, model: Map<number, Set<bigint>>): Promise<void> {
  const bySize = [...model].sort(([, a], [, b]) => b.size - a.size), rows: (string | number)[][] = [];
  for (const at of [0, 0.25, 0.5, 0.99]) {
    const [post, set] = bySize[Math.floor(at * (bySize.length - 1))]!;
    for (const user of set) await redis.sadd("set", String(user));
    const bitmap = await memoryOf(redis, likes(post)), plain = await memoryOf(redis, "set");
    run.check("the largest member", await r64.max(likes(post)), ascending(set).at(-1) ?? null);
    rows.push([set.size.toLocaleString("en"), bitmap, plain, bitmap / set.size, plain / set.size]);
    await redis.del("set");
  }
  run.table("Memory of a post's likes", ["Likes", "`R64.`, bytes", "SET, bytes", "`R64.`, bytes per like", "SET, bytes per like"], rows);
}

/** Many clients toggle the likes of a few users at the same time. Each user's state must be that of an even or odd number of toggles. */
async function toggles(run: Run, server: Server, users: readonly bigint[]): Promise<void> {
  const clients = Array.from({ length: CLIENTS }, () => run.connect(server)), own = clients[0]!;
  const few = users.slice(0, 20), each = run.scaled(20_000, 40), rows: (string | number)[][] = [];
  const plans = clients.map(() => Array.from({ length: each }, () => run.random.pick(few)));
  const odd = few.filter((user) => plans.flat().filter((toggled) => toggled === user).length % 2 === 1);
  const speeds: number[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const key = `toggled:${name}`;
    const [retries, time] = await timed(() => Promise.all(clients.map(async (client, i) => {
      let again = 0;
      for (const user of plans[i]!) again += await way(client, key, user);
      return again;
    })));
    const liked = await own.r64.getIntArray(key), wrong = few.filter((user) => liked.includes(user) !== odd.includes(user)).length;
    if (way !== ways["read, then write (wrong)"]) run.check(`users who like the post after ${name}`, liked, ascending(odd));
    speeds.push(CLIENTS * each / (time / 1000));
    rows.push([name, speeds.at(-1)!, retries.reduce((sum, n) => sum + n, 0), wrong]);
  }
  run.table(`${CLIENTS} clients toggle the likes of ${few.length} users, ${CLIENTS * each} times in all`,
    ["Way", "Toggles a second", "Retries", "Users in a wrong state"], rows);
  run.chart({
    title: { text: `Toggles a second, ${CLIENTS} clients on the same ${few.length} users`, left: "center" },
    grid: { left: 90, right: 30, bottom: 40 },
    xAxis: { type: "category", data: Object.keys(ways).map((name) => name.replaceAll("`", "")) },
    yAxis: { type: "value" },
    series: [{ type: "bar", data: speeds.map(Math.round), label: { show: true, position: "top" } }],
  });
}

/** Some writes never reached Redis. The database finds them. */
async function repair(run: Run, client: Connected, model: Map<number, Set<bigint>>): Promise<void> {
  const { r64 } = client, database = await Likes.open();
  run.atEnd(() => database.close());
  let compared = 0, missed = 0, unexpected = 0;
  const [, time] = await timed(async () => {
    for (const [post, set] of [...model].slice(0, 20)) {
      const truth = ascending(set), lost = truth.filter(() => run.random.chance(0.01)), stray = ascending(snowflakes(run.random, 3));
      database.insert(post, set);
      if (lost.length > 0) await r64.clearBits(likes(post), lost);
      await r64.setBits(likes(post), stray);
      const { missing, extra } = await reconcile(client, likes(post), database.of(post));
      run.check(`lost likes of post ${post}`, missing, lost);
      run.check(`stray likes of post ${post}`, extra, stray.filter((user) => !set.has(user)));
      run.check(`post ${post} after the repair`, await r64.getIntArray(likes(post)), truth);
      compared += set.size;
      missed += missing.length;
      unexpected += extra.length;
    }
  });
  run.table("Reconciliation with SQLite", ["", "Figure"], [
    ["Likes compared", compared], ["Lost likes found", missed], ["Stray likes found", unexpected], ["Seconds", time / 1000],
  ]);
}
