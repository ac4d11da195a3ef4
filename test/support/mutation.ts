// Valid payloads, and random mutations of them.

import { R, type Family, range } from "./family.ts";
import { Bytes, type Container, croaringArray, portable32, portable64 } from "./format.ts";
import type { Random } from "./random.ts";

/** Portable streams of a family, with every kind of container. */
function streams(family: Family): Buffer[] {
  const containers: Container[][] = [
    [],
    [{ key: 0, kind: "array", values: [1, 5, 9] }, { key: 4, kind: "bitset", values: range(0, 5000, 3) }],
    range(0, 6).map((key) => (key % 2 ? { key, kind: "run", values: [...range(key, 5), 99] } : { key, kind: "array", values: [7, 8] })),
    [
      { key: 1, kind: "run", values: range(0, 300, 2) }, { key: 2, kind: "run", values: [65_535] },
      { key: 65_535, kind: "array", values: [65_535] },
    ],
  ];
  if (family === R) return containers.map(portable32);
  return [
    ...containers.map((some, high) => portable64([{ high, containers: some }])),
    portable64(range(0, 3).map((high) => (
      { high, containers: [{ key: 0, kind: "array", values: [1, 2] }, { key: 9, kind: "run", values: range(5, 5) }] }))),
  ];
}

const SPAN = 2n ** 63n;

/** Payloads of RESTORE without the envelope: both of CRoaring's 32-bit forms, or 64-bit streams and a payload in parts. */
export function values(family: Family): Buffer[] {
  if (family === R) {
    const containers = streams(R).map((stream) => Buffer.concat([Buffer.from([2]), stream]));
    return [croaringArray([3, 4, 100, 70_000]), croaringArray(range(0, 60, 40_000).reverse()), ...containers];
  }
  const bucket = portable32([{ key: 3, kind: "array", values: [5] }, { key: 7, kind: "run", values: range(0, 9) }]);
  const parts = new Bytes().u64(2n ** 64n - 1n).u64(4n);
  parts.u64(0n).raw(bucket).u64(SPAN + 2n ** 21n).u64(65_536n).u64(500n).raw(bucket).u64(SPAN + 3n).u64(2n ** 48n - 3n);
  return [...streams(family), parts.take()];
}

/** Payloads of IMPORT. */
export const portable = streams;

const FIELDS_16 = [0, 1, 0xffff, 0x7fff, 0x8000, 4095, 4096, 12346, 12347];
const FIELDS_32 = [0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x10000, 0x10001];
const FIELDS_64 = [0n, 1n, 2n ** 64n - 1n, SPAN, SPAN + 1n, SPAN + 2n ** 48n, 2n ** 48n - 1n, 2n ** 32n];

/** One to three changes: a byte replaced, a bit flipped, a count off by one, an extreme field, fields swapped, pieces cut or repeated. */
export function mutated(original: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(original);
  for (let n = 1 + random.below(3); n > 0 && bytes.length >= 8; n--) {
    const heads = random.chance(0.7) ? Math.min(64, bytes.length) : bytes.length; // most counts are in the header
    const at = random.below(heads);
    const fieldAt = (size: number): number => Math.min(at, bytes.length - size);
    const changes = [
      () => void (bytes[at] = random.below(256)),
      () => void (bytes[at]! ^= 1 << random.below(8)),
      () => void (bytes[at]! += random.pick([1, 255])),
      () => void bytes.writeUInt16LE(random.pick(FIELDS_16), fieldAt(2)),
      () => void bytes.writeUInt32LE(random.pick(FIELDS_32), fieldAt(4)),
      () => void bytes.writeBigUInt64LE(random.pick(FIELDS_64), fieldAt(8)),
      () => swap(bytes, fieldAt(2), Math.min(random.below(heads), bytes.length - 2)),
      () => void (bytes = bytes.subarray(0, at)),
      () => void (bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - random.pick([1, 2, 4, 8])))])),
      () => void (bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(4))])),
    ];
    random.pick(changes)();
  }
  return bytes;
}

/** Swaps two fields of 16 bits. */
function swap(bytes: Buffer, a: number, b: number): void {
  const [first, second] = [bytes.readUInt16LE(a), bytes.readUInt16LE(b)];
  bytes.writeUInt16LE(second, a);
  bytes.writeUInt16LE(first, b);
}
