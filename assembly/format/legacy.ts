// The legacy serialization of Java's Roaring64NavigableMap, whose numbers outside of streams are big endian:
//
//   u8 whether the map was in signed order, u32 buckets, then per bucket: u32 high half, a portable 32-bit
//   stream (portable.ts)
//
// Buckets ascend in signed or in unsigned order. The first byte is no guide: a map that was read from a payload
// keeps the byte and sorts in signed order. A payload in signed order begins with the upper half of the
// offsets, if that has members. The bitmap is built in ascending order, so the lower half is read first, and
// the upper half is passed over by its headers before.

import { right } from "../env/memory";
import { Fault } from "../env/fault";
import { begin } from "../arena/builder/state";
import { finish } from "../arena/builder/builder";
import { Stream } from "./portable";

/** Where the buckets begin. */
// @ts-ignore: decorator
@inline const BUCKETS: u64 = 5;

/** The big-endian u32 at `at` of the payload. */
// @ts-ignore: decorator
@inline function big32(at: u64): u32 { return bswap<u32>(right.load32(<usize>at, 0)); }

/** A fault, in the high half; addresses are not 0. */
// @ts-ignore: decorator
@inline function faulty(fault: Fault): u64 { return <u64>fault << 32; }
// @ts-ignore: decorator
@inline function isFaulty(read: u64): bool { return <u32>read == 0; }

/**
 * Reads up to `most` buckets from `at` on, as long as the top bit of their high halves is `top`. Appends their
 * containers if `builds` is set. Returns their number in the high half, and the address behind them.
 */
function readBuckets(at: u64, most: u32, top: u32, builds: bool): u64 {
  const size = <u64>right.size();
  let read: u32 = 0;
  for (let least: u64 = 0; read < most; read++) {
    if (at + 4 > size) return faulty(Fault.CUT_SHORT);
    const high = big32(at);
    if (high >> 31 != top) break;
    if (high < least) return faulty(Fault.KEYS_NOT_ASCENDING);
    least = <u64>high + 1;
    const end = Stream.read(0, at + 4, <u64>high << 16, builds);
    if (end >> 32) return faulty(<Fault>(end >> 32));
    at = end;
  }
  return <u64>read << 32 | at;
}

/** The same for all `count` buckets of the payload. Returns the address behind them. */
function readAll(count: u32, builds: bool): u64 {
  let upper: u64 = BUCKETS, signed = false;
  if (count && BUCKETS + 4 <= <u64>right.size() && big32(BUCKETS) >> 31) {
    upper = readBuckets(BUCKETS, count, 1, false);
    if (isFaulty(upper)) return upper;
    signed = true;
  }
  const before = <u32>(upper >> 32), lower = readBuckets(<u32>upper, count - before, 0, builds);
  if (isFaulty(lower)) return lower;
  const left = count - before - <u32>(lower >> 32);
  if (signed) {
    if (left) return faulty(Fault.KEYS_NOT_ASCENDING);
    upper = readBuckets(BUCKETS, before, 1, builds);
    return isFaulty(upper) ? upper : <u64><u32>lower;
  }
  upper = readBuckets(<u32>lower, left, 1, builds);
  if (isFaulty(upper)) return upper;
  return <u32>(upper >> 32) == left ? <u64><u32>upper : faulty(Fault.KEYS_NOT_ASCENDING);
}

/** Whether operand 0, which `right` shows, has the structure of such a payload, whatever containers hold. */
export function isLegacy(): bool {
  const size = <u64>right.size();
  if (size < BUCKETS || right.load8(0, 0) > 1) return false;
  const count = big32(1);
  // Without buckets, but with a 1, it may be a 64-bit stream that is cut short.
  if (!count) return size == BUCKETS && !right.load8(0, 0);
  return size > BUCKETS + 4 && Stream.beginsAt(BUCKETS + 4) && readAll(count, false) == size;
}

/** Builds the bitmap of operand 0 in memory 0, a fresh arena. It has the structure of such a payload. */
export function readLegacy(): Fault {
  begin(<u64>right.size() / 9 + 1, 0);
  const end = readAll(big32(1), true);
  if (isFaulty(end)) return <Fault>(end >> 32);
  finish();
  return Fault.NONE;
}
