// Members in ascending order, added to the reply: for listing, paging and scanning.

import { reply } from "../env/memory";
import { Own } from "../env/view";
import { entryCount, entryKey, entryKind, entryLastKey, entryPayload, keyOf, lowOf } from "../arena/entry";
import { advance, placeEntry, seek } from "../arena/directory";
import { Kind } from "../container/kind";
import { MEMBER_BYTES, UNIVERSE, arrayBytes, LOW_MAX } from "../container/limits";
import { arrayLowerBound } from "../container/array";
import { bucketsLowerBound } from "../container/buckets";
import { LANES, LANES_BYTES } from "../container/lanes";
import { runsCount, runEnd, runStart } from "../container/run";
import { shortBase, shortEnd, shortLow } from "../container/short";

/**
 * Adds the first `limit` members that are at least `from` to the reply, ascending.
 * Returns how many there were.
 */
export function membersFrom(from: u64, limit: u64): u64 {
  const firstKey = keyOf(from);
  let rest = limit;
  for (let place = seek<Own>(firstKey); place && rest; place = advance<Own>(place)) {
    const entry = placeEntry(place), last = entryLastKey<Own>(entry);
    const kind = entryKind<Own>(entry), count = entryCount<Own>(entry), payload = entryPayload<Own>(entry);
    for (let key = max(entryKey<Own>(entry), firstKey); key <= last && rest; key++) {
      rest -= replyContainer(kind, count, payload, key << 16, key == firstKey ? lowOf(from) : 0, rest);
    }
  }
  return limit - rest;
}

/**
 * Adds up to `limit` members of a container of `count` members from `low` on, each raised by `base`,
 * to the reply. Returns how many. An array may be of any kind that is an array.
 */
export function replyContainer(kind: Kind, count: u32, payload: usize, base: u64, low: u32, limit: u64): u64 {
  if (kind == Kind.BITSET) return replyWords(payload, UNIVERSE, base, low, limit);
  if (kind == Kind.SHORT) {
    return replyWords(
      shortBase<Own>(payload), shortEnd<Own>(payload), base, max(low, shortLow<Own>(payload)), limit,
    );
  }
  if (kind == Kind.FULL) return replySpan(base, low, LOW_MAX, limit);
  if (kind == Kind.RUNS) {
    let replied: u64 = 0;
    for (let i: u32 = 0, runs = runsCount(payload); i < runs && replied < limit; i++) {
      const end = runEnd(payload, i);
      if (end >= low) replied += replySpan(base, max(runStart(payload, i), low), end, limit - replied);
    }
    return replied;
  }
  if (kind == Kind.BUCKETS) return replyBuckets(payload, count, base, low, limit);
  const first = low ? arrayLowerBound(payload, count, low) : 0;
  const replied = <u32>min<u64>(count - first, limit), end = payload + arrayBytes(first + replied);
  let member = payload + arrayBytes(first);
  for (; member + LANES_BYTES <= end; member += LANES_BYTES) reply.lanes(base, v128.load(member), LANES);
  for (; member < end; member += MEMBER_BYTES) reply.member(base | load<u16>(member));
  return replied;
}

/** Adds base + first .. base + last to the reply, or the first `limit` of them. */
export function replySpan(base: u64, first: u32, last: u32, limit: u64): u64 {
  const replied = min<u64>(last - first + 1, limit);
  for (let i: u64 = 0; i < replied; i++) reply.member(base + first + i);
  return replied;
}

/** replyContainer() for buckets. A vector of low bytes may reach past their end: the counts follow them. */
function replyBuckets(at: usize, count: u32, base: u64, low: u32, limit: u64): u64 {
  const counts = at + count, first = at + bucketsLowerBound(at, count, low);
  const last = first + <usize>min<u64>(counts - first, limit);
  let next = first;
  for (let bucket = counts, end = at; next < last; bucket++, base += 256) {
    end += load<u8>(bucket);
    for (const to = min(end, last); next < to; next += LANES) {
      reply.lanes(
        base, i16x8.extend_low_i8x16_u(i64x2.splat(load<i64>(next))), min<u32>(<u32>(to - next), LANES),
      );
    }
    next = max(first, min(end, last));
  }
  return last - first;
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
