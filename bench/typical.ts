// The tables of typical keys, from the results of a benchmark: all of them in docs/performance.md, and four in README.md.

import { NATIVE, OURS, OURS_64, SETS } from "./contender.ts";
import { origin, type Results } from "./results.ts";
import type { Row } from "./row.ts";
import { MEASURES, TYPICAL, typical } from "./suites/typical.ts";

const START = "<!-- typical keys -->", END = "<!-- /typical keys -->";

/** Two or three digits, and bytes in full up to 10,000. */
function amount(value: number | undefined, unit: string): string {
  if (value === undefined) return "-";
  if (unit === "bytes") {
    if (value < 10_000) return `${value.toLocaleString("en", { maximumFractionDigits: 0 })} B`;
    return value < 1e6 ? `${(value / 1000).toFixed(0)} kB` : `${(value / 1e6).toLocaleString("en", { maximumSignificantDigits: 3 })} MB`;
  }
  return `${value.toLocaleString("en", { maximumSignificantDigits: value < 1 ? 2 : 3 })} µs`;
}

/** The table. The best figure of each row is bold, and so are those within 3 percent of it. */
function table(rows: readonly Row[], peer: string | undefined): string {
  const others = [NATIVE, SETS, ...(peer === undefined ? [] : [peer])];
  const titles: Record<string, string> = { [NATIVE]: "native bitmap", [SETS]: "native set" };
  const lines = typical.flatMap(({ name, wide }) => MEASURES.map((measure) => {
    const row = rows.find(({ data, what }) => data === TYPICAL && what === `${name}: ${measure}`);
    if (!row) throw new Error(`results have no row for ${name}: ${measure}`);
    const names = [wide ? OURS_64 : OURS, ...others.map((other) => (wide && other === peer ? `${other} R64` : other))];
    const values = names.map((one) => row.values[one]), best = Math.min(...values.filter((value) => value !== undefined));
    const cells = values.map((value) => (value !== undefined && value <= best * 1.03 ? `**${amount(value, row.unit)}**` : amount(value, row.unit)));
    return `| ${[measure === MEASURES[0] ? name : "", measure, ...cells].join(" | ")} |`;
  }));
  const head = `| a key | | redis-roar | ${others.map((other) => titles[other] ?? `C module ${other}`).join(" | ")} |`;
  return [head, `|---|---|${"---:|".repeat(others.length + 1)}`, ...lines].join("\n");
}

/** Keys of the short table: a few members, wide ones, and two that are denser. */
const SHORT = [0, 1, 3, 4];

/** A row for each of some keys: what it takes, and how long it takes to count what two of them share. */
function shortTable(rows: readonly Row[]): string {
  const lines = SHORT.map((n) => {
    const { name, wide } = typical[n]!;
    const cells = [MEASURES[0], MEASURES[2]].flatMap((measure) => {
      const { values, unit } = rows.find(({ data, what }) => data === TYPICAL && what === `${name}: ${measure}`)!;
      const figures = [wide ? OURS_64 : OURS, NATIVE, SETS].map((one) => values[one]);
      const best = Math.min(...figures.filter((figure) => figure !== undefined));
      return figures.map((figure) => (figure === best ? `**${amount(figure, unit)}**` : amount(figure, unit)));
    });
    return `| ${[name, ...cells].join(" | ")} |`;
  });
  const head = ["a key", "**memory:** redis-roar", "native bitmap", "native set", "**common members of two, counted:** redis-roar", "native bitmap", "native set"];
  return [`| ${head.join(" | ")} |`, `|---|${"---:|".repeat(head.length - 1)}`, ...lines].join("\n");
}

function between(text: string, made: string): string {
  const from = text.indexOf(START), to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`the document needs ${START} and ${END}`);
  return `${text.slice(0, from)}${START}\n\n${made}\n\n${text.slice(to)}`;
}

/** Which machine and version the figures are of. */
const note = (results: Results, best: string): string => `Time in the server per call, of an ${origin(results, results.rows)}. ${best}`;

/** README.md with the figures of these results in place of those that it has. */
export const withTypical = (readme: string, results: Results): string =>
  between(readme, `${shortTable(results.rows)}\n\n${note(results, "The best figures are bold.")}`);

/** docs/performance.md with the figures of these results in place of those that it has. */
export function withAllTypical(page: string, results: Results): string {
  const { contenders, rows } = results;
  const peer = contenders.find((name) => ![NATIVE, OURS, OURS_64, SETS].includes(name) && !name.endsWith(" R64"));
  return between(page, `${table(rows, peer)}\n\n${note(results, "The best of each row is bold.")}`);
}
