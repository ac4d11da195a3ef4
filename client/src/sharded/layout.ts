// Which offsets are in which shard, what they are there, and what the shards' keys are.

import { inBuffer } from "../bytes.js";
import { InvalidArgumentError } from "../errors.js";
import { type Family, integer, type Member } from "../family.js";
import { CONTAINER_OFFSETS } from "../payload.js";
import { type Members, membersFor } from "../containers.js";

/** How a bitmap is cut into shards. */
export interface ShardingOptions {
  /**
   * `range`, the default: a shard has `width` consecutive offsets. `hash`: consecutive offsets are in different shards, so that no shard
   * has all the newest ones.
   */
  readonly by?: "range" | "hash" | undefined;
  /** By range: offsets in a shard, a multiple of 65536. Without it, the universe of the family is divided by `shards`. */
  readonly width?: number | bigint | undefined;
  /** How many shards there are, 16384 at most. By range, without it: as many as the universe of the family needs. */
  readonly shards?: number | undefined;
}

/** Offsets, both ends included. */
export interface Bounds {
  readonly low: bigint;
  readonly high: bigint;
}

/** There are no more slots to spread shards over. */
const MAX_SHARDS = 16_384n;

const STEP = BigInt(CONTAINER_OFFSETS);
const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** A way to cut bitmaps. Offsets in a shard ascend with those of the bitmap. */
export abstract class Layout {
  readonly shards: number;
  /** The last offset of the bitmap. */
  readonly last: bigint;
  /** By range, offsets in a shard. */
  abstract readonly width: bigint | undefined;
  readonly #name: string;

  constructor(name: string, shards: number, last: bigint) {
    this.#name = name;
    this.shards = shards;
    this.last = last;
  }

  keyOf(shard: number): string {
    return `${this.#name}:{${shard}}`;
  }

  /** Shards in ascending order. */
  all(from = 0, to = this.shards - 1): number[] {
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  }

  /** The shard of an offset that is not beyond the last one. */
  abstract shardOf(offset: bigint): number;
  /** What an offset of the bitmap is in its shard. */
  abstract localOf(offset: bigint): bigint;
  /** What an offset in a shard is in the bitmap. */
  abstract globalOf(shard: number, local: bigint): bigint;
  /** The part of a range of the bitmap in a shard, as offsets there. */
  abstract within(shard: number, low: bigint, high: bigint): Bounds | undefined;

  /** Ascending members by shard, as offsets there. O(members). */
  split<M extends Member>(family: Family<M>, members: Members<M>): Map<number, Members<M>> {
    const shardsOf = new Uint16Array(members.length), counts = new Map<number, number>(), parts = new Map<number, Members<M>>();
    const locals = membersFor(family, members.length);
    for (let i = 0; i < members.length; i++) {
      const shard = this.place(members[i]!, (local) => { locals[i] = local; });
      shardsOf[i] = shard;
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    for (const [shard, count] of counts) {
      parts.set(shard, membersFor(family, count));
      counts.set(shard, 0);
    }
    for (let i = 0; i < members.length; i++) {
      const shard = shardsOf[i]!, at = counts.get(shard)!;
      parts.get(shard)![at] = locals[i] as never;
      counts.set(shard, at + 1);
    }
    return parts;
  }

  /** The shard of a member; passes on what it is there. Throws beyond the last offset. */
  protected place(member: number | bigint, local: (value: number | bigint) => void): number {
    const offset = integer("offset", member, 0n, this.last), value = this.localOf(offset);
    local(typeof member === "number" ? Number(value) : value);
    return this.shardOf(offset);
  }
}

/** Consecutive offsets in each shard. Offsets there are those of the bitmap. */
class Ranges extends Layout {
  override readonly width: bigint;

  constructor(name: string, shards: number, last: bigint, width: bigint) {
    super(name, shards, last);
    this.width = width;
  }

  override shardOf(offset: bigint): number {
    return Number(offset / this.width);
  }

  override localOf(offset: bigint): bigint {
    return offset;
  }

  override globalOf(_shard: number, local: bigint): bigint {
    return local;
  }

  override within(shard: number, low: bigint, high: bigint): Bounds | undefined {
    const first = BigInt(shard) * this.width, end = first + this.width - 1n, last = end < this.last ? end : this.last;
    const bounds = { low: low > first ? low : first, high: high < last ? high : last };
    return bounds.low <= bounds.high ? bounds : undefined;
  }

  protected override place(member: number | bigint, local: (value: number | bigint) => void): number {
    if (typeof member === "bigint" || member > Number(this.last)) return super.place(member, local);
    local(member);
    return Math.floor(member / Number(this.width));
  }
}

/**
 * Offsets in groups of as many as there are shards: each shard gets one of each group, so a shard has a dense part of dense offsets, and
 * they ascend there as in the bitmap. Which one is a matter of a hash of the group's number, so offsets with a common step spread as well.
 *
 *   group = floor(offset / shards), local = group, shard = (offset + hash(group)) mod shards
 *   hash: the last steps of MurmurHash3 for 32 bits, of the group's low 32 bits plus 2654435761 times its high 32 bits
 */
class Hashed extends Layout {
  override readonly width = undefined;
  readonly #count: bigint;

  constructor(name: string, shards: number, last: bigint) {
    super(name, shards, last);
    this.#count = BigInt(shards);
  }

  override shardOf(offset: bigint): number {
    return Number((offset + BigInt(hashOf(offset / this.#count))) % this.#count);
  }

  override localOf(offset: bigint): bigint {
    return offset / this.#count;
  }

  override globalOf(shard: number, local: bigint): bigint {
    const turn = BigInt(hashOf(local)) % this.#count;
    return local * this.#count + (BigInt(shard) + this.#count - turn) % this.#count;
  }

  override within(shard: number, low: bigint, high: bigint): Bounds | undefined {
    const bound = high < this.last ? high : this.last, first = low / this.#count, last = bound / this.#count;
    const bounds = {
      low: this.globalOf(shard, first) >= low ? first : first + 1n,
      high: this.globalOf(shard, last) <= bound ? last : last - 1n,
    };
    return low <= bound && bounds.low <= bounds.high ? bounds : undefined;
  }

  protected override place(member: number | bigint, local: (value: number | bigint) => void): number {
    if (typeof member === "bigint") return super.place(member, local);
    const group = Math.floor(member / this.shards);
    local(group);
    return (member + mixed(group)) % this.shards; // below 2^33
  }
}

function mixed(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

function hashOf(group: bigint): number {
  return mixed((Number(group & 0xffff_ffffn) + Math.imul(Number(group >> 32n) | 0, 0x9e37_79b1)) >>> 0);
}

const rotated = (x: number, digits: number): number => (x << digits) | (x >>> (32 - digits));
const scrambled = (x: number): number => Math.imul(rotated(Math.imul(x, 0xcc9e_2d51), 15), 0x1b87_3593);

/** MurmurHash3 for 32 bits of bytes, with the seed 0. O(length). */
export function hashOfBytes(bytes: Uint8Array): number {
  const words = bytes.length >>> 2, buffer = inBuffer(bytes);
  let hash = 0, rest = 0;
  for (let i = 0; i < words; i++) hash = (Math.imul(rotated(hash ^ scrambled(buffer.readInt32LE(4 * i)), 13), 5) + 0xe654_6b64) | 0;
  for (let at = bytes.length - 1; at >= 4 * words; at--) rest = (rest << 8) | bytes[at]!;
  return mixed(hash ^ scrambled(rest) ^ bytes.length);
}

/** The layout that options ask for. Throws {@link InvalidArgumentError}. */
export function layoutOf(family: Family<Member>, name: string, { by = "range", width, shards }: ShardingOptions = {}): Layout {
  if (typeof name !== "string" || /[{}]/.test(name)) {
    throw new InvalidArgumentError(`invalid name: ${String(name)} is not text without braces, and the shard's number has to be the hash tag`);
  }
  if (by !== "range" && by !== "hash") throw new InvalidArgumentError(`invalid sharding: ${String(by)} is neither range nor hash`);
  if (shards !== undefined) integer("shards", shards, 1n, MAX_SHARDS);
  if (by === "hash") {
    if (shards === undefined || width !== undefined) {
      throw new InvalidArgumentError("invalid sharding: by hash, it needs a number of shards and has no width");
    }
    return new Hashed(name, shards, family.last);
  }
  if (width === undefined && shards === undefined) {
    throw new InvalidArgumentError("invalid sharding: it needs a width or a number of shards");
  }
  const universe = family.last + 1n;
  const offsets = integer("width", width ?? divideUp(divideUp(universe, BigInt(shards!)), STEP) * STEP, STEP, universe);
  if (offsets % STEP !== 0n) throw new InvalidArgumentError(`invalid width: ${offsets} is not a multiple of ${STEP}`);
  const needed = divideUp(universe, offsets), count = shards === undefined || BigInt(shards) > needed ? needed : BigInt(shards);
  if (count > MAX_SHARDS) {
    throw new InvalidArgumentError(`invalid width: ${count} shards are more than ${MAX_SHARDS}; give a number of shards, too`);
  }
  const end = offsets * count - 1n;
  return new Ranges(name, Number(count), end < family.last ? end : family.last, offsets);
}
