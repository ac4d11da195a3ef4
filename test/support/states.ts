// Bitmaps of ClickHouse, Doris and StarRocks, made by hand as the sources of these systems say, which client/src/exchange.ts names.

import { range } from "./family.ts";
import { containersOf, croaringArray, croaringContainers, portable32, portable64 } from "./format.ts";

export const FAR = 2n ** 32n;
export const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");

export const many = [...range(0, 3000), 70_000, ...range(200_000, 5000)], stream = portable32(containersOf(many));
const wide = portable64([{ high: 0, containers: containersOf(many) }, { high: 7, containers: containersOf([9]) }]);
export const parts = wide.subarray(8);
const far = [...many.map(BigInt), 7n * FAR + 9n];
const native = Buffer.concat([Buffer.of(13, 2), bytes("00000000"), croaringContainers(containersOf(many)), bytes("07000000"), croaringArray([9])]);
const leb128 = (value: number): number[] => (value < 128 ? [value] : [value % 128 + 128, ...leb128(value >> 7)]);
export const state = (payload: Buffer): Buffer => Buffer.concat([Buffer.of(1), Buffer.from(leb128(payload.length)), payload]);

/** With `--wide`, ids of 64 bits. */
export const given: [what: string, system: "clickhouse" | "doris" | "starrocks", content: Buffer, members: readonly (number | bigint)[], ...args: string[]][] = [
  ["no ids", "clickhouse", bytes("00 00"), []],
  ["three of UInt8", "clickhouse", bytes("00 03 01 02 ff"), [1, 2, 255]], ["two of UInt16", "clickhouse", bytes("00 02 0001 0700"), [7, 256]],
  ["two of UInt32", "clickhouse", bytes("00 02 ffffffff 05000000"), [5, 4_294_967_295]],
  ["one of UInt64", "clickhouse", bytes("00 01 ffffffff ffffffff"), [2n ** 64n - 1n], "--wide"],
  ["many", "clickhouse", state(stream), many], ["many, into R64", "clickhouse", state(stream), many, "--wide"],
  ["many of UInt64", "clickhouse", state(wide), far, "--wide"],
  ["no ids", "doris", bytes("00"), []], ["one", "doris", bytes("01 05000000"), [5]], ["one of 64 bits", "starrocks", bytes("03 0000000001000000"), [FAR], "--wide"],
  ["a few", "doris", bytes("05 02 0700000000000000 0600000000000000"), [6, 7]],
  ["a set", "starrocks", bytes("0a 02000000 0700000000000000 0600000000000000"), [6, 7]],
  ["many", "doris", Buffer.concat([Buffer.of(2), stream]), many], ["many of CRoaring's", "doris", Buffer.concat([Buffer.of(12), croaringContainers(containersOf(many))]), many],
  ["a list of CRoaring's", "starrocks", Buffer.concat([Buffer.of(12), croaringArray([7, 6])]), [6, 7]],
  ["parts", "doris", Buffer.concat([Buffer.of(4, 2), parts]), far, "--wide"], ["parts of CRoaring's", "starrocks", native, far, "--wide"],
];
