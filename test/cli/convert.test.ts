// convert: what it changes and what it leaves, members, times of expiry, backups, the way back, and being killed while others write.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Conversion } from "../../cli/src/convert.ts";
import { type Argument, type Connection, type Reply, ReplyError } from "../support/resp.ts";
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
      "a set of others than integers": 2, "a string: text": 1, "a string: JSON": 1, "a string: HyperLogLog": 1, "a string: number": 1,
      "smaller as it is": 1, "of type hash": 1, "an empty string": 1,
    });
    expect(await server.run("R.GETINTARRAY", name)).toEqual([1, 70_000, 900_000]);
    expect(await server.run("PEXPIRETIME", "timed")).toBe(time);
    expect(await server.run("R.GETINTARRAY", "set")).toEqual(Array.from({ length: 600 }, (_, i) => i * 3));
    expect(await server.run("R64.MAX", "wide")).toBe(String(2n ** 63n + 599n));
    expect(await server.run("PTTL", "set")).toBe(-1);
    expect(await server.run("GET", "text")).toBe("x".repeat(5000));
    expect(await temporaries()).toBe(0);
    expect(await convert("--match", "*")).toMatchObject({ converted: 0 });
    expect(await convert("--match", "small", "--assume-bitmaps")).toMatchObject({ converted: 0, skipped: { "smaller as it is": 1 } });
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
    expect(await toolHere(...args)).toMatchObject({ status: 1, out: "", error: expect.stringMatching(/^redis-roar: k:2: OOM.*\n$/) });
    await server.run("CONFIG", "SET", "maxmemory", 0);
    expect(await server.run("TYPE", "k:2")).toBe("string");
    // As a process, which ends only if nothing is left open.
    expect(await tool([...args, "--backup", join(folder, "none", "backup")])).toMatchObject({ status: 1, out: "", error: expect.stringContaining("ENOENT") });
    expect(await temporaries()).toBe(0);
  });

  it("ends with 130 after Ctrl-C, leaves each key as it was or converted, and goes on", async () => {
    const KEYS = 200, membersOf = (i: number): number[] => [1, 50_000 + i, 400_000];
    await server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["SET", `k:${i}`, bitmapOf(membersOf(i))]));
    const args = [toolFile, "convert", "--match", "k:*", "-s", server.socket, "--max-rate", "50"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }), ended = once(child, "exit");
    const output = text(child.stdout);
    const types = async (): Promise<Reply[]> => server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["TYPE", `k:${i}`]));
    await waitUntil(async () => (await types()).includes("reroaring"));
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    const found = await types(), done = found.filter((type) => type === "reroaring").length;
    expect(await output).toMatch(new RegExp(`${done} converted: [^]*interrupted; the same command goes on from here\\n$`));
    expect(found.filter((type) => type === "string")).toHaveLength(KEYS - done);
    expect(done).toBeLessThan(KEYS);
    expect(await temporaries()).toBe(0);
    expect(await convert("--match", "k:*")).toMatchObject({ converted: KEYS - done, failed: [] });
    for (let i = 0; i < KEYS; i += 20) expect(await server.run("R.GETINTARRAY", `k:${i}`)).toEqual(membersOf(i));
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
});
