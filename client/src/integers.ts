// Integers for ids: their commands, and iteration.

import type { Call } from "./call.js";
import { IntegerCommands } from "./commands.js";
import type { IntegerFamily, Member, Offset } from "./family.js";
import { IntegerCalls } from "./integer-calls.js";
import { type CallOptions, checkedOptions } from "./limits.js";
import { oneByOne, type PageOptions, pageSize } from "./paging.js";
import { ShardedIntegers } from "./sharded/integers.js";
import type { ShardingOptions } from "./sharded/layout.js";
import { perform, type Transport } from "./transport.js";
import type { Key } from "./types.js";

/** Integers for ids: `ri` or `ri64` of an adapter's `roar`. */
export class Integers<M extends Member> extends IntegerCommands<M> {
  override readonly calls: IntegerCalls<M>;
  readonly #transport: Transport;
  readonly #options: CallOptions | undefined;

  constructor(family: IntegerFamily<M>, transport: Transport, options?: CallOptions) {
    super();
    this.calls = new IntegerCalls(family);
    this.#transport = transport;
    this.#options = options;
  }

  /**
   * The same integers, whose calls end when a signal is aborted or a time is up: `ri.with({ timeout: 100 }).card("k")`.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for each command
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  with(options: CallOptions): Integers<M> {
    return new Integers(this.calls.family, this.#transport, checkedOptions(options));
  }

  /**
   * Reads all ids and their values in ascending order of ids, page by page. An id that has a value throughout is in exactly one page,
   * whatever is written meanwhile.
   *
   * @param key a key
   * @param options `from`: the first id; `count`: ids in a page, 1000 if it is not given
   * @returns Pages of one pair of an id and its value, or more.
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(log n + m) for each page of m ids. Sends SCAN. See docs/integers.md#scan.
   */
  async *scanPages(key: Key, { from, count }: PageOptions<M> = {}): AsyncGenerator<[id: M, value: M][], void, undefined> {
    const size = pageSize(count);
    let at: Offset<M> | null = from ?? (0);
    while (at !== null) {
      const page = await this.scan(key, at, { count: size });
      if (page.entries.length > 0) yield page.entries;
      at = page.cursor as Offset<M> | null;
    }
  }

  /**
   * Reads all ids and their values in ascending order of ids, one by one, and fetches them page by page.
   *
   * @param key a key
   * @param options `from`: the first id; `count`: ids in a page, 1000 if it is not given
   * @returns Pairs of an id and its value.
   * @throws WrongTypeError, InvalidArgumentError
   * @remarks O(log n + m) for each page of m ids. Sends SCAN. See docs/integers.md#scan.
   */
  scanIterator(key: Key, options: PageOptions<M> = {}): AsyncGenerator<[id: M, value: M], void, undefined> {
    return oneByOne(this.scanPages(key, options));
  }

  /**
   * Integers that are spread over the nodes of a cluster, cut as the bitmaps of `r` or `r64` with the same options. So ids of `ri` are 0 to
   * 4294967295 here. Nothing is sent.
   *
   * @param name the beginning of its keys, without braces
   * @param options `by`: `range` or `hash`; `width`: by range, ids in a shard, a multiple of 65536; `shards`: how many there are
   * @throws InvalidArgumentError
   * @remarks O(1). See docs/cluster.md.
   */
  sharded(name: string, options: ShardingOptions): ShardedIntegers<M> {
    return new ShardedIntegers(this.calls, this.#transport, name, options, this.#options);
  }

  protected override run<T>(call: Call<T>): Promise<T> {
    return perform(this.#transport, call, this.#options);
  }
}
