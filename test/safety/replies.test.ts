// The limit of a reply in bytes. What a list costs is the number of its members times the bytes of the largest of them; array headers are
// not counted.

import { beforeEach, describe, expect, it } from "vitest";
import { families, type Family, type Member, member, R64, range } from "../support/family.ts";
import type { Argument, Reply } from "../support/resp.ts";
import { replies, roarOn } from "../support/roar.ts";
import { byName, useServer } from "../support/suite.ts";

/** How many members of the family's greatest width fit the limit. */
const FIT = 100;
/** Members of that width, and the bytes of one of them in a reply. */
const wide = ({ bits }: Family): { first: bigint; each: number } => (bits === 32
  ? { first: 4_000_000_000n, each: ":4000000000\r\n".length }
  : { first: 2n ** 64n - 1000n, each: "$20\r\n18446744073709550616\r\n".length });

describe.each(byName(families))("a reply of more bytes than the limit: %s", (_, family) => {
  const { first, each } = wide(family), limit = FIT * each;
  const server = useServer({ config: [`redis-roar.reply-limit-bytes ${limit}`] });
  const roar = roarOn(server, family);
  const TOO_LARGE = `ERR Roaring: reply too large: maximum ${limit} bytes (redis-roar.reply-limit-bytes)`;
  const quarter = Math.floor(limit / 4);
  const TOO_LARGE_IN_SCRIPT = `reply too large: maximum ${quarter} bytes (in scripts a quarter of redis-roar.reply-limit-bytes)`;
  const members = range(0, FIT + 1).map((i): Member => {
    const value = first + BigInt(i);
    return family.bits === 32 ? Number(value) : value;
  });
  const listed = replies(members);
  const scripted = (...command: Argument[]): [string, ...Argument[]] => ["EVAL", "return redis.call(unpack(ARGV))", 1, "k", ...command];

  beforeEach(async () => {
    await roar.load("at", members.slice(0, FIT));
    await roar.load("over", members);
  });

  it("is refused, one of as many is not", async () => {
    expect(await roar.run("GETINTARRAY", "at")).toEqual(listed.slice(0, FIT));
    expect(await roar.refusal("GETINTARRAY", "over")).toBe(TOO_LARGE);
    expect(await roar.run("RANGE", "over", 0, family.last, "LIMIT", FIT)).toEqual(listed.slice(0, FIT));
    expect(await roar.run("RANGE", "over", first + 1n, family.last)).toEqual(listed.slice(1));
    expect(await roar.refusal("RANGE", "over", 0, family.last)).toBe(TOO_LARGE);
    expect(await roar.refusal("RANGE", "over", first, family.last, "LIMIT", FIT + 1)).toBe(TOO_LARGE);
    expect(await roar.run("RANGE", "over", 0, family.last, "REV", "LIMIT", FIT)).toEqual(listed.slice(1).reverse());
    expect(await roar.refusal("RANGE", "over", 0, family.last, "REV")).toBe(TOO_LARGE);
    expect(await roar.run("QUERY", "#1", 1, "over", "MEMBERS", "REV", "LIMIT", FIT)).toEqual(listed.slice(1).reverse());
    expect(await roar.run("QUERY", "#1", 1, "over", "MEMBERS", "REV", "FROM", members[FIT - 1]!)).toEqual(listed.slice(0, FIT).reverse());
    expect(await roar.refusal("QUERY", "#1", 1, "over", "MEMBERS", "REV")).toBe(TOO_LARGE);
    expect(await roar.run("RANGEINTARRAY", "over", 1, FIT)).toEqual(listed.slice(1));
    expect(await roar.run("RANGEINTARRAY", "over", 1, FIT + 1000)).toEqual(listed.slice(1));
    expect(await roar.refusal("RANGEINTARRAY", "over", 0, FIT)).toBe(TOO_LARGE);
  });

  it("is refused for pairs of RANGES, each of which has four bytes more", async () => {
    const pairs = Math.floor(limit / (2 * each + "*2\r\n".length)), { last } = family;
    await roar.load("runs", range(0, 2 * pairs).map((i) => member(first + BigInt(3 * i))));
    expect(await roar.run("RANGES", "runs", 0, last, "LIMIT", pairs)).toHaveLength(pairs);
    expect(await roar.refusal("RANGES", "runs", 0, last, "LIMIT", pairs + 1)).toBe(TOO_LARGE);
    expect(await roar.refusal("RANGES", "runs", 0, last)).toBe(TOO_LARGE);
    await roar.run("SETFULL", "full");
    expect(await roar.run("RANGES", "full", 0, last)).toHaveLength(1);
  });

  it("is cut short by SCAN, which goes on from its cursor", async () => {
    expect(await roar.run("SCAN", "at", 0, "COUNT", 1000)).toEqual(["0", listed.slice(0, FIT)]);
    expect(await roar.run("SCAN", "over", 0, "COUNT", 1000)).toEqual([String(members[FIT]), listed.slice(0, FIT)]);
    expect(await roar.run("SCAN", "over", members[FIT]!, "COUNT", 1000)).toEqual(["0", listed.slice(FIT)]);
    expect(await roar.run("SCAN", "over", first + 1n, "COUNT", family.last)).toEqual(["0", listed.slice(1)]);
    await roar.run("SETFULL", "full");
    let cursor: Argument = first;
    for (let found = 0; found < 5 * FIT; found += FIT) {
      const [next, part] = (await roar.run("SCAN", "full", cursor, "COUNT", 10_000)) as [string, Reply[]];
      expect(part).toHaveLength(FIT);
      expect(BigInt(next)).toBe(first + BigInt(found + FIT));
      cursor = next;
    }
  });

  it("is refused if it holds bits or a string", async () => {
    const bits = Math.floor(limit / ":0\r\n".length);
    expect(await roar.run("GETBITS", "at", ...range(0, bits))).toEqual(range(0, bits).map(() => 0));
    expect(await roar.refusal("GETBITS", "at", ...range(0, bits + 1))).toBe(TOO_LARGE);
    expect(await roar.run("GETBITS", "none", ...range(0, bits + 1))).toEqual([]);
    await roar.load("string", [limit - 1]);
    expect(await roar.run("GETBITARRAY", "string")).toBe(`${"0".repeat(limit - 1)}1`);
    await roar.load("string", [limit]);
    expect(await roar.refusal("GETBITARRAY", "string")).toBe(TOO_LARGE);
    await roar.load("string", range(0, limit / 2, 5));
    expect(await roar.refusal("EXPORT", "string")).toBe(TOO_LARGE);
    await roar.load("string", [16 * limit]);
    expect(await roar.run("TOBITMAP", "native", "string")).toBe(2 * limit + 1); // no reply holds this string
  });

  it("is judged by the largest member that it lists, not by those that it does not list", async () => {
    const one = ":1\r\n".length, digits = Math.floor(limit / one);
    await roar.load("k", [...range(0, 9), ...members]);
    expect(await roar.refusal("RANGE", "k", 0, family.last, "LIMIT", FIT + 1)).toBe(TOO_LARGE);
    expect(await roar.run("RANGE", "k", 0, family.last, "LIMIT", FIT)).toHaveLength(FIT);
    await roar.run("SETFULL", "full");
    expect(await roar.run("RANGE", "full", 0, 9)).toEqual(range(0, 10));
    const fives = Math.floor(limit / ":99999\r\n".length);
    expect(await roar.run("RANGE", "full", 99_999 - fives + 1, 99_999)).toHaveLength(fives);
    expect(await roar.refusal("RANGE", "full", 99_999 - fives, 99_999)).toBe(TOO_LARGE);
    expect(await roar.refusal("RANGE", "full", 0, digits)).toBe(TOO_LARGE);
  });

  it("is refused to scripts at a quarter of the limit", async () => {
    const fit = Math.floor(quarter / each);
    expect(await server.run(...scripted(roar.name("RANGE"), "at", 0, family.last, "LIMIT", fit))).toHaveLength(fit);
    for (const command of [["RANGE", "at", 0, family.last, "LIMIT", fit + 1], ["RANGEINTARRAY", "at", 0, fit], ["GETINTARRAY", "at"]]) {
      const [name, ...args] = command as [string, ...Argument[]];
      expect(await server.connection.refusal(...scripted(roar.name(name), ...args)), name).toContain(TOO_LARGE_IN_SCRIPT);
    }
    const scan = (await server.run(...scripted(roar.name("SCAN"), "at", 0, "COUNT", FIT))) as [string, Reply[]];
    expect(scan[0]).toBe(String(members[fit]));
    expect(scan[1]).toHaveLength(fit);
    await roar.load("string", [quarter]);
    expect(await server.connection.refusal(...scripted(roar.name("GETBITARRAY"), "string"))).toContain(TOO_LARGE_IN_SCRIPT);
    const [, , transaction] = await server.connection.pipeline([["MULTI"], [roar.name("GETINTARRAY"), "at"], ["EXEC"]]);
    expect((transaction as Reply[])[0]).toHaveLength(FIT);
  });

  it("is counted as it is sent: 64-bit offsets cost more as strings", async () => {
    await server.run("CONFIG", "SET", "redis-roar.r64-replies", "strings");
    try {
      const cost = (family === R64 ? "$3\r\n100\r\n" : ":100\r\n").length, fit = Math.floor(limit / cost);
      await roar.run("SETRANGE", "k", 100, 1000);
      expect(await roar.run("RANGE", "k", 0, 999, "LIMIT", fit)).toHaveLength(fit);
      expect(await roar.refusal("RANGE", "k", 0, 999, "LIMIT", fit + 1)).toBe(TOO_LARGE);
    } finally {
      await server.run("CONFIG", "SET", "redis-roar.r64-replies", "compatible");
    }
  });
});

describe.each(byName(families))("the least limit of a reply: %s", (_, family) => {
  const server = useServer({ config: ["redis-roar.reply-limit-bytes 1024", "redis-roar.r64-replies strings"] });
  const roar = roarOn(server, family);

  it("lets SCAN read a bitmap to its end, in scripts too", async () => {
    const members = range(0, 200).map((i) => family.last - BigInt(i)).reverse();
    await roar.run("SETINTARRAY", "k", ...members);
    for (const script of [false, true]) {
      const seen: bigint[] = [];
      let cursor = "0";
      do {
        const before = script ? ["EVAL", "return redis.call(unpack(ARGV))", 1, "k"] : [];
        const [next, part] = (await server.run(...before, roar.name("SCAN"), "k", cursor, "COUNT", 1000)) as [string, Reply[]];
        seen.push(...part.map((one) => BigInt(String(one))));
        cursor = next;
      } while (cursor !== "0");
      expect(seen).toEqual(members);
    }
  });
});
