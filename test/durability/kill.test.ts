// Kills servers while clients write, and saves files while clients write. What is loaded afterwards must be the state of one moment,
// and must include every write that the server had acknowledged.
//
//   ROUNDS   how many times a server is killed (default 20)

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { families, type Family, range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { type Command, type Connection, ReplyError } from "../support/resp.ts";
import { Roar } from "../support/roar.ts";
import { Server } from "../support/server.ts";
import { expectEqual } from "../support/suite.ts";
import { isRewritten, waitUntil } from "../support/waiting.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 20);
const WRITERS = 4;
/** Members that a step adds. Over many steps they fill containers of several kinds. */
const WIDTH = 7;

/** Writes the members of step 0, 1, 2 ... to a key `first`, and after each step the same members to `second`. */
class Writer {
  readonly #family: Family;
  readonly #first: string;
  readonly #second: string;
  /** Number of steps sent, and of steps acknowledged. */
  sent = 0;
  acknowledged = 0;

  constructor(number: number) {
    this.#family = families[number % families.length]!;
    this.#first = `first:${number}`;
    this.#second = `second:${number}`;
  }

  #offset = (step: number): number => step * WIDTH * 3;

  #step(step: number): Command[] {
    const offsets = range(this.#offset(step), WIDTH);
    const write = (key: string): Command =>
      step % 3 === 0
        ? [`${this.#family.name}.SETRANGE`, key, offsets[0]!, offsets.at(-1)! + 1]
        : [`${this.#family.name}.${step % 3 === 1 ? "APPENDINTARRAY" : "SETBITS"}`, key, ...offsets];
    return [write(this.#first), write(this.#second)];
  }

  /** Writes until the connection breaks or `until` returns true. */
  async write(connection: Connection, random: Random, until = () => false): Promise<void> {
    while (!until()) {
      const steps = range(this.sent, 1 + random.below(8));
      this.sent += steps.length;
      const replies = await connection.pipeline(steps.flatMap((step) => this.#step(step))).catch(() => undefined);
      if (!replies) return;
      for (const reply of replies) if (reply instanceof ReplyError) throw reply;
      this.acknowledged = this.sent;
    }
  }

  /**
   * How many steps the server holds in both keys. Every step must be complete, and the second key at most one step behind the first:
   * the server may have been killed between the two writes of a step.
   */
  async held(connection: Connection): Promise<number> {
    const [first, second] = await Promise.all([this.#steps(connection, this.#first), this.#steps(connection, this.#second)]);
    expect([first, first - 1]).toContain(second);
    return second;
  }

  async #steps(connection: Connection, key: string): Promise<number> {
    const members = await new Roar(this.#family, () => connection).members(key);
    const steps = members.length / WIDTH;
    expectEqual(members, range(0, Math.ceil(steps)).flatMap((step) => range(this.#offset(step), WIDTH)));
    return steps;
  }

  /** Checks what the server holds and continues from there: with the step that only the first key may hold. */
  async resume(connection: Connection): Promise<void> {
    const held = await this.held(connection);
    expect(held).toBeGreaterThanOrEqual(this.acknowledged);
    expect(held).toBeLessThanOrEqual(this.sent);
    this.sent = held;
  }
}

const writers = (): Writer[] => range(0, WRITERS).map((number) => new Writer(number));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("kill -9 while clients write", () => {
  it.each(["yes", "no"])("loses no acknowledged write, aof-use-rdb-preamble %s", (preamble) =>
    seeded(async (random) => {
      const server = await Server.start({
        config: ["appendonly yes", "appendfsync always", `aof-use-rdb-preamble ${preamble}`, "auto-aof-rewrite-percentage 0"],
      });
      const all = writers();
      for (let round = 0; round < ROUNDS / 2; round++) {
        const connections = await Promise.all(all.map(() => server.connect()));
        const writing = all.map((writer, i) => writer.write(connections[i]!, random));
        if (round % 3 === 2) await server.run("BGREWRITEAOF"); // the kill may interrupt it at any point
        await pause(20 + random.below(60));
        await server.killAndRestart();
        await Promise.all(writing);
        for (const writer of all) await writer.resume(server.connection);
      }
      expect(Math.min(...all.map(({ acknowledged }) => acknowledged))).toBeGreaterThan(0);
      await server.stop();
    })(),
  );
});

describe("files written while clients write", () => {
  let server: Server;
  beforeAll(async () => {
    server = await Server.start({ config: ["appendonly yes", "appendfsync everysec"] });
  });
  afterAll(() => server.stop());

  interface Written {
    readonly all: Writer[];
    /** Steps of each writer that were acknowledged before the command, and those that were sent by the time of its reply. */
    readonly least: number[];
    readonly most: number[];
  }

  /** Runs writers while the server executes the background command `begin`, until `over` returns true. */
  async function during(random: Random, begin: string, over: () => Promise<boolean>): Promise<Written> {
    await server.run("FLUSHALL", "SYNC");
    const all = writers();
    let stopped = false;
    const connections = await Promise.all(all.map(() => server.connect()));
    const writing = Promise.all(all.map((writer, i) => writer.write(connections[i]!, random, () => stopped)));
    await pause(50);
    const least = all.map(({ acknowledged }) => acknowledged);
    await server.run(begin);
    const most = all.map(({ sent }) => sent);
    await waitUntil(over);
    await pause(20);
    stopped = true;
    await writing;
    return { all, least, most };
  }

  it("BGSAVE: the file holds the state of one moment", seeded(async (random) => {
    const { all, least, most } = await during(random, "BGSAVE", async () => (await server.info("rdb_bgsave_in_progress")) === "0");
    expect(await server.info("rdb_last_bgsave_status")).toBe("ok");
    const other = new Server();
    copyFileSync(join(server.directory, "dump.rdb"), join(other.directory, "dump.rdb"));
    await other.start();
    for (const [i, writer] of all.entries()) {
      const held = await writer.held(other.connection);
      expect(held).toBeGreaterThanOrEqual(least[i]!);
      expect(held).toBeLessThanOrEqual(most[i]!);
      expect(writer.acknowledged).toBeGreaterThan(held); // they kept writing
    }
    await other.stop();
  }));

  it("BGREWRITEAOF: the files hold every acknowledged write", seeded(async (random) => {
    const { all, least } = await during(random, "BGREWRITEAOF", () => isRewritten(server));
    expect(await server.info("aof_last_bgrewrite_status")).toBe("ok");
    await server.restart();
    for (const [i, writer] of all.entries()) {
      expect(await writer.held(server.connection)).toBe(writer.acknowledged);
      expect(writer.acknowledged).toBeGreaterThan(least[i]!);
    }
  }));
});
