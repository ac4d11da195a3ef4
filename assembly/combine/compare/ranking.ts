// The bitmaps that are most like one: operands 1, 2 and so on, the facets, ranked by how much each shares
// with operand 0. The facets are counted in the order of the greatest scores that their sizes allow, and
// counting ends where no other one can be among the best.
//
// A score is part / (last + 1), at most 1, and 1 is always 1 / 1. So the denominator may be 2^64, and no part
// needs more than 64 bits. With Measure.CARD, a score is a number of members divided by 2^64. Scores are
// compared without a division, so nothing is rounded.
//
// Below cursors 0 and 1, at the arena's end, Scored.BYTES each:
//
//   the least score that counts the candidates, the first one last: a heap, and each with the greatest score
//   that its size allows the best so far, the first one last: a heap with the least first, once the wanted
//   number has been found
//
// Each of them:
//
//   +0   u64 part                         +8  u64 last
//   +16  u32 facet, counted from 0        +20 u32 unused

import { argument, arena, right, work } from "../../env/memory";
import { Right } from "../../env/view";
import { begin } from "../../arena/builder/state";
import { Directory } from "../../arena/read/directory";
import { Cursor } from "../walk/cursor";
import { shareAtLeast } from "./facet";

/** A score: the members that two bitmaps share, of 2^64, of their union, or of the smaller one. */
export const enum Measure { CARD = 0, JACCARD = 1, OVERLAP = 2 }

/** A facet with its score. */
@final @unmanaged
class Scored {
  @inline static readonly BYTES: usize = 24;
  @inline static readonly LAST: u32 = 8;
  @inline static readonly FACET: u32 = 16;

  @inline static least(): Scored {
    return changetype<Scored>(<usize>arena.size() - 2 * Cursor.BYTES - Scored.BYTES);
  }

  @inline static candidates(): Scored {
    return changetype<Scored>(changetype<usize>(Scored.least()) - Scored.BYTES);
  }

  @inline static best(facets: u32): Scored {
    return changetype<Scored>(changetype<usize>(Scored.candidates()) - <usize>facets * Scored.BYTES);
  }

  /** The element `index` of the list whose first element is at `first`. */
  @inline static element(first: usize, index: u32): Scored {
    return changetype<Scored>(first - <usize>index * Scored.BYTES);
  }

  @inline facet(): u32 { return load<u32>(changetype<usize>(this), Scored.FACET); }

  // --- Scores ------------------------------------------------------------------------------------------------

  /** Sets the score to part / whole, where a `whole` of 0 is 2^64. */
  @inline setScore(part: u64, whole: u64): void {
    const isOne = part == whole && part != 0;
    store<u64>(changetype<usize>(this), isOne ? 1 : part);
    store<u64>(changetype<usize>(this), isOne ? 0 : whole - 1, Scored.LAST);
  }

  /** Sets the score to that of operands 0 and `k`, which have one, and share `shared` members. */
  setScoreOf(by: Measure, shared: u64, k: u32): void {
    const a = Ranking.sizeOf(0), b = Ranking.sizeOf(k);
    if (Ranking.hasAll(0) && Ranking.hasAll(k)) { this.setScore(1, 1); return; }
    this.setScore(shared,
      by == Measure.CARD ? 0 : by == Measure.JACCARD ? a + b - shared : Ranking.lesser(a, b));
  }

  /** Less than, equal to or greater than 0, as this score is to the score `y`. */
  compare(y: Scored): i32 {
    const xPart = load<u64>(changetype<usize>(this)), xLast = load<u64>(changetype<usize>(this), Scored.LAST),
      yPart = load<u64>(changetype<usize>(y)), yLast = load<u64>(changetype<usize>(y), Scored.LAST);
    if (xLast == yLast) return Ranking.sign(xPart, yPart);
    const upper = Ranking.sign(Ranking.upperOf(xPart, yLast), Ranking.upperOf(yPart, xLast));
    return upper ? upper : Ranking.sign(xPart * (yLast + 1), yPart * (xLast + 1));
  }

  /** Whether this facet comes before the facet `y` in the result. */
  precedes(y: Scored): bool {
    const order = this.compare(y);
    return order ? order > 0 : this.facet() < y.facet();
  }
}

/**
 * Finds the `top` of `facets` facets with the greatest scores, but none below `part` / `whole`; a `whole` of
 * 0 is 2^64. Of equal ones, the first are the greatest. Returns how many there are. Sets argument i to the
 * members that facet i shares, modulo 2^64, if it is one of them, and the arguments from `facets` on to their
 * numbers, the greatest first. Memory 0, which is fresh, is only worked in.
 */
export function rank(facets: u32, by: Measure, part: u64, whole: u64, top: u64): u32 {
  const wanted = <u32>min<u64>(top, facets);
  if (!wanted) return 0;
  begin(0, 2 * Cursor.BYTES + (1 + <usize>facets + <usize>wanted) * Scored.BYTES);
  Scored.least().setScore(part, whole);
  let left = Ranking.collectCandidates(facets, by), found: u32 = 0;
  while (left && Ranking.mayCount(facets, found == wanted)) {
    work.spend(1);
    if (Ranking.countFirst(facets, by, found == wanted)) found = Ranking.keep(facets, found, wanted);
    left = Ranking.removeFirst(Scored.candidates(), left, true);
  }
  if (found < wanted) Ranking.makeHeap(Scored.best(facets), found, false);
  for (let rest = found; rest; rest = Ranking.removeFirst(Scored.best(facets), rest, false)) {
    argument.put(facets + rest - 1, Scored.best(facets).facet());
  }
  return found;
}

// --- Sizes -------------------------------------------------------------------------------------------------

/** Ranks facets by their scores. */
abstract class Ranking {
  /** Members of operand `k` modulo 2^64. */
  @inline static sizeOf(k: u32): u64 {
    right.select(k);
    return Directory.cardinality<Right>();
  }

  @inline static hasAll(k: u32): bool { return !Ranking.sizeOf(k) && !isEmptyFacet(k); }

  /** The lesser of two sizes of bitmaps that are not empty: 0 is 2^64. */
  @inline static lesser(a: u64, b: u64): u64 { return min(a - 1, b - 1) + 1; }

  /**
   * The most members, modulo 2^64, that operands 0 and `k` can share. If one has all offsets, they share that
   * many.
   */
  @inline private static mostShared(k: u32): u64 {
    return isEmptyFacet(0) || isEmptyFacet(k) ? 0 : Ranking.lesser(Ranking.sizeOf(0), Ranking.sizeOf(k));
  }

  /** Whether operands 0 and `k` have a score: not if the whole is 0. */
  @inline private static haveScore(by: Measure, k: u32): bool {
    if (by == Measure.OVERLAP) return !isEmptyFacet(0) && !isEmptyFacet(k);
    return by == Measure.CARD || !isEmptyFacet(0) || !isEmptyFacet(k);
  }

  /** The upper 64 bits of a * b. */
  private static upperProduct(a: u64, b: u64): u64 {
    const aLow = <u64><u32>a, aHigh = a >> 32, bLow = <u64><u32>b, bHigh = b >> 32;
    const first = aHigh * bLow + ((aLow * bLow) >> 32), second = aLow * bHigh + <u64><u32>first;
    return aHigh * bHigh + (first >> 32) + (second >> 32);
  }

  /** The upper 64 bits of part * (last + 1). */
  @inline static upperOf(part: u64, last: u64): u64 {
    const lower = part * last;
    return Ranking.upperProduct(part, last) + u64(lower + part < lower);
  }

  @inline static sign(x: u64, y: u64): i32 { return i32(x > y) - i32(x < y); }

  /**
   * The least number of shared members with which bitmaps of `a` and `b` members reach the score at `at`, or
   * with `above` exceed it; less if the numbers are large.
   */
  private static leastShared(by: Measure, at: Scored, above: bool, a: u64, b: u64): u64 {
    const part = load<u64>(changetype<usize>(at)), last = load<u64>(changetype<usize>(at), Scored.LAST);
    if (by == Measure.CARD) return part + u64(above);
    if (last >> 62 || a + b < a) return u64(part != 0);
    // The equation is shared / (a + b - shared) = part / (last + 1), or shared / min(a, b) = part / (last + 1).
    const factor = by == Measure.JACCARD ? a + b : min(a, b);
    const divisor = by == Measure.JACCARD ? last + 1 + part : last + 1;
    const excess = 64 - clz(Ranking.upperProduct(part, factor));
    if (excess) return (part >> excess) * factor / ((divisor >> excess) + 1);
    const product = part * factor;
    return product / divisor + u64(above || product % divisor != 0);
  }

  // --- Heaps: with `greatest` the first element is the greatest one, and otherwise the least -----------------

  /** Moves element `index` down to where it belongs. */
  private static sink(heap: Scored, count: u32, index: u32, greatest: bool): void {
    while (true) {
      let child: u32 = 2 * index + 1;
      if (child >= count) return;
      if (child + 1 < count
        && Scored.element(changetype<usize>(heap),
          child + 1).precedes(Scored.element(changetype<usize>(heap), child)) == greatest) {
        child++;
      }
      if (Scored.element(changetype<usize>(heap),
        index).precedes(Scored.element(changetype<usize>(heap), child)) == greatest) {
        return;
      }
      Ranking.swap(Scored.element(changetype<usize>(heap), index),
        Scored.element(changetype<usize>(heap), child));
      index = child;
    }
  }

  @inline private static swap(x: Scored, y: Scored): void {
    const first = load<u64>(changetype<usize>(x)), second = load<u64>(changetype<usize>(x), Scored.LAST),
      third = load<u64>(changetype<usize>(x), Scored.FACET);
    memory.copy(changetype<usize>(x), changetype<usize>(y), Scored.BYTES);
    store<u64>(changetype<usize>(y), first);
    store<u64>(changetype<usize>(y), second, Scored.LAST);
    store<u64>(changetype<usize>(y), third, Scored.FACET);
  }

  static makeHeap(heap: Scored, count: u32, greatest: bool): void {
    for (let index = count >> 1; index--;) Ranking.sink(heap, count, index, greatest);
  }

  /** Removes the first of `count` elements; returns how many are left. */
  static removeFirst(heap: Scored, count: u32, greatest: bool): u32 {
    memory.copy(changetype<usize>(heap),
      changetype<usize>(Scored.element(changetype<usize>(heap), count - 1)), Scored.BYTES);
    Ranking.sink(heap, count - 1, 0, greatest);
    return count - 1;
  }

  // --- Candidates and the best -------------------------------------------------------------------------------

  /** Lists the facets that have a score; returns how many. */
  static collectCandidates(facets: u32, by: Measure): u32 {
    let candidates: u32 = 0;
    for (let facet: u32 = 0; facet < facets; facet++) {
      work.spend(1);
      if (!Ranking.haveScore(by, facet + 1)) continue;
      const at = Scored.element(changetype<usize>(Scored.candidates()), candidates++);
      at.setScoreOf(by, Ranking.mostShared(facet + 1), facet + 1);
      store<u64>(changetype<usize>(at), facet, Scored.FACET);
    }
    Ranking.makeHeap(Scored.candidates(), candidates, true);
    return candidates;
  }

  /** Whether the first candidate, and so any, may be among the best. */
  @inline static mayCount(facets: u32, isFull: bool): bool {
    if (Scored.candidates().compare(Scored.least()) < 0) return false;
    return !isFull || Scored.candidates().precedes(Scored.best(facets));
  }

  /**
   * Replaces the first candidate's greatest possible score by its actual one; false if that does not count.
   */
  static countFirst(facets: u32, by: Measure, isFull: bool): bool {
    const facet = Scored.candidates().facet(), k = facet + 1;
    let shared = Ranking.mostShared(k);
    if (!Ranking.hasAll(0) && !Ranking.hasAll(k)) {
      const need = Ranking.needed(facets, by, isFull);
      shared = shareAtLeast(k, need);
      if (shared < need) return false;
      Scored.candidates().setScoreOf(by, shared, k);
    }
    argument.put(facet, shared);
    return Scored.candidates().compare(Scored.least()) >= 0;
  }

  /** How many members the first candidate must share to be among the best. */
  @inline private static needed(facets: u32, by: Measure, isFull: bool): u64 {
    const facet = Scored.candidates().facet(), a = Ranking.sizeOf(0), b = Ranking.sizeOf(facet + 1),
      best = Scored.best(facets);
    const need = Ranking.leastShared(by, Scored.least(), false, a, b);
    return isFull ? max(need, Ranking.leastShared(by, best, facet > best.facet(), a, b)) : need;
  }

  /** Adds the first candidate to the best `found` of `wanted` if it is one; returns how many there are then. */
  @inline static keep(facets: u32, found: u32, wanted: u32): u32 {
    const best = Scored.best(facets);
    if (found < wanted) {
      memory.copy(changetype<usize>(Scored.element(changetype<usize>(best), found++)),
        changetype<usize>(Scored.candidates()), Scored.BYTES);
      if (found == wanted) Ranking.makeHeap(best, found, false);
    } else if (Scored.candidates().precedes(best)) {
      memory.copy(changetype<usize>(best), changetype<usize>(Scored.candidates()), Scored.BYTES);
      Ranking.sink(best, found, 0, false);
    }
    return found;
  }
}

// @ts-ignore: decorator
@inline function isEmptyFacet(k: u32): bool {
  right.select(k);
  return !Directory.entriesHeld<Right>();
}
