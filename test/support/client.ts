// An ordinary client library, as an application would use it with the module.

import { Module } from "redis-modules-sdk/lib/modules/module.base.js";
import type { Server } from "./server.ts";

export class Client {
  readonly #module: Module;

  private constructor(module: Module) {
    this.#module = module;
  }

  static async of(server: Server): Promise<Client> {
    const module = new Module("roar", { path: server.socket, stringNumbers: true }, { returnRawResponse: true });
    await module.connect();
    return new Client(module);
  }

  /** Runs a command. Integers are returned as strings, because 64-bit ones would lose digits as numbers. */
  run(command: string, ...args: (string | number | bigint)[]): Promise<unknown> {
    return this.#module.sendCommand({ command, args: args.map(String) });
  }

  close(): Promise<void> {
    return this.#module.disconnect();
  }
}
