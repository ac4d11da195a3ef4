// Cases that hardly any random sequence meets: containers at the limits of their kinds, and one bitmap merged into another, kind by kind.
// `make coverage` shows which they are. Members are compared with a Set, and the bitmap is validated after each step.

import { describe, expect, it } from "vitest";
import { Edges } from "./oracle/edges.ts";
import { evaluate, parse } from "./oracle/expression.ts";
import { collisions } from "./oracle/hashes.ts";
import { families, fromReply, type Member, member, range, sorted } from "../support/family.ts";
import { bytesOf, type Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectEqual, expectValid, useServer } from "../support/suite.ts";

const CONTAINER = 65_536, everyLow = range(0, CONTAINER);

/** Contents of a container, by what they become when they are added as a list or, if they are one range, as a range. */
const contents: Readonly<Record<string, readonly number[]>> = {
  nothing: [],
  "one member": [700],
  "two members": [256, 65_535],
  "an array": range(0, 300, 200),
  "256 members of one high byte, and others (a sparse bitset)": [...range(0, 256), ...range(1000, 1500, 40)],
  "4,096 members, the most of an array in payloads (a sparse bitset)": [...range(0, 256), ...range(256, 3840, 17)],
  "a sparse bitset": range(3, 2000, 30),
  "255 members of one high byte, and others (a sparse bitset)": [...range(0, 255), ...range(1000, 1500, 40)],
  "a sparse bitset that ends with a run": [...range(3, 1500, 30), ...range(65_400, 136)],
  "a sparse bitset with a run over two high bytes": [...range(3, 1300, 30), ...range(40_003, 300)],
  "an array that one more member makes a short bitset": range(640, 400, 16),
  "an array that two more members make a short bitset": range(640, 399, 16),
  "a short bitset": range(5000, 1000, 2),
  "a short bitset of more members than an array has": range(59_008, 6400).filter((low) => low % 5 > 0),
  "a bitset": range(0, 21_000, 3),
  "other bits of a bitset": range(1, 21_000, 3),
  "a bitset that ends with a run": [...range(0, 15_000, 4), ...range(64_000, 1536)],
  "a run": range(100, 30_000),
  "all members but one": range(1, CONTAINER - 1),
  "all members": range(0, CONTAINER),
};

/** 2,500 containers of two members each, from this key on: more than any merge adds, so that merges are done in place. */
const FAR = 100;
const many = range(FAR, 2500).flatMap((key) => [key * CONTAINER, key * CONTAINER + 9]);

describe.each(byName(families))("%s", (_family, family) => {
  const server = useServer({ moduleArguments: withDebug });
  const roar = roarOn(server, family);

  /** Expects the first containers of `k` to have these members, and the rest of it to be `many`. */
  const expectMembers = async (members: Iterable<number>, what: string): Promise<void> => {
    const expected = sorted(members);
    await expectValid(server, "k", what);
    expectEqual(await roar.run("RANGE", "k", 0, FAR * CONTAINER - 1), expected, what);
    expect(await roar.run("BITCOUNT", "k"), what).toBe(expected.length + many.length);
  };
  /** Adds members, by a range if they are one. */
  const add = (key: string, members: readonly number[]): Promise<unknown> =>
    members.length > 20_000 && members.at(-1)! - members[0]! === members.length - 1
      ? roar.run("SETRANGE", key, members[0]!, members.at(-1)! + 1)
      : roar.connection.pipeline(members.length > 0 ? roar.appends(key, members) : []);

  /** Stores each of `contents` as container 0 of a key. */
  const loadContents = async (): Promise<void> => {
    for (const [name, lows] of Object.entries(contents)) {
      await roar.load(name, []);
      await add(name, lows);
    }
  };
  /** Merges the bitmap `other` into `k`, which must be valid afterwards. */
  const mergeOther = async (what?: string): Promise<void> => {
    await roar.run("IMPORT", "k", bytesOf(await roar.run("EXPORT", "other")));
    await expectValid(server, "k", what);
  };

  it("containers of every kind are merged with containers of every kind, as BITOP OR unites them", async () => {
    const shifted = (key: number, lows: readonly number[]): number[] => lows.map((low) => key * CONTAINER + low);
    const payloads = new Map<string, Buffer>();
    for (const [name, lows] of Object.entries(contents)) {
      await roar.load(name, []);
      for (const key of [2, 3]) await add(name, shifted(key, lows));
      payloads.set(name, bytesOf(await roar.run("EXPORT", name)));
    }
    for (const [own, lows] of Object.entries(contents)) {
      await roar.load("base", many);
      for (const key of [2, 4]) await add("base", shifted(key, lows));
      for (const [name, more] of Object.entries(contents)) {
        const count = many.length + new Set([...lows, ...more]).size + more.length + lows.length;
        const replies = await roar.connection.pipeline([
          ["COPY", "base", "k", "REPLACE"], [roar.name("IMPORT"), "k", payloads.get(name)!], ["R.DEBUG", "VALIDATE", "k"],
          [roar.name("BITOP"), "OR", "expected", "base", name], [roar.name("BITOPCARD"), "XOR", "k", "expected"],
        ]);
        expect(replies, `${own}, ${name}`).toEqual([1, count, "OK", count, 0]);
      }
    }
  });

  it.each(Object.entries({
    "of one member each": range(0, 400).map(() => 1),
    "of five members each": range(0, 180).map(() => 5),
    "of one to seven members": range(0, 240).map((i) => 1 + i % 7),
    "of one member, and one of forty among them": range(0, 300).map((i) => (i === 200 ? 40 : 1)),
    "of one member, behind one of 300": range(0, 300).map((i) => (i === 0 ? 300 : 1)),
    "of one member, around three with a bitset": range(0, 900).map((i) => (i > 300 && i < 304 ? 9000 : 1)),
    "of thirty members each, in many leaves": range(0, 3000).map(() => 30),
  }))("small arrays %s, beyond the last container, are appended", async (_name, counts) => {
    for (const step of [1, 20]) {
      await roar.load("k", many);
      const first = (i: number): number => (FAR + 2600 + i * step) * CONTAINER;
      const far = counts.flatMap((count, i) => range(first(i), count, count > 4096 ? 7 : 150));
      await roar.load("other", far);
      await roar.run("OPTIMIZE", "other");
      await mergeOther(`${step} apart`);
      await roar.run("BITOP", "DIFF", "left", "k", "other");
      expectEqual(await roar.members("left"), many);
      expect(await roar.run("BITCOUNT", "k"), `${step} apart`).toBe(many.length + far.length);
    }
  });

  it("members between a leaf that had to be unpacked and a packed one are merged", async () => {
    const lone = range(1000, 2500, 4).map((key) => key * CONTAINER), large = range(1401 * CONTAINER, 5000, 2);
    await roar.load("k", lone);
    await roar.run("OPTIMIZE", "k");
    await add("k", large);                      // in the first page, of 253 members
    const between = range(1960, 110).filter((key) => key % 4 > 0).map((key) => key * CONTAINER + key);
    await roar.load("other", between);
    await mergeOther();
    expectEqual(await roar.members("k"), sorted([...lone, ...large, ...between]));
  });

  it("pages that end at different members share one, wherever it is", async () => {
    const count = 1500, shift = 5, own = range(0, count).map((key) => key * CONTAINER + 1);
    await roar.load("k", own);
    for (let first = shift; first <= count; first += shift) {
      await roar.load("other", range(shift, count - shift).map((key) => key * CONTAINER + (key < first ? 2 : 1)));
      expect(await roar.run("CONTAINS", "k", "other"), `${first}`).toBe(first < count ? 1 : 0);
    }
  });

  it("containers of every kind are counted with an operand that is prepared to meet many", async () => {
    const names = Object.keys(contents), facets = [...names, ...names];
    await loadContents();
    for (const own of names) {
      const has = new Set(contents[own]), counts = facets.map((name) => contents[name]!.filter((low) => has.has(low)).length);
      expect(await roar.run("FACET", "#1", 1, own, facets.length, ...facets), own).toEqual(counts);
    }
  });

  it("containers of every kind beside lone members, for which a list is the shortest payload, are dumped and restored", async () => {
    const lone = range(FAR, 2500).map((key) => key * CONTAINER + (key % 1000));
    const few = Object.entries(contents).filter(([, lows]) => lows.length <= 2000);
    for (const [name, lows] of [...few, ["a short run", range(100, 300)] as const]) {
      await roar.load("k", lone);
      if (name === "a short run") await roar.run("SETRANGE", "k", 100, 400);
      else await add("k", lows);
      await server.run("RESTORE", "restored", 0, bytesOf(await server.run("DUMP", "k")), "REPLACE");
      await expectValid(server, "restored", name);
      expectEqual(await roar.members("restored"), sorted([...lows, ...lone]), name);
    }
  });

  it("an operand with a gap is prepared to meet bitmaps that have members there", async () => {
    const bitset = contents["a bitset"]!, at = (keys: readonly number[]): number[] => keys.flatMap((key) => bitset.map((low) => key * CONTAINER + low));
    await roar.load("gapped", at([0, 2]));
    await roar.load("whole", at([0, 1, 2, 3]));
    const facets = Array.from({ length: 40 }, () => "whole");
    expect(await roar.run("FACET", "#1", 1, "gapped", facets.length, ...facets)).toEqual(facets.map(() => 2 * bitset.length));
  });

  it.each(Object.keys(contents))("a stretch of full containers is merged with %s", async (own) => {
    await roar.load("k", many);
    for (const key of [2, 4]) await add("k", contents[own]!.map((low) => key * CONTAINER + low));
    await roar.load("other", []);
    await roar.run("SETRANGE", "other", CONTAINER, 4 * CONTAINER);
    await mergeOther();
    await expectMembers([...range(CONTAINER, 3 * CONTAINER), ...contents[own]!.map((low) => 4 * CONTAINER + low)], own);
  });

  it.each(Object.keys(contents))("absent members are removed from %s, single members come and go", async (own) => {
    const model = new Set(contents[own]), clear = everyLow.filter((low) => !model.has(low));
    await roar.load("k", [...many]);
    await add("k", contents[own]!);
    for (const lows of [clear.slice(0, 40), clear.slice(-40), clear.filter((_, i) => i % 999 === 0)].filter(({ length }) => length > 0)) {
      expect(await roar.run("CLEARBITS", "k", ...lows, "COUNT")).toBe(0);
      await expectMembers(model, "nothing removed");
    }
    for (const low of [...clear.slice(0, 3), ...clear.slice(-3), 255, 256, 65_535]) {
      expect(await roar.run("SETBIT", "k", low, 1)).toBe(Number(model.has(low)));
      model.add(low);
      await expectMembers(model, `${low} set`);
    }
    for (const low of [...model].slice(0, 12)) {
      expect(await roar.run("SETBIT", "k", low, 0)).toBe(1);
      model.delete(low);
      await expectMembers(model, `${low} cleared`);
    }
  });

  it.each(Object.keys(contents))("the next set and the next clear bit are found in %s", async (own) => {
    const model = new Set(contents[own]), far = 5 * CONTAINER + 1;
    await roar.load("k", [far]);
    await add("k", contents[own]!);
    const next = (from: number, bit: 0 | 1): number => {
      for (let at = from; at < CONTAINER; at++) if (model.has(at) === (bit === 1)) return at;
      return bit === 1 ? far : CONTAINER;
    };
    const froms = [0, 1, 253, 255, 256, 700, 701, 1000, 5001, 30_099, 30_100, 40_003, 40_191, 62_998, 65_399, 65_400, 65_534, 65_535];
    for (const from of froms) {
      for (const bit of [0, 1] as const) {
        expect(await roar.run("BITPOS", "k", bit, from, -1, "BIT"), `bit ${bit} from ${from}`).toBe(next(from, bit));
      }
    }
  });

  it.each(Object.keys(contents))("%s is flipped, and flipped back", async (own) => {
    const lows = contents[own]!, members = new Set(lows);
    await roar.load("k", many);
    await add("k", lows);
    await roar.run("FLIPRANGE", "k", 0, CONTAINER);
    await expectMembers(everyLow.filter((low) => !members.has(low)), "flipped");
    await roar.run("FLIPRANGE", "k", 0, CONTAINER);
    await expectMembers(lows, "flipped twice");
  });

  /** Expects `k` to have these members and no others. */
  const expectExactly = async (members: Iterable<number>, what: string): Promise<void> => {
    const expected = sorted(members);
    await expectValid(server, "k", what);
    expectEqual(await roar.members("k"), expected, what);
    expect(await roar.run("BITCOUNT", "k"), what).toBe(expected.length);
  };

  it("a member of a tiny bitmap that is full is set again", async () => {
    const members = range(0, 32).map((n) => n * 1000);
    await roar.load("k", members);
    const bytes = await server.usage("k");
    for (const m of members) expect(await roar.run("SETBIT", "k", m, 1)).toBe(1);
    expect(await server.usage("k")).toBe(bytes);
    await expectExactly(members, "set again");
  });

  it("a field joins runs at the end of one container and goes on in the next", async () => {
    const held = [...range(65_000, 534), 65_535, ...range(65_537, 500)];
    await roar.load("k", []);
    await roar.run("SETRANGE", "k", 65_000, 65_534);
    await roar.run("SETBIT", "k", 65_535, 1);
    await roar.run("SETRANGE", "k", 65_537, 66_037);
    await expectExactly(held, "before");
    expect(await roar.run("BITFIELD", "k", "SET", "u4", 65_533, 15)).toEqual([0b1010]);
    await expectExactly([...held, 65_534, 65_536], "after");
  });

  it.each(["each alone", "beside runs of one member"])("pairs are reduced to lone members, %s, and these to none", async (how) => {
    const first = range(0, 40).map((key) => key * CONTAINER), held = new Set(first.flatMap((m) => [m, m + 9]));
    await roar.load("k", [...held]);
    if (how !== "each alone") {
      await roar.run("SETRANGE", "k", 10, 310);
      await roar.connection.pipeline(range(10, 300).map((m) => [roar.name("SETBIT"), "k", m, 0]));
    }
    for (const m of first) {
      expect(await roar.run("SETBIT", "k", m + 9, 0)).toBe(1);
      held.delete(m + 9);
    }
    await expectExactly(held, "lone members");
    for (const m of [...first].reverse()) {
      expect(await roar.run("SETBIT", "k", m, 0)).toBe(1);
      held.delete(m);
      await expectExactly(held, `without ${m}`);
    }
  });

  it.each(["ascending", "descending", "from both ends"])("lone members are added in pages, %s", async (order) => {
    const far = range(1, 1500).map((n) => n * 131_072 + n), half = far.length / 2;
    const ordered = order === "ascending" ? far : order === "descending" ? [...far].reverse()
      : far.slice(0, half).flatMap((m, i) => [m, far.at(-1 - i)!]);
    await server.run("DEL", "k");
    await roar.connection.pipeline(ordered.map((m) => [roar.name("SETBIT"), "k", m, 1]));
    await expectExactly(far, order);
  });

  it("containers of every kind are combined with containers of every kind", async () => {
    const names = Object.keys(contents);
    await loadContents();
    for (const a of names) {
      const members = new Set(contents[a]);
      for (const b of names) {
        const common = contents[b]!.filter((low) => members.has(low)), all = members.size + contents[b]!.length - common.length;
        const [and, or, xor, less, valid, counted] = await roar.connection.pipeline([
          [roar.name("BITOP"), "AND", "and", a, b], [roar.name("BITOP"), "OR", "or", a, b], [roar.name("BITOP"), "XOR", "xor", a, b],
          [roar.name("BITOP"), "DIFF", "less", a, b], ["R.DEBUG", "VALIDATE", "or"], [roar.name("BITOPCARD"), "AND", a, b],
        ]);
        const expected = [common.length, all, all - common.length, members.size - common.length, "OK", common.length];
        expect([and, or, xor, less, valid, counted], `${a}, ${b}`).toEqual(expected);
        if (common.length < 5000) expectEqual(await roar.members("and"), common, `${a}, ${b}`);
        expect(await roar.run("QUERY", "(#1 & #2 | #3) ^ #4", 4, a, b, "xor", "or"), `${a}, ${b}`).toBe(0);
      }
    }
  });

  it("containers of every kind are combined with two bitsets, and counted as they are stored", async () => {
    const names = Object.keys(contents), bitsets = ["a bitset", "other bits of a bitset"];
    const times = new Uint8Array(CONTAINER);
    await loadContents();
    for (const a of names) {
      for (const b of names) {
        const sources = [a, b, ...bitsets];
        times.fill(0);
        for (const source of sources) for (const low of contents[source]!) times[low]!++;
        const count = (wanted: (held: number) => boolean): number => times.reduce((sum, held) => sum + Number(wanted(held)), 0);
        const expected = [
          count((held) => held === 4), count((held) => held > 0), count((held) => held % 2 === 1), count((held) => held === 1),
        ];
        const operations = ["AND", "OR", "XOR", "ONE"];
        const replies = await roar.connection.pipeline([
          ...operations.map((operation) => [roar.name("BITOP"), operation, `${operation}:k`, ...sources]),
          ...operations.map((operation) => [roar.name("BITOPCARD"), operation, ...sources]),
          ...operations.map((operation) => ["R.DEBUG", "VALIDATE", `${operation}:k`]),
        ]);
        expect(replies, `${a}, ${b}`).toEqual([...expected, ...expected, "OK", "OK", "OK", "OK"]);
      }
    }
  });

  it("containers of every kind are summed, several times each and as complements, with ranges that begin inside the container", async () => {
    const names = Object.keys(contents), sums = new Uint16Array(CONTAINER);
    await loadContents();
    await roar.load("elsewhere", range(5 * CONTAINER, 300, 7));
    // How often the first key is named, the complement of the second, the complement of the third, and which ranges there are.
    const forms: readonly (readonly [number, number, number, readonly (readonly [first: number, last: number])[]])[] = [
      [3, 1, 0, []], [1, 4, 2, []], [5, 2, 3, [[100, 40_000]]], [2, 3, 1, [[0, 63], [64, 65_535]]], [4, 300, 1, []],
      [3, 2, 0, [[0, 7000], [7001, 60_000], [30_000, 30_000]]], [300, 1, 0, [[65_535, 65_535]]],
    ];
    for (const [i, a] of names.entries()) {
      for (const [j, b] of names.entries()) {
        const [first, second, third, ranges] = forms[(i + j) % forms.length]!;
        sums.fill(second + third);
        for (const low of contents[a]!) sums[low]! += first;
        for (const low of contents[b]!) sums[low]! -= second;
        for (const [low, high] of ranges) for (let value = low; value <= high; value++) sums[value]!++;
        const items = [
          ...Array<string>(first).fill("#1"), ...Array<string>(second).fill("~#2"), ...Array<string>(third).fill("~#3"),
          ...ranges.map(([low, high]) => `[${low}..${high}]`),
        ].join(", ");
        const most = sums.reduce((max, sum) => Math.max(max, sum)), having = new Uint32Array(most + 2);
        for (const sum of sums) having[sum]!++; // how many offsets have each sum
        for (const least of range(0, most + 2).filter((sum) => sum === 0 || sum > most || having[sum]! > 0)) {
          for (const name of ["atleast", "exactly"]) {
            const text = `[0..65535] & ${name}(${least}, ${items})`, sources = third ? [a, b, "elsewhere"] : [a, b], what = `${name} ${least}: ${a}, ${b}`;
            const count = name === "exactly" ? having[least]! : having.slice(least).reduce((left, right) => left + right);
            const replies = await roar.connection.pipeline([
              [roar.name("QUERY"), text, sources.length, ...sources],
              [roar.name("QUERYSTORE"), "k", text, sources.length, ...sources], ["R.DEBUG", "VALIDATE", "k"],
            ]);
            expect(replies, what).toEqual([count, count, "OK"]);
            if (count >= 500) continue;
            const expected = everyLow.filter((low) => (name === "exactly" ? sums[low]! === least : sums[low]! >= least));
            expectEqual(await roar.members("k"), expected, what);
          }
        }
      }
    }
  });

  it.runIf(family.bits === 64)("terms whose hashes are the same are told apart", async () => {
    for (const { texts, ranges } of collisions()) {
      const ends = ranges.flat().flatMap((end) => [end - 1n, end, end + 1n]).filter((offset) => offset >= 0n && offset <= family.last);
      const sources = [1, 2, 3].map((key) => Edges.of(ends.filter((_, i) => (i * 7 + (i >> 2)) % (key + 2) !== 0)));
      for (const [i, source] of sources.entries()) await roar.load(`k${i + 1}`, source.members().map(member));
      for (const question of [`exactly(1, ${texts})`, `exactly(2, ${texts}, #1..#3)`, `(${texts.join(" ^ ")})`, `(${texts.join(" - ")})`]) {
        const text = `${question} & any(#1..#3)`;
        const expected = evaluate(parse(text, 3, family.last)!, sources, family.last).members().map(member);
        expect(((await roar.run("QUERY", text, 3, "k1", "k2", "k3", "MEMBERS")) as Reply[]).map(fromReply), text).toEqual(expected);
      }
    }
  });

  /** Loads container 0 of the keys s1, s2, ..., in which times[i] then tells how many of them have i. */
  const loadAll = async (sources: readonly (readonly number[])[]): Promise<Uint16Array> => {
    const times = new Uint16Array(CONTAINER);
    for (const [i, lows] of sources.entries()) {
      await roar.load(`s${i + 1}`, []);
      await add(`s${i + 1}`, lows);
      for (const low of lows) times[low]!++;
    }
    return times;
  };
  /** Expects these members of an expression over s1 .. s`count`, both counted and stored. */
  const expectStored = async (text: string, count: number, expected: readonly number[]): Promise<void> => {
    const names = range(1, count).map((key) => `s${key}`);
    const replies = await roar.connection.pipeline([
      [roar.name("QUERY"), text, count, ...names], [roar.name("QUERYSTORE"), "k", text, count, ...names], ["R.DEBUG", "VALIDATE", "k"],
    ]);
    expect(replies, text).toEqual([expected.length, expected.length, "OK"]);
    expectEqual(await roar.members("k"), expected, text);
  };
  const offsetsWhere = (suits: (low: number) => boolean): number[] => everyLow.filter(suits);
  const multiples = (of: number): number[] => range(of, Math.floor((CONTAINER - 1) / of), of);

  it.each<[what: string, sources: readonly (readonly number[])[]]>([
    ["three bitsets that have an array in common", [multiples(3), multiples(8), multiples(5)]],
    ["two bitsets that have an array in common", [multiples(8), multiples(11)]],
    ["two bitsets that have a sparse bitset in common", [multiples(8), multiples(9)]],
    ["bitsets that have more in common than their sizes suggest", [multiples(11), multiples(11).slice(1), multiples(11).slice(2)]],
    ["two such bitsets", [multiples(11), multiples(11).slice(1)]],
    ["bitsets that have nearly all in common", [multiples(8), multiples(8).slice(1), multiples(8).slice(2)]],
    ["two bitsets that have nearly all in common", [multiples(8), multiples(8).slice(1)]],
    ["bitsets that have few members in common", [multiples(11), multiples(10), multiples(9), multiples(7)]],
    ["bitsets that seem to", [multiples(11), multiples(11).slice(1), multiples(11).slice(2), multiples(7)]],
    ["sparse bitsets and a bitset that have few members in common", [multiples(15), multiples(14), multiples(13), multiples(11)]],
    ["sparse bitsets and a bitset that seem to", [multiples(15), multiples(15).slice(1), multiples(15).slice(2), multiples(11)]],
    ["short bitsets that lie too far apart for one", [range(1, 1000, 2), range(59_008, 6400).filter((low) => low % 5 > 0)]],
    ["twelve bitsets, one of them sparse", range(2, 11).map(multiples).concat([range(1, 30_000, 2)])],
    ["twelve dense bitsets", range(2, 12).map((of) => offsetsWhere((low) => low % of !== 0))],
    ["bitsets and runs", [multiples(8), range(10, 60_000), multiples(9), range(3, 65_000)]],
    ["bitsets with runs between them", [multiples(8), multiples(9), range(10, 60_000), multiples(7), range(3, 65_000)]],
    ["bitsets, runs and an array", [multiples(8), range(10, 60_000), range(3, 65_000), multiples(9), multiples(99)]],
    ["bitsets, runs and a sparse bitset", [multiples(8), range(10, 60_000), range(3, 65_000), multiples(9), multiples(77)]],
    ["sparse bitsets whose common members lie close together", [10_000, 10_017].map((from) => [...range(0, 1200, 2), ...range(from, 1000, 50)])],
    ["more such sparse bitsets", [10_000, 10_017, 10_031].map((from) => [...range(0, 1200, 2), ...range(from, 1000, 50)])],
    ["sparse bitsets whose differences lie close together", [[0, 1200, 2], [1, 600, 4]].map((near) => [
      ...range(near[0]!, near[1]!, near[2]), ...range(10_000, 1000, 50),
    ])],
    ["arrays of all lengths", range(0, 24).map((i) => range(i, 490 + i, 3 + i))],
    ["short arrays, more than a byte can count", range(0, 300).map((i) => range(i * 3, 10, 100 + i))],
  ])("%s are combined and counted", async (_what, sources) => {
    const times = await loadAll(sources), names = range(1, sources.length).map((key) => `s${key}`);
    const operations: Readonly<Record<string, (low: number) => boolean>> = {
      AND: (low) => times[low] === sources.length, OR: (low) => times[low]! > 0,
      XOR: (low) => times[low]! % 2 === 1, ONE: (low) => times[low] === 1,
    };
    for (const [operation, suits] of Object.entries(operations)) {
      const expected = offsetsWhere(suits);
      expect(await roar.run("BITOPCARD", operation, ...names), operation).toBe(expected.length);
      expect(await roar.run("BITOP", operation, "k", ...names), operation).toBe(expected.length);
      expectEqual(await roar.members("k"), expected, operation);
    }
    for (const least of [2, 3, 4, 5, 6, 7, 8, 9, 13]) {
      await expectStored(`atleast(${least}, #1..#${sources.length})`, sources.length, offsetsWhere((low) => times[low]! >= least));
      await expectStored(`exactly(${least}, #1..#${sources.length})`, sources.length, offsetsWhere((low) => times[low] === least));
    }
  });

  it("sums with thousands of runs have the members that counting each offset gives", async () => {
    const times = await loadAll(range(0, 6).map((i) => range(i * 4, 500, 128 + 2 * i)));
    for (const least of [2, 3, 4, 5]) {
      const sum = (low: number): number => 2 * times[low]! + Number(low >= 100);
      await expectStored(`[0..65535] & atleast(${least}, #1..#6, #1..#6, [100..70000])`, 6, offsetsWhere((low) => sum(low) >= least));
      await expectStored(`[0..65535] & exactly(${least}, #1..#6, #1..#6, [100..70000])`, 6, offsetsWhere((low) => sum(low) === least));
    }
  });

  it("sums of short bitsets that end where a word or the container ends have the members that counting each offset gives", async () => {
    const thin = (from: number): number[] =>
      range(from, Math.min(1500, CONTAINER - from)).filter((low) => low % 3 !== 0 || low % 64 === 63);
    for (const from of [3, 64, CONTAINER - 1500, CONTAINER - 1472]) {
      const lows = thin(from), members = new Set([...lows, CONTAINER - 1]), others = new Set(range(0, 300, 7));
      for (const sources of [lows, sorted(members)]) {
        const set = new Set(sources);
        await loadAll([sources, [...others]]);
        const sum = (low: number): number => 3 * Number(set.has(low)) - Number(others.has(low)) + 1;
        for (const least of [0, 1, 2, 3, 4]) {
          await expectStored(`[0..65535] & exactly(${least}, #1, #1, #1, ~#2)`, 2, offsetsWhere((low) => sum(low) === least));
          await expectStored(`[0..65535] & atleast(${least}, #1, #1, #1, ~#2)`, 2, offsetsWhere((low) => sum(low) >= least));
        }
      }
    }
  });

  it("sums of terms that turn out to have all members of a container, or none, have the members that counting each offset gives", async () => {
    const third = multiples(3), rest = offsetsWhere((low) => low === 0 || low % 3 !== 0), fifth = multiples(5);
    for (const other of [fifth, range(7, 50, 5), range(3000, 9000)]) {
      await loadAll([third, rest, other]);
      const held = new Set(other);
      for (let least = 0; least < 12; least++) {
        const sum = (low: number): number => 3 * Number(held.has(low)) + 2;
        for (const [name, suits] of [["atleast", (low: number) => sum(low) >= least], ["exactly", (low: number) => sum(low) === least]] as const) {
          const items = "#3, #3, #3, (#1 | #2), (#1 | #2), (#1 & #2), (#1 & #2), (#1 & #2), (#1 & #2)";
          await expectStored(`[0..65535] & ${name}(${least}, ${items})`, 3, offsetsWhere(suits));
        }
      }
    }
  });

  it("sums of many keys, few of which share a container and most of which end early, have the members that counting each offset gives", async () => {
    const sources = range(0, 60).map((i) =>
      [...range((i % 5) * CONTAINER + i, 40, 3), ...(i % 20 === 0 ? range(5 * CONTAINER + i, 30, 2) : [])]);
    for (const [i, members] of sources.entries()) await roar.load(`s${i + 1}`, members);
    const last = 6 * CONTAINER, sum = new Int32Array(last).fill(30);
    for (const [i, members] of sources.entries()) for (const at of members) sum[at]! += i < 30 ? 1 + Number(i < 3) * 2 : -1;
    const items = ["#1..#3", "#1..#3", "#1..#30", ...range(31, 30).map((key) => `~#${key}`)].join(", ");
    for (const least of [...new Set(sum)]) {
      const texts = [`[0..${last - 1}] & exactly(${least}, ${items})`, `[0..${last - 1}] & atleast(${least}, ${items})`];
      await expectStored(texts[0]!, 60, range(0, last).filter((at) => sum[at] === least));
      await expectStored(texts[1]!, 60, range(0, last).filter((at) => sum[at]! >= least));
    }
  });

  it("sums of which a container holds only what is complemented have the members that counting each offset gives", async () => {
    const complements = [range(CONTAINER, 20_000, 3), range(CONTAINER + 7, 300, 5), range(CONTAINER + 40_000, 9000)];
    for (const [i, members] of [range(0, 5000, 2), ...complements].entries()) await roar.load(`s${i + 1}`, members);
    const sum = new Int32Array(2 * CONTAINER).fill(3);
    for (const at of range(0, 5000, 2)) sum[at]! += 2;
    for (const at of complements.flat()) sum[at]!--;
    for (const least of [0, 1, 2, 3, 4, 5, 6]) {
      for (const [name, suits] of [["atleast", (held: number) => held >= least], ["exactly", (held: number) => held === least]] as const) {
        const expected = range(0, 2 * CONTAINER).filter((at) => suits(sum[at]!));
        await expectStored(`[0..${2 * CONTAINER - 1}] & ${name}(${least}, #1, #1, ~#2, ~#3, ~#4)`, 4, expected);
      }
    }
  });

  it("many keys are subtracted from one that goes on after most of them have ended", async () => {
    const first = range(0, 9).flatMap((key) => range(key * CONTAINER, 300, 2));
    const others = range(0, 50).map((i) => range(i, 5, 11).concat(i % 25 === 0 ? range(6 * CONTAINER + i, 20) : []));
    for (const [i, members] of [first, ...others].entries()) await roar.load(`s${i + 1}`, members);
    const gone = new Set(others.flat());
    await expectStored(`#1 - any(#2..#51)`, 51, first.filter((at) => !gone.has(at)));
    await expectStored(`#1 & any(#2..#51)`, 51, first.filter((at) => gone.has(at)));
    const names = range(1, 51).map((key) => `s${key}`), counts = first.filter((at) => !gone.has(at)).length;
    expect(await roar.run("BITOPCARD", "DIFF", ...names)).toBe(counts);
    expect(await roar.run("BITOPCARD", "ANDOR", ...names)).toBe(first.length - counts);
    expect(await roar.run("BITOPCARD", "DIFF1", ...names)).toBe(gone.size - (first.length - counts));
  });

  it("2,047 runs, the most there can be, are complemented", async () => {
    const lows = range(1, 2047, 32).flatMap((start) => range(start, 16)), set = new Set(lows);
    await loadAll([lows]);
    await roar.run("OPTIMIZE", "s1");
    await expectStored("[0..65535] - #1", 1, offsetsWhere((low) => !set.has(low)));
    await expectStored("~#1 & [0..65535]", 1, offsetsWhere((low) => !set.has(low)));
    await expectStored("~(#1 | ~[0..65535])", 1, offsetsWhere((low) => !set.has(low)));
    expect(await roar.run("BITOP", "NOT", "k", "s1", lows.at(-1)!)).toBe(lows.at(-1)! + 1 - lows.length);
    await expectValid(server);
    expectEqual(await roar.members("k"), offsetsWhere((low) => low < lows.at(-1)! && !set.has(low)));
  });

  it("a short bitset without room beside it stays valid while it loses nearly all of its members, one by one", async () => {
    const lows = range(0, 3000, 8), left = new Set(lows);
    await roar.load("k", lows);
    await roar.run("OPTIMIZE", "k");
    const gone = [...range(1, 2998)].sort((a, b) => (a * 1597) % 3001 - (b * 1597) % 3001).map((i) => lows[i]!);
    for (let at = 0; at < gone.length; at += 50) {
      const some = gone.slice(at, at + 50);
      await roar.connection.pipeline(some.map((low) => [roar.name("SETBIT"), "k", low, 0]));
      some.forEach((low) => left.delete(low));
      await expectValid(server, "k", `${at}`);
      expectEqual(await roar.members("k"), [...left], `${at}`);
    }
  });

  it.each([1, 2])("%i members are merged into sparse bitsets of all sizes, whether or not these fit their blocks", async (more) => {
    const held = 200, own = range(0, held).flatMap((key) => range(key * CONTAINER, 1400 + key, 31));
    const added = range(0, held).flatMap((key) => range(key * CONTAINER + 5, more, 31));
    await roar.load("k", [...own, ...range(held, 500).flatMap((key) => range(key * CONTAINER, 60, 501))]);
    await roar.load("other", added);
    const count = await roar.run("BITCOUNT", "k") as number;
    await mergeOther();
    expect(await roar.run("BITCOUNT", "k")).toBe(count + added.length);
    expectEqual(await roar.run("RANGE", "k", 0, held * CONTAINER - 1), [...own, ...added].sort((a, b) => a - b));
  });

  it("a stretch of full containers that goes on after the last container is merged", async () => {
    await roar.load("k", many);
    const from = (FAR + 2400) * CONTAINER, to = (FAR + 2700) * CONTAINER;
    await roar.load("other", []);
    await roar.run("SETRANGE", "other", from, to);
    await mergeOther();
    const before = many.filter((offset) => offset < from);
    expect(await roar.run("BITCOUNT", "k")).toBe(before.length + to - from);
    expectEqual(await roar.run("RANGE", "k", 0, from + 3), [...before, ...range(from, 4)]);
  });

  it("leaves are appended to a directory that is a single leaf, and to one whose root gets full", async () => {
    const large = range(0, 120).flatMap((key) => range(key * CONTAINER, 4200, 15)), left = [...large];
    await roar.load("k", large);
    for (let first = 200, imports = 0; imports < 140; first += 300, imports++) {
      const more = range(first, 300).flatMap((key) => [key * CONTAINER + 1, key * CONTAINER + 60_000]);
      await roar.load("other", more);
      await mergeOther(`${imports}`);
      left.push(...more);
      expect(await roar.run("BITCOUNT", "k"), `${imports}`).toBe(left.length);
    }
    for (const [first, last] of [[190, 210], [42_000, 42_300]]) {
      const low = first! * CONTAINER, high = last! * CONTAINER;
      expectEqual(await roar.run("RANGE", "k", low, high), left.filter((at) => at >= low && at <= high));
    }
  });

  it.runIf(family.bits === 64)("pages of near and of far offsets accept more members, which do not fit the other kind of page", async () => {
    const members = range(0, 24).flatMap((period) => {
      const near = BigInt(period) << 58n, far = near + (1n << 56n);
      return [...range(0, 508).map((i) => near + (BigInt(2 * i) << 16n)), ...range(0, 254).map((i) => far + (BigInt(i) << 49n))];
    });
    await roar.load("k", members.map(member));
    await roar.run("OPTIMIZE", "k");
    const set = new Set(members);
    for (let period = 0n; period < 24n; period++) {
      const between = period % 2n ? (period << 58n) + (501n << 16n) : (period << 58n) + (1n << 56n) + (100n << 49n) + (1n << 48n);
      for (const offset of [between, between + (2n << 16n), (period << 58n) + (3n << 16n)]) {
        expect(await roar.run("SETBIT", "k", offset, 1)).toBe(0);
        set.add(offset);
        await expectValid(server, "k", `${offset}`);
      }
    }
    expectEqual(await roar.members("k"), sorted(set).map(member));
  });

  describe("pages that get full, beside others", () => {
    /** Lone members of consecutive containers, and of such far apart, that OPTIMIZE packs into pages of 256, and of 126. */
    const near = range(0, 2304).map((key) => key * CONTAINER);
    const wide = (key: number, low = 0): Member => member((BigInt(key) << 50n) + BigInt(low)), far = range(0, 1500).map((key) => wide(key));
    const second = (first: number, count: number): number[] => range(first, count).map((key) => key * CONTAINER + 9);
    type Change = readonly [bit: 0 | 1, offsets: readonly Member[]];
    /** Makes pages of `held`, then sets or clears bits one by one. */
    const change = async (held: readonly Member[], changes: readonly Change[]): Promise<void> => {
      const left = new Set(held);
      await roar.load("k", held);
      await roar.run("OPTIMIZE", "k");
      for (const [bit, offsets] of changes) {
        for (const offset of offsets) if (bit) left.add(offset); else left.delete(offset);
        await roar.connection.pipeline(offsets.map((offset) => [roar.name("SETBIT"), "k", offset, bit]));
        await expectValid(server, "k");
      }
      expectEqual(await roar.members("k"), sorted(left));
    };

    it.each<[what: string, group: number, few: number]>([
      ["last group is too large for the page behind", 1535, 1540], ["first group is too large for the page before", 1280, 1100],
    ])("a full page whose %s is split", async (_, group, few) => change(near, [
      [0, range(few, 106).map((key) => key * CONTAINER)],
      [1, range(group * CONTAINER + 1000, 59, 1000)],
      [1, [...second(1290, 22), 1400 * CONTAINER + 5]],
    ]));

    it.runIf(family.bits === 64)("a full page passes no members through a page that has fewer than the next one takes", async () => {
      const beyond = range(0, 282).map((key) => (2 ** 41 + key) * CONTAINER).map(BigInt);
      await change(near, [
        [0, near.slice(2148)],
        [1, beyond],
        [0, beyond.slice(0, 26)],               // leaves wide items to the page from container 2048 on
        [1, [...second(2048, 26), 2148 * CONTAINER]],
        [1, [...second(1967, 81), 1900 * CONTAINER + 7]],
        [0, [...near.slice(1967, 2048), ...second(1967, 19)]],
        [1, [...near.slice(2149, 2304), ...range(2304, 100).map((key) => key * CONTAINER), ...second(2148, 81), 2300 * CONTAINER + 7]],
      ]);
    });

    it.runIf(family.bits === 64)("a full page whose first group is half of it is split behind that", async () => change(far, [
      [0, far.slice(21, 84)],
      [1, [...range(1, 63).map((i) => wide(0, 1000 * i)), wide(30, 9)]],
    ]));
  });

  it("small groups are merged into pages whose groups get too large by that, and appended to ordinary leaves", async () => {
    const large = range(0, 100).flatMap((key) => range((FAR + 2560 + key) * CONTAINER, 40, 700));
    const own = [...many.filter((offset) => offset % CONTAINER === 0), ...range(200 * CONTAINER, 64, 900), ...range(300 * CONTAINER, 5)];
    for (const more of [
      [200 * CONTAINER + 1, 300 * CONTAINER + 7, 300 * CONTAINER + 8],
      range(FAR + 2510, 200).flatMap((key) => range(key * CONTAINER, 3, 9)),
      [...range(FAR + 2400, 155).flatMap((key) => range(key * CONTAINER + 3, 1 + key % 2, 8)), ...large],
    ]) {
      await roar.load("k", own);
      await roar.load("other", more);
      await mergeOther();
      expectEqual(await roar.members("k"), sorted(new Set([...own, ...more])));
    }
  });

  it.each(family.bits === 64 ? [3, 2 ** 22 + 1] : [3])("pages of containers %i apart are counted with each other", async (apart) => {
    const of = (keys: readonly number[], count = 1): number[] =>
      keys.flatMap((key) => range(0, count).map((i) => key * apart * CONTAINER + (key % 4) + 900 * i));
    const keys = range(0, 3000), sets: Readonly<Record<string, readonly number[]>> = {
      some: of(keys.filter((key) => key % 3 !== 0)), others: of(keys.filter((key) => key % 4 !== 1 && key % 89 > 7)), all: of(keys),
      "few behind": of(range(2990, 700)), pairs: of(range(700, 1200), 2), tens: of(range(0, 400), 10),
      dense: range(0, 60).flatMap((key) => range(key * CONTAINER, 17, 900)),
    };
    for (const [name, members] of Object.entries(sets)) {
      await roar.load(name, members);
      await roar.run("OPTIMIZE", name);
    }
    for (const [x, left] of Object.entries(sets)) {
      const held = new Set(left);
      for (const [y, right] of Object.entries(sets)) {
        const shared = right.filter((one) => held.has(one)).length, lone = left.length - shared, other = right.length - shared;
        const replies = await roar.connection.pipeline([
          ...["AND", "OR", "XOR", "DIFF"].map((operation) => [roar.name("BITOPCARD"), operation, x, y]),
          [roar.name("CONTAINS"), x, y], [roar.name("CONTAINS"), x, y, "ALL"],
        ]);
        expect(replies, `${x}, ${y}`).toEqual([shared, shared + lone + other, lone + other, lone, Number(shared > 0), Number(other === 0)]);
      }
    }
  });

  it("full containers are counted with those of many other bitmaps, and rows and columns that begin later", async () => {
    const bitmaps: readonly (readonly [first: number, end: number])[] = range(0, 40).map((i) => [i < 32 ? i % 3 : 5, 8 + i % 4] as const);
    const names = bitmaps.map((_, i) => `full:${i}`);
    await roar.connection.pipeline(bitmaps.map(([first, end], i) => [roar.name("SETRANGE"), names[i]!, first * CONTAINER, end * CONTAINER + 7]));
    await roar.load("k", [7, 3 * CONTAINER, 3 * CONTAINER + 9]);
    await roar.run("SETRANGE", "k", CONTAINER, 3 * CONTAINER);
    await roar.run("SETRANGE", "k", 4 * CONTAINER, 4 * CONTAINER + 30_000);
    const both = ([a, b]: readonly [number, number], [c, d]: readonly [number, number]): number =>
      Math.max(0, Math.min(b * CONTAINER + 7, d * CONTAINER + 7) - Math.max(a, c) * CONTAINER);
    const own = new Set([7, 3 * CONTAINER, 3 * CONTAINER + 9, ...range(CONTAINER, 2 * CONTAINER), ...range(4 * CONTAINER, 30_000)]);
    const shares = bitmaps.map(([first, end]) => [...own].filter((at) => at >= first * CONTAINER && at < end * CONTAINER + 7).length);
    expect(await roar.run("FACET", "#1", 1, "k", names.length, ...names)).toEqual(shares);
    expect(await roar.run("CROSSCARD", names.length, ...names, 2, "full:0", "full:39"))
      .toEqual(bitmaps.map((row) => [both(row, bitmaps[0]!), both(row, bitmaps[39]!)]));
  });

  describe("pages that lose members, beside other pages and beside ordinary leaves", () => {
    const lone = range(0, 3000).map((i) => BigInt(i * 20) * 65_536n + BigInt((i % 7) * 9000));
    // Near offsets alternate with far ones: a page of near ones that joins one of far ones gets wider items.
    const wide = range(0, 12).flatMap((period) => {
      const near = BigInt(period) << 58n, far = near + (1n << 56n);
      return [...range(0, 300).map((i) => near + (BigInt(2 * i) << 16n)), ...range(0, 200).map((i) => far + (BigInt(i) << 49n))];
    });
    const orders: Readonly<Record<string, (count: number) => number[]>> = {
      "from the first on": (count) => range(0, count),
      "from the last on": (count) => range(0, count).reverse(),
      "from the middle on": (count) => range(0, count).sort((a, b) => Math.abs(a - count / 2) - Math.abs(b - count / 2)),
      "four of five, then from the first on": (count) => range(0, count).sort((a, b) => Number(a % 5 < 1) - Number(b % 5 < 1) || a - b),
      "four of five, then from the last on": (count) => range(0, count).sort((a, b) => Number(a % 5 < 1) - Number(b % 5 < 1) || b - a),
    };
    const cases = Object.entries(orders).flatMap(([order, arrange]) =>
      [lone, ...(family.bits === 64 ? [wide] : [])].flatMap((members) => [0, 3].map((loose) => ({ order, arrange, members, loose }))));

    it.each(cases)("$order, $loose leaves", async ({ arrange, members, loose }) => {
      await roar.load("k", members.map(member));
      await roar.run("OPTIMIZE", "k");
      const left = new Set(members);
      for (let i = 1; i <= loose; i++) {      // a second member in a container makes its page two ordinary leaves
        const twin = members[Math.floor((i * members.length) / (loose + 1))]! + 1n;
        expect(await roar.run("SETBIT", "k", twin, 1)).toBe(0);
        left.add(twin);
      }
      const order = arrange(members.length);
      for (let at = 0; at < order.length - 5; at += 20) {
        const gone = order.slice(at, Math.min(at + 20, order.length - 5)).map((i) => members[i]!);
        const replies = await roar.connection.pipeline([
          ...gone.map((offset) => [roar.name("SETBIT"), "k", offset, 0] as const), ["R.DEBUG", "VALIDATE", "k"], [roar.name("BITCOUNT"), "k"],
        ]);
        gone.forEach((offset) => left.delete(offset));
        expect(replies, `${at} removed`).toEqual([...gone.map(() => 1), "OK", left.size]);
      }
      expectEqual(await roar.members("k"), sorted(left).map(member));
    });
  });

  it("a tiny short bitset of one or two members becomes an array when a member far away comes", async () => {
    for (const left of [1, 2]) {
      await server.run("DEL", "k");
      await roar.run("SETBITS", "k", ...range(0, 40));
      for (const low of range(left, 40 - left)) await roar.run("SETBIT", "k", low, 0);
      await roar.run("SETBIT", "k", 60_000, 1);
      await expectValid(server);
      expect(await roar.members("k")).toEqual([...range(0, left), 60_000]);
    }
  });

  it("containers are cut out of the middle of a stretch of full ones", async () => {
    await roar.load("k", many);
    await roar.run("SETRANGE", "k", 0, 9 * CONTAINER);
    await roar.run("CLEARRANGE", "k", 3 * CONTAINER, 5 * CONTAINER);
    await expectMembers([...range(0, 3 * CONTAINER), ...range(5 * CONTAINER, 4 * CONTAINER)], "cut");
  });
});
