// A redis-server for tests, with the module loaded, a temporary directory and a unix socket.
//
//   ROAR_BUILD    the directory of what make has built, below the project (default build)
//   ROAR_MODULE   the .so to load (default redis-roar.so in that directory)
//   ROAR_CPU      the CPU level to force (v2, v3, v4; default: the module chooses)
//   ROAR_SERVER   the server to start (default: the redis-server in PATH)
//   ROAR_EMULATOR the command that runs programs built for another processor, such as "qemu-aarch64-static -L /path"
//   ROAR_LEAKS    shut servers down in order, so that LeakSanitizer runs; a leak fails the test file

import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Argument, Connection, type Reply, ReplyError } from "./resp.ts";
import { emulator, isSeven, serverBinary } from "./version.ts";

export const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
/** The path of a file that make has built for the processor under test. */
export const built = (name: string): string => join(projectRoot, process.env.ROAR_BUILD ?? "build", name);
export const builtModule = process.env.ROAR_MODULE ?? built("redis-roar.so");
export const cpuLevel = process.env.ROAR_CPU;
const levelArguments = cpuLevel ? ["CPU", cpuLevel] : [];
/** ROAR_SEGMENT: with few bytes, bitmaps of few containers have segments. */
const segmentArguments = process.env.ROAR_SEGMENT ? ["SEGMENT-BYTES", process.env.ROAR_SEGMENT] : [];
/** Module arguments that enable R.DEBUG, with the CPU level of ROAR_CPU. */
export const withDebug: readonly string[] = [...levelArguments, "DEBUG"];

export interface ServerOptions {
  /** The .so to load, null for a plain server. */
  readonly module?: string | null;
  readonly moduleArguments?: readonly string[];
  /** Lines of redis.conf beyond the defaults below. */
  readonly config?: readonly string[];
  /** Also listen on a loopback port, because replicas connect over TCP. */
  readonly listens?: boolean;
  /** Limit of the address space, in bytes. */
  readonly addressSpace?: number;
}

/** How long a server may take to come up, or to write its crash report. */
const PATIENCE_MS = 30_000;
const LOG_TAIL_LINES = 60;
const CRASH_REPORT_LINES = 120;
/** The exit code of a server in which LeakSanitizer found a leak. */
const LEAKED = 23;

export class Server {
  port = 0;
  /** How often it has been started. */
  starts = 0;
  #directory: string | undefined;
  #options: ServerOptions;
  #child: ChildProcess | undefined;
  #exit: Promise<void> = Promise.resolve();
  #stopping = false;
  #death: Error | undefined;
  #speaking: Record<2 | 3, Connection> | undefined;
  #connections: Connection[] = [];

  constructor(options: ServerOptions = {}) {
    this.#options = options;
  }

  /** Created on first use, because a test file may declare a server and then run no test. */
  get directory(): string {
    if (this.#directory === undefined) {
      this.#directory = mkdtempSync(join(tmpdir(), "redis-roar-"));
      removeAtExit.add(this);
    }
    return this.#directory;
  }

  get socket(): string {
    return join(this.directory, "socket");
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new Server(options);
    await server.start();
    return server;
  }

  /** Starts the server, or restarts it after it has ended, in the same directory. */
  async start(): Promise<void> {
    this.#closeConnections();
    this.starts++;
    this.#death = undefined;
    this.#stopping = false;
    this.port = this.#options.listens ? await freePort() : 0;
    // A child of a killed server, which was writing a file, may hold the old socket open for a moment and accept connections to it.
    rmSync(this.socket, { force: true });
    writeFileSync(join(this.directory, "redis.conf"), this.#config().join("\n") + "\n");
    // The kernel kills the server when this process ends for any reason.
    const bound = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL"] : [];
    const limited = this.#options.addressSpace ? ["prlimit", `--as=${this.#options.addressSpace}`] : [];
    const [program, ...before] = [...bound, ...limited, ...emulator, serverBinary];
    const child = spawn(program, [...before, join(this.directory, "redis.conf")], {
      cwd: this.directory,
      stdio: ["ignore", "ignore", "inherit"],
    });
    this.#child = child;
    this.#exit = new Promise((resolve) => {
      child.once("error", (error) => {
        this.#death = error;
        resolve();
      });
      child.once("exit", (code, signal) => {
        const reason = signal ?? `exit code ${code}`;
        if (!this.#stopping || code === LEAKED) this.#death = new Error(`redis-server died (${reason})\n${this.logTail()}`);
        resolve();
      });
    });
    await this.#ready();
  }

  /** The reply of one command on the server's own RESP2 connection. An error reply is thrown. */
  run(...command: Argument[]): Promise<Reply> {
    return this.connection.run(...command);
  }

  /** The server's own connection in RESP2. */
  get connection(): Connection {
    return this.speaking(2);
  }

  /** The server's own connection in that protocol. */
  speaking(protocol: 2 | 3): Connection {
    if (!this.#speaking) throw new Error("the server has not been started");
    return this.#speaking[protocol];
  }

  async connect(protocol: 2 | 3 = 2): Promise<Connection> {
    const exit = this.#exit; // of the current process; the server may have been restarted when it is needed
    const connection = await Connection.open(this.socket, protocol, () => this.#whyClosed(exit));
    this.#connections.push(connection);
    return connection;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error("the server has not been started");
    return this.#child.pid;
  }

  get dead(): boolean {
    return this.#death !== undefined;
  }

  /** Throws an error with the log if the server has ended unexpectedly. */
  assertAlive(): void {
    if (this.#death) throw this.#death;
  }

  /** A field of INFO, as text. */
  async info(field: string): Promise<string> {
    const text = (await this.run("INFO", "everything")) as string;
    const found = new RegExp(`^${field}:(.*?)\r?$`, "m").exec(text);
    if (!found) throw new Error(`INFO has no ${field}`);
    return found[1]!;
  }

  /** A field of INFO, as a number. */
  async number(field: string): Promise<number> {
    return Number(await this.info(field));
  }

  /** Bytes of physical memory, on Linux: what the process has now, VmRSS, or the most that it has had, VmHWM. */
  async resident(field: "VmRSS" | "VmHWM"): Promise<number> {
    const status = await readFile(`/proc/${this.pid}/status`, "utf8");
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)![1]) * 1024;
  }

  /** MEMORY USAGE of a key. */
  async usage(key: string): Promise<number> {
    return (await this.run("MEMORY", "USAGE", key)) as number;
  }

  /** Shuts the server down in order (it flushes the AOF and saves nothing else) and restarts it in the same directory. */
  async restart(options: ServerOptions = this.#options): Promise<void> {
    await this.#shutDown();
    await this.#startAgain(options);
  }

  async #shutDown(): Promise<void> {
    this.#stopping = true;
    while (await this.#refusesToEnd()) await sleep(10);
    await this.#exit;
  }

  /** Asks the server to end. It refuses while it writes its first AOF, for example after a full synchronization. */
  async #refusesToEnd(): Promise<boolean> {
    try {
      await this.run("SHUTDOWN", "NOSAVE");
    } catch (error) {
      if (error instanceof ReplyError && !error.message.startsWith("ERR Errors trying to SHUTDOWN")) throw error;
      return error instanceof ReplyError;
    }
    return false;
  }

  /** Kills the server and restarts it in the same directory. */
  async killAndRestart(options: ServerOptions = this.#options): Promise<void> {
    await this.kill();
    await this.#startAgain(options);
  }

  async #startAgain(options: ServerOptions): Promise<void> {
    this.assertAlive();
    this.#options = options;
    await this.start();
  }

  async kill(): Promise<void> {
    this.#stopping = true;
    this.#child?.kill("SIGKILL");
    await this.#exit;
  }

  /** Ends the server and removes its directory. Throws if it had died before. */
  async stop(): Promise<void> {
    if (process.env.ROAR_LEAKS && !this.dead) await this.#shutDown();
    else await this.kill();
    this.#closeConnections();
    this.remove();
    this.assertAlive();
  }

  remove(): void {
    this.#stopping = true;
    this.#child?.kill("SIGKILL");
    if (this.#directory) rmSync(this.#directory, { recursive: true, force: true });
    removeAtExit.delete(this);
  }

  log(): string {
    const path = join(this.directory, "log");
    return existsSync(path) ? readFileSync(path, "utf8") : "(no log)";
  }

  /** The end of the log, or the beginning of the crash report if there is one. */
  logTail(): string {
    const lines = this.log().trimEnd().split("\n");
    const report = lines.findIndex((line) => line.includes("BUG REPORT START"));
    return (report < 0 ? lines.slice(-LOG_TAIL_LINES) : lines.slice(report, report + CRASH_REPORT_LINES)).join("\n");
  }

  #config(): string[] {
    const { module = builtModule, moduleArguments = levelArguments, config = [] } = this.#options;
    return [
      `dir ${this.directory}`,
      `unixsocket ${this.socket}`,
      `port ${this.port}`,
      "bind 127.0.0.1",
      "logfile log",
      'save ""',
      "appendonly no",
      // Before 7.0, DEBUG and MODULE are always enabled, and the server refuses parameters that it does not know.
      ...(isSeven ? ["enable-debug-command yes", "enable-module-command yes"] : []),
      "repl-diskless-sync-delay 0",
      ...(module === null ? [] : [`loadmodule ${[module, ...moduleArguments, ...segmentArguments].join(" ")}`]),
      ...config,
    ];
  }

  async #ready(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (Date.now() < deadline) {
      this.assertAlive();
      if (this.#stopping) throw new Error(`ended while it started\n${this.logTail()}`);
      try {
        const connection = await this.connect();
        const [reply] = await connection.pipeline([["PING"]]);
        if (!(reply instanceof ReplyError)) {
          this.#speaking = { 2: connection, 3: await this.connect(3) };
          return;
        }
        connection.close(); // still loading
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      }
      await sleep(10);
    }
    throw new Error(`redis-server does not answer\n${this.logTail()}`);
  }

  async #whyClosed(exit: Promise<void>): Promise<Error> {
    await Promise.race([exit, sleep(PATIENCE_MS, undefined, { ref: false })]);
    return this.#death ?? new Error("connection closed");
  }

  #closeConnections(): void {
    for (const connection of this.#connections) connection.close();
    this.#connections = [];
    this.#speaking = undefined;
  }
}

const SETPRIV = "/usr/bin/setpriv";

const removeAtExit = new Set<Server>();
process.once("exit", () => removeAtExit.forEach((server) => server.remove()));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(128 + constants.signals[signal]));

/** Below the ports that systems give to outgoing connections (ip_local_port_range), which could take a port before its server does. */
const PORTS = { first: 12_000, count: 20_000 };

/** Vitest's workers run at the same time, and each takes the ports of its own residue. It has two workers (vitest.config.ts). */
const WORKERS = 2, worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS;

/** Ports that this process gave away: their servers may not have taken them yet. */
const given = new Set<number>();

/** A random loopback port that is free at the moment, and that no other server of the tests is about to take. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = PORTS.first + WORKERS * randomInt(PORTS.count / WORKERS) + worker;
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(false) : reject(error)));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
