// Bitmaps of a data set: memory, combinations, counting, single bits.

import { range } from "../../test/support/family.ts";
import type { Command } from "../../test/support/resp.ts";
import { random } from "../../test/support/random.ts";
import type { Contender } from "../contender.ts";
import { type DataSet, load, optimise } from "../load.ts";
import { type Batch, measure } from "../measure.ts";
import { figures, type Row } from "../row.ts";

type Operation = "AND" | "OR" | "XOR" | "NOT";

/** A combination of `of` neighboring sets, starting at every `step`-th set. */
export interface Combination {
  readonly operation: Operation;
  readonly of: number;
  readonly step: number;
}

export const pairs: readonly Combination[] = [
  ...(["AND", "OR", "XOR"] as const).map((operation) => ({ operation, of: 2, step: 1 })),
  { operation: "NOT", of: 1, step: 1 },
];

interface Plan {
  readonly combinations: readonly Combination[];
  /** Runs OPTIMIZE on all sets before anything is timed. */
  readonly optimised?: boolean;
}

/** Number of offsets per set for GETBIT and SETBIT. */
const BITS_A_SET = 10;

/** Random offsets of a set. Every second one is moved to the next member, if there is one after it. */
function offsetsIn(bitmap: Buffer, below: (bound: number) => number): number[] {
  return Array.from({ length: BITS_A_SET }, (_, i) => {
    const at = below(bitmap.length * 8);
    if (i % 2) return at;
    for (let byte = at >> 3; byte < bitmap.length; byte++) if (bitmap[byte]) return byte * 8 + Math.clz32(bitmap[byte]!) - 24;
    return at;
  });
}

const holds = (bitmap: Buffer, offset: number): boolean => (bitmap[offset >> 3]! & (0x80 >> (offset & 7))) !== 0;

export async function* measureSets(contenders: readonly Contender[], data: DataSet, plan: Plan): AsyncGenerator<Row> {
  const indexes = range(0, data.count), { below } = random(1881);
  const row = (what: string, unit: Row["unit"], values: Row["values"]): Row => ({ data: data.name, what, unit, values });
  const eachSet = async (what: string, command: string, ...args: (string | number)[]): Promise<Row> => row(what, "µs", await measure(
    contenders,
    (contender): Batch => ({
      timed: contender.named(command),
      commands: indexes.map((i) => [contender.named(command), contender.key(data.name, i), ...args]),
    }),
  ));

  const loaded = await load(contenders, data);
  const memory = (what: string): Row =>
    row(what, "bytes", figures(loaded, (bytes) => bytes / data.count));
  yield memory("memory per set, loaded");
  if (plan.optimised) {
    for (const [contender, bytes] of await optimise(contenders, data)) loaded.set(contender, loaded.get(contender)! - bytes);
    yield memory("memory per set, optimized");
  }

  for (const { operation, of, step } of plan.combinations) {
    const starts = indexes.filter((i) => i % step === 0 && i + of <= data.count);
    const times = await measure(contenders, (contender): Batch => ({
      timed: contender.named("BITOP"),
      commands: starts.map((start): Command => [
        contender.named("BITOP"), operation, contender.key("result"),
        ...indexes.slice(start, start + of).map((i) => contender.key(data.name, i)),
      ]),
    }));
    yield row(of < 2 ? operation : `${operation} of ${of}`, "µs", times);
  }
  yield await eachSet("BITCOUNT", "BITCOUNT");
  yield await eachSet("BITPOS 1", "BITPOS", 1);

  const offsets = indexes.map((i) => offsetsIn(data.bitmap(i), below));
  const eachBit = (contender: Contender, commands: (key: string, offset: number, index: number) => Command[]): Command[] =>
    indexes.flatMap((i) => offsets[i]!.flatMap((offset) => commands(contender.key(data.name, i), offset, i)));
  yield row("GETBIT", "µs", await measure(contenders, (contender) => ({
    timed: contender.named("GETBIT"),
    commands: eachBit(contender, (key, offset) => [[contender.named("GETBIT"), key, offset]]),
  })));
  // SETBIT is last: a container that changes its kind when a bit is set does not change back when the bit is cleared.
  yield row("SETBIT", "µs", await measure(contenders, (contender) => ({
    timed: contender.named("SETBIT"),
    commands: eachBit(contender, (key, offset, index) => {
      const set = holds(data.bitmap(index), offset) ? 1 : 0;
      return [[contender.named("SETBIT"), key, offset, 1 - set], [contender.named("SETBIT"), key, offset, set]];
    }),
  })));

  if (!plan.optimised) {
    await load(contenders, data); // SETBIT has left some containers in other kinds
    for (const [contender, bytes] of await optimise(contenders, data)) loaded.set(contender, loaded.get(contender)! - bytes);
    yield memory("memory per set, optimized");
  }
}
