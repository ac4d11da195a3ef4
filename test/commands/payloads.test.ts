// IMPORT: payloads of every form that it takes, and those that it refuses by their names.

import { expect, it } from "vitest";
import { itWrites } from "../support/contract.ts";
import { member, range } from "../support/family.ts";
import {
  containersOf, croaringArray, croaringContainers, emptyStream, legacy64, portable32, portable64, smallStream,
} from "../support/format.ts";
import { noEffects } from "../support/observer.ts";
import { bytesOf } from "../support/resp.ts";
import { samples } from "../support/samples.ts";
import { describeCommand, expectEqual, SYNTAX } from "../support/suite.ts";

describeCommand("IMPORT", (suite) => {
  const { run, roar, family, server, effects, refusal } = suite;
  const payload = smallStream(family.bits);
  const invalid = (what: string) => `ERR invalid roaring payload: ${what}`;

  it("creates a missing key", async () => {
    expect(await run("k", payload)).toBe(3);
    expect(await roar.members("k")).toEqual([3, 4, 100]);
  });

  it("adds the members to an existing key and keeps its TTL", async () => {
    await roar.load("k", [4, 5, 70_000]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", payload)).toBe(5);
    expect(await roar.members("k")).toEqual([3, 4, 5, 100, 70_000]);
    expect(await server.run("TTL", "k")).toBeGreaterThan(0);
  });

  it("replaces the key with REPLACE and drops its TTL", async () => {
    await roar.load("k", [4, 5, 70_000]);
    await server.run("EXPIRE", "k", 1000);
    expect(await run("k", payload, "replace")).toBe(3);
    expect(await roar.members("k")).toEqual([3, 4, 100]);
    expect(await server.run("TTL", "k")).toBe(-1);
  });

  it("raises events and propagates only when something changes", async () => {
    await roar.load("k", [3]);
    expect(await effects(() => run("k", payload))).toMatchObject({ dirty: 1, events: [["setbit", "k"]], touched: true });
    expect(await effects(() => run("k", payload))).toEqual(noEffects);
    expect(await effects(() => run("k", payload, "REPLACE"))).toMatchObject({ dirty: 1, events: [["set", "k"]], touched: true });
    expect(await effects(() => run("k2", payload), "k2")).toMatchObject({ dirty: 1, events: [["setbit", "k2"]], touched: true });
  });

  it("adds a small payload to a large bitmap: before, within and after its members", async () => {
    const lone = range(0, 10_000).map((i) => 1_000_000_000 + i * 131_072);
    for (const [sample, members] of Object.entries({ ...samples(family), behind: range(0, 500).map((i) => 2_400_000_000 + i * 65_537) })) {
      await roar.load("k", lone);
      await roar.load("other", [...members, lone[77]!, lone[78]! + 1]);
      await roar.run("OPTIMIZE", "other");
      await roar.run("BITOP", "OR", "expected", "k", "other");
      const added = bytesOf(await roar.run("EXPORT", "other")), all = await roar.run("BITCOUNT", "expected");
      expect(await effects(() => run("k", added)), sample).toMatchObject({ dirty: 1, events: [["setbit", "k"]], touched: true });
      expect(await effects(() => run("k", added)), sample).toEqual(noEffects);
      expect(await run("k", added), sample).toBe(all);
      expect(await roar.run("BITCOUNT", "k"), sample).toBe(all);
      expect(await roar.run("BITOPCARD", "XOR", "k", "expected"), sample).toBe(0);
    }
  });

  it("refuses a payload that is truncated anywhere or has trailing bytes, and leaves the key unchanged", async () => {
    await roar.load("k", [9]);
    const before = await roar.dump("k");
    for (let length = 0; length < payload.length; length++) {
      expect(await refusal("k", payload.subarray(0, length))).toMatch(/^ERR invalid roaring payload: ./);
      expect(await refusal("none", payload.subarray(0, length), "REPLACE")).toMatch(/^ERR invalid roaring payload: ./);
    }
    expect(await refusal("k", Buffer.concat([payload, Buffer.from([0])]))).toBe(invalid("it has trailing bytes"));
    expect(await roar.dump("k")).toEqual(before);
    expect(await server.run("EXISTS", "none")).toBe(0);
  });

  /** Each form of 32-bit members. */
  const narrow: Record<string, (members: readonly number[]) => Buffer> = {
    "a portable stream": (members) => portable32(containersOf(members)),
    "CRoaring's own form": (members) => croaringContainers(containersOf(members)),
    "CRoaring's list": (members) => croaringArray([...members].reverse()),
  };
  const isNarrow = ([, members]: [string, readonly (number | bigint)[]]): boolean => BigInt(members.at(-1) ?? 0) < 2n ** 32n;
  const narrowSamples = Object.entries(samples(family)).filter(isNarrow) as [string, number[]][];

  it.each(Object.entries(narrow))("takes %s, and Base64 text of it", async (_, write) => {
    for (const [sample, members] of narrowSamples) {
      const payload32 = write(members), text = payload32.toString("base64");
      if (payload32.length === 5 && family.bits === 64) continue;                  // see below
      for (const form of [payload32, text, text.replaceAll("=", ""), payload32.toString("base64url"), text.replaceAll(/.{76}/g, "$&\r\n").concat("\n")]) {
        expect(await run("k", form, "REPLACE"), sample).toBe(members.length);
        expectEqual(await roar.members("k"), members, sample);
      }
    }
  });

  it("takes an empty list of CRoaring's, which a 64-bit stream may begin with, only as 32 bits", async () => {
    const list = croaringArray([]);
    if (family.bits === 32) expect(await run("k", list)).toBe(0);
    else expect(await refusal("k", list)).toBe(invalid("it is truncated"));
  });

  it.runIf(family.bits === 64)("takes Java's legacy form in both orders, and Base64 text of it", async () => {
    const lows = [3, 4, 70_000], ups = [0xffff_ffff, 7, 8];
    const bucket = (high: number, members: readonly number[]) => ({ high, containers: containersOf([...members].sort((a, b) => a - b)) });
    const buckets = [
      bucket(0, lows), bucket(5, ups), bucket(0x7fff_ffff, [1]), bucket(0x8000_0000, range(0, 6000, 2)), bucket(0xffff_ffff, ups),
    ];
    const all = buckets.flatMap(({ high, containers }) =>
      containers.flatMap(({ key, values }) => values.map((low) => member((BigInt(high) << 32n) + BigInt(key * 65_536 + low)))));
    const signed = [...buckets.slice(3), ...buckets.slice(0, 3)];
    for (const form of [legacy64(buckets, 0), legacy64(buckets, 1), legacy64(signed, 0), legacy64(signed, 1)]) {
      for (const bytes of [form, form.toString("base64")]) {
        expect(await run("k", bytes, "REPLACE")).toBe(all.length);
        expectEqual(await roar.members("k"), all);
      }
      for (let length = 6; length < 300; length++) expect(await refusal("k", form.subarray(0, length))).toMatch(/^ERR invalid roaring payload: ./);
    }
    expect(await refusal("k", legacy64([...signed].reverse(), 1))).toMatch(/^ERR invalid roaring payload: ./);
  });

  const one = portable32(containersOf([5]));
  const foreign: [what: string, payload: Buffer | string][] = [
    ["it looks like a groupBitmap state of ClickHouse: cut off what is before the roaring bitmap", Buffer.concat([Buffer.from([1, one.length]), one])],
    ["it looks like a groupBitmap state of ClickHouse: cut off what is before the roaring bitmap", Buffer.from("000205000000" + "07000000", "hex")],
    ["it looks like a bitmap of Apache Doris or StarRocks, which has a form of its own", Buffer.from("0105000000", "hex")],
    ["it looks like a bitmap of Apache Doris or StarRocks, which has a form of its own", Buffer.concat([Buffer.from("040107000000", "hex"), one])],
    ["it looks like CRoaring's frozen form: write it with roaring_bitmap_portable_serialize", Buffer.from("0500000000000000c6350100", "hex")],
    ["it looks like a serialized Java object: write the bitmap with its own method serialize()", Buffer.from("aced00057372", "hex")],
    ["it is compressed with gzip", Buffer.from("1f8b08000000000000", "hex")],
    ["it looks like hexadecimal text: send the bytes themselves", one.toString("hex")],
    ["it looks like what redis-cli shows in a terminal: write the reply to a file with --raw", '"\\x3a0\\x00\\x00"'],
    ["it has trailing bytes, the last of which is a line feed, as redis-cli adds one", Buffer.concat([one, Buffer.from("\n")])],
    ["it is Base64 text of another text", Buffer.from(Buffer.from(one.toString("base64")).toString("base64"))],
  ];
  it.each(foreign)("refuses a payload by its name: %s", async (what, bytes) => {
    expect(await effects(() => refusal("k", bytes))).toEqual(noEffects);
    expect(await refusal("k", bytes, "REPLACE")).toBe(invalid(what));
  });

  it("names what DUMP returns, and 64-bit payloads where 32 bits are expected", async () => {
    await roar.load("k", [1, 2, 3]);
    expect(await refusal("d", (await roar.dump("k"))!)).toBe(invalid("it looks like the reply of DUMP, which RESTORE takes"));
    if (family.bits === 64) return;
    const wide = invalid("it has 64-bit offsets, which R64.IMPORT takes"), buckets = [{ high: 7, containers: containersOf([5]) }];
    for (const bytes of [portable64(buckets), legacy64(buckets, 0), portable64(buckets).toString("base64")]) expect(await refusal("d", bytes)).toBe(wide);
  });

  itWrites(suite, {
    arity: -3,
    call: ["k", emptyStream(family.bits)],
    bad: [
      [["k", payload, "REPLACED"], SYNTAX],
      [["k", payload, "REPLACE", "REPLACE"], SYNTAX],
      [["k", "x"], invalid("it is truncated")],
      [["k", "xxxxxxxxxxxx", "REPLACE"], invalid(family.bits === 32 ? "it begins with an unknown cookie" : "it is truncated")],
    ],
  });
});
