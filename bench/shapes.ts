// Bitmaps of every shape, each as large as it can be within some bytes of memory.

import { type Family, R64, range, sorted } from "../test/support/family.ts";
import { emptyStream } from "../test/support/format.ts";
import { bytesOf, type Command, type Connection, ReplyError } from "../test/support/resp.ts";
import { noise, randomMembers, runs, scattered } from "./generators.ts";
import { loading } from "./load.ts";

const CONTAINER = 65_536;

/** The bytes of memory that the bitmaps of a cell take: 0, or at most these. */
export const SIZES = [0, 300, 50_000, 1_000_000] as const;

interface Shape {
  readonly name: string;
  /** Commands that make the key, with members below the span only. */
  readonly build: (family: Family, key: string, span: number, seed: number) => Command[];
  /** The least and the greatest span. */
  readonly spans: readonly [least: number, most: number];
}

const named = (family: Family) => ({ named: (command: string): string => `${family.name}.${command}` });
const list = (family: Family, key: string, members: readonly (number | bigint)[]): Command[] => loading(named(family), key, members);
const native = (family: Family, key: string, bitmap: Buffer): Command[] => [
  ["SET", "native", bitmap], [`${family.name}.FROMBITMAP`, key, "native"], ["DEL", "native"], [`${family.name}.OPTIMIZE`, key],
];

const UNIVERSE = 2 ** 32;

/** Those that have members. */
const shapes: readonly Shape[] = [
  {
    /** All offsets but one of each container, or in a small bitmap one range. */
    name: "range", spans: [CONTAINER, UNIVERSE - 1],
    build: (family, key, span, seed) => [
      [`${family.name}.SETRANGE`, key, 0, span],
      ...(span < 2 * CONTAINER ? [] : chunks(range(CONTAINER + 7 * seed, Math.floor(span / CONTAINER) - 1, CONTAINER - 1))
        .map((holes): Command => [`${family.name}.CLEARBITS`, key, ...holes])),
    ],
  },
  { name: "full span", spans: [UNIVERSE, UNIVERSE], build: (family, key) => [[`${family.name}.SETFULL`, key]] },
  {
    name: "lone", spans: [CONTAINER, 4 * UNIVERSE],
    build: (family, key, span, seed) => {
      const count = Math.ceil((family === R64 ? span : Math.min(span, UNIVERSE)) / CONTAINER);
      return list(family, key, family === R64
        ? sorted(randomMembers(seed, count))
        : range(0, count).map((i) => i * CONTAINER + (i * 7919 + seed) % CONTAINER));
    },
  },
  { name: "arrays", spans: [1, UNIVERSE], build: (family, key, span, seed) => native(family, key, noise(seed, span, 12)) },
  {
    name: "sparse", spans: [CONTAINER / 100, UNIVERSE],
    build: (family, key, span, seed) => list(family, key, scattered(seed, span, Math.ceil(span * 100 / CONTAINER))),
  },
  { name: "bitsets", spans: [CONTAINER, UNIVERSE], build: (family, key, span, seed) => native(family, key, noise(seed, span, 128)) },
  { name: "runs", spans: [1000, UNIVERSE], build: (family, key, span, seed) => native(family, key, runs(seed, span, 50, 160)) },
];

const MOST_AT_ONCE = 5000;
const chunks = <T>(all: readonly T[]): T[][] =>
  range(0, Math.ceil(all.length / MOST_AT_ONCE)).map((i) => all.slice(i * MOST_AT_ONCE, (i + 1) * MOST_AT_ONCE));

async function run(connection: Connection, commands: readonly Command[]): Promise<number[]> {
  const replies = await connection.pipeline(commands), error = replies.find((reply) => reply instanceof ReplyError);
  if (error) throw error;
  return replies as number[];
}

/** The greatest span, or nearly, with which a key of the shape takes at most so many bytes; undefined if even the least takes more. */
async function spanWithin(connection: Connection, family: Family, shape: Shape, bytes: number): Promise<number | undefined> {
  const [least, most] = shape.spans;
  const usage = async (span: number): Promise<number> =>
    (await run(connection, [["DEL", "native"], ["DEL", "tried"], ...shape.build(family, "tried", span, 1), ["MEMORY", "USAGE", "tried"]])).at(-1)!;
  let span = least, over = most + 1, used = await usage(span);
  if (used > bytes) return undefined;
  for (let tries = 0; tries < 10 && span < over - 1 && used < 0.85 * bytes; tries++) {
    // The first steps are short: a small bitmap has a part that does not grow.
    const next = Math.min(Math.floor(span * Math.min(0.97 * bytes / used, tries < 3 ? 16 : 100)), over === most + 1 ? most : Math.floor((span + over) / 2));
    const needs = await usage(next);
    if (needs > bytes) over = next;
    else [span, used] = [next, needs];
  }
  await run(connection, [["DEL", "tried"]]);
  return span;
}

/** What a command has for its keys. */
export interface Cast {
  /** Casts of a family are numbered. */
  readonly index: number;
  readonly family: Family;
  readonly shape: string;
  /** Bytes of memory, of SIZES. */
  readonly size: number;
  /** Members are below this. */
  readonly span: bigint;
  /** Small keys of the shape that together take the size. */
  readonly many: readonly string[];
  /** Whether the keys `A` and `B` are no larger than those of a smaller size, since the shape cannot have it. */
  readonly sameAsSmaller: boolean;
  /** MEMORY USAGE of each key. */
  readonly bytes: ReadonlyMap<string, number>;
  /** What EXPORT replies for B. */
  readonly payload: Buffer;
}

const MANY_MOST = 8000;
const A = "a".charCodeAt(0), LETTERS = 26;
/** A short name for a key: two lower-case letters or three. */
const nameOf = (i: number): string => {
  const letters = [i % LETTERS, Math.floor(i / LETTERS) % LETTERS, Math.floor(i / LETTERS ** 2)];
  return letters.slice(0, i < LETTERS ** 2 ? 2 : 3).map((letter) => String.fromCharCode(A + letter)).join("");
};

/**
 * Fills an empty server, one cast after the other: the bitmaps A and B of the same shape with different members, as large as the size allows, a native
 * bitmap S of so many bytes, and many small keys.
 */
export async function* casts(connection: Connection, family: Family): AsyncGenerator<Cast> {
  let index = 0;
  for (const shape of ["missing", "empty"]) {
    await run(connection, [["FLUSHALL", "SYNC"]]);
    const many = range(0, MANY_MOST).map(nameOf), empty = shape === "empty" ? ["A", "B", ...many] : [];
    await run(connection, empty.map((key) => [`${family.name}.SETBIT`, key, 0, 0]));
    if (empty.length > 0) await run(connection, [["SET", "S", ""]]);
    yield { index: index++, family, shape, size: 0, span: 2n ** 32n, many, sameAsSmaller: false, bytes: await usages(connection, empty), payload: emptyStream(family.bits) };
  }
  for (const shape of shapes) {
    let before = 0;
    const small = (await spanWithin(connection, family, shape, SIZES[1])) ?? shape.spans[0];
    for (const size of SIZES.slice(1)) {
      await run(connection, [["FLUSHALL", "SYNC"]]);
      const span = await spanWithin(connection, family, shape, size);
      if (span === undefined) continue;
      const make = (key: string, of: number, seed: number): Command[] => shape.build(family, key, of, seed);
      await run(connection, [...make("A", span, 1), ...make("B", span, 2)]);
      if (span > 8 * size) await run(connection, [["SET", "S", noise(3, size * 8, 128)]]);
      else await run(connection, [[`${family.name}.TOBITMAP`, "S", "A"]]);
      await run(connection, make("small", small, 10));
      const used = (await usages(connection, ["small"])).get("small")!;
      await run(connection, [["DEL", "small"]]);
      const many = range(0, Math.min(MANY_MOST, Math.max(1, Math.floor(size / used)))).map(nameOf);
      for (const [i, key] of many.entries()) await run(connection, make(key, small, 10 + i));
      const bytes = await usages(connection, ["A", "B", ...many]), own = bytes.get("A")!;
      yield {
        index: index++, family, shape: shape.name, size, span: shape.name === "full span" || shape.name === "lone" ? family.last + 1n : BigInt(span), many,
        sameAsSmaller: own < 1.25 * before, bytes, payload: await exported(connection, family),
      };
      before = own;
    }
  }
}

/** Bitmaps of which the payload would be too long are replaced by an empty one. */
async function exported(connection: Connection, family: Family): Promise<Buffer> {
  const [payload] = await connection.pipeline([[`${family.name}.EXPORT`, "B"]]);
  return payload instanceof ReplyError ? emptyStream(family.bits) : bytesOf(payload!);
}

async function usages(connection: Connection, keys: readonly string[]): Promise<Map<string, number>> {
  const replies = await run(connection, keys.map((key) => ["MEMORY", "USAGE", key]));
  return new Map(keys.map((key, i) => [key, replies[i]!]));
}
