import {
  arrayLowerBound, intersectArrays, intersectArraysCardinality, unionArrays, differenceArrays, xorArrays,
} from "../../container/array";
import {
  Bench, Kind, Model, Operation, anyModel, crowdedModel, combineModels, makeModel, boundarySizes, Style,
} from "../support/container-model";
import { Random } from "../world/world";

/** Calls every kernel on the two sets. */
function callAll(bench: Bench, x: Model, y: Model): void {
  const both = combineModels(Operation.AND, x, y), rest = combineModels(Operation.ANDNOT, x, y);

  bench.begin();
  let a = bench.left(Kind.ARRAY, x);
  let b = bench.right(Kind.ARRAY, y);
  let out = bench.output(2 * min(x.count, y.count));
  bench.checkResult(
    intersectArraysCardinality(a, x.count, b, y.count), both.count, "intersectArraysCardinality",
  );
  bench.check(Kind.ARRAY, intersectArrays(a, x.count, b, y.count, out), both, "intersectArrays");

  bench.begin();
  a = bench.leftOwn(Kind.ARRAY, x);
  b = bench.right(Kind.ARRAY, y);
  out = bench.inPlace(a, 2 * x.count);
  bench.check(Kind.ARRAY, intersectArrays(a, x.count, b, y.count, out), both, "intersectArrays in place");

  bench.begin();
  a = bench.left(Kind.ARRAY, x);
  b = bench.right(Kind.ARRAY, y);
  out = bench.output(2 * x.count);
  bench.check(Kind.ARRAY, differenceArrays(a, x.count, b, y.count, out), rest, "differenceArrays");

  bench.begin();
  a = bench.leftOwn(Kind.ARRAY, x);
  b = bench.right(Kind.ARRAY, y);
  out = bench.inPlace(a, 2 * x.count);
  bench.check(Kind.ARRAY, differenceArrays(a, x.count, b, y.count, out), rest, "differenceArrays in place");

  bench.begin();
  a = bench.left(Kind.ARRAY, x);
  b = bench.right(Kind.ARRAY, y);
  out = bench.output(2 * (x.count + y.count));
  bench.check(
    Kind.ARRAY, unionArrays(a, x.count, b, y.count, out), combineModels(Operation.OR, x, y), "unionArrays",
  );

  bench.begin();
  a = bench.left(Kind.ARRAY, x);
  b = bench.right(Kind.ARRAY, y);
  out = bench.output(2 * (x.count + y.count));
  bench.check(
    Kind.ARRAY, xorArrays(a, x.count, b, y.count, out), combineModels(Operation.XOR, x, y), "xorArrays",
  );
}

/** A set with a random share of the members of `x` and some others. */
function relative(x: Model, most: u32, random: Random): Model {
  const made = new Model(), keep = random.below(101);
  for (let v: u32 = 0; v < 65536; v++) if (x.has[v] && random.below(100) < keep) made.add(v);
  const more = random.below(most - made.count + 1) >> random.below(12);
  for (let i: u32 = 0; i < more; i++) made.add(random.below(65536));
  return made;
}

describe("array kernels", () => {
  it("combine sets of all pairs of boundary cardinalities", () => {
    const bench = new Bench(1), sizes = boundarySizes(4096);
    for (let i = 0; i < sizes.length; i++) {
      for (let j = 0; j < sizes.length; j++) {
        callAll(bench, makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random),
          makeModel(bench.random.below(Style.STYLES), sizes[j], bench.random));
      }
    }
    bench.end();
  });

  it("combine a set with itself and with sets that share many members", () => {
    const bench = new Bench(2), sizes = boundarySizes(4096);
    for (let i = 0; i < 60; i++) {
      const x = anyModel(sizes, bench.random);
      callAll(bench, x, i % 4 ? relative(x, 4096, bench.random) : x);
    }
    bench.end();
  });

  it("combine sets with and without the member 0", () => {
    const bench = new Bench(5);
    for (let i = 0; i < 240; i++) {
      const x = makeModel(
        bench.random.below(Style.STYLES), 7 + bench.random.below(i & 4 ? 600 : 20), bench.random,
      );
      const y = relative(x, 4096, bench.random);
      if (i & 1) x.add(0); else x.remove(0);
      if (i & 2) y.add(0); else y.remove(0);
      callAll(bench, x, y);
    }
    bench.end();
  });

  it("combine small sets with many common members", () => {
    const bench = new Bench(3);
    for (let i = 0; i < 150; i++) {
      const x = crowdedModel(bench.random);
      callAll(bench, x, i % 3 ? relative(x, 60, bench.random) : crowdedModel(bench.random));
    }
    bench.end();
  });

  it("find the index of the first member that is not below a value", () => {
    const bench = new Bench(4), sizes = boundarySizes(4096);
    for (let i = 0; i < 60; i++) {
      const x = anyModel(sizes, bench.random);
      bench.begin();
      const a = bench.leftOwn(Kind.ARRAY, x);
      let below: u32 = 0;
      for (let v: u32 = 0; v < 65536; v++) {
        bench.checkResult(arrayLowerBound(a, x.count, v), below, "arrayLowerBound");
        if (x.has[v]) below++;
      }
      bench.checkResult(arrayLowerBound(a, x.count, 65536), below, "arrayLowerBound past the universe");
    }
    bench.end();
  });
});
