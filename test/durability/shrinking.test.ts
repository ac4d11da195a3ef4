// Bitmaps that lose nearly all of their members, and grow again. After each step the members are those of a Set and the bitmap is valid. A
// replica, an RDB file and a rewritten AOF then hold the same.
//
//   SEED      repeats a run
//   ROUNDS    how often a bitmap is filled and emptied (default 120, 40 on all but the best CPU level)
//   SECONDS   runs for that long instead, and prints how much was done

import { beforeEach, describe, expect, it } from "vitest";
import { families, type Family, range, sorted } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { type Argument, type Command, type Reply, ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectEqual, expectNoDamage, expectValid, useServer } from "../support/suite.ts";
import { OOM, UNLIMITED, useTrapServer } from "../support/trap.ts";
import { inStep, replicate, rewriteAof, stopReplicating } from "../support/waiting.ts";

const SECONDS = Number(process.env.SECONDS ?? 0);
const ROUNDS = SECONDS > 0 ? Infinity : Number(process.env.ROUNDS ?? (process.env.ROAR_BRIEF ? 40 : 120));
const CHECK_EVERY = 20;
const CONTAINER = 65_536;

/** The most bits of a field here. */
const WIDEST = 40;
/** The offsets that the host passes to the core at once (host/core/writing.c). */
const BATCH = 1024;

const primary = useTrapServer({
  moduleArguments: withDebug,
  listens: true,
  config: ["appendonly yes", "aof-use-rdb-preamble no", "auto-aof-rewrite-percentage 0", "appendfsync no"],
});
const replica = useServer({ listens: true });

beforeEach(async () => {
  await replicate(replica, primary);
  await inStep(replica, primary);
  return () => stopReplicating(replica);
});

const digest = (server: typeof primary): Promise<Reply> => server.run("DEBUG", "DIGEST");

/** The replica holds what the primary holds, and so do an RDB file and a rewritten AOF, from which the primary then continues. */
async function expectKeptEverywhere(): Promise<void> {
  const held = await digest(primary);
  await inStep(replica, primary);
  expect(await digest(replica), "replica").toBe(held);
  await primary.run("DEBUG", "RELOAD");
  expect(await digest(primary), "RDB file").toBe(held);
  await rewriteAof(primary);
  await primary.run("DEBUG", "LOADAOF");
  expect(await digest(primary), "AOF").toBe(held);
}

describe.each(byName(families))("%s", (_family, family) => {
  const roar = roarOn(primary, family);

  const expectMembers = async (key: string, members: readonly number[], what: string): Promise<void> => {
    await expectValid(primary, key, what);
    expectEqual(await roar.members(key), members, what);
    expect(await roar.run("BITCOUNT", key), what).toBe(members.length);
  };

  const left = [0, 1, 2, 3, 8, 17, 40];
  const sizes = [BATCH, BATCH + 1, 2 * BATCH + 1, 4096, 4102, 5000, 8000];
  const cases = sizes.flatMap((size) => left.map((few) => ({ size, few, key: `${size}:${few}` })));

  it("a list longer than a batch is removed from among a few lone members", async () => {
    for (const { size, few, key } of cases) {
      const lone = range(1, few).map((i) => i * 200_000), list = range(0, size).map((i) => i * 8);
      await roar.load(key, [...list, ...lone]);
      expect(await roar.run("CLEARBITS", key, ...list, "COUNT"), key).toBe(size);
      await expectMembers(key, lone, key);
    }
    await expectKeptEverywhere();
    for (const { few, key } of cases) await expectMembers(key, range(1, few).map((i) => i * 200_000), key);
  });

  it("a list that removes nothing changes nothing", async () => {
    for (const { size, few, key } of cases) {
      const lone = range(1, few).map((i) => i * 200_000), list = range(0, size).map((i) => i * (size > 5000 ? 8 : 13));
      const cleared = Math.max(6, size - 4096), rest = list.slice(cleared);
      await roar.load(key, lone);
      await roar.run("SETBITS", key, ...list);
      await roar.run("CLEARBITS", key, ...list.slice(0, cleared));
      expect(await roar.run("CLEARBITS", key, 1, "COUNT"), key).toBe(0);
      await expectMembers(key, [...rest, ...lone], key);
      expect(await roar.run("CLEARRANGE", key, 0, CONTAINER), key).toBe(rest.length);
      await expectMembers(key, lone, key);
    }
    await expectKeptEverywhere();
  });

  it("bitmaps that are emptied and filled again equal a Set", seeded(async (random) => {
    const shrinking = new Shrinking(random, family), end = Date.now() + SECONDS * 1000;
    let rounds = 0;
    for (; rounds < ROUNDS && (SECONDS === 0 || Date.now() < end); rounds++) {
      await shrinking.round();
      if (rounds % CHECK_EVERY === CHECK_EVERY - 1) await expectKeptEverywhere();
    }
    await expectKeptEverywhere();
    await expectNoDamage(primary);
    if (SECONDS > 0) console.log(`${family.name}: ${rounds} rounds, ${shrinking.writes} writes, ${shrinking.refused} of them refused`);
  }), (SECONDS + 180) * 1000);
});

/** Fills and empties bitmaps of a family on the primary. */
class Shrinking {
  readonly #random: Random;
  readonly #family: Family;
  readonly #models = new Map(range(0, 6).map((i) => [`k${i}`, new Set<number>()]));
  writes = 0;
  refused = 0;

  constructor(random: Random, family: Family) {
    this.#random = random;
    this.#family = family;
  }

  /** Fills a bitmap with one or several kinds of content, then takes nearly everything away. */
  async round(): Promise<void> {
    const random = this.#random, key = random.pick([...this.#models.keys()]), done: string[] = [];
    if (this.#models.get(key)!.size === 0) await this.#send([[this.#name("SETBIT"), key, 0, 0]]);     // creates the key
    try {
      for (let i = random.below(3); i >= 0; i--) done.push(await this.#fill(key));
      if (random.chance(0.3)) done.push(await this.#send([[this.#name("OPTIMIZE"), key]]));
      if (random.chance(0.5)) done.push(await this.#few(key));
      if (random.chance(0.2)) await primary.run("DEBUG", "RELOAD");
      done.push(await this.#shrink(key));
      await this.#expectEqual(key);
      if (random.chance(0.5)) done.push(await this.#few(key));
      await this.#expectEqual(key);
    } catch (error) {
      (error as Error).message += `\n  after: ${done.join("; ")}`;
      throw error;
    }
  }

  #name = (command: string): string => `${this.#family.name}.${command}`;

  /** Sends commands that must succeed. Returns the first, for messages. */
  async #send(commands: readonly Command[]): Promise<string> {
    this.writes += commands.length;
    for (const reply of await primary.connection.pipeline(commands)) if (reply instanceof ReplyError) throw reply;
    return `${String(commands[0]?.slice(0, 12).join(" "))} (${commands.length} commands)`;
  }

  /** Sends writes with the replies that they must have and what they do to the model. Memory is scarce for some. */
  async #write(key: string, writes: readonly { command: Command; reply: Reply; apply: (model: Set<number>) => void }[]): Promise<string> {
    const { chance, below, pick } = this.#random, model = this.#models.get(key)!;
    const room = await primary.usage(key) - 64 + below(pick([64, 300, 2000, 100_000]));
    const limit = chance(0.3) ? Math.max(0, room) : UNLIMITED;
    const replies = await primary.connection.pipeline([
      ["ROAR.LIMIT", limit], ...writes.map(({ command }) => command), ["ROAR.LIMIT", UNLIMITED],
    ]);
    this.writes += writes.length;
    for (const [i, { command, reply, apply }] of writes.entries()) {
      const actual = replies[i + 1]!;
      if (actual instanceof ReplyError && actual.message === OOM && limit < UNLIMITED) {
        this.refused++;
        // Later replies were predicted on the assumption that this write succeeds, so only the bitmap itself can be compared.
        for (const [j, later] of writes.entries()) if (j > i && !(replies[j + 1] instanceof ReplyError)) later.apply(model);
        break;
      }
      expectEqual(actual, reply, `${command.slice(0, 12).join(" ")} (${command.length} words), limit ${limit}`);
      apply(model);
    }
    return `${String(writes[0]?.command.slice(0, 12).join(" "))} (${writes.length} writes, limit ${limit})`;
  }

  #start(): number {
    const { below, pick, chance } = this.#random;
    if (this.#family.bits === 32) return pick([0, below(10) * CONTAINER, below(2 ** 31)]);
    return chance(0.5) ? below(10) * CONTAINER : below(2 ** 18) * 2 ** 32;
  }

  /** Members of one kind of container, or of many containers. */
  #content(): number[] {
    const { below, pick } = this.#random, start = this.#start(), size = pick([3, 30, 300, 1100, 3000, 8000]) + below(100);
    return pick<() => number[]>([
      () => range(start, size, 1 + below(64)),
      () => range(start, size, 1),
      () => range(start, Math.min(size, 4000), CONTAINER * (1 + below(4))),
      () => range(start, size, 1 + below(3 * CONTAINER)).filter((offset) => offset < start + 2 ** 30),
      () => range(start, size).map((offset) => offset + (offset & ~31) * 3),                 // runs of 32
      () => Array.from({ length: size }, () => start + below(pick([2000, CONTAINER, 40 * CONTAINER]))),
    ])().filter((offset) => this.#family.bits === 64 || offset < 2 ** 32);
  }

  #fill(key: string): Promise<string> {
    const { chance, below } = this.#random;
    if (chance(0.15)) {
      const from = this.#start(), length = 1 + below(30_000);
      const command = [this.#name("SETRANGE"), key, from, from + length];
      return this.#write(key, [{ command, reply: "OK", apply: (model) => range(from, length).forEach((offset) => model.add(offset)) }]);
    }
    return this.#lists(key, "SETBITS", this.#content());
  }

  /** Sets or clears the offsets by lists of one length, which may be longer than a batch. */
  #lists(key: string, name: "SETBITS" | "CLEARBITS", offsets: readonly number[]): Promise<string> {
    const { pick, below } = this.#random, length = pick([1, 40, BATCH - 1, BATCH, BATCH + 1, 3000, 10_000]) + below(2);
    const atOnce = Math.max(length, Math.ceil(offsets.length / 200)), shadow = new Set(this.#models.get(key));
    const lists = range(0, Math.ceil(offsets.length / atOnce)).map((i) => offsets.slice(i * atOnce, (i + 1) * atOnce));
    return this.#write(key, lists.map((list) => {
      const before = shadow.size, sets = name === "SETBITS";
      for (const offset of list) if (sets) shadow.add(offset); else shadow.delete(offset);
      return {
        command: [this.#name(name), key, ...list, ...(sets ? [] : ["COUNT"])],
        reply: Math.abs(shadow.size - before),
        apply: (model) => list.forEach((offset) => (sets ? model.add(offset) : model.delete(offset))),
      };
    }));
  }

  /** A few changes here and there. */
  #few(key: string): Promise<string> {
    const { chance, below, pick } = this.#random, members = sorted(this.#models.get(key)!);
    const near = range(0, 1 + below(12)).map(() => (members.length > 0 ? pick(members) : this.#start()) + pick([0, 0, 1, 7, CONTAINER]));
    const offsets = near.filter((offset) => this.#family.bits === 64 || offset < 2 ** 32 - WIDEST);
    if (chance(0.3)) return this.#fields(key, offsets.slice(0, 5));
    return this.#lists(key, chance(0.5) ? "SETBITS" : "CLEARBITS", offsets);
  }

  /** Writes fields of random width there by one BITFIELD, of which all or none are written. */
  #fields(key: string, offsets: readonly number[]): Promise<string> {
    const { below, pick } = this.#random, shadow = new Set(this.#models.get(key)), reply: Reply[] = [], words: Argument[] = [];
    for (const offset of offsets) {
      const width = 1 + below(WIDEST), value = pick([0, 2 ** width - 1, below(2 ** width)]), bits = range(offset, width);
      const bitAt = (i: number): number => Math.floor(value / 2 ** (width - 1 - i)) % 2;
      reply.push(bits.reduce((old, bit) => 2 * old + Number(shadow.has(bit)), 0));
      words.push("SET", `u${width}`, offset, value);
      bits.forEach((bit, i) => (bitAt(i) ? shadow.add(bit) : shadow.delete(bit)));
    }
    const apply = (model: Set<number>): void => {
      model.clear();
      shadow.forEach((offset) => model.add(offset));
    };
    return this.#write(key, [{ command: [this.#name("BITFIELD"), key, ...words], reply, apply }]);
  }

  /** Removes all but 0 to 40 members, from the whole bitmap or from a part of it. */
  async #shrink(key: string): Promise<string> {
    const random = this.#random, members = sorted(this.#models.get(key)!), few = random.below(41);
    if (members.length === 0) return "nothing";
    const part = random.chance(0.7) ? members : members.slice(random.below(members.length)).slice(0, 1 + random.below(members.length));
    const stay = random.pick<(rank: number) => boolean>([
      (rank) => rank < few,
      (rank) => rank >= part.length - few,
      (rank) => Math.floor((rank * few) / part.length) !== Math.floor(((rank + 1) * few) / part.length),
    ]);
    const going = part.filter((_, rank) => !stay(rank)), kept = new Set(part.filter((_, rank) => stay(rank)));
    // With the offset after each, which may be absent, but without members that stay and without the offset after the part.
    const beside = going.flatMap((offset) => [offset, offset + 1]).filter((offset) => offset <= part.at(-1)! && !kept.has(offset));
    return random.pick([
      () => this.#lists(key, "CLEARBITS", random.chance(0.3) ? random.shuffled(going) : going),
      () => this.#lists(key, "CLEARBITS", beside),
      () => this.#ranges(key, part, going),
      () => this.#combined(key, going),
      () => this.#ends(key, few),
    ])();
  }

  /** Removes by CLEARRANGE. Two neighbors that go are in one range if no other member is between them. */
  #ranges(key: string, part: readonly number[], going: readonly number[]): Promise<string> {
    const gone = new Set(going), stretches: number[][] = [];
    let open: number[] | undefined;
    for (const offset of part) {
      if (!gone.has(offset)) open = undefined;
      else if (open) open.push(offset);
      else stretches.push((open = [offset]));
    }
    return this.#write(key, stretches.map((stretch) => ({
      command: [this.#name("CLEARRANGE"), key, stretch[0]!, stretch.at(-1)! + 1],
      reply: stretch.length,
      apply: (model) => stretch.forEach((offset) => model.delete(offset)),
    })));
  }

  /** Removes by BITOP AND with few, or DIFF with the rest. */
  async #combined(key: string, going: readonly number[]): Promise<string> {
    const model = this.#models.get(key)!, gone = new Set(going), stay = sorted(model).filter((offset) => !gone.has(offset));
    const and = this.#random.chance(0.5), other = roarOn(primary, this.#family);
    await other.load("other", and ? stay : going);
    const command: Argument[] = [this.#name("BITOP"), and ? "AND" : "DIFF", key, key, "other"];
    const apply = (set: Set<number>): void => going.forEach((offset) => set.delete(offset));
    return this.#write(key, [{ command, reply: stay.length, apply }]);
  }

  /** Removes the least or the greatest member again and again. */
  #ends(key: string, few: number): Promise<string> {
    const members = sorted(this.#models.get(key)!).slice(0, 4000), going = members.slice(few);
    if (this.#random.chance(0.5)) going.reverse();
    return this.#write(key, going.map((offset) => ({
      command: [this.#name("SETBIT"), key, offset, 0], reply: 1, apply: (model: Set<number>) => void model.delete(offset),
    })));
  }

  async #expectEqual(key: string): Promise<void> {
    const members = sorted(this.#models.get(key)!);
    const [valid, listed, count] = await primary.connection.pipeline([
      ["R.DEBUG", "VALIDATE", key], [this.#name("GETINTARRAY"), key], [this.#name("BITCOUNT"), key],
    ]);
    expect(valid, "VALIDATE").toBe("OK");
    expectEqual(listed, members, "members");
    expectEqual(count, members.length, "BITCOUNT");
  }
}
