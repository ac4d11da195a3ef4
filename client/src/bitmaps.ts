// The methods of a family: its commands, and what is made of several commands.

import { type Call, listed } from "./call.js";
import { Calls } from "./calls.js";
import { Commands } from "./commands.js";
import { InvalidArgumentError } from "./errors.js";
import type { Count, Family, Member, Offset } from "./family.js";
import { type CallOptions, checkedOptions } from "./limits.js";
import { load, type LoadOptions, type LoadProgress, type LoadSource } from "./load.js";
import { oneByOne, type PageOptions, pageSize } from "./paging.js";
import { payloadOf } from "./payload.js";
import { containersFrom, type Members } from "./containers.js";
import type { By, Query, Score, TopOptions } from "./query.js";
import type { Question } from "./question.js";
import { ShardedBitmap, type ShardingOptions } from "./sharded/bitmap.js";
import { Shards } from "./sharded/shards.js";
import { perform, type Transport } from "./transport.js";
import type { Bit, Key, List } from "./types.js";
import { payloadsOf, unload } from "./unload.js";

/** The bitmaps of a family: `r` or `r64` of an adapter's `roar`. */
export class Bitmaps<M extends Member> extends Commands<M> {
  override readonly calls: Calls<M>;
  readonly #transport: Transport;
  readonly #options: CallOptions | undefined;

  constructor(family: Family<M>, transport: Transport, options?: CallOptions) {
    super();
    this.calls = new Calls(family);
    this.#transport = transport;
    this.#options = options;
  }

  /**
   * The same bitmaps, whose calls end when a signal is aborted or a time is up: `r.with({ timeout: 100 }).bitCount("k")`.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for each command, or for commands that are sent together
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  with(options: CallOptions): Bitmaps<M> {
    return new Bitmaps(this.calls.family, this.#transport, checkedOptions(options));
  }

  /**
   * Inverts the bit at an offset in one step: of several clients that toggle a bit at the same time, none loses its change. It is executed
   * once or not at all: if the connection breaks before the answer, it rejects, and the outcome is unknown. `setBit` with the bit that is
   * wanted can be repeated without harm.
   *
   * @param key a key; created if it is missing
   * @param offset 0 to 4294967295 in `r`, to 18446744073709551615 in `r64`
   * @returns The new bit.
   * @throws WrongTypeError, InvalidArgumentError, OutOfMemoryError
   * @remarks O(log n). Sends BITFIELD. See docs/commands.md#bitfield.
   */
  async toggle(key: Key, offset: Offset<M>): Promise<Bit> {
    const [bit] = await this.bitField(key, [["INCRBY", "u1", offset, 1]]);
    return bit === 1n ? 1 : 0;
  }

  /**
   * Counts the offsets that are members of at least `k` of the bitmaps.
   *
   * @param k 0 or more
   * @param keys keys, one at least; a missing key is an empty bitmap
   * @param options `store`: a key that gets these offsets as a bitmap, in place of what it holds
   * @returns The number of offsets.
   * @throws WrongTypeError, InvalidArgumentError, RoarError, OutOfMemoryError with `store`
   * @remarks O(n) in the total size of the bitmaps. Sends QUERY or QUERYSTORE. See docs/commands.md#query.
   */
  async atLeast(k: number, keys: List<Key>, options: { store?: Key | undefined } = {}): Promise<Count<M>> {
    const list = [...listed("keys", keys)], expression = `atleast(${k}, #1..#${list.length})`;
    return options.store === undefined ? this.queryCard(expression, list) : this.queryStore(options.store, expression, list);
  }

  /**
   * Reads all members in ascending order, page by page. A member that is present throughout is in exactly one page, whatever is written
   * meanwhile.
   *
   * @param key a key
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @returns Pages of one member or more.
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(log n + m) for each page of m members. Sends SCAN. See docs/commands.md#scan.
   */
  async *scanPages(key: Key, { from, count }: PageOptions<M> = {}): AsyncGenerator<M[], void, undefined> {
    const size = pageSize(count);
    let at: Offset<M> | null = from ?? (0);
    while (at !== null) {
      const page = await this.scan(key, at, { count: size });
      if (page.members.length > 0) yield page.members;
      at = page.cursor as Offset<M> | null;
    }
  }

  /**
   * Reads all members in ascending order, one by one, and fetches them page by page.
   *
   * @param key a key
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @returns Members.
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(log n + m) for each page of m members. Sends SCAN. See docs/commands.md#scan.
   */
  scanIterator(key: Key, options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    return oneByOne(this.scanPages(key, options));
  }

  /**
   * Reads the members of an expression in ascending order, page by page. Nothing is stored: each page evaluates as much of the expression
   * as it needs.
   *
   * @param expression of QUERY: `#1` is the first key
   * @param keys keys, one at least; a missing key is an empty bitmap
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @returns Pages of one member or more.
   * @throws WrongTypeError, InvalidArgumentError, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. See docs/commands.md#query.
   */
  async *queryPages(
    expression: string, keys: List<Key>, { from, count }: PageOptions<M> = {},
  ): AsyncGenerator<M[], void, undefined> {
    const list = [...listed("keys", keys)], { last } = this.calls.family, size = pageSize(count);
    let at: Offset<M> | undefined = from;
    for (;;) {
      const page: M[] = await this.queryMembers(expression, list, { from: at, limit: size });
      if (page.length > 0) yield page;
      const next = BigInt(page.at(-1) ?? last) + 1n;
      if (page.length < size || next > last) return;
      at = this.calls.family.member(next) as unknown as Offset<M>;
    }
  }

  /**
   * Reads the members of an expression in ascending order, one by one, and fetches them page by page.
   *
   * @param expression of QUERY: `#1` is the first key
   * @param keys keys, one at least; a missing key is an empty bitmap
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @returns Members.
   * @throws WrongTypeError, InvalidArgumentError, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. See docs/commands.md#query.
   */
  queryIterator(expression: string, keys: List<Key>, options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    return oneByOne(this.queryPages(expression, keys, options));
  }

  /**
   * Adds offsets from a stream: of a file, of a query, of another bitmap. Batches of them are sent as payloads, some at the same time, so
   * memory does not grow with the source. A load that has failed or was ended can be continued with `skip: done`.
   *
   * @param key a key; created if it is missing
   * @param source offsets, or arrays of them, such as `offsetsIn` returns for a file
   * @param options `batch`, `inFlight`, `skip`, `retries`, `signal`, `onProgress`
   * @returns `done`: how many offsets the source has.
   * @throws LoadError, whose `done` says how many offsets of the source are loaded
   * @remarks O(m log m) for a batch of m offsets. Sends IMPORT. See docs/commands.md#import.
   */
  load(key: Key, source: LoadSource<M>, options: LoadOptions = {}): Promise<LoadProgress> {
    const { family } = this.calls;
    return load(family, source, options, (members) => this.import(key, payloadOf(family, containersFrom(members))));
  }

  /**
   * Reads all members in ascending order, many at a time, as typed arrays.
   *
   * @param key a key
   * @param options `from`: the first offset; `count`: members in a piece, 1,000,000 if it is not given
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(m) for a piece of m members. Sends RANK, SELECT and QUERY. See docs/commands.md#query.
   */
  unload(key: Key, options: PageOptions<M> = {}): AsyncGenerator<Members<M>, void, undefined> {
    return unload(this.calls, key, options, (call) => this.run(call));
  }

  /**
   * Reads a bitmap in the portable Roaring format, piece by piece: each is a payload of its own that `import` takes, and their union is the
   * bitmap.
   *
   * @param key a key
   * @param options `from`: the first offset; `count`: members in a piece, 1,000,000 if it is not given
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(m) for a piece of m members. Sends RANK, SELECT and QUERY. See docs/commands.md#query.
   */
  unloadPayloads(key: Key, options: PageOptions<M> = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return payloadsOf(this.calls, key, options, (call) => this.run(call));
  }

  /**
   * A query about bitmaps: `r.query(q`${"tag:chess"} & ${"tag:go"}`).card()`. Its bitmaps are keys, in a cluster in one slot, or sharded
   * bitmaps and integers that are cut in the same way. Nothing is sent.
   *
   * @param question made by `q`
   * @returns What has the methods `card`, `members`, `pages`, `iterator`, `export`, `facet`, `facetTop` and `store`.
   * @throws InvalidArgumentError
   * @remarks Its methods send QUERY, QUERYSTORE or FACET. See docs/commands.md#query.
   */
  query(question: Question<Shards<M>>): Query<M, ShardedBitmap<M>>;
  query(question: Question<Key>): Query<M, Key>;
  query(question: Question<Key | Shards<M>>): Query<M, Key> | Query<M, ShardedBitmap<M>> {
    const { sources, expression } = question;
    const shards = sources.filter((source) => source instanceof Shards);
    if (shards.length > 0) {
      if (shards.length < sources.length) throw new InvalidArgumentError("invalid query: it mixes keys and sharded bitmaps");
      if (shards.some(({ family }) => family !== this.calls.family)) {
        throw new InvalidArgumentError("invalid query: a bitmap belongs to the other family");
      }
      const within = (bitmap: ShardedBitmap<M>): ShardedBitmap<M> => (this.#options ? bitmap.with(this.#options) : bitmap);
      const [first, ...others] = shards, { name, sharding } = first!;
      const limited = within(first instanceof ShardedBitmap ? first : this.sharded(name, sharding)); // which names the same keys
      const answers: Query<M, ShardedBitmap<M>> = {
        card: () => limited.queryCard(expression, others),
        members: (options) => limited.queryMembers(expression, others, options),
        pages: (options) => limited.queryPages(expression, others, options),
        iterator: (options) => oneByOne(limited.queryPages(expression, others, options)),
        export: () => limited.queryExport(expression, others),
        facet: (facets) => limited.facet(expression, others, facets),
        facetTop: (facets, k, options) => limited.facetTop(expression, others, facets, k, options),
        store: (destination: ShardedBitmap<M>) => within(destination).queryStore(expression, shards),
      };
      return answers;
    }
    const keys = sources as readonly Key[];
    if (keys.length === 0) throw new InvalidArgumentError("invalid query: it has no bitmap");
    const answers: Query<M, Key> = {
      card: () => this.queryCard(expression, keys),
      members: (options) => this.queryMembers(expression, keys, options),
      pages: (options) => this.queryPages(expression, keys, options),
      iterator: (options) => this.queryIterator(expression, keys, options),
      export: () => this.queryExport(expression, keys),
      facet: (facets) => this.facet(expression, keys, facets),
      facetTop: (facets, k, options) => this.#facetTop(expression, keys, facets, k, options),
      store: (destination: Key) => this.queryStore(destination, expression, keys),
    };
    return answers;
  }

  /**
   * A bitmap that is spread over the nodes of a cluster. Nothing is sent.
   *
   * @param name the beginning of its keys, without braces
   * @param options `by`: `range` or `hash`; `width`: by range, offsets in a shard, a multiple of 65536; `shards`: how many there are
   * @throws InvalidArgumentError
   * @remarks O(1). See docs/cluster.md.
   */
  sharded(name: string, options: ShardingOptions): ShardedBitmap<M> {
    return new ShardedBitmap(this.calls, this.#transport, name, options, this.#options);
  }

  #facetTop<B extends By>(
    expression: string, keys: readonly Key[], facets: readonly Key[], k: number, { by, min }: TopOptions<B> = {},
  ): Promise<[Key, Score<M, B>][]> {
    const args = [expression, keys, facets, k, { min }] as const;
    if (by === "JACCARD") return this.facetJaccardTop(...args) as Promise<[Key, Score<M, B>][]>;
    return (by === "OVERLAP" ? this.facetOverlapTop(...args) : this.facetTop(...args)) as Promise<[Key, Score<M, B>][]>;
  }

  protected override run<T>(call: Call<T>): Promise<T> {
    return perform(this.#transport, call, this.#options);
  }
}
