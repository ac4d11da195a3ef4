// Replicas and AOF rewrites, and waiting for them or for any other condition.

import { expect } from "vitest";
import type { Server } from "./server.ts";

export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const offset = (server: Server): Promise<number> => server.number("master_repl_offset");

/** Makes a server a replica of one, or of what a proxy passes on. */
export async function replicate(replica: Server, { port }: { readonly port: number }): Promise<void> {
  await replica.run("REPLICAOF", "127.0.0.1", port);
}

/** Makes a replica a server of its own, with the data that it has. */
export async function stopReplicating(replica: Server): Promise<void> {
  await replica.run("REPLICAOF", "NO", "ONE");
}

/** Waits until the replica has received everything from the primary. */
export const inStep = (replica: Server, primary: Server): Promise<void> =>
  waitUntil(async () => (await replica.info("master_link_status")) === "up" && (await offset(replica)) === (await offset(primary)));

/** Whether no AOF rewrite is running or scheduled. */
export const isRewritten = async (server: Server): Promise<boolean> =>
  (await server.info("aof_rewrite_in_progress")) === "0" && (await server.info("aof_rewrite_scheduled")) === "0";

/** Rewrites the AOF, which must succeed. */
export async function rewriteAof(server: Server): Promise<void> {
  await server.run("BGREWRITEAOF");
  await waitUntil(() => isRewritten(server));
  expect(await server.info("aof_last_bgrewrite_status")).toBe("ok");
}
