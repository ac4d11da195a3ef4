// What the test files have in common: a server for the file, and a command's tests run over both families and both
// protocols.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { families, type Family, otherThan } from "./family.ts";
import { Observer, type Effects } from "./observer.ts";
import type { Argument, Reply } from "./resp.ts";
import { Roar, roarOn } from "./roar.ts";
import { Server, type ServerOptions } from "./server.ts";

export const WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
export const SYNTAX = "ERR syntax error";
export const NOT_AN_INTEGER = "ERR value is not an integer or out of range";
export const arityError = (command: string): string => `ERR wrong number of arguments for '${command}' command`;
export const offsetError = (family: Family, name: string): string =>
  `ERR invalid ${name}: must be an unsigned ${family.bits} bit integer`;
export const bitError = (name: string): string => `ERR invalid ${name}: must be either 0 or 1`;

/**
 * A server for the tests that follow, emptied before each. A test that leaves it dead fails with the server's log, and
 * the next one gets it started again.
 */
export function useServer(options: ServerOptions = {}): Server {
  const server = new Server(options);
  beforeAll(() => server.start());
  beforeEach(async () => {
    if (server.dead) await server.start();
    await server.run("FLUSHALL");
  });
  afterEach(() => server.assertAlive());
  afterAll(() => server.stop());
  return server;
}

/** As expect(actual).toEqual(expected), without its price for long lists of numbers that are equal. */
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
  /** What an action does besides replying, with an eye on the key "k". */
  readonly effects: (action: () => Promise<unknown>, key?: string) => Promise<Effects>;
  /** The command's full name. */
  readonly name: string;
}

/** Tests of one command, over the families and the protocols. */
export function describeCommand(command: string, body: (suite: Suite) => void): void {
  const server = useServer();
  const observers = new Map<number, Observer>(); // by start of the server
  const observer = async (): Promise<Observer> => {
    const made = observers.get(server.starts) ?? (await Observer.of(server));
    observers.set(server.starts, made);
    return made;
  };
  afterAll(() => observers.forEach((made) => made.close()));
  const variants = families.flatMap((family) => ([2, 3] as const).map((protocol) => ({ family, protocol })));
  const titled = variants.map((variant) => ({ ...variant, title: `${variant.family.name}.${command} over RESP${variant.protocol}` }));
  describe.each(titled)("$title", ({ family, protocol }) => {
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

/** An argument list in which KEY stands where the key goes. */
export type Arguments = readonly Argument[];

export interface Refusals {
  /** Argument lists of a wrong length. */
  readonly arity: readonly Arguments[];
  /** Argument lists of a right length that are wrong, each with the text of its refusal; the key is called "k". */
  readonly bad: readonly (readonly [Arguments, string])[];
  /** A good argument list on the key "k": what a key of another type must refuse. */
  readonly good: Arguments;
}

/** The refusals that every command owes, all of which change nothing. */
export function itRefuses({ roar, family, name, refusal, server }: Suite, { arity, bad, good }: Refusals): void {
  it.each(arity.map((args) => [args]))("refuses the number of arguments in %j", async (args) => {
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
    expect(await refusal(...args)).toBe(text); // the arguments come first
    expect(await server.run("GET", "k")).toBe("a string");
  });

  it("refuses a string key, and one of the other family", async () => {
    await server.run("SET", "k", "a string");
    expect(await refusal(...good)).toBe(WRONGTYPE);
    expect(await server.run("GET", "k")).toBe("a string");

    const other = roarOn(server, otherThan(family));
    await other.load("k", [1, 2]);
    expect(await refusal(...good)).toBe(WRONGTYPE);
    expect(await other.members("k")).toEqual([1, 2]);
  });
}

/** That a write is refused when there is no memory to be had, and a read is not. */
export function itMindsMemory({ server, run, refusal, roar }: Suite, kind: "read" | "write", args: Arguments): void {
  it(kind === "write" ? "is refused when maxmemory is reached" : "is answered when maxmemory is reached", async () => {
    await roar.load("k", [1]);
    await server.run("CONFIG", "SET", "maxmemory", 1);
    try {
      if (kind === "write") expect(await refusal(...args)).toMatch(/^OOM command not allowed/);
      else await run(...args);
    } finally {
      await server.run("CONFIG", "SET", "maxmemory", 0);
    }
    expect(await roar.members("k")).toEqual([1]);
  });
}

/** That the command works in a transaction and in a script. The arguments must leave the reply the same. */
export function itRunsEverywhere({ roar, run, name }: Suite, args: Arguments): void {
  it("answers the same in MULTI and in EVAL", async () => {
    await roar.load("k", [1, 2, 3]);
    const reply = await run(...args);
    const [, queued, executed] = await roar.connection.pipeline([["MULTI"], [name, ...args], ["EXEC"]]);
    expect(queued).toBe("QUEUED");
    expect(executed).toEqual([reply]);
    const script = "return redis.call(unpack(ARGV))";
    expect(await roar.connection.run("EVAL", script, 1, "k", name, ...args)).toEqual(reply);
  });
}

export interface Declaration {
  readonly arity: number;
  readonly flags: readonly string[];
  /** Where keys are: first argument, last one (negative: from the end), and what becomes of them. */
  readonly keys: readonly { first: number; last: number; access: "RO" | "RW" | "OW" }[];
  /** A call, and the keys that are in it. */
  readonly call: Arguments;
  readonly keysInCall: readonly string[];
}

/** What the command tells clients about itself. */
export function itDeclares({ roar, name, family }: Suite, declaration: Declaration): void {
  const { arity, flags, keys, call, keysInCall } = declaration;

  it("has the arity, the flags and the key specs that it should", async () => {
    const [info] = (await roar.connection.run("COMMAND", "INFO", name)) as [Reply[]];
    const [infoName, infoArity, infoFlags, first, last, step, , , specs] = info;
    expect(String(infoName).toUpperCase()).toBe(name);
    expect(infoArity).toBe(arity);
    expect([...(infoFlags as Iterable<string>)].sort()).toEqual([...flags, "module"].sort());
    expect([first, last, step]).toEqual([keys[0]!.first, keys.at(-1)!.last, 1]);
    expect([...(specs as Iterable<Reply>)].map(readKeySpec)).toEqual(keys);
  });

  it("has documentation", async () => {
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

  it("has its keys found", async () => {
    expect(await roar.connection.run("COMMAND", "GETKEYS", name, ...call)).toEqual(keysInCall);
  });

  it(`is a command of the module, not of the ${otherThan(family).name} family alone`, async () => {
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

/** A map reply as a map, whichever protocol it came by. */
export function record(reply: Reply): Map<string, Reply> {
  if (reply instanceof Map) return reply as Map<string, Reply>;
  const flat = reply as Reply[];
  return new Map(flat.flatMap((key, i) => (i % 2 === 0 ? [[key as string, flat[i + 1]!] as const] : [])));
}
