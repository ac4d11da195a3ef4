// Names for ids while memory is scarce, and names that are chosen to be slow. Each write is done as a whole or refused as a whole.
// ROAR.LIMIT, a command of the test build, limits memory.

import { describe, expect, it } from "vitest";
import { type Random, seeded } from "../support/random.ts";
import { R } from "../support/family.ts";
import { roarOn } from "../support/roar.ts";
import { expectNoDamage, expectValid, useServer } from "../support/suite.ts";
import { isRefused, useScarceServer } from "../support/trap.ts";

describe.each([["large segments", 262_136], ["small segments", 4096]] as const)("%s: writes to names while memory is scarce", (_, bytes) => {
  const server = useScarceServer("SEGMENT-BYTES", bytes);

  it("are done or refused as a whole", seeded(async (random: Random) => {
    const roar = roarOn(server, R), counts = { refused: 0, done: 0 };
    // ROAR.LIMIT limits each arena, so refused is what makes one larger.
    for (let dictionary = 0; dictionary < 12; dictionary++) {
      await server.run("DEL", "k", "bits");
      let next = 0;
      const model = new Map<string, number>(), bits = new Set<number>();
      for (let i = 0; i < 25; i++) {
        const count = random.pick([1, 5, 100, 700]);
        const batch = Array.from({ length: count }, () => `${random.below(30_000)}`.padStart(random.below(30) + 1, "x"));
        const limit = random.chance(0.7) ? random.pick([40, 100, 500, 1000, 2000, 3000, 10_000, 60_000]) : 2 ** 31;
        const command = random.pick(["RN.ADD", "RN.SETBITS", "RN.SETBITS", "RN.DEL"]), deletes = command === "RN.DEL", sets = command === "RN.SETBITS";
        if (await refuses(limit, command, [...(sets ? ["bits"] : []), ...batch])) {
          expect(deletes, "RN.DEL takes no memory").toBe(false);
          counts.refused++;
        } else {
          counts.done++;
          for (const name of batch) {
            if (deletes) model.delete(name);
            else if (!model.has(name)) model.set(name, next++);
            if (sets) bits.add(model.get(name)!);
          }
        }
        expect(await server.run("R.GETINTARRAY", "bits"), command).toEqual([...bits].sort((a, b) => a - b));
        expect(await server.run("RN.CARD", "k")).toBe(model.size);
        if (model.size > 0) {
          await expectValid(server);
          expect(await server.run("RN.ID", "k", ...model.keys())).toEqual([...model.values()]);
        }
      }
    }
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.done).toBeGreaterThan(0);
    await expectNoDamage(server);

    async function refuses(limit: number, command: string, batch: readonly string[]): Promise<boolean> {
      return isRefused({ ...roar, connection: roar.connection, run: (name: string, ...args) => server.run(name, ...args) } as typeof roar, limit, command, ["k", ...batch]);
    }
  }), 120_000);
});

describe("names that somebody chooses", () => {
  const server = useServer();

  /** The time of RN.ADD for each of the names, in microseconds. */
  async function time(key: string, names: readonly string[]): Promise<number> {
    await server.run("CONFIG", "RESETSTAT");
    for (let from = 0; from < names.length; from += 500) await server.run("RN.ADD", key, ...names.slice(from, from + 500));
    const [, microseconds] = /cmdstat_rn\.add:calls=\d+,usec=(\d+)/i.exec((await server.run("INFO", "commandstats")) as string)!;
    return Number(microseconds) / names.length;
  }

  it("do not slow it down: names that differ in one place, and those that collide in common hashes", async () => {
    const count = 60_000;
    const ordinary = Array.from({ length: count }, (_, i) => `${(i * 2_654_435_761) % 2 ** 32} ordinary name`);
    // All of these have the same sum, the same polynomial hash with factor 31 or 33 (djb2), and the same parity of words.
    const pairs: readonly string[] = ["Aa", "BB"], djb2: readonly string[] = ["Ez", "FY"];
    const colliding = (of: readonly string[]): string[] => Array.from({ length: count / 4 }, (_, i) => Array.from({ length: 14 }, (_bit, at) => of[(i >> at) & 1]!).join(""));
    const inOnePlace = Array.from({ length: count / 2 }, (_, i) => `${"x".repeat(200)}${i}`);
    const chosen = [...colliding(pairs), ...colliding(djb2), ...inOnePlace];
    expect(new Set(chosen).size).toBe(count);
    await time("warm", ordinary);
    const usual = Math.min(await time("a", ordinary), await time("b", ordinary)), slow = Math.min(await time("c", chosen), await time("d", chosen));
    // If all collided, the last of them would each be compared with some ten thousand others.
    expect(slow).toBeLessThan(usual * 10 + 20);
  }, 60_000);
});
