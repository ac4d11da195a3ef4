// How fast the tool asks: so many keys a second, and never more than a share of the time, so that a server has the rest for its clients.

import { interruption } from "./failure.js";

export class Pace {
  readonly #perSecond: number;
  readonly #share: number;
  #next = performance.now();

  /** `perSecond` may be infinite. `share` is the part of the time in which the server may be asked. */
  constructor(perSecond: number, share: number) {
    this.#perSecond = perSecond;
    this.#share = share;
  }

  /** Does work on so many keys, and then waits as long as is due. */
  async spend<T>(keys: number, work: () => Promise<T>): Promise<T> {
    const begun = performance.now(), result = await work(), now = performance.now();
    const rest = (now - begun) * (1 / this.#share - 1), due = Math.max(this.#next, begun) + keys * 1000 / this.#perSecond;
    this.#next = due;
    const pause = Math.max(rest, due - now);
    if (pause >= 1) await interruption.pause(pause);
    return result;
  }
}
