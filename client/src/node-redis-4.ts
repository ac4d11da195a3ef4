// Version 4 of node-redis reads integers into numbers, and no option changes this. It rounds those above 2^53, and even some below. Here
// its decoder is made to keep their digits, in replies that are asked for as Buffers (`returnBuffers`).

import type { EventEmitter } from "node:events";
import { isDeepStrictEqual } from "node:util";
import { LARGEST_EXACT } from "./answers.js";

/** What is used of a decoder, which reads the replies of a connection chunk by chunk. */
interface Decoder {
  /** Reads the integer at `cursor`, and moves the cursor behind its CR LF. Answers undefined if the integer goes on in the next chunk. */
  parseInteger(chunk: Buffer): unknown;
  write(chunk: Buffer): void;
  readonly cursor: number;
  /** Undefined between two integers. */
  readonly isNegativeInteger: boolean | undefined;
  /** The same as `bufferComposer` if the reply is asked for as Buffers. */
  readonly currentStringComposer: object;
  readonly bufferComposer: object;
}

/** What is used of the class of decoders. */
interface DecoderClass {
  new (options: { returnStringsAsBuffers: () => boolean; onReply: (reply: unknown) => void }): Decoder;
  readonly prototype: { parseInteger: (this: Decoder, chunk: Buffer) => unknown };
}

const isDecoder = (value: unknown): value is Decoder & { constructor: DecoderClass } =>
  typeof (value as Partial<Decoder> | null | undefined)?.parseInteger === "function";
const isConnection = (value: unknown): value is EventEmitter =>
  typeof (value as Partial<EventEmitter> | null | undefined)?.listeners === "function";

/**
 * What a call reads from WeakMaps. Version 4 is compiled to keep private fields in WeakMaps, and nothing else leads from a client to its
 * decoder, wherever its copy of node-redis is installed and whether it is bundled.
 */
function readsOf(call: () => unknown): unknown[] {
  const { get } = WeakMap.prototype, values: unknown[] = [];
  WeakMap.prototype.get = function (key: WeakKey): unknown {
    const value: unknown = get.call(this, key);
    values.push(value);
    return value;
  };
  try {
    call();
  } finally {
    WeakMap.prototype.get = get;
  }
  return values;
}

/** The decoder of a client. An empty chunk leads to it and changes nothing. */
function decoderOf(client: { readonly isOpen?: boolean }): (Decoder & { constructor: DecoderClass }) | undefined {
  const [receive] = readsOf(() => client.isOpen).find(isConnection)?.listeners("data") ?? [];
  return receive && readsOf(() => { receive(Buffer.alloc(0)); }).find(isDecoder);
}

/** Decoders' `parseInteger`, such that digits of large integers are not lost. */
function exact(parseInteger: DecoderClass["prototype"]["parseInteger"]): DecoderClass["prototype"]["parseInteger"] {
  /** What earlier chunks had of the integer that a decoder is reading. It is unknown if the integer began with the other function. */
  const begun = new WeakMap<Decoder, string>();
  return function (chunk) {
    const from = this.cursor, before = this.isNegativeInteger === undefined ? "" : begun.get(this);
    const integer = parseInteger.call(this, chunk);
    if (before === undefined) return integer;
    if (before !== "") begun.delete(this);
    if (integer === undefined) begun.set(this, before + chunk.toString("latin1", from));
    const large = Math.abs(integer as number) > LARGEST_EXACT && this.currentStringComposer === this.bufferComposer;
    return large ? Buffer.from(before + chunk.toString("latin1", from, this.cursor - 2)) : integer;
  };
}

/** Whether decoders of this class keep the digits of large integers, whole or in two chunks, and read others as before. */
function keepsDigits(Decoder: DecoderClass): boolean {
  const replies: unknown[] = [];
  const decoder = new Decoder({ returnStringsAsBuffers: () => true, onReply: (reply) => replies.push(reply) });
  for (const chunk of ["*2\r\n:7\r\n:9007199254740993\r\n:-92233720", "36854775807\r\n$1\r\nx\r\n"]) decoder.write(Buffer.from(chunk));
  return isDeepStrictEqual(replies, [[7, Buffer.from("9007199254740993")], Buffer.from("-9223372036854775807"), Buffer.from("x")]);
}

/**
 * Makes all clients of the same copy of node-redis 4 keep the digits of integers above 2^53 - 64: where a command asks for Buffers, such
 * an integer is a Buffer with its digits. If that copy works in another way than expected, nothing is changed, and integers stay rounded.
 *
 * @param client of version 4, connected or not; a client of a node, if it is a cluster's
 */
export function keepDigits(client: object): void {
  try {
    const Decoder = decoderOf(client)?.constructor;
    if (!Decoder || keepsDigits(Decoder)) return;
    const { parseInteger } = Decoder.prototype;
    let works = false;
    try {
      Decoder.prototype.parseInteger = exact(parseInteger);
      works = keepsDigits(Decoder);
    } finally {
      if (!works) Decoder.prototype.parseInteger = parseInteger;
    }
  } catch {
    // Numbers that may be rounded are refused where they are read.
  }
}
