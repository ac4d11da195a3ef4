// The adapter for ioredis, versions 5 and 6.

import { Command } from "ioredis";
import { type Call, prefixed, type Word } from "./call.js";
import { type RoarClient, roarOn } from "./roar.js";
import { slotOf } from "./slot.js";
import type { Transport } from "./transport.js";

/** What the adapter uses of a pipeline. */
interface Pipeline {
  sendCommand(command: any): unknown;
  exec(): Promise<[error: Error | null, result: unknown][] | null>;
}

/** What the adapter uses of a client or a cluster client. */
export interface IoredisClient {
  readonly isCluster: boolean;
  readonly options: { keyPrefix?: string };
  sendCommand(command: any): unknown;
  pipeline(): unknown;
}

/** The nodes of each slot, the master first. It is empty before the cluster is connected. */
const nodesOf = (client: IoredisClient): readonly (readonly string[])[] => (client as { slots?: string[][] }).slots ?? [];

/**
 * With `stringNumbers`, ioredis gets the bounds of CLUSTER SLOTS as text and compares them as text. "5461" is then greater than "10922",
 * and nobody seems to have the slots between them. A reply transformer is the only place between the reply and ioredis's table.
 */
function withNumbers(reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply;
  const isRange = (item: unknown): item is unknown[] => Array.isArray(item) && item.slice(0, 2).every((bound) => /^\d+$/.test(String(bound)));
  return reply.map((item: unknown) => (isRange(item) ? [Number(item[0]), Number(item[1]), ...item.slice(2)] : item));
}

/** Makes ioredis read the slots of a cluster as numbers. It may have read them as text before. */
function repairSlots(client: IoredisClient): void {
  Command.setReplyTransformer("cluster", withNumbers);
  const { slots, refreshSlotsCache } = client as { slots?: unknown[]; refreshSlotsCache?: () => void };
  if (slots && slots.length > 0) refreshSlotsCache?.call(client);
}

/** ioredis does not know where the keys of a module's commands are, and routes and prefixes nothing unless `keys` says so. */
function commandOf({ name, args, keys, form }: Call<unknown>): Command & { keys: Word[] } {
  const command = new Command(name, [...args], { replyEncoding: form === "bytes" ? null : "utf8" });
  return Object.assign(command, { keys: [...keys] });
}

/** Errors of a node that has not executed the command because another one must. */
const NOT_EXECUTED = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /;

/**
 * The commands of the module on a client or a cluster client of ioredis.
 *
 * @param client a `Redis`, or a `Cluster`, which you close. For `R64.` members above 2^53, and fields of such values, it needs the option
 * `stringNumbers: true` (of a cluster: `redisOptions: { stringNumbers: true }`); without it, such answers are `Inexact`.
 * @remarks Nothing is sent. `keyPrefix` is honored.
 */
export function roar(client: IoredisClient): RoarClient {
  if (client.isCluster) repairSlots(client);
  const prefix = client.options.keyPrefix;

  const send = async (call: Call<unknown>): Promise<unknown> => client.sendCommand(commandOf(prefixed(call, prefix)));

  const pipelined = async (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> => {
    const pipeline = client.pipeline() as Pipeline;
    for (const call of calls) pipeline.sendCommand(commandOf(prefixed(call, prefix)));
    const results = await pipeline.exec();
    return results!.map(([error, value]) => (error ? { status: "rejected", reason: error } : { status: "fulfilled", value }));
  };

  /** A pipeline for each node. Calls that have to go to another node than the client thought are sent again, one by one. */
  const spread = async (calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]> => {
    const nodes = nodesOf(client), groups = new Map<string, number[]>();
    for (const [i, call] of calls.entries()) {
      const node = nodes[slotOf(prefixed(call, prefix).keys[0]!)]?.join() ?? "";
      groups.set(node, [...groups.get(node) ?? [], i]);
    }
    const settled = new Array<PromiseSettledResult<unknown>>(calls.length);
    await Promise.all([...groups].map(async ([node, group]) => {
      const ofNode = group.map((i) => calls[i]!);
      const results = node === "" || group.length === 1
        ? await Promise.allSettled(ofNode.map(send))
        : await pipelined(ofNode).catch((reason: unknown) => ofNode.map(() => ({ status: "rejected" as const, reason })));
      await Promise.all(results.map(async (result, k) => {
        const again = result.status === "rejected" && NOT_EXECUTED.test(String((result.reason as Error).message));
        settled[group[k]!] = again ? (await Promise.allSettled([send(ofNode[k]!)]))[0] : result;
      }));
    }));
    return settled;
  };

  const transport: Transport = { send, sendAll: client.isCluster ? spread : pipelined };
  return roarOn(transport);
}
