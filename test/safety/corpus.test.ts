// Replays the seed inputs of the fuzz targets without a fuzzer: payloads of every form, calls of every kind, expressions, damaged
// arenas, transitions between forms, and inputs that once revealed a bug.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { built, projectRoot } from "../support/server.ts";
import { emulator } from "../support/version.ts";

const inputsOf = (name: string): string[] => {
  const folder = join(projectRoot, "test/corpus", name);
  return readdirSync(folder).map((file) => join(folder, file));
};

function replay(program: string, inputs: readonly string[], variables: Record<string, string> = {}): void {
  const [command, ...before] = [...emulator, built(program)];
  const printed = execFileSync(command, [...before, ...inputs], { env: { ...process.env, ...variables }, encoding: "utf8", timeout: 120_000 });
  expect(printed).toBe(`${inputs.length} inputs\n`);
}

it.each(["payload", "sequence", "query", "damage", "values", "names"])("every input in test/corpus/%s runs without a failure", (target) => {
  expect(inputsOf(target)).not.toEqual([]);
  replay(`replay-${target}`, inputsOf(target));
});

/** Between forms of bitmaps, blocks, leaves and containers (fuzz/transitions.c): more than random inputs take. */
const TRANSITIONS = 985;

it("writes are compared with a model in every known transition from form to form", () => {
  const directory = mkdtempSync(join(tmpdir(), "redis-roar-transitions-")), list = join(directory, "transitions");
  try {
    replay("trap/replay-sequence", [...inputsOf("sequence"), ...inputsOf("transitions")], { TRANSITIONS: list });
    expect(readFileSync(list, "utf8").trim().split("\n").length).toBeGreaterThanOrEqual(TRANSITIONS);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
