// Very many keys with a few members each, for example one per user.

import { random } from "../../test/support/random.ts";
import type { Contender } from "../contender.ts";
import { figures, type Row } from "../row.ts";
import { addTo } from "../statistics.ts";

const MEMBERS = 10;
/** Commands in one write. */
const CHUNK = 50_000;

interface SmallKeys {
  readonly data: string;
  readonly keys: number;
  /** Members are drawn from [0, bound). */
  readonly bound: number;
}

/**
 * Loads the keys, in chunks that contenders load in turn, and measures the rate and the memory per key. The memory includes the name
 * and the server's hash table, so every contender starts with an empty server and uses the same names.
 */
export async function* measureSmallKeys(contenders: readonly Contender[], { data, keys, bound }: SmallKeys): AsyncGenerator<Row> {
  const milliseconds = new Map<Contender, number>(), bytes = new Map<Contender, number>();
  for (const round of oneOfEachServer(contenders)) {
    const { below } = random(366);
    for (const contender of round) await contender.run([["FLUSHALL", "SYNC"]]);
    for (let from = 0; from < keys; from += CHUNK) {
      const sets = Array.from({ length: Math.min(CHUNK, keys - from) }, () => Array.from({ length: MEMBERS }, () => below(bound)));
      for (const contender of round) {
        const setMembers = (key: string, members: number[]) => text(contender.named("SETINTARRAY"), key, ...members.map(String));
        const command = contender.native ? nativeSet : setMembers;
        const encoded = Buffer.from(sets.map((members, i) => command(`user:${from + i}`, members)).join(""), "latin1");
        const work = async (): Promise<void> => addTo(milliseconds, contender, await contender.flood(encoded, sets.length));
        addTo(bytes, contender, await contender.memoryOf(work));
      }
    }
  }
  yield { data, what: "memory per key", unit: "bytes", values: figures(bytes, (value) => value / keys) };
  yield { data, what: "loading keys", unit: "commands/s", values: figures(milliseconds, (value) => keys / value * 1000) };
}

/** Splits the contenders into rounds in which no two share a server. */
export function oneOfEachServer(contenders: readonly Contender[]): Contender[][] {
  const rounds: Contender[][] = [];
  for (const contender of contenders) {
    const round = rounds.find((others) => others.every(({ server }) => server !== contender.server));
    if (round) round.push(contender); else rounds.push([contender]);
  }
  return rounds;
}

/** An encoded command with one byte per character. */
export const text = (...words: string[]): string => `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;

function nativeSet(key: string, members: number[]): string {
  const bytes = new Uint8Array((Math.max(...members) >> 3) + 1);
  for (const member of members) bytes[member >> 3]! |= 0x80 >> (member & 7);
  return text("SET", key, String.fromCharCode(...bytes));
}
