// Who is compared: native commands, and a module's R.* and R64.*. Each .so has a server of its own, R.* and R64.* of one .so share it.

import { createConnection } from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, type Connection, type Reply, ReplyError } from "../test/support/resp.ts";
import { Server } from "../test/support/server.ts";
import { type CommandStatistics, parseCommandStatistics } from "./statistics.ts";

export const NATIVE = "native", OURS = "redis-roar", OURS_64 = `${OURS} R64`;

export type Prefix = "" | "R." | "R64.";

/** What native bitmaps can do; other commands of theirs that share a name with ours mean something else. */
const NATIVE_COMMANDS = new Set(["SETBIT", "GETBIT", "BITCOUNT", "BITPOS", "BITOP", "BITFIELD", "BITFIELD_RO"]);

export class Contender {
  readonly name: string;
  readonly prefix: Prefix;
  readonly server: Server;
  readonly #commands: ReadonlySet<string>;
  #connection: Connection | undefined;

  constructor(name: string, prefix: Prefix, server: Server, commands: ReadonlySet<string>) {
    this.name = name;
    this.prefix = prefix;
    this.server = server;
    this.#commands = commands;
  }

  get native(): boolean {
    return this.prefix === "";
  }

  /** The command of that name in the contender's words. */
  named(command: string): string {
    return this.prefix + command;
  }

  has(command: string): boolean {
    return this.native ? NATIVE_COMMANDS.has(command) : this.#commands.has(this.named(command).toLowerCase());
  }

  /** A key of the contender's own: R.* and R64.* share a server. */
  key(name: string, index?: number): string {
    return `${this.prefix}${name}${index === undefined ? "" : `:${index}`}`;
  }

  /** All replies, none of them an error. */
  async run(commands: readonly Command[]): Promise<Reply[]> {
    const replies = await (await this.#connected()).pipeline(commands), error = replies.find((reply) => reply instanceof ReplyError);
    if (error) throw new Error(`${this.name}: ${error.message}`);
    return replies;
  }

  /** Has the server do what is encoded, and does not look at what it answers. */
  async drain(encoded: Buffer): Promise<void> {
    await (await this.#connected()).drain(encoded);
  }

  async #connected(): Promise<Connection> {
    return (this.#connection ??= await this.server.connect());
  }

  async resetStatistics(): Promise<void> {
    await this.run([["CONFIG", "RESETSTAT"]]);
  }

  async statistics(): Promise<Map<string, CommandStatistics>> {
    return parseCommandStatistics((await this.run([["INFO", "commandstats"]]))[0] as string);
  }

  /** Bytes that the work raised used_memory by, without the buffers of the connection that did it. */
  async memoryOf(work: () => Promise<void>): Promise<number> {
    await this.#disconnect();
    const before = await this.#usedMemory();
    await work();
    await this.#disconnect();
    return (await this.#usedMemory()) - before;
  }

  async #disconnect(): Promise<void> {
    if (!this.#connection) return;
    const clients = Number(await this.server.info("connected_clients"));
    this.#connection.close();
    this.#connection = undefined;
    while (Number(await this.server.info("connected_clients")) >= clients) await sleep(1);
  }

  /** Servers take back the buffers of clients that are idle: at each reading both of the server's own have just been used. */
  async #usedMemory(): Promise<number> {
    await this.server.speaking(3).run("PING");
    return Number(await this.server.info("used_memory"));
  }

  /**
   * Sends what has been encoded already and waits for as many one-line replies; milliseconds. For floods of commands: nothing
   * is parsed, an error reply is found by its first byte.
   */
  async flood(encoded: Buffer, replies: number): Promise<number> {
    const socket = createConnection({ path: this.server.socket });
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const start = performance.now();
    await new Promise<void>((resolve, reject) => {
      let left = replies, fresh = true;
      socket.on("data", (chunk: Buffer) => {
        if (fresh && chunk[0] === 0x2d) reject(new Error(`${this.name}: ${chunk.toString("latin1").slice(0, 100)}`));
        for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) {
          left--;
          if (chunk[at + 1] === 0x2d) reject(new Error(`${this.name}: ${chunk.toString("latin1", at + 1, at + 100)}`));
        }
        fresh = chunk.at(-1) === 0x0a;
        if (left === 0) resolve();
      });
      socket.write(encoded);
    });
    const elapsed = performance.now() - start;
    socket.destroy();
    return elapsed;
  }
}

export interface Peer {
  readonly name: string;
  readonly module: string;
}

/** Fresh servers: native, redis-roar's R.* and R64.*, each peer's. */
export async function startContenders(peers: readonly Peer[]): Promise<Contender[]> {
  const contenders: Contender[] = [];
  // All on one processor, of which only one is at work at a time: processors of a shared machine are not always equally fast.
  const processors = availableParallelism(), pinned = processors > 1 ? [`server_cpulist ${processors - 1}`] : [];
  const config = ["rdbcompression no", "latency-tracking no", "client-query-buffer-limit 4gb", "proto-max-bulk-len 1gb", ...pinned];
  const start = async (name: string, module: string | null | undefined, prefixes: Prefix[]): Promise<void> => {
    const server = await Server.start({ module, config });
    await server.connection.pipeline([["DEBUG", "REPLYBUFFER", "RESIZING", 0]]);      // else reply buffers shrink at times; older servers have no such thing
    const commands = new Set(((await server.run("COMMAND", "LIST")) as string[]).map((command) => command.toLowerCase()));
    for (const prefix of prefixes) {
      contenders.push(new Contender(prefix === "R64." ? `${name} R64` : name, prefix, server, commands));
    }
  };
  await start(NATIVE, null, [""]);
  await start(OURS, undefined, ["R.", "R64."]);
  for (const { name, module } of peers) await start(name, module, ["R.", "R64."]);
  return contenders;
}

export async function stopContenders(contenders: readonly Contender[]): Promise<void> {
  for (const server of new Set(contenders.map((contender) => contender.server))) await server.stop();
}
