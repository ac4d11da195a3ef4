// What the tool computes for a bitmap is what MEMORY USAGE says, to the byte: arenas of all forms and sizes, and names of all lengths.

import { describe, expect, it } from "vitest";
import { type Advice } from "../../cli/src/advising/rows.ts";
import { type Conversion } from "../../cli/src/convert.ts";
import { Format } from "../../cli/src/core/core.ts";
import { blockBytes, keyBytes, keyLayout, sizeClass } from "../../cli/src/core/sizes.ts";
import { type Inspection } from "../../cli/src/inspect.ts";
import { Cluster } from "../support/cluster.ts";
import { type Random, random, seed } from "../support/random.ts";
import { type Server } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { loadCore, toolHere } from "../support/tool.ts";
import { serverName } from "../support/version.ts";

const server = useServer();
const core = await loadCore();
const [name, version] = serverName.split(" ") as [string, string], family = name === "Valkey" ? "valkey" : "redis", layout = keyLayout({ name: family, version });

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

  it("counts what a cluster keeps with each key", async () => {
    const inCluster = keyLayout({ name: family, version, isCluster: true });
    const cluster = await Cluster.start(1), { server: node } = cluster.primaries[0]!;
    const quantum = await quantumOf(node, inCluster), port = String(node.port);
    core.collect(Uint32Array.of(1));
    for (const length of [1, 20, 31, 32, 130, 257]) {
      const key = "k".repeat(length);
      await node.run("R.SETBIT", key, 1, 1);
      expect(await node.usage(key), `${length}`).toBe(blockBytes(core.used()) + keyBytes(inCluster, quantum, length, false));
      const found = JSON.parse((await toolHere("inspect", key, "--json", "-p", port)).out) as Inspection;
      expect([found.bytesNow, found.bytesRoaring]).toEqual(Array(2).fill(await node.usage(key)));
      await node.run("DEL", key);
    }
    // From those that save nothing to those that do, in steps that are smaller than what a cluster may keep.
    const usages = new Map<string, number>(), r = random(1); // always the same
    for (let i = 0; i < 150; i++) {
      const last = 8 * (1 + i % 50), bits = Array.from({ length: 1 + i % 6 }, (_, n) => ["SETBIT", `b:${i}`, n === 0 ? last : r.below(last), 1] as const);
      await node.connection.pipeline([["SADD", `s:${i}`, ...Array.from({ length: 1 + i % 40 }, () => r.below(30_000))], ...bits]);
      for (const key of [`s:${i}`, `b:${i}`]) usages.set(key, await node.usage(key));
    }
    const advised = JSON.parse((await toolHere("advise", "--json", "-p", port)).out) as Advice;
    const options = ["--match", "*", "--assume-bitmaps", "--json", "-p", port];
    const [dry, done] = [await toolHere("convert", "--dry-run", ...options), await toolHere("convert", ...options)].map(({ out }) => JSON.parse(out) as Conversion);
    expect(dry).toMatchObject({ converted: done!.converted, bytesBefore: done!.bytesBefore, bytesAfter: done!.bytesAfter });
    const left = Object.values(done!.skipped).reduce((sum, count) => sum + count, 0);
    expect([done!.converted > 10, left > 10, done!.failed]).toEqual([true, true, []]);
    let saving = 0;
    for (const [key, before] of usages) {
      const isConverted = String(await node.run("TYPE", key)) === "reroaring", now = await node.usage(key);
      expect(isConverted ? now < before : now === before, `${key}: ${before}, ${now}`).toBe(true);
      if (isConverted) saving += before - now;
    }
    expect(advised.rows.reduce((sum, row) => sum + (row.saved ?? 0) + row.largerBytes, 0)).toBe(saving);
    await cluster.stop();
  });

  it("knows the size classes between 64 bytes and large ones", () => {
    expect([64, 65, 80, 81, 128, 129, 160, 161, 256, 257, 4096, 4097, 14_336, 14_337, 2 ** 21 + 1].map((bytes) => sizeClass(bytes, 16)))
      .toEqual([64, 80, 80, 96, 128, 160, 160, 192, 256, 320, 4096, 5120, 14_336, 16_384, 2 ** 21 + 2 ** 19]);
  });
});

/** The quantum of the server's allocator, told by a string whose value takes a multiple of 16. */
async function quantumOf(node: Server = server, inNode = layout): Promise<8 | 16> {
  const length = [...Array(60).keys()].find((bytes) => keyBytes(inNode, 8, bytes, false) !== keyBytes(inNode, 16, bytes, false))!, key = "k".repeat(length);
  await node.run("SET", key, "x".repeat(100));
  const usage = await node.usage(key);
  await node.run("DEL", key);
  return (usage - keyBytes(inNode, 8, length, false)) % 16 === 0 ? 8 : 16;
}
