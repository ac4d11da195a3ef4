// The families of commands, and how their offsets are checked and answered.

import { isUtf8 } from "node:buffer";
import { inBuffer } from "./bytes.js";
import { InexactReplyError, InvalidArgumentError } from "./errors.js";

/** How a family returns offsets and numbers of members: `number` for `R.`, `bigint` for `R64.`. */
export type Member = number | bigint;

/** What a method takes for an offset: for `R64.` also text and safe numbers. */
export type Offset<M extends Member> = [M] extends [number] ? number : bigint | number | string;

/** A number of members, of which there are up to 2^64 in `R64.` bitmaps. */
export type Count<M extends Member> = M;

/** A name of an id: text, which is sent as UTF-8, or bytes. */
export type Name = string | Uint8Array;

/** A family of commands on bitmaps. There are two, {@link R} and {@link R64}. */
export interface Family<M extends Member, N extends string = "R" | "R64"> {
  /** The prefix of its commands. */
  readonly name: N;
  /** The largest offset. */
  readonly last: bigint;
  /**
   * The integer as the family returns it. Throws {@link InexactReplyError} if a number cannot hold it. O(1).
   * See docs/commands.md.
   */
  member(value: bigint): M;
}

/** The commands of integers for ids, with numbers or with bigints: {@link RI} and {@link RI64}. */
export interface IntegerFamily<M extends Member> extends Family<M, "RI"> {
  /** The family of bitmaps that sharded integers are cut like. */
  readonly bitmaps: Family<M>;
}

/** The commands of names for ids, with names as text or as bytes: {@link RN} and {@link RN_BYTES}. Ids are numbers. */
export interface NameFamily<N extends Name> extends Family<number, "RN"> {
  /**
   * A name of a reply as the family answers it. Throws {@link InexactReplyError} if text cannot hold it, or if the client library may have
   * lost bytes of it. O(length). See docs/names.md.
   */
  nameOf(reply: Name): N;
}

/** What decoders put in place of bytes that are no text. */
const REPLACEMENT = "\ufffd";

function asText(reply: Name): string {
  const isLost = typeof reply === "string" ? reply.includes(REPLACEMENT) : !isUtf8(reply);
  if (isLost) throw new InexactReplyError("a name is not text in UTF-8: read it as bytes, with rnBytes");
  return typeof reply === "string" ? reply : inBuffer(reply).toString();
}

function asBytes(reply: Name): Uint8Array {
  if (typeof reply !== "string") return reply;
  throw new InexactReplyError("the client library has decoded bytes as text: map strings to Buffers for this command");
}

function asNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new InexactReplyError(`${value} does not fit a number`);
  return number;
}

/** The family of 32-bit offsets: 0 to 4294967295. See docs/commands.md. */
export const R: Family<number> = { name: "R", last: 2n ** 32n - 1n, member: asNumber };

/** The family of 64-bit offsets: 0 to 18446744073709551615. See docs/commands.md. */
export const R64: Family<bigint> = { name: "R64", last: 2n ** 64n - 1n, member: (value) => value };

/** Integers for ids, both as numbers: ids from 0 to 9007199254740991, and values as far from 0. See docs/integers.md. */
export const RI: IntegerFamily<number> = { name: "RI", last: BigInt(Number.MAX_SAFE_INTEGER), member: asNumber, bitmaps: R };

/** Integers for ids, both as bigints: ids from 0 to 18446744073709551615, and values of 64 bits. See docs/integers.md. */
export const RI64: IntegerFamily<bigint> = { name: "RI", last: R64.last, member: R64.member, bitmaps: R64 };

/** Names for ids, with names as text: UTF-8. See docs/names.md. */
export const RN: NameFamily<string> = { name: "RN", last: R.last, member: asNumber, nameOf: asText };

/** Names for ids, with names as bytes. See docs/names.md. */
export const RN_BYTES: NameFamily<Uint8Array> = { name: "RN", last: R.last, member: asNumber, nameOf: asBytes };

/**
 * An argument as an integer. `name` is what errors call it. Throws {@link InvalidArgumentError} if it is not an integer, a number beyond
 * 2^53, or not within `low` and `high`. O(1).
 */
export function integer(name: string, value: bigint | number | string, low: bigint, high: bigint): bigint {
  const exact = typeof value === "number" ? Number.isSafeInteger(value)
    : typeof value === "bigint" || (typeof value === "string" && /^-?\d+$/.test(value));
  if (!exact) throw new InvalidArgumentError(`invalid ${name}: ${described(value)} is not an exact integer`);
  const whole = BigInt(value);
  if (whole < low || whole > high) throw new InvalidArgumentError(`invalid ${name}: ${whole} is not from ${low} to ${high}`);
  return whole;
}

const LONGEST_NAME = 65_535;

/**
 * A name as it is sent. Throws {@link InvalidArgumentError} if it is neither text nor bytes, if it is too short or too long, and if it has
 * half a surrogate pair, which UTF-8 cannot express. O(length).
 */
export function nameWord(name: Name, command?: string): string | Uint8Array {
  const refuse = (why: string): never => {
    throw new InvalidArgumentError(`invalid name: ${why}`, { command });
  };
  const isText = typeof name === "string";
  if (!isText && !((name as unknown) instanceof Uint8Array)) return refuse(`${described(name)} is neither text nor bytes`);
  if (isText && /\p{Surrogate}/u.test(name)) return refuse(`${described(name)} has half a surrogate pair`);
  const length = isText ? Buffer.byteLength(name) : name.length;
  if (length < 1 || length > LONGEST_NAME) return refuse(`it has ${length} bytes, and a name has 1 to ${LONGEST_NAME}`);
  return isText ? name : inBuffer(name);
}

/** A value in the message of an error. */
export function described(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return "bytes";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
