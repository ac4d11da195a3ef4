// test: runs the static checks and all tests. The last line is `N passed, N failed`; the exit status is 0 only if nothing failed.
//
//   checks    tools/check.ts; each check counts as one
//   as-pect   unit tests of the core, in WebAssembly, with debug settings; those of containers, whose kernels the optimizer changes most,
//             also with the flags of the real build, which all of vitest's tests run
//   vitest    the module in a real server, on every CPU level that the machine supports
//
// The checks and as-pect run one after the other beside vitest, whose tests wait for servers now and then. What vitest prints appears at
// once, what the others print when each has ended.
//
// The line is also written to build/test-results/count. The counts are those that the test runners report. A runner that
// crashes or reports nothing counts as one failure.

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { runChecks } from "./check.ts";
import { conclude, type Count, execute, RESULTS, withExitStatus } from "./run.ts";

/** Shows a heading and what belongs to it. */
function show(heading: string, text: string): void { process.stdout.write(`\n> ${heading}\n${text}`); }

/** Runs a program and shows what it prints, at once or (`whole`) when it has ended. Returns the exit status and the output. */
async function run(command: string, args: string[], whole: boolean): Promise<{ status: number; output: string }> {
  const heading = [command.replace(/^.*\//, ""), ...args].join(" ");
  if (!whole) show(heading, "");
  const ended = await execute(command, args, whole ? undefined : (text) => process.stdout.write(text));
  if (whole) show(heading, ended.output);
  return ended;
}

/** Runs the unit tests, or `only` some of them (as-pect.config.js). */
async function asPect(args: string[], only = ""): Promise<Count> {
  const { status, output } = await run("env", [`ONLY=${only}`, "node_modules/.bin/asp", "--no-logo", ...args], true);
  const plain = output.replace(/\x1b\[[0-9;]*m/g, ""), found = /\[Tests\]: (\d+) \/ (\d+)/.exec(plain);
  if (!found) return { passed: 0, failed: 1 };
  const passed = Number(found[1]);
  return withExitStatus({ passed, failed: Number(found[2]) - passed }, status);
}

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

async function vitest(report: string): Promise<Count> {
  rmSync(report, { force: true });
  const { status } = await run("node_modules/.bin/vitest", ["run"], false);
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
  // These files failed although no test in them did: they could not be loaded, or a hook failed.
  const brokenFiles = testResults.filter((file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"));
  return withExitStatus({ passed: numPassedTests, failed: numFailedTests + brokenFiles.length }, status);
}

async function staticChecks(): Promise<Count> {
  const lines: string[] = [];
  const count = await runChecks(1, (line) => lines.push(line));
  show("check", `${lines.join("\n")}\n`);
  return count;
}

async function withoutServers(): Promise<Count[]> {
  return [await staticChecks(), await asPect([]), await asPect(["--as-config", "as-pect.production.asconfig.json"], "container/*")];
}

mkdirSync(RESULTS, { recursive: true });
const counts = (await Promise.all([vitest(`${RESULTS}/vitest.json`), withoutServers()])).flat();
conclude(counts, "count");
