// Random sequences of all commands of both families, compared with an oracle.
//
//   SEED        repeats a run
//   STEPS       commands in a sequence (default 12600, so that five sequences make 60,000; 2500 on all but the best CPU level)
//   SEQUENCES   how many sequences per domain, each with the next seed (default 1)

import { describe, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { rules } from "./oracle/commands.ts";
import { goodArguments, type Domain } from "./oracle/generate.ts";
import { Sequence } from "./oracle/sequence.ts";
import { type Family, families, range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { withDebug } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";

const STEPS = Number(process.env.STEPS ?? (process.env.ROAR_BRIEF ? 2500 : 12_600));
const SEQUENCES = Number(process.env.SEQUENCES ?? 1);

/** Keys of containers at the boundaries of a family's range (2^32, 2^48, 2^63 and both ends), and neighboring keys. */
const boundaries = ({ bits }: Family): bigint[] =>
  bits === 32
    ? [0n, 1n, 2n, 3n, 0x7fffn, 0x8000n, 0xfffen, 0xffffn]
    : [0n, 1n, 2n, 3n, 0xffffn, 0x10000n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 47n - 1n, 2n ** 47n, 2n ** 48n - 2n, 2n ** 48n - 1n];

/** Thousands of keys anywhere in the range. */
function scattered(random: Random): (family: Family) => bigint[] {
  const of = new Map(families.map((family) => [family, range(0, 3000).map(() => random.u64() >> BigInt(80 - family.bits))]));
  return (family) => of.get(family)!;
}

const domains: Record<string, (random: Random) => Domain> = {
  "in four containers": () => ({ containers: () => [0n, 1n, 2n, 3n], mostAtOnce: 6000, wide: 0.05 }),
  "at the boundaries of the ranges": () => ({ containers: boundaries, mostAtOnce: 6000, wide: 0.2 }),
  "with a few members": () => ({ containers: boundaries, mostAtOnce: 5, wide: 0 }),
  "around the sizes of short bitsets": () => ({ containers: () => [0n, 1n], mostAtOnce: 300, wide: 0.02, span: 2000 }),
  "in thousands of containers": (random) => ({ containers: scattered(random), mostAtOnce: 1000, wide: 0.1 }),
};

const names = commands.map(({ name }) => name).sort();

it("the oracle and the generator know every command", () => {
  expect(Object.keys(rules).sort()).toEqual(names);
  expect(Object.keys(goodArguments).sort()).toEqual(names);
});

/** With small segments, bitmaps of a few containers are large ones. */
const segments: Readonly<Record<string, readonly string[]>> = { "": [], " in segments of 2 KiB": ["SEGMENT-BYTES", "2048"] };

describe.each(Object.entries(segments))("random sequences equal the oracle%s", (_title, settings) => {
  const server = useServer({ moduleArguments: [...withDebug, ...settings] });
  const steps = settings.length > 0 ? Math.ceil(STEPS / 3) : STEPS;
  const runs = Object.entries(domains).flatMap(([title, make]) =>
    range(0, SEQUENCES).map((i) => ({ name: `${title}, seed + ${i}`, make, i })),
  );
  it.each(byName(runs))("%s", (_, { make, i }) =>
    seeded(async (random) => {
      const sequence = new Sequence(server, random, make(random));
      await sequence.run(steps);
      const every = families.flatMap(({ name }) => names.map((command) => `${name}.${command}`));
      if (steps >= 10_000) expect([...sequence.answered.keys()]).toEqual(expect.arrayContaining(every));
    }, i)(),
  );
});
