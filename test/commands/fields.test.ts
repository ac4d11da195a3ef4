// Integer fields at any offset: BITFIELD, BITFIELD_RO.

import { expect, it } from "vitest";
import { itReads, itWrites, refusals } from "../support/contract.ts";
import type { Family } from "../support/family.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { describeCommand, NOT_AN_INTEGER, SYNTAX } from "../support/suite.ts";

const TYPE = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
const OFFSET = "ERR bit offset is not an integer or out of range";

/** Refusals of GET and of unknown subcommands, which both commands parse. */
const badGets = (family: Family) => [
  ...refusals(["u64", "i65", "u0", "i0", "i", "u", "", "x8", "8", "I8", "U8", "u08", "u+8", "i-1", "u8 "], TYPE, (bad) =>
    [["k", "GET", bad, 0]]),
  ...refusals(["x", "-1", "", "#", "#-1", "#x", "01", "+1", "1 ", "##1"], OFFSET, (bad) => [["k", "GET", "u8", bad]]),
  ...refusals([`${family.last - 6n}`, `#${(family.last >> 3n) + 1n}`, `${family.last + 1n}`], OFFSET, (bad) => [["k", "GET", "u8", bad]]),
  ...[["GET"], ["GET", "u8"], ["FETCH", "u8", 0], [""], ["GET", "u8", 0, "GET"], ["OVERFLOW"]].map((args) =>
    [["k", ...args], SYNTAX] as const),
];

describeCommand("BITFIELD", (suite) => {
  const { run, roar, family, server, effects, name } = suite;

  it("creates a missing key only if it writes", async () => {
    expect(await run("k")).toEqual([]);
    expect(await run("k", "GET", "u8", 0, "GET", "i64", 100)).toEqual([0, 0]);
    expect(await server.run("EXISTS", "k")).toBe(0);
    expect(await run("k", "SET", "u8", 0, 0)).toEqual([0]);
    expect(await server.run("TYPE", "k")).toBe(family.type);
    expect(await roar.members("k")).toEqual([]);
  });

  it("stores the most significant bit of a field first", async () => {
    expect(await run("k", "SET", "u8", 4, 0b10000010)).toEqual([0]);
    expect(await roar.members("k")).toEqual([4, 10]);
    expect(await run("k", "get", "u4", "#1", "set", "i8", 4, -1, "incrby", "u8", "#0", 1)).toEqual([8, -126, 16]);
  });

  it("accepts fields that end at the last offset", async () => {
    const at = family.last - 63n;
    const replies = await run("k", "SET", "i64", at, "-9223372036854775808", "GET", "u1", family.last, "INCRBY", "i64", at, 1);
    expect(replies).toEqual([0, 0, -9223372036854775807n]);
    expect(await run("k", "GET", "u8", `#${family.last >> 3n}`)).toEqual([1]);
  });

  it("applies OVERFLOW to the subcommands after it", async () => {
    await run("k", "SET", "u8", 0, 250, "SET", "i8", 8, 120);
    const saturate = ["OVERFLOW", "SAT", "INCRBY", "u8", 0, 300, "INCRBY", "i8", 8, 10];
    const fail = ["OVERFLOW", "FAIL", "INCRBY", "u8", 0, 1, "SET", "u8", 0, -1];
    expect(await run("k", "INCRBY", "u8", 0, 10, ...saturate, ...fail)).toEqual([4, 255, 127, null, null]);
    const replies = await run("k", "OVERFLOW", "wrap", "SET", "u8", 0, -1, "OVERFLOW", "sat", "SET", "u8", 0, -1, "GET", "u8", 0);
    expect(replies).toEqual([255, 255, 255]);
  });

  it("raises events and propagates only when something changes", async () => {
    const change = (...args: string[]) => oneChange("setbit", name, "k", ...args);
    expect(await effects(() => run("k", "SET", "u8", 0, 0))).toEqual(change("SET", "u8", "0", "0")); // the key was created
    expect(await effects(() => run("k", "SET", "u8", 0, 0, "INCRBY", "u8", 0, 256))).toEqual(noEffects);
    expect(await effects(() => run("k", "OVERFLOW", "FAIL", "INCRBY", "u8", 0, 256))).toEqual(noEffects);
    expect(await effects(() => run("k", "GET", "u8", 0))).toEqual(noEffects);
    expect(await effects(() => run("k", "SET", "u8", 0, 1))).toEqual(change("SET", "u8", "0", "1"));
  });

  itWrites(suite, {
    arity: -2,
    call: ["k", "GET", "u8", 0],
    bad: [
      ...badGets(family),
      ...refusals(["x", "", "1.5", "9223372036854775808", "+1"], NOT_AN_INTEGER, (bad) => [["k", "SET", "u8", 0, bad]]),
      ...refusals(["x", "", "WRAPS"], "ERR Invalid OVERFLOW type specified", (bad) => [["k", "OVERFLOW", bad]]),
      [["k", "SET", "u8", 0], SYNTAX],
      [["k", "INCRBY", "u8", 0], SYNTAX],
      [["k", "SET", "u8", 0, 1, "GET", "u64", 0], TYPE],
      [["k", "SET", "u8", 0, 1, "SET"], SYNTAX],
    ],
  });
});

describeCommand("BITFIELD_RO", (suite) => {
  const { run, roar, family, server } = suite;
  const ONLY_GET = "ERR BITFIELD_RO only supports the GET subcommand";

  it("reads a missing key as zeros and does not create it", async () => {
    expect(await run("k", "GET", "u8", 0, "GET", "i5", "#3")).toEqual([0, 0]);
    expect(await run("k")).toEqual([]);
    expect(await server.run("EXISTS", "k")).toBe(0);
  });

  it("reads signed and unsigned fields", async () => {
    await roar.load("k", [0, 7, 8]);
    expect(await run("k", "GET", "u8", 0, "GET", "i8", 0, "get", "u2", "#4", "OVERFLOW", "SAT", "GET", "u1", 8)).toEqual([129, -127, 2, 1]);
  });

  itReads(suite, {
    arity: -2,
    flags: ["fast"],
    call: ["k", "GET", "u8", 0],
    bad: [
      ...badGets(family),
      [["k", "SET", "u8", 0, 1], ONLY_GET],
      [["k", "GET", "u8", 0, "INCRBY", "u8", 0, 1], ONLY_GET],
      [["k", "SET", "u64", 0, 1], TYPE],
    ],
  });
});
