// convert: what it changes and what it leaves, members, times of expiry, backups, the way back, and being killed while others write.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Backup, readBackup } from "../../cli/src/backup.ts";
import type { Advice } from "../../cli/src/advising/rows.ts";
import { type Conversion } from "../../cli/src/convert.ts";
import { nameBytes, shown } from "../../cli/src/names.ts";
import { type Argument, bytesOf, type Connection, type Reply, ReplyError } from "../support/resp.ts";
import { random, seed } from "../support/random.ts";
import { useCluster, useServer } from "../support/suite.ts";
import { type Ended, tool, toolFile, toolHere, toolOn } from "../support/tool.ts";
import { waitUntil } from "../support/waiting.ts";
import { bitmapOf, fill } from "./keyspace.ts";

const server = useServer();
let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "redis-roar-")); });
afterAll(() => rmSync(folder, { recursive: true }));

const convert = async (...args: string[]): Promise<Conversion> => {
  const { status, out, error } = await toolOn(server, "convert", "--json", ...args);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as Conversion;
};
const temporaries = async (connection: Connection = server.connection): Promise<number> => (await connection.run("KEYS", "redis-roar:*") as string[]).length;

describe("convert", () => {
  it("converts what is a bitmap, keeps names and times, and leaves the rest as it is", async () => {
    const sparse = bitmapOf([1, 70_000, 900_000]), name = Buffer.from([0x00, 0xff, 0x7b, 0x0a]);
    await server.connection.pipeline([
      ["SET", name, sparse], ["SET", "timed", sparse], ["PEXPIREAT", "timed", Date.now() + 1_000_000], ["SADD", "set", ...Array.from({ length: 600 }, (_, i) => i * 3)],
      ["SADD", "wide", ...Array.from({ length: 600 }, (_, i) => 2n ** 63n + BigInt(i))], ["SADD", "words", "a", 1], ["SADD", "negative", -1], ["SET", "text", "x".repeat(5000)],
      ["SET", "json", JSON.stringify(Array(900).fill(1))], ["PFADD", "hll", 1, 2, 3], ["SET", "number", 12], ["SET", "small", "\x01\xff"], ["HSET", "hash", "a", 1], ["SET", "empty", ""],
    ]);
    const time = await server.run("PEXPIRETIME", "timed"), before = await server.run("DEBUG", "DIGEST");
    const dry = await convert("--match", "*", "--dry-run");
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    const done = await convert("--match", "*");
    expect(done).toMatchObject({ converted: 4, bytesBefore: dry.bytesBefore, failed: [] });
    expect(done.bytesAfter).toBe(dry.bytesAfter);
    expect(done.skipped).toEqual(dry.skipped);
    expect(done.skipped).toEqual({
      "a set with members that are not integers": 2, "a string: text": 1, "a string: JSON": 1, "a string: HyperLogLog": 1, "a string: number": 1,
      "would not become smaller": 1, "of type hash": 1, "an empty string": 1,
    });
    expect(await server.run("R.GETINTARRAY", name)).toEqual([1, 70_000, 900_000]);
    expect(await server.run("PEXPIRETIME", "timed")).toBe(time);
    expect(await server.run("R.GETINTARRAY", "set")).toEqual(Array.from({ length: 600 }, (_, i) => i * 3));
    expect(await server.run("R64.MAX", "wide")).toBe(String(2n ** 63n + 599n));
    expect(await server.run("PTTL", "set")).toBe(-1);
    expect(await server.run("GET", "text")).toBe("x".repeat(5000));
    expect(await temporaries()).toBe(0);
    expect(await convert("--match", "*")).toMatchObject({ converted: 0 });
    expect(await convert("--match", "small", "--assume-bitmaps")).toMatchObject({ converted: 0, skipped: { "would not become smaller": 1 } });
  });

  it("restores a backup, also one whose end is cut, and converts back", async () => {
    await fill(server.connection, random(seed), 240);
    const before = await server.run("DEBUG", "DIGEST"), backup = join(folder, "backup");
    const first = await convert("--match", "[a-f]*", "--backup", backup), second = await convert("--match", "*", "--backup", backup);
    expect(first.converted).toBeGreaterThan(0);
    expect(second.converted).toBeGreaterThan(0);
    truncateSync(backup, statSync(backup).size - 1);
    expect(await toolOn(server, "restore", backup)).toMatchObject({ status: 0, out: `${first.converted + second.converted - 1} keys restored\n` });
    // The key of the record that was cut is still converted. Converted back it is as it was.
    const types = await Promise.all((await server.run("KEYS", "*") as string[]).map(async (key) => ({ key, type: String(await server.run("TYPE", key)) })));
    const [cut, ...others] = types.filter(({ type }) => type.includes("roaring"));
    expect(others).toEqual([]);
    await toolOn(server, "convert", "--match", "*", "--to", cut!.key.startsWith("user:") ? "native" : "set");
    expect(await server.run("DEBUG", "DIGEST"), `SEED=${seed}`).toBe(before);
    await convert("--match", "user:*:visited");
    expect(await convert("--match", "user:*:visited", "--to", "native")).toMatchObject({ converted: 20 });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    expect(await toolOn(server, "restore", toolFile)).toMatchObject({ status: 2 });
  });

  it("takes bytes of names in --match as in arguments, and shows them as redis-cli does", async () => {
    const key = (...parts: string[]): Buffer => Buffer.from(parts.join(""), "latin1"), java = "\xac\xed\x00\x05t\x00\x05", sparse = bitmapOf([1, 900_000]);
    for (const name of [key(java, "visit"), key("a*b"), key("a\nb"), key("a\\b"), key("axb")]) await server.run("SET", name, sparse);
    for (const pattern of ["\\xac\\xed\\x00\\x05t\\x00\\x05*", "a\\x2ab", "a\\nb", "a\\\\b"]) {
      expect(await convert("--match", pattern), pattern).toMatchObject({ seen: 1, converted: 1 });
    }
    expect(await server.run("TYPE", "axb")).toBe("string");
    expect(await convert("--match", "a[\\x2a]b", "--dry-run")).toMatchObject({ seen: 1 });
    const names = [key("a\nb"), key(java, "visit"), key("a\\b\t\r\b\x07\x7f"), Buffer.from("\u00e9\u00e9")];
    expect(names.map(shown)).toEqual(["a\\nb", "\\xac\\xed\\x00\\x05t\\x00\\x05visit", "a\\\\b\\t\\r\\b\\a\\x7f", "\u00e9\u00e9"]);
    for (const name of names) expect(nameBytes(shown(name))).toEqual(name);
    expect(nameBytes('\\"')).toEqual(Buffer.from('"'));
    expect((await toolOn(server, "inspect", "a\\nb")).out).toMatch(/^a\\nb: R\n/);
  });

  it("touches no key without its whole record in the backup, on a full disk and behind a record that is cut", async () => {
    const KEYS = 40, backup = join(folder, "full"), r = random(seed), dense = (): Buffer => bitmapOf(Array.from({ length: 3000 }, () => r.below(2_000_000)));
    await server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["SET", `k:${i}`, dense()]));
    const before = await server.run("DEBUG", "DIGEST"), recorded = async (): Promise<string[]> => {
      const names: string[] = [];
      for await (const { name } of readBackup(backup)) names.push(name.toString());
      return names.sort();
    };
    const converted = async (): Promise<string[]> => {
      const keys = await server.run("KEYS", "k:*") as string[], types = await server.connection.pipeline(keys.map((name) => ["TYPE", name]));
      return keys.filter((_, i) => types[i] === "reroaring").sort();
    };
    // A file of so many blocks of 512 bytes is all that fits.
    const limited = (blocks: number): Promise<Ended> => new Promise((resolve) => {
      const words = [process.execPath, toolFile, "convert", "--match", "k:*", "-s", server.socket, "--backup", backup, "--max-rate", "1000", "--parallel", "2"];
      execFile("sh", ["-c", 'ulimit -f "$1"; shift; exec "$@"', "sh", String(blocks), ...words], (error, out, errors) => resolve({ status: Number(error?.code ?? 0), out, error: errors }));
    });
    const dumps = await server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["DUMP", `k:${i}`]));
    const all = Math.floor(dumps.reduce<number>((sum, value) => sum + bytesOf(value).length, 0) / 512);
    for (const blocks of [0, Math.floor(all * (0.1 + 0.4 * r.unit())), Math.floor(all * (0.6 + 0.3 * r.unit()))]) {
      expect(await limited(blocks), `SEED=${seed}`).toMatchObject({ status: 1, error: expect.stringMatching(/^redis-roar: .*EFBIG.*\n$/) });
      const [done, kept] = [await converted(), statSync(backup).size > 0 ? await recorded() : []];
      expect(kept.filter((name) => done.includes(name)), `SEED=${seed}`).toEqual(done);
      expect(done.length).toBeLessThan(KEYS);
    }
    // As a crash leaves it: the next record, which is shorter, is not inside of the rest of this one.
    const [last] = (await recorded()).filter((name) => name !== "k:0");
    const file = await Backup.append(backup);
    await file.add({ name: Buffer.from("cut"), expires: -1, value: dense() });
    await file.close();
    truncateSync(backup, statSync(backup).size - 1);
    await server.run("SET", "short", bitmapOf([1, 5000]));
    await convert("--match", "short", "--backup", backup);
    expect(await recorded()).toContain("short");
    expect(await recorded()).toContain(last);
    const whole = statSync(backup).size;
    await (await Backup.append(backup)).close();
    expect(statSync(backup).size).toBe(whole);
    await server.run("DEL", "short");
    await convert("--match", "k:*", "--backup", backup);
    expect(await converted()).toHaveLength(KEYS);
    expect(await toolOn(server, "restore", "--no-progress", backup)).toMatchObject({ status: 0, error: "" });
    await server.run("DEL", "short");
    expect(await server.run("DEBUG", "DIGEST"), `SEED=${seed}`).toBe(before);
    // A first line that was cut is none of another file.
    writeFileSync(backup, "redis-roar ba");
    await (await Backup.append(backup)).close();
    expect(readFileSync(backup, "utf8")).toBe("redis-roar backup 1\n");
  });

  it("says what rights it needs, and stops where writing is not allowed", async () => {
    await server.run("SET", "k:1", bitmapOf([1, 900_000]));
    await server.run("ACL", "SETUSER", "writer", "on", ">secret", "~k:*", "+@all");
    const args = ["convert", "--match", "*", "-s", server.socket], asUser = async (): Promise<Ended> => {
      vi.stubEnv("REDISCLI_AUTH", "secret");
      return toolHere(...args, "--user", "writer").finally(() => vi.unstubAllEnvs());
    };
    expect(await asUser()).toMatchObject({ status: 4, error: expect.stringMatching(/^redis-roar: .*redis-roar:\*.*\n$/) });
    await server.run("ACL", "SETUSER", "writer", "~redis-roar:*");
    expect(await asUser()).toMatchObject({ status: 0, error: "" });
    await server.run("ACL", "DELUSER", "writer");
    await server.run("SET", "k:2", bitmapOf([1, 900_000]));
    await server.run("CONFIG", "SET", "maxmemory", 1);
    const full = await toolHere(...args).finally(() => server.run("CONFIG", "SET", "maxmemory", 0));
    expect(full).toMatchObject({ status: 1, error: expect.stringMatching(/^redis-roar: k:2: OOM.*\n$/) });
    expect(full.out).toMatch(/^2 keys seen, 0 converted\n[^]*\nended by an error; run the same command again to continue\n$/);
    expect(await server.run("TYPE", "k:2")).toBe("string");
    // As a process, which ends only if nothing is left open.
    expect(await tool([...args, "--backup", join(folder, "none", "backup")])).toMatchObject({ status: 1, out: "", error: expect.stringContaining("ENOENT") });
    expect(await temporaries()).toBe(0);
  });

  it("ends with 130 after Ctrl-C, leaves each key as it was or converted, and goes on", async () => {
    const KEYS = 200, membersOf = (i: number): number[] => [1, 50_000 + i, 400_000];
    await server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["SET", `k:${i}`, bitmapOf(membersOf(i))]));
    const args = [toolFile, "convert", "--match", "k:*", "-s", server.socket, "--max-rate", "50"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] }), ended = once(child, "exit");
    const output = text(child.stdout), errors = text(child.stderr);
    const types = async (): Promise<Reply[]> => server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["TYPE", `k:${i}`]));
    await waitUntil(async () => (await types()).includes("reroaring"));
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    const found = await types(), done = found.filter((type) => type === "reroaring").length;
    expect(await errors).toBe("redis-roar: interrupted\n");
    expect(await output).toMatch(new RegExp(`${done} converted: [^]*interrupted; run the same command again to continue\\n$`));
    expect(found.filter((type) => type === "string")).toHaveLength(KEYS - done);
    expect(done).toBeLessThan(KEYS);
    expect(await temporaries()).toBe(0);
    expect(await convert("--match", "k:*")).toMatchObject({ converted: KEYS - done, failed: [] });
    for (let i = 0; i < KEYS; i += 20) expect(await server.run("R.GETINTARRAY", `k:${i}`)).toEqual(membersOf(i));
  });

  it("converts 2,000 keys under 45,000 writes, and loses none", async () => {
    const KEYS = 2000, WRITES = 45_000, CLIENTS = 8, model = Array.from({ length: KEYS }, (_, i) => new Set([1, 50_000 + i, 400_000]));
    await server.connection.pipeline(model.map((members, i) => ["SET", `k:${i}`, bitmapOf(members)]));
    let writes = 0, native = 0, roaring = 0, isRunning = true;
    // Clients that know both forms of a bitmap, each with keys of its own.
    const writing = Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
      const r = random(seed + client), connection = await server.connect();
      while (writes < WRITES || isRunning) {
        const draw = (): number[] => [CLIENTS * r.below(KEYS / CLIENTS) + client, r.below(500_000), r.chance(0.8) ? 1 : 0];
        const some = Array.from({ length: 16 }, draw) as [key: number, offset: number, bit: number][];
        const replies = await connection.pipeline(some.map(([key, offset, bit]) => ["SETBIT", `k:${key}`, offset, bit]));
        // Once a write has met a roaring bitmap, so do all that follow: those of a key stay in order.
        for (const [i, [key, offset, bit]] of some.entries()) {
          const isRoaring = replies[i] instanceof ReplyError;
          if (isRoaring) await connection.run("R.SETBIT", `k:${key}`, offset, bit);
          if (isRoaring) roaring++;
          else native++;
          if (bit) model[key]!.add(offset);
          else model[key]!.delete(offset);
          writes++;
        }
        if (!isRunning) continue;
        await sleep(2);
      }
      connection.close();
    }));
    const converting = tool(["convert", "--match", "k:*", "-s", server.socket, "--max-rate", "500", "--json"]);
    const { status, out } = await converting.finally(() => { isRunning = false; });
    await writing;
    expect(writes).toBeGreaterThanOrEqual(WRITES);
    expect([status, Math.min(native, roaring) > 0]).toEqual([0, true]);
    expect((JSON.parse(out) as Conversion).failed).toEqual([]);
    await convert("--match", "k:*");
    for (const [i, members] of model.entries()) {
      expect(await server.run("R.GETINTARRAY", `k:${i}`), `k:${i}, SEED=${seed}`).toEqual([...members].sort((a, b) => a - b));
    }
    expect(await temporaries()).toBe(0);
  });

  it("loses nothing when it is killed again and again while others write", async () => {
    const KEYS = 400, model = Array.from({ length: KEYS }, (_, i) => new Set([1, 50_000 + i, 400_000]));
    await server.connection.pipeline(model.map((members, i) => ["SET", `k:${i}`, bitmapOf(members)]));
    const r = random(seed), writer = await server.connect();
    let ended = false;
    // A client that knows both forms of a bitmap.
    const writing = (async () => {
      while (!ended) {
        const key = r.below(KEYS), offset = r.below(500_000);
        model[key]!.add(offset);
        const [reply] = await writer.pipeline([["SETBIT", `k:${key}`, offset, 1]]);
        if (reply instanceof ReplyError) await writer.run("R.SETBIT", `k:${key}`, offset, 1);
        await sleep(1);
      }
    })();
    let killed = 0;
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, [toolFile, "convert", "--match", "k:*", "-s", server.socket, "--max-rate", "300"], { stdio: "ignore" });
      await sleep(600 + r.below(500));
      if (child.kill("SIGKILL")) killed++;
      await new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(undefined)));
    }
    expect(killed).toBeGreaterThan(0);
    await convert("--match", "k:*");
    ended = true;
    await writing;
    await convert("--match", "k:*");
    for (const [i, members] of model.entries()) {
      expect(await server.run("TYPE", `k:${i}`)).toBe("reroaring");
      expect(await server.run("R.GETINTARRAY", `k:${i}`), `SEED=${seed}`).toEqual([...members].sort((a, b) => a - b));
    }
    // What a kill leaves behind goes away by itself.
    for (const key of await server.run("KEYS", "redis-roar:*") as string[]) expect(await server.run("PTTL", key)).toBeGreaterThan(0);
  });
});

describe("in a cluster", () => {
  const cluster = useCluster(3);
  const ask = async (...command: Argument[]): Promise<Reply> => (await cluster.follow(command, cluster.primaries[0]!)).reply;

  it("advises on all nodes, and converts keys with and without hash tags", async () => {
    const names = Array.from({ length: 60 }, (_, i) => [`k:${i}`, `{u${i}}:k`, `odd}{${i}`][i % 3]!);
    for (const name of names) await ask("SET", name, bitmapOf([5, 300_000]));
    const port = String(cluster.ports[0]);
    const advised = await toolHere("advise", "-p", port, "--json");
    expect(advised.error).toBe("");
    expect(JSON.parse(advised.out)).toMatchObject({ keys: 60 });
    const converted = await toolHere("convert", "--match", "*", "-p", port, "--json");
    expect(JSON.parse(converted.out)).toMatchObject({ converted: 60, failed: [] });
    for (const name of names) expect(await ask("R.GETINTARRAY", name)).toEqual([5, 300_000]);
  });

  it("advises on names that are on several nodes", async () => {
    const words = Array.from({ length: 50 }, (_, i) => `word ${i}`);
    for (let i = 0; i < 12; i++) await ask("SADD", `tags:${i}`, ...words);
    const { out } = await toolHere("advise", "-p", String(cluster.ports[0]), "--json", "--match", "tags:*"), { rows, notes } = JSON.parse(out) as Advice;
    expect(rows).toMatchObject([{ pattern: "tags:*", kind: "names", keys: 12, names: 50 }]);
    expect(notes.join()).toContain("in a cluster, a dictionary has to be in the slot of its bitmaps");
  });
});

describe("groups", () => {
  const sparse = (i: number): number[] => [1, 50_000 + i, 400_000], tiny = bitmapOf([0, 9]);
  const typesOf = async (pattern: string): Promise<Set<Reply>> =>
    new Set(await server.connection.pipeline((await server.run("KEYS", pattern) as string[]).map((key) => ["TYPE", key])));
  const fillGroups = async (): Promise<void> => {
    await server.connection.pipeline([
      ...Array.from({ length: 40 }, (_, i) => ["SET", `user:${i}:visited`, bitmapOf(sparse(i))]), ["SET", "user:90:visited", tiny], ["SET", "user:91:visited", ""],
      ...Array.from({ length: 20 }, (_, i) => ["SADD", `post:${i}:readers`, ...Array.from({ length: 600 }, (_one, n) => n * 7 + i)]), ["SADD", "post:77:readers", "anonymous"],
      ...Array.from({ length: 5 }, (_, i) => ["SET", `small:${i}`, tiny]),
      ...Array.from({ length: 20 }, (_, i) => ["SADD", `likes:${i}`, ...Array.from({ length: 600 }, (_one, n) => (i === 7 ? 2n ** 40n : 0n) + BigInt(n * 5))]),
    ]);
  };

  it("are left with several types unless told otherwise, and a warning names them", async () => {
    await fillGroups();
    const dry = await convert("--match", "*", "--dry-run"), done = await convert("--match", "*"), byPattern = new Map(done.mixed.map((one) => [one.pattern, one]));
    expect(dry.mixed).toEqual(done.mixed);
    expect([...byPattern.keys()].sort()).toEqual(["likes:*", "post:*:readers", "user:*:visited"]);
    expect(byPattern.get("user:*:visited")).toMatchObject({ converted: 40, stay: 2 });
    expect(byPattern.get("post:*:readers")).toMatchObject({ converted: 20, stay: 1, why: "a set with members that are not integers, such as post:77:readers" });
    expect(byPattern.get("likes:*")).toMatchObject({ converted: 20, stay: 0, why: expect.stringContaining("R64") as string });
    await expect(server.run("R.BITOP", "OR", "all", "user:0:visited", "user:90:visited")).rejects.toThrow(/WRONGTYPE/);
    const { out } = await toolOn(server, "convert", "--match", "*");
    expect(out).toMatch(/^warning: groups that have keys of several types; [^]*user:\*:visited: 40 converted, 2 not: [^]*--whole-groups/m);
  });

  it("convert as a whole or not at all with --whole-groups, and back", async () => {
    await fillGroups();
    const before = await server.run("DEBUG", "DIGEST"), dry = await convert("--match", "*", "--whole-groups", "--dry-run");
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    const done = await convert("--match", "*", "--whole-groups");
    expect(done).toMatchObject({ converted: 62, mixed: [], failed: [], refused: dry.refused });
    expect(dry.converted).toBe(done.converted);
    expect(new Map(done.refused.map(({ pattern, why }) => [pattern, why]))).toEqual(new Map([
      ["post:*:readers", "a set with members that are not integers, such as post:77:readers"], ["small:*", "would not become smaller"],
    ]));
    expect([await typesOf("user:*"), await typesOf("post:*"), await typesOf("small:*"), await typesOf("likes:*")])
      .toEqual([new Set(["reroaring"]), new Set(["set"]), new Set(["string"]), new Set(["roaring64"])]);
    expect(await server.run("R.BITOP", "OR", "all", ...await server.run("KEYS", "user:*") as string[])).toBe(44);
    await server.run("DEL", "all");
    expect(await convert("--match", "*", "--whole-groups")).toMatchObject({ converted: 0, mixed: [] });
    const { out } = await toolOn(server, "convert", "--match", "*", "--whole-groups");
    expect(out).toMatch(/^groups that stay as a whole:\n {2}post:\*:readers: 21 keys; a set with members that are not integers, such as post:77:readers$/m);
    // What is empty becomes no key, as it is for native bitmaps and sets.
    expect(await convert("--match", "user:*", "--whole-groups", "--to", "native")).toMatchObject({ converted: 42, mixed: [], refused: [] });
    expect(await convert("--match", "likes:*", "--whole-groups", "--to", "set")).toMatchObject({ converted: 20, mixed: [], refused: [] });
    await server.run("SET", "user:91:visited", "");
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
  });

  it("are finished after a kill, even if what is left would become larger", async () => {
    await server.connection.pipeline([
      ...Array.from({ length: 30 }, (_, i) => ["SET", `k:${i}`, bitmapOf(sparse(i))]), ...Array.from({ length: 30 }, (_, i) => ["SET", `k:${100 + i}`, tiny]),
    ]);
    // As a kill would leave it: the keys that shrink are converted.
    expect(await convert("--match", "k:*")).toMatchObject({ converted: 30 });
    expect(await convert("--match", "k:*", "--whole-groups")).toMatchObject({ converted: 30, refused: [], mixed: [] });
    expect(await typesOf("k:*")).toEqual(new Set(["reroaring"]));
  });
});
