// Keys of integers: lines of an id and its value, as load reads them and unload writes them; and what a sorted set or a hash becomes.

import { type Core } from "./core/core.js";
import { blockBytes, blocksBytes, SEGMENT_BYTES } from "./core/sizes.js";
import { Exit, Failure } from "./failure.js";
import { type Form, idOf, inParts } from "./load.js";
import { type Connection, type Word } from "./servers.js";

/** The type that a server gives to a key of integers. */
export const INTEGERS_TYPE = "roar-ints";

/** An id and its value, as text. */
export type Pair = readonly [id: string, value: string];

/** The values that a key of integers can have. */
const LEAST_VALUE = -(2n ** 63n), LAST_VALUE = 2n ** 63n - 1n;
const within = (value: bigint): bigint | undefined => (value >= LEAST_VALUE && value <= LAST_VALUE ? value : undefined);

/** A score as an integer; undefined if it is none of 64 bits. A score is a double, so Number() has all of it. */
export function ofScore(text: string): bigint | undefined {
  const score = Number(text);
  return Number.isInteger(score) ? within(BigInt(score)) : undefined;
}

/** A value of a hash as an integer; undefined if it would come back as another text, or needs more than 64 bits. */
export const ofValue = (text: string): bigint | undefined => (/^(0|-?[1-9]\d{0,18})$/.test(text) ? within(BigInt(text)) : undefined);

export interface IntegersSize {
  /** Without the key's name. */
  bytes: number;
  /** Whether RI.OPTIMIZE is to be called at the end. It makes most keys smaller, but not those of few ids. */
  packs: boolean;
  /** Whether that is the size to the byte. */
  isExact: boolean;
}

/** RI.OPTIMIZE packs four segments at a time, here all are packed at once: up to that many bytes, this makes no difference. */
const EXACT_MOST = 3 * SEGMENT_BYTES;

/** The size of a key of integers with these ids and values, stored in ascending order. */
export function sizeOfIntegers(core: Core, ids: BigUint64Array, values: BigInt64Array): IntegersSize {
  core.collectValues(ids, values);
  const stored = blockBytes(core.used());
  core.pack(SEGMENT_BYTES);
  const packed = blocksBytes(core.arenas);
  const packs = packed <= stored;
  return { bytes: packs ? packed : stored, packs, isExact: stored <= EXACT_MOST };
}

/** Pairs in one command and in one reply. */
const PART = 5000, PAGE = 10_000;

/** A value as text; throws if it is none. */
function valueOf(text: string, where: string): string {
  if (!/^-?\d{1,20}$/.test(text)) throw new Failure(`${where}: the value ${JSON.stringify(text.slice(0, 40))} is not an integer`, Exit.SOME_FAILED);
  const value = BigInt(text);
  if (value < LEAST_VALUE || value > LAST_VALUE) throw new Failure(`${where}: the value ${text} needs more than 64 bits`, Exit.SOME_FAILED);
  return String(value);
}

const pairOf = (id: string, value: string, where: string): Pair => [String(idOf(id, where)), valueOf(value, where)];

/** An id and its value, with a comma between them. */
export const PAIR_FORM: Form<Pair> = {
  what: "an id and its value",
  longest: 4096,
  ofLine(chunk, start, end, line) {
    const text = chunk.toString("latin1", start, end), [id = "", value, ...more] = text.split(",");
    if (value === undefined || more.length > 0) {
      throw new Failure(`line ${line}: ${JSON.stringify(text.slice(0, 40))} is not an id and its value, such as 7,31`, Exit.SOME_FAILED);
    }
    return pairOf(id.trim(), value.trim(), `line ${line}`);
  },
  ofRow([id = "", value = ""], row) {
    return value.trim() === "" ? undefined : pairOf(id.trim(), value.trim(), `row ${row}`);
  },
};

/** The commands that store the values of ids. Of an id that is there several times, the last value stays. */
export const storing = (name: Buffer, pairs: readonly Pair[]): Word[][] => inParts(pairs, PART).map((part) => ["RI.SET", name, ...part.flat()]);

/** All ids and values, ascending by id, in pages. */
export async function* pairPages(connection: Connection, name: Buffer): AsyncGenerator<Pair[]> {
  let cursor = "0";
  do {
    const [next, list] = await connection.exactly("RI.SCAN", name, cursor, "COUNT", PAGE) as [string, string[]];
    cursor = next;
    if (list.length > 0) yield Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!] as const);
  } while (cursor !== "0");
}
