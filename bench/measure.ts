// Measures the time that the server itself spends in a command. Contenders take many short turns, and the median counts.

import { type Command, encode } from "../test/support/resp.ts";
import type { Contender } from "./contender.ts";
import { type CommandStatistics, median } from "./statistics.ts";

/**
 * Server time of a turn, unless one batch takes longer. Turns are so short that disturbances by other processes affect all contenders
 * alike, or only a few of their turns.
 */
const TURN_MICROSECONDS = 2000;
/** The most calls of a turn. The server counts a call shorter than a microsecond as 0 or 1; the mean of this many is exact to about 4 %. */
const TURN_CALLS = 2000;
const ROUNDS = 60;
/** A row ends after this time, unless the suite sets another one, if ROUNDS_LEAST rounds are done. */
const ROW_MILLISECONDS = 1000;
const ROUNDS_LEAST = 9;
/** A row that takes this many times as long ends after LONG_ROUNDS_LEAST rounds. */
const LONG_ROW = 2.5;
const LONG_ROUNDS_LEAST = 5;
/** Batches shorter than this run once before each turn, so that the caches are as the contender itself leaves them. */
const WARM_MICROSECONDS = 50_000;

/** The part of a contender that measuring needs. */
export type Timed = Pick<Contender, "name" | "run" | "drain" | "resetStatistics" | "statistics">;

/** As the timed command of a batch: the time of all its commands counts, per batch. */
export const ALL = "*";

export interface Batch {
  /** Commands to send in one write. Batches are repeated, so each must leave the keys as it found them. */
  readonly commands: readonly Command[];
  /** The contender's name of the command whose time counts, or ALL. The other commands restore what it changed. */
  readonly timed: string;
}

/** Microseconds per call of the timed command, or per batch if ALL commands are timed, by contender. */
export type Times = Record<string, number>;

const encoded = (commands: readonly Command[], times = 1): Buffer => {
  const once = Buffer.concat(commands.map(encode));
  return Buffer.concat(Array.from({ length: times }, () => once));
};

async function statisticsOf(contender: Timed, bytes: Buffer): Promise<Map<string, CommandStatistics>> {
  await contender.resetStatistics();
  await contender.drain(bytes);
  return contender.statistics();
}

interface Part {
  readonly contender: Timed;
  readonly timed: string;
  /** The timed commands as the statistics name them. */
  readonly counted: readonly string[];
  /** Batches of a turn. */
  readonly repeats: number;
  /** Commands to run before each turn, if any. */
  readonly warming: Buffer | undefined;
  readonly turn: Buffer;
  /** What Times has, one value per turn. */
  readonly times: number[];
}

/** Runs a batch once, checking its replies, and finds how many repetitions make a turn. */
async function partOf(contender: Timed, { commands, timed }: Batch): Promise<Part> {
  await contender.run(commands);
  const names = timed === ALL ? new Set(commands.map(([name]) => String(name))) : [timed];
  const counted = [...names].map((name) => name.toLowerCase()), batch = encoded(commands);
  for (let turn = batch, repeats = 1; ;) {
    const statistics = await statisticsOf(contender, turn);
    const microseconds = [...statistics.values()].reduce((sum, one) => sum + one.microseconds, 0);
    if (!counted.every((name) => statistics.has(name))) throw new Error(`${contender.name}: no ${timed} in its statistics`);
    if (microseconds >= TURN_MICROSECONDS / 2 || repeats * commands.length >= TURN_CALLS) {
      return { contender, timed, counted, repeats, warming: microseconds < WARM_MICROSECONDS ? batch : undefined, turn, times: [] };
    }
    repeats = Math.ceil(Math.min(repeats * TURN_MICROSECONDS / (microseconds + 1), TURN_CALLS / commands.length));
    turn = encoded(commands, repeats);
  }
}

async function takeTurn({ contender, timed, counted, repeats, warming, turn, times }: Part): Promise<void> {
  if (warming) await contender.drain(warming);
  const statistics = await statisticsOf(contender, turn), all = counted.map((name) => statistics.get(name)!);
  const sum = (of: keyof CommandStatistics): number => all.reduce((total, one) => total + one[of], 0);
  if (sum("failed") > 0) throw new Error(`${contender.name}: ${sum("failed")} of ${sum("calls")} ${timed} failed`);
  times.push(sum("microseconds") / (timed === ALL ? repeats : sum("calls")));
}

/** Measures contenders in rounds, each begun by another one. Those for which `batchOf` returns null do not take part. */
export async function measure<C extends Timed>(
  contenders: readonly C[], batchOf: (contender: C) => Batch | null, milliseconds = ROW_MILLISECONDS,
): Promise<Times> {
  const parts: Part[] = [];
  for (const contender of contenders) {
    const batch = batchOf(contender);
    if (batch) parts.push(await partOf(contender, batch));
  }
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    const elapsed = performance.now() - start;
    if (round >= LONG_ROUNDS_LEAST && elapsed > milliseconds * (round < ROUNDS_LEAST ? LONG_ROW : 1)) break;
    for (let i = 0; i < parts.length; i++) await takeTurn(parts[(round + i) % parts.length]!);
  }
  return Object.fromEntries(parts.map(({ contender, times }) => [contender.name, median(times)]));
}
