// The internal form of bitmaps: STAT, OPTIMIZE, and R.DEBUG, which exists only with the module argument DEBUG.

import { describe, expect, it } from "vitest";
import { itDeclares, itHasNoEffects, itMindsMemory, itReads, itRefusesCounts, itRunsEverywhere, keyAt } from "../support/contract.ts";
import { families, member, otherThan, range } from "../support/family.ts";
import { noEffects } from "../support/observer.ts";
import { roarOn } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { withDebug } from "../support/server.ts";
import { describeCommand, expectEqual, NO_KEY, SYNTAX, useServer, WRONGTYPE } from "../support/suite.ts";

describeCommand("STAT", (suite) => {
  const { run, roar, family, server, refusal, protocol, name } = suite;
  const type = family.bits === 32 ? "bitmap" : "bitmap64";

  it("is nil for a missing key", async () => {
    expect(await run("none")).toBeNull();
    expect(await run("none", "JSON")).toBeNull();
  });

  it("reports containers, members and bytes by kind, as text", async () => {
    await roar.load("k", [...range(0, 5), ...range(65_536, 20_000, 3), ...range(200_000, 50_000)]);
    await roar.run("OPTIMIZE", "k");
    const text = [
      `type: ${type}`, "cardinality: 70005", "number of containers: 3", "max value: 249999", "min value: 0",
      "number of array containers: 0", "\tarray container values: 0", "\tarray container bytes: 0",
      "bitset  containers: 1", "\tbitset  container values: 20000", "\tbitset  container bytes: 8192",
      "run containers: 2", "\trun container values: 50005", "\trun container bytes: 12", "",
    ].join("\n");
    expect(await run("k")).toBe(text);
    expect(await run("k", "nojson")).toBe(await run("k"));
    const raw = String(await roar.connection.bytes(name, "k"));
    expect(raw.startsWith(protocol === 3 ? "=" : "$")).toBe(true);
    if (protocol === 3) expect(raw).toMatch(/^=\d+\r\ntxt:type: /);
  });

  it("reports the same figures as JSON", async () => {
    await roar.load("k", [1, 2, 70_000]);
    const kind = (containers: number, members: number, bytes: number) => ({
      number_of_containers: `${containers}`, container_cardinality: `${members}`, container_allocated_bytes: `${bytes}`,
    });
    const stat = {
      type, cardinality: "3", number_of_containers: "2", max_value: "70000", min_value: "1",
      array_container: kind(2, 3, 6), bitset_container: kind(0, 0, 0), run_container: kind(0, 0, 0),
    };
    for (const word of ["JSON", "json"]) expect(JSON.parse(String(await run("k", word)))).toEqual(stat);
  });

  it("reports a sparse bitset of at most 4096 members as the array that it is in payloads, which are those of equal bitmaps", async () => {
    const least = range(0, 4096, 16), greater = range(0, 4097, 15);
    await roar.load("array", least);
    await roar.load("words", [...least, 5]);
    const stat = async (key: string): Promise<unknown> => JSON.parse(String(await run(key, "JSON")));
    expect(await stat("words")).toMatchObject({ bitset_container: { number_of_containers: "1" } });
    await roar.run("SETBIT", "words", 5, 0);
    expect(await stat("words")).toEqual(await stat("array"));
    expect(await roar.run("EXPORT", "words")).toEqual(await roar.run("EXPORT", "array"));
    expect(await roar.dump("words")).toEqual(await roar.dump("array"));
    expect(await server.run("DEBUG", "DIGEST-VALUE", "words")).toEqual(await server.run("DEBUG", "DIGEST-VALUE", "array"));
    const bytes = (key: string): Promise<number> => server.usage(key);
    expect(await roar.run("CONTAINS", "words", "array", "EQ")).toBe(1);
    expect(await roar.run("JACCARD", "words", "array")).toBe("1");
    await roar.load("other", greater);
    const common = least.filter((offset) => offset % 15 === 0 && offset <= 4096 * 15).length;
    expect(await roar.run("BITOPCARD", "AND", "words", "other")).toBe(common);
    expect(await roar.run("BITOP", "XOR", "d", "other", "words")).toBe(4096 + 4097 - 2 * common);
    await roar.run("OPTIMIZE", "words");
    expect(await bytes("words")).toBe(await bytes("array"));
    expect(await roar.run("EXPORT", "words")).toEqual(await roar.run("EXPORT", "array"));
  });

  it("reports the figures of an empty bitmap and of a full one", async () => {
    await roar.load("k", []);
    expect(JSON.parse(String(await run("k", "JSON")))).toMatchObject({
      cardinality: "0", number_of_containers: "0", max_value: "0", min_value: String(family.last),
    });
    await roar.run("SETFULL", "full");
    const all = String(family.last + 1n), bytes = String(((family.last + 1n) / 65_536n) * 6n);
    expect(JSON.parse(String(await run("full", "JSON")))).toMatchObject({
      cardinality: all, max_value: String(family.last), min_value: "0",
      run_container: { container_cardinality: all, container_allocated_bytes: bytes },
    });
  });

  it("accepts keys of either family", async () => {
    await roarOn(server, otherThan(family)).load("other", [1]);
    const otherType = family.bits === 32 ? "bitmap64" : "bitmap";
    expect(JSON.parse(String(await run("other", "JSON")))).toMatchObject({ type: otherType, cardinality: "1" });
    await server.run("SET", "string", "s");
    expect(await refusal("string")).toBe(WRONGTYPE);
  });

  const call = ["k", "JSON"];
  itHasNoEffects(suite, call);
  itRunsEverywhere(suite, call);
  itMindsMemory(suite, "read", call);
  itDeclares(suite, { arity: -2, flags: ["readonly"], keys: [keyAt(1, "RO")], call });
  itRefusesCounts(suite, { arity: -2, call, miscounted: [["k", "JSON", "JSON"]] });
});

describeCommand("OPTIMIZE", (suite) => {
  const { run, roar, family, server, effects, refusal } = suite;

  it("refuses a missing key", async () => expect(await refusal("none")).toBe(NO_KEY));

  it("does not change the members of any kind of bitmap", async () => {
    for (const members of Object.values(samples(family))) {
      for (const options of [[], ["MEM"], ["mem"]]) {
        await roar.load("k", members);
        expect(await run("k", ...options)).toBe("OK");
        expectEqual(await roar.members("k"), members);
        expect(await roar.run("SETBIT", "k", member(family.last), 1)).toBe(members.at(-1) === member(family.last) ? 1 : 0);
      }
    }
  });

  it("shrinks a bitmap whose members are consecutive to less than 1 kB", async () => {
    await server.connection.pipeline(roar.appends("k", range(0, 300_000), 1000));
    const before = await server.usage("k");
    await run("k", "MEM");
    expect(await server.usage("k")).toBeLessThan(Math.min(before, 1000) + 1);
  });

  it("keeps the TTL, raises no event and propagates nothing", async () => {
    await roar.load("k", range(0, 1000));
    await server.run("EXPIRE", "k", 1000);
    expect(await effects(() => run("k"))).toEqual(noEffects);
    expect(await effects(() => run("k", "MEM"))).toEqual(noEffects);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  itReads(suite, { arity: -2, call: ["k", "MEM"], miscounted: [["k", "MEM", "MEM"]] });

  it("ignores unknown options", async () => {
    await roar.load("k", [1]);
    for (const word of ["MEMORY", "", "x"]) expect(await run("k", word)).toBe("OK");
    expect(await refusal("none", "x")).toBe(NO_KEY);
  });
});

describe("R.DEBUG", () => {
  const server = useServer({ moduleArguments: withDebug });
  const validate = (key: string) => server.run("R.DEBUG", "VALIDATE", key);

  it("finds bitmaps of both families valid", async () => {
    for (const family of families) {
      for (const members of Object.values(samples(family))) {
        await roarOn(server, family).load("k", members);
        expect(await validate("k")).toBe("OK");
        await roarOn(server, family).run("OPTIMIZE", "k");
        expect(await validate("k")).toBe("OK");
      }
    }
  });

  it("refuses missing keys, unknown subcommands and keys of other types", async () => {
    expect(await server.connection.refusal("R.DEBUG", "VALIDATE", "none")).toBe(NO_KEY);
    expect(await server.connection.refusal("R.DEBUG", "OTHER", "none")).toBe(SYNTAX);
    await server.run("SET", "string", "s");
    expect(await server.connection.refusal("R.DEBUG", "VALIDATE", "string")).toBe(WRONGTYPE);
  });
});
