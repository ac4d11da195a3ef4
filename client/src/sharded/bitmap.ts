// A bitmap that is spread over a cluster: one key for each range of `width` offsets. Offsets in a shard are those of the whole bitmap.

import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { InvalidArgumentError } from "../errors.js";
import { type Count, integer, type Member, type Offset } from "../family.js";
import { type CallOptions, checkedOptions, type Signal } from "../limits.js";
import { load, LoadError, type LoadOptions, type LoadProgress, type LoadSource } from "../load.js";
import { type PageOptions, pageSize } from "../paging.js";
import { type Container, CONTAINER_OFFSETS, containersOf, payloadOf } from "../payload.js";
import { containersFrom, type Members, membersFor, membersOf } from "../containers.js";
import { LocalBitmap } from "../portable.js";
import type { By, MembersOptions, Score, TopOptions } from "../query.js";
import type { Question } from "../question.js";
import type { Bit, Key, List } from "../types.js";
import { PIECE, unload } from "../unload.js";
import { greatest, leastOf } from "./facets.js";
import { keyCall } from "./fan-out.js";
import { ShardedMembers } from "./members.js";
import { firstOf, pagesOf, partsOf } from "./reading.js";
import type { Shards } from "./shards.js";
import { firstParts } from "./sharing.js";

export type { ShardingOptions } from "./layout.js";

type Operation = Parameters<Calls<Member>["bitOp"]>[0];

/** What NOT takes. */
interface NotOptions<M extends Member> {
  readonly last?: Offset<M> | undefined;
}

/** Which members of an expression are stored. */
interface StoreOptions<M extends Member> {
  readonly from?: Offset<M> | undefined;
  readonly limit?: number | undefined;
}

/** What is known about a copy that is under way. */
export interface CopyProgress extends LoadProgress {
  /** How many members the source had when the copy began. */
  readonly total: number;
}

/** How to copy. */
export interface CopyOptions {
  /** Members in a piece; 1,000,000 if it is not given. */
  readonly count?: number | undefined;
  /** Ends the copy. */
  readonly signal?: Signal | undefined;
  /** Is told each time that another piece is copied. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** A source of a copy. */
interface Reader<M extends Member> {
  readonly keys: readonly string[];
  max(): Promise<M | null>;
  count(): Promise<Count<M>>;
  pieces(): AsyncIterable<Members<M>>;
  /** The members from `low` to `high` as a payload. */
  payload(low: bigint, high: bigint): Promise<Uint8Array>;
  bits(offsets: List<Offset<M>>): Promise<Bit[]>;
}

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
    const all = this.layout.all();
    const combine = (shard: number, as: Operation): Call<Count<M>> =>
      this.calls.bitOp(as, this.keyOf(shard), sources.map((one) => one.keyOf(shard)));
    if (operation !== "NOT") {
      if (options.last !== undefined) throw new InvalidArgumentError("invalid last: only NOT takes it");
      return this.total(await this.each(all, (shard) => combine(shard, operation)));
    }
    if (sources.length !== 1) throw new InvalidArgumentError("invalid sources: NOT takes one");
    const last = options.last === undefined ? -1n : this.within(options.last), max = BigInt(await sources[0]!.max() ?? -1);
    const to = last > max ? last : max;
    return this.total(await this.each(all, (shard) => {
      const bounds = to < 0n ? undefined : this.layout.within(shard, 0n, to);
      if (!bounds) return combine(shard, "OR"); // stores an empty bitmap, as the source has no members here
      return this.calls.queryStore(this.keyOf(shard), `[${bounds.low}..${bounds.high}] - #1`, [sources[0]!.keyOf(shard)]);
    }));
  }

  /**
   * The number of members of an expression, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. `~` inverts up to the last shard's end. See docs/commands.md#query.
   */
  async queryCard(expression: string, others: readonly Shards<M>[] = []): Promise<Count<M>> {
    const keys = this.keys([this, ...others]);
    return this.total(await this.evaluate(this.layout.all(), expression, (shard, text) => this.calls.queryCard(text, keys(shard))));
  }

  /**
   * The members of an expression in ascending order, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @param options `rev`: in descending order; `from`: the first offset; `limit`: the most members to answer
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks As {@link range}. See docs/commands.md#query.
   */
  async queryMembers(
    expression: string, others: readonly Shards<M>[] = [], options: MembersOptions<M> = {},
  ): Promise<M[]> {
    const { family } = this.calls, { last } = this.layout, from = integer("from", options.from ?? (options.rev ? last : 0), 0n, family.last);
    const limit = options.limit === undefined ? undefined : Number(integer("limit", options.limit, 0n, 2n ** 53n));
    const ask = this.askFor(expression, this.keys([this, ...others]));
    const parts = options.rev ? partsOf(this.layout, 0n, from) : from > last ? [] : partsOf(this.layout, from, last);
    return firstOf(family, this.layout, parts, limit, ask, options.rev);
  }

  /**
   * Reads the members of an expression in ascending order, page by page. A page is of one shard.
   *
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks As {@link scanPages}. See docs/commands.md#query.
   */
  async *queryPages(
    expression: string, others: readonly Shards<M>[] = [], { from, count }: PageOptions<M> = {},
  ): AsyncGenerator<M[], void, undefined> {
    const size = pageSize(count), parts = partsOf(this.layout, from === undefined ? 0n : this.within(from), this.layout.last);
    yield* pagesOf(this.calls.family, this.layout, parts, size, this.askFor(expression, this.keys([this, ...others])));
  }

  /**
   * The members of an expression in the portable Roaring format, in which `#1` is this bitmap and `#2` the first of the others.
   *
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. All of it is in this process's memory. See docs/commands.md#query.
   */
  async queryExport(expression: string, others: readonly Shards<M>[] = []): Promise<Uint8Array> {
    const keys = this.keys([this, ...others]);
    return this.joined(await this.evaluate(this.layout.all(), expression, (shard, text) => this.calls.queryExport(text, keys(shard))));
  }

  /**
   * Stores the members of an expression in this bitmap, in which `#1` is the first of the sources. It cannot move members, as
   * `QUERYSTORE` with `OFFSET` does: they would come to other shards, on other nodes.
   *
   * @param sources one or more; this bitmap may be among them
   * @param options `from`: the first offset; `limit`: the most members to store, the first ones
   * @returns The number of members of the result.
   * @throws ShardsFailedError; InvalidArgumentError if a source has another width or more shards than this bitmap, or with `offset`
   * @remarks O(n) in the size of each shard's bitmaps. With `limit`, it first counts the members of each shard: a write between these steps
   * can make it store fewer, or others. By hash, it counts up to 32 times in `r` and 64 times in `r64`. See docs/commands.md#querystore.
   */
  async queryStore(expression: string, sources: readonly Shards<M>[], options: StoreOptions<M> = {}): Promise<Count<M>> {
    if ((options as { offset?: unknown }).offset !== undefined) {
      throw new InvalidArgumentError("invalid offset: members would move to shards on other nodes; read them with queryPages, and load them");
    }
    const { family } = this.calls, { last } = this.layout, low = integer("from", options.from ?? 0, 0n, family.last);
    const keys = this.keys(sources), all = this.layout.all(), bounds = options.from === undefined ? undefined : { low, high: last };
    const count = async (high: bigint): Promise<bigint[]> =>
      (await this.evaluate(all, expression, (shard, text) => this.calls.queryCard(text, keys(shard)), { low, high })).map(BigInt);
    const limits = options.limit === undefined ? undefined
      : await firstParts(integer("limit", options.limit, 0n, 2n ** 53n), { low, high: last }, this.width !== undefined, count);
    return this.total(await this.evaluate(all, expression, (shard, text) =>
      this.calls.queryStore(this.keyOf(shard), text, keys(shard), { limit: limits && Number(limits[shard]!) }), bounds));
  }

  /**
   * The size of the intersection with another bitmap divided by that of the union, or null if both are empty.
   *
   * @throws ShardsFailedError; InvalidArgumentError if the other has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#jaccard.
   */
  async jaccard(other: ShardedBitmap<M>): Promise<number | null> {
    const keys = this.keys([this, other]), all = this.layout.all();
    const [both, any] = await Promise.all((["AND", "OR"] as const).map(async (operation) =>
      this.total(await this.each(all, (shard) => this.calls.bitOpCard(operation, keys(shard))))));
    return BigInt(any!) === 0n ? null : Number(both) / Number(any);
  }

  /**
   * Counts the members that an expression shares with each of many bitmaps. In the expression `#1` is this bitmap and `#2` the first of the
   * others.
   *
   * @param facets one or more
   * @returns A number of members for each.
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#facet.
   */
  async facet(
    expression: string, others: readonly Shards<M>[], facets: readonly ShardedBitmap<M>[],
  ): Promise<Count<M>[]> {
    const keys = this.keys([this, ...others]), facetKeys = this.keys(facets);
    return this.#added(await this.evaluate(this.layout.all(), expression, (shard, text) =>
      this.calls.facet(text, keys(shard), facetKeys(shard))));
  }

  /**
   * Finds the bitmaps that share most with an expression, in which `#1` is this bitmap and `#2` the first of the others. All of them are
   * counted: those that come first in some shard need not come first in all.
   *
   * @param facets one or more
   * @param k the most bitmaps to answer
   * @param options `by`: CARD, JACCARD or OVERLAP; `min`: what a bitmap must reach, a number of members or a ratio
   * @returns The bitmaps and what counts, the greatest first, equal ones in the order given.
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n) in the size of each shard's bitmaps. See docs/commands.md#facet.
   */
  async facetTop<B extends By = "CARD">(
    expression: string, others: readonly Shards<M>[], facets: readonly ShardedBitmap<M>[], k: number, options: TopOptions<B> = {},
  ): Promise<[ShardedBitmap<M>, Score<M, B>][]> {
    const by: By = options.by ?? "CARD", least = leastOf(by, options.min), most = Number(integer("k", k, 0n, 2n ** 53n));
    const [shared, one, sizes] = await Promise.all([
      this.facet(expression, others, facets),
      by === "CARD" ? 0 : this.queryCard(expression, others),
      by === "CARD" ? [] : this.#sizes(facets),
    ]);
    const all = shared.map((count, i) => ({ shared: BigInt(count), one: BigInt(one), facet: BigInt(sizes[i] ?? 0) }));
    return greatest(by, all, most, least).map(([i, { part, whole }]) =>
      [facets[i]!, (by === "CARD" ? shared[i]! : Number(part) / Number(whole)) as Score<M, B>]);
  }

  /**
   * Counts the members that each row of bitmaps shares with each column. This bitmap is the first row, the others are the next ones.
   *
   * @param columns one or more
   * @param options `within`: a query about sharded bitmaps; only its members count
   * @returns For each row an array of one number a column.
   * @throws ShardsFailedError; InvalidArgumentError if another bitmap has another width or more shards
   * @remarks O(n + p) in the size of each shard's bitmaps, and pairs p of containers of a row and a column. See docs/commands.md#crosscard.
   */
  async crossCard(
    others: readonly ShardedBitmap<M>[], columns: readonly ShardedBitmap<M>[],
    { within }: { within?: Question<Shards<M>> | undefined } = {},
  ): Promise<Count<M>[][]> {
    const rowKeys = this.keys([this, ...others]), columnKeys = this.keys(columns), keys = this.keys(within?.sources ?? []);
    const tables = await this.evaluate(this.layout.all(), within?.expression ?? "", (shard, text) =>
      this.calls.crossCard(rowKeys(shard), columnKeys(shard), { within: within && { expression: text, keys: keys(shard) } }));
    return tables[0]!.map((_, row) => this.#added(tables.map((table) => table[row]!)));
  }

  /** The numbers of members of bitmaps. */
  async #sizes(bitmaps: readonly ShardedBitmap<M>[]): Promise<Count<M>[]> {
    const keys = this.keys(bitmaps);
    return this.#added(await this.each(this.layout.all(), (shard) => this.calls.mBitCount(keys(shard))));
  }

  /** The sums of lists of numbers, one by one. */
  #added(lists: readonly (readonly Count<M>[])[]): Count<M>[] {
    return lists[0]!.map((_, i) => this.total(lists.map((list) => list[i]!)));
  }

  // --- Whole bitmaps -----------------------------------------------------------------------------------------------------------

  /**
   * The bitmap in the portable Roaring format, as if it were one key.
   *
   * @throws ShardsFailedError
   * @remarks O(n). All of it is in this process's memory. See docs/commands.md#export.
   */
  async export(): Promise<Uint8Array> {
    return this.joined(await this.each(this.layout.all(), (shard) => this.calls.export(this.keyOf(shard))));
  }

  /** One payload of those of shards, all unless they are given. */
  protected joined(payloads: readonly (Uint8Array | null)[], shards: readonly number[] = this.layout.all()): Uint8Array {
    const { family } = this.calls, parts = payloads.map((payload) => (payload === null ? [] : containersOf(family, payload)));
    if (this.width !== undefined) return payloadOf(family, parts.flat());
    const size = parts.flat().reduce((sum, { cardinality }) => sum + cardinality, 0), members = membersFor(family, size);
    let count = 0;
    for (const [i, containers] of parts.entries()) {
      for (const local of membersOf(family, containers)) members[count++] = this.global(shards[i]!, local as M);
    }
    return payloadOf(family, containersFrom(members.sort() as Members<M>));
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
    const parts = this.#split(containersOf(this.calls.family, payload));
    return this.total(await this.each<M | number>(this.layout.all(), (shard) => {
      const part = parts.get(shard), key = this.keyOf(shard);
      if (part) return this.calls.import(key, payloadOf(this.calls.family, part), options);
      return options.replace ? keyCall("UNLINK", key, [], () => 0) : this.calls.bitCount(key);
    }));
  }

  #keys(): string[] {
    return this.layout.all().map((shard) => this.keyOf(shard));
  }

  /** Containers by shard, as they are there. Containers of consecutive offsets are in one shard as they are. */
  #split(containers: readonly Container[]): Map<number, Container[]> {
    const { family } = this.calls, parts = new Map<number, Container[]>();
    if (this.width === undefined) {
      for (const [shard, members] of this.layout.split(family, membersOf(family, containers))) parts.set(shard, containersFrom(members));
      return parts;
    }
    for (const container of containers) {
      const first = BigInt(container.key) * BigInt(CONTAINER_OFFSETS);
      const shard = this.layout.shardOf(integer("payload", first, 0n, this.layout.last)), part = parts.get(shard);
      if (part) part.push(container);
      else parts.set(shard, [container]);
    }
    return parts;
  }

  /**
   * Adds offsets from a stream: of a file, of a query, of another bitmap. Batches of them are sent as payloads, some at the same time, so
   * memory does not grow with the source. A load that has failed or was ended goes on where `done` says, with `skip`.
   *
   * @param source offsets, or arrays of them, such as `offsetsIn` returns for a file
   * @param options `batch`, `inFlight`, `skip`, `retries`, `signal`, `onProgress`
   * @returns `done`: how many offsets the source has.
   * @throws LoadError, whose `done` says how many offsets of the source are loaded
   * @remarks O(m log m) for a batch of m offsets. Sends IMPORT. See docs/commands.md#import.
   */
  load(source: LoadSource<M>, options: LoadOptions = {}): Promise<LoadProgress> {
    const { family } = this.calls;
    return load(family, source, options, (members) => {
      const parts = this.layout.split(family, members);
      const payload = (shard: number): Uint8Array => payloadOf(family, containersFrom(parts.get(shard)!));
      return this.each([...parts.keys()], (shard) => this.calls.import(this.keyOf(shard), payload(shard)));
    });
  }

  /**
   * Replaces the bitmap by that of an ordinary key, which may be in any slot, or by another sharded bitmap, which may be cut in another
   * way. The source is not changed, and is read in pieces; so this is no snapshot of a source that is written meanwhile:
   *
   * - A member that the source has throughout is copied, and an offset that it never has is not.
   * - If the program makes every change in the source first, waits, and then makes it here, both are the same when this and the last change
   *   are done. Changes of one offset have to come one after the other. This is how to move a bitmap without a pause: write to both, copy,
   *   read the new one, and then delete the old one.
   * - A change that is made only in the source, after its piece was read, is missing here.
   *
   * Until it is done, this bitmap is incomplete. If it ends early, the bitmap stays so, and a second copy begins anew.
   *
   * @param source a bitmap of the same family; a missing key is an empty bitmap
   * @param options `count`: members in a piece, 1,000,000 if it is not given; `signal`; `onProgress`
   * @returns The number of members.
   * @throws LoadError, whose `done` says how many members were copied, ShardsFailedError, WrongTypeError; InvalidArgumentError if members
   * are beyond the last shard, before anything is written
   * @remarks O(n). A piece at a time is in this process's memory. Each piece is read twice. See docs/cluster.md.
   */
  async copyFrom(source: Key | ShardedBitmap<M>, options: CopyOptions = {}): Promise<Count<M>> {
    const { signal, onProgress, count } = options, from = this.#readerOf(source, pageSize(count ?? PIECE));
    if (signal?.aborted) throw new LoadError("ended by its signal before anything was written", 0, signal.reason);
    const own = new Set(this.#keys());
    if (from.keys.some((key) => own.has(key))) throw new InvalidArgumentError("invalid source: it has a key of this bitmap");
    const max = await from.max(), total = Number(await from.count());
    if (max !== null) integer("source", max, 0n, this.layout.last);
    await this.delete();
    let done = 0;
    for await (const members of from.pieces()) {
      try {
        await this.load([members], { signal });
      } catch (error) {
        if (!(error instanceof LoadError)) throw error;
        throw new LoadError(error.message.replace(/after \d+ /, `after ${done + error.done} `), done + error.done, error.cause);
      }
      await this.#follow(from, members);
      onProgress?.({ done: done += members.length, total });
    }
    return this.count();
  }

  /**
   * Takes those of the members away that the source has lost since they were read, and looks again until it agrees about each. When it
   * does, every later change in the source is made here later, too.
   */
  async #follow(source: Reader<M>, members: Members<M>): Promise<void> {
    const { family } = this.calls;
    if (members.length === 0) return;
    const still = LocalBitmap.read(family, await source.payload(BigInt(members[0]!), BigInt(members.at(-1)!)));
    let lost = [...LocalBitmap.of(family, members as Iterable<unknown> as List<Offset<M>>).andNot(still)] as unknown as Offset<M>[];
    while (lost.length > 0) {
      await this.clearBits(lost);
      const bits = await source.bits(lost), back = lost.filter((_, i) => bits[i] === 1);
      if (back.length === 0) return;
      await this.setBits(back);
      const again = await source.bits(back);
      lost = back.filter((_, i) => again[i] === 0);
    }
  }

  /** How to read a source of a copy. */
  #readerOf(source: Key | ShardedBitmap<M>, count: number): Reader<M> {
    if (source instanceof ShardedBitmap) {
      return {
        keys: source.#keys(), max: () => source.max(), count: () => source.count(), pieces: () => source.unload({ count }),
        payload: (low, high) => source.#payload(low, high), bits: (offsets) => source.getBits(offsets),
      };
    }
    const { calls } = this, send = async <T>(call: Call<T>): Promise<T> => (await this.each([0], () => call))[0]!;
    return {
      keys: [source instanceof Uint8Array ? Buffer.from(source).toString() : source],
      max: () => send(calls.max(source)), count: () => send(calls.bitCount(source)),
      pieces: () => unload(calls, source, { count }, send),
      payload: (low, high) => send(calls.queryExport(`#1 & [${low}..${high}]`, [source])),
      bits: (offsets) => send(calls.getBits(source, offsets)),
    };
  }

  /** The members from `low` to `high` as a payload. */
  async #payload(low: bigint, high: bigint): Promise<Uint8Array> {
    const parts = new Map(partsOf(this.layout, low, high).map((part) => [part.shard, part])), shards = [...parts.keys()];
    const payloads = await this.each(shards, (shard) =>
      this.calls.queryExport(`#1 & [${parts.get(shard)!.low}..${parts.get(shard)!.high}]`, [this.keyOf(shard)]));
    return this.joined(payloads, shards);
  }

  /**
   * Reads all members in ascending order, many at a time, as typed arrays.
   *
   * @param options `from`: the first offset; `count`: members in a piece, 1,000,000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m) for a piece of m members. Sends QUERY and RANGE. See docs/commands.md#query.
   */
  async *unload({ from, count = PIECE }: PageOptions<M> = {}): AsyncGenerator<Members<M>, void, undefined> {
    const { family } = this.calls, size = pageSize(count), low = from === undefined ? 0n : this.within(from);
    if (this.width === undefined) {
      for await (const page of this.scanPages({ from, count: size })) {
        const members = membersFor(family, page.length);
        for (const [i, member] of page.entries()) members[i] = member;
        yield members;
      }
      return;
    }
    for (const { shard, ...bounds } of partsOf(this.layout, low, this.layout.last)) {
      const send = async <T>(call: Call<T>): Promise<T> => (await this.each([shard], () => call))[0]!;
      yield* unload(this.calls, this.keyOf(shard), { from: this.given(bounds.low), count: size }, send);
    }
  }
}
