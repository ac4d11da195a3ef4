// The two families: the same commands for 32-bit and for 64-bit offsets.

import { integer, type Reply } from "./resp.ts";

/** An offset: a number where that is exact, else a bigint. Equal offsets are thus equal in a Set. */
export type Member = number | bigint;

export interface Family {
  readonly name: string;
  readonly bits: 32 | 64;
  /** The greatest offset. */
  readonly last: bigint;
  /** Name of the key type in RDB files. */
  readonly type: string;
}

export const R: Family = { name: "R", bits: 32, last: 2n ** 32n - 1n, type: "reroaring" };
export const R64: Family = { name: "R64", bits: 64, last: 2n ** 64n - 1n, type: "roaring64" };
export const families: readonly Family[] = [R, R64];

export const otherThan = (family: Family): Family => (family === R ? R64 : R);

const GREATEST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

export const member = (value: bigint): Member => (value <= GREATEST_NUMBER ? Number(value) : value);

/** A member as a reply: an integer, or from 2^63 on, where RESP's integers end, a bulk string. */
export const asReply = (value: Member): Reply => (value >= 2n ** 63n ? value.toString() : value);

/** How many offsets there are, as a reply. */
export const offsetCount = (family: Family): Reply => asReply(member(family.last + 1n));

/** The member in such a reply. */
export const fromReply = (reply: Reply): Member => integer(String(reply));

/** `count` members from `from`, `step` apart. */
export function range(from: number, count: number, step = 1): number[] {
  const numbers = new Array<number>(count);
  for (let i = 0; i < count; i++) numbers[i] = from + i * step;
  return numbers;
}

/** Ascending order. Comparing numbers with bigints is exact. */
export const ascending = (a: Member, b: Member): number => (a < b ? -1 : a > b ? 1 : 0);

/** The members in ascending order, as a new list. */
export const sorted = <M extends Member>(members: Iterable<M>): M[] => [...members].sort(ascending);

/** Texts that are not valid offsets of the family. */
export function notOffsets(family: Family): string[] {
  const never = ["", " ", "x", "-1", "-0", "1 ", " 1", "1.0", "1e3", "0x10", "1\0", "+", "-", "--1", "99999999999999999999999"];
  return family.bits === 32
    ? [...never, "+1", "01", "4294967296", "18446744073709551615", "18446744073709551616"]
    : [...never, "++1", "+-1", "18446744073709551616", "18446744073709551625", "28446744073709551615"];
}
