import { And, AndNot, Count, Or, SetOperation, Store, Xor } from "../../container/kernel";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Meeting } from "../../container/meeting";
import { ShortBitset } from "../../container/short";
import {
  Sparse, arrayToSparse, bitsetToSparse, sparseToArray, sparseToBitset, sparseToShort,
} from "../../container/sparse";
import { Left, Own, Right } from "../../env/view";
import {
  Bench, Kind, Model, Operation, UNIVERSE, anyModel, combineModels, makeModel, payloadBytes, shortFirst,
  shortWords, writePayload, Style,
} from "../support/container-model";

const SIZES: u32[] = [1, 2, 3, 7, 8, 9, 63, 64, 65, 255, 576, 768, 1000, 2048, 4096, 5000, 7000, 12000];

/** A random set whose sparse bitset is small enough. */
function anySparse(bench: Bench): Model {
  while (true) {
    const made = anyModel(SIZES, bench.random);
    if (made.count && payloadBytes(Kind.SPARSE, made) <= <u32>Container.SPARSE_MAX) return made;
  }
}

/** Calls every conversion on `x`. */
function convertAll(bench: Bench, x: Model): void {
  const bytes = <usize>payloadBytes(Kind.SPARSE, x), fits = bytes <= Container.SPARSE_MAX;
  bench.begin();
  const bits = bench.leftOwn(Kind.BITSET, x);
  let out = bench.output(BITSET_BYTES);
  bench.checkResult(<u32>bitsetToSparse(bits, out), fits ? <u32>bytes : 0, "bitsetToSparse");
  if (!fits) return;
  bench.checkPayload(Kind.SPARSE, x, "bitsetToSparse");

  if (x.count <= Container.ARRAY_MAX) {
    bench.begin();
    const array = bench.left(Kind.ARRAY, x), counts = Sparse.measureArray(array, x.count);
    bench.checkResult(<u32>Sparse.sizeOf(counts & 0xffff, counts >> 16), <u32>bytes, "measureArray");
    out = bench.output(bytes);
    arrayToSparse(array, x.count, counts, out);
    bench.checkPayload(Kind.SPARSE, x, "arrayToSparse");
  }

  bench.begin();
  const a = bench.left(Kind.SPARSE, x);
  bench.checkResult(<u32>Sparse.bytes<Left>(a), <u32>bytes, "bytes");
  bench.checkResult(Sparse.last<Left>(a), lastOf(x), "last");
  out = bench.output(Container.arrayBytes(x.count));
  bench.check(Kind.ARRAY, sparseToArray(a, out), x, "sparseToArray");
  out = bench.output(BITSET_BYTES);
  sparseToBitset(a, out);
  bench.checkPayload(Kind.BITSET, x, "sparseToBitset");
  const words = shortWords(x);
  out = bench.output(Container.shortBytes(words));
  sparseToShort(a, ShortBitset.header(shortFirst(x), words), out);
  bench.checkPayload(Kind.SHORT, x, "sparseToShort");
}

function lastOf(x: Model): u32 {
  let last: u32 = UNIVERSE - 1;
  while (!x.has[last]) last--;
  return last;
}

/** Combines a bitset of `y` with `x`, and looks the members of a small set up in `x`. */
function combineOne<O extends SetOperation>(bench: Bench, x: Model, y: Model, operation: i32): void {
  bench.begin();
  const expected = combineModels(operation, y, x);
  const a = bench.left(Kind.SPARSE, x), b = bench.right(Kind.SPARSE, x);
  let out = bench.output(BITSET_BYTES);
  writePayload(Kind.BITSET, y, out);
  Sparse.combineInto<O, Left>(a, out);
  bench.checkPayload(Kind.BITSET, expected, "combineInto on the left");
  out = bench.output(BITSET_BYTES);
  writePayload(Kind.BITSET, y, out);
  Sparse.combineInto<O, Right>(b, out);
  bench.checkPayload(Kind.BITSET, expected, "combineInto on the right");
  if (payloadBytes(Kind.SPARSE, y) > <u32>Container.SPARSE_MAX) return;
  bench.begin();
  const l = bench.left(Kind.SPARSE, y), r = bench.right(Kind.SPARSE, x);
  out = bench.output(BITSET_BYTES);
  bench.check(Kind.BITSET, Sparse.combine<O>(l, r, out), expected, "combine");
}

function lookUp(bench: Bench, x: Model, few: Model): void {
  bench.begin();
  const a = bench.left(Kind.ARRAY, few), b = bench.right(Kind.SPARSE, x);
  const both = combineModels(Operation.AND, few, x), rest = combineModels(Operation.ANDNOT, few, x);
  bench.checkResult(Sparse.filter<And, Count>(a, few.count, b, 0), both.count, "filter, counted");
  let out = bench.output(Container.arrayBytes(few.count));
  bench.check(Kind.ARRAY, Sparse.filter<And, Store>(a, few.count, b, out), both, "filter");
  out = bench.output(Container.arrayBytes(few.count));
  bench.check(Kind.ARRAY, Sparse.filter<AndNot, Store>(a, few.count, b, out), rest, "filter, the others");
}

/** Intersects `x` with a set that shares some bytes with it. */
function intersectTwo(bench: Bench, x: Model, y: Model): void {
  bench.begin();
  const a = bench.left(Kind.SPARSE, x), b = bench.right(Kind.SPARSE, y);
  const both = combineModels(Operation.AND, x, y);
  bench.checkResult(Sparse.common(a, b), both.count, "common");
  bench.checkResult(Meeting.intersect<Count>(a, b, UNIVERSE, 0), both.count, "intersect, counted");
  const out = bench.output(Container.arrayBytes(both.count));
  bench.check(Kind.ARRAY, Meeting.intersect<Store>(a, b, both.count, out), both, "intersect");
  if (both.count) {
    bench.checkResult(Meeting.intersect<Count>(a, b, both.count - 1, 0), Meeting.MANY, "intersect, too many");
  }
  const rest = combineModels(Operation.ANDNOT, x, y), result = bench.output(BITSET_BYTES);
  const work = result + 2 * BITSET_BYTES;
  bench.checkResult(Meeting.subtract(a, b, UNIVERSE, result, work), both.count, "subtract");
  bench.checkPayload(Kind.SPARSE, rest, "subtract");
  if (both.count) {
    bench.checkResult(Meeting.subtract(a, b, both.count - 1, result, work), Meeting.MANY, "subtract, too many");
  }
}

/** Compares every query with the set. */
function askAll(bench: Bench, x: Model): void {
  bench.begin();
  const at = bench.leftOwn(Kind.SPARSE, x);
  if (!Sparse.isSound(at, x.count)) bench.fail("isSound");
  if (Sparse.isSound(at, x.count + 1)) bench.fail("isSound with another cardinality");
  let below: u32 = 0, word: u64 = 0, first: u32 = UNIVERSE;
  for (let v: u32 = 0; v < UNIVERSE; v++) {
    const asked = (v + 2) % 64 < 4 || v % 61 == 0;
    if (x.has[v] && first == UNIVERSE) first = v;
    if (x.has[v] && (asked || below % 7 == 0)) {
      bench.checkResult(Sparse.select(at, below), v, "select of " + below.toString());
    }
    below += u32(x.has[v]);
    word |= u64(x.has[v]) << (v & 63);
    if (asked) {
      const found = Sparse.find(at, v);
      bench.checkResult(Sparse.rank(at, v), below, "rank of " + v.toString());
      bench.checkResult(u32(Sparse.has(at, v)), u32(x.has[v]), "has " + v.toString());
      bench.checkResult(u32(Sparse.isMember(found)), u32(x.has[v]), "find " + v.toString());
    }
    if ((v & 63) != 63) continue;
    if (Sparse.word<Own>(at, v >> 6) != word) bench.fail("word of " + v.toString());
    word = 0;
  }
  bench.checkResult(Sparse.first(at), first, "first");
  bench.checkResult(Sparse.last<Own>(at), lastOf(x), "last");
  let next: u32 = UNIVERSE, clear: u32 = UNIVERSE;
  for (let v: i32 = UNIVERSE - 1; v >= 0; v--) {
    if (x.has[v]) next = v; else clear = v;
    if ((v + 2) % 64 >= 4 && v % 61) continue;
    bench.checkResult(Sparse.nextSet(at, v), next, "nextSet of " + v.toString());
    bench.checkResult(Sparse.nextClear(at, v), clear, "nextClear of " + v.toString());
  }
}

/** Walks over all words, from the one of each 97th value on. */
function walk(bench: Bench, x: Model): void {
  bench.begin();
  const at = bench.leftOwn(Kind.SPARSE, x);
  for (let from: u32 = 0; from < Container.WORDS; from += 97) {
    let step = Sparse.stepTo(at, from), members: u32 = 0, expected: u32 = 0;
    for (; step; step = Sparse.stepAfter(at, step)) {
      const bits = Sparse.bitsAt(at, step), word = Sparse.wordOf(step);
      if (!bits || word < from || bits != Sparse.word<Own>(at, word)) bench.fail("step at " + word.toString());
      members += <u32>popcnt(bits);
    }
    for (let v = from << 6; v < UNIVERSE; v++) expected += u32(x.has[v]);
    bench.checkResult(members, expected, "members from word " + from.toString());
  }
}

/** Adds and removes members one at a time. */
function change(bench: Bench, x: Model, steps: i32): void {
  bench.begin();
  const at = bench.leftOwn(Kind.SPARSE, x), near = bench.random.below(UNIVERSE);
  for (let i = 0; i < steps; i++) {
    let value = bench.random.below(2) ? bench.random.below(UNIVERSE)
      : (near + bench.random.below(80)) & 0xffff;
    if (i % 3 == 0) while (!x.has[value]) value = (value + 1) & 0xffff;
    const found = Sparse.find(at, value), before = payloadBytes(Kind.SPARSE, x);
    bench.checkResult(u32(Sparse.isMember(found)), u32(x.has[value]), "find before a change");
    if (x.has[value] && x.count == 1) continue;
    if (x.has[value]) {
      Sparse.remove(at, found, value);
      x.remove(value);
    } else {
      Sparse.insert(at, found, value);
      x.add(value);
      bench.checkResult(before + Sparse.missing(found), payloadBytes(Kind.SPARSE, x), "missing bytes");
    }
    bench.inPlace(at, payloadBytes(Kind.SPARSE, x));
    if (i % 16 == 0) bench.checkPayload(Kind.SPARSE, x, "changed");
  }
  bench.checkPayload(Kind.SPARSE, x, "changed");
}

describe("kernels for sparse bitsets", () => {
  it("convert sets of each style and cardinality, or refuse those that are too large", () => {
    const bench = new Bench(50);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let i = 0; i < SIZES.length; i++) convertAll(bench, makeModel(style, SIZES[i], bench.random));
    }
    bench.end();
  });

  it("convert sets whose sparse bitset is about as large as allowed", () => {
    const bench = new Bench(51);
    for (let bytes: u32 = 5500; bytes < 5900; bytes += 9) {
      const model = new Model(), full = bench.random.below(3) == 0;
      for (let i: u32 = 0; i < bytes; i++) {
        const byte = full ? i : (i * 5 + 3) % 8192;
        model.add(8 * byte + bench.random.below(8));
      }
      convertAll(bench, model);
    }
    bench.end();
  });

  it("answer every query as the set does", () => {
    const bench = new Bench(52);
    for (let i = 0; i < 30; i++) askAll(bench, anySparse(bench));
    for (let style = 0; style < Style.STYLES; style++) askAll(bench, makeModel(style, 900, bench.random));
    bench.end();
  });

  it("walk over the words that are not 0", () => {
    const bench = new Bench(53);
    for (let i = 0; i < 30; i++) walk(bench, anySparse(bench));
    bench.end();
  });

  it("combine bitsets with them, and look members of arrays up", () => {
    const bench = new Bench(54), sizes: u32[] = [0, 1, 5, 4000, 30000, 65536];
    for (let i = 0; i < 30; i++) {
      const x = anySparse(bench), y = anyModel(sizes, bench.random);
      combineOne<And>(bench, x, y, Operation.AND);
      combineOne<Or>(bench, x, y, Operation.OR);
      combineOne<Xor>(bench, x, y, Operation.XOR);
      combineOne<AndNot>(bench, x, y, Operation.ANDNOT);
      const few = makeModel(Style.SPARSE, 1 + bench.random.below(20), bench.random);
      for (let v: u32 = 0; v < UNIVERSE && few.count < 30; v++) if (x.has[v]) few.add(v);
      lookUp(bench, x, few);
      intersectTwo(bench, x, anySparse(bench));
      intersectTwo(bench, x, x);
    }
    bench.end();
  });

  it("gain and lose members", () => {
    const bench = new Bench(55);
    for (let i = 0; i < 40; i++) change(bench, anySparse(bench), 200);
    bench.end();
  });

  it("are not sound if a count is wrong, or a byte is 0", () => {
    const bench = new Bench(56);
    for (let i = 0; i < 20; i++) {
      const x = anySparse(bench);
      bench.begin();
      const at = bench.leftOwn(Kind.SPARSE, x), bytes = Sparse.bytes<Own>(at);
      for (let n = 0; n < 40; n++) {
        const byte = at + <usize>bench.random.below(<u32>bytes), old = load<u8>(byte);
        store<u8>(byte, old ^ <u8>(<u32>1 << bench.random.below(8)));
        if (Sparse.bytes<Own>(at) <= Container.SPARSE_MAX && Sparse.isSound(at, x.count)) {
          bench.fail("a flipped bit at " + (byte - at).toString());
        }
        store<u8>(byte, old);
      }
    }
    bench.end();
  });

  it("have nothing behind their last member", () => {
    const bench = new Bench(57);
    bench.begin();
    const at = bench.leftOwn(Kind.SPARSE, makeModel(Style.LOWEST, 64, bench.random));
    bench.checkResult(u32(Sparse.has(at, 64)), 0, "has");
    bench.checkResult(Sparse.nextSet(at, 64), UNIVERSE, "nextSet");
    bench.checkResult(Sparse.nextSet(at, UNIVERSE), UNIVERSE, "nextSet of the end");
    bench.end();
  });
});
