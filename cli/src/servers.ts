// Connections: to one server, or to all nodes of a cluster. Values and names of keys are buffers.

import { readFileSync } from "node:fs";
import { createClient, RESP_TYPES } from "@redis/client";
import { ErrorAnswer, Exit, Failure, lineOf } from "./failure.js";
import { type ServerVersion } from "./core/sizes.js";
import { slotOf } from "./names.js";

export interface ServerOptions {
  host: string;
  port: number;
  socket?: string;
  url?: string;
  user?: string;
  db: number;
  tls?: boolean;
  cacert?: string;
  cert?: string;
  key?: string;
  sni?: string;
  insecure?: boolean;
}

/** Text, a buffer, a number, nothing, or a list of such; an error reply inside of a list is an ErrorAnswer. */
export type Answer = string | number | Buffer | null | ErrorAnswer | Answer[];
export type Word = string | number | Buffer;

/** What a server says when it is not the one to ask. */
const REDIRECTIONS = new Set(["MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"]);
export const isRedirection = (error: unknown): boolean => error instanceof ErrorAnswer && REDIRECTIONS.has(error.code);

const TYPES = { [RESP_TYPES.BLOB_STRING]: Buffer };
const CONNECT_MS = 10_000;

type Client = ReturnType<typeof createClient>;

function converted(reply: unknown): Answer {
  if (Array.isArray(reply)) return reply.map(converted);
  if (reply instanceof Error) return new ErrorAnswer(reply.message);
  return reply as Answer;
}

const isAnswer = (error: unknown): error is Error => error instanceof Error && /^[A-Z]{2,}[A-Z0-9]* /.test(error.message)
  && !("code" in error) && !/socket|connection/i.test(error.constructor.name);

/** One connection. It is never renewed: who watches keys must know that the watch is gone. */
export class Connection {
  readonly address: string;
  readonly #client: Client;
  #broken: Error | undefined;

  private constructor(client: Client, address: string) {
    this.#client = client;
    this.address = address;
  }

  static async open(options: ServerOptions): Promise<Connection> {
    const address = options.socket ?? `${options.host}:${options.port}`;
    const client = clientFor(options), connection = new Connection(client, address);
    client.on("error", (error: Error) => { connection.#broken ??= error; });
    try {
      await client.connect();
      if (options.db > 0) await connection.run("SELECT", options.db);
    } catch (error) {
      client.destroy();
      const text = lineOf(error), denied = /^(WRONGPASS|NOAUTH|NOPERM)/.test(text);
      throw new Failure(`${address}: ${text}`, denied ? Exit.PERMISSION : Exit.CONNECTION);
    }
    return connection;
  }

  /** The answer to a command. Commands that are sent without waiting in between go to the server together. */
  async run(...words: Word[]): Promise<Answer> {
    try {
      const sent = words.map((word) => (typeof word === "number" ? String(word) : word));
      return converted(await this.#client.sendCommand(sent, { typeMapping: TYPES }));
    } catch (error) {
      if (isAnswer(error)) throw new ErrorAnswer(error.message);
      throw new Failure(`${this.address}: ${lineOf(this.#broken ?? error)}`, Exit.CONNECTION);
    }
  }

  /** The same, with an error reply as the answer. */
  async ask(...words: Word[]): Promise<Answer> {
    try {
      return await this.run(...words);
    } catch (error) {
      if (error instanceof ErrorAnswer) return error;
      throw error;
    }
  }

  close(): void {
    try {
      this.#client.destroy();
    } catch {
      // It is closed already.
    }
  }
}

function clientFor(options: ServerOptions): Client {
  const password = process.env.REDISCLI_AUTH;
  const tls = options.tls ? {
    tls: true as const,
    ...(options.cacert && { ca: readFileSync(options.cacert) }),
    ...(options.cert && { cert: readFileSync(options.cert) }),
    ...(options.key && { key: readFileSync(options.key) }),
    ...(options.sni && { servername: options.sni }),
    ...(options.insecure && { rejectUnauthorized: false }),
  } : {};
  const where = options.socket ? { path: options.socket } : { host: options.host, port: options.port, ...tls };
  const client: unknown = createClient({
    socket: { ...where, reconnectStrategy: false, connectTimeout: CONNECT_MS },
    ...(options.user && { username: options.user }),
    ...(password && { password }),
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    // The library's limit is for what is not sent yet, and its timers cost more than all else that a command costs here.
    commandOptions: { timeout: 0 },
  });
  return client as Client;
}

/** Options with what a URL says. */
function withUrl(options: ServerOptions): ServerOptions {
  if (!options.url) return options;
  let url: URL;
  try {
    url = new URL(options.url);
  } catch {
    throw new Failure("the URL must be like redis://user@host:6379/0 or rediss://host", Exit.USAGE);
  }
  if (!/^(redis|rediss|valkey|valkeys):$/.test(url.protocol)) throw new Failure(`unknown protocol ${url.protocol}//`, Exit.USAGE);
  if (url.password) throw new Failure("put the password into the variable REDISCLI_AUTH: others can see arguments", Exit.USAGE);
  const db = url.pathname.slice(1);
  if (!/^\d*$/.test(db)) throw new Failure(`${db} is no number of a database`, Exit.USAGE);
  return {
    ...options,
    host: url.hostname.replace(/^\[|\]$/g, "") || options.host,
    port: url.port ? Number(url.port) : options.port,
    db: db ? Number(db) : options.db,
    ...(url.username && { user: decodeURIComponent(url.username) }),
    ...(/s:$/.test(url.protocol) && url.protocol !== "redis:" && { tls: true }),
  };
}

/** The fields of INFO. */
export async function information(connection: Connection, ...sections: string[]): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const section of sections) {
    const text = String(await connection.run("INFO", section));
    for (const [, name, value] of text.matchAll(/^([^#:\r\n]+):(.*?)\r?$/gm)) fields.set(name!, value!);
  }
  return fields;
}

function versionOf(info: Map<string, string>): ServerVersion {
  const valkey = info.get("valkey_version");
  return valkey ? { name: "valkey", version: valkey } : { name: "redis", version: info.get("redis_version") ?? "0" };
}

/** A server, or a node of a cluster. */
export interface Node {
  options: ServerOptions;
  connection: Connection;
  version: ServerVersion;
  /** Such as jemalloc-5.3.0. */
  allocator: string;
}

/** PEXPIRETIME is there from Redis 7.0 on. */
export const knowsAbsoluteTimes = ({ version }: Node): boolean => version.name === "valkey" || Number(version.version.split(".")[0]) >= 7;

/** When a key expires, in milliseconds since the epoch; below 0: never. Before Redis 7.0 by the clock of this machine. */
export async function expiryOf(node: Node, connection: Connection, name: Buffer): Promise<number> {
  if (knowsAbsoluteTimes(node)) return Number(await connection.run("PEXPIRETIME", name));
  const left = Number(await connection.run("PTTL", name));
  return left < 0 ? left : Date.now() + left;
}

/**
 * The quantum of a node's allocator, for sizeClass: from the [statistics](https://redis.io/docs/latest/commands/memory-malloc-stats/) of
 * jemalloc, or 16 if the user may not see them, or another allocator has none.
 */
export async function quantumOf({ connection }: Node): Promise<8 | 16> {
  const statistics = await connection.ask("MEMORY", "MALLOC-STATS");
  return /^Quantum size: *8$/m.test(String(statistics)) ? 8 : 16;
}

/** A server, or the nodes of a cluster that share the keys among them. */
export class Servers {
  readonly nodes: readonly Node[];
  readonly isCluster: boolean;
  /** The node of each slot; empty unless it is a cluster. */
  readonly #slots: readonly Node[];

  private constructor(nodes: Node[], slots: Node[], isCluster: boolean) {
    this.nodes = nodes;
    this.#slots = slots;
    this.isCluster = isCluster;
  }

  /** With `replicas`, a cluster's keys are read from one replica of each node that has one. */
  static async open(given: ServerOptions, replicas = false): Promise<Servers> {
    const options = withUrl(given), first = await openNode(options);
    const info = await information(first.connection, "cluster").catch(() => new Map<string, string>());
    if (info.get("cluster_enabled") !== "1") return new Servers([first], [], false);
    if (options.db > 0) throw new Failure("a cluster is searched in database 0", Exit.USAGE);
    const nodes = new Map<string, Node>(), slots: Node[] = [];
    const shards = await first.connection.run("CLUSTER", "SLOTS") as Answer[][];
    if (shards.length === 0) throw new Failure(`${first.connection.address}: the cluster has no slots`, Exit.CONNECTION);
    for (const [from, to, ...instances] of shards) {
      const list = instances as Answer[][], chosen = replicas && list[1] ? list[1] : list[0]!;
      const host = String(chosen[0] ?? "") || options.host, port = Number(chosen[1]), address = `${host}:${port}`;
      let node = nodes.get(address);
      if (!node) {
        const there: ServerOptions = { ...options, host, port };
        delete there.socket;
        node = await openNode(there);
        if (replicas && chosen !== list[0]) await node.connection.run("READONLY");
        nodes.set(address, node);
      }
      for (let slot = Number(from); slot <= Number(to); slot++) slots[slot] = node;
    }
    first.connection.close();
    return new Servers([...nodes.values()], slots, true);
  }

  /** The node that has a key. */
  nodeOf(name: Buffer): Node {
    const node = this.isCluster ? this.#slots[slotOf(name)] : this.nodes[0];
    if (!node) throw new Failure("no node of the cluster serves the slot of this key", Exit.CONNECTION);
    return node;
  }

  close(): void {
    for (const { connection } of this.nodes) connection.close();
  }
}

async function openNode(options: ServerOptions): Promise<Node> {
  const connection = await Connection.open(options);
  const server = await information(connection, "server", "memory").catch((error: unknown) => {
    if (error instanceof ErrorAnswer) return new Map<string, string>();
    throw error;
  });
  return { options, connection, version: versionOf(server), allocator: server.get("mem_allocator") ?? "" };
}

/** Whether the node has the module. */
async function hasModule(connection: Connection): Promise<boolean> {
  const info = await connection.ask("COMMAND", "INFO", "R.FROMBITMAP");
  return Array.isArray(info) && info[0] !== null && !(info[0] instanceof ErrorAnswer) && (!Array.isArray(info[0]) || info[0].length > 0);
}

/** Throws unless all nodes have the module. */
export async function needModule(servers: Servers): Promise<void> {
  for (const { connection } of servers.nodes) {
    if (!await hasModule(connection)) throw new Failure(`${connection.address}: this server does not have the module redis-roar`, Exit.USAGE);
  }
}
