// The contenders: native bitmaps, native sets in some suites, and R.* and R64.* of each module. Each module has its own server, which its
// R.* and R64.* share.

import { createConnection } from "node:net";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, type Connection, type Reply, ReplyError } from "../test/support/resp.ts";
import { Server, type ServerOptions } from "../test/support/server.ts";
import { type CommandStatistics, parseCommandStatistics } from "./statistics.ts";

export const NATIVE = "native", OURS = "redis-roar", OURS_64 = `${OURS} R64`;
/** Native sets, which share a server with native bitmaps. */
export const SETS = "sets";

type Prefix = "" | "R." | "R64.";

/** The native commands to compare with. Other native commands that share a name with ours do something else. */
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

  /** The same contender under another name, so that one measurement can time two ways to ask it. */
  renamed(name: string): Contender {
    return new Contender(name, this.prefix, this.server, this.#commands);
  }

  get native(): boolean {
    return this.prefix === "";
  }

  /** The contender's full name of a command. */
  named(command: string): string {
    return this.prefix + command;
  }

  has(command: string): boolean {
    return this.native ? NATIVE_COMMANDS.has(command) : this.#commands.has(this.named(command).toLowerCase());
  }

  /** A key with the contender's prefix, because R.* and R64.* share a server. */
  key(name: string, index?: number): string {
    return `${this.prefix}${name}${index === undefined ? "" : `:${index}`}`;
  }

  /** The replies. Throws if one of them is an error. */
  async run(commands: readonly Command[]): Promise<Reply[]> {
    const replies = await (await this.#connected()).pipeline(commands), error = replies.find((reply) => reply instanceof ReplyError);
    if (error) throw new Error(`${this.name}: ${error.message}`);
    return replies;
  }

  /** Runs encoded commands and ignores the replies. */
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

  /** Bytes by which the work raises used_memory, without the buffers of its connection. */
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

  /** Servers shrink the buffers of idle clients. So that every reading finds the same, both own connections are used right before it. */
  async #usedMemory(): Promise<number> {
    await this.server.speaking(3).run("PING");
    return Number(await this.server.info("used_memory"));
  }

  /**
   * Sends encoded commands and waits for that many one-line replies. Returns milliseconds. For floods of commands: replies are not
   * parsed, except that an error is recognized by its first byte.
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
  readonly moduleArguments?: readonly string[];
}

/** Starts a server without a module, one with redis-roar, and one per peer. */
export async function startContenders(peers: readonly Peer[]): Promise<Contender[]> {
  const contenders: Contender[] = [];
  // All servers share one processor, since only one works at a time: the processors of a shared machine may differ in speed.
  const processors = availableParallelism(), pinned = processors > 1 ? [`server_cpulist ${processors - 1}`] : [];
  const config = ["rdbcompression no", "latency-tracking no", "client-query-buffer-limit 4gb", "proto-max-bulk-len 1gb", ...pinned];
  const start = async (prefixes: Prefix[], name: string, options: Pick<ServerOptions, "module" | "moduleArguments"> = {}): Promise<void> => {
    const server = await Server.start({ ...options, config });
    await server.connection.pipeline([["DEBUG", "REPLYBUFFER", "RESIZING", 0]]); // keeps the size of reply buffers; fails on old servers
    const commands = new Set(((await server.run("COMMAND", "LIST")) as string[]).map((command) => command.toLowerCase()));
    for (const prefix of prefixes) {
      contenders.push(new Contender(prefix === "R64." ? `${name} R64` : name, prefix, server, commands));
    }
  };
  await start([""], NATIVE, { module: null });
  await start(["R.", "R64."], OURS);
  for (const { name, ...peer } of peers) await start(["R.", "R64."], name, peer);
  return contenders;
}

/** The CPU level that the module has chosen. */
export async function levelOf(contenders: readonly Contender[]): Promise<string> {
  return contenders.find(({ name }) => name === OURS)!.server.info("redis-roar_cpu_level");
}

export async function stopContenders(contenders: readonly Contender[]): Promise<void> {
  for (const server of new Set(contenders.map((contender) => contender.server))) await server.stop();
}
