// The command bench.

import { InvalidArgumentError, Option } from "commander";
import { type Bench, Bencher, type BenchRow, type Timing } from "../bench.js";
import { Exit } from "../failure.js";
import { loadCore } from "../load-core.js";
import { nameBytes } from "../names.js";
import { command } from "../options.js";
import { type ServerOptions, Servers } from "../servers.js";
import { tableText } from "../text.js";

interface Flags extends ServerOptions {
  beside?: string[];
  temporaryKeys?: boolean;
  query?: string;
  seconds: number;
  json?: boolean;
}

const ROUNDS = 5;

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 3600)) throw new InvalidArgumentError("must be a number of seconds above 0.");
  return value;
}

/** Microseconds with three digits. */
const time = (microseconds: number): string => microseconds.toFixed(microseconds >= 99.95 ? 0 : microseconds >= 9.995 ? 1 : 2);

function ratio({ timings: [first, second] }: BenchRow): string {
  if (!first || !second) return "";
  const isKnown = Boolean(first.server && second.server), of = (timing: Timing): number => (isKnown ? timing.server! : timing.p50);
  return (of(second) / of(first)).toPrecision(3).replace(/\.?0+$/, "");
}

function report({ server, forms, rows, notes }: Bench): string {
  const columns = forms.flatMap((form) => [`${form}: server`, "round trip", "p99"].map((title) => ({ title, align: "right" as const })));
  const cells = ({ timings }: BenchRow): string[] => forms.flatMap((form) => {
    const timing = timings.find((one) => one.form === form);
    if (!timing) return ["", "", ""];
    return [timing.server === null ? "" : `${time(timing.server)}${timing.isShared ? "*" : ""}`, time(timing.p50), time(timing.p99)];
  });
  const isShared = rows.some(({ timings }) => timings.some((timing) => timing.isShared));
  const differing = rows.filter(({ differs }) => differs !== null);
  return [
    `${server}, microseconds per query`,
    "",
    tableText([{ title: "query" }, ...columns, ...(forms.length > 1 ? [{ title: `${forms[1]!} / ${forms[0]!}`, align: "right" as const }] : [])],
      rows.map((row) => [row.question, ...cells(row), ...(forms.length > 1 ? [ratio(row)] : [])])),
    "",
    ...(isShared ? ["* the mean includes calls of the same commands by other clients"] : []),
    ...differing.map(({ question, differs }) => `${question}: the answers differ, ${differs}: the keys do not have the same members, or a client is writing to them`),
    ...notes,
  ].join("\n").trimEnd();
}

export const bench = command("bench", "time queries on keys, and compare with other types that have the same members")
  .argument("<key...>", "roaring or native bitmaps, or sets of integers, all of one type; \\xNN stands for a byte")
  .option("--beside <key...>", "other keys with the same members in the same order, such as native bitmaps")
  .option("--temporary-keys", "write temporary keys: copies for comparison, and results of native BITOP")
  .option("--query <expression>", "also time this expression of QUERY over all keys, such as '#1 & #2'")
  .addOption(new Option("--seconds <number>", "time for each query and type").argParser(positive).default(1))
  .option("--json", "print JSON")
  .addHelpText("after", `
Nothing is written without --temporary-keys. Temporary keys are named redis-roar:..., are deleted at the
end, and expire after 15 minutes otherwise. Queries are sent one after the other, by one client.

Examples:
  redis-roar bench likes:1 likes:2 likes:3
  redis-roar bench likes:1 likes:2 --temporary-keys
  redis-roar bench likes:1 likes:2 --beside old:1 old:2 --query '(#1 | #2) - [0..999]'`)
  .action(async (keys: string[], flags: Flags) => {
    const core = await loadCore(), servers = await Servers.open(flags);
    const bencher = new Bencher(servers, core, {
      beside: (flags.beside ?? []).map(nameBytes), temporaryKeys: flags.temporaryKeys ?? false, seconds: flags.seconds, rounds: ROUNDS,
      ...(flags.query !== undefined && { query: flags.query }),
    });
    const result = await bencher.bench(keys.map(nameBytes));
    console.log(flags.json ? JSON.stringify(result, null, 2) : report(result));
    if (result.rows.some(({ differs }) => differs !== null)) process.exitCode = Exit.SOME_FAILED;
  });
