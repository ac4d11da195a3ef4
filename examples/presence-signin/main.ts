// Presence and sign-ins: flags of a video, who is online, streaks, and what a year of sign-ins takes in memory.

import { type Connected, example, inBatches, memoryOf, type Run } from "../support/example.ts";
import { DAYS_OF_YEAR, heartbeats, signIns } from "./data.ts";

const MINUTES = 10, RECENT = 5, TODAY = DAYS_OF_YEAR - 1;
/** A field has at most 63 bits, so a longer streak takes several. */
const FIELD = 63;

await example("presence-signin", async (run) => {
  const server = await run.server(), client = run.connect(server);
  await flags(run, client);
  await online(run, client);
  await streaks(run, client);
  await byteUnits(run, client);
  await memory(run, client);
});

/** What a user has done with a video: a bit for each flag, one small bitmap for each flag and all videos of the user. */
async function flags(run: Run, { r, pipeline }: Connected): Promise<void> {
  const names = ["watched", "liked", "saved"], videos = run.scaled(100_000, 200);
  const model = names.map(() => new Set<number>());
  for (let i = 0; i < videos; i++) for (const set of model) if (run.random.chance(0.3)) set.add(run.random.below(1_000_000));
  const key = (n: number): string => `user:7:${names[n]}`;
  for (const [n, set] of model.entries()) await r.setBits(key(n), set);
  for (let i = 0; i < 50; i++) {
    const video = i % 2 === 0 ? run.random.below(1_000_000) : run.random.pick([...model[i % 3]!]);
    run.check(`flags of video ${video}`, await r.mGetBit(video, names.map((_, n) => key(n))), model.map((set) => (set.has(video) ? 1 : 0)));
  }
  const toSee = await r.queryCard("#1 - #2", [key(2), key(0)]);
  run.check("saved and not watched", toSee, [...model[2]!].filter((video) => !model[0]!.has(video)).length);
  const [first] = await pipeline([r.calls.setBit(key(0), 3_000_000, 1)]);
  run.check("watched for the first time", first, { status: "fulfilled", value: 0 });
}

/** One bitmap for each minute. A heartbeat sets a bit in it, and it expires by itself. Who is online is the union of the last ones. */
async function online(run: Run, client: Connected): Promise<void> {
  const { r, redis } = client, minute = (n: number): string => `online:${n}`;
  const beats = heartbeats(run.random, run.scaled(10_000_000, 5000), MINUTES);
  for (const [n, users] of beats.entries()) {
    await inBatches(client, [...users].map((user) => r.calls.setBit(minute(n), user, 1)), 5000);
    await redis.expire(minute(n), 600, "NX");
  }
  const rows: (string | number)[][] = [];
  for (let now = RECENT - 1; now < MINUTES; now++) {
    const keys = Array.from({ length: RECENT }, (_, n) => minute(now - n));
    const recent = new Set(beats.slice(now - RECENT + 1, now + 1).flatMap((set) => [...set]));
    run.check(`online in minute ${now}`, await r.bitOpCard("OR", keys), recent.size);
    run.check("the first of them", await r.queryMembers(`any(#1..#${RECENT})`, keys, { limit: 100 }), [...recent].sort((a, b) => a - b).slice(0, 100));
    rows.push([`minute ${now}`, beats[now]!.size, recent.size]);
  }
  const user = [...beats[MINUTES - 1]!][0]!, minutes = beats.map((_, n) => minute(n));
  run.check("minutes of a user", await r.mGetBit(user, minutes), beats.map((set) => (set.has(user) ? 1 : 0)));
  run.check("every minute expires", (await Promise.all(minutes.map((key) => redis.ttl(key)))).every((seconds) => Number(seconds) > 0), true);
  run.table("Who is online", ["At", "Heartbeats of the minute", `Online in ${RECENT} minutes`], rows);
}

/** The streak that ends today, from fields of up to 63 days: how many 1 bits are at their low end. */
async function streakOf({ r }: Connected, key: string, today: number): Promise<number> {
  let streak = 0;
  for (let last = today; last >= 0; last -= FIELD) {
    const width = Math.min(FIELD, last + 1), [days] = await r.bitFieldRo(key, [["GET", `u${width}`, last - width + 1]]);
    for (let n = 0; n < width; n++, streak++) if (((days! >> BigInt(n)) & 1n) === 0n) return streak;
  }
  return streak;
}

/** A bitmap for each user, with the days of a year. */
async function streaks(run: Run, client: Connected): Promise<void> {
  const { r } = client, users = run.scaled(20_000, 100);
  let longest = 0;
  for (let user = 0; user < users; user++) {
    const days = signIns(run.random, 1 + run.random.below(DAYS_OF_YEAR), TODAY), key = `signins:${user}`;
    await r.setBits(key, days);
    let streak = 0;
    while (days.has(TODAY - streak)) streak++;
    run.check(`streak of user ${user}`, await streakOf(client, key, TODAY), streak);
    const march = [...days].filter((day) => day >= 59 && day <= 89).length;
    run.check(`user ${user} in March`, await r.bitCount(key, { start: 59, end: 89, unit: "BIT" }), march);
    run.check(`first day of user ${user}`, await r.min(key), Math.min(...days));
    longest = Math.max(longest, streak);
  }
  run.table("Sign-ins of a year", ["", "Figure"], [["Users", users], ["Longest streak, days", longest]]);
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

/** Bytes of a user's bitmap by days signed in: of one year, and of days numbered from 2000 on. */
async function memory(run: Run, { r, redis }: Connected): Promise<void> {
  const rows: (string | number)[][] = [], since2000 = 9497;
  for (const count of [1, 5, 10, 20, 40, 80, 160, 320]) {
    const days = [...signIns(run.random, count, TODAY)], bytes: number[] = [];
    for (const first of [0, since2000]) {
      await redis.del("bitmap", "native");
      await r.setBits("bitmap", days.map((day) => first + day));
      for (const day of days) await redis.setbit("native", first + day, 1);
      run.check(`${count} days, native and not`, await r.bitCount("bitmap"), Number(await redis.bitcount("native")));
      run.check(`${count} days`, await r.bitCount("bitmap"), count);
      bytes.push(await memoryOf(redis, "bitmap"), await memoryOf(redis, "native"));
    }
    rows.push([String(count), ...bytes]);
  }
  const head = ["Days signed in", "`R.`", "native", "`R.`, days since 2000", "native, days since 2000"];
  run.table("Bytes for each user, with the key", head, rows);
  run.chart({
    title: { text: "Bytes for each user by days signed in", left: "center" }, legend: { bottom: 0 }, grid: { left: 60, right: 30, bottom: 80 },
    xAxis: { type: "category", name: "days signed in", nameLocation: "middle", nameGap: 28, data: rows.map(([days]) => String(days)) },
    yAxis: { type: "value" },
    series: head.slice(1).map((name, n) => ({ type: "line", name: name.replaceAll("`", ""), data: rows.map((row) => Number(row[n + 1])) })),
  });
}
