// What the commands of the oracle share: keys, arguments, refusals. The oracle predicts what a command must reply and how it changes
// the keys. It is deliberately simple, and represents sets as Edges.

import { asReply, type Family, member } from "../../support/family.ts";
import { type Reply, ReplyError } from "../../support/resp.ts";
import { arityError, bitError, endError, lastError, NO_KEY, NOT_AN_INTEGER, offsetError, SYNTAX, WRONGTYPE } from "../../support/suite.ts";
import { Edges } from "./edges.ts";

/** A bitmap of one of the families. */
export interface Bitmap {
  readonly family: Family;
  set: Edges;
}

/** All keys and their values: bitmaps and strings. */
export type World = Map<string, Bitmap | Buffer>;

/** The exact reply, or, where the contract leaves something open, a function that checks the reply and throws. */
export type Answer = Reply | ((reply: Reply) => void);

/** Thrown where the oracle would have to build something too large. The command is then not sent, and the world must be unchanged. */
export class TooMuch extends Error {}

export const REPLY_LIMIT = 100_000_000n;
export const STRING_LIMIT = 512n * 1024n * 1024n;
export const TOO_MANY = `ERR Roaring: reply too large: maximum ${REPLY_LIMIT} elements (redis-roar.reply-limit)`;
export const MOST_LISTED = 20_000n;
const MOST_CHARACTERS = 70_000n;

const INT64 = 2n ** 63n;

export function refuse(text: string): never {
  throw new ReplyError(text);
}

const digits = /^(?:0|[1-9][0-9]*)$/;
const lenientDigits = /^\+?[0-9]+$/;

/** One call of a command. Arguments are strings with one byte per character. */
export class Call {
  readonly world: World;
  readonly family: Family;
  readonly name: string;
  /** The command's name and its arguments, so that positions are those of the documentation. */
  readonly args: readonly string[];

  constructor(world: World, family: Family, name: string, args: readonly string[]) {
    this.world = world;
    this.family = family;
    this.name = name;
    this.args = [name, ...args];
  }

  refuseArity(): never {
    refuse(arityError(`${this.family.name}.${this.name}`));
  }

  is(at: number, word: string): boolean {
    return this.args[at]?.toUpperCase() === word;
  }

  #unsigned(at: number, max: bigint, lenient: boolean): bigint | undefined {
    const text = this.args[at]!;
    const value = (lenient ? lenientDigits : digits).test(text) ? BigInt(text.replace("+", "")) : undefined;
    return value !== undefined && value <= max ? value : undefined;
  }

  offset(at: number, name: string): bigint {
    return this.#unsigned(at, this.family.last, this.family.bits === 64) ?? refuse(offsetError(this.family, name));
  }

  /** The `last` of NOT. */
  last(at: number): bigint {
    return this.#unsigned(at, this.family.last, this.family.bits === 64) ?? refuse(lastError(this.family));
  }

  offsets(at: number, name: string, to = this.args.length): bigint[] {
    const offsets: bigint[] = [];
    for (; at < to; at++) offsets.push(this.offset(at, name));
    return offsets;
  }

  /** [start, end) */
  range(at: number): [start: bigint, end: bigint] {
    const { bits, last } = this.family;
    const start = this.offset(at, "start"), end = this.#unsigned(at + 1, last + 1n, bits === 64) ?? refuse(endError(this.family, this.args[at + 1]!));
    if (end < start) refuse(`ERR invalid end: must ${bits === 32 ? "be >=" : ">="} start`);
    return [start, end];
  }

  bit(at: number, name: string): 0 | 1 {
    return Number(this.#unsigned(at, 1n, false) ?? refuse(bitError(name))) as 0 | 1;
  }

  /** A signed integer, parsed as native commands do. */
  index(at: number): bigint {
    const text = this.args[at]!;
    if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) refuse(NOT_AN_INTEGER);
    const value = BigInt(text);
    return value >= -INT64 && value < INT64 ? value : refuse(NOT_AN_INTEGER);
  }

  limit(at: number): bigint {
    return this.#unsigned(at, 2n ** 64n - 1n, false) ?? refuse(NOT_AN_INTEGER);
  }

  unit(at: number): "BYTE" | "BIT" {
    return this.is(at, "BIT") ? "BIT" : this.is(at, "BYTE") ? "BYTE" : refuse(SYNTAX);
  }

  /** The bitmap in a key; undefined if the key is missing. */
  read(at: number): Bitmap | undefined {
    const value = this.world.get(this.args[at]!);
    if (value === undefined) return undefined;
    return Buffer.isBuffer(value) || value.family !== this.family ? refuse(WRONGTYPE) : value;
  }

  /** The members of a key; none if it is missing. */
  source(at: number): Edges {
    return this.read(at)?.set ?? new Edges();
  }

  existing(at: number): Edges {
    return this.read(at)?.set ?? refuse(NO_KEY);
  }

  /** Stores the set in a key, which must be missing or a bitmap of the family. */
  store(at: number, set: Edges): Edges {
    this.read(at);
    return this.overwrite(at, set);
  }

  /** Stores the set in a key of any type. */
  overwrite(at: number, set: Edges): Edges {
    this.world.set(this.args[at]!, { family: this.family, set });
    return set;
  }

  /** The members of a key, which is created if it is missing. */
  create(at: number): Edges {
    return this.read(at)?.set ?? this.store(at, new Edges());
  }
}

export const integer = (value: bigint): Reply => asReply(member(value));

/** Members listed in a reply, ascending or downwards. */
export function list(set: Edges, low: bigint, high: bigint, count: bigint, down = false): Reply[] {
  if (count > REPLY_LIMIT) refuse(TOO_MANY);
  if (count > MOST_LISTED) throw new TooMuch();
  return (down ? set.membersDown(low, high, Number(count)) : set.members(low, high, Number(count))).map(integer);
}

/** The options of a list of members from `at` on: those of `words`, each at most once. */
export function page(call: Call, at: number, words: readonly ("REV" | "FROM" | "LIMIT")[]): { down: boolean; from?: bigint; limit: bigint } {
  const open = new Set(words), found: { down: boolean; from?: bigint; limit: bigint } = { down: false, limit: 2n ** 64n };
  for (; at < call.args.length; at++) {
    const word = [...open].find((known) => call.is(at, known));
    if (word === undefined || (word !== "REV" && ++at === call.args.length)) refuse(SYNTAX);
    open.delete(word);
    if (word === "REV") found.down = true;
    else if (word === "FROM") found.from = call.offset(at, "offset");
    else found.limit = call.limit(at);
  }
  return found;
}

/** Checks the length of a string that is to be built, and returns it. */
export function stringLength(length: bigint): number {
  if (length > STRING_LIMIT) refuse(`ERR Roaring: string too long: maximum ${STRING_LIMIT} bytes (proto-max-bulk-len)`);
  if (length > MOST_CHARACTERS) throw new TooMuch();
  return Number(length);
}
