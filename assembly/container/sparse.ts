// Sparse bitset: a bitset without its bytes that are 0.
//
//   +0  u16 number of values      +2  u16 number of masks
//   +4  values    the bytes of the bitset that are not 0, in order
//       masks     a byte for each 64-bit word of the bitset that is not 0: which of its bytes are not 0
//       summary   128 bytes, a bit for each word: which of the 1024 words are not 0
//
// Looking a member up takes counting the bits of the masks before its word. Whole containers are expanded and
// written 64 bytes at a time. The order lets a vector of values or masks reach beyond their end: what follows
// is in the payload, too.
//
// Below, left `a` is the payload at `a` of the operand that `left` shows.

import { Spread, bytes, left, right, vector } from "../env/memory";
import { Left, Memory, Own, Right, view16, view64, view8 } from "../env/view";
import { Bitset } from "./bitset";
import { And, AndNot, Kernel, Or, Same, SetOperation, Sink, Xor } from "./kernel";
import { BITSET_BYTES, Container } from "./limits";
import { ShortBitset } from "./short";

/** Functions for sparse bitsets. */
export abstract class Sparse {
  @inline private static readonly SUMMARY_BYTES: usize = 128;

  // --- Layout ------------------------------------------------------------------------------------------------

  @inline static valueCount<M extends Memory>(at: usize): u32 { return view16<M>(at, 0); }
  @inline static maskCount<M extends Memory>(at: usize): u32 { return view16<M>(at, 2); }

  /** Bytes of a payload with so many values and masks. */
  @inline static sizeOf(values: u32, masks: u32): usize {
    return Container.SPARSE_LEAST_BYTES + <usize>(values + masks);
  }

  @inline static bytes<M extends Memory>(at: usize): usize {
    return Sparse.sizeOf(Sparse.valueCount<M>(at), Sparse.maskCount<M>(at));
  }

  @inline static values(at: usize): usize { return at + Container.SPARSE_HEADER_BYTES; }
  @inline static masks<M extends Memory>(at: usize): usize {
    return Sparse.values(at) + <usize>Sparse.valueCount<M>(at);
  }

  @inline static summary<M extends Memory>(at: usize): usize {
    return Sparse.masks<M>(at) + <usize>Sparse.maskCount<M>(at);
  }

  @inline static setCounts(at: usize, values: u32, masks: u32): void {
    store<u32>(at, values | (masks << 16));
  }

  // --- Lookups, in memory M ----------------------------------------------------------------------------------

  /** The number of 1 bits in the `count` bytes at `at`. Reads up to seven bytes behind them. */
  @inline private static ones<M extends Memory>(at: usize, count: u32): u32 {
    const end = at + count;
    let sum: u64 = 0;
    for (; at + 32 <= end; at += 32) {
      sum += popcnt(view64<M>(at, 24)) + popcnt(view64<M>(at, 16)) + popcnt(view64<M>(at, 8))
        + popcnt(view64<M>(at, 0));
    }
    for (; at + 8 <= end; at += 8) sum += popcnt(view64<M>(at, 0));
    const behind = <u64>(at + 8 - end);
    if (behind < 8) sum += popcnt(view64<M>(at, 0) << (behind << 3));
    return <u32>sum;
  }

  /** How many masks come before that of word `word`. */
  @inline private static masksBelow<M extends Memory>(summary: usize, word: u32): u32 {
    const last = summary + (<usize>(word >> 6) << 3);
    let below = popcnt(view64<M>(last, 0) & (((<u64>1) << (word & 63)) - 1));
    for (; summary < last; summary += 8) below += popcnt(view64<M>(summary, 0));
    return <u32>below;
  }

  /** How many values come before those of mask `index`: counted from the nearer end. */
  @inline private static valuesBelow<M extends Memory>(at: usize, masks: usize, index: u32): u32 {
    const behind = Sparse.maskCount<M>(at) - index;
    return index <= behind ? Sparse.ones<M>(masks, index)
      : Sparse.valueCount<M>(at) - Sparse.ones<M>(masks + <usize>index, behind);
  }

  @inline private static hasWord<M extends Memory>(summary: usize, word: u32): bool {
    return <bool>((view8<M>(summary + (<usize>word >> 3), 0) >> (word & 7)) & 1);
  }

  /** Word `word` of the bitset. */
  static word<M extends Memory>(at: usize, word: u32): u64 {
    const masks = Sparse.masks<M>(at), summary = masks + <usize>Sparse.maskCount<M>(at);
    if (!Sparse.hasWord<M>(summary, word)) return 0;
    const index = Sparse.masksBelow<M>(summary, word);
    const first = Sparse.values(at) + <usize>Sparse.valuesBelow<M>(at, masks, index);
    return vector.spread(view64<M>(first, 0), view8<M>(masks + <usize>index, 0));
  }

  /** Whether `value` is a member. */
  @inline static has(at: usize, value: u32): bool {
    return <bool>((Sparse.word<Own>(at, value >> 6) >> (value & 63)) & 1);
  }

  /** The greatest member. There must be one. */
  static last<M extends Memory>(at: usize): u32 {
    const masks = Sparse.masks<M>(at), summary = masks + <usize>Sparse.maskCount<M>(at);
    let part: usize = Sparse.SUMMARY_BYTES - 8;
    while (!view64<M>(summary + part, 0)) part -= 8;
    const word = <u32>((part << 3) + 63 - <usize>clz(view64<M>(summary + part, 0)));
    return (word << 6) + ((31 - clz(view8<M>(summary - 1, 0))) << 3) + 31 - clz(view8<M>(masks - 1, 0));
  }

  /** Keeps the members of left array `a` that right `b` has (And) or does not have (AndNot). */
  @inline static filter<O extends SetOperation, S extends Sink>(
    a: usize, aCount: u32, b: usize, out: usize,
  ): u32 {
    const start = out, end = a + Container.arrayBytes(aCount);
    for (; a < end; a += Container.MEMBER_BYTES) {
      const value = left.load16(a, 0), has = <u32>(Sparse.word<Right>(b, value >> 6) >> (value & 63)) & 1;
      if (Kernel.stores<S>()) store<u16>(out, value);
      out += <usize>(has ^ Kernel.lacks<O>()) << 1;
    }
    return Container.memberCount(start, out);
  }

  // --- The payload at `at` in memory 0 -----------------------------------------------------------------------

  /** The least member. There must be one. */
  @inline static first(at: usize): u32 { return Sparse.select(at, 0); }

  /** The number of members that are at most `value`. */
  static rank(at: usize, value: u32): u32 {
    const masks = Sparse.masks<Own>(at), summary = masks + <usize>Sparse.maskCount<Own>(at), word = value >> 6;
    const index = Sparse.masksBelow<Own>(summary, word), below = Sparse.valuesBelow<Own>(at, masks, index);
    const members = Sparse.ones<Own>(Sparse.values(at), below);
    if (!Sparse.hasWord<Own>(summary, word)) return members;
    const bits = vector.spread(load<u64>(Sparse.values(at) + <usize>below), load<u8>(masks + <usize>index));
    return members + <u32>popcnt(bits << (63 - (value & 63)));
  }

  /** The member of 0-based rank `rank`, which is less than the cardinality. */
  static select(at: usize, rank: u32): u32 {
    const masks = Sparse.masks<Own>(at);
    const bit = Bitset.select(Sparse.values(at), rank), byte = Bitset.select(masks, bit >> 3);
    const word = Bitset.select(masks + <usize>Sparse.maskCount<Own>(at), byte >> 3);
    return (word << 6) | ((byte & 7) << 3) | (bit & 7);
  }

  /** The least word from `word` on that is not 0; 1024 if there is none. */
  private static nextWord(summary: usize, word: u32): u32 {
    for (let mask = u64.MAX_VALUE << (word & 63); word < Container.WORDS; mask = u64.MAX_VALUE) {
      const words = load<u64>(summary + (<usize>(word >> 6) << 3)) & mask;
      if (words) return (word & ~63) + <u32>ctz(words);
      word = (word & ~63) + 64;
    }
    return Container.WORDS;
  }

  // A walk over the words that are not 0. A step is a u64: u16 word, u16 number of its mask, u16 number of its
  // first value, u16 1. There is none if it is 0.

  /** The step at the least word from `word` on that is not 0. */
  static stepTo(at: usize, word: u32): u64 {
    const masks = Sparse.masks<Own>(at), summary = masks + <usize>Sparse.maskCount<Own>(at);
    const next = Sparse.nextWord(summary, word);
    if (next == Container.WORDS) return 0;
    const index = Sparse.masksBelow<Own>(summary, next);
    return Sparse.step(next, index, Sparse.valuesBelow<Own>(at, masks, index));
  }

  @inline private static step(word: u32, mask: u32, value: u32): u64 {
    return <u64>(word | (mask << 16)) | (<u64>(value | 0x10000) << 32);
  }

  /** The step behind `step`. */
  static stepAfter(at: usize, step: u64): u64 {
    const next = Sparse.nextWord(Sparse.summary<Own>(at), Sparse.wordOf(step) + 1);
    const mask = Sparse.maskAt(at, step);
    if (next == Container.WORDS) return 0;
    return Sparse.step(next, (<u32>step >> 16) + 1, (<u32>(step >> 32) & 0xffff) + popcnt<u32>(load<u8>(mask)));
  }

  @inline static wordOf(step: u64): u32 { return <u32>step & 0xffff; }
  /** The word of the step. */
  @inline static bitsAt(at: usize, step: u64): u64 {
    const value = Sparse.values(at) + <usize>(<u32>(step >> 32) & 0xffff);
    return vector.spread(load<u64>(value), load<u8>(Sparse.maskAt(at, step)));
  }

  /** The least member from `from` on, or UNIVERSE. */
  static nextSet(at: usize, from: u32): u32 {
    if (from >= Container.UNIVERSE) return Container.UNIVERSE;
    let step = Sparse.stepTo(at, from >> 6);
    if (!step) return Container.UNIVERSE;
    let bits = Sparse.bitsAt(at, step);
    if (Sparse.wordOf(step) == from >> 6) bits &= u64.MAX_VALUE << (from & 63);
    if (!bits) {
      step = Sparse.stepAfter(at, step);
      if (!step) return Container.UNIVERSE;
      bits = Sparse.bitsAt(at, step);
    }
    return (Sparse.wordOf(step) << 6) + <u32>ctz(bits);
  }

  /** The least value from `from` on that is absent, or UNIVERSE. */
  static nextClear(at: usize, from: u32): u32 {
    for (let step = Sparse.stepTo(at, from >> 6); step && Sparse.wordOf(step) == from >> 6;
      step = Sparse.stepAfter(at, step)) {
      const bits = ~Sparse.bitsAt(at, step) & (u64.MAX_VALUE << (from & 63));
      if (bits) return (from & ~63) + <u32>ctz(bits);
      from = (from | 63) + 1;
    }
    return from;
  }

  /** Whether the counts are right, nothing that is kept is 0, and there are `count` members. */
  static isSound(at: usize, count: u32): bool {
    const values = Sparse.valueCount<Own>(at), masks = Sparse.maskCount<Own>(at), from = Sparse.values(at);
    for (let i: u32 = 0; i < values + masks; i++) if (!load<u8>(from + i)) return false;
    return Sparse.ones<Own>(from, values) == count && Sparse.ones<Own>(from + values, masks) == values
      && Sparse.ones<Own>(from + values + masks, <u32>Sparse.SUMMARY_BYTES) == masks;
  }

  // --- Changes -----------------------------------------------------------------------------------------------
  // Where a value is or would be, packed in a u64: u16 the number of its byte among the values, u16 that of its
  // mask among the masks, u8 the mask, u8 bytes that inserting it adds, u8 1 if it is a member.

  static find(at: usize, value: u32): u64 {
    const masks = Sparse.masks<Own>(at), summary = masks + <usize>Sparse.maskCount<Own>(at), word = value >> 6;
    const index = Sparse.masksBelow<Own>(summary, word), hasWord = Sparse.hasWord<Own>(summary, word);
    const mask: u32 = hasWord ? load<u8>(masks + <usize>index) : 0, bit = (<u32>1) << ((value >> 3) & 7);
    const below = Sparse.valuesBelow<Own>(at, masks, index) + popcnt(mask & (bit - 1));
    const missing: u32 = hasWord ? u32(!(mask & bit)) : 2;
    const has = missing ? 0 : (<u32>load<u8>(Sparse.values(at) + <usize>below) >> (value & 7)) & 1;
    return <u64>(below | (index << 16)) | (<u64>(mask | (missing << 8) | (has << 16)) << 32);
  }

  @inline private static valueAt(at: usize, found: u64): usize {
    return Sparse.values(at) + <usize>(<u32>found & 0xffff);
  }

  /** Also of a step. */
  @inline private static maskAt(at: usize, found: u64): usize {
    return Sparse.masks<Own>(at) + <usize>(<u32>found >> 16);
  }

  @inline private static maskOf(found: u64): u32 { return <u32>(found >> 32) & 0xff; }
  /** Bytes that the payload grows by when the value is inserted: 0, 1 or 2. */
  @inline static missing(found: u64): u32 { return <u32>(found >> 40) & 0xff; }
  @inline static isMember(found: u64): bool { return <u32>(found >> 48) != 0; }

  /** Inserts `value`, which find() has found absent, into a payload that has room. */
  static insert(at: usize, found: u64, value: u32): void {
    const valueAt = Sparse.valueAt(at, found), maskAt = Sparse.maskAt(at, found);
    const values = Sparse.valueCount<Own>(at), masks = Sparse.maskCount<Own>(at);
    const missing = Sparse.missing(found), bit = (<u32>1) << (value & 7), end = at + Sparse.bytes<Own>(at);
    if (!missing) { store<u8>(valueAt, <u32>load<u8>(valueAt) | bit); return; }
    if (missing == 2) {
      Bitset.set(Sparse.summary<Own>(at), value >> 6);
      memory.copy(maskAt + 2, maskAt, end - maskAt);
      memory.copy(valueAt + 1, valueAt, maskAt - valueAt);
    } else {
      memory.copy(valueAt + 1, valueAt, end - valueAt);
    }
    store<u8>(valueAt, bit);
    store<u8>(maskAt + 1, Sparse.maskOf(found) | ((<u32>1) << ((value >> 3) & 7)));
    Sparse.setCounts(at, values + 1, masks + (missing >> 1));
  }

  /** Removes `value`, which find() has found to be a member. */
  static remove(at: usize, found: u64, value: u32): void {
    const valueAt = Sparse.valueAt(at, found), maskAt = Sparse.maskAt(at, found);
    const values = Sparse.valueCount<Own>(at), masks = Sparse.maskCount<Own>(at);
    const kept = <u32>load<u8>(valueAt) & ~((<u32>1) << (value & 7));
    const mask = Sparse.maskOf(found) & ~((<u32>1) << ((value >> 3) & 7));
    const end = at + Sparse.bytes<Own>(at);
    if (kept) { store<u8>(valueAt, kept); return; }
    if (mask) {
      store<u8>(maskAt, mask);
      memory.copy(valueAt, valueAt + 1, end - valueAt - 1);
    } else {
      Bitset.clear(Sparse.summary<Own>(at), value >> 6);
      memory.copy(valueAt, valueAt + 1, maskAt - valueAt - 1);
      memory.copy(maskAt - 1, maskAt + 1, end - maskAt - 1);
    }
    Sparse.setCounts(at, values - 1, masks - u32(!mask));
  }

  // --- Whole containers --------------------------------------------------------------------------------------

  /** Combines the bitset at `to` in memory 0 with the payload at `a` of the operand that M, not Own, shows. */
  @inline static combineInto<O extends SetOperation, M extends Memory>(a: usize, to: usize): void {
    const values = Sparse.values(a), masks = Sparse.masks<M>(a);
    const summary = masks + <usize>Sparse.maskCount<M>(a);
    if (offsetof<M>() == offsetof<Left>()) left.spread(to, values, masks, summary, Sparse.how<O>());
    else right.spread(to, values, masks, summary, Sparse.how<O>());
  }

  @inline private static how<O extends SetOperation>(): Spread {
    return Kernel.is<O, Or>() ? Spread.OR : Kernel.is<O, Xor>() ? Spread.XOR
      : Kernel.is<O, And>() ? Spread.AND : Kernel.is<O, AndNot>() ? Spread.ANDNOT : Spread.STORE;
  }

  /** Members that left `a` shares with right `b`. */
  static common(a: usize, b: usize): u32 {
    const aMasks = Sparse.masks<Left>(a), bMasks = Sparse.masks<Right>(b);
    return bytes.meet(Sparse.values(a), aMasks, aMasks + <usize>Sparse.maskCount<Left>(a),
      Sparse.values(b), bMasks, bMasks + <usize>Sparse.maskCount<Right>(b));
  }

  /** Combines left `a` with right `b` into the bitset at `out` in memory 0; returns the cardinality. */
  @inline static combine<O extends SetOperation>(a: usize, b: usize, out: usize): u32 {
    const aMasks = Sparse.masks<Left>(a), bMasks = Sparse.masks<Right>(b);
    return bytes.combine(out, Sparse.values(a), aMasks, aMasks + <usize>Sparse.maskCount<Left>(a),
      Sparse.values(b), bMasks, bMasks + <usize>Sparse.maskCount<Right>(b), Sparse.how<O>());
  }

  /**
   * The number of values (low half) and of masks (high half) that left array `a`, which has a member, takes as
   * a sparse bitset.
   */
  static measureArray(a: usize, count: u32): u32 {
    let values: u32 = 1, masks: u32 = 1, before = left.load16(a, 0);
    for (const end = a + Container.arrayBytes(count); a < end; a += Container.MEMBER_BYTES) {
      const value = left.load16(a, 0), change = value ^ before;
      values += u32(change > 7);
      masks += u32(change > 63);
      before = value;
    }
    return values | (masks << 16);
  }
}

/** Writes left array `a` to `out`. `counts` is what measureArray() has returned. */
export function arrayToSparse(a: usize, count: u32, counts: u32, out: usize): void {
  let value = Sparse.values(out) - 1, mask = value + <usize>(counts & 0xffff), before = ~left.load16(a, 0);
  const summary = mask + <usize>(counts >> 16) + 1;
  store<u32>(out, counts);
  for (let i: usize = 0; i < 128; i += 16) v128.store(summary + i, i64x2.splat(0));
  for (const end = a + Container.arrayBytes(count); a < end; a += Container.MEMBER_BYTES) {
    const member = left.load16(a, 0), change = member ^ before, bit = (<u32>1) << (member & 7);
    if (change > 63) { store<u8>(++mask, 0); Bitset.set(summary, member >> 6); }
    if (change > 7) {
      store<u8>(++value, bit);
      store<u8>(mask, <u32>load<u8>(mask) | ((<u32>1) << ((member >> 3) & 7)));
    } else {
      store<u8>(value, <u32>load<u8>(value) | bit);
    }
    before = member;
  }
}

/**
 * Writes the bitset at `at` in memory 0 to `out`, which needs BITSET_BYTES. Returns the payload's bytes, or 0
 * if they would be more than SPARSE_MAX. The masks wait behind the values until the number of these is known.
 */
export function bitsetToSparse(at: usize, out: usize): usize {
  const first = Sparse.values(out), waiting = out + BITSET_BYTES - Container.WORDS;
  let to = first;
  for (let part: usize = 0; part < BITSET_BYTES; part += 512) {
    to += <usize>bytes.gather(to, at + part, waiting + (part >> 3));
    if (to > first + Container.SPARSE_VALUES_MAX) return 0;
  }
  const values = <u32>(to - first), masks = to;
  for (let part: usize = 0; part < Container.WORDS; part += 512) {
    to += <usize>bytes.gather(to, waiting + part, waiting + (part >> 3));
  }
  memory.copy(to, waiting, 128);
  store<u32>(out, values | (<u32>(to - masks) << 16));
  const size = to + 128 - out;
  return size <= Container.SPARSE_MAX ? size : 0;
}

// --- From the payload that `left` shows at `a`, to memory 0; the two must not overlap -----------------------

/** `out` needs room for the members; returns their number. */
export function sparseToArray(a: usize, out: usize): u32 {
  const start = out;
  let value = Sparse.values(a), mask = Sparse.masks<Left>(a), summary = Sparse.summary<Left>(a);
  for (let first: u32 = 0; first < Container.UNIVERSE; first += 4096, summary += 8) {
    for (let words = left.load64(summary, 0); words; words &= words - 1) {
      const own = left.load8(mask++, 0), low = first + (<u32>ctz(words) << 6);
      for (let rest = vector.spread(left.load64(value, 0), own); rest; rest &= rest - 1) {
        store<u16>(out, low + <u32>ctz(rest));
        out += Container.MEMBER_BYTES;
      }
      value += <usize>popcnt(own);
    }
  }
  return Container.memberCount(start, out);
}

/** `out` needs BITSET_BYTES. */
export function sparseToBitset(a: usize, out: usize): void { Sparse.combineInto<Same, Left>(a, out); }

/** Writes the members as a short bitset with this header, whose words include all of them. */
export function sparseToShort(a: usize, header: u32, out: usize): void {
  ShortBitset.clear(out, header);
  const to = ShortBitset.base<Own>(out);
  let value = Sparse.values(a), mask = Sparse.masks<Left>(a), summary = Sparse.summary<Left>(a);
  for (let first: u32 = 0; first < Container.WORDS; first += 64, summary += 8) {
    for (let words = left.load64(summary, 0); words; words &= words - 1) {
      const own = left.load8(mask++, 0);
      store<u64>(to + (<usize>(first + <u32>ctz(words)) << 3), vector.spread(left.load64(value, 0), own));
      value += <usize>popcnt(own);
    }
  }
}
