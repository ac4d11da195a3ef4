// The methods on the members of one sharded bitmap.

import { type Call, listed } from "../call.js";
import { type Count, integer, type Member, type Offset } from "../family.js";
import type { PageOptions } from "../paging.js";
import type { Bit, List } from "../types.js";
import { firstOf } from "./reading.js";
import { Shards } from "./shards.js";

/** The part of {@link ShardedBitmap} that is about one bitmap's members. */
export abstract class ShardedMembers<M extends Member> extends Shards<M> {
  // --- Bits --------------------------------------------------------------------------------------------------------------------

  /**
   * Sets or clears the bit at an offset.
   *
   * @returns The bit before.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n), one command. See docs/commands.md#setbit.
   */
  async setBit(offset: Offset<M>, value: Bit): Promise<Bit> {
    const [bit] = await this.each([this.shardOf(offset)], (shard) => this.calls.setBit(this.keyOf(shard), offset, value));
    return bit!;
  }

  /**
   * The bit at an offset.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n), one command. See docs/commands.md#getbit.
   */
  async getBit(offset: Offset<M>): Promise<Bit> {
    const [bit] = await this.each([this.shardOf(offset)], (shard) => this.calls.getBit(this.keyOf(shard), offset));
    return bit!;
  }

  /**
   * Sets the bits at several offsets.
   *
   * @returns The number of bits that changed from 0 to 1.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#setbits.
   */
  async setBits(offsets: List<Offset<M>>): Promise<Count<M>> {
    const parts = this.byShard(offsets);
    return this.sum(await this.each([...parts.keys()], (shard) => this.calls.setBits(this.keyOf(shard), parts.get(shard)!)));
  }

  /**
   * Clears the bits at several offsets.
   *
   * @returns The number of bits that changed from 1 to 0.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#clearbits.
   */
  async clearBits(offsets: List<Offset<M>>): Promise<Count<M>> {
    const parts = this.byShard(offsets);
    const counts = await this.each([...parts.keys()], (shard) => this.calls.clearBitsCount(this.keyOf(shard), parts.get(shard)!));
    return this.sum(counts.map((count) => count ?? 0));
  }

  /**
   * The bits at several offsets, in their order.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#getbits.
   */
  async getBits(offsets: List<Offset<M>>): Promise<Bit[]> {
    const list = [...listed("offsets", offsets)], parts = this.byShard(list), shards = [...parts.keys()];
    const bits = await this.each(shards, (shard) => this.calls.getBits(this.keyOf(shard), parts.get(shard)!));
    const next = new Map(shards.map((shard, i) => [shard, bits[i]![Symbol.iterator]()]));
    return list.map((offset) => next.get(this.shardOf(offset))!.next().value!);
  }

  // --- One bitmap --------------------------------------------------------------------------------------------------------------

  /**
   * The number of members.
   *
   * @throws ShardsFailedError
   * @remarks O(1) for each shard. See docs/commands.md#bitcount.
   */
  async count(): Promise<Count<M>> {
    return this.sum(await this.counts(this.geometry.all()));
  }

  /**
   * The smallest member, or null if the bitmap is empty.
   *
   * @throws ShardsFailedError
   * @remarks O(log n) for each shard. See docs/commands.md#min.
   */
  async min(): Promise<M | null> {
    const all = await this.each(this.geometry.all(), (shard) => this.calls.min(this.keyOf(shard)));
    return all.find((member) => member !== null) ?? null;
  }

  /**
   * The largest member, or null if the bitmap is empty.
   *
   * @throws ShardsFailedError
   * @remarks O(log n) for each shard. See docs/commands.md#max.
   */
  async max(): Promise<M | null> {
    const all = await this.each(this.geometry.all(), (shard) => this.calls.max(this.keyOf(shard)));
    return all.findLast((member) => member !== null) ?? null;
  }

  /**
   * The number of members less than or equal to an offset.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) in the offset's shard, O(1) in each shard before it. See docs/commands.md#rank.
   */
  async rank(offset: Offset<M>): Promise<Count<M>> {
    const own = this.shardOf(offset);
    return this.sum(await this.each(this.geometry.all(0, own), (shard) =>
      (shard === own ? this.calls.rank(this.keyOf(shard), offset) : this.calls.bitCount(this.keyOf(shard)))));
  }

  /**
   * The member with a rank, counted from 0, negative from the end; null if there is none. Two steps: a write between them can shift ranks.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each shard and O(log n) in one. See docs/commands.md#select.
   */
  async select(rank: Offset<M>): Promise<M | null> {
    const given = integer("rank", rank, -(2n ** 63n), this.calls.family.last), counts = await this.counts(this.geometry.all());
    let left = given < 0n ? given + BigInt(this.sum(counts)) : given;
    for (const [shard, count] of counts.entries()) {
      if (left < 0n) break;
      if (left < count) return (await this.each([shard], () => this.calls.select(this.keyOf(shard), this.given(left))))[0]!;
      left -= BigInt(count);
    }
    return null;
  }

  /**
   * The members from `min` to `max` inclusive, in ascending order; with `limit` only the first so many.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for m members. With `limit`, it asks shards in order, 1, 2, 4 and so on at a time, until it has enough.
   * See docs/commands.md#range.
   */
  async range(min: Offset<M>, max: Offset<M>, options: { limit?: number | undefined } = {}): Promise<M[]> {
    const { family } = this.calls, { last } = this.geometry;
    const low = integer("min", min, 0n, family.last), high = integer("max", max, 0n, family.last);
    if (low > last || low > high) return [];
    const shards = this.geometry.all(this.geometry.shardOf(low), this.geometry.shardOf(high < last ? high : last));
    const ask = (shard: number, limit: { limit?: number | undefined }): Call<M[]> => this.calls.range(this.keyOf(shard), min, max, limit);
    return firstOf(shards, options.limit, (some, limit) => this.each(some, (shard) => ask(shard, limit)));
  }

  /**
   * Reads all members in ascending order, page by page. A page is of one shard.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for a page of m members. See docs/commands.md#scan.
   */
  scanPages(options: PageOptions<M> = {}): AsyncGenerator<M[], void, undefined> {
    const last = this.given(this.geometry.last);
    const ask = (shard: number, from: Offset<M>, limit: number): Call<M[]> => this.calls.range(this.keyOf(shard), from, last, { limit });
    return this.pages(options, (shard, from, limit) => this.each([shard], () => ask(shard, from, limit)));
  }

  /**
   * Reads all members in ascending order, one by one, and fetches them page by page.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for a page of m members. See docs/commands.md#scan.
   */
  async *scanIterator(options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    for await (const page of this.scanPages(options)) yield* page;
  }
}
