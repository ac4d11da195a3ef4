// The adapter for node-redis (npm package `redis`), versions 4, 5 and 6.

import { type Call, type Form, prefixed, type Word } from "./call.js";
import { Calls, type MethodName, readOnly } from "./calls.js";
import { type Family, type IntegerFamily, type Member, type Name, type NameFamily, R, R64, RI, RI64, RN, RN_BYTES } from "./family.js";
import { IntegerCalls, type IntegerMethodName, integersReadOnly } from "./integer-calls.js";
import type { Signal } from "./limits.js";
import { insist, oneSlot, repliesOf } from "./multi.js";
import { NameCalls, type NameMethodName, namesReadOnly } from "./name-calls.js";
import { type RoarClient, roarOn } from "./roar.js";
import { slotOf } from "./slot.js";
import type { Transport } from "./transport.js";

/** What the adapter uses of a client. */
export interface NodeRedisClient {
  sendCommand(args: string[], options?: object): Promise<unknown>;
}

/** What the adapter uses of a cluster client. */
export interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  /** The nodes of each slot. */
  readonly slots: readonly { readonly master: unknown }[];
  nodeClient(node: any): unknown;
  sendCommand(firstKey: Word | undefined, isReadonly: boolean | undefined, args: string[], options?: object): Promise<unknown>;
}

/** What is used of a pool of clients, beyond what is used of a client. */
interface Pool {
  execute<T>(task: (client: NodeRedisClient) => Promise<T>): Promise<T>;
}

// The first bytes of replies, by which versions 5 and 6 choose how to read them.
const INTEGER = 58, BIG_NUMBER = 40, BULK_STRING = 36;

/** What makes Buffers, where the program has the types of Node.js. */
type Bytes = typeof globalThis extends { Buffer: infer B } ? B : Uint8ArrayConstructor;

/** Which class or function makes the value of a reply that begins with this byte. */
export interface TypeMapping {
  readonly [INTEGER]: StringConstructor;
  readonly [BIG_NUMBER]: StringConstructor;
  readonly [BULK_STRING]: Bytes;
}

/**
 * A type mapping for `withTypeMapping` and `commandOptions` of versions 5 and 6: integers as text, so that none is rounded, and strings as
 * Buffers. With it, the commands of {@link modules} are exact.
 */
export const typeMapping: TypeMapping = { [INTEGER]: String, [BIG_NUMBER]: String, [BULK_STRING]: Buffer };

/** How to read every reply exactly. `returnBuffers` is for version 4, which can only choose how it reads strings. */
const EXACT = { typeMapping, returnBuffers: true };

/** How versions 5 and 6 read replies. */
const OPTIONS: Readonly<Record<Form, object>> = {
  plain: { typeMapping: {} },
  wide: { typeMapping: { [INTEGER]: String, [BIG_NUMBER]: String } },
  bytes: EXACT,
};

/** The prefix of keys, which version 6 has. It adds it to its own commands, but not to those of `sendCommand`. */
const prefixOf = (client: object): string | undefined => (client as { _keyPrefix?: string })._keyPrefix;

/** Used parts of a client beyond its public interface. `withTypeMapping` returns another object, whose `_self` is the client. */
interface Internals {
  readonly isReady?: boolean;
  readonly _commandOptions?: { readonly typeMapping?: object } | undefined;
  readonly _self?: Internals;
}

/**
 * Whether a client reads replies as libraries do unless they are told otherwise. Then nothing needs to be said for plain replies: version 6
 * takes a tenth longer for a command with options. What a pool or a cluster does depends on its clients.
 */
function readsPlainly(client: object): boolean {
  const { _commandOptions: own, _self: self } = client as Internals;
  return "isReady" in client && own?.typeMapping === undefined && self?._commandOptions?.typeMapping === undefined;
}

const isCluster = (client: NodeRedisClient | NodeRedisCluster): client is NodeRedisCluster => "masters" in client;
const isPool = (client: NodeRedisClient): client is NodeRedisClient & Pool => "execute" in client && typeof client.execute === "function";

let isWarned = false;

/** Warns once of versions that give calls the answers of others. Clients, pools and cluster clients of version 6 have `clientUnblock`. */
function warnOf(client: NodeRedisClient | NodeRedisCluster): void {
  if (isWarned || "clientUnblock" in client || !("isReady" in client || isCluster(client) || isPool(client))) return;
  isWarned = true;
  process.emitWarning(
    "node-redis 4 and 5 can give a call the answer to another one when a connection breaks: use version 6 (npm install redis@6)",
    { code: "REDIS_ROAR_NODE_REDIS" },
  );
}

/** A transaction on one connection. The library keeps the commands of a chain together, also when the connection breaks. */
async function transactOn(client: NodeRedisClient, calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[] | null> {
  // A pool would spread the commands over its connections, and leave one of them in a transaction.
  if (isPool(client)) return client.execute((one) => transactOn(one, calls));
  const options = { ...EXACT, chainId: Symbol("transaction") }; // the library reads all replies of a transaction in the same way
  const commands = [["MULTI"], ...calls.map(({ words }) => words as string[]), ["EXEC"]];
  const replies = await Promise.allSettled(commands.map((words) => client.sendCommand(words, options)));
  return repliesOf({ queued: replies.slice(0, -1), exec: replies.at(-1)! });
}

/**
 * The commands of the module on a client, a pool of clients or a cluster client of node-redis.
 *
 * @param client of `createClient`, `createClientPool` or `createCluster`, which you connect and close
 * @remarks Nothing is sent. Use version 6: versions 4 and 5 can give a call the answer to another one when a connection breaks, which a
 * warning says once, with the code `REDIS_ROAR_NODE_REDIS`. Version 4 also rounds large integers: answers with integers above 2^53 - 64
 * are `InexactReplyError`. With the server's setting `redis-roar.r64-replies strings`, all members are exact.
 */
export function roar(client: NodeRedisClient | NodeRedisCluster): RoarClient {
  warnOf(client);
  const prefix = prefixOf(client), cluster = isCluster(client) ? client : undefined;
  const ways: Readonly<Record<Form, object | undefined>> = readsPlainly(client) ? { ...OPTIONS, plain: undefined } : OPTIONS;
  const send = (call: Call<unknown>, signal?: Signal): Promise<unknown> => {
    const full = prefix === undefined ? call : prefixed(call, prefix), words = full.words as string[];
    // Version 4 has another option, but its queue breaks if the command has been written.
    const options = signal ? { ...ways[full.form], abortSignal: signal } : ways[full.form];
    if (!cluster) return (client as NodeRedisClient).sendCommand(words, options);
    const { keys, readonly } = full, toItsNode = (): Promise<unknown> => cluster.sendCommand(keys[0], readonly, words, options);
    // While a slot moves, its node has some of the keys, and refuses what needs them all. The library follows slots, but does not wait.
    return keys.length > 1 ? insist(toItsNode, () => Promise.resolve(), signal) : toItsNode();
  };

  const transact = async (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[] | null> => {
    const full = calls.map((call) => prefixed(call, prefix));
    if (!isCluster(client)) return transactOn(client, full);
    const slot = oneSlot(full, slotOf), [key] = full[0]!.keys;
    const onItsNode = async (): Promise<PromiseSettledResult<unknown>[] | null> =>
      transactOn(await client.nodeClient(client.slots[slot]!.master) as NodeRedisClient, full);
    return insist(onItsNode, () => client.sendCommand(key, false, ["EXISTS", key as string])); // follows the slot, and remembers where it is
  };

  // node-redis itself writes all commands of a tick at once.
  const sendAll: Transport["sendAll"] = (calls, signal) => Promise.allSettled(calls.map((call) => send(call, signal)));
  return roarOn({ prefix, send, sendAll, transact });
}

// --- Modules -----------------------------------------------------------------------------------------------------------------

/** What versions 5 and 6 give to `parseCommand`. */
interface CommandParser {
  push(...args: any[]): unknown;
  pushKey(key: any): unknown;
  /** As it is sent, with the prefix of version 6. */
  readonly firstKey?: unknown;
  preserve: unknown;
}

/** What a module hands from a command to its reply. */
interface Preserved {
  readonly call: Call<unknown>;
  readonly prefix?: Word | undefined;
}

/** What the library puts before keys. */
function prefixBy({ firstKey: sent }: CommandParser, { keys: [key] }: Call<unknown>): Word | undefined {
  if (key === undefined || !(typeof sent === "string" || sent instanceof Uint8Array) || sent.length === key.length) return undefined;
  const bytes = Buffer.from(sent);
  return bytes.subarray(0, bytes.length - Buffer.byteLength(key));
}

/** A command of a family as node-redis defines commands: for version 4, and with parseCommand for versions 5 and 6. */
export interface Definition<A extends unknown[], T> {
  readonly IS_READ_ONLY: boolean;
  FIRST_KEY_INDEX(this: void, ...args: A): any;
  transformArguments(this: void, ...args: A): any[];
  parseCommand(this: void, parser: CommandParser, ...args: A): void;
  transformReply(this: void, reply: any, preserve?: unknown): T;
}

/** The commands of a family as a module of node-redis. */
export type RoarModule<M extends Member> = {
  readonly [N in MethodName]: Calls<M>[N] extends (...args: infer A) => Call<infer T> ? Definition<A, T> : never;
};

/** The commands of integers for ids as a module of node-redis. */
export type IntegerModule<M extends Member> = {
  readonly [N in IntegerMethodName]: IntegerCalls<M>[N] extends (...args: infer A) => Call<infer T> ? Definition<A, T> : never;
};

/** The commands of names for ids as a module of node-redis. */
export type NameModule<N extends Name> = {
  readonly [K in NameMethodName]: NameCalls<N>[K] extends (...args: infer A) => Call<infer T> ? Definition<A, T> : never;
};

type MakeCall = (...args: unknown[]) => Call<unknown>;

function definition(make: MakeCall, readonly: boolean): Definition<unknown[], unknown> {
  return {
    IS_READ_ONLY: readonly,
    FIRST_KEY_INDEX: (...args) => make(...args).keys[0],
    transformArguments: (...args) => {
      const call = make(...args);
      return Object.assign([...call.words], { preserve: { call } satisfies Preserved });
    },
    parseCommand: (parser, ...args) => {
      const call = make(...args), { name, keysAt } = call;
      parser.push(name);
      let next = 0; // of the positions of keys, which ascend
      for (const [i, word] of call.args.entries()) {
        if (keysAt[next] !== i) parser.push(word);
        else {
          parser.pushKey(word);
          next++;
        }
      }
      parser.preserve = { call, prefix: prefixBy(parser, call) } satisfies Preserved;
    },
    transformReply: (reply, preserve) => (preserve as Preserved).call.decode(reply, (preserve as Preserved).prefix),
  };
}

/** The methods of `calls` as definitions. */
function definitions(calls: object, readOnlyOf: Readonly<Record<string, boolean>>): unknown {
  const made = calls as Readonly<Record<string, MakeCall>>;
  const define = (name: string): unknown => definition(made[name]!.bind(calls), readOnlyOf[name]!);
  return Object.fromEntries(Object.keys(readOnlyOf).map((name) => [name, define(name)]));
}

const moduleOf = <M extends Member>(family: Family<M>): RoarModule<M> => definitions(new Calls(family), readOnly) as RoarModule<M>;
const integersOf = <M extends Member>(family: IntegerFamily<M>): IntegerModule<M> =>
  definitions(new IntegerCalls(family), integersReadOnly) as IntegerModule<M>;
const namesOf = <N extends Name>(family: NameFamily<N>): NameModule<N> =>
  definitions(new NameCalls(family), namesReadOnly) as NameModule<N>;

/**
 * For `createClient({ modules })` and `createCluster({ modules })`: the commands as methods of `client.r`, `client.r64`, `client.ri`,
 * `client.ri64`, `client.rn` and `client.rnBytes`, with the names and arguments of those of `roar(client)`. The client's own settings say
 * how replies are read: without {@link typeMapping}, large integers and bytes are refused with `InexactReplyError`. Version 4 has no type
 * mapping: there, bytes need `returnBuffers`, and large members the server's setting `redis-roar.r64-replies strings`. Error replies are
 * those of node-redis.
 */
export const modules = {
  r: moduleOf(R), r64: moduleOf(R64), ri: integersOf(RI), ri64: integersOf(RI64), rn: namesOf(RN), rnBytes: namesOf(RN_BYTES),
};
