// test: runs the static checks and all tests. The last line is `N passed, N failed`; the exit status is 0 only if nothing failed.
//
//   checks    tools/check.ts; each check counts as one
//   as-pect   unit tests of the core, in WebAssembly: once with debug settings, once with the flags of the real build
//   vitest    the module in a real server, on every CPU level that the machine supports
//
// The checks and as-pect run one after the other beside vitest, whose tests wait for servers now and then. What vitest prints appears at
// once, what the others print when each has ended.
//
// The line is also written to build/test-results/count. The counts are those that the test runners report. A runner that
// crashes or reports nothing counts as one failure.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Count, runChecks } from "./check.ts";

/** Shows a heading and what belongs to it. */
function show(heading: string, text: string): void { process.stdout.write(`\n> ${heading}\n${text}`); }

/** Runs a program and shows what it prints, at once or (`whole`) when it has ended. Returns the exit status and the output. */
async function run(command: string, args: string[], whole: boolean): Promise<{ status: number; printed: string }> {
  const heading = [command.replace(/^.*\//, ""), ...args].join(" ");
  if (!whole) show(heading, "");
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  const collect = (text: string): void => {
    printed += text;
    if (!whole) process.stdout.write(text);
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  const status = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)).on("error", () => resolve(1)));
  if (whole) show(heading, printed);
  return { status, printed };
}

/** Counts one failure if the run failed although no test in it did. */
function withExitStatus(count: Count, status: number): Count {
  return status !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
}

async function asPect(args: string[]): Promise<Count> {
  const { status, printed } = await run("node_modules/.bin/asp", ["--no-logo", ...args], true);
  const plain = printed.replace(/\x1b\[[0-9;]*m/g, ""), found = /\[Tests\]: (\d+) \/ (\d+)/.exec(plain);
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
  return [await staticChecks(), await asPect([]), await asPect(["--as-config", "as-pect.production.asconfig.json"])];
}

mkdirSync("build/test-results", { recursive: true });
const counts = (await Promise.all([vitest("build/test-results/vitest.json"), withoutServers()])).flat();
const passed = counts.reduce((sum, count) => sum + count.passed, 0), failed = counts.reduce((sum, count) => sum + count.failed, 0);
const line = `${passed} passed, ${failed} failed`;
writeFileSync("build/test-results/count", `${line}\n`);
console.log(`\n${line}`);
process.exitCode = failed > 0 ? 1 : 0;
