// The methods of a family: its commands, and what is made of several commands.

import type { Call } from "./call.js";
import { Calls } from "./calls.js";
import { Commands } from "./commands.js";
import type { Count, Family, Member, Offset } from "./family.js";
import { PAGE, type PageOptions } from "./paging.js";
import { ShardedBitmap, type ShardingOptions } from "./sharded/bitmap.js";
import { perform, type Transport } from "./transport.js";
import type { Bit, Key } from "./types.js";

/** The bitmaps of a family: `r` or `r64` of an adapter's `roar`. */
export class Bitmaps<M extends Member> extends Commands<M> {
  override readonly calls: Calls<M>;
  readonly #transport: Transport;

  constructor(family: Family<M>, transport: Transport) {
    super();
    this.calls = new Calls(family);
    this.#transport = transport;
  }

  /**
   * Inverts the bit at an offset in one step: of several clients that toggle a bit at the same time, none loses its change.
   *
   * @param key a key; created if it is missing
   * @param offset 0 to 4294967295 in `r`, to 18446744073709551615 in `r64`
   * @returns The new bit.
   * @throws WrongType, OutOfRange, Oom
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
   * @throws WrongType, RoarError, Oom with `store`
   * @remarks O(n) in the total size of the bitmaps. Sends QUERY or QUERYSTORE. See docs/commands.md#query.
   */
  async atLeast(k: number, keys: Iterable<Key>, options: { store?: Key } = {}): Promise<Count<M>> {
    const list = [...keys], expression = `atleast(${k}, #1..#${list.length})`;
    return options.store === undefined ? this.queryCard(expression, list) : this.queryStore(options.store, expression, list);
  }

  /**
   * Reads all members in ascending order, page by page. A member that is present throughout is in exactly one page, whatever is written
   * meanwhile.
   *
   * @param key a key
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @returns Pages of one member or more.
   * @throws WrongType, OutOfRange
   * @remarks O(log n + m) for each page of m members. Sends SCAN. See docs/commands.md#scan.
   */
  async *scanPages(key: Key, { from, count = PAGE }: PageOptions<M> = {}): AsyncGenerator<M[], void, undefined> {
    let at: Offset<M> | null = from ?? (0);
    while (at !== null) {
      const page = await this.scan(key, at, { count });
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
   * @throws WrongType, OutOfRange
   * @remarks O(log n + m) for each page of m members. Sends SCAN. See docs/commands.md#scan.
   */
  async *scanIterator(key: Key, options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    for await (const page of this.scanPages(key, options)) yield* page;
  }

  /**
   * Reads the members of an expression in ascending order, page by page. Nothing is stored: each page evaluates as much of the expression
   * as it needs.
   *
   * @param expression of QUERY: `#1` is the first key
   * @param keys keys, one at least; a missing key is an empty bitmap
   * @param options `from`: the first offset; `count`: members in a page, 1000 if it is not given
   * @returns Pages of one member or more.
   * @throws WrongType, OutOfRange, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. See docs/commands.md#query.
   */
  async *queryPages(
    expression: string, keys: Iterable<Key>, { from, count = PAGE }: PageOptions<M> = {},
  ): AsyncGenerator<M[], void, undefined> {
    const list = [...keys], { last } = this.calls.family;
    let at: Offset<M> | undefined = from;
    for (;;) {
      const page: M[] = await this.queryMembers(expression, list, { ...(at !== undefined && { from: at }), limit: count });
      if (page.length > 0) yield page;
      const next = BigInt(page.at(-1) ?? last) + 1n;
      if (page.length < count || next > last) return;
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
   * @throws WrongType, OutOfRange, RoarError if the expression is wrong
   * @remarks For each page O(n) in the size of what is read to find its members. See docs/commands.md#query.
   */
  async *queryIterator(expression: string, keys: Iterable<Key>, options: PageOptions<M> = {}): AsyncGenerator<M, void, undefined> {
    for await (const page of this.queryPages(expression, keys, options)) yield* page;
  }

  /**
   * A bitmap that is spread over the nodes of a cluster in pieces of `width` offsets. Nothing is sent.
   *
   * @param name the beginning of its keys, without braces
   * @param options `width`: offsets in a shard, a multiple of 65536; `shards`: how many there are
   * @throws OutOfRange
   * @remarks O(1). See docs/cluster.md.
   */
  sharded(name: string, options: ShardingOptions): ShardedBitmap<M> {
    return new ShardedBitmap(this.calls, this.#transport, name, options);
  }

  protected override async run<T>(make: () => Call<T>): Promise<T> {
    return perform(this.#transport, make());
  }
}
