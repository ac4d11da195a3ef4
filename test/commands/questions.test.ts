// QUERY and QUERYSTORE: forms, refusals, side effects. expression.test.ts tests the expressions.

import { expect, it } from "vitest";
import { itMindsMemory, itRunsEverywhere } from "../support/contract.ts";
import { asReply, member, notOffsets, offsetCount, otherThan, range } from "../support/family.ts";
import { emptyStream, readPayload } from "../support/format.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { bytesOf, type Argument } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { arityError, describeCommand, expectEqual, NOT_AN_INTEGER, offsetError, type Suite, SYNTAX, WRONGTYPE } from "../support/suite.ts";

const NO_KEYS = "ERR numkeys should be greater than 0", TOO_FEW_KEYS = "ERR Number of keys can't be greater than number of args";
const MORE_KEYS = `${SYNTAX}: more keys than numkeys`;
const MISTAKE = "ERR Roaring: query: expected an expression at character 4";

/** `ahead`: the arguments before the expression. */
function itChecksItsKeys({ run, refusal, server, roar, family, name }: Suite, ahead: readonly Argument[]): void {
  it.each([["0"], ["-1"], [""], ["x"], ["1.0"], ["+1"], ["01"], ["4294967296"], ["18446744073709551617"]])("refuses %j keys", async (count) => {
    expect(await refusal(...ahead, "#1", count, "k")).toBe(NO_KEYS);
    expect(await refusal(...ahead, "not an expression", count, "k")).toBe(NO_KEYS);
  });

  it("refuses more keys than there are, and too many", async () => {
    for (const count of [2, 3, 65_536, 4_294_967_295]) expect(await refusal(...ahead, "#1", count, "k")).toBe(TOO_FEW_KEYS);
    const keys = (count: number): Argument[] => [...ahead, `all(#1..#${count})`, count, ...Array<string>(count).fill("k")];
    await roar.load("k", [1, 2]);
    expect(await roar.connection.call([name, ...keys(65_534)])).toBe(2);
    await expect(roar.connection.call([name, ...keys(65_535)])).rejects.toThrow("ERR Roaring: too many keys: maximum 65534");
  });

  it("refuses a mistake before it looks at the keys, and then any key of another type", async () => {
    await server.run("SET", "string", "a string");
    await server.run("RPUSH", "list", 1);
    await roarOn(server, otherThan(family)).load("other", [1]);
    await roar.load("k", [1]);
    for (const wrong of ["string", "list", "other"]) {
      for (const keys of [[wrong, "k", "none"], ["k", wrong, "none"], ["none", "k", wrong]]) {
        expect(await refusal(...ahead, "#1 |", 3, ...keys)).toBe("ERR Roaring: query: expected an expression at character 5");
        expect(await refusal(...ahead, "#1 | #2 | #3", 3, ...keys)).toBe(WRONGTYPE);
        expect(await refusal(...ahead, "#1 & [5..6] & #2 & #3", 3, ...keys)).toBe(WRONGTYPE);
      }
    }
    expect(await run(...ahead, "#1 | #2 | #3", 3, "k", "none", "k")).toBe(1);
  });

  it("has its keys found by COMMAND GETKEYS", async () => {
    const keysOf = (...args: Argument[]) => roar.connection.run("COMMAND", "GETKEYS", name, ...ahead, ...args);
    expect(await keysOf("#1", 1, "a")).toEqual([...ahead, "a"]);
    expect(await keysOf("#1", 3, "a", "b", "a")).toEqual([...ahead, "a", "b", "a"]);
    if (ahead.length > 0) return;
    expect(await keysOf("#1", 2, "a", "b", "MEMBERS", "FROM", 3)).toEqual(["a", "b"]);
    expect(await keysOf("#1", 2, "a")).toEqual(["a"]);        // refused, but a user without the right to read it is not told why
    for (const count of [0, "x", -1, "01"]) await expect(keysOf("#1", count, "a")).rejects.toThrow(/invalid arguments|no key/i);
  });
}

describeCommand("QUERY", (suite) => {
  const { run, roar, refusal, effects, family, name, server } = suite;

  it("takes missing and empty keys for empty bitmaps", async () => {
    expect(await run("#1", 1, "none")).toBe(0);
    expect(await run("#1", 1, "none", "MEMBERS")).toEqual([]);
    expect(bytesOf(await run("#1", 1, "none", "EXPORT"))).toEqual(emptyStream(family.bits));
    await roar.load("empty", []);
    await roar.load("k", [4]);
    expect(await run("any(#1..#3)", 3, "none", "empty", "k", "MEMBERS")).toEqual([4]);
    expect(await run("atmost(1, #1..#3)", 3, "none", "empty", "none")).toBe(offsetCount(family));
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("counts by default and with CARD, in any case", async () => {
    await roar.load("k", [1, 2, 70_000]);
    for (const form of [[], ["CARD"], ["card"], ["Card"]]) expect(await run("#1", 1, "k", ...form)).toBe(3);
    expect(await run("~#1", 1, "none")).toBe(offsetCount(family));
    expect(await run("~#1 | #1", 1, "k")).toBe(offsetCount(family));
    expect(await run("~#1 & #1", 1, "k")).toBe(0);
  });

  it("counts up to a LIMIT, where it stops; 0 is none", async () => {
    await roar.run("SETINTARRAY", "k", ...range(0, 50_000, 65_536));
    for (const text of ["#1", "#1 | #2", "#1 - #2", "~(~#1 & ~#2)", "atleast(1, #1, #2)", "#1 & [1..4294967295] | [0..0]"]) {
      const keys = text.includes("#2") ? [2, "k", "none"] : [1, "k"];
      expect(await run(text, ...keys), text).toBe(50_000);
      for (const most of [1, 2, 49_999, 50_000, 50_001, 2 ** 40]) {
        expect(await run(text, ...keys, "CARD", "LIMIT", most), text).toBe(Math.min(most, 50_000));
      }
      expect(await run(text, ...keys, "card", "limit", 0), text).toBe(50_000);
    }
    for (const most of [1, 65_536, 65_537]) expect(await run("~#1", 1, "none", "CARD", "LIMIT", most)).toBe(most);
    expect(await run("~#1", 1, "none", "CARD", "LIMIT", 0)).toBe(offsetCount(family));
  });

  it("lists, counts and exports any bitmap", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      for (const text of ["#1", "~~#1", "#1 & ~(#1 ^ #1)", "atleast(2, #1, #1)"]) {
        expect(await run(text, 1, "k"), sample).toBe(members.length);
        expectEqual(await run(text, 1, "k", "MEMBERS"), members.map(asReply), sample);
        const stream = bytesOf(await run(text, 1, "k", "EXPORT"));
        expectEqual(readPayload(family.bits, family.bits === 32 ? Buffer.concat([Buffer.from([2]), stream]) : stream), members, sample);
      }
    }
  });

  it.each([1, 7, 100, 4096, 100_000])("lists pages of %i", async (size) => {
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      for (let at = 0; at < Math.min(members.length, size * 20); at += size) {
        const from = at === 0 ? 0n : BigInt(members[at - 1]!) + 1n;
        expectEqual(await run("#1", 1, "k", "MEMBERS", "FROM", from, "LIMIT", size), members.slice(at, at + size).map(asReply), sample);
      }
    }
  });

  it("begins at FROM, whether or not it is a member, and ends at LIMIT", async () => {
    await roar.load("k", [1, 5, 65_535, 65_536, 200_000]);
    expect(await run("#1", 1, "k", "MEMBERS", "FROM", 5)).toEqual([5, 65_535, 65_536, 200_000]);
    expect(await run("#1", 1, "k", "members", "from", 6, "limit", 2)).toEqual([65_535, 65_536]);
    expect(await run("#1", 1, "k", "MEMBERS", "LIMIT", 2, "FROM", 6)).toEqual([65_535, 65_536]);
    expect(await run("#1", 1, "k", "MEMBERS", "LIMIT", 2)).toEqual([1, 5]);
    expect(await run("#1", 1, "k", "MEMBERS", "LIMIT", 0)).toEqual([]);
    expect(await run("#1", 1, "k", "MEMBERS", "FROM", 200_001)).toEqual([]);
    await roar.run("SETRANGE", "full", 0, 65_536);
    for (const [from, found] of [[0, [65_536]], [65_535, [65_536]], [65_537, [65_537]], [65_538, [65_538]], [65_539, []]] as const) {
      expect(await run("[0..65538] - #1", 1, "full", "MEMBERS", "FROM", from, "LIMIT", 1), String(from)).toEqual(found);
    }
    expect(await run("#1", 1, "k", "MEMBERS", "LIMIT", "18446744073709551615")).toEqual([1, 5, 65_535, 65_536, 200_000]);
    const last = asReply(member(family.last));
    expect(await run("~#1", 1, "k", "MEMBERS", "FROM", family.last)).toEqual([last]);
    expect(await run("~#1", 1, "k", "MEMBERS", "FROM", family.last - 1n, "LIMIT", 5)).toEqual([asReply(member(family.last - 1n)), last]);
    expect(await run("~#1", 1, "k", "MEMBERS", "FROM", 65_530, "LIMIT", 7)).toEqual([...range(65_530, 5), 65_537, 65_538]);
  });

  it("refuses a list that is too long, unless a LIMIT ends it", async () => {
    const tooLarge = "ERR Roaring: reply too large: maximum 100000000 elements (redis-roar.reply-limit)";
    expect(await refusal("~#1", 1, "none", "MEMBERS")).toBe(tooLarge);
    expect(await refusal("~#1", 1, "none", "MEMBERS", "LIMIT", 100_000_001)).toBe(tooLarge);
    expect(await refusal("~#1", 1, "none", "MEMBERS", "FROM", family.last - 100_000_000n)).toBe(tooLarge);
    expect(await run("~#1", 1, "none", "MEMBERS", "LIMIT", 3)).toEqual([0, 1, 2]);
    expect(await run("#1 | [0..2]", 1, "none", "MEMBERS", "LIMIT", 100_000_001)).toEqual([0, 1, 2]);
    if (family.bits === 64) expect(await refusal("~#1", 1, "none", "EXPORT")).toMatch(/^ERR Roaring: string too long/);
  });

  it("refuses other words", async () => {
    for (const form of [["CARDS"], ["x"], [""], ["LIMIT", 1], ["FROM", 1], ["k2"], ["k2", "MEMBERS"]]) {
      expect(await refusal("#1 \0", 1, "k", ...form), form.join(" ")).toBe(`${MORE_KEYS}, or a word other than CARD, MEMBERS and EXPORT`);
    }
    const words = [
      ["CARD", "CARD"], ["CARD", "LIMIT"], ["CARD", "LIMIT", 1, 2], ["CARD", "LIMIT", 1, "LIMIT", 1], ["CARD", "FROM", 1], ["EXPORT", 1], ["MEMBERS", 1], ["MEMBERS", "FROM"],
      ["MEMBERS", "LIMIT"], ["MEMBERS", "FROM", 1, "LIMIT"], ["MEMBERS", "LIMIT", 1, "FROM"], ["MEMBERS", "FROM", 1, 2],
      ["MEMBERS", "LIMIT", 1, "FROM", 1, "LIMIT", 1], ["MEMBERS", "CARD", 1],
      ["MEMBERS", "FROM", 1, "FROM", 1], ["MEMBERS", "LIMIT", 1, "LIMIT", 1], ["MEMBERS", "FROM", 1, "LIMIT", 1, "EXPORT"], ["MEMBERS", "EXPORT"],
    ];
    for (const form of words) {
      expect(await refusal("#1", 1, "k", ...form), form.join(" ")).toBe(SYNTAX);
      expect(await refusal("#1 \0", 1, "k", ...form), form.join(" ")).toBe(SYNTAX);           // before the expression is read
    }
    for (const bad of notOffsets(family)) {
      expect(await refusal("#1 \0", 1, "k", "MEMBERS", "FROM", bad)).toBe(offsetError(family, "offset"));
    }
    for (const bad of ["", "x", "-1", "1.5", "+1", "01", "18446744073709551616"]) {
      expect(await refusal("#1 \0", 1, "k", "MEMBERS", "LIMIT", bad)).toBe(NOT_AN_INTEGER);
      expect(await refusal("#1 \0", 1, "k", "CARD", "LIMIT", bad)).toBe(NOT_AN_INTEGER);
    }
    expect(await refusal("#1\0", 1, "k", "MEMBERS", "LIMIT", 1)).toBe("ERR Roaring: query: expected an operator or the end at character 3");
  });

  it("has no side effects", async () => {
    await roar.load("k", [1, 2, 3]);
    for (const form of [[], ["MEMBERS"], ["EXPORT"]]) {
      expect(await effects(() => run("#1", 1, "k", ...form))).toEqual(noEffects);
      expect(await effects(() => run("#1", 1, "none", ...form), "none")).toEqual(noEffects);
    }
    expect(await effects(() => refusal("#1 |", 1, "k"))).toEqual(noEffects);
  });

  itChecksItsKeys(suite, []);
  itRunsEverywhere(suite, ["#1 | [5..6]", 1, "k", "MEMBERS"]);
  itMindsMemory(suite, "read", ["~#1", 1, "k"]);

  it("refuses the wrong number of arguments", async () => {
    for (const args of [[], ["#1"], ["#1", 1]]) expect(await refusal(...args)).toBe(arityError(name));
  });
});

describeCommand("QUERYSTORE", (suite) => {
  const { run, roar, refusal, effects, family, name, server, protocol } = suite;

  it("stores the members, or an empty bitmap if there are none", async () => {
    await roar.load("a", [1, 2, 3]);
    await roar.load("b", [2, 70_000]);
    expect(await run("d", "#1 ^ #2", 2, "a", "b")).toBe(3);
    expect(await roar.members("d")).toEqual([1, 3, 70_000]);
    expect(await run("d", "#1 & #2", 2, "a", "none")).toBe(0);
    expect(await server.run("EXISTS", "d")).toBe(1);
    expect(await roar.members("d")).toEqual([]);
    expect(await run("d", "#1", 1, "none")).toBe(0);
    expect(await run("d", "~#1", 1, "none")).toBe(offsetCount(family));
    expect(await roar.run("BITCOUNT", "d")).toBe(offsetCount(family));
  });

  it("stores any sample as it is, also into itself", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      for (const [to, text] of [["d", "#1"], ["d", "#1 - ~#1"], ["k", "~~#1"], ["k", "#1"], ["k", "all(#1, #1, #1)"]] as const) {
        expect(await run(to, text, 1, "k"), sample).toBe(members.length);
        expectEqual(await roar.members(to), members, sample);
      }
    }
  });

  it("can store into one of its sources", async () => {
    for (const to of ["a", "b", "c"]) {
      await roar.load("a", range(0, 5000, 3));
      await roar.load("b", range(0, 5000, 2));
      await roar.load("c", range(0, 70_000));
      expect(await run(to, "(#1 & #2) | #3 - [9..65535]", 3, "a", "b", "c")).toBe(1667 + 7 + 4464);
      expect((await roar.members(to)).slice(0, 11)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 18]);
    }
  });

  it("replaces a destination of any type, with its TTL", async () => {
    await roar.load("a", [1, 2]);
    const makers: Record<string, () => Promise<unknown>> = {
      string: () => server.run("SET", "d", "x"),
      list: () => server.run("RPUSH", "d", 1),
      bitmap: () => roar.load("d", [9]),
      other: () => roarOn(server, otherThan(family)).load("d", [9]),
    };
    for (const [type, make] of Object.entries(makers)) {
      await server.run("DEL", "d");
      await make();
      await server.run("EXPIRE", "d", 1000);
      expect(await run("d", "#1", 1, "a"), type).toBe(2);
      expect(await server.run("TYPE", "d"), type).toBe(family.type);
      expect(await server.run("TTL", "d"), type).toBe(-1);
      expect(await roar.members("d"), type).toEqual([1, 2]);
    }
  });

  it.skipIf(protocol === 3)("stores a part of the members, from any offset on, and at most so many", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      const size = members.length, middle = members[size >> 1] ?? 5;
      const starts = [0, middle, BigInt(middle) + 1n, members[0] ?? 0, family.last].filter((from) => BigInt(from) <= family.last);
      for (const from of starts) {
        const left = members.filter((one) => BigInt(one) >= BigInt(from));
        for (const limit of [undefined, 0, 1, 2, size >> 1, size, "18446744073709551615"]) {
          const expected = left.slice(0, limit === undefined ? size : Number(limit)), words = limit === undefined ? [] : ["LIMIT", limit];
          expect(await run("d", "#1", 1, "k", "FROM", from, ...words), sample).toBe(expected.length);
          expectEqual(await roar.members("d"), expected, `${sample} from ${from}, ${String(limit)}`);
        }
      }
    }
  });

  it.skipIf(protocol === 3)("moves the members of every sample by any distance, and refuses to move them too far", async () => {
    const distances = [0n, 1n, 63n, 64n, 1000n, 4095n, 32_768n, 65_535n, 65_536n, 65_537n, 131_072n, 1_000_003n];
    for (const [sample, members] of Object.entries(samples(family)).filter(([, { length }]) => length > 0)) {
      await roar.load("k", members);
      const least = BigInt(members[0]!), room = family.last - BigInt(members.at(-1)!);
      for (const distance of [...distances.flatMap((by) => [by, -by]), room, room + 1n, -least, -least - 1n]) {
        const fits = distance <= room && -distance <= least, arguments_ = ["d", "#1", 1, "k", "OFFSET", distance] as const;
        if (distance > family.last || distance < -family.last) continue;
        if (!fits) {
          await server.run("SET", "d", "x");
          expect(await refusal(...arguments_), `${sample} by ${distance}`).toBe("ERR Roaring: a member would be moved out of the range of offsets");
          expect(await server.run("GET", "d")).toBe("x");
          continue;
        }
        expect(await run(...arguments_), sample).toBe(members.length);
        expectEqual(await roar.members("d"), members.map((one) => member(BigInt(one) + distance)), `${sample} by ${distance}`);
      }
    }
  });

  it("moves full bitmaps at once, and clips nothing", async () => {
    const { last } = family;
    for (const [text, distance] of [[`[0..${last - 70_000n}]`, 70_000n], [`[70000..${last}]`, -70_000n], [`[65536..${last}]`, -65_536n]] as const) {
      expect(await run("d", text.concat(" | #1 & #1"), 1, "none", "OFFSET", distance)).toEqual(asReply(member(last - 70_000n + 1n + (distance === -65_536n ? 4464n : 0n))));
      expect(await roar.run("MIN", "d")).toEqual(asReply(member(distance > 0n ? distance : 0n)));
      expect(await server.usage("d")).toBeLessThan(2000);
    }
    expect(await run("d", "~#1", 1, "none", "LIMIT", 5, "FROM", 70_000)).toBe(5);
    expect(await roar.members("d")).toEqual([70_000, 70_001, 70_002, 70_003, 70_004]);
    expect(await refusal("d", "~#1", 1, "none", "OFFSET", 1)).toBe("ERR Roaring: a member would be moved out of the range of offsets");
    expect(await run("d", "~#1", 1, "none", "LIMIT", 3, "OFFSET", last - 2n)).toBe(3);
    expect(await roar.run("MAX", "d")).toEqual(asReply(member(last)));
  });

  it("moves its own source, and is propagated as it is", async () => {
    await roar.load("k", [1, 2, 70_000]);
    expect(await effects(() => run("k", "#1", 1, "k", "offset", 5, "limit", 2))).toEqual(oneChange("set", name, "k", "#1", "1", "k", "offset", "5", "limit", "2"));
    expect(await roar.members("k")).toEqual([6, 7]);
  });

  it("refuses words that are wrong, before it looks at the keys", async () => {
    await server.run("SET", "string", "x");
    const { last } = family;
    for (const words of [["OFFSET"], ["OFFSET", 1, "FROM"], ["FROM", 1, "from", 1], ["LIMIT", 1, "OFFSET", 2, "LIMIT", 1]]) {
      expect(await refusal("d", "#1", 1, "string", ...words), words.join(" ")).toBe(SYNTAX);
    }
    for (const bad of ["", "-", "x", "+1", "01", "--1", "1.5", " 1", String(last + 1n), String(-last - 1n)]) {
      expect(await refusal("d", "#1", 1, "string", "OFFSET", bad)).toBe(`ERR invalid offset: must be an integer between -${last} and ${last}`);
    }
    for (const bad of notOffsets(family)) expect(await refusal("d", "#1", 1, "string", "FROM", bad)).toBe(offsetError(family, "offset"));
    for (const bad of ["", "x", "-1", "18446744073709551616"]) expect(await refusal("d", "#1", 1, "string", "LIMIT", bad)).toBe(NOT_AN_INTEGER);
  });

  it("changes nothing when it is refused", async () => {
    await roar.load("a", [1, 2]);
    await server.run("SET", "string", "a string");
    await server.run("SET", "k", "x", "EX", 1000);
    const refused = [["#1 |", 1, "a"], ["#1", 1, "string"], ["#1 | #2", 2, "a", "string"], ["#1", 1, "a", "CARD"], ["#1", 0, "a"], ["#1", 2, "a"]];
    for (const args of refused) expect(await effects(() => refusal("k", ...args)), args.join(" ")).toEqual(noEffects);
    expect(await server.run("GET", "k")).toBe("x");
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it("is propagated as it is, and raises one event", async () => {
    await roar.load("a", [1, 2]);
    expect(await effects(() => run("k", "#1", 1, "a"))).toEqual(oneChange("set", name, "k", "#1", "1", "a"));
    expect(await effects(() => run("k", "#1 | #2", 2, "k", "a"))).toEqual(oneChange("set", name, "k", "#1 | #2", "2", "k", "a"));
  });

  it("takes no other words after the keys", async () => {
    for (const word of ["CARD", "MEMBERS", "EXPORT", "x"]) expect(await refusal("d", "#1", 1, "a", word)).toBe(MORE_KEYS);
    expect(await refusal("d", "#1\0 ", 1, "a", "x")).toBe(MORE_KEYS);
    expect(await refusal("d", "~~ ", 1, "a")).toBe(MISTAKE);
  });

  itChecksItsKeys(suite, ["d"]);
  itRunsEverywhere(suite, ["d", "#1 | [5..6]", 1, "k"]);
  itMindsMemory(suite, "write", ["d", "#1", 1, "k"]);

  it("refuses the wrong number of arguments", async () => {
    for (const args of [[], ["d"], ["d", "#1"], ["d", "#1", 1]]) expect(await refusal(...args)).toBe(arityError(name));
  });
});
