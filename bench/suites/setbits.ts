// A flood of SETBITs at random offsets from one client that does not wait: the rate, and the time of the longest call.

import type { Argument } from "../../test/support/resp.ts";
import { random } from "../../test/support/random.ts";
import type { Contender } from "../contender.ts";
import { figures, type Row } from "../row.ts";
import { median } from "../statistics.ts";
import { text } from "./small.ts";

/** Commands per turn of a contender. */
const TURN = 100_000;
/** Threshold of the slow log, from which the longest call of a turn is taken; microseconds. */
const SLOW = 100;

interface Flood {
  readonly data: string;
  readonly count: number;
  /** Offsets are drawn from [0, bound). */
  readonly bound: number;
}

/**
 * Passes over the whole flood, each on an empty key. A growing value delays the same command in every pass, but disturbances by other
 * processes do not recur. Therefore the longest call of a turn counts with its shortest time over all passes.
 */
const PASSES = 2;

export async function* measureFlood(contenders: readonly Contender[], { data, count, bound }: Flood): AsyncGenerator<Row> {
  const rates = new Map<Contender, number[]>(), longest = new Map<Contender, number[]>();
  for (const contender of contenders) {
    rates.set(contender, []);
    longest.set(contender, Array.from({ length: count / TURN }, () => Infinity));
    await contender.run([["CONFIG", "SET", "slowlog-log-slower-than", SLOW, "slowlog-max-len", TURN]]);
  }
  for (let pass = 0; pass < PASSES; pass++) {
    const { below } = random(10);
    for (const contender of contenders) await contender.run([["DEL", contender.key("flood")]]);
    for (let turn = 0; turn < count / TURN; turn++) {
      const offsets = Array.from({ length: TURN }, () => String(below(bound)));
      for (const contender of contenders) {
        const command = contender.named("SETBIT"), key = contender.key("flood"), times = longest.get(contender)!;
        const encoded = Buffer.from(offsets.map((offset) => text(command, key, offset, "1")).join(""), "latin1");
        rates.get(contender)!.push(TURN / (await contender.flood(encoded, TURN)) * 1000);
        times[turn] = Math.min(times[turn]!, await longestIn(contender, command));
      }
    }
  }
  yield { data, what: "SETBIT", unit: "commands/s", values: figures(rates, median) };
  yield { data, what: "longest SETBIT", unit: "µs", values: figures(longest, (times) => Math.max(...times)) };
}

/** Returns the microseconds of the longest call in the slow log, or SLOW if there is none, and empties the log. */
async function longestIn(contender: Contender, command: string): Promise<number> {
  const [entries] = await contender.run([["SLOWLOG", "GET", -1], ["SLOWLOG", "RESET"]]);
  const logged = entries as [id: number, time: number, microseconds: number, command: Argument[]][];
  const found = logged.filter((entry) => entry[3][0] === command);
  return found.reduce((most, entry) => Math.max(most, entry[2]), SLOW);
}
