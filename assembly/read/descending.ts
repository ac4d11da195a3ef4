// Members of one container in descending order, added to the reply. As in read/container.ts, each kind has its
// own function; none looks at members that are not replied, except those of a word.

import { reply } from "../env/memory";
import { Own } from "../env/view";
import { Arrays, arrayLowerBound } from "../container/array";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Runs } from "../container/run";
import { ShortBitset } from "../container/short";
import { Sparse } from "../container/sparse";

/**
 * Adds up to `limit` members of a container of `count` members to the reply, as offsets from `from` on
 * downwards, which is an offset of the container. Returns how many.
 */
export function replyContainerDown(kind: Kind, count: u32, payload: usize, from: u64, limit: u64): u64 {
  const base = from & ~<u64>Container.LOW_MAX, high = <u32>from & Container.LOW_MAX;
  switch (kind) {
    case Kind.BITSET: return replyWordsDown(payload, 0, base, high, limit);
    case Kind.SHORT: {
      const last = min<i32>(high, ShortBitset.end<Own>(payload) - 1), low = ShortBitset.low<Own>(payload);
      return last < <i32>low ? 0 : replyWordsDown(ShortBitset.base<Own>(payload), low, base, last, limit);
    }
    case Kind.FULL: return replySpanDown(base, 0, high, limit);
    case Kind.RUNS: return replyRunsDown(payload, base, high, limit);
    case Kind.SPARSE: return replySparseDown(payload, base, high, limit);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return replyArrayDown(payload, arrayLowerBound(payload, count, high + 1), base, limit);
    default: return unreachable();
  }
}

/** Adds base + last .. base + first to the reply, or the first `limit` of them. */
export function replySpanDown(base: u64, first: u32, last: u32, limit: u64): u64 {
  const replied = min<u64>(last - first + 1, limit);
  for (let i: u64 = 0; i < replied; i++) reply.member(base + last - i);
  return replied;
}

/** replyContainerDown() for the first `count` members of an array. */
function replyArrayDown(payload: usize, count: u32, base: u64, limit: u64): u64 {
  const replied = <u32>min<u64>(count, limit);
  for (let i: u32 = 1; i <= replied; i++) reply.member(base | Arrays.member(payload, count - i));
  return replied;
}

function replyRunsDown(payload: usize, base: u64, high: u32, limit: u64): u64 {
  let replied: u64 = 0;
  for (let i = Runs.find(payload, high); i >= 0 && replied < limit; i--) {
    const last = min(Runs.end(payload, i), high);
    replied += replySpanDown(base, Runs.start(payload, i), last, limit - replied);
  }
  return replied;
}

function replySparseDown(at: usize, base: u64, high: u32, limit: u64): u64 {
  let replied: u64 = 0, mask = u64.MAX_VALUE >> (63 - (high & 63));
  for (let word = <i32>(high >> 6); word >= 0 && replied < limit; word--) {
    replied += replyWordDown(Sparse.word<Own>(at, word) & mask, base + (<u64>word << 6), limit - replied);
    mask = u64.MAX_VALUE;
  }
  return replied;
}

/**
 * replyContainerDown() for the words of a bitset at `payload` from that of `high` down to the one that begins
 * with `low`.
 */
function replyWordsDown(payload: usize, low: u32, base: u64, high: u32, limit: u64): u64 {
  let replied: u64 = 0, mask = u64.MAX_VALUE >> (63 - (high & 63));
  for (let word = <i32>(high >> 6); word >= <i32>(low >> 6) && replied < limit; word--) {
    const bits = load<u64>(payload + (<usize>word << 3)) & mask;
    replied += replyWordDown(bits, base + (<u64>word << 6), limit - replied);
    mask = u64.MAX_VALUE;
  }
  return replied;
}

/** Adds the offsets of a word's bits to the reply, or the last `limit` of them; `base` is that of bit 0. */
// @ts-ignore: decorator
@inline function replyWordDown(bits: u64, base: u64, limit: u64): u64 {
  let replied: u64 = 0;
  for (; bits && replied < limit; replied++) {
    const bit = 63 - clz(bits);
    reply.member(base + bit);
    bits ^= <u64>1 << bit;
  }
  return replied;
}
