// The command-line tool as a process and within this one, and its core.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Core, compileCore } from "../../cli/src/core/core.ts";
import type { run } from "../../cli/src/program.ts";
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

/** Runs the tool as a process until it ends. Its output is not a terminal. */
export function tool(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [toolFile, ...args], { env: { ...plainEnv, ...env }, maxBuffer: 2 ** 28 }, (error, out, errors) => {
      resolve({ status: error ? Number(error.code ?? 1) : 0, out, error: errors });
    });
  });
}

let program: Promise<{ run: typeof run }> | undefined;
async function runHere(args: readonly string[]): Promise<number> {
  if (!program) {
    // The tool decides on colors when it is loaded.
    const { FORCE_COLOR } = process.env;
    delete process.env.FORCE_COLOR;
    program = import(pathToFileURL(join(projectRoot, "cli/dist/program.js")).href) as Promise<{ run: typeof run }>;
    await program;
    if (FORCE_COLOR !== undefined) process.env.FORCE_COLOR = FORCE_COLOR;
  }
  return (await program).run(args);
}

/**
 * Runs the tool in this process, one run at a time: a process of its own takes longer to start than most runs take. It reads no standard
 * input.
 */
export async function toolHere(...args: string[]): Promise<Ended> {
  const { log, error } = console, written = { out: "", error: "" }, streams = { out: process.stdout, error: process.stderr };
  const writes = { out: streams.out.write, error: streams.error.write }, decoder = new TextDecoder();
  for (const name of ["out", "error"] as const) {
    streams[name].write = (part: string | Uint8Array): boolean => {
      written[name] += typeof part === "string" ? part : decoder.decode(part);
      return true;
    };
  }
  console.log = (text: string): void => { written.out += `${text}\n`; };
  console.error = (text: string): void => { written.error += `${text}\n`; };
  try {
    return { status: await runHere(args), ...written };
  } finally {
    Object.assign(console, { log, error });
    for (const name of ["out", "error"] as const) streams[name].write = writes[name];
    process.exitCode = undefined;
  }
}

/** The same with the options that name a server. */
export const toolOn = (server: Server, ...args: string[]): Promise<Ended> => toolHere(...args, "-s", server.socket);

/** Runs the tool as a process with text as its standard input. */
export const toolFed = (server: Server, input: string, ...args: string[]): Promise<Ended> => new Promise((resolve) => {
  const child = execFile(process.execPath, [toolFile, ...args, "-s", server.socket], (error, out, errors) =>
    resolve({ status: error ? Number(error.code ?? 1) : 0, out, error: errors }));
  child.stdin!.end(input);
});
