// A bitmap that is spread over a cluster: one key for each range of `width` offsets. Offsets in a shard are those of the whole bitmap.

import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { OutOfRange } from "../errors.js";
import { type Count, type Family, integer, type Member, type Offset } from "../family.js";
import type { PageOptions } from "../paging.js";
import type { Transport } from "../transport.js";
import type { Bit, Key } from "../types.js";
import { fanOut, keyCall } from "./fan-out.js";
import { Geometry, type ShardingOptions } from "./geometry.js";
import { type Container, CONTAINER_OFFSETS, containersOf, payloadOf } from "./payload.js";
import { Expression } from "./expression.js";
import { firstOf, pages } from "./reading.js";

export type { ShardingOptions } from "./geometry.js";

type Operation = Parameters<Calls<Member>["bitOp"]>[0];

/** Shards that `copyFrom` copies at the same time. */
const COPIED_AT_ONCE = 8;

/**
 * A bitmap in pieces. Methods that concern several shards send all commands at the same time, and reject with `ShardsFailed` if some fail, once
 * all are through; so do methods that concern one. They are not atomic over shards.
 */
export class ShardedBitmap<M extends Member> {
  readonly #calls: Calls<M>;
  readonly #transport: Transport;
  readonly #geometry: Geometry;

  /** For `sharded` of {@link Bitmaps}. Throws {@link OutOfRange}. */
  constructor(calls: Calls<M>, transport: Transport, name: string, options: ShardingOptions) {
    this.#calls = calls;
    this.#transport = transport;
    this.#geometry = new Geometry(calls.family as Family<Member>, name, options);
  }

  /** Offsets in a shard. */
  get width(): bigint {
    return this.#geometry.width;
  }

  /** How many shards there are. */
  get shards(): number {
    return this.#geometry.shards;
  }

  /**
   * The key of a shard, `name:{shard}`. O(1). See docs/cluster.md.
   */
  keyOf(shard: number): string {
    return this.#geometry.keyOf(shard);
  }

  /**
   * The shard of an offset. Throws {@link OutOfRange} beyond the last shard. O(1). See docs/cluster.md.
   */
  shardOf(offset: Offset<M>): number {
    return this.#geometry.shardOf(this.#offset(offset));
  }

  // --- Bits --------------------------------------------------------------------------------------------------------------------

  /**
   * Sets or clears the bit at an offset.
   *
   * @returns The bit before.
   * @throws ShardsFailed, OutOfRange
   * @remarks O(log n), one command. See docs/commands.md#setbit.
   */
  async setBit(offset: Offset<M>, value: Bit): Promise<Bit> {
    const [bit] = await this.#each([this.shardOf(offset)], (shard) => this.#calls.setBit(this.keyOf(shard), offset, value));
    return bit!;
  }

  /**
   * The bit at an offset.
   *
   * @throws ShardsFailed, OutOfRange
   * @remarks O(log n), one command. See docs/commands.md#getbit.
   */
  async getBit(offset: Offset<M>): Promise<Bit> {
    const [bit] = await this.#each([this.shardOf(offset)], (shard) => this.#calls.getBit(this.keyOf(shard), offset));
    return bit!;
  }

  /**
   * Sets the bits at several offsets.
   *
   * @returns The number of bits that changed from 0 to 1.
   * @throws ShardsFailed, OutOfRange
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#setbits.
   */
  async setBits(offsets: Iterable<Offset<M>>): Promise<Count<M>> {
    const parts = this.#byShard(offsets);
    return this.#sum(await this.#each([...parts.keys()], (shard) => this.#calls.setBits(this.keyOf(shard), parts.get(shard)!)));
  }

  /**
   * Clears the bits at several offsets.
   *
   * @returns The number of bits that changed from 1 to 0.
   * @throws ShardsFailed, OutOfRange
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#clearbits.
   */
  async clearBits(offsets: Iterable<Offset<M>>): Promise<Count<M>> {
    const parts = this.#byShard(offsets);
    const counts = await this.#each([...parts.keys()], (shard) => this.#calls.clearBitsCount(this.keyOf(shard), parts.get(shard)!));
    return this.#sum(counts.map((count) => count ?? 0));
  }

  /**
   * The bits at several offsets, in their order.
   *
   * @throws ShardsFailed, OutOfRange
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#getbits.
   */
  async getBits(offsets: Iterable<Offset<M>>): Promise<Bit[]> {
    const list = [...offsets], parts = this.#byShard(list), shards = [...parts.keys()];
    const bits = await this.#each(shards, (shard) => this.#calls.getBits(this.keyOf(shard), parts.get(shard)!));
    const next = new Map(shards.map((shard, i) => [shard, bits[i]![Symbol.iterator]()]));
    return list.map((offset) => next.get(this.shardOf(offset))!.next().value ?? 0); // no bits from a missing key
  }

  // --- One bitmap --------------------------------------------------------------------------------------------------------------

  /**
   * The number of members.
   *
   * @throws ShardsFailed
   * @remarks O(1) for each shard. See docs/commands.md#bitcount.
   */
  async count(): Promise<Count<M>> {
    return this.#sum(await this.#counts(this.#geometry.all()));
  }

  /**
   * The smallest member, or null if the bitmap is empty.
   *
   * @throws ShardsFailed
   * @remarks O(log n) for each shard. See docs/commands.md#min.
   */
  async min(): Promise<M | null> {
    return (await this.#each(this.#geometry.all(), (shard) => this.#calls.min(this.keyOf(shard)))).find((member) => member !== null) ?? null;
  }

  /**
   * The largest member, or null if the bitmap is empty.
   *
   * @throws ShardsFailed
   * @remarks O(log n) for each shard. See docs/commands.md#max.
   */
  async max(): Promise<M | null> {
    return (await this.#each(this.#geometry.all(), (shard) => this.#calls.max(this.keyOf(shard)))).findLast((member) => member !== null) ?? null;
  }

  /**
   * The number of members less than or equal to an offset.
   *
   * @throws ShardsFailed, OutOfRange
   * @remarks O(log n) in the offset's shard, O(1) in each shard before it. See docs/commands.md#rank.
   */
  async rank(offset: Offset<M>): Promise<Count<M>> {
    const own = this.shardOf(offset);
    return this.#sum(await this.#each(this.#geometry.all(0, own), (shard) =>
      (shard === own ? this.#calls.rank(this.keyOf(shard), offset) : this.#calls.bitCount(this.keyOf(shard)))));
  }

  /**
   * The member with a rank, counted from 0, negative from the end; null if there is none. Two steps: a write between them can shift ranks.
   *
   * @throws ShardsFailed, OutOfRange
   * @remarks O(1) for each shard and O(log n) in one. See docs/commands.md#select.
   */
  async select(rank: Offset<M>): Promise<M | null> {
    const given = integer("rank", rank, -(2n ** 63n), this.#calls.family.last), counts = await this.#counts(this.#geometry.all());
    let left = given < 0n ? given + BigInt(this.#sum(counts)) : given;
    for (const [shard, count] of counts.entries()) {
      if (left < 0n) break;
      if (left < count) return (await this.#each([shard], () => this.#calls.select(this.keyOf(shard), this.#given(left))))[0]!;
      left -= BigInt(count);
    }
    return null;
  }

  /**
   * The members from `min` to `max` inclusive, in ascending order; with `limit` only the first so many.
   *
   * @throws ShardsFailed, OutOfRange
   * @remarks O(log n + m) for m members. With `limit`, it asks shards in order, 1, 2, 4 and so on at a time, until it has enough. See docs/commands.md#range.
   */
  async range(min: Offset<M>, max: Offset<M>, options: { limit?: number } = {}): Promise<M[]> {
    const { family } = this.#calls, low = integer("min", min, 0n, family.last), high = integer("max", max, 0n, family.last), { last } = this.#geometry;
    if (low > last || low > high) return [];
    const shards = this.#geometry.all(this.#geometry.shardOf(low), this.#geometry.shardOf(high < last ? high : last));
    return firstOf(shards, options.limit, (some, limit) => this.#each(some, (shard) => this.#calls.range(this.keyOf(shard), min, max, limit)));
  }

  /**
   * Reads all members in ascending order, page by page. A page is of one shard.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailed, OutOfRange
   * @remarks O(log n + m) for a page of m members. See docs/commands.md#scan.
   */
  scanPages(options: PageOptions<M> = {}): AsyncGenerator<M[], void, undefined> {
    const last = this.#given(this.#geometry.last);
    return this.#pages(options, (shard, from, limit) => this.#each([shard], () => this.#calls.range(this.keyOf(shard), from, last, { limit })));
  }

  /**
   * Reads all members in ascending order, one by one, and fetches them page by page.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailed, OutOfRange
   * @remarks O(log n + m) for a page of m members. See docs/commands.md#scan.
   */
  async* scanIterator(options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    for await (const page of this.scanPages(options)) yield* page;
  }

  // --- Several bitmaps ---------------------------------------------------------------------------------------------------------

  /**
   * Performs a set operation on bitmaps of the same width, and stores the result in this one.
   *
   * @param sources one or more; this bitmap may be among them
   * @param options `last`: for NOT, the offset up to which to invert; without it up to the source's largest member
   * @returns The number of members of the result.
   * @throws ShardsFailed; OutOfRange if a source has another width or more shards than this bitmap
   * @remarks O(n) in the size of each shard's sources. NOT asks for the source's largest member first. See docs/commands.md#bitop.
   */
  async bitOp(operation: Operation, sources: readonly ShardedBitmap<M>[], options: { last?: Offset<M> } = {}): Promise<Count<M>> {
    this.#check(sources);
    const all = this.#geometry.all();
    const combine = (shard: number, as: Operation): Call<Count<M>> => this.#calls.bitOp(as, this.keyOf(shard), sources.map((one) => one.keyOf(shard)));
    if (operation !== "NOT") {
      if (options.last !== undefined) throw new OutOfRange("invalid last: only NOT takes it");
      return this.#sum(await this.#each(all, (shard) => combine(shard, operation)));
    }
    if (sources.length !== 1) throw new OutOfRange("invalid sources: NOT takes one");
    const last = options.last === undefined ? -1n : this.#offset(options.last), max = BigInt(await sources[0]!.max() ?? -1), to = last > max ? last : max;
    return this.#sum(await this.#each(all, (shard) => {
      const { low, high } = this.#geometry.bounds(shard);
      if (low > to) return combine(shard, "OR"); // stores an empty bitmap, as the source has no members here
      return this.#calls.queryStore(this.keyOf(shard), `[${low}..${high < to ? high : to}] - #1`, [sources[0]!.keyOf(shard)]);
    }));
  }

  /**
   * The number of members of an expression, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @throws ShardsFailed; OutOfRange if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. `~` inverts up to the last shard's end. See docs/commands.md#query.
   */
  async queryCard(expression: string, others: readonly ShardedBitmap<M>[] = []): Promise<Count<M>> {
    const keys = this.#keys([this, ...others]);
    return this.#sum(await this.#evaluate(this.#geometry.all(), expression, (shard, text) => this.#calls.queryCard(text, keys(shard))));
  }

  /**
   * The members of an expression in ascending order, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @param options `from`: the first offset; `limit`: the most members to answer
   * @throws ShardsFailed; OutOfRange if another bitmap has another width or more shards
   * @remarks As {@link range}. See docs/commands.md#query.
   */
  async queryMembers(expression: string, others: readonly ShardedBitmap<M>[] = [], options: { from?: Offset<M>; limit?: number } = {}): Promise<M[]> {
    const from = integer("from", options.from ?? 0, 0n, this.#calls.family.last);
    if (from > this.#geometry.last) return [];
    const keys = this.#keys([this, ...others]);
    return firstOf(this.#geometry.all(this.#geometry.shardOf(from)), options.limit, (shards, limit) =>
      this.#evaluate(shards, expression, (shard, text) => this.#calls.queryMembers(text, keys(shard), { from: this.#given(from), ...limit })));
  }

  /**
   * Reads the members of an expression in ascending order, page by page. A page is of one shard.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailed; OutOfRange if another bitmap has another width or more shards
   * @remarks As {@link scanPages}. See docs/commands.md#query.
   */
  queryPages(expression: string, others: readonly ShardedBitmap<M>[] = [], options: PageOptions<M> = {}): AsyncGenerator<M[], void, undefined> {
    const keys = this.#keys([this, ...others]);
    return this.#pages(options, (one, from, limit) =>
      this.#evaluate([one], expression, (shard, text) => this.#calls.queryMembers(text, keys(shard), { from, limit })));
  }

  /**
   * Stores the members of an expression in this bitmap, in which `#1` is the first of the sources.
   *
   * @param sources one or more; this bitmap may be among them
   * @returns The number of members of the result.
   * @throws ShardsFailed; OutOfRange if a source has another width or more shards than this bitmap
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#querystore.
   */
  async queryStore(expression: string, sources: readonly ShardedBitmap<M>[]): Promise<Count<M>> {
    const keys = this.#keys(sources);
    return this.#sum(await this.#evaluate(this.#geometry.all(), expression, (shard, text) =>
      this.#calls.queryStore(this.keyOf(shard), text, keys(shard))));
  }

  /**
   * The size of the intersection with another bitmap divided by that of the union, or null if both are empty.
   *
   * @throws ShardsFailed; OutOfRange if the other has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#jaccard.
   */
  async jaccard(other: ShardedBitmap<M>): Promise<number | null> {
    const keys = this.#keys([this, other]), all = this.#geometry.all();
    const [both, any] = await Promise.all((["AND", "OR"] as const).map(async (operation) =>
      this.#sum(await this.#each(all, (shard) => this.#calls.bitOpCard(operation, keys(shard))))));
    return BigInt(any!) === 0n ? null : Number(both) / Number(any);
  }

  // --- Whole bitmaps -----------------------------------------------------------------------------------------------------------

  /**
   * The bitmap in the portable Roaring format, as if it were one key.
   *
   * @throws ShardsFailed
   * @remarks O(n). All of it is in this process's memory. See docs/commands.md#export.
   */
  async export(): Promise<Buffer> {
    const payloads = await this.#each(this.#geometry.all(), (shard) => this.#calls.export(this.keyOf(shard))), { family } = this.#calls;
    return payloadOf(family, payloads.flatMap((payload) => (payload === null ? [] : containersOf(family, payload))));
  }

  /**
   * Adds the members of a bitmap in the portable Roaring format. Each shard is sent its part.
   *
   * @param options `replace`: the payload replaces the bitmap
   * @returns The number of members after the import.
   * @throws ShardsFailed, BadPayload; OutOfRange if members are beyond the last shard
   * @remarks O(n). See docs/commands.md#import.
   */
  async import(payload: Uint8Array, options: { replace?: boolean } = {}): Promise<Count<M>> {
    const { family } = this.#calls, parts = new Map<number, Container[]>();
    for (const container of containersOf(family, Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength))) {
      const first = BigInt(container.key) * BigInt(CONTAINER_OFFSETS);
      const shard = this.#geometry.shardOf(integer("payload", first, 0n, this.#geometry.last)), part = parts.get(shard);
      if (part) part.push(container);
      else parts.set(shard, [container]);
    }
    return this.#sum(await this.#each<M | number>(this.#geometry.all(), (shard) => {
      const part = parts.get(shard), key = this.keyOf(shard);
      if (part) return this.#calls.import(key, payloadOf(family, part), options);
      return options.replace ? { ...keyCall("UNLINK", key), decode: () => 0 } : this.#calls.bitCount(key);
    }));
  }

  /**
   * Replaces the bitmap by that of an ordinary key, which may be in any slot and is not changed. Shards are copied one after the other, so it is no
   * snapshot if the key is written meanwhile.
   *
   * @param key a bitmap of the same family; a missing key is an empty bitmap
   * @returns The number of members.
   * @throws ShardsFailed, WrongType; OutOfRange if members are beyond the last shard, before anything is written
   * @remarks O(n). The payloads of a few shards at a time are in this process's memory. See docs/cluster.md.
   */
  async copyFrom(key: Key): Promise<Count<M>> {
    const [max] = await this.#each([0], () => this.#calls.max(key)), end = max === null ? -1 : this.#geometry.shardOf(integer("key", max!, 0n, this.#geometry.last));
    let sum = 0n;
    for (let from = 0; from <= end; from += COPIED_AT_ONCE) {
      const shards = this.#geometry.all(from, Math.min(end, from + COPIED_AT_ONCE - 1));
      const payloads = await this.#each(shards, (shard) => {
        const { low, high } = this.#geometry.bounds(shard);
        return this.#calls.queryExport(`#1 & [${low}..${high}]`, [key]);
      });
      const counts = await this.#each(shards, (shard) => this.#calls.import(this.keyOf(shard), payloads[shard - from]!, { replace: true }));
      sum += BigInt(this.#sum(counts));
    }
    await this.#each(this.#geometry.all(end + 1), (shard) => keyCall("UNLINK", this.keyOf(shard)));
    return this.#calls.family.member(sum);
  }

  /**
   * Sets the time to live of all shards that exist. A shard that is created later has none.
   *
   * @param seconds from now
   * @returns The number of shards that have it now.
   * @throws ShardsFailed, OutOfRange
   * @remarks O(1) for each shard. See docs/cluster.md.
   */
  async expire(seconds: number): Promise<number> {
    const text = String(integer("seconds", seconds, 0n, 2n ** 53n));
    return (await this.#each(this.#geometry.all(), (shard) => keyCall("EXPIRE", this.keyOf(shard), text))).filter(Boolean).length;
  }

  /**
   * Deletes all shards.
   *
   * @returns The number of shards that existed.
   * @throws ShardsFailed
   * @remarks O(1) for each shard; the server frees them in the background. See docs/cluster.md.
   */
  async delete(): Promise<number> {
    return (await this.#each(this.#geometry.all(), (shard) => keyCall("UNLINK", this.keyOf(shard)))).filter(Boolean).length;
  }

  // --- What methods share ------------------------------------------------------------------------------------------------------

  #each<T>(shards: readonly number[], make: (shard: number) => Call<T>): Promise<T[]> {
    return fanOut(this.#transport, this.#geometry, shards, make);
  }

  #counts(shards: readonly number[]): Promise<Count<M>[]> {
    return this.#each(shards, (shard) => this.#calls.bitCount(this.keyOf(shard)));
  }

  #sum(counts: readonly (bigint | number)[]): Count<M> {
    return this.#calls.family.member(counts.reduce<bigint>((sum, count) => sum + BigInt(count), 0n));
  }

  /** An offset within the shards. */
  #offset(offset: Offset<M>): bigint {
    return integer("offset", offset, 0n, this.#geometry.last);
  }

  /** An integer as the family's methods take it. */
  #given(value: bigint): Offset<M> {
    return this.#calls.family.member(value) as unknown as Offset<M>;
  }

  #byShard(offsets: Iterable<Offset<M>>): Map<number, Offset<M>[]> {
    const parts = new Map<number, Offset<M>[]>();
    for (const offset of offsets) {
      const shard = this.shardOf(offset), part = parts.get(shard);
      if (part) part.push(offset);
      else parts.set(shard, [offset]);
    }
    return parts;
  }

  /** Refuses bitmaps whose shards are not this one's. */
  #check(bitmaps: readonly ShardedBitmap<M>[]): void {
    for (const { width, shards } of bitmaps) {
      if (width !== this.width) throw new OutOfRange(`invalid sources: one has the width ${width}, and this bitmap ${this.width}`);
      if (shards > this.shards) throw new OutOfRange(`invalid sources: one has ${shards} shards, and this bitmap ${this.shards}`);
    }
  }

  #keys(bitmaps: readonly ShardedBitmap<M>[]): (shard: number) => string[] {
    this.#check(bitmaps);
    return (shard) => bitmaps.map((one) => one.keyOf(shard));
  }

  /** Sends the calls for an expression, each with the text for its shard. */
  async #evaluate<T>(shards: readonly number[], text: string, make: (shard: number, text: string) => Call<T>): Promise<T[]> {
    const expression = new Expression(text);
    try {
      return await this.#each(shards, (shard) => make(shard, expression.within(this.#geometry.bounds(shard))));
    } catch (error) {
      throw expression.mistakeIn(error) ?? error;
    }
  }

  #pages(
    { from, count }: PageOptions<M>, ask: (shard: number, from: Offset<M>, limit: number) => Promise<M[][]>,
  ): AsyncGenerator<M[], void, undefined> {
    return pages(this.#geometry, from === undefined ? 0n : this.#offset(from), count, async (shard, at, limit) =>
      (await ask(shard, this.#given(at), limit))[0]!);
  }
}
