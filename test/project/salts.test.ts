// Each unit test of the core draws its random numbers from the run's seed and a salt of its own, so that a failure's message
// (salt, SEED) names one test.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../support/server.ts";

it("every unit test of the core has a salt of its own", () => {
  const directory = join(projectRoot, "assembly/__tests__");
  const users = new Map<string, string[]>();
  for (const file of readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".spec.ts"))) {
    for (const [, salt] of readFileSync(join(directory, file), "utf8").matchAll(/\bnew (?:Trial|Bench)\(([^)]*)\)/g)) {
      users.set(salt!, [...(users.get(salt!) ?? []), file]);
    }
  }
  expect(users.size).toBeGreaterThan(140);
  expect([...users.keys()].filter((salt) => !/^\d+$/.test(salt)), "salts that are not plain numbers").toEqual([]);
  expect([...users].filter(([, files]) => files.length > 1), "salts that are used twice").toEqual([]);
});
