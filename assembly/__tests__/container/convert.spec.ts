import { Choice } from "../../container/kind";
import {
  arrayToBitset, bitsetToArray, runsToBitset, runsToArray, bitsetToRuns, arrayToRuns, countRunsOfBitset,
  countRunsOfArray,
} from "../../container/convert";
import { Extract, extractMembers } from "../../container/extract";
import { Lanes } from "../../container/lanes";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Random } from "../world/world";
import {
  Bench, Kind, Model, anyModel, crowdedModel, makeModel, boundarySizes, Style,
} from "../support/container-model";

/**
 * Calls every conversion on the set. Arrays may be longer than ARRAY_MAX here, though never in production.
 */
function convertAll(bench: Bench, x: Model): void {
  const runs = x.runs();
  bench.begin();
  let a = bench.left(Kind.ARRAY, x), out = bench.output(BITSET_BYTES);
  arrayToBitset(a, x.count, out);
  bench.checkPayload(Kind.BITSET, x, "arrayToBitset");
  bench.checkResult(countRunsOfArray(a, x.count), runs, "countRunsOfArray");
  out = bench.output(Container.runsBytes(runs));
  bench.check(Kind.RUNS, arrayToRuns(a, x.count, out), x, "arrayToRuns");

  bench.begin();
  a = bench.left(Kind.BITSET, x);
  out = bench.output(Container.arrayBytes(x.count));
  bench.check(Kind.ARRAY, bitsetToArray(a, out), x, "bitsetToArray");
  bench.checkResult(countRunsOfBitset(a), runs, "countRunsOfBitset");
  out = bench.output(Container.runsBytes(runs));
  bench.check(Kind.RUNS, bitsetToRuns(a, out), x, "bitsetToRuns");

  bench.begin();
  a = bench.left(Kind.RUNS, x);
  out = bench.output(BITSET_BYTES);
  runsToBitset(a, out);
  bench.checkPayload(Kind.BITSET, x, "runsToBitset");
  out = bench.output(Container.arrayBytes(x.count));
  bench.check(Kind.ARRAY, runsToArray(a, out), x, "runsToArray");
}

/**
 * Extracts the members of the set as a bitset, in each of the ways that the announced cardinality selects.
 */
function extract(bench: Bench, x: Model): void {
  const announced: u32[] = [0, 500, 4096];
  for (let i = 0; i < announced.length; i++) {
    bench.begin();
    const a = bench.left(Kind.BITSET, x);
    const out = bench.output(Container.arrayBytes(x.count) + Lanes.LANES_BYTES + Extract.EXTRACT_BYTES);
    const members = extractMembers(a, announced[i], out,
      out + Container.arrayBytes(x.count) + Lanes.LANES_BYTES);
    bench.check(
      Kind.ARRAY, members, x, "extractMembers with announced cardinality " + announced[i].toString(),
    );
  }
}

/** A set with up to `most` members in each group of 16 values. */
function evenModel(most: u32, random: Random): Model {
  const made = new Model();
  for (let lane: u32 = 0; lane < 65536; lane += 16) {
    for (let i = random.below(most + 1); i > 0; i--) made.add(lane + random.below(16));
  }
  return made;
}

describe("extracting members of a bitset", () => {
  it("returns all members at each boundary cardinality", () => {
    const bench = new Bench(43);
    const sizes: u32[] = [
      0, 1, 2, 159, 160, 161, 383, 384, 385, 1023, 1024, 1025, 1199, 1200, 1201, 4095, 4096,
    ];
    for (let style = 0; style < Style.STYLES; style++) {
      for (let i = 0; i < sizes.length; i++) extract(bench, makeModel(style, sizes[i], bench.random));
    }
    bench.end();
  });

  it("returns all members however many share a lane of 16 values", () => {
    const bench = new Bench(44);
    for (let most: u32 = 1; most <= 16; most++) extract(bench, evenModel(most, bench.random));
    for (let i = 0; i < 50; i++) extract(bench, crowdedModel(bench.random));
    bench.end();
  });

  it("returns all members of one lane with random bits", () => {
    const bench = new Bench(45);
    for (let i = 0; i < 200; i++) {
      const x = new Model(), lane = bench.random.below(4096) * 16, bits = bench.random.below(65536);
      for (let bit: u32 = 0; bit < 16; bit++) if ((bits >> bit) & 1) x.add(lane + bit);
      extract(bench, x);
    }
    bench.end();
  });
});

describe("conversions", () => {
  it("keep all members for each style and boundary cardinality", () => {
    const bench = new Bench(40), sizes = boundarySizes(65536);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let i = 0; i < sizes.length; i++) convertAll(bench, makeModel(style, sizes[i], bench.random));
    }
    bench.end();
  });

  it("keep all members of small crowded sets", () => {
    const bench = new Bench(41);
    for (let i = 0; i < 150; i++) convertAll(bench, crowdedModel(bench.random));
    bench.end();
  });

  it("keep all members of sets of random cardinality", () => {
    const bench = new Bench(42);
    for (let i = 0; i < 60; i++) {
      convertAll(bench, makeModel(bench.random.below(Style.STYLES), bench.random.below(65537), bench.random));
    }
    convertAll(bench, anyModel(boundarySizes(65536), bench.random));
    bench.end();
  });

  it("limit arrays to 4096 members, the bytes of a bitset", () => {
    expect(Container.isArraySized(Container.ARRAY_MAX)).toBe(true);
    expect(Container.isArraySized(Container.ARRAY_MAX - 1)).toBe(true);
    expect(Container.isArraySized(Container.ARRAY_MAX + 1)).toBe(false);
    expect(Container.arrayBytes(Container.ARRAY_MAX)).toBe(BITSET_BYTES);
    expect(Choice.staysBitset(4864)).toBe(true);
    expect(Choice.staysBitset(4863)).toBe(false);
    // Wherever the members lie: a value for each, and a mask for each word.
    expect(Container.SPARSE_LEAST_BYTES + 4863 + Container.WORDS <= Container.SPARSE_MAX).toBe(true);
  });
});
