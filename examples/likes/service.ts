// Likes whose truth is in Redis: a click changes a bitmap at once, and a job writes the changes to a database later (write-behind).
//
// Posts are spread over buckets. All keys of a bucket have one hash tag and so one slot of a cluster:
//
//   likes:{b}:<post>           who likes the post
//   likes:{b}:<post>:saved     who liked it when the database was written last
//   likes:{b}:counts           how many like each post, as integers: pages of counts, and the posts with most likes
//   likes:{b}:dirty            posts that have changed since
//   likes:{b}:pending          posts whose changes are being written. For each of them, taken at one moment:
//   likes:{b}:<post>:added, likes:{b}:<post>:removed, likes:{b}:<post>:next

import type { Cluster, Redis } from "ioredis";
import type { RoarClient } from "redis-roar-client";

/** What the job needs of a database. */
export interface Store {
  /** Adds and removes likes of a post in one transaction. Does no harm if it is repeated. */
  apply(post: number, added: readonly bigint[], removed: readonly bigint[]): void;
}

export interface State {
  liked: boolean;
  /** Likes of the post. */
  likes: number;
}

type Step = [name: string, ...args: (string | number)[]];

const BUCKETS = 16;
const bucketOf = (post: number): number => post % BUCKETS;
export const likesKey = (post: number): string => `likes:{${bucketOf(post)}}:${post}`;
const dirtyKey = (bucket: number): string => `likes:{${bucket}}:dirty`, pendingKey = (bucket: number): string => `likes:{${bucket}}:pending`;
const countsKey = (bucket: number): string => `likes:{${bucket}}:counts`;

/** Keeps how many like a post. A transaction cannot use one command's reply in the next one; a script can. */
const KEEP_COUNT = `
local likes = redis.call("R64.BITCOUNT", KEYS[1])
redis.call("RI.SET", KEYS[2], ARGV[1], likes)
return likes`;

export class Likes {
  readonly #redis: Redis | Cluster;
  readonly #r64: RoarClient["r64"];
  readonly #ri: RoarClient["ri"];

  constructor(redis: Redis | Cluster, { r64, ri }: Pick<RoarClient, "r64" | "ri">) {
    this.#redis = redis;
    this.#r64 = r64;
    this.#ri = ri;
  }

  /** Turns a user's like of a post around. One transaction changes it, counts, and notes that the post has changed. */
  async toggle(post: number, user: bigint): Promise<State> {
    const key = likesKey(post), bucket = bucketOf(post);
    const [bits, likes] = await this.#together([
      ["R64.BITFIELD", key, "INCRBY", "u1", String(user), 1], ["EVAL", KEEP_COUNT, 2, key, countsKey(bucket), post],
      ["SADD", dirtyKey(bucket), post],
    ]);
    return { liked: Number((bits as unknown[])[0]) === 1, likes: Number(likes) };
  }

  async state(post: number, user: bigint): Promise<State> {
    const key = likesKey(post), [bit, count] = await Promise.all([this.#r64.getBit(key, user), this.#r64.bitCount(key)]);
    return { liked: bit === 1, likes: Number(count) };
  }

  /** Which of the posts of a page a user likes. One call for each bucket. */
  async liked(user: bigint, posts: readonly number[]): Promise<boolean[]> {
    const liked = new Map<number, boolean>();
    await Promise.all(Array.from({ length: BUCKETS }, async (_, bucket) => {
      const own = posts.filter((post) => bucketOf(post) === bucket);
      if (own.length === 0) return;
      for (const [n, bit] of (await this.#r64.mGetBit(user, own.map(likesKey))).entries()) liked.set(own[n]!, bit === 1);
    }));
    return posts.map((post) => liked.get(post)!);
  }

  /** How many like each post of a page. One call for each bucket. */
  async counts(posts: readonly number[]): Promise<number[]> {
    const counts = new Map<number, number>();
    await Promise.all(Array.from({ length: BUCKETS }, async (_, bucket) => {
      const own = posts.filter((post) => bucketOf(post) === bucket);
      if (own.length === 0) return;
      for (const [n, likes] of (await this.#ri.mGet(countsKey(bucket), own)).entries()) counts.set(own[n]!, likes ?? 0);
    }));
    return posts.map((post) => counts.get(post)!);
  }

  /** The posts with most likes, the greatest number and then the greatest post first: the best of every bucket, merged. */
  async top(count: number): Promise<[post: number, likes: number][]> {
    const buckets = Array.from({ length: BUCKETS }, (_, bucket) =>
      this.#ri.rangeWithValues(countsKey(bucket), 0, count - 1, { rev: true }));
    return (await Promise.all(buckets)).flat().sort(([a, m], [b, n]) => n - m || b - a).slice(0, count);
  }

  /**
   * Writes what has changed to a database. Returns how many likes it added and removed. It may end anywhere, by an error or because the
   * machine goes down: the next call finishes what was begun. Only one job may run at a time for each bucket.
   *
   * @param after is told of each step that is done; tests throw there
   */
  async flush(store: Store, after: (step: "begun" | "written") => void = () => {}): Promise<{ added: number; removed: number }> {
    const total = { added: 0, removed: 0 };
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      for (const post of await this.#posts(pendingKey(bucket))) await this.#finish(post, store, after, total);
      for (const post of await this.#posts(dirtyKey(bucket))) {
        await this.#begin(post);
        after("begun");
        await this.#finish(post, store, after, total);
      }
    }
    return total;
  }

  /** Takes the differences and the likes themselves at one moment. Clicks from then on make the post dirty again. */
  async #begin(post: number): Promise<void> {
    const key = likesKey(post), bucket = bucketOf(post);
    await this.#together([
      ["R64.BITOP", "DIFF", `${key}:added`, key, `${key}:saved`], ["R64.BITOP", "DIFF", `${key}:removed`, `${key}:saved`, key],
      ["R64.BITOP", "OR", `${key}:next`, key], ["SREM", dirtyKey(bucket), post], ["SADD", pendingKey(bucket), post],
    ]);
  }

  /** Writes the differences, and then keeps that they are written. If it ends between the two, the next call repeats it. */
  async #finish(post: number, store: Store, after: (step: "written") => void, total: { added: number; removed: number }): Promise<void> {
    const key = likesKey(post);
    const [added, removed] = await Promise.all([this.#r64.getIntArray(`${key}:added`), this.#r64.getIntArray(`${key}:removed`)]);
    store.apply(post, added, removed);
    total.added += added.length;
    total.removed += removed.length;
    after("written");
    await this.#together([
      ["RENAME", `${key}:next`, `${key}:saved`], ["DEL", `${key}:added`, `${key}:removed`], ["SREM", pendingKey(bucketOf(post)), post],
    ]);
  }

  async #posts(key: string): Promise<number[]> {
    return (await this.#redis.smembers(key)).map(Number);
  }

  /** Commands in one transaction. All their keys have the hash tag of one bucket. */
  async #together(steps: readonly Step[]): Promise<unknown[]> {
    const transaction = this.#redis.multi();
    for (const [name, ...args] of steps) transaction.call(name, ...args);
    const replies = await transaction.exec();
    return replies!.map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
  }
}
