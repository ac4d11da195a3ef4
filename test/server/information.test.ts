// The fields of INFO.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callsOf, isKey, rows } from "../support/calls.ts";
import { families, otherThan, R, R64, range } from "../support/family.ts";
import { type Argument, bytesOf } from "../support/resp.ts";
import { waitUntil } from "../support/waiting.ts";
import { roarOn } from "../support/roar.ts";
import { cpuLevel, projectRoot, withDebug } from "../support/server.ts";
import { listedModule, useServer } from "../support/suite.ts";
import { serverName } from "../support/version.ts";

describe("INFO of each family", () => {
  const server = useServer({ moduleArguments: [...withDebug, "THREADS", "0"] });
  const TYPES = { R: "reroaring", R64: "roaring64" };

  /** Compares keys with TYPE, and bytes with the sum over both families, which is counted elsewhere. */
  async function expectRight(what: string): Promise<void> {
    const keys = (await server.run("KEYS", "*")) as string[], types = await Promise.all(keys.map((key) => server.run("TYPE", key)));
    const [r, r64, rBytes, r64Bytes, bitmaps, bytes] = await Promise.all(
      ["r_keys", "r64_keys", "r_bytes", "r64_bytes", "bitmaps", "arena_bytes"].map((field) => server.number(`redis-roar_${field}`)));
    expect([r, r64], what).toEqual(Object.values(TYPES).map((type) => types.filter((other) => other === type).length));
    expect([r! + r64!, rBytes! + r64Bytes!], what).toEqual([bitmaps, bytes]);
    if (r === 0) expect(rBytes, what).toBe(0);
    if (r64 === 0) expect(r64Bytes, what).toBe(0);
  }

  it("counts keys and their bytes, whatever command changes them", async () => {
    for (const { row, family, name } of rows) {
      for (const call of callsOf(row, family)) {
        await server.run("FLUSHALL", "SYNC");
        for (const key of new Set(call.filter((word) => isKey(word) && word !== "w:none"))) {
          await (key.toString().startsWith("s") ? server.run("SET", key, "text") : roarOn(server, family).load(key.toString(), range(3, 3000, 7)));
        }
        await server.run(name, ...call);
        await expectRight([name, ...call].join(" "));
        // What a command stores replaces a bitmap of the other family, or a string.
        const stored = call.find((word) => /^o:/.test(String(word)));
        if (!stored) continue;
        for (const old of [["SET", stored, "text"], [`${otherThan(family).name}.SETBIT`, stored, 70_000, 1]] as const) {
          await server.run("DEL", stored);
          await server.run(...old);
          await server.run(name, ...call);
          await expectRight([...old, name, ...call].join(" "));
        }
      }
    }
  });

  it("follows keys that the server copies, replaces, loads and frees, and writes that fail", async () => {
    for (const family of families) {
      const roar = roarOn(server, family), key = family.name;
      await roar.load(key, range(0, 20_000, 3));
      const steps: readonly Argument[][] = [
        ["COPY", key, "copy"], ["RENAME", "copy", "renamed"], ["COPY", key, "renamed", "REPLACE"], ["SET", "renamed", "text"],
        [`${key}.TOBITMAP`, "text", key], [`${key}.FROMBITMAP`, "text", "text"], [`${key}.TOBITMAP`, "text", "text"],
        ["RESTORE", "restored", 0, bytesOf(await server.run("DUMP", key))], ["PEXPIRE", "restored", 1], [`${key}.CLEARRANGE`, key, 0, 50_000],
        [`${key}.OPTIMIZE`, key], [`${key}.SETRANGE`, key, 5, 900_000], [`${key}.CLEAR`, key], ["DEBUG", "RELOAD"],
      ];
      for (const step of steps) {
        await server.run(...step);
        if (step[0] === "PEXPIRE") await waitUntil(async () => (await server.run("EXISTS", "restored")) === 0);
        await expectRight(step.slice(0, 3).join(" "));
      }
      await expect(server.run(`${key}.IMPORT`, "none", "rubbish")).rejects.toThrow();
      await expect(server.run(`${otherThan(family).name}.SETBIT`, key, 1, 1)).rejects.toThrow(/^WRONGTYPE/);
      await expectRight("errors");
    }
    await server.run("FLUSHALL", "SYNC");
    await expectRight("FLUSHALL");
  });
});

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
