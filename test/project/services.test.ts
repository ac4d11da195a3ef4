// The services of the examples, as programs that copy them use them: by many callers at once, over connections that fail, in a cluster.

import { Cluster as ClusterClient, Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { roar } from "../../client/src/ioredis.ts";
import type { RoarClient } from "../../client/src/index.ts";
import { Actives, Visits } from "../../examples/actives/service.ts";
import { Likes } from "../../examples/likes/service.ts";
import { LastSeen, Presence, SignIns } from "../../examples/presence-signin/service.ts";
import { Readers } from "../../examples/readers/service.ts";
import { NamedTags } from "../../examples/tags/named.ts";
import { AGE, Tags } from "../../examples/tags/service.ts";
import { range } from "../support/family.ts";
import { Proxy } from "../support/proxy.ts";
import { random, seed } from "../support/random.ts";
import { useCluster, useServer } from "../support/suite.ts";

const FRIENDS = "{online}:friends", CALLERS = 200, SHARDING = { width: 65_536, shards: 12 }, DAY = 7;
const server = useServer({ listens: true }), cluster = useCluster(3);

interface Client extends RoarClient {
  readonly redis: Redis | ClusterClient;
}
let one: Client, many: Client;
beforeAll(() => {
  const redis = new Redis(server.socket, { stringNumbers: true });
  const nodes = new ClusterClient(cluster.ports.map((port) => ({ host: "127.0.0.1", port })), { redisOptions: { stringNumbers: true } });
  one = { redis, ...roar(redis) };
  many = { redis: nodes, ...roar(nodes) };
});
afterAll(() => {
  for (const { redis } of [one, many]) redis.disconnect();
});
beforeEach(() => cluster.onAll("FLUSHALL", "SYNC"));

/** A client whose connection a test breaks. It reconnects, and sends nothing a second time. */
async function fragile(): Promise<{ client: Client; proxy: Proxy; close: () => void }> {
  const proxy = await Proxy.to(server.port);
  const redis = new Redis({
    port: proxy.port, stringNumbers: true, maxRetriesPerRequest: 0, enableOfflineQueue: false, retryStrategy: () => 20,
  });
  redis.on("error", () => {}); // that is what happens here
  await new Promise((resolve) => redis.once("ready", resolve));
  const close = (): void => {
    redis.disconnect();
    proxy.close();
  };
  return { client: { redis, ...roar(redis) }, proxy, close };
}

/** Calls until it succeeds, as a program does that gets an error. Returns how often it failed. */
async function insist(action: () => Promise<unknown>): Promise<number> {
  for (let failures = 0; ; failures++) {
    try {
      await action();
      return failures;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Breaks the connections of a proxy again and again while `work` runs: first those over which it has just sent its first commands. */
async function whileBreaking(proxy: Proxy, work: Promise<unknown>): Promise<void> {
  let over = false;
  proxy.sever();
  proxy.mend();
  const done = work.finally(() => { over = true; });
  while (!over) {
    proxy.severAfter(200 + random(seed).below(400)).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 30));
    proxy.sever();
    await new Promise((resolve) => setTimeout(resolve, 10));
    proxy.mend();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  await done;
}

describe.each([["one server", () => one, undefined], ["a cluster of three", () => many, SHARDING]] as const)("on %s", (_, clientOf, sharding) => {
  it("tags: each of 200 callers at once gets the top tags of its own segment", async () => {
    const service = new Tags(clientOf(), sharding), rng = random(seed), users = range(0, 300).map((n) => n * 2000), tags = range(0, 20);
    const model = users.map(() => new Set(tags.filter((tag) => rng.below(20) >= tag)));
    await Promise.all(users.map((user, n) => service.set(user, [...model[n]!])));
    const pairs = range(0, CALLERS).map((n): [number, number] => [n % 10, (n * 7 + 3) % 10]);
    const answers = await Promise.all(pairs.map((pair) => service.topTags("#1 & #2", pair, tags, 5)));
    for (const [n, [a, b]] of pairs.entries()) {
      const segment = model.filter((has) => has.has(a) && has.has(b));
      const right = tags.map((tag) => ({ tag, users: segment.filter((has) => has.has(tag)).length })).filter((share) => share.users > 0)
        .sort((x, y) => y.users - x.users || x.tag - y.tag).slice(0, 5);
      expect(answers[n], `SEED=${seed} caller ${n}`).toEqual(right);
    }
    const stored = clientOf() === one ? await server.run("KEYS", "segment*") : (await cluster.onAll("KEYS", "segment*")).flat();
    expect(stored, "it stores nothing").toEqual([]);
  });

  it("tags: both directions agree after 200 callers at once have given and taken tags", async () => {
    const service = new Tags(clientOf(), sharding), users = range(0, 40).map((n) => n * 15_000), tags = range(0, 5), rng = random(seed);
    await Promise.all(range(0, CALLERS).map(() => service.set(rng.pick(users), [rng.pick(tags)], rng.below(3) > 0)));
    const ofTags = await Promise.all(tags.map((tag) => service.usersOf(tag)));
    for (const user of users) {
      expect(await service.tagsOf(user), `SEED=${seed} user ${user}`).toEqual(tags.filter((tag) => ofTags[tag]!.includes(user)));
    }
    const all = await service.usersWithout(99), pages: number[] = [];
    expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
    for await (const page of service.pages("#1 | #2", [0, 1], 7)) pages.push(...page);
    expect(pages).toEqual([...new Set([...ofTags[0]!, ...ofTags[1]!])].sort((a, b) => a - b));
    expect(await service.size("#1 - #2", [0, 1])).toBe(ofTags[0]!.filter((user) => !ofTags[1]!.includes(user)).length);
  });

  it("tags: names that 200 callers at once bring get one integer each, and who is forgotten is gone from all tags", async () => {
    const service = new NamedTags(clientOf(), sharding), rng = random(seed), tags = range(0, 9).map((n) => `tag ${n}`);
    const model = new Map(range(0, 60).map((n) => [`00000000-0000-4000-8000-${String(n * 7919).padStart(12, "0")}`, new Set<string>()]));
    const gifts = range(0, CALLERS).map(() => ({ user: rng.pick([...model.keys()]), tag: rng.pick(tags) }));
    for (const { user, tag } of gifts) model.get(user)!.add(tag);
    await Promise.all(gifts.map(({ user, tag }) => service.give(user, [tag])));
    const forgotten = rng.pick(gifts).user;
    await Promise.all([service.forget(forgotten), service.forget("nobody")]);
    model.set(forgotten, new Set());
    for (const [user, has] of model) expect((await service.tagsOf(user)).sort(), `SEED=${seed} ${user}`).toEqual([...has].sort());
    const found: string[] = [], given = [...new Set(gifts.map(({ tag }) => tag))], [first, other] = [given[0]!, given.at(-1)!];
    for await (const page of service.pages("#1 | #2", [first, other], 7)) found.push(...page);
    const right = [...model].filter(([, has]) => has.has(first) || has.has(other)).map(([user]) => user);
    expect(found.sort(), `SEED=${seed}`).toEqual(right.sort());
    expect(await service.size("#1 | #2", [first, other])).toBe(right.length);
    await expect(service.size("#1", ["no such tag"])).rejects.toThrow("nobody ever had the tag no such tag");
  });

  it("tags: a segment by age, and its ages, over all shards", async () => {
    const service = new Tags(clientOf(), sharding), rng = random(seed), vip = 1, lost = 2;
    const users = range(0, 200).map((n) =>
      ({ user: n * 3900, age: rng.chance(0.9) ? rng.below(80) : null, isVip: rng.chance(0.6), isLost: rng.chance(0.3) }));
    await Promise.all(users.map(async ({ user, age, isVip, isLost }) => {
      if (age !== null) await service.setAge(user, age);
      await service.set(user, [...(isVip ? [vip] : []), ...(isLost ? [lost] : [])]);
    }));
    const segment = users.filter(({ age, isVip, isLost }) => isVip && !isLost && age !== null), edges = [18, 30, 65];
    const between = (from: number, to: number): number[] => segment.filter(({ age }) => age! >= from && age! < to).map(({ user }) => user);
    const pages: number[] = [];
    for await (const page of service.pages("#1 & 18 <= #2 < 30 - #3", [vip, AGE, lost], 7)) pages.push(...page);
    expect(pages, `SEED=${seed}`).toEqual(between(18, 30));
    expect(await service.size("#1 & #2 >= 65 - #3", [vip, AGE, lost])).toBe(between(65, 80).length);
    const histogram = [between(0, 18), between(18, 30), between(30, 65), between(65, 80)].map(({ length }) => length);
    expect(await service.ages("#1 - #2", [vip, lost], edges), `SEED=${seed}`).toEqual(histogram);
    for (const { user, age } of users.slice(0, 10)) expect(await service.ageOf(user)).toBe(age);
  });

  it("likes: 200 clicks at once leave the counts and the top right", async () => {
    const client = clientOf(), service = new Likes(client.redis, client), rng = random(seed), likes = new Map<number, Set<bigint>>();
    await Promise.all(range(0, CALLERS).map(() => {
      const post = rng.below(40), user = 2n ** 60n + BigInt(rng.below(30)), set = likes.get(post) ?? likes.set(post, new Set()).get(post)!;
      if (!set.delete(user)) set.add(user);
      return service.toggle(post, user);
    }));
    const counts = range(0, 45).map((post): [post: number, likes: number] => [post, likes.get(post)?.size ?? 0]);
    expect(await service.counts(range(0, 45)), `SEED=${seed}`).toEqual(counts.map(([, count]) => count));
    const clicked = counts.filter(([post]) => likes.has(post)).sort(([a, m], [b, n]) => n - m || b - a);
    expect(await service.top(12), `SEED=${seed}`).toEqual(clicked.slice(0, 12));
  });

  it("presence: 200 heartbeats at once, late ones too, leave the latest time of each user", async () => {
    const service = new LastSeen(clientOf()), rng = random(seed), last = new Map<number, number>();
    await Promise.all(range(0, CALLERS).map(() => {
      const now = 1_800_000_000 + rng.below(1000), users = range(0, 5).map(() => rng.below(300));
      for (const user of users) last.set(user, Math.max(now, last.get(user) ?? 0));
      return service.heartbeat(now, users);
    }));
    const since = 1_800_000_600, online = [...last].filter(([, time]) => time >= since).map(([user]) => user).sort((a, b) => a - b);
    expect(await service.online(since), `SEED=${seed}`).toBe(online.length);
    const latest = [...last].sort(([a, m], [b, n]) => n - m || b - a).map(([user]) => user);
    expect(await service.latest(10), `SEED=${seed}`).toEqual(latest.slice(0, 10));
    expect(await service.lastSeen(latest[0]!)).toBe(last.get(latest[0]!));
    expect(await service.lastSeen(999)).toBeNull();
    await clientOf().r.setBits(FRIENDS, online.slice(5));
    expect(await service.whoIsOnline(since, online[3], 4)).toEqual(online.slice(3, 7));
    expect(await service.friendsOnline(FRIENDS, since)).toEqual(online.slice(5));
    expect(await service.forget(since)).toBe(last.size - online.length);
    expect(await service.online(0)).toBe(online.length);
  });

  it("presence by minutes: 200 heartbeats at once, and each minute goes by itself", async () => {
    const client = clientOf(), service = new Presence(client.redis, client), rng = random(seed), minutes = range(100, 8);
    const there = minutes.map(() => new Set<number>()), now = minutes.at(-1)!;
    await Promise.all(range(0, CALLERS).map(() => {
      const n = rng.below(minutes.length), users = range(0, 5).map(() => rng.below(2000));
      for (const user of users) there[n]!.add(user);
      return service.heartbeat(minutes[n]!, users);
    }));
    const online = [...new Set(there.slice(-5).flatMap((users) => [...users]))].sort((a, b) => a - b);
    expect(await service.online(now), `SEED=${seed}`).toBe(online.length);
    expect(await service.whoIsOnline(now, online[3], 4)).toEqual(online.slice(3, 7));
    await client.r.setBits(FRIENDS, [...online.slice(5, 9), 2001]);
    expect(await service.friendsOnline(FRIENDS, now)).toEqual(online.slice(5, 9));
    expect([await service.isOnline(online[0]!, now), await service.isOnline(2001, now)]).toEqual([true, false]);
    for (const minute of minutes) expect(Number(await client.redis.ttl(Presence.keyOf(minute)))).toBeGreaterThan(0);
  });

  it("sign-ins: of 200 at once, one of each user and day is the first, and both directions agree", async () => {
    const client = clientOf(), service = new SignIns(client), rng = random(seed), days = new Map<number, Set<number>>();
    const firsts = await Promise.all(range(0, CALLERS).map(() => {
      const user = rng.below(20), day = 300 + rng.below(7);
      (days.get(day) ?? days.set(day, new Set()).get(day)!).add(user);
      return service.signIn(user, day);
    }));
    const pairs = [...days.values()].reduce((sum, users) => sum + users.size, 0);
    expect(firsts.filter(Boolean).length, `SEED=${seed}`).toBe(pairs);
    for (const [day, users] of days) expect(await service.signedInOn(day)).toBe(users.size);
    const all = [...days.keys()], each = range(0, 20).map((user) => all.filter((day) => days.get(day)!.has(user)));
    for (const [user, mine] of each.entries()) expect(await service.days(user, 300, 306)).toBe(mine.length);
    for (const [user, mine] of each.entries()) {
      let streak = 0;
      while (mine.includes(306 - streak)) streak++;
      expect(await service.streak(user, 306)).toBe(streak);
    }
    expect(await service.onAllOf(all)).toBe(each.filter((mine) => mine.length === all.length).length);
  });

  it("actives: 200 senders and collectors at once lose no visit, and nobody is counted twice", async () => {
    const client = clientOf(), service = new Actives(client), parts = range(0, 8).map((n) => `web-${n}`);
    const writers = parts.map((part) => new Visits(client, part)), seen = new Set<number>(), rng = random(seed);
    const visit = (): void => {
      const user = rng.below(50_000);
      seen.add(user);
      rng.pick(writers).visit(user, DAY);
    };
    await Promise.all(range(0, CALLERS).map(async (n) => {
      for (let i = 0; i < 20; i++) visit();
      await (n % 10 === 0 ? service.collect(DAY, parts, n % 20 === 0) : writers[n % writers.length]!.send());
    }));
    await Promise.all(writers.map((writer) => writer.send()));
    expect(writers.map(({ waiting }) => waiting)).toEqual(parts.map(() => 0));
    const counts = await Promise.all(range(0, 5).map(() => service.collect(DAY, parts, true)));
    expect(counts, `SEED=${seed}`).toEqual(range(0, 5).map(() => seen.size));
    expect(await client.r.getIntArray(Actives.keys.day(DAY))).toEqual([...seen].sort((a, b) => a - b));
    expect(Number(await client.redis.ttl(Actives.keys.part(DAY, parts[0]!)))).toBeGreaterThan(86_400);
    expect(await service.keep("week", DAY - 6, DAY, 60)).toBe(seen.size);
    expect(await service.retention(DAY)).toBe(0);
    expect(await service.often(1, DAY - 6, DAY)).toBe(seen.size);
  });

  it("readers: 200 callers at once give each id one integer, and asking gives none", async () => {
    const client = clientOf(), service = new Readers(client.redis, client), ids = range(0, 50).map((n) => `user-${n}`);
    expect(await service.haveRead(1, ids)).toEqual(ids.map(() => false));
    expect(Number(await client.redis.exists(Readers.keys.table))).toBe(0);
    const rng = random(seed), read = new Map([1, 2].map((article) => [article, new Set<string>()]));
    const fresh = await Promise.all(range(0, CALLERS).map(async (n) => {
      const article = 1 + n % 2, some = range(0, 3).map(() => rng.pick(ids));
      for (const id of some) read.get(article)!.add(id);
      return service.read(article, some);
    }));
    expect(fresh.reduce((sum, count) => sum + count, 0), `SEED=${seed}`).toBe(read.get(1)!.size + read.get(2)!.size);
    const registered = Number(await client.redis.call("RN.CARD", Readers.keys.table));
    const integers = await service.integersOf([...new Set([...read.get(1)!, ...read.get(2)!])]);
    expect([...integers].sort((a, b) => a - b)).toEqual(range(0, registered));
    for (const article of [1, 2]) {
      expect(await service.readersOf(article)).toBe(read.get(article)!.size);
      expect(await service.haveRead(article, [...ids, "nobody"])).toEqual([...ids, "nobody"].map((id) => read.get(article)!.has(id)));
    }
    expect(await service.readersOfBoth(1, 2)).toBe([...read.get(1)!].filter((id) => read.get(2)!.has(id)).length);
    expect(await service.readersOfBoth(1, 3)).toBe(0);
    expect(Number(await client.redis.call("RN.CARD", Readers.keys.table)), "asking registers nobody").toBe(registered);
  });
});

describe("over connections that break", () => {
  it("tags: a caller who repeats what failed finds both directions right", async () => {
    const { client, proxy, close } = await fragile(), service = new Tags(client), users = range(0, 60);
    let failures = 0;
    await whileBreaking(proxy, Promise.all(users.map(async (user) => {
      for (const tag of [1, 2, 3]) failures += await insist(() => service.set(user, [tag, tag + 10]));
      failures += await insist(() => service.set(user, [2], false));
      await new Promise((resolve) => setTimeout(resolve, 200));
    })));
    close();
    const checked = new Tags(one);
    expect(failures).toBeGreaterThan(0);
    for (const tag of [1, 3, 11, 12, 13]) expect(await checked.usersOf(tag)).toEqual(users);
    expect(await checked.usersOf(2)).toEqual([]);
    for (const user of users) expect(await checked.tagsOf(user)).toEqual([1, 3, 11, 12, 13]);
  });

  it("sign-ins: a caller who repeats what failed has both directions right", async () => {
    const { client, proxy, close } = await fragile(), service = new SignIns(client), users = range(0, 60);
    let failures = 0;
    await whileBreaking(proxy, Promise.all(users.map(async (user) => {
      for (const day of [1, 2, 3]) {
        failures += await insist(() => service.signIn(user, day));
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    })));
    close();
    const checked = new SignIns(one);
    expect(failures).toBeGreaterThan(0);
    expect(await checked.onAllOf([1, 2, 3])).toBe(users.length);
    for (const user of users) expect(await checked.streak(user, 3)).toBe(3);
  });

  it("actives: a write that fails keeps its visits for the next one", async () => {
    const { client, proxy, close } = await fragile(), writer = new Visits(client, "web-1");
    for (let user = 0; user < 25_000; user++) writer.visit(user, DAY);
    writer.visit(1, DAY + 1);
    proxy.sever();
    await expect(writer.send()).rejects.toThrow();
    expect(writer.waiting).toBe(25_001);
    writer.visit(99_999, DAY);
    proxy.mend();
    expect(await insist(() => writer.send())).toBeGreaterThanOrEqual(0);
    expect(writer.waiting).toBe(0);
    expect(await new Actives(one).collect(DAY, ["web-1"])).toBe(25_001);
    expect(await new Actives(one).collect(DAY + 1, ["web-1"])).toBe(1);
    close();
  });

  it("actives: a write that the server refuses keeps its visits, and those of other days are written", async () => {
    const writer = new Visits(one, "web-1");
    await server.run("SET", Actives.keys.part(DAY, "web-1"), "not a bitmap");
    writer.visit(1, DAY);
    writer.visit(2, DAY + 1);
    await expect(writer.send()).rejects.toThrow(/WRONGTYPE/);
    expect(writer.waiting).toBe(1);
    expect(await new Actives(one).collect(DAY + 1, ["web-1"])).toBe(1);
    await server.run("DEL", Actives.keys.part(DAY, "web-1"));
    await writer.send();
    expect(await new Actives(one).collect(DAY, ["web-1"])).toBe(1);
  });

  it("readers: a caller who repeats what failed counts nobody twice", async () => {
    const { client, proxy, close } = await fragile(), service = new Readers(client.redis, client), ids = range(0, 100).map((n) => `user-${n}`);
    let failures = 0;
    await whileBreaking(proxy, Promise.all(range(0, 40).map(async (n) => {
      failures += await insist(() => service.read(1, ids.slice(n, n + 30)));
      await new Promise((resolve) => setTimeout(resolve, 150));
      failures += await insist(() => service.read(2, ids.slice(n, n + 1)));
    })));
    close();
    const checked = new Readers(one.redis, one);
    expect(failures).toBeGreaterThan(0);
    expect([await checked.readersOf(1), await checked.readersOf(2), await checked.readersOfBoth(1, 2)]).toEqual([69, 40, 40]);
    expect(Number(await one.redis.call("RN.CARD", Readers.keys.table))).toBe(69);
  });
});
