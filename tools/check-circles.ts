// check-circles: finds files that import one another, directly or through others, in TypeScript and AssemblyScript. It reads only the
// import lines, by TypeScript's scanner, so AssemblyScript's decorators do not matter. Imports of types count, too: each
// file should depend only on files below it.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

const FOLDERS = ["assembly", "bench", "cli/src", "cli/wasm", "client/src", "examples", "host", "test", "tools"];

/** The file of the project that a file imports under this name; undefined for a package. */
function resolve(from: string, name: string): string | undefined {
  if (!name.startsWith(".")) return undefined;
  const path = join(dirname(from), name);
  const found = [path, `${path}.ts`, path.replace(/\.js$/, ".ts")].find((file) => /\.[jt]s$/.test(file) && existsSync(file));
  if (found === undefined) throw new Error(`${from}: cannot find ${name}`);
  return found;
}

const imports = new Map<string, string[]>();
const names = FOLDERS.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)));
for (const file of names.filter((name) => name.endsWith(".ts"))) {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, "utf8"), true, true);
  imports.set(file, importedFiles.map(({ fileName }) => resolve(file, fileName)).filter((path) => path !== undefined));
}

/** Files that no circle goes through, or whose circles have been printed. */
const done = new Set<string>();
let circles = 0;

/** Prints the circles among what `file` imports. `path` are the files that lead to it, each imported by the one before it. */
function search(file: string, path: string[]): void {
  if (path.includes(file)) {
    console.log([...path.slice(path.indexOf(file)), file].join(" -> "));
    circles++;
  } else if (!done.has(file)) {
    for (const next of imports.get(file) ?? []) search(next, [...path, file]);
    done.add(file);
  }
}

for (const file of imports.keys()) search(file, []);
if (circles > 0) process.exit(1);
