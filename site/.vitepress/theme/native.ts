// What native types take on Redis 7.0 of a Linux distribution, as MEMORY USAGE counts it: bitmaps to the byte, the others as estimates once
// they are hash tables.

import { keyBytes, sizeClass } from "../../../cli/dist/core/sizes.js";

/** A key such as `readers:42`. */
export const KEY_BYTES = keyBytes("entry", 16, "readers:42".length, false);
const QUANTUM = 16, MOST_IN_SET = 512, MOST_IN_SORTED_SET = 128, MOST_IN_HASH = 512;

const block = (bytes: number): number => sizeClass(bytes, QUANTUM);
/** A string of so many characters, with what it needs before and behind. */
const text = (characters: number): number => block(characters + 2);
const digits = (value: bigint): number => String(value).length;

/** A native bitmap that is stored at once. */
export const nativeBytes = (greatest: bigint): number => KEY_BYTES + block(Number(greatest >> 3n) + 1 + 10);

/** A native bitmap that grows by SETBIT: it reserves as much again, above 1 MB 1 MB more. */
export function grownBytes(greatest: bigint): number {
  const length = Number(greatest >> 3n) + 1;
  return KEY_BYTES + block(length + Math.min(length, 2 ** 20) + 10);
}

/** A hash table of so many entries, without what these hold. */
const tableBytes = (size: number): number => 64 + 8 * 2 ** Math.ceil(Math.log2(Math.max(size, 4))) + size * block(24);
const middle = (least: bigint, greatest: bigint): bigint => least + (greatest - least) / 2n;

/** A set: integers side by side up to 512 of them, then a hash table of strings. */
export function setBytes(members: bigint, least: bigint, greatest: bigint): number {
  const size = Number(members), width = greatest < 2n ** 15n ? 2 : greatest < 2n ** 31n ? 4 : 8;
  if (greatest < 2n ** 63n && size <= MOST_IN_SET) return KEY_BYTES + block(8 + size * width);
  return KEY_BYTES + tableBytes(size) + size * text(digits(middle(least, greatest)));
}

/** An integer in a list pack. */
function packedBytes(value: bigint): number {
  const widest: [bits: bigint, bytes: number][] = [[7n, 2], [12n, 3], [15n, 4], [23n, 5], [31n, 6]];
  return widest.find(([bits]) => value < 2n ** bits)?.[1] ?? 10;
}

/** How a node of a skip list grows with its levels: three in four have one, and so on. */
const NODE_BYTES = [1, 2, 3, 4, 5, 6].reduce((sum, levels) => sum + 0.75 * 0.25 ** (levels - 1) * block(24 + 16 * levels), 0);

/** A sorted set of ids up to `id` with scores up to `value`: a list pack up to 128 of them, then a hash table and a skip list. */
export function sortedSetBytes(size: number, id: bigint, value: bigint): number {
  if (size <= MOST_IN_SORTED_SET) return KEY_BYTES + block(7 + size * (packedBytes(id / 2n) + packedBytes(value / 2n)));
  return KEY_BYTES + tableBytes(size) + size * (text(digits(id / 2n)) + NODE_BYTES);
}

/** A hash of the same. */
export function hashBytes(size: number, id: bigint, value: bigint): number {
  if (size <= MOST_IN_HASH) return KEY_BYTES + block(7 + size * (packedBytes(id / 2n) + packedBytes(value / 2n)));
  return KEY_BYTES + tableBytes(size) + size * (text(digits(id / 2n)) + text(digits(value / 2n)));
}
