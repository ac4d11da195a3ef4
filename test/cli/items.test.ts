// load and unload of integers for ids and of names: what goes in comes back, in batches of any size, and what does not fit is named.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Random, seeded } from "../support/random.ts";
import { useServer } from "../support/suite.ts";
import { type Ended, toolFile, toolOn, toolFed } from "../support/tool.ts";
import { waitUntil } from "../support/waiting.ts";

const server = useServer();
let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "redis-roar-")); });
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the tool with text or bytes in a file. */
const given = (input: string | Buffer, command: string, key: string, ...args: string[]): Promise<Ended> => {
  const file = join(folder, "input");
  writeFileSync(file, input);
  return toolOn(server, command, key, file, ...args);
};

const fed = (input: string, ...args: string[]): Promise<Ended> => toolFed(server, input, ...args);

/** The bytes that unload writes. */
async function unloaded(...args: string[]): Promise<Buffer> {
  const file = join(folder, "output");
  expect(await toolOn(server, "unload", ...args, "-o", file)).toEqual({ status: 0, out: "", error: "" });
  return readFileSync(file);
}

const FAR = 2n ** 64n - 1n, LEAST = -(2n ** 63n), MOST = 2n ** 63n - 1n;
const INTEGERS = ["--type", "integers"], NAMES = ["--type", "names"];

describe("integers", () => {
  it("are loaded from lines of an id and a value, and unloaded in the order of ids", async () => {
    const text = `\ufeff8,17\r\n\r\n7, 31\n${FAR},${LEAST}\n007,-0\n4294967296,${MOST}`;
    expect(await given(text, "load", "k", ...INTEGERS, "--batch", "2")).toMatchObject({
      status: 0, error: "", out: expect.stringMatching(/^5 ids loaded in .* a second; the key has 4 integers\n$/),
    });
    expect(await server.run("RI.MGET", "k", 7, 8)).toEqual([0, 17]);
    expect(await toolOn(server, "unload", "k")).toEqual({ status: 0, error: "", out: `7,0\n8,17\n4294967296,${MOST}\n${FAR},${LEAST}\n` });
    expect(await fed("1,2\n3,4\n", "load", "piped", ...INTEGERS)).toMatchObject({ status: 0, error: "" });
    expect(await toolOn(server, "unload", "piped")).toMatchObject({ out: "1,2\n3,4\n" });
    expect(await given("1,1\n2,2\n3,3\n", "load", "rest", ...INTEGERS, "--skip", "2")).toMatchObject({ status: 0 });
    expect(await toolOn(server, "unload", "rest")).toMatchObject({ out: "3,3\n" });
  });

  it("come back as they went in, also over many pages", seeded(async (r) => {
    const shifted = (bits: bigint): bigint => bits >> BigInt(r.below(64));
    const pairs = new Map(Array.from({ length: 25_000 }, () => [shifted(r.u64()), shifted(BigInt.asIntN(64, r.u64()))]));
    const lines = Array.from(pairs, ([id, value]) => `${id},${value}\n`);
    expect(await given(lines.join(""), "load", "many", ...INTEGERS, "--batch", String(1 + r.below(20_000)))).toMatchObject({ status: 0, error: "" });
    const sorted = [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, value]) => `${id},${value}\n`).join("");
    expect((await unloaded("many")).toString() === sorted).toBe(true);
  }));

  it("are read from two columns of CSV, without rows that have no value", async () => {
    const csv = 'name,id,age\n"a, b",5,31\n"c\nd",6,\n,,\ne, 7 , -3 \n';
    expect(await given(csv, "load", "csv", ...INTEGERS, "--csv", "id", "--value", "age")).toMatchObject({ status: 0, error: "" });
    expect(await toolOn(server, "unload", "csv")).toMatchObject({ out: "5,31\n7,-3\n" });
    expect(await given(csv, "load", "csv", ...INTEGERS, "--csv", "id", "--value", "size")).toMatchObject({ status: 2, error: expect.stringContaining('no column "size"') });
    expect(await given("id,age\n1,2\n,3\n", "load", "csv", ...INTEGERS, "--csv", "id", "--value", "age")).toMatchObject({ status: 1, error: expect.stringContaining('row 3: "" is not an id') });
  });

  it.each([
    ["7", "not an id and its value"], ["7,1,2", "not an id and its value"], ["x,1", '"x" is not an id'], ["-1,1", '"-1" is not an id'], ["7,", 'the value "" is not an integer'],
    ["7,1.5", 'the value "1.5" is not an integer'], ["7,9223372036854775808", "needs more than 64 bits"], ["7,-9223372036854775809", "needs more than 64 bits"],
    ["18446744073709551616,1", "above 2^64 - 1"],
  ])("are not read from the line %s, which the error names", async (line, why) => {
    const { status, out, error } = await given(`1,1\n2,2\n${line}\n`, "load", "bad", ...INTEGERS, "--batch", "1");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(error).toMatch(/^redis-roar: line 3: .*; continue with --skip 2\n$/);
    expect(error).toContain(why);
  });

  it("are refused with options for bitmaps, and in keys of other types", async () => {
    await server.connection.pipeline([["R.SETBIT", "bitmap", 1, 1], ["RI.SET", "age", 7, 31]]);
    for (const other of [["--roaring"], ["--ranges"], ["--wide"], ["--shards", "2"], ["--names", "users"], ["--csv", "id"], ["--value", "age"]]) {
      expect(await given("1,1\n", "load", "age", ...INTEGERS, ...other), String(other)).toMatchObject({ status: 2, out: "" });
    }
    expect(await given("1\n", "load", "age", "--value", "age")).toMatchObject({ status: 2 });
    expect(await given("1,1\n", "load", "bitmap", ...INTEGERS)).toMatchObject({ status: 1, error: expect.stringContaining("WRONGTYPE") });
    for (const other of [["--roaring"], ["--ranges"], ["--names", "users"]]) {
      expect(await toolOn(server, "unload", "age", ...other), String(other)).toMatchObject({ status: 2, out: "", error: expect.stringContaining("of type roar-ints") });
    }
    expect(await toolOn(server, "unload", "age")).toMatchObject({ out: "7,31\n" });
  });

  it("go on with --resume behind what was loaded before a kill", async () => {
    const resume = join(folder, "integers.load"), args = ["load", "k", ...INTEGERS, "--batch", "500", "--resume", resume];
    const lines = Array.from({ length: 3000 }, (_, i) => `${3 * i},${i}\n`), loaded = (): number => (JSON.parse(readFileSync(resume, "utf8")) as { loaded: number }).loaded;
    const child = spawn(process.execPath, [toolFile, ...args, "-s", server.socket], { stdio: ["pipe", "ignore", "inherit"] });
    child.stdin.write(lines.slice(0, 1200).join(""));
    await waitUntil(() => Promise.resolve(existsSync(resume) && loaded() === 1000));
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await server.run("RI.CARD", "k")).toBe(1000);
    await server.run("RI.SET", "k", 0, 77);
    expect(await fed("", "load", "k", ...NAMES, "--resume", resume)).toMatchObject({ status: 2, error: expect.stringContaining("a different how") });
    expect(await fed(lines.join(""), ...args)).toMatchObject({ status: 0, out: expect.stringMatching(/^2,000 ids loaded.* 3,000 integers\n$/) });
    expect([await server.run("RI.MGET", "k", 0, 3, 8997), existsSync(resume)]).toEqual([[77, 1, 2999], false]);
  });
});

/** A name that can be a line: of any bytes, a UUID, hexadecimal, or decimal. */
function name(r: Random): Buffer {
  const hex = r.u64().toString(16).padStart(16, "0") + r.u64().toString(16).padStart(16, "0");
  const bytes = Array.from({ length: 1 + r.below(r.pick([3, 30, 300])) }, () => r.below(256));
  return r.pick([Buffer.from(bytes.map((byte) => (byte === 10 || byte === 13 ? 0 : byte))), Buffer.from(hex), Buffer.from(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")), Buffer.from(String(r.u64()))]);
}

describe("names", () => {
  it("are loaded into a dictionary, and come back in the order of their ids", async () => {
    expect(await given("ada\r\n\nbob\nada\ncarol", "load", "users", ...NAMES, "--batch", "1")).toMatchObject({
      status: 0, error: "", out: expect.stringMatching(/^4 names loaded in .* a second; the key has 3 names\n$/),
    });
    expect(await server.run("RN.ID", "users", "ada", "bob", "carol")).toEqual([0, 1, 2]);
    expect(await toolOn(server, "unload", "users")).toEqual({ status: 0, error: "", out: "ada\nbob\ncarol\n" });
    expect(await given('id,mail\n1,"a\nb"\n2,\n3, c \n', "load", "csv", ...NAMES, "--csv", "mail")).toMatchObject({ status: 0, error: "" });
    expect(await server.run("RN.NAME", "csv", 0, 1, 2)).toEqual(["a\nb", " c ", null]);
  });

  it("set the bits of a bitmap, whose members are unloaded as names", async () => {
    await server.run("RN.ADD", "users", "zoe", "ada");
    const args = ["load", "read:7", "--names", "users"];
    expect(await given("ada\nbob\nada\n", ...args as [string, string])).toMatchObject({
      status: 0, error: "", out: expect.stringMatching(/^3 names loaded in .*; the key has 2 members\n$/),
    });
    expect(await server.run("R.GETINTARRAY", "read:7")).toEqual([1, 2]);
    expect(await toolOn(server, "unload", "read:7", "--names", "users")).toEqual({ status: 0, error: "", out: "ada\nbob\n" });
    await server.connection.pipeline([["R64.SETBIT", "wide", 0, 1], ["R64.SETBIT", "wide", FAR, 1]]);
    expect(await given("bob\n", "load", "wide", "--names", "users")).toMatchObject({ status: 0, out: expect.stringContaining("has 3 members") });
    expect(await toolOn(server, "unload", "wide", "--names", "users")).toEqual({ status: 0, error: "", out: "zoe\nbob\n" });
  });

  it("of any bytes come back as they went in, also over many pages", seeded(async (r) => {
    const names = new Map([Buffer.from("first"), ...Array.from({ length: 12_000 }, () => name(r))].map((one) => [one.toString("latin1"), one]));
    const lines = Buffer.concat([...names.values()].flatMap((one) => [one, Buffer.from("\n")])), batch = String(1 + r.below(20_000));
    expect(await given(lines, "load", "set", "--names", "any", "--batch", batch)).toMatchObject({ status: 0, error: "" });
    expect((await unloaded("any")).equals(lines)).toBe(true);
    expect((await unloaded("set", "--names", "any")).equals(lines)).toBe(true);
  }));

  it("of 65,535 bytes fit, and batches of them are cut by their bytes", async () => {
    const long = (i: number): string => String(i).padStart(65_535, "x"), resume = join(folder, "long.load");
    expect(await given(Array.from({ length: 600 }, (_, i) => `${long(i)}\r\n`).join(""), "load", "long", ...NAMES)).toMatchObject({ status: 0, error: "" });
    expect(await server.run("RN.ID", "long", long(599))).toEqual([599]);
    const { status, error } = await given(`${Array.from({ length: 300 }, (_, i) => `${long(i)}\n`).join("")}x${long(0)}\n`, "load", "more", ...NAMES, "--resume", resume);
    expect({ status, error }).toMatchObject({ status: 1, error: expect.stringMatching(/line 301.* more than 65,535 bytes; run the same command again/) });
    expect(await server.run("RN.CARD", "more")).toBe(257);
    expect(await given("y".repeat(3_000_000), "load", "more", ...NAMES)).toMatchObject({ status: 1, error: expect.stringContaining("line 1 is not a name: it is too long") });
  });

  it("that are no lines are not unloaded, and what is not UTF-8 is not read from CSV", async () => {
    for (const odd of ["a\nb", "a\r"]) {
      await server.connection.pipeline([["DEL", "odd"], ["RN.ADD", "odd", odd]]);
      expect(await toolOn(server, "unload", "odd")).toMatchObject({ status: 1, out: "", error: expect.stringContaining(`the name ${JSON.stringify(odd)} has a line break`) });
    }
    expect(await given(Buffer.from("mail\nz\xe9\n", "latin1"), "load", "none", ...NAMES, "--csv", "mail")).toMatchObject({ status: 1, error: expect.stringContaining("row 2: \"z\ufffd\" is not UTF-8") });
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("are refused with options for bitmaps, and in keys of other types", async () => {
    await server.connection.pipeline([["SET", "text", "x"], ["RN.ADD", "users", "ada"]]);
    for (const other of [["--roaring"], ["--ranges"], ["--wide"], ["--by", "hash"], ["--value", "age"]]) {
      expect(await given("a\n", "load", "k", "--names", "users", ...other), String(other)).toMatchObject({ status: 2, out: "" });
      expect(await given("a\n", "load", "k", ...NAMES, ...other), String(other)).toMatchObject({ status: 2, out: "" });
    }
    expect(await given("a\n", "load", "k", ...NAMES, "--names", "users")).toMatchObject({ status: 2 });
    for (const [key, ...args] of [["text", ...NAMES], ["text", "--names", "users"], ["k", "--names", "text"]] as [string, ...string[]][]) {
      expect(await given("a\n", "load", key, ...args), args.join(" ")).toMatchObject({ status: 1, error: expect.stringContaining("WRONGTYPE") });
    }
    expect(await toolOn(server, "unload", "text", "--names", "users")).toMatchObject({ status: 2, error: expect.stringContaining("--names needs a roaring bitmap") });
    expect(await server.run("EXISTS", "k")).toBe(0);
  });
});
