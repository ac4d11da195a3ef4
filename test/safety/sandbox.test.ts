// A core that reaches beyond its memory: a build with one command more, ROAR.TRAP key READ | WRITE, lets it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { R, R64 } from "../support/family.ts";
import type { Command } from "../support/resp.ts";
import { projectRoot, Server } from "../support/server.ts";
import { roarOn } from "../support/roar.ts";
import { waitUntil } from "../support/replication.ts";
import { useServer } from "../support/suite.ts";

const module = join(projectRoot, "build/redis-roar-trap.so");

describe("a trap", () => {
  beforeAll(() => {
    if (!existsSync(module)) throw new Error(`${module} is missing: make trap`);
  });
  const server = useServer({ module, config: ["aof-use-rdb-preamble no"] });
  const roar = roarOn(server, R);
  const trap = (kind: "READ" | "WRITE", key = "k") => server.connection.refusal("ROAR.TRAP", key, kind);
  const INTERNAL = /^ERR Roaring: internal error \(.*outside.*\)$/;

  const bystanders = async (): Promise<void> => {
    await roar.load("other", [1, 2, 70_000]);
    await roarOn(server, R64).load("wide", [3, 2n ** 60n]);
    await server.run("SET", "string", "s");
  };
  const expectBystanders = async (): Promise<void> => {
    expect(await roar.members("other")).toEqual([1, 2, 70_000]);
    expect(await roarOn(server, R64).members("wide")).toEqual([3, 2n ** 60n]);
    expect(await server.run("GET", "string")).toBe("s");
  };
  const damage = async (): Promise<void> => {
    await roar.load("k", [1, 2, 3]);
    expect(await trap("WRITE")).toMatch(INTERNAL);
  };

  it("while reading is an error reply and a log line, and does no harm", async () => {
    await bystanders();
    await roar.load("k", [1, 2, 3]);
    const before = server.log().length;
    expect(await trap("READ")).toMatch(INTERNAL);
    expect(server.log().slice(before)).toMatch(/# <redis-roar> trap in ROAR\.TRAP.*'k'.*outside/);
    expect(await roar.members("k")).toEqual([1, 2, 3]);
    expect(await roar.run("SETBIT", "k", 4, 1)).toBe(0);
    expect(await roar.members("k")).toEqual([1, 2, 3, 4]);
    await expectBystanders();
  });

  // The ways of assembly/trap.ts, each a step beyond what the core may.
  const BITMAP = "access outside the bitmap", OPERAND = "access outside an operand";
  const ARGUMENT = "no such argument", OUTPUT = "more output than announced";
  const ways: [what: string, error: string][] = [
    ["a byte behind the last", BITMAP], ["a word that ends there", BITMAP], ["a vector that ends there", BITMAP],
    ["an address that wraps", BITMAP], ["a byte stored", BITMAP], ["a vector stored", BITMAP], ["a fill", BITMAP],
    ["a copy from there", BITMAP], ["a copy to there", BITMAP], ["bits of which the last byte is", BITMAP],
    ["bits at the greatest address", BITMAP], ["bits from there on", BITMAP],
    ["left's byte", OPERAND], ["right's word", OPERAND], ["left's vector", OPERAND], ["right's address that wraps", OPERAND],
    ["left's copy from there", OPERAND], ["right's copy to there", BITMAP], ["an operand of none", OPERAND],
    ["the greatest operand", OPERAND], ["an argument of none", ARGUMENT], ["one kept of none", ARGUMENT],
    ["a byte written", OUTPUT], ["one from outside", BITMAP], ["a fill of output", OUTPUT], ["a number put", OUTPUT],
    ["a vector put", OUTPUT], ["a mark before anything is written", OUTPUT], ["nine lanes of eight", OUTPUT],
    ["members that nobody takes", OUTPUT], ["a division by zero", "arithmetic fault"],
    ["what cannot be reached", "unreachable code"], ["calls in calls", "calls nested too deep"],
    ["growth while reading", "memory did not grow"],
  ];

  it.each(ways.map(([what, error], way) => ({ what, error, way })))("comes of $what", async ({ error, way }) => {
    await bystanders();
    const members = Array.from({ length: 6000 }, (_, i) => i * 10);         // a bitset, so more than 8 KiB
    await roar.load("k", members);
    expect(await server.connection.refusal("ROAR.TRAP", "k", "READ", way)).toBe(`ERR Roaring: internal error (${error})`);
    expect(await server.run("ROAR.TRAP", "k", "READ", ways.length)).toBe("OK");       // up to there nothing traps
    expect(await roar.members("k")).toEqual(members);
    await expectBystanders();
  });

  it("while writing leaves a bitmap that answers an error to everything but DEL", async () => {
    await bystanders();
    await damage();
    const commands: Command[] = [
      ["R.SETBIT", "k", 1, 1], ["R.GETBIT", "k", 1], ["R.BITCOUNT", "k"], ["R.BITPOS", "k", 1], ["R.SETINTARRAY", "k", 1],
      ["R.APPENDINTARRAY", "k", 1], ["R.GETINTARRAY", "k"], ["R.BITOP", "OR", "d", "other", "k"], ["R.BITOP", "NOT", "d", "k"],
    ];
    for (const command of commands) expect(await server.connection.refusal(...command), command.join(" ")).toMatch(/^ERR Roaring: .*damaged/);
    expect(await server.run("EXISTS", "d")).toBe(0);
    expect(await server.run("COPY", "k", "copy").catch((error: Error) => error.message)).not.toBe(1);
    expect(await server.run("EXISTS", "copy")).toBe(0);
    await expectBystanders();
    expect(await server.run("DEL", "k")).toBe(1);
    expect(await roar.run("SETBIT", "k", 9, 1)).toBe(0);
    expect(await roar.members("k")).toEqual([9]);
  });

  it("leaves no key behind where there was none", async () => {
    expect(await trap("WRITE")).toMatch(INTERNAL);
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  it("happens as often as it likes: the server lives on, and gives the memory back", async () => {
    await bystanders();
    await damage();
    await server.run("DEL", "k");
    const before = Number(await server.info("used_memory"));
    for (let i = 0; i < 2000; i++) {
      await damage();
      await server.run("DEL", "k");
    }
    expect(Number(await server.info("used_memory")) - before).toBeLessThan(100_000);
    await expectBystanders();
  });

  it("is an error inside MULTI and EVAL as anywhere", async () => {
    await roar.load("k", [1]);
    const replies = await server.connection.pipeline([["MULTI"], ["ROAR.TRAP", "k", "READ"], ["R.GETBIT", "k", 1], ["EXEC"]]);
    expect(replies[3]).toEqual([expect.objectContaining({ message: expect.stringMatching(INTERNAL) }), 1]);
    const script = "return redis.pcall('ROAR.TRAP', KEYS[1], 'READ')";
    expect(await server.connection.refusal("EVAL", script, 1, "k")).toMatch(/internal error/);
  });

  it("does not keep the rest of the data from being saved, copied and evicted", async () => {
    await bystanders();
    await damage();
    expect(await server.run("MEMORY", "USAGE", "k")).toBeGreaterThan(0);
    await server.run("DEBUG", "DIGEST");
    await server.run("DUMP", "k");
    await server.run("SAVE");
    await server.run("DEL", "k");
    await server.run("DEBUG", "RELOAD");
    await expectBystanders();
  });

  it("keeps a damaged bitmap out of RDB files and AOFs, with a line in the log", async () => {
    await bystanders();
    await damage();
    const before = server.log().length;
    await server.run("BGREWRITEAOF");
    await waitUntil(async () => (await server.info("aof_rewrite_in_progress")) === "0");
    expect(await server.info("aof_last_bgrewrite_status")).toBe("ok");
    await server.run("SAVE");
    expect(server.log().slice(before)).toMatch(/key 'k': not in the AOF: it is damaged[^]*key 'k': saving an empty bitmap in its place: it is damaged/);
    await server.restart();
    await expectBystanders();
    expect(await roar.members("k")).toEqual([]);
  });

  it("is counted in INFO, and so is what it damages", async () => {
    const counts = () => Promise.all(["traps", "bitmaps_damaged"].map(async (field) => Number(await server.info(`redis-roar_${field}`))));
    await roar.load("k", [1]);
    const [traps, damaged] = await counts();
    await trap("READ");
    expect(await counts()).toEqual([traps! + 1, damaged]);
    await trap("WRITE");
    expect(await counts()).toEqual([traps! + 2, damaged! + 1]);
  });
});

it("cannot be had from the module that is shipped", async () => {
  const server = await Server.start();
  expect(await server.connection.refusal("ROAR.TRAP", "k", "READ")).toMatch(/^ERR unknown command/);
  await server.stop();
});
