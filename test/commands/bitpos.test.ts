import { describe, expect, it } from "vitest";
import { itReads, refusals } from "../support/contract.ts";
import { asReply, member, range } from "../support/family.ts";
import { bitError, describeCommand, NOT_AN_INTEGER, SYNTAX } from "../support/suite.ts";
import { itAnswersAsNative } from "../support/native.ts";

const NOT_A_BIT = "ERR The bit argument must be 1 or 0.";

describeCommand("BITPOS", (suite) => {
  const { run, roar, family } = suite;
  const last = asReply(member(family.last));

  it("is 0 for bit 0 and -1 for bit 1 of a missing key", async () => {
    for (const ends of [[], [0], [5], [0, -1], [3, 9, "BIT"]]) {
      expect(await run("none", 0, ...ends)).toBe(0);
      expect(await run("none", 1, ...ends)).toBe(-1);
    }
  });

  it("is the same for an empty key, and -1 for both bits when a range is given", async () => {
    await roar.load("k", []);
    expect(await run("k", 0)).toBe(0);
    expect(await run("k", 1)).toBe(-1);
    for (const ends of [[0], [0, -1], [0, 5, "BIT"]]) {
      expect(await run("k", 0, ...ends)).toBe(-1);
      expect(await run("k", 1, ...ends)).toBe(-1);
    }
  });

  it("finds the first member and the first gap", async () => {
    await roar.load("k", [0, 1, 2, 5, 70000]);
    expect(await run("k", 1)).toBe(0);
    expect(await run("k", 0)).toBe(3);
    await roar.load("k", [65536, 65537]);
    expect(await run("k", 1)).toBe(65536);
    expect(await run("k", 0)).toBe(0);
  });

  it("finds a gap after full containers", async () => {
    await roar.load("k", range(0, 3 * 65536 + 10));
    expect(await run("k", 0)).toBe(3 * 65536 + 10);
    expect(await run("k", 0, 8192)).toBe(3 * 65536 + 10);
    expect(await run("k", 0, 0, 8191)).toBe(-1);
    expect(await run("k", 0, 100, -1)).toBe(3 * 65536 + 10); // in the last byte
    await roar.load("k", range(0, 65536));
    expect(await run("k", 0)).toBe(65536);
    expect(await run("k", 0, 0)).toBe(65536);
    expect(await run("k", 0, 0, -1)).toBe(-1);
  });

  it("returns absolute positions for ranges of bytes and of bits", async () => {
    await roar.load("k", [3, 8, 9, 17, 100]);
    expect(await run("k", 1, 1)).toBe(8);
    expect(await run("k", 1, 2, 2)).toBe(17);
    expect(await run("k", 1, 10, -1, "BIT")).toBe(17);
    expect(await run("k", 1, 10, 16, "bit")).toBe(-1);
    expect(await run("k", 0, 8, 10, "BIT")).toBe(10);
    expect(await run("k", 0, 8, 9, "BIT")).toBe(-1);
    expect(await run("k", 1, -1)).toBe(100);
    expect(await run("k", 1, 5, 2)).toBe(-1);
    expect(await run("k", 0, 500)).toBe(-1);
  });

  it("searches up to the last offset and no further", async () => {
    await roar.load("k", [family.last]);
    expect(await run("k", 1)).toEqual(last);
    expect(await run("k", 1, -1)).toEqual(last);
    expect(await run("k", 1, -1, -1, "BIT")).toEqual(last);
    expect(await run("k", 0, -1)).toEqual(asReply(member(family.last - 7n)));
    await roar.load("k", Array.from({ length: 8 }, (_, i) => family.last - BigInt(i)));
    expect(await run("k", 0, -1)).toBe(-1);
    expect(await run("k", 1, -1)).toEqual(asReply(member(family.last - 7n)));
  });

  describe("replies byte for byte like native BITPOS", () => {
    const starts = ["0", "1", "-1", "-2", "2", "7", "-100", "100", "8191", "8192", "9223372036854775807", "-9223372036854775808"];
    itAnswersAsNative(suite, [
      ["0"], ["1"],
      ...["0", "1"].flatMap((bit) =>
        starts.flatMap((start) => [
          [bit, start],
          ...["0", "-1", "-3", "9", "65535", "65536"].flatMap((end) =>
            [[bit, start, end], [bit, start, end, "byte"], [bit, start, end, "BIT"]]),
        ]),
      ),
      ["2", "0"], ["-1", "0", "1"], ["x", "0"], ["", "0"], ["01", "0"], ["1", "x"], ["1", "0", "x"], ["1", "x", "0"], ["2", "x"],
      ["1", "0", "1", "BYTES"], ["1", "0", "x", "BYTES"], ["1", "x", "1", "BYTES"], ["1", "0", "1", "BIT", "x"], ["1", "", "1"],
      ["1", "9223372036854775808"],
    ]);
  });

  itReads(suite, {
    arity: -3,
    call: ["k", 1, 0, -1, "BIT"],
    bad: [
      ...refusals(["2", "-1", "x", "", "01", "+1"], bitError("bit"), (bad) => [["k", bad]]),
      [["k", 2, 0], NOT_A_BIT],
      [["k", "-1", 0, 1], NOT_A_BIT],
      [["k", "x", 0], NOT_AN_INTEGER],
      [["k", 1, "x"], NOT_AN_INTEGER],
      [["k", 1, 0, "x"], NOT_AN_INTEGER],
      [["k", 1, 0, 1, "BYTES"], SYNTAX],
      [["k", 1, 0, 1, "BIT", 1], SYNTAX],
      [["k", 2, 0, 1, "BIT", 1], NOT_A_BIT],
    ],
  });
});
