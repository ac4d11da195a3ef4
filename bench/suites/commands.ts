// Every command of the module, on two sets of about 40,000 members.

import { range } from "../../test/support/family.ts";
import { bytesOf, type Command } from "../../test/support/resp.ts";
import { dataset } from "../../test/support/data.ts";
import { type Contender, OURS_64 } from "../contender.ts";
import { load, ofMembers } from "../load.ts";
import { measure } from "../measure.ts";
import type { Row } from "../row.ts";
import { bitmapOf } from "../generators.ts";

/** Keys and values for the arguments of commands. Keys are the contender's. */
interface Material {
  readonly a: string;
  readonly b: string;
  /** A key to write to, and a key with the members of `a` that every batch leaves unchanged. */
  readonly result: string;
  readonly copy: string;
  /** A key with the native bitmap of the members of `a`, and a key to write strings to. */
  readonly string: string;
  readonly stringResult: string;
  readonly members: readonly number[];
  readonly payload: Buffer;
  readonly characters: string;
}

type Arguments = readonly (string | number | Buffer)[];

/** Arguments of the calls in a batch. Batches are repeated, so the calls of a batch must together leave `copy` unchanged. */
export const uses: Readonly<Record<string, (m: Material) => readonly Arguments[]>> = {
  SETBIT: ({ copy }) => [1, 0].map((value) => [copy, 123_456, value]),
  GETBIT: ({ a }) => [[a, 123_456]],
  BITCOUNT: ({ a }) => [[a]],
  MBITCOUNT: ({ a, b }) => [Array.from({ length: 1000 }, (_, i) => (i % 2 ? a : b))],
  BITPOS: ({ a }) => [[a, 1]],
  BITOP: ({ result, a, b }) => [["AND", result, a, b]],
  SETINTARRAY: ({ result, members }) => [[result, ...members.slice(0, 1000)]],
  APPENDINTARRAY: ({ copy, members }) => [[copy, ...members.slice(0, 1000)]],
  GETINTARRAY: ({ a }) => [[a]],
  GETBITS: ({ a, members }) => [[a, ...members.slice(0, 1000)]],
  MGETBIT: ({ a, b }) => [[123_456, ...Array.from({ length: 1000 }, (_, i) => (i % 2 ? a : b))]],
  SETBITS: ({ copy, members }) => [[copy, ...members.slice(0, 1000)]],
  CLEARBITS: ({ copy }) => [[copy, ...range(10_000_000, 1000)]],
  CLEAR: ({ result }) => [[result]],
  DELETEINTARRAY: ({ copy }) => [[copy, ...range(10_000_000, 1000)]],
  RANGEINTARRAY: ({ a }) => [[a, 1000, 1999]],
  SETRANGE: ({ result }) => [[result, 1000, 1_000_000]],
  CLEARRANGE: ({ result }) => [[result, 1000, 1_000_000]],
  FLIPRANGE: ({ copy }) => [[copy, 0, 1_000_000], [copy, 0, 1_000_000]],
  SETFULL: ({ result }) => [[result]],
  MIN: ({ a }) => [[a]],
  MAX: ({ a }) => [[a]],
  RANK: ({ a }) => [[a, 123_456]],
  SELECT: ({ a }) => [[a, 5000]],
  RANGE: ({ a, members }) => [[a, members[1000]!, members[1999]!]],
  RANGES: ({ a }) => [[a, 1000, 2_000_000]],
  COUNTS: ({ a }) => [[a, 100, ...range(0, 200, 10_000)]],
  SCAN: ({ a, members }) => [[a, members[1000]!, "COUNT", 1000]],
  RANDMEMBER: ({ a }) => [[a, 100]],
  RANDPOP: ({ result }) => [[result, 100]],
  POPMIN: ({ result }) => [[result, 100]],
  POPMAX: ({ result }) => [[result, 100]],
  BITOPCARD: ({ a, b }) => [["AND", a, b]],
  QUERY: ({ a, b }) => [["#1 & #2", 2, a, b]],
  FACET: ({ a, b, copy }) => [["#1", 1, a, 100, ...Array.from({ length: 100 }, (_, i) => (i % 2 ? copy : b)), "TOP", 10]],
  CROSSCARD: ({ a, b, copy }) =>
    [[10, ...Array.from({ length: 10 }, (_, i) => (i % 2 ? copy : b)), 10, ...Array.from({ length: 10 }, () => a)]],
  QUERYSTORE: ({ result, a, b }) => [[result, "#1 & #2", 2, a, b]],
  DIFF: ({ result, a, b }) => [[result, a, b]],
  CONTAINS: ({ a, copy }) => [[a, copy, "ALL"]],
  JACCARD: ({ a, b }) => [[a, b]],
  SETBITARRAY: ({ result, characters }) => [[result, characters]],
  GETBITARRAY: ({ a }) => [[a]],
  EXPORT: ({ a }) => [[a]],
  IMPORT: ({ result, payload }) => [[result, payload]],
  FROMBITMAP: ({ result, string }) => [[result, string]],
  TOBITMAP: ({ stringResult, a }) => [[stringResult, a]],
  BITFIELD: ({ copy }) => [[copy, "INCRBY", "u32", 100_000, 1, "INCRBY", "u32", 100_000, -1]],
  BITFIELD_RO: ({ a }) => [[a, "GET", "u32", 100_000]],
  STAT: ({ a }) => [[a]],
  OPTIMIZE: ({ copy }) => [[copy]],
};

/** Untimed commands before each call, for commands that need their key in a certain state. */
const before: Readonly<Record<string, (contender: Contender, m: Material) => Command>> = {
  CLEAR: (contender, { result, a }) => [contender.named("BITOP"), "OR", result, a, a],
  CLEARRANGE: (contender, { result, a }) => [contender.named("BITOP"), "OR", result, a, a],
  RANDPOP: (contender, { result, a }) => [contender.named("BITOP"), "OR", result, a, a],
  POPMIN: (contender, { result, a }) => [contender.named("BITOP"), "OR", result, a, a],
  POPMAX: (contender, { result, a }) => [contender.named("BITOP"), "OR", result, a, a],
  SETRANGE: (_, { result }) => ["DEL", result],
  SETFULL: (_, { result }) => ["DEL", result],
  IMPORT: (_, { result }) => ["DEL", result],
};

/** A module that stores all 64-bit offsets container by container would run out of memory. */
const isOutOfReach = (contender: Contender, name: string): boolean =>
  name === "SETFULL" && contender.prefix === "R64." && contender.name !== OURS_64;

/** Sets of 44,679 and 39,668 members. */
const SETS = [20, 113];

export async function* measureCommands(contenders: readonly Contender[]): AsyncGenerator<Row> {
  const all = dataset("census1881"), sets = SETS.map((i) => all[i]!);
  const data = ofMembers("commands", [...sets, sets[0]!]);
  await load(contenders, data);
  const string = bitmapOf(sets[0]!);
  const characters = [...string.subarray(0, 1000)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const payloads = new Map<string, Buffer>();
  for (const contender of contenders) {
    await contender.run([["SET", contender.key("string"), string]]);
    if (!contender.has("EXPORT")) continue;
    const [payload] = await contender.run([[contender.named("EXPORT"), contender.key("commands", 0)]]);
    payloads.set(contender.prefix, bytesOf(payload!));
  }
  for (const [name, use] of Object.entries(uses)) {
    const values = await measure(contenders, (contender) => {
      if (!contender.has(name) || isOutOfReach(contender, name)) return null;
      const material: Material = {
        a: contender.key("commands", 0), b: contender.key("commands", 1), copy: contender.key("commands", 2),
        result: contender.key("result"), string: contender.key("string"), stringResult: contender.key("stringresult"),
        members: sets[0]!, payload: payloads.get(contender.prefix) ?? Buffer.alloc(0), characters,
      };
      const prepare = before[name];
      return {
        timed: contender.named(name),
        commands: use(material).flatMap((args): Command[] =>
          [...(prepare ? [prepare(contender, material)] : []), [contender.named(name), ...args]]),
      };
    });
    yield { data: "every command", what: name, unit: "µs", values };
  }
}
