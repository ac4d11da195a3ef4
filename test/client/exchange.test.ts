// Bitmaps of ClickHouse, Doris and StarRocks in the client.

import { describe, expect, it } from "vitest";
import { InvalidArgumentError, InvalidPayloadError, LocalBitmap, type Member, R, R64, type System } from "../../client/src/index.ts";
import { range } from "../support/family.ts";
import { containersOf, portable32 } from "../support/format.ts";
import { seeded } from "../support/random.ts";
import { bytes, FAR, given, many, parts, state } from "../support/states.ts";

const SYSTEMS: System[] = ["clickhouse", "doris", "starrocks"];
const read = (system: System, content: Uint8Array, wide: boolean): Member[] =>
  (wide ? [...LocalBitmap.readState(R64, system, content)] : [...LocalBitmap.readState(R, system, content)]);

describe("LocalBitmap of another system", () => {
  it.each(given)("reads %s of %s, and no part of it", (_, system, content, members, ...args) => {
    const wide = args.length > 0, own = members.map((one) => (wide ? BigInt(one) : Number(one)));
    expect(read(system, content, wide)).toEqual(own);
    expect(read(system, Uint8Array.from(content), true)).toEqual(members.map(BigInt));
    // A list of ClickHouse's that is cut may be one of narrower ids.
    const step = Math.max(1, Math.floor(content.length / 40)), from = system === "clickhouse" && content[0] === 0 ? content.length - 1 : 0;
    for (let at = from; at < content.length; at += step) {
      expect(() => read(system, content.subarray(0, at), wide), String(at)).toThrow(InvalidPayloadError);
    }
    expect(() => read(system, Buffer.concat([content, Buffer.of(7)]), wide)).toThrow(InvalidPayloadError);
  });

  it("refuses what is none, ids that are too large, and what is no system", () => {
    const cases: [System, Buffer, RegExp][] = [
      ["clickhouse", bytes("07 00"), /its first byte is 7/], ["doris", bytes("09"), /its first byte is 9/], ["clickhouse", bytes("00 02 010203"), /it has 3 bytes for 2 ids/],
      ["clickhouse", bytes("01 09 0000"), /2 bytes in place of 9/], ["clickhouse", bytes("01 ffffffffffffffff"), /a number is too long/],
      ["starrocks", bytes("0d 01 00000000 07"), /no roaring bitmap/], ["doris", bytes("0c 01 ffffffff"), /cut short/],
      ["doris", Buffer.concat([Buffer.of(4, 2), parts]), /ids above 4294967295: read it into R64/], ["clickhouse", bytes("00 01 0000000001000000"), /read it into R64/],
    ];
    for (const [system, content, why] of cases) expect(() => read(system, content, false)).toThrow(why);
    expect(() => LocalBitmap.readState(R, "oracle" as System, bytes("00"))).toThrow(InvalidArgumentError);
    expect(() => LocalBitmap.of(R, [1]).toState("" as System)).toThrow(InvalidArgumentError);
    expect(() => LocalBitmap.readState(R, "doris", "00" as unknown as Uint8Array)).toThrow(InvalidArgumentError);
  });

  it("writes what these systems read", () => {
    const narrow = (system: System, ...members: number[]): string => Buffer.from(LocalBitmap.of(R, members).toState(system)).toString("hex");
    const wide = (system: System, ...members: bigint[]): string => Buffer.from(LocalBitmap.of(R64, members).toState(system)).toString("hex");
    expect([narrow("clickhouse"), narrow("clickhouse", 5, 256), wide("clickhouse", 5n)]).toEqual(["0000", "00020500000000010000", "00010500000000000000"]);
    expect([narrow("doris"), narrow("doris", 5), wide("doris", 5n), wide("starrocks", FAR)]).toEqual(["00", "0105000000", "0105000000", "030000000001000000"]);
    const all = LocalBitmap.of(R, many);
    expect(Buffer.from(all.toState("clickhouse")).equals(state(Buffer.from(all.toPayload())))).toBe(true);
    const two = Buffer.concat([Buffer.of(2), portable32(containersOf([7, 8]))]);
    expect(Buffer.from(LocalBitmap.of(R64, [7n, 8n]).toState("doris")).equals(two)).toBe(true);
  });

  it("reads what it has written", seeded((random) => {
    for (const count of [0, 1, 32, 33, 3000]) {
      const ids = range(0, count).map(() => random.below(random.pick([count * 2, 2 ** 32])));
      const wide = ids.map((id) => BigInt(id) * (random.chance(0.3) ? 2n ** 31n + 1n : 1n));
      const narrow = LocalBitmap.of(R, ids), far = LocalBitmap.of(R64, wide);
      for (const system of SYSTEMS) {
        expect([...LocalBitmap.readState(R, system, narrow.toState(system))]).toEqual([...narrow]);
        expect([...LocalBitmap.readState(R64, system, far.toState(system))]).toEqual([...far]);
      }
    }
    return Promise.resolve();
  }));
});
