// Unique readers of articles, exactly: string ids become integers that all articles share, and each article has a bitmap of them.

import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import type { RoarClient } from "redis-roar-client";

const TABLE = "{reader}:id", LAST = "{reader}:last", LIBRARY = new URL("ids.lua", import.meta.url);
const articleKey = (article: number): string => `readers:${article}`;

export class Readers {
  readonly #redis: Redis;
  readonly #r: RoarClient["r"];

  constructor(redis: Redis, { r }: RoarClient) {
    this.#redis = redis;
    this.#r = r;
  }

  /** Loads the functions that the service needs into the server. Once for each server. */
  async install(): Promise<void> {
    await this.#redis.function("LOAD", "REPLACE", readFileSync(LIBRARY, "utf8"));
  }

  /** The integers of users. New users get the next ones, in the order of `ids`. */
  async integersOf(ids: readonly string[]): Promise<number[]> {
    return (await this.#redis.fcall("ids_of", 2, TABLE, LAST, ...ids) as string[]).map(Number);
  }

  /** Users have read an article. Returns how many of them had not read it before. */
  async read(article: number, ids: readonly string[]): Promise<number> {
    return this.#r.setBits(articleKey(article), await this.integersOf(ids));
  }

  /** How many different users have read an article. */
  async readersOf(article: number): Promise<number> {
    return this.#r.bitCount(articleKey(article));
  }

  /** How many have read both. */
  async readersOfBoth(one: number, other: number): Promise<number> {
    return this.#r.bitOpCard("AND", [articleKey(one), articleKey(other)]);
  }

  /** Which of these users have read an article. */
  async haveRead(article: number, ids: readonly string[]): Promise<boolean[]> {
    return (await this.#r.getBits(articleKey(article), await this.integersOf(ids))).map((bit) => bit === 1);
  }

  /** The keys that the service writes for articles, and for all of them. */
  static readonly keys = { article: articleKey, table: TABLE };
}
