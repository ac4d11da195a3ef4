// Bitmaps as other systems keep them.
//
//   clickhouse            a state of groupBitmap: a 0, the number of ids as LEB128, and the ids, of 1 to 8 bytes each; or a 1, the length
//                         of the rest as LEB128, and a portable payload (AggregateFunctionGroupBitmapData.h of ClickHouse)
//   doris, starrocks      BITMAP: a byte that says which of these follows (bitmap_value.h of Doris, and of StarRocks)
//       0                 nothing
//       1, 3              one id of 32 or 64 bits
//       5, 10             the number of ids in 8 or 32 bits, and the ids, of 64 bits
//       2, 12             a portable payload of 32 bits; or a 1, the number of ids in 32 bits and the ids, or a 2 and such a payload
//       4, 13             the number of parts as LEB128; and for each the upper half of its ids, and the lower halves as after 2 or 12
//
// All integers begin with their lowest byte.

import { inBuffer } from "./bytes.js";
import { containersFrom, valuesOf } from "./containers.js";
import { InvalidArgumentError, InvalidPayloadError } from "./errors.js";
import { described, type Family, type Member } from "./family.js";
import { type Container, CONTAINER_OFFSETS, payloadOf, read32, write32 } from "./payload.js";

/** Systems whose bitmaps {@link LocalBitmap} reads and writes. */
export type System = "clickhouse" | "doris" | "starrocks";
const SYSTEMS: readonly unknown[] = ["clickhouse", "doris", "starrocks"];

/** The first byte of a BITMAP. */
const Doris = { EMPTY: 0, SINGLE32: 1, BITMAP32: 2, SINGLE64: 3, BITMAP64: 4, FEW: 5, SET: 10, BITMAP32_V2: 12, BITMAP64_V2: 13 } as const;
/** The first byte of CRoaring's own form. */
const LIST = 1, PORTABLE = 2;
/** Up to so many ids, ClickHouse writes a list. */
const CLICKHOUSE_FEW = 32;

class Reader {
  readonly bytes: Buffer;
  readonly #system: System;
  at = 0;

  constructor(bytes: Buffer, system: System) {
    this.bytes = bytes;
    this.#system = system;
  }

  fail(why: string): never { throw new InvalidPayloadError(`invalid bitmap of ${this.#system}: ${why}`); }
  get rest(): number { return this.bytes.length - this.at; }
  u8(): number { return this.bytes.readUInt8(this.at++); }
  u32(): number { return this.bytes.readUInt32LE((this.at += 4) - 4); }

  leb128(): number {
    let value = 0;
    for (let times = 1; times <= 2 ** 42; times *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * times;
      if (byte < 0x80) return value;
    }
    return this.fail("a number is too long");
  }

  /** `count` ids, to the end. */
  ids(count: number, bytes = count === 0 ? 1 : this.rest / count): Container[] {
    const { bytes: from } = this, read: Record<number, (at: number) => number | bigint> = {
      1: (at) => from.readUInt8(at), 2: (at) => from.readUInt16LE(at), 4: (at) => from.readUInt32LE(at),
      8: (at) => from.readBigUInt64LE(at),
    };
    const one = read[bytes];
    if (!one || this.rest !== count * bytes) return this.fail(`it has ${this.rest} bytes for ${count} ids`);
    return containersFrom(BigUint64Array.from({ length: count }, () => BigInt(one((this.at += bytes) - bytes))).sort());
  }

  /** Adds the containers of a payload of 32 bits, or if `isNative` of CRoaring's own form. */
  add(high: number, isNative: boolean, containers: Container[]): void {
    const form = isNative ? this.u8() : PORTABLE;
    if (form === PORTABLE) {
      this.at = read32(this.bytes, this.at, high, containers);
    } else {
      const count = form === LIST ? this.u32() : this.fail("one of its parts is no roaring bitmap");
      if (count > this.rest / 4) this.fail("it is cut short");
      const list = containersFrom(Uint32Array.from({ length: count }, () => this.u32()).sort());
      containers.push(...list.map((one) => ({ ...one, key: one.key + high * CONTAINER_OFFSETS })));
    }
  }

  /** The end has to be reached. */
  ended(containers: Container[]): Container[] {
    return this.rest === 0 ? containers : this.fail(`it has ${this.rest} bytes too many`);
  }

  /** Parts of 64-bit ids; their number takes 32 bits, as LEB128 or, in a portable payload, 64 bits. */
  parts(count: number, isNative: boolean): Container[] {
    const containers: Container[] = [];
    for (let i = 0; i < count; i++) this.add(this.u32(), isNative, containers);
    return this.ended(containers);
  }

  /** A payload of 32 bits, or of 64 bits if `family` has such and the payload begins so. */
  portable(family: Family<Member>): Container[] {
    const containers: Container[] = [];
    if (family.name === "R64" && this.rest >= 8 && this.bytes.readUInt32LE(this.at + 4) === 0 && this.bytes.readUInt16LE(this.at) < 12_346) {
      const count = this.u32();
      this.u32();
      return this.parts(count, false);
    }
    this.add(0, false, containers);
    return this.ended(containers);
  }
}

function contentOf(reader: Reader, system: System, family: Family<Member>): Container[] {
  const kind = reader.u8(), containers: Container[] = [];
  if (system === "clickhouse") {
    if (kind > 1) reader.fail(`its first byte is ${kind}`);
    const count = reader.leb128();
    if (kind === 0) return reader.ids(count);
    return count === reader.rest ? reader.portable(family) : reader.fail(`it has ${reader.rest} bytes in place of ${count}`);
  }
  switch (kind) {
    case Doris.EMPTY: return reader.ids(0);
    case Doris.SINGLE32: return reader.ids(1, 4);
    case Doris.SINGLE64: return reader.ids(1, 8);
    case Doris.FEW: return reader.ids(reader.u8(), 8);
    case Doris.SET: return reader.ids(reader.u32(), 8);
    case Doris.BITMAP32:
    case Doris.BITMAP32_V2:
      reader.add(0, kind === Doris.BITMAP32_V2, containers);
      return reader.ended(containers);
    case Doris.BITMAP64:
    case Doris.BITMAP64_V2: return reader.parts(reader.leb128(), kind === Doris.BITMAP64_V2);
    default: return reader.fail(`its first byte is ${kind}`);
  }
}

function checkSystem(system: unknown): void {
  if (!SYSTEMS.includes(system)) throw new InvalidArgumentError(`invalid system: ${described(system)} is not one of ${SYSTEMS.join(", ")}`);
}

/** The containers of a bitmap of another system, not validated inside. Throws {@link InvalidPayloadError}. O(bytes). */
export function readState<M extends Member>(family: Family<M>, system: System, bytes: Uint8Array): Container[] {
  checkSystem(system);
  if (!(bytes instanceof Uint8Array)) throw new InvalidArgumentError(`invalid bitmap: ${described(bytes)} is not bytes`);
  const reader = new Reader(inBuffer(bytes), system);
  try {
    const containers = contentOf(reader, system, family);
    if (family.name === "R" && containers.some(({ key }) => key >= CONTAINER_OFFSETS)) reader.fail("it has ids above 4294967295: read it into R64");
    return containers;
  } catch (error) {
    if (error instanceof RangeError) reader.fail("it is cut short");
    throw error;
  }
}

function leb128(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Buffer.of(...bytes, value);
}

/** Members of so many bytes each. */
function listOf(containers: readonly Container[], bytes: 4 | 8): Buffer {
  return Buffer.concat(containers.flatMap((container) => Array.from(valuesOf(container), (value) => {
    const one = Buffer.alloc(8);
    one.writeBigUInt64LE(BigInt(container.key) * BigInt(CONTAINER_OFFSETS) + BigInt(value));
    return one.subarray(0, bytes);
  })));
}

/** Containers in ascending order as another system keeps them. O(bytes). */
export function writeState<M extends Member>(family: Family<M>, system: System, containers: readonly Container[]): Uint8Array {
  checkSystem(system);
  const count = containers.reduce((sum, { cardinality }) => sum + cardinality, 0);
  if (system === "clickhouse") {
    if (count <= CLICKHOUSE_FEW) return Buffer.concat([Buffer.of(0, count), listOf(containers, family.name === "R" ? 4 : 8)]);
    const payload = payloadOf(family, containers);
    return Buffer.concat([Buffer.of(1), leb128(payload.length), payload]);
  }
  if (count === 0) return Buffer.of(Doris.EMPTY);
  const isNarrow = containers.every(({ key }) => key < CONTAINER_OFFSETS);
  if (count === 1) return Buffer.concat([Buffer.of(isNarrow ? Doris.SINGLE32 : Doris.SINGLE64), listOf(containers, isNarrow ? 4 : 8)]);
  if (isNarrow) return Buffer.concat([Buffer.of(Doris.BITMAP32), write32(containers)]);
  const payload = inBuffer(payloadOf(family, containers));
  return Buffer.concat([Buffer.of(Doris.BITMAP64), leb128(payload.readUInt32LE()), payload.subarray(8)]);
}
