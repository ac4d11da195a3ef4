import { describe, expect, it } from "vitest";
import { itFindsNothing, itReads, refusals } from "../support/contract.ts";
import { offsetCount, range } from "../support/family.ts";
import { describeCommand, NOT_AN_INTEGER, SYNTAX } from "../support/suite.ts";
import { nativeString } from "../support/model.ts";
import { itAnswersAsNative } from "../support/native.ts";
import { serverName } from "../support/version.ts";

describeCommand("BITCOUNT", (suite) => {
  const { run, roar, family, name, server } = suite;

  itFindsNothing(suite, 0, ["k"], ["k", 0, -1], ["k", -5, 7, "BIT"]);

  it("counts all members", async () => {
    await roar.load("k", [0, 1, 65535, 65536, family.last]);
    expect(await run("k")).toBe(5);
    await roar.load("k", range(0, 100_000, 3));
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

  it("is 0 for the gap between two runs", async () => {
    for (const [start, end] of [[0, 1024], [2048, 3072]] as const) await roar.run("SETRANGE", "k", start, end);
    for (const command of ["OPTIMIZE", undefined]) {
      if (command) await roar.run(command, "k");
      expect(await run("k", 1024, 2047, "BIT")).toBe(0);
      expect(await run("k", 1023, 2048, "BIT")).toBe(2);
    }
  });

  it("counts up to the end if only a start is given", async () => {
    for (const members of [[0, 7, 8, 15, 16, 100, 65535, 65536], [3], [family.last], []]) {
      await roar.load("k", members);
      for (const start of [0, 1, 2, 12, 13, 8191, 8192, 8193, "9223372036854775807", -1, -2, -8192, -8193, "-9223372036854775808"]) {
        expect(await run("k", start), `${members.join()} from ${start}`).toBe(await run("k", start, -1));
      }
    }
    await roar.load("k", [0, 7, 8, 15, 16, 100]);
    expect([await run("k", 0), await run("k", 1), await run("k", 12), await run("k", 13), await run("k", -11)]).toEqual([6, 4, 1, 0, 2]);
    expect(await run("none", 0)).toBe(0);
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

  it("counts the members of a range of all offsets", async () => {
    const all = offsetCount(family), but = family.bits === 64 ? "18446744073709551608" : 2 ** 32 - 8;
    await roar.run("SETFULL", "full");
    for (const unit of [[], ["BYTE"], ["BIT"]]) expect(await run("full", 0, -1, ...unit)).toBe(all);
    expect(await run("full", 0)).toBe(all);
    expect(await run("full", 1, -1)).toBe(but);
    expect(await run("full", -1, 0)).toBe(0);
    expect(await run("full", -1, -2)).toBe(0);
  });

  describe("replies byte for byte like native BITCOUNT", () => {
    itAnswersAsNative(suite, [
      ...["0", "1", "-1", "-2", "2", "7", "-100", "100", "8191", "8192", "9223372036854775807", "-9223372036854775808"].flatMap(
        (start) => ["0", "-1", "-3", "9", "65535", "65536"].flatMap((end) => [[start, end], [start, end, "byte"], [start, end, "BIT"]]),
      ),
      ["0", "x"], ["x", "0"], ["0", "1", "BYTES"], ["x", "1", "BYTES"], ["0", "1", ""],
      ["0", "1", "BIT", "x"], ["", "1"], ["1", "01"], ["9223372036854775808", "1"], ["1", "-9223372036854775809"], ["+1", "2"],
    ]);
  });

  it("counts like native BITCOUNT if only a start is given, where the server accepts that (Valkey 8)", async ({ skip }) => {
    const starts = [0, 1, 12, 13, 14, -1, -12, -13, -14, "9223372036854775807", "-9223372036854775808", "x", ""];
    await roar.load("k", [0, 3, 8, 9, 17, 100]);
    await server.run("SET", "native", nativeString(new Set([0, 3, 8, 9, 17, 100])));
    if ((await server.connection.bytes("BITCOUNT", "native", 0)).toString() === `-${SYNTAX}\r\n`) {
      skip(`${serverName}: native BITCOUNT requires an end`);
    }
    for (const start of starts) {
      const [ours, native] = [await roar.connection.bytes(name, "k", start), await roar.connection.bytes("BITCOUNT", "native", start)];
      expect(ours.toString(), String(start)).toBe(native.toString());
    }
  });

  itReads(suite, {
    arity: -2,
    call: ["k", 0, -1],
    bad: [
      ...refusals(["x", "9223372036854775808"], NOT_AN_INTEGER, (bad) => [["k", bad], ["k", bad, 1]]),
      [["k", 0, "BIT"], NOT_AN_INTEGER],
      [["k", 0, 1, "BYTES"], SYNTAX],
      [["k", 0, 1, "BIT", 1], SYNTAX],
      [["k", 0, "1.5", "BIT"], NOT_AN_INTEGER],
      [["k", 0, "x", "BYTES"], NOT_AN_INTEGER], // as in Redis; Valkey 8 checks the unit first
    ],
  });
});
