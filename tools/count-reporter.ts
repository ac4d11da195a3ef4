// count-reporter: a vitest reporter that writes to a file, as JSON, how many tests passed, failed and were skipped. Unlike vitest's own
// report, it has the reasons for skips. Tests that are skipped without a reason are variants that do not exist. They are not counted.

import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import type { Count } from "./run.ts";

/** How many tests passed and failed, and how many were skipped for each reason. */
export interface ServerCount extends Count {
  skipped: Record<string, number>;
}

export class CountReporter implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const count: ServerCount = { passed: 0, failed: 0, skipped: {} };
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") count.passed++;
        else if (result.state === "failed") count.failed++;
        else if (result.state === "skipped" && result.note) count.skipped[result.note] = (count.skipped[result.note] ?? 0) + 1;
      }
      // The file could not be loaded, or a hook failed.
      if (module.state() === "failed" && count.failed === before) count.failed++;
    }
    writeFileSync(this.#file, JSON.stringify(count));
  }
}
