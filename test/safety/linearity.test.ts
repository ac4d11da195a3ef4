// Questions on threads while their sources change: every answer is one that was right at some moment between asking and answering.
//
// A writer takes three bitmaps from version to version, all of them in one transaction. In version v, their members beyond PAYLOAD are
// FIRST + 4v, FIRST + 4v + 1 and FIRST + 4v + 2, one in each, and the first has v % TURN members more. So an answer over all three tells
// the version, or shows that it mixes two. Meanwhile clients are killed, all data is replaced, the server saves, changes its number of
// threads, and becomes a replica for a moment. SECONDS says how long; by default, three for each family.

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { families } from "../support/family.ts";
import { type Random, random as seeded, seed } from "../support/random.ts";
import { type Command, type Connection, type Reply, ReplyError } from "../support/resp.ts";
import { withDebug } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";
import { waitUntil } from "../support/waiting.ts";

/** With every other seed, the bitmaps have segments. */
const segments = seed % 2 ? ["SEGMENT-BYTES", "2048"] : [];
const server = useServer({ moduleArguments: [...withDebug, ...segments, "THREADS", "3", "THREADS-FROM-BYTES", "0"] });
const MILLISECONDS = 1000 * Number(process.env.SECONDS ?? 3);

const KEYS = ["first", "second", "third"], ASKING = 4, TURN = 40, PAYLOAD = 5000, FIRST = 10_000_000;
/** Members that never change, enough for blocks that are held rather than copied. */
const payload = Array.from({ length: PAYLOAD }, (_, i) => 1000 + i * 61);

/** What has happened so far: versions that are certainly there, and those that may be. */
interface Progress { committed: number; begun: number; done: boolean; answers: number; readonly clients: Map<number, () => void> }

const members = (version: number): number[] => [0, 1, 2].map((i) => FIRST + 4 * version + i);
const extra = (version: number): number => version % TURN;

describe.each(byName(families))("%s", (_, family) => {
  const name = (command: string): string => `${family.name}.${command}`;
  const all: Command = [KEYS.length, ...KEYS];

  /** Makes all keys anew, in a version. */
  const made = (version: number): Command[] => KEYS.map((key, i) =>
    [name("SETINTARRAY"), key, ...payload, members(version)[i]!, ...Array.from({ length: i ? 0 : extra(version) }, (_unused, j) => j)]);
  const bumped = (version: number): Command[] => [
    ...KEYS.flatMap((key, i): Command[] => [[name("CLEARBITS"), key, members(version - 1)[i]!], [name("SETBIT"), key, members(version)[i]!, 1]]),
    extra(version) ? [name("SETBIT"), KEYS[0]!, extra(version) - 1, 1] : [name("CLEARRANGE"), KEYS[0]!, 0, TURN],
  ];
  /** Ways to get to the next version. */
  const steps: ((version: number) => Command[])[] = [
    bumped, bumped, bumped, bumped, bumped, bumped,
    (version) => [["FLUSHALL", version % 2 ? "ASYNC" : "SYNC"], ...made(version)],
    (version) => [["UNLINK", ...KEYS], ...made(version)],
    (version) => [...bumped(version), [name("OPTIMIZE"), KEYS[1]!]],
    (version) => [...bumped(version), [name("BITOP"), "OR", KEYS[2]!, KEYS[2]!, KEYS[2]!]],
    (version) => [...bumped(version), ["RENAME", KEYS[1]!, "elsewhere"], ["RENAME", "elsewhere", KEYS[1]!]],
  ];

  /** Questions, and the versions that the answer belongs to, as a list of candidates among those that it may be. */
  const inVersion = (reply: Reply, expected: (version: number) => unknown) => (version: number): boolean =>
    JSON.stringify(reply) === JSON.stringify(expected(version));
  const questions: [Command, (reply: Reply) => (version: number) => boolean][] = [
    [[name("BITOPCARD"), "OR", ...KEYS], (reply) => inVersion(reply, (version) => PAYLOAD + 3 + extra(version))],
    [[name("QUERY"), "exactly(1, #1..#3)", ...all], (reply) => inVersion(reply, (version) => 3 + extra(version))],
    [[name("QUERY"), "#1 | #2 | #3", ...all, "MEMBERS", "FROM", FIRST], (reply) => inVersion(reply, members)],
    [[name("QUERY"), "#1 ^ #2 ^ #3", ...all, "MEMBERS", "FROM", FIRST, "LIMIT", 9], (reply) => inVersion(reply, members)],
    [[name("QUERY"), "#1 - #2", 2, KEYS[0]!, KEYS[1]!, "MEMBERS"], (reply) => inVersion(reply, (version) =>
      [...Array.from({ length: extra(version) }, (_unused, i) => i), members(version)[0]])],
    [[name("QUERY"), "#1 | #2 | #3", ...all, "MEMBERS", "REV", "LIMIT", 3], (reply) => inVersion(reply, (version) => [...members(version)].reverse())],
    [[name("RANGE"), KEYS[1]!, FIRST, FIRST * 10, "REV"], (reply) => inVersion(reply, (version) => [members(version)[1]])],
    [[name("RANGES"), KEYS[1]!, FIRST, FIRST * 10], (reply) => inVersion(reply, (version) => [[members(version)[1], members(version)[1]]])],
    [[name("COUNTS"), KEYS[1]!, 1, FIRST, FIRST * 10], (reply) => inVersion(reply, () => [1])],
    [[name("RANGE"), KEYS[1]!, FIRST, FIRST * 10], (reply) => inVersion(reply, (version) => [members(version)[1]])],
    [[name("GETINTARRAY"), KEYS[2]!], (reply) => inVersion(reply, (version) => [...payload, members(version)[2]])],
    [[name("STAT"), KEYS[0]!, "JSON"], (reply) => (version) => String(reply).includes(`"cardinality":"${PAYLOAD + 1 + extra(version)}"`)],
  ];

  async function ask(progress: Progress, random: Random): Promise<void> {
    let connection = await server.connect(), id = 0, leave = (): void => {}, left = new Promise<Error>(() => {});
    const reconnect = async (): Promise<void> => {
      connection.close();
      progress.clients.delete(id);
      connection = await server.connect();
      id = (await connection.run("CLIENT", "ID")) as number;
      left = new Promise((resolve) => (leave = () => resolve(new Error("left"))));
      progress.clients.set(id, leave);
    };
    await reconnect();
    while (!progress.done) {
      const [command, check] = random.pick(questions), earliest = progress.committed;
      const asked = connection.run(...command).catch((error: unknown) => error);
      if (random.chance(0.02)) leave();
      const reply = await Promise.race([left, asked]);
      if (reply instanceof Error) {
        // This client left or was killed, or the server was a replica for a moment.
        if (reply instanceof ReplyError) expect(reply.message).toMatch(/^UNBLOCKED/);
        await reconnect();
        continue;
      }
      const right = check(reply as Reply), candidates = Array.from({ length: progress.begun - earliest + 1 }, (_unused, i) => earliest + i);
      if (!candidates.some(right)) throw new Error(`${command.slice(0, 3).join(" ")} between ${earliest} and ${progress.begun}: ${String(reply).slice(-100)}`);
      progress.answers++;
    }
    connection.close();
  }

  const disturbances: ((progress: Progress, random: Random) => Command[])[] = [
    () => [["BGSAVE"]],
    (_progress, random) => [["CONFIG", "SET", "redis-roar.threads", random.below(4)]],
    () => [["REPLICAOF", "127.0.0.1", 1], ["REPLICAOF", "NO", "ONE"]],
    ({ clients }, random) => {
      if (clients.size === 0) return [];
      const [id, left] = random.pick([...clients]);
      left();
      return [["CLIENT", "KILL", "ID", id]];
    },
  ];

  async function write(progress: Progress, connection: Connection, random: Random, milliseconds: number): Promise<void> {
    const end = Date.now() + milliseconds;
    while (Date.now() < end) {
      const version = ++progress.begun;
      const replies = await connection.pipeline([["MULTI"], ...random.pick(steps)(version), ["EXEC"]]);
      expect(replies.flat(2).filter((reply) => reply instanceof ReplyError)).toEqual([]);
      progress.committed = version;
      if (random.chance(0.01)) await connection.pipeline(random.pick(disturbances)(progress, random));
      if (random.chance(0.5)) await sleep(1);
    }
    progress.done = true;
  }

  /** Asks and writes at the same time; returns the number of answers. */
  async function askAndWrite(random: Random, milliseconds: number): Promise<number> {
    const progress: Progress = { committed: 0, begun: 0, done: false, answers: 0, clients: new Map() };
    const writer = await server.connect();
    await writer.pipeline([["MULTI"], ["FLUSHALL"], ...made(0), ["EXEC"]]);
    const asking = Array.from({ length: ASKING }, () => ask(progress, random));
    await Promise.all([write(progress, writer, random, milliseconds).finally(() => (progress.done = true)), ...asking]);
    await waitUntil(async () => (await server.number("redis-roar_questions_running")) + (await server.number("redis-roar_questions_waiting")) === 0);
    for (const key of KEYS) expect(await server.run("R.DEBUG", "VALIDATE", key)).toBe("OK");
    writer.close();
    return progress.answers;
  }

  /** Bytes that the server takes without keys, once there are no clients but these. */
  async function usage(clients: number): Promise<number> {
    await server.connection.pipeline([["CONFIG", "SET", "redis-roar.threads", 3], ["FLUSHALL", "SYNC"]]);
    await waitUntil(async () => (await server.number("connected_clients")) === clients);
    expect(await server.number("redis-roar_bitmaps")).toBe(0);
    expect(await server.number("redis-roar_snapshot_bytes")).toBe(0);
    return server.number("used_memory");
  }

  it("answers are those of a moment between asking and answering, and nothing is left of them", { timeout: MILLISECONDS + 90_000 }, async () => {
    const random = seeded(seed), clients = await server.number("connected_clients");
    await askAndWrite(random, MILLISECONDS / 10);
    const before = await usage(clients);
    expect(await askAndWrite(random, MILLISECONDS)).toBeGreaterThan(0);
    expect(await usage(clients)).toBeLessThan(before + 300_000);
    expect(await server.number("redis-roar_questions_done")).toBeGreaterThan(0);
    expect(await server.number("redis-roar_traps")).toBe(0);
  });
});
