// The command-line tool as a process, and its core.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Core, compileCore } from "../../cli/src/core/core.ts";
import { projectRoot, type Server } from "./server.ts";

export const toolFile = join(projectRoot, "cli/dist/main.js");

/** The core that `make cli` has built. */
export async function loadCore(): Promise<Core> {
  const file = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(projectRoot, "cli/dist/core", name)));
  return new Core(await compileCore(file("core.wasm"), file("imports.wasm")));
}

export interface Ended {
  status: number;
  out: string;
  error: string;
}

/** The environment without vitest's wish for colors. */
const plainEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== "FORCE_COLOR"));

/** Runs the tool until it ends. Its output is not a terminal. */
export function tool(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [toolFile, ...args], { env: { ...plainEnv, ...env }, maxBuffer: 2 ** 28 }, (error, out, errors) => {
      resolve({ status: error ? Number(error.code ?? 1) : 0, out, error: errors });
    });
  });
}

/** The same with the options that name a server. */
export const toolOn = (server: Server, ...args: string[]): Promise<Ended> => tool([...args, "-s", server.socket]);
