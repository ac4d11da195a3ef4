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

import { BITSET_BYTES, Container } from "./limits";

/** An entry has three bits for it (arena/layout/entry.ts). */
export const enum Kind { ARRAY, BITSET, RUNS, BUCKETS, SHORT, FULL, SINGLE, PAIR }

/** Chooses the kind of container for given members. */
export abstract class Choice {
  // --- What is built -----------------------------------------------------------------------------------------

  /** Arrays of this many members or more become buckets if these can hold them. */
  @inline static readonly BUCKETS_FROM: u32 = 1024;
  /**
   * An array takes as much as another word of a short bitset for each MEMBERS_A_WORD members more. So
   * insertions check only that often whether a short bitset would be smaller.
   */
  @inline static readonly MEMBERS_A_WORD: u32 = 4;
  // --- What stays when members are removed -------------------------------------------------------------------

  /** A bitset that loses members stays a bitset down to this many. */
  @inline private static readonly BITSET_LEAST: u32 = Container.ARRAY_MAX / 8 * 7;
  /** Buckets with fewer members become an array. */
  @inline static readonly BUCKETS_LEAST: u32 = 768;

  /** Whether the payload is an array, in a block or in the entry. */
  @inline static isArray(kind: Kind): bool { return kind == Kind.ARRAY || kind >= Kind.SINGLE; }

  /** Whether the payload of a container with that kind in its shape lists the members one by one. */
  @inline static isList(kind: Kind): bool { return kind == Kind.ARRAY || kind == Kind.BUCKETS; }

  /** Whether the payload is made of a bitset's words. */
  @inline static isInWords(kind: Kind): bool { return kind == Kind.BITSET || kind == Kind.SHORT; }

  /**
   * Whether code that knows only arrays, bitsets, runs and FULL expands the container: to an array, or to a
   * bitset if it has too many members for that.
   */
  @inline static isCompact(kind: Kind): bool { return kind == Kind.BUCKETS || kind == Kind.SHORT; }

  /** Words from that of `low` to that of `high`. */
  @inline static wordsBetween(low: u32, high: u32): u32 { return (high >> 6) - (low >> 6) + 1; }

  /** Bytes that `count` members usually take: as an array, as buckets, or as a bitset. */
  @inline static plainBytes(count: u32): usize {
    if (!Container.isArraySized(count)) return BITSET_BYTES;
    return count < Choice.BUCKETS_FROM ? Container.arrayBytes(count) : Container.bucketsBytes(count);
  }

  /**
   * Whether `count` members within `words` words become a short bitset:
   * it is smaller than an array, buckets or a bitset.
   */
  @inline static prefersShort(count: u32, words: u32): bool {
    return words <= Container.SHORT_MAX && <usize>words << 3 < Choice.plainBytes(count);
  }

  /** The least that `count` members within `words` words take if not as runs. */
  @inline static leastBytes(count: u32, words: u32): usize {
    return Choice.prefersShort(count, words) ? Container.shortBytes(words) : Choice.plainBytes(count);
  }

  /** Whether `count` members within `words` words that form `runs` runs are best left as runs. */
  @inline static prefersRuns(runs: u32, count: u32, words: u32): bool {
    return Container.runsBytes(runs) <= Choice.leastBytes(count, words);
  }

  /**
   * The kind that suits `count` members, fewer than 65,536, if neither runs nor a short bitset do.
   * Buckets cannot hold all sets: what they cannot hold stays an array.
   */
  @inline static plainKind(count: u32): Kind {
    if (!Container.isArraySized(count)) return Kind.BITSET;
    return count < Choice.BUCKETS_FROM ? Kind.ARRAY : Kind.BUCKETS;
  }

  /** The kind that suits `count` members within `words` words, fewer than 65,536, if runs do not. */
  @inline static suitable(count: u32, words: u32): Kind {
    return Choice.prefersShort(count, words) ? Kind.SHORT : Choice.plainKind(count);
  }

  /** Whether a bitset that has lost members, and has that many left, stays a bitset. */
  @inline static staysBitset(cardinality: u32): bool { return cardinality >= Choice.BITSET_LEAST; }
  /** Whether buckets with that many members left stay buckets. */
  @inline static staysBuckets(cardinality: u32): bool { return cardinality >= Choice.BUCKETS_LEAST; }
  /** Whether a short bitset of `words` words, with `count` members left, stays one. */
  @inline static staysShort(count: u32, words: u32): bool {
    return <usize>words * 6 <= Choice.plainBytes(count);
  }

  /**
   * The kind that suits a bitset that has lost members and has `count` left within `words` words,
   * not more than an array has.
   */
  @inline static shrunk(count: u32, words: u32): Kind {
    if (Choice.prefersShort(count, words)) return Kind.SHORT;
    return Choice.staysBuckets(count) ? Kind.BUCKETS : Kind.ARRAY;
  }
}
