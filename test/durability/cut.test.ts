// Files and links that end too soon: an error that says so, never a crash, and nothing half loaded.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { R } from "../support/family.ts";
import { Proxy } from "../support/proxy.ts";
import { inStep, waitUntil } from "../support/replication.ts";
import { roarOn } from "../support/roar.ts";
import { Server } from "../support/server.ts";
import { expectSamples, loadSamples } from "../support/stored.ts";
import { useServer } from "../support/suite.ts";

/** Places in a file or stream of that length: all over it, and near its ends. */
const cuts = (length: number): number[] => [40, 200, ...[1, 2, 3, 4, 5, 6].map((i) => Math.floor((length * i) / 7)), length - 20, length - 1];

describe("an RDB file cut midway", () => {
  it("is not loaded, and the log says that it is too short", async () => {
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
      await server.kill(); // it may have ended by itself; but 7.0's own check of the file, its last act, spins if a module's value is the last thing in it
      expect(await start, `${cut} of ${file.length} bytes`).toMatch(/^(redis-server died \(exit code 1\)|ended while it started|connection closed)/);
      expect(server.log()).not.toMatch(/BUG REPORT|Ready to accept/);
    }
    writeFileSync(path, file);
    await server.start();
    await expectSamples(server);
    await server.stop();
  });
});

describe.each(["swapdb", "on-empty-db", "disabled"])("a synchronisation without disk cut midway, repl-diskless-load %s", (load) => {
  const primary = useServer({ listens: true, config: ["repl-diskless-sync yes", "rdbcompression no"] });
  const replica = useServer({ listens: true, config: [`repl-diskless-load ${load}`] });
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await Proxy.to(primary.port);
  });
  afterAll(() => proxy.close());

  it("leaves the replica alive, and the next one brings all", async () => {
    const own = roarOn(replica, R);
    await loadSamples(primary);
    await primary.run("SAVE");
    const length = readFileSync(join(primary.directory, "dump.rdb")).length;
    for (const cut of cuts(length)) {
      await replica.run("REPLICAOF", "NO", "ONE");
      await replica.run("FLUSHALL");
      if (load !== "on-empty-db") await own.load("own", [1, 2, 3]);
      proxy.mend();
      const severed = proxy.severAfter(cut);
      await replica.run("REPLICAOF", "127.0.0.1", proxy.port);
      await severed;
      await waitUntil(async () => (await replica.info("loading")) === "0" && (await replica.info("async_loading")) === "0");
      expect(await replica.info("master_link_status")).toBe("down");
      if (load === "swapdb") expect(await own.members("own")).toEqual([1, 2, 3]); // it is kept until the new data is complete
    }
    proxy.mend();
    await inStep(replica, primary);
    await expectSamples(replica);
    expect(await replica.run("DEBUG", "DIGEST")).toBe(await primary.run("DEBUG", "DIGEST"));
    await replica.run("REPLICAOF", "NO", "ONE");
  });
});
