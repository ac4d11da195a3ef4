// 64-bit members, appended a hundred at a time, and few of them, set one at a time.

import type { Contender } from "../contender.ts";
import { figures, type Row } from "../row.ts";
import { addTo, type CommandStatistics } from "../statistics.ts";

const BATCH = 100;
/** Commands per turn of a contender. */
const TURN = 500;

export async function* measureWide(contenders: readonly Contender[], data: string, members: readonly bigint[]): AsyncGenerator<Row> {
  const wide = contenders.filter(({ prefix }) => prefix === "R64."), bytes = new Map<Contender, number>();
  for (const contender of wide) await contender.resetStatistics();
  for (let from = 0; from < members.length; from += TURN * BATCH) {
    for (const contender of wide) {
      const commands = Array.from({ length: TURN }, (_, i) => members.slice(from + i * BATCH, from + (i + 1) * BATCH))
        .filter((batch) => batch.length > 0)
        .map((batch) => [contender.named("APPENDINTARRAY"), contender.key(data), ...batch]);
      const risen = await contender.memoryOf(async () => void (await contender.run(commands)));
      addTo(bytes, contender, risen);
    }
  }
  const appending = new Map<Contender, CommandStatistics>(), perMember = (sum: number): number => sum / members.length;
  for (const contender of wide) {
    appending.set(contender, (await contender.statistics()).get(contender.named("APPENDINTARRAY").toLowerCase())!);
  }
  yield { data, what: "append, per member", unit: "µs", values: figures(appending, ({ microseconds }) => perMember(microseconds)) };
  yield { data, what: "memory per member", unit: "bytes", values: figures(bytes, perMember) };
  for (const contender of wide) {
    const optimize = async (): Promise<void> => void (await contender.run([[contender.named("OPTIMIZE"), contender.key(data)]]));
    addTo(bytes, contender, await contender.memoryOf(optimize));
  }
  yield { data, what: "memory per member, optimized", unit: "bytes", values: figures(bytes, perMember) };
}

/** MEMORY USAGE of a key with the first n members, set one at a time. The native contender adds them to a set. */
export async function* measureFew(contenders: readonly Contender[], data: string, members: readonly bigint[]): AsyncGenerator<Row> {
  const compared = contenders.filter(({ native, prefix }) => native || prefix === "R64.");
  for (const [i, member] of members.entries()) {
    const n = i + 1, values: Record<string, number> = {}, shown = [1, 2, 5, 10, 20, 64, 128, 256, 512].includes(n);
    for (const contender of compared) {
      const key = contender.key(data);
      await contender.run([contender.native ? ["SADD", key, member] : [contender.named("SETBIT"), key, member, 1]]);
      if (shown) values[contender.name] = (await contender.run([["MEMORY", "USAGE", key]]))[0] as number;
    }
    if (shown) yield { data, what: `MEMORY USAGE, n = ${n}`, unit: "bytes", values };
  }
}
