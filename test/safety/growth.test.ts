// Memory that runs out in the midst of a write: a build with one command more, ROAR.LIMIT bytes, lets no bitmap grow beyond that.

import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { families, type Family } from "../support/family.ts";
import { random as seeded, seed } from "../support/random.ts";
import type { Argument } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { projectRoot, withDebug } from "../support/server.ts";
import { useServer } from "../support/suite.ts";

const OOM = "OOM Roaring: not enough memory for the bitmap";
const UNLIMITED = 2 ** 32 - 1;

describe.each(families)("$name: a bitmap that cannot grow", (family: Family) => {
  const server = useServer({ module: join(projectRoot, "build/redis-roar-trap.so"), moduleArguments: withDebug });
  const roar = roarOn(server, family);
  const limit = (bytes: number) => server.run("ROAR.LIMIT", bytes);
  afterEach(() => limit(UNLIMITED));

  /** The key's members as bytes, with a look at its insides. */
  const contents = async (): Promise<unknown> => {
    expect(await server.run("R.DEBUG", "VALIDATE", "k")).toBe("OK");
    return roar.run("EXPORT", "k");
  };
  const spread = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * 65_537 * 3) % 2 ** 32);

  /** Bitsets of more bytes than the room that the module keeps for results. */
  const dense = "01".repeat(2_200_000);

  const writes: [string, Argument[]][] = [
    ["SETBITS", ["k", ...spread(400).map((offset) => offset + 1)]],
    ["APPENDINTARRAY", ["k", ...spread(5000).map((offset) => offset + 2)]],
    ["SETINTARRAY", ["k", ...spread(5000)]],
    ["SETRANGE", ["k", 100, 3_000_000_000]],
    ["CLEARRANGE", ["k", 100, 300_000]],
    ["FLIPRANGE", ["k", 0, 4_000_000_000]],
    ["BITFIELD", ["k", "SET", "u8", 100_000, 255, "SET", "u16", 2_000_000_000, 65_535, "INCRBY", "i64", 3_000_000_000, -1]],
    ["BITOP", ["NOT", "k", "other"]],
    ["BITOP", ["OR", "k", "k", "other"]],
    ["SETBITARRAY", ["k", dense]],
    ["DIFF", ["k", "other", "k"]],
  ];

  it.each(writes)("keeps its members, and the server says so: %s", async (command, args) => {
    await roar.run("SETBITARRAY", "other", dense);
    await roar.load("k", spread(300));
    await roar.run("OPTIMIZE", "k");
    const before = await contents(), refusals: string[] = [];
    for (const bytes of [0, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 12_000]) {
      await limit(bytes);
      const reply = await roar.run(command, ...args).then(() => "done", (error: Error) => error.message);
      await limit(UNLIMITED);
      if (reply === "done") break;
      refusals.push(reply);
      expect(await contents()).toEqual(before);
    }
    expect(refusals.length).toBeGreaterThan(0);
    expect(new Set(refusals)).toEqual(new Set([OOM]));
    await roar.run(command, ...args);
    await contents();
    expect(await server.info("redis-roar_bitmaps_damaged")).toBe("0");
  });

  it("is not created either", async () => {
    await limit(0);
    for (const [command, args] of writes) {
      if (["BITOP", "DIFF", "CLEARRANGE"].includes(command)) continue;
      const reply = await roar.run(command, ...args).then(() => "done", (error: Error) => error.message);
      if (reply === "done") await server.run("DEL", "k");
      else expect([reply, await server.run("EXISTS", "k")], command).toEqual([OOM, 0]);
    }
  });

  it("tells replicas and the AOF nothing of what it refused", async () => {
    await roar.load("k", spread(300));
    await limit(0);
    const before = await server.info("master_repl_offset");
    expect(await roar.refusal("APPENDINTARRAY", "k", ...spread(5000))).toBe(OOM);
    expect(await server.info("master_repl_offset")).toBe(before);
  });

  it("keeps its members through many such writes", async () => {
    const random = seeded(seed);
    let refused = 0;
    await roar.load("k", spread(1000));
    for (let round = 0; round < 150; round++) {
      const before = await contents();
      const offsets = Array.from({ length: 1 + random.below(80) }, () => random.chance(0.5) ? random.below(300_000) : random.below(2 ** 32));
      await limit(random.below(120_000));
      const command = random.pick(["APPENDINTARRAY", "DELETEINTARRAY", "SETBITS", "SETRANGE", "FLIPRANGE"] as const);
      const args = command.endsWith("RANGE") ? [Math.min(...offsets), Math.max(...offsets)] : offsets;
      const reply = await roar.run(command, "k", ...args).then(() => "done", (error: Error) => error.message);
      await limit(UNLIMITED);
      if (reply !== "done") {
        refused++;
        expect([reply, await contents()], `${command}, seed ${seed}`).toEqual([OOM, before]);
      }
    }
    expect(refused).toBeGreaterThan(5);
  });
});
