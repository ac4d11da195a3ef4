// The systems in examples/: each runs, finds every answer right, and its README shows the figures of the recorded run.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOf, type Result, withFigures } from "../../examples/support/record.ts";
import { built, projectRoot } from "../support/server.ts";

const systems = readdirSync(join(projectRoot, "examples")).filter((name) => existsSync(join(folderOf(name), "main.ts")));
const resultIn = (folder: string): Result => JSON.parse(readFileSync(join(folder, "result.json"), "utf8")) as Result;

it("examples/README.md links every example with its chart", () => {
  const readme = readFileSync(join(projectRoot, "examples/README.md"), "utf8");
  expect(systems.length).toBeGreaterThan(0);
  for (const name of systems) {
    expect(readme).toContain(`(${name}/README.md)`);
    expect(readme).toContain(`(${name}/chart.svg)`);
  }
});

describe.each(systems)("the example %s", (name) => {
  it("finds every answer right, and draws its chart", () => {
    const seed = Date.now() % 2 ** 31;
    const { status, stdout, stderr } = spawnSync(join(projectRoot, "node_modules/.bin/tsx"), [join(folderOf(name), "main.ts")], {
      cwd: projectRoot, encoding: "utf8", env: { ...process.env, SCALE: "0.001", SEED: String(seed), RECORD: "" },
    });
    expect(status, `SEED=${seed}\n${stdout}${stderr}`).toBe(0);
    const result = resultIn(built(`examples/${name}`));
    expect(result).toMatchObject({ example: name, seed, scale: 0.001 });
    expect(result.checks).toBeGreaterThan(10);
    expect(readFileSync(built(`examples/${name}/chart.svg`), "utf8")).toMatch(/^<svg [^]*<(?:path|rect class="(?:more|less)") [^]*<\/svg>\n$/);
  });

  it("shows the figures of the recorded run in its README", () => {
    const readme = readFileSync(join(folderOf(name), "README.md"), "utf8");
    expect(readme).toBe(withFigures(readme, resultIn(folderOf(name))));
  });
});
