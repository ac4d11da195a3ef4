// Sending calls with ioredis, for the adapters of ioredis and redis-modules-sdk.

import { type Call, prefixed, type Word } from "./call.js";
import { insist, NOT_EXECUTED, oneSlot, repliesOf, type Replies } from "./multi.js";
import { slotOf } from "./slot.js";
import type { Transport } from "./transport.js";

/** What is used of a command. */
interface Command {
  keys: readonly Word[];
  isReadOnly?: boolean;
  inTransaction: boolean;
  pipelineIndex?: number;
}

/** ioredis's class of commands. */
type CommandClass = new (name: string, args: readonly Word[], options: { replyEncoding?: string | null }) => Command;

/** What is used of a pipeline. */
interface Pipeline {
  ping(): unknown;
  sendCommand(command: any): unknown;
  exec(): Promise<[error: Error | null, result: unknown][] | null>;
}

/** What is used of a client or a cluster client. */
export interface IoredisClient {
  readonly isCluster: boolean;
  readonly options: { readonly keyPrefix?: string | undefined; readonly enableAutoPipelining?: boolean | undefined };
  sendCommand(command: any): unknown;
  pipeline(): unknown;
}

/** What is used of a cluster client, beyond its public interface. */
interface Internals {
  /** A number for each slot: the same for slots that the same nodes have. ioredis refuses pipelines over several. */
  readonly _groupsBySlot?: readonly (number | undefined)[];
  refreshSlotsCache?(callback?: (error?: Error) => void): void;
}

/**
 * The class of a client's commands, of whichever version and copy of ioredis it is. A pipeline, which is never sent, is asked for a
 * command.
 */
function commandClassOf(client: IoredisClient): CommandClass {
  const pipeline = client.pipeline() as Pipeline;
  let Class: CommandClass | undefined;
  pipeline.sendCommand = (command: Command) => {
    Class = command.constructor as CommandClass;
  };
  pipeline.ping();
  return Class!;
}

/** Errors of pipelines that ioredis does not send, because slots have moved since they were grouped. */
const NOT_SENT = /^All (?:the )?keys in (?:the|a) pipeline/;

/** A pipeline index that no command can have: ioredis does not send it again when a connection breaks, but rejects it. */
const NEVER_AGAIN = -1;

/** Sends calls with the client that `clientOf` returns. */
export function transportOn(clientOf: () => IoredisClient, prefix: string | undefined): Transport {
  let known: CommandClass | undefined;
  const create = (...args: ConstructorParameters<CommandClass>): Command => new (known ??= commandClassOf(clientOf()))(...args);

  /** ioredis does not know where the keys of a module's commands are, and routes and prefixes nothing unless `keys` says so. */
  const commandOf = (call: Call<unknown>): Command => {
    const { name, args, keys, form, readonly } = prefixed(call, prefix);
    const command = create(name, args, { replyEncoding: form === "bytes" ? null : "utf8" });
    command.keys = keys;
    if (readonly) command.isReadOnly = true;
    return command;
  };

  const sendNow = (call: Call<unknown>): Promise<unknown> => {
    const command = commandOf(call);
    if (!call.repeatable) command.pipelineIndex = NEVER_AGAIN;
    return clientOf().sendCommand(command) as Promise<unknown>;
  };

  /** Sends commands in one write. If one of them must not be executed twice, none is sent again when the connection breaks. */
  const write = async (commands: readonly Command[], repeatable: boolean): Promise<PromiseSettledResult<unknown>[]> => {
    const pipeline = clientOf().pipeline() as Pipeline, readonly = commands.every(({ isReadOnly }) => isReadOnly);
    for (const command of commands) {
      command.isReadOnly = readonly; // the first command decides which node gets all
      pipeline.sendCommand(command);
      if (!repeatable) command.pipelineIndex = NEVER_AGAIN;
    }
    const results = await pipeline.exec();
    return results!.map(([error, value]) => (error ? { status: "rejected", reason: error } : { status: "fulfilled", value }));
  };
  const pipelined = (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> =>
    write(calls.map(commandOf), calls.every(({ repeatable }) => repeatable));

  const singly = (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> => Promise.allSettled(calls.map(sendNow));

  const oneByOneIfNotSent = async (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> => {
    try {
      return await pipelined(calls);
    } catch (reason) {
      if (reason instanceof Error && NOT_SENT.test(reason.message)) return singly(calls);
      return calls.map(() => ({ status: "rejected", reason }));
    }
  };

  /** A pipeline for each group of slots. Calls that have to go to another node than the client thought are sent again, one by one. */
  const spread = async (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> => {
    const { _groupsBySlot: groupsBySlot } = clientOf() as Internals, groups = new Map<number | undefined, number[]>();
    for (const [i, call] of calls.entries()) {
      const group = groupsBySlot?.[slotOf(prefixed(call, prefix).keys[0]!)], members = groups.get(group);
      if (members) members.push(i);
      else groups.set(group, [i]);
    }
    const all = new Array<PromiseSettledResult<unknown>>(calls.length);
    await Promise.all([...groups].map(async ([group, members]) => {
      const ofGroup = members.map((i) => calls[i]!);
      const results = await (group === undefined || members.length === 1 ? singly(ofGroup) : oneByOneIfNotSent(ofGroup));
      await Promise.all(results.map(async (result, k) => {
        const again = result.status === "rejected" && NOT_EXECUTED.test(String((result.reason as Error).message));
        all[members[k]!] = again ? (await singly([ofGroup[k]!]))[0]! : result;
      }));
    }));
    return all;
  };

  const sendAll = (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> =>
    (clientOf().isCluster ? spread(calls) : pipelined(calls));

  /** The calls of a tick, which `enableAutoPipelining` collects. ioredis itself would do so only for commands that it knows. */
  let waiting: { call: Call<unknown>; resolve: (value: unknown) => void; reject: (reason: unknown) => void }[] = [];
  const sendWaiting = async (): Promise<void> => {
    const some = waiting;
    waiting = [];
    const results = await sendAll(some.map(({ call }) => call)).catch((reason: unknown) => some.map(() => ({ status: "rejected" as const, reason })));
    for (const [i, result] of results.entries()) {
      if (result.status === "fulfilled") some[i]!.resolve(result.value);
      else some[i]!.reject(result.reason);
    }
  };
  const sendSoon = (call: Call<unknown>): Promise<unknown> => new Promise((resolve, reject) => {
    if (waiting.push({ call, resolve, reject }) === 1) setImmediate(() => void sendWaiting());
  });

  const transact = async (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[] | null> => {
    const inOne = async (): Promise<PromiseSettledResult<unknown>[] | null> => {
      const begin = create("multi", [], {}), end = create("exec", [], { replyEncoding: null });
      const commands = [begin, ...calls.map(commandOf)];
      for (const command of commands) command.inTransaction = true;
      const results = await write([...commands, end], calls.every(({ repeatable }) => repeatable));
      return repliesOf({ queued: results.slice(0, -1), exec: results.at(-1)! } satisfies Replies);
    };
    const client = clientOf();
    if (!client.isCluster) return inOne();
    oneSlot(calls.map((call) => prefixed(call, prefix)), slotOf);
    const refresh = (): Promise<unknown> => new Promise<void>((resolve) => {
      (client as Internals).refreshSlotsCache?.call(client, () => resolve());
    });
    return insist(inOne, refresh);
  };

  const send = (call: Call<unknown>): Promise<unknown> => (clientOf().options.enableAutoPipelining ? sendSoon(call) : sendNow(call));
  return { prefix, send, sendAll, transact };
}
