// The package as users get it: packed, installed into an empty project outside of this one with each client library, and used as its
// README says.

import { build } from "esbuild";
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

const blocksOf = (document: string): string[] =>
  [...readFileSync(join(projectRoot, document), "utf8").matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code]) => code!);
const blocks = blocksOf("client/README.md");

/**
 * Runs a program in a folder, and returns what it prints, without colors. It does not find programs of this project's packages, such as an
 * old npm.
 */
function run(cwd: string, program: string, args: string[], env: Record<string, string> = {}): string {
  const PATH = process.env.PATH!.split(":").filter((entry) => !entry.endsWith("node_modules/.bin")).join(":");
  const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== "FORCE_COLOR"));
  return execFileSync(program, args, { cwd, env: { ...plain, PATH, ...env }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
const install = (project: string, ...words: string[]): string =>
  run(project, "npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", archive, ...words]);

/** Packs the client. */
const pack = (into: string, env: Record<string, string> = {}): string =>
  run(projectRoot, join(projectRoot, "node_modules/.bin/tsx"), ["tools/pack.ts", "client", into], env);

/** An empty project with the package and others. */
function newProject(manifest: object, ...packages: string[]): string {
  const project = mkdtempSync(join(folder, "project-"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, ...manifest }));
  install(project, ...packages);
  return project;
}

/** Runs the compiler on files of a project, and expects that it finds nothing. */
function expectCompiled(project: string, options: readonly string[], files: readonly string[]): void {
  const args = [join(projectRoot, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", ...options];
  let output = "";
  try {
    run(project, "node", [...args, ...files]);
  } catch (error) {
    output = String((error as { stdout?: string }).stdout);
  }
  expect(output).toBe("");
}

const ALL_TYPES = ["--skipLibCheck", "--types", "node"];

let folder: string, archive: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "redis-roar-client-"));
  pack(folder);
  archive = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the package", () => {
  const server = useServer({ listens: true });

  it("has no dependencies, and contains what it exports", () => {
    const files = run(folder, "tar", ["tf", archive]).trim().split("\n").map((name) => name.replace("package/", ""));
    const manifest = JSON.parse(run(folder, "tar", ["xOf", archive, "package/package.json"])) as Record<string, object>;
    expect(manifest.dependencies).toBeUndefined();
    const exported = JSON.stringify(manifest.exports).match(/(?<="\.\/)[^"]*\.[^"]*(?=")/g)!.filter((path) => path.startsWith("dist/"));
    expect(exported.length).toBe(16);
    expect(files).toEqual(expect.arrayContaining(exported));
    expect(files.filter((name) => !/^dist\/.*\.(js|js\.map|d\.ts|d\.cts)$/.test(name)).sort()).toEqual(["LICENSE", "README.md", "package.json"]);
    const map = JSON.parse(run(folder, "tar", ["xOf", archive, "package/dist/call.js.map"])) as { sourcesContent: string[] };
    expect(map.sourcesContent[0]).toBe(readFileSync(join(projectRoot, "client/src/call.ts"), "utf8"));
  });

  it("says where it comes from, if that is known, and has no link that leads nowhere", () => {
    for (const GITHUB_REPOSITORY of ["owner/name", ""]) {
      const own = mkdtempSync(join(folder, "packed-"));
      pack(own, { GITHUB_REPOSITORY });
      const read = (name: string): string => run(own, "tar", ["xOf", join(own, readdirSync(own)[0]!), `package/${name}`]);
      const links = [...read("README.md").matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target!);
      expect(links.filter((target) => !/^(?:https:|#)/.test(target))).toEqual([]);
      const manifest = JSON.parse(read("package.json")) as Record<string, object>;
      if (GITHUB_REPOSITORY === "") continue; // a clone of the project may have a remote
      expect(links).toContain("https://github.com/owner/name/blob/v1.0.0/docs/commands.md#setbit");
      expect(manifest).toMatchObject({
        repository: { type: "git", url: "git+https://github.com/owner/name.git", directory: "client" },
        homepage: "https://github.com/owner/name/tree/v1.0.0/client#readme", bugs: "https://github.com/owner/name/issues",
      });
    }
  });

  /** What a program is said to print. */
  const said = (code: string): string[] =>
    [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$|\/\/ prints (.*)$/gm)].map(([, logged, printed]) => logged ?? printed!);

  /** A project as `npm init` makes it, with the package and others. */
  function initialized(...packages: string[]): string {
    const project = mkdtempSync(join(folder, "project-"));
    run(project, "npm", ["init", "-y"]);
    install(project, ...packages);
    return project;
  }

  it.each(byName(libraries))("works with %s as its README says", async (_, { name, library, version, adapter }) => {
    const project = initialized(`${library}@${version}`), block = blocks.find((one) => one.includes(`redis-roar-client/${adapter}"`))!;
    writeFileSync(join(project, "main.mjs"), name === "node-redis 4" ? block.replace("client.close()", "client.quit()") : block);
    expect(run(project, "node", ["main.mjs"], { REDIS_PORT: String(server.port) })).toBe("[ 9 ]\n18446744073709551615n\n");
    expect(await server.run("R64.MAX", "likes")).toBe("18446744073709551615");
  });

  it("runs every program of the READMEs and of docs/clients.md as a file, and each prints what it says", async () => {
    const versions = ["node-redis 6", "ioredis 5", "redis-modules-sdk"].map((name) => libraries.find((one) => one.name === name)!);
    const project = initialized(...versions.map(({ library, version }) => `${library}@${version}`));
    const connection = blocks.find((block) => block.includes("export const client"))!;
    writeFileSync(join(project, "connection.mjs"), connection);
    writeFileSync(join(project, "ids.txt"), "9\n7\n8\n");
    const programs = [...blocks.filter((block) => block !== connection), ...["docs/clients.md", "docs/migration.md", "README.md"].flatMap(blocksOf)];
    expect(programs.length).toBeGreaterThan(14);
    for (const [i, code] of programs.entries()) {
      writeFileSync(join(project, `program-${i}.mjs`), code);
      if (!code.includes("./connection.mjs")) await server.run("FLUSHALL"); // the others continue what the first ones wrote
      const out = run(project, "node", [`program-${i}.mjs`], { REDIS_PORT: String(server.port) }).trim();
      expect(out === "" ? [] : out.split("\n"), code).toEqual(said(code));
    }
    expect(said(programs.join("")).length).toBeGreaterThan(18);
  });

  it("has the types that TypeScript needs for the README's examples", () => {
    const latest = libraries.filter(({ name }) => !/redis 4|redis 5/.test(name)).map(({ library, version }) => `${library}@${version}`);
    const project = newProject({ type: "module" }, ...latest, `@types/node@${pinned("@types/node")}`);
    // Declarations of Node.js want subscribers of all events of a tracing channel.
    const examples = blocks.filter((block) => !block.includes("tracingChannel"));
    const names = examples.map((block, i) => (block.includes("export const client") ? "connection.mts" : `main${i}.mts`));
    expect(names.length).toBeGreaterThan(11);
    for (const [i, code] of examples.entries()) writeFileSync(join(project, names[i]!), code);
    expectCompiled(project, ["--module", "nodenext", ...ALL_TYPES], names);
  });

  it("has types for modules, CommonJS and bundlers, and needs none of Node.js", () => {
    const project = newProject({ type: "module" });
    const code = `import { callsOf, R, type Bitmaps } from "redis-roar-client";
      import { roar, typeMapping, type NodeRedisClient } from "redis-roar-client/node-redis";
      import { roar as ioredis, type IoredisClient } from "redis-roar-client/ioredis";
      declare const client: NodeRedisClient, redis: IoredisClient, r: Bitmaps<number>;
      const bytes: Promise<Uint8Array | null> = r.export(new Uint8Array(3));
      export default [roar(client).r64.max("k"), ioredis(redis).multi().r.getBit("k", 1).exec(), callsOf(R).min("k"), typeMapping, bytes];\n`;
    for (const name of ["main.ts", "main.cts"]) writeFileSync(join(project, name), code);
    expectCompiled(project, ["--module", "nodenext", "--lib", "es2023"], ["main.ts", "main.cts"]);
    expectCompiled(project, ["--module", "node16", "--lib", "es2023"], ["main.ts", "main.cts"]);
    expectCompiled(project, ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2023"], ["main.ts"]);
  });

  it("works in a minified bundle that is a module, and in one that is CommonJS", async () => {
    const packages = ["node-redis 6", "ioredis 5"].map((name) => libraries.find((one) => one.name === name)!);
    const project = newProject({ type: "module" }, ...packages.map(({ library, version }) => `${library}@${version}`));
    writeFileSync(join(project, "main.js"), `import { Redis } from "ioredis";
      import { createClient } from "redis";
      import { WrongTypeError } from "redis-roar-client";
      import { roar as ioredis } from "redis-roar-client/ioredis";
      import { roar as nodeRedis } from "redis-roar-client/node-redis";
      const main = async () => {
        const port = Number(process.env.REDIS_PORT), redis = new Redis({ port }), client = await createClient({ socket: { port } }).connect();
        for (const { r, multi } of [ioredis(redis), nodeRedis(client)]) {
          await r.setBit("k", 7, 1);
          const error = await r.getBit("text", 1).catch((reason) => reason);
          console.log(error instanceof WrongTypeError, error.name, String(error), error.command, await multi().r.max("k").exec());
        }
        redis.disconnect();
        client.destroy();
      };
      main();\n`);
    await server.run("SET", "text", "x");
    const line = "true WrongTypeError WrongTypeError: WRONGTYPE Operation against a key holding the wrong kind of value R.GETBIT [ 7 ]\n";
    for (const format of ["esm", "cjs"] as const) {
      const js = format === "esm" ? 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' : "";
      const file = `bundle.${format === "esm" ? "mjs" : "cjs"}`;
      await build({
        entryPoints: [join(project, "main.js")], outfile: join(project, file), bundle: true, minify: true,
        platform: "node", format, banner: { js }, logLevel: "error",
      });
      expect(run(project, "node", [file], { REDIS_PORT: String(server.port) }), format).toBe(line.repeat(2));
    }
  });

  it("the core works without a client library, as its README says", () => {
    const project = newProject({ type: "module" }), code = blocks.find((block) => block.includes("callsOf(R)"))!;
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["redis-roar-client"]);
    writeFileSync(join(project, "main.js"), `${code}console.log(call.name, call.args, call.keys);\n`);
    expect(run(project, "node", ["main.js"])).toBe("1\nR.GETBIT [ 'k', '7' ] [ 'k' ]\n");
  });
});
