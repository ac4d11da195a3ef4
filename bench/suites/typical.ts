// Five typical keys, for the table at the head of README.md: what one takes in memory, and how long it takes to change and to combine.
// Native sets take part.

import { type Contender, SETS } from "../contender.ts";
import { bitmapOf, membersOf, noise, shuffled, snowflakes } from "../generators.ts";
import { loading } from "../load.ts";
import { ALL, measure } from "../measure.ts";
import type { Row } from "../row.ts";
import { drawn, uses } from "./longtail.ts";

type Ids = readonly (number | bigint)[];

interface Typical {
  readonly name: string;
  /** Whether the ids have 64 bits, which only R64.* and native sets hold. */
  readonly wide: boolean;
  /** The members of key 0 or 1, in random order if they are few. */
  readonly members: (key: number) => Ids;
}

const MILLION = 1_000_000, MEBI = 2 ** 20;
/** Up to so many members are set one at a time. */
const FEW = 1000;

export const typical: readonly Typical[] = [
  { name: "readers of an article: 50 of 10 million ids", wide: false, members: (key) => drawn(key + 1, 10 * MILLION, 50) },
  { name: "likes of a post: 1,000 snowflakes of 64 bits", wide: true, members: (key) => shuffled(key + 1, snowflakes(key + 1, FEW)) },
  { name: "users with a tag: 100,000 of 10 million ids", wide: false, members: (key) => drawn(key + 1, 10 * MILLION, 100_000) },
  { name: "readers of a page: 3 % of 16 Mi ids", wide: false, members: (key) => membersOf(noise(key + 1, 16 * MEBI, 8)) },
  { name: "active users of a day: a tenth of 16 Mi ids", wide: false, members: (key) => membersOf(noise(key + 1, 16 * MEBI, 26)) },
];

/** What the rows of a key are called, in the order of the table. */
export const MEASURES = ["bytes with the key's name", "add or remove a member", "how many in both of two keys"] as const;
export const TYPICAL = "typical keys";

async function fill(contender: Contender, key: string, ids: Ids): Promise<void> {
  if (contender.name === SETS) {
    const step = ids.length <= FEW ? 1 : 10_000;
    for (let at = 0; at < ids.length; at += step) await contender.run([["SADD", key, ...ids.slice(at, at + step)]]);
  } else if (ids.length <= FEW) {
    await contender.run(ids.map((id) => [contender.named("SETBIT"), key, id, 1]));
  } else if (contender.native) {
    await contender.run([["SET", key, bitmapOf((ids as number[]).toSorted((a, b) => a - b))]]);
  } else {
    await contender.run(loading(contender, key, ids));
  }
}

export async function* measureTypical(contenders: readonly Contender[]): AsyncGenerator<Row> {
  for (const { name, wide, members } of typical) {
    const compared = contenders.filter((contender) => contender.name === SETS || contender.prefix === (wide ? "R64." : "R.")
      || (contender.native && !wide));
    const keys = (contender: Contender): [string, string] => {
      const named = (key: number): string => `${contender.name === SETS ? "set:" : ""}${contender.key("key", key)}`;
      return [named(0), named(1)];
    };
    const ids = [members(0), members(1)], bytes: Record<string, number> = {}, missing = wide ? 2n ** 62n : 9_999_999;
    for (const contender of compared) {
      const [a, b] = keys(contender);
      await fill(contender, b, ids[1]!);
      await fill(contender, a, ids[0]!); // once before it counts: a server keeps what it allocates for a first command
      await contender.run([["DEL", a]]);
      bytes[contender.name] = await contender.memoryOf(() => fill(contender, a, ids[0]!));
    }
    const row = (what: string, unit: Row["unit"], values: Row["values"]): Row => ({ data: TYPICAL, what: `${name}: ${what}`, unit, values });
    yield row(MEASURES[0], "bytes", bytes);
    for (const [measured, use, calls] of [[MEASURES[1], "SETBIT, there and back", 2], [MEASURES[2], "how many in both", 1]] as const) {
      const { commands } = uses.find(({ what }) => what === use)!;
      const times = await measure(compared, (contender) => ({ timed: ALL, commands: commands(contender, ...keys(contender), missing)! }));
      yield row(measured, "µs", Object.fromEntries(Object.entries(times).map(([contender, time]) => [contender, time / calls])));
    }
    for (const contender of compared) await contender.run([["DEL", ...keys(contender), contender.key("result")]]);
  }
}
