// soak-cli [server ...]: the command-line tool on many keys, on several servers and on a cluster of three. Prints a few lines for each.
//
//   advise    on a server without the module: time, what another client waits meanwhile, and its figures beside MEMORY USAGE after all keys
//             of a group have been converted. They are equal to the byte, and within 2 % if a sample was read.
//   convert   killed again and again, each time after a random number of keys, and started again, while clients write to the keys. Then all
//             members are there and no others, and what is no bitmap has the bytes that it had.
//
//   servers      those of tools/fetch-servers, "installed", and "cluster", three masters of the installed one; by default all
//   KEYS=200000  how many, of twelve patterns
//   KILLS=20     how often convert is killed on each
//   SAMPLE=2000  values of each group that a sample has
//   SEED=n       the seed of the keys

import { createHash } from "node:crypto";
import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Advice } from "../cli/src/advise.ts";
import { type Core, Format } from "../cli/src/core/core.ts";
import { type Answer, type Connection, information, Servers, type Word } from "../cli/src/servers.ts";
import { kinds } from "../test/cli/keyspace.ts";
import { Cluster } from "../test/support/cluster.ts";
import { random, type Random, seed } from "../test/support/random.ts";
import { builtModule, Server } from "../test/support/server.ts";
import { loadCore, tool, toolFile } from "../test/support/tool.ts";
import { serverName } from "../test/support/version.ts";

const KEYS = Number(process.env.KEYS ?? 200_000), KILLS = Number(process.env.KILLS ?? 20), SAMPLE = Number(process.env.SAMPLE ?? 2000);
const convertible = kinds.filter(({ kind }) => kind === "bitmap" || kind === "integers");

interface Made {
  key: Buffer;
  commands: Word[][];
  isConvertible: boolean;
  pattern: string;
}

/** The keys, the same ones each time. */
function* keysOf(r: Random): Generator<Made> {
  for (let i = 0; i < KEYS / kinds.length; i++) {
    for (const kind of kinds) {
      const commands = kind.make(r, i).map((words) => words.map((word) => (typeof word === "bigint" ? String(word) : word))) as Word[][];
      yield { key: Buffer.from(String(commands[0]![1])), commands, isConvertible: convertible.includes(kind), pattern: kind.pattern };
    }
  }
}

/** Parts of a list, for commands that go to a server together. */
function* parts<T>(items: Iterable<T>, size = 300): Generator<T[]> {
  let part: T[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

const at = (servers: Servers, key: Buffer): Connection => servers.nodeOf(key).connection;

async function fill(servers: Servers): Promise<void> {
  for (const part of parts(keysOf(random(seed)))) {
    await Promise.all(part.flatMap(({ key, commands }) => commands.map((words) => at(servers, key).run(...words))));
  }
}

/** What a client that asks for little waits, in milliseconds: the 99th of 100 answers, until `work` is done. */
async function p99While<T>(connection: Connection, work: Promise<T>): Promise<{ result: T; p99: number; seconds: number }> {
  const times: number[] = [], begun = performance.now();
  let ended = false;
  const done = work.finally(() => { ended = true; });
  while (!ended) {
    const start = performance.now();
    await connection.run("PING");
    times.push(performance.now() - start);
    await sleep(1);
  }
  const sorted = Float64Array.from(times).sort();
  return { result: await done, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, seconds: (performance.now() - begun) / 1000 };
}

const failures: string[] = [];
function check(isTrue: boolean, what: string): void {
  if (isTrue) return;
  failures.push(what);
  console.error(`WRONG ${what}`);
}

// --- advise -----------------------------------------------------------------------------------------------------------------------------

async function soakAdvise(): Promise<void> {
  const server = await Server.start({ module: null });
  try {
    const servers = await Servers.open({ socket: server.socket, host: "", port: 0, db: 0 }), { connection } = servers.nodes[0]!;
    await fill(servers);
    const advise = async (...args: string[]): Promise<Advice> => JSON.parse((await tool(["advise", "--json", "-s", server.socket, ...args])).out) as Advice;
    const idle = await p99While(connection, sleep(3000)), whole = await p99While(connection, advise());
    const sample = await p99While(connection, advise("--sample", String(SAMPLE)));
    console.log(`${serverName}: advise of ${KEYS} keys ${whole.seconds.toFixed(1)} s, with --sample ${SAMPLE} ${sample.seconds.toFixed(1)} s; p99 of PING ${idle.p99.toFixed(2)} ms before, ${whole.p99.toFixed(2)} and ${sample.p99.toFixed(2)} ms meanwhile`);
    await connection.run("MODULE", "LOAD", builtModule);
    let worst = 0, exact = 0;
    for (const { pattern, kind } of convertible) {
      let bytes = 0;
      const names = Array.from(keysOf(random(seed))).filter((made) => made.pattern === pattern).map(({ key }) => key);
      for (const part of parts(names)) {
        const each = await Promise.all(part.map((key) => converted(connection, key, kind === "bitmap")));
        bytes += each.reduce((sum, one) => sum + one, 0);
      }
      const row = ({ rows }: Advice): Advice["rows"][number] | undefined => rows.find((one) => one.isConvertible && one.pattern.replace("f*", "*") === pattern);
      const all = row(whole.result)?.bytesRoaring ?? 0, estimate = row(sample.result)?.bytesRoaring ?? 0;
      const off = Math.abs(estimate / bytes - 1);
      check(all === bytes, `${serverName}, ${pattern}: advise says ${all} bytes, MEMORY USAGE ${bytes}`);
      check(off < 0.02, `${serverName}, ${pattern}: a sample says ${estimate} bytes, MEMORY USAGE ${bytes}`);
      if (all === bytes) exact++;
      worst = Math.max(worst, off);
    }
    console.log(`${serverName}: ${exact} of ${convertible.length} groups equal to MEMORY USAGE after conversion to the byte, samples off by ${(worst * 100).toFixed(2)} % at most`);
    servers.close();
  } finally {
    await server.stop();
  }
}

/** Converts a key without the tool, whether or not it saves anything; returns what it takes then. */
async function converted(connection: Connection, key: Buffer, isString: boolean): Promise<number> {
  const ttl = Number(await connection.run("PTTL", key));
  if (isString) {
    await connection.run("R.FROMBITMAP", key, key);
  } else {
    const members = (await connection.run("SMEMBERS", key) as Buffer[]).map(String);
    await connection.run("DEL", key);
    await connection.run(members.some((member) => BigInt(member) >= 2n ** 32n) ? "R64.SETINTARRAY" : "R.SETINTARRAY", key, ...members);
  }
  if (ttl > 0) await connection.run("PEXPIRE", key, ttl);
  return Number(await connection.run("MEMORY", "USAGE", key));
}

// --- convert ----------------------------------------------------------------------------------------------------------------------------

/** A client that knows a bitmap in all its forms. */
const WRITE = `local type = redis.call('TYPE', KEYS[1]).ok
if type == 'string' then return redis.call('SETBIT', KEYS[1], ARGV[1], 1) end
if type == 'set' then return redis.call('SADD', KEYS[1], ARGV[1]) end
return redis.call(type == 'reroaring' and 'R.SETBIT' or 'R64.SETBIT', KEYS[1], ARGV[1], 1)`;

/** How many roaring bitmaps there are, temporary ones included. */
async function bitmaps(servers: Servers): Promise<number> {
  const each = await Promise.all(servers.nodes.map(({ connection }) => information(connection, "redis-roar")));
  return each.reduce((sum, fields) => sum + Number(fields.get("redis-roar_bitmaps")), 0);
}

async function soakConvert(where: string, name: string, open: () => Promise<Servers>): Promise<void> {
  const servers = await open(), core = await loadCore();
  await fill(servers);
  const digest = (answer: Answer): string => createHash("sha1").update(answer as Buffer).digest("base64");
  const others = new Map<string, string>(), keys: Buffer[] = [];
  for (const part of parts(keysOf(random(seed)))) {
    await Promise.all(part.map(async ({ key, isConvertible }) => {
      if (isConvertible) keys.push(key);
      else others.set(String(key), digest(await at(servers, key).run("DUMP", key)));
    }));
  }
  const added = new Map<string, Set<number>>(), r = random(seed + 1);
  let ended = false, writes = 0;
  const writing = Promise.all([0, 1].map(async () => {
    while (!ended) {
      const key = keys[r.below(keys.length)]!, offset = r.below(60_000), id = String(key);
      await at(servers, key).run("EVAL", WRITE, 1, key, offset);
      let own = added.get(id);
      if (!own) added.set(id, own = new Set());
      own.add(offset);
      writes++;
      await sleep(1);
    }
  }));
  const args = ["convert", "--match", "*", ...where.split(" ")];
  let killed = 0;
  const begun = performance.now();
  for (let round = 0; round < KILLS; round++) {
    const child = spawn(process.execPath, [toolFile, ...args], { stdio: "ignore" }), exit = once(child, "exit");
    const most = await bitmaps(servers) + 1 + r.below(keys.length / KILLS);
    while (child.exitCode === null && await bitmaps(servers) < most) await sleep(5);
    if (child.kill("SIGKILL")) killed++;
    await exit;
  }
  const reports: string[] = [];
  for (let round = 0; round < 2; round++) {
    // What the writers change all the time may fail, so the last run is without them.
    if (round === 1) ended = true;
    if (round === 1) await writing;
    const { status, out, error } = await tool([...args, "--json"]);
    check(status === 0 || round === 0, `${name}: convert ended with ${status}: ${error}`);
    reports.push(String((JSON.parse(out) as { converted: number }).converted));
  }
  const seconds = (performance.now() - begun) / 1000;
  let roaring = 0, wrong = 0, seen = 0;
  for (const part of parts(keysOf(random(seed)))) {
    await Promise.all(part.map(async ({ key, commands: [first], isConvertible }) => {
      const connection = at(servers, key);
      seen++;
      if (!isConvertible) {
        if (digest(await connection.run("DUMP", key)) !== others.get(String(key))) wrong++;
        return;
      }
      const type = String(await connection.run("TYPE", key)), words = { string: "GET", set: "SMEMBERS", reroaring: "R.EXPORT", roaring64: "R64.EXPORT" }[type];
      const value = words === undefined ? null : await connection.run(words, key);
      if (type.includes("roaring")) roaring++;
      const [command, , ...rest] = first!;
      const expected = command === "SET" ? offsetsOf(core, rest[0] as Buffer) : rest.map((word) => BigInt(word as string | number));
      for (const offset of added.get(String(key)) ?? []) expected.push(BigInt(offset));
      core.collect(BigUint64Array.from(expected));
      const right = packed(core);
      if (value === null) wrong++;
      else {
        if (type === "string") core.read(Format.BITS, value as Buffer);
        else if (type === "set") core.collect(BigUint64Array.from((value as Buffer[]).map((member) => BigInt(String(member)))));
        else core.read(type === "reroaring" ? Format.PORTABLE : Format.PORTABLE_WIDE, value as Buffer);
        if (Buffer.compare(packed(core), right) !== 0) wrong++;
      }
    }));
  }
  let left = 0, total = 0, forever = 0;
  for (const { connection } of servers.nodes) {
    const temporary = await connection.run("KEYS", "redis-roar:*") as Buffer[];
    total += Number(await connection.run("DBSIZE"));
    left += temporary.length;
    for (const key of temporary) if (Number(await connection.run("PTTL", key)) === -1) forever++;
  }
  check(wrong === 0, `${name}: ${wrong} keys have other values than they should`);
  check(forever === 0, `${name}: ${forever} temporary keys never expire`);
  check(total - left === seen, `${name}: ${total - left} keys instead of ${seen}`);
  check(killed > KILLS / 2, `${name}: only ${killed} of ${KILLS} were killed before they ended`);
  console.log(`${name}: convert of ${seen} keys killed ${killed} times in ${seconds.toFixed(0)} s, ${writes} writes meanwhile; ${roaring} of ${keys.length} became roaring bitmaps, ${roaring - reports.reduce((sum, one) => sum + Number(one), 0)} of them before the last kill; ${wrong} keys wrong, ${left} temporary keys left to expire`);
  servers.close();
}

function offsetsOf(core: Core, bits: Buffer): bigint[] {
  const offsets: bigint[] = [];
  core.read(Format.BITS, bits);
  core.members((members) => { for (const member of members) offsets.push(member); });
  return offsets;
}

function packed(core: Core): Uint8Array {
  core.pack();
  return core.write(Format.PORTABLE_WIDE);
}

// --- all servers ------------------------------------------------------------------------------------------------------------------------

async function soakServer(): Promise<void> {
  await soakAdvise();
  const server = await Server.start();
  try {
    await soakConvert(`-s ${server.socket}`, serverName, () => Servers.open({ socket: server.socket, host: "", port: 0, db: 0 }));
  } finally {
    await server.stop();
  }
}

async function soakCluster(): Promise<void> {
  const cluster = await Cluster.start(3);
  try {
    await soakConvert(`-p ${cluster.ports[0]}`, `cluster of three, ${serverName}`, () => Servers.open({ host: "127.0.0.1", port: cluster.ports[0]!, db: 0 }));
  } finally {
    await cluster.stop();
  }
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === "--server" || mode === "--cluster") {
  await (mode === "--server" ? soakServer() : soakCluster());
  if (failures.length > 0) process.exitCode = 1;
} else {
  const wanted = new Set([mode, ...rest].filter((word) => word !== undefined)), fetched = execFileSync("bash", ["tools/fetch-servers"], { encoding: "utf8" });
  const all = [
    { name: "installed", binary: "redis-server", mode: "--server" },
    ...fetched.trim().split("\n").map((line) => ({ name: line.split("\t")[0]!, binary: line.split("\t")[2] ?? "", mode: "--server" })),
    { name: "cluster", binary: "redis-server", mode: "--cluster" },
  ];
  console.log(`SEED=${seed}`);
  for (const { name, binary, mode: how } of all) {
    if (wanted.size > 0 && !wanted.has(name)) continue;
    if (binary === "") {
      console.log(`${name}: not run, it cannot be fetched`);
      continue;
    }
    const child = fork(import.meta.filename, [how], { env: { ...process.env, ROAR_SERVER: binary, SEED: String(seed) } });
    const [code] = await once(child, "exit") as [number | null];
    if (code !== 0) {
      console.log(`${name}: failed`);
      process.exitCode = 1;
    }
  }
}
