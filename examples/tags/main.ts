// Tags of users: both directions, segments, and the same tags as native bitmaps and as sets.

import { draw } from "../../bench/chart.ts";
import { example, inBatches, inBytes, memoryOf, memoryOfEach, nativeBitmap, type Run, served, sum } from "../support/example.ts";
import { SMALL_TAGS, SMALL_USERS, tagged } from "./data.ts";
import { NamedTags } from "./named.ts";
import { AGE, Tags } from "./service.ts";

/** Segments: an expression over tags, and what it means for one user. */
const SEGMENTS: readonly [name: string, expression: string, tags: readonly number[], means: (has: readonly boolean[]) => boolean][] = [
  ["0 and 1", "#1 & #2", [0, 1], ([a, b]) => a! && b!],
  ["0 or 1, without 2", "(#1 | #2) - #3", [0, 1, 2], ([a, b, c]) => (a! || b!) && !c],
  ["just one of 0, 1 and 2", "one(#1, #2, #3)", [0, 1, 2], (has) => has.filter(Boolean).length === 1],
  ["3 or more of 0 to 7", "atleast(3, #1..#8)", [0, 1, 2, 3, 4, 5, 6, 7], (has) => has.filter(Boolean).length >= 3],
];

/** A random UUID. */
function uuid({ random }: Run): string {
  const hex = Array.from({ length: 4 }, () => random.below(2 ** 32).toString(16).padStart(8, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}

const ascending = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);
const nativeKey = (tag: number): string => `native:${tag}`, setKey = (tag: number): string => `set:${tag}`, userSet = (user: number): string => `userset:${user}`;

/** The seven users and seven tags of a table, asked as its questions are. */
async function small(run: Run, service: Tags): Promise<void> {
  const tag = (name: (typeof SMALL_TAGS)[number]): number => SMALL_TAGS.indexOf(name), all = SMALL_TAGS.map((_, n) => n);
  for (const [user, has] of SMALL_USERS) {
    await service.add(user);
    await service.set(user, all.filter((n) => has[n] === 1));
  }
  for (const [user, has] of SMALL_USERS) {
    run.check(`tags of user ${user}`, await service.tagsOf(user), all.filter((n) => has[n] === 1));
  }
  for (const n of all) {
    run.check(`users of ${SMALL_TAGS[n]}`, await service.usersOf(n), SMALL_USERS.filter(([, has]) => has[n] === 1).map(([user]) => user));
    run.check(`users without ${SMALL_TAGS[n]}`, await service.usersWithout(n), SMALL_USERS.filter(([, has]) => has[n] === 0).map(([user]) => user));
  }
  run.check("user 5 is no vip", await service.has(5, tag("vip")), false);
  run.check("male and with a Mac", await service.size("#1 & #2", [tag("male"), tag("mac")]), 2);
  const ages = [31, 17, 24, 29, 45, 18, 18];
  const aged = [...SMALL_USERS].filter(([, has]) => has[0] === 1 && has[6] === 0);
  for (const [n, [user]] of SMALL_USERS.entries()) await service.setAge(user, ages[n]!);
  const young = aged.filter(([user]) => ages[user - 1]! >= 18 && ages[user - 1]! < 35).map(([user]) => user);
  const found: number[] = [];
  for await (const page of service.pages("#1 & 18 <= #2 < 35 - #3", [tag("vip"), AGE, tag("lost")])) found.push(...page);
  run.check("vips from 18 to 34 who are not lost", found, young);
  run.check("their ages by decades", await service.ages("#1 - #2", [tag("vip"), tag("lost")], [20, 30, 40]),
    [[0, 20], [20, 30], [30, 40], [40, 200]].map(([from, to]) =>
      aged.filter(([user]) => ages[user - 1]! >= from! && ages[user - 1]! < to!).length));
  await service.set(5, [tag("vip")]);
  run.check("user 5 is a vip now, in both directions", [await service.has(5, tag("vip")), (await service.tagsOf(5)).includes(tag("vip"))], [true, true]);
  await service.set(5, [tag("vip")], false);
  run.check("and no longer", [await service.has(5, tag("vip")), (await service.tagsOf(5)).includes(tag("vip"))], [false, false]);
}

/** The same users and tags by name. */
async function byName(run: Run, service: NamedTags): Promise<void> {
  const names = new Map(SMALL_USERS.map(([user, has]) => [`user-${user}`, SMALL_TAGS.filter((_, n) => has[n] === 1)]));
  for (const [user, tags] of names) await service.give(user, tags);
  for (const [user, tags] of names) run.check(`tags of ${user}`, (await service.tagsOf(user)).sort(), [...tags].sort());
  const usersOf = async (segment: string, tags: readonly string[]): Promise<string[]> => {
    const users: string[] = [];
    for await (const page of service.pages(segment, tags, 2)) users.push(...page);
    return users;
  };
  const having = (means: (tags: readonly string[]) => boolean): string[] =>
    [...names].filter(([, tags]) => means(tags)).map(([user]) => user);
  for (const tag of SMALL_TAGS) run.check(`users of ${tag} by name`, await usersOf("#1", [tag]), having((tags) => tags.includes(tag)));
  run.check("mobile, but not lost, by name", await usersOf("#1 - #2", ["mobile", "lost"]),
    having((tags) => tags.includes("mobile") && !tags.includes("lost")));
  await service.take("user-4", ["vip", "no such tag"]);
  await service.take("nobody", ["vip"]);
  await service.forget("user-1");
  run.check("vips after one has lost the tag and one was forgotten", await usersOf("#1", ["vip"]), ["user-7"]);
  run.check("one who was forgotten has no tags", await service.tagsOf("user-1"), []);
  await service.give("user-1", ["vip"]);
  run.check("and if they come back, they are new", await service.tagsOf("user-1"), ["vip"]);
}

await example("tags", async (run) => {
  const server = await run.server(), client = run.connect(server), { r, redis } = client, service = new Tags(client);
  await small(run, service);
  await redis.flushall();
  await byName(run, new NamedTags(client));
  await redis.flushall();

  // --- A site. Both directions are loaded in bulk, and for comparison as native bitmaps and as sets.

  const users = run.scaled(1_000_000, 2000), sets = tagged(run.random, users, run.scaled(200_000, 60));
  const keys = sets.map((_, tag) => Tags.keys.usersOf(tag));
  const everyone = Array.from({ length: users }, (_, n) => n + 1), ofUser = new Map<number, number[]>();
  for (const [tag, set] of sets.entries()) for (const user of set) (ofUser.get(user) ?? ofUser.set(user, []).get(user)!).push(tag);
  function* calls() {
    for (const [tag, set] of sets.entries()) yield r.calls.setIntArray(keys[tag]!, set);
    for (const [user, tags] of ofUser) yield r.calls.setBits(Tags.keys.tagsOf(user), tags);
    yield r.calls.setRange(Tags.keys.everybody, 1, users + 1);
  }
  await inBatches<unknown>(client, calls());
  /** Native bitmaps of this many tags are loaded, spread evenly over all ranks; the others would take gigabytes. */
  const sampled = sets.map((_, tag) => tag).filter((tag) => tag < 100 || tag % Math.max(1, Math.floor(sets.length / 1000)) === 0);
  for (let at = 0; at < sets.length; at += 1000) {
    const sent = redis.pipeline();
    for (let tag = at; tag < Math.min(sets.length, at + 1000); tag++) {
      const members = [...sets[tag]!];
      for (let from = 0; from < members.length; from += 5000) sent.sadd(setKey(tag), ...members.slice(from, from + 5000));
    }
    await sent.exec();
  }
  for (const tag of sampled) await redis.set(nativeKey(tag), nativeBitmap(sets[tag]!));
  for (let at = 1; at <= users; at += 1000) {
    const sent = redis.pipeline();
    for (let user = at; user < Math.min(users + 1, at + 1000); user++) if (ofUser.has(user)) sent.sadd(userSet(user), ...ofUser.get(user)!);
    await sent.exec();
  }

  // --- Both directions.

  const checked = new Set([
    ...Array.from({ length: 20 }, (_, n) => n), ...Array.from({ length: 100 }, () => run.random.below(sets.length)),
  ]);
  await Promise.all([...checked].map(async (tag) => run.check(`users of tag ${tag}`, await service.usersOf(tag), ascending(sets[tag]!))));
  const asked = Array.from({ length: 100 }, () => 1 + run.random.below(users));
  await Promise.all(asked.map(async (user) => {
    run.check(`tags of user ${user}`, await service.tagsOf(user), ofUser.get(user) ?? []);
    run.check(`the same by tags`, await r.mGetBit(user, keys.slice(0, 500)), sets.slice(0, 500).map((set) => (set.has(user) ? 1 : 0)));
  }));
  run.check("users without tag 0", await service.usersWithout(0), everyone.filter((user) => !sets[0]!.has(user)));
  const likely = [...sets[0]!].filter((user) => sets[1]!.has(user)).length;
  run.check("likeness", Math.abs(await service.likeness(0, 1) - likely / (sets[0]!.size + sets[1]!.size - likely)) < 1e-6, true);

  // --- Segments, counted and page by page.

  const rows: (string | number)[][] = [];
  for (const [name, expression, tags, means] of SEGMENTS) {
    const right = everyone.filter((user) => means(tags.map((n) => sets[n]!.has(user))));
    const [count, time] = await served(redis, () => service.size(expression, tags));
    run.check(`segment ${name}`, count, right.length);
    const members: number[] = [];
    for await (const page of service.pages(expression, tags, Math.max(500, Math.ceil(users / 20)))) members.push(...page);
    run.check(`members of segment ${name}`, members, right);
    rows.push([name, `\`${expression.replaceAll("|", "\\|")}\``, count, time]);
  }

  // --- The same segment by name, and the names as hashes in both directions.

  const uuids = ["nobody", ...everyone.map(() => uuid(run))], tagNames = sets.map((_, tag) => `tag ${tag}`), named = new NamedTags(client);
  await client.rn.load(NamedTags.keys.users, uuids);
  await client.rn.load(NamedTags.keys.tags, tagNames);
  for (const [key, names] of [["uuid", uuids], ["tag", tagNames]] as const) {
    for (let at = 0; at < names.length; at += 1000) {
      const some = names.slice(at, at + 1000).map((name, n) => [name, String(at + n)] as const);
      await redis.pipeline().hset(`${key}:ids`, ...some.flat()).hset(`${key}:names`, ...some.flatMap(([name, id]) => [id, name])).exec();
    }
  }
  const both = [tagNames[0]!, tagNames[1]!];
  run.check("size of segment 0 and 1 by name", await named.size("#1 & #2", both), likely);
  for await (const page of named.pages("#1 & #2", both)) {
    run.check("the first page by name", page, ascending(sets[0]!).filter((user) => sets[1]!.has(user)).slice(0, page.length).map((user) => uuids[user]!));
    break;
  }
  for (const one of asked) run.check(`tags of user ${one} by name`, await named.tagsOf(uuids[one]!), (ofUser.get(one) ?? []).map((tag) => tagNames[tag]!));

  // --- The first one in native bitmaps and in sets, and the tags of a user.

  const andNative = (await served(redis, async () => {
    const replies = await redis.pipeline().bitop("AND", "result", nativeKey(0), nativeKey(1)).bitcount("result").exec();
    return Number(replies![1]![1]);
  }));
  const andSets = await served(redis, async () => Number(await redis.call("SINTERCARD", 2, setKey(0), setKey(1))));
  run.check("segment 0 and 1 in other ways", [andNative[0], andSets[0]], [likely, likely]);
  const user = [...ofUser.keys()][0]!, [, tagsTime] = await served(redis, () => service.tagsOf(user));
  const [, setsTime] = await served(redis, () => redis.smembers(userSet(user)));

  // --- Top tags of a segment.

  const among = sets.map((_, tag) => tag).slice(0, 1000), segment = new Set([...sets[0]!].filter((one) => sets[1]!.has(one)));
  const [top, topTime] = await served(redis, () => service.topTags("#1 & #2", [0, 1], among, 10));
  const right = among.map((tag) => ({ tag, users: [...sets[tag]!].filter((one) => segment.has(one)).length }))
    .sort((a, b) => b.users - a.users || a.tag - b.tag);
  run.check("top tags of a segment", top, right.slice(0, 10));

  // --- What it takes.

  const bitmaps = sum(await memoryOfEach(redis, keys)), inSets = sum(await memoryOfEach(redis, sets.map((_, tag) => setKey(tag))));
  const sample = await memoryOfEach(redis, sampled.map(nativeKey)), rare = sampled.flatMap((tag, n) => (tag < 100 ? [] : [sample[n]!]));
  const common = sum(sampled.flatMap((tag, n) => (tag < 100 ? [sample[n]!] : [])));
  const native = common + (rare.length > 0 ? (sum(rare) / rare.length) * (sets.length - 100) : 0);
  const people = [...ofUser.keys()], byUser = sum(await memoryOfEach(redis, people.map(Tags.keys.tagsOf)));
  const byUserSets = sum(await memoryOfEach(redis, people.map(userSet)));
  run.table("Segments", ["Tags", "Expression", "Users", "Microseconds in the server"], rows);
  run.table("Bytes", ["", "redis-roar", "Native bitmaps", "Sets"], [
    [`Users of ${sets.length.toLocaleString("en")} tags`, bitmaps, native, inSets],
    [`Tags of ${people.length.toLocaleString("en")} users`, byUser, "-", byUserSets],
  ]);
  run.table("Names in both directions, in bytes", ["", "redis-roar", "Hashes"], [
    [`UUIDs of ${users.toLocaleString("en")} users`, await memoryOf(redis, NamedTags.keys.users), sum(await memoryOfEach(redis, ["uuid:ids", "uuid:names"]))],
    [`Names of ${sets.length.toLocaleString("en")} tags`, await memoryOf(redis, NamedTags.keys.tags), sum(await memoryOfEach(redis, ["tag:ids", "tag:names"]))],
  ]);
  run.table("Microseconds in the server", ["", "redis-roar", "Native bitmaps", "Sets"], [
    ["Users with both tags 0 and 1", Number(rows[0]![3]), andNative[1], andSets[1]],
    [`Tags of a user (${ofUser.get(user)!.length})`, tagsTime, "-", setsTime],
    ["Top 10 of 1,000 tags of a segment", topTime, "-", "-"],
  ]);
  run.table("Data", ["", "Figure"], [
    ["Users", users], ["Tags", sets.length], ["Users of tags", sum(sets.map(({ size }) => size))],
    ["Native bitmaps loaded; the others have the mean of those above rank 100", sampled.length],
  ]);
  const bars = (figures: readonly (readonly [string, number])[]) => figures.map(([label, value], n) => ({ label, value, color: n === 0 ? "more" as const : "less" as const }));
  run.svg = draw({
    title: `Users of ${sets.length.toLocaleString("en")} tags, ${users.toLocaleString("en")} users`,
    subtitle: "Bytes of all tags (MEMORY USAGE).",
    groups: [
      { title: `users of all tags: ${sum(sets.map(({ size }) => size)).toLocaleString("en")}`, bars: bars([["redis-roar", bitmaps], ["native bitmaps", native], ["sets", inSets]]) },
      { title: "tags of all users", bars: bars([["redis-roar", byUser], ["sets", byUserSets]]) },
    ],
    format: inBytes, origin: 0, footnote: run.footnote,
  });
});
