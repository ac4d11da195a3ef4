// The yardstick: time that the server itself spends in a command. Contenders take many short turns, whose median counts.

import { type Command, encode } from "../test/support/resp.ts";
import type { Contender } from "./contender.ts";
import { type CommandStatistics, median } from "./statistics.ts";

/**
 * A turn is so much of the server's work, or one batch: short enough that whatever else the machine does meets all contenders alike, or some of
 * their turns and not most.
 */
const TURN_MICROSECONDS = 2000;
/** Or it is so many calls. The server's clock counts a call of less than a microsecond as none or one: the mean of so many is off by some 4 %. */
const TURN_CALLS = 2000;
const ROUNDS = 60;
/** A row ends after so long, if that were rounds enough. */
const ROW_MILLISECONDS = 1000;
const ROUNDS_LEAST = 9;
/** One that takes even longer ends with fewer. */
const LONG_ROW_MILLISECONDS = 2500;
const LONG_ROUNDS_LEAST = 5;
/** Shorter batches are run once before they are timed, so that all find their caches as the contender itself left them. */
const WARM_MICROSECONDS = 50_000;

/** What of a contender is asked here. */
export type Timed = Pick<Contender, "name" | "run" | "drain" | "resetStatistics" | "statistics">;

export interface Batch {
  /** Commands to send in one write. They may be repeated, so each batch leaves things as it found them. */
  readonly commands: readonly Command[];
  /** The command whose time counts, as the contender calls it; the others restore what it changed. */
  readonly timed: string;
}

/** Microseconds a call of the timed command, by contender. */
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
  /** What is run before a turn, if anything is. */
  readonly warming: Buffer | undefined;
  readonly turn: Buffer;
  /** Microseconds of the timed command, per call. */
  readonly times: number[];
}

/** Tries a batch, whose replies are looked at this once, and how many make a turn. */
async function partOf(contender: Timed, { commands, timed }: Batch): Promise<Part> {
  await contender.run(commands);
  const batch = encoded(commands);
  for (let turn = batch, repeats = 1; ;) {
    const statistics = await statisticsOf(contender, turn), microseconds = [...statistics.values()].reduce((sum, one) => sum + one.microseconds, 0);
    if (!statistics.has(timed.toLowerCase())) throw new Error(`${contender.name}: no ${timed} in its statistics`);
    if (microseconds >= TURN_MICROSECONDS / 2 || repeats * commands.length >= TURN_CALLS) {
      return { contender, timed, warming: microseconds < WARM_MICROSECONDS ? batch : undefined, turn, times: [] };
    }
    repeats = Math.ceil(Math.min(repeats * TURN_MICROSECONDS / (microseconds + 1), TURN_CALLS / commands.length));
    turn = encoded(commands, repeats);
  }
}

async function takeTurn({ contender, timed, warming, turn, times }: Part): Promise<void> {
  if (warming) await contender.drain(warming);
  const { calls, failed, microseconds } = (await statisticsOf(contender, turn)).get(timed.toLowerCase())!;
  if (failed > 0) throw new Error(`${contender.name}: ${failed} of ${calls} ${timed} failed`);
  times.push(microseconds / calls);
}

/** Contenders for which `batchOf` answers null take no part. In each round another one begins. */
export async function measure<C extends Timed>(contenders: readonly C[], batchOf: (contender: C) => Batch | null): Promise<Times> {
  const parts: Part[] = [];
  for (const contender of contenders) {
    const batch = batchOf(contender);
    if (batch) parts.push(await partOf(contender, batch));
  }
  const start = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    const elapsed = performance.now() - start;
    if (round >= LONG_ROUNDS_LEAST && elapsed > (round < ROUNDS_LEAST ? LONG_ROW_MILLISECONDS : ROW_MILLISECONDS)) break;
    for (let i = 0; i < parts.length; i++) await takeTurn(parts[(round + i) % parts.length]!);
  }
  return Object.fromEntries(parts.map(({ contender, times }) => [contender.name, median(times)]));
}
