// Writes and reads the Roaring formats according to their specification (https://github.com/RoaringBitmap/RoaringFormatSpec). Tests
// choose the kind of each container, and may write unsorted or invalid streams.

import { type Member, member } from "./family.ts";

const COOKIE_WITHOUT_RUNS = 12346;
const COOKIE_WITH_RUNS = 12347;
const LEAST_CONTAINERS_WITH_OFFSETS = 4; // if there are run containers
const MOST_IN_ARRAY = 4096;

/** A container of a stream. `values` are the low 16 bits of its members. */
export interface Container {
  readonly key: number;
  readonly kind: "array" | "bitset" | "run";
  readonly values: readonly number[];
}

export class Bytes {
  #parts: Buffer[] = [];
  u8 = (value: number): this => this.put(1, (b) => b.writeUInt8(value));
  u16 = (value: number): this => this.put(2, (b) => b.writeUInt16LE(value));
  u32 = (value: number): this => this.put(4, (b) => b.writeUInt32LE(value));
  u64 = (value: bigint): this => this.put(8, (b) => b.writeBigUInt64LE(value));
  raw = (bytes: Buffer): this => {
    this.#parts.push(bytes);
    return this;
  };

  take = (): Buffer => Buffer.concat(this.#parts);

  private put(size: number, write: (buffer: Buffer) => void): this {
    const buffer = Buffer.alloc(size);
    write(buffer);
    return this.raw(buffer);
  }
}

/** Sorted low values as [start, length - 1] pairs. */
export function runsOf(values: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run && run[0] + run[1] + 1 === value) run[1]++;
    else runs.push([value, 0]);
  }
  return runs;
}

function containerBytes({ kind, values }: Container): Buffer {
  const bytes = new Bytes();
  if (kind === "array") for (const value of values) bytes.u16(value);
  if (kind === "bitset") {
    const bits = Buffer.alloc(8192);
    for (const value of values) bits[value >> 3]! |= 1 << (value & 7);
    bytes.raw(bits);
  }
  if (kind === "run") {
    const runs = runsOf(values);
    bytes.u16(runs.length);
    for (const [start, more] of runs) bytes.u16(start).u16(more);
  }
  return bytes.take();
}

/** The portable stream of 32-bit members. */
export function portable32(containers: readonly Container[]): Buffer {
  const count = containers.length;
  const withRuns = containers.some(({ kind }) => kind === "run");
  const bytes = new Bytes();
  if (withRuns) {
    const marks = Buffer.alloc((count + 7) >> 3);
    containers.forEach(({ kind }, i) => {
      if (kind === "run") marks[i >> 3]! |= 1 << (i & 7);
    });
    bytes.u16(COOKIE_WITH_RUNS).u16(count - 1).raw(marks);
  } else {
    bytes.u32(COOKIE_WITHOUT_RUNS).u32(count);
  }
  for (const { key, values } of containers) bytes.u16(key).u16(values.length - 1);
  const bodies = containers.map(containerBytes);
  if (!withRuns || count >= LEAST_CONTAINERS_WITH_OFFSETS) {
    let offset = bytes.take().length + 4 * count;
    for (const body of bodies) {
      bytes.u32(offset);
      offset += body.length;
    }
  }
  for (const body of bodies) bytes.raw(body);
  return bytes.take();
}

/** The portable stream of 64-bit members: 32-bit streams, each preceded by the high half of its members. */
export function portable64(buckets: readonly Bucket[]): Buffer {
  const bytes = new Bytes().u64(BigInt(buckets.length));
  for (const { high, containers } of buckets) bytes.u32(high).raw(portable32(containers));
  return bytes.take();
}

interface Bucket {
  readonly high: number;
  readonly containers: readonly Container[];
}

/** Java's legacy form of 64-bit members, in big endian. `first`: whether the map was in signed order. Buckets are in the given order. */
export function legacy64(buckets: readonly Bucket[], first: 0 | 1): Buffer {
  const big = (value: number): Buffer => new Bytes().u32(value).take().reverse();
  const bytes = new Bytes().u8(first).raw(big(buckets.length));
  for (const { high, containers } of buckets) bytes.raw(big(high)).raw(portable32(containers));
  return bytes.take();
}

/** The portable stream of no members, byte by byte from the specification. */
export const emptyStream = (bits: 32 | 64): Buffer => Buffer.from(bits === 32 ? "3a30000000000000" : "0000000000000000", "hex");

const small32 = Buffer.from("3a30000001000000" + "00000200" + "10000000" + "030004006400", "hex");
/** The portable stream of 3, 4 and 100, byte by byte from the specification. */
export const smallStream = (bits: 32 | 64): Buffer =>
  (bits === 32 ? small32 : Buffer.concat([Buffer.from("0100000000000000" + "00000000", "hex"), small32]));

/** CRoaring's own 32-bit form as a list of values (ARRAY), in the given order. */
export function croaringArray(values: readonly number[]): Buffer {
  const bytes = new Bytes().u8(1).u32(values.length);
  for (const value of values) bytes.u32(value);
  return bytes.take();
}

/** CRoaring's own 32-bit form as a portable stream (CONTAINER). */
export const croaringContainers = (containers: readonly Container[]): Buffer =>
  Buffer.concat([Buffer.from([2]), portable32(containers)]);

/** The arrays and bitsets that hold sorted members below 2^32. */
export function containersOf(members: readonly number[]): Container[] {
  const byKey = new Map<number, number[]>();
  for (const m of members) {
    const key = Math.floor(m / 65536);
    const values = byKey.get(key) ?? [];
    values.push(m % 65536);
    byKey.set(key, values);
  }
  return [...byKey].map(([key, values]) => ({ key, kind: values.length > MOST_IN_ARRAY ? "bitset" : "array", values }));
}

/**
 * Reads the portable 32-bit stream at `at`: hands on its containers and their sizes, and returns its end. Checks cardinalities and
 * offsets.
 */
function readPortable32(bytes: Buffer, at: number, take: (container: Container, size: number) => void): number {
  const begin = at;
  let count: number;
  let marks: Buffer | undefined;
  if (bytes.readUInt16LE(at) === COOKIE_WITH_RUNS) {
    count = bytes.readUInt16LE(at + 2) + 1;
    marks = bytes.subarray(at + 4, at + 4 + ((count + 7) >> 3));
    at += 4 + marks.length;
  } else {
    if (bytes.readUInt32LE(at) !== COOKIE_WITHOUT_RUNS) throw new Error("neither cookie");
    count = bytes.readUInt32LE(at + 4);
    at += 8;
  }
  const heads = at;
  at += 4 * count;
  const offsets = !marks || count >= LEAST_CONTAINERS_WITH_OFFSETS ? at : -1;
  if (offsets >= 0) at += 4 * count;
  for (let i = 0; i < count; i++) {
    const cardinality = bytes.readUInt16LE(heads + 4 * i + 2) + 1, start = at, values: number[] = [];
    if (offsets >= 0 && bytes.readUInt32LE(offsets + 4 * i) !== at - begin) throw new Error(`offset of container ${i}`);
    let kind: Container["kind"];
    if (marks && marks[i >> 3]! & (1 << (i & 7))) {
      kind = "run";
      const runs = bytes.readUInt16LE(at);
      for (let r = 0; r < runs; r++) {
        const first = bytes.readUInt16LE(at + 2 + 4 * r);
        const more = bytes.readUInt16LE(at + 4 + 4 * r);
        for (let low = first; low <= first + more; low++) values.push(low);
      }
      at += 2 + 4 * runs;
    } else if (cardinality <= MOST_IN_ARRAY) {
      kind = "array";
      for (let j = 0; j < cardinality; j++) values.push(bytes.readUInt16LE(at + 2 * j));
      at += 2 * cardinality;
    } else {
      kind = "bitset";
      for (let low = 0; low < 65536; low++) if (bytes[at + (low >> 3)]! & (1 << (low & 7))) values.push(low);
      at += 8192;
    }
    if (values.length !== cardinality) throw new Error(`cardinality of container ${i}`);
    take({ key: bytes.readUInt16LE(heads + 4 * i), kind, values }, at - start);
  }
  return at;
}

/** Reads the 32-bit streams of a portable stream with their high halves, and returns its end. */
function readPortable64(bytes: Buffer, take: (high: number, container: Container, size: number) => void): number {
  let at = 8;
  for (let buckets = bytes.readBigUInt64LE(0); buckets > 0n; buckets--) {
    const high = bytes.readUInt32LE(at);
    at = readPortable32(bytes, at + 4, (container, size) => take(high, container, size));
  }
  return at;
}

/** Adds the members of a container to a list. */
const addTo = (members: Member[]) => (high: number, { key, values }: Container): void => {
  const base = (BigInt(high) << 32n) + BigInt(key) * 65536n;
  for (const low of values) members.push(member(base + BigInt(low)));
};

/** The members of a payload in stored order. Throws if bytes are left over. */
export function readPayload(bits: 32 | 64, bytes: Buffer): Member[] {
  const members: Member[] = [], add = addTo(members);
  let at: number;
  if (bits === 64) at = readPortable64(bytes, add);
  else if (bytes[0] === 1) {
    const count = bytes.readUInt32LE(1);
    for (let i = 0; i < count; i++) members.push(bytes.readUInt32LE(5 + 4 * i));
    at = 5 + 4 * count;
  } else {
    if (bytes[0] !== 2) throw new Error("neither ARRAY nor CONTAINER");
    at = readPortable32(bytes, 1, (container) => add(0, container));
  }
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes left over`);
  return members;
}

/**
 * The members in the reply of EXPORT. Throws if containers, values or runs do not ascend, if runs touch, if a run container is larger than
 * an array or a bitset of its members, or if bytes are left over.
 */
export function readExport(bits: 32 | 64, bytes: Buffer): Member[] {
  const members: Member[] = [];
  let before = -1n;
  const add = (high: number, { key, kind, values }: Container, size: number): void => {
    const base = (BigInt(high) << 32n) + BigInt(key) * 65536n, what = `${kind} ${high}:${key}`;
    if (base <= before) throw new Error(`${what} is not after the one before it`);
    before = base;
    if (values.some((value, i) => value > 65535 || (i > 0 && value <= values[i - 1]!))) throw new Error(`values of ${what}`);
    if (kind === "run") {
      if (size !== 2 + 4 * runsOf(values).length) throw new Error(`runs of ${what} touch`);
      const other = values.length <= MOST_IN_ARRAY ? 2 * values.length : 8192;
      if (size > other) throw new Error(`${what} has ${size} bytes, and without runs ${other}`);
    }
    for (const low of values) members.push(member(base + BigInt(low)));
  };
  const end = bits === 64 ? readPortable64(bytes, add) : readPortable32(bytes, 0, (container, size) => add(0, container, size));
  if (end !== bytes.length) throw new Error(`${bytes.length - end} bytes left over`);
  return members;
}

/** The members of Java's legacy form in stored order. Throws if bytes are left over. */
function readLegacy(bytes: Buffer): Member[] {
  const members: Member[] = [], add = addTo(members);
  if (bytes[0]! > 1) throw new Error("neither signed nor unsigned");
  let at = 5;
  for (let buckets = bytes.readUInt32BE(1); buckets > 0; buckets--) {
    const high = bytes.readUInt32BE(at);
    at = readPortable32(bytes, at + 4, (container) => add(high, container));
  }
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes left over`);
  return members;
}

/** The members of a payload in any of the forms that IMPORT takes, in stored order. Throws if it has none of them. */
export function readAny(bits: 32 | 64, bytes: Buffer): Member[] {
  const text = bytes.toString("latin1").replaceAll(/[\r\n]/g, "");
  if (/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(text)) return readAny(bits, Buffer.from(text, "base64"));
  // An empty list of CRoaring's is also how a 64-bit stream of one bucket begins.
  if (bits === 64 && bytes.toString("hex") === "0100000000") throw new Error("cut short");
  const narrow = [() => readPayload(32, Buffer.concat([Buffer.from([2]), bytes])), () => readPayload(32, bytes)];
  for (const read of bits === 32 ? narrow : [() => readPayload(64, bytes), ...narrow, () => readLegacy(bytes)]) {
    try {
      return read();
    } catch { /* another form */ }
  }
  throw new Error("no known form");
}
