// A bitmap that is spread over a cluster: one key for each range of `width` offsets. Offsets in a shard are those of the whole bitmap.

import { inBuffer } from "../bytes.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { InvalidArgumentError } from "../errors.js";
import { type Count, integer, type Member, type Offset } from "../family.js";
import { type CallOptions, checkedOptions } from "../limits.js";
import type { PageOptions } from "../paging.js";
import type { MembersOptions } from "../query.js";
import type { Key } from "../types.js";
import { keyCall } from "./fan-out.js";
import { ShardedMembers } from "./members.js";
import { type Container, CONTAINER_OFFSETS, containersOf, payloadOf } from "./payload.js";
import { firstOf } from "./reading.js";

export type { ShardingOptions } from "./geometry.js";

type Operation = Parameters<Calls<Member>["bitOp"]>[0];

/** What NOT takes. */
interface NotOptions<M extends Member> {
  readonly last?: Offset<M> | undefined;
}

/** Shards that `copyFrom` copies at the same time. */
const COPIED_AT_ONCE = 8;

/**
 * A bitmap in pieces. Methods that concern several shards send all commands at the same time. If some fail, they reject with
 * `ShardsFailedError` once all are through; so do methods that concern one shard. They are not atomic over shards.
 */
export class ShardedBitmap<M extends Member> extends ShardedMembers<M> {
  /**
   * The same bitmap, whose calls end when a signal is aborted or a time is up.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for the commands that are sent together
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  with(options: CallOptions): ShardedBitmap<M> {
    return new ShardedBitmap(this.calls, this.transport, this.name, this.sharding, checkedOptions(options));
  }

  // --- Several bitmaps ---------------------------------------------------------------------------------------------------------

  /**
   * Performs a set operation on bitmaps of the same width, and stores the result in this one.
   *
   * @param sources one or more; this bitmap may be among them
   * @param options `last`: for NOT, the offset up to which to invert; without it up to the source's largest member
   * @returns The number of members of the result.
   * @throws ShardsFailedError; InvalidArgumentError if a source has another width or more shards than this bitmap
   * @remarks O(n) in the size of each shard's sources. NOT asks for the source's largest member first. See docs/commands.md#bitop.
   */
  async bitOp(operation: Operation, sources: readonly ShardedBitmap<M>[], options: NotOptions<M> = {}): Promise<Count<M>> {
    this.check(sources);
    const all = this.geometry.all();
    const combine = (shard: number, as: Operation): Call<Count<M>> =>
      this.calls.bitOp(as, this.keyOf(shard), sources.map((one) => one.keyOf(shard)));
    if (operation !== "NOT") {
      if (options.last !== undefined) throw new InvalidArgumentError("invalid last: only NOT takes it");
      return this.sum(await this.each(all, (shard) => combine(shard, operation)));
    }
    if (sources.length !== 1) throw new InvalidArgumentError("invalid sources: NOT takes one");
    const last = options.last === undefined ? -1n : this.within(options.last), max = BigInt(await sources[0]!.max() ?? -1);
    const to = last > max ? last : max;
    return this.sum(await this.each(all, (shard) => {
      const { low, high } = this.geometry.bounds(shard);
      if (low > to) return combine(shard, "OR"); // stores an empty bitmap, as the source has no members here
      return this.calls.queryStore(this.keyOf(shard), `[${low}..${high < to ? high : to}] - #1`, [sources[0]!.keyOf(shard)]);
    }));
  }

  /**
   * The number of members of an expression, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. `~` inverts up to the last shard's end. See docs/commands.md#query.
   */
  async queryCard(expression: string, others: readonly ShardedBitmap<M>[] = []): Promise<Count<M>> {
    const keys = this.keys([this, ...others]);
    return this.sum(await this.evaluate(this.geometry.all(), expression, (shard, text) => this.calls.queryCard(text, keys(shard))));
  }

  /**
   * The members of an expression in ascending order, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @param options `from`: the first offset; `limit`: the most members to answer
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks As {@link range}. See docs/commands.md#query.
   */
  async queryMembers(
    expression: string, others: readonly ShardedBitmap<M>[] = [], options: MembersOptions<M> = {},
  ): Promise<M[]> {
    const from = integer("from", options.from ?? 0, 0n, this.calls.family.last);
    if (from > this.geometry.last) return [];
    const keys = this.keys([this, ...others]);
    return firstOf(this.geometry.all(this.geometry.shardOf(from)), options.limit, (shards, limit) =>
      this.evaluate(shards, expression, (shard, text) => this.calls.queryMembers(text, keys(shard), { from: this.given(from), ...limit })));
  }

  /**
   * Reads the members of an expression in ascending order, page by page. A page is of one shard.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks As {@link scanPages}. See docs/commands.md#query.
   */
  queryPages(
    expression: string, others: readonly ShardedBitmap<M>[] = [], options: PageOptions<M> = {},
  ): AsyncGenerator<M[], void, undefined> {
    const keys = this.keys([this, ...others]);
    return this.pages(options, (one, from, limit) =>
      this.evaluate([one], expression, (shard, text) => this.calls.queryMembers(text, keys(shard), { from, limit })));
  }

  /**
   * The members of an expression in the portable Roaring format, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. All of it is in this process's memory. See docs/commands.md#query.
   */
  async queryExport(expression: string, others: readonly ShardedBitmap<M>[] = []): Promise<Uint8Array> {
    const keys = this.keys([this, ...others]);
    return this.joined(await this.evaluate(this.geometry.all(), expression, (shard, text) => this.calls.queryExport(text, keys(shard))));
  }

  /**
   * Stores the members of an expression in this bitmap, in which `#1` is the first of the sources.
   *
   * @param sources one or more; this bitmap may be among them
   * @returns The number of members of the result.
   * @throws ShardsFailedError; InvalidArgumentError if a source has another width or more shards than this bitmap
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#querystore.
   */
  async queryStore(expression: string, sources: readonly ShardedBitmap<M>[]): Promise<Count<M>> {
    const keys = this.keys(sources);
    return this.sum(await this.evaluate(this.geometry.all(), expression, (shard, text) =>
      this.calls.queryStore(this.keyOf(shard), text, keys(shard))));
  }

  /**
   * The size of the intersection with another bitmap divided by that of the union, or null if both are empty.
   *
   * @throws ShardsFailedError; InvalidArgumentError if the other has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#jaccard.
   */
  async jaccard(other: ShardedBitmap<M>): Promise<number | null> {
    const keys = this.keys([this, other]), all = this.geometry.all();
    const [both, any] = await Promise.all((["AND", "OR"] as const).map(async (operation) =>
      this.sum(await this.each(all, (shard) => this.calls.bitOpCard(operation, keys(shard))))));
    return BigInt(any!) === 0n ? null : Number(both) / Number(any);
  }

  // --- Whole bitmaps -----------------------------------------------------------------------------------------------------------

  /**
   * The bitmap in the portable Roaring format, as if it were one key.
   *
   * @throws ShardsFailedError
   * @remarks O(n). All of it is in this process's memory. See docs/commands.md#export.
   */
  async export(): Promise<Uint8Array> {
    return this.joined(await this.each(this.geometry.all(), (shard) => this.calls.export(this.keyOf(shard))));
  }

  protected joined(payloads: readonly (Uint8Array | null)[]): Uint8Array {
    const { family } = this.calls;
    return payloadOf(family, payloads.flatMap((payload) => (payload === null ? [] : containersOf(family, inBuffer(payload)))));
  }

  /**
   * Adds the members of a bitmap in the portable Roaring format. Each shard is sent its part.
   *
   * @param options `replace`: the payload replaces the bitmap
   * @returns The number of members after the import.
   * @throws ShardsFailedError, InvalidPayloadError; InvalidArgumentError if members are beyond the last shard
   * @remarks O(n). See docs/commands.md#import.
   */
  async import(payload: Uint8Array, options: { replace?: boolean | undefined } = {}): Promise<Count<M>> {
    const { family } = this.calls, parts = new Map<number, Container[]>();
    for (const container of containersOf(family, inBuffer(payload))) {
      const first = BigInt(container.key) * BigInt(CONTAINER_OFFSETS);
      const shard = this.geometry.shardOf(integer("payload", first, 0n, this.geometry.last)), part = parts.get(shard);
      if (part) part.push(container);
      else parts.set(shard, [container]);
    }
    return this.sum(await this.each<M | number>(this.geometry.all(), (shard) => {
      const part = parts.get(shard), key = this.keyOf(shard);
      if (part) return this.calls.import(key, payloadOf(family, part), options);
      return options.replace ? { ...keyCall("UNLINK", key), decode: () => 0 } : this.calls.bitCount(key);
    }));
  }

  /**
   * Replaces the bitmap by that of an ordinary key, which may be in any slot and is not changed. A few shards are copied at a time, so it
   * is no snapshot if the key is written meanwhile.
   *
   * @param key a bitmap of the same family; a missing key is an empty bitmap
   * @returns The number of members.
   * @throws ShardsFailedError, WrongTypeError; InvalidArgumentError if members are beyond the last shard, before anything is written
   * @remarks O(n). The payloads of a few shards at a time are in this process's memory. See docs/cluster.md.
   */
  async copyFrom(key: Key): Promise<Count<M>> {
    const [max] = await this.each([0], () => this.calls.max(key)), end = max === null ? -1 : this.geometry.shardOf(integer("key", max!, 0n, this.geometry.last));
    let sum = 0n;
    for (let from = 0; from <= end; from += COPIED_AT_ONCE) {
      const shards = this.geometry.all(from, Math.min(end, from + COPIED_AT_ONCE - 1));
      const payloads = await this.each(shards, (shard) => {
        const { low, high } = this.geometry.bounds(shard);
        return this.calls.queryExport(`#1 & [${low}..${high}]`, [key]);
      });
      const counts = await this.each(shards, (shard) => this.calls.import(this.keyOf(shard), payloads[shard - from]!, { replace: true }));
      sum += BigInt(this.sum(counts));
    }
    await this.each(this.geometry.all(end + 1), (shard) => keyCall("UNLINK", this.keyOf(shard)));
    return this.calls.family.member(sum);
  }

  /**
   * Sets the time to live of all shards that exist. A shard that is created later has none.
   *
   * @param seconds from now
   * @returns The number of shards that have it now.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each shard. See docs/cluster.md.
   */
  async expire(seconds: number): Promise<number> {
    const text = String(integer("seconds", seconds, 0n, 2n ** 53n));
    return (await this.each(this.geometry.all(), (shard) => keyCall("EXPIRE", this.keyOf(shard), text))).filter(Boolean).length;
  }

  /**
   * Deletes all shards.
   *
   * @returns The number of shards that existed.
   * @throws ShardsFailedError
   * @remarks O(1) for each shard; the server frees them in the background. See docs/cluster.md.
   */
  async delete(): Promise<number> {
    return (await this.each(this.geometry.all(), (shard) => keyCall("UNLINK", this.keyOf(shard)))).filter(Boolean).length;
  }
}
