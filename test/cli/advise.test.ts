// advise: its figures are those of the real conversion, it never writes, and odd keys and users do not stop it.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Advice, type AdviceRow } from "../../cli/src/advising/rows.ts";
import { wantsColors } from "../../cli/src/colors.ts";
import { random, seed } from "../support/random.ts";
import { Server } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { type Ended, tool, toolHere, toolOn } from "../support/tool.ts";
import { bitmapOf, fill, kinds } from "./keyspace.ts";

const KEYS = 600;
const plain = useServer({ module: null });
const advice = async (server: Server, ...args: string[]): Promise<Advice> => {
  const { status, out, error } = await toolOn(server, "advise", "--json", "--share", "100", ...args);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as Advice;
};
/** The row of a kind; names with digits inside of a word have * there. */
const rowOf = (rows: AdviceRow[], pattern: string): AdviceRow => rows.find((row) => row.pattern.replace("f*", "*") === pattern)!;

describe("advise", () => {
  it("tells kinds apart and is exact to the byte, and estimates from a sample, without a write", async () => {
    await fill(plain.connection, random(seed), KEYS);
    const before = await plain.run("DEBUG", "DIGEST"), changes = await plain.info("rdb_changes_since_last_save");
    const all = await advice(plain), sample = await advice(plain, "--sample", "25");
    expect(await plain.run("DEBUG", "DIGEST")).toBe(before);
    expect(await plain.info("rdb_changes_since_last_save")).toBe(changes);
    expect(all.keys).toBe(KEYS);
    for (const { pattern, kind } of kinds) expect(rowOf(all.rows, pattern), pattern).toMatchObject({ kind, keys: KEYS / kinds.length });

    const server = await Server.start();
    try {
      await fill(server.connection, random(seed), KEYS);
      for (const row of all.rows.filter(({ isConvertible, kind }) => isConvertible && kind !== "names")) {
        let now = 0, roaring = 0;
        for (const key of await server.run("KEYS", row.pattern) as string[]) {
          now += await plain.run("MEMORY", "USAGE", key, "SAMPLES", 0) as number;
          const ttl = await server.run("PTTL", key) as number;
          if (row.type === "string") {
            await server.run("R.FROMBITMAP", key, key);
          } else {
            const members = await server.run("SMEMBERS", key) as string[];
            await server.run("DEL", key);
            await server.run(members.some((member) => BigInt(member) >= 2n ** 32n) ? "R64.SETINTARRAY" : "R.SETINTARRAY", key, ...members);
          }
          if (ttl > 0) await server.run("PEXPIRE", key, ttl);
          roaring += await server.usage(key);
        }
        expect(row, `SEED=${seed}`).toMatchObject({ bytesNow: now, bytesRoaring: roaring, uncertainty: 0 });
        const estimate = sample.rows.find(({ pattern, type }) => pattern === row.pattern && type === row.type)!;
        // Four times what a confidence interval of 95 % allows.
        expect(Math.abs(estimate.bytesRoaring! - roaring), `${row.pattern}, SEED=${seed}`).toBeLessThan(4 * estimate.uncertainty + 0.02 * roaring);
      }
    } finally {
      await server.stop();
    }
  });

  it("copes with odd keys", async () => {
    const wide = bitmapOf(Array.from({ length: 3000 }, (_, i) => i * 5000));
    await plain.connection.pipeline([
      ["SET", Buffer.from([0, 255, 10]), wide], ["SET", "", "x"], ["SET", "empty", ""], ["SETBIT", "far", 2 ** 26, 1], ["HSET", "hash", "a", 1], ["XADD", "stream", "*", "a", 1],
      ["SADD", "negative", -1, 2], ["SET", "<script>alert(1)</script>", wide], ["SADD", "one", 0], ["SADD", "last", "18446744073709551615"],
    ]);
    const { rows } = await advice(plain);
    const kindOf = Object.fromEntries(rows.map(({ pattern, kind }) => [pattern, kind]));
    expect(kindOf).toEqual({
      "*": "bitmap", "": "text", empty: "empty", far: "bitmap", hash: "not integers", stream: "stream", negative: "names",
      "<script>alert(*)</script>": "bitmap", one: "integers", last: "integers",
    });
    const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), page = join(folder, "page.html");
    expect((await toolOn(plain, "advise", "--html", page)).out).toContain("far");
    const html = readFileSync(page, "utf8");
    rmSync(folder, { recursive: true });
    expect(html).not.toContain("<script>");
    expect(html).toContain("<svg");
  });

  it("ends while keys vanish and change their types", async () => {
    const make = async (i: number): Promise<unknown> => plain.connection.pipeline([["SET", `k:${i}`, "\x01\x02\xff"], ["SADD", `s:${i}`, 1, 2]]);
    for (let i = 0; i < 2000; i++) void make(i);
    let ended = false;
    const running = toolOn(plain, "advise", "--json").finally(() => { ended = true; });
    for (let i = 0; !ended; i = (i + 1) % 2000) await plain.connection.pipeline([["DEL", `k:${i}`, `s:${(i * 7) % 2000}`], ["SADD", `k:${i}`, "x"], ["SET", `s:${i}`, "y"]]);
    expect(await running).toMatchObject({ status: 0, error: "" });
  });

  it("names other databases that have keys, if it may know", async () => {
    const connection = await plain.connect();
    await connection.pipeline([["SELECT", 3], ["SET", "k", "v"], ["SELECT", 11], ["SET", "k", "v"], ["SET", "l", "v"]]);
    const said = "note: this is database 0; others have keys, too: 3 (1), 11 (2). Select one with -n\n";
    expect(await toolOn(plain, "advise")).toMatchObject({ status: 0, error: "", out: expect.stringContaining(said) });
    expect((await advice(plain, "-n", "3")).notes).toEqual([expect.stringContaining("this is database 3; others have keys, too: 11 (2)")]);
    await plain.run("ACL", "SETUSER", "blind", "on", "nopass", "allkeys", "+@all", "-info");
    vi.stubEnv("REDISCLI_AUTH", "x");
    expect(await toolOn(plain, "advise", "--user", "blind").finally(() => vi.unstubAllEnvs())).toMatchObject({ status: 0, error: "", out: expect.not.stringContaining("database") });
    await plain.run("ACL", "DELUSER", "blind");
    connection.close();
  });

  it("has one line for what a user may not do", async () => {
    await plain.run("ACL", "SETUSER", "reader", "on", ">secret", "~open:*", "+@read", "+@connection", "-@dangerous", "+info", "+memory|usage");
    await plain.connection.pipeline([["SET", "open:1", bitmapOf([1, 70_000])], ["SET", "closed:1", bitmapOf([1, 70_000])]]);
    const asUser = async (password: string, ...args: string[]): Promise<Ended> => {
      vi.stubEnv("REDISCLI_AUTH", password);
      return toolOn(plain, "advise", "--user", "reader", ...args).finally(() => vi.unstubAllEnvs());
    };
    const read = await asUser("secret", "--json");
    expect(read.error).toBe("");
    expect(JSON.parse(read.out)).toMatchObject({ rows: [{ pattern: "open:*" }] });
    expect((JSON.parse(read.out) as Advice).notPermitted).toBeGreaterThan(0);
    await plain.run("ACL", "SETUSER", "reader", "-memory");
    const refused = await asUser("secret");
    expect(refused).toMatchObject({ status: 4, out: "" });
    expect(refused.error).toMatch(/^redis-roar: advise needs .*\n$/);
    expect(await asUser("wrong")).toMatchObject({ status: 4, out: "" });
    await plain.run("ACL", "DELUSER", "reader");
  });
});

describe("the tool", () => {
  let server: Server;
  beforeAll(async () => { server = await Server.start({ module: null, listens: true }); });
  afterAll(() => server.stop());

  it.each<[string, number, RegExp, string[]]>([
    ["no server", 3, /^redis-roar: 127\.0\.0\.1:1: connect ECONNREFUSED$/m, ["advise", "-p", "1"]],
    ["a password in a URL", 2, /REDISCLI_AUTH/, ["advise", "-u", "redis://user:secret@127.0.0.1"]],
    ["an unknown protocol", 2, /http:/, ["advise", "-u", "http://127.0.0.1"]],
    ["an unknown option", 2, /unknown option/, ["advise", "--nothing"]],
    ["an unknown command", 2, /unknown command/, ["nothing"]],
    ["a number that is none", 2, /whole number from 2 on/, ["advise", "--sample", "x"]],
    ["a port that is none", 2, /whole number from 1 to 65535/, ["advise", "-p", "99999"]],
    ["a missing option", 2, /--match/, ["convert"]],
  ])("ends with a line on %s", async (_, status, text, args) => {
    const ended = await toolHere(...args);
    expect(ended).toMatchObject({ status, out: "" });
    expect(ended.error.trim().split("\n").filter((line) => !line.startsWith("("))).toHaveLength(1);
    expect(ended.error).toMatch(text);
  });

  it("helps, and does not convert without the module", async () => {
    expect(await tool(["--help"])).toMatchObject({ status: 0, error: "" });
    for (const name of ["advise", "convert", "restore", "join", "split"]) expect((await toolHere(name, "--help")).out).toContain("Example");
    await server.run("SETBIT", "k", 70_000, 1);
    const port = String(server.port), { out } = await toolHere("advise", "-p", port);
    expect(out).toContain("1 keys");
    expect(await toolHere("convert", "--match", "*", "-p", port)).toMatchObject({ status: 2, error: expect.stringContaining("does not have the module") });
    expect(await toolHere("convert", "--match", "*", "-p", port, "--dry-run")).toMatchObject({ status: 0, error: "" });
  });

  it("ends when the server dies", async () => {
    await fill(server.connection, random(seed), 6000);
    const running = tool(["advise", "-p", String(server.port), "--max-rate", "1000"]);
    setTimeout(() => void server.kill(), 1500);
    const ended = await running;
    expect(ended).toMatchObject({ status: 3, out: "" });
    expect(ended.error.trim().split("\n")).toHaveLength(1);
    await server.start();
  });

  it("colors tables in terminals and where FORCE_COLOR asks for it, and never because of CI or against NO_COLOR", async () => {
    await plain.run("SET", "seen:1", bitmapOf([1, 900_000]));
    const table = async (env: Record<string, string>): Promise<string> => (await tool(["advise", "-s", plain.socket], env)).out;
    expect(await table({ CI: "true" })).toMatch(/^keys like /);
    expect(await table({ CI: "true", FORCE_COLOR: "1" })).toContain("\x1b[");
    expect(await table({ NO_COLOR: "1", FORCE_COLOR: "1" })).not.toContain("\x1b[");
    const terminal = { isTTY: true };
    expect(wantsColors(terminal, {})).toBe(true);
    expect(wantsColors({}, { CI: "true" })).toBe(false);
    for (const env of [{ NO_COLOR: "1" }, { FORCE_COLOR: "0" }, { TERM: "dumb" }]) expect(wantsColors(terminal, env), JSON.stringify(env)).toBe(false);
  });
});
