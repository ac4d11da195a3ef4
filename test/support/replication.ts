// What tests of replicas wait for.

import type { Server } from "./server.ts";

export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const offset = async (server: Server): Promise<number> => Number(await server.info("master_repl_offset"));

/** Waits until the replica has all that the primary has. */
export const inStep = (replica: Server, primary: Server): Promise<void> =>
  waitUntil(async () => (await replica.info("master_link_status")) === "up" && (await offset(replica)) === (await offset(primary)));

/** DEBUG DIGEST-VALUE of each key. */
export async function digests(server: Server): Promise<Map<string, string>> {
  const keys = ((await server.run("KEYS", "*")) as string[]).sort();
  const values = keys.length > 0 ? ((await server.run("DEBUG", "DIGEST-VALUE", ...keys)) as string[]) : [];
  return new Map(keys.map((key, i) => [key, values[i]!]));
}
