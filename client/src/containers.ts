// Members and containers: the values of each, and containers of values.

import { inBuffer } from "./bytes.js";
import { InvalidPayloadError } from "./errors.js";
import type { Family, Member } from "./family.js";
import { type Container, CONTAINER_OFFSETS } from "./payload.js";

/** Members as a typed array: of `r` a Uint32Array, of `r64` a BigUint64Array. */
export type Members<M extends Member> = [M] extends [number] ? Uint32Array : BigUint64Array;

/** The most values of a container that lists them. */
export const ARRAY_MAX = 4096;
const BITSET_BYTES = CONTAINER_OFFSETS / 8;

/** A container whose low values are these, in ascending order and each once; the form is the smallest. O(number of values). */
export function containerOf(key: number, values: Uint16Array): Container {
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
export function valuesOf({ cardinality, runs, bytes: payload }: Container): Uint16Array {
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
