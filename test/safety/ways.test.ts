// Every way that a write can take, from each form of a bitmap and of a container to each other, is taken by some input in test/corpus, and
// compared with a model there. The others are said to be impossible, with a reason each; `make ways` looks for inputs that prove a reason
// wrong. tools/ways.ts has the lists and what they mean.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compareWays } from "../../tools/ways.ts";
import { built, projectRoot } from "../support/server.ts";
import { emulator } from "../support/version.ts";

it("writes take all ways but those that are said to be impossible, and exactly those that are listed", () => {
  const inputs = ["sequence", "ways"].flatMap((name) => {
    const folder = join(projectRoot, "test/corpus", name);
    return readdirSync(folder).map((file) => join(folder, file));
  });
  const directory = mkdtempSync(join(tmpdir(), "redis-roar-ways-")), WAYS = join(directory, "ways");
  const [program, ...before] = [...emulator, built("trap/replay-sequence")];
  try {
    execFileSync(program, [...before, ...inputs], { env: { ...process.env, WAYS }, timeout: 120_000 });
    expect(compareWays(WAYS)).toEqual({ unlisted: [], missed: [], refuted: [], untried: [], idle: [] });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
