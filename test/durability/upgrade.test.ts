// From an older build of the module to this one and back, by files and by replication under writes: nothing is lost.
//
//   ROAR_BEFORE   the older module; `make test-upgrade` builds it. Without it, these tests are skipped.

import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { families, type Member } from "../support/family.ts";
import { ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { builtModule, Server, type ServerOptions } from "../support/server.ts";
import { expectSamples, loadSamples } from "../support/stored.ts";
import { inStep, replicate, rewriteAof, stopReplicating, waitUntil } from "../support/waiting.ts";

const before = process.env.ROAR_BEFORE ?? "";
/** Whether the older build has integers for ids. */
const hasValues = before !== "" && readFileSync(before).includes("RI.MERGE");
const versions = { older: before, newer: builtModule };
type Version = keyof typeof versions;
const other = (version: Version): Version => (version === "older" ? "newer" : "older");

const started: Server[] = [];
async function start(options: ServerOptions): Promise<Server> {
  const server = await Server.start(options);
  started.push(server);
  return server;
}
afterAll(() => Promise.all(started.map((server) => server.stop())));

describe.skipIf(!before)("files", () => {
  it.each(["older", "newer"] as const)("that the %s build wrote are read by the other one: an RDB file", async (version) => {
    const server = await start({ module: versions[version] });
    await loadSamples(server, hasValues);
    await server.run("SAVE");
    await server.restart({ module: versions[other(version)] });
    await expectSamples(server, hasValues);
  });

  it.each([["older", "yes"], ["older", "no"], ["newer", "yes"], ["newer", "no"]] as const)(
    "that the %s build wrote are read by the other one: an AOF with aof-use-rdb-preamble %s, rewritten and appended to", async (version, preamble) => {
      const config = ["appendonly yes", "appendfsync always", "auto-aof-rewrite-percentage 0", `aof-use-rdb-preamble ${preamble}`];
      const server = await start({ module: versions[version], config });
      await loadSamples(server, hasValues);
      await rewriteAof(server);
      for (const family of families) await roarOn(server, family).run("SETBITS", `${family.name}:appended`, 1, 2, 70_000);
      await server.restart({ module: versions[other(version)], config });
      for (const family of families) expect(await roarOn(server, family).members(`${family.name}:appended`)).toEqual([1, 2, 70_000]);
      await server.run("DEL", ...families.map(({ name }) => `${name}:appended`));
      await expectSamples(server, hasValues);
    },
  );
});

/** Clients that write ascending offsets to whichever server accepts them. */
class Writers {
  readonly acknowledged: Set<Member>[] = families.map(() => new Set());
  readonly #servers: Server[];
  readonly #writing: Promise<unknown>;
  #over = false;

  constructor(servers: Server[]) {
    this.#servers = servers;
    this.#writing = Promise.all(families.map((_, i) => this.#write(i)));
  }

  async #write(i: number): Promise<void> {
    for (let offset = 0; !this.#over; offset += 3) {
      while (!(await this.#accepted(i, offset)) && !this.#over) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** A server that is not the primary, or just restarts, does not accept a write. Anything else that is refused is an error. */
  async #accepted(i: number, offset: number): Promise<boolean> {
    for (const server of this.#servers) {
      try {
        await server.run(`${families[i]!.name}.SETBIT`, `written:${i}`, offset, 1);
        this.acknowledged[i]!.add(offset);
        return true;
      } catch (error) {
        if (error instanceof ReplyError && !/^(READONLY|LOADING|MASTERDOWN)/.test(error.message)) throw error;
      }
    }
    return false;
  }

  get count(): number {
    return this.acknowledged.reduce((sum, { size }) => sum + size, 0);
  }

  more(members: number): Promise<void> {
    const goal = this.count + members;
    return waitUntil(async () => this.count > goal);
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#writing;
  }
}

describe.skipIf(!before).each([["older", "newer"], ["newer", "older"]] as const)("rolling from the %s build to the %s build", (from, to) => {
  // A primary that restarts must not forget a write that it has acknowledged.
  const config = ["appendonly yes", "appendfsync always"];
  const options = (version: Version): ServerOptions => ({ module: versions[version], listens: true, config });

  /** Restarts a server with the other build. */
  const replace = (server: Server): Promise<void> => server.restart(options(to));

  async function expectNothingLost(writers: Writers, servers: Server[]): Promise<void> {
    for (const server of servers) {
      for (const [i, family] of families.entries()) {
        const held = new Set(await roarOn(server, family).members(`written:${i}`));
        expect([...writers.acknowledged[i]!].filter((member) => !held.has(member))).toEqual([]);
      }
    }
    const keys = families.map((_, i) => `written:${i}`), [first, second] = servers;
    expect(await first!.run("DEBUG", "DIGEST-VALUE", ...keys)).toEqual(await second!.run("DEBUG", "DIGEST-VALUE", ...keys));
    for (const server of servers) {
      await stopReplicating(server);
      await server.run("DEL", ...keys);
      await expectSamples(server, hasValues);
    }
  }

  async function pair(): Promise<[Server, Server]> {
    const primary = await start(options(from)), replica = await start(options(from));
    await loadSamples(primary, hasValues);
    await replicate(replica, primary);
    await inStep(replica, primary);
    return [primary, replica];
  }

  it("the replica first, then a failover to it, then the old primary", async () => {
    const [primary, replica] = await pair(), writers = new Writers([primary, replica]);
    await writers.more(200);
    await replace(replica);
    await replicate(replica, primary);
    await waitUntil(async () => (await replica.info("master_link_status")) === "up");
    await writers.more(200);
    await primary.run("FAILOVER");
    await waitUntil(async () => (await replica.info("role")) === "master");
    await writers.more(200);
    await replace(primary);
    await replicate(primary, replica);
    await writers.more(200);
    await writers.stop();
    await inStep(primary, replica);
    await expectNothingLost(writers, [primary, replica]);
  });

  it("the primary first, then the replica", async () => {
    const [primary, replica] = await pair(), writers = new Writers([primary]);
    await writers.more(200);
    await replace(primary);
    await replicate(replica, primary); // it has another port now
    await waitUntil(async () => (await replica.info("master_link_status")) === "up");
    await writers.more(200);
    await replace(replica);
    await replicate(replica, primary);
    await writers.more(200);
    await writers.stop();
    await inStep(replica, primary);
    await expectNothingLost(writers, [primary, replica]);
  });
});
