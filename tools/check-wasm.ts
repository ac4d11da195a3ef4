// check-wasm <file.wasm>: checks that the core's binary is stateless and imports only what it may.
//
// The host swaps the core's memory between calls, so an arena is all the state there is. The binary must therefore contain
// nothing that holds or sets up state: data segments, mutable globals, tables, a start function. It may import only what
// assembly/env/memory.ts declares.

import { readFileSync } from "node:fs";
import { outline } from "./wasm.ts";

/** The imports that assembly/env/memory.ts declares, as "module.name". */
function declaredImports(source: string): Set<string> {
  return new Set(Array.from(source.matchAll(/@external\("(\w+)", "(\w+)"\)/g), (match) => `${match[1]}.${match[2]}`));
}

/** One line for each rule that the binary breaks. */
function violations(file: string, declared: Set<string>): string[] {
  const { sections, imports } = outline(file), found: string[] = [];
  const refuse = (breaks: boolean, text: string): void => { if (breaks) found.push(text); };
  const memory = sections.get("Memory") ?? [];

  refuse(sections.has("Data"), "data segments: no static arrays or strings in the core");
  refuse(sections.get("Global")?.some((global) => global.includes("mutable=1")) === true, "a mutable global: the core has no state of its own");
  refuse(sections.has("Table") || sections.has("Elem"), "a table or element segment: no function references in the core");
  refuse(sections.has("Start"), "a start function: no top-level statements in the core");
  for (const name of imports) refuse(!declared.has(name), `import ${name} is not declared in assembly/env/memory.ts`);
  refuse(memory.length !== 1 || memory[0] !== "memory[0] pages: initial=0", `not one memory that starts with 0 pages: ${memory.join(", ")}`);
  for (const each of sections.get("Export") ?? []) refuse(!/^func|^memory\[0\] -> "memory"$/.test(each), `export ${each}`);
  return found;
}

const file = process.argv[2];
if (!file) throw new Error("usage: check-wasm <file.wasm>");
const broken = violations(file, declaredImports(readFileSync(new URL("../assembly/env/memory.ts", import.meta.url), "utf8")));
for (const text of broken) console.error(`${file}: ${text}`);
if (broken.length > 0) process.exit(1);
