import { Runs, differenceRuns, intersectRuns, unionRuns, xorRuns } from "../../container/run";
import { Container } from "../../container/limits";
import {
  Bench, Kind, Model, Operation, anyModel, combineModels, crowdedModel, makeModel, payloadBytes,
  boundarySizes, Style, UNIVERSE,
} from "../support/container-model";

function combine(operation: i32, a: usize, b: usize, out: usize): u32 {
  if (operation == Operation.AND) return intersectRuns(a, b, out);
  if (operation == Operation.OR) return unionRuns(a, b, out);
  if (operation == Operation.XOR) return xorRuns(a, b, out);
  return differenceRuns(a, b, out);
}

/** Calls every kernel for pairs on the two sets. */
function callAll(bench: Bench, x: Model, y: Model): void {
  const room = Container.runsBytes(x.runs() + y.runs() + 1);
  for (let operation: i32 = 0; operation < Operation.OPERATIONS; operation++) {
    bench.begin();
    const a = bench.left(Kind.RUNS, x), b = bench.right(Kind.RUNS, y), out = bench.output(room);
    bench.check(
      Kind.RUNS, combine(operation, a, b, out),
      combineModels(operation, x, y), "operation " + operation.toString(),
    );
  }
}

/** A few runs whose ends often coincide with those of another such set. */
function steps(bench: Bench): Model {
  const made = new Model();
  for (let i: u32 = 0; i < 12; i++) {
    if (bench.random.below(2)) for (let v = i * 8; v < i * 8 + 1 + bench.random.below(8); v++) made.add(v);
    if (bench.random.below(2)) for (let v = i * 8; v < i * 8 + 8; v++) made.add(UNIVERSE - 1 - v);
  }
  return made;
}

/** Writes the runs to memory 0 between guards and returns their address. */
function own(bench: Bench, x: Model): usize {
  bench.begin();
  return bench.inPlace(bench.leftOwn(Kind.RUNS, x), payloadBytes(Kind.RUNS, x));
}

describe("run kernels", () => {
  it("combine sets of all pairs of boundary cardinalities", () => {
    const bench = new Bench(20), sizes: u32[] = [0, 1, 2, 64, 4096, 4097, 32768, 65535, 65536];
    for (let i = 0; i < sizes.length; i++) {
      for (let j = 0; j < sizes.length; j++) {
        callAll(bench, makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random),
          makeModel(bench.random.below(Style.STYLES), sizes[j], bench.random));
      }
    }
    bench.end();
  });

  it("combine sets whose runs have common ends", () => {
    const bench = new Bench(21);
    for (let i = 0; i < 100; i++) {
      callAll(bench, steps(bench), i % 5 ? steps(bench) : crowdedModel(bench.random));
    }
    bench.end();
  });

  it("combine a set with itself and with its complement", () => {
    const bench = new Bench(22), sizes = boundarySizes(65536);
    for (let i = 0; i < 30; i++) {
      const x = anyModel(sizes, bench.random), rest = new Model();
      for (let v: u32 = 0; v < UNIVERSE; v++) if (!x.has[v]) rest.add(v);
      callAll(bench, x, x);
      callAll(bench, x, rest);
      bench.begin();
      const a = bench.left(Kind.RUNS, x), out = bench.output(Container.runsBytes(x.runs() + 1));
      bench.checkResult(Runs.cardinality(a), x.count, "runsCardinality");
      bench.check(Kind.RUNS, Runs.complement(a, out), rest, "complementRuns");
    }
    bench.end();
  });

  it("find runs, members, the next member and the next absent value", () => {
    const bench = new Bench(23), sizes = boundarySizes(65536);
    for (let i = 0; i < sizes.length; i++) {
      const x = makeModel(bench.random.below(Style.STYLES), sizes[i], bench.random), at = own(bench, x);
      let index = -1, rank: u32 = 0;
      for (let v: u32 = 0; v < UNIVERSE; v++) {
        if (x.has[v]) {
          if (v == 0 || !x.has[v - 1]) index++;
          if (rank % 61 == 0 || rank + 1 == x.count) {
            bench.checkResult(Runs.select(at, rank), v, "runsSelect");
          }
          rank++;
        }
        bench.checkResult(<u32>Runs.find(at, v), <u32>index, "runsFind");
        bench.checkResult(u32(Runs.has(at, v)), u32(x.has[v]), "runsHas");
      }
      let next = UNIVERSE, nextClear = UNIVERSE;
      for (let v: i32 = 65535; v >= 0; v--) {
        if (x.has[v]) next = v; else nextClear = v;
        bench.checkResult(Runs.nextSet(at, v), next, "runsNextSet");
        bench.checkResult(Runs.nextClear(at, v), nextClear, "runsNextClear");
      }
      bench.checkResult(Runs.nextSet(at, UNIVERSE), UNIVERSE, "runsNextSet past the universe");
      bench.checkResult(Runs.nextClear(at, UNIVERSE), UNIVERSE, "runsNextClear past the universe");
    }
    bench.end();
  });

  it("count the members of ranges", () => {
    const bench = new Bench(24), sizes = boundarySizes(65536);
    for (let i = 0; i < 60; i++) {
      const x = i % 2 ? anyModel(sizes, bench.random) : steps(bench), at = own(bench, x);
      for (let j = 0; j < 20; j++) {
        const low = bench.random.below(j % 2 ? UNIVERSE : 100);
        const high = low + bench.random.below(UNIVERSE - low);
        let members: u32 = 0;
        for (let v = low; v <= high; v++) members += u32(x.has[v]);
        bench.checkResult(Runs.rangeCardinality(at, low, high), members, "runsRangeCardinality");
      }
      bench.checkResult(Runs.rangeCardinality(at, 0, 65535), x.count, "runsRangeCardinality of all");
    }
    bench.end();
  });
});
