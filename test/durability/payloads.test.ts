// Payloads of DUMP and RESTORE in the formats of the C module, and invalid payloads.

import { describe, expect, it } from "vitest";
import { dumpOf, payloadOf, sealed } from "../support/dump.ts";
import { families, type Family, type Member, R, R64, range, sorted } from "../support/family.ts";
import { Bytes, type Container, croaringArray, croaringContainers, portable32, portable64, readPayload } from "../support/format.ts";
import { type Reply, ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { byName, expectEqual, useServer } from "../support/suite.ts";

describe("payloads", () => {
  const server = useServer();
  const restore = async (family: Family, name: string, payload: Buffer): Promise<Reply> => {
    const [reply] = await server.connection.pipeline([["RESTORE", name, 0, dumpOf(family.type, payload), "REPLACE"]]);
    return reply!;
  };
  const dumped = async (family: Family, name: string): Promise<Buffer> =>
    payloadOf(family.type, (await roarOn(server, family).dump(name))!);

  describe.each(byName(families))("%s", (_family, family) => {
    const roar = roarOn(server, family);

    it.each(Object.entries(samples(family)))("%s: DUMP writes the format, RESTORE and COPY keep the members", async (_, members) => {
      await roar.load("k", members);
      const dump = (await roar.dump("k"))!;
      expect(readPayload(family.bits, payloadOf(family.type, dump))).toEqual(members);
      expect(await server.run("RESTORE", "restored", 0, dump)).toBe("OK");
      expect(await server.run("COPY", "k", "copied")).toBe(1);
      for (const name of ["restored", "copied", "k"]) expectEqual(await roar.members(name), members);
      await roar.run("SETBIT", "copied", 3, members.includes(3) ? 0 : 1); // a copy is independent
      expectEqual(await roar.members("k"), members);
      expect(await roar.run("BITCOUNT", "restored")).toBe(members.length);
    });

    it("equal bitmaps have equal digests, however they were built; different ones do not", async () => {
      const members = [...range(0, 5000, 2), ...range(70_000, 3000), 400_000];
      const digest = async (name: string): Promise<string> => ((await server.run("DEBUG", "DIGEST-VALUE", name)) as string[])[0]!;
      await roar.load("k", members);
      const expected = await digest("k");

      await roar.load("one by one", []);
      await server.connection.pipeline([...members].reverse().map((m) => [roar.name("SETBIT"), "one by one", m, 1]));
      await roar.load("shrunk", range(0, 80_000));
      const kept = new Set(members);
      await server.connection.pipeline(range(0, 80_000).filter((m) => !kept.has(m)).map((m) => [roar.name("SETBIT"), "shrunk", m, 0]));
      await roar.run("SETBIT", "shrunk", 400_000, 1);
      await roar.run("BITOP", "NOT", "inverse", "k", 500_000);
      await roar.run("BITOP", "NOT", "combined", "inverse", 500_000);
      const containers: Container[] = [
        { key: 0, kind: "run", values: members.filter((m) => m < 65_536) },
        { key: 1, kind: "run", values: members.filter((m) => m >= 65_536 && m < 131_072).map((m) => m - 65_536) },
        { key: 6, kind: "array", values: [400_000 - 6 * 65_536] },
      ];
      const payload = family.bits === 32 ? croaringContainers(containers) : portable64([{ high: 0, containers }]);
      expect(await restore(family, "restored", payload)).toBe("OK");
      for (const name of ["one by one", "shrunk", "combined", "restored"]) {
        expectEqual(await roar.members(name), members, name);
        expect(await digest(name), name).toBe(expected);
      }

      await roar.run("SETBIT", "k", 400_000, 0);
      expect(await digest("k")).not.toBe(expected);
      await roar.load("k", []);
      expect(await digest("k")).not.toBe(expected);
    });
  });

  it("are byte for byte those of the C module", async () => {
    await roarOn(server, R).load("few", [3, 4, 100]);
    await roarOn(server, R).load("empty", []);
    await roarOn(server, R).load("run", range(0, 5000));
    await roarOn(server, R64).load("empty64", []);
    expect((await dumped(R, "few")).toString("hex")).toBe("0103000000030000000400000064000000");
    expect((await dumped(R, "empty")).toString("hex")).toBe("0100000000");
    const asRun = "023b30000001000087130100000087" + "13";
    const asBitset = croaringContainers([{ key: 0, kind: "bitset", values: range(0, 5000) }]).toString("hex");
    expect([asRun, asBitset]).toContain((await dumped(R, "run")).toString("hex"));
    expect((await dumped(R64, "empty64")).toString("hex")).toBe("0000000000000000");
  });

  it("use the form CONTAINER only where it is smaller", async () => {
    for (const members of [range(0, 3), range(0, 50, 65_536), range(0, 400, 9), range(0, 5000, 2), range(0, 20_000, 300)]) {
      await roarOn(server, R).load("k", members);
      const payload = await dumped(R, "k");
      expect(payload.length).toBeLessThanOrEqual(5 + 4 * members.length);
      if (payload[0] === 2) expect(payload.length - 1).toBeLessThan(4 + 4 * members.length);
    }
  });

  describe("by other writers are accepted", () => {
    const array = (key: number, values: number[]): Container => ({ key, kind: "array", values });
    const bitset = (key: number, values: number[]): Container => ({ key, kind: "bitset", values });
    const run = (key: number, values: number[]): Container => ({ key, kind: "run", values });
    const shapes: Record<string, Container[]> = {
      "no container": [],
      arrays: [array(0, [1, 5]), array(1, [0, 65_535]), array(65_535, [65_535])],
      "the largest array": [array(3, range(0, 4096, 16))],
      "the smallest bitset": [bitset(3, range(0, 4097, 15))],
      "a full bitset": [bitset(3, range(0, 65_536))],
      "one run": [run(7, range(10, 100))],
      "runs of one member": [run(7, range(10, 100, 2))],
      "a full run": [run(0, range(0, 65_536))],
      "a few runs and arrays": [run(0, range(0, 10)), array(1, [5]), run(9, range(65_000, 536))],
      "runs and other kinds, with offsets": [
        run(0, range(0, 10)), array(1, [5]), bitset(2, range(0, 5000, 3)), run(9, [1, 3]), array(10, [0]),
      ],
      "three containers with runs: the most without offsets": [run(0, range(0, 10)), array(1, [5]), run(2, range(7, 70))],
      "four containers with runs: the fewest with offsets": [run(0, range(0, 10)), array(1, [5]), run(2, range(7, 70)), array(3, [9])],
      "eight containers with runs: one full byte of flags": range(0, 8).map((k) => run(k, range(k, 50))),
      "nine containers with runs": range(0, 9).map((k) => run(k, range(k, 50))),
      "a run container where an array is smaller": [run(0, range(0, 6000, 2))],
      "a hundred containers": range(0, 100).map((k) => (k % 3 === 0 ? run(k, range(k, 50)) : array(k, [k, k + 5, 60_000]))),
    };
    const membersOf = (containers: Container[], base = 0): Member[] =>
      containers.flatMap(({ key: high, values }) => values.map((low) => base + high * 65_536 + low));

    it.each(Object.entries(shapes))("%s", async (_shape, containers) => {
      expect(await restore(R, "r", croaringContainers(containers))).toBe("OK");
      expect(await roarOn(server, R).members("r")).toEqual(membersOf(containers));
      const buckets = containers.length === 0 ? [] : [{ high: 0, containers }, { high: 9, containers }];
      expect(await restore(R64, "r64", portable64(buckets))).toBe("OK");
      expect(await roarOn(server, R64).members("r64")).toEqual(
        buckets.flatMap(({ high }) => membersOf(containers, high * 2 ** 32)),
      );
      for (const [family, name] of [[R, "r"], [R64, "r64"]] as const) {
        const roar = roarOn(server, family);
        const before = await roar.members(name);
        expectEqual(readPayload(family.bits, await dumped(family, name)), before);
        await roar.run("SETBIT", name, 12, before.includes(12) ? 0 : 1);
        await roar.run("SETBIT", name, 12, before.includes(12) ? 1 : 0);
        await server.run("DEBUG", "RELOAD");
        expectEqual(await roar.members(name), before);
      }
    });

    it("lists of values, unsorted and with duplicates", async () => {
      for (const values of [[], [5], [100, 3, 4], [7, 7, 7], [4294967295, 0, 70_000, 0, 4294967295], range(0, 10_000).reverse()]) {
        expect(await restore(R, "k", croaringArray(values))).toBe("OK");
        expect(await roarOn(server, R).members("k")).toEqual(sorted(new Set(values)));
      }
    });
  });

  /** Payloads that contradict themselves or the format. */
  const bad: Record<string, [Family, Buffer]> = {
    "no bytes": [R, Buffer.alloc(0)],
    "an unknown form": [R, Buffer.from([3, 0, 0, 0, 0])],
    "a truncated count": [R, Buffer.from([1, 1, 0])],
    "fewer values than announced": [R, croaringArray([1, 2, 3]).subarray(0, -4)],
    "half a value": [R, croaringArray([1, 2, 3]).subarray(0, -2)],
    "more values than announced": [R, Buffer.concat([croaringArray([1, 2]), Buffer.alloc(4)])],
    "a count near 2^32": [R, new Bytes().u8(1).u32(0xffffffff).u32(1).take()],
    "a count whose bytes wrap": [R, new Bytes().u8(1).u32(0x40000001).u32(1).take()],
    "an unknown cookie": [R, new Bytes().u8(2).u32(12345).u32(0).take()],
    "more containers than there are keys": [R, new Bytes().u8(2).u32(12346).u32(65_537).take()],
    "equal keys": [R, croaringContainers([{ key: 1, kind: "array", values: [1] }, { key: 1, kind: "array", values: [2] }])],
    "descending keys": [R, croaringContainers([{ key: 2, kind: "array", values: [1] }, { key: 1, kind: "array", values: [2] }])],
    "descending members": [R, croaringContainers([{ key: 0, kind: "array", values: [2, 1] }])],
    "equal members": [R, croaringContainers([{ key: 0, kind: "array", values: [1, 1] }])],
    "a bitset with a wrong cardinality": [R, croaringContainers([{ key: 0, kind: "bitset", values: [...range(0, 4097), 5] }])],
    "overlapping runs": [R, runPayload([[0, 10], [5, 10]], 20)],
    "adjacent runs": [R, runPayload([[0, 4], [5, 4]], 10)],
    "descending runs": [R, runPayload([[100, 4], [5, 4]], 10)],
    "a run past the end of the container": [R, runPayload([[65_530, 10]], 11)],
    "a run container without runs": [R, runPayload([], 1)],
    "runs with a wrong cardinality": [R, runPayload([[0, 4]], 7)],
    "a wrong offset": [R, edited(croaringContainers([{ key: 0, kind: "array", values: [1] }]), 13, 99)],
    "trailing bytes": [R, Buffer.concat([croaringContainers([{ key: 0, kind: "array", values: [1] }]), Buffer.alloc(1)])],
    "a truncated bucket count": [R64, Buffer.alloc(4)],
    "fewer buckets than announced": [R64, new Bytes().u64(2n).u32(0).raw(portable32([{ key: 0, kind: "array", values: [1] }])).take()],
    "2^40 buckets": [R64, new Bytes().u64(2n ** 40n).take()],
    "equal buckets": [R64, portable64([0, 0].map((high) => ({ high, containers: [{ key: 0, kind: "array", values: [1] }] })))],
    "descending buckets": [R64, portable64([5, 4].map((high) => ({ high, containers: [{ key: 0, kind: "array", values: [1] }] })))],
    "trailing bytes after the buckets": [R64, Buffer.concat([portable64([]), Buffer.alloc(1)])],
    "a payload of the other family": [R64, croaringArray([1, 2, 3])],
  };

  it.each(Object.entries(bad))("with %s are refused, and the key is unchanged", async (_, [family, payload]) => {
    await roarOn(server, family).load("k", [42]);
    expect(await restore(family, "k", payload)).toEqual(new ReplyError("ERR Bad data format"));
    expect(await roarOn(server, family).members("k")).toEqual([42]);
  });

  it("with another encoding version, or in an envelope that is not that of a module value, are refused", async () => {
    const good = croaringArray([1]);
    const truncated = dumpOf(R.type, good).subarray(0, 12);
    const others = [dumpOf(R.type, good, 2), dumpOf(R.type, good, 0), sealed(truncated), sealed(Buffer.from([7]))];
    for (const dump of others) expect(await server.connection.refusal("RESTORE", "k", 0, dump)).toMatch(/^ERR Bad data format/);
  });
});

function runPayload(runs: readonly (readonly [number, number])[], cardinality: number): Buffer {
  const bytes = new Bytes().u8(2).u16(12347).u16(0).u8(1).u16(0).u16(cardinality - 1).u16(runs.length);
  for (const [start, more] of runs) bytes.u16(start).u16(more);
  return bytes.take();
}

function edited(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
}
