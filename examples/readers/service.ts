// Unique readers of articles, exactly: a dictionary gives string ids integers, which all articles share, and each article has a bitmap of
// them.

import { type Cluster, type Redis } from "ioredis";
import { LocalBitmap, R, type RoarClient } from "redis-roar-client";

const TABLE = "reader:ids";
const articleKey = (article: number): string => `readers:${article}`;

export class Readers {
  readonly #redis: Redis | Cluster;
  readonly #r: RoarClient["r"];

  constructor(redis: Redis | Cluster, { r }: RoarClient) {
    this.#redis = redis;
    this.#r = r;
  }

  /** The integers of users. New users get the next ones, in the order of `ids`. */
  async integersOf(ids: readonly string[]): Promise<number[]> {
    if (ids.length === 0) return [];
    return (await this.#redis.call("RN.ADD", TABLE, ...ids) as (number | string)[]).map(Number);
  }

  /**
   * Users have read an article. Returns how many of them had not read it before. If it rejects, it is unknown whether the readers were
   * added: call it again, because adding a reader twice changes nothing.
   */
  async read(article: number, ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    return this.#r.setBits(articleKey(article), await this.integersOf(ids));
  }

  /** How many different users have read an article. */
  async readersOf(article: number): Promise<number> {
    return this.#r.bitCount(articleKey(article));
  }

  /** How many have read both. In a cluster two articles are on two nodes, so their bitmaps are fetched and combined here. */
  async readersOfBoth(one: number, other: number): Promise<number> {
    if (!this.#redis.isCluster) return this.#r.bitOpCard("AND", [articleKey(one), articleKey(other)]);
    const fetched = async (article: number): Promise<LocalBitmap<number>> => LocalBitmap.read(R, await this.#r.export(articleKey(article)));
    const [first, second] = await Promise.all([fetched(one), fetched(other)]);
    return first.and(second).size;
  }

  /** Which of these users have read an article. Users without an integer have read nothing; asking does not give them one. */
  async haveRead(article: number, ids: readonly string[]): Promise<boolean[]> {
    if (ids.length === 0) return [];
    const integers = await this.#redis.call("RN.ID", TABLE, ...ids) as (number | string | null)[];
    const known = integers.filter((integer) => integer !== null).map(Number);
    const bits = (known.length > 0 ? await this.#r.getBits(articleKey(article), known) : [])[Symbol.iterator]();
    return integers.map((integer) => integer !== null && bits.next().value === 1);
  }

  /** The keys that the service writes for articles, and for all of them. */
  static readonly keys = { article: articleKey, table: TABLE };
}
