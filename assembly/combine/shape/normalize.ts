// Conversions of shapes to the kind that suits their members (container/kind.ts).

import { SELF, left } from "../../env/memory";
import { Own } from "../../env/view";
import { member } from "../../container/array";
import { arrayToBuckets, bucketsLast, bucketsSelect } from "../../container/buckets";
import { toArray, toBitset, toShort } from "../../container/convert";
import { EXTRACT_BYTES, bitsetToBuckets, extractMembers } from "../../container/extract";
import { Kind, prefersRuns, suitableKind, wordsBetween } from "../../container/kind";
import { LANES_BYTES } from "../../container/lanes";
import { UNIVERSE, arrayBytes, runsBytes } from "../../container/limits";
import { runStart, runsLast } from "../../container/run";
import { bitsetToShort, spanOfBitset, trimShort, wordsOf } from "../../container/short";
import { FOLD_BYTES } from "./scratch";
import { Shape } from "./shape";

/**
 * The shape `s`, in memory 0, as the kind that suits its members: FULL, or runs if nothing is smaller,
 * otherwise a short bitset, an array, buckets or a bitset. What `s` is converted to lies FOLD_BYTES or twice
 * FOLD_BYTES above it. May leave `left` at SELF.
 */
export function normalized(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s);
  if (!count) return s;
  if (count == UNIVERSE) return Shape.full();
  switch (Shape.kind(s)) {
    case Kind.ARRAY: return normalizedArray(s);
    case Kind.BITSET: return normalizedBitset(s);
    case Kind.RUNS: return normalizedRuns(s);
    case Kind.SHORT: {
      const to = suitableKind(count, trimShort(at));          // without words that it does not need
      return to == Kind.SHORT ? s : converted(s, to, 0, 0);
    }
    case Kind.BUCKETS: {                      // few enough for an array stay buckets
      const low = bucketsSelect(at, count, 0), high = bucketsLast<Own>(at, count);
      return suitableKind(count, wordsBetween(low, high)) == Kind.SHORT
        ? converted(s, Kind.SHORT, low, high)
        : s;
    }
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: return unreachable();
  }
}

/**
 * As a short bitset if that is smaller, or as buckets if it is large enough for that and they can hold it.
 */
// @ts-ignore: decorator
@inline function normalizedArray(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s), low = <u32>load<u16>(at), high = member(at, count - 1);
  const to = suitableKind(count, wordsBetween(low, high));
  return to == Kind.ARRAY ? s : converted(s, to, low, high);
}

function normalizedBitset(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s), above = at + FOLD_BYTES, span = spanOfBitset<Own>(at);
  const to = suitableKind(count, wordsOf(span));
  if (to == Kind.BITSET) return s;
  left.select(SELF);
  if (to != Kind.SHORT) return extracted(at, count, to, above);
  bitsetToShort(at, span, above);
  return Shape.of(Kind.SHORT, count, above);
}

/**
 * Runs, unless something else is smaller: the usual bytes of buckets do not count where these cannot hold the
 * members.
 */
function normalizedRuns(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s), runs = <u32>load<u16>(at);
  const low = runStart(at, 0), high = runsLast<Own>(at), words = wordsBetween(low, high);
  if (prefersRuns(runs, count, words)) return s;
  const to = suitableKind(count, words), made = converted(s, to, low, high);
  return to == Kind.BUCKETS && Shape.kind(made) == Kind.ARRAY && runsBytes(runs) <= arrayBytes(count)
    ? s
    : made;
}

/**
 * The shape `s` of another kind as kind `to`, which is not RUNS; as an array where buckets cannot hold it.
 * `low` and `high` are the least and the greatest member if `to` is SHORT.
 */
function converted(s: u64, to: Kind, low: u32, high: u32): u64 {
  const kind = Shape.kind(s), count = Shape.count(s), at = Shape.at(s), above = at + FOLD_BYTES;
  left.select(SELF);
  switch (to) {
    case Kind.SHORT: toShort(kind, at, count, low, high, above); break;
    case Kind.BITSET: toBitset(kind, at, count, above); break;
    case Kind.ARRAY: toArray(kind, at, count, above); break;
    case Kind.BUCKETS: return asBuckets(kind == Kind.ARRAY ? s : converted(s, Kind.ARRAY, low, high));
    case Kind.RUNS:
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: unreachable();
  }
  return Shape.of(to, count, above);
}

/** The array `s` as buckets, or as it is if these cannot hold it. */
// @ts-ignore: decorator
@inline function asBuckets(s: u64): u64 {
  const count = Shape.count(s), above = Shape.at(s) + FOLD_BYTES;
  return arrayToBuckets(Shape.at(s), count, above, above) ? Shape.of(Kind.BUCKETS, count, above) : s;
}

/** The members of the bitset at `at`, which `left` shows, as kind `to`, buckets or an array, at `out`. */
// @ts-ignore: decorator
@inline function extracted(at: usize, count: u32, to: Kind, out: usize): u64 {
  assert(LANES_BYTES + EXTRACT_BYTES <= FOLD_BYTES);          // `work` fits the place behind `out`
  const work = out + FOLD_BYTES + LANES_BYTES;
  if (to == Kind.BUCKETS && bitsetToBuckets(at, count, out, work)) return Shape.of(Kind.BUCKETS, count, out);
  extractMembers(at, count, out, work);
  return Shape.of(Kind.ARRAY, count, out);
}
