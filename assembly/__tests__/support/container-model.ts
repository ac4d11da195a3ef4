// The model for the kernels: a set of values from 0 to 65535 as plain booleans.
// It can be written to memory as a container's payload and compared with one. Nothing here calls a kernel.

import { left, right, SELF } from "../../env/memory";
import { Random, clear, setArenaSize, addOperand, operandAt, seed } from "../world/world";

export const enum Style {
  /** Uniformly random. */
  SPARSE,
  /** Random in a window about twice as wide as the cardinality. */
  DENSE,
  /** Random runs, most of them long. */
  RUNS,
  /** Random near a few centers. */
  CLUSTERED,
  /** 0, 1, 2, ... */
  LOWEST,
  /** ..., 65534, 65535 */
  HIGHEST,
  STYLES,
}

export const UNIVERSE: u32 = 65536;

/** A set of values below UNIVERSE. */
export class Model {
  has: StaticArray<bool> = new StaticArray<bool>(UNIVERSE);
  count: u32 = 0;

  add(value: u32): void {
    if (!this.has[value]) { this.has[value] = true; this.count++; }
  }

  remove(value: u32): void {
    if (this.has[value]) { this.has[value] = false; this.count--; }
  }

  flip(value: u32): void { if (this.has[value]) this.remove(value); else this.add(value); }
  /** The number of runs of consecutive values. */
  runs(): u32 {
    let runs: u32 = 0;
    for (let v: u32 = 0; v < UNIVERSE; v++) runs += u32(this.has[v] && (v == 0 || !this.has[v - 1]));
    return runs;
  }

  /** Byte `byte` of the set's bitset. */
  byte(byte: u32): u32 {
    let bits: u32 = 0;
    for (let bit: u32 = 0; bit < 8; bit++) if (this.has[byte * 8 + bit]) bits |= 1 << bit;
    return bits;
  }

  copy(): Model {
    const copy = new Model();
    for (let v: u32 = 0; v < UNIVERSE; v++) copy.has[v] = this.has[v];
    copy.count = this.count;
    return copy;
  }
}

/** A random set of exactly that cardinality. */
export function makeModel(style: Style, cardinality: u32, random: Random): Model {
  const made = new Model();
  if (style == Style.LOWEST) { for (let v: u32 = 0; v < cardinality; v++) made.add(v); return made; }
  if (style == Style.HIGHEST) {
    for (let v: u32 = 0; v < cardinality; v++) made.add(UNIVERSE - 1 - v);
    return made;
  }
  if (cardinality > UNIVERSE / 2) {
    const missing = makeModel(style, UNIVERSE - cardinality, random);
    for (let v: u32 = 0; v < UNIVERSE; v++) if (!missing.has[v]) made.add(v);
    return made;
  }
  const width = min(UNIVERSE, cardinality * 2 + 1), start = random.below(UNIVERSE - width + 1);
  const centres: u32 = 1 + random.below(5);
  const firstCentre = random.below(UNIVERSE);
  const spread = max<u32>(64, cardinality / centres);
  while (made.count < cardinality) {
    let value = random.below(UNIVERSE);
    if (style == Style.DENSE) value = start + random.below(width);
    if (style == Style.CLUSTERED) {
      value = (firstCentre + random.below(centres) * 11003 + random.below(spread) + random.below(spread))
        & 0xffff;
    }
    made.add(value);
    if (style == Style.RUNS) {
      const length: u32 = 1 + random.below(1 + (cardinality >> random.below(10)));
      for (let i: u32 = 1; i < length && made.count < cardinality && value + i < UNIVERSE; i++) {
        made.add(value + i);
      }
    }
  }
  return made;
}

export const enum Operation { AND, OR, XOR, ANDNOT, OPERATIONS }

function truth(operation: i32, x: bool, y: bool): bool {
  if (operation == Operation.AND) return x && y;
  if (operation == Operation.OR) return x || y;
  if (operation == Operation.XOR) return x != y;
  return x && !y;
}

export function combineModels(operation: i32, x: Model, y: Model): Model {
  const both = new Model();
  for (let v: u32 = 0; v < UNIVERSE; v++) if (truth(operation, x.has[v], y.has[v])) both.add(v);
  return both;
}

export const enum Kind { ARRAY, BITSET, RUNS, SPARSE, SHORT }

/** The first word of a short bitset of the set: that of the least member, or up to two before it. */
export function shortFirst(model: Model): u32 {
  for (let v: u32 = 0; v < UNIVERSE; v++) {
    if (model.has[v]) return max<i32>(<i32>(v >> 6) - <i32>(model.count % 3), 0);
  }
  return 0;
}

/** The words of a short bitset of the set: up to that of the greatest member, or up to one behind it. */
export function shortWords(model: Model): u32 {
  for (let v: i32 = UNIVERSE - 1; v >= 0; v--) {
    if (model.has[v]) return min(<u32>(v >> 6) + 1 + model.count % 2, 1024) - shortFirst(model);
  }
  return 1;
}

/**
 * The values and masks of the set's sparse bitset. Its summary follows from which words have a mask.
 */
function sparseParts(model: Model): u32[] {
  const values: u32[] = [], masks: u32[] = [];
  for (let word: u32 = 0; word < 1024; word++) {
    let mask: u32 = 0;
    for (let byte: u32 = 0; byte < 8; byte++) {
      const value = model.byte(8 * word + byte);
      if (value) { values.push(value); mask |= 1 << byte; }
    }
    if (mask) masks.push(mask);
  }
  return values.concat(masks);
}

/** The sparse bitset of the set, byte by byte. */
function sparseBytes(model: Model): u32[] {
  const parts = sparseParts(model);
  let values: u32 = 0;
  for (let byte: u32 = 0; byte < 8192; byte++) values += u32(model.byte(byte) != 0);
  const masks = <u32>parts.length - values;
  const head: u32[] = [values & 0xff, values >> 8, masks & 0xff, masks >> 8], all = head.concat(parts);
  for (let byte: u32 = 0; byte < 128; byte++) {
    let summary: u32 = 0;
    for (let bit: u32 = 0; bit < 8; bit++) {
      let any: u32 = 0;
      for (let i: u32 = 0; i < 8; i++) any |= model.byte(64 * byte + 8 * bit + i);
      if (any) summary |= 1 << bit;
    }
    all.push(summary);
  }
  return all;
}

export function payloadBytes(kind: Kind, model: Model): u32 {
  if (kind == Kind.ARRAY) return 2 * model.count;
  if (kind == Kind.SPARSE) return 132 + sparseParts(model).length;
  if (kind == Kind.SHORT) return 4 + 8 * shortWords(model);
  return kind == Kind.BITSET ? 8192 : 2 + 4 * model.runs();
}

/** Writes the payload at an address of the test's memory. */
export function writePayload(kind: Kind, model: Model, at: usize): void {
  if (kind == Kind.ARRAY) {
    for (let v: u32 = 0; v < UNIVERSE; v++) if (model.has[v]) { store<u16>(at, <u16>v); at += 2; }
  } else if (kind == Kind.BITSET || kind == Kind.SHORT) {
    let byte: u32 = 0, end: u32 = 8192;
    if (kind == Kind.SHORT) {
      const first = shortFirst(model), words = shortWords(model);
      // The highest bits are not part of the header.
      store<u32>(at, first | (words << 10) | (model.count << 29));
      at += 4;
      byte = 8 * first;
      end = byte + 8 * words;
    }
    for (; byte < end; byte++) store<u8>(at++, <u8>model.byte(byte));
  } else if (kind == Kind.SPARSE) {
    const bytes = sparseBytes(model);
    for (let i = 0; i < bytes.length; i++) store<u8>(at + i, <u8>bytes[i]);
  } else {
    store<u16>(at, <u16>model.runs());
    at += 2;
    for (let v: u32 = 0; v < UNIVERSE; v++) {
      if (!model.has[v]) continue;
      const start = v;
      while (v + 1 < UNIVERSE && model.has[v + 1]) v++;
      store<u16>(at, <u16>start);
      store<u16>(at + 2, <u16>(v - start));
      at += 4;
    }
  }
}

/** The first difference of the payload at `at` to the set, "" if there is none. */
function differs(kind: Kind, at: usize, model: Model): string {
  if (kind == Kind.BITSET) {
    for (let v: u32 = 0; v < UNIVERSE; v++) {
      if (bool((load<u8>(at + (v >> 3)) >> u8(v & 7)) & 1) != model.has[v]) return "bit " + v.toString();
    }
    return "";
  }
  if (kind == Kind.SHORT) {
    const first = load<u32>(at) & 0x3ff, words = (load<u32>(at) >> 10) & 0x7ff;
    if (first + words > 1024) return "words beyond the container";
    for (let v: u32 = 0; v < UNIVERSE; v++) {
      const word = (v >> 6) - first, bits = word < words ? load<u64>(at + 4 + 8 * word) : 0;
      if (bool((bits >> (v & 63)) & 1) != model.has[v]) return "value " + v.toString();
    }
    return "";
  }
  if (kind == Kind.ARRAY) {
    for (let v: u32 = 0; v < UNIVERSE; v++) {
      if (!model.has[v]) continue;
      if (<u32>load<u16>(at) != v) {
        return "got member " + load<u16>(at).toString() + ", expected " + v.toString();
      }
      at += 2;
    }
    return "";
  }
  if (kind == Kind.SPARSE) {
    const bytes = sparseBytes(model);
    for (let i = 0; i < bytes.length; i++) if (load<u8>(at + i) != bytes[i]) return "byte " + i.toString();
    return "";
  }
  if (<u32>load<u16>(at) != model.runs()) {
    return "got " + load<u16>(at).toString() + " runs, expected " + model.runs().toString();
  }
  at += 2;
  for (let v: u32 = 0; v < UNIVERSE; v++) {
    if (!model.has[v]) continue;
    const start = v;
    while (v + 1 < UNIVERSE && model.has[v + 1]) v++;
    if (<u32>load<u16>(at) != start || <u32>load<u16>(at + 2) != v - start) {
      return "run at " + load<u16>(at).toString();
    }
    at += 4;
  }
  return "";
}

// --- A bench to call kernels on ----------------------------------------------------------------------------
// Its operands are in a view or in memory 0, at any alignment, and an output lies between guards.

const GUARD_BYTES: usize = 64;
const GUARD: u8 = 0x5b;
/** Where a bench places the left operand, the right operand and the output in memory 0. */
const LEFT_AT: usize = 1 << 20;
const RIGHT_AT: usize = 2 << 20;
const OUT_AT: usize = 3 << 20;
const BENCH_BYTES: u32 = 4 << 20;

/** One test of kernels. It goes on after a failed check and keeps the first failure for end(). */
export class Bench {
  random: Random;
  /** The first failure, with the seed; "" if there is none. */
  fault: string = "";
  calls: u32 = 0;
  private out: usize = 0;
  private room: usize = 0;
  private leftSelf: bool = false;
  private rightSelf: bool = false;

  constructor(private salt: u32) { this.random = new Random((<u64>seed() << 32) | salt); }

  /**
   * Starts a call: removes all operands and decides at random whether each view shows memory 0 or an operand.
   */
  begin(): void {
    clear();
    setArenaSize(BENCH_BYTES);
    this.leftSelf = this.random.below(2) == 0;
    this.rightSelf = this.random.below(2) == 0;
    this.calls++;
  }

  /**
   * Writes the payload where `left` shows it and returns its address there.
   * An operand ends where the payload ends.
   */
  left(kind: Kind, model: Model): usize {
    return this.put(kind, model, this.leftSelf, LEFT_AT, true);
  }

  /** Like left(), but always in memory 0, as in-place kernels need it. */
  leftOwn(kind: Kind, model: Model): usize {
    this.leftSelf = true;
    return this.put(kind, model, true, LEFT_AT, true);
  }

  /** Like left(), for `right`. */
  right(kind: Kind, model: Model): usize {
    return this.put(kind, model, this.rightSelf, RIGHT_AT, false);
  }

  private put(kind: Kind, model: Model, self: bool, base: usize, isLeft: bool): usize {
    const bytes = payloadBytes(kind, model);
    const shift = this.random.below(4) == 0 ? <usize>this.random.below(16) : 0;
    let k = SELF, at = base + shift, truly = at;
    if (!self) {
      k = addOperand(<u32>shift + bytes);
      at = shift;
      truly = operandAt(k) + shift;
    }
    writePayload(kind, model, truly);
    if (isLeft) left.select(k); else right.select(k);
    return at;
  }

  /** An address with room for a result of `bytes` bytes between guards. */
  output(bytes: usize): usize {
    const at = OUT_AT + <usize>this.random.below(4) * 8
      + (this.random.below(4) == 0 ? <usize>this.random.below(16) : 0);
    return this.guard(at, bytes);
  }

  /** Makes the `bytes` bytes at `at` of memory 0, an operand's payload, the place for a result. */
  inPlace(at: usize, bytes: usize): usize { return this.guard(at, bytes); }

  private guard(at: usize, bytes: usize): usize {
    this.out = at;
    this.room = bytes;
    memory.fill(at - GUARD_BYTES, GUARD, GUARD_BYTES);
    memory.fill(at + bytes, GUARD, GUARD_BYTES);
    return at;
  }

  /** Checks the kernel's returned cardinality or run count, the payload and the guards. */
  check(kind: Kind, result: u32, model: Model, what: string): void {
    this.checkResult(result, kind == Kind.RUNS ? model.runs() : model.count, what);
    this.checkPayload(kind, model, what);
  }

  /** Checks the payload and the guards. */
  checkPayload(kind: Kind, model: Model, what: string): void {
    const difference = differs(kind, this.out, model);
    if (difference != "") this.fail(what + ": " + difference);
    for (let i: usize = 0; i < GUARD_BYTES; i++) {
      if (load<u8>(this.out - GUARD_BYTES + i) != GUARD) this.fail(what + ": wrote before its output");
      if (load<u8>(this.out + this.room + i) != GUARD) this.fail(what + ": wrote behind its output");
    }
  }

  checkResult(result: u32, expected: u32, what: string): void {
    if (result != expected) {
      this.fail(what + ": returned " + result.toString() + ", expected " + expected.toString());
    }
  }

  fail(what: string): void {
    if (this.fault == "") {
      this.fault = what + " (call " + this.calls.toString() + ", salt "
        + this.salt.toString() + ", SEED=" + seed().toString() + ")";
    }
  }

  /** Ends the test: fails it if any check failed. */
  end(): void { expect(this.fault).toBe(""); }
}

/** Cardinalities up to `most` that are likely to reveal errors. */
export function boundarySizes(most: u32): u32[] {
  const all: u32[] = [
    0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 500, 4095, 4096, 4097, 20000, 32768, 65535, 65536,
  ];
  const some: u32[] = [];
  for (let i = 0; i < all.length; i++) if (all[i] <= most) some.push(all[i]);
  return some;
}

/** A random style and one of the cardinalities. */
export function anyModel(cardinalities: u32[], random: Random): Model {
  return makeModel(random.below(Style.STYLES), cardinalities[random.below(cardinalities.length)], random);
}

/**
 * A small random set in a narrow window.
 * Two of them have many common members, and loops over vectors end at every remainder.
 */
export function crowdedModel(random: Random): Model {
  const made = new Model(), window: u32 = 1 + random.below(80);
  const start = random.below(UNIVERSE - window), tries = random.below(60);
  for (let i: u32 = 0; i < tries; i++) made.add(start + random.below(window));
  return made;
}
