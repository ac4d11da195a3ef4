// convert --to integers and --names: what is converted comes out the same, and what does not fit stays as it is.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Conversion } from "../../cli/src/convert.ts";
import { seeded } from "../support/random.ts";
import { useCluster, useServer } from "../support/suite.ts";
import { toolHere, toolOn } from "../support/tool.ts";
import { since } from "../support/version.ts";

const server = useServer();
let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "redis-roar-")); });
afterAll(() => rmSync(folder, { recursive: true }));

const INTEGERS = ["--to", "integers"], NAMES = ["--names", "users"];
const convert = async (...args: string[]): Promise<Conversion> => {
  const { status, out, error } = await toolOn(server, "convert", "--json", ...args);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as Conversion;
};
const temporaries = async (): Promise<unknown> => server.run("KEYS", "redis-roar:*");
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("convert --to integers", () => {
  it("converts sorted sets and hashes, keeps their TTLs, and leaves others; a dry run writes nothing", async () => {
    const scores = range(300).flatMap((i) => [i - 150, 3 * i]);
    await server.connection.pipeline([
      ["ZADD", "z", ...scores], ["PEXPIREAT", "z", Date.now() + 1_000_000], ["HSET", "h", ...range(300).flatMap((i) => [7 * i, `${i * 1000}`])],
      ["SADD", "set", 1, 2], ["SET", "bits", "\x01\xff"], ["RI.SET", "already", 1, 1],
    ]);
    const time = await server.run("PEXPIRETIME", "z"), before = await server.run("DEBUG", "DIGEST");
    expect(await convert("--match", "*", ...INTEGERS, "--dry-run")).toMatchObject({ seen: 5, converted: 2 });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    const done = await convert("--match", "*", ...INTEGERS);
    expect(done).toMatchObject({ converted: 2, failed: [], skipped: { "of type set": 1, "of type string": 1, "of type roar-ints": 1 } });
    expect(done.bytesAfter).toBe(await server.usage("z") + await server.usage("h"));
    expect(done.bytesAfter).toBeLessThan(done.bytesBefore / 2);
    expect(await server.run("PEXPIRETIME", "z")).toBe(time);
    expect([await server.run("RI.CARD", "z"), await server.run("RI.MGET", "z", 0, 3, 897, 1)]).toEqual([300, [-150, -149, 149, null]]);
    expect([await server.run("RI.CARD", "h"), await server.run("RI.MGET", "h", 0, 7, 2093), await server.run("PTTL", "h")]).toEqual([300, [0, 1000, 299_000], -1]);
    expect(await convert("--match", "*", ...INTEGERS)).toMatchObject({ converted: 0 });
    expect(await temporaries()).toEqual([]);
  });

  it("converts what it can at the limits of 64 bits", async () => {
    const far = "18446744073709551615", many = range(600).map((i) => 1000 + i);
    await server.connection.pipeline([
      ["ZADD", "z", "-9223372036854775808", far, "9007199254740993", 1, "4e18", 2, "1e3", 3, "-0", 4, ...many.flatMap((i) => [i, i])],
      ["HSET", "h", far, "-9223372036854775808", 0, "9223372036854775807", ...many.flatMap((i) => [i, i])],
    ]);
    expect(await convert("--match", "*", ...INTEGERS)).toMatchObject({ converted: 2 });
    const values = async (key: string, ...ids: (string | number)[]): Promise<string[]> => (await server.run("RI.MGET", key, ...ids) as unknown[]).map(String);
    // A score is a double: 2^53 + 1 was rounded when it was stored.
    expect(await values("z", far, 1, 2, 3, 4)).toEqual(["-9223372036854775808", "9007199254740992", "4000000000000000000", "1000", "0"]);
    expect(await values("h", far, 0)).toEqual(["-9223372036854775808", "9223372036854775807"]);
  });

  it.each<[string, ...(string | number)[]]>([
    ["a sorted set with members that are not ids", "ZADD", "k", 1, "x"], ["a sorted set with members that are not ids", "ZADD", "k", 1, "01"],
    ["a sorted set with members that are not ids", "ZADD", "k", 1, "18446744073709551616"], ["a sorted set with members that are not ids", "ZADD", "k", 1, -1],
    ["a sorted set with scores that are not integers of 64 bits", "ZADD", "k", 1.5, 1], ["a sorted set with scores that are not integers of 64 bits", "ZADD", "k", "inf", 1],
    ["a sorted set with scores that are not integers of 64 bits", "ZADD", "k", "9223372036854775808", 1],
    ["a hash with fields that are not ids", "HSET", "k", "name", 1], ["a hash with values that are not integers of 64 bits", "HSET", "k", 1, "007"],
    ["a hash with values that are not integers of 64 bits", "HSET", "k", 1, "-0"], ["a hash with values that are not integers of 64 bits", "HSET", "k", 1, ""],
    ["a hash with values that are not integers of 64 bits", "HSET", "k", 1, "9223372036854775808"], ["would not become smaller", "ZADD", "k", 1, 1],
  ])("leaves %s", async (why, ...command) => {
    // The others make a key that has several pages.
    const isHash = command[0] === "HSET", others = why.startsWith("would") ? [] : range(5000).flatMap((i) => [2000 + i, 2000 + i]);
    await server.run("DEL", "k");
    await server.run(...command as [string], ...others);
    const before = await server.run("DEBUG", "DIGEST");
    expect(await convert("--match", "k", ...INTEGERS, "--min-saving", "10")).toMatchObject({ converted: 0, skipped: { [why]: 1 } });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    expect(await server.run("TYPE", "k")).toBe(isHash ? "hash" : "zset");
  });

  it("converts a group as a whole or not at all with --whole-groups", async () => {
    const pairs = range(300).flatMap((i) => [i, i]);
    await server.connection.pipeline([
      ...["good:1", "good:2", "bad:1", "bad:2"].map((key) => ["ZADD", key, ...pairs]), ["ZADD", "good:3", 1, 1], ["ZADD", "bad:3", 1, "x"],
      ["SADD", "read:1", ...pairs, "x"], ["SADD", "read:2", "x"], ["SADD", "odd:1", ...pairs, "x"], ["SADD", "odd:2", ""],
    ]);
    expect(await convert("--match", "*d:*", ...INTEGERS, "--whole-groups")).toMatchObject({
      converted: 3, mixed: [], refused: [{ pattern: "bad:*", keys: 3, why: "a sorted set with members that are not ids, such as bad:3" }],
    });
    expect(await convert("--match", "[ro]*:*", ...NAMES, "--whole-groups")).toMatchObject({
      converted: 2, mixed: [], refused: [{ pattern: "odd:*", keys: 2, why: "a set with an empty member, which cannot be a name, such as odd:2" }],
    });
    expect([await server.run("TYPE", "bad:1"), await server.run("TYPE", "odd:1"), await server.run("R.BITCOUNT", "read:2")]).toEqual(["zset", "set", 1]);
  });

  it("leaves a hash with a field that expires", async ({ skip }) => {
    if (!since({ Redis: "7.4", Valkey: "9.0" })) skip("fields of this server do not expire");
    await server.connection.pipeline([["HSET", "k", ...range(500)], ["HPEXPIRE", "k", 1_000_000, "FIELDS", 1, 4]]);
    expect(await convert("--match", "k", ...INTEGERS)).toMatchObject({ converted: 0, skipped: { "a hash with fields that expire": 1 } });
  });

  it("keeps all of keys of any size, and the backup has the old values", seeded(async (r) => {
    const hash = new Map(range(12_000).map(() => [r.u64() >> BigInt(r.below(60)), BigInt.asIntN(64, r.u64()) >> BigInt(r.below(60))]));
    const pairs = [...hash].map(([id, value]) => [String(id), String(value)] as const), backup = join(folder, "backup");
    for (let i = 0; i < pairs.length; i += 4000) await server.run("HSET", "large", ...pairs.slice(i, i + 4000).flat());
    await server.connection.pipeline(range(40).map((i) => ["ZADD", `z:${i}`, ...range(150).flatMap(() => [r.below(2 ** 40) - 2 ** 39, r.below(2 ** 30)])]));
    const before = await server.run("DEBUG", "DIGEST");
    expect(await convert("--match", "*", ...INTEGERS, "--backup", backup)).toMatchObject({ converted: 41, failed: [] });
    for (let i = 0; i < pairs.length; i += 4000) {
      const some = pairs.slice(i, i + 4000), values = await server.run("RI.MGET", "large", ...some.map(([id]) => id)) as unknown[];
      expect(values.map(String)).toEqual(some.map(([, value]) => value));
    }
    expect(await server.run("RI.CARD", "large")).toBe(pairs.length);
    expect(await toolOn(server, "restore", backup)).toMatchObject({ status: 0, out: "41 keys restored\n" });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
  }));
});

describe("convert --names", () => {
  it("converts sets of any strings to bitmaps over one dictionary, and keeps TTLs", seeded(async (r) => {
    const word = (): Buffer => Buffer.from(r.pick([`reader ${r.below(3000)}`, String(r.below(3000)), `\xff\n${r.below(3000)}`]), "latin1");
    const sets = range(30).map((i) => ({ key: `read:${i}`, members: [...new Map(range(200 + r.below(300)).map(word).map((one) => [one.toString("latin1"), one])).values()] }));
    sets.push({ key: "read:long", members: range(9000).map((i) => Buffer.from(`reader ${i}`)) });
    await server.connection.pipeline([...sets.map(({ key, members }) => ["SADD", key, ...members]), ["RN.ADD", "users", "somebody"]]);
    await server.connection.pipeline([["PEXPIREAT", "read:7", Date.now() + 1_000_000], ["SET", "read:bits", "\x01\xff"]]);
    const time = await server.run("PEXPIRETIME", "read:7"), before = await server.run("DEBUG", "DIGEST");
    expect(await convert("--match", "read:*", ...NAMES, "--dry-run")).toMatchObject({ converted: 31 });
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    expect(await convert("--match", "read:*", ...NAMES)).toMatchObject({ converted: 31, failed: [], skipped: { "of type string": 1 } });
    const sorted = (list: readonly Buffer[]): string[] => list.map((one) => one.toString("latin1")).sort();
    for (const { key, members } of sets) {
      expect(await server.run("R.BITCOUNT", key), key).toBe(members.length);
      const bits = await server.run("RN.GETBITS", "users", key, ...sorted(members).map((one) => Buffer.from(one, "latin1"))) as number[];
      expect(bits.every((bit) => bit === 1), key).toBe(true);
    }
    expect([await server.run("RN.ID", "users", "somebody"), await server.run("PEXPIRETIME", "read:7"), await temporaries()]).toEqual([[0], time, []]);
    expect(await convert("--match", "read:*", ...NAMES)).toMatchObject({ converted: 0 });
  }));

  it("leaves sets whose members cannot be names, and refuses a key that is no dictionary", async () => {
    await server.connection.pipeline([["SADD", "empty", "", ...range(100)], ["SADD", "long", "x".repeat(65_536), ...range(100)], ["SADD", "text", ...range(100)]]);
    const before = await server.run("DEBUG", "DIGEST");
    expect(await convert("--match", "[el]*", ...NAMES)).toMatchObject({
      converted: 0, skipped: { "a set with an empty member, which cannot be a name": 1, "a set with a member that is too long for a name": 1 },
    });
    expect(await toolOn(server, "convert", "--match", "*", "--names", "text")).toMatchObject({ status: 1, out: "", error: expect.stringContaining("WRONGTYPE") });
    for (const other of [["--to", "native"], ["--wide"], ["--assume-bitmaps"]]) {
      expect(await toolOn(server, "convert", "--match", "*", ...NAMES, ...other), String(other)).toMatchObject({ status: 2, out: "" });
    }
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
  });

  describe("in a cluster", () => {
    const cluster = useCluster(2);

    it("converts the sets in the slot of the dictionary only", async () => {
      const members = range(300).map((i) => `reader ${i}`);
      for (const key of ["{a}:read", "{b}:read", "{c}:read"]) await (await cluster.homeOf(key)).server.run("SADD", key, ...members);
      const { status, out } = await toolHere("convert", "--json", "--match", "*", "--names", "{a}:users", "-p", String(cluster.primaries[0]!.server.port));
      expect(status).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ converted: 1, skipped: { "in another slot than the dictionary": 2 } });
    });
  });
});
