// Random operations on sharded bitmaps, beside Sets that say what they should answer.

import { type Bitmaps, LocalBitmap, type Offset, q, type ShardedBitmap } from "../../client/src/index.ts";
import { ascending, range, sorted } from "./family.ts";
import { combine, type Operation, operations } from "./model.ts";
import type { Random } from "./random.ts";

type Any = number | bigint;
type Bitmap = ShardedBitmap<Any>;

const BITMAPS = 4;

/** How the universe is cut, and the offsets that are used: few enough to meet again, and around multiples of `step` and of containers. */
export const universes = [
  { family: "r", sharding: { width: 131_072n, shards: 9 }, step: 131_072n, shards: 9 },
  { family: "r64", sharding: { width: 2n ** 60n, shards: 16 }, step: 2n ** 60n, shards: 16 },
  { family: "r", sharding: { by: "hash", shards: 7 }, step: 131_072n, shards: 9 },
  { family: "r64", sharding: { by: "hash", shards: 5 }, step: 2n ** 60n, shards: 16 },
] as const;

export type Universe = (typeof universes)[number];

/** Expressions, and whether an offset is in their result, given whether it is in each of three bitmaps. */
const expressions: readonly [text: string, has: (a: boolean, b: boolean, c: boolean, offset: bigint) => boolean][] = [
  ["#1 & #2 - #3", (a, b, c) => a && b && !c],
  ["(#1 | #2) ^ #3", (a, b, c) => (a || b) !== c],
  ["~#1 & (#2 | #3)", (a, b, c) => !a && (b || c)],
  ["atleast(2, #1..#3)", (a, b, c) => Number(a) + Number(b) + Number(c) >= 2],
  ["exactly(1, #1..#3)", (a, b, c) => Number(a) + Number(b) + Number(c) === 1],
  ["(#1 | #2 | #3) & [131070..262150]", (a, b, c, offset) => (a || b || c) && offset >= 131_070n && offset <= 262_150n],
  ["[131060..131085] - (#1 & #2 & #3)", (a, b, c, offset) => offset >= 131_060n && offset <= 131_085n && !(a && b && c)],
];

/** The runs of ascending members, each as its first and last. */
function runsOf(members: readonly Any[]): [Any, Any][] {
  const runs: [Any, Any][] = [];
  for (const one of members) {
    const run = runs.at(-1);
    if (run && BigInt(run[1]) + 1n === BigInt(one)) run[1] = one;
    else runs.push([one, one]);
  }
  return runs;
}

/** Sharded bitmaps that start empty, and Sets that ought to have the same members. */
export class Trial {
  readonly #random: Random;
  readonly #bitmaps: Bitmap[];
  readonly #sets: Set<bigint>[] = range(0, BITMAPS).map(() => new Set());
  readonly #width: bigint;
  readonly #last: bigint;
  readonly #answers: (value: bigint) => Any;
  readonly #plain: Bitmaps<Any>;
  readonly #key: string;

  constructor(rng: Random, plain: Bitmaps<Any>, { sharding, step, shards }: Universe, name: string) {
    this.#random = rng;
    this.#plain = plain;
    this.#key = `${name} plain`;
    this.#bitmaps = range(0, BITMAPS).map((i) => plain.sharded(`${name} ${i}`, sharding));
    this.#width = step;
    this.#last = step * BigInt(shards) - 1n;
    this.#answers = name.includes(", r,") ? Number : (value) => value;
  }

  /** What a bitmap ought to have, and what it has. */
  async contents(bitmap: number): Promise<[expected: Any[], actual: Any[]]> {
    return [this.#sorted(this.#sets[bitmap]!), await this.#bitmaps[bitmap]!.range(0, this.#answers(this.#last))];
  }

  /** Makes all bitmaps what they ought to be. Rejects if the cluster does not answer. */
  async restore(): Promise<void> {
    const { family } = this.#bitmaps[0]!;
    for (const [i, bitmap] of this.#bitmaps.entries()) {
      await bitmap.import(LocalBitmap.of(family, this.#sorted(this.#sets[i]!)).toPayload(), { replace: true });
    }
  }

  /** How many bitmaps there are. */
  get size(): number {
    return this.#bitmaps.length;
  }

  #offset(): Offset<Any> {
    const rng = this.#random, shards = Number((this.#last + 1n) / this.#width);
    const base = BigInt(rng.below(shards + 1)) * this.#width + (rng.chance(0.3) ? 65_536n : 0n);
    const offset = base + BigInt(rng.below(24) - 12);
    return this.#answers(offset < 0n ? 0n : offset > this.#last ? this.#last : offset);
  }

  #offsets(): Offset<Any>[] {
    return range(0, 1 + this.#random.below(12)).map(() => this.#offset());
  }

  #sorted(set: Set<bigint>): Any[] {
    return sorted(set).map(this.#answers);
  }

  /** One random operation: its name, and what it answers beside what it should. */
  async step(): Promise<[name: string, actual: unknown, expected: unknown]> {
    const rng = this.#random, i = rng.below(BITMAPS), bitmap = this.#bitmaps[i]!, set = this.#sets[i]!, some = this.#offsets();
    const offset = some[0]!, at = BigInt(offset), all = this.#sorted(set), count = this.#answers(BigInt(set.size));
    const others = [rng.below(BITMAPS), rng.below(BITMAPS), rng.below(BITMAPS)], sets = others.map((k) => this.#sets[k]!);
    const store = (members: Iterable<bigint>): Any => this.#answers(BigInt((this.#sets[i] = new Set(members)).size));
    const change = (offsets: Offset<Any>[], action: (value: bigint) => void): Any => {
      const before = set.size;
      for (const one of offsets) action(BigInt(one));
      return this.#answers(BigInt(Math.abs(set.size - before)));
    };
    const query = (): [text: string, members: bigint[]] => {
      const [text, has] = rng.pick(expressions.slice(0, this.#width > 2n ** 32n ? 5 : undefined));
      const candidates = sorted(new Set([...sets.flatMap((one) => [...one]), ...range(131_060, 26).map(BigInt)]));
      return [text, candidates.filter((one) => has(sets[0]!.has(one), sets[1]!.has(one), sets[2]!.has(one), one))];
    };
    switch (rng.below(23)) {
      case 0: case 1: case 2: {
        const bit = rng.chance(0.7) ? 1 : 0, before = set.has(at) ? 1 : 0;
        if (bit) set.add(at);
        else set.delete(at);
        return ["setBit", await bitmap.setBit(offset, bit), before];
      }
      case 3: case 4: return ["setBits", await bitmap.setBits(some), change(some, (one) => set.add(one))];
      case 5: return ["clearBits", await bitmap.clearBits(some), change(some, (one) => set.delete(one))];
      case 6: return ["getBit", await bitmap.getBit(offset), set.has(at) ? 1 : 0];
      case 7: return ["getBits", await bitmap.getBits(some), some.map((one) => (set.has(BigInt(one)) ? 1 : 0))];
      case 8: return ["count, min, max", [await bitmap.count(), await bitmap.min(), await bitmap.max()], [count, all[0] ?? null, all.at(-1) ?? null]];
      case 9: if (rng.chance(0.5)) {
        const ranges = some.map((low) => [low, this.#offset()] as const);
        const inside = ranges.map(([low, high]) => all.filter((one) => one >= BigInt(low) && one <= BigInt(high)).length);
        return ["rangeCounts", await bitmap.rangeCounts(ranges), inside.map((one) => this.#answers(BigInt(one)))];
      } else return ["rank", await bitmap.rank(offset), this.#answers(BigInt([...set].filter((one) => one <= at).length))];
      case 10: {
        const rank = rng.below(2 * set.size + 3) - set.size - 1;
        return [`select ${rank}`, await bitmap.select(rank), all.at(rank < 0 ? rank : rank < all.length ? rank : Infinity) ?? null];
      }
      case 11: {
        const [low, high] = [offset, this.#offset()].sort((a, b) => ascending(BigInt(a), BigInt(b))) as [Offset<Any>, Offset<Any>];
        const limit = rng.chance(0.5) ? rng.below(30) : undefined, rev = rng.chance(0.5);
        const inside = all.filter((one) => one >= BigInt(low) && one <= BigInt(high));
        if (rng.chance(0.5)) return ["range", await bitmap.range(low, high, { rev, limit }), (rev ? inside.reverse() : inside).slice(0, limit)];
        return ["ranges", await bitmap.ranges(low, high, { limit }), runsOf(inside).slice(0, limit)];
      }
      case 12: case 13: {
        const operation: Operation = rng.pick(operations), result = new Set(combine(operation, sets).map(BigInt));
        return [operation, await bitmap.bitOp(operation, others.map((k) => this.#bitmaps[k]!)), store(result)];
      }
      case 14: {
        const [text, members] = query(), [first, ...rest] = others.map((k) => this.#bitmaps[k]!);
        return [text, await first!.queryCard(text, rest), this.#answers(BigInt(members.length))];
      }
      case 15: {
        const [text, members] = query(), [first, ...rest] = others.map((k) => this.#bitmaps[k]!), limit = rng.below(40);
        const rev = rng.chance(0.5), found = rev ? members.filter((one) => one <= at).reverse() : members.filter((one) => one >= at);
        const expected = found.slice(0, limit).map(this.#answers);
        return [`${text}${rev ? " REV" : ""}`, await first!.queryMembers(text, rest, { rev, from: offset, limit }), expected];
      }
      case 16: {
        const [text, members] = query(), sources = others.map((k) => this.#bitmaps[k]!), from = rng.chance(0.5) ? offset : undefined;
        const limit = rng.chance(0.3) ? rng.below(40) : undefined, part = members.filter((one) => one >= BigInt(from ?? 0)).slice(0, limit);
        return [`store ${text} from ${from} limit ${limit}`, await bitmap.queryStore(text, sources, { from, limit }), store(part)];
      }
      case 17: {
        const source = this.#bitmaps[others[0]!]!, replace = rng.chance(0.5);
        const expected = store(replace ? sets[0]! : [...set, ...sets[0]!]);
        return ["export, import", await bitmap.import(await source.export(), { replace }), expected];
      }
      case 18: {
        if (rng.chance(0.7)) {
          const both = [...set].filter((one) => sets[0]!.has(one)).length, any = set.size + sets[0]!.size - both;
          return ["jaccard", await bitmap.jaccard(this.#bitmaps[others[0]!]!), any === 0 ? null : both / any];
        }
        await bitmap.delete();
        store([]);
        return ["delete", await bitmap.count(), this.#answers(0n)];
      }
      case 19: {
        const [text, members] = query(), [first, ...rest] = others.map((k) => this.#bitmaps[k]!);
        const one = new Set(members), k = rng.below(BITMAPS + 1), by = rng.pick(["CARD", "JACCARD", "OVERLAP"] as const);
        const counts = this.#sets.map((facet) => [...facet].filter((member) => one.has(member)).length);
        const wholes = this.#sets.map(({ size }, j) =>
          (by === "CARD" ? 1 : by === "JACCARD" ? one.size + size - counts[j]! : Math.min(one.size, size)));
        const ranked = range(0, BITMAPS).filter((j) => counts[j]! > 0)
          .sort((x, y) => counts[y]! * wholes[x]! - counts[x]! * wholes[y]! || x - y);
        const top = await first!.facetTop(text, rest, this.#bitmaps, k, { by });
        return [
          `facet ${text} by ${by}`,
          [await first!.facet(text, rest, this.#bitmaps), top.map(([facet, score]) => [facet.name, score])],
          [
            counts.map((shared) => this.#answers(BigInt(shared))),
            ranked.slice(0, k).map((j) => [this.#bitmaps[j]!.name, by === "CARD" ? this.#answers(BigInt(counts[j]!)) : counts[j]! / wholes[j]!]),
          ],
        ];
      }
      case 20: {
        const [first, second, limit] = others.map((k) => this.#bitmaps[k]!) as [Bitmap, Bitmap, Bitmap], limited = rng.chance(0.5);
        const table = [sets[0]!, sets[1]!].map((row) => this.#sets.map((column) =>
          this.#answers(BigInt([...row].filter((member) => column.has(member) && (!limited || !sets[2]!.has(member))).length))));
        const within = limited ? q`~${limit}` : undefined;
        return ["crossCard", await first.crossCard([second], this.#bitmaps, { within }), table];
      }
      case 21: {
        const single = rng.chance(0.3), most = single ? 1 : rng.below(9);
        const taken = single ? [await bitmap.randPop() ?? []].flat() : await bitmap.randPops(most);
        const known = sorted(taken.filter((one) => set.delete(BigInt(one)))), size = Math.min(most, all.length);
        return ["randPop", [taken, taken.length, await bitmap.count()], [known, size, this.#answers(BigInt(set.size))]];
      }
      default: {
        if (rng.chance(0.5)) {
          const pages: Any[][] = [];
          for await (const page of bitmap.scanPages({ from: offset, count: 1 + rng.below(9) })) pages.push(page);
          return ["scanPages", pages.flat(), all.filter((one) => one >= at)];
        }
        await this.#plain.setIntArray(this.#key, some);
        return ["copyFrom", await bitmap.copyFrom(this.#key), store(some.map(BigInt))];
      }
    }
  }
}
