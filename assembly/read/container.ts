// Queries on one container of memory 0, answered by the kernels of its kind.
// Each function names all kinds, and traps for one that it does not know.

import { reply } from "../env/memory";
import { Memory, Own, view16, view64 } from "../env/view";
import { Entry } from "../arena/layout/entry";
import { Arrays, arrayLowerBound, arrayWord } from "../container/array";
import { Bitset } from "../container/bitset";
import { Kind } from "../container/kind";
import { Lanes } from "../container/lanes";
import { BITSET_BYTES, Container } from "../container/limits";
import { Runs } from "../container/run";
import { ShortBitset } from "../container/short";
import { Sparse } from "../container/sparse";

/** The result of nextSetIn() and nextClearIn() if there is no such offset. */
// @ts-ignore: decorator
@inline export const NONE: u32 = Container.UNIVERSE;

/** Whether the entry's container has the member `low`. */
export function containerHas(entry: Entry, low: u32): bool {
  const payload = entry.payload<Own>();
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return Bitset.has(payload, low);
    case Kind.SHORT: return ShortBitset.has(payload, low);
    case Kind.FULL: return true;
    case Kind.RUNS: return Runs.has(payload, low);
    case Kind.SPARSE: return Sparse.has(payload, low);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: {
      const count = entry.count<Own>(), index = arrayLowerBound(payload, count, low);
      return index < count && Arrays.member(payload, index) == low;
    }
    default: return unreachable();
  }
}

/** Members that are at most `low`. */
export function rankIn(entry: Entry, low: u32): u32 {
  const payload = entry.payload<Own>();
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return Bitset.rangeCardinality(payload, 0, low);
    case Kind.RUNS: return Runs.rangeCardinality(payload, 0, low);
    case Kind.FULL: return low + 1;
    case Kind.SHORT: return ShortBitset.rank(payload, low);
    case Kind.SPARSE: return Sparse.rank(payload, low);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return arrayLowerBound(payload, entry.count<Own>(), low + 1);
    default: return unreachable();
  }
}

/** The greatest member of the container of memory M. */
export function lastIn<M extends Memory>(entry: Entry): u32 {
  const payload = entry.payload<M>();
  switch (entry.kind<M>()) {
    case Kind.FULL: return Container.LOW_MAX;
    case Kind.BITSET: {
      let word: usize = BITSET_BYTES - 8;
      while (word && !view64<M>(payload + word, 0)) word -= 8;
      return <u32>((word << 3) + 63 - <usize>clz(view64<M>(payload + word, 0)));
    }
    case Kind.SHORT: return ShortBitset.last<M>(payload);
    case Kind.RUNS: return Runs.last<M>(payload);
    case Kind.SPARSE: return Sparse.last<M>(payload);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return view16<M>(payload + Container.arrayBytes(entry.count<M>() - 1), 0);
    default: return unreachable();
  }
}

/** The least member from `low` on, or NONE. */
export function nextSetIn(entry: Entry, low: u32): u32 {
  const payload = entry.payload<Own>();
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return Bitset.nextSet(payload, low);
    case Kind.RUNS: return Runs.nextSet(payload, low);
    case Kind.SHORT: return ShortBitset.nextSet(payload, low);
    case Kind.FULL: return low;
    case Kind.SPARSE: return Sparse.nextSet(payload, low);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: {
      const count = entry.count<Own>(), index = arrayLowerBound(payload, count, low);
      return index < count ? Arrays.member(payload, index) : NONE;
    }
    default: return unreachable();
  }
}

/** The least offset from `low` on that the container, which is not FULL, does not have, or NONE. */
export function nextClearIn(entry: Entry, low: u32): u32 {
  const payload = entry.payload<Own>(), count = entry.count<Own>();
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return Bitset.nextClear(payload, low);
    case Kind.RUNS: return Runs.nextClear(payload, low);
    case Kind.SHORT: return ShortBitset.nextClear(payload, low);
    case Kind.SPARSE: return Sparse.nextClear(payload, low);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: {
      let index = arrayLowerBound(payload, count, low);
      while (index < count && Arrays.member(payload, index) == low) { index++; low++; }
      return low;                             // at most 65,535 + 1 = NONE
    }
    case Kind.FULL:
    default: return unreachable();
  }
}

/** The member of 0-based rank `rank`, which the container has. */
export function selectIn(entry: Entry, rank: u32): u32 {
  const payload = entry.payload<Own>();
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return Bitset.select(payload, rank);
    case Kind.RUNS: return Runs.select(payload, rank);
    case Kind.SHORT: return ShortBitset.select(payload, rank);
    case Kind.FULL: return rank;
    case Kind.SPARSE: return Sparse.select(payload, rank);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return Arrays.member(payload, rank);
    default: return unreachable();
  }
}

/** The offsets 64 * word .. 64 * word + 63 as bits; the least offset is the lowest bit. */
export function wordOf(entry: Entry, word: u32): u64 {
  const payload = entry.payload<Own>();
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return load<u64>(payload + (<usize>word << 3));
    case Kind.SHORT: return ShortBitset.word(payload, word);
    case Kind.FULL: return u64.MAX_VALUE;
    case Kind.RUNS: return Runs.word(payload, word << 6);
    case Kind.SPARSE: return Sparse.word<Own>(payload, word);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return arrayWord(payload, entry.count<Own>(), word << 6);
    default: return unreachable();
  }
}

// --- Members for the reply ---------------------------------------------------------------------------------

/**
 * Adds up to `limit` members of a container of `count` members to the reply, as offsets from `from` on, which
 * is an offset of the container. Returns how many.
 */
export function replyContainer(kind: Kind, count: u32, payload: usize, from: u64, limit: u64): u64 {
  const base = from & ~<u64>Container.LOW_MAX, low = <u32>from & Container.LOW_MAX;
  switch (kind) {
    case Kind.BITSET: return replyWords(payload, Container.UNIVERSE, base, low, limit);
    case Kind.SHORT: {
      const first = max(low, ShortBitset.low<Own>(payload));
      return replyWords(ShortBitset.base<Own>(payload), ShortBitset.end<Own>(payload), base, first, limit);
    }
    case Kind.FULL: return replySpan(base, low, Container.LOW_MAX, limit);
    case Kind.RUNS: return replyRuns(payload, base, low, limit);
    case Kind.SPARSE: return replySparse(payload, base, low, limit);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return replyArray(payload, count, base, low, limit);
    default: return unreachable();
  }
}

/** Adds base + first .. base + last to the reply, or the first `limit` of them. */
export function replySpan(base: u64, first: u32, last: u32, limit: u64): u64 {
  const replied = min<u64>(last - first + 1, limit);
  for (let i: u64 = 0; i < replied; i++) reply.member(base + first + i);
  return replied;
}

function replyArray(payload: usize, count: u32, base: u64, low: u32, limit: u64): u64 {
  const first = low ? arrayLowerBound(payload, count, low) : 0;
  const replied = <u32>min<u64>(count - first, limit), end = payload + Container.arrayBytes(first + replied);
  let next = payload + Container.arrayBytes(first);
  for (; next + Lanes.LANES_BYTES <= end;
    next += Lanes.LANES_BYTES) reply.lanes(base, v128.load(next), Lanes.LANES);
  for (; next < end; next += Container.MEMBER_BYTES) reply.member(base | load<u16>(next));
  return replied;
}

function replyRuns(payload: usize, base: u64, low: u32, limit: u64): u64 {
  let replied: u64 = 0;
  for (let i: u32 = 0, runs = Runs.count(payload); i < runs && replied < limit; i++) {
    const end = Runs.end(payload, i);
    if (end >= low) replied += replySpan(base, max(Runs.start(payload, i), low), end, limit - replied);
  }
  return replied;
}

/** replyContainer() for a sparse bitset. */
function replySparse(at: usize, base: u64, low: u32, limit: u64): u64 {
  const mask = u64.MAX_VALUE << (low & 63);
  let replied: u64 = 0;
  for (let step = Sparse.stepTo(at, low >> 6); step && replied < limit; step = Sparse.stepAfter(at, step)) {
    const word = Sparse.wordOf(step), from = base + (<u64>word << 6);
    let bits = Sparse.bitsAt(at, step) & (word == low >> 6 ? mask : u64.MAX_VALUE);
    for (; bits && replied < limit; bits &= bits - 1, replied++) reply.member(from + ctz(bits));
  }
  return replied;
}

/**
 * replyContainer() for the words of a bitset at `payload` from that of `low` on,
 * up to the one that ends before `end`.
 */
function replyWords(payload: usize, end: u32, base: u64, low: u32, limit: u64): u64 {
  let replied: u64 = 0, mask = u64.MAX_VALUE << (low & 63);
  for (let word = low >> 6; word < end >> 6 && replied < limit; word++) {
    let bits = load<u64>(payload + (<usize>word << 3)) & mask;
    mask = u64.MAX_VALUE;
    for (const from = base + (<u64>word << 6); bits && replied < limit; bits &= bits - 1, replied++) {
      reply.member(from + ctz(bits));
    }
  }
  return replied;
}
