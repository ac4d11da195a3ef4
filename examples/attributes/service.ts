// Attributes of videos: a bitmap for each attribute, with the ids of the videos that have it. No shards: a bitmap has no part for ids
// that it does not hold.

import type { Redis } from "ioredis";
import type { RoarClient } from "redis-roar-client";

const attributeKey = (attribute: string): string => `m:${attribute}`;

export class Attributes {
  readonly #redis: Redis;
  readonly #roar: RoarClient;

  constructor(redis: Redis, roar: RoarClient) {
    this.#redis = redis;
    this.#roar = roar;
  }

  /** Gives a video an attribute, or takes it away. Returns whether that changed anything. */
  async set(attribute: string, video: number, has = true): Promise<boolean> {
    return await this.#roar.r.setBit(attributeKey(attribute), video, has ? 1 : 0) !== (has ? 1 : 0);
  }

  /** Gives many videos an attribute. Returns how many did not have it. */
  async setAll(attribute: string, videos: readonly number[]): Promise<number> {
    return this.#roar.r.setBits(attributeKey(attribute), videos);
  }

  /** Gives videos an attribute that ends by itself, for all of them at the same time. */
  async setUntil(attribute: string, videos: readonly number[], end: Date): Promise<void> {
    await this.setAll(attribute, videos);
    await this.#redis.pexpireat(attributeKey(attribute), end.getTime());
  }

  async has(attribute: string, video: number): Promise<boolean> {
    return await this.#roar.r.getBit(attributeKey(attribute), video) === 1;
  }

  /** Those of these attributes that a video has, in one call. */
  async of(video: number, among: readonly string[]): Promise<string[]> {
    const bits = await this.#roar.r.mGetBit(video, among.map(attributeKey));
    return among.filter((_, n) => bits[n] === 1);
  }

  /** How many videos an expression over attributes holds, such as `#1 & #2 - #3`. */
  async count(expression: string, attributes: readonly string[]): Promise<number> {
    return this.#roar.r.queryCard(expression, attributes.map(attributeKey));
  }

  /** The attribute is gone, for all videos. The server frees its memory in the background. */
  async retire(attribute: string): Promise<void> {
    await this.#redis.unlink(attributeKey(attribute));
  }

  /**
   * Brings the shards of a native attribute together: bit i of `<prefix>:<n>` becomes video n x width + i. The server copies the bits;
   * nothing passes through the client. Returns how many videos the attribute has then. Running it again does no harm.
   */
  async bringTogether(attribute: string, prefix: string, shards: readonly number[], width: number): Promise<number> {
    const { r, pipeline } = this.#roar, key = attributeKey(attribute);
    for (let at = 0; at < shards.length; at += 1000) {
      const calls = shards.slice(at, at + 1000).map((shard) => r.calls.fromBitmap(key, `${prefix}:${shard}`, { offset: shard * width, merge: true }));
      for (const answer of await pipeline(calls)) if (answer.status === "rejected") throw answer.reason;
    }
    return r.bitCount(key);
  }

  static readonly keyOf = attributeKey;
}
