// Which results become charts.

import { draw } from "./chart.ts";
import { NATIVE, OURS } from "./contender.ts";
import { inWords, type Machine } from "./machine.ts";
import { advantage, type Row } from "./row.ts";

const times = (value: number): string => `${value.toLocaleString("en", { maximumSignificantDigits: value < 100 ? 2 : 3 })}×`;

/** SVG files by name. */
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
  const made = (row: Row): boolean => / Mbit$/.test(row.data) || row.data === "daily actives";
  const speed = (row: Row): boolean => row.unit === "µs" && !/^(every command|random SETBITs)$|client/.test(row.data);
  chart("speed-real.svg", "Speed on real sets", "native's time by redis-roar's, in the server; to the right redis-roar is faster", (row) => speed(row) && !made(row));
  chart("speed-made.svg", "Speed on dense bitmaps and runs", "native's time by redis-roar's, in the server; to the right redis-roar is faster", (row) => speed(row) && made(row));
  chart("memory.svg", "Memory", "native's bytes by redis-roar's, of all that the server has allocated; to the right redis-roar is smaller", (row) => row.unit === "bytes");
  return drawn;
}
