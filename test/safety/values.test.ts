// Integers for ids: writes that run out of memory are done or refused as a whole, payloads that were tampered with are refused or make
// a valid key, and questions on threads answer what was true when they were asked. The model is a Map.
//
//   MUTATIONS   number of payloads (default 20000)

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { integers } from "../../host/table/integers.ts";
import { dumpOf, payloadOf } from "../support/dump.ts";
import { range } from "../support/family.ts";
import { Bytes } from "../support/format.ts";
import { Held } from "../support/held.ts";
import { mutated } from "../support/mutation.ts";
import { type Random, seed, seeded } from "../support/random.ts";
import { type Argument, bytesOf, type Command, type Reply, ReplyError } from "../support/resp.ts";
import { type Server, withDebug } from "../support/server.ts";
import { expectNoDamage, expectValid, useServer } from "../support/suite.ts";
import { OOM, UNLIMITED, useScarceServer, useTrapServer } from "../support/trap.ts";

const TYPE = "roar-ints";
const big = (reply: Reply | undefined): bigint => BigInt(reply as string | number | bigint);
const compare = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));
type Model = ReadonlyMap<bigint, bigint>;
const flat = (model: Iterable<readonly [bigint, bigint]>): bigint[] => [...model].sort(([a], [b]) => compare(a, b)).flat();

/** All ids and values of a key. */
async function contents(server: Server, key = "k"): Promise<bigint[]> {
  const [next, page] = (await server.run("RI.SCAN", key, 0, "COUNT", 1_000_000)) as [string, Reply[]];
  expect(next).toBe("0");
  return page.map(big);
}

/** Sets ids, many at once. */
async function load(server: Server, key: string, model: Iterable<readonly [bigint, bigint]>): Promise<void> {
  await server.run("DEL", key);
  const words = [...model].flat();
  for (let i = 0; i < words.length; i += 20_000) await server.run("RI.SET", key, ...words.slice(i, i + 20_000));
}

// --- Scarce memory -------------------------------------------------------------------------------------------------------

/** Where ids lie, and how wide values are. */
interface Shape { readonly idBits: number; readonly valueBits: number; readonly ids: number }
const SHAPES: readonly Shape[] = [
  { idBits: 6, valueBits: 8, ids: 40 }, { idBits: 40, valueBits: 30, ids: 60 }, { idBits: 10, valueBits: 6, ids: 700 },
  { idBits: 9, valueBits: 3, ids: 500 },
  { idBits: 13, valueBits: 17, ids: 6000 }, { idBits: 22, valueBits: 12, ids: 4000 }, { idBits: 64, valueBits: 64, ids: 3000 },
];
const bits = (random: Random, count: number): bigint => random.u64() >> BigInt(64 - count);
/** A value, sometimes one that is much wider than others are. */
const valueOf = (random: Random, { valueBits }: Shape): bigint => {
  const value = BigInt.asIntN(64, bits(random, random.chance(0.01) ? random.pick([1, 20, 41, 64]) : valueBits));
  return random.chance(0.3) && value > 0n ? -value : value;
};
const WORLDS = 40, WRITES = 8;

describe.each([["large segments", 262_136], ["small segments", 4096]])("writes while memory is scarce, %s", (_name, segment) => {
  const server = useScarceServer("SEGMENT-BYTES", segment);
  /** Runs a command while no arena may be larger. Returns the reply; nothing if it was refused. */
  const within = async (bytes: number, ...command: Argument[]): Promise<Reply | undefined> => {
    await server.run("ROAR.LIMIT", bytes);
    const [reply] = await server.connection.pipeline([command]);
    await server.run("ROAR.LIMIT", UNLIMITED);
    if (!(reply instanceof ReplyError)) return reply;
    expect(reply.message, String(command[0])).toBe(OOM);
    return undefined;
  };

  it("are done or refused as a whole", seeded(async (random) => {
    const refused = new Map<string, number>(), done = new Map<string, number>();
    for (let world = 0; world < WORLDS; world++) {
      const shape = random.pick(SHAPES), idOf = (): bigint => bits(random, shape.idBits);
      let model: Map<bigint, bigint> = new Map(range(0, shape.ids).map(() => [idOf(), valueOf(random, shape)]));
      await load(server, "k", model);
      if (random.chance(0.5)) await server.run("RI.OPTIMIZE", "k");
      for (let i = 0; i < WRITES && model.size > 0; i++) {
        const there = [...model.keys()];
        const pairs = range(0, 2 + random.below(random.pick([8, 100, 1500]))).map((): [bigint, bigint] => {
          const near = random.pick(there) + BigInt(random.below(2000) * random.below(2));
          const id = random.chance(0.03) ? bits(random, 64) : near;
          return [BigInt.asUintN(64, id), valueOf(random, shape)];
        });
        const [low, high] = [valueOf(random, shape), valueOf(random, shape)].sort(compare) as [bigint, bigint];
        const after = new Map(model), all = pairs.flat(), ids = pairs.map(([id]) => id);
        /** Stores those of the pairs for which it is so. */
        const put = (isPut: (old: bigint | undefined, value: bigint) => boolean): void =>
          pairs.forEach(([id, value]) => isPut(after.get(id), value) && after.set(id, value));
        const [[name, ...args], change] = random.pick<[[string, ...Argument[]], () => void]>([
          [["SET", "k", ...all], () => put(() => true)],
          [["SET", "k", "XX", ...all], () => put((old) => old !== undefined)],
          [["SET", "k", "LT", "CH", ...all], () => put((old, value) => old === undefined || value < old)],
          [["SET", "k", ...pairs[0]!], () => after.set(...pairs[0]!)],
          [["DEL", "k", ...ids], () => ids.forEach((id) => after.delete(id))],
          [["DELRANGE", "k", low, high], () => model.forEach((value, id) => value >= low && value <= high && after.delete(id))],
          [["MERGE", "k", 2, "k", "other", "AGGREGATE", "MAX"], () => put((old, value) => old === undefined || value > old)],
        ]);
        change();
        await load(server, "other", [...pairs].sort(([, a], [, b]) => compare(a, b)));
        const size = segment === 4096 ? 300 : (await server.usage("k")) - 64;
        const reply = await within(size + random.below(random.pick([10, 500, 4000, 40_000])), `RI.${name}`, ...args);
        const counts = reply === undefined ? refused : done, what = `${name}, ${reply === undefined ? "refused" : "done"}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        if (reply !== undefined) model = after;
        expect(await contents(server), what).toEqual(flat(model));
        if (model.size > 0) await expectValid(server, "k", what);
        else expect(await server.run("EXISTS", "k"), what).toBe(0);
      }
    }
    for (const name of ["SET", "MERGE"]) {
      expect(refused.get(name), `${name} refused, SEED=${seed}`).toBeGreaterThan(0);
      expect(done.get(name), `${name} done, SEED=${seed}`).toBeGreaterThan(0);
    }
    expect(refused.get("DEL") ?? 0, "removals take no memory").toBe(0);
    expect(refused.get("DELRANGE") ?? 0, "removals take no memory").toBe(0);
    await expectNoDamage(server);
  }));

  it("make no key, and keep its time to live", async () => {
    expect(await within(0, "RI.SET", "k", ...range(0, 2000))).toBeUndefined();
    expect(await server.run("EXISTS", "k")).toBe(0);
    await load(server, "k", range(0, 3000).map((id) => [BigInt(id) * 7n, BigInt(id * id)]));
    await server.run("EXPIRE", "k", 1000);
    const before = await contents(server);
    expect(await within(300, "RI.SET", "k", ...range(0, 2000, 1000))).toBeUndefined();
    expect(await within(300, "RI.MERGE", "k", 2, "k", "k", "AGGREGATE", "MIN")).toBeUndefined();
    expect(await contents(server)).toEqual(before);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
    expect(await within(300, "RI.MERGE", "d", 1, "k")).toBeUndefined();
    expect(await server.run("EXISTS", "d")).toBe(0);
  });

  it("keep what a wide value needs that was replaced before memory ran out", async () => {
    const values = new Map(range(0, 400).map((id): [bigint, bigint] => [BigInt(id), id === 200 ? 2n ** 40n : BigInt(id & 7)]));
    await load(server, "k", values);
    const size = await server.usage("k"), far = range(0, 3000).flatMap((i) => [BigInt(i) * 2n ** 30n, BigInt(i)]);
    expect(await within(segment === 4096 ? 3200 : size, "RI.SET", "k", 200, 1, 400, 1, ...far)).toBeUndefined();
    expect(await contents(server)).toEqual(flat(values));
    await expectValid(server);
    await expectNoDamage(server);
  });

  it("questions run out of memory without harm", async () => {
    await load(server, "k", range(0, 20_000).map((id) => [BigInt(id * 3), BigInt(id * id)]));
    const before = await contents(server);
    const questions = [["HISTOGRAM", "k"], ["HISTOGRAM", "k", "TOP", 3], ["RANGE", "k", 0, -1], ["QUANTILE", "k", 0.5]] as const;
    for (const question of [...questions.map(([name, ...args]) => [`RI.${name}`, ...args]), ["R64.QUERY", "#1 > 5", 1, "k"]]) await within(16, ...question);
    expect(await contents(server)).toEqual(before);
    await expectNoDamage(server);
  });
});

// --- Damaged payloads ----------------------------------------------------------------------------------------------------

const MUTATIONS = Number(process.env.MUTATIONS ?? 20_000), BATCH = 500;

describe("payloads that were tampered with", () => {
  const server = useServer({ moduleArguments: withDebug, config: ["sanitize-dump-payload yes", "slowlog-log-slower-than 1000000"] });
  const models: Model[] = [
    new Map([[7n, 31n]]), new Map([[0n, -(2n ** 63n)], [2n ** 64n - 1n, 2n ** 63n - 1n]]),
    new Map(range(0, 30).map((id) => [BigInt(id), 5n])),
    new Map(range(0, 700).map((id) => [BigInt(id * 2), BigInt((id * 7919) % 90)])),
    new Map(range(0, 600).map((id) => [BigInt(id), BigInt(id) ** 3n - 1000n])),
    new Map(range(0, 40).map((id) => [BigInt(id) ** 11n, BigInt(id) ** 10n])),
  ];
  const originals = async (): Promise<Buffer[]> => {
    const payloads: Buffer[] = [];
    for (const model of models) {
      await load(server, "k", model);
      payloads.push(payloadOf(TYPE, Buffer.from((await server.run("DUMP", "k")) as string, "latin1")));
    }
    await server.run("DEL", "k");
    return payloads;
  };

  it("are refused, or make a valid key", seeded(async (random) => {
    const from = await originals();
    let accepted = 0;
    for (let done = 0; done < MUTATIONS; done += BATCH) {
      const payloads = range(0, BATCH).map((i) => ({ key: `k${i}`, payload: mutated(random.pick(from), random) }));
      const replies = await server.connection.pipeline(payloads.map(({ key, payload }) => ["RESTORE", key, 0, dumpOf(TYPE, payload)]));
      for (const reply of replies) if (reply instanceof ReplyError) expect(reply.message).toBe("ERR Bad data format");
      const taken = payloads.filter((_, i) => !(replies[i] instanceof ReplyError));
      accepted += taken.length;
      expect(await server.run("DBSIZE")).toBe(taken.length);
      const answers = await server.connection.pipeline(taken.flatMap(({ key }): Command[] => [
        ["R.DEBUG", "VALIDATE", key], ["RI.CARD", key], ["RI.SCAN", key, 0, "COUNT", 100_000], ["RI.SUM", key],
        ["RI.COUNT", key, "-inf", "+inf"], ["DUMP", key], ["MEMORY", "USAGE", key],
      ]));
      for (const [i, { payload }] of taken.entries()) {
        const [valid, ids, page, sum, count, dump, bytes] = answers.slice(7 * i, 7 * i + 7), what = payload.toString("hex").slice(0, 400);
        const words = (page as [string, Reply[]])[1].map(big);
        expect(valid, what).toBe("OK");
        expect([ids, count], what).toEqual([words.length / 2, words.length / 2]);
        // A leaf of pairs that became slices has left up to 4 KiB, which the next write gives back.
        expect(bytes, what).toBeLessThanOrEqual(8 * payload.length + 1500 + 4096);
        const values = words.filter((_word, at) => at % 2 === 1), members = words.filter((_word, at) => at % 2 === 0);
        expect((sum as Reply[]).map(big), what).toEqual([BigInt(values.length), values.reduce((all, value) => all + value, 0n)]);
        expect(members.every((id, at) => at === 0 || id > members[at - 1]!), what).toBe(true);
        await server.run("RESTORE", "again", 0, bytesOf(dump!), "REPLACE");
        expect(await contents(server, "again"), what).toEqual(words);
      }
      await server.run("FLUSHALL", "SYNC");
    }
    expect(accepted).toBeGreaterThan(MUTATIONS / 100);
    expect(accepted).toBeLessThan(MUTATIONS);
    expect(await server.run("SLOWLOG", "LEN")).toBe(0);
  }));

  const chunk = (ids: number, idBytes: number, width: number, first: bigint, least: bigint, rest: number[]): Buffer =>
    new Bytes().u16(ids).u8(idBytes).u8(width).u64(first).u64(BigInt.asUintN(64, least)).raw(Buffer.from(rest)).take();
  const payload = (ids: bigint, ...chunks: Buffer[]): Buffer => new Bytes().u8(1).u64(ids).raw(Buffer.concat(chunks)).take();
  const good = payload(2n, chunk(2, 1, 8, 5n, 7n, [3, 0, 9]));
  const bad: Record<string, Buffer> = {
    "no bytes": Buffer.alloc(0), "no ids": payload(0n), "a version of its own": Buffer.concat([Buffer.from([2]), good.subarray(1)]),
    "a byte too few": good.subarray(0, -1),
    "a byte too many": Buffer.concat([good, Buffer.from([0])]), "2^64 - 1 ids": payload(2n ** 64n - 1n, chunk(2, 1, 8, 5n, 7n, [3, 0, 9])),
    "a chunk without ids": payload(2n, chunk(0, 0, 0, 5n, 7n, [])),
    "a short chunk in the middle": payload(3n, chunk(2, 1, 8, 5n, 7n, [3, 0, 9]), chunk(1, 0, 0, 50n, 7n, [])),
    "513 ids in a chunk": payload(513n, chunk(513, 0, 0, 5n, 7n, [])), "ids that do not ascend": payload(3n, chunk(3, 1, 0, 5n, 7n, [3, 3])),
    "an id twice": payload(2n, chunk(2, 1, 0, 5n, 7n, [0])), "an id beyond 2^64": payload(2n, chunk(2, 1, 0, 2n ** 64n - 2n, 7n, [2])),
    "a value beyond 2^63": payload(1n, chunk(1, 0, 8, 5n, 2n ** 63n - 3n, [3])),
    "ids of nine bytes": payload(2n, chunk(2, 9, 0, 5n, 7n, [1, 0, 0, 0, 0, 0, 0, 0, 0])),
    "values of 65 bits": payload(1n, chunk(1, 0, 65, 5n, 7n, [1, 0, 0, 0, 0, 0, 0, 0, 0])),
    "a chunk that begins before the one before ends": payload(513n, chunk(512, 0, 0, 5n, 7n, []), chunk(1, 0, 0, 516n, 7n, [])),
  };

  it.each(Object.entries(bad))("with %s are refused, and the key is unchanged", async (_, bytes) => {
    await server.run("RESTORE", "k", 0, dumpOf(TYPE, good));
    expect(await contents(server)).toEqual([5n, 7n, 8n, 16n]);
    expect(await server.connection.refusal("RESTORE", "k", 0, dumpOf(TYPE, bytes), "REPLACE")).toBe("ERR Bad data format");
    expect(await contents(server)).toEqual([5n, 7n, 8n, 16n]);
  });
});

// --- Threads -------------------------------------------------------------------------------------------------------------

describe("questions on threads", () => {
  const server = useTrapServer({ moduleArguments: [...withDebug, "THREADS", "2", "THREADS-FROM-BYTES", "0"], listens: true });
  const { hold, settled, during, count } = new Held(server);
  beforeEach(async () => {
    await load(server, "k", range(0, 9000).map((id) => [BigInt(id * 3), BigInt((id * 7919) % 5000) - 200n]));
    await server.run("R64.SETBITS", "members", ...range(0, 3000, 5));
    await load(server, "far", range(0, 3000).map((id) => [BigInt(id) ** 5n, BigInt(id)]));
  });
  afterEach(async () => {
    await hold(false);
    await settled();
    expect(await count("snapshot_bytes")).toBe(0);
    expect(await count("traps")).toBe(0);
  });
  const calls: Readonly<Record<string, Argument[]>> = {
    COUNT: ["k", 10, "(3000"], SUM: ["k"], STATS: ["k"], RANK: ["k", 300, "REV"], RANGE: ["k", 4200, 4300, "WITHVALUES"], QUANTILE: ["k", 0.1, 0.999],
    HISTOGRAM: ["k", "EDGES", 3, -100, 5, 900], STAT: ["k", "JSON"], SCAN: ["k", 0, "COUNT", 5000],
  };
  const asked = integers.filter(({ flags, mayOffload }) => mayOffload === true && flags.includes("readonly")).flatMap(({ name, keys }): Command[] => {
    const call: Argument[] = [`RI.${name}`, ...calls[name]!];
    return keys.some(({ keyword }) => keyword) ? [call, [...call, "WITHIN", "#1 - #2 < 40", 2, "members", "far"]] : [call];
  });
  const questions: Command[] = [
    ...asked, ["RI.HISTOGRAM", "k"], ["RI.HISTOGRAM", "k", "TOP", 5], ["RI.RANGE", "k", 10, 3000, "BYVALUE"],
    ["R64.QUERY", "#1 > 100 & #2 != 5 - #3", 3, "k", "far", "members", "MEMBERS"],
    ["R.QUERY", "#1 < #2", 2, "far", "k"], ["R64.FACET", "#1 > 100", 1, "k", 2, "members", "members"],
  ];

  const changes: Record<string, Command[]> = {
    "writes of single ids": [
      ["RI.SET", "k", 300, 77], ["RI.INCRBY", "k", 303, -4], ["RI.DEL", "k", 306], ["RI.SET", "far", 1, 2], ["R64.SETBIT", "members", 6, 1],
    ],
    "writes of many ids": [
      ["RI.SET", "k", ...range(0, 8000)], ["RI.DELRANGE", "k", -1000, 2000, "WITHIN", "#1", 1, "members"], ["RI.DEL", "far", ...range(0, 1000)],
    ],
    "removal of all": [["RI.DELRANGE", "k", "-inf", "+inf"], ["RI.DELRANGE", "far", "-inf", "+inf"], ["DEL", "members"]],
    "other keys in their place": [
      ["CONFIG", "SET", "redis-roar.threads", 0], ["RI.MERGE", "k", 2, "k", "far", "AGGREGATE", "MIN"], ["CONFIG", "SET", "redis-roar.threads", 2],
      ["RENAME", "far", "members"], ["SET", "far", "text"],
    ],
    "saving and copies": [["RI.OPTIMIZE", "k"], ["SAVE"], ["COPY", "k", "far", "REPLACE"], ["RI.SET", "far", 1, 2, 3, 4], ["FLUSHALL"]],
  };
  it.each(questions.map((question) => [question.join(" "), question] as const))("answer as of when they were asked: %s", async (_, question) => {
    await server.run("CONFIG", "SET", "redis-roar.threads", 0);
    const expected = await server.run(...(question as [string, ...Argument[]]));
    await server.run("CONFIG", "SET", "redis-roar.threads", 2);
    for (const [what, commands] of Object.entries(changes)) {
      const dumps = ["k", "far", "members"];
      const before = await Promise.all(dumps.map(async (key) => Buffer.from((await server.run("DUMP", key)) as string, "latin1")));
      const reply = await during(question, async () => {
        for (const [name, ...args] of commands) await server.run(name as string, ...args);
      });
      expect(reply, what).toEqual(expected);
      for (const [i, key] of dumps.entries()) await server.run("RESTORE", key, 0, before[i]!, "REPLACE");
      await expectValid(server, "k", what);
    }
  });

  const merge: Command = ["RI.MERGE", "sum", 3, "k", "far", "none", "AGGREGATE", "MAX"];
  it("MERGE stores what a thread has merged, and merges again if a source has changed meanwhile", async () => {
    const dumpAfter = async (prepared: Command[]): Promise<Reply> => {
      await server.run("CONFIG", "SET", "redis-roar.threads", 0);
      await server.connection.pipeline([...prepared, merge]);
      await server.run("CONFIG", "SET", "redis-roar.threads", 2);
      return server.run("DUMP", "sum");
    };
    const unchanged = await dumpAfter([]), done = await count("questions_done");
    for (const [what, commands, repeated] of [["nothing", [], 0], ["the destination", [["SET", "sum", "text"]], 0], ["a source", [["RI.SET", "far", 3, 100_000]], 1]] as const) {
      const again = await count("questions_repeated");
      await server.run("DEL", "sum");
      const reply = await during(merge, () => server.connection.pipeline(commands));
      expect(reply, what).toBe(await server.run("RI.CARD", "sum"));
      expect(await server.run("DUMP", "sum"), what).toBe(repeated ? await dumpAfter([]) : unchanged);
      expect(await count("questions_repeated"), what).toBe(again + repeated);
    }
    expect(await count("questions_done")).toBe(done + 3);
    expect(await server.run("RI.MERGE", "sum", 2, "none", "nothing")).toBe(0);
    expect(await server.run("EXISTS", "sum")).toBe(0);
  });

  it("removals from keys that a question reads run out of memory as a whole", async () => {
    await server.run("R64.SETBIT", "none", 1, 1);
    const before = await contents(server);
    await during(["RI.STATS", "k"], async () => {
      for (const removal of [["RI.DEL", "k", ...range(0, 9000)], ["RI.DELRANGE", "k", 0, 4000]]) {
        await server.run("ROAR.LIMIT", 16);
        const [reply] = await server.connection.pipeline([removal]);
        await server.run("ROAR.LIMIT", UNLIMITED);
        if (reply instanceof ReplyError) expect(reply.message).toBe(OOM);
        else await load(server, "k", range(0, before.length / 2).map((i) => [before[2 * i]!, before[2 * i + 1]!]));
      }
    });
    expect(await contents(server)).toEqual(before);
  });
});
