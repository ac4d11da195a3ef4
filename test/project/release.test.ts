// What `make release` and `make deb` pack, tried with the module of the ordinary build.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtModule, projectRoot } from "../support/server.ts";

const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
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
  expect(run("stat", "-c", "%a", "root/usr/lib/redis/modules/redis-roar.so").trim()).toBe("755");
  expect(readFileSync(join(folder, "root/etc/redis/redis-roar.conf"), "utf8")).toMatch(/^loadmodule \/usr\/lib\/redis\/modules\/redis-roar\.so$/m);
});

it("check-module names the symbols that need a newer glibc", () => {
  const { status, stderr } = spawnSync(join(projectRoot, "tools/check-module"), [builtModule, "2.0"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/needs GLIBC_2\.\d+(\.\d+)?, which is newer than 2\.0:\n\w+@GLIBC_/);
});
