// The setting r64-replies: with `strings`, every 64-bit offset in a reply is a bulk string, in RESP2 and RESP3. Everything else in a reply
// stays as it is, and so do all replies of R.

import { afterEach, describe, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { families, type Family, R64 } from "../support/family.ts";
import { emptyStream } from "../support/format.ts";
import { seeded } from "../support/random.ts";
import type { Argument, Connection, Reply } from "../support/resp.ts";
import type { Server } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";

const setting = (server: Server, kind: "compatible" | "strings"): Promise<Reply> =>
  server.run("CONFIG", "SET", "redis-roar.r64-replies", kind);

/**
 * Calls of every command. Keys: `k` holds 0, 7, 70,000 and the last offset, `e` is empty, `none` is missing, `n` is a native bitmap.
 * `offsets` are the calls whose replies hold offsets.
 */
function calls({ last, bits }: Family): Record<string, { offsets?: Argument[][]; others?: Argument[][] }> {
  return {
    SETBIT: { others: [["k", 7, 0]] }, GETBIT: { others: [["k", 7]] }, GETBITS: { others: [["k", 7, 8, last]] },
    MGETBIT: { others: [[7, "k", "none"]] },
    SETBITS: { others: [["k", 8, 9]] }, CLEARBITS: { others: [["k", 7, "COUNT"], ["k", 0]] }, CLEAR: { others: [["k"]] },
    BITCOUNT: { others: [["k"], ["k", 0, 10], ["full"]] },
    MBITCOUNT: { others: [["k", "none", "full"]] },
    BITPOS: {
      offsets: [["k", 1], ["k", 0], ["k", 1, -1], ["none", 0], ["k", 1, 8, 99_999, "BIT"]], others: [["e", 1], ["none", 1], ["full", 0]],
    },
    SETINTARRAY: { others: [["k", 7]] }, APPENDINTARRAY: { others: [["k", 8]] }, DELETEINTARRAY: { others: [["k", 7]] },
    GETINTARRAY: { offsets: [["k"]], others: [["e"], ["none"]] },
    RANGEINTARRAY: { offsets: [["k", 0, 2], ["k", 1, 99]], others: [["k", 5, 9]] },
    SETRANGE: { others: [["k", 0, last]] }, CLEARRANGE: { others: [["k", 0, last]] }, FLIPRANGE: { others: [["k", 0, last]] },
    SETFULL: { others: [["new"]] },
    MIN: { offsets: [["k"], ["full"]], others: [["e"], ["none"]] },
    MAX: { offsets: [["k"], ["full"], ["seven"]], others: [["e"], ["none"]] },
    RANK: { others: [["k", last], ["full", last]] },
    SELECT: { offsets: [["k", 0], ["k", 2], ["k", -1]], others: [["k", 4], ["e", 0]] },
    RANDMEMBER: { offsets: [["seven"], ["seven", -2], ["k", 9]], others: [["none"], ["e", 3], ["k", 0]] },
    RANDPOP: { offsets: [["seven"], ["k", 9]], others: [["none"], ["e", 3], ["k", 0]] },
    POPMIN: { offsets: [["k"], ["k", 2], ["full", 5]], others: [["e"], ["none"], ["e", 3]] },
    POPMAX: { offsets: [["seven"], ["k", 9]], others: [["e"], ["none"], ["e", 3]] },
    RANGE: { offsets: [["k", 0, last], ["k", 5, 100_000, "LIMIT", 1], ["k", 0, last, "REV"]], others: [["k", 8, 9], ["none", 0, 9]] },
    RANGES: { offsets: [["k", 0, last], ["k", 5, 100_000, "LIMIT", 1], ["full", 0, last]], others: [["k", 8, 9], ["none", 0, 9]] },
    COUNTS: { others: [["k", 1, 0, last], ["full", 2, 0, last, 0, 9], ["none", 1, 0, 9]] },
    SCAN: { offsets: [["k", 0, "COUNT", 2], ["k", 70_000]], others: [["e", 0], ["none", 0]] },
    BITFIELD: { others: [["k", "GET", "u8", 0, "SET", "i16", 3, 500, "INCRBY", "u63", 0, 1]] },
    BITFIELD_RO: { others: [["k", "GET", "u8", 0, "GET", "i64", 0]] },
    BITOP: { others: [["OR", "to", "k", "e"], ["NOT", "to", "k", last]] }, BITOPCARD: { others: [["AND", "k", "full"]] },
    DIFF: { others: [["to", "full", "k"]] }, CONTAINS: { others: [["full", "k", "ALL"]] }, JACCARD: { others: [["k", "full"]] },
    SETBITARRAY: { others: [["k", "0101"]] }, GETBITARRAY: { others: [["seven"]] }, EXPORT: { others: [["k"], ["none"]] },
    IMPORT: { others: [["k", emptyStream(bits)]] }, FROMBITMAP: { others: [["k", "n"]] }, TOBITMAP: { others: [["to", "seven"]] },
    QUERY: {
      offsets: [["#1 - [7..7]", 1, "k", "MEMBERS"], ["#1 | #2", 2, "k", "none", "MEMBERS", "FROM", 8, "LIMIT", 2], ["#1 | #2", 2, "k", "none", "MEMBERS", "REV", "LIMIT", 3]],
      others: [["#1", 1, "k"], ["~#1", 1, "none"], ["#1", 1, "k", "EXPORT"], ["#1", 1, "none", "MEMBERS"]],
    },
    FACET: { others: [["#1", 1, "k", 3, "seven", "full", "e"], ["#1", 1, "full", 2, "k", "full", "TOP", 1], ["#1", 1, "k", 1, "seven", "BY", "JACCARD"]] },
    CROSSCARD: { others: [[2, "k", "full", 2, "full", "seven"], [1, "k", 1, "full", "WITHIN", "~#1", 1, "seven"]] },
    QUERYSTORE: { others: [["to", "#1 - [7..7]", 1, "k"], ["to", "#1", 1, "k", "OFFSET", -5, "FROM", 7]] },
    STAT: { others: [["k"], ["k", "JSON"]] }, OPTIMIZE: { others: [["k"]] },
  };
}

/** The reply with each offset as a string. SCAN's cursor is one already. */
const spelled = (reply: Reply): Reply => (Array.isArray(reply) ? reply.map(spelled) : String(reply));

describe.each(byName(families))("r64-replies: %s", (_, family) => {
  const server = useServer();
  const name = (command: string): string => `${family.name}.${command}`;
  afterEach(() => setting(server, "compatible"));

  /** The replies under both settings, on equal data. */
  async function both(connection: Connection, command: string, args: readonly Argument[]): Promise<[compatible: Reply, strings: Reply]> {
    const found: Reply[] = [];
    for (const kind of ["compatible", "strings"] as const) {
      await server.run("FLUSHALL", "SYNC");
      await server.run(name("SETINTARRAY"), "k", 0, 7, 70_000, family.last);
      await server.run(name("CLEARBITS"), "k", 9);
      await server.run(name("SETINTARRAY"), "seven", 7);
      await server.run(name("SETBIT"), "e", 0, 0);
      await server.run(name("SETFULL"), "full");
      await server.run("SETBIT", "n", 7, 1);
      await setting(server, kind);
      found.push(await connection.run(name(command), ...args));
    }
    return found as [Reply, Reply];
  }

  it("has calls of every command", () => {
    expect(Object.keys(calls(family)).sort()).toEqual(commands.map((command) => command.name).sort());
  });

  describe.each([2, 3] as const)("over RESP%i", (protocol) => {
    it.each(Object.entries(calls(family)))("%s", async (command, { offsets = [], others = [] }) => {
      const connection = server.speaking(protocol);
      let integers = 0;
      for (const args of offsets) {
        const [compatible, strings] = await both(connection, command, args);
        integers += Number(typeof (Array.isArray(compatible) ? compatible.flat()[1] : compatible) === "number");
        expect(strings, args.join(" ")).toEqual(family === R64 ? spelled(compatible) : compatible);
      }
      expect(integers > 0).toBe(offsets.length > 0);
      for (const args of others) {
        const [compatible, strings] = await both(connection, command, args);
        expect(strings, args.join(" ")).toEqual(compatible);
      }
    });
  });

  it("leaves the -1 of an offset that there is not an integer", async () => {
    await setting(server, "strings");
    await server.run(name("SETFULL"), "full");
    const absent = [["MIN", "none"], ["MAX", "none"], ["BITPOS", "none", 1], ["BITPOS", "full", 0]] as const;
    for (const [command, ...args] of absent) expect(await server.run(name(command), ...args)).toBe(-1);
  });
});

describe("offsets as strings", () => {
  const server = useServer({ moduleArguments: ["R64-REPLIES", "strings"] });

  it("have their exact digits", seeded(async (random) => {
    const tens = Array.from({ length: 20 }, (_, digits) => 10n ** BigInt(digits));
    const near = (value: bigint): bigint[] => [value - 10_001n, value - 2n, value - 1n, value, value + 1n, value + 9_999n, value + 10_000n];
    const scattered = Array.from({ length: 2000 }, () => random.u64() >> BigInt(random.below(64)));
    const dense = Array.from({ length: 12_000 }, (_, i) => (1n << 62n) + BigInt(3 * i));
    const members = [...new Set([0n, 2n ** 63n, 2n ** 64n - 1n, ...tens.flatMap(near), ...scattered, ...dense])]
      .filter((value) => value >= 0n && value < 2n ** 64n).sort((a, b) => (a < b ? -1 : 1));
    await server.run("R64.SETINTARRAY", "k", ...members);
    expect(await server.run("R64.GETINTARRAY", "k")).toEqual(members.map(String));
    const ranks = Array.from({ length: 300 }, () => random.below(members.length));
    const selected = await server.connection.pipeline(ranks.map((rank) => ["R64.SELECT", "k", rank]));
    expect(selected).toEqual(ranks.map((rank) => String(members[rank])));
  }));

  it("are exact in scripts, where numbers are doubles", async () => {
    await server.run("R64.SETINTARRAY", "k", 2n ** 53n + 1n);
    const script = "return {type(redis.call('R64.MIN', 'k')), redis.call('R64.GETINTARRAY', 'k')[1]}";
    expect(await server.run("EVAL", script, 1, "k")).toEqual(["string", "9007199254740993"]);
    expect(await server.run("EVAL", "return redis.call('R64.BITCOUNT', 'k')", 1, "k")).toBe(1);
  });
});
