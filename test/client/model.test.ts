// Random operations on sharded bitmaps over three masters, compared with Sets. 20,000 operations in all, spread over the client libraries.

import { describe, expect, it } from "vitest";
import { type Adapter, ofClusters, repliesFor, useClient, wrappers } from "../support/adapters.ts";
import { seeded } from "../support/random.ts";
import { byName, useCluster } from "../support/suite.ts";
import { Trial, type Universe, universes } from "../support/trial.ts";

const cluster = useCluster(3);

const OPERATIONS = 20_000;
const libraries = ofClusters(wrappers);

const runs = libraries.flatMap((adapter) => universes.map((universe) => ({ name: `${adapter.name}, ${universe.family}, by ${"by" in universe.sharding ? "hash" : "range"}`, adapter, universe })));

describe.each(byName<{ name: string; adapter: Adapter; universe: Universe }>(runs))("%s", (name, { adapter, universe }) => {
  const client = useClient(async () => {
    await cluster.onAll(...repliesFor(adapter));
    return adapter.openCluster!(cluster.ports);
  });

  it(`${OPERATIONS / runs.length} random operations answer what Sets do`, seeded(async (rng) => {
    const trial = new Trial(rng, client[universe.family], universe, name);
    for (let step = 0; step < OPERATIONS / runs.length; step++) {
      const [operation, actual, expected] = await trial.step();
      expect(actual, `operation ${step}: ${operation}`).toEqual(expected);
    }
  }));
});
