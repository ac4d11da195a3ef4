// The outline of a WebAssembly binary, as wasm-objdump of wabt prints it: everything but the code and the contents of data segments.

import { execFileSync } from "node:child_process";

export interface Signature {
  params: string[];
  results: string[];
}

export interface Outline {
  /** The lines of each section, without indentation: `Global` has `global[1] i32 mutable=0 - init i32=1`. */
  sections: Map<string, string[]>;
  /** As `module.name`; what is not a function has its kind in front, as in `memory env.memory`. */
  imports: string[];
  /** The functions among the exports. */
  exports: { name: string; signature: Signature }[];
}

const words = (list: string): string[] => (list === "nil" ? [] : list.split(", ").filter(Boolean));

/** The lines of a section, each of which must match. */
function parsed(sections: Outline["sections"], section: string, pattern: RegExp): string[][] {
  return (sections.get(section) ?? []).map((line) => {
    const found = pattern.exec(line);
    if (!found) throw new Error(`wasm-objdump: ${section}: ${line}`);
    return found.slice(1);
  });
}

export function outline(file: string): Outline {
  const sections: Outline["sections"] = new Map();
  let lines: string[] = [];
  const printed = execFileSync("node_modules/.bin/wasm-objdump", ["-x", file], { encoding: "utf8", maxBuffer: 2 ** 26 });
  for (const line of printed.split("\n")) {
    const [, section] = /^(\w+)(?:\[\d+\])?:$/.exec(line) ?? [];
    if (section) sections.set(section, lines = []);
    else if (line.startsWith(" - ")) lines.push(line.slice(3));
  }
  const types = parsed(sections, "Type", /^type\[\d+\] \((.*)\) -> (.*)$/)
    .map(([params, results]): Signature => ({ params: words(params!), results: words(results!) }));
  const imports = parsed(sections, "Import", /^(\w+)\[\d+\].* <- (.+\..+)$/).map(([kind, name]) => (kind === "func" ? name! : `${kind} ${name}`));
  const functions = [...sections.get("Import") ?? [], ...sections.get("Function") ?? []].map((line) => /^func\[(\d+)\] sig=(\d+) /.exec(line));
  const signatures = new Map(functions.filter((found) => found !== null).map(([, index, type]) => [index, types[Number(type)]!]));
  const exports = parsed(sections, "Export", /^(\w+)\[(\d+)\].* -> "(.*)"$/).filter(([kind]) => kind === "func")
    .map(([, index, name]) => ({ name: name!, signature: signatures.get(index)! }));
  return { sections, imports, exports };
}
