// RN.*: what commands reply, what they refuse, and what they do besides. test/model/names.test.ts compares meanings.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { names as rows } from "../../host/table/names.ts";
import { noEffects, Observer, oneChange } from "../support/observer.ts";
import type { Argument } from "../support/resp.ts";
import { withDebug } from "../support/server.ts";
import { arityError, expectValid, record, SYNTAX, useServer, WRONGTYPE } from "../support/suite.ts";
import { isSeven } from "../support/version.ts";

const server = useServer({ moduleArguments: withDebug });
const run = (...command: Argument[]) => server.run(...command);
const refusal = (...command: Argument[]) => server.connection.refusal(...command);

/** A payload of RN.LOAD. */
function chunk(first: number, records: readonly (string | readonly number[])[], count = records.length): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(first, 0);
  head.writeUInt32LE(count, 4);
  return Buffer.concat([head, ...records.map((one) => (typeof one === "string" ? Buffer.from([one.length, ...Buffer.from(one)]) : Buffer.from(one)))]);
}

describe("RN.* on a missing key", () => {
  it.each<[Argument[], unknown]>([
    [["RN.ID", "none", "a", "b"], [null, null]], [["RN.NAME", "none", 0, 4294967295], [null, null]], [["RN.DEL", "none", "a"], 0],
    [["RN.CARD", "none"], 0], [["RN.SCAN", "none", 0], ["0", []]],
    [["RN.GETBITS", "none", "none", "a", "b"], [0, 0]], [["RN.CLEARBITS", "none", "none", "a"], 0],
    [["RN.QUERY", "none", "#1", 1, "none"], [null, []]],
  ])("%j replies %j and creates nothing", async (command, reply) => {
    expect(await run(...command)).toEqual(reply);
    expect(await run("EXISTS", "none")).toBe(0);
  });
});

describe("RN.*", () => {
  it("gives ids in order, and none twice", async () => {
    expect(await run("RN.ADD", "k", "a", "b", "a", "c")).toEqual([0, 1, 0, 2]);
    expect(await run("RN.DEL", "k", "b", "b", "x")).toBe(1);
    expect(await run("RN.ADD", "k", "b", "a")).toEqual([3, 0]);
    expect(await run("RN.NAME", "k", 0, 1, 2, 3, 4)).toEqual(["a", null, "c", "b", null]);
    expect(await run("RN.DEL", "k", "a", "b", "c")).toBe(3);
    expect(await run("RN.CARD", "k")).toBe(0);
    expect(await run("EXISTS", "k")).toBe(1);
    expect(await run("RN.ADD", "k", "a")).toEqual([4]);
  });

  it("replies names to the byte", async () => {
    const names = [
      "6f1c5b0e-96a6-4b9a-8f0e-3b2f5b1c9d10", "6F1C5B0E-96A6-4B9A-8F0E-3B2F5B1C9D10", "6f1c5b0e-96A6-4b9a-8f0e-3b2f5b1c9d10",
      "00000000-0000-0000-0000-000000000000", "6f1c5b0e-96a6-4b9a-8f0e-3b2f5b1c9d1g", "6f1c5b0e+96a6-4b9a-8f0e-3b2f5b1c9d10",
      "d41d8cd98f00b204e9800998ecf8427e", "D41D8CD98F00B204E9800998ECF8427E", "D41D8CD98F00B204E9800998ECF8427e", "0x12", "abcdef", "ABCDEF", "abcdeF", "abcde",
      "0", "1", "00", "01", "10", "010", "0000", "9", "255", "256", "18446744073709551615", "18446744073709551616", "99999999999999999999", "018446744073709551615",
      "+1", "-1", "1.5", " 1", "1 ", "\0", "\0\0", "\xff", "ada", "Ada", "o0", "O0", "@@", "``", "gg", "a".repeat(127), "a".repeat(128), "g".repeat(127), "g".repeat(128),
      "a".repeat(64), "a".repeat(66), "g".repeat(65_535),
    ];
    expect(await run("RN.ADD", "k", ...names)).toEqual(names.map((_, id) => id));
    expect(await run("RN.NAME", "k", ...names.map((_, id) => id))).toEqual(names);
    expect(await run("RN.ID", "k", ...names)).toEqual(names.map((_, id) => id));
    await expectValid(server);
  });

  it("packs UUIDs, hexadecimal digits and decimal numbers", async () => {
    const takes = async (key: string, name: (i: number) => string): Promise<number> => {
      for (let from = 0; from < 20_000; from += 1000) await run("RN.ADD", key, ...Array.from({ length: 1000 }, (_, i) => name(from + i)));
      return (await server.usage(key)) / 20_000;
    };
    const hex = (i: number): string => `${"0".repeat(24)}${(i * 40_503).toString(16).padStart(8, "0")}`;
    expect(await takes("uuid", (i) => hex(i).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"))).toBeLessThan(30);
    expect(await takes("hex", hex)).toBeLessThan(30);
    expect(await takes("decimal", (i) => String(10n ** 18n + BigInt(i) * 7n))).toBeLessThan(22);
  });

  it("SCAN lists a page, also one of long names", async () => {
    await run("RN.ADD", "k", ...Array.from({ length: 100 }, (_, i) => `name ${i}`));
    expect(await run("RN.SCAN", "k", 5, "COUNT", 2)).toEqual(["7", [5, "name 5", 6, "name 6"]]);
    expect(await run("RN.SCAN", "k", 99, "count", 2)).toEqual(["0", [99, "name 99"]]);
    expect(await run("RN.SCAN", "k", 100)).toEqual(["0", []]);
    expect(((await run("RN.SCAN", "k", 0)) as [string, unknown[]])[1]).toHaveLength(20);
    await run("RN.DEL", "k", "name 7");
    expect(await run("RN.SCAN", "k", 6, "COUNT", 2)).toEqual(["9", [6, "name 6", 8, "name 8"]]);
    await run("RN.ADD", "long", ...Array.from({ length: 20 }, (_, i) => `${i}`.padStart(60_000, "x")));
    const [cursor, page] = (await run("RN.SCAN", "long", 0, "COUNT", 1000)) as [string, unknown[]];
    expect(page.length).toBeLessThan(20);
    expect(Number(cursor)).toBe(page.length / 2);
  });

  it("keeps the TTL, and a copy is independent", async () => {
    await run("RN.ADD", "k", ...Array.from({ length: 3000 }, (_, i) => `name ${i}`));
    await run("EXPIRE", "k", 1000);
    await run("COPY", "k", "copied");
    expect(await run("RN.ADD", "k", "more")).toEqual([3000]);
    expect(await run("RN.DEL", "copied", "name 7")).toBe(1);
    expect(await run("RN.ID", "k", "name 7", "more")).toEqual([7, 3000]);
    expect(await run("RN.ID", "copied", "name 7", "more")).toEqual([null, null]);
    expect(await run("TTL", "k")).toBeGreaterThan(900);
    await expectValid(server);
    await expectValid(server, "copied");
  });
});

describe("bitmaps by name", () => {
  it("have the bits of names, which get ids when bits are set", async () => {
    expect(await run("RN.SETBITS", "k", "b", "ada", "bob", "ada")).toBe(2);
    expect(await run("RN.SETBITS", "k", "b", "bob", "carol")).toBe(1);
    expect(await run("RN.GETBITS", "k", "b", "carol", "eve", "ada", "carol")).toEqual([1, 0, 1, 1]);
    expect(await run("RN.CLEARBITS", "k", "b", "bob", "eve", "bob")).toBe(1);
    expect(await run("RN.ID", "k", "ada", "bob", "carol", "eve")).toEqual([0, 1, 2, null]);
    expect(await run("R.GETINTARRAY", "b")).toEqual([0, 2]);
    expect(await run("RN.CLEARBITS", "k", "b", "ada", "carol")).toBe(2);
    expect(await run("EXISTS", "b")).toBe(1);
  });

  it("are those of R64 if they are there", async () => {
    await run("R64.SETBIT", "b", String(2n ** 40n), 1);
    expect(await run("RN.SETBITS", "k", "b", "ada")).toBe(1);
    expect(await run("TYPE", "b")).toBe("roaring64");
    expect(await run("RN.GETBITS", "k", "b", "ada")).toEqual([1]);
    expect(await run("RN.CLEARBITS", "k", "b", "ada")).toBe(1);
    expect(await run("R64.BITCOUNT", "b")).toBe(1);
  });

  it("keep a time to live, and only tell of the keys that change", async () => {
    await run("RN.SETBITS", "k", "b", "ada");
    await run("EXPIRE", "b", 100);
    const observer = await Observer.of(server), none = noEffects;
    try {
      expect(await observer.effects("b", () => run("RN.SETBITS", "k", "b", "ada"))).toEqual(none);
      expect(await observer.effects("k", () => run("RN.SETBITS", "k", "b", "ada"))).toEqual(none);
      const both = { events: [["rn.setbits", "b"], ["rn.setbits", "k"]] };
      expect(await observer.effects("b", () => run("RN.SETBITS", "k", "b", "bob"))).toEqual({ ...oneChange("rn.setbits", "RN.SETBITS", "k", "b", "bob"), ...both });
      expect(await observer.effects("k", () => run("RN.SETBITS", "k", "b", "eve"))).toEqual({ ...oneChange("rn.setbits", "RN.SETBITS", "k", "b", "eve"), ...both });
      await run("R.SETBIT", "b", 0, 0);
      expect(await observer.effects("b", () => run("RN.SETBITS", "k", "b", "ada"))).toEqual({ ...oneChange("rn.setbits", "RN.SETBITS", "k", "b", "ada"), events: [["rn.setbits", "b"]] });
      expect(await observer.effects("b", () => run("RN.CLEARBITS", "k", "b", "eve"))).toEqual({ ...oneChange("rn.clearbits", "RN.CLEARBITS", "k", "b", "eve"), events: [["rn.clearbits", "b"]] });
      expect(await observer.effects("b", () => run("RN.CLEARBITS", "k", "b", "eve", "mallory"))).toEqual(none);
      expect(await observer.effects("b", () => run("RN.GETBITS", "k", "b", "ada"))).toEqual(none);
    } finally {
      observer.close();
    }
    expect(await run("TTL", "b")).toBeGreaterThan(0);
  });

  it("refuse what they cannot do, and change neither key", async () => {
    await run("RN.ADD", "k", "ada");
    await run("SET", "s", "x");
    const NAME = "ERR invalid name: must have 1 to 65535 bytes", SAME = "ERR Roaring: the dictionary and the bitmap are the same key";
    for (const [command, error] of [
      [["RN.SETBITS", "k", "s", "new"], WRONGTYPE], [["RN.SETBITS", "s", "b", "new"], WRONGTYPE], [["RN.SETBITS", "none", "s", "new"], WRONGTYPE],
      [["RN.SETBITS", "k", "k", "new"], SAME], [["RN.SETBITS", "none", "none", "new"], SAME],
      [["RN.SETBITS", "k", "b", "new", ""], NAME], [["RN.SETBITS", "k", "b"], arityError("RN.SETBITS")],
      [["RN.GETBITS", "k", "s", "ada"], WRONGTYPE], [["RN.GETBITS", "s", "b", "ada"], WRONGTYPE], [["RN.GETBITS", "k", "k", "ada"], WRONGTYPE],
      [["RN.CLEARBITS", "k", "s", "ada"], WRONGTYPE], [["RN.CLEARBITS", "k", "k", "ada"], WRONGTYPE], [["RN.CLEARBITS", "k", "b", ""], NAME],
    ] as [[string, ...Argument[]], string][]) {
      expect(await refusal(...command), String(command)).toBe(error);
    }
    expect(await run("EXISTS", "b", "none")).toBe(0);
    expect(await run("RN.ADD", "k", "bob")).toEqual([1]);
    expect(await run("RN.LOAD", "full", chunk(2 ** 32 - 2, ["a"]))).toBe("OK");
    expect(await refusal("RN.SETBITS", "full", "b", "a", "b")).toBe("ERR Roaring: the dictionary has no ids left");
    expect(await run("EXISTS", "b")).toBe(0);
    expect(await run("RN.SETBITS", "full", "b", "a")).toBe(1);
    expect(await run("R.MAX", "b")).toBe(2 ** 32 - 2);
  });
});

describe("RN.QUERY", () => {
  const names = Array.from({ length: 40_000 }, (_, i) => `user:${i}`);
  const query = (...rest: Argument[]) => run("RN.QUERY", "k", ...rest) as Promise<[number | null, string[]]>;
  const people = ["ada", "bob", "carol", "dan", "eve"];

  it("replies the names of members, page by page", async () => {
    await run("RN.ADD", "k", ...people);
    await run("R.SETBITS", "b", 0, 1, 3, 4, 5, 4294967295);
    await run("R64.SETBITS", "c", 3, 4, "18446744073709551615");
    await run("RI.SET", "age", 0, 17, 3, 40, 4, 18);
    expect(await query("#1", 1, "b")).toEqual([null, ["ada", "bob", "dan", "eve"]]);
    expect(await query("#1 - #2", 2, "b", "c")).toEqual([null, ["ada", "bob"]]);
    expect(await query("#1 & #2 >= 18", 2, "c", "age")).toEqual([null, ["dan", "eve"]]);
    expect(await query("#1", 1, "c", "LIMIT", 1)).toEqual([4, ["dan"]]);
    expect(await query("#1", 1, "c", "FROM", 4, "LIMIT", 1)).toEqual([null, ["eve"]]);
    expect(await query("#1", 1, "b", "LIMIT", 0)).toEqual([0, []]);
    expect(await query("#1", 1, "b", "FROM", 5)).toEqual([null, []]);
    await run("RN.DEL", "k", "bob", "dan");
    expect(await query("#1", 1, "b", "LIMIT", 1)).toEqual([4, ["ada"]]);
    expect(await query("#1", 1, "none")).toEqual([null, []]);
    await run("R.SETFULL", "all");
    expect(await query("#1", 1, "all")).toEqual([null, ["ada", "carol", "eve"]]);
    expect(await query("#1", 1, "all", "FROM", 1, "LIMIT", 1)).toEqual([4, ["carol"]]);
    expect(await run("RN.QUERY", "none", "#1", 1, "b")).toEqual([null, []]);
  });

  it("replies the same on threads and at once, whatever the page", async () => {
    for (let from = 0; from < names.length; from += 1000) await run("RN.ADD", "k", ...names.slice(from, from + 1000));
    await run("RN.DEL", "k", ...names.slice(1000, 31_000));
    await run("R.SETRANGE", "b", 0, names.length);
    const left = names.filter((_, id) => id < 1000 || id >= 31_000);
    for (const from of [2 ** 40, 1, 0]) {
      await run("CONFIG", "SET", "redis-roar.threads-from-bytes", from);
      expect(await query("#1", 1, "b")).toEqual([null, left]);
      expect(await query("#1", 1, "b", "LIMIT", 1000)).toEqual([31_000, left.slice(0, 1000)]);
      expect(await query("#1", 1, "b", "FROM", 1000, "LIMIT", 1)).toEqual([31_001, left.slice(1000, 1001)]);
    }
    await run("CONFIG", "SET", "redis-roar.threads-from-bytes", 1024 * 1024);
  });

  it("ends a page where the reply would be too large", async () => {
    const few = people.map((name) => name.repeat(10_000));
    await run("RN.ADD", "k", ...few);
    await run("R.SETRANGE", "b", 0, 9);
    for (const [setting, value] of [["reply-limit-bytes", 80_000], ["reply-limit", 2]] as const) {
      const [before] = ((await run("CONFIG", "GET", `redis-roar.${setting}`)) as string[]).slice(1);
      await run("CONFIG", "SET", `redis-roar.${setting}`, value);
      expect(await query("#1", 1, "b")).toEqual([2, few.slice(0, 2)]);
      expect(await query("#1", 1, "b", "FROM", 2, "LIMIT", 1)).toEqual([3, few.slice(2, 3)]);
      await run("CONFIG", "SET", `redis-roar.${setting}`, before!);
    }
  });
});

describe("RN.* refuses", () => {
  const NAME = "ERR invalid name: must have 1 to 65535 bytes", ID = "ERR invalid id: must be an unsigned 32 bit integer";
  const PAYLOAD = "ERR invalid roaring payload: ", UNSOUND = `${PAYLOAD}a name does not have the form that it should have`;
  it.each<[Argument[], string]>([
    [["RN.ADD", "k"], arityError("RN.ADD")], [["RN.ADD", "k", ""], NAME], [["RN.ADD", "k", "b", "x".repeat(65_536)], NAME],
    [["RN.ID", "k"], arityError("RN.ID")], [["RN.ID", "k", "a", ""], NAME], [["RN.DEL", "k", "a", ""], NAME],
    [["RN.NAME", "k", "x"], ID], [["RN.NAME", "k", 4294967296], ID], [["RN.NAME", "k", -1], ID],
    [["RN.CARD", "k", "x"], arityError("RN.CARD")], [["RN.SCAN", "k", "x"], "ERR invalid cursor: must be an unsigned 32 bit integer"],
    [["RN.SCAN", "k", 0, "COUNT", 0], SYNTAX], [["RN.SCAN", "k", 0, "MATCH", 1], SYNTAX], [["RN.SCAN", "k", 0, "COUNT"], SYNTAX],
    [["RN.QUERY", "k", "#1", 1], arityError("RN.QUERY")], [["RN.QUERY", "k", "#2", 1, "b"], "ERR Roaring: query: there is no key of that number at character 2"],
    [["RN.QUERY", "k", "#1", 0, "b"], "ERR numkeys should be greater than 0"], [["RN.QUERY", "k", "#1", 2, "b"], "ERR Number of keys can't be greater than number of args"],
    [["RN.QUERY", "k", "#1", 1, "b", "c"], SYNTAX], [["RN.QUERY", "k", "#1", 1, "b", "FROM", "x"], "ERR invalid offset: must be an unsigned 32 bit integer"],
    [["RN.QUERY", "k", "#1", 1, "b", "LIMIT", -1], "ERR value is not an integer or out of range"], [["RN.QUERY", "k", "#1", 1, "b", "REV"], SYNTAX], [["RN.QUERY", "k", "#1", 1, "k"], WRONGTYPE],
    [["RN.LOAD", "k", ""], `${PAYLOAD}it is truncated`], [["RN.LOAD", "k", Buffer.alloc(7)], `${PAYLOAD}it is truncated`],
    [["RN.LOAD", "k", chunk(1, ["b"], 2)], `${PAYLOAD}it is truncated`], [["RN.LOAD", "k", chunk(1, ["b", "c"], 1)], `${PAYLOAD}it has trailing bytes`],
    [["RN.LOAD", "k", chunk(0, ["b"])], `${PAYLOAD}an id is out of range, or not greater than those before it`],
    [["RN.LOAD", "k", chunk(2 ** 32 - 2, ["b", "c"])], `${PAYLOAD}an id is out of range, or not greater than those before it`],
    [["RN.LOAD", "k", chunk(1, ["b", "a"])], `${PAYLOAD}it has a name twice`], [["RN.LOAD", "k", chunk(1, ["b", "b"])], `${PAYLOAD}it has a name twice`],
    [["RN.LOAD", "k", chunk(1, ["12"])], UNSOUND], [["RN.LOAD", "k", chunk(1, ["ab"])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[5, 0x62]])], UNSOUND],
    [["RN.LOAD", "k", chunk(1, [[0xc0, 5]])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[0xc1, 12, 0]])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[0x80, 0x12]])], UNSOUND],
    [["RN.LOAD", "k", chunk(1, [[0xa0, 0x01]])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[0xfe, 0]])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[0xff, 1, 0, 0x62]])], UNSOUND],
    [["RN.LOAD", "k", chunk(1, [[0xca, 1]])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[0xff]])], UNSOUND], [["RN.LOAD", "k", chunk(1, [[0xff, 0, 0]])], UNSOUND],
  ])("%j", async (command, error) => {
    await run("RN.ADD", "k", "a");
    expect(await refusal(...command)).toBe(error);
    expect(await run("RN.SCAN", "k", 0)).toEqual(["0", [0, "a"]]);
    expect(await run("RN.ADD", "k", "b")).toEqual([1]);
    await expectValid(server);
  });

  it("LOAD of a bad payload creates nothing", async () => {
    expect(await refusal("RN.LOAD", "none", chunk(0, ["a", "a"]))).toBe(`${PAYLOAD}it has a name twice`);
    expect(await run("EXISTS", "none")).toBe(0);
  });

  it("names for which there are no ids: all of a call", async () => {
    expect(await run("RN.LOAD", "k", chunk(2 ** 32 - 3, ["a"]))).toBe("OK");
    expect(await refusal("RN.ADD", "k", "b", "c")).toBe("ERR Roaring: the dictionary has no ids left");
    expect(await run("RN.ADD", "k", "b", "a")).toEqual([2 ** 32 - 2, 2 ** 32 - 3]);
    expect(await refusal("RN.ADD", "k", "a", "c")).toBe("ERR Roaring: the dictionary has no ids left");
    expect(await run("RN.NAME", "k", 2 ** 32 - 3, 2 ** 32 - 2, 2 ** 32 - 1)).toEqual(["a", "b", null]);
    expect(await run("RN.SCAN", "k", 7)).toEqual(["0", [2 ** 32 - 3, "a", 2 ** 32 - 2, "b"]]);
    await expectValid(server);
  });

  it("keys of other types, and the others refuse its keys", async () => {
    await run("RN.ADD", "k", "a");
    await run("R.SETBIT", "b", 1, 1);
    await run("SET", "s", "x");
    for (const key of ["b", "s"]) {
      for (const [command, ...rest] of [["RN.ADD", key, "a"], ["RN.ID", key, "a"], ["RN.NAME", key, 0], ["RN.DEL", key, "a"], ["RN.CARD", key], ["RN.SCAN", key, 0], ["RN.QUERY", key, "#1", 1, "b"], ["RN.LOAD", key, chunk(0, ["a"])]] as Argument[][]) {
        expect(await refusal(command!, ...rest)).toBe(WRONGTYPE);
      }
    }
    for (const command of [["R.SETBIT", "k", 1, 1], ["R64.GETBIT", "k", 1], ["R.EXPORT", "k"], ["R.STAT", "k"], ["R64.BITOP", "OR", "d", "k"], ["GET", "k"]]) {
      expect(await refusal(...command)).toBe(WRONGTYPE);
    }
    expect(await run("TYPE", "k")).toBe("roarnames");
  });

  it("replies beyond the limit", async () => {
    await run("RN.ADD", "k", "x".repeat(60_000), "y");
    await run("CONFIG", "SET", "redis-roar.reply-limit-bytes", 1_000_000);
    try {
      expect(await refusal("RN.NAME", "k", ...Array<number>(20).fill(0))).toMatch(/^ERR Roaring: reply too large/);
      expect(await run("RN.NAME", "k", ...Array<number>(2000).fill(1))).toHaveLength(2000);
    } finally {
      await run("CONFIG", "SET", "redis-roar.reply-limit-bytes", 512 * 1024 * 1024);
    }
  });
});

describe("side effects of RN.*", () => {
  let observer: Observer;
  beforeAll(async () => { observer = await Observer.of(server); });
  afterAll(() => observer.close());
  const effects = (...command: Argument[]) => observer.effects("k", () => run(...command));

  it("are those of the changes", async () => {
    expect(await effects("RN.ADD", "k", "a", "b")).toEqual(oneChange("rn.add", "RN.ADD", "k", "a", "b"));
    expect(await effects("RN.ADD", "k", "a")).toEqual(noEffects);
    expect(await effects("RN.ADD", "k", "a", "c")).toEqual(oneChange("rn.add", "RN.ADD", "k", "a", "c"));
    expect(await effects("RN.DEL", "k", "x")).toEqual(noEffects);
    expect(await effects("RN.DEL", "k", "b", "x")).toEqual(oneChange("rn.del", "RN.DEL", "k", "b", "x"));
    for (const command of [["RN.ID", "k", "a"], ["RN.NAME", "k", 0], ["RN.CARD", "k"], ["RN.SCAN", "k", 0]]) expect(await effects(...command)).toEqual(noEffects);
  });
});

describe.skipIf(!isSeven)("the table of RN.*", () => {
  it.each(rows.map((row) => [row.name, row] as const))("%s: the server tells what its row says", async (name, row) => {
    const docs = record(record(await run("COMMAND", "DOCS", `RN.${name}`)).get(`RN.${name}`)!);
    for (const field of ["summary", "complexity", "since"] as const) expect(docs.get(field)).toBe(row[field]);
    const isNumbered = row.keys.some(({ numbered }) => numbered), words = isNumbered ? ["#1", 1, "b", "LIMIT", 1] : row.keys.length > 1 ? ["b", "a"] : name === "CARD" ? [] : ["a"];
    expect(await run("COMMAND", "GETKEYS", `RN.${name}`, "k", ...words)).toEqual(row.keys.length > 1 ? ["k", "b"] : ["k"]);
  });
});
