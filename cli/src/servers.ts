// Connections: to one server, or to all nodes of a cluster. Values and names of keys are buffers.

import { readFileSync } from "node:fs";
import { createClient, RESP_TYPES, type TypeMapping } from "@redis/client";
import { ErrorAnswer, Exit, exitOf, Failure, isForbiddenCommand, lineOf } from "./failure.js";
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

/** Error codes of a node that does not serve the key. */
const REDIRECTIONS = new Set(["MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"]);
export const isRedirection = (error: unknown): boolean => error instanceof ErrorAnswer && REDIRECTIONS.has(error.code);

export const NO_MODULE = "this server does not have the module redis-roar";

const TYPES = { [RESP_TYPES.BLOB_STRING]: Buffer };
/** Integers as text: JavaScript's numbers are exact only up to 2^53. */
const EXACT_TYPES = { [RESP_TYPES.BLOB_STRING]: String, [RESP_TYPES.NUMBER]: String };
/** The time that a server has to accept a connection. */
const ANSWER_MS = 3000;
/** Errors with which a server refuses a connection, for example when it has too many clients. */
const CLOSED = new Set(["NOAUTH", "DENIED", "ERR"]);

type Client = ReturnType<typeof createClient>;

function converted(reply: unknown): Answer {
  if (Array.isArray(reply)) return reply.map(converted);
  if (reply instanceof Error) return new ErrorAnswer(reply.message);
  return reply as Answer;
}

const isAnswer = (error: unknown): error is Error => error instanceof Error && /^[A-Z]{2,}[A-Z0-9]* /.test(error.message)
  && !("code" in error) && !/socket|connection/i.test(error.constructor.name);

export const addressOf = ({ socket, host, port }: ServerOptions): string => socket ?? `${host}:${port}`;

/** One connection. It is never renewed: who watches keys must know that the watch is gone. */
export class Connection {
  static readonly #all = new Set<Connection>();
  readonly address: string;
  readonly #client: Client;
  #broken: Error | undefined;

  private constructor(client: Client, address: string) {
    this.#client = client;
    this.address = address;
    client.on("error", (error: Error) => { this.#broken ??= error; });
    Connection.#all.add(this);
  }

  static async open(options: ServerOptions): Promise<Connection> {
    const connection = new Connection(clientFor(options), addressOf(options));
    try {
      await connection.within(connection.#enter(options.db));
      return connection;
    } catch (error) {
      connection.close();
      const hint = error instanceof ErrorAnswer && error.code === "NOAUTH" ? "; the variable REDISCLI_AUTH has to hold the password" : "";
      if (error instanceof ErrorAnswer) throw new Failure(`${connection.address}: ${error.message.replace(/\.$/, "")}${hint}`, exitOf(error, Exit.CONNECTION));
      throw error;
    }
  }

  /** The same as `work`, which asks this connection, but fails if it takes too long. The connection is closed then. */
  async within<T>(work: Promise<T>): Promise<T> {
    const limit = setTimeout(() => this.close(new Error(`no answer within ${ANSWER_MS / 1000} seconds`)), ANSWER_MS);
    return work.finally(() => clearTimeout(limit));
  }

  /** Closes all connections. What waits for an answer fails, with that reason. */
  static closeAll(why?: Error): void {
    for (const connection of Connection.#all) connection.close(why);
  }

  /** Connects, and makes sure that the server answers. */
  async #enter(db: number): Promise<void> {
    await this.#answer(this.#client.connect());
    // It was closed while it connected.
    if (!Connection.#all.has(this)) throw new Failure(`${this.address}: closed`, Exit.CONNECTION);
    if (db > 0) await this.run("SELECT", db);
    const answer = await this.ask("PING");
    if (answer instanceof ErrorAnswer && CLOSED.has(answer.code)) throw answer;
  }

  async #answer<T>(reply: Promise<T>): Promise<T> {
    try {
      return await reply;
    } catch (error) {
      if (isAnswer(error) && /^ERR unknown command .?R(64|I|N)?\./i.test(error.message)) throw new Failure(`${this.address}: ${NO_MODULE}`, Exit.USAGE);
      if (isAnswer(error)) throw new ErrorAnswer(error.message);
      throw new Failure(`${this.address}: ${lineOf(this.#broken ?? error)}`, Exit.CONNECTION);
    }
  }

  /** The answer to a command. Commands that are sent without waiting in between go to the server together. */
  async run(...words: Word[]): Promise<Answer> {
    return converted(await this.#send(words, TYPES));
  }

  /** The answer to a command, with integers and strings as text. */
  async exactly(...words: Word[]): Promise<Answer> {
    return converted(await this.#send(words, EXACT_TYPES));
  }

  #send(words: Word[], typeMapping: TypeMapping): Promise<unknown> {
    const sent = words.map((word) => (typeof word === "number" ? String(word) : word));
    return this.#answer(this.#client.sendCommand(sent, { typeMapping }));
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

  close(why?: Error): void {
    this.#broken ??= why;
    Connection.#all.delete(this);
    this.#client.destroy();
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
    socket: { ...where, reconnectStrategy: false, connectTimeout: ANSWER_MS },
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
  if (url.password) throw new Failure("set the password in the variable REDISCLI_AUTH: other users can see arguments", Exit.USAGE);
  const db = url.pathname.slice(1);
  if (!/^\d*$/.test(db)) throw new Failure(`${db} is not the number of a database`, Exit.USAGE);
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
  const valkey = info.get("valkey_version"), isCluster = info.get("redis_mode") === "cluster";
  return valkey ? { name: "valkey", version: valkey, isCluster } : { name: "redis", version: info.get("redis_version") ?? "0", isCluster };
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

  private constructor(nodes: Node[], slots: Node[]) {
    this.nodes = nodes;
    this.#slots = slots;
    this.isCluster = slots.length > 0;
  }

  /** With `replicas`, a cluster's keys are read from one replica of each node that has one. The run closes what is open if this throws. */
  static async open(given: ServerOptions, replicas = false): Promise<Servers> {
    const places = await placesOf(given, replicas), nodes = await Promise.all(places.map(openNode)), slots: Node[] = [];
    for (const [i, place] of places.entries()) {
      for (const [from, to] of place.slots) for (let slot = from; slot <= to; slot++) slots[slot] = nodes[i]!;
    }
    return new Servers(nodes, slots);
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

/** Where a server is. */
export interface Place {
  options: ServerOptions;
  /** The ranges of slots that it has; none unless it is a node of a cluster. */
  slots: [from: number, to: number][];
  isReplica: boolean;
}

/** The server that the options name, or, if that belongs to a cluster, the nodes that share its keys. */
export async function placesOf(given: ServerOptions, replicas = false): Promise<Place[]> {
  const options = withUrl(given), connection = await Connection.open(options);
  const info = await information(connection, "cluster").catch(() => new Map<string, string>());
  if (info.get("cluster_enabled") !== "1") {
    connection.close();
    return [{ options, slots: [], isReplica: false }];
  }
  if (options.db > 0) throw new Failure("in a cluster, only database 0 is supported", Exit.USAGE);
  const places = new Map<string, Place>();
  for (const [from, to, ...instances] of await connection.run("CLUSTER", "SLOTS") as Answer[][]) {
    const [primary, replica] = instances as Answer[][], isReplica = replicas && replica !== undefined;
    const chosen = isReplica ? replica : primary!;
    const there: ServerOptions = { ...options, host: String(chosen[0] ?? "") || options.host, port: Number(chosen[1]) };
    delete there.socket;
    const address = addressOf(there), place = places.get(address) ?? { options: there, slots: [], isReplica };
    place.slots.push([Number(from), Number(to)]);
    places.set(address, place);
  }
  if (places.size === 0) throw new Failure(`${connection.address}: the cluster has no slots`, Exit.CONNECTION);
  connection.close();
  return [...places.values()];
}

async function openNode({ options, isReplica }: Place): Promise<Node> {
  const connection = await Connection.open(options);
  if (isReplica) await connection.run("READONLY");
  const server = await information(connection, "server", "memory").catch((error: unknown) => {
    if (error instanceof ErrorAnswer) return new Map<string, string>();
    throw error;
  });
  return { options, connection, version: versionOf(server), allocator: server.get("mem_allocator") ?? "" };
}

/** Throws unless all nodes have the module, as far as this user may know: a command that is missing says the same later. */
export async function needModule(servers: Servers): Promise<void> {
  for (const { connection } of servers.nodes) {
    const info = await connection.ask("COMMAND", "INFO", "R.FROMBITMAP");
    if (isForbiddenCommand(info)) continue;
    const [found] = info instanceof ErrorAnswer ? [] : info as Answer[];
    if (!Array.isArray(found) || found.length === 0) throw new Failure(`${connection.address}: ${NO_MODULE}`, Exit.USAGE);
  }
}
