// The machine, date and commit of a benchmark run.

import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** The CPU level that the module has chosen; unknown in older results. */
  readonly level?: string;
  readonly redis: string;
  readonly date: string;
  readonly commit: string;
}

const output = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: "utf8" }).trim();

export function thisMachine(): Machine {
  const redis = /v=(\S+)/.exec(output(process.env.ROAR_SERVER ?? "redis-server", "--version"))?.[1] ?? "unknown";
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    redis,
    date: new Date().toISOString().slice(0, 10),
    commit: output("git", "describe", "--always", "--dirty", "--abbrev=10"),
  };
}

export const inWords = ({ processor, cores, level, redis, date, commit }: Machine): string =>
  `${processor}, ${cores} cores, ${level ? `CPU level ${level}, ` : ""}redis-server ${redis}, ${date}, commit ${commit}`;
