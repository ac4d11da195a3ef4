// Compressed bitmaps in the server's core, of Redis 8.12: the tool counts, explains and converts them. The server is a stand-in that
// answers as Redis documents it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Advice } from "../../cli/src/advising/rows.ts";
import type { Conversion } from "../../cli/src/convert.ts";
import { CoreBitmaps } from "../support/core-bitmaps.ts";
import { random, seed } from "../support/random.ts";
import { Connection, type Reply } from "../support/resp.ts";
import { useServer } from "../support/suite.ts";
import { type Ended, toolHere } from "../support/tool.ts";
import { bitmapOf } from "./keyspace.ts";

const server = useServer();
let relay: CoreBitmaps, client: Connection;
beforeAll(async () => {
  relay = await CoreBitmaps.before(server);
  client = await Connection.open(relay.socket, 2, async () => new Error("closed"));
});
afterAll(() => {
  client.close();
  relay.close();
});
const run = (...words: (string | number | Buffer)[]): Promise<Reply> => client.run(...words);
const toolOn = (...args: string[]): Promise<Ended> => toolHere(...args, "-s", relay.socket);
const printed = async <T>(...args: string[]): Promise<T> => {
  const { status, out, error } = await toolOn(...args);
  expect({ status, error }).toEqual({ status: 0, error: "" });
  return JSON.parse(out) as T;
};

const rng = random(seed), sparse = Array.from({ length: 300 }, () => rng.below(3_000_000));
const dense = Array.from({ length: 25_000 }, (_, n) => n * 3 + rng.below(3));
const sorted = (offsets: readonly number[]): number[] => [...new Set(offsets)].sort((a, b) => a - b);
beforeEach(async () => {
  relay.pages = 0;
  await server.connection.pipeline([
    ["SET", "core:sparse", bitmapOf(sparse)], ["SET", "core:dense", bitmapOf(dense)], ["PEXPIREAT", "core:dense", Date.now() + 1_000_000],
    ["SET", "core:zeros", Buffer.alloc(40)], ["SET", "native", bitmapOf(sparse)], ["SADD", "core:set", 1, 2, 3],
  ]);
});

describe("the stand-in", () => {
  it("answers as Redis documents BITRANGEINTARRAY and bitmaps", async () => {
    await run("SETBIT", "core:k", 7, 1);
    await run("SETBIT", "core:k", 17, 1);
    expect([await run("TYPE", "core:k"), await run("TYPE", "core:set"), await run("TYPE", "native"), await run("BITCOUNT", "core:k")]).toEqual(["bitmap", "set", "string", 2]);
    expect(await run("BITRANGEINTARRAY", "core:k", 0, -1)).toEqual([7, 17]);
    expect(await run("BITRANGEINTARRAY", "core:k", 1, 2, "BYTE")).toEqual([17]);
    expect(await run("BITRANGEINTARRAY", "core:k", 7, -7, "BIT", "LIMIT", 1)).toEqual([7]);
    expect(await run("BITRANGEINTARRAY", "core:k", 15, 18, "ZEROS", "BIT")).toEqual([15, 16, 18]);
    expect(await run("BITRANGEINTARRAY", "core:k", 100, -1, "BIT")).toEqual([]);
    expect(await run("BITRANGEINTARRAY", "missing", 0, -1)).toEqual([]);
    for (const words of [["BITRANGEINTARRAY", "core:set", 0, -1], ["GET", "core:k"], ["STRLEN", "core:k"], ["R.FROMBITMAP", "x", "core:k"]]) {
      await expect(run(...words), String(words[0])).rejects.toThrow(/WRONGTYPE/);
    }
  });
});

describe("advise", () => {
  it("counts and explains bitmaps of the server's own type, and writes nothing", async () => {
    const before = await server.run("DEBUG", "DIGEST"), advice = await printed<Advice>("advise", "--json");
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
    const rows = advice.rows.filter(({ type }) => type === "bitmap");
    expect(rows.map(({ kind, keys, isConvertible }) => [kind, keys, isConvertible]).sort()).toEqual([
      ["core bitmap", 1, true], ["core bitmap", 1, true], ["empty", 1, false],
    ]);
    expect(advice.notes.join()).toContain("2 keys are bitmaps of the server's own type");
    expect((await toolOn("advise")).out).toMatch(/core bitmap/);
    await printed("convert", "--match", "core:*", "--json");
    const after = await Promise.all(["core:sparse", "core:dense"].map((key) => server.usage(key)));
    expect(rows.reduce((sum, { bytesRoaring }) => sum + (bytesRoaring ?? 0), 0), `SEED=${seed}`).toBe(after[0]! + after[1]!);
  });
});

describe("convert", () => {
  it("converts them by pages, keeps their TTLs, and converts back", async () => {
    const before = await server.run("PEXPIRETIME", "core:dense"), expected = sorted(dense);
    const dry = await printed<Conversion>("convert", "--match", "core:*", "--dry-run", "--json");
    expect(relay.pages).toBeGreaterThan(3); // 25,000 offsets are three pages
    const done = await printed<Conversion>("convert", "--match", "core:*", "--json");
    expect(done).toMatchObject({ converted: 2, bytesAfter: dry.bytesAfter, skipped: { "an empty bitmap": 1, "would not become smaller": 1 }, failed: [] });
    expect(await run("TYPE", "core:dense")).toBe("reroaring");
    expect(await run("R.GETINTARRAY", "core:dense"), `SEED=${seed}`).toEqual(expected);
    expect(await run("R.GETINTARRAY", "core:sparse")).toEqual(sorted(sparse));
    expect(await server.run("PEXPIRETIME", "core:dense")).toBe(before);
    expect(await printed("convert", "--match", "core:*", "--json")).toMatchObject({ converted: 0 });
    expect(await printed("convert", "--match", "core:dense", "--to", "native", "--json")).toMatchObject({ converted: 1 });
    expect(await run("BITRANGEINTARRAY", "core:dense", 0, -1)).toEqual(expected);
  });

  it("loses no write to a bitmap that changes while its pages are read", async () => {
    const expected = new Set(dense);
    let over = false;
    const writing = (async () => {
      for (let n = 0; !over; n++) {
        const offset = 100_000 + n;
        if (await run("TYPE", "core:dense") === "bitmap") {
          try {
            await client.pipeline([["SETBIT", "core:dense", offset, 1]]).then(([reply]) => { if (!(reply instanceof Error)) expected.add(offset); });
          } catch { /* it has just become another type */ }
        }
        await new Promise((resolve) => setTimeout(resolve, 2 + n * n));
      }
    })();
    let converted = 0;
    // A key that changes too often fails, and another run converts it; the writer is slower then.
    while (converted === 0) converted = (JSON.parse((await toolOn("convert", "--match", "core:dense", "--json")).out) as Conversion).converted;
    over = true;
    await writing;
    expect(converted).toBe(1);
    expect(await server.run("R.GETINTARRAY", "core:dense"), `SEED=${seed}`).toEqual(sorted([...expected]));
  });
});

it("inspect shows them", async () => {
  const { out, status } = await toolOn("inspect", "core:sparse");
  expect(status).toBe(0);
  expect(out).toMatch(/^core:sparse: core bitmap\n/);
});
