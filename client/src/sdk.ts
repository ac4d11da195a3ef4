// The adapter for redis-modules-sdk: a module class like its own ones.

import { Module } from "redis-modules-sdk/lib/modules/module.base.js";
import type { Bitmaps } from "./bitmaps.js";
import type { Integers } from "./integers.js";
import { type IoredisClient, transportOn } from "./ioredis-transport.js";
import type { Names } from "./names.js";
import { type RoarClient, roarOn } from "./roar.js";

type RedisOptions = Exclude<ConstructorParameters<typeof Module>[1], unknown[]>;
type ModuleOptions = ConstructorParameters<typeof Module>[2];

/**
 * The commands of the module as a class of redis-modules-sdk. It does not use the library's `sendCommand`, which loses the class of errors,
 * nor `handleResponse`, which makes objects of arrays.
 *
 * It is for single servers, because the library's cluster mode does not work.
 */
export class Roar extends Module implements RoarClient {
  readonly r: Bitmaps<number>;
  readonly r64: Bitmaps<bigint>;
  readonly ri: Integers<number>;
  readonly ri64: Integers<bigint>;
  readonly rn: Names<string>;
  readonly rnBytes: Names<Uint8Array>;
  readonly pipeline: RoarClient["pipeline"];
  readonly multi: RoarClient["multi"];
  readonly with: RoarClient["with"];

  /**
   * Connects later, with `connect()`.
   *
   * @param options of ioredis: `host`, `port`, `path`, `password`, `keyPrefix` and others. Replies are exact whatever they say.
   * @param moduleOptions of redis-modules-sdk
   */
  constructor(options: RedisOptions = {}, moduleOptions?: ModuleOptions) {
    super("Roar", { ...options, stringNumbers: true }, moduleOptions);
    const client = (): IoredisClient => {
      if (!this.redis) throw new Error("not connected: connect() first");
      return this.redis;
    };
    const transport = transportOn(client, options.keyPrefix);
    const roar = roarOn({ ...transport, send: async (call) => transport.send(call) }); // rejects before the connection, and does not throw
    ({ r: this.r, r64: this.r64, ri: this.ri, ri64: this.ri64, rn: this.rn, rnBytes: this.rnBytes } = roar);
    ({ pipeline: this.pipeline, multi: this.multi, with: this.with } = roar);
  }
}
