// Exchanges streams with another implementation: CRoaring, from the package roaring-wasm. It supports the 32-bit formats. A 64-bit
// stream is assembled from 32-bit streams, each preceded by the high half of its members.

import { RoaringBitmap32, roaringLibraryInitialize } from "roaring-wasm";
import { beforeAll, describe, expect, it } from "vitest";
import { dumpOf, payloadOf } from "../support/dump.ts";
import { member, R, R64, range } from "../support/family.ts";
import { Bytes } from "../support/format.ts";
import { type Random, seeded } from "../support/random.ts";
import { bytesOf, type Reply } from "../support/resp.ts";
import { replies, roarOn } from "../support/roar.ts";
import { expectEqual, useServer } from "../support/suite.ts";

beforeAll(() => roaringLibraryInitialize());

const server = useServer();
const roar = roarOn(server, R);
const wide = roarOn(server, R64);

const ofRanges = (...ranges: [from: number, to: number][]): RoaringBitmap32 => {
  const bitmap = new RoaringBitmap32();
  for (const [from, to] of ranges) bitmap.addRange(from, to);
  return bitmap;
};

/** Random members in containers of every kind: ranges, and members 1 to 300 apart. */
function scattered({ below, pick }: Random): RoaringBitmap32 {
  const bitmap = new RoaringBitmap32();
  for (let i = below(12); i >= 0; i--) {
    const from = pick([below(2 ** 32), below(16) * 65_536, 2 ** 32 - 1 - below(100_000)]);
    if (pick([true, false])) bitmap.addRange(from, Math.min(from + below(200_000), 2 ** 32));
    else bitmap.addMany(range(from, below(6000), pick([1, 2, 7, 300])).filter((m) => m < 2 ** 32));
  }
  return bitmap;
}

const shapes: Record<string, () => RoaringBitmap32> = {
  "an empty bitmap": () => new RoaringBitmap32(),
  "one member": () => RoaringBitmap32.of(7),
  "the last offset": () => RoaringBitmap32.of(2 ** 32 - 1),
  "an array": () => RoaringBitmap32.from(range(65_536, 4096, 3)),
  "a bitset": () => RoaringBitmap32.from(range(65_536, 4097, 3)),
  "a run": () => ofRanges([100, 50_000]),
  "runs in three containers": () => ofRanges([60_000, 140_000]),
  "runs in four containers": () => ofRanges([60_000, 200_000]),
  "a full container": () => ofRanges([65_536, 131_072]),
  "a hundred full containers": () => ofRanges([65_536 * 1000, 65_536 * 1100]),
  "arrays, bitsets and runs": () =>
    RoaringBitmap32.from([...range(0, 10, 5), ...range(65_536, 5000, 2), ...range(200_000, 60_000), 2 ** 32 - 1]),
  "many containers": () => RoaringBitmap32.from(range(0, 3000, 65_536 + 17)),
};

/** Forms in which CRoaring can store a set: with run containers where these are smaller, or without any. */
const forms: Record<string, (bitmap: RoaringBitmap32) => unknown> = {
  "with runs": (bitmap) => bitmap.runOptimize(),
  "without runs": (bitmap) => bitmap.removeRunCompression(),
};

const portable = (bitmap: RoaringBitmap32): Buffer => Buffer.from(bitmap.serialize("portable"));

/** Larger bitmaps are compared by their streams only. */
const LISTED = 70_000;

/** Expects that the key holds the set: by what CRoaring reads from its stream, its cardinality, and the list of its members. */
async function expectHeld(key: string, bitmap: RoaringBitmap32): Promise<void> {
  expect(RoaringBitmap32.deserialize(bytesOf(await roar.run("EXPORT", key)), "portable").isEqual(bitmap)).toBe(true);
  expect(await roar.run("BITCOUNT", key)).toBe(bitmap.size);
  if (bitmap.size <= LISTED) expectEqual(await roar.members(key), bitmap.toArray());
}

async function expectExchanged(bitmap: RoaringBitmap32): Promise<void> {
  expect(await roar.run("IMPORT", "imported", portable(bitmap), "REPLACE")).toBe(bitmap.size);
  await expectHeld("imported", bitmap);
  await roar.run("OPTIMIZE", "imported");
  await expectHeld("imported", bitmap);
}

describe("exchange with CRoaring", () => {
  describe.each(Object.entries(forms))("%s", (_form, form) => {
    it.each(Object.entries(shapes))("writes and reads %s", async (_shape, make) => {
      const bitmap = make();
      form(bitmap);
      await expectExchanged(bitmap);
      bitmap.dispose();
    });

    it("writes and reads random sets", seeded(async (random) => {
      for (let i = 0; i < 10; i++) {
        const bitmap = scattered(random);
        form(bitmap);
        await expectExchanged(bitmap);
        bitmap.dispose();
      }
    }));

    it.each(Object.entries(shapes))("writes and reads %s in the payloads of DUMP and RESTORE", async (_shape, make) => {
      const bitmap = make();
      form(bitmap);
      await server.run("RESTORE", "restored", 0, dumpOf(R.type, Buffer.from(bitmap.serialize("croaring"))));
      await expectHeld("restored", bitmap);
      const payload = payloadOf(R.type, (await roar.dump("restored"))!);
      expect(RoaringBitmap32.deserialize(payload, "croaring").isEqual(bitmap)).toBe(true);
      bitmap.dispose();
    });
  });

  it("writes and reads a bitmap of every 32-bit offset", async () => {
    const bitmap = ofRanges([0, 2 ** 32]); // as bitsets, the stream would be longer than a string can be
    bitmap.runOptimize();
    await expectExchanged(bitmap);
  });

  it("reads bitmaps that commands have changed", async () => {
    await roar.run("SETRANGE", "k", 1000, 500_000);
    await roar.run("FLIPRANGE", "k", 70_000, 90_000);
    await roar.run("SETBITS", "k", ...range(2_000_000, 9000, 3));
    await roar.run("BITOP", "NOT", "k", "k", 3_000_000);
    const bitmap = ofRanges([1000, 70_000], [90_000, 500_000]);
    bitmap.addMany(range(2_000_000, 9000, 3));
    bitmap.flipRange(0, 3_000_001);
    await expectHeld("k", bitmap);
  });

  it("agrees on the members of every 32-bit stream in a 64-bit stream", seeded(async (random) => {
    const buckets = [0, 1, 5, 2 ** 31, 2 ** 32 - 1].map((high) => ({ high, bitmap: scattered(random) }));
    buckets.forEach(({ bitmap }, i) => (i % 2 ? bitmap.runOptimize() : bitmap.removeRunCompression()));
    const stream = new Bytes().u64(BigInt(buckets.length));
    for (const { high, bitmap } of buckets) stream.u32(high).raw(portable(bitmap));
    expect(await wide.run("IMPORT", "k", stream.take())).toBe(buckets.reduce((sum, { bitmap }) => sum + bitmap.size, 0));

    const exported = bytesOf(await wide.run("EXPORT", "k"));
    expect(exported.readBigUInt64LE(0)).toBe(BigInt(buckets.length));
    let at = 8;
    for (const { high, bitmap } of buckets) {
      expect(exported.readUInt32LE(at)).toBe(high);
      const read = RoaringBitmap32.deserialize(exported.subarray(at + 4), "portable");
      expect(read.isEqual(bitmap)).toBe(true);
      at += 4 + read.getSerializationSizeInBytes("portable");
      const base = BigInt(high) << 32n;
      const listed = (await wide.run("RANGE", "k", base, base + 2n ** 32n - 1n, "LIMIT", LISTED)) as Reply[];
      expectEqual(listed, replies(bitmap.toArray().slice(0, LISTED).map((low) => member(base + BigInt(low)))));
    }
    expect(at).toBe(exported.length);
  }));
});
