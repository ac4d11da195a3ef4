import { Choice } from "../../container/kind";
import {
  Buckets, arrayToBuckets, bucketsToArray, differenceBuckets, intersectBuckets, intersectBucketsCardinality,
  unionBucketsInto,
} from "../../container/buckets";
import { Extract, bitsetToBuckets } from "../../container/extract";
import { BucketMerge, unionBuckets, xorBuckets } from "../../container/bucketmerge";
import { Lanes } from "../../container/lanes";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Left, Own } from "../../env/view";
import {
  Bench, Kind, Model, Operation, combineModels, makeModel, writePayload, Style,
} from "../support/container-model";

const SIZES: u32[] = [
  1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 256, 257, 767, 768, 1000, 1023, 1024, 1025, 2047, 2048, 3000,
  4094, 4095, 4096,
];

/**
 * A set of that style that buckets can hold. Its cardinality may be a little smaller:
 * a full high byte loses a member.
 */
function fitting(style: Style, cardinality: u32, bench: Bench): Model {
  const made = makeModel(style, cardinality, bench.random);
  for (let high: u32 = 0; high < 256; high++) {
    if (made.withHighByte(high) == 256) made.remove((high << 8) + bench.random.below(256));
  }
  return made;
}

/** Calls every conversion on `x`, and unites `x` with `y`. */
function convertAll(bench: Bench, x: Model, y: Model): void {
  for (let apart: u32 = u32(x.count < Choice.BUCKETS_FROM); apart < 2; apart++) {
    bench.begin();
    const a = bench.left(Kind.ARRAY, x), beside = Container.arrayBytes(min(x.count, 256)) + Lanes.LANES_BYTES;
    const out = bench.output(Container.bucketsBytes(x.count) + (apart ? beside : 0));
    const list = apart ? out + Container.bucketsBytes(x.count) : out;
    bench.checkResult(u32(arrayToBuckets(a, x.count, out, list)), u32(x.fitsBuckets()), "arrayToBuckets");
    if (x.fitsBuckets()) bench.checkPayload(Kind.BUCKETS, x, "arrayToBuckets");
  }

  bench.begin();
  let a = bench.left(Kind.BITSET, x),
    out = bench.output(Container.bucketsBytes(x.count) + Extract.EXTRACT_BYTES);
  const work = out + Container.bucketsBytes(x.count);
  bench.checkResult(u32(bitsetToBuckets(a, x.count, out, work)), u32(x.fitsBuckets()), "bitsetToBuckets");
  if (!x.fitsBuckets()) return;
  bench.checkPayload(Kind.BUCKETS, x, "bitsetToBuckets");

  bench.begin();
  a = bench.left(Kind.BUCKETS, x);
  out = bench.output(Container.arrayBytes(x.count));
  bucketsToArray(a, x.count, out);
  bench.checkPayload(Kind.ARRAY, x, "bucketsToArray");
  bench.checkResult(Buckets.last<Left>(a, x.count), lastOf(x), "bucketsLast");
  out = bench.output(BITSET_BYTES);
  writePayload(Kind.BITSET, y, out);
  unionBucketsInto(a, x.count, out);
  bench.checkPayload(Kind.BITSET, combineModels(Operation.OR, x, y), "unionBucketsInto");
}

/** Calls every kernel for pairs on the two sets, which buckets can hold. */
function combineAll(bench: Bench, x: Model, y: Model): void {
  const both = combineModels(Operation.AND, x, y), rest = combineModels(Operation.ANDNOT, x, y);
  bench.begin();
  const a = bench.left(Kind.BUCKETS, x);
  const b = bench.right(Kind.BUCKETS, y);
  const out = bench.output(Container.arrayBytes(x.count));
  bench.checkResult(
    intersectBucketsCardinality(a, x.count, b, y.count), both.count, "intersectBucketsCardinality",
  );
  bench.check(Kind.ARRAY, intersectBuckets(a, x.count, b, y.count, out), both, "intersectBuckets");
  bench.check(Kind.ARRAY, differenceBuckets(a, x.count, b, y.count, out), rest, "differenceBuckets");
  mergeBoth(bench, x, y);
}

/** Calls the kernels of container/bucketmerge.ts on the two sets. Buckets cannot hold every result. */
function mergeBoth(bench: Bench, x: Model, y: Model): void {
  const union = combineModels(Operation.OR, x, y), either = combineModels(Operation.XOR, x, y);
  bench.begin();
  const a = bench.left(Kind.BUCKETS, x), b = bench.right(Kind.BUCKETS, y);
  let out = bench.output(<usize>(x.count + y.count) + BucketMerge.MERGE_BYTES);
  bench.checkResult(
    unionBuckets(a, x.count, b, y.count, out), union.fitsBuckets() ? union.count : BucketMerge.NO_BUCKETS,
    "unionBuckets",
  );
  if (union.fitsBuckets()) bench.checkPayload(Kind.BUCKETS, union, "unionBuckets");
  out = bench.output(<usize>(x.count + y.count) + BucketMerge.MERGE_BYTES);
  bench.checkResult(
    xorBuckets(a, x.count, b, y.count, out), either.fitsBuckets() ? either.count : BucketMerge.NO_BUCKETS,
    "xorBuckets",
  );
  if (either.fitsBuckets()) bench.checkPayload(Kind.BUCKETS, either, "xorBuckets");
}

/** A set with a random share of the members of `x` and some others. */
function relative(x: Model, bench: Bench): Model {
  const made = new Model(), keep = bench.random.below(101);
  for (let v: u32 = 0; v < 65536; v++) if (x.has[v] && bench.random.below(100) < keep) made.add(v);
  for (let more = bench.random.below(4096 - made.count + 1) >> bench.random.below(12); more; more--) {
    made.add(bench.random.below(65536));
  }
  for (let high: u32 = 0; high < 256; high++) {
    if (made.withHighByte(high) == 256) made.remove((high << 8) + bench.random.below(256));
  }
  return made;
}

function lastOf(x: Model): u32 {
  let last: u32 = 65535;
  while (!x.has[last]) last--;
  return last;
}

/** Compares every query with the set, for values near the borders of high bytes and some others. */
function askAll(bench: Bench, x: Model): void {
  bench.begin();
  const at = bench.leftOwn(Kind.BUCKETS, x), count = x.count;
  if (!Buckets.areSound(at, count)) bench.fail("bucketsAreSound");
  let below: u32 = 0, word: u64 = 0, clear: u32 = 65536;
  for (let v: u32 = 0; v < 65536; v++) {
    const asked = (v + 2) % 256 < 4 || v % 61 == 0;
    if (asked) {
      bench.checkResult(Buckets.lowerBound(at, count, v), below, "bucketsLowerBound of " + v.toString());
    }
    if (asked) bench.checkResult(u32(Buckets.has(at, count, v)), u32(x.has[v]), "bucketsHas " + v.toString());
    if (asked) {
      bench.checkResult(
        Buckets.find(at, count, v), below | (u32(x.has[v]) << 31), "bucketsFind " + v.toString(),
      );
    }
    if (asked && !x.has[v]) {
      bench.checkResult(
        u32(Buckets.haveRoom(at, count, v)), u32(x.withHighByte(v >> 8) < 255), "bucketsHaveRoom",
      );
    }
    if (x.has[v] && (asked || below % 7 == 0)) {
      bench.checkResult(Buckets.select(at, count, below), v, "bucketsSelect of " + below.toString());
    }
    below += u32(x.has[v]);
    word |= u64(x.has[v]) << (v & 63);
    if ((v & 63) != 63) continue;
    if (Buckets.word(at, count, v & ~63) != word) bench.fail("bucketsWord of " + v.toString());
    word = 0;
  }
  bench.checkResult(Buckets.lowerBound(at, count, 65536), count, "bucketsLowerBound of all");
  bench.checkResult(Buckets.last<Own>(at, count), lastOf(x), "bucketsLast");
  for (let v: u32 = 65535; v < 65536; v--) {
    if (!x.has[v]) clear = v;
    if ((v + 2) % 256 < 4 || v % 61 == 0) {
      bench.checkResult(Buckets.nextClear(at, count, v), clear, "bucketsNextClear of " + v.toString());
    }
  }
}

/** Adds and removes members one at a time while there is room. */
function change(bench: Bench, x: Model, steps: i32): void {
  bench.begin();
  const at = bench.leftOwn(Kind.BUCKETS, x);
  bench.inPlace(at, Container.bucketsBytes(x.count + <u32>steps));
  for (let i = 0; i < steps; i++) {
    let value = bench.random.below(65536);
    if (i % 3 == 0) while (!x.has[value]) value = (value + 1) & 0xffff;
    const index = Buckets.lowerBound(at, x.count, value);
    if (x.has[value]) {
      Buckets.remove(at, x.count, index, value);
      x.remove(value);
    } else if (Buckets.haveRoom(at, x.count, value)) {
      Buckets.insert(at, x.count, index, value);
      x.add(value);
    }
    if (i % 16 == 0) bench.checkPayload(Kind.BUCKETS, x, "changed");
  }
  bench.checkPayload(Kind.BUCKETS, x, "changed");
}

describe("bucket kernels", () => {
  it("convert sets of each style and cardinality, or refuse those that buckets cannot hold", () => {
    const bench = new Bench(50);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let i = 0; i < SIZES.length; i++) {
        convertAll(
          bench, makeModel(style, SIZES[i], bench.random), makeModel(Style.SPARSE, 3000, bench.random),
        );
        convertAll(bench, fitting(style, SIZES[i], bench), makeModel(Style.RUNS, 30000, bench.random));
      }
    }
    bench.end();
  });

  it("combine sets that share many members or few", () => {
    const bench = new Bench(54);
    for (let i = 0; i < 60; i++) {
      const x = fitting(i % Style.STYLES, SIZES[bench.random.below(SIZES.length)], bench);
      combineAll(bench, x, relative(x, bench));
      combineAll(
        bench, x, fitting(bench.random.below(Style.STYLES), SIZES[bench.random.below(SIZES.length)], bench),
      );
      combineAll(bench, x, x);
      combineAll(bench, x, fitting(Style.SPARSE, 16 + bench.random.below(40), bench));
    }
    bench.end();
  });

  it("answer queries as the set does", () => {
    const bench = new Bench(51);
    for (let i = 0; i < 40; i++) {
      const size = i % 2 ? SIZES[bench.random.below(SIZES.length)] : 16 + bench.random.below(4081);
      askAll(bench, fitting(i % Style.STYLES, size, bench));
    }
    bench.end();
  });

  it("add and remove single members", () => {
    const bench = new Bench(52);
    for (let i = 0; i < 30; i++) {
      change(bench, fitting(i % Style.STYLES, 16 + bench.random.below(3800), bench), 200);
    }
    bench.end();
  });

  it("refuse a high byte with all its 256 members", () => {
    const bench = new Bench(53), x = makeModel(Style.SPARSE, Choice.BUCKETS_FROM, bench.random);
    for (let v: u32 = 512; v < 768; v++) if (v != 700) x.add(v);
    x.remove(700);
    convertAll(bench, x, x);
    x.add(700);
    convertAll(bench, x, x);
    bench.end();
    expect(x.fitsBuckets()).toBe(false);
    expect(Container.bucketsBytes(Choice.BUCKETS_FROM)).toBeLessThan(
      Container.arrayBytes(Choice.BUCKETS_FROM));
    expect(Choice.BUCKETS_FROM).toBeLessThan(Container.ARRAY_MAX);
  });
});
