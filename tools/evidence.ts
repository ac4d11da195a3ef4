// evidence [name ...]: runs what shows that the module can be trusted, and records the results, with date and commit, in
// docs/evidence.json. The tables in docs/evidence.md are made from that. By default it runs all targets, which takes hours.
//
//   evidence coverage fuzz            runs these make targets
//   evidence ci/clients 'nightly/*'   runs the steps of these jobs of .github/workflows, on fresh systems (tools/workflows.ts); root only
//   evidence --table                  only makes the tables anew, and runs nothing
//
// A step that is one of the targets is recorded as that, too.
//
// A run counts only for a commit, so there must be no other changes. Make variables in the environment, such as FUZZ_SECONDS, are passed
// on and shown. What fails is recorded as failed, and the exit status is 1.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { execute } from "./run.ts";
import { type Job, jobs, type Outcome, runJob, titleOf } from "./workflows.ts";

interface Entry {
  /** What ran, as someone would type it. */
  readonly command: string;
  readonly result: string;
  readonly passed: boolean;
  readonly date: string;
  readonly commit: string;
  readonly minutes: number;
}

interface StepEntry {
  readonly step: string;
  readonly result: string;
  /** Absent if the step did not run. */
  readonly passed?: boolean;
  readonly minutes: number;
}

interface JobEntry {
  readonly date: string;
  readonly commit: string;
  readonly steps: readonly StepEntry[];
}

export interface Evidence {
  readonly targets: Partial<Record<string, Entry>>;
  readonly jobs: Partial<Record<string, JobEntry>>;
}

interface Kind {
  readonly title: string;
  /** The target, with its variables. */
  readonly make: string;
  /** The result in the output of a run, if it ended well. */
  readonly read: (output: string) => string | undefined;
}

const RECORD = "docs/evidence.json", PAGE = "docs/evidence.md";

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

const cell = (text: string): string => text.replaceAll("|", "\\|");
const resultOf = ({ result, passed }: StepEntry): string => {
  const text = cell(result).replaceAll("; ", "<br>");
  if (passed === undefined) return `not run: ${text}`;
  return passed ? text : `**failed**: ${text}`;
};

function targetTable(evidence: Evidence): string {
  const rows = Object.entries(kinds).map(([name, { title, make }]) => {
    const entry = evidence.targets[name];
    if (!entry) return `| ${title} | \`make ${make}\` | not recorded | | |`;
    return `| ${title} | \`${cell(entry.command)}\` | ${resultOf({ step: entry.command, ...entry })} | ${entry.minutes} min | ${entry.date}, ${entry.commit} |`;
  });
  return ["| what | command | result | took | date, commit |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** A row for each step that the workflows have today. What was recorded of others is not shown. */
function jobTable(evidence: Evidence): string {
  const rows = jobs().flatMap((job) => {
    const entry = evidence.jobs[job.name];
    return job.steps.map((each) => {
      const title = titleOf(each), found = entry?.steps.find(({ step }) => step === title);
      const start = `| ${job.name} | \`${cell(title)}\` |`;
      if (!entry || !found) return `${start} not recorded | | |`;
      return `${start} ${resultOf(found)} | ${found.passed === undefined ? "" : `${found.minutes} min`} | ${entry.date}, ${entry.commit} |`;
    });
  });
  return ["| job | step | result | took | date, commit |", "|---|---|---|---|---|", ...rows].join("\n");
}

function withTable(page: string, name: string, table: string): string {
  const start = `<!-- ${name} -->`, end = `<!-- /${name} -->`, from = page.indexOf(start), to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${PAGE} needs ${start} and ${end}`);
  return `${page.slice(0, from)}${start}\n\n${table}\n\n${page.slice(to)}`;
}

/** The page with the tables of this evidence in place of those that it has. */
export const withEvidence = (page: string, evidence: Evidence): string =>
  withTable(withTable(page, "targets", targetTable(evidence)), "jobs", jobTable(evidence));

const recorded = (): Evidence => (existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, "utf8")) as Evidence : { targets: {}, jobs: {} });

const ordered = <T>(entries: Partial<Record<string, T>>, names: readonly string[]): Partial<Record<string, T>> =>
  Object.fromEntries(names.flatMap((name) => (entries[name] ? [[name, entries[name]]] : [])));

function save({ targets, jobs: entries }: Evidence): void {
  const evidence = { targets: ordered(targets, Object.keys(kinds)), jobs: ordered(entries, jobs().map(({ name }) => name)) };
  writeFileSync(RECORD, `${JSON.stringify(evidence, null, 1)}\n`);
  writeFileSync(PAGE, withEvidence(readFileSync(PAGE, "utf8"), evidence));
}

const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

const now = (): { date: string; commit: string } =>
  ({ date: new Date().toISOString().slice(0, 10), commit: git("rev-parse", "--short=8", "HEAD") });

/** What a run printed, in a line. The run fails if that does not have what its kind looks for. */
function judge(output: string, passed: boolean, kind?: Kind): { result: string; passed: boolean } {
  const text = plain(output), found = kind ? kind.read(text) : "done";
  return { result: (passed ? found : undefined) ?? text.trimEnd().split("\n").at(-1) ?? "", passed: passed && found !== undefined };
}

async function runTarget(name: string): Promise<void> {
  const kind = kinds[name]!, words = kind.make.split(" "), start = performance.now();
  const variables = VARIABLES.flatMap((variable) => (process.env[variable] ? [`${variable}=${process.env[variable]}`] : []));
  const { status, output } = await execute("make", [...words, ...variables], show);
  const minutes = Math.ceil((performance.now() - start) / 60_000), command = ["make", ...words, ...variables].join(" ");
  record(name, { command, ...judge(output, status === 0, kind), ...now(), minutes });
}

function record(name: string, entry: Entry): void {
  const evidence = recorded();
  save({ ...evidence, targets: { ...evidence.targets, [name]: entry } });
  say(name, entry);
}

/** The target that a step makes, if it makes just one. */
function targetOf(step: string): string | undefined {
  const target = /^make ([\w-]+)(?: [A-Z_]+=\S+)*(?: \| tee \S+)?$/.exec(step)?.[1];
  return Object.entries(kinds).find(([, { make }]) => make.split(" ")[0] === target)?.[0];
}

function stepEntry({ step, passed, output, minutes }: Outcome): StepEntry {
  if (passed === undefined) return { step, result: output, minutes };
  return { step, ...judge(output, passed, kinds[targetOf(step) ?? ""]), minutes };
}

async function runOneJob(job: Job): Promise<void> {
  const steps = (await runJob(job, show)).map(stepEntry), evidence = recorded(), when = now();
  save({ ...evidence, jobs: { ...evidence.jobs, [job.name]: { ...when, steps } } });
  for (const entry of steps) {
    const target = targetOf(entry.step);
    if (target !== undefined && entry.passed !== undefined) {
      record(target, { command: entry.step, result: entry.result, passed: entry.passed, ...when, minutes: entry.minutes });
    }
    say(`${job.name}: ${entry.step}`, entry);
  }
}

const show = (text: string): void => {
  process.stdout.write(text);
};

function say(what: string, { result, passed }: Pick<StepEntry, "result" | "passed">): void {
  const state = passed === undefined ? "not run: " : passed ? "" : "failed: ";
  console.log(`\nevidence: ${what}: ${state}${result}`);
  if (passed === false) process.exitCode = 1;
}

/** Whether a name, such as `ci/*`, means a job. */
const means = (name: string, job: Job): boolean => (name.endsWith("/*") ? job.name.startsWith(name.slice(0, -1)) : job.name === name);

async function main(names: readonly string[]): Promise<void> {
  const all = jobs(), unknown = names.filter((name) => !(name in kinds) && !all.some((job) => means(name, job)));
  if (unknown.length > 0) {
    throw new Error(`unknown: ${unknown.join(" ")}; known are ${[...Object.keys(kinds), ...all.map(({ name }) => name)].join(" ")}`);
  }
  const changed = git("status", "--porcelain", "--untracked-files=no").split("\n").filter((line) => line && !line.endsWith(RECORD) && !line.endsWith(PAGE));
  if (changed.length > 0) throw new Error(`there are changes that no commit has:\n${changed.join("\n")}`);
  for (const name of names.length > 0 ? names : Object.keys(kinds)) {
    if (name in kinds) await runTarget(name);
    else for (const job of all.filter((each) => means(name, each))) await runOneJob(job);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const words = process.argv.slice(2);
  if (words.includes("--table")) save(recorded());
  else await main(words);
}
