// Questions that take longer than the setting question-ms allows: they end with an error, and nothing else changes.

import { beforeEach, describe, expect, it } from "vitest";
import { R64, range } from "../support/family.ts";
import type { Argument, Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { expectValid, useServer } from "../support/suite.ts";

const MILLISECOND = 1, MEMBERS = 400_000, BATCH = 50_000;
const OVERDUE = `ERR Roaring: the question took longer than ${MILLISECOND} ms (redis-roar.question-ms)`;

// Lone members, far apart: a step from one to the next takes some nanoseconds, so all of them take many milliseconds.
describe("questions over hundreds of thousands of containers", () => {
  const server = useServer({ moduleArguments: withDebug }), roar = roarOn(server, R64);
  const limit = (milliseconds: number): Promise<Reply> => server.run("CONFIG", "SET", "redis-roar.question-ms", milliseconds);
  const overdue = (): Promise<number> => server.number("redis-roar_questions_overdue");

  const dumps = new Map<string, Buffer>();
  beforeEach(async () => {
    for (const [key, parity] of [["even", 0], ["odd", 1]] as const) {
      const dump = dumps.get(key);
      if (dump) {
        await server.run("RESTORE", key, 0, dump);
        continue;
      }
      for (let from = 0; from < MEMBERS; from += BATCH) {
        await roar.run("APPENDINTARRAY", key, ...range(from, BATCH).map((i) => (2 * i + parity) * 65_536));
      }
      dumps.set(key, (await roar.dump(key))!);
    }
    await roar.run("SETINTARRAY", "few", 0, 65_536);
    await limit(MILLISECOND);
  });

  const alternating = range(2, 40).map((i) => `(#1 - #${i})`).join(" | "), fewOthers = range(0, 40).map((i) => `few:${i}`);
  const questions: readonly [name: string, ...Argument[]][] = [
    ["CONTAINS", "even", "odd"],
    ["CONTAINS", "either", "even", "ALL"],
    ["JACCARD", "even", "odd"],
    ["BITOPCARD", "AND", "even", "odd"],
    ["BITOPCARD", "XOR", "even", "odd"],
    ["BITOPCARD", "AND", "even", "odd", "either"],
    ["BITOPCARD", "OR", "even", "odd", "few"],
    ["BITOPCARD", "ONE", "even", "odd", "even"],
    ["QUERY", "#1 & #2", 2, "even", "odd"],
    ["QUERY", "#1 | #2", 2, "even", "odd"],
    ["QUERY", "~#1 ^ ~#2", 2, "even", "odd"],
    ["QUERY", "exactly(2, #1, #1, ~#2, [0..1000])", 2, "even", "odd"],
    ["QUERY", alternating, 41, "even", ...fewOthers],
    ["QUERY", "#1 & #2", 2, "even", "odd", "MEMBERS"],
    ["QUERY", "#1 & #2", 2, "even", "odd", "MEMBERS", "LIMIT", 1],
    ["QUERY", "#1 | #2", 2, "even", "odd", "MEMBERS", "FROM", 7],
    ["QUERY", "#1 & #2", 2, "even", "odd", "MEMBERS", "REV", "LIMIT", 1],
    ["QUERY", "#1 | #2", 2, "even", "odd", "MEMBERS", "REV", "LIMIT", MEMBERS],
    ["QUERY", "#1 | #2", 2, "even", "odd", "EXPORT"],
    ["RANGES", "even", 0, R64.last],
    ["COUNTS", "even", 25_000, ...range(0, 50_000, 1_000_000)],
    ["QUERYSTORE", "few", "#1 | #2", 2, "even", "odd"],
    ["QUERYSTORE", "even", "#1 | #2", 2, "even", "odd"],
    ["RANDMEMBER", "even", MEMBERS - 1],
    ["RANDMEMBER", "even", -MEMBERS],
  ];
  it.each(questions)("end: %s %s %s", async (...question) => {
    await roar.run("BITOP", "OR", "either", "even", "odd");
    const before = await overdue();
    const reply = await roar.run(...question).catch((error: unknown) => error);
    const last: unknown = Array.isArray(reply) ? reply.at(-1) : reply;      // of a list that has begun, the error is the last element
    expect((last as Error).message).toBe(OVERDUE);
    expect(await overdue()).toBe(before + 1);
    expect(await roar.run("BITCOUNT", "even")).toBe(MEMBERS);
    expect(await roar.run("BITCOUNT", "few")).toBe(2);
  });

  it("end in the middle of a listing, whose last element is then the error", async () => {
    const reply = await roar.run("QUERY", "#1 | #2", 2, "even", "odd", "MEMBERS", "LIMIT", MEMBERS).catch((error: unknown) => [error as Reply]);
    const listed = reply as Reply[], last = listed.pop();
    expect(last).toBeInstanceOf(Error);
    expect((last as Error).message).toBe(OVERDUE);
    expect(listed.length).toBeLessThan(MEMBERS);
    expect(listed).toEqual(range(0, listed.length).map((i) => i * 65_536));
  });

  it("end in scripts and transactions, and leave the next command its own time", async () => {
    expect(await server.connection.refusal("EVAL", "return redis.call('R64.JACCARD', 'even', 'odd')", 2, "even", "odd")).toContain("took longer");
    const [, , , replies] = await server.connection.pipeline([["MULTI"], ["R64.JACCARD", "even", "odd"], ["R64.QUERY", "#1", 1, "few"], ["EXEC"]]);
    expect((replies as Reply[]).map((reply) => (reply instanceof Error ? reply.message : reply))).toEqual([OVERDUE, 2]);
  });

  it("leave everything as it was", async () => {
    const state = async (): Promise<unknown> => Promise.all([
      server.info("redis-roar_bitmaps"), server.info("redis-roar_arena_bytes"), server.info("redis-roar_traps"), server.run("DBSIZE"),
    ]);
    const before = await state();
    for (const [name, ...args] of questions.slice(0, 13)) await roar.run(name, ...args).catch(() => {});
    expect(await state()).toEqual(before);
    for (const key of ["even", "odd", "few"]) await expectValid(server, key);
  });

  it("are answered with more time, or without a limit", async () => {
    for (const time of [0, 60_000]) {
      await limit(time);
      expect(await roar.run("QUERY", "#1 | #2", 2, "even", "odd")).toBe(2 * MEMBERS);
      expect(await roar.run("QUERY", alternating, 41, "even", ...fewOthers)).toBe(MEMBERS);
      expect(await roar.run("JACCARD", "even", "odd")).toBe("0");
    }
    await limit(MILLISECOND);
  });

  it("are answered if they are BITOP, which has no limit, or short", async () => {
    const before = await overdue();
    expect(await roar.run("BITOP", "OR", "either", "even", "odd")).toBe(2 * MEMBERS);
    expect(await roar.run("BITOPCARD", "AND", "even", "few")).toBe(1);
    expect(await roar.run("QUERY", "#1 & #2", 2, "even", "few")).toBe(1);
    expect(await overdue()).toBe(before);
  });
});
