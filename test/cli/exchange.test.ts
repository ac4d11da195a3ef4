// Bitmaps of ClickHouse, Doris and StarRocks, as load reads and unload writes them. None of these systems runs here: the bytes follow their
// sources, which cli/src/exchange.ts names.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { range } from "../support/family.ts";
import { containersOf, portable32, portable64 } from "../support/format.ts";
import { seeded } from "../support/random.ts";
import { bytes, FAR, given, many, parts, state, stream } from "../support/states.ts";
import { useServer } from "../support/suite.ts";
import { type Ended, toolOn } from "../support/tool.ts";

const server = useServer();
let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "redis-roar-")); });
afterAll(() => rmSync(folder, { recursive: true }));

const load = (content: Buffer | string, key: string, system: string, ...args: string[]): Promise<Ended> => {
  const file = join(folder, "state");
  writeFileSync(file, content);
  return toolOn(server, "load", key, file, "--format", system, ...args);
};

describe("load --format", () => {
  it.each(given)("takes %s of %s, also as text", async (_, system, content, members, ...args) => {
    for (const form of [content, content.toString("base64"), `${content.toString("base64")}\n`]) {
      await server.run("FLUSHALL");
      if (form.length === 0) continue;
      expect(await load(form, "k", system, ...args)).toMatchObject({ status: 0, error: "", out: expect.stringMatching(/^[\d,]+ ids loaded; the key has/) });
      expect((await toolOn(server, "unload", "k")).out === members.map((one) => `${one}\n`).join("")).toBe(true);
    }
  });

  it.each<[why: RegExp, system: string, content: Buffer | string, status: number]>([
    [/no bytes/, "doris", "", 1], [/its first byte is 7$/m, "clickhouse", bytes("07 00"), 1], [/its first byte is 9$/m, "doris", bytes("09"), 1],
    [/it has 3 bytes for 2 ids/, "clickhouse", bytes("00 02 010203"), 1], [/cut short/, "clickhouse", bytes("00"), 1], [/it has 2 bytes in place of 9/, "clickhouse", bytes("01 09 0000"), 1],
    [/a number is too long/, "clickhouse", bytes("01 ffffffffffffffff"), 1], [/it has 4 bytes for 1 ids/, "doris", bytes("03 00000000"), 1],
    [/one of its parts is no roaring bitmap/, "doris", bytes("04 01 00000000 01020304"), 1], [/bytes too many/, "doris", Buffer.concat([Buffer.of(4, 2), parts, Buffer.of(0)]), 1],
    [/cut short/, "doris", Buffer.concat([Buffer.of(4, 2), parts.subarray(0, -1)]), 1], [/load it with --wide/, "doris", Buffer.concat([Buffer.of(4, 2), parts]), 2],
    [/above 2\^32 - 1: load it with --wide/, "clickhouse", bytes("00 01 0000000001000000"), 2], [/truncated|cookie|roaring/, "doris", Buffer.concat([Buffer.of(2), stream.subarray(0, -1)]), 1],
  ])("refuses what is none: %s, of %s", async (why, system, content, status) => {
    expect(await load(content, "bad", system)).toMatchObject({ status, out: "", error: expect.stringMatching(why) });
    expect(await server.run("EXISTS", "bad")).toBe(0);
  });

  it("adds to a key, and to shards", async () => {
    await server.run("FLUSHALL");
    await load(bytes("00 02 0102"), "k", "clickhouse");
    expect(await load(state(stream), "k", "clickhouse")).toMatchObject({ status: 0 });
    expect(await server.run("R.BITCOUNT", "k")).toBe(many.length);
    expect(await load(state(stream), "s", "clickhouse", "--shards", "3", "--by", "hash")).toMatchObject({ status: 0, error: "" });
    expect((await toolOn(server, "unload", "s", "--shards", "3", "--by", "hash")).out.split("\n")).toHaveLength(many.length + 1);
  });
});

describe("unload --format", () => {
  const unload = async (key: string, system: string, ...args: string[]): Promise<Buffer> => {
    const file = join(folder, "written");
    expect(await toolOn(server, "unload", key, "--format", system, "-o", file, ...args)).toEqual({ status: 0, out: "", error: "" });
    return readFileSync(file);
  };

  it("writes what these systems read", async () => {
    await server.run("FLUSHALL");
    await server.connection.pipeline([
      ["R.SETBIT", "none", 1, 0], ["R.SETINTARRAY", "one", 5], ["R.SETINTARRAY", "two", 5, 256], ["R64.SETINTARRAY", "wide", 5, String(FAR)],
      ["R64.SETINTARRAY", "far", String(FAR)], ["R.SETINTARRAY", "many", ...range(0, 33).map((i) => i * 3)], ["R64.SETINTARRAY", "narrow", 7, 8],
    ]);
    const written = async (system: string, key: string): Promise<string> => (await unload(key, system)).toString("hex");
    expect(await written("clickhouse", "none")).toBe("0000");
    expect(await written("clickhouse", "two")).toBe("00020500000000010000");
    expect(await written("clickhouse", "wide")).toBe("000205000000000000000000000001000000");
    expect(await written("doris", "none")).toBe("00");
    expect(await written("doris", "one")).toBe("0105000000");
    expect(await written("starrocks", "far")).toBe("030000000001000000");
    const list = portable32(containersOf(range(0, 33).map((i) => i * 3)));
    expect((await unload("many", "clickhouse")).equals(Buffer.concat([Buffer.of(1, list.length), list]))).toBe(true);
    expect((await unload("many", "doris")).equals(Buffer.concat([Buffer.of(2), list]))).toBe(true);
    expect((await unload("narrow", "doris")).equals(Buffer.concat([Buffer.of(2), portable32(containersOf([7, 8]))]))).toBe(true);
    const both = portable64([{ high: 0, containers: containersOf([5]) }, { high: 1, containers: containersOf([0]) }]);
    expect((await unload("wide", "doris")).equals(Buffer.concat([Buffer.of(4, 2), both.subarray(8)]))).toBe(true);
    expect((await unload("many", "doris", "--base64")).toString()).toBe(`${Buffer.concat([Buffer.of(2), list]).toString("base64")}\n`);
  });

  it("and load --format give back the same members", seeded(async (random) => {
    for (const prefix of ["R", "R64"]) {
      for (const count of [1, 32, 33, 4000]) {
        await server.run("FLUSHALL");
        const spread = random.pick([count * 2, 2 ** 20, 2 ** 32]);
        const ids = range(0, count).map(() => BigInt(random.below(spread)) * (prefix === "R64" && random.chance(0.3) ? 2n ** 31n + 1n : 1n));
        await server.run(`${prefix}.SETINTARRAY`, "k", ...ids.map(String));
        for (const system of ["clickhouse", "doris", "starrocks"]) {
          const text = await unload("k", system, "--base64");
          expect(await load(text, "copy", system, ...(prefix === "R64" ? ["--wide"] : []))).toMatchObject({ status: 0, error: "" });
          expect(await server.run(`${prefix}.CONTAINS`, "k", "copy", "EQ")).toBe(1);
          await server.run("DEL", "copy");
        }
      }
    }
  }));

  it.each([
    [["load", "k", "--format", "doris", "--roaring"], /--roaring and --format exclude/], [["load", "k", "--format", "doris", "--csv", "a"], /--csv excludes/],
    [["load", "k", "--format", "oracle"], /Allowed choices are clickhouse, doris, starrocks/], [["unload", "k", "--format", "doris", "--ranges"], /exclude each other/],
    [["unload", "k", "--base64"], /--base64 is for/], [["unload", "k", "--format", "doris", "--shards", "2"], /writes one key/],
  ])("%j is refused", async (args, why) => {
    expect(await toolOn(server, ...args)).toMatchObject({ status: 2, out: "", error: expect.stringMatching(why) });
  });
});
