// A call of a command as a value: what to send, which of it are keys, and how to read the reply.

import { inBuffer } from "./bytes.js";
import { errorOf, InvalidArgumentError } from "./errors.js";
import { described, type Family, integer, type Member, type Name, nameWord, type Offset } from "./family.js";
import type { BitRange, Bound, Encoding, FieldOperation, Key, List, Overflow, Question } from "./types.js";

/** A word of a command, as it is sent: text, or bytes in a Buffer. */
export type Word = string | Uint8Array;

/**
 * What can be in a reply, for adapters that choose how the client library reads it: `plain` has integers up to 2^53 and text, `wide` has
 * integers up to 2^64, and `bytes` has such integers and bytes that are no text.
 */
export type Form = "plain" | "wide" | "bytes";

/** How a reply is read. */
export interface Answer<T> {
  readonly form: Form;
  /** Throws `InexactReplyError` if the client library has rounded a number or decoded bytes. Keys are answered without the prefix. */
  readonly decode: (reply: unknown, prefix?: Word) => T;
}

/** A command with its arguments, and how to read its reply. */
export interface Call<T> {
  /** Such as `R.GETBIT`. */
  readonly name: string;
  /** The name and the arguments. */
  readonly words: readonly Word[];
  /** The arguments, without the name. */
  readonly args: readonly Word[];
  /** Where the keys are among the arguments. */
  readonly keysAt: readonly number[];
  /** The keys, in the order of the arguments. All are in one slot, or a cluster refuses the call. */
  readonly keys: readonly Word[];
  /** Whether it only reads, so that a replica can answer it. */
  readonly readonly: boolean;
  /** Whether the bitmaps are the same if the server executes it twice, as can happen when a connection breaks. */
  readonly repeatable: boolean;
  readonly form: Form;
  /**
   * What the reply means. Throws `InexactReplyError` if the client library has lost digits or bytes. `prefix` is what was put before each
   * key that was sent; keys are answered without it.
   */
  decode(reply: unknown, prefix?: Word): T;
}

/**
 * What a second execution changes: nothing (`same`), something in any case (`differs`), or something if the destination, the first key,
 * is among the other keys (`destination`).
 */
export type Repeated = "same" | "differs" | "destination";

/**
 * The call with a prefix before each key; the same call if the prefix is empty. O(number of arguments).
 */
export function prefixed<T>(call: Call<T>, prefix: Word | undefined): Call<T> {
  if (prefix === undefined || prefix.length === 0) return call;
  const { name, keysAt, readonly, repeatable, form, decode } = call, words = [...call.words];
  for (const at of keysAt) {
    const key = words[at + 1]!;
    words[at + 1] = typeof key === "string" && typeof prefix === "string" ? prefix + key : Buffer.concat([Buffer.from(prefix), Buffer.from(key)]);
  }
  return { name, words, args: words.slice(1), keysAt, keys: keysAt.map((at) => words[at + 1]!), readonly, repeatable, form, decode };
}

/** The call with another answer, made of its own. */
export function mapped<T, U>(call: Call<T>, change: (answer: T) => U): Call<U> {
  const { name, words, args, keysAt, keys, readonly, repeatable, form } = call;
  return { name, words, args, keysAt, keys, readonly, repeatable, form, decode: (reply, prefix) => change(call.decode(reply, prefix)) };
}

const INT64 = { low: -(2n ** 63n), high: 2n ** 63n - 1n };

/** The full names of commands, such as `R.SETBIT`, by family and name. Making one for each call would show in the rate of calls. */
const NAMES = {
  R: new Map<string, string>(), R64: new Map<string, string>(), RI: new Map<string, string>(), RN: new Map<string, string>(),
};

/** The prefix of commands. */
type Prefix = keyof typeof NAMES;

const undecided = (): never => {
  throw new Error("the call has not been ended");
};

function fullName({ name: family }: Family<Member, Prefix>, name: string): string {
  const known = NAMES[family].get(name);
  if (known !== undefined) return known;
  NAMES[family].set(name, `${family}.${name}`);
  return `${family}.${name}`;
}

/**
 * Writes the arguments of a call one after the other, checks them, and is the call in the end. All methods throw
 * {@link InvalidArgumentError} for a bad value.
 *
 * A program makes one for each call, so it has few parts: what transports need is ready, and what only some need is made when asked for.
 */
export class CallBuilder<M extends Member> implements Call<unknown> {
  readonly name: string;
  readonly words: Word[];
  readonly readonly: boolean;
  form: Form = "plain";
  decode: (reply: unknown, prefix?: Word) => unknown = undecided;
  readonly #family: Family<M, Prefix>;
  #repeated: Repeated;
  /** Where the keys are among the words. Most calls have one. */
  #firstKey = 0;
  #otherKeys: number[] | undefined;
  /** How many values the last list has. */
  #listed = 0;
  /** The last list of keys that their number precedes. */
  #numbered: readonly Key[] | undefined;

  /** `name` is without the family's prefix. */
  constructor(family: Family<M, Prefix>, name: string, readonly: boolean, repeated: Repeated = "same") {
    this.name = fullName(family, name);
    this.words = [this.name];
    this.readonly = readonly;
    this.#family = family;
    this.#repeated = repeated;
  }

  get args(): Word[] {
    return this.words.slice(1);
  }

  get keysAt(): number[] {
    return [...(this.#firstKey > 0 ? [this.#firstKey] : []), ...(this.#otherKeys ?? [])].map((at) => at - 1);
  }

  get keys(): Word[] {
    const { words } = this, first = words[this.#firstKey]!;
    return this.#otherKeys ? [first, ...this.#otherKeys.map((at) => words[at]!)] : this.#firstKey > 0 ? [first] : [];
  }

  get repeatable(): boolean {
    if (this.#repeated === "same") return true;
    const [first, ...others] = this.keys;
    return this.#repeated === "destination" && !others.some((key) => Buffer.from(key).equals(Buffer.from(first!)));
  }

  key(key: Key): this {
    if (this.#firstKey === 0) this.#firstKey = this.words.length;
    else (this.#otherKeys ??= []).push(this.words.length);
    if (typeof key === "string") return this.word(key);
    if (key instanceof Uint8Array) return this.word(inBuffer(key));
    return this.refuse(`invalid key: ${described(key)} is neither text nor bytes`);
  }

  keyList(keys: List<Key>): this {
    return this.several("keys", keys, (key) => this.key(key));
  }

  /** The number of keys, and the keys. */
  numberedKeys(keys: List<Key>): this {
    const list = this.#numbered = [...listed("keys", keys, this.name)];
    return this.word(String(list.length)).keyList(list);
  }

  /** An argument that is sent as it is. */
  word(word: Word): this {
    this.words.push(word);
    return this;
  }

  text(name: string, text: string): this {
    return typeof text === "string" ? this.word(text) : this.refuse(`invalid ${name}: ${described(text)} is not text`);
  }

  bytes(name: string, bytes: Uint8Array): this {
    return bytes instanceof Uint8Array ? this.word(inBuffer(bytes)) : this.refuse(`invalid ${name}: ${described(bytes)} is not bytes`);
  }

  offset(name: string, value: Offset<M>): this {
    // Nearly all offsets of `r` end here: a BigInt for each would show in the rate of calls.
    if (typeof value === "number" && value >= 0 && value <= 0xffff_ffff && Number.isInteger(value)) return this.word(String(value));
    return this.integer(name, value, 0n, this.#family.last);
  }

  offsets(name: string, values: List<Offset<M>>): this {
    return this.several(name, values, (value) => this.offset(name, value));
  }

  /** The number of ranges, and their first and last offsets. */
  ranges(ranges: List<readonly [min: Offset<M>, max: Offset<M>]>): this {
    const list = [...listed("ranges", ranges, this.name)];
    return this.word(String(list.length)).several("ranges", list, ([min, max]) => this.offset("min", min).offset("max", max));
  }

  /** The end of a range that excludes it. */
  end(name: string, value: Offset<M>): this {
    return this.integer(name, value, 0n, this.#family.last + 1n);
  }

  bit(name: string, value: number): this {
    return value === 0 || value === 1 ? this.word(value === 0 ? "0" : "1") : this.integer(name, value, 0n, 1n);
  }

  /** A value of an id. */
  value(name: string, value: Offset<M>): this {
    if (typeof value === "number" && Number.isSafeInteger(value)) return this.word(String(value));
    return this.integer(name, value, INT64.low, INT64.high);
  }

  bound(name: string, value: Bound<M>): this {
    if (value === "-inf" || value === "+inf") return this.word(value);
    if (typeof value === "string" && value.startsWith("(")) return this.integer(name, value.slice(1), INT64.low, INT64.high, "(");
    return this.value(name, value as Offset<M>);
  }

  entries(entries: List<readonly [id: Offset<M>, value: Offset<M>]>): this {
    return this.several("entries", entries, ([id, value]) => this.offset("id", id).value("value", value));
  }

  /** The number of edges, and the edges. */
  edges(edges: List<Offset<M>>): this {
    const list = [...listed("edges", edges, this.name)];
    return this.word(String(list.length)).several("edges", list, (edge) => this.value("edge", edge));
  }

  fractions(fractions: List<number>): this {
    return this.several("fractions", fractions, (fraction) => {
      if (!(typeof fraction === "number" && fraction >= 0 && fraction <= 1)) this.refuse(`invalid fraction: ${described(fraction)} is not from 0 to 1`);
      this.word(String(fraction));
    });
  }

  names(names: List<Name>): this {
    return this.several("names", names, (name) => this.word(nameWord(name, this.name)));
  }

  /** How many to skip, and the most to answer. */
  page([offset, count]: readonly [offset: number, count: number]): this {
    return this.integer("offset", offset, 0n, INT64.high).integer("count", count, INT64.low, INT64.high);
  }

  rank(name: string, value: Offset<M>): this {
    return this.integer(name, value, INT64.low, this.#family.last);
  }

  number(name: string, value: number, least = 0n): this {
    return this.integer(name, value, least, INT64.high);
  }

  question({ expression, keys }: Question): this {
    return this.word("WITHIN").text("expression", expression).numberedKeys(keys);
  }

  draws(name: string, value: number): this {
    return this.integer(name, value, INT64.low, INT64.high);
  }

  /** What is added to offsets. */
  distance(name: string, value: Offset<M>): this {
    return this.integer(name, value, -this.#family.last, this.#family.last);
  }

  range({ start, end, unit }: BitRange<M>): this {
    if (end === undefined && unit !== undefined) return this.refuse("invalid range: a unit needs an end");
    this.integer("start", start, INT64.low, INT64.high);
    if (end !== undefined) this.integer("end", end, INT64.low, INT64.high);
    return unit === undefined ? this : this.word(unit);
  }

  operations(operations: readonly FieldOperation<M>[]): this {
    let current: Overflow = "WRAP";
    const all = [...listed("operations", operations, this.name)];
    if (!all.some(([kind]) => kind === "INCRBY")) this.#repeated = "same";
    for (const [kind, encoding, offset, value, overflow = "WRAP"] of all) {
      if (kind !== "GET" && overflow !== current) this.word("OVERFLOW").word(current = overflow);
      this.word(kind).encoding(encoding);
      if (typeof offset === "string" && offset.startsWith("#")) this.integer("offset", offset.slice(1), 0n, this.#family.last, "#");
      else this.offset("offset", offset as Offset<M>);
      if (kind !== "GET") this.integer("value", value, INT64.low, INT64.high);
    }
    return this;
  }

  /** Ends the call. An answer for a list is told how many values the last list has, and the keys if they were numbered. */
  answers<T>(answer: Answer<T> | ((listed: number, keys: readonly Key[]) => Answer<T>)): Call<T> {
    const { form, decode } = typeof answer === "function" ? answer(this.#listed, this.#numbered ?? []) : answer;
    this.form = form;
    this.decode = decode;
    return this as Call<T>;
  }

  protected encoding(encoding: Encoding): this {
    const width = Number(String(encoding).slice(1)), widest = String(encoding).startsWith("i") ? 64 : 63;
    if (/^[iu][1-9]\d?$/.test(encoding) && width <= widest) return this.word(encoding);
    return this.refuse(`invalid encoding: ${described(encoding)} is not i1 to i64 or u1 to u63`);
  }

  protected integer(name: string, value: bigint | number | string, low: bigint, high: bigint, before = ""): this {
    try {
      return this.word(before + String(integer(name, value, low, high)));
    } catch (error) {
      throw errorOf(error, this.name);
    }
  }

  protected several<T>(name: string, values: List<T>, add: (value: T) => void): this {
    this.#listed = 0;
    for (const value of listed(name, values, this.name)) {
      add(value);
      this.#listed++;
    }
    return this.#listed > 0 ? this : this.refuse(`invalid ${name}: there is none`);
  }

  protected refuse(message: string): never {
    throw new InvalidArgumentError(message, { command: this.name });
  }
}

/**
 * A list as it was given. Throws {@link InvalidArgumentError} if it is text or bytes, which JavaScript could read as lists of characters or
 * small numbers, or no list at all.
 */
export function listed<T>(name: string, values: List<T>, command?: string): Iterable<T> {
  const given: unknown = values;
  if (typeof given === "string" || given instanceof String || given instanceof Uint8Array) {
    throw new InvalidArgumentError(`invalid ${name}: a list is needed, and this is ${given instanceof Uint8Array ? "bytes" : described(String(given))}`, { command });
  }
  if (typeof (given as Partial<Iterable<unknown>> | undefined)?.[Symbol.iterator] !== "function") {
    throw new InvalidArgumentError(`invalid ${name}: a list is needed, and this is ${described(given)}`, { command });
  }
  return values;
}
