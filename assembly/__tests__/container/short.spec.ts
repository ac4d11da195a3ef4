import { Choice } from "../../container/kind";
import { Bitset } from "../../container/bitset";
import { And, AndNot, Count, Or, SetOperation, Store, Xor } from "../../container/kernel";
import { BITSET_BYTES, Container } from "../../container/limits";
import {
  ShortBitset, arrayToShort, bitsetToShort, changeShort, combineShortInto, combineShorts, copyShortPart,
  differenceArrayShort, intersectArrayShort, runsToShort, shortPart, shortToArray, shortToBitset,
  spanOfBitset,
} from "../../container/short";
import { right } from "../../env/memory";
import { Own } from "../../env/view";
import {
  Bench, Kind, Model, Operation, UNIVERSE, anyModel, combineModels, crowdedModel, makeModel, shortFirst,
  shortWords, Style,
} from "../support/container-model";

/** The least member of a set that has one. */
function least(x: Model): u32 {
  let v: u32 = 0;
  while (!x.has[v]) v++;
  return v;
}

/** The greatest member of a set that has one. */
function greatest(x: Model): u32 {
  let v: u32 = UNIVERSE - 1;
  while (!x.has[v]) v--;
  return v;
}

/** A random set of one member or more: of any style, or within a few words. */
function anySet(bench: Bench): Model {
  const sizes: u32[] = [1, 2, 5, 27, 64, 365, 4096, 4097, 30000];
  const made = bench.random.below(2) ? anyModel(sizes, bench.random) : crowdedModel(bench.random);
  if (!made.count) made.add(bench.random.below(UNIVERSE));
  return made;
}

/**
 * Puts the bitset together from its parts: those that the short bitset has are copied from where they are.
 */
function checkParts(bench: Bench, x: Model): void {
  bench.begin();
  const a = bench.right(Kind.SHORT, x), out = bench.output(BITSET_BYTES);
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    const words = shortPart(a, part);
    if (words) right.copy(out + part, words, Bitset.PART_BYTES);
    else if (!copyShortPart(a, part, out + part)) memory.fill(out + part, 0, Bitset.PART_BYTES);
  }
  bench.checkPayload(Kind.BITSET, x, "parts of a short bitset");
}

function convertAll(bench: Bench, x: Model): void {
  const low = least(x), high = greatest(x), words = Choice.wordsBetween(low, high),
    bytes = Container.shortBytes(words);
  bench.begin();
  let a = bench.left(Kind.ARRAY, x), out = bench.output(bytes);
  arrayToShort(a, x.count, ShortBitset.headerOver(low, high), out);
  bench.checkPayload(Kind.SHORT, x, "arrayToShort");

  bench.begin();
  a = bench.leftOwn(Kind.BITSET, x);
  out = bench.output(bytes);
  bitsetToShort(a, spanOfBitset<Own>(a), out);
  bench.checkPayload(Kind.SHORT, x, "bitsetToShort");

  bench.begin();
  a = bench.left(Kind.RUNS, x);
  out = bench.output(bytes);
  runsToShort(a, ShortBitset.headerOver(low, high), out);
  bench.checkPayload(Kind.SHORT, x, "runsToShort");

  bench.begin();
  a = bench.left(Kind.SHORT, x);
  out = bench.output(Container.arrayBytes(x.count));
  bench.check(Kind.ARRAY, shortToArray(a, out), x, "shortToArray");
  out = bench.output(BITSET_BYTES);
  shortToBitset(a, out);
  bench.checkPayload(Kind.BITSET, x, "shortToBitset");
  checkParts(bench, x);
}

/** Combines two short bitsets. */
function combine<O extends SetOperation>(bench: Bench, operation: i32, x: Model, y: Model): void {
  const expected = combineModels(operation, x, y), xFirst = shortFirst(x), yFirst = shortFirst(y);
  const xEnd = xFirst + shortWords(x), yEnd = yFirst + shortWords(y);
  let first = min(xFirst, yFirst), end = max(xEnd, yEnd);
  if (operation == Operation.AND) { first = max(xFirst, yFirst); end = min(xEnd, yEnd); }
  if (operation == Operation.ANDNOT) { first = xFirst; end = xEnd; }
  if (first >= end) return;
  bench.begin();
  const a = bench.left(Kind.SHORT, x);
  const b = bench.right(Kind.SHORT, y);
  const out = bench.output(Container.shortBytes(end - first));
  bench.checkResult(
    combineShorts<O, Count>(a, b, first, end - first, 0),
    expected.count, "counted, operation " + operation.toString(),
  );
  bench.check(
    Kind.SHORT, combineShorts<O, Store>(a, b, first, end - first, out),
    expected, "operation " + operation.toString(),
  );
}

/** Changes the short bitset `x` by the array `y`. */
function change<O extends SetOperation>(bench: Bench, operation: i32, x: Model, y: Model): void {
  let first = shortFirst(x), end = first + shortWords(x);
  if (operation != Operation.ANDNOT) {
    first = min(first, least(y) >> 6);
    end = max(end, (greatest(y) >> 6) + 1);
  }
  bench.begin();
  const a = bench.left(Kind.SHORT, x);
  const b = bench.right(Kind.ARRAY, y);
  const out = bench.output(Container.shortBytes(end - first));
  const count = x.count + changeShort<O>(a, b, y.count, ShortBitset.header(first, end - first), out);
  bench.check(
    Kind.SHORT, count, combineModels(operation, x, y),
    "array into short bitset, operation " + operation.toString(),
  );
}

/** Filters the array `x` by the short bitset `y`, out of place and in place. */
function filter(bench: Bench, x: Model, y: Model): void {
  const both = combineModels(Operation.AND, x, y), rest = combineModels(Operation.ANDNOT, x, y);
  for (let inPlace = 0; inPlace < 2; inPlace++) {
    for (let kernel = 0; kernel < 2; kernel++) {
      bench.begin();
      const a = inPlace ? bench.leftOwn(Kind.ARRAY, x) : bench.left(Kind.ARRAY, x);
      const b = bench.right(Kind.SHORT, y);
      const out = inPlace ? bench.inPlace(a, Container.arrayBytes(x.count))
        : bench.output(Container.arrayBytes(x.count));
      if (kernel) {
        bench.check(Kind.ARRAY, differenceArrayShort(a, x.count, b, out), rest, "differenceArrayShort");
        continue;
      }
      bench.checkResult(
        intersectArrayShort<Count>(a, x.count, b, 0), both.count, "intersectArrayShort, counted",
      );
      bench.check(Kind.ARRAY, intersectArrayShort<Store>(a, x.count, b, out), both, "intersectArrayShort");
    }
  }
}

/** Combines the short bitset `y` into the bitset `x`. */
function combineInto(bench: Bench, x: Model, y: Model): void {
  for (let xor = 0; xor < 2; xor++) {
    bench.begin();
    const b = bench.right(Kind.SHORT, y), to = bench.inPlace(bench.leftOwn(Kind.BITSET, x), BITSET_BYTES);
    if (xor) combineShortInto<Xor>(to, b); else combineShortInto<Or>(to, b);
    bench.checkPayload(
      Kind.BITSET, combineModels(xor ? Operation.XOR : Operation.OR, x, y), "short bitset into bitset",
    );
  }
}

/** Compares all queries about single values with the set. */
function ask(bench: Bench, x: Model): void {
  bench.begin();
  const at = bench.leftOwn(Kind.SHORT, x);
  if (!ShortBitset.isSound(at, x.count) || ShortBitset.isSound(at, x.count + 1)) bench.fail("shortIsSound");
  bench.checkResult(ShortBitset.last<Own>(at), greatest(x), "shortLast");
  let rank: u32 = 0, nextSet: u32 = UNIVERSE, nextClear: u32 = UNIVERSE;
  for (let v: u32 = 0; v < UNIVERSE; v++) {
    if (ShortBitset.has(at, v) != x.has[v]) bench.fail("shortHas " + v.toString());
    if (x.has[v]) {
      if (rank < 70 || rank % 97 == 0) bench.checkResult(ShortBitset.select(at, rank), v, "shortSelect");
      rank++;
    }
    if (v % 61 == 0) bench.checkResult(ShortBitset.rank(at, v), rank, "shortRank of " + v.toString());
  }
  for (let v: i32 = UNIVERSE - 1; v >= 0; v--) {
    if (x.has[v]) nextSet = v; else nextClear = v;
    if (v % 59) continue;
    bench.checkResult(ShortBitset.nextSet(at, v), nextSet, "shortNextSet from " + v.toString());
    bench.checkResult(ShortBitset.nextClear(at, v), nextClear, "shortNextClear from " + v.toString());
  }
  for (let word: u32 = 0; word < 1024; word++) {
    let bits: u64 = 0;
    for (let bit: u32 = 0; bit < 64; bit++) bits |= u64(x.has[64 * word + bit]) << bit;
    if (ShortBitset.word(at, word) != bits) bench.fail("shortWord " + word.toString());
  }
}

/** Adds words on both sides, then drops all words without members at the ends. */
function widenAndTrim(bench: Bench, x: Model): void {
  bench.begin();
  const at = bench.leftOwn(Kind.SHORT, x), first = shortFirst(x), words = shortWords(x);
  const from = bench.random.below(first + 1);
  const end = first + words + bench.random.below(1024 - first - words + 1);
  bench.inPlace(at, Container.shortBytes(end - from));
  ShortBitset.widen(at, from, end - from);
  bench.checkPayload(Kind.SHORT, x, "widenShort");
  bench.checkResult(ShortBitset.trim(at), Choice.wordsBetween(least(x), greatest(x)), "trimShort");
  bench.checkPayload(Kind.SHORT, x, "trimShort");
}

describe("short bitsets", () => {
  it("are made of other kinds, and become other kinds, with the same members", () => {
    const bench = new Bench(1300);
    for (let i = 0; i < 120; i++) convertAll(bench, anySet(bench));
    bench.end();
  });

  it("meet short bitsets: all operations, stored and counted", () => {
    const bench = new Bench(1301);
    for (let i = 0; i < 100; i++) {
      const x = anySet(bench), y = bench.random.below(4) ? anySet(bench) : x;
      combine<And>(bench, Operation.AND, x, y);
      combine<Or>(bench, Operation.OR, x, y);
      combine<Xor>(bench, Operation.XOR, x, y);
      combine<AndNot>(bench, Operation.ANDNOT, x, y);
    }
    bench.end();
  });

  it("meet arrays and bitsets", () => {
    const bench = new Bench(1302);
    for (let i = 0; i < 100; i++) {
      const x = anySet(bench), y = anySet(bench);
      change<Or>(bench, Operation.OR, x, y);
      change<Xor>(bench, Operation.XOR, x, y);
      change<AndNot>(bench, Operation.ANDNOT, x, y);
      filter(bench, x, y);
      combineInto(bench, x, y);
    }
    bench.end();
  });

  it("answer queries about single values", () => {
    const bench = new Bench(1303);
    for (let i = 0; i < 24; i++) ask(bench, anySet(bench));
    bench.end();
  });

  it("gain words, and lose those without members", () => {
    const bench = new Bench(1304);
    for (let i = 0; i < 100; i++) widenAndTrim(bench, anySet(bench));
    for (let style = 0; style < Style.STYLES; style++) {
      widenAndTrim(bench, makeModel(style, 365, bench.random));
    }
    bench.end();
  });

  it("are chosen where they are smaller, and kept for a while where they are not", () => {
    expect(Choice.prefersShort(24, 6)).toBe(false);
    expect(Choice.prefersShort(25, 6)).toBe(true);
    expect(Choice.prefersShort(767, 192)).toBe(false);
    expect(Choice.prefersShort(1000, 256)).toBe(false);                // a sparse bitset takes less
    expect(Choice.prefersShort(4000, 256)).toBe(true);
    expect(Choice.prefersShort(30000, Container.SHORT_MAX)).toBe(true);
    expect(Choice.prefersShort(30000, Container.SHORT_MAX + 1)).toBe(false);
    expect(Choice.staysShort(18, 6)).toBe(true);
    expect(Choice.staysShort(17, 6)).toBe(false);
    expect(Choice.leastBytes(24, 6)).toBe(48);
    expect(Choice.leastBytes(25, 6)).toBe(52);
    expect(Choice.leastBytes(30000, 1024)).toBe(BITSET_BYTES);
  });
});
