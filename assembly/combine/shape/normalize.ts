// Conversions of shapes to the kind that suits their members (container/kind.ts).

import { SELF, left } from "../../env/memory";
import { Own } from "../../env/view";
import { Arrays } from "../../container/array";
import { Buckets, arrayToBuckets } from "../../container/buckets";
import { toArray, toBitset, toShort } from "../../container/convert";
import { Extract, bitsetToBuckets, extractMembers } from "../../container/extract";
import { Choice, Kind } from "../../container/kind";
import { Lanes } from "../../container/lanes";
import { Container } from "../../container/limits";
import { Runs } from "../../container/run";
import { ShortBitset, bitsetToShort, spanOfBitset } from "../../container/short";
import { Places } from "./scratch";
import { Shape } from "./shape";

/**
 * The shape `s`, in memory 0, as the kind that suits its members: FULL, or runs if nothing is smaller,
 * otherwise a short bitset, an array, buckets or a bitset. What `s` is converted to lies FOLD_BYTES or twice
 * FOLD_BYTES above it. May leave `left` at SELF.
 */
export function normalized(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s);
  if (!count) return s;
  if (count == Container.UNIVERSE) return Shape.full();
  switch (Shape.kind(s)) {
    case Kind.ARRAY: return normalizedArray(s);
    case Kind.BITSET: return normalizedBitset(s);
    case Kind.RUNS: return normalizedRuns(s);
    case Kind.SHORT: {
      const to = Choice.suitable(count, ShortBitset.trim(at));          // without words that it does not need
      return to == Kind.SHORT ? s : converted(s, to, 0, 0);
    }
    case Kind.BUCKETS: {                      // few enough for an array stay buckets
      const low = Buckets.select(at, count, 0), high = Buckets.last<Own>(at, count);
      return Choice.suitable(count, Choice.wordsBetween(low, high)) == Kind.SHORT
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
  const count = Shape.count(s), at = Shape.at(s), low = <u32>load<u16>(at),
    high = Arrays.member(at, count - 1);
  const to = Choice.suitable(count, Choice.wordsBetween(low, high));
  return to == Kind.ARRAY ? s : converted(s, to, low, high);
}

function normalizedBitset(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s), above = at + Places.FOLD_BYTES,
    span = spanOfBitset<Own>(at);
  const to = Choice.suitable(count, ShortBitset.wordsOf(span));
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
  const low = Runs.start(at, 0), high = Runs.last<Own>(at), words = Choice.wordsBetween(low, high);
  if (Choice.prefersRuns(runs, count, words)) return s;
  const to = Choice.suitable(count, words), made = converted(s, to, low, high);
  return to == Kind.BUCKETS && Shape.kind(made) == Kind.ARRAY
    && Container.runsBytes(runs) <= Container.arrayBytes(count)
    ? s
    : made;
}

/**
 * The shape `s` of another kind as kind `to`, which is not RUNS; as an array where buckets cannot hold it.
 * `low` and `high` are the least and the greatest member if `to` is SHORT.
 */
function converted(s: u64, to: Kind, low: u32, high: u32): u64 {
  const kind = Shape.kind(s), count = Shape.count(s), at = Shape.at(s), above = at + Places.FOLD_BYTES;
  left.select(SELF);
  switch (to) {
    case Kind.SHORT: toShort(kind, at, count, ShortBitset.headerOver(low, high), above); break;
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
  const count = Shape.count(s), above = Shape.at(s) + Places.FOLD_BYTES;
  return arrayToBuckets(Shape.at(s), count, above, above) ? Shape.of(Kind.BUCKETS, count, above) : s;
}

/** The members of the bitset at `at`, which `left` shows, as kind `to`, buckets or an array, at `out`. */
// @ts-ignore: decorator
@inline function extracted(at: usize, count: u32, to: Kind, out: usize): u64 {
  assert(Lanes.LANES_BYTES + Extract.EXTRACT_BYTES <= Places.FOLD_BYTES);
  // `work` fits in the place behind `out`
  const work = out + Places.FOLD_BYTES + Lanes.LANES_BYTES;
  if (to == Kind.BUCKETS && bitsetToBuckets(at, count, out, work)) return Shape.of(Kind.BUCKETS, count, out);
  extractMembers(at, count, out, work);
  return Shape.of(Kind.ARRAY, count, out);
}
