// What the tool computes for a bitmap is what MEMORY USAGE says, to the byte: arenas of all forms and sizes, and names of all lengths.

import { describe, expect, it } from "vitest";
import { Format } from "../../cli/src/core/core.ts";
import { blockBytes, keyBytes, keyLayout, sizeClass } from "../../cli/src/core/sizes.ts";
import { loadCore } from "../support/tool.ts";
import { type Random, random, seed } from "../support/random.ts";
import { useServer } from "../support/suite.ts";
import { serverName } from "../support/version.ts";

const server = useServer();
const core = await loadCore();
const [name, version] = serverName.split(" ") as [string, string], layout = keyLayout({ name: name === "Valkey" ? "valkey" : "redis", version });

/** Offsets that give an arena of every form: few, many, dense, in runs, far apart. */
function offsets(r: Random): bigint[] {
  const count = r.pick([1, 2, 3, 5, 8, 13, 21, 34, 60, 100, 300, 1000, 3000]), width = r.pick([6, 10, 14, 17, 20, 24, 28, 32]);
  if (r.chance(0.25)) {
    const first = BigInt(r.below(2 ** width));
    return Array.from({ length: count * 3 }, (_, i) => first + BigInt(i) + BigInt(i >> 6));
  }
  return Array.from({ length: count }, () => BigInt(r.below(2 ** width)));
}

describe("what a bitmap would take", () => {
  it("is what MEMORY USAGE says, whatever it was made of", async () => {
    const r = random(seed), quantum = await quantumOf();
    for (let i = 0; i < 150; i++) {
      const members = offsets(r).filter((offset) => offset < 2n ** 32n), expires = r.chance(0.3);
      core.collect(Uint32Array.from(members, Number));
      const payload = core.write(Format.PORTABLE), byList = core.used(), cardinality = core.cardinality();
      // Native bitmaps become long.
      const bits = core.maximum()! < 2n ** 24n ? core.write(Format.BITS) : undefined;
      core.read(Format.PORTABLE, payload);
      const byImport = core.used();
      if (bits) core.read(Format.BITS, bits);
      const byBits = core.used();
      core.pack();
      const packed = core.used();
      expect(core.cardinality(), `SEED=${seed}`).toBe(cardinality);
      const commands: [used: number, ...string[]][] = [
        [byImport, "R64.IMPORT", "k", "wide"], [byImport, "R.IMPORT", "k", "payload"], ...(bits ? [[byBits, "R.FROMBITMAP", "k", "bits"] as [number, ...string[]]] : []), [packed, "R.OPTIMIZE", "k"],
        ...(members.length < 200 ? [[byList, "R.SETINTARRAY", "k", ...members.map(String)] as [number, ...string[]]] : []),
      ];
      if (bits) await server.run("SET", "bits", Buffer.from(bits));
      for (const [used, ...words] of commands) {
        if (words[0] !== "R.OPTIMIZE") await server.run("DEL", "k");
        core.read(Format.PORTABLE, payload);
        const wide = Buffer.from(core.write(Format.PORTABLE_WIDE));
        await server.run(...words.map((word) => (word === "payload" ? Buffer.from(payload) : word === "wide" ? wide : word)));
        if (expires) await server.run("EXPIRE", "k", 1000);
        const what = `${words[0]} of ${members.length} members up to ${core.maximum()}, SEED=${seed}`;
        // A key that got its time of expiry later has room for it where the server keeps it with the name.
        expect(await server.usage("k"), what).toBe(blockBytes(used) + keyBytes(layout, quantum, 1, expires));
      }
    }
  });

  it("counts names of all lengths, with and without a time of expiry", async () => {
    const quantum = await quantumOf();
    core.collect(Uint32Array.of(1));
    for (const length of [...Array(140).keys(), 191, 192, 249, 250, 255, 256, 257, 400, 5000]) {
      const key = "k".repeat(length);
      await server.run("R.SETBIT", key, 1, 1);
      expect(await server.usage(key), `${length}`).toBe(blockBytes(core.used()) + keyBytes(layout, quantum, length, false));
      await server.run("EXPIRE", key, 1000);
      expect(await server.usage(key), `${length}, expires`).toBe(blockBytes(core.used()) + keyBytes(layout, quantum, length, true));
    }
  });

  it("knows the size classes between 64 bytes and large ones", () => {
    expect([64, 65, 80, 81, 128, 129, 160, 161, 256, 257, 4096, 4097, 14_336, 14_337, 2 ** 21 + 1].map((bytes) => sizeClass(bytes, 16)))
      .toEqual([64, 80, 80, 96, 128, 160, 160, 192, 256, 320, 4096, 5120, 14_336, 16_384, 2 ** 21 + 2 ** 19]);
  });
});

/** The quantum of the server's allocator, told by a string whose value takes a multiple of 16. */
async function quantumOf(): Promise<8 | 16> {
  const length = [...Array(60).keys()].find((bytes) => keyBytes(layout, 8, bytes, false) !== keyBytes(layout, 16, bytes, false))!, key = "k".repeat(length);
  await server.run("SET", key, "x".repeat(100));
  const usage = await server.usage(key);
  await server.run("DEL", key);
  return (usage - keyBytes(layout, 8, length, false)) % 16 === 0 ? 8 : 16;
}
