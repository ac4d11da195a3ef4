// A bitmap of more than 4 GiB, which no block could hold: written, queried, copied, saved and loaded.
//
//   FULL=1   runs it; it takes 14 GiB of memory, 7 GB of disk and some minutes

import { expect, it } from "vitest";
import { range } from "../support/family.ts";
import { seeded } from "../support/random.ts";
import { useServer } from "../support/suite.ts";

const MIB = 2 ** 20, GIB = 2 ** 30;
const PART_BYTES = 64 * MIB, PART_BITS = BigInt(8 * PART_BYTES), PARTS = 97;
const MINUTES = 60_000;

const server = useServer({ config: ["rdbcompression no", "proto-max-bulk-len 1gb"] });

it.skipIf(!process.env.FULL)("a bitmap of 6 GiB", { timeout: 20 * MINUTES }, seeded(async (rng) => {
  await filled();
  const members = BigInt(await server.run("BITCOUNT", "part") as number) * BigInt(PARTS);
  const check = async (): Promise<void> => {
    expect(await server.run("MEMORY", "USAGE", "huge")).toBeGreaterThan(6 * GIB);
    expect(BigInt(await server.run("R64.BITCOUNT", "huge") as number)).toBe(members);
    const offsets = range(0, 2000).map(() => rng.below(Number(PART_BITS)) + rng.below(PARTS) * Number(PART_BITS));
    const bits = await server.connection.pipeline(offsets.map((offset) => ["GETBIT", "part", offset % Number(PART_BITS)]));
    expect(await server.run("R64.GETBITS", "huge", ...offsets)).toEqual(bits);
  };
  await check();

  // Questions over all of it, and over its last part, whose answers the native bitmap knows.
  const last = PART_BITS * BigInt(PARTS - 1), count = members / BigInt(PARTS);
  expect(BigInt(await server.run("R64.QUERY", "#1", 1, "huge") as number)).toBe(members);
  expect(BigInt(await server.run("R64.QUERY", `#1 & [${last}..18446744073709551615]`, 1, "huge") as number)).toBe(count);
  expect(await server.run("R64.RANK", "huge", last - 1n)).toBe(Number(members - count));
  expect(await server.run("R64.BITOPCARD", "AND", "huge", "huge")).toBe(Number(members));
  expect(await server.run("R64.SELECT", "huge", members - 1n)).toBe(await server.run("R64.MAX", "huge"));

  // A copy shares all segments but the one that is written to.
  const memory = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(String(await server.run("INFO", "memory")))![1]);
  const before = await memory();
  await server.run("COPY", "huge", "copy");
  expect(await server.run("R64.SETBIT", "copy", 2n ** 63n, 1)).toBe(0);
  expect(await memory() - before).toBeLessThan(4 * MIB);
  expect(await server.run("R64.GETBIT", "huge", 2n ** 63n)).toBe(0);
  expect(await server.run("UNLINK", "copy")).toBe(1);

  await server.run("SAVE");
  await server.restart();
  await check();
}));

/** The same random part again and again, one behind the other. */
async function filled(): Promise<void> {
  const part = Buffer.alloc(PART_BYTES);
  for (let at = 0; at < PART_BYTES; at += 65_536) crypto.getRandomValues(part.subarray(at, at + 65_536));
  await server.run("SET", "part", part);
  for (const i of range(0, PARTS)) {
    await server.run("R64.FROMBITMAP", "huge", "part", "OFFSET", PART_BITS * BigInt(i), "MERGE");
  }
}
