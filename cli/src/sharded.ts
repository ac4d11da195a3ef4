// Bitmaps that are spread over keys name:{0}, name:{1} ... as docs/cluster.md says and the JavaScript client does it.
//
//   by range  shard = floor(offset / width); offsets there are those of the bitmap
//   by hash   group = floor(offset / shards), which is the offset in the shard; shard = (offset + hash(group)) mod shards

import { type Core, Format } from "./core/core.js";
import { Exit, Failure, interruption } from "./failure.js";
import { lastOf } from "./roaring.js";
import { type Connection, type Servers } from "./servers.js";

export interface Sharding {
  by: "range" | "hash";
  shards?: number | undefined;
  /** By range: offsets of a shard. */
  width?: bigint | undefined;
}

export type Offsets = Uint32Array | BigUint64Array;

/** There are no more slots to spread shards over. */
const MOST_SHARDS = 16_384n;
/** A shard ends where a container does. */
const STEP = 65_536n;

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** The last steps of MurmurHash3 for 32 bits. */
function mixed(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

const hashOf = (group: bigint): number => mixed((Number(group & 0xffff_ffffn) + Math.imul(Number(group >> 32n) | 0, 0x9e37_79b1)) >>> 0);

export class Layout {
  readonly shards: number;
  /** The last offset of the bitmap. */
  readonly last: bigint;
  readonly #by: Sharding["by"];
  readonly #name: string;
  readonly #width: bigint;

  constructor(name: string, isWide: boolean, { by, shards, width }: Sharding) {
    const usage = (why: string): Failure => new Failure(why, Exit.USAGE), universe = isWide ? 2n ** 64n : 2n ** 32n;
    if (/[{}\\]/.test(name)) throw usage("the name of a sharded bitmap must not contain braces or backslashes: the shard's number is the hash tag");
    if (by === "hash" && (shards === undefined || width !== undefined)) throw usage("--by hash needs --shards, and excludes --shard-width");
    if (shards === undefined && width === undefined) throw usage("a sharded bitmap needs --shards or --shard-width");
    this.#by = by;
    this.#name = name;
    this.#width = width ?? divideUp(divideUp(universe, BigInt(shards!)), STEP) * STEP;
    if (this.#width % STEP !== 0n || this.#width < STEP || this.#width > universe) throw usage(`--shard-width must be a multiple of ${STEP}`);
    const needed = divideUp(universe, this.#width);
    const count = by === "hash" ? BigInt(shards!) : shards !== undefined && BigInt(shards) < needed ? BigInt(shards) : needed;
    if (count > MOST_SHARDS) throw usage(`${count} shards are more than the maximum, ${MOST_SHARDS}; limit them with --shards`);
    const end = by === "hash" ? universe : this.#width * count;
    this.shards = Number(count);
    this.last = (end < universe ? end : universe) - 1n;
  }

  get isHashed(): boolean { return this.#by === "hash"; }

  keyOf(shard: number): Buffer { return Buffer.from(`${this.#name}:{${shard}}`); }

  shardOf(offset: bigint): number {
    if (!this.isHashed) return Number(offset / this.#width);
    const count = BigInt(this.shards);
    return Number((offset + BigInt(hashOf(offset / count))) % count);
  }

  localOf(offset: bigint): bigint { return this.isHashed ? offset / BigInt(this.shards) : offset; }

  globalOf(shard: number, local: bigint): bigint {
    if (!this.isHashed) return local;
    const count = BigInt(this.shards), turn = BigInt(hashOf(local)) % count;
    return local * count + (BigInt(shard) + count - turn) % count;
  }

  /** Offsets by shard, as they are there. Throws if one is beyond the last shard. */
  split(offsets: Offsets): Map<number, Offsets> {
    const shardsOf = new Uint16Array(offsets.length), counts = new Map<number, number>(), parts = new Map<number, Offsets>();
    const locals = offsets instanceof Uint32Array ? new Uint32Array(offsets.length) : new BigUint64Array(offsets.length);
    const width = Number(this.#width), last = Number(this.last);
    for (let i = 0; i < offsets.length; i++) {
      const offset = offsets[i]!;
      let shard: number;
      if (typeof offset === "number" ? offset > last : offset > this.last) {
        throw new Failure(`${offset} is above ${this.last}, the last offset of these shards`, Exit.USAGE);
      }
      if (typeof offset === "bigint") {
        shard = this.shardOf(offset);
        locals[i] = this.localOf(offset);
      } else if (this.isHashed) {
        const group = Math.floor(offset / this.shards);
        shard = (offset + mixed(group)) % this.shards;
        locals[i] = group;
      } else {
        shard = Math.floor(offset / width);
        locals[i] = offset;
      }
      shardsOf[i] = shard;
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    for (const [shard, count] of counts) {
      parts.set(shard, offsets instanceof Uint32Array ? new Uint32Array(count) : new BigUint64Array(count));
      counts.set(shard, 0);
    }
    for (let i = 0; i < offsets.length; i++) {
      const shard = shardsOf[i]!, at = counts.get(shard)!;
      parts.get(shard)![at] = locals[i]!;
      counts.set(shard, at + 1);
    }
    return parts;
  }
}

/** A sharded bitmap on servers. */
export class ShardedBitmap {
  readonly layout: Layout;
  readonly #servers: Servers;
  readonly #core: Core;
  readonly #isWide: boolean;

  constructor(servers: Servers, core: Core, name: string, isWide: boolean, sharding: Sharding) {
    this.layout = new Layout(name, isWide, sharding);
    this.#servers = servers;
    this.#core = core;
    this.#isWide = isWide;
  }

  get #family(): "R" | "R64" { return this.#isWide ? "R64" : "R"; }
  get #format(): Format { return this.#isWide ? Format.PORTABLE_WIDE : Format.PORTABLE; }
  #at(shard: number): Connection { return this.#servers.nodeOf(this.layout.keyOf(shard)).connection; }

  /** Adds members to their shards, at the same time. */
  async add(offsets: Offsets): Promise<void> {
    await Promise.all(Array.from(this.layout.split(offsets), ([shard, part]) => {
      this.#core.collect(part);
      return this.#at(shard).run(`${this.#family}.IMPORT`, this.layout.keyOf(shard), Buffer.from(this.#core.write(this.#format)));
    }));
  }

  async count(): Promise<bigint> {
    const all = Array.from({ length: this.layout.shards }, (_, shard) => this.#at(shard).run(`${this.#family}.BITCOUNT`, this.layout.keyOf(shard)));
    return (await Promise.all(all)).reduce<bigint>((sum, count) => sum + BigInt(String(count)), 0n);
  }

  /** Hands all members on, ascending. */
  async members(write: (members: BigUint64Array) => Promise<void>): Promise<void> {
    // Offsets in shards that are read at a time: in a window of all shards by hash, of one shard by range.
    const window = BigInt(this.layout.isHashed ? Math.max(1024, Math.floor(2 ** 22 / this.layout.shards)) : 2 ** 22);
    const shards = Array.from({ length: this.layout.shards }, (_, shard) => shard);
    for (const together of this.layout.isHashed ? [shards] : shards.map((shard) => [shard])) {
      for (let from: bigint | undefined = await this.#least(together, 0n); from !== undefined && !interruption.asked;) {
        const low = from, high = low + window - 1n < this.layout.last ? low + window - 1n : this.layout.last;
        const payloads = await Promise.all(together.map((shard) =>
          this.#at(shard).run(`${this.#family}.QUERY`, `#1 & [${low}..${high}]`, 1, this.layout.keyOf(shard), "EXPORT")));
        const found: bigint[] = [];
        for (const [i, payload] of payloads.entries()) {
          this.#core.read(this.#format, payload as Buffer);
          this.#core.members((some) => { for (const member of some) found.push(this.layout.globalOf(together[i]!, member)); });
        }
        await write(BigUint64Array.from(found).sort());
        from = high < this.layout.last ? await this.#least(together, high + 1n) : undefined;
      }
    }
  }

  /** The least offset in these shards that is not below `from`. */
  async #least(shards: number[], from: bigint): Promise<bigint | undefined> {
    const last = lastOf(this.#family);
    const lists = await Promise.all(shards.map((shard) =>
      this.#at(shard).exactly(`${this.#family}.RANGE`, this.layout.keyOf(shard), String(from), String(last), "LIMIT", 1)));
    const found = (lists as string[][]).flatMap((list) => list.map(BigInt));
    return found.length > 0 ? found.reduce((a, b) => (a < b ? a : b)) : undefined;
  }
}
