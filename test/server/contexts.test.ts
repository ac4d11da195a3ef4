// Every command in transactions, scripts and functions, and while clients are paused.

import { beforeAll, describe, expect, it } from "vitest";
import type { Command as Row } from "../../host/table/commands.ts";
import { callOf, isKey, rows } from "../support/calls.ts";
import { families, type Family } from "../support/family.ts";
import { type Argument, type Command, type Reply, type ReplyError } from "../support/resp.ts";
import { byName, useServer } from "../support/suite.ts";

const server = useServer();
const reads = ({ row }: { readonly row: Row }): boolean => row.flags.includes("readonly");

/** Commands that create the keys that the calls read. */
const data = ({ name }: Family): Command[] => [
  ["FLUSHALL"],
  ...["r:1", "r:2", "r:3", "w:1", "e:1"].map((key, i): Command => [`${name}.SETINTARRAY`, key, 1, 7, 8, 100 + i, 70_000]),
  ["SET", "s:1", "ab"],
  ["SET", "o:1", "anything"],
];

const FUNCTIONS = `#!lua name=roar
local function run(keys, args) return redis.call(unpack(args)) end
redis.register_function('run', run)
redis.register_function{function_name='run_ro', callback=run, flags={'no-writes'}}`;
const SCRIPT = "return redis.call(unpack(ARGV))";

/** Ways to run a command on a key. Its reply is the last one, and for a transaction inside an array. */
const contexts: Record<string, (command: Command, key: Argument) => Command[]> = {
  MULTI: (command) => [["MULTI"], command, ["EXEC"]],
  EVAL: (command, key) => [["EVAL", SCRIPT, 1, key, ...command]],
  FCALL: (command, key) => [["FCALL", "run", 1, key, ...command]],
};
const readingContexts: typeof contexts = {
  EVAL_RO: (command, key) => [["EVAL_RO", SCRIPT, 1, key, ...command]],
  FCALL_RO: (command, key) => [["FCALL_RO", "run_ro", 1, key, ...command]],
};

beforeAll(async () => {
  await server.run("FUNCTION", "LOAD", FUNCTIONS);
});

describe("in transactions, scripts and functions", () => {
  const digest = () => server.run("DEBUG", "DIGEST");

  it.each(byName(rows))("%s replies and changes the same as outside", async (_, { row, family, name }) => {
    const call = callOf(row, family), command = [name, ...call], key = call.find(isKey)!;
    await server.connection.pipeline(data(family));
    const reply = await server.run(...command), after = await digest();
    for (const [context, wrapped] of Object.entries({ ...contexts, ...readingContexts })) {
      await server.connection.pipeline(data(family));
      const before = await digest();
      const last = (await server.connection.pipeline(wrapped(command, key))).at(-1)!;
      if (!reads({ row }) && context in readingContexts) {
        expect((last as ReplyError).message, context).toMatch(/Write commands are not allowed/);
        expect(await digest(), context).toBe(before);
      } else {
        expect(last, context).toEqual(context === "MULTI" ? [reply] : reply);
        expect(await digest(), context).toBe(after);
      }
    }
  });
});

describe("while writes are paused", () => {
  const PATIENCE_MS = 5_000;
  const late = <T>(reply: Promise<T>, ms: number): Promise<T | "late"> =>
    Promise.race([reply, new Promise<"late">((resolve) => setTimeout(resolve, ms, "late"))]);

  it.each(byName(families))("%s: reads are answered at once and change nothing, writes wait", async (_, family) => {
    await server.connection.pipeline(data(family));
    const before = await server.run("DEBUG", "DIGEST"), dirty = await server.info("rdb_changes_since_last_save");
    const ours = rows.filter((one) => one.family === family);
    const client = await server.connect();
    const waiting: Promise<Reply>[] = [];
    await server.run("CLIENT", "PAUSE", 60_000, "WRITE");
    try {
      for (const { row, name } of ours.filter(reads)) {
        expect(await late(client.run(name, ...callOf(row, family)), PATIENCE_MS), name).not.toBe("late");
      }
      for (const { row, name } of ours.filter((one) => !reads(one))) {
        waiting.push((await server.connect()).run(name, ...callOf(row, family)));
      }
      expect(waiting.length).toBeGreaterThan(0);
      expect(await late(Promise.race(waiting), 100)).toBe("late");
      expect(await server.run("DEBUG", "DIGEST")).toBe(before);
      expect(await server.info("rdb_changes_since_last_save")).toBe(dirty);
    } finally {
      await server.run("CLIENT", "UNPAUSE");
    }
    const answered = Promise.all(waiting).then((replies) => replies.length);
    expect(await late(answered, PATIENCE_MS)).toBe(waiting.length);
    expect(await server.run("DEBUG", "DIGEST")).not.toBe(before);
  });

  it("OPTIMIZE does not abort a transaction that watches its key", async () => {
    await server.connection.pipeline(data(families[0]!));
    const other = await server.connect();
    await other.run("WATCH", "r:1");
    await server.run("R.OPTIMIZE", "r:1", "MEM");
    const [, , executed] = await other.pipeline([["MULTI"], ["R.GETBIT", "r:1", 7], ["EXEC"]]);
    expect(executed).toEqual([1]);
  });
});
