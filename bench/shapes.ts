// Bitmaps of every shape, as large as they can be within some bytes of memory.

import { type Family, fromReply, R, R64, range, sorted } from "../test/support/family.ts";
import { emptyStream } from "../test/support/format.ts";
import { bytesOf, type Command, type Connection, type Reply, ReplyError } from "../test/support/resp.ts";
import { noise, randomMembers, runs, scattered } from "./generators.ts";
import { loading } from "./load.ts";

const CONTAINER = 65_536, UNIVERSE = 2 ** 32;

/** How many bytes of memory the keys of a cast take at most. */
export const SIZES = [300, 50_000, 1_000_000] as const;

interface Shape {
  readonly name: string;
  /** Whether R64 has it as well: the others are the same for both families. */
  readonly both: boolean;
  /** The least and the greatest span. */
  readonly spans: readonly [least: number, most: number];
  /** Commands that make the key, with members below the span. */
  readonly build: (family: Family, key: string, span: number, seed: number) => Command[];
}

const members = ({ name }: Family, key: string, ascending: readonly (number | bigint)[]): Command[] =>
  loading({ named: (command) => `${name}.${command}` }, key, ascending);
const native = ({ name }: Family, key: string, bitmap: Buffer): Command[] =>
  [["SET", "native", bitmap], [`${name}.FROMBITMAP`, key, "native"], ["DEL", "native"], [`${name}.OPTIMIZE`, key]];
const count = (span: number, width: number): number => Math.ceil(span / width);

const shapes: readonly Shape[] = [
  {
    /** One range; in a large bitmap all offsets but one in each container. */
    name: "range", both: true, spans: [CONTAINER, UNIVERSE - 1],
    build: (family, key, span, seed) => [
      [`${family.name}.SETRANGE`, key, 0, span],
      ...range(1, Math.max(0, count(span, CONTAINER) - 2)).map((i): Command => [`${family.name}.CLEARBITS`, key, i * (CONTAINER - 1) + seed]),
    ],
  },
  { name: "full span", both: true, spans: [UNIVERSE, UNIVERSE], build: (family, key) => [[`${family.name}.SETFULL`, key]] },
  {
    name: "lone", both: true, spans: [CONTAINER, 4 * UNIVERSE],
    build: (family, key, span, seed) => members(family, key, family === R64
      ? sorted(randomMembers(seed, count(span, CONTAINER)))
      : range(0, count(Math.min(span, UNIVERSE), CONTAINER)).map((i) => i * CONTAINER + (i * 7919 + seed) % CONTAINER)),
  },
  { name: "arrays", both: false, spans: [1, UNIVERSE], build: (family, key, span, seed) => native(family, key, noise(seed, span, 12)) },
  {
    name: "sparse", both: true, spans: [1, UNIVERSE],
    build: (family, key, span, seed) => members(family, key, scattered(seed, span, count(span, CONTAINER / 100))),
  },
  { name: "bitsets", both: false, spans: [CONTAINER, UNIVERSE], build: (family, key, span, seed) => native(family, key, noise(seed, span, 128)) },
  { name: "runs", both: false, spans: [1000, UNIVERSE], build: (family, key, span, seed) => native(family, key, runs(seed, span, 50, 160)) },
];

/** Commands that undo what a call has changed. */
export const restoring: readonly Command[] = [["DEL", "A", "W"], ["COPY", "original", "A"]];

async function run(connection: Connection, commands: readonly Command[]): Promise<Reply[]> {
  const replies = await connection.pipeline(commands), error = replies.find((reply) => reply instanceof ReplyError);
  if (error) throw error;
  return replies;
}

/** MEMORY USAGE of those that exist. */
async function usages(connection: Connection, keys: readonly string[]): Promise<Map<string, number>> {
  const replies = await run(connection, keys.map((key) => ["MEMORY", "USAGE", key]));
  return new Map(keys.flatMap((key, i) => (replies[i] === null ? [] : [[key, replies[i] as number]])));
}

/** The greatest span, or nearly, of a key within so many bytes, and the bytes that it takes. The least span may take more. */
async function largest(connection: Connection, family: Family, shape: Shape, bytes: number): Promise<[span: number, used: number]> {
  const { spans: [least, most], build } = shape;
  const usage = async (span: number): Promise<number> => {
    await run(connection, build(family, "tried", span, 1));
    const used = (await usages(connection, ["tried"])).get("tried")!;
    await run(connection, [["DEL", "tried"]]);
    return used;
  };
  let span = least, over = most + 1, used = await usage(span);
  for (let tries = 0; tries < 10 && span < over - 1 && used < 0.85 * bytes; tries++) {
    // The first steps are short: a small bitmap has a part that does not grow.
    const wanted = Math.floor(span * Math.min(0.97 * bytes / used, tries < 3 ? 16 : 100));
    const next = Math.min(wanted, over > most ? most : Math.floor((span + over) / 2)), needs = await usage(next);
    if (needs > bytes) over = next;
    else [span, used] = [next, needs];
  }
  return [span, used];
}

/** The data for calls. */
export interface Cast {
  /** Casts of a family are numbered. */
  readonly index: number;
  readonly family: Family;
  readonly shape: string;
  /** Of SIZES, or 0. */
  readonly size: number;
  /** Members are below this. */
  readonly span: bigint;
  /** Small keys of the shape that take up to `size` bytes together. */
  readonly many: readonly string[];
  /** Whether the shape cannot have the size, so that A and B are those of a smaller one. */
  readonly sameAsSmaller: boolean;
  /** MEMORY USAGE of each key that exists. */
  readonly bytes: ReadonlyMap<string, number>;
  /** What EXPORT replies for B, unless that is too long. */
  readonly payload: Buffer;
}

const MANY_MOST = 8000;
const LETTERS = 26, letter = (i: number): string => String.fromCharCode("a".charCodeAt(0) + i % LETTERS);
/** A short name for a small key. */
const nameOf = (i: number): string => letter(i) + letter(Math.floor(i / LETTERS)) + (i < LETTERS ** 2 ? "" : letter(Math.floor(i / LETTERS ** 2)));

type Make = (key: string, seed: number) => Command[];

/** What the casts of a family differ in, and how their keys are made. */
type Plan = Pick<Cast, "shape" | "size" | "many"> & { readonly make: Make; readonly makeSmall: Make };

async function* plans(connection: Connection, family: Family): AsyncGenerator<Plan> {
  const most = range(0, MANY_MOST).map(nameOf);
  const missing: Make = () => [], empty: Make = (key) => [[`${family.name}.SETBIT`, key, 0, 0]];
  yield { shape: "missing", size: 0, many: most, make: missing, makeSmall: missing };
  yield { shape: "empty", size: 0, many: most, make: empty, makeSmall: empty };
  for (const shape of shapes.filter(({ both }) => both || family === R)) {
    const [small, usedBySmall] = await largest(connection, family, shape, SIZES[0]);
    for (const size of SIZES.filter((bytes) => bytes >= usedBySmall)) {
      const [span] = await largest(connection, family, shape, size);
      const [make, makeSmall] = [span, small].map((of): Make => (key, seed) => shape.build(family, key, of, seed)) as [Make, Make];
      yield { shape: shape.name, size, many: most.slice(0, Math.floor(size / usedBySmall)), make, makeSmall };
    }
  }
}

/**
 * Fills an empty server with one cast after the other: A, a copy of `original`, and B are bitmaps of the shape with different members, as
 * large as the size allows; S is a native bitmap of about as many bytes; W is missing.
 */
export async function* casts(connection: Connection, family: Family): AsyncGenerator<Cast> {
  let index = 0, before: Pick<Cast, "shape"> & { own: number } | undefined;
  for await (const { make, makeSmall, ...plan } of plans(connection, family)) {
    const { shape, size, many } = plan;
    await run(connection, [["FLUSHALL", "SYNC"], ...make("original", 1), ...make("B", 2), ...restoring, ["SET", "S", noise(3, size * 8, 128)]]);
    for (const [i, key] of many.entries()) await run(connection, makeSmall(key, i));
    const bytes = await usages(connection, ["A", "B", ...many]), own = bytes.get("A") ?? 0;
    const [max, payload] = await connection.pipeline([[`${family.name}.MAX`, "A"], [`${family.name}.EXPORT`, "B"]]);
    yield {
      ...plan, index: index++, family, bytes, span: max === -1 ? family.last + 1n : BigInt(fromReply(max!)) + 1n,
      sameAsSmaller: before?.shape === shape && own < 1.25 * before.own,
      payload: typeof payload === "string" ? bytesOf(payload) : emptyStream(family.bits),
    };
    before = { shape, own };
  }
}
