// Prints rows as text.

import { NATIVE, OURS, OURS_64 } from "./contender.ts";
import { advantage, type Row, type Unit } from "./row.ts";

function amount(value: number | undefined, unit: Unit): string {
  if (value === undefined) return "";
  if (unit === "bytes") return value.toLocaleString("en", { maximumFractionDigits: value < 1000 ? 1 : 0 });
  if (unit === "commands/s") return value.toLocaleString("en", { maximumFractionDigits: 0 });
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 3 : value < 1000 ? 1 : 0 });
}

function ratio(value: number | undefined): string {
  if (value === undefined) return "";
  return `${value.toLocaleString("en", { minimumFractionDigits: value < 10 ? 2 : 0, maximumFractionDigits: value < 10 ? 2 : 0 })}x`;
}

interface Column {
  readonly title: string;
  readonly cell: (row: Row) => string;
}

/** The contenders' figures, then how many times better ours is. */
export function columns(contenders: readonly string[]): Column[] {
  const others = contenders.filter((name) => name !== OURS && name !== OURS_64);
  return [
    ...contenders.map((title): Column => ({ title, cell: (row) => amount(row.values[title], row.unit) })),
    ...others.map((name): Column => ({
      title: `${name}/ours`,
      cell: (row) => ratio(
        advantage(row, name, name.endsWith(" R64") ? OURS_64 : OURS) ?? (name === NATIVE ? advantage(row, name, OURS_64) : undefined),
      ),
    })),
    { title: "R64/R", cell: (row) => ratio(advantage(row, OURS_64, OURS)) },
  ];
}

const LABEL_WIDTH = 44, CELL_WIDTH = 14;

const inColumn = (cell: string, { title }: Column): string => cell.padStart(Math.max(CELL_WIDTH, title.length + 2));

export const heading = (data: string, shown: readonly Column[]): string =>
  `\n${data.padEnd(LABEL_WIDTH)}${shown.map((column) => inColumn(column.title, column)).join("")}`;

export const line = (row: Row, shown: readonly Column[]): string =>
  `  ${`${row.what}, ${row.unit}`.padEnd(LABEL_WIDTH - 2)}${shown.map((column) => inColumn(column.cell(row), column)).join("")}`;
