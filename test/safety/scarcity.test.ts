// Bitmaps of many small containers that are changed while memory is scarce: each write is done as a whole or refused as a whole, and what
// is left behind by a refusal does no harm to later writes. The model is a Set. ROAR.LIMIT, a command of the test build, limits memory.

import { describe, expect, it } from "vitest";
import { families, sorted } from "../support/family.ts";
import { type Random, seed, seeded } from "../support/random.ts";
import { type Argument, bytesOf } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { expectNoDamage, expectValid } from "../support/suite.ts";
import { isRefused, useScarceServer } from "../support/trap.ts";

const CONTAINER = 65_536;
const BITMAPS = 24;
const WRITES = 8;

/** Members near those of the bitmap: beside them, between them and after them, and sometimes a few in each of several containers. */
function nearby(random: Random, members: readonly number[], step: number): number[] {
  const end = members.at(-1)! + 3 * step, more = new Set<number>();
  for (let i = random.below(120); i >= 0; i--) {
    more.add(members[0]! + random.below(end - members[0]!));
    more.add(random.pick(members) + Number(random.chance(0.25)));
  }
  for (let i = random.below(2) * random.below(5); i > 0; i--) {
    const first = Math.floor(random.pick(members) / CONTAINER) * CONTAINER;
    for (let low = random.below(90); low >= 0; low--) more.add(first + i * CONTAINER + low);
  }
  return [...more];
}

/** Bitmaps of one arena, mostly, and of hundreds of segments. */
const SEGMENTS: Readonly<Record<string, { readonly bytes: number; readonly most: readonly number[] }>> = {
  "large segments": { bytes: 262_136, most: [3000, 60_000, 4_000_000] },
  "small segments": { bytes: 16_384, most: [300, 3000, 10_000] },
};

describe.each(Object.entries(SEGMENTS).flatMap(([name, sizes]) => families.map((family) => [family.name, name, family, sizes] as const)))("%s, %s: writes to many small containers while memory is scarce", (_family, _name, family, { bytes, most }) => {
  const server = useScarceServer("SEGMENT-BYTES", bytes);
  const roar = roarOn(server, family);

  it("are done or refused as a whole", seeded(async (random) => {
    const refused = new Map<string, number>(), done = new Map<string, number>();
    for (let bitmap = 0; bitmap < BITMAPS; bitmap++) {
      const step = random.pick(family.bits === 32 ? [CONTAINER, 3 * CONTAINER] : [8 * CONTAINER, 2 ** 32]);
      const start = family.bits === 32 ? 0 : random.below(1000) * 2 ** 20;
      let model = new Set(Array.from({ length: random.pick([40, 300, 3000, 20_000]) }, (_, i) => start + i * step + random.below(step)));
      await roar.load("k", model);
      if (random.chance(0.5)) await roar.run("OPTIMIZE", "k");
      for (let i = 0; i < WRITES; i++) {
        const members = sorted(model);
        const more = nearby(random, members, step).filter((offset) => offset < 2 ** 32 || family.bits === 64);
        const [low, high] = sorted([random.pick(members), random.pick(members)]) as [number, number];
        await roar.load("other", more);
        const payload = bytesOf(await roar.run("EXPORT", "other"));
        const [command, args, after] = random.pick<() => [string, Argument[], Iterable<number>]>([
          () => ["IMPORT", ["k", payload], [...model, ...more]],
          () => ["IMPORT", ["k", payload], [...model, ...more]],
          () => ["SETBITS", ["k", ...more], [...model, ...more]],
          () => ["CLEARBITS", ["k", ...more], members.filter((offset) => !more.includes(offset))],
          () => ["CLEARRANGE", ["k", low, high], members.filter((offset) => offset < low || offset >= high)],
        ])();
        const size = bytes === 16_384 ? 256 : await server.usage("k") - 64;
        const isRefusal = await isRefused(roar, size + random.below(random.pick(most)), command, args);
        const counts = isRefusal ? refused : done;
        counts.set(command, (counts.get(command) ?? 0) + 1);
        if (!isRefusal) model = new Set(after);
        const what = `${command}, ${isRefusal ? "refused" : "done"}`;
        await expectValid(server, "k", what);
        expect(await roar.members("k"), what).toEqual(sorted(model));
        const dump = await roar.dump("k");
        await server.run("RESTORE", "copy", 0, dump!, "REPLACE");
        expect(await roar.run("EXPORT", "copy"), what).toEqual(await roar.run("EXPORT", "k"));
        if (model.size === 0) break;
      }
    }
    expect(refused.get("IMPORT"), `imports refused, SEED=${seed}`).toBeGreaterThan(0);
    expect(done.get("IMPORT"), `imports done, SEED=${seed}`).toBeGreaterThan(0);
    await expectNoDamage(server);
  }));
});
