// Conversions to and from other formats: SETBITARRAY, GETBITARRAY, EXPORT, FROMBITMAP, TOBITMAP.

import { describe, expect, it } from "vitest";
import { itDeclares, itMindsMemory, itReads, itRefusesCounts, itWrites, keyAt } from "../support/contract.ts";
import { type Member, member, notOffsets, offsetCount, otherThan, range, sorted } from "../support/family.ts";
import { emptyStream, readExport, smallStream } from "../support/format.ts";
import { nativeString } from "../support/model.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { seeded } from "../support/random.ts";
import { roarOn } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { bytesOf, type Command } from "../support/resp.ts";
import { describeCommand, expectEqual, NO_KEY, offsetError, type Suite, SYNTAX, useServer, WRONGTYPE } from "../support/suite.ts";
import { noKeyRights } from "../support/version.ts";

const TOO_LONG = "ERR Roaring: string too long: maximum 536870912 bytes (proto-max-bulk-len)";

const characters = (members: readonly number[]): string => {
  const set = new Set(members);
  return range(0, (members.at(-1) ?? 0) + 1).map((offset) => (set.has(offset) ? "1" : "0")).join("");
};

/** The samples whose bits fit a string that is short enough to compare. */
const short = (all: Record<string, Member[]>): number[][] =>
  Object.values(all).filter((members) => (members.at(-1) ?? 0) < 1_000_000) as number[][];

/** Expects the command to be refused while no string may be longer than 1 MB. */
async function expectTooLong({ server, refusal }: Suite, ...args: string[]): Promise<void> {
  await server.run("CONFIG", "SET", "proto-max-bulk-len", "1mb");
  const refused = await refusal(...args).finally(() => server.run("CONFIG", "SET", "proto-max-bulk-len", "512mb"));
  expect(refused).toMatch(/too long: maximum 1048576 bytes/);
}

describeCommand("SETBITARRAY", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key", async () => {
    expect(await run("k", "0101")).toBe("OK");
    expect(await roar.members("k")).toEqual([1, 3]);
    expect(await run("empty", "")).toBe("OK");
    expect(await server.run("TYPE", "empty")).toBe(family.type);
  });

  it("treats every character other than 1 as 0", async () => {
    const text = Buffer.from("1x1\r\n 1\0\x011\xff\xb111", "latin1");
    expect(await run("k", text)).toBe("OK");
    expect(await roar.members("k")).toEqual([...text].flatMap((c, i) => (c === 0x31 ? [i] : [])));
  });

  it("builds every kind of container", async () => {
    for (const members of short(samples(family))) {
      expect(await run("k", characters(members))).toBe("OK");
      expectEqual(await roar.members("k"), members);
    }
  });

  it("replaces the value, drops its TTL, raises a set event and propagates the call", async () => {
    await roar.load("k", [9]);
    await server.run("EXPIRE", "k", 1000);
    const set = oneChange("set", name, "k", "01");
    expect(await effects(() => run("k", "01"))).toEqual(set);
    expect(await effects(() => run("k", "01"))).toEqual(set);
    expect(await server.run("TTL", "k")).toBe(-1);
    expect(await roar.members("k")).toEqual([1]);
  });

  itWrites(suite, { arity: 3, keys: [keyAt(1, "OW")], call: ["k", "0111"] });
});

describeCommand("GETBITARRAY", (suite) => {
  const { run, roar, family, refusal, name } = suite;

  it("is an empty simple string for a missing key, and 0 for an empty one", async () => {
    expect(String(await roar.connection.bytes(name, "none"))).toBe("+\r\n");
    await roar.load("empty", []);
    expect(await run("empty")).toBe("0");
  });

  it("has one character for every offset up to the greatest member", async () => {
    for (const members of short(samples(family))) {
      await roar.load("k", members);
      const reply = (await run("k")) as string;
      expect(reply === characters(members), `${reply.length} characters`).toBe(true);
    }
  });

  it("refuses a string that is too long without building it", async () => {
    await roar.load("k", [member(family.last)]);
    expect(await refusal("k")).toBe(TOO_LONG);
    await roar.load("k", [2_000_000]);
    await expectTooLong(suite, "k");
    expect(await run("k")).toHaveLength(2_000_001);
  });

  itReads(suite, { arity: 2, call: ["k"] });
});

describeCommand("EXPORT", (suite) => {
  const { run, roar, family, refusal, protocol } = suite;

  it("is nil for a missing key", async () => expect(await run("none")).toBeNull());

  it("returns the stream of the portable format", async () => {
    await roar.load("k", [3, 4, 100]);
    expect(bytesOf(await run("k"))).toEqual(smallStream(family.bits));
    await roar.load("empty", []);
    expect(bytesOf(await run("empty"))).toEqual(emptyStream(family.bits));
  });

  it("returns a stream that IMPORT accepts, for every kind of container", async () => {
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      for (const command of ["SETBITS", "OPTIMIZE"]) {
        if (command === "OPTIMIZE") await roar.run(command, "k");
        expect(await roar.run("IMPORT", "copy", bytesOf(await run("k")), "REPLACE"), sample).toBe(members.length);
        expectEqual(await roar.members("copy"), members, sample);
      }
    }
  });

  it("has every member once, in ascending order, after a range took some of those of an array and of a bitset", async () => {
    const evens = range(0, 32_768, 2), long = range(19_711, 262_069 - 19_711), gone = (one: number): boolean => one >= 6143 && one < 65_506;
    await roar.run("SETRANGE", "k", 19_711, 262_069);
    await roar.connection.pipeline(roar.appends("k", evens));
    await roar.run("CLEARRANGE", "k", 6143, 65_506);
    expectEqual(readExport(family.bits, bytesOf(await run("k"))), sorted(new Set([...evens, ...long])).filter((one) => !gone(one)));
  });

  it.skipIf(protocol === 3)("has no run container that is larger than an array or a bitset would be", seeded(async (rng) => {
    for (let history = 0; history < 400; history++) {
      const span = rng.pick([40, 5000, 200_000]), from = rng.pick([0, 65_500, Number(family.last >> 12n)]);
      const offset = (): number => from + rng.below(span), some = (): number[] => range(0, 1 + rng.below(300)).map(offset);
      const writes: (() => [name: string, ...args: number[]])[] = [
        () => ["SETBITS", ...some()], () => ["CLEARBITS", ...some()], () => ["SETBIT", offset(), rng.below(2)], () => ["OPTIMIZE"],
        () => [rng.pick(["POPMIN", "POPMAX"]), 1 + rng.below(200)],
        () => [rng.pick(["SETRANGE", "CLEARRANGE", "FLIPRANGE"]), from, offset()],
        () => {
          const start = offset();
          return [rng.pick(["SETRANGE", "CLEARRANGE", "FLIPRANGE"]), start, start + rng.below(300)];
        },
      ];
      const sequence = [writes[0]!, ...range(0, 1 + rng.below(12)).map(() => rng.pick(writes))].map((write) => write());
      await roar.connection.pipeline([["DEL", "k"], ...sequence.map(([name, ...args]): Command => [roar.name(name), "k", ...args])]);
      expectEqual(readExport(family.bits, bytesOf(await run("k"))), await roar.members("k"), `history ${history}`);
    }
  }));

  it("refuses a stream that is too long without building it", async () => {
    await roar.run("SETFULL", "k");
    if (family.bits === 32) expect(await roar.run("IMPORT", "copy", bytesOf(await run("k")))).toBe(offsetCount(family));
    else expect(await refusal("k")).toBe(TOO_LONG);
  });

  itReads(suite, { arity: 2, call: ["k"] });
});

/** The bytes that Java's BitSet.toByteArray() returns. */
function lowBitsString(members: readonly number[]): Buffer {
  const bytes = Buffer.alloc(members.length > 0 ? (members.at(-1)! >> 3) + 1 : 0);
  for (const one of members) bytes[one >> 3]! |= 1 << (one & 7);
  return bytes;
}

describeCommand("FROMBITMAP", (suite) => {
  const { run, roar, family, server, protocol, effects, refusal, name } = suite;

  it("stores an empty bitmap for a missing string", async () => {
    expect(await run("k", "none")).toBe(0);
    expect(await server.run("TYPE", "k")).toBe(family.type);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  it("reads the members of a string that native SETBIT can write", async () => {
    for (const members of short(samples(family))) {
      await server.run("SET", "native", nativeString(new Set(members)));
      expect(await run("k", "native")).toBe(members.length);
      expectEqual(await roar.members("k"), members);
    }
  });

  it.each([["12", "int"], ["a string", "embstr"], ["x".repeat(500), "raw"], ["x".repeat(5000), "raw"]])(
    "leaves the string %j of encoding %s as it is", async (text, encoding) => {
      await server.run("SET", "native", text);
      expect(await server.run("OBJECT", "ENCODING", "native")).toBe(encoding);
      const bits = Number(await server.run("BITCOUNT", "native"));
      expect(await run("k", "native")).toBe(bits);
      expect(await server.run("OBJECT", "ENCODING", "native")).toBe(encoding);
      expect(await server.run("GET", "native")).toBe(text);
      expect(await roar.run("BITCOUNT", "k")).toBe(bits);
    });

  it("replaces a key of any type", async () => {
    await server.run("SETBIT", "native", 7, 1);
    const other = roarOn(server, otherThan(family));
    const types: (() => Promise<unknown>)[] = [
      () => server.run("SET", "k", "x"), () => server.run("RPUSH", "k", 1), () => other.load("k", [1]),
    ];
    for (const make of types) {
      await make();
      await server.run("EXPIRE", "k", 1000);
      const { propagated, touched } = await effects(() => run("k", "native"));
      expect({ propagated, touched }).toEqual({ propagated: [[name, "k", "native"]], touched: true });
      expect(await roar.members("k")).toEqual([7]);
      expect(await server.run("TTL", "k")).toBe(-1);
      await server.run("DEL", "k");
    }
  });

  it("converts a key in place, and keeps it if that is impossible", async () => {
    for (const text of ["12", "a string", "x".repeat(5000)]) {
      await server.run("SET", "k", text);
      const bits = Number(await server.run("BITCOUNT", "k"));
      expect(await effects(() => run("k", "k"))).toMatchObject({ propagated: [[name, "k", "k"]], touched: true });
      expect(await roar.run("BITCOUNT", "k")).toBe(bits);
      expect(await refusal("k", "k")).toBe(WRONGTYPE);
      expect(await roar.run("TOBITMAP", "k", "k")).toBe(text.length);
      expect(await server.run("GET", "k")).toBe(text);
    }
  });

  it("needs only the right to read the string and the right to write the key", async ({ skip }) => {
    if (noKeyRights) skip(noKeyRights);
    await server.run("SET", "native", "12");
    await server.run("ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "%R~native", "%W~k", "-@all", `+${name}`);
    const guest = await server.connect();
    await guest.run("AUTH", "guest", "");
    expect(await guest.run(name, "k", "native")).toBe(6);
    expect(await guest.refusal(name, "native", "native")).toMatch(/^NOPERM/);
    expect(await guest.refusal(name, "k", "k")).toMatch(/^NOPERM/);
    guest.close();
  });

  it("replaces the value, drops its TTL, raises a set event and propagates the call", async () => {
    await roar.load("k", [9]);
    await server.run("EXPIRE", "k", 1000);
    await server.run("SETBIT", "native", 7, 1);
    const set = oneChange("set", name, "k", "native");
    expect(await effects(() => run("k", "native"))).toEqual(set);
    expect(await server.run("TTL", "k")).toBe(-1);
    expect(await effects(() => run("k", "native"), "native")).toMatchObject({ touched: false });
  });

  it.skipIf(protocol === 3)("begins at any OFFSET", async () => {
    const strings = short(samples(family)).map((members) => members.map(Number));
    const last = Number(family.last > 2n ** 50n ? 2n ** 50n : family.last);
    for (const members of [...strings, range(0, 200_000, 3), [0, 1, 62, 63, 64, 65, 65_535, 65_536], range(0, 70_000)]) {
      await server.run("SET", "native", nativeString(new Set(members)));
      const most = last - (members.at(-1) ?? 0);
      for (const offset of [0, 1, 7, 8, 13, 63, 64, 65, 1000, 65_535, 65_536, 65_537, 131_073, 1_000_003, most - 65_536, most - 1, most]) {
        expect(await run("k", "native", "OFFSET", offset)).toBe(members.length);
        expectEqual(await roar.members("k"), members.map((one) => one + offset), `${members.length} at ${offset}`);
      }
    }
  });

  it("refuses an OFFSET with which a bit would lie above the last offset, and changes nothing", async () => {
    await roar.load("k", [9]);
    await server.run("SET", "native", Buffer.from([0x80, 0x00, 0x10, 0x00, 0x00]));       // members 0 and 19, and zeros behind them
    const fits = family.last - 19n;
    for (const words of [[], ["MERGE"]]) {
      for (const offset of [fits + 1n, fits + 5n, family.last]) {
        expect(await effects(() => refusal("k", "native", "OFFSET", offset, ...words))).toEqual(noEffects);
        expect(await refusal("k", "native", ...words, "OFFSET", offset)).toBe("ERR Roaring: a bit of the string would become an offset above the last");
      }
    }
    expect(await roar.members("k")).toEqual([9]);
    expect(await run("k", "native", "OFFSET", fits)).toBe(2);
    expect(await roar.members("k")).toEqual([member(fits), member(family.last)]);
    await server.run("SETBIT", "one", 0, 1);
    expect(await run("k", "one", "OFFSET", family.last)).toBe(1);
    expect(await roar.members("k")).toEqual([member(family.last)]);
    await server.run("SET", "one", Buffer.alloc(100));
    expect(await run("k", "one", "OFFSET", family.last)).toBe(0);
    expect(await run("k", "none", "OFFSET", family.last)).toBe(0);
  });

  it("adds to the key with MERGE, in place and with its TTL", async () => {
    expect(await run("k", "none", "MERGE")).toBe(0);
    expect(await server.run("TYPE", "k")).toBe(family.type);
    await server.run("DEL", "k");
    for (let part = 0; part < 20; part++) {
      await server.run("SET", "native", nativeString(new Set(range(part % 7, 1000, 10))));
      expect(await run("k", "native", "OFFSET", part * 10_000, "MERGE")).toBe((part + 1) * 1000);
      if (part === 0) await server.run("EXPIRE", "k", 1000);
    }
    expectEqual(await roar.members("k"), range(0, 20).flatMap((part) => range(part * 10_000 + part % 7, 1000, 10)));
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
    const again = ["native", "MERGE", "OFFSET", 190_000];
    expect(await effects(() => run("k", ...again))).toEqual(noEffects);
    expect(await effects(() => run("k", "native", "merge", "offset", 190_001))).toEqual(oneChange("setbit", name, "k", "native", "merge", "offset", "190001"));
    for (const [sample, members] of Object.entries(samples(family))) {
      await roar.load("k", members);
      await server.run("SET", "native", nativeString(new Set(range(60_000, 200, 100))));
      const both = sorted(new Set<Member>([...members, ...range(60_003, 200, 100)]));
      expect(await run("k", "native", "OFFSET", 3, "MERGE"), sample).toBe(both.length);
      expectEqual(await roar.members("k"), both, sample);
    }
  });

  it("merges into bitmaps only, and needs the right to read the key then", async ({ skip }) => {
    if (noKeyRights) skip(noKeyRights);
    await server.run("SET", "native", "12");
    await server.run("SET", "string", "x");
    for (const key of ["string", "native"]) expect(await effects(() => refusal(key, "native", "MERGE"), key)).toEqual(noEffects);
    expect(await refusal("string", "native", "MERGE")).toBe(WRONGTYPE);
    await server.run("ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "%R~native", "%W~k", "%RW~both", "-@all", `+${name}`);
    const guest = await server.connect();
    await guest.run("AUTH", "guest", "");
    expect(await guest.run(name, "k", "native", "OFFSET", 5)).toBe(6);
    expect(await guest.run(name, "both", "native", "MERGE")).toBe(6);
    for (const words of [["MERGE"], ["OFFSET", 5, "merge"]]) expect(await guest.refusal(name, "k", "native", ...words)).toMatch(/^NOPERM/);
    guest.close();
  });

  it.skipIf(protocol === 3)("reads the bits of each byte from the lowest on with LSB, at any OFFSET", async () => {
    const last = Number(family.last > 2n ** 50n ? 2n ** 50n : family.last);
    for (const members of [...short(samples(family)).map((some) => some.map(Number)), range(0, 200_000, 3), range(0, 70_000)]) {
      await server.run("SET", "native", lowBitsString(members));
      expect(await run("k", "native", "lsb")).toBe(members.length);
      expectEqual(await roar.members("k"), members);
      const most = last - (members.at(-1) ?? 0);
      for (const offset of [1, 7, 63, 64, 1000, 65_535, 65_537, most - 1, most]) {
        expect(await run("k", "native", "OFFSET", offset, "LSB")).toBe(members.length);
        expectEqual(await roar.members("k"), members.map((one) => one + offset), `${members.length} at ${offset}`);
      }
    }
    await server.run("SET", "native", Buffer.from([0x41]));
    expect(await effects(() => run("k", "native", "LSB", "MERGE", "OFFSET", 3))).toMatchObject({ propagated: [[name, "k", "native", "LSB", "MERGE", "OFFSET", "3"]] });
  });

  it("refuses a bit above the last offset with LSB, too", async () => {
    await server.run("SET", "native", Buffer.from([0x01, 0x00, 0x08, 0x00]));              // members 0 and 19
    const fits = family.last - 19n;
    for (const offset of [fits + 1n, fits + 5n, family.last]) {
      expect(await refusal("k", "native", "OFFSET", offset, "LSB")).toBe("ERR Roaring: a bit of the string would become an offset above the last");
    }
    expect(await run("k", "native", "LSB", "OFFSET", fits)).toBe(2);
    expect(await roar.members("k")).toEqual([member(fits), member(family.last)]);
  });

  it("refuses other words before it looks at the keys", async () => {
    await roar.load("list", [1]);
    for (const words of [["x"], ["LSB", "LSB"], ["MSB"], ["OFFSET"], ["MERGE", "MERGE"], ["OFFSET", 1, "OFFSET", 1], ["MERGE", "OFFSET"], ["OFFSET", 1, "MERGE", "x"], ["REPLACE"]]) {
      expect(await refusal("k", "list", ...words), words.join(" ")).toBe(SYNTAX);
    }
    for (const bad of notOffsets(family)) expect(await refusal("k", "list", "MERGE", "OFFSET", bad)).toBe(offsetError(family, "offset"));
  });

  it("refuses a source that is not a string", async () => {
    await roar.load("a", [1]);
    await server.run("RPUSH", "list", 1);
    for (const key of ["a", "list"]) expect(await refusal("k", key)).toBe(WRONGTYPE);
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  const call = ["k", "native"];
  itMindsMemory(suite, "write", call);
  itDeclares(suite, { arity: -3, flags: ["write", "denyoom", "movablekeys"], keys: [keyAt(1, "OW"), keyAt(2, "RO")], call });
  itRefusesCounts(suite, { arity: -3, call });
});

describe("a server without GET", () => {
  const server = useServer({ config: ['rename-command GET ""'] });

  it("converts short strings, too", async () => {
    await server.run("SET", "native", "12");
    expect(await server.run("R.FROMBITMAP", "k", "native")).toBe(6);
    expect(await server.run("R.FROMBITMAP", "native", "native")).toBe(6);
  });
});

describeCommand("TOBITMAP", (suite) => {
  const { run, roar, family, server, effects, refusal, name } = suite;

  it("refuses a missing bitmap", async () => {
    expect(await refusal("native", "none")).toBe(NO_KEY);
    expect(await server.run("EXISTS", "native")).toBe(0);
  });

  it("stores the string that native commands read", async () => {
    for (const members of short(samples(family))) {
      await roar.load("k", members);
      const expected = nativeString(new Set(members));
      expect(await run("native", "k")).toBe(expected.length);
      expect(bytesOf(await server.run("GET", "native")).equals(expected)).toBe(true);
      expect(await server.run("BITCOUNT", "native")).toBe(members.length);
    }
  });

  it("stores the bits of each byte from the lowest on with LSB", async () => {
    for (const members of short(samples(family))) {
      await roar.load("k", members);
      const expected = lowBitsString(members.map(Number));
      expect(await run("native", "k", "LSB")).toBe(expected.length);
      expect(bytesOf(await server.run("GET", "native")).equals(expected)).toBe(true);
      expect(await roar.run("FROMBITMAP", "back", "native", "LSB")).toBe(members.length);
      expectEqual(await roar.members("back"), members);
    }
    for (const words of [["MSB"], ["LSB", "LSB"], [""]]) expect(await refusal("native", "none", ...words)).toBe(SYNTAX);
  });

  it("replaces a key of any type, drops its TTL, raises a set event and propagates the call", async () => {
    await roar.load("a", [1]);
    await server.run("RPUSH", "k", 1);
    await server.run("EXPIRE", "k", 1000);
    const set = oneChange("set", name, "k", "a");
    expect(await effects(() => run("k", "a"))).toMatchObject({ propagated: set.propagated, touched: true });
    expect(await effects(() => run("k", "a"))).toEqual(set);
    expect(await server.run("TTL", "k")).toBe(-1);
    expect(await server.run("GET", "k")).toBe("@");
    expect(await run("a", "a")).toBe(1);
    expect(await server.run("TYPE", "a")).toBe("string");
  });

  it("refuses a string that is too long without building it", async () => {
    await roar.load("a", [16_000_000]);
    await expectTooLong(suite, "native", "a");
    expect(await server.run("EXISTS", "native")).toBe(0);
    expect(await run("native", "a")).toBe(2_000_001);
    if (family.bits === 32) return; // every offset of R fits the default limit of 512 MB
    await roar.load("a", [member(family.last)]);
    expect(await refusal("b", "a")).toBe(TOO_LONG);
    expect(await server.run("EXISTS", "b")).toBe(0);
  });

  itWrites(suite, { arity: -3, keys: [keyAt(1, "OW"), keyAt(2, "RO")], call: ["native", "k"] });
});
