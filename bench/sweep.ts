// Shows the rows of the suite "density": tables with a column for each density, the cells where ours does worst, and charts.

import { drawLines } from "./chart.ts";
import { NATIVE, OURS, SETS } from "./contender.ts";
import { inWords } from "./machine.ts";
import { origin, type Results } from "./results.ts";
import { advantage, type Row } from "./row.ts";
import { DENSITY } from "./suites/density.ts";

/** A row with what its names say. */
interface Cell {
  readonly row: Row;
  /** The shape of the data and the number of ids. */
  readonly shape: string;
  readonly operation: string;
  readonly density: number;
}

const WORST = 10, PANELS = 4;

/** Whether a row is of the suite. */
export const isSwept = ({ data }: Row): boolean => data.startsWith(`${DENSITY}: `);

function cellsOf(rows: readonly Row[]): Cell[] {
  return rows.filter(isSwept).map((row) => {
    const [, operation, density] = /^(.*), at ([\d.]+) %$/.exec(row.what)!;
    return { row, shape: row.data.slice(`${DENSITY}: `.length), operation: operation!, density: Number(density) };
  });
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
const densitiesOf = (cells: readonly Cell[]): number[] => distinct(cells.map(({ density }) => density)).sort((a, b) => a - b);

/** Groups in the order in which they begin. */
const grouped = (cells: readonly Cell[], by: (cell: Cell) => string): [group: string, cells: Cell[]][] =>
  distinct(cells.map(by)).map((group) => [group, cells.filter((cell) => by(cell) === group)]);

const ratio = (value: number): string => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);

/** A line for each shape and operation, of the ratios in its columns. Lines without any are left out. */
function lines(cells: readonly Cell[], other: string, ours: string): [label: string, ratios: string[]][] {
  const densities = densitiesOf(cells);
  return grouped(cells, ({ shape, operation }) => `${shape}: ${operation}`).map(([label, those]): [string, string[]] => [label, densities.map((at) => {
    const cell = those.find(({ density }) => density === at), value = cell && advantage(cell.row, other, ours);
    return value === undefined ? "" : ratio(value);
  })]).filter(([, ratios]) => ratios.some(Boolean));
}

function table(cells: readonly Cell[], other: string, ours: string): string {
  const all = lines(cells, other, ours), width = Math.max(...all.map(([label]) => label.length));
  const line = (label: string, columns: readonly string[]): string => label.padEnd(width) + columns.map((text) => text.padStart(7)).join("");
  const head = line("", densitiesOf(cells).map((density) => `${density} %`));
  return [`${other} / ${ours}`, head, ...all.map(([label, ratios]) => line(label, ratios))].join("\n");
}

/** The worst cells, of which only one is of each operation: cells beside it say the same. */
function worst(cells: readonly Cell[], other: string, ours: string): string {
  const compared = grouped(cells, ({ operation }) => operation).flatMap(([, those]) =>
    those.map(({ row }) => ({ row, value: advantage(row, other, ours) ?? Infinity })).sort((a, b) => a.value - b.value).slice(0, 1));
  const found = compared.filter(({ value }) => value < Infinity).sort((a, b) => a.value - b.value).slice(0, WORST);
  const amounts = ({ unit, values }: Row): string =>
    [other, ours].map((name) => `${name} ${values[name]!.toLocaleString("en", { maximumSignificantDigits: 4 })} ${unit}`).join(", ");
  const line = ({ row, value }: typeof compared[number]): string =>
    `  ${ratio(value).padStart(5)}  ${row.data.slice(DENSITY.length + 2)}: ${row.what} (${amounts(row)})`;
  return [`Worst of ${other} / ${ours}, one cell of each operation`, ...found.map(line)].join("\n");
}

/** Tables of all contenders against ours, for each CPU level that was measured, and the worst cells of each. Empty without such rows. */
export function sweepReport({ machine, rows }: Pick<Results, "machine" | "rows">): string {
  const cells = cellsOf(rows);
  if (cells.length === 0) return "";
  const names = distinct(cells.flatMap(({ row }) => Object.keys(row.values)));
  const ours = names.filter((name) => name === OURS || name.startsWith(`${OURS} `)), others = names.filter((name) => !ours.includes(name));
  const shown = (show: typeof table): string[] => others.flatMap((other) => ours.map((own) => show(cells, other, own)));
  return `${[inWords(machine), ...shown(table), ...shown(worst)].join("\n\n")}\n`;
}

/** What docs/performance.md shows: how many times faster or smaller than native bitmaps, for the first shape. */
export function sweepTable(rows: readonly Row[]): { readonly head: string[]; readonly lines: string[][] } {
  const all = cellsOf(rows), cells = all.filter(({ shape }) => shape === all[0]!.shape);
  return {
    head: [all[0]!.shape, ...densitiesOf(cells).map((density) => `${density} %`)],
    lines: lines(cells, NATIVE, OURS).map(([label, ratios]) => [label.slice(label.indexOf(": ") + 2), ...ratios]),
  };
}

const amount = (value: number, units: readonly string[]): string => {
  const power = value >= 1e6 ? 2 : value >= 1000 ? 1 : 0;
  return `${(value / 1000 ** power).toLocaleString("en", { maximumSignificantDigits: 3 })} ${units[power]}`;
};

/** A chart of each operation, by file name, with a panel for each shape, of the smaller universe and the fewest sources. */
export function sweepCharts(results: Results): Record<string, string> {
  const all = cellsOf(results.rows), universe = all[0]?.shape.split(", ").at(-1) ?? "", drawn: Record<string, string> = {};
  const cells = all.filter(({ shape }) => shape.endsWith(universe));
  for (const [operation, those] of grouped(cells, (cell) => cell.operation.replace(/ of \d+/, ""))) {
    const fewest = those[0]!.operation, shown = those.filter((cell) => cell.operation === fewest), isTime = shown[0]!.row.unit === "µs";
    if (densitiesOf(shown).length < 2) continue;
    const names = distinct([OURS, ...shown.flatMap(({ row }) => Object.keys(row.values))]).slice(0, 5);
    drawn[`density-${operation.toLowerCase().replaceAll(/\W+/g, "-")}.svg`] = drawLines({
      title: `${fewest}, by density`,
      subtitle: `${isTime ? "Server-side time per call" : "Bytes of used_memory"}, ${universe}. Both scales are logarithmic.`,
      xTitle: "% of the ids",
      panels: grouped(shown, ({ shape }) => shape).slice(0, PANELS).map(([shape, line]) => ({
        title: shape.slice(0, -`, ${universe}`.length),
        lines: names.map((name) => ({
          label: name === NATIVE ? "native bitmap" : name === SETS ? "native set" : name,
          points: line.flatMap(({ row: { values }, density }): [number, number][] =>
            (values[name] === undefined ? [] : [[density, values[name]]])),
        })),
      })),
      formatX: (value) => value.toLocaleString("en"),
      formatY: (value) => amount(value, isTime ? ["µs", "ms", "s"] : ["B", "kB", "MB"]),
      footnote: origin(results, shown.map(({ row }) => row)),
    });
  }
  return drawn;
}
