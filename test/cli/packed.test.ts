// The tool as users get it: packed, and run by npx in one command, in an empty folder outside of this project.

import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { projectRoot } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { bitmapOf } from "./keyspace.ts";

const server = useServer({ module: null });
// Programs of this project's packages are not found.
const PATH = process.env.PATH!.split(":").filter((entry) => !entry.endsWith("node_modules/.bin")).join(":");
let folder: string, archive: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "redis-roar-packed-"));
  execFileSync(join(projectRoot, "node_modules/.bin/tsx"), ["tools/pack.ts", "cli", folder], { cwd: projectRoot });
  archive = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("has what it needs and no more, in less than 1 MB", () => {
  const files = execFileSync("tar", ["tf", archive], { encoding: "utf8" }).trim().split("\n").map((name) => name.replace("package/", ""));
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", "dist/main.js", "dist/core/core.wasm", "dist/core/imports.wasm", "dist/core/faults.json"]));
  expect(files.filter((name) => !/^(LICENSE|README\.md|package\.json|dist\/.*\.(js|d\.ts|wasm|json))$/.test(name))).toEqual([]);
  expect(statSync(archive).size).toBeLessThan(1_000_000);
  expect(execFileSync("tar", ["xOf", archive, "package/package.json"], { encoding: "utf8" })).not.toContain("devDependencies");
});

it("runs in one command", async () => {
  await server.run("SET", "seen:1", bitmapOf([1, 900_000]));
  // A prefix of its own: what this machine has installed does not help.
  const args = ["--yes", "--prefer-offline", "--no-audit", "--no-fund", "--package", archive, "redis-roar", "advise", "--json", "-s", server.socket];
  const env = { ...process.env, PATH, npm_config_prefix: join(folder, "prefix") };
  const { stdout } = await promisify(execFile)("npx", args, { cwd: mkdtempSync(join(folder, "empty-")), env });
  expect(JSON.parse(stdout)).toMatchObject({ keys: 1, rows: [{ pattern: "seen:*", kind: "bitmap", family: "R" }] });
});
