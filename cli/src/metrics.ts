// What an operator wants to know of bitmaps: of each node, what INFO says about the module and its commands.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Counter, Gauge, Registry } from "prom-client";
import { Exit, exitOf, Failure, lineOf } from "./failure.js";
import { addressOf, Connection, information, NO_MODULE, type ServerOptions } from "./servers.js";

interface CommandFigures {
  name: string;
  calls: number;
  /** Microseconds in the server, of all calls. */
  microseconds: number;
  failed: number;
}

export interface Reading {
  address: string;
  /** The fields of INFO redis-roar that are numbers, without `redis-roar_`. */
  fields: Map<string, number>;
  commands: CommandFigures[];
  /** used_memory. */
  usedMemory: number;
  /** maxmemory: 0 is no limit. */
  maxMemory: number;
}

/** Fields that only grow. */
const COUNTERS = /(refused|damaged|defragmented|traps|overdue|done|kept|shared|copied|failed|total)$/;

/** Asks a node. Throws if it does not have the module. */
export async function readNode(connection: Connection): Promise<Reading> {
  const [roar, stats, memory] = await Promise.all([
    information(connection, "redis-roar"), information(connection, "commandstats"), information(connection, "memory"),
  ]);
  const fields = new Map<string, number>(), commands: CommandFigures[] = [];
  for (const [name, text] of roar) {
    const value = Number(text), short = name.replace(/^redis-roar_/, "");
    if (text !== "" && Number.isFinite(value) && short !== "version") fields.set(short, value);
  }
  if (fields.size === 0) throw new Failure(`${connection.address}: ${NO_MODULE}`, Exit.USAGE);
  for (const [name, text] of stats) {
    const command = /^cmdstat_(R(?:64|I|N)?\..*)$/i.exec(name)?.[1];
    if (!command) continue;
    const figure = (of: string): number => Number(new RegExp(`(?:^|,)${of}=(\\d+)`).exec(text)?.[1] ?? 0);
    const failed = figure("rejected_calls") + figure("failed_calls");
    commands.push({ name: command.toUpperCase(), calls: figure("calls"), microseconds: figure("usec"), failed });
  }
  const [usedMemory, maxMemory] = ["used_memory", "maxmemory"].map((name) => Number(memory.get(name) ?? 0)) as [number, number];
  return { address: connection.address, fields, commands, usedMemory, maxMemory };
}

/** A node over a connection that is renewed when it has broken. */
class Watched {
  readonly #options: ServerOptions;
  #connection: Connection | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get address(): string { return addressOf(this.#options); }

  async read(): Promise<Reading> {
    const held = this.#connection;
    const reading = held && await held.within(readNode(held)).catch(() => undefined);
    if (reading) return reading;
    held?.close();
    const renewed = this.#connection = await Connection.open(this.#options);
    return renewed.within(readNode(renewed));
  }
}

/** A node, and what it said, if it did. */
interface Answered {
  address: string;
  reading: Reading | undefined;
}

/** The readings in the format of Prometheus. A node that does not answer is down. */
async function exposition(readings: Answered[]): Promise<string> {
  const registry = new Registry(), registers = [registry], labelNames = ["node"] as const, ofCommand = ["node", "command"] as const;
  const up = new Gauge({ name: "redis_roar_up", help: "Whether the node answers", labelNames, registers });
  const memory = new Gauge({ name: "redis_roar_server_memory_bytes", help: "used_memory of the server", labelNames, registers });
  const limit = new Gauge({ name: "redis_roar_server_memory_limit_bytes", help: "maxmemory of the server, or 0", labelNames, registers });
  const calls = new Counter({ name: "redis_roar_command_calls_total", help: "Calls of a command", labelNames: ofCommand, registers });
  const seconds = new Counter({ name: "redis_roar_command_seconds_total", help: "Time of a command in the server", labelNames: ofCommand, registers });
  const failed = new Counter({ name: "redis_roar_command_failures_total", help: "Calls of a command that failed", labelNames: ofCommand, registers });
  const fields = new Map<string, Gauge<"node"> | Counter<"node">>();
  for (const { address, reading } of readings) {
    up.set({ node: address }, reading ? 1 : 0);
    if (!reading) continue;
    memory.set({ node: address }, reading.usedMemory);
    limit.set({ node: address }, reading.maxMemory);
    for (const [field, value] of reading.fields) {
      const isCounter = COUNTERS.test(field), name = `redis_roar_${field}${isCounter && !field.endsWith("total") ? "_total" : ""}`;
      let metric = fields.get(name);
      if (!metric) {
        const options = { name, help: `redis-roar_${field} of INFO`, labelNames, registers };
        fields.set(name, metric = isCounter ? new Counter(options) : new Gauge(options));
      }
      metric.inc({ node: address }, value);
    }
    for (const command of reading.commands) {
      const labels = { node: address, command: command.name };
      calls.inc(labels, command.calls);
      seconds.inc(labels, command.microseconds / 1e6);
      failed.inc(labels, command.failed);
    }
  }
  return registry.metrics();
}

/** Serves GET /metrics. Each request asks the nodes anew. A node may be down, also now; but not because of what the user may do, say. */
export async function serveMetrics(port: number, host: string, places: ServerOptions[]): Promise<Server> {
  const nodes = places.map((place) => new Watched(place));
  for (const first of await Promise.allSettled(nodes.map((node) => node.read()))) {
    if (first.status === "rejected" && exitOf(first.reason) !== Exit.CONNECTION) throw first.reason;
  }
  const read = (): Promise<Answered[]> =>
    Promise.all(nodes.map(async (node) => ({ address: node.address, reading: await node.read().catch(() => undefined) })));
  const server = createServer((request, response) => {
    if (request.method !== "GET" || new URL(request.url ?? "/", "http://localhost").pathname !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("see /metrics\n");
      return;
    }
    read().then(exposition).then(
      (text) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text),
      (error: unknown) => response.writeHead(500, { "content-type": "text/plain" }).end(`${lineOf(error)}\n`));
  });
  await once(server.listen(port, host), "listening").catch((error: unknown) => { throw new Failure(lineOf(error), Exit.USAGE); });
  return server;
}
