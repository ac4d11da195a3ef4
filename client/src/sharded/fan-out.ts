// Sends a call to each of several shards, all at the same time.

import type { Call } from "../call.js";
import type { CallOptions } from "../limits.js";
import { performAll, type Transport } from "../transport.js";
import type { Layout } from "./layout.js";
import { type ShardFailure, ShardsFailedError } from "./failure.js";

/** What shards answered, in the order of `shards`. Throws {@link ShardsFailedError} when all have answered or failed, if one has failed. */
export async function fanOut<T>(
  transport: Transport, layout: Layout, shards: readonly number[], make: (shard: number, i: number) => Call<T>, options?: CallOptions,
): Promise<T[]> {
  const results = await performAll(transport, shards.map(make), options), done = new Map<number, T>(), failed: ShardFailure[] = [];
  for (const [i, result] of results.entries()) {
    const shard = shards[i]!;
    if (result.status === "fulfilled") done.set(shard, result.value);
    else failed.push({ shard, key: layout.keyOf(shard), error: result.reason as unknown });
  }
  if (failed.length > 0) throw new ShardsFailedError(failed, done);
  return [...done.values()];
}

/** Calls of commands that are not the module's, on one key. The answer is an integer, unless `decode` makes something else of it. */
export function keyCall(
  name: string, key: string, args: readonly string[] = [], decode: (reply: unknown) => number = Number,
): Call<number> {
  const all = [key, ...args];
  return { name, words: [name, ...all], args: all, keysAt: [0], keys: [key], readonly: false, repeatable: true, form: "plain", decode };
}
