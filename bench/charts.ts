// Selects the results that are shown as charts.

import { draw, drawLines } from "./chart.ts";
import { NATIVE, OURS, OURS_64, SETS } from "./contender.ts";
import { origin, type Results } from "./results.ts";
import { advantage, type Row } from "./row.ts";
import { pointOf } from "./suites/longtail.ts";
import { TYPICAL } from "./suites/typical.ts";
import { isSwept, sweepCharts } from "./sweep.ts";

const times = (value: number): string => `${value.toLocaleString("en", { maximumSignificantDigits: value < 100 ? 2 : 3 })}×`;

/** The charts, as SVG by file name. */
export function charts(results: Results): Record<string, string> {
  const { rows } = results, footnote = (belongs: (row: Row) => boolean): string => origin(results, rows.filter(belongs));
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
    if (groups.length > 0) drawn[file] = draw({ title, subtitle, groups, format: times, origin: 1, footnote: footnote(belongs) });
  };
  const isGenerated = (row: Row): boolean => / Mbit$/.test(row.data) || row.data === "daily actives";
  const isTime = (row: Row): boolean => row.unit === "µs" && !/^(every command|random SETBITs|typical keys)$|^growth|client|^questions|^long tail|^density/.test(row.data);
  const speedup = "Speedup over native bitmaps (server-side time per call). Bars to the right: redis-roar is faster.";
  const saving = "Memory of native bitmaps divided by that of redis-roar (bytes allocated). Bars to the right: redis-roar is smaller.";
  chart("speed-real.svg", "Speed on real data sets", speedup, (row) => isTime(row) && !isGenerated(row));
  chart("speed-made.svg", "Speed on dense bitmaps and runs", speedup, (row) => isTime(row) && isGenerated(row));
  chart("memory.svg", "Memory", saving, (row) => row.unit === "bytes" && !row.data.startsWith("long tail") && row.data !== TYPICAL && !isSwept(row));
  const tail = drawTail(rows, footnote((row) => pointOf(row) !== undefined));
  if (tail) drawn["long-tail.svg"] = tail;
  return { ...drawn, ...sweepCharts(results) };
}

/** Memory of a key by the number of its members, if there are such rows. */
function drawTail(rows: readonly Row[], footnote: string): string | undefined {
  const points = rows.flatMap((row) => ({ row, point: pointOf(row) })).filter(({ point }) => point !== undefined);
  const first = points[0];
  if (!first) return undefined;
  const others = Object.keys(first.row.values).filter((name) => ![OURS, OURS_64, SETS, NATIVE].includes(name) && !name.endsWith(" R64"));
  const names = [OURS, SETS, ...others.slice(0, 1), NATIVE];
  const named = (name: string): string => (name === SETS ? "native set" : name === NATIVE ? "native bitmap" : name);
  const panels = ["1 million ids", "100 million ids"].map((universe) => ({
    title: `members among ${universe}`,
    lines: names.map((name) => ({
      label: named(name),
      points: points.flatMap(({ row, point }): [number, number][] => {
        const value = row.values[name];
        return point!.universe === universe && value !== undefined ? [[point!.members, value]] : [];
      }),
    })),
  }));
  return drawLines({
    title: "Memory of one key with few members among many ids",
    subtitle: "Bytes of used_memory for each key, with its name; members were set one at a time, in random order. Both scales are logarithmic.",
    panels, xTitle: "members of the key", footnote,
    formatX: (value) => value.toLocaleString("en"),
    formatY: (value) => (value < 1000 ? `${value} B` : value < 1e6 ? `${value / 1000} kB` : `${value / 1e6} MB`),
  });
}
