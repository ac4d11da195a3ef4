// Few members among many ids: readers of one article, likes of one post, tags of one user. Memory and time of keys of 1 to 10,000 members,
// and of keys whose sizes follow Zipf's law, as those of a site do. Native sets take part as a contender of their own.

import { range } from "../../test/support/family.ts";
import { random } from "../../test/support/random.ts";
import type { Command } from "../../test/support/resp.ts";
import { type Contender, SETS } from "../contender.ts";
import { randomMembers, shuffled, snowflakes } from "../generators.ts";
import { loading } from "../load.ts";
import { ALL, measure } from "../measure.ts";
import type { Row } from "../row.ts";
import { oneOfEachServer, text } from "./small.ts";

type Ids = readonly (number | bigint)[];

/** The ids that members are drawn from. */
export interface Universe {
  readonly name: string;
  /** How many ids there are, or undefined if members have 64 bits, which native bitmaps and R.* do not take. */
  readonly ids?: number;
  /** `count` members without duplicates, in random order. */
  readonly draw: (seed: number, count: number) => Ids;
}

/** Random members below `ids`. If more than half of the ids are drawn, the others are left out. */
export function drawn(seed: number, ids: number, count: number): number[] {
  const { below } = random(seed), chosen = new Set<number>(), few = Math.min(count, ids - count);
  while (chosen.size < few) chosen.add(below(ids));
  return few === count ? [...chosen] : shuffled(seed, range(0, ids).filter((id) => !chosen.has(id)));
}

const below = (ids: number, name: string): Universe => ({ name, ids, draw: (seed, count) => drawn(seed, ids, count) });

export const universes: readonly Universe[] = [
  below(10_000, "10 thousand ids"),
  below(100_000, "100 thousand ids"),
  below(1_000_000, "1 million ids"),
  below(10_000_000, "10 million ids"),
  below(100_000_000, "100 million ids"),
  below(2 ** 32, "2^32 ids"),
  { name: "snowflakes of a day", draw: (seed, count) => shuffled(seed, snowflakes(seed, count)) },
  { name: "random 64-bit ids", draw: randomMembers },
];

/** Numbers of members of a key. */
const COUNTS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 3000, 10_000];
/** The most keys of one size, and the most bytes that native bitmaps may take in all. */
const KEYS = 10_000, NATIVE_BYTES = 2 ** 28;

/** The contenders that hold such members. Native sets hold them all. */
const holding = (contenders: readonly Contender[], { ids }: Universe): readonly Contender[] =>
  contenders.filter(({ name, prefix }) => name === SETS || (ids === undefined ? prefix === "R64." : true));

const isBitmap = (contender: Contender): boolean => contender.native && contender.name !== SETS;

/** The words of the command that adds a member. */
export const adding = (contender: Pick<Contender, "name" | "named">, key: string, id: number | bigint): string[] =>
  contender.name === SETS ? ["SADD", key, String(id)] : [contender.named("SETBIT"), key, String(id), "1"];

const nameOf = (index: number): string => `article:${index}`;

/**
 * Bytes per key by which used_memory rises while keys of `count` members are loaded, a member at a time in random order. Includes names
 * and the server's hash table: every contender starts with an empty server. `members` bounds the members of all keys.
 */
async function memoryPerKey(contenders: readonly Contender[], universe: Universe, count: number, members: number): Promise<Row["values"]> {
  const values: Record<string, number> = {};
  for (const round of oneOfEachServer(holding(contenders, universe))) {
    for (const contender of round) {
      const most = isBitmap(contender) ? Math.floor(NATIVE_BYTES * 8 / universe.ids!) : KEYS;
      const keys = Math.max(1, Math.min(KEYS, most, Math.ceil(members / count)));
      const one = (key: number): string => universe.draw(key + 1, count).map((id) => text(...adding(contender, nameOf(key), id))).join("");
      const encoded = Buffer.from(range(0, keys).map(one).join(""), "latin1");
      await contender.run([["FLUSHALL", "SYNC"]]);
      values[contender.name] = await contender.memoryOf(async () => void (await contender.flood(encoded, keys * count))) / keys;
    }
  }
  return values;
}

/** What a row says of such keys. */
const sized = (count: number, universe: Universe): string => `${count.toLocaleString("en")} of ${universe.name}`;

/** The universe and the number of members of a row of measureTail, if it is one. */
export function pointOf({ data, what, unit }: Row): { readonly universe: string; readonly members: number } | undefined {
  const [, members, universe] = (data === MEMORY && unit === "bytes" && /^([\d,]+) of (.*)$/.exec(what)) || [];
  return members === undefined ? undefined : { universe: universe!, members: Number(members.replaceAll(",", "")) };
}

const MEMORY = "long tail: memory of a key";

export async function* measureTail(contenders: readonly Contender[], members: number): AsyncGenerator<Row> {
  for (const universe of universes) {
    for (const count of COUNTS) {
      if (count > (universe.ids ?? Infinity)) continue;
      const values = await memoryPerKey(contenders, universe, count, members);
      yield { data: MEMORY, what: sized(count, universe), unit: "bytes", values };
    }
  }
}

/** Keys of each size that are asked, two at a time, and the keys of MGETBIT. */
const ASKED = 20, MANY = 1000;

/** What is asked of keys, and timed. */
export interface Use {
  readonly what: string;
  /** The commands for keys a and b and an id, or null if the contender has none. */
  readonly commands: (contender: Contender, a: string, b: string, id: number | bigint) => readonly Command[] | null;
}

export const uses: readonly Use[] = [
  {
    what: "SETBIT, there and back",
    commands: (contender, key, _, id) =>
      contender.name === SETS
        ? [["SADD", key, id], ["SREM", key, id]]
        : [[contender.named("SETBIT"), key, id, 1], [contender.named("SETBIT"), key, id, 0]],
  },
  {
    what: "GETBIT",
    commands: (contender, key, _, id) => [contender.name === SETS ? ["SISMEMBER", key, id] : [contender.named("GETBIT"), key, id]],
  },
  {
    what: "how many in both",
    commands: (contender, a, b) => {
      if (contender.name === SETS) return [["SINTERCARD", 2, a, b]];
      if (contender.has("BITOPCARD")) return [[contender.named("BITOPCARD"), "AND", a, b]];
      const result = contender.key("result"), combined: Command = [contender.named("BITOP"), "AND", result, a, b];
      return contender.native ? [combined, ["BITCOUNT", result]] : [combined];
    },
  },
  ...["CONTAINS", "JACCARD"].map((name): Use =>
    ({ what: name, commands: (contender, a, b) => (contender.has(name) ? [[contender.named(name), a, b]] : null) })),
];

/** One bit of each key, in one command or in a pipeline. */
function manyBits(contender: Contender, keys: readonly string[], id: number | bigint): Command[] {
  if (contender.has("MGETBIT")) return [[contender.named("MGETBIT"), id, ...keys]];
  return keys.map((key) => (contender.name === SETS ? ["SISMEMBER", key, id] : [contender.named("GETBIT"), key, id]));
}

export async function* measureTailTimes(contenders: readonly Contender[]): AsyncGenerator<Row> {
  for (const universe of universes.filter(({ ids }) => ids === undefined || ids === 1_000_000 || ids === 100_000_000)) {
    const compared = holding(contenders, universe);
    for (const count of [10, 100, 1000]) {
      const keysOf = (contender: Contender, keys: number): string[] =>
        range(0, keys).map((key) => `${contender.name === SETS ? "set:" : ""}${contender.key(nameOf(key))}`);
      for (const server of new Set(compared.map((contender) => contender.server))) await server.run("FLUSHALL", "SYNC");
      for (const contender of compared) {
        for (const [i, key] of keysOf(contender, isBitmap(contender) ? ASKED : MANY).entries()) {
          const ids = universe.draw(i + 1, count);
          if (!contender.native) await contender.run(loading(contender, key, ids));
          else await contender.run(ids.map((id) => (contender.name === SETS ? ["SADD", key, id] : ["SETBIT", key, id, 1])));
        }
      }
      const asked = universe.draw(0, ASKED);
      const row = (what: string, values: Row["values"]): Row =>
        ({ data: "long tail: times", what: `${what}, ${sized(count, universe)}`, unit: "µs", values });
      for (const { what, commands } of uses) {
        const times = await measure(compared, (contender) => {
          const keys = keysOf(contender, ASKED);
          const all = keys.map((key, i) => commands(contender, key, keys[(i + 1) % ASKED]!, asked[i]!));
          return all.includes(null) ? null : { timed: ALL, commands: all.flatMap((some) => some!) };
        });
        yield row(what, Object.fromEntries(Object.entries(times).map(([name, time]) => [name, time / ASKED])));
      }
      const many = compared.filter((contender) => !isBitmap(contender));
      yield row(`MGETBIT of ${MANY.toLocaleString("en")} keys`, await measure(many, (contender) =>
        ({ timed: ALL, commands: manyBits(contender, keysOf(contender, MANY), asked[0]!) })));
    }
  }
}

/** A site: keys over ids of users. The largest has LARGEST members, the r-th largest LARGEST / r^EXPONENT: 96 of 100 have at most 20. */
const LARGEST = 100_000, EXPONENT = 0.8, USERS = 10_000_000, SITE = 1_000_000;

/** How many members the key of this rank has, counted from 1. */
export const sizeOf = (rank: number): number => Math.ceil(LARGEST / rank ** EXPONENT);

/** Ranks of a stratified sample of `keys` out of the site's: the middle one of each of as many equal parts. */
export const ranks = (keys: number): number[] => range(0, keys).map((i) => Math.floor((i + 0.5) * SITE / keys) + 1);

/** Keys of a native sample, which take a megabyte each. */
const NATIVE_KEYS = 100;
const CHUNK = 100_000;

/**
 * used_memory of all keys. Their members are set one at a time, in an order that is random over all keys. Native bitmaps would not fit
 * into the machine: a smaller sample is loaded and its memory multiplied.
 */
export async function* measureSite(contenders: readonly Contender[], data: string, keys: number): AsyncGenerator<Row> {
  const values: Record<string, number> = {};
  for (const round of oneOfEachServer(contenders)) {
    for (const contender of round) {
      const loaded = isBitmap(contender) ? NATIVE_KEYS : keys, members = ranks(loaded).map((rank) => drawn(rank, USERS, sizeOf(rank)));
      const starts = new Uint32Array(loaded + 1);
      for (const [key, ids] of members.entries()) starts[key + 1] = starts[key]! + ids.length;
      const total = starts[loaded]!, order = new Uint32Array(total), { below: under } = random(keys);
      for (let i = 0; i < total; i++) { // an item is put where a random earlier one was, which moves to the end
        const j = under(i + 1);
        order[i] = order[j]!;
        order[j] = i;
      }
      const keyAt = new Uint32Array(total);
      for (let key = 0; key < loaded; key++) keyAt.fill(key, starts[key], starts[key + 1]);
      await contender.run([["FLUSHALL", "SYNC"]]);
      const work = async (): Promise<void> => {
        for (let from = 0; from < total; from += CHUNK) {
          const chunk = order.subarray(from, from + CHUNK), words: string[] = [];
          for (const item of chunk) {
            const key = keyAt[item]!;
            words.push(text(...adding(contender, nameOf(key), members[key]![item - starts[key]!]!)));
          }
          await contender.flood(Buffer.from(words.join(""), "latin1"), chunk.length);
        }
      };
      values[contender.name] = await contender.memoryOf(work) * (keys / loaded);
    }
  }
  yield { data, what: "memory of all keys", unit: "bytes", values };
}
