// Limits of one node must not change what another one holds: replicas take what the primary accepted, and an AOF replays what was accepted
// before a restart, however low their own limits are.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { callsOf, isKey } from "../support/calls.ts";
import { families, type Family, range } from "../support/family.ts";
import { type Argument, type Command, encode, ReplyError } from "../support/resp.ts";
import { Server, withDebug } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";
import { inStep, replicate, stopReplicating } from "../support/waiting.ts";

const MIB = 2 ** 20;
/** The lowest value of every limit that a node has, or a low one. */
const low = {
  moduleArguments: [...withDebug, "REPLY-LIMIT", "1", "REPLY-LIMIT-BYTES", "1024"],
  config: ["proto-max-bulk-len 1mb"],
};
const aof = ["appendonly yes", "aof-use-rdb-preamble no", "appendfsync always"];

const replica = useServer({ ...low, listens: true });
const primary = useServer({ ...low, listens: true, config: [...low.config, ...aof] });

const raiseLimits = (server: Server) =>
  server.run("CONFIG", "SET", "proto-max-bulk-len", 32 * MIB, "redis-roar.reply-limit", MIB, "redis-roar.reply-limit-bytes", 128 * MIB);

/** The server's log holds no complaint about a command of the primary or of the AOF. */
const expectNoComplaint = (server: Server) => expect(server.log()).not.toContain("CRITICAL");

/** Writes, under high limits, every value that the low limits would refuse. */
async function writeLong(server: Server): Promise<void> {
  for (const { name } of families) {
    const at = 2 * MIB * 8 - 1;
    await server.run(`${name}.SETBIT`, `${name}:far`, at, 1);
    expect(await server.run(`${name}.TOBITMAP`, `${name}:string`, `${name}:far`)).toBe(2 * MIB);
    expect(await server.run(`${name}.TOBITMAP`, `${name}:string`, `${name}:far`)).toBe(2 * MIB);
    expect(await server.run(`${name}.SETBITARRAY`, `${name}:characters`, `${"0".repeat(2 * MIB)}1`)).toBe("OK");
    expect(await server.run(`${name}.FROMBITMAP`, `${name}:back`, `${name}:string`)).toBe(1);
    expect(await server.run("COPY", `${name}:far`, `${name}:itself`)).toBe(1);
    expect(await server.run(`${name}.TOBITMAP`, `${name}:itself`, `${name}:itself`)).toBe(2 * MIB);
  }
}

/** Runs every command on bitmaps of 2,000 members, which are more than the low limits let anyone read. */
async function runAll(server: Server, family: Family): Promise<void> {
  const members = range(0, 2000, 7);
  for (const row of commands) {
    for (const args of callsOf(row, family)) {
      const keys = args.filter(isKey).map((key) => `${family.name}:${row.name}:${key}`);
      const named = args.map((arg) => (isKey(arg) ? `${family.name}:${row.name}:${arg}` : arg));
      for (const key of keys) {
        if (key.endsWith("none")) continue;
        await server.run(...(/:s:/.test(key) ? ["SET", key, "a".repeat(2000)] : [`${family.name}.SETINTARRAY`, key, ...members]));
      }
      const replies = await server.connection.pipeline([["MULTI"], [`${family.name}.${row.name}`, ...named], ["EXEC"]]);
      expect(replies.flat().filter((reply) => reply instanceof ReplyError), row.name).toEqual([]);
    }
  }
}

it("replicas and a replayed AOF hold what was accepted under higher limits", async () => {
  await replicate(replica, primary);
  await inStep(replica, primary);
  await raiseLimits(primary);
  await writeLong(primary);
  for (const family of families) await runAll(primary, family);
  const digest = await primary.run("DEBUG", "DIGEST");
  await inStep(replica, primary);
  expect(await replica.run("DEBUG", "DIGEST"), "replica").toBe(digest);
  expectNoComplaint(replica);
  await stopReplicating(replica);
  await primary.restart();
  expect(await primary.run("DEBUG", "DIGEST"), "after the restart").toBe(digest);
  expectNoComplaint(primary);
  for (const { name } of families) {
    expect(await primary.connection.refusal(`${name}.TOBITMAP`, "other", `${name}:far`)).toMatch(/^ERR Roaring: string too long/);
  }
}, 120_000);

/**
 * The commands that have a limit, with arguments beyond the low limits. Keys: `list` holds 2,000 members, `long` holds one far offset.
 * SCAN, which returns fewer members under a low limit, is not refused.
 */
const limited: Readonly<Record<string, readonly Argument[]>> = {
  GETINTARRAY: ["list"],
  RANGEINTARRAY: ["list", 0, 1999],
  RANGE: ["list", 0, 100_000, "LIMIT", 2000],
  RANGES: ["list", 0, 100_000],
  COUNTS: ["list", 2000, ...range(0, 4000)],
  SCAN: ["list", 0, "COUNT", 2000],
  GETBITS: ["list", ...range(0, 2000)],
  MBITCOUNT: Array.from({ length: 2000 }, () => "list"),
  RANDMEMBER: ["list", -2000],
  MGETBIT: [7, ...Array.from({ length: 2000 }, () => "list")],
  QUERY: ["#1", 1, "list", "MEMBERS"],
  GETBITARRAY: ["long"],
  EXPORT: ["list"],
  TOBITMAP: ["string", "long"],
};

it("the table has every command whose reply or result has a limit", () => {
  const listing = commands.filter(({ missing, flags }) => ["[]", "scan", "zeros"].includes(String(missing)) && flags.includes("readonly"));
  const all = [...listing.map(({ name }) => name), "RANDMEMBER", "QUERY", "GETBITARRAY", "EXPORT", "TOBITMAP"];
  expect(Object.keys(limited).sort()).toEqual(all.filter((name) => name !== "BITFIELD_RO").sort());
});

it.each(byName(families))("scripts in an AOF read as much as they read where they were accepted: %s", async (_, { name }) => {
  /** Writes how much a command replies. Redis 6.2 puts scripts into an AOF, later servers only what they write. */
  const script = `local reply = redis.call(unpack(ARGV))
    if type(reply) == 'table' and type(reply[2]) == 'table' then reply = reply[2] end
    redis.call('SET', KEYS[1], type(reply) == 'number' and reply or #reply)`;
  const written: Command[] = [
    [`${name}.SETINTARRAY`, "list", ...range(0, 2000, 7)], [`${name}.SETBIT`, "long", 2 * MIB * 8 - 1, 1],
    ...Object.entries(limited).map(([command, args]): Command => ["EVAL", script, 1, `length:${command}`, `${name}.${command}`, ...args]),
  ];
  const lengths = async (server: Server) => server.run("MGET", ...Object.keys(limited).map((command) => `length:${command}`));
  await raiseLimits(replica);
  for (const command of written) await replica.run(...command);
  const expected = await lengths(replica);
  expect(expected).not.toContain(null);

  const own = await Server.start({ ...low, config: low.config });
  try {
    for (const command of written.slice(0, 2)) await own.run(...command);
    const beyond = written.slice(2).filter((command) => !command.includes(`${name}.SCAN`));
    for (const command of beyond) expect(await own.connection.refusal(...command)).toMatch(/Roaring: /);
    writeFileSync(join(own.directory, "appendonly.aof"), Buffer.concat(written.map(encode)));
    await own.restart({ ...low, config: [...low.config, ...aof] });
    expect(await lengths(own)).toEqual(expected);
    expectNoComplaint(own);
  } finally {
    await own.stop();
  }
});
