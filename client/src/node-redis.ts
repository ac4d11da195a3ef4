// The adapter for node-redis (npm package `redis`), versions 4, 5 and 6.

import { type Call, type Form, prefixed, type Word } from "./call.js";
import { Calls, type MethodName, readOnly } from "./calls.js";
import { type Family, type Member, R, R64 } from "./family.js";
import { type RoarClient, roarOn } from "./roar.js";
import type { Transport } from "./transport.js";

/** What the adapter uses of a client. */
export interface NodeRedisClient {
  sendCommand(args: string[], options?: object): Promise<unknown>;
}

/** What the adapter uses of a cluster client. */
export interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  sendCommand(firstKey: string | Buffer | undefined, isReadonly: boolean | undefined, args: string[], options?: object): Promise<unknown>;
}

// The first bytes of replies, by which versions 5 and 6 choose how to read them.
const INTEGER = 58, BIG_NUMBER = 40, BULK_STRING = 36;

/**
 * A type mapping for `withTypeMapping` and `commandOptions` of versions 5 and 6: integers as text, so that none is rounded, and strings as
 * Buffers. With it, the commands of {@link modules} are exact.
 */
export const typeMapping = { [INTEGER]: String, [BIG_NUMBER]: String, [BULK_STRING]: Buffer } as const;

/** How versions 5 and 6 read replies. `returnBuffers` is for version 4, which can only choose how it reads strings. */
const OPTIONS: Readonly<Record<Form, object>> = {
  plain: { typeMapping: {} },
  wide: { typeMapping: { [INTEGER]: String, [BIG_NUMBER]: String } },
  bytes: { typeMapping: { [BULK_STRING]: Buffer }, returnBuffers: true },
};

/** The prefix of keys, which version 6 has. It adds it to its own commands, but not to those of `sendCommand`. */
const prefixOf = (client: object): string | undefined => (client as { _keyPrefix?: string })._keyPrefix;

const isCluster = (client: NodeRedisClient | NodeRedisCluster): client is NodeRedisCluster => "masters" in client;

/**
 * The commands of the module on a client or a cluster client of node-redis.
 *
 * @param client of `createClient` or `createCluster`, which you connect and close
 * @remarks Nothing is sent. Version 4 rounds large integers: answers with integers above 2^53 - 64 are `Inexact`. With the server's
 * setting `redis-roar.r64-replies strings`, all members are exact.
 */
export function roar(client: NodeRedisClient | NodeRedisCluster): RoarClient {
  const send = async (call: Call<unknown>): Promise<unknown> => {
    const { name, args, keys, readonly, form } = prefixed(call, prefixOf(client));
    const words = [name, ...args] as string[];
    return isCluster(client)
      ? client.sendCommand(keys[0], readonly, words, OPTIONS[form])
      : client.sendCommand(words, OPTIONS[form]);
  };
  // node-redis itself writes all commands of a tick at once.
  const transport: Transport = { send, sendAll: (calls) => Promise.allSettled(calls.map(send)) };
  return roarOn(transport);
}

// --- Modules -----------------------------------------------------------------------------------------------------------------

/** What versions 5 and 6 give to `parseCommand`. */
interface CommandParser {
  push(...args: Word[]): unknown;
  pushKey(key: Word): unknown;
  preserve: unknown;
}

/** A command of a family as node-redis defines commands: for version 4, and with parseCommand for versions 5 and 6. */
export interface Definition<A extends unknown[], T> {
  readonly IS_READ_ONLY: boolean;
  FIRST_KEY_INDEX(this: void, ...args: A): Word | undefined;
  transformArguments(this: void, ...args: A): (string | Buffer)[];
  parseCommand(this: void, parser: CommandParser, ...args: A): void;
  transformReply(this: void, reply: any, preserve?: unknown): T;
}

/** The commands of a family as a module of node-redis. */
export type RoarModule<M extends Member> = {
  readonly [N in MethodName]: Calls<M>[N] extends (...args: infer A) => Call<infer T> ? Definition<A, T> : never;
};

type MakeCall = (...args: unknown[]) => Call<unknown>;

function definition(make: MakeCall, readonly: boolean): Definition<unknown[], unknown> {
  return {
    IS_READ_ONLY: readonly,
    FIRST_KEY_INDEX: (...args) => make(...args).keys[0],
    transformArguments: (...args) => {
      const call = make(...args);
      return Object.assign([call.name, ...call.args], { preserve: call });
    },
    parseCommand: (parser, ...args) => {
      const call = make(...args);
      parser.push(call.name);
      for (const [i, word] of call.args.entries()) {
        if (call.keysAt.includes(i)) parser.pushKey(word);
        else parser.push(word);
      }
      parser.preserve = call;
    },
    transformReply: (reply, preserve) => (preserve as Call<unknown>).decode(reply),
  };
}

function moduleOf<M extends Member>(family: Family<M>): RoarModule<M> {
  const calls = new Calls(family);
  const define = (name: MethodName): unknown => definition((calls[name] as MakeCall).bind(calls), readOnly[name]);
  return Object.fromEntries(Object.keys(readOnly).map((name) => [name, define(name as MethodName)])) as unknown as RoarModule<M>;
}

/**
 * For `createClient({ modules })` and `createCluster({ modules })`: the commands as methods of `client.r` and `client.r64`, with the names
 * and arguments of those of `roar(client).r`. The client's own settings say how replies are read: without {@link typeMapping}, large
 * integers and bytes are refused with `Inexact`. Version 4 has no type mapping: there, bytes need `returnBuffers`, and large members the
 * server's setting `redis-roar.r64-replies strings`. Error replies are those of node-redis.
 */
export const modules = { r: moduleOf(R), r64: moduleOf(R64) };
