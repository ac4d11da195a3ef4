// The expressions of QUERY: what they mean, how operators bind, what is wrong with those that are refused, and how large they may be.

import { describe, expect, it } from "vitest";
import { Edges } from "../model/oracle/edges.ts";
import { evaluate, parse } from "../model/oracle/expression.ts";
import { families, type Family, offsetCount, R, range } from "../support/family.ts";
import type { Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { byName, useServer } from "../support/suite.ts";

const server = useServer();

/** The sources #1, #2 and #3. */
const SOURCES = [[0, 1, 2, 3, 70_000], [2, 3, 4, 5], [3, 5, 7, 70_000]];
const names = range(1, SOURCES.length).map((number) => `key:${number}`);

async function load(family: Family): Promise<void> {
  for (const [i, members] of SOURCES.entries()) await roarOn(server, family).load(names[i]!, members);
}

const members = (family: Family, text: string, keys = SOURCES.length): Promise<Reply> =>
  server.run(`${family.name}.QUERY`, text, keys, ...names.slice(0, keys), "MEMBERS", "LIMIT", 20);

// --- Meaning -------------------------------------------------------------------------------------------------------------

/** Each with the number of keys. */
const MEANINGS: readonly (readonly [text: string, keys: number, members: readonly number[]])[] = [
  ["#1", 1, [0, 1, 2, 3, 70_000]],
  ["#1 & #2", 2, [2, 3]],
  ["#1 - #2", 2, [0, 1, 70_000]],
  ["#1 ^ #2", 2, [0, 1, 4, 5, 70_000]],
  ["#1 | #2", 2, [0, 1, 2, 3, 4, 5, 70_000]],
  ["~#1 & [0..6]", 1, [4, 5, 6]],
  ["~~#1", 1, [0, 1, 2, 3, 70_000]],
  ["[2..4] | #1 - #1", 1, [2, 3, 4]],
  ["[3..3] & #1", 1, [3]],
  ["[1..2] - #1 | [69999..70001] - #1", 1, [69_999, 70_001]],
  ["#1 & #1", 1, [0, 1, 2, 3, 70_000]],
  ["#1 - #1", 1, []],
  ["#1 ^ #1", 1, []],
  ["all(#1)", 1, [0, 1, 2, 3, 70_000]],
  ["all(#1, #2, #3)", 3, [3]],
  ["all(#1..#3)", 3, [3]],
  ["any(#1, #2, #3)", 3, [0, 1, 2, 3, 4, 5, 7, 70_000]],
  ["any(#1..#2, #3)", 3, [0, 1, 2, 3, 4, 5, 7, 70_000]],
  ["one(#1, #2, #3)", 3, [0, 1, 4, 7]],
  ["one(#1)", 1, [0, 1, 2, 3, 70_000]],
  ["one(#1, #1)", 1, []],
  ["atleast(0, #1..#3) & [0..3]", 3, [0, 1, 2, 3]],
  ["atleast(1, #1..#3)", 3, [0, 1, 2, 3, 4, 5, 7, 70_000]],
  ["atleast(2, #1..#3)", 3, [2, 3, 5, 70_000]],
  ["atleast(3, #1..#3)", 3, [3]],
  ["atleast(4, #1..#3)", 3, []],
  ["atleast(2, #1, #1, #2)", 2, [0, 1, 2, 3, 70_000]],
  ["atleast(18446744073709551615, #1..#3)", 3, []],
  ["atmost(0, #1..#3) & [0..9]", 3, [6, 8, 9]],
  ["atmost(1, #1..#3) & [0..9]", 3, [0, 1, 4, 6, 7, 8, 9]],
  ["atmost(2, #1..#3) & [0..5]", 3, [0, 1, 2, 4, 5]],
  ["atmost(3, #1..#3) & [0..5]", 3, [0, 1, 2, 3, 4, 5]],
  ["atmost(18446744073709551615, #1..#3) & [0..1]", 3, [0, 1]],
  ["exactly(0, #1..#3) & [0..9]", 3, [6, 8, 9]],
  ["exactly(1, #1..#3)", 3, [0, 1, 4, 7]],
  ["exactly(2, #1..#3)", 3, [2, 5, 70_000]],
  ["exactly(3, #1..#3)", 3, [3]],
  ["exactly(4, #1..#3)", 3, []],
  ["~atleast(2, #1) & ~atleast(2, #1)", 1, range(0, 20)],
  ["~any(atleast(2, #1)) - exactly(2, #1)", 1, range(0, 20)],
  ["#1 - atleast(2, #1)", 1, [0, 1, 2, 3, 70_000]],
  ["exactly(2, #1 | #2, #2 & #3, [5..6])", 3, [3]],
  ["any(#2 - #1, all(#1, #3), one(#2..#2, [4..4]))", 3, [2, 3, 4, 5, 70_000]],
  [" \t\r\n\v\f# 1\n&\t[ 0 .. 2 ] ", 1, [0, 1, 2]],
  ["ALL(#1..#2) | AtLeast(3, #1..#3)", 3, [2, 3]],
  ["#001 & [00..0002]", 1, [0, 1, 2]],
  ["all(# 1 .. # 3)", 3, [3]],
  ["((((#1))))", 1, [0, 1, 2, 3, 70_000]],
];

/** Expressions that mean the same, and one that does not because it groups otherwise. */
const BINDINGS: readonly (readonly [text: string, same: string, other: string])[] = [
  ["#1 | #2 & #3", "#1 | (#2 & #3)", "(#1 | #2) & #3"],
  ["#1 & #2 | #3", "(#1 & #2) | #3", "#1 & (#2 | #3)"],
  ["#1 | #2 - #3", "#1 | (#2 - #3)", "(#1 | #2) - #3"],
  ["#1 ^ #2 & #3", "#1 ^ (#2 & #3)", "(#1 ^ #2) & #3"],
  ["#1 ^ #2 - #3", "#1 ^ (#2 - #3)", "(#1 ^ #2) - #3"],
  ["#1 - #3 ^ #2", "(#1 - #3) ^ #2", "#1 - (#3 ^ #2)"],
  ["#1 | #2 ^ #3", "#1 | (#2 ^ #3)", "(#1 | #2) ^ #3"],
  ["#3 ^ #2 | #1", "(#3 ^ #2) | #1", "#3 ^ (#2 | #1)"],
  ["#1 - #2 - #3", "(#1 - #2) - #3", "#1 - (#2 - #3)"],
  ["#1 - #2 & #3", "(#1 - #2) & #3", "#1 - (#2 & #3)"],
  ["#1 & #2 - #3", "(#1 & #2) - #3", "#1 & ~(#2 - #3)"],
  ["~#1 & #2 | #3", "((~#1) & #2) | #3", "~(#1 & #2) & #2 | #3 & #1"],
  ["~#1 | #2 & #3", "(~#1) | (#2 & #3)", "~(#1 | #2) & ~#3"],
];

describe.each(byName(families))("%s", (_family, family) => {
  it.each(MEANINGS)("%j over %i keys", async (text, keys, expected) => {
    await load(family);
    expect(await members(family, text, keys)).toEqual(expected);
  });

  it.each(BINDINGS)("%s is %s, and not %s", async (text, same, other) => {
    await load(family);
    const found = await members(family, text);
    expect(await members(family, same)).toEqual(found);
    expect(await members(family, other)).not.toEqual(found);
  });

  it("knows the ends of the universe", async () => {
    const query = (text: string): Promise<Reply> => server.run(`${family.name}.QUERY`, text, 1, "none", "MEMBERS", "LIMIT", 5);
    const last = family.bits === 32 ? Number(family.last) : String(family.last);
    expect(await query(`[${family.last}..${family.last}] - #1`)).toEqual([last]);
    expect(await query(`~(#1 | [0..${family.last - 1n}])`)).toEqual([last]);
    expect(await query(`~(#1 | [1..${family.last}])`)).toEqual([0]);
    expect(await query(`~(#1 | [0..${family.last}])`)).toEqual([]);
    expect(await server.run(`${family.name}.QUERY`, "~#1", 1, "none")).toEqual(offsetCount(family));
  });
});

it.each(byName(families))("%s counts members of bitsets and of ranges together, where one kind alone is too few", async (_, family) => {
  const steps = [5, 7], ranges = range(0, 7).map((number) => [5000 * number, 5000 * number + 29_999]);
  const keys = steps.map((step) => `multiples:${step}`);
  for (const [i, step] of steps.entries()) {
    await roarOn(server, family).load(keys[i]!, range(0, Math.ceil(65_536 / step)).map((times) => step * times));
  }
  const counts = range(0, 65_536).map((offset) =>
    steps.filter((step) => offset % step === 0).length + ranges.filter(([low, high]) => offset >= low! && offset <= high!).length);
  const items = `#1..#2, ${ranges.map(([low, high]) => `[${low}..${high}]`).join(", ")}`;
  for (const least of range(1, 9)) {
    const expected = [counts.filter((count) => count >= least).length, counts.filter((count) => count === least).length];
    for (const [i, counter] of ["atleast", "exactly"].entries()) {
      const text = `${counter}(${least}, ${items})`;
      expect(await server.run(`${family.name}.QUERY`, text, 2, ...keys), text).toBe(expected[i]);
      expect(await server.run(`${family.name}.QUERYSTORE`, "stored", text, 2, ...keys), text).toBe(expected[i]);
    }
  }
});

it.each(byName(families))("%s keeps the symmetric difference of runs while it folds in another term", async (_, { name }) => {
  const [first, second, third] = names as [string, string, string];
  await server.run(`${name}.SETRANGE`, first, 100, 20_000);
  await server.run(`${name}.SETRANGE`, second, 300, 30_000);
  await server.run(`${name}.SETBITS`, third, 150, 25_000);
  expect(await server.run(`${name}.QUERY`, "#1 ^ #2 ^ #1 ^ (#1 & #3)", 3, ...names)).toBe(29_701);
  expect(await server.run(`${name}.QUERY`, "#1 ^ #2 ^ #1 ^ (#1 & #3)", 3, ...names, "MEMBERS", "LIMIT", 3)).toEqual([150, 300, 301]);
});

// --- Mistakes ------------------------------------------------------------------------------------------------------------

const EXPRESSION = "expected an expression", END = "expected an operator or the end", KEY = "expected the number of a key";
const NO_KEY = "there is no key of that number", OFFSET = "expected an offset", NUMBER = "expected a number", DOTS = "expected '..'";
const FUNCTION = "unknown function", OPENING = "expected '('", CLOSING = "expected ')'", SEPARATOR = "expected ',' or ')'";
const COMMA = "expected ','", RANGE = "the offset is out of range", LARGE = "the number is too large", HASH = "expected '#'";
const WORD = "unknown word (keys are written #1, #2, ...)", SPAN = "a span of keys can only be an argument of a function";

/** Texts over so many keys, what is wrong with them, and the character at which it is, counted from 1. */
const MISTAKES: readonly (readonly [text: string, keys: number, what: string, place: number])[] = [
  ["", 1, EXPRESSION, 1],
  ["  \t", 1, EXPRESSION, 4],
  ["\0", 1, EXPRESSION, 1],
  ["#1 \0", 1, END, 4],
  ["#1\xa0", 1, END, 3],
  ["#", 1, KEY, 2],
  ["# ", 1, KEY, 3],
  ["#x", 1, KEY, 2],
  ["#-1", 1, KEY, 2],
  ["#0", 1, NO_KEY, 2],
  ["#00", 1, NO_KEY, 2],
  ["#1 | # 3", 2, NO_KEY, 8],
  ["#4294967297", 1, NO_KEY, 2],
  ["#18446744073709551617", 1, NO_KEY, 2],
  ["#1#2", 2, END, 3],
  ["#1 #2", 2, END, 4],
  ["#1 all(#2)", 2, END, 4],
  ["#1(", 1, END, 3],
  ["#1)", 1, END, 3],
  ["(#1))", 1, END, 5],
  ["#1 ~ #2", 2, END, 4],
  ["#1 + #2", 2, END, 4],
  ["#1..#2", 2, SPAN, 3],
  ["#1 .. #2", 2, SPAN, 4],
  ["#1..", 1, SPAN, 3],
  ["#1 & #1..#2", 2, SPAN, 8],
  ["#1.#2", 2, END, 3],
  ["a", 1, WORD, 1],
  ["a & b", 2, WORD, 1],
  ["#1 | user:7", 2, WORD, 6],
  ["anyanyany #1", 1, WORD, 1],
  ["some", 1, WORD, 1],
  ["some (#1)", 1, FUNCTION, 1],
  ["[1..2] #1", 1, END, 8],
  ["1", 1, EXPRESSION, 1],
  ["#1 |", 1, EXPRESSION, 5],
  ["#1 & ", 1, EXPRESSION, 6],
  ["#1 ^\n", 1, EXPRESSION, 6],
  ["#1 -", 1, EXPRESSION, 5],
  ["| #1", 1, EXPRESSION, 1],
  ["- #1", 1, EXPRESSION, 1],
  ["#1 || #2", 2, EXPRESSION, 5],
  ["#1 & | #2", 2, EXPRESSION, 6],
  ["!#1", 1, EXPRESSION, 1],
  ["~", 1, EXPRESSION, 2],
  ["~ ~", 1, EXPRESSION, 4],
  ["(", 1, EXPRESSION, 2],
  ["()", 1, EXPRESSION, 2],
  ["(#1", 1, CLOSING, 4],
  ["((#1)", 1, CLOSING, 6],
  ["(#1 | #2 #1", 2, CLOSING, 10],
  ["(#1..#2)", 2, SPAN, 4],
  ["[", 1, OFFSET, 2],
  ["[..2]", 1, OFFSET, 2],
  ["[-1..2]", 1, OFFSET, 2],
  ["[a..b]", 1, OFFSET, 2],
  ["[1..", 1, OFFSET, 5],
  ["[1..]", 1, OFFSET, 5],
  ["[1...2]", 1, OFFSET, 5],
  ["[1", 1, DOTS, 3],
  ["[1]", 1, DOTS, 3],
  ["[1.2]", 1, DOTS, 3],
  ["[1. .2]", 1, DOTS, 3],
  ["[1,2]", 1, DOTS, 3],
  ["[1..2", 1, "expected ']'", 6],
  ["[1..2)", 1, "expected ']'", 6],
  ["[2..1]", 1, "the range ends before it begins", 5],
  ["[0..18446744073709551616]", 1, RANGE, 5],
  ["[18446744073709551616..0]", 1, RANGE, 2],
  ["[0..99999999999999999999999]", 1, RANGE, 5],
  ["none(#1)", 1, FUNCTION, 1],
  ["al(#1)", 1, FUNCTION, 1],
  ["#1 | alls(#1)", 1, FUNCTION, 6],
  ["xexactly(1, #1)", 1, FUNCTION, 1],
  ["anyanyany(#1)", 1, FUNCTION, 1],
  ["all", 1, OPENING, 4],
  ["all #1", 1, OPENING, 5],
  ["all[#1]", 1, OPENING, 4],
  ["atleast 1, #1", 1, OPENING, 9],
  ["all()", 1, EXPRESSION, 5],
  ["all(,#1)", 1, EXPRESSION, 5],
  ["all(#1,", 1, EXPRESSION, 8],
  ["all(#1,)", 1, EXPRESSION, 8],
  ["all(#1", 1, SEPARATOR, 7],
  ["all(#1 #2)", 2, SEPARATOR, 8],
  ["all(#1.#2)", 2, SEPARATOR, 7],
  ["all(#1..#2..#3)", 3, SEPARATOR, 11],
  ["all(~#1..#2)", 2, SPAN, 8],
  ["all(#1 | #1..#2)", 2, SPAN, 12],
  ["all(#1..#2 | #1)", 2, SEPARATOR, 12],
  ["all(#1..2)", 2, HASH, 9],
  ["all(#1...#2)", 2, HASH, 9],
  ["all(#1..#)", 2, KEY, 10],
  ["all(#..#2)", 2, KEY, 6],
  ["all(#1..#3)", 2, NO_KEY, 10],
  ["all(#0..#2)", 2, NO_KEY, 6],
  ["all(#2..#1)", 2, "the keys end before they begin", 10],
  ["atleast()", 1, NUMBER, 9],
  ["atleast(#1, 1)", 1, NUMBER, 9],
  ["atmost(-1, #1)", 1, NUMBER, 8],
  ["exactly(x, #1)", 1, NUMBER, 9],
  ["atleast(1)", 1, COMMA, 10],
  ["atleast(1 #1)", 1, COMMA, 11],
  ["atleast(1.5, #1)", 1, COMMA, 10],
  ["atmost(1,", 1, EXPRESSION, 10],
  ["exactly(1, #1", 1, SEPARATOR, 14],
  ["atleast(18446744073709551616, #1)", 1, LARGE, 9],
  ["exactly( 99999999999999999999, #1)", 1, LARGE, 10],
  ["#1", 2, "key 2 (#2) is not used", 0],
  ["#2 ", 2, "key 1 (#1) is not used", 0],
  ["all(#1, #3)", 3, "key 2 (#2) is not used", 0],
  ["[0..5]", 1, "key 1 (#1) is not used", 0],
  ["(#1 | all(#1 | ", 1, EXPRESSION, 16],         // the first of several mistakes
];

describe("mistakes", () => {
  // A key that is not used has no position: 0.
  it.each(MISTAKES)("%j over %i keys: %s at character %i", async (text, keys, what, place) => {
    const sources = range(1, keys).map((i) => `none:${i}`), error = `ERR Roaring: query: ${what}${place > 0 ? ` at character ${place}` : ""}`;
    for (const { name, last } of families) {
      expect(await server.connection.refusal(`${name}.QUERY`, text, keys, ...sources)).toBe(error);
      expect(await server.connection.refusal(`${name}.QUERYSTORE`, "d", text, keys, ...sources)).toBe(error);
      expect(parse(text, keys, last)).toBeUndefined();        // the oracle of random commands agrees
    }
    expect(await server.run("DBSIZE")).toBe(0);
  });

  it("an offset beyond the family's last is out of range", async () => {
    for (const { name, last } of families) {
      expect(await server.run(`${name}.QUERY`, `[${last}..${last}] - #1`, 1, "k")).toBe(1);
      expect(await server.connection.refusal(`${name}.QUERY`, `[${last}..${last + 1n}] - #1`, 1, "k"))
        .toBe(`ERR Roaring: query: ${RANGE} at character ${4 + String(last).length}`);
    }
  });
});

// --- Limits --------------------------------------------------------------------------------------------------------------

it("a replica answers questions, and stores nothing", async () => {
  await load(R);
  await server.run("REPLICAOF", "127.0.0.1", 1);
  try {
    expect(await members(R, "#1 - #2", 2)).toEqual([0, 1, 70_000]);
    expect(await server.run("R.FACET", "#1 - #2", 2, "key:1", "key:2", 2, "key:1", "none", "TOP", 5)).toEqual([["key:1", 3]]);
    expect(await server.run("R.CROSSCARD", 1, "key:1", 2, "key:1", "none", "WITHIN", "#1 - #2", 2, "key:1", "key:2")).toEqual([[3, 0]]);
    expect(await server.connection.refusal("R.QUERYSTORE", "d", "#1", 1, "key:1")).toMatch(/^READONLY/);
  } finally {
    await server.run("REPLICAOF", "NO", "ONE");
  }
});

describe("limits", () => {
  const { name } = R;
  const refusal = (text: string, keys = ["k"]): Promise<string> => server.connection.refusal(`${name}.QUERY`, text, keys.length, ...keys);
  const card = (text: string, keys = ["k"]): Promise<Reply> => server.run(`${name}.QUERY`, text, keys.length, ...keys);

  it("65,535 characters", async () => {
    await roarOn(server, R).load("k", [1, 5]);
    expect(await card("#1".padEnd(65_535))).toBe(2);
    expect(await refusal("#1".padEnd(65_536))).toBe("ERR Roaring: query: more than 65,535 characters at character 65536");
    expect(await refusal("(".padEnd(1_000_000, "#1 | "))).toBe("ERR Roaring: query: more than 65,535 characters at character 65536");
  });

  it.each([
    ["complements", "~", "", 2],
    ["parentheses", "(", ")", 2],
    ["functions", "one(", ")", 2],
  ])("64 levels of %s", async (_what, opening, closing, answer) => {
    await roarOn(server, R).load("k", [1, 5]);
    const nested = (levels: number): string => opening.repeat(levels) + "#1" + closing.repeat(levels);
    expect(await card(nested(64))).toBe(answer);
    const at = 65 * opening.length - (opening.length - 1);
    expect(await refusal(nested(65))).toBe(`ERR Roaring: query: more than 64 levels at character ${at}`);
    expect(await refusal(nested(10_000))).toBe(`ERR Roaring: query: more than 64 levels at character ${at}`);
    expect(await card(`${nested(64)} & ${nested(64)}`)).toBe(answer);         // levels beside one another do not add up
  });

  it("64 levels of functions that count keep their counters apart", async () => {
    const stretches = [[0n, 60_000n], [50_000n, 140_000n], [131_072n, 131_073n], [7n, 65_536n * 4n]], keys = stretches.map((_, i) => `k${i}`);
    for (const [i, [from, to]] of stretches.entries()) await server.run(`${name}.SETRANGE`, keys[i]!, from!, to!);
    await server.run(`${name}.APPENDINTARRAY`, keys[2]!, ...range(0, 3000, 97));
    let text = "#1";
    for (let level = 0; level < 64; level++) text = `${["exactly", "atleast"][level % 2]}(${2 + (level % 3)}, #1..#4, ${text}, [${level * 3001}..200000])`;
    const sets = stretches.map(([from, to]) => new Edges([from!, to!]));
    for (const member of range(0, 3000, 97)) sets[2]!.assign(BigInt(member), BigInt(member) + 1n, true);
    const expected = evaluate(parse(text, 4, R.last)!, sets, R.last);
    expect(expected.count()).toBeGreaterThan(0n);
    expect(await card(text, keys)).toBe(Number(expected.count()));
    expect(await server.run(`${name}.QUERY`, text, 4, ...keys, "MEMBERS")).toEqual(expected.members().map(Number));
  });

  it.each([
    ["unions", 1, (within: string, i: number) => `(#1 & #2 & ${within} | #1 - [${i}..${i + 9}] | #1 & #3 - [${i + 5}..${i + 20}])`],
    ["differences", 1, (within: string, i: number) => `(#${1 + i % 3} & ${within} ^ #${1 + i % 3} - [${i}..80] ^ #${1 + i % 3} & [7..${i + 9}])`],
    ["intersections", 2, (within: string, i: number) => `((#1 | #2 ^ ${within}) & (#1 | [${i}..${i + 40}]) & (#1 | #3))`],
    ["counts", 2, (within: string, i: number) => `exactly(1, #1 & (#2 ^ ${within}), #1 - [${i}..${i + 9}], #1 & [${i}..${i + 30}])`],
  ])("64 levels of %s that share a key", async (_what, levels, around) => {
    const sets = [[1n, 90n], [30n, 70_000n], [20n, 60n]].map(([from, to]) => new Edges([from!, to!])), keys = sets.map((_, i) => `s${i}`);
    for (const [i, set] of sets.entries()) for (const [from, to] of set.stretches()) await server.run(`${name}.SETRANGE`, keys[i]!, from, to);
    let text = "(#1 - #2 ^ #3)";
    for (let level = levels; level < 64; level += levels) text = around(text, level);
    const expected = evaluate(parse(text, 3, R.last)!, sets, R.last);
    expect(await card(text, keys)).toBe(Number(expected.count()));
    expect(await server.run(`${name}.QUERY`, text, 3, ...keys, "MEMBERS")).toEqual(expected.members().map(Number));
  });

  it("131,072 operands", async () => {
    const keys = range(0, 1024).map((i) => `k${i}`);
    await server.connection.pipeline(keys.map((key, i) => [`${name}.SETINTARRAY`, key, i, 70_000]));
    const times = (count: number): string => Array<string>(count).fill("#1..#1024").join(", ");
    expect(await card(`exactly(128, ${times(128)})`, keys)).toBe(1024);
    expect(await card(`exactly(131072, ${times(128)})`, keys)).toBe(1);
    const most = `any(${times(128)}`;
    expect(await refusal(`${most}, #1)`, keys)).toBe(`ERR Roaring: query: more than 131,072 operands at character ${most.length + 5}`);
    expect(await refusal(`any(${Array<string>(7000).fill("#1..#1024").join()})`, keys)).toMatch(/more than 65,535 characters/);
  });
});

describe("a key that is given many times weighs as much", () => {
  // Arrays, bitsets, runs and a mixture: members of the heavy key alone, of both keys, and of the light key alone.
  const kinds: readonly (readonly [kind: string, heavy: number[], light: number[]])[] = [
    ["arrays", range(0, 300, 7), range(0, 300, 5)],
    ["bitsets", range(0, 30_000, 2), range(0, 20_000, 3)],
    ["runs", range(1000, 9000), range(5000, 20_000)],
    ["an array and a bitset", range(0, 300, 7), range(0, 30_000, 2)],
  ];

  it.each(kinds)("%s", async (_, heavy, light) => {
    for (const family of families) {
      const roar = roarOn(server, family), keys = [...Array<string>(64).fill("heavy"), "light"], inLight = new Set(light);
      await roar.load("heavy", heavy);
      await roar.load("light", light);
      const both = heavy.filter((member) => inLight.has(member)).length;
      const heaviest = (times: number, rest: string): string => `${Array<string>(times).fill("#1..#64").join()}${rest}, #65, #65)`;
      for (const [times, rest, weight] of [[1024, "", 65_536], [1023, ",#1..#63", 65_535], [4, "", 256], [3, ",#1..#63", 255]] as const) {
        const count = async (name: string, number: number): Promise<number> =>
          Number(await roar.run("QUERY", `${name}(${number}, ${heaviest(times, rest)}`, keys.length, ...keys));
        expect(await count("exactly", weight)).toBe(heavy.length - both);
        expect(await count("exactly", weight + 2)).toBe(both);
        expect(await count("exactly", 2)).toBe(light.length - both);
        for (const none of [1, weight - 1, weight + 1]) expect(await count("exactly", none)).toBe(0);
        expect(await count("atleast", 2)).toBe(heavy.length + light.length - both);
        for (const number of [3, weight]) expect(await count("atleast", number)).toBe(heavy.length);
        expect(await count("atleast", weight + 1)).toBe(both);
      }
    }
  });
});
