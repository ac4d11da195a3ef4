// Names for ids: their commands, iteration, and loading.

import { type Call, listed } from "./call.js";
import { NameCommands } from "./commands.js";
import type { Name, NameFamily } from "./family.js";
import { type CallOptions, checkedOptions } from "./limits.js";
import type { LoadOptions, LoadProgress } from "./load.js";
import { loadNames, type NameSource } from "./load-names.js";
import { NameCalls } from "./name-calls.js";
import { oneByOne, type PageOptions, pageSize } from "./paging.js";
import { ShardedNames } from "./sharded/names.js";
import { perform, type Transport } from "./transport.js";
import type { Bit, Key, List } from "./types.js";

/** Names for ids: `rn` or `rnBytes` of an adapter's `roar`. */
export class Names<N extends Name> extends NameCommands<N> {
  override readonly calls: NameCalls<N>;
  readonly #transport: Transport;
  readonly #options: CallOptions | undefined;

  constructor(family: NameFamily<N>, transport: Transport, options?: CallOptions) {
    super();
    this.calls = new NameCalls(family);
    this.#transport = transport;
    this.#options = options;
  }

  /**
   * The same names, whose calls end when a signal is aborted or a time is up: `rn.with({ timeout: 100 }).card("k")`.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for each command
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  with(options: CallOptions): Names<N> {
    return new Names(this.calls.family, this.#transport, checkedOptions(options));
  }

  /**
   * The names of one key, whose methods need no key. Nothing is sent.
   *
   * @param key a key
   * @remarks O(1).
   */
  dictionary(key: Key): Dictionary<N> {
    return new Dictionary(this, key);
  }

  /**
   * Reads all ids and their names in ascending order of ids, page by page. A name that is there throughout is in exactly one page, whatever
   * is written meanwhile.
   *
   * @param key a key
   * @param options `from`: the first id; `count`: names in a page, 1000 if it is not given; a page has fewer after a megabyte of names
   * @returns Pages of one pair of an id and its name, or more.
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(m) for each page of m names. Sends SCAN. See docs/names.md#scan.
   */
  async *scanPages(key: Key, { from, count }: PageOptions<number> = {}): AsyncGenerator<[id: number, name: N][], void, undefined> {
    const size = pageSize(count);
    let at: number | null = from ?? 0;
    while (at !== null) {
      const page = await this.scan(key, at, { count: size });
      if (page.entries.length > 0) yield page.entries;
      at = page.cursor;
    }
  }

  /**
   * Reads all ids and their names in ascending order of ids, one by one, and fetches them page by page.
   *
   * @param key a key
   * @param options `from`: the first id; `count`: names in a page, 1000 if it is not given
   * @returns Pairs of an id and its name.
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(m) for each page of m names. Sends SCAN. See docs/names.md#scan.
   */
  scanIterator(key: Key, options: PageOptions<number> = {}): AsyncGenerator<[id: number, name: N], void, undefined> {
    return oneByOne(this.scanPages(key, options));
  }

  /**
   * Reads the names of an expression's members in ascending order of ids, page by page. Members without a name are left out.
   *
   * @param dictionary the key of the names
   * @param expression of QUERY: `#1` is the first key
   * @param keys keys, one at least; a missing key is an empty bitmap
   * @param options `from`: the first id; `count`: names in a page, 1000 if it is not given
   * @returns Pages of one name or more.
   * @throws WrongTypeError, InvalidArgumentError, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. Sends QUERY. See docs/names.md#query.
   */
  async *queryPages(
    dictionary: Key, expression: string, keys: List<Key>, { from, count }: PageOptions<number> = {},
  ): AsyncGenerator<N[], void, undefined> {
    const list = [...listed("keys", keys)], size = pageSize(count);
    let at: number | null = from ?? 0;
    while (at !== null) {
      const page = await this.query(dictionary, expression, list, { from: at, limit: size });
      if (page.names.length > 0) yield page.names;
      at = page.cursor;
    }
  }

  /**
   * Reads the names of an expression's members in ascending order of ids, one by one, and fetches them page by page.
   *
   * @param dictionary the key of the names
   * @param expression of QUERY: `#1` is the first key
   * @param keys keys, one at least; a missing key is an empty bitmap
   * @param options `from`: the first id; `count`: names in a page, 1000 if it is not given
   * @returns Names.
   * @throws WrongTypeError, InvalidArgumentError, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. Sends QUERY. See docs/names.md#query.
   */
  queryIterator(
    dictionary: Key, expression: string, keys: List<Key>, options: PageOptions<number> = {},
  ): AsyncGenerator<N, void, undefined> {
    return oneByOne(this.queryPages(dictionary, expression, keys, options));
  }

  /**
   * Adds names from a stream: of a file, of a query. Batches of them are sent, some at the same time, so memory does not grow with the
   * source. New names get ids in the order of the source, unless a batch fails and is sent again. A load that has failed or was ended can
   * be continued with `skip: done`.
   *
   * @param key a key; created if it is missing
   * @param source names, or arrays of them
   * @param options `batch`, `inFlight`, `skip`, `retries`, `signal`, `onProgress`
   * @returns `done`: how many names the source has.
   * @throws LoadError, whose `done` says how many names of the source are loaded
   * @remarks O(1) for each name. Sends ADD. See docs/names.md#add.
   */
  load(key: Key, source: NameSource, options: LoadOptions = {}): Promise<LoadProgress> {
    return loadNames(source, options, (names) => this.add(key, names));
  }

  /**
   * Names that are spread over the nodes of a cluster by a hash. Nothing is sent.
   *
   * @param name the beginning of its keys, without braces
   * @param options `shards`: how many there are, which cannot be changed while there are names
   * @throws InvalidArgumentError
   * @remarks O(1). See docs/cluster.md.
   */
  sharded(name: string, options: { readonly shards: number }): ShardedNames<N> {
    return new ShardedNames(this.calls, this.#transport, name, options, this.#options);
  }

  protected override run<T>(call: Call<T>): Promise<T> {
    return perform(this.#transport, call, this.#options);
  }
}

/** The names of one key. */
export class Dictionary<N extends Name> {
  readonly key: Key;
  readonly #of: Names<N>;

  /** Use `dictionary` of {@link Names}. */
  constructor(of: Names<N>, key: Key) {
    this.#of = of;
    this.key = key;
  }

  /**
   * The ids of names. Names that have none get the next ones, in the order given.
   *
   * @throws WrongTypeError, InvalidArgumentError, OutOfMemoryError
   * @remarks O(1) for each name. See docs/names.md#add.
   */
  add(names: List<Name>): Promise<number[]> {
    return this.#of.add(this.key, names);
  }

  /**
   * The ids of names, null for a name that has none.
   *
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(1) for each name. See docs/names.md#id.
   */
  ids(names: List<Name>): Promise<(number | null)[]> {
    return this.#of.ids(this.key, names);
  }

  /**
   * The names of ids, null for an id that has none.
   *
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(log n) for each id. See docs/names.md#name.
   */
  names(ids: List<number>): Promise<(N | null)[]> {
    return this.#of.names(this.key, ids);
  }

  /**
   * Removes names, and returns how many were there.
   *
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(1) for each name. See docs/names.md#del.
   */
  del(names: List<Name>): Promise<number> {
    return this.#of.del(this.key, names);
  }

  /**
   * The number of names.
   *
   * @throws WrongTypeError
   * @remarks O(1) for each segment. See docs/names.md#card.
   */
  card(): Promise<number> {
    return this.#of.card(this.key);
  }

  /**
   * Sets the bits of names in a bitmap, and returns how many were 0. Names that have no id get one.
   *
   * @param bitmap a key of `R` or `R64`; created as one of `R` if it is missing
   * @throws WrongTypeError, InvalidArgumentError, OutOfMemoryError
   * @remarks O(1) for each name. See docs/names.md#setbits.
   */
  setBits(bitmap: Key, names: List<Name>): Promise<number> {
    return this.#of.setBits(this.key, bitmap, names);
  }

  /**
   * The bits of names in a bitmap, 0 for a name that has no id.
   *
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(1) for each name. See docs/names.md#getbits.
   */
  getBits(bitmap: Key, names: List<Name>): Promise<Bit[]> {
    return this.#of.getBits(this.key, bitmap, names);
  }

  /**
   * Clears the bits of names in a bitmap, and returns how many were 1.
   *
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(1) for each name. See docs/names.md#clearbits.
   */
  clearBits(bitmap: Key, names: List<Name>): Promise<number> {
    return this.#of.clearBits(this.key, bitmap, names);
  }

  /**
   * Reads the names of an expression's members in ascending order of ids, page by page. See `queryPages` of {@link Names}.
   *
   * @throws WrongTypeError, InvalidArgumentError, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. Sends QUERY. See docs/names.md#query.
   */
  members(expression: string, keys: List<Key>, options: PageOptions<number> = {}): AsyncGenerator<N[], void, undefined> {
    return this.#of.queryPages(this.key, expression, keys, options);
  }

  /**
   * Reads all ids and their names in ascending order of ids, page by page.
   *
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(m) for each page of m names. Sends SCAN. See docs/names.md#scan.
   */
  scanPages(options: PageOptions<number> = {}): AsyncGenerator<[id: number, name: N][], void, undefined> {
    return this.#of.scanPages(this.key, options);
  }

  /**
   * Adds names from a stream. See `load` of {@link Names}.
   *
   * @throws LoadError, whose `done` says how many names of the source are loaded
   * @remarks O(1) for each name. Sends ADD. See docs/names.md#add.
   */
  load(source: NameSource, options: LoadOptions = {}): Promise<LoadProgress> {
    return this.#of.load(this.key, source, options);
  }
}
