// Random sequences of commands against the model, and against native keys on the same server.
//
//   SEED     repeats a run
//   STEPS    commands in a sequence (default 2000)

import { describe, expect, it } from "vitest";
import { asReply, families, type Family, type Member, member, R64 } from "./support/family.ts";
import { bitCount, bitPosition, keeps, operations, sorted } from "./support/model.ts";
import { type Random, seeded } from "./support/random.ts";
import type { Command, Reply } from "./support/resp.ts";
import { Roar } from "./support/roar.ts";
import { type Domain, Script } from "./support/script.ts";
import { expectEqual, useServer } from "./support/suite.ts";

const STEPS = Number(process.env.STEPS ?? 2000);
const BATCH = 50;
const keys = ["a", "b", "c", "d"];
const domain = (family: Family, rest: Partial<Domain>): Domain => ({
  family, keys, containers: [0n], lowBits: 16, native: false, mostAtOnce: 6000, ...rest,
});

/** High parts at the seams of a family's range: 2^32, 2^48 and the ends. */
const seams = (family: Family): bigint[] =>
  family.bits === 32
    ? [0n, 1n, 0x7fffn, 0x8000n, 0xffffn]
    : [0n, 0xffffn, 0x10000n, 0x10001n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 47n - 1n, 2n ** 47n, 2n ** 48n - 1n];

describe.each(families.map((family) => ({ family, title: family.name })))("$title against the model", ({ family }) => {
  const server = useServer();

  const domains: Record<string, () => Domain> = {
    "and native, in one container": () => domain(family, { native: true, mostFlipped: 66_000n }),
    "and native, in four containers": () =>
      domain(family, { native: true, containers: [0n, 1n, 2n, 3n], mostFlipped: 100_000n }),
    "and native, where members meet": () => domain(family, { native: true, lowBits: 7, mostAtOnce: 100, mostFlipped: 200n }),
    "at the seams of the range": () => domain(family, { containers: seams(family) }),
    "in a few members": () => domain(family, { containers: seams(family), lowBits: 4, mostAtOnce: 5 }),
  };

  it.each(Object.entries(domains))("%s", (_, make) =>
    seeded(async (random) => {
      const script = new Script(make(), random, server.connection);
      for (let done = 0; done < STEPS; done += BATCH) {
        await script.run(BATCH);
        if (done % (BATCH * 10) === 0) await script.compareAll();
        if (done % (BATCH * 20) === 0) await server.run("DEBUG", "RELOAD");
      }
      await script.compareAll();
    })(),
  );

  it("in thousands of containers", seeded(async (random) => {
    const width = family.bits === 32 ? 16 : 48;
    const containers = Array.from({ length: 5000 }, () => random.u64() >> BigInt(64 - width));
    const script = new Script(domain(family, { containers, mostAtOnce: 2000 }), random, server.connection);
    for (let done = 0; done < STEPS / 5; done += BATCH) {
      await script.run(BATCH);
      await script.compareAll();
    }
    await server.run("DEBUG", "RELOAD");
    await script.compareAll();
  }));
});

describe.each(families.map((family) => ({ family, title: family.name })))("$title, a directory of many leaves", ({ family }) => {
  const server = useServer();

  it("counts and finds as the model, while containers come and go in any order", seeded(async (random) => {
    const roar = new Roar(family, () => server.connection);
    const width = family.bits === 32 ? 16 : 47; // indexes of bits end at 2^63 - 1
    const containers = [...new Set(Array.from({ length: 8000 }, () => random.u64() >> BigInt(64 - width)))];
    const model = new Set<Member>();

    const ask = (): [Command, Reply][] => {
      const near = () => BigInt(random.pick(containers)) * 65536n + BigInt(random.pick([0, 7, 65_535]));
      const [a, b] = [near(), near()].sort((x, y) => (x < y ? -1 : 1)) as [bigint, bigint];
      const range = { start: a, end: b, unit: "BIT" } as const;
      return [
        [[roar.name("BITCOUNT"), "k", a, b, "BIT"], bitCount(model, range)],
        [[roar.name("BITPOS"), "k", 1, a, b, "BIT"], asReply(bitPosition(model, 1, family.last, range))],
      ];
    };
    /** Sets or clears a member in each of these containers, and asks on the way. */
    const change = async (some: readonly bigint[], value: 0 | 1): Promise<void> => {
      for (let from = 0; from < some.length; from += 500) {
        const batch: [Command, Reply][] = [];
        for (const container of some.slice(from, from + 500)) {
          const offset = member(container * 65536n + 7n);
          batch.push([[roar.name("SETBIT"), "k", offset, value], model.has(offset) ? 1 : 0]);
          if (value) model.add(offset);
          else model.delete(offset);
        }
        for (let i = 0; i < 10; i++) batch.push(...ask());
        const replies = await server.connection.pipeline(batch.map(([command]) => command));
        batch.forEach(([command, reply], i) => expectEqual(replies[i], reply, command.join(" ")));
      }
      expectEqual(await roar.members("k"), sorted(model));
    };
    await change(containers, 1);
    await change(containers.filter(() => random.chance(0.7)), 0);
    await change([...containers].reverse(), 1);
    const ascending = [...containers].sort((x, y) => (x < y ? -1 : 1));
    await change(ascending, 0);
    await change(ascending, 1);
    await change(ascending.filter((_, i) => i % 3 > 0).reverse(), 0);
  }));
});

/** A set of a few members, or of all but a few: of [0, last], which offsets differ from `inverted`. */
interface Sparse {
  readonly inverted: boolean;
  readonly others: ReadonlySet<Member>;
}

describe.each([
  ...families.map((family) => ({ family, last: family.last })),
  { family: R64, last: 2n ** 40n + 12_345n },
])("$family.name, all but a few of [0, $last]", ({ family, last }) => {
  const server = useServer();

  /** Near one of a few containers far apart, so that members meet, in spans of full containers and at their ends. */
  const offset = (random: Random): Member => {
    const containers = [0n, 1n, 2n, 1000n, 1001n, last >> 17n, (last >> 17n) + 1n, (last >> 16n) - 1n, last >> 16n];
    const at = random.pick(containers) * 65536n + BigInt(random.pick([0, 1, 5, 65_534, 65_535]));
    return member(at > last ? last : at);
  };
  const cardinality = ({ inverted, others }: Sparse): bigint => (inverted ? last + 1n - BigInt(others.size) : BigInt(others.size));
  const text = (count: bigint): string => String(asReply(member(count)));

  it("equals the model", seeded(async (random) => {
    const roar = new Roar(family, () => server.connection);
    const models = new Map<string, Sparse>(keys.map((key) => [key, { inverted: false, others: new Set() }]));
    for (const key of keys) await roar.load(key, []);

    for (let step = 0; step < STEPS / 10; step++) {
      const key = random.pick(keys);
      const sources = Array.from({ length: 2 + random.below(3) }, () => random.pick(keys));
      const held = sources.map((source) => models.get(source)!);
      let result: Sparse;
      if (random.chance(0.4)) {
        const model = models.get(key)!;
        const at = offset(random);
        const before = model.others.has(at) !== model.inverted;
        const value = random.chance(0.5);
        const others = new Set(model.others);
        if (value === model.inverted) others.delete(at);
        else others.add(at);
        result = { inverted: model.inverted, others };
        expect(await roar.run("SETBIT", key, at, value ? 1 : 0)).toBe(before ? 1 : 0);
      } else if (random.chance(0.3)) {
        result = { inverted: !held[0]!.inverted, others: held[0]!.others };
        expect(String(await roar.run("BITOP", "NOT", key, sources[0]!, last))).toBe(text(cardinality(result)));
      } else {
        const operation = random.pick(operations);
        const holds = (m: Member | undefined): boolean => {
          const bits = held.map(({ inverted, others }) => (m !== undefined && others.has(m)) !== inverted);
          return keeps(operation, bits.length, bits.filter(Boolean).length, bits[0]!);
        };
        const inverted = holds(undefined);
        result = { inverted, others: new Set(held.flatMap(({ others }) => [...others]).filter((m) => holds(m) !== inverted)) };
        expect(String(await roar.run("BITOP", operation, key, ...sources)), operation).toBe(text(cardinality(result)));
      }
      models.set(key, result);
      expect(String(await roar.run("BITCOUNT", key))).toBe(text(cardinality(result)));
      if (step % 10 === 0) await server.run("DEBUG", "RELOAD");
      const [shown, few] = result.inverted ? ["few", await roar.run("BITOP", "NOT", "few", key, last)] : [key, result.others.size];
      expect(few).toBe(result.others.size);
      expect(await roar.members(shown)).toEqual(sorted(result.others));
      const probe = offset(random);
      expect(await roar.run("GETBIT", key, probe)).toBe(result.others.has(probe) !== result.inverted ? 1 : 0);
    }
  }));
});
