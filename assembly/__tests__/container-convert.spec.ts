import {
  arrayToBitset, bitsetToArray, runsToBitset, runsToArray, bitsetToRuns, arrayToRuns, countRunsOfBitset, countRunsOfArray,
} from "../container/convert";
import { ARRAY_MAX, BITSET_BYTES, arrayBytes, isArraySized, runsBytes } from "../container/limits";
import { Bench, Kind, Model, anyModel, crowdedModel, makeModel, seams, Style } from "./container-model";

/** Calls every conversion on the set. An array of any length is fine for most; production makes none above ARRAY_MAX. */
function convertAll(bench: Bench, x: Model): void {
  const runs = x.runs();
  bench.begin();
  let a = bench.left(Kind.ARRAY, x), out = bench.output(BITSET_BYTES);
  arrayToBitset(a, x.count, out);
  bench.checkPayload(Kind.BITSET, x, "arrayToBitset");
  bench.checkResult(countRunsOfArray(a, x.count), runs, "countRunsOfArray");
  out = bench.output(runsBytes(runs));
  bench.check(Kind.RUNS, arrayToRuns(a, x.count, out), x, "arrayToRuns");

  bench.begin();
  a = bench.left(Kind.BITSET, x);
  out = bench.output(arrayBytes(x.count));
  bench.check(Kind.ARRAY, bitsetToArray(a, out), x, "bitsetToArray");
  bench.checkResult(countRunsOfBitset(a), runs, "countRunsOfBitset");
  out = bench.output(runsBytes(runs));
  bench.check(Kind.RUNS, bitsetToRuns(a, out), x, "bitsetToRuns");

  bench.begin();
  a = bench.left(Kind.RUNS, x);
  out = bench.output(BITSET_BYTES);
  runsToBitset(a, out);
  bench.checkPayload(Kind.BITSET, x, "runsToBitset");
  out = bench.output(arrayBytes(x.count));
  bench.check(Kind.ARRAY, runsToArray(a, out), x, "runsToArray");
}

describe("conversions", () => {
  it("keep sets of every style and cardinality", () => {
    const bench = new Bench(40), sizes = seams(65536);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let i = 0; i < sizes.length; i++) convertAll(bench, makeModel(style, sizes[i], bench.random));
    }
    bench.end();
  });

  it("keep small and crowded sets", () => {
    const bench = new Bench(41);
    for (let i = 0; i < 150; i++) convertAll(bench, crowdedModel(bench.random));
    bench.end();
  });

  it("keep random sets of random cardinalities", () => {
    const bench = new Bench(42);
    for (let i = 0; i < 60; i++) convertAll(bench, makeModel(bench.random.below(Style.STYLES), bench.random.below(65537), bench.random));
    convertAll(bench, anyModel(seams(65536), bench.random));
    bench.end();
  });

  it("agree on where arrays end", () => {
    expect(isArraySized(ARRAY_MAX)).toBe(true);
    expect(isArraySized(ARRAY_MAX - 1)).toBe(true);
    expect(isArraySized(ARRAY_MAX + 1)).toBe(false);
    expect(arrayBytes(ARRAY_MAX)).toBe(BITSET_BYTES);
  });
});
