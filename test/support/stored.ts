// Stores all samples of both families as keys, and checks them later.

import { expect } from "vitest";
import { families, type Family } from "./family.ts";
import { roarOn } from "./roar.ts";
import { samples } from "./samples.ts";
import type { Server } from "./server.ts";
import { expectEqual } from "./suite.ts";

export const sampleKey = (family: Family, name: string): string => `${family.name}:${name}`;

export async function loadSamples(server: Server): Promise<void> {
  for (const family of families) {
    const roar = roarOn(server, family);
    for (const [name, members] of Object.entries(samples(family))) await roar.load(sampleKey(family, name), members);
  }
}

/** Expects that the server holds the samples and nothing else. */
export async function expectSamples(server: Server): Promise<void> {
  let keys = 0;
  for (const family of families) {
    const roar = roarOn(server, family);
    for (const [name, members] of Object.entries(samples(family))) {
      expect(await server.run("EXISTS", sampleKey(family, name)), name).toBe(1);
      expectEqual(await roar.members(sampleKey(family, name)), members, name);
      keys++;
    }
  }
  expect(await server.run("DBSIZE")).toBe(keys);
}
