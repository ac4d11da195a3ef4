// What an adapter's `roar` answers.

import { Bitmaps } from "./bitmaps.js";
import type { Call } from "./call.js";
import { R, R64 } from "./family.js";
import { performAll, type Settled, type Transport } from "./transport.js";

/** The bitmaps of a server or a cluster, by a client library. */
export interface RoarClient {
  /** Bitmaps with 32-bit offsets, which are numbers. */
  readonly r: Bitmaps<number>;
  /** Bitmaps with 64-bit offsets, which are bigints. */
  readonly r64: Bitmaps<bigint>;
  /**
   * Sends calls in one write, in a cluster in one for each node.
   *
   * @param calls calls that `r.calls` and `r64.calls` make
   * @returns What became of each, in order. It does not reject because a call fails.
   * @remarks The calls are no transaction: other clients' commands may come between them.
   */
  readonly pipeline: <const C extends readonly Call<unknown>[]>(calls: C) => Promise<Settled<C>>;
}

/** The client on an adapter's transport. */
export const roarOn = (transport: Transport): RoarClient => ({
  r: new Bitmaps(R, transport),
  r64: new Bitmaps(R64, transport),
  pipeline: (calls) => performAll(transport, calls),
});
