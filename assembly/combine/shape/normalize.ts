// Conversions of shapes to the kind that suits their members (container/kind.ts).

import { SELF, left } from "../../env/memory";
import { Own } from "../../env/view";
import { Arrays } from "../../container/array";
import { toArray, toBitset, toShort } from "../../container/convert";
import { Extract, extractMembers } from "../../container/extract";
import { Choice, Kind } from "../../container/kind";
import { Lanes } from "../../container/lanes";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Runs } from "../../container/run";
import { ShortBitset, bitsetToShort, spanOfBitset } from "../../container/short";
import { Sparse, bitsetToSparse } from "../../container/sparse";
import { Places } from "./scratch";
import { Shape } from "./shape";

/**
 * The shape `s`, in memory 0, as the kind that suits its members: FULL, or runs if nothing is smaller,
 * otherwise a short bitset, an array, a sparse bitset or a bitset. What `s` is converted to lies FOLD_BYTES or
 * twice FOLD_BYTES above it. May leave `left` at SELF.
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
    case Kind.SPARSE: {
      const low = Sparse.first(at), high = Sparse.last<Own>(at);
      const to = Choice.suitable(count, Choice.wordsBetween(low, high));
      return to == Kind.SPARSE ? s : converted(s, to, low, high);
    }
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: return unreachable();
  }
}

/** As a short bitset if that is smaller, or as a sparse bitset or a bitset if there are too many members. */
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
  if (to == Kind.BITSET) return count <= CLUSTERED_MAX && seemsSparse(at) ? sparse(s) : s;
  if (to == Kind.SPARSE) return sparse(s);
  left.select(SELF);
  if (to != Kind.SHORT) return extracted(at, count, above);
  bitsetToShort(at, span, above);
  return Shape.of(Kind.SHORT, count, above);
}

/** The bitset `s` as a sparse bitset, or as it is if that would be too large. */
// @ts-ignore: decorator
@inline function sparse(s: u64): u64 {
  const above = Shape.at(s) + Places.FOLD_BYTES;
  return bitsetToSparse(Shape.at(s), above) ? Shape.sparse(Shape.count(s), above) : s;
}

/** The most members that are tried as a sparse bitset where they seem to lie close together. */
// @ts-ignore: decorator
@inline const CLUSTERED_MAX: u32 = 24576;
/** Of each SAMPLED bytes of a bitset, one vector is looked at. */
// @ts-ignore: decorator
@inline const SAMPLED: usize = 512;

/** Whether a sample of the bitset has as few bytes that are not 0 as a sparse bitset. */
function seemsSparse(at: usize): bool {
  let zeros: u32 = 0;
  for (const end = at + BITSET_BYTES; at < end; at += SAMPLED) {
    zeros += <u32>popcnt<u32>(<u32>i8x16.bitmask(i8x16.eq(v128.load(at), i64x2.splat(0))));
  }
  return zeros >= 5 * <u32>(BITSET_BYTES / SAMPLED);              // of 16 in each vector
}

/** Runs, unless something else is smaller. */
function normalizedRuns(s: u64): u64 {
  const count = Shape.count(s), at = Shape.at(s), runs = <u32>load<u16>(at);
  const low = Runs.start(at, 0), high = Runs.last<Own>(at), words = Choice.wordsBetween(low, high);
  if (Choice.prefersRuns(runs, count, words)) return s;
  const made = converted(s, Choice.suitable(count, words), low, high);
  return Shape.bytes<Own>(made) <= Container.runsBytes(runs) ? made : s;
}

/**
 * The shape `s` of another kind as kind `to`, which is not RUNS; as a bitset where a sparse bitset would be too
 * large. `low` and `high` are the least and the greatest member if `to` is SHORT.
 */
function converted(s: u64, to: Kind, low: u32, high: u32): u64 {
  const kind = Shape.kind(s), count = Shape.count(s), at = Shape.at(s), above = at + Places.FOLD_BYTES;
  left.select(SELF);
  switch (to) {
    case Kind.SHORT: toShort(kind, at, count, ShortBitset.headerOver(low, high), above); break;
    case Kind.BITSET:
    case Kind.SPARSE: {
      toBitset(kind, at, count, above);
      const bitset = Shape.of(Kind.BITSET, count, above);
      return to == Kind.BITSET ? bitset : sparse(bitset);
    }
    case Kind.ARRAY: toArray(kind, at, count, above); break;
    case Kind.RUNS:
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: unreachable();
  }
  return Shape.of(to, count, above);
}

/** The members of the bitset at `at`, which `left` shows, as an array at `out`. */
// @ts-ignore: decorator
@inline function extracted(at: usize, count: u32, out: usize): u64 {
  assert(Lanes.LANES_BYTES + Extract.EXTRACT_BYTES <= Places.FOLD_BYTES);
  // `work` fits in the place behind `out`
  const work = out + Places.FOLD_BYTES + Lanes.LANES_BYTES;
  extractMembers(at, count, out, work);
  return Shape.of(Kind.ARRAY, count, out);
}
