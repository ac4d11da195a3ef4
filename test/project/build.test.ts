// Properties of the built files.

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { builtModule, projectRoot } from "../support/server.ts";

const wasm = readFileSync(join(projectRoot, "build/roaring.wasm"));

describe("build/roaring.wasm", () => {
  it("imports nothing but the functions that assembly/env/memory.ts declares", () => {
    const readable = ["select", "size", "load8", "load16", "load32", "load64", "load128", "copy", "spread", "prefetch", "identity"];
    const world = {
      left: readable, right: readable, vector: ["compact", "lanesIn", "spread", "width"], arena: ["size", "grow", "cut", "most", "close"], work: ["spend"],
      bits: ["set", "clear", "flip"], bytes: ["increment", "atLeast", "gather", "meet", "combine"],
      segments: ["are", "seek", "near", "next", "at", "show", "seekRank", "before", "members", "view", "change", "renew", "leave", "remove", "note"],
      argument: ["value", "put", "handBack", "defer", "deferred"], reply: ["member", "lanes"],
      output: ["write", "fill", "put", "put128", "mark"],
    };
    const known = Object.entries(world).flatMap(([module, names]) => names.map((name) => `function ${module}.${name}`));
    const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map(({ kind, module, name }) => `${kind} ${module}.${name}`);
    expect(imports).toContain("function arena.grow");
    expect(known).toEqual(expect.arrayContaining(imports));
  });

  it("exports its memory and the functions in assembly/index.ts, and nothing else", () => {
    const exports = WebAssembly.Module.exports(new WebAssembly.Module(wasm)).map(({ name }) => name);
    const lists = readFileSync(join(projectRoot, "assembly/index.ts"), "utf8").matchAll(/^export \{([^}]*)\}/gm);
    const listed = [...lists].flatMap(([, names]) => names!.split(",").map((name) => name.trim().split(" as ").at(-1)!).filter(Boolean));
    expect(listed).toContain("combine");
    expect(exports.sort()).toEqual(["memory", ...listed].sort());
  });
});

describe("tools/check-wasm.ts", () => {
  const directory = join(projectRoot, "build/check-wasm"), file = join(directory, "module.wasm"), bin = join(projectRoot, "node_modules/.bin");
  const check = (module: string): string => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${file}.wat`, `(module ${module} (func (export "f")))`);
    execFileSync(join(bin, "wat2wasm"), ["--enable-threads", `${file}.wat`, "-o", file]);
    const { status, stderr } = spawnSync(join(bin, "tsx"), ["tools/check-wasm.ts", file], { cwd: projectRoot, encoding: "utf8" });
    expect(status).toBe(stderr ? 1 : 0);
    return stderr;
  };
  const MEMORY = "(memory (export \"memory\") 0)";

  it("accepts functions and one memory", () => expect(check(MEMORY)).toBe(""));

  it.each([
    ["data", `${MEMORY} (data (i32.const 0) "x")`, "data segments"],
    ["state", `${MEMORY} (global (mut i32) (i32.const 1))`, "a mutable global"],
    ["a table", `${MEMORY} (table 1 funcref)`, "a table"],
    ["a start function", `${MEMORY} (func $start) (start $start)`, "a start function"],
    ["an unknown import", `(import "env" "abort" (func)) ${MEMORY}`, "import env.abort is not declared"],
    ["a memory that has pages", "(memory 1)", "not one memory"],
    ["a shared memory", "(memory 0 1 shared)", "not one memory"],
    ["no memory", "", "not one memory"],
    ["an exported global", `${MEMORY} (global (export "g") i32 (i32.const 1))`, "export global"],
  ])("refuses %s", (_, module, reason) => expect(check(module)).toContain(reason));
});

describe("build/redis-roar.so", () => {
  const read = (...args: string[]): string => execFileSync(args[0]!, [...args.slice(1), builtModule], { encoding: "utf8" });

  it("exports only RedisModule_OnLoad", () => {
    const names = read("nm", "-D", "--defined-only").trim().split("\n").map((line) => line.split(" ").at(-1));
    expect(names).toEqual(["RedisModule_OnLoad"]);
  });

  it("links only libc and libm, and has no library search path", () => {
    const dynamic = read("readelf", "-d");
    const needed = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => name!);
    expect(needed).toContain("libc.so.6");
    for (const name of needed) expect(name).toMatch(/^lib[cm]\.so\.6$/);
    expect(dynamic).not.toMatch(/R(UN)?PATH/);
  });

  it("has no executable stack and no writable code", () => {
    const segments = read("readelf", "-lW");
    expect(segments).toMatch(/GNU_STACK.* RW /);
    expect(segments).not.toMatch(/LOAD.* RWE /);
  });
});

/** What handlers run on worker threads shares no variables: all state is the worker's. */
describe("the objects of what threads run", () => {
  const folders = ["commands", "server", "threads"].map((name) => `build/${name}`);
  const calls = ["reading", "building", "operands", "workspace"].map((name) => `build/core/${name}.o`);
  /** These have state of the main thread, behind locks, or of the whole server. */
  const stateful = ["config", "families", "saving", "types", "server/names", "costs", "offload", "pool"];
  const objects = folders.flatMap((folder) => readdirSync(join(projectRoot, folder)).map((name) => `${folder}/${name}`))
    .filter((name) => name.endsWith(".o") && !stateful.some((one) => name.endsWith(`/${one}.o`)));

  it.each([...objects, ...calls])("%s has no variables", (object) => {
    const symbols = execFileSync("objdump", ["-t", join(projectRoot, object)], { encoding: "utf8" });
    const variables = symbols.split("\n").filter((line) => /\s\.(bss|data)\s/.test(line) && !/\s\.(bss|data)$/.test(line));
    expect(variables).toEqual([]);
  });
});

describe.each(["gcc", "musl-gcc"])("a program that %s has compiled", (compiler) => {
  it("loads the module and runs its entry point", ({ skip }) => {
    if (spawnSync("which", [compiler]).status !== 0) skip(`${compiler} is not installed`);
    const program = join(projectRoot, "build", `load-${compiler}`);
    execFileSync(compiler, ["-o", program, join(projectRoot, "test/support/load.c"), "-ldl"]);
    expect(readFileSync(program, "latin1")).toMatch(compiler === "gcc" ? /\/ld-linux/ : /\/ld-musl/); // its interpreter
    const { status, stderr } = spawnSync(program, [builtModule], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("gcc", () => {
  // With the flags of the module, which make every warning an error. Some of gcc's warnings need the optimizer. The core is large, has no
  // warnings, and does without.
  it("compiles the host, and both builds of the core for one CPU level, without warnings", { timeout: 300_000 }, ({ skip }) => {
    if (spawnSync("which", ["gcc"]).status !== 0) skip("gcc is not installed");
    const directory = "build/gcc", level = arch() === "x64" ? "v4" : "neon";
    mkdirSync(join(projectRoot, directory), { recursive: true });
    for (const name of ["roaring.wasm", "roaring.c", "roaring.h", "core-roaring.c", "core.h", "facts.h", "family-rows.h", "settings.h", "texts.h", "handlers.h", "commands.c"]) {
      const [from, to] = [join(projectRoot, "build", name), join(projectRoot, directory, name)];
      copyFileSync(from, to);                       // up to date as in build/, so that make does not generate it again
      utimesSync(to, statSync(from).atime, statSync(from).mtime);
    }
    const host = readdirSync(join(projectRoot, "host"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".c") && name !== "core/core.c").map((name) => name.slice(0, -2));
    const objects = [...host, "commands", `core/core-${level}`, `core/threads-core-${level}`].map((name) => `${directory}/${name}.o`);
    execFileSync("make", ["--no-print-directory", "CC=gcc", "CORE_CFLAGS=-O0 -g0", `O=${directory}`, `LEVELS=${level}`, ...objects], { cwd: projectRoot, stdio: "pipe" });
  });
});

describe("generated documents", () => {
  it("docs/commands.md is up to date with the command table", () => {
    const generator = join(projectRoot, "tools/generate-commands.ts");
    expect(existsSync(join(projectRoot, "docs/commands.md"))).toBe(true);
    const run = join(projectRoot, "node_modules/.bin/tsx");
    execFileSync(run, [generator, "--check", "docs/commands.md"], { cwd: projectRoot, stdio: "pipe" });
    execFileSync(run, [generator, "--check", "docs/integers.md"], { cwd: projectRoot, stdio: "pipe" });
    execFileSync(run, [generator, "--check", "docs/names.md"], { cwd: projectRoot, stdio: "pipe" });
  });
});
