// Questions on threads: they answer what was true when they were asked, whatever happens to their keys and their clients while they wait.
// ROAR.HOLD of the test build makes them wait, so that nothing here depends on time.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { callsOf, isKey } from "../support/calls.ts";
import { families, type Family } from "../support/family.ts";
import { type Answer, Held } from "../support/held.ts";
import { type Argument, type Command, type Connection, type Reply, ReplyError } from "../support/resp.ts";
import { Server, withDebug } from "../support/server.ts";
import { byName, WRONGTYPE } from "../support/suite.ts";
import { OOM, UNLIMITED, useTrapServer } from "../support/trap.ts";
import { inStep, replicate, stopReplicating, waitUntil } from "../support/waiting.ts";

/** Every question that may leave does, however short it is. */
const THREADED = [...withDebug, "THREADS", "2", "THREADS-FROM-BYTES", "0"];
const server = useTrapServer({ moduleArguments: THREADED, listens: true });

const { count, hold, settled, askDuring, during } = new Held(server);

/** Members of a bitmap whose block is held rather than copied. */
const many = (seed: number): number[] => Array.from({ length: 6000 }, (_, i) => i * 37 + (i * i * seed) % 31);
const load = (family: Family, key: string, seed: number): Command => [`${family.name}.SETINTARRAY`, key, ...new Set(many(seed))];

/** Asks, waits until two threads are about to take a part of the question, does something, and lets them go. */
async function askInParts(question: Command, action?: () => Promise<unknown>, connection?: Connection): Promise<{ answer: Answer }> {
  const client = connection ?? await server.connect();
  await hold("parts");
  const answer = client.run(...question).catch((error: Error) => error);
  await waitUntil(async () => (await count("threads_helping")) === 1);
  await action?.();
  await hold(false);
  return { answer };
}

const inParts = async (...asked: Parameters<typeof askInParts>): Answer => (await askInParts(...asked)).answer;

/** The answer of the main thread. */
async function synchronously(question: Command): Promise<Reply> {
  await server.run("CONFIG", "SET", "redis-roar.threads", 0);
  const reply = await server.run(...question);
  await server.run("CONFIG", "SET", "redis-roar.threads", 2);
  return reply;
}

let expectedTraps = 0;
beforeEach(() => server.run("CONFIG", "SET", "redis-roar.threads", 2));
afterEach(async () => {
  await hold(false);
  await settled();
  expect(await count("snapshot_bytes")).toBe(0);
  expect(await count("traps")).toBe(expectedTraps);
});

const questions = commands.filter(({ mayOffload }) => mayOffload === true);
/** Sets apart what is random: the number of elements remains. */
const shape = (row: { readonly tips?: readonly string[] }, reply: Buffer): Buffer | string =>
  row.tips?.includes("nondeterministic_output") ? reply.toString("latin1").split("\r\n", 1)[0]! : reply;

describe.each(byName(families))("%s", (_, family) => {
  const name = (command: string): string => `${family.name}.${command}`;
  const asked = questions.flatMap((row) => callsOf(row, family).map((call, i) => ({ name: `${name(row.name)} ${i}`, row, call: [name(row.name), ...call] })));
  const bytesOf = async (connection: Connection, command: Command): Promise<Buffer> => {
    await server.run("CONFIG", "SET", "redis-roar.threads", 0);
    const bytes = await connection.bytes(...command);
    await server.run("CONFIG", "SET", "redis-roar.threads", 2);
    return bytes;
  };

  describe.each([2, 3] as const)("RESP%i", (protocol) => {
    it.each(byName(asked))("%s: the reply on a thread is that of the main thread, byte for byte", async (_name, { row, call }) => {
      const connection = server.speaking(protocol), keys = call.filter(isKey);
      const values: Record<string, (key: string, i: number) => Command> = {
        "missing keys": (key) => ["DEL", key],
        "empty bitmaps": (key) => [name("SETBIT"), key, 1, 0],
        "small bitmaps": (key, i) => [name("SETINTARRAY"), key, 1, 7, 70_000, 100 + i],
        "large bitmaps": (key, i) => load(family, key, i + 1),
        "keys of another type": (key) => ["SET", key, "text"],
      };
      for (const [what, make] of Object.entries(values)) {
        await server.run("FLUSHALL");
        for (const [i, key] of keys.entries()) await server.run(...make(key, i));
        const expected = await bytesOf(connection, call), before = await count("questions_done");
        expect(shape(row, await connection.bytes(...call)), what).toEqual(shape(row, expected));
        if (what === "large bitmaps" && !call.includes("NOT")) expect(await count("questions_done"), what).toBe(before + 1);
      }
    });
  });

  it("errors about arguments come before anything waits", async () => {
    await hold(true);
    expect(await server.connection.refusal(name("QUERY"), "#1 &", 1, "k")).toMatch(/query: /);
    expect(await server.connection.refusal(name("RANGE"), "k", "x", 1)).toMatch(/invalid min/);
    await server.run("SET", "text", "x");
    expect(await server.connection.refusal(name("EXPORT"), "text")).toBe(WRONGTYPE);
  });

  const members = [...new Set(many(3))].length;
  const ask: Command = [name("QUERY"), "#1 | #2", 2, "k", "small"];
  const expected = members + 1;
  const prepare = async (): Promise<void> => {
    await server.connection.pipeline([["FLUSHALL"], load(family, "k", 3), [name("SETINTARRAY"), "small", 4_000_000], load(family, "other", 5)]);
  };

  const changes: Record<string, Command[]> = {
    SETBIT: [[name("SETBIT"), "k", 3_000_000, 1], [name("SETBIT"), "small", 3_000_001, 1]],
    "a SETBIT that changes nothing": [[name("SETBIT"), "k", many(3)[0]!, 1]],
    CLEARBITS: [[name("CLEARBITS"), "k", ...many(3).slice(0, 3000)]],
    SETRANGE: [[name("SETRANGE"), "k", 0, 10_000_000]],
    FLIPRANGE: [[name("FLIPRANGE"), "k", 0, 10_000_000]],
    APPENDINTARRAY: [[name("APPENDINTARRAY"), "k", ...many(3).map((x) => x + 500_000)]],
    BITFIELD: [[name("BITFIELD"), "k", "SET", "u32", 64, 4_000_000_000]],
    IMPORT: [[name("IMPORT"), "k", "(other)"]],
    CLEAR: [[name("CLEAR"), "k"], [name("CLEAR"), "small"]],
    SETINTARRAY: [[name("SETINTARRAY"), "k", 1]],
    "BITOP into a source": [[name("BITOP"), "AND", "k", "k", "other"]],
    "QUERYSTORE into a source": [
      ["CONFIG", "SET", "redis-roar.threads", 0], [name("QUERYSTORE"), "k", "#1 & #2", 2, "k", "other"], ["CONFIG", "SET", "redis-roar.threads", 2],
    ],
    OPTIMIZE: [[name("OPTIMIZE"), "k"]],
    POPMIN: [[name("POPMIN"), "k", 2000]],
    RANDPOP: [[name("RANDPOP"), "k", 2000]],
    "RANDPOP of all": [[name("RANDPOP"), "small", 9]],
    DEL: [["DEL", "k", "small"]],
    UNLINK: [["UNLINK", "k", "small"]],
    FLUSHALL: [["FLUSHALL", "SYNC"]],
    "FLUSHALL ASYNC": [["FLUSHALL", "ASYNC"]],
    FLUSHDB: [["FLUSHDB"]],
    "RENAME over it": [["RENAME", "other", "k"]],
    RENAME: [["RENAME", "k", "elsewhere"], [name("SETBIT"), "elsewhere", 3_000_000, 1]],
    COPY: [["COPY", "k", "copy"], [name("SETBIT"), "copy", 3_000_000, 1]],
    "COPY over it": [["COPY", "other", "k", "REPLACE"]],
    SWAPDB: [["SWAPDB", 0, 1], ["FLUSHALL"]],
    expiry: [["PEXPIRE", "k", 1], ["DEBUG", "SLEEP", 0.01], ["EXISTS", "k"]],
    SET: [["SET", "k", "text"]],
    "TOBITMAP over it": [[name("TOBITMAP"), "k", "k"]],
    "DEBUG RELOAD": [["DEBUG", "RELOAD"]],
    RESTORE: [["RESTORE", "k", 0, "(dump)", "REPLACE"]],
    eviction: [["CONFIG", "SET", "maxmemory-policy", "allkeys-random"], ["CONFIG", "SET", "maxmemory", 1], ["DEBUG", "SLEEP", 0], ["CONFIG", "SET", "maxmemory", 0]],
    "a second question": [],
  };

  it.each(Object.entries(changes))("what was asked before %s is answered as if it had not happened", async (_name, change) => {
    await prepare();
    const exported = Buffer.from((await server.run(name("EXPORT"), "other")) as string, "latin1");
    const dump = Buffer.from((await server.run("DUMP", "other")) as string, "latin1");
    const filled = change.map((command) => command.map((word) => (word === "(other)" ? exported : word === "(dump)" ? dump : word)));
    const reply = await during(ask, async () => {
      for (const one of await server.connection.pipeline(filled)) expect(one).not.toBeInstanceOf(ReplyError);
    });
    expect(reply).toBe(expected);
    const keys = (await server.run("KEYS", "*")) as string[];
    for (const key of keys) if (/^(rero|roar)/.test((await server.run("TYPE", key)) as string)) expect(await server.run("R.DEBUG", "VALIDATE", key)).toBe("OK");
  });

  it("a source that is written again and again is copied once for each snapshot", async () => {
    await prepare();
    const before = await count("bitmaps_copied");
    await during(ask, async () => {
      for (let i = 0; i < 5; i++) await server.run(name("SETBIT"), "k", 3_000_000 + i, 1);
    });
    expect(await count("bitmaps_copied")).toBe(before + 1);
  });

  it("several snapshots of one key at several moments are answered each as of its own", async () => {
    await prepare();
    await hold(true);
    const answers: Promise<Reply>[] = [];
    for (let i = 0; i < 5; i++) {
      answers.push((await server.connect()).run(...ask));
      await waitUntil(async () => (await count("questions_waiting")) === i + 1);
      await server.run(name("SETBIT"), "k", 3_000_000 + i, 1);
    }
    await hold(false);
    expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4].map((i) => expected + i));
  });

  it("replies keep the order of the commands of a pipeline", async () => {
    await prepare();
    const client = await server.connect();
    const replies = await client.pipeline([["ECHO", 1], ask, [name("SETBIT"), "k", 3_000_000, 1], ask, ["ECHO", 2], [name("EXPORT"), "none"], ["ECHO", 3]]);
    expect(replies).toEqual(["1", expected, 0, expected + 1, "2", null, "3"]);
  });

  it("stays where a client cannot wait", async () => {
    await prepare();
    const done = await count("questions_done");
    expect((await server.connection.pipeline([["MULTI"], ask, ["EXEC"]])).at(-1)).toEqual([expected]);
    expect(await server.run("EVAL", "return redis.call(unpack(ARGV))", 2, "k", "small", ...ask)).toBe(expected);
    expect(await count("questions_done")).toBe(done);
  });

  it("runs out of memory like the main thread", async () => {
    await prepare();
    await server.run("ROAR.LIMIT", 16);
    const refusal = await server.connection.refusal(...ask, "EXPORT");
    await server.run("ROAR.LIMIT", UNLIMITED);
    expect(refusal).toBe(OOM);
    expect(await server.run(...ask)).toBe(expected);
  });

  const keys = ["k", "other", "third", "small"];
  const counts: Command[] = [
    ...["AND", "OR", "XOR", "ONE", "DIFF", "DIFF1", "ANDOR"].map((operation) => [name("BITOPCARD"), operation, ...keys]),
    [name("BITOPCARD"), "AND", "k", "other"],
    [name("BITOPCARD"), "DIFF1", "k", "other"],
    [name("BITOPCARD"), "XOR", "k", "other", "third", "k"],
    [name("BITOPCARD"), "OR", "LIMIT", 4000, ...keys],
    [name("BITOPCARD"), "OR", "LIMIT", 1_000_000, ...keys],
    [name("JACCARD"), "k", "other"],
    [name("QUERY"), "atleast(2, #1..#4)", 4, ...keys],
    [name("QUERY"), "~#1 - (#2 ^ #3) | [70000..80000] & #4", 4, ...keys],
    [name("QUERY"), "#1 | #2", 2, "k", "other", "CARD", "LIMIT", 5000],
    [name("QUERY"), "#1 - #2", 2, "k", "other", "MEMBERS", "FROM", 70_000],
    [name("QUERY"), "#1", 1, "k"],
    [name("FACET"), "#1 | #2", 2, "k", "other", 2, "third", "small"],
    [name("CROSSCARD"), 2, "k", "other", 2, "third", "small"],
    [name("CROSSCARD"), 2, "k", "other", 2, "third", "small", "WITHIN", "~#1", 1, "third"],
  ];
  const prepareParts = (): Promise<Reply[]> => server.connection.pipeline([
    ["FLUSHALL"], load(family, "k", 3), load(family, "other", 5), load(family, "third", 7), [name("SETINTARRAY"), "small", 70_001, 4_000_000],
  ]);

  it.each(counts)("two threads count together: %s %s %s %s %s %s %s %s", async (...question) => {
    await prepareParts();
    const alone = await synchronously(question), shared = await count("questions_shared");
    expect(await inParts(question)).toEqual(alone);
    expect(await count("questions_shared")).toBe(shared + 1);
  });

  it.each(["OR", "XOR"])("parts of %s begin where only the second bitmap has a container", async (operation) => {
    await server.connection.pipeline([["FLUSHALL"], [name("SETINTARRAY"), "ends", 0, 4_000_000_000], load(family, "k", 3)]);
    const question: Command = [name("BITOPCARD"), operation, "ends", "k"], alone = await synchronously(question);
    expect(await inParts(question)).toEqual(alone);
  });

  it("parts end within pages of lone members", async () => {
    const lone = (step: number): number[] => [...Array(4000).keys()].map((i) => i * step * 65_536 + 7);
    await server.connection.pipeline([["FLUSHALL"], [name("SETINTARRAY"), "twos", ...lone(2)], [name("SETINTARRAY"), "threes", ...lone(3)]]);
    expect(await inParts([name("BITOPCARD"), "AND", "twos", "threes"])).toBe(1334);
  });

  it("counts all offsets of the family, together", async () => {
    await prepareParts();
    const all = family.last + 1n;
    await server.run(name("QUERYSTORE"), "rest", "~#1", 1, "k");
    const question: Command = [name("QUERY"), "#1 ^ #2", 2, "k", "rest"], few: Command = [...question, "CARD", "LIMIT", 7];
    expect(String(await inParts(question))).toBe(String(all));
    expect(await inParts(few)).toBe(7);
  });

  it("counts calls, errors and time where the server does", async () => {
    await prepare();
    await server.connection.pipeline([["CONFIG", "RESETSTAT"], ["CONFIG", "SET", "slowlog-log-slower-than", 0], ["SLOWLOG", "RESET"]]);
    await server.run(...ask);
    const line = await server.info(`cmdstat_${name("QUERY")}`);
    expect(line).toMatch(/^calls=1,usec=[1-9]/);
    expect(JSON.stringify(await server.run("SLOWLOG", "GET", 5))).toContain(`"${name("QUERY")}"`);
    await server.run("CONFIG", "SET", "slowlog-log-slower-than", 10_000);
  });
});

const R = (command: string, ...args: Argument[]): Command => [`R.${command}`, ...args];
const ask = R("BITOPCARD", "OR", "k", "other");

describe("a client that waits", () => {
  beforeEach(() => server.connection.pipeline([load(families[0]!, "k", 3), load(families[0]!, "other", 5)]));

  it.each([["before it is answered", askDuring], ["in the middle of parts", askInParts]])("may be killed %s: its question ends, and holds nothing", async (_, asks) => {
    const client = await server.connect(), id = (await client.run("CLIENT", "ID")) as number, done = await count("questions_done");
    await asks(ask, async () => {
      expect(await server.run("CLIENT", "KILL", "ID", id)).toBe(1);
      await server.run("FLUSHALL");
    }, client);
    await waitUntil(async () => (await count("questions_done")) === done + 1);
  });

  it.each([["before it is answered", askDuring], ["in the middle of parts", askInParts]])("may close its connection %s", async (_, asks) => {
    const client = await server.connect(), done = await count("questions_done");
    await asks(ask, async () => {
      client.close();
      await waitUntil(async () => (await server.number("blocked_clients")) === 0);
    }, client);
    await waitUntil(async () => (await count("questions_done")) === done + 1);
  });

  it("cannot be unblocked by CLIENT UNBLOCK, and waits through CLIENT PAUSE", async () => {
    const client = await server.connect(), id = (await client.run("CLIENT", "ID")) as number;
    const expected = await server.run(...ask);
    expect(await during(ask, async () => {
      expect(await server.run("CLIENT", "UNBLOCK", id)).toBe(0);
      await server.run("CLIENT", "PAUSE", 50, "WRITE");
    }, client)).toBe(expected);
  });

  it("is told if the server becomes a replica, whose full synchronization replaces all data", async () => {
    const primary = await Server.start({ listens: true });
    try {
      await primary.run("R.SETBIT", "theirs", 1, 1);
      const reply = await during(ask, async () => {
        await replicate(server, primary);
        await inStep(server, primary);
        expect(await server.run("EXISTS", "k", "theirs")).toBe(1);
      });
      expect(String(reply)).toMatch(/UNBLOCKED/);
    } finally {
      await stopReplicating(server);
      await primary.stop();
    }
  });

  it("does not keep the server from saving in the background, and gets its answer", async () => {
    const expected = await server.run(...ask);
    const reply = await during(ask, async () => {
      await server.run("BGSAVE");
      await waitUntil(async () => (await server.info("rdb_bgsave_in_progress")) === "0");
      expect(await server.info("rdb_last_bgsave_status")).toBe("ok");
      await server.run("SAVE");
    });
    expect(reply).toBe(expected);
  });
});

describe("settings", () => {
  beforeEach(() => server.connection.pipeline([load(families[0]!, "k", 3), load(families[0]!, "other", 5)]));

  it("threads can be changed while questions wait, and 0 answers what comes next on the main thread", async () => {
    const expected = await server.run(...ask), client = await server.connect();
    const reply = await during(ask, async () => {
      const done = await count("questions_done");
      await server.run("CONFIG", "SET", "redis-roar.threads", 0);
      expect(await server.run(...ask)).toBe(expected);
      expect(await count("questions_done")).toBe(done);
      await server.run("CONFIG", "SET", "redis-roar.threads", 64);
    }, client);
    expect(reply).toBe(expected);
    const done = await count("questions_done");
    const replies = await Promise.all(Array.from({ length: 100 }, async () => (await server.connect()).run(...ask)));
    expect(new Set(replies)).toEqual(new Set([expected]));
    expect(await count("questions_done")).toBe(done + 100);
  });

  it("threads-from-bytes keeps questions over less on the main thread", async () => {
    await server.run("CONFIG", "SET", "redis-roar.threads-from-bytes", "1mb");
    const done = await count("questions_done");
    await server.run(...ask);
    await server.run("R.GETINTARRAY", "k");
    expect(await count("questions_done")).toBe(done);
    await server.run("R.SETRANGE", "long", 0, 20_000);
    expect(((await server.run("R.GETINTARRAY", "long")) as number[]).length).toBe(20_000);
    expect(await count("questions_done")).toBe(done + 1);
    await server.run("CONFIG", "SET", "redis-roar.threads-from-bytes", 0);
  });

  it("a question over less leaves when it turns out to be long, also one of many comparisons and one of names", async () => {
    const comparisons = Array.from({ length: 1500 }, (_, i) => `#1 = ${i}`);
    for (let from = 0; from < 50_000; from += 1000) {
      const ids = Array.from({ length: 1000 }, (_, i) => from + i);
      await server.run("RI.SET", "values", ...ids.flatMap((id) => [id, (id * 7919) % 131_072]));
      await server.run("RN.ADD", "names", ...ids.map((id) => `user:${id}`));
    }
    const expected = (await server.run("R64.QUERY", comparisons.join(" | "), 1, "values")) as number;
    await server.run("CONFIG", "SET", "redis-roar.threads-from-bytes", "1mb");
    try {
      const done = await count("questions_done");
      expect(await server.run("R64.QUERY", comparisons.join(" | "), 1, "values")).toBe(expected);
      expect(await count("questions_done")).toBe(done + 1);
      const [next, page] = (await server.run("RN.QUERY", "names", comparisons.join(" | "), 1, "values")) as [Reply, string[]];
      expect([next, page.length]).toEqual([null, expected]);
      expect(await count("questions_done")).toBe(done + 2);
    } finally {
      await server.run("CONFIG", "SET", "redis-roar.threads-from-bytes", 0);
    }
  });

  const edges = Array.from({ length: 9 }, (_, i) => (i - 4) * 30_000);
  it.each<Command>([
    ["RI.COUNT", "values", -50_000, 40_000], ["RI.COUNT", "values", "-inf", 40_000], ["RI.SUM", "values", "WITHIN", "#1", 1, "k"],
    ["RI.RANK", "values", 777], ["RI.RANK", "values", 777, "REV", "WITHIN", "#1", 1, "k"], ["RI.RANK", "values", 9_000_000],
    ["RI.HISTOGRAM", "values", "EDGES", edges.length, ...edges], ["RI.SUM", "values"],
  ])("two threads answer together: %s %s %s %s %s", async (...question) => {
    const values = Array.from({ length: 300_000 }, (_, i) => [i * 3, ((i * 7919) % 262_144) - 131_072]);
    if (!(await server.run("EXISTS", "values"))) {
      await server.connection.pipeline(Array.from({ length: 30 }, (_, i) => ["RI.SET", "values", ...values.slice(i * 10_000, (i + 1) * 10_000).flat()]));
    }
    const alone = await synchronously(question), shared = await count("questions_shared");
    expect(await inParts(question)).toEqual(alone);
    expect(await count("questions_shared")).toBe(shared + 1);
  });

  it("reply limits hold", async () => {
    await server.run("CONFIG", "SET", "redis-roar.reply-limit", 100);
    expect(await server.connection.refusal("R.GETINTARRAY", "k")).toMatch(/reply too large: maximum 100 elements/);
    await server.run("CONFIG", "SET", "redis-roar.reply-limit", 100_000_000);
  });
});

describe.each([
  ["R64.OPTIMIZE", "R64.GETINTARRAY", (...ids: number[]): Command => ["R64.SETBITS", "k", ...ids]],
  ["RI.OPTIMIZE", "RI.SCAN", (...ids: number[]): Command => ["RI.SET", "k", ...ids.flatMap((id) => [id, id])]],
] as const)("%s of a key with segments", (name, lists, set) => {
  const COUNT = 400_000, AT_ONCE = 2000, written = [7, 8];
  /** In no order, so that blocks are left free. */
  const ids = Array.from({ length: COUNT }, (_, i) => ((i * 7919) % COUNT) * 40_009);
  const loadIds = (): Promise<unknown> =>
    server.connection.pipeline(Array.from({ length: COUNT / AT_ONCE }, (_, i) => set(...ids.slice(i * AT_ONCE, (i + 1) * AT_ONCE))));
  const memory = (): Promise<number> => server.run("MEMORY", "USAGE", "k") as Promise<number>;
  const valid = async (): Promise<void> => { expect(await server.run("R.DEBUG", "VALIDATE", "k")).toBe("OK"); };
  /** Members, or ids and their values. */
  const content = async (): Promise<unknown> => {
    if (lists === "R64.GETINTARRAY") return server.run(lists, "k");
    return ((await server.run(lists, "k", 0, "COUNT", 1_000_000)) as Reply[])[1];
  };
  beforeEach(async () => {
    await server.run("FLUSHALL");
    await loadIds();
    await server.run("PEXPIRE", "k", 1_000_000);
  });

  it("takes as little memory from a thread as from the main thread", async () => {
    const before = await memory(), members = await content(), done = await count("questions_done");
    expect(await during([name, "k"], async () => {})).toBe("OK");
    expect(await count("questions_done")).toBeGreaterThan(done);
    const packed = await memory();
    expect(packed).toBeLessThan(before);
    await valid();
    expect(await content()).toEqual(members);
    expect(await synchronously([name, "k"])).toBe("OK");
    expect(Math.abs(await memory() - packed) / packed).toBeLessThan(0.02);
    expect(await server.run("PTTL", "k")).toBeGreaterThan(0);
  });

  it("leaves what is written meanwhile as it is", async () => {
    const before = await memory();
    expect(await during([name, "k"], async () => { for (const id of written) await server.run(...set(id)); })).toBe("OK");
    await valid();
    expect(await memory()).toBeLessThan(before);
    const added = await content();
    await server.run("FLUSHALL");
    await loadIds();
    await server.run(...set(...written));
    expect(await content()).toEqual(added);
  });

  it.each<[string, Command, string]>([
    ["is deleted", ["DEL", "k"], "OK"], ["gets one segment", set(5), "OK"], ["is replaced by text", ["SET", "k", "text"], WRONGTYPE],
  ])("does nothing if the key %s meanwhile", async (_, command, reply) => {
    const replied = await during([name, "k"], () => server.connection.pipeline([["DEL", "k"], command]));
    expect(replied instanceof Error ? replied.message : replied).toBe(reply);
    expect(await server.run("EXISTS", "k")).toBe(command[0] === "DEL" ? 0 : 1);
    if (command[0] !== "SET" && command[0] !== "DEL") await valid();
  });
});

describe("many questions", () => {
  it("beyond those that may wait are answered on the main thread", async () => {
    await server.connection.pipeline([["CONFIG", "SET", "maxclients", 3000], load(families[0]!, "k", 3), load(families[0]!, "other", 5)]);
    const expected = await server.run(...ask);
    await hold(true);
    const kept = await count("questions_kept"), clients: Connection[] = [];
    while (clients.length < 1030) {
      const some = await Promise.all(Array.from({ length: 103 }, () => server.connect()));
      await Promise.all(some.map((client) => client.run("PING"))); // so that the server has accepted them: few may wait for that
      clients.push(...some);
    }
    const answers = clients.map((client) => client.run(...ask));
    await waitUntil(async () => (await count("questions_kept")) - kept + (await count("questions_waiting")) === 1030);
    expect(await count("questions_waiting")).toBe(1024);
    await hold(false);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([expected]));
    for (const client of clients) client.close();
  });

  it("leave no memory behind", async () => {
    const usage = async (): Promise<number> => {
      await server.run("FLUSHALL");
      await settled();
      return server.number("used_memory");
    };
    const round = async (): Promise<void> => {
      await server.connection.pipeline([load(families[0]!, "k", 3), load(families[0]!, "other", 5)]);
      const clients = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
      await Promise.all(clients.map(async (client, i) => {
        for (let j = 0; j < 20; j++) {
          await client.run(...(j % 3 ? ask : R("QUERY", "#1 - #2", 2, "k", "other", j % 2 ? "EXPORT" : "MEMBERS")));
          if (j % 4 === i % 4) await server.run("R.SETBIT", "k", 1_000_000 + i * 100 + j, 1);
        }
      }));
      for (const client of clients) client.close();
    };
    await round();
    const before = await usage(), bitmaps = await count("bitmaps");
    for (let i = 0; i < 10; i++) await round();
    expect(await usage()).toBeLessThan(before + 100_000);
    expect(await count("bitmaps")).toBe(bitmaps);
  });
});

describe("what goes wrong on a thread", () => {
  beforeEach(() => server.connection.pipeline([load(families[0]!, "k", 3), load(families[0]!, "other", 5)]));

  const trapped = /^ERR Roaring: internal error \(unreachable code\)$/;
  it.each([["a question", during], ["a part of one", inParts]])("a trap in %s is an error reply, counted once and logged, and damages nothing", async (_, asked) => {
    const expected = await server.run(...ask), before = server.log().length;
    const reply = await asked(ask, async () => { await server.run("ROAR.TRAP", "none", "COUNT"); });
    expectedTraps++;
    expect((reply as Error).message).toMatch(trapped);
    expect(server.log().slice(before)).toMatch(/# <redis-roar> trap in R\.BITOPCARD.*'k'.*unreachable code/);
    expect(await count("traps")).toBe(expectedTraps);
    expect(await inParts(ask)).toBe(expected);
  });
});

/** Lone members, far apart: stepping through those of many keys takes many milliseconds. */
const FAR = 300_000;
describe("redis-roar.question-ms", () => {
  const limit = (milliseconds: number): Promise<Reply> => server.run("CONFIG", "SET", "redis-roar.question-ms", milliseconds);
  beforeEach(async () => {
    for (const [key, parity] of [["even", 0], ["odd", 1]] as const) {
      for (let from = 0; from < FAR; from += 50_000) {
        await server.run("R64.APPENDINTARRAY", key, ...Array.from({ length: 50_000 }, (_, i) => (2 * (from + i) + parity) * 65_536));
      }
    }
  });
  afterEach(() => limit(5000));

  const question: Command = ["R64.BITOPCARD", "XOR", "even", "odd"];
  const overdue = async (milliseconds: number, asked: () => Answer): Promise<void> => {
    const before = await count("questions_overdue");
    await limit(milliseconds);
    expect(((await asked()) as Error).message).toBe(`ERR Roaring: the question took longer than ${milliseconds} ms (redis-roar.question-ms)`);
    await settled();
    expect(await count("questions_overdue")).toBe(before + 1);
    await Promise.all([limit(0), server.run("CONFIG", "SET", "redis-roar.threads", 2)]);
    expect(await inParts(question)).toBe(2 * FAR);
  };

  it("ends a question on one thread", async () => {
    await server.run("CONFIG", "SET", "redis-roar.threads", 1);
    await overdue(1, () => during(["R64.BITOPCARD", "OR", ...Array<string[]>(20).fill(["even", "odd"]).flat()], async () => {}));
  });

  it("two threads share a question about few keys, however many segments each has", async () => {
    const terms = Array.from({ length: 40 }, (_, i) => `(#1 ^ #2 - [${i}..${i + 1}])`);
    await Promise.all([limit(0), server.run("CONFIG", "SET", "redis-roar.threads-from-bytes", "1mb")]);
    const shared = await count("questions_shared");
    expect(await inParts(["R64.QUERY", terms.join(" | "), 2, "even", "odd"])).toBe(2 * FAR);
    expect(await count("questions_shared")).toBe(shared + 1);
    await server.run("CONFIG", "SET", "redis-roar.threads-from-bytes", 0);
  });

  it("ends a question on two threads, which counts once", () => overdue(200, () => inParts(question, () => sleep(300))));
});

describe("shutting down", () => {
  it.each([["questions", true, "questions_waiting"], ["parts of questions", "parts", "threads_helping"]] as const)("does not wait for %s", async (_, held, field) => {
    await server.connection.pipeline([load(families[0]!, "k", 3), load(families[0]!, "other", 5)]);
    await hold(held);
    const client = await server.connect(), reply = client.run(...ask).catch((error: Error) => error);
    await waitUntil(async () => (await count(field)) === 1);
    expectedTraps = 0;
    await server.restart();
    expect(await reply).toBeInstanceOf(Error);
  });
});
