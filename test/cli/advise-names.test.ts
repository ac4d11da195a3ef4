// advise on names: sets of strings as bitmaps with a dictionary, and hashes that give ids to names.

import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GroupNames } from "../../cli/src/advising/names.ts";
import type { Advice, AdviceRow } from "../../cli/src/advising/rows.ts";
import type { Conversion } from "../../cli/src/convert.ts";
import { DictionarySize, recordBytes } from "../../cli/src/core/dictionary-size.ts";
import { keyBytes, keyLayout } from "../../cli/src/core/sizes.ts";
import { type Random, seed, seeded } from "../support/random.ts";
import { useServer } from "../support/suite.ts";
import { loadCore, toolOn } from "../support/tool.ts";
import { serverName } from "../support/version.ts";

const server = useServer();
const core = await loadCore();
const [family, version] = serverName.split(" ") as [string, string], layout = keyLayout({ name: family === "Valkey" ? "valkey" : "redis", version });
const printed = async <T>(...args: string[]): Promise<T> => {
  const { status, out, error } = await toolOn(server, ...args, "--json");
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as T;
};
const advise = (...args: string[]): Promise<Advice> => printed("advise", "--share", "100", ...args);
const rowOf = ({ rows }: Advice, pattern: string): AdviceRow => rows.find((row) => row.pattern === pattern)!;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

const uuid = (i: number): string => `6f1c5b0e-96a6-4b9a-8f0e-${i.toString(16).padStart(12, "0")}`;
/** Names of all forms that records have, in ASCII. */
const name = (r: Random, i: number): string => r.pick([
  uuid(i), `user${i}@example.com`, String(10n ** 15n + BigInt(i)), i.toString(16).padStart(16, "a"), `[${i}]`, `${"x".repeat(r.below(300))} ${i}`, `Tok_${i.toString(36)}`, `n${i}`,
]);
/** The difference between two sizes, as a share of the second one. */
const off = (a: number, b: number): number => Math.abs(a - b) / b;
/** How far off a dictionary may be: tables are a third of it or less, and one that grew a little sooner or later differs by a quarter. */
const OFF = 0.1;

describe("the size of a dictionary", () => {
  it("is the server's: to the byte up to 64 names, and nearly so beyond", seeded(async (r) => {
    const size = new DictionarySize(), records: number[] = [], own = keyBytes(layout, 16, 1, false);
    for (const stop of [1, 2, 10, 30, 63, 64, 65, 200, 1000, 5000, 14_000, 20_000, 40_000]) {
      const names = range(stop - size.names).map((i) => name(r, size.names + i));
      for (const one of names) {
        records.push(recordBytes(core.recordOf(Buffer.from(one))));
        size.add(records.at(-1)!);
      }
      await server.connection.pipeline(range(Math.ceil(names.length / 1000)).map((i) => ["RN.ADD", "d", ...names.slice(1000 * i, 1000 * i + 1000)]));
      const usage = await server.usage("d"), what = `${stop} names, SEED=${seed}`;
      if (size.isSmall) expect(size.bytes + own, what).toBe(usage);
      else expect(off(size.bytes + own, usage), what).toBeLessThan(OFF);
    }
    expect(records.every((bytes) => bytes >= 2)).toBe(true);
  }));

  it("counts each name with the record that the dictionary has of it", async () => {
    // A dictionary of one name is a heap: 28 bytes, and the record.
    const names = ["a", "7", "10", "18446744073709551615", "18446744073709551616", uuid(1), uuid(1).toUpperCase(), "6F1c", "ab".repeat(32), "ab".repeat(33), "word", "user:1234", "Tok_3nA9x-",
      "x".repeat(19), "x".repeat(20), "x".repeat(22), "x".repeat(23), "x".repeat(127), "x".repeat(128), "x".repeat(4000), "\x7f".repeat(60_000), "\0"];
    const own = keyBytes(layout, 16, 1, false);
    for (const one of names) {
      const size = new DictionarySize();
      size.add(recordBytes(core.recordOf(Buffer.from(one))));
      await server.connection.pipeline([["DEL", "d"], ["RN.ADD", "d", one]]);
      // Servers grow small blocks by what is needed, and larger ones by an eighth more if they do not know the size classes.
      expect(size.bytes + own, `${one.slice(0, 40)} (${one.length})`).toBe(await server.usage("d"));
    }
  });
});

describe("advise on sets of strings", () => {
  it("measures bitmaps with one dictionary for each group", seeded(async (r) => {
    const people = range(3000).map((i) => name(r, i)), some = (count: number): string[] => range(count).map(() => r.pick(people));
    const groups: [pattern: string, sets: string[][]][] = [
      ["read:*", range(40).map(() => some(100 + r.below(300)))], ["team:*", range(30).map(() => some(30))],
      ["mixed:*", range(20).map((i) => [...range(50).map((n) => String(n * 7)), `name ${i}`])],
    ];
    for (const [pattern, sets] of groups) await server.connection.pipeline(sets.map((set, i) => ["SADD", pattern.replace("*", String(i)), ...set]));
    const before = await server.run("DEBUG", "DIGEST"), advice = await advise();
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    for (const [pattern, sets] of groups) {
      const row = rowOf(advice, pattern), names = new Set(sets.flat()), dictionary = `d:${pattern}`;
      expect(row, `SEED=${seed}`).toMatchObject({
        type: "set", kind: "names", family: "R, RN", isConvertible: true, keys: sets.length, keysRead: sets.length, uncertainty: null, names: names.size,
      });
      expect(row.saved).toBe(row.bytesNow - row.bytesRoaring!);
      // One group of keys, so ids have the same order.
      const done = await printed<Conversion>("convert", "--match", pattern, "--names", dictionary, "--whole-groups", "--parallel", "1"), usage = await server.usage(dictionary);
      expect(done, `SEED=${seed}`).toMatchObject({ converted: sets.length, failed: [] });
      expect(off(row.bytesDictionary!, usage), `${pattern}, SEED=${seed}`).toBeLessThan(OFF);
      expect(off(row.bytesRoaring! - row.bytesDictionary!, done.bytesAfter), `${pattern}, SEED=${seed}`).toBeLessThan(OFF);
    }
    expect(advice.notes.filter((note) => note.includes("convert --names"))).toHaveLength(1);
    expect(advice.bytesRoaring).toBe(groups.reduce((sum, [pattern]) => sum + rowOf(advice, pattern).bytesRoaring!, 0));
  }));

  it("counts only sets that are all integers as bitmaps of their members, and none with a member that cannot be a name", async () => {
    await server.connection.pipeline([
      ["SADD", "k:1", ...range(2500)], ["SADD", "k:2", ...range(2500), "x"], ["SADD", "k:3", "", "a"], ["SADD", "k:4", "x".repeat(65_536)], ["SADD", "k:5", "y".repeat(65_535)],
    ]);
    const { rows } = await advise();
    expect(rows.map(({ kind, keys, names, family: is }) => [kind, keys, names, is]).sort()).toEqual([
      ["integers", 1, null, "R"], ["names", 2, 2502, "R, RN"], ["not integers", 2, null, null],
    ]);
  });

  it("says so if a group would become larger, and leaves it out of the totals", async () => {
    // A set with one member of this length takes little more than 64 KiB. In a dictionary each is a segment, which takes 80 KiB.
    await server.connection.pipeline(range(10).map((i) => ["SADD", `own:${i}`, `${"[".repeat(65_529)}${i}`]));
    const advice = await advise(), row = rowOf(advice, "own:*");
    expect(row).toMatchObject({ kind: "names", isConvertible: false, keys: 10, names: 10 });
    expect(row.saved).toBeLessThan(0);
    expect(advice).toMatchObject({ bytesConvertible: 0, bytesRoaring: 0, notes: ["sets like own:* would be larger as bitmaps with a dictionary: they share too few names"] });
    expect((await toolOn(server, "advise")).out).toContain("nothing here would be smaller");
  });

  it("estimates sampled groups, and says so", async () => {
    const word = (i: number): string => `person ${i}`;
    // All sets have the same names, in one group; in the other one each has its own.
    await server.connection.pipeline(range(40).flatMap((i) => [["SADD", `same:${i}`, ...range(200).map(word)], ["SADD", `own:${i}`, ...range(200).map((n) => word(200 * i + n))]]));
    const all = await advise(), sampled = await advise("--sample", "10");
    expect(sampled.notes).toContain("figures of sampled groups are estimates");
    for (const pattern of ["same:*", "own:*"]) {
      const [whole, part] = [rowOf(all, pattern), rowOf(sampled, pattern)];
      expect(part).toMatchObject({ keys: 40, uncertainty: null });
      expect(off(part.names!, whole.names!), pattern).toBeLessThan(0.03);
      expect(part.keysRead).toBeLessThan(40);
      // Heaps and tables grow in steps, so about as many names may take a half more.
      expect(off(part.bytesRoaring!, whole.bytesRoaring!), pattern).toBeLessThan(0.5);
    }
    expect([rowOf(all, "same:*").names, rowOf(all, "own:*").names]).toEqual([200, 8000]);
  });

  it("estimates groups that turn out to be one, as if they had had one dictionary", seeded(async (r) => {
    const letters = (i: number): string => String.fromCharCode(97 + i % 26, 97 + Math.floor(i / 26), 97 + i % 7);
    const sets = range(60).map(() => range(50 + r.below(300)).map(() => `person ${r.below(2000)}`));
    await server.connection.pipeline(sets.map((set, i) => ["SADD", `friends:${letters(i)}`, ...set]));
    const advice = await advise(), row = rowOf(advice, "friends:*");
    expect(row, `SEED=${seed}`).toMatchObject({ keys: 60, keysRead: 60, kind: "names", names: new Set(sets.flat()).size });
    expect(advice.notes.filter((note) => note.includes("were joined"))).toHaveLength(1);
    const done = await printed<Conversion>("convert", "--match", "friends:*", "--names", "d", "--whole-groups", "--parallel", "1");
    // Bitmaps by ids of dictionaries of their own would be a third as large. With few sets, the estimate is too large, by up to a third.
    expect(off(row.bytesRoaring! - row.bytesDictionary!, done.bytesAfter), `SEED=${seed}`).toBeLessThan(0.5);
    expect(off(row.bytesDictionary!, await server.usage("d"))).toBeLessThan(OFF);
  }));

  it("shows names in the table and on the page", async () => {
    await server.connection.pipeline(range(20).map((i) => ["SADD", `read:${i}`, ...range(300).map((n) => `<person> ${n + i}`)]));
    const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), page = join(folder, "page.html");
    const { out } = await toolOn(server, "advise", "--html", page), html = readFileSync(page, "utf8");
    rmSync(folder, { recursive: true });
    expect(out).toMatch(/^read:\* +names +20 .* ~[\d.]+ [KMG]?B +R, RN /m);
    expect(out).toMatch(/can be converted, and would take/);
    expect(html).toContain("<td>R, RN</td>");
  });
});

describe("the names of a group", () => {
  const add = (names: GroupNames, list: readonly string[]): (number | undefined)[] => list.map((one) => names.idOf(core, Buffer.from(one)));

  it("have ids in the order of their first appearance", seeded(async (r) => {
    const names = new GroupNames({ left: Infinity }), ids = new Map<string, number>();
    for (const list of range(20).map(() => range(300).map(() => name(r, r.below(500))))) {
      for (const one of list) if (!ids.has(one)) ids.set(one, ids.size);
      expect(add(names, list), `SEED=${seed}`).toEqual(list.map((one) => ids.get(one)));
    }
    expect(names.with(0, 20).names).toBe(ids.size);
  }));

  it("are no more than there is room for, over all groups", () => {
    const budget = { left: 100 }, one = new GroupNames(budget), other = new GroupNames(budget);
    expect(add(one, range(60).map(String))).toEqual(range(60));
    expect(add(other, range(60).map(String)).filter((id) => id === undefined)).toHaveLength(20);
    expect([one.isFull, other.isFull, other.names, budget.left]).toEqual([false, true, 40, 0]);
    // A key has about 1,000 names more: then the estimate has them.
    other.addBeyond(1000);
    expect(other.with(0, 1).names).toBe(1040);
    expect(other.with(0, 1).bytes).toBeGreaterThan(8000);
    // Those that both groups have are given back.
    one.join(other);
    expect([one.names, one.isFull, one.isJoined, budget.left]).toEqual([60, true, true, 40]);
  });

  it("grow with further keys as far as those that were read have names of their own", () => {
    const same = new GroupNames({ left: Infinity }), own = new GroupNames({ left: Infinity });
    for (const i of range(10)) {
      add(same, range(50).map(String));
      add(own, range(50).map((n) => String(50 * i + n)));
    }
    expect(same.with(1000, 10)).toMatchObject({ names: 50 });
    expect(off(own.with(90, 10).names, 5000)).toBeLessThan(0.03);
  });
});

describe("advise on hashes that give ids to names", () => {
  it("says that they are such, and what a dictionary would take", async () => {
    const mails = range(3000).map((i) => `person${i}@example.com`);
    // Ids in any order, some of them large, and fields of which some are integers.
    await server.connection.pipeline([
      ["HSET", "ids:1", ...mails.flatMap((mail, i) => [mail, 5 * i])], ["HSET", "few:1", ...range(8).flatMap((i) => [`name ${i}`, i])], ["HSET", "far", ...range(10).flatMap((i) => [`n${i}`, `1844674407370955161${i % 6}`]), "n5", 3],
      ["HSET", "numbers", ...range(20).flatMap((i) => [i, 100 + i]), "name", 7], ["RN.ADD", "dictionary", ...mails], ["RN.ADD", "eight", ...range(8).map((i) => `name ${i}`)],
    ]);
    const advice = await advise(), row = rowOf(advice, "ids:*"), few = rowOf(advice, "few:*");
    expect(row).toMatchObject({ type: "hash", kind: "ids of names", family: "RN", isConvertible: false, keys: 1, names: 3000, uncertainty: null, saved: row.bytesNow - row.bytesRoaring! });
    expect(off(row.bytesRoaring!, await server.usage("dictionary"))).toBeLessThan(OFF);
    expect(few).toMatchObject({ kind: "ids of names", names: 8 });
    expect(few.bytesDictionary! - keyBytes(layout, 16, 5, false)).toBe(await server.usage("eight") - keyBytes(layout, 16, 5, false));
    expect([rowOf(advice, "far").kind, rowOf(advice, "numbers").kind]).toEqual(["not integers", "ids of names"]);
    expect(advice.bytesConvertible).toBe(0);
    expect(advice.notes).toEqual([expect.stringMatching(/^hashes like .* give ids to names\. A dictionary \(RN\.\*\) could take their place/)]);
    expect(await printed("convert", "--match", "*", "--to", "integers")).toMatchObject({ converted: 0 });
  });
});
