// Containers that go back and forth over the limit of arrays in the Roaring format: one SETBIT adds a 4,097th member, the next removes it.
// In redis-roar these are sparse bitsets, which get another byte and lose it.

import type { Command } from "../../test/support/resp.ts";
import type { Contender } from "../contender.ts";
import { load, ofBitmaps } from "../load.ts";
import { measure } from "../measure.ts";
import type { Row } from "../row.ts";

const CONTAINERS = 2000, CONTAINER_BITS = 65_536, CONTAINER_BYTES = CONTAINER_BITS / 8;
/** Every other byte of a container has one member: 4096 in all. The other bytes have none. */
const BITMAP = Buffer.alloc(CONTAINERS * CONTAINER_BYTES, Buffer.from([0x80, 0]));

export async function* measureBorder(contenders: readonly Contender[]): AsyncGenerator<Row> {
  const data = "2,000 containers at the limit of arrays";
  await load(contenders, ofBitmaps("border", [BITMAP]));
  const toggles = (contender: Contender): Command[] =>
    ([1, 0] as const).flatMap((bit) =>
      Array.from({ length: CONTAINERS }, (_, i) => [contender.named("SETBIT"), contender.key("border", 0), i * CONTAINER_BITS + 9, bit]));
  const values = await measure(contenders, (contender) => ({ commands: toggles(contender), timed: contender.named("SETBIT") }));
  yield { data, what: "SETBIT 1 or 0", unit: "µs", values };
}
