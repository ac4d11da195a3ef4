// Servers with the test build of the module. It has two more commands: ROAR.TRAP makes the core leave its sandbox, and ROAR.LIMIT keeps
// bitmaps from growing beyond a number of bytes.

import { existsSync } from "node:fs";
import { afterEach, beforeAll, expect } from "vitest";
import { R } from "./family.ts";
import type { Argument } from "./resp.ts";
import type { Roar } from "./roar.ts";
import { built, type Server, type ServerOptions, withDebug } from "./server.ts";
import { useServer } from "./suite.ts";

const trapModule = built("redis-roar-trap.so");
export const OOM = "OOM Roaring: not enough memory for the bitmap";
/** The argument of ROAR.LIMIT that ends a limit. */
export const UNLIMITED = Number(R.last);

/** Like useServer, with the test build. */
export function useTrapServer(options: ServerOptions = {}): Server {
  beforeAll(() => {
    if (!existsSync(trapModule)) throw new Error(`${trapModule} is missing: make trap`);
  });
  return useServer({ module: trapModule, ...options });
}

/** Like useTrapServer, with R.DEBUG, and without a limit at the end of each test. */
export function useScarceServer(...moduleArguments: readonly (string | number)[]): Server {
  const server = useTrapServer({ moduleArguments: [...withDebug, ...moduleArguments.map(String)] });
  afterEach(() => server.run("ROAR.LIMIT", UNLIMITED));
  return server;
}

/** Runs a command while no bitmap may take more bytes. Returns whether it was refused, for which OOM is the only reason it may give. */
export async function isRefused(roar: Roar, bytes: number, command: string, args: readonly Argument[]): Promise<boolean> {
  await roar.connection.run("ROAR.LIMIT", bytes);
  const error = await roar.run(command, ...args).then(() => undefined, ({ message }: Error) => message);
  await roar.connection.run("ROAR.LIMIT", UNLIMITED);
  if (error !== undefined) expect(error, command).toBe(OOM);
  return error !== undefined;
}
