// Bitmaps in the memory of this process, in the portable Roaring format of EXPORT and IMPORT: to test and combine members without the
// server.

import { inBuffer } from "./bytes.js";
import { ARRAY_MAX, containerOf, containersFrom, type Members, membersOf, valuesOf } from "./containers.js";
import { InvalidPayloadError } from "./errors.js";
import { readState, type System, writeState } from "./exchange.js";
import { type Family, integer, type Member, type Offset } from "./family.js";
import { type Container, CONTAINER_OFFSETS, containersOf, payloadOf } from "./payload.js";
import type { List } from "./types.js";
import { listed } from "./call.js";

const WORDS = CONTAINER_OFFSETS / 32;

type Combine = (a: number, b: number) => number;

/** A bitmap in this process. It does not change: operations make new ones. */
export class LocalBitmap<M extends Member> implements Iterable<M> {
  readonly family: Family<M>;
  readonly #containers: ReadonlyMap<number, Container>;

  private constructor(family: Family<M>, containers: readonly Container[]) {
    this.family = family;
    this.#containers = new Map(containers.map((container) => [container.key, container]));
  }

  /**
   * A bitmap with these members, in any order.
   *
   * @param family `R` or `R64`
   * @throws InvalidArgumentError
   * @remarks O(m log m) for m members. See docs/commands.md.
   */
  static of<M extends Member>(family: Family<M>, members: List<Offset<M>>): LocalBitmap<M> {
    const list = Array.from(listed("members", members), (one) => family.member(integer("members", one, 0n, family.last)));
    const sorted = (family.name === "R" ? Uint32Array.from(list as number[]) : BigUint64Array.from(list as bigint[])).sort();
    return new LocalBitmap(family, containersFrom(sorted));
  }

  /**
   * A bitmap from what `export` returns, or any other bytes in the portable Roaring format. All of it is validated.
   *
   * @param family `R` or `R64`
   * @param payload null, which `export` returns for a missing key, is an empty bitmap
   * @throws InvalidPayloadError
   * @remarks O(m) for m members. See docs/commands.md#export.
   */
  static read<M extends Member>(family: Family<M>, payload: Uint8Array | null): LocalBitmap<M> {
    return LocalBitmap.#checked(family, payload === null ? [] : containersOf(family, payload));
  }

  /**
   * A bitmap of ClickHouse, a state of `groupBitmap` of any unsigned integers; or a `BITMAP` of Apache Doris or StarRocks, in each of its
   * forms. The bytes, not Base64 text. All of them are validated.
   *
   * @param family `R` or `R64`
   * @param system `clickhouse`, `doris` or `starrocks`
   * @throws InvalidPayloadError, InvalidArgumentError
   * @remarks O(m) for m members. See docs/cli.md#load-and-unload.
   */
  static readState<M extends Member>(family: Family<M>, system: System, bytes: Uint8Array): LocalBitmap<M> {
    return LocalBitmap.#checked(family, readState(family, system, bytes));
  }

  static #checked<M extends Member>(family: Family<M>, containers: readonly Container[]): LocalBitmap<M> {
    for (const [i, container] of containers.entries()) {
      if (i > 0 && container.key <= containers[i - 1]!.key) {
        throw new InvalidPayloadError("invalid roaring payload: its containers are not ascending");
      }
      valuesOf(container);
    }
    return new LocalBitmap(family, containers);
  }

  /** The number of members. */
  get size(): number {
    let size = 0;
    for (const { cardinality } of this.#containers.values()) size += cardinality;
    return size;
  }

  /**
   * Whether an offset is a member.
   *
   * @throws InvalidArgumentError
   * @remarks O(log m) for m members or runs in its container. See docs/commands.md#getbit.
   */
  has(offset: Offset<M>): boolean {
    const value = integer("offset", offset, 0n, this.family.last), low = Number(value & 0xffffn);
    const container = this.#containers.get(Number(value >> 16n));
    if (!container) return false;
    const { runs, cardinality } = container, bytes = inBuffer(container.bytes);
    if (!runs && cardinality > ARRAY_MAX) return (bytes[low >> 3]! & (1 << (low & 7))) !== 0;
    const [from, step, count] = runs ? [2, 4, bytes.readUInt16LE(0)] : [0, 2, cardinality];
    let begin = 0, end = count; // the last item whose first value is not larger is before `end`
    while (begin < end) {
      const middle = (begin + end) >> 1;
      if (bytes.readUInt16LE(from + step * middle) <= low) begin = middle + 1;
      else end = middle;
    }
    if (begin === 0) return false;
    const at = from + step * (begin - 1);
    return low - bytes.readUInt16LE(at) <= (runs ? bytes.readUInt16LE(at + 2) : 0);
  }

  /**
   * The members of both.
   *
   * @remarks O(c) for c containers. See docs/commands.md#bitop.
   */
  and(other: LocalBitmap<M>): LocalBitmap<M> {
    return this.#combine(other, (a, b) => a & b);
  }

  /**
   * The members of either.
   *
   * @remarks O(c) for c containers. See docs/commands.md#bitop.
   */
  or(other: LocalBitmap<M>): LocalBitmap<M> {
    return this.#combine(other, (a, b) => a | b);
  }

  /**
   * The members of one and not of the other.
   *
   * @remarks O(c) for c containers. See docs/commands.md#bitop.
   */
  xor(other: LocalBitmap<M>): LocalBitmap<M> {
    return this.#combine(other, (a, b) => a ^ b);
  }

  /**
   * The members that the other does not have.
   *
   * @remarks O(c) for c containers. See docs/commands.md#bitop.
   */
  andNot(other: LocalBitmap<M>): LocalBitmap<M> {
    return this.#combine(other, (a, b) => a & ~b);
  }

  /** The members in ascending order. */
  *[Symbol.iterator](): Generator<M, void, undefined> {
    for (const container of this.#ascending()) {
      const base = BigInt(container.key) * BigInt(CONTAINER_OFFSETS);
      for (const value of valuesOf(container)) yield this.family.member(base + BigInt(value));
    }
  }

  /**
   * The members in ascending order, as a typed array.
   *
   * @remarks O(m) for m members. See docs/commands.md#getintarray.
   */
  toTypedArray(): Members<M> {
    return membersOf(this.family, this.#ascending());
  }

  /**
   * The bitmap in the portable Roaring format, which `import` takes.
   *
   * @remarks O(n) in the size of the bitmap. See docs/commands.md#import.
   */
  toPayload(): Uint8Array {
    return payloadOf(this.family, this.#ascending());
  }

  /**
   * The bitmap as {@link readState} takes it. For ClickHouse, it is a state of `UInt32` or, of `R64`, of `UInt64`.
   *
   * @param system `clickhouse`, `doris` or `starrocks`
   * @throws InvalidArgumentError
   * @remarks O(n) in the size of the bitmap. See docs/cli.md#load-and-unload.
   */
  toState(system: System): Uint8Array {
    return writeState(this.family, system, this.#ascending());
  }

  #ascending(): Container[] {
    return [...this.#containers.values()].sort((a, b) => a.key - b.key);
  }

  #combine(other: LocalBitmap<M>, combine: Combine): LocalBitmap<M> {
    const a = new Uint32Array(WORDS), b = new Uint32Array(WORDS), values = new Uint16Array(CONTAINER_OFFSETS), made: Container[] = [];
    for (const key of new Set([...this.#containers.keys(), ...other.#containers.keys()])) {
      fill(a, this.#containers.get(key));
      fill(b, other.#containers.get(key));
      let count = 0;
      for (let word = 0; word < WORDS; word++) {
        for (let bits = combine(a[word]!, b[word]!); bits !== 0; bits &= bits - 1) {
          values[count++] = 32 * word + 31 - Math.clz32(bits & -bits);
        }
      }
      if (count > 0) made.push(containerOf(key, values.subarray(0, count)));
    }
    return new LocalBitmap(this.family, made);
  }
}

/** Writes a container as a bitset; no container as an empty one. */
function fill(words: Uint32Array, container: Container | undefined): void {
  words.fill(0);
  if (container) for (const value of valuesOf(container)) words[value >> 5]! |= 1 << (value & 31);
}
