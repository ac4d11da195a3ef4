// The kinds of containers, and the one place that says which kind a container should be. It depends on the
// cardinality, on how many words of a bitset the members span, and on how many runs they form:
//
//   - one or two members live in the directory entry (SINGLE, PAIR), and 65,536 are FULL;
//   - runs, if nothing is smaller;
//   - a short bitset, if it is smaller than what follows;
//   - fewer than SPARSE_FROM members an array;
//   - more a sparse bitset, or a bitset if that would have more than SPARSE_MADE_MAX bytes; it may grow to
//     SPARSE_MAX.
//
// Bytes of a sparse bitset are estimated from the number of members, as if these lay anywhere within their
// words. A container that loses members keeps its kind for a while, so that it is not converted again and again
// while its cardinality goes up and down.

import { BITSET_BYTES, Container } from "./limits";

/** An entry has three bits for it (arena/layout/entry.ts). */
export const enum Kind { ARRAY, BITSET, RUNS, SPARSE, SHORT, FULL, SINGLE, PAIR }

/** Chooses the kind of container for given members. */
export abstract class Choice {
  // --- What is built -----------------------------------------------------------------------------------------

  /**
   * From this many members on, a sparse bitset takes the place of an array: members that lie anywhere take as
   * much either way. Combining fewer is quicker as arrays with AVX2, and as sparse bitsets with AVX-512.
   */
  @inline static readonly SPARSE_FROM: u32 = 768;
  /**
   * An array takes as much as another word of a short bitset for each MEMBERS_A_WORD members more. So
   * insertions check only that often whether a short bitset would be smaller.
   */
  @inline static readonly MEMBERS_A_WORD: u32 = 4;

  // --- What stays when members are removed -------------------------------------------------------------------

  /** A bitset that loses members stays a bitset down to this many. A sparse one holds any that are fewer. */
  @inline private static readonly BITSET_LEAST: u32 = 4864;
  /** A sparse bitset with fewer members becomes an array. */
  @inline static readonly SPARSE_LEAST: u32 = 576;

  /** Whether the payload is an array, in a block or in the entry. */
  @inline static isArray(kind: Kind): bool { return kind == Kind.ARRAY || kind >= Kind.SINGLE; }

  /** Whether the payload is made of a bitset's words. */
  @inline static isInWords(kind: Kind): bool { return kind == Kind.BITSET || kind == Kind.SHORT; }

  /**
   * Whether code that knows only arrays, bitsets, runs and FULL expands the container: to a bitset, or a short
   * bitset of few members to an array.
   */
  @inline static isCompact(kind: Kind): bool { return kind == Kind.SPARSE || kind == Kind.SHORT; }

  /** Words from that of `low` to that of `high`. */
  @inline static wordsBetween(low: u32, high: u32): u32 { return (high >> 6) - (low >> 6) + 1; }

  /**
   * How many of `places` places `count` members hit that lie anywhere, about: the quotient approximates
   * 1 - e^-(count / places).
   */
  @inline private static placesHit(count: u32, places: u32): u32 {
    if (count >= 3 * places) return places;
    const n = <u64>count, squared = 12 * <u64>places * places;
    return <u32>(squared * n / (squared + 6 * n * places + n * n));
  }

  /** Bytes that `count` members within `words` words probably take as a sparse bitset, or the limit if more. */
  static sparseBytes(count: u32, words: u32): usize {
    return Container.SPARSE_LEAST_BYTES
      + <usize>(Choice.placesHit(count, words << 3) + Choice.placesHit(count, words));
  }

  /** Bytes that `count` members within `words` words probably take as an array, a sparse bitset or a bitset. */
  @inline static plainBytes(count: u32, words: u32): usize {
    return count < Choice.SPARSE_FROM ? Container.arrayBytes(count)
      : min(Choice.sparseBytes(count, words), BITSET_BYTES);
  }

  /** Bytes that `count` members take at most as one of these. */
  @inline static plainMost(count: u32): usize {
    const most = Container.SPARSE_LEAST_BYTES + <usize>(min(count, Container.WORDS) + count);
    return count < Choice.SPARSE_LEAST ? Container.arrayBytes(count)
      : most <= Container.SPARSE_MAX ? most : BITSET_BYTES;
  }

  /**
   * Whether `count` members within `words` words become a short bitset:
   * it is smaller than an array, a sparse bitset or a bitset.
   */
  @inline static prefersShort(count: u32, words: u32): bool {
    return words <= Container.SHORT_MAX && <usize>words << 3 < Choice.plainBytes(count, words);
  }

  /** The least that `count` members within `words` words probably take if not as runs. */
  @inline static leastBytes(count: u32, words: u32): usize {
    return Choice.prefersShort(count, words) ? Container.shortBytes(words) : Choice.plainBytes(count, words);
  }

  /** sparseBytes() of members that form `runs` runs, which lie anywhere. */
  private static clusteredBytes(runs: u32, count: u32, words: u32): usize {
    const behind = count - runs;                // members that follow another one
    return Container.SPARSE_LEAST_BYTES + <usize>(Choice.placesHit(runs + (behind >> 3), words << 3)
      + Choice.placesHit(runs + (behind >> 6), words));
  }

  /** Whether `count` members within `words` words that form `runs` runs are best left as runs. */
  @inline static prefersRuns(runs: u32, count: u32, words: u32): bool {
    const bytes = Container.runsBytes(runs);
    return bytes <= Choice.leastBytes(count, words)
      && (count < Choice.SPARSE_FROM || bytes <= Choice.clusteredBytes(runs, count, words));
  }

  /**
   * The kind that suits `count` members within `words` words, fewer than 65,536, if neither runs nor a short
   * bitset do. What a sparse bitset cannot hold is a bitset.
   */
  @inline static plainKind(count: u32, words: u32): Kind {
    if (count < Choice.SPARSE_FROM) return Kind.ARRAY;
    return Choice.sparseBytes(count, words) <= Container.SPARSE_MADE_MAX ? Kind.SPARSE : Kind.BITSET;
  }

  /** plainKind() for members that may be few enough for a sparse bitset, wherever they lie: it is tried. */
  @inline static listKind(count: u32): Kind { return count < Choice.SPARSE_FROM ? Kind.ARRAY : Kind.SPARSE; }

  /** The kind that suits `count` members within `words` words, fewer than 65,536, if runs do not. */
  @inline static suitable(count: u32, words: u32): Kind {
    return Choice.prefersShort(count, words) ? Kind.SHORT : Choice.plainKind(count, words);
  }

  /** Whether a bitset that has lost members, and has that many left, stays a bitset. */
  @inline static staysBitset(cardinality: u32): bool { return cardinality >= Choice.BITSET_LEAST; }
  /** Whether a sparse bitset with that many members left stays one. */
  @inline static staysSparse(cardinality: u32): bool { return cardinality >= Choice.SPARSE_LEAST; }
  /** Whether a short bitset of `words` words, with `count` members left, stays one. */
  @inline static staysShort(count: u32, words: u32): bool {
    return <usize>words * 6 <= Choice.plainBytes(count, words);
  }

  /** The kind that suits a bitset that has lost members and has `count` left within `words` words. */
  @inline static shrunk(count: u32, words: u32): Kind {
    if (Choice.prefersShort(count, words)) return Kind.SHORT;
    return Choice.staysSparse(count) ? Kind.SPARSE : Kind.ARRAY;
  }
}
