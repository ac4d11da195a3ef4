// Names for ids that are spread over a cluster: a dictionary for each shard.

import { mapped } from "../call.js";
import { InvalidArgumentError } from "../errors.js";
import { type Name, nameWord, R } from "../family.js";
import { type CallOptions, checkedOptions } from "../limits.js";
import type { LoadOptions, LoadProgress } from "../load.js";
import { loadNames, type NameSource } from "../load-names.js";
import type { NameCalls } from "../name-calls.js";
import { type PageOptions, pageSize } from "../paging.js";
import type { Transport } from "../transport.js";
import type { Bit, List } from "../types.js";
import type { ShardedBitmap } from "./bitmap.js";
import { hashOfBytes, type ShardingOptions } from "./layout.js";
import { type Place, Shards } from "./shards.js";

/** How many shards there are. */
type Sharding = Pick<ShardingOptions, "shards">;

/** How many names to read at a time. */
type Paging = Pick<PageOptions<number>, "count">;

/**
 * A dictionary in pieces. A name is in the shard that a hash of its bytes says, and its id there makes its id here, so that sharded bitmaps
 * by hash, with as many shards, hold these ids: a name and its bits are in one slot. Methods that concern several shards send all commands
 * at the same time, and are not atomic over shards. If some fail, they reject with `ShardsFailedError` once all are through.
 */
export class ShardedNames<N extends Name> extends Shards<number> {
  readonly #calls: NameCalls<N>;

  /** Use `sharded` of `rn` or `rnBytes`. */
  constructor(calls: NameCalls<N>, transport: Transport, name: string, { shards }: Sharding, options?: CallOptions) {
    super(R, transport, name, { by: "hash", shards }, options);
    this.#calls = calls;
  }

  /**
   * The same names, whose calls end when a signal is aborted or a time is up.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for the commands that are sent together
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  with(options: CallOptions): ShardedNames<N> {
    return new ShardedNames(this.#calls, this.transport, this.name, this.sharding, checkedOptions(options));
  }

  /**
   * The shard of a name. O(length). See docs/cluster.md.
   */
  shardOfName(name: Name): number {
    const word = nameWord(name);
    return hashOfBytes(typeof word === "string" ? Buffer.from(word) : word) % this.shards;
  }

  /**
   * The ids of names. Names that have none get one.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each name, one command for each shard that has some. See docs/names.md#add.
   */
  async add(names: List<Name>): Promise<number[]> {
    return this.ordered("names", names, this.#placeOfName, (shard, part) =>
      mapped(this.#calls.add(this.keyOf(shard), part), (ids) => ids.map((id) => this.global(shard, id))));
  }

  /**
   * The ids of names, null for a name that has none.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each name, one command for each shard that has some. See docs/names.md#id.
   */
  async ids(names: List<Name>): Promise<(number | null)[]> {
    return this.ordered("names", names, this.#placeOfName, (shard, part) =>
      mapped(this.#calls.ids(this.keyOf(shard), part), (ids) => ids.map((id) => (id === null ? null : this.global(shard, id)))));
  }

  /**
   * The names of ids, null for an id that has none.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(log n) for each id, one command for each shard that has some. See docs/names.md#name.
   */
  async names(ids: List<number>): Promise<(N | null)[]> {
    return this.ordered("ids", ids, this.place, (shard, part) => this.#calls.names(this.keyOf(shard), part));
  }

  /**
   * Removes names, and returns how many were there.
   *
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each name, one command for each shard that has some. See docs/names.md#del.
   */
  async del(names: List<Name>): Promise<number> {
    return this.added("names", names, this.#placeOfName, (shard, part) => this.#calls.del(this.keyOf(shard), part));
  }

  /**
   * The number of names.
   *
   * @throws ShardsFailedError
   * @remarks O(1) for each segment. See docs/names.md#card.
   */
  async card(): Promise<number> {
    return this.total(await this.each(this.layout.all(), (shard) => this.#calls.card(this.keyOf(shard))));
  }

  /**
   * Sets the bits of names in a bitmap, and returns how many were 0. Names that have no id get one.
   *
   * @param bitmap of `r`, sharded by hash, with as many shards
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each name, one command for each shard that has some. See docs/names.md#setbits.
   */
  async setBits(bitmap: ShardedBitmap<number>, names: List<Name>): Promise<number> {
    const keys = this.#keysOf([bitmap]);
    return this.added("names", names, this.#placeOfName, (shard, part) =>
      this.#calls.setBits(this.keyOf(shard), keys(shard)[0]!, part));
  }

  /**
   * The bits of names in a bitmap, 0 for a name that has no id.
   *
   * @param bitmap of `r`, sharded by hash, with as many shards
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each name, one command for each shard that has some. See docs/names.md#getbits.
   */
  async getBits(bitmap: ShardedBitmap<number>, names: List<Name>): Promise<Bit[]> {
    const keys = this.#keysOf([bitmap]);
    return this.ordered("names", names, this.#placeOfName, (shard, part) =>
      this.#calls.getBits(this.keyOf(shard), keys(shard)[0]!, part));
  }

  /**
   * Clears the bits of names in a bitmap, and returns how many were 1.
   *
   * @param bitmap of `r`, sharded by hash, with as many shards
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each name, one command for each shard that has some. See docs/names.md#clearbits.
   */
  async clearBits(bitmap: ShardedBitmap<number>, names: List<Name>): Promise<number> {
    const keys = this.#keysOf([bitmap]);
    return this.added("names", names, this.#placeOfName, (shard, part) =>
      this.#calls.clearBits(this.keyOf(shard), keys(shard)[0]!, part));
  }

  /**
   * Reads the names of an expression's members, shard by shard and page by page. Members without a name are left out.
   *
   * @param expression of QUERY: `#1` is the first of the bitmaps
   * @param bitmaps of `r`, sharded by hash, with as many shards
   * @param options `count`: names in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. Sends QUERY. See docs/names.md#query.
   */
  async *members(
    expression: string, bitmaps: readonly ShardedBitmap<number>[], { count }: Paging = {},
  ): AsyncGenerator<N[], void, undefined> {
    const size = pageSize(count), keys = this.#keysOf(bitmaps);
    for (const shard of this.layout.all()) {
      for (let from: number | null = 0; from !== null;) {
        const options: { from: number; limit: number } = { from, limit: size };
        const [page] = await this.evaluate([shard], expression, (_, text) =>
          this.#calls.query(this.keyOf(shard), text, keys(shard), options));
        if (page!.names.length > 0) yield page!.names;
        from = page!.cursor;
      }
    }
  }

  /**
   * Reads all ids and their names, shard by shard and page by page.
   *
   * @param options `count`: names in a page, 1000 if it is not given
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(m) for each page of m names. Sends SCAN. See docs/names.md#scan.
   */
  async *scanPages({ count }: Paging = {}): AsyncGenerator<[id: number, name: N][], void, undefined> {
    const size = pageSize(count);
    for (const shard of this.layout.all()) {
      for (let from: number | null = 0; from !== null;) {
        const at: number = from, [page] = await this.each([shard], () => this.#calls.scan(this.keyOf(shard), at, { count: size }));
        if (page!.entries.length > 0) yield page!.entries.map(([id, name]) => [this.global(shard, id), name]);
        from = page!.cursor;
      }
    }
  }

  /**
   * Adds names from a stream, as `load` of `rn` does.
   *
   * @param source names, or arrays of them
   * @param options `batch`, `inFlight`, `skip`, `retries`, `signal`, `onProgress`
   * @returns `done`: how many names the source has.
   * @throws LoadError, whose `done` says how many names of the source are loaded
   * @remarks O(1) for each name. Sends ADD. See docs/names.md#add.
   */
  load(source: NameSource, options: LoadOptions = {}): Promise<LoadProgress> {
    return loadNames(source, options, (names) => this.add(names));
  }

  /** The keys of bitmaps. One of `r64` is refused, because commands of names make a missing shard one of `r`. */
  #keysOf(bitmaps: readonly ShardedBitmap<number>[]): (shard: number) => string[] {
    if (bitmaps.some(({ family }) => family !== this.family)) throw new InvalidArgumentError("invalid bitmap: it is not of r");
    return this.keys(bitmaps);
  }

  readonly #placeOfName: Place<Name, Name> = (name) => [this.shardOfName(name), name];
}
