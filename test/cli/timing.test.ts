// bench: answers agree, nothing is written unless it may be, and what cannot be compared is refused.

import { describe, expect, it } from "vitest";
import { type Bench } from "../../cli/src/bench.ts";
import { useServer } from "../support/suite.ts";
import { toolOn } from "../support/tool.ts";

const server = useServer();
const bench = async (...args: string[]): Promise<Bench> => {
  const { out, error } = await toolOn(server, "bench", "--json", "--seconds", "0.02", ...args);
  expect(error).toBe("");
  return JSON.parse(out) as Bench;
};
const ids = (of: number): number[] => Array.from({ length: 500 }, (_, i) => i * of);

describe("bench", () => {
  it("asks roaring bitmaps, and beside them copies only if it may write", async () => {
    for (const of of [2, 3, 5]) await server.run("R.SETINTARRAY", `k:${of}`, ...ids(of));
    const before = await server.run("DEBUG", "DIGEST"), changes = await server.info("rdb_changes_since_last_save");
    const alone = await bench("k:2", "k:3", "k:5", "--query", "#1 & #2 & ~#3");
    expect(alone.forms).toEqual(["R"]);
    expect(alone.rows.map(({ question }) => question)).toEqual([
      "GETBIT", "BITCOUNT", "AND of 3, counted", "OR of 3, counted", "XOR of 3, counted",
      "QUERY #1 - any(others)", "QUERY atleast(2, all 3)", "QUERY #1 & #2 & ~#3",
    ]);
    for (const { timings, question } of alone.rows) {
      expect(timings, question).toHaveLength(1);
      expect(timings[0]!.server, question).toBeGreaterThan(0);
      expect(timings[0]!.p99, question).toBeGreaterThanOrEqual(timings[0]!.p50);
    }
    expect(await server.info("rdb_changes_since_last_save")).toBe(changes);
    const beside = await bench("k:2", "k:3", "k:5", "--temporary-keys");
    expect(beside.forms).toEqual(["R", "native"]);
    expect(beside.rows.map(({ timings, differs }) => [timings.length, differs]))
      .toEqual([...Array.from({ length: 6 }, () => [2, null]), [1, null]]);
    expect(await server.run("DEBUG", "DIGEST")).toBe(before);
  });

  it("compares native bitmaps and sets, and says where answers differ", async () => {
    await server.connection.pipeline([["SADD", "s:2", ...ids(2)], ["SADD", "s:3", ...ids(3)], ["SADD", "wide", "18446744073709551615", 1]]);
    for (const of of [2, 3]) {
      await server.run("R.SETINTARRAY", "k", ...ids(of));
      await server.run("R.TOBITMAP", `n:${of}`, "k");
    }
    const both = await bench("n:2", "n:3", "--beside", "s:2", "s:3", "--temporary-keys");
    expect(both.forms).toEqual(["native", "set"]);
    expect(both.rows.map(({ differs }) => differs)).toEqual([null, null, null, null, null, null]);
    expect((await bench("s:2", "--temporary-keys")).forms).toEqual(["set", "R"]);
    expect((await bench("wide", "--temporary-keys")).forms).toEqual(["set", "R64"]);
    await server.run("SETBIT", "n:2", 1, 1);
    const different = await toolOn(server, "bench", "n:2", "--beside", "s:2", "--seconds", "0.02");
    expect(different).toMatchObject({ status: 1, out: expect.stringContaining("BITCOUNT: the answers differ, 501 and 500") });
    expect(await server.run("KEYS", "redis-roar:*")).toEqual([]);
  });

  it("makes no copy of a bitmap that would be long, and refuses what is no bitmap", async () => {
    await server.connection.pipeline([["R.SETBIT", "far", 4_000_000_000, 1], ["R64.SETBIT", "wide", "18446744073709551615", 1], ["SET", "text", "hello"], ["HSET", "hash", "a", 1]]);
    for (const key of ["far", "wide"]) expect(await bench(key, "--temporary-keys")).toMatchObject({ forms: [key === "far" ? "R" : "R64"], notes: [expect.stringContaining("no copy")] });
    for (const [keys, status, why] of [
      [["missing"], 1, "no such key"], [["text"], 1, "not a bitmap"], [["hash"], 1, "of type hash, not a bitmap"], [["far", "wide"], 1, "keys of the same type"], [["far", "--beside", "far", "far"], 2, "same number of keys"],
    ] as const) expect(await toolOn(server, "bench", ...keys), keys.join(" ")).toMatchObject({ status, out: "", error: expect.stringContaining(why) });
  });
});
