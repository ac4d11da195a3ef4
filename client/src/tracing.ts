// Hooks for metrics and tracing: the channels of node:diagnostics_channel.

import { tracingChannel } from "node:diagnostics_channel";
import type { Call } from "./call.js";

/** What subscribers to the channels of `tracing:redis-roar-client:call` are given. */
export interface Trace {
  /** The calls that are sent together: one, unless it is a pipeline, a transaction or an operation on shards. */
  readonly calls: readonly Call<unknown>[];
  /** What the client library answered, or this package made of it. */
  result?: unknown;
  error?: unknown;
}

const channel = tracingChannel<Trace, Trace>("redis-roar-client:call");

/** Whether somebody subscribes. */
export const isTraced = (): boolean =>
  channel.start.hasSubscribers || channel.end.hasSubscribers || channel.asyncStart.hasSubscribers || channel.asyncEnd.hasSubscribers
  || channel.error.hasSubscribers;

/** Runs something for these calls, and tells subscribers. */
export const traced = <T>(calls: readonly Call<unknown>[], run: () => Promise<T>): Promise<T> => channel.tracePromise(run, { calls });
