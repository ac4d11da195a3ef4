// load, unload, inspect and watch, as processes.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as streamText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layoutOf } from "../../client/src/sharded/layout.ts";
import { R, R64 } from "../../client/src/index.ts";
import { type Inspection, pictureOf } from "../../cli/src/inspect.ts";
import { Layout, type Sharding } from "../../cli/src/sharded.ts";
import { countText } from "../../cli/src/text.ts";
import { range } from "../support/family.ts";
import { containersOf, croaringArray, croaringContainers, legacy64, portable32, portable64 } from "../support/format.ts";
import { random, seed } from "../support/random.ts";
import { bytesOf } from "../support/resp.ts";
import { freePort } from "../support/server.ts";
import { useCluster, useServer } from "../support/suite.ts";
import { type Ended, toolFile, toolHere, toolOn, toolFed } from "../support/tool.ts";
import { waitUntil } from "../support/waiting.ts";

const server = useServer();
let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "redis-roar-")); });
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the tool with text in a file. */
const given = (input: string, command: string, key: string, ...args: string[]): Promise<Ended> => {
  const file = join(folder, "input");
  writeFileSync(file, input);
  return toolOn(server, command, key, file, ...args);
};

const fed = (input: string, ...args: string[]): Promise<Ended> => toolFed(server, input, ...args);

describe("load and unload", () => {
  it("move lines, in batches of any size, and back", async () => {
    expect(await fed("7\n\r\n70000\r\n8\n4294967295", "load", "k", "--batch", "2")).toMatchObject({ status: 0, error: "" });
    expect(await server.run("R.GETINTARRAY", "k")).toEqual([7, 8, 70_000, 4_294_967_295]);
    expect(await toolOn(server, "unload", "k")).toEqual({ status: 0, out: "7\n8\n70000\n4294967295\n", error: "" });
    await given("18446744073709551615\n1\n", "load", "wide", "--wide");
    expect(await toolOn(server, "unload", "wide")).toMatchObject({ out: "1\n18446744073709551615\n" });
    expect(await given("1\n2\n3\n", "load", "rest", "--skip", "2")).toMatchObject({ status: 0 });
    expect(await server.run("R.GETINTARRAY", "rest")).toEqual([3]);
    expect(await given("1\n2\n", "load", "rest", "--skip", "3")).toMatchObject({ status: 2, error: expect.stringMatching(/the input has only 2 ids.*\n$/) });
    expect(await given("", "load", "nothing")).toMatchObject({ status: 0, out: expect.stringMatching(/^0 ids loaded.* 0 members\n$/) });
    expect(await server.run("EXISTS", "nothing")).toBe(0);
  });

  it("move ranges, and back", async () => {
    expect(await given("\ufeff10-19\r\n\n30-31\n5\n20-22\n4294967295-4294967295", "load", "k", "--ranges")).toEqual({
      status: 0, error: "", out: "5 ranges loaded; the key has 17 members\n",
    });
    expect(await toolOn(server, "unload", "k", "--ranges")).toEqual({ status: 0, error: "", out: "5-5\n10-22\n30-31\n4294967295-4294967295\n" });
    expect(await given("0-18446744073709551615\n", "load", "all", "--wide", "--ranges")).toMatchObject({ status: 0, error: "" });
    expect(await toolOn(server, "unload", "all", "--ranges")).toEqual({ status: 0, error: "", out: "0-18446744073709551615\n" });
    await server.run("R64.CLEARBITS", "all", 7);
    expect(await toolOn(server, "unload", "all", "--ranges")).toMatchObject({ out: "0-6\n8-18446744073709551615\n" });
    await server.connection.pipeline([["SETBIT", "native", 3, 1], ["SETBIT", "native", 4, 1], ["SADD", "set", 9, 7, 8]]);
    expect(await toolOn(server, "unload", "native", "--ranges")).toMatchObject({ out: "3-4\n" });
    expect(await toolOn(server, "unload", "set", "--ranges")).toMatchObject({ out: "7-9\n" });
    expect(await toolOn(server, "unload", "none", "--ranges")).toMatchObject({ status: 1, out: "", error: expect.stringContaining("no such key") });
    const far = Array.from({ length: 25_000 }, (_, i) => 3 * i);
    for (let at = 0; at < far.length; at += 5000) await server.run("R.APPENDINTARRAY", "far", ...far.slice(at, at + 5000));
    expect((await toolOn(server, "unload", "far", "--ranges")).out).toBe(far.map((id) => `${id}-${id}\n`).join(""));
  });

  it("refuse lines that are no ranges", async () => {
    for (const line of ["x", "1-", "-1", "5-4", "1-2-3", "0-18446744073709551616", "1..2"]) {
      expect(await given(`1-2\n${line}\n`, "load", "k", "--ranges", "--wide"), line)
        .toMatchObject({ status: 1, out: "", error: expect.stringMatching(/line 2: ".*" is not a range of ids/) });
    }
    expect(await given("4294967290-4294967296\n", "load", "k", "--ranges")).toMatchObject({ status: 2, error: expect.stringContaining("--wide") });
    for (const other of [["--csv", "id"], ["--roaring"], ["--skip", "2"], ["--shards", "2"]]) {
      expect(await given("1-2\n", "load", "k", "--ranges", ...other)).toMatchObject({ status: 2, error: expect.stringContaining("excludes") });
    }
    expect(await toolOn(server, "unload", "k", "--ranges", "--roaring")).toMatchObject({ status: 2 });
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  it("say that a file cannot be written, and leave it as it was if there is nothing to write", async () => {
    await server.connection.pipeline([["R.SETINTARRAY", "k", 1, 2], ["SET", "text:{0}", "x"]]);
    const kept = join(folder, "kept"), nowhere = join(folder, "none", "file");
    writeFileSync(kept, "old");
    for (const format of [[], ["--roaring"]]) {
      expect(await toolOn(server, "unload", "k", ...format, "-o", nowhere)).toMatchObject({ status: 1, out: "", error: expect.stringContaining("ENOENT") });
    }
    for (const args of [["missing"], ["text", "--shards", "2"]]) {
      expect(await toolOn(server, "unload", ...args, "-o", kept)).toMatchObject({ status: 1, out: "" });
    }
    expect(readFileSync(kept, "utf8")).toBe("old");
    expect(await toolOn(server, "unload", "k", "-o", kept)).toEqual({ status: 0, out: "", error: "" });
    expect(readFileSync(kept, "utf8")).toBe("1\n2\n");
    expect(await toolOn(server, "unload", "none", "--shards", "2", "-o", kept)).toMatchObject({ status: 0 });
    expect(readFileSync(kept, "utf8")).toBe("");
  });

  it("name the line that is no id, and where to go on", async () => {
    for (const [input, line] of [["1\n2\n2 3\n", 3], ["1\n18446744073709551616\n", 2], ["1\n1e3", 2]] as const) {
      expect(await given(input, "load", "bad", "--wide", "--batch", "1"), input)
        .toMatchObject({ status: 1, out: "", error: expect.stringMatching(new RegExp(`^redis-roar: line ${line}: .*; continue with --skip ${line - 1}\\n$`)) });
    }
    expect(await given("4294967296\n", "load", "narrow")).toMatchObject({ status: 2, error: expect.stringContaining("--wide") });
    expect(await server.run("EXISTS", "narrow")).toBe(0);
  });

  it("read a column of CSV, and portable files", async () => {
    const csv = join(folder, "a.csv"), roaring = join(folder, "a.roaring");
    writeFileSync(csv, '\ufeffname,user id\n"a, b",5\n"c\nd",6\n,\n');
    expect(await toolOn(server, "load", "k", csv, "--csv", "user id")).toMatchObject({ status: 0, error: "" });
    expect(await toolOn(server, "load", "k", csv, "--csv", "id")).toMatchObject({ status: 2, error: expect.stringContaining('"user id"') });
    expect(await toolOn(server, "unload", "k", "--roaring", "-o", roaring)).toMatchObject({ status: 0, error: "" });
    expect(await toolOn(server, "load", "copy", roaring, "--roaring")).toMatchObject({ status: 0, error: "" });
    expect(await server.run("R.GETINTARRAY", "copy")).toEqual([5, 6]);
    writeFileSync(csv, "id,name,id\n1,a,2\n");
    expect(await toolOn(server, "load", "twice", csv, "--csv", "id")).toMatchObject({ status: 2, error: 'redis-roar: 2 columns are named "id"\n' });
    expect(await toolOn(server, "load", "twice", csv, "--csv", "name")).toMatchObject({ status: 1, error: expect.stringContaining('row 2: "a" is not an id') });
  });

  it("skip a byte order mark, however the input is cut", async () => {
    const mark = Buffer.from("\ufeff"), text = Buffer.from("7\r\n8\n");
    const inputs = [[mark, text], [mark.subarray(0, 1), mark.subarray(1), text], [Buffer.concat([mark, text])], [mark]];
    for (const [i, input] of inputs.entries()) {
      const args = [toolFile, "load", `marked:${i}`, "-s", server.socket];
      const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "pipe"] }), ended = once(child, "exit"), errors = streamText(child.stderr);
      for (const part of input) {
        child.stdin.write(part);
        await sleep(50);
      }
      child.stdin.end();
      expect([await errors, await ended]).toEqual(["", [0, null]]);
      expect(await server.run("R.GETINTARRAY", `marked:${i}`)).toEqual(i === 3 ? [] : [7, 8]);
    }
    expect(await given("7\n\ufeff8\n", "load", "within")).toMatchObject({ status: 1, error: expect.stringContaining("line 2") });
    expect(await given("7\r\n1\r2\r\n", "load", "within")).toMatchObject({ status: 1, error: expect.stringContaining("line 2") });
  });

  it("load roaring files in every form that IMPORT takes, also into shards", async () => {
    const low = [1, 2, 70_000, ...range(200_000, 3000), ...range(400_000, 5000, 3)], far = 5 * 2 ** 32;
    const stream = containersOf(low), buckets = [{ high: 0, containers: stream }, { high: 5, containers: containersOf([9]) }];
    const narrow = [portable32(stream), croaringContainers(stream), croaringArray([...low].reverse())];
    const wide = [portable64(buckets), legacy64(buckets, 0), legacy64(buckets, 1)], file = join(folder, "form");
    const cases = [
      ...narrow.flatMap((payload) => [[payload, low, []], [payload, low, ["--wide"]]] as const),
      ...wide.map((payload) => [payload, [...low, far + 9], ["--wide"]] as const),
    ];
    for (const [i, [payload, members, args]] of cases.entries()) {
      const text = payload.toString("base64"), shards = i % 2 === 0 ? [] : ["--shards", "3", "--by", "hash"];
      for (const form of [payload, i % 3 === 0 ? `${text.replaceAll(/.{76}/g, "$&\n")}\n` : payload.toString("base64url")]) {
        writeFileSync(file, form);
        const key = `form:${i}:${typeof form}`, count = new RegExp(`^${countText(BigInt(members.length))} ids loaded; .* ${countText(BigInt(members.length))} members`);
        expect(await toolOn(server, "load", key, file, "--roaring", ...shards, ...args)).toMatchObject({ status: 0, error: "", out: expect.stringMatching(count) });
        const { out } = await toolOn(server, "unload", key, ...shards, ...(shards.length > 0 ? args : []));
        expect(out === members.map((one) => `${one}\n`).join(""), key).toBe(true);
      }
    }
  });

  it("say of a file that is no roaring bitmap of the family what it is", async () => {
    await server.connection.pipeline([["R.SETINTARRAY", "k", 1, 2, 70_000], ["R64.SETINTARRAY", "wide", 1, "5000000000"]]);
    const [narrow, wide, dump] = await Promise.all([["R.EXPORT", "k"], ["R64.EXPORT", "wide"], ["DUMP", "k"]].map(async (words) => bytesOf(await server.run(...words))));
    const u32 = (...numbers: number[]): Buffer => Buffer.from(Uint32Array.from(numbers).buffer);
    const cases: [bytes: Buffer | string, status: number, why: RegExp, ...string[]][] = [
      [wide!, 2, /a bitmap of 64 bits: load it with --wide/], [wide!.toString("base64"), 2, /a bitmap of 64 bits: load it with --wide/],
      [Buffer.concat([Buffer.of(1, 0, 0, 0, 1, 0, 0, 0, 0), narrow!]), 2, /a bitmap of 64 bits: load it with --wide/],
      [Buffer.concat([narrow!, Buffer.from("\n")]), 1, /trailing bytes, the last of which is a line feed/], [Buffer.concat([wide!, Buffer.from("\r\n")]), 1, /a line feed/, "--wide"],
      [narrow!.toString("hex"), 1, /hexadecimal/], [`"${Array.from(narrow!, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"\n`, 1, /what redis-cli shows/],
      [dump!, 1, /the reply of DUMP/], ["", 1, /no bytes/], [narrow!.subarray(0, -1), 1, /truncated/],
      [narrow!.subarray(0, -1).toString("base64"), 1, /it is Base64 text, and it is truncated/],
      [Buffer.from(narrow!.toString("base64")).toString("base64"), 1, /Base64 text of another text/],
      [Buffer.concat([u32(5, 7), u32((1 << 15) | 13_766)]), 1, /frozen/], [Buffer.concat([Buffer.of(1, narrow!.length), narrow!]), 1, /ClickHouse/],
      ["1\n2\n3\n", 2, /an id on each line: load it without --roaring/], ["neither this\n", 1, /an unknown cookie/],
    ];
    const file = join(folder, "foreign");
    for (const [bytes, status, why, ...args] of cases) {
      writeFileSync(file, bytes);
      for (const shards of [[], ["--shards", "2"]]) {
        expect(await toolOn(server, "load", "copy", file, "--roaring", ...args, ...shards), String(why)).toMatchObject({ status, out: "", error: expect.stringMatching(why) });
      }
    }
    expect(await server.run("EXISTS", "copy", "copy:{0}", "copy:{1}")).toBe(0);
  });

  it("read pipes that have a name, and end although nothing comes from one", async () => {
    const pipe = join(folder, "pipe"), args = [toolFile, "load", "piped", pipe, "-s", server.socket];
    execFileSync("mkfifo", [pipe]);
    const child = spawn(process.execPath, args, { stdio: "inherit" }), ended = once(child, "exit");
    writeFileSync(pipe, "3\n4\n");
    expect(await ended).toEqual([0, null]);
    expect(await server.run("R.GETINTARRAY", "piped")).toEqual([3, 4]);
    for (const extra of [[], ["--roaring"]]) {
      const waiting = spawn(process.execPath, [...args, ...extra], { stdio: ["ignore", "ignore", "pipe"] }), over = once(waiting, "exit"), errors = streamText(waiting.stderr);
      await waitUntil(async () => String(await server.run("CLIENT", "LIST")).toLowerCase().includes("cmd=r.bitcount"));
      await sleep(200);
      waiting.kill("SIGTERM");
      expect(await over).toEqual([130, null]);
      expect(await errors).toMatch(/^redis-roar: interrupted; .*\n$/);
    }
  });
});

describe("a load with --resume", () => {
  it("goes on behind what was loaded when it was killed or failed, and only with the same input", async () => {
    const resume = join(folder, "ids.load"), args = ["load", "k", "--batch", "500", "--resume", resume];
    const lines = Array.from({ length: 4000 }, (_, i) => `${3 * i}\n`), loaded = (): unknown => JSON.parse(readFileSync(resume, "utf8"));
    const child = spawn(process.execPath, [toolFile, ...args, "-s", server.socket], { stdio: ["pipe", "ignore", "inherit"] });
    child.stdin.write(lines.slice(0, 1200).join(""));
    await waitUntil(() => Promise.resolve(existsSync(resume) && (loaded() as { loaded: number }).loaded === 1000));
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(loaded()).toMatchObject({ key: "k", source: null, loaded: 1000 });
    expect(await server.run("R.BITCOUNT", "k")).toBe(1000);
    // A second load of the first ids would set 0 again. The key has as many members as before.
    await server.connection.pipeline([["R.CLEARBITS", "k", 0], ["R.SETBIT", "k", 1, 1]]);
    const half = lines.slice(0, 2000).join("");
    expect(await fed(`${half}x\n`, ...args)).toMatchObject({ status: 1, error: expect.stringContaining("run the same command again") });
    expect(loaded()).toMatchObject({ key: "k", source: null, loaded: 2000 });
    expect(await server.run("R.BITCOUNT", "k")).toBe(2000);
    expect(await server.run("R.GETBIT", "k", 0)).toBe(0);
    expect(await toolOn(server, "load", "other", "--resume", resume)).toMatchObject({ status: 2, error: expect.stringContaining("a different key") });
    expect(await fed(lines.join(""), ...args)).toMatchObject({ status: 0, out: expect.stringMatching(/^2,000 ids loaded.* 4,000 members\n$/) });
    expect([await server.run("R.GETBIT", "k", 0), await server.run("R.MAX", "k"), existsSync(resume)]).toEqual([0, 11_997, false]);
    expect(await toolOn(server, "load", "k", join(folder, "none.txt"))).toMatchObject({ status: 1, error: expect.stringContaining("ENOENT") });
    writeFileSync(resume, "{}");
    expect(await toolOn(server, ...args)).toMatchObject({ status: 2, error: expect.stringContaining("not a file of --resume") });
  });

  it("says so when the server has lost what was loaded", async () => {
    const resume = join(folder, "lost.load"), lines = Array.from({ length: 3000 }, (_, i) => `${3 * i}\n`).join("");
    for (const spread of [[], ["--shards", "4"]]) {
      const args = ["load", "k", "--batch", "500", "--resume", resume, ...spread];
      expect(await fed(`${lines.slice(0, 10_000)}x\n`, ...args)).toMatchObject({ status: 1 });
      await server.killAndRestart();
      const lost = await fed(lines, ...args);
      expect(lost).toMatchObject({ status: 2, out: "", error: expect.stringMatching(/^redis-roar: k has 0 members, but had 2000 after the first 2000 ids: .*\n$/) });
      expect(lost.error).toContain(resume);
      rmSync(resume);
      expect(await fed(lines, ...args)).toMatchObject({ status: 0, out: expect.stringContaining(" 3,000 members") });
    }
  });
});

describe("sharded bitmaps", () => {
  const cluster = useCluster(3);

  it.each<[string, Sharding, boolean]>([
    ["by range", { by: "range", shards: 7 }, false], ["by width", { by: "range", width: 131_072n }, false], ["by hash", { by: "hash", shards: 12 }, false],
    ["64 bits by range", { by: "range", shards: 5 }, true], ["64 bits by hash", { by: "hash", shards: 9 }, true],
  ])("are laid out as in the client: %s", (_, sharding, isWide) => {
    if (sharding.width) sharding = { ...sharding, shards: 100 };
    const ours = new Layout("k", isWide, sharding), theirs = isWide ? layoutOf(R64, "k", sharding) : layoutOf(R, "k", sharding), r = random(seed);
    expect([ours.shards, ours.last]).toEqual([theirs.shards, theirs.last]);
    const offsets = BigUint64Array.from([0n, ours.last, ...Array.from({ length: 500 }, () => r.u64() % (ours.last + 1n))]);
    const list = isWide ? offsets : Uint32Array.from(offsets, Number);
    const place = (shard: number, local: bigint): string => `${theirs.keyOf(shard)} ${local}`;
    const parts = Array.from(ours.split(list), ([shard, part]) => [...part].map((local) => place(shard, BigInt(local)))).flat();
    expect(parts.sort(), `SEED=${seed}`).toEqual(Array.from(offsets, (offset) => place(theirs.shardOf(offset), theirs.localOf(offset))).sort());
    for (const offset of offsets) expect(ours.globalOf(ours.shardOf(offset), ours.localOf(offset))).toBe(offset);
  });

  it.each([["range", false], ["hash", false], ["hash", true]] as const)("are loaded and unloaded by %s", async (by, isWide) => {
    const on = ["--shards", "6", "--by", by, ...(isWide ? ["--wide"] : []), "-p", String(cluster.ports[0])], input = join(folder, "spread.txt"), key = `k:${by}:${isWide}`;
    const ids = Array.from({ length: 3000 }, (_, i) => BigInt(i) * 1_400_001n + (isWide ? 2n ** 40n : 0n)), text = `${ids.join("\n")}\n`;
    writeFileSync(input, text);
    expect(await toolHere("load", key, input, "--batch", "700", ...on)).toMatchObject({ status: 0, error: "", out: expect.stringContaining("3,000 members") });
    expect(await toolHere("unload", key, ...on)).toEqual({ status: 0, error: "", out: text });
    expect((await toolHere("unload", key, ...on, "--ranges")).out).toBe(ids.map((id) => `${id}-${id}\n`).join(""));
    const keys = (await cluster.onAll("KEYS", `${key}:*`) as string[][]).flat().sort();
    expect(keys).toEqual(Array.from({ length: 6 }, (_, shard) => `${key}:{${shard}}`));
  });

  it("are refused where they cannot be", async () => {
    const load = (...args: string[]): Promise<Ended> => toolHere("load", "k", "/dev/null", ...args, "-p", String(cluster.ports[0]));
    // There is no server to ask, and none is asked.
    expect(await toolHere("unload", "k", "--shards", "6", "--roaring", "-p", "1")).toMatchObject({ status: 2, out: "", error: expect.stringContaining("--roaring") });
    expect(await load("--by", "hash")).toMatchObject({ status: 2, error: expect.stringContaining("--shards") });
    expect(await load("--shard-width", "70000")).toMatchObject({ status: 2, error: expect.stringContaining("multiple of 65536") });
  });
});

describe("inspect", () => {
  it("shows roaring and native bitmaps and sets, whole and in part", async () => {
    await server.connection.pipeline([
      ["R.SETRANGE", "k", 1000, 2000], ["R.SETBIT", "k", 900_000, 1], ["R64.SETBIT", "wide", "18446744073709551615", 1], ["SETBIT", "native", 70_000, 1],
      ["SADD", "set", 1, 2, 3], ["SET", "text", "hello"], ["R64.SETFULL", "full"],
    ]);
    const svg = join(folder, "k.svg"), { out } = await toolOn(server, "inspect", "k", "--svg", svg);
    expect(out).toContain("1,001 members from 1000 to 900000");
    expect(readFileSync(svg, "utf8")).toContain("<rect");
    const part = JSON.parse((await toolOn(server, "inspect", "k", "--json", "--from", "1500", "--to", "899999", "--lines", "1")).out) as { parts: { members: string }[] };
    expect(part.parts.reduce((sum, { members }) => sum + Number(members), 0)).toBe(500);
    const wide = JSON.parse((await toolOn(server, "inspect", "wide", "--json")).out) as Inspection, usage = await server.usage("wide");
    expect([wide.bytesNow, wide.bytesRoaring]).toEqual([usage, usage]);
    for (const [key, text] of [["wide", "R64"], ["native", "native bitmap"], ["set", "set of integers"]] as const) {
      expect((await toolOn(server, "inspect", key)).out).toContain(`${key}: ${text}`);
    }
    expect(await toolOn(server, "inspect", "text")).toMatchObject({ status: 1, error: "redis-roar: text: this string is not a bitmap: text\n" });
    expect(await toolOn(server, "inspect", "missing")).toMatchObject({ status: 1, error: "redis-roar: missing: there is no such key\n" });
  });
});

/** The first lines that the tool writes, as `| head` reads them. */
const headOf = (count: number, ...args: string[]): string[] => {
  const piped = ["-c", '"$@" | head -n "$0"', String(count), process.execPath, toolFile, ...args, "-s", server.socket];
  return execFileSync("sh", piped, { encoding: "utf8" }).trim().split("\n");
};

describe("bitmaps that are too large to be exported", () => {
  const half = 2n ** 63n, words = (text: string): string[] => text.trim().split("\n");

  it("are inspected as a whole and in part", async () => {
    await server.connection.pipeline([
      ["R64.SETFULL", "all"], ["R.SETFULL", "narrow"], ["R64.SETRANGE", "half", String(half), String(2n ** 64n)], ["R64.SETBIT", "half", 7, 1],
      ["R64.CLEARRANGE", "half", String(half + 2n ** 62n), String(2n ** 64n)],
    ]);
    const found = async (...args: string[]): Promise<Inspection> =>
      JSON.parse((await toolOn(server, "inspect", ...args, "--json")).out) as Inspection;
    for (const [key, holds, size] of [["all", "R64", 2n ** 64n], ["narrow", "R", 2n ** 32n]] as const) {
      const all = await found(key), containers = String(size / 65_536n);
      expect(all).toMatchObject({ holds, cardinality: String(size), minimum: "0", maximum: String(size - 1n), bytesRoaring: null });
      expect(all.bytesNow).toBe(await server.usage(key));
      expect(all.containers[2]).toMatchObject({ kind: "run", containers, members: String(size) });
      expect(all.parts).toHaveLength(512);
      expect(new Set(all.parts.map(({ members }) => String(members)))).toEqual(new Set([String(size / 512n)]));
    }
    const part = await found("half", "--lines", "1"), middle = await found("half", "--from", String(half - 1n), "--to", String(half + 2n));
    expect(part.parts.reduce((sum, { members }) => sum + BigInt(members), 0n)).toBe(2n ** 62n + 1n);
    expect(middle.parts.map(({ members }) => String(members))).toEqual(["0", "1", "1", "1"]);
    const { out } = await toolOn(server, "inspect", "all");
    expect(out).toContain("18,446,744,073,709,551,616 members from 0 to 18446744073709551615");
    expect(out).toContain("█".repeat(64));
    expect(out).not.toContain("rebuilt");
    expect(await toolOn(server, "inspect", "all", "--from", "9", "--to", "8")).toMatchObject({ status: 2 });
  });

  it("are listed from the first page on, and exactly", async () => {
    await server.connection.pipeline([
      ["DEL", "all"], ["R64.SETFULL", "all"], ["R64.SETRANGE", "top", String(2n ** 64n - 70_000n), String(2n ** 64n)],
      ["R64.SETRANGE", "odd", String(2n ** 53n), String(2n ** 53n + 70_000n)],
    ]);
    expect(headOf(2, "unload", "all")).toEqual(["0", "1"]);
    const listed = (from: bigint, count: number): string[] => Array.from({ length: count }, (_, i) => String(from + BigInt(i)));
    expect(words((await toolOn(server, "unload", "top")).out)).toEqual(listed(2n ** 64n - 70_000n, 70_000));
    expect(words((await toolOn(server, "unload", "odd")).out)).toEqual(listed(2n ** 53n, 70_000));
    await server.run("DEL", "empty");
    await server.run("R.SETBIT", "empty", 0, 0);
    expect(await toolOn(server, "unload", "empty")).toEqual({ status: 0, out: "", error: "" });
  });
});

describe("a picture", () => {
  const shades = (...densities: [members: number, offsets: number][]): string => {
    const parts = densities.map(([members, offsets]) => ({ from: 0n, to: BigInt(offsets - 1), members: BigInt(members) }));
    return pictureOf({ parts } as Inspection, parts.length)[0]!;
  };

  it("has one shade for parts of nearly the same density, and from a dot to a block for those that differ", () => {
    expect(shades([52, 156], [53, 157], [52, 157])).toBe("0 |███|");
    expect(shades([1, 1], [1, 1000])).toBe("0 |█·|");
    expect(shades([100, 100], [30, 100], [10, 100], [0, 100], [1, 100])).toBe("0 |█▓▒ ·|");
    expect([shades([1, 2 ** 40]), shades([0, 5])]).toEqual(["0 |█|", "0 | |"]);
  });
});

describe("watch", () => {
  it("prints once, and serves metrics, also after the server was away", async () => {
    await server.run("CONFIG", "RESETSTAT");
    await server.run("R.SETBIT", "k", 7, 1);
    const { out } = await toolOn(server, "watch", "--once", "--interval", "1"), all = (await toolOn(server, "watch", "--once", "--interval", "1", "--all")).out;
    expect(out).toMatch(/^bitmaps +1\ntheir bytes +\d+ B\nserver memory .*\ncommands a second +0\nslowest of them +-\n.*\ntraps +0\n(questions done +\d+\n)?\nno calls\n/m);
    expect(all).toMatch(/^payloads refused +0$/m);
    // While a client is at work.
    const watching = toolOn(server, "watch", "--once", "--interval", "1"), writer = await server.connect();
    for (let n = 0; n < 200; n++) {
      await writer.run("R.SETBIT", "k", n, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    writer.close();
    const busy = (await watching).out;
    expect(Number(/^commands a second +([\d,]+)$/m.exec(busy)![1]!.replaceAll(",", ""))).toBeGreaterThan(10);
    expect(busy).toMatch(/^slowest of them +R\.SETBIT, [\d.]+ \u00b5s a call$/m);
    await server.run("DEL", "k");
    await server.run("CONFIG", "RESETSTAT");
    await server.run("R.SETBIT", "k", 7, 1);
    const port = await freePort(), args = [toolFile, "watch", "--metrics", `:${port}`, "-s", server.socket];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    try {
      const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(await metrics()).toMatch(/^redis_roar_bitmaps\{node=".*"\} 1$/m);
      expect(await metrics()).toMatch(/^redis_roar_command_calls_total\{node=".*",command="R.SETBIT"\} 1$/m);
      await server.kill();
      expect(await metrics()).toMatch(/^redis_roar_up\{node=".*"\} 0$/m);
      await server.start();
      expect(await metrics()).toMatch(/^redis_roar_up\{node=".*"\} 1$/m);
    } finally {
      child.kill("SIGINT");
    }
    expect(await ended).toBe(0);
  });
});
