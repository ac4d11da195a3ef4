import { describe, expect, it } from "vitest";
import { noEffects } from "../support/observer.ts";
import { describeCommand, itDeclares, itMindsMemory, itRefuses, itRunsEverywhere, NOT_AN_INTEGER, SYNTAX } from "../support/suite.ts";
import { itAnswersAsNative } from "../support/native.ts";

describeCommand("BITCOUNT", (suite) => {
  const { run, roar, family, effects } = suite;

  it("is 0 for a missing key and for an empty one", async () => {
    await roar.load("empty", []);
    for (const key of ["none", "empty"]) {
      expect(await run(key)).toBe(0);
      expect(await run(key, 0, -1)).toBe(0);
      expect(await run(key, -5, 7, "BIT")).toBe(0);
    }
  });

  it("counts all members", async () => {
    await roar.load("k", [0, 1, 65535, 65536, family.last]);
    expect(await run("k")).toBe(5);
    await roar.load("k", Array.from({ length: 100_000 }, (_, i) => 3 * i));
    expect(await run("k")).toBe(100_000);
  });

  it("counts the members in a range of byte or bit indexes", async () => {
    await roar.load("k", [0, 7, 8, 15, 16, 100, 65535, 65536]);
    expect(await run("k", 0, 0)).toBe(2);
    expect(await run("k", 1, 2, "byte")).toBe(3);
    expect(await run("k", 7, 8, "bit")).toBe(2);
    expect(await run("k", 8, 15, "BIT")).toBe(2);
    expect(await run("k", 0, -1)).toBe(8);
    expect(await run("k", -1, -1)).toBe(1); // the last byte holds 65536 alone
    expect(await run("k", -8, -1, "Bit")).toBe(1);
    expect(await run("k", 5, 1)).toBe(0);
    expect(await run("k", "-9223372036854775808", "9223372036854775807", "BIT")).toBe(8);
  });

  it("accepts ranges up to the last offset", async () => {
    await roar.load("k", [0, family.last]);
    expect(await run("k", 0, -1)).toBe(2);
    expect(await run("k", 1, -1)).toBe(1);
    expect(await run("k", -1, -1)).toBe(1);
    expect(await run("k", -1, -1, "BIT")).toBe(1);
    expect(await run("k", -2, -2, "BIT")).toBe(0);
    expect(await run("k", 0, -2, "BIT")).toBe(1);
  });

  it("has no side effects", async () => {
    await roar.load("k", [1]);
    expect(await effects(() => run("k"))).toEqual(noEffects);
    expect(await effects(() => run("none", 0, -1), "none")).toEqual(noEffects);
  });

  describe("replies byte for byte like native BITCOUNT", () => {
    itAnswersAsNative(suite, [
      ...["0", "1", "-1", "-2", "2", "7", "-100", "100", "8191", "8192", "9223372036854775807", "-9223372036854775808"].flatMap(
        (start) => ["0", "-1", "-3", "9", "65535", "65536"].flatMap((end) => [[start, end], [start, end, "byte"], [start, end, "BIT"]]),
      ),
      ["0"], ["x"], ["0", "x"], ["x", "0"], ["0", "1", "BYTES"], ["x", "1", "BYTES"], ["0", "x", "BYTES"], ["0", "1", ""],
      ["0", "1", "BIT", "x"], ["", "1"], ["1", "01"], ["9223372036854775808", "1"], ["1", "-9223372036854775809"], ["+1", "2"],
    ]);
  });

  itRunsEverywhere(suite, ["k", 0, -1]);
  itMindsMemory(suite, "read", ["k"]);
  itDeclares(suite, {
    arity: -2,
    flags: ["readonly"],
    keys: [{ first: 1, last: 1, access: "RO" }],
    call: ["k", 0, -1],
    keysInCall: ["k"],
  });
  itRefuses(suite, {
    arity: [[]],
    bad: [
      [["k", 0], SYNTAX],
      [["k", 0, 1, "BYTES"], SYNTAX],
      [["k", 0, 1, "BIT", 1], SYNTAX],
      [["k", "x", 1], NOT_AN_INTEGER],
      [["k", 0, "1.5", "BIT"], NOT_AN_INTEGER],
      [["k", "9223372036854775808", 1], NOT_AN_INTEGER],
    ],
    good: ["k"],
  });
});
