// What the rest of the package needs from a client library. Each adapter makes one of these.

import type { Call } from "./call.js";
import { errorOf } from "./errors.js";

/** Sends calls with a client library. */
export interface Transport {
  /** Answers the raw reply; rejects with the client library's error. */
  send(call: Call<unknown>): Promise<unknown>;
  /** Sends all calls in one write to each node, and answers the raw replies in order. */
  sendAll(calls: readonly Call<unknown>[]): Promise<PromiseSettledResult<unknown>[]>;
}

/** What became of the calls of a pipeline. */
export type Settled<C extends readonly Call<unknown>[]> = {
  -readonly [I in keyof C]: PromiseSettledResult<C[I] extends Call<infer T> ? T : never>;
};

/** Sends a call and reads its reply. */
export async function perform<T>(transport: Transport, call: Call<T>): Promise<T> {
  try {
    return call.decode(await transport.send(call));
  } catch (error) {
    throw errorOf(error, call.name);
  }
}

/** Sends calls and reads their replies. */
export async function performAll<const C extends readonly Call<unknown>[]>(transport: Transport, calls: C): Promise<Settled<C>> {
  const results = calls.length > 0 ? await transport.sendAll(calls) : [];
  return results.map((result, i): PromiseSettledResult<unknown> => {
    const call = calls[i]!;
    try {
      if (result.status === "rejected") throw result.reason;
      return { status: "fulfilled", value: call.decode(result.value) };
    } catch (error) {
      return { status: "rejected", reason: errorOf(error, call.name) };
    }
  }) as Settled<C>;
}
