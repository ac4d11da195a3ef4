// What the methods of sharded bitmaps share: the shards, their keys, and how calls are sent to them.

import { type Call, listed } from "../call.js";
import type { Calls } from "../calls.js";
import { InvalidArgumentError } from "../errors.js";
import { type Count, type Family, integer, type Member, type Offset } from "../family.js";
import type { CallOptions } from "../limits.js";
import type { PageOptions } from "../paging.js";
import type { Transport } from "../transport.js";
import type { List } from "../types.js";
import { Expression } from "./expression.js";
import { fanOut } from "./fan-out.js";
import { Geometry, type ShardingOptions } from "./geometry.js";
import { pages } from "./reading.js";

/** The shards of a bitmap. */
export abstract class Shards<M extends Member> {
  protected readonly calls: Calls<M>;
  protected readonly geometry: Geometry;
  protected readonly transport: Transport;
  protected readonly sharding: ShardingOptions;

  /** The beginning of its keys. */
  readonly name: string;
  readonly #options: CallOptions | undefined;

  constructor(calls: Calls<M>, transport: Transport, name: string, sharding: ShardingOptions, options?: CallOptions) {
    if (transport.prefix !== undefined && String(transport.prefix).includes("{")) {
      const prefix = JSON.stringify(String(transport.prefix));
      throw new InvalidArgumentError(`invalid keyPrefix: ${prefix} has a brace, so that the shard's number is not the hash tag, and all shards are on one node`);
    }
    this.calls = calls;
    this.transport = transport;
    this.sharding = sharding;
    this.name = name;
    this.#options = options;
    this.geometry = new Geometry(calls.family, name, sharding);
  }

  /** The family that it is of. */
  get family(): Family<M> {
    return this.calls.family;
  }

  /** Offsets in a shard. */
  get width(): bigint {
    return this.geometry.width;
  }

  /** How many shards there are. */
  get shards(): number {
    return this.geometry.shards;
  }

  /**
   * The key of a shard, `name:{shard}`. O(1). See docs/cluster.md.
   */
  keyOf(shard: number): string {
    return this.geometry.keyOf(shard);
  }

  /**
   * The shard of an offset. Throws {@link InvalidArgumentError} beyond the last shard. O(1). See docs/cluster.md.
   */
  shardOf(offset: Offset<M>): number {
    return this.geometry.shardOf(this.within(offset));
  }

  protected each<T>(shards: readonly number[], make: (shard: number) => Call<T>): Promise<T[]> {
    return fanOut(this.transport, this.geometry, shards, make, this.#options);
  }

  protected counts(shards: readonly number[]): Promise<Count<M>[]> {
    return this.each(shards, (shard) => this.calls.bitCount(this.keyOf(shard)));
  }

  protected sum(counts: readonly (bigint | number)[]): Count<M> {
    return this.calls.family.member(counts.reduce<bigint>((sum, count) => sum + BigInt(count), 0n));
  }

  /** An offset within the shards. */
  protected within(offset: Offset<M>): bigint {
    return integer("offset", offset, 0n, this.geometry.last);
  }

  /** An integer as the family's methods take it. */
  protected given(value: bigint): Offset<M> {
    return this.calls.family.member(value) as unknown as Offset<M>;
  }

  protected byShard(offsets: List<Offset<M>>): Map<number, Offset<M>[]> {
    const parts = new Map<number, Offset<M>[]>();
    for (const offset of listed("offsets", offsets)) {
      const shard = this.shardOf(offset), part = parts.get(shard);
      if (part) part.push(offset);
      else parts.set(shard, [offset]);
    }
    return parts;
  }

  /** Refuses bitmaps whose shards are not this one's. */
  protected check(bitmaps: readonly Shards<M>[]): void {
    for (const { width, shards } of bitmaps) {
      if (width !== this.width) throw new InvalidArgumentError(`invalid sources: one has the width ${width}, and this bitmap ${this.width}`);
      if (shards > this.shards) throw new InvalidArgumentError(`invalid sources: one has ${shards} shards, and this bitmap ${this.shards}`);
    }
  }

  protected keys(bitmaps: readonly Shards<M>[]): (shard: number) => string[] {
    this.check(bitmaps);
    return (shard) => bitmaps.map((one) => one.keyOf(shard));
  }

  /** Sends the calls for an expression, each with the text for its shard. */
  protected async evaluate<T>(shards: readonly number[], text: string, make: (shard: number, text: string) => Call<T>): Promise<T[]> {
    const expression = new Expression(text);
    try {
      return await this.each(shards, (shard) => make(shard, expression.within(this.geometry.bounds(shard))));
    } catch (error) {
      throw expression.mistakeIn(error) ?? error;
    }
  }

  protected pages(
    { from, count }: PageOptions<M>, ask: (shard: number, from: Offset<M>, limit: number) => Promise<M[][]>,
  ): AsyncGenerator<M[], void, undefined> {
    return pages(this.geometry, from === undefined ? 0n : this.within(from), count, async (shard, at, limit) =>
      (await ask(shard, this.given(at), limit))[0]!);
  }
}
