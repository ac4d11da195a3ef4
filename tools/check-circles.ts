// check-circles: finds files that depend on one another, be it by way of others, in TypeScript, AssemblyScript and C.
//
// In TypeScript it reads only the import lines, by TypeScript's scanner, so AssemblyScript's decorators do not matter. Types count, too:
// whoever reads a file should meet only files below it.
//
// In C, x.c and x.h are one unit, and units depend on the units whose headers they include. That shows who depends on whom because a
// header declares only what the .c file of its name defines, which is checked as well. The rooms of host/ must not form circles either;
// they are printed, the lowest first.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ts from "typescript";

const FOLDERS = ["assembly", "bench", "cli/src", "cli/wasm", "client/src", "examples", "host", "test", "tools"];

const read = (file: string): string => readFileSync(file, "utf8");
const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

/** What each file, unit or room depends on. */
type Graph = Map<string, Set<string>>;

let failures = 0;

function fail(text: string): void {
  console.log(text);
  failures++;
}

/** Prints the circles of a graph, and returns its nodes, each after those that it depends on. */
function order(graph: Graph): string[] {
  const done = new Set<string>();
  /** `path` are the nodes that lead to this one, each dependent on the next. */
  const search = (node: string, path: string[]): void => {
    if (path.includes(node)) fail([...path.slice(path.indexOf(node)), node].join(" -> "));
    else if (!done.has(node)) {
      for (const next of graph.get(node) ?? []) search(next, [...path, node]);
      done.add(node);
    }
  };
  for (const node of graph.keys()) search(node, []);
  return [...done];
}

// --- TypeScript and AssemblyScript ------------------------------------------------------------------------------------------

/** The file of the project that a file imports under this name; undefined for a package. */
function resolve(from: string, name: string): string | undefined {
  if (!name.startsWith(".")) return undefined;
  const path = join(dirname(from), name);
  const found = [path, `${path}.ts`, path.replace(/\.js$/, ".ts")].find((file) => /\.[jt]s$/.test(file) && existsSync(file));
  if (found === undefined) throw new Error(`${from}: cannot find ${name}`);
  return found;
}

const imports: Graph = new Map(FOLDERS.flatMap(filesIn).filter((name) => name.endsWith(".ts")).map((file) => {
  const { importedFiles } = ts.preProcessFile(read(file), true, true);
  return [file, new Set(importedFiles.map(({ fileName }) => resolve(file, fileName)).filter((path) => path !== undefined))];
}));
order(imports);

// --- C ----------------------------------------------------------------------------------------------------------------------

/**
 * Declared by what the build generates: core.h by tools/generate-core.ts, facts.h by tools/generate-facts.ts,
 * shuffles.h by tools/generate-shuffles.ts, settings.h by tools/generate-settings.ts, family-rows.h by tools/generate-families.ts,
 * texts.h by tools/generate-texts.ts, handlers.h and commands.c by tools/generate-commands.ts.
 */
const GENERATED = /^(core|core-roaring|facts|family-rows|handlers|shuffles|settings|texts)\.[ch]$/;

const unitOf = (file: string): string => file.replace(/\.[ch]$/, "");
const roomOf = (file: string): string => dirname(file);

const sources = filesIn("host").filter((name) => /\.[ch]$/.test(name));
const units: Graph = new Map(), rooms: Graph = new Map();
for (const file of sources) {
  const depends = units.get(unitOf(file)) ?? new Set(), below = rooms.get(roomOf(file)) ?? new Set();
  for (const [, name] of read(file).matchAll(/^#include "([^"]+)"/gm)) {
    if (GENERATED.test(name!)) continue;
    const path = join("host", name!);
    if (!existsSync(path)) fail(`${file}: cannot find ${name}; paths begin in host/`);
    if (unitOf(path) !== unitOf(file)) depends.add(unitOf(path));
    if (roomOf(path) !== roomOf(file)) below.add(roomOf(path));
  }
  units.set(unitOf(file), depends);
  rooms.set(roomOf(file), below);
}
order(units);
const lowestFirst = order(rooms);

/** Functions and variables that a header declares without defining them. */
function declared(header: string): string[] {
  const text = read(header).replace(/\/\*[^]*?\*\//g, "").replace(/^#.*(?:\\\n.*)*$/gm, "");
  const functions = [...text.matchAll(/^(?!static|typedef|struct \w+ \{|#| |\})[\w *]*?(?:__attribute__\(\(.*?\)\) )?[\w ]+?[ *](\w+)\([^;{}]*\)(?: __attribute__\(\(.*\)\))?;/gm)];
  const variables = [...text.matchAll(/^extern [^(;]*?(\w+)(?:\[\w*\])?;/gm)];
  return [...functions, ...variables].map(([, name]) => name!);
}

for (const header of sources.filter((name) => name.endsWith(".h") && basename(name) !== "redismodule.h")) {
  const unit = `${unitOf(header)}.c`;
  const names = declared(header), body = existsSync(unit) ? read(unit) : "";
  for (const name of names) {
    if (!new RegExp(`^\\w[^;]*\\b${name}\\b`, "m").test(body)) fail(`${header}: declares ${name}, which ${unit} does not define`);
  }
}

if (failures > 0) process.exit(1);
console.log(`rooms, the lowest first: ${lowestFirst.join(", ")}`);
