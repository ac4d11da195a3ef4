// The jobs of .github/workflows, and a way to run their steps here: each in a fresh Debian 12 in a chroot (tools/fresh), in a clone of the
// last commit, by the shell that GitHub would take. `make evidence EVIDENCE="ci/* nightly/coverage"` does so and records the results.
//
// Actions that fetch, keep and hand over files are done as they would be. Of the others, and of steps that need Docker or an account, the
// reason why they did not run is the result. Jobs run once, on this machine's processor, and not for each entry of a matrix.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import { execute } from "./run.ts";

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, string | number | boolean>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Job {
  /** `<workflow>/<job>`, such as `ci/clients`. */
  readonly name: string;
  readonly container?: string;
  readonly "timeout-minutes": number;
  readonly steps: readonly Step[];
}

/** What became of a step. */
export interface Outcome {
  /** As titleOf says. */
  readonly step: string;
  /** Absent if it did not run. `output` is then the reason. */
  readonly passed?: boolean;
  readonly output: string;
  readonly minutes: number;
}

const FOLDER = ".github/workflows", FRESH = "build/fresh", ARTIFACTS = join(FRESH, "artifacts");

/** The jobs of all workflows, in the order in which the files have them, without steps that only a failure brings about. */
export const jobs = (): Job[] => readdirSync(FOLDER).sort().flatMap((file) => {
  const workflow = parse(readFileSync(join(FOLDER, file), "utf8")) as { readonly jobs: Readonly<Record<string, Omit<Job, "name">>> };
  return Object.entries(workflow.jobs).map(([name, job]) => ({
    ...job, name: `${basename(file, ".yml")}/${name}`, steps: job.steps.filter((step) => step.if !== "failure()"),
  }));
});

/** A step's command, or the name of its action without version. */
export const titleOf = ({ run, uses = "" }: Step): string => run?.trim() ?? uses.replace(/@.*/, "");

/** What this machine lacks for some commands. */
const LACKS: ReadonlyArray<readonly [command: RegExp, lacks: string]> = [
  [/\bdocker\b|\bmake images\b/, "Docker"],
  [/\bgh \w/, "GitHub"],
  [/\bnpm publish\b/, "an account of the npm registry"],
];

/** Values of GitHub's expressions that commands use here. */
const EXPRESSIONS: Readonly<Record<string, string>> = { "steps.pages.outputs.base_path": "/redis-roar" };

const evaluate = (text: string): string => text.replace(/\$\{\{ *([^}]*?) *\}\}/g, (_, name: string) => {
  const value = EXPRESSIONS[name];
  if (value === undefined) throw new Error(`no value for the expression ${name}`);
  return value;
});

/** How GitHub starts the shell of a step: sh in a container, bash elsewhere. */
function shellOf({ shell }: Step, { container }: Job): string[] {
  if (shell === "bash") return ["bash", "--noprofile", "--norc", "-eo", "pipefail"];
  return container === undefined ? ["bash", "-e"] : ["sh", "-e"];
}

const version = (): string => (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version;

/** A job's machine, build/fresh/<workflow>-<job>, which remains if a step fails. */
class Machine {
  private readonly job: Job;
  private readonly show: (text: string) => void;
  private readonly name: string;
  private readonly folder: string;
  private readonly clone: string;

  constructor(job: Job, show: (text: string) => void) {
    this.job = job;
    this.show = show;
    this.name = job.name.replace("/", "-");
    this.folder = join(FRESH, this.name);
    this.clone = join(this.folder, "root/redis-roar");
  }

  async make(): Promise<void> {
    for (const [program, ...args] of [["tools/setup", "fresh"], ["tools/fresh", "--new", this.name]] as const) {
      const { status, output } = await execute(program, args);
      if (status !== 0) throw new Error(`no machine could be made: ${output}`);
    }
    mkdirSync(this.clone);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** Runs a step's command, if it has one, or does what its action does. Answers an outcome without step and minutes. */
  async take(step: Step): Promise<Pick<Outcome, "passed" | "output">> {
    if (step.run !== undefined) {
      const lacks = LACKS.find(([command]) => command.test(step.run!))?.[1];
      if (lacks !== undefined) return { output: `needs ${lacks}` };
      const { status, output } = await this.run(step, step.run);
      return { passed: status === 0, output };
    }
    const act = this.actions[titleOf(step)];
    if (!act) return { output: "needs GitHub" };
    const failure = act(step.with ?? {});
    return { passed: failure === undefined, output: failure ?? "done" };
  }

  private run(step: Step, command: string): Promise<{ status: number; output: string }> {
    // A release names its maintainer, whom package.json does not name yet.
    if (/\bmake release\b/.test(command)) this.nameMaintainer();
    const environment = Object.entries({
      CI: "true", GITHUB_WORKSPACE: "/root/redis-roar", GITHUB_REF_NAME: `v${version()}`, GITHUB_STEP_SUMMARY: "/root/summary", ...step.env,
    });
    const limit = String(this.job["timeout-minutes"] * 60), words = environment.map(([name, value]) => `${name}=${evaluate(value)}`);
    return execute("tools/fresh", ["--in", this.name, limit, "env", ...words, ...shellOf(step, this.job), "-c", evaluate(command)], this.show);
  }

  private nameMaintainer(): void {
    const file = join(this.clone, "package.json");
    writeFileSync(file, readFileSync(file, "utf8").replace(/"author": "([^"<]*)"/, "\"author\": \"$1 <authors@example.org>\""));
  }

  /** What some actions do. Each answers why it failed, or nothing. */
  private readonly actions: Readonly<Record<string, (options: NonNullable<Step["with"]>) => string | undefined>> = {
    // A clone of one commit, unless the step asks for all.
    "actions/checkout": (options) => {
      const depth = options["fetch-depth"] === 0 ? [] : ["--depth", "1"];
      rmSync(this.clone, { recursive: true });
      execFileSync("git", ["clone", "--quiet", ...depth, `file://${process.cwd()}`, this.clone]);
      return undefined;
    },
    "actions/upload-artifact": ({ name, path }) => this.keep(String(name), String(path)),
    "actions/upload-pages-artifact": ({ path }) => this.keep("github-pages", String(path)),
    "actions/download-artifact": ({ name, path }) => {
      const from = join(ARTIFACTS, String(name));
      if (!existsSync(from)) return `no job has kept ${name}`;
      cpSync(from, join(this.clone, String(path)), { recursive: true });
      return undefined;
    },
  };

  private keep(name: string, path: string): string | undefined {
    const from = join(this.clone, path), to = join(ARTIFACTS, name);
    if (!existsSync(from)) return `there is no ${path}`;
    rmSync(to, { recursive: true, force: true });
    cpSync(from, statSync(from).isDirectory() ? to : join(to, basename(path)), { recursive: true });
    return undefined;
  }
}

/** Runs the steps of a job, up to the first that fails, and hands on their output as it comes. */
export async function runJob(job: Job, show: (text: string) => void): Promise<Outcome[]> {
  const machine = new Machine(job, show), outcomes: Outcome[] = [];
  await machine.make();
  for (const step of job.steps) {
    show(`\n${job.name}: ${titleOf(step)}\n`);
    const start = performance.now(), outcome = await machine.take(step);
    outcomes.push({ step: titleOf(step), ...outcome, minutes: Math.ceil((performance.now() - start) / 60_000) });
    if (outcome.passed === false) return outcomes;
  }
  machine.remove();
  return outcomes;
}
