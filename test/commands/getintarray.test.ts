import { expect, it } from "vitest";
import { itFindsNothing, itReads } from "../support/contract.ts";
import { type Member } from "../support/family.ts";
import { replies } from "../support/roar.ts";
import { describeCommand } from "../support/suite.ts";

describeCommand("GETINTARRAY", (suite) => {
  const { run, roar, family, name } = suite;

  itFindsNothing(suite, [], ["k"]);

  it("returns the members in ascending order", async () => {
    await roar.run("SETINTARRAY", "k", 70000, 3, 65535, 65536, 0);
    expect(await run("k")).toEqual([0, 3, 65535, 65536, 70000]);
  });

  it("returns integers below 2^63, and bulk strings from 2^63 on", async () => {
    const members: Member[] = [0, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, family.last].filter((m) => m <= family.last);
    await roar.load("k", [...members, family.last]);
    const expected = family.bits === 32 ? [0, 4294967295] : replies(members);
    expect(await run("k")).toEqual(expected);
    const bytes =
      family.bits === 32
        ? "*2\r\n:0\r\n:4294967295\r\n"
        : "*5\r\n:0\r\n:9007199254740992\r\n:9223372036854775807\r\n$19\r\n9223372036854775808\r\n$20\r\n18446744073709551615\r\n";
    expect(String(await roar.connection.bytes(name, "k"))).toBe(bytes);
  });

  it("returns a list of 300,000 members", async () => {
    const members = Array.from({ length: 300_000 }, (_, i) => 5 * i + (i % 3));
    await roar.load("k", members);
    expect(await run("k")).toEqual(members);
  });

  it("refuses to list more than 100,000,000 members", async () => {
    await roar.run("BITOP", "NOT", "k", "none", 100_000_000); // one more than that
    expect(await roar.refusal("GETINTARRAY", "k")).toMatch(/too (large|many)/);
    expect(await roar.run("BITCOUNT", "k")).toBe(100_000_001);
  });

  itReads(suite, { arity: 2, call: ["k"] });
});
