// Conversions between kinds of containers (layouts: limits.ts). The source is the payload at `a` of the
// operand that `left` shows, the result goes to `out` in memory 0, and the two must not overlap.
//
// payloadSize() knows the bytes of each kind. toArray(), toBitset() and toShort() take a payload of any kind
// to one of these three, through which every other kind can be reached. A new kind is added to each of them.

import { bits, left, vector } from "../env/memory";
import { BITSET_BYTES, Container } from "./limits";
import { Bitset } from "./bitset";
import { Lanes } from "./lanes";
import { Runs } from "./run";
import { Kind } from "./kind";
import { Sparse, sparseToArray, sparseToBitset, sparseToShort } from "./sparse";
import { ShortBitset, arrayToShort, bitsetToShort, runsToShort, shortToArray, shortToBitset } from "./short";
import { Memory, view16 } from "../env/view";

/** Bytes of the payload of `count` members at `at` in memory M, 0 if the kind has none outside its entry. */
// @ts-ignore: decorator
@inline export function payloadSize<M extends Memory>(kind: Kind, count: u32, at: usize): usize {
  switch (kind) {
    case Kind.ARRAY: return Container.arrayBytes(count);
    case Kind.BITSET: return BITSET_BYTES;
    case Kind.RUNS: return Container.runsBytes(view16<M>(at, 0));
    case Kind.SPARSE: return Sparse.bytes<M>(at);
    case Kind.SHORT: return Container.shortBytes(ShortBitset.wordCount<M>(at));
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR: return 0;
    default: return unreachable();
  }
}

/** Writes the `count` members of a payload of any kind but FULL as an array. `out` needs room for them. */
export function toArray(kind: Kind, a: usize, count: u32, out: usize): void {
  switch (kind) {
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: left.copy(out, a, Container.arrayBytes(count)); return;
    case Kind.SPARSE: sparseToArray(a, out); return;
    case Kind.SHORT: shortToArray(a, out); return;
    case Kind.BITSET: bitsetToArray(a, out); return;
    case Kind.RUNS: runsToArray(a, out); return;
    case Kind.FULL:
    default: unreachable();
  }
}

/** Writes the `count` members of a payload of any kind but FULL as a bitset. `out` needs BITSET_BYTES. */
export function toBitset(kind: Kind, a: usize, count: u32, out: usize): void {
  switch (kind) {
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: arrayToBitset(a, count, out); return;
    case Kind.SPARSE: sparseToBitset(a, out); return;
    case Kind.SHORT: shortToBitset(a, out); return;
    case Kind.BITSET: left.copy(out, a, BITSET_BYTES); return;
    case Kind.RUNS: runsToBitset(a, out); return;
    case Kind.FULL:
    default: unreachable();
  }
}

/**
 * Writes the `count` members of a payload of any kind but FULL and SHORT as a short bitset with this header,
 * whose words include all members. `out` needs Container.shortBytes() of these words.
 */
export function toShort(kind: Kind, a: usize, count: u32, header: u32, out: usize): void {
  switch (kind) {
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: arrayToShort(a, count, header, out); return;
    case Kind.SPARSE: sparseToShort(a, header, out); return;
    case Kind.BITSET: bitsetToShort(a, header, out); return;
    case Kind.RUNS: runsToShort(a, header, out); return;
    case Kind.SHORT:
    case Kind.FULL:
    default: unreachable();
  }
}

/** `out` needs BITSET_BYTES. */
export function arrayToBitset(a: usize, count: u32, out: usize): void {
  const end = a + Container.arrayBytes(count), fours = a + Container.arrayBytes(count & ~3);
  Bitset.clearAll(out);
  for (; a < fours; a += Container.arrayBytes(4)) bits.set(out, left.load64(a, 0));
  for (; a < end; a += Container.MEMBER_BYTES) Bitset.set(out, left.load16(a, 0));
}

/** `out` needs room for the members only; returns their number. extract.ts is faster but needs more room. */
export function bitsetToArray(a: usize, out: usize): u32 {
  const start = out;
  for (let value: u32 = 0; value < Container.UNIVERSE; value += 64) {
    for (let word = left.load64(a, 0); word; word &= word - 1) {
      store<u16>(out, value + <u32>ctz<u64>(word));
      out += Container.MEMBER_BYTES;
    }
    a += 8;
  }
  return Container.memberCount(start, out);
}

/** `out` needs BITSET_BYTES. */
export function runsToBitset(a: usize, out: usize): void {
  const end = a + Container.runsBytes(left.load16(a, 0));
  Bitset.clearAll(out);
  for (a += Container.RUNS_HEADER_BYTES; a < end; a += Container.RUN_BYTES) {
    const low = left.load16(a, 0);
    Bitset.setBits(out, low, low + left.load16(a, 2));
  }
}

/** `out` needs room for the members; returns their number. */
export function runsToArray(a: usize, out: usize): u32 {
  const end = a + Container.runsBytes(left.load16(a, 0)), start = out;
  for (a += Container.RUNS_HEADER_BYTES; a < end; a += Container.RUN_BYTES) {
    let value = left.load16(a, 0);
    const edge = value + left.load16(a, 2) + 1;         // the first value behind the run
    for (; value + Lanes.LANES <= edge; value += Lanes.LANES) {
      v128.store(out, i16x8.add(i16x8.splat(<i16>value), i16x8(0, 1, 2, 3, 4, 5, 6, 7)));
      out += Lanes.LANES_BYTES;
    }
    for (; value < edge; value++) {
      store<u16>(out, value);
      out += Container.MEMBER_BYTES;
    }
  }
  return Container.memberCount(start, out);
}

/** `out` needs runsBytes(countRunsOfBitset(a)); returns that count. */
export function bitsetToRuns(a: usize, out: usize): u32 {
  const start = out;
  let inside = false, low: u32 = 0;
  out += Container.RUNS_HEADER_BYTES;
  for (let value: u32 = 0; value < Container.UNIVERSE; value += 64) {
    const word = left.load64(a, 0);
    let edges = word ^ ((word << 1) | u64(inside));     // 1 where a bit differs from the one before it
    while (edges) {
      const at = value + <u32>ctz<u64>(edges);
      if (inside) out = Runs.put(out, low, at - 1); else low = at;
      inside = !inside;
      edges &= edges - 1;
    }
    a += 8;
  }
  if (inside) out = Runs.put(out, low, Container.UNIVERSE - 1);
  return Runs.close(start, out);
}

/** `out` needs runsBytes(countRunsOfArray(a, count)); returns that count. */
export function arrayToRuns(a: usize, count: u32, out: usize): u32 {
  const end = a + Container.arrayBytes(count), start = out;
  out += Container.RUNS_HEADER_BYTES;
  while (a < end) {
    const low = left.load16(a, 0);
    let high = low;
    a += Container.MEMBER_BYTES;
    while (a < end && left.load16(a, 0) == high + 1) { high++; a += Container.MEMBER_BYTES; }
    out = Runs.put(out, low, high);
  }
  return Runs.close(start, out);
}

/**
 * Writes the complement of an array of at least one member as runs: the gaps before, between and behind the
 * members. Returns their number. `out` needs runsBytes(count + 1) and four bytes more: a gap is written
 * before every member, and overwritten if it is empty.
 */
export function arrayGaps(a: usize, count: u32, out: usize): u32 {
  const end = a + Container.arrayBytes(count), start = out;
  out = putGap(0, left.load16(a, 0), out + Container.RUNS_HEADER_BYTES);
  for (a += Container.MEMBER_BYTES; a + Lanes.LANES_BYTES <= end; a += Lanes.LANES_BYTES) {
    const value = left.load128(a, 0),
      low = i16x8.add(left.load128(a - Container.MEMBER_BYTES, 0), i16x8.splat(1));
    const extent = i16x8.add(i16x8.sub(value, low), i16x8.splat(-1));
    const gaps = ~<u32>i16x8.bitmask(i16x8.eq(value, low));
    out = putRuns(Lanes.interleaveLow(low, extent), gaps & 15, out);
    out = putRuns(Lanes.interleaveHigh(low, extent), (gaps >> 4) & 15, out);
  }
  for (; a < end; a += Container.MEMBER_BYTES) {
    out = putGap(left.load16(a - Container.MEMBER_BYTES, 0) + 1, left.load16(a, 0), out);
  }
  const last = left.load16(end - Container.MEMBER_BYTES, 0);
  if (last < Container.UNIVERSE - 1) out = Runs.put(out, last + 1, Container.UNIVERSE - 1);
  return Runs.close(start, out);
}

/** Writes the gap [low, value) and returns the address behind it, or `out` if it is empty. */
// @ts-ignore: decorator
@inline function putGap(low: u32, value: u32, out: usize): usize {
  Runs.put(out, low, value - 1);
  return out + (usize(low != value) << 2);
}

/** Writes those of four runs whose bits are set in `mask`, where each run is two lanes of `runs`. */
// @ts-ignore: decorator
@inline function putRuns(runs: v128, mask: u32, out: usize): usize {
  // Bit i moves to bit 2 * i.
  const pairs = (mask | mask << 2) & 0x33, firstLanes = (pairs | pairs << 1) & 0x55;
  v128.store(out, vector.compact(runs, firstLanes * 3));
  return out + (<usize>popcnt<u32>(mask) << 2);
}

/**
 * Counts the runs of the bitset: the members whose predecessor is absent.
 * Eight lanes, like the loop in bitset.ts and for its reasons.
 */
export function countRunsOfBitset(a: usize): u32 {
  const end = a + BITSET_BYTES;
  let c0: u64 = 0, c1: u64 = 0, c2: u64 = 0, c3: u64 = 0, c4: u64 = 0, c5: u64 = 0, c6: u64 = 0, c7: u64 = 0;
  let before: u64 = 0;
  for (; a < end; a += 64) {
    const w7 = left.load64(a, 56), w6 = left.load64(a, 48), w5 = left.load64(a, 40), w4 = left.load64(a, 32);
    const w3 = left.load64(a, 24), w2 = left.load64(a, 16), w1 = left.load64(a, 8), w0 = left.load64(a, 0);
    c0 += popcnt<u64>(w0 & ~((w0 << 1) | before >> 63));
    c1 += popcnt<u64>(w1 & ~((w1 << 1) | w0 >> 63));
    c2 += popcnt<u64>(w2 & ~((w2 << 1) | w1 >> 63));
    c3 += popcnt<u64>(w3 & ~((w3 << 1) | w2 >> 63));
    c4 += popcnt<u64>(w4 & ~((w4 << 1) | w3 >> 63));
    c5 += popcnt<u64>(w5 & ~((w5 << 1) | w4 >> 63));
    c6 += popcnt<u64>(w6 & ~((w6 << 1) | w5 >> 63));
    c7 += popcnt<u64>(w7 & ~((w7 << 1) | w6 >> 63));
    before = w7;
  }
  return <u32>(c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7);
}

/** Counts the runs of the array: its members, minus those that directly follow the one before them. */
export function countRunsOfArray(a: usize, count: u32): u32 {
  const end = a + Container.arrayBytes(count);
  let runs = count;
  for (; a + Lanes.LANES_BYTES + Container.MEMBER_BYTES <= end; a += Lanes.LANES_BYTES) {
    const following = left.load128(a, 2);
    runs -= <u32>popcnt<u32>(
      <u32>i16x8.bitmask(i16x8.eq(following, i16x8.add(left.load128(a, 0), i16x8.splat(1)))),
    );
  }
  for (; a + Container.MEMBER_BYTES < end;
    a += Container.MEMBER_BYTES) runs -= u32(left.load16(a, 2) == left.load16(a, 0) + 1);
  return runs;
}
