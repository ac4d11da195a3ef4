// Names for ids survive RDB files and AOFs, reach replicas, and come back from payloads only if these are sound.

import { describe, expect, it } from "vitest";
import { dumpOf, sealed } from "../support/dump.ts";
import { mutated } from "../support/mutation.ts";
import { type Random, seeded } from "../support/random.ts";
import { bytesOf, type Reply, ReplyError } from "../support/resp.ts";
import { type Server, withDebug } from "../support/server.ts";
import { expectNoDamage, expectValid, useServer } from "../support/suite.ts";
import { inStep, replicate, rewriteAof, stopReplicating } from "../support/waiting.ts";

/** Names of all forms, of which some are deleted afterwards, also all of some segments. */
const names = Array.from({ length: 30_000 }, (_, i) => [
  `user:${i}`, String(i * 7919), (i * 40_503 + 2 ** 32).toString(16), `6f1c5b0e-96a6-4b9a-8f0e-${String(i).padStart(12, "0")}`, `long ${i} ${"x".repeat(i % 300)}`,
][i % 5]!);
const deleted = (id: number): boolean => id % 7 === 3 || (id >= 5000 && id < 12_000) || id >= 29_990;

async function fill(server: Server): Promise<void> {
  await server.run("RN.ADD", "few", "ada", "bob", "eve");
  await server.run("RN.DEL", "few", "eve", "ada");
  await server.run("RN.ADD", "none", "ada");
  await server.run("RN.DEL", "none", "ada");
  await server.run("RN.LOAD", "empty", Buffer.alloc(8));
  for (let from = 0; from < names.length; from += 1000) await server.run("RN.ADD", "many", ...names.slice(from, from + 1000));
  await server.run("RN.DEL", "many", ...names.filter((_, id) => deleted(id)));
}

async function expectFilled(server: Server): Promise<void> {
  const ids = names.map((_, id) => (deleted(id) ? null : id));
  expect(await server.run("RN.ID", "many", ...names)).toEqual(ids);
  expect(await server.run("RN.NAME", "many", ...ids.keys())).toEqual(names.map((name, id) => (deleted(id) ? null : name)));
  expect(await server.run("RN.CARD", "many")).toBe(ids.filter((id) => id !== null).length);
  expect(await server.run("RN.NAME", "few", 0, 1, 2)).toEqual([null, "bob", null]);
  expect(await server.run("RN.CARD", "none")).toBe(0);
  expect(await server.run("RN.CARD", "empty")).toBe(0);
  for (const key of ["few", "none", "empty", "many"]) await expectValid(server, key);
}

/** The ids that new names get: those after all that were given. */
async function expectNextIds(server: Server): Promise<void> {
  expect(await server.run("RN.ADD", "many", "the next")).toEqual([30_000]);
  expect(await server.run("RN.ADD", "few", "ada")).toEqual([3]);
  expect(await server.run("RN.ADD", "none", "ada")).toEqual([1]);
  expect(await server.run("RN.ADD", "empty", "ada")).toEqual([0]);
}

describe("names in files", () => {
  const server = useServer({ moduleArguments: withDebug });

  it("survive SAVE and a restart", async () => {
    await fill(server);
    await server.run("SAVE");
    await server.restart();
    await expectFilled(server);
    await expectNextIds(server);
  });

  describe.each(["yes", "no"])("AOF with aof-use-rdb-preamble %s", (preamble) => {
    const logged = useServer({
      moduleArguments: withDebug,
      config: ["appendonly yes", "appendfsync always", `aof-use-rdb-preamble ${preamble}`, "auto-aof-rewrite-percentage 0"],
    });

    it("replays commands, and a rewritten AOF", async () => {
      await fill(logged);
      await logged.restart();
      await expectFilled(logged);
      await rewriteAof(logged);
      await logged.restart();
      await expectFilled(logged);
      await expectNextIds(logged);
    });
  });
});

describe("names on replicas", () => {
  const options = { listens: true, moduleArguments: withDebug };
  const primary = useServer(options), replica = useServer(options);

  it("are those of the primary, which were there and which were added since", async () => {
    await primary.run("RN.ADD", "many", ...names.slice(0, 2000));
    await replicate(replica, primary);
    await inStep(replica, primary);
    await primary.run("RN.ADD", "many", ...names.slice(2000, 3000));
    await primary.run("DEL", "many");
    await fill(primary);
    await inStep(replica, primary);
    await expectFilled(replica);
    expect(await replica.run("DEBUG", "DIGEST")).toBe(await primary.run("DEBUG", "DIGEST"));
    await stopReplicating(replica);
    await expectNextIds(replica);
  });
});

describe("damaged payloads", () => {
  const server = useServer({ moduleArguments: withDebug });
  const MUTATIONS = 3000;

  /** Chunks with all kinds of records, and deleted names in between. */
  function chunks(random: Random): Buffer[] {
    const few: Buffer[] = [
      Buffer.from([0, 0, 0, 0, 4, 0, 0, 0, 3, 0x61, 0x64, 0x61, 0, 0xc1, 0x39, 0x30, 0x81, 0xab, 0xcd]),
      Buffer.concat([
        Buffer.from([9, 0, 0, 0, 2, 0, 0, 0, 0xc8]), Buffer.alloc(16, 0xa5), Buffer.from([0xff, 0x90, 0]), Buffer.alloc(0x90, 0x67),
      ]),
      Buffer.from([0xff, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]),
    ];
    return random.chance(0.5) ? [random.pick(few)] : few;
  }

  const restore = async (dump: Buffer): Promise<Reply> => (await server.connection.pipeline([["RESTORE", "k", 0, dump, "REPLACE"]]))[0]!;

  it("are refused, or are dictionaries, by RN.LOAD and RESTORE", seeded(async (random) => {
    let refused = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      await server.run("DEL", "k");
      const parts = chunks(random).map((part) => (random.chance(0.7) ? mutated(part, random) : part));
      if (random.chance(0.5)) {
        const reply = await restore(dumpOf("roarnames", [...parts, Buffer.alloc(0)]));
        if (reply instanceof ReplyError) refused++;
      } else {
        for (const part of parts) {
          const error = (await server.connection.pipeline([["RN.LOAD", "k", part]]))[0] instanceof ReplyError;
          refused += Number(error);
        }
      }
      if ((await server.run("EXISTS", "k")) === 0) continue;
      await expectValid(server, "k");
      const [, page] = (await server.run("RN.SCAN", "k", 0, "COUNT", 100)) as [string, Reply[]];
      const ids = page.filter((_, at) => at % 2 === 0), found = page.filter((_, at) => at % 2 === 1) as string[];
      if (found.length > 0) expect(await server.run("RN.ID", "k", ...found)).toEqual(ids);
    }
    expect(refused).toBeGreaterThan(0);
    await expectNoDamage(server);
  }), 60_000);

  it("of a large dictionary are refused as a whole, or make another one", seeded(async (random) => {
    for (let from = 0; from < 30_000; from += 1000) await server.run("RN.ADD", "k", ...Array.from({ length: 1000 }, (_, i) => `name ${from + i}`));
    const dump = bytesOf(await server.run("DUMP", "k"));
    for (let i = 0; i < 30; i++) {
      const body = Buffer.from(dump.subarray(0, -10)), at = random.below(body.length);
      body[at]! ^= 1 << random.below(8);
      const reply = await restore(sealed(body));
      if (!(reply instanceof ReplyError)) expect(reply).toBe("OK");
      await expectValid(server);
    }
    await expectNoDamage(server);
  }), 60_000);
});
