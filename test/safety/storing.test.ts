// Writes that threads take part in. QUERYSTORE is computed on a thread and stored on the main thread; POPMIN and POPMAX are done on the
// main thread and replied from a thread. And writes to a bitmap that a query on a thread still reads: they copy it only if they change it.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { families } from "../support/family.ts";
import { Held } from "../support/held.ts";
import { Observer } from "../support/observer.ts";
import type { Argument, Command, Reply } from "../support/resp.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectValid, useServer } from "../support/suite.ts";
import { useTrapServer } from "../support/trap.ts";
import { inStep, replicate, waitUntil } from "../support/waiting.ts";

/** Every call that may leave does, however short it is. */
const THREADED = [...withDebug, "THREADS", "2", "THREADS-FROM-BYTES", "0"];
const server = useTrapServer({ moduleArguments: THREADED, listens: true, config: ["appendonly yes", "appendfsync no"] });
const replica = useServer({ listens: true });
const { count, hold, settled, askDuring, during } = new Held(server);

/** Far more members than a batch of a reply has, in a block that is held rather than copied. */
const members = (seed: number): number[] =>
  [...new Set(Array.from({ length: 12_000 }, (_, i) => i * 37 + (i * i * seed) % 31))].sort((x, y) => x - y);
const pause = (): Promise<Reply> => server.run("CLIENT", "PAUSE", 60_000, "WRITE");

afterEach(async () => {
  await server.run("CLIENT", "UNPAUSE");
  await hold(false);
  await settled();
  expect(await count("snapshot_bytes")).toBe(0);
  expect(await count("traps")).toBe(0);
});

describe.each(byName(families))("%s", (_, family) => {
  const name = (command: string, ...args: Argument[]): Command => [`${family.name}.${command}`, ...args];
  const run = (command: string, ...args: Argument[]): Promise<Reply> => server.run(...name(command, ...args));
  const [a, b] = [members(3), members(5)];
  const either = new Set([...a, ...b, 4_000_000]);

  beforeEach(async () => {
    await run("SETINTARRAY", "a", ...a);
    await run("SETINTARRAY", "b", ...b);
    await run("SETINTARRAY", "small", 4_000_000);
  });

  describe("QUERYSTORE on a thread", () => {
    const store: Command = name("QUERYSTORE", "dest", "#1 | #2 | #3", 3, "a", "b", "small");
    const stored = async (): Promise<Reply> => (await server.run("EXISTS", "dest")) === 1 ? run("BITCOUNT", "dest") : null;

    it("stores what it has computed when it is there, and has the effects of one write", async () => {
      await server.run("SET", "dest", "text", "EX", 1000);
      const before = await count("questions_done"), observer = await Observer.of(server);
      const effects = await observer.effects("dest", async () => expect(await server.run(...store)).toBe(either.size));
      expect(await count("questions_done")).toBe(before + 1);
      expect(effects).toMatchObject({ dirty: 1, touched: true });
      expect(JSON.stringify(effects)).toContain("QUERYSTORE");
      expect(await stored()).toBe(either.size);
      expect(await server.run("TTL", "dest")).toBe(-1);
      await expectValid(server, "dest");
    });

    it("leaves the destination as it was until then", async () => {
      expect(await during(store, async () => expect(await stored()).toBeNull())).toBe(either.size);
      expect(await stored()).toBe(either.size);
    });

    const changes: Record<string, readonly [change: Command[], result: number]> = {
      "a member of a large source": [[name("SETBIT", "a", 5_000_000, 1)], either.size + 1],
      "a member of a small source": [[name("SETBIT", "small", 5_000_000, 1)], either.size + 1],
      "a source that is written back as it was": [[["COPY", "a", "c"], ["DEL", "a"], ["RENAME", "c", "a"]], either.size],
      "a source that is deleted": [[["DEL", "small"]], either.size - 1],
      "all keys": [[["FLUSHALL"]], 0],
      "a missing source that is created": [[["DEL", "small"], name("SETINTARRAY", "small", 4_000_000, 4_000_001)], either.size + 1],
      "the destination alone": [[["SET", "dest", "text"]], either.size],
    };
    it.each(Object.entries(changes))("counts what is written meanwhile: %s", async (_name, [change, result]) => {
      expect(await during(store, async () => { for (const one of change) await server.run(...one); })).toBe(result);
      expect(await stored()).toBe(result);
      await expectValid(server, "dest");
    });

    it("is refused if a source has another type by then, and changes nothing", async () => {
      const reply = await during(store, () => server.run("SET", "small", "text"));
      expect(String(reply)).toContain("WRONGTYPE");
      expect(await stored()).toBeNull();
    });

    it("may have its destination among its sources", async () => {
      expect(await server.run(...name("QUERYSTORE", "a", "#1 | #2", 2, "a", "b"))).toBe(either.size - 1);
      expect(await run("BITCOUNT", "a")).toBe(either.size - 1);
      await expectValid(server, "a");
    });

    it("waits while clients may not write, and stores then", async () => {
      const { answer } = await askDuring(store, pause);
      await waitUntil(async () => (await count("questions_running")) + (await count("questions_waiting")) === 0);
      expect(await stored()).toBeNull();
      await server.run("CLIENT", "UNPAUSE");
      expect(await answer).toBe(either.size);
      expect(await stored()).toBe(either.size);
    });

    it("is dropped with its client", async () => {
      const client = await server.connect(), id = (await client.run("CLIENT", "ID")) as number, done = await count("questions_done");
      await askDuring(store, () => server.run("CLIENT", "KILL", "ID", id), client);
      await waitUntil(async () => (await count("questions_done")) === done + 1);
      expect(await stored()).toBeNull();
    });

    it("reaches replicas and the AOF in the order in which it takes effect", async () => {
      await replicate(replica, server);
      await inStep(replica, server);
      await during(store, async () => { for (const one of changes["a member of a large source"]![0]) await server.run(...one); });
      await server.run(...name("QUERYSTORE", "again", "#1 - #2", 2, "dest", "b"));
      await inStep(replica, server);
      const digest = await server.run("DEBUG", "DIGEST");
      expect(await replica.run("DEBUG", "DIGEST")).toBe(digest);
      await replica.run("REPLICAOF", "NO", "ONE");
      await server.run("DEBUG", "LOADAOF");
      expect(await server.run("DEBUG", "DIGEST")).toBe(digest);
    });

    it("stays in transactions and scripts", async () => {
      const done = await count("questions_done");
      expect((await server.connection.pipeline([["MULTI"], store, ["EXEC"]])).at(-1)).toEqual([either.size]);
      expect(await server.run("EVAL", "return redis.call(unpack(ARGV))", 4, "dest", "a", "b", "small", ...store)).toBe(either.size);
      expect(await count("questions_done")).toBe(done);
    });
  });

  it("stores a moved part, which it has made on a thread", async () => {
    const done = await count("questions_done"), inAny = [...new Set([...a, ...b])].sort((x, y) => x - y).slice(10, 3010);
    expect(await server.run(...name("QUERYSTORE", "dest", "#1 | #2", 2, "a", "b", "FROM", inAny[0]!, "LIMIT", inAny.length, "OFFSET", 12_345))).toBe(inAny.length);
    expect(await count("questions_done")).toBe(done + 1);
    expect(await run("GETINTARRAY", "dest")).toEqual(inAny.map((one) => one + 12_345));
    await expectValid(server, "dest");
  });

  describe.each([["POPMIN", false], ["POPMAX", true]] as const)("%s", (pop, isLast) => {
    /** More than are listed before they are removed. */
    const taken = 5000;
    const inOrder = isLast ? [...a].reverse() : a;

    it("replies from a thread what it has removed at once", async () => {
      const done = await count("questions_done");
      const reply = await during(name(pop, "a", taken), async () => expect(await run("BITCOUNT", "a")).toBe(a.length - taken));
      expect(reply).toEqual(inOrder.slice(0, taken));
      expect(await count("questions_done")).toBe(done + 1);
      expect(await run("GETINTARRAY", "a")).toEqual([...inOrder.slice(taken)].sort((x, y) => x - y));
      await expectValid(server, "a");
    });

    it("takes all members like that, and stays in transactions and scripts", async () => {
      expect(await server.run(...name(pop, "a", 1_000_000))).toEqual(inOrder);
      expect(await run("BITCOUNT", "a")).toBe(0);
      const done = await count("questions_done");
      expect((await server.connection.pipeline([["MULTI"], name(pop, "b", taken), ["EXEC"]])).at(-1)).toHaveLength(1);
      await run("SETINTARRAY", "a", ...a);
      expect(await server.run("EVAL", "return redis.call(unpack(ARGV))", 1, "a", ...name(pop, "a", taken))).toEqual(inOrder.slice(0, taken));
      expect(await count("questions_done")).toBe(done);
    });

    it("has the same effects on a replica", async () => {
      await replicate(replica, server);
      await inStep(replica, server);
      await server.run(...name(pop, "a", taken));
      await inStep(replica, server);
      expect(await replica.run("DEBUG", "DIGEST")).toBe(await server.run("DEBUG", "DIGEST"));
      await replica.run("REPLICAOF", "NO", "ONE");
    });
  });

  describe("RANDPOP", () => {
    it.each([5000, 1_000_000])("replies from a thread what it has removed at once, up to %d members", async (most) => {
      const done = await count("questions_done"), taken = Math.min(most, a.length);
      const reply = await during(name("RANDPOP", "a", most), async () => expect(await run("BITCOUNT", "a")).toBe(a.length - taken)) as number[];
      expect(reply).toHaveLength(taken);
      expect(await count("questions_done")).toBe(done + 1);
      expect(await server.run("EXISTS", "a")).toBe(Number(taken < a.length));
      const removed = new Set(reply);
      expect(await run("GETINTARRAY", "a")).toEqual(a.filter((one) => !removed.has(one)));
      if (taken < a.length) await expectValid(server, "a");
    });

    it("has the same effects on a replica", async () => {
      await replicate(replica, server);
      await inStep(replica, server);
      for (const taken of [1, 5000, 1_000_000]) {
        await server.run(...name("RANDPOP", "a", taken));
        await inStep(replica, server);
        expect(await replica.run("DEBUG", "DIGEST")).toBe(await server.run("DEBUG", "DIGEST"));
      }
      await replica.run("REPLICAOF", "NO", "ONE");
    });
  });

  describe("a bitmap that a query reads", () => {
    const query: Command = name("BITOPCARD", "OR", "a", "small");
    const unchanging: Record<string, () => Promise<Command>> = {
      "SETBIT of a member": async () => name("SETBIT", "a", a[7]!, 1),
      "SETBIT of no member": async () => name("SETBIT", "a", 4_100_000, 0),
      "POPMIN of none": async () => name("POPMIN", "a", 0),
      "BITFIELD GET": async () => name("BITFIELD", "a", "GET", "u8", 0),
      "BITFIELD SET of the same value": async () => name("BITFIELD", "a", "SET", "u8", 4_100_000, 0),
      "BITFIELD INCRBY 0, twice": async () => name("BITFIELD", "a", "INCRBY", "u8", 0, 0, "INCRBY", "i9", 77, 0),
      "BITFIELD that fails": async () => name("BITFIELD", "a", "OVERFLOW", "FAIL", "INCRBY", "u2", 4_100_000, -1),
      "SETRANGE of nothing": async () => name("SETRANGE", "a", 5, 5),
      "IMPORT of no payload": async () => name("IMPORT", "a", "no payload"),
    };
    it.each(Object.entries(unchanging))("is not copied by %s", async (_name, make) => {
      await run("QUERYSTORE", "b", "#1 & [0..100000]", 1, "a");
      const before = await count("bitmaps_copied"), expected = await run("EXPORT", "a"), write = await make();
      const reply = await during(query, async () => {
        await server.connection.pipeline([write]);
        expect(await run("BITCOUNT", "a")).toBe(a.length);
      });
      expect(reply).toBe(a.length + 1);
      expect(await count("bitmaps_copied")).toBe(before);
      expect(await run("EXPORT", "a")).toEqual(expected);
    });

    it.each([
      ["SETBIT", name("SETBIT", "a", 4_100_000, 1), 1], ["CLEARBITS", name("CLEARBITS", "a", a[7]!), -1],
      ["CLEARRANGE", name("CLEARRANGE", "a", a[7]!, a[7]! + 1), -1], ["FLIPRANGE", name("FLIPRANGE", "a", 4_100_000, 4_100_005), 5],
      ["BITFIELD SET", name("BITFIELD", "a", "SET", "u8", 4_100_000, 255), 8], ["POPMAX", name("POPMAX", "a", 2), -2],
    ] as const)("is copied once by a %s that changes it", async (_name, write, difference) => {
      const before = await count("bitmaps_copied");
      const reply = await during(query, async () => {
        await server.run(...write);
        expect(await run("BITCOUNT", "a")).toBe(a.length + difference);
      });
      expect(reply).toBe(a.length + 1);
      expect(await count("bitmaps_copied")).toBe(before + 1);
      await expectValid(server, "a");
    });
  });
});

describe("a client that tracks keys", () => {
  const query: Command = ["R.BITOPCARD", "OR", "a", "b"];
  beforeEach(() => server.connection.pipeline([["R.SETINTARRAY", "a", ...members(3)], ["R.SETINTARRAY", "b", ...members(5)]]));

  it.each([2, 3] as const)("gets its answers from the main thread, so before it is told that a key has been written (RESP%i)", async (protocol) => {
    const client = await server.connect(), listener = await server.connect(), done = await count("questions_done");
    if (protocol === 3) await client.run("HELLO", 3);
    await client.run("CLIENT", "TRACKING", "ON", ...(protocol === 2 ? ["REDIRECT", (await listener.run("CLIENT", "ID")) as number] : []));
    await hold(true);
    expect(await client.run(...query)).toBeGreaterThan(0);
    await hold(false);
    expect(await count("questions_done")).toBe(done);
    await client.run("CLIENT", "TRACKING", "OFF");
    await client.run(...query);
    expect(await count("questions_done")).toBe(done + 1);
  });
});
