// A primary, its replica and a replica of that replica, while links break: in the end all three hold the same data.
//
//   SEED    repeats the commands (but not the moments at which links recover)
//   STEPS   how many commands (default 20000)

import { afterAll, beforeAll, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { Generator } from "../model/oracle/generate.ts";
import { families, range } from "../support/family.ts";
import { Proxy } from "../support/proxy.ts";
import { type Random, seeded } from "../support/random.ts";
import { type Command, ReplyError } from "../support/resp.ts";
import { type Server, withDebug } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { inStep, replicate, stopReplicating, waitUntil } from "../support/waiting.ts";

const STEPS = Number(process.env.STEPS ?? 20_000);
const BATCH = 500;
const BACKLOG = 1024 * 1024;

const options = { listens: true, config: [`repl-backlog-size ${BACKLOG}`, "repl-diskless-sync yes"] };
const primary = useServer(options);
/** Bitmaps that are one block on the others have segments here. Smaller ones would have other forms than bitmaps of one block. */
const replica = useServer({ ...options, moduleArguments: [...withDebug, "SEGMENT-BYTES", "32768"] });
const below = useServer(options);
let upper: Proxy, lower: Proxy;
beforeAll(async () => {
  upper = await Proxy.to(primary.port);
  lower = await Proxy.to(replica.port);
});
afterAll(() => {
  upper.close();
  lower.close();
});

const writes = commands.filter(({ flags }) => flags.includes("write")).map(({ name }) => name);

/**
 * Random writes of both families of bitmaps, of integers and of names, and sometimes a deletion. The generator has an empty world because
 * no reply is predicted.
 */
class Writes {
  readonly #random: Random;
  readonly #generator: Generator;

  constructor(random: Random) {
    this.#random = random;
    this.#generator = new Generator(random, new Map(), { containers: () => [0n, 1n, 2n, 3n, 0xffffn], mostAtOnce: 200, wide: 0.02 });
  }

  next(): Command[] {
    this.#generator.family = this.#random.pick(families);
    const name = this.#random.pick(writes);
    if (this.#random.chance(0.02)) return [["DEL", this.#generator.key()]];
    if (name !== "TOBITMAP") return [this.#generator.command(name)];
    // The greatest member determines the length of a native bitmap. For keys with any offset that would be half a gigabyte.
    const prefix = this.#generator.family.name, small = `${prefix}:small`;
    return [[`${prefix}.SETBITS`, small, this.#random.below(100_000)], [`${prefix}.TOBITMAP`, "string:0", small]];
  }

  /** A write of integers for ids, or of names. They are few, so that they come again, but enough for several segments. */
  other(): Command[] {
    const random = this.#random, some = (most: number): number[] => range(0, 1 + random.below(most));
    const integers = `integers:${random.below(3)}`, names = `names:${random.below(2)}`, name = (): string => `user-${random.below(20_000)}`;
    const id = (): number => random.below(random.chance(0.5) ? 5000 : 400_000), value = (): number => random.below(100_000) - 20_000;
    return [random.pick<() => Command>([
      () => ["RI.SET", integers, ...some(200).flatMap(() => [id(), value()])],
      () => ["RI.SET", integers, "GT", id(), value()],
      () => ["RI.INCRBY", integers, id(), value()],
      () => ["RI.DEL", integers, ...some(20).map(id)],
      () => ["RI.DELRANGE", integers, 0, random.below(2000)],
      () => ["RI.MERGE", "integers:merged", 2, "integers:0", "integers:1"],
      () => ["RI.OPTIMIZE", integers],
      () => ["RN.ADD", names, ...some(100).map(name)],
      () => ["RN.DEL", names, ...some(20).map(name)],
      () => ["RN.SETBITS", names, `R:${names}`, ...some(20).map(name)],
      () => ["DEL", random.pick([integers, names])],
    ])()];
  }

  batch(count: number): Command[] {
    return range(0, count).flatMap(() => (this.#random.chance(0.2) ? this.other() : this.next()));
  }
}

/** DEBUG DIGEST-VALUE of each key. */
async function digests(server: Server): Promise<Map<string, string>> {
  const keys = ((await server.run("KEYS", "*")) as string[]).sort();
  const values = keys.length > 0 ? ((await server.run("DEBUG", "DIGEST-VALUE", ...keys)) as string[]) : [];
  return new Map(keys.map((key, i) => [key, values[i]!]));
}

/** How many full and partial synchronizations this server has granted. */
const synchronizations = async (server: Server): Promise<{ full: number; partial: number }> => ({
  full: await server.number("sync_full"),
  partial: await server.number("sync_partial_ok"),
});

it("replicas equal the primary after partial and full resynchronization", seeded(async (random) => {
  await replicate(replica, upper);
  await replicate(below, lower);
  await inStep(replica, primary);
  await inStep(below, replica);

  const generator = new Writes(random);
  let good = 0, sent = 0;
  const write = async (count: number): Promise<void> => {
    for (const goal = sent + count; sent < goal;) {
      const batch = generator.batch(Math.min(goal - sent, BATCH));
      sent += batch.length;
      for (const reply of await primary.connection.pipeline(batch)) if (!(reply instanceof ReplyError)) good++;
    }
  };
  /** Breaks a link, and restores it once more has been written than the backlog holds. */
  const outgrow = async (link: Proxy): Promise<void> => {
    link.sever();
    const offset = () => primary.number("master_repl_offset");
    const begin = await offset();
    while ((await offset()) < begin + 2 * BACKLOG) await write(BATCH);
    link.mend();
  };
  const expectEqualData = async (): Promise<void> => {
    await inStep(replica, primary);
    await inStep(below, replica);
    expect(await digests(replica)).toEqual(await digests(primary));
    expect(await digests(below)).toEqual(await digests(primary));
  };

  await write(0.2 * STEPS);
  await expectEqualData();
  for (const [server, follower] of [[primary, replica], [replica, below]] as const) {
    const before = await synchronizations(server);
    await server.run("CLIENT", "KILL", "TYPE", "replica");
    await write(10);
    await expectEqualData();
    expect((await synchronizations(server)).partial, "partial").toBeGreaterThan(before.partial);
    await outgrow(server === primary ? upper : lower);
    await write(0.1 * STEPS);
    await waitUntil(async () => (await follower.info("master_link_status")) === "up");
    await write(0.1 * STEPS);
    await expectEqualData();
    expect((await synchronizations(server)).full, "full").toBeGreaterThan(before.full);
  }
  while (sent < STEPS) await write(0.1 * STEPS);
  await expectEqualData();
  expect(good).toBeGreaterThan(0.7 * sent);
  for (const server of [below, replica]) await stopReplicating(server);
}), 600_000);
