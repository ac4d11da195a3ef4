// Tests that loop over the command table. First, the server must declare for each command what its row says. Second, what holds for
// every command: it refuses a wrong number of arguments, bad arguments and keys of other types without changing anything, it treats a
// missing key as its row says, and it replies the same over both protocols. The test of each command states its declaration again,
// by hand.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Access, type Command as Row, commands } from "../../host/table/commands.ts";
import { own } from "../../host/table/own.ts";
import { callOf, callsOf, isKey, rows } from "../support/calls.ts";
import { families, type Family, otherThan, R, R64, range } from "../support/family.ts";
import { type Argument, type Reply, ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { arityError, byName, NO_KEY, record, useServer, WRONGTYPE } from "../support/suite.ts";
import { isSeven, since } from "../support/version.ts";

const server = useServer();

/** What servers are told of commands is told of these, too. test/commands/{integers,names}.test.ts have their calls. */
const others = own.flatMap(({ id, rows: of }) => of.map((row) => ({ row, name: `${id}.${row.name}` }))), told = [...rows, ...others];

/** Arguments that accept any text: command name to position. */
const free: Readonly<Record<string, number>> = { SETBITARRAY: 1, STAT: 1, OPTIMIZE: 1 };

/** Position and access of each key in a call, according to the command's row. */
function accesses(row: Row, call: readonly Argument[]): { at: number; access: Access }[] {
  let end = 0; // of the list before
  return row.keys.flatMap(({ at: first, to, access, oneKeyFor, numbered, behind }) => {
    const at = behind === undefined ? first : end + behind;
    const count = numbered ? Number(call[at - 2]) : to === undefined || call[0] === oneKeyFor ? 1 : call.length - at + 1;
    end = at + count;
    return range(at, count).map((position) => ({ at: position - 1, access }));
  });
}

/** Whether the server asks the module for the keys of a call. */
const reportsKeys = (row: Row): boolean =>
  row.keys.some(({ oneKeyFor, modifyWith, numbered }) => (oneKeyFor ?? modifyWith) !== undefined || numbered);

const OF_SPECS: Readonly<Record<Access, string[]>> = {
  read: ["RO", "access"], modify: ["RW", "access", "update"], update: ["RW", "update"], insert: ["RW", "insert"],
  overwrite: ["OW", "insert"],
};

describe("the command table", () => {
  it("lists each command once", () => expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length));

  it.each(commands.map(({ name }) => name))("%s has exactly one test file that describes it", (name) => {
    const folder = new URL(".", import.meta.url);
    const files = readdirSync(folder).filter((file) => readFileSync(new URL(file, folder), "utf8").includes(`describeCommand("${name}"`));
    expect(files).toHaveLength(1);
  });

  it.skipIf(!isSeven)("lists exactly the commands that the server has from the module", async () => {
    const list = (await server.run("COMMAND", "LIST", "FILTERBY", "MODULE", "redis-roar")) as string[];
    expect(list.sort()).toEqual(told.map(({ name }) => name).sort());
  });

  it("leaves out the commands for tests of the sandbox", async () => {
    expect(await server.connection.refusal("ROAR.TRAP", "k", "READ")).toMatch(/^ERR unknown command/);
  });

  it.skipIf(!isSeven).each(byName(told))("%s: COMMAND INFO reports the arity, flags, tips and keys of its row", async (_, { row, name }) => {
    const [info] = (await server.run("COMMAND", "INFO", name)) as [Reply[]];
    const [, arity, flags, first, last, step, , tips, specs] = info;
    const needed = 1 + row.args.filter(({ optional }) => !optional).length;
    expect(arity).toBe(row.args.some(({ optional, multiple }) => optional || multiple) ? -needed : needed);
    const declared = row.flags.map((flag) => flag.replace("deny-oom", "denyoom"));
    expect([...(flags as string[])].sort()).toEqual([...declared, "module", ...(reportsKeys(row) ? ["movablekeys"] : [])].sort());
    expect(tips).toEqual(row.tips ?? []);
    const fixed = row.keys.filter(({ numbered }) => !numbered);             // older servers know no others without asking
    expect([first, last, step]).toEqual([fixed[0]?.at ?? 0, fixed.at(-1)?.to ?? fixed.at(-1)?.at ?? 0, Math.min(fixed.length, 1)]);
    expect((specs as Reply[]).map(specOf)).toEqual(row.keys.map(({ at, to, access, oneKeyFor, modifyWith, numbered, behind, keyword }) => ({
      ...(behind !== undefined ? {} : keyword ? { behind: keyword } : numbered ? { numbersAt: at - 1 } : { at, last: to ?? 0 }),
      flags: [...OF_SPECS[access], ...(oneKeyFor === undefined && behind === undefined ? [] : ["incomplete"]), ...(modifyWith === undefined ? [] : ["variable_flags"])],
    })));
  });

  it.skipIf(!isSeven).each(byName(told))("%s: COMMAND DOCS reports the documentation of its row", async (_, { row, name }) => {
    const docs = record(record(await server.run("COMMAND", "DOCS", name)).get(name)!);
    for (const field of ["summary", "complexity", "since"] as const) expect(docs.get(field)).toBe(row[field]);
    expect((docs.get("arguments") as Reply[]).map(documented)).toEqual(row.args.map(described));
  });

  it.skipIf(!isSeven).each(byName(rows))("%s: COMMAND GETKEYS and GETKEYSANDFLAGS find its keys", async (_, { row, name, family }) => {
    const forms = callsOf(row, family);
    expect(forms.slice(1).map(([operation]) => operation)).toEqual(row.keys.flatMap(({ oneKeyFor }) => oneKeyFor ?? []));
    for (const call of forms) {
      const keys = accesses(row, call);
      expect(keys.map(({ at }) => at)).toEqual(call.flatMap((word, at) => (isKey(word) ? [at] : [])));
      expect(await server.run("COMMAND", "GETKEYS", name, ...call)).toEqual(call.filter(isKey));
      const flagged = keys.map(({ at, access }) => [call[at], OF_SPECS[access]]);
      expect(await server.run("COMMAND", "GETKEYSANDFLAGS", name, ...call)).toEqual(flagged);
    }
  });
});

function specOf(reply: Reply): unknown {
  const spec = record(reply), begin = record(spec.get("begin_search")!), find = record(spec.get("find_keys")!);
  const keys = record(find.get("spec")!), begins = record(begin.get("spec")!), at = begins.get("index"), flags = spec.get("flags");
  if (begin.get("type") === "unknown") {
    expect(find.get("type")).toBe("unknown");
    return { flags };
  }
  if (begin.get("type") === "keyword") {
    expect([begins.get("startfrom"), find.get("type"), keys.get("keynumidx"), keys.get("firstkey"), keys.get("keystep") ?? keys.get("step")]).toEqual([1, "keynum", 1, 2, 1]);
    return { behind: begins.get("keyword"), flags };
  }
  expect([begin.get("type"), keys.get("keystep") ?? keys.get("step")]).toEqual(["index", 1]);
  if (find.get("type") === "keynum") {
    expect([keys.get("keynumidx"), keys.get("firstkey")]).toEqual([0, 1]);
    return { numbersAt: at, flags };
  }
  expect([find.get("type"), keys.get("limit")]).toEqual(["range", 0]);
  return { at, last: keys.get("lastkey"), flags };
}

/** An argument as COMMAND DOCS reports it. `described` gives the same for the row. */
function documented(reply: Reply): unknown {
  const argument = record(reply), of = argument.get("arguments") as Reply[] | undefined;
  return [argument.get("name"), argument.get("type"), argument.get("token") ?? "", argument.get("flags") ?? [], of?.map(documented) ?? []];
}

function described({ name, type, token, optional, multiple, of }: Row["args"][number]): unknown {
  const flags = [...(optional ? ["optional"] : []), ...(multiple ? ["multiple"] : [])];
  return [name, type === "token" ? "pure-token" : type, token ?? "", flags, of?.map(described) ?? []];
}

/** An argument as documentation writes it: [words that may be absent], and what is repeated twice. */
function syntaxOf(reply: Reply): string {
  const argument = record(reply), type = argument.get("type"), token = argument.get("token") as string | undefined;
  const of = ((argument.get("arguments") ?? []) as Reply[]).map(syntaxOf), flags = (argument.get("flags") ?? []) as string[];
  const bare = type === "pure-token" ? "" : of.length > 0 ? of.join(type === "oneof" ? " | " : " ") : String(argument.get("name"));
  const one = [token ?? "", bare].filter(Boolean).join(" "), all = flags.includes("multiple") ? `${one} [${one} ...]` : one;
  return flags.includes("optional") ? `[${all}]` : all;
}

describe.skipIf(!isSeven)("what a server tells of commands and their options, by hand", () => {
  const RO = ["RO", "access"], RW = ["RW", "access", "update"], OW = ["OW", "insert"], UPDATE = ["RW", "update"];
  const syntaxes: readonly [name: string, syntax: string][] = [
    ["RANGE", "key min max [REV] [LIMIT n]"],
    ["RANGES", "key min max [LIMIT n]"],
    ["COUNTS", "key numranges min max [min max ...]"],
    ["RANDPOP", "key [count]"],
    ["QUERY", "expression numkeys key [key ...] [CARD [LIMIT n] | MEMBERS [REV] [FROM offset] [LIMIT n] | EXPORT]"],
    ["QUERYSTORE", "destkey expression numkeys key [key ...] [OFFSET distance] [FROM offset] [LIMIT limit]"],
    ["FROMBITMAP", "key stringkey [OFFSET offset] [MERGE] [LSB]"],
    ["TOBITMAP", "stringkey key [LSB]"],
    ["IMPORT", "key payload [REPLACE]"],
  ];
  const bothSyntaxes = families.flatMap(({ name: family }) => syntaxes.map(([name, syntax]) => [`${family}.${name}`, syntax]));
  it.each(bothSyntaxes)("%s %s", async (name, syntax) => {
    const docs = record(record(await server.run("COMMAND", "DOCS", name)).get(name)!);
    expect((docs.get("arguments") as Reply[]).map(syntaxOf).join(" ")).toBe(syntax);
  });

  /** Calls, and their keys with what is done to each. Keys are found in any order of the options, and if they are named like options. */
  const calls: readonly [name: string, call: Argument[], keys: Record<string, string[]>][] = [
    ["RANGE", ["k", 0, 9, "LIMIT", 5, "REV"], { k: RO }],
    ["RANGES", ["k", 0, 9], { k: RO }],
    ["COUNTS", ["k", 2, 0, 9, 5, 7], { k: RO }],
    ["RANDPOP", ["k"], { k: RW }],
    ["RANDPOP", ["k", 5], { k: RW }],
    ["QUERY", ["#1 | #2", 2, "a", "b", "MEMBERS", "REV", "FROM", 5, "LIMIT", 1], { a: RO, b: RO }],
    ["QUERY", ["#1 | #2", 2, "MEMBERS", "REV", "MEMBERS"], { MEMBERS: RO, REV: RO }],
    ["QUERYSTORE", ["d", "#1", 1, "a"], { d: UPDATE, a: RO }],
    ["QUERYSTORE", ["d", "#1 | #2", 2, "a", "b", "LIMIT", 3, "FROM", 2, "OFFSET", -1], { d: UPDATE, a: RO, b: RO }],
    ["QUERYSTORE", ["d", "#1 | #2", 2, "OFFSET", "FROM", "OFFSET", -1], { d: UPDATE, OFFSET: RO, FROM: RO }],
    ["FROMBITMAP", ["k", "s", "LSB"], { k: OW, s: RO }],
    ["FROMBITMAP", ["k", "s", "LSB", "OFFSET", 9, "MERGE"], { k: RW, s: RO }],
    ["FROMBITMAP", ["LSB", "MERGE"], { LSB: OW, MERGE: RO }],
    ["TOBITMAP", ["s", "k", "LSB"], { s: OW, k: RO }],
    ["IMPORT", ["k", "payload", "REPLACE"], { k: RW }],
  ];
  const bothCalls = families.flatMap(({ name: family }) =>
    calls.map(([name, call, keys]) => [`${family}.${name} ${call.join(" ")}`, `${family}.${name}`, call, keys] as const));
  it.each(bothCalls)("%s: its keys are found", async (_, name, call, keys) => {
    expect(await server.run("COMMAND", "GETKEYS", name, ...call)).toEqual(Object.keys(keys));
    expect(await server.run("COMMAND", "GETKEYSANDFLAGS", name, ...call)).toEqual(Object.entries(keys));
  });
});

describe("tips", () => {
  const reads = rows.filter(({ row }) => row.flags.includes("readonly"));

  it.each(byName(reads))("%s replies the same for equal bitmaps with different containers, or is tipped as nondeterministic", async (_, { row, name, family }) => {
    const answers: Reply[] = [];
    for (const command of ["SETRANGE", "SETBITS"]) {        // a run container, then an array container
      await server.run("FLUSHALL");
      const members = command === "SETRANGE" ? [0, 1000] : range(0, 1000);
      for (const key of callOf(row, family).filter(isKey)) await roarOn(server, family).run(command, key, ...members);
      answers.push(await server.run(name, ...callOf(row, family)));
    }
    if (row.tips?.includes("nondeterministic_output")) expect(answers[1]).not.toEqual(answers[0]);
    else expect(answers[1]).toEqual(answers[0]);
  });
});

// --- Access control ------------------------------------------------------------------------------------------------------

/** The commands that have a native command of the same name. */
const natives = ["SETBIT", "GETBIT", "BITCOUNT", "BITPOS", "BITOP", "BITFIELD", "BITFIELD_RO"];

describe.skipIf(!isSeven)("access control", () => {
  const NEEDED: Readonly<Record<Access, string>> = { read: "R", modify: "RW", update: "W", insert: "W", overwrite: "W" };
  const RIGHTS = ["R", "W", "RW"];
  const patterns = RIGHTS.map((rights) => `%${rights}~${rights}:*`);
  /** The call with keys that the guest may read and write. */
  const granted = (call: readonly Argument[]): Argument[] => call.map((word) => (isKey(word) ? `RW:${word}` : word));
  const guest = () => server.run("ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "+@all", ...patterns);

  it.each(byName(rows))("%s needs exactly the rights for each key that its access implies", async (_, { row, name, family }) => {
    await guest();
    for (const call of callsOf(row, family).map(granted)) {
      for (const { at, access } of accesses(row, call)) {
        for (const rights of [...RIGHTS, "none"]) {
          const tried = call.with(at, `${rights}:key`), allowed = [...NEEDED[access]].every((right) => rights.includes(right));
          const answer = await server.run("ACL", "DRYRUN", "guest", name, ...tried);
          expect(answer === "OK", `${tried.join(" ")}: ${String(answer)}`).toBe(allowed);
          if (!natives.includes(row.name)) continue;
          const shared = call[0] === "NOT" ? tried.slice(0, -1) : tried; // without `last`, which native NOT does not have
          expect(answer).toEqual(await server.run("ACL", "DRYRUN", "guest", row.name, ...shared));
        }
      }
    }
  });

  it.each(byName(rows))("%s is refused without these rights, and changes nothing", async (_, { row, name, family }) => {
    await guest();
    const connection = await server.connect();
    await connection.run("AUTH", "guest", "any");
    for (const call of callsOf(row, family).map(granted)) {
      for (const { at, access } of accesses(row, call)) {
        expect(await connection.refusal(name, ...call.with(at, access === "read" ? "W:key" : "R:key"))).toMatch(/^NOPERM/);
      }
    }
    expect(await server.run("DBSIZE")).toBe(0);
    connection.close();
  });

  const inCategories = since({ Redis: "7.2.0", Valkey: "7.2.0" });
  const title = inCategories ? "is in the category @read or @write" : "is in neither of the categories @read and @write";
  it.each(byName(rows))(`%s ${title}, and a user who may only read keys can run it only if it is a read`, async (_, { row, name, family }) => {
    const call = callOf(row, family), writes = row.flags.includes("write");
    const isAllowed = async (...rules: string[]): Promise<boolean> => {
      await server.run("ACL", "SETUSER", "guest", "reset", "on", "nopass", ...rules);
      return (await server.run("ACL", "DRYRUN", "guest", name, ...call)) === "OK";
    };
    expect(await isAllowed("~*", "+@all", "-@write")).toBe(!writes || !inCategories);
    expect(await isAllowed("~*", "+@all", "-@read")).toBe(writes || !inCategories);
    expect(await isAllowed("%R~*", "+@all")).toBe(!writes);
  });
});

// --- What holds for every command ----------------------------------------------------------------------------------------

/** Gives each key of a call a value of the type that the command expects, and the key at `wrongAt` a value of another type. */
async function prepare(call: readonly Argument[], family: Family, wrongAt = -1, wrong?: (key: string) => Promise<unknown>): Promise<void> {
  for (const [at, key] of call.entries()) {
    if (!isKey(key) || key === "w:none") continue;
    if (key.startsWith("s") || key.startsWith("o")) await server.run("SET", key, "a string");
    else await roarOn(server, family).load(key, [1, 2, 3, 70_000 + at]);
  }
  if (wrong) {
    await server.run("DEL", call[wrongAt]!);
    await wrong(String(call[wrongAt]));
  }
}

/** The server's count of changes, and all keys with their values. */
async function state(): Promise<unknown> {
  const keys = ((await server.run("KEYS", "*")) as string[]).sort();
  return [await server.info("rdb_changes_since_last_save"), keys, await server.connection.pipeline(keys.map((key) => ["DUMP", key]))];
}

/** Expects that the command is refused with the same text over both protocols and changes nothing. Returns the text. */
async function expectRefusal(name: string, call: readonly Argument[]): Promise<string> {
  const before = await state();
  const [text, other] = [await server.speaking(2).refusal(name, ...call), await server.speaking(3).refusal(name, ...call)];
  expect(other).toBe(text);
  expect(await state(), `${name} ${call.join(" ")}`).toEqual(before);
  return text;
}

describe("every command", () => {
  it.each(byName(rows))("%s refuses a wrong number of arguments", async (_, { row, name, family }) => {
    const call = callOf(row, family), needed = row.args.filter(({ optional }) => !optional).length;
    const ended = !row.args.some(({ optional, multiple }) => optional || multiple);
    await prepare(call, family);
    for (let length = 0; length < needed; length++) expect(await expectRefusal(name, call.slice(0, length))).toBe(arityError(name));
    if (ended) expect(await expectRefusal(name, [...call, "more"])).toBe(arityError(name));
  });

  /** The command's valid call with one argument at a time made invalid. */
  const badCalls = ({ row, family }: (typeof rows)[number]): Argument[][] =>
    callOf(row, family).flatMap((word, at, call) => (isKey(word) || free[row.name] === at ? [] : [call.with(at, "?!")]));
  const refusing = rows.filter((row) => badCalls(row).length > 0);

  it.each(byName(refusing))("%s refuses bad arguments before it checks the types of its keys", async (_, tested) => {
    const { row, name, family } = tested, call = callOf(row, family), bad = badCalls(tested), texts: string[] = [];
    await prepare(call, family);
    for (const args of bad) texts.push(await expectRefusal(name, args));
    for (const key of call.filter(isKey)) {
      await server.run("DEL", key);
      await server.run("RPUSH", key, 1);
    }
    for (const [i, args] of bad.entries()) expect(await expectRefusal(name, args)).toBe(texts[i]);
    for (const text of texts) expect(text).toMatch(/^ERR (invalid|value|syntax|Invalid|bit offset|The bit|num[a-z]+|Roaring: query:)/);
  });

  it.each(byName(rows))("%s refuses keys of other types", async (_, { row, name, family }) => {
    const call = callOf(row, family);
    const types: Record<string, (key: string) => Promise<unknown>> = {
      string: (key) => server.run("SET", key, "x"),
      list: (key) => server.run("RPUSH", key, 1),
      bitmap: (key) => roarOn(server, family).load(key, [1]),
      other: (key) => roarOn(server, otherThan(family)).load(key, [1]),
    };
    const noBitmap = ["string", "list", "other"];
    const wrong: Record<string, string[]> = { r: noBitmap, w: noBitmap, s: ["list", "bitmap", "other"], e: ["string", "list"], o: [] };
    for (const [at, key] of call.entries()) {
      if (!isKey(key)) continue;
      for (const type of wrong[key[0]!]!) {
        await server.run("FLUSHALL", "SYNC");
        await prepare(call, family, at, types[type]);
        expect(await expectRefusal(name, call), `${key} is a ${type}`).toBe(WRONGTYPE);
      }
    }
  });

  const MISSING: Readonly<Record<Row["missing"], unknown>> = {
    0: 0, [-1]: -1, nil: null, "[]": [], "nil or []": [], empty: 0, empties: expect.anything(), string: "", scan: ["0", []], error: NO_KEY,
    creates: expect.anything(), zeros: expect.arrayContaining([0]),
  };

  it.each(byName(rows))("%s treats missing keys as its row says", async (_, { row, name, family }) => {
    const call = callOf(row, family);
    for (const protocol of [2, 3] as const) {
      await server.run("FLUSHALL", "SYNC");
      const [reply] = await server.speaking(protocol).pipeline([[name, ...call]]);
      expect(reply instanceof ReplyError ? reply.message : reply).toEqual(MISSING[row.missing]);
      const keys = call.filter(isKey), read = keys.filter((key) => !/^[wo]/.test(key)), written = keys.filter((key) => /^[wo]/.test(key));
      if (read.length > 0) expect(await server.run("EXISTS", ...read)).toBe(0);
      if (row.missing !== "creates") continue;
      for (const key of written) expect(await server.run("TYPE", key)).toBe(family.type);
    }
  });

  it.each(byName(rows))("%s replies the same over both protocols", async (_, { row, name, family }) => {
    const call = callOf(row, family), answers: Reply[] = [];
    for (const protocol of [2, 3] as const) {
      await server.run("FLUSHALL", "SYNC");
      await prepare(call, family);
      answers.push(await server.speaking(protocol).run(name, ...call));
    }
    expect(answers[1]).toEqual(answers[0]);
  });
});

describe("databases", () => {
  it("have separate bitmaps, also after a reload", async () => {
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
