// How runs end: every command, as a process, whatever is wrong with its servers and whenever it is interrupted.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server as Listener, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Backup } from "../../cli/src/backup.ts";
import { program } from "../../cli/src/program.ts";
import { Cluster } from "../support/cluster.ts";
import { Proxy } from "../support/proxy.ts";
import { type Random, random, seed } from "../support/random.ts";
import { type Argument, bytesOf, type Connection } from "../support/resp.ts";
import { freePort, type Server } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { type Ended, toolFile } from "../support/tool.ts";
import { isSeven } from "../support/version.ts";
import { waitUntil } from "../support/waiting.ts";
import { bitmapOf } from "./keyspace.ts";

const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), backup = join(folder, "backup");
afterAll(() => rmSync(folder, { recursive: true }));

/** What arguments and options are given that commands need. A command that needs another one has to have it here. */
const given: Record<string, string> = { key: "k", pattern: "s:*", file: backup, match: "*", width: "1000" };

function argumentsOf(command: (typeof program.commands)[number]): string[] {
  const value = (name: string): string => {
    const found = given[name];
    if (found === undefined) throw new Error(`${command.name()} needs ${name}: say in \`given\` what it is`);
    return found;
  };
  return [
    command.name(),
    ...command.registeredArguments.filter(({ required }) => required).map((argument) => value(argument.name())),
    ...command.options.filter(({ mandatory }) => mandatory).flatMap((option) => [option.long!, value(option.attributeName())]),
  ];
}

/** All commands of the tool, each with the least that it needs. */
const commands = program.commands.map(argumentsOf);

interface Exited extends Ended {
  /** The signal that ended it, if it could not end by itself. */
  by: NodeJS.Signals | null;
  /** Milliseconds from its start, or from when it was interrupted. */
  took: number;
}

/** What a run may take is 5 seconds, and what a process needs to start on this machine while others run. */
let limit = 60_000;
const killed: string[] = [];

type Interrupt = (child: ChildProcess) => Promise<unknown>;

/** Runs the tool as a process. Its standard input stays open, and nothing comes from it. */
async function run(args: readonly string[], env: Record<string, string> = {}, interrupt?: Interrupt): Promise<Exited> {
  const child = spawn(process.execPath, [toolFile, ...args], { env: { ...process.env, FORCE_COLOR: "0", ...env } });
  let begun = performance.now();
  const ended = once(child, "exit") as Promise<[number, NodeJS.Signals | null]>;
  const written = Promise.all([text(child.stdout), text(child.stderr)]);
  if (interrupt) {
    await Promise.race([interrupt(child), ended]);
    begun = performance.now();
  }
  const patience = setTimeout(() => {
    killed.push(args.join(" "));
    child.kill("SIGKILL");
  }, limit);
  const [status, by] = await ended, took = performance.now() - begun;
  clearTimeout(patience);
  child.stdin.destroy();
  const [out, error] = await written;
  return { status, by, out, error, took };
}

/** Runs each command, all at the same time. */
const each = <T>(work: (args: string[], i: number) => Promise<T>): Promise<T[]> => Promise.all(commands.map((args, i) => work(args, i)));

/** The same, as processes, which must end with that status and one line. */
async function expectEach(on: string[], status: number, line: RegExp, env: Record<string, string> = {}): Promise<void> {
  const ended = await each(async (args) => ({ name: args[0], ...await run([...args, ...on], env) }));
  for (const { name, error, ...how } of ended) {
    expect({ name, ...how, error, lines: error.split("\n").length - 1 }).toMatchObject({ name, status, by: null, out: "", lines: 1, error: expect.stringMatching(line) });
  }
}

/** Keys that every command has something to do with. */
async function fill(connection: Connection, r: Random, shards = 300): Promise<void> {
  const members = Array.from({ length: 20_000 }, () => r.below(1_000_000));
  const sparse = (i: number): Buffer => bitmapOf([i % 900, 999]);
  await connection.pipeline([
    ["R.SETINTARRAY", "k", ...members], ...Array.from({ length: shards }, (_, i): Argument[] => ["SET", `s:${2000 + i}`, sparse(i)]),
    ...Array.from({ length: 300 }, (_, i): Argument[] => ["SET", `old:${i}`, bitmapOf([i, 70_000 + r.below(100_000)])]),
  ]);
}

const server = useServer({ listens: true });
beforeAll(async () => {
  await server.run("SET", "old:0", "value");
  const value = bytesOf(await server.run("DUMP", "old:0")), file = await Backup.append(backup);
  await file.add(...Array.from({ length: 300 }, (_, i) => ({ name: Buffer.from(`old:${i}`), expires: -1, value })));
  await file.close();
  const starts = await each(() => run(["--version"]));
  limit = 5000 + 3 * Math.max(...starts.map(({ took }) => took));
});

describe("every command ends within 5 seconds, with its exit code and one line,", () => {
  it("where there is no server", () => expectEach(["-p", "1"], 3, /^redis-roar: 127\.0\.0\.1:1: connect ECONNREFUSED\n$/));

  it("where a server accepts connections and does not answer", async () => {
    const silent = await listen();
    await expectEach(["-p", String(portOf(silent))], 3, /^redis-roar: 127\.0\.0\.1:\d+: no answer within 3 seconds\n$/);
    await expectEach(["-p", String(portOf(silent))], 3, /: no answer within 3 seconds\n$/, { REDISCLI_AUTH: "secret" });
    silent.close();
  });

  it("where the password is missing or wrong, or the user may do nothing", async () => {
    await server.connection.pipeline([["ACL", "SETUSER", "default", "resetpass", ">secret"], ["ACL", "SETUSER", "nobody", "on", ">secret", "allkeys", "-@all"]]);
    const on = ["-s", server.socket];
    try {
      await expectEach(on, 4, /^redis-roar: .*: NOAUTH .*REDISCLI_AUTH.*\n$/);
      await expectEach(on, 4, /^redis-roar: .*: WRONGPASS .*\n$/, { REDISCLI_AUTH: "wrong" });
      await expectEach([...on, "--user", "nobody"], 4, /^redis-roar: .*NOPERM .* '[A-Za-z0-9|.]+' .*\n$/, { REDISCLI_AUTH: "secret" });
    } finally {
      await server.connection.pipeline([["ACL", "SETUSER", "default", "resetpass", "nopass"], ["ACL", "DELUSER", "nobody"]]);
    }
  });

  it("where a cluster has no slots, or announces an address that cannot be reached or does not answer", async () => {
    const cluster = await Cluster.start(1), { server: node } = cluster.primaries[0]!, on = ["-p", String(node.port)], silent = await listen();
    await node.run("CONFIG", "SET", "cluster-announce-port", portOf(silent));
    await expectEach(on, 3, /^redis-roar: 127\.0\.0\.1:\d+: no answer within 3 seconds\n$/);
    await node.run("CONFIG", "SET", "cluster-announce-port", 1);
    await expectEach(on, 3, /^redis-roar: 127\.0\.0\.1:1: connect ECONNREFUSED\n$/);
    await node.connection.pipeline([["CONFIG", "SET", "cluster-announce-port", 0], ["CONFIG", "SET", "cluster-announce-ip", "192.0.2.1"]]);
    await expectEach(on, 3, /^redis-roar: 192\.0\.2\.1:\d+: (connect \w+|Connection timeout|no answer within 3 seconds)\n$/);
    if (isSeven) {
      await node.connection.pipeline([["CONFIG", "SET", "cluster-announce-hostname", "node.invalid"], ["CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname"]]);
      await expectEach(on, 3, /^redis-roar: node\.invalid:\d+: getaddrinfo \w+\n$/);
    }
    await node.run("CLUSTER", "FLUSHSLOTS");
    await expectEach(on, 3, /^redis-roar: .*: the cluster has no slots\n$/);
    silent.close();
    await cluster.stop();
  });

  it("where a node of a cluster does not know the user, or is down", async () => {
    const cluster = await Cluster.start(3), on = ["-p", String(cluster.ports[0])], [, , last] = cluster.primaries;
    for (const { connection } of cluster.primaries.slice(0, 2)) await connection.run("ACL", "SETUSER", "half", "on", ">secret", "allkeys", "+@all");
    await expectEach([...on, "--user", "half"], 4, new RegExp(`^redis-roar: 127\\.0\\.0\\.1:${last!.server.port}: WRONGPASS .*\\n$`), { REDISCLI_AUTH: "secret" });
    await last!.server.kill();
    await expectEach(on, 3, new RegExp(`^redis-roar: 127\\.0\\.0\\.1:${last!.server.port}: connect ECONNREFUSED\\n$`));
    await expectMetrics(on, last!.server);
    await cluster.stop();
  });

  it("after SIGINT and SIGTERM, while the server goes on and after it has fallen silent at any byte", async () => {
    const r = random(seed), moments = [0, r.below(10), r.below(8000), 4000 + r.below(30_000)];
    const plans = commands.map(() => moments.map((bytes) => ({ bytes, wait: r.below(700), signals: r.shuffled(["SIGINT", "SIGTERM"]) as [NodeJS.Signals, NodeJS.Signals] })));
    await each(async (args, i) => {
      const connection = await server.connect(), name = args[0]!, what = `${name}, SEED=${seed}`;
      await connection.run("SELECT", i);
      const prepare = async (): Promise<void> => {
        await connection.run("FLUSHDB");
        await fill(connection, random(seed));
      };
      for (const { bytes, wait, signals: [first, second] } of plans[i]!) {
        await prepare();
        const going = await run([...args, "-s", server.socket, "-n", String(i)], {}, async (child) => {
          await sleep(wait);
          child.kill(first);
        });
        expectInterrupted(going, first, what);
        await prepare();
        const proxy = await Proxy.to(server.port), silent = proxy.silentAfter(bytes);
        let isSilent = false;
        const stuck = await run([...args, "-p", String(proxy.port), "-n", String(i)], {}, async (child) => {
          await waitUntil(() => Promise.resolve(proxy.isUsed || child.exitCode !== null));
          // A command that waits for something else does not get that far.
          await Promise.race([silent.then(() => { isSilent = true; }), sleep(1000)]);
          child.kill(second);
        });
        proxy.close();
        expectInterrupted(stuck, second, `${what}, silent after ${bytes} bytes`);
        if (isSilent && name !== "watch") expect([130, 3], `${what}, silent after ${bytes} bytes`).toContain(stuck.status);
      }
    });
    expect(killed).toEqual([]);
  });
});

/**
 * A run says that it was interrupted, or has done all. Before it begins and after it has ended, a signal ends the process by itself; and a
 * busy machine may take longer to send the signal than the tool waits for a server to let it in.
 */
function expectInterrupted({ status, by, error }: Exited, signal: NodeJS.Signals, what: string): void {
  expect([[0, null], [130, null], [3, null], [null, signal]], what).toContainEqual([status, by]);
  expect(error, what).toMatch(status === 130 ? /^redis-roar: interrupted.*\n$/ : status === 3 ? /: no answer within 3 seconds\n$/ : /^$/);
}

const portOf = (listener: Listener): number => (listener.address() as AddressInfo).port;

/** A server that accepts connections and says nothing. */
async function listen(): Promise<Listener> {
  const sockets: Socket[] = [], listener = createServer((socket) => { sockets.push(socket.on("error", () => {})); });
  listener.on("close", () => sockets.forEach((socket) => socket.destroy()));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return listener;
}

/** The exporter serves what the other nodes say, and that this one is down. */
async function expectMetrics(on: string[], down: Server): Promise<void> {
  const port = await freePort(), child = spawn(process.execPath, [toolFile, "watch", "--metrics", `:${port}`, ...on], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const up = (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).split("\n").filter((line) => line.startsWith("redis_roar_up{")).sort();
  expect(up.map((line) => line.endsWith(" 1")).sort()).toEqual([false, true, true]);
  expect(up.find((line) => line.endsWith(" 0"))).toContain(`:${down.port}"`);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
}
