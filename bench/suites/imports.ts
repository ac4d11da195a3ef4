// IMPORT into a bitmap of many containers with one member each: payloads from one container to as many as the bitmap has.

import { range } from "../../test/support/family.ts";
import { bytesOf } from "../../test/support/resp.ts";
import type { Contender } from "../contender.ts";
import { loading } from "../load.ts";
import { measure } from "../measure.ts";
import type { Row } from "../row.ts";

const member = (container: number): number => container * 131_072 + container % 65_536;

export async function* measureImports(contenders: readonly Contender[], data: string, containers: number): AsyncGenerator<Row> {
  const able = contenders.filter((contender) => contender.prefix === "R64." && contender.has("IMPORT"));
  const load = (contender: Contender, key: string, chosen: readonly number[]) =>
    contender.run(loading(contender, key, chosen.map(member)));
  const all = range(0, containers), middle = containers / 2;
  for (const contender of able) await load(contender, contender.key(data), all);

  /** What to import. Containers that the bitmap has change nothing; those beyond its last are removed again. */
  const payloads: Record<string, readonly number[]> = {
    "1 container": [middle],
    "1,000 containers": range(0, 1000).map((i) => Math.floor(i * containers / 1000)),
    "1,000 containers beyond the last": range(containers, 1000),
    "a tenth of the containers": all.filter((i) => i % 10 === 0),
    "half of the containers": all.filter((i) => i % 2 === 0),
    "all containers": all,
  };
  for (const [name, chosen] of Object.entries(payloads)) {
    const exported = new Map<Contender, Buffer>();
    for (const contender of able) {
      const key = contender.key("payload");
      await load(contender, key, chosen);
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
