// The result of an adapter's `roar`.

import { Bitmaps } from "./bitmaps.js";
import type { Call } from "./call.js";
import { R, R64, RI, RI64, RN, RN_BYTES } from "./family.js";
import { Integers } from "./integers.js";
import { type CallOptions, checkedOptions } from "./limits.js";
import { type Multi, multiOn } from "./multi.js";
import { Names } from "./names.js";
import { performAll, type Settled, type Transport } from "./transport.js";

/** The bitmaps of a server or a cluster, by a client library. */
export interface RoarClient {
  /** Bitmaps with 32-bit offsets, which are numbers. */
  readonly r: Bitmaps<number>;
  /** Bitmaps with 64-bit offsets, which are bigints. */
  readonly r64: Bitmaps<bigint>;
  /** Integers for ids, both as numbers. */
  readonly ri: Integers<number>;
  /** Integers for ids, both as bigints. */
  readonly ri64: Integers<bigint>;
  /** Names for ids, which are answered as text. */
  readonly rn: Names<string>;
  /** Names for ids, which are answered as bytes. */
  readonly rnBytes: Names<Uint8Array>;
  /**
   * Sends calls in one write, in a cluster in one for each node.
   *
   * @param calls calls that `calls` of `r`, `r64`, `ri`, `ri64`, `rn` and `rnBytes`, and `command` make
   * @returns What became of each, in order. It does not reject because a call fails.
   * @remarks The calls are no transaction: other clients' commands may come between them.
   */
  readonly pipeline: <const C extends readonly Call<unknown>[]>(calls: C) => Promise<Settled<C>>;
  /**
   * Begins a transaction: `multi().r.setBit("k", 7, 1).r.bitCount("k").exec()` answers `[0, 1]`, and `call("EXPIRE", "k", 60)` adds any
   * other command. Nothing is sent before `exec`.
   *
   * @remarks The calls are executed together, and no other client's command comes between them. In a cluster, all keys are in one slot.
   */
  readonly multi: () => Multi<[]>;
  /**
   * The same client whose calls end when a signal is aborted or a time is up.
   *
   * @param options `signal`: an AbortSignal; `timeout`: milliseconds for each command, or for commands that are sent together
   * @throws InvalidArgumentError
   * @remarks Calls reject with AbortError or TimeoutError, whose `sent` says whether the server may have executed them.
   */
  readonly with: (options: CallOptions) => RoarClient;
}

/** The client on an adapter's transport. */
export const roarOn = (transport: Transport, options?: CallOptions): RoarClient => ({
  r: new Bitmaps(R, transport, options),
  r64: new Bitmaps(R64, transport, options),
  ri: new Integers(RI, transport, options),
  ri64: new Integers(RI64, transport, options),
  rn: new Names(RN, transport, options),
  rnBytes: new Names(RN_BYTES, transport, options),
  pipeline: (calls) => performAll(transport, calls, options),
  multi: () => multiOn(transport, options),
  with: (other) => roarOn(transport, checkedOptions(other)),
});
