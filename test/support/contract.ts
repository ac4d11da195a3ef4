// What holds for every command of a kind. A test states by hand what its command declares and what it refuses; the tests are written here,
// once for reads, for writes, and for writes that free memory.

import { expect, it } from "vitest";
import { type Family, notOffsets, otherThan, range } from "./family.ts";
import { noEffects } from "./observer.ts";
import type { Reply } from "./resp.ts";
import { roarOn } from "./roar.ts";
import type { Server } from "./server.ts";
import { again, arityError, type Arguments, offsetError, record, type Suite, WRONGTYPE } from "./suite.ts";
import { isSeven } from "./version.ts";

/** Keys of a command: positions of the first and the last one (negative: counted from the end), and how they are used. */
interface Keys {
  readonly first: number;
  readonly last: number;
  readonly access: "RO" | "RW" | "OW";
}

/** An argument list, and the error that it gets. */
type Refusal = readonly [args: Arguments, error: string];

interface Contract {
  /** The number of words, with the name of the command; negative if there can be more. */
  readonly arity: number;
  /** Flags beyond those of every command of the kind. */
  readonly flags?: readonly ("fast" | "movablekeys")[];
  /** The version that brought the command, by default 1.0.0. */
  readonly since?: string;
  /** By default the first argument is the only key, and the command reads it or changes it. */
  readonly keys?: readonly Keys[];
  /** A valid call that uses the key "k" and replies the same when it is repeated. It is refused if "k" has another type. */
  readonly call: Arguments;
  /** Argument lists whose number is wrong for a reason that the arity does not tell. */
  readonly miscounted?: readonly Arguments[];
  /** Argument lists with an invalid argument. The key is "k". */
  readonly bad?: readonly Refusal[];
}

/** A key at this position, or keys from there to the last position. */
export const keyAt = (first: number, access: Keys["access"], last = first): Keys => ({ first, last, access });

/** Tests what holds for every command that only reads its keys. */
export function itReads(suite: Suite, contract: Contract): void {
  itHasNoEffects(suite, contract.call);
  itRunsEverywhere(suite, contract.call);
  itMindsMemory(suite, "read", contract.call);
  itDeclares(suite, { keys: [keyAt(1, "RO")], ...contract, flags: ["readonly", ...contract.flags ?? []] });
  itRefuses(suite, contract);
}

/** Tests what holds for every write that can need memory. */
export function itWrites(suite: Suite, contract: Contract): void {
  itRunsEverywhere(suite, contract.call);
  itMindsMemory(suite, "write", contract.call);
  itDeclares(suite, { keys: [keyAt(1, "RW")], ...contract, flags: ["write", "denyoom", ...contract.flags ?? []] });
  itRefuses(suite, contract);
}

/** Tests what holds for every write that frees memory. `removing` are arguments that remove SUPERFLUOUS. */
export function itFrees(suite: Suite, removing: Arguments, contract: Contract): void {
  itRunsEverywhere(suite, contract.call);
  itMakesRoom(suite, removing);
  itDeclares(suite, { keys: [keyAt(1, "RW")], ...contract, flags: ["write"] });
  itRefuses(suite, contract);
}

// --- Refusals ------------------------------------------------------------------------------------------------------------

/** The refusals of calls that contain any of these texts. All get the same error. */
export const refusals = (texts: readonly string[], error: string, calls: (bad: string) => readonly Arguments[]): Refusal[] =>
  texts.flatMap((bad) => calls(bad).map((args) => [args, error] as const));

/** The refusals of calls with a text in place of an offset. `name` is what the error calls that argument. */
export const badOffsets = (family: Family, name: string, calls: (bad: string) => readonly Arguments[]): Refusal[] =>
  refusals(notOffsets(family), offsetError(family, name), calls);

/** Calls that list offsets after a key, with the bad one alone, in the middle, and last. */
export const inList = (bad: string): Arguments[] => [["k", bad], ["k", 1, bad, 2], ["k", 9, 8, bad]];

/** Tests that a wrong number of arguments is refused: every number that the arity excludes, and these lists. */
export function itRefusesCounts({ name, refusal }: Suite, { arity, call, miscounted = [] }: Contract): void {
  if (again) return;
  const tooFew = range(0, Math.abs(arity) - 1).map((count) => call.slice(0, count));
  const tooMany = arity > 0 ? [[...call, call.at(-1)!]] : [];

  it.each([...tooFew, ...tooMany, ...miscounted].map((args) => [args]))("refuses the wrong number of arguments in %j", async (args) => {
    expect(await refusal(...args)).toBe(arityError(name));
  });
}

/** Tests that the command refuses invalid calls and keys of another type, and that a refusal changes nothing. */
export function itRefuses(suite: Suite, contract: Contract): void {
  const { roar, family, refusal, server } = suite;
  if (again) return;
  itRefusesCounts(suite, contract);

  it.each(contract.bad ?? [])("refuses %j", async (args, text) => {
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

  it("refuses a string key and a key of the other family", async () => {
    await server.run("SET", "k", "a string");
    expect(await refusal(...contract.call)).toBe(WRONGTYPE);
    expect(await server.run("GET", "k")).toBe("a string");

    const other = roarOn(server, otherThan(family));
    await other.load("k", [1, 2]);
    expect(await refusal(...contract.call)).toBe(WRONGTYPE);
    expect(await other.members("k")).toEqual([1, 2]);
  });
}

// --- Missing keys, effects and memory ------------------------------------------------------------------------------------

const withKey = (args: Arguments, key: string): Arguments => args.map((word) => (word === "k" ? key : word));

/** Tests that these calls on the key "k" get the reply if the key is missing, which they do not create, or holds an empty bitmap. */
export function itFindsNothing({ run, roar, server }: Suite, reply: Reply, ...calls: Arguments[]): void {
  it(`replies ${JSON.stringify(reply)} for a missing key, which it does not create, and for an empty one`, async () => {
    await roar.load("empty", []);
    for (const key of ["none", "empty"]) {
      for (const args of calls) expect(await run(...withKey(args, key)), args.join(" ")).toEqual(reply);
    }
    expect(await server.run("EXISTS", "none")).toBe(0);
  });
}

/** Tests that a call has no side effects on the key "k", nor on a missing key, even if it is refused there. */
export function itHasNoEffects({ run, roar, effects }: Suite, args: Arguments): void {
  it("has no side effects", async () => {
    await roar.load("k", [1, 2, 3]);
    expect(await effects(() => run(...args))).toEqual(noEffects);
    expect(await effects(() => run(...withKey(args, "none")).catch(() => {}), "none")).toEqual(noEffects);
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

const MULTIPLES = range(0, 20_000, 37);
/** What a command must remove in the test below. */
export const SUPERFLUOUS = MULTIPLES.slice(100);

/** Tests that the command, called with arguments that remove SUPERFLUOUS, makes room when maxmemory is reached. */
function itMakesRoom({ server, run, roar }: Suite, args: Arguments): void {
  it("makes room when maxmemory is reached", async () => {
    await roar.load("k", MULTIPLES);
    const size = (): Promise<number> => server.usage("k");
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

// --- Declarations --------------------------------------------------------------------------------------------------------

interface Declaration {
  readonly arity: number;
  readonly since?: string;
  readonly flags: readonly string[];
  readonly keys: readonly Keys[];
  /** A valid call. */
  readonly call: Arguments;
}

/** Tests what the command declares about itself. */
export function itDeclares({ roar, name }: Suite, { arity, since = "1.0.0", flags, keys, call }: Declaration): void {
  if (again) return;

  it.skipIf(!isSeven)("declares its arity, flags and key specs", async () => {
    const [info] = (await roar.connection.run("COMMAND", "INFO", name)) as [Reply[]];
    const [infoName, infoArity, infoFlags, first, last, step, , , specs] = info;
    expect(String(infoName).toUpperCase()).toBe(name);
    expect(infoArity).toBe(arity);
    expect([...(infoFlags as Iterable<string>)].sort()).toEqual([...flags, "module"].sort());
    expect([first, last, step]).toEqual([keys[0]!.first, keys.at(-1)!.last, 1]);
    expect([...(specs as Iterable<Reply>)].map(readKeySpec)).toEqual(keys);
  });

  it.skipIf(!isSeven)("is documented in COMMAND DOCS", async () => {
    const docs = record(await roar.connection.run("COMMAND", "DOCS", name));
    const [doc] = [...docs.values()].map(record);
    expect([...docs.keys()].map((k) => k.toUpperCase())).toEqual([name]);
    expect(doc!.get("summary")).toMatch(/^[A-Z].*[^.]$/);
    expect(doc!.get("since")).toBe(since);
    expect(doc!.get("complexity")).toMatch(/^O\(/);
    expect(doc!.get("module")).toBeTruthy();
    const documented = (doc!.get("arguments") as Reply[]).map(record);
    expect(documented.length).toBeGreaterThan(0);
    expect(documented.some((argument) => argument.get("type") === "key")).toBe(true);
  });

  it("has its keys found by COMMAND GETKEYS", async () => {
    const lastOf = (last: number): number => (last < 0 ? call.length + 1 + last : last);
    const places = keys.flatMap(({ first, last }) => range(first - 1, lastOf(last) - first + 1));
    const named = call.map((word, place) => (places.includes(place) ? `key:${place}` : word));
    expect(await roar.connection.run("COMMAND", "GETKEYS", name, ...named)).toEqual(places.map((place) => named[place]));
  });

  it.skipIf(!isSeven)("is listed by COMMAND LIST", async () => {
    expect(await roar.connection.run("COMMAND", "LIST", "FILTERBY", "PATTERN", name)).toEqual([name]);
  });
}

function readKeySpec(reply: Reply): { first: number; last: number; access: string } {
  const spec = record(reply);
  const access = [...(spec.get("flags") as Iterable<string>)].filter((flag) => ["RO", "RW", "OW"].includes(flag));
  const begin = record(record(spec.get("begin_search")!).get("spec")!).get("index") as number;
  const find = record(record(spec.get("find_keys")!).get("spec")!);
  const span = find.get("lastkey") as number;
  expect(find.get("keystep")).toBe(1);
  return { first: begin, last: span < 0 ? span : begin + span, access: access.join() };
}
