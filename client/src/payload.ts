// Portable Roaring payloads, taken apart into containers and put together again, without looking into the containers. The server validates
// what is in them.
//
// 32-bit stream, little endian:
//   u32 cookie: 12346, then u32 count; or 12347 in the low 16 bits and count - 1 in the high ones, then for each container a bit: runs?
//   for each container u16 key, u16 cardinality - 1
//   for each container u32 where it begins; with cookie 12347 only if there are 4 or more
//   containers: runs: u16 n, n * 4 bytes; else up to 4096 members: 2 bytes each; else 8192 bytes
// 64-bit stream: u64 number of buckets, and for each u32 high half of its offsets, and a 32-bit stream.

import { inBuffer } from "./bytes.js";
import { InvalidArgumentError, InvalidPayloadError } from "./errors.js";
import { described, type Family, type Member } from "./family.js";

/** Up to 65536 members that have their offsets' bits above the low 16 in common. */
export interface Container {
  /** These bits; up to 2^48. */
  readonly key: number;
  readonly cardinality: number;
  readonly runs: boolean;
  readonly bytes: Uint8Array;
}

/** Offsets in a container. */
export const CONTAINER_OFFSETS = 65_536;

const NO_RUNS = 12_346, WITH_RUNS = 12_347, OFFSETS_FROM = 4, ARRAY_MAX = 4096, BITSET_BYTES = 8192;

/** Reads a 32-bit stream from `at` on. Returns where it ends. Throws RangeError at the end of the payload. */
export function read32(bytes: Uint8Array, at: number, high: number, containers: Container[]): number {
  const payload = inBuffer(bytes), cookie = payload.readUInt32LE(at), withRuns = (cookie & 0xffff) === WITH_RUNS;
  if (!withRuns && cookie !== NO_RUNS) throw new InvalidPayloadError("invalid roaring payload: it begins with an unknown cookie");
  const count = withRuns ? (cookie >>> 16) + 1 : payload.readUInt32LE(at + 4), flags = at + 4;
  if (count > CONTAINER_OFFSETS) throw new InvalidPayloadError("invalid roaring payload: too many containers");
  const heads = withRuns ? flags + ((count + 7) >> 3) : at + 8;
  let body = heads + 4 * count + (!withRuns || count >= OFFSETS_FROM ? 4 * count : 0);
  for (let i = 0; i < count; i++) {
    const runs = withRuns && (payload.readUInt8(flags + (i >> 3)) & (1 << (i & 7))) !== 0;
    const cardinality = payload.readUInt16LE(heads + 4 * i + 2) + 1;
    const length = runs ? 2 + 4 * payload.readUInt16LE(body) : cardinality <= ARRAY_MAX ? 2 * cardinality : BITSET_BYTES;
    if (body + length > payload.length) throw new InvalidPayloadError("invalid roaring payload: it ends too early");
    const key = high * CONTAINER_OFFSETS + payload.readUInt16LE(heads + 4 * i);
    containers.push({ key, cardinality, runs, bytes: payload.subarray(body, body + length) });
    body += length;
  }
  return body;
}

/** The 32-bit stream of these containers. */
export function write32(containers: readonly Container[]): Uint8Array {
  const count = containers.length, withRuns = containers.some(({ runs }) => runs);
  const flags = withRuns ? (count + 7) >> 3 : 0, heads = withRuns ? 4 + flags : 8;
  const offsets = !withRuns || count >= OFFSETS_FROM ? heads + 4 * count : undefined;
  const header = Buffer.alloc(heads + (offsets === undefined ? 4 : 8) * count);
  header.writeUInt32LE(withRuns ? (((count - 1) << 16) | WITH_RUNS) >>> 0 : NO_RUNS);
  if (!withRuns) header.writeUInt32LE(count, 4);
  let body = header.length;
  for (const [i, { key, cardinality, runs, bytes }] of containers.entries()) {
    if (runs) header[4 + (i >> 3)]! |= 1 << (i & 7);
    header.writeUInt16LE(key % CONTAINER_OFFSETS, heads + 4 * i);
    header.writeUInt16LE(cardinality - 1, heads + 4 * i + 2);
    if (offsets !== undefined) header.writeUInt32LE(body, offsets + 4 * i);
    body += bytes.length;
  }
  return Buffer.concat([header, ...containers.map(({ bytes }) => bytes)]);
}

/**
 * The containers of a portable payload of the family, in ascending order of keys. Their bytes are those of the payload, not copies. Throws
 * {@link InvalidPayloadError}. O(number of containers).
 */
export function containersOf<M extends Member>({ name }: Family<M>, bytes: Uint8Array): Container[] {
  if (!(bytes instanceof Uint8Array)) throw new InvalidArgumentError(`invalid payload: ${described(bytes)} is not bytes`);
  const payload = inBuffer(bytes);
  const containers: Container[] = [];
  try {
    let at = 0;
    if (name === "R") at = read32(payload, 0, 0, containers);
    else {
      const buckets = payload.readBigUInt64LE(0);
      at = 8;
      for (let i = 0n; i < buckets; i++) at = read32(payload, at + 4, payload.readUInt32LE(at), containers);
    }
    if (at !== payload.length) throw new InvalidPayloadError("invalid roaring payload: it does not end where it should");
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidPayloadError("invalid roaring payload: it ends too early");
    throw error;
  }
  return containers;
}

/**
 * The portable payload of the family for containers in ascending order of keys. O(bytes).
 */
export function payloadOf<M extends Member>({ name }: Family<M>, containers: readonly Container[]): Uint8Array {
  if (name === "R") return write32(containers);
  const buckets = new Map<number, Container[]>();
  for (const container of containers) {
    const high = Math.floor(container.key / CONTAINER_OFFSETS), bucket = buckets.get(high);
    if (bucket) bucket.push(container);
    else buckets.set(high, [container]);
  }
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(buckets.size));
  return Buffer.concat([count, ...[...buckets].flatMap(([high, bucket]) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(high);
    return [head, write32(bucket)];
  })]);
}
