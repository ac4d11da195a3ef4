// Types of arguments and returns.

import type { Count, Member, Name, Offset } from "./family.js";

/** A key: text, or bytes. */
export type Key = string | Uint8Array;

/**
 * Several values: an array, a Set, a typed array, a generator or any other iterable, but not text or a Buffer, which JavaScript could read
 * as lists of their characters or bytes.
 */
export type List<T> = Iterable<T> & { readonly charCodeAt?: never; readonly readUInt8?: never };

/** A bit. */
export type Bit = 0 | 1;

/** Indexes of bytes or bits, both ends included, negative from the end, as those of native BITCOUNT. See docs/commands.md#bitcount. */
export interface BitRange<M extends Member> {
  start: Offset<M>;
  /** Without it, the range extends to the end. */
  end?: Offset<M> | undefined;
  /** What the indexes count; BYTE if it is not given. */
  unit?: "BYTE" | "BIT" | undefined;
}

/** The type of a field: `i1` to `i64` signed, `u1` to `u63` unsigned. */
export type Encoding = `i${number}` | `u${number}`;

/** Where a field begins: a number of bits, or after a `#` a number of fields of that width. */
export type FieldOffset<M extends Member> = Offset<M> | `#${number}`;

/** What happens when a value does not fit: it wraps around, stays at the largest or smallest value, or is not written. */
export type Overflow = "WRAP" | "SAT" | "FAIL";

/** Reads a field. See docs/commands.md#bitfield. */
export type FieldGet<M extends Member> = readonly ["GET", Encoding, FieldOffset<M>];

/** An operation on a field; the last item is what to do about an overflow, WRAP if it is not given. See docs/commands.md#bitfield. */
export type FieldOperation<M extends Member> =
  | readonly ["GET", Encoding, FieldOffset<M>, value?: undefined, overflow?: undefined]
  | readonly ["SET" | "INCRBY", Encoding, FieldOffset<M>, value: bigint | number | string, overflow?: Overflow];

/** A page of SCAN. */
export interface Page<M extends Member> {
  members: M[];
  /** The cursor for the next call, null at the end. */
  cursor: M | null;
}

/** Statistics about containers. */
export interface ContainerStatistics<M extends Member> {
  number_of_containers: M;
  container_cardinality: M;
  /** Bytes in the portable format, not in memory. */
  container_allocated_bytes: M;
}

/** Statistics about a bitmap. See docs/commands.md#stat. */
export interface Statistics<M extends Member> {
  type: "bitmap" | "bitmap64";
  cardinality: M;
  number_of_containers: M;
  /** 0 if the bitmap is empty. */
  max_value: M;
  /** The largest offset if the bitmap is empty. */
  min_value: M;
  array_container: ContainerStatistics<M>;
  bitset_container: ContainerStatistics<M>;
  run_container: ContainerStatistics<M>;
}

/** A bound of values: an integer, an end, or an integer behind a parenthesis, which is excluded. See docs/integers.md. */
export type Bound<M extends Member> = Offset<M> | "-inf" | "+inf" | `(${number | bigint}`;

/** How many ids there are, and the exact sum of their values. See docs/integers.md#sum. */
export interface Sum<M extends Member> {
  count: Count<M>;
  sum: bigint;
}

/** Statistics about values. See docs/integers.md#stats. */
export interface Summary<M extends Member> extends Sum<M> {
  min: M | null;
  max: M | null;
  /** As near as a number can be. */
  mean: number | null;
}

/** A page of RI.SCAN. */
export interface EntryPage<M extends Member> {
  entries: [id: M, value: M][];
  /** The cursor for the next call, null at the end. */
  cursor: M | null;
}

/** A page of RN.SCAN. */
export interface NamePage<N extends Name> {
  entries: [id: number, name: N][];
  /** The cursor for the next call, null at the end. */
  cursor: number | null;
}

/** Names that RN.QUERY has found. */
export interface FoundNames<N extends Name> {
  names: N[];
  /** The id to go on from, null at the end. */
  cursor: number | null;
}

/** Statistics about the leaves of one kind. */
export interface LeafStatistics<M extends Member> {
  leaves: M;
  ids: M;
  bytes: M;
}

/** Statistics about a key of integers. See docs/integers.md#stat. */
export interface IntegerStatistics<M extends Member> {
  type: "integers";
  cardinality: M;
  min_id: M;
  max_id: M;
  min_value: M;
  max_value: M;
  pairs: LeafStatistics<M>;
  slices: LeafStatistics<M>;
}

/** An expression over some keys, which it names `#1`, `#2` and so on. See docs/commands.md#query. */
export interface Question {
  readonly expression: string;
  readonly keys: List<Key>;
}
