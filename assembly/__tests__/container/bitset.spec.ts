import {
  Bitset, complementBitset, differenceBitsets, intersectBitsets, intersectBitsetsCardinality, unionBitsets,
  xorBitsets,
} from "../../container/bitset";
import { And, AndNot, Or, SetOperation, Store, StoreOnly, Xor } from "../../container/kernel";
import { BITSET_BYTES } from "../../container/limits";
import {
  Bench, Kind, Model, Operation, anyModel, combineModels, makeModel, boundarySizes, Style, UNIVERSE,
} from "../support/container-model";

function combine(operation: i32, a: usize, b: usize, out: usize): u32 {
  if (operation == Operation.AND) return intersectBitsets(a, b, out);
  if (operation == Operation.OR) return unionBitsets(a, b, out);
  if (operation == Operation.XOR) return xorBitsets(a, b, out);
  return differenceBitsets(a, b, out);
}

/**
 * Combines two bitsets part by part. Returns the members that the kernels count,
 * or `expected` if they do not count.
 */
function combineAllParts<O extends SetOperation>(a: usize, b: usize, out: usize, expected: u32,
  counts: bool): u32 {
  let members: u32 = 0;
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    if (counts) members += Bitset.combineParts<O, Store>(a + part, b + part, out + part);
    else members += Bitset.combineParts<O, StoreOnly>(a + part, b + part, out + part) + (part ? 0 : expected);
  }
  return members;
}

function combineInParts(operation: i32, a: usize, b: usize, out: usize, expected: u32, counts: bool): u32 {
  if (operation == Operation.AND) return combineAllParts<And>(a, b, out, expected, counts);
  if (operation == Operation.OR) return combineAllParts<Or>(a, b, out, expected, counts);
  if (operation == Operation.XOR) return combineAllParts<Xor>(a, b, out, expected, counts);
  return combineAllParts<AndNot>(a, b, out, expected, counts);
}

/** Calls every kernel for pairs on the two sets. */
function callAll(bench: Bench, x: Model, y: Model): void {
  for (let operation: i32 = 0; operation < Operation.OPERATIONS; operation++) {
    const expected = combineModels(operation, x, y), what = "operation " + operation.toString();
    bench.begin();
    let a = bench.left(Kind.BITSET, x), b = bench.right(Kind.BITSET, y), out = bench.output(BITSET_BYTES);
    if (operation == Operation.AND) {
      bench.checkResult(intersectBitsetsCardinality(a, b), expected.count, what + " counted");
    }
    bench.check(Kind.BITSET, combine(operation, a, b, out), expected, what);

    bench.begin();
    a = bench.leftOwn(Kind.BITSET, x);
    b = bench.right(Kind.BITSET, y);
    out = bench.inPlace(a, BITSET_BYTES);
    bench.check(Kind.BITSET, combine(operation, a, b, out), expected, what + " in place");

    bench.begin();
    a = bench.leftOwn(Kind.BITSET, x);
    b = bench.right(Kind.BITSET, y);
    out = bench.random.below(2) ? bench.inPlace(a, BITSET_BYTES) : bench.output(BITSET_BYTES);
    bench.check(
      Kind.BITSET, combineInParts(operation, a, b, out, expected.count, bench.random.below(2) == 0),
      expected, what + " in parts",
    );
  }
}

/** Writes the bitset to memory 0 between guards and returns its address. */
function own(bench: Bench, x: Model): usize {
  bench.begin();
  return bench.inPlace(bench.leftOwn(Kind.BITSET, x), BITSET_BYTES);
}

/** The start of the range that anyRange() chose. */
let low: u32 = 0;
/** Chooses a random range, often with an end at a word's border. Returns its end. */
function anyRange(bench: Bench): u32 {
  const random = bench.random;
  low = random.below(UNIVERSE);
  let high = random.below(4) ? low + random.below(200) : low + random.below(UNIVERSE);
  if (random.below(3) == 0) low &= ~63;
  if (random.below(3) == 0) high |= 63;
  return min(high, UNIVERSE - 1);
}

describe("bitset kernels", () => {
  it("combine sets of all pairs of boundary cardinalities", () => {
    const bench = new Bench(10), sizes: u32[] = [0, 1, 4095, 4096, 4097, 32768, 65535, 65536];
    for (let i = 0; i < sizes.length; i++) {
      for (let j = 0; j < sizes.length; j++) {
        callAll(bench, makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random),
          makeModel(bench.random.below(Style.STYLES), sizes[j], bench.random));
      }
    }
    bench.end();
  });

  it("combine random sets of all styles", () => {
    const bench = new Bench(11), sizes = boundarySizes(65536);
    for (let i = 0; i < 40; i++) callAll(bench, anyModel(sizes, bench.random), anyModel(sizes, bench.random));
    bench.end();
  });

  it("count and complement sets", () => {
    const bench = new Bench(12), sizes = boundarySizes(65536);
    for (let i = 0; i < sizes.length; i++) {
      const x = makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random), rest = new Model();
      for (let v: u32 = 0; v < UNIVERSE; v++) if (!x.has[v]) rest.add(v);
      bench.begin();
      const a = bench.left(Kind.BITSET, x);
      let out = bench.output(BITSET_BYTES);
      bench.checkResult(Bitset.cardinality(a), x.count, "bitsetCardinality");
      bench.check(Kind.BITSET, complementBitset(a, out), rest, "complementBitset");
      out = own(bench, x);
      bench.check(Kind.BITSET, complementBitset(out, out), rest, "complementBitset in place");
    }
    bench.end();
  });

  it("find, add and remove single members, and fill and clear a bitset", () => {
    const bench = new Bench(13), x = makeModel(Style.SPARSE, 4096, bench.random), at = own(bench, x);
    for (let i = 0; i < 20000; i++) {
      const value = bench.random.below(UNIVERSE);
      if (Bitset.has(at, value) != x.has[value]) bench.fail("bitsetHas " + value.toString());
      if (bench.random.below(2)) {
        Bitset.set(at, value);
        x.add(value);
      } else {
        Bitset.clear(at, value);
        x.remove(value);
      }
    }
    Bitset.set(at, 0);
    Bitset.set(at, 65535);
    x.add(0);
    x.add(65535);
    bench.checkPayload(Kind.BITSET, x, "bitsetSet and bitsetClear");
    Bitset.setBits(at, 0, 65535);
    bench.checkPayload(Kind.BITSET, makeModel(Style.LOWEST, 65536, bench.random), "setBits of all");
    Bitset.clearAll(at);
    bench.checkPayload(Kind.BITSET, new Model(), "clearBitset");
    bench.end();
  });

  it("set, clear, flip and count ranges", () => {
    const bench = new Bench(14), sizes = boundarySizes(65536);
    for (let i = 0; i < 30; i++) {
      const x = anyModel(sizes, bench.random), at = own(bench, x);
      for (let j = 0; j < 10; j++) {
        const high = anyRange(bench), change = bench.random.below(3);
        let members: u32 = 0;
        for (let v = low; v <= high; v++) members += u32(x.has[v]);
        bench.checkResult(Bitset.rangeCardinality(at, low, high), members, "bitsetRangeCardinality");
        if (change == 0) {
          Bitset.setBits(at, low, high);
        } else if (change == 1) {
          Bitset.clearBits(at, low, high);
        } else {
          Bitset.flipBits(at, low, high);
        }
        for (let v = low; v <= high; v++) {
          if (change == 0) x.add(v); else if (change == 1) x.remove(v); else x.flip(v);
        }
        bench.checkPayload(Kind.BITSET, x, "range change " + change.toString());
      }
      Bitset.setBits(at, 0, 65535);
      bench.checkResult(Bitset.rangeCardinality(at, 0, 65535), 65536, "bitsetRangeCardinality of all");
      Bitset.clearBits(at, 0, 65535);
      Bitset.flipBits(at, 65535, 65535);
      bench.checkResult(
        Bitset.rangeCardinality(at, 0, 65535), 1, "bitsetRangeCardinality with only the last bit set",
      );
    }
    bench.end();
  });

  it("find the next member, the next absent value, and the n-th member", () => {
    const bench = new Bench(15), sizes = boundarySizes(65536);
    for (let i = 0; i < sizes.length; i++) {
      const x = makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random), at = own(bench, x);
      let rank: u32 = 0;
      for (let v: u32 = 0; v < UNIVERSE; v++) {
        if (!x.has[v]) continue;
        if (rank % 61 == 0 || rank + 1 == x.count) {
          bench.checkResult(Bitset.select(at, rank), v, "bitsetSelect");
        }
        rank++;
      }
      let next = UNIVERSE, nextClear = UNIVERSE;
      bench.checkResult(Bitset.nextSet(at, UNIVERSE), UNIVERSE, "bitsetNextSet past the universe");
      bench.checkResult(Bitset.nextClear(at, UNIVERSE), UNIVERSE, "bitsetNextClear past the universe");
      for (let v: i32 = 65535; v >= 0; v--) {
        if (x.has[v]) next = v; else nextClear = v;
        bench.checkResult(Bitset.nextSet(at, v), next, "bitsetNextSet");
        bench.checkResult(Bitset.nextClear(at, v), nextClear, "bitsetNextClear");
      }
    }
    bench.end();
  });
});
