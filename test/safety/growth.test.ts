// Writes that run out of memory must leave the bitmap unchanged. The test build has a command for this, ROAR.LIMIT: no bitmap can then
// grow beyond that many bytes.

import { afterEach, describe, expect, it } from "vitest";
import { families } from "../support/family.ts";
import { random as seeded, seed } from "../support/random.ts";
import type { Argument } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { built, withDebug } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";

const OOM = "OOM Roaring: not enough memory for the bitmap";
const UNLIMITED = 2 ** 32 - 1;

describe.each(byName(families))("%s: a write that runs out of memory", (_family, family) => {
  const server = useServer({ module: built("redis-roar-trap.so"), moduleArguments: withDebug });
  const roar = roarOn(server, family);
  const limit = (bytes: number) => server.run("ROAR.LIMIT", bytes);
  afterEach(() => limit(UNLIMITED));

  /** The key's members as a stream, after validating the bitmap. */
  const contents = async (): Promise<unknown> => {
    expect(await server.run("R.DEBUG", "VALIDATE", "k")).toBe("OK");
    return roar.run("EXPORT", "k");
  };
  const spread = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * 65_537 * 3) % 2 ** 32);

  /** Runs the command with the limit in force. Returns whether it was refused, for which OOM is the only reason it may give. */
  const isRefused = async (bytes: number, command: string, args: readonly Argument[]): Promise<boolean> => {
    await limit(bytes);
    const error = await roar.run(command, ...args).then(() => undefined, ({ message }: Error) => message);
    await limit(UNLIMITED);
    if (error !== undefined) expect(error, command).toBe(OOM);
    return error !== undefined;
  };

  /** More bytes of bitsets than the workspace that the module keeps for building results. */
  const dense = "01".repeat(2_200_000);

  const writes: [string, Argument[]][] = [
    ["SETBITS", ["k", ...spread(400).map((offset) => offset + 1)]],
    ["APPENDINTARRAY", ["k", ...spread(5000).map((offset) => offset + 2)]],
    ["SETINTARRAY", ["k", ...spread(5000)]],
    ["SETRANGE", ["k", 100, 3_000_000_000]],
    ["CLEARRANGE", ["k", 100, 300_000]],
    ["FLIPRANGE", ["k", 0, 4_000_000_000]],
    ["BITFIELD", ["k", "SET", "u8", 100_000, 255, "SET", "u16", 2_000_000_000, 65_535, "INCRBY", "i64", 3_000_000_000, -1]],
    ["BITOP", ["NOT", "k", "other"]],
    ["BITOP", ["OR", "k", "k", "other"]],
    ["SETBITARRAY", ["k", dense]],
    ["DIFF", ["k", "other", "k"]],
  ];

  const named = writes.map(([command, args]) => ({ name: command === "BITOP" ? `BITOP ${String(args[0])}` : command, command, args }));
  it.each(byName(named))("%s leaves the members unchanged and replies with OOM", async (_, { command, args }) => {
    await roar.run("SETBITARRAY", "other", dense);
    await roar.load("k", spread(300));
    await roar.run("OPTIMIZE", "k");
    const before = await contents();
    let refusals = 0;
    for (const bytes of [0, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 12_000]) {
      if (!(await isRefused(bytes, command, args))) break;
      refusals++;
      expect(await contents()).toEqual(before);
    }
    expect(refusals).toBeGreaterThan(0);
    await roar.run(command, ...args);
    await contents();
    expect(await server.info("redis-roar_bitmaps_damaged")).toBe("0");
  });

  it("still clears a range if there is too little for a second bitmap", async () => {
    await roar.load("k", spread(1000));
    const cleared = 600, kept = (await roar.members("k")).slice(cleared), end = Math.floor(Number(kept[0]) / 65_536) * 65_536;
    expect(await isRefused(0, "CLEARRANGE", ["k", 0, end])).toBe(false);
    await contents();
    expect(await roar.members("k")).toEqual(kept);
  });

  it("does not create a missing key", async () => {
    const creating = writes.filter(([command]) => !["BITOP", "DIFF", "CLEARRANGE"].includes(command));
    expect(creating).toHaveLength(7);
    for (const [command, args] of creating) {
      expect(await isRefused(0, command, args), command).toBe(true);
      expect(await server.run("EXISTS", "k"), command).toBe(0);
    }
  });

  it("propagates nothing to replicas and the AOF", async () => {
    await roar.load("k", spread(300));
    await limit(0);
    const before = await server.info("master_repl_offset");
    expect(await roar.refusal("APPENDINTARRAY", "k", ...spread(5000))).toBe(OOM);
    expect(await server.info("master_repl_offset")).toBe(before);
  });

  it("leaves the members unchanged in a long random sequence of writes", async () => {
    const random = seeded(seed), growing = ["APPENDINTARRAY", "SETBITS", "SETRANGE", "FLIPRANGE"];
    const refused = new Map<string, number>(), done = new Map<string, number>();
    for (let round = 0; round < 600; round++) {
      if (round === 0 || random.chance(0.15)) { // after a long range, lists rarely need memory: start anew now and then
        await roar.load("k", spread(1000));
        await roar.run("OPTIMIZE", "k");
      }
      const before = await contents(), [last, most] = random.pick([[300_000, 80], [2 ** 32, 1500]] as const);
      const offsets = Array.from({ length: 1 + random.below(most) }, () => random.below(last));
      const command = random.pick([...growing, "DELETEINTARRAY"]);
      const args = command.endsWith("RANGE") ? [Math.min(...offsets), Math.max(...offsets)] : offsets;
      const refusal = await isRefused(random.below(random.pick([20_000, 120_000, 2_000_000])), command, ["k", ...args]);
      const counts = refusal ? refused : done;
      counts.set(command, (counts.get(command) ?? 0) + 1);
      if (refusal) expect(await contents(), `${command}, SEED=${seed}`).toEqual(before);
    }
    for (const command of growing) {
      expect(refused.get(command), `${command} refused, SEED=${seed}`).toBeGreaterThan(1);
      expect(done.get(command), `${command} done, SEED=${seed}`).toBeGreaterThan(1);
    }
  });
});
