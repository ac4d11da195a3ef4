// The yardstick: time that the server itself spends in a command, contenders in turn within a round, medians over rounds.

import { type Command, encode } from "../test/support/resp.ts";
import type { Contender } from "./contender.ts";
import { median } from "./statistics.ts";

const ROUNDS = 9;
/** A round lasts this long at least, or has so many calls: enough for commands of less than the clock's microsecond. */
const ROUND_MICROSECONDS = 8000;
const ROUND_CALLS = 5000;
/** A row that has taken so long ends with the least number of rounds, and tries nothing again. */
const ROW_MILLISECONDS = 2500;
const ROUNDS_LEAST = 5;
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

/** A batch as the server reads it. */
interface Encoded {
  readonly bytes: Buffer;
  readonly count: number;
}

function encoded(commands: readonly Command[], times: number): Encoded {
  const once = Buffer.concat(commands.map(encode));
  return { bytes: Buffer.concat(Array.from({ length: times }, () => once)), count: commands.length * times };
}

async function timeOnce(contender: Contender, { bytes, count }: Encoded, timed: string): Promise<Timing> {
  await contender.resetStatistics();
  const before = contender.schedule();
  await contender.exchange(bytes, count);
  const after = contender.schedule();
  const statistics = await contender.statistics(), found = statistics.get(timed.toLowerCase());
  if (!found) throw new Error(`${contender.name}: no ${timed} in its statistics`);
  const total = [...statistics.values()].reduce((sum, { microseconds }) => sum + microseconds, 0);
  const disturbance = before && after ? (after.delayed - before.delayed) / (after.ran - before.ran + 1) : 0;
  return { each: found.microseconds / found.calls, total, disturbance };
}

interface Part {
  readonly contender: Contender;
  readonly timed: string;
  readonly batch: Encoded;
  readonly round: Encoded;
  /** Microseconds that a round takes. */
  readonly expected: number;
  readonly times: number[];
}

/** The least disturbed of a few tries. */
async function timeQuietly({ contender, timed, batch, round, expected }: Part, deadline: number): Promise<number> {
  if (expected < WARM_MICROSECONDS) await contender.exchange(batch.bytes, batch.count);
  let best = await timeOnce(contender, round, timed);
  for (let i = 1; i < TRIES && best.disturbance > DISTURBED && performance.now() < deadline; i++) {
    const again = await timeOnce(contender, round, timed);
    if (again.disturbance < best.disturbance) best = again;
  }
  return best.each;
}

/** Contenders for which `batchOf` answers null take no part. */
export async function measure(contenders: readonly Contender[], batchOf: (contender: Contender) => Batch | null): Promise<Times> {
  const parts: Part[] = [];
  for (const contender of contenders) {
    const found = batchOf(contender);
    if (!found) continue;
    const { commands, timed } = found, batch = encoded(commands, 1), { total } = await timeOnce(contender, batch, timed);
    const times = Math.max(1, Math.ceil(Math.min(ROUND_MICROSECONDS / (total + 1), ROUND_CALLS / commands.length)));
    parts.push({ contender, timed, batch, round: times > 1 ? encoded(commands, times) : batch, expected: total * times, times: [] });
  }
  const deadline = performance.now() + ROW_MILLISECONDS;
  for (let round = 0; round < ROUNDS && (round < ROUNDS_LEAST || performance.now() < deadline); round++) {
    for (const part of parts) part.times.push(await timeQuietly(part, deadline));
  }
  return Object.fromEntries(parts.map(({ contender, times }) => [contender.name, median(times)]));
}
