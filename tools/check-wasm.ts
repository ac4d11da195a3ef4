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
function violations(bytes: Uint8Array, declared: Set<string>): string[] {
  const wasm = outline(bytes), found: string[] = [];
  const refuse = (breaks: boolean, text: string): void => { if (breaks) found.push(text); };

  refuse(wasm.dataSegments > 0, `${wasm.dataSegments} data segments: no static arrays or strings in the core`);
  refuse(wasm.globals.some((global) => global.mutable), "a mutable global: the core has no state of its own");
  refuse(wasm.tables > 0 || wasm.elementSegments > 0, "a table or element segment: no function references in the core");
  refuse(wasm.start, "a start function: no top-level statements in the core");
  for (const { module, name } of wasm.imports) {
    refuse(!declared.has(`${module}.${name}`), `import ${module}.${name} is not declared in assembly/env/memory.ts`);
  }

  const memory = wasm.memories[0];
  refuse(wasm.memories.length !== 1 || !memory, `${wasm.memories.length} memories instead of one`);
  refuse(memory?.shared === true, "the memory is shared");
  refuse(memory !== undefined && memory.min !== 0, `the memory starts with ${memory?.min} pages instead of 0`);
  for (const { name, kind } of wasm.exports) {
    refuse(kind !== "function" && !(kind === "memory" && name === "memory"), `export ${name} is a ${kind}`);
  }
  return found;
}

const file = process.argv[2];
if (!file) throw new Error("usage: check-wasm <file.wasm>");
const declared = declaredImports(readFileSync(new URL("../assembly/env/memory.ts", import.meta.url), "utf8"));
const broken = violations(readFileSync(file), declared);
for (const text of broken) console.error(`${file}: ${text}`);
if (broken.length > 0) process.exit(1);
