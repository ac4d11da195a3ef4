// What sharded bitmaps, integers and names share: the shards, their keys, and how calls are sent to them.

import { type Call, listed } from "../call.js";
import { InvalidArgumentError } from "../errors.js";
import { type Count, type Family, integer, type Member, type Offset } from "../family.js";
import type { CallOptions } from "../limits.js";
import type { Transport } from "../transport.js";
import type { List } from "../types.js";
import { Expression } from "./expression.js";
import { fanOut, keyCall } from "./fan-out.js";
import { type Bounds, type Layout, layoutOf, type ShardingOptions } from "./layout.js";

/** The shard of an item of a list, and what the item is there. */
export type Place<I, L> = (item: I) => readonly [shard: number, local: L];

/** What is cut into shards, of any family. */
type Cut = Pick<Shards<Member>, "width" | "shards" | "keyOf">;

/** The shards of a bitmap, or of what is cut like one. */
export abstract class Shards<M extends Member> {
  /** The beginning of its keys. */
  readonly name: string;
  /** The family of bitmaps that are cut in the same way. */
  readonly family: Family<M>;
  /** How it is cut. */
  readonly sharding: ShardingOptions;
  protected readonly layout: Layout;
  protected readonly transport: Transport;
  readonly #options: CallOptions | undefined;

  constructor(family: Family<M>, transport: Transport, name: string, sharding: ShardingOptions, options?: CallOptions) {
    if (transport.prefix !== undefined && String(transport.prefix).includes("{")) {
      const prefix = JSON.stringify(String(transport.prefix));
      const why = "so that the shard's number is not the hash tag, and all shards are on one node";
      throw new InvalidArgumentError(`invalid keyPrefix: ${prefix} has a brace, ${why}`);
    }
    this.family = family;
    this.transport = transport;
    this.name = name;
    this.sharding = sharding;
    this.#options = options;
    this.layout = layoutOf(family, name, sharding);
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

  /**
   * Sets the time to live of all shards that exist. A shard that is created later has none.
   *
   * @param seconds from now
   * @returns The number of shards that have it now.
   * @throws ShardsFailedError, InvalidArgumentError
   * @remarks O(1) for each shard. See docs/cluster.md.
   */
  async expire(seconds: number): Promise<number> {
    const text = String(integer("seconds", seconds, 0n, 2n ** 53n));
    return (await this.each(this.layout.all(), (shard) => keyCall("EXPIRE", this.keyOf(shard), [text]))).filter(Boolean).length;
  }

  /**
   * Deletes all shards.
   *
   * @returns The number of shards that existed.
   * @throws ShardsFailedError
   * @remarks O(1) for each shard; the server frees them in the background. See docs/cluster.md.
   */
  async delete(): Promise<number> {
    return (await this.each(this.layout.all(), (shard) => keyCall("UNLINK", this.keyOf(shard)))).filter(Boolean).length;
  }

  /** Sends a call to each of several different shards; `i` is the shard's position in the list. */
  protected each<T>(shards: readonly number[], make: (shard: number, i: number) => Call<T>): Promise<T[]> {
    return fanOut(this.transport, this.layout, shards, make, this.#options);
  }

  protected total(counts: readonly (bigint | number)[]): Count<M> {
    return this.family.member(counts.reduce<bigint>((sum, count) => sum + BigInt(count), 0n));
  }

  /** An offset within the shards. */
  protected within(offset: Offset<M>): bigint {
    return integer("offset", offset, 0n, this.layout.last);
  }

  /** An integer as the family's methods take it. */
  protected given(value: bigint): Offset<M> {
    return this.family.member(value) as unknown as Offset<M>;
  }

  /** What an offset is in its shard. */
  protected local(offset: Offset<M>): Offset<M> {
    return this.given(this.layout.localOf(this.within(offset)));
  }

  /** What an offset in a shard is in the bitmap. */
  protected global(shard: number, local: M): M {
    return this.family.member(this.layout.globalOf(shard, BigInt(local)));
  }

  /** Where an offset is. */
  protected readonly place: Place<Offset<M>, Offset<M>> = (offset) => [this.shardOf(offset), this.local(offset)];

  /** Items by shard, as they are there. */
  protected byShard<I, L>(items: Iterable<I>, place: Place<I, L>): Map<number, L[]> {
    const parts = new Map<number, L[]>();
    for (const item of items) {
      const [shard, local] = place(item), part = parts.get(shard);
      if (part) part.push(local);
      else parts.set(shard, [local]);
    }
    return parts;
  }

  /** Sends each shard its items, and adds up what they answer. */
  protected async added<I, L>(
    name: string, items: List<I>, place: Place<I, L>, make: (shard: number, part: L[]) => Call<Count<M> | number | null>,
  ): Promise<Count<M>> {
    const parts = this.byShard(listed(name, items), place);
    const counts = await this.each([...parts.keys()], (shard) => make(shard, parts.get(shard)!));
    return this.total(counts.map((count) => count ?? 0));
  }

  /** Sends each shard its items, and returns what they answer for each item, in the order of the list. */
  protected async ordered<I, L, T>(
    name: string, items: List<I>, place: Place<I, L>, make: (shard: number, part: L[]) => Call<T[]>,
  ): Promise<T[]> {
    const places = [...listed(name, items)].map(place), parts = this.byShard(places, (one) => one), shards = [...parts.keys()];
    const answers = await this.each(shards, (shard) => make(shard, parts.get(shard)!));
    const next = new Map(shards.map((shard, i) => [shard, answers[i]![Symbol.iterator]()]));
    return places.map(([shard]) => next.get(shard)!.next().value!);
  }

  /** Refuses bitmaps whose shards are not this one's. */
  protected check(bitmaps: readonly Cut[]): void {
    for (const { width, shards } of bitmaps) {
      if (width !== this.width) {
        const [theirs, ours] = [width, this.width].map((one) => (one === undefined ? "spread by hash" : `of the width ${one}`));
        throw new InvalidArgumentError(`invalid sources: one is ${theirs}, and this one is ${ours}`);
      }
      if (shards > this.shards || (width === undefined && shards !== this.shards)) {
        throw new InvalidArgumentError(`invalid sources: one has ${shards} shards, and this one ${this.shards}`);
      }
    }
  }

  protected keys(bitmaps: readonly Cut[]): (shard: number) => string[] {
    this.check(bitmaps);
    return (shard) => bitmaps.map((one) => one.keyOf(shard));
  }

  /** Sends the calls for an expression, or for what it has in the bounds, each with the text for its shard. */
  protected async evaluate<T>(
    shards: readonly number[], text: string, make: (shard: number, text: string, i: number) => Call<T>, bounds?: Bounds,
  ): Promise<T[]> {
    const expression = new Expression(text, this.layout, bounds);
    try {
      return await this.each(shards, (shard, i) => make(shard, expression.within(shard), i));
    } catch (error) {
      throw expression.mistakeIn(error) ?? error;
    }
  }
}
