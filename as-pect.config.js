// Unit tests of the core: npx asp. A second module, assembly/__tests__/world/module.ts, implements the core's imports and shares the
// memory of the tested one. SEED=n repeats a run.
//
// as-pect.asconfig.json compiles plainly, with asserts; npm run test:unit:production uses the flags of the real build.

import { main as asc } from "assemblyscript/asc";

const WORLD = "assembly/__tests__/world/module.ts";
/** Size of that memory in pages of 64 KiB: the parts in assembly/__tests__/world/layout.ts and a heap for the tests. */
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

/** The world exports left_load8, the core imports { left: { load8 } }. */
function namespaces(exports) {
  const found = {};
  for (const [name, value] of Object.entries(exports)) {
    const [space, member] = name.split("_");
    if (member) (found[space] ??= {})[member] = value;
  }
  return found;
}

export default {
  entries: ["assembly/__tests__/**/*.spec.ts"],
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
