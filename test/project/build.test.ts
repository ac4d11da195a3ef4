// Properties of the built files.

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { builtModule, projectRoot } from "../support/server.ts";

const wasm = readFileSync(join(projectRoot, "build/roaring.wasm"));

const SECTION_GLOBAL = 6;
const SECTION_START = 8;
const SECTION_DATA = 11;

/** The sections of a WebAssembly module, by number. */
function sections(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at++]!;
    const size = leb128(bytes, at);
    found.set(id, bytes.subarray(size.end, size.end + size.value));
    at = size.end + size.value;
  }
  return found;
}

function leb128(bytes: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value, end: at };
  }
}

describe("build/roaring.wasm", () => {
  const found = sections(wasm);

  it("has no data segment and no start function", () => {
    expect(leb128(found.get(SECTION_DATA) ?? Buffer.from([0]), 0).value).toBe(0);
    expect(found.has(SECTION_START)).toBe(false);
  });

  it("has no mutable global", () => {
    const globals = found.get(SECTION_GLOBAL) ?? Buffer.from([0]);
    const { value: count, end } = leb128(globals, 0);
    // Each global is a type byte, a mutability byte, and a constant expression that ends with 0x0b.
    let at = end;
    for (let i = 0; i < count; i++) {
      expect(globals[at + 1], `global ${i}`).toBe(0);
      at = globals.indexOf(0x0b, at + 2) + 1;
    }
    expect(at).toBe(globals.length);
  });

  it("imports nothing but the functions that assembly/env/memory.ts declares", () => {
    const readable = ["select", "size", "load8", "load16", "load32", "load64", "load128", "copy", "prefetch", "identity"];
    const world = {
      left: readable, right: readable, vector: ["compact", "lanesIn"], arena: ["size", "grow"], work: ["spend"],
      bits: ["set", "clear", "flip", "list", "listsAtOnce"], bytes: ["increment", "atLeast"],
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
    const lists = readFileSync(join(projectRoot, "assembly/index.ts"), "utf8").matchAll(/^export \{ (.*) \}/gm);
    const listed = [...lists].flatMap(([, names]) => names!.split(", "));
    expect(listed).toContain("combine");
    expect(exports.sort()).toEqual(["memory", ...listed].sort());
  });
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
  // With the flags of the module, which make every warning an error. Some of gcc's warnings need the optimizer. The core is large, and gets
  // little of it.
  it("compiles the host, and both builds of the core for one CPU level, without warnings", { timeout: 300_000 }, ({ skip }) => {
    if (spawnSync("which", ["gcc"]).status !== 0) skip("gcc is not installed");
    const directory = "build/gcc", level = arch() === "x64" ? "v4" : "neon";
    mkdirSync(join(projectRoot, directory), { recursive: true });
    for (const name of ["roaring.wasm", "roaring.c", "roaring.h", "core-roaring.c", "core.h", "facts.h", "commands.c"]) {
      const [from, to] = [join(projectRoot, "build", name), join(projectRoot, directory, name)];
      copyFileSync(from, to);                       // up to date as in build/, so that make does not generate it again
      utimesSync(to, statSync(from).atime, statSync(from).mtime);
    }
    const host = readdirSync(join(projectRoot, "host"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".c") && name !== "core/core.c").map((name) => name.slice(0, -2));
    const objects = [...host, "commands", `core/core-${level}`, `core/threads-core-${level}`].map((name) => `${directory}/${name}.o`);
    execFileSync("make", ["--no-print-directory", "CC=gcc", "CORE_CFLAGS=-O1", `O=${directory}`, `LEVELS=${level}`, ...objects], { cwd: projectRoot, stdio: "pipe" });
  });
});

describe("generated documents", () => {
  it("docs/commands.md is up to date with the command table", () => {
    const generator = join(projectRoot, "tools/generate-commands.ts");
    expect(existsSync(join(projectRoot, "docs/commands.md"))).toBe(true);
    const run = join(projectRoot, "node_modules/.bin/tsx");
    execFileSync(run, [generator, "--check", "docs/commands.md"], { cwd: projectRoot, stdio: "pipe" });
  });
});
