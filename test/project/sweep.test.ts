// Tests of the benchmark over densities. Contenders that compute different things, or mixed up columns, would mislead unnoticed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Contender, NATIVE, OURS, SETS } from "../../bench/contender.ts";
import { membersOf, randomRuns } from "../../bench/generators.ts";
import type { Results } from "../../bench/results.ts";
import type { Row } from "../../bench/row.ts";
import { bitmapAt, loadAll, operations } from "../../bench/suites/density.ts";
import { keyOf } from "../../bench/suites/many.ts";
import { isSwept, sweepCharts, sweepReport, sweepTable } from "../../bench/sweep.ts";
import { withTables } from "../../bench/tables.ts";
import type { Reply } from "../support/resp.ts";
import { projectRoot } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";
import { range } from "../support/family.ts";

const IDS = 200_000, SOURCES = [2, 3, 7];

describe("operations", () => {
  const server = useServer();
  const has = new Set(["bitopcard", "query", "contains", "jaccard", "frombitmap"].map((name) => `r.${name}`));
  const contender = (name: string, prefix: "" | "R."): Contender => new Contender(name, prefix, server, has);

  /** All have the last id, up to which NOT complements. */
  const bitmaps = range(0, 7).map((i) => bitmapAt(IDS, { length: 3 }, 60, i));
  for (const bitmap of bitmaps) bitmap[bitmap.length - 1]! |= 1;
  const members = membersOf(bitmaps[0]!);
  const others = range(0, IDS).filter((id) => !members.includes(id)).slice(0, 20), known = { members: members.slice(0, 20), others };

  it.each(byName(operations(SOURCES).map((operation) => ({ name: operation.what, operation }))))("%s: all contenders answer the same", async (_, { operation }) => {
    const all = [contender(OURS, "R."), contender(NATIVE, ""), contender(SETS, "")], answers: [string, Reply[]][] = [];
    await loadAll(all, bitmaps);
    for (const one of all) {
      const commands = operation.commands(one, range(0, operation.of).map((i) => keyOf(one, "key", i)), known);
      if (commands) answers.push([one.name, await one.run(commands)]);
    }
    const [[, ours], ...rest] = answers as [[string, Reply[]], ...[string, Reply[]][]];
    for (const [name, theirs] of rest) {
      if (operation.what.startsWith("SETBIT") && name === SETS) expect(theirs, name).toEqual(ours.map(() => 1));
      else if (operation.each) expect(theirs, name).toEqual(ours);
      else if (operation.what.startsWith("CONTAINS")) expect(theirs.at(-1) === theirs.at(-2), name).toBe(ours[0] === 1);
      else if (operation.what === "JACCARD") expect(Number(theirs[1]) / Number(theirs[3]), name).toBeCloseTo(Number(ours[0]), 6);
      else expect(theirs.at(-1), name).toBe(ours[0]);
    }
    if (/counted|BITOPCARD/.test(operation.what)) expect(Number(ours[0])).toBeGreaterThan(0);
    if (!/ of 7,/.test(operation.what)) expect(rest.map(([name]) => name)).toContain(NATIVE);
  });
});

it.each([[1, 0.001], [1, 0.06], [8, 0.3], [2, 0.99]])("runs of %i have the density %f", (length, share) => {
  const bits = 2 ** 20, members = membersOf(randomRuns(5, bits, length, share));
  const deviation = Math.sqrt(length * bits * share * (1 - share));
  expect(Math.abs(members.length - bits * share)).toBeLessThan(6 * deviation + length);
  const begins = members.filter((member, i) => member !== (members[i - 1] ?? -2) + 1);
  if (length === 8 && share < 0.5) expect(members.length / begins.length).toBeGreaterThanOrEqual(8);
});

describe("results", () => {
  const row = (what: string, density: number, native: number, more: Record<string, number> = {}): Row =>
    ({ data: "density: random, 5 million ids", what: `${what}, at ${density} %`, unit: "µs", values: { [NATIVE]: native, [OURS]: 2, ...more } });
  const rows = [row("AND of 2, counted", 1.5, 3), row("AND of 2, counted", 0.1, 20, { peer: 1 }), row("NOT, counted", 50, 1), row("NOT, counted", 1.5, 9)];
  const machine = { processor: "fast", cores: 2, memoryGiB: 4, level: "v4", redis: "7.0.15", date: "2026-01-01", commit: "aaa" };
  const results: Results = { machine, contenders: [NATIVE, OURS], rows: [...rows, { ...rows[0]!, data: "census1881", what: "AND of 2" }] };

  it("are tables with a column for each density, and the worst cell of each operation", () => {
    expect(sweepTable(results.rows)).toEqual({
      head: ["random, 5 million ids", "0.1 %", "1.5 %", "50 %"],
      lines: [["AND of 2, counted", "10.0", "1.50", ""], ["NOT, counted", "", "4.50", "0.50"]],
    });
    const report = sweepReport(results);
    expect(report).toMatch(/native \/ redis-roar\n +0\.1 % +1\.5 % +50 %\nrandom, 5 million ids: AND of 2, counted +10\.0 +1\.50/);
    expect(report).toContain([
      "Worst of native / redis-roar, one cell of each operation",
      "   0.50  random, 5 million ids: NOT, counted, at 50 % (native 1 µs, redis-roar 2 µs)",
      "   1.50  random, 5 million ids: AND of 2, counted, at 1.5 % (native 3 µs, redis-roar 2 µs)",
    ].join("\n"));
    expect(report).toContain("Worst of peer / redis-roar, one cell of each operation\n   0.50  random, 5 million ids: AND of 2, counted, at 0.1 %");
    expect(sweepReport({ machine, rows: results.rows.slice(-1) })).toBe("");
  });

  it("are listed in docs/performance.md, and do not change its means", () => {
    const [page, recorded] = ["docs/performance.md", "docs/bench/results.json"].map((file) => readFileSync(join(projectRoot, file), "utf8"));
    const whole = JSON.parse(recorded!) as Results, others = whole.rows.filter((one) => !isSwept(one));
    const shown = withTables(page!, { ...whole, rows: [...others, ...rows] });
    expect(shown).toContain("| random, 5 million ids | 0.1 % | 1.5 % | 50 % |\n| --- | ---: | ---: | ---: |\n| AND of 2, counted | 10.0 | 1.50 |  |");
    const means = /<!-- bench: means -->[^]*?<!-- \/bench -->/;
    expect(means.exec(shown)![0]).toBe(means.exec(withTables(page!, { ...whole, rows: others }))![0]);
  });

  it("are charts of the operations that were measured at several densities", () => {
    const charts = sweepCharts(results);
    expect(Object.keys(charts)).toEqual(["density-and-counted.svg", "density-not-counted.svg"]);
    expect(charts["density-and-counted.svg"]).toContain("fast, 2 cores, CPU level v4, redis-server 7.0.15");
    expect(charts["density-and-counted.svg"]).not.toContain("NaN");
    expect(sweepCharts({ ...results, rows: rows.slice(0, 1) })).toEqual({});
  });
});
