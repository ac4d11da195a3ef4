// One bitmap against many: the tags that the users of a segment have, and a table of two groups of cohorts. FACET and CROSSCARD answer in
// one command. Contenders without them ask for each pair in one pipeline: BITOPCARD, SINTERCARD for native sets, or a BITOP and, if native,
// a BITCOUNT. What a client then does with the numbers, such as sorting them, takes no time here.

import { range } from "../../test/support/family.ts";
import type { Command } from "../../test/support/resp.ts";
import { type Contender, SETS } from "../contender.ts";
import { bitmapOf, shuffled } from "../generators.ts";
import { loading } from "../load.ts";
import { ALL, type Times, measure } from "../measure.ts";
import { figures, type Row } from "../row.ts";
import { median } from "../statistics.ts";
import { drawn } from "./longtail.ts";

const DATA = "one against many";
const USERS = 1_000_000, SEGMENT = 100_000;
/** Zipf's law: the r-th largest tag has LARGEST / r members. Users have tags independently of each other and of the segment. */
const TAGS = 5000, LARGEST = 200_000;
const TOP = 10;

/** Cohorts: all users, by the order in which they signed up. On a day, this share of all users is active. */
const COHORTS = 30, DAYS = 30, ACTIVE = 0.1;
/** Whether users who signed up one after the other have ids that follow one another. */
const ORDERS = { "ids in order": true, "ids at random": false };

/** How many users have the tag of this rank, counted from 1. */
const tagSize = (rank: number): number => Math.ceil(LARGEST / rank);

/** The users of each cohort. */
function cohorts(inOrder: boolean): number[][] {
  const ids = inOrder ? range(0, USERS) : shuffled(COHORTS, range(0, USERS));
  return range(0, COHORTS).map((i) => ids.slice(Math.floor(i * USERS / COHORTS), Math.floor((i + 1) * USERS / COHORTS)));
}

type Asked = Pick<Contender, "name" | "native" | "named" | "has" | "key">;

/** A key of the contender. Native sets and native bitmaps share a server. */
export const keyOf = (contender: Asked, name: string, index?: number): string =>
  `${contender.name === SETS ? "set:" : ""}${contender.key(name, index)}`;

export function loadingInto(contender: Asked, key: string, ids: readonly number[]): readonly Command[] {
  if (contender.name === SETS) {
    return range(0, Math.ceil(ids.length / 10_000)).map((i) => ["SADD", key, ...ids.slice(i * 10_000, (i + 1) * 10_000)]);
  }
  return contender.native ? [["SET", key, bitmapOf([...ids].sort((a, b) => a - b))]] : loading(contender, key, ids);
}

/** Commands whose replies say how many members each of the pairs shares. */
function sharing(contender: Asked, pairs: readonly (readonly [a: string, b: string])[]): Command[] {
  if (contender.name === SETS) return pairs.map(([a, b]) => ["SINTERCARD", 2, a, b]);
  if (contender.has("BITOPCARD")) return pairs.map(([a, b]) => [contender.named("BITOPCARD"), "AND", a, b]);
  const result = keyOf(contender, "result");
  return pairs.flatMap(([a, b]): Command[] => {
    const combined: Command = [contender.named("BITOP"), "AND", result, a, b];
    return contender.native ? [combined, ["BITCOUNT", result]] : [combined];
  });
}

/** Commands whose replies say how alike each of the pairs is, or what that follows from if the sizes of the first keys are known. */
function likening(contender: Asked, pairs: readonly (readonly [a: string, b: string])[]): Command[] {
  if (contender.has("JACCARD")) return pairs.map(([a, b]) => [contender.named("JACCARD"), a, b]);
  const size = contender.name === SETS ? "SCARD" : contender.named("BITCOUNT");
  return [...sharing(contender, pairs), ...pairs.map(([, b]): Command => [size, b])];
}

/** A question about all pairs as one command; how the others ask for each pair. */
interface Question {
  readonly what: string;
  readonly name: "FACET" | "CROSSCARD";
  readonly once: (contender: Asked) => Command;
  readonly each: (contender: Asked) => Command[];
}

const THREADS = "redis-roar.threads";

/** Wall-clock turns of a client; the first is a warm-up. */
const CLIENT_TURNS = 6;

/** Milliseconds from sending a batch to having parsed the last reply, the median. */
async function clientTimes(asked: ReadonlyMap<Contender, readonly Command[]>): Promise<Row["values"]> {
  const waited = new Map<Contender, number[]>([...asked.keys()].map((contender) => [contender, []]));
  for (let turn = 0; turn < CLIENT_TURNS; turn++) {
    for (const [contender, commands] of asked) {
      const start = performance.now();
      await contender.run(commands);
      if (turn > 0) waited.get(contender)!.push(performance.now() - start);
    }
  }
  return figures(waited, median);
}

/** Sets the number of threads of each contender's server; returns what they were. */
async function setThreads(contenders: readonly Contender[], numbers: readonly string[]): Promise<string[]> {
  const before: string[] = [];
  for (const contender of contenders) before.push(((await contender.run([["CONFIG", "GET", THREADS]]))[0] as string[])[1]!);
  for (const [i, contender] of contenders.entries()) await contender.run([["CONFIG", "SET", THREADS, numbers[i]!]]);
  return before;
}

/**
 * Rows for a question: the server's time and the client's, in one command where there is one; ours pair by pair; and the server's time
 * where the command may not leave the main thread, as short commands never do.
 */
async function* ask(contenders: readonly Contender[], data: string, { what, name, once, each }: Question): AsyncGenerator<Row> {
  const able = contenders.filter((contender) => contender.has(name));
  const byPairs = new Map(able.map((contender) => [contender.renamed(`${contender.name} by pairs`), contender.name]));
  const asked = new Map([...contenders, ...byPairs.keys()].map((contender) =>
    [contender, able.includes(contender) ? [once(contender)] : each(contender)] as const));
  const timed = (those: readonly Contender[]): Promise<Times> =>
    measure(those, (contender) => ({ timed: ALL, commands: asked.get(contender)! }));
  const server = await timed([...asked.keys()]), client = await clientTimes(asked);
  const rows = (label: string, all: Row["values"]): Row[] => {
    const row = (suffix: string, values: Row["values"]): Row => ({ data, what: `${what}${suffix}${label}`, unit: "ms", values });
    return [
      row("", Object.fromEntries(contenders.map((contender) => [contender.name, all[contender.name]!]))),
      row(", by pairs", Object.fromEntries([...byPairs].map(([contender, original]) => [original, all[contender.name]!]))),
    ];
  };
  const milliseconds = (times: Times): Times => Object.fromEntries(Object.entries(times).map(([one, time]) => [one, time / 1000]));
  yield* rows("", milliseconds(server));
  yield* rows(", client", client);
  const before = await setThreads(able, able.map(() => "0"));
  yield { data, what: `${what}, without threads`, unit: "ms", values: milliseconds(await timed(able)) };
  await setThreads(able, before);
}

export async function* measureMany(contenders: readonly Contender[]): AsyncGenerator<Row> {
  const segment = drawn(TAGS + 1, USERS, SEGMENT);
  for (const contender of contenders) await contender.run(loadingInto(contender, keyOf(contender, "segment"), segment));
  for (let tag = 0; tag < TAGS; tag++) {
    const ids = drawn(tag + 1, USERS, tagSize(tag + 1));
    for (const contender of contenders) await contender.run(loadingInto(contender, keyOf(contender, "tag", tag), ids));
  }
  const tags = (contender: Asked): string[] => range(0, TAGS).map((tag) => keyOf(contender, "tag", tag));
  const facet = (what: string, each: typeof sharing, ...words: (string | number)[]): Question => ({
    what, name: "FACET",
    once: (contender) => [contender.named("FACET"), "#1", 1, keyOf(contender, "segment"), TAGS, ...tags(contender), ...words],
    each: (contender) => each(contender, tags(contender).map((tag) => [keyOf(contender, "segment"), tag] as const)),
  });
  const data = `${DATA}: ${TAGS.toLocaleString("en")} tags`;
  yield* ask(contenders, data, facet("FACET", sharing));
  yield* ask(contenders, data, facet(`TOP ${TOP}`, sharing, "TOP", TOP));
  yield* ask(contenders, data, facet(`BY JACCARD TOP ${TOP}`, likening, "BY", "JACCARD", "TOP", TOP));

  for (const server of new Set(contenders.map((contender) => contender.server))) await server.run("FLUSHALL", "SYNC");
  const side = (contender: Asked, name: string, count: number): string[] => range(0, count).map((i) => keyOf(contender, name, i));
  for (const [order, inOrder] of Object.entries(ORDERS)) {
    const all = [
      ...cohorts(inOrder).map((ids, i) => ["cohort", i, ids] as const),
      ...range(0, DAYS).map((day) => ["day", day, drawn(day + 1, USERS, ACTIVE * USERS)] as const),
    ];
    for (const contender of contenders) {
      for (const [name, i, ids] of all) {
        await contender.run([["DEL", keyOf(contender, name, i)], ...loadingInto(contender, keyOf(contender, name, i), ids)]);
      }
    }
    yield* ask(contenders, `${DATA}: cohorts, ${order}`, {
      what: `CROSSCARD ${COHORTS} x ${DAYS}`, name: "CROSSCARD",
      once: (contender) =>
        [contender.named("CROSSCARD"), COHORTS, ...side(contender, "cohort", COHORTS), DAYS, ...side(contender, "day", DAYS)],
      each: (contender) => sharing(contender, side(contender, "cohort", COHORTS).flatMap((row) =>
        side(contender, "day", DAYS).map((column) => [row, column] as const))),
    });
  }
}
