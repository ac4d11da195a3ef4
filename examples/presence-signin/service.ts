// Presence: a bitmap for each minute, or one key with the time when each user was last seen. Sign-ins: a bitmap for each user with the
// days, and one for each day with the users. Keys that are combined with each other have a tag in braces: a cluster keeps them on one node.
//   {online}:<minute>   users of a minute     {online}:seen       the second of each user's last heartbeat
//   signins:<user>      days of a user        {signed}:<day>      users of a day

import type { Cluster, Redis } from "ioredis";
import type { RoarClient } from "redis-roar-client";

const minuteKey = (minute: number): string => `{online}:${minute}`;
/** Minutes after the last heartbeat in which a user counts as online, and seconds until a minute's bitmap goes. */
const RECENT = 5, TTL = 600;

export class Presence {
  readonly #redis: Redis | Cluster;
  readonly #r: RoarClient["r"];

  constructor(redis: Redis | Cluster, { r }: RoarClient) {
    this.#redis = redis;
    this.#r = r;
  }

  /** Users are there in a minute. The bitmap of a minute goes by itself. */
  async heartbeat(minute: number, users: readonly number[]): Promise<void> {
    await this.#r.setBits(minuteKey(minute), users);
    await this.#redis.expire(minuteKey(minute), TTL, "NX");
  }

  async online(now: number): Promise<number> {
    return this.#r.bitOpCard("OR", recent(now));
  }

  async isOnline(user: number, now: number): Promise<boolean> {
    return (await this.#r.mGetBit(user, recent(now))).includes(1);
  }

  /** Who is online, in ascending order, from a user on. */
  async whoIsOnline(now: number, from = 0, limit = 100): Promise<number[]> {
    return this.#r.queryMembers(`any(#1..#${RECENT})`, recent(now), { from, limit });
  }

  /** Which of a user's friends are online: `friends` is a bitmap's key, with the tag `{online}` in a cluster. */
  async friendsOnline(friends: string, now: number): Promise<number[]> {
    return this.#r.queryMembers(`#1 & any(#2..#${RECENT + 1})`, [friends, ...recent(now)]);
  }

  static readonly keyOf = minuteKey;
}

const recent = (now: number): string[] => Array.from({ length: RECENT }, (_, n) => minuteKey(now - n));

const SEEN = "{online}:seen";

/**
 * Presence in one key: an integer for each user, the second of the last heartbeat. It also says since when somebody is away, and who came
 * last. It does not go by itself: call `forget` now and then.
 */
export class LastSeen {
  readonly #r: RoarClient["r"];
  readonly #ri: RoarClient["ri"];

  constructor({ r, ri }: Pick<RoarClient, "r" | "ri">) {
    this.#r = r;
    this.#ri = ri;
  }

  /** Users are there at a time. A heartbeat that arrives late does not put them back. */
  async heartbeat(now: number, users: readonly number[]): Promise<void> {
    await this.#ri.set(SEEN, users.map((user) => [user, now] as const), { comparison: "GT" });
  }

  /** How many were seen at `since` or later. */
  async online(since: number): Promise<number> {
    return this.#ri.count(SEEN, since, "+inf");
  }

  async lastSeen(user: number): Promise<number | null> {
    return this.#ri.get(SEEN, user);
  }

  /** Who was seen at `since` or later, in ascending order, from a user on. */
  async whoIsOnline(since: number, from = 0, limit = 100): Promise<number[]> {
    return this.#r.queryMembers(`#1 >= ${since}`, [SEEN], { from, limit });
  }

  /** Those seen last, the last one first. */
  async latest(count: number): Promise<number[]> {
    return this.#ri.range(SEEN, 0, count - 1, { rev: true });
  }

  /** Which of a user's friends are online: `friends` is a bitmap's key, with the tag `{online}` in a cluster. */
  async friendsOnline(friends: string, since: number): Promise<number[]> {
    return this.#r.queryMembers(`#1 & #2 >= ${since}`, [friends, SEEN]);
  }

  /** Removes those who were last seen before a time. Returns how many they were. */
  async forget(before: number): Promise<number> {
    return this.#ri.delRange(SEEN, "-inf", `(${before}`);
  }

  static readonly key = SEEN;
}

const userKey = (user: number): string => `signins:${user}`, dayKey = (day: number): string => `{signed}:${day}`;
/** A field has at most 63 bits, so a longer streak takes several. */
const FIELD = 63;

export class SignIns {
  readonly #r: RoarClient["r"];

  constructor({ r }: Pick<RoarClient, "r">) {
    this.#r = r;
  }

  /**
   * A user signs in on a day. Returns whether it is the first time on that day. The two keys are on different nodes of a cluster, so they
   * change one after the other: if a call fails, repeat it. The user's key comes last, so a repeated call still says that it was the first.
   */
  async signIn(user: number, day: number): Promise<boolean> {
    await this.#r.setBit(dayKey(day), user, 1);
    return (await this.#r.setBit(userKey(user), day, 1)) === 0;
  }

  /** The streak that ends today, from fields of up to 63 days: how many 1 bits are at their low end. */
  async streak(user: number, today: number): Promise<number> {
    let streak = 0;
    for (let last = today; last >= 0; last -= FIELD) {
      const width = Math.min(FIELD, last + 1), [days] = await this.#r.bitFieldRo(userKey(user), [["GET", `u${width}`, last - width + 1]]);
      for (let n = 0; n < width; n++, streak++) if (((days! >> BigInt(n)) & 1n) === 0n) return streak;
    }
    return streak;
  }

  /** On how many days from `first` to `last` a user has signed in. Without `unit: "BIT"`, the range would count bytes of eight days. */
  async days(user: number, first: number, last: number): Promise<number> {
    return this.#r.bitCount(userKey(user), { start: first, end: last, unit: "BIT" });
  }

  async signedInOn(day: number): Promise<number> {
    return this.#r.bitCount(dayKey(day));
  }

  /** Users who signed in on every one of these days. */
  async onAllOf(days: readonly number[]): Promise<number> {
    return this.#r.bitOpCard("AND", days.map(dayKey));
  }

  static readonly keys = { user: userKey, day: dayKey };
}
