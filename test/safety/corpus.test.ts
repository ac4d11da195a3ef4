// Replays the seed inputs of the fuzz targets without a fuzzer: payloads of every form, calls of every kind, expressions, damaged
// arenas, and inputs that once revealed a bug.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { built, projectRoot } from "../support/server.ts";
import { emulator } from "../support/version.ts";

it.each(["payload", "sequence", "query", "damage"])("every input in test/corpus/%s runs without a failure", (target) => {
  const folder = join(projectRoot, "test/corpus", target);
  const inputs = readdirSync(folder).map((name) => join(folder, name));
  expect(inputs.length).toBeGreaterThan(0);
  const [program, ...before] = [...emulator, built(`replay-${target}`)];
  const printed = execFileSync(program, [...before, ...inputs], { encoding: "utf8", timeout: 120_000 });
  expect(printed).toBe(`${inputs.length} inputs\n`);
});
