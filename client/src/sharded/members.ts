// The methods on the members of one sharded bitmap.

import { listed, mapped } from "../call.js";
import type { Calls } from "../calls.js";
import { InvalidArgumentError } from "../errors.js";
import { type Count, integer, type Member, type Offset } from "../family.js";
import type { CallOptions } from "../limits.js";
import { oneByOne, type PageOptions, pageSize } from "../paging.js";
import type { Transport } from "../transport.js";
import type { Bit, List } from "../types.js";
import { drawn } from "./drawing.js";
import type { ShardingOptions } from "./layout.js";
import { type Ask, type AskForRuns, firstOf, pagesOf, type Part, partsOf, runsOf, sorted } from "./reading.js";
import { Shards } from "./shards.js";

/** The part of {@link ShardedBitmap} that is about one bitmap's members. */
export abstract class ShardedMembers<M extends Member> extends Shards<M> {
  protected readonly calls: Calls<M>;

  constructor(calls: Calls<M>, transport: Transport, name: string, sharding: ShardingOptions, options?: CallOptions) {
    super(calls.family, transport, name, sharding, options);
    this.calls = calls;
  }

  // --- Bits --------------------------------------------------------------------------------------------------------------------

  /**
   * Sets or clears the bit at an offset.
   *
   * @returns The bit before.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n), one command. See docs/commands.md#setbit.
   */
  async setBit(offset: Offset<M>, value: Bit): Promise<Bit> {
    const [bit] = await this.each([this.shardOf(offset)], (shard) => this.calls.setBit(this.keyOf(shard), this.local(offset), value));
    return bit!;
  }

  /**
   * The bit at an offset.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n), one command. See docs/commands.md#getbit.
   */
  async getBit(offset: Offset<M>): Promise<Bit> {
    const [bit] = await this.each([this.shardOf(offset)], (shard) => this.calls.getBit(this.keyOf(shard), this.local(offset)));
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
    return this.added("offsets", offsets, this.place, (shard, part) => this.calls.setBits(this.keyOf(shard), part));
  }

  /**
   * Clears the bits at several offsets.
   *
   * @returns The number of bits that changed from 1 to 0.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#clearbits.
   */
  async clearBits(offsets: List<Offset<M>>): Promise<Count<M>> {
    return this.added("offsets", offsets, this.place, (shard, part) => this.calls.clearBitsCount(this.keyOf(shard), part));
  }

  /**
   * The bits at several offsets, in their order.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m log n) for m offsets, one command for each shard that has some. See docs/commands.md#getbits.
   */
  async getBits(offsets: List<Offset<M>>): Promise<Bit[]> {
    return this.ordered("offsets", offsets, this.place, (shard, part) => this.calls.getBits(this.keyOf(shard), part));
  }

  // --- One bitmap --------------------------------------------------------------------------------------------------------------

  /**
   * The number of members.
   *
   * @throws ShardsFailedError
   * @remarks O(1) for each shard. See docs/commands.md#bitcount.
   */
  async count(): Promise<Count<M>> {
    return this.total(await this.counts(this.layout.all()));
  }

  /**
   * The smallest member, or null if the bitmap is empty.
   *
   * @throws ShardsFailedError
   * @remarks O(log n) for each shard. See docs/commands.md#min.
   */
  async min(): Promise<M | null> {
    return this.#extreme(await this.each(this.layout.all(), (shard) => this.calls.min(this.keyOf(shard))), (a, b) => a < b);
  }

  /**
   * The largest member, or null if the bitmap is empty.
   *
   * @throws ShardsFailedError
   * @remarks O(log n) for each shard. See docs/commands.md#max.
   */
  async max(): Promise<M | null> {
    return this.#extreme(await this.each(this.layout.all(), (shard) => this.calls.max(this.keyOf(shard))), (a, b) => a > b);
  }

  /** The first in order of the shards' own ones. */
  #extreme(locals: readonly (M | null)[], isBefore: (a: M, b: M) => boolean): M | null {
    let first: M | null = null;
    for (const [shard, local] of locals.entries()) {
      if (local === null) continue;
      const member = this.global(shard, local);
      if (first === null || isBefore(member, first)) first = member;
    }
    return first;
  }

  /**
   * The number of members less than or equal to an offset.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) in the offset's shard, O(1) in each shard before it. See docs/commands.md#rank.
   */
  async rank(offset: Offset<M>): Promise<Count<M>> {
    return this.total(await this.#ranks(this.within(offset)));
  }

  /**
   * The member with a rank, counted from 0, negative from the end; null if there is none. Two steps: a write between them can shift ranks.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks By range, O(1) for each shard and O(log n) in one. By hash, it asks all shards some times, O(log n) each. See
   * docs/commands.md#select.
   */
  async select(rank: Offset<M>): Promise<M | null> {
    const given = integer("rank", rank, -(2n ** 63n), this.calls.family.last), counts = await this.counts(this.layout.all());
    let left = given < 0n ? given + BigInt(this.total(counts)) : given;
    if (left < 0n || left >= BigInt(this.total(counts))) return null;
    if (this.width === undefined) return this.#search(left, counts);
    for (const [shard, count] of counts.entries()) {
      if (left < count) return (await this.each([shard], () => this.calls.select(this.keyOf(shard), this.given(left))))[0]!;
      left -= BigInt(count);
    }
    return null;
  }

  /**
   * The members from `min` to `max` inclusive, in ascending order, with `rev` in descending order; with `limit` only the first so many.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for m members. With `limit`, it asks shards in order, 1, 2, 4 and so on at a time, until it has enough.
   * See docs/commands.md#range.
   */
  async range(min: Offset<M>, max: Offset<M>, options: { rev?: boolean | undefined; limit?: number | undefined } = {}): Promise<M[]> {
    const limit = options.limit === undefined ? undefined : Number(integer("limit", options.limit, 0n, 2n ** 53n));
    return firstOf(this.calls.family, this.layout, this.#between(min, max), limit, this.askForMembers, options.rev);
  }

  /**
   * The runs of consecutive members from `min` to `max` inclusive, each as its first and last member, in ascending order; with `limit` only
   * the first so many. Runs over several shards are one.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks By range, O(log n + m) for the containers of m runs; with `limit`, it asks shards in order, 1, 2, 4 and so on at a time. By
   * hash, a run is in all shards, so it reads the members. See docs/commands.md#ranges.
   */
  async ranges(min: Offset<M>, max: Offset<M>, options: { limit?: number | undefined } = {}): Promise<[first: M, last: M][]> {
    const limit = options.limit === undefined ? Infinity : Number(integer("limit", options.limit, 0n, 2n ** 53n));
    return runsOf(this.calls.family, this.layout, this.#between(min, max), limit, this.askForMembers, this.askForRuns);
  }

  /**
   * The number of members in each of several ranges.
   *
   * @param ranges pairs of a first and a last offset, one at least
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) for each range, one command for each shard that some range meets. See docs/commands.md#counts.
   */
  async rangeCounts(ranges: List<readonly [min: Offset<M>, max: Offset<M>]>): Promise<Count<M>[]> {
    const sums: bigint[] = [], parts = new Map<number, { at: number; low: bigint; high: bigint }[]>();
    for (const [min, max] of listed("ranges", ranges)) {
      const at = sums.push(0n) - 1;
      for (const { shard, low, high } of this.#between(min, max)) parts.set(shard, [...parts.get(shard) ?? [], { at, low, high }]);
    }
    if (sums.length === 0) throw new InvalidArgumentError("invalid ranges: there is none");
    const shards = [...parts.keys()], counts = await this.each(shards, (shard) =>
      this.calls.rangeCounts(this.keyOf(shard), parts.get(shard)!.map(({ low, high }) => [this.given(low), this.given(high)])));
    for (const [i, shard] of shards.entries()) {
      for (const [j, { at }] of parts.get(shard)!.entries()) sums[at]! += BigInt(counts[i]![j]!);
    }
    return sums.map((sum) => this.calls.family.member(sum));
  }

  /**
   * Removes a member at random, and returns it; null if the bitmap is empty. Every member is equally likely.
   *
   * @throws ShardsFailedError
   * @remarks O(1) for each shard, then O(log n) in one. See docs/commands.md#randpop.
   */
  async randPop(): Promise<M | null> {
    for (;;) {
      const sizes = await this.#sizesOfShards(), [shard] = drawn(sizes, 1n).keys();
      if (shard === undefined) return null;
      const [local] = await this.each([shard], () => this.calls.randPop(this.keyOf(shard)));
      if (local !== null) return this.global(shard, local!);
      // Somebody has emptied the shard meanwhile; others may have members.
    }
  }

  /**
   * Removes several members at random, and returns them in ascending order. Every set of so many members is equally likely. A shard refuses
   * to give more than 100,000 unless it gives all. Two steps: a shard that loses members between them can give fewer.
   *
   * @param count the most members to answer
   * @throws InvalidArgumentError; ShardsFailedError, whose `done` has the members that other shards have lost
   * @remarks O(1) for each shard, then O(k log n) for k members. See docs/commands.md#randpop.
   */
  async randPops(count: number): Promise<M[]> {
    const most = integer("count", count, 0n, 2n ** 53n), shares = drawn(await this.#sizesOfShards(), most), shards = [...shares.keys()];
    const taken = await this.each(shards, (shard) =>
      mapped(this.calls.randPops(this.keyOf(shard), shares.get(shard)!), (locals) => locals.map((local) => this.global(shard, local))));
    return sorted(this.calls.family, taken.flat());
  }

  async #sizesOfShards(): Promise<bigint[]> {
    return (await this.counts(this.layout.all())).map(BigInt);
  }

  /** The parts of the range from `min` to `max`. */
  #between(min: Offset<M>, max: Offset<M>): Part[] {
    const { family } = this.calls, low = integer("min", min, 0n, family.last), high = integer("max", max, 0n, family.last);
    return low > high ? [] : partsOf(this.layout, low, high);
  }

  /**
   * Reads all members in ascending order, page by page. A page is of one shard.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for a page of m members. See docs/commands.md#scan.
   */
  async *scanPages({ from, count }: PageOptions<M> = {}): AsyncGenerator<M[], void, undefined> {
    const size = pageSize(count), parts = partsOf(this.layout, from === undefined ? 0n : this.within(from), this.layout.last);
    yield* pagesOf(this.calls.family, this.layout, parts, size, this.askForMembers);
  }

  /**
   * Reads all members in ascending order, one by one, and fetches them page by page.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for a page of m members. See docs/commands.md#scan.
   */
  scanIterator(options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    return oneByOne(this.scanPages(options));
  }

  /** How many members up to an offset each shard has. */
  #ranks(offset: bigint): Promise<Count<M>[]> {
    const parts = new Map(partsOf(this.layout, 0n, offset).map((part) => [part.shard, part.high]));
    return this.each([...parts.keys()], (shard) => {
      const high = parts.get(shard)!, whole = this.layout.within(shard, 0n, this.layout.last)!.high === high;
      return whole ? this.calls.bitCount(this.keyOf(shard)) : this.calls.rank(this.keyOf(shard), this.given(high));
    });
  }

  /**
   * The member with a rank among shards with offsets from everywhere. In each step one shard names the member that is about there, and all
   * count how many of their members are not after it.
   */
  async #search(rank: bigint, counts: readonly Count<M>[]): Promise<M | null> {
    const windows = counts.map((count) => ({ low: 0n, high: BigInt(count) })); // ranks in each shard that can still be the one
    for (;;) {
      const size = ({ low, high }: { low: bigint; high: bigint }): bigint => high - low;
      const before = windows.reduce((sum, { low }) => sum + low, 0n), total = windows.reduce((sum, window) => sum + size(window), 0n);
      if (total <= 0n) return null; // members were removed meanwhile
      const widest = windows.reduce((best, window, shard) => (size(window) > size(windows[best]!) ? shard : best), 0);
      const { low, high } = windows[widest]!, guess = low + (rank - before) * (high - low) / total;
      const at = this.given(guess < low ? low : guess >= high ? high - 1n : guess);
      const [local] = await this.each([widest], () => this.calls.select(this.keyOf(widest), at));
      if (local === null) return null;
      const pivot = this.global(widest, local!), ranks = new Array<bigint>(windows.length).fill(0n);
      const parts = partsOf(this.layout, 0n, BigInt(pivot)), found = await this.#ranks(BigInt(pivot));
      for (const [i, { shard }] of parts.entries()) ranks[shard] = BigInt(found[i]!);
      const upTo = ranks.reduce((sum, one) => sum + one, 0n);
      if (upTo === rank + 1n) return pivot;
      for (const [shard, window] of windows.entries()) {
        const bound = ranks[shard]! - (upTo > rank && shard === widest ? 1n : 0n);
        if (upTo <= rank) window.low = bound > window.low ? bound : window.low;
        else window.high = bound < window.high ? bound : window.high;
      }
    }
  }

  // --- What other methods ask ------------------------------------------------------------------------------------------------------

  protected counts(shards: readonly number[]): Promise<Count<M>[]> {
    return this.each(shards, (shard) => this.calls.bitCount(this.keyOf(shard)));
  }

  /** Asks for the members of this bitmap. */
  protected readonly askForMembers: Ask<M> = (parts, limit, down) => {
    const bounds = new Map(parts.map((part) => [part.shard, part]));
    return this.each([...bounds.keys()], (shard) => {
      const { low, high } = bounds.get(shard)!;
      return this.calls.range(this.keyOf(shard), this.given(low), this.given(high), { rev: down, limit });
    });
  };

  /** Asks for the runs of members of this bitmap. */
  protected readonly askForRuns: AskForRuns<M> = (parts, limit) => {
    const bounds = new Map(parts.map((part) => [part.shard, part]));
    return this.each([...bounds.keys()], (shard) => {
      const { low, high } = bounds.get(shard)!;
      return this.calls.ranges(this.keyOf(shard), this.given(low), this.given(high), { limit });
    });
  };

  /** Asks for the members of an expression. Parts end where the shard's members do; those to be read downwards begin there. */
  protected askFor(text: string, keys: (shard: number) => string[]): Ask<M> {
    return (parts, limit, down) => {
      const from = new Map(parts.map(({ shard, low, high }: Part) => [shard, this.given(down ? high : low)]));
      return this.evaluate([...from.keys()], text, (shard, own) =>
        this.calls.queryMembers(own, keys(shard), { rev: down, from: from.get(shard)!, limit }));
    };
  }
}
