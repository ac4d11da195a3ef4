// Names for ids: RN.* beside two hashes, name -> id and id -> name. And readers of articles whose ids are UUIDs: a dictionary and bitmaps
// beside sets of strings, HyperLogLog, which only estimates, and bitmaps of hashed names, in which two readers may be one.

import { createHash } from "node:crypto";
import { range } from "../../test/support/family.ts";
import { random } from "../../test/support/random.ts";
import type { Command } from "../../test/support/resp.ts";
import { type Contender, NATIVE, OURS } from "../contender.ts";
import { snowflakes } from "../generators.ts";
import { measure } from "../measure.ts";
import { figures, type Row } from "../row.ts";

/** What the names of these data sets begin with. */
export const NAMES = "names: ";
const HASHES = "hashes", ESTIMATES = "HyperLogLog";
const KEY = "names", IDS = "hash:ids", BY_ID = "hash:names";
/** Commands in a pipeline that loads. */
const CHUNK = 10_000;
/** Calls in a batch: so many that what they read does not stay in the processor's caches, as when users ask for any name. */
const CALLS = 200_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz", SHORTEST = 5, LONGEST = 20;
/** Hexadecimal digits of a hashed name that become an id of 64 bits. */
const HASHED = 16;

const uuid = (n: number): string =>
  createHash("md5").update(String(n)).digest("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** So many different names. */
type Make = (count: number) => string[];

/** Different names of 5 to 20 letters. */
function letters(count: number): string[] {
  const { below } = random(26), found = new Set<string>();
  while (found.size < count) found.add(range(0, SHORTEST + below(LONGEST - SHORTEST + 1)).map(() => LETTERS[below(LETTERS.length)]).join(""));
  return [...found];
}

const kinds: Record<string, Make> = {
  [`${NAMES}UUIDs`]: (count) => range(0, count).map(uuid),
  [`${NAMES}snowflakes as text`]: (count) => snowflakes(22, count).map(String),
  [`${NAMES}5 to 20 letters`]: letters,
};
const READERS = `${NAMES}readers of articles`;
export const nameSuites: readonly string[] = [...Object.keys(kinds), READERS];

/** Those that take part: hashes, and ours. */
export const nameContenders = (contenders: readonly Contender[], data: string): Contender[] => {
  const native = contenders.find(({ name }) => name === NATIVE)!, ours = contenders.find(({ name }) => name === OURS)!;
  if (data !== READERS) return [native.renamed(HASHES), ours];
  return [native.renamed("sets"), native.renamed(ESTIMATES), ours.renamed("hashed"), ours];
};

/** Sends commands in pipelines of CHUNK, and makes them from `from` on. */
async function send(contender: Contender, count: number, make: (from: number, to: number) => Command[]): Promise<void> {
  for (let from = 0; from < count; from += CHUNK) await contender.run(make(from, Math.min(from + CHUNK, count)));
}

export function measureNames(contenders: readonly Contender[], data: string, count: number): AsyncGenerator<Row> {
  return data === READERS ? measureReaders(contenders, count) : measureKind(contenders, data, kinds[data]!(count));
}

async function* measureKind(contenders: readonly Contender[], data: string, names: readonly string[]): AsyncGenerator<Row> {
  const bytes = new Map<Contender, number>(), times = new Map<Contender, number>();
  for (const contender of contenders) {
    const both = contender.name === HASHES;
    await contender.resetStatistics();
    bytes.set(contender, await contender.memoryOf(() => send(contender, names.length, (from, to) =>
      range(from, to - from).flatMap((id) =>
        (both ? [["HSET", IDS, names[id]!, id], ["HSET", BY_ID, id, names[id]!]] : [["RN.ADD", KEY, names[id]!]])))));
    times.set(contender, (await contender.statistics()).get(both ? "hset" : "rn.add")!.microseconds);
  }
  yield { data, what: "memory per name", unit: "bytes", values: figures(bytes, (value) => value / names.length) };
  yield { data, what: "ADD of a new name", unit: "µs", values: figures(times, (value) => value / names.length) };
  const { below } = random(5), ids = range(0, CALLS).map(() => below(names.length));
  const asked: [what: string, hash: (id: number) => Command, ours: (id: number) => Command][] = [
    ["ADD of a known name", (id) => ["HGET", IDS, names[id]!], (id) => ["RN.ADD", KEY, names[id]!]],
    ["ID", (id) => ["HGET", IDS, names[id]!], (id) => ["RN.ID", KEY, names[id]!]],
    ["NAME", (id) => ["HGET", BY_ID, id], (id) => ["RN.NAME", KEY, id]],
  ];
  for (const [what, hash, ours] of asked) {
    const values = await measure(contenders, ({ name }) => {
      const commands = ids.map(name === HASHES ? hash : ours);
      return { timed: String(commands[0]![0]), commands };
    });
    yield { data, what, unit: "µs", values };
  }
}

/** How many of so many readers have read each article: the r-th most read has 1 / r as many as all. */
const audiences = (articles: number, readers: number): number[] => range(1, articles).map((r) => Math.max(Math.floor(readers / r), 1));

/** Memory of one article that all have read, and of a hundredth as many articles as readers, by Zipf's law. */
async function* measureReaders(contenders: readonly Contender[], readers: number): AsyncGenerator<Row> {
  for (const articles of [1, Math.max(Math.floor(readers / 100), 10)]) {
    const audience = audiences(articles, readers), memberships = audience.reduce((sum, size) => sum + size, 0);
    const bytes = new Map<Contender, number>();
    for (const contender of contenders) {
      const { below } = random(articles), named = contender.name === OURS;
      bytes.set(contender, await contender.memoryOf(async () => {
        if (named) await send(contender, readers, (from, to) => [["RN.ADD", KEY, ...range(from, to - from).map(uuid)]]);
        for (const [article, size] of audience.entries()) {
          const key = `${contender.name}:read:${article}`, first = below(readers), step = size === readers ? 1 : 7919;
          const reader = (i: number): number => (first + i * step) % readers;
          await send(contender, size, (from, to) => {
            const who = range(from, to - from).map(reader);
            if (named) return [["R.SETBITS", key, ...who]];
            if (contender.name === "sets") return [["SADD", key, ...who.map(uuid)]];
            if (contender.name === ESTIMATES) return [["PFADD", key, ...who.map(uuid)]];
            return [["R64.SETBITS", key, ...who.map((n) => BigInt(`0x${uuid(n).replaceAll("-", "").slice(0, HASHED)}`))]];
          });
        }
      }));
    }
    const what = articles === 1 ? "one article" : `${articles.toLocaleString("en")} articles`;
    yield { data: READERS, what: `memory per membership, ${what}`, unit: "bytes", values: figures(bytes, (value) => value / memberships) };
  }
}
