// Types of arguments and answers. The compiler checks them, in `make check`; what it must refuse is marked. Nothing calls these functions.

import { expectTypeOf } from "vitest";
import {
  type Bit, type Bitmaps, type Integers, type NamePage, type Names, type Page, q, type RoarClient, type ShardedBitmap, type ShardedIntegers,
  type Sum,
} from "../../client/src/index.ts";
import type { modules } from "../../client/src/node-redis.ts";

declare const r: Bitmaps<number>, r64: Bitmaps<bigint>, client: RoarClient, sharded: ShardedBitmap<bigint>, module: typeof modules;
declare const ri: Integers<number>, ri64: Integers<bigint>, rn: Names<string>, rnBytes: Names<Uint8Array>;
declare const ages: ShardedIntegers<bigint>;

/** R takes and answers numbers. */
function numbers(): void {
  expectTypeOf(() => r.max("k")).returns.resolves.toEqualTypeOf<number | null>();
  expectTypeOf(() => r.getIntArray("k")).returns.resolves.toEqualTypeOf<number[]>();
  expectTypeOf(() => r.scan("k", 0)).returns.resolves.toEqualTypeOf<Page<number>>();
  expectTypeOf(() => r.setBit(Buffer.from("k"), 1, 1)).returns.resolves.toEqualTypeOf<Bit>();
  // @ts-expect-error offsets of r are no bigints
  expectTypeOf(() => r.getBit("k", 1n)).toBeFunction();
  // @ts-expect-error nor text
  expectTypeOf(() => r.getBit("k", "1")).toBeFunction();
  // @ts-expect-error 2 is no bit
  expectTypeOf(() => r.setBit("k", 1, 2)).toBeFunction();
}

/** R64 takes bigints, text and numbers, and answers bigints. */
function bigints(): void {
  expectTypeOf(() => r64.max("k")).returns.resolves.toEqualTypeOf<bigint | null>();
  expectTypeOf(() => r64.bitCount("k")).returns.resolves.toEqualTypeOf<bigint>();
  expectTypeOf(() => r64.setBits("k", [1n, "2", 3])).returns.resolves.toEqualTypeOf<bigint>();
  expectTypeOf(() => r64.scanPages("k")).returns.toMatchTypeOf<AsyncIterable<bigint[]>>();
  // @ts-expect-error a date is no offset
  expectTypeOf(() => r64.getBit("k", new Date())).toBeFunction();
}

/** Operations, modes and fields are those of the commands. */
function words(): void {
  expectTypeOf(() => r.bitOp("ANDOR", "d", ["a", "b"])).returns.resolves.toEqualTypeOf<number>();
  // @ts-expect-error there is no NAND
  expectTypeOf(() => r.bitOp("NAND", "d", ["a", "b"])).toBeFunction();
  // @ts-expect-error sources are a list
  expectTypeOf(() => r.bitOp("OR", "d", 5)).toBeFunction();
  // @ts-expect-error and not text, whose characters would be keys
  expectTypeOf(() => r.bitOp("OR", "d", "tag:chess")).toBeFunction();
  // @ts-expect-error nor are digits a list of offsets
  expectTypeOf(() => r64.setBits("k", "18446744073709551615")).toBeFunction();
  // @ts-expect-error nor bytes
  expectTypeOf(() => r.setBits("k", Buffer.from("123"))).toBeFunction();
  // @ts-expect-error text is no list of operations
  expectTypeOf(() => r.bitField("k", "GET")).toBeFunction();
  // @ts-expect-error there is no such mode
  expectTypeOf(() => r.contains("a", "b", { mode: "SOME" })).toBeFunction();
  expectTypeOf(() => r.bitField("k", [["INCRBY", "u8", "#1", 5, "SAT"], ["GET", "i5", 0]])).returns.resolves.toEqualTypeOf<(bigint | null)[]>();
  // @ts-expect-error a SET needs a value
  expectTypeOf(() => r.bitField("k", [["SET", "u8", 0]])).toBeFunction();
  // @ts-expect-error bitFieldRo only reads
  expectTypeOf(() => r.bitFieldRo("k", [["SET", "u8", 0, 1]])).toBeFunction();
}

/** Pipelines answer what each call answers. */
function pipelines(): void {
  const send = async (): Promise<void> => {
    const [bit, max, bytes] = await client.pipeline([client.r.calls.getBit("k", 1), client.r64.calls.max("k"), client.r.calls.export("k")]);
    expectTypeOf(bit).toEqualTypeOf<PromiseSettledResult<Bit>>();
    expectTypeOf(max).toEqualTypeOf<PromiseSettledResult<bigint | null>>();
    expectTypeOf(bytes).toEqualTypeOf<PromiseSettledResult<Uint8Array | null>>();
  };
  expectTypeOf(send).toBeFunction();
}

/** Integers are numbers in ri and bigints in ri64, and sums are bigints in both. */
function integers(): void {
  expectTypeOf(() => ri.get("k", 1)).returns.resolves.toEqualTypeOf<number | null>();
  expectTypeOf(() => ri64.get("k", 1n)).returns.resolves.toEqualTypeOf<bigint | null>();
  expectTypeOf(() => ri.set("k", new Map([[1, -2]]), { condition: "NX" })).returns.resolves.toEqualTypeOf<number>();
  expectTypeOf(() => ri64.set("k", [[1n, "-2"], [3, 4n]])).returns.resolves.toEqualTypeOf<bigint>();
  expectTypeOf(() => ri.sum("k")).returns.resolves.toEqualTypeOf<Sum<number>>();
  expectTypeOf<Sum<number>["sum"]>().toEqualTypeOf<bigint>();
  expectTypeOf(() => ri.count("k", "(5", "+inf")).returns.resolves.toEqualTypeOf<number>();
  expectTypeOf(() => ri64.rangeWithValues("k", 0, -1)).returns.resolves.toEqualTypeOf<[id: bigint, value: bigint][]>();
  expectTypeOf(() => ri.scanIterator("k")).returns.toMatchTypeOf<AsyncIterable<[number, number]>>();
  expectTypeOf(() => client.multi().ri.incrBy("k", 1, 1).ri64.card("k").exec()).returns.resolves.toEqualTypeOf<[number, bigint]>();
  expectTypeOf(module.ri.get.transformReply).returns.toEqualTypeOf<number | null>();
  // @ts-expect-error values of ri are no bigints
  expectTypeOf(() => ri.set("k", [[1, 2n]])).toBeFunction();
  // @ts-expect-error a bound is an integer or an end
  expectTypeOf(() => ri.count("k", "all", 5)).toBeFunction();
  // @ts-expect-error a rank is no bound
  expectTypeOf(() => ri.range("k", "(1", 5)).toBeFunction();
  // @ts-expect-error without BYVALUE there is no limit
  expectTypeOf(() => ri.range("k", 1, 5, { limit: [0, 1] })).toBeFunction();
}

/** Names are text in rn and bytes in rnBytes, and ids are numbers in both. */
function named(): void {
  expectTypeOf(() => rn.add("k", ["ada", Buffer.from("bob")])).returns.resolves.toEqualTypeOf<number[]>();
  expectTypeOf(() => rn.ids("k", new Set(["ada"]))).returns.resolves.toEqualTypeOf<(number | null)[]>();
  expectTypeOf(() => rn.names("k", [1])).returns.resolves.toEqualTypeOf<(string | null)[]>();
  expectTypeOf(() => rnBytes.names("k", [1])).returns.resolves.toEqualTypeOf<(Uint8Array | null)[]>();
  expectTypeOf(() => rnBytes.scan("k", 0)).returns.resolves.toEqualTypeOf<NamePage<Uint8Array>>();
  expectTypeOf(() => rn.dictionary("k").members("#1", ["a"])).returns.toMatchTypeOf<AsyncIterable<string[]>>();
  expectTypeOf(() => client.multi().rn.add("k", ["ada"]).rnBytes.names("k", [0]).exec()).returns.resolves.toEqualTypeOf<[number[], (Uint8Array | null)[]]>();
  expectTypeOf(() => rnBytes.sharded("k", { shards: 2 }).names([1])).returns.resolves.toEqualTypeOf<(Uint8Array | null)[]>();
  // @ts-expect-error names are spread by hash
  expectTypeOf(() => rn.sharded("k", { width: 65_536 })).toBeFunction();
  // @ts-expect-error text is no list of names
  expectTypeOf(() => rn.add("k", "ada")).toBeFunction();
  // @ts-expect-error nor are bytes
  expectTypeOf(() => rn.ids("k", Buffer.from("ada"))).toBeFunction();
  // @ts-expect-error a number is no name
  expectTypeOf(() => rn.add("k", [7])).toBeFunction();
}

/** Sharded bitmaps combine with those of their family. */
function shards(): void {
  expectTypeOf(() => sharded.max()).returns.resolves.toEqualTypeOf<bigint | null>();
  expectTypeOf(() => ages.quantiles([0.5])).returns.resolves.toEqualTypeOf<(bigint | null)[]>();
  expectTypeOf(() => r64.query(q`${sharded} & ${ages} >= ${18}`).members()).returns.resolves.toEqualTypeOf<bigint[]>();
  expectTypeOf(() => ages.sum({ within: q`${sharded} - ${ages} < ${18n}` })).returns.resolves.toEqualTypeOf<Sum<bigint>>();
  // @ts-expect-error the query is about keys
  expectTypeOf(() => ages.sum({ within: q`${"vip"}` })).toBeFunction();
  // @ts-expect-error the others are of ri
  expectTypeOf(() => ages.merge([ri.sharded("a", { shards: 2 })])).toBeFunction();
  // @ts-expect-error the other is of r
  expectTypeOf(() => sharded.bitOp("OR", [r.sharded("a", { shards: 2 })])).toBeFunction();
}

/** Modules have the types of the methods. */
function definitions(): void {
  expectTypeOf(module.r64.max.transformReply).returns.toEqualTypeOf<bigint | null>();
  expectTypeOf(module.r.setBit.transformArguments).parameters.toEqualTypeOf<[key: string | Uint8Array, offset: number, value: Bit]>();
}

void [numbers, bigints, words, pipelines, integers, named, shards, definitions];
