// A core that tries to leave its sandbox. The test build has a command for this: ROAR.TRAP key READ | WRITE [number].

import { describe, expect, it } from "vitest";
import { R, R64 } from "../support/family.ts";
import type { Command } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { rewriteAof } from "../support/waiting.ts";
import { byName } from "../support/suite.ts";
import { useTrapServer } from "../support/trap.ts";

describe("a trap", () => {
  const server = useTrapServer({ config: ["aof-use-rdb-preamble no"] });
  const roar = roarOn(server, R);
  const trap = (kind: "READ" | "WRITE", key = "k") => server.connection.refusal("ROAR.TRAP", key, kind);
  const INTERNAL = /^ERR Roaring: internal error \(.*outside.*\)$/;

  /** Creates keys that a trap must not affect. */
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

  it("during a read is an error reply and a log line, and damages nothing", async () => {
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

  // What assembly/trap.ts does for each number, in its order.
  const BITMAP = "access outside the bitmap", OPERAND = "access outside an operand";
  const ARGUMENT = "no such argument", OUTPUT = "more output than announced";
  const ways: [name: string, error: string][] = [
    ["loading the byte after the last", BITMAP], ["loading a word across the end", BITMAP], ["loading a vector across the end", BITMAP],
    ["loading from an address that wraps", BITMAP], ["storing the byte after the last", BITMAP],
    ["storing a vector across the end", BITMAP],
    ["filling across the end", BITMAP], ["copying from across the end", BITMAP], ["copying to across the end", BITMAP],
    ["setting bits of a bitset across the end", BITMAP], ["clearing bits at the greatest address", BITMAP],
    ["flipping bits after the end", BITMAP],
    ["loading the byte after the left operand", OPERAND], ["loading a word across the end of the right operand", OPERAND],
    ["loading a vector across the end of the left operand", OPERAND], ["loading from an address of the right operand that wraps", OPERAND],
    ["copying from across the end of the left operand", OPERAND], ["copying from the right operand to across the end", BITMAP],
    ["selecting operand 0 when there is none", OPERAND], ["selecting the greatest operand number", OPERAND],
    ["reading argument 0 when there is none", ARGUMENT], ["handing back a value when there are no arguments", ARGUMENT],
    ["writing a byte of unannounced output", OUTPUT], ["writing output from after the end", BITMAP], ["filling unannounced output", OUTPUT],
    ["putting a number into unannounced output", OUTPUT], ["putting a vector into unannounced output", OUTPUT],
    ["marking a byte before any output", OUTPUT], ["replying with nine lanes of a vector", OUTPUT],
    ["replying with members in a call that returns none", OUTPUT], ["dividing by zero", "arithmetic fault"],
    ["reaching unreachable code", "unreachable code"], ["recursing too deep", "calls nested too deep"],
    ["growing during a read", "memory did not grow"], ["counting in bytes across the end", BITMAP],
    ["comparing bytes across the end", BITMAP], ["gathering bytes across the end", BITMAP],
    ["asking which memory operand 0 is when there is none", OPERAND], ["replacing argument 0 when there is none", ARGUMENT],
    ["spreading bytes to across the end", BITMAP], ["spreading by a summary across the end", OPERAND],
    ["spreading bytes from across the end", OPERAND], ["spreading by masks across the end", OPERAND],
    ["counting what two operands share across the end of the right one", OPERAND],
    ["combining two operands to across the end", BITMAP], ["asking for a view of operand 0 when there is none", OPERAND],
    ["ending a segment while nothing is built", "memory did not grow"],
    ...["changing a segment", "leaving it", "renewing it", "removing it", "counting its members", "cutting it"]
      .map((what): [string, string] => [`${what} in a call that changes none`, OPERAND]),
  ];
  const numbered = ways.map(([name, error], way) => ({ name, error, way }));

  it.each(byName(numbered))("is raised by %s", async (_, { error, way }) => {
    await bystanders();
    const members = Array.from({ length: 6000 }, (_value, i) => i * 10 + (i > 3000 ? 5000 : 0)); // a bitset, so more than 8 KiB
    await roar.load("k", members);
    expect(await server.connection.refusal("ROAR.TRAP", "k", "READ", way)).toBe(`ERR Roaring: internal error (${error})`);
    expect(await server.run("ROAR.TRAP", "k", "READ", ways.length)).toBe("OK"); // unknown numbers touch every last valid address
    expect(await roar.members("k")).toEqual(members);
    await expectBystanders();
  });

  it("during a write damages the bitmap, which then replies with an error to every command but DEL", async () => {
    await bystanders();
    await damage();
    const commands: Command[] = [
      ["R.SETBIT", "k", 1, 1], ["R.GETBIT", "k", 1], ["R.BITCOUNT", "k"], ["R.BITPOS", "k", 1], ["R.SETINTARRAY", "k", 1],
      ["R.APPENDINTARRAY", "k", 1], ["R.GETINTARRAY", "k"], ["R.BITOP", "OR", "d", "other", "k"], ["R.BITOP", "NOT", "d", "k"],
    ];
    for (const command of commands) {
      expect(await server.connection.refusal(...command), command.join(" ")).toMatch(/^ERR Roaring: .*damaged/);
    }
    expect(await server.run("EXISTS", "d")).toBe(0);
    expect(await server.run("COPY", "k", "copy").catch((error: Error) => error.message)).not.toBe(1);
    expect(await server.run("EXISTS", "copy")).toBe(0);
    await expectBystanders();
    expect(await server.run("DEL", "k")).toBe(1);
    expect(await roar.run("SETBIT", "k", 9, 1)).toBe(0);
    expect(await roar.members("k")).toEqual([9]);
  });

  it("does not create a missing key", async () => {
    expect(await trap("WRITE")).toMatch(INTERNAL);
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  it("may happen thousands of times: the server survives and frees the memory", async () => {
    await bystanders();
    await damage();
    await server.run("DEL", "k");
    const before = await server.number("used_memory");
    for (let i = 0; i < 2000; i++) {
      await damage();
      await server.run("DEL", "k");
    }
    expect(await server.number("used_memory") - before).toBeLessThan(100_000);
    await expectBystanders();
  });

  it("is an error reply inside MULTI and EVAL too", async () => {
    await roar.load("k", [1]);
    const replies = await server.connection.pipeline([["MULTI"], ["ROAR.TRAP", "k", "READ"], ["R.GETBIT", "k", 1], ["EXEC"]]);
    expect(replies[3]).toEqual([expect.objectContaining({ message: expect.stringMatching(INTERNAL) }), 1]);
    const script = "return redis.pcall('ROAR.TRAP', KEYS[1], 'READ')";
    expect(await server.connection.refusal("EVAL", script, 1, "k")).toMatch(/internal error/);
  });

  it("does not prevent the other keys from being saved and reloaded", async () => {
    await bystanders();
    await damage();
    expect(await server.usage("k")).toBeGreaterThan(0);
    await server.run("DEBUG", "DIGEST");
    await server.run("DUMP", "k");
    await server.run("SAVE");
    await server.run("DEL", "k");
    await server.run("DEBUG", "RELOAD");
    await expectBystanders();
  });

  it("leaves a damaged bitmap out of AOFs and saves it empty in RDB files, each with a log line", async () => {
    await bystanders();
    await damage();
    const before = server.log().length;
    await rewriteAof(server);
    await server.run("SAVE");
    const log = server.log().slice(before);
    expect(log).toMatch(/key 'k': not in the AOF: it is damaged[^]*key 'k': saving an empty bitmap in its place: it is damaged/);
    await server.restart();
    await expectBystanders();
    expect(await roar.members("k")).toEqual([]);
  });

  it("is counted in INFO, and so are damaged bitmaps", async () => {
    const counts = () => Promise.all(["traps", "bitmaps_damaged"].map((field) => server.number(`redis-roar_${field}`)));
    await roar.load("k", [1]);
    const [traps, damaged] = await counts();
    await trap("READ");
    expect(await counts()).toEqual([traps! + 1, damaged]);
    await trap("WRITE");
    expect(await counts()).toEqual([traps! + 2, damaged! + 1]);
  });
});
