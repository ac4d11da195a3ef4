// Selects the results that are shown as charts.

import { draw } from "./chart.ts";
import { NATIVE, OURS } from "./contender.ts";
import { inWords, type Machine } from "./machine.ts";
import { advantage, type Row } from "./row.ts";

const times = (value: number): string => `${value.toLocaleString("en", { maximumSignificantDigits: value < 100 ? 2 : 3 })}×`;

/** The charts, as SVG by file name. */
export function charts(rows: readonly Row[], machine: Machine): Record<string, string> {
  const footnote = inWords(machine);
  const groupsOf = (belongs: (row: Row) => boolean, label: (row: Row) => string) =>
    [...new Set(rows.filter(belongs).map((row) => row.data))].map((data) => ({
      title: data,
      bars: rows.filter((row) => row.data === data && belongs(row)).flatMap((row) => {
        const value = advantage(row, NATIVE, OURS);
        return value === undefined ? [] : [{ label: label(row), value }];
      }),
    })).filter(({ bars }) => bars.length > 0);
  const drawn: Record<string, string> = {};
  const chart = (file: string, title: string, subtitle: string, belongs: (row: Row) => boolean): void => {
    const groups = groupsOf(belongs, (row) => row.what);
    if (groups.length > 0) drawn[file] = draw({ title, subtitle, groups, format: times, origin: 1, footnote });
  };
  const isGenerated = (row: Row): boolean => / Mbit$/.test(row.data) || row.data === "daily actives";
  const isTime = (row: Row): boolean => row.unit === "µs" && !/^(every command|random SETBITs)$|client|^questions/.test(row.data);
  const speedup = "Speedup over native bitmaps (server-side time per call). Bars to the right: redis-roar is faster.";
  const saving = "Memory of native bitmaps divided by that of redis-roar (bytes allocated). Bars to the right: redis-roar is smaller.";
  chart("speed-real.svg", "Speed on real data sets", speedup, (row) => isTime(row) && !isGenerated(row));
  chart("speed-made.svg", "Speed on dense bitmaps and runs", speedup, (row) => isTime(row) && isGenerated(row));
  chart("memory.svg", "Memory", saving, (row) => row.unit === "bytes");
  return drawn;
}
