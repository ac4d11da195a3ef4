// advise on sorted sets, hashes and sets of strings: its figures are those of the real conversion.

import { describe, expect, it } from "vitest";
import type { Advice, AdviceRow } from "../../cli/src/advising/rows.ts";
import type { Conversion } from "../../cli/src/convert.ts";
import { SEGMENT_BYTES } from "../../cli/src/core/sizes.ts";
import { inParts } from "../../cli/src/load.ts";
import { type Random, random, seed, seeded } from "../support/random.ts";
import type { Argument } from "../support/resp.ts";
import { useServer } from "../support/suite.ts";
import { toolOn } from "../support/tool.ts";
import { since } from "../support/version.ts";

const server = useServer();
const printed = async <T>(...args: string[]): Promise<T> => {
  const { status, out, error } = await toolOn(server, ...args, "--json");
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as T;
};
const advise = (...args: string[]): Promise<Advice> => printed("advise", "--share", "100", ...args);
const convert = (match: string, ...args: string[]): Promise<Conversion> => printed("convert", "--match", match, ...args);
const rowOf = ({ rows }: Advice, pattern: string): AdviceRow => rows.find((row) => row.pattern === pattern)!;
/** Bytes now, of all members. */
const usageOf = async (key: string): Promise<number> => await server.run("MEMORY", "USAGE", key, "SAMPLES", 0) as number;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Adds elements to a key, in several commands if they are many. */
const fill = (words: readonly string[], elements: readonly Argument[][]): Promise<unknown> =>
  server.connection.pipeline(inParts(elements, 2000).map((part) => [...words, ...part.flat()]));

/** Ids and values below these numbers of bits, some of the values negative. */
const pairs = (r: Random, count: number, idBits: number, valueBits: number): [id: bigint, value: bigint][] =>
  range(count).map(() => [r.u64() >> BigInt(64 - idBits), BigInt.asIntN(64, r.u64()) >> BigInt(64 - valueBits)]);

describe("advise on integers for ids", () => {
  it.each<[string, number, number, number]>([
    ["tiny", 1, 5, 3], ["a few", 30, 40, 20], ["as many as a hash has in a listpack", 100, 10, 7], ["a hundred far apart", 140, 64, 64],
    ["sparse", 3000, 40, 20], ["dense", 9000, 13, 9], ["wide", 2000, 64, 64], ["large and sparse", 32_000, 40, 30], ["large and dense", 60_000, 16, 40],
  ])("is exact to the byte: %s", async (what, count, idBits, valueBits) => {
    const r = random(seed), list = pairs(r, count, idBits, valueBits), expires = r.chance(0.5);
    await fill(["ZADD", "sorted:1"], list.map(([id, value]) => [String(value), String(id)]));
    await fill(["HSET", "hashed:1"], list.map(([id, value]) => [String(id), String(value)]));
    if (expires) await server.connection.pipeline([["EXPIRE", "sorted:1", 1000], ["EXPIRE", "hashed:1", 1000]]);
    const before = await server.run("DEBUG", "DIGEST"), advice = await advise();
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    for (const [key, type] of [["sorted", "zset"], ["hashed", "hash"]] as const) {
      const row = rowOf(advice, `${key}:*`);
      expect(row).toMatchObject({ type, kind: "integers for ids", family: "RI", isConvertible: true, keys: 1, keysRead: 1, uncertainty: 0, names: null, bytesDictionary: null });
      if (count < 1000) expect(row.bytesNow).toBe(await usageOf(`${key}:1`));
      // All keys of the group are converted, also if they become larger.
      const options = ["--to", "integers", "--whole-groups"], dry = await convert(`${key}:*`, ...options, "--dry-run"), done = await convert(`${key}:*`, ...options);
      expect(done, `${what}, SEED=${seed}`).toMatchObject({ converted: 1, bytesAfter: row.bytesRoaring });
      expect(await server.usage(`${key}:1`), `${what}, SEED=${seed}`).toBe(row.bytesRoaring);
      if (what.startsWith("large")) expect(row.bytesRoaring).toBeGreaterThan(SEGMENT_BYTES);
      expect([dry.bytesAfter, row.saved]).toEqual([row.bytesRoaring, row.bytesNow - row.bytesRoaring!]);
      expect(row).toMatchObject({ largerKeys: row.saved! < 0 ? 1 : 0, largerBytes: Math.max(0, -row.saved!) });
    }
    expect(advice.notes).toEqual([expect.stringMatching(/^2 sorted sets and hashes have integers for ids; convert --to integers /)]);
  });

  it("adds up the keys of a group, and estimates from a sample", seeded(async (r) => {
    for (const i of range(60)) await fill(["ZADD", `z:${i}`], pairs(r, 200 + r.below(300), 30, 12).map(([id, value]) => [String(value), String(id)]));
    const all = rowOf(await advise(), "z:*"), sampled = await advise("--sample", "20"), some = rowOf(sampled, "z:*");
    expect(all).toMatchObject({ keys: 60, keysRead: 60, uncertainty: 0, largerKeys: 0 });
    expect(some.keysRead).toBeLessThan(60);
    expect(sampled.notes).toContain("figures of sampled groups are estimates");
    // Sizes are between 600 and 6000 bytes each, whatever is drawn, so an estimate cannot be further off.
    expect(some.bytesRoaring! / all.bytesRoaring!).toBeGreaterThan(0.5);
    expect(some.bytesRoaring! / all.bytesRoaring!).toBeLessThan(2);
    expect(await convert("z:*", "--to", "integers")).toMatchObject({ converted: 60, bytesAfter: all.bytesRoaring });
  }));

  it.each<[string, ...Argument[]]>([
    ["a member that is no id", "ZADD", "k", 1, "x"], ["a member with a leading zero", "ZADD", "k", 1, "01"], ["a negative member", "ZADD", "k", 1, -1],
    ["a member above 64 bits", "ZADD", "k", 1, "18446744073709551616"], ["a score with a fraction", "ZADD", "k", 1.5, 1], ["an infinite score", "ZADD", "k", "inf", 1],
    ["a score above 64 bits", "ZADD", "k", "9223372036854775808", 1], ["a value that is text", "HSET", "k", 1, "x"], ["a value with a leading zero", "HSET", "k", 1, "007"],
    ["an empty value", "HSET", "k", 1, ""], ["fields that are names, and equal values", "HSET", "k", ...range(20).flatMap((i) => [`name ${i}`, 1])],
    ["fields that are names, and a negative value", "HSET", "k", ...range(20).flatMap((i) => [`name ${i}`, i - 1])],
    ["an object with numbers", "HSET", "k", "visits", 31, "likes", 4], ["an empty field", "HSET", "k", "", 1000],
  ])("says that they are not integers: %s", async (_, ...command) => {
    const isHash = command[0] === "HSET", others = command.length > 10 || command.includes("visits") ? [] : range(1500).flatMap((i) => [2000 + i, 5000 + i]);
    await server.run(...command as [string], ...others);
    const advice = await advise();
    expect(advice.rows).toMatchObject([{ pattern: "k", type: isHash ? "hash" : "zset", kind: "not integers", isConvertible: false, bytesRoaring: null, saved: null, family: null }]);
    expect(advice).toMatchObject({ bytesConvertible: 0, notes: [], vanished: 0 });
    expect(await convert("k", "--to", "integers")).toMatchObject({ converted: 0 });
  });

  it("marks the size of a key of many segments as not exact", async () => {
    await fill(["HSET", "h"], range(110_000).map((i) => [2 ** 40 + 1000 * i, (i * 7919) % 2 ** 30]));
    const row = rowOf(await advise(), "h");
    expect(row.uncertainty).toBeNull();
    expect((await toolOn(server, "advise")).out).toMatch(/^h +integers for ids .* ~[\d.]+ KB +RI /m);
    const { bytesAfter } = await convert("h", "--to", "integers");
    expect(Math.abs(bytesAfter / row.bytesRoaring! - 1)).toBeLessThan(0.05);
  });

  it("tells keys of one group apart", async () => {
    await server.connection.pipeline([
      ["ZADD", "k:1", ...range(300).flatMap((i) => [i, i])], ["ZADD", "k:2", 1, "x"], ["HSET", "k:3", ...range(300).flatMap((i) => [i, -i])], ["HSET", "k:4", "a", "b"],
    ]);
    const { rows, bytesConvertible } = await advise();
    expect(rows.map(({ type, kind, keys }) => `${type} ${kind} ${keys}`).sort()).toEqual(["hash integers for ids 1", "hash not integers 1", "zset integers for ids 1", "zset not integers 1"]);
    expect(bytesConvertible).toBe(await usageOf("k:1") + await usageOf("k:3"));
  });

  it("leaves hashes with fields that expire alone", async ({ skip }) => {
    if (!since({ Redis: "7.4", Valkey: "9.0" })) skip("fields of this server do not expire");
    await server.connection.pipeline([["HSET", "k", ...range(500)], ["HPEXPIRE", "k", 1_000_000, "FIELDS", 1, 4]]);
    expect((await advise()).rows).toMatchObject([{ kind: "fields that expire", isConvertible: false, bytesRoaring: null }]);
  });
});

describe("advise on large bitmaps", () => {
  it("is exact to the byte, segments included", seeded(async (r) => {
    await fill(["SADD", "set:1"], range(120_000).map(() => [r.below(2 ** 32)]));
    await server.run("SET", "bits:1", Buffer.from(range(2_000_000).map(() => (r.chance(0.1) ? 1 << r.below(8) : 0))));
    const advice = await advise(), dry = await convert("*", "--dry-run");
    expect(await convert("*"), `SEED=${seed}`).toMatchObject({ converted: 2 });
    const [set, native] = [await server.usage("set:1"), await server.usage("bits:1")];
    expect(Math.min(set, native)).toBeGreaterThan(SEGMENT_BYTES);
    expect([rowOf(advice, "set:*").bytesRoaring, rowOf(advice, "bits:*").bytesRoaring, dry.bytesAfter], `SEED=${seed}`).toEqual([set, native, set + native]);
  }));
});
