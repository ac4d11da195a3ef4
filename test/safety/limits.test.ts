// Commands that could need huge amounts of memory or time, on bitmaps with up to 2^64 members. Each is refused, or answered at once in
// little memory. The server is given 6 GiB of address space and may use less than one.

import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { asReply, families, type Family, member, offsetCount, range } from "../support/family.ts";
import { emptyStream } from "../support/format.ts";
import { type Argument, encode, type Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { byName, useServer } from "../support/suite.ts";
import { OOM } from "../support/trap.ts";

const GIB = 2 ** 30;
const server = useServer({ addressSpace: 6 * GIB });

const TOO_LONG = /^ERR Roaring: string too long: maximum 536870912 bytes/;
const TOO_MANY = /^ERR Roaring: reply too large: maximum 100000000 elements \(redis-roar\.reply-limit\)$/;
const NO_RANGE = /^Roaring: range too large: maximum 100000000 elements \(redis-roar\.reply-limit\)$/;

interface Demand {
  readonly command: readonly Argument[];
  /** The expected reply, or the expected error. */
  readonly answer: Reply | RegExp;
}

/** Keys: `high` holds the last offset, `few` holds 1, 2 and 3, `full` holds every offset. */
function demands(family: Family): Demand[] {
  const { last, name } = family;
  const all = offsetCount(family), reply = (value: bigint): Reply => asReply(member(value));
  const demand = (answer: Reply | RegExp, command: string, ...args: Argument[]): Demand =>
    ({ command: [`${name}.${command}`, ...args], answer });
  return [
    demand(TOO_LONG, "GETBITARRAY", "high"),
    demand(TOO_LONG, "GETBITARRAY", "full"),
    demand(TOO_MANY, "GETINTARRAY", "full"),
    demand(NO_RANGE, "RANGEINTARRAY", "few", 0, 4_294_967_295),
    demand(NO_RANGE, "RANGEINTARRAY", "full", 0, last),
    demand(NO_RANGE, "RANGEINTARRAY", "none", 0, last),
    demand(TOO_MANY, "RANGE", "full", 0, last),
    demand("OK", "SETRANGE", "made", 0, last),
    demand(reply(last), "BITOP", "NOT", "made", "high"),
    demand(all, "BITOP", "NOT", "made", "none", last),
    demand(all, "BITOP", "OR", "made", "full", "few"),
    demand(0, "BITOP", "XOR", "made", "full", "full"),
    demand(all, "BITCOUNT", "full"),
    demand(reply(last - 3n), "FLIPRANGE", "few", 0, last),
    demand("OK", "OPTIMIZE", "full"),
    demand("1", "JACCARD", "full", "full"),
    demand(1, "CONTAINS", "full", "few", "ALL_STRICT"),
    demand("OK", "DIFF", "made", "full", "few"),
  ];
}

describe.each(byName(families))("%s", (_family, family) => {
  const roar = roarOn(server, family);

  /** Expects that no command took a second, that the server used less than a GiB, and that it is alive. */
  async function expectThrift(): Promise<void> {
    expect(await server.run("SLOWLOG", "GET")).toEqual([]);
    expect(await server.number("used_memory_peak")).toBeLessThan(GIB);
    expect(await server.run("PING")).toBe("PONG");
  }

  async function prepare(): Promise<void> {
    await server.run("FLUSHALL", "SYNC");
    await roar.run("SETBIT", "high", family.last, 1);
    await roar.load("few", [1, 2, 3]);
    await roar.run("SETFULL", "full");
  }

  beforeAll(async () => {
    await server.run("CONFIG", "SET", "slowlog-log-slower-than", 1_000_000);
  });

  it("answers, in time and in little memory, what crashes the C module", async () => {
    for (const { command, answer } of demands(family)) {
      await prepare();
      if (answer instanceof RegExp) expect(await server.connection.refusal(...command), command.join(" ")).toMatch(answer);
      else expect(await server.run(...command), command.join(" ")).toEqual(answer);
    }
    await expectThrift();
  });

  it("dumps, restores, copies, digests and reloads a full bitmap", async () => {
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

  it("runs every command of one key on a full bitmap", async () => {
    const answered: Record<string, Argument[]> = {
      POPMIN: [100], POPMAX: [], RANDMEMBER: [1000], RANDPOP: [1000],
      SCAN: [family.last, "COUNT", 100], RANGE: [0, family.last, "REV", "LIMIT", 100], SELECT: [-1], RANK: [family.last],
      RANGES: [0, family.last], COUNTS: [1, 0, family.last],
      SETRANGE: [0, family.last], CLEARRANGE: [0, family.last], FLIPRANGE: [0, family.last],
      SETBIT: [family.last, 0], GETBIT: [family.last], GETBITS: [family.last], SETBITS: [family.last], CLEARBITS: [family.last],
      SETINTARRAY: [family.last], APPENDINTARRAY: [family.last], DELETEINTARRAY: [family.last], RANGEINTARRAY: [5, 10],
      BITPOS: [0], BITCOUNT: [], MIN: [], MAX: [], STAT: ["JSON"], CLEAR: [], OPTIMIZE: [], SETBITARRAY: ["01"],
      BITFIELD: ["SET", "u8", 0, 0], BITFIELD_RO: ["GET", "u63", 0], IMPORT: [emptyStream(family.bits)],
    };
    /** Commands that must be refused because their reply would be too long, or because the key exists. */
    const refused: Record<string, RegExp> = { GETBITARRAY: TOO_LONG, GETINTARRAY: TOO_MANY, SETFULL: /key already exist$/ };
    if (family.bits === 32) answered.EXPORT = []; // 65,536 containers with one run each
    else refused.EXPORT = TOO_LONG;
    const names = commands.filter(({ keys: [first, second] }) => !second && first!.to === undefined && !first!.numbered)
      .map(({ name }) => name);
    expect([...Object.keys(answered), ...Object.keys(refused)].sort()).toEqual(names.sort());
    for (const [name, args] of Object.entries(answered)) {
      await prepare();
      await roar.run(name, "full", ...args);
    }
    for (const [name, text] of Object.entries(refused)) {
      await prepare();
      expect(await roar.refusal(name, "full"), name).toMatch(text);
    }
    await expectThrift();
  });
});

describe("a server with the default limits", () => {
  // jemalloc keeps addresses that it no longer needs, for each thread, so they may be twice as many as there are bytes of memory.
  const LIMIT = 256 * 2 ** 20, narrow = useServer({ addressSpace: 4 * GIB });
  const TOO_LARGE = "ERR Roaring: reply too large: maximum 268435456 bytes (redis-roar.reply-limit-bytes)";
  const TOO_LARGE_IN_SCRIPT = "reply too large: maximum 67108864 bytes (in scripts a quarter of redis-roar.reply-limit-bytes)";
  /** The most members that fit, of ten digits and of twenty. */
  const most = { 32: Math.floor(LIMIT / ":4000000000\r\n".length), 64: Math.floor(LIMIT / "$20\r\n18446744072000000000\r\n".length) };

  /** Commands that list, each with the error that it must give. Without an error, the reply is read to its end and ignored. */
  function listings({ bits, last }: Family): Record<string, [args: Argument[], error?: string | RegExp][]> {
    const fit = most[bits], pairs = Math.floor(LIMIT / (2 * Math.floor(LIMIT / fit) + "*2\r\n".length)), first = bits === 32 ? 4_000_000_000n : 18_446_744_072_000_000_000n;
    const edge = (least: bigint): bigint => last - BigInt(fit) - least; // so many members before the last offset
    return {
      GETINTARRAY: [[["full"], TOO_MANY]],
      RANGEINTARRAY: [
        [["full", edge(100n), edge(100n) + BigInt(fit) - 1n]], [["full", edge(100n), edge(100n) + BigInt(fit)], TOO_LARGE],
        [["full", edge(100n), last], TOO_LARGE],
      ],
      RANGE: [
        [["full", first, last, "LIMIT", fit]], [["full", first, last, "LIMIT", fit + 1], TOO_LARGE],
        [["full", first, last, "LIMIT", 100_000_000], TOO_LARGE], [["full", 0, last], TOO_MANY],
        [["full", 0, last, "LIMIT", 100_000_000], TOO_LARGE],
        [["full", first, last, "REV", "LIMIT", fit]], [["full", first, last, "REV", "LIMIT", fit + 1], TOO_LARGE], [["full", 0, last, "REV"], TOO_MANY],
      ],
      RANGES: [
        [["full", 0, last]], [["full", 0, last, "LIMIT", last]], [["striped", 0, last, "LIMIT", pairs]],
        [["striped", 0, last, "LIMIT", pairs + 1], TOO_LARGE], [["striped", 0, last], TOO_LARGE],
      ],
      COUNTS: [[["full", 50_000, ...range(0, 100_000).map((i) => first + BigInt(i))]]],
      SCAN: [[["full", first, "COUNT", 100_000_000]], [["full", 0, "COUNT", last]]],
      GETBITS: [[["full", ...range(0, 100_000).map((i) => first + BigInt(i))]]],
      MBITCOUNT: [[Array.from({ length: 100_000 }, () => "full")]],
      RANDMEMBER: [ // to draw so many takes seconds
        [["full", bits === 32 ? fit : -fit]], [["full", -fit - 1], TOO_LARGE], [["full", fit + 1], TOO_LARGE], [["full", 100_000_001], TOO_MANY],
      ],
      MGETBIT: [[[last, ...Array.from({ length: 100_000 }, () => "full")]]],
      QUERY: [
        [["#1", 1, "full", "MEMBERS"], TOO_MANY], [["#1", 1, "full", "MEMBERS", "FROM", first, "LIMIT", fit]],
        [["#1", 1, "full", "MEMBERS", "FROM", first, "LIMIT", fit + 1], TOO_LARGE],
        [["#1", 1, "full", "MEMBERS", "REV"], TOO_MANY], [["#1", 1, "full", "MEMBERS", "REV", "LIMIT", fit]],
        [["#1", 1, "full", "MEMBERS", "REV", "LIMIT", fit + 1], TOO_LARGE], [["~#1", 1, "none", "MEMBERS", "REV", "FROM", 1_000_000]],
        [["~#1", 1, "none", "MEMBERS", "LIMIT", 100_000_000], TOO_LARGE], [["#1", 1, "full"]], [["~#1", 1, "full", "MEMBERS"]],
        bits === 32 ? [["#1", 1, "full", "EXPORT"]] : [["#1", 1, "full", "EXPORT"], TOO_LONG],
      ],
      GETBITARRAY: [[["full"], TOO_LONG], [["longest"]]],
      EXPORT: [bits === 32 ? [["full"]] : [["full"], TOO_LONG], [["longest"]]],
      BITFIELD_RO: [[["full", ...Array.from({ length: 10_000 }, () => ["GET", "i64", 0]).flat()]]],
    };
  }

  describe.each(byName(families))("%s", (_family, family) => {
    const roar = roarOn(narrow, family);
    const lists = listings(family);

    beforeEach(async () => {
      await roar.run("SETFULL", "full");
      await roar.run("SETBIT", "longest", LIMIT - 1, 1);
      await narrow.run("SET", "stripes", Buffer.alloc(4 * 2 ** 20, 0xaa));
      await roar.run("FROMBITMAP", "striped", "stripes");
      await narrow.run("SET", "other", "value");
    });
    afterEach(async () => {
      expect(await narrow.run("GET", "other")).toBe("value");
      expect(await narrow.resident("VmHWM")).toBeLessThan(1.5 * GIB);
    });

    it("has tests of every command whose reply is a list or as long as a bitmap", () => {
      const listed = commands.filter(({ missing, flags }) =>
        ["[]", "scan", "zeros"].includes(String(missing)) && flags.includes("readonly"));
      expect(Object.keys(lists).sort()).toEqual([...listed.map(({ name }) => name), "RANDMEMBER", "GETBITARRAY", "EXPORT", "QUERY"].sort());
    });

    it.each(Object.entries(lists))("answers %s of a full bitmap, and stays alive", async (command, variants) => {
      for (const [args, error] of variants) {
        if (error === undefined) await narrow.connection.drain(encode([roar.name(command), ...args]));
        else expect(await roar.refusal(command, ...args)).toMatch(error);
      }
    }, 240_000);

    it("answers scripts that list a full bitmap, and stays alive", async () => {
      const fit = Math.floor(most[family.bits] / 4), script = "return #redis.call(unpack(ARGV))";
      const list = ["EVAL", script, 1, "full", roar.name("RANGE"), "full", family.last - 2_000_000_000n, family.last, "LIMIT"];
      expect(await narrow.connection.refusal(...list, fit + 1)).toContain(TOO_LARGE_IN_SCRIPT);
      expect(await narrow.run(...list, fit)).toBe(fit);
    }, 240_000);
  });
});

describe("GETBITARRAY and EXPORT", () => {
  const BYTES = 2 ** 28, narrow = useServer({ addressSpace: 2 * BYTES });

  it("need memory for the string twice, and are refused where there is none", async () => {
    await narrow.run("R.SETBIT", "long", BYTES - 1, 1);
    await narrow.run("R.SETBIT", "short", BYTES / 4 - 1, 1);
    expect(await narrow.connection.refusal("R.GETBITARRAY", "long")).toBe(OOM);
    expect(await narrow.run("R.GETBITARRAY", "short")).toHaveLength(BYTES / 4);
  });
});

describe("TOBITMAP", () => {
  const BYTES = 2 ** 28, narrow = useServer({ addressSpace: 2.5 * BYTES });

  it("needs no more memory than its string, and changes nothing when memory runs out", async () => {
    await narrow.run("R.SETBIT", "k", BYTES * 8 - 1, 1);
    expect(await narrow.run("R.TOBITMAP", "a", "k")).toBe(BYTES);
    expect(await narrow.number("used_memory_peak")).toBeLessThan(1.5 * BYTES);
    for (const to of ["b", "a", "k"]) {
      expect(await narrow.connection.refusal("R.TOBITMAP", to, "k")).toBe(OOM);
    }
    expect(await narrow.run("EXISTS", "b")).toBe(0);
    expect(await narrow.run("R.GETINTARRAY", "k")).toEqual([BYTES * 8 - 1]);
    expect(await narrow.run("BITPOS", "a", 1)).toBe(BYTES * 8 - 1);
    await narrow.run("DEL", "a");
    expect(await narrow.run("R.TOBITMAP", "k", "k")).toBe(BYTES);
    expect(await narrow.run("BITPOS", "k", 1)).toBe(BYTES * 8 - 1);
  });
});
