// Limits the rate of the tool: a maximum number of keys per second, and a maximum share of the server's time.

import { interruption } from "./failure.js";

export class Pace {
  readonly #perSecond: number;
  readonly #share: number;
  #next = performance.now();

  /** `perSecond` may be infinite. `share` is the share of time in which the server may work for the tool. */
  constructor(perSecond: number, share: number) {
    this.#perSecond = perSecond;
    this.#share = share;
  }

  /** Does work on this many keys, and then pauses as long as the limits require. */
  async spend<T>(keys: number, work: () => Promise<T>): Promise<T> {
    const begun = performance.now(), result = await work(), now = performance.now();
    const rest = (now - begun) * (1 / this.#share - 1), due = Math.max(this.#next, begun) + keys * 1000 / this.#perSecond;
    this.#next = due;
    const pause = Math.max(rest, due - now);
    if (pause >= 1) await interruption.pause(pause);
    return result;
  }
}
