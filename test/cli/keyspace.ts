// Keys as servers have them: bitmaps and sets of integers among values that only look like them.

import { deflateSync, gzipSync } from "node:zlib";
import { type Argument, type Connection } from "../support/resp.ts";
import { type Random } from "../support/random.ts";

export interface Kind {
  pattern: string;
  /** What the tool should say of most keys. */
  kind: string;
  make(random: Random, i: number): Argument[][];
}

/** A native bitmap of these offsets. */
export function bitmapOf(offsets: Iterable<number>): Buffer {
  let bytes = Buffer.alloc(64);
  let length = 0;
  for (const offset of offsets) {
    const at = offset >> 3;
    while (at >= bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)]);
    bytes[at]! |= 0x80 >> (offset & 7);
    length = Math.max(length, at + 1);
  }
  return bytes.subarray(0, length);
}

const several = (random: Random, count: number, below: number): number[] => Array.from({ length: count }, () => random.below(below));
const word = (random: Random): string => Array.from({ length: 4 + random.below(8) }, () => String.fromCharCode(97 + random.below(26))).join("");

/** Twelve patterns; those of sets and bitmaps differ in density, width and form. */
export const kinds: Kind[] = [
  { pattern: "user:*:visited", kind: "bitmap", make: (r, i) => [["SET", `user:${i}:visited`, bitmapOf(several(r, 3 + r.below(40), 60_000))]] },
  { pattern: "active:*", kind: "bitmap", make: (r, i) => [["SET", `active:2024-${i}`, bitmapOf(several(r, 400, 4000 + r.below(4000)))]] },
  {
    pattern: "feature:*:users", kind: "bitmap", make: (r, i) => {
      const from = 20_000 + r.below(1000), length = 500 + r.below(4000);
      return [["SET", `feature:f${i}:users`, bitmapOf(Array.from({ length }, (_, n) => from + n))], ["EXPIRE", `feature:f${i}:users`, 100_000]];
    },
  },
  { pattern: "post:*:likes", kind: "integers", make: (r, i) => [["SADD", `post:${i}:likes`, ...several(r, 1 + r.below(100), 1_000_000)]] },
  { pattern: "post:*:readers", kind: "integers", make: (r, i) => [["SADD", `post:${i}:readers`, ...several(r, 550 + r.below(300), 5_000_000)]] },
  {
    pattern: "article:*:ids", kind: "integers",
    make: (r, i) => [["SADD", `article:${i}:ids`, ...Array.from({ length: 1 + r.below(60) }, () => r.u64() >> BigInt(r.below(30)))], ...(i % 2 ? [["EXPIRE", `article:${i}:ids`, 200_000]] : [])],
  },
  { pattern: "session:*", kind: "text", make: (r, i) => [["SET", `session:${i}`, Buffer.from(`user ${word(r)} ${word(r)} \u00e9t\u00e9`)]] },
  { pattern: "cache:*", kind: "JSON", make: (r, i) => [["SET", `cache:${i}`, Buffer.from(JSON.stringify({ id: i, name: word(r), list: several(r, 5, 100) }))]] },
  { pattern: "visitors:*", kind: "HyperLogLog", make: (r, i) => [["PFADD", `visitors:${i}`, ...several(r, 5, 1000)]] },
  { pattern: "counter:*", kind: "number", make: (r, i) => [["SET", `counter:${i}`, r.below(1e9) - 5e8]] },
  { pattern: "tags:*", kind: "names", make: (r, i) => [["SADD", `tags:${i}`, ...several(r, 1 + r.below(5), 100), word(r), "007"]] },
  {
    pattern: "blob:*", kind: "compressed or encoded", make: (r, i) => {
      const text = Buffer.from(Array.from({ length: 30 }, () => word(r)).join(" "));
      return [["SET", `blob:${i}`, i % 2 ? gzipSync(text) : deflateSync(text)]];
    },
  },
];

/** Makes that many keys, the same number of each kind. */
export async function fill(connection: Connection, random: Random, keys: number): Promise<void> {
  for (let i = 0; i < keys / kinds.length; i += 50) {
    const commands = Array.from({ length: Math.min(50, keys / kinds.length - i) }, (_, n) => kinds.map((kind) => kind.make(random, i + n)));
    await connection.pipeline(commands.flat(2));
  }
}
