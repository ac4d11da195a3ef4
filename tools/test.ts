// test: runs both suites and ends with one line, `N passed, N failed`. The exit status is 0 only if nothing failed.
//
//   as-pect   the core's units, in WebAssembly, once as written and once with the flags of the real build
//   vitest    the module in a real server, on every CPU level that the machine has
//
// The line is also written to build/test-results/count. Counts are the runners' own. A runner that dies, or reports nothing,
// counts as one failure.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

interface Count {
  passed: number;
  failed: number;
}

/** Runs a program, shows what it prints, and returns that with the exit status. */
async function run(command: string, args: string[]): Promise<{ status: number; printed: string }> {
  console.log(`\n> ${[command.replace(/^.*\//, ""), ...args].join(" ")}`);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    process.stdout.write(text);
  });
  const status = await new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)).on("error", () => resolve(1)));
  return { status, printed };
}

/** A failed run with no failed test in it is a failure all the same. */
function settle(count: Count, status: number): Count {
  return status !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
}

async function asPect(args: string[]): Promise<Count> {
  const { status, printed } = await run("node_modules/.bin/asp", ["--no-logo", ...args]);
  const plain = printed.replace(/\x1b\[[0-9;]*m/g, ""), found = /\[Tests\]: (\d+) \/ (\d+)/.exec(plain);
  if (!found) return { passed: 0, failed: 1 };
  const passed = Number(found[1]);
  return settle({ passed, failed: Number(found[2]) - passed }, status);
}

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

async function vitest(report: string): Promise<Count> {
  rmSync(report, { force: true });
  const { status } = await run("node_modules/.bin/vitest", ["run"]);
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
  // A file that fails outside its tests: it could not be loaded, or a hook failed.
  const brokenFiles = testResults.filter((file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"));
  return settle({ passed: numPassedTests, failed: numFailedTests + brokenFiles.length }, status);
}

mkdirSync("build/test-results", { recursive: true });
const counts = [
  await asPect([]),
  await asPect(["--as-config", "as-pect.production.asconfig.json"]),
  await vitest("build/test-results/vitest.json"),
];
const passed = counts.reduce((sum, count) => sum + count.passed, 0), failed = counts.reduce((sum, count) => sum + count.failed, 0);
const line = `${passed} passed, ${failed} failed`;
writeFileSync("build/test-results/count", `${line}\n`);
console.log(`\n${line}`);
process.exitCode = failed > 0 ? 1 : 0;
