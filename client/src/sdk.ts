// The adapter for redis-modules-sdk: a module class like its own ones.

import { Module } from "redis-modules-sdk/lib/modules/module.base.js";
import type { Bitmaps } from "./bitmaps.js";
import { type Call, prefixed } from "./call.js";
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
  readonly pipeline: RoarClient["pipeline"];

  /**
   * Connects later, with `connect()`.
   *
   * @param options of ioredis: `host`, `port`, `path`, `password`, `keyPrefix` and others. Replies are exact whatever they say.
   * @param moduleOptions of redis-modules-sdk
   */
  constructor(options: RedisOptions = {}, moduleOptions?: ModuleOptions) {
    super("Roar", { ...options, stringNumbers: true }, moduleOptions);
    const send = async (call: Call<unknown>): Promise<unknown> => {
      if (!this.redis) throw new Error("not connected: connect() first");
      const { name, args, form } = prefixed(call, options.keyPrefix);
      return form === "bytes" ? this.redis.callBuffer(name, ...args) : this.redis.call(name, ...args);
    };
    // ioredis sends all commands of a tick one after the other, without waiting for replies.
    ({ r: this.r, r64: this.r64, pipeline: this.pipeline } = roarOn({ send, sendAll: (calls) => Promise.allSettled(calls.map(send)) }));
  }
}
