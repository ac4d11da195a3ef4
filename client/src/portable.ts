// Bitmaps in the memory of this process, in the portable Roaring format of EXPORT and IMPORT: to test and combine members without the
// server.

import { inBuffer } from "./bytes.js";
import { InvalidPayloadError } from "./errors.js";
import { type Family, integer, type Member, type Offset } from "./family.js";
import { type Container, CONTAINER_OFFSETS, containersOf, payloadOf } from "./payload.js";
import type { List } from "./types.js";
import { listed } from "./call.js";

/** Members as a typed array: of `r` a Uint32Array, of `r64` a BigUint64Array. */
export type Members<M extends Member> = [M] extends [number] ? Uint32Array : BigUint64Array;

const WORDS = CONTAINER_OFFSETS / 32, BITSET_BYTES = CONTAINER_OFFSETS / 8, ARRAY_MAX = 4096;

/** A container whose low values are these, in ascending order and each once; the form is the smallest. O(number of values). */
function containerOf(key: number, values: Uint16Array): Container {
  const cardinality = values.length;
  let runs = 1;
  for (let i = 1; i < cardinality; i++) if (values[i] !== values[i - 1]! + 1) runs++;
  const plain = cardinality <= ARRAY_MAX ? 2 * cardinality : BITSET_BYTES;
  if (2 + 4 * runs < plain) {
    const bytes = Buffer.allocUnsafe(2 + 4 * runs);
    bytes.writeUInt16LE(runs);
    for (let i = 0, at = 2; i < cardinality; at += 4) {
      const start = values[i]!;
      let last = start;
      for (i++; i < cardinality && values[i] === last + 1; i++) last++;
      bytes.writeUInt16LE(start, at);
      bytes.writeUInt16LE(last - start, at + 2);
    }
    return { key, cardinality, runs: true, bytes };
  }
  const bytes = Buffer.alloc(plain);
  if (cardinality <= ARRAY_MAX) for (let i = 0; i < cardinality; i++) bytes.writeUInt16LE(values[i]!, 2 * i);
  else for (const value of values) bytes[value >> 3]! |= 1 << (value & 7);
  return { key, cardinality, runs: false, bytes };
}

/** The low values of a container, in ascending order. Throws {@link InvalidPayloadError} if they are not what its head says. O(values). */
function valuesOf({ cardinality, runs, bytes: payload }: Container): Uint16Array {
  const bytes = inBuffer(payload), values = new Uint16Array(cardinality);
  let count = 0;
  const add = (value: number): void => {
    if (count >= cardinality || value >= CONTAINER_OFFSETS || (count > 0 && value <= values[count - 1]!)) {
      throw new InvalidPayloadError("invalid roaring payload: a container's values are not ascending, or not as many as its head says");
    }
    values[count++] = value;
  };
  if (runs) {
    for (let at = 2; at < bytes.length; at += 4) {
      const start = bytes.readUInt16LE(at), last = start + bytes.readUInt16LE(at + 2);
      for (let value = start; value <= last; value++) add(value);
    }
  } else if (cardinality <= ARRAY_MAX) for (let i = 0; i < cardinality; i++) add(bytes.readUInt16LE(2 * i));
  else for (let value = 0; value < CONTAINER_OFFSETS; value++) if (bytes[value >> 3]! & (1 << (value & 7))) add(value);
  if (count < cardinality) throw new InvalidPayloadError("invalid roaring payload: a container has fewer values than its head says");
  return values;
}

/** A typed array of the family. */
export const membersFor = <M extends Member>({ name }: Family<M>, length: number): Members<M> =>
  (name === "R" ? new Uint32Array(length) : new BigUint64Array(length)) as Members<M>;

/** The keys and low values of members. Views of the same memory avoid a BigInt for each. */
function halves(members: Uint32Array | BigUint64Array): { keyAt: (i: number) => number; lowAt: (i: number) => number } {
  if (members instanceof Uint32Array) return { keyAt: (i) => members[i]! >>> 16, lowAt: (i) => members[i]! & 0xffff };
  const words = new Uint32Array(members.buffer, members.byteOffset, 2 * members.length);
  return { keyAt: (i) => words[2 * i + 1]! * CONTAINER_OFFSETS + (words[2 * i]! >>> 16), lowAt: (i) => words[2 * i]! & 0xffff };
}

/** The members of containers in ascending order. Throws {@link InvalidPayloadError}. O(members). */
export function membersOf<M extends Member>(family: Family<M>, containers: readonly Container[]): Members<M> {
  const members = membersFor(family, containers.reduce((sum, { cardinality }) => sum + cardinality, 0));
  const words = new Uint32Array(members.buffer), wide = members instanceof BigUint64Array;
  let count = 0;
  for (const container of containers) {
    const high = Math.floor(container.key / CONTAINER_OFFSETS), base = (container.key % CONTAINER_OFFSETS) * CONTAINER_OFFSETS;
    for (const value of valuesOf(container)) {
      words[wide ? 2 * count : count] = base + value;
      if (wide) words[2 * count + 1] = high;
      count++;
    }
  }
  return members;
}

/** The containers of members in ascending order. A member can be there several times. O(number of members). */
export function containersFrom(members: Uint32Array | BigUint64Array): Container[] {
  const { keyAt, lowAt } = halves(members), values = new Uint16Array(CONTAINER_OFFSETS), containers: Container[] = [];
  for (let i = 0; i < members.length;) {
    const key = keyAt(i);
    let count = 0;
    for (; i < members.length && keyAt(i) === key; i++) {
      const low = lowAt(i);
      if (count === 0 || values[count - 1] !== low) values[count++] = low;
    }
    containers.push(containerOf(key, values.subarray(0, count)));
  }
  return containers;
}

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
    const containers = payload === null ? [] : containersOf(family, payload);
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
