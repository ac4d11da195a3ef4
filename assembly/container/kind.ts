// The kinds of containers, and the one place that says which kind a container should be. It depends on the
// cardinality, on how many words of a bitset the members span, and on how many runs they form:
//
//   - one or two members live in the directory entry (SINGLE, PAIR), and 65,536 are FULL;
//   - runs, if nothing is smaller;
//   - a short bitset, if it is smaller than what follows;
//   - up to ARRAY_MAX members an array, or from BUCKETS_FROM on buckets, if these can hold them;
//   - more members a bitset.
//
// A container that loses members keeps its kind for a while,
// so that it is not converted again and again while its cardinality goes up and down.

import {
  ARRAY_MAX, BITSET_BYTES, SHORT_MAX, arrayBytes, bucketsBytes, isArraySized, runsBytes, shortBytes,
} from "./limits";

/** An entry has three bits for it (arena/layout/entry.ts). */
export const enum Kind { ARRAY, BITSET, RUNS, BUCKETS, SHORT, FULL, SINGLE, PAIR }

/** Whether the payload is an array, in a block or in the entry. */
// @ts-ignore: decorator
@inline export function isArray(kind: Kind): bool { return kind == Kind.ARRAY || kind >= Kind.SINGLE; }

/**
 * Whether code that knows only arrays, bitsets, runs and FULL expands the container: to an array, or to a
 * bitset if it has too many members for that.
 */
// @ts-ignore: decorator
@inline export function isCompact(kind: Kind): bool { return kind == Kind.BUCKETS || kind == Kind.SHORT; }

/** Words from that of `low` to that of `high`. */
// @ts-ignore: decorator
@inline export function wordsBetween(low: u32, high: u32): u32 { return (high >> 6) - (low >> 6) + 1; }

// --- What is built -----------------------------------------------------------------------------------------

/** Arrays of this many members or more become buckets if these can hold them. */
// @ts-ignore: decorator
@inline export const BUCKETS_FROM: u32 = 1024;

/** Bytes that `count` members usually take: as an array, as buckets, or as a bitset. */
// @ts-ignore: decorator
@inline export function plainBytes(count: u32): usize {
  if (!isArraySized(count)) return BITSET_BYTES;
  return count < BUCKETS_FROM ? arrayBytes(count) : bucketsBytes(count);
}

/**
 * An array takes as much as another word of a short bitset for each MEMBERS_A_WORD members more. So
 * insertions check only then whether a short bitset would be smaller.
 */
// @ts-ignore: decorator
@inline export const MEMBERS_A_WORD: u32 = 4;

/**
 * Whether `count` members within `words` words become a short bitset:
 * it is smaller than an array, buckets or a bitset.
 */
// @ts-ignore: decorator
@inline export function prefersShort(count: u32, words: u32): bool {
  return words <= SHORT_MAX && <usize>words << 3 < plainBytes(count);
}

/** The least that `count` members within `words` words take if not as runs. */
// @ts-ignore: decorator
@inline export function leastBytes(count: u32, words: u32): usize {
  return prefersShort(count, words) ? shortBytes(words) : plainBytes(count);
}

/** Whether `count` members within `words` words that form `runs` runs are best left as runs. */
// @ts-ignore: decorator
@inline export function prefersRuns(runs: u32, count: u32, words: u32): bool {
  return runsBytes(runs) <= leastBytes(count, words);
}

/**
 * The kind that suits `count` members, fewer than 65,536, if neither runs nor a short bitset do.
 * Buckets cannot hold all sets: what they cannot hold stays an array.
 */
// @ts-ignore: decorator
@inline export function plainKind(count: u32): Kind {
  if (!isArraySized(count)) return Kind.BITSET;
  return count < BUCKETS_FROM ? Kind.ARRAY : Kind.BUCKETS;
}

/** The kind that suits `count` members within `words` words, fewer than 65,536, if runs do not. */
// @ts-ignore: decorator
@inline export function suitableKind(count: u32, words: u32): Kind {
  return prefersShort(count, words) ? Kind.SHORT : plainKind(count);
}

// --- What stays when members are removed -------------------------------------------------------------------

/** A bitset that loses members stays a bitset down to this many. */
// @ts-ignore: decorator
@inline const BITSET_LEAST: u32 = ARRAY_MAX / 8 * 7;
/** Buckets with fewer members become an array. */
// @ts-ignore: decorator
@inline export const BUCKETS_LEAST: u32 = 768;

/** Whether a bitset that has lost members, and has that many left, stays a bitset. */
// @ts-ignore: decorator
@inline export function staysBitset(cardinality: u32): bool { return cardinality >= BITSET_LEAST; }
/** Whether buckets with that many members left stay buckets. */
// @ts-ignore: decorator
@inline export function staysBuckets(cardinality: u32): bool { return cardinality >= BUCKETS_LEAST; }
/** Whether a short bitset of `words` words, with `count` members left, stays one. */
// @ts-ignore: decorator
@inline export function staysShort(count: u32, words: u32): bool {
  return <usize>words * 6 <= plainBytes(count);
}

/**
 * The kind that suits a bitset that has lost members and has `count` left within `words` words,
 * not more than an array has.
 */
// @ts-ignore: decorator
@inline export function shrunkKind(count: u32, words: u32): Kind {
  if (prefersShort(count, words)) return Kind.SHORT;
  return staysBuckets(count) ? Kind.BUCKETS : Kind.ARRAY;
}
