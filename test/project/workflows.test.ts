// What runs on GitHub: actionlint checks the syntax (tools/check.ts), this checks what it leaves open.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { projectRoot } from "../support/server.ts";

const FOLDER = join(projectRoot, ".github/workflows");
const parts = readdirSync(join(projectRoot, "tools")).filter((name) => name.endsWith(".mk")).map((name) => `tools/${name}`);
const makefiles = ["Makefile", ...parts].map((name) => readFileSync(join(projectRoot, name), "utf8")).join("");
const targets = [...makefiles.matchAll(/^([a-z0-9-]+): /gm)].map(([, target]) => target!);

describe.each(readdirSync(FOLDER))("%s", (name) => {
  const text = readFileSync(join(FOLDER, name), "utf8");
  const found = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, value]) => value!);

  it("pins every action by the hash of a commit, and names its version", () => {
    const actions = found(/\buses: (.*)$/gm);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("pins the same action everywhere by the same hash", () => {
    const all = readdirSync(FOLDER).flatMap((file) => [...readFileSync(join(FOLDER, file), "utf8").matchAll(/\buses: (.*)@(.*)$/gm)]);
    for (const [, action, version] of all) expect(all.filter(([, other]) => other === action).map(([, , its]) => its)).toContain(version);
    expect(new Set(all.map(([, action, version]) => `${action}@${version}`)).size).toBe(new Set(all.map(([, action]) => action)).size);
  });

  it("may only read, unless a job says otherwise", () => expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m));

  it("gives every job a time limit", () => {
    const { jobs } = parse(text) as { jobs: Record<string, { "timeout-minutes"?: number }> };
    expect(Object.keys(jobs)).not.toEqual([]);
    for (const [job, its] of Object.entries(jobs)) expect(its["timeout-minutes"], job).toBeGreaterThan(0);
  });

  it("makes targets that exist, with variables that exist", () => {
    for (const call of found(/\bmake ([^|&;\n]*)/g)) {
      for (const word of call.trim().split(" ").filter(Boolean)) {
        const [variable, value] = word.split("=");
        if (value === undefined) expect(targets).toContain(word);
        else expect(makefiles).toMatch(new RegExp(`\\$\\(${variable}\\b|\\$\\(if \\$\\(${variable}\\)|^#: ${variable}=`, "m"));
      }
    }
  });
});
