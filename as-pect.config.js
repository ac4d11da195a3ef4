// Configures as-pect, which runs the unit tests of the core (npm run test:unit). assembly/__tests__/world/module.ts implements the
// core's imports in a second WebAssembly module that shares the memory of the tested one. SEED=n repeats a run; ONLY=read/query
// runs only read/query.spec.ts, and ONLY='container/*' runs all tests of containers.
//
// Each entry is compiled on its own, together with the core, which takes two seconds. So without ONLY there is a single entry,
// build/unit/all.spec.ts, which imports all tests.
//
// as-pect.asconfig.json compiles with asserts and debug information. as-pect.production.asconfig.json compiles without them, as the
// real build does (npm run test:unit:production).

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { main as asc } from "assemblyscript/asc";

const WORLD = "assembly/__tests__/world/module.ts";
/** Memory for the regions in assembly/__tests__/world/layout.ts and for the heap of the tests, in pages of 64 KiB. */
const PAGES = 8192;

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;

async function compileWorld() {
  let binary;
  const { error } = await asc(
    [WORLD, "--runtime", "stub", "--importMemory", "--initialMemory", String(PAGES), "--optimizeLevel", "3", "--enable", "simd",
      "--use", "abort=", "--outFile", "world.wasm"],
    { writeFile: (_name, contents) => { binary = contents; }, stderr: process.stderr });
  if (error) throw error;
  return WebAssembly.compile(binary);
}

const world = compileWorld();

const TESTS = "assembly/__tests__", ALL = "build/unit/all.spec.ts";

/** Writes the entry that imports all tests. Two runs at a time write the same. */
function writeAll() {
  const tests = readdirSync(TESTS, { recursive: true }).filter((name) => name.endsWith(".spec.ts")).sort();
  mkdirSync("build/unit", { recursive: true });
  writeFileSync(ALL, tests.map((name) => `import "../../${TESTS}/${name.replace(/\.ts$/, "")}";\n`).join(""));
  return ALL;
}

/** Turns the exports of the world, such as left_load8, into the imports of the core: { left: { load8 } }. */
function namespaces(exports) {
  const found = {};
  for (const [name, value] of Object.entries(exports)) {
    const [space, member] = name.split("_");
    if (member) (found[space] ??= {})[member] = value;
  }
  return found;
}

export default {
  entries: [process.env.ONLY ? `${TESTS}/${process.env.ONLY}.spec.ts` : writeAll()],
  include: [],
  disclude: [/node_modules/],
  async instantiate(_memory, createImports, instantiate, binary) {
    const memory = new WebAssembly.Memory({ initial: PAGES });
    const { exports } = await WebAssembly.instantiate(await world, { env: { memory } });
    const imports = namespaces(exports);
    imports.world.seed = () => seed;
    return instantiate(binary, createImports({ env: { memory } }, imports));
  },
  outputBinary: false,
};
