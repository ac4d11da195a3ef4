// Every change of a container's kind. The source is what `left` shows, the result goes to memory 0, and the two do not overlap.
// For the payloads see limits.ts.

import { bits, left, vector } from "../env/memory";
import { UNIVERSE, BITSET_BYTES, MEMBER_BYTES, RUNS_HEADER_BYTES, RUN_BYTES, arrayBytes, runsBytes, memberCount } from "./limits";
import { bitsetSet, clearBitset, setBits } from "./bitset";
import { LANES, LANES_BYTES, pairHigh, pairLow } from "./lanes";
import { putRun, closeRuns } from "./run";

/** `out` needs BITSET_BYTES. */
export function arrayToBitset(a: usize, count: u32, out: usize): void {
  const end = a + arrayBytes(count), fours = a + arrayBytes(count & ~3);
  clearBitset(out);
  for (; a < fours; a += arrayBytes(4)) bits.set(out, left.load64(a, 0));
  for (; a < end; a += MEMBER_BYTES) bitsetSet(out, left.load16(a, 0));
}

/** `out` needs room for the bitset's members and no more; returns how many there are. Where there is more room extract.ts is quicker. */
export function bitsetToArray(a: usize, out: usize): u32 {
  const start = out;
  for (let value: u32 = 0; value < UNIVERSE; value += 64) {
    for (let bits = left.load64(a, 0); bits; bits &= bits - 1) {
      store<u16>(out, value + <u32>ctz<u64>(bits));
      out += MEMBER_BYTES;
    }
    a += 8;
  }
  return memberCount(start, out);
}

/** `out` needs BITSET_BYTES. */
export function runsToBitset(a: usize, out: usize): void {
  const end = a + runsBytes(left.load16(a, 0));
  clearBitset(out);
  for (a += RUNS_HEADER_BYTES; a < end; a += RUN_BYTES) {
    const low = left.load16(a, 0);
    setBits(out, low, low + left.load16(a, 2));
  }
}

/** `out` needs room for the runs' members; returns how many there are. */
export function runsToArray(a: usize, out: usize): u32 {
  const end = a + runsBytes(left.load16(a, 0)), start = out;
  for (a += RUNS_HEADER_BYTES; a < end; a += RUN_BYTES) {
    let value = left.load16(a, 0);
    const edge = value + left.load16(a, 2) + 1;
    for (; value + LANES <= edge; value += LANES) {
      v128.store(out, i16x8.add(i16x8.splat(<i16>value), i16x8(0, 1, 2, 3, 4, 5, 6, 7)));
      out += LANES_BYTES;
    }
    for (; value < edge; value++) {
      store<u16>(out, value);
      out += MEMBER_BYTES;
    }
  }
  return memberCount(start, out);
}

/** `out` needs runsBytes(countRunsOfBitset(a)); returns that count. */
export function bitsetToRuns(a: usize, out: usize): u32 {
  const start = out;
  let inside = false, low: u32 = 0;
  out += RUNS_HEADER_BYTES;
  for (let value: u32 = 0; value < UNIVERSE; value += 64) {
    const word = left.load64(a, 0);
    let edges = word ^ ((word << 1) | u64(inside));     // 1 where a bit differs from the one before it
    while (edges) {
      const at = value + <u32>ctz<u64>(edges);
      if (inside) out = putRun(out, low, at - 1); else low = at;
      inside = !inside;
      edges &= edges - 1;
    }
    a += 8;
  }
  if (inside) out = putRun(out, low, UNIVERSE - 1);
  return closeRuns(start, out);
}

/** `out` needs runsBytes(countRunsOfArray(a, count)); returns that count. */
export function arrayToRuns(a: usize, count: u32, out: usize): u32 {
  const end = a + arrayBytes(count), start = out;
  out += RUNS_HEADER_BYTES;
  while (a < end) {
    const low = left.load16(a, 0);
    let high = low;
    a += MEMBER_BYTES;
    while (a < end && left.load16(a, 0) == high + 1) { high++; a += MEMBER_BYTES; }
    out = putRun(out, low, high);
  }
  return closeRuns(start, out);
}

/**
 * The gaps between the members, of which there is one at least, from 0 to UNIVERSE - 1, as runs. `out` needs runsBytes(count + 1) and four
 * bytes more; returns how many there are. A gap lies before every member, and stays if it is one.
 */
export function arrayGaps(a: usize, count: u32, out: usize): u32 {
  const end = a + arrayBytes(count), start = out;
  out = putGap(0, left.load16(a, 0), out + RUNS_HEADER_BYTES);
  for (a += MEMBER_BYTES; a + LANES_BYTES <= end; a += LANES_BYTES) {
    const value = left.load128(a, 0), low = i16x8.add(left.load128(a - MEMBER_BYTES, 0), i16x8.splat(1));
    const rest = i16x8.add(i16x8.sub(value, low), i16x8.splat(-1)), gaps = ~<u32>i16x8.bitmask(i16x8.eq(value, low));
    out = putRuns(pairLow(low, rest), gaps & 15, out);
    out = putRuns(pairHigh(low, rest), (gaps >> 4) & 15, out);
  }
  for (; a < end; a += MEMBER_BYTES) out = putGap(left.load16(a - MEMBER_BYTES, 0) + 1, left.load16(a, 0), out);
  const last = left.load16(end - MEMBER_BYTES, 0);
  if (last < UNIVERSE - 1) out = putRun(out, last + 1, UNIVERSE - 1);
  return closeRuns(start, out);
}

/** Writes [low, value), which stays if there is anything in it. */
// @ts-ignore: decorator
@inline function putGap(low: u32, value: u32, out: usize): usize {
  putRun(out, low, value - 1);
  return out + (usize(low != value) << 2);
}

/** Writes those of the four runs whose bits are set in `mask`. */
// @ts-ignore: decorator
@inline function putRuns(runs: v128, mask: u32, out: usize): usize {
  const spread = (mask | mask << 2) & 0x33, bits = (spread | spread << 1) & 0x55;
  v128.store(out, vector.compact(runs, bits * 3));
  return out + (<usize>popcnt<u32>(mask) << 2);
}

/** Runs that the bitset would be: members without the value below them. In lanes, as the loop of bitset.ts and for its reasons. */
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

/** Runs that the array would be: its members, less those that follow the one before them. */
export function countRunsOfArray(a: usize, count: u32): u32 {
  const end = a + arrayBytes(count);
  let runs = count;
  for (; a + LANES_BYTES + MEMBER_BYTES <= end; a += LANES_BYTES) {
    const following = left.load128(a, 2);
    runs -= <u32>popcnt<u32>(<u32>i16x8.bitmask(i16x8.eq(following, i16x8.add(left.load128(a, 0), i16x8.splat(1)))));
  }
  for (; a + MEMBER_BYTES < end; a += MEMBER_BYTES) runs -= u32(left.load16(a, 2) == left.load16(a, 0) + 1);
  return runs;
}
