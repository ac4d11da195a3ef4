// A call of a command as a value: what to send, which of it are keys, and how to read the reply.

import { OutOfRange } from "./errors.js";
import { type Family, integer, type Member, type Offset } from "./family.js";
import type { BitRange, Encoding, FieldOperation, Key, Overflow } from "./types.js";

/** A word of a command, as it is sent. */
export type Word = string | Buffer;

/**
 * What can be in a reply, for adapters that choose how the client library reads it: `plain` has integers up to 2^53 and text, `wide` has
 * integers up to 2^64, and `bytes` has bytes that are no text.
 */
export type Form = "plain" | "wide" | "bytes";

/** How a reply is read. */
export interface Answer<T> {
  readonly form: Form;
  /** Throws `Inexact` if the client library has rounded a number or decoded bytes. */
  readonly decode: (reply: unknown) => T;
}

/** A command with its arguments, and how to read its reply. */
export interface Call<T> {
  /** Such as `R.GETBIT`. */
  readonly name: string;
  /** The arguments, without the name. */
  readonly args: readonly Word[];
  /** Where the keys are among the arguments. */
  readonly keysAt: readonly number[];
  /** The keys, in the order of the arguments. All are in one slot, or a cluster refuses the call. */
  readonly keys: readonly Word[];
  /** Whether it only reads, so that a replica can answer it. */
  readonly readonly: boolean;
  readonly form: Form;
  /** What the reply means. Throws `Inexact` if the client library has lost digits or bytes. */
  decode(reply: unknown): T;
}

/**
 * The call with a prefix before each key; the same call if the prefix is empty. O(number of arguments).
 */
export function prefixed<T>(call: Call<T>, prefix: Word | undefined): Call<T> {
  if (prefix === undefined || prefix.length === 0) return call;
  const args = [...call.args];
  for (const at of call.keysAt) {
    const key = args[at]!;
    args[at] = typeof key === "string" && typeof prefix === "string" ? prefix + key : Buffer.concat([Buffer.from(prefix), Buffer.from(key)]);
  }
  return { ...call, args, keys: call.keysAt.map((at) => args[at]!) };
}

const INT64 = { low: -(2n ** 63n), high: 2n ** 63n - 1n };

/** Writes the arguments of a call one after the other, and checks them. All methods throw {@link OutOfRange} for a bad value. */
export class CallBuilder<M extends Member> {
  readonly #family: Family<M>;
  readonly #name: string;
  readonly #readonly: boolean;
  readonly #args: Word[] = [];
  readonly #keysAt: number[] = [];

  /** `name` is without the family's prefix. */
  constructor(family: Family<M>, name: string, readonly: boolean) {
    this.#family = family;
    this.#name = name;
    this.#readonly = readonly;
  }

  key(key: Key): this {
    this.#keysAt.push(this.#args.length);
    return this.word(key);
  }

  keys(keys: Iterable<Key>): this {
    return this.#several("keys", keys, (key) => this.key(key));
  }

  /** The number of keys, and the keys. */
  numberedKeys(keys: Iterable<Key>): this {
    const list = [...keys];
    return this.word(String(list.length)).keys(list);
  }

  /** An argument that is sent as it is. */
  word(word: Word): this {
    this.#args.push(word);
    return this;
  }

  bytes(bytes: Uint8Array): this {
    return this.word(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  offset(name: string, value: Offset<M>): this {
    return this.#integer(name, value, 0n, this.#family.last);
  }

  offsets(name: string, values: Iterable<Offset<M>>): this {
    return this.#several(name, values, (value) => this.offset(name, value));
  }

  /** The end of a range that excludes it. */
  end(name: string, value: Offset<M>): this {
    return this.#integer(name, value, 0n, this.#family.last + 1n);
  }

  bit(name: string, value: number): this {
    return this.#integer(name, value, 0n, 1n);
  }

  rank(name: string, value: Offset<M>): this {
    return this.#integer(name, value, INT64.low, this.#family.last);
  }

  number(name: string, value: number): this {
    return this.#integer(name, value, 0n, INT64.high);
  }

  draws(name: string, value: number): this {
    return this.#integer(name, value, INT64.low, INT64.high);
  }

  range({ start, end, unit }: BitRange<M>): this {
    if (end === undefined && unit !== undefined) throw new OutOfRange("invalid range: a unit needs an end");
    this.#integer("start", start, INT64.low, INT64.high);
    if (end !== undefined) this.#integer("end", end, INT64.low, INT64.high);
    return unit === undefined ? this : this.word(unit);
  }

  operations(operations: readonly FieldOperation<M>[]): this {
    let current: Overflow = "WRAP";
    for (const [kind, encoding, offset, value, overflow = "WRAP"] of operations) {
      if (kind !== "GET" && overflow !== current) this.word("OVERFLOW").word(current = overflow);
      this.word(kind).word(checkedEncoding(encoding));
      if (typeof offset === "string" && offset.startsWith("#")) this.word(`#${integer("offset", offset.slice(1), 0n, this.#family.last)}`);
      else this.offset("offset", offset as Offset<M>);
      if (kind !== "GET") this.#integer("value", value, INT64.low, INT64.high);
    }
    return this;
  }

  /** Ends the call. */
  answers<T>({ form, decode }: Answer<T>): Call<T> {
    const args = this.#args, keysAt = this.#keysAt;
    return { name: `${this.#family.name}.${this.#name}`, args, keysAt, keys: keysAt.map((at) => args[at]!), readonly: this.#readonly, form, decode };
  }

  #integer(name: string, value: bigint | number | string, low: bigint, high: bigint): this {
    return this.word(String(integer(name, value, low, high)));
  }

  #several<T>(name: string, values: Iterable<T>, add: (value: T) => void): this {
    const before = this.#args.length;
    for (const value of values) add(value);
    if (this.#args.length === before) throw new OutOfRange(`invalid ${name}: there is none`);
    return this;
  }
}

function checkedEncoding(encoding: Encoding): string {
  const width = Number(encoding.slice(1)), widest = encoding.startsWith("i") ? 64 : 63;
  if (!/^[iu][1-9]\d?$/.test(encoding) || width > widest) throw new OutOfRange(`invalid encoding: ${encoding} is not i1 to i64 or u1 to u63`);
  return encoding;
}
