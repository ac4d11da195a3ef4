// Limits of one node must not change what another one holds: what the primary accepted its replicas take, and what was accepted before a
// restart an AOF replays, however low their own limit is.

import { expect, it } from "vitest";
import { families } from "../support/family.ts";
import type { Server } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { inStep } from "../support/waiting.ts";

const MIB = 2 ** 20;
const LIMIT = "proto-max-bulk-len 1mb";

const replica = useServer({ listens: true, config: [LIMIT] });
const primary = useServer({ listens: true, config: [LIMIT, "appendonly yes", "aof-use-rdb-preamble no", "appendfsync always"] });

/** Writes, under a limit of 8 MB, every value that the lower limit would refuse. */
async function writeLong(server: Server): Promise<void> {
  await server.run("CONFIG", "SET", "proto-max-bulk-len", 8 * MIB);
  for (const { name } of families) {
    const at = 2 * MIB * 8 - 1;
    await server.run(`${name}.SETBIT`, `${name}:far`, at, 1);
    expect(await server.run(`${name}.TOBITMAP`, `${name}:string`, `${name}:far`)).toBe(2 * MIB);
    expect(await server.run(`${name}.TOBITMAP`, `${name}:string`, `${name}:far`)).toBe(2 * MIB);
    expect(await server.run(`${name}.SETBITARRAY`, `${name}:characters`, `${"0".repeat(2 * MIB)}1`)).toBe("OK");
    expect(await server.run(`${name}.FROMBITMAP`, `${name}:back`, `${name}:string`)).toBe(1);
    expect(await server.run("COPY", `${name}:far`, `${name}:itself`)).toBe(1);
    expect(await server.run(`${name}.TOBITMAP`, `${name}:itself`, `${name}:itself`)).toBe(2 * MIB);
  }
}

it("replicas and a replayed AOF hold what was accepted under a higher limit", async () => {
  await replica.run("REPLICAOF", "127.0.0.1", primary.port);
  await inStep(replica, primary);
  await writeLong(primary);
  const digest = await primary.run("DEBUG", "DIGEST");
  await inStep(replica, primary);
  expect(await replica.run("DEBUG", "DIGEST"), "replica").toBe(digest);
  await replica.run("REPLICAOF", "NO", "ONE");
  await primary.restart();
  expect(await primary.run("DEBUG", "DIGEST"), "after the restart").toBe(digest);
  for (const { name } of families) {
    expect(await primary.connection.refusal(`${name}.TOBITMAP`, "other", `${name}:far`)).toMatch(/^ERR Roaring: string too long/);
  }
}, 120_000);
