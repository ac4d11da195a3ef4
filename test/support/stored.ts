// Stores all samples of both families and some integers for ids as keys, and checks them later.

import { expect } from "vitest";
import { families, type Family, range } from "./family.ts";
import { roarOn } from "./roar.ts";
import { samples } from "./samples.ts";
import type { Server } from "./server.ts";
import { expectEqual } from "./suite.ts";

export const sampleKey = (family: Family, name: string): string => `${family.name}:${name}`;

/** Values for ids: one, both ends of 64 bits, pairs, slices, and several segments where these are small. */
const values: Readonly<Record<string, readonly (readonly [bigint, bigint])[]>> = {
  one: [[7n, -5n]],
  ends: [[0n, -(2n ** 63n)], [2n ** 64n - 1n, 2n ** 63n - 1n]],
  pairs: range(0, 300).map((i) => [BigInt(i) ** 5n, BigInt(i) ** 7n - 10n ** 10n] as const),
  slices: range(0, 20_000).map((i) => [BigInt(i), BigInt((i * 7919) % 4096)] as const),
  both: range(0, 5000).map((i) => (i < 3000 ? [BigInt(i), 5n] as const : [2n ** 40n + BigInt(i) * 1000n, BigInt(i)] as const)),
};
export const valuesKey = (name: string): string => `integers:${name}`;

/** Stores them; without integers for ids on a server that does not have these. */
export async function loadSamples(server: Server, hasValues = true): Promise<void> {
  for (const family of families) {
    const roar = roarOn(server, family);
    for (const [name, members] of Object.entries(samples(family))) await roar.load(sampleKey(family, name), members);
  }
  for (const [name, pairs] of hasValues ? Object.entries(values) : []) {
    await server.run("DEL", valuesKey(name));
    for (let i = 0; i < pairs.length; i += 5000) await server.run("RI.SET", valuesKey(name), ...pairs.slice(i, i + 5000).flat());
  }
}

/** Expects that the server holds the samples and nothing else. */
export async function expectSamples(server: Server, hasValues = true): Promise<void> {
  let keys = 0;
  for (const family of families) {
    const roar = roarOn(server, family);
    for (const [name, members] of Object.entries(samples(family))) {
      expect(await server.run("EXISTS", sampleKey(family, name)), name).toBe(1);
      expectEqual(await roar.members(sampleKey(family, name)), members, name);
      keys++;
    }
  }
  for (const [name, pairs] of hasValues ? Object.entries(values) : []) {
    const [next, page] = (await server.run("RI.SCAN", valuesKey(name), 0, "COUNT", 1_000_000)) as [string, (number | bigint | string)[]];
    expect(next).toBe("0");
    expectEqual(page.map(BigInt), pairs.flat(), name);
    keys++;
  }
  expect(await server.run("DBSIZE")).toBe(keys);
}
