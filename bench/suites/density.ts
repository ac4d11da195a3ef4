// Times and memory over whole ranges of densities. Figures at a few densities, such as 1 %, 10 % and 50 %, hide what happens between them.
// bench/sweep.ts shows the rows as tables and charts.

import { range } from "../../test/support/family.ts";
import { random } from "../../test/support/random.ts";
import type { Command } from "../../test/support/resp.ts";
import { type Contender, NATIVE, OURS, SETS } from "../contender.ts";
import { membersOf, randomRuns, shuffled } from "../generators.ts";
import { type Dumps, loadSet, ofBitmaps, optimise } from "../load.ts";
import { ALL, measure } from "../measure.ts";
import type { Row } from "../row.ts";
import { adding } from "./longtail.ts";
import { keyOf, loadingInto } from "./many.ts";
import { text } from "./small.ts";

export const DENSITY = "density";

/** Percent of the ids that are members. Containers of random members change their kind at 6.25 %. */
const DENSITIES = [0.1, 1, 1.5, 2, 3, 4, 6, 6.5, 8, 12, 25, 50, 90];
const ALL_DENSITIES = [
  0.01, 0.1, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 6, 6.2, 6.3, 6.5, 8, 10, 12, 15, 18, 20, 25, 30, 50, 75, 90, 99,
];

interface Universe {
  readonly name: string;
  readonly ids: number;
}

const UNIVERSES: readonly Universe[] = [{ name: "5 million ids", ids: 5_000_000 }, { name: "16 Mi ids", ids: 2 ** 24 }];

interface Shape {
  readonly name: string;
  /** The length of the runs that the members are in. */
  readonly length: number;
  /** The density of the first key, if it is not that of the others. */
  readonly first?: number;
  /** The numbers of sources that are combined without `full`. Shapes with none are measured only with `full`. */
  readonly sources: readonly number[];
}

const SHAPES: readonly Shape[] = [
  { name: "random", length: 1, sources: [2, 7] },
  { name: "runs of 2", length: 2, sources: [] },
  { name: "runs of 8", length: 8, sources: [2] },
  { name: "runs of 64", length: 64, sources: [] },
  { name: "half and sparser", length: 1, first: 50, sources: [2] },
];
const ALL_SOURCES = [2, 3, 7, 30];

/** Native sets take part if keys have at most so many members: combining larger ones takes too long. Nor are more than these combined. */
const SET_MEMBERS = 60_000, SET_SOURCES = 7;
/** The number of ids that GETBIT and SETBIT are called with. */
const IDS = 500;
/** How long a row takes, unless a single call is long. */
const ROW_MILLISECONDS = 200;
/** SETBITs that are sent at once. */
const CHUNK = 100_000;

type Asked = Pick<Contender, "name" | "native" | "named" | "has" | "key">;

/** What is asked of the keys, and timed. */
interface Operation {
  readonly what: string;
  /** How many keys it needs. */
  readonly of: number;
  /** Without commands, the contender does not take part. */
  readonly commands: (contender: Asked, keys: readonly string[], ids: Ids) => readonly Command[] | undefined;
  /** Whether the time is per command. By default, it is that of all commands. */
  readonly each?: boolean;
}

/** Ids of which key 0 has all or none. */
interface Ids {
  readonly members: readonly number[];
  readonly others: readonly number[];
}

type Step = readonly [operation: string, to: string, ...from: string[]];

/**
 * The BITOPs for native bitmaps, which have only AND, OR, XOR and NOT, so that the result is in x. Undefined if they would be many: one for
 * each source and more.
 */
function nativeSteps(operation: string, keys: readonly string[], x: string, y: string): Step[] | undefined {
  const [first = "", second = "", ...more] = keys, others: readonly string[] = [second, ...more];
  const [some, unions]: [string, Step[]] = more.length ? [x, [["OR", x, ...others]]] : [second, []];
  switch (operation) {
    case "DIFF": return [...unions, ["AND", x, first, some], ["XOR", x, first, x]];
    case "ANDOR": return [...unions, ["AND", x, first, some]];
    case "ONE":
      if (more.length === 0) return [["XOR", x, ...keys]];
      return more.length > 1 ? undefined : [["XOR", x, ...keys], ["AND", y, ...keys], ["XOR", x, x, y]];
    case "at least 2":
      if (more.length > 1) return undefined;
      return [["AND", x, first, second], ["OR", y, first, second], ["AND", y, y, ...more], ["OR", x, x, y]];
    default: return [[operation, x, ...keys]];
  }
}

/** Native BITOPs and the BITCOUNT of their result. */
function native(operation: string, keys: readonly string[]): Command[] | undefined {
  const steps = nativeSteps(operation, keys, "result", "scratch");
  return steps && [...steps.map((step): Command => ["BITOP", ...step]), ["BITCOUNT", "result"]];
}

const STORING: Readonly<Record<string, string>> = { AND: "SINTERSTORE", OR: "SUNIONSTORE", DIFF: "SDIFFSTORE" };

/** A result that is stored and counted: BITOP of a module replies the count. */
function counted(contender: Asked, operation: string, keys: readonly string[]): Command[] | undefined {
  if (contender.name === SETS) {
    const storing = STORING[operation];
    return storing && keys.length <= SET_SOURCES ? [[storing, keyOf(contender, "result"), ...keys]] : undefined;
  }
  return contender.native ? native(operation, keys) : [[contender.named("BITOP"), operation, contender.key("result"), ...keys]];
}

/** A result of which only the count is of interest. */
function onlyCounted(contender: Asked, operation: string, keys: readonly string[]): Command[] | undefined {
  if (contender.name === SETS) return operation === "AND" ? [["SINTERCARD", keys.length, ...keys]] : undefined;
  return contender.has("BITOPCARD") ? [[contender.named("BITOPCARD"), operation, ...keys]] : counted(contender, operation, keys);
}

function atLeast(contender: Asked, least: number, keys: readonly string[]): Command[] | undefined {
  if (contender.has("QUERY")) return [[contender.named("QUERY"), `atleast(${least}, #1..#${keys.length})`, keys.length, ...keys, "CARD"]];
  return contender.name === NATIVE && least === 2 ? native("at least 2", keys) : undefined;
}

/** Names of keys: the sources by their indexes, and the union of the first two. */
const KEY = "key", UNION = "union";

function contains([subset = ""]: readonly string[], contender: Asked): Command[] | undefined {
  const union = keyOf(contender, UNION);
  if (contender.has("CONTAINS")) return [[contender.named("CONTAINS"), union, subset, "ALL"]];
  return contender.name === NATIVE ? [...native("AND", [union, subset])!, ["BITCOUNT", subset]] : undefined;
}

function jaccard(keys: readonly string[], contender: Asked): Command[] | undefined {
  if (contender.has("JACCARD")) return [[contender.named("JACCARD"), ...keys]];
  return contender.name === NATIVE ? [...native("AND", keys)!, ...native("OR", keys)!] : undefined;
}

const removing = (contender: Asked, key: string, id: number): string[] =>
  contender.name === SETS ? ["SREM", key, String(id)] : [contender.named("SETBIT"), key, String(id), "0"];

/** The operations, those that change keys at the end: a container that changes its kind when a bit is set does not change back. */
export function operations(sources: readonly number[]): Operation[] {
  const combining = (operation: string, of: number): Operation[] => {
    const name = of === 1 ? operation : `${operation} of ${of}`;
    return [
      { what: `${name}, counted`, of, commands: (contender, keys) => counted(contender, operation, keys) },
      { what: `${name}, BITOPCARD`, of, commands: (contender, keys) => onlyCounted(contender, operation, keys) },
    ];
  };
  const bits = (which: keyof Ids): Operation => ({
    what: `GETBIT of ${which}`, of: 1, each: true,
    commands: (contender, [key = ""], ids) =>
      ids[which].map((id) => [contender.name === SETS ? "SISMEMBER" : contender.named("GETBIT"), key, id]),
  });
  const changes = (which: keyof Ids): Operation => ({
    what: `SETBIT of ${which}, there and back`, of: 1, each: true,
    commands: (contender, [key = ""], ids) => ids[which].flatMap((id) => {
      const both = [adding(contender, key, id), removing(contender, key, id)];
      return which === "members" ? both.reverse() : both;
    }),
  });
  return [
    ...["AND", "OR", "XOR", "DIFF", "ONE", "ANDOR"].flatMap((operation) => sources.flatMap((of) => combining(operation, of))),
    ...combining("NOT", 1),
    ...sources.filter((of) => of > 2).map((of): Operation => {
      const least = Math.max(2, Math.ceil(of / 3));
      return { what: `at least ${least} of ${of}, QUERY`, of, commands: (contender, keys) => atLeast(contender, least, keys) };
    }),
    { what: "CONTAINS ALL", of: 2, commands: (contender, keys) => contains(keys, contender) },
    { what: "JACCARD", of: 2, commands: (contender, keys) => jaccard(keys, contender) },
    bits("members"), bits("others"), changes("members"), changes("others"),
  ];
}

/** What the rows of memory are called. */
const ONE_BY_ONE = "memory, set one by one", OPTIMIZED = "memory, optimized";

/** Bytes of a key whose members are set one at a time in random order, then after OPTIMIZE MEM. Ours takes the same at all CPU levels. */
async function* memory(contenders: readonly Contender[], bitmap: Buffer): AsyncGenerator<Pick<Row, "what" | "values">> {
  const data = ofBitmaps("one by one", [bitmap]), order = shuffled(1, membersOf(bitmap)), bytes: Record<string, number> = {};
  const compared = contenders.filter(({ name }) => !name.startsWith(`${OURS} `));
  for (const contender of compared) {
    const key = keyOf(contender, data.name, 0);
    const fill = async (from: number): Promise<void> => {
      const chunk = order.slice(from, from + CHUNK);
      await contender.flood(Buffer.from(chunk.map((id) => text(...adding(contender, key, id))).join(""), "latin1"), chunk.length);
    };
    await fill(0); // once before it counts: a server keeps what it allocates for a first command
    await contender.run([["DEL", key]]);
    bytes[contender.name] = await contender.memoryOf(async () => {
      for (let at = 0; at < order.length; at += CHUNK) await fill(at);
    });
  }
  yield { what: ONE_BY_ONE, values: { ...bytes } };
  for (const [{ name }, saved] of await optimise(compared, data)) bytes[name]! -= saved;
  yield { what: OPTIMIZED, values: bytes };
}

/** Key `index` of a shape. */
export function bitmapAt(ids: number, { length, first }: Omit<Shape, "name" | "sources">, density: number, index: number): Buffer {
  return randomRuns(index + 1, ids, length, (index === 0 ? first ?? density : density) / 100);
}

const holds = (bitmap: Buffer, id: number): boolean => (bitmap[id >> 3]! & (0x80 >> (id & 7))) !== 0;

function idsOf(bitmap: Buffer, ids: number): Ids {
  const { below } = random(ids);
  const draw = (member: boolean): number => {
    for (;;) {
      const id = below(ids);
      if (holds(bitmap, id) === member) return id;
    }
  };
  return { members: range(0, IDS).map(() => draw(true)), others: range(0, IDS).map(() => draw(false)) };
}

/** Loads the bitmaps as keys 0, 1 ..., and the union of the first two. */
export async function loadAll(contenders: readonly Contender[], bitmaps: readonly Buffer[]): Promise<void> {
  for (const server of new Set(contenders.map((contender) => contender.server))) await server.run("FLUSHALL", "SYNC");
  const data = ofBitmaps(KEY, bitmaps);
  for (const [i, bitmap] of bitmaps.entries()) {
    const dumps: Dumps = new Map();
    for (const contender of contenders) {
      if (contender.name === SETS) await contender.run(loadingInto(contender, keyOf(contender, KEY, i), membersOf(bitmap)));
      else await loadSet(contender, data, i, bitmap, dumps);
    }
  }
  if (bitmaps.length < 2) return;
  for (const contender of contenders.filter(({ name }) => name !== SETS)) {
    await contender.run([[contender.named("BITOP"), "OR", keyOf(contender, UNION), keyOf(contender, KEY, 0), keyOf(contender, KEY, 1)]]);
  }
}

/**
 * One row for each shape, operation and density. Only rows are measured whose data and name match the pattern, as in
 * `density: random, 5 million ids: AND of 2, counted, at 1.5 %`.
 */
export async function* measureDensity(all: readonly Contender[], pattern: string, full: boolean): AsyncGenerator<Row> {
  const modules = all.filter(({ prefix }) => prefix !== "R64."), cells = new RegExp(pattern);
  for (const { name: universe, ids } of UNIVERSES.slice(0, full ? undefined : 1)) {
    for (const shape of SHAPES) {
      const data = `${DENSITY}: ${shape.name}, ${universe}`, sources = full ? ALL_SOURCES : shape.sources;
      for (const density of full ? ALL_DENSITIES : DENSITIES) {
        const named = (what: string): string => `${what}, at ${density} %`;
        const wanted = (what: string): boolean => sources.length > 0 && cells.test(`${data}: ${named(what)}`);
        const asked = operations(sources).filter(({ what }) => wanted(what));
        const weighed = shape.first === undefined && [ONE_BY_ONE, OPTIMIZED].some(wanted);
        if (asked.length === 0 && !weighed) continue;
        const bitmaps = range(0, Math.max(1, ...asked.map(({ of }) => of))).map((i) => bitmapAt(ids, shape, density, i));
        const setsFit = Math.max(density, shape.first ?? 0) / 100 * ids <= SET_MEMBERS;
        const contenders = modules.filter(({ name }) => name !== SETS || setsFit);
        await loadAll(contenders, bitmaps);
        if (weighed) {
          for await (const row of memory(contenders, bitmaps[0]!)) yield { data, what: named(row.what), unit: "bytes", values: row.values };
        }
        const known = idsOf(bitmaps[0]!, ids);
        for (const { what, of, commands, each } of asked) {
          const calls = new Map<string, number>();
          const times = await measure(contenders, (contender) => {
            const batch = commands(contender, range(0, of).map((i) => keyOf(contender, KEY, i)), known);
            calls.set(contender.name, each && batch ? batch.length : 1);
            return batch ? { timed: ALL, commands: batch } : null;
          }, ROW_MILLISECONDS);
          const values = Object.fromEntries(Object.entries(times).map(([name, time]) => [name, time / calls.get(name)!]));
          yield { data, what: named(what), unit: "µs", values };
        }
      }
    }
  }
}
