// Questions that a client would ask to hold up the server: short commands that name the same sources again and again, or nest ranges. Each
// is asked with some operands and with ten times as many. Besides the time, a row says how many nanoseconds that is for each byte of the
// sources and of the command.

import { type Command, encode } from "../../test/support/resp.ts";
import { range } from "../../test/support/family.ts";
import type { Contender } from "../contender.ts";
import { scattered } from "../generators.ts";
import { loading } from "../load.ts";
import { type Times, measure } from "../measure.ts";
import type { Row } from "../row.ts";

const CONTAINER = 65_536;
/** Members that have a container to themselves. */
const LONE = range(0, 60_000).map((i) => i * CONTAINER + (i % 1000));
const ARRAYS = 30, ARRAY_MEMBERS = 3000;
/** Small keys: few members in a few containers each. */
const SMALL = 1000;
export const OPERANDS_MOST = 10;

type Source = "lone" | "arrays" | "small";

interface Question {
  readonly what: string;
  /** With how many operands it is asked; and then with ten times as many. */
  readonly operands: number;
  readonly sources: (operands: number) => readonly Source[];
  readonly ask: (operands: number) => string;
}

const times = (operand: string, count: number): string => Array<string>(count).fill(operand).join();
const each = (count: number, operand: (index: number) => string, separator = ","): string =>
  range(0, count).map(operand).join(separator);
const one = (source: Source) => (): readonly Source[] => [source];

/** A question without an expression is BITOPCARD OR. */
export const worstQuestions: readonly Question[] = [
  { what: "exactly(50, ~#1, ~#1 ...)", operands: 100, sources: one("lone"), ask: (n) => `exactly(50,${times("~#1", n)})` },
  { what: "#1 | #1 ...", operands: 300, sources: one("lone"), ask: (n) => times("#1", n).replaceAll(",", "|") },
  { what: "BITOPCARD OR of one key", operands: 100, sources: (n) => Array<Source>(n).fill("lone"), ask: () => "" },
  { what: "exactly(n / 2, #1, #1 ...)", operands: 2000, sources: one("arrays"), ask: (n) => `exactly(${n / 2},${times("#1", n)})` },
  {
    what: "atleast(n, #1, #1 ..., #2)", operands: 2000, sources: () => ["arrays", "lone"],
    ask: (n) => `atleast(${n},${times("#1", n)},#2)`,
  },
  {
    what: "exactly(n / 2, nested ranges, #1)", operands: 200, sources: one("lone"),
    ask: (n) => `exactly(${n / 2},${each(n, (i) => `[${i * 99_991}..${4_294_967_295 - i * 99_991}]`)},#1)`,
  },
  {
    what: "#1 | ranges in one container ...", operands: 300, sources: one("lone"),
    ask: (n) => `#1|${each(n, (i) => `[${i * 20}..${i * 20 + 9}]`, "|")}`,
  },
  {
    what: "exactly(n / 2, ~#1, #2, ~#3 ...)", operands: 100, sources: (n) => Array<Source>(n).fill("small"),
    ask: (n) => `exactly(${n / 2},${each(n, (i) => `${i % 2 ? "" : "~"}#${i + 1}`)})`,
  },
  {
    what: "(#1 - #2) | (#1 - #3) ...", operands: 10, sources: (n) => ["lone", ...Array<Source>(n).fill("small")],
    ask: (n) => each(n, (i) => `(#1-#${i + 2})`, "|"),
  },
];

/** The keys of a question's sources. Small ones are all different. */
export const worstKeys = (contender: Pick<Contender, "key">, sources: readonly Source[]): string[] =>
  sources.map((source, i) => contender.key(source, source === "small" ? i % SMALL : 0));

export function asCommand(contender: Pick<Contender, "named">, expression: string, keys: readonly string[]): Command {
  if (!expression) return [contender.named("BITOPCARD"), "OR", ...keys];
  return [contender.named("QUERY"), expression, keys.length, ...keys];
}

async function bytesOfSources(contender: Contender, keys: readonly string[]): Promise<number> {
  const replies = await contender.run([...new Set(keys)].map((key) => ["MEMORY", "USAGE", key]));
  return replies.reduce<number>((sum, bytes) => sum + Number(bytes), 0);
}

/** Loads the sources of all questions. */
export async function loadWorst(contender: Pick<Contender, "run" | "named" | "key">): Promise<void> {
  const load = (source: Source, index: number, members: readonly number[]): Command[] =>
    loading(contender, contender.key(source, index), members);
  await contender.run(load("lone", 0, LONE));
  await contender.run(load("arrays", 0, scattered(1, ARRAYS * CONTAINER, ARRAYS * ARRAY_MEMBERS)));
  await contender.run(range(0, SMALL).flatMap((i) => load("small", i, range(i * 7, 20, CONTAINER + 1))));
}

export async function* measureWorst(contenders: readonly Contender[]): AsyncGenerator<Row> {
  const able = contenders.filter((contender) => contender.has("QUERY"));
  for (const contender of able) await loadWorst(contender);
  for (const { what, operands, sources, ask } of worstQuestions) {
    for (const n of [operands, OPERANDS_MOST * operands]) {
      const command = (contender: Contender): Command => asCommand(contender, ask(n), worstKeys(contender, sources(n)));
      const took: Times = await measure(able, (contender) => ({ commands: [command(contender)], timed: String(command(contender)[0]) }));
      const perByte: Times = {};
      for (const contender of able) {
        const bytes = encode(command(contender)).length + await bytesOfSources(contender, worstKeys(contender, sources(n)));
        perByte[contender.name] = took[contender.name]! * 1000 / bytes;
      }
      yield { data: "worst", what: `${n.toLocaleString("en")} times: ${what}`, unit: "µs", values: took };
      yield { data: "worst", what: `${n.toLocaleString("en")} times: ${what}, for each byte`, unit: "ns", values: perByte };
    }
  }
}
