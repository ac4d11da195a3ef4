// What the rest of the package needs from a client library. Each adapter makes one of these.

import type { Call, Word } from "./call.js";
import { errorOf, RoarError } from "./errors.js";
import { type CallOptions, type Signal, within } from "./limits.js";
import { isTraced, traced } from "./tracing.js";

/** Sends calls with a client library. */
export interface Transport {
  /** What is put before each key. */
  readonly prefix: Word | undefined;
  /** Answers the raw reply; rejects with the client library's error. An aborted signal keeps back what has not been written yet. */
  send(call: Call<unknown>, signal?: Signal): Promise<unknown>;
  /** Sends all calls in one write to each node, and returns the raw replies in order. */
  sendAll(calls: readonly Call<unknown>[], signal?: Signal): Promise<PromiseSettledResult<unknown>[]>;
  /**
   * Sends all calls as one transaction, and returns the raw replies in order; null if it was not executed because of a watched key. Rejects
   * if it was not executed for another reason, or if nobody knows.
   */
  transact(calls: readonly Call<unknown>[], signal?: Signal): Promise<PromiseSettledResult<unknown>[] | null>;
}

/** What became of the calls of a pipeline. */
export type Settled<C extends readonly Call<unknown>[]> = {
  -readonly [I in keyof C]: PromiseSettledResult<C[I] extends Call<infer T> ? T : never>;
};

const QUEUED = "QUEUED";

const isQueued = (reply: unknown): boolean =>
  reply === QUEUED || (Buffer.isBuffer(reply) && reply.length === QUEUED.length && String(reply) === QUEUED);

/** What a reply means. */
function answerOf<T>(call: Call<T>, reply: unknown, prefix: Word | undefined): T {
  try {
    if (typeof reply !== "number" && isQueued(reply)) {
      throw new RoarError("the connection is in a transaction that the program began: use multi() of this package, or another connection");
    }
    return call.decode(reply, prefix);
  } catch (error) {
    throw errorOf(error, call.name);
  }
}

/** What becomes of a call that has been sent. */
const answered = <T>(transport: Transport, call: Call<T>, sent: Promise<unknown>): Promise<T> =>
  sent.then((reply) => answerOf(call, reply, transport.prefix), (error: unknown) => { throw errorOf(error, call.name); });

/** Sends a call and reads its reply. */
export function perform<T>(transport: Transport, call: Call<T>, options?: CallOptions): Promise<T> {
  if (options === undefined && !isTraced()) return answered(transport, call, transport.send(call)); // nearly all calls
  const start = (signal?: Signal): Promise<T> => answered(transport, call, transport.send(call, signal));
  const run = options === undefined ? start : () => within(options, call.name, start);
  return isTraced() ? traced([call], run) : run();
}

/** Reads the replies of calls. */
export function settled(
  { prefix }: Transport, calls: readonly Call<unknown>[], results: readonly PromiseSettledResult<unknown>[],
): PromiseSettledResult<unknown>[] {
  return results.map((result, i): PromiseSettledResult<unknown> => {
    const call = calls[i]!;
    try {
      if (result.status === "rejected") throw result.reason;
      return { status: "fulfilled", value: answerOf(call, result.value, prefix) };
    } catch (error) {
      return { status: "rejected", reason: errorOf(error, call.name) };
    }
  });
}

/** What a list of calls is called in errors. */
export const nameOf = (calls: readonly Call<unknown>[]): string => [...new Set(calls.map(({ name }) => name))].join(", ");

/** Sends calls and reads their replies. Rejects only if `options` end the calls. */
export async function performAll<const C extends readonly Call<unknown>[]>(
  transport: Transport, calls: C, options?: CallOptions,
): Promise<Settled<C>> {
  if (calls.length === 0) return [] as unknown as Settled<C>;
  const start = (signal?: Signal): Promise<PromiseSettledResult<unknown>[]> => transport.sendAll(calls, signal);
  const run = options === undefined ? start : () => within(options, nameOf(calls), start);
  return settled(transport, calls, await (isTraced() ? traced(calls, run) : run())) as Settled<C>;
}
