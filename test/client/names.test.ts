// Names for ids: what each method sends, and what it answers through every client library, compared with a Map.

import { createClient } from "redis6";
import { beforeEach, describe, expect, it } from "vitest";
import { names as rows } from "../../host/table/names.ts";
import {
  InexactReplyError, InvalidArgumentError, LoadError, type Name, nameCallsOf, Names, q, RN, RN_BYTES, type Transport, WrongTypeError,
} from "../../client/src/index.ts";
import { type Call, prefixed } from "../../client/src/call.ts";
import { modules } from "../../client/src/node-redis.ts";
import { type Adapter, asModules, collect, ofClusters, type Opened, repliesFor, speakers, useClient, wrappers } from "../support/adapters.ts";
import { range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { byName, useCluster, useServer } from "../support/suite.ts";

const server = useServer();

/** The words of calls, without the command; keys are "k", "a" and "b". */
const SENT: readonly [method: string, args: unknown[], sent: string][] = [
  ["add", ["k", ["ada", "bob"]], "ADD k ada bob"], ["ids", ["k", new Set(["ada"])], "ID k ada"], ["names", ["k", [0, 4_294_967_295]], "NAME k 0 4294967295"],
  ["del", ["k", ["ada", Buffer.from("bob")]], "DEL k ada bob"], ["card", ["k"], "CARD k"], ["scan", ["k", 7, { count: 5 }], "SCAN k 7 COUNT 5"],
  ["setBits", ["k", "a", ["ada", "bob"]], "SETBITS k a ada bob"], ["getBits", ["k", "a", ["ada"]], "GETBITS k a ada"],
  ["clearBits", ["k", "a", ["ada"]], "CLEARBITS k a ada"], ["loadPayload", ["k", Buffer.from("xyz")], "LOAD k xyz"],
  ["query", ["k", "#1 & #2", ["a", "b"]], "QUERY k #1 & #2 2 a b"], ["query", ["k", "#1", ["a"], { from: 3, limit: 9 }], "QUERY k #1 1 a FROM 3 LIMIT 9"],
];

describe("every method", () => {
  it.each([["rn", nameCallsOf(RN)], ["rnBytes", nameCallsOf(RN_BYTES)]])("of %s sends the words of its command, and knows the keys", (_, calls) => {
    const named = new Set<string>();
    for (const [method, args, sent] of SENT) {
      const call = (calls as unknown as Record<string, (...args: unknown[]) => Call<unknown>>)[method]!(...args);
      named.add(method);
      expect(call.words.join(" ")).toBe(`RN.${sent}`);
      expect(call.keys).toEqual(sent.split(" ").filter((word) => /^[kab]$/.test(word)));
      expect(prefixed(call, "p:").words.join(" ")).toBe(`RN.${sent.replace(/(?<= )[kab](?= |$)/g, "p:$&")}`);
      expect(call.readonly).toBe(rows.find(({ name }) => name === sent.split(" ")[0])!.flags.includes("readonly"));
    }
    expect([...named].sort()).toEqual(rows.flatMap((row) => row.methods.map(({ name }) => name)).sort());
  });

  it("refuses what is no name, and numbers that are no ids", () => {
    const calls = nameCallsOf(RN), wrong = <T>(value: unknown): T => value as T;
    const bad: (() => unknown)[] = [
      () => calls.add("k", []), () => calls.add("k", wrong("ada")), () => calls.add("k", wrong(Buffer.from("ada"))), () => calls.add("k", [""]),
      () => calls.add("k", [Buffer.alloc(0)]), () => calls.add("k", ["a".repeat(65_536)]), () => calls.add("k", ["€".repeat(21_846)]), () => calls.ids("k", [wrong(7)]),
      () => calls.setBits("k", "a", ["half \ud800"]), () => calls.setBits("k", wrong(undefined), ["ada"]), () => calls.names("k", [-1]), () => calls.names("k", [2 ** 32]),
      () => calls.scan("k", 0, { count: 0 }), () => calls.query("k", "#1", []), () => calls.query("k", "#1", ["a"], { from: 0.5 }), () => calls.loadPayload("k", wrong("xyz")),
    ];
    for (const one of bad) expect(one, String(one)).toThrow(InvalidArgumentError);
    expect(calls.add("k", ["a".repeat(65_535), "\ud83d\ude00", "€".repeat(21_845)]).args).toHaveLength(4);
  });
});

const hasQuery = async (): Promise<boolean> => ((await server.run("COMMAND", "INFO", "RN.QUERY")) as unknown[])[0] !== null;

/** Bytes of some length, most of which are no text. */
const anyBytes = (rng: Random): Buffer => Buffer.from(Array.from({ length: 1 + rng.below(20) }, () => rng.below(256)));
const anyText = (rng: Random): string => rng.pick([
  () => `user:${rng.below(60)}`, () => `${rng.u64()}`, () => `ä€\u{1f600}\0${rng.below(60)}`, () => "x".repeat(1 + rng.below(300)),
])();

const keyOf = (name: Name): string => Buffer.from(name).toString("latin1");

it("pages of QUERY go on from the id that it answers, and may be empty", async () => {
  const replies: unknown[] = [[5, [Buffer.from("ada"), Buffer.from("bob")]], ["7", []], [null, [Buffer.from("carol")]]], sent: string[] = [];
  const rn = new Names(RN, { prefix: undefined, send: async ({ words }: Call<unknown>) => {
    sent.push(words.join(" "));
    return replies.shift();
  } } as Transport);
  expect(await collect(rn.queryPages("k", "#1 - #2", ["a", "b"], { from: 3, count: 2 }))).toEqual([["ada", "bob"], ["carol"]]);
  expect(sent).toEqual([3, 5, 7].map((from) => `RN.QUERY k #1 - #2 2 a b FROM ${from} LIMIT 2`));
});

interface Tried {
  names: Names<Name>;
  draw: (rng: Random) => Name;
  /** A name as it is answered. */
  answered: (name: Name) => Name;
  /** Modules have only commands. */
  isModule: boolean;
}

/** Random commands, and what a Map and a Set answer. */
async function expectModel({ names, draw, answered, isModule }: Tried, rng: Random): Promise<void> {
  const model = new Map<string, number>(), given: Name[] = [], members = new Set<string>();
  const known = (): [number, Name][] =>
    given.flatMap((name, id) => (model.get(keyOf(name)) === id ? [[id, answered(name)] as [number, Name]] : []));
  const add = (name: Name): number => {
    if (!model.has(keyOf(name))) model.set(keyOf(name), given.push(name) - 1);
    return model.get(keyOf(name))!;
  };
  for (let step = 0; step < 40; step++) {
    const one = (): Name => (given.length > 0 && rng.chance(0.5) ? rng.pick(given) : draw(rng));
    const some = Array.from({ length: 1 + rng.below(9) }, one);
    const distinct = [...new Map(some.map((name) => [keyOf(name), name])).values()];
    switch (rng.below(6)) {
      case 0: case 1: expect(await names.add("k", some)).toEqual(some.map(add)); break;
      case 2: expect(await names.ids("k", some)).toEqual(some.map((name) => model.get(keyOf(name)) ?? null)); break;
      case 3: {
        const fresh = distinct.filter((name) => !members.has(keyOf(name)));
        expect(await names.setBits("k", "bits", some)).toBe(fresh.length);
        some.forEach(add);
        for (const name of fresh) members.add(keyOf(name));
        break;
      }
      case 4: {
        const there = distinct.filter((name) => members.delete(keyOf(name)));
        expect(await names.clearBits("k", "bits", some)).toBe(there.length);
        break;
      }
      default: {
        const gone = distinct.filter((name) => !members.has(keyOf(name)));
        if (gone.length > 0) expect(await names.del("k", gone)).toBe(gone.filter((name) => model.delete(keyOf(name))).length);
      }
    }
    expect(await names.getBits("k", "bits", some)).toEqual(some.map((name) => Number(members.has(keyOf(name)))));
    expect(await names.card("k")).toBe(model.size);
  }
  await names.add("k", ["the last one"]);
  add("the last one");
  const all = known(), ids = range(0, given.length + 1), byId = new Map(all);
  expect(await names.names("k", ids)).toEqual(ids.map((id) => byId.get(id) ?? null));
  const { entries, cursor } = await names.scan("k", 0, { count: 1 });
  expect([entries, cursor !== null]).toEqual([all.slice(0, 1), all.length > 1]);
  if (!isModule) {
    expect((await collect(names.scanPages("k", { count: 7 }))).flat()).toEqual(all);
    expect(await collect(names.scanIterator("k", { from: 3 }))).toEqual(all.filter(([id]) => id >= 3));
  }
  if (!isModule && await hasQuery()) {
    const found = all.filter(([, name]) => members.has(keyOf(name))).map(([, name]) => name);
    expect((await collect(names.queryPages("k", "#1", ["bits"], { count: 3 }))).flat()).toEqual(found);
    expect(await collect(names.queryIterator("k", "#1 - #2", ["bits", "none"]))).toEqual(found);
  }
  await server.run("DEL", "k", "bits");
}

describe.each(byName<Adapter>([...wrappers, ...asModules]))("%s", (_, adapter) => {
  const client: Opened = useClient(async () => {
    await server.run(...repliesFor(adapter));
    return adapter.open(server);
  });
  const isModule = asModules.includes(adapter);

  it("answers ids, names and bits as a Map and a Set do", seeded(async (rng) => {
    const { rn, rnBytes } = client;
    await expectModel({ names: rn, draw: anyText, answered: (name) => name, isModule }, rng);
    await expectModel({ names: rnBytes, draw: anyBytes, answered: (name) => Buffer.from(name), isModule }, rng);
  }));

  it("answers names to the byte, and refuses to answer text that they are not", async () => {
    const { rn, rnBytes } = client, bytes = Buffer.from([0xff, 0, 0x80]), names = [bytes, "ä\ufeff", "6f1c5b0e-96a6-4b9a-8f0e-3b2f5b1c9d10", "007"];
    expect(await rnBytes.add("bytes", names)).toEqual([0, 1, 2, 3]);
    expect(await rnBytes.names("bytes", [0, 9])).toEqual([bytes, null]);
    expect(await rn.names("bytes", [1, 2, 3, 9])).toEqual([...names.slice(1), null]);
    for (const answer of [rn.names("bytes", [0]), rn.scan("bytes", 0)]) await expect(answer).rejects.toBeInstanceOf(InexactReplyError);
    expect(await rn.ids("bytes", names)).toEqual([0, 1, 2, 3]);
  });

  it("answers nothing of a missing key, and is told of wrong types", async () => {
    for (const names of [client.rn, client.rnBytes]) {
      expect([await names.ids("none", ["a"]), await names.names("none", [1]), await names.del("none", ["a"]), await names.card("none")]).toEqual([[null], [null], 0, 0]);
      expect([await names.scan("none", 0), await names.getBits("none", "none", ["a", "b"]), await names.clearBits("none", "none", ["a"])])
        .toEqual([{ entries: [], cursor: null }, [0, 0], 0]);
    }
    expect(await client.rn.loadPayload("loaded", Buffer.from("\x05\0\0\0\x01\0\0\0\x03ada", "latin1"))).toBe("OK");
    expect(await client.rn.ids("loaded", ["ada"])).toEqual([5]);
    await client.r.setBit("wrong", 1, 1);
    if (!isModule) await expect(client.rn.add("wrong", ["a"])).rejects.toBeInstanceOf(WrongTypeError);
    await server.run("DEL", "loaded", "bytes", "wrong");
  });

  it.skipIf(isModule)("adds to pipelines, transactions and queries of bitmaps", async () => {
    const { r, rn, rnBytes, multi, pipeline } = client;
    expect(await multi().rn.add("users", ["ada", "bob"]).rn.setBits("users", "read", ["bob"]).rnBytes.names("users", [0, 5]).r.bitCount("read").exec())
      .toEqual([[0, 1], 1, [Buffer.from("ada"), null], 1]);
    const [names, wrong] = await pipeline([rn.calls.names("users", [1]), rn.calls.card("read")]);
    expect(names).toEqual({ status: "fulfilled", value: ["bob"] });
    expect(wrong.status === "rejected" && wrong.reason).toBeInstanceOf(WrongTypeError);
    expect(await rn.names("users", await r.query(q`${"read"} & [${0}..${9}]`).members())).toEqual(["bob"]);
    expect(await rnBytes.with({ timeout: 10_000 }).card("users")).toBe(2);
    await server.run("DEL", "users", "read");
  });

  it.skipIf(isModule)("has the names of one key", async () => {
    const users = client.rn.dictionary("users"), { key } = users;
    expect([await users.add(["ada", "bob"]), await users.ids(["bob", "eve"]), await users.names([0, 7])]).toEqual([[0, 1], [1, null], ["ada", null]]);
    expect([await users.setBits("read", ["bob", "carol"]), await users.getBits("read", ["ada", "carol"]), await users.clearBits("read", ["carol"])]).toEqual([2, [0, 1], 1]);
    expect([key, await users.card(), await users.del(["carol"]), await collect(users.scanPages())]).toEqual(["users", 3, 1, [[[0, "ada"], [1, "bob"]]]]);
    if (await hasQuery()) expect(await collect(users.members("#1", ["read"]))).toEqual([["bob"]]);
    expect([await users.load(["carol", "ada"]), await users.ids(["carol"])]).toEqual([{ done: 2 }, [3]]);
    await server.run("DEL", "users", "read");
  });
});

describe("loading", () => {
  const client = useClient(() => wrappers[3]!.open(server));
  const names = range(0, 5000).map((i) => `name ${i}`);
  beforeEach(() => server.run("FLUSHALL"));

  it("takes names one by one, in arrays and from streams, and gives ids in their order", async () => {
    async function* slowly(): AsyncGenerator<Name | Name[]> {
      yield names[0]!;
      yield Buffer.from(names[1]!);
      yield names.slice(2, 3000);
      yield* names.slice(3000);
    }
    const { rn } = client, seen: number[] = [];
    expect(await rn.load("k", slowly(), { batch: 333, inFlight: 3, onProgress: ({ done }) => seen.push(done) })).toEqual({ done: 5000 });
    expect(await rn.names("k", range(0, 5000))).toEqual(names);
    expect(seen.at(-1)).toBe(5000);
    expect([await rn.load("k", names), await rn.card("k")]).toEqual([{ done: 5000 }, 5000]);
    expect(await rn.load("none", [])).toEqual({ done: 0 });
  });

  it("sends long names in small batches", async () => {
    const { rn } = client, long = range(0, 100).map((i) => `${i} `.padEnd(60_000, "x"));
    await server.run("CONFIG", "RESETSTAT");
    expect(await rn.load("k", long)).toEqual({ done: 100 });
    const [, calls] = /^cmdstat_RN\.ADD:calls=(\d+)/im.exec((await server.run("INFO", "commandstats")) as string)!;
    expect(Number(calls), "a megabyte each").toBe(6);
    expect(await rn.ids("k", long.slice(98))).toEqual([98, 99]);
  });

  it("says where a load ended, and goes on from there", async () => {
    function* broken(): Generator<string> {
      yield* names.slice(0, 25);
      throw new Error("the file ended");
    }
    const { rn } = client, error = await rn.load("k", broken(), { batch: 10 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "LoadError", done: 20, message: "ended after 20 names: the file ended" });
    expect(await rn.load("k", names, { skip: (error as LoadError).done })).toEqual({ done: 5000 });
    expect(await rn.names("k", [19, 20, 4999])).toEqual([names[19], names[20], names[4999]]);
    await server.run("SET", "text", "x");
    await expect(rn.load("text", names, { batch: 10 })).rejects.toMatchObject({ done: 0, cause: { name: "WrongTypeError" } });
    for (const bad of [undefined, "ada", Buffer.from("ada"), [""], [7], [[7]], [null]]) {
      await expect(rn.load("bad", bad as string[]), String(bad)).rejects.toBeInstanceOf(LoadError);
    }
    await expect(rn.load("bad", ["a"], { batch: 0 })).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(await server.run("EXISTS", "bad")).toBe(0);
  });
});

describe("RESP2 and RESP3", () => {
  it.each(speakers)("answer the same with %s", async (_, open) => {
    for (const protocol of [2, 3] as const) {
      const { rn, rnBytes, multi, close } = await open(server, protocol);
      await server.run("DEL", "k");
      expect([await rn.add("k", ["ada", "7"]), await rn.ids("k", ["7", "eve"]), await rn.names("k", [1, 2])]).toEqual([[0, 1], [1, null], ["7", null]]);
      expect(await rn.scan("k", 0, { count: 1 })).toEqual({ entries: [[0, "ada"]], cursor: 1 });
      expect(await multi().rn.names("k", [1]).rnBytes.scan("k", 1).exec()).toEqual([["7"], { entries: [[1, Buffer.from("7")]], cursor: null }]);
      expect(await rnBytes.names("k", [0])).toEqual([Buffer.from("ada")]);
      await close();
    }
  });

  it("modules of node-redis answer text without a type mapping, unless bytes of it may be lost", async () => {
    const client = await createClient({ modules, socket: { path: server.socket, tls: false } }).connect();
    await client.rn.add("module", ["ada", Buffer.from([0xff])]);
    expect(await client.rn.names("module", [0])).toEqual(["ada"]);
    await expect(client.rn.names("module", [1])).rejects.toBeInstanceOf(InexactReplyError);
    await expect(client.rnBytes.names("module", [0])).rejects.toBeInstanceOf(InexactReplyError);
    client.destroy();
  });
});

describe("in a cluster", () => {
  const cluster = useCluster(3);

  it.each(byName(ofClusters([...wrappers, ...asModules])))("%s sends every command to the node of its keys, with the prefix", async (_, adapter) => {
    await cluster.onAll("FLUSHALL", "SYNC");
    await cluster.onAll("CONFIG", "RESETSTAT");
    const client = await adapter.openCluster!(cluster.ports, adapter.prefixes && "p:"), prefix = adapter.prefixes ? "p:" : "";
    for (const tag of ["a", "b", "c"]) {
      const [users, read] = [`{${tag}}users`, `{${tag}}read`], { rn } = client;
      expect([await rn.add(users, ["ada"]), await rn.setBits(users, read, ["bob"]), await rn.getBits(users, read, ["ada", "bob"])]).toEqual([[0], 1, [0, 1]]);
      expect([await rn.ids(users, ["bob"]), await rn.names(users, [1]), await rn.scan(users, 1)]).toEqual([[1], ["bob"], { entries: [[1, "bob"]], cursor: null }]);
      expect([await rn.clearBits(users, read, ["bob"]), await rn.del(users, ["ada"]), await rn.card(users)]).toEqual([1, 1, 1]);
    }
    await client.close();
    expect(((await cluster.onAll("INFO", "errorstats")) as string[]).join()).not.toMatch(/MOVED|CROSSSLOT/);
    const keys = ((await cluster.onAll("KEYS", "*")).flat() as string[]).sort();
    expect(keys).toEqual(["a", "b", "c"].flatMap((tag) => [`${prefix}{${tag}}read`, `${prefix}{${tag}}users`]));
  });
});
