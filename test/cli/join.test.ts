// join and split: members, what is refused, times of expiry, and being killed while others set and clear bits; in a cluster, too.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as path } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Backup } from "../../cli/src/backup.ts";
import { Failure } from "../../cli/src/failure.ts";
import { Servers } from "../../cli/src/servers.ts";
import { type Joined, Joiner, type JoinOptions } from "../../cli/src/shards/join.ts";
import { type Naming, ShardNames } from "../../cli/src/shards/names.ts";
import { split, type Split } from "../../cli/src/shards/split.ts";
import { random, type Random, seed } from "../support/random.ts";
import { type Argument, type Reply, ReplyError } from "../support/resp.ts";
import { useCluster, useServer } from "../support/suite.ts";
import { loadCore, toolFile, toolHere, toolOn } from "../support/tool.ts";
import { bitmapOf } from "./keyspace.ts";

const server = useServer();
let folder: string;
beforeAll(() => { folder = mkdtempSync(path(tmpdir(), "redis-roar-")); });
afterAll(() => rmSync(folder, { recursive: true }));

type Options = Partial<JoinOptions & Naming>;
/** Joins in this process: a process of its own takes longer to start than to join. */
const run = async (pattern: string, key: string, width: number, options: Options = {}): Promise<Joined> => {
  const names = new ShardNames(pattern, { width: BigInt(width), first: 0n, digits: 1, ...options });
  const servers = await Servers.open({ socket: server.socket, host: "", port: 0, db: 0 });
  const all: JoinOptions = {
    key: Buffer.from(key), names, wide: false, expiry: undefined, assumeBitmaps: false, dryRun: false, maxRate: Infinity, parallel: 4,
    ...options,
  };
  return new Joiner(servers, await loadCore(), all).join().finally(() => servers.close());
};
const splitIt = async (key: string, pattern: string, width: number, dryRun = false): Promise<Split> => {
  const names = new ShardNames(pattern, { width: BigInt(width), first: 0n, digits: 1 });
  const servers = await Servers.open({ socket: server.socket, host: "", port: 0, db: 0 });
  return split(servers, await loadCore(), { key: Buffer.from(key), names, dryRun, maxRate: Infinity }).finally(() => servers.close());
};

describe("join", () => {
  it("puts the bits of each shard where they belong, and leaves all other keys alone", async () => {
    const dense = Array.from({ length: 700_000 }, (_, i) => 2 * i), WIDTH = 2_000_000;
    await server.connection.pipeline([
      ["SET", "v:{a}:*:0", bitmapOf([0, 5, WIDTH - 1])], ["SET", "v:{a}:*:1", bitmapOf(dense)], ["SET", "v:{a}:*:7", ""], ["SETBIT", "v:{a}:*:9", WIDTH - 1, 0],
      ["SET", "v:{a}:*:2147", bitmapOf([8])], ["SET", "v:{a}:*:x", "text"], ["SET", "v:{a}:*:03", "text"], ["SET", "v:{a}:1:0", "text"], ["R.SETINTARRAY", "v", 17, 6],
    ]);
    const expected = [0, 5, 6, 17, WIDTH - 1, ...dense.map((offset) => WIDTH + offset), 2147 * WIDTH + 8];
    const args = ["v:{a}:\\x2a:*", "v", WIDTH] as const, before = await server.run("DEBUG", "DIGEST");
    expect(await run(...args, { dryRun: true })).toMatchObject({ shards: 5, members: String(expected.length - 2), others: 2 });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    expect(await run(...args)).toMatchObject({ joined: 5, members: String(expected.length), others: 2, failed: [], isPartial: false });
    expect(await server.run("R.GETINTARRAY", "v")).toEqual(expected);
    expect((await server.run("KEYS", "*") as string[]).sort()).toEqual(["v", "v:{a}:*:03", "v:{a}:*:x", "v:{a}:1:0"]);
    expect(await run(...args)).toMatchObject({ shards: 0, joined: 0, members: String(expected.length) });
    // A shard that a client has written since is added, too.
    await server.run("SETBIT", "v:{a}:*:1", 9, 1);
    expect(await run(...args)).toMatchObject({ joined: 1, members: String(expected.length + 1) });
  });

  it("joins halves of 64-bit ids, numbers with zeros in front and from 1 on, and many shards to one container", async () => {
    await server.connection.pipeline([["SETBIT", "seen:0:low", 7, 1], ["SETBIT", "seen:4294967295:low", 16, 1]]);
    expect(await run("seen:*:low", "seen", 2 ** 32, { wide: true })).toMatchObject({ joined: 2, members: "2" });
    expect(((await server.run("R64.GETINTARRAY", "seen")) as Reply[]).map(String)).toEqual(["7", "18446744069414584336"]);
    await server.connection.pipeline(Array.from({ length: 300 }, (_, i) => ["SET", `part:${String(i + 1).padStart(4, "0")}`, bitmapOf([0, i % 10, 9])]));
    expect(await run("part:*", "parts", 10, { first: 1n, digits: 4 })).toMatchObject({ joined: 300 });
    const expected = Array.from({ length: 300 }, (_, i) => [...new Set([0, i % 10, 9])].map((bit) => 10 * i + bit)).flat();
    expect(await server.run("R.GETINTARRAY", "parts")).toEqual(expected);
  });

  it.each<[string, Argument[][], Options, RegExp]>([
    ["text", [["SET", "s:1", "hello"]], {}, /^s:1: a string that is not a bitmap: text; use --assume/],
    ["a set", [["SADD", "s:1", 1], ["SADD", "s:2", 1]], {}, /^s:1: of type set.*; and 1 more\. Nothing was changed/],
    ["bits above the width", [["SETBIT", "s:1", 10_000, 1]], {}, /^s:1: it has bits from 10000 on/],
    ["offsets above the family's", [["SETBIT", "s:429497", 0, 1]], {}, /--wide/],
    ["bits above the family's", [["SETBIT", "s:429496", 7296, 1]], {}, /--wide/],
    ["a number below the first", [["SETBIT", "s:1", 7, 1]], { first: 2n }, /--first/],
    ["a time of expiry", [["SET", "s:1", "\x01\xff", "EX", 1000]], {}, /--expiry/],
    ["a bitmap of the other family", [["R64.SETBIT", "all", 1, 1]], {}, /R64, join with --wide/],
    ["a destination that is a list", [["LPUSH", "all", 1]], {}, /of type list/],
  ])("refuses %s, and changes nothing", async (_, commands, options, text) => {
    await server.connection.pipeline([["SETBIT", "s:3", 9, 1], ...commands]);
    const before = await server.run("DEBUG", "DIGEST");
    await expect(run("s:*", "all", 10_000, options)).rejects.toThrow(text);
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
  });

  it("refuses names that cannot be", async () => {
    await expect(run("s:", "all", 8)).rejects.toThrow("one *");
    await expect(run("s:*", "s:1", 8)).rejects.toThrow(Failure);
    expect(await toolOn(server, "join", "s:*", "all", "--width", "0")).toMatchObject({ status: 2, out: "" });
  });

  it("lets the bitmap expire with the last shard, or never", async () => {
    const at = Date.now() + 1_000_000, set = (): Promise<unknown> => server.connection.pipeline([
      ["SET", "s:0", "\x01\xff", "PXAT", at], ["SET", "s:1", "\x01\xff", "PXAT", at + 5000], ["SET", "s:2", "\x01\xff", "PXAT", at + 1000],
    ]);
    const after = async (expiry: "latest" | "none"): Promise<Reply> => {
      await run("s:*", "all", 100, { expiry });
      return server.run("PEXPIRETIME", "all");
    };
    await set();
    expect(await after("latest")).toBe(at + 5000);
    await server.run("SET", "s:3", "\x01\xff");
    expect(await after("latest")).toBe(-1);
    await set();
    expect(await after("latest")).toBe(-1); // as it had been
    await server.run("DEL", "all");
    await set();
    expect(await after("none")).toBe(-1);
  });

  it("gives shards back, from a backup or by split", async () => {
    await server.connection.pipeline(Array.from({ length: 90 }, (_, i) => ["SET", `s:${3 * i}`, bitmapOf([i, 999, 5000 + i])]));
    await server.run("SET", "s:1", bitmapOf(Array.from({ length: 10_000 }, (_, i) => i)));
    const before = await server.run("DEBUG", "DIGEST"), file = path(folder, "backup"), backup = await Backup.append(file);
    expect(await run("s:*", "all", 10_000, { backup })).toMatchObject({ joined: 91 });
    await backup.close();
    const joined = await server.run("DEBUG", "DIGEST");
    expect(await splitIt("all", "s:*", 10_000, true)).toEqual({ shards: 91, members: "10270", isPartial: false });
    expect(await server.run("DEBUG", "DIGEST")).toBe(joined);
    expect(await splitIt("all", "s:*", 10_000)).toEqual({ shards: 91, members: "10270", isPartial: false });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    // A shard that is there gets the members in addition.
    await run("s:*", "all", 10_000);
    await server.connection.pipeline([["SETBIT", "s:3", 7, 1], ["SETBIT", "s:3", 9999, 0]]);
    await splitIt("all", "s:*", 10_000);
    expect([await server.run("BITCOUNT", "s:3"), await server.run("EXISTS", "all")]).toEqual([4, 0]);
    expect(await toolOn(server, "restore", file)).toMatchObject({ status: 0 });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    await expect(splitIt("none", "s:*", 10_000)).rejects.toThrow("no such key");
  });
});

const WIDTH = 1000, SHARDS = 120;

/** A client that writes to shards and to the bitmap, which it can ask in one step where they are in one slot. */
class Writer {
  readonly model = Array.from({ length: SHARDS }, () => new Set<number>());
  readonly #ask: (...command: Argument[]) => Promise<Reply>;
  readonly #nameOf: (shard: number) => string;
  readonly #random: Random;
  #ended = false;

  constructor(ask: (...command: Argument[]) => Promise<Reply>, nameOf: (shard: number) => string, r: Random) {
    this.#ask = ask;
    this.#nameOf = nameOf;
    this.#random = r;
  }

  async fill(): Promise<void> {
    for (const [i, members] of this.model.entries()) {
      for (const offset of [i, 500, 999]) members.add(offset);
      await this.#ask("SET", this.#nameOf(i), bitmapOf(members));
    }
  }

  /** Sets and clears bits of shards, and does so in the bitmap when a shard has become part of it. */
  async write(isThere: (shard: number, offset: number, bit: number) => Promise<boolean>): Promise<void> {
    while (!this.#ended) {
      const shard = this.#random.below(SHARDS), offset = this.#random.below(WIDTH), bit = this.#random.below(2);
      if (await isThere(shard, offset, bit)) {
        if (bit) this.model[shard]!.add(offset);
        else this.model[shard]!.delete(offset);
      }
      await sleep(1);
    }
  }

  end(): void { this.#ended = true; }

  get members(): number[] {
    return this.model.flatMap((members, i) => [...members].sort((a, b) => a - b).map((offset) => i * WIDTH + offset));
  }
}

/** Starts the tool and kills it after a while, some times. */
async function killed(r: Random, rounds: number, args: string[]): Promise<void> {
  let count = 0;
  for (let round = 0; round < rounds; round++) {
    const child = spawn(process.execPath, [toolFile, ...args], { stdio: "ignore" });
    await sleep(500 + r.below(400));
    if (child.kill("SIGKILL")) count++;
    await new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(undefined)));
  }
  expect(count).toBeGreaterThan(0);
}

describe("being killed while others set and clear bits", () => {
  it("loses nothing and brings nothing back", async () => {
    const client = await server.connect(), writer = new Writer((...command) => client.run(...command), (shard) => `s:${shard}`, random(seed));
    await writer.fill();
    const script = `if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('SETBIT', KEYS[1], ARGV[1], ARGV[3]) end
      return redis.call('R.SETBIT', KEYS[2], ARGV[2], ARGV[3])`;
    const writing = writer.write(async (shard, offset, bit) => {
      await client.run("EVAL", script, 2, `s:${shard}`, "all", offset, shard * WIDTH + offset, bit);
      return true;
    });
    await killed(random(seed), 2, ["join", "s:*", "all", "--width", String(WIDTH), "--max-rate", "60", "-s", server.socket]);
    expect(await run("s:*", "all", WIDTH)).toMatchObject({ failed: [] });
    writer.end();
    await writing;
    expect(await server.run("KEYS", "s:*")).toEqual([]);
    expect(await server.run("R.GETINTARRAY", "all"), `SEED=${seed}`).toEqual(writer.members);
    for (const key of await server.run("KEYS", "redis-roar:*") as string[]) expect(await server.run("PTTL", key)).toBeGreaterThan(0);
  });
});

describe("in a cluster", () => {
  const cluster = useCluster(3);
  const ask = async (...command: Argument[]): Promise<Reply> => {
    const { reply } = await cluster.follow(command, cluster.primaries[0]!);
    if (reply instanceof ReplyError) throw reply;
    return reply;
  };

  it("joins shards of all slots, killed while others set and clear bits in what is not joined yet", async () => {
    const writer = new Writer(ask, (shard) => `s:${shard}`, random(seed));
    await writer.fill();
    // A shard that is gone is written no more: no client could know for sure where it is.
    const script = "if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end return redis.call('SETBIT', KEYS[1], ARGV[1], ARGV[2])";
    const writing = writer.write(async (shard, offset, bit) => await ask("EVAL", script, 1, `s:${shard}`, offset, bit) !== -1);
    const args = ["join", "s:*", "all", "--width", String(WIDTH), "-p", String(cluster.ports[0])];
    await killed(random(seed), 1, [...args, "--max-rate", "60"]);
    const ended = await toolHere(...args, "--json");
    expect(ended).toMatchObject({ status: 0, error: "" });
    expect(JSON.parse(ended.out)).toMatchObject({ failed: [], isPartial: false });
    writer.end();
    await writing;
    expect(await ask("R.GETINTARRAY", "all"), `SEED=${seed}`).toEqual(writer.members);
    const keys = (await cluster.onAll("KEYS", "*") as string[][]).flat();
    expect(keys.filter((key) => key.startsWith("s:") || key.includes(":join:"))).toEqual([]);
    expect(await toolHere("split", "all", "s:*", "--width", String(WIDTH), "-p", String(cluster.ports[0])))
      .toMatchObject({ status: 1, out: "", error: expect.stringContaining("another slot") });
  });

  it("joins shards of one slot there", async () => {
    for (let i = 0; i < 5; i++) await ask("SETBIT", `{x}:${i}`, 8 * i, 1);
    const { out } = await toolHere("join", "{x}:*", "{x}", "--width", "100", "--json", "-p", String(cluster.ports[1]));
    expect(JSON.parse(out)).toMatchObject({ joined: 5, members: "5" });
    expect(await ask("R.GETINTARRAY", "{x}")).toEqual([0, 108, 216, 324, 432]);
    expect(await toolHere("split", "{x}", "{x}:*", "--width", "100", "-p", String(cluster.ports[2]))).toMatchObject({ status: 0 });
    expect(await ask("GETBIT", "{x}:4", 32)).toBe(1);
  });
});
