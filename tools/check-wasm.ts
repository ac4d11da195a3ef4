// check-wasm <file.wasm>: the promises that the core's binary must keep.
//
// The core is stateless: an arena is all the memory it has, whichever arena the host puts in. So nothing in the binary
// may hold state or set it up (data, mutable globals, tables, a start function), and it may ask the outside world only
// for what assembly/env/memory.ts declares.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { outline } from "./wasm.ts";

/** The imports that assembly/env/memory.ts declares, as "module.name". */
export function declaredImports(source: string): Set<string> {
  return new Set(Array.from(source.matchAll(/@external\("(\w+)", "(\w+)"\)/g), (match) => `${match[1]}.${match[2]}`));
}

/** What is wrong with the binary, a line each; empty when it keeps every promise. */
export function violations(bytes: Uint8Array, declared: Set<string>): string[] {
  const wasm = outline(bytes), wrong: string[] = [];
  const refuse = (broken: boolean, text: string): void => { if (broken) wrong.push(text); };

  refuse(wasm.dataSegments > 0, `${wasm.dataSegments} data segments: no static arrays or strings in the core`);
  refuse(wasm.globals.some((global) => global.mutable), "a mutable global: the core has no state of its own");
  refuse(wasm.tables > 0 || wasm.elementSegments > 0, "a table or element segment: no function references in the core");
  refuse(wasm.start, "a start function: no top-level statements in the core");
  for (const { module, name } of wasm.imports) {
    refuse(!declared.has(`${module}.${name}`), `import ${module}.${name} is not declared in assembly/env/memory.ts`);
  }

  const memory = wasm.memories[0];
  refuse(wasm.memories.length !== 1 || !memory, `${wasm.memories.length} memories, not one`);
  refuse(memory?.shared === true, "the memory is shared");
  refuse(memory !== undefined && memory.min !== 0, `the memory starts with ${memory?.min} pages, not 0`);
  for (const { name, kind } of wasm.exports) {
    refuse(kind !== "function" && !(kind === "memory" && name === "memory"), `export ${name} is a ${kind}`);
  }
  return wrong;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const file = process.argv[2];
  if (!file) throw new Error("usage: check-wasm <file.wasm>");
  const declared = declaredImports(readFileSync(new URL("../assembly/env/memory.ts", import.meta.url), "utf8"));
  const wrong = violations(readFileSync(file), declared);
  for (const text of wrong) console.error(`${file}: ${text}`);
  if (wrong.length > 0) process.exit(1);
}
