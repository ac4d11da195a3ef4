// An integer for each id: RI.* beside a sorted set, which has an order, beside a hash, which has none, and beside 17 bitmaps by hand: for
// each binary digit, the ids whose values have a 1 there. Ids are 0, 1, 2 ..., and values have 17 random bits.

import { range } from "../../test/support/family.ts";
import { random } from "../../test/support/random.ts";
import type { Command } from "../../test/support/resp.ts";
import { type Contender, NATIVE, OURS } from "../contender.ts";
import { ALL, measure } from "../measure.ts";
import { figures, type Row } from "../row.ts";

export const INTEGERS = "integers";
const DIGITS = 17, LEAST = 0, VALUES = 2 ** DIGITS;
const SORTED = "sorted set", HASH = "hash", BY_HAND = `${DIGITS} bitmaps by hand`;
/** Ids in a command that loads. */
const CHUNK = 10_000;
/** Calls for one id in a batch: so many that what they read does not stay in the processor's caches. */
const CALLS = 100_000;
/** The part of the ids that are members of the segment. */
const SEGMENT = 10;
const KEY = INTEGERS, TENTH = "segment", TOP = 10, EDGES = 10;

/** Those that take part: a sorted set and a hash, which share a server, and ours, of which bitmaps by hand are a use. */
export function integerContenders(contenders: readonly Contender[]): Contender[] {
  const native = contenders.find(({ name }) => name === NATIVE)!, ours = contenders.find(({ name }) => name === OURS)!;
  return [native.renamed(SORTED), native.renamed(HASH), ours.renamed(BY_HAND), ours];
}

/** The bitmaps by hand, from that of the lowest digit on. */
const SLICES = range(0, DIGITS).map((digit) => `digit:${digit}`);

const keyOf = ({ name }: Pick<Contender, "name">): string => (name === OURS ? KEY : `${KEY}:${name}`);

type Entry = readonly [id: number, value: number];

/** Commands that add the entries to bitmaps by hand. */
const settingByHand = (entries: readonly Entry[]): Command[] => SLICES.map((slice, digit) =>
  ["R.SETBITS", slice, ...entries.flatMap(([id, value]) => (value >> digit & 1 ? [id] : []))]).filter((command) => command.length > 2);

/** Entries in one command. */
function setting(contender: Pick<Contender, "name">, entries: readonly Entry[]): Command {
  const key = keyOf(contender);
  if (contender.name === SORTED) return ["ZADD", key, ...entries.flatMap(([id, value]) => [value, id])];
  return [contender.name === HASH ? "HSET" : "RI.SET", key, ...entries.flat()];
}

/** What is asked: the commands of each contender that has such a question. All commands of `whole` together are one answer. */
interface Asked {
  readonly what: string;
  readonly whole?: boolean;
  readonly of: Partial<Record<string, readonly Command[]>>;
}

/** Calls for single ids. Each batch leaves the keys as they were. */
function points(values: Uint32Array): Asked[] {
  const { below } = random(17), ids = range(0, CALLS).map(() => below(values.length));
  const changes = [...new Set(ids)].map((id): [id: number, value: number] => [id, VALUES - 1 - values[id]!]);
  const back = changes.map(([id]): [id: number, value: number] => [id, values[id]!]);
  const one = (name: string): Command[] => [...changes, ...back].map((entry) => setting({ name }, [entry]));
  const adding = (command: string, name: string, idFirst: boolean): Command[] => [1, -1].flatMap((by) =>
    ids.map((id): Command => [command, keyOf({ name }), ...(idFirst ? [id, by] : [by, id])]));
  const each = (command: string, name: string): Command[] => ids.map((id) => [command, keyOf({ name }), id]);
  return [
    { what: "SET", of: { [SORTED]: one(SORTED), [HASH]: one(HASH), [OURS]: one(OURS) } },
    { what: "INCRBY", of: { [SORTED]: adding("ZINCRBY", SORTED, false), [HASH]: adding("HINCRBY", HASH, true), [OURS]: adding("RI.INCRBY", OURS, true) } },
    { what: "GET", of: { [SORTED]: each("ZSCORE", SORTED), [HASH]: each("HGET", HASH), [BY_HAND]: ids.map((id) => ["R.MGETBIT", id, ...SLICES]), [OURS]: each("RI.GET", OURS) } },
    { what: "RANK", of: { [SORTED]: each("ZRANK", SORTED).slice(0, 20), [OURS]: each("RI.RANK", OURS).slice(0, 20) } },
  ];
}

/** Questions about all ids, or about those of a segment, which a sorted set cannot be asked about without a copy. */
function questions(count: number): Asked[] {
  const zset = keyOf({ name: SORTED }), low = VALUES / 4, high = VALUES / 2, middle = Math.floor(count / 2);
  const edges = range(1, EDGES).map((n) => Math.floor(n * VALUES / (EDGES + 1)));
  const between = [...edges, VALUES].map((edge, n): Command => ["ZCOUNT", zset, n === 0 ? LEAST : edges[n - 1]!, `(${edge}`]);
  const within = ["WITHIN", "#1", 1, TENTH] as const;
  return [
    // From 2^15 to 2^16: only digit 15 of the last two is 1, or only digit 16 of all.
    { what: "COUNT of a range", of: {
      [SORTED]: [["ZCOUNT", zset, low, high]], [OURS]: [["RI.COUNT", KEY, low, high]],
      [BY_HAND]: [["R.QUERY", "(#16 - #17) | (#17 - any(#1..#16))", DIGITS, ...SLICES]],
    } },
    { what: "COUNT of a range, by QUERY", of: { [OURS]: [["R.QUERY", `${low} <= #1 <= ${high}`, 1, KEY, "CARD"]] } },
    { what: "SUM", of: { [BY_HAND]: [["R.MBITCOUNT", ...SLICES]], [OURS]: [["RI.SUM", KEY]] } },
    { what: "SUM WITHIN a tenth", of: { [BY_HAND]: [["R.CROSSCARD", 1, TENTH, DIGITS, ...SLICES]], [OURS]: [["RI.SUM", KEY, ...within]] } },
    { what: `TOP ${TOP}`, of: { [SORTED]: [["ZREVRANGE", zset, 0, TOP - 1, "WITHSCORES"]], [OURS]: [["RI.RANGE", KEY, 0, TOP - 1, "REV", "WITHVALUES"]] } },
    { what: `TOP ${TOP} WITHIN a tenth`, of: { [OURS]: [["RI.RANGE", KEY, 0, TOP - 1, "REV", "WITHVALUES", ...within]] } },
    { what: `${TOP} in the middle of the order`, of: {
      [SORTED]: [["ZRANGE", zset, middle, middle + TOP - 1]], [OURS]: [["RI.RANGE", KEY, middle, middle + TOP - 1]],
    } },
    { what: `HISTOGRAM by ${EDGES} edges`, whole: true, of: { [SORTED]: between, [OURS]: [["RI.HISTOGRAM", KEY, "EDGES", EDGES, ...edges]] } },
  ];
}

export async function* measureIntegers(contenders: readonly Contender[], count: number): AsyncGenerator<Row> {
  const { below } = random(131), values = Uint32Array.from({ length: count }, () => below(VALUES)), bytes = new Map<Contender, number>();
  const ours = contenders.find(({ name }) => name === OURS)!, data = INTEGERS;
  for (const contender of contenders) {
    bytes.set(contender, await contender.memoryOf(async () => {
      for (let from = 0; from < count; from += CHUNK) {
        const ids = range(from, Math.min(CHUNK, count - from));
        const entries = ids.map((id) => [id, values[id]!] as const);
        await contender.run(contender.name === BY_HAND ? settingByHand(entries) : [setting(contender, entries)]);
      }
    }));
  }
  yield { data, what: "memory per id", unit: "bytes", values: figures(bytes, (value) => value / count) };
  const segment = range(0, Math.floor(count / SEGMENT)).map((n) => n * SEGMENT + below(SEGMENT));
  for (let at = 0; at < segment.length; at += CHUNK) await ours.run([["R.SETBITS", TENTH, ...segment.slice(at, at + CHUNK)]]);
  for (const { what, whole, of } of [...points(values), ...questions(count)]) {
    const times = await measure(contenders, (contender) => {
      const commands = of[contender.name];
      return commands ? { timed: whole ? ALL : String(commands[0]![0]), commands } : null;
    });
    yield { data, what, unit: "µs", values: times };
  }
}
