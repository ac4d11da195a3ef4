// What the test files share: a server per file, and tests of a command that run for both families and over both protocols.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { families, type Family, otherThan } from "./family.ts";
import { Observer, type Effects } from "./observer.ts";
import type { Argument, Reply } from "./resp.ts";
import { Roar, roarOn } from "./roar.ts";
import { Server, type ServerOptions } from "./server.ts";

export const WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
export const NO_KEY = "Roaring: key does not exist";
export const SYNTAX = "ERR syntax error";
export const NOT_AN_INTEGER = "ERR value is not an integer or out of range";
export const arityError = (command: string): string => `ERR wrong number of arguments for '${command}' command`;
export const offsetError = (family: Family, name: string): string =>
  `ERR invalid ${name}: must be an unsigned ${family.bits} bit integer`;
/** Numbers that are too large for an end are told the largest, which is one more than the last offset. */
export const endError = (family: Family, end: string): string =>
  offsetError(family, "end") + ((family.bits === 32 ? /^[1-9]\d*$/ : /^\+?0*[1-9]\d*$/).test(end) ? `, or ${family.last + 1n}` : "");
export const lastError = (family: Family): string => `${offsetError(family, "last")} (NOT takes one source)`;
export const bitError = (name: string): string => `ERR invalid ${name}: must be either 0 or 1`;

/** Rows for `each` and `for`, whose titles then begin with "%s". (Titles with "$name" would put the name in quotes.) */
export const byName = <T extends { readonly name: string }>(rows: readonly T[]): (readonly [name: string, row: T])[] =>
  rows.map((row) => [row.name, row]);

/**
 * A server for the tests of a file, emptied before each of them. A test during which the server dies fails with the server's log, and
 * the server is started again for the next one.
 */
export function useServer(options: ServerOptions = {}): Server {
  const server = new Server(options);
  beforeAll(() => server.start());
  beforeEach(async () => {
    if (server.dead) await server.start();
    await server.run("FLUSHALL", "SYNC");
  });
  afterEach(() => server.assertAlive());
  afterAll(() => server.stop());
  return server;
}

/** Like expect(actual).toEqual(expected), but fast for long lists of equal numbers. */
export function expectEqual(actual: unknown, expected: unknown, what?: string): void {
  if (actual === expected) return;
  const lists = Array.isArray(actual) && Array.isArray(expected);
  if (lists && actual.length === expected.length && actual.every((item, i) => item === expected[i])) return;
  expect(actual, what).toEqual(expected);
}

export interface Suite {
  readonly server: Server;
  readonly roar: Roar;
  readonly family: Family;
  readonly protocol: 2 | 3;
  /** Runs the command under test. */
  readonly run: (...args: Argument[]) => Promise<Reply>;
  readonly refusal: (...args: Argument[]) => Promise<string>;
  /** The side effects of an action. `key`, "k" if absent, is the key that a client watches. */
  readonly effects: (action: () => Promise<unknown>, key?: string) => Promise<Effects>;
  /** The command's full name. */
  readonly name: string;
}

/** Whether the same tests run on the best CPU level too. What does not depend on the core is left out then. */
const again = process.env.ROAR_AGAIN !== undefined;

/** Runs the tests of one command for both families and over both protocols. */
export function describeCommand(command: string, body: (suite: Suite) => void): void {
  const server = useServer();
  const observers = new Map<number, Observer>(); // by the number of server starts
  const observer = async (): Promise<Observer> => {
    const made = observers.get(server.starts) ?? (await Observer.of(server));
    observers.set(server.starts, made);
    return made;
  };
  afterAll(() => observers.forEach((made) => made.close()));
  const protocols = again ? [2 as const] : [2 as const, 3 as const];
  const variants = families.flatMap((family) => protocols.map((protocol) => ({ family, protocol })));
  const named = variants.map((variant) => ({ ...variant, name: `${variant.family.name}.${command} over RESP${variant.protocol}` }));
  describe.each(byName(named))("%s", (_variant, { family, protocol }) => {
    const roar = new Roar(family, () => server.speaking(protocol));
    body({
      server,
      roar,
      family,
      protocol,
      name: roar.name(command),
      run: (...args) => roar.run(command, ...args),
      refusal: (...args) => roar.refusal(command, ...args),
      effects: async (action, key = "k") => (await observer()).effects(key, action),
    });
  });
}

/** The arguments of a call. */
export type Arguments = readonly Argument[];

interface Refusals {
  /** Argument lists with a wrong number of arguments. */
  readonly arity: readonly Arguments[];
  /** Argument lists of the right length with an invalid argument, each with the expected error. The key is "k". */
  readonly bad: readonly (readonly [Arguments, string])[];
  /** A valid argument list for the key "k", which must be refused if the key has another type. Null if no key is refused for its type. */
  readonly good: Arguments | null;
}

/** Tests that the command refuses invalid calls, and that a refusal changes nothing. */
export function itRefuses({ roar, family, name, refusal, server }: Suite, { arity, bad, good }: Refusals): void {
  if (again) return;
  it.each(arity.map((args) => [args]))("refuses the wrong number of arguments in %j", async (args) => {
    expect(await refusal(...args)).toBe(arityError(name));
  });

  it.each(bad)("refuses %j", async (args, text) => {
    expect(await refusal(...args)).toBe(text);
    expect(await server.run("EXISTS", "k")).toBe(0);

    await roar.load("k", [1, 2, 3, 70000]);
    const before = await roar.dump("k");
    expect(await refusal(...args)).toBe(text);
    expect(await roar.dump("k")).toEqual(before);

    await server.run("SET", "k", "a string");
    expect(await refusal(...args)).toBe(text); // arguments are checked before the type of the key
    expect(await server.run("GET", "k")).toBe("a string");
  });

  if (good === null) return;
  it("refuses a string key and a key of the other family", async () => {
    await server.run("SET", "k", "a string");
    expect(await refusal(...good)).toBe(WRONGTYPE);
    expect(await server.run("GET", "k")).toBe("a string");

    const other = roarOn(server, otherThan(family));
    await other.load("k", [1, 2]);
    expect(await refusal(...good)).toBe(WRONGTYPE);
    expect(await other.members("k")).toEqual([1, 2]);
  });
}

/** Runs an action while the server is above maxmemory. */
export async function aboveMaxmemory<T>(server: Server, action: () => Promise<T>): Promise<T> {
  await server.run("CONFIG", "SET", "maxmemory", 1);
  try {
    return await action();
  } finally {
    await server.run("CONFIG", "SET", "maxmemory", 0);
  }
}

export const OVER_MAXMEMORY = /^OOM command not allowed/;

/** Tests that a write is refused when maxmemory is reached, and that a read is answered. */
export function itMindsMemory({ server, run, refusal, roar }: Suite, kind: "read" | "write", args: Arguments): void {
  if (again) return;
  it(kind === "write" ? "is refused when maxmemory is reached" : "is answered when maxmemory is reached", async () => {
    await roar.load("k", [1]);
    await aboveMaxmemory(server, async () => {
      if (kind === "write") expect(await refusal(...args)).toMatch(OVER_MAXMEMORY);
      else await run(...args);
    });
    expect(await roar.members("k")).toEqual([1]);
  });
}

const MULTIPLES = Array.from({ length: 20_000 }, (_, i) => 37 * i);
/** What a command must remove in the test below. */
export const SUPERFLUOUS = MULTIPLES.slice(100);

/** Tests that a command, called with arguments that remove SUPERFLUOUS, makes room when maxmemory is reached. */
export function itMakesRoom({ server, run, roar }: Suite, args: Arguments): void {
  it("makes room when maxmemory is reached", async () => {
    await roar.load("k", MULTIPLES);
    const size = async (): Promise<number> => (await server.run("MEMORY", "USAGE", "k")) as number;
    const before = await size();
    await aboveMaxmemory(server, () => run(...args));
    expect(await roar.members("k")).toEqual(MULTIPLES.slice(0, 100));
    expect(await size()).toBeLessThan(before / 10);
  });
}

/** Tests that the command works in a transaction and in a script. Repeating it with these arguments must give the same reply. */
export function itRunsEverywhere({ roar, run, name }: Suite, args: Arguments): void {
  if (again) return;
  it("replies the same in MULTI and in EVAL", async () => {
    await roar.load("k", [1, 2, 3]);
    const reply = await run(...args);
    const [, queued, executed] = await roar.connection.pipeline([["MULTI"], [name, ...args], ["EXEC"]]);
    expect(queued).toBe("QUEUED");
    expect(executed).toEqual([reply]);
    const script = "return redis.call(unpack(ARGV))";
    expect(await roar.connection.run("EVAL", script, 1, "k", name, ...args)).toEqual(reply);
  });
}

interface Declaration {
  readonly arity: number;
  readonly flags: readonly string[];
  /** Key specs: first and last position (negative: counted from the end), and access. */
  readonly keys: readonly { first: number; last: number; access: "RO" | "RW" | "OW" }[];
  /** The arguments of an example call, and the keys among them. */
  readonly call: Arguments;
  readonly keysInCall: readonly string[];
}

/** Tests what the command declares about itself. */
export function itDeclares({ roar, name }: Suite, declaration: Declaration): void {
  if (again) return;
  const { arity, flags, keys, call, keysInCall } = declaration;

  it("declares its arity, flags and key specs", async () => {
    const [info] = (await roar.connection.run("COMMAND", "INFO", name)) as [Reply[]];
    const [infoName, infoArity, infoFlags, first, last, step, , , specs] = info;
    expect(String(infoName).toUpperCase()).toBe(name);
    expect(infoArity).toBe(arity);
    expect([...(infoFlags as Iterable<string>)].sort()).toEqual([...flags, "module"].sort());
    expect([first, last, step]).toEqual([keys[0]!.first, keys.at(-1)!.last, 1]);
    expect([...(specs as Iterable<Reply>)].map(readKeySpec)).toEqual(keys);
  });

  it("is documented in COMMAND DOCS", async () => {
    const docs = record(await roar.connection.run("COMMAND", "DOCS", name));
    const [doc] = [...docs.values()].map(record);
    expect([...docs.keys()].map((k) => k.toUpperCase())).toEqual([name]);
    expect(doc!.get("summary")).toMatch(/^[A-Z].*[^.]$/);
    expect(doc!.get("since")).toBe("1.0.0");
    expect(doc!.get("complexity")).toMatch(/^O\(/);
    expect(doc!.get("module")).toBeTruthy();
    const documented = (doc!.get("arguments") as Reply[]).map(record);
    expect(documented.length).toBeGreaterThan(0);
    expect(documented.some((argument) => argument.get("type") === "key")).toBe(true);
  });

  it("has its keys found by COMMAND GETKEYS", async () => {
    expect(await roar.connection.run("COMMAND", "GETKEYS", name, ...call)).toEqual(keysInCall);
  });

  it("is listed by COMMAND LIST", async () => {
    expect(await roar.connection.run("COMMAND", "LIST", "FILTERBY", "PATTERN", name)).toEqual([name]);
  });
}

function readKeySpec(reply: Reply): { first: number; last: number; access: string } {
  const spec = record(reply);
  const access = [...(spec.get("flags") as Iterable<string>)].filter((flag) => ["RO", "RW", "OW"].includes(flag));
  const begin = record(record(spec.get("begin_search")!).get("spec")!).get("index") as number;
  const range = record(record(spec.get("find_keys")!).get("spec")!);
  const span = range.get("lastkey") as number;
  expect(range.get("keystep")).toBe(1);
  return { first: begin, last: span < 0 ? span : begin + span, access: access.join() };
}

/** The entry of redis-roar in MODULE LIST, which can list other modules before it. */
export async function listedModule(server: Server): Promise<Map<string, Reply> | undefined> {
  return ((await server.run("MODULE", "LIST")) as Reply[]).map(record).find((module) => module.get("name") === "redis-roar");
}

/** A map reply as a Map, for both protocols. */
export function record(reply: Reply): Map<string, Reply> {
  if (reply instanceof Map) return reply as Map<string, Reply>;
  const flat = reply as Reply[];
  return new Map(flat.flatMap((key, i) => (i % 2 === 0 ? [[key as string, flat[i + 1]!] as const] : [])));
}
