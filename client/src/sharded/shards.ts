// What the methods of sharded bitmaps share: the shards, their keys, and how calls are sent to them.

import { type Call, listed } from "../call.js";
import type { Calls } from "../calls.js";
import { InvalidArgumentError } from "../errors.js";
import { type Count, type Family, integer, type Member, type Offset } from "../family.js";
import type { CallOptions } from "../limits.js";
import type { Transport } from "../transport.js";
import type { List } from "../types.js";
import { Expression } from "./expression.js";
import { fanOut } from "./fan-out.js";
import { type Bounds, type Layout, layoutOf, type ShardingOptions } from "./layout.js";
import type { Ask, AskForRuns, Part } from "./reading.js";

/** The shards of a bitmap. */
export abstract class Shards<M extends Member> {
  /** The beginning of its keys. */
  readonly name: string;
  protected readonly calls: Calls<M>;
  protected readonly layout: Layout;
  protected readonly transport: Transport;
  protected readonly sharding: ShardingOptions;
  readonly #options: CallOptions | undefined;

  constructor(calls: Calls<M>, transport: Transport, name: string, sharding: ShardingOptions, options?: CallOptions) {
    if (transport.prefix !== undefined && String(transport.prefix).includes("{")) {
      const prefix = JSON.stringify(String(transport.prefix));
      const why = "so that the shard's number is not the hash tag, and all shards are on one node";
      throw new InvalidArgumentError(`invalid keyPrefix: ${prefix} has a brace, ${why}`);
    }
    this.calls = calls;
    this.transport = transport;
    this.name = name;
    this.sharding = sharding;
    this.#options = options;
    this.layout = layoutOf(calls.family, name, sharding);
  }

  /** The family that it is of. */
  get family(): Family<M> {
    return this.calls.family;
  }

  /** Offsets in a shard; undefined if they are spread by hash. */
  get width(): bigint | undefined {
    return this.layout.width;
  }

  /** How many shards there are. */
  get shards(): number {
    return this.layout.shards;
  }

  /**
   * The key of a shard, `name:{shard}`. O(1). See docs/cluster.md.
   */
  keyOf(shard: number): string {
    return this.layout.keyOf(shard);
  }

  /**
   * The shard of an offset. Throws {@link InvalidArgumentError} beyond the last shard. O(1). See docs/cluster.md.
   */
  shardOf(offset: Offset<M>): number {
    return this.layout.shardOf(this.within(offset));
  }

  protected each<T>(shards: readonly number[], make: (shard: number) => Call<T>): Promise<T[]> {
    return fanOut(this.transport, this.layout, shards, make, this.#options);
  }

  protected counts(shards: readonly number[]): Promise<Count<M>[]> {
    return this.each(shards, (shard) => this.calls.bitCount(this.keyOf(shard)));
  }

  protected sum(counts: readonly (bigint | number)[]): Count<M> {
    return this.calls.family.member(counts.reduce<bigint>((sum, count) => sum + BigInt(count), 0n));
  }

  /** An offset within the shards. */
  protected within(offset: Offset<M>): bigint {
    return integer("offset", offset, 0n, this.layout.last);
  }

  /** An integer as the family's methods take it. */
  protected given(value: bigint): Offset<M> {
    return this.calls.family.member(value) as unknown as Offset<M>;
  }

  /** What an offset is in its shard. */
  protected local(offset: Offset<M>): Offset<M> {
    return this.given(this.layout.localOf(this.within(offset)));
  }

  /** What an offset in a shard is in the bitmap. */
  protected global(shard: number, local: M): M {
    return this.calls.family.member(this.layout.globalOf(shard, BigInt(local)));
  }

  /** Offsets by shard, as they are there. */
  protected byShard(offsets: List<Offset<M>>): Map<number, Offset<M>[]> {
    const parts = new Map<number, Offset<M>[]>();
    for (const offset of listed("offsets", offsets)) {
      const shard = this.shardOf(offset), part = parts.get(shard), local = this.local(offset);
      if (part) part.push(local);
      else parts.set(shard, [local]);
    }
    return parts;
  }

  /** Refuses bitmaps whose shards are not this one's. */
  protected check(bitmaps: readonly Shards<M>[]): void {
    for (const { width, shards } of bitmaps) {
      if (width !== this.width) {
        const [theirs, ours] = [width, this.width].map((one) => (one === undefined ? "spread by hash" : `of the width ${one}`));
        throw new InvalidArgumentError(`invalid sources: one is ${theirs}, and this bitmap is ${ours}`);
      }
      if (shards > this.shards || (width === undefined && shards !== this.shards)) {
        throw new InvalidArgumentError(`invalid sources: one has ${shards} shards, and this bitmap ${this.shards}`);
      }
    }
  }

  protected keys(bitmaps: readonly Shards<M>[]): (shard: number) => string[] {
    this.check(bitmaps);
    return (shard) => bitmaps.map((one) => one.keyOf(shard));
  }

  /** Sends the calls for an expression, or for what it has in the bounds, each with the text for its shard. */
  protected async evaluate<T>(
    shards: readonly number[], text: string, make: (shard: number, text: string) => Call<T>, bounds?: Bounds,
  ): Promise<T[]> {
    const expression = new Expression(text, this.layout, bounds);
    try {
      return await this.each(shards, (shard) => make(shard, expression.within(shard)));
    } catch (error) {
      throw expression.mistakeIn(error) ?? error;
    }
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
