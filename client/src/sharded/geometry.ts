// Which offsets are in which shard, and what the shards' keys are.

import { InvalidArgumentError } from "../errors.js";
import { type Family, integer, type Member } from "../family.js";
import { CONTAINER_OFFSETS } from "./payload.js";

/** How a bitmap is cut into shards. At least one of the two is needed. */
export interface ShardingOptions {
  /** Offsets in a shard, a multiple of 65536. Without it, the universe of the family is divided by `shards`. */
  width?: number | bigint;
  /** How many shards there are, 16384 at most. Without it, as many as the universe of the family needs. */
  shards?: number;
}

/** There are no more slots to spread shards over. */
const MAX_SHARDS = 16_384n;

const STEP = BigInt(CONTAINER_OFFSETS);
const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

export class Geometry {
  readonly width: bigint;
  readonly shards: number;
  /** The last offset of the last shard. */
  readonly last: bigint;
  readonly #name: string;

  constructor(family: Family<Member>, name: string, { width, shards }: ShardingOptions) {
    if (/[{}]/.test(name)) throw new InvalidArgumentError(`invalid name: ${name} has a brace, and the shard's number has to be the hash tag`);
    if (width === undefined && shards === undefined) throw new InvalidArgumentError("invalid sharding: it needs a width or a number of shards");
    const universe = family.last + 1n;
    if (shards !== undefined) integer("shards", shards, 1n, MAX_SHARDS);
    this.width = integer("width", width ?? divideUp(divideUp(universe, BigInt(shards!)), STEP) * STEP, STEP, universe);
    if (this.width % STEP !== 0n) throw new InvalidArgumentError(`invalid width: ${this.width} is not a multiple of ${STEP}`);
    const needed = divideUp(universe, this.width), count = shards === undefined || BigInt(shards) > needed ? needed : BigInt(shards);
    if (count > MAX_SHARDS) throw new InvalidArgumentError(`invalid width: ${count} shards are more than ${MAX_SHARDS}; give a number of shards, too`);
    this.shards = Number(count);
    const end = this.width * count - 1n;
    this.last = end < family.last ? end : family.last;
    this.#name = name;
  }

  keyOf(shard: number): string {
    return `${this.#name}:{${shard}}`;
  }

  /** The shard of an offset that is not beyond the last one. */
  shardOf(offset: bigint): number {
    return Number(offset / this.width);
  }

  /** The first and the last offset of a shard. */
  bounds(shard: number): { low: bigint; high: bigint } {
    const low = BigInt(shard) * this.width, high = low + this.width - 1n;
    return { low, high: high < this.last ? high : this.last };
  }

  /** Shards in ascending order. */
  all(from = 0, to = this.shards - 1): number[] {
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  }
}
