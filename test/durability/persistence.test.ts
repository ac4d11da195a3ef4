// Bitmaps survive RDB files and AOFs, and reach replicas.

import { describe, expect, it } from "vitest";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { families, member, R, R64, range } from "../support/family.ts";
import { croaringArray } from "../support/format.ts";
import type { Argument } from "../support/resp.ts";
import { expectSamples, loadSamples, sampleKey as key, valuesKey } from "../support/stored.ts";
import { Server } from "../support/server.ts";
import { roarOn } from "../support/roar.ts";
import { expectEqual, useServer } from "../support/suite.ts";
import { isSeven } from "../support/version.ts";
import { inStep, replicate, rewriteAof, stopReplicating, waitUntil } from "../support/waiting.ts";

/** Writes of integers for ids that leave the samples as they are, but pass through each command. */
const one = valuesKey("one"), slices = valuesKey("slices");
const valueWrites: readonly [string, ...Argument[]][] = [
  ["RI.SET", one, "GT", 7, -4, 8, 1, 9, 2], ["RI.SET", one, "LT", "CH", 7, -9], ["RI.INCRBY", one, 7, 4], ["RI.DEL", one, 8], ["RI.DELRANGE", one, 2, 2],
  ["RI.MERGE", "merged", 2, one, slices, "AGGREGATE", "MAX"], ["RI.SET", slices, "XX", 5, 2 ** 40], ["RI.DELRANGE", "merged", "-inf", "+inf", "WITHIN", "#1", 1, slices],
  ["RI.MERGE", slices, 1, slices, "AGGREGATE", "MIN"], ["RI.SET", slices, 5, (5 * 7919) % 4096], ["RI.OPTIMIZE", slices], ["EVAL", "return redis.call('RI.INCRBY', KEYS[1], 1, 1)", 1, "gone"],
  ["RI.DEL", "gone", 1], ["RI.MERGE", "gone", 1, "none"], ["DEL", "merged"],
];

describe("files", () => {
  const server = useServer();

  it("RDB: bitmaps survive SAVE and a restart", async () => {
    await loadSamples(server);
    await server.run("SAVE");
    await server.restart();
    await expectSamples(server);
  });

  it("RDB: bitmaps survive BGSAVE and DEBUG RELOAD", async () => {
    await loadSamples(server);
    await server.run("BGSAVE");
    await waitUntil(async () => (await server.info("rdb_bgsave_in_progress")) === "0");
    expect(await server.info("rdb_last_bgsave_status")).toBe("ok");
    await server.run("DEBUG", "RELOAD");
    await expectSamples(server);
  });

  describe.each(["yes", "no"])("AOF with aof-use-rdb-preamble %s", (preamble) => {
    const logged = useServer({
      config: ["appendonly yes", "appendfsync always", `aof-use-rdb-preamble ${preamble}`, "auto-aof-rewrite-percentage 0"],
    });

    it("replays the logged commands", async () => {
      await loadSamples(logged);
      await roarOn(logged, R).run("BITOP", "OR", "scratch", key(R, "bitset"), key(R, "run"));
      await logged.run("DEL", "scratch");
      await logged.restart();
      await expectSamples(logged);
    });

    it("replays a rewritten AOF, including empty bitmaps", async () => {
      await loadSamples(logged);
      await rewriteAof(logged);
      await logged.restart();
      await expectSamples(logged);
    });

    it("replays the commands logged after a rewrite, and survives a kill", async () => {
      await loadSamples(logged);
      await rewriteAof(logged);
      const roar = roarOn(logged, R64);
      await roar.run("SETBIT", key(R64, "one"), 8, 1);
      await roar.run("SETBIT", key(R64, "one"), 7, 0);
      await roar.run("APPENDINTARRAY", key(R64, "one"), 7);
      await roar.run("SETBIT", key(R64, "one"), 8, 0);
      for (const command of valueWrites) await logged.run(...command);
      await logged.killAndRestart();
      await expectSamples(logged);
    });

    it("is rewritten in bulk, not with one command per member", async () => {
      const roar = roarOn(logged, R);
      await roar.load("k", range(0, 50_000, 3));
      await rewriteAof(logged);
      const size = aofBytes(logged);
      expect(size).toBeLessThan(50_000 * 16); // a SETBIT command takes about 40 bytes
      await logged.restart();
      expect(await roar.run("BITCOUNT", "k")).toBe(50_000);
    });
  });

  it("AOF without preamble: a run of members takes space by its containers, not by its members", async () => {
    const logged = await Server.start({ config: ["appendonly yes", "aof-use-rdb-preamble no"] });
    await roarOn(logged, R).run("BITOP", "NOT", "k", "none", 20_000_000);
    await rewriteAof(logged);
    expect(aofBytes(logged)).toBeLessThan(10_000_000); // 306 containers in one run; as a list of members it would take 200 MB
    await logged.restart();
    expect(await roarOn(logged, R).run("BITCOUNT", "k")).toBe(20_000_001);
    await logged.stop();
  });

  it("AOF without preamble: large bitmaps are written in chunks, and 2^48 full containers take few bytes", async () => {
    const logged = await Server.start({ config: ["appendonly yes", "aof-use-rdb-preamble no"] });
    const bytes = Buffer.from(Array.from({ length: 1 << 16 }, (_, i) => (i * i) >> 3 & 255));
    await logged.run("SET", "string", Buffer.concat(Array.from({ length: 160 }, (_, i) => bytes.subarray(i))));   // 10 MB
    for (const family of families) {
      const roar = roarOn(logged, family);
      await roar.run("FROMBITMAP", key(family, "large"), "string");
      await roar.run("SETRANGE", key(family, "large"), 3_000_000_000, 4_000_000_000);
      await roar.load(key(family, "empty"), []);
    }
    await roarOn(logged, R64).run("SETFULL", "full");
    await roarOn(logged, R64).load("holes", [7, 2n ** 60n, 2n ** 64n - 1n]);
    await roarOn(logged, R64).run("FLIPRANGE", "holes", 0, 2n ** 64n - 1n);
    const step = 2n ** 32n + 2n ** 17n;      // 65,535 full containers each, which take a megabyte if written one by one
    const starts = range(0, 200).map((i) => BigInt(i) * step);
    await logged.connection.pipeline(starts.map((start) => ["R64.SETRANGE", "ranges", start, start + 2n ** 32n - 2n ** 16n]));
    await roarOn(logged, R64).load("lone", range(0, 600_000).map((i) => i * 2 ** 17));
    await logged.run("DEL", "string");
    const keys = [...families.flatMap((family) => [key(family, "large"), key(family, "empty")]), "full", "holes", "ranges", "lone"];
    const before = await logged.run("DEBUG", "DIGEST-VALUE", ...keys);
    await rewriteAof(logged);
    const base = aofFiles(logged).find((file) => !isSeven || file.includes("base"))!;
    const imports = readFileSync(base, "latin1").matchAll(/\r\nR(?:64)?\.IMPORT\r\n\$\d+\r\n[^\r]+\r\n\$(\d+)\r\n/g);
    const lengths = Array.from(imports, (found) => Number(found[1]));
    expect(lengths.length).toBeGreaterThan(2 * 3 + 2 + 2 + 2);
    expect(Math.max(...lengths)).toBeLessThan(4.3e6);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(28e6);
    await logged.restart();
    expect(await logged.run("DEBUG", "DIGEST-VALUE", ...keys)).toEqual(before);
    expect(await logged.run("DBSIZE")).toBe(keys.length);
    await logged.stop();
  });

  it("RDB: TTLs and keys of other types are kept", async () => {
    await roarOn(server, R).load("k", [1, 2]);
    await server.run("EXPIRE", "k", 1000);
    await server.run("SET", "s", "string");
    await server.run("SAVE");
    await server.restart();
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
    expect(await server.run("GET", "s")).toBe("string");
  });
});

function aofFiles(server: Server): string[] {
  const directory = join(server.directory, "appendonlydir");
  return isSeven ? readdirSync(directory).map((file) => join(directory, file)) : [join(server.directory, "appendonly.aof")];
}

function aofBytes(server: Server): number {
  return aofFiles(server).reduce((sum, file) => sum + statSync(file).size, 0);
}

describe("replicas", () => {
  const primary = useServer({ listens: true });
  const replica = useServer({ listens: true });

  it("receive every bitmap in a full synchronization, and every change after it", async () => {
    await loadSamples(primary);
    await replicate(replica, primary);
    await inStep(replica, primary);
    await expectSamples(replica);
    await primary.run("FLUSHALL");
    await loadSamples(primary);
    for (const family of families) {
      const roar = roarOn(primary, family);
      await roar.run("SETINTARRAY", key(family, "one"), 9, 5);
      await roar.run("BITOP", "DIFF", key(family, "one"), key(family, "one"), "none");
      await roar.run("BITOP", "NOT", key(family, "one"), key(family, "one"), 7); // 0 to 8 without 5
      await roar.run("BITOP", "AND", key(family, "one"), key(family, "one"), key(family, "one"));
      await primary.run("EVAL", "return redis.call(unpack(ARGV))", 1, key(family, "one"), roar.name("SETINTARRAY"), key(family, "one"), 7);
    }
    for (const command of valueWrites) await primary.run(...command);
    await inStep(replica, primary);
    await expectSamples(replica);
    expect(await replica.run("DEBUG", "DIGEST")).toBe(await primary.run("DEBUG", "DIGEST"));
    await stopReplicating(replica);
  });

  it("answer reads and refuse writes", async () => {
    const roar = roarOn(replica, R);
    await roarOn(primary, R).load("k", [1, 2]);
    await replicate(replica, primary);
    await inStep(replica, primary);
    expect(await roar.run("BITCOUNT", "k")).toBe(2);
    expect(await roar.refusal("SETBIT", "k", 1, 0)).toMatch(/^READONLY/);
    await stopReplicating(replica);
  });
});

describe("an RDB file written by the C module", () => {
  // A server before 7.0 does not read the file's RDB version.
  it.skipIf(!isSeven)("is loaded, and holds the same members after it is saved again", async () => {
    const data = new URL("../data/redis-roaring-1.7.4", import.meta.url).pathname;
    const keys = JSON.parse(readFileSync(`${data}.json`, "utf8")) as Record<string, [number | string, number, number][]>;
    const server = new Server();
    copyFileSync(`${data}.rdb`, join(server.directory, "dump.rdb"));
    await server.start();
    for (const round of ["as loaded", "saved and reloaded"]) {
      expect(await server.run("DBSIZE")).toBe(Object.keys(keys).length);
      for (const [name, runs] of Object.entries(keys)) {
        const roar = roarOn(server, name.startsWith(R64.name) ? R64 : R);
        const members = runs.flatMap(([from, count, step]) => range(0, count, step).map((m) => member(BigInt(from) + BigInt(m))));
        expectEqual(await roar.members(name), members, `${name}, ${round}`);
        expect(await roar.run("BITCOUNT", name)).toBe(members.length);
      }
      await server.run("DEBUG", "RELOAD");
    }
    await server.stop();
  });
});

describe("an RDB file with an invalid payload", () => {
  it("is not loaded, and the log names the invalid payload", async () => {
    const server = await Server.start({ config: ["rdbchecksum no"] });
    await roarOn(server, R).load("k", [1, 2, 3]);
    await server.run("SAVE");
    const path = join(server.directory, "dump.rdb");
    const file = readFileSync(path);
    const payload = croaringArray([1, 2, 3]);
    const at = file.indexOf(payload);
    expect(at).toBeGreaterThan(0);
    file[at] = 9;
    await server.kill();
    writeFileSync(path, file);
    await expect(server.start()).rejects.toThrow(/invalid reroaring payload/);
    server.remove();
  });
});
