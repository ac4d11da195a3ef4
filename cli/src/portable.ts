// Payloads in the portable format, and what a file may be that is none.

import { type Core, CoreError, Format } from "./core/core.js";
import { Exit, Failure } from "./failure.js";

function isPortable(core: Core, wide: boolean, payload: Uint8Array): boolean {
  try {
    core.read(wide ? Format.PORTABLE_WIDE : Format.PORTABLE, payload);
    return true;
  } catch (error) {
    if (error instanceof CoreError) return false;
    throw error;
  }
}

/** What may be wrapped around a portable payload, and how to take it off. */
const WRAPPED: [is: string, unwrap: (bytes: Buffer) => Buffer | undefined][] = [
  ["has a line feed behind its end, as redis-cli writes one: cut it off with head -c -1", (bytes) => (bytes.at(-1) === 10 ? bytes.subarray(0, bytes.at(-2) === 13 ? -2 : -1) : undefined)],
  ["is hexadecimal text: decode it with xxd -r -p", (bytes) => decoded(bytes, /^[0-9a-f]+$/i, "hex")],
  ["is Base64 text: decode it with base64 -d", (bytes) => decoded(bytes, /^[A-Za-z0-9+/_-]+=*$/, "base64")],
  ["is in the form of CRoaring's roaring_bitmap_serialize: write it with roaring_bitmap_portable_serialize", (bytes) => (bytes[0] === 2 ? bytes.subarray(1) : undefined)],
];

function decoded(bytes: Buffer, alphabet: RegExp, encoding: "hex" | "base64"): Buffer | undefined {
  const text = bytes.toString("latin1").replace(/\s+/g, "");
  return alphabet.test(text) ? Buffer.from(text, encoding) : undefined;
}

/** The low bits with which CRoaring's frozen form ends, and the cookies of the portable format. */
const FROZEN = 13_766, COOKIES = [12_346, 12_347];
/** What DUMP puts behind a value: a version and a checksum. MODULE2 is its first byte for a value of a module. */
const DUMP_END = 10, MODULE2 = 7;

/** Formats that are recognized by how they begin or end. */
const FOREIGN: [is: string, test: (bytes: Buffer) => boolean][] = [
  ["has no bytes", (bytes) => bytes.length === 0],
  ["is text as redis-cli shows it in a terminal: write it with redis-cli --raw to a file", (bytes) => /^"(\\x[0-9a-f]{2}|[ -~])+"\s*$/.test(bytes.toString("latin1"))],
  ["is in the form of CRoaring's roaring_bitmap_serialize: write it with roaring_bitmap_portable_serialize", (bytes) => bytes[0] === 1 && bytes.length >= 5 && bytes.length === 5 + 4 * bytes.readUInt32LE(1)],
  ["is in CRoaring's frozen form: write it with roaring_bitmap_portable_serialize", (bytes) => bytes.length >= 4 && (bytes.readUInt32LE(bytes.length - 4) & 0x7fff) === FROZEN],
  ["is in the old form of Java's Roaring64NavigableMap: write it with serializePortable", (bytes) => bytes.length > 11 && bytes[0]! <= 1 && COOKIES.includes(bytes.readUInt16LE(9))],
  ["is what DUMP returns, which only RESTORE takes", (bytes) => bytes[0] === MODULE2 && bytes.length > DUMP_END && bytes.readUInt16LE(bytes.length - DUMP_END) < 256],
  ["begins like a portable roaring bitmap, but is truncated or damaged", (bytes) => bytes.length >= 2 && COOKIES.includes(bytes.readUInt16LE(0))],
];

/** Makes the core hold a portable payload. Otherwise throws a failure that names the actual format. */
export function readPortable(core: Core, wide: boolean, payload: Buffer): void {
  if (isPortable(core, wide, payload)) return;
  if (isPortable(core, !wide, payload)) throw new Failure(`the file is a bitmap of ${wide ? "32 bits: load it without" : "64 bits: load it with"} --wide`, Exit.USAGE);
  for (const [is, unwrap] of WRAPPED) {
    const inner = unwrap(payload);
    if (inner && [wide, !wide].some((family) => isPortable(core, family, inner))) throw new Failure(`the file ${is}`);
  }
  const is = FOREIGN.find(([, test]) => test(payload))?.[0] ?? "is not a portable roaring bitmap";
  throw new Failure(`the file ${is}`);
}
