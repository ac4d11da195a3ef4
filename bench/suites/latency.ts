// Latency for a client: one request at a time, over a local socket, including the work of the client.

import type { Command } from "../../test/support/resp.ts";
import { dataset } from "../../test/support/data.ts";
import type { Contender } from "../contender.ts";
import { load, ofMembers } from "../load.ts";
import { figures, type Row } from "../row.ts";
import { quantile } from "../statistics.ts";

/** Requests per turn of a contender, and number of turns. */
const TURN = 100, TURNS = 20;

export async function* measureLatency(contenders: readonly Contender[]): AsyncGenerator<Row> {
  const data = "census1881, through a client", sets = dataset("census1881");
  await load(contenders, ofMembers("latency", sets));
  const requests: Record<string, (contender: Contender, key: (i: number) => string) => Command> = {
    PING: () => ["PING"],
    GETBIT: (contender, key) => [contender.named("GETBIT"), key(20), 123_456],
    SETBIT: (contender, key) => [contender.named("SETBIT"), key(20), 123_456, 1],
    BITCOUNT: (contender, key) => [contender.named("BITCOUNT"), key(20)],
    "AND of 2": (contender, key) => [contender.named("BITOP"), "AND", contender.key("result"), key(20), key(113)],
    "OR of 2": (contender, key) => [contender.named("BITOP"), "OR", contender.key("result"), key(20), key(113)],
  };
  for (const [name, request] of Object.entries(requests)) {
    const waited = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
    for (let turn = 0; turn <= TURNS; turn++) {
      for (const contender of contenders) {
        const command = request(contender, (i) => contender.key("latency", i));
        for (let i = 0; i < TURN; i++) {
          const start = performance.now();
          await contender.run([command]);
          if (turn > 0) waited.get(contender)!.push((performance.now() - start) * 1000);       // the first turn is a warm-up
        }
      }
    }
    for (const [label, part] of [["p50", 0.5], ["p99", 0.99]] as const) {
      yield { data, what: `${name}, ${label}`, unit: "µs", values: figures(waited, (times) => quantile(times, part)) };
    }
  }
}
