// What INFO tells of the module.

import { describe, expect, it } from "vitest";
import { families, R, R64 } from "../support/family.ts";
import { waitUntil } from "../support/replication.ts";
import { roarOn } from "../support/roar.ts";
import { cpuLevel } from "../support/server.ts";
import { useServer } from "../support/suite.ts";

describe("INFO", () => {
  const server = useServer();
  const told = async (field: string): Promise<string | undefined> => server.info(`redis-roar_${field}`);
  const number = async (field: string): Promise<number> => Number(await told(field));

  it("counts bitmaps of both families and their bytes", async () => {
    expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
    for (const family of families) await roarOn(server, family).load(`k:${family.name}`, [1, 70_000, 4_000_000_000]);
    await server.run("COPY", "k:R", "copy");
    await roarOn(server, R).run("BITOP", "NOT", "not", "k:R");
    expect(await number("bitmaps")).toBe(4);
    const usage = await Promise.all(["k:R", "k:R64", "copy", "not"].map((key) => server.run("MEMORY", "USAGE", key)));
    const sum = (usage as number[]).reduce((all, bytes) => all + bytes, 0);
    expect(await number("arena_bytes")).toBeGreaterThan(4 * 48);
    expect(await number("arena_bytes")).toBeLessThan(sum);        // which counts the keys too
    await server.run("DEL", "copy");
    await roarOn(server, R).run("SETINTARRAY", "k:R", 5);
    expect(await number("bitmaps")).toBe(3);
    await server.run("DEBUG", "RELOAD");
    expect(await number("bitmaps")).toBe(3);
    await server.run("FLUSHALL");
    expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
  });

  it("follows a bitmap that grows and shrinks, and one that a thread frees", async () => {
    const roar = roarOn(server, R64);
    await roar.run("SETBITARRAY", "k", "0001".repeat(20_000_000));  // 10 MB of bitsets
    const full = await number("arena_bytes");
    expect(full).toBeGreaterThan(9_000_000);
    await roar.run("CLEARRANGE", "k", 100, 80_000_000);
    expect(await number("arena_bytes")).toBeLessThan(1000);
    await roar.run("SETBITARRAY", "k", "0001".repeat(20_000_000));
    expect(await number("arena_bytes")).toBe(full);
    const freed = Number(await server.info("lazyfreed_objects"));
    await server.run("UNLINK", "k");
    await waitUntil(async () => Number(await server.info("lazyfreed_objects")) === freed + 1);      // counted once it is done
    expect([await number("bitmaps"), await number("arena_bytes")]).toEqual([0, 0]);
  });

  it("counts payloads that were refused", async () => {
    const before = await number("payloads_refused");
    await roarOn(server, R).refusal("IMPORT", "k", "rubbish");
    await roarOn(server, R64).refusal("IMPORT", "k", "");
    expect(await number("payloads_refused")).toBe(before + 2);
  });

  it("names the CPU level, and counts traps", async () => {
    expect(await told("cpu_level")).toMatch(cpuLevel ? new RegExp(`^${cpuLevel}$`) : /^(v[234]|neon)$/);
    expect([await told("traps"), await told("bitmaps_damaged")]).toEqual(["0", "0"]);
  });

  it("tells when bitmaps are moved by defragmentation, which changes none", async () => {
    const active = await server.run("CONFIG", "SET", "activedefrag", "yes").then(() => true, () => false);
    if (!active) return expect(await number("bitmaps_defragmented")).toBe(0);     // the server's allocator cannot
    await server.run("CONFIG", "SET", "active-defrag-ignore-bytes", "1", "active-defrag-threshold-lower", "0",
      "active-defrag-cycle-min", "60", "active-defrag-cycle-max", "75");
    const roar = roarOn(server, R), keys = 20_000;
    const fill = (key: number) => [roar.name("SETINTARRAY"), `k${key}`, ...Array.from({ length: 40 }, (_, i) => key + i * 3)];
    for (let from = 0; from < keys; from += 1000) await server.connection.pipeline(Array.from({ length: 1000 }, (_, i) => fill(from + i)));
    const drop = Array.from({ length: keys }, (_, key) => key).filter((key) => key % 8);
    for (let from = 0; from < drop.length; from += 1000) await server.run("DEL", ...drop.slice(from, from + 1000).map((key) => `k${key}`));
    await waitUntil(async () => (await number("bitmaps_defragmented")) > 0);
    await server.run("CONFIG", "SET", "activedefrag", "no");
    for (let key = 0; key < keys; key += 8) expect(await roar.members(`k${key}`)).toEqual(Array.from({ length: 40 }, (_, i) => key + i * 3));
  });
});
