// The command table, and what the server makes of it. What a command ought to declare is said by hand in its own test;
// here nothing may be in one place and not in the other.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commands } from "../host/commands.ts";
import { families, type Family, R, R64 } from "./support/family.ts";
import type { Argument, Reply } from "./support/resp.ts";
import { roarOn } from "./support/roar.ts";
import { record, useServer } from "./support/suite.ts";

const server = useServer();
const rows = families.flatMap((family) => commands.map((row) => ({ family, row, name: `${family.name}.${row.name}` })));

describe("the table", () => {
  it("has each command once", () => expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length));

  it.each(commands.map(({ name }) => name))("%s has tests of its own", (name) => {
    const folder = new URL("commands/", import.meta.url);
    const described = readdirSync(folder).filter((file) => readFileSync(new URL(file, folder), "utf8").includes(`describeCommand("${name}"`));
    expect(described).toHaveLength(1);
  });

  it("is what the server has of the module", async () => {
    const list = (await server.run("COMMAND", "LIST", "FILTERBY", "MODULE", "redis-roar")) as string[];
    expect(list.sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it.each(rows)("$name: flags and documentation are the row's", async ({ row, name }) => {
    const [info] = (await server.run("COMMAND", "INFO", name)) as [Reply[]];
    expect([...(info[2] as string[])].sort()).toEqual(["module", ...row.flags.map((flag) => flag.replace("deny-oom", "denyoom"))].sort());
    const docs = record(record(await server.run("COMMAND", "DOCS", name)).get(name)!);
    for (const field of ["summary", "complexity", "since"] as const) expect(docs.get(field)).toBe(row[field]);
    expect((docs.get("arguments") as Reply[]).map((argument) => record(argument).get("name"))).toEqual(row.args.map((arg) => arg.name));
  });
});

/** A good call of every command: `read` is a key with members, `${read}:string` a native bitmap, `written` is missing. */
const calls: Record<string, (read: string, written: string, family: Family) => Argument[]> = {
  SETBIT: (_, written) => [written, 1, 1],
  GETBIT: (read) => [read, 1],
  BITCOUNT: (read) => [read],
  BITPOS: (read) => [read, 1],
  BITOP: (read, written) => ["OR", written, read, read],
  SETINTARRAY: (_, written) => [written, 1, 2],
  APPENDINTARRAY: (_, written) => [written, 1, 2],
  GETINTARRAY: (read) => [read],
  GETBITS: (read) => [read, 1],
  SETBITS: (_, written) => [written, 1],
  CLEARBITS: (_, written) => [written, 1],
  CLEAR: (_, written) => [written],
  DELETEINTARRAY: (_, written) => [written, 1],
  RANGEINTARRAY: (read) => [read, 0, 1],
  SETRANGE: (_, written) => [written, 1, 2],
  CLEARRANGE: (_, written) => [written, 1, 2],
  FLIPRANGE: (_, written) => [written, 1, 2],
  SETFULL: (_, written) => [written],
  MIN: (read) => [read],
  MAX: (read) => [read],
  RANK: (read) => [read, 1],
  SELECT: (read) => [read, 0],
  RANGE: (read) => [read, 0, 1],
  SCAN: (read) => [read, 0],
  BITOPCARD: (read) => ["OR", read, read],
  DIFF: (read, written) => [written, read, read],
  CONTAINS: (read) => [read, read],
  JACCARD: (read) => [read, read],
  SETBITARRAY: (_, written) => [written, "01"],
  GETBITARRAY: (read) => [read],
  EXPORT: (read) => [read],
  IMPORT: (_, written, family) => [written, Buffer.from(family === R ? "3a30000000000000" : "0000000000000000", "hex")],
  FROMBITMAP: (read, written) => [written, `${read}:string`],
  TOBITMAP: (read, written) => [written, read],
  BITFIELD: (_, written) => [written, "SET", "u8", 0, 1],
  BITFIELD_RO: (read) => [read, "GET", "u8", 0],
  STAT: (read) => [read],
  OPTIMIZE: (read) => [read],
};

describe("access control", () => {
  it.each(rows)("$name is held to the keys and to the kind of access that a user has", async ({ name, row, family }) => {
    await roarOn(server, family).load("read:1", [1, 2]);
    await server.run("SET", "read:1:string", "a");
    await server.run("ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "+@all", "%R~read:*", "%RW~written:*");
    const guest = await server.connect();
    await guest.run("AUTH", "guest", "any");
    const call = calls[row.name]!;
    await guest.run(name, ...call("read:1", "written:1", family));
    expect(await guest.refusal(name, ...call("other", "other", family))).toMatch(/^NOPERM/);
    if (row.flags.includes("write")) expect(await guest.refusal(name, ...call("read:1", "read:1", family))).toMatch(/^NOPERM/);
    guest.close();
  });
});

describe("databases", () => {
  it("each have their own bitmaps, in files too", async () => {
    const connection = await server.connect();
    for (const [database, family] of [[0, R], [5, R64]] as const) {
      await connection.run("SELECT", database);
      await connection.run(`${family.name}.SETINTARRAY`, "k", database, 100);
    }
    await server.run("DEBUG", "RELOAD");
    expect(await connection.run("R64.GETINTARRAY", "k")).toEqual([5, 100]);
    expect(await roarOn(server, R).members("k")).toEqual([0, 100]);
    expect(await connection.run("COPY", "k", "copy", "DB", 0)).toBe(1);
    expect(await roarOn(server, R64).members("copy")).toEqual([5, 100]);
    connection.close();
  });
});
