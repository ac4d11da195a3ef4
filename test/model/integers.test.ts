// Integers for ids: random sequences of all commands, compared with a Map.

import { describe, expect, it } from "vitest";
import { seeded } from "../support/random.ts";
import type { Argument, Command, Reply } from "../support/resp.ts";
import { Sequence } from "../support/sequence.ts";
import { withDebug } from "../support/server.ts";
import { expectValid, record, useServer } from "../support/suite.ts";

const LEAST = -(2n ** 63n), GREATEST = 2n ** 63n - 1n;
const big = (reply: Reply | undefined): bigint => BigInt(reply as string | number | bigint);
const bigs = (reply: Reply): bigint[] => (reply as Reply[]).map(big);
const compare = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));

/** What a sequence draws from. */
interface Shape {
  readonly name: string;
  /** Ids are below 2^idBits, around `windows` places. */
  readonly idBits: number;
  readonly valueBits: number;
}

const shapes: Shape[] = [
  { name: "dense ids, narrow values", idBits: 11, valueBits: 5 },
  { name: "dense ids, values of 17 bits", idBits: 12, valueBits: 17 },
  { name: "ids of several containers", idBits: 18, valueBits: 17 },
  { name: "sparse ids", idBits: 30, valueBits: 40 },
  { name: "ids and values of 64 bits", idBits: 64, valueBits: 64 },
];

class IntegerSequence extends Sequence<Shape> {
  readonly model = new Map<bigint, bigint>();
  readonly members = new Set<bigint>();

  bits(count: number): bigint {
    return this.random.u64() >> BigInt(64 - count);
  }

  id(): bigint {
    const ids = this.random.below(3) === 0 ? [...this.model.keys()] : [];
    return ids.length > 0 ? ids[this.random.below(ids.length)]! : this.bits(this.shape.idBits);
  }

  value(): bigint {
    if (this.random.below(300) === 0) return this.random.below(2) ? LEAST : GREATEST;
    const value = this.bits(this.shape.valueBits);
    return this.shape.valueBits === 64 ? BigInt.asIntN(64, value) : this.random.below(3) === 0 ? -value : value;
  }

  /** The values of the ids that count. */
  entries(within: boolean): [bigint, bigint][] {
    return [...this.model].filter(([id]) => !within || this.members.has(id));
  }

  ordered(within: boolean): [bigint, bigint][] {
    return this.entries(within).sort(([a, x], [b, y]) => compare(x, y) || compare(a, b));
  }

  async set(): Promise<void> {
    const option = ["", "", "", "NX", "XX", "GT", "LT"][this.random.below(7)]!, ch = this.random.below(2) === 1;
    const count = this.random.below(4) === 0 ? this.random.below(300) + 1 : 1, pairs: bigint[] = [];
    const ascending = this.random.below(3) === 0, start = this.id();
    let added = 0, changed = 0;
    for (let i = 0; i < count; i++) {
      const id = ascending ? BigInt.asUintN(64, start + BigInt(i)) : this.id(), value = this.value(), old = this.model.get(id);
      pairs.push(id, value);
      const isKept = old !== undefined && (value === old || (option === "GT" && value < old) || (option === "LT" && value > old));
      if (isKept || option === (old === undefined ? "XX" : "NX")) continue;
      if (old === undefined) added++;
      changed++;
      this.model.set(id, value);
    }
    this.same(await this.run("RI.SET", "k", ...(option ? [option] : []), ...(ch ? ["CH"] : []), ...pairs), ch ? changed : added, `SET ${option}`);
  }

  async incrby(): Promise<void> {
    const id = this.id(), more = this.value(), value = (this.model.get(id) ?? 0n) + more;
    if (value < LEAST || value > GREATEST) {
      const refused = await this.server.connection.refusal("RI.INCRBY", "k", id, more);
      this.same(refused, "ERR increment or decrement would overflow", "INCRBY");
    } else {
      this.model.set(id, value);
      this.same(big(await this.run("RI.INCRBY", "k", id, more)), value, "INCRBY");
    }
  }

  async del(): Promise<void> {
    const ids = Array.from({ length: this.random.below(60) + 1 }, () => this.id());
    const there = new Set(ids.filter((id) => this.model.delete(id)));
    this.same(await this.run("RI.DEL", "k", ...ids), there.size, "DEL");
  }

  bounds(): { words: string[]; has: (value: bigint) => boolean } {
    const draw = (low: boolean): { word: string; has: (value: bigint) => boolean } => {
      const values = [...this.model.values()], there = values[this.random.below(values.length)];
      const bound = this.random.below(4) > 0 ? there ?? this.value() : this.value();
      switch (this.random.below(6)) {
        case 0: return { word: low ? "-inf" : "+inf", has: () => true };
        case 1: return { word: `(${bound}`, has: (value) => (low ? value > bound : value < bound) };
        default: return { word: String(bound), has: (value) => (low ? value >= bound : value <= bound) };
      }
    };
    const low = draw(true), high = draw(false);
    return { words: [low.word, high.word], has: (value) => low.has(value) && high.has(value) };
  }

  /** The words of WITHIN: of the bitmap's members, as an expression or alone. */
  within(used: boolean): Argument[] {
    return !used ? [] : this.random.below(2) ? ["WITHIN", "#1", 1, "members"] : ["WITHIN", "#1 - #2", 2, "members", "none"];
  }

  async delrange(): Promise<void> {
    const { words, has } = this.bounds(), within = this.random.below(2) === 0;
    const removed = this.entries(within).filter(([, value]) => has(value));
    if (removed.length > this.model.size / 2) return;
    for (const [id] of removed) this.model.delete(id);
    this.same(await this.run("RI.DELRANGE", "k", ...words, ...this.within(within)), removed.length, "DELRANGE");
  }

  async look(): Promise<void> {
    const within = this.random.below(2) === 0, all = this.ordered(within), { words, has } = this.bounds();
    const id = this.id(), old = this.model.get(id) ?? null, n = all.length;
    this.same(await this.run("RI.GET", "k", id).then((reply) => (reply === null ? null : big(reply))), old, "GET");
    this.same(await this.run("RI.CARD", "k"), this.model.size, "CARD");
    this.same(await this.run("RI.COUNT", "k", ...words, ...this.within(within)), all.filter(([, value]) => has(value)).length, `COUNT ${words.join(" ")}`);
    const sum = all.reduce((before, [, value]) => before + value, 0n);
    this.same(bigs(await this.run("RI.SUM", "k", ...this.within(within))), [BigInt(n), sum], "SUM");
    const stats = record(await this.run("RI.STATS", "k", ...this.within(within)));
    this.same([big(stats.get("count")), big(stats.get("sum"))], [BigInt(n), sum], "STATS");
    if (n > 0) this.same([big(stats.get("min")), big(stats.get("max"))], [all[0]![1], all.at(-1)![1]], "STATS");
    else this.same([stats.get("min"), stats.get("max"), stats.get("mean")], [null, null, null], "STATS of nothing");
    if (n > 0) this.same(Number(stats.get("mean")), Number(sum) / n, "mean");
    await this.lookAtOrder(within, all);
    await this.lookAtRange(within, all, words, has);
    await this.lookAtDistribution(within, all);
  }

  async lookAtOrder(within: boolean, all: [bigint, bigint][]): Promise<void> {
    const ids = [...this.model.keys()];
    if (ids.length === 0) return;
    const id = ids[this.random.below(ids.length)]!, value = this.model.get(id)!;
    const before = all.filter(([other, x]) => compare(x, value) < 0 || (x === value && other < id)).length;
    const behind = all.filter(([other, x]) => compare(x, value) > 0 || (x === value && other > id)).length;
    this.same(await this.run("RI.RANK", "k", id, ...this.within(within)), before, "RANK");
    this.same(await this.run("RI.RANK", "k", id, "REV", ...this.within(within)), behind, "RANK REV");
    const q = [0, 0.25, 0.5, 0.9, 1, this.random.below(1000) / 1000];
    const expected = q.map((part) => all[Math.max(Math.ceil(part * all.length) - 1, 0)]?.[1] ?? null);
    const replied = (await this.run("RI.QUANTILE", "k", ...q, ...this.within(within))) as Reply[];
    this.same(replied.map((reply) => (reply === null ? null : big(reply))), expected, "QUANTILE");
  }

  async lookAtRange(within: boolean, all: [bigint, bigint][], words: string[], has: (value: bigint) => boolean): Promise<void> {
    const rev = this.random.below(2) === 1, withValues = this.random.below(2) === 1, byValue = this.random.below(2) === 1;
    const ordered = (byValue ? all.filter(([, value]) => has(value)) : all), list = rev ? [...ordered].reverse() : ordered, n = list.length;
    const options = [...(rev ? ["REV"] : []), ...(withValues ? ["WITHVALUES"] : [])];
    let expected: [bigint, bigint][], command: Argument[];
    if (byValue) {
      const offset = this.random.below(n + 3), limits = this.random.below(2) === 1;
      const count = this.random.below(3) === 0 ? -1 : this.random.below(n + 3);
      expected = limits ? list.slice(offset, count < 0 ? undefined : offset + count) : list;
      command = [...(rev ? [...words].reverse() : words), "BYVALUE", ...options, ...(limits ? ["LIMIT", offset, count] : [])];
    } else {
      const rank = (): number => this.random.below(2 * n + 4) - n - 2;
      const start = rank(), stop = this.random.below(2) ? start + this.random.below(12) : rank();
      const from = Math.max(start < 0 ? start + n : start, 0), to = stop < 0 ? stop + n : stop;
      expected = list.slice(from, Math.max(to + 1, 0));
      command = [start, stop, ...options];
    }
    const reply = bigs(await this.run("RI.RANGE", "k", ...command, ...this.within(within)));
    this.same(reply, withValues ? expected.flat() : expected.map(([id]) => id), `RANGE ${command.join(" ")}`);
  }

  async lookAtDistribution(within: boolean, all: [bigint, bigint][]): Promise<void> {
    const counts = new Map<bigint, number>();
    for (const [, value] of all) counts.set(value, (counts.get(value) ?? 0) + 1);
    const pairs = [...counts].sort(([a], [b]) => compare(a, b));
    const reply = async (...words: Argument[]): Promise<[bigint, number][]> =>
      ((await this.run("RI.HISTOGRAM", "k", ...words, ...this.within(within))) as Reply[][]).map(([value, ids]) => [big(value), ids as number]);
    this.same(await reply(), pairs, "HISTOGRAM");
    const top = [...pairs].sort(([a, x], [b, y]) => y - x || compare(a, b)).slice(0, 3);
    this.same(await reply("TOP", 3), top, "HISTOGRAM TOP");
    const edges = [...new Set(Array.from({ length: 5 }, () => this.value()))].sort(compare);
    const expected = Array.from({ length: edges.length + 1 }, (_, i) =>
      all.filter(([, value]) => (i === 0 || value >= edges[i - 1]!) && (i === edges.length || value < edges[i]!)).length);
    this.same(await this.run("RI.HISTOGRAM", "k", "EDGES", edges.length, ...edges, ...this.within(within)), expected, "HISTOGRAM EDGES");
  }

  /** Compares all ids and values of a key, read page by page. */
  async compareAll(key = "k", model = this.model): Promise<void> {
    const found: bigint[] = [];
    let cursor: Argument = "0";
    do {
      const [next, page] = (await this.run("RI.SCAN", key, cursor, "COUNT", this.random.below(200) + 1)) as [string, Reply[]];
      found.push(...bigs(page));
      cursor = next;
    } while (cursor !== "0");
    this.same(found, [...model].sort(([a], [b]) => compare(a, b)).flat(), `SCAN ${key}`);
    if (model.size > 0) await expectValid(this.server, key);
    else this.same(await this.run("EXISTS", key), 0, "a key without ids");
  }

  async copies(): Promise<void> {
    if (this.model.size === 0) return;
    await this.run("COPY", "k", "copied", "REPLACE");
    await this.compareAll("copied");
    const dump = Buffer.from((await this.run("DUMP", "k")) as string, "latin1");
    await this.run("RESTORE", "restored", 0, dump, "REPLACE");
    await this.compareAll("restored");
    this.same(await this.run("RI.SET", "copied", 1, 12345), this.model.has(1n) ? 0 : 1, "a write to a copy");
    await this.compareAll();
    this.same(await this.run("RI.OPTIMIZE", "k"), "OK", "OPTIMIZE");
    await this.compareAll();
  }

  async merge(): Promise<void> {
    const how = ["SUM", "MIN", "MAX"][this.random.below(3)]!, other = new Map<bigint, bigint>();
    for (let i = 0; i < 30; i++) other.set(this.id(), this.value());
    await this.run("DEL", "other");
    await this.run("RI.SET", "other", ...[...other].flat());
    const merged = new Map(this.model);
    for (const [id, value] of other) {
      const old = merged.get(id);
      merged.set(id, old === undefined ? value : how === "SUM" ? old + value : (how === "MIN") === (value < old) ? value : old);
    }
    if ([...merged.values()].some((value) => value < LEAST || value > GREATEST)) return;
    this.same(await this.run("RI.MERGE", "merged", 2, "k", "other", "AGGREGATE", how), merged.size, "MERGE");
    await this.compareAll("merged", merged);
  }

  /** Comparisons with numbers, with bounds in several forms, and with another key whose values are near or far from those of `k`. */
  async compared(): Promise<void> {
    const other = new Map<bigint, bigint>(), far = this.random.below(3) === 0 ? this.value() : 0n;
    for (const [id, value] of this.model) {
      const near = BigInt.asIntN(64, value + far + BigInt(this.random.below(5) - 2));
      if (this.random.below(8)) other.set(id, this.random.below(8) ? near : this.value());
    }
    for (let i = 0; i < 30; i++) other.set(this.id(), this.value());
    await this.run("DEL", "other");
    await this.run("RI.SET", "other", ...[...other].flat());
    const a = this.value(), b = this.value();
    const where = (holds: (mine: bigint, others: bigint | undefined) => boolean): bigint[] =>
      [...this.model].filter(([id, mine]) => holds(mine, other.get(id))).map(([id]) => id).sort(compare);
    const tell = async (text: string, keys: number, members: bigint[]): Promise<void> => {
      const query = ["R64.QUERY", text, keys, ...["k", "other", "members"].slice(0, keys)];
      this.same(bigs(await this.run(...query, "MEMBERS")), members, text);
      if (this.random.below(4)) return;
      const from = this.random.below(3) ? this.id() : 0n, limit = 1 + this.random.below(this.random.below(2) ? 5 : 200);
      const count = this.random.below(500);
      const page = members.filter((id) => id >= from).slice(0, limit);
      const before = members.filter((id) => id <= from).reverse().slice(0, limit);
      this.same(bigs(await this.run(...query, "MEMBERS", "FROM", from, "LIMIT", limit)), page, `${text} from ${from}, ${limit}`);
      const down = bigs(await this.run(...query, "MEMBERS", "REV", "FROM", from, "LIMIT", limit));
      this.same(down, before, `${text} down from ${from}, ${limit}`);
      const stored = await this.run("R64.QUERYSTORE", "stored", ...query.slice(1), "FROM", from, "LIMIT", limit);
      this.same(big(stored), BigInt(page.length), `${text} stored from ${from}, ${limit}`);
      this.same(bigs(await this.run("R64.RANGE", "stored", 0, 2n ** 64n - 1n)), page, `${text} stored from ${from}, ${limit}`);
      const counted = count ? Math.min(count, members.length) : members.length;
      this.same(big(await this.run(...query, "CARD", "LIMIT", count)), BigInt(counted), `${text}, up to ${count}`);
    };
    const both: [string, (x: bigint, y: bigint) => boolean][] = [
      ["<", (x, y) => x < y], ["<=", (x, y) => x <= y], [">", (x, y) => x > y], [">=", (x, y) => x >= y], ["=", (x, y) => x === y], ["!=", (x, y) => x !== y],
    ];
    for (const [how, holds] of both) {
      await tell(`#1 ${how} #2`, 2, where((x, y) => y !== undefined && holds(x, y)));
      await tell(`${a} ${how} #1 ${how} ${b}`, 1, where((x) => holds(a, x) && holds(x, b)));
    }
    await tell(`#1 >= ${a} & #1 < ${b} & #1 != ${a}`, 1, where((x) => x > a && x < b));
    await tell(`#1 > ${a} & #2 > ${a} & #2 < ${b}`, 2, where((x, y) => x > a && y !== undefined && y > a && y < b));
    await tell(`#1 > ${a} - #1 > ${b}`, 1, where((x) => x > a && x <= b));
    await tell(`#1 > ${a} & (#1 <= ${b} | #2 > #1)`, 2, where((x, y) => x > a && (x <= b || (y !== undefined && y > x))));
    await this.comparedWithin(a, b, other, tell);
  }

  /** Comparisons in expressions that have no members outside of a bitmap or a range. */
  async comparedWithin(
    a: bigint, b: bigint, other: ReadonlyMap<bigint, bigint>, tell: (text: string, keys: number, members: bigint[]) => Promise<void>,
  ): Promise<void> {
    const [low, high] = [this.id(), this.id()].sort(compare) as [bigint, bigint];
    const all = new Set([...this.model.keys(), ...other.keys(), ...this.members]);
    const where = (holds: (x: bigint | undefined, y: bigint | undefined, is: boolean, id: bigint) => boolean): bigint[] =>
      [...all].filter((id) => holds(this.model.get(id), other.get(id), this.members.has(id), id)).sort(compare);
    const above = (x: bigint | undefined, bound: bigint | undefined): boolean => x !== undefined && bound !== undefined && x > bound;
    await tell(`#3 & #1 > ${a} & #2 != ${b}`, 3, where((x, y, is) => is && above(x, a) && y !== undefined && y !== b));
    await tell(`#3 - #1 > ${a} - #2 > ${b}`, 3, where((x, y, is) => is && !above(x, a) && !above(y, b)));
    await tell(`#3 & (#1 > #2 | ~(#2 > ${a}))`, 3, where((x, y, is) => is && (above(x, y) || !above(y, a))));
    await tell(`(#3 | #1) & #2 > #1`, 3, where((x, y) => above(y, x)));
    await tell(`#2 > #1 & #1 & #3`, 3, where((x, y, is) => is && above(y, x)));
    await tell(`[${low}..${high}] & #1 > ${a}`, 1, where((x, _y, _is, id) => id >= low && id <= high && above(x, a)));
    await tell(`[${low}..${high}] & #3 - #1 > #2`, 3, where((x, y, is, id) => id >= low && id <= high && is && !above(x, y)));
    await tell(`#3 & atleast(2, #1 > ${a}, #1 > ${b}, #2 > ${a})`, 3,
      where((x, y, is) => is && Number(above(x, a)) + Number(above(x, b)) + Number(above(y, a)) > 1));
  }

  async step(): Promise<void> {
    const what = this.random.below(100);
    if (what < 40) await this.set();
    else if (what < 55) await this.incrby();
    else if (what < 65) await this.del();
    else if (what < 67) await this.delrange();
    else if (what < 90) await this.look();
    else if (what < 93) await this.copies();
    else if (what < 94) await this.merge();
    else if (what < 95) await this.compared();
    else if (what < 97) {
      const id = this.id();
      this.members.add(id);
      await this.run("R64.SETBIT", "members", id, 1);
    } else if (what < 99) await this.compareAll();
    else await this.run("DEBUG", "RELOAD");
  }
}

const STEPS = Number(process.env.ROAR_STEPS ?? 250);

for (const segment of [undefined, 6000]) {
  describe(`RI.* with ${segment ? `segments of ${segment} bytes` : "segments of the usual size"}`, () => {
    const server = useServer({
      moduleArguments: [...withDebug, ...(segment ? ["SEGMENT-BYTES", String(segment)] : [])], config: ["enable-debug-command yes", "save ''"],
    });
    it.each(shapes.map((shape) => [shape.name, shape] as const))("replies as a map of %s", (_name, shape) => seeded(async (random) => {
      const sequence = new IntegerSequence(server, random, shape);
      await server.run("R64.SETBIT", "members", 1, 1);
      sequence.members.add(1n);
      const adds: Command[] = [];
      for (let i = 0; i < 300; i++) {
        const id = sequence.bits(shape.idBits);
        sequence.members.add(id);
        adds.push(["R64.SETBIT", "members", id, 1]);
      }
      await server.connection.pipeline(adds);
      for (let i = 0; i < STEPS; i++) await sequence.step();
      await sequence.compareAll();
      expect(sequence.comparisons).toBeGreaterThan(STEPS);
    })());
  });
}
