// Bitmaps as other systems keep them, read into the core and written from it.
//
//   clickhouse            a state of groupBitmap: a 0, the number of ids as LEB128, and the ids, of 1 to 8 bytes each; or a 1, the length
//                         of the rest as LEB128, and a portable payload (AggregateFunctionGroupBitmapData.h of ClickHouse)
//   doris, starrocks      BITMAP: a byte that says which of these follows (bitmap_value.h of Doris, and of StarRocks)
//       0                 nothing
//       1, 3              one id of 32 or 64 bits
//       5, 10             the number of ids in 8 or 32 bits, and the ids, of 64 bits
//       2, 12             a portable payload of 32 bits, or CRoaring's own form of one
//       4, 13             the number of parts as LEB128; and for each the upper half of its ids, and the payload of their lower halves
//
// All integers begin with their lowest byte.

import { type Core, Format } from "./core/core.js";
import { Exit, Failure } from "./failure.js";
import { readPayload } from "./payloads.js";

export const SYSTEMS = ["clickhouse", "doris", "starrocks"] as const;
export type System = (typeof SYSTEMS)[number];

const LAST_32 = 0xffff_ffffn;
/** Up to so many ids, ClickHouse writes a list. */
const CLICKHOUSE_FEW = 32;
const Doris = { EMPTY: 0, SINGLE32: 1, BITMAP32: 2, SINGLE64: 3, BITMAP64: 4, FEW: 5, SET: 10, BITMAP32_V2: 12, BITMAP64_V2: 13 } as const;

/** Bytes of an id, and how it is read. */
const ID_BYTES: Record<number, (bytes: Buffer, at: number) => bigint> = {
  1: (bytes, at) => BigInt(bytes.readUInt8(at)), 2: (bytes, at) => BigInt(bytes.readUInt16LE(at)),
  4: (bytes, at) => BigInt(bytes.readUInt32LE(at)), 8: (bytes, at) => bytes.readBigUInt64LE(at),
};

class Reader {
  readonly bytes: Buffer;
  readonly #system: System;
  at = 0;

  constructor(bytes: Buffer, system: System) {
    this.bytes = bytes;
    this.#system = system;
  }

  fail(why: string): never { throw new Failure(`the file is no bitmap of ${this.#system}: ${why}`); }
  get rest(): number { return this.bytes.length - this.at; }

  /** The next `count` bytes. */
  take(count: number): Buffer {
    if (count > this.rest) this.fail("it is cut short");
    return this.bytes.subarray(this.at, this.at += count);
  }

  u8(): number { return this.take(1)[0]!; }
  u16(): number { return this.take(2).readUInt16LE(); }
  u32(): number { return this.take(4).readUInt32LE(); }

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
  ids(count: number, bytes = count === 0 ? 1 : this.rest / count): BigUint64Array {
    const read = ID_BYTES[bytes];
    if (!read || this.rest !== count * bytes) return this.fail(`it has ${this.rest} bytes for ${count} ids`);
    return BigUint64Array.from({ length: count }, () => read(this.take(bytes), 0));
  }

  /** A portable payload of 32 bits. */
  portable(): Buffer {
    const RUNS = 12347, NO_RUNS = 12346, NO_OFFSETS = 4, ARRAY_MOST = 4096, BITSET_BYTES = 8192;
    const begin = this.at, cookie = this.u32(), hasRuns = (cookie & 0xffff) === RUNS;
    if (!hasRuns && cookie !== NO_RUNS) this.fail("one of its parts is no roaring bitmap");
    const count = hasRuns ? (cookie >>> 16) + 1 : this.u32(), areRuns = hasRuns ? this.take(Math.ceil(count / 8)) : undefined;
    const heads = this.take(count * 4);
    if (!hasRuns || count >= NO_OFFSETS) this.take(count * 4);
    for (let i = 0; i < count; i++) {
      const members = heads.readUInt16LE(i * 4 + 2) + 1;
      if (areRuns && areRuns[i >> 3]! >> (i & 7) & 1) this.take(this.u16() * 4);
      else this.take(members > ARRAY_MOST ? BITSET_BYTES : members * 2);
    }
    return this.bytes.subarray(begin, this.at);
  }
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

function leb128(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Buffer.of(...bytes, value);
}

/** A 64-bit portable payload of parts, each an upper half and a payload. */
function wideOf(core: Core, reader: Reader, isNative: boolean): Buffer {
  const LIST = 1, PORTABLE = 2;
  const count = reader.leb128(), parts = [u32(count), u32(0)];
  for (let i = 0; i < count; i++) {
    parts.push(reader.take(4));
    const kind = isNative ? reader.u8() : PORTABLE;
    if (kind === PORTABLE) {
      parts.push(reader.portable());
      continue;
    }
    if (kind !== LIST) reader.fail("one of its parts is no roaring bitmap");
    const ids = new Uint32Array(reader.u32());
    for (const at of ids.keys()) ids[at] = reader.u32();
    core.collect(ids);
    parts.push(Buffer.from(core.write(Format.PORTABLE)));
  }
  if (reader.rest > 0) reader.fail(`it has ${reader.rest} bytes too many`);
  return Buffer.concat(parts);
}

/** A payload, or a list of ids. */
function contentOf(core: Core, reader: Reader, system: System): Buffer | BigUint64Array {
  const kind = reader.u8();
  if (system === "clickhouse") {
    if (kind > 1) reader.fail(`its first byte is ${kind}`);
    const count = reader.leb128();
    if (kind === 0) return reader.ids(count);
    return count === reader.rest ? reader.take(count) : reader.fail(`it has ${reader.rest} bytes in place of ${count}`);
  }
  switch (kind) {
    case Doris.EMPTY: return reader.ids(0);
    case Doris.SINGLE32: return reader.ids(1, 4);
    case Doris.SINGLE64: return reader.ids(1, 8);
    case Doris.FEW: return reader.ids(reader.u8(), 8);
    case Doris.SET: return reader.ids(reader.u32(), 8);
    case Doris.BITMAP32:
    case Doris.BITMAP32_V2: return reader.take(reader.rest);
    case Doris.BITMAP64: return wideOf(core, reader, false);
    case Doris.BITMAP64_V2: return wideOf(core, reader, true);
    default: return reader.fail(`its first byte is ${kind}`);
  }
}

/** The bytes of a text in Base64, which is how databases show bitmaps: none begins with a printable character. */
const decoded = (bytes: Buffer): Buffer => (bytes[0]! >= 0x20 ? Buffer.from(bytes.toString("latin1"), "base64") : bytes);

/** Makes the core hold a bitmap of another system. Returns it as a payload. */
export async function readFrom(core: Core, system: System, wide: boolean, bytes: Buffer): Promise<Uint8Array> {
  if (bytes.length === 0) throw new Failure("the file has no bytes");
  const content = contentOf(core, new Reader(decoded(bytes), system), system);
  if (content instanceof BigUint64Array) core.collect(content);
  else await readPayload(core, wide, content);
  if ((core.maximum() ?? 0n) > LAST_32 && !wide) throw new Failure("the file has ids above 2^32 - 1: load it with --wide", Exit.USAGE);
  return core.write(wide ? Format.PORTABLE_WIDE : Format.PORTABLE);
}

/** The core's members, which are few, of so many bytes each. */
function listOf(core: Core, bytes: 4 | 8): Buffer {
  const list: Buffer[] = [];
  core.members((members) => {
    for (const id of members) {
      const one = Buffer.alloc(8);
      one.writeBigUInt64LE(id);
      list.push(one.subarray(0, bytes));
    }
  }, 0n, core.cardinality());
  return Buffer.concat(list);
}

/** What the core holds, as another system keeps it. For ClickHouse, `wide` says whether its ids have 64 bits. */
export function writtenFor(core: Core, system: System, wide: boolean): Buffer {
  const greatest = core.maximum(), count = greatest === undefined ? 0n : core.cardinality();
  if (system === "clickhouse") {
    if (greatest === undefined) return Buffer.of(0, 0);
    if (count > 0n && count <= CLICKHOUSE_FEW) return Buffer.concat([Buffer.of(0, Number(count)), listOf(core, wide ? 8 : 4)]);
    const payload = core.write(wide ? Format.PORTABLE_WIDE : Format.PORTABLE);
    return Buffer.concat([Buffer.of(1), leb128(payload.length), payload]);
  }
  if (greatest === undefined) return Buffer.of(Doris.EMPTY);
  const isNarrow = greatest <= LAST_32;
  if (count === 1n) return Buffer.concat([Buffer.of(isNarrow ? Doris.SINGLE32 : Doris.SINGLE64), listOf(core, isNarrow ? 4 : 8)]);
  if (isNarrow) return Buffer.concat([Buffer.of(Doris.BITMAP32), core.write(Format.PORTABLE)]);
  const payload = Buffer.from(core.write(Format.PORTABLE_WIDE));
  return Buffer.concat([Buffer.of(Doris.BITMAP64), leb128(payload.readUInt32LE()), payload.subarray(8)]);
}
