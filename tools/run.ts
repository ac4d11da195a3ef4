// What tools/check.ts, tools/test.ts and tools/test-servers.ts share: programs that they run, and counts that they report.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";

/** How many checks or tests passed and failed. */
export interface Count {
  passed: number;
  failed: number;
}

/** Where reports of test runs are written. */
export const RESULTS = "build/test-results";

/** The exit status of a program. One that cannot be started, or is killed, has status 1. */
export const ending = (child: ReturnType<typeof spawn>): Promise<number> =>
  new Promise((resolve) => child.on("close", (status) => resolve(status ?? 1)).on("error", () => resolve(1)));

/** Runs a program to its end. Its output is returned, and handed to `show` as it comes. */
export async function execute(
  program: string, args: readonly string[], show: (text: string) => void = () => {},
): Promise<{ status: number; output: string }> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const collect = (text: string): void => {
    output += text;
    show(text);
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  child.on("error", ({ message }) => collect(message));
  return { status: await ending(child), output };
}

/** Counts one failure if the run failed although no test in it did. */
export const withExitStatus = <C extends Count>(count: C, status: number): C =>
  (status !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count);

/** Ends with the line `N passed, N failed`, which is also written to a file, and with exit status 0 only if nothing failed. */
export function conclude(counts: readonly Count[], file: string): void {
  const sum = (field: keyof Count): number => counts.reduce((all, count) => all + count[field], 0);
  const line = `${sum("passed")} passed, ${sum("failed")} failed`;
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(`${RESULTS}/${file}`, `${line}\n`);
  console.log(`\n${line}`);
  process.exitCode = sum("failed") > 0 ? 1 : 0;
}
