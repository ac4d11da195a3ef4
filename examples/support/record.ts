// The record of a run: result.json, chart.svg, and the section of README.md that shows the figures.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inWords, type Machine } from "../../bench/machine.ts";
import { built, projectRoot } from "../../test/support/server.ts";

export type Cell = string | number;

/** A table. */
export interface Figures {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Result {
  readonly example: string;
  readonly scale: number;
  readonly seed: number;
  /** Answers that were compared with plain Sets or SQL. */
  readonly checks: number;
  readonly seconds: number;
  readonly machine: Machine;
  readonly tables: readonly Figures[];
}

const START = "<!-- run -->", END = "<!-- /run -->";

const text = (cell: Cell): string =>
  typeof cell === "string" ? cell : cell.toLocaleString("en", Math.abs(cell) < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 });

/** A table in Markdown. */
export function inMarkdown({ title, head, rows }: Figures): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [`${title}:`, "", line(head), `|${head.map((_, i) => (i === 0 ? "---|" : "---:|")).join("")}`, ...rows.map((row) => line(row.map(text)))].join("\n");
}

/** README.md of an example with the figures of a run in place of those that it has. */
export function withFigures(readme: string, { scale, seed, checks, seconds, machine, tables }: Result): string {
  const from = readme.indexOf(START), to = readme.indexOf(END);
  if (from < 0 || to < from) throw new Error(`README.md needs ${START} and ${END}`);
  const run = `SCALE=${scale}, SEED=${seed}: ${checks.toLocaleString("en")} answers checked, ${seconds} seconds. ${inWords(machine)}.`;
  const parts = [...tables.map(inMarkdown), "![Chart of this run](chart.svg)", `${run} All figures are in [result.json](result.json).`];
  return `${readme.slice(0, from)}${START}\n\n${parts.join("\n\n")}\n\n${readme.slice(to)}`;
}

/** The folder of an example. */
export const folderOf = (example: string): string => join(projectRoot, "examples", example);

/** Writes the record of a run, with RECORD=1 beside the example. Returns the folder. */
export function store(result: Result, svg: string): string {
  const recorded = process.env.RECORD === "1";
  const folder = recorded ? folderOf(result.example) : built(`examples/${result.example}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(folder, "chart.svg"), svg);
  const readme = join(folder, "README.md");
  if (recorded) writeFileSync(readme, withFigures(readFileSync(readme, "utf8"), result));
  return folder.slice(projectRoot.length);
}
