// Targets: how many times better than native bitmaps ours should at least be, and how long one call may hold up other clients. The
// benchmark lists rows that miss their target but does not fail.

import { NATIVE, OURS } from "./contender.ts";
import { advantage, type Row } from "./row.ts";
import { BOUND, COSTS, MAIN_THREAD } from "./suites/costs.ts";

interface Target {
  readonly data: RegExp;
  readonly what: string;
  readonly atLeast: number;
}

const target = (data: RegExp, ...rows: [what: string, atLeast: number][]): Target[] =>
  rows.map(([what, atLeast]) => ({ data, what, atLeast }));

const targets: readonly Target[] = [
  ...target(/^census1881$/, ["AND of 2", 160], ["OR of 2", 60], ["XOR of 2", 45], ["NOT", 5], ["OR of 30", 80], ["OR of 200", 100]),
  ...target(/^census1881$/, ["BITCOUNT", 378], ["BITPOS 1", 40], ["GETBIT", 0.6], ["SETBIT", 0.85]),
  ...target(/^(half of|a tenth of|runs in) 16 Mbit$/, ["AND of 2", 1], ["OR of 2", 1], ["XOR of 2", 1], ["NOT", 1]),
  ...target(/^(half of|a tenth of|runs in) 16 Mbit$/, ["AND of 6", 2], ["OR of 6", 2], ["XOR of 6", 2]),
  ...target(/^daily actives$/, ["OR of 30", 2], ["AND of 30", 2], ["memory per set, loaded", 0.95]),
  ...target(
    /^questions: half of 16 Mbit$/,
    ...["AND", "OR", "XOR"].flatMap((operation) =>
      [2, 6].flatMap((of) => ["counted", "BITOPCARD"].map((how): [string, number] => [`${operation} of ${of}, ${how}`, 1]))),
  ),
  ...target(/^random SETBITs$/, ["added", 0.9]),
];

/** One line for each row that misses its target. */
export const shortfalls = (rows: readonly Row[]): string[] =>
  rows.flatMap((row) => {
    if (row.data === COSTS) {
      const held = row.what.endsWith(MAIN_THREAD) ? 0 : row.values[OURS]!;
      return held > BOUND ? [`${row.what}: PING waited ${held.toFixed(1)} ms, target ${BOUND} ms`] : [];
    }
    const found = targets.find(({ data, what }) => data.test(row.data) && what === row.what), reached = advantage(row, NATIVE, OURS);
    if (!found || reached === undefined || reached >= found.atLeast) return [];
    return [`${row.data}, ${row.what}: ${reached.toFixed(2)}x native, target ${found.atLeast}x`];
  });
