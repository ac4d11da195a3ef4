// The results of a run, and those of a later run of some suites put in their place.

import { inWords, type Machine } from "./machine.ts";
import type { Row } from "./row.ts";

export interface Results {
  readonly machine: Machine;
  /** Of data that was measured later than the rest, alone. */
  readonly later?: Readonly<Record<string, Machine>>;
  readonly contenders: readonly string[];
  readonly rows: readonly Row[];
}

/** The earlier results with the rows of `run` in place of those of the same data; other data keeps its rows. */
export function renewed(earlier: Results, run: Results): Results {
  if (earlier.contenders.join() !== run.contenders.join()) {
    throw new Error(`the results to renew are of ${earlier.contenders.join(", ")}, not of ${run.contenders.join(", ")}`);
  }
  const measured = new Set(run.rows.map(({ data }) => data)), had = new Set(earlier.rows.map(({ data }) => data));
  const of = (data: string): Row[] => run.rows.filter((row) => row.data === data);
  const rows = [...had].flatMap((data) => (measured.has(data) ? of(data) : earlier.rows.filter((row) => row.data === data)));
  return {
    machine: earlier.machine,
    later: { ...earlier.later, ...Object.fromEntries([...measured].map((data) => [data, run.machine])) },
    contenders: run.contenders,
    rows: [...rows, ...run.rows.filter(({ data }) => !had.has(data))],
  };
}

/** Where and when these rows were measured. */
export function origin({ machine, later = {} }: Results, rows: readonly Row[]): string {
  const origins = new Set(rows.map(({ data }) => inWords(later[data] ?? machine)));
  const [first = inWords(machine), ...rest] = origins;
  if (rest.length === 0) return first;
  const dates = new Set(rows.flatMap(({ data }) => (later[data] ? [`${later[data].date}, commit ${later[data].commit}`] : [])));
  return `${inWords(machine)} (some data: ${[...dates].join("; ")})`;
}

/** The results as JSON with a row in each line, so that a difference shows the rows that changed. */
export function written({ rows, ...rest }: Results): string {
  const head = Object.entries(rest).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{\n${head.join("")}"rows": [\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n}\n`;
}
