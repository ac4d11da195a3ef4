// The core from the files of this package.

import { readFile } from "node:fs/promises";
import { Core, compileCore } from "./core/core.js";

const file = (name: string): Promise<Uint8Array<ArrayBuffer>> => readFile(new URL(`core/${name}`, import.meta.url));

export async function loadCore(): Promise<Core> {
  return new Core(await compileCore(await file("core.wasm"), await file("imports.wasm")));
}

/** What can be wrong with a payload, by the numbers that the core gives, with the texts that a server has for it. */
export async function loadFaults(): Promise<{ name: string; text: string }[]> {
  return JSON.parse(Buffer.from(await file("faults.json")).toString()) as { name: string; text: string }[];
}
