// The fields of INFO.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { families, R, R64, range } from "../support/family.ts";
import { waitUntil } from "../support/waiting.ts";
import { roarOn } from "../support/roar.ts";
import { cpuLevel, projectRoot } from "../support/server.ts";
import { listedModule, useServer } from "../support/suite.ts";
import { serverName } from "../support/version.ts";

describe("INFO", () => {
  const server = useServer();
  const text = async (field: string): Promise<string> => server.info(`redis-roar_${field}`);
  const number = async (field: string): Promise<number> => Number(await text(field));

  it("counts the bitmaps of both families and their bytes", async () => {
    expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
    for (const family of families) await roarOn(server, family).load(`k:${family.name}`, [1, 70_000, 4_000_000_000]);
    await server.run("COPY", "k:R", "copy");
    await roarOn(server, R).run("BITOP", "NOT", "not", "k:R");
    expect(await number("bitmaps")).toBe(4);
    const usage = await Promise.all(["k:R", "k:R64", "copy", "not"].map((key) => server.usage(key)));
    const sum = usage.reduce((all, bytes) => all + bytes, 0);
    expect(await number("arena_bytes")).toBeGreaterThan(4 * 48);
    expect(await number("arena_bytes")).toBeLessThanOrEqual(sum); // MEMORY USAGE includes the keys, except on Valkey 8.1
    await server.run("DEL", "copy");
    await roarOn(server, R).run("SETINTARRAY", "k:R", 5);
    expect(await number("bitmaps")).toBe(3);
    await server.run("DEBUG", "RELOAD");
    expect(await number("bitmaps")).toBe(3);
    await server.run("FLUSHALL", "SYNC");
    expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
  });

  it("follows bitmaps that grow, shrink, or are freed by a background thread", async () => {
    const roar = roarOn(server, R64);
    await roar.run("SETBITARRAY", "k", "0001".repeat(20_000_000));  // 10 MB of bitsets
    const full = await number("arena_bytes");
    expect(full).toBeGreaterThan(9_000_000);
    await roar.run("CLEARRANGE", "k", 100, 80_000_000);
    expect(await number("arena_bytes")).toBeLessThan(1000);
    await roar.run("SETBITARRAY", "k", "0001".repeat(20_000_000));
    expect(await number("arena_bytes")).toBe(full);
    const freed = await server.number("lazyfreed_objects");
    await server.run("UNLINK", "k");
    await waitUntil(async () => (await server.number("lazyfreed_objects")) === freed + 1);      // counted when the thread has finished
    expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
  });

  it("counts exactly while a background thread frees bitmaps and commands create others", async () => {
    const create = `for i = 1, 50000 do redis.call('R.SETBIT', KEYS[1] .. i, i, 1) end`;
    const churn = `for i = 1, 100000 do redis.call('R.SETBIT', KEYS[1], i, 1); redis.call('DEL', KEYS[1]) end`;
    for (let round = 0; round < 3; round++) {
      await server.run("EVAL", create, 1, "k");
      expect(await number("bitmaps")).toBe(50_000);
      await server.connection.pipeline([["FLUSHALL", "ASYNC"], ["EVAL", churn, 1, "other"]]);
      await waitUntil(async () => (await server.number("lazyfree_pending_objects")) === 0);
      expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
    }
  });

  it("counts refused payloads", async () => {
    const before = await number("payloads_refused");
    await roarOn(server, R).refusal("IMPORT", "k", "rubbish");
    await roarOn(server, R64).refusal("IMPORT", "k", "");
    expect(await number("payloads_refused")).toBe(before + 2);
  });

  it("names the version of package.json, which MODULE LIST shows as a number", async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
    const [major, minor, patch] = version.split(".").map(Number);
    expect(await text("version")).toBe(version);
    expect((await listedModule(server))!.get("ver")).toBe(major! * 10000 + minor! * 100 + patch!);
  });

  it("names the CPU level, and reports no traps and no damaged bitmaps", async () => {
    expect(await text("cpu_level")).toMatch(cpuLevel ? new RegExp(`^${cpuLevel}$`) : /^(v[234]|neon)$/);
    expect([await text("traps"), await text("bitmaps_damaged")]).toEqual(["0", "0"]);
  });

  it("counts bitmaps that active defragmentation moves, which keep their members", async ({ skip }) => {
    expect(await number("bitmaps_defragmented")).toBe(0);
    const refusal = await server.run("CONFIG", "SET", "activedefrag", "yes").then(() => undefined, ({ message }: Error) => message);
    if (refusal?.includes("server compiled with a modified Jemalloc")) skip(`${serverName}: its allocator cannot defragment`);
    expect(refusal).toBeUndefined();
    await server.run("CONFIG", "SET", "active-defrag-ignore-bytes", "1", "active-defrag-threshold-lower", "0",
      "active-defrag-cycle-min", "60", "active-defrag-cycle-max", "75");
    const roar = roarOn(server, R), keys = 20_000;
    const fill = (key: number) => [roar.name("SETINTARRAY"), `k${key}`, ...range(key, 40, 3)];
    for (let from = 0; from < keys; from += 1000) await server.connection.pipeline(range(from, 1000).map(fill));
    const drop = range(0, keys).filter((key) => key % 8).map((key) => `k${key}`);
    for (let from = 0; from < drop.length; from += 1000) await server.run("DEL", ...drop.slice(from, from + 1000));
    await waitUntil(async () => (await number("bitmaps_defragmented")) > 0);
    await server.run("CONFIG", "SET", "activedefrag", "no");
    for (let key = 0; key < keys; key += 8) expect(await roar.members(`k${key}`)).toEqual(range(key, 40, 3));
  });
});
