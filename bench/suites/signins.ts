// Memory of one bitmap with a bit for each day on which a user signed in, by the number of days.

import { range } from "../../test/support/family.ts";
import { random } from "../../test/support/random.ts";
import type { Command } from "../../test/support/resp.ts";
import type { Contender } from "../contender.ts";
import type { Row } from "../row.ts";

/** The mean is over so many choices of days. */
const CHOICES = 20;
/** The same name for all contenders, because MEMORY USAGE includes it. */
const KEY = "sign-ins";

/** MEMORY USAGE after these days were set one at a time. */
async function usage(contender: Contender, days: readonly number[]): Promise<number> {
  const sets = days.map((day): Command => [contender.named("SETBIT"), KEY, day, 1]);
  const replies = await contender.run([["DEL", KEY], ...sets, ["MEMORY", "USAGE", KEY], ["DEL", KEY]]);
  return replies[sets.length + 1] as number;
}

/** `counts` are numbers of days out of `period`. */
export async function* measureSignIns(
  contenders: readonly Contender[], data: string, period: number, counts: readonly number[],
): AsyncGenerator<Row> {
  const { shuffled } = random(period), all = range(0, period);
  const measured = async (what: string, choices: readonly (readonly number[])[]): Promise<Row> => {
    const values: Record<string, number> = {};
    for (const contender of contenders) {
      let sum = 0;
      for (const days of choices) sum += await usage(contender, days);
      values[contender.name] = sum / choices.length;
    }
    return { data, what, unit: "bytes", values };
  };
  for (const count of counts) yield await measured(count === 1 ? "1 day" : `${count} days`, Array.from({ length: CHOICES }, () => shuffled(all).slice(0, count)));
  yield await measured("every other day, ascending", [all.filter((day) => day % 2 === 0)]);
}
