// The envelope of DUMP and RESTORE, which the server puts around the string that a module type saves.
//
//   type 7 | length: module type id | length: opcode 5 (string) | string | length: opcode 0 (end) | u16 version | u64 crc

import { Bytes } from "./format.ts";

const TYPE_MODULE_2 = 7;
const OPCODE_END = 0;
const OPCODE_STRING = 5;
const RDB_VERSION = 10;
const TRAILER_BYTES = 10;
const LZF = 0xc3;

/** The length encoding of RDB files: 6, 14, 32 or 64 bits, big endian. */
function lengthBytes(value: bigint): Buffer {
  if (value < 64n) return Buffer.from([Number(value)]);
  if (value < 16384n) return Buffer.from([0x40 | Number(value >> 8n), Number(value & 255n)]);
  const wide = value >= 2n ** 32n;
  const bytes = Buffer.alloc(wide ? 9 : 5);
  bytes[0] = wide ? 0x81 : 0x80;
  if (wide) bytes.writeBigUInt64BE(value, 1);
  else bytes.writeUInt32BE(Number(value), 1);
  return bytes;
}

function readLength(bytes: Buffer, at: number): { value: bigint; end: number } {
  const first = bytes[at]!;
  if (first < 0x40) return { value: BigInt(first), end: at + 1 };
  if (first < 0x80) return { value: BigInt(((first & 63) << 8) | bytes[at + 1]!), end: at + 2 };
  if (first === 0x80) return { value: BigInt(bytes.readUInt32BE(at + 1)), end: at + 5 };
  if (first === 0x81) return { value: bytes.readBigUInt64BE(at + 1), end: at + 9 };
  throw new Error(`not a length: ${first}`);
}

/** The id of a module type: nine characters of 6 bits each, and a version of 10 bits. */
function typeId(name: string, version: number): bigint {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return [...name].reduce((id, c) => (id << 6n) | BigInt(alphabet.indexOf(c)), 0n) * 1024n + BigInt(version);
}

// CRC-64/REDIS: polynomial ad93d23594c935a9, reflected, not inverted. Computed bytewise, in two 32-bit halves.
const [crcHigh, crcLow] = (() => {
  const POLYNOMIAL_REFLECTED = 0x95ac9329ac4bc9b5n;
  const high = new Uint32Array(256);
  const low = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ POLYNOMIAL_REFLECTED : crc >> 1n;
    high[byte] = Number(crc >> 32n);
    low[byte] = Number(crc & 0xffffffffn);
  }
  return [high, low];
})();

export function crc64(bytes: Buffer): bigint {
  let high = 0;
  let low = 0;
  for (const byte of bytes) {
    const row = (low ^ byte) & 255;
    low = ((low >>> 8) | (high << 24)) ^ crcLow[row]!;
    high = (high >>> 8) ^ crcHigh[row]!;
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** The argument of RESTORE for a payload of the type, of one string or several. The checksum is right even if the payload is invalid. */
export function dumpOf(type: string, payload: Buffer | readonly Buffer[], version = 1): Buffer {
  return sealed(
    Buffer.concat([
      Buffer.from([TYPE_MODULE_2]),
      lengthBytes(typeId(type, version)),
      ...[payload].flat().flatMap((string) => [lengthBytes(BigInt(OPCODE_STRING)), lengthBytes(BigInt(string.length)), string]),
      lengthBytes(BigInt(OPCODE_END)),
    ]),
  );
}

/** Appends the trailer (version and checksum) to any bytes, also to envelopes that are wrong on purpose. */
export function sealed(body: Buffer): Buffer {
  const versioned = new Bytes().raw(body).u16(RDB_VERSION).take();
  return new Bytes().raw(versioned).u64(crc64(versioned)).take();
}

/** The payload in a reply of DUMP. Throws unless it is one string of the type with a right checksum. */
export function payloadOf(type: string, dump: Buffer): Buffer {
  if (dump.readBigUInt64LE(dump.length - 8) !== crc64(dump.subarray(0, -8))) throw new Error("checksum");
  if (dump[0] !== TYPE_MODULE_2) throw new Error(`value type ${dump[0]}`);
  const id = readLength(dump, 1);
  if (id.value !== typeId(type, 1)) throw new Error("type id");
  const opcode = readLength(dump, id.end);
  if (opcode.value !== BigInt(OPCODE_STRING)) throw new Error(`opcode ${opcode.value}`);
  let payload: Buffer;
  let end: number;
  if (dump[opcode.end] === LZF) {
    const packed = readLength(dump, opcode.end + 1);
    const plain = readLength(dump, packed.end);
    end = plain.end + Number(packed.value);
    payload = unpackLzf(dump.subarray(plain.end, end), Number(plain.value));
  } else {
    const length = readLength(dump, opcode.end);
    end = length.end + Number(length.value);
    payload = dump.subarray(length.end, end);
  }
  if (dump[end] !== OPCODE_END || end + 1 + TRAILER_BYTES !== dump.length) throw new Error("not one string");
  return payload;
}

/** LZF: a control byte n below 32 is followed by n + 1 literals; others hold a length of 3 bits and a distance of 13. */
function unpackLzf(packed: Buffer, size: number): Buffer {
  const plain = Buffer.alloc(size);
  let to = 0;
  for (let at = 0; at < packed.length;) {
    const control = packed[at++]!;
    if (control < 32) {
      to += packed.copy(plain, to, at, at + control + 1);
      at += control + 1;
    } else {
      let length = (control >> 5) + 2;
      if (length === 9) length += packed[at++]!;
      const distance = ((control & 31) << 8) + packed[at++]! + 1;
      for (; length > 0; length--, to++) plain[to] = plain[to - distance]!;
    }
  }
  if (to !== size) throw new Error("LZF length");
  return plain;
}
