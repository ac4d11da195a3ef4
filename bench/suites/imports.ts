// IMPORT into a bitmap of many containers with one member each: payloads from one container to as many as the bitmap has.

import { bytesOf } from "../../test/support/resp.ts";
import type { Contender } from "../contender.ts";
import { measure } from "../measure.ts";
import type { Row } from "../row.ts";

const BATCH = 10_000;
const member = (container: number): number => container * 131_072 + container % 65_536;

export async function* measureImports(contenders: readonly Contender[], data: string, containers: number): AsyncGenerator<Row> {
  const able = contenders.filter((contender) => contender.prefix === "R64." && contender.has("IMPORT"));
  const append = async (contender: Contender, key: string, chosen: readonly number[]): Promise<void> => {
    for (let from = 0; from < chosen.length; from += BATCH) {
      await contender.run([[contender.named("APPENDINTARRAY"), key, ...chosen.slice(from, from + BATCH).map(member)]]);
    }
  };
  const all = Array.from({ length: containers }, (_, i) => i), middle = containers / 2;
  for (const contender of able) await append(contender, contender.key(data), all);

  /** What to import. Containers that the bitmap has change nothing; those beyond its last are removed again. */
  const payloads: Record<string, readonly number[]> = {
    "1 container": [middle],
    "1,000 containers": Array.from({ length: 1000 }, (_, i) => Math.floor(i * containers / 1000)),
    "1,000 containers beyond the last": Array.from({ length: 1000 }, (_, i) => containers + i),
    "a tenth of the containers": all.filter((i) => i % 10 === 0),
    "half of the containers": all.filter((i) => i % 2 === 0),
    "all containers": all,
  };
  for (const [name, chosen] of Object.entries(payloads)) {
    const exported = new Map<Contender, Buffer>();
    for (const contender of able) {
      const key = contender.key("payload");
      await append(contender, key, chosen);
      const [payload] = await contender.run([[contender.named("EXPORT"), key], ["DEL", key]]);
      exported.set(contender, bytesOf(payload!));
    }
    const values = await measure(able, (contender) => {
      const key = contender.key(data), timed = contender.named("IMPORT"), undo = contender.named("CLEARRANGE");
      const commands = [[timed, key, exported.get(contender)!], [undo, key, member(containers), member(containers + 1000)]];
      return { timed, commands: chosen[0]! < containers ? commands.slice(0, 1) : commands };
    });
    yield { data, what: `IMPORT of ${name}`, unit: "µs", values };
  }
}
