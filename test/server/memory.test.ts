// The memory that bitmaps take, as the server accounts for it.

import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { dumpOf } from "../support/dump.ts";
import { families, type Family, type Member, R, R64, range, sorted } from "../support/family.ts";
import { random as seededRandom, seeded } from "../support/random.ts";
import type { Command } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { byName, useServer } from "../support/suite.ts";
import { since } from "../support/version.ts";

const KEYS = 250_000, MILLION = 1_000_000, MEBI = 2 ** 20;

const server = useServer();
const usedMemory = (): Promise<number> => server.number("used_memory");

const arenaBytes = (): Promise<number> => server.number("redis-roar_arena_bytes");

describe("many keys", () => {
  /** Evaluates a Lua expression for every key, in batches, and returns the sum. */
  async function forEachKey(statement: string): Promise<number> {
    const script = `
      local sum = 0
      for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
        local key = string.format('key:%07d', i)
        sum = sum + (${statement})
      end
      return sum`;
    let sum = 0;
    for (let from = 0; from < KEYS; from += 10_000) sum += (await server.run("EVAL", script, 0, from, from + 9999)) as number;
    return sum;
  }

  /** Fills an empty server. Returns the rise of used_memory and the sum of MEMORY USAGE. */
  async function weigh(fill: string): Promise<{ rise: number; usage: number }> {
    await server.run("FLUSHALL", "SYNC");
    const before = await usedMemory();
    await forEachKey(`redis.call(${fill}) and 0`);
    const usage = await forEachKey("redis.call('MEMORY', 'USAGE', key)");
    return { rise: (await usedMemory()) - before, usage };
  }

  it("with one member each take what MEMORY USAGE reports, and are evicted when memory is short", async () => {
    // What the server itself needs for a key differs between versions, and MEMORY USAGE counts only a part of it. Larger bitmaps need
    // the same, so the difference between the two is that of the bitmaps.
    const larger = await weigh(`'R.SETINTARRAY', key, ${range(0, 60, 1001).join()}`);
    const bitmaps = await weigh("'R.SETBIT', key, i, 1");
    const rise = larger.rise - bitmaps.rise, usage = larger.usage - bitmaps.usage;
    console.log(`${KEYS} keys: used_memory rose by ${bitmaps.rise}, MEMORY USAGE sums to ${bitmaps.usage}; with 60 members ${rise} and ${usage} more`);
    expect(usage).toBeGreaterThan(40 * KEYS);
    expect(usage / rise).toBeGreaterThan(0.95);
    expect(usage / rise).toBeLessThan(1.05);
    expect(await arenaBytes()).toBeLessThan(bitmaps.rise);

    const limit = Math.floor((await usedMemory()) - 0.3 * bitmaps.rise);
    const near = limit * 1.001; // used_memory varies with the clients' buffers
    await server.run("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    await server.run("CONFIG", "SET", "maxmemory", limit);
    try {
      for (let i = 0; (await usedMemory()) > near && i < 1000; i++) await server.run("SET", "more", i).catch(() => {});
      expect(await usedMemory()).toBeLessThanOrEqual(near);
      expect(await server.number("evicted_keys")).toBeGreaterThan(0.2 * KEYS);
      expect(await server.run("DBSIZE")).toBeLessThan(0.8 * KEYS);
      expect(await server.run("R.SETBIT", "new", 7, 1)).toBe(0);
    } finally {
      await server.run("CONFIG", "SET", "maxmemory", 0);
      await server.run("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  }, 180_000);
});

describe.each(byName(families))("%s: a bitmap", (_family, family) => {
  const roar = roarOn(server, family);

  it("is freed completely by DEL, UNLINK, overwriting and FLUSHALL", async () => {
    await roar.load("k", range(0, 100_000, 7));
    const dump = (await roar.dump("k"))!, load = () => server.run("RESTORE", "k", 0, dump, "REPLACE");
    const ways: Command[] = [["DEL", "k"], ["UNLINK", "k"], ["SET", "k", ""], [roar.name("BITOP"), "OR", "k", "none"], ["FLUSHALL", "SYNC"]];
    await load();
    await server.run("DEL", "k");
    const before = await usedMemory();
    for (const way of ways) {
      for (let i = 0; i < 20; i++) {
        await load();
        await server.run(...way);
      }
      await server.run("DEL", "k");
      const leaked = (await usedMemory()) - before;
      expect(leaked, way.join(" ")).toBeLessThan(600_000); // one value takes at least 200,000 bytes, 20 leaked ones 4,000,000
    }
  });

  it("does not leak memory in commands that are refused or change nothing", async () => {
    const values = range(0, 2000);
    const many = Array<string>(1000).fill("k"); // a list of operands for which the host allocates memory
    await server.connection.pipeline([[roar.name("SETINTARRAY"), "k", ...values], ["SET", "string", ""]]);
    const commands: Command[] = [
      [roar.name("APPENDINTARRAY"), "k", ...values],
      [roar.name("APPENDINTARRAY"), "k", ...values, "x"],
      [roar.name("APPENDINTARRAY"), "string", ...values],
      [roar.name("SETINTARRAY"), "string", ...values],
      [roar.name("SETINTARRAY"), "k", ...values, "x"],
      [roar.name("BITOP"), "OR", "d", "k", "string"],
      [roar.name("BITOP"), "NOT", "d", "string"],
      [roar.name("BITOP"), "OR", "d", ...many, "string"],
      [roar.name("BITOPCARD"), "OR", ...many, "k"],
      [roar.name("BITOPCARD"), "OR", ...many, "string"],
      [roar.name("QUERY"), "any(#1..#1001)", 1001, ...many, "k"],
      [roar.name("QUERY"), "any(#1..#1001)", 1001, ...many, "string"],
      [roar.name("QUERYSTORE"), "d", "any(#1..#1001)", 1001, ...many, "string"],
      [roar.name("SETBIT"), "string", 1, 1],
      ["RESTORE", "bad", 0, dumpOf(family.type, Buffer.alloc(5000, 1))],
    ];
    const repeat = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) await server.connection.pipeline(commands);
    };
    await repeat(10);
    const before = await usedMemory();
    await repeat(100);
    expect((await usedMemory()) - before).toBeLessThan(400_000); // 100 leaked lists of values would be 1,600,000 bytes
  });

  it("of many containers takes as much as used_memory rises, according to MEMORY USAGE", async () => {
    const appends = roar.appends("k", range(0, 2_000_000, 11));
    await server.connection.pipeline([...appends, ["DEL", "k"]]); // the module's workspace has its final size from now on
    const before = await usedMemory();
    await server.connection.pipeline(appends);
    const usage = await server.usage("k");
    // The server frees the buffers of its input some time later.
    await expect.poll(async () => usage / ((await usedMemory()) - before), { timeout: 20_000 }).toBeCloseTo(1, 1);
  });

  it.skipIf(process.platform !== "linux")("of many megabytes grows without holding its memory twice", async () => {
    const BYTES = 55 * MEBI + MEBI / 2;       // the bitmap nearly fills a size class of jemalloc
    await server.connection.pipeline([["SET", "bits", randomBytes(BYTES)], [roar.name("FROMBITMAP"), "k", "bits"], ["DEL", "bits"]]);
    const before = await server.usage("k");
    await writeFile(`/proc/${server.pid}/clear_refs`, "5");  // the peak is from now on
    const resident = await server.resident("VmRSS");
    for (let from = BYTES / 8192; (await server.usage("k")) === before; from += 2000) {
      await roar.run("APPENDINTARRAY", "k", ...Array.from({ length: 6000 }, (_, i) => (from + Math.floor(i / 3)) * 65_536 + i % 3));
    }
    expect(await server.resident("VmHWM")).toBeLessThan(resident + 0.3 * before);
    expect(await roar.run("BITCOUNT", "k", 0, 99)).toBeGreaterThan(200);
    await server.run("DEL", "k");
  });

  it("takes at most twice what its members need after any sequence of changes", seeded(async (random) => {
    const offset = () => random.below(100) * 65_536 + (random.chance(0.5) ? random.below(65_536) : random.below(9000));
    for (let round = 0; round < 40; round++) {
      const from = offset();
      const change = random.pick([
        () => Array.from({ length: 2000 }, () => [roar.name("SETBIT"), "k", offset(), 1] as Command),
        () => Array.from({ length: 2000 }, () => [roar.name("SETBIT"), "k", offset(), 0] as Command),
        () => roar.appends("k", range(from, 20_000)),
        () => range(from, 20_000).map((m): Command => [roar.name("SETBIT"), "k", m, 0]),
      ]);
      await server.connection.pipeline(change());
      const usage = await server.usage("k");
      await server.run("RESTORE", "tight", 0, (await roar.dump("k"))!, "REPLACE");
      const least = await server.usage("tight");
      expect(usage).toBeLessThanOrEqual(2 * least + 1000);
    }
  }));

  it("gives memory back as its members are removed, one by one, by lists and by ranges", seeded(async (random) => {
    const far = (n: number, step: number): number[] => Array.from({ length: n }, (_, i) => i * step);
    const shapes: [name: string, members: number[]][] = [
      ["far apart", far(1000, 100_000)], ["in one container", far(1000, 60)], ["six to a container", far(3000, 11_000)],
      ["every other offset", far(9000, 2)], ["dense", far(9000, 1)], ["dense and one far away", [...far(9000, 2), 65_000]],
      ["a year", far(180, 2)], ["many lone ones", far(4000, 70_000)],
    ];
    const ways: [name: string, remove: (members: number[]) => Promise<unknown>][] = [
      ["one by one", (members) => server.speaking(2).pipeline(members.map((offset) => [`${family.name}.SETBIT`, "k", offset, 0]))],
      ["by a list", (members) => roar.run("CLEARBITS", "k", ...members)],
      ["by lists of seven", (members) => server.speaking(2).pipeline(Array.from({ length: Math.ceil(members.length / 7) }, (_, i) =>
        [`${family.name}.CLEARBITS`, "k", ...members.slice(i * 7, i * 7 + 7)]))],
      ["by a range", (members) => roar.run("CLEARRANGE", "k", members[0]!, members.at(-1)! + 1)],
    ];
    for (const [shape, members] of shapes) {
      for (const [way, remove] of ways) {
        for (const left of [1, 30]) {
          for (const side of ["first", "last", "any"]) {
            if (side === "any" && way === "by a range") continue;
            const order = side === "any" ? [...members].sort(() => random.below(3) - 1) : members;
            const gone = side === "last" ? order.slice(0, -left) : order.slice(left), kept = side === "last" ? order.slice(-left) : order.slice(0, left);
            await roar.load("k", members);
            await remove(gone);
            const bytes = await server.usage("k"), containers = new Set(kept.map((offset) => Math.floor(offset / 65_536))).size;
            expect(await roar.run("BITCOUNT", "k")).toBe(left);
            expect(bytes, `${shape}, ${way}, ${left} ${side} left`).toBeLessThanOrEqual(left === 1 ? 64 : 416 + 40 * containers + 8 * left);
            await server.run("DEL", "k");
          }
        }
      }
    }
  }));

  it("of up to 16 members in one container takes at most 64 bytes", async () => {
    // What MEMORY USAGE adds for the key itself differs between servers.
    const overhead: Record<string, number> = {};
    for (const key of ["bit by bit", "at once", "empty"]) {
      await roar.load(key, []);
      overhead[key] = (await server.usage(key)) - (await arenaBytes());
      await server.run("DEL", key);
    }
    const valueBytes = async (key: string): Promise<number> => (await server.usage(key)) - overhead[key]!;

    const bases = [0n, 65_536n * 5n, family.last - 65_535n];
    const spreads = [(i: number) => i, (i: number) => 65_535 - i, (i: number) => i * 4096 + 13, (i: number) => (i * 40_503) % 65_536];
    for (const base of bases) {
      for (const spread of spreads) {
        const offsets = Array.from({ length: 16 }, (_, i) => base + BigInt(spread(i)));
        for (let count = 1; count <= 16; count++) {
          await roar.run("SETBIT", "bit by bit", offsets[count - 1]!, 1);
          expect(await valueBytes("bit by bit"), `${count} members`).toBeLessThanOrEqual(64);
          await roar.run("SETINTARRAY", "at once", ...offsets.slice(0, count));
          expect(await valueBytes("at once"), `${count} members`).toBeLessThanOrEqual(64);
        }
        await server.run("DEL", "bit by bit");
      }
    }
    await roar.load("empty", []);
    expect(await valueBytes("empty")).toBeLessThanOrEqual(64);
  });
});

describe("few members far apart", () => {
  const roar = roarOn(server, R64);

  it.each([22, 3])("take at most 16 bytes more than a native set of integers, with %i random low bits", async (bits) => {
    const { below } = seededRandom(366), ids = new Set<bigint>();
    while (ids.size < 512) ids.add((1_700_000_000_000n + BigInt(below(86_400_000)) << 22n) | BigInt(below(2 ** bits)));
    await server.run("DEL", "far", "set");
    for (const id of ids) {
      await roar.run("SETBIT", "far", id, 1);
      const members = (await server.run("SADD", "set", id), await server.run("SCARD", "set"));
      const more = (await server.usage("far")) - (await server.usage("set"));
      expect(more, `${String(members)} members`).toBeLessThanOrEqual(16);
    }
  });
});

// A packed leaf takes 4 bytes, and 2 to 4 bytes for each of these members; a native set of integers 8, and 2, 4 or 8. What takes the place
// of a packed leaf is smaller.
describe.each(byName(families))("%s: few members among many ids", (_family, family) => {
  const roar = roarOn(server, family);

  it.each([10 ** 4, 10 ** 5, 10 ** 6, 10 ** 8, 2 ** 32])("take at most 16 bytes more than a native set of integers, among %i", async (ids) => {
    const { below } = seededRandom(366), members = new Set<number>();
    while (members.size < 512) members.add(below(ids));
    await server.run("DEL", "one", "set");
    let count = 0;
    for (const member of members) {
      const [, , one, set] = await server.connection.pipeline([
        [roar.name("SETBIT"), "one", member, 1], ["SADD", "set", member], ["MEMORY", "USAGE", "one"], ["MEMORY", "USAGE", "set"],
      ]);
      expect(Number(one) - Number(set), `${++count} members`).toBeLessThanOrEqual(16);
      if (count % 32) continue;
      await roar.run("SETINTARRAY", "two", ...[...members].slice(0, count));
      await roar.run("BITOP", "OR", "six", "one", "two");
      expect((await server.usage("two")) - Number(set), `${count} members at once`).toBeLessThanOrEqual(16);
      expect((await server.usage("six")) - Number(set), `${count} members of a result`).toBeLessThanOrEqual(16);
    }
  });
});

describe.each(byName(families))("%s: sign-ins", (_family, family) => {
  const roar = roarOn(server, family), same = "sign-ins";

  /** MEMORY USAGE of a key after these commands. */
  async function usage(...commands: Command[]): Promise<number> {
    await server.connection.pipeline([["DEL", same], ...commands]);
    return await server.usage(same);
  }

  /** MEMORY USAGE of a key with these members, set one at a time, of ours and of the native bitmap under the same name. */
  async function usages(days: number[]): Promise<{ ours: number; native: number }> {
    const oneByOne = (command: string): Promise<number> => usage(...days.map((day): Command => [command, same, day, 1]));
    return { ours: await oneByOne(roar.name("SETBIT")), native: await oneByOne("SETBIT") };
  }

  it("of any number of days take as much when they are set by one command", seeded(async (random) => {
    for (let n = 1; n <= 366; n += n < 40 ? 1 : 7) {
      const days = random.shuffled(range(0, 366)).slice(0, n), { ours } = await usages(days);
      for (const command of ["SETBITS", "APPENDINTARRAY", "SETINTARRAY"]) {
        expect(await usage([roar.name(command), same, ...days]), `${n} days, ${command}`).toBeLessThanOrEqual(ours + 16);
      }
    }
  }));

  // These servers keep a short string in the object of its key, in 40 bytes with this name.
  const more = since({ Redis: "8.2", Valkey: "9.0" }) ? 24 : 16;

  it(`of any number of days of a year take at most ${more} bytes more than a native bitmap, of 2 to 32 days less on average`, seeded(async (random) => {
    for (let n = 1; n <= 366; n += n < 40 ? 1 : 7) {
      let ours = 0, native = 0;
      for (let draw = 0; draw < 12; draw++) {
        const one = await usages(random.shuffled(range(0, 366)).slice(0, n));
        expect(one.ours, `${n} days`).toBeLessThanOrEqual(one.native + more);
        ours += one.ours;
        native += one.native;
      }
      if (n >= 2 && n <= 32) expect(ours, `${n} days`).toBeLessThan(native);
    }
  }), 120_000);

  it("of every other day of five years take at most what a native bitmap takes, in any order", seeded(async (random) => {
    const days = range(0, 1826).filter((day) => day % 2 === 0);
    for (const order of [days, random.shuffled(days)]) {
      const { ours, native } = await usages(order);
      expect(ours).toBeLessThanOrEqual(native);
      expect(ours).toBeLessThanOrEqual(304);
    }
  }));

  it("take the same memory after each round of setting and clearing a day, at any number of days", seeded(async (random) => {
    const days = random.shuffled(range(0, 366));
    for (let n = 1; n < 60; n++) {
      const key = "k", day = days[n]!, sizes = new Set<number>();
      await server.connection.pipeline([["DEL", key], ...days.slice(0, n).map((at): Command => [roar.name("SETBIT"), key, at, 1])]);
      for (let round = 0; round < 20; round++) {
        await server.connection.pipeline([[roar.name("SETBIT"), key, day, 1], [roar.name("SETBIT"), key, day, 0]]);
        sizes.add(await server.usage(key));
      }
      expect(sizes.size, `${n} days`).toBe(1);
    }
  }));
});

describe("a million members", () => {
  const roar = roarOn(server, R64);

  /** Appends a hundred members at a time. Returns bytes and microseconds per member. */
  async function append(key: string, members: Member[]): Promise<{ bytes: number; microseconds: number }> {
    await server.run("CONFIG", "RESETSTAT");
    const commands = roar.appends(key, members, 100);
    for (let i = 0; i < commands.length; i += 100) await server.connection.pipeline(commands.slice(i, i + 100));
    expect(await roar.run("BITCOUNT", key)).toBe(members.length);
    const usec = /usec=(\d+)/.exec(await server.info(`cmdstat_${roar.name("APPENDINTARRAY")}`))![1];
    return { bytes: (await server.usage(key)) / members.length, microseconds: Number(usec) / members.length };
  }

  /** Expects at most `most` bytes per member. Prints how the time per member grows from ten thousand to a million, next to log n. */
  async function expectBytes(members: Member[], most: number, what: string): Promise<void> {
    const few = await append("few", members.slice(0, 10_000));
    const many = await append("many", members);
    const growth = many.microseconds / few.microseconds;
    console.log(
      `1,000,000 ${what}: ${many.bytes.toFixed(1)} bytes each; ${few.microseconds.toFixed(3)} us each for the first 10,000, `
      + `${many.microseconds.toFixed(3)} for all (x ${growth.toFixed(2)}; log n: x ${(Math.log(MILLION) / Math.log(10_000)).toFixed(2)})`,
    );
    expect(many.bytes).toBeLessThanOrEqual(most);
  }

  /** Expects at most `most` bytes per member of the key after OPTIMIZE. */
  async function expectOptimized(key: string, most: number): Promise<void> {
    await roar.run("OPTIMIZE", key);
    const bytes = (await server.usage(key)) / MILLION;
    console.log(`${key}, optimized: ${bytes.toFixed(1)} bytes each`);
    expect(bytes).toBeLessThanOrEqual(most);
  }

  it("of 64 random bits take at most 11 bytes each, and 8.5 after OPTIMIZE", seeded(async (random) => {
    const members = new Set<bigint>();
    while (members.size < MILLION) members.add(random.u64());
    await expectBytes([...members], 11, "random members");
    await expectOptimized("many", 8.5);
    await server.run("DEL", "few", "many");
  }), 180_000);

  it("that are ids of one day with random low bits take at most 9 bytes each, in any order", seeded(async (random) => {
    const ids = new Set<bigint>(), midnight = 1_420_070_400_000n;
    while (ids.size < MILLION) ids.add(((midnight + BigInt(random.below(86_400_000))) << 22n) | BigInt(random.below(2 ** 22)));
    await expectBytes([...ids], 9, "ids in random order");
    await server.run("DEL", "few", "many");
    await expectBytes(sorted(ids), 9, "ids in ascending order");
    await server.run("DEL", "few", "many");
  }), 180_000);

  it("that are snowflake ids of one day take at most 24 bytes each", seeded(async (random) => {
    // 41 bits of milliseconds, 10 of worker, 12 of sequence. Ids arrive in the order of time.
    const DAY = 86_400_000;
    const midnight = 1_420_070_400_000n; // milliseconds since the epoch of the ids
    const times = Array.from({ length: MILLION }, () => random.below(DAY)).sort((a, b) => a - b);
    const ids = new Set<bigint>();
    for (const time of times) ids.add(((midnight + BigInt(time)) << 22n) | (BigInt(random.below(32)) << 12n));
    while (ids.size < MILLION) ids.add(((midnight + BigInt(DAY + ids.size)) << 22n));
    await expectBytes([...ids], 24, "snowflake ids");
  }), 180_000);

  it("in one run take less than 2 kB, and at every other offset less than half a byte each", async () => {
    const low: Family = R;
    await roarOn(server, low).run("BITOP", "NOT", "run", "none", MILLION - 1);
    expect(await server.usage("run")).toBeLessThan(2000);
    await server.connection.pipeline(roarOn(server, low).appends("half", range(0, MILLION, 2)));
    expect((await server.usage("half")) / MILLION).toBeLessThan(0.5);
  });
});
