// Commands that ask for more than there is: refused, or answered out of what a bitmap takes, at once. The server has 6 GiB
// of address space and must need less than one.

import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../host/commands.ts";
import { families, type Family, member } from "../support/family.ts";
import type { Argument, Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { useServer } from "../support/suite.ts";

const GIB = 2 ** 30;
const server = useServer({ addressSpace: 6 * GIB });

const TOO_LONG = /^ERR Roaring: string too long: maximum 536870912 bytes/;
const TOO_MANY = /^ERR Roaring: reply too large: maximum 100000000 elements$/;
const NO_RANGE = /^Roaring: range too large: maximum 100000000 elements$/;

interface Demand {
  readonly command: readonly Argument[];
  /** The reply, or the refusal. */
  readonly answer: Reply | RegExp;
}

/** Keys: `high` has a far member, `few` three near ones, `full` every offset there is. */
function demands({ last, bits, name }: Family): Demand[] {
  const all = bits === 32 ? member(last + 1n) : String(last + 1n);
  const demand = (answer: Reply | RegExp, command: string, ...args: Argument[]): Demand => ({ command: [`${name}.${command}`, ...args], answer });
  return [
    demand(TOO_LONG, "GETBITARRAY", "high"),
    demand(TOO_LONG, "GETBITARRAY", "full"),
    demand(TOO_MANY, "GETINTARRAY", "full"),
    demand(NO_RANGE, "RANGEINTARRAY", "few", 0, 4_294_967_295),
    demand(NO_RANGE, "RANGEINTARRAY", "full", 0, last),
    demand(NO_RANGE, "RANGEINTARRAY", "none", 0, last),
    demand(TOO_MANY, "RANGE", "full", 0, last),
    demand("OK", "SETRANGE", "made", 0, last),
    demand(bits === 32 ? member(last) : String(last), "BITOP", "NOT", "made", "high"),
    demand(all, "BITOP", "NOT", "made", "none", last),
    demand(all, "BITOP", "OR", "made", "full", "few"),
    demand(0, "BITOP", "XOR", "made", "full", "full"),
    demand(all, "BITCOUNT", "full"),
    demand(bits === 32 ? member(last - 3n) : String(last - 3n), "FLIPRANGE", "few", 0, last),
    demand("OK", "OPTIMIZE", "full"),
    demand("1", "JACCARD", "full", "full"),
    demand(1, "CONTAINS", "full", "few", "ALL_STRICT"),
    demand("OK", "DIFF", "made", "full", "few"),
  ];
}

describe.each(families.map((family) => ({ family, title: family.name })))("$title", ({ family }) => {
  const roar = roarOn(server, family);

  /** That no command took a second, nor the server a GiB, and that it is there. */
  async function expectThrift(): Promise<void> {
    expect(await server.run("SLOWLOG", "GET")).toEqual([]);
    expect(Number(await server.info("used_memory_peak"))).toBeLessThan(GIB);
    expect(await server.run("PING")).toBe("PONG");
  }

  async function prepare(): Promise<void> {
    await server.run("FLUSHALL");
    await roar.run("SETBIT", "high", family.last, 1);
    await roar.load("few", [1, 2, 3]);
    await roar.run("SETFULL", "full");
  }

  beforeAll(async () => {
    await server.run("CONFIG", "SET", "slowlog-log-slower-than", 1_000_000);
  });

  it("what takes the C module down is answered in time and in little memory", async () => {
    for (const { command, answer } of demands(family)) {
      await prepare();
      if (answer instanceof RegExp) expect(await server.connection.refusal(...command), command.join(" ")).toMatch(answer);
      else expect(await server.run(...command), command.join(" ")).toEqual(answer);
    }
    await expectThrift();
  });

  it("a full bitmap is dumped, restored, copied, digested and reloaded", async () => {
    await prepare();
    const dump = (await roar.dump("full"))!;
    expect(await server.run("RESTORE", "restored", 0, dump)).toBe("OK");
    expect(await server.run("COPY", "full", "copied")).toBe(1);
    await server.run("DEBUG", "RELOAD");
    const digests = (await server.run("DEBUG", "DIGEST-VALUE", "full", "restored", "copied")) as string[];
    expect(new Set(digests).size).toBe(1);
    expect(await roar.run("CONTAINS", "full", "restored", "EQ")).toBe(1);
    await expectThrift();
  });

  it("every command of one key takes a full one", async () => {
    const greatest: Record<string, Argument[]> = {
      SCAN: [family.last, "COUNT", 100], RANGE: [0, family.last, "LIMIT", 100], SELECT: [-1], RANK: [family.last],
      SETRANGE: [0, family.last], CLEARRANGE: [0, family.last], FLIPRANGE: [0, family.last],
      SETBIT: [family.last, 0], GETBIT: [family.last], GETBITS: [family.last], SETBITS: [family.last], CLEARBITS: [family.last],
      DELETEINTARRAY: [family.last], APPENDINTARRAY: [family.last], BITPOS: [0], BITCOUNT: [], MIN: [], MAX: [], STAT: ["JSON"],
      CLEAR: [], OPTIMIZE: [], BITFIELD: ["SET", "u8", 0, 0], BITFIELD_RO: ["GET", "u63", 0], RANGEINTARRAY: [5, 10],
    };
    for (const { name, keys } of commands) {
      if (keys.length !== 1 || !(name in greatest)) continue;
      await prepare();
      await roar.run(name, "full", ...greatest[name]!);
    }
    await expectThrift();
  });
});

describe("TOBITMAP", () => {
  const BYTES = 2 ** 28, narrow = useServer({ addressSpace: 2.5 * BYTES });

  it("takes the memory of its string and no more, and changes nothing where there is none", async () => {
    await narrow.run("R.SETBIT", "k", BYTES * 8 - 1, 1);
    expect(await narrow.run("R.TOBITMAP", "a", "k")).toBe(BYTES);
    expect(Number(await narrow.info("used_memory_peak"))).toBeLessThan(1.5 * BYTES);
    for (const to of ["b", "a", "k"]) {
      expect(await narrow.connection.refusal("R.TOBITMAP", to, "k")).toBe("OOM Roaring: not enough memory for the bitmap");
    }
    expect(await narrow.run("EXISTS", "b")).toBe(0);
    expect(await narrow.run("R.GETINTARRAY", "k")).toEqual([BYTES * 8 - 1]);
    expect(await narrow.run("BITPOS", "a", 1)).toBe(BYTES * 8 - 1);
    await narrow.run("DEL", "a");
    expect(await narrow.run("R.TOBITMAP", "k", "k")).toBe(BYTES);
    expect(await narrow.run("BITPOS", "k", 1)).toBe(BYTES * 8 - 1);
  });
});
