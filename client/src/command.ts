// Any other command of the server as a call, for transactions and pipelines: EXPIRE, SADD, DEL.

import type { Call, Word } from "./call.js";
import { inBuffer } from "./bytes.js";
import { InexactReplyError, InvalidArgumentError } from "./errors.js";
import { described } from "./family.js";

/** An argument of any command: numbers are sent as decimal digits. */
export type Argument = string | Uint8Array | number | bigint;

/** What the client cannot know about a command. */
export interface CommandOptions {
  /** Which arguments are keys; the first one if it is not given. */
  readonly keys?: readonly number[] | undefined;
  /** Whether it only reads, so that a replica can answer it. */
  readonly readonly?: boolean | undefined;
  /** Whether executing it twice leaves the same data as once. Otherwise it is never sent again when a connection breaks. */
  readonly repeatable?: boolean | undefined;
}

/**
 * A reply as client libraries show replies: strings as text, integers as numbers, those above 2^53 as bigints, lists as arrays. It arrives
 * with strings as bytes, so text that consists of digits is an integer of the reply, and bytes of digits are a string.
 */
function plainOf(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  if (typeof reply === "string" && /^-?\d+$/.test(reply)) return Number.isSafeInteger(Number(reply)) ? Number(reply) : BigInt(reply);
  if (typeof reply === "number" && Number.isInteger(reply) && !Number.isSafeInteger(reply)) {
    throw new InexactReplyError(`the client library may have rounded an integer to ${reply}: see the section "Types" of redis-roar-client's README`);
  }
  return Array.isArray(reply) ? reply.map(plainOf) : reply;
}

function wordOf(argument: Argument): Word {
  if (argument instanceof Uint8Array) return inBuffer(argument);
  if (typeof argument === "string" || typeof argument === "bigint" || (typeof argument === "number" && Number.isFinite(argument))) {
    return String(argument);
  }
  throw new InvalidArgumentError(`invalid argument: ${described(argument)} is not text, bytes or a number`);
}

/**
 * A command that is not of this package, for `multi` and `pipeline`: `command("EXPIRE", ["k", 60])`.
 *
 * @param name such as `EXPIRE`; a subcommand is its first argument
 * @param args its arguments
 * @param options `keys`: which arguments are keys, the first one if it is not given; `readonly`; `repeatable`
 * @returns A call whose answer is the reply: strings as text, integers as numbers or, above 2^53, as bigints, lists as arrays.
 * @throws InvalidArgumentError
 * @remarks Nothing is sent.
 */
export function command<T = unknown>(name: string, args: readonly Argument[], options: CommandOptions = {}): Call<T> {
  if (typeof name !== "string" || !/^\S+$/.test(name)) throw new InvalidArgumentError(`invalid name: ${described(name)} is not one word`);
  const words = args.map(wordOf), keysAt = [...options.keys ?? (words.length > 0 ? [0] : [])].sort((a, b) => a - b);
  const stray = keysAt.find((at) => words[at] === undefined);
  if (stray !== undefined) throw new InvalidArgumentError(`invalid keys: ${name} has no argument ${described(stray)}`);
  return {
    name, words: [name, ...words], args: words, keysAt, keys: keysAt.map((at) => words[at]!),
    readonly: options.readonly ?? false, repeatable: options.repeatable ?? options.readonly ?? false,
    form: "bytes", decode: (reply) => plainOf(reply) as T,
  };
}
