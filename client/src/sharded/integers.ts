// Integers for ids that are spread over a cluster: one key for each shard, cut as bitmaps are.

import { type Call, listed } from "../call.js";
import { type Count, integer, type Member, type Offset } from "../family.js";
import type { IntegerCalls } from "../integer-calls.js";
import { type CallOptions, checkedOptions } from "../limits.js";
import { oneByOne, type PageOptions, pageSize } from "../paging.js";
import type { Transport } from "../transport.js";
import type { Bound, List, Question as KeyQuestion, Sum, Summary } from "../types.js";
import type { Bounds, ShardingOptions } from "./layout.js";
import { merged, type Stream } from "./merging.js";
import { partsOf } from "./reading.js";
import { Shards } from "./shards.js";
import { byId, byValue, type Entry, meanOf, narrow, type Search, splitsOf } from "./values.js";

/** An expression over sharded bitmaps and integers, such as one made by `q`. */
interface Question<M extends Member> {
  readonly expression: string;
  readonly keys: readonly Shards<M>[];
}

/** Which ids count. */
interface Within<M extends Member> {
  /** Only members of this expression count. */
  readonly within?: Question<M> | undefined;
}

/** Which ids count, and in which order. */
interface Ordered<M extends Member> extends Within<M> {
  readonly rev?: boolean | undefined;
}

/** What a range of values takes. */
interface ByValue<M extends Member> extends Ordered<M> {
  readonly limit?: readonly [offset: number, count: number] | undefined;
}

/** A shard that is read in the order of values, and where to go on. */
interface ValueStream<M extends Member> extends Stream<Entry<M>> {
  from: Bound<M>;
  /** How many ids with the value `from` have been read. */
  ties: number;
}

/** A shard that is read in the order of ids, and where to go on. */
interface IdStream<M extends Member> extends Stream<Entry<M>> {
  at: M;
}

/** Adds what a shard has answered, and says where to go on: at the last value, behind the ids that have it. */
function goOn<M extends Member>(stream: ValueStream<M>, entries: readonly Entry<M>[], share: number): void {
  stream.read = stream.read.concat(entries);
  stream.isOpen = entries.length === share;
  const last = entries.at(-1);
  if (last === undefined) return;
  const ties = entries.length - 1 - entries.findLastIndex(([, value]) => value !== last[1]);
  stream.ties = ties + (ties === entries.length && stream.from === last[1] as unknown ? stream.ties : 0);
  stream.from = last[1] as unknown as Bound<M>;
}

type Conditions = Parameters<IntegerCalls<Member>["set"]>[2];
type Aggregation = Parameters<IntegerCalls<Member>["merge"]>[2];

/** The most entries that are read at once. */
const MOST = 10_000;

/** From this rank on, it is quicker to find a value than to read all entries before it. */
const DEEP = 10_000n;

/**
 * Integers for ids in pieces. Ids of `ri` are 0 to 4294967295 here, as those of `r`, and ids of `ri64` are as those of `r64`. Methods that
 * concern several shards send all commands at the same time, and are not atomic over shards. If some fail, they reject with
 * `ShardsFailedError` once all are through; so do methods that concern one shard.
 */
export class ShardedIntegers<M extends Member> extends Shards<M> {
  readonly #calls: IntegerCalls<M>;

  /** Use `sharded` of `ri` or `ri64`. */
  constructor(calls: IntegerCalls<M>, transport: Transport, name: string, sharding: ShardingOptions, options?: CallOptions) {
    super(calls.family.bitmaps, transport, name, sharding, options);
    this.#calls = calls;
  }

  /**
   * The same integers, whose calls end when a signal is aborted or a time is up.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for the commands that are sent together
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  with(options: CallOptions): ShardedIntegers<M> {
    return new ShardedIntegers(this.#calls, this.transport, this.name, this.sharding, checkedOptions(options));
  }

  // --- Values of ids -----------------------------------------------------------------------------------------------------------

  /**
   * Stores the values of ids.
   *
   * @param entries pairs of an id and its value, such as a Map
   * @param options `condition`: NX or XX; `comparison`: GT or LT; `ch`: counts those that changed, too
   * @returns The number of ids added; with `ch`, of ids added or changed.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) for each id, one command for each shard that has some. See docs/integers.md#set.
   */
  async set(entries: List<readonly [id: Offset<M>, value: Offset<M>]>, options: Conditions = {}): Promise<Count<M>> {
    const place = ([id, value]: readonly [Offset<M>, Offset<M>]) => [this.shardOf(id), [this.local(id), value] as const] as const;
    return this.added("entries", entries, place, (shard, part) => this.#calls.set(this.keyOf(shard), part, options));
  }

  /**
   * Adds to the value of an id, and returns the new value. It is executed once or not at all.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n), one command. See docs/integers.md#incrby.
   */
  async incrBy(id: Offset<M>, increment: Offset<M>): Promise<M> {
    return this.#one(id, (key, local) => this.#calls.incrBy(key, local, increment));
  }

  /**
   * The value of an id, or null if it has none.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n), one command. See docs/integers.md#get.
   */
  async get(id: Offset<M>): Promise<M | null> {
    return this.#one(id, (key, local) => this.#calls.get(key, local));
  }

  /**
   * The values of several ids in their order, null for an id that has none.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) for each id, one command for each shard that has some. See docs/integers.md#mget.
   */
  async mGet(ids: List<Offset<M>>): Promise<(M | null)[]> {
    return this.ordered("ids", ids, this.place, (shard, part) => this.#calls.mGet(this.keyOf(shard), part));
  }

  /**
   * Removes ids and their values, and returns how many had one.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) for each id, one command for each shard that has some. See docs/integers.md#del.
   */
  async del(ids: List<Offset<M>>): Promise<Count<M>> {
    return this.added("ids", ids, this.place, (shard, part) => this.#calls.del(this.keyOf(shard), part));
  }

  /**
   * Removes the ids whose values lie between two bounds, and returns how many they were.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the leaves whose values may lie between the bounds. See docs/integers.md#delrange.
   */
  async delRange(min: Bound<M>, max: Bound<M>, { within }: Within<M> = {}): Promise<Count<M>> {
    return this.total(await this.#all(within, (key, own) => this.#calls.delRange(key, min, max, { within: own })));
  }

  /**
   * Stores the values of several sharded integers in this one.
   *
   * @param sources one or more, cut in the same way; this one may be among them
   * @param options `aggregate`: SUM, MIN or MAX, for an id that several of them have
   * @returns The number of ids stored.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the ids of all sources. See docs/integers.md#merge.
   */
  async merge(sources: readonly ShardedIntegers<M>[], options: Aggregation = {}): Promise<Count<M>> {
    const keys = this.keys(sources);
    return this.total(await this.each(this.layout.all(), (shard) => this.#calls.merge(this.keyOf(shard), keys(shard), options)));
  }

  // --- All values --------------------------------------------------------------------------------------------------------------

  /**
   * The number of ids.
   *
   * @throws ShardsFailedError
   * @remarks O(1) for each shard. See docs/integers.md#card.
   */
  async card(): Promise<Count<M>> {
    return this.total(await this.#all(undefined, (key) => this.#calls.card(key)));
  }

  /**
   * The number of ids whose values lie between two bounds.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the leaves whose values may lie between the bounds. See docs/integers.md#count.
   */
  async count(min: Bound<M>, max: Bound<M>, { within }: Within<M> = {}): Promise<Count<M>> {
    return this.total(await this.#all(within, (key, own) => this.#calls.count(key, min, max, { within: own })));
  }

  /**
   * The number of ids, and the exact sum of their values.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each segment; with `within` O(n) in the leaves. See docs/integers.md#sum.
   */
  async sum({ within }: Within<M> = {}): Promise<Sum<M>> {
    return this.#sumOf(await this.#all(within, (key, own) => this.#calls.sum(key, { within: own })));
  }

  /**
   * Number, sum, extremes and mean of the values; null for the last three without ids.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the leaves. See docs/integers.md#stats.
   */
  async stats({ within }: Within<M> = {}): Promise<Summary<M>> {
    const all = await this.#all(within, (key, own) => this.#calls.stats(key, { within: own })), { count, sum } = this.#sumOf(all);
    const of = (values: readonly (M | null)[], isBetter: (a: M, b: M) => boolean): M | null =>
      values.reduce((best, value) => (value !== null && (best === null || isBetter(value, best)) ? value : best), null);
    const min = of(all.map((one) => one.min), (a, b) => a < b), max = of(all.map((one) => one.max), (a, b) => a > b);
    return { count, sum, min, max, mean: meanOf(sum, BigInt(count)) };
  }

  /**
   * The values below which given parts of the ids lie, found by counting: exact if nobody writes meanwhile.
   *
   * @param fractions numbers from 0 to 1, one at least
   * @returns A value for each, or null without ids.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks Sends STATS, and then HISTOGRAM with 16 edges for each fraction, once for each hexadecimal digit of the range of values. See
   * docs/integers.md#quantile.
   */
  async quantiles(fractions: List<number>, { within }: Within<M> = {}): Promise<(M | null)[]> {
    const list = [...fractions];
    this.#calls.quantiles(this.keyOf(0), list); // refuses what are no fractions
    const { count, min, max } = await this.stats({ within }), all = Number(count);
    if (min === null || max === null) return list.map(() => null);
    const ranks = list.map((fraction) => BigInt(Math.min(Math.max(Math.ceil(fraction * all), 1), all) - 1));
    return this.#valuesAt(ranks, min, max, within);
  }

  /**
   * How many ids each value has, values ascending; with `top` the values that most ids have, most first.
   *
   * @param options `top`: the most values to answer; `within`: only members of this expression count
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the ids. All values of all shards are in this process's memory, also with `top`, because a value can be among the
   * first of all without being among the first of a shard. See docs/integers.md#histogram.
   */
  async histogram({ top, within }: Within<M> & { readonly top?: number | undefined } = {}): Promise<[value: M, ids: Count<M>][]> {
    const most = top === undefined ? undefined : Number(integer("top", top, 1n, 2n ** 53n)), counts = new Map<M, bigint>();
    for (const values of await this.#all(within, (key, own) => this.#calls.histogram(key, { within: own }))) {
      for (const [value, ids] of values) counts.set(value, (counts.get(value) ?? 0n) + BigInt(ids));
    }
    const list = [...counts].sort(([a, m], [b, n]) => (most !== undefined && m !== n ? (m > n ? -1 : 1) : a < b ? -1 : 1));
    return list.slice(0, most).map(([value, ids]) => [value, this.total([ids])]);
  }

  /**
   * How many ids have values below the first edge, between two edges, and from the last one on.
   *
   * @param edges values in ascending order, one at least
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the leaves times the edges. See docs/integers.md#histogram.
   */
  async histogramBetween(edges: List<Offset<M>>, { within }: Within<M> = {}): Promise<Count<M>[]> {
    const list = [...listed("edges", edges)];
    const all = await this.#all(within, (key, own) => this.#calls.histogramBetween(key, list, { within: own }));
    return all[0]!.map((_, i) => this.total(all.map((counts) => counts[i]!)));
  }

  // --- The order of values -----------------------------------------------------------------------------------------------------

  /**
   * How many ids come before an id in the order of values, and of ids of the same value; null if it has no value. Two steps: a write
   * between them can shift ranks.
   *
   * @param options `rev`: in the reverse order; `within`: only members of this expression count
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the leaves. Sends GET and RANK to the id's shard, and then up to two COUNT to each of the others. See
   * docs/integers.md#rank.
   */
  async rank(id: Offset<M>, { rev = false, within }: Ordered<M> = {}): Promise<Count<M> | null> {
    const at = this.within(id), home = this.layout.shardOf(at), { last } = this.layout;
    const [value, [own]] = await Promise.all([
      this.get(id),
      this.#ask([home], within, (key, question) => this.#calls.rank(key, this.local(id), { rev, within: question })),
    ]);
    if (value === null || own === null) return null;
    const others = this.layout.all().filter((shard) => shard !== home), beyond = `(${value}` as const;
    const { low, high } = rev ? { low: at + 1n, high: last } : { low: 0n, high: at - 1n };
    const withEqual = others.filter((shard) => this.layout.within(shard, low, high) !== undefined), equal = value as unknown as Bound<M>;
    const counts = await Promise.all([
      this.#ask(others, within, (key, question) => this.#calls.count(key, rev ? beyond : "-inf", rev ? "+inf" : beyond, { within: question })),
      this.#ask(withEqual, within, (key, question) => this.#calls.count(key, equal, equal, { within: question }), { low, high }),
    ]);
    return this.total([own!, ...counts.flat()]);
  }

  /**
   * Ids in the order of their values, from rank `start` to rank `stop`. Negative ranks count from the end.
   *
   * @param options `rev`: in the reverse order; `within`: only members of this expression count
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks As {@link rangeWithValues}. See docs/integers.md#range.
   */
  async range(start: Offset<M>, stop: Offset<M>, options: Ordered<M> = {}): Promise<M[]> {
    return (await this.rangeWithValues(start, stop, options)).map(([id]) => id);
  }

  /**
   * Ids and their values in the order of the values, from rank `start` to rank `stop`. Negative ranks count from the end.
   *
   * @param options `rev`: in the reverse order; `within`: only members of this expression count
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks The first entries of each shard are read and merged, O(n) in the leaves for each page of them. From rank 10,000 on, the value
   * at `start` is found as by {@link quantiles}. Negative ranks need COUNT first, and are read from the nearer end. See
   * docs/integers.md#range.
   */
  async rangeWithValues(start: Offset<M>, stop: Offset<M>, { rev = false, within }: Ordered<M> = {}): Promise<[id: M, value: M][]> {
    let [from, to] = [integer("start", start, -(2n ** 63n), 2n ** 63n - 1n), integer("stop", stop, -(2n ** 63n), 2n ** 63n - 1n)];
    const isFromEnd = from < 0n || to < 0n, count = isFromEnd ? BigInt(await this.count("-inf", "+inf", { within })) : 0n;
    if (from < 0n) from = from + count > 0n ? from + count : 0n;
    if (to < 0n) to += count;
    if (isFromEnd && to >= count) to = count - 1n;
    if (from > to) return [];
    if (!isFromEnd || from <= count - 1n - to) return this.#ranks(from, to, rev, within);
    return (await this.#ranks(count - 1n - to, count - 1n - from, !rev, within)).reverse();
  }

  /**
   * The ids whose values lie between two bounds, in the order of their values. With `rev`, the greater bound comes first.
   *
   * @param options `rev`: in the reverse order; `limit`: how many to skip, and the most to answer, a negative count for all; `within`: only
   * members of this expression count
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks As {@link rangeByValueWithValues}. See docs/integers.md#range.
   */
  async rangeByValue(start: Bound<M>, stop: Bound<M>, options: ByValue<M> = {}): Promise<M[]> {
    return (await this.rangeByValueWithValues(start, stop, options)).map(([id]) => id);
  }

  /**
   * The ids whose values lie between two bounds, and the values, in the order of the values. With `rev`, the greater bound comes first.
   *
   * @param options `rev`: in the reverse order; `limit`: how many to skip, and the most to answer, a negative count for all; `within`: only
   * members of this expression count
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(n) in the leaves. With `limit`, the first entries of each shard are read and merged, also those to skip. See
   * docs/integers.md#range.
   */
  async rangeByValueWithValues(
    start: Bound<M>, stop: Bound<M>, { rev = false, limit = [0, -1], within }: ByValue<M> = {},
  ): Promise<[id: M, value: M][]> {
    const skipped = integer("offset", limit[0], 0n, 2n ** 53n), most = integer("count", limit[1], -(2n ** 53n), 2n ** 53n);
    if (most >= 0n) return this.#taken(start, stop, rev, within, Number(skipped), Number(most));
    const all = await this.#all(within, (key, own) => this.#calls.rangeByValueWithValues(key, start, stop, { rev, within: own }));
    return byValue<M>(rev).sorted(all.flatMap((entries, shard) => this.#global(shard, entries))).slice(Number(skipped));
  }

  // --- Iteration ---------------------------------------------------------------------------------------------------------------

  /**
   * Reads all ids and their values in ascending order of ids, page by page. By range, a page is of one shard.
   *
   * @param options `from`: the first id; `count`: ids in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for a page of m ids. See docs/integers.md#scan.
   */
  async *scanPages({ from, count }: PageOptions<M> = {}): AsyncGenerator<[id: M, value: M][], void, undefined> {
    const size = pageSize(count), parts = partsOf(this.layout, from === undefined ? 0n : this.within(from), this.layout.last);
    const streams = parts.map(({ shard, low }): IdStream<M> => ({ shard, read: [], isOpen: true, at: this.family.member(low) }));
    const together = this.width === undefined ? [streams] : streams.map((stream) => [stream]);
    for (const some of together) {
      yield* merged(some, size, byId<M>(), async (short, share) => {
        const pages = await this.each(short.map(({ shard }) => shard), (shard, i) =>
          this.#calls.scan(this.keyOf(shard), short[i]!.at as unknown as Offset<M>, { count: share }));
        for (const [i, stream] of short.entries()) {
          const { entries, cursor } = pages[i]!;
          stream.read = stream.read.concat(this.#global(stream.shard, entries));
          stream.isOpen = cursor !== null;
          stream.at = cursor ?? stream.at;
        }
      });
    }
  }

  /**
   * Reads all ids and their values in ascending order of ids, one by one, and fetches them page by page.
   *
   * @param options `from`: the first id; `count`: ids in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n + m) for a page of m ids. See docs/integers.md#scan.
   */
  scanIterator(options: PageOptions<M> = {}): AsyncGenerator<[id: M, value: M], void, undefined> {
    return oneByOne(this.scanPages(options));
  }

  // --- How shards are asked ----------------------------------------------------------------------------------------------------

  async #one<T>(id: Offset<M>, make: (key: string, local: Offset<M>) => Call<T>): Promise<T> {
    const [answer] = await this.each([this.shardOf(id)], (shard) => make(this.keyOf(shard), this.local(id)));
    return answer!;
  }

  /** Asks shards, each with its part of `within`, of which only members in the bounds count. */
  #ask<T>(
    shards: readonly number[], within: Question<M> | undefined,
    make: (key: string, own: KeyQuestion | undefined, i: number) => Call<T>, bounds?: Bounds,
  ): Promise<T[]> {
    if (!within && !bounds) return this.each(shards, (shard, i) => make(this.keyOf(shard), undefined, i));
    const { expression, keys: named } = within ?? { expression: "#1", keys: [this] }, keys = this.keys(named);
    return this.evaluate(shards, expression, (shard, text, i) =>
      make(this.keyOf(shard), { expression: text, keys: keys(shard) }, i), bounds);
  }

  #all<T>(within: Question<M> | undefined, make: (key: string, own: KeyQuestion | undefined) => Call<T>): Promise<T[]> {
    return this.#ask(this.layout.all(), within, make);
  }

  /** Entries of a shard with their ids of all. */
  #global(shard: number, entries: readonly Entry<M>[]): Entry<M>[] {
    return entries.map(([id, value]) => [this.global(shard, id), value]);
  }

  #sumOf(sums: readonly Sum<M>[]): Sum<M> {
    return { count: this.total(sums.map(({ count }) => count)), sum: sums.reduce((all, { sum }) => all + sum, 0n) };
  }

  /** The values of ids with these ranks in ascending order, which lie from `min` to `max`. */
  async #valuesAt(ranks: readonly bigint[], min: M, max: M, within: Question<M> | undefined): Promise<M[]> {
    const searches = ranks.map((rank): Search => ({ rank, low: BigInt(min), high: BigInt(max) }));
    for (let splits = splitsOf(searches); splits.length > 0; splits = splitsOf(searches)) {
      let ids = 0n;
      const counts = await this.histogramBetween(splits.map((split) => this.given(split)), { within });
      narrow(searches, splits, counts.map((count) => ids += BigInt(count)));
    }
    return searches.map(({ low }) => this.family.member(low));
  }

  /** The entries with these ranks. */
  async #ranks(from: bigint, to: bigint, rev: boolean, within: Question<M> | undefined): Promise<Entry<M>[]> {
    const [first, last] = rev ? ["+inf", "-inf"] as const : ["-inf", "+inf"] as const, count = Number(to - from + 1n);
    if (from < DEEP) return this.#taken(first, last, rev, within, Number(from), count);
    const { count: all, min, max } = await this.stats({ within });
    if (min === null || max === null || from >= BigInt(all)) return [];
    const [value] = await this.#valuesAt([rev ? BigInt(all) - 1n - from : from], min, max, within), beyond = `(${value!}` as const;
    const before = await this.count(rev ? beyond : "-inf", rev ? "+inf" : beyond, { within }), skipped = from - BigInt(before);
    return this.#taken(value as unknown as Bound<M>, last, rev, within, skipped > 0n ? Number(skipped) : 0, count);
  }

  /** The first entries between two bounds, without the first of them. */
  async #taken(
    start: Bound<M>, stop: Bound<M>, rev: boolean, within: Question<M> | undefined, skipped: number, count: number,
  ): Promise<Entry<M>[]> {
    const streams = this.layout.all().map((shard): ValueStream<M> => ({ shard, read: [], isOpen: true, from: start, ties: 0 }));
    const entries: Entry<M>[] = [];
    let left = skipped;
    if (count === 0) return entries;
    const read = async (short: readonly ValueStream<M>[], share: number): Promise<void> => {
      const shards = short.map(({ shard }) => shard), answers = await this.#ask(shards, within, (key, own, i) =>
        this.#calls.rangeByValueWithValues(key, short[i]!.from, stop, { rev, limit: [short[i]!.ties, share], within: own }));
      for (const [i, stream] of short.entries()) goOn(stream, this.#global(stream.shard, answers[i]!), share);
    };
    for await (const page of merged(streams, Math.min(skipped + count, MOST), byValue<M>(rev), read)) {
      for (const entry of page.slice(Math.min(left, page.length), left + count - entries.length)) entries.push(entry);
      left -= Math.min(left, page.length);
      if (entries.length === count) break;
    }
    return entries;
  }
}
