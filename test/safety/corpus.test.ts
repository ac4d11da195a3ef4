// Inputs of the fuzz targets, run again without a fuzzer: what each form of payload looks like, calls of every kind, and what
// once was a finding.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../support/server.ts";

it.each(["payload", "sequence"])("no input of %s is a finding", (target) => {
  const folder = join(projectRoot, "test/corpus", target);
  const inputs = readdirSync(folder).map((name) => join(folder, name));
  const printed = execFileSync(join(projectRoot, `build/replay-${target}`), inputs, { encoding: "utf8", timeout: 30_000 });
  expect(printed).toBe(`${inputs.length} inputs\n`);
});
