// Predicts the reply of any command in a sequence, of both families and of the server, and compares the server with the oracle.

import { expect } from "vitest";
import { families } from "../../support/family.ts";
import { type Command, type Connection, type Reply, ReplyError } from "../../support/resp.ts";
import { expectEqual } from "../../support/suite.ts";
import { type Answer, type Bitmap, Call, integer, TooMuch, type World } from "./call.ts";
import { answer, rules } from "./commands.ts";

/** A command as it is sent. Words are strings with one byte per character. */
export type Words = readonly string[];

/** Exports a bitmap and imports it under another key. Returns -1 and changes nothing if the key is not a bitmap of the family. */
export const CARRY =
  "local stream = redis.pcall(ARGV[1] .. '.EXPORT', KEYS[1]); if type(stream) ~= 'string' then return -1 end; "
  + "redis.call('DEL', KEYS[2]); return redis.call(ARGV[1] .. '.IMPORT', KEYS[2], stream)";

const copyOf = (value: Bitmap | Buffer): Bitmap | Buffer => (Buffer.isBuffer(value) ? value : { ...value, set: value.set.clone() });

/** The server's own commands that sequences contain. */
const plain: Record<string, (world: World, args: Words) => Answer> = {
  DEL: (world, [key]) => Number(world.delete(key!)),
  SET(world, [key, value]) {
    world.set(key!, Buffer.from(value!, "latin1"));
    return "OK";
  },
  COPY(world, [from, to]) {
    const value = world.get(from!);
    if (value === undefined) return 0;
    world.set(to!, copyOf(value));
    return 1;
  },
  EVAL(world, [, , from, to, prefix]) {
    const value = world.get(from!);
    if (value === undefined || Buffer.isBuffer(value) || value.family.name !== prefix) return -1;
    world.set(to!, copyOf(value));
    return integer(value.set.count());
  },
  DEBUG: () => "OK",
};

/** Whether only the reply tells how the command changes the world: then no other command may be foretold before it has come. */
export const awaitsReply = ([command]: Words): boolean => command!.endsWith(".RANDPOP");

/** Runs a command in the oracle's world and returns the reply that the server must give. */
export function foretell(world: World, [command, ...args]: Words): Answer {
  const [prefix, name] = command!.split(".") as [string, string | undefined];
  const family = families.find((known) => known.name === prefix);
  return family && name! in rules ? answer(new Call(world, family, name!, args)) : plain[command!]!(world, args);
}

export function compare(actual: Reply, expected: Answer): void {
  if (actual instanceof ReplyError && !(expected instanceof ReplyError) && typeof expected !== "function") {
    expect(`error: ${actual.message}`).toEqual(expected);
  }
  if (typeof expected === "function") expected(actual);
  else expectEqual(actual, expected);
}

/** Stretches of at least this many members are counted, shorter ones listed. */
const LISTED = 3000n;

/** Commands that together show every member of a key, with their expected replies. */
export function* questions(key: string, { family, set }: Bitmap): Generator<[Command, Answer]> {
  const name = (command: string): string => `${family.name}.${command}`;
  const between = (low: bigint, high: bigint): [Command, Answer] => [
    [name("RANGE"), key, low, high - 1n], set.members(low, high).map(integer),
  ];
  yield [["R.DEBUG", "VALIDATE", key], "OK"];
  yield [[name("BITCOUNT"), key], integer(set.count())];
  let at = 0n, rank = 0n;
  for (const [from, to] of set.stretches()) {
    if (to - from < LISTED) {
      rank += to - from;
      continue;
    }
    if (from > at) yield between(at, from);
    if (from > 0n) yield [[name("RANK"), key, from - 1n], integer(rank)];
    rank += to - from;
    yield [[name("RANK"), key, to - 1n], integer(rank)];
    at = to;
  }
  if (at <= family.last) yield between(at, family.last + 1n);
}

/** Compares every key with the oracle, member by member, and has R.DEBUG validate every bitmap. */
export async function compareAll(connection: Connection, world: World): Promise<void> {
  for (const [key, value] of world) {
    const asked: [Command, Answer][] = Buffer.isBuffer(value) ? [[["GET", key], value.toString("latin1")]] : [...questions(key, value)];
    const replies = await connection.pipeline(asked.map(([command]) => command));
    asked.forEach(([command, expected], i) => {
      try {
        compare(replies[i]!, expected);
      } catch (error) {
        (error as Error).message = `${command.join(" ")}: ${(error as Error).message}`;
        throw error;
      }
    });
  }
  expect(await connection.run("DBSIZE")).toBe(world.size);
}

/**
 * Runs commands on an empty server and in an empty world. Returns undefined if all replies agree, else the commands up to the failure.
 * Commands that the oracle cannot predict (TooMuch) are left out.
 */
export async function replay(connection: Connection, commands: readonly Words[]): Promise<Words[] | undefined> {
  const world: World = new Map(), sent: Words[] = [];
  let pending: [Words, Answer][] = [];
  await connection.run("FLUSHALL", "SYNC");
  for (const [i, words] of commands.entries()) {
    try {
      pending.push([words, foretell(world, words)]);
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
    }
    if (!awaitsReply(words) && i + 1 < commands.length) continue;
    const replies = await connection.pipeline(pending.map(([command]) => command));
    const wrong = pending.findIndex(([, expected], at) => !agrees(replies[at]!, expected));
    sent.push(...pending.slice(0, wrong + 1 || pending.length).map(([command]) => command));
    if (wrong >= 0) return sent;
    pending = [];
  }
  return compareAll(connection, world).then(() => undefined, () => sent);
}

function agrees(actual: Reply, expected: Answer): boolean {
  try {
    compare(actual, expected);
    return true;
  } catch {
    return false;
  }
}
