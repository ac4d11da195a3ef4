// The values that are in at least, or in exactly, `least` of a term's items at one key.

import { SELF, left, right } from "../../env/memory";
import { Choice, Kind } from "../../container/kind";
import { Kernel, Sink } from "../../container/kernel";
import {
  Counters, countArray, countInBytes, countInLevels, keepRepeated, reachedInBytes, sweepEdges,
} from "../../container/counters";
import { Bitset, differenceBitsets, intersectBitsets } from "../../container/bitset";
import { BITSET_BYTES, Container } from "../../container/limits";
import { toArray } from "../../container/convert";
import { asBitset, expandedRight } from "../shape/expand";
import { Listed } from "../term/listed";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Rule, Term } from "../term/term";
import { Location } from "./parts";
import { Sum } from "./sum";

/** Values that are in at least, or in exactly, a number of containers. */
export abstract class Threshold {
  /** The most members, or edges of runs, that are sorted rather than counted in planes. */
  @inline static readonly SORTED_MEMBERS_MAX: u32 = 64;
  /** An array of more members is made a bitset, which is counted faster. */
  @inline static readonly SMALL_ARRAY: u32 = 320;
  /** Most members of all arrays together that are counted in levels; more are counted in bytes. */
  @inline static readonly LEVELLED: u32 = 1500;
  /** Most levels. */
  @inline static readonly LEVELS_COUNTED_MAX: u32 = 8;

  /**
   * The number of items at which the counters of a term overflow: `least`, or one more if exactly `least` are
   * sought.
   */
  @inline static overflowsAt(least: u32, exactly: bool): u32 { return least + u32(exactly); }

  /**
   * The places that a term's counters take, be they planes or levels. They lie behind the named places of the
   * scratch room.
   */
  static places(term: u32): u32 {
    const rule = Term.rule(term);
    if (Term.isSum(rule)) return Sum.places(term);
    if (rule != Rule.ATLEAST && rule != Rule.EXACTLY) return 0;
    const most = Threshold.overflowsAt(Term.least(term), rule == Rule.EXACTLY);
    return max(Counters.planesFor(most) + 1, min(most, Threshold.LEVELS_COUNTED_MAX));
  }

  @inline static countersAt(): usize { return Places.at(Scratch.PLACES); }

  /** Copies the members of the list's element `i` to `to`; returns the address behind them. */
  @inline static copyMembers(list: usize, i: u32, to: usize): usize {
    const s = Listed.shape(list, i);
    left.select(Listed.operand(list, i));
    toArray(Shape.kind(s), Shape.at(s), Shape.count(s), to);
    return to + Container.arrayBytes(Shape.count(s));
  }

  @inline static countSmall(planes: u32, operand: u32, s: u64): void {
    const a = expandedRight(operand, s);
    countArray(Threshold.countersAt(), planes, Shape.at(a), Shape.count(a));
  }
}

/**
 * Values in at least (with `exactly`, in exactly) `least` of the list's `count` containers, if they have
 * SORTED_MEMBERS_MAX members or edges in all; otherwise UNSUITED.
 */
export function repeatedOfFew(list: usize, count: u32, least: u32, exactly: bool): u64 {
  let members: u32 = 0, runs: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const kind = Listed.kind(list, i);
    if (kind == Kind.BITSET) return Shape.UNSUITED;
    if (kind == Kind.RUNS) runs += right.load16(Shape.at(Listed.show(list, i)), 0);
    else members += Listed.count(list, i);
    if (members + runs > Threshold.SORTED_MEMBERS_MAX) return Shape.UNSUITED;
  }
  if (!runs) return repeatedMembers(list, count, least, exactly);
  return members + runs <= Threshold.SORTED_MEMBERS_MAX / 2 ? repeatedRuns(list, count, least, exactly)
    : Shape.UNSUITED;
}

/** repeatedOfFew() for containers other than runs. */
function repeatedMembers(list: usize, count: u32, least: u32, exactly: bool): u64 {
  const all = Places.at(Scratch.FIRST);
  let to = all;
  for (let i: u32 = 0; i < count; i++) to = Threshold.copyMembers(list, i, to);
  return Shape.array(keepRepeated(all, Container.memberCount(all, to), least, exactly), all);
}

/** repeatedOfFew() for runs and other containers, whose members count as runs. */
function repeatedRuns(list: usize, count: u32, least: u32, exactly: bool): u64 {
  const edges = Places.at(Scratch.TEMP), members = Places.at(Scratch.SPARE), out = Places.at(Scratch.FIRST);
  let to = edges;
  for (let i: u32 = 0; i < count; i++) {
    const s = Listed.show(list, i), at = Shape.at(s);
    if (Shape.kind(s) == Kind.RUNS) {
      for (let run: u32 = 0, runs = right.load16(at, 0); run < runs; run++) {
        const low = right.load16(at + Container.runsBytes(run), 0);
        to = Counters.putEdges(to, low, low + right.load16(at + Container.runsBytes(run), 2));
      }
      continue;
    }
    for (let from = members, end = Threshold.copyMembers(list, i, members); from < end;
      from += Container.MEMBER_BYTES) {
      const member = load<u16>(from);
      to = Counters.putEdges(to, member, member);
    }
  }
  return Shape.runs(sweepEdges(edges, to, least, exactly, out), out);
}

/**
 * Values in at least (with `exactly`, in exactly) `least` of the list's `count` containers, if all of these
 * are arrays and there are few enough of them to count in levels or in bytes; otherwise UNSUITED.
 * `least` is at least 1.
 */
export function repeatedOfArrays<S extends Sink>(list: usize, count: u32, least: u32, exactly: bool): u64 {
  let members: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (Listed.kind(list, i) != Kind.ARRAY) return Shape.UNSUITED;
    members += Listed.count(list, i);
  }
  if (members <= Threshold.LEVELLED
    && Threshold.overflowsAt(least, exactly) <= Threshold.LEVELS_COUNTED_MAX) {
    return repeatedInLevels<S>(list, count, least, exactly);
  }
  return count <= Counters.BYTE_COUNTERS_MAX ? repeatedInBytes(list, count, least, exactly) : Shape.UNSUITED;
}

function repeatedInLevels<S extends Sink>(list: usize, count: u32, least: u32, exactly: bool): u64 {
  const levels = Threshold.countersAt(), most = Threshold.overflowsAt(least, exactly);
  const last = levels + <usize>(least - 1) * Places.FOLD_BYTES;
  memory.fill(levels, 0, <usize>most * Places.FOLD_BYTES);
  for (let i: u32 = 0; i < count; i++) countInLevels(levels, most, arrayAt(list, i), Listed.count(list, i));
  return exactly ? lessOver(last, last + Places.FOLD_BYTES) : bitsetIn<S>(last);
}

function repeatedInBytes(list: usize, count: u32, least: u32, exactly: bool): u64 {
  const counters = Places.at(Scratch.SECOND), out = Places.at(Scratch.FIRST);
  assert(counters + Counters.BYTE_COUNTERS_BYTES <= Threshold.countersAt() + 2 * Places.FOLD_BYTES);
  // there are at least two planes
  memory.fill(counters, 0, Counters.BYTE_COUNTERS_BYTES);
  for (let i: u32 = 0; i < count; i++) countInBytes(counters, arrayAt(list, i), Listed.count(list, i));
  return Shape.bitset(reachedInBytes(counters, least, exactly, out), out);
}

/** The address of the list's element `i`, an array. Shows it on the right. */
// @ts-ignore: decorator
@inline function arrayAt(list: usize, i: u32): usize { return Shape.at(Listed.show(list, i)); }

/** The bitset at `at` as a result: in Scratch.FIRST, or with S = Count only how many members it has. */
function bitsetIn<S extends Sink>(at: usize): u64 {
  const out = Places.at(Scratch.FIRST);
  left.select(SELF);
  right.select(SELF);
  return Shape.bitset(Kernel.stores<S>() ? intersectBitsets(at, at, out) : Bitset.cardinality(at), out);
}

/** The bitset at `at` without the one at `over`, in Scratch.FIRST. */
function lessOver(at: usize, over: usize): u64 {
  const out = Places.at(Scratch.FIRST);
  left.select(SELF);
  right.select(SELF);
  return Shape.bitset(differenceBitsets(at, over, out), out);
}

/**
 * Counts, for each value, how many of the list's `count` containers have it, as far as is needed to find the
 * values in at least (with `exactly`, in exactly) `least` of them. Returns the number of planes. Bitsets and
 * short bitsets come first, part by part and two at a time. The adder spends so long on each word that the CPU
 * would wait for memory at every line if the next part were not prefetched.
 */
export function countListed(list: usize, count: u32, least: u32, exactly: bool): u32 {
  const counters = Threshold.countersAt(), overflow = Threshold.overflowsAt(least, exactly),
    planes = Counters.planesFor(overflow);
  let bitsets: u32 = 0;
  for (let i: u32 = 0; i < count; i++) bitsets += u32(Choice.isInWords(Listed.kind(list, i)));
  if (bitsets & 1) memory.fill(Location.noPart(), 0, Bitset.PART_BYTES);
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    let first = bitsets & 1 ? Location.of(SELF, Location.noPart()) : Location.NOWHERE;
    // a part not yet paired
    let begun = false;
    for (let i: u32 = 0; i < count; i++) {
      const s = Listed.shape(list, i);
      if (!Choice.isInWords(Shape.kind(s))) continue;
      const second = Location.ofPart(Listed.operand(list, i), s, part,
        Location.stagedPart(first == Location.NOWHERE));
      if (second == Location.NOWHERE) continue;
      if (first == Location.NOWHERE) { first = second; continue; }
      if (begun) Location.countTwo(counters + part, planes, first, second);
      else Location.countFirstTwo(counters + part, planes, overflow, first, second);
      begun = true;
      first = Location.NOWHERE;
    }
    if (!begun) Counters.start(counters + part, planes, overflow);
    if (first != Location.NOWHERE && first != Location.of(SELF, Location.noPart())) {
      Location.countAlone(counters + part, planes, first);
    }
  }
  countOthers(list, count, planes);
  return planes;
}

/**
 * Counts the containers of the list that countListed() leaves: small arrays one at a time, others
 * two at a time as bitsets.
 */
function countOthers(list: usize, count: u32, planes: u32): void {
  const counters = Threshold.countersAt(), a = Places.at(Scratch.FIRST), b = Places.at(Scratch.SECOND);
  let waiting = false;                        // for a second one, at `a`
  for (let i: u32 = 0; i < count; i++) {
    const kind = Listed.kind(list, i);
    if (Choice.isInWords(kind)) continue;
    const operand = Listed.operand(list, i), s = Listed.show(list, i);
    if (kind == Kind.ARRAY && Shape.count(s) <= Threshold.SMALL_ARRAY) {
      Threshold.countSmall(planes, operand, s);
      continue;
    }
    asBitset(operand, s, waiting ? b : a);
    if (waiting) {
      for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
        Location.countTwo(counters + part, planes, Location.of(SELF, a + part), Location.of(SELF, b + part));
      }
    }
    waiting = !waiting;
  }
  if (waiting) countOne(planes, SELF, Shape.of(Kind.BITSET, Container.UNIVERSE, a));
}

/** Counts the container `s` of operand `operand`, which `right` shows. */
export function countOne(planes: u32, operand: u32, s: u64): void {
  const counters = Threshold.countersAt(), kind = Shape.kind(s);
  if (kind == Kind.ARRAY && Shape.count(s) <= Threshold.SMALL_ARRAY) {
    Threshold.countSmall(planes, operand, s);
    return;
  }
  let where = operand, bits = s;
  if (!Choice.isInWords(kind)) {
    const made = Places.at(Scratch.FIRST);
    if (kind == Kind.FULL) memory.fill(made, 0xff, BITSET_BYTES); else asBitset(operand, s, made);
    where = SELF;
    bits = Shape.of(Kind.BITSET, Container.UNIVERSE, made);
  }
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    const only = Location.ofPart(where, bits, part, Location.stagedPart(true));
    if (only != Location.NOWHERE) Location.countAlone(counters + part, planes, only);
  }
}

/**
 * The values that were counted often enough since countListed() began: in Scratch.FIRST, or with S = Count
 * only how many there are.
 */
export function reached<S extends Sink>(planes: u32, exactly: bool): u64 {
  const counters = Threshold.countersAt(), over = counters + <usize>planes * Places.FOLD_BYTES;
  if (!exactly) return bitsetIn<S>(over);
  left.select(SELF);
  right.select(SELF);
  for (let i: u32 = 1; i < planes; i++) {
    intersectBitsets(counters, counters + <usize>i * Places.FOLD_BYTES, counters);
  }
  return lessOver(counters, over);
}
