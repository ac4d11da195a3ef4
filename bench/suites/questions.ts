// Questions over several bitmaps whose answer is a number or a page of members. Contenders with QUERY ask in one command. The others build
// the answer in temporary keys with BITOP and delete them, in one pipeline, and the time of all these commands counts.

import { range } from "../../test/support/family.ts";
import type { Command } from "../../test/support/resp.ts";
import type { Contender } from "../contender.ts";
import { type DataSet, load } from "../load.ts";
import { ALL, type Times, measure } from "../measure.ts";
import type { Row } from "../row.ts";

/** What a question needs to know of its contender. */
type Asked = Pick<Contender, "native" | "named" | "has" | "key">;

/** A step of a script: a BITOP's operation, its temporary key, and its sources, which are temporary keys or `#1`, `#2` ... */
type Step = readonly [operation: string, to: string, ...from: string[]];

interface Question {
  readonly expression: string;
  /** How many keys it needs. */
  readonly of: number;
  /** Only the first members are asked for. */
  readonly page?: boolean;
  /** The operation of a BITOPCARD over the same keys to compare with. */
  readonly counts?: string;
  /** Its last step to the key `x` gives the result. `extended`: for contenders whose BITOP has DIFF. */
  readonly script: (extended: boolean) => readonly Step[];
}

const PAGE = 100;
/** Bytes of a native bitmap that a client reads to find a page of members. */
const PAGE_BYTES = 8192;

const sources = (of: number): string[] => range(1, of).map((key) => `#${key}`);

/** A full adder: of each offset's bits in a, b and c, the low binary digit of their number goes to `low` and the high one to `high`. */
const add = (low: string, high: string, a: string, b: string, c: string): Step[] =>
  [["AND", high, a, b], ["XOR", "x", a, b], ["AND", "y", "x", c], ["XOR", low, "x", c], ["OR", high, high, "y"]];

/**
 * At least 3 of 7. Three adders give a ones digit and three twos digits: two of these make 4, and one of them and the ones digit make 3.
 * BITOPs of three sources would be fewer, but they take longer.
 */
const atLeastThree: readonly Step[] = [
  ...add("s", "c", "#1", "#2", "#3"), ...add("t", "d", "#4", "#5", "#6"), ...add("s", "e", "s", "t", "#7"),
  ["AND", "x", "c", "d"], ["OR", "c", "c", "d"], ["AND", "y", "c", "e"], ["OR", "c", "c", "e"], ["AND", "s", "s", "c"],
  ["OR", "x", "x", "y", "s"],
];

/** The questions over data of `count` sets. */
export const questionsOver = (count: number): readonly Question[] => [
  { expression: "all(#1..#5)", of: 5, counts: "AND", script: () => [["AND", "x", ...sources(5)]] },
  { expression: `any(#1..#${count})`, of: count, script: () => [["OR", "x", ...sources(count)]] },
  { expression: `any(#1..#${count})`, of: count, page: true, script: () => [["OR", "x", ...sources(count)]] },
  { expression: "atleast(3, #1..#7)", of: 7, counts: "OR", script: () => atLeastThree },
  {
    expression: "(#1 & #2 & #3) - (#4 | #5)", of: 5,
    script: (extended) => [
      ["AND", "x", "#1", "#2", "#3"],
      ...(extended
        ? [["DIFF", "x", "x", "#4", "#5"]] as const
        : [["OR", "y", "#4", "#5"], ["AND", "y", "x", "y"], ["XOR", "x", "x", "y"]] as const),
    ],
  },
];

/** The question as one command. */
export const asQuery = (contender: Asked, { expression, of, page }: Question, keys: readonly string[]): Command =>
  [contender.named("QUERY"), expression, of, ...keys.slice(0, of), ...(page ? ["MEMBERS", "LIMIT", PAGE] : ["CARD"])];

/** The question as BITOPs, the command that reads the answer if the last BITOP's reply is not yet the answer, and a DEL. */
export function asScript(contender: Asked, { page, script }: Question, keys: readonly string[]): Command[] {
  const steps = script(!contender.native), result = contender.key("temporary:x");
  const named = (name: string): string => name.startsWith("#") ? keys[Number(name.slice(1)) - 1]! : contender.key(`temporary:${name}`);
  const reading: Command[] = page
    ? [contender.native ? ["GETRANGE", result, 0, PAGE_BYTES - 1] : [contender.named("RANGEINTARRAY"), result, 0, PAGE - 1]]
    : contender.native ? [["BITCOUNT", result]] : [];
  return [
    ...steps.map(([operation, to, ...from]): Command => [contender.named("BITOP"), operation, named(to), ...from.map(named)]),
    ...reading,
    ["DEL", ...new Set(steps.map(([, to]) => named(to)))],
  ];
}

/** The number of members of a combination, which a BITOP of a module replies. Native BITOP replies a length, and a BITCOUNT follows. */
const counted = (contender: Asked, operation: string, keys: readonly string[]): Command[] => {
  const result = contender.key("result"), combining = [contender.named("BITOP"), operation, result, ...keys];
  return contender.native ? [combining, ["BITCOUNT", result]] : [combining];
};

const countedAtOnce = (contender: Asked, operation: string, keys: readonly string[]): Command[] =>
  contender.has("BITOPCARD") ? [[contender.named("BITOPCARD"), operation, ...keys]] : counted(contender, operation, keys);

/** Questions about few sets are asked about neighboring ones, beginning with every STEP-th. */
const STEP = 7;

export async function* measureQuestions(contenders: readonly Contender[], data: DataSet): AsyncGenerator<Row> {
  await load(contenders, data);
  /** Microseconds of the commands that answer a question about `of` sets, by contender. */
  const timesOf = async (
    asked: readonly Contender[], of: number, commands: (contender: Contender, keys: readonly string[]) => Command[],
  ): Promise<Times> => {
    const indexes = range(0, data.count), starts = indexes.filter((i) => i % STEP === 0 && i + of <= data.count);
    const keysFrom = (contender: Contender, start: number): string[] =>
      indexes.slice(start, start + of).map((i) => contender.key(data.name, i));
    const times = await measure(asked, (contender) =>
      ({ timed: ALL, commands: starts.flatMap((start) => commands(contender, keysFrom(contender, start))) }));
    return Object.fromEntries(Object.entries(times).map(([name, time]) => [name, time / starts.length]));
  };
  const row = (what: string, values: Times): Row => ({ data: data.name, what, unit: "µs", values });

  const withQuery = contenders.filter((contender) => contender.has("QUERY"));
  // What QUERY takes and what BITOPs take is measured in turns, like different contenders.
  const byBitop = new Map(withQuery.map((contender) => [contender.renamed(`${contender.name} by BITOP`), contender.name]));
  const bitopCard = async (operation: string, of: number): Promise<Row> =>
    row(`${operation} of ${of}, BITOPCARD`, await timesOf(contenders, of, (contender, keys) => countedAtOnce(contender, operation, keys)));
  for (const question of questionsOver(data.count)) {
    const { of, page, counts, expression } = question, what = page ? `${PAGE} of ${expression}` : expression;
    const times = await timesOf([...contenders, ...byBitop.keys()], of, (contender, keys) =>
      withQuery.includes(contender) ? [asQuery(contender, question, keys)] : asScript(contender, question, keys));
    yield row(what, Object.fromEntries(contenders.map(({ name }) => [name, times[name]!])));
    yield row(`${what}, by BITOP`, Object.fromEntries([...byBitop].map(([{ name }, original]) => [original, times[name]!])));
    if (counts) yield await bitopCard(counts, of);
  }
  for (const of of [2, 6]) {
    for (const operation of ["AND", "OR", "XOR"]) {
      yield row(`${operation} of ${of}, counted`, await timesOf(contenders, of, (contender, keys) => counted(contender, operation, keys)));
      yield await bitopCard(operation, of);
    }
  }
}
