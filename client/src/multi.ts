// Transactions: calls that the server executes together.

import type { Call, Word } from "./call.js";
import { Calls, type MethodName, readOnly } from "./calls.js";
import { type Argument, command } from "./command.js";
import { errorOf, RoarError } from "./errors.js";
import { type Member, type Name, R, R64, RI, RI64, RN, RN_BYTES } from "./family.js";
import { IntegerCalls, type IntegerMethodName, integersReadOnly } from "./integer-calls.js";
import { type CallOptions, type Signal, within } from "./limits.js";
import { NameCalls, type NameMethodName, namesReadOnly } from "./name-calls.js";
import { isTraced, traced } from "./tracing.js";
import { nameOf, settled, type Transport } from "./transport.js";

/** The transaction was executed, and commands in it failed. The changes of the others remain: Redis does not roll back. */
export class TransactionError extends RoarError {
  /** The outcome of each call, in order. */
  readonly results: readonly PromiseSettledResult<unknown>[];

  constructor(results: readonly PromiseSettledResult<unknown>[]) {
    const failures = results.flatMap((result, i) => (result.status === "rejected" ? [{ i, reason: result.reason as Error }] : []));
    const [first] = failures, reason = first!.reason;
    super(`failed: ${failures.length} of ${results.length} calls: call ${first!.i}: ${reason.message}`, { cause: reason });
    this.results = results;
  }

  override get name(): string {
    return "TransactionError";
  }
}

/** The transaction was not executed, because a key that the connection watches was changed. */
export class WatchError extends RoarError {
  override get name(): string {
    return "WatchError";
  }
}

/** The methods of a family in a transaction: each adds a call to it. */
export type Queued<M extends Member, T extends readonly unknown[]> = {
  [N in keyof Pick<Calls<M>, MethodName>]:
  Calls<M>[N] extends (...args: infer A) => Call<infer One> ? (...args: A) => Multi<[...T, One]> : never;
};

/** The methods of integers in a transaction: each adds a call to it. */
export type QueuedIntegers<M extends Member, T extends readonly unknown[]> = {
  [N in keyof Pick<IntegerCalls<M>, IntegerMethodName>]:
  IntegerCalls<M>[N] extends (...args: infer A) => Call<infer One> ? (...args: A) => Multi<[...T, One]> : never;
};

/** The methods of names in a transaction: each adds a call to it. */
export type QueuedNames<N extends Name, T extends readonly unknown[]> = {
  [K in keyof Pick<NameCalls<N>, NameMethodName>]:
  NameCalls<N>[K] extends (...args: infer A) => Call<infer One> ? (...args: A) => Multi<[...T, One]> : never;
};

/** A transaction. `T` are the answers of the calls that it has. */
export interface Multi<T extends readonly unknown[]> {
  /** Adds a call on a bitmap with 32-bit offsets. Throws {@link InvalidArgumentError} for a bad argument. */
  readonly r: Queued<number, T>;
  /** Adds a call on a bitmap with 64-bit offsets. Throws {@link InvalidArgumentError} for a bad argument. */
  readonly r64: Queued<bigint, T>;
  /** Adds a call on integers for ids, both as numbers. Throws {@link InvalidArgumentError} for a bad argument. */
  readonly ri: QueuedIntegers<number, T>;
  /** Adds a call on integers for ids, both as bigints. Throws {@link InvalidArgumentError} for a bad argument. */
  readonly ri64: QueuedIntegers<bigint, T>;
  /** Adds a call on names for ids, with names as text. Throws {@link InvalidArgumentError} for a bad argument. */
  readonly rn: QueuedNames<string, T>;
  /** Adds a call on names for ids, with names as bytes. Throws {@link InvalidArgumentError} for a bad argument. */
  readonly rnBytes: QueuedNames<Uint8Array, T>;
  /**
   * Adds any command of the server: `call("EXPIRE", "k", 60)`. Its first argument is its key; `call(command(...))` tells what the keys of
   * others are. Throws {@link InvalidArgumentError} for a bad argument.
   */
  call<A = unknown>(name: string, ...args: readonly Argument[]): Multi<[...T, A]>;
  call<A>(call: Call<A>): Multi<[...T, A]>;
  /**
   * Sends the calls as one transaction, MULTI and EXEC. No other client's command comes between them. In a cluster, all keys must be in one
   * slot.
   *
   * @returns The answers, in order.
   * @throws TransactionError if calls failed, RoarError if the server refused the transaction and nothing was executed, WatchError
   */
  exec(): Promise<T>;
}

/** The methods of what makes calls, which add calls to a list and answer `owner`. */
function queue(maker: object, names: readonly string[], calls: Call<unknown>[], owner: () => unknown): object {
  const made = maker as Readonly<Record<string, (...args: unknown[]) => Call<unknown>>>;
  const add = (name: string) => (...args: unknown[]): unknown => {
    calls.push(made[name]!(...args));
    return owner();
  };
  return Object.fromEntries(names.map((name) => [name, add(name)]));
}

/** An empty transaction. */
export function multiOn(transport: Transport, options?: CallOptions): Multi<[]> {
  const calls: Call<unknown>[] = [];
  const bitmaps = Object.keys(readOnly), integers = Object.keys(integersReadOnly), names = Object.keys(namesReadOnly);
  const owner = (): unknown => multi;
  const multi: Record<"r" | "r64" | "ri" | "ri64" | "rn" | "rnBytes" | "call", object> & { exec(): Promise<unknown[]> } = {
    r: queue(new Calls(R), bitmaps, calls, owner),
    r64: queue(new Calls(R64), bitmaps, calls, owner),
    ri: queue(new IntegerCalls(RI), integers, calls, owner),
    ri64: queue(new IntegerCalls(RI64), integers, calls, owner),
    rn: queue(new NameCalls(RN), names, calls, owner),
    rnBytes: queue(new NameCalls(RN_BYTES), names, calls, owner),
    call: (call: Call<unknown> | string, ...args: readonly Argument[]) => {
      calls.push(typeof call === "string" ? command(call, args) : call);
      return multi;
    },
    exec: () => execute(transport, calls, options),
  };
  return multi as unknown as Multi<[]>;
}

async function execute(transport: Transport, calls: readonly Call<unknown>[], options?: CallOptions): Promise<unknown[]> {
  if (calls.length === 0) return [];
  const start = (signal?: Signal): Promise<PromiseSettledResult<unknown>[] | null> => transport.transact(calls, signal);
  const run = options === undefined ? start : () => within(options, "MULTI", start);
  let raw: PromiseSettledResult<unknown>[] | null;
  try {
    raw = await (isTraced() ? traced(calls, run) : run());
  } catch (error) {
    throw errorOf(error, nameOf(calls));
  }
  if (raw === null) throw new WatchError("not executed: a watched key was changed", { command: nameOf(calls) });
  const results = settled(transport, calls, raw);
  if (results.some(({ status }) => status === "rejected")) throw new TransactionError(results);
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value);
}

// --- For adapters ------------------------------------------------------------------------------------------------------------

/** Errors of a node that has not executed the command because another one must, or because the cluster is changing. */
export const NOT_EXECUTED = /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /;

/** What a connection answered to MULTI, the calls and EXEC. */
export interface Replies {
  readonly queued: readonly PromiseSettledResult<unknown>[];
  readonly exec: PromiseSettledResult<unknown>;
}

/** The replies of a transaction's calls, as a transport returns them. Throws the error that prevented its execution. */
export function repliesOf({ queued, exec }: Replies): PromiseSettledResult<unknown>[] | null {
  if (exec.status === "rejected") throw queued.find((one) => one.status === "rejected")?.reason ?? exec.reason;
  if (exec.value === null) return null;
  return (exec.value as unknown[]).map((value) =>
    (value instanceof Error ? { status: "rejected", reason: value } : { status: "fulfilled", value }));
}

const ATTEMPTS = 16, LONGEST_PAUSE_MS = 500;

/** Repeats what was refused because the cluster is changing. `refresh` has the client library look where slots are now. */
export async function insist<T>(attempt: () => Promise<T>, refresh: () => Promise<unknown>, signal?: Signal): Promise<T> {
  for (let i = 1; ; i++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Error) || !NOT_EXECUTED.test(error.message) || i === ATTEMPTS || signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, 5 * 2 ** i)));
      await refresh().catch(() => {}); // the next attempt says what is wrong
    }
  }
}

/** The slot of all keys of a transaction, by `slotOf`. Throws if there are several. */
export function oneSlot(calls: readonly Call<unknown>[], slotOf: (key: Word) => number): number {
  const slots = new Set(calls.flatMap(({ keys }) => keys.map(slotOf)));
  if (slots.size > 1) throw new RoarError(`not executed: the keys of a transaction in a cluster must be in one slot, and these are in ${slots.size}`);
  return [...slots][0] ?? 0;
}
