// Tags in both directions: the users of a tag, and the tags of a user. Both are bitmaps, and both change in one step.

import type { Redis } from "ioredis";
import type { RoarClient } from "redis-roar-client";

const usersOf = (tag: number): string => `tag:${tag}`, tagsOf = (user: number): string => `user:${user}`, EVERYBODY = "users";

export interface Share {
  tag: number;
  users: number;
}

export class Tags {
  readonly #redis: Redis;
  readonly #r: RoarClient["r"];

  constructor(redis: Redis, { r }: RoarClient) {
    this.#redis = redis;
    this.#r = r;
  }

  /**
   * Gives a user tags, or takes them away. The transaction changes both directions or neither. In a cluster its keys would have to be in
   * one slot: there, write the users of tags first and let a job repair the tags of users.
   */
  async set(user: number, tags: readonly number[], has = true): Promise<void> {
    if (tags.length === 0) return;
    const transaction = this.#redis.multi();
    for (const tag of tags) transaction.call("R.SETBIT", usersOf(tag), user, has ? 1 : 0);
    transaction.call(has ? "R.SETBITS" : "R.CLEARBITS", tagsOf(user), ...tags);
    if (has) transaction.call("R.SETBIT", EVERYBODY, user, 1);
    const replies = await transaction.exec();
    for (const [error] of replies!) if (error) throw error;
  }

  /** Makes a user known who may have no tags. */
  async add(user: number): Promise<void> {
    await this.#r.setBit(EVERYBODY, user, 1);
  }

  async has(user: number, tag: number): Promise<boolean> {
    return await this.#r.getBit(usersOf(tag), user) === 1;
  }

  async tagsOf(user: number): Promise<number[]> {
    return this.#r.getIntArray(tagsOf(user));
  }

  async usersOf(tag: number, options: { from?: number; limit?: number } = {}): Promise<number[]> {
    return this.#r.queryMembers("#1", [usersOf(tag)], options);
  }

  /** Users without a tag: the complement of a bitmap would also have those who are no users. */
  async usersWithout(tag: number): Promise<number[]> {
    return this.#r.queryMembers("#1 - #2", [EVERYBODY, usersOf(tag)]);
  }

  /** How many users a segment has: an expression over tags, `#1` being the first of `tags`. */
  async size(segment: string, tags: readonly number[]): Promise<number> {
    return this.#r.queryCard(segment, tags.map(usersOf));
  }

  /** The users of a segment, page by page. */
  pages(segment: string, tags: readonly number[], count = 1000): AsyncIterable<number[]> {
    return this.#r.queryPages(segment, tags.map(usersOf), { count });
  }

  /** How alike two tags are: users in common, divided by users of either. */
  async likeness(one: number, other: number): Promise<number> {
    return await this.#r.jaccard(usersOf(one), usersOf(other)) ?? 0;
  }

  /** Which of `among` most users of a segment have. The segment is stored once and counted against each tag, in one round trip. */
  async topTags(segment: string, tags: readonly number[], among: readonly number[], top: number): Promise<Share[]> {
    const stored = "segment:asked", asked = this.#redis.pipeline();
    await this.#r.queryStore(stored, segment, tags.map(usersOf));
    for (const tag of among) asked.call("R.BITOPCARD", "AND", stored, usersOf(tag));
    const replies = await asked.exec();
    await this.#redis.unlink(stored);
    return among.map((tag, n) => ({ tag, users: Number(replies![n]![1]) }))
      .sort((a, b) => b.users - a.users || a.tag - b.tag).slice(0, top);
  }

  static readonly keys = { usersOf, tagsOf, everybody: EVERYBODY };
}
