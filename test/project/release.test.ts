// What `make release` and `make deb` pack, tried with the module of the ordinary build.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtModule, projectRoot } from "../support/server.ts";

const { version, author } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string; author: string };
const folder = mkdtempSync(join(tmpdir(), "redis-roar-release-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { cwd: folder, encoding: "utf8" });

/** Packs the module into a folder of that name. A fixed time stands for that of the last commit, so that this needs no repository. */
function pack(kind: "tar" | "deb", name: string): string {
  const out = join(folder, name);
  execFileSync(join(projectRoot, "tools/package"), [kind, machine, builtModule, out], { env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" } });
  return out;
}

const machine = run("uname", "-m").trim();

/** Expects that what each document in a folder links to is in that folder too. */
function expectLinksWork(top: string): void {
  const packed = readdirSync(top, { recursive: true, encoding: "utf8" }), documents = packed.filter((name) => name.endsWith(".md"));
  expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/operations.md", "client/README.md", "examples/README.md"]));
  const links = documents.flatMap((document) => {
    const prose = readFileSync(join(top, document), "utf8").replace(/^ *```[^]*?^ *```$/gm, "");
    return [...prose.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, target]) => join(dirname(document), target!));
  });
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter((link) => !existsSync(join(top, link)))).toEqual([]);
}

describe.each(["tar", "deb"] as const)("tools/package %s", (kind) => {
  it("writes the same bytes when it runs again", () => {
    const first = pack(kind, `${kind}-1`), second = pack(kind, `${kind}-2`);
    const names = readdirSync(first);
    expect(names).toHaveLength(kind === "tar" ? 2 : 1);
    expect(readdirSync(second)).toEqual(names);
    for (const name of names) expect(readFileSync(join(first, name)).equals(readFileSync(join(second, name))), name).toBe(true);
  });
});

describe("the archive of a release", () => {
  const name = `redis-roar-${version}-linux-${machine}`;
  const unpack = (): string => {
    run("tar", "-xzf", join(pack("tar", "unpacked"), `${name}.tar.gz`));
    return join(folder, name);
  };

  it("has the module, its configuration, the license and the documents, with their checksums", () => {
    const top = unpack();
    expect(readdirSync(top)).toEqual(expect.arrayContaining(["redis-roar.so", "redis.conf", "LICENSE", "README.md", "docs", "SHA256SUMS"]));
    expect(readdirSync(join(top, "docs"))).toEqual(expect.arrayContaining(["commands.md", "operations.md"]));
    const listed = readFileSync(join(top, "SHA256SUMS"), "utf8").trim().split("\n").map((line) => line.slice(66));
    const packed = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1));
    expect([...listed, "SHA256SUMS"].sort()).toEqual(packed.sort());
    expect(run("sh", "-c", `cd ${name} && sha256sum -c SHA256SUMS`)).not.toMatch(/FAILED/);
    expect(readFileSync(join(top, "redis.conf"), "utf8")).toMatch(/^loadmodule \.\/redis-roar\.so$/m);
  });

  it("has documents whose links lead to files in the archive", () => expectLinksWork(unpack()));

  it("has a module without symbols, debug information and paths of the machine that built it", () => {
    const stripped = join(unpack(), "redis-roar.so");
    expect(run("readelf", "-SW", stripped)).not.toMatch(/\.symtab|\.debug_info/);
    expect(readFileSync(stripped).includes(projectRoot)).toBe(false);
    expect(readFileSync(builtModule).includes(projectRoot)).toBe(false);
  });
});

it("the Debian package has an executable module, as servers require, and a configuration that loads it", () => {
  const [file] = readdirSync(pack("deb", "package"));
  run("dpkg-deb", "-x", join(folder, "package", file!), "root");
  expect(run("dpkg-deb", "-f", join(folder, "package", file!), "Version").trim()).toBe(version);
  expect(run("dpkg-deb", "-f", join(folder, "package", file!), "Maintainer").trim()).toBe(author);
  expectLinksWork(join(folder, "root/usr/share/doc/redis-roar"));
  expect(run("stat", "-c", "%a", "root/usr/lib/redis/modules/redis-roar.so").trim()).toBe("755");
  expect(readFileSync(join(folder, "root/etc/redis/redis-roar.conf"), "utf8")).toMatch(/^loadmodule \/usr\/lib\/redis\/modules\/redis-roar\.so$/m);
});

it("the lists of components are the same each time, and name every package of the lock file, wasm2c and SIMDe", ({ skip }) => {
  const path = (process.env.PATH ?? "").split(":").filter((part) => !part.endsWith("node_modules/.bin")).join(":"); // npm of the system
  const env = { ...process.env, PATH: path, SOURCE_DATE_EPOCH: "1700000000" };
  if (Number.parseInt(execFileSync("npm", ["--version"], { encoding: "utf8", env })) < 10) skip("npm is older than 10");
  const write = (name: string): string => {
    execFileSync(join(projectRoot, "node_modules/.bin/tsx"), ["tools/sbom.ts", join(folder, name)], { cwd: projectRoot, env });
    return readFileSync(join(folder, name, `redis-roar-${version}.cdx.json`), "utf8");
  };
  const text = write("sbom-1");
  expect(write("sbom-2")).toBe(text);
  const { components, dependencies } = JSON.parse(text) as {
    components: { "bom-ref": string; name: string; version: string }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  const named = components.map((component) => `${component.name}@${component.version}`);
  const { packages } = JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8")) as {
    packages: Record<string, { name?: string; version: string; link?: boolean }>;
  };
  const locked = Object.entries(packages).filter(([place, { link }]) => place.includes("node_modules/") && !link)
    .map(([place, entry]) => `${entry.name ?? place.split("node_modules/").at(-1)}@${entry.version}`);
  expect(locked.length).toBeGreaterThan(100);
  expect(named).toEqual(expect.arrayContaining(locked));
  expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(["wasm2c", "simde"]));
  // As CycloneDX asks, a name stands for one component. The project is no component of itself, but has dependencies.
  const names = components.map((component) => component["bom-ref"]), refs = dependencies.map(({ ref }) => ref);
  expect(new Set(names).size).toBe(names.length);
  expect(refs.filter((ref) => !names.includes(ref))).toEqual([`redis-roar-module@${version}`]);
  expect(new Set(refs).size).toBe(names.length + 1);
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !names.includes(ref))).toEqual([]);
});

it("check-module names the symbols that need a newer glibc", () => {
  const { status, stderr } = spawnSync(join(projectRoot, "tools/check-module"), [builtModule, "2.0"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/needs GLIBC_2\.\d+(\.\d+)?, which is newer than 2\.0:\n\w+@GLIBC_/);
});
