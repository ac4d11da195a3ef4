// Containers read 64 offsets at a time, and the two orders in which bits stand in words.

import { Own } from "../env/view";
import { entryCount, entryKind, entryPayload } from "../arena/entry";
import { Kind } from "../container/kind";
import { arrayLowerBound } from "../container/array";
import { bucketsWord } from "../container/buckets";
import { runEnd, runStart, runsCount, runsFind } from "../container/run";
import { shortWord } from "../container/short";

/** The container's offsets 64 * word .. 64 * word + 63 as bits; the least offset is the lowest bit. */
export function wordOf(entry: usize, word: u32): u64 {
  const kind = entryKind<Own>(entry), payload = entryPayload<Own>(entry), low = word << 6, high = low + 63;
  if (kind == Kind.BITSET) return load<u64>(payload + (<usize>word << 3));
  if (kind == Kind.SHORT) return shortWord(payload, word);
  if (kind == Kind.FULL) return u64.MAX_VALUE;
  let bits: u64 = 0;
  if (kind == Kind.RUNS) {
    for (
      let i = <u32>max(runsFind(payload, low), 0), n = runsCount(payload);
      i < n && runStart(payload, i) <= high; i++
    ) {
      const from = max(runStart(payload, i), low), to = min(runEnd(payload, i), high);
      if (from <= to) bits |= (u64.MAX_VALUE >> (63 - (to - from))) << (from - low);
    }
    return bits;
  }
  const count = entryCount<Own>(entry);
  if (kind == Kind.BUCKETS) return bucketsWord(payload, count, low);
  for (let i = arrayLowerBound(payload, count, low); i < count; i++) {
    const member = <u32>load<u16>(payload + (<usize>i << 1));
    if (member > high) break;
    bits |= (<u64>1) << (member - low);
  }
  return bits;
}

/**
 * The bits of each byte in reverse order.
 * This converts between the order of bitsets and that of native bitmaps, both ways.
 */
// @ts-ignore: decorator
@inline export function nativeOrder(bits: u64): u64 {
  bits = ((bits >> 1) & 0x5555555555555555) | ((bits & 0x5555555555555555) << 1);
  bits = ((bits >> 2) & 0x3333333333333333) | ((bits & 0x3333333333333333) << 2);
  return ((bits >> 4) & 0x0f0f0f0f0f0f0f0f) | ((bits & 0x0f0f0f0f0f0f0f0f) << 4);
}

/** All bits in reverse order. */
// @ts-ignore: decorator
@inline export function reversed(bits: u64): u64 { return bswap(nativeOrder(bits)); }
