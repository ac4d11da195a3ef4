// RDB files and replication links that are cut short lead to an error that says so. Nothing crashes and no data is loaded partly.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { R } from "../support/family.ts";
import { Proxy } from "../support/proxy.ts";
import { inStep, replicate, stopReplicating, waitUntil } from "../support/waiting.ts";
import { roarOn } from "../support/roar.ts";
import { Server } from "../support/server.ts";
import { expectSamples, loadSamples } from "../support/stored.ts";
import { useServer } from "../support/suite.ts";

/** Lengths to cut a file or stream to: throughout it, and near both ends. */
const cuts = (length: number): number[] =>
  [40, 200, ...[1, 2, 3, 4, 5, 6].map((i) => Math.floor((length * i) / 7)), length - 20, length - 1];

describe("a truncated RDB file", () => {
  it("is not loaded, and the log reports a short read", async () => {
    const server = await Server.start({ config: ["rdbcompression no"] });
    await loadSamples(server);
    await server.run("SAVE");
    const path = join(server.directory, "dump.rdb");
    const file = readFileSync(path);
    await server.kill();
    for (const cut of cuts(file.length)) {
      writeFileSync(path, file.subarray(0, cut));
      writeFileSync(join(server.directory, "log"), "");
      const start = server.start().then(() => "started", (error: Error) => error.message);
      await waitUntil(async () => /Short read|Unexpected EOF/.test(server.log()));
      // It may have ended by itself. But before it exits, Redis 7.0 checks the file and loops forever if a module's value comes last.
      await server.kill();
      const outcomes = /^(redis-server died \(exit code 1\)|ended while it started|connection closed)/;
      expect(await start, `${cut} of ${file.length} bytes`).toMatch(outcomes);
      expect(server.log()).not.toMatch(/BUG REPORT|Ready to accept/);
    }
    writeFileSync(path, file);
    await server.start();
    await expectSamples(server);
    await server.stop();
  });
});

describe.each(["swapdb", "on-empty-db", "disabled"])("an interrupted diskless synchronization, repl-diskless-load %s", (load) => {
  const primary = useServer({ listens: true, config: ["repl-diskless-sync yes", "rdbcompression no"] });
  const replica = useServer({ listens: true, config: [`repl-diskless-load ${load}`] });
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await Proxy.to(primary.port);
  });
  afterAll(() => proxy.close());

  it("leaves the replica running, and the next synchronization completes", async () => {
    const own = roarOn(replica, R);
    await loadSamples(primary);
    await primary.run("SAVE");
    const length = readFileSync(join(primary.directory, "dump.rdb")).length;
    for (const cut of cuts(length)) {
      await stopReplicating(replica);
      await replica.run("FLUSHALL");
      if (load !== "on-empty-db") await own.load("own", [1, 2, 3]);
      proxy.mend();
      const severed = proxy.severAfter(cut);
      await replicate(replica, proxy);
      await severed;
      await waitUntil(async () => (await replica.info("loading")) === "0" && (await replica.info("async_loading")) === "0");
      expect(await replica.info("master_link_status")).toBe("down");
      if (load === "swapdb") expect(await own.members("own")).toEqual([1, 2, 3]); // the old data stays until the new is complete
    }
    proxy.mend();
    await inStep(replica, primary);
    await expectSamples(replica);
    expect(await replica.run("DEBUG", "DIGEST")).toBe(await primary.run("DEBUG", "DIGEST"));
    await stopReplicating(replica);
  });
});
