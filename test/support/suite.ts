// What the test files share: a server per file, and tests of a command that run for both families and over both protocols.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { Cluster } from "./cluster.ts";
import { families, type Family, R, R64 } from "./family.ts";
import { Observer, type Effects } from "./observer.ts";
import type { Argument, Reply } from "./resp.ts";
import { Roar } from "./roar.ts";
import { cpuLevel, Server, type ServerOptions } from "./server.ts";

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

/** A cluster of so many primaries for the tests of a file. */
export function useCluster(count: number): Cluster {
  const cluster = new Cluster();
  beforeAll(() => cluster.start(count));
  afterAll(() => cluster.stop());
  return cluster;
}

/** Like expect(actual).toEqual(expected), but fast for long lists of equal numbers. */
export function expectEqual(actual: unknown, expected: unknown, what?: string): void {
  if (actual === expected) return;
  const lists = Array.isArray(actual) && Array.isArray(expected);
  if (lists && actual.length === expected.length && actual.every((item, i) => item === expected[i])) return;
  expect(actual, what).toEqual(expected);
}

/** Expects that R.DEBUG finds the bitmap valid. The server needs the module argument DEBUG. */
export async function expectValid(server: Server, key = "k", what?: string): Promise<void> {
  expect(await server.run("R.DEBUG", "VALIDATE", key), what).toBe("OK");
}

/** Expects that no trap has damaged a bitmap since the server started. */
export async function expectNoDamage(server: Server): Promise<void> {
  expect(await server.info("redis-roar_bitmaps_damaged")).toBe("0");
}

/** The arguments of a call. */
export type Arguments = readonly Argument[];

/** What the tests of a command are given for one family and one protocol. */
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
export const again = process.env.ROAR_AGAIN !== undefined;
/** Of the core, only the directory of keys can tell the families apart. So the lower levels share them. */
const tested = again ? [cpuLevel === "v2" ? R : R64] : families;

/** Runs the tests of one command for both families and over both protocols, or for what of these the CPU level needs. */
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
  const variants = tested.flatMap((family) => protocols.map((protocol) => ({ family, protocol })));
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
