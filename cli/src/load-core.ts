// The core from the files of this package.

import { readFile } from "node:fs/promises";
import { Core, compileCore } from "./core/core.js";

const file = (name: string): Promise<Uint8Array<ArrayBuffer>> => readFile(new URL(`core/${name}`, import.meta.url));

export async function loadCore(): Promise<Core> {
  return new Core(await compileCore(await file("core.wasm"), await file("imports.wasm")));
}
