// The package as users get it: packed, installed into an empty project outside of this one with each client library, and used as its
// README says.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";

const { devDependencies } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { devDependencies: Record<string, string> };
/** The version that this project pins. */
const pinned = (name: string): string => devDependencies[name]!.replace(/^npm:.*@/, "");

const libraries = [
  { name: "node-redis 4", library: "redis", version: pinned("redis4"), adapter: "node-redis" },
  { name: "node-redis 5", library: "redis", version: pinned("redis5"), adapter: "node-redis" },
  { name: "node-redis 6", library: "redis", version: pinned("redis6"), adapter: "node-redis" },
  { name: "ioredis 5", library: "ioredis", version: pinned("ioredis"), adapter: "ioredis" },
  { name: "ioredis 6", library: "ioredis", version: pinned("ioredis6"), adapter: "ioredis" },
  { name: "redis-modules-sdk", library: "redis-modules-sdk", version: pinned("redis-modules-sdk"), adapter: "sdk" },
];

const readme = readFileSync(join(projectRoot, "client/README.md"), "utf8");
const blocks = [...readme.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code]) => code!);

/** Runs a program in a folder, and returns what it prints. It does not find programs of this project's packages, such as an old npm. */
function run(cwd: string, program: string, args: string[], env: Record<string, string> = {}): string {
  const PATH = process.env.PATH!.split(":").filter((entry) => !entry.endsWith("node_modules/.bin")).join(":");
  return execFileSync(program, args, { cwd, env: { ...process.env, PATH, ...env }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
const install = (project: string, ...words: string[]): string =>
  run(project, "npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", archive, ...words]);

let folder: string, archive: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "redis-roar-client-"));
  run(join(projectRoot, "client"), "npm", ["pack", "--pack-destination", folder]);
  archive = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the package", () => {
  const server = useServer({ listens: true });

  it("has no dependencies, and contains what it exports", () => {
    const files = run(folder, "tar", ["tf", archive]).trim().split("\n").map((name) => name.replace("package/", ""));
    const manifest = JSON.parse(run(folder, "tar", ["xOf", archive, "package/package.json"])) as Record<string, object>;
    expect(manifest.dependencies).toBeUndefined();
    for (const path of Object.values(manifest.exports!) as string[]) {
      expect(files).toContain(path.slice(2));
      expect(files).toContain(path.slice(2).replace(/\.js$/, ".d.ts"));
    }
    expect(files.filter((name) => !/^dist\/.*\.(js|d\.ts)$/.test(name)).sort()).toEqual(["LICENSE", "README.md", "package.json"]);
  });

  it.each(byName(libraries))("works with %s as its README says", async (_, { library, version, adapter }) => {
    const project = mkdtempSync(join(folder, "project-")), code = blocks.find((block) => block.includes(`redis-roar-client/${adapter}"`))!;
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    install(project, `${library}@${version}`);
    writeFileSync(join(project, "main.js"), code);
    expect(run(project, "node", ["main.js"], { REDIS_PORT: String(server.port) })).toBe("[ 9 ]\n18446744073709551615n\n");
    expect(await server.run("R64.MAX", "likes")).toBe("18446744073709551615");
  });

  it("has the types that TypeScript needs for the README's examples", () => {
    const project = mkdtempSync(join(folder, "types-"));
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    install(project, ...libraries.filter(({ name }) => !/redis 4|redis 5/.test(name)).map(({ library, version }) => `${library}@${version}`), `@types/node@${pinned("@types/node")}`);
    for (const [i, code] of blocks.filter((block) => block.startsWith("import ")).entries()) writeFileSync(join(project, `main${i}.ts`), code);
    const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", "node"];
    const files = readdirSync(project).filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(4);
    expect(run(project, "node", [join(projectRoot, "node_modules/typescript/bin/tsc"), ...options, ...files])).toBe("");
  });

  it("the core works without a client library, as its README says", () => {
    const project = mkdtempSync(join(folder, "core-")), code = blocks.find((block) => block.includes('"redis-roar-client"'))!;
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    install(project);
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["redis-roar-client"]);
    writeFileSync(join(project, "main.js"), `${code}console.log(call.name, call.args, call.keys, call.decode(1));\n`);
    expect(run(project, "node", ["main.js"])).toBe("R.GETBIT [ 'k', '7' ] [ 'k' ] 1\n");
  });
});
