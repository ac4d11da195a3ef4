// The yardstick: time that the server itself spends in a command, contenders in turn within a round, medians over rounds.

import type { Command } from "../test/support/resp.ts";
import type { Contender } from "./contender.ts";
import { median } from "./statistics.ts";

const ROUNDS = 9;
/** A round lasts this long at least, or has so many calls: enough for commands of less than the clock's microsecond. */
const ROUND_MICROSECONDS = 8000;
const ROUND_CALLS = 5000;
/** What is slower than this in all contenders together is measured in the least number of rounds. */
const SLOW_MICROSECONDS = 200_000;
const ROUNDS_IF_SLOW = 5;
/** The server's time is wall-clock time. When other processes delayed it by more than this part, the batch is run again. */
const DISTURBED = 0.03;
const TRIES = 3;
/** Shorter batches are run once before they are timed, so that all find their caches as the contender itself left them. */
const WARM_MICROSECONDS = 50_000;

export interface Batch {
  /** Commands to send in one write. They may be repeated, so each batch leaves things as it found them. */
  readonly commands: readonly Command[];
  /** The command whose time counts, as the contender calls it; the others restore what it changed. */
  readonly timed: string;
}

/** Microseconds a call of the timed command, by contender. */
export type Times = Record<string, number>;

interface Timing {
  /** Microseconds of the timed command, per call, and of the whole batch. */
  readonly each: number;
  readonly total: number;
  /** Time for which another process had the processor, by the time for which the server had it. */
  readonly disturbance: number;
}

async function timeOnce(contender: Contender, { commands, timed }: Batch): Promise<Timing> {
  await contender.resetStatistics();
  const before = contender.schedule();
  await contender.run(commands);
  const after = contender.schedule();
  const statistics = await contender.statistics(), found = statistics.get(timed.toLowerCase());
  if (!found) throw new Error(`${contender.name}: no ${timed} in its statistics`);
  const total = [...statistics.values()].reduce((sum, { microseconds }) => sum + microseconds, 0);
  const disturbance = before && after ? (after.delayed - before.delayed) / (after.ran - before.ran + 1) : 0;
  return { each: found.microseconds / found.calls, total, disturbance };
}

/** The least disturbed of a few tries. */
async function timeQuietly(contender: Contender, batch: Batch, expected: number): Promise<number> {
  if (expected < WARM_MICROSECONDS) await contender.run(batch.commands);
  let best = await timeOnce(contender, batch);
  for (let i = 1; i < TRIES && best.disturbance > DISTURBED; i++) {
    const again = await timeOnce(contender, batch);
    if (again.disturbance < best.disturbance) best = again;
  }
  return best.each;
}

/** Contenders for which `batch` answers null take no part. */
export async function measure(contenders: readonly Contender[], batch: (contender: Contender) => Batch | null): Promise<Times> {
  const parts: { contender: Contender; batch: Batch; expected: number; times: number[] }[] = [];
  for (const contender of contenders) {
    const once = batch(contender);
    if (!once) continue;
    const { total } = await timeOnce(contender, once);
    const repeat = Math.max(1, Math.ceil(Math.min(ROUND_MICROSECONDS / (total + 1), ROUND_CALLS / once.commands.length)));
    const commands = Array.from({ length: repeat }, () => once.commands).flat();
    parts.push({ contender, batch: { ...once, commands }, expected: total * repeat, times: [] });
  }
  const slow = parts.reduce((sum, part) => sum + part.expected, 0) > SLOW_MICROSECONDS;
  for (let round = 0; round < (slow ? ROUNDS_IF_SLOW : ROUNDS); round++) {
    for (const { contender, batch, expected, times } of parts) times.push(await timeQuietly(contender, batch, expected));
  }
  return Object.fromEntries(parts.map(({ contender, times }) => [contender.name, median(times)]));
}
