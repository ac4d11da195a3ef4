import { readFileSync } from "node:fs";
import { arch } from "node:os";
import { defineConfig } from "vitest/config";
import { CountReporter } from "./tools/count-reporter.ts";

// The suite runs once per CPU level that the machine supports, each time with the build of the core for that level. All files run on the
// best level. On the others, only commands and models do, without what does not depend on the core (RESP3, refusals, declarations), and
// random sequences are shorter.
//
//   ROAR_CPU=v3                runs one level; "best" runs the best one
//   ROAR_SKIP="build memory"   leaves files out
//   ROAR_COUNT=file            writes counts to a file, see tools/count-reporter.ts

const needed = {
  v2: ["sse4_2", "popcnt"],
  v3: ["avx2", "bmi2"],
  v4: ["avx512f", "avx512bw", "avx512vl", "avx512_vpopcntdq", "avx512_bitalg"],
};

function levels(): string[] {
  const wanted = process.env.ROAR_CPU;
  if (wanted && wanted !== "best") return [wanted];
  if (arch() !== "x64") return [""];
  const flags = new Set(/^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1]?.trim().split(" "));
  const missing = Object.entries(needed).findIndex(([, names]) => names.some((name) => !flags.has(name)));
  const has = Object.keys(needed).slice(0, missing < 0 ? undefined : missing);
  return has.length > 0 ? has.slice(wanted ? -1 : 0) : [""];
}

const files = (names: string[]): string[] => names.map((name) => `test/*/${name}.test.ts`);
const skipped = files(process.env.ROAR_SKIP?.split(" ") ?? []);
/** What depends on the code of a level. */
const ofEachLevel = [
  "test/{commands,model}/*.test.ts", "test/durability/{payloads,shrinking}.test.ts", "test/safety/{recovery,sandbox}.test.ts", "test/server/load.test.ts",
];
/** Of these, what takes long, or depends only on the host. */
const once = files(["census", "client", "corners", "numbers", "questions", "replies", "samples", "table"]);
/** Generous, because a busy machine is several times slower. */
const PATIENCE_MS = 180_000;

const best = levels().at(-1);

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    reporters: ["default", process.env.ROAR_COUNT
      ? new CountReporter(process.env.ROAR_COUNT)
      : ["json", { outputFile: "build/test-results/vitest.json" }]],
    projects: levels().map((level) => ({
      test: {
        name: level || "default",
        isolate: false, // Files of a level share two processes: to start and fill one takes longer than most files.
        include: level === best ? ["test/**/*.test.ts"] : ofEachLevel,
        exclude: level === best ? skipped : [...skipped, ...once],
        env: { ...(level && { ROAR_CPU: level }), ...(level !== best && { ROAR_BRIEF: "1", ROAR_AGAIN: "1" }) },
        testTimeout: PATIENCE_MS,
        hookTimeout: PATIENCE_MS,
      },
    })),
  },
});
