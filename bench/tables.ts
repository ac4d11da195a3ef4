// The tables of docs/performance.md, from the results of a whole benchmark.

import { NATIVE, OURS, OURS_64, SETS } from "./contender.ts";
import { origin, type Results } from "./results.ts";
import { advantage, type Row } from "./row.ts";
import { COSTS, DESCRIPTION, MAIN_THREAD } from "./suites/costs.ts";
import { FELT } from "./suites/felt.ts";
import { GROWTH } from "./suites/growth.ts";
import { INTEGERS } from "./suites/integers.ts";
import { NAMES } from "./suites/names.ts";
import { OPERANDS_MOST, worstQuestions } from "./suites/worst.ts";
import { isSwept, sweepTable } from "./sweep.ts";

/** What the names of data begin or end with. */
const MANY = "one against many: ", SITE = " keys of a site";

type Figure = number | undefined;

const grouped = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 0 });
const digits = (value: number, count: number): string => value.toLocaleString("en", { maximumSignificantDigits: count });
const time = (microseconds: number): string =>
  microseconds < 1000 ? `${digits(microseconds, 3)} µs` : `${digits(microseconds / 1000, 3)} ms`;

/** Columns of which one or several on the left are text. */
function markdown(head: readonly string[], lines: readonly (readonly string[])[], texts = 1): string {
  const rule = head.map((_, i) => (i < texts ? "---" : "---:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The first of the peers that the results are from. */
function peerOf({ contenders }: Results): string | undefined {
  return contenders.find((name) => ![NATIVE, OURS, OURS_64, SETS].includes(name) && !name.endsWith(" R64"));
}

function find({ rows }: Results, data: string, what: string): Row {
  const row = rows.find((one) => one.data === data && one.what === what);
  if (!row) throw new Error(`results have no row "${what}" of ${data}`);
  return row;
}

/** In how many rows, and how many times better than the other contender in the geometric mean. */
function mean(rows: readonly Row[], other: string): [rows: number, times: number] {
  const ratios = rows.map((row) => advantage(row, other, OURS)).filter((ratio) => ratio !== undefined);
  return [ratios.length, Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)];
}

function means(results: Results): string {
  const peer = peerOf(results), rows = { time: ["µs", "ms"], memory: ["bytes"] };
  const averaged = results.rows.filter((row) => !isSwept(row) && !row.data.startsWith(GROWTH));
  const lines = [[NATIVE, "native bitmaps"], [SETS, "sets"], ...(peer === undefined ? [] : [[peer, `C module ${peer}`]])].map(([other, title]) => [
    title!,
    ...Object.values(rows).flatMap((units) => {
      const [count, times] = mean(averaged.filter((row) => units.includes(row.unit)), other!);
      return count ? [`${digits(times, 3)} x`, grouped(count)] : ["-", "0"];
    }),
  ]);
  return markdown(["compared with", "faster, in the mean", "of rows", "smaller, in the mean", "of rows"], lines);
}

const SOURCES = { lone: "60,000 lone members", arrays: "30 containers of 3,000", small: "n keys of 20 members" } as const;

function worst(results: Results): string {
  const lines = worstQuestions.map(({ what, operands, sources }) => {
    const rows = [operands, OPERANDS_MOST * operands].map((n) => `${grouped(n)} times: ${what}`);
    const took = rows.map((name) => time(find(results, "worst", name).values[OURS]!));
    const each = rows.map((name) => digits(find(results, "worst", `${name}, for each byte`).values[OURS]!, 2));
    const read = [...new Set(sources(operands))].map((source) => SOURCES[source]).join(", ");
    return [`\`${what.replaceAll("|", "\\|")}\``, read, grouped(operands), ...took, ...each];
  });
  return markdown(["question", "sources", "n", "time", "with 10 n", "ns for each byte", "with 10 n"], lines, 2);
}

/** The calls, the longest wait first. */
function costs(results: Results): string {
  const wait = (row: Row): number => row.values[OURS]!, cell = (value: number): string => digits(value, value < 10 ? 2 : 3);
  const lines = results.rows.filter(({ data, what }) => data === COSTS && !what.endsWith(MAIN_THREAD))
    .sort((a, b) => wait(b) - wait(a)).map((row) => {
      const [, call, bytes, data, shape] = DESCRIPTION.exec(row.what)!;
      const main = wait(find(results, COSTS, row.what + MAIN_THREAD));
      return [`\`${call!.replaceAll("|", "\\|")}\``, shape!, grouped(Number(bytes)), grouped(Number(data)), cell(wait(row)), cell(main)];
    });
  return markdown(["call", "on", "bytes of the call", "of the keys", "PING waited, ms", "main thread, ms"], lines, 2);
}

function felt(results: Results): string {
  const peer = peerOf(results), others = [NATIVE, ...(peer === undefined ? [] : [peer]), OURS];
  const cell = (value: Figure): string => (value === undefined ? "" : digits(value, value < 10 ? 2 : 3));
  const lines = results.rows.filter(({ data }) => data === FELT)
    .map(({ what, values }) => [what, ...others.map((name) => cell(values[name]))]);
  return markdown(["milliseconds", "native bitmaps", ...(peer === undefined ? [] : [`C module ${peer}`]), OURS], lines);
}

/** Milliseconds in the server, and in brackets those that the client waits. */
function many(results: Results): string {
  const peer = peerOf(results), cell = (value: Figure): string => (value === undefined ? "" : digits(value, value < 10 ? 2 : 3));
  const both = (data: string, what: string, name: string): string =>
    `${cell(find(results, data, what).values[name])} (${cell(find(results, data, `${what}, client`).values[name])})`;
  const lines = results.rows.filter(({ data, what }) => data.startsWith(MANY) && !what.includes(","))
    .map(({ data, what }) => [
      `${what}, ${data.slice(MANY.length)}`, ...[NATIVE, SETS, ...(peer === undefined ? [] : [peer])].map((name) => both(data, what, name)),
      both(data, `${what}, by pairs`, OURS), both(data, what, OURS), cell(find(results, data, `${what}, without threads`).values[OURS]),
    ]);
  const module = peer === undefined ? [] : [`C module ${peer}`];
  return markdown(["milliseconds", "native bitmaps", "sets", ...module, "redis-roar, by pairs", OURS, "without threads"], lines);
}

function site({ rows }: Results): string {
  const lines = rows.filter(({ data }) => data.endsWith(SITE)).map(({ data, values }) => {
    const ours = values[OURS]!;
    const others = Object.entries(values).filter(([name]) => name !== OURS && name !== OURS_64);
    const cells = others.map(([name, bytes]) => `${name}: ${grouped(bytes)}, ${digits(bytes / ours, 3)} x`);
    return [data, grouped(ours), cells.join("<br>")];
  });
  return markdown(["keys", "bytes, redis-roar", "others"], lines, 1);
}

function signIns(results: Results, data: string): string {
  const peer = peerOf(results), others = [NATIVE, OURS, ...(peer === undefined ? [] : [peer])];
  const lines = results.rows.filter((row) => row.data === data)
    .map(({ what, values }) => [what, ...others.map((name) => grouped(values[name]!))]);
  return markdown([data, "native", "`R.*`", ...(peer === undefined ? [] : [`C module ${peer}`])], lines);
}

/** A table for each data set whose name begins so, with a column for each contender that has figures there. */
function beside({ rows }: Results, begins: string): string {
  const shown = rows.filter(({ data }) => data.startsWith(begins));
  return [...new Set(shown.map(({ data }) => data))].map((data) => {
    const own = shown.filter((row) => row.data === data), names = [...new Set(own.flatMap(({ values }) => Object.keys(values)))];
    const cell = (value: Figure, unit: Row["unit"]): string => {
      if (value === undefined) return "";
      if (unit === "µs") return time(value);
      return unit === "bytes" ? digits(value, 3) : grouped(value);
    };
    const titled = (what: string, unit: Row["unit"]): string => (unit === "µs" ? what : `${what}, ${unit}`);
    const lines = own.map(({ what, unit, values }) => [titled(what, unit), ...names.map((name) => cell(values[name], unit))]);
    return markdown([data, ...names], lines);
  }).join("\n\n");
}

function density({ rows }: Results): string {
  const { head, lines } = sweepTable(rows);
  return markdown(head, lines);
}

/** docs/performance.md with the figures of these results, which are whole, in place of those that it has. */
export function withTables(page: string, results: Results): string {
  const tables: Readonly<Record<string, string>> = {
    means: means(results),
    worst: worst(results),
    costs: costs(results),
    felt: felt(results),
    many: many(results),
    site: site(results),
    ...(results.rows.some(isSwept) ? { density: density(results) } : {}),
    growth: beside(results, GROWTH),
    integers: beside(results, INTEGERS),
    names: beside(results, NAMES),
    "sign-ins": ["sign-ins of a year", "sign-ins of five years"].map((data) => signIns(results, data)).join("\n\n"),
    machine: `The figures of this section are from a run of \`make bench\` on an ${origin(results, results.rows)}.`,
  };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const start = `<!-- bench: ${name} -->`, from = text.indexOf(start), to = text.indexOf("<!-- /bench -->", from);
    if (from < 0 || to < 0) throw new Error(`docs/performance.md needs ${start} and an end`);
    return `${text.slice(0, from)}${start}\n\n${table}\n\n${text.slice(to)}`;
  }, page);
}
