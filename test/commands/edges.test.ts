// The last offset, 2^32 - 1 or 2^64 - 1, and ranges, ranks and lists that end there.

import { beforeEach, describe, expect, it } from "vitest";
import { asReply, families, member, offsetCount } from "../support/family.ts";
import { type Argument, bytesOf, type Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectValid, useServer } from "../support/suite.ts";

describe.each(byName(families))("%s: the last offset", (_family, family) => {
  const server = useServer({ moduleArguments: withDebug });
  const roar = roarOn(server, family);
  const run = (command: string, ...args: Argument[]) => roar.run(command, ...args);
  const { last } = family;
  /** The greatest end of a range, which is exclusive. */
  const end = last + 1n;
  const reply = (value: bigint): Reply => asReply(member(value));
  const listed = (...values: bigint[]): Reply[] => values.map(reply);
  const sound = (key = "k") => expectValid(server, key);

  describe("as the only member", () => {
    beforeEach(async () => {
      expect(await run("SETBIT", "k", last, 1)).toBe(0);
    });

    it("is set, found and cleared", async () => {
      expect(await run("SETBIT", "k", last, 1)).toBe(1);
      expect([await run("GETBIT", "k", last), await run("GETBIT", "k", last - 1n), await run("GETBIT", "k", 0)]).toEqual([1, 0, 0]);
      expect(await run("GETBITS", "k", last, last - 1n)).toEqual([1, 0]);
      expect([await run("MIN", "k"), await run("MAX", "k")]).toEqual(listed(last, last));
      expect(await run("BITPOS", "k", 1)).toEqual(reply(last));
      expect(await run("CLEARBITS", "k", last, last, "COUNT")).toBe(1);
      expect([await run("MIN", "k"), await run("MAX", "k"), await run("BITCOUNT", "k")]).toEqual([-1, -1, 0]);
      await sound();
    });

    it("is counted by RANK and found by SELECT", async () => {
      expect([await run("RANK", "k", last), await run("RANK", "k", last - 1n), await run("RANK", "k", 0)]).toEqual([1, 0, 0]);
      expect([await run("SELECT", "k", 0), await run("SELECT", "k", -1)]).toEqual(listed(last, last));
      expect([await run("SELECT", "k", 1), await run("SELECT", "k", -2), await run("SELECT", "k", last)]).toEqual([null, null, null]);
    });

    it("is listed by RANGE, RANGEINTARRAY and SCAN", async () => {
      for (const min of [0n, last - 1n, last]) expect(await run("RANGE", "k", min, last)).toEqual(listed(last));
      expect(await run("RANGE", "k", 0, last - 1n)).toEqual([]);
      expect(await run("RANGE", "k", last, 0)).toEqual([]);
      expect(await run("RANGEINTARRAY", "k", 0, 0)).toEqual(listed(last));
      expect(await run("RANGEINTARRAY", "k", last, last)).toEqual([]);
      for (const cursor of [0n, last]) expect(await run("SCAN", "k", cursor)).toEqual(["0", listed(last)]);
    });

    it("is returned as the cursor of a scan, and ends the scan that starts there", async () => {
      await run("SETBITS", "k", 5);
      expect(await run("SCAN", "k", 0, "COUNT", 1)).toEqual([String(last), [5]]);
      expect(await run("SCAN", "k", last, "COUNT", 1)).toEqual(["0", listed(last)]);
    });

    it("survives a reload and EXPORT followed by IMPORT", async () => {
      await server.run("DEBUG", "RELOAD");
      expect(await roar.members("k")).toEqual([member(last)]);
      expect(await run("IMPORT", "copy", bytesOf(await run("EXPORT", "k")))).toBe(1);
      expect(await run("CONTAINS", "copy", "k", "EQ")).toBe(1);
    });

    it("is removed by NOT, which adds every offset before it", async () => {
      expect(await run("BITOPCARD", "NOT", "k")).toEqual(reply(last));
      expect(await run("BITOP", "NOT", "n", "k")).toEqual(reply(last));
      expect([await run("MIN", "n"), await run("MAX", "n")]).toEqual(listed(0n, last - 1n));
      expect(await run("BITPOS", "n", 0)).toEqual(reply(last));
      expect(await run("BITOP", "NOT", "back", "n", last)).toBe(1);
      expect(await roar.members("back")).toEqual([member(last)]);
      await sound("n");
    });

    it("yields every offset when combined with its inverse", async () => {
      await run("BITOP", "NOT", "n", "k");
      const all = offsetCount(family);
      for (const operation of ["OR", "XOR", "ONE"]) {
        expect(await run("BITOPCARD", operation, "n", "k")).toEqual(all);
        expect(await run("BITOP", operation, "all", "n", "k")).toEqual(all);
        expect(await run("BITPOS", "all", 0)).toBe(-1);
      }
      expect(await run("BITOP", "AND", "none", "n", "k")).toBe(0);
      expect(await run("RANK", "all", last)).toEqual(all);
      expect(await run("SELECT", "all", last)).toEqual(reply(last));
      expect(await run("SELECT", "all", -1)).toEqual(reply(last));
      expect(await run("BITOP", "NOT", "none", "all")).toBe(0);
      await sound("all");
    });
  });

  describe("at the end of a range", () => {
    it("is set by SETRANGE", async () => {
      expect(await run("SETRANGE", "k", last - 2n, end)).toBe("OK");
      expect(await roar.members("k")).toEqual([last - 2n, last - 1n, last].map(member));
      expect(await run("SETRANGE", "k", last, last)).toBe("OK");
      expect(await run("SETRANGE", "k", last, end)).toBe("OK");
      expect(await run("BITCOUNT", "k")).toBe(3);
      await sound();
    });

    it("is set by a SETRANGE over every offset, and cleared by CLEARRANGE", async () => {
      expect(await run("SETRANGE", "k", 0, end)).toBe("OK");
      expect(await run("BITCOUNT", "k")).toEqual(reply(end));
      expect(await run("MAX", "k")).toEqual(reply(last));
      expect(await run("CLEARRANGE", "k", 1, last)).toEqual(reply(last - 1n));
      expect(await roar.members("k")).toEqual([0, member(last)]);
      await sound();
    });

    it("is cleared by CLEARRANGE", async () => {
      await run("SETINTARRAY", "k", 7, last - 1n, last);
      expect(await run("CLEARRANGE", "k", last, end)).toBe(1);
      expect(await roar.members("k")).toEqual([7, member(last - 1n)]);
      expect(await run("CLEARRANGE", "k", 8, end)).toBe(1);
      expect(await run("CLEARRANGE", "k", 0, end)).toBe(1);
      expect(await roar.members("k")).toEqual([]);
      await sound();
    });

    it("is flipped by FLIPRANGE", async () => {
      await run("SETINTARRAY", "k", last - 1n);
      expect(await run("FLIPRANGE", "k", last - 2n, end)).toBe(2);
      expect(await roar.members("k")).toEqual([last - 2n, last].map(member));
      expect(await run("FLIPRANGE", "k", 0, end)).toEqual(reply(end - 2n));
      expect(await run("FLIPRANGE", "k", 0, end)).toBe(2);
      expect(await roar.members("k")).toEqual([last - 2n, last].map(member));
      await sound();
    });

    it("is the last one that ranges accept", async () => {
      for (const command of ["SETRANGE", "CLEARRANGE", "FLIPRANGE"]) {
        for (const range of [[0n, end + 1n], [end, end]] as const) {
          expect(await roar.refusal(command, "k", ...range)).toMatch(/^ERR invalid (start|end): must be an unsigned/);
        }
      }
      expect(await server.run("EXISTS", "k")).toBe(0);
    });
  });

  describe("in a full bitmap", () => {
    beforeEach(() => run("SETFULL", "k"));

    it("can be cleared, and the rest of its container after it", async () => {
      expect(await run("SETBIT", "k", last, 0)).toBe(1);
      expect(await run("BITCOUNT", "k")).toEqual(reply(last));
      expect(await run("CLEARRANGE", "k", last - 65_535n, end)).toBe(65_535);
      expect(await run("MAX", "k")).toEqual(reply(last - 65_536n));
      await sound();
    });

    it("is the last one that RANGE, RANGEINTARRAY, SCAN, SELECT and RANK reach", async () => {
      expect(await run("RANGE", "k", last - 2n, last)).toEqual(listed(last - 2n, last - 1n, last));
      expect(await run("RANGEINTARRAY", "k", last - 1n, last)).toEqual(listed(last - 1n, last));
      expect(await run("SCAN", "k", last - 1n, "COUNT", 1)).toEqual([String(last), listed(last - 1n)]);
      expect(await run("SCAN", "k", last, "COUNT", 1)).toEqual(["0", listed(last)]);
      expect(await run("SELECT", "k", last - 1n)).toEqual(reply(last - 1n));
      expect(await run("RANK", "k", last - 1n)).toEqual(reply(last));
    });

    it("remains when every offset before it is cleared", async () => {
      expect(await run("CLEARRANGE", "k", 0, last)).toEqual(reply(last));
      expect(await roar.members("k")).toEqual([member(last)]);
      await sound();
    });
  });

  it("is the last bit that BITFIELD can address", async () => {
    expect(await run("BITFIELD", "k", "SET", "u8", last - 7n, 129, "GET", "u1", last, "INCRBY", "i2", last - 1n, 1)).toEqual([0, 1, -2]);
    expect(await roar.members("k")).toEqual([last - 7n, last - 1n].map(member));
    expect(await roar.refusal("BITFIELD", "k", "GET", "u8", last - 6n)).toMatch(/out of range/);
  });

  it("is where negative indexes of BITCOUNT and BITPOS count from", async () => {
    await run("SETBITS", "k", 5, last);
    expect(await run("BITCOUNT", "k", -1, -1)).toBe(1);
    expect(await run("BITCOUNT", "k", -1, -1, "BIT")).toBe(1);
    expect(await run("BITCOUNT", "k", 0, -2, "BIT")).toBe(1);
    expect(await run("BITPOS", "k", 1, -1)).toEqual(reply(last));
    expect(await run("BITPOS", "k", 0, -1)).toEqual(reply(last - 7n));
    expect(await run("BITPOS", "k", 0, -1, -1, "BIT")).toBe(-1);
    await run("SETBITS", "k", ...Array.from({ length: 8 }, (_, i) => last - BigInt(i)));
    expect(await run("BITPOS", "k", 0, -1)).toBe(-1); // there is no offset after it
  });
});
