// evidence [name ...]: runs what shows that the module can be trusted, and records the results, with date and commit, in
// docs/evidence.json. The table in docs/evidence.md is made from that. By default it runs everything, which takes hours.
//
//   evidence coverage fuzz   runs these
//   evidence --table         only makes the table anew, and runs nothing
//
// A run counts only for a commit, so there must be no other changes. Make variables in the environment, such as FUZZ_SECONDS, are passed
// on and shown. What fails is recorded as failed, and the exit status is 1.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { execute } from "./run.ts";

interface Entry {
  /** What ran, as someone would type it. */
  readonly command: string;
  readonly result: string;
  readonly passed: boolean;
  readonly date: string;
  readonly commit: string;
  readonly minutes: number;
}

export type Evidence = Partial<Record<string, Entry>>;

interface Kind {
  readonly title: string;
  /** The target, with its variables. */
  readonly make: string;
  /** The result in the output of a run, if it ended well. */
  readonly read: (output: string) => string | undefined;
}

const RECORD = "docs/evidence.json", PAGE = "docs/evidence.md";
const START = "<!-- evidence -->", END = "<!-- /evidence -->";

const plain = (output: string): string => output.replace(/\x1b\[[0-9;]*m/g, "");
const matches = (text: string, pattern: RegExp): string[][] => [...text.matchAll(pattern)].map((found) => found.slice(1).map((word) => word ?? ""));
const last = (text: string, pattern: RegExp): string | undefined => matches(text, pattern).at(-1)?.[0];
const grouped = (value: number): string => value.toLocaleString("en");

const counted = (output: string): string | undefined => last(output, /^(\d+ passed, \d+ failed)$/gm);
/** What vitest says of its last run. */
const tests = (output: string): string | undefined => {
  const found = last(output, /^ *Tests +(.*) \(\d+\)$/gm);
  return found?.replaceAll(" | ", ", ");
};

function fuzzed(output: string): string | undefined {
  const targets = matches(output, /^fuzz: (\w+), (\d+) seconds$/gm), inputs = matches(output, /^stat::number_of_executed_units: (\d+)$/gm);
  if (targets.length === 0 || inputs.length < targets.length) return undefined;
  return targets.map(([name, seconds], i) => `${name}: ${grouped(Number(inputs[i]![0]))} inputs in ${grouped(Number(seconds))} s`).join("; ");
}

function servers(output: string): string | undefined {
  const rows = matches(output, /^([\w.-]+) +(\d+\.\d+\.\d+) +(\d+) +(\d+) +(\d+)$/gm);
  const missing = matches(output, /^([\w.-]+) +not run/gm).map(([name]) => `${name} not run`);
  const lines = rows.map(([name, version, passed, failed, skipped]) => `${name} (${version}): ${passed} passed, ${failed} failed, ${skipped} skipped`);
  return lines.length > 0 ? [...lines, ...missing].join("; ") : undefined;
}

const kinds: Readonly<Record<string, Kind>> = {
  test: { title: "All tests, on each CPU level of the machine", make: "test", read: counted },
  fresh: {
    title: "The README's commands and all tests on fresh systems", make: "test-fresh",
    read: (output) => matches(output, /^fresh: (.*: (?:make|README).*)$/gm).flat().join("; ") || undefined,
  },
  servers: { title: "Integration tests on other servers", make: "test-servers", read: servers },
  arm64: { title: "Tests on arm64, under an emulator", make: "test-arm64", read: tests },
  clients: {
    title: "Programs in other languages", make: "test-clients",
    read: (output) => matches(output, /^(\w+) +\S.*? +(\d+ passed, \d+ failed)/gm).map(([name, result]) => `${name}: ${result}`).join("; ") || undefined,
  },
  upgrade: { title: "Upgrade and rollback, files and replicas, under writes", make: "test-upgrade", read: tests },
  coverage: {
    title: "Coverage of the core, by integration tests and the fuzz corpus", make: "coverage",
    read: (output) => {
      const functions = last(output, /^functions: (.*)$/gm), branches = last(output, /^branches: (.*)$/gm);
      const reasons = last(output, /^branches not taken with a reason: (.*)$/gm);
      return functions && branches && `functions: ${functions}; branches: ${branches}; not taken with a reason: ${reasons}`;
    },
  },
  fuzz: { title: "Fuzzing with AddressSanitizer and UBSan", make: "fuzz", read: fuzzed },
  asan: { title: "Integration tests with AddressSanitizer and UBSan", make: "asan", read: tests },
  tsan: {
    title: "Questions and saves on threads with ThreadSanitizer", make: "tsan",
    read: (output) => {
      const found = tests(output);
      return found && output.includes("ThreadSanitizer has nothing to report") ? `${found}; no report` : undefined;
    },
  },
  linearity: { title: "Questions while their keys are changed and clients are killed: answers, and memory afterwards", make: "linearity", read: tests },
  sequences: { title: "Random commands and expressions compared with a model", make: "sequences", read: tests },
  seeds: {
    title: "Tests that draw their input at random, with many seeds", make: "seeds",
    read: (output) => {
      const rounds = last(output, /^\d+ of (\d+) seeds, SEED=\d+$/gm), failures = last(output, /^(\d+ failures)$/gm);
      return rounds && failures && `${rounds} seeds, ${failures}`;
    },
  },
  shrinking: { title: "Bitmaps that are filled and emptied, compared with a model", make: "shrinking", read: tests },
  ways: { title: "Ways that writes take between forms", make: "ways SECONDS=0", read: (output) => last(output, /^(\d+ ways taken, \d+ untried)$/gm) },
  release: {
    title: "The release built twice, compared, and tried on Debian systems", make: "test-release",
    read: (output) => matches(output, /^(?:try-release|test-release): (.*)$/gm).flat().join("; ") || undefined,
  },
};

/** Variables of make that change how much a run does. */
const VARIABLES = [
  "FUZZ_SECONDS", "SECONDS", "SEEDS", "SEQUENCES", "EXPRESSIONS", "COMPARISONS", "SERVERS", "SHORT", "MACHINES", "LANGUAGES", "BEFORE", "LEVELS", "ROAR_CPU",
];

function table(evidence: Evidence): string {
  const rows = Object.entries(kinds).map(([name, { title, make }]) => {
    const entry = evidence[name];
    if (!entry) return `| ${title} | \`make ${make}\` | not recorded | | |`;
    const result = entry.passed ? entry.result : `**failed**: ${entry.result}`;
    return `| ${title} | \`${entry.command}\` | ${result.replaceAll("; ", "<br>")} | ${entry.minutes} min | ${entry.date}, ${entry.commit} |`;
  });
  return ["| what | command | result | took | date, commit |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** The page with the table of this evidence in place of the one that it has. */
export function withTable(page: string, evidence: Evidence): string {
  const from = page.indexOf(START), to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${PAGE} needs ${START} and ${END}`);
  return `${page.slice(0, from)}${START}\n\n${table(evidence)}\n\n${page.slice(to)}`;
}

const recorded = (): Evidence => (existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, "utf8")) as Evidence : {});

function save(evidence: Evidence): void {
  const ordered = Object.fromEntries(Object.keys(kinds).flatMap((name) => (evidence[name] ? [[name, evidence[name]]] : [])));
  writeFileSync(RECORD, `${JSON.stringify(ordered, null, 1)}\n`);
  writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), ordered));
}

const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

async function run(name: string): Promise<Entry> {
  const { make, read } = kinds[name]!;
  const variables = VARIABLES.flatMap((variable) => (process.env[variable] ? [`${variable}=${process.env[variable]}`] : []));
  const words = make.split(" "), start = performance.now();
  const { status, output } = await execute("make", [...words, ...variables], (text) => process.stdout.write(text));
  const text = plain(output), found = read(text), tail = text.trimEnd().split("\n").at(-1) ?? "";
  return {
    command: ["make", ...words, ...variables].join(" "), result: (found ?? tail).replaceAll("|", "/"), passed: status === 0 && found !== undefined,
    date: new Date().toISOString().slice(0, 10), commit: git("rev-parse", "--short=8", "HEAD"), minutes: Math.ceil((performance.now() - start) / 60_000),
  };
}

async function main(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !(name in kinds));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(" ")}; known are ${Object.keys(kinds).join(" ")}`);
  const changed = git("status", "--porcelain", "--untracked-files=no").split("\n").filter((line) => line && !line.endsWith(RECORD) && !line.endsWith(PAGE));
  if (changed.length > 0) throw new Error(`there are changes that no commit has:\n${changed.join("\n")}`);
  for (const name of names.length > 0 ? names : Object.keys(kinds)) {
    const entry = await run(name);
    save({ ...recorded(), [name]: entry });
    console.log(`\nevidence: ${name}: ${entry.passed ? "" : "failed: "}${entry.result}`);
    if (!entry.passed) process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const words = process.argv.slice(2);
  if (words.includes("--table")) save(recorded());
  else await main(words);
}
