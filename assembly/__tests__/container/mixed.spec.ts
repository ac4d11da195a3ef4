import {
  intersectArrayBitset, intersectArrayBitsetCardinality, differenceArrayBitset, intersectArrayRuns,
  differenceArrayRuns, unionArrayInto, differenceArrayInto, xorArrayInto, unionRunsInto, differenceRunsInto,
  xorRunsInto, intersectRunsInto,
} from "../../container/mixed";
import { BITSET_BYTES } from "../../container/limits";
import {
  Bench, Kind, Model, Operation, anyModel, combineModels, crowdedModel, makeModel, boundarySizes, Style,
} from "../support/container-model";

/** Filters the array `x` by `y`, out of place and in place; there are no runs without members. */
function filter(bench: Bench, x: Model, y: Model): void {
  const both = combineModels(Operation.AND, x, y), rest = combineModels(Operation.ANDNOT, x, y);
  for (let inPlace = 0; inPlace < 2; inPlace++) {
    const how = inPlace ? " in place" : "";
    for (let kernel = 0; kernel < (y.count ? 4 : 2); kernel++) {
      bench.begin();
      const a = inPlace ? bench.leftOwn(Kind.ARRAY, x) : bench.left(Kind.ARRAY, x);
      const b = bench.right(kernel < 2 ? Kind.BITSET : Kind.RUNS, y);
      const out = inPlace ? bench.inPlace(a, 2 * x.count) : bench.output(2 * x.count);
      if (kernel == 0) {
        bench.checkResult(
          intersectArrayBitsetCardinality(a, x.count, b), both.count, "intersectArrayBitsetCardinality",
        );
        bench.check(Kind.ARRAY, intersectArrayBitset(a, x.count, b, out), both, "intersectArrayBitset" + how);
      }
      if (kernel == 1) {
        bench.check(
          Kind.ARRAY, differenceArrayBitset(a, x.count, b, out), rest, "differenceArrayBitset" + how,
        );
      }
      if (kernel == 2) {
        bench.check(Kind.ARRAY, intersectArrayRuns(a, x.count, b, out), both, "intersectArrayRuns" + how);
      }
      if (kernel == 3) {
        bench.check(Kind.ARRAY, differenceArrayRuns(a, x.count, b, out), rest, "differenceArrayRuns" + how);
      }
    }
  }
}

/** Changes the bitset `x` by the array `y`. */
function changeByArray(bench: Bench, x: Model, y: Model): void {
  for (let operation: i32 = Operation.OR; operation < Operation.OPERATIONS; operation++) {
    bench.begin();
    const b = bench.right(Kind.ARRAY, y), to = bench.inPlace(bench.leftOwn(Kind.BITSET, x), BITSET_BYTES);
    const expected = combineModels(operation, x, y);
    let change: i32;
    if (operation == Operation.OR) change = unionArrayInto(to, b, y.count);
    else if (operation == Operation.XOR) change = xorArrayInto(to, b, y.count);
    else change = differenceArrayInto(to, b, y.count);
    bench.check(
      Kind.BITSET, x.count + change, expected, "array into bitset, operation " + operation.toString(),
    );
  }
}

/** Changes the bitset `x` by the runs `y`. */
function changeByRuns(bench: Bench, x: Model, y: Model): void {
  for (let operation: i32 = 0; operation < Operation.OPERATIONS; operation++) {
    bench.begin();
    const b = bench.right(Kind.RUNS, y), to = bench.inPlace(bench.leftOwn(Kind.BITSET, x), BITSET_BYTES);
    if (operation == Operation.AND) intersectRunsInto(to, b);
    else if (operation == Operation.OR) unionRunsInto(to, b);
    else if (operation == Operation.XOR) xorRunsInto(to, b);
    else differenceRunsInto(to, b);
    bench.checkPayload(
      Kind.BITSET, combineModels(operation, x, y), "runs into bitset, operation " + operation.toString(),
    );
  }
}

describe("kernels for two kinds", () => {
  it("filter an array by a bitset or runs for all pairs of boundary cardinalities", () => {
    const bench = new Bench(30);
    const sizes: u32[] = [0, 1, 9, 64, 500, 4095, 4096];
    const others: u32[] = [0, 1, 4095, 4096, 4097, 65535, 65536];
    for (let i = 0; i < sizes.length; i++) {
      for (let j = 0; j < others.length; j++) {
        filter(bench, makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random),
          makeModel(bench.random.below(Style.STYLES), others[j], bench.random));
      }
    }
    for (let i = 0; i < 60; i++) filter(bench, crowdedModel(bench.random), crowdedModel(bench.random));
    bench.end();
  });

  it("change a bitset by an array", () => {
    const bench = new Bench(31), sizes = boundarySizes(4096), others = boundarySizes(65536);
    for (let i = 0; i < 80; i++) {
      changeByArray(bench, anyModel(others, bench.random), anyModel(sizes, bench.random));
    }
    for (let i = 0; i < 60; i++) changeByArray(bench, crowdedModel(bench.random), crowdedModel(bench.random));
    bench.end();
  });

  it("change a bitset by runs", () => {
    const bench = new Bench(32), sizes = boundarySizes(65536);
    for (let i = 0; i < 80; i++) {
      changeByRuns(bench, anyModel(sizes, bench.random), anyModel(sizes, bench.random));
    }
    for (let i = 0; i < 60; i++) changeByRuns(bench, crowdedModel(bench.random), crowdedModel(bench.random));
    bench.end();
  });
});
