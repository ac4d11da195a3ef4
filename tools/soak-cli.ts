// soak-cli [server ...]: the command-line tool on many keys, on several servers and on a cluster of three. Prints a few lines for each.
//
//   advise    on a server without the module: time, what another client waits meanwhile, and its figures beside MEMORY USAGE after all keys
//             of a group have been converted. They are equal to the byte, and within 2 % if a sample was read.
//   convert   killed again and again, each time after a random number of keys, and started again, while clients write to the keys. Then all
//             members are there and no others, and what is no bitmap has the bytes that it had.
//
//   join      the same with bitmaps that are split by hand, names:0, names:1 ... of 10,000 bits, into one: writers set and clear bits.
//
//   load      on the cluster: a file of ids into a sharded bitmap, killed in the middle and resumed. Then it has all ids, and the tool took
//             little memory.
//
//   servers      those of tools/fetch-servers, "installed", and "cluster", three masters of the installed one; by default all
//   PARTS="..."  only these of advise, convert, join and load
//   KEYS=200000  how many, of twelve patterns; and how many to join
//   KILLS=20     how often convert and join are killed on each
//   IDS=10000000 how many to load
//   SAMPLE=2000  values of each group that a sample has
//   SEED=n       the seed of the keys

import { createHash } from "node:crypto";
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Advice } from "../cli/src/advising/rows.ts";
import { type Core, Format } from "../cli/src/core/core.ts";
import { type Answer, type Connection, information, Servers, type Word } from "../cli/src/servers.ts";
import { bitmapOf, kinds } from "../test/cli/keyspace.ts";
import { Cluster } from "../test/support/cluster.ts";
import { random, type Random, seed } from "../test/support/random.ts";
import { builtModule, Server } from "../test/support/server.ts";
import { loadCore, tool, toolFile } from "../test/support/tool.ts";
import { serverName } from "../test/support/version.ts";

const KEYS = Number(process.env.KEYS ?? 200_000), KILLS = Number(process.env.KILLS ?? 20), SAMPLE = Number(process.env.SAMPLE ?? 2000);
const IDS = Number(process.env.IDS ?? 10_000_000), PARTS = process.env.PARTS?.split(" ");
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

/** Runs the tool KILLS times, and kills it when `progress` has grown by a random number up to `step`. Returns how often it was at work. */
async function killed(args: string[], r: Random, step: number, progress: () => Promise<number>): Promise<number> {
  let count = 0;
  for (let round = 0; round < KILLS; round++) {
    const child = spawn(process.execPath, [toolFile, ...args], { stdio: "ignore" }), exit = once(child, "exit");
    const most = await progress() + 1 + r.below(step);
    while (child.exitCode === null && await progress() < most) await sleep(5);
    if (child.kill("SIGKILL")) count++;
    await exit;
  }
  return count;
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
  const args = ["convert", "--match", "*", ...where.split(" ")], begun = performance.now();
  const kills = await killed(args, r, keys.length / KILLS, () => bitmaps(servers));
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
    // DBSIZE would count keys that have expired and are not removed yet.
    const names = await connection.run("KEYS", "*") as Buffer[], temporary = names.filter((key) => String(key).startsWith("redis-roar:"));
    total += names.length;
    left += temporary.length;
    for (const key of temporary) if (Number(await connection.run("PTTL", key)) === -1) forever++;
  }
  check(wrong === 0, `${name}: ${wrong} keys have other values than they should`);
  check(forever === 0, `${name}: ${forever} temporary keys never expire`);
  check(total - left === seen, `${name}: ${total - left} keys instead of ${seen}`);
  check(kills > KILLS / 2, `${name}: only ${kills} of ${KILLS} were killed before they ended`);
  console.log(`${name}: convert of ${seen} keys killed ${kills} times in ${seconds.toFixed(0)} s, ${writes} writes meanwhile; ${roaring} of ${keys.length} became roaring bitmaps, ${roaring - reports.reduce((sum, one) => sum + Number(one), 0)} of them before the last kill; ${wrong} keys wrong, ${left} temporary keys left to expire`);
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

// --- join -------------------------------------------------------------------------------------------------------------------------------

const WIDTH = 10_000;
const shardName = (shard: number): Buffer => Buffer.from(`names:${shard}`);

/** Sets or clears a bit of a shard, or of the bitmap that it has become part of; both are in one slot. */
const WRITE_HERE = `if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('SETBIT', KEYS[1], ARGV[1], ARGV[3]) end
return redis.call('R.SETBIT', KEYS[2], ARGV[2], ARGV[3])`;
/** The same for a shard of another slot, which is written no more when it is gone: nobody could know for sure where it is. */
const WRITE_THERE = "if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end return redis.call('SETBIT', KEYS[1], ARGV[1], ARGV[2])";

async function soakJoin(where: string, name: string, open: () => Promise<Servers>): Promise<void> {
  const servers = await open(), core = await loadCore(), r = random(seed + 2);
  const model = Array.from({ length: KEYS }, () => new Set(Array.from({ length: 1 + r.below(8) }, () => r.below(WIDTH))));
  for (const part of parts(model.entries())) {
    await Promise.all(part.map(([shard, offsets]) => at(servers, shardName(shard)).run("SET", shardName(shard), bitmapOf(offsets))));
  }
  const keysLeft = async (): Promise<number> => {
    const each = await Promise.all(servers.nodes.map(({ connection }) => connection.run("DBSIZE")));
    return each.reduce<number>((sum, count) => sum + Number(count), 0);
  };
  let ended = false, writes = 0;
  const writing = Promise.all([0, 1].map(async () => {
    while (!ended) {
      const shard = r.below(KEYS), offset = r.below(WIDTH), bit = r.below(2), key = shardName(shard), connection = at(servers, key);
      const done = servers.isCluster
        ? await connection.run("EVAL", WRITE_THERE, 1, key, offset, bit)
        : await connection.run("EVAL", WRITE_HERE, 2, key, "names", offset, shard * WIDTH + offset, bit);
      if (Number(done) >= 0) {
        if (bit) model[shard]!.add(offset);
        else model[shard]!.delete(offset);
        writes++;
      }
      await sleep(1);
    }
  }));
  // What looks like text is a bitmap here: shards are short.
  const args = ["join", "names:*", "names", "--width", String(WIDTH), "--assume-bitmaps", ...where.split(" ")], begun = performance.now();
  const kills = await killed(args, r, KEYS / KILLS, async () => -await keysLeft());
  const left = await keysLeft(), { status, out, error } = await tool([...args, "--json"]);
  check(status === 0, `${name}: join ended with ${status}: ${error}`);
  ended = true;
  await writing;
  const seconds = (performance.now() - begun) / 1000;
  const expected = Uint32Array.from(model.flatMap((offsets, shard) => Array.from(offsets, (offset) => shard * WIDTH + offset)));
  core.collect(expected);
  const right = packed(core);
  core.read(Format.PORTABLE, await at(servers, Buffer.from("names")).run("R.EXPORT", "names") as Buffer);
  const members = core.cardinality();
  check(Buffer.compare(packed(core), right) === 0, `${name}: the bitmap has ${members} members, not those of its ${expected.length}`);
  const others = (await Promise.all(servers.nodes.map(({ connection }) => connection.run("KEYS", "*") as Promise<Buffer[]>))).flat().map(String)
    .filter((key) => key !== "names");
  const stray = others.filter((key) => !key.startsWith("redis-roar:") || key.includes(":join:"));
  check(stray.length === 0, `${name}: ${stray.length} keys are left, such as ${stray[0]}`);
  check(kills > KILLS / 2, `${name}: only ${kills} of ${KILLS} were killed before they ended`);
  const last = (JSON.parse(out) as { joined: number }).joined;
  console.log(`${name}: join of ${KEYS} bitmaps killed ${kills} times in ${seconds.toFixed(0)} s, ${writes} writes meanwhile; ${KEYS - last} joined before the last kill, when ${left} keys were left; ${members} members of ${expected.length}, ${stray.length} keys left over, ${others.length - stray.length} temporary keys left to expire`);
  servers.close();
}

// --- load -------------------------------------------------------------------------------------------------------------------------------

const UNIVERSE = 2 ** 28;
/** Odd, so that the ids are all different, and in no order. */
const FACTOR = 0x9e37_79b1;

async function writeIds(file: string): Promise<void> {
  const out = createWriteStream(file);
  for (let i = 0; i < IDS;) {
    const lines: number[] = [];
    for (const end = Math.min(IDS, i + 100_000); i < end; i++) lines.push((Math.imul(i, FACTOR) >>> 0) % UNIVERSE);
    if (!out.write(`${lines.join("\n")}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "close");
}

/** The most memory that a process has had, in bytes. */
function peakOf({ pid }: ChildProcess): number {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

async function soakLoad(where: string, name: string, open: () => Promise<Servers>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "redis-roar-load-")), file = join(folder, "ids"), resume = join(folder, "resume");
  const servers = await open(), SHARDS = 12, most = 300_000_000;
  try {
    await writeIds(file);
    const args = ["load", "ids", file, "--resume", resume, "--shards", String(SHARDS), "--by", "hash", ...where.split(" ")];
    const loaded = (): number => (existsSync(resume) ? (JSON.parse(readFileSync(resume, "utf8")) as { loaded: number }).loaded : 0);
    let peak = 0, seconds = 0;
    const run = async (until: number): Promise<number | null> => {
      const child = spawn(process.execPath, [toolFile, ...args], { stdio: "ignore" }), exit = once(child, "exit"), begun = performance.now();
      while (child.exitCode === null && child.signalCode === null) {
        await Promise.race([exit, sleep(50)]);
        peak = Math.max(peak, peakOf(child));
        if (loaded() >= until) child.kill("SIGKILL");
      }
      seconds += (performance.now() - begun) / 1000;
      return child.exitCode;
    };
    await run(IDS / 2);
    const before = loaded();
    check(before >= IDS / 2 && before < IDS, `${name}: ${before} of ${IDS} ids were loaded when load was killed`);
    const status = await run(Infinity);
    check(status === 0, `${name}: load ended with ${status}`);
    const counts = await Promise.all(Array.from({ length: SHARDS }, (_, shard) => at(servers, Buffer.from(`ids:{${shard}}`)).run("R.BITCOUNT", `ids:{${shard}}`)));
    const members = counts.reduce<number>((sum, count) => sum + Number(count), 0);
    check(members === IDS, `${name}: ${members} members of ${IDS} ids`);
    check(peak < most, `${name}: load took ${peak} bytes`);
    console.log(`${name}: load of ${IDS} ids killed after ${before} and resumed: ${seconds.toFixed(0)} s, ${Math.round(IDS / seconds)} ids a second, ${(peak / 1e6).toFixed(0)} MB at most; ${members} members in ${Math.min(...counts.map(Number))} to ${Math.max(...counts.map(Number))} a shard`);
  } finally {
    servers.close();
    rmSync(folder, { recursive: true });
  }
}

// --- all servers ------------------------------------------------------------------------------------------------------------------------

const wants = (part: string): boolean => PARTS === undefined || PARTS.includes(part);

async function soakServer(): Promise<void> {
  if (wants("advise")) await soakAdvise();
  for (const [part, soak] of [["convert", soakConvert], ["join", soakJoin]] as const) {
    if (!wants(part)) continue;
    const server = await Server.start();
    try {
      await soak(`-s ${server.socket}`, serverName, () => Servers.open({ socket: server.socket, host: "", port: 0, db: 0 }));
    } finally {
      await server.stop();
    }
  }
}

async function soakCluster(): Promise<void> {
  for (const [part, soak] of [["convert", soakConvert], ["join", soakJoin], ["load", soakLoad]] as const) {
    if (!wants(part)) continue;
    const cluster = await Cluster.start(3);
    try {
      await soak(`-p ${cluster.ports[0]}`, `cluster of three, ${serverName}`, () => Servers.open({ host: "127.0.0.1", port: cluster.ports[0]!, db: 0 }));
    } finally {
      await cluster.stop();
    }
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
