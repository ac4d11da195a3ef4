// Presence and sign-ins: who is online, streaks, sign-ins kept by user and by day, and what that takes for 300 million users.

import { drawLines } from "../../bench/chart.ts";
import { type Connected, example, inBatches, inBytes, memoryOfEach, nativeBitmap, type Run, served, sum } from "../support/example.ts";
import { DAYS_OF_YEAR, heartbeats, someDays, year } from "./data.ts";
import { LastSeen, Presence, SignIns } from "./service.ts";

const FRIENDS = "{online}:friends", MINUTES = 8, RECENT = 5, TODAY = DAYS_OF_YEAR - 1, MANY = 300_000_000;
const grouped = <T>(items: readonly T[], size = 5000): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));

await example("presence-signin", async (run) => {
  const server = await run.server(), client = run.connect(server);
  await online(run, client);
  await signIns(run, client);
  await byteUnits(run, client);
  await bySignIns(run, client);
});

/** A heartbeat sets a bit in the bitmap of its minute. Who is online is the union of the last ones. */
async function online(run: Run, client: Connected): Promise<void> {
  const { redis } = client, service = new Presence(redis, client), users = run.scaled(10_000_000, 5000);
  const beats = heartbeats(run.random, users, MINUTES);
  for (const [minute, some] of beats.entries()) for (const part of grouped([...some])) await service.heartbeat(minute, part);
  const unions = new Map<number, Set<number>>();
  for (let now = RECENT - 1; now < MINUTES; now++) {
    const there = new Set(beats.slice(now - RECENT + 1, now + 1).flatMap((set) => [...set]));
    unions.set(now, there);
    run.check(`online in minute ${now}`, await service.online(now), there.size);
    run.check("the first of them", await service.whoIsOnline(now), [...there].sort((a, b) => a - b).slice(0, 100));
  }
  const now = MINUTES - 1, there = unions.get(now)!;
  for (let i = 0; i < 20; i++) {
    const user = i % 2 === 0 ? run.random.below(users) : run.random.pick([...beats[i % MINUTES]!]);
    run.check(`user ${user} is online`, await service.isOnline(user, now), there.has(user));
  }
  const friends = new Set(Array.from({ length: 200 }, () => run.random.below(users)));
  await client.r.setBits(FRIENDS, friends);
  run.check("friends online", await service.friendsOnline(FRIENDS, now), [...friends].filter((user) => there.has(user)).sort((a, b) => a - b));

  // --- The same in one key: the time of the last heartbeat. Later heartbeats arrive first.

  const one = new LastSeen(client), last = new Map<number, number>(), since = now - RECENT + 1;
  for (const [minute, some] of beats.entries()) for (const user of some) last.set(user, minute);
  for (const [minute, some] of [...beats.entries()].reverse()) for (const part of grouped([...some])) await one.heartbeat(minute, part);
  run.check("online by last seen", await one.online(since), there.size);
  run.check("the first of them by last seen", await one.whoIsOnline(since), [...there].sort((a, b) => a - b).slice(0, 100));
  run.check("friends online by last seen", await one.friendsOnline(FRIENDS, since), await service.friendsOnline(FRIENDS, now));
  run.check("who came last", await one.latest(10), [...beats[now]!].sort((a, b) => b - a).slice(0, 10));
  for (const user of [...friends].slice(0, 20)) run.check(`user ${user} was last seen`, await one.lastSeen(user), last.get(user) ?? null);
  run.check("forgotten", await one.forget(since), last.size - there.size);
  run.check("those left", await one.online(0), there.size);

  const ttls = await Promise.all(beats.map((_, minute) => redis.ttl(Presence.keyOf(minute))));
  run.check("every minute expires", ttls.every((seconds) => Number(seconds) > 0), true);

  // --- The last minutes as native bitmaps and as sets.

  const natives = beats.map((_, minute) => `native:${minute}`), sets = beats.map((_, minute) => `set:${minute}`);
  for (const [minute, some] of beats.entries()) {
    await redis.set(natives[minute]!, nativeBitmap(some));
    for (const part of grouped([...some])) await redis.sadd(sets[minute]!, ...part);
  }
  const [counted, byBitmaps] = await served(redis, () => service.online(now));
  const [nativeCount, byNative] = await served(redis, async () => {
    const replies = await redis.pipeline().bitop("OR", "result", ...natives.slice(-RECENT)).bitcount("result").exec();
    return Number(replies![1]![1]);
  });
  const [setCount, bySets] = await served(redis, async () => Number(await redis.sunionstore("result", ...sets.slice(-RECENT))));
  run.check("who is online, in three ways", [counted, nativeCount, setCount], [there.size, there.size, there.size]);
  const minute = MINUTES - 1, here = beats[minute]!.size;
  const bytes = await memoryOfEach(redis, [Presence.keyOf(minute), natives[minute]!, sets[minute]!]);
  run.table(`A minute with ${here.toLocaleString("en")} of ${users.toLocaleString("en")} users online`,
    ["", "Bitmap", "Native bitmap", "Set"], [
      ["Bytes", ...bytes], [`Bytes for ${MANY.toLocaleString("en")} users, by proportion`, ...bytes.map((size) => (size / users) * MANY)],
      [`Who is online in ${RECENT} minutes, microseconds in the server`, byBitmaps, byNative, bySets],
    ]);
  await redis.flushall();
}

/** Sign-ins, kept by user and by day, beside native bitmaps and sets. */
async function signIns(run: Run, client: Connected): Promise<void> {
  const { redis, r } = client, service = new SignIns(client), users = run.scaled(50_000, 300);
  const years = Array.from({ length: users }, () => year(run.random));
  const kept = years.map((days) => [...days]);
  run.check("the first time today", [await service.signIn(users, TODAY), await service.signIn(users, TODAY)], [true, false]);
  run.check("both bitmaps", [await service.days(users, TODAY, TODAY), await service.signedInOn(TODAY)], [1, 1]);
  await redis.flushall();

  const onDay = Array.from({ length: DAYS_OF_YEAR }, (): number[] => []);
  for (const [user, days] of kept.entries()) for (const day of days) onDay[day]!.push(user);
  const loaded = [...kept.entries()].filter(([, days]) => days.length > 0);
  function* calls() {
    for (const [user, days] of loaded) yield r.calls.setBits(SignIns.keys.user(user), days);
    for (const [day, some] of onDay.entries()) if (some.length > 0) yield r.calls.setBits(SignIns.keys.day(day), some);
  }
  await inBatches(client, calls(), 500);
  for (const part of grouped(loaded, 1000)) {
    const sent = redis.pipeline();
    for (const [user, days] of part) sent.set(`native:user:${user}`, nativeBitmap(days)).sadd(`set:user:${user}`, ...days);
    await sent.exec();
  }
  for (const [day, some] of onDay.entries()) {
    if (some.length === 0) continue;
    await redis.set(`native:day:${day}`, nativeBitmap(some));
    for (const part of grouped(some)) await redis.sadd(`set:day:${day}`, ...part);
  }
  let longest = 0;
  const asked = Array.from({ length: Math.min(users, 500) }, (_, n) => (n < 100 ? n : run.random.below(users)));
  await Promise.all(asked.map(async (user) => {
    const days = years[user]!;
    let streak = 0;
    while (days.has(TODAY - streak)) streak++;
    longest = Math.max(longest, streak);
    run.check(`streak of user ${user}`, await service.streak(user, TODAY), streak);
    run.check(`user ${user} in March`, await service.days(user, 59, 89), [...days].filter((day) => day >= 59 && day <= 89).length);
  }));
  await Promise.all(onDay.map(async (some, day) => run.check(`sign-ins on day ${day}`, await service.signedInOn(day), some.length)));
  const week = [TODAY, TODAY - 1, TODAY - 2];
  run.check("on each of three days", await service.onAllOf(week), years.filter((days) => week.every((day) => days.has(day))).length);

  const total = sum(kept.map(({ length }) => length)), rows: (string | number)[][] = [];
  for (const [name, keys] of [
    ["A key for each user", loaded.map(([user]) => [SignIns.keys.user(user), `native:user:${user}`, `set:user:${user}`])],
    ["A key for each day", onDay.map((_, day) => [SignIns.keys.day(day), `native:day:${day}`, `set:day:${day}`])],
  ] as const) {
    const bytes = await Promise.all([0, 1, 2].map(async (n) => sum(await memoryOfEach(redis, keys.map((names) => names[n]!)))));
    rows.push([name, ...bytes], [`The same for ${MANY.toLocaleString("en")} users, by proportion`, ...bytes.map((size) => (size / users) * MANY)]);
  }
  run.table(`Bytes of a year: ${users.toLocaleString("en")} users, ${total.toLocaleString("en")} sign-ins`, ["", "Bitmaps", "Native bitmaps", "Sets"], rows);
  run.table("Sign-ins of a year", ["", "Figure"], [
    ["Users", users], ["Sign-ins of a user, mean", total / users], ["Longest streak of those asked, days", longest],
    [`${MANY.toLocaleString("en")} bitmaps of ${DAYS_OF_YEAR} bits, bytes without keys`, MANY * DAYS_OF_YEAR / 8],
  ]);
  await redis.flushall();
}

/** A range of BITCOUNT counts bytes, of eight days each, unless it says BIT. */
async function byteUnits(run: Run, { r }: Connected): Promise<void> {
  const days = [0, 6, 7, 8, 30, 31, 100, 247, 248, 300];
  await r.setBits("trap", days);
  const wrong = await r.bitCount("trap", { start: 0, end: 30 }), right = await r.bitCount("trap", { start: 0, end: 30, unit: "BIT" });
  run.check("bytes 0 to 30", wrong, days.filter((day) => day < 31 * 8).length);
  run.check("days 0 to 30", right, days.filter((day) => day <= 30).length);
  run.table("Sign-ins in January, days 0 to 30", ["Range of BITCOUNT", "Counts", "Answer"], [
    ["`{ start: 0, end: 30 }`", "days 0 to 247, because the unit is a byte", wrong],
    ["`{ start: 0, end: 30, unit: \"BIT\" }`", "days 0 to 30", right],
  ]);
}

/** Bytes of one user's key by days signed in: of one year, and of days numbered from 2000 on. */
async function bySignIns(run: Run, { r, redis }: Connected): Promise<void> {
  const since2000 = 9497, names = ["R.", "native bitmap", "set"], rows: number[][] = [];
  for (const count of [1, 2, 5, 10, 20, 50, 100, 200, 365]) {
    const days = [...someDays(run.random, count)], bytes: number[] = [];
    for (const first of [0, since2000]) {
      await redis.del("r", "n", "s");
      for (const day of days) await redis.pipeline().call("R.SETBIT", "r", first + day, 1).setbit("n", first + day, 1).sadd("s", first + day).exec();
      run.check(`${count} days`, [await r.bitCount("r"), Number(await redis.bitcount("n")), Number(await redis.scard("s"))], [count, count, count]);
      bytes.push(...await memoryOfEach(redis, ["r", "n", "s"]));
    }
    rows.push([count, ...bytes]);
  }
  run.table("Bytes of a user's key", ["Days signed in", ...names.map((name) => `${name}, days of a year`), ...names.map((name) => `${name}, days since 2000`)],
    rows.map(([count, ...bytes]) => [String(count), ...bytes]));
  run.svg = drawLines({
    title: "Bytes of a user's sign-ins by the days signed in", subtitle: "MEMORY USAGE of one key with a short name. Both scales are logarithmic.",
    panels: ["days numbered from January 1", "days numbered from the year 2000"].map((title, panel) => ({
      title, lines: names.map((label, n) => ({ label, points: rows.map((row): [number, number] => [row[0]!, row[1 + panel * 3 + n]!]) })),
    })),
    xTitle: "days signed in", formatX: (value) => value.toLocaleString("en"), formatY: inBytes, footnote: run.footnote,
  });
}
