// Compares the module with native bitmaps and with other modules that have the same commands, on real and generated data.
//
//   --peer NAME=PATH   another module's .so; may be given several times
//   --data DIRECTORY   more data sets: zip files like those in test/data
//   --only PATTERN     only suites whose names match
//   --calls PATTERN    in the suite "worst calls" only commands whose names match
//   --cells PATTERN    in the suite "density" only rows that match, such as "random.*: AND of 2, counted, at 1.5 %"
//   --cpu LEVEL        also compares the build for this CPU level: v2, v3 or v4; may be given several times
//   --full             larger sizes, which take long
//   --out DIRECTORY    where results.json and the charts go (build/bench)

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { dataset, setsIn } from "../test/support/data.ts";
import { range } from "../test/support/family.ts";
import { builtModule, projectRoot } from "../test/support/server.ts";
import { type Contender, levelOf, OURS, type Peer, SETS, startContenders, stopContenders } from "./contender.ts";
import { charts } from "./charts.ts";
import { clustered, noise, randomMembers, runs, scattered, shuffled, snowflakes } from "./generators.ts";
import { type DataSet, ofBitmaps, ofMade, ofMembers } from "./load.ts";
import { inWords, thisMachine } from "./machine.ts";
import { columns, heading, line } from "./report.ts";
import { renewed, type Results, written } from "./results.ts";
import type { Row } from "./row.ts";
import { measureBorder } from "./suites/border.ts";
import { measureCommands } from "./suites/commands.ts";
import { COSTS, measureCosts } from "./suites/costs.ts";
import { DENSITY, measureDensity } from "./suites/density.ts";
import { FELT, measureFelt } from "./suites/felt.ts";
import { growthNames, measureGrowth } from "./suites/growth.ts";
import { measureImports } from "./suites/imports.ts";
import { integerContenders, INTEGERS, measureIntegers } from "./suites/integers.ts";
import { measureLatency } from "./suites/latency.ts";
import { measureSite, measureTail, measureTailTimes } from "./suites/longtail.ts";
import { measureMany } from "./suites/many.ts";
import { measureNames, nameContenders, nameSuites } from "./suites/names.ts";
import { measureQuestions } from "./suites/questions.ts";
import { type Combination, measureSets, pairs } from "./suites/sets.ts";
import { measureSignIns } from "./suites/signins.ts";
import { measureSmallKeys } from "./suites/small.ts";
import { measureTypical, TYPICAL } from "./suites/typical.ts";
import { measureFew, measureWide } from "./suites/wide.ts";
import { measureWorst } from "./suites/worst.ts";
import { sweepReport } from "./sweep.ts";
import { shortfalls } from "./targets.ts";
import { withTables } from "./tables.ts";
import { withAllTypical, withTypical } from "./typical.ts";

const { values: options } = parseArgs({
  options: {
    peer: { type: "string", multiple: true, default: [] },
    data: { type: "string" },
    only: { type: "string", default: "" },
    calls: { type: "string", default: "" },
    cells: { type: "string", default: "" },
    cpu: { type: "string", multiple: true, default: [] },
    full: { type: "boolean", default: false },
    members: { type: "string", default: "" },
    out: { type: "string", default: "build/bench" },
  },
});

const peers = options.peer.map((text): Peer => {
  const at = text.indexOf("=");
  if (at < 1) throw new Error(`--peer ${text}: must be NAME=PATH`);
  return { name: text.slice(0, at), module: text.slice(at + 1) };
});
const levels = options.cpu.map((level): Peer => ({ name: `${OURS} ${level}`, module: builtModule, moduleArguments: ["CPU", level] }));

type Suite = (contenders: readonly Contender[]) => AsyncGenerator<Row>;

/** How the names of suites begin in which native sets take part. */
const TAIL = "long tail: ", AGAINST_MANY = "one against many";
const MEBI = 2 ** 20, MILLION = 1_000_000;
const bitsMade = 16 * MEBI, setsMade = 8;
const users = (options.full ? 100 : 20) * MILLION, days = 30;
/** Users of the days that questions are about. */
const usersAsked = 100 * MILLION;
const keys = options.full ? MILLION : 200_000;
const tailMembers = (options.full ? 1 : 0.1) * MILLION, siteKeys = (options.full ? 1 : 0.01) * MILLION;
/** Ids that have an integer, or names that have an id. */
const idsGiven = (options.members ? Number(options.members) : options.full ? 10 : 1) * MILLION;
const grown = (options.members ? Number(options.members) : options.full ? 10 : 2) * MILLION;

const real: readonly Combination[] = [
  ...pairs,
  { operation: "AND", of: 3, step: 1 },
  { operation: "OR", of: 30, step: 10 },
  { operation: "OR", of: 200, step: 200 },
];
const made: readonly Combination[] = [...pairs, ...(["AND", "OR", "XOR"] as const).map((operation) => ({ operation, of: 6, step: 1 }))];
const daily: readonly Combination[] = [
  { operation: "AND", of: 2, step: 10 },
  ...(["OR", "AND"] as const).map((operation) => ({ operation, of: days, step: days })),
];

/** Native sets as well, behind native bitmaps. */
const withSets = ([native, ...modules]: readonly Contender[]): Contender[] => [native!, native!.renamed(SETS), ...modules];

const seeded = <T>(count: number, make: (seed: number) => T): T[] => range(1, count).map(make);

const realSuite = (name: string, path: string): [string, Suite] =>
  [name, (contenders) => measureSets(contenders, ofMembers(name, setsIn(path)), { combinations: real })];
const madeSuite = (name: string, make: (seed: number) => Buffer, optimised = false): [string, Suite] =>
  [name, (contenders) => measureSets(contenders, ofBitmaps(name, seeded(setsMade, make)), { combinations: made, optimised })];

const questions = (name: string, data: (name: string) => DataSet): [string, Suite] =>
  [`questions: ${name}`, (contenders) => measureQuestions(contenders, data(`questions: ${name}`))];

const others = options.data ? readdirSync(options.data).filter((file) => /\.zip$/.test(file) && file !== "census1881.zip").sort() : [];
const suites: [string, Suite][] = [
  realSuite("census1881", join(projectRoot, "test/data/census1881.zip")),
  ...others.map((file) => realSuite(file.slice(0, -".zip".length), join(options.data!, file))),
  madeSuite("half of 16 Mbit", (seed) => noise(seed, bitsMade, 128)),
  madeSuite("a tenth of 16 Mbit", (seed) => noise(seed, bitsMade, 26)),
  madeSuite("runs in 16 Mbit", (seed) => runs(seed, bitsMade, 50, 3000), true),
  ["1/1000 of 16 Mbit", (contenders) =>
    measureSets(
      contenders,
      ofMembers("1/1000 of 16 Mbit", seeded(setsMade, (seed) => scattered(seed, bitsMade, bitsMade / 1000))),
      { combinations: made },
    )],
  ["daily actives", (contenders) =>
    measureSets(contenders, ofBitmaps("daily actives", seeded(days, (seed) => noise(seed, users, 26))), { combinations: daily })],
  questions("census1881", (name) => ofMembers(name, dataset("census1881"))),
  questions("half of 16 Mbit", (name) => ofMade(name, setsMade, (seed) => noise(seed, bitsMade, 128))),
  questions("sparse days", (name) => ofMade(name, days, (seed) => noise(seed, usersAsked, 2))),
  questions("clustered days", (name) => ofMade(name, days, clustered(usersAsked, 128, 100, 10_000, 20))),
  [TYPICAL, (contenders) => measureTypical(withSets(contenders))],
  [`${TAIL}memory`, (contenders) => measureTail(withSets(contenders), tailMembers)],
  [`${TAIL}times`, (contenders) => measureTailTimes(withSets(contenders))],
  [`${TAIL}a site`, (contenders) => measureSite(withSets(contenders), `${siteKeys.toLocaleString("en")} keys of a site`, siteKeys)],
  [AGAINST_MANY, (contenders) => measureMany(withSets(contenders))],
  [DENSITY, (contenders) => measureDensity(withSets(contenders), options.cells, options.full)],
  ["keys of 10 members", (contenders) => measureSmallKeys(contenders, { data: "keys of 10 members", keys, bound: 366 })],
  ["sign-ins of a year", (contenders) =>
    measureSignIns(contenders, "sign-ins of a year", 366, [1, 2, 5, 10, 20, 32, 40, 60, 100, 200, 366])],
  ["sign-ins of five years", (contenders) =>
    measureSignIns(contenders, "sign-ins of five years", 1826, [1, 10, 32, 50, 100, 200, 500, 1000, 1826])],
  ["random 64-bit members", (contenders) => measureWide(contenders, "random 64-bit members", randomMembers(64, MILLION))],
  ["snowflake ids", (contenders) => measureWide(contenders, "snowflake ids", snowflakes(22, MILLION))],
  ["snowflake ids in random order", (contenders) =>
    measureWide(contenders, "snowflake ids in random order", shuffled(366, snowflakes(22, MILLION)))],
  ["few far ids", (contenders) => measureFew(contenders, "few far ids", shuffled(366, snowflakes(22, 512)))],
  ["a million containers", (contenders) => measureImports(contenders, "a million containers", MILLION)],
  ...growthNames.map((name): [string, Suite] => [name, (contenders) => measureGrowth(withSets(contenders), name, grown)]),
  ["containers at the limit of arrays", measureBorder],
  [INTEGERS, (contenders) => measureIntegers(integerContenders(contenders), idsGiven)],
  ...nameSuites.map((name): [string, Suite] => [name, (contenders) => measureNames(nameContenders(contenders, name), name, idsGiven)]),
  ["through a client", measureLatency],
  [FELT, measureFelt],
  ["worst questions", measureWorst],
  [COSTS, () => measureCosts(options.calls, options.full)],
  ["every command", measureCommands],
];

const started = Date.now();
let machine = thisMachine();
const rows: Row[] = [], names: string[] = [];

/** Whether the documents show these results. If only some suites ran, the rows of the others stay there. */
const shownInDocuments = resolve(options.out) === join(projectRoot, "docs/bench");
const file = join(options.out, "results.json");
const earlier = options.only && shownInDocuments ? JSON.parse(readFileSync(file, "utf8")) as Results : undefined;

function results(): Results {
  const run = { machine, contenders: names, rows };
  return earlier ? renewed(earlier, run) : run;
}

/** Writes the results so far. */
function save(): void {
  mkdirSync(options.out, { recursive: true });
  writeFileSync(file, written(results()));
  for (const [name, svg] of Object.entries(charts(results()))) writeFileSync(join(options.out, name), svg);
  const report = sweepReport(results());
  if (report) writeFileSync(join(options.out, "density.txt"), report);
}

/** Records typical keys, and writes the tables of README.md and docs/performance.md. */
function saveTables(): void {
  const update = (page: string, tables: (text: string) => string): void => {
    const path = join(projectRoot, page);
    writeFileSync(path, tables(readFileSync(path, "utf8")));
  };
  const shown = rows.filter(({ data }) => data === TYPICAL);
  if (shown.length > 0) {
    const typical = { machine, contenders: names, rows: shown };
    writeFileSync(join(options.out, "typical.json"), written(typical));
    update("README.md", (text) => withTypical(text, typical));
    update("docs/performance.md", (text) => withAllTypical(text, typical));
  }
  update("docs/performance.md", (text) => withTables(text, results()));
}

const seconds = (): number => Math.round((Date.now() - started) / 1000);
const chosen = suites.filter(([name]) => new RegExp(options.only).test(name));
for (const [at, [name, suite]] of chosen.entries()) {
  const contenders = await startContenders([...peers, ...levels]);
  names.splice(0, names.length, ...contenders.map((contender) => contender.name));
  machine = { ...machine, level: await levelOf(contenders) };
  try {
    results(); // throws if these contenders are not those of the earlier results, before anything is measured
    const withSet = name.startsWith(TAIL) || [TYPICAL, AGAINST_MANY, DENSITY, ...growthNames].includes(name);
    const named = withSet ? names.toSpliced(1, 0, SETS) : names;
    const with64 = name === DENSITY ? named.filter((one) => !one.endsWith(" R64")) : named;
    const own = name === INTEGERS ? integerContenders(contenders)
      : nameSuites.includes(name) ? nameContenders(contenders, name) : undefined;
    const shown = columns(own ? own.map((contender) => contender.name) : with64);
    console.log(heading(`${name} (${at + 1} of ${chosen.length}, ${seconds()} s)`, shown));
    for await (const row of suite(contenders)) {
      rows.push(row);
      console.log(line(row, shown));
    }
  } finally {
    await stopContenders(contenders);
  }
  save();
}
if (shownInDocuments) saveTables();

const report = sweepReport({ machine, rows }), short = shortfalls(rows);
if (report) console.log(`\n${report}`);
console.log(short.length > 0 ? `\nBelow target:\n  ${short.join("\n  ")}` : "\nNo row is below its target.");
console.log(`\n${inWords(machine)}\n${seconds()} s; results.json and charts are in ${options.out}`);
